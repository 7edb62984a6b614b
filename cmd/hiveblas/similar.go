package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/internal/cli"
)

func similarCommand(s *job.Session) *cobra.Command {
	var o apps.SimilarityOptions
	measure := ""
	measures := map[string]apps.SimilarityMeasure{"jaccard": apps.Jaccard, "overlap": apps.Overlap, "cosine": apps.Cosine, "common": apps.CommonNeighbours}
	cmd := standardCommand{
		use: "similar GRAPH", short: "The most similar vertices of each vertex",
		long: `similar finds for each vertex the -k others that share the most neighbours, along
edges from the vertex, by Jaccard's measure, the overlap coefficient, the cosine, or
the number of common neighbours. --unlinked leaves out pairs with an edge: those left
are predicted links. -o writes lines of two vertices and their score. A rectangular
matrix is compared by rows. Weights are ignored.`,
		example: `  hiveblas similar friends.txt --undirected --unlinked -k 5 -o predicted.tsv
  hiveblas similar ratings.mtx.gz --measure cosine --json`,
		threshold: noThreshold, writes: "the scores", files: job.MatrixFiles, rectangular: true,
		flags: func(fs *pflag.FlagSet) {
			fs.IntVarP(&o.Top, "k", "k", 10, "keep the `K` most similar vertices of each vertex")
			fs.StringVar(&measure, "measure", "jaccard", "`MEASURE`: jaccard, overlap, cosine or common")
			fs.BoolVar(&o.Unlinked, "unlinked", false, "leave out pairs with an edge")
		},
		check: func(_ *job.Job, _ string, bad func(string, ...any) error) error {
			var ok bool
			if o.Measure, ok = measures[measure]; !ok {
				return bad("--measure is %q, want jaccard, overlap, cosine or common", measure)
			}
			if o.Top < 1 {
				return bad("-k is %d, want 1 or more", o.Top)
			}
			return nil
		},
		run: func(j *job.Job, run apps.Run) (*standardResult, error) {
			o.Run = run
			c, err := apps.Similarity(j.Graph.Matrix, o)
			if err != nil {
				return nil, err
			}
			return &standardResult{figures: []job.Field{{Key: "pairs", Label: "pairs", Value: c.NVals()}},
				write: func() error { return j.WriteMatrixAs(c.Inside(), j.Graph.Rows, j.Graph.Rows) },
			}, c.Move(nil)
		},
	}.command(s)
	cli.Complete(cmd, "measure", "jaccard", "overlap", "cosine", "common")
	return cmd
}
