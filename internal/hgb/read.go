package hgb

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"reflect"

	"github.com/hiveblas/hiveblas/internal/pieces"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Damage says what is wrong with a file, and where.
type Damage struct {
	Msg    string
	Remedy string // or ""
	Err    error  // the cause, or nil
}

func (e *Damage) Error() string {
	if e.Remedy == "" {
		return e.Msg
	}
	return e.Msg + "; " + e.Remedy
}

// Unwrap returns the cause.
func (e *Damage) Unwrap() error { return e.Err }

// Mismatch says that a file has values of another kind than the reader wants.
type Mismatch struct {
	Got  reflect.Kind
	Want *sparse.Type
}

func (e *Mismatch) Error() string {
	return fmt.Sprintf("the values are of %v, want %v", e.Got, sparse.GoType(e.Want))
}

// Options says how a file is read. The zero value reads by all threads.
type Options struct {
	Context context.Context // or nil
	Threads int
	Report  func(bytes int64) // receives the bytes read so far; may be nil
	Plain   *pieces.File      // the file behind the reader if it is known, or nil
	Piece   int               // for tests: bytes that a thread reads at a time, or pieces.Serially
	Convert bool              // values may be of another kind than the reader wants
	ToEnd   bool              // nothing may follow the matrix
	// Open decompresses a stream; see chunk.Open. Without it streams are not compressed: a program
	// of matrices alone links no decompression.
	Open func(r io.Reader) (plain io.Reader, taken func() int64, err error)
}

// Reader reads the sections of a file.
type Reader struct {
	r     io.Reader
	o     *Options
	taken func() int64
	file  *sectionFile // the file behind r, nil for a stream
}

// sectionFile is a file that is not compressed. All threads read its large sections.
type sectionFile struct {
	*pieces.File
	cur pieces.Cursor
	buf *bufio.Reader // of cur
}

// NewReader returns a reader of the sections in r, which is not compressed.
func NewReader(r io.Reader, o *Options) *Reader {
	return &Reader{r: r, o: o, taken: func() int64 { return 0 }}
}

// OpenReader begins to read a file, compressed or not; see Options.Open.
func OpenReader(r io.Reader, o *Options) (*Reader, error) {
	var plain *pieces.File
	if o.Piece != pieces.Serially {
		if plain = o.Plain; plain == nil {
			plain = pieces.FileOf(r)
		}
	}
	if plain != nil && !plain.Gzipped() {
		f := &sectionFile{File: plain, cur: pieces.Cursor{At: plain.At, Next: plain.From}}
		f.buf = bufio.NewReaderSize(&f.cur, 1<<16)
		return &Reader{r: f.buf, o: o, file: f, taken: func() int64 { return f.cur.Next - f.From }}, nil
	}
	if o.Open == nil {
		return NewReader(r, o), nil
	}
	b, taken, err := o.Open(r)
	if err != nil {
		return nil, err
	}
	return &Reader{r: b, o: o, taken: taken}, nil
}

// finish reports the end of the file, and moves a file that was read by position there.
func (rd *Reader) finish() {
	if f := rd.file; f != nil && f.Seek != nil {
		_, _ = f.Seek.Seek(f.position(), io.SeekStart) // the matrix is read
	}
	rd.report(rd.taken())
}

func (rd *Reader) report(n int64) {
	if rd.o.Report != nil {
		rd.o.Report(n)
	}
}

func (rd *Reader) stopped() error {
	if rd.o.Context == nil {
		return nil
	}
	return rd.o.Context.Err()
}

// position returns the place of the next byte.
func (f *sectionFile) position() int64 { return f.cur.Next - int64(f.buf.Buffered()) }

// inPieces reports whether several threads read n items of width bytes: there is a file which has
// them, and they are more than a piece.
func (rd *Reader) inPieces(n int64, width int) bool {
	f, w := rd.file, int64(width)
	return f != nil && n > pieces.Of(pieces.Size, w, rd.o.Piece)/w && n <= (f.Size-f.position())/w
}

// readPieces reads items, which the file holds, by all threads, and adds their bytes to the
// checksum sum.
func (rd *Reader) readPieces(what string, e Item, items sparse.Values, sum uint32) (uint32, error) {
	f, w := rd.file, int64(e.Width)
	var mem []byte
	if e.asStored() {
		mem = Bytes(e.Type, items)
	}
	from, bytes := f.position(), int64(items.Len())*w
	own, err := f.Read(pieces.Read{Context: rd.o.Context, Threads: rd.o.Threads, Piece: rd.o.Piece,
		From: from, Bytes: bytes, Width: w, Memory: mem, Sum: pieces.CRC32C,
		Done: func(_ int, b []byte, lo int64) error {
			if fault := e.settle(e.Type.Slice(items, lo/w, (lo+int64(len(b)))/w), b); fault != "" {
				return damaged(what, fault)
			}
			return nil
		},
		Failed: func(err error) error { return readError(err, what) },
		Report: func(read int64) { rd.report(from - f.From + read) },
	})
	if err != nil {
		return 0, err
	}
	f.cur.Next = from + bytes
	f.buf.Reset(&f.cur)
	return pieces.CRC32C.Join(sum, own, bytes), nil
}

func damaged(what, msg string) *Damage { return &Damage{Msg: what + ": " + msg} }

// full fills p. what names the part of the file in errors.
func (rd *Reader) full(p []byte, what string) error {
	_, err := io.ReadFull(rd.r, p)
	return readError(err, what)
}

// readError returns the error of reading a part of the file.
func readError(err error, what string) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF { // wrapped, they are errors of decompression
		return &Damage{what + ": the file ends here", "the file is cut short", io.ErrUnexpectedEOF}
	}
	return err
}

// atEnd returns an error if bytes follow the matrix.
func (rd *Reader) atEnd() error {
	var more [1]byte
	switch _, err := io.ReadFull(rd.r, more[:]); err {
	case io.EOF:
		return nil
	case nil:
		return &Damage{Msg: "end: bytes follow the matrix", Remedy: "give the bytes of one matrix alone; ReadBinary reads a matrix from the start of a stream"}
	default:
		return err
	}
}

// Head reads the head of a file of a matrix or a vector with values e.
func (rd *Reader) Head(vector bool, e Item) (*Head, error) {
	const what = "head"
	le := binary.LittleEndian
	head := make([]byte, HeadBytes)
	if err := rd.full(head[:8], what); err != nil {
		return nil, err
	}
	if string(head[:8]) != Magic {
		return nil, damaged(what, "not a hiveblas binary file")
	}
	if err := rd.full(head[8:], what); err != nil {
		return nil, err
	}
	if crc32.Checksum(head[:60], pieces.Castagnoli) != le.Uint32(head[60:]) {
		return nil, damaged(what, "wrong checksum")
	}
	h := &Head{Vector: vector}
	switch v := le.Uint16(head[8:]); {
	case v < oldest || v > version:
		e := damaged(what, fmt.Sprintf("version %d, want %d to %d", v, oldest, version))
		e.Remedy = "a newer release of hiveblas may read it"
		return nil, e
	case v > oldest:
		h.labels = [2]byte{head[13], head[14]}
	}
	names, kind := map[byte]string{Matrix: "a matrix", Vector: "a vector"}, byte(Matrix)
	if vector {
		kind = Vector
	}
	if head[10] != kind {
		got, ok := names[head[10]]
		if !ok {
			got = fmt.Sprintf("kind %d", head[10])
		}
		return nil, damaged(what, "the file holds "+got+", want "+names[kind])
	}
	if head[11] == 0 || int(head[11]) >= len(kinds) {
		return nil, damaged(what, fmt.Sprintf("unknown element type %d", head[11]))
	}
	h.Element = kinds[head[11]]
	if head[11] != e.code() && !rd.o.Convert {
		return nil, &Mismatch{h.Element, e.Type}
	}
	return h, h.shape(head)
}

// shape reads the dimensions and the number of entries.
func (h *Head) shape(head []byte) error {
	const what = "head"
	le := binary.LittleEndian
	st := &h.Shape
	st.Format = sparse.Format(head[12])
	rows, cols, nvals := le.Uint64(head[16:]), le.Uint64(head[24:]), le.Uint64(head[32:])
	h.Vecs = int64(le.Uint64(head[40:]))
	const limit = 1 << 62
	switch {
	case head[12] > byte(Blocked):
		return damaged(what, fmt.Sprintf("unknown format %d", head[12]))
	case rows > maxDim || cols > maxDim:
		return damaged(what, fmt.Sprintf("dimensions %d×%d, want at most %d", rows, cols, maxDim))
	case nvals > limit && st.Format != Blocked:
		return damaged(what, fmt.Sprintf("%d entries", nvals))
	}
	st.NRows, st.NCols, st.NVals = int(rows), int(cols), int64(nvals)
	if st.Format == Blocked {
		return h.checkBlocked()
	}
	cells, ok := st.Cells()
	switch {
	case !st.Sparse() && (!ok || cells > maxCells || h.Vecs != 0):
		return damaged(what, fmt.Sprintf("%d×%d is too large for format %v", rows, cols, st.Format))
	case st.Format == sparse.Full && int64(cells) != st.NVals:
		return damaged(what, fmt.Sprintf("%d entries in a full %d×%d matrix", nvals, rows, cols))
	case ok && st.NVals > int64(cells):
		return damaged(what, fmt.Sprintf("%d entries in a %d×%d matrix", nvals, rows, cols))
	case st.Format == sparse.CSR && h.Vecs != int64(st.NRows), h.Vecs < 0 || h.Vecs > int64(st.NRows):
		return damaged(what, fmt.Sprintf("%d rows with offsets of %d", h.Vecs, rows))
	case h.Vector && (rows != 1 || st.Format == sparse.Hypersparse):
		return damaged(what, fmt.Sprintf("a vector of %d rows, format %v", rows, st.Format))
	}
	return nil
}

// checkBlocked verifies the head of a file in blocks.
func (h *Head) checkBlocked() error {
	st, blocks := &h.Shape, h.Vecs
	cells, ok := st.Cells()
	switch {
	case st.NVals == Open:
		e := damaged("head", "the file is unfinished")
		e.Remedy = "run the command that writes it again to resume it"
		return e
	case st.NVals < 0 || ok && st.NVals > int64(cells):
		return damaged("head", fmt.Sprintf("%d entries in a %d×%d matrix", st.NVals, st.NRows, st.NCols))
	case blocks < 0 || blocks > int64(st.NRows)+1:
		return damaged("head", fmt.Sprintf("%d blocks of %d rows", blocks, st.NRows))
	case h.Vector:
		return damaged("head", "a vector in blocks")
	}
	return nil
}

// Section reads an array of n items. It allocates while it reads, at most twice the size of the
// items read so far.
func Section[E Fixed](rd *Reader, id uint32, n int64) ([]E, error) {
	v, err := rd.Items(id, ItemFor[E](), n)
	if err != nil {
		return nil, err
	}
	return sparse.SliceOf[E](v), nil
}

// Items is Section for items e.
func (rd *Reader) Items(id uint32, e Item, n int64) (items sparse.Values, err error) {
	sum, err := rd.SectionHead(id, n, e.Width)
	if err != nil {
		return items, err
	}
	if items, sum, err = rd.Part(id, e, n, sum); err != nil {
		return items, err
	}
	return items, rd.SectionTail(id, n, e.Width, sum)
}

// SectionHead reads the head of a section and returns its checksum.
func (rd *Reader) SectionHead(id uint32, n int64, width int) (sum uint32, err error) {
	what := SectionName(id)
	le := binary.LittleEndian
	head := make([]byte, 16)
	if err := rd.full(head, what); err != nil {
		return 0, err
	}
	if got := le.Uint32(head); got != id {
		return 0, damaged(what, fmt.Sprintf("found section %d instead", got))
	}
	if got := le.Uint32(head[4:]); got != uint32(width) {
		return 0, damaged(what, fmt.Sprintf("items of %d bytes, want %d", got, width))
	}
	if got := le.Uint64(head[8:]); got != uint64(n) {
		return 0, damaged(what, fmt.Sprintf("%d items, want %d", got, n))
	}
	return crc32.Checksum(head, pieces.Castagnoli), nil
}

// Part reads the next n items of a section and adds their bytes to the checksum sum.
func (rd *Reader) Part(id uint32, e Item, n int64, sum uint32) (items sparse.Values, newSum uint32, err error) {
	what, t := SectionName(id), e.Type
	if rd.inPieces(n, e.Width) {
		items = t.Make(n)
		sum, err = rd.readPieces(what, e, items, sum)
		return items, sum, err
	}
	per := int64(Chunk / e.Width)
	items = t.Make(min(n, per))
	var buf []byte
	for have := int64(0); have < n; {
		if err := rd.stopped(); err != nil {
			return items, 0, err
		}
		take := min(per, n-have)
		if have+take > int64(items.Len()) {
			grown := t.Make(min(n, max(2*int64(items.Len()), have+take)))
			t.Copy(grown, t.Slice(items, 0, have))
			items = grown
		}
		part := t.Slice(items, have, have+take)
		have += take
		b := Bytes(t, part)
		if !e.asStored() {
			if buf == nil {
				buf = make([]byte, Chunk)
			}
			b = buf[:take*int64(e.Width)]
		}
		if err := rd.full(b, what); err != nil {
			return items, 0, err
		}
		sum = crc32.Update(sum, pieces.Castagnoli, b)
		if msg := e.settle(part, b); msg != "" {
			return items, 0, damaged(what, msg)
		}
		rd.report(rd.taken())
	}
	return t.Slice(items, 0, n), sum, nil
}

// SectionTail reads the end of a section and compares the checksum of all before.
func (rd *Reader) SectionTail(id uint32, n int64, width int, sum uint32) error {
	tail := make([]byte, TailBytes(n, width))
	if err := rd.full(tail, SectionName(id)); err != nil {
		return err
	}
	if !Sealed(tail, sum) {
		return damaged(SectionName(id), "wrong checksum")
	}
	return nil
}

// TailBytes returns the number of bytes after the items of a section.
func TailBytes(n int64, width int) int64 { return padding(n*int64(width)) + 4 }

// Sealed reports whether the end of a section has the checksum of what is before.
func Sealed(tail []byte, sum uint32) bool {
	zeros := len(tail) - 4
	return binary.LittleEndian.Uint32(tail[zeros:]) == crc32.Update(sum, pieces.Castagnoli, tail[:zeros])
}

// Skip is Items without keeping the items.
func (rd *Reader) Skip(id uint32, n int64, width int) error {
	sum, err := rd.SectionHead(id, n, width)
	if err != nil {
		return err
	}
	buf := make([]byte, Chunk)
	for left := n * int64(width); left > 0; {
		part := buf[:min(left, int64(len(buf)))]
		if err := rd.full(part, SectionName(id)); err != nil {
			return err
		}
		sum = crc32.Update(sum, pieces.Castagnoli, part)
		left -= int64(len(part))
	}
	return rd.SectionTail(id, n, width, sum)
}
