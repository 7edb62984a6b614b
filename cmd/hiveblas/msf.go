package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hiveblas/hiveblas/apps"
)

func msfCommand(s *session) *cobra.Command {
	maximum := false
	return standardCommand{
		use: "msf GRAPH", short: "Minimum spanning forest",
		long: `msf computes the spanning forest of least weight: a tree for each connected component.
--maximum computes that of the greatest weight. Directions and self-loops are
ignored; of two weights of an edge the lesser counts (with --maximum the greater).
-o writes the edges of the forest, in both directions. It computes on the host.`,
		example: `  hiveblas msf roads.mtx.gz -o tree.tsv
  hiveblas msf similar.tsv --maximum --json`,
		threshold: noThreshold, writes: "the forest", files: graphFiles, reads: weighted,
		flags: func(fs *pflag.FlagSet) { fs.BoolVar(&maximum, "maximum", false, "the forest of the greatest weight") },
		run: func(j *job, run apps.Run) (*standardResult, error) {
			c, err := apps.MinimumSpanningForest(j.graph.Matrix, apps.SpanningOptions{Run: run, Maximum: maximum})
			if err != nil {
				return nil, err
			}
			return &standardResult{
				figures: []field{{"weight", "weight", c.Weight}, {"edges", "edges", c.Edges}, {"trees", "trees", c.Trees}},
				write:   func() error { return j.writeMatrix(c.Forest, j.graph.cols) },
			}, nil
		},
	}.command(s)
}
