package conformance

import (
	"slices"
	"sort"
)

// Axis is a dimension of N positions. A case uses the positions in At, ascending; a nil At means
// all. No other position has an entry.
type Axis struct {
	N  int
	At []int
}

// Len returns the number of used positions.
func (x Axis) Len() int {
	if x.At != nil {
		return len(x.At)
	}
	return x.N
}

// Pos returns the i-th used position.
func (x Axis) Pos(i int) int {
	if x.At != nil {
		return x.At[i]
	}
	return i
}

// Find is the inverse of Pos.
func (x Axis) Find(pos int) (i int, ok bool) {
	if x.At == nil {
		return pos, pos >= 0 && pos < x.N
	}
	return sort.Find(len(x.At), func(i int) int { return pos - x.At[i] })
}

func (x Axis) equal(y Axis) bool {
	return x.N == y.N && (x.At == nil) == (y.At == nil) && slices.Equal(x.At, y.At)
}

var one = Axis{N: 1}

// Dense is a matrix of the oracles. A cell is the list of its correct values: none means no entry,
// and several are the witnesses that the any monoid may choose from. Cells of inputs have at most
// one value.
type Dense[T any] struct {
	Rows, Cols Axis
	Cell       [][]T
}

func newDense[T any](rows, cols Axis) Dense[T] {
	return Dense[T]{rows, cols, make([][]T, rows.Len()*cols.Len())}
}

func (d Dense[T]) at(i, j int) []T     { return d.Cell[i*d.Cols.Len()+j] }
func (d Dense[T]) set(i, j int, x []T) { d.Cell[i*d.Cols.Len()+j] = x }

// each calls f for every cell.
func (d Dense[T]) each(f func(i, j int, x []T)) {
	n := d.Cols.Len()
	for p, x := range d.Cell {
		f(p/n, p%n, x)
	}
}

func (d Dense[T]) clone() Dense[T] {
	d.Cell = slices.Clone(d.Cell)
	return d
}

func (d Dense[T]) entries() (n int64) {
	for _, x := range d.Cell {
		if len(x) > 0 {
			n++
		}
	}
	return n
}

// transpose is the oracle of Transpose.
func (d Dense[T]) transpose() Dense[T] {
	t := newDense[T](d.Cols, d.Rows)
	d.each(func(i, j int, x []T) { t.set(j, i, x) })
	return t
}

// pattern is the oracle of Pattern.
func pattern[T any](d Dense[T]) Dense[bool] {
	t := newDense[bool](d.Rows, d.Cols)
	d.each(func(i, j int, x []T) {
		if len(x) > 0 {
			t.set(i, j, []bool{true})
		}
	})
	return t
}
