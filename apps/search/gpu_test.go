package search

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
	"github.com/hiveblas/hiveblas/testdata"
)

// Walks on a device have the bits of those on the host: long ones, from some starts; what kernels
// lack is an error or walks on the host.
func TestGraphSearchOnDevice(t *testing.T) {
	d := samples.RealOrEmulated(t)
	host, there := samples.Own(t, testdata.Karate), samples.Own(t, testdata.Karate)
	sure.Do(there.Move(d.Device))
	skewed := make([]float64, 34)
	rng := rand.New(rand.NewPCG(5, 6))
	for v := range skewed {
		skewed[v] = math.Exp(9 * rng.NormFloat64())
	}
	for k, o := range []SearchOptions{{Rule: SearchStochastic, Length: 1030, Best: 4}, {Length: 1100}, {Rule: SearchStochastic, PerStart: 50}, {Length: 1},
		{Rule: SearchStochastic, PerStart: 20, Length: 300, NonBacktracking: true}, // by searches of rows too
		{Rule: SearchStochastic, PerStart: 20, Length: 100, Return: .01, InOut: 50}, {PerStart: 20, Length: 100, Return: .01, InOut: 50},
		{Rule: SearchStochastic, PerStart: 20, Length: 50, NonBacktracking: true, Restart: .2}} {
		if !longtest.Takes(k, 3) {
			continue
		}
		starts := []int{33, 0}
		o.Seed = 1 << 63
		want, first := walked(t, host, vectorScores(t, skewed), starts, o)
		for _, m := range []workflow.Method{workflow.Fused, workflow.Pipeline} {
			if o.Method = m; m == workflow.Pipeline && o.Length > 300 {
				continue
			}
			got, res := walked(t, there, vectorScores(t, skewed), starts, o)
			if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(res, first) {
				t.Errorf("%v of length %d, %s: other walks or figures than on the host", o.Rule, o.Length, m)
			}
		}
	}
	// Scores with equal upper halves, or equal scores, with ties and both zeros.
	for name, score := range map[string]func(v int) float64{
		"close":    func(v int) float64 { return 1 + float64(v*7%5)*0x1p-40 },
		"whole":    func(v int) float64 { return float64(v*11%7-3) * math.Copysign(1, float64(v%2)-.5) },
		"negative": func(v int) float64 { return -math.Exp(float64(v*13%34) * 20) },
		"equal":    func(int) float64 { return -2.5 },
	} {
		for v := range skewed {
			skewed[v] = score(v)
		}
		for _, o := range []SearchOptions{{Rule: SearchGreedy, Length: 20}, {Rule: SearchGreedy, Length: 20, NonBacktracking: true}} {
			want, first := walked(t, host, vectorScores(t, skewed), nil, o)
			o.Method = workflow.Fused
			got, res := walked(t, there, vectorScores(t, skewed), nil, o)
			if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(res, first) {
				t.Errorf("%s scores: other walks or figures than on the host", name)
			}
		}
	}
	// Rows that a block takes, and shorter ones.
	const leaves = longRow + 300
	star, far := samples.Blank(leaves), make([]float64, leaves)
	for v := 1; v < leaves; v++ {
		star.Edges = append(star.Edges, samples.Edge{From: 0, To: v, Weight: 1}, samples.Edge{From: v, To: 0, Weight: 1})
		for hub := 1; hub < 5; hub++ {
			if v > 5 && v <= longRow*hub/3 {
				star.Edges = append(star.Edges, samples.Edge{From: hub, To: v, Weight: 1 + v%3})
			}
		}
		far[v] = 1 - math.Abs(float64(v)-800.25)*0x1p-30
	}
	starHere, starThere := samples.Build[float64](t, star, matrix.CSR), samples.Build[float64](t, star, matrix.CSR)
	sure.Do(starThere.Move(d.Device))
	for _, o := range []SearchOptions{{Rule: SearchGreedy, Length: 4}, {Rule: SearchGreedy, Length: 5, Weighted: true}, {Rule: SearchGreedy, Length: 5, NonBacktracking: true}} {
		want, first := walked(t, starHere, vectorScores(t, far), []int{0, 5, 1, 2, 3, 4}, o)
		if !o.NonBacktracking && (want[0][1] != 800 || want[1][2] != 800) {
			t.Fatalf("the walks %v do not go to vertex 800", want)
		}
		o.Method = workflow.Fused
		got, res := walked(t, starThere, vectorScores(t, far), []int{0, 5, 1, 2, 3, 4}, o)
		if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(res, first) {
			t.Errorf("%+v on a star: %v, want %v", o, got, want)
		}
	}
	// Many vertices without edges, dead ends, cycles of two: every start, and some of them several
	// times.
	sparse, ranks := samples.Blank(500), make([]float64, 500)
	for k, u := range rng.Perm(250 * 300)[:700] {
		sparse.Edges = append(sparse.Edges, samples.Edge{From: u / 300, To: u % 300, Weight: 1 + k%4})
	}
	for v := range ranks {
		ranks[v] = rng.Float64()
	}
	sparseHere, sparseThere := samples.Build[float64](t, sparse, matrix.CSR), samples.Build[float64](t, sparse, matrix.CSR)
	sure.Do(sparseThere.Move(d.Device))
	sum := semiring.NewBinary("score + value", func(x, y float64) float64 { return x + y }, "x + y")
	for _, o := range []SearchOptions{{Length: 40, Visits: true}, {Rule: SearchStochastic, PerStart: 3}, {Rule: SearchGreedy, Length: 130, Visits: true},
		{Rule: SearchGreedy, Length: 128, Paths: true}, {Length: 12, Paths: true}, {Length: 5, Paths: true},
		{Rule: SearchGreedy, Length: 7, NonBacktracking: true}, {Rule: SearchStochastic, Weight: sum, Length: 20}, {Rule: SearchGreedy, Weight: sum},
		{Length: 6, Restart: .5}, {Length: 30, Return: .25, InOut: 4, Paths: true}, {Length: 30, PerStart: 5, InOut: .5, Weighted: true, NonBacktracking: true},
		{Rule: SearchStochastic, Return: 1e9, InOut: 1e5, PerStart: 5, Restart: .1}} {
		for k, starts := range [][]int{nil, {499, 7, 7, 3, 280, 12}} {
			if !longtest.Takes(k+o.Length+o.PerStart, 3) {
				continue
			}
			want, first := walked(t, sparseHere, vectorScores(t, ranks), starts, o)
			o := o
			o.Method = workflow.Fused
			got, res := walked(t, sparseThere, vectorScores(t, ranks), starts, o)
			if o.Visits {
				if err := res.Visits.Fetch(); err != nil || !res.Visits.Equal(first.Visits) {
					t.Errorf("%v of length %d from %v: other visits than on the host (%v)", o.Rule, o.Length, starts, err)
				}
				res.Visits, first.Visits = nil, nil
			}
			if o.Paths {
				if res.Paths.Place() != matrix.Place(d.Device) {
					t.Errorf("the paths live at %v", res.Paths.Place())
				}
				if err := res.Paths.Fetch(); err != nil || !res.Paths.Equal(first.Paths) {
					t.Errorf("%v of length %d from %v: other paths than on the host (%v)", o.Rule, o.Length, starts, err)
				}
				for k, walk := range want {
					for step := range o.Length {
						v := int32(-1)
						if step < len(walk) {
							v = int32(walk[step])
						}
						if u, _ := first.Paths.At(k, step); u != v {
							t.Fatalf("step %d of walk %d is at %d in the paths, at %d in the blocks", step, k, u, v)
						}
					}
				}
				res.Paths, first.Paths = nil, nil
			}
			if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(res, first) {
				t.Errorf("%v of length %d from %v: other walks or figures than on the host", o.Rule, o.Length, starts)
			}
		}
	}
	hub := samples.Blank(3000) // with sums of more than 64 bits in its table
	heavy := make([]float64, 3000)
	for v := 1; v < 3000; v++ {
		hub.Edges = append(hub.Edges, samples.Edge{From: 0, To: v, Weight: 1}, samples.Edge{From: v, To: 0, Weight: 1})
		heavy[v] = 1 + rng.Float64()
	}
	hubHere, hubThere := samples.Build[float64](t, hub, matrix.CSR), samples.Build[float64](t, hub, matrix.CSR)
	sure.Do(hubThere.Move(d.Device))
	o := SearchOptions{Rule: SearchStochastic, Length: 2, PerStart: 9000}
	want, _ := walked(t, hubHere, vectorScores(t, heavy), []int{0}, o)
	if got, _ := walked(t, hubThere, vectorScores(t, heavy), []int{0}, o); !reflect.DeepEqual(got, want) {
		t.Error("walks from a hub differ from those on the host")
	}
	var e *workflow.ParameterError
	stop := errors.New("stop")
	lazy := ScoreFunc(0, func(vertices []int, scores []float64) error { return nil })
	if _, err := GraphSearch(there, lazy, nil, SearchOptions{Run: workflow.Run{Method: workflow.Fused}}); !errors.As(err, &e) {
		t.Errorf("fused with a score function: %v", err)
	}
	var weight *workflow.WeightError
	signed := samples.Own(t, testdata.Karate)
	sure.Do(signed.Set(4, 6, -2), signed.Move(d.Device))
	if _, err := GraphSearch(signed, nil, nil, SearchOptions{Weighted: true}); !errors.As(err, &weight) || weight.Row != 4 || weight.Col != 6 {
		t.Errorf("a negative weight on a device: %v", err)
	}
	if _, err := GraphSearch(there, nil, nil, SearchOptions{Each: func(SearchBlock) error { return stop }}); !errors.Is(err, stop) {
		t.Errorf("an error of Each on a device: %v", err)
	}
}

// Greedy walks up a slope reach their last two vertices, or a dead end, after any number of steps.
func TestGraphSearchSlopesOnDevice(t *testing.T) {
	d := samples.RealOrEmulated(t)
	slope, ranks := samples.Blank(120), make([]float64, 120)
	for v := range 119 {
		if v != 59 { // the end of the first slope
			slope.Edges = append(slope.Edges, samples.Edge{From: v, To: v + 1, Weight: 1})
		}
	}
	slope.Edges = append(slope.Edges, samples.Edge{From: 119, To: 118, Weight: 1})
	for v := range ranks {
		ranks[v] = float64(v)
	}
	host, there := samples.Build[float64](t, slope, matrix.CSR), samples.Build[float64](t, slope, matrix.CSR)
	sure.Do(there.Move(d.Device))
	for _, length := range []int{1, 2, 7, 8, 9, 16, 20, 61, 64, 128} {
		o := SearchOptions{Rule: SearchGreedy, Length: length, Paths: true}
		want := samples.Must[*SearchResult](t)(GraphSearch(host, vectorScores(t, ranks), nil, o))
		o.Method = workflow.Fused
		got := samples.Must[*SearchResult](t)(GraphSearch(there, vectorScores(t, ranks), nil, o))
		if err := got.Paths.Fetch(); err != nil || !got.Paths.Equal(want.Paths) {
			t.Errorf("length %d: other paths than on the host (%v)", length, err)
		}
		got.Paths, want.Paths = nil, nil
		if !reflect.DeepEqual(got, want) {
			t.Errorf("length %d: %+v, want %+v", length, got, want)
		}
	}
}

// The walks that move, by parts of 1024, on a device and on the host.
func TestMovers(t *testing.T) {
	t.Parallel()
	d := samples.RealOrEmulated(t)
	const n = 300
	b := matrix.NewBuilder[float64](n, n)
	for v := range n / 2 {
		b.Add(2*v, v, 1)
	}
	g := samples.Must[*matrix.Matrix[float64]](t)(b.Build(nil))
	rows := access.Rows(g.View())
	there := g.Clone()
	sure.Do(there.Move(d.Device))
	for _, c := range []struct {
		starts []int
		per    int
	}{{nil, 1}, {nil, 10}, {[]int{5, 0, n - 2, 4}, 700}, {[]int{6, 8}, 1 << 11}, {[]int{}, 1}} {
		s := samples.Must[*searcher](t)(newSearcher(nil, c.starts, n, SearchOptions{Length: 4, PerStart: c.per}))
		s.ptr = workflow.RowOffsets(&rows.Structure)
		want := make([]int64, (s.walks+sumWalks-1)/sumWalks)
		for w := range s.walks {
			if s.start(w)%2 == 0 {
				want[w/sumWalks]++
			}
		}
		got, err := moversAt(s, device.Of(d.Device), there.Inside())
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%+v: %v on a device, %v, want %v", c, got, err, want)
		}
		if got := s.movers(); !slices.Equal(got, want) {
			t.Errorf("%+v: %v on the host, want %v", c, got, want)
		}
	}
}
