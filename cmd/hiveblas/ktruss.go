package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/matrix"
)

func ktrussCommand(s *job.Session) *cobra.Command {
	var k int
	cmd := &cobra.Command{
		Use:   "ktruss GRAPH -k K",
		Short: "K-truss: the subgraph whose edges are in K−2 triangles",
		Long: `ktruss computes the largest subgraph in which every edge is part of at least K−2
triangles. -o writes its edges, in both directions, with the number of triangles
of each. Directions, weights and self-loops are ignored.`,
		Example: `  hiveblas ktruss graph.mtx.gz -k 5 -o core.tsv`,
		Args:    cli.Positional("GRAPH"),
	}
	j := job.New(s, cmd).Computes(thresholdKTruss).ReadsBothWays().Writes("the edges", job.GraphFiles...)
	cmd.Flags().IntVarP(&k, "k", "k", 0, "order `K` of the truss, 3 or more")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !cmd.Flags().Changed("k") {
			return cli.Usage(cmd.CommandPath(), "-k is missing")
		}
		if k < 3 {
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf("-k is %d, want 3 or more", k))
		}
		if err := j.Begin(args[0]); err != nil {
			return err
		}
		if err := j.LoadSquare(args[0], job.Structure); err != nil {
			return err
		}
		var truss *matrix.Matrix[int64]
		err := j.Compute(func(run apps.Run) (err error) {
			truss, err = apps.KTruss(j.Graph.Matrix, k, apps.KTrussOptions{Run: run})
			return job.ToHost(err, truss)
		})
		if err != nil {
			return err
		}
		err = j.Writing(func() error { return j.WriteMatrixAs(truss.Inside(), j.Graph.Rows, j.Graph.Cols) })
		if err != nil {
			return err
		}
		vertices := 0
		for range truss.Rows() {
			vertices++
		}
		return j.Report([]job.Field{
			{Key: "vertices", Label: "vertices", Value: vertices}, {Key: "edges", Label: "edges", Value: truss.NVals() / 2},
		}, nil)
	}
	return cmd
}
