package semiring

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// CheckOptions are the settings of [Check]. The zero value suits numbers and bools; other types
// need values for the operands.
type CheckOptions[A, B, C any] struct {
	A      []A               // values of the first operand; nil: small and special ones
	B      []B               // values of the second operand
	C      []C               // values of ⊕ besides the identity
	Equal  func(x, y C) bool // nil: ==, NaN equals NaN, floats to about 13 (6) digits
	Rounds int               // number of random rows per kernel; 0: 300
	Seed   uint64

	// Distributive requires that ⊗ distributes over ⊕ from both sides. Many useful semirings, such
	// as plus_min, do not.
	Distributive bool
}

// ErrCheck is the sentinel of CheckError.
var ErrCheck = errors.New("semiring.Check failed")

// A CheckError is a kernel that disagrees with the operators of its semiring, or a law that the
// operators break.
type CheckError struct {
	Semiring string // such as "plus_times"
	Kernel   string // such as "Dot", or "flipped Dot" for exchanged operands; "" for a law
	Law      string // such as "⊕ is not associative"; "" for a kernel
	Operands string // operands of the failing call
	Got      string // result of the kernel, or of the law's left side
	Want     string // result of the operators, or of the law's right side
}

func (e *CheckError) Error() string {
	if e.Law != "" {
		return fmt.Sprintf("%s: %s: %s gives %s and %s", e.Semiring, e.Law, e.Operands, e.Got, e.Want)
	}
	return fmt.Sprintf("%s: kernel %s of %s gives %s, its operators give %s", e.Semiring, e.Kernel,
		e.Operands, e.Got, e.Want)
}

// Is reports whether target is ErrCheck.
func (e *CheckError) Is(target error) bool { return target == ErrCheck }

// Check tests the laws of ⊕ and every kernel of s, and returns the first violation as a
// *CheckError, or nil. It is for the tests of semirings and monoids that users define.
//
// The laws hold for the values of CheckOptions.C, by default small and special ones (NaN, ±Inf, −0,
// the smallest and the largest integers): ⊕ is associative and commutative, its identity changes no
// value, and its terminal, if any, absorbs every value. With CheckOptions.Distributive, ⊗
// distributes over ⊕. The any monoid is exempt. A law that holds for all values tried may fail for
// others.
//
// The kernels run in both orders of the operands on rows of random length, and their results must
// equal ⊕ and ⊗ applied one by one. The failing row is the shortest found. Where ⊗ does not read an
// operand, the kernels also run with a nil slice for it, as operations do.
//
// Check does not test that ⊗ is associative or commutative, that it has an identity, or that the
// identity of ⊕ annihilates under ⊗: no operation relies on these laws. It does not run the CUDA
// expressions either.
func Check[A, B, C any](s Semiring[A, B, C], opts CheckOptions[A, B, C]) error {
	if !s.Valid() {
		return fmt.Errorf("semiring.Check: %q is not usable: its sum or product is the zero value",
			s.Name())
	}
	if opts.Rounds <= 0 {
		opts.Rounds = 300
	}
	if opts.Equal == nil {
		opts.Equal = closeEnough[C]
	}
	opts.A, opts.B = orDefault(opts.A), orDefault(opts.B)
	if len(opts.C) == 0 {
		opts.C = orDefault(opts.C)
		if s.Position() == NotPositional && len(opts.C) == 1 { // a type without default values
			opts.C = append(opts.C, someProducts(s, opts)...)
		}
	}
	if err := checkLaws(s, opts); err != nil {
		return err
	}
	in, name := s.in, s.Name()
	if in.Indexed != nil { // its kernels are closures over the operators
		return nil
	}
	if p := in.Positional; p != nil {
		values := orDefault[C](nil)
		return errors.Join(
			checkIndices(name, p, funcOf[func(int) C](in.mul.pos.fromIndex)),
			checkSide(s, name, "", p.First, func(x C, _ B) C { return x }, values, opts.B, opts),
			checkSide(s, name, "flipped ", p.FirstFlip, func(_ B, x C) C { return x }, opts.B, values, opts),
			checkSide(s, name, "", p.Second, func(_ A, y C) C { return y }, opts.A, values, opts),
			checkSide(s, name, "flipped ", p.SecondFlip, func(y C, _ A) C { return y }, values, opts.A, opts))
	}
	mul := funcOf[func(A, B) C](in.mul.fn)
	if err := checkSide(s, name, "", in.Semiring, mul, opts.A, opts.B, opts); err != nil {
		return err
	}
	return checkSide(s, name, "flipped ", in.Flipped, func(y B, x A) C { return mul(x, y) }, opts.B, opts.A, opts)
}

func checkIndices[C any](name string, p *cpu.Positional, fromIndex func(i int) C) error {
	ci := []int32{0, 1, 5, 100}
	got := make([]C, len(ci))
	p.FillIndices(sparse.ValuesOf(got), ci)
	for q, j := range ci {
		if want := fromIndex(int(j)); !closeEnough(got[q], want) {
			return &CheckError{Semiring: name, Kernel: "FillIndices", Operands: fmt.Sprint(j),
				Got: fmt.Sprint(got[q]), Want: fmt.Sprint(want)}
		}
	}
	return nil
}

// trial is one row for the kernels: entries av at columns ci, a dense vector x with its entries
// marked in present, and the sums so far.
type trial[A, B, C any] struct {
	*cpu.KernelsOf[A, B, C]
	k       *cpu.Semiring
	id      C
	add     func(x, y C) C
	mul     func(x A, y B) C
	any     bool
	equal   func(x, y C) bool
	fail    func(kernel, operands string, got, want any) error
	width   int
	ci      []int32
	av      []A // values of the row, read with x
	bv      []B // values of the row, read with a scalar
	a       A
	x       []B
	present []uint8
	start   C
	sums    []C
}

func checkSide[S, T, A, B, C any](s Semiring[S, T, C], name, side string, k *cpu.Semiring, mul func(x A, y B) C, as []A, bs []B, opts CheckOptions[S, T, C]) error {
	r := rand.New(rand.NewPCG(opts.Seed, 0x5eed))
	t := trial[A, B, C]{
		KernelsOf: cpu.TypedKernels[A, B, C](k), k: k, id: sparse.SliceOf[C](k.Identity)[0],
		add: s.Add().Combine, mul: mul, any: s.in.add.Any, equal: opts.Equal,
	}
	t.fail = func(kernel, operands string, got, want any) error {
		return &CheckError{Semiring: name, Kernel: side + kernel, Operands: operands,
			Got: fmt.Sprint(got), Want: fmt.Sprint(want)}
	}
	if !t.any && !t.equal(t.id, s.Add().Identity()) {
		return t.fail("Identity", "no operands", t.id, s.Add().Identity())
	}
	for round := range opts.Rounds {
		n := round * 70 / opts.Rounds
		t.draw(r, n, as, bs, append(opts.C[:len(opts.C):len(opts.C)], t.id, t.id))
		for _, check := range []func() error{
			t.dot, t.dotPresent, t.dotRows, t.axpy, t.scatter, t.scatterMasked, t.scatterAll,
			t.products, t.absorption,
		} {
			if err := check(); err != nil {
				return err
			}
		}
	}
	return nil
}

func drawn[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// draw draws a row of n entries.
func (t *trial[A, B, C]) draw(r *rand.Rand, n int, as []A, bs []B, cs []C) {
	t.width = n + 1 + r.IntN(n+3)
	t.ci = t.ci[:0]
	for j := range t.width {
		if left := t.width - j; r.IntN(left) < n-len(t.ci) {
			t.ci = append(t.ci, int32(j))
		}
	}
	t.av, t.bv = make([]A, n), make([]B, n)
	for p := range t.ci {
		t.av[p], t.bv[p] = drawn(r, as), drawn(r, bs)
	}
	t.x, t.present, t.sums = make([]B, t.width), make([]uint8, t.width), make([]C, t.width)
	for j := range t.x {
		t.x[j], t.present[j], t.sums[j] = drawn(r, bs), uint8(r.IntN(2)), t.sumOf(drawn(r, cs))
	}
	t.a, t.start = drawn(r, as), t.sumOf(drawn(r, cs))
	if !t.k.UsesX && r.IntN(2) == 0 {
		t.av = nil
	}
	if !t.k.UsesY && r.IntN(2) == 0 {
		t.bv, t.x = nil, nil
	}
}

// sumOf returns the sum of one term. Min and max never leave NaN in a sum so far.
func (t *trial[A, B, C]) sumOf(term C) C { return t.add(t.id, term) }

func (t *trial[A, B, C]) product(p int, j int32) C {
	var a A
	var b B
	if t.av != nil {
		a = t.av[p]
	}
	if t.x != nil {
		b = t.x[j]
	}
	return t.mul(a, b)
}

func (t *trial[A, B, C]) scaled(p int) C {
	var b B
	if t.bv != nil {
		b = t.bv[p]
	}
	return t.mul(t.a, b)
}

// right reports whether got is the sum of terms from start, or for the any monoid one of the terms.
func (t *trial[A, B, C]) right(got, start C, terms []C) (want C, ok bool) {
	want = start
	for _, x := range terms {
		if t.any && t.equal(got, x) {
			return got, true
		}
		want = t.add(want, x)
	}
	return want, t.equal(got, want)
}

func (t *trial[A, B, C]) row() string {
	return fmt.Sprintf("sum %v, row %v at columns %v, vector %v", t.start, brief(t.av), t.ci,
		brief(t.x))
}

func brief[T any](v []T) string {
	if v == nil {
		return "(not read)"
	}
	return fmt.Sprint(v)
}

func (t *trial[A, B, C]) dot() error {
	var terms []C
	for p, j := range t.ci {
		terms = append(terms, t.product(p, j))
	}
	got := t.start
	t.Dot(&got, t.ci, t.av, t.x)
	if want, ok := t.right(got, t.start, terms); !ok {
		return t.fail("Dot", t.row(), got, want)
	}
	return nil
}

func (t *trial[A, B, C]) dotPresent() error {
	var terms []C
	for p, j := range t.ci {
		if t.present[j] != 0 {
			terms = append(terms, t.product(p, j))
		}
	}
	got := t.start
	hit := t.DotPresent(&got, t.ci, t.av, t.x, t.present)
	want, ok := t.right(got, t.start, terms)
	if !ok {
		return t.fail("DotPresent", t.row()+fmt.Sprintf(", present %v", t.present), got, want)
	}
	if hit != (len(terms) > 0) {
		return t.fail("DotPresent", t.row()+fmt.Sprintf(", present %v", t.present),
			fmt.Sprintf("hit %v", hit), fmt.Sprintf("hit %v", !hit))
	}
	return nil
}

// dotRows splits the row into three, one of them empty.
func (t *trial[A, B, C]) dotRows() error {
	if t.DotRows == nil {
		return nil
	}
	n := int64(len(t.ci))
	ptr := []int64{0, n / 3, n / 3, n}
	y := make([]C, 3)
	t.DotRows(y, &t.id, ptr, t.ci, t.av, t.x)
	for i, got := range y {
		var terms []C
		for p := ptr[i]; p < ptr[i+1]; p++ {
			terms = append(terms, t.product(int(p), t.ci[p]))
		}
		if want, ok := t.right(got, t.id, terms); !ok {
			return t.fail("DotRows", fmt.Sprintf("row %d of offsets %v, %s", i, ptr, t.row()), got, want)
		}
	}
	return nil
}

func (t *trial[A, B, C]) axpy() error {
	n := len(t.ci)
	y := append([]C(nil), t.sums[:n]...)
	t.Axpy(y, &t.a, t.bv)
	for p, got := range y {
		if want, ok := t.right(got, t.sums[p], []C{t.scaled(p)}); !ok {
			return t.fail("Axpy", fmt.Sprintf("sum %v, scalar %v, values %v at %d", t.sums[p], t.a,
				brief(t.bv), p), got, want)
		}
	}
	return nil
}

// scattered checks the sums that a kernel left in acc; at reports the columns that the kernel adds
// to.
func (t *trial[A, B, C]) scattered(kernel string, acc []C, at func(j int32) bool) error {
	terms := make([][]C, t.width)
	for p, j := range t.ci {
		if at(j) {
			terms[j] = []C{t.scaled(p)}
		}
	}
	for j, got := range acc {
		if want, ok := t.right(got, t.sums[j], terms[j]); !ok {
			return t.fail(kernel, fmt.Sprintf("sum %v, scalar %v, values %v at columns %v, in column %d",
				t.sums[j], t.a, brief(t.bv), t.ci, j), got, want)
		}
	}
	return nil
}

func (t *trial[A, B, C]) scatter() error {
	acc, marks := append([]C(nil), t.sums...), make([]uint64, (t.width+63)/64)
	t.Scatter(acc, marks, &t.a, t.ci, t.bv)
	want := make([]uint64, len(marks))
	for _, j := range t.ci {
		want[j>>6] |= 1 << (j & 63)
	}
	if !slices.Equal(marks, want) {
		return t.fail("Scatter", fmt.Sprintf("columns %v", t.ci), fmt.Sprintf("marks %x", marks),
			fmt.Sprintf("%x", want))
	}
	return t.scattered("Scatter", acc, func(int32) bool { return true })
}

func (t *trial[A, B, C]) scatterMasked() error {
	acc, state := append([]C(nil), t.sums...), append([]uint8(nil), t.present...)
	t.ScatterMasked(acc, state, &t.a, t.ci, t.bv)
	want := append([]uint8(nil), t.present...)
	for _, j := range t.ci {
		want[j] *= 2
	}
	if string(state) != string(want) {
		return t.fail("ScatterMasked", fmt.Sprintf("columns %v of state %v", t.ci, t.present),
			fmt.Sprintf("state %v", state), want)
	}
	return t.scattered("ScatterMasked", acc, func(j int32) bool { return t.present[j] != 0 })
}

func (t *trial[A, B, C]) scatterAll() error {
	acc := append([]C(nil), t.sums...)
	t.ScatterAll(acc, &t.a, t.ci, t.bv)
	return t.scattered("ScatterAll", acc, func(int32) bool { return true })
}

func (t *trial[A, B, C]) products() error {
	out := make([]C, len(t.ci))
	t.Products(out, &t.a, t.bv)
	for p, got := range out {
		if want := t.scaled(p); !t.equal(got, want) {
			return t.fail("Products", fmt.Sprintf("scalar %v, values %v at %d", t.a, brief(t.bv), p),
				got, want)
		}
	}
	return nil
}

// absorption checks that the identity in place of an absent operand changes no sum, for semirings
// that claim it.
func (t *trial[A, B, C]) absorption() error {
	if t.IsIdentity == nil {
		return nil
	}
	if !t.IsIdentity(&t.id) {
		return t.fail("IsIdentity", fmt.Sprint(t.id), false, true)
	}
	b := sparse.SliceOf[B](t.k.Absent)[0]
	s := t.add(t.id, t.start)
	if got := t.add(s, t.mul(t.a, b)); !t.equal(got, s) {
		return t.fail("IsIdentity", fmt.Sprintf("sum %v and product of %v and %v", s, t.a, b), got, s)
	}
	return nil
}

// orDefault returns values if there are any, else small and special ones of a number type.
func orDefault[T any](values []T) []T {
	if len(values) > 0 {
		return values
	}
	put := func(set func(v reflect.Value)) {
		var x T
		set(reflect.ValueOf(&x).Elem())
		values = append(values, x)
	}
	var x T
	v := reflect.ValueOf(&x).Elem()
	switch {
	case v.CanFloat():
		for _, f := range []float64{-3, -2, -1, 0, 1, 2, 3, 4, 0.5, 1, 2, math.Copysign(0, -1),
			math.NaN(), math.Inf(1), math.Inf(-1)} {
			put(func(v reflect.Value) { v.SetFloat(f) })
		}
	case v.CanInt():
		bits := v.Type().Bits()
		for _, i := range []int64{-3, -1, 0, 1, 2, 3, 5, 1<<(bits-1) - 1, -1 << (bits - 1),
			1 << (bits - 2)} {
			put(func(v reflect.Value) { v.SetInt(i) })
		}
	case v.CanUint():
		for _, u := range []uint64{0, 1, 2, 3, 5, 1<<v.Type().Bits() - 1, 1 << (v.Type().Bits() - 1)} {
			put(func(v reflect.Value) { v.SetUint(u) })
		}
	case v.Kind() == reflect.Bool:
		put(func(v reflect.Value) { v.SetBool(false) })
		put(func(v reflect.Value) { v.SetBool(true) })
	default:
		values = append(values, x)
	}
	return values
}

// closeEnough is ==, except that NaN equals NaN and floats may differ by the rounding of another
// summation order.
func closeEnough[T any](x, y T) bool {
	switch a := any(x).(type) {
	case float64:
		return near(a, any(y).(float64), 1e-13)
	case float32:
		return near(float64(a), float64(any(y).(float32)), 1e-5)
	case bool, int8, int16, int32, int64, int, uint8, uint16, uint32, uint64, uint:
		return a == any(y)
	}
	v, w := reflect.ValueOf(&x).Elem(), reflect.ValueOf(&y).Elem()
	if !v.CanFloat() {
		if v.Comparable() {
			return v.Equal(w)
		}
		return reflect.DeepEqual(x, y)
	}
	if v.Type().Bits() == 32 {
		return near(v.Float(), w.Float(), 1e-5)
	}
	return near(v.Float(), w.Float(), 1e-13)
}

func near(x, y, tolerance float64) bool {
	return x == y || x != x && y != y || math.Abs(x-y) <= tolerance*max(1, math.Abs(x), math.Abs(y))
}
