package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/comm"
)

// The exit codes.
const (
	ExitFailure     = 1
	ExitUsage       = 2
	ExitInterrupted = 130
)

// ErrInterrupted is the cause of a session that a signal ended.
var ErrInterrupted = errors.New("interrupted")

// UsageError is a mistake in the command line.
type UsageError struct {
	Command string // a command with a --help that helps; "" for none
	Msg     string
}

// Usage returns the error of a mistake in the command line of a command.
func Usage(command, msg string) *UsageError { return &UsageError{Command: command, Msg: msg} }

func (e *UsageError) Error() string {
	if e.Command == "" {
		return e.Msg
	}
	return fmt.Sprintf("%s; see %q", e.Msg, e.Command+" --help")
}

// Failure is an error with its place and its remedy.
type Failure struct {
	Place, What, Remedy string
	Err                 error // cause, or nil
}

// Fail returns an error with its place and its remedy; either may be "". err is its cause, or nil.
func Fail(place, what, remedy string, err error) *Failure {
	return &Failure{Place: place, What: what, Remedy: remedy, Err: err}
}

func (e *Failure) Error() string {
	s := e.What
	if e.Place != "" {
		s = e.Place + ": " + s
	}
	if e.Remedy != "" {
		s += "; " + e.Remedy
	}
	return s
}

// Unwrap returns the cause.
func (e *Failure) Unwrap() error { return e.Err }

// exit reports err on one line and returns the exit code.
func (s *Session) exit(program string, err error) int {
	if err == nil {
		return 0
	}
	var rank *comm.RankError // a command that ends ends its group too
	if s.Ctx.Err() != nil && (errors.Is(err, s.Ctx.Err()) || errors.As(err, &rank)) {
		err = context.Cause(s.Ctx)
	}
	text := strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), " ")
	fmt.Fprintf(s.Stderr, "%s: %s\n", program, text)
	var usage *UsageError
	switch {
	case errors.Is(err, ErrInterrupted):
		return ExitInterrupted
	case errors.As(err, &usage):
		return ExitUsage
	}
	return ExitFailure
}

// ExplainPath returns the error of a path with its remedy, or any other error with the name of the
// file. It returns nil for nil.
func ExplainPath(file string, err error) error {
	var path *fs.PathError
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.As(err, &path):
		return Fail(path.Path, path.Err.Error(), PathRemedy(path), err)
	}
	return Fail(file, err.Error(), "", err)
}

// PathRemedy returns what helps against an error of a path, "" if that is not known.
func PathRemedy(e *fs.PathError) string {
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

// ReportBug is the remedy of what must not happen.
const ReportBug = "this is a bug of hiveblas: please report it with the command line and hiveblas --version; GOTRACEBACK=single hiveblas … prints where it happened"

// Recovered makes a panic of a command an error. It is deferred; err is the error of the command.
// With GOTRACEBACK in the environment the panic goes on.
func Recovered(err *error) {
	if os.Getenv("GOTRACEBACK") != "" {
		return
	}
	if p := recover(); p != nil {
		*err = Fail("", fmt.Sprintf("internal error: %v%s", p, panicPlace()), ReportBug, nil)
	}
}

// panicPlace returns where the panic that is being recovered began, in this module.
func panicPlace() string {
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers)])
	for {
		f, more := frames.Next()
		if strings.Contains(f.Function, "hiveblas/") && !strings.HasSuffix(f.Function, "cli.Recovered") {
			return fmt.Sprintf(" at %s:%d", filepath.Base(f.File), f.Line)
		}
		if !more {
			return ""
		}
	}
}

// Moved is the command of a name that another program has now: it prints, as an error of usage, the
// command line to run instead and how to get the program. now is the new command line without its
// arguments.
func Moved(name, program, now string) *cobra.Command {
	return &cobra.Command{
		Use:                name,
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			return Usage("", fmt.Sprintf("%s is a command of its own: %s; go install github.com/hiveblas/hiveblas/cmd/%s@latest installs it, or in the source run go run ./cmd/%s",
				cmd.CommandPath(), strings.Join(append([]string{now}, args...), " "), program, program))
		},
	}
}
