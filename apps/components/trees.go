package components

import "sync/atomic"

// trees is a forest over the vertices: the parent of each vertex, itself for a root. Several
// threads can use it at the same time.
type trees []int32

// root returns the root of the tree of v, and halves the path to it.
func (t trees) root(v int32) int32 {
	for {
		up := atomic.LoadInt32(&t[v])
		over := atomic.LoadInt32(&t[up])
		if up == over {
			return up
		}
		atomic.CompareAndSwapInt32(&t[v], up, over) // unless a thread has found one further up
		v = over
	}
}

// find is root for one thread alone.
func (t trees) find(v int32) int32 {
	for t[v] != v {
		t[v] = t[t[v]]
		v = t[v]
	}
	return v
}

// join joins the trees of two vertices. The lesser root stays, so that a parent is less than its
// children and the root the least vertex of a tree, whatever the order of calls.
func (t trees) join(v, u int32) {
	for a, b := atomic.LoadInt32(&t[v]), atomic.LoadInt32(&t[u]); a != b; {
		high, low := max(a, b), min(a, b)
		top := atomic.LoadInt32(&t[high])
		if top == low || top == high && atomic.CompareAndSwapInt32(&t[high], high, low) {
			return
		}
		a, b = atomic.LoadInt32(&t[atomic.LoadInt32(&t[high])]), atomic.LoadInt32(&t[low])
	}
}

// flatten makes each vertex from lo on below hi a child of its root.
func (t trees) flatten(lo, hi int) {
	for v := int32(lo); v < int32(hi); v++ {
		up := atomic.LoadInt32(&t[v])
		top := up
		for over := atomic.LoadInt32(&t[top]); over != top; over = atomic.LoadInt32(&t[top]) {
			top = over
		}
		if top != up { // a store costs as much as a comparison and swap
			atomic.StoreInt32(&t[v], top)
		}
	}
}
