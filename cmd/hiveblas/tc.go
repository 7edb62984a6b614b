package main

import (
	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/internal/cli"
)

func tcCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tc GRAPH",
		Short: "Count triangles",
		Long: `tc counts the triangles: sets of three vertices with edges between all of them.
Directions, weights and self-loops are ignored.`,
		Example: `  hiveblas tc graph.mtx.gz
  hiveblas tc friends.txt --json`,
		Args: cli.Positional("GRAPH"),
	}
	j := newJob(s, cmd).computes(thresholdTC).fuses().readsBothWays()
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if err := j.begin(args[0]); err != nil {
			return err
		}
		if err := j.loadSquare(args[0], structure); err != nil {
			return err
		}
		var triangles int64
		err := j.compute(func(run apps.Run) (err error) {
			triangles, err = apps.TriangleCount(j.graph.Matrix, apps.TriangleOptions{Run: run})
			return err
		})
		if err != nil {
			return err
		}
		return j.report(j.pipelineMethod("L·Lᵀ by degree"), []field{{"triangles", "triangles", triangles}}, nil)
	}
	return cmd
}
