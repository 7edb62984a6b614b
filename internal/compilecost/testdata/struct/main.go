// Command struct multiplies over a semiring of structs.
package main

import (
	"fmt"
	"log"
	"math"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

const edit = 0

type route struct {
	Time  float32
	Tolls int32
}

func cheapest() semiring.Semiring[route, route, route] {
	better := semiring.NewBinary("better", func(x, y route) route {
		if y.Time < x.Time || y.Time == x.Time && y.Tolls < x.Tolls {
			return y
		}
		return x
	}, "")
	then := semiring.NewBinary("then", func(x, y route) route {
		return route{x.Time + y.Time, x.Tolls + y.Tolls}
	}, "")
	none := route{float32(math.Inf(1)), math.MaxInt32}
	return semiring.New(semiring.NewMonoid(better, none), then)
}

func main() {
	a, err := matrix.FromTuples(3, 3, []int{0, 1, 2}, []int{1, 2, 0}, []route{{1, 0}, {2, 1}, {3, 2}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	c := matrix.New[route](3, 3)
	if err := ops.MxM(c, cheapest(), a, a); err != nil {
		log.Fatal(err)
	}
	fmt.Println(c.NVals(), edit)
}
