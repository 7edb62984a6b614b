package binfile

import (
	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/internal/hgb"
	"github.com/hiveblas/hiveblas/internal/mapped"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// OpenMapped maps the file at path and returns the matrix over the bytes of the file; see
// graphio.OpenMapped.
func OpenMapped(path string, e hgb.Item) (st *sparse.Store, labels core.Sides, data []byte, err error) {
	const op = "graphio.OpenMapped"
	if !hgb.HostLittle || int64(e.Width) != e.Type.Size {
		return nil, labels, nil, &matrix.InvalidError{Op: op, Reason: "this machine stores numbers differently from the file; use ReadFile"}
	}
	if data, err = mapped.Map(path); err != nil {
		return nil, labels, nil, err
	}
	st, names, err := hgb.Overlay(data, e)
	if err != nil {
		return nil, labels, nil, unmapped(op, path, data, err)
	}
	return st, core.LabelsOfFile(names), data, nil
}

// MapStructure maps the file at path and returns the structure of its matrix over the bytes of the
// file; see graphio.MapStructure.
func MapStructure(path string) (s *sparse.Structure, labels core.Sides, data []byte, err error) {
	const op = "graphio.MapStructure"
	if !hgb.HostLittle {
		return nil, labels, nil, &matrix.InvalidError{Op: op, Reason: "this machine stores numbers differently from the file; use ReadFile"}
	}
	if data, err = mapped.Map(path); err != nil {
		return nil, labels, nil, err
	}
	mapped.Scattered(data)
	s, names, err := hgb.OverlayStructure(data)
	if err != nil {
		return nil, labels, nil, unmapped(op, path, data, err)
	}
	return s, core.LabelsOfFile(names), data, nil
}

// unmapped releases the bytes of a file, and returns what is wrong with it.
func unmapped(op, path string, data []byte, err error) error {
	if err == hgb.ErrBlocked {
		err = &matrix.InvalidError{Op: op, Reason: path + " is in blocks, whose arrays are not contiguous; use ReadFile, or convert it"}
	} else {
		err = binaryError(&core.ReadOptions{Common: core.Common{File: path}}, op, err)
	}
	_ = mapped.Unmap(data)
	return err
}
