package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/bench"
	"github.com/hiveblas/hiveblas/internal/atomicfile"
)

func benchCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure hiveblas beside other libraries",
		Long: `bench measures hiveblas beside other libraries on this machine.

Its peers are built by make bench-peers; one that is missing is left out.`,
		Args: positional(),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(benchCPUCommand(s))
	return cmd
}

func benchCPUCommand(s *session) *cobra.Command {
	var o bench.CPUOptions
	var run runFlags
	var file string
	cmd := &cobra.Command{
		Use:   "cpu",
		Short: "Measure the operations and workflows on the host",
		Long: `cpu prints a table of medians over interleaved rounds, ours beside the peers in
the same run, on the same generated graphs. The whole table takes long; --only
picks cases by name.`,
		Example: `  hiveblas bench cpu --json bench.json
  hiveblas bench cpu --only triangles,SpMV --rounds 5 --no-peers`,
		Args: positional(),
	}
	fs := cmd.Flags()
	fs.IntVar(&o.Rounds, "rounds", 15, "`rounds` to measure")
	fs.IntVar(&run.threads, "threads", 2, "`threads` of ours, and of peers that have a choice")
	fs.StringSliceVar(&o.Only, "only", nil, "only the `cases` whose name contains one of these")
	fs.BoolVar(&o.NoPeers, "no-peers", false, "measure hiveblas alone")
	fs.StringVar(&file, "json", "", "write the table to `FILE` too, as JSON")
	fs.BoolVar(&run.quiet, "quiet", false, "do not tell what is being measured")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := run.check(cmd); err != nil {
			return err
		}
		if o.Rounds < 1 {
			return &usageError{cmd.CommandPath(), fmt.Sprintf("--rounds is %d, want 1 or more", o.Rounds)}
		}
		o.Threads = run.threads
		if !run.quiet {
			o.Log = func(msg string) { fmt.Fprintln(s.stderr, msg) }
		}
		s.cleaning.Store(true) // peers are processes, and inputs files
		defer s.cleaning.Store(false)
		table, err := bench.CPU(s.ctx, o)
		if err != nil {
			return err
		}
		if file != "" {
			err := atomicfile.WriteFile(s.ctx, file, func(w io.Writer) error { return table.WriteJSON(w) })
			if err != nil {
				return explain(file, err)
			}
		}
		return table.WriteText(s.stdout)
	}
	return cmd
}
