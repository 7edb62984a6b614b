package graphio

import (
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/hiveblas/hiveblas/graphio/internal/build"
	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/graphio/internal/numtext"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// ReadAny is [ReadFile] into the element type of the file: the one of a .hgb, .npy or .npz file,
// bool for a file without values, int64 for integers, uint64 if one of them needs it, and float64
// otherwise, or if int64 and uint64 together do not hold the integers. Where the header of a text
// does not tell the type, or the first lines of an edge list tell another one, ReadAny reads the
// file again, at most three times. With [PatternOnly] the type is bool. rows and cols are the names
// that [ReadLabelled] returns. Give [Duplicates] once for each type that the file may have.
func ReadAny(path string, opts ...ReadOption) (a matrix.Any, rows, cols *Labels, err error) {
	m, labels, err := readAsStored(path, readOptionsOf(opts))
	if err != nil {
		return matrix.Any{}, nil, nil, err
	}
	return matrix.AnyOfInside(m), (*Labels)(labels.Rows), (*Labels)(labels.Cols), nil
}

func readAsStored(path string, o *core.ReadOptions) (rep.Matrix, core.Sides, error) {
	const op = "graphio.ReadAny"
	t := sparse.TypeOf[bool]()
	if !o.PatternOnly {
		look := *o
		_, info, err := readFileInfo(op, path, &look)
		if err := build.Agree(o, err); err != nil {
			return nil, core.Sides{}, err
		}
		t = typeOf(&info)
	}
	for {
		try, info := *o, &core.Info{}
		if try.E = core.ElementOf(t); o.Info == nil {
			try.Info = info
		}
		var warnings []core.Warning
		if o.Warn != nil {
			try.Warn = func(w core.Warning) { warnings = append(warnings, w) }
		}
		a, labels, err := readPath(path, &try, anyReader(op))
		if next := nextType(t, err, try.Info.Field); next != nil && !o.PatternOnly {
			t = next
			continue
		}
		for _, w := range warnings {
			o.Warn(w)
		}
		return a, labels, err
	}
}

// ReadInside is [ReadLabelled] for the packages of this module, by a type that is known at run
// time; see [matrix.Matrix.Inside].
func ReadInside(r io.Reader, t *sparse.Type, opts ...ReadOption) (a rep.Matrix, rows, cols *Labels, err error) {
	const op = "graphio.ReadLabelled"
	if err := elementary(op, t); err != nil {
		return nil, nil, nil, err
	}
	o := readOptionsOf(opts)
	o.E = core.ElementOf(t)
	a, labels, err := readAny(op, r, o)
	return a, (*Labels)(labels.Rows), (*Labels)(labels.Cols), err
}

// WriteInside is [Write] or [WriteVector] for the packages of this module.
func WriteInside(w io.Writer, v rep.View, opts ...WriteOption) error {
	if v.Matrix == nil {
		return &matrix.InvalidError{Op: "graphio.Write", Reason: "there is no matrix"}
	}
	if err := elementary("graphio.Write", v.Type()); err != nil {
		return err
	}
	if v.Vector {
		return writeVector(w, v.Matrix, writeOptionsOf(opts))
	}
	return writeMatrix(w, v.Matrix, writeOptionsOf(opts))
}

// elementary returns an error unless t is a type of matrix.Element.
func elementary(op string, t *sparse.Type) error {
	const want = "bool, an integer or a float"
	if t == nil || sparse.GoType(t) == nil {
		return &matrix.TypeError{Op: op, Got: "no type", Want: want}
	}
	if k := sparse.GoType(t).Kind(); k < reflect.Bool || k > reflect.Float64 || k == reflect.Uintptr {
		return &matrix.TypeError{Op: op, Got: sparse.GoType(t).String(), Want: want}
	}
	return nil
}

// typeOf returns the element type of a file, or the first one to try.
func typeOf(i *core.FileInfo) *sparse.Type {
	for kind := reflect.Bool; kind <= reflect.Float64; kind++ {
		if kind.String() == i.Element {
			return core.KindOf(kind)
		}
	}
	switch i.Field {
	case "pattern":
		return sparse.TypeOf[bool]()
	case "real":
		return sparse.TypeOf[float64]()
	}
	return sparse.TypeOf[int64]()
}

// nextType returns the type into which a text is to be read after it was read into t, nil if t is
// the one.
func nextType(t *sparse.Type, err error, field string) *sparse.Type {
	if kind := sparse.GoType(t).Kind(); kind != reflect.Int64 && kind != reflect.Uint64 {
		return nil
	}
	var e *core.ParseError
	switch {
	case err == nil && field == "pattern":
		return sparse.TypeOf[bool]()
	case err == nil && field == "real":
		return sparse.TypeOf[float64]()
	case err == nil || !errors.As(err, &e):
		return nil
	case e.Kind == core.RemedyWider && sparse.GoType(t).Kind() == reflect.Int64:
		return sparse.TypeOf[uint64]()
	case e.Kind == core.RemedyWider, e.Kind == core.RemedyFloat, e.Kind == core.RemedySigned, e.Kind == core.RemedyAllowNaN:
		return sparse.TypeOf[float64]()
	}
	return nil
}

// Convert returns a matrix with elements of type T on the host, and a itself if it has them.
// Convert returns a *[matrix.InvalidError] if T does not hold a value: a fraction or a value out of
// range for an integer, an integer that is not exact in a float, other values than 0 and 1 for
// bool.
func Convert[T matrix.Element](a matrix.Any) (*matrix.Matrix[T], error) {
	if same, ok := matrix.As[T](a); ok {
		return same, nil
	}
	m, err := convert(a.Inside(), sparse.TypeOf[T]())
	if err != nil {
		return nil, err
	}
	return matrix.OfInside[T](m), nil
}

func convert(a rep.Matrix, t *sparse.Type) (rep.Matrix, error) {
	const op = "graphio.Convert"
	st, err := core.RowsOf(a)
	if err != nil {
		return nil, err
	}
	if err := elementary(op, st.Type); err != nil {
		return nil, err
	}
	out, at, f := numtext.ConvertValues(st, t, false)
	if f == numtext.FaultNone {
		return core.Inside(out), nil
	}
	i, j := numtext.PositionOf(&st.Structure, at)
	from, to := core.ElementOf(st.Type), core.ElementOf(t)
	msg, _ := f.Explain(from.Text(from.At(st.Val, at)), to.Name(), to.Kind)
	return nil, &matrix.InvalidError{Op: op, Reason: fmt.Sprintf("row %d, column %d: %s", i, j, msg)}
}
