// Denoise removes noise from a map of measurements on a grid: the fused lasso finds values that are
// constant on regions, and its borders.
//
//	go run ./examples/denoise
package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/generate"
	"github.com/hiveblas/hiveblas/matrix"
)

func main() {
	if err := run(os.Stdout, 40, 0.3, 0.5); err != nil {
		fmt.Fprintln(os.Stderr, "denoise:", err)
		os.Exit(1)
	}
}

// truth is the map: a field of 0 with a square of 3 and a square of −2.
func truth(y, x, side int) float64 {
	in := func(lo, hi int) bool { return lo <= y && y < hi && lo <= x && x < hi }
	switch {
	case in(side/8, side/2):
		return 3
	case in(5*side/8, 7*side/8):
		return -2
	}
	return 0
}

// run measures the map with noise of a standard deviation, denoises it, and writes the errors.
func run(out io.Writer, side int, noise, lambda float64) error {
	r := rand.New(rand.NewPCG(8, 9))
	measured := make([]float64, side*side)
	for p := range measured {
		measured[p] = truth(p/side, p%side, side) + noise*r.NormFloat64()
	}
	y, err := matrix.VectorOf(measured)
	if err != nil {
		return err
	}
	grid, err := generate.Grid(side, side)
	if err != nil {
		return err
	}
	g, err := generate.Matrix[float64](grid)
	if err != nil {
		return err
	}
	res, err := apps.FusedLasso(g, y, apps.FusedLassoOptions{Lambda1: lambda})
	if err != nil {
		return err
	}
	rms := func(v []float64) float64 {
		sum := 0.0
		for p, x := range v {
			sum += math.Pow(x-truth(p/side, p%side, side), 2)
		}
		return math.Sqrt(sum / float64(len(v)))
	}
	denoised, err := res.B.Dense(0)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "error %.3f measured, %.3f denoised, %d regions\n", rms(measured), rms(denoised), res.Regions)
	shades := []rune(" .:-=+*#%@")
	for p, x := range denoised {
		fmt.Fprintf(out, "%c", shades[max(0, min(9, int((x+2)*2)))])
		if p%side == side-1 {
			fmt.Fprintln(out)
		}
	}
	return nil
}
