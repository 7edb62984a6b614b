package sampled

// TreeSize estimates the vertices of the trees of some vertices.
func TreeSize(count int, samples []int, g *Graph, layers int) float64 {
	mean := 0.0
	if g.N > 0 {
		mean = float64(len(g.Idx)) / float64(g.N)
	}
	size := float64(count)
	for k := range layers {
		s := mean
		if samples != nil {
			s = min(s, float64(samples[k]))
		}
		size *= 1 + s
	}
	return size
}
