package ops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// This file runs operations on the group of their destination. Every rank has a block of rows of
// the destination; it computes them by the same operation on its place, of the same rows of the
// operands, and of whole operands where the operation reads other rows. Whole operands are gathered
// before. No partial result crosses ranks, so results are those of one device; the sums whose order
// follows the work of the whole operation get that order from the facts of all ranks.

// localRun is what an operation on the block of a rank knows of the whole.
type localRun struct {
	shift int   // the first row, or position of a vector, of the block
	parts []int // for Push, how the entries of the vector are cut into parts that are summed in order

	extent int  // rows or positions of the block, with items
	items  bool // those of a list of indices on a device belong to the block
	whole  int  // of Scatter, the rows or positions of the whole, whose entries it gets; 0 for the block
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

// groupDest is the block of a destination.
type groupDest[C comparable] struct {
	t    access.GroupTarget[C]
	k    int
	spec matrix.Spec[C] // with the block of the mask
}

func (d groupDest[C]) matrix() matrix.Target[C] {
	m := d.t.Matrix(d.k)
	if d.spec.Mask == nil && d.spec.Accum == nil && !d.spec.Replace {
		return m
	}
	t := m.Masked(d.spec.Mask).Accum(d.spec.Accum)
	if d.spec.Replace {
		t = t.Replace()
	}
	return t
}

func (d groupDest[C]) vector() matrix.VectorTarget[C] {
	v := d.t.Vector(d.k)
	if d.spec.Mask == nil && d.spec.Accum == nil && !d.spec.Replace {
		return v
	}
	t := v.Masked(d.spec.Mask).Accum(d.spec.Accum)
	if d.spec.Replace {
		t = t.Replace()
	}
	return t
}

func (d groupDest[C]) any() matrix.Destination[C] {
	if d.spec.Vector {
		return d.vector()
	}
	return d.matrix()
}

// onGroup returns the context of collectives: that of the call if others would wait for ranks of
// this process, and none where the call itself looks at it between collectives.
func (c *call) onGroup(g *comm.Group) context.Context {
	if len(g.Ranks()) == g.Size() {
		return nil
	}
	return c.ctx
}

func (c *call) ended() error {
	if c.ctx != nil {
		return c.ctx.Err()
	}
	return nil
}

// because adds to the error of a context why the context ended, for the ranks that hear of it.
func (c *call) because(err error) error {
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
// operand that is spread meanwhile may change those of the group.
func groupCuts[C comparable](t *target[C]) []int {
	if t.cuts == nil {
		m, n := t.spec.Matrix.Dims()
		if t.spec.Vector {
			m = n
		}
		t.cuts = t.group.Cuts(m)
	}
	return t.cuts
}

// runGroup runs an operation on the block of each rank of this process. The operands have been
// placed, so that the cuts are known. reads says that the result depends on the destination even
// without mask and accumulator.
func runGroup[C comparable](c *call, t *target[C], reads bool, run func(b block, dst groupDest[C]) error) error {
	g, spec, ctx := t.group, t.spec, c.onGroup(t.group)
	cuts := groupCuts(t)
	var masks []matrix.MaskView
	var err error
	if spec.Mask != nil {
		if masks, err = access.MaskBlocks(spec.Mask.MaskView(), rep.Query{Group: g, Context: ctx, Cuts: cuts}); err != nil {
			return err
		}
	}
	fresh := !reads && spec.Accum == nil && (spec.Mask == nil || spec.Replace)
	dst, err := access.TargetOn(ctx, spec.Matrix, g, spec.Vector, fresh, cuts)
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
		d := groupDest[C]{t: dst, k: k, spec: spec}
		if masks != nil {
			d.spec.Mask = masks[k]
		}
		err := run(b, d)
		written[k] = err == nil
		return c.because(err)
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
func rowBlocks[T, C comparable](c *call, t *target[C], v matrix.View[T], quiet bool) ([]matrix.View[T], error) {
	return rowBlocksAt(c, t.group, v, groupCuts(t), quiet)
}

func rowBlocksAt[T comparable](c *call, g *comm.Group, v matrix.View[T], cuts []int, quiet bool) ([]matrix.View[T], error) {
	q := rep.Query{Group: g, Context: c.onGroup(g), Cuts: cuts, Quiet: quiet}
	if !v.IsVector() || v.Transposed() {
		return access.Blocks(v, q)
	}
	q.Whole = true
	list, err := access.Blocks(v, q)
	if err != nil {
		return nil, err
	}
	_, n := v.Dims()
	for k, r := range g.Ranks() {
		if cuts[r.Rank()] == cuts[r.Rank()+1] {
			list[k] = matrix.New[T](0, n).View()
		}
	}
	return list, nil
}

// wholes returns an operand whole, for each rank of this process.
func wholes[T comparable](c *call, g *comm.Group, v matrix.View[T]) ([]matrix.View[T], error) {
	return access.Blocks(v, rep.Query{Group: g, Context: c.onGroup(g), Whole: true})
}

// aligned returns the blocks of an operand that has the shape of the destination.
func aligned[T, C comparable](c *call, t *target[C], v matrix.View[T]) ([]matrix.View[T], error) {
	if v.IsVector() {
		return access.Blocks(v, rep.Query{Group: t.group, Context: c.onGroup(t.group), Cuts: groupCuts(t)})
	}
	return rowBlocks(c, t, v, false)
}

// placed lets a matrix operand whose rows are needed in blocks decide about cuts before it is asked
// for them. It makes the transpose of a transposed view.
func placed[T comparable](c *call, g *comm.Group, v matrix.View[T]) error {
	if v.IsVector() {
		return nil
	}
	_, err := access.GroupCuts(c.onGroup(g), v, g)
	return err
}

// groupOne runs an operation of one operand of the shape of the destination.
func groupOne[A, C comparable](c *call, t *target[C], v matrix.View[A], run func(b block, dst groupDest[C], a matrix.View[A]) error) error {
	if err := placed(c, t.group, v); err != nil {
		return err
	}
	list, err := aligned(c, t, v)
	if err != nil {
		return err
	}
	return runGroup(c, t, false, func(b block, dst groupDest[C]) error { return run(b, dst, list[b.k]) })
}

// groupTwo runs an operation of two operands of the shape of the destination.
func groupTwo[A, B, C comparable](c *call, t *target[C], av matrix.View[A], bv matrix.View[B], run func(b block, dst groupDest[C], x matrix.View[A], y matrix.View[B]) error) error {
	if err := placed(c, t.group, av); err != nil {
		return err
	}
	if err := placed(c, t.group, bv); err != nil {
		return err
	}
	x, err := aligned(c, t, av)
	if err != nil {
		return err
	}
	y, err := aligned(c, t, bv)
	if err != nil {
		return err
	}
	return runGroup(c, t, false, func(b block, dst groupDest[C]) error { return run(b, dst, x[b.k], y[b.k]) })
}

// operandOf returns a view as an operand of an operation on matrices or vectors.
func operandOf[T comparable](v matrix.View[T]) matrix.Operand[T] { return v }

// groupMxV computes A·u, or u·Aᵀ with flip. The rows of a give the entries of the result.
func groupMxV[A, U, C comparable](c *call, t *target[C], a matrix.View[A], u matrix.View[U], order *sumOrder, product func(b block, dst matrix.VectorTarget[C], a matrix.View[A], u matrix.VectorView[U]) error) error {
	g := t.group
	if err := placed(c, g, a); err != nil {
		return err
	}
	x, err := rowBlocks(c, t, a, true)
	if err != nil {
		return err
	}
	y, err := wholes(c, g, u)
	if err != nil {
		return err
	}
	if !a.IsVector() {
		if err := groupDirection(c, t, a, y[0], order); err != nil {
			return err
		}
	}
	return runGroup(c, t, false, func(b block, dst groupDest[C]) error {
		return product(b, dst.vector(), x[b.k], access.AsVector(y[b.k]))
	})
}

// sumOrder says whether the order of the sums of a semiring matters, and whether any product of a
// sum may stand for it.
type sumOrder struct{ matters, any bool }

func orderOf[A, B, C comparable](s semiring.Semiring[A, B, C]) *sumOrder {
	k := access.Semiring(s)
	if p := access.Positional(s); p != nil {
		return &sumOrder{matters: !p.First.Exact || p.First.Any, any: p.First.Any}
	}
	uniform := k.Any && !k.UsesX && !k.UsesY
	return &sumOrder{matters: (!k.Exact || k.Any) && !uniform, any: k.Any}
}

// groupDirection chooses Push or Pull as one place would, if the order of sums matters, and how
// Push cuts the entries of u. Where it does not matter every rank chooses, and on devices always:
// their kernels have orders of their own. It is a collective.
func groupDirection[A, U, C comparable](c *call, t *target[C], a matrix.View[A], u matrix.View[U], order *sumOrder) error {
	g, ctx := t.group, c.onGroup(t.group)
	if g.OnDevices() {
		return nil
	}
	m, n := a.Dims()
	f := facts{rows: m, entries: a.NVals(), n: n, nvals: u.NVals(), any: order.any, repeats: c.repeats,
		hasRows: access.GroupHasRows(a, g), hasCols: access.GroupHasRows(a.T(), g)}
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
			list = sparse.ToSparse(access.Stored(u)).Idx
		}
		return list
	}
	f.pushWork = func(limit int64) (work int64) {
		lengths, err := access.RowLengths(ctx, a.T(), g, ks())
		failure = errors.Join(failure, err)
		for _, n := range lengths {
			work += n
		}
		return work
	}
	if order.matters && t.spec.Mask != nil {
		v := t.spec.Mask.MaskView()
		f.allowed = func() int64 {
			n, err := maskEntries(c, g, v, groupCuts(t))
			failure = errors.Join(failure, err)
			if v.Complemented() {
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
		access.GroupHadRows(a.T(), g)
	} else {
		access.GroupHadRows(a, g)
	}
	if !order.matters {
		return nil
	}
	if c.method = method; method != Push {
		return nil
	}
	lengths, err := access.RowLengths(ctx, a.T(), g, ks())
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
func maskEntries(c *call, g *comm.Group, v matrix.MaskView, cuts []int) (int64, error) {
	list, err := access.MaskBlocks(v, rep.Query{Group: g, Context: c.onGroup(g), Cuts: cuts})
	if err != nil {
		return 0, err
	}
	sum := make([]int64, len(list))
	err = g.Each(func(k int, r comm.Comm) error {
		if err := list[k].Fetch(); err != nil {
			return err
		}
		sum[k] = access.Allowed(list[k]).NVals
		return r.Reduce(c.onGroup(g), comm.Host(sum[k:k+1]), comm.Host(sum[k:k+1]), comm.Sum, false)
	})
	return sum[0], err
}

// groupMxM computes A·B: the rows of A that a rank has by the whole of B.
func groupMxM[A, B, C comparable](c *call, t *target[C], s semiring.Semiring[A, B, C], a matrix.View[A], b matrix.View[B]) error {
	g := t.group
	if err := placed(c, g, a); err != nil {
		return err
	}
	x, err := rowBlocks(c, t, a, false)
	if err != nil {
		return err
	}
	if limit := g.GatherLimit(); limit > 0 && !b.IsVector() && !access.Everywhere(b, g) {
		if pieces := gatherPieces(b, limit); pieces > 1 {
			return groupMxMPieces(c, t, s, x, b, pieces)
		}
	}
	y, err := access.Blocks(b, needOf(c, g, x, b))
	if err != nil {
		return err
	}
	access.GroupHadRows(b, g)
	return runGroup(c, t, false, func(r block, dst groupDest[C]) error {
		return MxM(dst.matrix(), s, x[r.k], y[r.k], r.opts)
	})
}

// needOf asks for the whole of b, or for the rows that the columns of x name if these are fewer
// bytes.
func needOf[A, B comparable](c *call, g *comm.Group, x []matrix.View[A], b matrix.View[B]) rep.Query {
	q := rep.Query{Group: g, Context: c.onGroup(g), Whole: true}
	if b.Transposed() || b.IsVector() || g.OnDevices() { // devices gather without the host
		return q
	}
	q.Need = func(k int) []int32 {
		if x[k].Fetch() != nil { // the product returns the error
			return []int32{}
		}
		m, _ := b.Dims()
		return usedColumns(&access.Rows(x[k]).Structure, m)
	}
	return q
}

// usedColumns returns the columns below n in which a list has entries, ascending.
func usedColumns(s *sparse.Structure, n int) []int32 {
	if len(s.Idx) < n/64 {
		set := slices.Clone(s.Idx)
		slices.Sort(set)
		return slices.Compact(set)
	}
	used, count := make([]bool, n), 0
	for _, j := range s.Idx {
		if !used[j] {
			used[j] = true
			count++
		}
	}
	set := make([]int32, 0, count)
	for j, is := range used {
		if is {
			set = append(set, int32(j))
		}
	}
	return set
}

// gatherPieces returns the number of blocks of columns in which an operand goes round.
func gatherPieces[B comparable](b matrix.View[B], limit int64) int {
	m, n := b.Dims()
	bytes := b.NVals()*int64(4+sizeOf[B]()) + 8*int64(m)
	return int(min(int64(max(n, 1)), (bytes+limit-1)/limit))
}

// groupMxMPieces computes A·B by blocks of columns of B, each of which is gathered by all ranks.
// The sums are those of one product. A mask bounds the product of every block: that without the
// mask may be far larger, and some methods need one.
func groupMxMPieces[A, B, C comparable](c *call, t *target[C], s semiring.Semiring[A, B, C], x []matrix.View[A], b matrix.View[B], pieces int) error {
	g := t.group
	m, n := b.Dims()
	tiles := make([][]matrix.Source[C], len(x))
	inner := WithOptions(WithContext(c.ctx), WithThreads(c.threads))
	allowed, err := allowedBlocks(c, t)
	if err != nil {
		return err
	}
	for p := range pieces {
		from, to := p*n/pieces, (p+1)*n/pieces
		some := matrix.New[B](m, to-from, matrix.On(g))
		if err := Extract(some, b, All(), Span(from, to), inner); err != nil {
			return err
		}
		y, err := wholes(c, g, some.View())
		if err != nil {
			return err
		}
		err = g.Apart(func(k int, _ comm.Comm) error {
			rows, _ := x[k].Dims()
			tile := matrix.New[C](rows, to-from, matrix.On(placeOn(g, k)))
			dst := matrix.Target[C](tile)
			if allowed != nil {
				mask := matrix.New[bool](rows, to-from)
				if err := Extract(mask, allowed[k].View(), All(), Span(from, to), WithThreads(g.Threads()), WithContext(c.ctx)); err != nil {
					return c.because(err)
				}
				if err := mask.Move(placeOn(g, k)); err != nil {
					return err
				}
				v := mask.Structure()
				if t.spec.Mask.MaskView().Complemented() {
					v = v.Not()
				}
				dst = tile.Masked(v)
			}
			if err := MxM(dst, s, x[k], y[k], WithThreads(g.Threads()), WithContext(c.ctx), Using(c.method), withLocal(localRun{shift: 0})); err != nil {
				return c.because(err)
			}
			tiles[k] = append(tiles[k], tile)
			return nil
		}, shared)
		if err != nil {
			return err
		}
	}
	c.method = Auto
	return runGroup(c, t, false, func(r block, dst groupDest[C]) error {
		return Concat(dst.matrix(), [][]matrix.Source[C]{tiles[r.k]}, r.opts)
	})
}

// allowedBlocks returns the positions of the mask, without its complement, in the rows of each rank
// of this process; nil without a mask.
func allowedBlocks[C comparable](c *call, t *target[C]) ([]*matrix.Matrix[bool], error) {
	if t.spec.Mask == nil {
		return nil, nil
	}
	masks, err := access.MaskBlocks(t.spec.Mask.MaskView(), rep.Query{Group: t.group, Context: c.onGroup(t.group), Cuts: groupCuts(t)})
	if err != nil {
		return nil, err
	}
	list := make([]*matrix.Matrix[bool], len(masks))
	err = t.group.Apart(func(k int, _ comm.Comm) error {
		if err := masks[k].Fetch(); err != nil {
			return err
		}
		list[k] = access.FromStore(&sparse.Store[bool]{Structure: *access.Allowed(masks[k])})
		return nil
	}, shared)
	return list, err
}

// placeOn returns where the k-th rank of this process computes.
func placeOn(g *comm.Group, k int) matrix.Place {
	if p := g.PlaceOf(k); p != nil {
		return p
	}
	return nil
}

// groupArg runs ArgMax or ArgMin.
func groupArg[T cmp.Ordered](c *call, t *target[int32], v matrix.View[T], better func(x, y T) bool) error {
	if err := placed(c, t.group, v); err != nil {
		return err
	}
	list, err := rowBlocks(c, t, v, false)
	if err != nil {
		return err
	}
	return runGroup(c, t, false, func(b block, dst groupDest[int32]) error {
		return argBest(begin[int32](c.op, c.name, []Option{b.opts}), dst.vector(), list[b.k], better)
	})
}

// onGroups reports whether a destination of Sort lives on a group.
func onGroups[T comparable](values matrix.Target[T], columns matrix.Target[int32]) bool {
	on := false
	if values != nil {
		_, on = placeOf(values.Spec()).(*comm.Group)
	}
	if columns != nil && !on {
		_, on = placeOf(columns.Spec()).(*comm.Group)
	}
	return on
}

// groupSort runs Sort for each of its destinations; one of the host is written by Sort itself.
func groupSort[T comparable](c *call, values matrix.Target[T], columns matrix.Target[int32], v matrix.View[T], less func(x, y T) bool, opts []Option) error {
	m, n := v.Dims()
	if values != nil {
		t, err := prepare(c, specOf(values), m, n)
		if err != nil {
			return err
		}
		if t.group == nil {
			err = Sort[T](values, nil, v, less, opts...)
		} else {
			err = groupOne(c, t, v, func(b block, dst groupDest[T], a matrix.View[T]) error {
				return Sort(dst.matrix(), nil, a, less, b.opts)
			})
		}
		if err != nil {
			return err
		}
	}
	if columns == nil {
		return nil
	}
	ci := begin[int32]("Sort", "", opts)
	t, err := prepare(ci, specOf(columns), m, n)
	if err != nil {
		return err
	}
	if t.group == nil {
		return Sort[T](nil, columns, v, less, opts...)
	}
	return groupOne(ci, t, v, func(b block, dst groupDest[int32], a matrix.View[T]) error {
		return Sort[T](nil, dst.matrix(), a, less, b.opts)
	})
}

// noGroup refuses, for an operation that does not run on a group.
func (c *call) noGroup(g *comm.Group, what string) error {
	if g == nil {
		return nil
	}
	return fmt.Errorf("%s: %w: %s does not run on a group; move the destination to the host or to one device", c.op, ErrPlace, what)
}
