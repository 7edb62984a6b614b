package matrix

import (
	"bufio"
	"io"

	"github.com/hiveblas/hiveblas/internal/chunk"
)

// sectionFile is a file in the binary form, not compressed, whose large sections all threads read.
type sectionFile struct {
	*plainFile
	cur cursor
	buf *bufio.Reader // of cur
}

// openBinary begins to read a file, compressed or not.
func openBinary(r io.Reader, o *readOptions) (*binaryReader, error) {
	plain := o.plainFile(r)
	if plain != nil && !plain.gzipped() {
		f := &sectionFile{plainFile: plain, cur: cursor{plain.at, plain.from}}
		f.buf = bufio.NewReaderSize(&f.cur, 1<<16)
		return &binaryReader{r: f.buf, o: o, file: f, taken: func() int64 { return f.cur.next - f.from }}, nil
	}
	b, taken, err := chunk.Open(r)
	if err != nil {
		return nil, o.streamError(0, err)
	}
	return &binaryReader{r: b, o: o, taken: taken}, nil
}

// finish reports the end of the file, and moves a file that was read by position there.
func (rd *binaryReader) finish() {
	if f := rd.file; f != nil && f.seek != nil {
		_, _ = f.seek.Seek(f.position(), io.SeekStart) // the matrix is read
	}
	rd.o.report(rd.taken())
}

// position returns the place of the next byte.
func (f *sectionFile) position() int64 { return f.cur.next - int64(f.buf.Buffered()) }

// inPieces reports whether several threads read n items of width bytes: there is a file which has
// them, and they are more than a piece.
func (rd *binaryReader) inPieces(n int64, width int) bool {
	f, w := rd.file, int64(width)
	return f != nil && n > rd.o.pieceOf(filePiece, w)/w && n <= (f.size-f.position())/w
}

// readPieces reads n items of width bytes, which the file holds, by all threads, and adds their
// bytes to the checksum sum. mem is the memory of the items; the bytes go there if it has their
// size. settle makes items lo … hi−1 of their bytes and returns what is wrong with them.
func (rd *binaryReader) readPieces(what string, mem []byte, n int64, width int, sum uint32, settle func(lo, hi int64, b []byte) string) (uint32, error) {
	f, w := rd.file, int64(width)
	if !hostLittle {
		mem = nil
	}
	from, bytes := f.position(), n*w
	own, err := f.readPieces(rd.o, filePieces{from: from, bytes: bytes, width: w, mem: mem, sum: polynomialCastagnoli,
		done: func(_ int, b []byte, lo int64) error {
			if fault := settle(lo/w, (lo+int64(len(b)))/w, b); fault != "" {
				return rd.damaged(what, fault)
			}
			return nil
		},
		failed: func(err error) error { return rd.readError(err, what) },
		report: func(read int64) { rd.o.report(from - f.from + read) },
	})
	if err != nil {
		return 0, err
	}
	f.cur.next = from + bytes
	f.buf.Reset(&f.cur)
	return polynomialCastagnoli.join(sum, own, bytes), nil
}
