package cpu

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Filter keeps the entries of t that mask allows.
func Filter[T any](env Env, t *sparse.Store[T], mask *Mask) (*sparse.Store[T], error) {
	if mask == nil || mask.Comp && mask.S.NVals == 0 {
		return t, nil
	}
	if mask.S.Format == sparse.Full {
		if mask.Comp {
			return sparse.Empty[T](t.NRows, t.NCols), nil
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
	}, nil)
}

func b2u(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// filterListed intersects t with a listed mask, or removes the positions of a complemented one.
func filterListed[T any](env Env, t *sparse.Store[T], mask *Mask) (*sparse.Store[T], error) {
	first := &Binary[T, struct{}, T]{ZipAt: func(c []T, pc []int32, a []T, pa []int32, _ []struct{}, _ []int32) {
		pa = pa[:len(pc)]
		for p, q := range pc {
			c[q] = a[pa[p]]
		}
	}}
	if !mask.Comp {
		if sameList(&t.Structure, mask.S) {
			return t, nil
		}
		if smallRow(&t.Structure) && smallRow(mask.S) {
			return intersectRow(first, t, &sparse.Store[struct{}]{Structure: *mask.S}), nil
		}
		return intersectListed(env, first, t, &sparse.Store[struct{}]{Structure: *mask.S})
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
	}, nil)
}

// oneRow reports whether s is a single listed row.
func oneRow(s *sparse.Structure) bool { return s.NRows == 1 && s.Format == sparse.CSR }

// removeFew returns the entries of a listed row at the positions that are not in list, which is
// much shorter: it copies the runs between them. 100 of 18346 entries take 25 µs, by a merge 117.
func removeFew[T any](s *sparse.Store[T], list []int32) *sparse.Store[T] {
	gone, from := make([]int, 0, len(list)+1), 0
	for _, j := range list {
		if from += seek(s.Idx[from:], j); from == len(s.Idx) {
			break
		}
		if s.Idx[from] == j {
			gone = append(gone, from)
		}
	}
	n := len(s.Idx) - len(gone)
	gone = append(gone, len(s.Idx))
	ci, cv := fresh.Make[int32](int64(n)), []T(nil)
	if s.Val != nil {
		cv = fresh.Make[T](int64(n))
	} else {
		cv = make([]T, n)
	}
	to := 0
	from = 0
	for _, at := range gone {
		copy(ci[to:], s.Idx[from:at])
		if s.Val != nil {
			copy(cv[to:], s.Val[from:at])
		}
		to, from = to+at-from, at+1
	}
	return newRow(s.NCols, ci, cv)
}

// sameList reports whether two 1×n lists share their indices, such as a vector and its own mask.
func sameList(s, t *sparse.Structure) bool {
	return s.NRows == 1 && t.NRows == 1 && s.Format == t.Format && len(s.Idx) == len(t.Idx) &&
		len(s.Idx) > 0 && &s.Idx[0] == &t.Idx[0]
}

func filterDense[T any](env Env, t *sparse.Store[T], mask *Mask) (*sparse.Store[T], error) {
	cells, _ := t.Cells()
	out := &sparse.Store[T]{Structure: sparse.Structure{NRows: t.NRows, NCols: t.NCols, Format: sparse.Bitmap}, Val: t.Val}
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
func Lookup[T any](t *sparse.Store[T], at *sparse.Structure) *sparse.Store[T] {
	out := &sparse.Store[T]{Structure: sparse.Structure{NRows: t.NRows, NCols: t.NCols, Format: at.Format, RowIDs: at.RowIDs}}
	out.Ptr = make([]int64, len(at.Ptr))
	out.Idx, out.Val = make([]int32, 0, len(at.Idx)), make([]T, 0, len(at.Idx))
	for k := range at.Vecs() {
		base := at.RowID(k) * t.NCols
		for _, j := range at.Idx[at.Ptr[k]:at.Ptr[k+1]] {
			if p := base + int(j); t.Present == nil || t.Present[p] != 0 {
				out.Idx, out.Val = append(out.Idx, j), append(out.Val, t.Val[p])
			}
		}
		out.Ptr[k+1] = int64(len(out.Idx))
	}
	out.NVals = int64(len(out.Idx))
	if out.Format == sparse.Hypersparse {
		dropEmptyRows(out)
	}
	return sparse.Settle(out)
}

// Overlap specifies how a destination is updated with a result.
type Overlap[C any] struct {
	Accum   *Binary[C, C, C] // nil: the result overwrites
	Mask    *Mask
	Replace bool
	// Filtered is set if all entries of the result are within the mask.
	Filtered bool
	// InPlace allows writes to c.
	InPlace bool
	// Adapt allows conversion of a listed c to a bitmap for a small update.
	Adapt bool
}

// updateRatio is the minimum ratio of the entries of the destination to those of an update for
// which the destination may change format.
const updateRatio = 4

// Write computes the new value of the destination c for the result t:
//
//	c⟨M⟩ = t,  c⟨M⟩ ⊕= t,  each with or without replace
//
// The caller must own t: Write may return t or share its storage.
func Write[C any](env Env, c, t *sparse.Store[C], o Overlap[C]) (*sparse.Store[C], error) {
	if o.Mask == nil && o.Accum == nil {
		return t, nil
	}
	var err error
	if o.Adapt && (o.Accum != nil || !o.Replace) && t.NVals <= c.NVals/updateRatio && sparse.BitmapPays(&c.Structure) && denseRoom[C](&c.Structure) == nil {
		c = sparse.ToBitmap(c)
	}
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
		if o.InPlace && c.Format == sparse.Full && !t.Sparse() && env.inPlace(o.Accum.User, len(c.Val)) {
			// Without the context: a cancelled operation must not leave c partially written.
			if t.Format == sparse.Bitmap {
				accumulateBitmap(env.Threads, c, t, o.Accum)
				return c, nil
			}
			return c, zipDense(Env{Threads: env.Threads}, o.Accum, c.Val, c.Val, t.Val)
		}
		out, err := Union(env, UnionOps[C, C, C]{Both: o.Accum, Left: copyValues[C], Right: copyValues[C], Copies: true}, c, t)
		if err == nil {
			err = env.stopped(o.Accum.User)
		}
		return out, err
	}
	// No accumulator, no replace: the result is c outside the mask and t inside.
	if c.NVals == 0 && c.Sparse() {
		return t, nil
	}
	if o.InPlace && !o.Mask.Comp && !o.Mask.S.Sparse() && !c.Sparse() && !t.Sparse() {
		if c.Format == sparse.Full && t.Format != sparse.Full {
			c = sparse.ToBitmap(c)
		}
		mergeInto(c, t, o.Mask.S, env.Threads)
		return c, nil
	}
	if o.InPlace && !c.Sparse() && t.Sparse() && o.Mask.S.Sparse() && !o.Mask.Comp {
		if c.Format == sparse.Full {
			if t.NVals != o.Mask.S.NVals {
				c = sparse.ToBitmap(c)
			} else {
				putInto(c, t)
				return c, nil
			}
		}
		replaceInto(c, t, o.Mask.S)
		return c, nil
	}
	if c, err = Filter(env, c, &Mask{S: o.Mask.S, Comp: !o.Mask.Comp}); err != nil {
		return nil, err
	}
	return Union(env, UnionOps[C, C, C]{Both: secondOf[C](), Left: copyValues[C], Right: copyValues[C], Copies: true}, c, t)
}

func copyValues[C any](c, v []C) { copy(c, v) }

func secondOf[C any]() *Binary[C, C, C] {
	return &Binary[C, C, C]{
		Fn:  func(_, y C) C { return y },
		Zip: func(c, _, b []C) { copy(c, b) },
		ZipAt: func(c []C, pc []int32, _ []C, _ []int32, b []C, pb []int32) {
			pb = pb[:len(pc)]
			for p, q := range pc {
				c[q] = b[pb[p]]
			}
		},
	}
}

// AccumulateInto does c ⊕= t for a dense c and a listed t, in place: O(entries of t). An error, or a
// panic of a user's operator, leaves c unchanged.
func AccumulateInto[C any](env Env, c, t *sparse.Store[C], f *Binary[C, C, C]) error {
	if !env.inPlace(f.User, len(t.Idx)) {
		sums, err := accumulated(env, c, t, f)
		if err != nil {
			return err
		}
		t, f = &sparse.Store[C]{Structure: t.Structure, Val: sums}, secondOf[C]()
	}
	if smallRow(&t.Structure) {
		c.NVals += accumulateAt(c.Val, c.Present, t.Idx, t.Val, f)
		return nil
	}
	accumulateLarge(env, c, t, f)
	return nil
}

func accumulateLarge[C any](env Env, c, t *sparse.Store[C], f *Binary[C, C, C]) {
	var added atomic.Int64
	for k := range t.Vecs() {
		base := int64(t.RowID(k)) * int64(t.NCols)
		row, present := c.Val[base:base+int64(t.NCols)], window(c.Present, base, base+int64(t.NCols))
		lo, hi := t.Ptr[k], t.Ptr[k+1]
		ci, val := t.Idx[lo:hi], t.Val[lo:hi]
		_ = parallel.Range(nil, env.Threads, len(ci), 1<<13, func(_, lo, hi int) {
			added.Add(accumulateAt(row, present, ci[lo:hi], val[lo:hi], f))
		})
	}
	c.NVals += added.Load()
}

// accumulateBitmap does c ⊕= t for a full c and a bitmap t, in place.
func accumulateBitmap[C any](threads int, c, t *sparse.Store[C], f *Binary[C, C, C]) {
	_ = parallel.Range(nil, threads, len(t.Present), denseChunk, func(_, lo, hi int) {
		m := getScratch()
		defer m.release()
		at := m.listPresent(t.Present[lo:hi])
		f.ZipAt(c.Val[lo:hi], at, c.Val[lo:hi], at, t.Val[lo:hi], at)
	})
}

// accumulateAt does c[ci[p]] ⊕= v[p] and returns the number of new entries. With a nil present,
// every position has an entry.
func accumulateAt[C any](c []C, present []uint8, ci []int32, v []C, f *Binary[C, C, C]) int64 {
	const piece = denseChunk
	if present == nil {
		for ; len(ci) > 0; ci, v = ci[min(piece, len(ci)):], v[min(piece, len(v)):] {
			n := min(piece, len(ci))
			f.ZipAt(c, ci[:n], c, ci[:n], v, consecutive[:n])
		}
		return 0
	}
	added := 0
	m := getScratch()
	defer m.release()
	both, from := &m.at[0], &m.at[1]
	for ; len(ci) > 0; ci, v = ci[min(piece, len(ci)):], v[min(piece, len(v)):] {
		n := 0
		for p, j := range ci[:min(piece, len(ci))] {
			if present[j] == 0 {
				c[j], present[j] = v[p], 1
				added++
				continue
			}
			both[n], from[n] = j, int32(p)
			n++
		}
		f.ZipAt(c, both[:n], c, both[:n], v, from[:n])
	}
	return int64(added)
}

// Restrict deletes the entries of c that mask excludes, in place if possible: O(entries of the
// mask) for a bitmap and a complemented listed mask.
func Restrict[C any](env Env, c *sparse.Store[C], mask *Mask) (*sparse.Store[C], error) {
	if c.Sparse() || !mask.S.Sparse() || !mask.Comp {
		return Filter(env, c, mask)
	}
	if mask.S.NVals == 0 {
		return c, nil
	}
	if c.Format == sparse.Full {
		c = sparse.ToBitmap(c)
	}
	var zero C
	for k := range mask.S.Vecs() {
		base := mask.S.RowID(k) * mask.S.NCols
		for _, j := range mask.S.Idx[mask.S.Ptr[k]:mask.S.Ptr[k+1]] {
			at := base + int(j)
			c.NVals -= int64(c.Present[at])
			c.Present[at], c.Val[at] = 0, zero
		}
	}
	return c, nil
}

// replaceInto does c⟨m⟩ = t for a bitmap c and t within m: O(entries of m).
func replaceInto[C any](c, t *sparse.Store[C], m *sparse.Structure) {
	for k := range m.Vecs() {
		base := m.RowID(k) * m.NCols
		for _, j := range m.Idx[m.Ptr[k]:m.Ptr[k+1]] {
			at := base + int(j)
			c.NVals -= int64(c.Present[at])
			c.Present[at] = 0
		}
	}
	for k := range t.Vecs() {
		base := t.RowID(k) * t.NCols
		for p := t.Ptr[k]; p < t.Ptr[k+1]; p++ {
			at := base + int(t.Idx[p])
			c.Present[at], c.Val[at] = 1, t.Val[p]
			c.NVals++
		}
	}
}

// putInto overwrites a full c with t at the entries of t.
func putInto[C any](c, t *sparse.Store[C]) {
	for k := range t.Vecs() {
		row := c.Val[t.RowID(k)*t.NCols:]
		lo, hi := t.Ptr[k], t.Ptr[k+1]
		v := t.Val[lo:hi]
		for p, j := range t.Idx[lo:hi] {
			row[j] = v[p]
		}
	}
}

// mergeInto does c⟨m⟩ = t for dense c, t and m. c must be a bitmap unless t is full.
func mergeInto[C any](c, t *sparse.Store[C], m *sparse.Structure, threads int) {
	c.NVals += byPositions(len(c.Val), threads, func(lo, hi int) int64 { return mergeRange(c, t, m, lo, hi) })
}

// byPositions runs fn on the pieces of [0, n) and returns the sum.
func byPositions(n, threads int, fn func(lo, hi int) int64) int64 {
	if n <= positionGrain {
		return fn(0, n)
	}
	var sum atomic.Int64
	_ = parallel.Range(nil, threads, n, positionGrain, func(_, lo, hi int) { sum.Add(fn(lo, hi)) })
	return sum.Load()
}

// mergeRange is mergeInto for the positions from ≤ p < end. It returns the number of entries that
// it adds.
func mergeRange[C any](c, t *sparse.Store[C], m *sparse.Structure, from, end int) (added int64) {
	for lo := from; lo < end; lo += maskStep {
		hi := min(lo+maskStep, end)
		if m.Present != nil && !anyByte(m.Present[lo:hi]) {
			continue
		}
		for p := lo; p < hi; p++ {
			if m.Present != nil && m.Present[p] == 0 {
				continue
			}
			has := t.Present == nil || t.Present[p] != 0
			if has {
				c.Val[p] = t.Val[p]
			}
			if c.Present != nil {
				added += int64(b2u(has)) - int64(c.Present[p])
				c.Present[p] = b2u(has)
			}
		}
	}
	return added
}

// FillMasked does c⟨m⟩ = x for a dense c, in place: O(entries of m), or a scan of its bytes.
func FillMasked[C any](c *sparse.Store[C], m *sparse.Structure, x C, threads int) {
	if smallRow(m) {
		c.NVals += fill(c.Val, c.Present, m.Idx, x)
		return
	}
	if m.Sparse() {
		fillLarge(c, m, x, threads)
		return
	}
	c.NVals += byPositions(len(c.Val), threads, func(lo, hi int) int64 { return fillRange(c, m, x, lo, hi) })
}

func fillRange[C any](c *sparse.Store[C], m *sparse.Structure, x C, from, end int) (added int64) {
	for lo := from; lo < end; lo += maskStep {
		hi := min(lo+maskStep, end)
		if m.Present != nil && !anyByte(m.Present[lo:hi]) {
			continue
		}
		for p := lo; p < hi; p++ {
			if m.Present != nil && m.Present[p] == 0 {
				continue
			}
			c.Val[p] = x
			if c.Present != nil {
				added += int64(1 - c.Present[p])
				c.Present[p] = 1
			}
		}
	}
	return added
}

func fillLarge[C any](c *sparse.Store[C], m *sparse.Structure, x C, threads int) {
	var added atomic.Int64
	for k := range m.Vecs() {
		base := int64(m.RowID(k) * m.NCols)
		val, present := c.Val[base:base+int64(m.NCols)], window(c.Present, base, base+int64(m.NCols))
		ci := m.Idx[m.Ptr[k]:m.Ptr[k+1]]
		_ = parallel.Range(nil, threads, len(ci), 1<<14, func(_, lo, hi int) {
			added.Add(fill(val, present, ci[lo:hi], x))
		})
	}
	c.NVals += added.Load()
}

// fill writes x to the listed positions and returns the number of new entries. With a nil present,
// every position has an entry.
func fill[C any](val []C, present []uint8, ci []int32, x C) int64 {
	for _, j := range ci {
		val[j] = x
	}
	if present == nil {
		return 0
	}
	existing := int64(0)
	for _, j := range ci {
		existing += int64(present[j])
		present[j] = 1
	}
	return int64(len(ci)) - existing
}

// maskStep is the number of presence bytes that are skipped at a time if all are 0.
const maskStep = 8

func anyByte(b []uint8) bool {
	if len(b) == maskStep {
		return binary.LittleEndian.Uint64(b) != 0
	}
	for _, x := range b {
		if x != 0 {
			return true
		}
	}
	return false
}
