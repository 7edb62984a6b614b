// Gradients solves the heat equation on a plate by conjugate gradients of package solve, with and
// without incomplete factors, beside a dense factorisation by gonum.
//
//	go run ./examples/gradients
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/matrix/gonummat"
	"github.com/hiveblas/hiveblas/solve"
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
	plain, err := solve.CG(a, heat, solve.Options[float64]{Tolerance: 1e-12})
	if err != nil {
		return err
	}
	sparse := time.Since(start)
	factors, err := solve.IncompleteCholesky(a)
	if err != nil {
		return err
	}
	fewer, err := solve.CG(a, heat, solve.Options[float64]{Tolerance: 1e-12, Preconditioner: factors})
	if err != nil {
		return err
	}
	dense, err := gonummat.ToDense(a)
	if err != nil {
		return err
	}
	right, err := gonummat.ToVecDense(heat)
	if err != nil {
		return err
	}
	x, err := gonummat.ToVecDense(plain.X) // shares the values
	if err != nil {
		return err
	}
	start = time.Now()
	var cholesky mat.Cholesky
	if !cholesky.Factorize(mat.NewSymDense(side*side, dense.RawMatrix().Data)) {
		return errors.New("gonum finds no Cholesky factors")
	}
	var y mat.VecDense
	if err := cholesky.SolveVecTo(&y, right); err != nil {
		return err
	}
	took := time.Since(start)
	y.SubVec(&y, x)
	middle := x.AtVec(side/2*side + side/2)
	fmt.Fprintf(out, "middle %.4f after %d steps, %.1e from gonum's; %d steps with IC(0)\n", middle, plain.Iterations, mat.Norm(&y, 2), fewer.Iterations)
	fmt.Fprintf(out, "hiveblas %v, gonum %v\n", sparse.Round(time.Microsecond), took.Round(time.Microsecond))
	return nil
}
