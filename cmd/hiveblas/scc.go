package main

import (
	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
)

func sccCommand(s *job.Session) *cobra.Command {
	return standardCommand{
		use: "scc GRAPH", short: "Strongly connected components",
		long: `scc computes the strongly connected components: the largest sets of vertices in which
a path leads from each vertex to each other one. -o writes for each vertex the
smallest vertex of its component.`,
		example: `  hiveblas scc web.mtx.gz -o components.tsv
  hiveblas scc follows.csv --ids renumber --json`,
		fused: true, threshold: noThreshold, writes: "the components", files: job.MatrixFiles,
		run: func(j *job.Job, run apps.Run) (*standardResult, error) {
			c, err := apps.StronglyConnectedComponents(j.Graph.Matrix, apps.ComponentsOptions{Run: run})
			if err != nil {
				return nil, err
			}
			return &standardResult{
				figures: []job.Field{{Key: "components", Label: "components", Value: c.Count}, {Key: "largest", Label: "largest", Value: c.Largest}},
				write:   func() error { return j.WriteVertices(c.Label) },
			}, c.Label.Move(nil)
		},
	}.command(s)
}
