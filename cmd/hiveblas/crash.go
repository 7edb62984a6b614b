package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/hiveblas/hiveblas/internal/cli"
)

// watching marks the process that reads what the runtime prints at its end.
const watching = "HIVEBLAS_WATCHES_ITS_PARENT"

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
		fmt.Fprintf(out, "hiveblas: internal error: %s; %s\n", cause, cli.ReportBug)
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
