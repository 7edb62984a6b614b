package main

import (
	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
)

func hitsCommand(s *job.Session) *cobra.Command {
	var f iterationFlags
	return standardCommand{
		use: "hits GRAPH", short: "Hubs and authorities",
		long: `hits computes how good a hub and an authority every vertex is: hubs have edges to
authorities, and authorities edges from hubs. Both sum to 1. -o writes a line for
each vertex with its hub and its authority score; the summary lists the best
authorities. Weights are ignored.`,
		example: `  hiveblas hits web.mtx.gz -o hits.tsv --top 20
  hiveblas hits links.csv --ids renumber --json`,
		threshold: thresholdPageRank, writes: "the scores", files: job.ListFiles, top: "best authorities", flags: f.add, check: f.check,
		run: func(j *job.Job, run apps.Run) (*standardResult, error) {
			c, err := apps.HITS(j.Graph.Matrix, apps.CentralityOptions{Run: run, Tolerance: f.tolerance, MaxIterations: f.most})
			if err != nil {
				return nil, err
			}
			return &standardResult{failed: f.unconverged(j, c.Converged, c.Change, c.Iterations),
				figures: []job.Field{{Key: "iterations", Label: "iterations", Value: c.Iterations}}, ranks: c.Authorities,
				write: func() error {
					hubs, err := c.Hubs.Dense(0)
					if err != nil {
						return err
					}
					authorities, err := c.Authorities.Dense(0)
					if err != nil {
						return err
					}
					return j.WriteLines(len(hubs), func(line func(fields ...string) error) error {
						for v, x := range hubs {
							if err := line(j.Graph.Name(v), job.Text(x), job.Text(authorities[v])); err != nil {
								return err
							}
						}
						return nil
					})
				},
			}, job.ToHost(nil, c.Hubs, c.Authorities)
		},
	}.command(s)
}
