package conformance

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

type (
	mat = *matrix.Matrix[float64]
	vec = *matrix.Vector[float64]
)

// misfits holds the destinations c (3×3) and w (3) of the error cases, operands, and operands of
// the wrong shape.
type misfits struct {
	c, a, b, wide, poisoned mat // 3×3, 3×3, 3×3, 3×4, made as −1×3
	w, u, long              vec // 3, 3, 4
	badVector               vec // made as −1
}

func some(m, n int, opts ...matrix.Option) mat {
	a := matrix.New[float64](m, n, opts...)
	b := matrix.NewBuilder[float64](m, n)
	for i := range min(m, n) {
		b.Add(i, i, float64(i+1))
	}
	if built, err := b.Build(nil); err == nil {
		access.SetStore(a, access.Store(built))
	}
	return a
}

func someVector(n int, opts ...matrix.Option) vec {
	v := matrix.NewVector[float64](n, opts...)
	b := matrix.NewVectorBuilder[float64](n)
	b.Add(1, 7)
	if built, err := b.Build(nil); err == nil {
		access.SetVectorStore(v, access.VectorStore(built))
	}
	return v
}

// places returns a list of indices as a vector.
func places(at matrix.Place, list ...int32) *matrix.Vector[int32] {
	v, err := matrix.VectorOf(list)
	if err == nil {
		err = v.Move(at)
	}
	if err != nil {
		panic(err)
	}
	return v
}

// errorCase is a call that must fail.
type errorCase struct {
	name string
	call func(x misfits) error
	is   error
	says []string // parts of the message
}

func errorCases() []errorCase {
	pt := semiring.PlusTimes[float64]()
	plus := semiring.Plus[float64]()
	id := semiring.Identity[float64]()
	row := semiring.NewIndex("row", func(_ float64, i, _ int) float64 { return float64(i) }, "i")
	tril := semiring.Tril[float64](0)
	dim, index, invalid, size := matrix.ErrDimension, matrix.ErrIndex, matrix.ErrInvalid, matrix.ErrSize
	operator, method := ops.ErrOperator, ops.ErrMethod
	all, three := ops.All(), []string{"3×3", "3×4"}
	vectors := []string{"vector of 3", "vector of 4"}
	var noMatrix mat
	var noVector vec
	return []errorCase{
		{"MxM/inner", func(x misfits) error { return ops.MxM(x.c, pt, x.wide, x.b) }, dim, []string{"MxM", "b is 3×3", "4×any"}},
		{"MxM/outer", func(x misfits) error { return ops.MxM(x.c, pt, x.a, x.wide) }, dim, append(three, "destination")},
		{"MxM/transposed", func(x misfits) error { return ops.MxM(x.c, pt, x.wide.T(), x.b) }, dim, []string{"3×3", "4×3", "destination"}},
		{"MxM/mask", func(x misfits) error { return ops.MxM(x.c.Masked(x.wide), pt, x.a, x.b) }, dim, append(three, "mask")},
		{"MxM/vector mask", func(x misfits) error { return ops.MxM(x.c.Masked(x.u), pt, x.a, x.b) }, dim, []string{"mask", "vector of 3", "3×3"}},
		{"MxV/u", func(x misfits) error { return ops.MxV(x.w, pt, x.a, x.long) }, dim, append(vectors, "u is")},
		{"MxV/w", func(x misfits) error { return ops.MxV(x.w, pt, x.wide.T(), x.u) }, dim, append(vectors, "destination")},
		{"MxV/mask", func(x misfits) error { return ops.MxV(x.w.Masked(x.long), pt, x.a, x.u) }, dim, append(vectors, "mask")},
		{"MxV/matrix mask", func(x misfits) error { return ops.MxV(x.w.Masked(x.a.Structure()), pt, x.a, x.u) }, dim, []string{"mask", "3×3", "vector of 3"}},
		{"VxM/u", func(x misfits) error { return ops.VxM(x.w, pt, x.long, x.a) }, dim, append(vectors, "u is")},
		{"VxM/w", func(x misfits) error { return ops.VxM(x.w, pt, x.u, x.wide) }, dim, append(vectors, "destination")},
		{"EWiseAdd/b", func(x misfits) error { return ops.EWiseAdd(x.c, plus, x.a, x.wide) }, dim, append(three, "b is")},
		{"EWiseAdd/c", func(x misfits) error { return ops.EWiseAdd(x.c, plus, x.wide, x.wide) }, dim, append(three, "destination")},
		{"EWiseAdd/kinds", func(x misfits) error { return ops.EWiseAdd(x.c, plus, x.a, x.u) }, dim, []string{"b is", "vector of 3", "3×3"}},
		{"EWiseAdd/vector into matrix", func(x misfits) error { return ops.EWiseAdd(x.c, plus, x.u, x.u) }, dim, []string{"destination", "vector of 3", "3×3"}},
		{"EWiseAdd/matrix into vector", func(x misfits) error { return ops.EWiseAdd(x.w, plus, x.a, x.a) }, dim, []string{"destination", "vector of 3", "3×3"}},
		{"EWiseMult/positional operator", func(x misfits) error {
			return ops.EWiseMult(x.c, semiring.MinSecondi[float64](0).Mul(), x.a.Pattern(), x.b.Pattern())
		}, operator, []string{"EWiseMult"}},
		{"EWiseMult/b", func(x misfits) error { return ops.EWiseMult(x.w, plus, x.u, x.long) }, dim, append(vectors, "b is")},
		{"EWiseUnion/b", func(x misfits) error { return ops.EWiseUnion(x.w, plus, x.u, 1, x.long, 1) }, dim, append(vectors, "b is")},
		{"Apply/c", func(x misfits) error { return ops.Apply(x.c, id, x.wide) }, dim, append(three, "destination")},
		{"Apply/kinds", func(x misfits) error { return ops.Apply(x.c, id, x.u) }, dim, []string{"destination", "vector of 3", "3×3"}},
		{"ApplyFirst/c", func(x misfits) error { return ops.ApplyFirst(x.c, plus, 1, x.wide) }, dim, three},
		{"ApplySecond/c", func(x misfits) error { return ops.ApplySecond(x.c, plus, x.wide, 1) }, dim, three},
		{"ApplyIndex/c", func(x misfits) error { return ops.ApplyIndex(x.c, row, x.wide) }, dim, three},
		{"Select/c", func(x misfits) error { return ops.Select(x.w, tril, x.long) }, dim, vectors},
		{"Reduce/w", func(x misfits) error { return ops.Reduce(x.w, plus, x.wide.T()) }, dim, append(vectors, "destination")},
		{"Transpose/c", func(x misfits) error { return ops.Transpose(x.c, x.wide) }, dim, []string{"4×3", "3×3"}},
		{"Extract/c", func(x misfits) error { return ops.Extract(x.c, x.wide, all, all) }, dim, three},
		{"Extract/row", func(x misfits) error { return ops.Extract(x.c, x.a, ops.Of(0, 3, 1), all) }, index, []string{"rows[1]", "3", "0…2"}},
		{"Extract/column", func(x misfits) error { return ops.Extract(x.c, x.a, all, ops.Of(0, 1, -1)) }, index, []string{"cols[2]", "-1", "0…2"}},
		{"ExtractVector/index", func(x misfits) error { return ops.ExtractVector(x.w, x.u, ops.Of(1, 2, 1<<40)) }, index, []string{"idx[2]"}},
		{"ExtractVector/w", func(x misfits) error { return ops.ExtractVector(x.w, x.u, ops.Of(0, 1, 2, 2)) }, dim, vectors},
		{"ExtractRow/row", func(x misfits) error { return ops.ExtractRow(x.w, x.a, -2, all) }, index, []string{"row -2", "0…2"}},
		{"ExtractRow/w", func(x misfits) error { return ops.ExtractRow(x.w, x.wide, 0, all) }, dim, vectors},
		{"Assign/a", func(x misfits) error { return ops.Assign(x.c, x.wide, all, all) }, dim, append(three, "a is")},
		{"Assign/row", func(x misfits) error { return ops.Assign(x.c, x.a, ops.Of(0, 1, 3), all) }, index, []string{"rows[2]"}},
		{"Assign/duplicate row", func(x misfits) error { return ops.Assign(x.c, x.a, ops.Of(2, 1, 2), all) }, invalid, []string{"rows lists 2 twice", "0 and 2"}},
		{"Assign/duplicate column", func(x misfits) error { return ops.Assign(x.c, x.a, all, ops.Of(0, 0, 1)) }, invalid, []string{"cols lists 0 twice"}},
		{"AssignVector/u", func(x misfits) error { return ops.AssignVector(x.w, x.long, all) }, dim, vectors},
		{"AssignVector/duplicate", func(x misfits) error { return ops.AssignVector(x.w, x.u, ops.Of(1, 0, 1)) }, invalid, []string{"idx lists 1 twice"}},
		{"AssignScalar/row", func(x misfits) error { return ops.AssignScalar(x.c, 1, ops.Of(3), all) }, index, []string{"rows[0]"}},
		{"AssignScalar/duplicate", func(x misfits) error { return ops.AssignScalar(x.c, 1, ops.Of(1, 1), all) }, invalid, []string{"rows lists 1 twice"}},
		{"AssignScalar/huge", func(x misfits) error {
			return ops.AssignScalar(matrix.New[float64](1<<31-1, 1<<31-1, matrix.On(x.c.Place())), 1, all, all)
		}, size, []string{"2147483647×2147483647"}},
		{"AssignRow/row", func(x misfits) error { return ops.AssignRow(x.c, x.u, 3, all) }, index, []string{"AssignRow", "row 3", "0…2"}},
		{"AssignRow/u", func(x misfits) error { return ops.AssignRow(x.c, x.long, 0, all) }, dim, append(vectors, "AssignRow: u")},
		{"AssignRow/mask", func(x misfits) error { return ops.AssignRow(x.c.Masked(x.long), x.u, 0, all) }, dim, append(vectors, "AssignRow: the mask")},
		{"AssignRow/matrix mask", func(x misfits) error { return ops.AssignRow(x.c.Masked(x.a), x.u, 0, all) }, dim, []string{"AssignRow: the mask", "3×3", "vector of 3"}},
		{"AssignRow/duplicate", func(x misfits) error { return ops.AssignRow(x.c, x.u, 0, ops.Of(0, 1, 0)) }, invalid, []string{"AssignRow: cols lists 0 twice"}},
		{"AssignRow/index", func(x misfits) error { return ops.AssignRow(x.c, x.u, 0, ops.Of(0, 1, 3)) }, index, []string{"AssignRow: cols[2]"}},
		{"AssignRow/region", func(x misfits) error {
			return ops.AssignRow(x.c.Masked(x.long), x.u, 0, all, ops.MaskOfRegion())
		}, dim, append(vectors, "AssignRow: the mask")},
		{"AssignColumn/u", func(x misfits) error { return ops.AssignColumn(x.c, x.long, all, 0) }, dim, append(vectors, "AssignColumn: u")},
		{"AssignColumn/column", func(x misfits) error { return ops.AssignColumn(x.c, x.u, all, -1) }, index, []string{"AssignColumn", "column -1", "0…2"}},
		{"AssignColumn/duplicate", func(x misfits) error { return ops.AssignColumn(x.c, x.u, ops.Of(0, 1, 0), 1) }, invalid, []string{"AssignColumn: rows lists 0 twice"}},
		{"MaskOfRegion/mask", func(x misfits) error {
			return ops.Assign(x.c.Masked(x.b), x.a, ops.Of(0, 1), all, ops.MaskOfRegion())
		}, dim, []string{"mask", "3×3", "2×3"}},
		{"MaskOfRegion/duplicate", func(x misfits) error {
			return ops.AssignVector(x.w, x.u, ops.Of(0, 1, 0), ops.MaskOfRegion())
		}, invalid, []string{"idx lists 0 twice"}},
		{"MaskOfRegion/other operation", func(x misfits) error { return ops.Apply(x.c, id, x.a, ops.MaskOfRegion()) }, invalid, []string{"Apply", "MaskOfRegion"}},
		{"AssignVectorScalar/index", func(x misfits) error { return ops.AssignVectorScalar(x.w, 1, ops.Span(1, 4)) }, index, []string{"idx[2]"}},
		{"Scatter/u", func(x misfits) error { return ops.Scatter(x.c, plus, x.long, all, all) }, dim, vectors},
		{"Scatter/lists", func(x misfits) error { return ops.Scatter(x.c, plus, x.u, all, ops.Of(0, 0)) }, dim, []string{"vector of 2", "vector of 3", "cols"}},
		{"Scatter/row", func(x misfits) error { return ops.Scatter(x.c, plus, x.u, ops.Of(0, 0, 3), all) }, index, []string{"rows[2]"}},
		{"Scatter/column of a vector", func(x misfits) error {
			return ops.Scatter(x.c, plus, x.u, all, ops.ValuesOf(places(x.c.Place(), 0, 2, -5)))
		}, index, []string{"cols[2]", "-5", "0…2"}},
		{"ScatterVector/u", func(x misfits) error { return ops.ScatterVector(x.w, plus, x.long, all) }, dim, vectors},
		{"ScatterVector/index", func(x misfits) error { return ops.ScatterVector(x.w, plus, x.u, ops.Of(1, 1, -1)) }, index, []string{"idx[2]", "-1"}},
		{"ScatterVector/index of a vector", func(x misfits) error {
			return ops.ScatterVector(x.w, plus, x.u, ops.ValuesOf(places(x.w.Place(), 0, 3, 4)))
		}, index, []string{"idx[1]", "3", "0…2"}},
		{"Extract/row of a vector", func(x misfits) error {
			return ops.Extract(x.c, x.a, ops.ValuesOf(places(x.c.Place(), 0, 3, 4)), all)
		}, index, []string{"rows[1]", "3", "0…2"}},
		{"Extract/column of a vector", func(x misfits) error {
			return ops.Extract(x.c, x.a, all, ops.ValuesOf(places(x.c.Place(), -1, 3, 4)))
		}, index, []string{"cols[0]", "-1", "0…2"}},
		{"ExtractVector/index of a vector", func(x misfits) error {
			return ops.ExtractVector(x.w, x.u, ops.ValuesOf(places(x.w.Place(), 0, 1, 1<<30)))
		}, index, []string{"idx[2]", "1073741824", "0…2"}},
		{"AssignVector/duplicate in a vector", func(x misfits) error {
			return ops.AssignVector(x.w, x.u, ops.ValuesOf(places(x.w.Place(), 1, 0, 1)))
		}, invalid, []string{"idx lists 1 twice"}},
		{"Kronecker/c", func(x misfits) error { return ops.Kronecker(x.c, plus, x.a, x.b) }, dim, []string{"9×9", "3×3"}},
		{"Kronecker/huge", func(x misfits) error {
			return ops.Kronecker(x.c, plus, matrix.New[float64](1<<30, 1), matrix.New[float64](3, 1))
		}, size, []string{"number of rows", "3221225472"}},

		{"zero/MxM", func(x misfits) error {
			var s semiring.Semiring[float64, float64, float64]
			return ops.MxM(x.c, s, x.a, x.b)
		}, operator, []string{"semiring is the zero value"}},
		{"zero/MxV", func(x misfits) error {
			var s semiring.Semiring[float64, float64, float64]
			return ops.MxV(x.w, s, x.a, x.u)
		}, operator, nil},
		{"zero/VxM", func(x misfits) error {
			var s semiring.Semiring[float64, float64, float64]
			return ops.VxM(x.w, s, x.u, x.a)
		}, operator, nil},
		{"zero/New", func(x misfits) error {
			return ops.MxM(x.c, semiring.New(semiring.Monoid[float64]{}, semiring.Times[float64]()), x.a, x.b)
		}, operator, nil},
		{"zero/New mul", func(x misfits) error {
			return ops.MxM(x.c, semiring.New(plus, semiring.NewBinary[float64, float64, float64]("none", nil)), x.a, x.b)
		}, operator, nil},
		{"zero/EWiseAdd", func(x misfits) error {
			return ops.EWiseAdd(x.c, semiring.BinaryOp[float64, float64, float64]{}, x.a, x.b)
		}, operator, nil},
		{"zero/EWiseAdd nil", func(x misfits) error { return ops.EWiseAdd[float64](x.c, nil, x.a, x.b) }, operator, nil},
		{"zero/EWiseMult", func(x misfits) error { return ops.EWiseMult(x.c, semiring.Monoid[float64]{}, x.a, x.b) }, operator, nil},
		{"zero/EWiseUnion", func(x misfits) error {
			return ops.EWiseUnion(x.c, semiring.BinaryOp[float64, float64, float64]{}, x.a, 1, x.b, 1)
		}, operator, nil},
		{"zero/Apply", func(x misfits) error { return ops.Apply(x.c, semiring.UnaryOp[float64, float64]{}, x.a) }, operator, nil},
		{"zero/Apply nil", func(x misfits) error {
			return ops.Apply(x.c, semiring.NewUnary[float64, float64]("none", nil), x.a)
		}, operator, nil},
		{"zero/ApplyFirst", func(x misfits) error {
			return ops.ApplyFirst(x.c, semiring.BinaryOp[float64, float64, float64]{}, 1, x.a)
		}, operator, nil},
		{"zero/ApplySecond", func(x misfits) error {
			return ops.ApplySecond(x.c, semiring.BinaryOp[float64, float64, float64]{}, x.a, 1)
		}, operator, nil},
		{"zero/ApplyIndex", func(x misfits) error { return ops.ApplyIndex(x.c, semiring.IndexOp[float64, float64]{}, x.a) }, operator, nil},
		{"zero/Select", func(x misfits) error { return ops.Select(x.c, semiring.SelectOp[float64]{}, x.a) }, operator, nil},
		{"zero/Select nil", func(x misfits) error { return ops.Select(x.c, semiring.NewSelect[float64]("none", nil), x.a) }, operator, nil},
		{"zero/Reduce", func(x misfits) error { return ops.Reduce(x.w, semiring.Monoid[float64]{}, x.a) }, operator, nil},
		{"zero/Reduce of a zero operator", func(x misfits) error {
			return ops.Reduce(x.w, semiring.NewMonoid(semiring.BinaryOp[float64, float64, float64]{}, 0), x.a)
		}, operator, nil},
		{"zero/ReduceScalar", func(x misfits) error { _, err := ops.ReduceScalar(semiring.Monoid[float64]{}, x.a); return err }, operator, nil},
		{"zero/Scatter", func(x misfits) error { return ops.Scatter(x.c, semiring.Monoid[float64]{}, x.u, all, all) }, operator, []string{"monoid"}},
		{"zero/ScatterVector", func(x misfits) error { return ops.ScatterVector(x.w, semiring.Monoid[float64]{}, x.u, all) }, operator, nil},
		{"zero/Kronecker", func(x misfits) error {
			return ops.Kronecker(x.c, semiring.BinaryOp[float64, float64, float64]{}, x.a, x.b)
		}, operator, nil},
		{"zero/accumulator", func(x misfits) error {
			return ops.MxM(x.c.Accum(semiring.BinaryOp[float64, float64, float64]{}), pt, x.a, x.b)
		}, operator, []string{"accumulator"}},
		{"zero/accumulator monoid", func(x misfits) error { return ops.MxM(x.c.Accum(semiring.Monoid[float64]{}), pt, x.a, x.b) }, operator, []string{"accumulator"}},
		{"zero/accumulator func", func(x misfits) error { return ops.Apply(x.w.Accum(matrix.CombineFunc[float64](nil)), id, x.u) }, operator, []string{"accumulator"}},

		{"poisoned/MxM a", func(x misfits) error { return ops.MxM(x.c, pt, x.poisoned, x.b) }, size, []string{"-1"}},
		{"poisoned/MxM b", func(x misfits) error { return ops.MxM(x.c, pt, x.a, x.poisoned.T()) }, size, []string{"-1"}},
		{"poisoned/MxM c", func(x misfits) error { return ops.MxM(x.poisoned, pt, x.a, x.b) }, size, []string{"-1"}},
		{"poisoned/MxM mask", func(x misfits) error { return ops.MxM(x.c.Masked(x.poisoned), pt, x.a, x.b) }, size, []string{"-1"}},
		{"poisoned/MxM pattern", func(x misfits) error {
			return ops.MxM(x.c, semiring.PlusPair[float64](), x.poisoned.Pattern(), x.b.Pattern())
		}, size, []string{"-1"}},
		{"poisoned/MxV u", func(x misfits) error { return ops.MxV(x.w, pt, x.a, x.badVector) }, size, []string{"-1"}},
		{"poisoned/VxM w", func(x misfits) error { return ops.VxM(x.badVector, pt, x.u, x.a) }, size, []string{"-1"}},
		{"poisoned/EWiseAdd", func(x misfits) error { return ops.EWiseAdd(x.c, plus, x.poisoned, x.a) }, size, nil},
		{"poisoned/EWiseUnion", func(x misfits) error { return ops.EWiseUnion(x.c, plus, x.a, 0, x.poisoned, 0) }, size, nil},
		{"poisoned/Apply", func(x misfits) error { return ops.Apply(x.w, id, x.badVector) }, size, nil},
		{"poisoned/Select", func(x misfits) error { return ops.Select(x.poisoned, tril, x.a) }, size, nil},
		{"poisoned/Reduce", func(x misfits) error { return ops.Reduce(x.w, plus, x.poisoned) }, size, nil},
		{"poisoned/ReduceScalar", func(x misfits) error { _, err := ops.ReduceScalar(plus, x.poisoned); return err }, size, nil},
		{"poisoned/Transpose", func(x misfits) error { return ops.Transpose(x.c, x.poisoned) }, size, nil},
		{"poisoned/Extract", func(x misfits) error { return ops.Extract(x.c, x.poisoned, all, all) }, size, nil},
		{"poisoned/ExtractRow", func(x misfits) error { return ops.ExtractRow(x.w, x.poisoned, 0, all) }, size, nil},
		{"poisoned/Assign", func(x misfits) error { return ops.Assign(x.poisoned, x.a, all, all) }, size, nil},
		{"poisoned/AssignVector", func(x misfits) error { return ops.AssignVector(x.w, x.badVector, all) }, size, nil},
		{"poisoned/AssignScalar", func(x misfits) error { return ops.AssignScalar(x.poisoned, 1, all, all) }, size, nil},
		{"poisoned/Scatter", func(x misfits) error { return ops.Scatter(x.poisoned, plus, x.u, all, all) }, size, nil},
		{"poisoned/ScatterVector", func(x misfits) error { return ops.ScatterVector(x.w, plus, x.badVector, all) }, size, nil},
		{"poisoned/Kronecker", func(x misfits) error { return ops.Kronecker(x.c, plus, x.a, x.poisoned) }, size, nil},

		{"nil/MxM a", func(x misfits) error { return ops.MxM(x.c, pt, noMatrix, x.b) }, invalid, nil},
		{"nil/MxM b", func(x misfits) error { return ops.MxM[float64, float64, float64](x.c, pt, x.a, nil) }, invalid, nil},
		{"nil/MxM c", func(x misfits) error { return ops.MxM(noMatrix, pt, x.a, x.b) }, invalid, nil},
		{"nil/MxM no c", func(x misfits) error { return ops.MxM[float64, float64, float64](nil, pt, x.a, x.b) }, invalid, nil},
		{"nil/MxM view", func(x misfits) error { return ops.MxM(x.c, pt, (*matrix.View[float64])(nil), x.b) }, invalid, nil},
		{"nil/MxM destination view", func(x misfits) error { return ops.MxM(&matrix.Dest[float64]{}, pt, x.a, x.b) }, invalid, nil},
		{"nil/MxM mask", func(x misfits) error { return ops.MxM(x.c.Masked(noMatrix), pt, x.a, x.b) }, invalid, nil},
		{"nil/MxM mask view", func(x misfits) error { return ops.MxM(x.c.Masked(matrix.MaskView{}), pt, x.a, x.b) }, invalid, nil},
		{"nil/MxV u", func(x misfits) error { return ops.MxV(x.w, pt, x.a, noVector) }, invalid, nil},
		{"nil/MxV w", func(x misfits) error { return ops.MxV(noVector, pt, x.a, x.u) }, invalid, nil},
		{"nil/MxV mask", func(x misfits) error { return ops.MxV(x.w.Masked(noVector), pt, x.a, x.u) }, invalid, nil},
		{"nil/EWiseAdd", func(x misfits) error { return ops.EWiseAdd(x.c, plus, x.a, noMatrix) }, invalid, nil},
		{"nil/EWiseAdd c", func(x misfits) error { return ops.EWiseAdd(nil, plus, x.a, x.b) }, invalid, nil},
		{"nil/Assign", func(x misfits) error { return ops.Assign(noMatrix, x.a, all, all) }, invalid, nil},
		{"nil/AssignVector", func(x misfits) error { return ops.AssignVector(noVector, x.u, all) }, invalid, nil},
		{"nil/AssignScalar", func(x misfits) error { return ops.AssignScalar(noMatrix, 1, all, all) }, invalid, nil},
		{"nil/Scatter", func(x misfits) error { return ops.Scatter(noMatrix, plus, x.u, all, all) }, invalid, nil},
		{"nil/Scatter u", func(x misfits) error { return ops.Scatter(x.c, plus, noVector, all, all) }, invalid, nil},
		{"nil/ScatterVector", func(x misfits) error { return ops.ScatterVector[float64](nil, plus, x.u, all) }, invalid, nil},
		{"nil/ValuesOf", func(x misfits) error { return ops.ExtractVector(x.w, x.u, ops.ValuesOf(nil)) }, invalid, nil},
		{"nil/ValuesOf a vector", func(x misfits) error {
			return ops.ScatterVector(x.w, plus, x.u, ops.ValuesOf((*matrix.Vector[int32])(nil)))
		}, invalid, nil},
		{"nil/ReduceScalar", func(x misfits) error { _, err := ops.ReduceScalar[float64](plus, nil); return err }, invalid, nil},

		{"method/MxM push", func(x misfits) error { return ops.MxM(x.c, pt, x.a, x.b, ops.Using(ops.Push)) }, method, []string{"push"}},
		{"method/MxM dot without mask", func(x misfits) error { return ops.MxM(x.c, pt, x.a, x.b, ops.Using(ops.Dot)) }, method, []string{"mask"}},
		{"method/MxM dot under a complement", func(x misfits) error {
			return ops.MxM(x.c.Masked(x.a.MaskView().Not()), pt, x.a, x.b, ops.Using(ops.Dot))
		}, method, []string{"mask"}},
		{"method/MxM spmm", func(x misfits) error { return ops.MxM(x.c, pt, x.a, x.b, ops.Using(ops.SpMM)) }, method, []string{"full"}},
		{"method/MxM unknown", func(x misfits) error { return ops.MxM(x.c, pt, x.a, x.b, ops.Using("magic")) }, method, []string{"magic"}},
		{"method/MxM spa too wide", func(x misfits) error {
			return ops.MxM(matrix.New[float64](3, 1<<30, matrix.On(x.c.Place())), pt, x.a, matrix.New[float64](3, 1<<30), ops.Using(ops.SPA))
		}, method, []string{"spa"}},
		{"method/MxV hash", func(x misfits) error { return ops.MxV(x.w, pt, x.a, x.u, ops.Using(ops.Hash)) }, method, []string{"MxV"}},
		{"method/VxM dot", func(x misfits) error { return ops.VxM(x.w, pt, x.u, x.a, ops.Using(ops.Dot)) }, method, []string{"VxM"}},
		{"method/Apply", func(x misfits) error { return ops.Apply(x.c, id, x.a, ops.Using(ops.Push)) }, method, nil},
		{"method/ReduceScalar", func(x misfits) error { _, err := ops.ReduceScalar(plus, x.a, ops.Using(ops.Push)); return err }, method, nil},
	}
}

// testErrors checks the error and the message of each case, and that the destinations are
// unchanged.
func testErrors(t *testing.T, b Backend) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range append(errorCases(), cancelled(ops.WithContext(ctx))...) {
		t.Run(c.name, func(t *testing.T) {
			if reason := b.Skip("errors/" + c.name); reason != "" {
				t.Skip(reason)
			}
			at := matrix.On(b.Place())
			x := misfits{
				c: some(3, 3, at), a: some(3, 3), b: some(3, 3), wide: some(3, 4), poisoned: matrix.New[float64](-1, 3, at),
				w: someVector(3, at), u: someVector(3), long: someVector(4), badVector: matrix.NewVector[float64](-1, at),
			}
			err := c.call(x)
			if !errors.Is(err, c.is) {
				t.Fatalf("error %v, want %q", err, c.is)
			}
			for _, part := range c.says {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error %q lacks %q", err, part)
				}
			}
			if !x.c.Equal(some(3, 3)) || !x.w.Equal(someVector(3)) {
				t.Errorf("after %v the destination has changed", err)
			}
		})
	}
}
