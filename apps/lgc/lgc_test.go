package lgc

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/testdata"
	"pgregory.net/rapid"
)

// undirected lists the neighbours of each vertex without loops, for the oracle.
func undirected(s samples.Sample) [][]int {
	near := make([][]int, s.N)
	for c := range s.Both().Weights() {
		if c.Row != c.Col {
			near[c.Row] = append(near[c.Row], c.Col)
		}
	}
	for _, list := range near {
		slices.Sort(list)
	}
	return near
}

// lgcOracle is the problem by definition, dense.
type lgcOracle struct {
	near       [][]int
	s          []float64
	alpha, rho float64
}

func (o lgcOracle) d(i int) float64 { return float64(len(o.near[i])) }

// q of a vertex without edges is 0 and out of the sums.
func (o lgcOracle) times(q []float64) []float64 {
	out := make([]float64, len(q))
	for i := range q {
		for _, j := range o.near[i] {
			out[i] -= (1 - o.alpha) / 2 * q[j] / math.Sqrt(o.d(i)*o.d(j))
		}
		out[i] += (1 + o.alpha) / 2 * q[i]
	}
	return out
}

func (o lgcOracle) objective(q []float64) float64 {
	sum, qq := 0.0, o.times(q)
	for i := range q {
		if o.d(i) > 0 {
			sum += q[i]*qq[i]/2 - o.alpha*o.s[i]*q[i]/math.Sqrt(o.d(i)) + o.rho*o.alpha*math.Sqrt(o.d(i))*math.Abs(q[i])
		}
	}
	return sum
}

// solve minimises over one coordinate after the other until nothing changes.
func (o lgcOracle) solve() []float64 {
	q := make([]float64, len(o.near))
	for range 100000 {
		moved := 0.0
		for i := range q {
			if o.d(i) == 0 {
				continue
			}
			root := math.Sqrt(o.d(i))
			rest := o.alpha * o.s[i] / root
			for _, j := range o.near[i] {
				rest += (1 - o.alpha) / 2 * q[j] / (root * math.Sqrt(o.d(j)))
			}
			new := math.Copysign(max(math.Abs(rest)-o.rho*o.alpha*root, 0), rest) / ((1 + o.alpha) / 2)
			moved = max(moved, math.Abs(new-q[i]))
			q[i] = new
		}
		if moved < 1e-17 {
			break
		}
	}
	return q
}

// checkCluster compares a result with the least objective.
func checkCluster(t rapid.TB, what string, o lgcOracle, least float64, epsilon float64, res *LocalClusterResult) {
	t.Helper()
	q, volume := make([]float64, len(o.near)), 0.0
	for i, p := range res.P.All() {
		if !(p > 0) {
			t.Fatalf("%s: p of %d is %v", what, i, p)
		}
		q[i] = p / math.Sqrt(o.d(i))
		volume += o.d(i)
	}
	if got := o.objective(q); math.Abs(got-least) > 1e-8 || math.Abs(got-res.Objective) > 1e-12 {
		t.Fatalf("%s: the objective is %v, the result says %v, the least is %v", what, got, res.Objective, least)
	}
	if volume > 1/o.rho+1e-9 {
		t.Errorf("%s: the support has volume %v, above 1/ρ = %v", what, volume, 1/o.rho)
	}
	worst := 0.0
	for i, qq := range o.times(q) {
		if o.d(i) == 0 {
			continue
		}
		g := -(qq - o.alpha*o.s[i]/math.Sqrt(o.d(i))) / math.Sqrt(o.d(i)) / (o.rho * o.alpha)
		if q[i] != 0 {
			worst = max(worst, math.Abs(g-1))
		} else {
			worst = max(worst, math.Abs(g)-1)
		}
	}
	if math.Abs(worst-res.KKT) > 1e-6 || !res.Converged || worst > epsilon*1.001 {
		t.Errorf("%s: the conditions are violated by %v, the result says %v, converged %v", what, worst, res.KKT, res.Converged)
	}
	if res.Support != res.P.NVals() {
		t.Errorf("%s: a support of %d, the result says %d", what, res.P.NVals(), res.Support)
	}
}

var clusterMethods = []ClusterMethod{ClusterPush, ClusterISTA, ClusterFISTA}

func seeded(n int, seeds []int) []float64 {
	s := make([]float64, n)
	for _, v := range seeds {
		s[v] = 1 / float64(len(seeds))
	}
	return s
}

func clusterOn(t rapid.TB, s samples.Sample, seeds []int, alpha, rho float64) {
	near := undirected(s)
	o := lgcOracle{near, seeded(s.N, seeds), alpha, rho}
	least := o.objective(o.solve())
	samples.EveryForm(t, s.Both(), func(name string, g matrix.Source[float64], run workflow.Run) {
		c, err := NewClusterer(g, run)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, m := range clusterMethods {
			for _, from := range []float64{fullShares[0], fullShares[2]} {
				c.fullFrom = from
				what := fmt.Sprintf("%s, %v, full from %v", name, m, from)
				res, err := c.Cluster(seeds, LocalClusterOptions{Run: run, Alpha: alpha, Rho: rho, Method: m, Epsilon: 1e-5, Sweep: true})
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				checkCluster(t, what, o, least, 1e-5, res)
				checkCut(t, what, near, res)
			}
		}
	})
}

// fullShares switch to full vectors in the first step, later, and never.
var fullShares = []float64{0, 1.0 / 3, 2}

// checkCut checks the sets of a sweep one by one.
func checkCut(t rapid.TB, what string, near [][]int, res *LocalClusterResult) {
	t.Helper()
	if (res.Cut == nil) != (res.Support == 0) {
		t.Fatalf("%s: cut %+v of a support of %d", what, res.Cut, res.Support)
	}
	if res.Cut == nil {
		return
	}
	var order []int
	x := make([]float64, len(near))
	for i, p := range res.P.All() {
		order = append(order, i)
		x[i] = p / float64(len(near[i]))
	}
	slices.SortStableFunc(order, func(i, j int) int { // p/d within rounding: the sweep's own order decides then
		if math.Abs(x[i]-x[j]) < 1e-12*x[i] {
			return slices.Index(res.Cut.Vertices, i) - slices.Index(res.Cut.Vertices, j)
		}
		return map[bool]int{true: -1, false: 1}[x[i] > x[j]]
	})
	total := 0
	for _, list := range near {
		total += len(list)
	}
	conductance := func(set []int) (phi float64, volume, edges int) {
		for _, i := range set {
			volume += len(near[i])
			for _, j := range near[i] {
				if !slices.Contains(set, j) {
					edges++
				}
			}
		}
		if volume == total {
			return 1, volume, edges
		}
		return float64(edges) / float64(min(volume, total-volume)), volume, edges
	}
	phi, volume, edges := conductance(res.Cut.Vertices)
	if phi != res.Cut.Conductance || int64(volume) != res.Cut.Volume || int64(edges) != res.Cut.Edges {
		t.Fatalf("%s: %+v, counted %v, %v, %v", what, res.Cut, phi, volume, edges)
	}
	for k := range order {
		if k > 0 && math.Abs(x[order[k]]-x[order[k-1]]) < 1e-12*x[order[k]] || k+1 < len(order) && math.Abs(x[order[k]]-x[order[k+1]]) < 1e-12*x[order[k]] {
			continue // among equals any order is one of the sweep
		}
		if other, _, _ := conductance(order[:k+1]); other < phi {
			t.Errorf("%s: the first %d have conductance %v, the cut %v", what, k+1, other, phi)
		}
	}
}

func TestLocalCluster(t *testing.T) {
	for _, c := range []struct {
		reason     string
		s          samples.Sample
		seeds      []int
		alpha, rho float64
	}{
		{"an edge", samples.Path(2), []int{0}, 0.15, 1e-2},
		{"a path", samples.Path(30), []int{4}, 0.15, 1e-3},
		{"a path, far", samples.Path(30), []int{4}, 0.02, 1e-4},
		{"a star, at a leaf", samples.Star(12), []int{3}, 0.3, 1e-3},
		{"a star, at the middle", samples.Star(12), []int{0}, 0.15, 1e-2},
		{"two cliques joined", samples.Clique(6, false).Beside(samples.Clique(6, true)).Beside(samples.Sample{}), []int{1}, 0.15, 1e-3},
		{"isolated vertices beside", samples.Path(5).Beside(samples.Blank(4)), []int{2}, 0.15, 1e-3},
		{"several seeds", samples.Path(40), []int{3, 4, 30}, 0.15, 1e-3},
		{"a penalty that leaves nothing", samples.Star(9), []int{0}, 0.15, 0.9},
		{"hubs", samples.Random(60, 240, 1, false), []int{1, 7}, 0.15, 1e-3},
		{"a whole graph", samples.Random(60, 240, 2, false), []int{1}, 0.1, 1e-6},
	} {
		t.Run(c.reason, func(t *testing.T) { clusterOn(t, c.s, c.seeds, c.alpha, c.rho) })
	}
	if !longtest.Enabled() {
		return
	}
	t.Run("random", rapid.MakeCheck(func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "n")
		s := samples.DrawSample(t, n, n)
		var seeds []int
		for v, list := range undirected(s) {
			if len(list) > 0 && rapid.Bool().Draw(t, "seed") {
				seeds = append(seeds, v)
			}
		}
		if len(seeds) > 0 {
			clusterOn(t, s, seeds, rapid.Float64Range(0.02, 0.9).Draw(t, "alpha"), rapid.Float64Range(1e-5, 0.5).Draw(t, "rho"))
		}
	}))
}

// On a cycle, by symmetry, the cluster is the same around every seed, and to both
// sides.
func TestLocalClusterOfCycle(t *testing.T) {
	const n = 41
	s := samples.Path(n)
	s.Edges = append(s.Edges, samples.Edge{From: n - 1, To: 0, Weight: 1})
	c := samples.Must[*Clusterer](t)(NewClusterer(samples.Build[float64](t, s.Both(), matrix.CSR), workflow.Run{}))
	for _, m := range clusterMethods {
		first := sure.Get(samples.Must[*LocalClusterResult](t)(c.Cluster([]int{0}, LocalClusterOptions{Method: m, Rho: 1e-3})).P.Dense(0))
		for k := range n {
			if math.Abs(first[k]-first[(n-k)%n]) > 1e-14 {
				t.Errorf("%v: %v at %d, %v at −%[3]d", m, first[k], k, first[(n-k)%n])
			}
		}
		other := sure.Get(samples.Must[*LocalClusterResult](t)(c.Cluster([]int{7}, LocalClusterOptions{Method: m, Rho: 1e-3})).P.Dense(0))
		for k := range n {
			if math.Abs(first[k]-other[(k+7)%n]) > 1e-14 {
				t.Errorf("%v: from 7 there is %v, from 0 %v", m, other[(k+7)%n], first[k])
			}
		}
	}
}

// Steps over full vectors agree with sparse ones, to rounding: ISTA and FISTA after
// each step, a push, which also moves entries just above ρα, at the end.
func TestLocalClusterOfFullVectors(t *testing.T) {
	s := samples.Random(300, 2000, 4, true).Beside(samples.Blank(3))
	c := samples.Must[*Clusterer](t)(NewClusterer(samples.Build[float64](t, s.Both(), matrix.CSR), workflow.Run{}))
	for _, m := range clusterMethods {
		o := LocalClusterOptions{Method: m, Rho: 1e-4, Epsilon: 1e-11}
		c.fullFrom = 2
		want := samples.Must[*LocalClusterResult](t)(c.Cluster([]int{3, 9}, o))
		for _, from := range fullShares[:2] {
			pulls, pushes := 0, 0
			o.Trace = func(tr ops.Trace) {
				switch tr.Method {
				case ops.Pull:
					pulls++
				case ops.Push:
					pushes++
				}
			}
			c.fullFrom = from
			got := samples.Must[*LocalClusterResult](t)(c.Cluster([]int{3, 9}, o))
			if from == 0 && (pushes != 0 || pulls != got.Iterations+2) { // one to detect convergence, one to certify
				t.Errorf("%v: %d products with full vectors and %d others in %d iterations", m, pulls, pushes, got.Iterations)
			}
			if m == ClusterISTA && got.Iterations != want.Iterations {
				t.Errorf("%v, full from %v: %d iterations, want %d", m, from, got.Iterations, want.Iterations)
			}
			if !got.Converged || got.Support != want.Support || math.Abs(got.Objective-want.Objective) > 1e-16 {
				t.Errorf("%v, full from %v: %+v, want %+v", m, from, got, want)
			}
			for i, p := range want.P.All() {
				if q, ok := got.P.At(i); !ok || math.Abs(p-q) > 1e-13 {
					t.Fatalf("%v, full from %v: %v at %d, want %v", m, from, q, i, p)
				}
			}
		}
	}
}

func TestLocalClusterErrors(t *testing.T) {
	g := samples.Build[float64](t, samples.Path(4).Beside(samples.Blank(1)).Both(), matrix.CSR)
	for _, c := range []struct {
		reason string
		g      matrix.Source[float64]
		seeds  []int
		o      LocalClusterOptions
		want   string
	}{
		{"no seed", g, nil, LocalClusterOptions{}, "LocalCluster: the list of seeds is empty"},
		{"an isolated seed", g, []int{1, 4}, LocalClusterOptions{}, "LocalCluster: seed 4 is a vertex without edges"},
		{"α of 1", g, []int{0}, LocalClusterOptions{Alpha: 1}, "LocalCluster: alpha is 1, want between 0 and 1"},
		{"α below", g, []int{0}, LocalClusterOptions{Alpha: -0.1}, "LocalCluster: alpha is -0.1"},
		{"α NaN", g, []int{0}, LocalClusterOptions{Alpha: math.NaN()}, "LocalCluster: alpha is NaN"},
		{"ρ above", g, []int{0}, LocalClusterOptions{Rho: 2}, "LocalCluster: rho is 2"},
		{"ε above", g, []int{0}, LocalClusterOptions{Epsilon: 1}, "LocalCluster: epsilon is 1"},
		{"iterations", g, []int{0}, LocalClusterOptions{MaxIterations: -1}, "LocalCluster: the number of iterations is -1"},
		{"the method", g, []int{0}, LocalClusterOptions{Method: 3}, "LocalCluster: the method is 3"},
		{"a directed graph", samples.Build[float64](t, samples.Path(4), matrix.CSR), []int{0}, LocalClusterOptions{}, "LocalCluster: the graph is directed: there is an edge from 0 to 1 and none back"},
	} {
		res, err := LocalCluster(c.g, c.seeds, c.o)
		var p *workflow.ParameterError
		if res != nil || !errors.As(err, &p) || len(err.Error()) < len(c.want) || err.Error()[:len(c.want)] != c.want {
			t.Errorf("%s: %v, want %q", c.reason, err, c.want)
		}
	}
	if _, err := LocalCluster(g, []int{5}, LocalClusterOptions{}); !errors.Is(err, matrix.ErrIndex) {
		t.Errorf("a seed outside: %v", err)
	}
	res, err := LocalCluster(g, []int{0}, LocalClusterOptions{MaxIterations: 1})
	if err != nil || res.Converged || res.Iterations != 1 || !(res.KKT > 1e-3) {
		t.Errorf("one iteration: %+v, %v", res, err)
	}
}

func TestLocalClusterOfKarate(t *testing.T) {
	g := samples.Own(t, testdata.Karate)
	res := samples.Must[*LocalClusterResult](t)(LocalCluster(g, []int{33}, LocalClusterOptions{Rho: 1e-3, Sweep: true}))
	// The instructor's 33 has its faction around it, the president's 0 is not in it.
	if slices.Contains(res.Cut.Vertices, 0) || !slices.Contains(res.Cut.Vertices, 32) || res.Cut.Conductance > 0.2 {
		t.Errorf("%+v", res.Cut)
	}
}

// A batch agrees with single queries.
func TestClusterBatch(t *testing.T) {
	c := samples.Must[*Clusterer](t)(NewClusterer(samples.Build[float64](t, samples.Random(300, 1500, 4, true), matrix.CSR), workflow.Run{}))
	var seeds []int
	for v, list := range undirected(samples.Random(300, 1500, 4, true)) {
		if len(list) > 0 && v%5 == 0 {
			seeds = append(seeds, v)
		}
	}
	seeds = append(seeds, seeds[0]) // a repeated seed
	for _, m := range clusterMethods {
		for _, tile := range []int{0, 7, 1} {
			if tile == 1 && m != ClusterPush {
				continue
			}
			o := LocalClusterOptions{Method: m, Rho: 2e-3, Epsilon: 1e-6}
			aside := 0
			o.Trace = func(tr ops.Trace) {
				if tr.Op == "Assign" {
					aside++
				}
			}
			b := samples.Must[*ClusterBatch](t)(c.Batch(seeds, tile, o))
			if !b.Converged || b.KKT > 1.001e-6 || b.Iterations == 0 {
				t.Errorf("%v: %+v", m, b)
			}
			if tile == 0 && (m != ClusterFISTA) != (aside > 1) {
				t.Errorf("%v: rows were gathered from %d parts", m, aside)
			}
			o.Trace = nil
			for k, v := range seeds {
				one := samples.Must[*LocalClusterResult](t)(c.Cluster([]int{v}, o))
				seen := int64(0)
				for i, p := range b.P.Row(k) {
					if q, ok := one.P.At(i); !ok || math.Abs(p-q) > 1e-6 {
						t.Fatalf("%v in tiles of %d, seed %d: %v at %d, alone %v", m, tile, v, p, i, q)
					}
					seen++
				}
				if seen != one.Support {
					t.Errorf("%v: %d in the support of seed %d, alone %d", m, seen, v, one.Support)
				}
			}
		}
	}
	if _, err := c.Batch([]int{0}, -1, LocalClusterOptions{}); !errors.As(err, new(*workflow.ParameterError)) {
		t.Errorf("a negative tile: %v", err)
	}
}

func TestLocalClusterOnDevice(t *testing.T) {
	d := samples.RealOrEmulated(t)
	for _, c := range []struct {
		reason string
		s      samples.Sample
		seeds  []int
		rho    float64
	}{
		{"a path", samples.Path(40).Both(), []int{4}, 1e-3},
		{"hubs", samples.Random(200, 900, 1, true), []int{1, 7}, 1e-4},
		{"loops and isolated vertices", samples.Clique(5, true).Beside(samples.Blank(3)), []int{2}, 1e-2},
		{"nothing", samples.Star(9).Both(), []int{0}, 0.9},
	} {
		t.Run(c.reason, func(t *testing.T) {
			near := undirected(c.s)
			o := lgcOracle{near, seeded(c.s.N, c.seeds), 0.15, c.rho}
			least := o.objective(o.solve())
			for g, how := range samples.Guises {
				if g > 0 && d.E != nil && !longtest.Enabled() {
					break
				}
				there := samples.Must[*Clusterer](t)(NewClusterer(samples.Move[float32](t, c.s, how, d.Device), workflow.Run{}))
				for k, m := range clusterMethods {
					what := fmt.Sprintf("%s, %v", how.Name, m)
					there.fullFrom = fullShares[2*((k+len(c.seeds))%2)] // each of full and sparse vectors for every method
					res := samples.Must[*LocalClusterResult](t)(there.Cluster(c.seeds, LocalClusterOptions{Rho: c.rho, Method: m, Sweep: true}))
					if res.P.Place() != d.Device {
						t.Errorf("%s: p lives at %v", what, res.P.Place())
					}
					checkCluster(t, what, o, least, 1e-3, res)
					checkCut(t, what, near, res)
					if how.Name != "rows" {
						break
					}
				}
				if how.Name == "rows" {
					b := samples.Must[*ClusterBatch](t)(there.Batch(c.seeds, 0, LocalClusterOptions{Rho: c.rho}))
					if !b.Converged || b.P.Place() != d.Device {
						t.Errorf("a batch: %+v", b)
					}
				}
			}
		})
	}
}

// Clusters around each team of the football games are its conference, as far
// as there are conferences: Girvan and Newman (PNAS 99, 2002) count 11 of 8 to
// 12 teams and 5 to 8 independents.
func TestLocalClusterOfFootball(t *testing.T) {
	g := samples.Shared(t, "graphs/football.mtx.gz")
	text, err := os.ReadFile(filepath.Join(samples.Folder(), "graphs", "football.labels.tsv"))
	if err != nil {
		t.Skip(err)
	}
	conference := map[int]string{}
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if v, err := strconv.Atoi(fields[0]); err == nil && len(fields) == 4 {
			conference[v-1] = fields[3]
		}
	}
	n, _ := g.Dims()
	if len(conference) != n {
		t.Fatalf("labels of %d teams, want %d", len(conference), n)
	}
	c := samples.Must[*Clusterer](t)(NewClusterer(g, workflow.Run{}))
	f1, jaccard := 0.0, 0.0
	for v := range n {
		res := samples.Must[*LocalClusterResult](t)(c.Cluster([]int{v}, LocalClusterOptions{Rho: 2e-3, Sweep: true}))
		both, members := 0, 0
		for u := range n {
			if conference[u] == conference[v] {
				members++
				if slices.Contains(res.Cut.Vertices, u) {
					both++
				}
			}
		}
		found := len(res.Cut.Vertices)
		f1 += 2 * float64(both) / float64(found+members) / float64(n)
		jaccard += float64(both) / float64(found+members-both) / float64(n)
	}
	t.Logf("mean F1 %.3f, mean Jaccard %.3f", f1, jaccard)
	if f1 < 0.79 || jaccard < 0.7 { // 0.836 and 0.758
		t.Errorf("mean F1 %.3f and Jaccard %.3f with the conferences", f1, jaccard)
	}
}

// On real graphs all methods find a point that meets the conditions, and the
// same one.
func TestLocalClusterOfLargeGraphs(t *testing.T) {
	samples.Big(t)
	for _, name := range []string{"graphs/ca-GrQc.mtx.gz", "graphs/email-Enron.mtx.gz"} {
		g := samples.Shared(t, name)
		c := samples.Must[*Clusterer](t)(NewClusterer(g, workflow.Run{}))
		near := undirected(sampleOf(g))
		for k, seed := range []int{5, 100, 1000} {
			if !longtest.Takes(k, 3) {
				continue
			}
			o := lgcOracle{near, seeded(len(near), []int{seed}), 0.15, 1e-5}
			best := samples.Must[*LocalClusterResult](t)(c.Cluster([]int{seed}, LocalClusterOptions{Rho: o.rho, Epsilon: 1e-9}))
			for _, m := range clusterMethods {
				res := samples.Must[*LocalClusterResult](t)(c.Cluster([]int{seed}, LocalClusterOptions{Rho: o.rho, Method: m, Sweep: true}))
				checkCluster(t, fmt.Sprintf("%s from %d, %v", name, seed, m), o, best.Objective, 1e-3, res)
				if res.Cut.Conductance >= 1 || res.Cut.Edges > res.Cut.Volume {
					t.Errorf("%s from %d: %+v", name, seed, res.Cut)
				}
			}
		}
	}
}

// sampleOf is a matrix as a sample.
func sampleOf(a *matrix.Matrix[float64]) samples.Sample {
	s := samples.Sample{}
	s.M, s.N = a.Dims()
	for c := range a.All() {
		s.Edges = append(s.Edges, samples.Edge{From: c.Row, To: c.Col, Weight: 1})
	}
	return s
}
