package cpu

import (
	"os"
	"path/filepath"
	"time"

	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// square computes S·S over a semiring.
func square(s semiring.Semiring[inputs.F64, inputs.F64, inputs.F64]) ours {
	return func(b *cpuBench, in, _ *input) (time.Duration, float64, error) {
		n := in.graph.NRows
		return toMatrix(n, n, func(c *matrix.Matrix[inputs.F64]) error {
			return ops.MxM(c, s, in.f64, in.f64, ops.WithThreads(b.Threads))
		})
	}
}

// closurePlusTimes is plus_times in the simplest user-defined form: two functions.
func closurePlusTimes() semiring.Semiring[inputs.F64, inputs.F64, inputs.F64] {
	plus := semiring.NewMonoid(semiring.NewBinary("my_plus", func(x, y inputs.F64) inputs.F64 { return x + y }), 0)
	return semiring.New(plus, semiring.NewBinary("my_times", func(x, y inputs.F64) inputs.F64 { return x * y }))
}

// userPlusTimes is plus_times in the fast user-defined form: the important loops, each
// a call with the operators as literals.
func userPlusTimes() semiring.Semiring[inputs.F64, inputs.F64, inputs.F64] {
	return closurePlusTimes().WithKernels(semiring.Kernels[inputs.F64, inputs.F64, inputs.F64]{
		Dot: func(s inputs.F64, ci []int32, av, x []inputs.F64) inputs.F64 {
			return semiring.DotFn(s, ci, av, x,
				func(x, y inputs.F64) inputs.F64 { return x * y }, func(x, y inputs.F64) inputs.F64 { return x + y })
		},
		Scatter: func(acc []inputs.F64, marks []uint64, a inputs.F64, ci []int32, bv []inputs.F64) {
			semiring.ScatterFn(acc, marks, a, ci, bv,
				func(x, y inputs.F64) inputs.F64 { return x * y }, func(x, y inputs.F64) inputs.F64 { return x + y })
		},
		ScatterAll: func(acc []inputs.F64, a inputs.F64, ci []int32, bv []inputs.F64) {
			semiring.ScatterAllFn(acc, a, ci, bv,
				func(x, y inputs.F64) inputs.F64 { return x * y }, func(x, y inputs.F64) inputs.F64 { return x + y })
		},
	})
}

// mtxFile writes an input as a Matrix Market file, once: general, real.
func mtxFile(b *cpuBench, in *input) (string, error) {
	path := filepath.Join(b.dir, in.name+".mtx")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	b.Log("writing " + in.name + ".mtx")
	return path, graphio.WriteFile(path, in.f64)
}

func readMTX(b *cpuBench, in, _ *input) (time.Duration, float64, error) {
	path, err := mtxFile(b, in)
	if err != nil {
		return 0, 0, err
	}
	var a *matrix.Matrix[inputs.F64]
	d, err := timed(func() (err error) {
		a, err = graphio.ReadMatrixMarketFile[inputs.F64](path, graphio.Threads(b.Threads))
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	return d, inputs.CheckMatrix(a), nil
}
