package matrix

import (
	"encoding/json"
	"fmt"
)

// jsonMatrix is the JSON form of a matrix: its shape and its entries in
// row-major order, as three lists of equal length.
type jsonMatrix[T any] struct {
	Rows   int   `json:"rows"`
	Cols   int   `json:"cols"`
	Row    []int `json:"row"`
	Col    []int `json:"col"`
	Values []T   `json:"value"`
}

// jsonVector is the JSON form of a vector: its size and its entries in
// ascending order, as two lists of equal length.
type jsonVector[T any] struct {
	Size   int   `json:"size"`
	Index  []int `json:"index"`
	Values []T   `json:"value"`
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
	out := jsonMatrix[T]{m, n, make([]int, 0, k), make([]int, 0, k), make([]T, 0, k)}
	for at, v := range a.All() {
		out.Row, out.Col, out.Values = append(out.Row, at.Row), append(out.Col, at.Col), append(out.Values, v)
	}
	return json.Marshal(out)
}

// UnmarshalJSON replaces the matrix by the one that [Matrix.MarshalJSON] wrote.
// Entries may come in any order. Lists of different lengths are an
// *InvalidError, a position outside the matrix is an *IndexError, one that
// occurs twice a *DuplicateError; the matrix is then unchanged.
func (a *Matrix[T]) UnmarshalJSON(data []byte) error {
	var in jsonMatrix[T]
	if a == nil {
		return errNil
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	made, err := FromTuples(in.Rows, in.Cols, in.Row, in.Col, in.Values, nil)
	if err != nil {
		return err
	}
	a.err = nil
	a.set(made.st)
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
	out := jsonVector[T]{v.Size(), make([]int, 0, k), make([]T, 0, k)}
	for i, x := range v.All() {
		out.Index, out.Values = append(out.Index, i), append(out.Values, x)
	}
	return json.Marshal(out)
}

// UnmarshalJSON replaces the vector by the one that [Vector.MarshalJSON] wrote;
// see [Matrix.UnmarshalJSON].
func (v *Vector[T]) UnmarshalJSON(data []byte) error {
	var in jsonVector[T]
	if v == nil {
		return errNil
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return err
	}
	if len(in.Index) != len(in.Values) {
		return &InvalidError{"Vector.UnmarshalJSON", fmt.Sprintf("%d indices and %d values given, want the same number", len(in.Index), len(in.Values))}
	}
	made, err := VectorFromTuples(in.Size, in.Index, in.Values, nil)
	if err != nil {
		return err
	}
	v.m.err = nil
	v.m.set(made.m.st)
	return nil
}
