// Command tuples makes a matrix of three entries and counts them.
package main

import (
	"fmt"
	"log"

	"github.com/hiveblas/hiveblas/matrix"
)

const edit = 0

func main() {
	a, err := matrix.FromTuples(3, 3, []int{0, 1, 2}, []int{1, 2, 0}, []float64{1, 2, 3}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.NVals(), edit)
}
