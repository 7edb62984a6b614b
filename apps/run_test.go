package apps

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hiveblas/hiveblas/apps/centrality"
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
	"github.com/hiveblas/hiveblas/apps/project"
	"github.com/hiveblas/hiveblas/apps/sage"
	"github.com/hiveblas/hiveblas/apps/scan"
	"github.com/hiveblas/hiveblas/apps/search"
	"github.com/hiveblas/hiveblas/apps/sgm"
	"github.com/hiveblas/hiveblas/apps/triangles"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/testdata"
)

// all is every workflow with usual settings.
var all = map[string]func(g matrix.Source[float64], run workflow.Run) error{
	"Projection": func(g matrix.Source[float64], run workflow.Run) error {
		_, err := project.Projection(g, project.ProjectionOptions{Run: run})
		return err
	},
	"Projection of counts": func(g matrix.Source[float64], run workflow.Run) error {
		_, err := project.Projection(g, project.ProjectionOptions{Run: run, Weighting: project.WeightCount, Onto: project.OntoRows})
		return err
	},
	"Projection of ratios": func(g matrix.Source[float64], run workflow.Run) error {
		_, err := project.Projection(g, project.ProjectionOptions{Run: run, Weighting: project.WeightRatio, Diagonal: true})
		return err
	},
	"VertexNomination": func(g matrix.Source[float64], run workflow.Run) error {
		_, err := paths.VertexNomination(g, []int{0}, paths.VertexNominationOptions[float64]{Run: run})
		return err
	},
	"VertexNomination by hops": func(g matrix.Source[float64], run workflow.Run) error {
		_, err := paths.VertexNomination(g, []int{0}, paths.VertexNominationOptions[float64]{Run: run, Unit: true})
		return err
	},
	"BFS": func(g matrix.Source[float64], run workflow.Run) error {
		_, err := paths.BFS(g, 0, paths.BFSOptions{Run: run})
		return err
	},
	"BFS with parents": func(g matrix.Source[float64], run workflow.Run) error {
		_, err := paths.BFS(g, 0, paths.BFSOptions{Run: run, Parents: true})
		return err
	},
	"SSSP": func(g matrix.Source[float64], run workflow.Run) error {
		_, err := paths.SSSP(g, []int{0}, paths.SSSPOptions[float64]{Run: run})
		return err
	},
	"PageRank": func(g matrix.Source[float64], run workflow.Run) error {
		_, err := centrality.PageRank(g, centrality.PageRankOptions{Run: run})
		return err
	},
	"ConnectedComponents": func(g matrix.Source[float64], run workflow.Run) error {
		_, err := components.ConnectedComponents(g, components.ComponentsOptions{Run: run})
		return err
	},
	"TriangleCount": func(g matrix.Source[float64], run workflow.Run) error {
		_, err := triangles.TriangleCount(g, triangles.TriangleOptions{Run: run})
		return err
	},
	"SGM": func(g matrix.Source[float64], run workflow.Run) error {
		_, err := sgm.SGM(g, g, sgm.FirstSeeds(4), sgm.SGMOptions{Run: run})
		return err
	},
	"ScanStatistics": func(g matrix.Source[float64], run workflow.Run) error {
		_, err := scan.ScanStatistics(g, scan.ScanOptions{Run: run})
		return err
	},
	"ScanStatistics of two hops": func(g matrix.Source[float64], run workflow.Run) error {
		_, err := scan.ScanStatistics(g, scan.ScanOptions{Run: run, Hops: scan.ScanTwoHops})
		return err
	},
	"Geolocate": func(g matrix.Source[float64], run workflow.Run) error {
		n := 0
		if err := workflow.Usable("", "", g); err == nil {
			n, _ = matrix.AsView[float64](g).Dims()
		}
		l, err := lines.NewLocations(n, nil, nil, nil)
		if n > 0 && err == nil {
			l, err = lines.NewLocations(n, []int{0, n - 1}, []float64{10, 20}, []float64{30, 40})
		}
		if err != nil {
			return err
		}
		_, err = geo.Geolocate(g, l, geo.GeolocateOptions{Run: run})
		return err
	},
	"GraphSearch": func(g matrix.Source[float64], run workflow.Run) error {
		_, err := search.GraphSearch(g, nil, nil, search.SearchOptions{Run: run})
		return err
	},
	"GraphSAGE": func(g matrix.Source[float64], run workflow.Run) error {
		n := 0
		if err := workflow.Usable("", "", g); err == nil {
			n, _ = matrix.AsView[float64](g).Dims()
		}
		x, err := matrix.NewFull[float32](n, 3, 1)
		if err != nil {
			return err
		}
		_, err = sage.GraphSAGE(g, x, meanModel(3, 2), sage.SAGEOptions{Run: run})
		return err
	},
	"MaxFlow": func(g matrix.Source[float64], run workflow.Run) error {
		n := 2
		if err := workflow.Usable("", "", g); err == nil {
			n, _ = matrix.AsView[float64](g).Dims()
		}
		_, err := flow.MaxFlow(g, 0, n-1, flow.MaxFlowOptions{Run: run})
		return err
	},
	"FusedLasso": func(g matrix.Source[float64], run workflow.Run) error {
		n := 0
		if err := workflow.Usable("", "", g); err == nil {
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
		_, err = lasso.FusedLasso(g, values, lasso.FusedLassoOptions{Run: run, Lambda1: .3})
		return err
	},
	"KTruss": func(g matrix.Source[float64], run workflow.Run) error {
		_, err := cores.KTruss(g, 3, cores.KTrussOptions{Run: run})
		return err
	},
	"Communities": func(g matrix.Source[float64], run workflow.Run) error {
		_, err := communities.Communities(g, communities.CommunitiesOptions{Run: run})
		return err
	},
	"Communities by Leiden": func(g matrix.Source[float64], run workflow.Run) error {
		_, err := communities.Communities(g, communities.CommunitiesOptions{Run: run, Leiden: true})
		return err
	},
	"LocalCluster": func(g matrix.Source[float64], run workflow.Run) error {
		_, err := lgc.LocalCluster(g, []int{0}, lgc.LocalClusterOptions{Run: run, Sweep: true})
		return err
	},
	"LocalCluster by FISTA": func(g matrix.Source[float64], run workflow.Run) error {
		_, err := lgc.LocalCluster(g, []int{0}, lgc.LocalClusterOptions{Run: run, Method: lgc.ClusterFISTA})
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
				if err := run(c.g, workflow.Run{}); !errors.Is(err, c.want) {
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
			err := run(g, workflow.Run{})
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
	g := samples.Own(t, testdata.Karate)
	for name, run := range all {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := run(g, workflow.Run{Context: ctx}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a cancelled context: %v", name, err)
		}
		ctx, cancel = context.WithCancel(context.Background())
		stop := func(string, int64, int64) { cancel() }
		if err := run(g, workflow.Run{Context: ctx, Progress: stop, Threads: 2}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s cancelled at its first report: %v", name, err)
		}
		cancel()
	}
}

func TestProgressAndTrace(t *testing.T) {
	g := samples.Own(t, testdata.Karate)
	for name, run := range all {
		reports, traces := 0, 0
		err := run(g, workflow.Run{
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
	g := samples.Own(t, testdata.Karate)
	var wg sync.WaitGroup
	for name, run := range all {
		for threads := 1; threads <= 2; threads++ {
			wg.Go(func() {
				if err := run(g, workflow.Run{Threads: threads}); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
	}
	wg.Wait()
}

// meanModel returns a model of one layer from d to 2·h columns.
func meanModel(d, h int) *sage.SAGEModel {
	self, near := sure.Get(matrix.NewFull[float32](d, h, .5)), sure.Get(matrix.NewFull[float32](d, h, -.25))
	return &sage.SAGEModel{Aggregator: sage.AggregateMean, Layers: []sage.SAGELayer{{Self: self, Neighbour: near}}}
}
