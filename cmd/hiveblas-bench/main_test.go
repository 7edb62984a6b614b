package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/internal/cli/clitest"
	"github.com/hiveblas/hiveblas/internal/sure"
)

// asProgram is the environment variable that turns the test binary into the program.
const asProgram = "HIVEBLAS_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	if err := os.Setenv(asProgram, "1"); err != nil { // for the children
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// result is the outcome of a run of the program.
type result struct {
	code           int
	stdout, stderr string
}

// process runs the program in a process of its own, for tests of what a process reads once.
func process(t *testing.T, args ...string) result {
	t.Helper()
	self := sure.Get(os.Executable())
	cmd := exec.Command(self, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// inside runs a command line in this process.
func inside(args ...string) result {
	var stdout, stderr strings.Builder
	code := run(args, &stdout, &stderr)
	return result{code, stdout.String(), stderr.String()}
}

// succeed runs the program, which must succeed without output on stderr.
func succeed(t *testing.T, args ...string) string {
	t.Helper()
	r := inside(args...)
	if r.code != 0 || r.stderr != "" {
		t.Fatalf("hiveblas-bench %s: exit %d, stderr %q", strings.Join(args, " "), r.code, r.stderr)
	}
	return r.stdout
}

// testdata/flags.txt lists the flags of each command.
func TestFlagsOfCommands(t *testing.T) { clitest.Flags(t, rootCommand(&cli.Session{})) }

func TestHelp(t *testing.T) {
	for _, c := range rootCommand(&cli.Session{}).Commands() {
		if c.Hidden || c.Name() == "help" || c.Name() == "completion" {
			continue
		}
		if c.Example == "" || c.Long == "" || !strings.Contains(succeed(t, c.Name(), "--help"), "Examples:") {
			t.Errorf("%s has no examples or no description", c.Name())
		}
	}
	if got := succeed(t, "--version"); !strings.HasPrefix(got, "hiveblas-bench ") {
		t.Error(got)
	}
}

func TestUsage(t *testing.T) {
	for args, want := range map[string]string{
		"cpu --only nonsense":   "--help lists them",
		"gpu --only nonsense":   "--help lists them",
		"cores --only nonsense": "--help lists them",
		"cpu --threads 2000":    "--threads is 2000, want 1 to 1024",
		"sgm --device gpus":     "--device is \"gpus\", want cpu, gpu or gpu:N",
		"sgm --epsilon -1":      "--epsilon is [-1], want 0 or more",
		"comm --only disks":     "--only",
		"comm --rounds 0":       "--rounds",
		"comm --target 0s":      "--target",
		"cpus":                  "did you mean cpu",
	} {
		r := inside(strings.Fields(args)...)
		if r.code != 2 || r.stdout != "" || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: %+v, want %q", args, r, want)
		}
	}
}

func TestGPUWithoutOne(t *testing.T) {
	t.Setenv("HIVEBLAS_CUDA", filepath.Join(t.TempDir(), "libcuda.so.1")) // a process reads it once
	json := filepath.Join(t.TempDir(), "gpu.json")
	for _, args := range [][]string{{"gpu", "--json", json}, {"first-use"}} {
		r := process(t, args...)
		if r.code != 1 || r.stdout != "" || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, "install the NVIDIA driver") {
			t.Errorf("%v: %+v", args, r)
		}
	}
	if _, err := os.Stat(json); err == nil {
		t.Error("a table was written")
	}
	for _, args := range [][]string{{"--only", "nothing of the kind"}, {"--rounds", "0"}, {"--budget", "0s"}, {"more"}} {
		if r := inside(append([]string{"gpu"}, args...)...); r.code != 2 || strings.Count(r.stderr, "\n") != 1 {
			t.Errorf("%v: %+v", args, r)
		}
	}
	if help := succeed(t, "gpu", "--help"); !strings.Contains(help, "spmv fp32 plain rmat22") || strings.Contains(help, "first-use") {
		t.Error(help)
	}
}

func TestSpaceFlags(t *testing.T) {
	t.Setenv("HIVEBLAS_CUDA", filepath.Join(t.TempDir(), "libcuda.so.1")) // a process reads it once
	json := filepath.Join(t.TempDir(), "space.json")
	for _, args := range [][]string{{"--quick", "--json", json}, {"--products", "mxv", "--json", json}} {
		r := process(t, append([]string{"space"}, args...)...)
		if r.code != 1 || r.stdout != "" || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, "install the NVIDIA driver") {
			t.Errorf("%v: %+v", args, r)
		}
	}
	if _, err := os.Stat(json); err == nil {
		t.Error("a table was written")
	}
	for want, args := range map[string][]string{
		"--only is \"nothing of the kind\"":        {"--only", "nothing of the kind"},
		"--programs is \"sorting\"":                {"--programs", "sorting"},
		"--only is \"planar\"":                     {"--products", "mxv", "--only", "planar"},
		"--programs has no effect with --products": {"--products", "mxv", "--programs", "bfs"},
		"--quick has no effect with --products":    {"--products", "mxv", "--quick"},
		"--shrink is 13, want 0 to 12":             {"--shrink", "13"},
		"--budget is 0s, want more than 0":         {"--budget", "0s"},
	} {
		if r := inside(append([]string{"space"}, args...)...); r.code != 2 || !strings.Contains(r.stderr, want) {
			t.Errorf("%v: %+v, want %q", args, r, want)
		}
	}
	if r := inside("space", "--plots", filepath.Join(t.TempDir(), "none")); r.code != 1 || !strings.Contains(r.stderr, "is no directory; create it first") {
		t.Errorf("%+v", r)
	}
	if help := succeed(t, "space", "--help"); !strings.Contains(help, "rmat 20 by degree") || !strings.Contains(help, "bipartite 5m") {
		t.Error(help)
	}
}
