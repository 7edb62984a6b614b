package core

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hiveblas/hiveblas/internal/filelock"
	"github.com/hiveblas/hiveblas/matrix"
)

// ErrBusy is the sentinel of BusyError.
var ErrBusy = errors.New("another job writes this file")

// A BusyError reports that another job writes a file in blocks. Its owner is
// a process, of this program or another, that has not ended: the lock of one
// that crashed is free.
type BusyError struct {
	Path  string    // as given to CreateBlocks
	PID   int       // of the owner; 0 if unknown
	Host  string    // of the owner; "" if unknown
	Since time.Time // when the owner began; zero if unknown
}

func (e *BusyError) Error() string {
	owner := filelock.Owner{PID: e.PID, Host: e.Host, Since: e.Since}
	return fmt.Sprintf("%s: %s writes this file; wait until it ends, or write to another file", e.Path, owner)
}

// Is reports whether target is ErrBusy.
func (e *BusyError) Is(target error) bool { return target == ErrBusy }

// ErrParse is the sentinel of ParseError.
var ErrParse = errors.New("cannot read this file")

// A RemedyKind names what removes an error or a warning of a reader or a
// writer, so that a program can offer it in its own terms: a command line
// names its flags.
type RemedyKind uint8

// The kinds of remedies, with the option that each stands for.
const (
	RemedyText         RemedyKind = iota // none but the text of Remedy
	RemedyDuplicates                     // combine repeated entries: Duplicates
	RemedyHeader                         // the first line holds column names: Header(HeaderYes)
	RemedyEitherHeader                   // the first line is a header or an edge: Header
	RemedyRenumber                       // number the ids that occur: RenumberIDs
	RemedyBase                           // ids count from 1: Base(1), or RenumberIDs
	RemedyBaseZero                       // ids count from 0: Base(0)
	RemedyColumns                        // choose other columns: SourceColumn, TargetColumn, WeightColumn
	RemedyWeightColumn                   // choose the column of the values: WeightColumn
	RemedyDelimiter                      // name the delimiter: Delimiter
	RemedyQuotes                         // double the quotation marks in the file
	RemedyAllowNaN                       // accept NaN and infinities: AllowNaN
	RemedyWider                          // read into an integer type of more bits
	RemedyFloat                          // read into float64
	RemedyExact                          // read into int64 or uint64
	RemedySigned                         // read into a signed type
	RemedyPattern                        // ignore values: PatternOnly
	RemedyFinite                         // the value is beyond every type: correct the file
	RemedyNoSymmetrise                   // leave Symmetrise out
	RemedySymmetrise                     // read with Symmetrise
	RemedyNoSymmetric                    // leave AsSymmetric out
	RemedyFormat                         // name the format: InFormat
	RemedyNames                          // give the names in a file of their own: ReadLabels
	RemedyNamesBeside                    // name the file, so that names can be beside it: NamesBeside
	RemedyLists                          // use .tsv, .csv, .mtx or .hgb
	RemedyLeaveValues                    // write without values: AsPattern
	RemedyComment                        // name the characters that begin comments: CommentChars
	RemedyBlanks                         // separate fields at blanks and tabs alike: Delimiter(' ')
	RemedyDecimal                        // numbers have a decimal comma: Decimal(',')
	RemedyFirstValue                     // choose the column of the values, or Header(HeaderYes)
	remedyKinds
)

// remedyTexts says each kind in terms of this package.
var remedyTexts = [remedyKinds]string{
	RemedyDuplicates:   "the option Duplicates combines repeated entries",
	RemedyHeader:       "Header(HeaderYes) takes the first line for column names",
	RemedyEitherHeader: "Header(HeaderYes) takes the first line for column names, Header(HeaderNo) for an edge",
	RemedyRenumber:     "RenumberIDs accepts any integer or text as an id",
	RemedyBase:         "Base(1) counts ids from 1, RenumberIDs numbers the ids that occur",
	RemedyBaseZero:     "Base(0) counts ids from 0",
	RemedyColumns:      "SourceColumn, TargetColumn and WeightColumn choose columns by name or number",
	RemedyWeightColumn: "WeightColumn chooses the column of the values, 0 none",
	RemedyDelimiter:    "Delimiter names the character between fields",
	RemedyQuotes:       "enclose the field in quotation marks and double those inside it",
	RemedyAllowNaN:     "AllowNaN accepts it in a float matrix",
	RemedyWider:        "read into a wider integer type, or into float64",
	RemedyFloat:        "read into float64",
	RemedyExact:        "read into int64 or uint64",
	RemedySigned:       "read into a signed type",
	RemedyPattern:      "PatternOnly ignores values, a number type holds them",
	RemedyFinite:       "correct the file: no element type holds the value",
	RemedyNoSymmetrise: "read without Symmetrise",
	RemedySymmetrise:   "Symmetrise reads the matrix with every edge in both directions",
	RemedyNoSymmetric:  "write without AsSymmetric",
	RemedyFormat:       "InFormat names the format of a file",
	RemedyNamesBeside:  "NamesBeside names the file, so that names can be beside it",
	RemedyLists:        "use .tsv, .csv, .mtx or .hgb",
	RemedyLeaveValues:  "AsPattern writes without values",
	RemedyComment:      `CommentChars("") reads such lines as edges, CommentChars("#%") skips them`,
	RemedyBlanks:       "Delimiter(' ') separates fields at runs of blanks and tabs",
	RemedyDecimal:      "Decimal(',') reads decimal commas",
	RemedyFirstValue:   "WeightColumn chooses the column of the values, 0 none; Header(HeaderYes) if the line has column names",
	RemedyNames:        "keep the files of names beside the file, or read names with ReadLabels",
}

// String returns the remedy in terms of the options of this package.
func (k RemedyKind) String() string {
	if k >= remedyKinds {
		return fmt.Sprintf("RemedyKind(%d)", uint8(k))
	}
	return remedyTexts[k]
}

// A ParseError says what is wrong with a file that is being read, and where.
type ParseError struct {
	File   string     // as given by FileName or ReadFile; "" if unknown
	Line   int64      // from 1; 0 if it concerns no single line
	Msg    string     // what is wrong
	Remedy string     // how to remove the error, or ""
	Kind   RemedyKind // the same, for programs
	Err    error      // the cause, such as a *DuplicateError or an error of gzip, or nil
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

// An OptionError says that an option of a reader or a writer is out of range,
// contradicts another, or does not suit the matrix. It is an ErrInvalid.
type OptionError struct {
	Op     string // function, such as "graphio.WriteMatrixMarket"
	Option string // such as "AsSymmetric"
	Reason string
	Kind   RemedyKind
}

func (e *OptionError) Error() string {
	s := fmt.Sprintf("%s: %s: %s", e.Op, e.Option, e.Reason)
	if r := e.Kind.String(); r != "" {
		s += "; " + r
	}
	return s
}

// Is reports whether target is ErrInvalid.
func (e *OptionError) Is(target error) bool { return target == matrix.ErrInvalid }

// A Warning says that a file can be read but looks as if it should be read
// otherwise; see [Warn].
type Warning struct {
	File   string // as given by FileName or ReadFile; "" if unknown
	Msg    string
	Remedy string     // what to do if the file should be read otherwise
	Kind   RemedyKind // the same, for programs
}

// String returns the warning on one line.
func (w Warning) String() string {
	s := w.Msg
	if w.File != "" {
		s = w.File + ": " + s
	}
	if w.Remedy != "" {
		s += "; " + w.Remedy
	}
	return s
}

// NilReader is the error of a reader function that was given a nil io.Reader.
func NilReader(op string) error {
	return &matrix.InvalidError{Op: op, Reason: "the reader is nil; give a file or another io.Reader"}
}

// NilWriter is the error of a writer function that was given a nil io.Writer.
func NilWriter(op string) error {
	return &matrix.InvalidError{Op: op, Reason: "the writer is nil; give a file or another io.Writer"}
}

// CheckDims verifies the dimensions of a matrix.
func CheckDims(op string, m, n int) error {
	switch {
	case m < 0 || m > matrix.MaxDim:
		return &matrix.SizeError{Op: op, Arg: "number of rows", Got: int64(m), Limit: matrix.MaxDim}
	case n < 0 || n > matrix.MaxDim:
		return &matrix.SizeError{Op: op, Arg: "number of columns", Got: int64(n), Limit: matrix.MaxDim}
	}
	return nil
}

// maxCells is the largest number of positions of a dense file: 2⁴⁰, more than any memory holds.
const maxCells = 1 << 40

// CheckCells checks the dimensions and that m·n positions can be addressed.
func CheckCells(op string, m, n int) error {
	if err := CheckDims(op, m, n); err != nil {
		return err
	}
	if c := int64(m) * int64(n); c > maxCells {
		return &matrix.SizeError{Op: op, Arg: fmt.Sprintf("number of positions of a dense %d×%d matrix", m, n), Got: c, Limit: maxCells}
	}
	return nil
}
