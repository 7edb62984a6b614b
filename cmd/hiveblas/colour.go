package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/internal/cli"
)

func colourCommand(s *session) *cobra.Command {
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
		bothWays: true, threshold: noThreshold, writes: "the colours", files: matrixFiles,
		flags: func(fs *pflag.FlagSet) {
			fs.StringVar(&order, "order", "largest-first", "`ORDER` of the vertices: largest-first, smallest-last or random")
			fs.Int64Var(&seed, "random-seed", 0, "seed `S` of the order of equal vertices")
		},
		check: func(_ *job, _ string, bad func(string, ...any) error) error {
			if _, ok := orders[order]; !ok {
				return bad("--order is %q, want largest-first, smallest-last or random", order)
			}
			return nil
		},
		run: func(j *job, run apps.Run) (*standardResult, error) {
			c, err := apps.Colouring(j.graph.Matrix, apps.ColouringOptions{Run: run, Order: orders[order], Seed: seed})
			if err != nil {
				return nil, err
			}
			return &standardResult{algorithm: order,
				figures: []field{{"colours", "colours", c.Count}},
				write:   func() error { return j.writeVectorAs(c.Colour.Inside()) },
			}, c.Colour.Move(nil)
		},
	}.command(s)
	cmd.Aliases = []string{"color"}
	cli.Complete(cmd, "order", "largest-first", "smallest-last", "random")
	return cmd
}
