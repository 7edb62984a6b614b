package main

import (
	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/matrix"
)

func ssspCommand(s *session) *cobra.Command {
	var (
		source string
		delta  float64
	)
	cmd := &cobra.Command{
		Use:   "sssp GRAPH --source V",
		Short: "Single-source shortest paths over weights",
		Long: `sssp finds the length of the shortest path from a source to every vertex, edges
being followed from row to column. Weights must not be negative; zero is a
weight like any other. Vertices that cannot be reached are left out.`,
		Example: `  hiveblas sssp roads.mtx.gz --source 0 -o distances.tsv
  hiveblas sssp roads.tsv --source 7 --undirected --delta 100 --json`,
		Args: positional("GRAPH"),
	}
	j := newJob(s, cmd).computes(worthPaths).reads().writes("the distances", matrixFiles...)
	cmd.Flags().StringVar(&source, "source", "", "the `vertex` to begin at, from 0")
	cmd.Flags().Float64Var(&delta, "delta", 0, "`width` of the distance buckets (default: from the weights)")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := j.checkSource(source); err != nil {
			return err
		}
		if err := checkDelta(cmd, delta); err != nil {
			return err
		}
		if err := j.begin(args[0]); err != nil {
			return err
		}
		if err := j.loadSquare(args[0], weighted); err != nil {
			return err
		}
		v, err := j.graph.vertex("--source", source)
		if err != nil {
			return err
		}
		var dist *matrix.Vector[float64]
		err = j.compute(func(run apps.Run) (err error) {
			dist, err = apps.SSSP(j.graph.Matrix, []int{v}, apps.SSSPOptions[float64]{Run: run, Delta: delta})
			return home(err, dist)
		})
		if err != nil {
			return err
		}
		if err := j.writing(func() error { return j.writeVector(dist) }); err != nil {
			return err
		}
		return j.report(j.method(j.either("delta-stepping", "")), distanceFigures(dist), nil)
	}
	return cmd
}
