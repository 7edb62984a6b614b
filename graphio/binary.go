package graphio

import (
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/hiveblas/hiveblas/internal/hgb"
	"github.com/hiveblas/hiveblas/internal/pieces"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// WriteBinary writes a in the binary form of hiveblas (.hgb): the arrays of
// its storage format, each with a checksum, and the labels of [WithLabels], in an
// order for look-up. It takes little longer than a copy of the arrays.
// [ReadBinary] returns the same matrix in the same format, and [ReadLabelled] the
// labels too. [matrix.Matrix.MarshalBinary] returns the same bytes, without labels.
func WriteBinary[T matrix.Element](w io.Writer, a *matrix.Matrix[T], opts ...WriteOption) error {
	return writeBinary("graphio.WriteBinary", w, a.Inside().Matrix, false, writeOptionsOf(opts))
}

// WriteVectorBinary writes v in the binary form; see [WriteBinary].
func WriteVectorBinary[T matrix.Element](w io.Writer, v *matrix.Vector[T], opts ...WriteOption) error {
	return writeBinary("graphio.WriteVectorBinary", w, v.Inside().Matrix, true, writeOptionsOf(opts))
}

func writeBinary(op string, w io.Writer, a rep.Matrix, vector bool, o *writeOptions) error {
	if err := a.Err(); err != nil {
		return err
	}
	if w == nil {
		return nilWriter(op)
	}
	st := a.Stored()
	if err := a.Err(); err != nil {
		return err
	}
	labels := sides{o.labels, o.cols}
	if vector {
		labels.rows = nil
	}
	if err := labels.checkCounts(op, st.NRows, st.NCols); err != nil {
		return err
	}
	e := elementOf(st.Type).item()
	o.size = hgb.Size(st, e)
	return hgb.Write(&reportingWriter{w: w, o: &o.common}, st, vector, e, labels.file(st.NRows, st.NCols))
}

// ReadBinary reads a matrix in the binary form (.hgb), gzip-compressed or not.
// T must be the element type of the file, else the error is a *[matrix.TypeError] that
// names both (int is stored as int64, uint as uint64); [Read] and [ReadFile] convert
// the values. ReadBinary verifies the
// checksums and the invariants of the matrix; damage is a *ParseError that names
// the section. All threads read an *os.File that is not compressed, whose size
// bounds the memory; that of other readers grows with the bytes read. ReadBinary
// buffers r and may read beyond the end of the matrix.
func ReadBinary[T matrix.Element](r io.Reader, opts ...ReadOption) (*matrix.Matrix[T], error) {
	a, _, err := readBinary("graphio.ReadBinary", r, optionsFor[T](opts))
	return matrix.OfInside[T](a), err
}

func readBinary(op string, r io.Reader, o *readOptions) (rep.Matrix, sides, error) {
	dup, err := o.combiner(op)
	if err != nil {
		return nil, sides{}, err
	}
	p, err := o.inParts(r, true)
	if err != nil {
		return nil, sides{}, err
	}
	if p != nil {
		if a, labels, ok, err := readBinaryParts(p, op, dup); ok {
			return a, labels, err
		}
		r, o.plain = p.stream(), &pieces.File{At: p.file, Size: p.size}
	}
	st, labels, err := readBinaryWhole(op, r, o, dup)
	return placed(o, st, labels, err)
}

func readBinaryWhole(op string, r io.Reader, o *readOptions, dup sparse.Combine) (*sparse.Store, sides, error) {
	st, labels, err := readStore(op, r, false, o)
	if err != nil {
		return nil, sides{}, err
	}
	if o.patternOnly {
		st.Val = st.Type.Filled(int64(st.Val.Len()), st.Type.True)
	}
	if o.symmetrise {
		if st.NRows != st.NCols {
			return nil, sides{}, o.failKind(0, fmt.Sprintf("cannot symmetrise a %d×%d matrix", st.NRows, st.NCols), RemedyNoSymmetrise)
		}
		st = symmetrise(st.ToSparse(), o.e, dup, o.threads)
	}
	return st, labels, nil
}

// ReadVectorBinary reads a vector in the binary form; see [ReadBinary].
func ReadVectorBinary[T matrix.Element](r io.Reader, opts ...ReadOption) (*matrix.Vector[T], error) {
	o := optionsFor[T](opts)
	st, _, err := readStore("graphio.ReadVectorBinary", r, true, o)
	return vectorOf[T](o, st, err)
}

// readStore reads a store, and converts its values if the options allow it.
func readStore(op string, r io.Reader, vector bool, o *readOptions) (*sparse.Store, sides, error) {
	if r == nil {
		return nil, sides{}, nilReader(op)
	}
	st, labels, err := hgb.Read(r, vector, o.e.item(), o.binary())
	if err != nil {
		return nil, sides{}, o.binaryError(op, err)
	}
	names := labelsOfFile(labels)
	if st.Type != o.e.t {
		st, err = convertStore(st, names, vector, o)
	}
	return st, names, err
}

// binary returns the options of the binary form.
func (o *readOptions) binary() *hgb.Options {
	return &hgb.Options{Context: o.ctx, Threads: o.threads, Report: o.progress, Plain: o.plain, Piece: o.piece, Convert: o.convert}
}

// binaryError returns the error of a file in the binary form.
func (o *readOptions) binaryError(op string, err error) error {
	var damage *hgb.Damage
	var other *hgb.Mismatch
	switch {
	case errors.As(err, &damage):
		e := o.fail(0, damage.Msg, damage.Remedy)
		e.Err = damage.Err
		return e
	case errors.As(err, &other):
		return &matrix.TypeError{Op: op, Got: other.Got.String(), Want: sparse.GoType(other.Want).String(), Remedy: "read it into the type of the file", File: o.file}
	}
	return o.streamError(0, err)
}

// number returns a value as a float, or as ±mag.
func (e element) number(v uint64) (x float64, float, neg bool, mag uint64) {
	if e.isFloat() {
		return e.asFloat(v), true, false, 0
	}
	neg, mag = e.asInt(v)
	return 0, false, neg, mag
}

// convertStore converts the values of a binary file to the element type of the options.
func convertStore(st *sparse.Store, labels sides, vector bool, o *readOptions) (*sparse.Store, error) {
	out, k, f := convertValues(st, o.e.t, o.patternOnly)
	if f == faultNone {
		return out, nil
	}
	from := elementOf(st.Type)
	msg, kind := f.explain(from.text(from.at(st.Val, k)), o.e.name(), o.e.kind)
	i, j := positionOf(&st.Structure, k)
	place := "from " + labels.rows.Name(i) + " to "
	if vector {
		place = "of "
	}
	return nil, o.failKind(0, fmt.Sprintf("the value %s%s in the file, which has %s: %s", place, labels.cols.Name(j), from.kind, msg), kind)
}

// convertValues returns a store with values of another type, or the place of the first value that
// the type does not hold. The values of a bitmap without an entry stay zero. NaN and infinities are
// values of floats. With ones every value is 1 or true.
func convertValues(st *sparse.Store, t *sparse.Type, ones bool) (out *sparse.Store, at int64, f fault) {
	from, e, n := elementOf(st.Type), elementOf(t), int64(st.Val.Len())
	out = &sparse.Store{Structure: st.Structure, Val: t.Zeroed(n), Type: t}
	special := &readOptions{allowNaN: true}
	for k := range n {
		if st.Format == sparse.Bitmap && st.Present[k] == 0 {
			continue
		}
		v := e.one
		if !ones {
			if x, float, neg, mag := from.number(from.at(st.Val, k)); float {
				v, f = e.convertFloat(x, special)
			} else {
				v, f = e.convertInt(neg, mag)
			}
			if f != faultNone {
				return nil, k, f
			}
		}
		e.store(out.Val, k, v)
	}
	return out, 0, faultNone
}

// kindOf returns the descriptor of the built-in type of a kind of numbers or bool.
func kindOf(kind reflect.Kind) *sparse.Type {
	switch kind {
	case reflect.Bool:
		return sparse.TypeOf[bool]()
	case reflect.Int8:
		return sparse.TypeOf[int8]()
	case reflect.Int16:
		return sparse.TypeOf[int16]()
	case reflect.Int32:
		return sparse.TypeOf[int32]()
	case reflect.Int64:
		return sparse.TypeOf[int64]()
	case reflect.Uint8:
		return sparse.TypeOf[uint8]()
	case reflect.Uint16:
		return sparse.TypeOf[uint16]()
	case reflect.Uint32:
		return sparse.TypeOf[uint32]()
	case reflect.Uint64:
		return sparse.TypeOf[uint64]()
	case reflect.Float32:
		return sparse.TypeOf[float32]()
	}
	return sparse.TypeOf[float64]()
}
