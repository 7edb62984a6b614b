package matrix

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// jsonMatrix is the JSON form of a matrix: its shape and its entries in
// row-major order, as three lists of equal length.
type jsonMatrix struct {
	Rows   *int           `json:"rows"`
	Cols   *int           `json:"cols"`
	Row    jsonItems[int] `json:"row"`
	Col    jsonItems[int] `json:"col"`
	Values any            `json:"value"` // a list to write, a pointer to one to read
}

// jsonVector is the JSON form of a vector: its size and its entries in
// ascending order, as two lists of equal length.
type jsonVector struct {
	Size   *int           `json:"size"`
	Index  jsonItems[int] `json:"index"`
	Values any            `json:"value"` // as in jsonMatrix
}

// jsonItems is a list in which null is an error, unless a T can be null. encoding/json leaves the
// zero value in its place.
type jsonItems[T any] []T

func (list *jsonItems[T]) UnmarshalJSON(data []byte) error {
	if k := nullItem(data); k >= 0 && !mayBeNull[T]() {
		return &InvalidError{"matrix.UnmarshalJSON", fmt.Sprintf("item %d of a list is null; give a value", k)}
	}
	return json.Unmarshal(data, (*[]T)(list))
}

// mayBeNull reports whether null is a value of T: a pointer, or a type that reads it by itself.
func mayBeNull[T any]() bool {
	t := reflect.TypeFor[T]()
	return t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface || reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]())
}

// nullItem returns the number of the first item of a valid list that is null, −1 if none is.
func nullItem(data []byte) int {
	depth, item := 0, 0
	for p := 0; p < len(data); p++ {
		switch data[p] {
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case '"':
			for p++; data[p] != '"'; p++ {
				if data[p] == '\\' {
					p++
				}
			}
		case ',':
			if depth == 1 {
				item++
			}
		case 'n': // of null: texts are skipped
			if depth == 1 {
				return item
			}
		}
	}
	return -1
}

// jsonList returns values as encoding/json writes a list of them: it writes bytes as base64.
func jsonList[T any](values []T) any {
	t := reflect.TypeFor[T]()
	p := reflect.PointerTo(t)
	if t.Kind() != reflect.Uint8 || p.Implements(reflect.TypeFor[json.Marshaler]()) ||
		p.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return values
	}
	list := make([]uint16, len(values))
	for k, b := range reflect.ValueOf(values).Bytes() {
		list[k] = uint16(b)
	}
	return list
}

// jsonKey is a key of the JSON form and whether an object has it.
type jsonKey struct {
	name  string
	given bool
}

// jsonKeys returns an *InvalidError that names the keys that an object lacks.
func jsonKeys(op string, keys ...jsonKey) error {
	var missing []string
	for _, key := range keys {
		if !key.given {
			missing = append(missing, strconv.Quote(key.name))
		}
	}
	if missing == nil {
		return nil
	}
	return &InvalidError{op, "the object lacks " + strings.Join(missing, ", ") + "; give the keys that MarshalJSON writes, none of them null"}
}

// MarshalJSON returns the matrix as an object: "rows", "cols" and the entries in
// row-major order as the lists "row", "col" (counted from 0) and "value". A
// value that JSON cannot hold, such as NaN, is an error of encoding/json; a
// matrix that cannot be read from a device is the error of [Matrix.Fetch].
func (a *Matrix[T]) MarshalJSON() ([]byte, error) {
	if err := a.Fetch(); err != nil {
		return nil, err
	}
	m, n := a.Dims()
	k := a.NVals()
	out, values := jsonMatrix{Rows: &m, Cols: &n, Row: make([]int, 0, k), Col: make([]int, 0, k)}, make([]T, 0, k)
	for at, v := range a.All() {
		out.Row, out.Col, values = append(out.Row, at.Row), append(out.Col, at.Col), append(values, v)
	}
	out.Values = jsonList(values)
	return json.Marshal(out)
}

// UnmarshalJSON replaces the matrix by the one that [Matrix.MarshalJSON] wrote.
// Entries may come in any order. A missing key, a null in a list and lists of different lengths
// are an *InvalidError, a position outside the matrix is an *IndexError, one that
// occurs twice a *DuplicateError; the matrix is then unchanged. The text null
// leaves it unchanged without an error, as encoding/json does.
func (a *Matrix[T]) UnmarshalJSON(data []byte) error {
	var values jsonItems[T]
	in := jsonMatrix{Values: &values}
	switch {
	case a == nil:
		return errNil
	case string(data) == "null":
		return nil
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	err := jsonKeys("Matrix.UnmarshalJSON", jsonKey{"rows", in.Rows != nil}, jsonKey{"cols", in.Cols != nil},
		jsonKey{"row", in.Row != nil}, jsonKey{"col", in.Col != nil}, jsonKey{"value", values != nil})
	if err != nil {
		return err
	}
	made, err := FromTuples(*in.Rows, *in.Cols, []int(in.Row), []int(in.Col), []T(values), nil)
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
	n := v.Size()
	out, values := jsonVector{Size: &n, Index: make([]int, 0, k)}, make([]T, 0, k)
	for i, x := range v.All() {
		out.Index, values = append(out.Index, i), append(values, x)
	}
	out.Values = jsonList(values)
	return json.Marshal(out)
}

// UnmarshalJSON replaces the vector by the one that [Vector.MarshalJSON] wrote;
// see [Matrix.UnmarshalJSON].
func (v *Vector[T]) UnmarshalJSON(data []byte) error {
	var values jsonItems[T]
	in := jsonVector{Values: &values}
	switch {
	case v == nil:
		return errNil
	case string(data) == "null":
		return nil
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	err := jsonKeys("Vector.UnmarshalJSON", jsonKey{"size", in.Size != nil}, jsonKey{"index", in.Index != nil}, jsonKey{"value", values != nil})
	if err != nil {
		return err
	}
	if len(in.Index) != len(values) {
		return &InvalidError{"Vector.UnmarshalJSON", fmt.Sprintf("%d indices and %d values given, want the same number", len(in.Index), len(values))}
	}
	made, err := VectorFromTuples(*in.Size, []int(in.Index), []T(values), nil)
	if err != nil {
		return err
	}
	v.m.inside().err = nil
	v.m.c.SetStore(made.m.c.st)
	return nil
}
