package main

import (
	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
)

func eigenvectorCommand(s *job.Session) *cobra.Command {
	var f iterationFlags
	return standardCommand{
		use: "eigenvector GRAPH", short: "Eigenvector centrality",
		long: `eigenvector computes the eigenvector of the largest eigenvalue of the graph, of
Euclidean norm 1: a vertex is as central as the vertices with edges to it. Weights
are ignored. Graphs without cycles have no such vector; see katz.`,
		example: `  hiveblas eigenvector friends.txt --undirected -o centrality.tsv
  hiveblas eigenvector graph.mtx.gz --top 20 --json`,
		threshold: thresholdPageRank, writes: "the centralities", files: job.MatrixFiles, top: "most central vertices", flags: f.add, check: f.check,
		run: func(j *job.Job, run apps.Run) (*standardResult, error) {
			c, err := apps.EigenvectorCentrality(j.Graph.Matrix, apps.CentralityOptions{Run: run, Tolerance: f.tolerance, MaxIterations: f.most})
			if err != nil {
				return nil, err
			}
			return &standardResult{failed: f.unconverged(j, c.Converged, c.Change, c.Iterations),
				figures: []job.Field{{Key: "iterations", Label: "iterations", Value: c.Iterations}}, ranks: c.Centrality,
				write: func() error { return j.WriteVectorAs(c.Centrality.Inside()) },
			}, c.Centrality.Move(nil)
		},
	}.command(s)
}
