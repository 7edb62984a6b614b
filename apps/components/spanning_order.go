package components

import (
	"math"
	"slices"
)

// growInOrder adds the edges of a list in ascending order (Kruskal). spare has room for the list.
func (f *forest) growInOrder(list, spare []link) error {
	list = sortLinks(list, spare[:len(list)])
	for _, e := range list {
		if u, v := f.tree.find(e.u), f.tree.find(e.v); u != v {
			f.tree[max(u, v)] = min(u, v)
			f.edges = append(f.edges, e)
		}
	}
	for v, up := range f.tree { // a parent is less than its children
		f.tree[v] = f.tree[up]
	}
	return nil
}

// fewLinks is the number of edges below which a sort by comparisons is faster than by digits.
const fewLinks = 1 << 10

// sortLinks sorts a list by the digits of the weights, and edges of equal weight by their vertices
// unless they come in this order. The result is the list or spare.
func sortLinks(list, spare []link) []link {
	if len(list) < fewLinks {
		slices.SortFunc(list, link.compare)
		return list
	}
	var counts [8][256]int32
	for _, e := range list {
		for d, key := 0, e.key(); d < 8; d++ {
			counts[d][key>>(8*d)&255]++
		}
	}
	for d := range counts {
		next := &counts[d]
		if next[list[0].key()>>(8*d)&255] == int32(len(list)) {
			continue // all edges have this digit
		}
		at := int32(0)
		for k, count := range next {
			next[k] = at
			at += count
		}
		for _, e := range list {
			k := e.key() >> (8 * d) & 255
			spare[next[k]] = e
			next[k]++
		}
		list, spare = spare, list
	}
	for lo := 0; lo < len(list); {
		hi, ordered := lo+1, true
		for ; hi < len(list) && list[hi].weight == list[lo].weight; hi++ {
			ordered = ordered && list[hi-1].compare(list[hi]) <= 0
		}
		if !ordered {
			slices.SortFunc(list[lo:hi], link.compare)
		}
		lo = hi
	}
	return list
}

// key returns a number that ascends with the weight.
func (e link) key() uint64 {
	bits := math.Float64bits(e.weight + 0) // −0 is 0
	if bits>>63 != 0 {
		return ^bits
	}
	return bits | 1<<63
}
