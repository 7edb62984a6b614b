package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
)

func msfCommand(s *job.Session) *cobra.Command {
	maximum := false
	return standardCommand{
		use: "msf GRAPH", short: "Minimum spanning forest",
		long: `msf computes the spanning forest of least weight: a tree for each connected component.
--maximum computes that of the greatest weight. Directions and self-loops are
ignored; of two weights of an edge the lesser counts (with --maximum the greater).
-o writes the edges of the forest, in both directions.`,
		example: `  hiveblas msf roads.mtx.gz -o tree.tsv
  hiveblas msf similar.tsv --maximum --json`,
		fused: true, threshold: noThreshold, writes: "the forest", files: job.GraphFiles, reads: job.Weighted,
		flags: func(fs *pflag.FlagSet) { fs.BoolVar(&maximum, "maximum", false, "the forest of the greatest weight") },
		run: func(j *job.Job, run apps.Run) (*standardResult, error) {
			c, err := apps.MinimumSpanningForest(j.Graph.Matrix, apps.SpanningOptions{Run: run, Maximum: maximum})
			if err != nil {
				return nil, err
			}
			return &standardResult{
				figures: []job.Field{{Key: "weight", Label: "weight", Value: c.Weight}, {Key: "edges", Label: "edges", Value: c.Edges}, {Key: "trees", Label: "trees", Value: c.Trees}},
				write:   func() error { return j.WriteMatrix(c.Forest, j.Graph.Cols) },
			}, nil
		},
	}.command(s)
}
