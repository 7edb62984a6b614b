package ops_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// bomb is what happens in the call of an operator that is the at-th: it ends the context, or
// panics.
type bomb struct {
	at     int64
	calls  atomic.Int64
	after  atomic.Int64 // calls after that
	gone   atomic.Bool
	action func()
}

// tick counts a call.
func (b *bomb) tick() {
	if b.gone.Load() {
		b.after.Add(1)
	}
	if b.calls.Add(1) == b.at {
		b.action()
		b.gone.Store(true)
	}
}

// slow are operators of a user that call tick, and the operands of a case.
type slow struct {
	*bomb
	n          int // matrices are n×n, vectors have n·n positions
	c, a, b    mat
	w, u, v    vec
	rows, line vec // n positions
	few        vec // n positions, a quarter of them with entries
}

type (
	mat = *matrix.Matrix[float64]
	vec = *matrix.Vector[float64]
)

func (s *slow) f(x, y float64) float64 { s.tick(); return x + 2*y }
func (s *slow) op() semiring.BinaryOp[float64, float64, float64] {
	return semiring.NewBinary("slow", s.f)
}
func (s *slow) monoid() semiring.Monoid[float64] { return semiring.NewMonoid(s.op(), 0) }
func (s *slow) accum() matrix.CombineFunc[float64] {
	return s.f
}
func (s *slow) mul() semiring.Semiring[float64, float64, float64] {
	return semiring.New(semiring.Plus[float64](), s.op())
}
func (s *slow) add() semiring.Semiring[float64, float64, float64] {
	return semiring.New(s.monoid(), semiring.Times[float64]())
}

// slowCase is an operation that calls operators of a user. Its result is written to c, w or rows.
type slowCase struct {
	name string
	call func(s *slow, o ops.Option) error
}

// slowCases are all operations that call an operator, an accumulator or a function of a user.
func slowCases() []slowCase {
	all := ops.All()
	id := semiring.Identity[float64]()
	list := []slowCase{
		{"EWiseAdd", func(s *slow, o ops.Option) error { return ops.EWiseAdd(s.c, s.op(), s.a, s.b, o) }},
		{"EWiseAdd in place", func(s *slow, o ops.Option) error { return ops.EWiseAdd(s.c, s.op(), s.c, s.b, o) }},
		{"EWiseMult", func(s *slow, o ops.Option) error { return ops.EWiseMult(s.c, s.op(), s.a, s.b, o) }},
		{"EWiseUnion", func(s *slow, o ops.Option) error { return ops.EWiseUnion(s.c, s.op(), s.a, 1, s.b, 1, o) }},
		{"EWiseAdd of vectors", func(s *slow, o ops.Option) error { return ops.EWiseAdd(s.w, s.op(), s.u, s.v, o) }},
		{"EWiseMult of vectors", func(s *slow, o ops.Option) error { return ops.EWiseMult(s.w, s.op(), s.u, s.v, o) }},
		{"EWiseUnion of vectors", func(s *slow, o ops.Option) error { return ops.EWiseUnion(s.w, s.op(), s.u, 1, s.v, 1, o) }},
		{"Apply", func(s *slow, o ops.Option) error {
			return ops.Apply(s.c, semiring.NewUnary("slow", func(x float64) float64 { return s.f(x, x) }), s.a, o)
		}},
		{"Apply to a vector", func(s *slow, o ops.Option) error {
			return ops.Apply(s.w, semiring.NewUnary("slow", func(x float64) float64 { return s.f(x, x) }), s.u, o)
		}},
		{"ApplyFirst", func(s *slow, o ops.Option) error { return ops.ApplyFirst(s.c, s.op(), 1, s.a, o) }},
		{"ApplySecond", func(s *slow, o ops.Option) error { return ops.ApplySecond(s.w, s.op(), s.u, 1, o) }},
		{"ApplyIndex", func(s *slow, o ops.Option) error {
			return ops.ApplyIndex(s.c, semiring.NewIndex("slow", func(x float64, i, j int) float64 { return s.f(x, float64(i+j)) }), s.a, o)
		}},
		{"Select", func(s *slow, o ops.Option) error {
			return ops.Select(s.c, semiring.NewSelect("slow", func(x float64, i, j int) bool { return s.f(x, float64(i+j)) > 9 }), s.a, o)
		}},
		{"Select of a vector", func(s *slow, o ops.Option) error {
			return ops.Select(s.w, semiring.NewSelect("slow", func(x float64, i, j int) bool { return s.f(x, float64(i+j)) > 9 }), s.u, o)
		}},
		{"Reduce", func(s *slow, o ops.Option) error { return ops.Reduce(s.rows, s.monoid(), s.a, o) }},
		{"Reduce columns", func(s *slow, o ops.Option) error { return ops.Reduce(s.rows, s.monoid(), s.a.T(), o) }},
		{"Reduce a pattern", func(s *slow, o ops.Option) error { return ops.Reduce(s.rows, s.monoid(), s.a.Pattern(), o) }},
		{"ReduceScalar", func(s *slow, o ops.Option) error { _, err := ops.ReduceScalar(s.monoid(), s.a, o); return err }},
		{"ReduceScalar of a vector", func(s *slow, o ops.Option) error { _, err := ops.ReduceScalar(s.monoid(), s.u, o); return err }},
		{"Inner", func(s *slow, o ops.Option) error { _, err := ops.Inner(s.mul(), s.u, s.v, o); return err }},
		{"Inner sum", func(s *slow, o ops.Option) error { _, err := ops.Inner(s.add(), s.u, s.v, o); return err }},
		{"Outer", func(s *slow, o ops.Option) error { return ops.Outer(s.c, s.mul(), s.line, s.line, o) }},
		{"Kronecker", func(s *slow, o ops.Option) error {
			k := matrix.New[float64](s.n*2, s.n*2)
			two, _ := matrix.NewFull(2, 2, 1.0)
			return ops.Kronecker(k, s.op(), s.a, two, o)
		}},
		{"Scatter", func(s *slow, o ops.Option) error {
			at := make([]int, s.n*s.n)
			return ops.Scatter(s.c, s.monoid(), s.u, ops.Of(at...), ops.Of(at...), o)
		}},
		{"ScatterVector", func(s *slow, o ops.Option) error {
			at := make([]int, s.n*s.n)
			for k := range at {
				at[k] = k % 50
			}
			return ops.ScatterVector(s.w, s.monoid(), s.u, ops.Of(at...), o)
		}},
		{"Sort", func(s *slow, o ops.Option) error {
			return ops.Sort(s.c, nil, s.a, func(x, y float64) bool { s.tick(); return x > y }, o)
		}},
		{"MxM with own loops", func(s *slow, o ops.Option) error {
			ring := s.mul().WithKernels(semiring.Kernels[float64, float64, float64]{
				Scatter: func(acc []float64, marks []uint64, a float64, ci []int32, bv []float64) {
					semiring.ScatterFn(acc, marks, a, ci, bv, s.f, func(x, y float64) float64 { return x + y })
				},
			})
			return ops.MxM(s.c, ring, s.a, s.b, o)
		}},
		{"MxM by positions", func(s *slow, o ops.Option) error {
			via := semiring.NewIndexBinary("via", func(x, y float64, i, k, j int) float64 { return s.f(x, y) })
			return ops.MxM(s.c, semiring.New(semiring.Plus[float64](), via), s.a, s.b, o)
		}},
		// accumulators
		{"accumulate Apply", func(s *slow, o ops.Option) error { return ops.Apply(s.c.Accum(s.accum()), id, s.a, o) }},
		{"accumulate Apply under a mask", func(s *slow, o ops.Option) error { return ops.Apply(s.c.Masked(s.b).Accum(s.accum()), id, s.a, o) }},
		{"accumulate and replace", func(s *slow, o ops.Option) error {
			return ops.Apply(s.c.Masked(s.b.Structure()).Accum(s.accum()).Replace(), id, s.a, o)
		}},
		{"accumulate Apply to a vector", func(s *slow, o ops.Option) error { return ops.Apply(s.w.Accum(s.accum()), id, s.u, o) }},
		{"accumulate Assign", func(s *slow, o ops.Option) error { return ops.Assign(s.c.Accum(s.accum()), s.a, all, all, o) }},
		{"accumulate Assign a part", func(s *slow, o ops.Option) error {
			return ops.Assign(s.c.Accum(s.accum()), s.a, ops.Span(0, s.n), reversed(s.n), o)
		}},
		{"accumulate AssignVector", func(s *slow, o ops.Option) error {
			return ops.AssignVector(s.w.Accum(s.accum()), s.u, reversed(s.n*s.n), o)
		}},
		{"accumulate AssignScalar", func(s *slow, o ops.Option) error { return ops.AssignScalar(s.c.Accum(s.accum()), 3, all, all, o) }},
		{"accumulate AssignScalar under a mask", func(s *slow, o ops.Option) error {
			return ops.AssignScalar(s.c.Masked(s.a).Accum(s.accum()), 3, all, all, o)
		}},
		{"accumulate AssignVectorScalar", func(s *slow, o ops.Option) error {
			return ops.AssignVectorScalar(s.w.Accum(s.accum()), 3, ops.Span(0, s.n*s.n-1), o)
		}},
		{"accumulate Transpose", func(s *slow, o ops.Option) error { return ops.Transpose(s.c.Accum(s.accum()), s.a, o) }},
		{"accumulate Extract", func(s *slow, o ops.Option) error {
			return ops.Extract(s.c.Accum(s.accum()), s.a, all, reversed(s.n), o)
		}},
		{"accumulate ExtractVector", func(s *slow, o ops.Option) error { return ops.ExtractVector(s.w.Accum(s.accum()), s.u, all, o) }},
		{"accumulate Concat", func(s *slow, o ops.Option) error {
			return ops.Concat(s.c.Accum(s.accum()), [][]matrix.Source[float64]{{s.a}}, o)
		}},
		{"accumulate MxM", func(s *slow, o ops.Option) error {
			return ops.MxM(s.c.Accum(s.accum()), semiring.PlusTimes[float64](), s.a, s.b, o)
		}},
		{"accumulate TopK", func(s *slow, o ops.Option) error { return ops.TopK(s.c.Accum(s.accum()), s.a, s.n, o) }},
		{"accumulate Sample", func(s *slow, o ops.Option) error { return ops.Sample(s.c.Accum(s.accum()), s.a, s.n, 1, o) }},
	}
	for name, ring := range map[string]func(s *slow) semiring.Semiring[float64, float64, float64]{"⊗": (*slow).mul, "⊕": (*slow).add} {
		for _, m := range []ops.Method{ops.Auto, ops.SPA, ops.Sorted, ops.Hash} {
			list = append(list, slowCase{fmt.Sprintf("MxM %s %q", name, m), func(s *slow, o ops.Option) error {
				return ops.MxM(s.c, ring(s), s.a, s.b, ops.Using(m), o)
			}})
		}
		for _, m := range []ops.Method{ops.Push, ops.Pull} {
			list = append(list, slowCase{fmt.Sprintf("MxV %s %q", name, m), func(s *slow, o ops.Option) error {
				return ops.MxV(s.rows, ring(s), s.a, s.few, ops.Using(m), o)
			}}, slowCase{fmt.Sprintf("VxM %s %q", name, m), func(s *slow, o ops.Option) error {
				return ops.VxM(s.rows, ring(s), s.line, s.a, ops.Using(m), o)
			}})
		}
		list = append(list, slowCase{"MxM under a mask " + name, func(s *slow, o ops.Option) error {
			return ops.MxM(s.c.Masked(s.a), ring(s), s.a, s.b, o)
		}}, slowCase{"MxM by dot products " + name, func(s *slow, o ops.Option) error {
			mask := s.a.Clone()
			_ = mask.SetFormat(matrix.CSR)
			return ops.MxM(s.c.Masked(mask.Structure()), ring(s), s.a, s.b, ops.Using(ops.Dot), o)
		}}, slowCase{"MxM with a full matrix " + name, func(s *slow, o ops.Option) error {
			full, _ := matrix.NewFull(s.n, s.n, 1.0)
			return ops.MxM(s.c, ring(s), s.a, full, ops.Using(ops.SpMM), o)
		}})
	}
	return list
}

func reversed(n int) ops.Indices {
	list := make([]int, n)
	for p := range list {
		list[p] = n - 1 - p
	}
	return ops.Of(list...)
}

// newSlow makes operands. Full ones have an entry everywhere, others at most positions.
func newSlow(t *testing.T, n int, dst, src matrix.Format, b *bomb) *slow {
	t.Helper()
	make1 := func(rows, cols, gaps int, f matrix.Format) mat {
		val := matrix.NewBuilder[float64](rows, cols)
		for i := range rows {
			for j := range cols {
				if f == matrix.Full || (i+j)%gaps != 0 {
					val.Add(i, j, float64((i+3*j)%7+1))
				}
			}
		}
		a, err := val.Build(nil)
		must(t, err)
		must(t, errors.Join(a.SetFormat(f), a.SetFormat(matrix.Automatic)))
		return a
	}
	vector := func(size, gaps int, f matrix.Format) vec {
		v := matrix.NewVector[float64](size)
		must(t, ops.ExtractRow(v, make1(1, size, gaps, f), 0, ops.All()))
		must(t, errors.Join(v.SetFormat(f), v.SetFormat(matrix.Automatic)))
		return v
	}
	s := &slow{bomb: b, n: n, c: make1(n, n, 9, dst), a: make1(n, n, 5, src), b: make1(n, n, 4, src)}
	s.w, s.u, s.v = vector(n*n, 9, dst), vector(n*n, 5, src), vector(n*n, 4, src)
	s.rows, s.line, s.few = vector(n, 9, dst), vector(n, 5, src), vector(n, 2, matrix.CSR)
	return s
}

// slowFrom are operands by size and formats, which the cases of a test share.
type slowFrom map[string]*slow

// get returns operands with destinations of their own.
func (f slowFrom) get(t *testing.T, n int, dst, src matrix.Format, b *bomb) *slow {
	key := fmt.Sprint(n, dst, src)
	if f[key] == nil {
		f[key] = newSlow(t, n, dst, src, nil)
	}
	s := *f[key]
	s.bomb, s.c, s.w, s.rows = b, s.c.Clone(), s.w.Clone(), s.rows.Clone()
	return &s
}

// TestCancellationOfSlowOperators: every operation stops after few calls of a user's operator, an
// accumulator or a function once its context is done, and leaves its destination as it was, in
// every format, at small sizes and large ones.
func TestCancellationOfSlowOperators(t *testing.T) {
	t.Parallel()
	from := slowFrom{}
	const most = 256 // calls of a thread
	formats := []matrix.Format{matrix.CSR, matrix.Bitmap, matrix.Full}
	for _, n := range []int{60, 150} { // of 3600 and 22500 positions
		for k, dst := range formats {
			for l, src := range formats {
				if !longtest.Enabled() && k != l && dst != matrix.Full {
					continue
				}
				for at, threads := range []int{1, 3} {
					if !longtest.Takes(k+l+at, 4) {
						continue
					}
					for _, c := range slowCases() {
						ctx, stop := context.WithCancel(context.Background())
						b := &bomb{at: 40, action: stop}
						s := from.get(t, n, dst, src, b)
						before, w, rows := s.c.Clone(), s.w.Clone(), s.rows.Clone()
						err := c.call(s, ops.WithOptions(ops.WithContext(ctx), ops.WithThreads(threads)))
						stop()
						name := fmt.Sprintf("%s to %v from %v, n = %d, %d threads", c.name, dst, src, n, threads)
						if b.calls.Load() < b.at {
							t.Errorf("%s: only %d calls", name, b.calls.Load())
							continue
						}
						if !errors.Is(err, context.Canceled) {
							t.Errorf("%s: %v after %d calls", name, err, b.calls.Load())
						}
						if k := b.after.Load(); k > most*int64(threads) {
							t.Errorf("%s: %d calls after the context ended", name, k)
						}
						if !s.c.Equal(before) || !s.w.Equal(w) || !s.rows.Equal(rows) {
							t.Errorf("%s: the destination has changed", name)
						}
					}
				}
			}
		}
	}
}

// TestPanicOfAnOperator: a panic of a user's operator leaves the destination as it was.
func TestPanicOfAnOperator(t *testing.T) {
	t.Parallel()
	from := slowFrom{}
	formats := []matrix.Format{matrix.CSR, matrix.Bitmap, matrix.Full}
	for _, n := range []int{9, 60} {
		for _, f := range formats {
			for _, c := range slowCases() {
				b := &bomb{at: 5, action: func() { panic("boom") }}
				s := from.get(t, n, f, f, b)
				before, w, rows := s.c.Clone(), s.w.Clone(), s.rows.Clone()
				func() {
					defer func() {
						if r := recover(); fmt.Sprint(r) != "boom" {
							t.Errorf("%s to %v, n = %d: recovered %v after %d calls", c.name, f, n, r, b.calls.Load())
						}
					}()
					_ = c.call(s, ops.WithThreads(2))
				}()
				if !s.c.Equal(before) || !s.w.Equal(w) || !s.rows.Equal(rows) {
					t.Errorf("%s to %v, n = %d: the destination has changed", c.name, f, n)
				}
			}
		}
	}
}
