package auction

import (
	"errors"
	"math"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// Problems and options that nobody filled in give errors, not panics.
func TestZeroValues(t *testing.T) {
	var none *Problem
	for _, c := range []struct {
		reason string
		p      *Problem
	}{
		{"a nil problem", nil},
		{"a zero problem", new(Problem)},
		{"nil costs", Dense[float64](nil)},
		{"nil implicit costs", Implicit[float64](nil, 1)},
		{"a nil gonum matrix", DenseMat(nil)},
		{"a nil *mat.Dense", DenseMat((*mat.Dense)(nil))},
		{"offsets of a nil problem", none.WithOffsets([]float64{1}, nil)},
	} {
		t.Run(c.reason, func(t *testing.T) {
			if _, err := Solve(c.p); !errors.Is(err, ErrParameter) {
				t.Errorf("Solve: %v, want a ParameterError", err)
			}
			if _, err := JonkerVolgenant(c.p); !errors.Is(err, ErrParameter) {
				t.Errorf("JonkerVolgenant: %v, want a ParameterError", err)
			}
			if _, err := SolveBatch([]*Problem{c.p}); !errors.Is(err, ErrParameter) {
				t.Errorf("SolveBatch: %v, want a ParameterError", err)
			}
		})
	}
	if m, n := none.Dims(); m != 0 || n != 0 {
		t.Errorf("a nil problem has %d rows and %d columns", m, n)
	}
	if _, err := Solve(new(Problem).WithOffsets([]float64{1}, nil)); err == nil {
		t.Error("offsets of a zero problem are accepted")
	}
	if out, err := SolveBatch(nil); err != nil || len(out) != 0 {
		t.Errorf("no problems: %v, %v", out, err)
	}
	if res, err := Solve(Dense[float64](matrix.New[float64](0, 0))); err != nil || len(res.Row) != 0 {
		t.Errorf("an empty problem: %v, %v", res, err)
	}
}

// Options are optional, and more than one value is an error.
func TestOptionsOnce(t *testing.T) {
	a := sure.Get(matrix.FromDense(2, 2, []float64{1, 2, 4, 3}))
	p := Dense[float64](a)
	if res, err := Solve(p); err != nil || res.Value != 4 {
		t.Errorf("without options: %v, %v, want the value 4", res, err)
	}
	if res, err := Solve(p, Options{Maximize: true}); err != nil || res.Value != 6 {
		t.Errorf("maximising: %v, %v, want the value 6", res, err)
	}
	two := []Options{{}, {}}
	_, e1 := Solve(p, two...)
	_, e2 := JonkerVolgenant(p, two...)
	_, e3 := SolveBatch([]*Problem{p}, two...)
	for _, err := range []error{e1, e2, e3} {
		if !errors.Is(err, ErrParameter) {
			t.Errorf("two values of Options: %v, want a ParameterError", err)
		}
	}
}

// A problem with too few pairs is refused in memory for its pairs, whatever its dimensions.
func TestScarce(t *testing.T) {
	const huge = 1 << 30
	some := sure.Get(matrix.FromTuples(huge, huge, []int{0, 1, 3}, []int{5, 0, 1}, []float64{1, 2, math.Inf(1)}, nil))
	wide := sure.Get(matrix.FromTuples(2, huge, []int{1, 1}, []int{5, 6}, []float64{1, math.Inf(1)}, nil))
	for _, c := range []struct {
		reason  string
		p       *Problem
		row     int32 // the witness
		columns bool
	}{
		{"no entry", Dense[float64](matrix.New[float64](huge, huge)), 0, false},
		{"three entries", Sparse[float64](some), 2, false},
		{"three entries, transposed", Sparse[float64](some.T()), 1, false},
		{"a wide matrix", Sparse[float64](wide), 0, false},
		{"a tall matrix", Sparse[float64](wide.T()), 0, true},
	} {
		t.Run(c.reason, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := Solve(c.p)
			runtime.ReadMemStats(&after)
			e := new(*InfeasibleError)
			if !errors.As(err, e) {
				t.Fatalf("the error is %v, want an InfeasibleError", err)
			}
			set := (*e).Rows
			if c.columns {
				set = (*e).Cols
			}
			if len(set) != 1 || set[0] != c.row || (*e).Have != 0 {
				t.Errorf("the witness is %+v, want %d alone", **e, c.row)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 1<<20 {
				t.Errorf("%d bytes were allocated", took)
			}
		})
	}
}
