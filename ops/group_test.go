package ops_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/conformance"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/race"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// TestGroupConformance runs the kit on groups of ranks of the host: other numbers of ranks for
// other generators, which take turns in the long form (all of them take 200 s of processor
// time).
func TestGroupConformance(t *testing.T) {
	t.Parallel()
	for n, p := range []int{1, 2, 3, 4, 7} {
		t.Run(fmt.Sprint(p, " ranks"), func(t *testing.T) {
			t.Parallel()
			g := sure.Get(comm.LocalGroup(p))
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

func (b onGroup) Skip(name string) string {
	if strings.Contains(name, "indexed") || strings.HasPrefix(name, "Sample/") {
		return "groups refuse it; see TestGroupRefuses"
	}
	return ""
}

func (b onGroup) Budget() int {
	switch {
	case race.Enabled:
		return 1
	case longtest.Enabled():
		return math.MaxInt
	}
	return 2
}

// A thirtieth of the cases a turn: a fifth took 200 s of the long form.
func (b onGroup) Every() int {
	if longtest.Enabled() || race.Enabled {
		return 30
	}
	return 15
}

func (b onGroup) First() int {
	if longtest.Enabled() || race.Enabled {
		return (6*b.n + longtest.Turn()) % 30
	}
	return b.n
}

func TestGroupRefuses(t *testing.T) {
	g := sure.Get(comm.LocalGroup(2))
	c := matrix.New[float64](4, 4, matrix.On(g))
	at := semiring.NewIndexBinary("at", func(x, y float64, i, k, j int) float64 { return x * y * float64(k) }, "x * y * k")
	s := semiring.New(semiring.Plus[float64](), at)
	for name, err := range map[string]error{
		"Sample":       ops.Sample[float64](c, c, 1, 1),
		"index-binary": ops.MxM[float64, float64](c, s, c, c),
	} {
		if !errors.Is(err, ops.ErrPlace) {
			t.Errorf("%s on a group: %v, want ErrPlace", name, err)
		}
	}
}
