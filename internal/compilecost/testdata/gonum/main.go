// Command gonum squares a dense matrix of gonum.
package main

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
)

const edit = 0

func main() {
	a := mat.NewDense(3, 3, []float64{0, 1, 0, 0, 0, 2, 3, 0, 0})
	var c mat.Dense
	c.Mul(a, a)
	fmt.Println(c.At(0, 2), edit)
}
