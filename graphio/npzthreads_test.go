package graphio

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// restored returns a .npz file with the same arrays, compressed or not.
func restored(t testing.TB, data []byte, method uint16) []byte {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		out, err := w.CreateHeader(&zip.FileHeader{Name: f.Name, Method: method})
		if err == nil {
			_, err = io.Copy(out, r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// arraysOfNPZ returns .npz files, some with faults, by what they are.
func arraysOfNPZ(t testing.TB) map[string][]byte {
	f4 := func(xs ...float32) string {
		var b []byte
		for _, x := range xs {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
		return string(b)
	}
	files := map[string][]byte{
		"columns in any order": npzOf(t, npzFormat, npzShape, npzPtr, npzIdx, npzData),
		"no offsets":           npzOf(t, npzFormat, npzShape, npzIdx, npzData),
		"no values":            npzOf(t, npzFormat, npzShape, npzPtr, npzIdx),
		"two faults":           npzOf(t, npzFormat, npzShape, npzPtr, [4]string{"indices", "|i1", "(3,)", "\x02\x09\x01"}, [4]string{"data", "<c8", "(3,)", ""}),
		"two columns outside":  npzOf(t, npzFormat, npzShape, npzPtr, [4]string{"indices", "<i4", "(3,)", "\x09\x00\x00\x00\x08\x00\x00\x00\x01\x00\x00\x00"}, npzData),
		"a negative column":    npzOf(t, npzFormat, npzShape, npzPtr, [4]string{"indices", "<i4", "(3,)", "\x01\x00\x00\x00\xff\xff\xff\xff\x01\x00\x00\x00"}, npzData),
		"columns of floats":    npzOf(t, npzFormat, npzShape, npzPtr, [4]string{"indices", "<f4", "(3,)", f4(2, 1, 0)}, npzData),
		"offsets that descend": npzOf(t, npzFormat, npzShape, [4]string{"indptr", "|i1", "(3,)", "\x02\x00\x03"}, npzIdx, npzData),
		"offsets in two rows":  npzOf(t, npzFormat, npzShape, [4]string{"indptr", "|i1", "(3,1)", "\x02\x00\x03"}, npzIdx, npzData),
		"too few values":       npzOf(t, npzFormat, npzShape, npzPtr, npzIdx, [4]string{"data", "|i1", "(2,)", "\x01\x02"}),
		"a fraction":           npzOf(t, npzFormat, npzShape, npzPtr, npzIdx, [4]string{"data", "<f4", "(3,)", f4(1, 1.5, 2.5)}),
		"NaN and infinity":     npzOf(t, npzFormat, npzShape, npzPtr, npzIdx, [4]string{"data", "<f4", "(3,)", f4(1, float32(math.NaN()), float32(math.Inf(1)))}),
		"cut":                  npzOf(t, npzFormat, npzShape, npzPtr, npzIdx, [4]string{"data", "<f4", "(3,)", "\x00"}),
		"more than its items":  npzOf(t, npzFormat, npzShape, npzPtr, npzIdx, [4]string{"data", "<f4", "(3,)", f4(1, 2, 3, 4)}),
		"Booleans":             npzOf(t, npzFormat, npzShape, npzPtr, npzIdx, [4]string{"data", "|b1", "(3,)", "\x01\x00\x01"}),
		"all true":             npzOf(t, npzFormat, npzShape, npzPtr, npzIdx, [4]string{"data", "|b1", "(3,)", "\x01\x01\x01"}),
		"a Boolean of 2":       npzOf(t, npzFormat, npzShape, npzPtr, npzIdx, [4]string{"data", "|b1", "(3,)", "\x01\x02\x03"}),
		"unsigned":             npzOf(t, npzFormat, npzShape, npzPtr, npzIdx, [4]string{"data", "<u8", "(3,)", "\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff"}),
		"big-endian":           npzOf(t, npzFormat, npzShape, npzPtr, npzIdx, [4]string{"data", ">i2", "(3,)", "\x00\x01\x00\x02\xff\xff"}),
		"no entries":           npzOf(t, npzFormat, npzShape, [4]string{"indptr", "|i1", "(3,)", "\x00\x00\x00"}, [4]string{"indices", "<i4", "(0,)", ""}, [4]string{"data", "<f8", "(0,)", ""}),
	}
	for layout := NPZRows; layout <= NPZCoordinates; layout++ {
		a := speckled(40, 40, 3)
		for name, l := range someLabels(40) {
			var b bytes.Buffer
			if err := WriteNPZ(&b, a, InLayout(layout), WithLabels(l)); err != nil {
				t.Fatal(err)
			}
			files[fmt.Sprintf("layout %d, labels %s", layout, name)] = b.Bytes()
		}
	}
	return files
}

// TestNPZThreads: arrays that are compressed, which a thread reads in order, and arrays that are
// not, which all threads read, have the same items and the same errors.
func TestNPZThreads(t *testing.T) {
	t.Parallel()
	for what, data := range arraysOfNPZ(t) {
		if !longtest.Takes(len(what), 3) {
			continue
		}
		stored, deflated := restored(t, data, zip.Store), restored(t, data, zip.Deflate)
		same := func(want string, got string) {
			t.Helper()
			if got != want {
				t.Fatalf("%s: stored\n%s, compressed\n%s", what, got, want)
			}
		}
		for _, opts := range [][]ReadOption{nil, {AllowNaN()}, {PatternOnly()}, {Symmetrise(), Duplicates(matrix.CombineFunc[float32](func(x, _ float32) float32 { return x }))}} {
			same(sameReadings[float32](t, what, deflated, FormatNPZ, true, []int{3}, []int{1, 3}, opts...),
				sameReadings[float32](t, what, stored, FormatNPZ, true, []int{9}, []int{1, 3}, opts...))
		}
		same(sameReadings[int8](t, what, deflated, FormatNPZ, false, []int{3}, allThreads),
			sameReadings[int8](t, what, stored, FormatNPZ, false, []int{1, 24}, allThreads))
		same(sameReadings[bool](t, what, deflated, FormatNPZ, false, []int{3}, []int{3}),
			sameReadings[bool](t, what, stored, FormatNPZ, false, []int{3}, []int{3}))
	}
}

// TestNPZDamage: a changed byte of an array is found by its checksum, compressed or not.
func TestNPZDamage(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := WriteNPZ(&b, speckled(40, 40, 3)); err != nil {
		t.Fatal(err)
	}
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		data := restored(t, b.Bytes(), method)
		damages(data, 25, func(what string, data []byte) {
			sameReadings[int32](t, what, data, FormatNPZ, true, []int{8, 64}, []int{1, 3})
		})
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range z.File {
			at, err := f.DataOffset()
			if err != nil {
				t.Fatal(err)
			}
			bad := bytes.Clone(data)
			bad[at+int64(f.CompressedSize64)-1] ^= 1
			_, err = ReadNPZ[int32](bytes.NewReader(bad), inPieces(50))
			if f.Name != "format.npy" && f.Name != "shape.npy" && !errors.Is(err, ErrParse) {
				t.Errorf("method %d, %s changed: got %v", method, f.Name, err)
			}
			if f.Name == "data.npy" && method == zip.Store && !errors.Is(err, zip.ErrChecksum) {
				t.Errorf("values changed: got %v, want an error of the checksum", err)
			}
		}
	}
}

func TestNPYThreads(t *testing.T) {
	t.Parallel()
	a := speckled(30, 50, 4)
	var b bytes.Buffer
	if err := WriteNPY(&b, a); err != nil {
		t.Fatal(err)
	}
	damages(b.Bytes(), 20, func(what string, data []byte) {
		sameReadings[int32](t, what, data, FormatNPY, false, []int{4, 100}, []int{1, 3})
	})
	sameReadings[int32](t, "pattern", b.Bytes(), FormatNPY, false, []int{100}, allThreads, PatternOnly())
	fortran := bytes.Replace(b.Bytes(), []byte("False"), []byte("True "), 1)
	sameReadings[float64](t, "columns first", fortran, FormatNPY, false, []int{100}, allThreads)
	sameReadings[int8](t, "another type", b.Bytes(), FormatNPY, false, []int{100}, allThreads)
	sameReadings[bool](t, "values that do not fit", b.Bytes(), FormatNPY, false, []int{100}, allThreads)
	path := filepath.Join(t.TempDir(), "two.npy")
	sure.Do(os.WriteFile(path, slices.Concat(b.Bytes(), b.Bytes()), 0o666))
	f := sure.Get(os.Open(path))
	defer f.Close()
	for k := range 2 { // the reader reads no more than its array
		if got, err := ReadNPY[int32](f, inPieces(64)); err != nil || !got.Equal(a) {
			t.Errorf("array %d of a file: %v, %v", k, got, err)
		}
	}
}
