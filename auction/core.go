package auction

import (
	"slices"

	"github.com/hiveblas/hiveblas/internal/parallel"
)

// Dense instances are solved by a core of their cheap entries (Volgenant: Linear and
// semi-assignment problems: a core oriented approach, Computers & Operations Research
// 23, 1996): the core is solved as a sparse instance, its duals are checked on all
// entries, and the rows that violate them go through the dense method. The result is
// exact for every choice of the core.

// coreRows is the least order for which a core pays. At order 1000 it takes .5 of the time of the
// dense method for distances in the plane, .7 for normal numbers, .2 for products of rank 5 and 1.4
// for uniform numbers (bench/results/2026-11-28-host-peers-2core.txt).
const coreRows = 1000

// coreTrials bounds how often a core is solved and enlarged before the dense method assigns the
// rest.
const coreTrials = 8

// denseByCore solves a square dense instance, starting from the present duals. If a core of cheap
// entries of the rows will not do, since rows agree on which columns are cheap, bids make better
// duals for a second one, which has cheap entries of the columns, too.
func (s *paths[C]) denseByCore(threads int) error {
	good, err := s.byCore(threads, nil)
	switch {
	case err != nil:
		return err
	case good:
		return s.finishDense()
	}
	if err := s.bidDense(); err != nil {
		return err
	}
	if _, err := s.byCore(threads, s.columnBounds()); err != nil {
		return err
	}
	return s.augmentDense()
}

// byCore solves cores until another one would gain little. It leaves free rows, and duals that all
// others are content with. It returns false if the core will not do. columns are the bounds of
// columnBounds, or nil.
func (s *paths[C]) byCore(threads int, columns []C) (good bool, err error) {
	core := &paths[C]{in: s.core(threads, columns), ctx: s.ctx, report: s.report, v: s.v, colOf: s.colOf, rowOf: s.rowOf, free: s.free, partial: true}
	for trial, before := 0, s.in.m; trial < coreTrials; trial++ {
		if err := core.finishListed(); err != nil {
			return false, err
		}
		left := len(core.free)
		core.scanned += int64(s.in.m) * int64(s.in.n)
		better := s.dissatisfied(threads)
		core.free = s.free
		// A larger core changes nothing, will not do, or gains less than the dense method.
		good = !s.hopeless(max(left, len(s.free)))
		if len(s.free) == left || !good || 2*len(s.free) > before {
			break
		}
		before = len(s.free)
		core.in.enlarge(better)
	}
	s.steps, s.searches = s.steps+core.steps, s.searches+core.searches
	s.scanned += core.scanned
	return good, nil
}

// hopeless reports whether a core leaves so many rows without a column, or discontent, that a
// larger one of its kind would too.
func (s *paths[C]) hopeless(left int) bool { return 4*left > s.in.m }

// entry is a position and its cost.
type entry[C cost] struct {
	row, col int32
	cost     C
}

// dissatisfied frees the rows that have a better entry than the assigned one at the present duals,
// and returns these entries row by row.
func (s *paths[C]) dissatisfied(threads int) []entry[C] {
	const grain = 64
	better := make([][]entry[C], (s.in.m+grain-1)/grain)
	_ = parallel.Range(nil, threads, s.in.m, grain, func(_, lo, hi int) {
		for i := int32(lo); i < int32(hi); i++ {
			own := s.colOf[i]
			if own == none {
				continue
			}
			row := s.row(i)
			v := s.v[:len(row)]
			u := row[own] - v[own]
			for j, c := range row {
				if c-v[j] < u {
					better[lo/grain] = append(better[lo/grain], entry[C]{i, int32(j), c})
					s.colOf[i], s.rowOf[own] = none, none
				}
			}
		}
	})
	s.free = s.free[:0]
	for i, j := range s.colOf {
		if j == none {
			s.free = append(s.free, int32(i))
		}
	}
	return slices.Concat(better...)
}

// enlarge adds new entries, which are in row order.
func (in *instance[C]) enlarge(more []entry[C]) {
	size := len(in.idx) + len(more)
	idx, val, ptr := make([]int32, 0, size), make([]C, 0, size), make([]int64, in.m+1)
	for i := range in.m {
		k, hi := in.ptr[i], in.ptr[i+1]
		for k < hi || len(more) > 0 && more[0].row == int32(i) {
			if k < hi && (len(more) == 0 || more[0].row != int32(i) || in.idx[k] < more[0].col) {
				idx, val = append(idx, in.idx[k]), append(val, in.val[k])
				k++
				continue
			}
			idx, val = append(idx, more[0].col), append(val, more[0].cost)
			more = more[1:]
		}
		ptr[i+1] = int64(len(idx))
	}
	in.ptr, in.idx, in.val = ptr, idx, val
}

// coreRank returns about the expected rank of the optimal entry in its row, with some room.
func (s *paths[C]) coreRank() int {
	rank := 32
	for k := s.in.n; k > 1; k /= 2 {
		rank += 8
	}
	return rank
}

// columnBounds returns for each column the excess over the least reduced costs of the rows that
// about coreRank of its entries keep, by a sample of rows.
func (s *paths[C]) columnBounds() []C {
	const samples = 64
	n := s.in.n
	excess := make([]C, samples*n) // of each column one after the other
	for k := range samples {
		i := int32(k * n / samples)
		least := s.leastOf(i, nil)
		for j, c := range s.row(i) {
			excess[j*samples+k] = c - least
		}
	}
	bounds := make([]C, n)
	for j := range bounds {
		of := excess[j*samples:][:samples]
		slices.Sort(of)
		bounds[j] = of[min(samples*s.coreRank()/n+1, samples-1)]
	}
	return bounds
}

// core returns the entries of least reduced cost of each row, about coreRank of them, and with
// columns the entries that those bounds keep.
func (s *paths[C]) core(threads int, columns []C) *instance[C] {
	in, most := s.in, s.coreRank()
	room := 2 * most
	if columns != nil {
		room = 6 * most
	}
	idx, val := make([]int32, room*in.m), make([]C, room*in.m)
	count := make([]int, in.m)
	_ = parallel.Range(nil, threads, in.m, 64, func(_, lo, hi int) {
		var sample [64]C
		for i := lo; i < hi; i++ {
			at := room * i
			count[i] = s.cheap(int32(i), most, sample[:], columns, idx[at:at+room], val[at:at+room])
		}
	})
	core := &instance[C]{m: in.m, n: in.n, col: in.col, ptr: make([]int64, in.m+1)}
	to := 0
	for i, k := range count {
		at := room * i
		copy(idx[to:], idx[at:at+k])
		copy(val[to:], val[at:at+k])
		to += k
		core.ptr[i+1] = int64(to)
	}
	core.idx, core.val = idx[:to], val[:to]
	return core
}

// cheap lists entries of row i in order of columns: the assigned entry, the entries of reduced cost
// up to a bound, and those that the bounds of columns keep, if any. A sample estimates the bound
// that about most entries keep.
func (s *paths[C]) cheap(i int32, most int, sample, columns []C, idx []int32, val []C) int {
	row := s.row(i)
	v := s.v[:len(row)]
	step := max(len(row)/len(sample), 1)
	seen := sample[:0]
	for j := int(i) % step; j < len(row) && len(seen) < cap(seen); j += step {
		seen = append(seen, row[j]-v[j])
	}
	slices.Sort(seen)
	bound := seen[min(len(seen)*most/len(row)+1, len(seen)-1)]
	k := 0
	own := s.colOf[i]
	var least C
	if columns != nil {
		least = s.leastOf(i, nil)
	}
	for j, c := range row {
		if c-v[j] > bound && int32(j) != own && (columns == nil || c-least > columns[j]) {
			continue
		}
		if k == len(idx) {
			if own >= int32(j) { // the assigned entry belongs to the list
				idx[k-1], val[k-1] = own, row[own]
			}
			break
		}
		idx[k], val[k] = int32(j), c
		k++
	}
	return k
}
