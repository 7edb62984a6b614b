package ops_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// groupPipeline runs operations with float sums that depend on their order, and returns bits of the
// results.
func groupPipeline(t *testing.T, at matrix.Place, n, entries int) (bits []uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(7, uint64(n)))
	b := matrix.NewBuilder[float64](n, n)
	for range entries {
		b.Add(r.IntN(n)*r.IntN(n)/n, r.IntN(n), r.Float64()-.3)
	}
	a, err := b.Build(semiring.Plus[float64]())
	if err == nil {
		err = a.Move(at)
	}
	if err != nil {
		t.Fatal(err)
	}
	x := matrix.NewVector[float64](n)
	sparse := matrix.NewVector[float64](n)
	for i := range n {
		_ = x.Set(i, r.Float64())
		if i%5 == 0 {
			_ = sparse.Set(i, r.Float64())
		}
	}
	here := matrix.On(at)
	y, z, w := matrix.NewVector[float64](n, here), matrix.NewVector[float64](n, here), matrix.NewVector[float64](n, here)
	c := matrix.New[float64](n, n, here)
	pt, plus := semiring.PlusTimes[float64](), semiring.Plus[float64]()
	var s ops.Steps
	s.Do(ops.MxV(y, pt, a, x))                           // pull
	s.Do(ops.VxM(z, pt, sparse, a))                      // push, in parts
	s.Do(ops.VxM(z.Accum(plus), pt, y, a))               // push of a full vector
	s.Do(ops.Reduce(w, plus, a.T(), ops.WithThreads(1))) // by columns, in the order of one thread
	s.Do(ops.MxV(w.Accum(plus), pt, a.T(), sparse))      // the transpose exists now
	s.Do(ops.VxM(z.Masked(sparse.Structure()).Accum(plus), pt, w, a))
	s.Do(ops.MxM(c.Masked(a.Structure()), pt, a, a.T()))
	dots, rest := matrix.New[float64](n, n, here), matrix.New[float64](n, n, here)
	s.Do(ops.MxM(dots.Masked(a), pt, a, a.T(), ops.Using(ops.Dot)))
	s.Do(ops.MxM(rest.Masked(c.MaskView().Not()), pt, a, a))
	total, err := ops.ReduceScalar(plus, c)
	s.Do(err)
	sum, err := ops.ReduceScalar(plus, z)
	s.Do(err)
	inner, err := ops.Inner(pt, y, w)
	s.Do(err)
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	bits = append(bits, math.Float64bits(total), math.Float64bits(sum), math.Float64bits(inner), uint64(c.NVals()))
	for _, v := range []*matrix.Vector[float64]{y, z, w} {
		for i, x := range v.All() {
			bits = append(bits, uint64(i), math.Float64bits(x))
		}
	}
	for _, m := range []*matrix.Matrix[float64]{c, dots, rest} {
		for at, x := range m.All() {
			bits = append(bits, uint64(at.Row)<<32|uint64(at.Col), math.Float64bits(x))
		}
	}
	return bits
}

// Groups of every number of ranks give the bits of one device, floats included, and so does a
// second operand that goes round in pieces.
func TestGroupBits(t *testing.T) {
	t.Parallel()
	for _, size := range []struct{ n, entries int }{{3, 5}, {700, 90000}} {
		want := groupPipeline(t, nil, size.n, size.entries)
		for k, p := range atThreads(1, 2, 3, 4, 7) {
			if !longtest.Takes(k, 3) {
				continue
			}
			ranks := sure.Get(comm.Local(p))
			for _, limit := range []int64{0, 200000} {
				g := sure.Get(comm.NewGroup(ranks, comm.GatherLimit(limit)))
				got := groupPipeline(t, g, size.n, size.entries)
				if len(got) != len(want) {
					t.Fatalf("%d ranks: %d words, want %d", p, len(got), len(want))
				}
				for i := range got {
					if got[i] != want[i] {
						t.Fatalf("%d vertices, %d ranks, limit %d: word %d is %x, want %x", size.n, p, limit, i, got[i], want[i])
					}
				}
			}
		}
	}
}

// A group that cannot compute is an error that says so.
func TestGroupErrors(t *testing.T) {
	t.Parallel()
	var none *comm.Group
	v := matrix.NewVector[float64](3, matrix.On(none))
	if err := ops.AssignVectorScalar(v, 1, ops.All()); !errors.Is(err, ops.ErrPlace) {
		t.Error(err)
	}
	g := sure.Get(comm.LocalGroup(2))
	if err := matrix.New[string](3, 3).Move(g); !errors.Is(err, matrix.ErrInvalid) {
		t.Error("values with pointers on a group:", err)
	}
	if _, _, err := ops.Sizes(matrix.New[float64](3, 3), matrix.New[float64](3, 3), g); !errors.Is(err, matrix.ErrInvalid) {
		t.Error(err)
	}
	ranks := g.Ranks()
	for _, bad := range [][]comm.Comm{nil, {nil}, {ranks[1], ranks[0]}} {
		if _, err := comm.NewGroup(bad); !errors.Is(err, comm.ErrArgument) {
			t.Error(err)
		}
	}
	if _, err := comm.NewGroup(ranks, comm.At(nil)); !errors.Is(err, comm.ErrArgument) {
		t.Error(err)
	}
	// The failure of a group reaches the operation.
	u := matrix.NewVector[float64](3)
	_ = u.Set(1, 2)
	w := matrix.NewVector[float64](3, matrix.On(g))
	if err := ops.Apply(w, semiring.Identity[float64](), u); err != nil {
		t.Fatal(err)
	}
	ranks[1].Abort(errors.New("unplugged"))
	var failed *comm.RankError
	if err := ops.MxV(w, semiring.PlusTimes[float64](), matrix.New[float64](3, 3), w); !errors.As(err, &failed) || failed.Rank != 1 {
		t.Error(err)
	}
}

// An operand that is read transposed is spread in the middle of a product. It has more than twice
// the work of the one before, much of it in its first rows and columns, so that the group cuts rows
// at other places from then on.
func TestGroupCutsChange(t *testing.T) {
	t.Parallel()
	const n = 61
	a, b := matrix.New[int64](n, n), matrix.New[int64](n, n)
	for i := range n {
		sure.Do(a.Set(i, (i+1)%n, int64(i+1)))
		for j := range n {
			if i > 5 && j > 5 && j != i {
				continue
			}
			sure.Do(b.Set(j, i, int64(i+2*j)))
		}
	}
	times := semiring.PlusTimes[int64]()
	want := matrix.New[int64](n, n)
	if err := ops.MxM[int64, int64](want, times, a, b.T()); err != nil {
		t.Fatal(err)
	}
	for _, p := range []int{3, 7} {
		g := sure.Get(comm.LocalGroup(p))
		left := a.Clone()
		sure.Do(left.Move(g))
		before := slices.Clone(g.Cuts(n))
		c := matrix.New[int64](n, n, matrix.On(g))
		if err := ops.MxM[int64, int64](c, times, left, b.Clone().T()); err != nil {
			t.Fatalf("%d ranks: %v", p, err)
		}
		if slices.Equal(before, g.Cuts(n)) {
			t.Errorf("%d ranks: the cuts are %v before and after", p, before)
		}
		if c.NVals() != want.NVals() {
			t.Fatalf("%d ranks: %d entries, want %d", p, c.NVals(), want.NVals())
		}
		for at, x := range want.All() {
			if y, ok := c.At(at.Row, at.Col); !ok || y != x {
				t.Fatalf("%d ranks: (%d,%d) is %d, %v, want %d", p, at.Row, at.Col, y, ok, x)
			}
		}
	}
}
