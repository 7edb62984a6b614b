package cusparse

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/emu"
	"github.com/hiveblas/hiveblas/internal/sure"
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

// star is an undirected graph in which vertices of a few edges meet two that have very many.
func star(t *testing.T, n int) *matrix.Matrix[bool] {
	var r, c []int
	var v []bool
	add := func(i, j int) { r, c, v = append(r, i, j), append(c, j, i), append(v, true, true) }
	for i := 2; i < n; i++ {
		add(i%2, i)
		if i%7 == 0 {
			add(i, i-1)
		}
	}
	for i := range 400 { // a vertex whose row is shared by warps, behind one of the two
		add(n, 10+2*i)
	}
	add(n, n+1)
	a, err := matrix.FromTuples(n+2, n+2, r, c, v, semiring.First[bool, bool]())
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// testLoopHubs searches from vertices of long rows and to them, with and without the rows of the
// transpose.
func testLoopHubs(t *testing.T, d *Device) {
	a := star(t, 6000)
	for _, symmetric := range []bool{false, true} {
		if symmetric && !a.IsSymmetric() {
			t.Fatal("the graph is not symmetric")
		}
		for _, source := range []int{0, 5, 6000, 6001} {
			want, err := loopBFS(a, nil, source)
			if err != nil {
				t.Fatal(err)
			}
			got, err := loopBFS(a, d, source)
			if err != nil {
				t.Fatal(err)
			}
			if !got.Equal(want) {
				t.Errorf("from %d, symmetric %v: %d entries, want %d, or other levels", source, symmetric, got.NVals(), want.NVals())
			}
		}
	}
}

func TestLoopHubs(t *testing.T) {
	d, _ := emulated(t)
	testLoopHubs(t, d)
}

func TestLoopHubsOnGPU(t *testing.T) { testLoopHubs(t, realDevice(t)) }

// loopDown is a loop that ends when v has no entry left: each pass takes step from the values, and
// deletes those that are not positive. body may do more.
func loopDown(t *testing.T, at matrix.Place, body func(s *ops.Steps, v *matrix.Vector[int32], pass int, in ops.Option) bool, opts ...ops.Option) (*matrix.Vector[int32], int, error) {
	v, sum := matrix.NewVector[int32](40), matrix.NewVector[int32](40, matrix.On(at))
	for i := range 40 {
		if err := v.Set(i, int32(i%9+1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.Move(at); err != nil {
		t.Fatal(err)
	}
	var s ops.Steps
	passes := 0
	for in := range s.While(v, opts...) {
		passes++
		s.Do(ops.ApplySecond(v, semiring.Minus[int32](), v, 1, in))
		if body != nil && !body(&s, v, passes, in) {
			break
		}
		s.Do(ops.Select(v, semiring.ValueGT[int32](0), v, in))
		s.Do(ops.Apply(sum.Accum(semiring.Plus[int32]()), semiring.Identity[int32](), v, in))
	}
	return sum, passes, s.Err()
}

// TestLoopProtocol leaves the list in every way: the operations one by one give the same result.
func TestLoopProtocol(t *testing.T) {
	d, _ := emulated(t)
	plain := func(*ops.Steps, *matrix.Vector[int32], int, ops.Option) bool { return true }
	for _, test := range []struct {
		name string
		body func(s *ops.Steps, v *matrix.Vector[int32], pass int, in ops.Option) bool
		list bool // the loop runs by its list to the end
		opts []ops.Option
	}{
		{"the list", plain, true, nil},
		{"bounded", plain, true, []ops.Option{ops.Passes(3)}},
		{"no pass", plain, false, []ops.Option{ops.Passes(0)}},
		{"one by one", plain, false, []ops.Option{ops.OneByOne()}},
		{"a number that changes", func(s *ops.Steps, v *matrix.Vector[int32], pass int, in ops.Option) bool {
			return s.Do(ops.AssignVectorScalar(v.Accum(semiring.Plus[int32]()).Masked(v.Structure()), int32(pass%2), ops.All(), in))
		}, false, nil},
		{"another operator in pass 3", func(s *ops.Steps, v *matrix.Vector[int32], pass int, in ops.Option) bool {
			f := semiring.Min[int32]()
			if pass == 3 {
				f = semiring.Max[int32]()
			}
			return s.Do(ops.EWiseAdd(v, f, v, v, in)) && s.Do(ops.ApplySecond(v, f, v, 6, in))
		}, false, nil},
		{"another mask in pass 3", func(s *ops.Steps, v *matrix.Vector[int32], pass int, in ops.Option) bool {
			return s.Do(ops.Apply(v.Masked(v.Structure()).Replace(), semiring.Abs[int32](), v, in)) &&
				s.Do(ops.AssignVectorScalar(v.Masked([]matrix.Mask{v.Structure(), v.Structure().Not()}[min(pass/3, 1)]), 2, ops.All(), in)) && pass < 4
		}, false, nil},
		{"another argument in pass 3", func(s *ops.Steps, v *matrix.Vector[int32], pass int, in ops.Option) bool {
			return s.Do(ops.EWiseUnion(v, semiring.Minus[int32](), v, int32(1+pass/3), v, 0, in)) && s.Do(ops.AssignVectorScalar(v, int32(9-pass), ops.All(), in))
		}, false, nil},
		{"another operation in pass 4", func(s *ops.Steps, v *matrix.Vector[int32], pass int, in ops.Option) bool {
			if pass == 4 {
				s.Do(ops.ApplySecond(v, semiring.Plus[int32](), v, 2, in))
			}
			return true
		}, false, nil},
		{"fewer operations in pass 3", func(s *ops.Steps, v *matrix.Vector[int32], pass int, in ops.Option) bool {
			if pass != 3 {
				s.Do(ops.ApplySecond(v, semiring.Min[int32](), v, 7, in))
			}
			return true
		}, false, nil},
		{"break in pass 5", func(_ *ops.Steps, _ *matrix.Vector[int32], pass int, _ ops.Option) bool { return pass < 5 }, false, nil},
		{"break in pass 1", func(_ *ops.Steps, _ *matrix.Vector[int32], pass int, _ ops.Option) bool { return false }, false, nil},
		{"a read in pass 3", func(_ *ops.Steps, v *matrix.Vector[int32], pass int, _ ops.Option) bool {
			return pass != 3 || v.NVals() > 0
		}, false, nil},
		{"a read in pass 1", func(_ *ops.Steps, v *matrix.Vector[int32], pass int, _ ops.Option) bool {
			_, ok := v.At(8)
			return ok || pass > 1
		}, false, nil},
		{"an operation without the option", func(s *ops.Steps, v *matrix.Vector[int32], pass int, _ ops.Option) bool {
			return s.Do(ops.ApplySecond(v, semiring.Min[int32](), v, 6))
		}, false, nil},
		{"a write in pass 2", func(s *ops.Steps, v *matrix.Vector[int32], pass int, _ ops.Option) bool {
			if pass == 2 {
				s.Do(v.Set(3, 20))
			}
			return true
		}, false, nil},
		{"a loop within", func(s *ops.Steps, v *matrix.Vector[int32], pass int, in ops.Option) bool {
			w := matrix.NewVector[int32](40, matrix.On(v.Place()))
			s.Do(ops.AssignVector(w, v, ops.All(), in))
			for in := range s.While(w, in) {
				s.Do(ops.ApplySecond(w, semiring.Minus[int32](), w, 3, in))
				s.Do(ops.Select(w, semiring.ValueGT[int32](0), w, in))
			}
			return s.Do(ops.EWiseAdd(v, semiring.Plus[int32](), v, w, in))
		}, false, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			want, passes, err := loopDown(t, nil, test.body, test.opts...)
			if err != nil {
				t.Fatal(err)
			}
			var said []string
			got, n, err := loopDown(t, d, test.body, append(test.opts, ops.Explain(func(s string) { said = append(said, s) }))...)
			if err != nil {
				t.Fatal(err)
			}
			if n != passes || !got.Equal(want) {
				t.Errorf("%d passes and %v, want %d and %v", n, got, passes, want)
			}
			if test.list && (len(said) != 1 || !strings.HasPrefix(said[0], "while ")) {
				t.Errorf("the loop says %q, want its list", said)
			}
		})
	}
}

// A body that panics leaves what its operations did.
func TestLoopPanics(t *testing.T) {
	d, _ := emulated(t)
	var v *matrix.Vector[int32]
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic of the body does not arrive")
			}
		}()
		_, _, _ = loopDown(t, d, func(_ *ops.Steps, w *matrix.Vector[int32], pass int, _ ops.Option) bool {
			if v = w; pass == 4 {
				panic("pass 4")
			}
			return true
		})
	}()
	if x, ok := v.At(8); !ok || x != 5 {
		t.Errorf("v(8) is %d, %v, want 5 after four passes", x, ok)
	}
}

// An index out of range ends the loop with the error of the operation, and nothing changes.
func TestLoopErrors(t *testing.T) {
	d, e := emulated(t)
	here := matrix.On(d)
	idx, v := matrix.NewVector[int32](6), matrix.NewVector[int32](6)
	for i := range 6 {
		if err := errors.Join(idx.Set(i, int32(i)), v.Set(i, int32(5-i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(idx.Move(d), v.Move(d)); err != nil {
		t.Fatal(err)
	}
	out := matrix.NewVector[int32](6, here)
	loop := func() error {
		var s ops.Steps
		for in := range s.While(v) {
			s.Do(ops.ExtractVector(out, v, ops.ValuesOf(idx), in))
			s.Do(ops.ApplySecond(idx, semiring.Plus[int32](), idx, 1, in))
			s.Do(ops.Select(v, semiring.ValueGT[int32](0), out, in))
		}
		return s.Err()
	}
	err := loop()
	var outside *matrix.IndexError
	if !errors.As(err, &outside) || outside.Index != 6 || !strings.Contains(err.Error(), "pass_test.go:") || !strings.Contains(err.Error(), "pass 2") {
		t.Errorf("the error is %v, want an index 6 with line and pass", err)
	}
	if x, ok := v.At(0); !ok || x != 5 {
		t.Errorf("v(0) is %d, %v after the error, want 5", x, ok)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := loopDown(t, d, nil, ops.WithContext(ctx)); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled loop returns %v", err)
	}
	defer e.FailAfter("Launch", 1, emu.LaunchFailed).Cancel()
	if _, _, err := loopDown(t, d, nil); err == nil {
		t.Error("a launch that fails is no error")
	}
}

// The entries of a condition that is gathered from itself are counted anew in each pass, and the
// loop ends when none is left.
func TestLoopGathersItsCondition(t *testing.T) {
	d, _ := emulated(t)
	run := func(at matrix.Place) (passes int) {
		const n = 40
		idx, v := matrix.NewVector[int32](n), matrix.NewVector[int32](n)
		for i := range n {
			sure.Do(idx.Set(i, int32(min(i+1, n-1))))
		}
		for _, i := range []int{2, 5, 6} {
			sure.Do(v.Set(i, 7))
		}
		sure.Do(errors.Join(idx.Move(at), v.Move(at)))
		var s ops.Steps
		for in := range s.While(v, ops.Passes(20)) {
			passes++
			s.Do(ops.ExtractVector(v, v, ops.ValuesOf(idx), in))
		}
		if err := s.Err(); err != nil {
			t.Fatal(err)
		}
		return passes
	}
	if got, want := run(d), run(nil); got != want || want != 7 {
		t.Errorf("%d passes, on the host %d, want 7", got, want)
	}
}

// A search whose first frontier has several vertices, or levels given before, or that ends before
// the last frontier has its levels, gives what its operations one by one give: a product enters its
// results into the mask ahead of their values.
func TestLoopAhead(t *testing.T) {
	d, _ := emulated(t)
	a := star(t, 1000)
	a.IsSymmetric()
	n, _ := a.Dims()
	run := func(at matrix.Place, sources, given []int, most int64, first bool) (*matrix.Vector[int32], *matrix.Vector[bool]) {
		level, frontier := matrix.NewVector[int32](n), matrix.NewVector[bool](n)
		for _, i := range sources {
			sure.Do(frontier.Set(i, true))
		}
		for _, i := range given {
			sure.Do(level.Set(i, -3))
		}
		sure.Do(errors.Join(level.Move(at), frontier.Move(at)))
		depth := matrix.ScalarOf[int32](0, matrix.On(at))
		var s ops.Steps
		for in := range s.While(frontier, ops.Passes(most)) {
			fill := func() { s.Do(ops.AssignVectorFrom(level.Masked(frontier.Structure()), depth, ops.All(), in)) }
			if first {
				fill()
			}
			s.Do(ops.VxM(frontier.Masked(level.Structure().Not()).Replace(), semiring.AnyPair[bool](), frontier.Pattern(), a.Pattern(), in))
			if !first {
				fill()
			}
			s.Do(ops.ApplySecond(depth, semiring.Plus[int32](), depth, 1, in))
		}
		if err := s.Err(); err != nil {
			t.Fatal(err)
		}
		return level, frontier
	}
	for _, sources := range [][]int{{9}, {0}, {9, 300, 650}, nil} {
		for _, given := range [][]int{nil, {9, 11, 1}} {
			for _, most := range []int64{1, 2, 50} {
				for _, first := range []bool{true, false} {
					level, frontier := run(d, sources, given, most, first)
					wantLevel, wantFrontier := run(nil, sources, given, most, first)
					if !level.Equal(wantLevel) || !frontier.Equal(wantFrontier) {
						t.Errorf("from %v with %v, %d passes, levels first %v: %v and %v, want %v and %v", sources, given, most, first,
							level, frontier, wantLevel, wantFrontier)
					}
				}
			}
		}
	}
}

// The mask of a search may also be read: then it gets its entries with their values.
func TestLoopReadsItsMask(t *testing.T) {
	d, _ := emulated(t)
	a := star(t, 1000)
	n, _ := a.Dims()
	run := func(at matrix.Place) (*matrix.Vector[int32], *matrix.Vector[int32]) {
		here := matrix.On(at)
		level, seen, frontier := matrix.NewVector[int32](n, here), matrix.NewVector[int32](n, here), matrix.NewVector[bool](n, here)
		depth := matrix.ScalarOf[int32](0, here)
		var s ops.Steps
		s.Do(frontier.Set(9, true))
		for in := range s.While(frontier, ops.Passes(2)) {
			s.Do(ops.VxM(frontier.Masked(level.Structure().Not()).Replace(), semiring.AnyPair[bool](), frontier.Pattern(), a.Pattern(), in))
			s.Do(ops.Apply(seen, semiring.Identity[int32](), level, in))
			s.Do(ops.AssignVectorFrom(level.Masked(frontier.Structure()), depth, ops.All(), in))
			s.Do(ops.ApplySecond(depth, semiring.Plus[int32](), depth, 1, in))
		}
		if err := s.Err(); err != nil {
			t.Fatal(err)
		}
		return level, seen
	}
	level, seen := run(d)
	wantLevel, wantSeen := run(nil)
	if !level.Equal(wantLevel) || !seen.Equal(wantSeen) {
		t.Errorf("%v and %v, want %v and %v", level, seen, wantLevel, wantSeen)
	}
}

// Shortest paths by Bellman and Ford over a dense graph with two rows of more than 1,024 entries,
// by which nearly all paths lead: products with sums pull long rows in parts, and the others by
// lanes.
func TestLoopLongRows(t *testing.T) {
	d, _ := emulated(t)
	const n = 1500
	r := rand.New(rand.NewPCG(4, 4))
	var rows, cols []int
	var vals []int32
	add := func(i, j int, w int32) {
		rows, cols, vals = append(rows, i, j), append(cols, j, i), append(vals, w, w)
	}
	for i := 2; i < n; i++ {
		add(i%2, i, int32(1+r.IntN(1000)))
		if i%3 == 0 {
			add(1-i%2, i, int32(1+r.IntN(1000)))
		}
		for range 12 {
			add(i, 2+r.IntN(n-2), int32(500+r.IntN(100000)))
		}
	}
	for k := range 1000 { // row 0 has more than 1,024 entries
		add(0, 2+k, int32(100000+k))
	}
	a := sure.Get(matrix.FromTuples(n, n, rows, cols, vals, semiring.Min[int32]()))
	a.IsSymmetric()
	run := func(at matrix.Place) *matrix.Vector[int32] {
		here := matrix.On(at)
		vector := func() *matrix.Vector[int32] { return matrix.NewVector[int32](n, here) }
		dist, front, reach, worse := vector(), vector(), vector(), matrix.NewVector[bool](n, here)
		var s ops.Steps
		s.Do(dist.Set(9, 0))
		s.Do(front.Set(9, 0))
		for in := range s.While(front) {
			s.Do(ops.VxM(reach, semiring.MinPlus[int32](), front, a, in))
			s.Do(ops.EWiseMult(worse, semiring.Ge[int32](), reach, dist, in))
			s.Do(ops.Apply(front.Masked(worse.MaskView().Not()).Replace(), semiring.Identity[int32](), reach, in))
			s.Do(ops.Apply(dist.Accum(semiring.Min[int32]()), semiring.Identity[int32](), front, in))
		}
		if err := s.Err(); err != nil {
			t.Fatal(err)
		}
		return dist
	}
	// One product of all positions.
	product := func(at matrix.Place, shift int) *matrix.Vector[int32] {
		full, reach := matrix.NewVector[int32](n), matrix.NewVector[int32](n, matrix.On(at))
		for i := range n {
			sure.Do(full.Set(i, int32((i+shift)%n)*1000000))
		}
		sure.Do(full.Move(at))
		var s ops.Steps
		for in := range s.While(full, ops.Passes(1)) {
			s.Do(ops.VxM(reach, semiring.MinPlus[int32](), full, a, in))
			s.Do(ops.Apply(full, semiring.Identity[int32](), full, in))
		}
		if err := s.Err(); err != nil {
			t.Fatal(err)
		}
		return reach
	}
	var shifts []int
	k := 0
	for j := range a.Row(0) { // the least term at the first and the last entry of its parts
		if k%1024 == 0 || k%1024 == 1023 || k%100 == 7 {
			shifts = append(shifts, n-j)
		}
		k++
	}
	for _, shift := range shifts {
		if got, want := product(d, shift), product(nil, shift); !got.Equal(want) {
			t.Errorf("the product of values shifted by %d is wrong: row 0 has %d, want %d", shift, sure.Get(got.Dense(-1))[0], sure.Get(want.Dense(-1))[0])
		}
	}
	got, want := run(d), run(nil)
	if !got.Equal(want) || got.NVals() != n {
		for i, x := range got.All() {
			if y, _ := want.At(i); x != y {
				t.Fatalf("the distance of %d is %d, want %d", i, x, y)
			}
		}
		t.Errorf("%d distances, want %d", got.NVals(), want.NVals())
	}
}

// tileGraph has rows of no entry, few, a word, a tile and several tiles, in an order that lets rows
// begin and end everywhere in words and tiles, and many rows without entries one after another.
func tileGraph[T semiring.Number](t *testing.T) *matrix.Matrix[T] {
	const n = 700
	r := rand.New(rand.NewPCG(7, 1))
	var rows, cols []int
	var vals []T
	for i := range n {
		if i >= 300 && i < 480 {
			continue
		}
		for range []int{0, 1, 3, 31, 32, 33, 64, 100, 256, 400, 600, 2}[r.IntN(12)] {
			rows, cols, vals = append(rows, i), append(cols, r.IntN(n)), append(vals, T(1+r.IntN(50)))
		}
	}
	return sure.Get(matrix.FromTuples(n, n, rows, cols, vals, semiring.Min[T]()))
}

// tileLoop adds up terms of all rows in two passes, of vectors with an entry in every so many
// positions. With counted the loop counts the entries of the sums.
func tileLoop[T semiring.Number](t *testing.T, a *matrix.Matrix[T], at matrix.Place, ring semiring.Semiring[T, T, T], every int, counted bool) (*matrix.Vector[T], int) {
	n, _ := a.Dims()
	x, y := matrix.NewVector[T](n), matrix.NewVector[T](n, matrix.On(at))
	for i := 0; i < n; i += every {
		sure.Do(x.Set(i, T(i%40)))
	}
	sure.Do(x.Move(at))
	count := matrix.ScalarOf[int64](0, matrix.On(at))
	var s ops.Steps
	for in := range s.While(x, ops.Passes(2)) {
		s.Do(ops.MxV(y, ring, a, x, in))
		if counted {
			s.Do(ops.CountInto(count, y, in))
		}
		s.Do(ops.Apply(x.Accum(semiring.Max[T]()), semiring.Identity[T](), y, in))
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return y, int(sure.Get(count.Value()))
}

func testLoopTiles[T semiring.Number](t *testing.T, d *Device, counted bool, rings ...semiring.Semiring[T, T, T]) {
	a := tileGraph[T](t)
	for _, ring := range rings {
		for _, every := range []int{1, 2, 90} {
			want, wants := tileLoop(t, a, nil, ring, every, counted)
			got, gots := tileLoop(t, a, d, ring, every, counted)
			if !got.Equal(want) || gots != wants {
				t.Errorf("%s, an entry in %d positions, counted %v: %d entries and a count of %d, want %d and %d, or other values", ring.Name(), every, counted, got.NVals(), gots, want.NVals(), wants)
			}
		}
	}
}

// A product that reads all rows takes the entries of the matrix by tiles if it has long rows.
func TestLoopTiles(t *testing.T) {
	d, _ := emulated(t)
	testLoopTiles(t, d, false, semiring.MinPlus[int32]())
	testLoopTiles(t, d, true, semiring.PlusTimes[int64]())
	testLoopTiles(t, d, false, semiring.MaxPlus[int16]()) // no atomic instruction
}

func TestLoopTilesOnGPU(t *testing.T) {
	d := realDevice(t)
	for _, counted := range []bool{false, true} {
		testLoopTiles(t, d, counted, semiring.MinPlus[int32](), semiring.PlusTimes[int32]())
		testLoopTiles(t, d, counted, semiring.PlusTimes[int64](), semiring.MaxTimes[int64]())
		testLoopTiles(t, d, counted, semiring.MaxPlus[int16](), semiring.MinPlus[int16]())
	}
}

// A vector that has an entry at every position throughout has no bits, also where a product pushes
// along the only form of a matrix that the device has.
func TestLoopPushesFullVector(t *testing.T) {
	d, _ := emulated(t)
	run := func(at matrix.Place) *matrix.Vector[int32] {
		const n = 100
		a := ring(t, n, [2]int{3, 50}, [2]int{50, 7})
		sure.Do(a.Move(at))
		values := make([]int32, n)
		for i := range values {
			values[i] = int32((i*37 + 11) % n)
		}
		least, next := sure.Get(matrix.VectorOf(values)), matrix.NewVector[int32](n, matrix.On(at))
		sure.Do(least.Move(at))
		var s ops.Steps
		for in := range s.While(least, ops.Passes(5)) {
			s.Do(ops.VxM(next, semiring.MinFirst[int32](), least, a, in))
			s.Do(ops.Apply(least.Accum(semiring.Min[int32]()), semiring.Identity[int32](), next, in))
		}
		if err := s.Err(); err != nil {
			t.Fatal(err)
		}
		return least
	}
	if got, want := run(d), run(nil); !got.Equal(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Products and scatters add to a full destination that accumulates by their own monoid, in pushes,
// in pulls by rows and by tiles; another accumulator, a mask or an operand in its place prevents
// that.
func TestLoopAddsToFullVector(t *testing.T) {
	d, _ := emulated(t)
	const n = 400
	run := func(at matrix.Place, opts ...ops.Option) (got [3]*matrix.Vector[int32]) {
		r := rand.New(rand.NewPCG(7, 7))
		var rows, cols []int
		var vals []int32
		for i := range n {
			for range 1 + i%40*(i%7/6) { // some rows are long
				j := r.IntN(n)
				rows, cols, vals = append(rows, i, j), append(cols, j, i), append(vals, int32(i%9), int32(i%9))
			}
		}
		a := sure.Get(matrix.FromTuples(n, n, rows, cols, vals, semiring.Max[int32]()))
		a.IsSymmetric()
		sure.Do(a.Move(at))
		for k := range got {
			values := make([]int32, n)
			for i := range values {
				values[i] = int32(r.IntN(n))
			}
			got[k] = sure.Get(matrix.VectorOf(values))
			sure.Do(got[k].Move(at))
		}
		least, sum, places := got[0], got[1], got[2]
		front, old, differ := matrix.NewVector[int32](n, matrix.On(at)), matrix.NewVector[int32](n, matrix.On(at)), matrix.NewVector[bool](n, matrix.On(at))
		sure.Do(ops.Apply(front, semiring.Identity[int32](), least))
		sure.Do(ops.Apply(old, semiring.Identity[int32](), least))
		var s ops.Steps
		for in := range s.While(front, append(opts, ops.Passes(6))...) {
			s.Do(ops.MxV(least.Accum(semiring.Min[int32]()), semiring.MinPlus[int32](), a, front, in))
			s.Do(ops.VxM(sum.Accum(semiring.Plus[int32]()), semiring.PlusTimes[int32](), front, a, in))
			s.Do(ops.ScatterVector(sum.Accum(semiring.Plus[int32]()), semiring.Plus[int32](), least, ops.ValuesOf(places), in))
			s.Do(ops.EWiseMult(differ, semiring.Ne[int32](), least, old, in))
			s.Do(ops.Apply(old, semiring.Identity[int32](), least, in))
			s.Do(ops.Apply(front.Masked(differ.MaskView()).Replace(), semiring.Identity[int32](), least, in))
		}
		if err := s.Err(); err != nil {
			t.Fatal(err)
		}
		return got
	}
	want, said := run(nil), ""
	recorded := run(d, ops.Explain(func(s string) { said += s }))
	if !strings.Contains(said, "in stages") || strings.Contains(said, "as result") {
		t.Errorf("the loop has variables for results:\n%s", said)
	}
	for what, got := range map[string][3]*matrix.Vector[int32]{"recorded": recorded, "one by one": run(d, ops.OneByOne())} {
		for k := range got {
			if !got[k].Equal(want[k]) {
				t.Errorf("%s: vector %d is %v, want %v", what, k, got[k], want[k])
			}
		}
	}
}

// A full vector that is gathered from itself takes the results of the gather, whose bits it lacks.
func TestLoopGathersFullVector(t *testing.T) {
	d, _ := emulated(t)
	run := func(at matrix.Place) *matrix.Vector[int32] {
		const n = 70
		values := make([]int32, n)
		for i := range values {
			values[i] = int32(max(i-3, 0))
		}
		parent, changed := sure.Get(matrix.VectorOf(values)), matrix.ScalarOf(true, matrix.On(at))
		before, differ := matrix.NewVector[int32](n, matrix.On(at)), matrix.NewVector[bool](n, matrix.On(at))
		sure.Do(parent.Move(at))
		var s ops.Steps
		for in := range s.While(changed) {
			s.Do(ops.Apply(before, semiring.Identity[int32](), parent, in))
			s.Do(ops.ExtractVector(parent, parent, ops.ValuesOf(parent), in))
			s.Do(ops.EWiseMult(differ, semiring.Ne[int32](), parent, before, in))
			s.Do(ops.ReduceInto(changed, semiring.Lor(), differ, in))
		}
		if err := s.Err(); err != nil {
			t.Fatal(err)
		}
		return parent
	}
	if got, want := run(d), run(nil); !got.Equal(want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A result that a product lists is listed once, also if a step then enters the same positions: sums
// along the list would count it twice.
func TestLoopListsOnce(t *testing.T) {
	d, _ := emulated(t)
	run := func(at matrix.Place) []*matrix.Vector[int32] {
		const n = 60
		var rows, cols []int
		var vals []int32
		for i := range n {
			rows, cols, vals = append(rows, i, i), append(cols, i, (i+1)%n), append(vals, 2, 1)
		}
		c := sure.Get(matrix.FromTuples(n, n, rows, cols, vals, nil))
		x, y := matrix.NewVector[int32](n), matrix.NewVector[int32](n)
		sure.Do(x.Set(5, 1), y.Set(40, 3), c.Move(at), x.Move(at), y.Move(at))
		var s ops.Steps
		for in := range s.While(x, ops.Passes(5)) {
			s.Do(ops.MxV(x, semiring.PlusTimes[int32](), c, x, in))
			s.Do(ops.Swap(x, y, in))
			s.Do(ops.VxM(y.Accum(semiring.Max[int32]()), semiring.MinPlus[int32](), y, c, in))
		}
		if err := s.Err(); err != nil {
			t.Fatal(err)
		}
		return []*matrix.Vector[int32]{x, y}
	}
	got, want := run(d), run(nil)
	for k := range want {
		if !got[k].Equal(want[k]) {
			t.Errorf("vector %d is %v, want %v", k, got[k], want[k])
		}
	}
}

// After a loop only its results take memory.
func TestLoopMemory(t *testing.T) {
	d, _ := emulated(t)
	a := ring(t, 40)
	run := func() {
		level, err := loopBFS(a, d, 1)
		if err != nil {
			t.Fatal(err)
		}
		if err := level.Move(nil); err != nil {
			t.Fatal(err)
		}
	}
	run()
	before := d.Memory().InUse
	for range 3 {
		run()
	}
	runtime.GC()
	runtime.GC()
	if after := d.Memory().InUse; after > before {
		t.Errorf("%d bytes in use after three more loops, %d before", after, before)
	}
}

// The kernel of a loop is compiled once for graphs of all sizes.
func TestLoopOfAnySize(t *testing.T) {
	d, r := recorded(t)
	for _, n := range []int{40, 71} {
		want := sure.Get(loopBFS(ring(t, n), nil, 2))
		if got := sure.Get(loopBFS(ring(t, n), d, 2)); !got.Equal(want) {
			t.Errorf("%d vertices: levels\n%v\nwant\n%v", n, got, want)
		}
	}
	loops := 0
	for source := range r.sources {
		if strings.Contains(source, "hb_pass(") {
			loops++
		}
	}
	if loops != 1 {
		t.Errorf("%d kernels of the loop, want 1", loops)
	}
}

// A loop of scalars alone has a barrier in each pass: the kernel sees there that it is to stop.
func TestLoopOfScalars(t *testing.T) {
	d, _ := emulated(t)
	count := func(at matrix.Place) int32 {
		x, more := matrix.ScalarOf[int32](0, matrix.On(at)), matrix.ScalarOf(true, matrix.On(at))
		var s ops.Steps
		for in := range s.While(more) {
			s.Do(ops.ApplySecond(x, semiring.Plus[int32](), x, 1, in))
			s.Do(ops.ApplySecond(more, semiring.Lt[int32](), x, 200, in))
		}
		v, err := x.Value()
		if err := errors.Join(err, s.Err()); err != nil {
			t.Fatal(err)
		}
		return v
	}
	if got := count(d); got != 200 || count(nil) != 200 {
		t.Errorf("the loop counts to %d, want 200", got)
	}
	_, pass, _ := strings.Cut(d.passes[len(d.passes)-1].prog.p.own, "passes++;")
	if body, _, _ := strings.Cut(pass, "\n\t}\n"); !strings.Contains(body, "g.sync();") {
		t.Errorf("no barrier in\n%s", body)
	}
}

// An index that is out of range only in passes that a wrong list would run is no error, and the
// room of a stopped loop serves the next one.
func TestLoopErrorsOfAWrongList(t *testing.T) {
	d, _ := emulated(t)
	run := func(at matrix.Place) (*matrix.Vector[int32], error) {
		idx, v := matrix.NewVector[int32](6), matrix.NewVector[int32](6)
		for i := range 6 {
			if err := errors.Join(idx.Set(i, 0), v.Set(i, int32(5-i))); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(idx.Move(at), v.Move(at)); err != nil {
			t.Fatal(err)
		}
		var s ops.Steps
		step := int32(1)
		for in := range s.While(v, ops.Passes(12)) {
			s.Do(ops.ExtractVector(v, v, ops.ValuesOf(idx), in))
			s.Do(ops.ApplySecond(idx, semiring.Plus[int32](), idx, step, in))
			step = 0 // the list adds 1 in each pass
		}
		return v, s.Err()
	}
	want, err := run(nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := run(d)
	if err != nil || !got.Equal(want) {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if _, _, err := loopDown(t, d, nil); err != nil {
		t.Error(err)
	}
}
