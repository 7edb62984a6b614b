package communities

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/internal/splitmix"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// A levelGraph is an undirected graph with integer weights, so that sums do not depend on the
// order: A is symmetric, and a self-loop of weight w is the diagonal entry 2w.
type levelGraph struct {
	n      int
	ptr    []int64
	idx    []int32
	weight []int64 // of each entry; nil: all 1, and no loops
	degree []int64 // k(v) = Σ_u A(v,u)
	total  int64   // 2m = Σ_v k(v)

	pattern *matrix.View[bool]    // the entries, if weight is nil
	values  *matrix.Matrix[int64] // A, if it is not; see valuesThere
	place   matrix.Place          // of the operations of Method Pipeline
}

// weightBits bounds the integer weights of a graph: their sum is below 2^weightBits, so that sums
// of them are exact in float64 too.
const weightBits = 52

// levelGraphOf checks a graph and returns it with integer weights. Integers stay as they are if
// their sum is below 2⁵²; other weights are multiplied by the power of 2 that brings their sum to
// between 2⁵⁰ and 2⁵², and rounded.
func levelGraphOf(app string, g workflow.Operand, run workflow.Run) (l *levelGraph, err error) {
	v := g.Inside()
	if err := workflow.Fetch(v); err != nil {
		return nil, err
	}
	known := v.Symmetric()
	rows := v.Rows()
	if err := workflow.Usable(app, "the graph", g); err != nil {
		return nil, err
	}
	ptr := workflow.RowOffsets(&rows.Structure)
	if rows.Val.None() {
		l, err = unitGraph(app, workflow.Pattern(g), ptr, rows.Idx, run)
	} else {
		l, err = weightedGraph(app, ptr, rows.Idx, workflow.NumbersIn(rows.Type, rows.Val), run)
	}
	if err != nil {
		return nil, err
	}
	if known {
		return l, nil
	}
	ok, err := l.mirrored(run)
	if err == nil && !ok {
		err = directedError(app, l)
	}
	return l, err
}

// unitGraph returns a graph with all entries 1. With loops it has weights.
func unitGraph(app string, pattern *matrix.View[bool], ptr []int64, idx []int32, run workflow.Run) (*levelGraph, error) {
	n := len(ptr) - 1
	var loops atomic.Bool
	err := workflow.EachBlock(run, workflow.RowBlocks(run, ptr), func(_, _, lo, hi int) {
		found := false
		for v := lo; v < hi; v++ {
			for _, u := range idx[ptr[v]:ptr[v+1]] {
				found = found || int(u) == v
			}
		}
		if found {
			loops.Store(true)
		}
	})
	if err != nil {
		return nil, err
	}
	if loops.Load() {
		return weightedGraph(app, ptr, idx, workflow.NumbersOf[bool](nil), run)
	}
	l := &levelGraph{n: n, ptr: ptr, idx: idx, total: ptr[n], pattern: pattern, degree: make([]int64, n)}
	for v := range n {
		l.degree[v] = ptr[v+1] - ptr[v]
	}
	return l, nil
}

// A weightSum is the sum of weights in units of 2^(exponent−weightBits), rounded up; 2^exponent is
// above the largest weight. Words of 26 bits and the rest, as on a device, do not overflow.
type weightSum struct {
	exponent  int
	low, high uint64
	whole     bool // all weights are integers below 2^weightBits
}

// shift returns the power of 2 by which weights are multiplied before they are rounded to integers:
// 0 for integers of sum below 2⁵², else the one that brings their sum to between 2⁵⁰ and 2⁵². It
// depends on the weights alone, so that the host and devices round alike.
func (w weightSum) shift() int {
	sum, unit := float64(w.high)*(1<<26)+float64(w.low), w.exponent-weightBits
	if w.whole && math.Ldexp(sum, unit) < .99*(1<<weightBits) {
		return 0
	}
	// The factor .7 keeps natural sums, such as n, away from where rounding would decide.
	_, e := math.Frexp(sum * .7)
	return weightBits - 1 - e - unit
}

// weightSums checks weights and adds them up. each calls a function with the weights of each row,
// which belongs to one of some blocks.
func weightSums(app string, idx []int32, blocks int, each func(f func(b, v int, first int64, weights []float64)) error) (w weightSum, err error) {
	type part struct {
		most float64
		sum  weightSum
		bad  *workflow.WeightError
	}
	parts := make([]part, blocks)
	for b := range parts {
		parts[b].sum.whole = true
	}
	err = each(func(b, v int, first int64, weights []float64) {
		p := &parts[b]
		most, low, high, whole := p.most, uint64(0), uint64(0), p.sum.whole
		for k, x := range weights {
			if !(x >= 0 && x <= math.MaxFloat64) && p.bad == nil {
				p.bad = &workflow.WeightError{App: app, Row: v, Col: int(idx[first+int64(k)]), Got: fmt.Sprint(x), Want: "a finite weight of 0 or more"}
			}
			most = max(most, x)
			y := uint64(min(x, 1<<weightBits))
			whole = whole && float64(y) == x
			if int(idx[first+int64(k)]) == v {
				y *= 2
			}
			low += y & (1<<26 - 1)
			high += y >> 26
		}
		p.most, p.sum.low, p.sum.high, p.sum.whole = most, p.sum.low+low, p.sum.high+high, whole
	})
	if err != nil {
		return w, err
	}
	most := 0.0
	w = weightSum{exponent: weightBits, whole: true}
	for b := range parts {
		p := &parts[b]
		if p.bad != nil {
			return w, p.bad
		}
		most = max(most, p.most)
		w.low, w.high, w.whole = w.low+p.sum.low, w.high+p.sum.high, w.whole && p.sum.whole
		p.sum = weightSum{}
	}
	if w.whole && w.shift() == 0 {
		return w, nil
	}
	w.low, w.high = 0, 0
	_, w.exponent = math.Frexp(most)
	scale, rest := powers(weightBits - w.exponent)
	err = each(func(b, v int, first int64, weights []float64) {
		low, high := uint64(0), uint64(0)
		for k, x := range weights {
			y := uint64(math.Ceil(x * scale * rest))
			if int(idx[first+int64(k)]) == v {
				y *= 2
			}
			low += y & (1<<26 - 1)
			high += y >> 26
		}
		parts[b].sum.low += low
		parts[b].sum.high += high
	})
	for _, p := range parts {
		w.low += p.sum.low
		w.high += p.sum.high
	}
	return w, err
}

// powers returns two powers of 2, both of them finite and normal, of product 2^shift: to multiply
// by both takes less time than math.Ldexp.
func powers(shift int) (scale, rest float64) {
	most := min(max(shift, -1000), 1000)
	return math.Ldexp(1, most), math.Ldexp(1, shift-most)
}

// weightedGraph checks weights and makes them integers.
func weightedGraph(app string, ptr []int64, idx []int32, val workflow.WeightReader, run workflow.Run) (*levelGraph, error) {
	n := len(ptr) - 1
	// Blocks of rows have partial results, so that the order of sums does not depend on the
	// threads.
	bounds := workflow.RowBlocks(run, ptr)
	each := func(f func(b, v int, first int64, weights []float64)) error {
		buffers := make([][]float64, parallel.Threads(run.Threads))
		return workflow.EachBlock(run, bounds, func(w, b, lo, hi int) {
			for v := lo; v < hi; v++ {
				list := val(buffers[w], ptr[v], ptr[v+1])
				f(b, v, ptr[v], list)
				if cap(list) > cap(buffers[w]) {
					buffers[w] = list
				}
			}
		})
	}
	sums, err := weightSums(app, idx, len(bounds)-1, each)
	if err != nil {
		return nil, err
	}
	scale, rest := powers(sums.shift())
	l := &levelGraph{n: n, ptr: ptr, idx: idx, weight: fresh.Make[int64](int64(len(idx))), degree: make([]int64, n)}
	err = each(func(_, v int, first int64, weights []float64) {
		sum := int64(0)
		for k, x := range weights {
			y := int64(math.RoundToEven(x * scale * rest))
			if int(idx[first+int64(k)]) == v {
				y *= 2
			}
			l.weight[first+int64(k)] = y
			sum += y
		}
		l.degree[v] = sum
	})
	if err != nil {
		return nil, err
	}
	for _, k := range l.degree {
		l.total += k
	}
	l.values = valuesOf(l)
	return l, nil
}

// valuesOf returns the matrix of a graph with weights.
func valuesOf(l *levelGraph) *matrix.Matrix[int64] {
	return access.FromStore(&sparse.Typed[int64]{Val: l.weight, Structure: sparse.Structure{
		NRows: l.n, NCols: l.n, Format: sparse.CSR, NVals: l.ptr[l.n], Ptr: l.ptr, Idx: l.idx}})
}

// An asymmetry is 0 for a symmetric matrix: the sum over the entries, modulo 2⁶⁴, of the hash of
// (row, column, weight) minus the hash of (column, row, weight). The asymmetry of another matrix is
// 0 with probability 2⁻⁶⁴. It takes O(entries), without random access.
type asymmetry uint64

func (a *asymmetry) add(row int, col int32, weight uint64) {
	u, v := uint64(row), uint64(uint32(col))
	x := weight * splitmix.Golden
	*a += asymmetry(splitmix.Mix((u<<32|v)+x) - splitmix.Mix((v<<32|u)+x))
}

// mirrored reports whether the matrix is symmetric, as far as its asymmetry tells.
func (l *levelGraph) mirrored(run workflow.Run) (bool, error) {
	var sum atomic.Uint64
	err := workflow.EachBlock(run, workflow.RowBlocks(run, l.ptr), func(_, _, lo, hi int) {
		var part asymmetry
		for v := lo; v < hi; v++ {
			for k := l.ptr[v]; k < l.ptr[v+1]; k++ {
				if l.weight != nil {
					part.add(v, l.idx[k], uint64(l.weight[k]))
				} else {
					part.add(v, l.idx[k], 1)
				}
			}
		}
		sum.Add(uint64(part))
	})
	return sum.Load() == 0, err
}

// directedError names an edge of a matrix that is not symmetric.
func directedError(app string, l *levelGraph) error {
	at := make([]int64, l.n) // the next entry of each row
	copy(at, l.ptr)
	const remedy = "undirected: a symmetric matrix; graphio.Symmetrise and --undirected read one, A + Aᵀ is one"
	for v := range l.n { // in rows above v, the entries before column v have been met
		for k := l.ptr[v]; k < l.ptr[v+1]; k++ {
			u := int(l.idx[k])
			if at[u] < l.ptr[u+1] && int(l.idx[at[u]]) == v {
				if l.weight != nil && l.weight[k] != l.weight[at[u]] {
					return workflow.AboutVertices(app, "the graph", "directed: the weights of the edges from {0} to {1} and back differ", remedy, v, u)
				}
				at[u]++
				continue
			}
			if at[u] < l.ptr[u+1] && int(l.idx[at[u]]) < v {
				v, u = u, int(l.idx[at[u]])
			}
			return workflow.AboutVertices(app, "the graph", "directed: there is an edge from {0} to {1} and none back", remedy, v, u)
		}
	}
	return &workflow.ParameterError{App: app, Arg: "the graph", Got: "directed", Want: remedy}
}

// contract returns the graph of the parts: B = SᵀAS, where S(v, part(v)) = 1. A vertex with part −1
// has no edges and is left out. B(c,c) is the weight inside c in both directions, so that the parts
// of l have the modularity of the vertices of B.
//
// Both products are one pass over A, merge, but with Method Pipeline: S has one entry in a row.
func (l *levelGraph) contract(part []int32, parts int, run workflow.Run) (*levelGraph, error) {
	if run.Method != workflow.Pipeline {
		return l.merge(part, parts, run)
	}
	with, on := workflow.With(run), matrix.On(l.place)
	s, err := membershipMatrix(part, parts)
	if err == nil {
		err = cmp.Or(s.Move(l.place), l.valuesThere())
	}
	if err != nil {
		return nil, err
	}
	as, b := matrix.New[int64](l.n, parts, on), matrix.New[int64](parts, parts, on)
	if l.weight == nil {
		err = ops.MxM(as, semiring.PlusPair[int64](), l.pattern, s.Pattern(), with)
	} else {
		err = ops.MxM(as, semiring.PlusFirst[int64](), l.values, s.Pattern(), with)
	}
	if err != nil {
		return nil, err
	}
	if err := ops.MxM(b, semiring.PlusSecond[int64](), s.Pattern().T(), as, with); err != nil {
		return nil, err
	}
	if err := b.Fetch(); err != nil {
		return nil, err
	}
	next := levelGraphOfValues(b)
	next.place = l.place
	return next, nil
}

// valuesThere gives a graph with weights its matrix at its place.
func (l *levelGraph) valuesThere() error {
	if l.weight == nil {
		return nil
	}
	if l.values == nil {
		l.values = valuesOf(l)
	}
	return l.values.Move(l.place)
}

// merge is contract by one pass: the rows of a part are summed into a list over all parts. Rows are
// written where the rows of the members have room, and then brought together; their entries are in
// any order. Entries of weight 0 stay, as on a device: they decide which vertices a move makes
// active.
func (l *levelGraph) merge(part []int32, parts int, run workflow.Run) (*levelGraph, error) {
	begin, entries := make([]int32, parts+1), make([]int64, parts+1)
	for v, c := range part {
		if c >= 0 {
			begin[c+1]++
			entries[c+1] += l.ptr[v+1] - l.ptr[v]
		}
	}
	for c := range parts {
		begin[c+1] += begin[c]
		entries[c+1] += entries[c]
	}
	members, at := make([]int32, begin[parts]), slices.Clone(begin[:parts])
	for v, c := range part {
		if c >= 0 {
			members[at[c]] = int32(v)
			at[c]++
		}
	}
	threads := parallel.Threads(run.Threads)
	type worker struct {
		sum  []int64 // by part, plus 1; 0 between rows
		near []int32 // the parts with a sum
	}
	workers := make([]worker, threads+1)
	bounds := parallel.Cut(threads, entries, 16*threads, 1)
	idx, weight := fresh.Make[int32](entries[parts]), fresh.Make[int64](entries[parts])
	next := &levelGraph{n: parts, ptr: make([]int64, parts+1), degree: make([]int64, parts)}
	err := parallel.Pieces(run.Context, threads, len(bounds)-1, func(id, k int) {
		w := &workers[id]
		if w.sum == nil {
			w.sum, w.near = make([]int64, parts), make([]int32, parts+1)
		}
		at := entries[bounds[k]]
		for c := bounds[k]; c < bounds[k+1]; c++ {
			near := w.near[:l.row(members[begin[c]:begin[c+1]], part, w.sum, w.near)]
			copy(idx[at:], near)
			degree := int64(0)
			for k, d := range near {
				x := w.sum[d] - 1
				weight[at+int64(k)] = x
				degree += x
				w.sum[d] = 0
			}
			at += int64(len(near))
			next.ptr[c+1], next.degree[c] = int64(len(near)), degree
		}
	})
	if err != nil {
		return nil, err
	}
	parallel.Sum(threads, next.ptr)
	next.idx, next.weight = fresh.Make[int32](next.ptr[parts]), fresh.Make[int64](next.ptr[parts])
	err = parallel.Pieces(run.Context, threads, len(bounds)-1, func(_, k int) {
		from, to, end := entries[bounds[k]], next.ptr[bounds[k]], next.ptr[bounds[k+1]]
		copy(next.idx[to:end], idx[from:])
		copy(next.weight[to:end], weight[from:])
	})
	for _, x := range next.degree {
		next.total += x
	}
	return next, err
}

// row adds the rows of some vertices to the sums of parts, which are 1 above the weights, and
// returns the number of parts with one, which near lists.
func (l *levelGraph) row(members, part []int32, sum []int64, near []int32) (k int) {
	for _, v := range members {
		lo, hi := l.ptr[v], l.ptr[v+1]
		if l.weight == nil {
			for _, u := range l.idx[lo:hi] {
				d := part[u]
				x := sum[d]
				fresh := int64(uint64(x-1) >> 63) // 1 if x is 0, without a branch
				near[k] = d
				k += int(fresh)
				sum[d] = x + fresh + 1
			}
			continue
		}
		weight := l.weight[lo:hi]
		for p, u := range l.idx[lo:hi] {
			if d := part[u]; d >= 0 { // else all weights of u are 0
				x := sum[d]
				fresh := int64(uint64(x-1) >> 63)
				near[k] = d
				k += int(fresh)
				sum[d] = x + fresh + weight[p]
			}
		}
	}
	return k
}

// levelGraphOfValues returns a symmetric matrix as a graph.
func levelGraphOfValues(b *matrix.Matrix[int64]) *levelGraph {
	rows := access.Rows(b.View())
	n, _ := b.Dims()
	l := &levelGraph{n: n, ptr: workflow.RowOffsets(&rows.Structure), idx: rows.Idx, weight: rows.Val, values: b}
	l.degree = make([]int64, n)
	for v := range n {
		sum := int64(0)
		for _, x := range l.weight[l.ptr[v]:l.ptr[v+1]] {
			sum += x
		}
		l.degree[v] = sum
		l.total += sum
	}
	return l
}

// membershipMatrix returns the n×parts matrix S with S(v, part(v)) = true.
func membershipMatrix(part []int32, parts int) (*matrix.Matrix[bool], error) {
	ptr, idx := make([]int64, len(part)+1), make([]int32, 0, len(part))
	for v, c := range part {
		if c >= 0 {
			idx = append(idx, c)
		}
		ptr[v+1] = int64(len(idx))
	}
	val := make([]bool, len(idx))
	for k := range val {
		val[k] = true
	}
	return matrix.FromCSR(len(part), parts, ptr, idx, val)
}

// connected splits the parts into connected ones, and numbers them by their least vertices. A
// vertex with part −1 keeps it.
func (l *levelGraph) connected(threads int, part []int32) (pieces []int32, count int) {
	root := make([]int32, l.n) // a forest; its roots are the least vertices
	for v := range root {
		root[v] = int32(v)
	}
	find := func(v int32) int32 {
		for root[v] != v {
			root[v] = root[root[v]]
			v = root[v]
		}
		return v
	}
	for v := range l.n {
		for k := l.ptr[v]; k < l.ptr[v+1]; k++ {
			if u := l.idx[k]; int(u) < v && part[u] == part[v] && (l.weight == nil || l.weight[k] > 0) {
				a, b := find(int32(v)), find(u)
				root[max(a, b)] = min(a, b)
			}
		}
	}
	for v := range root {
		root[v] = find(int32(v))
	}
	return numbered(threads, root, l.degree)
}

// modularity returns the modularity of a partition of l: the sum over communities of
// in/2m − γ(tot/2m)². It sums integers, so that the result does not depend on the threads or the
// place.
func (l *levelGraph) modularity(run workflow.Run, part []int32, resolution float64) float64 {
	if l.total == 0 {
		return 0
	}
	inside := make([]int64, parallel.Threads(run.Threads))
	tot := make([]int64, l.n)
	single := l.weight == nil // each vertex is alone and has no loop: nothing is inside
	for v, c := range part {
		if c >= 0 {
			tot[c] += l.degree[v]
			single = single && int(c) == v
		}
	}
	if single {
		return 0 - float64(resolution*squaresOf(tot, l.total))
	}
	_ = workflow.EachBlock(run, workflow.RowBlocks(run, l.ptr), func(w, _, lo, hi int) {
		sum := int64(0)
		for v := lo; v < hi; v++ {
			c := part[v]
			for k := l.ptr[v]; k < l.ptr[v+1]; k++ {
				if part[l.idx[k]] == c {
					if l.weight == nil {
						sum++
					} else {
						sum += l.weight[k]
					}
				}
			}
		}
		inside[w] += sum
	})
	in := int64(0)
	for _, x := range inside {
		in += x
	}
	return float64(in)/float64(l.total) - float64(resolution*squaresOf(tot, l.total))
}

// squaresOf returns Σ (tot/total)², computed exactly until the division.
func squaresOf(tot []int64, total int64) float64 {
	var hi, lo uint64
	for _, t := range tot {
		x, y := bits.Mul64(uint64(t), uint64(t))
		var carry uint64
		lo, carry = bits.Add64(lo, y, 0)
		hi += x + carry
	}
	return share(hi, lo, total)
}

// share returns (hi·2⁶⁴ + lo)/total².
func share(hi, lo uint64, total int64) float64 {
	sum := float64(float64(hi)*(1<<64)) + float64(lo)
	return sum / float64(float64(total)*float64(total))
}
