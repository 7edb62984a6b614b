package matrix

import (
	"errors"
	"fmt"
	"strings"
)

// Sentinels for errors.Is of readers and writers.
var (
	ErrParse = errors.New("cannot read this file")     // see ParseError
	ErrType  = errors.New("element type does not fit") // see TypeError
)

// A ParseError says what is wrong with a file that is being read, and where.
type ParseError struct {
	File   string // as given by FileName or ReadFile; "" if unknown
	Line   int64  // from 1; 0 if it concerns no single line
	Msg    string // what is wrong
	Remedy string // what to do about it, or ""
	Err    error  // the cause, such as a *DuplicateError or an error of gzip, or nil
}

func (e *ParseError) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		b.WriteByte(':')
	}
	if e.Line > 0 {
		if e.File == "" {
			b.WriteString("line ")
		}
		fmt.Fprintf(&b, "%d:", e.Line)
	}
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	b.WriteString(e.Msg)
	if e.Remedy != "" {
		b.WriteString("; ")
		b.WriteString(e.Remedy)
	}
	return b.String()
}

// Is reports whether target is ErrParse.
func (e *ParseError) Is(target error) bool { return target == ErrParse }

// Unwrap returns the cause.
func (e *ParseError) Unwrap() error { return e.Err }

// A TypeError says that the element type of a matrix and that of a file or an
// option differ, or that files cannot hold the type.
type TypeError struct {
	Op     string // function, such as "matrix.ReadBinary"
	Got    string // the type that was met, such as "float32"
	Want   string // the type that is needed
	Remedy string
}

func (e *TypeError) Error() string {
	s := fmt.Sprintf("%s: element type is %s, want %s", e.Op, e.Got, e.Want)
	if e.Remedy != "" {
		s += "; " + e.Remedy
	}
	return s
}

// Is reports whether target is ErrType.
func (e *TypeError) Is(target error) bool { return target == ErrType }
