package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/matrix"
)

// The formats of solutions. Pictures are for --grid.
var solutions = []string{".tsv", ".csv", ".txt", ".png"}

func lassoCommand(s *job.Session) *cobra.Command {
	var (
		o               apps.FusedLassoOptions
		values, weights string
		list            string
		grid            bool
	)
	cmd := &cobra.Command{
		Use:   "lasso GRAPH --values FILE --lambda1 X[,Y…]",
		Short: "Sparse fused lasso: piecewise constant values on a graph",
		Long: `lasso computes the values b that minimise

  ½ Σ (y(i) − b(i))² + λ₁ Σ w(i,j) |b(i) − b(j)| + λ₂ Σ |b(i)|

for the values y of --values, one a line for each vertex in order, or lines “vertex
value” as -o writes them; an edge list may have vertices without edges at its end. The
second sum has a term for each edge, weighted by its value: one for each pair of vertices if the file is
symmetric by its banner or --undirected is given, else one for each entry, so that a
pair listed in both directions counts twice. --vertex-weights weight the first and
the third sum.

Without --exact the solution ends at a relative duality gap of 1e-8; with it, when
all regions of equal value are proven. Several λ₁ give several solutions.

-o writes a line for each vertex: its values alone into a .txt, after the vertex into
a .tsv or .csv. With --grid, GRAPH is a picture (.png) whose pixels are a grid: grey
or the three colours are denoised each on their own, λ₁ is in levels from 0 to 255,
and -o writes a .png.`,
		Example: `  hiveblas lasso graph.mtx --values y.txt --lambda1 2 -o solution.txt
  hiveblas lasso graph.tsv --undirected --values y.txt --lambda1 .5,1,2 --lambda2 .1 --exact --json
  hiveblas lasso photo.png --grid --lambda1 30 -o clean.png`,
		Args: cli.Positional("GRAPH"),
	}
	j := job.New(s, cmd).Computes(thresholdLasso).Fuses().Reads().Writes("the solution", solutions...)
	fs := cmd.Flags()
	fs.StringVar(&values, "values", "", "`FILE` of the values y, one a line or lines “vertex value”")
	fs.StringVar(&weights, "vertex-weights", "", "`FILE` of the weights of the vertices, one a line or lines “vertex weight”")
	fs.StringVar(&list, "lambda1", "", "weight `X` of differences, 0 or more or inf; several with commas")
	fs.Float64Var(&o.Lambda2, "lambda2", 0, "weight `Z` of values")
	fs.BoolVar(&o.Exact, "exact", false, "go on until all regions are proven")
	fs.BoolVar(&grid, "grid", false, "GRAPH is a picture to denoise")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		bad := func(format string, args ...any) error {
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf(format, args...))
		}
		lambdas, err := parseLambdas(list)
		inputs := []string{args[0]}
		if values != "" {
			inputs = append(inputs, values)
		}
		if weights != "" {
			inputs = append(inputs, weights)
		}
		switch {
		case !fs.Changed("lambda1"):
			return bad("--lambda1 is missing")
		case err != nil:
			return bad("--lambda1: %v", err)
		case !(o.Lambda2 >= 0) || math.IsInf(o.Lambda2, 1):
			return bad("--lambda2 is %v, want a finite number of 0 or more", o.Lambda2)
		case grid && len(inputs) > 1:
			return bad("--grid and --values or --vertex-weights exclude each other: the pixels are the values")
		case grid && len(lambdas) > 1:
			return bad("--grid takes one --lambda1")
		case !grid && values == "":
			return bad("--values is missing")
		}
		if err := j.Begin(inputs...); err != nil {
			return err
		}
		if j.Out.Path != "" && grid != (j.Out.Kind == ".png") {
			return bad("-o %s: the solution is a picture with --grid, and a list without", j.Out.Path)
		}
		o.Lambda1 = lambdas[0]
		if grid {
			return denoise(j, args[0], o)
		}
		if err := j.LoadSquare(args[0], job.Weighted); err != nil {
			return err
		}
		o.Undirected = j.Read.Undirected || j.Graph.Info.Symmetry == "symmetric"
		n, _ := j.Graph.Dims()
		wanted := n
		if j.Graph.Info.Layout == "edges" && j.Graph.Cols == nil {
			wanted = -1 // an edge list does not tell of vertices without edges
		}
		y, err := readValues(j, values, wanted)
		if err != nil {
			return err
		}
		if y.Size() > n {
			if err := j.Graph.Resize(y.Size(), y.Size()); err != nil {
				return err
			}
		}
		if weights != "" {
			if o.VertexWeights, err = readValues(j, weights, y.Size()); err != nil {
				return err
			}
		}
		var found []*apps.FusedLassoResult
		err = j.Compute(func(run apps.Run) (err error) {
			o.Run = run
			if found, err = apps.FusedLassoPath(j.Graph.Matrix, y, lambdas, o); err != nil {
				return err
			}
			return solutionsToHost(found)
		})
		if err != nil {
			return err
		}
		if err := j.Writing(func() error { return writeSolutions(j, found) }); err != nil {
			return err
		}
		return j.Report(lassoFigures(found), nil)
	}
	return cmd
}

// solutionsToHost brings solutions to the host.
func solutionsToHost(found []*apps.FusedLassoResult) error {
	for _, r := range found {
		if err := job.ToHost(nil, r.B); err != nil {
			return err
		}
	}
	return nil
}

// parseLambdas returns the numbers of --lambda1.
func parseLambdas(list string) (lambdas []float64, err error) {
	for _, f := range strings.Split(list, ",") {
		x, err := strconv.ParseFloat(strings.TrimSpace(f), 64)
		if err != nil || !(x >= 0) {
			return nil, fmt.Errorf("%q is no number of 0 or more, or inf", f)
		}
		lambdas = append(lambdas, x)
	}
	return lambdas, nil
}

// readValues reads n numbers, one for each vertex, or with n < 0 as many as there are: those after
// the vertices of the graph are of vertices without edges.
func readValues(j *job.Job, file string, n int) (v *matrix.Vector[float64], err error) {
	err = j.Stage("read", func() error {
		in, err := j.OpenInput(file)
		if err != nil {
			return job.Explain(job.NameOf(file), err)
		}
		defer in.Close()
		v, err = apps.ReadValues(in.R, n, apps.ValueOptions{TextOptions: j.Read.Text(), Name: job.NameOf(file), Labels: j.Graph.Cols, Run: apps.Run{Context: j.Ctx, Progress: j.Progress.Update}})
		if m, _ := j.Graph.Dims(); err == nil && v.Size() < m {
			return cli.Fail(job.NameOf(file), fmt.Sprintf("%d values, and the graph has %d vertices", v.Size(), m), "give a number for each vertex, one a line", nil)
		}
		return job.Explain(job.NameOf(file), err)
	})
	return v, err
}

// lassoFigures are the figures of one solution, or lists of the figures of several.
func lassoFigures(found []*apps.FusedLassoResult) []job.Field {
	columns := []struct {
		key string
		of  func(r *apps.FusedLassoResult) any
	}{
		{"lambda1", func(r *apps.FusedLassoResult) any {
			if math.IsInf(r.Lambda1, 1) {
				return "inf"
			}
			return r.Lambda1
		}},
		{"objective", func(r *apps.FusedLassoResult) any { return r.Objective }},
		{"gap", func(r *apps.FusedLassoResult) any { return r.Gap }},
		{"regions", func(r *apps.FusedLassoResult) any { return r.Regions }},
		{"zeros", func(r *apps.FusedLassoResult) any { return r.Zeros }},
		{"proven", func(r *apps.FusedLassoResult) any { return r.Proven }},
		{"iterations", func(r *apps.FusedLassoResult) any { return r.Iterations }},
		{"divided", func(r *apps.FusedLassoResult) any { return r.Divided }},
	}
	var figures []job.Field
	for _, c := range columns {
		list := make([]any, len(found))
		for k, r := range found {
			list[k] = c.of(r)
		}
		label := c.key
		if c.key == "divided" {
			label = "vertices by divide and conquer"
		}
		if len(list) == 1 {
			figures = append(figures, job.Field{Key: c.key, Label: label, Value: list[0]})
		} else {
			figures = append(figures, job.Field{Key: c.key, Label: label, Value: list})
		}
	}
	return figures
}

// writeSolutions writes the values of each vertex, of the first λ₁ first.
func writeSolutions(j *job.Job, found []*apps.FusedLassoResult) error {
	columns := make([][]float64, len(found))
	for k, r := range found {
		for _, x := range r.B.All() {
			columns[k] = append(columns[k], x)
		}
	}
	n := found[0].B.Size()
	if j.Out.Kind != ".txt" {
		return j.WriteLines(n, func(line func(fields ...string) error) error {
			fields := make([]string, 1+len(columns))
			for v := range n {
				fields[0] = j.Graph.Name(v)
				for k, c := range columns {
					fields[1+k] = job.Text(c[v])
				}
				if err := line(fields...); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return j.Stream(func(w io.Writer) error {
		b := bufio.NewWriter(w)
		for v := range n {
			for k, c := range columns {
				if k > 0 {
					b.WriteByte(' ')
				}
				b.WriteString(job.Text(c[v]))
			}
			b.WriteByte('\n')
		}
		return b.Flush()
	})
}
