package ops

import (
	"fmt"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// MxM computes C⟨M⟩ ⊕= A ⊕.⊗ B, the product of an m×k and a k×n matrix over s. Position (i, j) of
// the product has an entry if A(i,k) and B(k,j) are both present for some k.
//
// SPA, Sorted and Hash compute row by row as in Gustavson (1978). SPA uses a dense accumulator and
// a bitmap; Sorted sorts and Hash hashes the products of a row. Dot computes one dot product per
// entry of the mask. SpMM adds rows of a full B. Diagonal multiplies the columns of A or the rows of B
// by the entries of a diagonal operand. The time is O(products + rows); that of a forced SPA grows by
// the words of the bitmap between the first and the last column of each row, up to n/64. SPA, Sorted
// and Hash take two passes, so that the result is allocated with its exact size. The memory beyond the
// result is one accumulator of n positions per thread. The order of each sum is the same for every
// number of threads.
//
// The errors are *matrix.DimensionError, *MethodError, *OperatorError, the construction error of an
// operand, and ctx.Err().
func MxM[A, B, C comparable](dst matrix.Target[C], s semiring.Semiring[A, B, C], a matrix.Source[A], b matrix.Source[B], opts ...Option) error {
	c := begin[C]("MxM", s.Name(), opts)
	av, bv, err := factors(c, s, a, b)
	if err != nil {
		return err
	}
	am, ak := av.Dims()
	bk, bn := bv.Dims()
	if ak != bk {
		return c.dim("b", shape(bk, bn), fmt.Sprintf("%d×any", ak), "the columns of a are the rows of b; perhaps one of them needs T()")
	}
	t, err := prepare(c, specOf(dst), am, bn)
	if err != nil {
		return err
	}
	if t.at != nil {
		return remoteMxM(c, t, s, av, bv)
	}
	if t.group != nil {
		if access.Indexed(s) != nil {
			return c.noGroup(t.group, "an index-binary operator")
		}
		return groupMxM(c, t, s, av, bv)
	}
	if p := access.Indexed(s); p != nil {
		return mxmIndexed(c, t, p, av, bv)
	}
	if p := access.Positional(s); p != nil {
		return mxmPositional(c, t, s.Position(), p, av, bv)
	}
	return mxm(c, t, access.Semiring(s), access.Flipped(s), factor[A]{view: av}, factor[B]{view: bv})
}

func factors[A, B, C comparable](c *call, s semiring.Semiring[A, B, C], a matrix.Operand[A], b matrix.Operand[B]) (av matrix.View[A], bv matrix.View[B], err error) {
	if !s.Valid() {
		return av, bv, &OperatorError{c.op, "the semiring is the zero value; make it with a constructor of package semiring"}
	}
	first, second := "a", "b"
	switch c.op {
	case "MxV":
		second = "u"
	case "VxM":
		first, second = "u", "a"
	}
	if av, err = operand(c, first, a); err != nil {
		return av, bv, err
	}
	bv, err = operand(c, second, b)
	return av, bv, err
}

// factor is an operand of a product: a view, or rows computed from one.
type factor[T comparable] struct {
	view     matrix.View[T]
	computed *sparse.Store[T]
}

func (f factor[T]) rows() *sparse.Store[T] {
	if f.computed != nil {
		return f.computed
	}
	return access.Rows(f.view)
}

func (f factor[T]) cols() *sparse.Store[T] {
	if f.computed != nil {
		return sparse.Transpose(f.computed, 0)
	}
	return access.Cols(f.view)
}

// width returns the number of columns.
func (f factor[T]) width() int {
	if f.computed != nil {
		return f.computed.NCols
	}
	_, n := f.view.Dims()
	return n
}

func (f factor[T]) hasRows() bool { return f.computed != nil || access.HasRows(f.view) }
func (f factor[T]) hasCols() bool { return f.computed == nil && access.HasCols(f.view) }

// full returns the storage if it is full and not transposed.
func (f factor[T]) full() *sparse.Store[T] {
	if f.computed == nil && !f.view.Transposed() {
		if st := access.Stored(f.view); st.Format == sparse.Full {
			return st
		}
	}
	return nil
}

func mxm[A, B, C comparable](c *call, t *target[C], s *cpu.Semiring[A, B, C], flip *cpu.Semiring[B, A, C], a factor[A], b factor[B]) error {
	env := c.env()
	mask := t.mask
	listed := mask != nil && !mask.Comp && mask.S.Sparse()
	// SpMM is not used for a hypersparse first operand, because most rows of its dense result would
	// be empty.
	full := b.full()
	if full != nil && c.method == SpMM {
		if err := spmmRoom[C](c, a.rows().NRows, full.NCols); err != nil {
			return err
		}
	}
	if full != nil && (c.method == SpMM || c.method == Auto && a.rows().Format == sparse.CSR && spmmRoom[C](c, a.rows().NRows, full.NCols) == nil) {
		out, err := cpu.SpMM(env, s, needed(a.rows(), s.UsesX), needed(full, s.UsesY))
		if err != nil {
			return err
		}
		c.traced(SpMM, a.rows().NVals*int64(full.NCols))
		return write(c, t, out, false)
	}
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
	rows := needed(a.rows(), s.UsesX)
	if c.method == Auto || c.method == Diagonal {
		if out, err := scaled(env, s, rows, b); err != nil {
			return err
		} else if out != nil {
			c.traced(Diagonal, out.NVals)
			return write(c, t, out, false)
		}
		if c.method == Diagonal {
			return &MethodError{c.op, Diagonal, "neither operand is a diagonal matrix"}
		}
	}
	if listed && (c.method == Dot || c.method == Auto) {
		if c.method == Dot || a.width() <= maxDotWidth && dotPays(env, a, b, mask.S) {
			bt := needed(b.cols(), s.UsesY)
			out, err := cpu.MaskedDot(env, flip, rows, bt, mask.S)
			if err != nil {
				return err
			}
			if c.tracing() {
				c.traced(Dot, cpu.DotCost(rows, bt, mask.S, env.Threads))
			}
			return write(c, t, out, true)
		}
	}
	brows := needed(b.rows(), s.UsesY)
	out, ran, err := cpu.MxM(env, s, rows, brows, mask, methods[c.method])
	if err != nil {
		return c.sized(err)
	}
	if c.tracing() {
		c.traced(names[ran], cpu.SaxpyCost(env, rows, brows))
	}
	return write(c, t, out, true)
}

// scaled computes the product if an operand is diagonal, and returns nil otherwise.
func scaled[A, B, C comparable](env cpu.Env, s *cpu.Semiring[A, B, C], rows *sparse.Store[A], b factor[B]) (*sparse.Store[C], error) {
	stored := b.rows
	if !b.hasRows() && b.hasCols() { // the transpose of a diagonal matrix is diagonal too
		stored = b.cols
	}
	if cpu.IsDiagonal(&stored().Structure) {
		return cpu.ScaleColumns(env, s, rows, needed(b.rows(), s.UsesY))
	}
	if cpu.IsDiagonal(&rows.Structure) {
		return cpu.ScaleRows(env, s, rows, needed(b.rows(), s.UsesY))
	}
	return nil, nil
}

// spmmRoom returns a *matrix.SizeError if there is no memory for the result of SpMM, which is dense.
func spmmRoom[C any](c *call, m, n int) error {
	return c.room(fmt.Sprintf("the dense %d×%d result of spmm", m, n), int64(m)*int64(n), int64(unsafe.Sizeof(*new(C)))+1)
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
func dotPays[A, B comparable](env cpu.Env, a factor[A], b factor[B], mask *sparse.Structure) bool {
	if !b.hasCols() && b.hasRows() {
		// Without the transpose, the column lengths of b are unknown: use the average.
		rows := b.rows()
		average := rows.NVals/int64(max(1, rows.NCols)) + 1
		return mask.NVals*average/2+6*rows.NVals < cpu.SaxpyCost(env, a.rows(), rows)
	}
	bt := b.cols()
	dot := cpu.DotCost(a.rows(), bt, mask, env.Threads)
	if !b.hasRows() {
		return true
	}
	return dot/2 < cpu.SaxpyCost(env, a.rows(), b.rows())
}

// mxmPositional replaces the values of one operand by the index and multiplies with first or
// second.
func mxmPositional[A, B, C comparable](c *call, t *target[C], which semiring.Position,
	p *cpu.Positional[A, B, C], av matrix.View[A], bv matrix.View[B]) error {
	switch which {
	case semiring.PositionJ:
		rows := access.Rows(bv)
		return mxm(c, t, p.Second, p.SecondFlip,
			factor[A]{view: av}, factor[C]{computed: columnValued(rows, p, 0)})
	case semiring.PositionK:
		return mxm(c, t, p.First, p.FirstFlip,
			factor[C]{computed: columnValued(access.Rows(av), p, 0)}, factor[B]{view: bv})
	}
	return mxm(c, t, p.First, p.FirstFlip,
		factor[C]{computed: rowValued(access.Rows(av), p, c.local.shift)}, factor[B]{view: bv})
}

// rowValued returns s with the row of each entry, plus shift, as its value.
func rowValued[S, A, B, C any](s *sparse.Store[S], p *cpu.Positional[A, B, C], shift int) *sparse.Store[C] {
	out := &sparse.Store[C]{Structure: s.Structure, Val: make([]C, len(s.Idx))}
	for k := range s.Vecs() {
		x := p.FromIndex(s.RowID(k) + shift)
		for e := s.Ptr[k]; e < s.Ptr[k+1]; e++ {
			out.Val[e] = x
		}
	}
	return out
}

// columnValued returns s with the column of each entry, plus shift, as its value.
func columnValued[S, A, B, C any](s *sparse.Store[S], p *cpu.Positional[A, B, C], shift int) *sparse.Store[C] {
	out := &sparse.Store[C]{Structure: s.Structure, Val: make([]C, len(s.Idx))}
	_ = parallel.Range(nil, 0, len(s.Idx), 1<<15, func(_, lo, hi int) {
		if shift != 0 {
			for e, j := range s.Idx[lo:hi] {
				out.Val[lo+e] = p.FromIndex(int(j) + shift)
			}
			return
		}
		p.FillIndices(out.Val[lo:hi], s.Idx[lo:hi])
	})
	return out
}
