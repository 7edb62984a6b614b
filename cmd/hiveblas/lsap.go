package main

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/auction"
)

func lsapCommand(s *session) *cobra.Command {
	var (
		o       auction.Options
		def     float64
		method  string
		jacobi  bool
		methods = map[string]auction.Method{"auto": auction.MethodAuto, "auction": auction.MethodAuction, "paths": auction.MethodJonkerVolgenant}
	)
	cmd := &cobra.Command{
		Use:   "lsap COSTS",
		Short: "Linear sum assignment: each row a column of its own, at the least cost",
		Long: `lsap assigns rows to distinct columns so that the costs of the pairs add up to the
least, or with --maximize to the most. The shorter side is assigned wholly. A
missing entry of the matrix is a forbidden pair, unless --default gives it a
cost. The result is an optimum unless --epsilon allows for less; gap bounds what
it misses. If no assignment is allowed, the command fails and names rows that
have too few columns together.`,
		Example: `  hiveblas lsap costs.mtx -o assignment.tsv
  hiveblas lsap similarities.mtx.gz --maximize --default 0 --json
  hiveblas lsap counts.mtx --maximize --default 0 --epsilon 1`,
		Args: positional("COSTS"),
	}
	j := newJob(s, cmd).computes(never).reads().writes("row and column of each pair", lists...)
	cmd.Flags().BoolVar(&o.Maximize, "maximize", false, "look for the most in place of the least")
	cmd.Flags().BoolVar(&o.Exact, "exact", false, "find an optimum whatever --epsilon, which is then where the bidding ends")
	cmd.Flags().Float64Var(&def, "default", 0, "`cost` of a missing entry (default: it is a forbidden pair)")
	cmd.Flags().Float64Var(&o.Epsilon, "epsilon", 0, "`cost` by which each pair may miss its best (0: an optimum)")
	cmd.Flags().StringVar(&method, "method", "auto", "`how`: auto, auction (bids) or paths (shortest augmenting paths)")
	cmd.Flags().BoolVar(&jacobi, "jacobi", false, "in an auction all rows bid at once, as they do on a GPU")
	cmd.Flags().Uint64Var(&o.Seed, "random-seed", 0, "`number` that decides between equal columns in an auction")
	cmd.Flags().Lookup("default").DefValue = "0"
	complete(cmd, "method", "auto", "auction", "paths")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var known bool
		o.Method, known = methods[method]
		implicit := cmd.Flags().Changed("default")
		switch {
		case !known:
			return &usageError{cmd.CommandPath(), fmt.Sprintf("--method is %q, want auto, auction or paths", method)}
		case !(o.Epsilon >= 0) || math.IsInf(o.Epsilon, 0):
			return &usageError{cmd.CommandPath(), fmt.Sprintf("--epsilon is %v, want 0 or a positive number", o.Epsilon)}
		case implicit && (math.IsNaN(def) || math.IsInf(def, 0)):
			return &usageError{cmd.CommandPath(), fmt.Sprintf("--default is %v, want a finite number", def)}
		}
		if jacobi {
			o.Bidding = auction.Jacobi
		}
		if err := j.begin(args[0]); err != nil {
			return err
		}
		if err := j.load(args[0], weighted); err != nil {
			return err
		}
		var res *auction.Result
		err := j.compute(func(run apps.Run) (err error) {
			o.Context, o.Threads, o.Progress, o.Trace = run.Context, run.Threads, run.Progress, run.Trace
			p := auction.Sparse[float64](j.graph.Matrix)
			if implicit {
				p = auction.Implicit[float64](j.graph.Matrix, def)
			}
			res, err = auction.Solve(p, o)
			return j.infeasible(err)
		})
		if err != nil {
			return err
		}
		if err := j.writing(func() error { return j.writePairs(res.Row) }); err != nil {
			return err
		}
		m, n := j.graph.Dims()
		return j.report(res.Method, []field{
			{"value", "value", res.Value}, {"gap", "gap", res.Gap}, {"assigned", "assigned", min(m, n)},
			{"rounds", "", res.Rounds}, {"bids", "", res.Bids},
		}, nil)
	}
	return cmd
}

// infeasible names the rows, or columns, that have too few partners together.
func (j *job) infeasible(err error) error {
	var e *auction.InfeasibleError
	if !errors.As(err, &e) {
		return err
	}
	set, labels, side, other := e.Rows, j.graph.rows, "rows", "columns"
	if e.Cols != nil {
		set, labels, side, other = e.Cols, j.graph.cols, "columns", "rows"
	}
	const most = 100 // names in a line
	var names []string
	for _, v := range set[:min(len(set), most)] {
		names = append(names, labels.Name(int(v)))
	}
	if len(set) > most {
		names = append(names, "…")
	}
	return &failure{"", fmt.Sprintf("no assignment is allowed: the %d %s %s have together %d %s", len(set), side, strings.Join(names, ", "), e.Have, other),
		"--default gives missing entries a cost", err}
}

// writePairs writes lines of a row and its column, for the rows that have one.
func (j *job) writePairs(col []int32) error {
	return j.writeLines(func(line func(fields ...string) error) error {
		for i, c := range col {
			if c < 0 {
				continue
			}
			if err := line(j.graph.rows.Name(i), j.graph.cols.Name(int(c))); err != nil {
				return err
			}
		}
		return nil
	})
}
