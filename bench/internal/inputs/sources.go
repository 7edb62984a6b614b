package inputs

import (
	"github.com/hiveblas/hiveblas/bench/gen"
)

func SourcesOf(g *gen.Graph, n int) []int {
	var list []int
	for k := uint64(0); len(list) < n; k++ {
		if v := int(gen.Hash(k, 11) % uint64(g.NRows)); len(g.Row(v)) > 0 {
			list = append(list, v)
		}
	}
	return list
}

// SSSPDelta is the bucket width of the peer, a usual one for weights of 1…255. Neither
// it nor ours was tuned.
const SSSPDelta = "32"
