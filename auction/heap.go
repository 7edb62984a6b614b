package auction

// heap orders the columns by price, the least on top. Prices only rise.
type heap[D price] struct {
	p    []D
	cols []int32
	at   []int32 // the place of each column
}

func newHeap[D price](p []D) *heap[D] {
	h := &heap[D]{p: p, cols: make([]int32, len(p)), at: make([]int32, len(p))}
	for j := range p {
		h.cols[j], h.at[j] = int32(j), int32(j)
	}
	for k := len(p)/2 - 1; k >= 0; k-- {
		h.sift(k)
	}
	return h
}

// down restores the order after the price of column j rose.
func (h *heap[D]) down(j int32) { h.sift(int(h.at[j])) }

func (h *heap[D]) less(a, b int32) bool {
	return h.p[a] < h.p[b] || h.p[a] == h.p[b] && a < b
}

func (h *heap[D]) sift(k int) {
	j := h.cols[k]
	for {
		c := 2*k + 1
		if c >= len(h.cols) {
			break
		}
		if c+1 < len(h.cols) && h.less(h.cols[c+1], h.cols[c]) {
			c++
		}
		if !h.less(h.cols[c], j) {
			break
		}
		h.cols[k] = h.cols[c]
		h.at[h.cols[k]] = int32(k)
		k = c
	}
	h.cols[k], h.at[j] = j, int32(k)
}

// cheapest calls take with the two cheapest columns that are not marked. It visits only places with
// a column cheaper than the second found so far.
func (h *heap[D]) cheapest(l *look, take func(j int32)) {
	first, second := int32(none), int32(none)
	walk := l.walk[:0]
	if len(h.cols) > 0 {
		walk = append(walk, 0)
	}
	for len(walk) > 0 {
		place := walk[len(walk)-1]
		walk = walk[:len(walk)-1]
		j := h.cols[place]
		if second != none && !h.less(j, second) {
			continue // as are all below it
		}
		if l.mark[j] != l.stamp {
			switch {
			case first == none:
				first = j
			case h.less(j, first):
				first, second = j, first
			default:
				second = j
			}
		}
		for c := min(2*place+2, int32(len(h.cols)-1)); c > 2*place; c-- {
			walk = append(walk, c)
		}
	}
	l.walk = walk
	if first != none {
		take(first)
	}
	if second != none {
		take(second)
	}
}
