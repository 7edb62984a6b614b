package matrix

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
)

// number turns the ids of the blocks into indices and returns them in a
// builder, with the labels of rows and columns (the same unless bipartite).
func (rd *edgeReader[T]) number(bipartite bool) (b *Builder[T], rows, cols *Labels, err error) {
	if rd.o.keepIDs {
		return rd.keep(bipartite), nil, nil, nil
	}
	var row, col func(block int, id int64) int32
	if rd.textual {
		rows, cols, row, col = rd.numberText(bipartite)
	} else {
		rows, cols, row, col = rd.numberIDs(bipartite)
	}
	for k, l := range []*Labels{rows, cols} {
		if l.Len() > MaxDim {
			e := rd.o.fail(0, fmt.Sprintf("%d different ids are too many", l.Len()), "")
			e.Err = &SizeError{"ReadEdgeList", [2]string{"number of rows", "number of columns"}[k], int64(l.Len()), MaxDim}
			return nil, nil, nil, e
		}
	}
	b = NewBuilder[T](rows.Len(), cols.Len())
	for k := range rd.blocks {
		t := rd.blocks[k].tuplesOf(
			func(id int64) int32 { return row(k, id) },
			func(id int64) int32 { return col(k, id) })
		b.AddBlock(t.Row, t.Col, t.Val)
	}
	return b, rows, cols, nil
}

// keep takes ids as indices.
func (rd *edgeReader[T]) keep(bipartite bool) *Builder[T] {
	m, n := rd.o.rows, rd.o.columns
	if !rd.o.dimsGiven {
		for _, b := range rd.blocks {
			for p, s := range b.src {
				m, n = max(m, int(s)+1), max(n, int(b.dst[p])+1)
			}
		}
		if !bipartite {
			m, n = max(m, n), max(m, n)
		}
	}
	b := NewBuilder[T](m, n)
	for k := range rd.blocks {
		t := rd.blocks[k].tuplesOf(func(id int64) int32 { return int32(id) }, func(id int64) int32 { return int32(id) })
		b.AddBlock(t.Row, t.Col, t.Val)
	}
	return b
}

// ranker collects integer ids and then tells their rank.
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

// rank numbers the ids of lists. O(ids + range) with a table of the range
// where that is at most four times as long as the lists, a hash table otherwise.
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

func (rd *edgeReader[T]) numberIDs(bipartite bool) (rows, cols *Labels, row, col func(block int, id int64) int32) {
	var srcs, dsts [][]int64
	for _, b := range rd.blocks {
		srcs, dsts = append(srcs, b.src), append(dsts, b.dst)
	}
	label := func(lists [][]int64) (*Labels, func(int, int64) int32) {
		r := newRanker()
		for _, l := range lists {
			r.span(l)
		}
		r.rank(lists)
		return &Labels{ids: r.ids, numeric: true}, func(_ int, id int64) int32 { return r.of(id) }
	}
	if !bipartite {
		rows, row = label(append(srcs, dsts...))
		return rows, rows, row, row
	}
	rows, row = label(srcs)
	cols, col = label(dsts)
	return rows, cols, row, col
}

func (rd *edgeReader[T]) numberText(bipartite bool) (rows, cols *Labels, row, col func(block int, id int64) int32) {
	for k := range rd.blocks {
		if b := &rd.blocks[k]; b.names == nil {
			d := newDictionary()
			b.textual(d)
			b.names = d.names
		}
	}
	// used[k][x] says whether name x of block k is in the namespace.
	label := func(mark func(b *edgeBlock[T], used []bool)) (*Labels, func(int, int64) int32) {
		ranks := map[string]int32{}
		for k := range rd.blocks {
			b := &rd.blocks[k]
			used := make([]bool, len(b.names))
			mark(b, used)
			for x, name := range b.names {
				if used[x] {
					ranks[name] = 0
				}
			}
		}
		names := slices.Sorted(maps.Keys(ranks))
		for k, name := range names {
			ranks[name] = int32(k)
		}
		tables := make([][]int32, len(rd.blocks))
		for k, b := range rd.blocks {
			tables[k] = make([]int32, len(b.names))
			for x, name := range b.names {
				tables[k][x] = ranks[name]
			}
		}
		return &Labels{names: names}, func(block int, id int64) int32 { return tables[block][id] }
	}
	sources := func(b *edgeBlock[T], used []bool) {
		for _, x := range b.src {
			used[x] = true
		}
	}
	targets := func(b *edgeBlock[T], used []bool) {
		for _, x := range b.dst {
			used[x] = true
		}
	}
	if !bipartite {
		rows, row = label(func(b *edgeBlock[T], used []bool) { sources(b, used); targets(b, used) })
		return rows, rows, row, row
	}
	rows, row = label(sources)
	cols, col = label(targets)
	return rows, cols, row, col
}

// duplicate makes a *ParseError, with the ids of the file, of a
// *DuplicateError of the builder.
func (rd *edgeReader[T]) duplicate(err error, rows, cols *Labels) error {
	var d *DuplicateError
	if !errors.As(err, &d) {
		return err
	}
	e := rd.o.fail(0, fmt.Sprintf("the edge from %s to %s is given twice", rows.Name(d.Row), cols.Name(d.Col)),
		"the option Duplicates combines them")
	e.Err = err
	return e
}
