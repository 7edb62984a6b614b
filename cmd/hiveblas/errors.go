package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/matrix"
)

// The exit codes.
const (
	exitFailure     = 1
	exitUsage       = 2
	exitInterrupted = 130
)

var errInterrupted = errors.New("interrupted")

// usageError is a command line that cannot be meant.
type usageError struct{ command, msg string }

func (e *usageError) Error() string {
	return fmt.Sprintf("%s; see %q", e.msg, e.command+" --help")
}

// failure is an error that says all there is to say.
type failure struct {
	place, what, remedy string
	err                 error // cause, or nil
}

func (e *failure) Error() string {
	s := e.what
	if e.place != "" {
		s = e.place + ": " + s
	}
	if e.remedy != "" {
		s += "; " + e.remedy
	}
	return s
}

func (e *failure) Unwrap() error { return e.err }

// exit reports err on one line and returns the exit code.
func (s *session) exit(err error) int {
	if err == nil {
		return 0
	}
	if s.ctx.Err() != nil && errors.Is(err, s.ctx.Err()) {
		err = context.Cause(s.ctx)
	}
	text := strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), " ")
	fmt.Fprintf(s.stderr, "hiveblas: %s\n", text)
	var usage *usageError
	switch {
	case errors.Is(err, errInterrupted):
		return exitInterrupted
	case errors.As(err, &usage):
		return exitUsage
	}
	return exitFailure
}

// explain turns an error of the library about a file into one that names the
// file, the place and what to do in terms of the command line.
func explain(file string, err error) error {
	var (
		parse  *matrix.ParseError
		path   *fs.PathError
		weight *apps.WeightError
		shape  *matrix.DimensionError
		size   *matrix.SizeError
		param  *apps.ParameterError
	)
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.As(err, &parse):
		e := *parse
		e.Remedy = inFlags.Replace(e.Remedy)
		if e.Remedy == "" {
			e.Remedy = "correct the file, or export it again"
			if strings.HasPrefix(e.Msg, "cannot symmetrise") {
				e.Remedy = "leave --undirected out"
			}
		}
		return &e
	case errors.As(err, &path):
		return &failure{path.Path, path.Err.Error(), pathRemedy(path), err}
	case errors.As(err, &weight):
		return &failure{fmt.Sprintf("%s: edge from %d to %d (vertices from 0)", file, weight.Row, weight.Col),
			"its weight is " + weight.Got + ", and distances want " + weight.Want, "correct the file, or give vn --unit to count edges", err}
	case errors.As(err, &shape):
		return &failure{file, fmt.Sprintf("%s is %s, want %s", shape.Arg, shape.Got, shape.Want), shape.Remedy, err}
	case errors.As(err, &size):
		return &failure{file, fmt.Sprintf("%s is %d, the limit is %d", size.Arg, size.Got, size.Limit), "", err}
	case errors.As(err, &param):
		return &failure{file, fmt.Sprintf("%s is %s, want %s", param.Arg, param.Got, param.Want), "", err}
	}
	return &failure{file, err.Error(), "", err}
}

func pathRemedy(e *fs.PathError) string {
	switch {
	case errors.Is(e, fs.ErrNotExist):
		return "check the path"
	case errors.Is(e, fs.ErrPermission):
		return "check the permissions"
	case errors.Is(e, syscall.EISDIR):
		return "give a file"
	case errors.Is(e, syscall.ENOSPC):
		return "free some space, or write elsewhere"
	}
	return ""
}

// inFlags turns the options of readers into the flags that set them.
var inFlags = strings.NewReplacer(
	"the option Duplicates combines them", "--duplicates sum, min, max, first or last combines them",
	"SkipLines(1) skips", "--skip-lines 1 skips",
	", StringIDs takes it for an edge", "",
	"ids are renumbered without KeepIDs", "--ids renumber numbers whatever ids there are",
	"read without KeepIDs", "--ids renumber takes any text for an id",
	"WeightColumn names the column of the value", "--weight-column names the column of the weight",
	"AllowNaN accepts it in a float matrix", "correct the file: weights are finite numbers",
	"read into int64 or uint64", "weights are float64, exact to 2^53: scale them",
)
