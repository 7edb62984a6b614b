package auction

import (
	"slices"
)

// Shortest augmenting paths of listed costs: sparse ones, and implicit ones, in which
// the columns without an entry of a row differ in their duals only, so that the order
// of the duals gives the nearest.

// listedSearch is the state that searches share.
type listedSearch[C cost] struct {
	*paths[C]
	done    []bool  // the column is settled
	reached []bool  // it has a distance
	touched []int32 // columns reached
	settled []int32 // columns, in order of distance
	queue   []near[C]
	bound   C // the least distance of a free column, if bounded: farther ones do not matter
	bounded bool
	entryOf []int32 // of each row: where its column was last among its entries

	// Of implicit costs: the columns by descending dual, and the place of each.
	order, place []int32
	next         []int32 // union-find over places: the first not settled from here on
	jumped       []int32 // places where next is not the place itself
	cursors      []cursor[C]
	mark         []int32 // mark[j] == stamp: the current row has an entry in column j
	stamp        int32
}

// near is a column reached, or (col < 0) the next default column of the
// cursor −1−col.
type near[C cost] struct {
	d   C
	col int32
}

// cursor visits the columns without an entry of a settled row, from the greatest dual
// down.
type cursor[C cost] struct {
	row int32
	at  int32
	d   C // distance of a column of dual 0
}

// finishListed assigns a column to each free row of an instance of listed costs (Jonker and
// Volgenant's LAPJVsp, with a heap). It returns an *InfeasibleError if forbidden pairs leave no
// assignment.
func (s *paths[C]) finishListed() error {
	l := newListedSearch(s)
	if s.in.m == s.in.n && !s.in.implicit && !s.partial && !s.warm {
		s.columnMinima()
	}
	if s.in.n > 1 {
		var lowered func(int32)
		if s.in.implicit {
			lowered = l.lowered
		}
		for range 2 {
			if err := s.augmentingRowReduction(4, l.twoBest, lowered); err != nil {
				return err
			}
		}
	}
	var left []int32
	for k, i := range s.free {
		if k&15 == 0 {
			if err := s.ctx.Err(); err != nil {
				return err
			}
			s.progress(len(s.free) - k)
		}
		s.searches++
		end := l.search(i)
		switch {
		case end != none:
			s.exchange(i, end)
		case s.partial:
			left = append(left, i)
			l.forget()
			if s.hopeless(len(left)) {
				s.free = append(left, s.free[k+1:]...)
				return nil
			}
		default:
			return l.witness(i)
		}
	}
	s.free = left
	return nil
}

// columnMinima sets the dual of each column to its least cost, and gives the column to a row of
// that cost that has none yet.
func (s *paths[C]) columnMinima() {
	seen := make([]bool, s.in.n)
	for i := range s.in.m {
		for k := s.in.ptr[i]; k < s.in.ptr[i+1]; k++ {
			if j := s.in.idx[k]; !seen[j] || s.in.val[k] < s.v[j] {
				s.v[j], seen[j] = s.in.val[k], true
			}
		}
	}
	s.scanned += int64(len(s.in.idx))
	free := s.free[:0]
	for _, i := range s.free {
		for k := s.in.ptr[i]; k < s.in.ptr[i+1] && s.colOf[i] == none; k++ {
			if j := s.in.idx[k]; s.rowOf[j] == none && s.in.val[k] == s.v[j] {
				s.colOf[i], s.rowOf[j] = j, i
			}
		}
		if s.colOf[i] == none {
			free = append(free, i)
		}
	}
	s.free = free
}

func newListedSearch[C cost](s *paths[C]) *listedSearch[C] {
	n := s.in.n
	s.d, s.pred = make([]C, n), make([]int32, n)
	l := &listedSearch[C]{paths: s, done: make([]bool, n), reached: make([]bool, n), entryOf: make([]int32, s.in.m)}
	if s.in.implicit {
		l.order, l.place, l.next, l.mark = s.byDual(), make([]int32, n), make([]int32, n+1), make([]int32, n)
		for p, j := range l.order {
			l.place[j] = int32(p)
		}
		for p := range l.next {
			l.next[p] = int32(p)
		}
	}
	return l
}

func compare[C cost](a, b C) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func (l *listedSearch[C]) entries(i int32) ([]int32, []C) {
	lo, hi := l.in.ptr[i], l.in.ptr[i+1]
	return l.in.idx[lo:hi], l.in.val[lo:hi:hi]
}

// markRow marks the columns of the entries of row i.
func (l *listedSearch[C]) markRow(i int32) {
	l.stamp++
	idx, _ := l.entries(i)
	for _, j := range idx {
		l.mark[j] = l.stamp
	}
}

// lowered restores the order of duals after the dual of column j fell.
func (l *listedSearch[C]) lowered(j int32) {
	p := int(l.place[j])
	rest := l.order[p+1:]
	// The new place is after all columns with a dual at least as large.
	k, _ := slices.BinarySearchFunc(rest, l.v[j], func(c int32, x C) int {
		if l.v[c] >= x {
			return -1
		}
		return 1
	})
	copy(l.order[p:p+k], rest[:k])
	l.order[p+k] = j
	l.scanned += int64(k) / 4
	for q := p; q <= p+k; q++ {
		l.place[l.order[q]] = int32(q)
	}
}

// twoBest returns the columns of the two least reduced costs in row i, none where there
// are fewer.
func (l *listedSearch[C]) twoBest(i int32) (j1, j2 int32, least, second C) {
	j1, j2 = none, none
	take := func(j int32, h C) {
		switch {
		case j1 == none:
			j1, least = j, h
		case h < least:
			j2, second = j1, least
			j1, least = j, h
		case j2 == none || h < second:
			j2, second = j, h
		}
	}
	idx, val := l.entries(i)
	for k, j := range idx {
		take(j, val[k]-l.v[j])
	}
	if l.in.implicit {
		l.markRow(i)
		found := 0
		for _, j := range l.order {
			if l.mark[j] == l.stamp {
				continue
			}
			take(j, l.in.def-l.v[j])
			if found++; found == 2 {
				break
			}
		}
	}
	return j1, j2, least, second
}

// search runs Dijkstra's algorithm from row i and returns the free column
// found, or none.
func (l *listedSearch[C]) search(from int32) int32 {
	l.scan(from, 0)
	end := int32(none)
	var least C
	for len(l.queue) > 0 {
		e := l.pop()
		j := e.col
		if j < 0 {
			c := int(-1 - j)
			j = l.order[l.cursors[c].at]
			row := l.cursors[c].row
			stale := l.done[j]
			if !stale && (!l.reached[j] || e.d <= l.d[j]) {
				l.reach(j, e.d, row)
			} else if !stale {
				stale = true // reached at a smaller distance, and in the queue with that
			}
			l.cursors[c].at++
			l.advance(c)
			if stale {
				continue
			}
		} else if l.done[j] || e.d > l.d[j] {
			continue
		}
		least = e.d
		if l.rowOf[j] == none {
			end = j
			break
		}
		l.settle(j)
		i := l.rowOf[j]
		l.scan(i, least-l.reduced(i, j))
	}
	if end != none {
		l.update(least)
	}
	return end
}

func (l *listedSearch[C]) reach(j int32, d C, row int32) {
	if !l.reached[j] {
		l.reached[j] = true
		l.touched = append(l.touched, j)
	}
	l.d[j], l.pred[j] = d, row
	if l.rowOf[j] == none && (!l.bounded || d < l.bound) {
		l.bound, l.bounded = d, true
	}
}

func (l *listedSearch[C]) settle(j int32) {
	l.done[j] = true
	l.settled = append(l.settled, j)
	if l.in.implicit {
		p := l.place[j]
		l.next[p] = p + 1
		l.jumped = append(l.jumped, p)
	}
}

// reduced returns c(i, j) − v(j).
func (l *listedSearch[C]) reduced(i, j int32) C {
	idx, val := l.entries(i)
	if k := int(l.entryOf[i]); k < len(idx) && idx[k] == j {
		return val[k] - l.v[j]
	}
	if k, ok := slices.BinarySearch(idx, j); ok {
		l.entryOf[i] = int32(k)
		return val[k] - l.v[j]
	}
	return l.in.def - l.v[j]
}

// scan relaxes the columns of row i, at their reduced cost plus base.
func (l *listedSearch[C]) scan(i int32, base C) {
	idx, val := l.entries(i)
	l.scanned += int64(len(idx)) + 1
	v, bounded, bound := l.v, l.bounded, l.bound
	for k, j := range idx {
		d := val[k] - v[j] + base
		if bounded && d >= bound || l.done[j] || l.reached[j] && d >= l.d[j] {
			continue
		}
		l.reach(j, d, i)
		l.push(near[C]{d, j})
		bounded, bound = l.bounded, l.bound
	}
	if l.in.implicit {
		l.cursors = append(l.cursors, cursor[C]{row: i, d: l.in.def + base})
		l.advance(len(l.cursors) - 1)
	}
}

// advance moves a cursor to the next column that is neither settled nor has an
// entry in its row, and puts it into the queue.
func (l *listedSearch[C]) advance(c int) {
	cur := &l.cursors[c]
	idx, _ := l.entries(cur.row)
	n := int32(len(l.order))
	for {
		cur.at = l.find(cur.at)
		if cur.at >= n {
			return
		}
		j := l.order[cur.at]
		if _, listed := slices.BinarySearch(idx, j); !listed {
			// The columns behind it are no nearer.
			if d := cur.d - l.v[j]; !l.bounded || d < l.bound {
				l.push(near[C]{d, int32(-1 - c)})
			}
			return
		}
		cur.at++
	}
}

// find returns the first place from p on with a column that is not settled.
func (l *listedSearch[C]) find(p int32) int32 {
	root := p
	for l.next[root] != root {
		root = l.next[root]
	}
	for l.next[p] != root {
		p, l.next[p] = l.next[p], root
	}
	return root
}

// update lowers the duals of the settled columns.
func (l *listedSearch[C]) update(least C) {
	for _, j := range l.settled {
		l.done[j] = false
		if l.d[j] < least {
			l.v[j] += l.d[j] - least
		}
	}
	if l.in.implicit {
		l.reorder()
	}
	l.forget()
}

// forget clears the state of a search.
func (l *listedSearch[C]) forget() {
	for _, p := range l.jumped {
		l.next[p] = p
	}
	for _, j := range l.settled {
		l.done[j] = false
	}
	for _, j := range l.touched {
		l.reached[j] = false
	}
	l.bounded = false
	l.touched, l.settled, l.queue, l.cursors, l.jumped = l.touched[:0], l.settled[:0], l.queue[:0], l.cursors[:0], l.jumped[:0]
}

// reorder restores the order of duals after the duals of the settled columns changed: it sorts the
// settled columns and merges them with the others, which stay in order.
func (l *listedSearch[C]) reorder() {
	moved := l.settled
	if len(moved) == 0 {
		return
	}
	first := len(l.order)
	for _, j := range moved {
		l.done[j] = true
		first = min(first, int(l.place[j]))
	}
	slices.SortFunc(moved, func(a, b int32) int {
		if c := compare(l.v[b], l.v[a]); c != 0 {
			return c
		}
		return int(l.place[a] - l.place[b])
	})
	// Writes never overtake reads: a moved column is removed before it is inserted.
	rest := l.mark[:0] // scratch space; stamps start again
	k := 0
	p := first
	last := l.v[moved[len(moved)-1]]
	for ; p < len(l.order); p++ {
		j := l.order[p]
		if l.done[j] {
			k++
			continue
		}
		if k == len(moved) && l.v[j] < last {
			break
		}
		rest = append(rest, j)
	}
	l.scanned += int64(p-first) / 8
	at, r := first, 0
	for _, j := range moved {
		for r < len(rest) && l.v[rest[r]] >= l.v[j] {
			l.put(at, rest[r])
			at, r = at+1, r+1
		}
		l.put(at, j)
		at++
	}
	for ; r < len(rest); r++ {
		l.put(at, rest[r])
		at++
	}
	for _, j := range moved {
		l.done[j] = false
	}
	clear(l.mark[:len(rest)])
}

func (l *listedSearch[C]) put(p int, j int32) { l.order[p], l.place[j] = j, int32(p) }

// witness returns the rows that a failed search from row i reached: their columns are
// the settled ones, one fewer.
func (l *listedSearch[C]) witness(from int32) error {
	rows := []int32{from}
	for _, j := range l.settled {
		rows = append(rows, l.rowOf[j])
	}
	slices.Sort(rows)
	return &InfeasibleError{Rows: rows, Have: len(l.settled)}
}

func (l *listedSearch[C]) push(e near[C]) {
	q := append(l.queue, e)
	k := len(q) - 1
	for k > 0 {
		up := (k - 1) / 2
		if q[up].d <= e.d {
			break
		}
		q[k] = q[up]
		k = up
	}
	q[k] = e
	l.queue = q
}

func (l *listedSearch[C]) pop() near[C] {
	q := l.queue
	top, e := q[0], q[len(q)-1]
	q = q[:len(q)-1]
	l.queue = q
	k := 0
	for {
		down := 2*k + 1
		if down >= len(q) {
			break
		}
		if down+1 < len(q) && q[down+1].d < q[down].d {
			down++
		}
		if q[down].d >= e.d {
			break
		}
		q[k] = q[down]
		k = down
	}
	if len(q) > 0 {
		q[k] = e
	}
	return top
}
