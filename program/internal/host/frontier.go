package host

import "slices"

// frontier is the set of active vertices: all, a list or marks.
type frontier struct {
	all   bool
	list  []int32 // ascending, unless the sum is exact
	marks []uint8 // 1 for each active vertex; used if it is not nil
	count int64
	edges int64 // out-edges of the active vertices
}

func (f *frontier) sort() {
	if !slices.IsSorted(f.list) {
		slices.Sort(f.list)
	}
}

// listed returns the active vertices as a list.
func (f *frontier) listed(n int) []int32 {
	switch {
	case f.all:
		f.list = make([]int32, n)
		for v := range f.list {
			f.list[v] = int32(v)
		}
	case f.marks != nil && f.list == nil:
		f.list = appendMarked(make([]int32, 0, f.count), f.marks, 0, n)
	}
	return f.list
}

// appendMarked appends the marked positions among lo … hi−1.
func appendMarked(list []int32, marks []uint8, lo, hi int) []int32 {
	for v := lo; v < hi; {
		if v+8 <= hi {
			m := (*[8]uint8)(marks[v:])
			if m[0]|m[1]|m[2]|m[3]|m[4]|m[5]|m[6]|m[7] == 0 {
				v += 8
				continue
			}
		}
		for end := min(v+8, hi); v < end; v++ {
			if marks[v] != 0 {
				list = append(list, int32(v))
			}
		}
	}
	return list
}

// marked returns the marks of the active vertices, or nil if all are active.
func (f *frontier) marked(n int) []uint8 {
	if f.all || f.count == int64(n) {
		return nil
	}
	if f.marks == nil {
		f.marks = make([]uint8, n)
		for _, v := range f.list {
			f.marks[v] = 1
		}
	}
	return f.marks
}

// Active returns the number of active vertices, and of their out-edges.
func (e *Engine) Active() (count, edges int64) { return e.front.count, e.front.edges }

// Waiting returns the number of active vertices that a priority delays.
func (e *Engine) Waiting() int64 { return e.delayed.count }

// ActiveIn returns the active vertices among lo … hi−1, in ascending order.
func (e *Engine) ActiveIn(lo, hi int) (list []int32) {
	f := &e.front
	switch {
	case f.all:
		list = make([]int32, hi-lo)
		for k := range list {
			list[k] = int32(lo + k)
		}
	case f.marks != nil && f.list == nil:
		list = appendMarked(nil, f.marks, lo, hi)
	default:
		for _, v := range f.list {
			if int(v) >= lo && int(v) < hi {
				list = append(list, v)
			}
		}
	}
	if !slices.IsSorted(list) { // of an exact sum
		slices.Sort(list)
	}
	return list
}

// Activate makes the vertices of an ascending list the active ones.
func (e *Engine) Activate(list []int32) {
	if len(list) == e.N {
		e.ActivateAll()
		return
	}
	e.front = frontier{list: list, count: int64(len(list))}
	for _, v := range list {
		e.front.edges += int64(e.Degree(v))
	}
}

// ActivateAll makes all vertices active.
func (e *Engine) ActivateAll() {
	e.front = frontier{all: true, count: int64(e.N), edges: e.Out.NVals}
}
