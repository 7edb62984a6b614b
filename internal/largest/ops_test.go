package largest

import (
	"errors"
	"fmt"

	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

func opsCalls() []called {
	ring, plus := semiring.PlusTimes[int64](), semiring.Plus[int64]()
	via := semiring.New(plus, semiring.NewIndexBinary("via", func(x, y int64, _, k, _ int) int64 { return x + y + int64(k) }))
	into := func(rows, cols int, want int64, f func(c mat) error) func() error {
		return func() error { c := matrix.New[int64](rows, cols); return has(c, want, f(c)) }
	}
	intoVector := func(size int, want int64, f func(w vec) error) func() error {
		return func() error { w := matrix.NewVector[int64](size); return has(w, want, f(w)) }
	}
	a, tall, wide, u := two(n, n), two(n, 3), two(3, n), twoOf(n)
	list := []called{
		{"ops.MxM", false, into(n, n, 2, func(c mat) error { return ops.MxM(c, ring, a, a) })},
		{"ops.MxM tall by wide", false, into(n, n, 2, func(c mat) error { return ops.MxM(c, ring, tall, wide) })},
		{"ops.MxM wide by tall", false, into(3, 3, 2, func(c mat) error { return ops.MxM(c, ring, wide, tall) })},
		{"ops.MxM of transposes", false, into(n, n, 2, func(c mat) error { return ops.MxM(c, ring, wide.T(), tall.T()) })},
		{"ops.MxM under a mask", false, into(n, n, 2, func(c mat) error { return ops.MxM(c.Masked(a), ring, a, a) })},
		{"ops.MxM under a complement", false, into(n, n, 0, func(c mat) error { return ops.MxM(c.Masked(a.MaskView().Not()).Replace(), ring, a, a) })},
		{"ops.MxM accumulated", false, into(n, n, 2, func(c mat) error { return ops.MxM(c.Accum(plus), ring, a, a) })},
		{"ops.MxM by positions", false, into(n, n, 2, func(c mat) error { return ops.MxM(c, via, a, a) })},
		{"ops.MxM hash", false, into(n, n, 2, func(c mat) error { return ops.MxM(c, ring, a, a, ops.Using(ops.Hash)) })},
		{"ops.MxM spmm", true, into(n, n, 0, func(c mat) error {
			full, _ := matrix.NewFull(3, 1000, int64(1))
			d := matrix.New[int64](n, 1000)
			return ops.MxM(d, ring, tall, full, ops.Using(ops.SpMM))
		})},
		{"ops.MxM with a full matrix", false, func() error {
			full, _ := matrix.NewFull(3, 1000, int64(1))
			d := matrix.New[int64](n, 1000)
			return has(d, 2000, ops.MxM(d, ring, tall, full))
		}},
		{"ops.MxV", false, intoVector(n, 2, func(w vec) error { return ops.MxV(w, ring, a, u) })},
		{"ops.MxV to few", false, intoVector(3, 2, func(w vec) error { return ops.MxV(w, ring, wide, u) })},
		{"ops.MxV under a mask", false, intoVector(n, 2, func(w vec) error { return ops.MxV(w.Masked(u), ring, a, u) })},
		{"ops.MxV under a complement", false, intoVector(n, 0, func(w vec) error { return ops.MxV(w.Masked(u.MaskView().Not()), ring, a, u) })},
		{"ops.MxV pull", true, intoVector(3, 2, func(w vec) error { return ops.MxV(w, ring, wide, u, ops.Using(ops.Pull)) })},
		{"ops.MxV pull by positions", true, intoVector(3, 2, func(w vec) error { return ops.MxV(w, via, wide, u, ops.Using(ops.Pull)) })},
		{"ops.MxV push", false, intoVector(n, 2, func(w vec) error { return ops.MxV(w, ring, a, u, ops.Using(ops.Push)) })},
		{"ops.VxM", false, intoVector(n, 2, func(w vec) error { return ops.VxM(w, ring, u, a) })},
		{"ops.VxM pull", true, intoVector(3, 2, func(w vec) error { return ops.VxM(w, ring, u, tall, ops.Using(ops.Pull)) })},
		{"ops.Inner", false, func() error { x, err := ops.Inner(ring, u, u); return errors.Join(err, same(x == 34)) }},
		{"ops.Outer", false, into(n, n, 4, func(c mat) error { return ops.Outer(c, ring, u, u) })},
		{"ops.DiagonalSum", false, func() error { x, err := ops.DiagonalSum(plus, a); return errors.Join(err, same(x == 8)) }},
		{"ops.EWiseAdd", false, into(n, n, 2, func(c mat) error { return ops.EWiseAdd(c, plus, a, a) })},
		{"ops.EWiseAdd of vectors", false, intoVector(n, 2, func(w vec) error { return ops.EWiseAdd(w, plus, u, u) })},
		{"ops.EWiseUnion", false, into(n, 3, 2, func(c mat) error { return ops.EWiseUnion(c, plus, tall, 1, tall, 1) })},
		{"ops.EWiseMult", false, into(n, n, 2, func(c mat) error { return ops.EWiseMult(c, plus, a, a) })},
		{"ops.Apply", false, into(n, n, 2, func(c mat) error { return ops.Apply(c, semiring.Ainv[int64](), a) })},
		{"ops.Apply to a transpose", false, into(n, 3, 2, func(c mat) error { return ops.Apply(c, semiring.Ainv[int64](), wide.T()) })},
		{"ops.ApplyFirst", false, into(n, n, 2, func(c mat) error { return ops.ApplyFirst(c, plus, 1, a) })},
		{"ops.ApplySecond", false, intoVector(n, 2, func(w vec) error { return ops.ApplySecond(w, plus, u, 1) })},
		{"ops.ApplyIndex", false, into(n, n, 2, func(c mat) error { return ops.ApplyIndex(c, semiring.RowIndex[int64](int64(0)), a) })},
		{"ops.Select", false, into(n, n, 2, func(c mat) error { return ops.Select(c, semiring.Tril[int64](0), a) })},
		{"ops.Select by value", false, intoVector(n, 1, func(w vec) error { return ops.Select(w, semiring.ValueGT[int64](3), u) })},
		{"ops.Transpose", false, into(3, n, 2, func(c mat) error { return ops.Transpose(c, tall) })},
		{"ops.Reduce", false, intoVector(n, 2, func(w vec) error { return ops.Reduce(w, plus, tall) })},
		{"ops.Reduce columns", false, intoVector(n, 2, func(w vec) error { return ops.Reduce(w, plus, wide.T()) })},
		{"ops.Reduce a pattern", false, intoVector(n, 2, func(w vec) error { return ops.Reduce(w, plus, a.Pattern()) })},
		{"ops.ReduceScalar", false, func() error { x, err := ops.ReduceScalar(plus, a); return errors.Join(err, same(x == 8)) }},
		{"ops.ReduceInto", false, func() error {
			s := matrix.NewScalar[int64]()
			err := ops.ReduceInto(s, plus, a)
			x, got := s.Value()
			return errors.Join(err, got, same(x == 8))
		}},
		{"ops.CountInto", false, func() error {
			s := matrix.NewScalar[int64]()
			err := ops.CountInto(s, u)
			x, got := s.Value()
			return errors.Join(err, got, same(x == 2))
		}},
		{"ops.AssignVectorFrom", false, intoVector(n, 2, func(w vec) error {
			return ops.AssignVectorFrom(w.Masked(u.Structure()), matrix.ScalarOf[int64](1), ops.All())
		})},
		{"ops.AssignFrom", false, into(n, n, 2, func(c mat) error {
			return ops.AssignFrom(c.Masked(a.Structure()), matrix.ScalarOf[int64](1), ops.All(), ops.All())
		})},
		{"ops.ApplyFirstFrom", false, into(n, n, 2, func(c mat) error { return ops.ApplyFirstFrom(c, plus, matrix.ScalarOf[int64](1), a) })},
		{"ops.ApplySecondFrom", false, intoVector(n, 2, func(w vec) error { return ops.ApplySecondFrom(w, plus, u, matrix.ScalarOf[int64](1)) })},
		{"ops.SelectFrom", false, intoVector(n, 1, func(w vec) error {
			return ops.SelectFrom(w, semiring.Gt[int64](), u, matrix.ScalarOf[int64](3))
		})},
		{"ops.Swap", false, intoVector(n, 2, func(w vec) error {
			v := matrix.NewVector[int64](n)
			return errors.Join(ops.Apply(v, semiring.Identity[int64](), u), ops.Swap(w, v))
		})},
		{"Steps.While", false, intoVector(n, 2, func(w vec) error {
			v := matrix.NewVector[int64](n)
			var s ops.Steps
			s.Do(ops.Apply(v, semiring.Identity[int64](), u))
			for in := range s.While(v, ops.Passes(3)) {
				s.Do(ops.Apply(w, semiring.Identity[int64](), v, in))
			}
			return s.Err()
		})},
		{"Steps.If", false, intoVector(n, 2, func(w vec) error {
			var s ops.Steps
			for in := range s.If(u) {
				s.Do(ops.Apply(w, semiring.Identity[int64](), u, in))
			}
			return s.Err()
		})},
		{"ops.All", false, into(n, n, 2, func(c mat) error { return ops.Extract(c, a, all, all) })},
		{"ops.Span", false, into(n-1, n-1, 1, func(c mat) error { return ops.Extract(c, a, ops.Span(1, n), ops.Span(1, n)) })},
		{"ops.Span outside", false, func() error {
			for _, x := range []ops.Indices{ops.Span(0, n+1), ops.Span(0, 1<<62), ops.Span(-1, 3), ops.Span(n, 1<<40)} {
				if err := ops.Extract(a, a, x, all); !errors.Is(err, matrix.ErrIndex) {
					return fmt.Errorf("outside: %v", err)
				}
			}
			return has(matrix.New[int64](0, n), 0, ops.Extract(matrix.New[int64](0, n), a, ops.Span(5, -1<<62), all))
		}},
		{"ops.Of", false, into(3, 2, 2, func(c mat) error { return ops.Extract(c, a, ops.Of(n-1, 5, 0), ops.Of(0, n-1)) })},
		{"ops.ValuesOf", false, into(1, n, 1, func(c mat) error {
			at, _ := matrix.VectorOf([]int32{n - 1})
			return ops.Extract(c, a, ops.ValuesOf(at), whole)
		})},
		{"ops.Extract", false, into(n, 1, 1, func(c mat) error { return ops.Extract(c, a, whole, ops.Of(n-1)) })},
		{"ops.ExtractVector", false, intoVector(n-7, 1, func(w vec) error { return ops.ExtractVector(w, u, ops.Span(7, n)) })},
		{"ops.ExtractRow", false, intoVector(n-7, 1, func(w vec) error { return ops.ExtractRow(w, a, n-1, ops.Span(7, n)) })},
		{"ops.ExtractRow of a transpose", false, intoVector(n, 1, func(w vec) error { return ops.ExtractRow(w, a.T(), n-1, all) })},
		{"ops.ExtractLabelled", true, func() error {
			_, err := ops.ExtractLabelled(&graphio.Labelled[int64]{Matrix: a}, all, whole)
			return err
		}},
		{"ops.Assign", false, into(n, n, 2, func(c mat) error { return ops.Assign(c, a, whole, all) })},
		{"ops.Assign a part", false, func() error {
			c := two(n, n)
			return has(c, 3, ops.Assign(c, two(n-1, n-1), ops.Span(1, n), ops.Span(1, n)))
		}},
		{"ops.Assign accumulated", false, func() error {
			c := two(n, n)
			return has(c, 3, ops.Assign(c.Accum(plus), two(n-1, n-1), ops.Span(1, n), ops.Span(1, n)))
		}},
		{"ops.AssignVector", false, func() error {
			w := twoOf(n)
			return has(w, 3, ops.AssignVector(w, twoOf(n-1), ops.Span(1, n)))
		}},
		{"ops.AssignVector accumulated", false, func() error {
			w := twoOf(n)
			return has(w, 3, ops.AssignVector(w.Accum(plus), twoOf(n-1), ops.Span(1, n)))
		}},
		{"ops.AssignScalar", true, into(n, n, 0, func(c mat) error { return ops.AssignScalar(c, 1, all, all) })},
		{"ops.AssignScalar under a mask", false, into(n, n, 2, func(c mat) error { return ops.AssignScalar(c.Masked(a), 1, whole, whole) })},
		{"ops.AssignScalar to few", false, into(n, n, 4, func(c mat) error { return ops.AssignScalar(c, 1, ops.Of(n-1, 0), ops.Span(n-2, n)) })},
		{"ops.AssignVectorScalar", true, intoVector(n, 0, func(w vec) error { return ops.AssignVectorScalar(w, 1, ops.Span(1, n)) })},
		{"ops.AssignRow", false, func() error { c := two(n, n); return has(c, 3, ops.AssignRow(c, u, 0, whole)) }},
		{"ops.AssignColumn", false, func() error { c := two(n, n); return has(c, 3, ops.AssignColumn(c, u, all, n-1)) }},
		{"ops.MaskOfRegion", false, func() error {
			c := two(n, n)
			return has(c, 3, ops.Assign(c.Masked(two(n-1, n)), two(n-1, n), ops.Span(0, n-1), all, ops.MaskOfRegion()))
		}},
		{"ops.MaskOfRegion of a vector", false, func() error {
			w := twoOf(n)
			return has(w, 3, ops.AssignVector(w.Masked(twoOf(n-1)), twoOf(n-1), ops.Span(1, n), ops.MaskOfRegion()))
		}},
		{"ops.Scatter", false, into(n, n, 1, func(c mat) error {
			v, _ := matrix.VectorOf([]int64{1, 2})
			return ops.Scatter(c, plus, v, ops.Of(n-1, n-1), ops.Of(n-1, n-1))
		})},
		{"ops.Scatter everywhere", false, into(n, n, 2, func(c mat) error { return ops.Scatter(c, plus, u, whole, all) })},
		{"ops.ScatterVector", false, intoVector(n, 2, func(w vec) error { return ops.ScatterVector(w, plus, twoOf(n-1), ops.Span(1, n)) })},
		{"ops.Kronecker", false, into(n, n, 2, func(c mat) error { return ops.Kronecker(c, plus, a, two(1, 1)) })},
		{"ops.Concat", false, into(n, 6, 4, func(c mat) error {
			return ops.Concat(c, [][]matrix.Source[int64]{{tall, tall}})
		})},
		{"ops.Concat in rows", false, into(n, n, 4, func(c mat) error {
			return ops.Concat(c, [][]matrix.Source[int64]{{two(n-2, n)}, {two(2, n)}})
		})},
		{"ops.Split", false, func() error {
			x, y := matrix.New[int64](n, n-1), matrix.New[int64](n, 1)
			err := ops.Split([][]matrix.Target[int64]{{x, y}}, a)
			return errors.Join(has(x, 1, err), has(y, 1, nil))
		}},
		{"ops.Tile", false, into(n, 12, 8, func(c mat) error { return ops.Tile(c, tall, 1, 4) })},
		{"ops.Sample", false, into(n, n, 2, func(c mat) error { return ops.Sample(c, a, 1, 1) })},
		{"ops.SampleWeighted", false, into(n, n, 2, func(c mat) error { return ops.SampleWeighted(c, a, 1, 1) })},
		{"ops.TopK", false, into(n, n, 2, func(c mat) error { return ops.TopK(c, a, 1<<62) })},
		{"ops.TopKVector", false, func() error {
			i, _, err := ops.TopKVector(u, 1<<62)
			return errors.Join(err, same(len(i) == 2 && i[0] == n-1))
		}},
		{"ops.ArgMax", false, func() error { w := matrix.NewVector[int32](n); return has(w, 2, ops.ArgMax(w, a)) }},
		{"ops.ArgMin", false, func() error { w := matrix.NewVector[int32](n); return has(w, 2, ops.ArgMin(w, a)) }},
		{"ops.Sort", false, into(n, n, 2, func(c mat) error {
			return ops.Sort(c, matrix.New[int32](n, n), a, func(x, y int64) bool { return x > y })
		})},
		{"ops.Products", false, func() error { w, err := ops.Products(a, a, nil); return has(w, 2, err) }},
		{"ops.Products of a transpose", false, func() error { w, err := ops.Products(wide.T(), tall.T(), nil); return has(w, 2, err) }},
		{"ops.Sizes", true, func() error { _, _, err := ops.Sizes(a, a, nil); return err }},
		{"ops.Sizes of few", false, func() error { s, _, err := ops.Sizes(wide, a, nil); return errors.Join(err, same(len(s) == 3)) }},
		{"Steps.NVals", false, func() error { var s ops.Steps; return errors.Join(same(s.NVals(a) == 2), s.Err()) }},
	}
	for name, s := range map[string]semiring.Semiring[bool, bool, int64]{
		"firsti": semiring.MinFirsti[int64](0), "secondi": semiring.MinSecondi[int64](0), "secondj": semiring.MinSecondj[int64](0),
		"pair": semiring.PlusPair[int64](), "any": semiring.AnyPair[int64](),
	} {
		list = append(list,
			called{"ops.MxM " + name, false, into(n, n, 2, func(c mat) error { return ops.MxM(c, s, a.Pattern(), a.Pattern()) })},
			called{"ops.MxV " + name, false, intoVector(n, 2, func(w vec) error { return ops.MxV(w, s, a.Pattern(), u.Pattern()) })},
			called{"ops.VxM " + name, false, intoVector(n, 2, func(w vec) error { return ops.VxM(w, s, u.Pattern(), a.Pattern()) })})
	}
	return list
}
