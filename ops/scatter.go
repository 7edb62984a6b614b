package ops

import (
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/pass"
	"github.com/hiveblas/hiveblas/internal/record"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// Scatter computes C⟨M⟩ ⊕= T, where T has an entry at each (rows[k], cols[k]) for which u(k) is an
// entry: u(k), or the sum by dup of all entries of one position. It is GrB_Matrix_build with lists
// that may repeat, as an operation. The lists and u have the same length; All is 0, 1, 2, ….
//
// On the host, sums are from left to right in the order of u. On a device their order is fixed too,
// but different for more than 512 entries of a position, and a vector of indices stays there; see
// [ValuesOf]. It takes O(entries of u + rows + columns) time on the host, and the time of a radix
// sort of the positions on a device. Scatter returns a *matrix.IndexError with the position in the
// list if an index is out of range.
func Scatter[T comparable](dst matrix.Target[T], dup semiring.Monoid[T], u matrix.VectorSource[T], rows, cols Indices, opts ...Option) error {
	return begin("Scatter", dup.Name(), opts).scatter(destOf(dst), monoidOf(dup.Inside()), viewOf(u), &rows, cols)
}

// ScatterVector computes w⟨m⟩ ⊕= t, where t(i) is the sum by dup of the entries u(k) with idx[k] =
// i; see [Scatter]. With dup as accumulator it is w(idx) ⊕= u for a list that may repeat, which
// AssignVector refuses:
//
//	ops.ScatterVector(w.Accum(dup), dup, u, idx)
//
// It takes O(entries of u + size of w) time on the host; O(entries · log entries) where w is much
// longer than u.
func ScatterVector[T comparable](dst matrix.VectorTarget[T], dup semiring.Monoid[T], u matrix.VectorSource[T], idx Indices, opts ...Option) error {
	return begin("ScatterVector", dup.Name(), opts).scatter(destOf(dst), monoidOf(dup.Inside()), viewOf(u), nil, idx)
}

// scatter is Scatter, and without rows ScatterVector.
func (c *call) scatter(d dest, dup monoid, u rep.View, rows *Indices, cols Indices) error {
	if err := c.validMonoid(&dup); err != nil {
		return err
	}
	if err := c.operand("u", u); err != nil {
		return err
	}
	m, n := d.dims()
	if rows == nil {
		m = 1
	}
	t, err := c.prepare(d, m, n)
	if err != nil {
		return err
	}
	_, size := u.Dims()
	check := func(arg string, x Indices, n int) (indices, error) {
		list, err := x.resolve(c, arg, n, d.place())
		if err == nil && list.N != size {
			err = c.dim("u", shapeOf(true, 1, size), shapeOf(true, 1, list.N),
				"it needs one position per index of "+arg)
		}
		return list, err
	}
	ri, name, width := onlyRow, "idx", n
	if rows != nil {
		name = "cols"
		if ri, err = check("rows", *rows, max(m, c.local.whole)); err != nil {
			return err
		}
	} else {
		width = max(n, c.local.whole)
	}
	ci, err := check(name, cols, width)
	if err != nil {
		return err
	}
	if t.at != nil {
		if rows == nil && t.vector && ci.values != nil && c.recorded() {
			return c.listed(pass.Scatter, record.KeyOf(unsafe.Pointer(dup.k), u, *ci.values), func(h *remoteCall, s *pass.Step) {
				s.Monoid, s.A, s.B = h.monoid(&dup, t.c), h.use(u), h.use(*ci.values)
			}, func() error { return c.scatter(d, dup, u, rows, cols) })
		}
		h := c.newRemote(m, n)
		text, x, i, j := h.monoid(&dup, t.c), h.operand(u), h.indices(ri), h.indices(ci)
		part := &j
		if rows != nil {
			part = &i
		}
		if part.Of = c.local.whole; part.Of != 0 { // a block of a group
			part.Lo = c.local.shift
		}
		if h.err != nil {
			return h.err
		}
		return h.store(h.at.Scatter(h.call(), h.dest, text, x, i, j))
	}
	if t.group != nil {
		byRows := &ri
		if rows == nil {
			byRows = nil
		}
		if computesOnDevices(t.group) {
			return c.on(t.group).scatterOnDevices(dup, u, byRows, ci)
		}
		return c.on(t.group).groupScatter(dup, u, byRows, ci.Indices)
	}
	st := u.Stored()
	if st.Format != sparse.Full {
		st = u.Rows()
	}
	var out *sparse.Store
	if rows == nil {
		out, err = cpu.ScatterRow(c.env(), dup.k, st.Valued(), ci.Indices, n)
	} else {
		out, err = cpu.Scatter(c.env(), dup.k, st.Valued(), ri.Indices, ci.Indices, m, n)
	}
	if err != nil {
		return err
	}
	c.traced("scatter", st.NVals)
	return c.write(out, false)
}
