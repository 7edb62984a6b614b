package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/matrix"
)

func closenessCommand(s *job.Session) *cobra.Command {
	var sample sampleFlags
	harmonic, incoming := false, false
	return standardCommand{
		use: "closeness GRAPH", short: "Closeness centrality: how near a vertex is to all others",
		long: `closeness computes for every vertex r/(n−1) · r/Σd, where r is the number of vertices that
it reaches and Σd the sum of the distances to them, in edges. --harmonic sums 1/d
instead. Weights are ignored. --samples estimates from the distances to some
vertices. Distances are those along the edges from the vertex, with --incoming
those to it.`,
		example: `  hiveblas closeness friends.txt --undirected -o closeness.tsv
  hiveblas closeness web.mtx.gz --harmonic --incoming --samples 1000`,
		fused: true, threshold: noThreshold, writes: "the centralities", files: job.MatrixFiles, top: "most central vertices",
		flags: func(fs *pflag.FlagSet) {
			sample.add(fs)
			fs.BoolVar(&harmonic, "harmonic", false, "the sum of the reciprocal distances")
			fs.BoolVar(&incoming, "incoming", false, "distances from the other vertices")
		},
		check: sample.check,
		run: func(j *job.Job, run apps.Run) (*standardResult, error) {
			var g matrix.Source[float64] = j.Graph.Matrix
			if incoming {
				g = j.Graph.T()
			}
			c, err := apps.Closeness(g, apps.ClosenessOptions{Run: run, Samples: sample.samples, Seed: sample.seed})
			if err != nil {
				return nil, err
			}
			ranks := c.Closeness
			if harmonic {
				ranks = c.Harmonic
			}
			return &standardResult{figures: []job.Field{{Key: "targets", Label: "targets", Value: c.Targets}},
				write: func() error { return j.WriteVectorAs(ranks.Inside()) }, ranks: ranks,
			}, ranks.Move(nil)
		},
	}.command(s)
}
