package matrix

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/hiveblas/hiveblas/internal/jsontext"
	"github.com/hiveblas/hiveblas/internal/sparse"
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

// jsonText returns the JSON form: dims are keys and numbers, positions lists of integers, and
// values a slice of the elements. It is a list of keys with the values beside them.
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

// MarshalJSON returns the matrix as an object: "rows", "cols" and the entries in row-major order as
// the lists "row", "col" (counted from 0) and "value". MarshalJSON returns a *JSONError for a value
// that JSON cannot hold, such as NaN, and for elements that need package matrix/jsonvalues where it
// is not linked, such as structs without methods; a matrix that cannot be read from a device is the
// error of [Matrix.Fetch].
func (a *Matrix[T]) MarshalJSON() ([]byte, error) { return coreOf(a).marshalJSON(false) }

// marshalJSON returns the JSON form of a matrix or a vector.
func (a *core) marshalJSON(vector bool) ([]byte, error) {
	op := "Matrix"
	if vector {
		op = "Vector"
	}
	if err := a.fetched(op + ".Fetch"); err != nil {
		return nil, err
	}
	op += ".MarshalJSON"
	m, n := a.Dims()
	st := a.Rows().Valued()
	values := reflect.SliceAt(sparse.GoType(st.Type), st.Val.Pointer(), st.Val.Len()).Interface()
	if vector {
		return jsonText(op, []jsonDim{{"size", n}}, []jsonPositions{{"index", ints(st.Idx)}}, values)
	}
	at := []jsonPositions{{"row", ints(st.RowOfEntries())}, {"col", ints(st.Idx)}}
	return jsonText(op, []jsonDim{{"rows", m}, {"cols", n}}, at, values)
}

func ints(list []int32) []int {
	out := make([]int, len(list))
	for k, i := range list {
		out[k] = int(i)
	}
	return out
}

// UnmarshalJSON replaces the matrix by the one that [Matrix.MarshalJSON] wrote. Entries may come in
// any order. UnmarshalJSON returns an *InvalidError if a key is missing or lists have different
// lengths, a *JSONError if the text is not the form of the matrix, such as a null in a list, an
// *IndexError if a position is outside the matrix, and a *DuplicateError if a position occurs
// twice; the matrix is then unchanged. The text null leaves it unchanged without an error, as
// encoding/json does.
func (a *Matrix[T]) UnmarshalJSON(data []byte) error { return coreOf(a).unmarshalJSON(data) }

// unmarshalJSON is UnmarshalJSON of a matrix.
func (a *core) unmarshalJSON(data []byte) error {
	dims, at := []jsonDim{{"rows", 0}, {"cols", 0}}, []jsonPositions{{"row", nil}, {"col", nil}}
	values, err := a.readJSON("Matrix.UnmarshalJSON", data, dims, at)
	if err != nil || values.None() {
		return err
	}
	rows := at[0].list
	if rows == nil { // which means a vector
		rows = []int{}
	}
	return a.become("matrix.FromTuples", dims[0].n, dims[1].n, indexListOf(rows), indexListOf(at[1].list), values)
}

// readJSON reads the JSON form, and returns the values: none for the text null.
func (a *core) readJSON(op string, data []byte, dims []jsonDim, at []jsonPositions) (values sparse.Values, err error) {
	switch {
	case a.null:
		return values, errNil
	case string(data) == "null":
		return values, nil
	}
	list := reflect.New(reflect.SliceOf(sparse.GoType(a.Type())))
	if err := readJSON(op, data, dims, at, list.Interface()); err != nil {
		return values, err
	}
	if list.Elem().Len() == 0 {
		return a.Type().Zeroed(0), nil
	}
	return *(*sparse.Values)(list.UnsafePointer()), nil // the three words of a slice
}

// become replaces the contents by tuples.
func (a *core) become(op string, m, n int, rows, cols indexList, values sparse.Values) error {
	st, err := fromTuples(a.Type(), op, m, n, rows, cols, values, nil)
	if err != nil {
		return err
	}
	a.err = nil
	a.SetStore(st)
	return nil
}

// MarshalJSON returns the vector as an object: "size" and the entries in
// ascending order as the lists "index" (counted from 0) and "value"; see
// [Matrix.MarshalJSON].
func (v *Vector[T]) MarshalJSON() ([]byte, error) { return vectorCore(v).marshalJSON(true) }

// UnmarshalJSON replaces the vector by the one that [Vector.MarshalJSON] wrote;
// see [Matrix.UnmarshalJSON].
func (v *Vector[T]) UnmarshalJSON(data []byte) error {
	return vectorCore(v).unmarshalVectorJSON(data)
}

// unmarshalVectorJSON is unmarshalJSON of a vector.
func (a *core) unmarshalVectorJSON(data []byte) error {
	const op = "Vector.UnmarshalJSON"
	dims, at := []jsonDim{{"size", 0}}, []jsonPositions{{"index", nil}}
	values, err := a.readJSON(op, data, dims, at)
	if err != nil || values.None() {
		return err
	}
	if k := len(at[0].list); k != values.Len() {
		return &InvalidError{op, fmt.Sprintf("%d indices and %d values given, want the same number", k, values.Len())}
	}
	return a.become("matrix.VectorFromTuples", 1, dims[0].n, indexList{}, indexListOf(at[0].list), values)
}
