package program

import "math"

// delayed is what Priority makes wait.
type delayed struct {
	list    []int32
	waiting []uint8
	bound   float64
	count   int64
}

// delay moves vertices of the frontier at or above the bound to those that wait.
func (e *engine[V, E, M]) delay() {
	d := &e.delayed
	if d.waiting == nil {
		d.waiting = make([]uint8, e.n)
	}
	keep := e.front.list[:0]
	e.front.count, e.front.edges = 0, 0
	for _, v := range e.front.list {
		if e.p.Priority.Func(e.state[v]) < d.bound {
			keep = append(keep, v)
			e.front.count++
			e.front.edges += int64(e.degree(int(v)))
			d.count -= int64(d.waiting[v])
			d.waiting[v] = 0
		} else if d.waiting[v] == 0 {
			d.waiting[v] = 1
			d.count++
			d.list = append(d.list, v)
		}
	}
	e.front.list = keep
	if e.front.count == 0 {
		e.refill()
	}
}

// refill raises the bound and makes the vertices below it the frontier.
func (e *engine[V, E, M]) refill() {
	d := &e.delayed
	if d.count == 0 {
		d.list = d.list[:0]
		return
	}
	least := math.Inf(1)
	keep := d.list[:0]
	for _, v := range d.list {
		if d.waiting[v] == 1 { // 0: it ran already; 2: a repeat
			d.waiting[v] = 2
			keep = append(keep, v)
			least = min(least, e.p.Priority.Func(e.state[v]))
		}
	}
	if d.bound = least + e.p.Width; d.bound == least || !(d.bound < math.Inf(1)) {
		d.bound = math.Inf(1) // the width is lost in rounding
	}
	var front []int32
	d.list = keep[:0]
	for _, v := range keep {
		d.waiting[v] = 1
		if e.p.Priority.Func(e.state[v]) < d.bound || math.IsInf(d.bound, 1) {
			front = append(front, v)
			d.waiting[v] = 0
			d.count--
			e.front.count++
			e.front.edges += int64(e.degree(int(v)))
		} else {
			d.list = append(d.list, v)
		}
	}
	e.front.list, e.front.marks, e.front.all = front, nil, false
	e.front.sort()
}
