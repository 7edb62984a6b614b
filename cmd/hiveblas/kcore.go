package main

import (
	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
)

func kcoreCommand(s *job.Session) *cobra.Command {
	return standardCommand{
		use: "kcore GRAPH", short: "Core numbers: how deep every vertex is in the graph",
		long: `kcore computes the core number of every vertex: the largest k such that the vertex is
part of a subgraph whose vertices all have k or more neighbours in it. Directions,
weights and self-loops are ignored.`,
		example: `  hiveblas kcore friends.txt -o cores.tsv
  hiveblas kcore graph.mtx.gz --top 20 --json`,
		bothWays: true, fused: true, threshold: noThreshold, writes: "the core numbers", files: job.MatrixFiles, top: "vertices of the highest core numbers",
		run: func(j *job.Job, run apps.Run) (*standardResult, error) {
			c, err := apps.CoreNumbers(j.Graph.Matrix, apps.CoreOptions{Run: run})
			if err == nil {
				err = c.Number.Move(nil)
			}
			if err != nil {
				return nil, err
			}
			ranks, err := asFloats(c.Number)
			return &standardResult{
				figures: []job.Field{{Key: "max", Label: "highest core number", Value: c.Max}, {Key: "innermost", Label: "vertices with it", Value: c.Inner}},
				write:   func() error { return j.WriteVectorAs(c.Number.Inside()) }, ranks: ranks,
			}, err
		},
	}.command(s)
}
