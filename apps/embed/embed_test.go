package embed

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/apps/embed/links"
	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/search"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/splitmix"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
	"github.com/hiveblas/hiveblas/testdata"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// With as many dimensions as vertices, the products of the vectors of a pair and its context come
// near the minimum of the loss, which Levy and Goldberg (Neural word embedding as implicit matrix
// factorization, NIPS 2014) give: log #(u,v)/(n·k·P(v)), P the distribution of negatives. n is
// #(u) − #(u,v), since a negative that is the vertex of the context counts nothing.
func TestVectorsFactorise(t *testing.T) {
	longtest.SkipInTurns(t, 2, 4)
	t.Parallel()
	g := samples.Own(t, testdata.Karate)
	o := EmbedOptions{Dimensions: 40, Window: 1, Negatives: 2, Length: 200, PerStart: 10, Epochs: 20, Rate: .1, Seed: 3}
	sure.Do(o.complete("Embed"))
	d := sure.Get(newTrainer(g.Inside(), 34, &o))
	if d.parts != 1 {
		t.Fatalf("%d parts", d.parts)
	}
	pairs, from := map[pair]float64{}, map[int32]float64{}
	walks := func(starts []int, s search.SearchOptions) (*search.SearchResult, error) {
		each := s.Each
		s.Each = func(b search.SearchBlock) error {
			for k := range b.Walks() {
				for i, v := range b.Walk(k)[1:] {
					u := b.Walk(k)[i]
					pairs[pair{u, v}]++
					pairs[pair{v, u}]++
					from[u]++
					from[v]++
				}
			}
			return each(b)
		}
		return search.GraphSearch(g, nil, starts, s)
	}
	if err := d.trainOn(walks); err != nil {
		t.Fatal(err)
	}
	chance, sum := make([]float64, 34), 0.0
	for v, arcs := range samples.ArcsOf(g) {
		chance[v] = math.Pow(1+float64(len(arcs)), .75)
		sum += chance[v]
	}
	var got, want, weight []float64
	for p, times := range pairs {
		if times == from[p.own] {
			continue // no minimum
		}
		dot := 0.0
		for k := range d.dims {
			dot += float64(d.own[int(p.own)*d.dims+k]) * float64(d.context[int(p.context)*d.dims+k])
		}
		got = append(got, dot)
		want = append(want, math.Log(times/((from[p.own]-times)*2*chance[p.context]/sum)))
		weight = append(weight, times)
	}
	total := 0.0
	for _, times := range pairs {
		total += times
	}
	if int64(total) != d.pairs {
		t.Errorf("%d pairs, want %v", d.pairs, total)
	}
	if r := stat.Correlation(got, want, weight); !(r > .9) {
		t.Errorf("the products have correlation %v with the minimum of the loss", r)
	}
}

// Negatives have the probabilities of their weights (χ²).
func TestAliases(t *testing.T) {
	t.Parallel()
	var a aliases
	weights := []float64{1, 7, 0.25, 3, 3, 12.5, 0.5}
	sum := 0.0
	for k, w := range weights {
		a.add(int32(10*k), w)
		sum += w
	}
	a.complete()
	const draws = 100000
	seen := map[int32]float64{}
	for k := range uint64(draws) {
		seen[a.draw(splitmix.At(k, 5))]++
	}
	chi := 0.0
	for k, w := range weights {
		want := draws * w / sum
		d := seen[int32(10*k)] - want
		chi += d * d / want
	}
	if p := (distuv.ChiSquared{K: float64(len(weights) - 1)}).Survival(chi); p < 1e-3 || p > 1-1e-3 {
		t.Errorf("χ² is %v: p = %v", chi, p)
	}
}

// blocksOf returns a graph of 700 vertices in groups of 50, most edges inside, and the vertices
// without edges.
func blocksOf(t testing.TB) *matrix.Matrix[float64] {
	t.Helper()
	b := matrix.NewBuilder[float64](700, 700)
	for k := range uint64(4000) {
		x := splitmix.At(k, 9)
		u, v := int(x%690), int(x>>20%50)
		if v += u / 50 * 50; k%8 == 0 {
			v = int(x >> 20 % 690)
		}
		if v < 690 && u != v {
			b.Add(u, v, 1)
			b.Add(v, u, 1)
		}
	}
	return sure.Get(b.Build(semiring.Max[float64]()))
}

// Vertices of a group are more alike than others. Vectors do not depend on threads, nor on the
// place of the graph; a vertex without edges keeps a vector near 0.
func TestEmbed(t *testing.T) {
	t.Parallel()
	g := blocksOf(t)
	o := EmbedOptions{Dimensions: 24, Window: 4, Length: 20, PerStart: 6, Epochs: 2, Return: .5, InOut: 2, Seed: 4, cells: 7000}
	o.Threads = 1
	first, err := Embed(g, o)
	if err != nil {
		t.Fatal(err)
	}
	if first.Pairs == 0 || !(first.Loss > 0 && first.Loss < 4.2) { // 6·log 2 at the start
		t.Errorf("%d pairs, loss %v", first.Pairs, first.Loss)
	}
	near, far := 0.0, 0.0
	cosine := func(u, v int) float64 {
		var dot, a, b float64
		for k := range o.Dimensions {
			x, y := float64(at(first, u, k)), float64(at(first, v, k))
			dot, a, b = dot+x*y, a+x*x, b+y*y
		}
		return dot / math.Sqrt(a*b)
	}
	for u := range 600 {
		near += cosine(u, u/50*50+(u+7)%50) / 600
		far += cosine(u, (u+50+u%3*100)%600) / 600
	}
	if !(near > far+.2) {
		t.Errorf("vertices of a group have a mean cosine of %v, others of %v", near, far)
	}
	for k := range o.Dimensions {
		if x := at(first, 695, k); x == 0 || math.Abs(float64(x)) > .5/float64(o.Dimensions) {
			t.Errorf("a vertex without edges has %v in dimension %d", x, k)
		}
	}
	same := func(reason string, g *matrix.Matrix[float64], threads int) {
		t.Helper()
		o := o
		o.Threads = threads
		got, err := Embed(g, o)
		if err != nil {
			t.Fatal(err)
		}
		if got.Vectors.Place() != g.Place() {
			t.Errorf("%s: the vectors live at %v", reason, got.Vectors.Place())
		}
		if err := got.Vectors.Move(nil); err != nil || !got.Vectors.Equal(first.Vectors) || got.Loss != first.Loss || got.Pairs != first.Pairs {
			t.Errorf("%s: other vectors (%v)", reason, err)
		}
	}
	same("three threads", g, 3)
	divided := blocksOf(t)
	sure.Do(divided.Move(sure.Get(comm.LocalGroup(2))))
	same("a group", divided, 0)
	there := blocksOf(t)
	sure.Do(there.Move(samples.RealOrEmulated(t).Device))
	same("a device", there, 0)
	o.Seed++
	if other := sure.Get(Embed(g, o)); other.Vectors.Equal(first.Vectors) {
		t.Error("another seed gives the same vectors")
	}
}

func at(e *Embedding, u, k int) float32 {
	x, _ := e.Vectors.At(u, k)
	return x
}

func TestEmbedErrors(t *testing.T) {
	t.Parallel()
	g := samples.Own(t, testdata.Karate)
	for reason, o := range map[string]EmbedOptions{
		"dimensions": {Dimensions: -1}, "window": {Window: 1 << 17}, "negatives": {Negatives: -2}, "epochs": {Epochs: -1}, "rate": {Rate: math.NaN()},
		"length": {Length: -4}, "walks": {PerStart: -1}, "p": {Return: -1}, "q": {InOut: math.Inf(1)}, "method": {Run: workflow.Run{Method: workflow.Fused}},
		"divergence": {Rate: 1e30, Dimensions: 4, Length: 10},
	} {
		var bad *workflow.ParameterError
		if _, err := Embed(g, o); !errors.As(err, &bad) {
			t.Errorf("%s: %v", reason, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Embed(g, EmbedOptions{Run: workflow.Run{Context: ended}}); !errors.Is(err, context.Canceled) {
		t.Errorf("after the deadline: %v", err)
	}
	broken := EmbedOptions{Dimensions: 4, Length: 3, cells: 6}
	seen := 0
	broken.Progress = func(string, int64, int64) {
		if seen++; seen == 2 {
			cancel()
		}
	}
	live, cancel := context.WithCancel(t.Context())
	defer cancel()
	broken.Context = live
	if _, err := Embed(g, broken); !errors.Is(err, context.Canceled) {
		t.Errorf("a run that is cancelled: %v", err)
	}
	empty := sure.Get(Embed(matrix.New[bool](0, 0)))
	if n, d := empty.Vectors.Dims(); n != 0 || d != 128 || !math.IsNaN(empty.Loss) {
		t.Errorf("the empty graph has %d×%d vectors and loss %v", n, d, empty.Loss)
	}
}

// Links of citations and friendships. Kipf and Welling (Variational graph auto-encoders, 2016)
// print an AUC of 0.831 for DeepWalk on Cora, and Grover and Leskovec (node2vec, 2016) 0.968 on
// Facebook; docs/embed.md has the differences. The short form trains less.
func TestLinksOfRealGraphs(t *testing.T) {
	longtest.SkipInTurns(t, 3, 4)
	for _, c := range []struct {
		file        string
		share       float64
		walks       int     // from a vertex, in the long form
		short, long float64 // least AUC
	}{{"gnn/cora.cites.mtx.gz", .1, 10, .77, .82}, {"graphs/facebook_combined.mtx.gz", .5, 5, 0, .95}} {
		o := EmbedOptions{Seed: 1, PerStart: c.walks}
		least := c.long
		if !longtest.Enabled() {
			o.PerStart, o.Dimensions, least = 2, 64, c.short
		}
		if least == 0 {
			continue
		}
		a := samples.Shared(t, c.file)
		n, _ := a.Dims()
		g := matrix.New[float64](n, n)
		sure.Do(ops.EWiseAdd(g, semiring.Max[float64](), a, a.T()))
		rest, held, err := links.HoldOutLinks(g, links.HoldOutOptions{Share: c.share, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		res, err := Embed(rest, o)
		if err != nil {
			t.Fatal(err)
		}
		for _, score := range []links.LinkScore{links.ScoreDot, links.ScoreCosine} {
			q, err := links.MeasureLinks(res.Vectors, held, links.MeasureOptions{Score: score})
			if err != nil || score == links.ScoreCosine && !(q.AUC > least) {
				t.Errorf("%s: %+v by %v, want an AUC above %v (%v)", c.file, q, score, least, err)
			}
			t.Logf("%s: %+v by %v", c.file, q, score)
		}
	}
}

// Pools end at the same walks for any sizes of blocks.
func TestPools(t *testing.T) {
	t.Parallel()
	g := samples.Own(t, testdata.Karate)
	var want []float32
	for _, size := range []int{1, 5, 1000} {
		o := EmbedOptions{Dimensions: 8, Length: 10, PerStart: 5, cells: 300}
		sure.Do(o.complete("Embed"))
		d := sure.Get(newTrainer(g.Inside(), 34, &o))
		walks := func(starts []int, s search.SearchOptions) (*search.SearchResult, error) {
			each := s.Each
			s.Each = func(b search.SearchBlock) error {
				for part := range slices.Chunk(b.Vertices, size*b.Length) {
					if err := each(search.SearchBlock{Length: b.Length, Vertices: part}); err != nil {
						return err
					}
				}
				return nil
			}
			return search.GraphSearch(g, nil, starts, s)
		}
		if err := d.trainOn(walks); err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = d.own
		}
		if !slices.Equal(d.own, want) || d.pools < 5 {
			t.Errorf("blocks of %d walks: other vectors, or %d pools", size, d.pools)
		}
	}
}
