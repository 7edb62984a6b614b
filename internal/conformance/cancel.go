package conformance

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// cancelled returns calls that must stop when their context has ended.
func cancelled(o ops.Option) []errorCase {
	pt, plus, id := semiring.PlusTimes[float64](), semiring.Plus[float64](), semiring.Identity[float64]()
	row := semiring.NewIndex("row", func(_ float64, i, _ int) float64 { return float64(i) }, "i")
	all, ended := ops.All(), context.Canceled
	return []errorCase{
		{"cancelled/MxM", func(x misfits) error { return ops.MxM(x.c, pt, x.a, x.b, o) }, ended, nil},
		{"cancelled/MxV", func(x misfits) error { return ops.MxV(x.w, pt, x.a, x.u, o) }, ended, nil},
		{"cancelled/VxM", func(x misfits) error { return ops.VxM(x.w, pt, x.u, x.a, o) }, ended, nil},
		{"cancelled/EWiseAdd", func(x misfits) error { return ops.EWiseAdd(x.c, plus, x.a, x.b, o) }, ended, nil},
		{"cancelled/EWiseMult", func(x misfits) error { return ops.EWiseMult(x.c, plus, x.a, x.b, o) }, ended, nil},
		{"cancelled/EWiseUnion", func(x misfits) error { return ops.EWiseUnion(x.c, plus, x.a, 0, x.b, 0, o) }, ended, nil},
		{"cancelled/Apply", func(x misfits) error { return ops.Apply(x.c, id, x.a, o) }, ended, nil},
		{"cancelled/ApplyFirst", func(x misfits) error { return ops.ApplyFirst(x.c, plus, 1, x.a, o) }, ended, nil},
		{"cancelled/ApplySecond", func(x misfits) error { return ops.ApplySecond(x.c, plus, x.a, 1, o) }, ended, nil},
		{"cancelled/ApplyIndex", func(x misfits) error { return ops.ApplyIndex(x.c, row, x.a, o) }, ended, nil},
		{"cancelled/Select", func(x misfits) error { return ops.Select(x.c, semiring.Tril[float64](0), x.a, o) }, ended, nil},
		{"cancelled/Reduce", func(x misfits) error { return ops.Reduce(x.w, plus, x.a, o) }, ended, nil},
		{"cancelled/ReduceScalar", func(x misfits) error { _, err := ops.ReduceScalar(plus, x.a, o); return err }, ended, nil},
		{"cancelled/Transpose", func(x misfits) error { return ops.Transpose(x.c, x.a, o) }, ended, nil},
		{"cancelled/Extract", func(x misfits) error { return ops.Extract(x.c, x.a, all, all, o) }, ended, nil},
		{"cancelled/ExtractVector", func(x misfits) error { return ops.ExtractVector(x.w, x.u, all, o) }, ended, nil},
		{"cancelled/ExtractRow", func(x misfits) error { return ops.ExtractRow(x.w, x.a, 0, all, o) }, ended, nil},
		{"cancelled/Assign", func(x misfits) error { return ops.Assign(x.c, x.a, all, all, o) }, ended, nil},
		{"cancelled/AssignVector", func(x misfits) error { return ops.AssignVector(x.w, x.u, all, o) }, ended, nil},
		{"cancelled/AssignScalar", func(x misfits) error { return ops.AssignScalar(x.c, 1, all, all, o) }, ended, nil},
		{"cancelled/AssignVectorScalar", func(x misfits) error { return ops.AssignVectorScalar(x.w, 1, all, o) }, ended, nil},
		{"cancelled/Scatter", func(x misfits) error { return ops.Scatter(x.c, plus, x.u, all, all, o) }, ended, nil},
		{"cancelled/ScatterVector", func(x misfits) error { return ops.ScatterVector(x.w, plus, x.u, all, o) }, ended, nil},
		{"cancelled/Kronecker", func(x misfits) error { return ops.Kronecker(x.c, plus, x.a, some(1, 1), o) }, ended, nil},
	}
}

// countdown is a context that ends after left calls of Err.
type countdown struct {
	context.Context
	left atomic.Int64
}

// Err counts down and then returns context.Canceled.
func (c *countdown) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// testCancellation ends the context of every operation at its first check, at its second, and so
// on, until the operation completes. Each time the error must be the error of the context, and the
// destination unchanged. The final result must be right, so that no partial result was kept.
func testCancellation(t *testing.T, b Backend) {
	at := matrix.On(b.Place())
	fresh := func() misfits {
		return misfits{c: banded(150, 3, at), a: banded(150, 5), b: banded(150, 2), w: someVector(150, at), u: someVector(150)}
	}
	for n, c := range cancelled(nil) {
		t.Run(c.name, func(t *testing.T) {
			if reason := b.Skip("cancellation/" + c.name); reason != "" {
				t.Skip(reason)
			}
			want := fresh()
			if err := c.call(want); err != nil {
				t.Fatal(err)
			}
			untouched := fresh()
			for checks := range int64(10000) {
				if !longtest.Enabled() && checks > 10 && checks%3 != 0 {
					continue
				}
				ctx := &countdown{Context: context.Background()}
				ctx.left.Store(checks)
				x := fresh()
				err := cancelled(ops.WithOptions(ops.WithContext(ctx), ops.WithThreads(2)))[n].call(x)
				if err == nil {
					if !x.c.Equal(want.c) || !x.w.Equal(want.w) {
						t.Errorf("the result after cancelled calls is wrong")
					}
					return
				}
				if !errors.Is(err, context.Canceled) {
					t.Fatalf("cancelled at check %d: %v", checks, err)
				}
				if !x.c.Equal(untouched.c) || !x.w.Equal(untouched.w) {
					t.Fatalf("cancelled at check %d the destination has changed", checks)
				}
			}
			t.Error("10000 checks did not complete the operation")
		})
	}
}

// banded returns an n×n matrix with entries on width diagonals.
func banded(n, width int, opts ...matrix.Option) mat {
	b := matrix.NewBuilder[float64](n, n)
	for i := range n {
		for d := range min(width, n-i) {
			b.Add(i, i+d, float64(i%7+d+1))
		}
	}
	a := matrix.New[float64](n, n, opts...)
	if built, err := b.Build(nil); err == nil {
		access.SetStore(a, access.Store(built))
	}
	return a
}
