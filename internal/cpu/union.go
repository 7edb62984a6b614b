package cpu

import (
	"sync/atomic"

	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// UnionOps are the three operations of a union. Both applies where a and b have an entry, Left
// where only a has one, Right where only b has one.
type UnionOps struct {
	Both  *Binary
	Left  func(c, a Values) // c[p] = value for a[p] only
	Right func(c, b Values) // c[p] = value for b[p] only
	// Copies is set if the operands and the result have the same type and Left and Right copy.
	Copies bool
	// Room, if it has the size of a full result, may be used for the values of the result. It may
	// alias the values of an operand only if Copies is set.
	Room Values
	// Spare, if it is large enough, may be used for the values of a listed result. It must not
	// alias the values of an operand.
	Spare Values
}

// Copying returns the loop that copies values of a type: Left and Right of a union that copies. Of
// no values, as of a pattern, it copies True.
func Copying(t *sparse.Type) func(c, v Values) {
	return func(c, v Values) {
		if v.None() {
			t.Fill(c, t.True)
			return
		}
		t.Copy(c, v)
	}
}

// Union computes the union of a and b, with values of c. The result is dense if both operands are
// dense (Bitmap, Full) or one is Full, and listed otherwise. A bitmap operand beside a listed one
// is first converted to a list.
func Union(env Env, ops UnionOps, c *sparse.Type, a, b *sparse.Store) (*sparse.Store, error) {
	ops = guardUnion(env, ops, c, a.Type, b.Type)
	if a.Format == sparse.Full || b.Format == sparse.Full || !a.Sparse() && !b.Sparse() {
		if err := denseRoom(c, &a.Structure); err != nil {
			return nil, err
		}
		if a.Format != b.Format && smallDense(&a.Structure) && smallDense(&b.Structure) || a.Format == sparse.Bitmap && smallDense(&a.Structure) {
			return unionBitmap(ops, c, a, b), nil
		}
		return unionDense(env, ops, c, a, b)
	}
	if smallRow(&a.Structure) && smallRow(&b.Structure) {
		return unionRow(ops, c, a, b), nil
	}
	return unionListed(env, ops, c, a.ToSparse(), b.ToSparse())
}

func unionListed(env Env, ops UnionOps, c *sparse.Type, a, b *sparse.Store) (*sparse.Store, error) {
	threads := parallel.Threads(env.Threads)
	p := pair(&a.Structure, &b.Structure, threads)
	bounds := p.blocks(threads, 16)
	parts := len(bounds) - 1
	ptr, lens := p.lengths()
	kept := make([]int64, parts)
	counted := threads > 2 && a.NVals+b.NVals >= 1<<20
	offset, total, err := unionRoom(env, &p, a.Idx, b.Idx, bounds, lens, counted)
	if err != nil {
		return nil, err
	}
	var merge valueMerge
	if ops.Copies && !a.Val.None() && !b.Val.None() {
		merge = valueMergeOf(c)
	}
	idx, val := fresh.Make[int32](total), c.Make(total)
	mergers := make([]merger, threads)
	err = parallel.Pieces(env.Ctx, threads, parts, func(id, w int) {
		m := mergers[id]
		defer func() { mergers[id] = m }()
		var temp Values
		q := offset[w]
		for s := bounds[w]; s < bounds[w+1]; s++ {
			alo, ahi, blo, bhi := p.pa[s], p.pa[s+1], p.pb[s], p.pb[s+1]
			la, lb := int(ahi-alo), int(bhi-blo)
			if la+lb == 0 {
				lens[s] = 0
				continue
			}
			room := int64(la + lb)
			if counted {
				room = lens[s]
			}
			av, bv := a.Part(alo, ahi), b.Part(blo, bhi)
			ci, cv := idx[q:q+room], c.Slice(val, q, q+room)
			if lb == 0 {
				copy(ci, a.Idx[alo:ahi])
				ops.Left(cv, av)
				lens[s] = int64(la)
				q += lens[s]
				continue
			}
			if la == 0 {
				copy(ci, b.Idx[blo:bhi])
				ops.Right(cv, bv)
				lens[s] = int64(lb)
				q += lens[s]
				continue
			}
			ai, bi := a.Idx[alo:ahi], b.Idx[blo:bhi]
			var n, k int
			if merge != nil && la < insertFrom*lb && lb < insertFrom*la {
				if n = int(room); !counted {
					n = int(unionLen(ai, bi))
				}
				k = mergeRows(&m, merge, ci[:n], ai, bi, c.Slice(cv, 0, int64(n)), av, bv)
			} else {
				n, k = unionAt(&m, c, ops.Copies, ci, cv, side{ai, a.Type, av, ops.Left}, side{bi, b.Type, bv, ops.Right}, &temp)
			}
			if k > 0 {
				ops.Both.ZipAt(cv, m.matchQ[:k], av, m.matchA[:k], bv, m.matchB[:k])
			}
			lens[s] = int64(n)
			q += int64(n)
		}
		kept[w] = q - offset[w]
	})
	if err != nil {
		return nil, err
	}
	return assemble(&p, offset, kept, ptr, lens, idx, c, val, threads), nil
}

// unionRoom returns where the results of the blocks of a union begin, and the room for all. If they
// are counted, it sets lens to the lengths of the segments, and the room is exact.
//
// Many threads count: the room for a result without matches would cost them more than a second
// merge, by page faults and by the copy of the used parts.
func unionRoom(env Env, p *pairing, ai, bi []int32, bounds []int, lens []int64, counted bool) (offset []int64, total int64, err error) {
	parts := len(bounds) - 1
	offset = make([]int64, parts)
	if !counted {
		for w := range offset {
			offset[w] = p.pa[bounds[w]] + p.pb[bounds[w]]
		}
		return offset, int64(len(ai) + len(bi)), nil
	}
	err = parallel.Pieces(env.Ctx, parallel.Threads(env.Threads), parts, func(_, w int) {
		sum := int64(0) // a sum in offset would share its cache line with other threads
		for s := bounds[w]; s < bounds[w+1]; s++ {
			lens[s] = unionLen(ai[p.pa[s]:p.pa[s+1]], bi[p.pb[s]:p.pb[s+1]])
			sum += lens[s]
		}
		offset[w] = sum
	})
	for w, n := range offset {
		offset[w], total = total, total+n
	}
	return offset, total, err
}

// denseRoom returns a *RoomError if there is no memory for a dense result of the shape of s.
func denseRoom(c *sparse.Type, s *sparse.Structure) error {
	return roomFor("a dense result", int64(s.NRows)*int64(s.NCols), c.Size+1)
}

// unionDense computes the union into a dense result: of a Full operand and a listed one, or of two
// dense ones.
func unionDense(env Env, ops UnionOps, c *sparse.Type, a, b *sparse.Store) (*sparse.Store, error) {
	cells, _ := a.Cells()
	if a.Format == sparse.Full && b.Format == sparse.Full {
		out := newDense(c, a.NRows, a.NCols, ops.Room, nil, int64(cells))
		return out, zipDense(env.writing(out.Val, ops.Room), ops.Both, out, a, b)
	}
	switch {
	case b.Sparse():
		out := newDense(c, a.NRows, a.NCols, ops.Room, nil, int64(cells))
		env = env.writing(out.Val, ops.Room)
		if err := mapAll(env, ops.Left, out, a); err != nil {
			return nil, err
		}
		return out, overlay(env, b, func(base int, pc []int32, bv Values, pb []int32) {
			ops.Both.ZipAt(after(c, out.Val, base), pc, after(a.Type, a.Val, base), pc, bv, pb)
		})
	case a.Sparse():
		out := newDense(c, a.NRows, a.NCols, ops.Room, nil, int64(cells))
		env = env.writing(out.Val, ops.Room)
		if err := mapAll(env, ops.Right, out, b); err != nil {
			return nil, err
		}
		return out, overlay(env, a, func(base int, pc []int32, av Values, pa []int32) {
			ops.Both.ZipAt(after(c, out.Val, base), pc, av, pa, after(b.Type, b.Val, base), pc)
		})
	}
	var present []uint8
	if a.Format == sparse.Bitmap && b.Format == sparse.Bitmap {
		present = make([]uint8, cells)
	}
	out := newDense(c, a.NRows, a.NCols, Values{}, present, int64(cells))
	var count atomic.Int64
	err := parallel.Range(env.Ctx, env.Threads, cells, denseChunk, func(_, lo, hi int) {
		m := getScratch()
		defer m.release()
		pa, pb := presence(a.Present, lo, hi), presence(b.Present, lo, hi)
		both, left, right := m.classify(pa, pb, hi-lo)
		for p := range presence(out.Present, lo, hi) {
			out.Present[lo+p] = pa[p] | pb[p]
		}
		av, bv, cv := after(a.Type, a.Val, lo), after(b.Type, b.Val, lo), after(c, out.Val, lo)
		ops.Both.ZipAt(cv, both, av, both, bv, both)
		moveAt(c, cv, left, a.Type, av, ops.Left, ops.Copies)
		moveAt(c, cv, right, b.Type, bv, ops.Right, ops.Copies)
		count.Add(int64(len(both) + len(left) + len(right)))
	})
	out.NVals = count.Load()
	return out, err
}

// denseChunk is the number of positions of a dense operand that are listed at a time.
const denseChunk = 1 << 12

// consecutive is 0, 1, 2, …: the places of a list without gaps.
var consecutive = func() (at [denseChunk]int32) {
	for p := range at {
		at[p] = int32(p)
	}
	return at
}()

// mapAt does out[at[p]] = f(v[at[p]]), from values of s to values of c.
func mapAt(c *sparse.Type, out Values, at []int32, s *sparse.Type, v Values, f func(c, s Values)) {
	if len(at) == 0 {
		return
	}
	var from, to Values
	if !v.None() {
		from = s.Make(int64(len(at)))
		s.Move(from, nil, v, at)
	}
	if to = from; c != s || from.None() {
		to = c.Make(int64(len(at)))
	}
	f(to, from)
	c.Move(out, at, to, nil)
}

// mapAll sets the values of out to f of the values of s, by all threads. Both may share memory if f
// copies.
func mapAll(env Env, f func(c, s Values), out, s *sparse.Store) error {
	return produce(env, out.Type, out.Val, valueChunk, out.Val.Same(s.Val), func(part Values, lo, hi int) {
		f(part, s.Part(int64(lo), int64(hi)))
	})
}

// overlay calls put for the entries of a listed s, at most denseChunk of a row at a time: base is
// the row's first position, pc the columns, ps the places of the values in sv.
func overlay(env Env, s *sparse.Store, put func(base int, pc []int32, sv Values, ps []int32)) error {
	return s.Spans(env.Ctx, env.Threads, func(base int, lo, hi int64) {
		for ; lo < hi; lo += denseChunk {
			end := min(lo+denseChunk, hi)
			put(base, s.Idx[lo:end], s.Part(lo, end), consecutive[:end-lo])
		}
	})
}

// zipDense sets the values of the full c to f of the values of a and b, which are full.
func zipDense(env Env, f *Binary, c, a, b *sparse.Store) error {
	if c.Val.Len() <= smallWork {
		f.Zip(c.Val, a.Val, b.Val)
		return nil
	}
	return zipLarge(env, f, c, a, b)
}

func zipLarge(env Env, f *Binary, c, a, b *sparse.Store) error {
	return produce(env, c.Type, c.Val, 1<<15, c.Val.Same(a.Val) || c.Val.Same(b.Val), func(part Values, lo, hi int) {
		f.Zip(part, a.Part(int64(lo), int64(hi)), b.Part(int64(lo), int64(hi)))
	})
}
