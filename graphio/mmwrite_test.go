package graphio

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// mustTuples builds a matrix of (row, column, value) triples.
func mustTuples[T comparable](t testing.TB, m, n int, rows, cols []int, vals []T) *matrix.Matrix[T] {
	t.Helper()
	a := sure.Get(matrix.FromTuples(m, n, rows, cols, vals, nil))
	return a
}

func TestWriteMatrixMarket(t *testing.T) {
	a := mustTuples(t, 2, 2, []int{0, 0, 1}, []int{0, 1, 0}, []float64{1, 0.1, 0.1})
	full, _ := matrix.FromDense(2, 2, []float64{1, 2, 3, 4})
	sym, _ := matrix.FromDense(2, 2, []float64{1, 2, 2, 4})
	yes := mustTuples(t, 1, 2, []int{0, 0}, []int{0, 1}, []bool{true, true})
	no := mustTuples(t, 1, 2, []int{0, 0}, []int{0, 1}, []bool{true, false})
	ints := mustTuples(t, 1, 2, []int{0, 0}, []int{0, 1}, []int8{-128, 5})
	cases := []struct {
		name, reason string
		write        func(*bytes.Buffer) error
		want         string
	}{
		{"general", "the default", func(b *bytes.Buffer) error { return WriteMatrixMarket(b, a) },
			banner + "coordinate real general\n2 2 3\n1 1 1\n1 2 0.1\n2 1 0.1\n"},
		{"comment", "of two lines", func(b *bytes.Buffer) error { return WriteMatrixMarket(b, a, Comment("x\ny\n"), AsPattern()) },
			banner + "coordinate pattern general\n% x\n% y\n2 2 3\n1 1\n1 2\n2 1\n"},
		{"symmetric", "one triangle", func(b *bytes.Buffer) error { return WriteMatrixMarket(b, a, AsSymmetric()) },
			banner + "coordinate real symmetric\n2 2 2\n1 1 1\n2 1 0.1\n"},
		{"array", "by columns", func(b *bytes.Buffer) error { return WriteMatrixMarket(b, full, AsArray()) },
			banner + "array real general\n2 2\n1\n3\n2\n4\n"},
		{"array symmetric", "the lower triangle by columns", func(b *bytes.Buffer) error { return WriteMatrixMarket(b, sym, AsArray(), AsSymmetric()) },
			banner + "array real symmetric\n2 2\n1\n2\n4\n"},
		{"full as coordinates", "every position listed", func(b *bytes.Buffer) error { return WriteMatrixMarket(b, full) },
			banner + "coordinate real general\n2 2 4\n1 1 1\n1 2 2\n2 1 3\n2 2 4\n"},
		{"true", "a pattern", func(b *bytes.Buffer) error { return WriteMatrixMarket(b, yes) },
			banner + "coordinate pattern general\n1 2 2\n1 1\n1 2\n"},
		{"false", "a pattern would lose it", func(b *bytes.Buffer) error { return WriteMatrixMarket(b, no) },
			banner + "coordinate integer general\n1 2 2\n1 1 1\n1 2 0\n"},
		{"integers", "their own header", func(b *bytes.Buffer) error { return WriteMatrixMarket(b, ints) },
			banner + "coordinate integer general\n1 2 2\n1 1 -128\n1 2 5\n"},
		{"empty", "no entries", func(b *bytes.Buffer) error { return WriteMatrixMarket(b, matrix.New[float32](3, 0)) },
			banner + "coordinate real general\n3 0 0\n"},
		{"zero value", "0×0", func(b *bytes.Buffer) error { return WriteMatrixMarket(b, &matrix.Matrix[int]{}) },
			banner + "coordinate integer general\n0 0 0\n"},
		{"special", "values that Go formats differently", func(b *bytes.Buffer) error {
			v, _ := matrix.VectorOf([]float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1)})
			return WriteVectorMatrixMarket(b, v)
		}, banner + "coordinate real general\n4 1 4\n1 1 nan\n2 1 inf\n3 1 -inf\n4 1 -0\n"},
		{"zero vector", "0×1", func(b *bytes.Buffer) error { return WriteVectorMatrixMarket(b, &matrix.Vector[int]{}) },
			banner + "coordinate integer general\n0 1 0\n"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := c.write(&b); err != nil || b.String() != c.want {
				t.Errorf("got %v\n%swant\n%s(%s)", err, b.String(), c.want, c.reason)
			}
		})
	}
}

func TestWriteMatrixMarketErrors(t *testing.T) {
	a := mustTuples(t, 2, 2, []int{0, 0}, []int{0, 1}, []float64{1, 2})
	b := mustTuples(t, 2, 2, []int{0, 1}, []int{1, 0}, []float64{1, 2})
	full, _ := matrix.NewFull(2, 2, 1.0)
	for _, c := range []struct {
		name, msg string
		a         *matrix.Matrix[float64]
		opts      []WriteOption
	}{
		{"array of sparse", "has 2", a, []WriteOption{AsArray()}},
		{"array pattern", "exclude", full, []WriteOption{AsArray(), AsPattern()}},
		{"no mirror", "(1, 0) has none", a, []WriteOption{AsSymmetric()}},
		{"other mirror", "(1, 0) is 2", b, []WriteOption{AsSymmetric()}},
		{"rectangle", "square", matrix.New[float64](2, 3), []WriteOption{AsSymmetric()}},
	} {
		var out bytes.Buffer
		err := WriteMatrixMarket(&out, c.a, c.opts...)
		if !errors.Is(err, matrix.ErrInvalid) || !strings.Contains(err.Error(), c.msg) || out.Len() != 0 {
			t.Errorf("%s: got %v and %q", c.name, err, out.String())
		}
	}
	if err := WriteMatrixMarket(&bytes.Buffer{}, matrix.New[float64](-1, 2)); !errors.Is(err, matrix.ErrSize) {
		t.Errorf("a matrix with an error: got %v", err)
	}
}

// failer is the common part of testing.T and rapid.T.
type failer interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// roundTrip writes and reads a in every form and compares.
func roundTrip[T matrix.Element](t failer, a *matrix.Matrix[T]) {
	t.Helper()
	m, n := a.Dims()
	same := func(form string, b *matrix.Matrix[T], err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", form, err)
		}
		if err := stored(b).Check(len(stored(b).Val), false); err != nil {
			t.Fatalf("%s: %v", form, err)
		}
		bm, bn := b.Dims()
		if bm != m || bn != n || !sameEntries(a, b) {
			t.Fatalf("%s: read back %s %s, wrote %s %s", form, b, entriesOf(b), a, entriesOf(a))
		}
	}
	var buf bytes.Buffer
	err := WriteMatrixMarket(&buf, a)
	if err != nil {
		t.Fatal(err)
	}
	b, err := ReadMatrixMarket[T](&buf, AllowNaN())
	same("Matrix Market", b, err)

	buf.Reset()
	if err := WriteEdgeList(&buf, a); err != nil {
		t.Fatal(err)
	}
	if a.NVals() > 0 {
		b, _, err = ReadEdgeList[T](&buf, AllowNaN(), Dims(m, n))
		same("edge list", b, err)
	}

	buf.Reset()
	if err := WriteBinary(&buf, a); err != nil {
		t.Fatal(err)
	}
	b, err = ReadBinary[T](&buf)
	same("binary", b, err)
	if b.Format() != a.Format() {
		t.Fatalf("binary: read back %v, wrote %v", b.Format(), a.Format())
	}
}

func TestRoundTripFloats(t *testing.T) {
	vals := []float64{0, math.Copysign(0, -1), 1, -1, 0.1, 1.0 / 3, math.Pi, 1e22, 1e23, 5e-324, 2.2250738585072014e-308,
		math.MaxFloat64, -math.SmallestNonzeroFloat64, 123456789.125, 1e15 + 0.3, math.Inf(1), math.Inf(-1), math.NaN()}
	a, _ := matrix.FromDense(3, 6, vals)
	roundTrip(t, a)
	b, err := ReadMatrixMarket[float64](strings.NewReader(banner + "coordinate real general\n1 1 1\n1 1 -0\n"))
	if v, _ := b.At(0, 0); err != nil || !math.Signbit(v) {
		t.Errorf("-0 came back as %v, %v", v, err)
	}
	single := make([]float32, len(vals))
	for k, v := range vals {
		single[k] = float32(v)
	}
	s, _ := matrix.FromDense(6, 3, single)
	roundTrip(t, s)
}

func TestVectorMatrixMarket(t *testing.T) {
	v, _ := matrix.VectorFromTuples(5, []int{1, 4}, []float64{2, 3}, nil)
	full, _ := matrix.VectorOf([]float64{1, 2, 3})
	bitmap := v.Clone()
	sure.Do(bitmap.SetFormat(matrix.Bitmap))
	for _, v := range []*matrix.Vector[float64]{v, full, bitmap, matrix.NewVector[float64](0), matrix.NewVector[float64](1 << 20)} {
		var b bytes.Buffer
		if err := WriteVectorMatrixMarket(&b, v); err != nil {
			t.Fatal(err)
		}
		w, err := ReadVectorMatrixMarket[float64](&b)
		if err != nil || !v.Equal(w) {
			t.Errorf("%v came back as %v, %v", v, w, err)
		}
	}
	for text, want := range map[string]int{
		banner + "array real general\n3 1\n1\n2\n3\n":                 3,
		banner + "array real general\n1 4\n1\n2\n3\n4\n":              4,
		banner + "coordinate real general\n1 7 1\n1 7 1\n":            7,
		banner + "coordinate real general\n1 1 1\n1 1 1\n":            1,
		banner + "coordinate real general\n100000 1 1\n99999 1 1.5\n": 100000,
	} {
		w, err := ReadVectorMatrixMarket[float64](strings.NewReader(text))
		if err != nil || w.Size() != want {
			t.Errorf("%q: got %v, %v, want size %d", text, w, err, want)
		}
	}
	if _, err := ReadVectorMatrixMarket[float64](strings.NewReader("2 2 0\n")); !errors.Is(err, ErrParse) {
		t.Errorf("a 2×2 matrix as a vector: got %v", err)
	}
}

// failingWriter fails after n bytes.
type failingWriter struct {
	n   int
	err error
}

func (w *failingWriter) Write(p []byte) (int, error) {
	if len(p) > w.n {
		return w.n, w.err
	}
	w.n -= len(p)
	return len(p), nil
}

func TestWriteErrorsSurface(t *testing.T) {
	full := errors.New("no space left")
	a := mustTuples(t, 2, 2, []int{0, 0}, []int{0, 1}, []float64{1, 2})
	v, _ := matrix.VectorOf([]float64{1, 2})
	for n := range 60 {
		w := func() *failingWriter { return &failingWriter{n, full} }
		for form, err := range map[string]error{
			"Matrix Market": WriteMatrixMarket(w(), a),
			"binary":        WriteBinary(w(), a),
		} {
			if !errors.Is(err, full) {
				t.Errorf("%s: after %d bytes got %v", form, n, err)
			}
		}
		if n < 8 {
			if err := WriteEdgeList(w(), a); !errors.Is(err, full) {
				t.Errorf("edge list: after %d bytes got %v", n, err)
			}
			if err := WriteVectorTSV(w(), v, Comment("abc")); !errors.Is(err, full) {
				t.Errorf("vector: after %d bytes got %v", n, err)
			}
		}
	}
}

func TestWriteNil(t *testing.T) {
	var a *matrix.Matrix[int]
	var v *matrix.Vector[int]
	_, e1 := a.MarshalBinary()
	_, e2 := v.MarshalBinary()
	for k, err := range []error{e1, e2, WriteMatrixMarket(io.Discard, a), WriteEdgeList(io.Discard, a), WriteBinary(io.Discard, a),
		WriteVectorMatrixMarket(io.Discard, v), WriteVectorTSV(io.Discard, v), WriteVectorBinary(io.Discard, v)} {
		if !errors.Is(err, matrix.ErrInvalid) {
			t.Errorf("writer %d: a nil matrix gives %v", k, err)
		}
	}
}
