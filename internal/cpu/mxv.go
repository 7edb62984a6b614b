package cpu

import (
	"sync/atomic"

	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Pull computes the vector w with w[i] = Σ a(i,k) ⊗ u[k], with one dot product per row of a (CSR or
// hypersparse) that mask allows. u is 1×n in any format. The result is 1×m: full, bitmap or a list,
// according to its density. leads returns the leads of a (see sparse.Leads); Pull calls it only if
// all products are equal.
func Pull(env Env, s *Semiring, c *sparse.Type, a *sparse.Store, leads func() []int32, u *sparse.Store, mask *Mask) (*sparse.Store, error) {
	s = guardSemiring(env, s, c, a.Type, u.Type)
	done := env.done(s.User)
	m := a.NRows
	threads := workers(env, a.NVals+int64(a.Vecs()), 1<<12)
	if s.Any && !s.UsesX && !s.UsesY {
		product := c.Zeroed(1)
		s.Products(product, a.Type.Zero.Pointer(), u.Type.Zero)
		return pullUniform(env, c, &a.Structure, leads(), &u.Structure, mask, product)
	}
	u = asFull(u)
	if u.Format == sparse.Full && mask == nil && a.Format == sparse.CSR {
		return pullFull(env, s, c, a, u.Val, threads)
	}
	x, present := dense(u, threads)
	full := u.Format == sparse.Full
	absorb := s.IsIdentity != nil && !full
	if absorb {
		var release func()
		x, release = absentFilled(u, x, present, s.Absent, threads)
		defer release()
	}
	var allow []uint8
	if mask != nil {
		allow = mask.bytes(m)
	}
	// Every block lists its results in its own part of these arrays.
	vecs := a.Vecs()
	found := getEntryBuffer(c, vecs)
	defer found.release()
	idx, y := found.idx, found.val
	bounds := parallel.Cut(threads, a.Ptr, threads*16, 4)
	counts := make([]int, len(bounds)-1)
	err := parallel.Pieces(env.Ctx, threads, len(bounds)-1, func(_, b int) {
		q := bounds[b]
		c.Fill(c.Slice(y, int64(q), int64(bounds[b+1])), s.Identity)
		for k := q; k < bounds[b+1]; k++ {
			lo, hi := a.Ptr[k], a.Ptr[k+1]
			i := a.RowID(k)
			if lo == hi || allow != nil && (allow[i] != 0) == mask.Comp {
				continue
			}
			if done != nil && ended(done) {
				break
			}
			ci := a.Idx[lo:hi]
			var hit bool
			switch sum := c.At(y, int64(q)); {
			case s.Any:
				if p := firstPresent(ci, present); p >= 0 {
					s.Products(c.One(y, int64(q)), a.Type.At(a.Val, lo+int64(p)), u.Type.Slice(x, int64(ci[p]), int64(ci[p])+1))
					hit = true
				}
			case full || absorb:
				s.Dot(sum, ci, a.Part(lo, hi), x)
				hit = full || !s.IsIdentity(sum) || firstPresent(ci, present) >= 0
			default:
				hit = s.DotPresent(sum, ci, a.Part(lo, hi), x, present)
			}
			if hit {
				idx[q] = int32(i)
				q++
			}
		}
		counts[b] = q - bounds[b]
	})
	if err != nil {
		return nil, err
	}
	return joinBlocks(env, c, m, bounds, counts, idx, y)
}

// absentFilled returns the values x of u with absent at the positions without an entry, and the
// function that releases them.
func absentFilled(u *sparse.Store, x Values, present []uint8, absent Values, threads int) (filledX Values, release func()) {
	filled := getSPA(u.Type, u.NCols, absent) // absent except at the entries of u
	at := func(move func(acc Values, lo int64, list []int32)) {
		_ = parallel.Range(nil, threads, len(present), denseChunk, func(_, lo, hi int) {
			m := getScratch()
			defer m.release()
			move(u.Type.Slice(filled.acc, int64(lo), int64(hi)), int64(lo), m.listPresent(present[lo:hi]))
		})
	}
	at(func(acc Values, lo int64, list []int32) {
		u.Type.Move(acc, list, u.Type.Slice(x, lo, lo+int64(acc.Len())), list)
	})
	return filled.acc, func() {
		at(func(acc Values, _ int64, list []int32) { u.Type.FillAt(acc, list, absent) })
		filled.release()
	}
}

// asFull returns a vector with an entry at each position in the format Full, so that the order of
// sums does not depend on the format that the vector happens to have.
func asFull(u *sparse.Store) *sparse.Store {
	if u.Format == sparse.Full || u.NVals != int64(u.NCols) || u.Val.Len() != u.NCols {
		return u
	}
	return u.With(&sparse.Structure{NRows: 1, NCols: u.NCols, Format: sparse.Full, NVals: u.NVals})
}

// pullUniform is Pull for a semiring with equal sums of any number of products: it only determines
// which rows have a product.
func pullUniform(env Env, c *sparse.Type, a *sparse.Structure, lead []int32, u *sparse.Structure, mask *Mask, product Values) (*sparse.Store, error) {
	threads := workers(env, int64(a.Vecs()), 1<<12)
	var allow []uint8
	comp := false
	if mask != nil {
		allow, comp = mask.bytes(a.NRows), mask.Comp
	}
	marks := marksOf(u, threads)
	found := getEntryBuffer(c, a.Vecs())
	defer found.release()
	bounds := parallel.Cut(threads, a.Ptr, threads*16, 64) // reads every row but few entries
	counts := make([]int, len(bounds)-1)
	err := parallel.Pieces(env.Ctx, threads, len(counts), func(_, b int) {
		q := bounds[b]
		counts[b] = meet(a, lead, q, bounds[b+1], marks, allow, comp, found.idx[q:])
		c.Fill(c.Slice(found.val, int64(q), int64(q+counts[b])), product)
	})
	if err != nil {
		return nil, err
	}
	return joinBlocks(env, c, a.NRows, bounds, counts, found.idx, found.val)
}

// meetBlock is the number of rows that meet processes together.
const meetBlock = 1 << 10

// meet lists the rows from … to−1 that mask allows and that have a marked column, and returns their
// number. lead, if not nil, holds their first columns (see sparse.Leads).
//
// The mask or the first columns decide most rows, and the branch predictor foresees neither. The
// code therefore does not branch on them: it lists the allowed rows of a block, tests their first
// columns, and then tests the remaining columns of the undecided rows.
func meet(a *sparse.Structure, lead []int32, from, to int, marks []uint64, allow []uint8, comp bool, out []int32) int {
	var rows, rest [meetBlock]int32
	var hit [meetBlock]uint8
	const blockMask = meetBlock - 1
	ptr, idx := a.Ptr, a.Idx
	q := 0
	for lo := from; lo < to; lo += meetBlock {
		n := 0
		offsets := ptr[lo : min(lo+meetBlock, to)+1]
		for k := range offsets[1:] { // non-empty rows
			rows[n&blockMask] = int32(lo + k)
			n += int(uint64(offsets[k]-offsets[k+1]) >> 63)
		}
		if allow != nil {
			n = allowed(rows[:n], a.RowIDs, allow, comp)
		}
		r := 0
		for c, k := range rows[:n] {
			p, last := ptr[k], ptr[k+1]-1
			var h uint64
			if lead != nil {
				first := lead[sparse.Lead*int(k) : sparse.Lead*int(k)+sparse.Lead]
				h = markOf(marks, first[0]) | markOf(marks, first[1]) | markOf(marks, first[2]) | markOf(marks, first[3])
			} else {
				h = markOf(marks, idx[p]) | markOf(marks, idx[min(p+1, last)]) | markOf(marks, idx[min(p+2, last)]) | markOf(marks, idx[min(p+3, last)])
			}
			h &= 1
			hit[c&blockMask] = uint8(h)
			rest[r&blockMask] = int32(c)
			r += int(uint64(p+sparse.Lead-1-last)>>63) &^ int(h) // no hit and more columns
		}
		for _, c := range rest[:r] {
			k := rows[c]
			hit[c] = uint8(anyMarked(idx[ptr[k]+sparse.Lead:ptr[k+1]], marks))
		}
		for c, k := range rows[:n] {
			out[q] = int32(a.RowID(int(k)))
			q += int(hit[c&blockMask])
		}
	}
	return q
}

// allowed keeps the rows that the bytes of a mask allow and returns their number. ids, if not nil,
// holds the row numbers of the stored rows.
func allowed(rows, ids []int32, allow []uint8, comp bool) int {
	n, c := 0, b2u(comp)
	if ids != nil {
		for _, k := range rows {
			rows[n] = k
			n += int(allow[ids[k]] ^ c)
		}
		return n
	}
	for _, k := range rows {
		rows[n] = k
		n += int(allow[k] ^ c)
	}
	return n
}

// markOf returns the mark of j in the lowest bit; the other bits are undefined.
func markOf(marks []uint64, j int32) uint64 { return marks[uint32(j)>>6] >> (uint32(j) & 63) }

// anyMarked returns 1 if a column of ci is marked, and 0 otherwise.
func anyMarked(ci []int32, marks []uint64) uint64 {
	for len(ci) >= 4 {
		if h := markOf(marks, ci[0]) | markOf(marks, ci[1]) | markOf(marks, ci[2]) | markOf(marks, ci[3]); h&1 != 0 {
			return 1
		}
		ci = ci[4:]
	}
	h := uint64(0)
	for _, j := range ci {
		h |= markOf(marks, j)
	}
	return h & 1
}

// positionGrain is the number of positions of a vector that a thread visits at a time.
const positionGrain = 1 << 15

// marksOf returns one bit per position of a vector, set if the position has an entry.
func marksOf(u *sparse.Structure, threads int) []uint64 {
	marks := make([]uint64, (u.NCols+63)/64)
	if u.Sparse() { // a range ends before a column unless the column begins a word
		begin := func(p int) int {
			for p > 0 && p < len(u.Idx) && u.Idx[p]>>6 == u.Idx[p-1]>>6 {
				p++
			}
			return p
		}
		_ = parallel.Range(nil, threads, len(u.Idx), positionGrain, func(_, lo, hi int) {
			for _, j := range u.Idx[begin(lo):begin(hi)] {
				marks[j>>6] |= 1 << (j & 63)
			}
		})
		return marks
	}
	_ = parallel.Range(nil, threads, u.NCols, positionGrain, func(_, lo, hi int) {
		if u.Format == sparse.Full {
			for j := lo; j < hi; j++ {
				marks[j>>6] |= 1 << (j & 63)
			}
			return
		}
		for j := lo; j < hi; j++ {
			marks[j>>6] |= uint64(u.Present[j]) << (j & 63)
		}
	})
	return marks
}

// nearlyFull reports whether a vector of m positions with n entries is stored as a bitmap. Lists
// are faster to traverse and to combine unless nearly every position has an entry.
func nearlyFull(n, m int64) bool { return 8*n > 7*m }

// joinBlocks makes a vector from the lists that the blocks wrote to idx and val.
func joinBlocks(env Env, c *sparse.Type, m int, bounds, counts []int, idx []int32, val Values) (*sparse.Store, error) {
	found := make([]entryBuffer, len(counts))
	for b, n := range counts {
		lo, hi := bounds[b], bounds[b]+n
		found[b] = entryBuffer{c, idx[lo:hi], c.Slice(val, int64(lo), int64(hi))}
	}
	return joinFound(env, c, m, found, parallel.Threads(env.Threads))
}

func pullFull(env Env, s *Semiring, c *sparse.Type, a *sparse.Store, x Values, threads int) (*sparse.Store, error) {
	m := a.NRows
	y := c.Make(int64(m))
	bounds := parallel.Cut(threads, a.Ptr, threads*64, 2)
	var used atomic.Int64
	err := parallel.Pieces(env.Ctx, threads, len(bounds)-1, func(_, b int) {
		lo, hi := bounds[b], bounds[b+1]
		ptr := a.Ptr[lo : hi+1]
		part := c.Slice(y, int64(lo), int64(hi))
		if s.DotRows != nil {
			s.DotRows(part, s.Identity.Pointer(), ptr, a.Idx, a.Val, x)
		} else {
			c.Fill(part, s.Identity)
			for i := lo; i < hi; i++ {
				s.Dot(c.At(y, int64(i)), a.Idx[a.Ptr[i]:a.Ptr[i+1]], a.Part(a.Ptr[i], a.Ptr[i+1]), x)
			}
		}
		used.Add(usedRows(ptr))
	})
	out := &sparse.Store{Structure: sparse.Structure{NRows: 1, NCols: m, NVals: used.Load(), Format: sparse.Full}, Val: y, Type: c}
	if err == nil && used.Load() < int64(m) {
		out.Format, out.Present = sparse.Bitmap, fresh.Make[uint8](int64(m))
		err = parallel.Range(env.Ctx, threads, m, positionGrain, func(_, lo, hi int) {
			markRows(out.Present[lo:hi], a.Ptr[lo:hi+1])
		})
	}
	return out, err
}

// usedRows returns the number of rows that have entries.
func usedRows(ptr []int64) (n int64) {
	for i, first := range ptr[:len(ptr)-1] {
		n += int64(b2u(first < ptr[i+1]))
	}
	return n
}

// firstPresent returns the first index into ci with a column that is present, or −1.
func firstPresent(ci []int32, present []uint8) int {
	for p, j := range ci {
		if present[j] != 0 {
			return p
		}
	}
	return -1
}

// window returns v[lo:hi], or nil if v is nil.
func window[T any](v []T, lo, hi int64) []T {
	if v == nil {
		return nil
	}
	return v[lo:hi]
}

// dense returns the values of a 1×n vector by position and its presence bytes. x is none for a
// pattern.
func dense(u *sparse.Store, threads int) (x Values, present []uint8) {
	switch u.Format {
	case sparse.Bitmap:
		return u.Val, u.Present
	case sparse.Full:
		present = fresh.Make[uint8](int64(u.NCols))
		_ = parallel.Range(nil, threads, len(present), positionGrain, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				present[i] = 1
			}
		})
		return u.Val, present
	}
	present = make([]uint8, u.NCols)
	if !u.Val.None() {
		x = u.Type.Zeroed(int64(u.NCols))
	}
	u.Scatter(present, x, threads)
	return x, present
}
