package ops

import (
	"fmt"
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// MxV computes w⟨m⟩ ⊕= A ⊕.⊗ u for an m×n matrix and a vector of size n: entry i is the sum over k
// of A(i,k) ⊗ u(k).
//
// Pull computes a dot product per row within the mask, in at most O(entries of A) time. Push
// scatters the columns of A at the entries of u, in O(entries of these columns) time. Auto selects
// by the number of entries of u, the mask, and the available orientation of A; a computed transpose
// is kept. The order of each sum is the same for every number of threads. MxV returns the same
// errors as [MxM].
func MxV[A, B, C comparable](dst matrix.VectorTarget[C], s semiring.Semiring[A, B, C], a matrix.Source[A], u matrix.VectorSource[B], opts ...Option) error {
	c := begin[C]("MxV", s.Name(), opts)
	av, uv, err := factors(c, s, a, u)
	if err != nil {
		return err
	}
	am, an := av.Dims()
	_, n := uv.Dims()
	if an != n {
		return c.dim("u", fmt.Sprintf("a vector of %d", n), fmt.Sprintf("a vector of %d", an),
			"a is "+shape(am, an))
	}
	t, err := prepare(c, specOf(dst), 1, am)
	if err != nil {
		return err
	}
	if t.at != nil {
		return remoteMxV(c, t, s, false, av, uv)
	}
	if t.group != nil {
		if access.Indexed(s) != nil {
			return c.noGroup(t.group, "an index-binary operator")
		}
		return groupProduct(c, t, av, uv, s)
	}
	if p := access.Indexed(s); p != nil {
		return mxvIndexed(c, t, av, uv, func(rows, cols *sparse.Store[A], u *sparse.Store[B]) (*sparse.Store[C], error) {
			return p.MxV(c.env(), rows, cols, u, t.mask)
		})
	}
	if p := access.Positional(s); p != nil {
		// The index of the product of A(i,k) and u(k) is i, k, or column 0, because u is a column.
		ust := access.Stored(uv)
		switch s.Position() {
		case semiring.PositionK:
			return mxv(c, t, p.Second, p.SecondFlip, av, indexValued(ust, p))
		case semiring.PositionJ:
			return mxv(c, t, p.Second, p.SecondFlip, av, constantValued(ust, p.FromIndex(0)))
		}
		return positionI(c, t, p, av, uv)
	}
	return mxv(c, t, access.Semiring(s), access.Flipped(s), av, access.Stored(uv))
}

// VxM computes w⟨m⟩ ⊕= u ⊕.⊗ A for a vector of size m and an m×n matrix: entry j is the sum over k
// of u(k) ⊗ A(k,j). The methods and errors are those of [MxV] with A transposed: Push reads the
// rows of A and Pull reads its columns.
func VxM[A, B, C comparable](dst matrix.VectorTarget[C], s semiring.Semiring[A, B, C], u matrix.VectorSource[A], a matrix.Source[B], opts ...Option) error {
	c := begin[C]("VxM", s.Name(), opts)
	uv, av, err := factors(c, s, u, a)
	if err != nil {
		return err
	}
	am, an := av.Dims()
	_, n := uv.Dims()
	if am != n {
		return c.dim("u", fmt.Sprintf("a vector of %d", n), fmt.Sprintf("a vector of %d", am),
			"a is "+shape(am, an))
	}
	t, err := prepare(c, specOf(dst), 1, an)
	if err != nil {
		return err
	}
	if t.at != nil {
		return remoteMxV(c, t, s, true, av.T(), uv)
	}
	if t.group != nil {
		if access.Indexed(s) != nil {
			return c.noGroup(t.group, "an index-binary operator")
		}
		return groupFlipped(c, t, av.T(), uv, s)
	}
	if p := access.Indexed(s); p != nil {
		return mxvIndexed(c, t, av.T(), uv, func(rows, cols *sparse.Store[B], u *sparse.Store[A]) (*sparse.Store[C], error) {
			return p.VxM(c.env(), u, cols, rows, t.mask)
		})
	}
	if p := access.Positional(s); p != nil {
		// The index of the product of u(k) and A(k,j) is row 0, because u is a row, k, or j.
		ust := access.Stored(uv)
		switch s.Position() {
		case semiring.PositionK:
			return mxv(c, t, p.FirstFlip, p.First, av.T(), indexValued(ust, p))
		case semiring.PositionI:
			return mxv(c, t, p.FirstFlip, p.First, av.T(), constantValued(ust, p.FromIndex(0)))
		}
		return positionJ(c, t, p, uv, av)
	}
	return mxv(c, t, access.Flipped(s), access.Semiring(s), av.T(), access.Stored(uv))
}

// groupProduct and groupFlipped are MxV and VxM on a group. They are functions of their own because s
// escapes in them: its copy would be allocated in each product on the host.
func groupProduct[A, B, C comparable](c *call, t *target[C], av matrix.View[A], uv matrix.View[B], s semiring.Semiring[A, B, C]) error {
	return groupMxV(c, t, av, uv, orderOf(s), func(b block, dst matrix.VectorTarget[C], a matrix.View[A], u matrix.VectorView[B]) error {
		return MxV(dst, s, a, u, b.opts)
	})
}

func groupFlipped[A, B, C comparable](c *call, t *target[C], at matrix.View[B], uv matrix.View[A], s semiring.Semiring[A, B, C]) error {
	return groupMxV(c, t, at, uv, orderOf(s), func(b block, dst matrix.VectorTarget[C], a matrix.View[B], u matrix.VectorView[A]) error {
		return VxM(dst, s, u, a.T(), b.opts)
	})
}

// mxv computes w = A·u. s multiplies entries of A by entries of u; flip multiplies in the other
// order.
func mxv[A, B, C comparable](c *call, t *target[C], s *cpu.Semiring[A, B, C], flip *cpu.Semiring[B, A, C], a matrix.View[A], u *sparse.Store[B]) error {
	method := c.method
	switch method {
	case Auto:
		method = direction(c, a, u, t.mask, s.Any)
	case Push, Pull:
	default:
		return &MethodError{c.op, method, "the methods of " + c.op + " are push and pull"}
	}
	method, err := pullable(c, t, method, a, u)
	if err != nil {
		return err
	}
	u = needed(u, s.UsesY)
	var out *sparse.Store[C]
	if method == Pull {
		leads := func() []int32 { return access.Leads(a) }
		out, err = cpu.Pull(c.env(), s, needed(access.Rows(a), s.UsesX), leads, u, t.mask)
	} else {
		out, err = cpu.Push(c.env(), flip, u, needed(access.Cols(a), s.UsesX), t.mask)
	}
	if err != nil {
		return err
	}
	if c.tracing() {
		c.traced(method, mxvWork(method, a, u))
	}
	return write(c, t, out, true)
}

// pullable returns Push in place of a Pull that Auto chose and that has no memory for its arrays of u
// and of the mask by positions. Where Pull was forced it returns a *matrix.SizeError.
func pullable[A, B, C comparable](c *call, t *target[C], method Method, a matrix.View[A], u *sparse.Store[B]) (Method, error) {
	if method != Pull {
		return method, nil
	}
	var err error
	if u.Sparse() {
		err = c.room("u by positions, for "+string(Pull), int64(u.NCols), 2*int64(unsafe.Sizeof(*new(B)))+1)
	}
	if rows, _ := a.Dims(); err == nil && t.mask != nil && t.mask.S.Sparse() {
		err = c.room("the mask by positions, for "+string(Pull), int64(rows), 1)
	}
	if err != nil && c.method == Auto {
		return Push, nil
	}
	return method, err
}

func mxvWork[A, B comparable](m Method, a matrix.View[A], u *sparse.Store[B]) int64 {
	if m == Pull {
		return a.NVals()
	}
	return pushWork(a, u, math.MaxInt64, 0)
}

// pushWork counts the products of Push, and stops once the count exceeds limit.
func pushWork[A, B comparable](a matrix.View[A], u *sparse.Store[B], limit int64, threads int) int64 {
	cols, list := access.Cols(a), sparse.ToSparse(u)
	var work atomic.Int64
	const grain = 1 << 11
	_ = parallel.Range(nil, threads, len(list.Idx), grain, func(_, from, to int) {
		if work.Load() > limit {
			return
		}
		n := int64(0)
		for _, k := range list.Idx[from:to] {
			lo, hi := cols.Span(int(k))
			n += hi - lo
		}
		work.Add(n)
	})
	return work.Load()
}

// pushCost is the estimated cost of a product of Push relative to one of Pull. Push writes an
// accumulator and its marks, and then gathers them.
const pushCost = 2

// transposePays is the number of products for which Pull and a transpose take less time than Push.
const transposePays = 4

// maskCost is the number of positions of a mask that Pull visits in the time of one product.
const maskCost = 4

// beamer is α of Beamer, Asanović and Patterson (SC 2012): Pull is faster once the edges out of the
// frontier exceed 1/α of the edges into unvisited vertices.
const beamer = 14

// direction selects Push or Pull for A·u. It selects the available orientation unless the other one
// saves more than the transpose costs.
func direction[A, B comparable](c *call, a matrix.View[A], u *sparse.Store[B], mask *cpu.Mask, any bool) Method {
	rows, _ := a.Dims()
	f := facts{rows: rows, entries: a.NVals(), n: u.NCols, nvals: u.NVals, any: any, repeats: c.repeats,
		hasRows: access.HasRows(a), hasCols: access.HasCols(a)}
	f.pushWork = func(limit int64) int64 { return pushWork(a, u, limit, c.env().Threads) }
	if mask != nil {
		f.allowed = func() int64 {
			if mask.Comp {
				return int64(rows) - mask.S.NVals
			}
			return mask.S.NVals
		}
	}
	return f.direction()
}

// facts are what the direction of A·u depends on.
type facts struct {
	rows             int          // of A
	entries          int64        // of A
	n                int          // positions of u
	nvals            int64        // entries of u
	hasRows, hasCols bool         // the orientations of A that exist
	any              bool         // one product of a sum suffices
	repeats          int          // announced by Repeats
	allowed          func() int64 // positions that the mask allows; nil without a mask
	// pushWork returns the products of Push, or a number above limit if they are more.
	pushWork func(limit int64) int64
}

func (f *facts) direction() Method {
	// Pull allocates arrays of both dimensions. Push with few products allocates none.
	if vast(f.rows, f.entries) || vast(f.n, f.nvals) {
		return Push
	}
	switch {
	case f.hasRows && f.hasCols:
	case f.hasCols: // Push needs no transpose, Pull does
		if f.repeats >= transposePays && 2*f.nvals >= int64(f.n) {
			return Pull
		}
		return Push
	case f.hasRows:
		if f.nvals*16 < int64(f.n) {
			return Push // computes the transpose, which is kept
		}
		return Pull
	}
	if f.nvals == int64(f.n) {
		return Pull
	}
	// Compare the products of Push with the average number of entries that Pull reads in the rows
	// within the mask.
	open := float64(f.entries)
	if f.allowed != nil && f.rows > 0 {
		open = open*float64(f.allowed())/float64(f.rows) + float64(f.rows)/maskCost
	}
	factor := int64(pushCost)
	if f.any {
		factor = beamer
	}
	limit := int64(open) / factor
	if f.pushWork(limit) > limit {
		return Pull
	}
	return Push
}

// vast reports whether an array of n positions is too large for the number of entries.
func vast(n int, entries int64) bool { return n > 1<<22 && entries < int64(n)/1024 }

// indexValued returns u with the index of each entry as its value.
func indexValued[S, A, B, C any](u *sparse.Store[S], p *cpu.Positional[A, B, C]) *sparse.Store[C] {
	return columnValued(sparse.ToSparse(u), p, 0)
}

func constantValued[S, C any](u *sparse.Store[S], x C) *sparse.Store[C] {
	s := sparse.ToSparse(u)
	out := &sparse.Store[C]{Structure: s.Structure, Val: make([]C, len(s.Idx))}
	for e := range out.Val {
		out.Val[e] = x
	}
	return out
}

// positionI computes the product A·u whose terms of w(i) all have the value i.
func positionI[A, B, C comparable](c *call, t *target[C], p *cpu.Positional[A, B, C],
	av matrix.View[A], uv matrix.View[B]) error {
	indexed := access.FromStore(rowValued(access.Rows(av), p, c.local.shift))
	return mxv(c, t, p.First, p.FirstFlip, indexed.View(), access.Stored(uv))
}

// positionJ computes the product u·A whose terms of w(j) all have the value j.
func positionJ[A, B, C comparable](c *call, t *target[C], p *cpu.Positional[A, B, C],
	uv matrix.View[A], av matrix.View[B]) error {
	indexed := access.FromStore(columnValued(access.Rows(av), p, c.local.shift))
	return mxv(c, t, p.SecondFlip, p.Second, indexed.T(), access.Stored(uv))
}
