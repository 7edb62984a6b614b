package cpu

import (
	"sync/atomic"

	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Intersect computes f(a, b), values of c, at the positions where both have an entry.
//
// room, if it has the size of a full result, may be used for the values of the result. It may alias
// the values of an operand.
func Intersect(env Env, f *Binary, c *sparse.Type, a, b *sparse.Store, room Values) (*sparse.Store, error) {
	f = guardBinary(env, f, c, a.Type, b.Type)
	if !a.Sparse() && !b.Sparse() {
		if err := denseRoom(c, &a.Structure); err != nil {
			return nil, err
		}
		if a.Format == sparse.Full && b.Format == sparse.Full {
			out := newDense(c, a.NRows, a.NCols, room, nil, a.NVals)
			return out, zipDense(env.writing(out.Val, room), f, out, a, b)
		}
		if smallDense(&a.Structure) {
			return intersectBitmap(f, c, a, b), nil
		}
		return intersectDense(env, f, c, a, b)
	}
	if a.Sparse() && b.Sparse() {
		if smallRow(&a.Structure) && smallRow(&b.Structure) {
			return intersectRow(f, c, a, b), nil
		}
		return intersectListed(env, f, c, a, b)
	}
	if a.Format == sparse.Full || b.Format == sparse.Full {
		return intersectFull(env, f, c, a, b)
	}
	if smallRow(&a.Structure) || smallRow(&b.Structure) {
		return intersectMixedRow(f, c, a, b), nil
	}
	return intersectMixed(env, f, c, a, b)
}

func intersectListed(env Env, f *Binary, c *sparse.Type, a, b *sparse.Store) (*sparse.Store, error) {
	threads := parallel.Threads(env.Threads)
	p := pair(&a.Structure, &b.Structure, threads)
	bounds := p.blocks(threads, 4)
	parts := len(bounds) - 1
	ptr, lens := p.lengths()
	offset, kept := make([]int64, parts+1), make([]int64, parts)
	err := parallel.Pieces(env.Ctx, threads, parts, func(_, w int) {
		sum := int64(0)
		for s := bounds[w]; s < bounds[w+1]; s++ {
			sum += min(p.pa[s+1]-p.pa[s], p.pb[s+1]-p.pb[s])
		}
		offset[w+1] = sum
	})
	if err != nil {
		return nil, err
	}
	for w := range parts {
		offset[w+1] += offset[w]
	}
	idx, val := fresh.Make[int32](offset[parts]), c.Make(offset[parts])
	err = parallel.Pieces(env.Ctx, threads, parts, func(_, w int) {
		var m merger
		places := []int32{}
		q := offset[w]
		for s := bounds[w]; s < bounds[w+1]; s++ {
			alo, ahi, blo, bhi := p.pa[s], p.pa[s+1], p.pb[s], p.pb[s+1]
			room := min(ahi-alo, bhi-blo)
			if room == 0 {
				lens[s] = 0
				continue
			}
			k := m.intersect(idx[q:q+room], a.Idx[alo:ahi], b.Idx[blo:bhi])
			for len(places) < k {
				places = append(places, int32(len(places)))
			}
			f.ZipAt(c.Slice(val, q, q+room), places[:k], a.Part(alo, ahi), m.matchA[:k], b.Part(blo, bhi), m.matchB[:k])
			lens[s] = int64(k)
			q += int64(k)
		}
		kept[w] = q - offset[w]
	})
	if err != nil {
		return nil, err
	}
	return assemble(&p, offset, kept, ptr, lens, idx, c, val, threads), nil
}

// intersectFull is Intersect for a listed operand and a full one. The result shares the structure
// of the listed operand.
func intersectFull(env Env, f *Binary, c *sparse.Type, a, b *sparse.Store) (*sparse.Store, error) {
	s := &a.Structure
	if !a.Sparse() {
		s = &b.Structure
	}
	out := &sparse.Store{Structure: *s, Val: c.Make(int64(len(s.Idx))), Type: c}
	zip := func(lo, hi int64, base int) {
		n := hi - lo
		if a.Sparse() {
			f.ZipAt(out.Part(lo, hi), consecutive[:n], a.Part(lo, hi), consecutive[:n], after(b.Type, b.Val, base), s.Idx[lo:hi])
		} else {
			f.ZipAt(out.Part(lo, hi), consecutive[:n], after(a.Type, a.Val, base), s.Idx[lo:hi], b.Part(lo, hi), consecutive[:n])
		}
	}
	if s.NRows == 1 {
		return out, parallel.Range(env.Ctx, env.Threads, len(s.Idx), denseChunk, func(_, lo, hi int) {
			zip(int64(lo), int64(hi), 0)
		})
	}
	bounds := parallel.Cut(env.Threads, s.Ptr, parallel.Threads(env.Threads)*8, 2)
	return out, parallel.Pieces(env.Ctx, env.Threads, len(bounds)-1, func(_, p int) {
		for k := bounds[p]; k < bounds[p+1]; k++ {
			base := s.RowID(k) * s.NCols
			for lo := s.Ptr[k]; lo < s.Ptr[k+1]; lo += denseChunk {
				zip(lo, min(lo+denseChunk, s.Ptr[k+1]), base)
			}
		}
	})
}

// intersectMixed looks up the entries of the listed operand in the dense operand.
func intersectMixed(env Env, f *Binary, c *sparse.Type, a, b *sparse.Store) (*sparse.Store, error) {
	s, dense := &a.Structure, &b.Structure
	if !a.Sparse() {
		s, dense = &b.Structure, &a.Structure
	}
	out := &sparse.Store{Structure: sparse.Structure{NRows: s.NRows, NCols: s.NCols, Format: s.Format, RowIDs: s.RowIDs}, Type: c}
	out.Ptr = make([]int64, len(s.Ptr))
	out.Idx, out.Val = make([]int32, 0, s.NVals), c.Make(s.NVals)
	var ps, pd, pq []int32
	for k := range s.Vecs() {
		if env.Ctx != nil && k&1023 == 0 && env.Ctx.Err() != nil {
			return nil, env.Ctx.Err()
		}
		base := s.RowID(k) * s.NCols
		lo, hi := s.Ptr[k], s.Ptr[k+1]
		ps, pd, pq = ps[:0], pd[:0], pq[:0]
		from := int64(len(out.Idx))
		for p, j := range s.Idx[lo:hi] {
			if dense.Format == sparse.Full || dense.Present[base+int(j)] != 0 {
				pq = append(pq, int32(len(ps)))
				ps, pd = append(ps, int32(p)), append(pd, j)
				out.Idx = append(out.Idx, j)
			}
		}
		cv := out.Part(from, int64(len(out.Idx)))
		if a.Sparse() {
			f.ZipAt(cv, pq, a.Part(lo, hi), ps, after(b.Type, b.Val, base), pd)
		} else {
			f.ZipAt(cv, pq, after(a.Type, a.Val, base), pd, b.Part(lo, hi), ps)
		}
		out.Ptr[k+1] = int64(len(out.Idx))
	}
	out.NVals = int64(len(out.Idx))
	out.Val = out.Part(0, out.NVals)
	if out.Format == sparse.Hypersparse {
		dropEmptyRows(out)
	}
	return out.Settle(), nil
}

func intersectDense(env Env, f *Binary, c *sparse.Type, a, b *sparse.Store) (*sparse.Store, error) {
	cells, _ := a.Cells()
	out := newDense(c, a.NRows, a.NCols, Values{}, make([]uint8, cells), 0)
	var count atomic.Int64
	err := parallel.Range(env.Ctx, env.Threads, cells, denseChunk, func(_, lo, hi int) {
		m := getScratch()
		defer m.release()
		both, _, _ := m.classify(presence(a.Present, lo, hi), presence(b.Present, lo, hi), hi-lo)
		for _, p := range both {
			out.Present[lo+int(p)] = 1
		}
		f.ZipAt(after(c, out.Val, lo), both, after(a.Type, a.Val, lo), both, after(b.Type, b.Val, lo), both)
		count.Add(int64(len(both)))
	})
	out.NVals = count.Load()
	return out, err
}
