package main

import (
	"encoding/json"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
)

func diameterCommand(s *job.Session) *cobra.Command {
	searches := 0
	return standardCommand{
		use: "diameter GRAPH", short: "Diameter: the largest distance between two vertices",
		long: `diameter computes the largest distance, in edges, between two vertices of one connected
component, and two such vertices. --searches stops with bounds after so many
breadth-first searches; --timeout and an interrupt print the bounds so far, and fail.
Directions, weights and self-loops are ignored.`,
		example: `  hiveblas diameter roads.mtx.gz
  hiveblas diameter web.mtx.gz --searches 10 --json`,
		bothWays: true, threshold: thresholdBFS,
		flags: func(fs *pflag.FlagSet) {
			fs.IntVar(&searches, "searches", 0, "stop after `N` searches (0: no limit)")
		},
		check: func(_ *job.Job, _ string, bad func(string, ...any) error) error {
			if searches < 0 {
				return bad("--searches is %d, want 0 or more", searches)
			}
			return nil
		},
		run: func(j *job.Job, run apps.Run) (*standardResult, error) {
			c, err := apps.Diameter(j.Graph.Matrix, apps.DiameterOptions{Run: run, Searches: searches})
			if c == nil {
				return nil, err
			}
			figures := []job.Field{{Key: "lower", Label: "at least", Value: c.Lower}, {Key: "upper", Label: "at most", Value: c.Upper}, {Key: "searches", Label: "searches", Value: c.Searches}}
			if c.From >= 0 {
				from, to := j.Graph.Name(c.From), j.Graph.Name(c.To)
				figures = append(figures, job.Field{Key: "from", Label: "", Value: json.RawMessage(job.VertexJSON(from))}, job.Field{Key: "to", Label: "", Value: json.RawMessage(job.VertexJSON(to))},
					job.Field{Key: "", Label: "between", Value: from + " and " + to})
			}
			return &standardResult{figures: figures, bounds: true}, err
		},
	}.command(s)
}
