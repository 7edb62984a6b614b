package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/matrix"
)

func featuresCommand(s *job.Session) *cobra.Command {
	var o apps.VertexFeatureOptions
	return standardCommand{
		use: "features GRAPH", short: "Features of vertices: degree, triangles, cores, PageRank, betweenness and others",
		long: `features writes a table with a row for each vertex and figures as columns: ` + strings.Join(apps.VertexFeatureNames()[:4], ", ") + `,
` + strings.Join(apps.VertexFeatureNames()[4:], ", ") + `. Edges lead from row to column; triangles,
clustering and core ignore directions. Weights are ignored. PageRank is times the number
of vertices. betweenness, closeness and harmonic are estimates from --samples vertices.

The table is input of other commands: of sage --features, and of ac, as the table of the
vertices.`,
		example: `  hiveblas features friends.txt --undirected -o v.csv
  hiveblas features web.mtx --columns degree,indegree,core,pagerank --standardise -o v.npy
  hiveblas sage train friends.txt --undirected --features v.csv --classes c.tsv -o model.npz`,
		threshold: thresholdTC, writes: "the table", files: embeddingFiles,
		flags: func(fs *pflag.FlagSet) {
			fs.StringSliceVar(&o.Names, "columns", apps.VertexFeatureNames(), "columns `C,C,…` of the table")
			fs.IntVar(&o.Samples, "samples", 256, "estimate betweenness and closeness from `N` random vertices")
			fs.Uint64Var(&o.Seed, "random-seed", 0, "seed `S` of the draw")
			fs.BoolVar(&o.Standard, "standardise", false, "give each column a mean of 0 and a deviation of 1")
		},
		check: func(_ *job.Job, _ string, bad func(format string, args ...any) error) error {
			if o.Samples < 1 {
				return bad("--samples is %d, want 1 or more", o.Samples)
			}
			known := "," + strings.Join(apps.VertexFeatureNames(), ",") + ","
			for _, name := range o.Names {
				if !strings.Contains(known, ","+name+",") {
					return bad("--columns has %q, want some of %s", name, known[1:len(known)-1])
				}
			}
			return nil
		},
		run: func(j *job.Job, run apps.Run) (*standardResult, error) {
			o.Run = run
			t, err := apps.VertexFeatures(j.Graph.Matrix, o)
			if err != nil {
				return nil, err
			}
			n, width := t.Values.Dims()
			return &standardResult{
				figures: []job.Field{{Key: "vertices", Label: "vertices", Value: n}, {Key: "columns", Label: "columns", Value: width}},
				write:   func() error { return writeTable(j, t.Names, t.Values) },
			}, t.Values.Move(nil)
		},
	}.command(s)
}

// writeTable writes a header and a line for each vertex, or an array.
func writeTable(j *job.Job, names []string, z *matrix.Matrix[float32]) error {
	if j.Out.Kind == ".npy" {
		return j.WriteMatrixAs(z.Inside(), nil, nil)
	}
	n, width := z.Dims()
	return j.WriteLines(n, func(line func(fields ...string) error) error {
		if err := line(append([]string{"vertex"}, names...)...); err != nil {
			return err
		}
		fields := make([]string, width+1)
		for v := range n {
			fields[0] = j.Graph.Name(v)
			for k := range width {
				x, _ := z.At(v, k)
				fields[k+1] = strconv.FormatFloat(float64(x), 'g', -1, 32)
			}
			if err := line(fields...); err != nil {
				return err
			}
		}
		return nil
	})
}
