package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

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
	if ran < 3 {
		t.Errorf("%d commands", ran)
	}
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
