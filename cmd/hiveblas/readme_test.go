package main

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/cli/clitest"
	"github.com/hiveblas/hiveblas/internal/sure"
)

// measured matches the parts of an output that differ between runs and machines.
var measured = regexp.MustCompile(`\d+\.\d{3}|\d+ threads?|"threads":\d+|:\d+\.\d+(e-\d+)?`)

// TestCommands runs the commands of the README in order and compares their output with the page.
// Times and the number of threads are masked.
func TestCommands(t *testing.T) {
	dir := t.TempDir()
	files, err := filepath.Abs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(files, filepath.Join(dir, "testdata")); err != nil {
		t.Skip(err)
	}
	page := sure.Get(os.ReadFile("../../README.md"))
	ran := 0
	for _, c := range commands(string(page)) {
		if c.args[0] != "hiveblas" {
			continue
		}
		ran++
		cmd := exec.Command(binary, c.args[1:]...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "CUDA_VISIBLE_DEVICES=")
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("README.md:%d: %v: %v", c.line, c.args, err)
		}
		got, want := measured.ReplaceAllString(string(out), "N"), measured.ReplaceAllString(c.output, "N")
		if got != want {
			t.Errorf("README.md:%d: %v prints\n%s\nthe page shows\n%s", c.line, c.args, out, c.output)
		}
	}
	if ran == 0 {
		t.Error("no command")
	}
}

// row matches a row of the README's table of commands.
var row = regexp.MustCompile("(?m)^\\| `hiveblas ((\\w+) [^`]*)`")

// TestTableOfCommands runs the commands of the README's table on the inputs of testdata and
// compares the files that they write with the files beside the inputs.
func TestTableOfCommands(t *testing.T) {
	page := sure.Get(os.ReadFile("../../README.md"))
	var ran []string
	for _, m := range row.FindAllSubmatch(page, -1) {
		name := string(m[2])
		ran = append(ran, name)
		beside := sure.Get(filepath.Glob("../../testdata/" + name + "/expected.*"))
		if len(beside) != 1 {
			t.Errorf("testdata/%s has %d files expected.*, want 1", name, len(beside))
			continue
		}
		out := filepath.Join(t.TempDir(), filepath.Base(beside[0]))
		args := strings.Fields(strings.ReplaceAll(string(m[1]), "testdata/", "../../testdata/"))
		succeed(t, append(args, "-o", out)...)
		if clitest.Updating() {
			sure.Do(os.WriteFile(beside[0], []byte(contents(t, out)), 0o666))
		}
		if fault := unlike(contents(t, out), contents(t, beside[0])); fault != "" {
			t.Errorf("hiveblas %s: %s", m[1], fault)
		}
	}
	slices.Sort(ran)
	if want := strings.Fields("ac geo lasso lgc louvain project sage scan search sgm vn"); !slices.Equal(ran, want) {
		t.Errorf("the table has the commands %v, want %v", ran, want)
	}
}

// unlike says where two texts differ; numbers may differ by rounding.
func unlike(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	if len(a) != len(b) {
		return fmt.Sprintf("%d lines, want %d", len(a), len(b))
	}
	separator := func(r rune) bool { return r == ',' || r == '\t' || r == ' ' }
	for k := range a {
		f, g := strings.FieldsFunc(a[k], separator), strings.FieldsFunc(b[k], separator)
		same := slices.EqualFunc(f, g, func(x, y string) bool {
			u, err := strconv.ParseFloat(x, 64)
			v, err2 := strconv.ParseFloat(y, 64)
			return x == y || err == nil && err2 == nil && math.Abs(u-v) <= 1e-5*max(math.Abs(v), 1e-3)
		})
		if !same {
			return fmt.Sprintf("line %d is %q, want %q", k+1, a[k], b[k])
		}
	}
	return ""
}

// command is a command line of a page and the output that the page shows.
type command struct {
	line   int
	args   []string
	output string
}

// commands returns the command lines of a page: the lines that begin with "$ ". The output of a
// command ends at the next command or fence. TestFences of the module checks that all command lines
// are inside fences.
func commands(page string) (list []command) {
	open := false // whether the lines are the output of a command
	for k, line := range strings.Split(page, "\n") {
		rest, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case isCommand:
			list = append(list, command{line: k + 1, args: strings.Fields(rest)})
			open = true
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			open = false
		case open:
			list[len(list)-1].output += line + "\n"
		}
	}
	return list
}
