package ops

import (
	"fmt"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// MxM computes C⟨M⟩ ⊕= A ⊕.⊗ B, the product of an m×k by a k×n matrix over s.
// Position (i, j) of the product has an entry when some A(i,k) and B(k,j)
// both do.
//
// Methods: row by row as in Gustavson (1978), with a dense accumulator and
// bitmap (SPA), by sorting (Sorted) or hashing (Hash) the products of a row;
// one dot product per entry of a mask (Dot); rows of a full B (SpMM). Time is
// O(products + rows), the first three in two passes so that the result is
// allocated exactly; memory beyond the result is one accumulator of n
// positions per thread. Sums are taken in a fixed order, the same for any
// number of threads.
//
// Errors: *matrix.DimensionError, *MethodError, *OperatorError, those the
// operands were made with, ctx.Err().
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
	if p := s.Positional(); p != nil {
		return mxmPositional(c, t, p, av, bv)
	}
	return mxm(c, t, s.Kernels(), s.Flipped(), factor[A]{view: av}, factor[B]{view: bv})
}

func factors[A, B, C comparable](c *call, s semiring.Semiring[A, B, C], a matrix.Operand[A], b matrix.Operand[B]) (av matrix.View[A], bv matrix.View[B], err error) {
	if !s.Valid() {
		return av, bv, &OperatorError{c.op, "the semiring is the zero value; make it with a constructor of package semiring"}
	}
	if av, err = operand(a); err != nil {
		return av, bv, err
	}
	bv, err = operand(b)
	return av, bv, err
}

// factor is a matrix to be multiplied: a view, or the rows made from one.
type factor[T comparable] struct {
	view matrix.View[T]
	made *sparse.Store[T]
}

func (f factor[T]) rows() *sparse.Store[T] {
	if f.made != nil {
		return f.made
	}
	return f.view.Rows()
}

func (f factor[T]) cols() *sparse.Store[T] {
	if f.made != nil {
		return sparse.Transpose(f.made, 0)
	}
	return f.view.Cols()
}

// width returns the number of columns.
func (f factor[T]) width() int {
	if f.made != nil {
		return f.made.NCols
	}
	_, n := f.view.Dims()
	return n
}

func (f factor[T]) hasRows() bool { return f.made != nil || f.view.HasRows() }
func (f factor[T]) hasCols() bool { return f.made == nil && f.view.HasCols() }

// full returns the storage if it is full and not transposed.
func (f factor[T]) full() *sparse.Store[T] {
	if f.made == nil && !f.view.Transposed() {
		if st := f.view.Stored(); st.Format == sparse.Full {
			return st
		}
	}
	return nil
}

func mxm[A, B, C comparable](c *call, t *target[C], s *cpu.Semiring[A, B, C], flip *cpu.Semiring[B, A, C], a factor[A], b factor[B]) error {
	env := c.env()
	mask := t.mask
	listed := mask != nil && !mask.Comp && mask.S.Sparse()
	// A tall first operand with few rows in use would give a dense result that
	// is mostly empty: row by row then.
	if full := b.full(); full != nil && (c.method == SpMM || c.method == Auto && a.rows().Format == sparse.CSR) {
		out, err := cpu.SpMM(env, s, needed(a.rows(), s.UsesX), needed(full, s.UsesY))
		if err != nil {
			return err
		}
		c.traced(SpMM, a.rows().NVals*int64(full.NCols))
		return write(c, t, out, false)
	}
	switch c.method {
	case Auto, Sorted, Hash:
	case SPA:
		if n := b.width(); n > cpu.MaxAccumulator {
			return &MethodError{c.op, SPA, fmt.Sprintf("it keeps one sum per column, and there are %d, more than %d", n, cpu.MaxAccumulator)}
		}
	case Dot:
		if !listed {
			return &MethodError{c.op, Dot, "it needs a mask that is listed and not complemented"}
		}
		if a.width() > maxLaidOut {
			return &MethodError{c.op, Dot, fmt.Sprintf("it lays a row of a out, and those have more than %d positions", maxLaidOut)}
		}
	case SpMM:
		return &MethodError{c.op, SpMM, "it needs a full second operand that is not transposed"}
	default:
		return &MethodError{c.op, c.method, "MxM knows spa, sorted, hash, dot and spmm"}
	}
	rows := needed(a.rows(), s.UsesX)
	if listed && (c.method == Dot || c.method == Auto) {
		if c.method == Dot || a.width() <= maxLaidOut && dotPays(env, a, b, mask.S) {
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
		return err
	}
	if c.tracing() {
		c.traced(names[ran], cpu.SaxpyCost(env, rows, brows))
	}
	return write(c, t, out, true)
}

// methods are the ways of cpu.MxM by name, and names the names.
var (
	methods = map[Method]cpu.Method{Auto: cpu.Auto, SPA: cpu.SPA, Sorted: cpu.Sorted, Hash: cpu.Hash}
	names   = [...]Method{cpu.Auto: Auto, cpu.SPA: SPA, cpu.Sorted: Sorted, cpu.Hash: Hash}
)

// maxLaidOut is the longest row of a that Dot lays out per thread.
const maxLaidOut = 1 << 26

// dotPays compares the products either way would look at. A dot product
// reads two arrays and writes nothing, so it is given a factor of 2; a
// transpose that is not at hand costs about six looks per entry.
func dotPays[A, B comparable](env cpu.Env, a factor[A], b factor[B], mask *sparse.Structure) bool {
	if !b.hasCols() && b.hasRows() {
		// Without the transpose its row lengths are unknown: the average serves.
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

// mxmPositional makes the index the value of the operand that has it, and
// multiplies by first or second.
func mxmPositional[A, B, C comparable](c *call, t *target[C], p *semiring.Positional[A, B, C], av matrix.View[A], bv matrix.View[B]) error {
	switch p.Which {
	case semiring.PositionJ:
		rows := bv.Rows()
		return mxm(c, t, p.Second, p.SecondFlip, factor[A]{view: av}, factor[C]{made: columnValued(rows, p)})
	case semiring.PositionK:
		return mxm(c, t, p.First, p.FirstFlip, factor[C]{made: columnValued(av.Rows(), p)}, factor[B]{view: bv})
	}
	return mxm(c, t, p.First, p.FirstFlip, factor[C]{made: rowValued(av.Rows(), p)}, factor[B]{view: bv})
}

// rowValued returns s with each entry's row as its value.
func rowValued[S, A, B, C any](s *sparse.Store[S], p *semiring.Positional[A, B, C]) *sparse.Store[C] {
	out := &sparse.Store[C]{Structure: s.Structure, Val: make([]C, len(s.Idx))}
	for k := range s.Vecs() {
		x := p.FromIndex(s.RowID(k))
		for e := s.Ptr[k]; e < s.Ptr[k+1]; e++ {
			out.Val[e] = x
		}
	}
	return out
}

// columnValued returns s with each entry's column as its value.
func columnValued[S, A, B, C any](s *sparse.Store[S], p *semiring.Positional[A, B, C]) *sparse.Store[C] {
	out := &sparse.Store[C]{Structure: s.Structure, Val: make([]C, len(s.Idx))}
	_ = parallel.Range(nil, 0, len(s.Idx), 1<<15, func(_, lo, hi int) {
		p.FillIndices(out.Val[lo:hi], s.Idx[lo:hi])
	})
	return out
}
