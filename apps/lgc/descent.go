package lgc

import (
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"math"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// An lgcField is a vector over the vertices, or a matrix with one for each of
// many queries in its rows.
type lgcField interface {
	matrix.Operand[float64]
	matrix.Destination[float64]
	NVals() int64
	Err() error
}

// descent is the state of LocalCluster, in units that need no scaling: start and g as shares of ρα,
// x as one of λρα, with λ the length of a step.
type descent struct {
	o      LocalClusterOptions
	with   ops.Option
	field  func() lgcField                        // an empty one
	change func(delta lgcField) (lgcField, error) // of g: own·Δ + sent·D⁻¹AΔ
	degree matrix.Operand[float64]                // of each vertex, in each row
	start  lgcField                               // D⁻¹s/ρ
	x, g   lgcField
	step   func() (done bool, err error)
	// widen returns steps over full vectors where these cost less than moving the
	// entries of delta. A nil widen, or nil from it, keeps the present steps.
	widen func(delta lgcField) (step func() (done bool, err error), err error)
	// settle removes queries without an entry in moving and returns moving without
	// them; nil keeps all.
	settle func(moving lgcField) (lgcField, error)
}

// length is λ.
func (o LocalClusterOptions) length() float64 {
	if o.Method == ClusterPush {
		return 2 / (1 + o.Alpha)
	}
	return 1
}

// unit is the unit of x.
func (o LocalClusterOptions) unit() float64 { return o.length() * o.Rho * o.Alpha }

// own and sent are the terms of change.
func (o LocalClusterOptions) own() float64 { return -o.length() * (1 + o.Alpha) / 2 }

func (o LocalClusterOptions) sent() float64 { return o.length() * (1 - o.Alpha) / 2 }

// momentum is the momentum of accelerated.
func (o LocalClusterOptions) momentum() float64 {
	return (1 - math.Sqrt(o.Alpha)) / (1 + math.Sqrt(o.Alpha))
}

// run approaches the minimum from x = 0, where g equals start.
func (l *descent) run() (iterations int, converged bool, err error) {
	l.x, l.g = l.field(), l.field()
	if err := ops.Apply(l.g, semiring.Identity[float64](), l.start, l.with); err != nil {
		return 0, false, err
	}
	if l.step = l.monotone(); l.o.Method == ClusterFISTA {
		l.step = l.accelerated()
	}
	for iterations < l.o.MaxIterations {
		workflow.Report(l.o.Run, "local clustering", int64(iterations), 0)
		done, err := l.step()
		if err != nil || done {
			return iterations, done, err
		}
		iterations++
	}
	return iterations, false, nil
}

// widened reports whether the steps have switched to full vectors.
func (l *descent) widened(delta lgcField) (bool, error) {
	if l.widen == nil {
		return false, nil
	}
	step, err := l.widen(delta)
	if step != nil {
		l.step = step
	}
	return step != nil, err
}

// monotone steps keep x below the minimum and so g ≥ 0, and at least ρα in the
// support: Q is an M-matrix. ISTA moves by g − ρα wherever that is positive. A push
// moves the coordinates with a residual above (1+ε)ρα so that it becomes ρα.
func (l *descent) monotone() func() (done bool, err error) {
	most, moving := semiring.ValueGT(1+l.o.Epsilon), semiring.ValueGT(1.0)
	return func() (bool, error) {
		var s ops.Steps
		over := l.field()
		s.Do(ops.Select(over, most, l.g, l.with))
		if s.NVals(over) == 0 {
			return true, s.Err()
		}
		if wide, err := l.widened(over); err != nil {
			return false, err
		} else if wide {
			return l.step()
		}
		if l.settle != nil {
			var err error
			if over, err = l.settle(over); err != nil {
				return false, err
			}
		}
		if l.o.Method == ClusterISTA {
			s.Do(ops.Select(over, moving, l.g, l.with))
		}
		s.Do(ops.ApplySecond(over, semiring.Minus[float64](), over, 1, l.with))
		s.Do(l.move(over))
		return false, s.Err()
	}
}

// move adds delta to x and updates g.
func (l *descent) move(delta lgcField) error {
	var s ops.Steps
	plus := semiring.Plus[float64]()
	s.Do(ops.EWiseAdd(l.x, plus, l.x, delta, l.with))
	change, err := l.change(delta)
	s.Do(err)
	if s.OK() {
		s.Do(ops.EWiseAdd(l.g, plus, l.g, change, l.with))
	}
	return s.Err()
}

// accelerated steps go from y = x + β(x − x₋). g is affine in x, so that at y is
// g + β(g − g₋) and takes no product of its own.
func (l *descent) accelerated() func() (done bool, err error) {
	beta := l.o.momentum()
	oldX, oldG := l.field(), l.field()
	minus, plus, times := semiring.Minus[float64](), semiring.Plus[float64](), semiring.Times[float64]()
	ahead := func(now, old lgcField) (lgcField, error) {
		y := l.field()
		var s ops.Steps
		s.Do(ops.EWiseUnion(y, minus, now, 0, old, 0, l.with))
		s.Do(ops.ApplySecond(y, times, y, beta, l.with))
		s.Do(ops.EWiseAdd(y, plus, y, now, l.with))
		return y, s.Err()
	}
	first := true
	return func() (bool, error) {
		kkt, err := l.violation()
		if err != nil || kkt <= l.o.Epsilon {
			return true, err
		}
		if first { // the first step has no predecessor
			first = false
			if err := ops.Apply(oldG, semiring.Identity[float64](), l.g, l.with); err != nil {
				return false, err
			}
		}
		y, err := ahead(l.x, oldX)
		if err != nil {
			return false, err
		}
		g, err := ahead(l.g, oldG)
		if err != nil {
			return false, err
		}
		delta, next := l.field(), l.field()
		var s ops.Steps
		s.Do(ops.EWiseAdd(y, plus, y, g, l.with))
		s.Do(ops.ApplySecond(y, shrink(), y, 1, l.with))
		s.Do(ops.Select(next, semiring.ValueNE(0.0), y, l.with))
		s.Do(ops.EWiseUnion(delta, minus, next, 0, l.x, 0, l.with))
		s.Do(ops.Select(delta, semiring.ValueNE(0.0), delta, l.with))
		if !s.OK() {
			return false, s.Err()
		}
		if wide, err := l.widened(delta); err != nil {
			return false, err
		} else if wide {
			return l.step()
		}
		change, err := l.change(delta)
		if err != nil {
			return false, err
		}
		oldX, oldG, l.x = l.x, l.g, next
		l.g = l.field()
		return false, ops.EWiseAdd(l.g, plus, oldG, change, l.with)
	}
}

// violation returns how far x and g are from the optimality conditions: g = ±1
// where x ≷ 0, and |g| ≤ 1 elsewhere.
func (l *descent) violation() (float64, error) {
	broken := l.field()
	var s ops.Steps
	s.Do(ops.EWiseUnion(broken, optimality(), l.x, 0, l.g, 0, l.with))
	worst, err := ops.ReduceScalar(semiring.Max[float64](), broken, l.with)
	s.Do(err)
	return max(worst, 0), s.Err()
}

// certify computes g anew from x, and returns the violation.
func (l *descent) certify() (float64, error) {
	change, err := l.change(l.x)
	if err != nil {
		return 0, err
	}
	l.g = l.field()
	if err := ops.EWiseAdd(l.g, semiring.Plus[float64](), l.start, change, l.with); err != nil {
		return 0, err
	}
	return l.violation()
}

// objective returns Σ d(ρα|x| − x·(αD⁻¹s + g)/2), since Qq = D^½(αD⁻¹s − g).
func (l *descent) objective() (float64, error) {
	forces, terms := l.field(), l.field()
	var s ops.Steps
	s.Do(ops.EWiseAdd(forces, semiring.Plus[float64](), l.start, l.g, l.with))
	s.Do(ops.ApplySecond(forces, semiring.Times[float64](), forces, 0.5, l.with))
	s.Do(ops.ApplyFirst(forces, semiring.Minus[float64](), 1, forces, l.with)) // x ≥ 0 at the end
	s.Do(ops.EWiseMult(terms, semiring.Times[float64](), l.x, forces, l.with))
	s.Do(ops.EWiseMult(terms, semiring.Times[float64](), terms, l.degree, l.with))
	sum, err := ops.ReduceScalar(semiring.Plus[float64](), terms, l.with)
	s.Do(err)
	return sum * l.o.unit() * l.o.Rho * l.o.Alpha, s.Err()
}

// shrink is the proximal operator of τ|x|.
func shrink() semiring.BinaryOp[float64, float64, float64] {
	return semiring.NewBinary("shrink", func(x, tau float64) float64 {
		switch {
		case x > tau:
			return x - tau
		case x < -tau:
			return x + tau
		}
		return 0
	}, "x > y ? x - y : x < -y ? x + y : 0.0")
}

// optimality is the distance of g from the condition that the sign of x sets.
func optimality() semiring.BinaryOp[float64, float64, float64] {
	return semiring.NewBinary("optimality", func(x, g float64) float64 {
		switch {
		case x > 0:
			return math.Abs(g - 1)
		case x < 0:
			return math.Abs(g + 1)
		}
		return max(math.Abs(g)-1, 0)
	}, "x > 0 ? fabs(y - 1) : x < 0 ? fabs(y + 1) : fmax(fabs(y) - 1, 0.0)")
}
