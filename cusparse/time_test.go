package cusparse

import (
	"errors"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

func TestTime(t *testing.T) {
	d, _ := emulated(t)
	x := sure.Get(matrix.NewFullVector(100, 1.0))
	w := matrix.NewVector[float64](100, matrix.On(d))
	took, err := d.Time(func() error { return ops.Apply(w, semiring.Ainv[float64](), x) })
	if err != nil || took <= 0 {
		t.Errorf("%v, %v", took, err)
	}
	if v, ok := w.At(7); !ok || v != -1 {
		t.Errorf("w(7) = %v, %v", v, ok)
	}
	broken := errors.New("broken")
	if _, err := d.Time(func() error { return broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Time(func() error { t.Error("fn ran"); return nil }); !errors.Is(err, ErrClosed) {
		t.Errorf("on a closed device: %v", err)
	}
}
