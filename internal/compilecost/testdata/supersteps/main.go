// Command supersteps runs a graph program over states of a struct.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/program"
	"github.com/hiveblas/hiveblas/semiring"
)

const edit = 0

// label is the state of a vertex: the least number that it knows, and from how many edges away.
type label struct {
	Least int32
	Far   float64
}

func main() {
	g, err := matrix.FromTuples(3, 3, []int{0, 1}, []int{1, 2}, []bool{true, true}, nil)
	if err != nil {
		log.Fatal(err)
	}
	res, err := program.Run(context.Background(), g, program.Program[label, bool, int32]{
		Init: program.Init(func(v program.Vertex) label { return label{v.ID, 0} }, "{id, 0}"),
		Send: program.Send(func(_ program.Vertex, l label) int32 { return l.Least }, "state.Least"),
		Sum:  semiring.Min[int32](),
		Apply: program.Apply(func(v program.Vertex, l label, least int32) (label, bool) {
			if least < l.Least {
				return label{least, float64(v.Superstep + 1)}, true
			}
			return l, false
		}, "active = sum < state.Least; if (active) { state.Least = sum; state.Far = superstep + 1; }"),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Supersteps, edit)
}
