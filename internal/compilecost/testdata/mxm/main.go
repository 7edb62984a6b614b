// Command mxm squares a sparse matrix.
package main

import (
	"fmt"
	"log"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

const edit = 0

func main() {
	a, err := matrix.FromTuples(3, 3, []int{0, 1, 2}, []int{1, 2, 0}, []float64{1, 2, 3}, nil)
	if err != nil {
		log.Fatal(err)
	}
	c := matrix.New[float64](3, 3)
	if err := ops.MxM(c, semiring.PlusTimes[float64](), a, a); err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.NVals(), edit)
}
