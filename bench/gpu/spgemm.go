package gpu

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/bench/internal/gpuside"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// gpuSpGEMM is a product of sparse matrices into a fresh one, beside cuSPARSE's if peers. C·v is
// compared with A·(B·v).
type gpuSpGEMM struct {
	gram   bool // AᵀA in place of A·A
	pair   bool // plus_pair in place of plus_times fp32
	double bool // plus_times fp64
	peer   bool
}

func (k gpuSpGEMM) plan(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	if k.double {
		return productOf[float64](b, in, k, "f64")
	}
	return productOf[float32](b, in, k, "f32")
}

func productOf[T float32 | float64](b *gpuBench, in *inputs.GPU, k gpuSpGEMM, name string) (*gpuPlan, error) {
	val, err := inputs.Kept(in, name, func() ([]T, error) { return inputs.Values(in.Graph, inputs.Unit[T]), nil })
	if err != nil {
		return nil, err
	}
	a, err := inputs.Kept(in, "matrix of "+name, func() (*matrix.Matrix[T], error) { return onDevice(b, in.Graph, val) })
	if err != nil {
		return nil, err
	}
	plan := &gpuPlan{}
	if k.pair {
		left := a.Pattern()
		if k.gram {
			left = a.Pattern().T()
		}
		planProduct(b, plan, in.Graph, k.gram, nil, semiring.PlusPair[int32](), matrix.Source[bool](left), matrix.Source[bool](a.Pattern()))
	} else {
		left := a.View()
		if k.gram {
			left = a.T()
		}
		planProduct(b, plan, in.Graph, k.gram, val, semiring.PlusTimes[T](), matrix.Source[T](left), matrix.Source[T](a))
	}
	if !k.peer || b.side.Lib == nil {
		return plan, nil
	}
	left, lval := in.Graph, val
	if k.gram {
		left, lval = inputs.Flipped(in.Graph, val)
	}
	plan.others, plan.close, err = gpuside.SpgemmPeers(b.side, left, in.Graph, lval, val)
	if err != nil {
		plan.notes = also(plan.notes, "cuSPARSE is left out: "+err.Error())
	}
	return plan, nil
}

// planProduct multiplies; val is of the type of the result, or nil for ones.
func planProduct[A comparable, C int32 | float32 | float64](b *gpuBench, plan *gpuPlan, g *gen.Graph, gram bool, val []C, s semiring.Semiring[A, A, C], left, right matrix.Source[A]) {
	rows := g.NRows
	if gram {
		rows = g.NCols
	}
	c := matrix.New[C](rows, g.NCols, matrix.On(b.dev))
	var trace ops.Trace
	plan.ours = []gpuside.Contender{{Name: "hiveblas", Once: true, Clock: b.dev.Time, After: c.Clear, Method: func() string { return string(trace.Method) }, Do: func() error {
		if trace.Method == "" {
			return ops.MxM(c, s, left, right, ops.WithTrace(&trace))
		}
		return ops.MxM(c, s, left, right)
	}}}
	width := 0.0
	if val != nil {
		width = float64(unsafe.Sizeof(val[0]))
	}
	plan.bytes = func() float64 {
		return 2*float64(g.NNZ())*(4+width) + 8*float64(2*g.NRows+rows) + (4+max(width, 4))*float64(trace.NVals)
	}
	plan.notes = func() []string {
		return []string{fmt.Sprintf("%d products, %d entries in the result", trace.Work, trace.NVals)}
	}
	plan.check = func() (string, error) {
		x, xc := make([]float64, g.NCols), make([]C, g.NCols)
		for j := range x {
			x[j] = float64(1 + j%3)
			xc[j] = C(x[j])
		}
		v, err := matrix.VectorOf(xc)
		if err != nil {
			return "", err
		}
		w := matrix.NewVector[C](rows, matrix.On(b.dev))
		if err := ops.MxV(w, semiring.PlusTimes[C](), c, v); err != nil {
			return "", err
		}
		want := gpuside.Times(g, val, x)
		if gram {
			want = gpuside.TimesTransposed(g, val, want)
		} else {
			want = gpuside.Times(g, val, want)
		}
		got := sure.Get(w.Dense(0))
		for i := range want {
			if math.Abs(float64(got[i])-want[i]) > 1e-4*math.Abs(want[i]) || val == nil && float64(got[i]) != want[i] {
				return fmt.Sprintf("row %d of the product times a vector is %v, want %v", i, got[i], want[i]), nil
			}
		}
		return "", nil
	}
}

// gpuSpMM multiplies by a full matrix of so many columns, in fp32.
func gpuSpMM(columns int) func(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	return func(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
		g := in.Graph
		val := inputs.Values(g, inputs.Unit[float32])
		a, err := onDevice(b, g, val)
		if err != nil {
			return nil, err
		}
		x, err := matrix.NewFull(g.NCols, columns, float32(1))
		if err != nil {
			return nil, err
		}
		for j := range min(columns, g.NCols) { // so that columns differ
			if err := x.Set(j, j, 2); err != nil {
				return nil, err
			}
		}
		host := x.Clone()
		if err := x.Move(b.dev); err != nil {
			return nil, err
		}
		c := matrix.New[float32](g.NRows, columns, matrix.On(b.dev))
		var trace ops.Trace
		plan := &gpuPlan{bytes: func() float64 {
			return float64(g.NNZ())*8 + 8*float64(g.NRows) + 4*float64(columns)*float64(g.NRows+g.NCols)
		}}
		plan.ours = []gpuside.Contender{{Name: "hiveblas", Clock: b.dev.Time, Method: func() string { return string(trace.Method) }, Do: func() error {
			if trace.Method == "" {
				return ops.MxM(c, semiring.PlusTimes[float32](), a, x, ops.WithTrace(&trace))
			}
			return ops.MxM(c, semiring.PlusTimes[float32](), a, x)
		}}}
		plan.check = func() (string, error) {
			want := matrix.New[float32](g.NRows, columns)
			if err := ops.MxM(want, semiring.PlusTimes[float32](), a, host); err != nil {
				return "", err
			}
			if !c.EqualFunc(want, closeTo[float32]) {
				return fmt.Sprintf("%d entries, want %d, or other values", c.NVals(), want.NVals()), nil
			}
			return "", nil
		}
		if b.side.Lib == nil {
			return plan, nil
		}
		plan.others, plan.close, err = gpuside.SpmmPeers(b.side, g, val, columns)
		if err != nil {
			plan.notes = also(plan.notes, "cuSPARSE is left out: "+err.Error())
		}
		return plan, nil
	}
}
