package cusparse

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// TestBuildOn makes matrices of tuples in any order, with duplicates combined by an operator that
// shows their order.
func TestBuildOn(t *testing.T) {
	d, _ := emulated(t)
	for _, dims := range [][3]int{{1, 1, 3}, {50, 40, 3000}, {1<<31 - 1, 1<<31 - 1, 200}, {5000, 3, 100}, {7, 7, 0}} {
		r := rand.New(rand.NewPCG(uint64(dims[2]), 2))
		host, there := matrix.NewBuilder[int32](dims[0], dims[1]), matrix.NewBuilder[int32](dims[0], dims[1])
		for p := range dims[2] {
			i, j := r.IntN(dims[0]), r.IntN(dims[1])
			host.Add(i, j, int32(p))
			there.Add(i, j, int32(p))
		}
		want := sure.Get(host.Build(semiring.Minus[int32]()))
		got, err := there.BuildOn(d, semiring.Minus[int32]())
		if err != nil {
			t.Fatal(err)
		}
		if got.Place() != matrix.Place(d) || !got.Equal(want) {
			t.Errorf("%d tuples of %d×%d differ from the host's", dims[2], dims[0], dims[1])
		}
	}
}

// TestBuildOnErrors: duplicates without an operator, and one without text.
func TestBuildOnErrors(t *testing.T) {
	d, _ := emulated(t)
	b := matrix.NewBuilder[float64](4, 4)
	b.Add(2, 3, 1)
	b.Add(0, 0, 1)
	if _, err := b.BuildOn(d, matrix.CombineFunc[float64](func(x, y float64) float64 { return x })); !errors.Is(err, matrix.ErrInvalid) {
		t.Errorf("a plain function: error %v, want ErrInvalid", err)
	}
	b.Add(2, 3, 5)
	var dup *matrix.DuplicateError
	if _, err := b.BuildOn(d, nil); !errors.As(err, &dup) || dup.Row != 2 || dup.Col != 3 {
		t.Errorf("error %v, want a *DuplicateError at (2, 3)", err)
	}
}
