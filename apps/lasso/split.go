package lasso

import (
	"container/heap"
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/apps/internal/network"
	"github.com/hiveblas/hiveblas/internal/parallel"
)

// A lassoSplit solves a part exactly: a minimum cut divides a group of vertices at its mean c into
// the values of at least and of at most c, until a flow makes the group constant (Hochbaum: An
// efficient algorithm for image segmentation, Markov random fields and related problems, J. ACM
// 2001). Each group starts from the flow of the group that it comes from.
type lassoSplit struct {
	part  *lassoPart
	net   *network.FlowNet
	edge  []int32   // of the part, of each arc
	group []int32   // of each vertex
	value []float64 // of each vertex
	scale float64   // of the values
	last  atomic.Int32
	limit int64 // of the work of a cut, a vertex
	spent int64 // work of the groups of more than half of the vertices
	// patience is a factor of the limit for groups that leave other threads work.
	patience int64

	blocks  []int32 // of each vertex, in large groups
	threads int

	hard [][]int32 // groups with abandoned cuts

	mu    sync.Mutex
	ready sync.Cond
	large groupHeap // of at least lassoGroup vertices
	small [][]int32
	busy  int
	err   error
}

// Groups of fewer vertices than lassoGroup stay on their thread.
const lassoGroup = 512

// A groupHeap holds groups. It gives the largest first: the others fill the time of the threads
// that it leaves idle. Grid of 512², λ₁ = 5, two threads: they wait for 10 % of the time that they
// divide groups, instead of 17.
type groupHeap [][]int32

func (h groupHeap) Len() int { return len(h) }

func (h groupHeap) Less(i, j int) bool { return len(h[i]) > len(h[j]) }

func (h groupHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

func (h *groupHeap) Push(x any) { *h = append(*h, x.([]int32)) }

func (h *groupHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

// add appends groups to the waiting ones.
func (s *lassoSplit) add(groups [][]int32) {
	for _, g := range groups {
		if len(g) >= lassoGroup {
			heap.Push(&s.large, g)
		} else {
			s.small = append(s.small, g)
		}
	}
}

// take appends a large group to a list, or small ones.
func (s *lassoSplit) take(into [][]int32) [][]int32 {
	if len(s.large) > 0 {
		return append(into, heap.Pop(&s.large).([]int32))
	}
	for room := lassoGroup; len(s.small) > 0 && room > 0; {
		last := len(s.small) - 1
		into, s.small = append(into, s.small[last]), s.small[:last]
		room -= len(into[len(into)-1])
	}
	return into
}

// split solves a part and writes its values and flows. It gives up cuts that take more than a limit
// of work, in arcs read for each vertex, and returns the part of their groups, nil if there are
// none.
func (p *lassoPart) split(ctx context.Context, threads int, b, u []float64, scale float64, limit, patience int64) (*lassoPart, error) {
	n := len(p.load)
	s := &lassoSplit{part: p, scale: scale, limit: limit, patience: patience, group: make([]int32, n), value: make([]float64, n),
		blocks: make([]int32, n), threads: threads}
	s.ready.L = &s.mu
	ptr := make([]int32, n+1)
	for i := range n {
		ptr[i+1] += p.ptr[i+1] - p.ptr[i]
		for _, j := range p.head[p.ptr[i]:p.ptr[i+1]] {
			ptr[j+1]++
		}
	}
	for i := range n {
		ptr[i+1] += ptr[i]
	}
	s.net = &network.FlowNet{Ptr: ptr, Arcs: make([]network.FlowArc, ptr[n]), Nodes: make([]network.FlowNode, n)}
	s.edge = make([]int32, ptr[n])
	at := make([]int32, n)
	copy(at, ptr)
	for i := range int32(n) {
		s.net.Nodes[i].Excess = p.nu[i] * p.x[i]
		for k := p.ptr[i]; k < p.ptr[i+1]; k++ {
			j := p.head[k]
			a, back := at[i], at[j]
			s.net.Arcs[a] = network.FlowArc{Residual: p.cap[k] - p.u[k], Head: j, Sister: back}
			s.net.Arcs[back] = network.FlowArc{Residual: p.cap[k] + p.u[k], Head: i, Sister: a}
			s.edge[a], s.edge[back] = k, ^k
			at[i]++
			at[j]++
		}
	}
	all := make([]int32, n)
	for i := range all {
		all[i] = int32(i)
	}
	s.last.Store(1)
	s.add(s.components(all, 0, nil))
	s.run(ctx, threads)
	if s.err != nil {
		return nil, s.err
	}
	for i := range int32(n) {
		b[p.vertexName(i)] = s.value[i]
		for k := p.ptr[i]; k < p.ptr[i+1]; k++ {
			u[p.edgeName(k)] = p.u[k]
		}
	}
	return s.abandonedPart(threads), nil
}

// abandonedPart returns the part of the groups with abandoned cuts, with the flow before the cuts.
func (s *lassoSplit) abandonedPart(threads int) *lassoPart {
	if len(s.hard) == 0 {
		return nil
	}
	p, local := s.part, s.group
	q := &lassoPart{momentum: p.momentum}
	for i := range local {
		local[i] = -1
	}
	for _, list := range s.hard {
		for _, v := range list {
			local[v] = 0
		}
	}
	for v := range int32(len(local)) {
		if local[v] == 0 {
			local[v] = int32(len(q.vertex))
			q.vertex = append(q.vertex, p.vertexName(v))
			q.load = append(q.load, p.load[v])
			q.nu, q.inv = append(q.nu, p.nu[v]), append(q.inv, p.inv[v])
		}
	}
	q.ptr = append(make([]int32, 0, len(q.load)+1), 0)
	for v := range int32(len(local)) {
		l := local[v]
		if l < 0 {
			continue
		}
		for a := s.net.Ptr[v]; a < s.net.Ptr[v+1]; a++ {
			arc, k := &s.net.Arcs[a], s.edge[a]
			switch absent := arc.Residual == 0 && s.net.Arcs[arc.Sister].Residual == 0; {
			case absent && k >= 0:
				q.load[l] -= p.u[k]
			case absent:
				q.load[l] += p.u[^k]
			case k >= 0:
				q.head, q.edge, q.cap = append(q.head, local[arc.Head]), append(q.edge, p.edgeName(k)), append(q.cap, p.cap[k])
				q.u, q.before = append(q.u, p.u[k]), append(q.before, p.before[k])
			}
		}
		q.ptr = append(q.ptr, int32(len(q.head)))
	}
	q.prepare(threads)
	return q
}

// components divides vertices of a group into the sets that arcs connect, and names each set as a
// group. Arcs without residual capacity in both directions are absent.
func (s *lassoSplit) components(list []int32, group int32, into [][]int32) [][]int32 {
	net := s.net
	order := make([]int32, 0, len(list))
	for _, root := range list {
		if s.group[root] != group {
			continue
		}
		name := s.last.Add(1)
		s.group[root] = name
		from := len(order)
		order = append(order, root)
		for h := from; h < len(order); h++ {
			v := order[h]
			for a := net.Ptr[v]; a < net.Ptr[v+1]; a++ {
				arc := &net.Arcs[a]
				if s.group[arc.Head] == group && (arc.Residual > 0 || net.Arcs[arc.Sister].Residual > 0) {
					s.group[arc.Head] = name
					order = append(order, arc.Head)
				}
			}
		}
		into = append(into, order[from:len(order):len(order)])
	}
	return into
}

// run takes groups until none is left.
func (s *lassoSplit) run(ctx context.Context, threads int) {
	var wait sync.WaitGroup
	for range threads {
		wait.Go(func() {
			search := network.TreeSearch{Net: s.net}
			var own [][]int32
			for {
				s.mu.Lock()
				for len(s.large)+len(s.small) == 0 && s.busy > 0 && s.err == nil {
					s.ready.Wait()
				}
				own = s.take(own[:0])
				if len(own) == 0 || s.err != nil {
					s.mu.Unlock()
					return
				}
				s.busy++
				s.mu.Unlock()
				var large [][]int32
				var err error
				for len(own) > 0 && err == nil {
					group := own[len(own)-1]
					own = own[:len(own)-1]
					from := len(own)
					own, err = s.divide(ctx, &search, group, own)
					for k := from; k < len(own); {
						if len(own[k]) < lassoGroup {
							k++
							continue
						}
						large = append(large, own[k])
						own[k] = own[len(own)-1]
						own = own[:len(own)-1]
					}
					if len(large) > 0 {
						s.mu.Lock()
						s.add(large)
						s.mu.Unlock()
						s.ready.Broadcast()
						large = large[:0]
					}
				}
				s.mu.Lock()
				s.busy--
				if err != nil && s.err == nil {
					s.err = err
				}
				s.mu.Unlock()
				s.ready.Broadcast()
			}
		})
	}
	wait.Wait()
}

// lassoRest is the relative excess that counts as none.
const lassoRest = 1e-14

// divide solves a group, or appends the groups that it consists of.
func (s *lassoSplit) divide(ctx context.Context, search *network.TreeSearch, list []int32, into [][]int32) ([][]int32, error) {
	net, p := s.net, s.part
	load, weight := 0.0, 0.0
	for _, v := range list {
		load += net.Nodes[v].Excess // between groups, ν x
		weight += p.nu[v]
	}
	mean := load / weight
	if len(list) == 1 {
		s.value[list[0]] = mean
		return into, nil
	}
	eps := lassoRest * s.scale
	for _, v := range list {
		net.Nodes[v].Excess -= mean * p.nu[v]
	}
	// Groups of more than half of the vertices follow each other, and share a budget.
	large := 2*len(list) >= len(s.group)
	search.Limit = s.limit*int64(len(s.group)) - s.spent
	if !large { // other threads have work
		search.Limit = s.patience * s.limit * int64(len(list))
	}
	used, err := s.blockwise(ctx, list, eps, search.Limit)
	if err != nil {
		return into, err
	}
	done := false
	if search.Limit -= used; search.Limit > 0 {
		if done, err = search.Run(ctx, list, eps); err != nil {
			return into, err
		}
		used += search.Work
	}
	if large {
		s.spent += used
	}
	if !done { // the iteration continues with its own flow, which is closer to the solution
		s.mu.Lock()
		s.hard = append(s.hard, list)
		s.mu.Unlock()
		return into, nil
	}
	rest, above := 0.0, 0
	for _, v := range list {
		rest += max(net.Nodes[v].Excess, 0)
		if net.Nodes[v].Tree == network.SourceTree {
			above++
		}
	}
	if rest <= 4*eps*float64(len(list)) || above == 0 || above == len(list) {
		for _, v := range list {
			s.value[v] = mean
			for a := net.Ptr[v]; a < net.Ptr[v+1]; a++ {
				s.settle(a)
			}
		}
		return into, nil
	}
	return s.separate(list, mean, into), nil
}

// separate divides a group along the minimum cut: the vertices in the tree of the source become a
// group of their own. It appends the components of both.
func (s *lassoSplit) separate(list []int32, mean float64, into [][]int32) [][]int32 {
	net, p := s.net, s.part
	group := s.group[list[0]]
	up := s.last.Add(1)
	for _, v := range list {
		if net.Nodes[v].Tree == network.SourceTree {
			s.group[v] = up
		}
	}
	for _, v := range list {
		net.Nodes[v].Excess += mean * p.nu[v]
		if s.group[v] != up {
			continue
		}
		for a := net.Ptr[v]; a < net.Ptr[v+1]; a++ {
			arc := &net.Arcs[a]
			if s.group[arc.Head] == group && net.Arcs[arc.Sister].Residual > 0 { // saturated
				if k := s.edge[a]; k >= 0 {
					p.u[k] = p.cap[k]
				} else {
					p.u[^k] = -p.cap[^k]
				}
				// Heads of absent arcs lead back, so that no search reads vertices of other groups.
				back := &net.Arcs[arc.Sister]
				arc.Residual, back.Residual = 0, 0
				arc.Head, back.Head = v, arc.Head
			}
		}
	}
	into = s.components(list, up, into)
	return s.components(list, group, into)
}

// lassoBlock is the number of vertices of the smallest blocks of a group, lassoBlocks how many of
// them the next larger ones have. On a triangulated planar graph of 213k vertices (λ₁ = 5), blocks
// take a third off the work of cuts, and on a grid of 512² (λ₁ = 1) a half; and threads share it.
const lassoBlock, lassoBlocks = 512, 4

// blockwise sends what it can within larger and larger blocks of a group, which threads take,
// before a search in the whole group: most flows are short. It returns the work, which may exceed
// the limit. (Liu, Sun: Parallel graph-cuts by adaptive bottom-up merging, CVPR 2010.)
func (s *lassoSplit) blockwise(ctx context.Context, list []int32, eps float64, limit int64) (int64, error) {
	s.mu.Lock()
	threads := max(1, s.threads-s.busy+1)
	s.mu.Unlock()
	used := int64(0)
	for size := lassoBlock; 2*size <= len(list) && used < limit; size *= lassoBlocks {
		count := len(list) / size
		from := func(k int) int { return k * len(list) / count }
		base := s.last.Add(int32(count)) - int32(count)
		for k := range count {
			for _, v := range list[from(k):from(k+1)] {
				s.blocks[v] = base + int32(k)
			}
		}
		errs, work := make([]error, count), make([]int64, count)
		err := parallel.Pieces(ctx, threads, count, func(_, k int) {
			search := network.TreeSearch{Net: s.net, Blocks: s.blocks, Block: base + int32(k), Limit: (limit-used)/int64(count) + 1}
			_, errs[k] = search.Run(ctx, list[from(k):from(k+1)], eps)
			work[k] = search.Work
		})
		if err := errors.Join(append(errs, err)...); err != nil {
			return used, err
		}
		for _, w := range work {
			used += w
		}
	}
	return used, nil
}

// settle writes the flow of an arc in the direction of its edge, unless a cut has fixed it.
func (s *lassoSplit) settle(a int32) {
	arc := &s.net.Arcs[a]
	back := s.net.Arcs[arc.Sister].Residual
	if k := s.edge[a]; k >= 0 && (arc.Residual > 0 || back > 0) {
		s.part.u[k] = (back - arc.Residual) / 2
	}
}
