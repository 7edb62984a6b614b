package matrix

import (
	"context"
	"errors"
	"slices"
	"sort"
	"unsafe"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// bytesOf returns the memory of a slice of plain values.
func bytesOf[E any](s []E) comm.Buffer {
	return comm.HostAt(unsafe.Pointer(unsafe.SliceData(s)), comm.Uint8, len(s)*int(unsafe.Sizeof(*new(E))))
}

// gatherV gives every rank the blocks of all; counts are in items.
func gatherV[E any](ctx context.Context, c comm.Comm, own []E, counts []int) ([]E, error) {
	size := int(unsafe.Sizeof(*new(E)))
	bytes, n := make([]int, len(counts)), 0
	for r, k := range counts {
		bytes[r] = k * size
		n += k
	}
	all := make([]E, n)
	if n == 0 || size == 0 { // known to all ranks
		return all, nil
	}
	return all, c.AllGatherV(ctx, bytesOf(all), bytes, bytesOf(own))
}

// exchangeV sends send[r] items to rank r and receives recv[r]; counts are in items.
func exchangeV[E any](ctx context.Context, c comm.Comm, own []E, send, recv []int) ([]E, error) {
	size := int(unsafe.Sizeof(*new(E)))
	in, out, n := make([]int, len(recv)), make([]int, len(send)), 0
	for r := range send {
		in[r], out[r] = recv[r]*size, send[r]*size
		n += recv[r]
	}
	all := make([]E, n)
	return all, c.AllToAllV(ctx, bytesOf(all), in, bytesOf(own), out)
}

func toInts(list []int64) []int {
	out := make([]int, len(list))
	for i, x := range list {
		out[i] = int(x)
	}
	return out
}

func sumInts(list []int64) (n int64) {
	for _, x := range list {
		n += x
	}
	return n
}

// gather returns the whole matrix for each rank of this process. The first call is a collective.
func (s *spread[T]) gather(ctx context.Context) ([]*Matrix[T], error) {
	counts, err := s.counted(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.whole != nil {
		return s.whole, nil
	}
	if s.vector && s.cols > 0 && sumInts(counts) == int64(s.cols) && s.onDevices() {
		whole, err := s.gatherFull(ctx)
		if err == nil {
			s.whole = whole
		}
		return whole, err
	}
	out := make([]*Matrix[T], len(s.part))
	err = s.g.Each(func(k int, c comm.Comm) error {
		st, err := gatherStore(ctx, c, s, s.part[k].stored(), counts, true)
		if err == nil {
			err = s.part[k].failure()
		}
		if err != nil {
			return err
		}
		out[k] = &Matrix[T]{st: st}
		if p := s.g.PlaceOf(k); p != nil {
			return out[k].Move(p)
		}
		return nil
	})
	if err == nil {
		s.whole = out
	}
	return out, err
}

// gatherShape returns the structure of the whole matrix for each rank; all values are true.
func (s *spread[T]) gatherShape(ctx context.Context) ([]*Matrix[bool], error) {
	counts, err := s.counted(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shape != nil {
		return s.shape, nil
	}
	out := make([]*Matrix[bool], len(s.part))
	err = s.g.Each(func(k int, c comm.Comm) error {
		st := s.part[k].stored().Structure.Pattern()
		if err := s.part[k].failure(); err != nil {
			return err
		}
		st, err := gatherStore(ctx, c, s, st, counts, false)
		if err != nil {
			return err
		}
		n := len(st.Idx)
		if !st.Sparse() {
			n, _ = st.Cells()
		}
		st.Val = make([]bool, n)
		for p := range st.Val {
			st.Val[p] = true
		}
		out[k] = &Matrix[bool]{st: st}
		if p := s.g.PlaceOf(k); p != nil {
			return out[k].Move(p)
		}
		return nil
	})
	if err == nil {
		s.shape = out
	}
	return out, err
}

// gatherStore gathers a store from its blocks, as a list or by positions, whichever is less. Ranks
// decide alike, since all know the number of entries of each. Without values the result is a
// pattern.
func gatherStore[T comparable, S comparable](ctx context.Context, c comm.Comm, s *spread[T], own *sparse.Store[S], counts []int64, values bool) (*sparse.Store[S], error) {
	size, total := int64(0), sumInts(counts)
	if values {
		size = int64(unsafe.Sizeof(*new(S)))
	}
	extent := make([]int, c.Size())
	for r := range extent {
		extent[r] = s.cuts[r+1] - s.cuts[r]
	}
	width := s.cols
	if s.vector {
		width = 1
	}
	cells, ok := sparse.Cells(s.extent(), width)
	full := ok && cells > 0 && total == int64(cells)
	dense := full || ok && cells < 1<<40 && int64(cells)*size+int64(cells)/8 < total*(4+size)
	st := &sparse.Store[S]{Structure: sparse.Structure{NRows: s.rows, NCols: s.cols, NVals: total}}
	var err error
	switch {
	case dense:
		items, bits := make([]int, len(extent)), make([]int, len(extent))
		for r, n := range extent {
			items[r] = n * width
			bits[r] = (n*width + 7) / 8
		}
		st.Format = sparse.Full
		block := denseBlock(own)
		if !full {
			st.Format, st.Present = sparse.Bitmap, make([]uint8, cells)
			packed, err := gatherV(ctx, c, packBits(block.Present, items[c.Rank()]), bits)
			if err != nil {
				return nil, err
			}
			at, from := 0, 0
			for r, n := range items {
				for i := range n {
					st.Present[at+i] = packed[from+i/8] >> (i % 8) & 1
				}
				at, from = at+n, from+bits[r]
			}
		}
		if values {
			st.Val, err = gatherV(ctx, c, block.Val, items)
		}
		return st, err
	case s.vector:
		list := sparse.ToSparse(own)
		idx := make([]int32, len(list.Idx))
		for p, j := range list.Idx {
			idx[p] = j + int32(s.cuts[c.Rank()])
		}
		if st.Idx, err = gatherV(ctx, c, idx, toInts(counts)); err == nil && values {
			st.Val, err = gatherV(ctx, c, list.Val, toInts(counts))
		}
		st.Ptr = []int64{0, total}
		return st, err
	}
	return gatherRowLists(ctx, c, s.cuts, own, st, counts, values)
}

// gatherRowLists gathers a listed matrix: the rows that have entries and their lengths, or the
// lengths of all rows, then columns and values.
func gatherRowLists[S any](ctx context.Context, c comm.Comm, cuts []int, own, st *sparse.Store[S], counts []int64, values bool) (*sparse.Store[S], error) {
	list := sparse.ToSparse(own)
	lo := int32(cuts[c.Rank()])
	if st.NVals < int64(st.NRows)/2 {
		list = sparse.ToHyper(list)
		vecs, err := gatherOnes(ctx, c, int64(list.Vecs()))
		if err != nil {
			return nil, err
		}
		rows := make([]int32, 0, 2*list.Vecs())
		for k, i := range list.RowIDs {
			rows = append(rows, i+lo, int32(list.Ptr[k+1]-list.Ptr[k]))
		}
		pairs := make([]int, len(vecs))
		for r, n := range vecs {
			pairs[r] = 2 * int(n)
		}
		if rows, err = gatherV(ctx, c, rows, pairs); err != nil {
			return nil, err
		}
		st.Format, st.RowIDs, st.Ptr = sparse.Hypersparse, make([]int32, 0, len(rows)/2), make([]int64, 1, len(rows)/2+1)
		for p := 0; p < len(rows); p += 2 {
			st.RowIDs = append(st.RowIDs, rows[p])
			st.Ptr = append(st.Ptr, st.Ptr[len(st.Ptr)-1]+int64(rows[p+1]))
		}
	} else {
		list = sparse.ToCSR(list)
		lens := make([]int32, list.NRows)
		for i := range lens {
			lens[i] = int32(list.Ptr[i+1] - list.Ptr[i])
		}
		extent := make([]int, c.Size())
		for r := range extent {
			extent[r] = cuts[r+1] - cuts[r]
		}
		lens, err := gatherV(ctx, c, lens, extent)
		if err != nil {
			return nil, err
		}
		st.Ptr = make([]int64, len(lens)+1)
		for i, n := range lens {
			st.Ptr[i+1] = st.Ptr[i] + int64(n)
		}
	}
	var err error
	if st.Idx, err = gatherV(ctx, c, list.Idx, toInts(counts)); err == nil && values {
		st.Val, err = gatherV(ctx, c, list.Val, toInts(counts))
	}
	if err != nil {
		return nil, err
	}
	return sparse.Settle(st), nil
}

// denseBlock returns a store by positions, with presence bytes.
func denseBlock[S any](st *sparse.Store[S]) *sparse.Store[S] {
	switch st.Format {
	case sparse.Bitmap, sparse.Full:
		return st
	}
	if st.Val == nil { // a pattern
		cells, _ := st.Cells()
		out := &sparse.Store[S]{Structure: sparse.Structure{NRows: st.NRows, NCols: st.NCols, Format: sparse.Bitmap, NVals: st.NVals, Present: make([]uint8, cells)}}
		sparse.Scatter(st, out.Present, nil)
		return out
	}
	return sparse.ToBitmap(st)
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

// listRows returns rows of a listed store as a hypersparse one, whose rows and columns are renamed.
func listRows[T any](st *sparse.Store[T], from, to int, row func(i int) int32, shift int32) *sparse.Store[T] {
	out := &sparse.Store[T]{Structure: sparse.Structure{Format: sparse.Hypersparse, Ptr: []int64{0}}}
	k := from
	if st.Format == sparse.Hypersparse {
		k = sort.Search(len(st.RowIDs), func(k int) bool { return int(st.RowIDs[k]) >= from })
	}
	for ; k < st.Vecs() && st.RowID(k) < to; k++ {
		if st.Ptr[k] == st.Ptr[k+1] {
			continue
		}
		id := row(st.RowID(k))
		if id < 0 {
			continue
		}
		out.RowIDs = append(out.RowIDs, id)
		for _, j := range st.Idx[st.Ptr[k]:st.Ptr[k+1]] {
			out.Idx = append(out.Idx, j+shift)
		}
		out.Val = append(out.Val, st.Val[st.Ptr[k]:st.Ptr[k+1]]...)
		out.Ptr = append(out.Ptr, int64(len(out.Idx)))
	}
	return out
}

// exchangeRows sends rows to every rank and returns those received, in the order of ranks.
func exchangeRows[T any](ctx context.Context, c comm.Comm, out []*sparse.Store[T]) ([]*sparse.Store[T], error) {
	p := c.Size()
	twos, head := make([]int, p), make([]int64, 0, 2*p)
	for r, st := range out {
		twos[r] = 2
		head = append(head, int64(len(st.RowIDs)), int64(len(st.Idx)))
	}
	got, err := exchangeV(ctx, c, head, twos, twos)
	if err != nil {
		return nil, err
	}
	var rows, idx []int32
	var val []T
	sendRows, sendEntries, recvRows, recvEntries := make([]int, p), make([]int, p), make([]int, p), make([]int, p)
	for r, st := range out {
		sendRows[r], sendEntries[r] = 2*len(st.RowIDs), len(st.Idx)
		recvRows[r], recvEntries[r] = 2*int(got[2*r]), int(got[2*r+1])
		for k, i := range st.RowIDs {
			rows = append(rows, i, int32(st.Ptr[k+1]-st.Ptr[k]))
		}
		idx, val = append(idx, st.Idx...), append(val, st.Val...)
	}
	if rows, err = exchangeV(ctx, c, rows, sendRows, recvRows); err != nil {
		return nil, err
	}
	if idx, err = exchangeV(ctx, c, idx, sendEntries, recvEntries); err != nil {
		return nil, err
	}
	if val, err = exchangeV(ctx, c, val, sendEntries, recvEntries); err != nil {
		return nil, err
	}
	in := make([]*sparse.Store[T], p)
	for r := range in {
		st := &sparse.Store[T]{Structure: sparse.Structure{Format: sparse.Hypersparse, Ptr: []int64{0}}}
		for q := 0; q < recvRows[r]; q += 2 {
			st.RowIDs = append(st.RowIDs, rows[q])
			st.Ptr = append(st.Ptr, st.Ptr[len(st.Ptr)-1]+int64(rows[q+1]))
		}
		st.Idx, st.Val = idx[:recvEntries[r]], val[:recvEntries[r]]
		rows, idx, val = rows[recvRows[r]:], idx[recvEntries[r]:], val[recvEntries[r]:]
		in[r] = st
	}
	return in, nil
}

// stack makes an m×n store of received rows. Pieces of one row follow each other in the order of
// ranks.
func stack[T any](in []*sparse.Store[T], m, n int) *sparse.Store[T] {
	total := int64(0)
	for _, st := range in {
		total += int64(len(st.Idx))
	}
	out := &sparse.Store[T]{Structure: sparse.Structure{NRows: m, NCols: n, NVals: total}}
	out.Idx, out.Val = make([]int32, total), make([]T, total)
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
			copy(out.Idx[at:], st.Idx[st.Ptr[q.k]:st.Ptr[q.k+1]])
			at += int64(copy(out.Val[at:], st.Val[st.Ptr[q.k]:st.Ptr[q.k+1]]))
			if last := len(out.RowIDs) - 1; last >= 0 && out.RowIDs[last] == q.row {
				out.Ptr[last+1] = at
				continue
			}
			out.RowIDs, out.Ptr = append(out.RowIDs, q.row), append(out.Ptr, at)
		}
		return sparse.Settle(out)
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
			copy(out.Idx[next[i]:], st.Idx[st.Ptr[k]:st.Ptr[k+1]])
			next[i] += int64(copy(out.Val[next[i]:], st.Val[st.Ptr[k]:st.Ptr[k+1]]))
		}
	}
	return sparse.Settle(out)
}

// received makes a spread of blocks that the ranks make in a collective.
func received[T comparable](s *spread[T], rows, cols int, cuts []int, make1 func(k int, c comm.Comm) (*sparse.Store[T], error)) (*spread[T], error) {
	out := &spread[T]{g: s.g, rows: rows, cols: cols, vector: s.vector, cuts: cuts, loose: s.loose, part: make([]*Matrix[T], len(s.part))}
	err := s.g.Each(func(k int, c comm.Comm) error {
		st, err := make1(k, c)
		if err != nil {
			return err
		}
		out.part[k] = &Matrix[T]{st: st}
		if p := s.g.PlaceOf(k); p != nil && !s.loose {
			return out.part[k].Move(p)
		}
		return nil
	})
	return out, err
}

// recut returns the matrix in other blocks; a collective unless they are the same.
func (s *spread[T]) recut(ctx context.Context, cuts []int) (*spread[T], error) {
	if slices.Equal(cuts, s.cuts) {
		return s, nil
	}
	return received(s, s.rows, s.cols, cuts, func(k int, c comm.Comm) (*sparse.Store[T], error) {
		lo, _ := s.block(c)
		st := s.part[k].rows()
		if s.vector { // as a column
			st = asColumn(st)
		}
		out := make([]*sparse.Store[T], c.Size())
		for r := range out {
			out[r] = listRows(st, max(cuts[r]-lo, 0), max(cuts[r+1]-lo, 0), func(i int) int32 { return int32(i + lo - cuts[r]) }, 0)
		}
		in, err := exchangeRows(ctx, c, out)
		if err != nil {
			return nil, err
		}
		n := cuts[c.Rank()+1] - cuts[c.Rank()]
		if s.vector {
			return sparse.Conform(asRow(stack(in, n, 1))), nil
		}
		return sparse.Conform(stack(in, n, s.cols)), nil
	})
}

// asColumn returns a 1×n list as n×1.
func asColumn[T any](st *sparse.Store[T]) *sparse.Store[T] {
	st = sparse.ToCSR(st)
	out := &sparse.Store[T]{Structure: sparse.Structure{NRows: st.NCols, NCols: 1, Format: sparse.Hypersparse, NVals: st.NVals}}
	out.RowIDs, out.Idx, out.Val, out.Ptr = st.Idx, make([]int32, len(st.Idx)), st.Val, make([]int64, len(st.Idx)+1)
	for k := range out.Ptr {
		out.Ptr[k] = int64(k)
	}
	return out
}

// asRow returns an n×1 list as 1×n.
func asRow[T any](st *sparse.Store[T]) *sparse.Store[T] {
	st = sparse.ToHyper(st)
	n := int64(len(st.RowIDs))
	return &sparse.Store[T]{Structure: sparse.Structure{NRows: 1, NCols: st.NRows, NVals: n, Ptr: []int64{0, n}, Idx: st.RowIDs}, Val: st.Val}
}

// transposed returns the transpose of a matrix in blocks of its rows, and keeps it. The first call
// is a collective.
func (s *spread[T]) transposed(ctx context.Context) (*spread[T], error) {
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
func (s *spread[T]) transposedBy(ctx context.Context, cuts []int) (*spread[T], error) {
	return received(s, s.cols, s.rows, cuts, func(k int, c comm.Comm) (*sparse.Store[T], error) {
		lo, _ := s.block(c)
		local := sparse.Transpose(s.part[k].rows(), s.g.Threads())
		if err := s.part[k].failure(); err != nil {
			return nil, err
		}
		out := make([]*sparse.Store[T], c.Size())
		for r := range out {
			out[r] = listRows(local, cuts[r], cuts[r+1], func(j int) int32 { return int32(j - cuts[r]) }, int32(lo))
		}
		in, err := exchangeRows(ctx, c, out)
		if err != nil {
			return nil, err
		}
		return stack(in, cuts[c.Rank()+1]-cuts[c.Rank()], s.rows), nil
	})
}

// symmetric reports whether the matrix equals its transpose, which then shares its blocks. A
// failure of the group counts as no. The first call is a collective.
func (s *spread[T]) symmetric() bool {
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
	err = s.g.Each(func(k int, c comm.Comm) error {
		x, y := sparse.ToHyper(s.part[k].rows()), sparse.ToHyper(t.part[k].rows())
		if err := errors.Join(s.part[k].failure(), t.part[k].failure()); err != nil {
			return err
		}
		if !x.SameAs(&y.Structure) || !slices.Equal(x.Val, y.Val) {
			differ[k] = 1
		}
		return c.Reduce(nil, comm.Host(differ[k:k+1]), comm.Host(differ[k:k+1]), comm.Sum, false)
	})
	if err != nil || differ[0] != 0 {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.across = s
	return true
}

// columnBuckets is the number of ranges of columns whose entries are counted to cut the columns.
const columnBuckets = 4096

// columnCuts cuts the columns by their entries. It is a collective.
func (s *spread[T]) columnCuts(ctx context.Context) ([]int, error) {
	n := s.cols
	buckets, err := countBuckets(ctx, s.g, n, func(k int, add func(j int32)) {
		for _, j := range s.part[k].rows().Idx {
			add(j)
		}
	})
	if err != nil {
		return nil, err
	}
	return s.g.CutBy(n, int64(n)+sumInts(buckets), func(w int64) int { return bucketAt(buckets, n, w) }), nil
}

// needed returns for each rank of this process the rows that rows lists for it, ascending and
// without repeats. All processes give the same lists. It is a collective.
func (s *spread[T]) needed(ctx context.Context, rows func(rank int) []int32) ([]*Matrix[T], error) {
	lists := make([][]int32, s.g.Size())
	for r := range lists {
		lists[r] = rows(r)
	}
	t, err := received(s, s.rows, s.cols, s.cuts, func(k int, c comm.Comm) (*sparse.Store[T], error) {
		lo, hi := s.block(c)
		st := s.part[k].rows()
		if err := s.part[k].failure(); err != nil {
			return nil, err
		}
		out := make([]*sparse.Store[T], c.Size())
		for r, list := range lists {
			from := sort.Search(len(list), func(p int) bool { return int(list[p]) >= lo })
			to := sort.Search(len(list), func(p int) bool { return int(list[p]) >= hi })
			out[r] = &sparse.Store[T]{Structure: sparse.Structure{Format: sparse.Hypersparse, Ptr: []int64{0}}}
			for p, i := range list[from:to] {
				a, b := st.Span(int(i) - lo)
				if a == b {
					continue
				}
				out[r].RowIDs = append(out[r].RowIDs, int32(from+p))
				out[r].Idx, out[r].Val = append(out[r].Idx, st.Idx[a:b]...), append(out[r].Val, st.Val[a:b]...)
				out[r].Ptr = append(out[r].Ptr, int64(len(out[r].Idx)))
			}
		}
		in, err := exchangeRows(ctx, c, out)
		if err != nil {
			return nil, err
		}
		return stack(in, len(lists[c.Rank()]), s.cols), nil
	})
	if err != nil {
		return nil, err
	}
	return t.part, nil
}

// manyRows is the number of rows up to which the lengths of all of them are exchanged once, and
// kept.
const manyRows = 1 << 24

// lengths returns the number of entries of rows, in ascending order, of the whole matrix. It may be
// a collective.
func (s *spread[T]) lengths(ctx context.Context, rows []int32) ([]int64, error) {
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

func (s *spread[T]) exchangeLengths(ctx context.Context, rows []int32, out []int64) error {
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
		st := s.part[k].rows()
		if err := s.part[k].failure(); err != nil {
			return err
		}
		var own []int64
		for _, i := range rows[at[c.Rank()]:at[c.Rank()+1]] {
			a, b := st.Span(int(i) - lo)
			own = append(own, b-a)
		}
		all, err := gatherV(ctx, c, own, counts)
		if k == 0 {
			copy(out, all)
		}
		return err
	})
}
