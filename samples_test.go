package hiveblas_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/chunked"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/program"
	"github.com/hiveblas/hiveblas/semiring"
	"github.com/hiveblas/hiveblas/testdata"
)

// The functions below are the source of samples of the README and of docs: see TestSamples.

func productOnGPU(a, b *matrix.Matrix[float32]) (*matrix.Matrix[float32], error) {
	dev, err := cusparse.Open(0) // the error says what is missing
	if err != nil {
		return nil, err
	}
	m, _ := a.Dims()
	_, n := b.Dims()
	c := matrix.New[float32](m, n, matrix.On(dev))
	return c, ops.MxM(c, semiring.PlusTimes[float32](), a, b)
}

func median() program.MessagesFunc[int32, int32] {
	return program.Messages(func(_ program.Vertex, _ int32, m []int32) int32 {
		slices.Sort(m)
		return m[len(m)/2]
	}, "messages.sort(); sum = messages[messages.len() / 2]")
}

// TestMedian: the messages to vertex 3 are 30, 10 and 20.
func TestMedian(t *testing.T) {
	g := sure.Get(matrix.FromTuples(4, 4, []int{0, 1, 2}, []int{3, 3, 3}, []bool{true, true, true}, nil))
	first := []int32{30, 10, 20, 5}
	res, err := program.Run(t.Context(), g, program.Program[int32, bool, int32]{
		Init:     program.Init(func(v program.Vertex) int32 { return first[v.ID] }, ""),
		Send:     program.Send(func(_ program.Vertex, x int32) int32 { return x }, ""),
		Messages: median(),
		Apply:    program.Apply(func(_ program.Vertex, _, sum int32) (int32, bool) { return sum, false }, ""),
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := sure.Get(res.State.Dense(0)); !slices.Equal(got, []int32{30, 10, 20, 20}) {
		t.Errorf("states %v, want 30, 10, 20 and the median 20", got)
	}
}

func similarFilms(ctx context.Context, in, out string, place matrix.Place) (*chunked.Report, error) {
	ratings, err := graphio.OpenMapped[float32](in) // pages are read on first use
	if err != nil {
		return nil, err
	}
	defer ratings.Close()
	return chunked.MxM(ctx, chunked.File[float32](out), semiring.PlusTimes[float32](),
		ratings.Matrix.T(), ratings.Matrix,
		chunked.On(place), chunked.HostMemory(8<<30), chunked.OffDiagonal())
}

// The sample of docs/programs.md.

func components(ctx context.Context, g *matrix.Matrix[float64]) (*matrix.Vector[int32], error) {
	res, err := program.Run(ctx, g.Pattern(), program.Program[int32, bool, int32]{
		Init: program.Init(func(v program.Vertex) int32 { return v.ID }, "id"),
		Send: program.Send(func(_ program.Vertex, label int32) int32 { return label }, "state"),
		Sum:  semiring.Min[int32](),
		Apply: program.Apply(func(_ program.Vertex, label, least int32) (int32, bool) {
			return min(label, least), least < label
		}, "active = sum < state; if (active) state = sum;"),
	})
	if err != nil {
		return nil, err
	}
	return res.State, nil
}

func TestComponentsSample(t *testing.T) {
	g := sure.Get(matrix.FromTuples(4, 4, []int{0, 3, 3, 1}, []int{3, 0, 1, 3}, []float64{1, 1, 1, 1}, nil))
	label, err := components(context.Background(), g)
	if err != nil {
		t.Fatal(err)
	}
	for v, want := range []int32{0, 0, 2, 0} {
		if got, _ := label.At(v); got != want {
			t.Errorf("vertex %d is in component %d, want %d", v, got, want)
		}
	}
}

// The samples of docs/scan.md and docs/geolocation.md.

func busiest(g *matrix.Matrix[float64]) ([]int, int64, error) {
	res, err := apps.ScanStatistics(g) // res.Statistic has all of them
	if err != nil {
		return nil, 0, err
	}
	return res.ArgMax, res.Max, nil
}

func placesOfFriends(friends *matrix.Matrix[bool], file string) (*apps.Geolocation, error) {
	n, _ := friends.Dims()
	known, err := apps.ReadLocationsFile(file, n)
	if err != nil {
		return nil, err
	}
	return apps.Geolocate(friends, known, apps.GeolocateOptions{MaxDispersion: 100})
}

// The sample of docs/search.md.

func interesting(follows *matrix.Matrix[bool], seeds []int, classify func(users []int, scores []float64) error) ([]apps.Nomination[float64], error) {
	res, err := apps.GraphSearch(follows, apps.ScoreFunc(256, classify), seeds, apps.SearchOptions{
		Rule: apps.SearchStochastic, Length: 50, PerStart: 10, Best: 100,
	})
	if err != nil {
		return nil, err
	}
	return res.Best, nil // res.Calls and res.Scored: the work of the classifier
}

func TestInteresting(t *testing.T) {
	follows := sure.Get(matrix.FromTuples(3, 3, []int{0, 1}, []int{1, 2}, []bool{true, true}, nil))
	best, err := interesting(follows, []int{0}, func(users []int, scores []float64) error {
		for k, u := range users {
			scores[k] = float64(u)
		}
		return nil
	})
	if err != nil || len(best) != 3 || best[0].Vertex != 2 {
		t.Errorf("%v, %v", best, err)
	}
}

// The sample of docs/sage.md.

func topicsOf(cites *matrix.Matrix[bool], words *matrix.Matrix[float32], topics []int32) (*matrix.Matrix[float32], error) {
	trained, err := apps.TrainGraphSAGE(cites, words, topics, apps.SAGESplit{}, apps.SAGETrainOptions{
		Hidden: []int{64, 64}, Samples: []int{10, 5}, Batch: 512, Checkpoint: "topics.npz",
	})
	if err != nil {
		return nil, err
	}
	found, err := apps.GraphSAGE(cites, words, trained.Model)
	if err != nil {
		return nil, err
	}
	return found.Logits, nil // a row for each paper, a column for each topic
}

func TestTopicsOf(t *testing.T) {
	t.Chdir(t.TempDir())
	cites := sure.Get(matrix.FromTuples(3, 3, []int{0, 1}, []int{1, 0}, []bool{true, true}, nil))
	words := sure.Get(matrix.FromDense(3, 2, []float32{1, 0, 1, 0, 0, 1}))
	logits, err := topicsOf(cites, words, []int32{0, -1, 1})
	if err != nil {
		t.Fatal(err)
	}
	first, _ := logits.At(1, 0)
	if second, _ := logits.At(1, 1); first <= second {
		t.Errorf("the topic of paper 1 is that of the other: %v, %v", first, second)
	}
}

// The sample of docs/embed.md.

func predicted(cites *matrix.Matrix[bool]) (apps.LinkQuality, error) {
	rest, held, err := apps.HoldOutLinks(cites, apps.HoldOutOptions{Share: .1})
	if err != nil {
		return apps.LinkQuality{}, err
	}
	res, err := apps.Embed(rest, apps.EmbedOptions{Return: .25, InOut: 4})
	if err != nil {
		return apps.LinkQuality{}, err
	}
	return apps.MeasureLinks(res.Vectors, held, apps.MeasureOptions{Score: apps.ScoreCosine})
}

func TestPredicted(t *testing.T) {
	b := matrix.NewBuilder[bool](40, 40)
	for u := range 40 { // cliques of 10
		for v := u / 10 * 10; v < u/10*10+10; v++ {
			if u != v {
				b.Add(u, v, true)
			}
		}
	}
	q, err := predicted(sure.Get(b.Build(nil)))
	if err != nil || !(q.AUC > .9) || !(q.MRR > .5) {
		t.Errorf("%+v, %v", q, err)
	}
}

// The sample of docs/lasso.md.

func steps(g *matrix.Matrix[float64], y *matrix.Vector[float64]) (*matrix.Vector[float64], int, error) {
	res, err := apps.FusedLasso(g, y, apps.FusedLassoOptions{Lambda1: 2, Exact: true})
	if err != nil {
		return nil, 0, err
	}
	return res.B, res.Regions, nil // res.Proven is true
}

func TestSteps(t *testing.T) {
	g := sure.Get(matrix.FromTuples(3, 3, []int{0, 1}, []int{1, 2}, []float64{1, 1}, nil))
	y := sure.Get(matrix.VectorOf([]float64{0, 1, 10}))
	b, regions, err := steps(g, y)
	if err != nil || regions != 2 {
		t.Fatalf("%d regions, %v", regions, err)
	}
	for v, want := range []float64{1.5, 1.5, 8} {
		if x, _ := b.At(v); x != want {
			t.Errorf("vertex %d is %v, want %v", v, x, want)
		}
	}
}

func TestBusiestAndPlaces(t *testing.T) {
	g := sure.Get(graphio.ReadMatrixMarketFile[float64](filepath.Join("testdata", "karate.mtx")))
	if v, most, err := busiest(g); err != nil || most != 34 || len(v) != 1 || v[0] != 0 {
		t.Errorf("%v with %d, %v", v, most, err)
	}
	file := filepath.Join(t.TempDir(), "places.txt")
	sure.Do(os.WriteFile(file, []byte("0 48 11\n2 48.5 12\n"), 0o666))
	friends := sure.Get(matrix.FromTuples(3, 3, []int{1, 1}, []int{0, 2}, []bool{true, true}, nil))
	if res, err := placesOfFriends(friends, file); err != nil || res.Located != 3 {
		t.Errorf("%v, %v", res, err)
	}
}

func follow(before, after *matrix.Matrix[float64]) (*apps.CommunitiesResult, error) {
	old, err := apps.Communities(before, apps.CommunitiesOptions{Leiden: true})
	if err != nil {
		return nil, err
	}
	return apps.Communities(after, apps.CommunitiesOptions{Leiden: true, Start: old.Membership})
}

func TestFollow(t *testing.T) {
	g := sure.Get(graphio.ReadMatrixMarket[float64](bytes.NewReader(testdata.Karate)))
	res, err := follow(g, g)
	if err != nil || res.Modularity < .41 {
		t.Errorf("%+v, %v", res, err)
	}
}

func TestProductOnGPU(t *testing.T) {
	a := sure.Get(matrix.FromTuples(2, 2, []int{0, 1}, []int{1, 0}, []float32{2, 3}, nil))
	c, err := productOnGPU(a, a)
	if err != nil {
		t.Skip(err)
	}
	if x, _ := c.At(0, 0); x != 6 {
		t.Errorf("got %v", c)
	}
}

func TestSimilarFilms(t *testing.T) {
	a := sure.Get(matrix.FromTuples(3, 2, []int{0, 0, 1, 2}, []int{0, 1, 1, 0}, []float32{1, 2, 3, 4}, nil))
	in, out := filepath.Join(t.TempDir(), "ratings.hgb"), filepath.Join(t.TempDir(), "similar.hgb")
	sure.Do(graphio.WriteFile(in, a))
	report, err := similarFilms(t.Context(), in, out, nil)
	if err != nil || report.Entries != 2 {
		t.Fatalf("%+v, %v", report, err)
	}
	c, _, err := graphio.ReadFile[float32](out)
	if err != nil {
		t.Fatal(err)
	}
	if x, _ := c.At(0, 1); x != 2 {
		t.Errorf("got %v", c)
	}
}
