package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// watching marks the process that reads what the runtime prints at its end.
const watching = "HIVEBLAS_WATCHES_ITS_PARENT"

// reportBug is the remedy of what must not happen.
const reportBug = "this is a bug of hiveblas: please report it with the command line and hiveblas --version; GOTRACEBACK=single hiveblas … prints where it happened"

// recovered makes a panic of a command an error. It is deferred; err is the error of the command.
// With GOTRACEBACK in the environment the panic goes on.
func recovered(err *error) {
	if os.Getenv("GOTRACEBACK") != "" {
		return
	}
	if p := recover(); p != nil {
		*err = &failure{"", fmt.Sprintf("internal error: %v%s", p, panicPlace()), reportBug, nil}
	}
}

// panicPlace returns where the panic that is being recovered began, in this module.
func panicPlace() string {
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers)])
	for {
		f, more := frames.Next()
		if strings.Contains(f.Function, "hiveblas/") && !strings.HasSuffix(f.Function, "main.recovered") {
			return fmt.Sprintf(" at %s:%d", filepath.Base(f.File), f.Line)
		}
		if !more {
			return ""
		}
	}
}

// watch copies what a process prints on standard error. From the first line of the runtime about
// its end on, it prints one line in place of the rest.
func watch(in io.Reader, out io.Writer) {
	lines := bufio.NewReader(in)
	cause, memory := "", false
	for {
		text, err := lines.ReadString('\n')
		line := strings.TrimSpace(text)
		memory = memory || strings.Contains(line, "out of memory") || strings.Contains(line, "cannot allocate memory")
		switch {
		case cause != "":
		case endsProcess(line):
			cause = line
		default:
			_, _ = io.WriteString(out, text)
		}
		if err != nil {
			break
		}
	}
	switch {
	case memory && cause != "":
		fmt.Fprintln(out, "hiveblas: out of memory: the command needs more than there is; use a machine with more memory, fewer --threads, or a smaller graph")
	case cause != "":
		fmt.Fprintf(out, "hiveblas: internal error: %s; %s\n", cause, reportBug)
	}
}

// endsProcess reports whether a line is the first that the runtime prints at the end of a process.
func endsProcess(line string) bool {
	for _, begin := range []string{"fatal error: ", "panic: ", "runtime: ", "runtime/cgo: ", "unexpected fault address", "SIG"} {
		if strings.HasPrefix(line, begin) {
			return true
		}
	}
	return false
}
