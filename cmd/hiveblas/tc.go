package main

import (
	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/internal/cli"
)

func tcCommand(s *job.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tc GRAPH",
		Short: "Count triangles",
		Long: `tc counts the triangles: sets of three vertices with edges between all of them.
Directions, weights and self-loops are ignored.`,
		Example: `  hiveblas tc graph.mtx.gz
  hiveblas tc friends.txt --json`,
		Args: cli.Positional("GRAPH"),
	}
	j := job.New(s, cmd).Computes(thresholdTC).Fuses().ReadsBothWays()
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if err := j.Begin(args[0]); err != nil {
			return err
		}
		if err := j.LoadSquare(args[0], job.Structure); err != nil {
			return err
		}
		var triangles int64
		err := j.Compute(func(run apps.Run) (err error) {
			triangles, err = apps.TriangleCount(j.Graph.Matrix, apps.TriangleOptions{Run: run})
			return err
		})
		if err != nil {
			return err
		}
		return j.Report([]job.Field{{Key: "triangles", Label: "triangles", Value: triangles}}, nil)
	}
	return cmd
}
