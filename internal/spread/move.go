package spread

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sort"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/spmd"
	"github.com/hiveblas/hiveblas/internal/collect"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// listRows returns rows of a listed store as a hypersparse store with renamed rows and columns.
func listRows(st *sparse.Store, from, to int, row func(i int) int32, shift int32) *sparse.Store {
	out := emptyRows(st.Type)
	k := from
	if st.Format == sparse.Hypersparse {
		k = sort.Search(len(st.RowIDs), func(k int) bool { return int(st.RowIDs[k]) >= from })
	}
	for ; k < st.Vecs() && st.RowID(k) < to; k++ {
		if st.Ptr[k] == st.Ptr[k+1] {
			continue
		}
		if id := row(st.RowID(k)); id >= 0 {
			appendRow(out, st, id, st.Ptr[k], st.Ptr[k+1], shift)
		}
	}
	return out
}

// exchangeRows sends rows to every rank and returns the received ones, in the order of ranks.
func exchangeRows(ctx context.Context, c comm.Comm, t *sparse.Type, out []*sparse.Store) ([]*sparse.Store, error) {
	p := c.Size()
	twos, head := make([]int, p), make([]int64, 0, 2*p)
	for r, st := range out {
		twos[r] = 2
		head = append(head, int64(len(st.RowIDs)), int64(len(st.Idx)))
	}
	got, err := spmd.AllToAll(ctx, c, head, twos, twos)
	if err != nil {
		return nil, err
	}
	var rows, idx []int32
	val := t.Zeroed(0)
	sendRows, sendEntries, recvRows, recvEntries := make([]int, p), make([]int, p), make([]int, p), make([]int, p)
	for r, st := range out {
		sendRows[r], sendEntries[r] = 2*len(st.RowIDs), len(st.Idx)
		recvRows[r], recvEntries[r] = 2*int(got[2*r]), int(got[2*r+1])
		for k, i := range st.RowIDs {
			rows = append(rows, i, int32(st.Ptr[k+1]-st.Ptr[k]))
		}
		idx, val = append(idx, st.Idx...), t.Append(val, st.Val)
	}
	if rows, err = spmd.AllToAll(ctx, c, rows, sendRows, recvRows); err != nil {
		return nil, err
	}
	if idx, err = spmd.AllToAll(ctx, c, idx, sendEntries, recvEntries); err != nil {
		return nil, err
	}
	if val, err = collect.ExchangeValues(ctx, c, t, val, sendEntries, recvEntries); err != nil {
		return nil, err
	}
	in := make([]*sparse.Store, p)
	for r := range in {
		st := emptyRows(t)
		for q := 0; q < recvRows[r]; q += 2 {
			st.RowIDs = append(st.RowIDs, rows[q])
			st.Ptr = append(st.Ptr, st.Ptr[len(st.Ptr)-1]+int64(rows[q+1]))
		}
		n := recvEntries[r]
		st.Idx, st.Val = idx[:n], t.Slice(val, 0, int64(n))
		rows, idx, val = rows[recvRows[r]:], idx[n:], t.Slice(val, int64(n), int64(val.Len()))
		in[r] = st
	}
	return in, nil
}

// stack makes an m×n store of received rows. Pieces of one row follow each other in the order of
// ranks.
func stack(t *sparse.Type, in []*sparse.Store, m, n int) *sparse.Store {
	total := int64(0)
	for _, st := range in {
		total += int64(len(st.Idx))
	}
	out := &sparse.Store{Structure: sparse.Structure{NRows: m, NCols: n, NVals: total, Idx: make([]int32, total)}, Val: t.Zeroed(total), Type: t}
	if int64(m) > 4*total+1024 {
		type piece struct {
			row     int32
			from, k int
		}
		var pieces []piece
		for r, st := range in {
			for k, i := range st.RowIDs {
				pieces = append(pieces, piece{i, r, k})
			}
		}
		slices.SortStableFunc(pieces, func(a, b piece) int { return int(a.row) - int(b.row) })
		out.Format, out.Ptr, out.RowIDs = sparse.Hypersparse, []int64{0}, []int32{}
		at := int64(0)
		for _, q := range pieces {
			st := in[q.from]
			lo, hi := st.Ptr[q.k], st.Ptr[q.k+1]
			t.Copy(out.Part(at, at+hi-lo), st.Part(lo, hi))
			at += int64(copy(out.Idx[at:], st.Idx[lo:hi]))
			if last := len(out.RowIDs) - 1; last >= 0 && out.RowIDs[last] == q.row {
				out.Ptr[last+1] = at
				continue
			}
			out.RowIDs, out.Ptr = append(out.RowIDs, q.row), append(out.Ptr, at)
		}
		return out.Settle()
	}
	out.Ptr = make([]int64, m+1)
	for _, st := range in {
		for k, i := range st.RowIDs {
			out.Ptr[i+1] += st.Ptr[k+1] - st.Ptr[k]
		}
	}
	for i := range m {
		out.Ptr[i+1] += out.Ptr[i]
	}
	next := slices.Clone(out.Ptr)
	for _, st := range in {
		for k, i := range st.RowIDs {
			lo, hi := st.Ptr[k], st.Ptr[k+1]
			t.Copy(out.Part(next[i], next[i]+hi-lo), st.Part(lo, hi))
			next[i] += int64(copy(out.Idx[next[i]:], st.Idx[lo:hi]))
		}
	}
	return out.Settle()
}

// received makes a spread of blocks that the ranks make in a collective.
func received(s *Blocks, rows, cols int, cuts []int, make1 func(k int, c comm.Comm) (*sparse.Store, error)) (*Blocks, error) {
	out := &Blocks{g: s.g, make: s.make, kind: s.kind, rows: rows, cols: cols, vector: s.vector, cuts: cuts, loose: s.loose, part: make([]Matrix, len(s.part))}
	err := s.g.Each(func(k int, c comm.Comm) error {
		st, err := make1(k, c)
		if err != nil {
			return err
		}
		out.part[k] = s.make.New(st)
		if p := s.g.PlaceOf(k); p != nil && !s.loose {
			return out.part[k].Move(p, false, blocks)
		}
		return nil
	})
	return out, err
}

// recut returns the matrix in other blocks; a collective unless they are the same.
func (s *Blocks) recut(ctx context.Context, cuts []int) (*Blocks, error) {
	if slices.Equal(cuts, s.cuts) {
		return s, nil
	}
	if s.onDevices() {
		return s.recutOnDevices(ctx, cuts)
	}
	return received(s, s.rows, s.cols, cuts, func(k int, c comm.Comm) (*sparse.Store, error) {
		lo, _ := s.block(c)
		st := s.part[k].Rows()
		if s.vector { // as a column
			st = asColumn(st)
		}
		out := make([]*sparse.Store, c.Size())
		for r := range out {
			out[r] = listRows(st, max(cuts[r]-lo, 0), max(cuts[r+1]-lo, 0), func(i int) int32 { return int32(i + lo - cuts[r]) }, 0)
		}
		in, err := exchangeRows(ctx, c, s.kind, out)
		if err != nil {
			return nil, err
		}
		n := cuts[c.Rank()+1] - cuts[c.Rank()]
		if s.vector {
			return asRow(stack(s.kind, in, n, 1)).Conform(), nil
		}
		return stack(s.kind, in, n, s.cols).Conform(), nil
	})
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

// transposed returns the transpose of a matrix in blocks of its rows, and keeps it. The first call
// is a collective.
func (s *Blocks) transposed(ctx context.Context) (*Blocks, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.across != nil {
		return s.across, nil
	}
	cuts := s.g.Cuts(s.cols)
	if s.rows != s.cols {
		var err error
		if cuts, err = s.columnCuts(ctx); err != nil {
			return nil, err
		}
	}
	t, err := s.transposedBy(ctx, cuts)
	if err != nil {
		return nil, err
	}
	t.across = s
	s.across = t
	return t, nil
}

// transposedBy returns the transpose in blocks of the given cuts. It is a collective.
func (s *Blocks) transposedBy(ctx context.Context, cuts []int) (*Blocks, error) {
	if s.onDevices() {
		return s.transposedOnDevices(ctx, cuts)
	}
	return received(s, s.cols, s.rows, cuts, func(k int, c comm.Comm) (*sparse.Store, error) {
		lo, _ := s.block(c)
		local := s.part[k].Rows().Transpose(s.g.Threads())
		if err := s.part[k].Err(); err != nil {
			return nil, err
		}
		out := make([]*sparse.Store, c.Size())
		for r := range out {
			out[r] = listRows(local, cuts[r], cuts[r+1], func(j int) int32 { return int32(j - cuts[r]) }, int32(lo))
		}
		in, err := exchangeRows(ctx, c, s.kind, out)
		if err != nil {
			return nil, err
		}
		return stack(s.kind, in, cuts[c.Rank()+1]-cuts[c.Rank()], s.rows), nil
	})
}

// Symmetric reports whether the matrix equals its transpose, which then shares its blocks. A
// failure of the group counts as no. The first call is a collective.
func (s *Blocks) Symmetric() bool {
	s.hasCols = true // as on one place, where the transpose is made and kept
	if s.across == s {
		return true
	}
	t, err := s.transposed(nil)
	if err == nil {
		t, err = t.recut(nil, s.cuts)
	}
	if err != nil {
		return false
	}
	differ := make([]int64, len(s.part))
	kind, noType := device.TypeFor(sparse.GoType(s.kind))
	if s.onDevices() && t.onDevices() && noType == nil && kind.Kind != reflect.Struct {
		err = s.differOnDevices(t, kind, differ)
	} else {
		err = s.differ(t, differ)
	}
	if err != nil || differ[0] != 0 {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.across = s
	return true
}

// differ sets out[k], for each rank of this process, to the number of ranks with different blocks
// of s and of t. t has the cuts of s.
func (s *Blocks) differ(t *Blocks, out []int64) error {
	return s.g.Each(func(k int, c comm.Comm) error {
		x, y := s.part[k].Rows(), t.part[k].Rows()
		if err := errors.Join(s.part[k].Err(), t.part[k].Err()); err != nil {
			return err
		}
		if !sparse.HyperShape(&x.Structure).SameAs(sparse.HyperShape(&y.Structure)) || !s.kind.Equal(x.Val, y.Val) {
			out[k] = 1
		}
		return spmd.Reduce(nil, c, out[k:k+1], comm.Sum)
	})
}

// columnCuts cuts the columns by their entries. It is a collective.
func (s *Blocks) columnCuts(ctx context.Context) ([]int, error) {
	n := s.cols
	buckets, err := collect.Buckets(ctx, s.g, n, func(k int, add func(j int32)) {
		for _, j := range s.part[k].RowsShape().Idx {
			add(j)
		}
	})
	if err != nil {
		return nil, err
	}
	return s.g.CutBy(n, parallel.RowWork*int64(n)+collect.Sum(buckets), func(w int64) int { return collect.BucketAt(buckets, n, w) }), nil
}

// needed returns for each rank of this process the rows that rows lists for it, ascending and
// without repeats. All processes give the same lists. It is a collective.
func (s *Blocks) needed(ctx context.Context, rows func(rank int) []int32) ([]Matrix, error) {
	lists := make([][]int32, s.g.Size())
	for r := range lists {
		lists[r] = rows(r)
	}
	if s.onDevices() {
		return s.neededOnDevices(ctx, lists)
	}
	t, err := received(s, s.rows, s.cols, s.cuts, func(k int, c comm.Comm) (*sparse.Store, error) {
		lo, hi := s.block(c)
		st := s.part[k].Rows()
		if err := s.part[k].Err(); err != nil {
			return nil, err
		}
		out := make([]*sparse.Store, c.Size())
		for r, list := range lists {
			from, to := between(list, lo, hi)
			out[r] = emptyRows(st.Type)
			for p, i := range list[from:to] {
				if a, b := st.Span(int(i) - lo); a < b {
					appendRow(out[r], st, int32(from+p), a, b, 0)
				}
			}
		}
		in, err := exchangeRows(ctx, c, s.kind, out)
		if err != nil {
			return nil, err
		}
		return stack(s.kind, in, len(lists[c.Rank()]), s.cols), nil
	})
	if err != nil {
		return nil, err
	}
	return t.part, nil
}

// between returns the range of the items of an ascending list that are lo … hi−1.
func between(list []int32, lo, hi int) (from, to int) {
	from = sort.Search(len(list), func(p int) bool { return int(list[p]) >= lo })
	return from, from + sort.Search(len(list)-from, func(p int) bool { return int(list[from+p]) >= hi })
}

// manyRows is the number of rows up to which the lengths of all of them are exchanged once, and
// kept.
const manyRows = 1 << 24

// lengths returns the number of entries of rows, in ascending order, of the whole matrix. It may be
// a collective.
func (s *Blocks) lengths(ctx context.Context, rows []int32) ([]int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]int64, len(rows))
	if s.rows <= manyRows {
		if s.lens == nil {
			all := make([]int32, s.rows)
			for i := range all {
				all[i] = int32(i)
			}
			lens := make([]int64, s.rows)
			if err := s.exchangeLengths(ctx, all, lens); err != nil {
				return nil, err
			}
			s.lens = lens
		}
		for p, i := range rows {
			out[p] = s.lens[i]
		}
		return out, nil
	}
	return out, s.exchangeLengths(ctx, rows, out)
}

func (s *Blocks) exchangeLengths(ctx context.Context, rows []int32, out []int64) error {
	at := make([]int, s.g.Size()+1)
	for r := range at {
		at[r] = sort.Search(len(rows), func(p int) bool { return int(rows[p]) >= s.cuts[r] })
	}
	counts := make([]int, s.g.Size())
	for r := range counts {
		counts[r] = at[r+1] - at[r]
	}
	return s.g.Each(func(k int, c comm.Comm) error {
		lo, _ := s.block(c)
		st := s.part[k].RowsShape()
		if err := s.part[k].Err(); err != nil {
			return err
		}
		var own []int64
		for _, i := range rows[at[c.Rank()]:at[c.Rank()+1]] {
			a, b := st.Span(int(i) - lo)
			own = append(own, b-a)
		}
		all, err := spmd.AllGatherV(ctx, c, own, counts)
		if k == 0 {
			copy(out, all)
		}
		return err
	})
}

// emptyRows returns a list without rows and values.
func emptyRows(t *sparse.Type) *sparse.Store {
	return &sparse.Store{Structure: sparse.Structure{Format: sparse.Hypersparse, Ptr: []int64{0}}, Val: t.Zeroed(0), Type: t}
}

// appendRow appends a row of st, the entries from … to−1, as row i of a list. The columns are
// shifted.
func appendRow(list, st *sparse.Store, i int32, from, to int64, shift int32) {
	list.RowIDs = append(list.RowIDs, i)
	if shift == 0 {
		list.Idx = append(list.Idx, st.Idx[from:to]...)
	} else {
		for _, j := range st.Idx[from:to] {
			list.Idx = append(list.Idx, j+shift)
		}
	}
	list.Val = list.Type.Append(list.Val, st.Part(from, to))
	list.Ptr = append(list.Ptr, int64(len(list.Idx)))
}
