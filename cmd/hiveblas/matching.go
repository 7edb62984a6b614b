package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
)

func matchingCommand(s *job.Session) *cobra.Command {
	maximal := false
	return standardCommand{
		use: "matching GRAPH", short: "Maximum matching of rows and columns",
		long: `matching computes the most entries of a matrix with at most one in each row and column:
a maximum matching of a bipartite graph. --maximal stops at one to which no entry can
be added. Weights are ignored; see lsap for them. -o writes lines of a row and its
column.`,
		example: `  hiveblas matching applicants.csv --ids renumber --bipartite -o pairs.tsv
  hiveblas matching matrix.mtx.gz --json`,
		threshold: noThreshold, writes: "the pairs", files: job.ListFiles, rectangular: true,
		flags: func(fs *pflag.FlagSet) {
			fs.BoolVar(&maximal, "maximal", false, "a matching to which no entry can be added")
		},
		run: func(j *job.Job, run apps.Run) (*standardResult, error) {
			c, err := apps.BipartiteMatching(j.Graph.Matrix, apps.MatchingOptions{Run: run, Maximal: maximal})
			if err != nil {
				return nil, err
			}
			return &standardResult{
				figures: []job.Field{{Key: "size", Label: "pairs", Value: c.Size}},
				write: func() error {
					column, err := c.Column.Dense(-1)
					if err != nil {
						return err
					}
					return writePairs(j, column)
				},
			}, c.Column.Move(nil)
		},
	}.command(s)
}
