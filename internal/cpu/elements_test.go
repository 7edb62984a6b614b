package cpu

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/internal/stream"
)

// model is a matrix as a map.
type model[T any] map[[2]int]T

// elements compares the element-wise drivers with models, for values of T. Every operation is
// exact.
type elements[T comparable] struct {
	*testing.T
	r     *rand.Rand
	value func(k int) T
	add   func(x, y T) T // commutative and associative
	id    T
}

// random returns an m×n matrix with about this many entries, in a format.
func (e *elements[T]) random(m, n, entries int, format sparse.Format) (*sparse.Store, model[T]) {
	want := model[T]{}
	if format == sparse.Full {
		for p := range m * n {
			want[[2]int{p / n, p % n}] = e.value(e.r.IntN(100))
		}
	}
	for range entries {
		want[[2]int{e.r.IntN(m), e.r.IntN(n)}] = e.value(e.r.IntN(100))
	}
	var b sparse.Tuples[T]
	for at, x := range want {
		b.Row, b.Col, b.Val = append(b.Row, int32(at[0])), append(b.Col, int32(at[1])), append(b.Val, x)
	}
	typed, err := sparse.Built(m, n, []sparse.Tuples[T]{b}, nil, 2, nil)
	if err != nil {
		e.Fatal(err)
	}
	s := sparse.Untyped(typed)
	switch format {
	case sparse.CSR:
		s = s.ToCSR()
	case sparse.Hypersparse:
		s = s.ToHyper()
	case sparse.Bitmap:
		s = s.ToBitmap()
	case sparse.Full:
		s = s.ToFull(s.Type.Zero)
	}
	return s, want
}

func (e *elements[T]) equal(what string, s *sparse.Store, want model[T]) {
	e.Helper()
	if err := s.Check(s.Val.Len(), s.Val.None()); err != nil {
		e.Fatalf("%s: %v", what, err)
	}
	if s.NVals != int64(len(want)) {
		e.Fatalf("%s: %d entries, want %d", what, s.NVals, len(want))
	}
	list := sparse.As[T](s.ToSparse())
	for k := range list.Vecs() {
		for p := list.Ptr[k]; p < list.Ptr[k+1]; p++ {
			at := [2]int{list.RowID(k), int(list.Idx[p])}
			if x, ok := want[at]; !ok || x != list.Val[p] {
				e.Fatalf("%s: %v at %v, want %v (%v)", what, list.Val[p], at, x, ok)
			}
		}
	}
}

func (e *elements[T]) binary(user bool) *Binary {
	return (&BinaryOf[T, T, T]{
		Zip: func(c, a, b []T) {
			for p := range c {
				c[p] = e.add(a[p], b[p])
			}
		},
		ZipAt: func(c []T, pc []int32, a []T, pa []int32, b []T, pb []int32) {
			for p, q := range pc {
				c[q] = e.add(a[pa[p]], b[pb[p]])
			}
		},
		UsesX: true, UsesY: true, User: user,
	}).Untyped()
}

func (e *elements[T]) monoid() *Monoid {
	m := &MonoidOf[T]{Identity: []T{e.id}, Exact: true}
	m.Fold = func(s *T, xs []T) {
		for _, x := range xs {
			*s = e.add(*s, x)
		}
	}
	m.FoldRows = func(y []T, id *T, ptr []int64, v []T) {
		for i := range y {
			y[i] = *id
			m.Fold(&y[i], v[ptr[i]:ptr[i+1]])
		}
	}
	m.Collect = func(acc []T, ci []int32, v []T) {
		for p, j := range ci {
			acc[j] = e.add(acc[j], v[p])
		}
	}
	return m.Untyped()
}

// chosen is a predicate that the tests keep entries by.
func chosen(i, j int) bool { return (i*7+j)%3 != 0 }

func (e *elements[T]) predicate(user bool) *Predicate {
	return (&PredicateOf[T]{UsesValue: true, User: user, Keep: func(keep []uint8, a []T, i int, ci []int32, j0 int, swap bool) {
		for p := range keep {
			x, y := i, j0+p
			if ci != nil {
				y = int(ci[p])
			}
			if swap {
				x, y = y, x
			}
			keep[p] = b2u(chosen(x, y) && a[p] != e.value(3))
		}
	}}).Untyped()
}

func (e *elements[T]) union(a, b model[T], f func(x, y T) T) model[T] {
	want := model[T]{}
	for at, x := range a {
		want[at] = x
	}
	for at, y := range b {
		if x, ok := a[at]; ok {
			y = f(x, y)
		}
		want[at] = y
	}
	return want
}

// pairs tests the operations on two matrices of a shape.
func (e *elements[T]) pairs(env Env, m, n, na, nb int, fa, fb sparse.Format) {
	a, wa := e.random(m, n, na, fa)
	b, wb := e.random(m, n, nb, fb)
	c, put := a.Type, Copying(a.Type)
	what := fmt.Sprintf("%d×%d, %v with %d and %v with %d, %d threads: ", m, n, fa, na, fb, nb, env.Threads)
	for _, copies := range []bool{true, false} {
		got, err := Union(env, UnionOps{Both: e.binary(!copies), Left: put, Right: put, Copies: copies}, c, a, b)
		if err != nil {
			e.Fatal(err)
		}
		e.equal(what+"union", got, e.union(wa, wb, e.add))
	}
	both, rest, merged := model[T]{}, model[T]{}, model[T]{}
	in := model[T]{}
	for at, x := range wa {
		if y, ok := wb[at]; ok {
			both[at], in[at] = e.add(x, y), x
		} else {
			rest[at] = x
		}
	}
	got, err := Intersect(env, e.binary(false), c, a, b, Values{})
	if err != nil {
		e.Fatal(err)
	}
	e.equal(what+"intersection", got, both)
	for comp, want := range map[bool]model[T]{false: in, true: rest} {
		if got, err = Filter(env, a.Own(), &Mask{S: &b.Structure, Comp: comp}); err != nil {
			e.Fatal(err)
		}
		e.equal(what+"filter", got, want)
	}
	if got, err = Restrict(env, a.Own(), &Mask{S: &b.Structure, Comp: true}); err != nil {
		e.Fatal(err)
	}
	e.equal(what+"restrict", got, rest)

	t, wt := e.random(m, n, na/2+1, fb)
	for _, comp := range []bool{false, true} {
		clear(merged)
		for at, x := range wa {
			if _, ok := wb[at]; ok == comp {
				merged[at] = x
			}
		}
		for at, x := range wt {
			if _, ok := wb[at]; ok != comp {
				merged[at] = x
			}
		}
		got, err = Write(env, a.Own(), t.Own(), Overlap{Mask: &Mask{S: &b.Structure, Comp: comp}, InPlace: true})
		if err != nil {
			e.Fatal(err)
		}
		e.equal(what+"masked write", got, merged)
	}
	if got, err = Write(env, a.Own(), b.Own(), Overlap{Accum: e.binary(false), InPlace: true}); err != nil {
		e.Fatal(err)
	}
	e.equal(what+"accumulation", got, e.union(wa, wb, e.add))
	if !a.Sparse() {
		if s := a.Own(); b.Sparse() {
			for _, user := range []bool{false, true} {
				if err := AccumulateInto(env, s, b, e.binary(user)); err != nil {
					e.Fatal(err)
				}
				e.equal(what+"accumulation in place", s, e.union(wa, wb, e.add))
				s = a.Own()
			}
		}
		x, filled := e.value(5), model[T]{}
		for at, y := range wa {
			filled[at] = y
		}
		for at := range wb {
			filled[at] = x
		}
		s := a.Own()
		FillMasked(s, &b.Structure, sparse.ValuesOf([]T{x}), env.Threads)
		e.equal(what+"fill", s, filled)
		if b.Sparse() {
			e.equal(what+"lookup", Lookup(a, &b.Structure), in)
		}
	}
}

// single tests the operations on one matrix.
func (e *elements[T]) single(env Env, m, n, entries int, format sparse.Format) {
	a, wa := e.random(m, n, entries, format)
	what := fmt.Sprintf("%d×%d, %v with %d, %d threads: ", m, n, format, entries, env.Threads)
	for _, swap := range []bool{false, true}[:1+b2u(m == 1)] {
		for _, user := range []bool{false, true} {
			want := model[T]{}
			for at, x := range wa {
				if i, j := at[0]+2, at[1]; swap && chosen(j+2, at[0]) || !swap && chosen(i, j) {
					if x != e.value(3) {
						want[at] = x
					}
				}
			}
			got, err := Select(env, a, e.predicate(user), 2, swap)
			if err != nil {
				e.Fatal(err)
			}
			e.equal(what+"selection", got, want)
		}
		band := model[T]{}
		for at, x := range wa {
			i, j := at[0]+1, at[1]
			if swap {
				i, j = at[1]+1, at[0]
			}
			if d := j - i; d >= -40 && d <= 9 {
				band[at] = x
			}
		}
		got, err := Select(env, a, &Predicate{Band: true, Lo: -40, Hi: 9}, 1, swap)
		if err != nil {
			e.Fatal(err)
		}
		e.equal(what+"band", got, band)
	}
	value := model[T]{}
	for at, x := range wa {
		if x != e.value(3) {
			value[at] = x
		}
	}
	got, err := Select(env, a, (&PredicateOf[T]{ByValue: true, UsesValue: true, Keep: func(keep []uint8, a []T, _ int, _ []int32, _ int, _ bool) {
		for p := range keep {
			keep[p] = b2u(a[p] != e.value(3))
		}
	}}).Untyped(), 0, false)
	if err != nil {
		e.Fatal(err)
	}
	e.equal(what+"selection by value", got, value)

	mapped := model[T]{}
	for at, x := range wa {
		mapped[at] = e.add(x, e.value(7))
	}
	got, err = Apply(env, a.Type, a, func(c, v Values) {
		out := sparse.SliceOf[T](c)
		for p, x := range sparse.SliceOf[T](v) {
			out[p] = e.add(x, e.value(7))
		}
	}, true, Values{})
	if err != nil {
		e.Fatal(err)
	}
	e.equal(what+"map", got, mapped)
	e.reductions(env, what, a, wa)
	if a.Sparse() {
		e.regions(env, what, a, wa)
	}
	if m == 1 && format != sparse.Hypersparse {
		e.assignments(env, what, a, wa)
	}
}

func (e *elements[T]) reductions(env Env, what string, a *sparse.Store, wa model[T]) {
	rows, cols, sum := model[T]{}, model[T]{}, e.id
	for at, x := range wa {
		i, j := [2]int{0, at[0]}, [2]int{0, at[1]}
		if _, ok := rows[i]; !ok {
			rows[i] = e.id
		}
		if _, ok := cols[j]; !ok {
			cols[j] = e.id
		}
		rows[i], cols[j], sum = e.add(rows[i], x), e.add(cols[j], x), e.add(sum, x)
	}
	got, err := ReduceRows(env, a, e.monoid())
	if err != nil {
		e.Fatal(err)
	}
	e.equal(what+"rows", got, rows)
	if got, err = ReduceCols(env, a, e.monoid(), e.binary(false)); err != nil {
		e.Fatal(err)
	}
	e.equal(what+"columns", got, cols)
	total := make([]T, 1)
	if err := ReduceAll(env, a, e.monoid(), sparse.ValuesOf(total).Pointer()); err != nil {
		e.Fatal(err)
	}
	if total[0] != sum {
		e.Fatalf("%ssum %v, want %v", what, total[0], sum)
	}
}

// regions tests Extract, Spread and Outside.
func (e *elements[T]) regions(env Env, what string, a *sparse.Store, wa model[T]) {
	m, n := a.NRows, a.NCols
	list := func(n int) Indices {
		l := e.r.Perm(n)[:1+n/2]
		x := Indices{N: len(l)}
		for _, i := range l {
			x.List = append(x.List, int32(i))
		}
		return x
	}
	for _, rows := range []Indices{{N: m}, {Lo: m / 3, N: m - m/2}, list(m)} {
		for _, cols := range []Indices{{N: n}, {Lo: n / 3, N: n - n/2}, list(n)} {
			want, spread, rest := model[T]{}, model[T]{}, model[T]{}
			for at, x := range wa {
				rest[at] = x
			}
			row, col := inverse(rows), inverse(cols)
			for at, x := range wa {
				p, inRow := row[at[0]]
				q, inCol := col[at[1]]
				if inRow && inCol {
					want[[2]int{p, q}], spread[at] = x, x
					delete(rest, at)
				}
			}
			got, err := Extract(env, a, rows, cols)
			if err != nil {
				e.Fatal(err)
			}
			e.equal(what+"extraction", got, want)
			e.equal(what+"spread", Spread(env, got, rows, cols, m, n), spread)
			if got, err = Outside(env, a, rows, cols); err != nil {
				e.Fatal(err)
			}
			e.equal(what+"outside", got, rest)
		}
	}
}

// inverse maps indices to their places.
func inverse(x Indices) map[int]int {
	place := map[int]int{}
	for p := range x.N {
		place[x.at(p)] = p
	}
	return place
}

// assignments tests the operations on a vector and a list of positions.
func (e *elements[T]) assignments(env Env, what string, a *sparse.Store, wa model[T]) {
	n := a.NCols
	var idx []int32
	for _, i := range e.r.Perm(n)[:n/3+1] {
		idx = append(idx, int32(i))
	}
	val, present := make([]T, len(idx)), make([]uint8, len(idx))
	for p := range val {
		val[p], present[p] = e.value(e.r.IntN(100)), uint8(e.r.IntN(2))
	}
	for _, deletes := range []bool{false, true} {
		for _, scalar := range []bool{false, true} {
			want := model[T]{}
			for at, x := range wa {
				want[at] = x
			}
			has, v := present, sparse.ValuesOf(val)
			if !deletes {
				has = nil
			}
			if scalar {
				v = Values{}
			}
			for p, i := range idx {
				x := val[p]
				if scalar {
					x = e.value(8)
				}
				if want[[2]int{0, int(i)}] = x; deletes && present[p] == 0 {
					delete(want, [2]int{0, int(i)})
				}
			}
			got := AssignRow(a.Own(), idx, sparse.ValuesOf([]T{e.value(8)}), v, has, false, env.Threads)
			e.equal(what+"assignment", got, want)
		}
	}
	sums, at := model[T]{}, Indices{List: idx, N: len(idx)}
	for p := range idx {
		at.List[p] %= int32(n/2 + 1)
		k := [2]int{0, int(at.List[p])}
		if _, ok := sums[k]; !ok {
			sums[k] = e.id
		}
		sums[k] = e.add(sums[k], val[p])
	}
	u := newDense(a.Type, 1, len(idx), sparse.ValuesOf(val), nil, int64(len(idx)))
	got, err := ScatterRow(env, e.monoid(), u, at, n)
	if err != nil {
		e.Fatal(err)
	}
	e.equal(what+"scatter", got, sums)
	if got, err = Scatter(env, e.monoid(), u, Indices{List: make([]int32, len(idx)), N: len(idx)}, at, 1, n); err != nil {
		e.Fatal(err)
	}
	e.equal(what+"scatter to a matrix", got, sums)
	if a.Format != sparse.CSR {
		return
	}
	want := model[T]{}
	for p, i := range at.List {
		if x, ok := wa[[2]int{0, int(i)}]; ok {
			want[[2]int{0, p}] = x
		}
	}
	e.equal(what+"extraction of a list", ExtractRow(a, at.List), want)
}

func testElements[T comparable](t *testing.T, value func(k int) T, id T, add func(x, y T) T) {
	t.Run(fmt.Sprintf("%T", id), func(t *testing.T) {
		e := &elements[T]{t, rand.New(rand.NewPCG(3, 4)), value, add, id}
		formats := []sparse.Format{sparse.CSR, sparse.Hypersparse, sparse.Bitmap, sparse.Full}
		for _, shape := range [][4]int{{1, 50, 20, 1}, {1, 4600, 4500, 4}, {1, 4600, 300, 4}, {70, 70, 1000, 1}, {70, 70, 1000, 4}, {60, 70, 40, 2}} {
			m, n, entries, env := shape[0], shape[1], shape[2], Env{Threads: shape[3]}
			stream.From(int64(1<<12*env.Threads), func() {
				for _, fa := range formats {
					if m == 1 && fa == sparse.Hypersparse {
						continue
					}
					e.single(env, m, n, entries, fa)
					for _, fb := range formats {
						if m != 1 || fb != sparse.Hypersparse {
							e.pairs(env, m, n, entries, entries/2, fa, fb)
						}
					}
				}
				e.pairs(env, m, n, entries, 1+entries/60, sparse.CSR, sparse.CSR)
				e.pairs(env, m, n, 1+entries/60, entries, sparse.CSR, sparse.CSR)
			})
		}
	})
}

// TestElements runs the element-wise drivers on values of every class.
func TestElements(t *testing.T) {
	for k, of := range []func(){
		func() {
			testElements(t, func(k int) bool { return k%2 == 0 }, false, func(x, y bool) bool { return x != y })
		},
		func() {
			testElements(t, func(k int) int32 { return int32(k) }, 0, func(x, y int32) int32 { return x + y })
		},
		func() {
			testElements(t, func(k int) float64 { return float64(k) }, 0, func(x, y float64) float64 { return x + y })
		},
		func() {
			testElements(t, func(k int) [2]int64 { return [2]int64{int64(k), 1} }, [2]int64{},
				func(x, y [2]int64) [2]int64 { return [2]int64{x[0] + y[0], x[1] + y[1]} })
		},
		func() {
			testElements(t, func(k int) [3]int64 { return [3]int64{int64(k), 1} }, [3]int64{},
				func(x, y [3]int64) [3]int64 { return [3]int64{x[0] + y[0], x[1] + y[1], 2} })
		},
		func() {
			testElements(t, func(k int) string { return strconv.Itoa(k) }, "", func(x, y string) string { return max(x, y) })
		},
		func() {
			testElements(t, func(int) struct{} { return struct{}{} }, struct{}{}, func(x, _ struct{}) struct{} { return x })
		},
	} {
		if longtest.Takes(k, 4) {
			of()
		}
	}
}
