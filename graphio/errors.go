package graphio

import "github.com/hiveblas/hiveblas/graphio/internal/core"

// ErrParse is the sentinel of ParseError.
var ErrParse = core.ErrParse

// ErrBusy is the sentinel of BusyError.
var ErrBusy = core.ErrBusy

// A ParseError says what is wrong with a file that is being read, and where. Its fields:
//
//	File   string     // as given by FileName or ReadFile; "" if unknown
//	Line   int64      // from 1; 0 if it concerns no single line
//	Msg    string     // what is wrong
//	Remedy string     // how to remove the error, or ""
//	Kind   RemedyKind // the same, for programs
//	Err    error      // the cause, such as a *matrix.DuplicateError or an error of gzip, or nil
//
// It is an ErrParse, and Unwrap returns the cause.
type ParseError = core.ParseError

// An OptionError says that an option of a reader or a writer is out of range, contradicts another,
// or does not suit the matrix. It is a [matrix.ErrInvalid]. Its fields:
//
//	Op     string // function, such as "graphio.WriteMatrixMarket"
//	Option string // such as "AsSymmetric"
//	Reason string
//	Kind   RemedyKind
type OptionError = core.OptionError

// A Warning says that a file can be read but looks as if it should be read otherwise; see [Warn].
// String returns it on one line. Its fields:
//
//	File   string // as given by FileName or ReadFile; "" if unknown
//	Msg    string
//	Remedy string     // what to do if the file should be read otherwise
//	Kind   RemedyKind // the same, for programs
type Warning = core.Warning

// A BusyError reports that another job writes a file in blocks. Its owner is a process, of this
// program or another, that has not ended: the lock of one that crashed is free. It is an ErrBusy.
// Its fields:
//
//	Path  string    // as given to CreateBlocks
//	PID   int       // of the owner; 0 if unknown
//	Host  string    // of the owner; "" if unknown
//	Since time.Time // when the owner began; zero if unknown
type BusyError = core.BusyError

// A RemedyKind names what removes an error or a warning of a reader or a writer, so that a program
// can offer it in its own terms: a command line names its flags. It is an unsigned integer; String
// returns the remedy in terms of the options of this package.
type RemedyKind = core.RemedyKind

// The kinds of remedies, with the option that each stands for.
const (
	RemedyText         RemedyKind = core.RemedyText         // none but the text of Remedy
	RemedyDuplicates   RemedyKind = core.RemedyDuplicates   // combine repeated entries: Duplicates
	RemedyHeader       RemedyKind = core.RemedyHeader       // the first line holds column names: Header(HeaderYes)
	RemedyEitherHeader RemedyKind = core.RemedyEitherHeader // the first line is a header or an edge: Header
	RemedyRenumber     RemedyKind = core.RemedyRenumber     // number the ids that occur: RenumberIDs
	RemedyBase         RemedyKind = core.RemedyBase         // ids count from 1: Base(1), or RenumberIDs
	RemedyBaseZero     RemedyKind = core.RemedyBaseZero     // ids count from 0: Base(0)
	RemedyColumns      RemedyKind = core.RemedyColumns      // choose other columns: SourceColumn, TargetColumn, WeightColumn
	RemedyWeightColumn RemedyKind = core.RemedyWeightColumn // choose the column of the values: WeightColumn
	RemedyDelimiter    RemedyKind = core.RemedyDelimiter    // name the delimiter: Delimiter
	RemedyQuotes       RemedyKind = core.RemedyQuotes       // double the quotation marks in the file
	RemedyAllowNaN     RemedyKind = core.RemedyAllowNaN     // accept NaN and infinities: AllowNaN
	RemedyWider        RemedyKind = core.RemedyWider        // read into an integer type of more bits
	RemedyFloat        RemedyKind = core.RemedyFloat        // read into float64
	RemedyExact        RemedyKind = core.RemedyExact        // read into int64 or uint64
	RemedySigned       RemedyKind = core.RemedySigned       // read into a signed type
	RemedyPattern      RemedyKind = core.RemedyPattern      // ignore values: PatternOnly
	RemedyFinite       RemedyKind = core.RemedyFinite       // the value is beyond every type: correct the file
	RemedyNoSymmetrise RemedyKind = core.RemedyNoSymmetrise // leave Symmetrise out
	RemedySymmetrise   RemedyKind = core.RemedySymmetrise   // read with Symmetrise
	RemedyNoSymmetric  RemedyKind = core.RemedyNoSymmetric  // leave AsSymmetric out
	RemedyFormat       RemedyKind = core.RemedyFormat       // name the format: InFormat
	RemedyNames        RemedyKind = core.RemedyNames        // give the names in a file of their own: ReadLabels
	RemedyNamesBeside  RemedyKind = core.RemedyNamesBeside  // name the file, so that names can be beside it: NamesBeside
	RemedyLists        RemedyKind = core.RemedyLists        // use .tsv, .csv, .mtx or .hgb
	RemedyLeaveValues  RemedyKind = core.RemedyLeaveValues  // write without values: AsPattern
	RemedyComment      RemedyKind = core.RemedyComment      // name the characters that begin comments: CommentChars
	RemedyBlanks       RemedyKind = core.RemedyBlanks       // separate fields at blanks and tabs alike: Delimiter(' ')
	RemedyDecimal      RemedyKind = core.RemedyDecimal      // numbers have a decimal comma: Decimal(',')
	RemedyFirstValue   RemedyKind = core.RemedyFirstValue   // choose the column of the values, or Header(HeaderYes)
)
