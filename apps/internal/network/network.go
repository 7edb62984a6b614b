// Package network finds minimum cuts of a flow network by trees of the source and the sink, for
// maximum flows and for the fused lasso.
package network

import (
	"context"
	"math"
	"sync"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/matrix"
)

// A FlowNet is the residual network of a maximum flow with a source and a sink outside it. Vertex v
// has the arcs ptr[v] to ptr[v+1]. A positive excess of a vertex is what the source can still send
// to it, a negative one is what it can still send to the sink.
type FlowNet struct {
	Ptr   []int32
	Arcs  []FlowArc
	Nodes []FlowNode
}

// A FlowArc is one direction of an edge. Its residual capacity includes the flow of its sister.
type FlowArc struct {
	Residual     float64
	Head, Sister int32
}

// A FlowNode is a vertex of a flowNet with its place in the search trees.
type FlowNode struct {
	Excess float64
	parent int32 // the arc that the path to the root uses, or one of the numbers below
	up     int32 // the parent: a walk to the root waits for one load a step instead of two
	stamp  int32 // when dist was valid
	dist   int32 // vertices to the root
	next   int32 // in the list of active vertices: notActive, lastActive or a vertex
	Tree   int8  // of the source, of the sink, or free
}

const (
	noParent   = -1
	rootParent = -2
	orphaned   = -3

	notActive  = -1
	lastActive = -2

	freeTree   = 0
	SourceTree = 1
	sinkTree   = -1
)

// A TreeSearch computes maximum flows by two search trees (Boykov, Kolmogorov: An experimental
// comparison of min-cut/max-flow algorithms for energy minimization in vision, PAMI 2004). Trees
// grow from the vertices with excess and with deficit; where they meet, a path is augmented, and
// the vertices cut off from their root look for another parent. Several searches may run at once in
// parts of one network that no arc with a residual capacity connects.
type TreeSearch struct {
	Net           *FlowNet
	first, last   int32 // active vertices
	orphans       []int32
	time          int32
	Augmentations int64
	Work, Limit   int64 // arcs read; a run ends early beyond a limit above 0
	// A search with blocks ignores the arcs to vertices of another block.
	Blocks []int32
	Block  int32
}

// growSource adds the free vertices that v reaches to the tree of the source, and returns an arc to
// the tree of the sink, −1 if it finds none.
func (s *TreeSearch) growSource(v int32) (met int32) {
	nodes, arcs, ptr := s.Net.Nodes, s.Net.Arcs, s.Net.Ptr
	x := &nodes[v]
	row := arcs[ptr[v]:ptr[v+1]]
	for k := range row {
		a := &row[k]
		if a.Residual <= 0 || s.Blocks != nil && s.Blocks[a.Head] != s.Block {
			continue
		}
		y := &nodes[a.Head]
		if y.Tree == freeTree {
			y.Tree, y.parent, y.up, y.stamp, y.dist = SourceTree, ptr[v]+int32(k), v, x.stamp, x.dist+1
			s.activate(a.Head)
		} else if y.Tree == sinkTree {
			return ptr[v] + int32(k)
		} else if y.stamp <= x.stamp && y.dist > x.dist && y.parent >= 0 {
			y.parent, y.up, y.stamp, y.dist = ptr[v]+int32(k), v, x.stamp, x.dist+1
		}
	}
	return -1
}

// growSink is growSource for the tree of the sink: along arcs against their direction.
func (s *TreeSearch) growSink(v int32) (met int32) {
	nodes, arcs, ptr := s.Net.Nodes, s.Net.Arcs, s.Net.Ptr
	x := &nodes[v]
	row := arcs[ptr[v]:ptr[v+1]]
	for k := range row {
		a := &row[k]
		if s.Blocks != nil && s.Blocks[a.Head] != s.Block {
			continue
		}
		y := &nodes[a.Head]
		if y.Tree == sinkTree && !(y.stamp <= x.stamp && y.dist > x.dist && y.parent >= 0) {
			continue
		}
		if arcs[a.Sister].Residual <= 0 {
			continue
		}
		if y.Tree == freeTree {
			y.Tree, y.parent, y.up, y.stamp, y.dist = sinkTree, a.Sister, v, x.stamp, x.dist+1
			s.activate(a.Head)
		} else if y.Tree == SourceTree {
			return a.Sister
		} else {
			y.parent, y.up, y.stamp, y.dist = a.Sister, v, x.stamp, x.dist+1
		}
	}
	return -1
}

// Run makes the flow among the listed vertices maximal. An excess of at most eps counts as none.
// Afterwards the tree of the source has the vertices that the source reaches. Beyond the limit of
// work it returns false, with a flow that is not maximal.
func (s *TreeSearch) Run(ctx context.Context, list []int32, eps float64) (bool, error) {
	s.first, s.last, s.time, s.Work = lastActive, lastActive, 0, 0
	nodes, ptr := s.Net.Nodes, s.Net.Ptr
	for _, v := range list {
		x := &nodes[v]
		x.stamp, x.dist, x.next, x.parent, x.Tree = 0, 1, notActive, noParent, freeTree
	}
	for _, v := range list {
		x := &nodes[v]
		switch {
		case x.Excess > eps:
			x.Tree, x.parent = SourceTree, rootParent
			s.activate(v)
		case x.Excess < -eps:
			x.Tree, x.parent = sinkTree, rootParent
			s.activate(v)
		}
	}
	for s.first != lastActive {
		v := s.first
		x := &nodes[v]
		met := int32(-1)
		switch {
		case x.parent == noParent: // was freed
		case x.Tree == SourceTree:
			met = s.growSource(v)
		default:
			met = s.growSink(v)
		}
		s.Work += int64(ptr[v+1] - ptr[v])
		if met < 0 {
			s.first, x.next = x.next, notActive
			continue
		}
		s.time++
		s.augment(met, eps)
		for k := 0; k < len(s.orphans); k++ {
			if o := s.orphans[k]; nodes[o].parent == orphaned {
				s.adopt(o)
			}
		}
		s.orphans = s.orphans[:0]
		if s.Augmentations++; s.Augmentations%1024 == 0 && ctx != nil {
			if err := ctx.Err(); err != nil {
				return false, err
			}
		}
		if s.Limit > 0 && s.Work > s.Limit {
			return false, nil
		}
		if s.time == math.MaxInt32-1 { // start the distances again
			for _, v := range list {
				nodes[v].stamp = 0
			}
			s.time = 0
		}
	}
	return true, nil
}

// activate appends a vertex to the list of active vertices.
func (s *TreeSearch) activate(v int32) {
	x := &s.Net.Nodes[v]
	if x.next != notActive {
		return
	}
	if s.first == lastActive {
		s.first = v
	} else {
		s.Net.Nodes[s.last].next = v
	}
	s.last, x.next = v, lastActive
}

// augment sends as much as it can over an arc from the tree of the source to the tree of the sink.
func (s *TreeSearch) augment(a int32, eps float64) {
	nodes, arcs := s.Net.Nodes, s.Net.Arcs
	bridge := &arcs[a]
	back := &arcs[bridge.Sister]
	head, tail := bridge.Head, back.Head
	source, most, steps := s.narrowest(tail, bridge.Residual)
	sink, most, more := s.narrowest(head, most)
	s.Work += steps + more
	most = min(most, nodes[source].Excess, -nodes[sink].Excess)

	bridge.Residual -= most
	back.Residual += most
	s.send(tail, source, most)
	if nodes[source].Excess -= most; nodes[source].Excess <= eps {
		s.orphan(source)
	}
	s.send(head, sink, most)
	if nodes[sink].Excess += most; nodes[sink].Excess >= -eps {
		s.orphan(sink)
	}
}

// narrowest returns the root of a vertex, the least of most and the residual capacities of the path
// between them, and the number of arcs.
func (s *TreeSearch) narrowest(v int32, most float64) (root int32, least float64, steps int64) {
	nodes, arcs := s.Net.Nodes, s.Net.Arcs
	for x := &nodes[v]; x.parent != rootParent; x = &nodes[v] {
		most = min(most, arcs[x.parent].Residual)
		v = x.up
		steps++
	}
	return v, most, steps
}

// send sends flow over the path between a vertex and its root, and cuts it where it is saturated.
func (s *TreeSearch) send(v, root int32, flow float64) {
	nodes, arcs := s.Net.Nodes, s.Net.Arcs
	for v != root {
		x := &nodes[v]
		arc := &arcs[x.parent]
		arcs[arc.Sister].Residual += flow
		up := x.up
		if arc.Residual -= flow; arc.Residual <= 0 {
			s.orphan(v)
		}
		v = up
	}
}

func (s *TreeSearch) orphan(v int32) {
	s.Net.Nodes[v].parent = orphaned
	s.orphans = append(s.orphans, v)
}

// adopt finds a parent for an orphan, the nearest to the root, or frees it.
func (s *TreeSearch) adopt(v int32) {
	nodes, arcs, ptr := s.Net.Nodes, s.Net.Arcs, s.Net.Ptr
	x := &nodes[v]
	tree, now := x.Tree, s.time
	best, least := int32(noParent), int32(math.MaxInt32)
	row := arcs[ptr[v]:ptr[v+1]]
	s.Work += int64(len(row))
	for k := range row {
		a := &row[k]
		if s.Blocks != nil && s.Blocks[a.Head] != s.Block {
			continue
		}
		y := &nodes[a.Head]
		if y.Tree != tree || y.parent == noParent || y.parent == orphaned {
			continue
		}
		if tree == sinkTree && a.Residual <= 0 || tree == SourceTree && arcs[a.Sister].Residual <= 0 {
			continue
		}
		// The distance to the root, if the path upwards ends there.
		d := int32(0)
		for u := a.Head; ; {
			z := &nodes[u]
			if z.stamp == now {
				d += z.dist
				break
			}
			d++
			if z.parent == rootParent {
				z.stamp, z.dist = now, 1
				break
			}
			if z.parent < 0 {
				d = math.MaxInt32
				break
			}
			u = z.up
			s.Work++
		}
		if d == math.MaxInt32 {
			continue
		}
		if d < least {
			best, least = ptr[v]+int32(k), d
		}
		for u := a.Head; nodes[u].stamp != now; u = nodes[u].up {
			nodes[u].stamp, nodes[u].dist = now, d
			d--
		}
	}
	if best >= 0 {
		x.parent, x.up, x.stamp, x.dist = best, arcs[best].Head, now, least+1
		if tree == SourceTree {
			x.parent = arcs[best].Sister
		}
		return
	}
	for k := range row {
		a := &row[k]
		if s.Blocks != nil && s.Blocks[a.Head] != s.Block {
			continue
		}
		y := &nodes[a.Head]
		if y.Tree != tree || y.parent == noParent {
			continue
		}
		if tree == sinkTree && a.Residual > 0 || tree == SourceTree && arcs[a.Sister].Residual > 0 {
			s.activate(a.Head)
		}
		if y.parent >= 0 && y.up == v {
			s.orphan(a.Head)
		}
	}
	x.parent, x.Tree = noParent, freeTree
}

// Sides returns what the source reaches and what reaches the sink in a residual network.
func (f *FlowNet) Sides(n int, s, t int32, run workflow.Run) (source, sink *matrix.Vector[bool]) {
	reach := func(root int32, sign float64, open func(a *FlowArc) bool) *matrix.Vector[bool] {
		in := make([]uint8, n)
		in[root] = 1
		count := int64(0)
		list := []int32{root}
		for v := range f.Nodes {
			if sign*f.Nodes[v].Excess > 0 && int32(v) != s && int32(v) != t {
				in[v] = 1
				list = append(list, int32(v))
			}
		}
		for len(list) > 0 {
			v := list[len(list)-1]
			list = list[:len(list)-1]
			count++
			for a := f.Ptr[v]; a < f.Ptr[v+1]; a++ {
				if u := f.Arcs[a].Head; in[u] == 0 && open(&f.Arcs[a]) {
					in[u] = 1
					list = append(list, u)
				}
			}
		}
		value := make([]bool, n)
		for v := range value {
			value[v] = in[v] != 0
		}
		return workflow.PresentVector(in, count, value)
	}
	var wait sync.WaitGroup
	wait.Go(func() { source = reach(s, 1, func(a *FlowArc) bool { return a.Residual > 0 }) })
	if parallel.Threads(run.Threads) == 1 {
		wait.Wait()
	}
	sink = reach(t, -1, func(a *FlowArc) bool { return f.Arcs[a.Sister].Residual > 0 })
	wait.Wait()
	return source, sink
}
