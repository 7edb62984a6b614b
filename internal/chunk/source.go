// Package chunk reads and writes large texts in blocks of whole lines, or of whole items. Several
// goroutines process the blocks; everything else happens in file order.
//
// A [Source] divides a stream, compressed or not, into blocks that end at line boundaries, or where
// a function finds the begin of an item. [Read] passes the blocks to workers and their results, in
// order, to the caller; [Write] does the reverse. Only the goroutine of the caller accesses the
// stream, so nothing still runs when they return.
package chunk

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

const (
	// blockSize is the size of a block. 256 KiB to 4 MiB read an R-MAT 18 file equally fast
	// (BenchmarkReadMatrixMarket); a small size limits the memory of blocks in flight.
	blockSize = 1 << 20
	// maxLine is the largest length of a line. Without it, a file without newlines would become a
	// single block.
	maxLine = 1 << 24
)

// ErrLine is returned for a line longer than 16 MiB.
var ErrLine = errors.New("line longer than 16 MiB")

// ErrGzip is wrapped by errors in a compressed stream.
var ErrGzip = errors.New("the gzip stream is damaged")

// Block is a run of whole lines, or of items.
type Block struct {
	Data []byte // of lines: ends with a newline, added if the file lacks the last
	Line int64  // number of its first line, from 1
}

// Source is a stream of lines, or of items.
type Source struct {
	r    io.Reader
	buf  []byte // unread bytes
	line int64  // number of the first line of buf
	err  error  // why the stream ended
	size int    // of a block of items
	cut  func(text []byte) int
}

type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// gzipReader reads the members of a gzip file, one after the other. Zeros after a member, which
// fill a block of a tape or an archive, are no part of the file. It wraps errors of the compressed
// stream in ErrGzip.
type gzipReader struct {
	z  *gzip.Reader
	in *bufio.Reader // of z, which reads no further than the end of a member
}

func newGzipReader(in *bufio.Reader) (*gzipReader, error) {
	z, err := gzip.NewReader(in)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, nameGzip(err)
	}
	z.Multistream(false)
	return &gzipReader{z, in}, nil
}

func (g *gzipReader) Read(p []byte) (int, error) {
	n, err := g.z.Read(p)
	if err == io.EOF {
		err = g.nextMember()
	}
	return n, nameGzip(err)
}

// nextMember begins the next member. The error at the end of the file is io.EOF.
func (g *gzipReader) nextMember() error {
	for {
		c, err := g.in.ReadByte()
		if err != nil {
			return err
		}
		if c != 0 {
			break
		}
	}
	if err := g.in.UnreadByte(); err != nil {
		return err
	}
	if err := g.z.Reset(g.in); err == io.EOF {
		return io.ErrUnexpectedEOF
	} else if err != nil {
		return err
	}
	g.z.Multistream(false)
	return nil
}

func nameGzip(err error) error {
	switch {
	case err == nil || err == io.EOF:
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: it ends too early (%w)", ErrGzip, err)
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum):
		return fmt.Errorf("%w: %w", ErrGzip, err)
	}
	var corrupt flate.CorruptInputError
	if errors.As(err, &corrupt) {
		return fmt.Errorf("%w: %w", ErrGzip, err)
	}
	return err
}

// Open decompresses r if it begins like a gzip file, also one of several members, with zeros after
// them. It returns the plain bytes and a function that returns the number of bytes read from r so
// far.
func Open(r io.Reader) (plain io.Reader, taken func() int64, err error) {
	c := &counter{r: r}
	taken = func() int64 { return c.n }
	b := bufio.NewReaderSize(c, 1<<16)
	head, err := b.Peek(2)
	if err != nil && err != io.EOF {
		return nil, taken, err
	}
	if IsGzip(head) {
		z, err := newGzipReader(b)
		if err != nil {
			return nil, taken, err
		}
		return z, taken, nil
	}
	return b, taken, nil
}

// IsGzip reports whether a file begins like one of gzip.
func IsGzip(head []byte) bool { return len(head) >= 2 && head[0] == 0x1f && head[1] == 0x8b }

// OpenText is [Open] of a text. A text in UTF-16 with a byte order mark becomes UTF-8.
func OpenText(r io.Reader) (plain io.Reader, taken func() int64, err error) {
	plain, taken, err = Open(r)
	if err != nil {
		return nil, taken, err
	}
	b, ok := plain.(*bufio.Reader)
	if !ok {
		b = bufio.NewReaderSize(plain, 1<<16)
	}
	head, err := b.Peek(2)
	if err != nil && err != io.EOF {
		return nil, taken, err
	}
	if IsUTF16(head) {
		return transform.NewReader(b, unicode.UTF16(unicode.BigEndian, unicode.ExpectBOM).NewDecoder()), taken, nil
	}
	return b, taken, nil
}

// IsUTF16 reports whether a text begins with a byte order mark of UTF-16.
func IsUTF16(head []byte) bool {
	return len(head) >= 2 && (head[0] == 0xff && head[1] == 0xfe || head[0] == 0xfe && head[1] == 0xff)
}

// NewSource returns the lines of r as [OpenText] reads it.
func NewSource(r io.Reader) (*Source, func() int64, error) {
	plain, taken, err := OpenText(r)
	s := &Source{r: plain, line: 1}
	return s, taken, err
}

// Lines returns the lines of r, which is not compressed; the first has the given number.
func Lines(r io.Reader, first int64) *Source { return &Source{r: r, line: first} }

// Items returns the items of r, which is not compressed; its first byte is in the given line. A
// block has about size bytes and ends where cut finds the begin of its last item: at an index above
// 0, or at none. [Read] ends before text without a cut; [Source.Rest] reads this text.
func Items(r io.Reader, line int64, size int, cut func(text []byte) int) *Source {
	return &Source{r: r, line: line, size: size, cut: cut}
}

// Rest returns a reader of what Read has left of a stream of items, and of the error that ended it.
func (s *Source) Rest() io.Reader {
	return io.MultiReader(bytes.NewReader(s.buf), restReader{s})
}

// restReader reads what follows the buffer of a source.
type restReader struct{ s *Source }

func (r restReader) Read(p []byte) (int, error) {
	if r.s.err != nil {
		return 0, r.s.err
	}
	return r.s.r.Read(p)
}

// unread puts blocks back, which are the last that next returned.
func (s *Source) unread(blocks []Block) {
	var text []byte
	for _, b := range blocks {
		text = append(text, b.Data...)
	}
	s.buf, s.line = append(text, s.buf...), blocks[0].Line
}

// fill reads until buf holds n bytes, or with 0 a whole line, or the stream ends.
func (s *Source) fill(n int) {
	for empty := 0; s.err == nil; {
		if cap(s.buf)-len(s.buf) < 4096 {
			s.buf = append(make([]byte, 0, max(1<<16, 2*cap(s.buf))), s.buf...)
		}
		read, err := s.r.Read(s.buf[len(s.buf):cap(s.buf)])
		added := s.buf[len(s.buf) : len(s.buf)+read]
		s.buf = s.buf[:len(s.buf)+read]
		s.err = err
		if read > 0 {
			empty = 0
		} else if empty++; empty > 100 && err == nil {
			s.err = io.ErrNoProgress
		}
		if n > 0 && len(s.buf) >= n || n == 0 && bytes.IndexByte(added, '\n') >= 0 {
			return
		}
		if len(s.buf) > maxLine && s.err == nil {
			s.err = ErrLine
		}
	}
}

// Line returns the next line without its end (\n or \r\n), and its number. The line is valid until
// the next call. The error at the end of the stream is io.EOF.
func (s *Source) Line() (text []byte, number int64, err error) {
	end := bytes.IndexByte(s.buf, '\n')
	if end < 0 {
		s.fill(0)
		end = bytes.IndexByte(s.buf, '\n')
	}
	number = s.line
	if end < 0 {
		if s.err != io.EOF || len(s.buf) == 0 {
			return nil, number, s.err
		}
		text, s.buf = s.buf, nil
	} else {
		text, s.buf = s.buf[:end], s.buf[end+1:]
	}
	s.line++
	return bytes.TrimSuffix(text, []byte("\r")), number, nil
}

// Unread puts back a line that Line returned.
func (s *Source) Unread(text []byte) {
	whole := make([]byte, 0, len(text)+1+len(s.buf))
	whole = append(append(append(whole, text...), '\n'), s.buf...)
	s.buf = whole
	s.line--
}

// Peek returns the whole lines within the next n bytes and leaves them in the
// stream. It depends on the content of the stream alone, not on how the reader
// divides it. An error of the stream is left to the call that reaches it.
func (s *Source) Peek(n int) []byte {
	if len(s.buf) < n {
		s.fill(n)
	}
	text := s.buf[:min(n, len(s.buf))]
	return text[:bytes.LastIndexByte(text, '\n')+1]
}

// At returns the number of the next line.
func (s *Source) At() int64 { return s.line }

// more reads once into the room of buf. empty counts reads without a byte; a hundred are an error.
func (s *Source) more(buf []byte, empty *int) []byte {
	var n int
	n, s.err = s.r.Read(buf[len(buf):cap(buf)])
	if n > 0 {
		*empty = 0
	} else if *empty++; *empty > 100 && s.err == nil {
		s.err = io.ErrNoProgress
	}
	return buf[:len(buf)+n]
}

// nextItems reads a block of items into buf, which it may grow. ok is false if the text, which it
// leaves, has no cut.
func (s *Source) nextItems(buf []byte) (b Block, ok bool) {
	if cap(buf) < max(s.size, len(s.buf)) {
		buf = make([]byte, 0, max(s.size, len(s.buf)))
	}
	buf = append(buf[:0], s.buf...)
	for {
		for empty := 0; s.err == nil && len(buf) < cap(buf); {
			buf = s.more(buf, &empty)
		}
		if end := s.cut(buf); end > 0 {
			b = Block{buf[:end], s.line}
			s.buf = bytes.Clone(buf[end:])
			s.line += int64(bytes.Count(b.Data, []byte{'\n'}))
			return b, true
		}
		if s.err != nil || len(buf) > maxLine {
			s.buf = buf
			return b, false
		}
		buf = append(make([]byte, 0, 2*cap(buf)), buf...)
	}
}

// next reads a block into buf, which it may grow. ok is false at the end of the stream or after an
// error.
func (s *Source) next(buf []byte) (b Block, ok bool, err error) {
	if s.cut != nil {
		b, ok = s.nextItems(buf)
		return b, ok, nil
	}
	if cap(buf) < blockSize {
		buf = make([]byte, 0, blockSize)
	}
	buf = append(buf[:0], s.buf...)
	s.buf = nil
	for empty := 0; s.err == nil; {
		if len(buf) == cap(buf) {
			if bytes.IndexByte(buf, '\n') >= 0 {
				break
			}
			if len(buf) > maxLine {
				s.err = ErrLine
				break
			}
			buf = append(make([]byte, 0, 2*cap(buf)), buf...)
		}
		buf = s.more(buf, &empty)
	}
	end := len(buf)
	if s.err == nil {
		end = bytes.LastIndexByte(buf, '\n') + 1
		s.buf = append(make([]byte, 0, max(4096, len(buf)-end)), buf[end:]...)
	}
	if s.err != nil && s.err != io.EOF {
		s.line += int64(bytes.Count(buf, []byte{'\n'}))
		return b, false, s.err
	}
	if end > 0 && buf[end-1] != '\n' {
		buf = append(buf[:end], '\n')
		end++
	}
	b = Block{buf[:end], s.line}
	s.line += int64(bytes.Count(b.Data, []byte{'\n'}))
	return b, end > 0, nil
}
