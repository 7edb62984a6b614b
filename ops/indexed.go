package ops

import (
	"fmt"

	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// This file multiplies over semirings of index-binary operators on the host.

// mxmIndexed computes A·B.
func mxmIndexed[A, B, C comparable](c *call, t *target[C], p *cpu.Indexed[A, B, C], av matrix.View[A], bv matrix.View[B]) error {
	env, a, b := c.env(), factor[A]{view: av}, factor[B]{view: bv}
	listed := t.mask != nil && !t.mask.Comp && t.mask.S.Sparse()
	switch c.method {
	case Auto, Sorted, Hash:
	case SPA:
		if n := b.width(); n > cpu.MaxAccumulator {
			return &MethodError{c.op, SPA, fmt.Sprintf("it keeps one sum per column, and b has %d columns, more than %d", n, cpu.MaxAccumulator)}
		}
	case Dot:
		if !listed || a.width() > maxDotWidth {
			return &MethodError{c.op, Dot, fmt.Sprintf("it needs a mask that is CSR or hypersparse and not complemented, and at most %d columns of a", maxDotWidth)}
		}
	default:
		return &MethodError{c.op, c.method, "the methods of MxM with an index-binary operator are spa, sorted, hash and dot"}
	}
	rows := valued(a.rows())
	if c.method == Dot || listed && c.method == Auto && a.width() <= maxDotWidth && dotPays(env, a, b, t.mask.S) {
		bt := valued(b.cols())
		out, err := p.Dot(env, rows, bt, t.mask.S)
		if err != nil {
			return err
		}
		if c.tracing() {
			c.traced(Dot, cpu.DotCost(rows, bt, t.mask.S, env.Threads))
		}
		return write(c, t, out, true)
	}
	brows := valued(b.rows())
	out, ran, err := p.MxM(env, rows, brows, t.mask, methods[c.method])
	if err != nil {
		return c.sized(err)
	}
	if c.tracing() {
		c.traced(names[ran], cpu.SaxpyCost(env, rows, brows))
	}
	return write(c, t, out, true)
}

// mxvIndexed computes A·u by product, which pulls if cols is nil and pushes otherwise.
func mxvIndexed[A, B, C comparable](c *call, t *target[C], a matrix.View[A], uv matrix.View[B], product func(rows, cols *sparse.Store[A], u *sparse.Store[B]) (*sparse.Store[C], error)) error {
	u := valued(access.Stored(uv))
	method := c.method
	switch method {
	case Auto:
		method = direction(c, a, u, t.mask, false)
	case Push, Pull:
	default:
		return &MethodError{c.op, method, "the methods of " + c.op + " are push and pull"}
	}
	method, err := pullable(c, t, method, a, u)
	if err != nil {
		return err
	}
	var rows, cols *sparse.Store[A]
	if method == Pull {
		rows = valued(access.Rows(a))
	} else {
		cols = valued(access.Cols(a))
	}
	out, err := product(rows, cols, u)
	if err != nil {
		return err
	}
	if c.tracing() {
		c.traced(method, mxvWork(method, a, u))
	}
	return write(c, t, out, true)
}
