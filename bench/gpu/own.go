package gpu

import (
	"fmt"
	"math"

	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/bench/internal/gpuside"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/examples/own/algorithms"
	"github.com/hiveblas/hiveblas/matrix"
)

// Algorithms that the library does not have, as a user writes them in operations, beside the same
// ones in CUDA by hand.

// ownPlan compares run, of operations, with a contender by hand. same compares their results.
func ownPlan[T comparable](b *gpuBench, o *gpuside.Own, hand gpuside.Contender, want func() ([]T, error), none T,
	run func() (*matrix.Vector[T], error), same func(got, want []T) string) *gpuPlan {
	var got *matrix.Vector[T]
	return &gpuPlan{
		ours: []gpuside.Contender{{Name: "operations", Once: true, Clock: gpuside.Wall, Do: func() (err error) {
			if got, err = run(); err != nil {
				return err
			}
			return b.dev.Sync()
		}}},
		others: []gpuside.Contender{hand},
		check: func() (string, error) {
			if err := hand.Do(); err != nil {
				return "", err
			}
			w, err := want()
			if err != nil {
				return "", err
			}
			g, err := got.Dense(none)
			if err != nil {
				return "", err
			}
			return same(g, w), nil
		},
		close: o.Close,
	}
}

// ownReach is the search of so many hops within a budget, by weights from 1 to 63.
func ownReach(hops int64, budget int32) func(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	return func(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
		a, err := weightedOn(b, in)
		if err != nil {
			return nil, err
		}
		o, err := gpuside.NewOwn(b.side, b.compiler, in.Graph, weightsOf(in.Graph))
		if err != nil {
			return nil, err
		}
		source := inputs.SourcesOf(in.Graph, 1)[0]
		hand, want := o.Reach(source, hops, int(budget))
		return ownPlan(b, o, hand, want, math.MaxInt32, func() (*matrix.Vector[int32], error) {
			return algorithms.Reach(a, source, hops, budget)
		}, differ), nil
	}
}

// ownSpread spreads labels from 64 vertices, by weights of 193 to 255 of 256.
func ownSpread(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	const least = 1 << 8
	weights := weightsOf(in.Graph)
	for p := range weights {
		weights[p] += 192
	}
	a, err := onDevice(b, in.Graph, weights)
	if err != nil {
		return nil, err
	}
	o, err := gpuside.NewOwn(b.side, b.compiler, in.Graph, weights)
	if err != nil {
		return nil, err
	}
	strongest := map[int]int64{}
	for k, v := range inputs.SourcesOf(in.Graph, 64) {
		strongest[v] = algorithms.Labelled(1<<20, int32(k))
	}
	seeds := matrix.NewVector[int64](in.Graph.NRows)
	for v, x := range strongest {
		if err := seeds.Set(v, x); err != nil {
			return nil, err
		}
	}
	var from []int32
	var with []int64
	for v, x := range seeds.All() {
		from, with = append(from, int32(v)), append(with, x)
	}
	if err := seeds.Move(b.dev); err != nil {
		return nil, err
	}
	hand, want := o.Spread(from, with, algorithms.Labelled(least, 0))
	return ownPlan(b, o, hand, want, 0, func() (*matrix.Vector[int64], error) {
		return algorithms.Spread(a, seeds, least)
	}, differ), nil
}

// ownJacobi solves a system of the graph: weights below 0, and on the diagonal twice their sum and
// 1.
func ownJacobi(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	const tolerance, sweeps = 1e-5, 100
	g, val := system(in.Graph, weightsOf(in.Graph))
	a, err := onDevice(b, g, val)
	if err != nil {
		return nil, err
	}
	right := inputs.Values(&gen.Graph{NRows: 1, Ptr: []int64{0, int64(g.NRows)}}, inputs.Unit[float32])
	x, err := vectorOn(b, right)
	if err != nil {
		return nil, err
	}
	o, err := gpuside.NewOwn(b.side, b.compiler, g, val)
	if err != nil {
		return nil, err
	}
	hand, want := o.Jacobi(right, tolerance, sweeps)
	return ownPlan(b, o, hand, want, 0, func() (*matrix.Vector[float32], error) {
		return algorithms.Jacobi(a, x, tolerance, sweeps)
	}, func(got, want []float32) string {
		for v, x := range want { // the diagonal is at least 1, so neither is farther than 2e-5 from the solution
			if !(math.Abs(float64(got[v]-x)) <= 4*tolerance) {
				return fmt.Sprintf("x(%d) is %v, want %v", v, got[v], x)
			}
		}
		return ""
	}), nil
}

// system is a symmetric graph with a diagonal, as a diagonally dominant matrix.
func system(g *gen.Graph, weights []int32) (*gen.Graph, []float32) {
	s := &gen.Graph{NRows: g.NRows, NCols: g.NCols, Ptr: make([]int64, 1, g.NRows+1)}
	var val []float32
	for i := range g.NRows {
		sum, before := float32(1), 0
		for p, j := range g.Row(i) {
			if int(j) < i {
				before = p + 1
			}
			sum += 2 * float32(weights[g.Ptr[i]+int64(p)])
		}
		for p, j := range g.Row(i) {
			if p == before {
				s.Idx, val = append(s.Idx, int32(i)), append(val, sum)
			}
			s.Idx, val = append(s.Idx, j), append(val, -float32(weights[g.Ptr[i]+int64(p)]))
		}
		if before == len(g.Row(i)) {
			s.Idx, val = append(s.Idx, int32(i)), append(val, sum)
		}
		s.Ptr = append(s.Ptr, int64(len(s.Idx)))
	}
	return s, val
}

// ownKMeans divides the rows of the graph, with weights, into eight clusters, in ten rounds.
func ownKMeans(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	const rounds = 10
	val := inputs.Values(in.Graph, inputs.Unit[float32])
	a, err := onDevice(b, in.Graph, val)
	if err != nil {
		return nil, err
	}
	o, err := gpuside.NewOwn(b.side, b.compiler, in.Graph, val)
	if err != nil {
		return nil, err
	}
	first := inputs.SourcesOf(in.Graph, 8)
	var rows []int32
	for _, v := range first {
		rows = append(rows, int32(v))
	}
	hand, want := o.KMeans(in.Graph.NCols, rows, rounds)
	return ownPlan(b, o, hand, want, -1, func() (*matrix.Vector[int32], error) {
		cluster, _, err := algorithms.KMeans(a, first, rounds)
		return cluster, err
	}, func(got, want []int32) string {
		// Sums of floats have different orders, so that rows between two centres may go either way.
		other := 0
		for v, c := range want {
			if got[v] != c {
				other++
			}
		}
		if 1000*other > len(want) {
			return fmt.Sprintf("%d of %d rows are in another cluster", other, len(want))
		}
		return ""
	}), nil
}
