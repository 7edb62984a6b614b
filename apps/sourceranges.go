package apps

import (
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/matrix"
)

// Sums over sources, divided by ranges of the sources: each rank searches from its own, and the
// sums of the ranks are added up in their order.

// dividedSources begins the division of searches from many sources. It returns nil if they are not
// divided.
func dividedSources(app string, a matrix.View[bool], sources []int32, run Run) (d *division, cuts []int64, err error) {
	d, err = run.divide(app, a.Place(), 0)
	if d == nil || err != nil || !fits(d, a) {
		return nil, nil, err
	}
	least := leastRange / max(a.NVals(), 1)
	return d, cutEvenly(int64(len(sources)), d.g.Size(), 1, least), nil
}

// bothWays returns the rows of a graph and of its transpose for all ranks on the host, nil if the
// ranks are on devices.
func (d *division) bothWays(graph []matrix.View[bool]) (out, in *adjacency, err error) {
	if d.devices {
		return nil, nil, nil
	}
	err = d.alone(func() error {
		if err := graph[0].Fetch(); err != nil {
			return err
		}
		out, in = bothWays(graph[0])
		return nil
	})
	return out, in, err
}

// closenessByRanges divides the targets of Closeness. The result is nil if they are not divided.
func closenessByRanges(a matrix.View[bool], n int, targets []int32, o ClosenessOptions) (*ClosenessResult, error) {
	d, cuts, err := dividedSources("Closeness", a, targets, o.Run)
	if d == nil || err != nil {
		return nil, err
	}
	graph, err := replicas(d, a)
	if err != nil {
		return nil, err
	}
	out, in, err := d.bothWays(graph)
	if err != nil {
		return nil, err
	}
	reached, distances, harmonic := make([][]int64, len(graph)), make([][]int64, len(graph)), make([][]float64, len(graph))
	err = d.each(func(k int, c comm.Comm, run Run) (err error) {
		own, mine := o, targets[cuts[c.Rank()]:cuts[c.Rank()+1]]
		own.Run = run
		var sums *distanceSums
		if out != nil {
			sums, err = sumDistances(out, in, mine, own)
		} else {
			sums, err = distancesAt(graph[k], n, mine, own)
		}
		if err == nil {
			reached[k], distances[k], harmonic[k] = sums.reached, sums.distances, sums.harmonic
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := reduced(d, reached, comm.Sum); err != nil {
		return nil, err
	}
	if err := reduced(d, distances, comm.Sum); err != nil {
		return nil, err
	}
	if err := reduced(d, harmonic, comm.Sum); err != nil {
		return nil, err
	}
	res, err := (&distanceSums{reached[0], distances[0], harmonic[0]}).result()
	if err != nil {
		return nil, err
	}
	for _, move := range []func(matrix.Place, ...matrix.Layout) error{res.Reached.Move, res.Distances.Move, res.Harmonic.Move} {
		if err := move(d.g); err != nil {
			return nil, err
		}
	}
	d.traced(int64(len(targets))*a.NVals(), int64(n), unevenness(cuts, func(lo, hi int64) int64 { return hi - lo }))
	o.report("closeness", int64(len(targets)), int64(len(targets)))
	return res, nil
}

// distancesAt returns the sums of a range of targets of the pipeline, on the host.
func distancesAt(a matrix.View[bool], n int, targets []int32, o ClosenessOptions) (*distanceSums, error) {
	res, err := closenessPipeline(a, n, targets, o)
	if err != nil {
		return nil, err
	}
	for _, fetch := range []func() error{res.Reached.Fetch, res.Distances.Fetch, res.Harmonic.Fetch} {
		if err := fetch(); err != nil {
			return nil, err
		}
	}
	return &distanceSums{res.Reached.Dense(0), res.Distances.Dense(0), res.Harmonic.Dense(0)}, nil
}

// betweennessByRanges divides the sources of Betweenness. The result is nil if they are not
// divided.
func betweennessByRanges(a matrix.View[bool], n int, sources []int32, scale float64, o BetweennessOptions) (*matrix.Vector[float64], error) {
	d, cuts, err := dividedSources("Betweenness", a, sources, o.Run)
	if d == nil || err != nil {
		return nil, err
	}
	graph, err := replicas(d, a)
	if err != nil {
		return nil, err
	}
	out, in, err := d.bothWays(graph)
	if err != nil {
		return nil, err
	}
	sums := make([][]float64, len(graph))
	err = d.each(func(k int, c comm.Comm, run Run) (err error) {
		own, mine := o, sources[cuts[c.Rank()]:cuts[c.Rank()+1]]
		own.Run = run
		if out != nil {
			sums[k], err = sumDependencies(out, in, mine, own)
			return err
		}
		v, err := betweennessPipeline(graph[k], n, mine, 1, own)
		if err == nil {
			err = v.Fetch()
		}
		if err == nil {
			sums[k] = v.Dense(0)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := reduced(d, sums, comm.Sum); err != nil {
		return nil, err
	}
	for v := range sums[0] {
		sums[0][v] *= scale
	}
	v, err := matrix.VectorOf(sums[0])
	if err != nil {
		return nil, err
	}
	d.traced(int64(len(sources))*a.NVals(), int64(n), unevenness(cuts, func(lo, hi int64) int64 { return hi - lo }))
	o.report("betweenness", int64(len(sources)), int64(len(sources)))
	return v, v.Move(d.g)
}
