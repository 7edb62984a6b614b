package graphio

import (
	"github.com/hiveblas/hiveblas/graphio/internal/binfile"
	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/internal/mapped"
	"github.com/hiveblas/hiveblas/internal/rep"
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
	st, labels, data, err := binfile.OpenMapped(path, core.ElementOf(sparse.TypeOf[T]()).Item())
	if err != nil {
		return nil, err
	}
	return &Mapped[T]{matrix.OfInside[T](core.Inside(st)), (*Labels)(labels.Rows), (*Labels)(labels.Cols), data}, nil
}

// Close unmaps the file.
func (m *Mapped[T]) Close() error {
	if m == nil {
		return nil
	}
	m.Matrix = nil
	data := m.data
	m.data = nil
	return mapped.Unmap(data)
}

// MappedStructure is the structure of a matrix in a binary file that is mapped into memory; see
// [Mapped]. Close invalidates the structure.
type MappedStructure struct {
	Pattern    *matrix.View[bool]
	Rows, Cols *Labels // of the rows and columns, or nil; copied from the file
	data       []byte
}

// MapStructure maps the file at path, a binary file in compressed sparse rows with elements of any
// type, neither compressed nor in blocks. It reads the head and the labels alone, and verifies
// neither checksums nor the invariants of the rows: give the structure to functions that say that
// they check the rows that they read, such as apps.NewLocalClusterer. Others may fail or panic on a
// damaged file; [OpenMapped] verifies one. MapStructure advises the system to read single pages.
func MapStructure(path string) (*MappedStructure, error) {
	s, labels, data, err := binfile.MapStructure(path)
	if err != nil {
		return nil, err
	}
	m := core.Inside(s.Pattern())
	return &MappedStructure{matrix.ViewOf[bool](rep.View{Matrix: m.Pattern()}), (*Labels)(labels.Rows), (*Labels)(labels.Cols), data}, nil
}

// Close unmaps the file.
func (m *MappedStructure) Close() error {
	if m == nil {
		return nil
	}
	m.Pattern = nil
	data := m.data
	m.data = nil
	return mapped.Unmap(data)
}
