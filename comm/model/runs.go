package model

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/hiveblas/hiveblas/comm"
)

// Graph is the pull form of a graph: row v of the CSR lists the vertices that vertex v reads, its
// in-neighbours.
type Graph struct {
	Ptr []int64
	Idx []int32
}

// check verifies that the graph is a CSR.
func (g Graph) check() error {
	n := len(g.Ptr) - 1
	if n < 1 || g.Ptr[0] != 0 || g.Ptr[n] != int64(len(g.Idx)) || !slices.IsSorted(g.Ptr) {
		return errGraph
	}
	if slices.ContainsFunc(g.Idx, func(u int32) bool { return u < 0 || int(u) >= n }) {
		return errGraph
	}
	return nil
}

// Cuts cuts the rows into p blocks of equal work, edges plus perRow for each row: block i is rows
// cuts[i] … cuts[i+1]−1, and may be empty.
func (g Graph) Cuts(p int, perRow int64) []int {
	n := max(len(g.Ptr)-1, 0)
	p = max(p, 1)
	cuts := make([]int, p+1)
	cuts[p] = n
	if n == 0 {
		return cuts
	}
	total := g.Ptr[n] + perRow*int64(n)
	v := 0
	for i := 1; i < p; i++ {
		target := int64(float64(total) * float64(i) / float64(p))
		for v < n && g.Ptr[v]+perRow*int64(v) < target {
			v++
		}
		cuts[i] = v
	}
	return cuts
}

// Apps are the names of the runs that Virtual knows.
func Apps() []string { return []string{"spmv", "pagerank", "bfs", "cc"} }

// bytesOfEdge is what a kernel moves for an edge: 8 streamed (index and value) and 16 for the
// gather of the other end's value, half of whose 32-byte sectors miss the L2. bytesOfRow are
// offsets, the result and the old value.
const (
	bytesOfEdge = 24
	bytesOfRow  = 24
)

// Virtual runs an app with p virtual ranks, goroutines of a comm.Local group, in the 1-D layout
// (rows in blocks of equal work, inputs gathered), and returns its exact volume and a digest of the
// result, which is the same for every p. source is the first vertex of bfs.
//
//	spmv      one product, float32: AllGatherV of x
//	pagerank  damping 0.85 to an L1 change of 1e-6: AllGatherV of float32 ranks, of which each rank sums the change
//	bfs       by levels: AllGatherV of the new vertices, as a list or a bitmap, whichever is less, and of their counts
//	cc        least labels of neighbours until none changes: AllGatherV of int32 labels, AllReduce of a flag
//
// Time is that of the app on the processors; memory O(p·n) for gathered vectors.
func Virtual(ctx context.Context, app string, g Graph, p, source int) (Volume, float64, error) {
	if err := g.check(); err != nil {
		return Volume{}, 0, err
	}
	n := len(g.Ptr) - 1
	run := map[string]func(*rank) (float64, error){"spmv": (*rank).spmv, "pagerank": (*rank).pageRank, "bfs": (*rank).bfs, "cc": (*rank).components}[app]
	switch {
	case run == nil:
		return Volume{}, 0, fmt.Errorf("model: no ledger of %q; the apps are %v", app, Apps())
	case p < 1 || p > 4096:
		return Volume{}, 0, fmt.Errorf("model: %d ranks, want 1 … 4096", p)
	case source < 0 || source >= n:
		return Volume{}, 0, fmt.Errorf("model: source %d of %d vertices", source, n)
	}
	if ctx == nil {
		ctx = context.Background()
	}
	group, err := comm.Local(p, comm.KeepCalls())
	if err != nil {
		return Volume{}, 0, err
	}
	cuts := g.Cuts(p, 1)
	ranks := make([]*rank, p)
	errs := make([]error, p)
	results := make([]float64, p)
	var wait sync.WaitGroup
	for r, c := range group {
		ranks[r] = &rank{Comm: c, ctx: ctx, g: g, n: n, cuts: cuts, lo: cuts[r], hi: cuts[r+1], source: source}
		wait.Go(func() {
			if results[r], errs[r] = run(ranks[r]); errs[r] != nil {
				c.Abort(errs[r])
			}
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		return Volume{}, 0, err
	}
	v := Volume{Ranks: p, Steps: ranks[0].steps}
	calls := make([][]comm.Call, p)
	most := 0.0
	for r, k := range ranks {
		calls[r] = k.Ledger().Calls()
		v.Bytes += k.bytes
		most = max(most, k.bytes)
	}
	v.Imbalance = 1
	if v.Bytes > 0 {
		v.Imbalance = most * float64(p) / v.Bytes
	}
	v.Calls, err = Merge(calls...)
	digest, row := results[0], 0
	for _, k := range ranks {
		for _, y := range k.rows {
			digest += float64(y) * float64(row%97+1)
			row++
		}
	}
	return v, digest, err
}

// rank is a virtual rank.
type rank struct {
	comm.Comm
	ctx    context.Context
	g      Graph
	n      int
	cuts   []int
	lo, hi int // its rows
	source int
	steps  int
	bytes  float64   // moved by its kernels
	rows   []float32 // of the result, if each rank has its own alone
}

func (k *rank) counts() []int {
	out := make([]int, len(k.cuts)-1)
	for i := range out {
		out[i] = k.cuts[i+1] - k.cuts[i]
	}
	return out
}

// step counts a kernel over edges and rows.
func (k *rank) step(edges int64, rows int) {
	k.steps++
	k.bytes += bytesOfEdge*float64(edges) + bytesOfRow*float64(rows)
}

func (k *rank) edges() int64 { return k.g.Ptr[k.hi] - k.g.Ptr[k.lo] }

// total sums values of all rows of a gathered vector, in blocks of 1024 rows.
func total(x []float32, f func(v int) float64) float64 {
	sum := 0.0
	for from := 0; from < len(x); from += 1024 {
		part := 0.0
		for v := from; v < min(from+1024, len(x)); v++ {
			part += f(v)
		}
		sum += part
	}
	return sum
}

func (k *rank) spmv() (float64, error) {
	x := make([]float32, k.n)
	for v := k.lo; v < k.hi; v++ {
		x[v] = 1 / float32(v+1)
	}
	if err := k.AllGatherV(k.ctx, comm.Host(x), k.counts(), comm.Host(x[k.lo:k.hi])); err != nil {
		return 0, err
	}
	k.step(k.edges(), k.hi-k.lo)
	y := make([]float32, k.n)
	for v := k.lo; v < k.hi; v++ {
		for _, u := range k.g.Idx[k.g.Ptr[v]:k.g.Ptr[v+1]] {
			y[v] += x[u]
		}
	}
	// The digest needs no exchange that the run would not make: it is of the rank's own rows, and
	// Virtual adds them in the order of rows.
	k.rows = y[k.lo:k.hi]
	return 0, nil
}

func (k *rank) pageRank() (float64, error) {
	const damping, tolerance, most = 0.85, 1e-6, 100
	degree := make([]int32, k.n)
	for _, u := range k.g.Idx {
		degree[u]++
	}
	x, scaled := make([]float32, k.n), make([]float32, k.n)
	for v := range x {
		x[v] = 1 / float32(k.n)
	}
	for range most {
		dangling := total(x, func(v int) float64 {
			if degree[v] == 0 {
				return float64(x[v])
			}
			return 0
		})
		for v := range x {
			scaled[v] = x[v] / float32(max(degree[v], 1))
		}
		base := float32((1-damping)/float64(k.n) + damping*dangling/float64(k.n))
		next := make([]float32, k.n)
		for v := k.lo; v < k.hi; v++ {
			s := float32(0)
			for _, u := range k.g.Idx[k.g.Ptr[v]:k.g.Ptr[v+1]] {
				s += scaled[u]
			}
			next[v] = base + damping*s
		}
		k.step(k.edges(), k.hi-k.lo)
		if err := k.AllGatherV(k.ctx, comm.Host(next), k.counts(), comm.Host(next[k.lo:k.hi])); err != nil {
			return 0, err
		}
		change := total(next, func(v int) float64 { return math.Abs(float64(next[v] - x[v])) })
		x = next
		if change <= tolerance {
			break
		}
	}
	return total(x, func(v int) float64 { return float64(x[v]) * float64(v%97+1) }), nil
}

func (k *rank) bfs() (float64, error) {
	level := slices.Repeat([]int32{-1}, k.n) // every rank knows all levels
	level[k.source] = 0
	for depth := int32(1); ; depth++ {
		var own []int32
		edges := int64(0)
		for v := k.lo; v < k.hi; v++ {
			if level[v] >= 0 {
				continue
			}
			for _, u := range k.g.Idx[k.g.Ptr[v]:k.g.Ptr[v+1]] {
				edges++
				if level[u] == depth-1 {
					own = append(own, int32(v))
					break
				}
			}
		}
		k.step(edges, k.hi-k.lo)
		p := k.Size()
		found := make([]int64, p)
		ones := slices.Repeat([]int{1}, p)
		if err := k.AllGatherV(k.ctx, comm.Host(found), ones, comm.Host([]int64{int64(len(own))})); err != nil {
			return 0, err
		}
		counts := make([]int, p)
		sum := 0
		for r, c := range found {
			counts[r] = int(c)
			sum += int(c)
		}
		if sum == 0 {
			break
		}
		if 4*sum < k.n/8 { // a list
			all := make([]int32, sum)
			if err := k.AllGatherV(k.ctx, comm.Host(all), counts, comm.Host(own)); err != nil {
				return 0, err
			}
			for _, v := range all {
				level[v] = depth
			}
			continue
		}
		// A bitmap: whole bytes of each rank's rows.
		bytes := k.counts()
		for r := range bytes {
			bytes[r] = (bytes[r] + 7) / 8
		}
		mine := make([]uint8, bytes[k.Rank()])
		for _, v := range own {
			mine[(int(v)-k.lo)/8] |= 1 << ((int(v) - k.lo) % 8)
		}
		all := make([]uint8, sumOf(bytes))
		if err := k.AllGatherV(k.ctx, comm.Host(all), bytes, comm.Host(mine)); err != nil {
			return 0, err
		}
		at := 0
		for r := range bytes {
			for v := k.cuts[r]; v < k.cuts[r+1]; v++ {
				if i := v - k.cuts[r]; all[at+i/8]>>(i%8)&1 != 0 {
					level[v] = depth
				}
			}
			at += bytes[r]
		}
	}
	sum := 0.0
	for v, l := range level {
		sum += float64(l) * float64(v%97+1)
	}
	return sum, nil
}

func sumOf(counts []int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

func (k *rank) components() (float64, error) {
	label := make([]int32, k.n)
	for v := range label {
		label[v] = int32(v)
	}
	for {
		next := make([]int32, k.n)
		changed := []uint8{0}
		for v := k.lo; v < k.hi; v++ {
			next[v] = label[v]
			for _, u := range k.g.Idx[k.g.Ptr[v]:k.g.Ptr[v+1]] {
				next[v] = min(next[v], label[u])
			}
			if next[v] != label[v] {
				changed[0] = 1
			}
		}
		k.step(k.edges(), k.hi-k.lo)
		if err := k.AllGatherV(k.ctx, comm.Host(next), k.counts(), comm.Host(next[k.lo:k.hi])); err != nil {
			return 0, err
		}
		if err := k.Reduce(k.ctx, comm.Host(changed), comm.Host(changed), comm.Max, false); err != nil {
			return 0, err
		}
		label = next
		if changed[0] == 0 {
			break
		}
	}
	sum := 0.0
	for v, l := range label {
		sum += float64(l) * float64(v%97+1)
	}
	return sum, nil
}
