package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
)

// asProgram is the environment variable that turns the test binary into the program. Compiling and
// linking the program a second time would take longer than most tests.
const asProgram = "HIVEBLAS_TEST_AS_PROGRAM"

// binary is the path of the test binary, which children run as the program.
var binary string

// joinedIn names the folder in which the processes of a test say that they have joined their group.
const joinedIn = "HIVEBLAS_TEST_JOINED"

// writeAtOnce writes a number to a file that appears complete.
func writeAtOnce(path string, n int) {
	if err := os.WriteFile(path+".part", []byte(strconv.Itoa(n)), 0o644); err == nil {
		_ = os.Rename(path+".part", path)
	}
}

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		if dir := os.Getenv(joinedIn); dir != "" {
			testMachine.Joined = func(rank int) { writeAtOnce(filepath.Join(dir, fmt.Sprint("joined.", rank)), os.Getpid()) }
		}
		launch(testMachine)
		os.Exit(0) // of the process that watches its parent: launch returns
	}
	os.Exit(runTests(m))
}

// runTests runs the tests, with children that are the program and a folder of their own for Open
// MPI, which fails to share one with a run that ends.
func runTests(m *testing.M) int {
	session, err := os.MkdirTemp("", "ompi")
	if err == nil {
		defer os.RemoveAll(session)
		err = os.Setenv("OMPI_MCA_orte_tmpdir_base", session)
	}
	if err == nil {
		binary, err = os.Executable()
	}
	if err == nil {
		err = os.Setenv(asProgram, "1") // for the children
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// testMachine is the machine of the commands in this process.
var testMachine = job.ThisMachine()

// run runs a command line in this process.
func run(args []string, stdout, stderr io.Writer) int {
	return runOn(testMachine, args, stdout, stderr)
}

// result is the outcome of a run of the program.
type result struct {
	code           int
	stdout, stderr string
}

// process runs the program with arguments in a process of its own.
func process(t *testing.T, args ...string) result {
	t.Helper()
	return processWith(t, nil, args...)
}

// processWith is process with standard input.
func processWith(t *testing.T, stdin io.Reader, args ...string) result {
	t.Helper()
	cmd := exec.Command(binary, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// inProcess orders the command lines that run in this process: they set the number of threads and
// the limit of memory of the process.
var inProcess sync.Mutex

// inside runs a command line in this process and restores the settings of the process.
func inside(args ...string) result {
	inProcess.Lock()
	defer inProcess.Unlock()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	var stdout, stderr strings.Builder
	code := run(args, &stdout, &stderr)
	return result{code, stdout.String(), stderr.String()}
}

// hiveblas runs the program with arguments: in this process in the quick form of the tests, because
// the start of a process takes 50 to 180 ms, and in a process of its own in the long form. Tests of
// what belongs to a process, such as its environment at the start, call process.
func hiveblas(t *testing.T, args ...string) result {
	t.Helper()
	if longtest.Enabled() {
		return process(t, args...)
	}
	return inside(args...)
}

// succeed runs the program, which must succeed without output on stderr.
func succeed(t *testing.T, args ...string) string {
	t.Helper()
	r := hiveblas(t, args...)
	if r.code != 0 || manyThreads.ReplaceAllString(r.stderr, "") != "" {
		t.Fatalf("hiveblas %s: exit %d, stderr %q", strings.Join(args, " "), r.code, r.stderr)
	}
	return r.stdout
}

// manyThreads is the warning of more threads than processors: the tests run on machines with few.
var manyThreads = regexp.MustCompile(`hiveblas: warning: --threads \d+ is more than the \d+ processors? of this process; the threads take turns\n`)

// report runs the program with --json and returns the object it printed.
func report(t *testing.T, args ...string) map[string]any {
	t.Helper()
	return object1(t, succeed(t, append(args, "--json")...))
}

// object1 parses text, which must be one JSON object on one line.
func object1(t *testing.T, text string) map[string]any {
	t.Helper()
	if strings.Count(text, "\n") != 1 || !strings.HasSuffix(text, "\n") {
		t.Fatalf("want one line, got %q", text)
	}
	var o map[string]any
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatalf("%v in %q", err, text)
	}
	return o
}

// write writes text to a file of a temporary directory.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	sure.Do(os.WriteFile(path, []byte(text), 0o666))
	return path
}

func contents(t *testing.T, path string) string {
	t.Helper()
	b := sure.Get(os.ReadFile(path))
	return string(b)
}

// files lists a directory.
func files(t *testing.T, dir string) []string {
	t.Helper()
	list := sure.Get(os.ReadDir(dir))
	var names []string
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

const (
	karate     = "../../testdata/karate.mtx"
	chesapeake = "../../testdata/chesapeake.mtx"

	// roads is directed and weighted, with an edge of weight 0 and a detour.
	roads = `%%MatrixMarket matrix coordinate real general
6 6 7
1 2 0.5
2 3 1.5
1 3 4
3 4 0
4 1 2
2 5 10
6 1 1
`
	// visits is 2 people × 3 places.
	visits = `%%MatrixMarket matrix coordinate integer general
2 3 4
1 1 1
1 2 2
2 2 3
2 3 4
`
)
