package cusparse

import (
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// loopBFS is the breadth-first search of the README, as a recorded loop.
func loopBFS(a *matrix.Matrix[bool], at matrix.Place, source int, opts ...ops.Option) (*matrix.Vector[int32], error) {
	n, _ := a.Dims()
	here := matrix.On(at)
	level := matrix.NewVector[int32](n, here)
	depth := matrix.ScalarOf[int32](0, here)
	frontier := matrix.NewVector[bool](n, here)
	var s ops.Steps
	s.Do(frontier.Set(source, true))
	for in := range s.While(frontier, opts...) {
		s.Do(ops.AssignVectorFrom(level.Masked(frontier.Structure()), depth, ops.All(), in))
		s.Do(ops.VxM(frontier.Masked(level.Structure().Not()).Replace(), semiring.AnyPair[bool](), frontier.Pattern(), a.Pattern(), in))
		s.Do(ops.ApplySecond(depth, semiring.Plus[int32](), depth, 1, in))
	}
	return level, s.Err()
}

func ring(t *testing.T, n int, more ...[2]int) *matrix.Matrix[bool] {
	var r, c []int
	var v []bool
	for i := range n {
		r, c, v = append(r, i), append(c, (i+1)%n), append(v, true)
	}
	for _, e := range more {
		r, c, v = append(r, e[0]), append(c, e[1]), append(v, true)
	}
	a, err := matrix.FromTuples(n, n, r, c, v, nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestLoopBFS(t *testing.T) {
	d, _ := emulated(t)
	a := ring(t, 40, [2]int{0, 20}, [2]int{3, 30}, [2]int{3, 31})
	want, err := loopBFS(a, nil, 2)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	got, err := loopBFS(a, d, 2, ops.Explain(func(s string) { said = append(said, s) }))
	if err != nil {
		t.Fatal(err)
	}
	if len(said) != 1 || !strings.HasPrefix(said[0], "while ") {
		t.Errorf("the loop says %q, want its list", said)
	}
	if !got.Equal(want) {
		t.Errorf("levels\n%v\nwant\n%v", got, want)
	}
}
