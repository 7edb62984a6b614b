package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/bench/cpu"
	"github.com/hiveblas/hiveblas/bench/gpu"
	"github.com/hiveblas/hiveblas/bench/idioms"
	"github.com/hiveblas/hiveblas/bench/programs"
	"github.com/hiveblas/hiveblas/bench/report"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/internal/atomicfile"
	"github.com/hiveblas/hiveblas/internal/cli"
)

func cpuCommand(s *cli.Session) *cobra.Command {
	var o cpu.Options
	var file string
	var quiet bool
	small := cpu.Cases(false)
	cmd := &cobra.Command{
		Use:   "cpu",
		Short: "Measure the operations and workflows on the host",
		Long: `cpu prints a table of medians over interleaved rounds of hiveblas and its peers on
the same generated graphs. The whole table takes long; --only selects cases by
name.

The cases for --only:
  ` + strings.Join(small, "\n  ") + `

With --large also:
  ` + strings.Join(cpu.Cases(true)[len(small):], "\n  "),
		Example: `  hiveblas-bench cpu --json bench.json
  hiveblas-bench cpu --only triangles,SpMV --rounds 5 --no-peers`,
		Args: cli.Positional(),
	}
	fs := cmd.Flags()
	fs.IntVar(&o.Rounds, "rounds", 15, "measure `N` rounds")
	fs.IntVar(&o.Threads, "threads", 2, "use `N` threads, also in peers that have a setting")
	fs.StringSliceVar(&o.Only, "only", nil, "only cases whose name contains one of `NAMES`")
	fs.BoolVar(&o.NoPeers, "no-peers", false, "measure hiveblas alone")
	fs.BoolVar(&o.Large, "large", false, "also R-MAT 20 and 22, which take minutes to make")
	fs.StringVar(&o.Data, "data", ".", "folder `DIR` with soc-Slashdot0902.mtx.gz and email-Enron.mtx.gz, for the cases of these graphs")
	fs.StringVar(&file, "json", "", "also write the table to `FILE` as JSON")
	fs.BoolVar(&quiet, "quiet", false, "print no progress")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := cli.CheckThreads(cmd, o.Threads); err != nil {
			return err
		}
		if err := cli.WantRounds(cmd, o.Rounds); err != nil {
			return err
		}
		if err := wantParts(cmd, "--only", o.Only, "case", cpu.Cases(o.Large)); err != nil {
			return err
		}
		o.Log = logTo(s, quiet)
		s.Cleaning.Store(true) // peers are processes, and inputs are temporary files
		defer s.Cleaning.Store(false)
		table, err := cpu.Run(s.Ctx, o)
		if err != nil && (table == nil || len(table.Rows) == 0) {
			return err
		}
		return writeTable(s, table, file, err)
	}
	return cmd
}

// logTo returns the function that prints the progress of measurements, nil if quiet.
func logTo(s *cli.Session, quiet bool) func(string) {
	if quiet {
		return nil
	}
	return func(msg string) { fmt.Fprintln(s.Stderr, msg) }
}

func gpuCommand(s *cli.Session) *cobra.Command {
	var o gpu.Options
	var file string
	var quiet bool
	cmd := &cobra.Command{
		Use:   "gpu",
		Short: "Measure the operations and workflows on the first GPU",
		Long: `gpu prints a table of medians over interleaved rounds on the first GPU, of hiveblas
and cuSPARSE, or of two methods of hiveblas, on the same generated input. Results
are checked first; a wrong one prints WRONG. A case that cannot run prints the
reason, and the next case follows. Kernels come from the cache on disk, or are
compiled when a case begins.

The cases for --only:
  ` + strings.Join(gpu.Cases(), "\n  "),
		Example: `  hiveblas-bench gpu --json gpu.json
  hiveblas-bench gpu --only "spmv fp32",bfs --rounds 5
  hiveblas-bench gpu --quick`,
		Args: cli.Positional(),
	}
	fs := cmd.Flags()
	fs.IntVar(&o.Rounds, "rounds", 15, "measure `N` rounds, fewer in long cases")
	fs.DurationVar(&o.Budget, "budget", 1200*time.Millisecond, "end a case after `TIME` and at least three rounds")
	fs.StringSliceVar(&o.Only, "only", nil, "only cases whose name contains one of `NAMES`")
	fs.BoolVar(&o.Quick, "quick", false, "inputs 16 times smaller, to test that all cases run")
	fs.BoolVar(&o.NoPeers, "no-peers", false, "measure hiveblas alone")
	fs.StringVar(&o.Data, "data", "", "folder `DIR` with email-Enron.mtx.gz, for the case of this graph")
	fs.StringVar(&file, "json", "", "also write the table to `FILE` as JSON")
	fs.BoolVar(&quiet, "quiet", false, "print no progress")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := cli.WantRounds(cmd, o.Rounds); err != nil {
			return err
		}
		if o.Budget <= 0 {
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--budget is %v, want more than 0", o.Budget))
		}
		if err := wantParts(cmd, "--only", o.Only, "case", gpu.Cases()); err != nil {
			return err
		}
		o.Log = logTo(s, quiet)
		if self, err := os.Executable(); err == nil {
			o.FirstUse = []string{self, "first-use"}
		}
		s.Cleaning.Store(true) // an interrupted run prints its measurements
		defer s.Cleaning.Store(false)
		table, err := gpu.Run(s.Ctx, o)
		if err != nil && (table == nil || len(table.Rows) == 0) {
			return err
		}
		return writeTable(s, table, file, err)
	}
	return cmd
}

func sgmCommand(s *cli.Session) *cobra.Command {
	var o report.SGMOptions
	var device, file string
	var quiet bool
	cmd := &cobra.Command{
		Use:   "sgm",
		Short: "Measure seeded graph matching over families of graphs, sizes and epsilons",
		Long: `sgm matches pairs of graphs whose true matching is known. It prints a table of the
remaining disagreements, the share of vertices matched correctly, and the time by
stage. Several --epsilon show the effect of the epsilon of the assignments.

The cases for --only:
  ` + strings.Join(report.SGMCases(), "\n  "),
		Example: `  hiveblas-bench sgm --data ../shared/data/graphs --most 4096
  hiveblas-bench sgm --device gpu --epsilon 0,0.25,1,inf --json sgm.json`,
		Args: cli.Positional(),
	}
	fs := cmd.Flags()
	fs.StringVar(&o.Data, "data", ".", "folder `DIR` with soc-Slashdot0902.mtx.gz and email-Enron.mtx.gz")
	fs.StringSliceVar(&o.Only, "only", nil, "only cases whose name contains one of `NAMES`")
	fs.IntVar(&o.Most, "most", 0, "only cases of at most `N` vertices (0: all)")
	fs.Float64SliceVar(&o.Eps, "epsilon", []float64{0}, "epsilons `E,…` of the assignments, in common neighbours (0: automatic, inf: exact)")
	fs.IntVar(&o.Rounds, "rounds", 1, "measure `N` rounds")
	fs.IntVar(&o.Threads, "threads", 0, "use `N` threads (0: one per core)")
	fs.StringVar(&device, "device", "cpu", "compute on `D`: cpu, gpu or gpu:N")
	fs.StringVar(&file, "json", "", "also write the table to `FILE` as JSON")
	fs.BoolVar(&quiet, "quiet", false, "print no progress")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := cli.CheckThreads(cmd, o.Threads); err != nil {
			return err
		}
		gpu, err := cli.ParseDevice(cmd, device, "cpu, gpu or gpu:N")
		switch {
		case err != nil:
			return err
		case o.Rounds < 1:
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--rounds is %d, want 1 or more", o.Rounds))
		case slices.ContainsFunc(o.Eps, func(e float64) bool { return !(e >= 0) }):
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--epsilon is %v, want 0 or more", o.Eps))
		}
		if gpu >= 0 {
			d, err := cusparse.Open(gpu)
			if err != nil {
				return cli.Fail("--device "+device, err.Error(), "--device cpu computes without one", err)
			}
			o.Place = d
		}
		o.Log = logTo(s, quiet)
		s.Cleaning.Store(true) // an interrupted run prints its measurements
		defer s.Cleaning.Store(false)
		table, err := report.SGM(s.Ctx, o)
		if table == nil {
			return err
		}
		return writeTable(s, table, file, err)
	}
	return cmd
}

func idiomsCommand(s *cli.Session) *cobra.Command {
	var o idioms.Options
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
  ` + strings.Join(idioms.Cases(), "\n  "),
		Example: `  hiveblas-bench idioms --json idioms.json
  hiveblas-bench idioms --data ../shared/data/graphs --only k-core,delete`,
		Args: cli.Positional(),
	}
	fs := cmd.Flags()
	fs.StringVar(&o.Data, "data", "", "`folder` with email-Enron.mtx.gz")
	fs.StringSliceVar(&o.Only, "only", nil, "only the `cases` whose name contains one of these")
	fs.DurationVar(&o.Budget, "budget", 300*time.Millisecond, "`time` after which a case begins no further round")
	fs.StringVar(&file, "json", "", "write the table to `FILE` too, as JSON")
	fs.BoolVar(&quiet, "quiet", false, "print no progress")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if o.Budget <= 0 {
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--budget is %v, want more than 0", o.Budget))
		}
		for _, name := range o.Only {
			if !slices.ContainsFunc(idioms.Cases(), func(c string) bool { return strings.Contains(c, name) }) {
				return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--only is %q, which is part of no case's name", name))
			}
		}
		o.Log = logTo(s, quiet)
		s.Cleaning.Store(true) // an interrupted run still prints the rows measured so far
		defer s.Cleaning.Store(false)
		table, err := idioms.Run(s.Ctx, o)
		if table == nil {
			return err
		}
		return writeTable(s, table, file, err)
	}
	return cmd
}

// firstUseCommand runs in a new process of gpu.
func firstUseCommand(s *cli.Session) *cobra.Command {
	return &cobra.Command{
		Use:    "first-use",
		Short:  "Print the milliseconds from opening the first GPU to a result",
		Hidden: true,
		Args:   cli.Positional(),
		RunE: func(*cobra.Command, []string) error {
			took, err := gpu.FirstUse()
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(s.Stdout, took.Seconds()*1e3)
			return err
		},
	}
}

// wantParts verifies a flag with parts of names as values.
func wantParts(cmd *cobra.Command, flag string, parts []string, of string, names []string) error {
	for _, part := range parts {
		if !slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, part) }) {
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf("%s is %q, which is not part of the name of a %s; --help lists them", flag, part, of))
		}
	}
	return nil
}

// writeTable writes a table to standard output and, as JSON, to a file unless that is "". An
// interrupted measurement, err, writes what it has.
func writeTable(s *cli.Session, table interface {
	WriteJSON(io.Writer) error
	WriteText(io.Writer) error
}, file string, err error) error {
	if file != "" {
		if e := atomicfile.WriteFile(context.WithoutCancel(s.Ctx), file, table.WriteJSON); e != nil {
			err = errors.Join(err, cli.ExplainPath(file, e))
		}
	}
	return errors.Join(err, table.WriteText(s.Stdout))
}

func spaceCommand(s *cli.Session) *cobra.Command {
	o := programs.SpaceProgramsOptions{Data: "../shared/data/graphs"}
	var products []string
	var file, plots string
	var quick, quiet bool
	cmd := &cobra.Command{
		Use:   "space",
		Short: "Measure graph programs on graphs of different kinds by many GPU plans",
		Long: `space runs five graph programs on graphs of different kinds on the first GPU, by the
automatic choice and by about sixty fixed plans: layouts, schedules, frames. For
each program on each graph it prints the best plan, the automatic choice, the plan
that a search of one run each picks, and the worst; then each fixed plan over all
graphs, and the ratios that the choice is judged by. --plots writes two pictures:
schedules by graphs, and schedules by layouts. Plans take turns, and a time is the
median of whole runs, from call to return.

With --products it searches the plans of single products instead, and prints the
plan that is chosen without a search, the best one, and cuSPARSE. The rules in
cusparse/space/table.txt rest on that table.

The graphs, of which --only picks some; those that are files are left out where the
directory --data lacks them:
  ` + strings.Join(programs.SpaceProgramGraphs(), "\n  ") + `

Those of --products:
  ` + strings.Join(programs.SpaceGraphs(), "\n  "),
		Example: `  hiveblas-bench space --quick --json space.json --plots .
  hiveblas-bench space --only "grid,rmat 20" --programs bfs,sssp --budget 5m
  hiveblas-bench space --only "grid,rmat 20" --products mxv --budget 20s`,
		Args: cli.Positional(),
	}
	fs := cmd.Flags()
	fs.StringSliceVar(&o.Only, "only", nil, "only `graphs` whose name contains one of these")
	fs.StringSliceVar(&o.Programs, "programs", nil, "only `programs` whose name contains one of these: "+strings.Join(programs.SpaceProgramNames(), ", "))
	fs.StringSliceVar(&products, "products", nil, "search `products` whose name contains one of these: mxv, sssp, bfs")
	fs.StringVar(&o.Data, "data", o.Data, "read real graphs from the directory `DIR`")
	fs.DurationVar(&o.Budget, "budget", 20*time.Minute, "end after about `TIME`; with --products, of the search of a cell, 6 s if not given")
	fs.IntVar(&o.Shrink, "shrink", 0, "generated graphs 2^`N` times smaller")
	fs.BoolVar(&quick, "quick", false, "graphs 8 times smaller, in about 6 minutes: --shrink 3 --budget 6m")
	fs.StringVar(&file, "json", "", "also write the table to `FILE` as JSON")
	fs.StringVar(&plots, "plots", "", "write the pictures to the directory `DIR`")
	fs.BoolVar(&quiet, "quiet", false, "print no progress")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		given := cmd.Flags().Changed
		bad := func(format string, args ...any) error {
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf(format, args...))
		}
		if quick && !given("shrink") {
			o.Shrink = 3
		}
		if quick && !given("budget") {
			o.Budget = 6 * time.Minute
		}
		graphs := programs.SpaceProgramGraphs()
		if given("products") {
			graphs = programs.SpaceGraphs()
		}
		switch {
		case o.Budget <= 0:
			return bad("--budget is %v, want more than 0", o.Budget)
		case o.Shrink < 0 || o.Shrink > 12:
			return bad("--shrink is %d, want 0 to 12", o.Shrink)
		}
		for _, flag := range []string{"programs", "data", "plots", "quick"} {
			if given("products") && given(flag) {
				return bad("--%s has no effect with --products", flag)
			}
		}
		if err := wantParts(cmd, "--only", o.Only, "graph", graphs); err != nil {
			return err
		}
		if err := wantParts(cmd, "--programs", o.Programs, "program", programs.SpaceProgramNames()); err != nil {
			return err
		}
		if st, err := os.Stat(plots); plots != "" && (err != nil || !st.IsDir()) {
			return cli.Fail(plots, "is no directory", "create it first", err)
		}
		o.Log = logTo(s, quiet)
		s.Cleaning.Store(true) // an interrupted run prints its measurements
		defer s.Cleaning.Store(false)
		if given("products") {
			p := programs.SpaceOptions{Only: o.Only, Ops: products, Shrink: o.Shrink, Log: o.Log}
			if given("budget") {
				p.Budget = o.Budget
			}
			table, err := programs.Space(s.Ctx, p)
			if table == nil {
				return err
			}
			return writeTable(s, table, file, err)
		}
		table, err := programs.SpacePrograms(s.Ctx, o)
		if table == nil {
			return err
		}
		err = writeTable(s, table, file, err)
		if plots == "" {
			return err
		}
		pictures, e := table.Plots()
		err = errors.Join(err, e)
		for _, p := range pictures {
			path := filepath.Join(plots, p.File)
			if e := atomicfile.WriteFile(context.WithoutCancel(s.Ctx), path, p.WritePNG); e != nil {
				err = errors.Join(err, cli.ExplainPath(path, e))
			}
		}
		return err
	}
	return cmd
}

func programsCommand(s *cli.Session) *cobra.Command {
	var o programs.Options
	var file string
	var quiet bool
	cmd := &cobra.Command{
		Use:   "programs",
		Short: "Measure graph programs by plans, as the papers on Medusa and the Edge–Vertex model did",
		Long: `programs runs graph programs (breadth-first search, shortest paths, PageRank, components
by smallest label, matching) on generated graphs on the first GPU, by the automatic
choice and by fixed plans. The sets:
  medusa       graphs of the shapes of Medusa's table 5, with and without active queues
  edge-vertex  those of Zhong et al.: rows natural, sorted approximately and exactly,
               adjacency and message buffers by rows and by columns
A time is the median of whole runs, from call to return.`,
		Example: `  hiveblas-bench programs --json programs.json
  hiveblas-bench programs --sets medusa --only road,RMAT --programs bfs --budget 20s`,
		Args: cli.Positional(),
	}
	fs := cmd.Flags()
	fs.StringSliceVar(&o.Sets, "sets", nil, "only `sets` whose name contains one of these: medusa, edge-vertex")
	fs.StringSliceVar(&o.Only, "only", nil, "only `graphs` whose name contains one of these")
	fs.StringSliceVar(&o.Programs, "programs", nil, "only `programs` whose name contains one of these: bfs, sssp, pagerank, hcc, matching")
	fs.DurationVar(&o.Budget, "budget", 4*time.Second, "begin no further plan for a program on a graph after `TIME`")
	fs.IntVar(&o.Shrink, "shrink", 0, "graphs 2^`N` times smaller")
	fs.StringVar(&file, "json", "", "also write the table to `FILE` as JSON")
	fs.BoolVar(&quiet, "quiet", false, "print no progress")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		switch {
		case o.Budget <= 0:
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--budget is %v, want more than 0", o.Budget))
		case o.Shrink < 0 || o.Shrink > 8:
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--shrink is %d, want 0 to 8", o.Shrink))
		}
		if err := wantParts(cmd, "--sets", o.Sets, "set", programs.Sets()); err != nil {
			return err
		}
		o.Log = logTo(s, quiet)
		s.Cleaning.Store(true) // an interrupted run prints its measurements
		defer s.Cleaning.Store(false)
		table, err := programs.Run(s.Ctx, o)
		if table == nil {
			return err
		}
		return writeTable(s, table, file, err)
	}
	return cmd
}

func coresCommand(s *cli.Session) *cobra.Command {
	var o cpu.CoresOptions
	var file, picture string
	var quiet bool
	cmd := &cobra.Command{
		Use:   "cores",
		Short: "Measure the operations and workflows at several numbers of threads",
		Long: `cores prints the time of each case of cpu by the number of threads, its speed-up
and its share of the bandwidth that the triad reaches in the same run. A time with !
is more than 1.1 times that of the fewer threads before it.

Further cases begin with their group: operation, conversion, file, workflow, and with
--large stream, whose operands are of 2 GB and more.

The cases for --only:
  ` + strings.Join(cpu.CoresCases(true), "\n  "),
		Example: `  hiveblas-bench cores --threads 1,2,4,8,16 --json cores.json --plot cores.png
  hiveblas-bench cores --only spmv,transpose --rounds 3
  hiveblas-bench cores --only operation:,conversion:,file:,workflow:
  hiveblas-bench cores --large --only stream:`,
		Args: cli.Positional(),
	}
	fs := cmd.Flags()
	fs.IntSliceVar(&o.Threads, "threads", nil, "numbers `N` of threads (default: powers of two up to the processors)")
	fs.IntVar(&o.Rounds, "rounds", 9, "measure `N` rounds, fewer in long cases")
	fs.DurationVar(&o.Budget, "budget", 10*time.Second, "end a case after `TIME` and at least three rounds")
	fs.StringSliceVar(&o.Only, "only", nil, "only `cases` whose name contains one of these")
	fs.BoolVar(&o.Large, "large", false, "also R-MAT 20 and 22, which take minutes to make, and operands of 2 GB and more")
	fs.StringVar(&file, "json", "", "also write the table to `FILE` as JSON")
	fs.StringVar(&picture, "plot", "", "draw the speed-ups into `FILE`, a .png")
	fs.BoolVar(&quiet, "quiet", false, "print no progress")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := cli.WantRounds(cmd, o.Rounds); err != nil {
			return err
		}
		for _, n := range o.Threads {
			if n < 1 {
				return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--threads has %d, want 1 or more", n))
			}
		}
		if err := wantParts(cmd, "--only", o.Only, "case", cpu.CoresCases(o.Large)); err != nil {
			return err
		}
		if o.Budget <= 0 {
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--budget is %v, want more than 0", o.Budget))
		}
		o.Log = logTo(s, quiet)
		s.Cleaning.Store(true) // inputs are temporary files
		defer s.Cleaning.Store(false)
		table, err := cpu.Cores(s.Ctx, o)
		if table == nil {
			return err
		}
		if picture != "" {
			p, e := table.Plot()
			if e == nil {
				e = atomicfile.WriteFile(context.WithoutCancel(s.Ctx), picture, p.WritePNG)
			}
			if e != nil {
				err = errors.Join(err, cli.ExplainPath(picture, e))
			}
		}
		return writeTable(s, table, file, err)
	}
	return cmd
}
