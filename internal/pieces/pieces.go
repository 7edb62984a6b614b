// Package pieces reads a file of known size by several threads, with a checksum of the whole.
package pieces

import (
	"bytes"
	"context"
	"io"
	"os"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/internal/parallel"
)

// File is an input of known size that several threads read at once: a regular file, or bytes in
// memory.
type File struct {
	At   io.ReaderAt
	From int64 // where the reader of the file stands
	Size int64
	Seek io.Seeker // nil unless the file has a position
}

// FileOf returns the file behind r, nil for a stream.
func FileOf(r io.Reader) *File {
	switch f := r.(type) {
	case *os.File:
		st, err := f.Stat()
		if err != nil || !st.Mode().IsRegular() {
			return nil
		}
		from, err := f.Seek(0, io.SeekCurrent)
		if err != nil {
			return nil
		}
		return &File{f, from, st.Size(), f}
	case *bytes.Reader:
		return &File{f, f.Size() - int64(f.Len()), f.Size(), f}
	}
	return nil
}

// Gzipped reports whether the file begins like a gzip file.
func (f *File) Gzipped() bool {
	var head [2]byte
	n, _ := f.At.ReadAt(head[:], f.From)
	return n == 2 && head == [2]byte{0x1f, 0x8b}
}

// Cursor reads a file from a position on.
type Cursor struct {
	At   io.ReaderAt
	Next int64
}

func (c *Cursor) Read(p []byte) (n int, err error) {
	n, err = c.At.ReadAt(p, c.Next)
	c.Next += int64(n)
	return n, err
}

// Size is the number of bytes of a file that a thread reads at a time. They stay in its cache for
// the checksum.
const Size = 1 << 20

// Serially in place of the bytes of a piece reads a file in order by one thread.
const Serially = -1

// Of returns the size of a piece of items of width bytes: at most size, or piece if it is positive.
func Of(size, width int64, piece int) int64 {
	if piece > 0 {
		size = int64(piece)
	}
	return max(size/width, 1) * width
}

// Read says how threads read the bytes From … From+Bytes−1 of a file. Done and Failed run
// concurrently.
type Read struct {
	Context     context.Context // tested before each piece; may be nil
	Threads     int
	Piece       int // for tests: bytes of a piece, 0 for Size
	From, Bytes int64
	Width       int64                                      // of an item, which a piece has whole
	Memory      []byte                                     // receives the bytes if it has their size
	Sum         Polynomial                                 // of the checksum, 0 for none
	Done        func(thread int, b []byte, lo int64) error // receives bytes lo … lo+len(b)−1
	Failed      func(err error) error                      // the error of a file that cannot be read
	Report      func(read int64)                           // on the calling goroutine; may be nil
}

// Read reads bytes of a file by all threads and returns their checksum, or the first error in the
// order of the file.
func (f *File) Read(p Read) (sum uint32, err error) {
	per := Of(Size, p.Width, p.Piece)
	pieces := int((p.Bytes + per - 1) / per)
	direct := int64(len(p.Memory)) == p.Bytes
	bufs := make([][]byte, parallel.Threads(p.Threads))
	sums, errs := make([]uint32, pieces), make([]error, pieces)
	var read, bad atomic.Int64 // bad is the first piece known to have an error
	bad.Store(int64(pieces))
	err = parallel.Pieces(p.Context, p.Threads, pieces, func(thread, k int) {
		if bad.Load() < int64(k) {
			return
		}
		lo := int64(k) * per
		hi := min(lo+per, p.Bytes)
		var b []byte
		if direct {
			b = p.Memory[lo:hi]
		} else {
			if bufs[thread] == nil {
				bufs[thread] = make([]byte, min(per, p.Bytes))
			}
			b = bufs[thread][:hi-lo]
		}
		n, err := f.At.ReadAt(b, p.From+lo)
		if n < len(b) {
			err = p.Failed(err)
		} else {
			sums[k] = p.Sum.Of(b)
			err = p.Done(thread, b, lo)
		}
		if err != nil {
			errs[k] = err
			parallel.Lower(&bad, int64(k))
			return
		}
		if sofar := read.Add(hi - lo); thread == 0 && p.Report != nil {
			p.Report(sofar)
		}
	})
	for _, e := range errs {
		if e != nil {
			return 0, e
		}
	}
	if err == nil && p.Report != nil {
		p.Report(p.Bytes)
	}
	return p.Sum.join(sums, per, p.Bytes), err
}
