// Package clitest has tests that every program on package cli runs.
package clitest

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Updating reports whether -update is given.
func Updating() bool { return *update }

// Flags compares the flags of each command of a program with testdata/flags.txt, so that a new flag
// is given to the commands that read it and to no others. -update writes the file.
func Flags(t *testing.T, root *cobra.Command) {
	t.Helper()
	var lines []string
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		if c.Runnable() && c.HasParent() {
			var names []string
			c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
			slices.Sort(names)
			lines = append(lines, strings.TrimPrefix(c.CommandPath(), root.Name()+" ")+": "+strings.Join(names, " "))
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(root)
	got := strings.Join(lines, "\n") + "\n"
	golden := filepath.Join("testdata", "flags.txt")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	before := strings.Split(string(want), "\n")
	for k, line := range strings.Split(got, "\n") {
		if k >= len(before) || line != before[k] {
			t.Fatalf("%s\nis not in %s; if the command reads these flags, run the test with -update", line, golden)
		}
	}
	if len(before) != len(lines)+1 {
		t.Errorf("%s has %d lines, want %d", golden, len(before)-1, len(lines))
	}
}
