package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/internal/cli"
)

func colourCommand(s *job.Session) *cobra.Command {
	seed, order := int64(0), ""
	orders := map[string]apps.ColourOrder{"largest-first": apps.LargestFirst, "smallest-last": apps.SmallestLast, "random": apps.RandomOrder}
	cmd := standardCommand{
		use: "colour GRAPH", short: "Colour the vertices so that neighbours differ",
		long: `colour gives every vertex the smallest colour, from 0, that no neighbour has, in an order
of the vertices: by descending degree, by repeated removal of a vertex of least
degree (smallest-last, often the fewest colours), or at random. Directions, weights
and self-loops are ignored.`,
		example: `  hiveblas colour conflicts.mtx -o colours.tsv
  hiveblas colour graph.mtx.gz --order smallest-last --json`,
		bothWays: true, fused: true, threshold: noThreshold, writes: "the colours", files: job.MatrixFiles,
		flags: func(fs *pflag.FlagSet) {
			fs.StringVar(&order, "order", "largest-first", "`ORDER` of the vertices: largest-first, smallest-last or random")
			fs.Int64Var(&seed, "random-seed", 0, "seed `S` of the order of equal vertices")
		},
		check: func(_ *job.Job, _ string, bad func(string, ...any) error) error {
			if _, ok := orders[order]; !ok {
				return bad("--order is %q, want largest-first, smallest-last or random", order)
			}
			return nil
		},
		run: func(j *job.Job, run apps.Run) (*standardResult, error) {
			c, err := apps.Colouring(j.Graph.Matrix, apps.ColouringOptions{Run: run, Order: orders[order], Seed: seed})
			if err != nil {
				return nil, err
			}
			return &standardResult{figures: []job.Field{{Key: "colours", Label: "colours", Value: c.Count}},
				write: func() error { return j.WriteVectorAs(c.Colour.Inside()) },
			}, c.Colour.Move(nil)
		},
	}.command(s)
	cmd.Aliases = []string{"color"}
	cli.Complete(cmd, "order", "largest-first", "smallest-last", "random")
	return cmd
}
