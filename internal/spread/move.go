package spread

import (
	"context"
	"reflect"
	"slices"
	"sort"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/spmd"
	"github.com/hiveblas/hiveblas/internal/collect"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// received makes blocks of a rows×cols matrix, of the rows that ranks exchange. out gives what a
// rank sends, and how its new block is numbered: m rows from lo on.
func (s *Blocks) received(ctx context.Context, rows, cols int, cuts []int, conform bool, out func(r *rank) (sent rowsOut, lo, m int, err error)) (*Blocks, error) {
	to := &Blocks{g: s.g, make: s.make, kind: s.kind, rows: rows, cols: cols, vector: s.vector, cuts: cuts, loose: s.loose, part: make([]Matrix, len(s.part))}
	err := s.each(ctx, s.kind, s.onDevices(), func(k int, r *rank) error {
		rows, lo, m, err := out(r)
		if err == nil {
			to.part[k], err = r.exchange(rows, lo, m, cols, conform)
		}
		return err
	})
	return to, err
}

// recut returns the matrix in other blocks; a collective unless they are the same.
func (s *Blocks) recut(ctx context.Context, cuts []int) (*Blocks, error) {
	if slices.Equal(cuts, s.cuts) {
		return s, nil
	}
	return s.cutAnew(ctx, s.rows, s.cols, cuts, false)
}

// cutAnew returns the matrix, or its transpose, which is rows×cols, in blocks of the given cuts.
func (s *Blocks) cutAnew(ctx context.Context, rows, cols int, cuts []int, across bool) (*Blocks, error) {
	return s.received(ctx, rows, cols, cuts, !across, func(r *rank) (sent rowsOut, lo, m int, err error) {
		sent, err = r.rowsFor(across, cuts)
		lo = cuts[r.c.Rank()]
		return sent, lo, cuts[r.c.Rank()+1] - lo, err
	})
}

// transposed returns the transpose of a matrix in blocks of its rows, and keeps it. The first call
// is a collective.
func (s *Blocks) transposed(ctx context.Context) (*Blocks, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.across != nil {
		return s.across, nil
	}
	cuts := s.g.Cuts(s.cols)
	if s.rows != s.cols {
		var err error
		if cuts, err = s.columnCuts(ctx); err != nil {
			return nil, err
		}
	}
	t, err := s.transposedBy(ctx, cuts)
	if err != nil {
		return nil, err
	}
	t.across = s
	s.across = t
	return t, nil
}

// transposedBy returns the transpose in blocks of the given cuts. It is a collective.
func (s *Blocks) transposedBy(ctx context.Context, cuts []int) (*Blocks, error) {
	return s.cutAnew(ctx, s.cols, s.rows, cuts, true)
}

// Symmetric reports whether the matrix equals its transpose, which then shares its blocks. A
// failure of the group counts as no. The first call is a collective.
func (s *Blocks) Symmetric() bool {
	s.hasCols = true // as on one place, where the transpose is made and kept
	if s.across == s {
		return true
	}
	t, err := s.transposed(nil)
	if err == nil {
		t, err = t.recut(nil, s.cuts)
	}
	if err != nil {
		return false
	}
	kind, noType := device.TypeFor(sparse.GoType(s.kind))
	devices := s.onDevices() && t.onDevices() && noType == nil && kind.Kind != reflect.Struct
	differ := make([]int64, len(s.part)) // ranks with different blocks
	err = s.each(nil, s.kind, devices, func(k int, r *rank) error {
		differs, err := r.differs(t.part[k])
		if err != nil {
			return err
		}
		if differs {
			differ[k] = 1
		}
		return spmd.Reduce(nil, r.c, differ[k:k+1], comm.Sum)
	})
	if err != nil || differ[0] != 0 {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.across = s
	return true
}

// columnCuts cuts the columns by their entries. It is a collective.
func (s *Blocks) columnCuts(ctx context.Context) ([]int, error) {
	n := s.cols
	buckets, err := collect.Buckets(ctx, s.g, n, func(k int, add func(j int32)) {
		for _, j := range s.part[k].RowsShape().Idx {
			add(j)
		}
	})
	if err != nil {
		return nil, err
	}
	return s.g.CutBy(n, parallel.RowWork*int64(n)+collect.Sum(buckets), func(w int64) int { return collect.BucketAt(buckets, n, w) }), nil
}

// needed returns for each rank of this process the rows that rows lists for it, ascending and
// without repeats. All processes give the same lists. It is a collective.
func (s *Blocks) needed(ctx context.Context, rows func(rank int) []int32) ([]Matrix, error) {
	lists := make([][]int32, s.g.Size())
	for r := range lists {
		lists[r] = rows(r)
	}
	t, err := s.received(ctx, s.rows, s.cols, s.cuts, false, func(r *rank) (sent rowsOut, lo, m int, err error) {
		sent, err = r.listedRows(lists)
		return sent, 0, len(lists[r.c.Rank()]), err
	})
	if err != nil {
		return nil, err
	}
	return t.part, nil
}

// between returns the range of the items of an ascending list that are lo … hi−1.
func between(list []int32, lo, hi int) (from, to int) {
	from = sort.Search(len(list), func(p int) bool { return int(list[p]) >= lo })
	return from, from + sort.Search(len(list)-from, func(p int) bool { return int(list[from+p]) >= hi })
}

// manyRows is the number of rows up to which the lengths of all of them are exchanged once, and
// kept.
const manyRows = 1 << 24

// lengths returns the number of entries of rows, in ascending order, of the whole matrix. It may be
// a collective.
func (s *Blocks) lengths(ctx context.Context, rows []int32) ([]int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]int64, len(rows))
	if s.rows <= manyRows {
		if s.lens == nil {
			all := make([]int32, s.rows)
			for i := range all {
				all[i] = int32(i)
			}
			lens := make([]int64, s.rows)
			if err := s.exchangeLengths(ctx, all, lens); err != nil {
				return nil, err
			}
			s.lens = lens
		}
		for p, i := range rows {
			out[p] = s.lens[i]
		}
		return out, nil
	}
	return out, s.exchangeLengths(ctx, rows, out)
}

func (s *Blocks) exchangeLengths(ctx context.Context, rows []int32, out []int64) error {
	at := make([]int, s.g.Size()+1)
	for r := range at {
		at[r] = sort.Search(len(rows), func(p int) bool { return int(rows[p]) >= s.cuts[r] })
	}
	counts := make([]int, s.g.Size())
	for r := range counts {
		counts[r] = at[r+1] - at[r]
	}
	return s.g.Each(func(k int, c comm.Comm) error {
		lo, _ := s.block(c)
		st := s.part[k].RowsShape()
		if err := s.part[k].Err(); err != nil {
			return err
		}
		var own []int64
		for _, i := range rows[at[c.Rank()]:at[c.Rank()+1]] {
			a, b := st.Span(int(i) - lo)
			own = append(own, b-a)
		}
		all, err := spmd.AllGatherV(ctx, c, own, counts)
		if k == 0 {
			copy(out, all)
		}
		return err
	})
}
