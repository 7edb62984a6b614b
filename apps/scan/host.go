package scan

import (
	"slices"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// scanOnHost computes the statistics of one or two hops by loops over the edges. a is symmetric and
// may have self-loops.
func scanOnHost(a *matrix.View[bool], n int, o ScanOptions) (*ScanResult, error) {
	rows := &access.Rows(a).Structure
	r, err := rankByDegree(rows, n, o.Run)
	if err != nil {
		return nil, err
	}
	count := r.corners
	if o.Hops == ScanTwoHops {
		count = r.twoHops
	}
	s, err := count(o.Run, 0, 1)
	if err != nil {
		return nil, err
	}
	edges := r.ptr[n] / 2
	if o.Trace != nil {
		method := ops.Method("corners")
		if o.Hops == ScanTwoHops {
			method = "marks"
		}
		o.Trace(ops.Trace{Op: "ScanStatistics", Method: method, NVals: int64(n), Work: r.ptr[n]})
	}
	v, err := matrix.VectorOf(s)
	if err != nil {
		return nil, err
	}
	return scanResult(v, edges, o.Hops, o.Run)
}

// ranked is an undirected graph without loops, with vertices renumbered: 0 has the highest degree,
// ties are in the order of the vertices. The neighbours of lower number come first, then the
// others.
type ranked struct {
	n     int
	ptr   []int64  // of the neighbours
	out   []uint32 // how many neighbours of each vertex have lower numbers
	idx   []uint32
	order []int32 // the vertex of each number
}

// span returns the neighbours of x of lower number, and the others.
func (r *ranked) span(x int) (lower, higher []uint32) {
	lo := r.ptr[x]
	mid := lo + int64(r.out[x])
	return r.idx[lo:mid], r.idx[mid:r.ptr[x+1]]
}

// pieces cuts the vertices into parts of about equal numbers of edges.
func (r *ranked) pieces(run workflow.Run) (threads int, bounds []int) {
	threads = parallel.Threads(run.Threads)
	return threads, parallel.Cut(threads, r.ptr, threads*64, 4)
}

// rankByDegree renumbers the vertices of an undirected graph by a counting sort of their degrees.
func rankByDegree(rows *sparse.Structure, n int, run workflow.Run) (*ranked, error) {
	threads := parallel.Share(run.Threads, int64(n), workflow.RowGrain)
	degree, mosts := make([]int32, n), make([]int32, threads)
	_ = parallel.Range(nil, threads, rows.Vecs(), workflow.RowGrain, func(w, lo, hi int) {
		most := mosts[w]
		for k := lo; k < hi; k++ {
			d := int32(rows.Ptr[k+1] - rows.Ptr[k]) // with the loop, if any
			degree[rows.RowID(k)] = d
			most = max(most, d)
		}
		mosts[w] = most
	})
	most := slices.Max(mosts)
	// Each part of the vertices has a histogram of the degrees: limit their total size to the
	// vertices.
	parts := max(1, min(threads, n/(int(most)+1)))
	counts, first := make([][]uint32, parts), make([]int64, int(most)+2)
	from := func(part int) int { return part * n / parts }
	parallel.Do(parts, func(part int) {
		count := make([]uint32, int(most)+1)
		for _, d := range degree[from(part):from(part+1)] {
			count[most-d]++
		}
		counts[part] = count
	})
	parallel.Offsets(threads, counts, first)
	r := &ranked{n: n, ptr: make([]int64, n+1), out: make([]uint32, n), order: make([]int32, n)}
	number := make([]uint32, n)
	parallel.Do(parts, func(part int) {
		next := counts[part]
		for v := from(part); v < from(part+1); v++ {
			d := degree[v]
			x := next[most-d]
			next[most-d]++
			number[v], r.order[x] = x, int32(v)
			r.ptr[x+1] = int64(d)
		}
	})
	parallel.Sum(threads, r.ptr)
	r.idx = fresh.Make[uint32](r.ptr[n])
	var loops atomic.Int64
	threads, bounds := r.pieces(run)
	err := parallel.Pieces(run.Context, threads, len(bounds)-1, func(_, p int) {
		for x := bounds[p]; x < bounds[p+1]; x++ {
			v := r.order[x]
			lo, hi := rows.Span(int(v))
			from, to := r.ptr[x], r.ptr[x+1]
			for _, u := range rows.Idx[lo:hi] {
				switch y := number[u]; {
				case y < uint32(x):
					r.idx[from] = y
					from++
				case y > uint32(x):
					to--
					r.idx[to] = y
				}
			}
			r.out[x] = uint32(from - r.ptr[x])
			if from < to { // a loop leaves a gap; ptr changes below
				r.idx[from] = uint32(x)
				loops.Add(1)
			}
		}
	})
	if err != nil || loops.Load() == 0 {
		return r, err
	}
	r.withoutLoops()
	return r, nil
}

// withoutLoops closes the gaps that loops left.
func (r *ranked) withoutLoops() {
	to := int64(0)
	for x := range r.n {
		lo, hi := r.ptr[x], r.ptr[x+1]
		r.ptr[x] = to
		for p := lo; p < hi; p++ {
			if r.idx[p] != uint32(x) {
				r.idx[to] = r.idx[p]
				to++
			}
		}
	}
	r.ptr[r.n] = to
	r.idx = r.idx[:to]
}

// corners returns for each vertex its degree and the triangles through it. A triangle is found
// once, at one of its three edges that join two vertices with a common neighbour of lower number.
// The vertex of the edge with more neighbours of lower number, its owner, marks these neighbours;
// the neighbours of the other end are looked up among them. A hit counts for the third corner in
// the bits above the mark. The order of the vertices makes most looks hit the few marks of hubs,
// which stay in a cache.
//
// Of several parts, one counts the triangles of every parts-th owner, and part 0 adds the degrees.
// The sum over the parts is the statistic.
func (r *ranked) corners(run workflow.Run, part, parts int) ([]int64, error) {
	threads, bounds := r.pieces(run)
	type worker struct {
		marks []uint32 // 1 for neighbours of the owner; 2 for each triangle
		count []int64
	}
	workers := make([]worker, threads+1)
	err := parallel.Pieces(run.Context, threads, len(bounds)-1, func(id, p int) {
		w := &workers[id]
		if w.marks == nil {
			w.marks, w.count = make([]uint32, r.n), make([]int64, r.n)
		}
		for x := bounds[p]; x < bounds[p+1]; x++ {
			own := r.out[x]
			if own == 0 || x%parts != part {
				continue
			}
			lower, higher := r.span(x)
			for _, k := range lower {
				w.marks[k] = 1
			}
			var all int64
			for _, y := range lower {
				if m := r.out[y]; m <= own && m > 0 {
					hits := int64(looks(w.marks, r.idx[r.ptr[y]:r.ptr[y]+int64(m)]))
					w.count[y] += hits
					all += hits
				}
			}
			for _, y := range higher {
				if m := r.out[y]; m < own && m > 1 { // one of them is x itself
					hits := int64(looks(w.marks, r.idx[r.ptr[y]:r.ptr[y]+int64(m)]))
					w.count[y] += hits
					all += hits
				}
			}
			w.count[x] += all
			for _, k := range lower {
				w.count[k] += int64(w.marks[k] >> 1)
				w.marks[k] = 0
			}
		}
	})
	if err != nil {
		return nil, err
	}
	s := make([]int64, r.n)
	err = parallel.Range(run.Context, threads, r.n, 1<<14, func(_, lo, hi int) {
		for x := lo; x < hi; x++ {
			sum := int64(0)
			if part == 0 {
				sum = r.ptr[x+1] - r.ptr[x]
			}
			for k := range workers {
				if workers[k].count != nil {
					sum += workers[k].count[x]
				}
			}
			s[r.order[x]] = sum
		}
	})
	return s, err
}

// looks returns how many of the vertices in list are marked, and counts each in its mark.
func looks(marks []uint32, list []uint32) (hits uint32) {
	for _, k := range list {
		m := marks[k]
		hits += m & 1
		marks[k] = m + m&1<<1
	}
	return hits
}

// twoHops returns the edges among the vertices at most two edges away from each vertex: it marks
// them, and reads their neighbours. Of several parts, one does so for every parts-th vertex, and
// leaves 0 for the others.
func (r *ranked) twoHops(run workflow.Run, part, parts int) ([]int64, error) {
	threads := parallel.Threads(run.Threads)
	type worker struct {
		marked []bool
		near   []uint32
	}
	workers, s := make([]worker, threads+1), make([]int64, r.n)
	var done atomic.Int64
	err := parallel.Range(run.Context, threads, r.n, 64, func(id, lo, hi int) {
		w := &workers[id]
		if w.marked == nil {
			w.marked = make([]bool, r.n)
		}
		add := func(u uint32) {
			if !w.marked[u] {
				w.marked[u] = true
				w.near = append(w.near, u)
			}
		}
		for x := lo + (part+parts-lo%parts)%parts; x < hi; x += parts {
			w.near = w.near[:0]
			add(uint32(x))
			for _, y := range r.idx[r.ptr[x]:r.ptr[x+1]] {
				add(y)
				for _, u := range r.idx[r.ptr[y]:r.ptr[y+1]] {
					add(u)
				}
			}
			twice := int64(0)
			for _, u := range w.near {
				for _, k := range r.idx[r.ptr[u]:r.ptr[u+1]] {
					if w.marked[k] {
						twice++
					}
				}
			}
			s[r.order[x]] = twice / 2
			for _, u := range w.near {
				w.marked[u] = false
			}
		}
		if d := done.Add(int64(hi - lo)); id == 0 {
			workflow.Report(run, "scan statistics", d, int64(r.n))
		}
	})
	return s, err
}
