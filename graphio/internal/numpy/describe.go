package numpy

import (
	"fmt"
	"io"

	"github.com/hiveblas/hiveblas/graphio/internal/build"
	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/internal/npy"
	"github.com/hiveblas/hiveblas/matrix"
)

// DescribeNPY describes an array of NumPy.
func DescribeNPY(i *core.FileInfo, r io.Reader, o *core.ReadOptions) error {
	s, err := npy.Open(r)
	if err != nil {
		return o.Fail(0, err.Error(), "")
	}
	return describeArray(i, s, o)
}

// describeArray describes an array of NumPy.
func describeArray(i *core.FileInfo, s *npy.Stream, o *core.ReadOptions) error {
	if s.Kind == 'U' || s.Kind == 'S' {
		return o.Fail(0, "the items are text, want numbers", "")
	}
	i.Field, i.Element = npyField(s), elementOfArray(s)
	switch len(s.Shape) {
	case 1:
		i.Vector, i.Rows, i.Cols = true, 1, s.Shape[0]
	case 2:
		i.Rows, i.Cols = s.Shape[0], s.Shape[1]
	default:
		return o.Fail(0, fmt.Sprintf("the array has %d dimensions, want one or two", len(s.Shape)), "")
	}
	return nil
}

// elementOfArray returns the Go type of the items of an array.
func elementOfArray(s *npy.Stream) string {
	switch s.Kind {
	case 'f':
		if s.Width == 2 {
			return "float32" // the least that holds them
		}
		return fmt.Sprintf("float%d", 8*s.Width)
	case 'i':
		return fmt.Sprintf("int%d", 8*s.Width)
	case 'u':
		return fmt.Sprintf("uint%d", 8*s.Width)
	}
	return "bool"
}

// DescribeNPZ describes a sparse matrix of SciPy.
func DescribeNPZ(i *core.FileInfo, r io.Reader, o *core.ReadOptions) error {
	g, err := build.NewGraphEdges("graphio.ReadFileInfo", r, o)
	if err != nil {
		return err
	}
	rd, err := openNPZ(g, r)
	if err != nil {
		return err
	}
	if _, err := rd.layout(); err != nil {
		return err
	}
	var shape []int64
	if err := rd.load(npzInts(rd, "shape", 1<<62, &shape)); err != nil {
		return err
	}
	data, err := rd.array("data")
	if err != nil {
		return err
	}
	defer data.r.Close()
	if len(shape) != 2 || shape[0] > matrix.MaxDim || shape[1] > matrix.MaxDim {
		return o.Fail(0, fmt.Sprintf("the shape is %v, want two dimensions of at most %d", shape, matrix.MaxDim), "")
	}
	if err := describeArray(i, data.Stream, o); err != nil {
		return err
	}
	i.Vector, i.Rows, i.Cols, i.Entries, i.Symmetry = false, int(shape[0]), int(shape[1]), int64(data.Len()), "general"
	return nil
}

// field names the kind of values of an array.
func npyField(s *npy.Stream) string {
	switch s.Kind {
	case 'f':
		return "real"
	case 'b':
		return "pattern"
	}
	return "integer"
}
