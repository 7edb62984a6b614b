package main

import (
	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/matrix"
)

// The numbers of entries from which --device auto uses a GPU. Below them the host
// is faster than opening a GPU and copying the graph, which take about half a
// second. They follow from the time per entry on two cores: 2 ns for bfs, 20 for
// cc, 35 for pagerank and shortest paths, 100 for tc, 300 for ktruss, and 1.5 ns
// per product for project.
const (
	thresholdBFS      = 256 << 20
	thresholdCC       = 24 << 20
	thresholdPaths    = 16 << 20
	thresholdPageRank = 16 << 20
	thresholdTC       = 4 << 20
	thresholdKTruss   = 2 << 20
	thresholdProject  = 256 << 20 // products rather than entries
	thresholdSGM      = 128 << 10
	thresholdLGC      = 64 << 20  // an estimate: the work depends on the result
	thresholdGeo      = 4 << 20   // an estimate: the work depends on the iterations of the medians
	thresholdSAGE     = 4 << 20   // an estimate: the work depends on the features
	thresholdLouvain  = 8 << 20   // 100 ns each
	thresholdAC       = 4 << 20   // messages of all rounds, about 25 ns each
	thresholdLasso    = 128 << 10 // about 4 µs an entry, of planar graphs
	thresholdSolve    = 8 << 20   // an estimate: about 2 ns an entry in each of some hundred iterations
	thresholdSearch   = 16 << 20  // steps rather than entries, about 30 ns each
	noThreshold       = 1<<63 - 1 // only with --device gpu
)

// products returns the number of multiplications of a projection: the sum of the
// squared lengths of the rows of A, or onto rows of its columns.
func products(a *matrix.Matrix[float64], onto apps.Side) (sum int64) {
	m, n := a.Dims()
	length := make([]int64, max(m, n))
	for c := range a.All() {
		if onto == apps.OntoRows {
			c.Row = c.Col
		}
		length[c.Row]++
	}
	for _, l := range length {
		sum += l * l
	}
	return sum
}
