package main

import (
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/comm/model"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/internal/hostmem"
	"github.com/hiveblas/hiveblas/matrix"
)

func projectCommand(s *job.Session) *cobra.Command {
	var (
		onto, weight         string
		unweighted, diagonal bool
		blocks               outOfCore
	)
	cmd := &cobra.Command{
		Use:   "project GRAPH",
		Short: "Connect the vertices of one side that share neighbours on the other",
		Long: `project connects the columns (or rows) of a matrix that share rows (or columns):
one side of a bipartite graph. The result is AᵀA, or AAᵀ with --onto rows, without
its diagonal unless --diagonal is given.

The weight of an edge is a sum over the shared neighbours k
  --weight dot     A(k,u)·A(k,v)                (default)
  --weight ratio   A(k,u) / (A(k,u) + A(k,v))   (not symmetric)
  --unweighted     1: the number of shared neighbours

A result that does not fit in memory is computed and written in blocks (out of
core); --out-of-core, --chunks, --device-memory and --host-memory request that.
The same command resumes an interrupted .hgb. Values are then written as floats.`,
		Example: `  hiveblas project ratings.mtx.gz -o films.tsv
  hiveblas project ratings.mtx.gz --onto rows --unweighted -o people.mtx.gz
  hiveblas project visits.csv --bipartite --ids renumber --weight ratio -o places.tsv
  hiveblas project ratings.hgb --host-memory 2GiB -o films.hgb`,
		Args: cli.Positional("GRAPH"),
	}
	j := job.New(s, cmd).Computes(thresholdProject).Reads().Writes("the projection", job.MatrixFiles...)
	j.Scales(func(j *job.Job, products int64) model.Work { return independent(float64(products), products, 0) })
	cmd.Flags().StringVar(&onto, "onto", "cols", "project onto `SIDE`: cols or rows")
	cmd.Flags().StringVar(&weight, "weight", "dot", "weight `W` of a shared neighbour: dot or ratio")
	cmd.Flags().BoolVar(&unweighted, "unweighted", false, "count shared neighbours and ignore weights")
	cmd.Flags().BoolVar(&diagonal, "diagonal", false, "keep the diagonal")
	blocks.add(j)
	cli.Complete(cmd, "onto", "cols", "rows")
	cli.Complete(cmd, "weight", "dot", "ratio")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o := apps.ProjectionOptions{Diagonal: diagonal}
		switch onto {
		case "cols":
		case "rows":
			o.Onto = apps.OntoRows
		default:
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--onto is %q, want cols or rows", onto))
		}
		switch {
		case unweighted && cmd.Flags().Changed("weight"):
			return cli.Usage(cmd.CommandPath(), "--unweighted and --weight exclude each other")
		case unweighted:
			o.Weighting = apps.WeightCount
		case weight == "ratio":
			o.Weighting = apps.WeightRatio
		case weight != "dot":
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--weight is %q, want dot or ratio", weight))
		}
		if err := blocks.check(cmd); err != nil {
			return err
		}
		if err := j.Begin(args[0]); err != nil {
			return err
		}
		if err := j.Load(args[0], job.ContentOf(!unweighted)); err != nil {
			return err
		}
		var p *matrix.Matrix[float64]
		var sum, most float64
		if err := j.PlaceGraphs(func() int64 { return products(j.Graph.Matrix, o.Onto) }, "products", j.Graph.Matrix); err != nil {
			return err
		}
		labels := j.Graph.Cols
		if o.Onto == apps.OntoRows {
			labels = j.Graph.Rows
		}
		why, err := tooLarge(j, &blocks, o)
		if err != nil {
			return err
		}
		if why != "" {
			return projectBlocks(j, &blocks, why, o, labels)
		}
		err = j.Compute(func(run apps.Run) (err error) {
			o.Run = run
			p, err = apps.Projection(j.Graph.Matrix, o)
			if err = job.ToHost(err, p); err != nil {
				return err
			}
			sum, most, err = sumMax(p, labels)
			return err
		})
		if err != nil {
			return err
		}
		if err := j.Writing(func() error { return j.WriteMatrix(p, labels) }); err != nil {
			return err
		}
		n, _ := p.Dims()
		return j.Report([]job.Field{
			{Key: "vertices", Label: "vertices", Value: n}, {Key: "nnz", Label: "nnz", Value: p.NVals()}, {Key: "sum", Label: "sum", Value: sum}, {Key: "max", Label: "max", Value: most},
			{Key: "peak_rss_bytes", Label: "", Value: hostmem.PeakResident()},
		}, nil)
	}
	return cmd
}

// sumMax returns the sum and the maximum of the entries, 0 and 0 without entries. An
// entry that is not finite is an error.
func sumMax(p *matrix.Matrix[float64], labels *graphio.Labels) (sum, most float64, err error) {
	var t job.Total
	most = math.Inf(-1)
	for c, x := range p.All() {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return 0, 0, notFinite(labels, c.Row, c.Col, x)
		}
		t.Add(x)
		most = max(most, x)
	}
	if p.NVals() == 0 {
		most = 0
	}
	return t.Value(), most, nil
}

// notFinite is the error of an entry of a projection onto vertices with these names.
func notFinite(labels *graphio.Labels, row, col int, x float64) error {
	return cli.Fail(job.EntryPlace(labels, labels, row, col, " of the result"),
		fmt.Sprintf("the value is %v", x), "scale the weights, or correct weights whose sum is 0", nil)

}
