package cpu

import (
	"sync/atomic"

	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Filter keeps the entries of t that mask allows.
func Filter(env Env, t *sparse.Store, mask *Mask) (*sparse.Store, error) {
	if mask == nil || mask.Comp && mask.S.NVals == 0 {
		return t, nil
	}
	if mask.S.Format == sparse.Full {
		if mask.Comp {
			return sparse.Empty(t.Type, t.NRows, t.NCols), nil
		}
		return t, nil
	}
	if !t.Sparse() {
		if !mask.S.Sparse() || mask.Comp {
			return filterDense(env, t, mask)
		}
		return Lookup(t, mask.S), nil
	}
	if mask.S.Sparse() {
		return filterListed(env, t, mask)
	}
	return sift(env, t, func(keep []uint8, i int, ci []int32, _, _ int64) {
		allow := mask.S.Present[i*t.NCols:]
		for p, j := range ci {
			keep[p] = allow[j] ^ b2u(mask.Comp)
		}
	})
}

func b2u(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// filterListed intersects t with a listed mask, or removes the positions of a complemented one.
func filterListed(env Env, t *sparse.Store, mask *Mask) (*sparse.Store, error) {
	if !mask.Comp {
		if sameList(&t.Structure, mask.S) {
			return t, nil
		}
		first := &Binary{ZipAt: func(c Values, pc []int32, a Values, pa []int32, _ Values, _ []int32) {
			if a.None() {
				fillAt(t.Type, c, pc, t.Type.True)
				return
			}
			t.Type.Move(c, pc, a, pa)
		}}
		if smallRow(&t.Structure) && smallRow(mask.S) {
			return intersectRow(first, t.Type, t, mask.S.Pattern()), nil
		}
		return intersectListed(env, first, t.Type, t, mask.S.Pattern())
	}
	// The complement: keep the entries of each row that are not in the mask.
	if oneRow(&t.Structure) && oneRow(mask.S) && gallop*len(mask.S.Idx) <= len(t.Idx) {
		return removeFew(t, mask.S.Idx), nil
	}
	if smallRow(&t.Structure) && smallRow(mask.S) && len(mask.S.Idx) <= gallop*len(t.Idx) &&
		marksPay(t.NCols, len(t.Idx)+len(mask.S.Idx)) {
		return removeRow(t, mask.S.Idx), nil
	}
	return sift(env, t, func(keep []uint8, i int, ci []int32, _, _ int64) {
		mi := mask.row(i)
		if len(mi) > gallop*len(ci) {
			for p, j := range ci {
				at := search(mi, int(j))
				keep[p] = b2u(at == len(mi) || mi[at] != j)
				mi = mi[at:]
			}
			return
		}
		q := 0
		for p, j := range ci {
			for q < len(mi) && mi[q] < j {
				q++
			}
			keep[p] = b2u(q == len(mi) || mi[q] != j)
		}
	})
}

// oneRow reports whether s is a single listed row.
func oneRow(s *sparse.Structure) bool { return s.NRows == 1 && s.Format == sparse.CSR }

// removeFew returns the entries of a listed row at the positions that are not in list, which is
// much shorter: it copies the runs between them, which is faster than a merge.
func removeFew(s *sparse.Store, list []int32) *sparse.Store {
	gone, from := make([]int, 0, len(list)+1), 0
	for _, j := range list {
		if from += seek(s.Idx[from:], j); from == len(s.Idx) {
			break
		}
		if s.Idx[from] == j {
			gone = append(gone, from)
		}
	}
	n := int64(len(s.Idx) - len(gone))
	gone = append(gone, len(s.Idx))
	t := s.Type
	ci, cv := fresh.Make[int32](n), t.Make(n)
	to, put := 0, Copying(t)
	from = 0
	for _, at := range gone {
		if at > from {
			k := copy(ci[to:], s.Idx[from:at])
			put(t.Slice(cv, int64(to), int64(to+k)), s.Part(int64(from), int64(at)))
			to += k
		}
		from = at + 1
	}
	return newRow(t, s.NCols, ci, cv)
}

// sameList reports whether two 1×n lists share their indices, such as a vector and its own mask.
func sameList(s, t *sparse.Structure) bool {
	return s.NRows == 1 && t.NRows == 1 && s.Format == t.Format && len(s.Idx) == len(t.Idx) &&
		len(s.Idx) > 0 && &s.Idx[0] == &t.Idx[0]
}

func filterDense(env Env, t *sparse.Store, mask *Mask) (*sparse.Store, error) {
	cells, _ := t.Cells()
	out := &sparse.Store{Structure: sparse.Structure{NRows: t.NRows, NCols: t.NCols, Format: sparse.Bitmap}, Val: t.Val, Type: t.Type}
	out.Present = fresh.Make[uint8](int64(cells))
	allow := mask.S.Present
	if allow == nil {
		allow = make([]uint8, cells)
		mask.S.Mark(allow, env.Threads)
	}
	flip := b2u(mask.Comp)
	var entries atomic.Int64
	err := parallel.Range(env.Ctx, env.Threads, cells, positionGrain, func(_, lo, hi int) {
		var count int64
		for p := lo; p < hi; p++ {
			b := allow[p] ^ flip
			if t.Present != nil {
				b &= t.Present[p]
			}
			out.Present[p] = b
			count += int64(b)
		}
		entries.Add(count)
	})
	out.NVals = entries.Load()
	return out, err
}

// Lookup lists the entries of the dense t at the positions of at: O(positions of at).
func Lookup(t *sparse.Store, at *sparse.Structure) *sparse.Store {
	out := &sparse.Store{Structure: sparse.Structure{NRows: t.NRows, NCols: t.NCols, Format: at.Format, RowIDs: at.RowIDs}, Type: t.Type}
	out.Ptr = make([]int64, len(at.Ptr))
	out.Idx, out.Val = make([]int32, 0, len(at.Idx)), t.Type.Make(int64(len(at.Idx)))
	for k := range at.Vecs() {
		base, from := at.RowID(k)*t.NCols, len(out.Idx)
		if list := at.Idx[at.Ptr[k]:at.Ptr[k+1]]; t.Present == nil {
			out.Idx = append(out.Idx, list...)
		} else {
			for _, j := range list {
				if t.Present[base+int(j)] != 0 {
					out.Idx = append(out.Idx, j)
				}
			}
		}
		if end := len(out.Idx); end > from {
			gather(t.Type, out.Part(int64(from), int64(end)), t.Part(int64(base), int64(base+t.NCols)), out.Idx[from:])
		}
		out.Ptr[k+1] = int64(len(out.Idx))
	}
	out.NVals = int64(len(out.Idx))
	out.Val = out.Part(0, out.NVals)
	if out.Format == sparse.Hypersparse {
		dropEmptyRows(out)
	}
	return out.Settle()
}

// Overlap specifies how a destination is updated with a result.
type Overlap struct {
	Accum   *Binary // nil: the result overwrites
	Mask    *Mask
	Replace bool
	// Filtered is set if all entries of the result are within the mask.
	Filtered bool
	// InPlace allows writes to c.
	InPlace bool
	// Adapt allows conversion of a listed c to a bitmap for a small update.
	Adapt bool
}

// updateRatio is the minimum ratio of the entries of the destination to the entries of an update
// for which the destination may change format.
const updateRatio = 4

// Write computes the new value of the destination c for the result t:
//
//	c⟨M⟩ = t,  c⟨M⟩ ⊕= t,  each with or without replace
//
// The caller must own t: Write may return t or share its storage.
func Write(env Env, c, t *sparse.Store, o Overlap) (*sparse.Store, error) {
	if o.Mask == nil && o.Accum == nil {
		return t, nil
	}
	var err error
	if o.Adapt && (o.Accum != nil || !o.Replace) && t.NVals <= c.NVals/updateRatio && c.UpdatePays() && denseRoom(c.Type, &c.Structure) == nil {
		c = c.ToBitmap()
	}
	old := c
	if !o.Filtered {
		if t, err = Filter(env, t, o.Mask); err != nil {
			return nil, err
		}
	}
	if o.Mask != nil && o.Replace {
		if o.Accum == nil {
			return t, nil
		}
		if c, err = Filter(env, c, o.Mask); err != nil {
			return nil, err
		}
		o.InPlace = false
	}
	if o.Accum != nil {
		if c.NVals == 0 && c.Sparse() {
			return t, nil
		}
		if o.InPlace && !c.Sparse() && t.Sparse() {
			return c, AccumulateInto(env, c, t, o.Accum)
		}
		if o.InPlace && c.Format == sparse.Full && !t.Sparse() && env.InPlace(o.Accum.User, c.Val.Len()) {
			// Without the context: a cancelled operation must not leave c partially written.
			if t.Format == sparse.Bitmap {
				accumulateBitmap(env.Threads, c, t, o.Accum)
				return c, nil
			}
			return c, zipDense(Env{Threads: env.Threads}, o.Accum, c, c, t)
		}
		out, err := overlaid(env, o.Accum, c, t)
		if err == nil {
			err = env.stopped(o.Accum.User)
		}
		return countMoved(out, old, t.NVals), err
	}
	// No accumulator, no replace: the result is c outside the mask and t inside.
	if c.NVals == 0 && c.Sparse() {
		return t, nil
	}
	if o.InPlace && !o.Mask.Comp && !o.Mask.S.Sparse() && !c.Sparse() && !t.Sparse() {
		if c.Format == sparse.Full && t.Format != sparse.Full {
			c = c.ToBitmap()
		}
		mergeInto(c, t, o.Mask.S, env.Threads)
		return c, nil
	}
	if o.InPlace && !c.Sparse() && t.Sparse() && o.Mask.S.Sparse() && !o.Mask.Comp {
		if c.Format == sparse.Full {
			if t.NVals != o.Mask.S.NVals {
				c = c.ToBitmap()
			} else {
				putInto(c, t)
				return c, nil
			}
		}
		replaceInto(c, t, o.Mask.S)
		return c, nil
	}
	// A t with an entry at each position of the mask overwrites what the mask deletes.
	if !c.Sparse() || o.Mask.Comp || t.NVals < o.Mask.S.NVals {
		if c, err = Filter(env, c, &Mask{S: o.Mask.S, Comp: !o.Mask.Comp}); err != nil {
			return nil, err
		}
	}
	out, err := overlaid(env, SecondOf(c.Type), c, t)
	return countMoved(out, old, t.NVals), err
}

// countMoved notes in the list out that an update of so many entries copied the list c, if that is
// small.
func countMoved(out, c *sparse.Store, update int64) *sparse.Store {
	if out != nil && out.Sparse() && c.Sparse() && update <= c.NVals/updateRatio {
		out.Moved = c.Moved + c.NVals
	}
	return out
}

// overlaid returns the union of c and t, with f where both have an entry.
func overlaid(env Env, f *Binary, c, t *sparse.Store) (*sparse.Store, error) {
	put := Copying(c.Type)
	return Union(env, UnionOps{Both: f, Left: put, Right: put, Copies: true}, c.Type, c, t)
}

// SecondOf returns the operator that returns its second argument.
func SecondOf(t *sparse.Type) *Binary {
	return &Binary{
		Zip:   func(c, _, b Values) { t.Copy(c, b) },
		ZipAt: func(c Values, pc []int32, _ Values, _ []int32, b Values, pb []int32) { t.Move(c, pc, b, pb) },
		UsesY: true,
	}
}

// AccumulateInto does c ⊕= t for a dense c and a listed t, in place: O(entries of t). An error, or
// a panic of a user's operator, leaves c unchanged.
func AccumulateInto(env Env, c, t *sparse.Store, f *Binary) error {
	if !env.InPlace(f.User, len(t.Idx)) {
		sums, err := accumulated(env, c, t, f)
		if err != nil {
			return err
		}
		t, f = t.Holding(sums), SecondOf(c.Type)
	}
	if smallRow(&t.Structure) {
		c.NVals += accumulateAt(c.Type, c.Val, c.Present, t.Idx, t.Val, f)
		return nil
	}
	accumulateLarge(env, c, t, f)
	return nil
}

func accumulateLarge(env Env, c, t *sparse.Store, f *Binary) {
	var added atomic.Int64
	for k := range t.Vecs() {
		base := t.RowID(k) * t.NCols
		row, present := c.Part(int64(base), int64(base+t.NCols)), presence(c.Present, base, base+t.NCols)
		ci, val := t.Idx[t.Ptr[k]:t.Ptr[k+1]], t.Part(t.Ptr[k], t.Ptr[k+1])
		_ = parallel.Range(nil, env.Threads, len(ci), 1<<13, func(_, lo, hi int) {
			added.Add(accumulateAt(c.Type, row, present, ci[lo:hi], t.Type.Slice(val, int64(lo), int64(hi)), f))
		})
	}
	c.NVals += added.Load()
}

// accumulateBitmap does c ⊕= t for a full c and a bitmap t, in place.
func accumulateBitmap(threads int, c, t *sparse.Store, f *Binary) {
	_ = parallel.Range(nil, threads, len(t.Present), denseChunk, func(_, lo, hi int) {
		m := getScratch()
		defer m.release()
		at := m.listPresent(t.Present[lo:hi])
		cv := c.Part(int64(lo), int64(hi))
		f.ZipAt(cv, at, cv, at, t.Part(int64(lo), int64(hi)), at)
	})
}

// accumulateAt does c[ci[p]] ⊕= v[p], values of t, and returns the number of new entries. With a
// nil present, every position has an entry. No position occurs twice.
func accumulateAt(t *sparse.Type, c Values, present []uint8, ci []int32, v Values, f *Binary) (added int64) {
	const piece = denseChunk
	m := getScratch()
	defer m.release()
	for lo := 0; lo < len(ci); lo += piece {
		hi := min(lo+piece, len(ci))
		at, part := ci[lo:hi], t.Slice(v, int64(lo), int64(hi))
		if present == nil {
			f.ZipAt(c, at, c, at, part, consecutive[:hi-lo])
			continue
		}
		n := m.insertNew(t, c, present, at, part)
		added += int64(hi - lo - n)
		f.ZipAt(c, m.at[0][:n], c, m.at[0][:n], part, m.at[1][:n])
	}
	return added
}

// insertNew does c[ci[p]] = v[p] where present is 0, and sets it to 1. It lists the other positions
// in at[0], the places of their values in at[1], and returns their number.
func (m *scratch) insertNew(t *sparse.Type, c Values, present []uint8, ci []int32, v Values) int {
	switch t.Class {
	case sparse.Bytes1:
		return insertValues(m, sparse.SliceOf[sparse.E1](c), present, ci, sparse.SliceOf[sparse.E1](v))
	case sparse.Bytes2:
		return insertValues(m, sparse.SliceOf[sparse.E2](c), present, ci, sparse.SliceOf[sparse.E2](v))
	case sparse.Bytes4:
		return insertValues(m, sparse.SliceOf[sparse.E4](c), present, ci, sparse.SliceOf[sparse.E4](v))
	case sparse.Bytes8:
		return insertValues(m, sparse.SliceOf[sparse.E8](c), present, ci, sparse.SliceOf[sparse.E8](v))
	case sparse.Bytes16:
		return insertValues(m, sparse.SliceOf[sparse.E16](c), present, ci, sparse.SliceOf[sparse.E16](v))
	}
	n, last := 0, len(ci) // the new ones are listed from the end
	for p, j := range ci {
		q := n
		if present[j] == 0 {
			last--
			q = last
		} else {
			n++
		}
		m.at[0][q], m.at[1][q] = j, int32(p)
		present[j] = 1
	}
	t.Move(c, m.at[0][last:len(ci)], v, m.at[1][last:len(ci)])
	return n
}

func insertValues[E sparse.Sized](m *scratch, c []E, present []uint8, ci []int32, v []E) (n int) {
	both, from := &m.at[0], &m.at[1]
	for p, j := range ci {
		if present[j] == 0 {
			c[j], present[j] = v[p], 1
			continue
		}
		both[n], from[n] = j, int32(p)
		n++
	}
	return n
}

// Restrict deletes the entries of c that mask excludes, in place if possible: O(entries of the
// mask) for a bitmap and a complemented listed mask.
func Restrict(env Env, c *sparse.Store, mask *Mask) (*sparse.Store, error) {
	if c.Sparse() || !mask.S.Sparse() || !mask.Comp {
		return Filter(env, c, mask)
	}
	if mask.S.NVals == 0 {
		return c, nil
	}
	if c.Format == sparse.Full {
		c = c.ToBitmap()
	}
	for k := range mask.S.Vecs() {
		row, present := denseRow(c, mask.S.RowID(k))
		list := mask.S.Idx[mask.S.Ptr[k]:mask.S.Ptr[k+1]]
		c.NVals -= unmarkAll(present, list)
		fillAt(c.Type, row, list, c.Type.Zero)
	}
	return c, nil
}

// denseRow returns the values and the presence bytes of row i of a dense c.
func denseRow(c *sparse.Store, i int) (val Values, present []uint8) {
	lo := i * c.NCols
	return c.Part(int64(lo), int64(lo+c.NCols)), presence(c.Present, lo, lo+c.NCols)
}

// unmarkAll sets present to 0 at the positions of list and returns the number of entries before.
func unmarkAll(present []uint8, list []int32) (n int64) {
	for _, j := range list {
		n += int64(present[j])
		present[j] = 0
	}
	return n
}

// replaceInto does c⟨m⟩ = t for a bitmap c and t within m: O(entries of m).
func replaceInto(c, t *sparse.Store, m *sparse.Structure) {
	for k := range m.Vecs() {
		_, present := denseRow(c, m.RowID(k))
		c.NVals -= unmarkAll(present, m.Idx[m.Ptr[k]:m.Ptr[k+1]])
	}
	for k := range t.Vecs() {
		_, present := denseRow(c, t.RowID(k))
		for _, j := range t.Idx[t.Ptr[k]:t.Ptr[k+1]] {
			present[j] = 1
		}
	}
	c.NVals += t.NVals
	putInto(c, t)
}

// putInto overwrites the values of a dense c at the entries of t.
func putInto(c, t *sparse.Store) {
	for k := range t.Vecs() {
		row, _ := denseRow(c, t.RowID(k))
		t.Type.Move(row, t.Idx[t.Ptr[k]:t.Ptr[k+1]], t.Part(t.Ptr[k], t.Ptr[k+1]), nil)
	}
}
