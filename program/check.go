package program

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"

	"github.com/hiveblas/hiveblas/matrix"
)

// Check looks for violations of what a program promises and returns the first as a *LawError: that
// its sum is associative and commutative and has its identity, on random messages; and that pushes
// and pulls on random graphs, at several numbers of threads, give the same states. States, messages
// and edge values are bool, numbers, strings, or structs and arrays of them, drawn as small
// integers, so that floating-point sums of them do not round. States may differ by rounding all the
// same. A *ProgramError says that the program is not complete.
//
// Check is for tests. What holds on all values tried may fail on others.
func Check[V, E, M comparable](p Program[V, E, M], seed uint64) error {
	if err := p.outline().check(math.MaxInt); err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(seed, 0x9a9))
	sums := []Program[V, E, M]{p}
	for k := range p.Phases {
		sums = append(sums, *p.ofPhase(k))
	}
	for _, p := range sums {
		if p.Sum.Valid() && !p.Sum.IsAny() {
			if err := checkSum(p, r); err != nil {
				return err
			}
		}
	}
	for round := range 12 {
		n := 1 + round*round
		for _, s := range p.Seeds {
			n = max(n, s.ID+1)
		}
		if n > 1<<16 {
			return &ProgramError{p.name(), "Seeds", fmt.Sprintf("names vertex %d", n-1), "check the program with seeds below 65536"}
		}
		if err := checkPlans(p, n, r); err != nil {
			return err
		}
	}
	return nil
}

// checkSum tests the laws of the sum.
func checkSum[V, E, M comparable](p Program[V, E, M], r *rand.Rand) error {
	add, id := p.Sum.Combine, p.Sum.Identity()
	broken := func(law, operands string, got, want M) error {
		return &LawError{p.name(), law, operands, fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want)}
	}
	for range 2000 {
		var m [3]M
		for k := range m {
			draw(r, reflect.ValueOf(&m[k]).Elem())
			m[k] = add(id, m[k]) // a value that a sum may have
		}
		x, y, z := m[0], m[1], m[2]
		if got := add(x, id); !alike(got, x) {
			return broken("the identity of Sum changes a value", fmt.Sprintf("%+v ⊕ %+v", x, id), got, x)
		}
		if a, b := add(x, y), add(y, x); !alike(a, b) {
			return broken("Sum is not commutative", fmt.Sprintf("%+v and %+v in either order", x, y), a, b)
		}
		if a, b := add(add(x, y), z), add(x, add(y, z)); !alike(a, b) {
			return broken("Sum is not associative", fmt.Sprintf("%+v, %+v and %+v from the left and from the right", x, y, z), a, b)
		}
	}
	return nil
}

// checkPlans compares plans and numbers of threads on a random graph.
func checkPlans[V, E, M comparable](p Program[V, E, M], n int, r *rand.Rand) error {
	b := matrix.NewBuilder[E](n, n)
	for range 4 * n {
		var w E
		if v := reflect.ValueOf(&w).Elem(); v.Kind() == reflect.Bool {
			v.SetBool(true)
		} else {
			draw(r, v)
		}
		b.Add(r.IntN(n), r.IntN(1+r.IntN(n)), w)
	}
	g, err := b.Build(last[E]{})
	if err != nil {
		return err
	}
	if p.Supersteps == 0 || p.Supersteps > 20 {
		p.Supersteps = 20
	}
	var want []V
	for _, plan := range []string{"push", "pull"} {
		for _, threads := range []int{1, 3} {
			res, err := Run(context.Background(), g, p, Options{Plan: plan, Threads: threads})
			if err != nil {
				return err
			}
			got, err := res.State.Dense(*new(V))
			if err != nil {
				return err
			}
			if want == nil {
				want = got
			}
			for v := range want {
				if !alike(got[v], want[v]) && !(p.Idempotent && res.Ended == Full) {
					return &LawError{p.name(), fmt.Sprintf("plan %s with %d threads disagrees with push", plan, threads),
						fmt.Sprintf("vertex %d of a graph of %d", v, n), fmt.Sprintf("%+v", got[v]), fmt.Sprintf("%+v", want[v])}
				}
			}
		}
	}
	return nil
}

// last keeps the last of several edges.
type last[E any] struct{}

func (last[E]) Combine(_, y E) E { return y }

// draw sets a value to random small integers.
func draw(r *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(r.IntN(17) - 8))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		v.SetUint(uint64(r.IntN(17)))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(r.IntN(17) - 8))
	case reflect.Complex64, reflect.Complex128:
		v.SetComplex(complex(float64(r.IntN(9)-4), float64(r.IntN(9)-4)))
	case reflect.String:
		v.SetString(string(rune('a' + r.IntN(26))))
	case reflect.Array:
		for k := range v.Len() {
			draw(r, v.Index(k))
		}
	case reflect.Struct:
		for k := range v.NumField() {
			if f := v.Field(k); f.CanSet() {
				draw(r, f)
			}
		}
	}
}

// alike reports whether two values are equal, floats to about ten digits and NaN to NaN.
func alike[T any](x, y T) bool {
	return alikeValues(reflect.ValueOf(&x).Elem(), reflect.ValueOf(&y).Elem())
}

func alikeValues(x, y reflect.Value) bool {
	switch x.Kind() {
	case reflect.Float32, reflect.Float64:
		a, b := x.Float(), y.Float()
		digits := 1e-10
		if x.Kind() == reflect.Float32 {
			digits = 1e-4
		}
		return a == b || a != a && b != b || math.Abs(a-b) <= digits*max(math.Abs(a), math.Abs(b))
	case reflect.Array:
		for k := range x.Len() {
			if !alikeValues(x.Index(k), y.Index(k)) {
				return false
			}
		}
		return true
	case reflect.Struct:
		for k := range x.NumField() {
			if !alikeValues(x.Field(k), y.Field(k)) {
				return false
			}
		}
		return true
	}
	return x.Equal(y)
}
