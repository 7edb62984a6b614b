package graphio

import (
	"github.com/hiveblas/hiveblas/internal/hgb"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// Mapped is a matrix in a binary file that is mapped into memory: the system loads
// pages on access and drops them when memory is short. The file must not change.
// Close invalidates the matrix and everything that shares its storage.
type Mapped[T matrix.Element] struct {
	Matrix     *matrix.Matrix[T]
	Rows, Cols *Labels // of the rows and columns, or nil; copied from the file
	data       []byte
}

// OpenMapped maps the file at path. It must be a binary file of elements of type
// T, neither compressed nor in blocks. OpenMapped verifies the invariants of the
// matrix but no checksums.
func OpenMapped[T matrix.Element](path string) (*Mapped[T], error) {
	st, labels, data, err := openMapped(path, elementOf(sparse.TypeOf[T]()).item())
	if err != nil {
		return nil, err
	}
	return &Mapped[T]{matrix.OfInside[T](inside(st)), labels.rows, labels.cols, data}, nil
}

func openMapped(path string, e hgb.Item) (st *sparse.Store, labels sides, data []byte, err error) {
	const op = "graphio.OpenMapped"
	if !hgb.HostLittle || int64(e.Width) != e.Type.Size {
		return nil, labels, nil, &matrix.InvalidError{Op: op, Reason: "this machine stores numbers differently from the file; use ReadFile"}
	}
	if data, err = mapFile(path); err != nil {
		return nil, labels, nil, err
	}
	st, names, err := hgb.Overlay(data, e)
	switch {
	case err == nil:
		return st, labelsOfFile(names), data, nil
	case err == hgb.ErrBlocked:
		err = &matrix.InvalidError{Op: op, Reason: path + " is in blocks, whose arrays are not contiguous; use ReadFile, or convert it"}
	default:
		err = readOptionsOf([]ReadOption{FileName(path)}).binaryError(op, err)
	}
	_ = unmap(data)
	return nil, labels, nil, err
}

// Close unmaps the file.
func (m *Mapped[T]) Close() error {
	if m == nil {
		return nil
	}
	m.Matrix = nil
	data := m.data
	m.data = nil
	return unmap(data)
}
