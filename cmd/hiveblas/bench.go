package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/bench"
	"github.com/hiveblas/hiveblas/internal/atomicfile"
)

func benchCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure hiveblas beside other libraries",
		Long: `bench measures hiveblas beside other libraries on this machine.

The peers of cpu are built by make bench-peers; that of gpu is cuSPARSE. One that
is missing is left out.`,
		Args: positional(),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(benchCPUCommand(s), benchGPUCommand(s), benchSGMCommand(s), benchIdiomsCommand(s), benchReportCommand(s), benchFirstUseCommand(s))
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
		if err := wantRounds(cmd, o.Rounds); err != nil {
			return err
		}
		o.Threads = run.threads
		o.Log = s.log(run.quiet)
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

// wantRounds checks --rounds.
func wantRounds(cmd *cobra.Command, rounds int) error {
	if rounds < 1 {
		return &usageError{cmd.CommandPath(), fmt.Sprintf("--rounds is %d, want 1 or more", rounds)}
	}
	return nil
}

// log returns what tells of the progress of measurements, nil for nobody.
func (s *session) log(quiet bool) func(string) {
	if quiet {
		return nil
	}
	return func(msg string) { fmt.Fprintln(s.stderr, msg) }
}

func benchGPUCommand(s *session) *cobra.Command {
	var o bench.GPUOptions
	var file string
	var quiet bool
	cmd := &cobra.Command{
		Use:   "gpu",
		Short: "Measure the operations and workflows on the first GPU",
		Long: `gpu prints a table of medians over interleaved rounds on the first GPU, ours beside
cuSPARSE, or beside another of ours, in the same run and on the same generated
input. Results are checked first: one that is wrong prints WRONG. A case that
cannot run says why, and the others go on. Kernels come from the cache on the
disk, or are compiled when a case begins.

The cases, of which --only picks some:
  ` + strings.Join(bench.GPUCases(), "\n  "),
		Example: `  hiveblas bench gpu --json gpu.json
  hiveblas bench gpu --only "spmv fp32",bfs --rounds 5
  hiveblas bench gpu --quick`,
		Args: positional(),
	}
	fs := cmd.Flags()
	fs.IntVar(&o.Rounds, "rounds", 15, "`rounds` to measure, fewer of what takes long")
	fs.DurationVar(&o.Budget, "budget", 1200*time.Millisecond, "`time` after which a case begins no further round, once it has three")
	fs.StringSliceVar(&o.Only, "only", nil, "only the `cases` whose name contains one of these")
	fs.BoolVar(&o.Quick, "quick", false, "inputs 16 times smaller: to see that all runs, not how fast")
	fs.BoolVar(&o.NoPeers, "no-peers", false, "measure hiveblas alone")
	fs.StringVar(&file, "json", "", "write the table to `FILE` too, as JSON")
	fs.BoolVar(&quiet, "quiet", false, "do not tell what is being measured")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := wantRounds(cmd, o.Rounds); err != nil {
			return err
		}
		if o.Budget <= 0 {
			return &usageError{cmd.CommandPath(), fmt.Sprintf("--budget is %v, want more than 0", o.Budget)}
		}
		for _, name := range o.Only {
			if !slices.ContainsFunc(bench.GPUCases(), func(c string) bool { return strings.Contains(c, name) }) {
				return &usageError{cmd.CommandPath(), fmt.Sprintf("--only is %q, which is part of no case's name", name)}
			}
		}
		o.Log = s.log(quiet)
		if self, err := os.Executable(); err == nil {
			o.FirstUse = []string{self, "bench", "first-use"}
		}
		s.cleaning.Store(true) // what was measured until an interruption is printed
		defer s.cleaning.Store(false)
		table, err := bench.GPU(s.ctx, o)
		if err != nil && (table == nil || len(table.Rows) == 0) {
			return err
		}
		if file != "" {
			// An interruption is no reason to lose what was measured.
			e := atomicfile.WriteFile(context.WithoutCancel(s.ctx), file, func(w io.Writer) error { return table.WriteJSON(w) })
			if e != nil {
				err = errors.Join(err, explain(file, e))
			}
		}
		return errors.Join(err, table.WriteText(s.stdout))
	}
	return cmd
}

func benchSGMCommand(s *session) *cobra.Command {
	var o bench.SGMOptions
	var run runFlags
	var file string
	cmd := &cobra.Command{
		Use:   "sgm",
		Short: "Measure seeded graph matching over families of graphs, sizes and epsilons",
		Long: `sgm matches pairs of graphs whose true matching is known and prints a table of the
disagreements that are left, the share of vertices that found their own, and the
time by stage. With several --epsilon it is the study of what the assignments' epsilon
does.

The cases, of which --only picks some:
  ` + strings.Join(bench.SGMCases(), "\n  "),
		Example: `  hiveblas bench sgm --data ../shared/data/graphs --most 4096
  hiveblas bench sgm --device gpu --epsilon 0,0.25,1,inf --json sgm.json`,
		Args: positional(),
	}
	fs := cmd.Flags()
	fs.StringVar(&o.Data, "data", ".", "`folder` with soc-Slashdot0902.mtx.gz and email-Enron.mtx.gz")
	fs.StringSliceVar(&o.Only, "only", nil, "only the `cases` whose name contains one of these")
	fs.IntVar(&o.Most, "most", 0, "`vertices` of the largest case (0: all)")
	fs.Float64SliceVar(&o.Eps, "epsilon", []float64{0}, "`epsilons` of the assignments, in common neighbours (0: automatic, inf: exact)")
	fs.IntVar(&o.Rounds, "rounds", 1, "`rounds` to measure")
	fs.IntVar(&run.threads, "threads", 0, "`number` of threads (0: one per core)")
	fs.StringVar(&run.device, "device", "cpu", "`where` to compute: cpu, gpu or gpu:N")
	fs.StringVar(&file, "json", "", "write the table to `FILE` too, as JSON")
	fs.BoolVar(&run.quiet, "quiet", false, "do not tell what is being measured")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := run.check(cmd); err != nil {
			return err
		}
		gpu, err := parseDevice(cmd, run.device)
		switch {
		case err != nil:
			return err
		case o.Rounds < 1:
			return &usageError{cmd.CommandPath(), fmt.Sprintf("--rounds is %d, want 1 or more", o.Rounds)}
		case slices.ContainsFunc(o.Eps, func(e float64) bool { return !(e >= 0) }):
			return &usageError{cmd.CommandPath(), fmt.Sprintf("--epsilon is %v, want 0 or more", o.Eps)}
		}
		if gpu >= 0 {
			d, err := openDevice(gpu)
			if err != nil {
				return &failure{"--device " + run.device, err.Error(), "--device cpu computes without one", err}
			}
			o.Place = d
		}
		o.Threads = run.threads
		o.Log = s.log(run.quiet)
		s.cleaning.Store(true) // what was measured until an interruption is printed
		defer s.cleaning.Store(false)
		table, err := bench.SGM(s.ctx, o)
		if table == nil {
			return err
		}
		if file != "" {
			e := atomicfile.WriteFile(context.WithoutCancel(s.ctx), file, func(w io.Writer) error { return table.WriteJSON(w) })
			if e != nil {
				err = errors.Join(err, explain(file, e))
			}
		}
		return errors.Join(err, table.WriteText(s.stdout))
	}
	return cmd
}

func benchIdiomsCommand(s *session) *cobra.Command {
	var o bench.IdiomOptions
	var file string
	var quiet bool
	cmd := &cobra.Command{
		Use:   "idioms",
		Short: "Measure the idioms of the GraphBLAS user guide beside plain Go loops",
		Long: `idioms prints a table of algorithms and statements written with operations in the
obvious way, beside Go loops that compute the same, with ratios, allocations and
bars. Results are compared first. The graph is an R-MAT of the size of email-Enron,
or email-Enron itself with --data.

The cases, of which --only picks some:
  ` + strings.Join(bench.IdiomCases(), "\n  "),
		Example: `  hiveblas bench idioms --json idioms.json
  hiveblas bench idioms --data ../shared/data/graphs --only k-core,delete`,
		Args: positional(),
	}
	fs := cmd.Flags()
	fs.StringVar(&o.Data, "data", "", "`folder` with email-Enron.mtx.gz")
	fs.StringSliceVar(&o.Only, "only", nil, "only the `cases` whose name contains one of these")
	fs.DurationVar(&o.Budget, "budget", 300*time.Millisecond, "`time` after which a case begins no further round")
	fs.StringVar(&file, "json", "", "write the table to `FILE` too, as JSON")
	fs.BoolVar(&quiet, "quiet", false, "print no progress")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if o.Budget <= 0 {
			return &usageError{cmd.CommandPath(), fmt.Sprintf("--budget is %v, want more than 0", o.Budget)}
		}
		for _, name := range o.Only {
			if !slices.ContainsFunc(bench.IdiomCases(), func(c string) bool { return strings.Contains(c, name) }) {
				return &usageError{cmd.CommandPath(), fmt.Sprintf("--only is %q, which is part of no case's name", name)}
			}
		}
		o.Log = s.log(quiet)
		s.cleaning.Store(true) // an interrupted run still prints the rows measured so far
		defer s.cleaning.Store(false)
		table, err := bench.Idioms(s.ctx, o)
		if table == nil {
			return err
		}
		if file != "" {
			e := atomicfile.WriteFile(context.WithoutCancel(s.ctx), file, func(w io.Writer) error { return table.WriteJSON(w) })
			if e != nil {
				err = errors.Join(err, explain(file, e))
			}
		}
		return errors.Join(err, table.WriteText(s.stdout))
	}
	return cmd
}

// benchFirstUseCommand is a fresh process for bench gpu.
func benchFirstUseCommand(s *session) *cobra.Command {
	return &cobra.Command{
		Use:    "first-use",
		Short:  "Print the milliseconds from opening the first GPU to a result",
		Hidden: true,
		Args:   positional(),
		RunE: func(*cobra.Command, []string) error {
			took, err := bench.FirstUse()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(s.stdout, took.Seconds()*1e3)
			return err
		},
	}
}
