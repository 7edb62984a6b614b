package cpu

import (
	"cmp"
	"errors"

	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/bench/peers"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// operationCases are operations beside the cases of [Run]. Results are new matrices and vectors,
// but cases named assign or accumulate change a copy that is made before.
func operationCases() []cpuCase {
	plus, times := semiring.Plus[inputs.F64](), semiring.Times[inputs.F64]()
	op := func(name, in string, run ours) cpuCase {
		return cpuCase{name: operationGroup + name + " " + in, input: in, ours: run}
	}
	pair := func(name, in, other string, run ours) cpuCase {
		return cpuCase{name: operationGroup + name + " " + in, input: in, other: other, ours: run}
	}
	list := []cpuCase{
		op("C⟨A⟩ = A·A, dot products", "rmat16", maskedSquare(ops.Dot)),
		op("C⟨A⟩ = A·A, rows", "rmat14", maskedSquare(ops.SPA)),
		op("C⟨A⟩ = A·A, automatic", "rmat16", maskedSquare(ops.Auto)),
		op("outer product of 2000 by 2000", "rmat14", trials(outerTrial)),
		op("kronecker with 4×4", "rmat14", trials(func(b *cpuBench, in, _ *input) (trial, error) {
			four, err := matrix.NewFull(4, 4, 2.0)
			n := in.graph.NRows
			c := matrix.New[inputs.F64](4*n, 4*n)
			return trial{func() error { return ops.Kronecker(c, times, in.f64, four, ops.WithThreads(b.Threads)) },
				func() (float64, error) { return entriesOf(c, 16*in.graph.NNZ()) }}, err
		})),
		op("sizes of A·A", "rmat16", trials(func(b *cpuBench, in, _ *input) (trial, error) {
			var sum int64
			return trial{func() error {
				sizes, exact, err := ops.Sizes(in.f64, in.f64, nil, ops.WithThreads(b.Threads))
				for _, s := range sizes {
					sum += s
				}
				if err == nil && !exact {
					err = errors.New("the sizes are not exact")
				}
				return err
			}, func() (float64, error) { return float64(sum), nil }}, nil
		})),
		op("tile 2×2", "rmat16", trials(func(b *cpuBench, in, _ *input) (trial, error) {
			n := in.graph.NRows
			c := matrix.New[inputs.F64](2*n, 2*n)
			return trial{func() error { return ops.Tile(c, in.f64, 2, 2, ops.WithThreads(b.Threads)) },
				func() (float64, error) { return entriesOf(c, 4*in.graph.NNZ()) }}, nil
		})),
		op("A·X, X of 16 columns", "rmat18", trials(func(b *cpuBench, in, _ *input) (trial, error) {
			n := in.graph.NRows
			x, err := made(in, "columns", func() (*matrix.Matrix[inputs.F64], error) {
				list := make([]inputs.F64, 16*n)
				for k := range list {
					list[k] = drawn(k, 91)
				}
				return matrix.FromDense(n, 16, list)
			})
			c := matrix.New[inputs.F64](n, 16)
			return trial{func() error {
				return ops.MxM(c, semiring.PlusTimes[inputs.F64](), in.f64, x, ops.WithThreads(b.Threads))
			}, func() (float64, error) { return entriesOf(c, -1) }}, err
		})),
		pair("ewiseunion", "rmat18", "rmat18b", ewise(func(c, a, b *matrix.Matrix[inputs.F64], with ops.Option) error {
			return ops.EWiseUnion(c, plus, a, 1, b, 2, with)
		})),
		pair("C⟨B⟩ += 2·A", "rmat18", "rmat18b", trials(func(b *cpuBench, in, other *input) (trial, error) {
			c := in.f64.Clone()
			return trial{func() error {
				return ops.ApplySecond(c.Masked(other.f64.Structure()).Accum(plus), times, in.f64, 2, ops.WithThreads(b.Threads))
			}, func() (float64, error) { return entriesOf(c, in.graph.NNZ()) }}, nil
		})),
		pair("assign A(p,p) = B", "rmat18", "rmat18b", trials(func(b *cpuBench, in, other *input) (trial, error) {
			p, c := permutationOf(in), in.f64.Clone()
			return trial{func() error { return ops.Assign(c, other.f64, p, p, ops.WithThreads(b.Threads)) },
				func() (float64, error) { return entriesOf(c, other.graph.NNZ()) }}, nil
		})),
		op("assign C⟨A⟩ = 1", "rmat18", trials(func(b *cpuBench, in, _ *input) (trial, error) {
			n := in.graph.NRows
			c := matrix.New[inputs.F64](n, n)
			return trial{func() error {
				return ops.AssignScalar(c.Masked(in.f64.Structure()), 1, ops.All(), ops.All(), ops.WithThreads(b.Threads))
			}, func() (float64, error) { return entriesOf(c, in.graph.NNZ()) }}, nil
		})),
		op("apply row index", "rmat18", trials(func(b *cpuBench, in, _ *input) (trial, error) {
			n := in.graph.NRows
			c := matrix.New[int64](n, n)
			return trial{func() error {
				return ops.ApplyIndex(c, semiring.RowIndex[inputs.F64, int64](0), in.f64, ops.WithThreads(b.Threads))
			}, func() (float64, error) { return entriesOf(c, in.graph.NNZ()) }}, nil
		})),
		op("extract every second row", "rmat18", trials(func(b *cpuBench, in, _ *input) (trial, error) {
			n := in.graph.NRows
			rows := make([]int, n/2)
			for k := range rows {
				rows[k] = 2 * k
			}
			of, c := ops.Of(rows...), matrix.New[inputs.F64](n/2, n)
			return trial{func() error { return ops.Extract(c, inputs.Bare(in.f64), of, ops.All(), ops.WithThreads(b.Threads)) },
				func() (float64, error) { return entriesOf(c, -1) }}, nil
		})),
		op("split 2×2", "rmat18", trials(splitTrial)),
		op("scatter tuples", "rmat18", trials(scatterTrial)),
		op("sort rows", "rmat18", trials(func(b *cpuBench, in, _ *input) (trial, error) {
			c := matrix.New[inputs.F64](in.f64.Dims())
			columns := matrix.New[int32](in.f64.Dims())
			return trial{func() error { return ops.Sort(c, columns, in.f64, cmp.Less[inputs.F64], ops.WithThreads(b.Threads)) },
				func() (float64, error) { return entriesOf(c, in.graph.NNZ()) }}, nil
		})),
		op("4 largest of each row", "rmat18", unary(func(c, a *matrix.Matrix[inputs.F64], with ops.Option) error {
			return ops.TopK(c, a, 4, with)
		})),
		op("sample 10 of each row", "rmat18", unary(func(c, a *matrix.Matrix[inputs.F64], with ops.Option) error {
			return ops.Sample(c, a, 10, 5, with)
		})),
		op("sample 10 by weight", "weighted18", unary(func(c, a *matrix.Matrix[inputs.F64], with ops.Option) error {
			return ops.SampleWeighted(c, a, 10, 5, with)
		})),
		op("column of the largest of each row", "rmat18", trials(func(b *cpuBench, in, _ *input) (trial, error) {
			w := matrix.NewVector[int32](in.graph.NRows)
			return trial{func() error { return ops.ArgMax(w, in.f64, ops.WithThreads(b.Threads)) },
				func() (float64, error) { return itemsOf(w, int64(len(inputs.WalkStarts(in.graph)))) }}, nil
		})),
		op("sum of all entries", "rmat18", trials(func(b *cpuBench, in, _ *input) (trial, error) {
			var sum inputs.F64
			return trial{func() (err error) {
				sum, err = ops.ReduceScalar(plus, in.f64, ops.WithThreads(b.Threads))
				return err
			}, func() (float64, error) { return sum, nil }}, nil
		})),
	}
	return append(list, vectorCases()...)
}

func permutationOf(in *input) ops.Indices {
	return memo(in, "permutation", func() ops.Indices {
		n := in.graph.NRows
		list := make([]int, n)
		for i, v := range peers.Permutation(n) {
			list[i] = int(v)
		}
		return ops.Of(list...)
	})
}

// maskedSquare counts the common neighbours of the ends of each edge. The sum is six times the
// triangles.
func maskedSquare(method ops.Method) ours {
	return trials(func(b *cpuBench, in, _ *input) (trial, error) {
		in.f64.IsSymmetric()
		a, n := in.f64.Pattern(), in.graph.NRows
		c := matrix.New[int64](n, n)
		return trial{func() error {
			return ops.MxM(c.Masked(in.f64.Structure()), semiring.PlusPair[int64](), a, a, ops.Using(method), ops.WithThreads(b.Threads))
		}, func() (float64, error) {
			sum, err := ops.ReduceScalar(semiring.Plus[int64](), c)
			if err != nil {
				return 0, err
			}
			return float64(sum), fact("closed wedges modulo 6", sum%6, 0)
		}}, nil
	})
}

func outerTrial(b *cpuBench, in, _ *input) (trial, error) {
	n := in.graph.NRows
	u, err := made(in, "every eighth", func() (*matrix.Vector[inputs.F64], error) {
		u := matrix.NewVectorBuilder[inputs.F64](n)
		for i := 0; i < n; i += 8 {
			u.Add(i, float64(1+i%7))
		}
		return u.Build(nil)
	})
	if err != nil {
		return trial{}, err
	}
	c := matrix.New[inputs.F64](n, n)
	return trial{func() error { return ops.Outer(c, semiring.PlusTimes[inputs.F64](), u, u, ops.WithThreads(b.Threads)) },
		func() (float64, error) { return entriesOf(c, u.NVals()*u.NVals()) }}, nil
}

func splitTrial(b *cpuBench, in, _ *input) (trial, error) {
	n := in.graph.NRows
	cut := []int{n / 3, n - n/3}
	var parts []*matrix.Matrix[inputs.F64]
	grid := make([][]matrix.Target[inputs.F64], 2)
	for i := range grid {
		for j := range cut {
			part := matrix.New[inputs.F64](cut[i], cut[j])
			parts, grid[i] = append(parts, part), append(grid[i], part)
		}
	}
	return trial{func() error { return ops.Split(grid, in.f64, ops.WithThreads(b.Threads)) }, func() (sum float64, err error) {
		var entries int64
		for _, p := range parts {
			entries, sum = entries+p.NVals(), sum+inputs.CheckMatrix(p)
		}
		return sum, fact("entries", entries, in.graph.NNZ())
	}}, nil
}

// scatterTrial builds the matrix by an operation from its tuples, in the order of a hash.
func scatterTrial(b *cpuBench, in, _ *input) (trial, error) {
	type lists struct {
		rows, cols ops.Indices
		u          *matrix.Vector[inputs.F64]
	}
	l, err := made(in, "tuples", func() (l lists, err error) {
		r, c, v, err := in.f64.Tuples()
		if err != nil {
			return l, err
		}
		rows, cols := make([]int, len(r)), make([]int, len(r))
		val := make([]inputs.F64, len(r))
		for to, from := range peers.Permutation(len(r)) {
			rows[to], cols[to], val[to] = int(r[from]), int(c[from]), v[from]
		}
		l.rows, l.cols = ops.Of(rows...), ops.Of(cols...)
		l.u, err = matrix.VectorOf(val)
		return l, err
	})
	n := in.graph.NRows
	c := matrix.New[inputs.F64](n, n)
	return trial{func() error {
		return ops.Scatter(c, semiring.Plus[inputs.F64](), l.u, l.rows, l.cols, ops.WithThreads(b.Threads))
	}, func() (float64, error) { return entriesOf(c, in.graph.NNZ()) }}, err
}

// vectorCases are operations on vectors of 2²³.
func vectorCases() []cpuCase {
	const in = "vectors23"
	plus, times := semiring.Plus[inputs.F64](), semiring.Times[inputs.F64]()
	op := func(name string, bytes float64, run func(w *matrix.Vector[inputs.F64], in *input, with ops.Option) error, want func(in *input) int64) cpuCase {
		c := cpuCase{name: operationGroup + name + " " + in, input: in, ours: trials(func(b *cpuBench, in, _ *input) (trial, error) {
			w := matrix.NewVector[inputs.F64](in.vec("x").Size())
			return trial{func() error { return run(w, in, ops.WithThreads(b.Threads)) },
				func() (float64, error) { return itemsOf(w, want(in)) }}, nil
		})}
		if bytes > 0 {
			c.bytes = func(in *input) float64 { return bytes * float64(in.vec("x").Size()) }
		}
		return c
	}
	all := func(in *input) int64 { return int64(in.vec("x").Size()) }
	some := func(*input) int64 { return -1 }
	figure := func(name string, bytes float64, run func(in *input, with ops.Option) (inputs.F64, error)) cpuCase {
		size := func(in *input) float64 { return bytes * float64(in.vec("x").Size()) }
		return cpuCase{name: operationGroup + name + " " + in, input: in, bytes: size, ours: figureOf(run)}
	}
	return []cpuCase{
		op("apply, full", 16, func(w *matrix.Vector[inputs.F64], in *input, with ops.Option) error {
			return ops.Apply(w, semiring.Ainv[inputs.F64](), in.vec("x"), with)
		}, all),
		op("union, full", 24, func(w *matrix.Vector[inputs.F64], in *input, with ops.Option) error {
			return ops.EWiseAdd(w, plus, in.vec("x"), in.vec("y"), with)
		}, all),
		op("union, an entry in 8", 0, func(w *matrix.Vector[inputs.F64], in *input, with ops.Option) error {
			return ops.EWiseAdd(w, plus, in.vec("u"), in.vec("v"), with)
		}, some),
		op("intersection, an entry in 8", 0, func(w *matrix.Vector[inputs.F64], in *input, with ops.Option) error {
			return ops.EWiseMult(w, times, in.vec("u"), in.vec("v"), with)
		}, some),
		op("select above ½, full", 0, func(w *matrix.Vector[inputs.F64], in *input, with ops.Option) error {
			return ops.Select(w, semiring.ValueGT(.5), in.vec("x"), with)
		}, some),
		op("assign w⟨u⟩ = 1", 0, func(w *matrix.Vector[inputs.F64], in *input, with ops.Option) error {
			return ops.AssignVectorScalar(w.Masked(in.vec("u").Structure()), 1, ops.All(), with)
		}, func(in *input) int64 { return in.vec("u").NVals() }),
		op("assign 1 to all", 8, func(w *matrix.Vector[inputs.F64], in *input, with ops.Option) error {
			return ops.AssignVectorScalar(w, 1, ops.All(), with)
		}, all),
		op("extract in random order", 0, func(w *matrix.Vector[inputs.F64], in *input, with ops.Option) error {
			return ops.ExtractVector(w, in.vec("x"), orderOf(in), with)
		}, all),
		op("assign in random order", 0, func(w *matrix.Vector[inputs.F64], in *input, with ops.Option) error {
			return ops.AssignVector(w, in.vec("x"), orderOf(in), with)
		}, all),
		op("scatter in random order", 0, func(w *matrix.Vector[inputs.F64], in *input, with ops.Option) error {
			return ops.ScatterVector(w, semiring.Plus[inputs.F64](), in.vec("x"), orderOf(in), with)
		}, all),
		figure("inner product, full", 16, func(in *input, with ops.Option) (inputs.F64, error) {
			return ops.Inner(semiring.PlusTimes[inputs.F64](), in.vec("x"), in.vec("y"), with)
		}),
		figure("sum, full", 8, func(in *input, with ops.Option) (inputs.F64, error) {
			return ops.ReduceScalar(plus, in.vec("x"), with)
		}),
		figure("100 largest, full", 8, func(in *input, with ops.Option) (sum inputs.F64, err error) {
			idx, val, err := ops.TopKVector(in.vec("x"), 100, with)
			for k, i := range idx {
				sum += float64(i) + val[k]
			}
			return sum, err
		}),
	}
}

// orderOf is a permutation of the positions of an input vectorsN.
func orderOf(in *input) ops.Indices {
	return memo(in, "order", func() ops.Indices {
		list := make([]int, in.vec("x").Size())
		for i, v := range peers.Permutation(len(list)) {
			list[i] = int(v)
		}
		return ops.Of(list...)
	})
}
