package cpu

import (
	"slices"

	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Concat returns the hypersparse matrix of a grid of tiles with values of type t, which are
// hypersparse. rows and cols are where the rows and the columns of the grid begin, and the
// dimensions. It returns a *RoomError if there is no memory for the entries. O(entries + stored
// rows·tiles across).
func Concat(env Env, t *sparse.Type, tiles [][]*sparse.Store, rows, cols []int) (*sparse.Store, error) {
	strips := make([]strip, len(tiles))
	total, vecs := int64(0), 0
	for i, row := range tiles {
		strips[i].tiles = row
		for _, st := range row {
			strips[i].ids = mergedRows(strips[i].ids, st.RowIDs)
			total += st.NVals
		}
		vecs += len(strips[i].ids)
	}
	if err := roomFor("the entries of the result", total, 4+t.Size); err != nil {
		return nil, err
	}
	out := &sparse.Store{Structure: sparse.Structure{NRows: rows[len(tiles)], NCols: cols[len(cols)-1],
		Format: sparse.Hypersparse, NVals: total}, Type: t}
	out.RowIDs, out.Ptr = make([]int32, 0, vecs), make([]int64, vecs+1)
	out.Idx, out.Val = fresh.Make[int32](total), t.Make(total)
	for i, s := range strips {
		first := len(out.RowIDs)
		for _, r := range s.ids {
			out.RowIDs = append(out.RowIDs, int32(rows[i])+r)
		}
		lengths := out.Ptr[first+1:]
		if err := s.each(env, func(k, _ int, from, to int64) { lengths[k] += to - from }); err != nil {
			return nil, err
		}
	}
	parallel.Sum(env.Threads, out.Ptr)
	next := slices.Clone(out.Ptr)
	for i, first := 0, 0; i < len(strips); first, i = first+len(strips[i].ids), i+1 {
		s := strips[i]
		err := s.each(env, func(k, j int, from, to int64) {
			q := next[first+k]
			next[first+k] += to - from
			t.Copy(out.Part(q, q+to-from), s.tiles[j].Part(from, to))
			for _, col := range s.tiles[j].Idx[from:to] {
				out.Idx[q] = col + int32(cols[j])
				q++
			}
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// strip is a row of tiles, which are hypersparse, and the rows that one of them stores.
type strip struct {
	tiles []*sparse.Store
	ids   []int32
}

// each calls fn for each stored row of each tile: k is its place in ids, j the place of the tile,
// and from … to−1 are its entries. The tiles of a row are in order, on one thread.
func (s strip) each(env Env, fn func(k, j int, from, to int64)) error {
	return parallel.Range(env.Ctx, env.Threads, len(s.ids), 1<<10, func(_, lo, hi int) {
		for j, t := range s.tiles {
			at, _ := slices.BinarySearch(t.RowIDs, s.ids[lo])
			for k := lo; k < hi && at < len(t.RowIDs); k++ {
				if t.RowIDs[at] == s.ids[k] {
					fn(k, j, t.Ptr[at], t.Ptr[at+1])
					at++
				}
			}
		}
	})
}

// mergedRows returns the union of two ascending lists.
func mergedRows(x, y []int32) []int32 {
	switch {
	case len(x) == 0 || slices.Equal(x, y):
		return y
	case len(y) == 0:
		return x
	}
	all := make([]int32, 0, len(x)+len(y))
	for len(x) > 0 && len(y) > 0 {
		i, j := x[0], y[0]
		all = append(all, min(i, j))
		if i <= j {
			x = x[1:]
		}
		if j <= i {
			y = y[1:]
		}
	}
	return append(append(all, x...), y...)
}
