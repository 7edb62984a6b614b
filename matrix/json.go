package matrix

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hiveblas/hiveblas/internal/jsontext"
)

// A JSONError reports a value that has no JSON form, or a text that is not the JSON form of the
// matrix or vector.
type JSONError struct {
	Op  string // such as "Matrix.UnmarshalJSON"
	Err error
}

func (e *JSONError) Error() string { return fmt.Sprintf("%s: %v", e.Op, e.Err) }

// Unwrap returns the cause.
func (e *JSONError) Unwrap() error { return e.Err }

// Is reports whether target is ErrInvalid.
func (e *JSONError) Is(target error) bool { return target == ErrInvalid }

// jsonText returns the JSON form: dims are keys and numbers, positions lists of integers, and values
// a slice of the elements. It is a list of keys with the values beside them.
func jsonText(op string, dims []jsonDim, positions []jsonPositions, values any) ([]byte, error) {
	b := []byte{'{'}
	for _, d := range dims {
		b = append(strconv.AppendInt(append(b, `"`+d.key+`":`...), int64(d.n), 10), ',')
	}
	for _, p := range positions {
		b = append(jsontext.Ints(append(b, `"`+p.key+`":`...), p.list), ',')
	}
	b, err := jsontext.Values(append(b, `"value":`...), values)
	if err != nil {
		return nil, &JSONError{op, err}
	}
	return append(b, '}'), nil
}

// jsonDim is a dimension in the JSON form.
type jsonDim struct {
	key string
	n   int
}

// jsonPositions are the rows, columns or indices in the JSON form.
type jsonPositions struct {
	key  string
	list []int
}

// readJSON reads the JSON form into dims, positions and the slice to which values points.
func readJSON(op string, data []byte, dims []jsonDim, positions []jsonPositions, values any) error {
	var keys []string
	for _, d := range dims {
		keys = append(keys, d.key)
	}
	for _, p := range positions {
		keys = append(keys, p.key)
	}
	keys = append(keys, "value")
	texts, err := jsontext.Object(data, keys...)
	if err != nil {
		return &JSONError{op, err}
	}
	var missing []string
	for k, key := range keys {
		if texts[k] == nil {
			missing = append(missing, strconv.Quote(key))
		}
	}
	if missing != nil {
		return &InvalidError{op, "the object lacks " + strings.Join(missing, ", ") + "; give the keys that MarshalJSON writes, none of them null"}
	}
	for k := range keys {
		var err error
		switch p := k - len(dims); {
		case p < 0:
			dims[k].n, err = jsontext.ReadInt(texts[k])
		case p < len(positions):
			err = jsontext.ReadValues(texts[k], &positions[p].list)
		default:
			err = jsontext.ReadValues(texts[k], values)
		}
		if err != nil {
			return &JSONError{op, fmt.Errorf("%q: %w", keys[k], err)}
		}
	}
	return nil
}

// MarshalJSON returns the matrix as an object: "rows", "cols" and the entries in
// row-major order as the lists "row", "col" (counted from 0) and "value". A
// value that JSON cannot hold, such as NaN, is a *JSONError, and so are elements that need package
// matrix/jsonvalues where it is not linked, such as structs without methods; a
// matrix that cannot be read from a device is the error of [Matrix.Fetch].
func (a *Matrix[T]) MarshalJSON() ([]byte, error) {
	if err := a.Fetch(); err != nil {
		return nil, err
	}
	m, n := a.Dims()
	k := a.NVals()
	rows, cols, values := make([]int, 0, k), make([]int, 0, k), make([]T, 0, k)
	for at, v := range a.All() {
		rows, cols, values = append(rows, at.Row), append(cols, at.Col), append(values, v)
	}
	return jsonText("Matrix.MarshalJSON", []jsonDim{{"rows", m}, {"cols", n}}, []jsonPositions{{"row", rows}, {"col", cols}}, values)
}

// UnmarshalJSON replaces the matrix by the one that [Matrix.MarshalJSON] wrote.
// Entries may come in any order. A missing key and lists of different lengths
// are an *InvalidError, a text that is not the form of the matrix, such as a null in a list, a
// *JSONError, a position outside the matrix is an *IndexError, one that
// occurs twice a *DuplicateError; the matrix is then unchanged. The text null
// leaves it unchanged without an error, as encoding/json does.
func (a *Matrix[T]) UnmarshalJSON(data []byte) error {
	switch {
	case a == nil:
		return errNil
	case string(data) == "null":
		return nil
	}
	var values []T
	dims, at := []jsonDim{{"rows", 0}, {"cols", 0}}, []jsonPositions{{"row", nil}, {"col", nil}}
	if err := readJSON("Matrix.UnmarshalJSON", data, dims, at, &values); err != nil {
		return err
	}
	made, err := FromTuples(dims[0].n, dims[1].n, at[0].list, at[1].list, values, nil)
	if err != nil {
		return err
	}
	a.inside().err = nil
	a.c.SetStore(made.c.st)
	return nil
}

// MarshalJSON returns the vector as an object: "size" and the entries in
// ascending order as the lists "index" (counted from 0) and "value"; see
// [Matrix.MarshalJSON].
func (v *Vector[T]) MarshalJSON() ([]byte, error) {
	if err := v.Fetch(); err != nil {
		return nil, err
	}
	k := v.NVals()
	index, values := make([]int, 0, k), make([]T, 0, k)
	for i, x := range v.All() {
		index, values = append(index, i), append(values, x)
	}
	return jsonText("Vector.MarshalJSON", []jsonDim{{"size", v.Size()}}, []jsonPositions{{"index", index}}, values)
}

// UnmarshalJSON replaces the vector by the one that [Vector.MarshalJSON] wrote;
// see [Matrix.UnmarshalJSON].
func (v *Vector[T]) UnmarshalJSON(data []byte) error {
	switch {
	case v == nil:
		return errNil
	case string(data) == "null":
		return nil
	}
	var values []T
	dims, at := []jsonDim{{"size", 0}}, []jsonPositions{{"index", nil}}
	if err := readJSON("Vector.UnmarshalJSON", data, dims, at, &values); err != nil {
		return err
	}
	if len(at[0].list) != len(values) {
		return &InvalidError{"Vector.UnmarshalJSON", fmt.Sprintf("%d indices and %d values given, want the same number", len(at[0].list), len(values))}
	}
	made, err := VectorFromTuples(dims[0].n, at[0].list, values, nil)
	if err != nil {
		return err
	}
	v.m.inside().err = nil
	v.m.c.SetStore(made.m.c.st)
	return nil
}
