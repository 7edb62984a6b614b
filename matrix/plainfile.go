package matrix

import (
	"bytes"
	"io"
	"os"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/internal/parallel"
)

// plainFile is an input of known size that several threads read at once: a regular file, or bytes
// in memory.
type plainFile struct {
	at   io.ReaderAt
	from int64 // where the reader of the file stands
	size int64
	seek io.Seeker
}

// plainFileOf returns the file behind r, nil for a stream.
func plainFileOf(r io.Reader) *plainFile {
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
		return &plainFile{f, from, st.Size(), f}
	case *bytes.Reader:
		return &plainFile{f, f.Size() - int64(f.Len()), f.Size(), f}
	}
	return nil
}

// gzipped reports whether the file begins like a gzip file.
func (f *plainFile) gzipped() bool {
	var head [2]byte
	n, _ := f.at.ReadAt(head[:], f.from)
	return n == 2 && head == [2]byte{0x1f, 0x8b}
}

// cursor reads a file from a position on.
type cursor struct {
	at   io.ReaderAt
	next int64
}

func (c *cursor) Read(p []byte) (n int, err error) {
	n, err = c.at.ReadAt(p, c.next)
	c.next += int64(n)
	return n, err
}

// filePiece is the number of bytes of a file that a thread reads at a time. They stay in its cache
// for the checksum.
const filePiece = 1 << 20

// readPieces reads bytes from … from+bytes−1 of a file by all threads of o, in pieces of a multiple
// of width bytes. into returns the memory for bytes lo … hi−1 of them, and done receives it. Both
// run concurrently; thread is below the number of threads. report gets the number of bytes read so
// far, on the calling goroutine. The result is the first error in the order of the file. readPieces
// tests the context before each piece.
func (f *plainFile) readPieces(o *readOptions, from, bytes, width int64, into func(thread int, lo, hi int64) []byte, done func(piece int, b []byte, lo int64) error, report func(int64)) error {
	per := o.pieceOf(filePiece, width)
	pieces := int((bytes + per - 1) / per)
	errs := make([]error, pieces)
	var read, failed atomic.Int64 // failed is the first piece known to have an error
	failed.Store(int64(pieces))
	err := parallel.Pieces(o.ctx, o.threads, pieces, func(thread, p int) {
		if failed.Load() < int64(p) {
			return
		}
		lo := int64(p) * per
		hi := min(lo+per, bytes)
		b := into(thread, lo, hi)
		n, err := f.at.ReadAt(b, from+lo)
		if n == len(b) {
			err = done(p, b, lo)
		}
		if err != nil {
			errs[p] = err
			for k := failed.Load(); int64(p) < k && !failed.CompareAndSwap(k, int64(p)); k = failed.Load() {
			}
			return
		}
		sum := read.Add(hi - lo)
		if thread == 0 {
			report(sum)
		}
	})
	for _, e := range errs {
		if e != nil {
			return e
		}
	}
	if err == nil {
		report(bytes)
	}
	return err
}

// pieceOf returns the size of a piece of items of width bytes: at most size, in tests o.piece.
func (o *readOptions) pieceOf(size, width int64) int64 {
	if o.piece > 0 {
		size = int64(o.piece)
	}
	return max(size/width, 1) * width
}
