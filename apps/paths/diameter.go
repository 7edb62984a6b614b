package paths

import (
	"fmt"
	"slices"
	"sync"

	"github.com/hiveblas/hiveblas/apps/components"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/matrix"
)

// DiameterOptions are the settings of Diameter.
type DiameterOptions struct {
	workflow.Run
	Searches int // stop with bounds after so many breadth-first searches; 0 means no limit
}

// DiameterResult is the result of Diameter.
type DiameterResult struct {
	Lower, Upper int // bounds of the diameter, equal where the search was complete
	From, To     int // two vertices at distance Lower; −1 without vertices
	Searches     int // number of breadth-first searches
}

// Diameter returns the diameter of g, the largest distance between two vertices of one connected
// component, or bounds of it. Directions, values and self-loops are ignored. If the context ends,
// the result with the bounds so far stands beside the error of the context; other errors have no
// result.
//
// The eccentricity of a vertex is its largest distance. A search from v with eccentricity e bounds
// the eccentricity of every w at distance d: max(d, e−d) below, e+d above. Vertices are dropped if
// their bound above is at most the longest distance found, until none is left. The next search
// starts in turn from the vertex with the greatest bound above, which may be an end of a longer
// path, and from the vertex with the least bound below, a centre; a search from a centre lowers the
// bounds above (Takes, Kosters: Determining the diameter of small world networks, CIKM 2011).
// Components are searched from the largest on, as far as they have enough vertices.
//
// Few searches suffice in most real graphs, meshes and grids; all vertices are needed in the worst
// case, such as a cycle. On the host with Method Auto the threads share 2 to 16 searches of a
// round, each O(edges); else every search is a [BFS], where g lives. 28 bytes for each vertex, and
// 12 for each vertex and thread.
func Diameter[T comparable](g matrix.Source[T], opts ...DiameterOptions) (*DiameterResult, error) {
	return diameterOf(g, opts)
}

// diameterOf is Diameter of a graph with values of any type.
func diameterOf(g workflow.Operand, opts []DiameterOptions) (*DiameterResult, error) {
	const app = "Diameter"
	o, err := workflow.Only(app, opts)
	if err != nil {
		return nil, err
	}
	if o.Searches < 0 {
		return nil, &workflow.ParameterError{App: app, Arg: "the number of searches", Got: fmt.Sprint(o.Searches), Want: "0 or more"}
	}
	n, err := workflow.Square(app, g)
	if err != nil {
		return nil, err
	}
	form, err := workflow.Choose(o.Run, app, workflow.Pattern(g).Place())
	if err != nil {
		return nil, err
	}
	workflow.Announce(o.Run, app, "bounds of eccentricities")
	d := &diameterSearch{o: o, res: DiameterResult{Upper: max(n-1, 0), From: -1, To: -1}}
	if n > 0 {
		d.res.From, d.res.To = 0, 0
	}
	if err := d.run(workflow.Pattern(g), n, form.Host); err != nil {
		if workflow.Expired(o.Run) != nil {
			return &d.res, err
		}
		return nil, err
	}
	return &d.res, nil
}

// diameterSearch finds the diameter of components.
type diameterSearch struct {
	o     DiameterOptions
	res   DiameterResult
	a     *matrix.View[bool]  // undirected
	rows  *workflow.Adjacency // of a for searches on the host, nil for those where a lives
	crew  []*levelSearch      // of the threads
	order []int32             // the vertices by component

	mu           sync.Mutex
	open         []int32 // vertices of the component with an eccentricity that may exceed Lower
	lower, upper []int32 // bounds of eccentricities
	sum          []int64 // of the distances from all sources
}

func (d *diameterSearch) run(g *matrix.View[bool], n int, host bool) error {
	workflow.Report(d.o.Run, "diameter", 0, int64(n))
	a, err := workflow.UndirectedPattern(g, d.o.Run, n)
	if err != nil {
		return err
	}
	if d.a = a; host {
		d.rows = workflow.RowsOf(a)
	}
	label, err := d.labels(n)
	if err != nil {
		return err
	}
	parts := componentLists(label, &d.order)
	d.lower, d.upper, d.sum = make([]int32, n), make([]int32, n), make([]int64, n)
	d.crew = make([]*levelSearch, parallel.Threads(d.o.Threads))
	most := 0 // the bound of the components searched
	if len(parts) > 0 {
		d.res.Upper = len(parts[0]) - 1
	}
	for k, list := range parts {
		if len(list)-1 <= d.res.Lower {
			break
		}
		rest := 0 // the bound of the components after this one
		if k+1 < len(parts) {
			rest = len(parts[k+1]) - 1
		}
		part, err := d.component(list, max(most, rest))
		if err != nil {
			return err
		}
		most = max(most, part)
		if d.spent() {
			return nil
		}
	}
	d.res.Upper = d.res.Lower
	if d.rows != nil {
		workflow.Traced(d.o.Run, "Diameter", "searches", n, int64(d.res.Searches)*int64(len(d.rows.Idx)))
	}
	return nil
}

// labels returns the least vertex of the component of each vertex.
func (d *diameterSearch) labels(n int) ([]int32, error) {
	quiet := d.o.Run
	quiet.Progress = nil
	c, err := components.ConnectedComponents(d.a, components.ComponentsOptions{Run: quiet})
	if err != nil {
		return nil, err
	}
	return c.Label.Dense(0)
}

// componentLists returns the vertices of each component of two vertices or more, the largest
// component first. order holds the lists.
func componentLists(label []int32, order *[]int32) (parts [][]int32) {
	first := make([]int64, len(label)+1)
	for _, l := range label {
		first[l+1]++
	}
	for v := range label {
		first[v+1] += first[v]
	}
	*order = make([]int32, len(label))
	next := slices.Clone(first)
	for v, l := range label {
		(*order)[next[l]] = int32(v)
		next[l]++
	}
	for v := range label {
		if list := (*order)[first[v]:first[v+1]]; len(list) > 1 {
			parts = append(parts, list)
		}
	}
	slices.SortStableFunc(parts, func(x, y []int32) int { return len(y) - len(x) })
	return parts
}

// spent reports whether the limit of searches is reached.
func (d *diameterSearch) spent() bool { return d.o.Searches > 0 && d.res.Searches >= d.o.Searches }

// component searches a component until no vertex is open or the searches are spent, and returns an
// upper bound of its diameter. others bounds the diameter of the other components.
func (d *diameterSearch) component(list []int32, others int) (bound int, err error) {
	d.open = slices.Clone(list)
	bound = len(list) - 1
	for _, v := range list {
		d.upper[v] = int32(bound)
	}
	next := list[:1]
	for done := 0; len(next) > 0; {
		if done > 0 {
			next = d.sources(min(2+2*(done/16), 16))
		}
		if d.o.Searches > 0 {
			next = next[:min(len(next), d.o.Searches-d.res.Searches)]
		}
		if err := d.searches(next); err != nil {
			return bound, err
		}
		done += len(next)
		bound = d.res.Lower
		for _, v := range d.open {
			bound = max(bound, int(d.upper[v]))
		}
		d.res.Upper = min(d.res.Upper, max(bound, others))
		workflow.Report(d.o.Run, fmt.Sprintf("diameter, %d to %d", d.res.Lower, d.res.Upper), int64(len(list)-len(d.open)), int64(len(list)))
		if len(d.open) == 0 || d.spent() {
			break
		}
	}
	return bound, nil
}

// sources returns up to k open vertices from which to search: in turn one with the greatest bound
// above, ties by the greatest bound below, and one with the least bound below, ties by the least
// sum of distances; then ties by number.
func (d *diameterSearch) sources(k int) []int32 {
	taken := make([]int32, 0, k)
	for turn := 0; turn < k && turn < len(d.open); turn++ {
		best := int32(-1)
		for _, v := range d.open {
			better := best < 0
			switch {
			case better:
			case turn%2 == 0:
				better = d.upper[v] > d.upper[best] || d.upper[v] == d.upper[best] && d.lower[v] > d.lower[best]
			default:
				better = d.lower[v] < d.lower[best] || d.lower[v] == d.lower[best] && d.sum[v] < d.sum[best]
			}
			if better && !slices.Contains(taken, v) {
				best = v
			}
		}
		taken = append(taken, best)
	}
	return taken
}

// searches searches from vertices, and applies what they tell in any order, which does not matter.
func (d *diameterSearch) searches(list []int32) error {
	ends := make([]struct{ far, level int32 }, len(list))
	var err error
	if d.rows == nil {
		for k := 0; k < len(list) && err == nil; k++ {
			var level []int32
			if level, err = d.levels(list[k]); err == nil {
				ends[k].level = slices.Max(level)
				ends[k].far = int32(slices.Index(level, ends[k].level))
				d.learn(list[k], ends[k].level, level)
			}
		}
	} else {
		err = parallel.Pieces(d.o.Context, d.o.Threads, len(list), func(worker, k int) {
			if d.crew[worker] == nil {
				d.crew[worker] = newLevelSearch(d.rows)
			}
			if s := d.crew[worker]; s.run(d.o.Run, list[k]) {
				ends[k].far = s.farthest()
				ends[k].level = s.level[ends[k].far]
				d.learn(list[k], ends[k].level, s.level)
			}
		})
		if err == nil {
			err = workflow.Expired(d.o.Run)
		}
	}
	for k, x := range ends { // of equal lengths the first in the list counts
		if int(x.level) > d.res.Lower {
			d.res.Lower, d.res.From, d.res.To = int(x.level), int(list[k]), int(x.far)
		}
	}
	d.open = slices.DeleteFunc(d.open, func(v int32) bool {
		return int(d.upper[v]) <= d.res.Lower || d.lower[v] == d.upper[v]
	})
	return err
}

// learn improves the bounds by the levels around v.
func (d *diameterSearch) learn(v, eccentricity int32, level []int32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.res.Searches++
	for _, w := range d.open {
		x := level[w]
		d.upper[w] = min(d.upper[w], eccentricity+x)
		d.lower[w] = max(d.lower[w], x, eccentricity-x)
		d.sum[w] += int64(x)
	}
}

// levels searches from v where the graph lives, and returns the levels, 0 in other components.
func (d *diameterSearch) levels(v int32) ([]int32, error) {
	run := d.o.Run
	run.Progress = nil
	res, err := BFS(d.a, int(v), BFSOptions{Run: run})
	if err != nil {
		return nil, err
	}
	return res.Level.Dense(0)
}

// levelSearch finds levels by breadth-first search on one thread. Arrays are kept between searches.
type levelSearch struct {
	g     *workflow.Adjacency
	level []int32 // of the component searched; stale elsewhere
	seen  []int32 // the number of the last search that found the vertex
	turn  int32
	queue []int32 // the vertices found, by level
	last  int     // where the last level begins in queue
}

func newLevelSearch(g *workflow.Adjacency) *levelSearch {
	return &levelSearch{g: g, level: make([]int32, g.N), seen: make([]int32, g.N), queue: make([]int32, 0, g.N)}
}

// farthest returns the least vertex of the last level.
func (s *levelSearch) farthest() int32 { return slices.Min(s.queue[s.last:]) }

// run searches from v, and reports whether the context lasted. A level is pulled, where that reads
// fewer edges, by all vertices that the search has not found; the graph is undirected.
func (s *levelSearch) run(o workflow.Run, v int32) bool {
	s.turn++
	s.queue, s.last = append(s.queue[:0], v), 0
	s.level[v], s.seen[v] = 0, s.turn
	left := int64(len(s.g.Idx)) - s.g.Degree(v)
	edges := s.g.Degree(v) // of the frontier
	for checked := 0; ; {
		lo, hi := s.last, len(s.queue)
		if hi >= checked+1<<14 {
			if checked = hi; workflow.Expired(o) != nil {
				return false
			}
		}
		depth := s.level[s.queue[lo]] + 1
		if 4*edges > left+int64(s.g.N) && hi-lo > 1 {
			s.pull(depth)
		} else {
			for _, u := range s.queue[lo:hi] {
				for _, w := range s.g.Of(u) {
					if s.seen[w] != s.turn {
						s.seen[w], s.level[w] = s.turn, depth
						s.queue = append(s.queue, w)
					}
				}
			}
		}
		if len(s.queue) == hi {
			return true
		}
		s.last = hi
		edges = s.g.Degrees(s.queue[hi:])
		left -= edges
	}
}

// pull finds the vertices of a level by their edges to the level before.
func (s *levelSearch) pull(depth int32) {
	for w := range int32(s.g.N) {
		if s.seen[w] == s.turn {
			continue
		}
		for _, u := range s.g.Of(w) {
			if s.seen[u] == s.turn && s.level[u] == depth-1 {
				s.seen[w], s.level[w] = s.turn, depth
				s.queue = append(s.queue, w)
				break
			}
		}
	}
}
