package ops

import (
	"fmt"
	"math"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/rep"
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
	return mxvOf(dst, s.Inside(), a, u, opts)
}

func mxvOf(dst any, s *cpu.Ring, a, u any, opts []Option) error {
	c := beginProduct("MxV", s, opts)
	return c.done(c.mxv(destOf(dst), viewOf(a), viewOf(u)))
}

// mxv is MxV over the semiring of the call.
func (c *call) mxv(d dest, a, u rep.View) error {
	if err := c.factors(a, u); err != nil {
		return err
	}
	am, an := a.Dims()
	_, n := u.Dims()
	if an != n {
		return c.dim("u", fmt.Sprintf("a vector of %d", n), fmt.Sprintf("a vector of %d", an),
			"a is "+shape(am, an))
	}
	t, err := c.prepare(d, 1, am)
	if err != nil {
		return err
	}
	r := c.ring
	switch p := r.Positional; {
	case t.at != nil:
		return c.remoteMxV(false, a, u)
	case t.group != nil:
		if r.Indexed != nil {
			return c.noGroup(t.group, "an index-binary operator")
		}
		return c.on(t.group).groupMxV(a, u, (*call).mxv)
	case r.Indexed != nil:
		return c.mxvIndexed(a, u, func(rows, cols, u *sparse.Store) (*sparse.Store, error) {
			return r.Indexed.MxV(c.env(), t.c, rows, cols, u, t.mask)
		})
	case p != nil:
		// The index of the product of A(i,k) and u(k) is i, k, or column 0, because u is a column.
		switch r.pos() {
		case semiring.PositionK:
			return c.directed(p.SecondPull, p.SecondFlip, a, c.columnValued(u.Stored().ToSparse(), p, 0))
		case semiring.PositionJ:
			return c.directed(p.Second, p.SecondFlip, a, c.constantValued(u.Stored(), p))
		}
		// The terms of w(i) all have the value i.
		indexed := newOf(c.rowValued(a.Rows(), p, c.local.shift))
		return c.directed(p.First, p.FirstFlip, rep.View{Matrix: indexed}, u.Stored())
	}
	return c.directed(r.Semiring, r.Flipped, a, c.entries(u))
}

// entries returns a vector as the semiring reads it: where products do not depend on its values, a
// pattern is the vector itself, which needs no store of its own.
func (c *call) entries(u rep.View) *sparse.Store {
	if c.ring.Semiring.Constant() && u.IsPattern() {
		return u.Matrix.Matrix().Stored()
	}
	return u.Stored()
}

// VxM computes w⟨m⟩ ⊕= u ⊕.⊗ A for a vector of size m and an m×n matrix: entry j is the sum over k
// of u(k) ⊗ A(k,j). The methods and errors are the same as of [MxV] with A transposed: Push reads
// the rows of A and Pull reads its columns.
func VxM[A, B, C comparable](dst matrix.VectorTarget[C], s semiring.Semiring[A, B, C], u matrix.VectorSource[A], a matrix.Source[B], opts ...Option) error {
	return vxmOf(dst, s.Inside(), u, a, opts)
}

func vxmOf(dst any, s *cpu.Ring, u, a any, opts []Option) error {
	c := beginProduct("VxM", s, opts)
	return c.done(c.vxm(destOf(dst), viewOf(u), viewOf(a)))
}

// vxm is VxM over the semiring of the call.
func (c *call) vxm(d dest, u, a rep.View) error {
	if err := c.factors(u, a); err != nil {
		return err
	}
	am, an := a.Dims()
	_, n := u.Dims()
	if am != n {
		return c.dim("u", fmt.Sprintf("a vector of %d", n), fmt.Sprintf("a vector of %d", am),
			"a is "+shape(am, an))
	}
	t, err := c.prepare(d, 1, an)
	if err != nil {
		return err
	}
	r := c.ring
	switch p := r.Positional; {
	case t.at != nil:
		return c.remoteMxV(true, a.T(), u)
	case t.group != nil:
		if r.Indexed != nil {
			return c.noGroup(t.group, "an index-binary operator")
		}
		return c.on(t.group).groupMxV(a.T(), u, func(c *call, d dest, at, u rep.View) error { return c.vxm(d, u, at.T()) })
	case r.Indexed != nil:
		return c.mxvIndexed(a.T(), u, func(rows, cols, u *sparse.Store) (*sparse.Store, error) {
			return r.Indexed.VxM(c.env(), t.c, u, cols, rows, t.mask)
		})
	case p != nil:
		// The index of the product of u(k) and A(k,j) is row 0, because u is a row, k, or j.
		switch r.pos() {
		case semiring.PositionK:
			return c.directed(p.FirstPull, p.First, a.T(), c.columnValued(u.Stored().ToSparse(), p, 0))
		case semiring.PositionI:
			return c.directed(p.FirstFlip, p.First, a.T(), c.constantValued(u.Stored(), p))
		}
		// The terms of w(j) all have the value j.
		indexed := newOf(c.columnValued(a.Rows(), p, c.local.shift))
		return c.directed(p.SecondFlip, p.Second, rep.View{Matrix: indexed, Transposed: true}, u.Stored())
	}
	return c.directed(r.Flipped, r.Semiring, a.T(), c.entries(u))
}

// directed computes w = A·u by Push or Pull. s multiplies entries of A by entries of u; flip
// multiplies in the other order.
func (c *call) directed(s, flip *cpu.Semiring, a rep.View, u *sparse.Store) error {
	t, method := &c.t, c.method
	switch method {
	case Auto:
		method = c.direction(a, u, s.Any, s.Constant())
	case Push, Pull:
	default:
		return &MethodError{c.op, method, "the methods of " + c.op + " are push and pull"}
	}
	method, err := c.pullable(method, a, u)
	if err != nil {
		return err
	}
	u = needed(u, s.UsesY)
	var out *sparse.Store
	if method == Pull {
		out, err = cpu.Pull(c.env(), s, t.c, needed(a.Rows(), s.UsesX), a.Leads, u, t.mask)
	} else {
		out, err = cpu.Push(c.env(), flip, t.c, u, needed(a.Cols(), s.UsesX), t.mask)
	}
	if err != nil {
		return err
	}
	if c.tracing() {
		c.traced(method, mxvWork(method, a, u))
	}
	return c.write(out, true)
}

// pullable returns Push in place of a Pull that Auto chose and that has no memory for its arrays of
// u and of the mask by positions. Where Pull was forced it returns a *matrix.SizeError.
func (c *call) pullable(method Method, a rep.View, u *sparse.Store) (Method, error) {
	if method != Pull {
		return method, nil
	}
	var err error
	if u.Sparse() {
		err = c.room("u by positions, for "+string(Pull), int64(u.NCols), 2*u.Type.Size+1)
	}
	if rows, _ := a.Dims(); err == nil && c.t.mask != nil && c.t.mask.S.Sparse() {
		err = c.room("the mask by positions, for "+string(Pull), int64(rows), 1)
	}
	if err != nil && c.method == Auto {
		return Push, nil
	}
	return method, err
}

func mxvWork(m Method, a rep.View, u *sparse.Store) int64 {
	if m == Pull {
		return a.NVals()
	}
	return pushWork(a, u, math.MaxInt64, 0)
}

// pushWork counts the products of Push, and stops once the count exceeds limit.
func pushWork(a rep.View, u *sparse.Store, limit int64, threads int) int64 {
	if !a.HasCols() {
		a.Cols() // with its values, which Push reads
	}
	cols, list := a.ColsShape(), u
	if !u.Sparse() {
		list = u.ToSparse()
	}
	var work atomic.Int64
	_ = parallel.Range(nil, threads, len(list.Idx), 1<<11, func(_, from, to int) {
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

// direction selects Push or Pull for A·u. It selects the available orientation unless the other one
// saves more than the transpose costs.
func (c *call) direction(a rep.View, u *sparse.Store, any, equal bool) Method {
	rows, _ := a.Dims()
	if rows >= 1<<12 && a.HasRows() && a.HasCols() && u.Sparse() && cpu.AtMost(a.ColsShape(), u.Idx, 64) {
		return Push // 64 products are below mostPushed of 4096 rows whatever the mask
	}
	mask := c.t.mask
	f := facts{rows: rows, entries: a.NVals(), n: u.NCols, nvals: u.NVals, any: any, equal: equal, repeats: c.repeats,
		hasRows: a.HasRows(), hasCols: a.HasCols()}
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
	equal            bool         // all products are equal too: Push only marks positions
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
	limit := f.mostPushed()
	if f.pushWork(limit) > limit {
		return Pull
	}
	return Push
}

// mostPushed returns the number of products up to which Push is faster than Pull, which reads the
// rows that the mask allows: whole rows, or where one product of a sum suffices up to the first
// entry of u. If the columns of A for which u has an entry have w of the e entries of A, these are
// one in e/w, and Pull reads about e/w entries of a row.
func (f *facts) mostPushed() int64 {
	e, open, visits := float64(f.entries), float64(f.rows), 0.0
	if f.allowed != nil {
		open, visits = float64(f.allowed()), float64(f.rows)/maskCost
	}
	entries := e * open / max(float64(f.rows), 1)
	if !f.any {
		return int64(entries+visits) / pushCost
	}
	cost := float64(pushCost)
	if f.equal {
		cost = 1
	}
	visits += 2 * open // a row costs as much as two entries
	// The positive root of cost·w = visits + open·e/w.
	root := (visits + math.Sqrt(visits*visits+4*cost*open*e)) / (2 * cost)
	return int64(min(root, (visits+entries)/cost))
}

// vast reports whether an array of n positions is too large for the number of entries.
func vast(n int, entries int64) bool { return n > 1<<22 && entries < int64(n)/1024 }

// constantValued returns u with the index 0 as the value of each entry.
func (c *call) constantValued(u *sparse.Store, p *cpu.Positional) *sparse.Store {
	return c.indexed(u.ToSparse(), func(v sparse.Values, _ int, _ []int32) {
		if v.Len() > 0 {
			p.FillIndices(c.t.c.One(v, 0), []int32{0})
			c.t.c.Fill(v, c.t.c.One(v, 0))
		}
	})
}
