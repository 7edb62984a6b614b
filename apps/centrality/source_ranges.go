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
	d, err := workflow.Divide(run, app, a.Place(), 0)
	if d == nil || err != nil || !workflow.Fits(d, a) {
		return nil, err
	}
	s := &sourceDivision{Division: d, sources: sources}
	s.cuts = spmd.CutEvenly(int64(len(sources)), d.Group.Size(), 1, d.LeastRange()/max(a.NVals(), 1))
	if s.graph, err = workflow.Replicas(d, a); err != nil || d.Devices {
		return s, err
	}
	return s, d.Once(func() error {
		if err := s.graph[0].Fetch(); err != nil {
			return err
		}
		s.out, s.in = bothWays(s.graph[0])
		return nil
	})
}

// of returns the sources of a rank.
func (s *sourceDivision) of(c comm.Comm) []int32 {
	return s.sources[s.cuts[c.Rank()]:s.cuts[c.Rank()+1]]
}

// done reports the division.
func (s *sourceDivision) done(stage string, n int, entries int64) {
	count := int64(len(s.sources))
	s.Traced(count*entries, int64(n), spmd.Unevenness(s.cuts, func(lo, hi int64) int64 { return hi - lo }))
	workflow.Report(s.Run, stage, count, count)
}

// closenessByRanges divides the targets of Closeness. The result is nil if they are not divided.
func closenessByRanges(a *matrix.View[bool], n int, targets []int32, o ClosenessOptions) (*ClosenessResult, error) {
	s, err := dividedSources("Closeness", a, targets, o.Run)
	if s == nil || err != nil {
		return nil, err
	}
	ranks := len(s.graph)
	reached, distances, harmonic := make([][]int64, ranks), make([][]int64, ranks), make([][]float64, ranks)
	err = s.Apart(func(k int, c comm.Comm, run workflow.Run) (err error) {
		own := o
		own.Run = run
		var sums *distanceSums
		if s.out != nil {
			sums, err = sumDistances(s.out, s.in, s.of(c), own)
		} else {
			sums, err = distancesAt(s.graph[k], n, s.of(c), own)
		}
		if err == nil {
			reached[k], distances[k], harmonic[k] = sums.reached, sums.distances, sums.harmonic
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := spmd.ReduceAll(s.Division.Session, reached, comm.Sum); err != nil {
		return nil, err
	}
	if err := spmd.ReduceAll(s.Division.Session, distances, comm.Sum); err != nil {
		return nil, err
	}
	if err := spmd.ReduceAll(s.Division.Session, harmonic, comm.Sum); err != nil {
		return nil, err
	}
	res, err := (&distanceSums{reached[0], distances[0], harmonic[0]}).result()
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
	sums := make([][]float64, len(s.graph))
	err = s.Apart(func(k int, c comm.Comm, run workflow.Run) (err error) {
		own := o
		own.Run = run
		if s.out != nil {
			sums[k], err = sumDependencies(s.out, s.in, s.of(c), own)
			return err
		}
		v, err := betweennessAt(s.graph[k], n, s.of(c), 1, own)
		if err == nil {
			sums[k], err = v.Dense(0)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := spmd.ReduceAll(s.Division.Session, sums, comm.Sum); err != nil {
		return nil, err
	}
	for v := range sums[0] {
		sums[0][v] *= scale
	}
	v, err := matrix.VectorOf(sums[0])
	if err != nil {
		return nil, err
	}
	s.done("betweenness", n, a.NVals())
	return v, v.Move(s.Group)
}
