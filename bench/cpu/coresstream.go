package cpu

import (
	"fmt"
	"runtime"

	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// streamRow is the number of entries of each row of the operands streamrowsN.
const streamRow = 21

// streamInput makes the operands of [streamCases] on all processors: streamrowsN are two matrices
// of 2ᴺ rows of 21 entries in CSR, a and b, equal in the positions of every second row and without
// a common position in the others; streamfullN are two full matrices of 2ᴺ entries, a and b, and
// two full vectors of as many, x and y, that share their values.
func streamInput(in *input) (*input, bool, error) {
	var n int
	threads := parallel.Threads(0)
	switch {
	case inputs.Scan(in.name, "streamrows%d", &n):
		rows := 1 << n
		stride := rows / streamRow
		for k, name := range []string{"a", "b"} {
			ptr := fresh.Make[int64](int64(rows) + 1)
			idx, val := fresh.Make[int32](int64(rows)*streamRow), fresh.Make[inputs.F64](int64(rows)*streamRow)
			ptr[0] = 0
			_ = parallel.Range(nil, threads, rows, 1<<14, func(_, lo, hi int) {
				for i := lo; i < hi; i++ {
					ptr[i+1] = int64(i+1) * streamRow
					first := int(drawn(i, 95)*float64(stride-1)) &^ 1 // even
					if i%2 == 1 {
						first += k
					}
					for e := range streamRow {
						p := i*streamRow + e
						idx[p], val[p] = int32(first+e*stride), drawn(p, 96+k)
					}
				}
			})
			a, err := matrix.FromCSR(rows, rows, ptr, idx, val)
			if err != nil {
				return nil, true, err
			}
			in.more[name] = a
		}
		return in, true, nil
	case inputs.Scan(in.name, "streamfull%d", &n):
		for k, name := range []string{"a", "b"} {
			val := fresh.Make[inputs.F64](1 << n)
			_ = parallel.Range(nil, threads, 1<<n, 1<<16, func(_, lo, hi int) {
				for p := lo; p < hi; p++ {
					val[p] = drawn(p, 98+k)
				}
			})
			a, err := matrix.FromDense(1<<(n/2), 1<<(n-n/2), val)
			if err != nil {
				return nil, true, err
			}
			x, err := matrix.VectorOf(val)
			if err != nil {
				return nil, true, err
			}
			in.more[name], in.more[[]string{"x", "y"}[k]] = a, x
		}
		return in, true, nil
	}
	return nil, false, nil
}

func (in *input) mat(name string) *matrix.Matrix[inputs.F64] {
	return in.more[name].(*matrix.Matrix[inputs.F64])
}

// streamCases are operations with operands of 2 GB and more, which no cache holds. The bytes are
// the bytes that must move: an operation on the values of a matrix in CSR leaves the positions,
// which its result shares. Results are new but where the name says kept.
func streamCases() []cpuCase {
	const listed, full, gb = "streamrows23", "streamfull28", 1 << 30
	plus, times := semiring.Plus[inputs.F64](), semiring.Times[inputs.F64]()
	// matrixCase has bytes for each entry of a, and for each of the result.
	matrixCase := func(name, operand string, ofA, ofC float64, run func(c *matrix.Matrix[inputs.F64], in *input, with ops.Option) error, kept bool) cpuCase {
		return cpuCase{name: streamGroup + name + " " + operand, input: operand, memory: 14 * gb,
			bytes: func(in *input) float64 {
				return ofA*float64(in.mat("a").NVals()) + ofC*float64(in.more["entries of "+name].(int64))
			},
			ours: trials(func(b *cpuBench, in, _ *input) (trial, error) {
				c := matrix.New[inputs.F64](in.mat("a").Dims())
				if kept {
					var err error
					if c, err = made(in, "kept "+name, func() (*matrix.Matrix[inputs.F64], error) {
						c := matrix.New[inputs.F64](in.mat("a").Dims())
						return c, run(c, in, ops.WithThreads(b.Threads))
					}); err != nil {
						return trial{}, err
					}
				}
				runtime.GC() // the result of the last repetition
				return trial{func() error { return run(c, in, ops.WithThreads(b.Threads)) }, func() (float64, error) {
					in.more["entries of "+name] = c.NVals()
					return sampled(c), nil
				}}, nil
			})}
	}
	vectorCase := func(name, operand string, size func(in *input) int, bytes func(in *input) float64,
		run func(w *matrix.Vector[inputs.F64], in *input, with ops.Option) error) cpuCase {
		return cpuCase{name: streamGroup + name + " " + operand, input: operand, memory: 12 * gb, bytes: bytes,
			ours: trials(func(b *cpuBench, in, _ *input) (trial, error) {
				w := matrix.NewVector[inputs.F64](size(in))
				runtime.GC()
				return trial{func() error { return run(w, in, ops.WithThreads(b.Threads)) },
					func() (float64, error) { return sampledVector(w), fact("entries", w.NVals(), int64(size(in))) }}, nil
			})}
	}
	height := func(in *input) int { m, _ := in.mat("a").Dims(); return m }
	length := func(in *input) int { return in.vec("x").Size() }
	per := func(bytes float64) func(in *input) float64 {
		return func(in *input) float64 { return bytes * float64(length(in)) }
	}
	rowSums := func(in *input) float64 { return 8*float64(in.mat("a").NVals()) + 16*float64(height(in)) }
	figure := func(name, operand string, bytes func(in *input) float64, run func(in *input, with ops.Option) (inputs.F64, error)) cpuCase {
		return cpuCase{name: streamGroup + name + " " + operand, input: operand, memory: 12 * gb, bytes: bytes, ours: figureOf(run)}
	}
	negate := func(c *matrix.Matrix[inputs.F64], in *input, with ops.Option) error {
		return ops.Apply(c, semiring.Ainv[inputs.F64](), in.mat("a"), with)
	}
	add := func(c *matrix.Matrix[inputs.F64], in *input, with ops.Option) error {
		return ops.EWiseAdd(c, plus, in.mat("a"), in.mat("b"), with)
	}
	multiply := func(c *matrix.Matrix[inputs.F64], in *input, with ops.Option) error {
		return ops.EWiseMult(c, times, in.mat("a"), in.mat("b"), with)
	}
	above := func(c *matrix.Matrix[inputs.F64], in *input, with ops.Option) error {
		return ops.Select(c, semiring.ValueGT(.5), in.mat("a"), with)
	}
	sums := func(w *matrix.Vector[inputs.F64], in *input, with ops.Option) error {
		return ops.Reduce(w, plus, in.mat("a"), with)
	}
	return []cpuCase{
		matrixCase("apply ainv", listed, 8, 8, negate, false),
		matrixCase("ewiseadd", listed, 24, 12, add, false),
		matrixCase("ewisemult", listed, 24, 12, multiply, false),
		matrixCase("select above ½", listed, 12, 12, above, false),
		vectorCase("reduce rows", listed, height, rowSums, sums),
		figure("sum of all entries", listed, func(in *input) float64 { return 8 * float64(in.mat("a").NVals()) },
			func(in *input, with ops.Option) (inputs.F64, error) { return ops.ReduceScalar(plus, in.mat("a"), with) }),
		matrixCase("apply ainv", full, 8, 8, negate, false),
		matrixCase("apply ainv, result kept", full, 8, 8, negate, true),
		matrixCase("ewiseadd", full, 16, 8, add, false),
		matrixCase("ewiseadd, result kept", full, 16, 8, add, true),
		matrixCase("ewisemult", full, 16, 8, multiply, false),
		matrixCase("select above ½", full, 8, 12, above, false),
		vectorCase("reduce rows", full, height, rowSums, sums),
		matrixCase("transpose", full, 8, 8, func(c *matrix.Matrix[inputs.F64], in *input, with ops.Option) error {
			return ops.Transpose(c, inputs.Bare(in.mat("a")), with)
		}, false),
		vectorCase("vector apply ainv", full, length, per(16), func(w *matrix.Vector[inputs.F64], in *input, with ops.Option) error {
			return ops.Apply(w, semiring.Ainv[inputs.F64](), in.vec("x"), with)
		}),
		vectorCase("vector ewiseadd", full, length, per(24), func(w *matrix.Vector[inputs.F64], in *input, with ops.Option) error {
			return ops.EWiseAdd(w, plus, in.vec("x"), in.vec("y"), with)
		}),
		vectorCase("vector assign a scalar", full, length, per(8), func(w *matrix.Vector[inputs.F64], in *input, with ops.Option) error {
			return ops.AssignVectorScalar(w, 1, ops.All(), with)
		}),
		vectorCase("vector assign a vector", full, length, per(16), func(w *matrix.Vector[inputs.F64], in *input, with ops.Option) error {
			return ops.AssignVector(w, in.vec("x"), ops.All(), with)
		}),
		figure("vector sum", full, per(8), func(in *input, with ops.Option) (inputs.F64, error) { return ops.ReduceScalar(plus, in.vec("x"), with) }),
		figure("vector inner product", full, per(16), func(in *input, with ops.Option) (inputs.F64, error) {
			return ops.Inner(semiring.PlusTimes[inputs.F64](), in.vec("x"), in.vec("y"), with)
		}),
	}
}

// sampled is a check figure of a large matrix: the number of entries and the values of some rows.
func sampled(c *matrix.Matrix[inputs.F64]) float64 {
	m, _ := c.Dims()
	sum := float64(c.NVals())
	for k := range 100 {
		left := 100
		for j, x := range c.Row(int(drawn(k, 93) * float64(m))) {
			if sum += x * float64(1+j%5); left == 0 {
				break
			}
			left--
		}
	}
	return sum
}

func sampledVector(w *matrix.Vector[inputs.F64]) float64 {
	sum := float64(w.NVals())
	for k := range 1000 {
		x, _ := w.At(int(drawn(k, 93) * float64(w.Size())))
		sum += x * float64(1+k%5)
	}
	return sum
}

// gigabytes is a size in text.
func gigabytes(bytes int64) string { return fmt.Sprintf("%.0f GB", float64(bytes)/1e9) }
