package apps

import (
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/paths"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

type metre float64

func (m metre) String() string { return fmt.Sprintf("%g m", float64(m)) }

type steps int16

// namedDistances searches a path of three vertices with weights of a type that a user has named.
func namedDistances[T semiring.Number](t *testing.T) {
	t.Helper()
	a := sure.Get(matrix.FromTuples(3, 3, []int{0, 1}, []int{1, 2}, []T{2, 3}, nil))
	d, err := paths.SSSP(a, []int{0}, paths.SSSPOptions[T]{Delta: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := maps.Collect(d.All()), map[int]T{0: 0, 1: 2, 2: 5}; !maps.Equal(got, want) {
		t.Errorf("%T: distances %v, want %v", want[0], got, want)
	}
}

// TestNamedTypes: workflows take every number type, and results and messages have its name.
func TestNamedTypes(t *testing.T) {
	namedDistances[metre](t)
	namedDistances[steps](t)
	namedDistances[int](t)
	namedDistances[uint](t)
	namedDistances[uintptr](t)
	a := sure.Get(matrix.FromTuples(2, 2, []int{0}, []int{1}, []metre{-2}, nil))
	var w *workflow.WeightError
	if _, err := paths.SSSP(a, []int{0}); !errors.As(err, &w) || w.Got != "-2 m" {
		t.Errorf("a negative weight: %v, want a *WeightError about -2 m", err)
	}
}
