package main

import (
	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/matrix"
)

func ssspCommand(s *job.Session) *cobra.Command {
	var (
		source string
		delta  float64
	)
	cmd := &cobra.Command{
		Use:   "sssp GRAPH --source V",
		Short: "Single-source shortest paths over weights",
		Long: `sssp computes the length of the shortest path from a source, or the nearest of several,
to every vertex. Paths follow edges from row to column. Weights must not be negative and may be zero.
Vertices that the source does not reach are omitted.`,
		Example: `  hiveblas sssp roads.mtx.gz --source 0 -o distances.tsv
  hiveblas sssp roads.tsv --source 7 --undirected --delta 100 --json`,
		Args: cli.Positional("GRAPH"),
	}
	j := job.New(s, cmd).Computes(thresholdPaths).Fuses().Reads().Writes("the distances", job.MatrixFiles...)
	j.Scales(estimatePaths)
	cmd.Flags().StringVar(&source, "source", "", "source vertex `V`: a number from 0, or a name; several separated by commas, or in a file")
	cmd.Flags().Float64Var(&delta, "delta", 0, "width `W` of the distance buckets (default: from the weights)")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkSource(j, source, args[0]); err != nil {
			return err
		}
		if err := checkDelta(cmd, delta); err != nil {
			return err
		}
		if err := j.Begin(args[0]); err != nil {
			return err
		}
		if err := j.LoadSquare(args[0], job.Weighted); err != nil {
			return err
		}
		vs, err := j.Vertices("--source", source)
		if err != nil {
			return err
		}
		var dist *matrix.Vector[float64]
		err = j.Compute(func(run apps.Run) (err error) {
			dist, err = apps.SSSP(j.Graph.Matrix, vs, apps.SSSPOptions[float64]{Run: run, Delta: delta})
			return job.ToHost(err, dist)
		})
		if err != nil {
			return err
		}
		if err := j.Writing(func() error { return j.WriteVector(dist) }); err != nil {
			return err
		}
		return j.Report(distanceFigures(dist), nil)
	}
	return cmd
}
