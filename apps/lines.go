package apps

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/matrix"
)

// checkReader checks the arguments that readers of files about n vertices share. n may be −1 where
// least is.
func checkReader(app string, r io.Reader, n, least, base int) error {
	switch {
	case isNil(r):
		return &ParameterError{app, "the reader", "nil", "a reader"}
	case n < least || n > matrix.MaxDim:
		return &matrix.SizeError{Op: app, Arg: "the number of vertices", Got: int64(n), Limit: matrix.MaxDim}
	case base != 0 && base != 1:
		return &ParameterError{app, "the base", fmt.Sprint(base), "0 or 1"}
	}
	return nil
}

// eachLine calls use with the lines of a file, gzip-compressed or not, without the blanks around
// them. Lines that begin with % or #, and blank lines, are skipped. It returns the number of lines.
// Name is that of the file, and doing what progress is reported as.
func (r Run) eachLine(in io.Reader, name, doing string, use func(text []byte, line int64) error) (lines int64, err error) {
	src, taken, err := chunk.NewSource(in)
	if err != nil {
		return 0, &matrix.ParseError{File: name, Msg: err.Error(), Err: err}
	}
	for {
		text, line, err := src.Line()
		if errors.Is(err, io.EOF) {
			return line, nil
		}
		if err != nil {
			return line, &matrix.ParseError{File: name, Line: line, Msg: err.Error(), Err: err}
		}
		text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
		if len(text) > 0 && text[0] != '%' && text[0] != '#' {
			if err := use(text, line); err != nil {
				return line, err
			}
		}
		if line%4096 == 0 {
			r.report(doing, taken(), 0)
			if r.Context != nil && r.Context.Err() != nil {
				return line, r.Context.Err()
			}
		}
	}
}
