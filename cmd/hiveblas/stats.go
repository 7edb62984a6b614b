package main

import (
	"bufio"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/internal/cli"
)

func statsCommand(s *job.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "stats GRAPH",
		Short: "Degrees, symmetry and self-loops of a graph",
		Long: `stats prints the size of a graph, whether it is symmetric, the number of its
self-loops, and the distribution of its degrees: minimum, mean, maximum and a
histogram in powers of two. Out-degrees count the entries of rows, in-degrees
those of columns. A matrix that is not square, and a list read with --bipartite,
has neither symmetry nor self-loops.`,
		Example: `  hiveblas stats graph.mtx.gz
  hiveblas stats follows.txt --undirected --json`,
		Args: cli.Positional("GRAPH"),
	}
	j := job.New(s, cmd).Reads()
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if err := j.Begin(args[0]); err != nil {
			return err
		}
		if err := j.LoadTyped(args[0]); err != nil {
			return err
		}
		v := j.Graph.Values
		m, n := v.Dims()
		square := m == n && !j.Graph.Bipartite
		var symmetric, loops any // null where rows and columns are different vertices
		var out, in job.Degrees
		err := j.Stage("compute", func() error {
			out, in = v.Degrees()
			if square {
				symmetric, loops = v.IsSymmetric(), job.SummaryOf(v.Matrix).Diagonal
			}
			return nil
		})
		if err != nil {
			return err
		}
		figures := []job.Field{{Key: "rows", Label: "rows", Value: m}, {Key: "cols", Label: "columns", Value: n}, {Key: "nnz", Label: "entries", Value: v.NVals()},
			{Key: "symmetric", Label: "symmetric", Value: symmetric}, {Key: "self_loops", Label: "self-loops", Value: loops},
			{Key: "out_degree", Label: "", Value: out.Object()}, {Key: "in_degree", Label: "", Value: in.Object()}}
		if !square {
			figures[3].Label, figures[4].Label = "", ""
		}
		err = j.Report(figures, nil)
		if err != nil || j.Run.Json {
			return err
		}
		return printDegrees(j, out, in)
	}
	return cmd
}

// printDegrees prints both distributions side by side, with bars for out-degrees.
func printDegrees(j *job.Job, out, in job.Degrees) error {
	b := bufio.NewWriter(j.Stdout)
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "\ndegree\tout\tin\t\n")
	fmt.Fprintf(w, "min\t%d\t%d\t\nmean\t%.4g\t%.4g\t\nmax\t%d\t%d\t\n", out.Least, in.Least, out.Mean, in.Mean, out.Most, in.Most)
	var most int64 = 1
	for _, c := range out.Bins {
		most = max(most, c)
	}
	for k := range max(len(out.Bins), len(in.Bins)) {
		lo, hi := job.Span(k)
		label := fmt.Sprint(lo)
		if hi > lo {
			label += fmt.Sprintf("–%d", hi)
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t %s\n", label, at(out.Bins, k), at(in.Bins, k), strings.Repeat("▇", int(at(out.Bins, k)*30/most)))
	}
	w.Flush()
	return j.Printed(b.Flush())
}

func at(bins []int64, k int) int64 {
	if k < len(bins) {
		return bins[k]
	}
	return 0
}
