package cusparse

import (
	"errors"
	"testing"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// TestAlgebraOnDevice: products of vectors, traces, grids of tiles and their parts on a device are
// those on the host, and operations that run on the host alone say so.
func TestAlgebraOnDevice(t *testing.T) {
	t.Parallel()
	d, _ := emulated(t)
	defer d.Close()
	build := func(at matrix.Place) (a, tiled *matrix.Matrix[int64], inner, trace int64, parts [2]*matrix.Matrix[int64]) {
		t.Helper()
		u, v := matrix.NewVector[int64](6, matrix.On(at)), matrix.NewVector[int64](6, matrix.On(at))
		a, tiled = matrix.New[int64](6, 6, matrix.On(at)), matrix.New[int64](12, 18, matrix.On(at))
		var s ops.Steps
		for i := range 5 {
			s.Do(u.Set(i, int64(i+2)))
			s.Do(v.Set(i+1, int64(10-i)))
		}
		ring := semiring.PlusTimes[int64]()
		s.Do(ops.Outer(a, ring, u, v))
		s.Do(ops.Tile(tiled, a, 2, 3))
		var err error
		inner, err = ops.Inner(ring, u, v)
		s.Do(err)
		trace, err = ops.DiagonalSum(semiring.Plus[int64](), a)
		s.Do(err)
		parts = [2]*matrix.Matrix[int64]{matrix.New[int64](12, 7, matrix.On(at)), matrix.New[int64](12, 11, matrix.On(at))}
		s.Do(ops.Split([][]matrix.Target[int64]{{parts[0], parts[1]}}, tiled))
		if !s.OK() {
			t.Fatal(s.Err())
		}
		return a, tiled, inner, trace, parts
	}
	a, tiled, inner, trace, parts := build(nil)
	b, tiledB, innerB, traceB, partsB := build(d)
	if b.Place() != matrix.Place(d) {
		t.Error("the result is not on the device")
	}
	if !b.Equal(a) || !tiledB.Equal(tiled) || innerB != inner || traceB != trace || !partsB[0].Equal(parts[0]) || !partsB[1].Equal(parts[1]) {
		t.Errorf("the device differs: inner %d and %d, trace %d and %d", innerB, inner, traceB, trace)
	}
	if inner != trace || inner == 0 {
		t.Errorf("u·v = %d, trace of u⊗v %d", inner, trace)
	}
	top := matrix.New[int64](6, 6, matrix.On(d))
	if err := ops.TopK(top, b, 1); !errors.Is(err, ops.ErrPlace) {
		t.Errorf("TopK to a device: %v", err)
	}
	host, want := matrix.New[int64](6, 6), matrix.New[int64](6, 6)
	if err := errors.Join(ops.TopK(host, b, 2), ops.TopK(want, a, 2)); err != nil || !host.Equal(want) || host.NVals() != 10 {
		t.Errorf("TopK from a device: %d entries, %v", host.NVals(), err)
	}
}
