package spread

import (
	"errors"
	"slices"
	"sort"
	"unsafe"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/spmd"
	"github.com/hiveblas/hiveblas/internal/collect"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// hostMemory is the memory of a rank on the host.
type hostMemory struct {
	*rank
	in rowList       // of room
	st *sparse.Store // the whole matrix
}

// rowList are rows in memory of the host.
type rowList struct {
	pairs, idx    []int32
	val           sparse.Values
	rows, entries []int // for each rank
}

// streams returns the memory of the rows.
func (l *rowList) streams(t *sparse.Type) streams {
	return streams{spmd.Memory(l.pairs), spmd.Memory(l.idx), collect.Memory(t, l.val)}
}

// stored returns the block, or its structure.
func (m *hostMemory) stored() *sparse.Store {
	if m.shape {
		return m.own.Shape().Pattern()
	}
	return m.own.Stored()
}

func (m *hostMemory) size() int64 {
	if m.stored().Val.None() {
		return 0
	}
	return m.kind.Size
}

func (m *hostMemory) room(head, entries int) (streams, error) {
	entries = max(entries, 0)
	m.in = rowList{pairs: make([]int32, (head+3)/4), idx: make([]int32, entries), val: m.kind.Zeroed(int64(entries))}
	in := m.in.streams(m.kind)
	in.head = comm.HostAt(unsafe.Pointer(unsafe.SliceData(m.in.pairs)), comm.Uint8, head)
	return in, nil
}

func (m *hostMemory) pack(f *gatherForm) (own streams, pairs int, err error) {
	st := m.stored()
	if err := m.own.Err(); err != nil {
		return own, 0, err
	}
	lo := int32(m.s.cuts[m.c.Rank()])
	switch {
	case f.dense:
		if st.Sparse() {
			st = st.ToBitmap()
		}
		if !f.full {
			own.head = spmd.Memory(packBits(st.Present, f.items[m.c.Rank()]))
		}
		own.val = collect.Memory(st.Type, st.Val)
		return own, 0, nil
	case m.s.vector:
		st = st.ToSparse()
		idx := make([]int32, len(st.Idx))
		for p, j := range st.Idx {
			idx[p] = j + lo
		}
		return streams{idx: spmd.Memory(idx), val: collect.Memory(st.Type, st.Val)}, 0, nil
	case f.few:
		st = st.ToSparse().ToHyper()
		pairs := make([]int32, 0, 2*st.Vecs())
		for k, i := range st.RowIDs {
			pairs = append(pairs, i+lo, int32(st.Ptr[k+1]-st.Ptr[k]))
		}
		own.head = spmd.Memory(pairs)
	default:
		st = st.ToSparse().ToCSR()
		lens := make([]int32, st.NRows)
		for i := range lens {
			lens[i] = int32(st.Ptr[i+1] - st.Ptr[i])
		}
		own.head = spmd.Memory(lens)
	}
	own.idx, own.val = spmd.Memory(st.Idx), collect.Memory(st.Type, st.Val)
	return own, st.Vecs(), nil
}

func (m *hostMemory) whole(f *gatherForm) (all streams, err error) {
	st := &sparse.Store{Structure: sparse.Structure{NRows: m.s.rows, NCols: m.s.cols, NVals: f.total}, Type: m.kind}
	switch n := f.total; {
	case f.dense:
		st.Format = sparse.Full
		if !f.full {
			st.Format, st.Present = sparse.Bitmap, unpackBits(spmd.Memory(m.in.pairs).Bytes(), f.items)
		}
	case m.s.vector:
		st.Ptr = []int64{0, n}
	case f.few:
		rows := m.in.pairs
		st.Format, st.RowIDs, st.Ptr = sparse.Hypersparse, make([]int32, 0, len(rows)/2), make([]int64, 1, len(rows)/2+1)
		for p := 0; p < len(rows); p += 2 {
			st.RowIDs = append(st.RowIDs, rows[p])
			st.Ptr = append(st.Ptr, st.Ptr[len(st.Ptr)-1]+int64(rows[p+1]))
		}
	default:
		st.Ptr = make([]int64, len(m.in.pairs)+1)
		for i, n := range m.in.pairs {
			st.Ptr[i+1] = st.Ptr[i] + int64(n)
		}
	}
	if !f.dense {
		st.Idx = make([]int32, f.total)
	}
	switch items := int64(collect.Sum(f.items)); {
	case m.shape:
		st.Val = m.kind.Filled(items, m.kind.True)
	case !m.stored().Val.None(): // else the result is a pattern, too
		st.Val = m.kind.Zeroed(items)
	}
	m.st = st
	return streams{idx: spmd.Memory(st.Idx), val: collect.Memory(st.Type, st.Val)}, nil
}

func (m *hostMemory) gathered() (Matrix, error) { return m.made(m.st.Settle()) }

// made returns a matrix with a storage at the place of the rank.
func (m *hostMemory) made(st *sparse.Store) (Matrix, error) {
	a := m.s.make.New(st)
	if m.place == nil || m.s.loose {
		return a, nil
	}
	return a, a.Move(m.place, false, blocks)
}

// packBits returns n presence bytes as bits; nil bytes are all 1.
func packBits(present []uint8, n int) []uint8 {
	out := make([]uint8, (n+7)/8)
	for i := range n {
		if present == nil || present[i] != 0 {
			out[i/8] |= 1 << (i % 8)
		}
	}
	return out
}

// unpackBits returns the presence bytes of all ranks, which have so many positions each.
func unpackBits(packed []uint8, items []int) []uint8 {
	present := make([]uint8, 0, collect.Sum(items))
	for _, n := range items {
		for i := range n {
			present = append(present, packed[i/8]>>(i%8)&1)
		}
		packed = packed[(n+7)/8:]
	}
	return present
}

func (m *hostMemory) rowsFor(across bool, cuts []int) (rowsOut, error) {
	st, shift := m.own.Rows(), 0
	lo, _ := m.s.block(m.c)
	switch {
	case across:
		st, lo, shift = st.Transpose(m.s.g.Threads()), 0, lo
	case m.s.vector:
		st = asColumn(st)
	}
	if err := m.own.Err(); err != nil {
		return rowsOut{}, err
	}
	l := newRowList(st.Type)
	for r := range m.c.Size() {
		l.next()
		from, to := max(cuts[r]-lo, 0), cuts[r+1]-lo
		k := from
		if st.Format == sparse.Hypersparse {
			k = sort.Search(len(st.RowIDs), func(k int) bool { return int(st.RowIDs[k]) >= from })
		}
		for ; k < st.Vecs() && st.RowID(k) < to; k++ {
			l.add(st, int32(st.RowID(k)+lo), st.Ptr[k], st.Ptr[k+1], int32(shift))
		}
	}
	return l.out(st.Type), nil
}

func (m *hostMemory) listedRows(lists [][]int32) (rowsOut, error) {
	lo, hi := m.s.block(m.c)
	st := m.own.Rows()
	if err := m.own.Err(); err != nil {
		return rowsOut{}, err
	}
	l := newRowList(st.Type)
	for _, list := range lists {
		l.next()
		from, to := between(list, lo, hi)
		for p, i := range list[from:to] {
			a, b := st.Span(int(i) - lo)
			l.add(st, int32(from+p), a, b, 0)
		}
	}
	return l.out(st.Type), nil
}

func newRowList(t *sparse.Type) *rowList { return &rowList{val: t.Zeroed(0)} }

// next begins the rows of the next rank.
func (l *rowList) next() { l.rows, l.entries = append(l.rows, 0), append(l.entries, 0) }

// add adds a row of st, the entries from … to−1, as row i for the rank. The columns are shifted.
// Rows without entries are left out.
func (l *rowList) add(st *sparse.Store, i int32, from, to int64, shift int32) {
	if from == to {
		return
	}
	l.pairs = append(l.pairs, i, int32(to-from))
	if shift == 0 {
		l.idx = append(l.idx, st.Idx[from:to]...)
	} else {
		for _, j := range st.Idx[from:to] {
			l.idx = append(l.idx, j+shift)
		}
	}
	l.val = st.Type.Append(l.val, st.Part(from, to))
	r := len(l.rows) - 1
	l.rows[r], l.entries[r] = l.rows[r]+1, l.entries[r]+int(to-from)
}

func (l *rowList) out(t *sparse.Type) rowsOut { return rowsOut{l.streams(t), l.rows, l.entries} }

func (m *hostMemory) stack(_ []int, _, lo, rows, n int, conform bool) (Matrix, error) {
	if m.s.vector {
		n = 1
	}
	st := m.in.stacked(m.kind, lo, rows, n)
	if m.s.vector {
		st = asRow(st)
	}
	if conform {
		st = st.Conform()
	}
	return m.made(st)
}

// stacked makes an m×n store of rows that begin at lo. Pieces of one row follow each other in their
// order.
func (l *rowList) stacked(t *sparse.Type, lo, m, n int) *sparse.Store {
	total := int64(len(l.idx))
	out := &sparse.Store{Structure: sparse.Structure{NRows: m, NCols: n, NVals: total, Idx: make([]int32, total)}, Val: t.Zeroed(total), Type: t}
	type piece struct {
		row      int32
		from, to int64
	}
	pieces, from := make([]piece, 0, len(l.pairs)/2), int64(0)
	for q := 0; q < len(l.pairs); q += 2 {
		to := from + int64(l.pairs[q+1])
		pieces = append(pieces, piece{l.pairs[q] - int32(lo), from, to})
		from = to
	}
	put := func(at int64, p piece) int64 {
		t.Copy(out.Part(at, at+p.to-p.from), t.Slice(l.val, p.from, p.to))
		return at + int64(copy(out.Idx[at:], l.idx[p.from:p.to]))
	}
	if int64(m) > 4*total+1024 {
		slices.SortStableFunc(pieces, func(a, b piece) int { return int(a.row) - int(b.row) })
		out.Format, out.Ptr, out.RowIDs = sparse.Hypersparse, []int64{0}, []int32{}
		for _, p := range pieces {
			at := put(out.Ptr[len(out.Ptr)-1], p)
			if last := len(out.RowIDs) - 1; last >= 0 && out.RowIDs[last] == p.row {
				out.Ptr[last+1] = at
				continue
			}
			out.RowIDs, out.Ptr = append(out.RowIDs, p.row), append(out.Ptr, at)
		}
		return out.Settle()
	}
	out.Ptr = make([]int64, m+1)
	for _, p := range pieces {
		out.Ptr[p.row+1] += p.to - p.from
	}
	for i := range m {
		out.Ptr[i+1] += out.Ptr[i]
	}
	next := slices.Clone(out.Ptr)
	for _, p := range pieces {
		next[p.row] = put(next[p.row], p)
	}
	return out.Settle()
}

// asColumn returns a 1×n list as n×1.
func asColumn(r *sparse.Store) *sparse.Store {
	st := sparse.CSRShape(&r.Structure)
	out := &sparse.Structure{NRows: st.NCols, NCols: 1, Format: sparse.Hypersparse, NVals: st.NVals}
	out.RowIDs, out.Idx, out.Ptr = st.Idx, make([]int32, len(st.Idx)), make([]int64, len(st.Idx)+1)
	for k := range out.Ptr {
		out.Ptr[k] = int64(k)
	}
	return r.With(out)
}

// asRow returns an n×1 list as 1×n.
func asRow(r *sparse.Store) *sparse.Store {
	st := sparse.HyperShape(&r.Structure)
	n := int64(len(st.RowIDs))
	return r.With(&sparse.Structure{NRows: 1, NCols: st.NRows, NVals: n, Ptr: []int64{0, n}, Idx: st.RowIDs})
}

func (m *hostMemory) differs(other Matrix) (bool, error) {
	x, y := m.own.Rows(), other.Rows()
	if err := errors.Join(m.own.Err(), other.Err()); err != nil {
		return false, err
	}
	return !sparse.HyperShape(&x.Structure).SameAs(sparse.HyperShape(&y.Structure)) || !m.kind.Equal(x.Val, y.Val), nil
}
