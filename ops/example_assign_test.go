package ops_test

import (
	"fmt"
	"math"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// Row 1 becomes a vector, and column 0 is added to.
func ExampleAssignRow() {
	c, err := matrix.FromDense(2, 3, []float64{1, 2, 3, 4, 5, 6})
	if err != nil {
		panic(err)
	}
	row, _ := matrix.VectorOf([]float64{7, 8, 9})
	column, _ := matrix.VectorOf([]float64{100, 200})
	var s ops.Steps
	s.Do(ops.AssignRow(c, row, 1, ops.All()))
	s.Do(ops.AssignColumn(c.Accum(semiring.Plus[float64]()), column, ops.All(), 0))
	values, err := c.Dense(0)
	fmt.Println(values, s.Err(), err)
	// Output: [101 2 3 207 8 9] <nil> <nil>
}

// The mask has the shape of the region, here of rows 1 and 2: the two entries that it excludes
// stay, and so does row 0.
func ExampleMaskOfRegion() {
	c, err := matrix.FromDense(3, 2, []float64{1, 2, 3, 4, 5, 6})
	if err != nil {
		panic(err)
	}
	mask, _ := matrix.FromTuples(2, 2, []int{0, 1}, []int{0, 1}, []bool{true, true}, nil)
	err = ops.AssignScalar(c.Masked(mask), 0, ops.Of(1, 2), ops.All(), ops.MaskOfRegion())
	values, _ := c.Dense(-1)
	fmt.Println(values, err)
	// Output: [1 2 0 4 5 0] <nil>
}

// hop is a path of two edges: its length, and the vertex between them.
type hop struct {
	Length float32
	Via    int32
}

// The shortest paths of two edges, and the vertex that each goes through: an index-binary operator
// reads the summation index beside both values. Its CUDA form makes it run on a GPU too.
func Example_indexBinary() {
	roads, err := matrix.FromTuples(4, 4, []int{0, 0, 1, 2}, []int{1, 2, 3, 3}, []float32{5, 2, 1, 9}, nil)
	if err != nil {
		panic(err)
	}
	via := semiring.NewIndexBinary("via", func(x, y float32, _, k, _ int) hop { return hop{x + y, int32(k)} },
		"C{x + y, k}")
	shorter := semiring.NewBinary("shorter", func(x, y hop) hop {
		if y.Length < x.Length || y.Length == x.Length && y.Via < x.Via {
			return y
		}
		return x
	}, "y.Length < x.Length || y.Length == x.Length && y.Via < x.Via ? y : x")
	best := semiring.New(semiring.NewMonoid(shorter, hop{float32(math.Inf(1)), math.MaxInt32}), via)
	two := matrix.New[hop](4, 4)
	if err := ops.MxM(two, best, roads, roads); err != nil {
		panic(err)
	}
	for at, h := range two.All() {
		fmt.Printf("%d to %d: %v by %d\n", at.Row, at.Col, h.Length, h.Via)
	}
	// Output: 0 to 3: 6 by 1
}

// Conjugate gradients (Hestenes and Stiefel, 1952) solve A·x = b for a symmetric positive definite
// matrix, here the second difference on a line, with a product and a few sums a step.
func Example_conjugateGradients() {
	const n = 50
	b := matrix.NewBuilder[float64](n, n)
	for i := range n {
		b.Add(i, i, 2)
		if i > 0 {
			b.Add(i, i-1, -1)
			b.Add(i-1, i, -1)
		}
	}
	a, err := b.Build(nil)
	if err != nil {
		panic(err)
	}
	plus, times, arithmetic := semiring.Plus[float64](), semiring.Times[float64](), semiring.PlusTimes[float64]()
	var s ops.Steps
	axpy := func(y *matrix.Vector[float64], alpha float64, x *matrix.Vector[float64]) { // y += αx
		s.Do(ops.ApplyFirst(y.Accum(plus), times, alpha, x))
	}
	dot := func(x, y *matrix.Vector[float64]) float64 {
		d, err := ops.Inner(arithmetic, x, y)
		s.Do(err)
		return d
	}
	rhs, _ := matrix.NewFullVector(n, 1.0)
	x, _ := matrix.NewFullVector(n, 0.0)
	r, p, q := rhs.Clone(), rhs.Clone(), matrix.NewVector[float64](n)
	steps, rho := 0, dot(r, r)
	for ; s.OK() && rho > 1e-20 && steps < 1000; steps++ {
		s.Do(ops.MxV(q, arithmetic, a, p))
		alpha := rho / dot(p, q)
		axpy(x, alpha, p)
		axpy(r, -alpha, q)
		old := rho
		rho = dot(r, r)
		s.Do(ops.ApplyFirst(p, times, rho/old, p))
		axpy(p, 1, r)
	}
	if s.Err() != nil {
		panic(s.Err())
	}
	middle, _ := x.At(24) // i·(n+1−i)/2 with i = 25
	fmt.Printf("%d steps, x(24) = %.6f\n", steps, middle)
	// Output: 25 steps, x(24) = 325.000000
}
