package gpu

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/bench/internal/gpuside"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/bench/internal/tables"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/solve"
)

// laplacian returns the Laplacian of a symmetric graph: with diagonal, unless 0, in place of the
// degrees, as of a grid that is cold at its rim, else with 1 more than the degrees.
func laplacian(g *gen.Graph, diagonal float64) (*gen.Graph, []float64) {
	s := &gen.Graph{NRows: g.NRows, NCols: g.NCols, Ptr: make([]int64, 1, g.NRows+1)}
	var val []float64
	for i := range g.NRows {
		row := g.Row(i)
		before, _ := slices.BinarySearch(row, int32(i))
		d := diagonal
		if d == 0 {
			d = float64(len(row) + 1)
		}
		s.Idx = append(append(append(s.Idx, row[:before]...), int32(i)), row[before:]...)
		for p := range len(row) + 1 {
			if p == before {
				val = append(val, d)
			} else {
				val = append(val, -1)
			}
		}
		s.Ptr = append(s.Ptr, int64(len(s.Idx)))
	}
	return s, val
}

// lowerOf returns the lower triangle of a matrix by rows, with its diagonal.
func lowerOf(g *gen.Graph, val []float64) (*gen.Graph, []float64) {
	s := &gen.Graph{NRows: g.NRows, NCols: g.NCols, Ptr: make([]int64, 1, g.NRows+1)}
	var to []float64
	for i := range g.NRows {
		for p := g.Ptr[i]; p < g.Ptr[i+1]; p++ {
			if j := int(g.Idx[p]); j <= i {
				s.Idx, to = append(s.Idx, int32(j)), append(to, val[p])
			}
		}
		s.Ptr = append(s.Ptr, int64(len(s.Idx)))
	}
	return s, to
}

// ramp returns n right sides without structure.
func ramp(n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = math.Sin(float64(3*i + 1))
	}
	return list
}

// triangleCase is a solve with the lower triangle of a Laplacian, for one vector if columns is 0.
type triangleCase struct {
	diagonal float64
	columns  int
}

// plan measures the solve by solve.Triangle beside cuSPARSE. The preparation of both is in the
// notes.
func (c triangleCase) plan(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	whole, val := laplacian(in.Graph, c.diagonal)
	g, lower := lowerOf(whole, val)
	l, err := matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, lower)
	if err != nil {
		return nil, err
	}
	host, err := solve.NewTriangle[float64](l)
	if err != nil {
		return nil, err
	}
	if err := l.Move(b.dev); err != nil {
		return nil, err
	}
	start := time.Now()
	t, err := solve.NewTriangle[float64](l)
	took := time.Since(start)
	if err != nil {
		return nil, err
	}
	right := ramp(g.NRows * max(c.columns, 1))
	plan := &gpuPlan{bytes: func() float64 {
		return 12*float64(g.NNZ()) + float64(g.NRows)*(8+4+32*float64(max(c.columns, 1)))
	}}
	notes := []string{fmt.Sprintf("%d levels, prepared in %s ms on the host", t.Levels(), tables.Figure(took.Seconds()*1e3))}
	if c.columns == 0 {
		err = c.vector(b, plan, t, host, right)
	} else {
		err = c.matrix(b, plan, t, host, right)
	}
	if err != nil {
		return nil, err
	}
	if b.side.Lib != nil {
		peer, err := gpuside.NewTrianglePeer(b.side, g, lower, c.columns, right)
		if err != nil {
			notes = append(notes, "cuSPARSE is left out: "+err.Error())
		} else {
			plan.others, plan.close = append(plan.others, peer.Contender), peer.Close
			notes = append(notes, fmt.Sprintf("cuSPARSE analysed in %s ms on the device", tables.Figure(peer.Analysis.Seconds()*1e3)))
		}
	}
	plan.notes = func() []string { return notes }
	return plan, nil
}

// vector adds the solve for one right side.
func (c triangleCase) vector(b *gpuBench, plan *gpuPlan, t, host *solve.Triangle[float64], right []float64) error {
	r, err := vectorOn(b, right)
	if err != nil {
		return err
	}
	var x *matrix.Vector[float64]
	plan.ours = []gpuside.Contender{{Name: "hiveblas", Clock: b.dev.Time, Do: func() (err error) { x, err = t.Apply(r); return err }}}
	plan.check = func() (string, error) {
		want, err := matrix.VectorOf(slices.Clone(right))
		if err == nil {
			want, err = host.Apply(want)
		}
		if err != nil {
			return "", err
		}
		return differs(x, want, closeSolution), nil
	}
	return nil
}

// matrix adds the solve for several right sides.
func (c triangleCase) matrix(b *gpuBench, plan *gpuPlan, t, host *solve.Triangle[float64], right []float64) error {
	r, err := matrix.FromDense(len(right)/c.columns, c.columns, slices.Clone(right))
	if err != nil {
		return err
	}
	onHost := r.Clone()
	if err := r.Move(b.dev); err != nil {
		return err
	}
	var x *matrix.Matrix[float64]
	plan.ours = []gpuside.Contender{{Name: "hiveblas", Clock: b.dev.Time, Do: func() (err error) { x, err = t.ApplyMatrix(r); return err }}}
	plan.check = func() (string, error) {
		want, err := host.ApplyMatrix(onHost)
		if err != nil {
			return "", err
		}
		if !x.EqualFunc(want, closeSolution) {
			return "the solution differs from the solution of the host", nil
		}
		return "", nil
	}
	return nil
}

// closeSolution allows for sums that cancel.
func closeSolution(x, y float64) bool { return math.Abs(x-y) <= 1e-9*max(1, math.Abs(x), math.Abs(y)) }

// gpuCG is conjugate gradients with IC(0) on the device, to a relative residual of 1e-8, beside
// Jacobi and no preconditioner.
func gpuCG(diagonal float64) func(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	return func(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
		g, val := laplacian(in.Graph, diagonal)
		host, err := matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, val)
		if err != nil {
			return nil, err
		}
		a := host.Clone()
		if err := a.Move(b.dev); err != nil {
			return nil, err
		}
		right, err := vectorOn(b, ramp(g.NRows))
		if err != nil {
			return nil, err
		}
		start := time.Now()
		factors, err := solve.IncompleteCholesky[float64](a)
		if err != nil {
			return nil, err
		}
		notes := []string{fmt.Sprintf("factors made in %s ms", tables.Figure(time.Since(start).Seconds()*1e3))}
		jacobi, err := solve.Jacobi[float64](a)
		if err != nil {
			return nil, err
		}
		var res *solve.Result[float64]
		contender := func(name string, p solve.Preconditioner[float64]) gpuside.Contender {
			said := false
			return gpuside.Contender{Name: name, Once: true, Clock: gpuside.Wall, Do: func() (err error) {
				res, err = solve.CG(a, right, solve.Options[float64]{Tolerance: 1e-8, Preconditioner: p})
				if err == nil && !said {
					notes = append(notes, fmt.Sprintf("%s: %d iterations", name, res.Iterations))
					said = true
				}
				return err
			}}
		}
		notes = append(notes, hostIterations(host))
		return &gpuPlan{ours: []gpuside.Contender{contender("IC(0)", factors)},
			others: []gpuside.Contender{contender("Jacobi", jacobi), contender("no preconditioner", nil)},
			notes:  func() []string { return notes },
			check: func() (string, error) {
				if norm := math.Sqrt(float64(g.NRows) / 2); !(res.Residual <= 1.1e-8*norm) {
					return fmt.Sprintf("the residual is %v", res.Residual), nil
				}
				return "", nil
			}}, nil
	}
}

// hostIterations measures a few iterations with IC(0) on the host.
func hostIterations(a *matrix.Matrix[float64]) string {
	const few = 10
	n, _ := a.Dims()
	factors, err := solve.IncompleteCholesky[float64](a)
	if err != nil {
		return err.Error()
	}
	right, err := matrix.VectorOf(ramp(n))
	if err != nil {
		return err.Error()
	}
	start := time.Now()
	_, _ = solve.CG(a, right, solve.Options[float64]{Tolerance: 1e-300, MaxIterations: few, Preconditioner: factors}) // reaches the limit
	return fmt.Sprintf("an iteration on the host takes %s ms", tables.Figure(time.Since(start).Seconds()*1e3/few))
}
