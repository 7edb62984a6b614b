package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hiveblas/hiveblas/apps"
)

func cdlpCommand(s *session) *cobra.Command {
	most := 0
	return standardCommand{
		use: "cdlp GRAPH", short: "Communities by label propagation",
		long: `cdlp computes communities by synchronous label propagation, as the LDBC Graphalytics
benchmark defines it: in each iteration every vertex takes the label that most of
its neighbours have, the smallest one of several. Labels begin as the vertices. In a
directed graph a neighbour with edges in both directions counts twice. -o writes the
label of each vertex. See louvain for communities of large modularity.`,
		example: `  hiveblas cdlp friends.txt --undirected -o communities.tsv
  hiveblas cdlp graph.mtx.gz --iterations 30 --json`,
		fused: true, threshold: noThreshold, writes: "the labels", files: matrixFiles,
		flags: func(fs *pflag.FlagSet) { fs.IntVar(&most, "iterations", 10, "stop after `N` iterations") },
		check: func(_ *job, _ string, bad func(string, ...any) error) error {
			if most < 1 {
				return bad("--iterations is %d, want 1 or more", most)
			}
			return nil
		},
		run: func(j *job, run apps.Run) (*standardResult, error) {
			c, err := apps.LabelPropagation(j.graph.Matrix, apps.LabelPropagationOptions{Run: run, MaxIterations: most})
			if err != nil {
				return nil, err
			}
			return &standardResult{algorithm: "label propagation",
				figures: []field{{"communities", "communities", c.Count}, {"largest", "largest", c.Largest},
					{"iterations", "iterations", c.Iterations}, {"stable", "stable", c.Stable}},
				write: func() error { return j.writeVertices(c.Label) },
			}, c.Label.Move(nil)
		},
	}.command(s)
}
