package main

import (
	"cmp"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/matrix"
)

func ccCommand(s *session) *cobra.Command {
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
	j := newJob(s, cmd).computes(thresholdCC).fuses().reads().writes("the components", matrixFiles...)
	j.scales(estimateCC)
	cmd.Flags().BoolVar(&sizes, "sizes", false, "list the components by size, and write their sizes (.tsv, .csv)")
	cmd.Flags().IntVar(&top, "top", 10, "list the `N` largest components of --sizes")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkTop(cmd, top); err != nil {
			return err
		}
		if cmd.Flags().Changed("top") && !sizes {
			return cli.Usage(cmd.CommandPath(), "--top needs --sizes")
		}
		if err := j.begin(args[0]); err != nil {
			return err
		}
		if sizes && j.out.path != "" && !slices.Contains(listFiles, j.out.kind) {
			return cli.Usage(cmd.CommandPath(), "--sizes writes .tsv or .csv, not "+j.out.kind)
		}
		if err := j.loadSquare(args[0], structure); err != nil {
			return err
		}
		var res *apps.Components
		err := j.compute(func(run apps.Run) (err error) {
			res, err = apps.ConnectedComponents(j.graph.Matrix, apps.ComponentsOptions{Run: run})
			if err != nil {
				return err
			}
			return res.Label.Move(nil)
		})
		if err != nil {
			return err
		}
		var list *ranking
		write := func() error { return j.writeVertices(res.Label) }
		if sizes {
			all := componentSizes(res.Label)
			write = func() error { return writeSizes(j, all) }
			list = listed(j, "component of", "vertices", all, top)
		}
		if err := j.writing(write); err != nil {
			return err
		}
		return j.report(j.pipelineMethod("FastSV"), []field{
			{"components", "components", res.Count}, {"largest", "largest", res.Largest},
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
func writeSizes(j *job, all []apps.Nomination[float64]) error {
	return j.writeLines(len(all), func(line func(fields ...string) error) error {
		for _, c := range all {
			if err := line(j.graph.name(c.Vertex), text(c.Distance)); err != nil {
				return err
			}
		}
		return nil
	})
}
