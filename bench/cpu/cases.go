package cpu

import (
	"fmt"
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/auction"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/bench/peers"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

func timed(fn func() error) (time.Duration, error) {
	start := time.Now()
	err := fn()
	return time.Since(start), err
}

// memo keeps data that a case derives from an input outside the timed part.
func memo[T any](in *input, key string, make func() T) T {
	if v, ok := in.more[key]; ok {
		return v.(T)
	}
	v := make()
	in.more[key] = v
	return v
}

func toMatrix[C semiring.Number](m, n int, run func(c *matrix.Matrix[C]) error) (time.Duration, float64, error) {
	c := matrix.New[C](m, n)
	d, err := timed(func() error { return run(c) })
	return d, inputs.CheckMatrix(c), err
}

func toVector[C semiring.Number](n int, run func(w *matrix.Vector[C]) error) (time.Duration, float64, error) {
	w := matrix.NewVector[C](n)
	d, err := timed(func() error { return run(w) })
	return d, inputs.CheckVector(w), err
}

type ours = func(b *cpuBench, in, other *input) (time.Duration, float64, error)

func spmv[T semiring.Number](s semiring.Semiring[T, T, T], of func(*input) *matrix.Matrix[T]) ours {
	return func(b *cpuBench, in, _ *input) (time.Duration, float64, error) {
		a := of(in)
		m, n := a.Dims()
		x := memo(in, fmt.Sprintf("x%T", *new(T)), func() *matrix.Vector[T] {
			val := make([]T, n)
			for i, v := range peers.Dense(n) {
				val[i] = T(v)
			}
			x, _ := matrix.VectorOf(val)
			return x
		})
		return toVector(m, func(w *matrix.Vector[T]) error {
			return ops.MxV(w, s, a, x, ops.WithThreads(b.Threads))
		})
	}
}

func of64(in *input) *matrix.Matrix[inputs.F64] { return in.f64 }

func of32(in *input) *matrix.Matrix[float32] { return in.f32 }

func spmvBytes(width float64) func(in *input) float64 {
	return func(in *input) float64 {
		g := in.graph
		return float64(g.NNZ())*(4+width) + float64(g.NRows)*(8+width) + float64(g.NCols)*width
	}
}

func push(percent int, masked bool) ours {
	return func(b *cpuBench, in, _ *input) (time.Duration, float64, error) {
		n := in.graph.NRows
		u := memo(in, fmt.Sprint("frontier", percent), func() *matrix.Vector[inputs.F64] {
			idx, val := peers.Frontier(n, percent)
			list := make([]int, len(idx))
			for p, i := range idx {
				list[p] = int(i)
			}
			u, _ := matrix.VectorFromTuples(n, list, val, nil)
			return u
		})
		mask := memo(in, "half", func() *matrix.Vector[bool] {
			vb := matrix.NewVectorBuilder[bool](n)
			for _, i := range peers.HalfMask(n) {
				vb.Add(int(i), true)
			}
			m, _ := vb.Build(nil)
			return m
		})
		return toVector(n, func(w *matrix.Vector[inputs.F64]) error {
			var dst matrix.VectorTarget[inputs.F64] = w
			if masked {
				dst = w.Masked(mask.Structure().Not()).Replace()
			}
			return ops.VxM(dst, semiring.MinPlus[inputs.F64](), u, in.f64, ops.Using(ops.Push), ops.WithThreads(b.Threads))
		})
	}
}

func unary(run func(c *matrix.Matrix[inputs.F64], a *matrix.Matrix[inputs.F64], with ops.Option) error) ours {
	return func(b *cpuBench, in, _ *input) (time.Duration, float64, error) {
		a := inputs.Bare(in.f64)
		return toMatrix(in.graph.NRows, in.graph.NCols, func(c *matrix.Matrix[inputs.F64]) error { return run(c, a, ops.WithThreads(b.Threads)) })
	}
}

func ewise(run func(c, a, b *matrix.Matrix[inputs.F64], with ops.Option) error) ours {
	return func(b *cpuBench, in, other *input) (time.Duration, float64, error) {
		return toMatrix(in.graph.NRows, in.graph.NCols, func(c *matrix.Matrix[inputs.F64]) error { return run(c, in.f64, other.f64, ops.WithThreads(b.Threads)) })
	}
}

func reduce(run func(w *matrix.Vector[inputs.F64], a *matrix.Matrix[inputs.F64], with ops.Option) error) ours {
	return func(b *cpuBench, in, _ *input) (time.Duration, float64, error) {
		a := inputs.Bare(in.f64)
		return toVector(in.graph.NRows, func(w *matrix.Vector[inputs.F64]) error { return run(w, a, ops.WithThreads(b.Threads)) })
	}
}

// oursAssignment assigns the rows of a matrix with all entries listed, which the peer
// takes as dense.
func oursAssignment(b *cpuBench, in, _ *input) (time.Duration, float64, error) {
	costs := memo(in, "dense", func() *matrix.Matrix[inputs.F64] {
		a, _ := matrix.FromDense(in.graph.NRows, in.graph.NCols, in.val)
		return a
	})
	var res *auction.Result
	d, err := timed(func() (err error) {
		res, err = auction.Solve(auction.Dense[inputs.F64](costs), auction.Options{Context: b.ctx, Threads: b.Threads})
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	return d, res.Value, nil
}

// benchSources are vertices with edges to start searches from.
func benchSources(in *input) []int {
	return memo(in, "sources", func() []int { return inputs.SourcesOf(in.graph, searches) })
}

const searches = 8

func search(one func(b *cpuBench, in *input, source int) (float64, time.Duration, error)) ours {
	return func(b *cpuBench, in, _ *input) (total time.Duration, check float64, err error) {
		in.f64.IsSymmetric() // marks the graph as undirected, so that it is its own transpose
		for _, v := range benchSources(in) {
			c, d, err := one(b, in, v)
			if err != nil {
				return 0, 0, err
			}
			total, check = total+d, check+c
		}
		return total / searches, check, nil
	}
}

func oursTriangles(b *cpuBench, in, _ *input) (time.Duration, float64, error) {
	in.f64.IsSymmetric()
	var count int64
	d, err := timed(func() (err error) {
		count, err = apps.TriangleCount(in.f64, apps.TriangleOptions{Run: apps.Run{Threads: b.Threads}})
		return err
	})
	return d, float64(count), err
}

func oursBuild(b *cpuBench, in, _ *input) (time.Duration, float64, error) {
	t := in.tuples
	builder := matrix.NewBuilder[inputs.F64](t.NRows, t.NCols).SetThreads(b.Threads)
	const block = 1 << 16
	var c *matrix.Matrix[inputs.F64]
	// The builder owns its blocks, so they are copies.
	type chunk struct {
		r, c []int32
		v    []inputs.F64
	}
	var chunks []chunk
	for lo := 0; lo < t.Len(); lo += block {
		hi := min(lo+block, t.Len())
		chunks = append(chunks, chunk{append([]int32(nil), t.Rows[lo:hi]...), append([]int32(nil), t.Cols[lo:hi]...), append([]inputs.F64(nil), in.val[lo:hi]...)})
	}
	d, err := timed(func() (err error) {
		for _, k := range chunks {
			builder.AddBlock(k.r, k.c, k.v)
		}
		c, err = builder.Build(semiring.Plus[inputs.F64]())
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	return d, inputs.CheckMatrix(c), nil
}

func oursExtract(b *cpuBench, in, _ *input) (time.Duration, float64, error) {
	n := in.graph.NRows
	p := memo(in, "permutation", func() ops.Indices {
		list := make([]int, n)
		for i, v := range peers.Permutation(n) {
			list[i] = int(v)
		}
		return ops.Of(list...)
	})
	a := inputs.Bare(in.f64)
	return toMatrix(n, n, func(c *matrix.Matrix[inputs.F64]) error { return ops.Extract(c, a, p, p, ops.WithThreads(b.Threads)) })
}

// communities partitions the pattern of an input. The check figure is the modularity, which differs
// a little between contenders.
func communities(o apps.CommunitiesOptions) ours {
	return communitiesOf(o, inputs.Bare[inputs.F64])
}

// communitiesOf partitions the pattern of what graph makes of an input.
func communitiesOf(o apps.CommunitiesOptions, graph func(*matrix.Matrix[inputs.F64]) *matrix.Matrix[inputs.F64]) ours {
	return func(b *cpuBench, in, _ *input) (time.Duration, float64, error) {
		o.Run = apps.Run{Threads: b.Threads, Context: b.ctx}
		a := graph(in.f64)
		var res *apps.CommunitiesResult
		d, err := timed(func() (err error) {
			res, err = apps.Communities(a.Pattern(), o)
			return err
		})
		if err != nil {
			return 0, 0, err
		}
		return d, res.Modularity, nil
	}
}
