package largest

import (
	"errors"
	"fmt"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// builtBy returns a builder with two tuples of the same position and another.
func builtBy() *matrix.Builder[int64] {
	b := matrix.NewBuilder[int64](n, n)
	b.Add(n-1, 0, 1)
	b.Add(n-1, 0, 2)
	b.AddBlock([]int32{0}, []int32{n - 1}, []int64{7})
	return b
}

func matrixCalls() []called {
	plus := semiring.Plus[int64]()
	return []called{
		{"matrix.New", false, func() error { return has(matrix.New[int64](n, n), 0, nil) }},
		{"matrix.NewVector", false, func() error { return has(matrix.NewVector[int64](n), 0, nil) }},
		{"matrix.NewFull", true, func() error { _, err := matrix.NewFull[int64](n, n, 1); return err }},
		{"matrix.NewFull of one column", true, func() error { _, err := matrix.NewFull[int64](n, 1, 0); return err }},
		{"matrix.NewFullVector", true, func() error { _, err := matrix.NewFullVector[int64](n, 1); return err }},
		{"matrix.Identity", true, func() error { _, err := matrix.Identity[int64](n); return err }},
		{"matrix.NewBuilder", false, func() error { a, err := builtBy().Build(plus); return has(a, 2, err) }},
		{"Builder.Add", false, func() error {
			b := builtBy()
			_, err := b.Build(nil)
			a, err2 := b.Build(plus)
			return errors.Join(same(errors.Is(err, matrix.ErrDuplicate)), has(a, 2, err2))
		}},
		{"Builder.AddBlock", false, func() error { a, err := builtBy().Build(plus); return has(a, 2, err) }},
		{"Builder.Build", false, func() error { a, err := builtBy().Build(plus); return has(a, 2, err) }},
		{"matrix.NewVectorBuilder", false, func() error { v, err := matrix.NewVectorBuilder[int64](n).Build(nil); return has(v, 0, err) }},
		{"VectorBuilder.Add", false, func() error {
			b := matrix.NewVectorBuilder[int64](n)
			b.Add(n-1, 3)
			v, err := b.Build(nil)
			return has(v, 1, err)
		}},
		{"VectorBuilder.Build", false, func() error { v, err := matrix.NewVectorBuilder[int64](n).Build(plus); return has(v, 0, err) }},
		{"matrix.FromTuples", false, func() error {
			a, err := matrix.FromTuples(n, n, []int{n - 1, 0}, []int{n - 1, 0}, []int64{1, 2}, nil)
			return errors.Join(has(a, 2, err), same(a.Format() == matrix.Hypersparse))
		}},
		{"matrix.VectorFromTuples", false, func() error {
			v, err := matrix.VectorFromTuples(n, []int32{n - 1, 0}, []int64{1, 2}, nil)
			return has(v, 2, err)
		}},
		{"matrix.Diag", false, func() error { a, err := matrix.Diag(twoOf(n), 0); return has(a, 2, err) }},
		{"matrix.Diagonal", false, func() error { v, err := matrix.Diagonal(two(n, n), 0); return has(v, 2, err) }},
		{"matrix.Diagonal outside", false, func() error { v, err := matrix.Diagonal(two(n, n), n); return has(v, 0, err) }},
		{"Matrix.Err", false, func() error { return two(n, n).Err() }},
		{"Matrix.Dims", false, func() error { r, c := two(n, n).Dims(); return same(r == n && c == n) }},
		{"Matrix.NVals", false, func() error { return has(two(n, n), 2, nil) }},
		{"Matrix.Format", false, func() error { return same(two(n, n).Format() == matrix.Hypersparse) }},
		{"Matrix.At", false, func() error { x, ok := two(n, n).At(n-1, n-1); return same(ok && x == 5) }},
		{"Matrix.Value", false, func() error { _, err := two(n, n).Value(n-1, n-1); return err }},
		{"Matrix.Set", false, func() error { a := two(n, n); err := a.Set(n-2, 5, 1); return has(a, 3, err) }},
		{"Matrix.Delete", false, func() error { a := two(n, n); err := a.Delete(n-1, n-1); return has(a, 1, err) }},
		{"Matrix.Clear", false, func() error { a := two(n, n); a.Clear(); return has(a, 0, nil) }},
		{"Matrix.Clone", false, func() error { return has(two(n, n).Clone(), 2, nil) }},
		{"Matrix.Fetch", false, func() error { return two(n, n).Fetch() }},
		{"Matrix.AllChecked", false, func() error { seq, err := two(n, n).AllChecked(); return errors.Join(err, same(count(seq) == 2)) }},
		{"Matrix.All", false, func() error { return same(count(two(n, n).All()) == 2) }},
		{"Matrix.Row", false, func() error { return same(count(two(n, n).Row(n-1)) == 1) }},
		{"Matrix.Rows", false, func() error { return same(count(two(n, n).Rows()) == 2) }},
		{"Matrix.Equal", false, func() error { return same(two(n, n).Equal(two(n, n)) && !two(n, 1).Equal(two(n, 2))) }},
		{"Matrix.EqualFunc", false, func() error {
			return same(two(n, n).EqualFunc(two(n, n), func(x, y int64) bool { return x == y }))
		}},
		{"Matrix.Resize", false, func() error { a := two(n, n); err := a.Resize(n-1, n); return has(a, 1, err) }},
		{"Matrix.Resize of a bitmap", true, func() error {
			a := two(2, 2)
			return errors.Join(a.SetFormat(matrix.Bitmap), a.Resize(n, n))
		}},
		{"Matrix.SetFormat", true, func() error { return two(n, n).SetFormat(matrix.Bitmap) }},
		{"Matrix.SetFormat csr", true, func() error { return two(n, 2).SetFormat(matrix.CSR) }},
		{"Matrix.SetFormat hypersparse", false, func() error { return two(n, n).SetFormat(matrix.Hypersparse) }},
		{"Matrix.IsSymmetric", false, func() error { return same(two(n, n).IsSymmetric()) }},
		{"Matrix.CSR", true, func() error { _, _, _, err := two(n, 2).CSR(); return err }},
		{"Matrix.CSC", true, func() error { _, _, _, err := two(2, n).CSC(); return err }},
		{"Matrix.Tuples", false, func() error { r, _, _, err := two(n, n).Tuples(); return errors.Join(err, same(len(r) == 2)) }},
		{"Matrix.Dense", true, func() error { _, err := two(n, 2).Dense(0); return err }},
		{"Matrix.String", false, func() error { return same(two(n, n).String() != "") }},
		{"Matrix.Text", false, func() error { return same(two(n, n).Text() != "") }},
		{"Matrix.GoString", false, func() error { return same(fmt.Sprintf("%#v", two(n, n)) != "") }},
		{"Matrix.View", false, func() error { return has(two(n, n).View(), 2, nil) }},
		{"Matrix.T", false, func() error { return has(two(n, n).T(), 2, nil) }},
		{"Matrix.Pattern", false, func() error { return has(two(n, n).Pattern(), 2, nil) }},
		{"Matrix.Structure", false, func() error { return two(n, n).Structure().Err() }},
		{"Matrix.MaskView", false, func() error { return two(n, n).MaskView().Err() }},
		{"Matrix.Spec", false, func() error { return two(n, n).Spec().Inside().Err() }},
		{"Matrix.Masked", false, func() error { return two(n, n).Masked(nil).Spec().Inside().Err() }},
		{"Matrix.Accum", false, func() error { return two(n, n).Accum(plus).Spec().Inside().Err() }},
		{"Matrix.Replace", false, func() error { return two(n, n).Replace().Spec().Inside().Err() }},
		{"MaskView.MaskView", false, func() error { return two(n, n).MaskView().Not().MaskView().Err() }},
		{"MaskView.Not", false, func() error { return two(n, n).MaskView().Not().Not().Err() }},
		{"MaskView.Err", false, func() error { return two(n, n).MaskView().Not().Err() }},
		{"MaskView.Dims", false, func() error { r, c := two(n, 1).MaskView().Not().Dims(); return same(r == n && c == 1) }},
		{"MaskView.IsVector", false, func() error { return same(twoOf(n).MaskView().Not().IsVector()) }},
		{"MaskView.Complemented", false, func() error { return same(two(n, n).MaskView().Not().Complemented()) }},
		{"MaskView.Structural", false, func() error { return same(two(n, n).Structure().Structural()) }},
		{"MaskView.Fetch", false, func() error { return two(n, n).MaskView().Not().Fetch() }},
		{"View.T", false, func() error { return has(two(n, 1).T().T(), 2, nil) }},
		{"View.Pattern", false, func() error { return has(two(n, n).T().Pattern(), 2, nil) }},
		{"View.Dims", false, func() error { r, c := two(n, 1).T().Dims(); return same(r == 1 && c == n) }},
		{"View.NVals", false, func() error { return has(two(n, n).T(), 2, nil) }},
		{"View.At", false, func() error { x, ok := two(n, 7).T().At(6, n-1); return same(ok && x == 5) }},
		{"View.Row", false, func() error { return same(count(two(n, n).T().Row(n-1)) == 1) }},
		{"View.All", false, func() error { return same(count(two(n, n).T().All()) == 2) }},
		{"View.Err", false, func() error { return two(n, n).T().Err() }},
		{"View.Fetch", false, func() error { return two(n, n).T().Fetch() }},
		{"View.String", false, func() error { return same(two(n, n).T().String() != "") }},
		{"Vector.Err", false, func() error { return twoOf(n).Err() }},
		{"Vector.Size", false, func() error { return same(twoOf(n).Size() == n) }},
		{"Vector.NVals", false, func() error { return has(twoOf(n), 2, nil) }},
		{"Vector.Format", false, func() error { return same(twoOf(n).Format() == matrix.CSR) }},
		{"Vector.At", false, func() error { x, ok := twoOf(n).At(n - 1); return same(ok && x == 5) }},
		{"Vector.Value", false, func() error { _, err := twoOf(n).Value(n - 1); return err }},
		{"Vector.Set", false, func() error { v := twoOf(n); err := v.Set(9, 1); return has(v, 3, err) }},
		{"Vector.Delete", false, func() error { v := twoOf(n); err := v.Delete(n - 1); return has(v, 1, err) }},
		{"Vector.Clear", false, func() error { v := twoOf(n); v.Clear(); return has(v, 0, nil) }},
		{"Vector.Clone", false, func() error { return has(twoOf(n).Clone(), 2, nil) }},
		{"Vector.Fetch", false, func() error { return twoOf(n).Fetch() }},
		{"Vector.AllChecked", false, func() error { seq, err := twoOf(n).AllChecked(); return errors.Join(err, same(count(seq) == 2)) }},
		{"Vector.All", false, func() error { return same(count(twoOf(n).All()) == 2) }},
		{"Vector.Equal", false, func() error { return same(twoOf(n).Equal(twoOf(n))) }},
		{"Vector.EqualFunc", false, func() error {
			return same(twoOf(n).EqualFunc(twoOf(n), func(x, y int64) bool { return x == y }))
		}},
		{"Vector.Resize", false, func() error { v := twoOf(n); err := v.Resize(n - 1); return has(v, 1, err) }},
		{"Vector.SetFormat", true, func() error { return twoOf(n).SetFormat(matrix.Bitmap) }},
		{"Vector.Dense", true, func() error { _, err := twoOf(n).Dense(0); return err }},
		{"Vector.String", false, func() error { return same(twoOf(n).String() != "") }},
		{"Vector.Text", false, func() error { return same(twoOf(n).Text() != "") }},
		{"Vector.GoString", false, func() error { return same(twoOf(n).GoString() != "") }},
		{"Vector.Pattern", false, func() error { return has(twoOf(n).Pattern(), 2, nil) }},
		{"VectorPattern.NVals", false, func() error { return has(twoOf(n).Pattern(), 2, nil) }},
		{"VectorPattern.Err", false, func() error { return twoOf(n).Pattern().Err() }},
		{"matrix.AsView", false, func() error { return has(matrix.AsView[bool](two(n, n).Pattern()), 2, nil) }},
		{"PatternView.T", false, func() error { return has(two(n, n).Pattern().T(), 2, nil) }},
		{"PatternView.Pattern", false, func() error { return has(two(n, n).Pattern().Pattern(), 2, nil) }},
		{"PatternView.Dims", false, func() error { m, k := two(n, n).Pattern().Dims(); return same(m == n && k == n) }},
		{"PatternView.NVals", false, func() error { return has(two(n, n).Pattern(), 2, nil) }},
		{"PatternView.At", false, func() error { _, ok := two(n, n).Pattern().At(n/2, n/2); return same(!ok) }},
		{"PatternView.Row", false, func() error { return same(count(two(n, n).Pattern().Row(n/2)) == 0) }},
		{"PatternView.All", false, func() error { return same(count(two(n, n).Pattern().All()) == 2) }},
		{"PatternView.Err", false, func() error { return two(n, n).Pattern().Err() }},
		{"PatternView.Fetch", false, func() error { return two(n, n).Pattern().Fetch() }},
		{"PatternView.Place", false, func() error { return same(two(n, n).Pattern().Place() == nil) }},
		{"PatternView.String", false, func() error { return same(two(n, n).Pattern().String() != "") }},
		{"Vector.MaskView", false, func() error { return twoOf(n).MaskView().Err() }},
		{"Vector.Structure", false, func() error { return twoOf(n).Structure().Err() }},
		{"Vector.Spec", false, func() error { return twoOf(n).Spec().Inside().Err() }},
		{"Vector.Masked", false, func() error { return twoOf(n).Masked(nil).Spec().Inside().Err() }},
		{"Vector.Accum", false, func() error { return twoOf(n).Accum(plus).Spec().Inside().Err() }},
		{"Vector.Replace", false, func() error { return twoOf(n).Replace().Spec().Inside().Err() }},
	}
}
