package graphio

import (
	"bytes"
	"encoding"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/hgb"
	"github.com/hiveblas/hiveblas/internal/pieces"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// everyFormat returns a matrix in each of the four formats.
func everyFormat(t testing.TB) []*matrix.Matrix[int32] {
	csr := mustTuples(t, 3, 4, []int{0, 2, 2}, []int{3, 0, 1}, []int32{1, -2, 3})
	hyper := mustTuples(t, matrix.MaxDim, matrix.MaxDim, []int{5, matrix.MaxDim - 1}, []int{matrix.MaxDim - 1, 0}, []int32{7, 8})
	bitmap := csr.Clone()
	sure.Do(bitmap.SetFormat(matrix.Bitmap))
	full := sure.Get(matrix.FromDense(2, 2, []int32{1, 2, 3, 4}))
	all := []*matrix.Matrix[int32]{csr, hyper, bitmap, full}
	for k, f := range []matrix.Format{matrix.CSR, matrix.Hypersparse, matrix.Bitmap, matrix.Full} {
		if all[k].Format() != f {
			t.Fatalf("format %v, want %v", all[k].Format(), f)
		}
	}
	return all
}

func TestBinaryFormats(t *testing.T) {
	for _, a := range append(everyFormat(t), matrix.New[int32](0, 0), matrix.New[int32](5, 0), matrix.New[int32](1<<30, 3), &matrix.Matrix[int32]{}) {
		data, err := a.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var b matrix.Matrix[int32]
		if err := b.UnmarshalBinary(data); err != nil {
			t.Fatalf("%v: %v", a, err)
		}
		valid(t, &b)
		if !a.Equal(&b) || a.Format() != b.Format() {
			t.Errorf("%v came back as %v", a, &b)
		}
		c, err := ReadBinary[int32](bytes.NewReader(gz(t, string(data))))
		if err != nil || !a.Equal(c) {
			t.Errorf("%v came back from gzip as %v, %v", a, c, err)
		}
	}
	var _ encoding.BinaryMarshaler = &matrix.Matrix[int]{}
	var _ encoding.BinaryUnmarshaler = &matrix.Vector[int]{}
}

func TestBinaryVectors(t *testing.T) {
	sparse, _ := matrix.VectorFromTuples(matrix.MaxDim, []int{3, matrix.MaxDim - 1}, []bool{true, false}, nil)
	full, _ := matrix.VectorOf([]bool{true, false, true})
	bitmap, _ := matrix.VectorFromTuples(4, []int{2}, []bool{true}, nil)
	sure.Do(bitmap.SetFormat(matrix.Bitmap))
	for _, v := range []*matrix.Vector[bool]{sparse, full, bitmap, matrix.NewVector[bool](0), {}} {
		data, err := v.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var w matrix.Vector[bool]
		if err := w.UnmarshalBinary(data); err != nil || !v.Equal(&w) || v.Format() != w.Format() {
			t.Errorf("%v came back as %v, %v", v, &w, err)
		}
		var a matrix.Matrix[bool]
		if err := a.UnmarshalBinary(data); !errors.Is(err, matrix.ErrInvalid) || !strings.Contains(err.Error(), "a vector") {
			t.Errorf("a vector as a matrix: got %v", err)
		}
	}
}

func binaryTypes[T matrix.Number](t *testing.T) {
	vals := []T{0, 1, 2, 100}
	if x := T(0); x-1 < 0 {
		vals = append(vals, x-1, x-100)
	}
	a, _ := matrix.FromDense(1, len(vals), vals)
	roundTrip(t, a)
}

func TestBinaryTypes(t *testing.T) {
	binaryTypes[int8](t)
	binaryTypes[int32](t)
	binaryTypes[uint16](t)
	moreBinaryTypes(t)
	binaryTypes[uint64](t)
	binaryTypes[float32](t)
	binaryTypes[float64](t)
	type id int
	binaryTypes[id](t)
}

func TestBinaryTypeErrors(t *testing.T) {
	a, _ := matrix.FromDense(1, 2, []int64{1, -2})
	var b bytes.Buffer
	if err := WriteBinary(&b, a); err != nil {
		t.Fatal(err)
	}
	if c, err := ReadBinary[int](bytes.NewReader(b.Bytes())); err != nil || entriesOf(c) != "(0,0)=1 (0,1)=-2" {
		t.Errorf("int64 as int: got %v, %v", c, err)
	}
	_, err := ReadBinary[float64](bytes.NewReader(b.Bytes()))
	var e *matrix.TypeError
	if !errors.As(err, &e) || e.Got != "int64" || e.Want != "float64" {
		t.Errorf("int64 as float64: got %v, want a *TypeError that names both", err)
	}
	path := filepath.Join(t.TempDir(), "a.hgb")
	sure.Do(os.WriteFile(path, b.Bytes(), 0o666))
	_, err = OpenMapped[float64](path)
	if !errors.Is(err, matrix.ErrType) || !strings.HasPrefix(err.Error(), path+": graphio.") {
		t.Errorf("of a mapped file: %v, want its path", err)
	}
	type point struct{ X, Y int }
	if _, err := matrix.New[point](1, 1).MarshalBinary(); !errors.Is(err, matrix.ErrType) {
		t.Errorf("a struct: got %v", err)
	}
	if err := matrix.New[point](1, 1).UnmarshalBinary(b.Bytes()); !errors.Is(err, matrix.ErrType) {
		t.Errorf("a struct: got %v", err)
	}
	if _, err := matrix.New[int](-1, 1).MarshalBinary(); !errors.Is(err, matrix.ErrSize) {
		t.Errorf("a matrix with an error: got %v", err)
	}
}

// Read and ReadFile convert the values of a binary file, in every format of storage, and refuse
// values that the type does not hold.
func TestBinaryConversion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.hgb")
	convertsTo[int8, float64](t, path, []int8{1, -2, 127, 0}, []float64{1, -2, 127, 0}, "")
	convertsTo[uint64, int64](t, path, []uint64{1, 2, 3, 1<<63 - 1}, []int64{1, 2, 3, 1<<63 - 1}, "")
	convertsTo[uint64, float64](t, path, []uint64{1, 2, 3, 1<<53 + 1}, nil, "the value from 1 to 1 in the file, which has uint64: the integer 9007199254740993 is not exact in float64")
	convertsTo[int64, uint8](t, path, []int64{1, 2, -3, 4}, nil, "the value from 1 to 0 in the file, which has int64: the value -3 does not fit uint8")
	convertsTo[float32, float64](t, path, []float32{1.5, -2, float32(math.Inf(1)), 0}, []float64{1.5, -2, math.Inf(1), 0}, "")
	convertsTo[float64, float32](t, path, []float64{1.5, -2, 1e300, 0}, nil, "does not fit float32")
	convertsTo[float64, int](t, path, []float64{1, -2, 2.5, 0}, nil, "the value 2.5 is not an integer")
	convertsTo[float64, int16](t, path, []float64{1, -2, 25, 0}, []int16{1, -2, 25, 0}, "")
	convertsTo[bool, int32](t, path, []bool{true, false, true, true}, []int32{1, 0, 1, 1}, "")
	convertsTo[uint16, bool](t, path, []uint16{1, 0, 1, 1}, []bool{true, false, true, true}, "")
	convertsTo[uint16, bool](t, path, []uint16{1, 0, 2, 1}, nil, "neither 0 nor 1")
}

func convertsTo[F, T matrix.Element](t *testing.T, path string, values []F, want []T, message string) {
	t.Helper()
	for _, format := range []matrix.Format{matrix.CSR, matrix.Hypersparse, matrix.Bitmap, matrix.Full} {
		m := 2
		if format == matrix.Hypersparse || format == matrix.Bitmap {
			m = 3 // a row without entries
		}
		a, err := matrix.FromTuples(m, 2, []int{0, 0, 1, 1}, []int{0, 1, 0, 1}, values, nil)
		if err == nil {
			err = a.SetFormat(format)
		}
		if err == nil {
			err = WriteFile(path, a)
		}
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := ReadFile[T](path)
		if want == nil {
			var e *ParseError
			if !errors.As(err, &e) || !strings.Contains(e.Msg, message) || e.File != path {
				t.Errorf("%T of %T, %v: %v, want %q", want, values, format, err, message)
			}
			continue
		}
		if err != nil || got.NVals() != 4 {
			t.Errorf("%T of %T, %v: %v, %v", want, values, format, got, err)
			continue
		}
		for k, x := range want {
			if y, ok := got.At(k/2, k%2); !ok || y != x {
				t.Errorf("%T of %T, %v: value %d is %v, want %v", want, values, format, k, y, x)
			}
		}
		ones, _, err := ReadFile[T](path, PatternOnly())
		if one := elementFor[T](); err != nil || ones.NVals() != 4 || one.At(ones.Inside().Stored().Val, 0) != one.One {
			t.Errorf("%T of %T, %v, without values: %v, %v", want, values, format, ones, err)
		}
	}
	v, err := matrix.VectorFromTuples(5, []int{0, 1, 3, 4}, values, nil)
	if err == nil {
		err = WriteVectorFile(path, v)
	}
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadVectorFile[T](path)
	if want != nil && (err != nil || got.NVals() != 4) || want == nil && (!errors.Is(err, ErrParse) || strings.Contains(message, "in the file") && !strings.Contains(err.Error(), "the value of ")) {
		t.Errorf("vector %T of %T: %v, %v", want, values, got, err)
	}
}

// UnmarshalBinary takes the bytes of one matrix and no more.
func TestUnmarshalSurplus(t *testing.T) {
	a, _ := matrix.FromDense(1, 3, []int32{1, 2, 3})
	v, _ := matrix.VectorOf([]int32{1, 2, 3})
	matrixBytes, err := a.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	vectorBytes, err := v.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "blocks.hgb")
	f, err := CreateBlocks[int32](path, 1, 3, []int{0, 1}, nil)
	if err == nil {
		err = f.Append([]int64{0, 2}, []int32{0, 2}, []int32{5, 6})
	}
	if err == nil {
		err = f.Finish()
	}
	if err != nil {
		t.Fatal(err)
	}
	blockBytes := sure.Get(os.ReadFile(path))
	into, vector := matrix.New[int32](0, 0), matrix.NewVector[int32](0)
	for _, c := range []struct {
		reason string
		data   []byte
		read   func([]byte) error
	}{{"matrix", matrixBytes, into.UnmarshalBinary}, {"vector", vectorBytes, vector.UnmarshalBinary}, {"blocks", blockBytes, into.UnmarshalBinary}} {
		if err := c.read(c.data); err != nil {
			t.Errorf("%s: %v", c.reason, err)
		}
		for _, more := range [][]byte{{1}, {0, 0, 0}, c.data} {
			if err := c.read(append(bytes.Clone(c.data), more...)); !errors.Is(err, matrix.ErrInvalid) || !strings.Contains(err.Error(), "bytes follow the matrix") {
				t.Errorf("%s and %d bytes: %v", c.reason, len(more), err)
			}
		}
	}
}

// TestBinaryCorruption changes every byte and truncates at every length. Each must
// give a typed error that names the section.
func TestBinaryCorruption(t *testing.T) {
	for _, a := range everyFormat(t) {
		data, err := a.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		for at := range data {
			bad := bytes.Clone(data)
			bad[at] ^= 0x10
			_, err := ReadBinary[int32](bytes.NewReader(bad))
			if !errors.Is(err, ErrParse) {
				t.Fatalf("%v, byte %d of %d changed: got %v", a, at, len(data), err)
			}
			if msg := err.Error(); !strings.Contains(msg, "section") && !strings.Contains(msg, "head") {
				t.Fatalf("byte %d changed: %q names no section", at, msg)
			}
			if _, err := ReadBinary[int32](bytes.NewReader(data[:at])); !errors.Is(err, ErrParse) || !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Fatalf("%v, cut at %d: got %v", a, at, err)
			}
		}
	}
}

// reseal corrects the checksum of a head.
func reseal(data []byte) []byte {
	binary.LittleEndian.PutUint32(data[60:], crc32.Checksum(data[:60], pieces.Castagnoli))
	return data
}

func TestBinaryLies(t *testing.T) {
	put64 := func(at int, v uint64) func([]byte) {
		return func(b []byte) { binary.LittleEndian.PutUint64(b[at:], v) }
	}
	for _, c := range []struct {
		name   string
		format int // which of everyFormat
		change func([]byte)
		msg    string
	}{
		{"version", 0, func(b []byte) { b[8] = 9 }, "version 9"},
		{"kind", 0, func(b []byte) { b[10] = 7 }, "kind 7"},
		{"element", 0, func(b []byte) { b[11] = 99 }, "element type 99"},
		{"format", 0, func(b []byte) { b[12] = 9 }, "format 9"},
		{"rows", 0, put64(16, 1<<40), "dimensions"},
		{"negative rows", 0, put64(16, 1<<63), "dimensions"},
		{"entries", 1, put64(32, 1<<60), "section column indices"},
		{"more entries than positions", 0, put64(32, 1<<60), "entries in a 3×4"},
		{"a negative count", 1, put64(32, 1<<63), "entries"},
		{"offsets", 1, put64(40, 1<<30), "section row offsets"},
		{"too many offsets", 1, put64(40, 1<<31), "rows with offsets"},
		{"a full matrix of too few entries", 3, put64(16, 1<<30), "entries in a full"},
		{"large bitmap", 2, func(b []byte) { put64(16, 1<<31-1)(b); put64(24, 1<<31-1)(b) }, "too large"},
	} {
		data, err := everyFormat(t)[c.format].MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		c.change(data)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = ReadBinary[int32](bytes.NewReader(reseal(data)))
		runtime.ReadMemStats(&after)
		if !errors.Is(err, ErrParse) || !strings.Contains(err.Error(), c.msg) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.msg)
		}
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 8<<20 {
			t.Errorf("%s: %d bytes allocated for a file of %d", c.name, grown, len(data))
		}
	}
}

// TestHeadersAllocateLittle reads text files with headers that announce the largest counts.
func TestHeadersAllocateLittle(t *testing.T) {
	for _, text := range []string{
		banner + "coordinate real general\n2147483647 2147483647 4611686018427387904\n1 1 1\n",
		banner + "coordinate real symmetric\n2147483647 2147483647 1\n1 1 1\n",
		banner + "array real general\n1048576 1048576\n1\n",
		"2147483647 2147483647 9223372036854775807\n1 1\n",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _ = ReadMatrixMarket[float64](strings.NewReader(text))
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 8<<20 {
			t.Errorf("%q: %d bytes allocated", text, grown)
		}
	}
}

func TestBinaryBool(t *testing.T) {
	a, _ := matrix.FromDense(1, 2, []bool{true, false})
	data, _ := a.MarshalBinary()
	at := len(data) - 8 // the first value
	data[at] = 2
	binary.LittleEndian.PutUint32(data[len(data)-4:], crc32.Checksum(data[hgb.HeadBytes:len(data)-4], pieces.Castagnoli))
	if _, err := ReadBinary[bool](bytes.NewReader(data)); !errors.Is(err, ErrParse) || !strings.Contains(err.Error(), "byte 2 for a bool") {
		t.Errorf("a bool of 2: got %v", err)
	}
}

func TestBinaryLarge(t *testing.T) {
	b := matrix.NewBuilder[float32](1<<20, 1000)
	for i := range 1 << 20 {
		b.Add(i, i%1000, float32(i))
	}
	a := sure.Get(b.Build(nil))
	var buf bytes.Buffer
	var last int64
	if err := WriteBinary(&buf, a, Progress(func(n int64) { last = n })); err != nil || last != int64(buf.Len()) {
		t.Fatalf("progress %d of %d, %v", last, buf.Len(), err)
	}
	c, err := ReadBinary[float32](&buf)
	if err != nil || !a.Equal(c) {
		t.Fatalf("got %v, %v", c, err)
	}
}

func TestBinaryOptions(t *testing.T) {
	a := sure.Get(matrix.FromTuples(3, 3, []int{0, 2, 0}, []int{1, 0, 2}, []float64{5, 7, 2}, nil))
	var file bytes.Buffer
	if err := WriteBinary(&file, a); err != nil {
		t.Fatal(err)
	}
	read := func(opts ...ReadOption) *matrix.Matrix[float64] {
		t.Helper()
		b, err := ReadBinary[float64](bytes.NewReader(file.Bytes()), opts...)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	both, _ := matrix.FromTuples(3, 3, []int{0, 1, 2, 0}, []int{1, 0, 0, 2}, []float64{5, 5, 2, 2}, nil)
	if got := read(Symmetrise()); !got.Equal(both) {
		t.Errorf("symmetrised: %v, want %v", got.Text(), both.Text())
	}
	for c, x := range read(PatternOnly()).All() {
		if x != 1 {
			t.Errorf("pattern only: %v at %v, want 1", x, c)
		}
	}
	wide := matrix.New[float64](2, 3)
	file.Reset()
	if err := WriteBinary(&file, wide); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadBinary[float64](&file, Symmetrise()); !errors.Is(err, ErrParse) {
		t.Errorf("symmetrising 2×3 gives %v, want a ParseError", err)
	}
}
