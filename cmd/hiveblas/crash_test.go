package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/race"
)

// limited runs the program with an address space of limitKB.
func limited(t *testing.T, stdin io.Reader, args ...string) result {
	t.Helper()
	cmd := exec.Command("sh", append([]string{"-c", fmt.Sprintf(`ulimit -v %d; exec "$0" "$@"`, limitKB), binary}, args...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &stdout, &stderr
	cmd.Env = append(os.Environ(), "GOMAXPROCS=2")
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// A process that runs out of memory prints one line, wherever it computes and whatever it does.
func TestOutOfMemoryIsOneLine(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("ulimit -v limits memory on Linux")
	}
	if race.Enabled {
		t.Skip("the race detector needs more address space than the limit")
	}
	if os.Getenv("GOTRACEBACK") != "" {
		t.Skip("GOTRACEBACK lets panics go on")
	}
	dumps := 0 // of the runtime; a check before an allocation is an error of its own
	few, dir := write(t, "few.tsv", "0\t300000000\n17\t5\n"), t.TempDir()
	for _, c := range []struct{ reason, args string }{
		{"the host", "pagerank " + few},
		{"ranks", "pagerank --device ranks:2 " + few},
		{"a generated graph", "cc generate:uniform,vertices=1000000,edges=200000000"},
		{"a generated graph of ranks", "cc --device ranks:2 generate:uniform,vertices=1000000,edges=200000000"},
		{"standard input", "cc --format tsv --ids renumber -"},
		{"a command without --memory", "generate uniform --vertices 1000000 --edges 200000000 -o " + filepath.Join(dir, "g.hgb")},
	} {
		var stdin io.Reader
		if strings.HasSuffix(c.args, " -") {
			stdin = &endlessList{}
		}
		args := strings.Fields(c.args)
		if args[0] != "generate" {
			args = append(args, "--memory", "100GB") // overrules the estimate
		}
		res := limited(t, stdin, args...)
		lines := slices.DeleteFunc(strings.SplitAfter(res.stderr, "\n"), func(line string) bool {
			return line == "" || strings.HasPrefix(line, "hiveblas: warning: ")
		})
		if res.code == 0 || len(lines) != 1 || !strings.HasPrefix(lines[0], "hiveblas: ") || !strings.Contains(lines[0], "memory") && !strings.Contains(lines[0], "number of bytes") {
			t.Errorf("%s: exit %d, %q, want one line about memory", c.reason, res.code, res.stderr)
		}
		if strings.Contains(res.stderr, "hiveblas: out of memory: ") {
			dumps++
		}
	}
	if dumps == 0 {
		t.Error("no process ended by the runtime: the test shows nothing")
	}
	if left := files(t, dir); len(left) > 0 {
		t.Errorf("left %v", left)
	}
	if res := limited(t, nil, "cc", karate); res.code != 0 || res.stderr != "" {
		t.Errorf("a small graph: exit %d, %q", res.code, res.stderr)
	}
}

// limitKB is the address space of the processes that run out of it, in KB. Below 1.5 GB the test
// binary starts no further thread.
const limitKB = 2 << 20

// endlessList is an edge list of new vertices without an end.
type endlessList struct{ next int }

func (e *endlessList) Read(p []byte) (int, error) {
	n := 0
	for n+48 <= len(p) {
		n += copy(p[n:], fmt.Sprintf("v%d\tw%d\n", e.next, e.next+1))
		e.next += 2
	}
	return n, nil
}
