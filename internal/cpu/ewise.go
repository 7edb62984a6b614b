package cpu

import (
	"sync/atomic"

	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// merger holds the positions found by merging two rows: the place of each entry of a and b in the
// result, and the matches (columns in both). The merge has no data-dependent branches and reads no
// values. The arithmetic is three passes over these lists.
type merger struct {
	posA, posB             []int32
	matchA, matchB, matchQ []int32
}

func (m *merger) room(la, lb int) {
	n := min(la, lb) + 1
	if len(m.posA) < la+1 {
		m.posA = fresh.Make[int32](int64(2*la + 64))
	}
	if len(m.posB) < lb+1 {
		m.posB = fresh.Make[int32](int64(2*lb + 64))
	}
	if len(m.matchA) < n {
		room := int64(2*n + 64)
		m.matchA, m.matchB, m.matchQ = fresh.Make[int32](room), fresh.Make[int32](room), fresh.Make[int32](room)
	}
}

// union merges the ascending ai and bi into ci, which has room for both. It returns the length of
// the result and the number of matches.
func (m *merger) union(ci, ai, bi []int32) (n, matches int) {
	m.room(len(ai), len(bi))
	posA, posB, mA := m.posA[:len(ai)], m.posB[:len(bi)], m.matchA
	i, j, q := 0, 0, 0 // i + j - q is the number of matches
	if len(ai) > 0 && len(bi) > 0 {
		// The loop loads the next columns before it compares the current ones, so that loads
		// overlap comparisons.
		x, y := ai[0], bi[0]
		for i+1 < len(ai) && j+1 < len(bi) {
			nextX, nextY := ai[i+1], bi[j+1]
			posA[i], posB[j] = int32(q), int32(q)
			mA[i+j-q] = int32(i)
			ci[q] = min(x, y)
			le, ge, newX := 0, 0, x
			if x <= y {
				le = 1
			}
			if y <= x {
				ge = 1
			}
			if x <= y {
				newX = nextX
			}
			if y <= x {
				y = nextY
			}
			x = newX
			i += le
			j += ge
			q++
		}
	}
	return m.finish(ci, ai, bi, posA, posB, mA, i, j, q)
}

// finish merges what a loop of union leaves, from ai[i], bi[j] and ci[q] on, and completes the
// matches; matchA lists their places in a.
func (m *merger) finish(ci, ai, bi, posA, posB, matchA []int32, i, j, q int) (n, matches int) {
	for i < len(ai) && j < len(bi) {
		x, y := ai[i], bi[j]
		posA[i], posB[j] = int32(q), int32(q)
		matchA[i+j-q] = int32(i)
		ci[q] = min(x, y)
		q++
		if x <= y {
			i++
		}
		if y <= x {
			j++
		}
	}
	matches = i + j - q
	for ; i < len(ai); i++ {
		posA[i], ci[q] = int32(q), ai[i]
		q++
	}
	for ; j < len(bi); j++ {
		posB[j], ci[q] = int32(q), bi[j]
		q++
	}
	matchB, matchQ := m.matchB[:matches], m.matchQ[:matches]
	for p, i := range matchA[:matches] {
		matchQ[p] = posA[i]
		matchB[p] = posA[i] - i + int32(p)
	}
	return q, matches
}

// insertFrom is the ratio of lengths from which a union copies runs of the longer list between the
// entries of the shorter.
const insertFrom = 16

// insert is union for a short list and a long one. It calls run(q, lo, hi) for each run of long
// that is copied to the places from q on. posB and matchB refer to short, matchA to long.
func (m *merger) insert(ci, long, short []int32, run func(q, lo, hi int)) (n, matches int) {
	m.room(len(short), len(short))
	i, q, k := 0, 0, 0
	upto := func(end int) {
		if end > i {
			run(q, i, end)
			q += copy(ci[q:], long[i:end])
			i = end
		}
	}
	for j, y := range short {
		upto(i + seek(long[i:], y))
		m.posB[j], ci[q] = int32(q), y
		if i < len(long) && long[i] == y {
			m.matchA[k], m.matchB[k], m.matchQ[k] = int32(i), int32(j), int32(q)
			k++
			i++
		}
		q++
	}
	upto(len(long))
	return q, k
}

// seek is search by galloping, for a result near the front.
func seek(ci []int32, c int32) int {
	step := 1
	for step < len(ci) && ci[step] < c {
		step *= 2
	}
	from := step / 2
	return from + search(ci[from:min(step+1, len(ci))], int(c))
}

// gallop is the ratio of lengths from which an intersection by binary search is faster than a
// merge.
const gallop = 32

// lopsided reports whether an intersection of lists of these lengths searches the longer one.
func lopsided(la, lb int) bool { return la > gallop*lb || lb > gallop*la }

// intersect stores the matches of ai and bi in matchA and matchB, and their columns in ci. It
// returns the number of matches.
func (m *merger) intersect(ci, ai, bi []int32) (matches int) {
	m.room(0, 0)
	if n := min(len(ai), len(bi)) + 1; len(m.matchA) < n {
		m.room(n, n)
	}
	if lopsided(len(ai), len(bi)) {
		return m.intersectSearch(ci, ai, bi)
	}
	matches = mergeIntersection(ai, bi, m.matchA, m.matchB)
	for q, i := range m.matchA[:matches] {
		ci[q] = ai[i]
	}
	return matches
}

func (m *merger) intersectSearch(ci, ai, bi []int32) (k int) {
	mA, mB := m.matchA, m.matchB
	if len(ai) <= len(bi) {
		base := 0
		for i, x := range ai {
			base += search(bi[base:], int(x))
			if base == len(bi) {
				break
			}
			if bi[base] == x {
				mA[k], mB[k], ci[k] = int32(i), int32(base), x
				k++
			}
		}
		return k
	}
	base := 0
	for j, y := range bi {
		base += search(ai[base:], int(y))
		if base == len(ai) {
			break
		}
		if ai[base] == y {
			mA[k], mB[k], ci[k] = int32(base), int32(j), y
			k++
		}
	}
	return k
}

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
		return out, zipDense(env, ops.Both, out, a, b)
	}
	switch {
	case b.Sparse():
		out := newDense(c, a.NRows, a.NCols, ops.Room, nil, int64(cells))
		if err := mapAll(env, ops.Left, out, a); err != nil {
			return nil, err
		}
		return out, overlay(env, b, func(base int, pc []int32, bv Values, pb []int32) {
			ops.Both.ZipAt(after(c, out.Val, base), pc, after(a.Type, a.Val, base), pc, bv, pb)
		})
	case a.Sparse():
		out := newDense(c, a.NRows, a.NCols, ops.Room, nil, int64(cells))
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
			return out, zipDense(env, f, out, a, b)
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
