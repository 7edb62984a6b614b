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

// Network is the routes between places. It is an interface, so that its users do not compile the
// methods of a matrix of routes.
type Network interface {
	TwoSteps() (Network, error) // the cheapest routes of two steps
	Routes() int64              // their number
}

type network struct{ a *matrix.Matrix[Route] }

// New returns a network of n places. If it were inlined, its callers would compile the methods of
// its result.
//
//go:noinline
func New(n int, from, to []int, routes []Route) (Network, error) {
	a, err := matrix.FromTuples(n, n, from, to, routes, nil)
	return network{a}, err
}

func (n network) TwoSteps() (Network, error) {
	rows, _ := n.a.Dims()
	c := matrix.New[Route](rows, rows)
	return network{c}, ops.MxM(c, cheapest(), n.a, n.a)
}

func (n network) Routes() int64 { return n.a.NVals() }

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
