package main

import (
	"cmp"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/matrix"
)

func ccCommand(s *job.Session) *cobra.Command {
	var (
		sizes bool
		top   int
	)
	cmd := &cobra.Command{
		Use:   "cc GRAPH",
		Short: "Connected components",
		Long: `cc computes the connected components, the weak ones of a directed graph. -o writes
for each vertex the smallest vertex of its component, or with --sizes for each
component its smallest vertex and its size, the largest first.`,
		Example: `  hiveblas cc graph.mtx.gz -o components.tsv
  hiveblas cc graph.mtx.gz --sizes --top 20
  hiveblas cc friends.csv --ids renumber --json`,
		Args: cli.Positional("GRAPH"),
	}
	j := job.New(s, cmd).Computes(thresholdCC).Fuses().Reads().Writes("the components", job.MatrixFiles...)
	j.Scales(estimateCC)
	cmd.Flags().BoolVar(&sizes, "sizes", false, "list the components by size, and write their sizes (.tsv, .csv)")
	cmd.Flags().IntVar(&top, "top", 10, "list the `N` largest components of --sizes")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkTop(cmd, top); err != nil {
			return err
		}
		if cmd.Flags().Changed("top") && !sizes {
			return cli.Usage(cmd.CommandPath(), "--top needs --sizes")
		}
		if err := j.Begin(args[0]); err != nil {
			return err
		}
		if sizes && j.Out.Path != "" && !slices.Contains(job.ListFiles, j.Out.Kind) {
			return cli.Usage(cmd.CommandPath(), "--sizes writes .tsv or .csv, not "+j.Out.Kind)
		}
		if err := j.LoadSquare(args[0], job.Structure); err != nil {
			return err
		}
		var res *apps.Components
		err := j.Compute(func(run apps.Run) (err error) {
			res, err = apps.ConnectedComponents(j.Graph.Matrix, apps.ComponentsOptions{Run: run})
			if err != nil {
				return err
			}
			return res.Label.Move(nil)
		})
		if err != nil {
			return err
		}
		var list *job.Ranking
		write := func() error { return j.WriteVertices(res.Label) }
		if sizes {
			all := componentSizes(res.Label)
			write = func() error { return writeSizes(j, all) }
			list = listed(j, "component of", "vertices", all, top)
		}
		if err := j.Writing(write); err != nil {
			return err
		}
		return j.Report([]job.Field{
			{Key: "components", Label: "components", Value: res.Count}, {Key: "largest", Label: "largest", Value: res.Largest},
		}, list)
	}
	return cmd
}

// componentSizes returns the smallest vertex of each component with its size, the largest first;
// ties are ordered by vertex.
func componentSizes(label *matrix.Vector[int32]) []apps.Nomination[float64] {
	count := make([]int64, label.Size())
	for _, v := range label.All() {
		count[v]++
	}
	var all []apps.Nomination[float64]
	for v, n := range count {
		if n > 0 {
			all = append(all, apps.Nomination[float64]{Vertex: v, Distance: float64(n)})
		}
	}
	slices.SortStableFunc(all, func(a, b apps.Nomination[float64]) int { return cmp.Compare(b.Distance, a.Distance) })
	return all
}

// writeSizes writes lines of a vertex of a component and its size.
func writeSizes(j *job.Job, all []apps.Nomination[float64]) error {
	return j.WriteLines(len(all), func(line func(fields ...string) error) error {
		for _, c := range all {
			if err := line(j.Graph.Name(c.Vertex), job.Text(c.Distance)); err != nil {
				return err
			}
		}
		return nil
	})
}
