// Command hiveblas-bench measures hiveblas beside other libraries, and what connects the devices
// and processes of a machine.
//
//	hiveblas-bench cpu --only triangles,SpMV --rounds 5 --no-peers
//	hiveblas-bench comm --json machine.json
//
// Run it without arguments for the list of commands.
package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	_ "github.com/hiveblas/hiveblas/apps/sage/openblas"
	"github.com/hiveblas/hiveblas/internal/cli"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run executes a command line and returns the exit code.
func run(args []string, stdout, stderr io.Writer) int {
	s := &cli.Session{}
	return s.Run(args, stdout, stderr, func() *cobra.Command { return rootCommand(s) })
}

func rootCommand(s *cli.Session) *cobra.Command {
	root := &cobra.Command{
		Use:   "hiveblas-bench",
		Short: "Measure hiveblas beside other libraries",
		Long: `hiveblas-bench measures hiveblas beside other libraries on this machine, and by comm what
connects its devices and processes.

make bench-peers builds the peers of cpu; the peer of gpu is cuSPARSE. Missing peers
are omitted. Exit codes: 0 done, 1 failed, 2 bad usage, 130 interrupted.`,
	}
	root.AddCommand(cpuCommand(s), coresCommand(s), gpuCommand(s), sgmCommand(s), idiomsCommand(s), spaceCommand(s),
		programsCommand(s), reportCommand(s), commCommand(s), firstUseCommand(s), projectCommand(s), rankCommand(s))
	return s.Root(root, nil)
}
