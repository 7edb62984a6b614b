package gen

import (
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/splitmix"
)

// Tuples is a list of positions in an NRows×NCols matrix, in any order, duplicates allowed. Rows
// and Cols have the same length.
type Tuples struct {
	Rows, Cols   []int32
	NRows, NCols int
}

// Len is the number of tuples, duplicates counted.
func (t Tuples) Len() int { return len(t.Rows) }

// Graph is the pattern of an NRows×NCols matrix by rows: row i holds the columns
// Idx[Ptr[i]:Ptr[i+1]], ascending and without duplicates.
type Graph struct {
	NRows, NCols int
	Ptr          []int64
	Idx          []int32
}

// orEmpty returns g, or a graph without vertices if g is nil.
func (g *Graph) orEmpty() *Graph {
	if g == nil {
		return &Graph{}
	}
	return g
}

// NNZ is the number of entries, 0 of a nil or zero graph.
func (g *Graph) NNZ() int64 {
	if g == nil || len(g.Ptr) == 0 {
		return 0
	}
	return g.Ptr[g.NRows]
}

// Row returns the columns of row i; the slice is part of g. It is nil in a nil or zero graph.
func (g *Graph) Row(i int) []int32 {
	if g == nil || len(g.Ptr) == 0 {
		return nil
	}
	return g.Idx[g.Ptr[i]:g.Ptr[i+1]]
}

// Fingerprint is a hash of the shape and of every entry, for golden tests and for file names.
func (g *Graph) Fingerprint() uint64 {
	g = g.orEmpty()
	h := splitmix.Mix(uint64(g.NRows)<<32 ^ uint64(g.NCols))
	for i := range g.NRows {
		for _, j := range g.Row(i) {
			h = splitmix.Mix(h ^ (uint64(i)<<32 | uint64(uint32(j))))
		}
	}
	return h
}

// Symmetrise returns t and the reverse of each of its tuples: twice as many tuples, of a square
// matrix. It panics when the matrix is not square.
func Symmetrise(t Tuples) Tuples {
	if t.NRows != t.NCols {
		panic(fmt.Sprintf("gen: Symmetrise of a %d×%d matrix: it must be square", t.NRows, t.NCols))
	}
	n := len(t.Rows)
	s := Tuples{Rows: make([]int32, 2*n), Cols: make([]int32, 2*n), NRows: t.NRows, NCols: t.NCols}
	copy(s.Rows, t.Rows)
	copy(s.Rows[n:], t.Cols)
	copy(s.Cols, t.Cols)
	copy(s.Cols[n:], t.Rows)
	return s
}

// CSROption changes what [CSR] does.
type CSROption int

// KeepLoops makes [CSR] keep the entries on the diagonal.
const KeepLoops CSROption = 1

// CSR sorts tuples into a Graph and merges duplicates. Self loops of a square matrix are dropped,
// since triangle counts, traversals and most published graph figures take them to be absent;
// [KeepLoops] keeps them. Entries of a rectangular matrix are never self loops. The time is
// O(count·log(longest row)), the extra memory one index a tuple.
func CSR(t Tuples, opts ...CSROption) *Graph {
	drop := t.NRows == t.NCols && !slices.Contains(opts, KeepLoops)
	start := make([]int64, t.NRows+1)
	for k, i := range t.Rows {
		if drop && i == t.Cols[k] {
			continue
		}
		start[i+1]++
	}
	for i := range t.NRows {
		start[i+1] += start[i]
	}

	// Each worker owns a range of rows with about the same number of tuples, and reads all tuples:
	// no atomics, and the same order within a row however many workers there are.
	idx := make([]int32, start[t.NRows])
	kept := make([]int64, t.NRows+1)
	byRows(start, func(lo, hi int) {
		next := slices.Clone(start[lo:hi])
		for k, i := range t.Rows {
			if int(i) < lo || int(i) >= hi || drop && i == t.Cols[k] {
				continue
			}
			idx[next[int(i)-lo]] = t.Cols[k]
			next[int(i)-lo]++
		}
		for i := lo; i < hi; i++ {
			row := idx[start[i]:start[i+1]]
			slices.Sort(row)
			kept[i+1] = int64(len(slices.Compact(row)))
		}
	})

	for i := range t.NRows {
		kept[i+1] += kept[i]
	}
	g := &Graph{NRows: t.NRows, NCols: t.NCols, Ptr: kept, Idx: fresh.Make[int32](kept[t.NRows])}
	byRows(start, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			copy(g.Row(i), idx[start[i]:])
		}
	})
	return g
}

// byRows calls work on disjoint row ranges that cover all rows, each with about the same number of
// entries.
func byRows(ptr []int64, work func(lo, hi int)) {
	n, workers := len(ptr)-1, runtime.GOMAXPROCS(0)
	var wg sync.WaitGroup
	lo := 0
	for w := range workers {
		target := ptr[n] * int64(w+1) / int64(workers)
		hi, _ := slices.BinarySearch(ptr, target)
		hi = min(max(hi, lo), n)
		if w == workers-1 {
			hi = n
		}
		from := lo
		wg.Go(func() { work(from, hi) })
		lo = hi
	}
	wg.Wait()
}

// byRange calls work on disjoint ranges that cover 0…n-1.
func byRange(n int, work func(lo, hi int)) {
	workers := runtime.GOMAXPROCS(0)
	var wg sync.WaitGroup
	for w := range workers {
		lo, hi := n*w/workers, n*(w+1)/workers
		wg.Go(func() { work(lo, hi) })
	}
	wg.Wait()
}
