package communities

import (
	"errors"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
	"github.com/hiveblas/hiveblas/testdata"
	"pgregory.net/rapid"
)

// modularityNaively is the definition, over all pairs of vertices of a symmetric sample.
func modularityNaively(s samples.Sample, part []int32, resolution float64) float64 {
	a := make([][]float64, s.N)
	for v := range a {
		a[v] = make([]float64, s.N)
	}
	for c, w := range s.Weights() {
		a[c.Row][c.Col] += float64(w)
		if c.Row == c.Col {
			a[c.Row][c.Col] += float64(w)
		}
	}
	degree, total := make([]float64, s.N), 0.0
	for v := range a {
		for _, x := range a[v] {
			degree[v] += x
			total += x
		}
	}
	if total == 0 {
		return 0
	}
	q := 0.0
	for v := range a {
		for u := range a {
			if part[v] == part[u] {
				q += a[v][u]/total - resolution*degree[v]*degree[u]/total/total
			}
		}
	}
	return q
}

// drawUndirected draws a symmetric sample.
func drawUndirected(t *rapid.T, n int) samples.Sample {
	s := samples.DrawSample(t, n, n)
	return s.Both()
}

func drawPart(t *rapid.T, n int) []int32 {
	part := make([]int32, n)
	for v := range part {
		part[v] = int32(rapid.IntRange(0, 3).Draw(t, "community"))
	}
	return part
}

func TestModularityAgainstTheDefinition(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(r, "n")
		s, part := drawUndirected(r, n), drawPart(r, n)
		resolution := rapid.SampledFrom([]float64{.5, 1, 2.25}).Draw(r, "resolution")
		g := samples.Build[float64](r, s, matrix.CSR)
		got, err := Modularity(g, samples.VectorOf(t, part), ModularityOptions{Resolution: resolution})
		if want := modularityNaively(s, part, resolution); err != nil || math.Abs(got-want) > 1e-12 {
			r.Fatalf("got %v, want %v, error %v", got, want, err)
		}
	})
}

// checkCommunities checks what holds for every result: numbers by size, modularity by the
// definition, nested levels.
func checkCommunities(t rapid.TB, s samples.Sample, res *CommunitiesResult, resolution float64) {
	t.Helper()
	part := sure.Get(res.Membership.Dense(-1))
	if len(part) != s.N {
		t.Fatalf("%d entries for %d vertices", len(part), s.N)
	}
	sizes, first := make([]int64, res.Count), make([]int, res.Count)
	for v, c := range part {
		if c < 0 || int(c) >= res.Count {
			t.Fatalf("vertex %d is in community %d of %d", v, c, res.Count)
		}
		if sizes[c] == 0 {
			first[c] = v
		}
		sizes[c]++
	}
	for c := range sizes {
		if sizes[c] == 0 {
			t.Errorf("community %d is empty", c)
		}
		if c > 0 && (sizes[c] > sizes[c-1] || sizes[c] == sizes[c-1] && first[c] < first[c-1]) {
			t.Errorf("communities %d and %d are not in the order of sizes", c-1, c)
		}
	}
	if res.Count > 0 && sizes[0] != res.Largest {
		t.Errorf("the largest has %d vertices, reported %d", sizes[0], res.Largest)
	}
	if want := modularityNaively(s, part, resolution); math.Abs(res.Modularity-want) > 1e-12 {
		t.Errorf("modularity %v, by the definition %v", res.Modularity, want)
	}
	if len(res.Levels) == 0 || !res.Levels[len(res.Levels)-1].Equal(res.Membership) {
		t.Fatal("the last level is not the membership")
	}
	for k := range res.Levels[:len(res.Levels)-1] {
		next, in := sure.Get(res.Levels[k+1].Dense(-1)), map[int32]int32{}
		for v, c := range sure.Get(res.Levels[k].Dense(-1)) {
			if d, ok := in[c]; ok && d != next[v] {
				t.Fatalf("community %d of level %d is in several of the next", c, k)
			}
			in[c] = next[v]
		}
	}
}

// pieces returns the number of connected pieces of the communities, over edges of positive weight.
func pieces(s samples.Sample, part []int32) int {
	root := make([]int, s.N)
	for v := range root {
		root[v] = v
	}
	count := s.N
	var find func(v int) int
	find = func(v int) int {
		if root[v] != v {
			root[v] = find(root[v])
		}
		return root[v]
	}
	for c, w := range s.Weights() {
		if a, b := find(c.Row), find(c.Col); w > 0 && part[c.Row] == part[c.Col] && a != b {
			root[a] = b
			count--
		}
	}
	return count
}

func TestCommunitiesOfRandomGraphs(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s := drawUndirected(r, rapid.IntRange(0, 40).Draw(r, "n"))
		o := CommunitiesOptions{
			Leiden: rapid.Bool().Draw(r, "leiden"), MaxLevels: rapid.IntRange(0, 2).Draw(r, "levels"), Sweeps: rapid.IntRange(0, 3).Draw(r, "sweeps"),
			Resolution: rapid.SampledFrom([]float64{0, .3, 1, 3}).Draw(r, "resolution"),
			Passes:     rapid.IntRange(0, 3).Draw(r, "passes"), RandomSeed: rapid.Uint64().Draw(r, "seed"),
		}
		single := make([]int32, s.N)
		for v := range single {
			single[v] = int32(v)
		}
		resolution := o.Resolution
		if resolution == 0 {
			resolution = 1
		}
		least := modularityNaively(s, single, resolution)
		if rapid.Bool().Draw(r, "start") {
			start := drawPart(r, s.N)
			o.Start = samples.VectorOf(t, start)
			least = modularityNaively(s, start, resolution)
		}
		res, err := Communities(samples.Build[float64](r, s, matrix.CSR), o)
		if err != nil {
			r.Fatal(err)
		}
		checkCommunities(r, s, res, resolution)
		if res.Modularity < least-1e-12 {
			r.Errorf("modularity %v, at the start %v", res.Modularity, least)
		}
		if k := pieces(s, sure.Get(res.Membership.Dense(-1))); o.Leiden && k != res.Count {
			r.Errorf("%d communities in %d connected pieces", res.Count, k)
		}
	})
}

// No single move of a vertex improves what moves of vertices end with.
func TestMovesEndInALocalOptimum(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(r, "n")
		s := drawUndirected(r, n)
		l, err := levelGraphOf("test", matrix.Source[float64](samples.Build[float64](r, s, matrix.CSR)), workflow.Run{})
		if err != nil {
			r.Fatal(err)
		}
		o := CommunitiesOptions{RandomSeed: rapid.Uint64().Draw(r, "seed")}
		if err := o.complete("test"); err != nil {
			r.Fatal(err)
		}
		m := newLocalMoving(l, &o, 0)
		m.start(nil)
		if rapid.Bool().Draw(r, "start") {
			m.start(drawPartBelow(r, n))
		}
		if _, err := runSweeps(m, moveSweeps, 1e-300); err != nil {
			r.Fatal(err)
		}
		part := slices.Clone(m.label)
		best := modularityNaively(s, part, 1)
		for v := range part {
			own := part[v]
			for c := range int32(2*n + 1) {
				part[v] = c
				if q := modularityNaively(s, part, 1); q > best+1e-9 && l.degree[v] > 0 {
					r.Fatalf("vertex %d goes from %d to %d: %v, at the end of the moves %v", v, own, c, q, best)
				}
			}
			part[v] = own
		}
	})
}

// ring returns cliques of size vertices, each joined to the next by an edge.
func ring(cliques, size int) samples.Sample {
	s := samples.Blank(0)
	for range cliques {
		s = s.Beside(unweighted(samples.Clique(size, false)))
	}
	for c := range cliques {
		e := samples.Edge{From: c * size, To: (c+1)%cliques*size + 1, Weight: 1}
		s.Edges = append(s.Edges, e, samples.Edge{From: e.To, To: e.From, Weight: 1})
	}
	return s
}

// unweighted returns a sample with all weights 1.
func unweighted(s samples.Sample) samples.Sample {
	for k := range s.Edges {
		s.Edges[k].Weight = 1
	}
	return s
}

func karateSample(t testing.TB) samples.Sample {
	s := samples.Blank(34)
	for c := range samples.Own(t, testdata.Karate).All() {
		s.Edges = append(s.Edges, samples.Edge{From: c.Row, To: c.Col, Weight: 1})
	}
	return s
}

func TestCommunitiesKnown(t *testing.T) {
	bridge := unweighted(samples.Clique(5, false)).Beside(unweighted(samples.Clique(7, false)))
	bridge.Edges = append(bridge.Edges, samples.Edge{From: 0, To: 5, Weight: 1}, samples.Edge{From: 5, To: 0, Weight: 1})
	for _, c := range []struct {
		reason string
		s      samples.Sample
		count  int
		q      float64 // the best known, or 0
		within float64
	}{
		{"two cliques with a bridge", bridge, 2, 0, 0},
		{"a ring of cliques", ring(8, 6), 8, 0, 0},
		{"cliques without edges between", unweighted(samples.Clique(4, false)).Beside(unweighted(samples.Clique(3, false))).Beside(samples.Blank(2)), 4, 0, 0},
		{"no edge", samples.Blank(3), 3, 0, 0},
		{"no vertex", samples.Blank(0), 0, 0, 0},
		{"loops only", unweighted(samples.Clique(1, true)).Beside(unweighted(samples.Clique(1, true))), 2, .5, 0},
		// Brandes et al. 2008, doi:10.1109/TKDE.2007.190689: the optimum.
		{"karate", karateSample(t), 4, .419789, 1e-6},
	} {
		t.Run(c.reason, func(t *testing.T) {
			best := math.Inf(-1)
			for seed := range uint64(4) {
				res, err := Communities(samples.Build[float64](t, c.s, matrix.CSR),
					CommunitiesOptions{Leiden: true, Passes: 4, RandomSeed: seed})
				if err != nil {
					t.Fatal(err)
				}
				checkCommunities(t, c.s, res, 1)
				best = max(best, res.Modularity)
				if c.q == 0 && res.Count != c.count {
					t.Errorf("seed %d: %d communities, want %d", seed, res.Count, c.count)
				}
			}
			if c.q > 0 && math.Abs(best-c.q) > c.within {
				t.Errorf("modularity %v, want %v", best, c.q)
			}
		})
	}
}

// The result does not depend on the number of threads, and depends on the seed.
func TestCommunitiesAreDeterministic(t *testing.T) {
	fine := workflow.Tuned(workflow.Tuned(workflow.Run{}, moveGrain{moved: 1, work: 1, wishes: 1, drawn: 100}), workflow.BlockWork(100))
	scale := 10
	if longtest.Enabled() {
		scale = 12
	}
	skew := gen.CSR(gen.Symmetrise(gen.RMAT(scale, 8, gen.RMATOptions{})))
	tuples, _ := gen.Planted(1<<scale, 8<<scale, .4, 1)
	planted := gen.CSR(gen.Symmetrise(tuples))
	for name, g := range map[string]*gen.Graph{"R-MAT": skew, "planted": planted} {
		a := samples.Must[*matrix.Matrix[float64]](t)(matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, gen.UniformFloats(g, 1, true)))
		for _, leiden := range []bool{false, true} {
			var first, bare *CommunitiesResult
			differ := false
			for _, threads := range []int{1, 2, 3, 8, 16} {
				o := CommunitiesOptions{Leiden: leiden, Run: fine, RandomSeed: 1}
				o.Threads = threads
				res := samples.Must[*CommunitiesResult](t)(Communities(a, o))
				unit := samples.Must[*CommunitiesResult](t)(Communities(a.Pattern(), o))
				if first == nil {
					first, bare = res, unit
				}
				for want, got := range map[*CommunitiesResult]*CommunitiesResult{first: res, bare: unit} {
					if !want.Membership.Equal(got.Membership) || want.Modularity != got.Modularity || len(want.Levels) != len(got.Levels) {
						t.Errorf("%s, Leiden %v: %d threads give modularity %v, one gives %v", name, leiden, threads, got.Modularity, want.Modularity)
					}
				}
			}
			for seed := range uint64(4) {
				res := samples.Must[*CommunitiesResult](t)(Communities(a, CommunitiesOptions{Leiden: leiden, Run: fine, RandomSeed: seed + 2}))
				differ = differ || !res.Membership.Equal(first.Membership)
			}
			if !differ {
				t.Errorf("%s, Leiden %v: the seed changes nothing", name, leiden)
			}
		}
	}
}

// Contraction keeps the modularity: of the communities as vertices, with half of their inner weight
// as loops, and exactly inside the workflow.
func TestContractionKeepsModularity(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(r, "n")
		s := drawUndirected(r, n)
		g := samples.Build[float64](r, s, matrix.CSR)
		var src matrix.Source[float64] = g
		l, err := levelGraphOf("test", src, workflow.Run{})
		if err != nil {
			r.Fatal(err)
		}
		part, parts := numbered(2, drawPartBelow(r, n), l.degree)
		b, err := l.contract(part, parts, workflow.Run{Threads: rapid.IntRange(1, 3).Draw(r, "threads")})
		if err != nil {
			r.Fatal(err)
		}
		product, err := l.contract(part, parts, workflow.Run{Method: workflow.Pipeline})
		if err != nil {
			r.Fatal(err)
		}
		var rows []int
		for c := range b.n {
			rows = append(rows, slices.Repeat([]int{c}, int(b.ptr[c+1]-b.ptr[c]))...)
		}
		var cols []int
		for _, d := range b.idx {
			cols = append(cols, int(d))
		}
		values, entries := sure.Get(matrix.FromTuples(b.n, b.n, rows, cols, b.weight, nil)), product.values.NVals()
		for at, x := range product.values.All() {
			if y, ok := values.At(at.Row, at.Col); !ok || y != x {
				r.Fatalf("entry (%d, %d) is %d, in the product %d", at.Row, at.Col, y, x)
			}
		}
		if n := values.NVals(); n != entries || !slices.Equal(b.degree, product.degree) {
			r.Fatalf("%d entries, degrees %v; the product has %d, %v", n, b.degree, entries, product.degree)
		}
		each := make([]int32, parts)
		for c := range each {
			each[c] = int32(c)
		}
		if x, y := l.modularity(workflow.Run{Threads: 1}, part, 1), b.modularity(workflow.Run{Threads: 1}, each, 1); x != y {
			r.Fatalf("modularity %v, after contraction %v", x, y)
		}
		if b.total != l.total {
			r.Fatalf("weight %d, after contraction %d", l.total, b.total)
		}
		coarse := matrix.New[float64](parts, parts)
		for c, x := range values.All() {
			y := float64(x)
			if c.Row == c.Col {
				y /= 2
			}
			sure.Do(coarse.Set(c.Row, c.Col, y))
		}
		for v, c := range part {
			if c < 0 {
				part[v] = int32(v + n)
			}
		}
		x, e1 := Modularity(g, samples.VectorOf(t, part))
		y, e2 := Modularity(coarse, samples.VectorOf(t, each))
		if e1 != nil || e2 != nil || math.Abs(x-y) > 1e-14 {
			r.Fatalf("Modularity %v, after contraction %v (%v, %v)", x, y, e1, e2)
		}
	})
}

// drawPartBelow draws a partition; one of its vertices names each part.
func drawPartBelow(t *rapid.T, n int) []int32 {
	part, least := drawPart(t, n), map[int32]int32{}
	for v, c := range part {
		if _, ok := least[c]; !ok {
			least[c] = int32(v)
		}
		part[v] = least[c]
	}
	return part
}

// Element types, formats and scales of weights do not change the communities.
func TestCommunitiesOfElementTypes(t *testing.T) {
	s := unweighted(samples.Random(200, 800, 5, true))
	want := samples.Must[*CommunitiesResult](t)(Communities(samples.Build[float64](t, s, matrix.CSR)))
	checkCommunities(t, s, want, 1)
	same := func(reason string) func(res *CommunitiesResult, err error) {
		return func(res *CommunitiesResult, err error) {
			t.Helper()
			if err != nil {
				t.Fatalf("%s: %v", reason, err)
			}
			if !res.Membership.Equal(want.Membership) || math.Abs(res.Modularity-want.Modularity) > 1e-14 {
				t.Errorf("%s: modularity %v, want %v", reason, res.Modularity, want.Modularity)
			}
		}
	}
	ofType[int8](t, s, same)
	ofType[int32](t, s, same)
	ofType[uint16](t, s, same)
	ofMoreTypes(t, s, same)
	ofType[uint64](t, s, same)
	ofType[float32](t, s, same)
	ofType[float64](t, s, same)
	a := samples.Build[float64](t, s, matrix.CSR)
	same("the pattern")(Communities(a.Pattern()))
	same("the transpose")(Communities(a.T()))
	bools := matrix.New[bool](s.N, s.N)
	for c := range a.All() {
		sure.Do(bools.Set(c.Row, c.Col, true))
	}
	same("bools")(Communities(bools))
	for _, f := range []matrix.Format{matrix.CSR, matrix.Hypersparse, matrix.Bitmap} {
		same(fmt.Sprint(f))(Communities(samples.Build[float64](t, s, f)))
	}
	for _, factor := range []float64{.1, 1e-300, 1e300, math.Pi, 5e-324, 1 << 60, math.MaxFloat64} {
		b := a.Clone()
		for c := range a.All() {
			sure.Do(b.Set(c.Row, c.Col, factor))
		}
		same(fmt.Sprintf("weights of %g", factor))(Communities(b))
	}
}

func ofType[T semiring.Number](t *testing.T, s samples.Sample, same func(string) func(*CommunitiesResult, error)) {
	t.Helper()
	same(fmt.Sprintf("%T", *new(T)))(Communities(samples.Build[T](t, s, matrix.CSR)))
}

func TestCommunitiesErrors(t *testing.T) {
	weights := func(x float64) *matrix.Matrix[float64] {
		return samples.Must[*matrix.Matrix[float64]](t)(matrix.FromTuples(3, 3, []int{0, 1, 1, 2}, []int{1, 0, 2, 1}, []float64{1, 1, x, x}, nil))
	}
	good := weights(2)
	for _, c := range []struct {
		reason string
		g      *matrix.Matrix[float64]
		o      CommunitiesOptions
		want   any
		text   string
	}{
		{"a negative weight", weights(-1), CommunitiesOptions{}, new(*workflow.WeightError), "from 1 to 2 has weight -1"},
		{"NaN", weights(math.NaN()), CommunitiesOptions{}, new(*workflow.WeightError), "NaN"},
		{"an infinite weight", weights(math.Inf(1)), CommunitiesOptions{}, new(*workflow.WeightError), "+Inf"},
		{"a directed graph", samples.Build[float64](t, samples.Path(4), matrix.CSR), CommunitiesOptions{}, new(*workflow.ParameterError), "an edge from 0 to 1 and none back"},
		{"a directed graph, against the order", samples.Build[float64](t, samples.Path(4).Transposed(), matrix.CSR), CommunitiesOptions{}, new(*workflow.ParameterError), "an edge from 1 to 0 and none back"},
		{"a resolution of −1", good, CommunitiesOptions{Resolution: -1}, new(*workflow.ParameterError), "the resolution is -1"},
		{"a resolution of NaN", good, CommunitiesOptions{Resolution: math.NaN()}, new(*workflow.ParameterError), "the resolution is NaN"},
		{"a tolerance of 1", good, CommunitiesOptions{Tolerance: 1}, new(*workflow.ParameterError), "the tolerance is 1"},
		{"−1 sweeps", good, CommunitiesOptions{Sweeps: -1}, new(*workflow.ParameterError), "sweeps is -1"},
		{"−1 levels", good, CommunitiesOptions{MaxLevels: -1}, new(*workflow.ParameterError), "levels is -1"},
		{"−1 passes", good, CommunitiesOptions{Passes: -1}, new(*workflow.ParameterError), "passes is -1"},
		{"a negative start", good, CommunitiesOptions{Start: samples.VectorOf(t, []int32{0, -3})}, new(*workflow.ParameterError), "the start is -3 for vertex 1"},
		{"a long start", good, CommunitiesOptions{Start: samples.VectorOf(t, make([]int32, 4))}, new(*matrix.DimensionError), "at most 3"},
	} {
		_, err := Communities(c.g, c.o)
		if err == nil || !errors.As(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, want %T with %q", c.reason, err, c.want, c.text)
		}
	}
	differ := weights(1)
	sure.Do(differ.Set(0, 1, 5))
	var p *workflow.ParameterError
	if _, err := Communities(differ); !errors.As(err, &p) || !strings.Contains(err.Error(), "weights of the edges from 0 to 1 and back differ") {
		t.Errorf("weights that differ: %v", err)
	}
	if _, err := Modularity(differ, samples.VectorOf(t, []int32{0, 0, 0})); !errors.As(err, &p) {
		t.Errorf("Modularity of weights that differ: %v", err)
	}
	if _, err := Modularity(good, samples.VectorOf(t, []int32{0, 0, -1})); !errors.As(err, &p) {
		t.Errorf("Modularity with a negative community: %v", err)
	}
	var w *workflow.WeightError
	if _, err := Modularity(weights(-2), samples.VectorOf(t, []int32{0, 0, 1})); !errors.As(err, &w) {
		t.Errorf("Modularity of a negative weight: %v", err)
	}
	if _, err := Modularity(good, nil); err == nil {
		t.Error("Modularity of a nil membership has no error")
	} else if !strings.Contains(err.Error(), "Modularity: the membership is nil") {
		t.Errorf("Modularity of a nil membership: %v", err)
	}
	if q, err := Modularity(weights(math.MaxFloat64), samples.VectorOf(t, []int32{0, 1, 1})); err != nil || !(math.Abs(q) <= 1) {
		t.Errorf("Modularity of the largest weights: %v, %v", q, err)
	}
}

// A start of fewer vertices, and with gaps, as an earlier graph gives it.
func TestCommunitiesFromAStart(t *testing.T) {
	s := ring(5, 6)
	g := samples.Build[float64](t, s, matrix.CSR)
	start := matrix.NewVector[int32](20)
	for v := range 18 {
		sure.Do(start.Set(v, int32(100-v/6)))
	}
	res := samples.Must[*CommunitiesResult](t)(Communities(g, CommunitiesOptions{Start: start}))
	checkCommunities(t, s, res, 1)
	if res.Count != 5 {
		t.Errorf("%d communities, want 5", res.Count)
	}
	again := samples.Must[*CommunitiesResult](t)(Communities(g, CommunitiesOptions{Start: res.Membership}))
	if !again.Membership.Equal(res.Membership) {
		t.Error("a start at the result changes it")
	}
}

// nmi is the normalised mutual information of two partitions, by the arithmetic mean of entropies.
func nmi(x, y []int32) float64 {
	n := float64(len(x))
	joint, px, py := map[[2]int32]float64{}, map[int32]float64{}, map[int32]float64{}
	for v := range x {
		joint[[2]int32{x[v], y[v]}]++
		px[x[v]]++
		py[y[v]]++
	}
	entropy := func(p map[int32]float64) (h float64) {
		for _, k := range p {
			h -= k / n * math.Log(k/n)
		}
		return h
	}
	info := 0.0
	for k, c := range joint {
		info += c / n * math.Log(c*n/px[k[0]]/py[k[1]])
	}
	return 2 * info / (entropy(px) + entropy(py))
}

func TestCommunitiesFindWhatIsPlanted(t *testing.T) {
	tuples, groundTruth := gen.Planted(5000, 44000, .3, 3)
	g := gen.CSR(gen.Symmetrise(tuples))
	a := samples.Must[*matrix.Matrix[uint8]](t)(matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, make([]uint8, g.NNZ())))
	planted := samples.Must[float64](t)(Modularity(a.Pattern(), samples.VectorOf(t, groundTruth)))
	for _, leiden := range []bool{false, true} {
		res := samples.Must[*CommunitiesResult](t)(Communities(a.Pattern(), CommunitiesOptions{Leiden: leiden}))
		if x := nmi(sure.Get(res.Membership.Dense(-1)), groundTruth); x < .93 || res.Modularity < planted-.005 {
			t.Errorf("Leiden %v: mutual information %.3f; modularity %.4f, planted %.4f", leiden, x, res.Modularity, planted)
		}
	}
}

// The table has means of three runs of igraph 0.10.2's multilevel less about .005, and of leidenalg
// 0.9.1 less about .003.
func TestCommunitiesOfRealGraphs(t *testing.T) {
	for _, c := range []struct {
		name            string
		louvain, leiden float64
	}{
		{"ca-GrQc", .856, .863}, {"as-22july06", .655, .673}, {"email-Enron", .611, .622},
	} {
		a := samples.Shared(t, "graphs/"+c.name+".mtx.gz")
		g := simple(t, a)
		for leiden, least := range map[bool]float64{false: c.louvain, true: c.leiden} {
			res := samples.Must[*CommunitiesResult](t)(Communities(g, CommunitiesOptions{Leiden: leiden}))
			if res.Modularity < least {
				t.Errorf("%s, Leiden %v: modularity %v, want %v", c.name, leiden, res.Modularity, least)
			}
		}
		if !longtest.Enabled() {
			break
		}
	}
}

// simple returns a graph without directions, weights and loops.
func simple(t testing.TB, a *matrix.Matrix[float64]) *matrix.Matrix[float64] {
	t.Helper()
	n, _ := a.Dims()
	b := matrix.NewBuilder[float64](n, n)
	for c := range a.All() {
		if c.Row != c.Col {
			b.Add(c.Row, c.Col, 1)
			b.Add(c.Col, c.Row, 1)
		}
	}
	return samples.Must[*matrix.Matrix[float64]](t)(b.Build(semiring.Max[float64]()))
}

// The communities on a device are those on the host, and live there.
func TestCommunitiesOnDevice(t *testing.T) {
	d := samples.RealOrEmulated(t)
	rng := rand.New(rand.NewSource(1))
	for k, s := range samples.PlaceSamples() {
		if s.M != s.N || s.N == 0 || !longtest.Enabled() && d.E != nil && k%3 != 0 {
			continue
		}
		t.Run(s.Reason, func(t *testing.T) {
			s := s.Both()
			host := samples.Build[float64](t, s, matrix.CSR)
			o := CommunitiesOptions{Leiden: k%2 == 0, RandomSeed: rng.Uint64()}
			want := samples.Must[*CommunitiesResult](t)(Communities(host, o))
			for _, m := range []workflow.Method{workflow.Fused, workflow.Pipeline} {
				o.Method = m
				got := samples.Must[*CommunitiesResult](t)(Communities(samples.Move[float64](t, s, samples.Guises[k%len(samples.Guises)], d.Device), o))
				samples.SameVector(t, fmt.Sprintf("the membership, method %q", m), d.Device, got.Membership, want.Membership)
				sameCommunities(t, fmt.Sprintf("method %q", m), got, want)
			}
		})
	}
}

// Vertices that decide by operations make the moves of the host's loops: with weights, also of 0,
// loops, a start, on hosts and groups.
func TestCommunitiesByOperations(t *testing.T) {
	rng := rand.New(rand.NewSource(4))
	group := sure.Get(comm.LocalGroup(2))
	for k := range 6 {
		n := 20 + 60*k
		b := matrix.NewBuilder[float64](n, n)
		for range 3 * n {
			x, y := rng.Intn(n), rng.Intn(n)
			if rng.Intn(3) > 0 { // most edges are inside of groups of 20
				y = x/20*20 + rng.Intn(20)
			}
			w := float64(rng.Intn(4))
			if k%2 == 0 {
				w = 1
			}
			b.Add(x, y, w)
			b.Add(y, x, w)
		}
		a := sure.Get(b.Build(semiring.Max[float64]()))
		if k == 0 {
			a = simple(t, a) // of no weights once it is a pattern
		}
		o := CommunitiesOptions{Leiden: k%3 == 2, RandomSeed: rng.Uint64(), Resolution: 1 + float64(k%2)/3}
		if k == 4 {
			start := make([]int32, n)
			for v := range start {
				start[v] = int32(rng.Intn(n))
			}
			o.Start = sure.Get(matrix.VectorOf(start))
		}
		for _, g := range []workflow.Operand{a.View(), a.Pattern()} {
			o.Method = workflow.Auto
			want := samples.Must[*CommunitiesResult](t)(communitiesOf(g, []CommunitiesOptions{o}))
			o.Method = workflow.Pipeline
			for _, nondeterministic := range []bool{false, true} {
				o.Nondeterministic = nondeterministic
				got := samples.Must[*CommunitiesResult](t)(communitiesOf(g, []CommunitiesOptions{o}))
				sameCommunities(t, fmt.Sprintf("graph %d by operations", k), got, want)
			}
			o.Nondeterministic = false
		}
		want := samples.Must[*CommunitiesResult](t)(Communities(a, CommunitiesOptions{Leiden: o.Leiden, RandomSeed: o.RandomSeed}))
		sure.Do(a.Move(group))
		got := samples.Must[*CommunitiesResult](t)(Communities(a, CommunitiesOptions{Leiden: o.Leiden, RandomSeed: o.RandomSeed, Run: workflow.Run{Method: workflow.Pipeline}}))
		sameCommunities(t, fmt.Sprintf("graph %d by operations of a group", k), got, want)
	}
}

// Passes never lose modularity.
func TestPassesGain(t *testing.T) {
	g := gen.CSR(gen.Symmetrise(gen.RMAT(9, 8, gen.RMATOptions{})))
	a := samples.Must[*matrix.Matrix[bool]](t)(matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, make([]bool, g.NNZ())))
	for _, leiden := range []bool{false, true} {
		last := math.Inf(-1)
		for passes := 1; passes <= 8; passes++ {
			o := CommunitiesOptions{Leiden: leiden, Passes: passes, Tolerance: 1e-9}
			res := samples.Must[*CommunitiesResult](t)(Communities(a.Pattern(), o))
			if res.Modularity < last-1e-12 || res.Passes > passes {
				t.Errorf("Leiden %v: modularity %v after %d of %d passes, before %v", leiden, res.Modularity, res.Passes, passes, last)
			}
			last = res.Modularity
		}
	}
}

// gains is a sweeper whose sweeps gain shares of modularity, and then draws nothing.
type gains struct {
	list  []float64
	count int
}

func (g *gains) draw(sweep int) bool { return sweep < len(g.list) }
func (g *gains) freeNames()          {}
func (g *gains) sweep() (gain int64, moves int, err error) {
	if g.count++; g.count > len(g.list) {
		return 0, 0, nil
	}
	return int64(g.list[g.count-1] * gainScale), 1, nil
}

// Sweeps end by a small gain, without active vertices, or by their number, which the result says.
func TestSweeps(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		list   []float64
		sweeps int
		count  int
		capped bool
	}{
		{"a small gain", []float64{.1, .001, .1}, 3, 2, false},
		{"a small gain in the last sweep", []float64{.1, .001, .1}, 2, 2, false},
		{"the number", []float64{.1, .1, .1, .1}, 3, 3, true},
		{"one", []float64{.1, .1}, 1, 1, true},
		{"no active vertices", []float64{.011, .011}, 9, 3, false}, // all become active once,
		{"more than the largest number", slices.Repeat([]float64{.1}, 60), 50, moveSweeps, true},
	} {
		g := &gains{list: c.list}
		if capped, err := runSweeps(g, c.sweeps, .01); err != nil || capped != c.capped || g.count != c.count {
			t.Errorf("%s: %d sweeps, capped %v, want %d, %v (%v)", c.reason, g.count, capped, c.count, c.capped, err)
		}
	}
	tuples, _ := gen.Planted(2000, 20000, .4, 2)
	a := weighted(t, gen.CSR(gen.Symmetrise(tuples)), func(int, int) bool { return true })
	for _, o := range []CommunitiesOptions{{}, {Leiden: true}, {Nondeterministic: true}, {Run: workflow.Run{Method: workflow.Pipeline}}} {
		free := samples.Must[*CommunitiesResult](t)(Communities(a, o))
		o.Sweeps = 1
		one := samples.Must[*CommunitiesResult](t)(Communities(a, o))
		if free.Capped || !one.Capped || !(one.Modularity < free.Modularity) {
			t.Errorf("%+v: capped %v with modularity %v, and with one sweep %v with %v", o, free.Capped, free.Modularity, one.Capped, one.Modularity)
		}
	}
}
