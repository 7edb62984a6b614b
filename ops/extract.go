package ops

import (
	"fmt"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/pass"
	"github.com/hiveblas/hiveblas/internal/record"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// Extract computes C⟨M⟩ ⊕= A(rows, cols): entry (p, q) is A(rows[p], cols[q]). Indices may repeat.
// It takes O(entries of the extracted rows) time, and sorts each row with columns that are not in
// order; rows without entries take no time in a [Span] of rows. Extract returns a
// *matrix.IndexError with the position in the list if an index is out of range.
func Extract[T comparable](dst matrix.Target[T], a matrix.Source[T], rows, cols Indices, opts ...Option) error {
	return begin("Extract", "", opts).extract(destOf(dst), viewOf(a), rows, cols)
}

func (c *call) extract(d dest, a rep.View, rows, cols Indices) error {
	if err := c.operand("a", a); err != nil {
		return err
	}
	m, n := a.Dims()
	ri, err := rows.resolve(c, "rows", m, d.place())
	if err != nil {
		return err
	}
	ci, err := cols.resolve(c, "cols", n, d.place())
	if err != nil {
		return err
	}
	t, err := c.prepare(d, ri.N, ci.N)
	if err != nil {
		return err
	}
	if t.at != nil {
		return c.remoteExtract(a, ri, ci)
	}
	if t.group != nil {
		return c.on(t.group).groupExtract(a, ri.Indices, ci.Indices)
	}
	return c.extracted(a.Rows(), ri.Indices, ci.Indices)
}

func (c *call) remoteExtract(a rep.View, rows, cols indices) error {
	h := c.newRemote(rows.N, cols.N)
	x, i, j := h.operand(a), h.indices(rows), h.indices(cols)
	if h.err != nil {
		return h.err
	}
	return h.store(h.at.Extract(h.call(), h.dest, x, i, j))
}

// extracted writes the rows and columns of a listed store.
func (c *call) extracted(st *sparse.Store, rows, cols cpu.Indices) error {
	out, err := cpu.Extract(c.env(), st, rows, cols)
	if err != nil {
		return err
	}
	c.traced("extract", st.NVals)
	return c.write(out, false)
}

// ExtractVector computes w⟨m⟩ ⊕= u(idx): entry p is u(idx[p]). Indices may repeat.
func ExtractVector[T comparable](dst matrix.VectorTarget[T], u matrix.VectorSource[T], idx Indices, opts ...Option) error {
	return begin("ExtractVector", "", opts).extractVector(destOf(dst), viewOf(u), idx)
}

func (c *call) extractVector(d dest, u rep.View, idx Indices) error {
	if err := c.operand("u", u); err != nil {
		return err
	}
	_, n := u.Dims()
	ci, err := idx.resolve(c, "idx", n, d.place())
	if err != nil {
		return err
	}
	t, err := c.prepare(d, 1, ci.N)
	if err != nil {
		return err
	}
	if t.at != nil {
		if (idx.all || ci.values != nil) && c.recorded() {
			key := record.KeyOf(nil, u)
			if !idx.all {
				key = record.KeyOf(nil, u, *ci.values)
			}
			return c.listed(pass.Assign, key, func(h *remoteCall, s *pass.Step) {
				if s.A = h.use(u); !idx.all {
					s.Kind, s.B = pass.Gather, h.use(*ci.values)
				}
			}, func() error { return c.extractVector(d, u, idx) })
		}
		return c.remoteExtract(u, onlyRow, ci)
	}
	if t.group != nil {
		return c.on(t.group).groupExtractVector(u, ci)
	}
	if st := u.Stored(); !st.Sparse() {
		out := cpu.GatherDense(st, ci.Indices, c.threads)
		c.traced("gather", int64(ci.N))
		return c.write(out, false)
	}
	st := u.Rows()
	if ci.List != nil && st.Format == sparse.CSR {
		c.traced("extract", st.NVals)
		return c.write(cpu.ExtractRow(st, ci.List), false)
	}
	return c.extracted(st, onlyRow.Indices, ci.Indices)
}

// ExtractRow computes w⟨m⟩ ⊕= A(i, cols). With A.T() it extracts a column of A.
func ExtractRow[T comparable](dst matrix.VectorTarget[T], a matrix.Source[T], i int, cols Indices, opts ...Option) error {
	return begin("ExtractRow", "", opts).extractRow(destOf(dst), viewOf(a), i, cols)
}

func (c *call) extractRow(d dest, a rep.View, i int, cols Indices) error {
	if err := c.operand("a", a); err != nil {
		return err
	}
	m, n := a.Dims()
	if uint(i) >= uint(m) {
		return &matrix.IndexError{Op: c.op, Arg: "row", Index: int64(i), Limit: int64(m)}
	}
	ri := indices{Indices: cpu.Indices{List: []int32{int32(i)}, N: 1}}
	ci, err := cols.resolve(c, "cols", n, d.place())
	if err != nil {
		return err
	}
	t, err := c.prepare(d, 1, ci.N)
	if err != nil {
		return err
	}
	if t.at != nil {
		return c.remoteExtract(a, ri, ci)
	}
	if t.group != nil {
		return c.on(t.group).groupExtractRow(a, i, ci.Indices)
	}
	if st := a.Stored(); !st.Sparse() && !a.Transposed {
		c.traced("gather", int64(ci.N))
		return c.write(cpu.GatherDense(cpu.DenseRow(st, i), ci.Indices, c.threads), false)
	}
	return c.extracted(a.Rows(), ri.Indices, ci.Indices)
}

// assigned computes c(rows, cols) ⊕= x and writes the result under the mask, as GrB_assign: the
// mask has the shape of C, and with Replace all of C outside the mask is cleared. It does not
// change x. It copies x if the destination keeps it.
func (c *call) assigned(x *sparse.Store, rows, cols cpu.Indices) error {
	t := &c.t
	st := t.m.Stored()
	if t.vector && st.NRows == 0 {
		st = sparse.Empty(t.c, 1, 0)
	}
	c.traced("assign", x.NVals)
	whole := rows.All(st.NRows) && cols.All(st.NCols)
	if t.vector && !whole && !t.deletes() && (cols.List != nil || int64(cols.N) <= max(shortSpan, st.NVals+x.NVals)) {
		out, err := c.assignedRow(st, x, cols.Listed().List)
		if err != nil {
			return err
		}
		if out != nil {
			return c.keep(out)
		}
	}
	env := c.env()
	if whole {
		return c.write(x.Own().Valued(), false)
	}
	spread := cpu.Spread(env, x.ToSparse(), rows, cols, st.NRows, st.NCols)
	if t.accum.given {
		return c.write(spread.Valued(), false)
	}
	// Without an accumulator, the entries of c in the region are deleted.
	rest, err := cpu.Outside(env, st, rows, cols)
	if err != nil {
		return err
	}
	all, err := cpu.Write(env, rest, spread.Valued(), cpu.Overlap{Accum: cpu.SecondOf(t.c)})
	if err != nil {
		return err
	}
	return c.write(all, false)
}

// shortSpan is the number of indices up to which a range is assigned as a list, whatever the
// entries.
const shortSpan = 1 << 12

// deletes reports whether the mask deletes entries outside the region of an assignment.
func (t *target) deletes() bool { return t.mask != nil && t.replace }

// assignedRow computes st(idx)⟨m⟩ ⊕= x for a vector. It returns nil for the cases that assigned
// handles.
func (c *call) assignedRow(st, x *sparse.Store, idx []int32) (*sparse.Store, error) {
	t := &c.t
	if st.Format == sparse.Hypersparse || t.holds(x) {
		return nil, nil
	}
	if t.mask != nil {
		places := t.mask.Places(idx)
		if idx = cpu.AtPlaces(idx, places); x.Sparse() {
			x = cpu.ExtractRow(x.ToCSR().Valued(), places)
		} else {
			x = cpu.GatherDense(x, cpu.Indices{List: places, N: len(places)}, c.threads)
		}
	}
	val, present := x.Valued().Val, x.Present
	if x.Sparse() && x.NVals < int64(len(idx)) {
		if t.accum.given {
			idx = cpu.AtPlaces(idx, x.Idx)
		} else {
			b := x.Valued().ToBitmap()
			val, present = b.Val, b.Present
		}
	}
	if !t.accum.given {
		return cpu.AssignRow(st, idx, t.c.Zero, val, present, !t.m.Pinned(), c.threads), nil
	}
	if st.Sparse() || present != nil {
		return nil, nil
	}
	return st, cpu.AccumulateRow(c.env(), st, idx, val, t.accum.k)
}

// Assign computes C(rows, cols)⟨M⟩ ⊕= A. A has one row per index of rows and one column per index
// of cols. Without an accumulator the region becomes equal to A: its entries at positions absent in
// A are deleted. The mask has the shape of C (see [MaskOfRegion]). Indices must be distinct. Assign
// takes O(entries of A and C) time.
func Assign[T comparable](dst matrix.Target[T], a matrix.Source[T], rows, cols Indices, opts ...Option) error {
	return begin("Assign", "", opts).assign(destOf(dst), viewOf(a), rows, cols)
}

func (c *call) assign(d dest, a rep.View, rows, cols Indices) error {
	if c.region {
		return c.subassign(d, rows, cols, func(in *call, part dest) error { return in.assign(part, a, All(), All()) })
	}
	if err := c.operand("a", a); err != nil {
		return err
	}
	m, n := d.dims()
	t, err := c.prepare(d, m, n)
	if err != nil {
		return err
	}
	ri, err := rows.distinct(c, "rows", m, d.place())
	if err != nil {
		return err
	}
	ci, err := cols.distinct(c, "cols", n, d.place())
	if err != nil {
		return err
	}
	am, an := a.Dims()
	if am != ri.N || an != ci.N {
		return c.dim("a", shape(am, an), shape(ri.N, ci.N),
			"it needs one row and one column per listed index")
	}
	if t.at != nil {
		return c.remoteAssign(a, ri, ci)
	}
	if t.group != nil {
		return c.on(t.group).groupAssign(a, ri, ci)
	}
	return c.assigned(a.Oriented(), ri, ci)
}

// AssignVector computes w(idx)⟨m⟩ ⊕= u; see [Assign].
func AssignVector[T comparable](dst matrix.VectorTarget[T], u matrix.VectorSource[T], idx Indices, opts ...Option) error {
	return begin("AssignVector", "", opts).assignVector("idx", destOf(dst), viewOf(u), idx)
}

// assignVector is AssignVector. Errors name the list of indices arg.
func (c *call) assignVector(arg string, d dest, u rep.View, idx Indices) error {
	if c.region {
		return c.subassignVector(arg, d, idx, func(in *call, part dest) error { return in.assignVector(arg, part, u, All()) })
	}
	if err := c.operand("u", u); err != nil {
		return err
	}
	_, n := d.dims()
	t, err := c.prepare(d, 1, n)
	if err != nil {
		return err
	}
	ci, err := idx.distinct(c, arg, n, d.place())
	if err != nil {
		return err
	}
	if _, un := u.Dims(); un != ci.N {
		return c.dim("u", shapeOf(true, 1, un), shapeOf(true, 1, ci.N),
			"it needs one position per listed index")
	}
	if t.at != nil {
		if ci.All(n) && c.recorded() {
			return c.listed(pass.Assign, record.KeyOf(nil, u), func(h *remoteCall, s *pass.Step) { s.A = h.use(u) },
				func() error { return c.assignVector(arg, d, u, idx) })
		}
		return c.remoteAssign(u, cpu.Indices{N: 1}, ci)
	}
	if t.group != nil {
		return c.on(t.group).groupAssignVector(u, ci)
	}
	return c.assigned(u.Stored(), cpu.Indices{N: 1}, ci)
}

// AssignScalar computes C(rows, cols)⟨M⟩ ⊕= x: it assigns x to every position of the region within
// the mask, or accumulates x there. It takes O(entries of the mask) time if the region is all of C
// and the mask is not complemented, and O(positions of the region) otherwise; it returns a
// *matrix.SizeError if there are more positions than memory.
func AssignScalar[T comparable](dst matrix.Target[T], x T, rows, cols Indices, opts ...Option) error {
	return begin("AssignScalar", "", opts).assignScalar(destOf(dst), sparse.ValuesOf([]T{x}), rows, cols)
}

// assignScalar is AssignScalar of a single value.
func (c *call) assignScalar(d dest, x sparse.Values, rows, cols Indices) error {
	if c.region {
		return c.subassign(d, rows, cols, func(in *call, part dest) error { return in.assignScalar(part, x, All(), All()) })
	}
	m, n := d.dims()
	if _, err := c.prepare(d, m, n); err != nil {
		return err
	}
	ri, err := rows.distinct(c, "rows", m, d.place())
	if err != nil {
		return err
	}
	ci, err := cols.distinct(c, "cols", n, d.place())
	if err != nil {
		return err
	}
	return c.assignedScalar(x, ri, ci)
}

// AssignVectorScalar computes w(idx)⟨m⟩ ⊕= x; see [AssignScalar].
func AssignVectorScalar[T comparable](dst matrix.VectorTarget[T], x T, idx Indices, opts ...Option) error {
	c := begin("AssignVectorScalar", "", opts)
	return c.done(c.assignVectorScalar(destOf(dst), sparse.ValuesOf([]T{x}), idx))
}

// assignVectorScalar is AssignVectorScalar of a single value.
func (c *call) assignVectorScalar(d dest, x sparse.Values, idx Indices) error {
	if c.region {
		return c.subassignVector("idx", d, idx, func(in *call, part dest) error { return in.assignVectorScalar(part, x, All()) })
	}
	_, n := d.dims()
	if _, err := c.prepare(d, 1, n); err != nil {
		return err
	}
	ci, err := idx.distinct(c, "idx", n, d.place())
	if err != nil {
		return err
	}
	return c.assignedScalar(x, cpu.Indices{N: 1}, ci)
}

// assignedScalar assigns a single value to a region.
func (c *call) assignedScalar(x sparse.Values, rows, cols cpu.Indices) error {
	t := &c.t
	m, n := t.m.Dims()
	if t.vector {
		m = 1
	}
	all := rows.All(m) && cols.All(n)
	if t.mask != nil && !t.mask.Comp && all {
		s := t.mask.S
		if st := t.m.Stored(); !t.accum.given && !t.replace && !st.Sparse() {
			cpu.FillMasked(st, s, x, c.threads)
			c.traced("fill", s.NVals)
			return c.keep(st)
		}
		out := cpu.Like(c.threads, t.c, s.Pattern())
		cpu.Fill(t.c, out.Val, x, c.threads)
		c.traced("assign", s.NVals)
		return c.write(out, true)
	}
	cells, ok := sparse.Cells(rows.Len(), cols.Len())
	listed := t.dest.mask != nil && !t.view.Complement && all
	if t.at != nil && t.vector && all && c.recorded() {
		return c.listed(pass.Fill, record.KeyOf(nil).Value(0, t.c, x), func(h *remoteCall, s *pass.Step) { s.X = pass.Given(h.scalar(t.c, x)) },
			func() error { return c.assignedScalar(x, rows, cols) })
	}
	if t.at != nil && (listed || ok && cells <= maxRegion) {
		h := c.newRemoteAssign(m, n)
		v := h.scalar(t.c, x)
		if h.err != nil {
			return h.err
		}
		return h.store(h.at.AssignScalar(h.call(), h.dest, v, indicesOf(rows), indicesOf(cols)))
	}
	if t.group != nil && (listed || ok && cells <= maxRegion) {
		return c.on(t.group).groupAssignScalar(x, rows, cols)
	}
	if !ok || cells > maxRegion {
		return &matrix.SizeError{Op: c.op,
			Arg: fmt.Sprintf("number of positions of the %d×%d region", rows.Len(), cols.Len()),
			Got: int64(cells), Limit: maxRegion}
	}
	if err := c.room(fmt.Sprintf("the %d×%d region", rows.Len(), cols.Len()), int64(cells), t.c.Size+4); err != nil {
		return err
	}
	st := t.m.Stored()
	if t.vector && !all && !t.deletes() && !t.accum.given && st.Format != sparse.Hypersparse {
		c.traced("assign", int64(cells))
		idx := cols.Listed().List
		if t.mask != nil {
			idx = cpu.AtPlaces(idx, t.mask.Places(idx))
		}
		return c.keep(cpu.AssignRow(st, idx, x, sparse.Values{}, nil, !t.m.Pinned(), c.threads))
	}
	if all && t.mask == nil && !t.accum.given && st.Format == sparse.Full && !st.Val.None() {
		cpu.Fill(t.c, st.Val, x, c.threads)
		c.traced("fill", st.NVals)
		return c.keep(st)
	}
	val := t.c.Make(int64(cells))
	cpu.Fill(t.c, val, x, c.threads)
	region := &sparse.Store{Structure: sparse.Structure{
		NRows: rows.Len(), NCols: cols.Len(), Format: sparse.Full, NVals: int64(cells),
	}, Val: val, Type: t.c}
	if all {
		c.traced("assign", region.NVals)
		return c.write(region, false)
	}
	return c.assigned(region, rows, cols)
}

// maxRegion is the largest number of positions of a scalar assignment. A larger result fits in no
// memory.
const maxRegion = 1 << 36

// Kronecker computes C⟨M⟩ ⊕= A ⊗ B: entry (i·p+k, j·q+l) is op(A(i,j), B(k,l)) for a p×q matrix B.
// Kronecker returns a *matrix.SizeError if dimensions overflow. It takes O(entries of the result)
// time.
func Kronecker[A, B, C comparable](dst matrix.Target[C], op semiring.Operator[A, B, C], a matrix.Source[A], b matrix.Source[B], opts ...Option) error {
	f := operatorIn(insideOf(op))
	return begin("Kronecker", f.name, opts).kronecker(destOf(dst), f, viewOf(a), viewOf(b))
}

func (c *call) kronecker(d dest, f operator, a, b rep.View) error {
	if err := c.checkOperator(f.valid, f.pos); err != nil {
		return err
	}
	if err := c.operand("a", a); err != nil {
		return err
	}
	if err := c.operand("b", b); err != nil {
		return err
	}
	am, an := a.Dims()
	bm, bn := b.Dims()
	for _, d := range []struct {
		name string
		x, y int
	}{{"number of rows", am, bm}, {"number of columns", an, bn}} {
		if p := int64(d.x) * int64(d.y); p > matrix.MaxDim {
			return &matrix.SizeError{Op: c.op, Arg: d.name, Got: p, Limit: matrix.MaxDim}
		}
	}
	if x, y := a.NVals(), b.NVals(); y > 0 && x > maxRegion/y {
		return &matrix.SizeError{Op: c.op, Arg: fmt.Sprintf("number of entries of a (b has %d)", y),
			Got: x, Limit: maxRegion / y}
	}
	t, err := c.prepare(d, am*bm, an*bn)
	if err != nil {
		return err
	}
	if t.at != nil {
		h := c.newRemote(am*bm, an*bn)
		text, x, y := h.binary(&f, a.Type(), b.Type(), t.c), h.operand(a), h.operand(b)
		if h.err != nil {
			return h.err
		}
		return h.store(h.at.Kronecker(h.call(), h.dest, text, x, y))
	}
	if t.group != nil {
		return c.on(t.group).groupKronecker(f, a, b)
	}
	if err := c.room("the entries of the result", a.NVals()*b.NVals(), 4+t.c.Size); err != nil {
		return err
	}
	out, err := cpu.Kronecker(c.env(), f.k, t.c, a.Rows().Valued(), b.Rows().Valued())
	if err != nil {
		return err
	}
	c.traced("kronecker", out.NVals)
	return c.write(out, false)
}
