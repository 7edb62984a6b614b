package matrix

import (
	"bytes"
	"errors"

	"github.com/hiveblas/hiveblas/internal/hgb"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// MarshalBinary returns a in the binary form (.hgb), which [graphio.ReadBinary] reads too.
// MarshalBinary returns a *TypeError for element types other than bool, integers and floats.
func (a *Matrix[T]) MarshalBinary() ([]byte, error) {
	return coreOf(a).marshal("Matrix.MarshalBinary", false)
}

// MarshalBinary returns v in the binary form; see [Matrix.MarshalBinary].
func (v *Vector[T]) MarshalBinary() ([]byte, error) {
	return vectorCore(v).marshal("Vector.MarshalBinary", true)
}

// UnmarshalBinary replaces a by the matrix in data, as MarshalBinary returns it; labels in data are
// ignored. UnmarshalBinary returns an *[InvalidError] if data is damaged or has bytes after the
// matrix, and a *[TypeError] for another element type; a is then unchanged.
func (a *Matrix[T]) UnmarshalBinary(data []byte) error {
	return coreOf(a).unmarshal("Matrix.UnmarshalBinary", data, false)
}

// UnmarshalBinary replaces v by the vector in data, as MarshalBinary returns it; see
// [Matrix.UnmarshalBinary].
func (v *Vector[T]) UnmarshalBinary(data []byte) error {
	return vectorCore(v).unmarshal("Vector.UnmarshalBinary", data, true)
}

// marshal returns the contents in the binary form.
func (a *core) marshal(op string, vector bool) ([]byte, error) {
	if a.err != nil {
		return nil, a.err
	}
	st := a.Stored()
	if vector {
		st = a.stored1()
	}
	e, ok := hgb.ItemOf(st.Type)
	if !ok {
		return nil, refused(op, st.Type)
	}
	var b bytes.Buffer
	err := hgb.Write(&b, st, vector, e, hgb.Sides{})
	return b.Bytes(), err
}

func refused(op string, t *sparse.Type) error {
	return &TypeError{Op: op, Got: sparse.GoType(t).String(), Want: "bool, an integer or a float"}
}

// unmarshal replaces the contents by the contents of a file.
func (a *core) unmarshal(op string, data []byte, vector bool) error {
	if a.null {
		return errNil
	}
	e, ok := hgb.ItemOf(a.Type())
	if !ok {
		return refused(op, a.Type())
	}
	st, _, err := hgb.Read(bytes.NewReader(data), vector, e, &hgb.Options{ToEnd: true})
	other, mismatch := errors.AsType[*hgb.Mismatch](err)
	switch {
	case mismatch:
		return &TypeError{Op: op, Got: other.Got.String(), Want: sparse.GoType(a.Type()).String(), Remedy: "unmarshal it into the type of the data"}
	case err != nil:
		return &InvalidError{op, err.Error()}
	}
	a.err = nil
	a.SetStore(st)
	return nil
}
