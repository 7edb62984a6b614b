package ops

import (
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// Scatter computes C⟨M⟩ ⊕= T, where T has an entry at each (rows[k], cols[k]) for which u(k) is an
// entry: u(k), or the sum by dup of all those of one position. It is GrB_Matrix_build with lists
// that may repeat, as an operation. The lists and u have the same length; All is 0, 1, 2, ….
//
// On the host, sums are from left to right in the order of u. On a device their order is fixed too,
// but different for more than 512 entries of a position, and a vector of indices stays there; see
// [ValuesOf]. It takes O(entries of u + rows + columns) time on the host, and that of a radix sort
// of the positions on a device. An index out of range is a *matrix.IndexError that gives its
// position in the list.
func Scatter[T comparable](dst matrix.Target[T], dup semiring.Monoid[T], u matrix.VectorSource[T], rows, cols Indices, opts ...Option) error {
	c := begin[T]("Scatter", dup.Name(), opts)
	spec := specOf(dst)
	m, n := 0, 0
	if spec.Matrix != nil {
		m, n = spec.Matrix.Dims()
	}
	return scatter(c, spec, m, n, dup, u, &rows, cols)
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
	c := begin[T]("ScatterVector", dup.Name(), opts)
	spec := specOf(dst)
	n := 0
	if spec.Matrix != nil {
		_, n = spec.Matrix.Dims()
	}
	return scatter(c, spec, 1, n, dup, u, nil, idx)
}

// scatter is Scatter into m×n, and without rows into a vector.
func scatter[T comparable](c *call, spec matrix.Spec[T], m, n int, dup semiring.Monoid[T], u matrix.VectorSource[T], rows *Indices, cols Indices) error {
	if !dup.Valid() {
		return &OperatorError{c.op,
			"the monoid is the zero value; make it with a constructor of package semiring"}
	}
	v, err := operand[T](c, "u", u)
	if err != nil {
		return err
	}
	t, err := prepare(c, spec, m, n)
	if err != nil {
		return err
	}
	_, size := v.Dims()
	check := func(arg string, x Indices, n int) (indices, error) {
		list, err := x.resolve(c, arg, n, placeOf(spec))
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
		h := newRemoteCall(c, t, m, n)
		text, x, i, j := monoidText(h, dup), remoteOperand(h, v), h.indices(ri), h.indices(ci)
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
		st, ran, err := h.at.Scatter(h.call(), h.dest, text, x, i, j)
		return storeResult(h, t, st, ran, err)
	}
	if t.group != nil {
		if computesOnDevices(t.group) {
			if rows == nil {
				return scatterOnDevices(c, t, dup, v, nil, ci)
			}
			return scatterOnDevices(c, t, dup, v, &ri, ci)
		}
		if rows == nil {
			return groupScatter(c, t, dup, v, nil, ci.Indices)
		}
		return groupScatter(c, t, dup, v, &ri.Indices, ci.Indices)
	}
	st := access.Stored(v)
	if st.Format != sparse.Full {
		st = access.Rows(v)
	}
	var out *sparse.Store[T]
	if rows == nil {
		out, err = cpu.ScatterRow(c.env(), access.Monoid(dup), valued(st), ci.Indices, n)
	} else {
		out, err = cpu.Scatter(c.env(), access.Monoid(dup), valued(st), ri.Indices, ci.Indices, m, n)
	}
	if err != nil {
		return err
	}
	c.traced("scatter", st.NVals)
	return write(c, t, out, false)
}
