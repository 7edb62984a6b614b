package ops

import (
	"fmt"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// This file multiplies over semirings of index-binary operators on the host.

// mxmIndexed computes A·B.
func (c *call) mxmIndexed(p *cpu.Indexed, av, bv rep.View) error {
	t, env, a, b := &c.t, c.env(), factor{view: av}, factor{view: bv}
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
	rows := a.rows().Valued()
	if c.method == Dot || listed && c.method == Auto && a.width() <= maxDotWidth && dotPays(env, a, b, t.mask.S, false) {
		bt := b.cols().Valued()
		out, err := p.Dot(env, t.c, rows, bt, t.mask.S)
		if err != nil {
			return err
		}
		if c.tracing() {
			c.traced(Dot, cpu.DotCost(&rows.Structure, &bt.Structure, t.mask.S, env.Threads, false))
		}
		return c.write(out, true)
	}
	brows := b.rows().Valued()
	out, ran, err := p.MxM(env, t.c, rows, brows, t.mask, methods[c.method])
	if err != nil {
		return c.sized(err)
	}
	if c.tracing() {
		c.traced(names[ran], cpu.SaxpyCost(env, &rows.Structure, &brows.Structure))
	}
	return c.write(out, true)
}

// mxvIndexed computes A·u by product, which pulls if cols is nil and pushes otherwise.
func (c *call) mxvIndexed(a, uv rep.View, product func(rows, cols, u *sparse.Store) (*sparse.Store, error)) error {
	u := uv.Stored().Valued()
	method := c.method
	switch method {
	case Auto:
		method = c.direction(a, u, false, false)
	case Push, Pull:
	default:
		return &MethodError{c.op, method, "the methods of " + c.op + " are push and pull"}
	}
	method, err := c.pullable(method, a, u)
	if err != nil {
		return err
	}
	var rows, cols *sparse.Store
	if method == Pull {
		rows = a.Rows().Valued()
	} else {
		cols = a.Cols().Valued()
	}
	out, err := product(rows, cols, u)
	if err != nil {
		return err
	}
	if c.tracing() {
		c.traced(method, mxvWork(method, a, u))
	}
	return c.write(out, true)
}
