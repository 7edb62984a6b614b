package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/comm/model"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/matrix"
)

func pagerankCommand(s *job.Session) *cobra.Command {
	var (
		damping, tol float64
		most, top    int
		seeds        string
		byWeight     bool
		single       bool
	)
	cmd := &cobra.Command{
		Use:   "pagerank GRAPH",
		Short: "PageRank: the stationary distribution of a random walk",
		Long: `pagerank computes the stationary distribution of a random walk. The walk follows an
edge with probability --damping and otherwise jumps to a random vertex, always from
a vertex without out-edges. It stops when the ranks change by at most --tolerance in
sum, and fails after --max-iterations. --single computes in float32, faster and to about
6 digits, with a --tolerance of 1e-6. With --seeds it jumps to one of them instead of
any vertex (personalised PageRank). --weighted follows an edge in proportion to its
weight; without it weights are ignored.`,
		Example: `  hiveblas pagerank web.mtx.gz -o ranks.tsv --top 20
  hiveblas pagerank follows.csv --ids renumber --seeds alice,bob --weighted
  hiveblas pagerank web.txt --ids renumber --damping 0.9 --tolerance 1e-12 --json`,
		Args: cli.Positional("GRAPH"),
	}
	j := job.New(s, cmd).Computes(thresholdPageRank).Fuses().Reads().Writes("the ranks", job.MatrixFiles...)
	j.Scales(func(j *job.Job, _ int64) model.Work { return estimateIterations(j, damping, tol, most) })
	cmd.Flags().Float64Var(&damping, "damping", 0.85, "probability `P` of following an edge, between 0 and 1")
	cmd.Flags().Float64Var(&tol, "tolerance", 1e-9, "stop when the changes of the ranks sum to at most `T`")
	cmd.Flags().IntVar(&most, "max-iterations", 1000, "fail after `N` iterations")
	cmd.Flags().IntVar(&top, "top", 10, "list the `N` highest ranks")
	cmd.Flags().StringVar(&seeds, "seeds", "", "jump to the vertices `V,V,…`, or to those in a file")
	cmd.Flags().BoolVar(&single, "single", false, "compute in float32")
	cmd.Flags().BoolVar(&byWeight, "weighted", false, "follow edges in proportion to their weights")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case !(damping > 0 && damping < 1):
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--damping is %v, want between 0 and 1", damping))
		case !(tol > 0):
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--tolerance is %v, want a positive number", tol))
		case most < 1:
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--max-iterations is %d, want 1 or more", most))
		}
		if single && (byWeight || cmd.Flags().Changed("seeds")) {
			return cli.Usage(cmd.CommandPath(), "--single goes without --weighted and --seeds, which compute in float64")
		}
		if single && !cmd.Flags().Changed("tolerance") {
			tol = 1e-6
		}
		if err := checkTop(cmd, top); err != nil {
			return err
		}
		if cmd.Flags().Changed("seeds") {
			if err := j.CheckSeeds(seeds, args[0]); err != nil {
				return err
			}
		}
		if err := j.Begin(args[0]); err != nil {
			return err
		}
		if err := j.LoadSquare(args[0], job.ContentOf(byWeight)); err != nil {
			return err
		}
		restart, err := restart(j, seeds)
		if err != nil {
			return err
		}
		rank := apps.PageRank[float64]
		if byWeight {
			rank = apps.WeightedPageRank[float64]
		}
		var res *apps.PageRankResult
		err = j.Compute(func(run apps.Run) (err error) {
			run.Progress = func(_ string, done, _ int64) { // the number of iterations is not known in advance
				j.Progress.Update(fmt.Sprintf("pagerank, iteration %d", done), 0, 0)
			}
			res, err = rank(j.Graph.Matrix, apps.PageRankOptions{Run: run, Damping: damping, Tolerance: tol, MaxIterations: most, Restart: restart, Single: single})
			if err != nil {
				return err
			}
			return res.Rank.Move(nil)
		})
		if err != nil {
			return err
		}
		if !res.Converged {
			return cli.Fail(j.Graph.File, fmt.Sprintf("the ranks still change by %.3g after %d iterations, above --tolerance %g", res.Change, res.Iterations, tol),
				"raise --max-iterations or --tolerance", nil)

		}
		if err := j.Writing(func() error { return j.WriteVectorAs(res.Rank.Inside()) }); err != nil {
			return err
		}
		var sum job.Total
		for _, r := range res.Rank.All() {
			sum.Add(r)
		}
		return j.Report([]job.Field{
			{Key: "iterations", Label: "iterations", Value: res.Iterations}, {Key: "sum", Label: "sum", Value: sum.Value()}, {Key: "change", Label: "", Value: res.Change}, {Key: "", Label: "last change", Value: fmt.Sprintf("%.3g", res.Change)},
		}, highest(j, res.Rank, top))
	}
	return cmd
}

// restart returns weights of the vertices of --seeds, nil without the flag.
func restart(j *job.Job, seeds string) (*matrix.Vector[float64], error) {
	if seeds == "" {
		return nil, nil
	}
	list, err := j.Seeds(seeds)
	if err != nil {
		return nil, err
	}
	n, _ := j.Graph.Dims()
	return matrix.VectorFromTuples(n, list, slices.Repeat([]float64{1}, len(list)), nil)
}

// highest lists the vertices with the largest values; ties are ordered by number.
func highest(j *job.Job, v *matrix.Vector[float64], top int) *job.Ranking {
	list := make([]apps.Nomination[float64], 0, v.NVals())
	for i, x := range v.All() {
		list = append(list, apps.Nomination[float64]{Vertex: i, Distance: x})
	}
	slices.SortStableFunc(list, func(a, b apps.Nomination[float64]) int { return cmp.Compare(b.Distance, a.Distance) })
	return listed(j, "vertex", "rank", list, top)
}
