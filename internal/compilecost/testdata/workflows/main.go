// Command workflows calls five workflows on one graph.
package main

import (
	"fmt"
	"log"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

const edit = 0

func main() {
	a, err := matrix.FromTuples(4, 4, []int{0, 1, 1, 2, 2, 3}, []int{1, 0, 2, 1, 3, 2}, []float64{1, 1, 2, 2, 3, 3}, nil)
	if err != nil {
		log.Fatal(err)
	}
	var s ops.Steps
	levels, err := apps.BFS(a, 0)
	s.Do(err)
	ranks, err := apps.PageRank(a)
	s.Do(err)
	parts, err := apps.ConnectedComponents(a)
	s.Do(err)
	distances, err := apps.SSSP(a, []int{0})
	s.Do(err)
	communities, err := apps.Communities(a)
	s.Do(err)
	if !s.OK() {
		log.Fatal(s.Err())
	}
	far, _ := distances.At(3)
	fmt.Println(levels.MaxLevel, ranks.Converged, parts.Count, far, communities.Count, edit)
}
