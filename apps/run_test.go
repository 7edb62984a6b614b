package apps

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/testdata"
)

func own(t testing.TB, file []byte) *matrix.Matrix[float64] {
	t.Helper()
	a, err := graphio.ReadMatrixMarket[float64](bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

var published = map[string]*matrix.Matrix[float64]{}

// shared reads a graph of the data beside the checkout, or skips the test.
func shared(t testing.TB, name string) *matrix.Matrix[float64] {
	t.Helper()
	if a, ok := published[name]; ok {
		return a
	}
	dir := filepath.Join("..", "..", "shared", "data")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no ../shared/data beside the checkout: real graphs are not read")
	}
	a, err := graphio.ReadMatrixMarketFile[float64](filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	published[name] = a
	return a
}

// big skips tests on large graphs where time is short.
func big(t testing.TB) {
	if testing.Short() {
		t.Skip("large graphs are left out with -short")
	}
}

// all is every workflow with usual settings.
var all = map[string]func(g matrix.Source[float64], run Run) error{
	"Projection": func(g matrix.Source[float64], run Run) error {
		_, err := Projection(g, ProjectionOptions{Run: run})
		return err
	},
	"Projection of counts": func(g matrix.Source[float64], run Run) error {
		_, err := Projection(g, ProjectionOptions{Run: run, Weighting: WeightCount, Onto: OntoRows})
		return err
	},
	"Projection of ratios": func(g matrix.Source[float64], run Run) error {
		_, err := Projection(g, ProjectionOptions{Run: run, Weighting: WeightRatio, Diagonal: true})
		return err
	},
	"VertexNomination": func(g matrix.Source[float64], run Run) error {
		_, err := VertexNomination(g, []int{0}, VertexNominationOptions[float64]{Run: run})
		return err
	},
	"VertexNomination by hops": func(g matrix.Source[float64], run Run) error {
		_, err := VertexNomination(g, []int{0}, VertexNominationOptions[float64]{Run: run, Unit: true})
		return err
	},
	"BFS": func(g matrix.Source[float64], run Run) error {
		_, err := BFS(g, 0, BFSOptions{Run: run})
		return err
	},
	"BFS with parents": func(g matrix.Source[float64], run Run) error {
		_, err := BFS(g, 0, BFSOptions{Run: run, Parents: true})
		return err
	},
	"SSSP": func(g matrix.Source[float64], run Run) error {
		_, err := SSSP(g, []int{0}, SSSPOptions[float64]{Run: run})
		return err
	},
	"PageRank": func(g matrix.Source[float64], run Run) error {
		_, err := PageRank(g, PageRankOptions{Run: run})
		return err
	},
	"ConnectedComponents": func(g matrix.Source[float64], run Run) error {
		_, err := ConnectedComponents(g, ComponentsOptions{Run: run})
		return err
	},
	"TriangleCount": func(g matrix.Source[float64], run Run) error {
		_, err := TriangleCount(g, TriangleOptions{Run: run})
		return err
	},
	"SGM": func(g matrix.Source[float64], run Run) error {
		_, err := SGM(g, g, FirstSeeds(4), SGMOptions{Run: run})
		return err
	},
	"ScanStatistics": func(g matrix.Source[float64], run Run) error {
		_, err := ScanStatistics(g, ScanOptions{Run: run})
		return err
	},
	"ScanStatistics of two hops": func(g matrix.Source[float64], run Run) error {
		_, err := ScanStatistics(g, ScanOptions{Run: run, Hops: ScanTwoHops})
		return err
	},
	"Geolocate": func(g matrix.Source[float64], run Run) error {
		n := 0
		if err := usable("", "", g); err == nil {
			n, _ = matrix.AsView[float64](g).Dims()
		}
		l, err := NewLocations(n, nil, nil, nil)
		if n > 0 && err == nil {
			l, err = NewLocations(n, []int{0, n - 1}, []float64{10, 20}, []float64{30, 40})
		}
		if err != nil {
			return err
		}
		_, err = Geolocate(g, l, GeolocateOptions{Run: run})
		return err
	},
	"GraphSearch": func(g matrix.Source[float64], run Run) error {
		_, err := GraphSearch(g, nil, nil, SearchOptions{Run: run})
		return err
	},
	"GraphSAGE": func(g matrix.Source[float64], run Run) error {
		n := 0
		if err := usable("", "", g); err == nil {
			n, _ = matrix.AsView[float64](g).Dims()
		}
		x, err := matrix.NewFull[float32](n, 3, 1)
		if err != nil {
			return err
		}
		_, err = GraphSAGE(g, x, meanModel(3, 2), SAGEOptions{Run: run})
		return err
	},
	"MaxFlow": func(g matrix.Source[float64], run Run) error {
		n := 2
		if err := usable("", "", g); err == nil {
			n, _ = matrix.AsView[float64](g).Dims()
		}
		_, err := MaxFlow(g, 0, n-1, MaxFlowOptions{Run: run})
		return err
	},
	"FusedLasso": func(g matrix.Source[float64], run Run) error {
		n := 0
		if err := usable("", "", g); err == nil {
			n, _ = matrix.AsView[float64](g).Dims()
		}
		y := make([]float64, n)
		for v := range y {
			y[v] = float64(v % 5)
		}
		values, err := matrix.VectorOf(y)
		if err != nil {
			return err
		}
		_, err = FusedLasso(g, values, FusedLassoOptions{Run: run, Lambda1: .3})
		return err
	},
	"KTruss": func(g matrix.Source[float64], run Run) error {
		_, err := KTruss(g, 3, KTrussOptions{Run: run})
		return err
	},
	"Communities": func(g matrix.Source[float64], run Run) error {
		_, err := Communities(g, CommunitiesOptions{Run: run})
		return err
	},
	"Communities by Leiden": func(g matrix.Source[float64], run Run) error {
		_, err := Communities(g, CommunitiesOptions{Run: run, Leiden: true})
		return err
	},
	"LocalCluster": func(g matrix.Source[float64], run Run) error {
		_, err := LocalCluster(g, []int{0}, LocalClusterOptions{Run: run, Sweep: true})
		return err
	},
	"LocalCluster by FISTA": func(g matrix.Source[float64], run Run) error {
		_, err := LocalCluster(g, []int{0}, LocalClusterOptions{Run: run, Method: ClusterFISTA})
		return err
	},
}

func TestNoGraph(t *testing.T) {
	for _, c := range []struct {
		reason string
		g      matrix.Source[float64]
		want   error
	}{
		{"nil", nil, matrix.ErrInvalid},
		{"a nil matrix", (*matrix.Matrix[float64])(nil), matrix.ErrInvalid},
		{"the transpose of a nil matrix", (*matrix.Matrix[float64])(nil).T(), matrix.ErrInvalid},
		{"a view of nothing", matrix.View[float64]{}, matrix.ErrInvalid},
		{"a matrix of −1 rows", matrix.New[float64](-1, 3), matrix.ErrSize},
		{"its transpose", matrix.New[float64](-1, 3).T(), matrix.ErrSize},
	} {
		for name, run := range all {
			t.Run(name+" of "+c.reason, func(t *testing.T) {
				if err := run(c.g, Run{}); !errors.Is(err, c.want) {
					t.Errorf("got %v, want %v", err, c.want)
				}
			})
		}
	}
}

func TestNotSquare(t *testing.T) {
	for name, run := range all {
		app, _, _ := strings.Cut(name, " ")
		if app = strings.TrimSuffix(app, ","); slices.Contains([]string{"Projection", "Similarity", "BipartiteMatching"}, app) {
			continue // take bipartite graphs
		}
		for shape, g := range map[string]matrix.Source[float64]{
			"2×3": matrix.New[float64](2, 3), "3×2": matrix.New[float64](2, 3).T(), "0×1": matrix.New[float64](0, 1)} {
			err := run(g, Run{})
			var dim *matrix.DimensionError
			if !errors.As(err, &dim) || dim.Got != shape || dim.Want != "square" || dim.Remedy == "" || !errors.Is(err, matrix.ErrDimension) {
				t.Errorf("%s of a %s matrix: %v", name, shape, err)
			} else if dim.Op != app && app != "VertexNomination" {
				t.Errorf("%s: the error names %s", name, dim.Op)
			}
		}
	}
}

// TestCancelled ends the context before the start, and at the first progress
// report.
func TestCancelled(t *testing.T) {
	g := own(t, testdata.Karate)
	for name, run := range all {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := run(g, Run{Context: ctx}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a cancelled context: %v", name, err)
		}
		ctx, cancel = context.WithCancel(context.Background())
		stop := func(string, int64, int64) { cancel() }
		if err := run(g, Run{Context: ctx, Progress: stop, Threads: 2}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s cancelled at its first report: %v", name, err)
		}
		cancel()
	}
}

func TestProgressAndTrace(t *testing.T) {
	g := own(t, testdata.Karate)
	for name, run := range all {
		reports, traces := 0, 0
		err := run(g, Run{
			Progress: func(what string, done, total int64) {
				reports++
				if what == "" || done < 0 || total > 0 && done > total {
					t.Errorf("%s: reported %q %d of %d", name, what, done, total)
				}
			},
			Trace: func(tr ops.Trace) {
				traces++
				if tr.Op == "" {
					t.Errorf("%s: a trace without an operation: %+v", name, tr)
				}
			}})
		if err != nil || reports == 0 || traces == 0 {
			t.Errorf("%s: %d reports, %d traces, error %v", name, reports, traces, err)
		}
	}
}

// TestTogether runs everything at once on one graph, for the race detector.
func TestTogether(t *testing.T) {
	g := own(t, testdata.Karate)
	var wg sync.WaitGroup
	for name, run := range all {
		for threads := 1; threads <= 2; threads++ {
			wg.Go(func() {
				if err := run(g, Run{Threads: threads}); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
	}
	wg.Wait()
}

// meanModel returns a model of one layer from d to 2·h columns.
func meanModel(d, h int) *SAGEModel {
	self, near := sure.Get(matrix.NewFull[float32](d, h, .5)), sure.Get(matrix.NewFull[float32](d, h, -.25))
	return &SAGEModel{Aggregator: AggregateMean, Layers: []SAGELayer{{Self: self, Neighbour: near}}}
}
