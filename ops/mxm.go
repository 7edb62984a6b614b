package ops

import (
	"fmt"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// MxM computes C⟨M⟩ ⊕= A ⊕.⊗ B, the product of an m×k and a k×n matrix over s. Position (i, j) of
// the product has an entry if A(i,k) and B(k,j) are both present for some k.
//
// SPA, Sorted and Hash compute row by row as in Gustavson (1978). SPA uses a dense accumulator and
// a bitmap; Sorted sorts and Hash hashes the products of a row. Dot computes one dot product per
// entry of the mask. SpMM adds rows of a full B. Diagonal multiplies the columns of A or the rows
// of B by the entries of a diagonal operand. The time is O(products + rows); the time of a forced
// SPA grows by the words of the bitmap between the first and the last column of each row, up to
// n/64. SPA, Sorted and Hash take two passes, so that the result is allocated with its exact size.
// The memory beyond the result is one accumulator of n positions per thread. The order of each sum
// is the same for every number of threads.
//
// The errors are *matrix.DimensionError, *MethodError, *OperatorError, the construction error of an
// operand, and ctx.Err().
func MxM[A, B, C comparable](dst matrix.Target[C], s semiring.Semiring[A, B, C], a matrix.Source[A], b matrix.Source[B], opts ...Option) error {
	return mxmOf(dst, s.Inside(), a, b, opts)
}

// mxmOf is MxM without element types, as the functions below whose names end alike.
func mxmOf(dst any, s *cpu.Ring, a, b any, opts []Option) error {
	return beginProduct("MxM", s, opts).mxm(destOf(dst), viewOf(a), viewOf(b))
}

// mxm is MxM over the semiring of the call.
func (c *call) mxm(d dest, a, b rep.View) error {
	if err := c.factors(a, b); err != nil {
		return err
	}
	am, ak := a.Dims()
	bk, bn := b.Dims()
	if ak != bk {
		return c.dim("b", shape(bk, bn), fmt.Sprintf("%d×any", ak), "the columns of a are the rows of b; perhaps one of them needs T()")
	}
	t, err := c.prepare(d, am, bn)
	if err != nil {
		return err
	}
	switch r := c.ring; {
	case t.at != nil:
		return c.remoteMxM(a, b)
	case t.group != nil:
		if r.Indexed != nil {
			return c.noGroup(t.group, "an index-binary operator")
		}
		return c.on(t.group).groupMxM(a, b)
	case r.Indexed != nil:
		return c.mxmIndexed(r.Indexed, a, b)
	case r.Positional != nil:
		return c.mxmPositional(r.pos(), r.Positional, a, b)
	}
	return c.product(c.ring.Semiring, c.ring.Flipped, factor{view: a}, factor{view: b})
}

// factors checks the semiring and the operands of a product.
func (c *call) factors(a, b rep.View) error {
	if !c.ring.Valid() {
		return &OperatorError{c.op, "the semiring is the zero value; make it with a constructor of package semiring"}
	}
	first, second := "a", "b"
	switch c.op {
	case "MxV":
		second = "u"
	case "VxM":
		first, second = "u", "a"
	}
	if err := c.operand(first, a); err != nil {
		return err
	}
	return c.operand(second, b)
}

// factor is an operand of a product: a view, or rows computed from one.
type factor struct {
	view     rep.View
	computed *sparse.Store
}

func (f factor) rows() *sparse.Store {
	if f.computed != nil {
		return f.computed
	}
	return f.view.Rows()
}

func (f factor) cols() *sparse.Store {
	if f.computed != nil {
		return f.computed.Transpose(0)
	}
	return f.view.Cols()
}

// width returns the number of columns.
func (f factor) width() int {
	if f.computed != nil {
		return f.computed.NCols
	}
	_, n := f.view.Dims()
	return n
}

func (f factor) hasRows() bool { return f.computed != nil || f.view.HasRows() }
func (f factor) hasCols() bool { return f.computed == nil && f.view.HasCols() }

// full returns the storage if it is full and not transposed.
func (f factor) full() *sparse.Store {
	if f.computed == nil && !f.view.Transposed {
		if st := f.view.Stored(); st.Format == sparse.Full {
			return st
		}
	}
	return nil
}

// product computes A·B over s; flip is s with exchanged operands.
func (c *call) product(s, flip *cpu.Semiring, a, b factor) error {
	env, t := c.env(), &c.t
	mask := t.mask
	listed := mask != nil && !mask.Comp && mask.S.Sparse()
	// SpMM is not used for a hypersparse first operand, because most rows of its dense result would
	// be empty.
	full := b.full()
	if full != nil && c.method == SpMM {
		if err := c.spmmRoom(a.rows().NRows, full.NCols); err != nil {
			return err
		}
	}
	if full != nil && (c.method == SpMM || c.method == Auto && cpu.SpMMPays(mask, &a.rows().Structure, full.NCols) && c.spmmRoom(a.rows().NRows, full.NCols) == nil) {
		out, err := cpu.SpMM(env, s, t.c, needed(a.rows(), s.UsesX), needed(full, s.UsesY))
		if err != nil {
			return err
		}
		c.traced(SpMM, a.rows().NVals*int64(full.NCols))
		return c.write(out, false)
	}
	if err := c.rowMethod(a, b, listed); err != nil {
		return err
	}
	rows := needed(a.rows(), s.UsesX)
	if c.method == Auto || c.method == Diagonal {
		if out, err := c.scaled(s, rows, b); err != nil {
			return err
		} else if out != nil {
			c.traced(Diagonal, out.NVals)
			return c.write(out, false)
		}
		if c.method == Diagonal {
			return &MethodError{c.op, Diagonal, "neither operand is a diagonal matrix"}
		}
	}
	if listed && (c.method == Dot || c.method == Auto && a.width() <= maxDotWidth && dotPays(env, a, b, mask.S, !s.User)) {
		bt := needed(b.cols(), s.UsesY)
		out, err := cpu.MaskedDot(env, flip, s, t.c, rows, bt, mask.S)
		if err != nil {
			return err
		}
		if c.tracing() {
			c.traced(Dot, cpu.DotCost(&rows.Structure, &bt.Structure, mask.S, env.Threads, !s.User))
		}
		return c.write(out, true)
	}
	brows := needed(b.rows(), s.UsesY)
	out, ran, err := cpu.MxM(env, s, t.c, rows, brows, mask, methods[c.method])
	if err != nil {
		return c.sized(err)
	}
	if c.tracing() {
		c.traced(names[ran], cpu.SaxpyCost(env, &rows.Structure, &brows.Structure))
	}
	return c.write(out, true)
}

// rowMethod returns an error if a forced method does not apply; listed reports whether there is a
// mask for Dot.
func (c *call) rowMethod(a, b factor, listed bool) error {
	switch c.method {
	case Auto, Sorted, Hash, Diagonal:
	case SPA:
		if n := b.width(); n > cpu.MaxAccumulator {
			return &MethodError{c.op, SPA, fmt.Sprintf("it keeps one sum per column, and b has %d columns, more than %d", n, cpu.MaxAccumulator)}
		}
	case Dot:
		if !listed {
			return &MethodError{c.op, Dot, "it needs a mask that is CSR or hypersparse and not complemented"}
		}
		if a.width() > maxDotWidth {
			return &MethodError{c.op, Dot, fmt.Sprintf("it expands each row of a, and a has more than %d columns", maxDotWidth)}
		}
	case SpMM:
		return &MethodError{c.op, SpMM, "it needs a full second operand that is not transposed"}
	default:
		return &MethodError{c.op, c.method, "the methods of MxM are spa, sorted, hash, dot, spmm and diagonal"}
	}
	return nil
}

// scaled computes the product if an operand is diagonal, and returns nil otherwise.
func (c *call) scaled(s *cpu.Semiring, rows *sparse.Store, b factor) (*sparse.Store, error) {
	stored := b.rows
	if !b.hasRows() && b.hasCols() { // the transpose of a diagonal matrix is diagonal too
		stored = b.cols
	}
	if cpu.IsDiagonal(&stored().Structure) {
		return cpu.ScaleColumns(c.env(), s, c.t.c, rows, needed(b.rows(), s.UsesY))
	}
	if cpu.IsDiagonal(&rows.Structure) {
		return cpu.ScaleRows(c.env(), s, c.t.c, rows, needed(b.rows(), s.UsesY))
	}
	return nil, nil
}

// spmmRoom returns a *matrix.SizeError if there is no memory for the result of SpMM, which is
// dense.
func (c *call) spmmRoom(m, n int) error {
	return c.room(fmt.Sprintf("the dense %d×%d result of spmm", m, n), int64(m)*int64(n), c.t.c.Size+1)
}

// methods maps a Method to the method of cpu.MxM, and names is its inverse.
var (
	methods = map[Method]cpu.Method{Auto: cpu.Auto, SPA: cpu.SPA, Sorted: cpu.Sorted, Hash: cpu.Hash}
	names   = [...]Method{cpu.Auto: Auto, cpu.SPA: SPA, cpu.Sorted: Sorted, cpu.Hash: Hash}
)

// maxDotWidth is the longest row of a that Dot expands to a dense array per thread.
const maxDotWidth = 1 << 26

// dotPays reports whether Dot is estimated to be faster than a row method, by the numbers of
// products that the two examine. A dot product reads two arrays and writes nothing, so its products
// count half. Computing the transpose costs about as much as examining six products per entry.
func dotPays(env cpu.Env, a, b factor, mask *sparse.Structure, exchange bool) bool {
	if !b.hasCols() && b.hasRows() {
		// Without the transpose, the column lengths of b are unknown: use the average.
		rows := &b.rows().Structure
		average := rows.NVals/int64(max(1, rows.NCols)) + 1
		return mask.NVals*average/2+6*rows.NVals < cpu.SaxpyCost(env, &a.rows().Structure, rows)
	}
	bt := b.cols()
	dot := cpu.DotCost(&a.rows().Structure, &bt.Structure, mask, env.Threads, exchange)
	if !b.hasRows() {
		return true
	}
	return dot/2 < cpu.SaxpyCost(env, &a.rows().Structure, &b.rows().Structure)
}

// mxmPositional replaces the values of one operand by the index and multiplies with first or
// second.
func (c *call) mxmPositional(which semiring.Position, p *cpu.Positional, a, b rep.View) error {
	switch which {
	case semiring.PositionJ:
		return c.product(p.Second, p.SecondFlip, factor{view: a}, factor{computed: c.columnValued(b.Rows(), p, 0)})
	case semiring.PositionK:
		return c.product(p.First, p.FirstFlip, factor{computed: c.columnValued(a.Rows(), p, 0)}, factor{view: b})
	}
	return c.product(p.First, p.FirstFlip, factor{computed: c.rowValued(a.Rows(), p, c.local.shift)}, factor{view: b})
}

// indexed returns s with values of the result, which put sets for the entries lo … hi−1 of a row.
func (c *call) indexed(s *sparse.Store, put func(v sparse.Values, row int, cols []int32)) *sparse.Store {
	out := &sparse.Store{Structure: s.Structure, Val: c.t.c.Make(int64(len(s.Idx))), Type: c.t.c}
	_ = s.Spans(nil, 0, func(base int, lo, hi int64) { put(out.Part(lo, hi), base/max(s.NCols, 1), s.Idx[lo:hi]) })
	return out
}

// rowValued returns s with the row of each entry, plus shift, as its value.
func (c *call) rowValued(s *sparse.Store, p *cpu.Positional, shift int) *sparse.Store {
	return c.indexed(s, func(v sparse.Values, row int, _ []int32) {
		if v.Len() > 0 {
			p.FillIndices(c.t.c.One(v, 0), []int32{int32(row + shift)})
			c.t.c.Fill(v, c.t.c.One(v, 0))
		}
	})
}

// columnValued returns s with the column of each entry, plus shift, as its value.
func (c *call) columnValued(s *sparse.Store, p *cpu.Positional, shift int) *sparse.Store {
	return c.indexed(s, func(v sparse.Values, _ int, cols []int32) {
		if shift != 0 {
			list := make([]int32, len(cols))
			for e, j := range cols {
				list[e] = j + int32(shift)
			}
			cols = list
		}
		p.FillIndices(v, cols)
	})
}
