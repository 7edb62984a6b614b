package centrality

// On long graphs few targets reach a vertex at the same distance, and sets of targets cost more
// than they save.

// leastTogether is the number of targets that arrive at a vertex together from which sets of
// targets pay. Targets together, and the time one by one divided by the time of sets: a path of 10⁴
// vertices 1.0 and .38, a grid of 50·200 1.7 and .6, a grid of 100² 3.3 and 1.5, a ring with
// shortcuts 16 and 3–5, R-MAT 13 65 and 16–39.
const leastTogether = 2.5

// batchesAlone is the number of batches after which sets are tried again.
const batchesAlone = 16

// A loneSearch is the state of searches from one target at a time.
type loneSearch struct {
	batches         int
	arrivals, pairs int64   // of the last batch by sets: at vertices, and of targets at vertices
	seen            []int32 // the number of the search that found a vertex
	queue           []int32
	shares          []float64 // 1/level
	number          int32
}

// batch adds the distances from all vertices to a batch of targets, by sets or one by one, as the
// last batch by sets suggests.
func (c *closenessWorker) batch(targets []int32) {
	a := &c.alone
	if a.batches++; float64(a.pairs) < leastTogether*float64(a.arrivals) && a.batches%batchesAlone != 0 {
		c.searchEach(targets)
		return
	}
	a.arrivals, a.pairs = 0, 0
	c.search(targets)
}

// searchEach is search by one target after another.
func (c *closenessWorker) searchEach(targets []int32) {
	a := &c.alone
	if a.seen == nil {
		a.seen, a.queue, a.shares = make([]int32, c.in.N), make([]int32, c.in.N+1), make([]float64, 1)
	}
	seen, queue, ptr, idx := a.seen, a.queue, c.in.Ptr, c.in.Idx
	reached, distances, harmonic := c.reached, c.distances, c.harmonic
	for _, target := range targets {
		a.number++
		number := a.number
		seen[target], queue[0] = number, target
		at, end := 0, 1
		for level := 1; at < end; level++ {
			if level >= len(a.shares) {
				a.shares = append(a.shares, 1/float64(level))
			}
			share, next := a.shares[level], end
			for ; at < next; at++ {
				v := queue[at]
				for _, u := range idx[ptr[v]:ptr[v+1]] {
					if seen[u] == number {
						continue
					}
					seen[u], queue[end] = number, u
					end++
					reached[u]++
					distances[u] += int64(level)
					harmonic[u] += share
				}
			}
		}
	}
}
