package model

// Graph is the pull form of a graph: row v of the CSR lists the vertices that vertex v reads, its
// in-neighbours.
type Graph struct {
	Ptr []int64
	Idx []int32
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
