package cpu

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/auction"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/internal/splitmix"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// The first words of the names of cases that only [Cores] has.
const (
	operationGroup  = "operation: "
	conversionGroup = "conversion: "
	fileGroup       = "file: "
	workflowGroup   = "workflow: "
	streamGroup     = "stream: "
)

// coresOnly are the cases of [Cores] that [Run] has not, for lack of peers or of interest.
func coresOnly() []cpuCase {
	return slices.Concat(operationCases(), conversionCases(), fileCases(), workflowCases())
}

// A trial is one repetition of a case. The work is timed. The check follows it and returns the
// figure that must be the same at every number of threads, or an error if a fact does not hold.
type trial struct {
	work  func() error
	check func() (float64, error)
}

// trials is a case of repetitions that take a number of threads.
func trials(prepare func(b *cpuBench, in, other *input) (trial, error)) ours {
	return func(b *cpuBench, in, other *input) (time.Duration, float64, error) {
		t, err := prepare(b, in, other)
		if err != nil {
			return 0, 0, err
		}
		return t.run()
	}
}

// confined is a case of calls without a number of threads: GOMAXPROCS is that number meanwhile.
func confined(prepare func(b *cpuBench, in *input) (trial, error)) ours {
	return func(b *cpuBench, in, _ *input) (time.Duration, float64, error) {
		t, err := prepare(b, in)
		if err != nil {
			return 0, 0, err
		}
		work := t.work
		t.work = func() error {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(b.Threads))
			return work()
		}
		return t.run()
	}
}

func (t trial) run() (time.Duration, float64, error) {
	d, err := timed(t.work)
	if err != nil {
		return 0, 0, err
	}
	check, err := t.check()
	return d, check, err
}

// fact returns an error if a figure is not what it must be.
func fact(what string, got, want int64) error {
	if got == want {
		return nil
	}
	return fmt.Errorf("%d %s, want %d", got, what, want)
}

// entriesOf is a check: the number of entries is known, or any if below 0.
func entriesOf[T semiring.Number](c *matrix.Matrix[T], want int64) (float64, error) {
	if err := c.Fetch(); err != nil {
		return 0, err
	}
	if want >= 0 {
		if err := fact("entries", c.NVals(), want); err != nil {
			return 0, err
		}
	}
	return inputs.CheckMatrix(c), nil
}

// itemsOf is entriesOf of a vector.
func itemsOf[T semiring.Number](w *matrix.Vector[T], want int64) (float64, error) {
	if err := w.Fetch(); err != nil {
		return 0, err
	}
	if want >= 0 {
		if err := fact("entries", w.NVals(), want); err != nil {
			return 0, err
		}
	}
	return inputs.CheckVector(w), nil
}

// made is memo of a value that may fail.
func made[T any](in *input, key string, make func() (T, error)) (T, error) {
	type result struct {
		v   T
		err error
	}
	r := memo(in, key, func() result {
		v, err := make()
		return result{v, err}
	})
	return r.v, r.err
}

// coresInput makes the inputs that only [Cores] has, and says whether there is one of a name:
// thickN is N×N with a third of all entries; vectorsN has vectors of 2ᴺ, x and y full, u and v with
// an entry in 8 positions; streamrowsN and streamfullN are operands of [streamCases].
func coresInput(name string) (*input, bool, error) {
	in := &input{name: name, more: map[string]any{}}
	var n int
	switch {
	case inputs.Scan(name, "thick%d", &n):
		in.graph = &gen.Graph{NRows: n, NCols: n, Ptr: make([]int64, n+1)}
		for i := range n {
			for j := range n {
				if gen.Hash(uint64(i*n+j), 81)%3 == 0 {
					in.graph.Idx = append(in.graph.Idx, int32(j))
					in.val = append(in.val, float64(1+(i+j)%1000))
				}
			}
			in.graph.Ptr[i+1] = int64(len(in.graph.Idx))
		}
		var err error
		in.f64, err = matrix.FromCSR(n, n, in.graph.Ptr, in.graph.Idx, in.val)
		return in, true, err
	case inputs.Scan(name, "vectors%d", &n):
		for k, v := range []string{"x", "y"} {
			list := make([]float64, 1<<n)
			for i := range list {
				list[i] = drawn(i, 82+k)
			}
			x, err := matrix.VectorOf(list)
			if err != nil {
				return nil, true, err
			}
			in.more[v] = x
		}
		for k, v := range []string{"u", "v"} {
			var idx []int
			var val []float64
			for i := range 1 << n {
				if gen.Hash(uint64(i), uint64(84+k))%8 == 0 {
					idx, val = append(idx, i), append(val, float64(i%1000))
				}
			}
			x, err := matrix.VectorFromTuples(1<<n, idx, val, nil)
			if err != nil {
				return nil, true, err
			}
			in.more[v] = x
		}
		return in, true, nil
	case inputs.Scan(name, "pair%d", &n):
		seeds := min(inputs.SGMSeeds, 1<<n/4)
		a, b := gen.Correlated(1<<n, 40/float64(int(1)<<n), .9, 1)
		b, _ = gen.Renamed(b, seeds, 2)
		in.more["seeds"] = apps.FirstSeeds(seeds)
		for name, g := range map[string]*gen.Graph{"a": a, "b": b} {
			m, err := inputs.Weighted(g, nil)
			if err != nil {
				return nil, true, err
			}
			in.more[name] = m
		}
		return in, true, nil
	case inputs.Scan(name, "costs%d", &n):
		var problems []*auction.Problem
		for k := range batchedProblems {
			list := make([]float64, 1<<(2*n))
			for p := range list {
				list[p] = float64(gen.Hash(uint64(k<<(2*n)+p), 86) % 1000)
			}
			a, err := matrix.FromDense(1<<n, 1<<n, list)
			if err != nil {
				return nil, true, err
			}
			problems = append(problems, auction.Dense[inputs.F64](a))
		}
		in.more["problems"] = problems
		return in, true, nil
	}
	return streamInput(in)
}

// batchedProblems are the assignment problems of an input costsN.
const batchedProblems = 256

// drawn is a number of [0, 1) by hash.
func drawn(i, seed int) float64 {
	return float64(splitmix.At(uint64(i), uint64(seed)*0x9e3779b97f4a7c15)>>11) / (1 << 53)
}

// vec is a vector of an input vectorsN.
func (in *input) vec(name string) *matrix.Vector[inputs.F64] {
	return in.more[name].(*matrix.Vector[inputs.F64])
}

// shrunkInput is the name of an input of the same kind, 2^shrink times smaller.
func shrunkInput(name string, shrink int) string {
	if shrink <= 0 {
		return name
	}
	if small, ok := map[string]string{"bipartite1m": "bipartite10k", "planar16k": "planar256"}[name]; ok {
		return small
	}
	var n int
	for _, kind := range []string{"rmat", "directed", "dag", "weighted", "vectors", "pair", "costs", "streamrows", "streamfull"} {
		for _, suffix := range []string{"", "b"} {
			if inputs.Scan(name, kind+"%d"+suffix, &n) {
				return fmt.Sprint(kind, max(n-shrink, 6), suffix)
			}
		}
	}
	for _, kind := range []string{"thick", "uniform", "citations"} {
		if inputs.Scan(name, kind+"%d", &n) {
			return fmt.Sprint(kind, max(n>>(shrink/2), 16))
		}
	}
	return name
}

// figureOf measures an operation that returns a number.
func figureOf(run func(in *input, with ops.Option) (inputs.F64, error)) ours {
	return trials(func(b *cpuBench, in, _ *input) (trial, error) {
		var x inputs.F64
		return trial{func() (err error) {
			x, err = run(in, ops.WithThreads(b.Threads))
			return err
		}, func() (float64, error) { return x, nil }}, nil
	})
}
