package ops

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// Extract computes C⟨M⟩ ⊕= A(rows, cols): entry (p, q) is A(rows[p], cols[q]). Indices may repeat.
// It takes O(entries of the extracted rows) time, and sorts each row whose columns are not in
// order; rows without entries take no time in a [Span] of rows. An index out of range is a
// *matrix.IndexError that gives its position in the list.
func Extract[T comparable](dst matrix.Target[T], a matrix.Source[T], rows, cols Indices, opts ...Option) error {
	c := begin[T]("Extract", "", opts)
	v, err := operand[T](c, "a", a)
	if err != nil {
		return err
	}
	m, n := v.Dims()
	spec := specOf(dst)
	ri, err := rows.resolve(c, "rows", m, placeOf(spec))
	if err != nil {
		return err
	}
	ci, err := cols.resolve(c, "cols", n, placeOf(spec))
	if err != nil {
		return err
	}
	t, err := prepare(c, spec, ri.N, ci.N)
	if err != nil {
		return err
	}
	if t.at != nil {
		return remoteExtract(c, t, v, ri, ci)
	}
	if t.group != nil {
		return groupExtract(c, t, v, ri.Indices, ci.Indices)
	}
	return extract(c, t, access.Rows(v), ri.Indices, ci.Indices)
}

func remoteExtract[T comparable](c *call, t *target[T], v matrix.View[T], rows, cols indices) error {
	h := newRemoteCall(c, t, rows.N, cols.N)
	x, i, j := remoteOperand(h, v), h.indices(rows), h.indices(cols)
	if h.err != nil {
		return h.err
	}
	st, ran, err := h.at.Extract(h.call(), h.dest, x, i, j)
	return storeResult(h, t, st, ran, err)
}

func extract[T comparable](c *call, t *target[T], st *sparse.Store[T], rows, cols cpu.Indices) error {
	out, err := cpu.Extract(c.env(), st, rows, cols, truth[T]())
	if err != nil {
		return err
	}
	c.traced("extract", st.NVals)
	return write(c, t, out, false)
}

// ExtractVector computes w⟨m⟩ ⊕= u(idx): entry p is u(idx[p]). Indices may repeat.
func ExtractVector[T comparable](dst matrix.VectorTarget[T], u matrix.VectorSource[T], idx Indices, opts ...Option) error {
	c := begin[T]("ExtractVector", "", opts)
	v, err := operand[T](c, "u", u)
	if err != nil {
		return err
	}
	_, n := v.Dims()
	spec := specOf(dst)
	ci, err := idx.resolve(c, "idx", n, placeOf(spec))
	if err != nil {
		return err
	}
	t, err := prepare(c, spec, 1, ci.N)
	if err != nil {
		return err
	}
	if t.at != nil {
		return remoteExtract(c, t, v, onlyRow, ci)
	}
	if t.group != nil {
		return groupExtractVector(c, t, v, ci)
	}
	if st := access.Stored(v); !st.Sparse() {
		out := gather(st, ci.Indices, c.threads)
		c.traced("gather", int64(ci.N))
		return write(c, t, out, false)
	}
	st := access.Rows(v)
	if ci.List != nil && st.Format == sparse.CSR {
		c.traced("extract", st.NVals)
		return write(c, t, cpu.ExtractRow(st, ci.List, truth[T]()), false)
	}
	return extract(c, t, st, onlyRow.Indices, ci.Indices)
}

// gather is ExtractVector from a dense vector.
func gather[T comparable](u *sparse.Store[T], idx cpu.Indices, threads int) *sparse.Store[T] {
	out := &sparse.Store[T]{Structure: sparse.Structure{NRows: 1, NCols: idx.N, Format: u.Format}}
	out.Val = fresh.Make[T](int64(idx.N))
	val := valued(u).Val
	if u.Format == sparse.Bitmap {
		out.Present = fresh.Make[uint8](int64(idx.N))
	}
	var entries atomic.Int64
	_ = parallel.Range(nil, threads, idx.N, 1<<14, func(_, lo, hi int) {
		if idx.List == nil {
			copy(out.Val[lo:hi], val[idx.Lo+lo:])
			if out.Present != nil {
				entries.Add(int64(copyPresent(out.Present[lo:hi], u.Present[idx.Lo+lo:])))
			}
			return
		}
		for p, i := range idx.List[lo:hi] {
			out.Val[lo+p] = val[i]
		}
		if out.Present == nil {
			return
		}
		var count int64
		for p, i := range idx.List[lo:hi] {
			out.Present[lo+p] = u.Present[i]
			count += int64(u.Present[i])
		}
		entries.Add(count)
	})
	if out.NVals = entries.Load(); u.Format == sparse.Full {
		out.NVals = int64(idx.N)
	}
	return out
}

// copyPresent copies presence bytes and returns the number of entries.
func copyPresent(to, from []uint8) (entries int) {
	for p := range to {
		to[p] = from[p]
		entries += int(from[p])
	}
	return entries
}

// ExtractRow computes w⟨m⟩ ⊕= A(i, cols). With A.T() it extracts a column of A.
func ExtractRow[T comparable](dst matrix.VectorTarget[T], a matrix.Source[T], i int, cols Indices, opts ...Option) error {
	c := begin[T]("ExtractRow", "", opts)
	v, err := operand[T](c, "a", a)
	if err != nil {
		return err
	}
	m, n := v.Dims()
	if uint(i) >= uint(m) {
		return &matrix.IndexError{Op: c.op, Arg: "row", Index: int64(i), Limit: int64(m)}
	}
	ri := indices{Indices: cpu.Indices{List: []int32{int32(i)}, N: 1}}
	spec := specOf(dst)
	ci, err := cols.resolve(c, "cols", n, placeOf(spec))
	if err != nil {
		return err
	}
	t, err := prepare(c, spec, 1, ci.N)
	if err != nil {
		return err
	}
	if t.at != nil {
		return remoteExtract(c, t, v, ri, ci)
	}
	if t.group != nil {
		return groupExtractRow(c, t, v, i, ci.Indices)
	}
	if st := access.Stored(v); !st.Sparse() && !v.Transposed() {
		c.traced("gather", int64(ci.N))
		return write(c, t, gather(denseRow(st, i), ci.Indices, c.threads), false)
	}
	return extract(c, t, access.Rows(v), ri.Indices, ci.Indices)
}

// denseRow returns row i of a dense matrix, which it shares.
func denseRow[T comparable](st *sparse.Store[T], i int) *sparse.Store[T] {
	n := st.NCols
	row := &sparse.Store[T]{Structure: sparse.Structure{NRows: 1, NCols: n, Format: st.Format, NVals: int64(n)}}
	if st.Val != nil {
		row.Val = st.Val[i*n : (i+1)*n]
	}
	if st.Format == sparse.Bitmap {
		row.Present, row.NVals = st.Present[i*n:(i+1)*n], 0
		for _, b := range row.Present {
			row.NVals += int64(b)
		}
	}
	return row
}

// assign computes c(rows, cols) ⊕= x and writes the result under the mask, as GrB_assign: the mask
// has the shape of C, and with Replace all of C outside the mask is cleared. assign does not change
// x. It copies x if the destination keeps it.
func assign[T comparable](c *call, t *target[T], x *sparse.Store[T], rows, cols cpu.Indices) error {
	st := access.Store(t.spec.Matrix)
	if t.spec.Vector && st.NRows == 0 {
		st = sparse.Empty[T](1, 0)
	}
	c.traced("assign", x.NVals)
	whole := rows.All(st.NRows) && cols.All(st.NCols)
	if t.spec.Vector && !whole && t.mask == nil && (cols.List != nil || int64(cols.N) <= max(shortSpan, st.NVals+x.NVals)) {
		out, err := assignRow(c, t, st, x, cols.Listed().List)
		if err != nil {
			return err
		}
		if out != nil {
			return keep(c, t, out)
		}
	}
	env := c.env()
	if whole {
		return write(c, t, valued(x.Own()), false)
	}
	spread := cpu.Spread(env, sparse.ToSparse(x), rows, cols, st.NRows, st.NCols, truth[T]())
	if t.spec.Accum != nil {
		return write(c, t, valued(spread), false)
	}
	// Without an accumulator, the entries of c in the region are deleted.
	rest, err := cpu.Outside(env, st, rows, cols)
	if err != nil {
		return err
	}
	all, err := cpu.Write(env, rest, valued(spread),
		cpu.Overlap[T]{Accum: access.Binary(semiring.Second[T, T]())})
	if err != nil {
		return err
	}
	return write(c, t, all, false)
}

// shortSpan is the number of indices up to which a range is assigned as a list, whatever the
// entries.
const shortSpan = 1 << 12

// assignRow computes st(idx) ⊕= x for a vector without a mask. It returns nil for the cases that
// assign handles.
func assignRow[T comparable](c *call, t *target[T], st, x *sparse.Store[T], idx []int32) (*sparse.Store[T], error) {
	if st.Format == sparse.Hypersparse || holds(t, x) {
		return nil, nil
	}
	val, present := valued(x).Val, x.Present
	if x.Sparse() && x.NVals < int64(len(idx)) {
		if t.spec.Accum != nil {
			some := make([]int32, len(x.Idx))
			for p, j := range x.Idx {
				some[p] = idx[j]
			}
			idx = some
		} else {
			b := sparse.ToBitmap(valued(x))
			val, present = b.Val, b.Present
		}
	}
	if t.spec.Accum == nil {
		return cpu.AssignRow(st, idx, *new(T), val, present, !access.Pinned(t.spec.Matrix), c.threads), nil
	}
	if st.Sparse() || present != nil {
		return nil, nil
	}
	return st, cpu.AccumulateRow(c.env(), st, idx, val, accumulator(t.spec.Accum))
}

// Assign computes C(rows, cols)⟨M⟩ ⊕= A. A has one row per index of rows and one column per index
// of cols. Without an accumulator the region becomes equal to A: its entries at positions absent in
// A are deleted. The mask has the shape of C (see [MaskOfRegion]). Indices must be distinct. Assign
// takes O(entries of A and C) time.
func Assign[T comparable](dst matrix.Target[T], a matrix.Source[T], rows, cols Indices, opts ...Option) error {
	c := begin[T]("Assign", "", opts)
	if c.region {
		return subassign(c, dst, rows, cols, opts, func(part matrix.Target[T], opts ...Option) error {
			return Assign(part, a, All(), All(), opts...)
		})
	}
	spec := specOf(dst)
	v, err := operand[T](c, "a", a)
	if err != nil {
		return err
	}
	m, n := spec.Matrix.Dims()
	t, err := prepare(c, spec, m, n)
	if err != nil {
		return err
	}
	ri, err := rows.distinct(c, "rows", m, placeOf(spec))
	if err != nil {
		return err
	}
	ci, err := cols.distinct(c, "cols", n, placeOf(spec))
	if err != nil {
		return err
	}
	am, an := v.Dims()
	if am != ri.N || an != ci.N {
		return c.dim("a", shape(am, an), shape(ri.N, ci.N),
			"it needs one row and one column per listed index")
	}
	if t.at != nil {
		return remoteAssign(c, t, v, ri, ci)
	}
	if t.group != nil {
		return groupAssign(c, t, v, ri, ci)
	}
	return assign(c, t, oriented(v), ri, ci)
}

// AssignVector computes w(idx)⟨m⟩ ⊕= u; see [Assign].
func AssignVector[T comparable](dst matrix.VectorTarget[T], u matrix.VectorSource[T], idx Indices, opts ...Option) error {
	return assignVector("AssignVector", "idx", dst, u, idx, opts)
}

// assignVector is AssignVector. Errors name the operation op and its list of indices arg.
func assignVector[T comparable](op, arg string, dst matrix.VectorTarget[T], u matrix.VectorSource[T], idx Indices, opts []Option) error {
	c := begin[T](op, "", opts)
	if c.region {
		return subassignVector(c, arg, dst, idx, opts, func(part matrix.VectorTarget[T], opts ...Option) error {
			return assignVector(op, arg, part, u, All(), opts)
		})
	}
	spec := specOf(dst)
	v, err := operand[T](c, "u", u)
	if err != nil {
		return err
	}
	_, n := spec.Matrix.Dims()
	t, err := prepare(c, spec, 1, n)
	if err != nil {
		return err
	}
	ci, err := idx.distinct(c, arg, n, placeOf(spec))
	if err != nil {
		return err
	}
	if _, un := v.Dims(); un != ci.N {
		return c.dim("u", shapeOf(true, 1, un), shapeOf(true, 1, ci.N),
			"it needs one position per listed index")
	}
	if t.at != nil {
		return remoteAssign(c, t, v, cpu.Indices{N: 1}, ci)
	}
	if t.group != nil {
		return groupAssignVector(c, t, v, ci)
	}
	return assign(c, t, access.Stored(v), cpu.Indices{N: 1}, ci)
}

// AssignScalar computes C(rows, cols)⟨M⟩ ⊕= x: it assigns x to every position of the region within
// the mask, or accumulates x there. It takes O(entries of the mask) time if the region is all of C
// and the mask is not complemented, and O(positions of the region) otherwise; more positions than
// there is memory for are a *matrix.SizeError.
func AssignScalar[T comparable](dst matrix.Target[T], x T, rows, cols Indices, opts ...Option) error {
	c := begin[T]("AssignScalar", "", opts)
	if c.region {
		return subassign(c, dst, rows, cols, opts, func(part matrix.Target[T], opts ...Option) error {
			return AssignScalar(part, x, All(), All(), opts...)
		})
	}
	spec := specOf(dst)
	m, n := spec.Matrix.Dims()
	t, err := prepare(c, spec, m, n)
	if err != nil {
		return err
	}
	ri, err := rows.distinct(c, "rows", m, placeOf(spec))
	if err != nil {
		return err
	}
	ci, err := cols.distinct(c, "cols", n, placeOf(spec))
	if err != nil {
		return err
	}
	return assignScalar(c, t, x, ri, ci)
}

// AssignVectorScalar computes w(idx)⟨m⟩ ⊕= x; see [AssignScalar].
func AssignVectorScalar[T comparable](dst matrix.VectorTarget[T], x T, idx Indices, opts ...Option) error {
	c := begin[T]("AssignVectorScalar", "", opts)
	if c.region {
		return subassignVector(c, "idx", dst, idx, opts, func(part matrix.VectorTarget[T], opts ...Option) error {
			return AssignVectorScalar(part, x, All(), opts...)
		})
	}
	spec := specOf(dst)
	_, n := spec.Matrix.Dims()
	t, err := prepare(c, spec, 1, n)
	if err != nil {
		return err
	}
	ci, err := idx.distinct(c, "idx", n, placeOf(spec))
	if err != nil {
		return err
	}
	return assignScalar(c, t, x, cpu.Indices{N: 1}, ci)
}

func assignScalar[T comparable](c *call, t *target[T], x T, rows, cols cpu.Indices) error {
	m, n := t.spec.Matrix.Dims()
	if t.spec.Vector {
		m = 1
	}
	all := rows.All(m) && cols.All(n)
	if t.mask != nil && !t.mask.Comp && all {
		s := t.mask.S
		if d := t.spec.Matrix; t.spec.Accum == nil && !t.spec.Replace && !access.Store(d).Sparse() {
			st := access.Store(d)
			cpu.FillMasked(st, s, x, c.threads)
			c.traced("fill", s.NVals)
			return keep(c, t, st)
		}
		out := cpu.Like[bool, T](c.threads, s.Pattern())
		cpu.Fill(out.Val, x, c.threads)
		c.traced("assign", s.NVals)
		return write(c, t, out, true)
	}
	cells, ok := sparse.Cells(rows.Len(), cols.Len())
	listed := t.spec.Mask != nil && !t.spec.Mask.MaskView().Complemented() && all
	if t.at != nil && (listed || ok && cells <= maxRegion) {
		h := newRemoteAssign(c, t, m, n)
		v := scalarOf(h, &x)
		if h.err != nil {
			return h.err
		}
		st, ran, err := h.at.AssignScalar(h.call(), h.dest, v, indicesOf(rows), indicesOf(cols))
		return storeResult(h, t, st, ran, err)
	}
	if t.group != nil && (listed || ok && cells <= maxRegion) {
		return groupAssignScalar(c, t, x, rows, cols)
	}
	if !ok || cells > maxRegion {
		return &matrix.SizeError{Op: c.op,
			Arg: fmt.Sprintf("number of positions of the %d×%d region", rows.Len(), cols.Len()),
			Got: int64(cells), Limit: maxRegion}
	}
	size := int64(unsafe.Sizeof(x))
	if err := c.room(fmt.Sprintf("the %d×%d region", rows.Len(), cols.Len()), int64(cells), size+int64(unsafe.Sizeof(int32(0)))); err != nil {
		return err
	}
	if st := access.Store(t.spec.Matrix); t.spec.Vector && !all &&
		t.mask == nil && t.spec.Accum == nil && st.Format != sparse.Hypersparse {
		c.traced("assign", int64(cells))
		return keep(c, t, cpu.AssignRow(st, cols.Listed().List, x, nil, nil, !access.Pinned(t.spec.Matrix), c.threads))
	}
	if st := access.Store(t.spec.Matrix); all && t.mask == nil && t.spec.Accum == nil && st.Format == sparse.Full && st.Val != nil {
		cpu.Fill(st.Val, x, c.threads)
		c.traced("fill", st.NVals)
		return keep(c, t, st)
	}
	val := fresh.Make[T](int64(cells))
	cpu.Fill(val, x, c.threads)
	region := &sparse.Store[T]{Structure: sparse.Structure{
		NRows: rows.Len(), NCols: cols.Len(), Format: sparse.Full, NVals: int64(cells),
	}, Val: val}
	if all {
		c.traced("assign", region.NVals)
		return write(c, t, region, false)
	}
	return assign(c, t, region, rows, cols)
}

// maxRegion is the largest number of positions of a scalar assignment. A larger result fits in no
// memory.
const maxRegion = 1 << 36

// Kronecker computes C⟨M⟩ ⊕= A ⊗ B: entry (i·p+k, j·q+l) is op(A(i,j), B(k,l)) for a p×q matrix B.
// Dimensions that overflow are a *matrix.SizeError. It takes O(entries of the result) time.
func Kronecker[A, B, C comparable](dst matrix.Target[C], op semiring.Operator[A, B, C], a matrix.Source[A], b matrix.Source[B], opts ...Option) error {
	f := opOf(op)
	c := begin[C]("Kronecker", f.Name(), opts)
	if err := c.checkOperator(f.Valid(), f.Position()); err != nil {
		return err
	}
	av, err := operand[A](c, "a", a)
	if err != nil {
		return err
	}
	bv, err := operand[B](c, "b", b)
	if err != nil {
		return err
	}
	am, an := av.Dims()
	bm, bn := bv.Dims()
	for _, d := range []struct {
		name string
		x, y int
	}{{"number of rows", am, bm}, {"number of columns", an, bn}} {
		if p := int64(d.x) * int64(d.y); p > matrix.MaxDim {
			return &matrix.SizeError{Op: c.op, Arg: d.name, Got: p, Limit: matrix.MaxDim}
		}
	}
	if x, y := av.NVals(), bv.NVals(); y > 0 && x > maxRegion/y {
		return &matrix.SizeError{Op: c.op, Arg: fmt.Sprintf("number of entries of a (b has %d)", y),
			Got: x, Limit: maxRegion / y}
	}
	t, err := prepare(c, specOf(dst), am*bm, an*bn)
	if err != nil {
		return err
	}
	if t.at != nil {
		h := newRemoteCall(c, t, am*bm, an*bn)
		text, x, y := binaryText(h, f), remoteOperand(h, av), remoteOperand(h, bv)
		if h.err != nil {
			return h.err
		}
		out, ran, err := h.at.Kronecker(h.call(), h.dest, text, x, y)
		return storeResult(h, t, out, ran, err)
	}
	if t.group != nil {
		return groupKronecker(c, t, op, av, bv)
	}
	size := 4 + int64(unsafe.Sizeof(*new(C)))
	if err := c.room("the entries of the result", av.NVals()*bv.NVals(), size); err != nil {
		return err
	}
	x, y := valued(access.Rows(av)), valued(access.Rows(bv))
	out, err := cpu.Kronecker(c.env(), access.Binary(f), x, y)
	if err != nil {
		return err
	}
	c.traced("kronecker", out.NVals)
	return write(c, t, out, false)
}
