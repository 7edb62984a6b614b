package ops_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/splitmix"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// received returns the bytes that the ranks received since the last call.
func received(g *comm.Group) (n int64) {
	for _, c := range g.Ranks() {
		n += c.Ledger().Total().In
		c.Ledger().Reset()
	}
	return n
}

func localGroup(t *testing.T, p int) *comm.Group {
	t.Helper()
	g := sure.Get(comm.LocalGroup(p))
	return g
}

// banded returns an n×n matrix with entries within width of the diagonal.
func banded(t *testing.T, n, width int) *matrix.Matrix[float64] {
	t.Helper()
	b := matrix.NewBuilder[float64](n, n)
	for i := range n {
		for j := max(0, i-width); j <= min(n-1, i+width); j++ {
			b.Add(i, j, float64(splitmix.At(uint64(i*n+j), 1)%1000)/7)
		}
	}
	return built(t, b)
}

// anywhere returns an n×n matrix with entries anywhere.
func anywhere(t *testing.T, n, entries int) *matrix.Matrix[float64] {
	t.Helper()
	b := matrix.NewBuilder[float64](n, n)
	for k := range entries {
		x := splitmix.At(uint64(k), 2)
		b.Add(int(x%uint64(n)), int(x>>32%uint64(n)), float64(k%1000)/7)
	}
	return built(t, b)
}

func built(t *testing.T, b *matrix.Builder[float64]) *matrix.Matrix[float64] {
	t.Helper()
	a := sure.Get(b.Build(matrix.CombineFunc[float64](func(x, _ float64) float64 { return x })))
	return a
}

// entriesOf lists the entries of a matrix.
func entriesOf(t *testing.T, a *matrix.Matrix[float64]) (list []string) {
	t.Helper()
	all, err := a.AllChecked()
	if err != nil {
		t.Fatal(err)
	}
	for c, x := range all {
		list = append(list, fmt.Sprint(c.Row, c.Col, math.Float64bits(x)))
	}
	return list
}

// A product gets the rows of B that the rows of A name, where these are fewer bytes, and has the
// bits of one place.
func TestGroupMxMByNeed(t *testing.T) {
	const n = 600
	s := semiring.PlusTimes[float64]()
	band, wild := banded(t, n, 3), anywhere(t, n, 12000)
	mask := anywhere(t, n, 9000)
	for k, p := range atThreads(1, 2, 3, 4, 7) {
		if !longtest.Takes(k, 3) {
			continue
		}
		for name, c := range map[string]struct {
			a, b  *matrix.Matrix[float64]
			needs bool
		}{"banded": {band, band, true}, "banded by any": {band, wild, true}, "any by banded": {wild, band, false}, "any": {wild, wild, false}} {
			for _, masked := range []bool{false, true} {
				g := localGroup(t, p)
				a, b := inBlocks(t, c.a, g), inBlocks(t, c.b, g)
				want := matrix.New[float64](n, n)
				got := matrix.New[float64](n, n, matrix.On(g))
				var to, toHost matrix.Target[float64] = got, want
				if masked {
					to, toHost = got.Masked(mask), want.Masked(mask)
				}
				if err := ops.MxM(toHost, s, c.a, c.b); err != nil {
					t.Fatal(err)
				}
				received(g)
				if err := ops.MxM(to, s, a, b); err != nil {
					t.Fatal(err)
				}
				bytes := received(g)
				// The gathering of B: column, value and row lengths of the other ranks, at each of
				// p.
				gather := int64(p-1) * (b.NVals()*12 + 4*n)
				// Entries of the blocks, rows that ranks lack, requests, bytes of answers, their
				// lengths.
				facts := int64(p*(p-1)) * (8 + 16 + 8 + 8 + 16)
				switch {
				case c.needs && p > 1 && bytes >= gather/4:
					t.Errorf("%s, %d ranks: %d bytes, the gathering takes %d", name, p, bytes, gather)
				case !c.needs && bytes > gather+gather/8+facts:
					t.Errorf("%s, %d ranks: %d bytes, the gathering takes %d", name, p, bytes, gather)
				}
				if c.needs && p > 1 && name == "banded" { // three rows of either neighbour
					rows := int64(2 * (p - 1) * 3)
					if exact := facts + rows*(4+8+7*12); bytes != exact {
						t.Errorf("banded, %d ranks: %d bytes for %d rows, want %d", p, bytes, rows, exact)
					}
				}
				again := matrix.New[float64](n, n, matrix.On(g))
				received(g)
				if err := ops.MxM(again, s, a, b); err != nil {
					t.Fatal(err)
				}
				if bytes := received(g); bytes > int64(p*(p-1))*16 {
					t.Errorf("%s, %d ranks: the second product takes %d bytes", name, p, bytes)
				}
				if !slices.Equal(entriesOf(t, got), entriesOf(t, want)) {
					t.Errorf("%s, %d ranks, masked %v: other bits than on one place", name, p, masked)
				}
			}
		}
	}
}

// inBlocks returns a copy of a with its entries on a group alone, as the result of an operation.
func inBlocks(t *testing.T, a *matrix.Matrix[float64], g *comm.Group) *matrix.Matrix[float64] {
	t.Helper()
	m, n := a.Dims()
	out := matrix.New[float64](m, n, matrix.On(g))
	if err := ops.Apply(out, semiring.Identity[float64](), a); err != nil {
		t.Fatal(err)
	}
	return out
}

// Nothing is sent for a replicated operand, and a replicated destination is whole on every rank.
func TestReplicated(t *testing.T) {
	const n = 200
	s := semiring.PlusTimes[float64]()
	host := anywhere(t, n, 3000)
	x := sure.Get(matrix.NewFullVector(n, 0.75))
	product, image := matrix.New[float64](n, n), matrix.NewVector[float64](n)
	sure.Do(ops.MxM(product, s, host, host), ops.MxV(image, s, host, x))
	for _, p := range []int{1, 2, 3, 7} {
		g := localGroup(t, p)
		a, b := inBlocks(t, host, g), inBlocks(t, host, g)
		sure.Do(b.Move(g, matrix.Replicated))
		v := matrix.NewVector[float64](n, matrix.On(g, matrix.Replicated))
		if err := ops.AssignVectorScalar(v, 0.75, ops.All()); err != nil {
			t.Fatal(err)
		}
		if b.Layout() != matrix.Replicated || v.Layout() != matrix.Replicated || a.Layout() != matrix.Blocks || b.Place() != matrix.Place(g) {
			t.Fatalf("%d ranks: layouts %v, %v, %v", p, b.Layout(), v.Layout(), a.Layout())
		}
		c, w := matrix.New[float64](n, n, matrix.On(g)), matrix.NewVector[float64](n, matrix.On(g))
		if _, err := a.AllChecked(); err != nil { // before the bytes count
			t.Fatal(err)
		}
		a = inBlocks(t, host, g)
		if a.NVals() != host.NVals() { // the ranks exchange the entries of A
			t.Fatalf("%d ranks: %d entries", p, a.NVals())
		}
		received(g)
		sure.Do(ops.MxM(c, s, a, b), ops.MxV(w, s, a, v, ops.Using(ops.Pull)))
		if got := received(g); got != 0 {
			t.Errorf("%d ranks: products with replicated operands take %d bytes", p, got)
		}
		if !slices.Equal(entriesOf(t, c), entriesOf(t, product)) {
			t.Errorf("%d ranks: other bits of MxM", p)
		}
		for i, want := range image.All() {
			if got, ok := w.At(i); !ok || got != want {
				t.Fatalf("%d ranks: entry %d of MxV is %v, want %v", p, i, got, want)
			}
		}

		whole := matrix.New[float64](n, n, matrix.On(g, matrix.Replicated))
		if err := ops.MxM(whole, s, a, b); err != nil {
			t.Fatal(err)
		}
		if p > 1 && received(g) == 0 {
			t.Errorf("%d ranks: a replicated result without an exchange", p)
		}
		if !slices.Equal(entriesOf(t, whole), entriesOf(t, product)) || received(g) != 0 {
			t.Errorf("%d ranks: a replicated result differs, or has to be gathered again", p)
		}
		for range 2 { // in place, with an accumulator: as on one place
			sure.Do(ops.MxM(whole.Accum(semiring.Plus[float64]()), s, a, whole), ops.MxM(product.Accum(semiring.Plus[float64]()), s, host, product))
		}
		if !slices.Equal(entriesOf(t, whole), entriesOf(t, product)) {
			t.Errorf("%d ranks: other bits of an accumulated replicated result", p)
		}
		product = matrix.New[float64](n, n)
		if err := errors.Join(whole.Move(g), ops.MxM(product, s, host, host), ops.MxM(whole, s, a, b)); err != nil || whole.Layout() != matrix.Blocks {
			t.Fatalf("%d ranks: back to blocks: %v, %v", p, whole.Layout(), err)
		}
		if received(g); !slices.Equal(entriesOf(t, whole), entriesOf(t, product)) || p > 1 && received(g) == 0 {
			t.Errorf("%d ranks: a matrix in blocks again differs, or is not gathered", p)
		}
		if err := whole.Move(nil); err != nil || whole.Layout() != matrix.Blocks {
			t.Errorf("%d ranks: on the host: %v, %v", p, whole.Layout(), err)
		}
	}
	if err := matrix.New[float64](2, 2, matrix.On(nil, matrix.Layout(9))).Err(); !errors.Is(err, matrix.ErrInvalid) {
		t.Errorf("a layout that does not exist: %v", err)
	}
	if err := host.Move(localGroup(t, 2), matrix.Layout(9)); !errors.Is(err, matrix.ErrInvalid) {
		t.Errorf("a move to a layout that does not exist: %v", err)
	}
}

// Processes of one rank each keep a replicated matrix whole, and agree about rows by need.
func TestReplicatedProcesses(t *testing.T) {
	const n, p = 150, 3
	host, band := anywhere(t, n, 900), banded(t, n, 2)
	s := semiring.PlusTimes[float64]()
	want := matrix.New[float64](n, n)
	if err := ops.MxM(want, s, band, host); err != nil {
		t.Fatal(err)
	}
	expected := entriesOf(t, want)
	ranks := sure.Get(comm.Local(p))
	errs := make([]error, p)
	var wait sync.WaitGroup
	for k := range ranks {
		wait.Go(func() {
			g, err := comm.NewGroup(ranks[k : k+1])
			if err != nil {
				errs[k] = err
				return
			}
			a, b := matrix.New[float64](n, n, matrix.On(g)), matrix.New[float64](n, n, matrix.On(g))
			c := matrix.New[float64](n, n, matrix.On(g, matrix.Replicated))
			id := semiring.Identity[float64]()
			if errs[k] = errors.Join(ops.Apply(a, id, band), ops.Apply(b, id, host), ops.MxM(c, s, a, b)); errs[k] != nil {
				return
			}
			before := ranks[k].Ledger().Total()
			var got []string
			for c, x := range c.All() {
				got = append(got, fmt.Sprint(c.Row, c.Col, math.Float64bits(x)))
			}
			if !slices.Equal(got, expected) || ranks[k].Ledger().Total() != before {
				errs[k] = errors.New("the replicated result differs, or is gathered when it is read")
			}
		})
	}
	wait.Wait()
	sure.Do(errors.Join(errs...))
}
