package main

import (
	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
)

func clusteringCommand(s *session) *cobra.Command {
	return standardCommand{
		use: "clustering GRAPH", short: "Local clustering coefficients",
		long: `clustering computes for every vertex the share of the pairs of its neighbours that are
neighbours of each other, their average, and the transitivity: three times the
triangles over all pairs of neighbours of a vertex. Directions, weights and
self-loops are ignored.`,
		example: `  hiveblas clustering friends.txt -o coefficients.tsv
  hiveblas clustering graph.mtx.gz --json`,
		bothWays: true, threshold: thresholdTC, writes: "the coefficients", files: matrixFiles, top: "highest coefficients",
		run: func(j *job, run apps.Run) (*standardResult, error) {
			c, err := apps.LocalClustering(j.graph.Matrix, apps.ClusteringOptions{Run: run})
			if err != nil {
				return nil, err
			}
			return &standardResult{
				figures: []field{{"average", "average", c.Average}, {"transitivity", "transitivity", c.Transitivity}},
				write:   func() error { return j.writeVectorAs(c.Coefficient.Inside()) }, ranks: c.Coefficient,
			}, c.Coefficient.Move(nil)
		},
	}.command(s)
}
