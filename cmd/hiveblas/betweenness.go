package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
)

func betweennessCommand(s *job.Session) *cobra.Command {
	var sample sampleFlags
	normalised := false
	return standardCommand{
		use: "betweenness GRAPH", short: "Betweenness centrality: how many shortest paths pass through a vertex",
		long: `betweenness computes for every vertex the sum, over all pairs of other vertices, of the
share of the shortest paths between them that pass through it. Paths have the
fewest edges; weights are ignored. In a symmetric graph a pair counts once. The
time is that of a search from every vertex; --samples estimates from fewer.`,
		example: `  hiveblas betweenness friends.txt --undirected -o centrality.tsv
  hiveblas betweenness graph.mtx.gz --samples 500 --normalised --top 20`,
		fused: true, threshold: noThreshold, writes: "the centralities", files: job.MatrixFiles, top: "most central vertices",
		flags: func(fs *pflag.FlagSet) {
			sample.add(fs)
			fs.BoolVar(&normalised, "normalised", false, "divide by the number of pairs of other vertices")
		},
		check: sample.check,
		run: func(j *job.Job, run apps.Run) (*standardResult, error) {
			c, err := apps.Betweenness(j.Graph.Matrix, apps.BetweennessOptions{Run: run, Samples: sample.samples, Seed: sample.seed,
				Undirected: j.Graph.IsSymmetric(), Normalised: normalised})
			if err != nil {
				return nil, err
			}
			return &standardResult{figures: []job.Field{{Key: "sources", Label: "sources", Value: c.Sources}},
				write: func() error { return j.WriteVectorAs(c.Centrality.Inside()) }, ranks: c.Centrality,
			}, c.Centrality.Move(nil)
		},
	}.command(s)
}
