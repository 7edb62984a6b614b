package graphio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/internal/hgb"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/pieces"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// stream hides that a reader is a file.
type stream struct{ r io.Reader }

func (s stream) Read(p []byte) (int, error) { return s.r.Read(p) }

// inPieces sets the number of bytes that a thread reads at a time.
func inPieces(bytes int) ReadOption { return readOption(func(o *core.ReadOptions) { o.Piece = bytes }) }

// allThreads are the numbers of threads that tests of readers compare.
var allThreads = []int{1, 2, 3, 8, 16}

// reading describes the result of a reader: the matrix, the labels and the info, or the error.
func reading[T matrix.Element](a *Labelled[T], info Info, err error) string {
	if err != nil {
		text := ""
		for e := err; e != nil; e = errors.Unwrap(e) {
			text += fmt.Sprintf("%T %+v: ", e, e)
			if p, ok := e.(*ParseError); ok {
				text += fmt.Sprintf("%q %d %q %q %v ", p.File, p.Line, p.Msg, p.Remedy, p.Kind)
			}
		}
		return text
	}
	m, n := a.Matrix.Dims()
	if int64(len(stored(a.Matrix).Ptr)) > 1<<20 {
		return fmt.Sprintf("%d×%d", m, n)
	}
	return fmt.Sprintf("%d×%d %v %v %s; %v %q %v %q %v", m, n, a.Matrix.Format(), a.Matrix.NVals(), entriesOf(a.Matrix),
		a.Rows == a.Cols, namesOf(a.Rows), a.Rows.Numeric(), namesOf(a.Cols), info)
}

// sameReadings compares the readings of data in order by one thread with those by several threads
// in pieces of several sizes, of a file and if streams of a stream.
func sameReadings[T matrix.Element](t *testing.T, what string, data []byte, format FileFormat, streams bool, sizes, threads []int, opts ...ReadOption) string {
	t.Helper()
	read := func(r io.Reader, more ...ReadOption) string {
		var info Info
		more = append(append(more, InFormat(format), FileName("f"), WithInfo(&info)), opts...)
		a, err := ReadLabelled[T](r, more...)
		return reading(a, info, err)
	}
	want := read(stream{bytes.NewReader(data)}, Threads(1), inPieces(pieces.Serially))
	for _, piece := range sizes {
		for _, n := range threads {
			if got := read(bytes.NewReader(data), Threads(n), inPieces(piece)); got != want {
				t.Fatalf("%s, %d threads, pieces of %d bytes: got\n%s, want\n%s", what, n, piece, got, want)
			}
			if !streams {
				continue
			}
			if got := read(stream{bytes.NewReader(data)}, Threads(n), inPieces(piece)); got != want {
				t.Fatalf("%s, a stream, %d threads, pieces of %d bytes: got\n%s, want\n%s", what, n, piece, got, want)
			}
		}
	}
	return want
}

// damages calls f with data and with changes of it: cut at places, and with bytes changed.
func damages(data []byte, changes int, f func(what string, data []byte)) {
	f("intact", data)
	for at := 0; at < len(data); at += len(data)/changes + 1 {
		f(fmt.Sprintf("cut after %d of %d bytes", at, len(data)), data[:at])
		bad := bytes.Clone(data)
		bad[at] ^= 0x03
		f(fmt.Sprintf("byte %d of %d changed", at, len(data)), bad)
	}
}

// binaryFiles returns files in the binary form of int32, in every format and with labels.
func binaryFiles(t testing.TB) (files [][]byte) {
	for _, a := range append(everyFormat(t), matrix.New[int32](0, 0), matrix.New[int32](5, 0), speckled(60, 40, 1)) {
		m, n := a.Dims()
		labels := [][2]*Labels{{}}
		if m < 1000 {
			for _, l := range someLabels(max(m, n)) {
				labels = append(labels, [2]*Labels{l, l}, [2]*Labels{l, nil})
			}
		}
		for _, l := range labels {
			var b bytes.Buffer
			if err := WriteBinary(&b, a, WithRowColumnLabels(l[0], l[1])); err != nil {
				t.Fatal(err)
			}
			files = append(files, b.Bytes())
		}
	}
	return files
}

func TestBinaryThreads(t *testing.T) {
	t.Parallel()
	for k, data := range binaryFiles(t) {
		if !longtest.Takes(k, 5) {
			continue
		}
		sameReadings[int32](t, "intact", data, FormatBinary, false, []int{1, 8, 24, 1000}, allThreads)
		sameReadings[int32](t, "options", data, FormatBinary, false, []int{8}, []int{3}, PatternOnly(), Symmetrise())
		damages(data, 7, func(what string, data []byte) {
			sameReadings[int32](t, what, data, FormatBinary, false, []int{20}, []int{3})
			if len(data) >= hgb.HeadBytes {
				sameReadings[int32](t, what+", head sealed", reseal(bytes.Clone(data)), FormatBinary, false, []int{8}, []int{3})
			}
		})
		sameReadings[int32](t, "gzip", gz(t, string(data)), FormatBinary, false, []int{8}, []int{3})
		sameReadings[int32](t, "followed by text", append(bytes.Clone(data), "and more"...), FormatBinary, false, []int{8}, []int{3})
		sameReadings[float64](t, "another type", data, FormatBinary, false, []int{8}, []int{3})
	}
	path := filepath.Join(t.TempDir(), "blocks.hgb")
	a := speckled(60, 40, 1)
	data := writeBlocks(t, path, a, []int{0, 20, 20, 60})
	damages(data, 40, func(what string, data []byte) {
		sameReadings[int32](t, "in blocks, "+what, data, FormatBinary, false, []int{8, 100}, []int{1, 3})
	})
}

// TestBinaryBools reads bytes that are no bool: the first in the file is named, also where a later
// piece has another.
func TestBinaryBools(t *testing.T) {
	t.Parallel()
	a := sure.Get(matrix.FromDense(1, 300, make([]bool, 300)))
	data, err := a.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	sameReadings[bool](t, "intact", data, FormatBinary, false, []int{7, 64}, allThreads)
	vals := data[hgb.HeadBytes+16:]
	vals[100], vals[200] = 2, 3
	if got := sameReadings[bool](t, "two bytes", data, FormatBinary, false, []int{7, 64}, allThreads); !bytes.Contains([]byte(got), []byte("byte 2 for a bool")) {
		t.Errorf("got %s", got)
	}
	binary.LittleEndian.PutUint32(data[len(data)-4:], crc32.Checksum(data[hgb.HeadBytes:len(data)-4], pieces.Castagnoli))
	sameReadings[bool](t, "with a checksum", data, FormatBinary, false, []int{7, 64}, allThreads)
}

// TestBinaryVectorThreads reads vectors, and files that begin within others and go on.
func TestBinaryVectorThreads(t *testing.T) {
	t.Parallel()
	vals := make([]float32, 1000)
	for i := range vals {
		vals[i] = float32(i) / 3
	}
	v, _ := matrix.VectorOf(vals)
	data, err := v.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "v.hgb")
	sure.Do(os.WriteFile(path, slices.Concat([]byte("before"), data, data), 0o666))
	for _, threads := range allThreads {
		f := sure.Get(os.Open(path))
		defer f.Close()
		if _, err := f.Seek(6, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		for k := range 2 { // a file that is read by position stands at the end of the matrix
			var read []int64
			w, err := ReadVectorBinary[float32](f, Threads(threads), inPieces(100), Progress(func(n int64) { read = append(read, n) }))
			if err != nil || !w.Equal(v) {
				t.Fatalf("%d threads, vector %d: %v, %v", threads, k, w, err)
			}
			if at, err := f.Seek(0, io.SeekCurrent); err != nil || at != int64(6+(k+1)*len(data)) {
				t.Errorf("%d threads: the file stands at %d, %v", threads, at, err)
			}
			// One thread reports each piece, of several the caller those that it finds read.
			if !slices.IsSorted(read) || len(read) == 0 || threads == 1 && len(read) < 3 || read[len(read)-1] < int64(len(data)) {
				t.Errorf("%d threads: progress %v", threads, read)
			}
		}
	}
	w, err := ReadVectorFile[float32](path, InFormat(FormatBinary))
	if !errors.Is(err, ErrParse) {
		t.Errorf("a file that begins with text: %v, %v", w, err)
	}
}

// readAts records the sizes of reads, and fails after some bytes.
type readAts struct {
	io.ReaderAt
	limit int64
	sizes chan int
}

var errRead = errors.New("the disk fails")

func (r readAts) ReadAt(p []byte, at int64) (int, error) {
	if at > r.limit {
		return 0, errRead
	}
	r.sizes <- len(p)
	return r.ReaderAt.ReadAt(p, at)
}

// TestBinaryPieces: sections are read in pieces by position, and an error of the file is returned.
func TestBinaryPieces(t *testing.T) {
	t.Parallel()
	data, err := speckled(100, 100, 2).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	read := func(limit int64, threads int) (sizes []int, err error) {
		at := readAts{bytes.NewReader(data), limit, make(chan int, 10_000)}
		plain := readOption(func(o *core.ReadOptions) { o.Plain = &pieces.File{At: at, Size: int64(len(data))} })
		_, err = ReadBinary[int32](stream{nil}, plain, inPieces(96), Threads(threads))
		close(at.sizes)
		for n := range at.sizes {
			sizes = append(sizes, n)
		}
		return sizes, err
	}
	for _, threads := range allThreads {
		sizes, err := read(1<<30, threads)
		pieces := 0
		for _, n := range sizes {
			if n == 96 {
				pieces++
			}
		}
		if err != nil || pieces < len(data)*8/10/96 {
			t.Errorf("%d threads: %d pieces of %d bytes, %v", threads, pieces, len(data), err)
		}
		if _, err := read(int64(len(data)/2), threads); !errors.Is(err, errRead) {
			t.Errorf("%d threads: %v, want the error of the file", threads, err)
		}
	}
}
