package main

import (
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/internal/cli/clitest"
)

// testdata/flags.txt lists the flags of each command.
func TestFlagsOfCommands(t *testing.T) {
	clitest.Flags(t, rootCommand(&job.Session{Machine: testMachine}))
}

// A name that no vertex has suggests one.
func TestNearNames(t *testing.T) {
	t.Parallel()
	g := write(t, "g.tsv", "Valjean Javert\nJavert Gavroche\nMme-Thenardier Gavroche\n")
	for name, want := range map[string]string{
		"valjean":    `there is no vertex "valjean", did you mean "Valjean"?`,
		"Jabert":     `did you mean "Javert"?`,
		"thenardier": `did you mean "Mme-Thenardier"?`,
		"Cosette":    `there is no vertex "Cosette"; give a name`,
	} {
		if r := hiveblas(t, "bfs", g, "--ids", "renumber", "--source", name); r.code != 1 || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: %+v, want %q", name, r, want)
		}
	}
}
