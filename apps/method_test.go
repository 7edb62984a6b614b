package apps

import (
	"errors"
	"fmt"
	"math"
	"math/rand"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/apps/centrality"
	"github.com/hiveblas/hiveblas/apps/classify"
	"github.com/hiveblas/hiveblas/apps/communities"
	"github.com/hiveblas/hiveblas/apps/components"
	"github.com/hiveblas/hiveblas/apps/cores"
	"github.com/hiveblas/hiveblas/apps/flow"
	"github.com/hiveblas/hiveblas/apps/geo"
	"github.com/hiveblas/hiveblas/apps/internal/lines"
	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/lasso"
	"github.com/hiveblas/hiveblas/apps/lgc"
	"github.com/hiveblas/hiveblas/apps/paths"
	"github.com/hiveblas/hiveblas/apps/scan"
	"github.com/hiveblas/hiveblas/apps/search"
	"github.com/hiveblas/hiveblas/apps/sets"
	"github.com/hiveblas/hiveblas/apps/triangles"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/matrix"
)

// formed are the workflows with fused forms. Each returns its result as numbers, NaN where a vector
// has no entry, and its place.
var formed = map[string]func(g matrix.Source[float64], run workflow.Run) ([]float64, matrix.Place, error){
	"BFS": func(g matrix.Source[float64], run workflow.Run) ([]float64, matrix.Place, error) {
		res, err := paths.BFS(g, 0, paths.BFSOptions{Run: run, Parents: true})
		if err != nil {
			return nil, nil, err
		}
		list := append(samples.Listed(res.Level), samples.Listed(res.Parent)...)
		return append(list, float64(res.Reached), float64(res.MaxLevel)), res.Level.Place(), nil
	},
	"SSSP": func(g matrix.Source[float64], run workflow.Run) ([]float64, matrix.Place, error) {
		dist, err := paths.SSSP(g, []int{0}, paths.SSSPOptions[float64]{Run: run})
		return samples.Listed(dist), dist.Place(), err
	},
	"VertexNomination": func(g matrix.Source[float64], run workflow.Run) ([]float64, matrix.Place, error) {
		o := paths.VertexNominationOptions[float64]{Run: run, Unit: true}
		dist, err := paths.VertexNomination(g, []int{0}, o)
		return samples.Listed(dist), dist.Place(), err
	},
	"ConnectedComponents": func(g matrix.Source[float64], run workflow.Run) ([]float64, matrix.Place, error) {
		res, err := components.ConnectedComponents(g, components.ComponentsOptions{Run: run})
		if err != nil {
			return nil, nil, err
		}
		return append(samples.Listed(res.Label), float64(res.Count), float64(res.Largest)),
			res.Label.Place(), nil
	},
	"StronglyConnectedComponents": func(g matrix.Source[float64], run workflow.Run) ([]float64, matrix.Place, error) {
		res, err := components.StronglyConnectedComponents(g, components.ComponentsOptions{Run: run})
		if err != nil {
			return nil, nil, err
		}
		return samples.ComponentFigures(res.Label, res.Count, res.Largest), res.Label.Place(), nil
	},
	"CoreNumbers": func(g matrix.Source[float64], run workflow.Run) ([]float64, matrix.Place, error) {
		res, err := cores.CoreNumbers(g, cores.CoreOptions{Run: run})
		if err != nil {
			return nil, nil, err
		}
		return append(samples.Listed(res.Number), float64(res.Max), float64(res.Inner)), res.Number.Place(), nil
	},
	"LabelPropagation": func(g matrix.Source[float64], run workflow.Run) ([]float64, matrix.Place, error) {
		res, err := communities.LabelPropagation(g, communities.LabelPropagationOptions{Run: run, MaxIterations: 7})
		if err != nil {
			return nil, nil, err
		}
		return append(samples.ComponentFigures(res.Label, res.Count, res.Largest), float64(res.Iterations)), res.Label.Place(), nil
	},
	"MaximalIndependentSet": func(g matrix.Source[float64], run workflow.Run) ([]float64, matrix.Place, error) {
		set, err := sets.MaximalIndependentSet(g, sets.IndependentSetOptions{Run: run, Seed: 3})
		if err != nil {
			return nil, nil, err
		}
		list := make([]float64, set.Size())
		for v := range set.All() {
			list[v] = 1
		}
		return list, set.Place(), nil
	},
	"PageRank": func(g matrix.Source[float64], run workflow.Run) ([]float64, matrix.Place, error) {
		res, err := centrality.PageRank(g, centrality.PageRankOptions{Run: run, Tolerance: 1e-6})
		if err != nil {
			return nil, nil, err
		}
		return append(samples.Listed(res.Rank), float64(res.Iterations), res.Change), res.Rank.Place(), nil
	},
	"ScanStatistics": func(g matrix.Source[float64], run workflow.Run) ([]float64, matrix.Place, error) {
		res, err := scan.ScanStatistics(g, scan.ScanOptions{Run: run})
		if err != nil {
			return nil, nil, err
		}
		list := []float64{float64(res.Max), float64(res.Sum), float64(res.Edges), float64(res.Triangles)}
		for _, v := range res.ArgMax {
			list = append(list, float64(v))
		}
		for _, x := range res.Statistic.All() {
			list = append(list, float64(x))
		}
		return list, res.Statistic.Place(), nil
	},
	"Geolocate": func(g matrix.Source[float64], run workflow.Run) ([]float64, matrix.Place, error) {
		return geolocated(g, geo.GeolocateOptions{Run: run, Median: geo.MedianDegrees})
	},
	"Geolocate with limits": func(g matrix.Source[float64], run workflow.Run) ([]float64, matrix.Place, error) {
		return geolocated(g, geo.GeolocateOptions{Run: run, Median: geo.MedianDegrees, MaxDispersion: 2000, MaxDistance: 6000, MinNeighbours: 2,
			Passes: 2, Tolerance: 1e-8, MaxIterations: 30})
	},
	"FusedLasso": func(g matrix.Source[float64], run workflow.Run) ([]float64, matrix.Place, error) {
		n, _ := matrix.AsView[float64](g).Dims()
		y, err := matrix.VectorOf(samples.Scored(n))
		if err != nil {
			return nil, nil, err
		}
		res, err := lasso.FusedLasso(g, y, lasso.FusedLassoOptions{Run: run, Lambda1: .2, Lambda2: .1, Exact: true})
		if err != nil {
			return nil, nil, err
		}
		list := append(samples.Listed(res.B), res.Objective, float64(res.Regions), float64(res.Zeros))
		for i := range list {
			list[i] = math.Round(list[i]*1e7) / 1e7 // sums in another order
		}
		return list, res.B.Place(), nil
	},
	"GraphSearch": func(g matrix.Source[float64], run workflow.Run) ([]float64, matrix.Place, error) {
		return searched(g, search.SearchOptions{Run: run, PerStart: 2, Length: 9})
	},
	"GraphSearch, greedy": func(g matrix.Source[float64], run workflow.Run) ([]float64, matrix.Place, error) {
		return searched(g, search.SearchOptions{Run: run, Rule: search.SearchGreedy, Length: 6})
	},
	"GraphSearch, stochastic": func(g matrix.Source[float64], run workflow.Run) ([]float64, matrix.Place, error) {
		return searched(g, search.SearchOptions{Run: run, Rule: search.SearchStochastic, PerStart: 3, Length: 12, Seed: 1<<63 + 5})
	},
	"GraphSearch, weighted": func(g matrix.Source[float64], run workflow.Run) ([]float64, matrix.Place, error) {
		return searched(g, search.SearchOptions{Run: run, Weighted: true, PerStart: 2, Length: 9, Seed: 2})
	},
	"GraphSearch, greedy, weighted, forward": func(g matrix.Source[float64], run workflow.Run) ([]float64, matrix.Place, error) {
		return searched(g, search.SearchOptions{Run: run, Rule: search.SearchGreedy, Weighted: true, NonBacktracking: true, Length: 7})
	},
	"GraphSearch, stochastic, weighted, forward, restarts": func(g matrix.Source[float64], run workflow.Run) ([]float64, matrix.Place, error) {
		return searched(g, search.SearchOptions{Run: run, Rule: search.SearchStochastic, Weighted: true, NonBacktracking: true, Restart: .1, PerStart: 3, Length: 12, Seed: 8})
	},
	"GraphSearch, forward, restarts": func(g matrix.Source[float64], run workflow.Run) ([]float64, matrix.Place, error) {
		return searched(g, search.SearchOptions{Run: run, NonBacktracking: true, Restart: .3, PerStart: 3, Length: 12})
	},
	"MaxFlow": func(g matrix.Source[float64], run workflow.Run) ([]float64, matrix.Place, error) {
		n, _ := matrix.AsView[float64](g).Dims()
		if n < 2 { // source and sink differ
			return nil, matrix.AsView[float64](g).Place(), nil
		}
		res, err := flow.MaxFlow(g, 0, n-1, flow.MaxFlowOptions{Run: run})
		if err != nil {
			return nil, nil, err
		}
		list := []float64{math.Round(res.Value*1e7) / 1e7} // flows may differ, not the sides
		for _, side := range []*matrix.Vector[bool]{res.SourceSide, res.SinkSide} {
			for v := range side.All() {
				list = append(list, float64(v))
			}
			list = append(list, -1)
		}
		return list, res.Flow.Place(), nil
	},
	"TriangleCount": func(g matrix.Source[float64], run workflow.Run) ([]float64, matrix.Place, error) {
		count, err := triangles.TriangleCount(g, triangles.TriangleOptions{Run: run})
		return []float64{float64(count)}, matrix.AsView[float64](g).Place(), err
	},
}

// searched returns the walks of a search and its figures.
func searched(g matrix.Source[float64], o search.SearchOptions) ([]float64, matrix.Place, error) {
	n, _ := matrix.AsView[float64](g).Dims()
	score, err := matrix.VectorOf(samples.Scored(n))
	if err != nil {
		return nil, nil, err
	}
	var list []float64
	o.Visits, o.Best = true, 3
	o.Each = func(b search.SearchBlock) error {
		for _, v := range b.Vertices {
			list = append(list, float64(v))
		}
		return nil
	}
	res, err := search.GraphSearch(g, search.VertexScores(score), nil, o)
	if err != nil {
		return nil, nil, err
	}
	list = append(list, float64(res.Steps), float64(res.Ended), float64(res.Restarts), res.ScoreSum, float64(res.Distinct))
	for _, p := range res.Curve {
		list = append(list, float64(p.Step), float64(p.Steps), float64(p.Distinct), p.Score)
	}
	for _, b := range res.Best {
		list = append(list, float64(b.Vertex), b.Distance)
	}
	for v, x := range res.Visits.All() {
		list = append(list, float64(v), float64(x))
	}
	return list, res.Visits.Place(), nil
}

// geolocated infers places from those of every fifth vertex.
func geolocated(g matrix.Source[float64], o geo.GeolocateOptions) ([]float64, matrix.Place, error) {
	n, _ := matrix.AsView[float64](g).Dims()
	rng := rand.New(rand.NewSource(1))
	var vertices []int
	var lat, lon []float64
	for v := range n {
		if v%5 == 0 {
			vertices, lat, lon = append(vertices, v), append(lat, 20+40*rng.Float64()), append(lon, 40*rng.Float64())
		}
	}
	l, err := lines.NewLocations(n, vertices, lat, lon)
	if err != nil {
		return nil, nil, err
	}
	res, err := geo.Geolocate(g, l, o)
	if err != nil {
		return nil, nil, err
	}
	list := append(samples.Listed(res.Latitude), samples.Listed(res.Longitude)...)
	list = append(append(list, samples.Listed(res.Pass)...), samples.Listed(res.Dispersion)...)
	list = append(list, float64(res.Known), float64(res.Located), float64(res.Unlocated), float64(res.Passes), float64(res.Unfinished))
	for i := range list {
		list[i] = math.Round(list[i]*1e7) / 1e7 // sums in another order
	}
	return list, res.Latitude.Place(), nil
}

func sameNumbers(x, y []float64) bool {
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		if !(math.Abs(x[i]-y[i]) <= 1e-12 || math.IsNaN(x[i]) && math.IsNaN(y[i])) {
			return false
		}
	}
	return true
}

// Each fused form gives the result of its pipeline, which runs on the device too.
func TestFusedAndPipelineOnDevice(t *testing.T) {
	d := samples.RealOrEmulated(t)
	chosen := map[string]bool{}
	for k, s := range samples.PlaceSamples() {
		if s.N == 0 || s.M != s.N || !longtest.Enabled() && d.E != nil && k%3 != 0 {
			continue
		}
		if d.E != nil && longtest.Enabled() && (k+longtest.Turn())%2 != 0 { // the others a turn later
			continue
		}
		how := samples.Guises[k%len(samples.Guises)]
		t.Run(s.Reason, func(t *testing.T) {
			host := samples.Build[float64](t, s.Sample, matrix.CSR)
			there := samples.Move[float64](t, s.Sample, how, d.Device)
			for name, app := range formed {
				want, _, err := app(host, workflow.Run{})
				if err != nil {
					t.Fatal(err)
				}
				for _, m := range []workflow.Method{workflow.Pipeline, workflow.Fused, workflow.Auto} {
					if m == workflow.Pipeline && d.E != nil && isFused(name) { // in TestStandardOnDevice
						continue
					}
					if m == workflow.Auto && d.E != nil && !longtest.Enabled() && chosen[name] { // once a workflow
						continue
					}
					chosen[name] = chosen[name] || m == workflow.Auto
					got, at, err := app(there, workflow.Run{Method: m})
					what := fmt.Sprintf("%s of %s, method %q", name, how.Name, m)
					if err != nil {
						t.Fatalf("%s: %v", what, err)
					}
					if at != matrix.Place(d.Device) {
						t.Errorf("%s: the result lives at %v", what, at)
					}
					if !sameNumbers(got, want) {
						t.Errorf("%s: got %v, want %v", what, got, want)
					}
				}
			}
		})
	}
}

func TestFusedAndPipelineOfClassifyOnDevice(t *testing.T) {
	d := samples.RealOrEmulated(t)
	rng := rand.New(rand.NewSource(4))
	data, pattern := samples.DrawFeatured(rng, 12, 30, 3, 2, 1), samples.DrawFeatured(rng, 4, 5, 3, 2, 1)
	x, y := samples.Must[*classify.Attributed](t)(classify.NewAttributed(data.Parts(t, 3, 2))), samples.Must[*classify.Attributed](t)(classify.NewAttributed(pattern.Parts(t, 3, 2)))
	for _, g := range []*classify.Attributed{x, y} {
		if err := g.Move(d.Device); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range []workflow.Method{workflow.Pipeline, workflow.Fused} {
		o := classify.ClassifyOptions{Run: workflow.Run{Method: m}, Iterations: 2}
		mu := samples.Must[*matrix.Matrix[float32]](t)(classify.Classify(x, y, o))
		if mu.Place() != matrix.Place(d.Device) {
			t.Errorf("method %q: the result lives at %v", m, mu.Place())
		}
		samples.SameBeliefs(t, string(m), mu, samples.ClassifyNaively(data, pattern, 2, false))
	}
}

// A pipeline on a device makes its vectors there, and copies no vector of all vertices in either
// direction: over all its iterations fewer bytes than a vector has.
func TestPipelinesStayOnDevice(t *testing.T) {
	d := samples.Emulated(t)
	const n = 6000 // more bytes than the pinned memory has, whose use is not counted
	s := samples.Blank(n)
	for v := range n {
		for _, w := range []int{(v + 1) % n, 3 * v % n} {
			s.Edges = append(s.Edges, samples.Edge{From: v, To: w, Weight: 1 + v%3}, samples.Edge{From: w, To: v, Weight: 1 + v%3})
		}
	}
	g := samples.Build[float64](t, s, matrix.CSR)
	if err := g.Move(d.Device); err != nil {
		t.Fatal(err)
	}
	for name, app := range all {
		switch {
		case isStandard(name): // many bring ranks or orders to the host, and each compiles its kernels
			continue
		case name == "SGM": // package auction returns assignments on the host
			continue
		case strings.HasPrefix(name, "Communities"), // the pipeline moves on the host
			strings.HasPrefix(name, "ScanStatistics"), // reads its result to find the largest
			name == "Geolocate",                       // places come from the host and go there
			name == "MaxFlow",                         // excesses are on the host
			name == "FusedLasso",                      // on the host
			name == "GraphSAGE":                       // features come from the host
			continue
		case strings.HasPrefix(name, "Projection") && !longtest.Enabled():
			continue
		case name == "PageRank":
			app = func(g matrix.Source[float64], run workflow.Run) error {
				_, err := centrality.PageRank(g, centrality.PageRankOptions{Run: run, MaxIterations: 10})
				return err
			}
		case name == "LocalCluster": // without the sweep over the cluster, on the host
			app = func(g matrix.Source[float64], run workflow.Run) error {
				_, err := lgc.LocalCluster(g, []int{0}, lgc.LocalClusterOptions{Run: run})
				return err
			}
		}
		run := workflow.Run{Method: workflow.Pipeline}
		if err := app(g, run); err != nil { // makes derived forms of the graph
			t.Fatalf("%s: %v", name, err)
		}
		up, down := d.Copies(func() {
			if err := app(g, run); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		})
		if up > n/2 || down > n/2 {
			t.Errorf("%s copies %d bytes to the device and %d to the host; a vector of bytes has %d", name, up, down, n)
		}
	}
}

func TestPipelineOfClassifyStaysOnDevice(t *testing.T) {
	d := samples.Emulated(t)
	const n = 6000
	rng := rand.New(rand.NewSource(4))
	x := samples.Must[*classify.Attributed](t)(classify.NewAttributed(samples.DrawFeatured(rng, n, 2*n, 3, 2, 1).Parts(t, 3, 2)))
	y := samples.Must[*classify.Attributed](t)(classify.NewAttributed(samples.DrawFeatured(rng, 3, 4, 3, 2, 1).Parts(t, 3, 2)))
	for _, g := range []*classify.Attributed{x, y} {
		if err := g.Move(d.Device); err != nil {
			t.Fatal(err)
		}
	}
	for _, corrected := range []bool{false, true} {
		o := classify.ClassifyOptions{Run: workflow.Run{Method: workflow.Pipeline}, Iterations: 3, CorrectedGather: corrected, Memory: 1}
		for _, first := range []bool{true, false} { // the first call makes derived forms
			up, down := d.Copies(func() { samples.Must[*matrix.Matrix[float32]](t)(classify.Classify(x, y, o)) })
			if !first && (up > n/2 || down > n/2) {
				t.Errorf("Classify copies %d bytes to the device and %d to the host; a vector of bytes has %d", up, down, n)
			}
		}
	}
}

// A method that a workflow does not have is an error with a remedy.
func TestMethodErrors(t *testing.T) {
	g := samples.Build[float64](t, samples.Path(4).Both(), matrix.CSR)
	for name, app := range all {
		for _, m := range []workflow.Method{workflow.Fused, "fast"} {
			var e *workflow.ParameterError
			if err := app(g, workflow.Run{Method: m}); !errors.As(err, &e) || e.Arg != "the method" {
				t.Errorf("%s of a graph on the host, method %q: error %v", name, m, err)
			}
		}
		if err := app(g, workflow.Run{Method: workflow.Pipeline}); err != nil {
			t.Errorf("%s, method pipeline: %v", name, err)
		}
	}
	d := samples.Emulated(t)
	bytes := samples.Build[uint8](t, samples.Path(4), matrix.CSR)
	if err := bytes.Move(d.Device); err != nil {
		t.Fatal(err)
	}
	var e *workflow.ParameterError
	fused := workflow.Run{Method: workflow.Fused}
	if _, err := paths.SSSP(bytes, []int{0}, paths.SSSPOptions[uint8]{Run: fused}); !errors.As(err, &e) {
		t.Errorf("fused SSSP of uint8: error %v", err)
	}
	if err := g.Move(d.Device); err != nil {
		t.Fatal(err)
	}
	if _, err := cores.KTruss(g, 3, cores.KTrussOptions{Run: fused}); !errors.As(err, &e) {
		t.Errorf("fused KTruss: error %v", err)
	}
}
