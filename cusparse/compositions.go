package cusparse

import (
	"slices"
	"strings"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/cusparse/internal/recording"
	"github.com/hiveblas/hiveblas/cusparse/space"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/matrix"
)

// A Composition is the text of kernels that operations need.
type Composition struct {
	Name   string // what it is composed of
	Source string
}

// Compositions returns the programs of other packages, and those that operations compose when use
// works with matrices on a device of the given properties, each once, by name. There is no such
// device: kernels do nothing, and read-backs return made-up numbers. Compositions calls use once
// for each entry of readbacks, so that it takes several ways where counts decide; a product of a
// matrix and a vector runs by every plan that it may choose. Results of operations mean nothing,
// and use may fail or panic over them.
func Compositions(p driver.Properties, programs []device.Program, use func(at matrix.Place)) ([]Composition, error) {
	r := &recording.Compiler{Sources: map[string]string{}}
	for _, x := range programs {
		c, err := composed(x)
		if err != nil {
			return nil, err
		}
		r.Record(c.source(), c.title())
	}
	for _, numbers := range readbacks {
		d, err := Open(0, WithDriver(&recording.Driver{Props: p, Numbers: numbers, Reads: toPinnedKernel, Results: resultsAt}), WithKernelCache("off"),
			WithCompiler("recording", func() (driver.Compiler, error) { return r, nil }))
		if err != nil {
			return nil, err
		}
		d.choice.all, d.choice.mostRead = true, mostRead
		fresh.Cleared(func() { attempt(func() { use(d) }) })
	}
	var out []Composition
	for source, name := range r.Sources {
		out = append(out, Composition{name, source})
	}
	slices.SortFunc(out, func(a, b Composition) int {
		if c := strings.Compare(a.Name, b.Name); c != 0 {
			return c
		}
		return strings.Compare(a.Source, b.Source)
	})
	return out, nil
}

// mostRead limits what use reads of matrices without contents. use goes on with an empty matrix in
// place of a larger one: copies of made-up numbers took most of the time of Compositions.
const mostRead = 1 << 17

// runAll runs the product by each plan of the table that its operands allow, but for diagonals:
// their kernels depend on the matrix.
func (w *walk) runAll() {
	f := w.frame
	for _, plan := range space.Table() {
		x := w.facts[plan.Direction]
		if plan.Layout == space.DIA || x == nil || plan.Legal(*x) != nil {
			continue
		}
		one := *w
		one.plan, one.a = plan, w.walkable(w.rows[plan.Direction], plan.Layout)
		one.product(&device.Ran{})
		f.err = nil
	}
}

// readbacks are the 64-bit numbers that read-backs return, cyclically: zero, one, few, many, and
// few or many without a special one.
var readbacks = [][]int64{{0}, {1}, {1 << 12}, {1 << 22}, {0, 1 << 12, 1 << 12, 1 << 12}, {0, 1 << 22, 1 << 22, 1 << 22}}

// attempt runs f and ignores panics.
func attempt(f func()) {
	defer func() { _ = recover() }()
	f()
}
