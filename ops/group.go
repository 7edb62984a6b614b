package ops

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/spmd"
	"github.com/hiveblas/hiveblas/internal/collect"
	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// This file runs operations on the group of their destination. Every rank has a block of rows of
// the destination; it computes them by the same operation on its place, of the same rows of the
// operands, and of whole operands where the operation reads other rows. Whole operands are gathered
// before. No partial result crosses ranks, so results equal the results of one device. The order of
// some sums follows the work of the whole operation: the facts of all ranks give that order.

// groupOps has the operations of this file and of groupindex.go. They are called by this interface
// alone, and only a group leads to a value of it: a program that makes no group links neither them
// nor the exchange of blocks, which together are more than the rest of one product.
type groupOps interface {
	placeMask() error
	groupOne(v rep.View, run func(b block, d dest, a rep.View) error) error
	groupTwo(av, bv rep.View, run func(b block, d dest, x, y rep.View) error) error
	groupMxV(a, u rep.View, product func(c *call, d dest, a, u rep.View) error) error
	groupMxM(a, b rep.View) error
	groupExtract(v rep.View, rows, cols cpu.Indices) error
	groupExtractVector(v rep.View, idx indices) error
	groupExtractRow(v rep.View, i int, cols cpu.Indices) error
	groupAssign(v rep.View, rows, cols cpu.Indices) error
	groupAssignVector(v rep.View, idx cpu.Indices) error
	groupAssignScalar(x sparse.Values, rows, cols cpu.Indices) error
	scatterOnDevices(dup monoid, v rep.View, rows *indices, cols indices) error
	groupScatter(dup monoid, v rep.View, rows *indices, cols cpu.Indices) error
	groupKronecker(f operator, a, b rep.View) error
	groupReduce(m monoid, v rep.View) error
	groupReduceScalar(g *comm.Group, m monoid, v rep.View, sum cpu.Value) error
	groupArg(v rep.View, sign int, best func(v sparse.Values) int) error
}

// grouped is a call as groupOps.
type grouped struct{ *call }

// linking is a comm.Linked that sets ops.
type linking struct {
	c   *call
	ops groupOps
}

func (l *linking) OnGroup() { l.ops = grouped{l.c} }

// on returns the operations on a group, nil for no group.
func (c *call) on(g *comm.Group) groupOps {
	l := &linking{c: c}
	g.Link(l)
	return l.ops
}

// placeMask lets the rows of the mask decide about cuts; see placed.
func (c grouped) placeMask() error { return c.t.view.PlaceOn(c.onGroup(c.t.group), c.t.group) }

// localRun is what an operation on the block of a rank knows of the whole.
type localRun struct {
	shift int // the first row, or position of a vector, of the block
	// parts are, for Push, the cuts of the entries of the vector: the parts are summed in order.
	parts []int

	extent int  // rows or positions of the block, with items
	items  bool // the items of a list of indices on a device belong to the block
	// whole is, for Scatter, the rows or positions of the whole if it gets the entries of the
	// whole, else 0.
	whole int
}

// wholeRun is the localRun of an operation that is not on a block of a group.
var wholeRun localRun

func withLocal(l localRun) Option { return func(s *settings) { s.local = &l } }

// computesOnDevices reports whether each rank of this process computes on a device.
func computesOnDevices(g *comm.Group) bool {
	for k := range g.Ranks() {
		if placeOn(g, k) == nil {
			return false
		}
	}
	return true
}

// block is a rank of this process, and its rows of the destination.
type block struct {
	k, rank, lo, hi int
	opts            Option
}

// call returns the call of the operation of c on the block.
func (b block) call(c *call) *call {
	in := begin(c.op, c.name, []Option{b.opts})
	in.ring = c.ring
	return in
}

// onGroup returns the context of collectives: the context of the call if others would wait for
// ranks of this process, and none where the call itself looks at it between collectives.
func (c *call) onGroup(g *comm.Group) context.Context { return spmd.Waiting(c.ctx, g) }

func (c *call) ended() error {
	if c.ctx != nil {
		return c.ctx.Err()
	}
	return nil
}

// withCause adds to the error of a context why the context ended, for the ranks that hear of it.
func (c *call) withCause(err error) error {
	if err == nil || c.ctx == nil || !errors.Is(err, c.ctx.Err()) {
		return err
	}
	if cause := context.Cause(c.ctx); !errors.Is(err, cause) {
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}

// shared reports whether all ranks have an error in common.
func shared(err error) bool {
	for _, is := range []error{ErrMethod, ErrOperator, ErrPlace, matrix.ErrDimension, matrix.ErrIndex, matrix.ErrInvalid, matrix.ErrSize} {
		if errors.Is(err, is) {
			return true
		}
	}
	return false
}

// groupCuts returns the cuts of the destination. They are the same to the end of the operation: an
// operand that is spread meanwhile may change the cuts of the group.
func (c *call) groupCuts() []int {
	t := &c.t
	if t.cuts == nil {
		m, n := t.m.Dims()
		if t.vector {
			m = n
		}
		t.cuts = t.group.Cuts(m)
	}
	return t.cuts
}

// runGroup runs an operation on the block of each rank of this process. The operands have been
// placed, so that the cuts are known. reads says that the result depends on the destination even
// without mask and accumulator.
func (c *call) runGroup(reads bool, run func(b block, d dest) error) error {
	t := &c.t
	g, ctx := t.group, c.onGroup(t.group)
	cuts := c.groupCuts()
	var masks []rep.Mask
	var err error
	if t.dest.mask != nil {
		if masks, err = t.view.Parts(rep.Query{Group: g, Context: ctx, Cuts: cuts}); err != nil {
			return err
		}
	}
	fresh := !reads && !t.accum.given && (t.dest.mask == nil || t.replace)
	dst, err := t.m.OnGroup().Target(ctx, g, t.vector, fresh, cuts)
	if err == nil {
		err = c.ended()
	}
	if err != nil {
		return err
	}
	ranks := g.Ranks()
	threads := g.Threads()
	if c.threads > 0 {
		threads = max(1, c.threads/len(ranks))
	}
	traces, written := make([]Trace, len(ranks)), make([]bool, len(ranks))
	err = g.Apart(func(k int, r comm.Comm) error {
		b := block{k: k, rank: r.Rank(), lo: cuts[r.Rank()], hi: cuts[r.Rank()+1]}
		opts := []Option{WithThreads(threads), Using(c.method), withLocal(localRun{shift: b.lo, parts: c.local.parts})}
		if fresh { // else a block could stay as it is while others change
			opts = append(opts, WithContext(c.ctx))
		}
		if c.tracing() {
			opts = append(opts, WithTrace(&traces[k]))
		}
		b.opts = WithOptions(opts...)
		d := t.dest
		d.m = dst.Part(k)
		if masks != nil {
			d.mask = matrix.MaskOf(masks[k])
		}
		err := run(b, d)
		written[k] = err == nil
		return c.withCause(err)
	}, shared)
	if err != nil {
		if !fresh && slices.Contains(written, true) {
			dst.Lost(err)
		}
		return err
	}
	if err := dst.Keep(); err != nil {
		return err
	}
	if c.tracing() {
		c.ran = &Trace{Op: c.op, Name: c.name, Method: traces[0].Method, Plan: traces[0].Plan, Place: g.String()}
		n := int64(0)
		for _, t := range traces {
			c.ran.Work += t.Work
			n += t.NVals
		}
		c.emit(n)
	}
	return nil
}

// rowBlocks returns the rows of a matrix operand for the cuts of the destination. A vector as a
// matrix of one row belongs to the rank that has this row.
func (c *call) rowBlocks(v rep.View, quiet bool) ([]rep.View, error) {
	return c.rowBlocksAt(c.t.group, v, c.groupCuts(), quiet)
}

func (c *call) rowBlocksAt(g *comm.Group, v rep.View, cuts []int, quiet bool) ([]rep.View, error) {
	q := rep.Query{Group: g, Context: c.onGroup(g), Cuts: cuts, Quiet: quiet}
	if !v.Vector || v.Transposed {
		return v.Parts(q)
	}
	q.Whole = true
	list, err := v.Parts(q)
	if err != nil {
		return nil, err
	}
	_, n := v.Dims()
	for k, r := range g.Ranks() {
		if cuts[r.Rank()] == cuts[r.Rank()+1] {
			list[k] = rep.View{Matrix: newMatrix(v.Type(), 0, n, nil)}
		}
	}
	return list, nil
}

// newMatrix returns a matrix of t without entries, at a place; nil is the host.
func newMatrix(t *sparse.Type, m, n int, p matrix.Place) rep.Matrix {
	return matrix.NewInside(t, m, n, matrix.On(p))
}

// wholes returns an operand whole, for each rank of this process.
func (c *call) wholes(g *comm.Group, v rep.View) ([]rep.View, error) {
	return v.Parts(rep.Query{Group: g, Context: c.onGroup(g), Whole: true})
}

// aligned returns the blocks of an operand that has the shape of the destination.
func (c *call) aligned(v rep.View) ([]rep.View, error) {
	if v.Vector {
		return v.Parts(rep.Query{Group: c.t.group, Context: c.onGroup(c.t.group), Cuts: c.groupCuts()})
	}
	return c.rowBlocks(v, false)
}

// placed lets a matrix operand that is needed in blocks of rows decide about cuts before it is
// asked for them. It makes the transpose of a transposed view.
func (c *call) placed(g *comm.Group, v rep.View) error {
	if v.Vector {
		return nil
	}
	_, err := v.Cuts(c.onGroup(g), g)
	return err
}

// runParts is runGroup with the part of an operand that each rank of this process has; err is the
// error of the list.
func (c *call) runParts(reads bool, list []rep.View, err error, run func(b block, d dest, x rep.View) error) error {
	if err != nil {
		return err
	}
	return c.runGroup(reads, func(b block, d dest) error { return run(b, d, list[b.k]) })
}

// groupOne runs an operation of one operand of the shape of the destination.
func (c grouped) groupOne(v rep.View, run func(b block, d dest, a rep.View) error) error {
	if err := c.placed(c.t.group, v); err != nil {
		return err
	}
	list, err := c.aligned(v)
	return c.runParts(false, list, err, run)
}

// groupTwo runs an operation of two operands of the shape of the destination.
func (c grouped) groupTwo(av, bv rep.View, run func(b block, d dest, x, y rep.View) error) error {
	if err := c.placed(c.t.group, av); err != nil {
		return err
	}
	if err := c.placed(c.t.group, bv); err != nil {
		return err
	}
	x, err := c.aligned(av)
	if err != nil {
		return err
	}
	y, err := c.aligned(bv)
	if err != nil {
		return err
	}
	return c.runGroup(false, func(b block, d dest) error { return run(b, d, x[b.k], y[b.k]) })
}

// groupMxV computes A·u, or u·Aᵀ by product. The rows of a give the entries of the result.
func (c grouped) groupMxV(a, u rep.View, product func(c *call, d dest, a, u rep.View) error) error {
	g := c.t.group
	if err := c.placed(g, a); err != nil {
		return err
	}
	x, err := c.rowBlocks(a, true)
	if err != nil {
		return err
	}
	y, err := c.wholes(g, u)
	if err != nil {
		return err
	}
	if !a.Vector {
		if err := c.groupDirection(a, y[0], c.ring.order()); err != nil {
			return err
		}
	}
	return c.runGroup(false, func(b block, d dest) error {
		return product(b.call(c.call), d, x[b.k], y[b.k])
	})
}

// sumOrder says whether the order of the sums of a semiring matters, and whether any product of a
// sum may stand for it.
type sumOrder struct{ matters, any bool }

func (r ring) order() *sumOrder {
	if p := r.Positional; p != nil {
		return &sumOrder{matters: !p.First.Exact || p.First.Any, any: p.First.Any}
	}
	k := r.Semiring
	uniform := k.Any && !k.UsesX && !k.UsesY
	return &sumOrder{matters: (!k.Exact || k.Any) && !uniform, any: k.Any}
}

// groupDirection chooses Push or Pull as one place would, if the order of sums matters, and how
// Push cuts the entries of u. Where it does not matter every rank chooses, and on devices always:
// their kernels have orders of their own. It is a collective.
func (c *call) groupDirection(a, u rep.View, order *sumOrder) error {
	t := &c.t
	g, ctx := t.group, c.onGroup(t.group)
	if g.OnDevices() {
		return nil
	}
	m, n := a.Dims()
	f := facts{rows: m, entries: a.NVals(), n: n, nvals: u.NVals(), any: order.any, repeats: c.repeats,
		hasRows: a.GroupHasRows(g), hasCols: a.T().GroupHasRows(g)}
	var failure error
	var list []int32
	ks := func() []int32 { // read only where needed: u may be on a device
		switch {
		case list != nil:
		case f.nvals == int64(n):
			list = make([]int32, n)
			for k := range list {
				list[k] = int32(k)
			}
		default:
			list = u.Stored().ToSparse().Idx
		}
		return list
	}
	f.pushWork = func(limit int64) (work int64) {
		lengths, err := a.T().RowLengths(ctx, g, ks())
		failure = errors.Join(failure, err)
		for _, n := range lengths {
			work += n
		}
		return work
	}
	if order.matters && t.dest.mask != nil {
		f.allowed = func() int64 {
			n, err := c.maskEntries(g, t.view, c.groupCuts())
			failure = errors.Join(failure, err)
			if t.view.Complement {
				return int64(m) - n
			}
			return n
		}
	}
	method := c.method
	if method == Auto {
		if !order.matters { // what one device would keep does not depend on the products
			f.pushWork, f.allowed = func(int64) int64 { return 0 }, nil
		}
		method = f.direction()
	}
	if failure != nil {
		return failure
	}
	if method == Push {
		a.T().GroupHadRows(g)
	} else {
		a.GroupHadRows(g)
	}
	if !order.matters {
		return nil
	}
	if c.method = method; method != Push {
		return nil
	}
	lengths, err := a.T().RowLengths(ctx, g, ks())
	if err != nil {
		return err
	}
	work := make([]int64, len(lengths)+1)
	for p, n := range lengths {
		work[p+1] = work[p] + n
	}
	c.local = &localRun{parts: cpu.PushParts(work, m, parallel.Threads(c.threads))}
	return nil
}

// maskEntries returns the number of positions of a mask, without its complement. It is a
// collective.
func (c *call) maskEntries(g *comm.Group, v rep.Mask, cuts []int) (int64, error) {
	list, err := v.Parts(rep.Query{Group: g, Context: c.onGroup(g), Cuts: cuts})
	if err != nil {
		return 0, err
	}
	sum := make([]int64, len(list))
	err = g.Each(func(k int, r comm.Comm) error {
		if err := (rep.View{Matrix: list[k].Matrix}).Fetched(); err != nil {
			return err
		}
		sum[k] = list[k].Allowed().NVals
		return r.Reduce(c.onGroup(g), comm.Host(sum[k:k+1]), comm.Host(sum[k:k+1]), comm.Sum, false)
	})
	return sum[0], err
}

// groupMxM computes A·B: the rows of A that a rank has by the whole of B.
func (c grouped) groupMxM(a, b rep.View) error {
	g := c.t.group
	if err := c.placed(g, a); err != nil {
		return err
	}
	x, err := c.rowBlocks(a, false)
	if err != nil {
		return err
	}
	if limit := g.GatherLimit(); limit > 0 && !b.Vector && !b.OnGroup().Everywhere(g) {
		if pieces := b.Pieces(limit); pieces > 1 {
			return c.groupMxMPieces(x, b, pieces)
		}
	}
	y, err := b.Parts(c.needOf(g, x, b))
	if err != nil {
		return err
	}
	b.GroupHadRows(g)
	return c.runGroup(false, func(r block, d dest) error { return r.call(c.call).mxm(d, x[r.k], y[r.k]) })
}

// needOf asks for the whole of b, or for the rows that the columns of x name if these are fewer
// bytes.
func (c *call) needOf(g *comm.Group, x []rep.View, b rep.View) rep.Query {
	q := rep.Query{Group: g, Context: c.onGroup(g), Whole: true}
	if b.Transposed || b.Vector || g.OnDevices() { // devices gather without the host
		return q
	}
	q.Need = func(k int) []int32 {
		if x[k].Fetched() != nil { // the product returns the error
			return []int32{}
		}
		m, _ := b.Dims()
		return collect.Columns(&x[k].Rows().Structure, m)
	}
	return q
}

// groupMxMPieces computes A·B by blocks of columns of B. All ranks gather each block. The sums
// equal the sums of one product. A mask bounds the product of every block: the product without the
// mask may be far larger, and some methods need a mask.
func (c *call) groupMxMPieces(x []rep.View, b rep.View, pieces int) error {
	t := &c.t
	g := t.group
	m, n := b.Dims()
	tiles := make([][]rep.View, len(x))
	inner := []Option{WithContext(c.ctx), WithThreads(c.threads)}
	allowed, err := c.allowedBlocks()
	if err != nil {
		return err
	}
	for p := range pieces {
		from, to := p*n/pieces, (p+1)*n/pieces
		some := newMatrix(b.Type(), m, to-from, g)
		if err := begin("Extract", "", inner).extract(dest{m: some}, b, All(), Span(from, to)); err != nil {
			return err
		}
		y, err := c.wholes(g, rep.View{Matrix: some})
		if err != nil {
			return err
		}
		err = g.Apart(func(k int, _ comm.Comm) error {
			rows, _ := x[k].Dims()
			d := dest{m: newMatrix(t.c, rows, to-from, placeOn(g, k))}
			tiles[k] = append(tiles[k], rep.View{Matrix: d.m})
			opts := []Option{WithThreads(g.Threads()), WithContext(c.ctx)}
			if allowed != nil {
				mask := matrix.NewInside(allowed[k].Type(), rows, to-from)
				if err := begin("Extract", "", opts).extract(dest{m: mask}, rep.View{Matrix: allowed[k]}, All(), Span(from, to)); err != nil {
					return c.withCause(err)
				}
				if err := mask.Move(placeOn(g, k), false, 0); err != nil {
					return err
				}
				d.mask = matrix.MaskOf(rep.Mask{Matrix: mask, Structural: true, Complement: t.view.Complement})
			}
			in := begin(c.op, c.name, append(opts, Using(c.method), withLocal(localRun{shift: 0})))
			in.ring = c.ring
			return c.withCause(in.mxm(d, x[k], y[k]))
		}, shared)
		if err != nil {
			return err
		}
	}
	c.method = Auto
	return c.runGroup(false, func(r block, d dest) error {
		return begin("Concat", "", []Option{r.opts}).concat(d, [][]rep.View{tiles[r.k]})
	})
}

// allowedBlocks returns the positions of the mask, without its complement, in the rows of each rank
// of this process; nil without a mask.
func (c *call) allowedBlocks() ([]rep.Matrix, error) {
	t := &c.t
	if t.dest.mask == nil {
		return nil, nil
	}
	masks, err := t.view.Parts(rep.Query{Group: t.group, Context: c.onGroup(t.group), Cuts: c.groupCuts()})
	if err != nil {
		return nil, err
	}
	list := make([]rep.Matrix, len(masks))
	err = t.group.Apart(func(k int, _ comm.Comm) error {
		if err := (rep.View{Matrix: masks[k].Matrix}).Fetched(); err != nil {
			return err
		}
		shape := masks[k].Allowed()
		list[k] = newOf(shape.Pattern())
		return nil
	}, shared)
	return list, err
}

// newOf returns a matrix on the host with the given storage.
func newOf(st *sparse.Store) rep.Matrix {
	a := matrix.NewInside(st.Type, st.NRows, st.NCols)
	a.SetStore(st)
	return a
}

// placeOn returns where the k-th rank of this process computes.
func placeOn(g *comm.Group, k int) matrix.Place {
	if p := g.PlaceOf(k); p != nil {
		return p
	}
	return nil
}

// noGroup refuses, for an operation that does not run on a group.
func (c *call) noGroup(g *comm.Group, what string) error {
	if g == nil {
		return nil
	}
	return fmt.Errorf("%s: %w: %s does not run on a group; move the destination to the host or to one device", c.op, ErrPlace, what)
}
