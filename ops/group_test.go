package ops_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/conformance"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/race"
	"github.com/hiveblas/hiveblas/matrix"
)

// TestGroupConformance runs the kit on groups of ranks of the host: other numbers of ranks for other
// generators in the quick form, all of them in the long one.
func TestGroupConformance(t *testing.T) {
	t.Parallel()
	for n, p := range []int{1, 2, 3, 4, 7} {
		t.Run(fmt.Sprint(p, " ranks"), func(t *testing.T) {
			t.Parallel()
			g, err := comm.LocalGroup(p)
			if err != nil {
				t.Fatal(err)
			}
			conformance.Run(t, onGroup{g, n})
		})
	}
}

type onGroup struct {
	g *comm.Group
	n int
}

func (b onGroup) Name() string        { return b.g.String() }
func (b onGroup) Place() matrix.Place { return b.g }
func (b onGroup) Skip(string) string  { return "" }

func (b onGroup) Budget() int {
	switch {
	case race.Enabled:
		return 1
	case longtest.Enabled():
		return math.MaxInt
	}
	return 2
}

func (b onGroup) Every() int {
	if longtest.Enabled() {
		return 1
	}
	return 5
}

func (b onGroup) First() int { return b.n }
