// Own runs algorithms that the library does not have, on a GPU, and on the host where there is
// none: package algorithms has them, each as one function of operations.
//
//	go run ./examples/own
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/examples/own/algorithms"
	"github.com/hiveblas/hiveblas/generate"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

func main() {
	var place matrix.Place // nil is the host
	if dev, err := cusparse.Open(0); err == nil {
		defer dev.Close()
		place = dev
	}
	if err := run(os.Stdout, place, 14); err != nil {
		fmt.Fprintln(os.Stderr, "own:", err)
		os.Exit(1)
	}
}

// run applies the algorithms to an R-MAT graph of 2^scale vertices at a place.
func run(out io.Writer, place matrix.Place, scale int) error {
	edges, err := generate.RMAT(scale, 16<<scale, generate.RMATOptions{Seed: 1})
	if err != nil {
		return err
	}
	g, err := generate.Matrix[int32](edges, generate.Undirected(), generate.Simple(), generate.On(place))
	if err != nil {
		return err
	}
	n, _ := g.Dims()
	here := matrix.On(place)
	weights, values := matrix.New[int32](n, n, here), matrix.New[float32](n, n, here)
	degree, diagonal, right := matrix.NewVector[float32](n, here), matrix.NewVector[float32](n, here), matrix.NewVector[float32](n, here)
	seeds, ones := matrix.NewVector[int64](n, here), matrix.NewVector[int64](n, here)
	var s ops.Steps
	s.Do(ops.AssignVectorScalar(ones, 1, ops.All()))

	reached, err := algorithms.Reach(g, 0, 2, 2)
	s.Do(err)
	fmt.Fprintf(out, "%d vertices within two hops\n", s.NVals(reached))

	s.Do(ops.ApplySecond(weights, semiring.Times[int32](), g, 128))
	s.Do(seeds.Set(0, algorithms.Labelled(1024, 1)))
	s.Do(seeds.Set(n-1, algorithms.Labelled(1024, 2)))
	labels, err := algorithms.Spread(weights, seeds, 256)
	s.Do(err)
	fmt.Fprintf(out, "%d vertices have a label\n", s.NVals(labels))

	// Twice the degree and one on the diagonal makes a system of the graph diagonally dominant.
	s.Do(ops.Apply(values, semiring.Convert[int32, float32](), g))
	s.Do(ops.Reduce(degree, semiring.Plus[float32](), values))
	s.Do(ops.AssignVectorScalar(right, 1, ops.All()))
	s.Do(ops.AssignVectorScalar(diagonal, 1, ops.All()))
	s.Do(ops.Apply(diagonal.Accum(semiring.Plus[float32]()), semiring.Identity[float32](), degree))
	s.Do(ops.Apply(diagonal.Accum(semiring.Plus[float32]()), semiring.Identity[float32](), degree))
	system, err := matrix.Diag(diagonal, 0)
	s.Do(err)
	if !s.OK() {
		return s.Err()
	}
	s.Do(ops.Apply(system.Accum(semiring.Plus[float32]()), semiring.Ainv[float32](), values))
	x, err := algorithms.Jacobi(system, right, 1e-4, 100)
	s.Do(err)
	largest, err := ops.ReduceScalar(semiring.Max[float32](), x)
	s.Do(err)
	fmt.Fprintf(out, "the largest solution is %.3f\n", largest)

	cluster, _, err := algorithms.KMeans(values, []int{0, 1, 2, 3}, 10)
	s.Do(err)
	size := matrix.NewVector[int64](4, here)
	s.Do(ops.ScatterVector(size, semiring.Plus[int64](), ones, ops.ValuesOf(cluster)))
	sizes, err := size.Dense(0)
	s.Do(err)
	fmt.Fprintf(out, "clusters of %v vertices\n", sizes)
	return s.Err()
}
