package apps

import (
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/generate"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/race"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
	"pgregory.net/rapid"
)

// The kit: every workflow of List equals itself by each of its forms, in each format, on each
// number of threads, on devices and on groups.

// formsOf returns the forms that List declares.
func formsOf(app string) Forms {
	list := List[float64]()
	return list[slices.IndexFunc(list, func(a App[float64]) bool { return a.Name == app })].Forms
}

// An outcome is the figures of a result and their places, or the error of all forms.
type outcome struct {
	figures []float64
	places  []matrix.Place
	err     error

	methods   []string // of the traces
	imbalance float64  // the largest
}

func (c *kitCase[T]) outcome(g matrix.Source[T], run workflow.Run) (o outcome) {
	run.Trace = func(tr ops.Trace) {
		if tr.Method != "" { // else it is the name of the algorithm
			o.methods, o.imbalance = append(o.methods, string(tr.Method)), max(o.imbalance, tr.Imbalance)
		}
	}
	res, err := c.run(g, run)
	o.figures, o.places, o.err = samples.Figures(res), samples.PlacesOf(res), err
	return o
}

// same reports where two outcomes differ: bit for bit without a tolerance, which is relative.
func (o outcome) same(t rapid.TB, what string, want outcome, loose float64) {
	t.Helper()
	if o.err != nil || want.err != nil {
		if o.err == nil || want.err == nil || o.err.Error() != want.err.Error() {
			t.Fatalf("%s: error %v, want %v", what, o.err, want.err)
		}
		return
	}
	if len(o.figures) != len(want.figures) {
		t.Fatalf("%s: %d figures, want %d: %v, want %v", what, len(o.figures), len(want.figures), short(o.figures), short(want.figures))
	}
	for k, x := range o.figures {
		y := want.figures[k]
		if x != y && !(math.IsNaN(x) && math.IsNaN(y)) && !(math.Abs(x-y) <= loose*max(1, math.Abs(y))) {
			t.Fatalf("%s: figure %d is %v, want %v: %v, want %v", what, k, x, y, short(o.figures), short(want.figures))
		}
	}
}

// at reports whether all vectors and matrices are at a place.
func (o outcome) at(t rapid.TB, what string, place matrix.Place) {
	t.Helper()
	for _, p := range o.places {
		if p != place {
			t.Errorf("%s: a result is at %v, want %v", what, p, place)
		}
	}
}

// short is the beginning of a long list.
func short(list []float64) string { return fmt.Sprint(list[:min(len(list), 40)]) }

// sample returns a sample that a case takes.
func (c *kitCase[T]) sample(s samples.Sample) samples.Sample {
	if c.undirected {
		return s.Both()
	}
	return s
}

// Every workflow gives what its oracle does, where it has one, by its kernel of the host and by
// operations, for every format, view and number of threads.
func TestKitOnHost(t *testing.T) {
	for at, c := range cases[float64]() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			share := 2
			if c.oracle == nil && c.check == nil && !formsOf(c.app).Host {
				share = 6 // the tests of its family have the oracle, and it has one form on the host
			}
			k := at
			samples.OnGraphs(t, func(t rapid.TB, s samples.Sample) {
				if k++; !longtest.Takes(k, share) {
					return
				}
				s = c.sample(s)
				var want *outcome
				samples.EveryForm(t, s, func(name string, g matrix.Source[float64], run workflow.Run) {
					for _, m := range []workflow.Method{workflow.Auto, workflow.Pipeline} {
						run.Method = m
						got := c.outcome(g, run)
						if want == nil {
							want = &got
							if got.err == nil {
								c.verify(t, name, s.Arcs(), got.figures)
							} else if c.oracle != nil || c.check != nil {
								t.Fatalf("%s: %v", name, got.err)
							}
						}
						got.same(t, name+" method "+string(m), *want, c.loose)
						got.at(t, name, nil)
					}
				})
			})
		})
	}
}

// The kernels of the host agree with the operations on graphs that are larger than a word of bits,
// a batch and a piece of a loop.
func TestKitOnLargerGraphs(t *testing.T) {
	for at, c := range cases[float64]() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for k, s := range []samples.Sample{samples.Random(700, 4000, 5, false), samples.Random(600, 2500, 6, true).Beside(samples.Path(40).Both()), samples.Path(400)} {
				if !longtest.Takes(at+k, 3) {
					continue
				}
				g := samples.Build[float64](t, c.sample(s), matrix.CSR)
				want := c.outcome(g, workflow.Run{Method: workflow.Pipeline})
				for _, threads := range []int{1, 3} {
					c.outcome(g, workflow.Run{Threads: threads}).same(t, fmt.Sprintf("graph %d, %d threads", k, threads), want, c.loose)
				}
			}
		})
	}
}

// Every workflow gives on a device what it gives on the host, by each of its methods. On the
// emulator a third of the graphs is enough, a twelfth in turn in the quick form, which has few
// pipelines of workflows without a form of their own: each compiles its kernels.
func TestKitOnDevice(t *testing.T) {
	d := samples.RealOrEmulated(t)
	share, every := 12, 9
	if longtest.Enabled() {
		share, every = 3, 3
	}
	for k, s := range append(samples.PlaceSamples(), peelingSamples()...) {
		if s.M != s.N || d.E != nil && k%share != longtest.Turn()%share && s.Reason != "karate" {
			continue
		}
		t.Run(s.Reason, func(t *testing.T) {
			chosen, seen := map[string]bool{}, map[string]bool{}
			for at, c := range cases[float64]() {
				forms := formsOf(c.app)
				if k >= len(samples.PlaceSamples()) && !(forms.Host && forms.Device) {
					continue
				}
				if seen[c.app] && d.E != nil && !longtest.Takes(at+k, 4) { // another setting
					continue
				}
				seen[c.app] = true
				few := d.E != nil && ((at+k+longtest.Turn())%every != 0 || !longtest.Enabled() && s.Reason != "karate")
				how := samples.Guises[(k+at)%len(samples.Guises)]
				s := c.sample(s.Sample)
				host, there := samples.Build[float64](t, s, matrix.CSR), samples.Move[float64](t, s, how, d.Device)
				want := c.outcome(host, workflow.Run{})
				for _, m := range []workflow.Method{workflow.Fused, workflow.Auto, workflow.Pipeline} {
					switch {
					case m == workflow.Fused && (!forms.Device || c.plain != ""):
						continue
					case m == workflow.Auto && forms.Device && c.plain == "" && few && chosen[c.app]: // once a workflow
						continue
					case (m == workflow.Pipeline || !forms.Device || c.plain != "") && few:
						continue
					case m == workflow.Pipeline && !forms.Device: // is Auto
						continue
					}
					chosen[c.app] = chosen[c.app] || m == workflow.Auto
					what := fmt.Sprintf("%s of %s, method %q", c.name, how.Name, m)
					got := c.outcome(there, workflow.Run{Method: m})
					got.same(t, what, want, c.loose)
					if c.elsewhere == "" {
						got.at(t, what, d.Device)
					}
				}
			}
		})
	}
}

// peelingSamples are graphs for forms that peel vertices or colour them, with a hub and loops and
// without.
func peelingSamples() (list []samples.Named) {
	cycles := samples.Blank(0) // each with an edge to the next one
	for _, n := range []int{3, 1, 5, 2, 40, 1, 1, 7, 2, 2} {
		c := samples.Path(n)
		c.Edges = append(c.Edges, samples.Edge{From: n - 1, To: 0, Weight: 1})
		if cycles = cycles.Beside(c); cycles.N > n {
			cycles.Edges = append(cycles.Edges, samples.Edge{From: cycles.N - n - 1, To: cycles.N - n, Weight: 1})
		}
	}
	for _, c := range []samples.Named{
		{Reason: "rows of several items", Sample: samples.Star(700).Both()},
		{Reason: "many components of several sizes", Sample: cycles},
		{Reason: "directed, sparse", Sample: samples.Random(400, 700, 5, false)},
		{Reason: "directed, dense", Sample: samples.Random(300, 4000, 6, false)},
		{Reason: "undirected, many cores", Sample: samples.Random(300, 5000, 7, true)},
	} {
		hub := samples.Named{Reason: c.Reason + ", with a hub", Sample: c.Sample}
		for v := range c.N { // loops, and edges of a hub to and from a part of the others
			e := [4]samples.Edge{{From: c.N / 2, To: v, Weight: 1}, {From: v, To: c.N / 2, Weight: 1}, {From: v, To: v, Weight: 1}, {From: v, To: v, Weight: 1}}[v%4]
			hub.Edges = append(hub.Edges[:len(hub.Edges):len(hub.Edges)], e)
		}
		list = append(list, c, hub)
	}
	return list
}

// groupGraph is a graph of 2^scale vertices; sums of its values depend on their order. A directed
// one has vertices that no other reaches.
func groupGraph(t testing.TB, scale int, directed bool, at matrix.Place) samples.GroupGraph {
	t.Helper()
	if !directed {
		return samples.RangeGraph(t, scale, at)
	}
	edges := sure.Get(generate.RMAT(scale, 3<<scale, generate.RMATOptions{Seed: 9}))
	g := sure.Get(generate.Matrix[float32](edges, generate.Simple()))
	uneven := semiring.NewIndex("uneven", func(_ float32, i, j int) float32 { return 1 / float32(1+(i+j)%11) }, "")
	if err := ops.ApplyIndex(g, uneven, g); err != nil {
		t.Fatal(err)
	}
	sure.Do(g.Move(at))
	return g
}

// onGroup runs a case by a method on a graph of a group, and compares it with one place: bit for
// bit, but where the forms of a group add up in another order.
func (c *kitCase[T]) onGroup(t *testing.T, what string, one, g matrix.Source[T], at *comm.Group, m workflow.Method) {
	t.Helper()
	forms, devices := formsOf(c.app), at.PlaceOf(0) != nil
	want, loose := workflow.Run{}, c.apart
	switch {
	case devices:
		loose = max(c.apart, c.loose)
	case c.gathers != "" && m == workflow.Auto:
	case m == workflow.Pipeline || forms.Group == "" || forms.Group == "rows" && !forms.HostRows && m == workflow.Auto:
		want = workflow.Run{Method: workflow.Pipeline, Threads: 1}
		if c.whole == "" {
			loose = 0
		}
	case m == workflow.Fused || forms.HostRows:
		loose = c.loose
	}
	got, one1 := c.outcome(g, workflow.Run{Method: m}), c.outcome(one, want)
	got.same(t, what, one1, loose)
	if c.elsewhere == "" {
		got.at(t, what, at)
	}
	if devices && c.plain != "" {
		return
	}
	if divided := slices.Contains(got.methods, forms.Group); got.err == nil && c.whole == "" && forms.Group != "shares" &&
		divided != (forms.Group != "" && m != workflow.Pipeline && (devices || forms.Group == "ranges" || forms.HostRows || m == workflow.Fused)) {
		t.Errorf("%s: ran by %v, declared is %q", what, got.methods, forms.Group)
	}
	if p := float64(at.Size()); !devices && slices.Contains(got.methods, workflow.ByRanges) && (got.imbalance < 1 || got.imbalance > p) {
		t.Errorf("%s: the imbalance of %v ranks is %v", what, p, got.imbalance)
	}
}

// methodsOnGroups are the methods by which a workflow runs in different ways on ranks of the host.
func (c *kitCase[T]) methodsOnGroups() []workflow.Method {
	forms := formsOf(c.app)
	switch {
	case forms.HostRows && c.whole == "":
		return []workflow.Method{workflow.Pipeline, workflow.Fused, workflow.Auto}
	case forms.Group == "rows" && c.whole == "":
		return []workflow.Method{workflow.Pipeline, workflow.Fused}
	case forms.Group == "ranges":
		return []workflow.Method{workflow.Auto, workflow.Pipeline}
	}
	return []workflow.Method{workflow.Auto}
}

// Every workflow gives on a group what it gives on one place: on 1 to 7 ranks, as several
// processes, with graphs in blocks and with fewer vertices than ranks.
func TestKitOnGroups(t *testing.T) {
	ranks := []int{1, 2, 3, 4, 7}
	if race.Enabled && !longtest.Enabled() {
		ranks = []int{1, 3}
	}
	for n, c := range cases[float32]() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			forms := formsOf(c.app)
			for _, directed := range []bool{false, true} {
				if directed && c.undirected {
					continue
				}
				scales := []int{2, 6}
				if forms.Group == "ranges" && !directed || longtest.Enabled() {
					scales = append(scales, 8)
				}
				for _, scale := range scales {
					for k, p := range ranks {
						if !longtest.Takes(n+k+scale, 5) {
							continue
						}
						at := sure.Get(comm.LocalGroup(p))
						g := groupGraph(t, scale, directed, at)
						if (k+scale/2)%2 == 0 {
							g = samples.InBlocks(t, g, at)
						}
						for _, m := range c.methodsOnGroups() {
							if m == workflow.Pipeline && forms.Group == "ranges" && !longtest.Enabled() && scale > 6 {
								continue // thousands of operations, each with collectives
							}
							// A graph that keeps its transpose is pulled, which sums in another
							// order.
							one := groupGraph(t, scale, directed, nil)
							c.onGroup(t, fmt.Sprintf("directed %v, scale %d, %d ranks, method %q", directed, scale, p, m), one, g, at, m)
						}
					}
					if !longtest.Takes(n+scale/2, 2) {
						continue
					}
					want := c.outcome(groupGraph(t, scale, directed, nil), workflow.Run{})
					list, _ := samples.Processes(t, 5, func(at *comm.Group) (any, error) {
						return c.outcome(groupGraph(t, scale, directed, at), workflow.Run{}), nil
					})
					for k, got := range list {
						got.(outcome).same(t, fmt.Sprintf("scale %d, process %d", scale, k), want, max(c.apart, c.loose))
					}
				}
			}
		})
	}
}

// Workflows that kernels of each rank run give on devices that exchange memory what they give on
// one place: on graphs with empty rows, hubs and dangling vertices, and with fewer vertices than
// ranks.
func TestKitByRows(t *testing.T) {
	groups, graphs := samples.GroupsByRows(t), samples.GraphsByRows(t)
	for n, name := range slices.Sorted(maps.Keys(graphs)) {
		one := samples.Weighed[float32](t, graphs[name])
		for where, at := range groups {
			g := one.Clone()
			sure.Do(g.Move(at))
			for k, c := range cases[float32]() {
				if formsOf(c.app).Group == "rows" && c.whole == "" && longtest.Takes(k+n+at.Size(), 5) {
					c.onGroup(t, c.name+" of "+name+" on "+where, one, g, at, samples.MethodOn(at))
				}
			}
		}
	}
}

// Workflows that are divided by ranges give on devices what they give on one place.
func TestKitByRangesOnDevices(t *testing.T) {
	if testing.Short() {
		t.Skip("the emulator is slow")
	}
	groups := []*comm.Group{samples.PeersOf(t, 2), samples.PeersOf(t, 3)}
	if group, _, real := samples.GroupOfGPUs(t); !real {
		groups = append(groups, samples.PeersOf(t, 17), group) // 17 devices have no reductions of their own
	}
	for _, at := range groups {
		for k, c := range cases[float32]() {
			if formsOf(c.app).Group != "ranges" || at.Size() > 3 && c.name != "ScanStatistics" && c.name != "GraphSearch" ||
				!longtest.Takes(k+2*at.Size(), 8) {
				continue
			}
			scales := []int{2, 8}
			if os.Getenv("HIVEBLAS_TEST_GPU") != "" && c.app == "scan" {
				scales = append(scales, 16) // with hubs: each GPU lists their tasks in an order of its own
			}
			for _, scale := range scales {
				c.onGroup(t, fmt.Sprintf("%s, scale %d, on %v", c.name, scale, at), samples.RangeGraph(t, scale, nil), samples.RangeGraph(t, scale, at), at, workflow.Auto)
			}
		}
	}
}

// Every workflow of List has a case, except assignments, which take dense costs.
func TestKitHasAllWorkflows(t *testing.T) {
	covered := map[string]bool{"lsap": true} // tested by package auction
	functions := map[string]string{}
	for _, a := range List[float64]() {
		for _, f := range a.Functions {
			functions[f] = a.Name
		}
	}
	for _, c := range cases[float64]() {
		covered[c.app] = true
		if functions[c.function()] != c.app {
			t.Errorf("case %q is of %q, whose functions do not have its name", c.name, c.app)
		}
	}
	for _, a := range List[float64]() {
		if !covered[a.Name] {
			t.Errorf("%s has no case: give its entry in List a Use, or add it to cases", a.Name)
		}
		if a.Forms.Device != (a.Kernels != nil) && a.Name != "clustering" && a.Name != "diameter" { // by kernels of scan and bfs
			t.Errorf("%s has a form for devices: %v, and kernels: %v", a.Name, a.Forms.Device, a.Kernels != nil)
		}
	}
}
