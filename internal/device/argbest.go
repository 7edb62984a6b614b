package device

import (
	"fmt"
	"math"
	"reflect"
)

// ArgBest writes the column of the largest entry of each of the rows of a, or with least the
// column of the smallest. As in cmp.Compare a NaN is below every number; of equal entries the first
// column counts. It pairs entries of type t with their columns, and reduces the pairs.
func ArgBest(b Backend, c Call, d Dest, t Type, a Operand, rows, cols int, least bool) (Store, Ran, error) {
	pair, _, err := StructOf([]Member{{"x", t.Kind}, {"j", reflect.Int32}})
	if err != nil {
		return nil, Ran{}, err
	}
	column, err := TypeOf[int32]()
	if err != nil {
		return nil, Ran{}, err
	}
	above, nan := "y.x > x.x", "(x.x != x.x && y.x == y.x)"
	if least {
		above, nan = "y.x < x.x", "(x.x == x.x && y.x != y.x)"
	}
	const equal = "(y.x == x.x || (x.x != x.x && y.x != y.x))"
	pairs, _, err := b.Apply(c, Dest{Rows: rows, Cols: cols, Type: pair},
		Func{Name: "pair", Text: fmt.Sprintf("hb_make_%s(x, (hb_i32)j)", pair.Name), X: t, Y: t, Out: pair, UsesX: true}, a, nil, false)
	if err != nil {
		return nil, Ran{}, err
	}
	defer pairs.Drop()
	lo, hi := t.Limits()
	worst := lo
	switch {
	case least:
		worst = hi
	case t.Float():
		worst = "(" + t.Name + ")NAN"
	}
	best, ran, err := b.Reduce(c, Dest{Rows: 1, Cols: rows, Type: pair, Vector: true}, Monoid{
		Func: Func{Name: "best", Text: fmt.Sprintf("(%s || %s || (%s && y.j < x.j)) ? y : x", above, nan, equal),
			X: pair, Y: pair, Out: pair, UsesX: true, UsesY: true, Commutative: true},
		Identity: fmt.Sprintf("hb_make_%s(%s, %d)", pair.Name, worst, math.MaxInt32), Exact: true,
	}, Operand{Store: pairs})
	if err != nil {
		return nil, Ran{}, err
	}
	defer best.Drop()
	of := Func{Name: "column", Text: "x.j", X: pair, Y: pair, Out: column, UsesX: true}
	s, _, err := b.Apply(c, d, of, Operand{Store: best, Vector: true}, nil, false)
	return s, ran, err
}
