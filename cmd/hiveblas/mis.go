package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

func misCommand(s *job.Session) *cobra.Command {
	seed := int64(0)
	return standardCommand{
		use: "mis GRAPH", short: "A maximal independent set",
		long: `mis computes a maximal independent set: vertices without an edge between two of them,
to which no vertex can be added. -o writes its vertices, each with 1. The set
depends on --random-seed alone. Directions, weights and self-loops are ignored.`,
		example: `  hiveblas mis graph.mtx.gz -o set.tsv
  hiveblas mis friends.csv --ids renumber --random-seed 7 --json`,
		bothWays: true, fused: true, threshold: noThreshold, writes: "the set", files: job.MatrixFiles,
		flags: func(fs *pflag.FlagSet) {
			fs.Int64Var(&seed, "random-seed", 0, "seed `S` of the order of the vertices")
		},
		run: func(j *job.Job, run apps.Run) (*standardResult, error) {
			set, err := apps.MaximalIndependentSet(j.Graph.Matrix, apps.IndependentSetOptions{Run: run, Seed: seed})
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
}
