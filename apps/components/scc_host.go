package components

import (
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/matrix"
)

// strongWork is the number of vertices and edges from which on steps find the components. With one
// thread they take a third of the time of the depth-first search of R-MAT 18.
const strongWork = 1 << 16

// strongOnHost finds the components on the host.
func strongOnHost(a *matrix.View[bool], run workflow.Run) (*Components, error) {
	const app = "StronglyConnectedComponents"
	g := workflow.RowsOf(a)
	if g.N+len(g.Idx) < strongWork {
		number := make([]int32, g.N)
		if err := strongDepthFirst(g, number, nil, run); err != nil {
			return nil, err
		}
		workflow.Traced(run, app, "depth-first search", g.N, int64(len(g.Idx)))
		return labelled(number, int32(g.N), run)
	}
	c, err := strongBySteps(a, run, usualStrongShares)
	if err != nil {
		return nil, err
	}
	workflow.Traced(run, app, "pivot and colours", g.N, int64(len(g.Idx)))
	return c, nil
}

// strongDepthFirst finds the components of the vertices with number 0, by depth-first searches from
// starts, nil for all vertices. The numbers of the others are n, so that a search passes over them.
// While a vertex v is open, number(v) is the least visit known to be reached from v; the visits of
// open vertices are numbered without gaps. Afterwards it is the number of the component, counted
// down from n, so that it is above all visits of open vertices.
func strongDepthFirst(g *workflow.Adjacency, number, starts []int32, run workflow.Run) error {
	type frame struct {
		v    int32
		root bool // no vertex reached from v was visited before v
		at   int64
	}
	var open []frame    // the path of the search
	var waiting []int32 // closed vertices in an open component
	visit, last := int32(1), int32(g.N)
	steps, count := 0, g.N
	if starts != nil {
		count = len(starts)
	}
	for k := range count {
		start := int32(k)
		if starts != nil {
			start = starts[k]
		}
		if number[start] != 0 {
			continue
		}
		number[start] = visit
		visit++
		open = append(open, frame{start, true, g.Ptr[start]})
	search:
		for len(open) > 0 {
			if steps++; steps&0xfffff == 0 && workflow.Expired(run) != nil {
				return workflow.Expired(run)
			}
			f := &open[len(open)-1]
			v, reached := f.v, number[f.v]
			end := g.Ptr[v+1]
			for at := f.at; at < end; at++ {
				w := g.Idx[at]
				if number[w] == 0 {
					number[v], f.at = reached, at // w is looked at again when it is closed
					number[w] = visit
					visit++
					open = append(open, frame{w, true, g.Ptr[w]})
					continue search
				}
				if number[w] < reached {
					reached, f.root = number[w], false
				}
			}
			open = open[:len(open)-1]
			number[v] = reached
			if !f.root {
				waiting = append(waiting, v)
				continue
			}
			visit--
			for len(waiting) > 0 && number[waiting[len(waiting)-1]] >= reached {
				number[waiting[len(waiting)-1]] = last
				waiting = waiting[:len(waiting)-1]
				visit--
			}
			number[v] = last
			last--
		}
	}
	return workflow.Expired(run)
}

// labelled makes components of their numbers, 1 to n: the label is the least vertex.
func labelled(number []int32, n int32, run workflow.Run) (*Components, error) {
	if err := workflow.Expired(run); err != nil {
		return nil, err
	}
	least, size := make([]int32, n+1), make([]int64, n+1)
	c := &Components{}
	for v, k := range number {
		if size[k] == 0 {
			least[k] = int32(v)
			c.Count++
		}
		size[k]++
		c.Largest = max(c.Largest, size[k])
		number[v] = least[k]
	}
	var err error
	c.Label, err = matrix.VectorOf(number)
	return c, err
}
