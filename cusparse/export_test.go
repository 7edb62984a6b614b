package cusparse

import (
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/cusparse/space"
)

// TakePlan makes products of d take a plan wherever it is legal, and returns a function that
// reports how many did.
func (d *Device) TakePlan(p space.Plan) (taken func() int) {
	n := 0
	d.choice = choice{floor: -1, head: 1, rotate: func(dir space.Direction, f space.Facts) (space.Plan, bool) {
		if dir != p.Direction || p.Legal(f) != nil {
			return space.Plan{}, false
		}
		n++
		return p, true
	}}
	return func() int { return n }
}

var (
	Emulated   = emulated
	RealDevice = realDevice
)

// CommKernels returns the kernels of all reductions and copies of groups.
func CommKernels() (list []string) {
	list = append(list, kernelText["commpull"])
	for _, t := range comm.DTypes() {
		list = append(list, foldSource(t))
	}
	return list
}

// Loops returns the lists of the loops that ran.
func (d *Device) Loops() (list []string) {
	for _, c := range d.passes {
		if c.err == nil {
			list = append(list, c.list.Text())
		}
	}
	return list
}
