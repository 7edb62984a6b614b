// Package binfile is the binary form, .hgb: whole files, files in blocks, files that ranks read in
// parts, and mapped files. internal/hgb encodes and decodes it.
package binfile

import (
	"errors"
	"fmt"
	"io"

	"github.com/hiveblas/hiveblas/graphio/internal/build"
	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/graphio/internal/numtext"
	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/hgb"
	"github.com/hiveblas/hiveblas/internal/pieces"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

func write(op string, w io.Writer, a rep.Matrix, vector bool, o *core.WriteOptions) error {
	if err := a.Err(); err != nil {
		return err
	}
	if w == nil {
		return core.NilWriter(op)
	}
	st := a.Stored()
	if err := a.Err(); err != nil {
		return err
	}
	labels := core.Sides{Rows: o.Labels, Cols: o.Cols}
	if vector {
		labels.Rows = nil
	}
	if err := labels.CheckCounts(op, st.NRows, st.NCols); err != nil {
		return err
	}
	e := core.ElementOf(st.Type).Item()
	o.Size = hgb.Size(st, e)
	return hgb.Write(&core.ReportingWriter{W: w, O: &o.Common}, st, vector, e, labels.File(st.NRows, st.NCols))
}

// Read reads a matrix; see graphio.ReadBinary. op is the function that the user called.
func Read(op string, r io.Reader, o *core.ReadOptions) (rep.Matrix, core.Sides, error) {
	dup, err := o.Combiner(op)
	if err != nil {
		return nil, core.Sides{}, err
	}
	p, err := build.InParts(o, r, true)
	if err != nil {
		return nil, core.Sides{}, err
	}
	if p != nil {
		if a, labels, ok, err := readBinaryParts(p, op, dup); ok {
			return a, labels, err
		}
		r, o.Plain = p.Stream(), &pieces.File{At: p.File, Size: p.Size}
	}
	st, labels, err := readBinaryWhole(op, r, o, dup)
	return build.Placed(o, st, labels, err)
}

func readBinaryWhole(op string, r io.Reader, o *core.ReadOptions, dup sparse.Combine) (*sparse.Store, core.Sides, error) {
	st, labels, err := readStore(op, r, false, o)
	if err != nil {
		return nil, core.Sides{}, err
	}
	if o.PatternOnly {
		st.Val = st.Type.Filled(int64(st.Val.Len()), st.Type.True)
	}
	if o.Symmetrise {
		if st.NRows != st.NCols {
			return nil, core.Sides{}, o.FailKind(0, fmt.Sprintf("cannot symmetrise a %d×%d matrix", st.NRows, st.NCols), core.RemedyNoSymmetrise)
		}
		st = build.Symmetrise(st.ToSparse(), o.E, dup, o.Threads)
	}
	return st, labels, nil
}

// readStore reads a store, and converts its values if the options allow it.
func readStore(op string, r io.Reader, vector bool, o *core.ReadOptions) (*sparse.Store, core.Sides, error) {
	if r == nil {
		return nil, core.Sides{}, core.NilReader(op)
	}
	st, labels, err := hgb.Read(r, vector, o.E.Item(), binaryOptions(o))
	if err != nil {
		return nil, core.Sides{}, binaryError(o, op, err)
	}
	names := core.LabelsOfFile(labels)
	if st.Type != o.E.T {
		st, err = convertStore(st, names, vector, o)
	}
	return st, names, err
}

// binaryOptions returns the options of the binary form.
func binaryOptions(o *core.ReadOptions) *hgb.Options {
	return &hgb.Options{Context: o.Ctx, Threads: o.Threads, Report: o.Progress, Plain: o.Plain, Piece: o.Piece, Convert: o.Convert, Open: chunk.Open}
}

// binaryError returns the error of a file in the binary form.
func binaryError(o *core.ReadOptions, op string, err error) error {
	var damage *hgb.Damage
	var other *hgb.Mismatch
	switch {
	case errors.As(err, &damage):
		e := o.Fail(0, damage.Msg, damage.Remedy)
		e.Err = damage.Err
		return e
	case errors.As(err, &other):
		return &matrix.TypeError{Op: op, Got: other.Got.String(), Want: sparse.GoType(other.Want).String(), Remedy: "read it into the type of the file", File: o.File}
	}
	return o.StreamError(0, err)
}

// convertStore converts the values of a binary file to the element type of the options.
func convertStore(st *sparse.Store, labels core.Sides, vector bool, o *core.ReadOptions) (*sparse.Store, error) {
	out, k, f := numtext.ConvertValues(st, o.E.T, o.PatternOnly)
	if f == numtext.FaultNone {
		return out, nil
	}
	from := core.ElementOf(st.Type)
	msg, kind := f.Explain(from.Text(from.At(st.Val, k)), o.E.Name(), o.E.Kind)
	i, j := numtext.PositionOf(&st.Structure, k)
	place := "from " + labels.Rows.Name(i) + " to "
	if vector {
		place = "of "
	}
	return nil, o.FailKind(0, fmt.Sprintf("the value %s%s in the file, which has %s: %s", place, labels.Cols.Name(j), from.Kind, msg), kind)
}

// Write writes a matrix.
func Write(w io.Writer, a rep.Matrix, o *core.WriteOptions) error {
	return write("graphio.WriteBinary", w, a, false, o)
}

// WriteVector writes a vector.
func WriteVector(w io.Writer, v rep.Matrix, o *core.WriteOptions) error {
	return write("graphio.WriteVectorBinary", w, v, true, o)
}

// ReadVector reads a vector.
func ReadVector(r io.Reader, o *core.ReadOptions) (*sparse.Store, error) {
	st, _, err := readStore("graphio.ReadVectorBinary", r, true, o)
	return st, err
}
