package centrality

import (
	"cmp"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/spmd"
	"github.com/hiveblas/hiveblas/matrix"
)

// Sums over sources, divided by ranges of the sources: each rank searches from its own, and the
// sums of the ranks are added up in their order.

// A sourceDivision is a division of searches from many sources.
type sourceDivision struct {
	*workflow.Division
	sources []int32
	cuts    []int64              // of sources
	graph   []*matrix.View[bool] // of each rank of this process
	out, in *workflow.Adjacency  // of all ranks on the host; nil if the ranks are on devices
}

// dividedSources begins the division of searches from many sources. It returns nil if they are not
// divided.
func dividedSources(app string, a *matrix.View[bool], sources []int32, run workflow.Run) (*sourceDivision, error) {
	d, graph, err := workflow.DivideGraph(run, app, a.Inside(), 0, nil)
	if d == nil || err != nil {
		return nil, err
	}
	s := &sourceDivision{Division: d, sources: sources}
	s.cuts = spmd.CutEvenly(int64(len(sources)), d.Group.Size(), 1, d.LeastRange()/max(a.NVals(), 1))
	for _, v := range graph {
		s.graph = append(s.graph, matrix.ViewOf[bool](v))
	}
	return s, d.Shared(func(workflow.Run) error {
		if err := s.graph[0].Fetch(); err != nil {
			return err
		}
		s.out, s.in = bothWays(s.graph[0])
		return nil
	})
}

// done reports the division.
func (s *sourceDivision) done(stage string, n int, entries int64) {
	count := int64(len(s.sources))
	s.Done(stage, count, count*entries, int64(n), workflow.Imbalance(s.cuts))
}

// closenessByRanges divides the targets of Closeness. The result is nil if they are not divided.
func closenessByRanges(a *matrix.View[bool], n int, targets []int32, o ClosenessOptions) (*ClosenessResult, error) {
	s, err := dividedSources("Closeness", a, targets, o.Run)
	if s == nil || err != nil {
		return nil, err
	}
	part, err := workflow.EachRange(s.Division, s.cuts, func(k int, lo, hi int64, run workflow.Run) (*distanceSums, error) {
		own := o
		own.Run = run
		if s.out != nil {
			return sumDistances(s.out, s.in, s.sources[lo:hi], own)
		}
		return distancesAt(s.graph[k], n, s.sources[lo:hi], own)
	})
	if err != nil {
		return nil, err
	}
	sums := &distanceSums{}
	if sums.reached, err = workflow.Combined(s.Division, part, comm.Sum, func(p *distanceSums) []int64 { return p.reached }); err != nil {
		return nil, err
	}
	if sums.distances, err = workflow.Combined(s.Division, part, comm.Sum, func(p *distanceSums) []int64 { return p.distances }); err != nil {
		return nil, err
	}
	if sums.harmonic, err = workflow.Combined(s.Division, part, comm.Sum, func(p *distanceSums) []float64 { return p.harmonic }); err != nil {
		return nil, err
	}
	res, err := sums.result()
	if err != nil {
		return nil, err
	}
	for _, move := range []func(matrix.Place, ...matrix.Layout) error{res.Reached.Move, res.Distances.Move, res.Harmonic.Move} {
		if err := move(s.Group); err != nil {
			return nil, err
		}
	}
	s.done("closeness", n, a.NVals())
	return res, nil
}

// distancesAt returns the sums of a range of targets of the pipeline, on the host.
func distancesAt(a *matrix.View[bool], n int, targets []int32, o ClosenessOptions) (*distanceSums, error) {
	res, err := closenessAt(a, n, targets, o)
	if err != nil {
		return nil, err
	}
	reached, err := res.Reached.Dense(0)
	distances, err2 := res.Distances.Dense(0)
	harmonic, err3 := res.Harmonic.Dense(0)
	return &distanceSums{reached, distances, harmonic}, cmp.Or(err, err2, err3)
}

// betweennessByRanges divides the sources of Betweenness. The result is nil if they are not
// divided.
func betweennessByRanges(a *matrix.View[bool], n int, sources []int32, scale float64, o BetweennessOptions) (*matrix.Vector[float64], error) {
	s, err := dividedSources("Betweenness", a, sources, o.Run)
	if s == nil || err != nil {
		return nil, err
	}
	part, err := workflow.EachRange(s.Division, s.cuts, func(k int, lo, hi int64, run workflow.Run) ([]float64, error) {
		own := o
		own.Run = run
		if s.out != nil {
			return sumDependencies(s.out, s.in, s.sources[lo:hi], own)
		}
		v, err := betweennessAt(s.graph[k], n, s.sources[lo:hi], 1, own)
		if err != nil {
			return nil, err
		}
		return v.Dense(0)
	})
	if err != nil {
		return nil, err
	}
	if err := spmd.ReduceAll(s.Session, part, comm.Sum); err != nil {
		return nil, err
	}
	for v := range part[0] {
		part[0][v] *= scale
	}
	v, err := matrix.VectorOf(part[0])
	if err != nil {
		return nil, err
	}
	s.done("betweenness", n, a.NVals())
	return v, v.Move(s.Group)
}
