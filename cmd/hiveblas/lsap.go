package main

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/auction"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/internal/cli"
)

func lsapCommand(s *job.Session) *cobra.Command {
	var (
		o       auction.Options
		def     float64
		method  string
		jacobi  bool
		methods = map[string]auction.Method{"auto": auction.MethodAuto, "auction": auction.MethodAuction, "paths": auction.MethodJonkerVolgenant}
	)
	cmd := &cobra.Command{
		Use:   "lsap COSTS",
		Short: "Linear sum assignment of rows to columns at minimum cost",
		Long: `lsap assigns rows to distinct columns so that the sum of the costs is minimal, or
maximal with --maximize. Every vertex of the smaller side is assigned. A missing
entry of the matrix is a forbidden pair, unless --default gives it a cost, and so is
a cost of inf, or of -inf with --maximize, which --default excludes. Zeros of a dense
file are costs. The result is optimal unless --epsilon is set; gap bounds its
distance from the optimum. If no assignment exists, the command fails and names a
set of rows with too few columns.`,
		Example: `  hiveblas lsap costs.mtx -o assignment.tsv
  hiveblas lsap similarities.mtx.gz --maximize --default 0 --json
  hiveblas lsap counts.mtx --maximize --default 0 --epsilon 1`,
		Args: cli.Positional("COSTS"),
	}
	j := job.New(s, cmd).Computes(noThreshold).Reads().Writes("the row and column of each pair", job.ListFiles...)
	j.Infinite = true
	cmd.Flags().BoolVar(&o.Maximize, "maximize", false, "maximise the sum")
	cmd.Flags().BoolVar(&o.Exact, "exact", false, "find an optimum; --epsilon is then the last ε of the auction")
	cmd.Flags().Float64Var(&def, "default", 0, "cost `C` of a missing entry (default: the pair is forbidden)")
	cmd.Flags().Float64Var(&o.Epsilon, "epsilon", 0, "each pair is within `E` of its best cost (0: optimal)")
	cmd.Flags().StringVar(&method, "method", "auto", "algorithm `M`: auto, auction or paths (shortest augmenting paths)")
	cmd.Flags().BoolVar(&jacobi, "jacobi", false, "all rows of an auction bid at once, as on a GPU")
	cmd.Flags().Uint64Var(&o.Seed, "random-seed", 0, "seed `N` of the choice between equal columns in an auction")
	cmd.Flags().Lookup("default").DefValue = "0"
	cli.Complete(cmd, "method", "auto", "auction", "paths")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var known bool
		o.Method, known = methods[method]
		implicit := cmd.Flags().Changed("default")
		switch {
		case !known:
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--method is %q, want auto, auction or paths", method))
		case !(o.Epsilon >= 0) || math.IsInf(o.Epsilon, 0):
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--epsilon is %v, want 0 or a positive number", o.Epsilon))
		case implicit && (math.IsNaN(def) || math.IsInf(def, 0)):
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--default is %v, want a finite number", def))
		}
		j.Read.KeepZeros = true
		if jacobi {
			o.Bidding = auction.Jacobi
		}
		if err := j.Begin(args[0]); err != nil {
			return err
		}
		if err := j.Load(args[0], job.Weighted); err != nil {
			return err
		}
		var res *auction.Result
		err := j.Compute(func(run apps.Run) (err error) {
			o.Context, o.Threads, o.Progress, o.Trace = run.Context, run.Threads, run.Progress, run.Trace
			p := auction.Sparse[float64](j.Graph.Matrix)
			if implicit {
				if err := j.Graph.WithoutForbidden(); err != nil {
					return err
				}
				p = auction.Implicit[float64](j.Graph.Matrix, def)
			}
			res, err = auction.Solve(p, o)
			return infeasible(j, err)
		})
		if err != nil {
			return err
		}
		if err := j.Writing(func() error { return writePairs(j, res.Row) }); err != nil {
			return err
		}
		m, n := j.Graph.Dims()
		j.Traces.Begin(res.Method)
		return j.Report([]job.Field{
			{Key: "value", Label: "value", Value: res.Value}, {Key: "gap", Label: "gap", Value: res.Gap}, {Key: "assigned", Label: "assigned", Value: min(m, n)},
			{Key: "rounds", Label: "", Value: res.Rounds}, {Key: "bids", Label: "", Value: res.Bids},
		}, nil)
	}
	return cmd
}

// infeasible returns an error with a set of rows, or columns, that has too few
// partners.
func infeasible(j *job.Job, err error) error {
	var e *auction.InfeasibleError
	if !errors.As(err, &e) {
		return err
	}
	set, labels, side, other := e.Rows, j.Graph.Rows, "row", "column"
	if e.Cols != nil {
		set, labels, side, other = e.Cols, j.Graph.Cols, "column", "row"
	}
	const most = 100 // names in the message
	var names []string
	for _, v := range set[:min(len(set), most)] {
		names = append(names, labels.Name(int(v)))
	}
	if len(set) > most {
		names = append(names, "…")
	}
	have := fmt.Sprintf("%d %ss", e.Have, other)
	if e.Have == 1 {
		have = "1 " + other
	}
	reason := fmt.Sprintf("the %d %ss %s have only %s together", len(set), side, strings.Join(names, ", "), have)
	if len(set) == 1 { // and no partner
		reason = fmt.Sprintf("%s %s has no %s", side, names[0], other)
	}
	return cli.Fail("", "no assignment exists: "+reason,
		"--default gives missing entries a cost", err)

}

// writePairs writes lines of a row and its column, for the rows that have one.
func writePairs(j *job.Job, col []int32) error {
	return j.WriteLines(len(col), func(line func(fields ...string) error) error {
		for i, c := range col {
			if c < 0 {
				continue
			}
			if err := line(j.Graph.Rows.Name(i), j.Graph.Cols.Name(int(c))); err != nil {
				return err
			}
		}
		return nil
	})
}
