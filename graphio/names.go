package graphio

import (
	"bufio"
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/hiveblas/hiveblas/internal/atomicfile"
	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/pieces"
	"github.com/hiveblas/hiveblas/matrix"
)

// WriteLabels writes the names of l, one a line, for [ReadLabels]. A name that begins with a
// quotation mark, or has blanks around it or a carriage return, stands in quotation marks, doubled
// inside it. A name with a line break is an *[OptionError].
func WriteLabels(w io.Writer, l *Labels, opts ...WriteOption) error {
	const op = "graphio.WriteLabels"
	if w == nil {
		return nilWriter(op)
	}
	if err := l.check(op, l.Len()); err != nil {
		return err
	}
	out := &reportingWriter{w: w, o: &writeOptionsOf(opts).common}
	_, err := out.Write(l.lines(l.Len()))
	return err
}

// lines returns the text of WriteLabels for the first n labels.
func (l *Labels) lines(n int) (text []byte) {
	for i := range n {
		if l.numeric {
			text = strconv.AppendInt(text, l.id(i), 10)
		} else if name := l.names[i]; name[0] == '"' || name != strings.TrimSpace(name) || strings.Contains(name, "\r") || i == 0 && name[0] == 0xef {
			text = append(append(append(text, '"'), strings.ReplaceAll(name, `"`, `""`)...), '"')
		} else {
			text = append(text, name...)
		}
		text = append(text, '\n')
	}
	return text
}

// ReadLabels reads names, one a line, gzip-compressed or not: line i, from 0, is the name of index
// i. Blanks around a name are no part of it, unless it stands in quotation marks, which are doubled
// inside it. The labels are integers if all names are. An empty line is a *[ParseError].
func ReadLabels(r io.Reader, opts ...ReadOption) (*Labels, error) {
	return readLabels(r, readOptionsOf(opts))
}

// readLabels is ReadLabels with its options as a struct.
func readLabels(r io.Reader, o *readOptions) (*Labels, error) {
	if r == nil {
		return nil, nilReader("graphio.ReadLabels")
	}
	src, taken, err := chunk.NewSource(r)
	if err != nil {
		return nil, o.streamError(1, err)
	}
	l := &Labels{numeric: true, ids: []int64{}}
	for {
		text, line, err := src.Line()
		if err == io.EOF {
			break
		} else if err != nil {
			return nil, o.streamError(line, err)
		}
		if line&0xffff == 0 {
			if err := o.stopped(); err != nil {
				return nil, err
			}
			o.report(taken())
		}
		if line == 1 {
			text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
		}
		if text = bytes.TrimSpace(text); len(text) == 0 {
			return nil, o.fail(line, "the line has no name", "give every vertex a name, one a line")
		}
		if line > matrix.MaxDim {
			return nil, o.fail(line, fmt.Sprintf("at most %d names are possible", matrix.MaxDim), "")
		}
		if text[0] == '"' {
			inside := string(text[1:])
			if !strings.HasSuffix(inside, `"`) || strings.Count(inside, `"`)%2 == 0 {
				return nil, o.failKind(line, "the quotation marks are not in pairs", RemedyQuotes)
			}
			text = []byte(strings.ReplaceAll(inside[:len(inside)-1], `""`, `"`))
			if len(text) == 0 {
				return nil, o.fail(line, "the name is empty", "give every vertex a name, one a line")
			}
		}
		id, ok := idOf(text)
		switch {
		case ok && l.numeric:
			l.ids = append(l.ids, id)
			continue
		case l.numeric:
			for _, id := range l.ids {
				l.names = append(l.names, strconv.FormatInt(id, 10))
			}
			l.numeric, l.ids = false, nil
		}
		l.names = append(l.names, string(text))
	}
	o.report(taken())
	return l, nil
}

// ReadLabelsFile is [ReadLabels] of the file at path.
func ReadLabelsFile(path string, opts ...ReadOption) (*Labels, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadLabels(bufio.NewReaderSize(f, 1<<16), append([]ReadOption{FileName(path)}, opts...)...)
}

// A format without names, such as Matrix Market, keeps them in files beside the file: PATH.names if
// rows and columns have the same names, else PATH.rows and PATH.columns. A comment in the file
// gives their number and checksum, so that a file which another program rewrote does not get them.
const (
	namesBoth = "names of rows and columns"
	namesRows = "names of rows"
	namesCols = "names of columns"
)

var sidecarSuffix = map[string]string{namesBoth: ".names", namesRows: ".rows", namesCols: ".columns"}

// NamesBeside names the file that is read or written, for formats without names: a Matrix Market
// file PATH or PATH.gz has them in PATH.names (or PATH.rows and PATH.columns), which its comments
// mention. [ReadFile], [ReadLabelledFile] and [WriteFile] set it. Without it such a writer omits
// names, and a reader gives a [Warning].
//
// WriteFile replaces the files together: after an error the old ones are as they were. A crash of
// the machine between their renames leaves new names beside the old matrix, which a reader reports.
// Another writer writes the names at its end, and its caller has the rest of the file to write.
func NamesBeside(path string) FileOption {
	return fileOption(func(o *common) { o.beside = withoutGz(path) })
}

func withoutGz(path string) string {
	if n := len(path) - len(".gz"); n > 0 && strings.EqualFold(path[n:], ".gz") {
		return path[:n]
	}
	return path
}

// sidecar is a file of names to write, or one that a comment mentions.
type sidecar struct {
	what  string // namesBoth, namesRows or namesCols
	count int
	sum   uint32
	text  []byte // to write
}

// sidecars returns the files of names for an m×n matrix.
func (o *writeOptions) sidecars(op string, m, n int) ([]sidecar, error) {
	if o.beside == "" {
		return nil, nil
	}
	var all []sidecar
	add := func(what string, l *Labels, n int) error {
		if l == nil || n == 0 {
			return nil
		}
		if err := l.check(op, n); err != nil {
			return err
		}
		text := l.lines(n)
		all = append(all, sidecar{what, n, crc32.Checksum(text, pieces.Castagnoli), text})
		return nil
	}
	if o.labels == o.cols && m == n {
		return all, add(namesBoth, o.labels, m)
	}
	if err := add(namesRows, o.labels, m); err != nil {
		return nil, err
	}
	err := add(namesCols, o.cols, n)
	return all, err
}

func (s sidecar) comment() string {
	return fmt.Sprintf("%s: %d, CRC-32C %08x, in the file of this name and %s", s.what, s.count, s.sum, sidecarSuffix[s.what])
}

// writeSidecars writes the files of names of the matrix that w has received. Those of a
// [atomicfile.Companion] appear together with its file.
func (o *writeOptions) writeSidecars(w io.Writer, all []sidecar) error {
	file, together := w.(atomicfile.Companion)
	for _, s := range all {
		path, err := o.beside+sidecarSuffix[s.what], error(nil)
		if together {
			err = file.Beside(path, s.text)
		} else {
			err = atomicfile.WriteFile(o.ctx, path, func(w io.Writer) error {
				_, err := w.Write(s.text)
				return err
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sidecarOf parses a comment of a file.
func sidecarOf(comment string) (s sidecar, ok bool) {
	what, rest, found := strings.Cut(comment, ": ")
	suffix, known := sidecarSuffix[what]
	if !found || !known || !strings.HasSuffix(rest, " "+suffix) {
		return s, false
	}
	s.what = what
	n, err := fmt.Sscanf(rest, "%d, CRC-32C %x,", &s.count, &s.sum)
	return s, err == nil && n == 2
}

// readSidecars reads the names that the comments of an m×n matrix mention.
func (o *readOptions) readSidecars(comments []string, m, n int) (labels sides, err error) {
	for _, text := range comments {
		s, ok := sidecarOf(text)
		if !ok {
			continue
		}
		if o.beside == "" {
			o.warning(RemedyNamesBeside, "the names of its vertices are in another file, which cannot be found from a stream")
			return sides{}, nil
		}
		path := o.beside + sidecarSuffix[s.what]
		data, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			o.warning(RemedyNames, "there is no file "+path+" with the names of its vertices")
			continue
		} else if err != nil {
			return sides{}, err
		}
		want := map[string]int{namesRows: m, namesCols: n, namesBoth: n}[s.what]
		if crc32.Checksum(data, pieces.Castagnoli) != s.sum || s.count != want || s.what == namesBoth && m != n {
			e := o.failKind(0, "the names in "+path+" belong to another matrix, or were changed", RemedyNames)
			e.Err = &fs.PathError{Op: "read", Path: path, Err: fs.ErrInvalid}
			return sides{}, e
		}
		l, err := readLabels(bytes.NewReader(data), &readOptions{common: common{file: path}})
		if err != nil {
			return sides{}, err
		}
		if s.what != namesCols {
			labels.rows = l
		}
		if s.what != namesRows {
			labels.cols = l
		}
	}
	return labels, nil
}

// warning gives a warning about the file.
func (o *readOptions) warning(kind RemedyKind, msg string) {
	if o.warn != nil {
		o.warn(Warning{File: o.file, Msg: msg, Remedy: kind.String(), Kind: kind})
	}
}
