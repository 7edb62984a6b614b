package main

import (
	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
)

func ccCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cc GRAPH",
		Short: "Connected components",
		Long: `cc computes the connected components, the weak ones of a directed graph. -o writes
for each vertex the smallest vertex of its component.`,
		Example: `  hiveblas cc graph.mtx.gz -o components.tsv
  hiveblas cc friends.csv --ids renumber --json`,
		Args: positional("GRAPH"),
	}
	j := newJob(s, cmd).computes(thresholdCC).fuses().reads().writes("the components", matrixFiles...)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if err := j.begin(args[0]); err != nil {
			return err
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
		if err := j.writing(func() error { return j.writeVertices(res.Label) }); err != nil {
			return err
		}
		return j.report(j.method(j.hostOrGPU("FastSV", "")), []field{
			{"components", "components", res.Count}, {"largest", "largest", res.Largest},
		}, nil)
	}
	return cmd
}
