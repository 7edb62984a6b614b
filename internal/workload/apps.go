package workload

import (
	"cmp"
	"errors"
	"math"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// A division is how a group divides a workflow.
type division int

const (
	byRows    division = iota // a pipeline of operations; each divides rows
	fusedRows                 // kernels of a rank for its rows, and gathers between them
	byRanges                  // ranges of independent work
	undivided                 // every rank computes all of it
)

func (d division) String() string {
	return [...]string{"operations", "rows", "ranges", "whole"}[d]
}

// A workflow is an entry of the list of Run. prepare makes the inputs beside the graph and moves
// them to the group. What it returns is measured.
type workflow struct {
	name    string
	app     string // its name in apps.List, if that is another
	prepare func(g *matrix.Matrix[float64], source int, at *comm.Group) (func(run apps.Run) error, error)
	extra   float64 // bytes a vertex that each of several ranks moves besides
}

// divided returns how apps.List says that a group divides it. What is not there is an operation.
func (w *workflow) divided() division {
	for _, a := range apps.List[float64]() {
		if a.Name != cmp.Or(w.app, w.name) {
			continue
		}
		switch a.Forms.Group {
		case "rows":
			return fusedRows
		case "ranges":
			return byRanges
		case "shares": // on devices; each rank of the host computes all of it
			return undivided
		}
	}
	return byRows
}

// graphAlone is the preparation of a workflow without other inputs.
func graphAlone(run func(g *matrix.Matrix[float64], source int, run apps.Run) error) func(*matrix.Matrix[float64], int, *comm.Group) (func(apps.Run) error, error) {
	return func(g *matrix.Matrix[float64], source int, _ *comm.Group) (func(apps.Run) error, error) {
		return func(r apps.Run) error { return run(g, source, r) }, nil
	}
}

// list are the workflows of Run: pipelines of operations, and workflows that are divided
// by ranges of their work.
var list = []workflow{
	{name: "spmv", prepare: graphAlone(func(g *matrix.Matrix[float64], _ int, run apps.Run) error {
		n, _ := g.Dims()
		here := matrix.On(g.Place())
		x, y := matrix.NewVector[float64](n, here), matrix.NewVector[float64](n, here)
		with := ops.WithOptions(ops.WithContext(run.Context), ops.WithTraces(run.Trace))
		err := ops.AssignVectorScalar(x, 1, ops.All(), with)
		return errors.Join(err, ops.MxV(y, semiring.PlusTimes[float64](), g, x, with))
	})},
	{name: "pagerank", prepare: graphAlone(func(g *matrix.Matrix[float64], _ int, run apps.Run) error {
		// A number of iterations that no rounding changes: bytes are compared with the bytes of the
		// host.
		_, err := apps.PageRank(g, apps.PageRankOptions{Run: run, MaxIterations: 20, Tolerance: math.SmallestNonzeroFloat64})
		return err
	})},
	{name: "bfs", prepare: graphAlone(func(g *matrix.Matrix[float64], source int, run apps.Run) error {
		_, err := apps.BFS(g, source, apps.BFSOptions{Run: run})
		return err
	})},
	{name: "cc", prepare: graphAlone(func(g *matrix.Matrix[float64], _ int, run apps.Run) error {
		_, err := apps.ConnectedComponents(g, apps.ComponentsOptions{Run: run})
		return err
	}), extra: 4 * bytesOfRow}, // labels of others are joined, and trees flattened again
	{name: "sssp", prepare: graphAlone(func(g *matrix.Matrix[float64], source int, run apps.Run) error {
		_, err := apps.SSSP(g, []int{source}, apps.SSSPOptions[float64]{Run: run})
		return err
	})},
	{name: "search", prepare: graphAlone(func(g *matrix.Matrix[float64], _ int, run apps.Run) error {
		_, err := apps.GraphSearch(g, nil, nil, apps.SearchOptions{Run: run, PerStart: 10, Visits: true})
		return err
	})},
	{name: "scan", prepare: graphAlone(func(g *matrix.Matrix[float64], _ int, run apps.Run) error {
		_, err := apps.ScanStatistics(g, apps.ScanOptions{Run: run})
		return err
	})},
	{name: "lgc", prepare: func(g *matrix.Matrix[float64], _ int, _ *comm.Group) (func(apps.Run) error, error) {
		var seeds []int // the first vertices with edges
		for at := range g.All() {
			if at.Row != at.Col && (len(seeds) == 0 || seeds[len(seeds)-1] != at.Row) {
				seeds = append(seeds, at.Row)
			}
			if len(seeds) == manySeeds {
				break
			}
		}
		return func(run apps.Run) error {
			if len(seeds) == 0 {
				return nil
			}
			c, err := apps.NewClusterer(g, run)
			if err != nil {
				return err
			}
			_, err = c.Batch(seeds, 0, apps.LocalClusterOptions{Run: run})
			return err
		}, nil
	}},
	{name: "project", prepare: graphAlone(func(g *matrix.Matrix[float64], _ int, run apps.Run) error {
		_, err := apps.Projection(g, apps.ProjectionOptions{Run: run})
		return err
	})},
	{name: "closeness", prepare: graphAlone(func(g *matrix.Matrix[float64], _ int, run apps.Run) error {
		_, err := apps.Closeness(g, apps.ClosenessOptions{Run: run, Samples: manySeeds})
		return err
	})},
	{name: "betweenness", prepare: graphAlone(func(g *matrix.Matrix[float64], _ int, run apps.Run) error {
		_, err := apps.Betweenness(g, apps.BetweennessOptions{Run: run, Samples: sources})
		return err
	})},
	{name: "lasso", prepare: graphAlone(func(g *matrix.Matrix[float64], _ int, run apps.Run) error {
		n, _ := g.Dims()
		y := make([]float64, n*columns)
		for k := range y {
			y[k] = float64(k % 97)
		}
		ys, err := matrix.FromDense(n, columns, y)
		if err != nil {
			return err
		}
		_, err = apps.FusedLassoBatch(g, ys, apps.FusedLassoOptions{Run: run, Lambda1: 1})
		return err
	})},
	{name: "vn", prepare: graphAlone(func(g *matrix.Matrix[float64], source int, run apps.Run) error {
		n, _ := g.Dims()
		_, err := apps.VertexNomination(g, SeedsOf(source, n), apps.VertexNominationOptions[float64]{Run: run})
		return err
	})},
	{name: "nominate", prepare: graphAlone(func(g *matrix.Matrix[float64], source int, run apps.Run) error {
		n, _ := g.Dims()
		_, err := apps.NominateVertices(g, SeedsOf(source, n), apps.NominateOptions{Run: run, Context: apps.ContextPageRank})
		return err
	})},
	{name: "geo", prepare: func(g *matrix.Matrix[float64], _ int, at *comm.Group) (func(apps.Run) error, error) {
		n, _ := g.Dims()
		known, err := Locations(n)
		if err != nil {
			return nil, err
		}
		return func(run apps.Run) error {
			_, err := apps.Geolocate(g, known, GeoOptions(run))
			return err
		}, nil
	}},
	{name: "louvain", prepare: graphAlone(func(g *matrix.Matrix[float64], _ int, run apps.Run) error {
		_, err := apps.Communities(g, apps.CommunitiesOptions{Run: run})
		return err
	})},
	{name: "ac", prepare: classify},
	{name: "sgm", prepare: match},
	{name: "sage", prepare: func(g *matrix.Matrix[float64], _ int, _ *comm.Group) (func(apps.Run) error, error) {
		n, _ := g.Dims()
		x, err := Floats(n, network.Features, 30, 1)
		if err != nil {
			return nil, err
		}
		model, err := network.Model()
		return func(run apps.Run) error {
			_, err := apps.GraphSAGE(g, x, model, apps.SAGEOptions{Run: run})
			return err
		}, err
	}},
	{name: "train", app: "sage", prepare: func(g *matrix.Matrix[float64], _ int, _ *comm.Group) (func(apps.Run) error, error) {
		n, _ := g.Dims()
		x, err := Floats(n, network.Features, 30, 1)
		classes := make([]int32, n)
		for v := range classes {
			classes[v] = int32(v % classCount)
		}
		return func(run apps.Run) error {
			_, err := apps.TrainGraphSAGE(g, x, classes, apps.SAGESplit{}, apps.SAGETrainOptions{Run: run,
				Hidden: []int{network.Hidden, network.Out}, Epochs: epochs})
			return err
		}, err
	}},
}

const (
	manySeeds  = 1024 // of lgc, and targets of closeness, at most
	sources    = 64   // of betweenness, at most
	columns    = 16   // observations of lasso
	pairs      = 8    // seeds of sgm
	classCount = 4    // of train
	epochs     = 2    // of train
)

// network is the network of sage and train.
var network = Network{16, 16, 16}

// SeedsOf are a vertex and a few others.
func SeedsOf(source, n int) []int {
	seeds := []int{source}
	for k := 1; k < min(5, n); k++ {
		seeds = append(seeds, (source+k*(n/5+1))%n)
	}
	return seeds
}

// classify matches a ring of five vertices by two features of vertices and one of edges.
func classify(g *matrix.Matrix[float64], _ int, at *comm.Group) (func(apps.Run) error, error) {
	n, _ := g.Dims()
	var from, to, ringFrom, ringTo []int32
	for e := range g.All() {
		from, to = append(from, int32(e.Row)), append(to, int32(e.Col))
	}
	const ring = 5
	for v := range ring {
		ringFrom, ringTo = append(ringFrom, int32(v)), append(ringTo, int32((v+1)%ring))
	}
	attributed := func(n int, from, to []int32, seed uint64) (*apps.Attributed, error) {
		vertices, err := Floats(2, n, seed, 1)
		if err != nil {
			return nil, err
		}
		edges, err := Floats(1, len(from), seed+1, 1)
		if err != nil {
			return nil, err
		}
		a, err := apps.NewAttributed(vertices, edges, from, to)
		if err != nil {
			return nil, err
		}
		return a, a.Move(at)
	}
	data, err := attributed(n, from, to, 50)
	if err != nil {
		return nil, err
	}
	pattern, err := attributed(ring, ringFrom, ringTo, 60)
	return func(run apps.Run) error {
		_, err := apps.Classify(data, pattern, apps.ClassifyOptions{Run: run})
		return err
	}, err
}

// match matches the graph to itself with the vertices in reverse order, by two steps of one
// search from a few seeds.
func match(g *matrix.Matrix[float64], _ int, at *comm.Group) (func(apps.Run) error, error) {
	n, _ := g.Dims()
	b := matrix.NewBuilder[float64](n, n)
	for e, x := range g.All() {
		b.Add(n-1-e.Row, n-1-e.Col, x)
	}
	other, err := b.Build(nil)
	if err == nil {
		err = other.Move(at)
	}
	if err != nil {
		return nil, err
	}
	var seeds []apps.SeedPair
	for v := range min(n, pairs) {
		at := int(hash(v, 70) % uint64(n))
		seeds = append(seeds, apps.SeedPair{A: at, B: n - 1 - at})
	}
	return func(run apps.Run) error {
		_, err := apps.SGM(g, other, seeds, apps.SGMOptions{Run: run, MaxIterations: 2, Searches: -1, Repair: -1})
		return err
	}, nil
}
