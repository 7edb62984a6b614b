package cusparse

import (
	"cmp"
	"context"

	"github.com/hiveblas/hiveblas/cusparse/internal/tuned"
	"github.com/hiveblas/hiveblas/cusparse/space"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/matrix"
)

// This file chooses between the kernel and cuSPARSE for a product with a full matrix.

// methodColumns is the kernel's method.
const methodColumns = "spmm"

// tunerOfColumns makes up the full matrix.
func tunerOfColumns[T matrix.Number](ctx context.Context, d *Device, v *matrix.View[T], o TuneOptions, tc tuned.Case) (*tuner, error) {
	m, n := v.Dims()
	columns := cmp.Or(o.Columns, 64)
	if columns < 0 {
		return nil, &matrix.InvalidError{Op: "cusparse.Tune", Reason: "TuneOptions.Columns is negative; give the columns of the full matrix, or 0 for 64"}
	}
	x, err := matrix.NewFull[T](n, columns, 1)
	if err != nil {
		return nil, err
	}
	a, err := access.Operand(v, backend{d})
	if err != nil {
		return nil, err
	}
	b, err := access.Operand(matrix.AsView[T](x), backend{d})
	if err != nil {
		return nil, err
	}
	return &tuner{d: d, ctx: ctx, o: o, tc: tc, a: a, x: b, dest: device.Dest{Rows: m, Cols: columns, Type: tc.Semiring.Add.Out}}, nil
}

// runColumns times both and keeps the faster one.
func (u *tuner) runColumns() (*Tuning, error) {
	facts, print, err := u.facts(space.Pull)
	if err != nil {
		return nil, err
	}
	out := &Tuning{Op: u.o.Op, Facts: facts, Complete: true}
	methods := []string{methodColumns}
	if facts.Vendor {
		methods = append(methods, methodVendor)
	}
	for i, method := range methods {
		t, _, _ := u.time(method)
		t.Method = method
		if err := u.ctx.Err(); err != nil {
			return nil, err
		}
		out.Ranking = append(out.Ranking, t)
		if u.o.Progress != nil {
			u.o.Progress(i+1, len(methods))
		}
	}
	out.Legal, out.Chosen = len(methods), out.Ranking[0]
	if facts.Vendor {
		out.Vendor = out.Ranking[1].Time
	}
	out.rank()
	facts.Result *= u.dest.Cols
	if out.Bound, err = u.bound(facts); err != nil || out.Ranking[0].Err != nil || u.o.Dry {
		return out, err
	}
	u.d.mu.Lock()
	defer u.d.mu.Unlock()
	key := tuned.ColumnsKey(print, u.dest.Cols, u.dest.Type.Size)
	return out, u.d.plans().Keep(map[string]string{key: out.Ranking[0].Method})
}

// vendorWon reports whether a search found that cuSPARSE is the faster for a product with a full
// matrix, and the library is there and not forbidden.
func (f *frame) vendorWon(s device.Semiring, o device.Operand, b *store) bool {
	t := f.d.plans()
	if len(t.Plans) == 0 || f.d.noVendor || !hasRows(o) {
		return false
	}
	a := f.rows(o)
	if f.err != nil || !f.vendorHas(s, a, b) || a.origin().facts == nil && a.known() <= f.d.choice.floor {
		return false
	}
	x := f.factsOf(a)
	return f.err == nil && t.Plans[tuned.ColumnsKey(x.fingerprint(a.m, a.n, a.known()), b.n, s.Add.Out.Size)] == methodVendor &&
		f.vendorLibrary().err == nil
}
