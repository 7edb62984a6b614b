package program

import (
	"io"

	"github.com/hiveblas/hiveblas/program/internal/text"
)

// File is a program written as text alone, in CUDA C, as `hiveblas run` reads it: a line for each
// part,
//
//	# shortest paths
//	state      float32
//	edge       float32
//	message    float32
//	init       INFINITY
//	seed       0 0.0f
//	gather     src + weight
//	sum        min
//	apply      active = sum < state; if (active) state = sum;
//	idempotent
//
// in any order; # begins a comment, and a line that begins with a blank continues the one before.
// [InitFunc], [SendFunc], [GatherFunc], [ApplyFunc] and [SkipFunc] list the names that each text
// sees. Types are bool, int8 … int64, uint8 … uint64, float32 and float64 (also int, float and
// double), and structs of them of up to 64 bytes:
//
//	state { float32 rank; int32 degree }
//
// The texts use their fields, as in state.rank. An expression of such a type may be its fields in
// braces, {0.5f, degree}, those left out being 0. Without "edge" the graph is a pattern; an edge
// with fields needs a matrix of such values (see [RunFile]). "sum" names plus, times, min, max or
// any, or is an expression in x and y with the identity in "identity"; any is the only named sum of
// a struct. "if" is the condition of a gather. All vertices begin active unless there are seeds.
//
// A line "phase NAME" begins a phase (see [Phase]), to which the parts after it belong: send,
// gather, if, sum, identity, apply, skip and everywhere, a message of its own type, reverse and
// all. The other parts stand before the first phase.
//
// A device compiles the texts as they are. The host and groups of its ranks take what
// docs/programs.md lists: expressions and statements of C over numbers, bools and structs, and the
// functions of CUDA's math library.
type File struct {
	Name                 string // of the file, for messages
	State, Edge, Message string
	Init                 string
	Seeds                []FileSeed
	Send, Gather, If     string
	Sum, Identity        string
	Apply, Skip          string
	Everywhere           bool
	Idempotent           bool
	Supersteps           int
	Phases               []FilePhase
}

// FileSeed is a seed of a [File]: a vertex, and its state as a CUDA expression.
type FileSeed = text.FileSeed

// FilePhase is a phase of a [File]; see [Phase]. Message is "" for the message of the file.
type FilePhase = text.FilePhase

// A FileError says what is wrong with a line of a program file, or with one of its texts. Line is 0
// for the whole file and for texts.
type FileError = text.FileError

// text returns the file as package text knows it.
func (f *File) text() *text.File { return (*text.File)(f) }

// ReadFile reads a program file. Messages use name. ReadFile returns a *FileError if the text is
// wrong, and the error of r if reading fails.
func ReadFile(r io.Reader, name string) (*File, error) {
	f, err := text.Read(r, name)
	return (*File)(f), err
}

// String returns the program as ReadFile reads it.
func (f *File) String() string { return f.text().String() }
