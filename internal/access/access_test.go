package access

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// starts reports whether the struct S starts with the fields of the struct F, or with an F.
func starts[S, F any](t *testing.T) {
	t.Helper()
	s, f := reflect.TypeFor[S](), reflect.TypeFor[F]()
	if f.Kind() != reflect.Struct {
		f = reflect.StructOf([]reflect.StructField{{Name: "First", Type: f}})
	}
	var fields []reflect.StructField // those of S, without embedded structs
	for _, x := range reflect.VisibleFields(s) {
		if !x.Anonymous || x.Type.Kind() != reflect.Struct || x.Type.Name() != "base" {
			at := uintptr(0)
			for k := 1; k < len(x.Index); k++ {
				at += s.FieldByIndex(x.Index[:k]).Offset
			}
			x.Offset += at
			fields = append(fields, x)
		}
	}
	for i := range f.NumField() {
		x, y := fields[i], f.Field(i)
		pointers := strings.HasPrefix(x.Type.String(), "atomic.Pointer[") && strings.HasPrefix(y.Type.String(), "atomic.Pointer[")
		if x.Type != y.Type && !pointers || x.Offset != y.Offset {
			t.Errorf("field %d of %v is %v at %d, want %v at %d", i, s, x.Type, x.Offset, y.Type, y.Offset)
		}
	}
}

// TestLayout: the types of matrix and semiring start with the fields that this package reads.
func TestLayout(t *testing.T) {
	layout[bool, int8, string](t)
	layout[float64, [2]int16, float32](t)
	starts[matrix.MaskView, rep.Mask](t)
}

func layout[A, B, C comparable](t *testing.T) {
	starts[matrix.Matrix[A], contents[A]](t)
	starts[matrix.View[A], rep.Matrix[A]](t)
	starts[semiring.Semiring[A, B, C], forms[A, B, C]](t)
	starts[semiring.BinaryOp[A, B, C], *cpu.Binary[A, B, C]](t)
	starts[semiring.Monoid[A], *cpu.Monoid[A]](t)
	starts[semiring.UnaryOp[A, B], *cpu.Unary[A, B]](t)
	starts[semiring.SelectOp[A], *cpu.Predicate[A]](t)
}

func example(t *testing.T) *matrix.Matrix[int] {
	a, err := matrix.FromCSR(2, 3, []int64{0, 2, 3}, []int32{0, 2, 1}, []int{1, 0, 2})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestViews(t *testing.T) {
	a := example(t)
	if HasCols(a.View()) || HasRows(a.T()) || !HasRows(a.View()) || !HasCols(a.T()) {
		t.Error("the transpose is known before it is computed")
	}
	cols := Cols(a.View())
	if cols.NRows != 3 || Rows(a.T()) != cols || Cols(a.T()) != Store(a) ||
		!HasCols(a.View()) || !HasRows(a.T()) {
		t.Error("the rows of the transpose are not the columns")
	}
	if Stored(a.T()) != Store(a) || Rows(a.View()) != Store(a) {
		t.Error("the storage is copied")
	}
	if p := Rows(a.T().Pattern()); p.NRows != 3 || p.Val != nil {
		t.Errorf("the pattern of the transpose is %v", p)
	}
	if l := Leads(a.View()); len(l) == 0 || &l[0] != &Leads(a.View())[0] {
		t.Error("the leads are computed twice")
	}
	if n := Allowed(a.MaskView()).NVals; n != 2 {
		t.Errorf("%d nonzero values, want 2", n)
	}
	if n := Allowed(a.Structure().Not()).NVals; n != 3 {
		t.Errorf("%d entries, want 3", n)
	}
	if Symmetric(a.View()) {
		t.Error("a 2×3 matrix is symmetric")
	}
}

func TestContents(t *testing.T) {
	a, st := new(matrix.Matrix[int]), Store(example(t))
	SetStore(a, st)
	if Store(a) != st || Store(FromStore(st)) != st {
		t.Error("another storage was set")
	}
	if Pinned(a) {
		t.Error("pinned before SetFormat")
	}
	if err := a.SetFormat(matrix.Bitmap); err != nil || !Pinned(a) {
		t.Errorf("not pinned after SetFormat (%v)", err)
	}
	SetResult(a, st)
	if a.Format() != matrix.Bitmap || a.NVals() != 3 {
		t.Errorf("the result is %v", a)
	}
	shape := sparse.Structure{NRows: 1, NCols: 2, Format: sparse.Full, NVals: 2}
	row := &sparse.Store[int]{Structure: shape, Val: []int{4, 5}}
	if v := VectorFromStore(row); VectorStore(v) != row || v.Size() != 2 {
		t.Errorf("the vector is %v", v)
	}
}

// TestZeroValues: nil matrices and zero views are empty, and not on a device.
func TestZeroValues(t *testing.T) {
	var a *matrix.Matrix[int]
	for _, st := range []*sparse.Store[int]{
		Store(a), Stored(matrix.View[int]{}), Rows(a.T()), Cols(a.View()),
		VectorStore[int](nil), Store(new(matrix.Matrix[int])),
	} {
		if st.NVals != 0 {
			t.Errorf("%d entries", st.NVals)
		}
	}
	if Allowed(matrix.MaskView{}).NVals != 0 || Pinned(a) || Leads(a.View()) != nil {
		t.Error("a zero value is not empty")
	}
	SetStore(a, nil)
	SetResult(a, nil)
	SetRemote(a, nil)
	_, err := Operand(matrix.View[int]{}, nil)
	_, err2 := Mask(matrix.MaskView{}, nil)
	_, err3 := RemoteOn(a, nil)
	if err == nil || err2 == nil || err3 == nil {
		t.Error(errors.Join(err, err2, err3))
	}
	if Semiring(semiring.Semiring[int, int, int]{}) != nil ||
		Binary(semiring.BinaryOp[int, int, int]{}) != nil {
		t.Error("the zero value has kernels")
	}
}

func TestForms(t *testing.T) {
	s := semiring.PlusFirst[int]()
	if Semiring(s).Mul(2, true) != 2 || Flipped(s).Mul(true, 3) != 3 || Positional(s) != nil {
		t.Error("wrong kernels of plus_first")
	}
	p := semiring.MinSecondi[int](1)
	if Semiring(p) != nil || Positional(p).FromIndex(4) != 5 {
		t.Error("wrong kernels of min_secondi1")
	}
	if Binary(semiring.Minus[int]()).Fn(5, 3) != 2 || Monoid(semiring.Plus[int]()).Fn(5, 3) != 8 {
		t.Error("wrong operator")
	}
	out := []int{0}
	Unary(semiring.Ainv[int]()).Map(out, []int{7})
	if out[0] != -7 || !Predicate(semiring.Tril[int](0)).Band {
		t.Error("wrong unary operator or predicate")
	}
}

func TestNoAllocation(t *testing.T) {
	a, s := example(t), semiring.PlusTimes[int]()
	Cols(a.View())
	allocations := testing.AllocsPerRun(100, func() {
		SetResult(a, nil)
		if Store(a) != Rows(a.View()) || !HasCols(a.View()) || Pinned(a) ||
			Semiring(s) == nil || Monoid(s.Add()) == nil {
			t.Error("wrong contents")
		}
	})
	if allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
}
