package main

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
)

func cdlpCommand(s *job.Session) *cobra.Command {
	most := 0
	return standardCommand{
		use: "cdlp GRAPH", short: "Communities by label propagation",
		long: `cdlp computes communities by synchronous label propagation, as the LDBC Graphalytics
benchmark defines it: in each iteration every vertex takes the label that most of
its neighbours have, the smallest one of several. Labels begin as the vertices. In a
directed graph a neighbour with edges in both directions counts twice. -o writes the
label of each vertex. The modularity of the communities is printed for undirected
graphs, without weights. See louvain for communities of large modularity.`,
		example: `  hiveblas cdlp friends.txt --undirected -o communities.tsv
  hiveblas cdlp graph.mtx.gz --iterations 30 --json`,
		fused: true, threshold: noThreshold, writes: "the labels", files: job.MatrixFiles,
		flags: func(fs *pflag.FlagSet) { fs.IntVar(&most, "iterations", 10, "stop after `N` iterations") },
		check: func(_ *job.Job, _ string, bad func(string, ...any) error) error {
			if most < 1 {
				return bad("--iterations is %d, want 1 or more", most)
			}
			return nil
		},
		run: func(j *job.Job, run apps.Run) (*standardResult, error) {
			c, err := apps.LabelPropagation(j.Graph.Matrix, apps.LabelPropagationOptions{Run: run, MaxIterations: most})
			if err != nil {
				return nil, err
			}
			figures := []job.Field{{Key: "communities", Label: "communities", Value: c.Count}, {Key: "largest", Label: "largest", Value: c.Largest},
				{Key: "iterations", Label: "iterations", Value: c.Iterations}, {Key: "stable", Label: "stable", Value: c.Stable}}
			if err := c.Label.Move(nil); err != nil {
				return nil, err
			}
			run.Method = apps.Auto
			quality := func() ([]job.Field, error) {
				q, err := apps.Modularity(j.Graph.Matrix.Pattern(), c.Label, apps.ModularityOptions{Run: run})
				if directed := (*apps.ParameterError)(nil); errors.As(err, &directed) {
					return nil, nil
				}
				return []job.Field{{Key: "modularity", Label: "modularity", Value: q}}, err
			}
			return &standardResult{figures: figures, more: quality, write: func() error { return j.WriteVertices(c.Label) }}, nil
		},
	}.command(s)
}
