// Package crash makes one line of what the runtime prints at the end of a process, such as one that
// is out of memory: another process reads it.
package crash

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hiveblas/hiveblas/internal/cli"
)

// Watching marks the process that reads what the runtime prints at its end.
const Watching = "HIVEBLAS_WATCHES_ITS_PARENT"

// The end of a process is watched at once if its estimate of memory is larger than WatchFrom or the
// system leaves it less than littleRoom, else once it has run for watchAfter: the start of the
// process that watches makes a command of a small graph half as long again, on two cores.
const (
	WatchFrom  = 64 << 20
	littleRoom = 1 << 30
	watchAfter = 100 * time.Millisecond
)

// Watch has the end of the process watched by another, so that running out of memory is one line.
type Watch struct{ Started atomic.Bool }

// Start starts the process that watches. Only the first call has an effect. It does nothing if
// messages do not go to a file, as in tests.
func (w *Watch) Start(stderr io.Writer) {
	if own, ok := stderr.(*os.File); ok && w.Started.CompareAndSwap(false, true) {
		startWatch(own)
	}
}

// StartLater calls start after watchAfter, or at once if there is little memory. stop ends the
// wait.
func (w *Watch) StartLater(stderr io.Writer, room int64) (stop func() bool) {
	if room > 0 && room < littleRoom {
		w.Start(stderr)
		return func() bool { return false }
	}
	return time.AfterFunc(watchAfter, func() { w.Start(stderr) }).Stop
}

// startWatch starts a process that reads what the runtime prints at the end of this one. It does
// nothing if that fails, or if the environment has GOTRACEBACK. OwnStderr returns stderr.
func startWatch(stderr *os.File) {
	program, err := os.Executable()
	if err != nil || os.Getenv("GOTRACEBACK") != "" || stderr == os.Stderr {
		return
	}
	r, w, err := os.Pipe()
	if err != nil {
		return
	}
	defer r.Close()
	defer w.Close() // the runtime keeps the file
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), Watching+"=1")
	cmd.Stdin, cmd.Stderr = r, stderr
	if cmd.Start() != nil {
		return
	}
	go func() { _ = cmd.Wait() }()
	_ = redirectRuntime(w) // if it fails, w is closed and the process ends
}

// WatchParent is the process that startWatch starts. It ends with its parent: signals that end a
// group of processes have no effect. (An ignored signal ends a process on Windows.)
func WatchParent() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	relay(os.Stdin, os.Stderr)
}

// relay copies what a process prints on standard error. From the first line of the runtime about
// its end on, it prints one line in place of the rest.
func relay(in io.Reader, out io.Writer) {
	lines := bufio.NewReader(in)
	cause, memory, thread := "", false, false
	for {
		text, err := lines.ReadString('\n')
		line := strings.TrimSpace(text)
		memory = memory || containsAny(line, "out of memory", "cannot allocate memory", "map pages in", "exceeds address space limit")
		thread = thread || containsAny(line, "create new OS thread", "pthread_create failed")
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
	case cause == "":
	case memory:
		fmt.Fprintln(out, "hiveblas: out of memory: the command needs more than there is; use a machine with more memory, fewer --threads, or a smaller graph")
	case thread:
		fmt.Fprintln(out, "hiveblas: no further thread starts; raise the limits of memory and of processes (ulimit -v and -u, the control group), or use fewer --threads")
	default:
		fmt.Fprintf(out, "hiveblas: internal error: %s; %s\n", cause, cli.ReportBug)
	}
}

// containsAny reports whether a line contains one of the texts.
func containsAny(line string, texts ...string) bool {
	return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(line, text) })
}

// endsProcess reports whether a line is the first that the runtime prints at the end of a process.
func endsProcess(line string) bool {
	for _, begin := range []string{"fatal error: ", "panic: ", "runtime: ", "runtime/cgo: ", "unexpected fault address", "SIG", "Exception 0x"} {
		if strings.HasPrefix(line, begin) {
			return true
		}
	}
	return false
}
