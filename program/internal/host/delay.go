package host

import "math"

// delayed is what a priority makes wait.
type delayed struct {
	list    []int32
	waiting []uint8
	bound   float64
	count   int64
	values  []float64
}

// priorities returns the priorities of vertices.
func (e *Engine) priorities(list []int32) []float64 {
	d := &e.delayed
	if cap(d.values) < len(list) {
		d.values = make([]float64, len(list)+len(list)/2)
	}
	values := d.values[:len(list)]
	e.workers[0].fn.Priorities(e.workers[0], list, values)
	return values
}

// delay moves vertices of the frontier at or above the bound to those that wait.
func (e *Engine) delay() {
	d := &e.delayed
	if d.waiting == nil {
		d.waiting = make([]uint8, e.N)
	}
	priorities := e.priorities(e.front.list)
	keep := e.front.list[:0]
	e.front.count, e.front.edges = 0, 0
	for k, v := range e.front.list {
		if priorities[k] < d.bound {
			keep = append(keep, v)
			e.front.count++
			e.front.edges += int64(e.Degree(v))
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
func (e *Engine) refill() {
	d := &e.delayed
	if d.count == 0 {
		d.list = d.list[:0]
		return
	}
	keep := d.list[:0]
	for _, v := range d.list {
		if d.waiting[v] == 1 { // 0: it ran already; 2: a repeat
			d.waiting[v] = 2
			keep = append(keep, v)
		}
	}
	least, priorities := math.Inf(1), e.priorities(keep)
	for _, p := range priorities {
		least = min(least, p)
	}
	if d.bound = least + e.P.Width; d.bound == least || !(d.bound < math.Inf(1)) {
		d.bound = math.Inf(1) // the width is lost in rounding
	}
	var front []int32
	d.list = keep[:0]
	for k, v := range keep {
		d.waiting[v] = 1
		if priorities[k] < d.bound || math.IsInf(d.bound, 1) {
			front = append(front, v)
			d.waiting[v] = 0
			d.count--
			e.front.count++
			e.front.edges += int64(e.Degree(v))
		} else {
			d.list = append(d.list, v)
		}
	}
	e.front.list, e.front.marks, e.front.all = front, nil, false
	e.front.sort()
}
