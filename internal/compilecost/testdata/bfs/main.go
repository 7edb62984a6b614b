// Command bfs is the breadth-first search of the README.
package main

import (
	"fmt"
	"log"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

const edit = 0

func levels(a *matrix.Matrix[float64], source int) (*matrix.Vector[int32], error) {
	n, _ := a.Dims()
	level, frontier := matrix.NewVector[int32](n), matrix.NewVector[bool](n)
	var s ops.Steps
	s.Do(frontier.Set(source, true))
	for depth := int32(0); s.NVals(frontier) > 0; depth++ {
		s.Do(ops.AssignVectorScalar(level.Masked(frontier.Structure()), depth, ops.All()))
		s.Do(ops.VxM(frontier.Masked(level.Structure().Not()).Replace(),
			semiring.AnyPair[bool](), frontier.Pattern(), a.Pattern()))
	}
	return level, s.Err()
}

func main() {
	a, err := matrix.FromTuples(3, 3, []int{0, 1, 2}, []int{1, 2, 0}, []float64{1, 2, 3}, nil)
	if err != nil {
		log.Fatal(err)
	}
	level, err := levels(a, 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(level.NVals(), edit)
}
