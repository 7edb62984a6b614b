package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/cusparse/space"
	"github.com/hiveblas/hiveblas/internal/cli"
)

func tuneCommand(s *job.Session) *cobra.Command {
	var o cusparse.TuneOptions
	var list, dry bool
	var top int
	var own []string
	cmd := &cobra.Command{
		Use:   "tune GRAPH",
		Short: "Find the fastest GPU kernel for a graph and keep it",
		Long: `tune times the plans of a product of the graph's matrix on the first GPU: layouts,
schedules, frames, block sizes. It prints a ranking with the share of what the
memory's speed allows, and keeps the winner for this graph and GPU beside the
compiled kernels; later products of the graph use it.

--op is mxv (a full vector), vxm (a sparse one), mxm (a full matrix of --columns
columns), or the step of an algorithm: bfs, sssp, pagerank, cc. cuSPARSE is one of
the plans of mxv and mxm where it is installed; HIVEBLAS_CUSPARSE=off forbids it.
--list prints the plans of the space and their number, without a GPU and without a
graph. --schedule adds a schedule or a layout of one's own, as docs/schedules.md
describes: its plans are timed with the others, and their results are checked.`,
		Example: `  hiveblas tune graph.mtx.gz
  hiveblas tune roads.mtx.gz --op sssp --frontier 0.001 --budget 60s --json
  hiveblas tune --list --op bfs
  hiveblas tune graph.mtx.gz --schedule strided.cu`,
		Args: func(cmd *cobra.Command, args []string) error {
			if list && len(args) == 0 {
				return nil
			}
			return cli.Positional("GRAPH")(cmd, args)
		},
	}
	j := job.New(s, cmd).Reads()
	fs := cmd.Flags()
	fs.StringVar(&o.Op, "op", "mxv", "tune the product `OP`: "+strings.Join(cusparse.TuneOps, ", "))
	fs.Float64Var(&o.Frontier, "frontier", .01, "share `X` of the vertices in a sparse vector")
	fs.IntVar(&o.Columns, "columns", 64, "columns `N` of the full matrix of mxm")
	fs.DurationVar(&o.Budget, "budget", 20*time.Second, "end the search after `TIME`")
	fs.IntVar(&top, "top", 10, "list the `N` fastest plans")
	fs.BoolVar(&dry, "dry-run", false, "do not keep the winner")
	fs.BoolVar(&list, "list", false, "list the plans of the space")
	scheduleFlag(fs, &own)
	cli.Complete(cmd, "op", cusparse.TuneOps...)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case !slices.Contains(cusparse.TuneOps, o.Op):
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--op is %q, want one of %s", o.Op, strings.Join(cusparse.TuneOps, ", ")))
		case !(o.Frontier > 0 && o.Frontier <= 1):
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--frontier is %v, want more than 0 and at most 1", o.Frontier))
		case o.Columns < 1:
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--columns is %d, want at least 1", o.Columns))
		case o.Budget <= 0:
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--budget is %v, want more than 0", o.Budget))
		}
		if err := checkTop(cmd, top); err != nil {
			return err
		}
		if err := addSchedules(own); err != nil {
			return err
		}
		if list {
			return listPlans(j, o.Op)
		}
		o.Dry = dry
		if err := j.Begin(args[0]); err != nil {
			return err
		}
		if err := j.LoadSquare(args[0], job.Weighted); err != nil {
			return err
		}
		dev, err := s.Machine.OpenDevice(0)
		if err != nil {
			return cli.Fail("tune", err.Error(), "run it on a machine with an NVIDIA GPU", err)
		}
		defer dev.Close()
		var found *cusparse.Tuning
		err = j.Stage("compute", func() (err error) {
			o.Progress = func(done, total int) { j.Progress.Update("tune", int64(done), int64(total)) }
			found, err = cusparse.Tune(j.Ctx, dev, j.Graph.Matrix, o)
			return err
		})
		if err != nil {
			return err
		}
		us := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 }
		fields := []job.Field{
			{Key: "op", Label: "product", Value: found.Op}, {Key: "legal", Label: "legal plans", Value: found.Legal}, {Key: "tried", Label: "plans tried", Value: len(found.Ranking)},
			{Key: "chosen", Label: "plan without search", Value: planName(found.Chosen)}, {Key: "chosen_us", Label: "its time in µs", Value: us(found.Chosen.Time)},
			{Key: "bound_us", Label: "bound in µs", Value: us(found.Bound)}, {Key: "complete", Label: "complete", Value: found.Complete},
		}
		if found.Vendor > 0 {
			fields = append(fields, job.Field{Key: "cusparse_us", Label: "cuSPARSE in µs", Value: us(found.Vendor)})
		}
		if err := j.Report(fields, nil); err != nil || j.Run.Json {
			return err
		}
		for i, t := range found.Ranking {
			var wrong *space.WrongError
			if errors.As(t.Err, &wrong) {
				fmt.Fprintln(s.Stderr, wrong)
			}
			if i >= top || t.Err != nil {
				continue
			}
			fmt.Fprintf(s.Stdout, "%8.1f µs  %3.0f %%  %s\n", us(t.Time), 100*us(found.Bound)/us(t.Time), planName(t))
		}
		return nil
	}
	return cmd
}

// planName is the plan, or the method of a product with a full matrix.
func planName(t cusparse.Timing) string { return cmp.Or(t.Method, t.Plan.String()) }

// scheduleFlag adds --schedule.
func scheduleFlag(fs *pflag.FlagSet, to *[]string) {
	fs.StringArrayVar(to, "schedule", nil, "add the schedule or the layout in `FILE`, CUDA text with its declarations")
}

// addSchedules registers the schedules and layouts of files.
func addSchedules(files []string) error {
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return cli.Fail(file, err.Error(), "give a file that exists", err)
		}
		if err := register(string(text)); err != nil {
			return cli.Fail(file, err.Error(), "docs/schedules.md says what such a file has", err)
		}
	}
	return nil
}

func register(text string) error {
	if strings.Contains(text, "//hb:layout ") {
		own, err := space.ReadOwnLayout(text)
		if err == nil {
			_, err = space.RegisterLayout(own)
		}
		return err
	}
	own, err := space.ReadOwn(text)
	if err == nil {
		_, err = space.Register(own)
	}
	return err
}

// listPlans prints the plans that some graph and operands allow.
func listPlans(j *job.Job, op string) error {
	facts := space.Facts{Rows: 64, Cols: 64, Entries: 64, Vendor: op == "mxv", Diagonals: 1, OnDiagonals: 1, FullX: true, ListedMask: true, Constant: op == "bfs", Any: op == "bfs", Exact: true, Result: 4,
		ReadsX: true, Shared: 1}
	plans, directions := []string{}, []space.Direction{space.Pull, space.Push}
	if op == "mxm" {
		plans, directions = []string{"spmm", "cusparse"}, nil
	}
	for _, d := range directions {
		for _, p := range space.Points(d, facts) {
			plans = append(plans, p.String())
		}
	}
	if j.Run.Json {
		return j.PrintJSON(job.Object{{Key: "command", Label: "", Value: j.Cmd.Name()}, {Key: "op", Label: "", Value: op}, {Key: "plans", Label: "", Value: plans}})
	}
	_, err := fmt.Fprintf(j.Stdout, "%s\n%d plans\n", strings.Join(plans, "\n"), len(plans))
	return j.Printed(err)
}
