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
	"time"

	"github.com/hiveblas/hiveblas/internal/race"
)

// What the runtime prints at the end of a process becomes one line; other text passes.
func TestWatch(t *testing.T) {
	dump := "\ngoroutine 1 [running]:\nmain.main()\n\t/x/y.go:2 +0x50\n"
	for _, c := range []struct{ reason, in, want string }{
		{"nothing", "", ""},
		{"other text", "a library says\nsomething", "a library says\nsomething"},
		{"out of memory", "runtime: out of memory: cannot allocate 1073741824-byte block (1077673984 in use)\nfatal error: out of memory\n" + dump,
			"hiveblas: out of memory: "},
		{"threads", "runtime: failed to create new OS thread (have 2 already; errno=11)\nfatal error: newosproc: cannot allocate memory\n" + dump, "hiveblas: out of memory: "},
		{"threads by their limit", "runtime: failed to create new OS thread (have 9 already; errno=11)\nruntime: may need to increase max user processes (ulimit -u)\nfatal error: newosproc\n" + dump,
			"hiveblas: no further thread starts; raise the limits of memory and of processes (ulimit -v and -u"},
		{"a limit of mappings", "fatal error: runtime: cannot map pages in arena address space\n" + dump, "hiveblas: out of memory: "},
		{"Windows", "runtime: VirtualAlloc of 8192 bytes failed with errno=1455\nfatal error: out of memory\n" + dump, "hiveblas: out of memory: "},
		{"an exception of Windows", "Exception 0xc0000005 0x0 0x0 0x1\nPC=0x1\n" + dump, "hiveblas: internal error: Exception 0xc0000005 0x0 0x0 0x1; this is a bug"},
		{"text before a panic", "first\npanic: index out of range [3]\n" + dump, "first\nhiveblas: internal error: panic: index out of range [3]; this is a bug of hiveblas: please report it"},
		{"a signal", "SIGSEGV: segmentation violation\nPC=0x1\n" + dump, "hiveblas: internal error: SIGSEGV: segmentation violation; this is a bug"},
	} {
		var out strings.Builder
		relay(strings.NewReader(c.in), &out)
		got := out.String()
		if !strings.HasPrefix(got, c.want) || strings.Contains(got, "goroutine") || c.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", c.reason, got, c.want)
		}
		if strings.Contains(c.want, "hiveblas: ") && strings.Count(got, "\n") != strings.Count(c.want, "\n")+1 {
			t.Errorf("%s: %q is more than a line", c.reason, got)
		}
	}
}

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

// TestWatchBegins: the end of a process is watched at once if there is little memory, later
// otherwise.
func TestWatchBegins(t *testing.T) {
	// os.Stderr itself is not redirected, so that no process starts.
	var little, enough, unknown watch
	if little.startLater(os.Stderr, littleRoom-1); !little.started.Load() {
		t.Error("with little memory the end is not watched at once")
	}
	if stop := enough.startLater(os.Stderr, littleRoom); !stop() || enough.started.Load() {
		t.Error("with enough memory the end is watched at once")
	}
	unknown.startLater(os.Stderr, 0)
	for began := time.Now(); !unknown.started.Load(); time.Sleep(time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatal("the end is never watched")
		}
	}
}
