package matrix

import (
	"bytes"
	"errors"

	"github.com/hiveblas/hiveblas/internal/hgb"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// MarshalBinary returns a in the binary form (.hgb), which [graphio.ReadBinary] reads too. Element
// types other than bool, integers and floats are a *TypeError.
func (a *Matrix[T]) MarshalBinary() ([]byte, error) {
	c := a.inside()
	if c.err != nil {
		return nil, c.err
	}
	return marshal("Matrix.MarshalBinary", c.Stored(), false)
}

// MarshalBinary returns v in the binary form; see [Matrix.MarshalBinary].
func (v *Vector[T]) MarshalBinary() ([]byte, error) {
	if err := v.Err(); err != nil {
		return nil, err
	}
	return marshal("Vector.MarshalBinary", v.m.inside().stored1(), true)
}

// UnmarshalBinary replaces a by the matrix in data, as MarshalBinary returns it; labels in data are
// ignored. Bytes after the matrix and damaged data are an *[InvalidError], another element type is a
// *[TypeError]; a is then unchanged.
func (a *Matrix[T]) UnmarshalBinary(data []byte) error {
	if a == nil {
		return errNil
	}
	return a.inside().unmarshal("Matrix.UnmarshalBinary", data, false)
}

// UnmarshalBinary replaces v by the vector in data, as MarshalBinary returns it; see
// [Matrix.UnmarshalBinary].
func (v *Vector[T]) UnmarshalBinary(data []byte) error {
	if v == nil {
		return errNil
	}
	return v.m.inside().unmarshal("Vector.UnmarshalBinary", data, true)
}

func marshal(op string, st *sparse.Store, vector bool) ([]byte, error) {
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

// unmarshal replaces the contents by those of a file.
func (a *core) unmarshal(op string, data []byte, vector bool) error {
	e, ok := hgb.ItemOf(a.Type())
	if !ok {
		return refused(op, a.Type())
	}
	st, _, err := hgb.Read(bytes.NewReader(data), vector, e, &hgb.Options{ToEnd: true})
	var other *hgb.Mismatch
	switch {
	case errors.As(err, &other):
		return &TypeError{Op: op, Got: other.Got.String(), Want: sparse.GoType(a.Type()).String(), Remedy: "unmarshal it into the type of the data"}
	case err != nil:
		return &InvalidError{op, err.Error()}
	}
	a.err = nil
	a.SetStore(st)
	return nil
}
