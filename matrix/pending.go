package matrix

import (
	"cmp"
	"slices"

	"github.com/hiveblas/hiveblas/internal/sparse"
)

// A listed matrix collects the entries that Set adds and Delete removes, and merges them when its
// storage is read as a whole: a copy of the storage for each entry would take O(entries). At,
// Value, Row, NVals and Dims read the changes and merge nothing, as do Set and Delete themselves.

// changes are the positions of the changed entries of a listed matrix, whose storage is the base. A
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
	slots = slices.DeleteFunc(slots, func(s int32) bool { return c.state[s] == unchanged })
	slices.SortFunc(slots, func(s, t int32) int { return cmp.Compare(c.key[s], c.key[t]) })
	out := make([]edit, len(slots))
	for e, s := range slots {
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

// pendingOf are the changes of a Matrix[T] since they were last merged. base does not change
// meanwhile but for values of its entries.
type pendingOf[T comparable] struct {
	changes
	base *sparse.Store[T]
	vals []T // by slot
}

// value is At.
func (p *pendingOf[T]) value(i, j int) (v T, ok bool) {
	if s := p.slot(i, j); s >= 0 {
		if p.state[s] == added {
			return p.vals[s], true
		}
		return v, false
	}
	if at, ok := p.base.Has(i, j); ok {
		return p.base.Val[at], true
	}
	return v, false
}

// row returns the entries of row i: O(entries of the row), and a sort of its changes.
func (p *pendingOf[T]) row(i int) Row[T] {
	lo, hi := p.base.Span(i)
	slots := p.byRow[int32(i)]
	if len(slots) == 0 {
		return Row[T]{p.base.Idx[lo:hi], p.base.Val[lo:hi]}
	}
	edits := p.edits(slices.Clone(slots), &p.base.Structure)
	if lo == hi && len(edits) > 0 { // where the row would be
		lo, hi = edits[0].at, edits[0].at
	}
	return Row[T]{splice(p.base.Idx, lo, hi, edits, p.col), splice(p.base.Val, lo, hi, edits, p.vals)}
}

// change makes (i, j) an entry of value v, or no entry. The storage is listed, and current unless
// there are changes already.
func (a *core[T]) change(i, j int, v T, remove bool) {
	p := a.pending.Load()
	if p == nil {
		p = &pendingOf[T]{changes: newChanges(&a.st.Structure), base: a.st}
		dropRemote(&a.base)
		a.forget()
		a.pending.Store(p)
	}
	slot, at := int32(-1), int64(-1)
	if remove {
		p.remove(i, j, &p.base.Structure)
	} else {
		slot, at = p.put(i, j, &p.base.Structure)
	}
	for len(p.vals) < len(p.key) {
		p.vals = append(p.vals, *new(T))
	}
	switch {
	case slot >= 0:
		p.vals[slot] = v
	case at >= 0:
		p.base.Val[at] = v
	}
	if p.due(&p.base.Structure) {
		a.mu.Lock()
		a.settle()
		a.mu.Unlock()
	}
}

// settle merges the changes into the storage. The caller holds mu.
func (a *core[T]) settle() {
	p := a.pending.Load()
	if p == nil {
		return
	}
	shape, edits := p.merged(&p.base.Structure)
	st := &sparse.Store[T]{Structure: *shape, Val: splice(p.base.Val, 0, int64(len(p.base.Idx)), edits, p.vals)}
	switch {
	case a.pinned:
		st = sparse.Convert(st, a.pin)
	case sparse.BitmapPays(shape):
		st = sparse.ToBitmap(st)
	default:
		st = sparse.Settle(st)
	}
	a.st = st
	a.pending.Store(nil)
}
