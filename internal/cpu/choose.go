package cpu

import "github.com/hiveblas/hiveblas/internal/sparse"

// Select keeps the entries of s that satisfy the predicate, which gets the row plus shift and the
// column. If swap is set, s is a vector, and the predicate gets the position plus shift and the
// row. The entries of a pattern have the value True.
func Select(env Env, s *sparse.Store, f *Predicate, shift int, swap bool) (*sparse.Store, error) {
	c := newChooser(env, s, f, shift, swap)
	if f.Band && s.Sparse() {
		return selectBand(env, s, &c)
	}
	if smallRow(&s.Structure) || s.NRows == 1 && smallDense(&s.Structure) {
		return selectRow(s, &c), nil
	}
	// A listing reads a word for 8 positions.
	if f.ByValue && !s.Val.None() && s.NRows == 1 && s.NVals < int64(s.NCols)/8 {
		s = s.ToSparse()
		c.val = entries{t: s.Type, val: s.Val}
	}
	if f.ByValue && !s.Val.None() && s.Format == sparse.CSR {
		return selectByValue(env, s, c)
	}
	if s.Sparse() {
		return selectListed(env, s, c)
	}
	return selectDense(env, s, c)
}

func selectListed(env Env, s *sparse.Store, c chooser) (*sparse.Store, error) {
	return sift(env, s, func(keep []uint8, i int, ci []int32, lo, _ int64) { c.keep(keep, nil, i, ci, 0, lo) })
}

// A chooser applies a predicate to the entries of a store.
type chooser struct {
	f      *Predicate
	val    entries
	shift  int
	swap   bool
	lo, hi int64 // bounds of column − row, for a band
	done   <-chan struct{}
}

// choosePiece is the largest number of entries of a pattern that a chooser takes at a time.
const choosePiece = 1 << 14

func newChooser(env Env, s *sparse.Store, f *Predicate, shift int, swap bool) chooser {
	c := chooser{f: f, val: entries{t: s.Type, val: s.Val}, shift: shift, swap: swap, done: env.done(f.User)}
	if c.lo, c.hi = f.Lo+int64(shift), f.Hi+int64(shift); swap { // the row, 0, is the second index
		c.lo, c.hi = -c.hi, -c.lo
	}
	if s.Val.None() && f.UsesValue && !f.Band {
		n := len(s.Idx)
		if !s.Sparse() {
			n, _ = s.Cells()
		}
		c.val = entriesOf(s, min(choosePiece, n))
	}
	return c
}

// keep sets keep for entries of a row with values from lo on: at the columns ci or, if nil, from j0
// on. A user's predicate does not get the entries where present, if not nil, is 0.
func (c *chooser) keep(keep, present []uint8, row int, ci []int32, j0 int, lo int64) {
	switch {
	case c.f.Band: // of a dense store
		first, last := c.lo+int64(row-j0), c.hi+int64(row-j0)
		for p := range keep {
			keep[p] = b2u((int64(p) >= first && int64(p) <= last) != c.f.Off)
		}
	case c.f.User:
		c.guarded(keep, present, row, ci, j0, lo)
	case !c.f.UsesValue:
		c.call(keep, Values{}, row, ci, j0)
	case !c.val.val.None():
		c.call(keep, c.val.part(lo, lo+int64(len(keep))), row, ci, j0)
	default: // a pattern
		for p := 0; p < len(keep); p += choosePiece {
			end := min(p+choosePiece, len(keep))
			c.call(keep[p:end], c.val.part(0, int64(end-p)), row, columns(ci, p, end), j0+p)
		}
	}
}

// columns returns ci[lo:hi], and nil of nil.
func columns(ci []int32, lo, hi int) []int32 {
	if ci == nil {
		return nil
	}
	return ci[lo:hi]
}

// guarded is keep for a user's predicate: it tests the context every guardBlock entries.
func (c *chooser) guarded(keep, present []uint8, row int, ci []int32, j0 int, lo int64) {
	for p := 0; p < len(keep); {
		if ended(c.done) {
			clear(keep[p:]) // bytes are 0 or 1
			return
		}
		for end := min(p+guardBlock, len(keep)); p < end; {
			run := p // where a run of entries ends
			for run < end && (present == nil || present[run] != 0) {
				run++
			}
			if run > p {
				c.call(keep[p:run], c.val.part(lo+int64(p), lo+int64(run)), row, columns(ci, p, run), j0+p)
			}
			for p = run; p < end && present[p] == 0; p++ {
				keep[p] = 0 // the value of an absent entry is undefined
			}
		}
	}
}

// call calls the predicate.
func (c *chooser) call(keep []uint8, v Values, row int, ci []int32, j0 int) {
	if !c.swap {
		c.f.Keep(keep, v, row+c.shift, ci, j0, false)
		return
	}
	if ci != nil && c.shift != 0 {
		ci = shifted(ci, -c.shift)
	}
	c.f.Keep(keep, v, row, ci, j0+c.shift, true)
}

// SpMMPays reports whether rows of a full matrix of n columns are added, for all positions of the
// result, rather than a dot product taken for each entry of the mask. In units of an added element,
// .17 ns on an AMD EPYC, a term of a dot product takes 40, writing a position 6, and an element of
// the matrix by columns 10.
func SpMMPays(mask *Mask, a *sparse.Structure, n int) bool {
	if a.Format != sparse.CSR {
		return false
	}
	if mask == nil || mask.Comp || !mask.S.Sparse() {
		return true
	}
	rows, cols := int64(a.NRows), int64(n)
	dots := 40*mask.S.NVals*(a.NVals/max(rows, 1)+1) + 10*int64(a.NCols)*cols
	return dots > cols*(a.NVals+6*rows)
}
