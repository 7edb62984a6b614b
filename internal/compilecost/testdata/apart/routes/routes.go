// Package routes has the matrices of routes; no other package of the program names their type.
package routes

import (
	"math"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// Route is a way between two places.
type Route struct {
	Time  float32
	Tolls int32
}

// Network is the routes between places.
type Network struct{ a *matrix.Matrix[Route] }

// New returns a network of n places.
func New(n int, from, to []int, routes []Route) (*Network, error) {
	a, err := matrix.FromTuples(n, n, from, to, routes, nil)
	return &Network{a}, err
}

// TwoSteps returns the cheapest routes of two steps.
func (n *Network) TwoSteps() (*Network, error) {
	rows, _ := n.a.Dims()
	c := matrix.New[Route](rows, rows)
	return &Network{c}, ops.MxM(c, cheapest(), n.a, n.a)
}

// Routes returns the number of routes.
func (n *Network) Routes() int64 { return n.a.NVals() }

func cheapest() semiring.Semiring[Route, Route, Route] {
	better := semiring.NewBinary("better", func(x, y Route) Route {
		if y.Time < x.Time || y.Time == x.Time && y.Tolls < x.Tolls {
			return y
		}
		return x
	}, "")
	then := semiring.NewBinary("then", func(x, y Route) Route {
		return Route{x.Time + y.Time, x.Tolls + y.Tolls}
	}, "")
	none := Route{float32(math.Inf(1)), math.MaxInt32}
	return semiring.New(semiring.NewMonoid(better, none), then)
}
