package main

import (
	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
)

func clusteringCommand(s *job.Session) *cobra.Command {
	return standardCommand{
		use: "clustering GRAPH", short: "Local clustering coefficients",
		long: `clustering computes for every vertex the share of the pairs of its neighbours that are
neighbours of each other, their average, and the transitivity: three times the
triangles over all pairs of neighbours of a vertex. Directions, weights and
self-loops are ignored.`,
		example: `  hiveblas clustering friends.txt -o coefficients.tsv
  hiveblas clustering graph.mtx.gz --json`,
		bothWays: true, threshold: thresholdTC, writes: "the coefficients", files: job.MatrixFiles, top: "highest coefficients",
		run: func(j *job.Job, run apps.Run) (*standardResult, error) {
			c, err := apps.LocalClustering(j.Graph.Matrix, apps.ClusteringOptions{Run: run})
			if err != nil {
				return nil, err
			}
			return &standardResult{
				figures: []job.Field{{Key: "average", Label: "average", Value: c.Average}, {Key: "transitivity", Label: "transitivity", Value: c.Transitivity}},
				write:   func() error { return j.WriteVectorAs(c.Coefficient.Inside()) }, ranks: c.Coefficient,
			}, c.Coefficient.Move(nil)
		},
	}.command(s)
}
