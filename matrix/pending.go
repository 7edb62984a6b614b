package matrix

import (
	"slices"

	"github.com/hiveblas/hiveblas/internal/sparse"
)

// A listed matrix collects the entries that Set adds and Delete removes, and merges them when its
// storage is read as a whole: a copy of the storage for each entry would take O(entries). At,
// Value, Row, NVals and Dims read the changes and merge nothing, as do Set and Delete themselves.

// changes are the positions of the changed entries of a listed matrix. Its storage is the base. A
// change of the value of an entry of the base is made there at once and is not listed.
type changes struct {
	rows, cols int
	nvals      int64            // entries, with the changes
	at         map[uint64]int32 // the slot of a position
	byRow      map[int32][]int32
	key        []uint64 // by slot: row and column
	col        []int32  // by slot
	state      []change // by slot
}

// change is the state of a changed position.
type change uint8

const (
	unchanged change = iota // as in the base, after two changes
	added
	removed
)

func newChanges(base *sparse.Structure) changes {
	return changes{rows: base.NRows, cols: base.NCols, nvals: base.NVals,
		at: map[uint64]int32{}, byRow: map[int32][]int32{}}
}

func keyOf(i, j int) uint64 { return uint64(i)<<32 | uint64(j) }

// slot returns the slot of a position, and −1 if it is not changed.
func (c *changes) slot(i, j int) int32 {
	if s, ok := c.at[keyOf(i, j)]; ok && c.state[s] != unchanged {
		return s
	}
	return -1
}

// list gives a position a slot with a state.
func (c *changes) list(i, j int, state change) int32 {
	key := keyOf(i, j)
	s, ok := c.at[key]
	if !ok {
		s = int32(len(c.key))
		c.at[key] = s
		c.byRow[int32(i)] = append(c.byRow[int32(i)], s)
		c.key, c.col, c.state = append(c.key, key), append(c.col, int32(j)), append(c.state, state)
	}
	c.state[s] = state
	return s
}

// put makes (i, j) an entry. It returns the slot of its value, or −1 and the place in the base.
func (c *changes) put(i, j int, base *sparse.Structure) (slot int32, at int64) {
	slot = c.slot(i, j)
	if slot >= 0 && c.state[slot] == added {
		return slot, 0
	}
	at, has := base.Has(i, j)
	if !has {
		c.nvals++
		return c.list(i, j, added), 0
	}
	if slot >= 0 {
		c.state[slot] = unchanged
		c.nvals++
	}
	return -1, at
}

// remove makes (i, j) no entry.
func (c *changes) remove(i, j int, base *sparse.Structure) {
	slot := c.slot(i, j)
	if slot >= 0 {
		if c.state[slot] == added {
			c.state[slot] = unchanged
			c.nvals--
		}
		return
	}
	if _, has := base.Has(i, j); has {
		c.list(i, j, removed)
		c.nvals--
	}
}

// due reports whether there are so many changes that Set and Delete merge them, which bounds their
// memory: a matrix that grows by Set copies each entry about nine times.
func (c *changes) due(base *sparse.Structure) bool {
	return len(c.key) >= 1<<10 && int64(len(c.key)) >= base.NVals/8
}

// edit is a change as a place in the base: the entry there is removed, or the value of a slot is
// inserted before it.
type edit struct {
	at   int64
	slot int32
	gone bool
}

// edits returns the changes of the given slots in the order of positions.
func (c *changes) edits(slots []int32, base *sparse.Structure) []edit {
	order := make([]sparse.TupleAt, 0, len(slots))
	for _, s := range slots {
		if c.state[s] != unchanged {
			order = append(order, sparse.TupleAt{Key: int64(c.key[s]), At: int64(s)})
		}
	}
	sparse.SortTuples(order)
	out := make([]edit, len(order))
	for e, tuple := range order {
		s := int32(tuple.At)
		i := int(c.key[s] >> 32)
		at, _ := base.Has(i, int(c.col[s]))
		if base.Format == sparse.Hypersparse {
			if k, ok := slices.BinarySearch(base.RowIDs, int32(i)); !ok {
				at = base.Ptr[k]
			}
		}
		out[e] = edit{at, s, c.state[s] == removed}
	}
	return out
}

// splice returns old[from:to] with the edits made; fresh holds values by slot.
func splice[E any](old []E, from, to int64, edits []edit, fresh []E) []E {
	out := make([]E, 0, to-from+int64(len(edits)))
	for _, e := range edits {
		out = append(out, old[from:e.at]...)
		if from = e.at; e.gone {
			from++
		} else {
			out = append(out, fresh[e.slot])
		}
	}
	return append(out, old[from:to]...)
}

// merged returns the structure of the base with all changes, and the edits.
func (c *changes) merged(base *sparse.Structure) (*sparse.Structure, []edit) {
	all := make([]int32, len(c.key))
	for s := range all {
		all[s] = int32(s)
	}
	edits := c.edits(all, base)
	out := &sparse.Structure{NRows: base.NRows, NCols: base.NCols, Format: base.Format, NVals: c.nvals,
		Idx: splice(base.Idx, 0, int64(len(base.Idx)), edits, c.col)}
	row := func(e int) int { return int(c.key[edits[e].slot] >> 32) }
	next, shift := 0, int64(0)
	end := func(i int) int64 { // of the edits up to row i
		for ; next < len(edits) && row(next) <= i; next++ {
			if shift++; edits[next].gone {
				shift -= 2
			}
		}
		return shift
	}
	if base.Format == sparse.CSR {
		out.Ptr = make([]int64, base.NRows+1)
		for i := range base.NRows {
			out.Ptr[i+1] = base.Ptr[i+1] + end(i)
		}
		return out, edits
	}
	out.Ptr = []int64{0}
	last := int64(0) // the end in the base of the rows so far
	list := func(i int) {
		if to := last + end(i); to > out.Ptr[len(out.Ptr)-1] {
			out.RowIDs, out.Ptr = append(out.RowIDs, int32(i)), append(out.Ptr, to)
		}
	}
	for k, i := range base.RowIDs {
		for next < len(edits) && row(next) < int(i) {
			list(row(next))
		}
		last = base.Ptr[k+1]
		list(int(i))
	}
	for next < len(edits) {
		list(row(next))
	}
	return out, edits
}

// pending are the changes of a matrix since they were last merged. base does not change meanwhile
// but for values of its entries.
type pending struct {
	changes
	base *sparse.Store
	vals sparse.Values // by slot
}

// find returns the place of the value of an entry: in the values of changes if ofChange, else in
// the base.
func (p *pending) find(i, j int) (at int64, ofChange, ok bool) {
	if s := p.slot(i, j); s >= 0 {
		return int64(s), true, p.state[s] == added
	}
	at, ok = p.base.Has(i, j)
	return at, false, ok
}

// row returns the entries of row i: O(entries of the row), and a sort of its changes.
func (p *pending) row(i int) ([]int32, sparse.Values) {
	lo, hi := p.base.Span(i)
	slots := p.byRow[int32(i)]
	if len(slots) == 0 {
		return p.base.Idx[lo:hi], p.base.Part(lo, hi)
	}
	edits := p.edits(slots, &p.base.Structure)
	if lo == hi && len(edits) > 0 { // where the row would be
		lo, hi = edits[0].at, edits[0].at
	}
	return splice(p.base.Idx, lo, hi, edits, p.col), p.spliced(lo, hi, edits)
}

// spliced is splice for the values of the base.
func (p *pending) spliced(from, to int64, edits []edit) sparse.Values {
	t, n := p.base.Type, to-from
	for _, e := range edits {
		if n++; e.gone {
			n -= 2
		}
	}
	out, q := t.Make(n), int64(0)
	put := func(v sparse.Values) {
		t.Copy(t.Slice(out, q, q+int64(v.Len())), v)
		q += int64(v.Len())
	}
	for _, e := range edits {
		put(p.base.Part(from, e.at))
		if from = e.at; e.gone {
			from++
		} else {
			put(t.One(p.vals, int64(e.slot)))
		}
	}
	put(p.base.Part(from, to))
	return out
}

// changing returns the pending changes, which it begins if there are none. The storage is listed,
// and current unless there are changes already.
func (a *core) changing() *pending {
	p := a.pending.Load()
	if p == nil {
		p = &pending{changes: newChanges(&a.st.Structure), base: a.st}
		dropRemote(a)
		a.forget()
		a.pending.Store(p)
	}
	return p
}

// changed makes (i, j) an entry and returns the place of its value.
func (a *core) changed(i, j int) sparse.Values {
	p := a.changing()
	t := p.base.Type
	slot, at := p.put(i, j, &p.base.Structure)
	p.grow()
	if slot >= 0 {
		return t.One(p.vals, int64(slot))
	}
	return t.One(p.base.Val, at)
}

// grow makes room for a value of each slot.
func (p *pending) grow() {
	t := p.base.Type
	if have := p.vals.Len(); have < len(p.key) {
		p.vals = t.Grow(p.vals, len(p.key))
		t.Clear(t.Slice(p.vals, int64(have), int64(len(p.key))))
	}
}

// settle merges the changes into the storage. The caller holds mu.
func (a *core) settle() {
	p := a.pending.Load()
	if p == nil {
		return
	}
	shape, edits := p.merged(&p.base.Structure)
	st := p.base.With(shape)
	st.Val = p.spliced(0, int64(len(p.base.Idx)), edits)
	switch {
	case a.pinned:
		st = st.Convert(a.pin)
	case sparse.BitmapPays(shape):
		st = st.ToBitmap()
	default:
		st = st.Settle()
	}
	a.st = st
	a.pending.Store(nil)
}

// room makes (i, j), which is within the matrix, an entry, and returns the place of its value,
// which the caller writes.
func (a *core) room(i, j int) sparse.Values {
	a.touchHere()
	if a.changes() != nil && a.changesPend() {
		return a.changed(i, j)
	}
	st := a.st
	t := st.Type
	at, ok := st.Has(i, j)
	if !ok && !a.pinned && sparse.BitmapPays(&st.Structure) {
		st = st.ToBitmap()
		at, _ = st.Has(i, j)
	}
	switch {
	case ok:
	case st.Format == sparse.Bitmap:
		st.Present[at] = 1
		st.NVals++
	case pends(&st.Structure):
		return a.changed(i, j)
	default:
		var shape sparse.Structure
		shape, at = withEntry(st.Structure.Clone(), i, j)
		n := int64(st.Val.Len())
		next := st.With(&shape)
		next.Val = t.Make(n + 1)
		t.Copy(next.Part(0, at), st.Part(0, at))
		t.Copy(next.Part(at+1, n+1), st.Part(at, n))
		st = next.Settle()
	}
	a.SetStore(st)
	return t.One(st.Val, at)
}

// changesPend merges the pending changes if they are many, and reports whether a further change of
// the matrix is to be pending too.
func (a *core) changesPend() bool {
	if p := a.changes(); !p.due(&p.base.Structure) {
		return true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.settle()
	return a.st.Sparse()
}

// remove deletes the entry at row i, column j, which is within the matrix, if there is one.
func (a *core) remove(i, j int) {
	a.touchHere()
	if a.changes() != nil && a.changesPend() {
		p := a.changing()
		p.remove(i, j, &p.base.Structure)
		p.grow()
		return
	}
	st := a.st
	at, ok := st.Has(i, j)
	if !ok {
		return
	}
	t := st.Type
	if st.Sparse() && pends(&st.Structure) {
		p := a.changing()
		p.remove(i, j, &p.base.Structure)
		p.grow()
		return
	}
	if st.Format == sparse.Full {
		st = st.ToBitmap()
	}
	if st.Format == sparse.Bitmap {
		st.Present[at] = 0
		t.Clear(t.One(st.Val, at))
		st.NVals--
	} else {
		n := int64(st.Val.Len())
		shape := withoutEntry(st.Structure.Clone(), i, at)
		t.Copy(st.Part(at, n-1), st.Part(at+1, n))
		t.Clear(st.Part(n-1, n))
		st = &sparse.Store{Structure: shape, Val: st.Part(0, n-1), Type: t}
	}
	a.SetStore(st)
}
