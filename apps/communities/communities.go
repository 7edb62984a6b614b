// Package communities partitions graphs: by modularity with the methods of Louvain and Leiden, and
// by label propagation.
package communities

import (
	"cmp"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// CommunitiesOptions are the settings of Communities.
type CommunitiesOptions struct {
	workflow.Run
	Leiden     bool    // refine each level: every community is connected
	Resolution float64 // γ, larger for more and smaller communities; 0 means 1
	Tolerance  float64 // gain in modularity at which a level, and a pass, ends; 0 means 1e-5
	MaxLevels  int     // of a pass; 0 means no bound
	Sweeps     int     // over the vertices of a level; 0, and more than 40, mean 40
	Passes     int     // hierarchies, each begun from the communities of the last; 0: 1, with Leiden 2
	// Start is a membership to begin with, such as the result for an earlier state of the graph:
	// any numbers ≥ 0. A vertex without an entry, or beyond the end, begins alone.
	Start      *matrix.Vector[int32]
	RandomSeed uint64 // of the order in which vertices move
	// Nondeterministic permits results that differ between runs, which is faster: vertices move as
	// soon as they decide, on a device on the first level. On a group it has no effect.
	Nondeterministic bool
	// Fast sets Nondeterministic, and ends levels early: its sweeps have a tolerance of .01 on the
	// first level and a tenth on each further one, at least Tolerance. A level that keeps four
	// fifths of its vertices is the last. Passes is 1 by default, with Leiden too.
	Fast bool
}

// CommunitiesResult is a partition of the vertices into communities.
type CommunitiesResult struct {
	// Membership is the community of each vertex. Communities count from 0 by descending number of
	// vertices, equal ones by their least vertices.
	Membership *matrix.Vector[int32]
	Count      int
	Largest    int64   // vertices of community 0
	Modularity float64 // as Modularity computes it
	// Levels is the dendrogram of the last pass: the membership after each level, numbered as
	// Membership is, from the finest to Membership itself. Each community of a level is inside one
	// of the next.
	Levels []*matrix.Vector[int32]
	Passes int // that were made
	// Capped reports whether the moves of a level ended by the number of sweeps, Sweeps or 40,
	// before a sweep gained less than Tolerance.
	Capped bool
}

// Communities partitions the vertices of an undirected graph into communities of large modularity
//
//	Q = Σ_c [ in(c)/2m − γ (tot(c)/2m)² ],   2m = Σ A,  in(c) = sᵀAs,  tot(c) = sᵀA1
//
// where s is the indicator of c, by the method of Louvain (Blondel, Guillaume, Lambiotte, Lefebvre:
// Fast unfolding of communities in large networks, J. Stat. Mech. 2008, P10008). On each level,
// vertices move to the neighbouring community with the largest gain until a sweep gains less than
// Tolerance, or for at most Sweeps sweeps. Then communities become vertices, by the membership
// matrix S, where S(v,c) = 1 for v in c,
//
//	A ← SᵀAS,
//
// which leaves Q as it is, and the next level begins; until a level gains less than Tolerance.
//
// With Leiden, communities are first split into well connected parts, and the parts become the
// vertices of the next level, which begins with the communities (Traag, Waltman, van Eck: From
// Louvain to Leiden: guaranteeing well-connected communities, Scientific Reports 9, 2019). Every
// community of the result is then connected.
//
// Louvain returns a *WeightError if a weight is negative or not finite; entries of a pattern weigh
// 1. A self-loop of weight w counts 2w in the degree of its vertex and in 2m, as in igraph and
// NetworkX: A has 2w on its diagonal. Vertices without weight are communities of their own; without
// any, Q is 0. Sums of weights are exact: other than integers of sum below 2⁵² are rounded to a
// multiple of a power of 2 of at most 2⁻⁵⁰ of 2m, the same on all places. Louvain returns a
// *ParameterError if the graph is directed, which a hash of 64 bits detects.
//
// The result is deterministic unless Nondeterministic is set: it depends on the graph, the options
// and RandomSeed, and not on the number of threads, nor on the place: a device gives the
// communities of the host, the same levels and the same modularity. Vertices decide in batches, by
// the state before the batch. A move is made if it still gains with all other vertices of the batch
// that want to go to the same community, or if its gain is the largest of these. With
// Nondeterministic vertices move as soon as they decide, and Fast has the settings of Sahu
// (GVE-Louvain: Fast Louvain algorithm for community detection in shared memory setting, ICPP
// 2024).
//
// O(entries) a sweep, with some tens of sweeps over ever fewer vertices. On a device it has a fused
// form, for fewer than 2³⁰ vertices and 2³² entries; larger graphs compute on the host. With Method
// Pipeline the vertices of a batch decide by operations where the graph lives, and make the same
// moves. The results of a graph on a device live on the device. On a group of devices each device
// has the whole graph, and the devices divide the vertices of the first level: they exchange 16
// bytes for each wish of a vertex.
func Communities[T semiring.Element](g matrix.Source[T], opts ...CommunitiesOptions) (*CommunitiesResult, error) {
	return communitiesOf(g, opts)
}

// communitiesOf is Communities of a graph with values of any type.
func communitiesOf(g workflow.Operand, opts []CommunitiesOptions) (*CommunitiesResult, error) {
	const app = "Communities"
	o, err := workflow.Only(app, opts)
	if err != nil {
		return nil, err
	}
	n, err := workflow.Square(app, g)
	if err != nil {
		return nil, err
	}
	if err := o.complete(app); err != nil {
		return nil, err
	}
	start, err := startOf(app, o.Start, n)
	if err != nil {
		return nil, err
	}
	algorithm := "Louvain"
	if o.Leiden {
		algorithm = "Leiden"
	}
	workflow.Announce(o.Run, app, algorithm)
	workflow.Report(o.Run, "communities: read the graph", 0, 0)
	var at device.Runner
	if _, group := workflow.Pattern(g).Place().(*comm.Group); group || o.Method == workflow.Pipeline {
		o.Nondeterministic = false // each process of a group computes the communities, which must be the same
	}
	w := workflow.GroupRows(o.Run, app, workflow.Pattern(g).Place())
	if w == nil || !w.Devices || o.Method != workflow.Auto && o.Method != workflow.Fused {
		w = nil
		if at, err = workflow.FusedOn(o.Run, app, workflow.Pattern(g).Place()); err != nil {
			return nil, err
		}
	}
	if at != nil && n > 0 {
		res, err := fusedCommunities(at, g.Inside(), start, n, o)
		if res != nil || err != nil {
			return res, err
		}
	}
	if w != nil && n > 0 {
		res, err := communitiesOnGroup(w, g.Inside(), start, n, o)
		if res != nil || err != nil {
			return res, err
		}
	}
	l, err := levelGraphOf(app, g, o.Run)
	if err != nil {
		return nil, err
	}
	if (at != nil || w != nil) && o.Method == workflow.Fused && n > 0 {
		return nil, &workflow.ParameterError{App: app, Arg: "the method", Got: "fused for 2³⁰ vertices or 2³² entries, or more", Want: "auto or pipeline"}
	}
	l.place = workflow.Pattern(g).Place()
	h, err := allPasses(&hostLevel{g: l, o: &o}, &o, start)
	if err != nil {
		return nil, err
	}
	res := &CommunitiesResult{Passes: h.passes, Modularity: h.modularity, Capped: h.capped}
	return res, res.number(h.levels, g, o)
}

// complete fills in defaults and checks.
func (o *CommunitiesOptions) complete(app string) error {
	if o.Resolution == 0 {
		o.Resolution = 1
	}
	if o.Tolerance == 0 {
		o.Tolerance = 1e-5
	}
	if o.MaxLevels == 0 {
		o.MaxLevels = math.MaxInt
	}
	if o.Sweeps == 0 {
		o.Sweeps = moveSweeps
	}
	if o.Passes == 0 {
		o.Passes = 1
		if o.Leiden && !o.Fast {
			o.Passes = 2
		}
	}
	o.Nondeterministic = o.Nondeterministic || o.Fast
	switch {
	case !(o.Resolution > 0 && o.Resolution <= math.MaxFloat64):
		return &workflow.ParameterError{App: app, Arg: "the resolution", Got: fmt.Sprint(o.Resolution), Want: "a positive number"}
	case !(o.Tolerance > 0 && o.Tolerance < 1):
		return &workflow.ParameterError{App: app, Arg: "the tolerance", Got: fmt.Sprint(o.Tolerance), Want: "between 0 and 1"}
	case o.MaxLevels < 0:
		return &workflow.ParameterError{App: app, Arg: "the number of levels", Got: fmt.Sprint(o.MaxLevels), Want: "positive, or 0 for no bound"}
	case o.Sweeps < 0:
		return &workflow.ParameterError{App: app, Arg: "the number of sweeps", Got: fmt.Sprint(o.Sweeps), Want: "positive, or 0 for 40"}
	case o.Passes < 0:
		return &workflow.ParameterError{App: app, Arg: "the number of passes", Got: fmt.Sprint(o.Passes), Want: "positive, or 0 for the default"}
	}
	return nil
}

// startOf returns the membership to begin with, numbered from 0 by least vertices, nil for none.
func startOf(app string, start *matrix.Vector[int32], n int) ([]int32, error) {
	if start == nil {
		return nil, nil
	}
	part, _, err := membershipOf(app, "the start", start, n)
	if err != nil {
		return nil, err
	}
	return part, nil
}

// membershipOf returns a membership of n vertices as numbers below n, by least vertices. A vertex
// without an entry, or beyond the end of the vector, is alone. count is the number of communities.
func membershipOf(app, arg string, v *matrix.Vector[int32], n int) (part []int32, count int, err error) {
	if v == nil {
		return nil, 0, &matrix.InvalidError{Op: app, Reason: arg + " is nil; make a vector with matrix.NewVector or a From function"}
	}
	if err := v.Err(); err != nil {
		return nil, 0, err
	}
	if v.Size() > n {
		return nil, 0, &matrix.DimensionError{Op: app, Arg: arg, Got: fmt.Sprintf("of length %d", v.Size()),
			Want: fmt.Sprintf("at most %d, the number of vertices", n), Remedy: "give a community for each vertex of the graph"}
	}
	if part, err = v.Dense(-1); err != nil {
		return nil, 0, err
	}
	for len(part) < n {
		part = append(part, -1)
	}
	// The new number of each number, plus 1; a map would be slower.
	small, large := make([]int32, n), map[int32]int32{}
	next, alone := int32(0), int64(n)-v.NVals()
	for k, c := range part {
		switch {
		case c < 0:
			part[k] = next
			next++
			alone--
		case int(c) < n:
			if small[c] == 0 {
				next++
				small[c] = next
			}
			part[k] = small[c] - 1
		default:
			if large[c] == 0 {
				next++
				large[c] = next
			}
			part[k] = large[c] - 1
		}
	}
	if alone < 0 {
		for k, c := range v.All() {
			if c < 0 {
				return nil, 0, workflow.AboutVertices(app, arg, fmt.Sprintf("%d for vertex {0}", c), "numbers of 0 or more", k)
			}
		}
	}
	return part, int(next), nil
}

// numbered numbers the parts of the vertices with edges from 0 in the order of their names, which
// are below twice the number of vertices. A vertex without edges gets −1.
func numbered(threads int, name []int32, degree []int64) (part []int32, parts int) {
	n := len(name)
	before := make([]int64, 2*n+1) // the used names below each
	_ = parallel.Range(nil, threads, n, workflow.RowGrain, func(_, lo, hi int) {
		for v := lo; v < hi; v++ {
			if used := &before[name[v]+1]; degree[v] > 0 && atomic.LoadInt64(used) == 0 {
				atomic.StoreInt64(used, 1)
			}
		}
	})
	parallel.Sum(threads, before)
	part = fresh.Make[int32](int64(n))
	_ = parallel.Range(nil, threads, n, workflow.RowGrain, func(_, lo, hi int) {
		for v := lo; v < hi; v++ {
			part[v] = -1
			if degree[v] > 0 {
				part[v] = int32(before[name[v]])
			}
		}
	})
	return part, int(before[2*n])
}

// number numbers the communities of all levels by size, and makes their vectors where the graph is.
func (res *CommunitiesResult) number(levels [][]int32, g workflow.Operand, o CommunitiesOptions) error {
	place := workflow.Pattern(g).Place()
	for _, part := range levels {
		sizes := numberBySize(o.Threads, part)
		v, err := matrix.VectorOf(part)
		if err == nil {
			err = v.Move(place)
		}
		if err != nil {
			return err
		}
		res.Count, res.Largest, res.Membership = len(sizes), 0, v
		if len(sizes) > 0 {
			res.Largest = sizes[0]
		}
		res.Levels = append(res.Levels, v)
	}
	return nil
}

// numberBySize numbers parts anew by descending size, equal ones by their least vertices, and
// returns the sizes. A vertex with part −1 becomes a part of its own. Numbers are below the number
// of vertices.
func numberBySize(threads int, part []int32) []int64 {
	name := int32(0)
	for _, c := range part {
		name = max(name, c+1)
	}
	for v, c := range part {
		if c < 0 {
			part[v] = name
			name++
		}
	}
	threads = parallel.Share(threads, int64(len(part)), workflow.RowGrain)
	count := countParts(threads, part, int(name))
	order := parallel.Gather(threads, len(count), workflow.RowGrain, func(lo, hi int, found []int32) []int32 {
		for c := lo; c < hi; c++ {
			if count[c].size > 0 {
				found = append(found, int32(c))
			}
		}
		return found
	})
	parallel.SortStable(threads, order, func(x, y int32) int {
		return cmp.Or(cmp.Compare(count[y].size, count[x].size), cmp.Compare(count[x].least, count[y].least))
	})
	sizes, number := make([]int64, len(order)), make([]int32, len(count))
	for k, c := range order {
		number[c], sizes[k] = int32(k), int64(count[c].size)
	}
	_ = parallel.Range(nil, threads, len(part), workflow.RowGrain, func(_, lo, hi int) {
		for v := lo; v < hi; v++ {
			part[v] = number[part[v]]
		}
	})
	return sizes
}

// A partCount is the size of a part, 0 if it is unused, and its least vertex, plus 1.
type partCount struct{ least, size int32 }

// countParts counts the vertices of the parts, which have numbers below count. Each thread counts
// its vertices of a part before it adds the count to the part: many vertices of a large part would
// otherwise wait for the same cache line.
func countParts(threads int, part []int32, count int) []partCount {
	parts := make([]partCount, count)
	add := func(c int32, x partCount) {
		if x.size == 0 {
			return
		}
		atomic.AddInt32(&parts[c].size, x.size)
		least := &parts[c].least
		for old := atomic.LoadInt32(least); (old == 0 || x.least < old) && !atomic.CompareAndSwapInt32(least, old, x.least); {
			old = atomic.LoadInt32(least)
		}
	}
	_ = parallel.Range(nil, threads, len(part), workflow.RowGrain, func(_, lo, hi int) {
		const places = 1 << 8 // of parts, by the lowest bits of their numbers
		var of [places]int32
		var sum [places]partCount
		for v := lo; v < hi; v++ {
			c := part[v]
			k := c & (places - 1)
			if of[k] != c {
				add(of[k], sum[k])
				of[k], sum[k] = c, partCount{}
			}
			if sum[k].size == 0 {
				sum[k].least = int32(v) + 1
			}
			sum[k].size++
		}
		for k, c := range of {
			add(c, sum[k])
		}
	})
	return parts
}
