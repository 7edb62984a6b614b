package main

import (
	"encoding/json"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hiveblas/hiveblas/apps"
)

func diameterCommand(s *session) *cobra.Command {
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
		check: func(_ *job, _ string, bad func(string, ...any) error) error {
			if searches < 0 {
				return bad("--searches is %d, want 0 or more", searches)
			}
			return nil
		},
		run: func(j *job, run apps.Run) (*standardResult, error) {
			c, err := apps.Diameter(j.graph.Matrix, apps.DiameterOptions{Run: run, Searches: searches})
			if c == nil {
				return nil, err
			}
			figures := []field{{"lower", "at least", c.Lower}, {"upper", "at most", c.Upper}, {"searches", "searches", c.Searches}}
			if c.From >= 0 {
				from, to := j.graph.name(c.From), j.graph.name(c.To)
				figures = append(figures, field{"from", "", json.RawMessage(vertexJSON(from))}, field{"to", "", json.RawMessage(vertexJSON(to))},
					field{"", "between", from + " and " + to})
			}
			return &standardResult{algorithm: "bounds of eccentricities", figures: figures, bounds: true}, err
		},
	}.command(s)
}
