package cusparse

import (
	"testing"

	"github.com/hiveblas/hiveblas/internal/splitmix"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// bellmanFord is the search of Bellman and Ford in four operations, as a recorded loop.
func bellmanFord(a *matrix.Matrix[int32], at matrix.Place, source int, opts ...ops.Option) (*matrix.Vector[int32], error) {
	n, _ := a.Dims()
	vector := func() *matrix.Vector[int32] { return matrix.NewVector[int32](n, matrix.On(at)) }
	dist, front, reach, worse := vector(), vector(), vector(), matrix.NewVector[bool](n, matrix.On(at))
	low, same := semiring.Min[int32](), semiring.Identity[int32]()
	var s ops.Steps
	s.Do(dist.Set(source, 0))
	s.Do(front.Set(source, 0))
	for in := range s.While(front, opts...) {
		s.Do(ops.VxM(reach, semiring.MinPlus[int32](), front, a, in))
		s.Do(ops.EWiseMult(worse, semiring.Ge[int32](), reach, dist, in))
		s.Do(ops.Apply(front.Masked(worse.MaskView().Not()).Replace(), same, reach, in))
		s.Do(ops.Apply(dist.Accum(low), same, front, in))
	}
	return dist, s.Err()
}

// testLongLists searches a graph of so many vertices, with vectors of more entries than a block
// collects in shared memory, so many times.
func testLongLists(t *testing.T, d *Device, n, times int) {
	var r, c []int
	var v []int32
	for i := range n {
		for k := range 6 {
			x := splitmix.At(uint64(6*i+k), 1)
			r, c, v = append(r, i), append(c, int(x%uint64(n))), append(v, int32(x>>40%50)+1)
		}
	}
	a := sure.Get(matrix.FromTuples(n, n, r, c, v, semiring.Min[int32]()))
	want := sure.Get(bellmanFord(a, nil, 0))
	sure.Do(a.Move(d))
	for k := range times {
		got, err := bellmanFord(a, d, 0)
		if err != nil {
			t.Fatal(err)
		}
		if !got.Equal(want) {
			t.Fatalf("search %d: %d entries, want %d, or other distances", k, got.NVals(), want.NVals())
		}
	}
}

func TestLoopLongLists(t *testing.T) {
	d, _ := emulated(t)
	testLongLists(t, d, 20000, 1)
}

func TestLoopLongListsOnGPU(t *testing.T) { testLongLists(t, realDevice(t), 2_000_000, 20) }
