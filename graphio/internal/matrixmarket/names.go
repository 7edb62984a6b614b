package matrixmarket

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/internal/atomicfile"
	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/pieces"
	"github.com/hiveblas/hiveblas/matrix"
)

// WriteLabels writes names, one a line; see graphio.WriteLabels.
func WriteLabels(w io.Writer, l *core.Labels, o *core.WriteOptions) error {
	const op = "graphio.WriteLabels"
	if w == nil {
		return core.NilWriter(op)
	}
	if err := l.Check(op, l.Len()); err != nil {
		return err
	}
	out := &core.ReportingWriter{W: w, O: &o.Common}
	_, err := out.Write(nameLines(l, l.Len()))
	return err
}

// nameLines returns the text of WriteLabels for the first n labels.
func nameLines(l *core.Labels, n int) (text []byte) {
	for i := range n {
		if l.Numeric() {
			text = strconv.AppendInt(text, l.IDAt(i), 10)
		} else if name := l.Name(i); name[0] == '"' || name != strings.TrimSpace(name) || strings.Contains(name, "\r") || i == 0 && name[0] == 0xef {
			text = append(append(append(text, '"'), strings.ReplaceAll(name, `"`, `""`)...), '"')
		} else {
			text = append(text, name...)
		}
		text = append(text, '\n')
	}
	return text
}

// ReadLabels is ReadLabels with its options as a struct.
func ReadLabels(r io.Reader, o *core.ReadOptions) (*core.Labels, error) {
	if r == nil {
		return nil, core.NilReader("graphio.ReadLabels")
	}
	src, taken, err := chunk.NewSource(r)
	if err != nil {
		return nil, o.StreamError(1, err)
	}
	ids, names := []int64{}, []string(nil) // names if one is no integer
	for {
		text, line, err := src.Line()
		if err == io.EOF {
			break
		} else if err != nil {
			return nil, o.StreamError(line, err)
		}
		if line&0xffff == 0 {
			if err := o.Stopped(); err != nil {
				return nil, err
			}
			o.Report(taken())
		}
		if line == 1 {
			text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
		}
		if text = bytes.TrimSpace(text); len(text) == 0 {
			return nil, o.Fail(line, "the line has no name", "give every vertex a name, one a line")
		}
		if line > matrix.MaxDim {
			return nil, o.Fail(line, fmt.Sprintf("at most %d names are possible", matrix.MaxDim), "")
		}
		if text[0] == '"' {
			inside := string(text[1:])
			if !strings.HasSuffix(inside, `"`) || strings.Count(inside, `"`)%2 == 0 {
				return nil, o.FailKind(line, "the quotation marks are not in pairs", core.RemedyQuotes)
			}
			text = []byte(strings.ReplaceAll(inside[:len(inside)-1], `""`, `"`))
			if len(text) == 0 {
				return nil, o.Fail(line, "the name is empty", "give every vertex a name, one a line")
			}
		}
		id, ok := core.IDOf(text)
		switch {
		case ok && names == nil:
			ids = append(ids, id)
			continue
		case names == nil:
			names = make([]string, len(ids))
			for k, id := range ids {
				names[k] = strconv.FormatInt(id, 10)
			}
		}
		names = append(names, string(text))
	}
	o.Report(taken())
	if names != nil {
		return core.OfNames(names), nil
	}
	return core.OfIDs(ids), nil
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

// sidecar is a file of names to write, or one that a comment mentions.
type sidecar struct {
	what  string // namesBoth, namesRows or namesCols
	count int
	sum   uint32
	text  []byte // to write
}

// sidecarsOf returns the files of names for an m×n matrix.
func sidecarsOf(o *core.WriteOptions, op string, m, n int) ([]sidecar, error) {
	if o.Beside == "" {
		return nil, nil
	}
	var all []sidecar
	add := func(what string, l *core.Labels, n int) error {
		if l == nil || n == 0 {
			return nil
		}
		if err := l.Check(op, n); err != nil {
			return err
		}
		text := nameLines(l, n)
		all = append(all, sidecar{what, n, crc32.Checksum(text, pieces.Castagnoli), text})
		return nil
	}
	if o.Labels == o.Cols && m == n {
		return all, add(namesBoth, o.Labels, m)
	}
	if err := add(namesRows, o.Labels, m); err != nil {
		return nil, err
	}
	err := add(namesCols, o.Cols, n)
	return all, err
}

func (s sidecar) comment() string {
	return fmt.Sprintf("%s: %d, CRC-32C %08x, in the file of this name and %s", s.what, s.count, s.sum, sidecarSuffix[s.what])
}

// writeSidecars writes the files of names of the matrix that w has received. Those of a
// [atomicfile.Companion] appear together with its file.
func writeSidecars(o *core.WriteOptions, w io.Writer, all []sidecar) error {
	file, together := w.(atomicfile.Companion)
	for _, s := range all {
		path, err := o.Beside+sidecarSuffix[s.what], error(nil)
		if together {
			err = file.Beside(path, s.text)
		} else {
			err = atomicfile.WriteFile(o.Ctx, path, func(w io.Writer) error {
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
func readSidecars(o *core.ReadOptions, comments []string, m, n int) (labels core.Sides, err error) {
	for _, text := range comments {
		s, ok := sidecarOf(text)
		if !ok {
			continue
		}
		if o.Beside == "" {
			o.Warning(core.RemedyNamesBeside, "the names of its vertices are in another file, which cannot be found from a stream")
			return core.Sides{}, nil
		}
		path := o.Beside + sidecarSuffix[s.what]
		data, err := os.ReadFile(path)
		if os.IsNotExist(err) {
			o.Warning(core.RemedyNames, "there is no file "+path+" with the names of its vertices")
			continue
		} else if err != nil {
			return core.Sides{}, err
		}
		want := map[string]int{namesRows: m, namesCols: n, namesBoth: n}[s.what]
		if crc32.Checksum(data, pieces.Castagnoli) != s.sum || s.count != want || s.what == namesBoth && m != n {
			e := o.FailKind(0, "the names in "+path+" belong to another matrix, or were changed", core.RemedyNames)
			e.Err = &fs.PathError{Op: "read", Path: path, Err: fs.ErrInvalid}
			return core.Sides{}, e
		}
		l, err := ReadLabels(bytes.NewReader(data), &core.ReadOptions{Common: core.Common{File: path}})
		if err != nil {
			return core.Sides{}, err
		}
		if s.what != namesCols {
			labels.Rows = l
		}
		if s.what != namesRows {
			labels.Cols = l
		}
	}
	return labels, nil
}
