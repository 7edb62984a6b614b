// Command jbsparse squares a sparse matrix of james-bowman/sparse.
package main

import (
	"fmt"

	"github.com/james-bowman/sparse"
)

const edit = 0

func main() {
	a := sparse.NewCOO(3, 3, []int{0, 1, 2}, []int{1, 2, 0}, []float64{1, 2, 3}).ToCSR()
	var c sparse.CSR
	c.Mul(a, a)
	fmt.Println(c.NNZ(), edit)
}
