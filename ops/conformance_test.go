package ops_test

import (
	"math"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/internal/conformance"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/race"
)

// TestConformance compares the CPU with the oracles of every operation.
func TestConformance(t *testing.T) { conformance.Run(t, host{}) }

// TestConformanceTypes: with the build tag long the kit has cases of every type, and without it
// cases of a bool, an integer, a float and a struct.
func TestConformanceTypes(t *testing.T) {
	few := []string{"Path", "bool", "float64", "int32"}
	all := []string{"Path", "bool", "float32", "float64", "int32", "int64", "int8", "uint64", "uint8"}
	for _, c := range []struct {
		ops  []string
		also []string // names of cases of several types
	}{
		{[]string{"MxM", "MxV", "VxM"}, []string{"indexed", "mixed"}},
		{[]string{"EWiseMult", "EWiseUnion", "Kronecker", "ApplyFirst", "ApplySecond", "Apply", "ApplyIndex"}, []string{"mixed"}},
		{[]string{"EWiseAdd", "Select", "Reduce", "ReduceScalar", "Scatter", "ScatterVector", "Transpose", "Extract", "Assign"}, nil},
	} {
		want := append(c.also, few...)
		if longtest.AllTypes {
			want = append(c.also, all...)
		}
		slices.Sort(want)
		for _, op := range c.ops {
			if have := conformance.Types(op); !slices.Equal(have, want) {
				t.Errorf("the cases of %s are of the types %v, want %v", op, have, want)
			}
		}
	}
}

// host is the CPU. It runs few cases of each kind under the race detector, which takes ten times as
// long.
type host struct{ conformance.Host }

func (host) Budget() int {
	if race.Enabled {
		return 2
	}
	return math.MaxInt
}

// Every: the race detector sees a quarter of the generators a turn, because which goroutines run
// does not depend on the element type; the long form, with four times the cases of the quick one,
// half.
func (b host) Every() int {
	switch {
	case race.Enabled:
		return 4
	case longtest.Enabled():
		return 2
	}
	return 1
}

func (b host) First() int { return longtest.Turn() % b.Every() }

func (host) Parallel() bool { return true }
