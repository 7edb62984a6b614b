package apps

import (
	"fmt"
	"slices"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// DiameterOptions are the settings of Diameter.
type DiameterOptions struct {
	Run
	Searches int // stop with bounds after so many breadth-first searches; 0 means no limit
}

// DiameterResult is the result of Diameter.
type DiameterResult struct {
	Lower, Upper int // bounds of the diameter, equal where the search was complete
	From, To     int // two vertices whose distance is Lower; −1 without vertices
	Searches     int // number of breadth-first searches
}

// Diameter returns the diameter of g, the largest distance between two vertices of one connected
// component, or bounds of it. Directions, values and self-loops are ignored.
//
// In each component that has enough vertices for a larger distance than found, searches from the
// farthest vertex of the search before give a long path; a search from its middle u gives levels.
// Vertices are then taken from the last level: if none of those at level i or more is more than
// 2(i−1) from another vertex, no pair is (Crescenzi, Grossi, Habib, Lanzi, Marino: On computing the
// diameter of real-world undirected graphs, Theoretical Computer Science 514, 2013: iFUB with
// 4-SWEEP). Every search is a [BFS], where g lives. Few searches suffice in most real graphs, all
// vertices are needed in the worst case.
func Diameter[T comparable](g matrix.Source[T], opts ...DiameterOptions) (*DiameterResult, error) {
	const app = "Diameter"
	o, err := only(app, opts)
	if err != nil {
		return nil, err
	}
	if o.Searches < 0 {
		return nil, &ParameterError{app, "the number of searches", fmt.Sprint(o.Searches), "0 or more"}
	}
	n, err := square(app, g)
	if err != nil {
		return nil, err
	}
	if _, err := o.fused(app, g.View().Place()); err != nil {
		return nil, err
	}
	o.report("diameter", 0, int64(n))
	a, err := undirectedPattern(g, o.Run, n)
	if err != nil {
		return nil, err
	}
	both := matrix.New[bool](n, n, matrix.On(a.Place()))
	if err := ops.Select(both, semiring.Offdiag[bool](0), a, o.with()); err != nil {
		return nil, err
	}
	if a.Place() == nil {
		both.IsSymmetric() // so that searches pull without a transpose
	}
	c, err := ConnectedComponents(both, ComponentsOptions{Run: o.Run})
	if err != nil {
		return nil, err
	}
	if err := c.Label.Fetch(); err != nil {
		return nil, err
	}
	d := &diameterSearch{a: both, o: o, res: DiameterResult{From: -1, To: -1}, settled: make([]bool, n)}
	if n > 0 {
		d.res.From, d.res.To = 0, 0
	}
	size := make([]int32, n)
	label, err := c.Label.Dense(0)
	if err != nil {
		return nil, err
	}
	for _, l := range label {
		size[l]++
	}
	var roots []int32
	for v := range size {
		if size[v] > 1 {
			roots = append(roots, int32(v))
		}
	}
	slices.SortStableFunc(roots, func(x, y int32) int { return int(size[y] - size[x]) })
	upper := 0
	for _, root := range roots {
		most := int(size[root]) - 1
		if most <= d.res.Lower {
			break
		}
		bound, err := d.component(int(root))
		if err != nil {
			return nil, err
		}
		upper = max(upper, min(bound, most))
	}
	d.res.Upper = max(upper, d.res.Lower)
	return &d.res, nil
}

// diameterSearch finds the diameter of components.
type diameterSearch struct {
	a       *matrix.Matrix[bool]
	o       DiameterOptions
	res     DiameterResult
	settled []bool // vertices from which a search ran
}

// spent reports whether the limit of searches is reached.
func (d *diameterSearch) spent() bool { return d.o.Searches > 0 && d.res.Searches >= d.o.Searches }

// from searches from v, and keeps the longest distance found.
func (d *diameterSearch) from(v int, parents bool) (res *BFSResult, far int, err error) {
	d.res.Searches++
	d.settled[v] = true
	d.o.report("diameter", int64(min(d.res.Searches, len(d.settled))), int64(len(d.settled)))
	run := d.o.Run
	run.Progress = nil
	if res, err = BFS(d.a, v, BFSOptions{Run: run, Parents: parents}); err != nil {
		return nil, 0, err
	}
	last := matrix.NewVector[int32](len(d.settled), matrix.On(d.a.Place()))
	if err := ops.Select(last, semiring.ValueEQ(res.MaxLevel), res.Level, d.o.with()); err != nil {
		return nil, 0, err
	}
	if err := last.Fetch(); err != nil {
		return nil, 0, err
	}
	for w := range last.All() {
		far = w
		break
	}
	if int(res.MaxLevel) > d.res.Lower {
		d.res.Lower, d.res.From, d.res.To = int(res.MaxLevel), v, far
	}
	return res, far, nil
}

// component returns an upper bound of the diameter of the component of v.
func (d *diameterSearch) component(v int) (upper int, err error) {
	// The middle of a long path, twice.
	var res *BFSResult
	for range 2 {
		if d.spent() {
			break
		}
		_, end, err := d.from(v, false)
		if err != nil {
			return 0, err
		}
		if d.spent() {
			break
		}
		var far int
		if res, far, err = d.from(end, true); err != nil {
			return 0, err
		}
		if err := res.Parent.Fetch(); err != nil {
			return 0, err
		}
		v = far
		for range res.MaxLevel / 2 {
			x, _ := res.Parent.At(v)
			v = int(x)
		}
	}
	if d.spent() {
		return len(d.settled), nil
	}
	if res, _, err = d.from(v, false); err != nil {
		return 0, err
	}
	if err := res.Level.Fetch(); err != nil {
		return 0, err
	}
	levels := make([][]int, res.MaxLevel+1)
	for w, l := range res.Level.All() {
		levels[l] = append(levels[l], w)
	}
	for i := int(res.MaxLevel); i > 0; i-- {
		upper = 2 * i
		if d.res.Lower >= upper {
			return upper, nil
		}
		for _, w := range levels[i] {
			if d.settled[w] {
				continue
			}
			if d.spent() {
				return upper, nil
			}
			if _, _, err := d.from(w, false); err != nil {
				return 0, err
			}
			if d.res.Lower >= upper {
				return upper, nil
			}
		}
		if d.res.Lower >= 2*(i-1) {
			return d.res.Lower, nil
		}
	}
	return d.res.Lower, nil
}
