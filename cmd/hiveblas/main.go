// Command hiveblas runs graph workflows, written as sparse linear algebra, on
// matrix files: one command line, a result file, a summary.
//
//	hiveblas project ratings.mtx.gz --onto rows -o similar.tsv
//	hiveblas vn graph.mtx --seeds 0,3,5 -o distances.tsv
//
// Run it without arguments for the list of commands.
package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	_ "github.com/hiveblas/hiveblas/apps/sage/openblas"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/crash"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/internal/hostmem"
)

func main() { launch(job.ThisMachine()) }

// launch runs the command line of this process.
func launch(m *job.Machine) {
	if os.Getenv(crash.Watching) != "" {
		crash.WatchParent()
		return
	}
	os.Exit(runOn(m, os.Args[1:], os.Stdout, crash.OwnStderr()))
}

// runOn executes a command line on a machine and returns the exit code.
func runOn(m *job.Machine, args []string, stdout, stderr io.Writer) int {
	s := &job.Session{Machine: m}
	s.Stderr = stderr
	room, _ := hostmem.Room()
	defer s.Watch.StartLater(stderr, room)()
	s.Abandon = func() { s.Bar.Load().Abandon() }
	return s.Run(args, stdout, stderr, func() *cobra.Command { return rootCommand(s) })
}
