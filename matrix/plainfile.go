package matrix

import (
	"bytes"
	"io"
	"os"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/internal/chunk"
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

// plainFile returns the input of known size, nil for a stream: the file behind r, or the one that
// settleFormat found before it buffered it.
func (o *readOptions) plainFile(r io.Reader) *plainFile {
	if o.piece == serially {
		return nil
	}
	if o.plain != nil {
		return o.plain
	}
	return plainFileOf(r)
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
	return chunk.IsGzip(head[:n])
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

// filePieces says how threads read bytes from … from+bytes−1 of a file. done and failed run
// concurrently.
type filePieces struct {
	from, bytes int64
	width       int64                                      // of an item, which a piece has whole
	mem         []byte                                     // the bytes go there if it has their size
	sum         polynomial                                 // of the checksum, 0 for none
	done        func(thread int, b []byte, lo int64) error // receives bytes lo … lo+len(b)−1
	failed      func(err error) error                      // the error of a file that cannot be read
	report      func(read int64)                           // on the calling goroutine; may be nil
}

// readPieces reads bytes of a file by all threads of o and returns their checksum, or the first
// error in the order of the file. It tests the context before each piece.
func (f *plainFile) readPieces(o *readOptions, p filePieces) (sum uint32, err error) {
	per := o.pieceOf(filePiece, p.width)
	pieces := int((p.bytes + per - 1) / per)
	direct := int64(len(p.mem)) == p.bytes
	bufs := make([][]byte, parallel.Threads(o.threads))
	sums, errs := make([]uint32, pieces), make([]error, pieces)
	var read, bad atomic.Int64 // bad is the first piece known to have an error
	bad.Store(int64(pieces))
	err = parallel.Pieces(o.ctx, o.threads, pieces, func(thread, k int) {
		if bad.Load() < int64(k) {
			return
		}
		lo := int64(k) * per
		hi := min(lo+per, p.bytes)
		var b []byte
		if direct {
			b = p.mem[lo:hi]
		} else {
			if bufs[thread] == nil {
				bufs[thread] = make([]byte, min(per, p.bytes))
			}
			b = bufs[thread][:hi-lo]
		}
		n, err := f.at.ReadAt(b, p.from+lo)
		if n < len(b) {
			err = p.failed(err)
		} else {
			sums[k] = p.sum.of(b)
			err = p.done(thread, b, lo)
		}
		if err != nil {
			errs[k] = err
			parallel.Lower(&bad, int64(k))
			return
		}
		if sofar := read.Add(hi - lo); thread == 0 && p.report != nil {
			p.report(sofar)
		}
	})
	for _, e := range errs {
		if e != nil {
			return 0, e
		}
	}
	if err == nil && p.report != nil {
		p.report(p.bytes)
	}
	return p.sum.joinPieces(sums, per, p.bytes), err
}

// pieceOf returns the size of a piece of items of width bytes: at most size, in tests o.piece.
func (o *readOptions) pieceOf(size, width int64) int64 {
	if o.piece > 0 {
		size = int64(o.piece)
	}
	return max(size/width, 1) * width
}
