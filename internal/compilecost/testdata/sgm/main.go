// Command sgm matches the vertices of two graphs.
package main

import (
	"fmt"
	"log"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/matrix"
)

const edit = 0

func main() {
	a, err := matrix.FromTuples(3, 3, []int{0, 1, 2}, []int{1, 2, 0}, []float64{1, 2, 3}, nil)
	if err != nil {
		log.Fatal(err)
	}
	res, err := apps.SGM(a, a, []apps.SeedPair{{A: 0, B: 0}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(res.Match, edit)
}
