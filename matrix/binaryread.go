package matrix

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"reflect"
	"slices"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// ReadBinary reads a matrix in the binary form (.hgb), gzip-compressed or not.
// T must be the element type of the file, else the error is a *TypeError that
// names both (int is stored as int64, uint as uint64); [Read] and [ReadFile] convert
// the values. ReadBinary verifies the
// checksums and the invariants of the matrix; damage is a *ParseError that names
// the section. All threads read an *os.File that is not compressed, whose size
// bounds the memory; that of other readers grows with the bytes read. ReadBinary
// buffers r and may read beyond the end of the matrix.
func ReadBinary[T Element](r io.Reader, opts ...ReadOption) (*Matrix[T], error) {
	a, _, err := readBinaryMatrix[T]("matrix.ReadBinary", r, readOptionsOf(opts))
	return a, err
}

func readBinaryMatrix[T Element](op string, r io.Reader, o *readOptions) (*Matrix[T], sides, error) {
	dup, err := combiner[T](op, o)
	if err != nil {
		return nil, sides{}, err
	}
	p, err := o.inParts(r, true)
	if err != nil {
		return nil, sides{}, err
	}
	if p != nil {
		e, _ := elementOf[T]()
		if a, labels, ok, err := readBinaryParts(p, op, e, dup); ok {
			return a, labels, err
		}
		r, o.plain = p.stream(), &plainFile{at: p.file, size: p.size}
	}
	a, labels, err := readBinaryWhole(op, r, o, dup)
	return placed(o, a, labels, err)
}

func readBinaryWhole[T Element](op string, r io.Reader, o *readOptions, dup Combiner[T]) (*Matrix[T], sides, error) {
	st, labels, err := readBinary[T](r, binaryMatrix, op, o)
	if err != nil {
		return nil, sides{}, err
	}
	e, _ := elementOf[T]() // T is an Element: the file was read
	if o.patternOnly {
		_ = parallel.Range(nil, o.threads, len(st.Val), binaryChunk, func(_, lo, hi int) {
			for p := lo; p < hi; p++ {
				st.Val[p] = e.one
			}
		})
	}
	if o.symmetrise {
		if st.NRows != st.NCols {
			return nil, sides{}, o.failKind(0, fmt.Sprintf("cannot symmetrise a %d×%d matrix", st.NRows, st.NCols), RemedyNoSymmetrise)
		}
		st = symmetrise(sparse.ToSparse(st), e, dup, o.threads)
	}
	return fromStore(st), labels, nil
}

// ReadVectorBinary reads a vector in the binary form; see [ReadBinary].
func ReadVectorBinary[T Element](r io.Reader, opts ...ReadOption) (*Vector[T], error) {
	return readVectorBinary[T](r, readOptionsOf(opts))
}

func readVectorBinary[T Element](r io.Reader, o *readOptions) (*Vector[T], error) {
	st, _, err := readBinary[T](r, binaryVector, "matrix.ReadVectorBinary", o)
	if err != nil {
		return placedVector[T](o, nil, err)
	}
	return placedVector(o, vectorFromStore(st), nil)
}

// UnmarshalBinary replaces a by the matrix in data, as MarshalBinary returns it. Bytes after the
// matrix are a *[ParseError], another element type is a *[TypeError]; a is then unchanged.
func (a *Matrix[T]) UnmarshalBinary(data []byte) error {
	if a == nil {
		return errNil
	}
	st, _, err := readBinary[T](bytes.NewReader(data), binaryMatrix, "Matrix.UnmarshalBinary", &readOptions{toEnd: true})
	if err != nil {
		return err
	}
	a.inside().err = nil
	a.set(st)
	return nil
}

// UnmarshalBinary replaces v by the vector in data, as MarshalBinary returns it; see
// [Matrix.UnmarshalBinary].
func (v *Vector[T]) UnmarshalBinary(data []byte) error {
	if v == nil {
		return errNil
	}
	st, _, err := readBinary[T](bytes.NewReader(data), binaryVector, "Vector.UnmarshalBinary", &readOptions{toEnd: true})
	if err != nil {
		return err
	}
	v.m.inside().err = nil
	v.m.set(st)
	return nil
}

// binaryReader reads the sections of a file.
type binaryReader struct {
	r     io.Reader
	o     *readOptions
	taken func() int64
	file  *sectionFile // the file behind r, nil for a stream

	element reflect.Kind // of the values in the file
}

func (rd *binaryReader) damaged(what, msg string) *ParseError {
	return rd.o.fail(0, what+": "+msg, "")
}

// full fills p. what names the part of the file in errors.
func (rd *binaryReader) full(p []byte, what string) error {
	_, err := io.ReadFull(rd.r, p)
	return rd.readError(err, what)
}

// readError returns the error of reading a part of the file.
func (rd *binaryReader) readError(err error, what string) error {
	if err == io.EOF || (errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, chunk.ErrGzip)) {
		e := rd.damaged(what, "the file ends here")
		e.Remedy, e.Err = "the file is cut short", io.ErrUnexpectedEOF
		return e
	}
	return rd.o.streamError(0, err)
}

func readBinary[T comparable](r io.Reader, kind byte, op string, o *readOptions) (*sparse.Typed[T], sides, error) {
	e, ok := elementOf[T]()
	if !ok {
		return nil, sides{}, e.refused(op)
	}
	st, from, labels, err := readStore(r, kind, op, o, e.item())
	if err != nil {
		return nil, sides{}, err
	}
	if from.code() != e.item().code() {
		made, err := convertStore(st, from, e, o)
		return made, labels, err
	}
	return sparse.Of(st.Structure, valuesOfBytes[T](st.val)), labels, nil
}

// item is the type of the values of a file.
type item struct {
	kind  reflect.Kind
	name  string
	size  int // in memory
	width int // in the file
}

func (e element[T]) item() item {
	return item{e.kind, e.name(), int(unsafe.Sizeof(e.one)), e.fileWidth()}
}

// code returns the code of the type in a head.
func (e item) code() byte {
	kind := e.kind
	switch kind {
	case reflect.Int:
		kind = reflect.Int64
	case reflect.Uint:
		kind = reflect.Uint64
	}
	return byte(slices.Index(binaryKinds[1:], kind) + 1)
}

// values returns how the values of a type are read, allocated without clearing, and written.
func (e item) values() valuesOf {
	switch e.kind {
	case reflect.Bool:
		return items[bool]{}
	case reflect.Int8:
		return items[int8]{}
	case reflect.Int16:
		return items[int16]{}
	case reflect.Int32:
		return items[int32]{}
	case reflect.Int64:
		return items[int64]{}
	case reflect.Int:
		return items[int]{}
	case reflect.Uint8:
		return items[uint8]{}
	case reflect.Uint16:
		return items[uint16]{}
	case reflect.Uint32:
		return items[uint32]{}
	case reflect.Uint64:
		return items[uint64]{}
	case reflect.Uint:
		return items[uint]{}
	case reflect.Float32:
		return items[float32]{}
	}
	return items[float64]{}
}

type valuesOf interface {
	read(rd *binaryReader, n int64, width int) ([]byte, error)
	room(n int64) []byte
	write(w io.Writer, val []byte, width int) error
}

// items are values of a built-in type; a type of the same kind has the same memory.
type items[E comparable] struct{}

func (items[E]) read(rd *binaryReader, n int64, width int) ([]byte, error) {
	val, err := readSection[E](rd, sectionVals, n, width)
	return bytesOfSlice(val), err
}

func (items[E]) room(n int64) []byte { return bytesOfSlice(fresh.Make[E](n)) }

func (items[E]) write(w io.Writer, val []byte, width int) error {
	return writeSection(w, sectionVals, valuesOfBytes[E](val), width)
}

// readStore is readBinary for a type of values. It returns the type of the file, which differs if
// the caller converts the values.
func readStore(r io.Reader, kind byte, op string, o *readOptions, e item) (*raw, item, sides, error) {
	if r == nil {
		return nil, e, sides{}, nilReader(op)
	}
	rd, err := openBinary(r, o)
	if err != nil {
		return nil, e, sides{}, err
	}
	st := &raw{}
	vecs, kinds, err := readBinaryHead(rd, &st.Structure, kind, e, op)
	if err != nil {
		return nil, e, sides{}, err
	}
	if from := itemOf(rd.element); from.code() != e.code() {
		e = from
	}
	st.size = e.size
	var labels sides
	if st.Format == blocked {
		labels, err = readBlocks(rd, st, vecs, e, kinds)
	} else {
		labels, err = readArrays(rd, st, vecs, e, kinds)
	}
	if err == nil && o.toEnd {
		err = rd.atEnd()
	}
	if err != nil {
		return nil, e, sides{}, err
	}
	rd.finish()
	return st, e, labels, nil
}

// atEnd returns an error if bytes follow the matrix.
func (rd *binaryReader) atEnd() error {
	var more [1]byte
	switch _, err := io.ReadFull(rd.r, more[:]); err {
	case io.EOF:
		return nil
	case nil:
		e := rd.damaged("end", "bytes follow the matrix")
		e.Remedy = "give the bytes of one matrix alone; ReadBinary reads a matrix from the start of a stream"
		return e
	default:
		return rd.o.streamError(0, err)
	}
}

// readArrays reads the sections after the head of a file that is not in blocks.
func readArrays(rd *binaryReader, st *raw, vecs int64, e item, kinds [2]byte) (labels sides, err error) {
	cells := st.NVals
	if st.Sparse() {
		if st.Ptr, err = readSection[int64](rd, sectionPtr, vecs+1, 8); err != nil {
			return sides{}, err
		}
		if st.Format == sparse.Hypersparse {
			if st.RowIDs, err = readSection[int32](rd, sectionRows, vecs, 4); err != nil {
				return sides{}, err
			}
		}
		if st.Idx, err = readSection[int32](rd, sectionCols, st.NVals, 4); err != nil {
			return sides{}, err
		}
	} else {
		c, _ := st.Cells()
		cells = int64(c)
	}
	if st.Format == sparse.Bitmap {
		if st.Present, err = readSection[uint8](rd, sectionPresent, cells, 1); err != nil {
			return sides{}, err
		}
	}
	if st.val, err = e.values().read(rd, cells, e.width); err != nil {
		return sides{}, err
	}
	if err := st.Check(len(st.val)/st.size, false); err != nil {
		return sides{}, rd.damaged("the matrix breaks its invariants", err.Error())
	}
	return readSides(rd, kinds, st.NRows, st.NCols)
}

func readBinaryHead(rd *binaryReader, st *sparse.Structure, kind byte, e item, op string) (vecs int64, kinds [2]byte, err error) {
	const what = "head"
	le := binary.LittleEndian
	head := make([]byte, binaryHead)
	if err := rd.full(head[:8], what); err != nil {
		return 0, kinds, err
	}
	if string(head[:8]) != binaryMagic {
		return 0, kinds, rd.damaged(what, "not a hiveblas binary file")
	}
	if err := rd.full(head[8:], what); err != nil {
		return 0, kinds, err
	}
	if crc32.Checksum(head[:60], castagnoli) != le.Uint32(head[60:]) {
		return 0, kinds, rd.damaged(what, "wrong checksum")
	}
	switch v := le.Uint16(head[8:]); {
	case v < binaryOldest || v > binaryVersion:
		e := rd.damaged(what, fmt.Sprintf("version %d, want %d to %d", v, binaryOldest, binaryVersion))
		e.Remedy = "a newer release of hiveblas may read it"
		return 0, kinds, e
	case v > binaryOldest:
		kinds = [2]byte{head[13], head[14]}
	}
	if head[10] != kind {
		what2 := map[byte]string{binaryMatrix: "a matrix", binaryVector: "a vector"}
		got, ok := what2[head[10]]
		if !ok {
			got = fmt.Sprintf("kind %d", head[10])
		}
		return 0, kinds, rd.damaged(what, "the file holds "+got+", want "+what2[kind])
	}
	if head[11] == 0 || int(head[11]) >= len(binaryKinds) {
		return 0, kinds, rd.damaged(what, fmt.Sprintf("unknown element type %d", head[11]))
	}
	rd.element = binaryKinds[head[11]]
	if head[11] != e.code() && !rd.o.convert {
		return 0, kinds, &TypeError{Op: op, Got: binaryKinds[head[11]].String(), Want: e.name, Remedy: "read it into the type of the file", File: rd.o.file}
	}
	st.Format = sparse.Format(head[12])
	rows, cols, nvals := le.Uint64(head[16:]), le.Uint64(head[24:]), le.Uint64(head[32:])
	vecs = int64(le.Uint64(head[40:]))
	const limit = 1 << 62
	switch {
	case head[12] > byte(blocked):
		return 0, kinds, rd.damaged(what, fmt.Sprintf("unknown format %d", head[12]))
	case rows > MaxDim || cols > MaxDim:
		return 0, kinds, rd.damaged(what, fmt.Sprintf("dimensions %d×%d, want at most %d", rows, cols, MaxDim))
	case nvals > limit && st.Format != blocked:
		return 0, kinds, rd.damaged(what, fmt.Sprintf("%d entries", nvals))
	}
	st.NRows, st.NCols, st.NVals = int(rows), int(cols), int64(nvals)
	if st.Format == blocked {
		return vecs, kinds, checkBlockedHead(rd, st, kind, vecs)
	}
	cells, ok := st.Cells()
	switch {
	case !st.Sparse() && (!ok || cells > maxCells || vecs != 0):
		return 0, kinds, rd.damaged(what, fmt.Sprintf("%d×%d is too large for format %v", rows, cols, st.Format))
	case st.Format == sparse.Full && int64(cells) != st.NVals:
		return 0, kinds, rd.damaged(what, fmt.Sprintf("%d entries in a full %d×%d matrix", nvals, rows, cols))
	case ok && st.NVals > int64(cells):
		return 0, kinds, rd.damaged(what, fmt.Sprintf("%d entries in a %d×%d matrix", nvals, rows, cols))
	case st.Format == sparse.CSR && vecs != int64(st.NRows), vecs < 0 || vecs > int64(st.NRows):
		return 0, kinds, rd.damaged(what, fmt.Sprintf("%d rows with offsets of %d", vecs, rows))
	case kind == binaryVector && (rows != 1 || st.Format == sparse.Hypersparse):
		return 0, kinds, rd.damaged(what, fmt.Sprintf("a vector of %d rows, format %v", rows, st.Format))
	}
	return vecs, kinds, nil
}

// readSection reads an array of n items of width bytes. It allocates while it
// reads, at most twice the size of the items read so far.
func readSection[E comparable](rd *binaryReader, id uint32, n int64, width int) ([]E, error) {
	sum, err := sectionHead(rd, id, n, width)
	if err != nil {
		return nil, err
	}
	items, sum, err := readItems[E](rd, "section "+sectionNames[id], n, width, sum)
	if err != nil {
		return nil, err
	}
	return items, sectionTail(rd, id, n, width, sum)
}

// sectionHead reads the head of a section and returns its checksum.
func sectionHead(rd *binaryReader, id uint32, n int64, width int) (sum uint32, err error) {
	what := "section " + sectionNames[id]
	le := binary.LittleEndian
	head := make([]byte, 16)
	if err := rd.full(head, what); err != nil {
		return 0, err
	}
	if got := le.Uint32(head); got != id {
		return 0, rd.damaged(what, fmt.Sprintf("found section %d instead", got))
	}
	if got := le.Uint32(head[4:]); got != uint32(width) {
		return 0, rd.damaged(what, fmt.Sprintf("items of %d bytes, want %d", got, width))
	}
	if got := le.Uint64(head[8:]); got != uint64(n) {
		return 0, rd.damaged(what, fmt.Sprintf("%d items, want %d", got, n))
	}
	return crc32.Checksum(head, castagnoli), nil
}

// readItems reads n items of a section and adds their bytes to the checksum sum.
func readItems[E comparable](rd *binaryReader, what string, n int64, width int, sum uint32) ([]E, uint32, error) {
	e, _ := elementOf[E]()
	if rd.inPieces(n, width) {
		items := fresh.Make[E](n)
		sum, err := rd.readPieces(what, rawBytes(items), n, width, sum, func(lo, hi int64, b []byte) string {
			return e.settle(items[lo:hi], b, width)
		})
		return items, sum, err
	}
	per := int64(binaryChunk / width)
	items := make([]E, 0, min(n, per))
	var buf []byte
	for int64(len(items)) < n {
		if err := rd.o.stopped(); err != nil {
			return nil, 0, err
		}
		take := int(min(per, n-int64(len(items))))
		have := len(items)
		if have+take > cap(items) {
			grown := fresh.Make[E](min(n, max(2*int64(cap(items)), int64(have+take))))[:have]
			copy(grown, items)
			items = grown
		}
		items = items[:have+take]
		part := items[have:]
		b := rawBytes(part)
		if !hostLittle || len(b) != take*width {
			if buf == nil {
				buf = make([]byte, binaryChunk)
			}
			b = buf[:take*width]
		}
		if err := rd.full(b, what); err != nil {
			return nil, 0, err
		}
		sum = crc32.Update(sum, castagnoli, b)
		if msg := e.settle(part, b, width); msg != "" {
			return nil, 0, rd.damaged(what, msg)
		}
		rd.o.report(rd.taken())
	}
	return items, sum, nil
}

// settle makes items of the bytes of a file, which may be their memory, and returns what is wrong
// with them. A caller drops items with a fault: a bool in memory must be 0 or 1.
func (e element[T]) settle(items []T, b []byte, width int) (fault string) {
	switch {
	case !hostLittle || len(rawBytes(items)) != len(b):
		if !decode(items, b, width) {
			return "a value does not fit " + e.name()
		}
	case e.isBool():
		for _, x := range b {
			if x > 1 {
				return fmt.Sprintf("byte %d for a bool", x)
			}
		}
	}
	return ""
}

// sectionTail reads the end of a section and compares the checksum of all before.
func sectionTail(rd *binaryReader, id uint32, n int64, width int, sum uint32) error {
	what := "section " + sectionNames[id]
	tail := make([]byte, padding(n*int64(width))+4)
	if err := rd.full(tail, what); err != nil {
		return err
	}
	zeros := len(tail) - 4
	if binary.LittleEndian.Uint32(tail[zeros:]) != crc32.Update(sum, castagnoli, tail[:zeros]) {
		return rd.damaged(what, "wrong checksum")
	}
	return nil
}
