package edgelist

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/hiveblas/hiveblas/graphio/internal/build"
	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// number converts the ids of the blocks to indices and returns a builder with
// them and the labels of rows and columns (the same unless bipartite).
// With lower, the builder has the lower triangle of an undirected graph.
func (rd *edgeReader) number(bipartite, lower bool) (b *build.Builder, labels core.Sides, err error) {
	if !rd.o.Renumber {
		b, labels = rd.keep(bipartite, lower)
		return b, labels, nil
	}
	var rows, cols *core.Labels
	var row, col func(block int, id int64) int32
	if rd.textual {
		rows, cols, row, col = rd.numberText(bipartite)
	} else {
		rows, cols, row, col = rd.numberIDs(bipartite)
	}
	for k, l := range []*core.Labels{rows, cols} {
		if l.Len() > matrix.MaxDim {
			e := rd.o.Fail(0, fmt.Sprintf("%d different ids, at most %d are possible", l.Len(), matrix.MaxDim), "")
			e.Err = &matrix.SizeError{Op: "ReadEdgeList", Arg: [2]string{"number of rows", "number of columns"}[k], Got: int64(l.Len()), Limit: matrix.MaxDim}
			return nil, core.Sides{}, e
		}
	}
	b = &build.Builder{T: rd.e.T, M: rows.Len(), N: cols.Len()}
	for k := range rd.blocks {
		t := rd.blocks[k].tuplesOf(
			func(id int64) int32 { return row(k, id) },
			func(id int64) int32 { return col(k, id) }, lower)
		b.Add(t)
	}
	return b, core.Sides{Rows: rows, Cols: cols}, nil
}

// base returns the base of the ids; for BaseAuto the smallest id decides.
func (rd *edgeReader) base() int64 {
	if rd.o.Base != core.BaseAuto {
		return int64(rd.o.Base)
	}
	if rd.lines > 0 && min(rd.lowest[0], rd.lowest[1]) > 0 {
		return 1
	}
	return 0
}

// keep uses ids as indices that count from the base.
func (rd *edgeReader) keep(bipartite, lower bool) (b *build.Builder, labels core.Sides) {
	m, n := rd.dims(bipartite, rd.most())
	b = &build.Builder{T: rd.e.T, M: m, N: n}
	for _, t := range rd.tuples(lower) {
		b.Add(t)
	}
	return b, rd.counted(m, n, bipartite)
}

// most returns the largest ids of sources and targets, −1 without edges.
func (rd *edgeReader) most() (most [2]int64) {
	most = [2]int64{-1, -1}
	for _, b := range rd.blocks {
		for p, s := range b.src {
			most[0], most[1] = max(most[0], s), max(most[1], b.dst[p])
		}
	}
	return most
}

// dims returns the dimensions: by the option Dims, else up to the largest ids.
func (rd *edgeReader) dims(bipartite bool, most [2]int64) (m, n int) {
	if rd.o.DimsGiven {
		return rd.o.Rows, rd.o.Columns
	}
	base := rd.base()
	m, n = int(max(most[0], base-1)-base)+1, int(max(most[1], base-1)-base)+1
	if !bipartite {
		m, n = max(m, n), max(m, n)
	}
	return m, n
}

// tuples empties the blocks into tuples with indices.
func (rd *edgeReader) tuples(lower bool) []sparse.Block {
	base := rd.base()
	index := func(id int64) int32 { return int32(id - base) }
	list := make([]sparse.Block, 0, len(rd.blocks))
	for k := range rd.blocks {
		if t := rd.blocks[k].tuplesOf(index, index, lower); len(t.Row) > 0 {
			list = append(list, t)
		}
	}
	rd.blocks = nil
	return list
}

// counted returns the labels of ids that count from the base: nil if that is 0.
func (rd *edgeReader) counted(m, n int, bipartite bool) (labels core.Sides) {
	base := rd.base()
	if base == 0 {
		return labels
	}
	labels = core.Sides{Rows: core.CountedFrom(base, m), Cols: core.CountedFrom(base, n)}
	if m == n && !bipartite {
		labels.Cols = labels.Rows
	}
	return labels
}

// warnings reports ids that probably do not count from 0. used returns the number of rows (side 0),
// columns (1) or vertices (−1) of the m×n matrix with an edge, or a bound that is too large for a
// warning.
func (rd *edgeReader) warnings(m, n int, bipartite bool, used func(side int) (int64, error)) error {
	if rd.lines == 0 {
		return nil
	}
	warn := func(kind core.RemedyKind, format string, args ...any) {
		if rd.o.Warn != nil {
			rd.o.Warn(core.Warning{File: rd.o.File, Msg: fmt.Sprintf(format, args...), Remedy: kind.String(), Kind: kind})
		}
	}
	base := rd.base()
	if !bipartite {
		count, err := used(-1)
		if err != nil {
			return err
		}
		if count*build.SparseIDs < int64(n) {
			warn(core.RemedyRenumber, "only %d of the %d ids from %d to %d occur, and the others are isolated vertices", count, n, base, base+int64(n)-1)
		}
		if base == 0 && min(rd.lowest[0], rd.lowest[1]) > 0 {
			warn(core.RemedyBase, "no edge has id 0, and vertex 0 is isolated")
		}
		return nil
	}
	for k, side := range [2]string{"source", "target"} {
		dim := [2]int{m, n}[k]
		count, err := used(k)
		if err != nil {
			return err
		}
		if count*build.SparseIDs < int64(dim) {
			warn(core.RemedyRenumber, "only %d of the %d %s ids from %d to %d occur", count, dim, side, base, base+int64(dim)-1)
		}
	}
	if base == 0 && rd.lowest[0] > 0 && rd.lowest[1] > 0 {
		warn(core.RemedyBase, "no edge has id 0, and row 0 and column 0 are empty")
	}
	return nil
}

// warnHeader warns if no other edge has the ids of the first edge, which may be a header, unless no
// id of a longer list repeats, as in a list of pairs. st is the matrix of the edges, before
// [Symmetrise].
func (rd *edgeReader) warnHeader(st *sparse.Structure, labels core.Sides) {
	o, rows, cols := rd.o, labels.Rows, labels.Cols
	if o.Warn == nil || o.Header != core.HeaderAuto || rd.headerLine > 0 || rd.firstIDs == nil || rd.lines < 2 {
		return
	}
	ids := int64(rows.Len())
	if rows != cols {
		ids += int64(cols.Len())
	}
	if ids == 2*rd.lines && rd.lines > 2 {
		return
	}
	i, ok := rows.Index(rd.firstIDs[0])
	j, ok2 := cols.Index(rd.firstIDs[1])
	if !ok || !ok2 {
		return
	}
	count := 0 // of edges with one of the two
	for k := range st.Vecs() {
		own := st.RowID(k) == i || rows == cols && st.RowID(k) == j
		for _, c := range st.Idx[st.Ptr[k]:st.Ptr[k+1]] {
			if own || int(c) == j || rows == cols && int(c) == i {
				if count++; count > 1 {
					return
				}
			}
		}
	}
	o.Warn(core.Warning{File: o.File, Msg: fmt.Sprintf("line %d is read as an edge from %s to %s, which occur nowhere else, and may be a header", rd.first, core.Quote(rd.firstIDs[0]), core.Quote(rd.firstIDs[1])),
		Remedy: core.RemedyEitherHeader.String(), Kind: core.RemedyEitherHeader})
}

// usedIDs returns the number of vertices with an edge, or a lower bound that is
// too large for a warning.
func usedIDs(st *sparse.Structure) int64 {
	n := st.NCols
	rows := filledRows(st)
	if rows*build.SparseIDs >= int64(n) {
		return rows
	}
	if 2*st.NVals < 1<<12 || int64(n)/build.SparseIDs > 2*st.NVals {
		ids := map[int32]struct{}{}
		build.EachRow(st, func(i int32) { ids[i] = struct{}{} })
		for _, j := range st.Idx {
			ids[j] = struct{}{}
		}
		return int64(len(ids))
	}
	ids := newBitset(n)
	build.EachRow(st, ids.set)
	for _, j := range st.Idx {
		ids.set(j)
	}
	return ids.count
}

// usedOn returns the number of rows (side 0) or columns (side 1) with an entry.
func usedOn(st *sparse.Structure, side int) int64 {
	if side == 0 {
		return filledRows(st)
	}
	n := st.NCols
	if int64(n)/build.SparseIDs > st.NVals {
		ids := map[int32]struct{}{}
		for _, j := range st.Idx {
			ids[j] = struct{}{}
		}
		return int64(len(ids))
	}
	ids := newBitset(n)
	for _, j := range st.Idx {
		ids.set(j)
	}
	return ids.count
}

func filledRows(st *sparse.Structure) (n int64) {
	build.EachRow(st, func(int32) { n++ })
	return n
}

// bitset is a set of indices.
type bitset struct {
	words []uint64
	count int64
}

func newBitset(n int) *bitset { return &bitset{words: make([]uint64, (n+63)/64)} }

func (b *bitset) set(i int32) {
	w, bit := &b.words[i>>6], uint64(1)<<(i&63)
	if *w&bit == 0 {
		*w |= bit
		b.count++
	}
}

// ranker maps integer ids to their ranks.
type ranker struct {
	lo, hi int64
	count  int64
	ids    []int64         // distinct, ascending
	table  []int32         // rank of lo+k, where the range of ids is small
	ranks  map[int64]int32 // otherwise
}

func newRanker() *ranker { return &ranker{lo: math.MaxInt64, hi: math.MinInt64} }

func (r *ranker) span(ids []int64) {
	for _, id := range ids {
		r.lo, r.hi = min(r.lo, id), max(r.hi, id)
	}
	r.count += int64(len(ids))
}

// rank numbers the ids of lists in ascending order: with a table of the range of
// the ids if that is at most four times as long as the lists, in O(ids + range),
// else with a hash table and a sort.
func (r *ranker) rank(lists [][]int64) {
	if r.count == 0 {
		return
	}
	if width := uint64(r.hi) - uint64(r.lo); width < uint64(4*r.count+1024) {
		r.table = make([]int32, width+1)
		for _, ids := range lists {
			for _, id := range ids {
				r.table[id-r.lo] = 1
			}
		}
		for k, used := range r.table {
			if used != 0 {
				r.table[k] = int32(len(r.ids))
				r.ids = append(r.ids, r.lo+int64(k))
			}
		}
		return
	}
	r.ranks = map[int64]int32{}
	for _, ids := range lists {
		for _, id := range ids {
			r.ranks[id] = 0
		}
	}
	r.ids = slices.Sorted(maps.Keys(r.ranks))
	for k, id := range r.ids {
		r.ranks[id] = int32(k)
	}
}

func (r *ranker) of(id int64) int32 {
	if r.table != nil {
		return r.table[id-r.lo]
	}
	return r.ranks[id]
}

func (rd *edgeReader) numberIDs(bipartite bool) (rows, cols *core.Labels, row, col func(block int, id int64) int32) {
	var srcs, dsts [][]int64
	for _, b := range rd.blocks {
		srcs, dsts = append(srcs, b.src), append(dsts, b.dst)
	}
	label := func(lists [][]int64) (*core.Labels, func(int, int64) int32) {
		r := newRanker()
		for _, l := range lists {
			r.span(l)
		}
		r.rank(lists)
		return core.OfIDs(r.ids), func(_ int, id int64) int32 { return r.of(id) }
	}
	if !bipartite {
		rows, row = label(append(srcs, dsts...))
		return rows, rows, row, row
	}
	rows, row = label(srcs)
	cols, col = label(dsts)
	return rows, cols, row, col
}

// duplicate wraps a *DuplicateError of the builder in a *ParseError with the ids
// of the file.
func (rd *edgeReader) duplicate(err error, labels core.Sides) error {
	var d *matrix.DuplicateError
	if !errors.As(err, &d) {
		return err
	}
	e := rd.o.FailKind(0, fmt.Sprintf("the edge from %s to %s is given twice", labels.Rows.Name(d.Row), labels.Cols.Name(d.Col)), core.RemedyDuplicates)
	e.Err = err
	return e
}
