package generate_test

import (
	"fmt"

	"github.com/hiveblas/hiveblas/generate"
)

func ExampleGrid() {
	g, err := generate.Grid(2, 3)
	if err != nil {
		panic(err)
	}
	a, err := generate.Matrix[bool](g, generate.Undirected())
	if err != nil {
		panic(err)
	}
	n, _ := a.Dims()
	fmt.Println(n, "vertices,", g.Edges(), "edges,", a.NVals(), "entries")
	// Output: 6 vertices, 7 edges, 14 entries
}

func ExampleGraph_Draw() {
	g, err := generate.RMAT(30, 1<<40, generate.RMATOptions{Seed: 1})
	if err != nil {
		panic(err)
	}
	src, dst := make([]int32, 2), make([]int32, 2)
	if err := g.Draw(1<<39, src, dst); err != nil { // without the edges before
		panic(err)
	}
	fmt.Println(len(src), len(dst))
	// Output: 2 2
}
