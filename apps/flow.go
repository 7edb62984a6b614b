package apps

import (
	"context"
	"math"
)

// A flowNet is the residual network of a maximum flow with a source and a sink outside it. Vertex v
// has the arcs ptr[v] to ptr[v+1]. A positive excess of a vertex is what the source can still send
// to it, a negative one is what it can still send to the sink.
type flowNet struct {
	ptr   []int32
	arcs  []flowArc
	nodes []flowNode
}

// A flowArc is one direction of an edge. Its residual capacity is that of its sister's flow too.
type flowArc struct {
	residual     float64
	head, sister int32
}

// A flowNode is a vertex of a flowNet with its place in the search trees.
type flowNode struct {
	excess float64
	parent int32 // the arc whose flow the path to the root uses, or one of the numbers below
	up     int32 // the parent: a walk to the root waits for one load a step instead of two
	stamp  int32 // when dist was valid
	dist   int32 // vertices to the root
	next   int32 // in the list of active vertices: notActive, lastActive or a vertex
	tree   int8  // of the source, of the sink, or free
}

const (
	noParent   = -1
	rootParent = -2
	orphaned   = -3

	notActive  = -1
	lastActive = -2

	freeTree   = 0
	sourceTree = 1
	sinkTree   = -1
)

// A treeSearch computes maximum flows by two search trees (Boykov, Kolmogorov: An experimental
// comparison of min-cut/max-flow algorithms for energy minimization in vision, PAMI 2004). Trees
// grow from the vertices with excess and with deficit; where they meet, a path is augmented, and
// the vertices cut off from their root look for another parent. Several searches may run at once in
// parts of one network that no arc with a residual capacity connects.
type treeSearch struct {
	net           *flowNet
	first, last   int32 // active vertices
	orphans       []int32
	time          int32
	augmentations int64
	work, limit   int64 // arcs read; a run ends early beyond a limit above 0
	// A search with blocks ignores the arcs to vertices of another block.
	blocks []int32
	block  int32
}

// run makes the flow among the listed vertices maximal. An excess of at most eps counts as none.
// Afterwards the vertices in the tree of the source are those that the source reaches. Beyond the
// limit of work it returns false, with a flow that is not maximal.
func (s *treeSearch) run(ctx context.Context, list []int32, eps float64) (bool, error) {
	s.first, s.last, s.time, s.work = lastActive, lastActive, 0, 0
	nodes, arcs, ptr := s.net.nodes, s.net.arcs, s.net.ptr
	for _, v := range list {
		x := &nodes[v]
		x.stamp, x.dist, x.next, x.parent, x.tree = 0, 1, notActive, noParent, freeTree
	}
	for _, v := range list {
		x := &nodes[v]
		switch {
		case x.excess > eps:
			x.tree, x.parent = sourceTree, rootParent
			s.activate(v)
		case x.excess < -eps:
			x.tree, x.parent = sinkTree, rootParent
			s.activate(v)
		}
	}
	for s.first != lastActive {
		v := s.first
		x := &nodes[v]
		met := int32(-1)
		switch {
		case x.parent == noParent: // was freed
		case x.tree == sourceTree:
			row := arcs[ptr[v]:ptr[v+1]]
			for k := range row {
				a := &row[k]
				if a.residual <= 0 || s.blocks != nil && s.blocks[a.head] != s.block {
					continue
				}
				y := &nodes[a.head]
				if y.tree == freeTree {
					y.tree, y.parent, y.up, y.stamp, y.dist = sourceTree, ptr[v]+int32(k), v, x.stamp, x.dist+1
					s.activate(a.head)
				} else if y.tree == sinkTree {
					met = ptr[v] + int32(k)
					break
				} else if y.stamp <= x.stamp && y.dist > x.dist && y.parent >= 0 {
					y.parent, y.up, y.stamp, y.dist = ptr[v]+int32(k), v, x.stamp, x.dist+1
				}
			}
		default:
			row := arcs[ptr[v]:ptr[v+1]]
			for k := range row {
				a := &row[k]
				if s.blocks != nil && s.blocks[a.head] != s.block {
					continue
				}
				y := &nodes[a.head]
				if y.tree == sinkTree && !(y.stamp <= x.stamp && y.dist > x.dist && y.parent >= 0) {
					continue
				}
				if arcs[a.sister].residual <= 0 {
					continue
				}
				if y.tree == freeTree {
					y.tree, y.parent, y.up, y.stamp, y.dist = sinkTree, a.sister, v, x.stamp, x.dist+1
					s.activate(a.head)
				} else if y.tree == sourceTree {
					met = a.sister
					break
				} else {
					y.parent, y.up, y.stamp, y.dist = a.sister, v, x.stamp, x.dist+1
				}
			}
		}
		s.work += int64(ptr[v+1] - ptr[v])
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
		if s.augmentations++; s.augmentations%1024 == 0 && ctx != nil {
			if err := ctx.Err(); err != nil {
				return false, err
			}
		}
		if s.limit > 0 && s.work > s.limit {
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
func (s *treeSearch) activate(v int32) {
	x := &s.net.nodes[v]
	if x.next != notActive {
		return
	}
	if s.first == lastActive {
		s.first = v
	} else {
		s.net.nodes[s.last].next = v
	}
	s.last, x.next = v, lastActive
}

// augment sends as much as it can over an arc from the tree of the source to that of the sink.
func (s *treeSearch) augment(a int32, eps float64) {
	nodes, arcs := s.net.nodes, s.net.arcs
	bridge := &arcs[a]
	back := &arcs[bridge.sister]
	head, tail := bridge.head, back.head
	source, most, steps := s.narrowest(tail, bridge.residual)
	sink, most, more := s.narrowest(head, most)
	s.work += steps + more
	most = min(most, nodes[source].excess, -nodes[sink].excess)

	bridge.residual -= most
	back.residual += most
	s.send(tail, source, most)
	if nodes[source].excess -= most; nodes[source].excess <= eps {
		s.orphan(source)
	}
	s.send(head, sink, most)
	if nodes[sink].excess += most; nodes[sink].excess >= -eps {
		s.orphan(sink)
	}
}

// narrowest returns the root of a vertex, the least of most and the residual capacities of the path
// between them, and the number of arcs.
func (s *treeSearch) narrowest(v int32, most float64) (root int32, least float64, steps int64) {
	nodes, arcs := s.net.nodes, s.net.arcs
	for x := &nodes[v]; x.parent != rootParent; x = &nodes[v] {
		most = min(most, arcs[x.parent].residual)
		v = x.up
		steps++
	}
	return v, most, steps
}

// send sends flow over the path between a vertex and its root, and cuts it where it is saturated.
func (s *treeSearch) send(v, root int32, flow float64) {
	nodes, arcs := s.net.nodes, s.net.arcs
	for v != root {
		x := &nodes[v]
		arc := &arcs[x.parent]
		arcs[arc.sister].residual += flow
		up := x.up
		if arc.residual -= flow; arc.residual <= 0 {
			s.orphan(v)
		}
		v = up
	}
}

func (s *treeSearch) orphan(v int32) {
	s.net.nodes[v].parent = orphaned
	s.orphans = append(s.orphans, v)
}

// adopt finds a parent for an orphan, the nearest to the root, or frees it.
func (s *treeSearch) adopt(v int32) {
	nodes, arcs, ptr := s.net.nodes, s.net.arcs, s.net.ptr
	x := &nodes[v]
	tree, now := x.tree, s.time
	best, least := int32(noParent), int32(math.MaxInt32)
	row := arcs[ptr[v]:ptr[v+1]]
	s.work += int64(len(row))
	for k := range row {
		a := &row[k]
		if s.blocks != nil && s.blocks[a.head] != s.block {
			continue
		}
		y := &nodes[a.head]
		if y.tree != tree || y.parent == noParent || y.parent == orphaned {
			continue
		}
		if tree == sinkTree && a.residual <= 0 || tree == sourceTree && arcs[a.sister].residual <= 0 {
			continue
		}
		// The distance to the root, if the path upwards ends there.
		d := int32(0)
		for u := a.head; ; {
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
			s.work++
		}
		if d == math.MaxInt32 {
			continue
		}
		if d < least {
			best, least = ptr[v]+int32(k), d
		}
		for u := a.head; nodes[u].stamp != now; u = nodes[u].up {
			nodes[u].stamp, nodes[u].dist = now, d
			d--
		}
	}
	if best >= 0 {
		x.parent, x.up, x.stamp, x.dist = best, arcs[best].head, now, least+1
		if tree == sourceTree {
			x.parent = arcs[best].sister
		}
		return
	}
	for k := range row {
		a := &row[k]
		if s.blocks != nil && s.blocks[a.head] != s.block {
			continue
		}
		y := &nodes[a.head]
		if y.tree != tree || y.parent == noParent {
			continue
		}
		if tree == sinkTree && a.residual > 0 || tree == sourceTree && arcs[a.sister].residual > 0 {
			s.activate(a.head)
		}
		if y.parent >= 0 && y.up == v {
			s.orphan(a.head)
		}
	}
	x.parent, x.tree = noParent, freeTree
}
