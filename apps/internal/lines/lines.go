// Package lines reads files with a line for each vertex: values, locations, scores.
package lines

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/delimited"
	"github.com/hiveblas/hiveblas/matrix"
)

// CheckReader checks the arguments that readers of files about n vertices share. n may be −1 where
// least is.
func CheckReader(app string, r io.Reader, n, least, base int) error {
	switch {
	case IsNil(r):
		return &workflow.ParameterError{App: app, Arg: "the reader", Got: "nil", Want: "a reader"}
	case n < least || n > matrix.MaxDim:
		return &matrix.SizeError{Op: app, Arg: "the number of vertices", Got: int64(n), Limit: matrix.MaxDim}
	case base != 0 && base != 1:
		return &workflow.ParameterError{App: app, Arg: "the base", Got: fmt.Sprint(base), Want: "0 or 1"}
	}
	return nil
}

// TextOptions say how the lines of a text are taken.
type TextOptions struct {
	Comment string // each character begins a comment line; "": # and %; "none": none
	Decimal rune   // sign before the fraction of a number: 0 or '.', or ','
}

// FormatOf returns the options for package delimited.
func FormatOf(o TextOptions) delimited.Format {
	return delimited.Format{Comments: o.Comment, Comma: o.Decimal == ','}
}

// CheckText checks the options of a reader.
func CheckText(o TextOptions, app string) error {
	if o.Decimal != 0 && o.Decimal != '.' && o.Decimal != ',' {
		return &workflow.ParameterError{App: app, Arg: "the decimal sign", Got: fmt.Sprintf("%q", o.Decimal), Want: "'.' or ','"}
	}
	return nil
}

// number returns the finite number of a field. It returns a *graphio.ParseError if there is none;
// the message begins with what, and the remedy is remedy, or names the decimal sign if it is wrong.
func (o TextOptions) number(what, field, file string, line int64, remedy string) (float64, error) {
	x, fault, decimal := FormatOf(o).Number(field)
	if fault == "" {
		return x, nil
	}
	return 0, NumberError(what+fault, decimal, file, line, remedy)
}

// NumberError is the error of number.
func NumberError(fault string, decimal bool, file string, line int64, remedy string) error {
	e := &graphio.ParseError{File: file, Line: line, Msg: fault, Remedy: remedy}
	if decimal {
		e.Kind, e.Remedy = graphio.RemedyDecimal, "the option Decimal reads decimal commas"
	}
	return e
}

// EachLine calls use with the lines of a file, gzip-compressed or not, without the blanks around
// them. Lines that begin with a comment, and blank lines, are skipped. It returns the number of
// lines. name names the file, and doing the stage that progress reports.
func EachLine(r workflow.Run, in io.Reader, o TextOptions, name, doing string, use func(text []byte, line int64) error) (lines int64, err error) {
	format := FormatOf(o)
	src, taken, err := chunk.NewSource(in)
	if err != nil {
		return 0, &graphio.ParseError{File: name, Msg: err.Error(), Err: err}
	}
	for {
		text, line, err := src.Line()
		if errors.Is(err, io.EOF) {
			return line, nil
		}
		if err != nil {
			return line, &graphio.ParseError{File: name, Line: line, Msg: err.Error(), Err: err}
		}
		text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
		if len(text) > 0 && !format.IsComment(text[0]) {
			if err := use(text, line); err != nil {
				return line, err
			}
		}
		if line%4096 == 0 {
			workflow.Report(r, doing, taken(), 0)
			if r.Context != nil && r.Context.Err() != nil {
				return line, r.Context.Err()
			}
		}
	}
}
