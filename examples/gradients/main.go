// Gradients solves the heat equation on a plate by conjugate gradients (Hestenes and Stiefel, 1952)
// over hiveblas, beside a dense factorisation by gonum.
//
//	go run ./examples/gradients
package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

func main() {
	if err := run(os.Stdout, 40); err != nil {
		fmt.Fprintln(os.Stderr, "gradients:", err)
		os.Exit(1)
	}
}

// plate returns the five-point Laplacian of side×side points, cold at the rim: symmetric and
// positive definite.
func plate(side int) (*matrix.Matrix[float64], error) {
	b := matrix.NewBuilder[float64](side*side, side*side)
	for y := range side {
		for x := range side {
			p := y*side + x
			b.Add(p, p, 4)
			for _, d := range [][2]int{{-1, 0}, {1, 0}, {0, -1}, {0, 1}} {
				if v, u := y+d[0], x+d[1]; v >= 0 && v < side && u >= 0 && u < side {
					b.Add(p, v*side+u, -1)
				}
			}
		}
	}
	return b.Build(nil)
}

var errSteps = errors.New("conjugate gradients do not converge; is the matrix positive definite?")

// solve returns x with A·x = b to a relative residual, and the number of steps.
func solve(a *matrix.Matrix[float64], b *matrix.Vector[float64], tolerance float64) (*matrix.Vector[float64], int, error) {
	n := b.Size()
	plus, times, arithmetic := semiring.Plus[float64](), semiring.Times[float64](), semiring.PlusTimes[float64]()
	var s ops.Steps
	dot := func(x, y *matrix.Vector[float64]) float64 {
		d, err := ops.Inner(arithmetic, x, y)
		s.Do(err)
		return d
	}
	x, err := matrix.NewFullVector(n, 0.0)
	s.Do(err)
	r, p, q := b.Clone(), b.Clone(), matrix.NewVector[float64](n)
	rho := dot(r, r)
	least := tolerance * tolerance * rho
	for step := 0; s.OK(); step++ {
		if rho <= least {
			return x, step, nil
		}
		if step == n {
			return nil, step, errSteps
		}
		s.Do(ops.MxV(q, arithmetic, a, p))
		alpha := rho / dot(p, q)
		s.Do(ops.ApplyFirst(x.Accum(plus), times, alpha, p)) // x += αp
		s.Do(ops.ApplyFirst(r.Accum(plus), times, -alpha, q))
		before := rho
		rho = dot(r, r)
		s.Do(ops.ApplyFirst(p, times, rho/before, p)) // p = r + βp
		s.Do(ops.EWiseAdd(p, plus, p, r))
	}
	return nil, 0, s.Err()
}

// run heats every point of a plate alike and writes the temperature of the middle.
func run(out io.Writer, side int) error {
	a, err := plate(side)
	if err != nil {
		return err
	}
	heat, err := matrix.NewFullVector(side*side, 1.0)
	if err != nil {
		return err
	}
	start := time.Now()
	x, steps, err := solve(a, heat, 1e-12)
	if err != nil {
		return err
	}
	sparse := time.Since(start)
	full, err := a.Dense(0)
	if err != nil {
		return err
	}
	right, err := heat.Dense(0)
	if err != nil {
		return err
	}
	start = time.Now()
	var factors mat.Cholesky
	if !factors.Factorize(mat.NewSymDense(side*side, full)) {
		return errors.New("gonum finds no Cholesky factors")
	}
	var y mat.VecDense
	if err := factors.SolveVecTo(&y, mat.NewVecDense(side*side, right)); err != nil {
		return err
	}
	difference := 0.0
	for p, t := range x.All() {
		difference = max(difference, math.Abs(t-y.AtVec(p)))
	}
	middle, _ := x.At(side/2*side + side/2)
	fmt.Fprintf(out, "middle %.4f after %d steps, %.1e from gonum's\n", middle, steps, difference)
	fmt.Fprintf(out, "hiveblas %v, gonum %v\n", sparse.Round(time.Microsecond), time.Since(start).Round(time.Microsecond))
	return nil
}
