package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

func misCommand(s *job.Session) *cobra.Command {
	seed, priority := int64(0), ""
	priorities := map[string]apps.SetPriority{"random": apps.RandomPriority, "degree": apps.DegreePriority}
	cmd := standardCommand{
		use: "mis GRAPH", short: "A maximal independent set",
		long: `mis computes a maximal independent set: vertices without an edge between two of them,
to which no vertex can be added. -o writes its vertices, each with 1. It takes
vertices at random, or those of small degree first, which gives larger sets where
degrees differ much. The set depends on --priority and --random-seed alone.
Directions, weights and self-loops are ignored.`,
		example: `  hiveblas mis graph.mtx.gz -o set.tsv
  hiveblas mis friends.csv --ids renumber --random-seed 7 --json`,
		bothWays: true, fused: true, threshold: noThreshold, writes: "the set", files: job.MatrixFiles,
		flags: func(fs *pflag.FlagSet) {
			fs.StringVar(&priority, "priority", "random", "`ORDER` of the vertices: random, or degree for small degrees first")
			fs.Int64Var(&seed, "random-seed", 0, "seed `S` of the random part of the order")
		},
		check: func(_ *job.Job, _ string, bad func(string, ...any) error) error {
			if _, ok := priorities[priority]; !ok {
				return bad("--priority is %q, want random or degree", priority)
			}
			return nil
		},
		run: func(j *job.Job, run apps.Run) (*standardResult, error) {
			set, err := apps.MaximalIndependentSet(j.Graph.Matrix, apps.IndependentSetOptions{Run: run, Priority: priorities[priority], Seed: seed})
			if err == nil {
				err = set.Move(nil)
			}
			if err != nil {
				return nil, err
			}
			return &standardResult{figures: []job.Field{{Key: "size", Label: "vertices in the set", Value: set.NVals()}},
				write: func() error {
					ones := matrix.NewVector[int64](set.Size())
					if err := ops.Apply(ones, semiring.OneOp[bool, int64](), set); err != nil {
						return err
					}
					return j.WriteVectorAs(ones.Inside())
				},
			}, nil
		},
	}.command(s)
	cli.Complete(cmd, "priority", "random", "degree")
	return cmd
}
