package links

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
	"github.com/hiveblas/hiveblas/testdata"
	"pgregory.net/rapid"
)

// The graph and the links that are held out make up the graph again; pairs and rivals have no edge.
func TestHoldOutLinks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(t, "n")
		s := samples.DrawSample(t, n, n)
		if rapid.Bool().Draw(t, "symmetric") {
			for _, e := range slices.Clone(s.Edges) {
				s.Edges = append(s.Edges, samples.Edge{From: e.To, To: e.From, Weight: e.Weight})
			}
		}
		g := samples.Build[float64](t, s, rapid.SampledFrom([]matrix.Format{matrix.CSR, matrix.Bitmap}).Draw(t, "format"))
		o := HoldOutOptions{Share: rapid.Float64Range(.01, .99).Draw(t, "share"), Rivals: rapid.IntRange(1, 5).Draw(t, "rivals"), Seed: rapid.Uint64().Draw(t, "seed")}
		rest, held, err := HoldOutLinks(g, o)
		if err != nil {
			t.Fatal(err)
		}
		edge := map[[2]int32]float64{}
		both, loops := true, 0
		for c, x := range g.All() {
			edge[[2]int32{int32(c.Row), int32(c.Col)}] = x
			if _, back := g.At(c.Col, c.Row); !back {
				both = false
			}
			if c.Row == c.Col {
				loops++
			}
		}
		all := len(edge) - loops
		if both {
			all /= 2
		}
		if want := int(math.Round(o.Share * float64(all))); len(held.Edges) != want {
			t.Fatalf("%d of %d edges are held out, want %d", len(held.Edges), all, want)
		}
		for c, x := range rest.All() {
			e := [2]int32{int32(c.Row), int32(c.Col)}
			if y, ok := edge[e]; !ok || x != y {
				t.Fatalf("the rest has %v with value %v", e, x)
			}
			delete(edge, e)
		}
		for _, e := range held.Edges {
			back := [2]int32{e[1], e[0]}
			if _, ok := edge[e]; !ok || e[0] == e[1] {
				t.Fatalf("%v is held out and still there, or no edge", e)
			}
			delete(edge, e)
			if _, ok := edge[back]; both && !ok {
				t.Fatalf("%v is held out, and its other direction is not", e)
			} else if both {
				delete(edge, back)
			}
		}
		if len(edge) > 0 {
			t.Fatalf("%v are lost", edge)
		}
		for k, e := range held.Others {
			if _, ok := g.At(int(e[0]), int(e[1])); ok || e[0] == e[1] {
				t.Fatalf("pair %d, %v, is an edge or a vertex", k, e)
			}
		}
		if len(held.Rivals) != len(held.Edges)*o.Rivals {
			t.Fatalf("%d rivals of %d edges", len(held.Rivals), len(held.Edges))
		}
		for k, v := range held.Rivals {
			u := held.Edges[k/o.Rivals][0]
			if v < 0 {
				continue
			}
			if _, ok := g.At(int(u), int(v)); ok || u == v {
				t.Fatalf("rival %d of %d has an edge, or is the vertex", v, u)
			}
		}
	})
}

// The area and the ranks equal plain loops over all pairs, with ties.
func TestMeasureLinks(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	g := samples.Own(t, testdata.Karate)
	_, held, err := HoldOutLinks(g, HoldOutOptions{Share: .4, Rivals: 7, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	held.Rivals[3], held.Rivals[9] = -1, -1
	const dims = 3
	val := make([]float32, 34*dims)
	for k := range val {
		val[k] = float32(rng.IntN(4))
	}
	clear(val[:dims])
	vectors := sure.Get(matrix.FromDense(34, dims, val))
	for _, score := range []LinkScore{ScoreDot, ScoreCosine} {
		of := func(u, v int32) float64 {
			var dot, a, b float64
			for k := range int32(dims) {
				x, y := float64(val[u*dims+k]), float64(val[v*dims+k])
				dot, a, b = dot+x*y, a+x*x, b+y*y
			}
			if score == ScoreCosine && dot != 0 {
				dot /= math.Sqrt(a) * math.Sqrt(b)
			}
			return dot
		}
		wins := func(x, y float64) float64 {
			switch {
			case x > y:
				return 1
			case x == y:
				return .5
			}
			return 0
		}
		var want LinkQuality
		for k, e := range held.Edges {
			for _, f := range held.Others {
				want.AUC += wins(of(e[0], e[1]), of(f[0], f[1])) / float64(len(held.Edges)*len(held.Others))
			}
			rank := 1.0
			for _, v := range held.Rivals[7*k : 7*k+7] {
				if v >= 0 {
					rank += wins(of(e[0], v), of(e[0], e[1]))
				}
			}
			want.MRR += 1 / rank / float64(len(held.Edges))
		}
		for threads := range 3 {
			got, err := MeasureLinks(vectors, held, MeasureOptions{Run: workflow.Run{Threads: threads}, Score: score})
			if err != nil || math.Abs(got.AUC-want.AUC) > 1e-12 || math.Abs(got.MRR-want.MRR) > 1e-12 {
				t.Errorf("%v: %+v, want %+v (%v)", score, got, want, err)
			}
		}
	}
	none, err := MeasureLinks(vectors, &LinkSet{})
	if err != nil || !math.IsNaN(none.AUC) || !math.IsNaN(none.MRR) {
		t.Errorf("without links: %+v, %v", none, err)
	}
}

func TestLinkErrors(t *testing.T) {
	t.Parallel()
	g := samples.Own(t, testdata.Karate)
	var bad *workflow.ParameterError
	for reason, o := range map[string]HoldOutOptions{"all": {Share: 1}, "less than none": {Share: -.1}, "rivals": {Rivals: -1}, "method": {Run: workflow.Run{Method: workflow.Fused}}} {
		if _, _, err := HoldOutLinks(g, o); !errors.As(err, &bad) {
			t.Errorf("%s: %v", reason, err)
		}
	}
	var shape *matrix.DimensionError
	if _, _, err := HoldOutLinks(matrix.New[bool](2, 3)); !errors.As(err, &shape) {
		t.Errorf("a rectangle: %v", err)
	}
	vectors := sure.Get(matrix.NewFull[float32](34, 2, 1))
	if _, err := MeasureLinks(vectors, nil); !errors.As(err, &bad) {
		t.Errorf("no set: %v", err)
	}
	if _, err := MeasureLinks(vectors, &LinkSet{}, MeasureOptions{Score: 7}); !errors.As(err, &bad) {
		t.Errorf("no score: %v", err)
	}
	var index *matrix.IndexError
	for reason, s := range map[string]*LinkSet{"edge": {Edges: [][2]int32{{0, 34}}}, "pair": {Others: [][2]int32{{-1, 0}}}, "rival": {Edges: [][2]int32{{0, 1}}, Rivals: []int32{-2}}} {
		if _, err := MeasureLinks(vectors, s); !errors.As(err, &index) {
			t.Errorf("%s: %v", reason, err)
		}
	}
}

// Any number of threads holds out the same links and measures the same quality, and vectors of any
// format have the quality of full ones.
func TestLinksByThreads(t *testing.T) {
	t.Parallel()
	both := samples.Skewed(t, 12)
	n, _ := both.Dims()
	one := matrix.New[float64](n, n)
	sure.Do(ops.Select(one, semiring.Tril[float64](0), both))
	x := samples.DrawFeatures(t, n, 5, 1, matrix.Full)
	thin := samples.DrawFeatures(t, n, 5, .4, matrix.CSR)
	turned := matrix.New[float32](5, n)
	sure.Do(ops.Transpose(turned, thin))
	filled := sure.Get(matrix.FromDense(n, 5, sure.Get(thin.Dense(0))))
	for name, g := range map[string]*matrix.Matrix[float64]{"symmetric": both, "directed": one} {
		held := samples.SameByThreads(t, name, func(run workflow.Run) (*LinkSet, error) {
			rest, held, err := HoldOutLinks(g, HoldOutOptions{Run: workflow.Tuned(run, workflow.BlockWork(1<<8)), Rivals: 3, Seed: 5})
			if err != nil {
				return nil, err
			}
			if m := (g.NVals() - rest.NVals()) / int64(len(held.Edges)); m != map[string]int64{"symmetric": 2, "directed": 1}[name] {
				t.Errorf("%s: %d entries of an edge are held out", name, m)
			}
			return held, nil
		})
		for _, score := range []LinkScore{ScoreDot, ScoreCosine} {
			of := func(v matrix.Source[float32]) LinkQuality {
				return samples.SameByThreads(t, name, func(run workflow.Run) (LinkQuality, error) {
					return MeasureLinks(v, held, MeasureOptions{Run: run, Score: score})
				})
			}
			if q := of(x); !(q.AUC > .2 && q.AUC < .8) {
				t.Errorf("%s, %v: drawn vectors have the quality %+v", name, score, q)
			}
			if a, b, c := of(filled), of(thin), of(turned.T()); a != b || a != c {
				t.Errorf("%s, %v: full vectors have the quality %+v, sparse ones %+v, transposed ones %+v", name, score, a, b, c)
			}
		}
	}
}
