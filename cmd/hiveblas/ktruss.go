package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/matrix"
)

func ktrussCommand(s *session) *cobra.Command {
	var k int
	cmd := &cobra.Command{
		Use:   "ktruss GRAPH -k K",
		Short: "K-truss: the part of a graph where every edge is in K−2 triangles",
		Long: `ktruss finds the largest subgraph in which every edge is in at least K−2
triangles of the subgraph. -o writes its edges, in both directions, with the
number of triangles that each is in. Directions, weights and self-loops of the
graph mean nothing.`,
		Example: `  hiveblas ktruss graph.mtx.gz -k 5 -o core.tsv`,
		Args:    positional("GRAPH"),
	}
	j := newJob(s, cmd).computes(worthKTruss).reads().writes("the edges", matrixFiles...)
	cmd.Flags().IntVarP(&k, "k", "k", 0, "the `order` of the truss, 3 or more")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !cmd.Flags().Changed("k") {
			return &usageError{cmd.CommandPath(), "-k is missing"}
		}
		if k < 3 {
			return &usageError{cmd.CommandPath(), fmt.Sprintf("-k is %d, want 3 or more", k)}
		}
		if err := j.begin(args[0]); err != nil {
			return err
		}
		if err := j.loadSquare(args[0], structure); err != nil {
			return err
		}
		var truss *matrix.Matrix[int64]
		err := j.compute(func(run apps.Run) (err error) {
			truss, err = apps.KTruss(j.graph.Matrix, k, apps.KTrussOptions{Run: run})
			return home(err, truss)
		})
		if err != nil {
			return err
		}
		err = j.writing(func() error { return writeMatrixAs(j, truss, j.graph.rows, j.graph.cols) })
		if err != nil {
			return err
		}
		vertices := 0
		for range truss.Rows() {
			vertices++
		}
		return j.report(j.method("repeated support"), []field{
			{"vertices", "vertices", vertices}, {"edges", "edges", truss.NVals() / 2},
		}, nil)
	}
	return cmd
}
