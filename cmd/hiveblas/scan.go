package main

import (
	"encoding/json"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/charts"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/chart"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/matrix"
)

// scanHops are the values of --hops.
var scanHops = []apps.ScanHops{apps.ScanDegree, apps.ScanOneHop, apps.ScanTwoHops}

// defaultScanPlot is the file of --plot without a name.
const defaultScanPlot = "scan.png"

func scanCommand(s *job.Session) *cobra.Command {
	var (
		hops, top, lag    int
		column, picture   string
		window, threshold float64
	)
	cmd := &cobra.Command{
		Use:   "scan GRAPH",
		Short: "Scan statistics: the edges around each vertex, also over time",
		Long: `scan counts for each vertex the edges among the vertices within --hops of it: with 1,
its degree and the triangles through it. The largest count is the scan statistic of
the graph. Directions, weights and self-loops are ignored.

With --time-column, GRAPH is a list of edges with time stamps. scan divides it into
windows of length --window, relates the counts of each vertex to their mean and
deviation in the --lag windows before, takes the largest over the vertices, and
relates these maxima to their own past. Windows with a score above --threshold are
anomalies; the vertices that stand out in them are listed. -o writes a line for each
window: its start, edges, scan statistic, largest relative count, the vertex with it,
and the score. --plot draws the series.`,
		Example: `  hiveblas scan graph.mtx.gz -o scan.tsv --top 20
  hiveblas scan friends.txt --hops 2 --json
  hiveblas scan mail.tsv --time-column 3 --window 604800 --lag 20 --plot`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 && cmd.Flags().Changed("plot") && strings.HasSuffix(strings.ToLower(args[1]), ".png") {
				args = args[:1] // --plot FILE, with a blank
			}
			return cli.Positional("GRAPH")(cmd, args)
		},
	}
	j := job.New(s, cmd).Computes(thresholdTC).Fuses().Reads().Writes("the statistics", job.MatrixFiles...)
	j.Scales(estimateScan)
	fs := cmd.Flags()
	fs.IntVar(&hops, "hops", 1, "count the edges within `K` hops of a vertex: 0, 1 or 2")
	fs.IntVar(&top, "top", 10, "list the `K` largest statistics")
	fs.StringVar(&column, "time-column", "", "column `C` of the time stamps in an edge list, by number from 1 or by name")
	fs.Float64Var(&window, "window", 0, "length `W` of a window, in the unit of the time stamps")
	fs.IntVar(&lag, "lag", 20, "relate a window to the `T` windows before, 2 or more")
	fs.Float64Var(&threshold, "threshold", 5, "windows with a score above `X` are anomalies")
	fs.StringVar(&picture, "plot", "", "draw the series into `FILE`, a .png (default "+defaultScanPlot+")")
	fs.Lookup("plot").NoOptDefVal = defaultScanPlot
	cli.Complete(cmd, "hops", "0", "1", "2")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		bad := func(format string, args ...any) error {
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf(format, args...))
		}
		if hops < 0 || hops >= len(scanHops) {
			return bad("--hops is %d, want 0, 1 or 2", hops)
		}
		if err := checkTop(cmd, top); err != nil {
			return err
		}
		if len(args) == 2 {
			picture = args[1]
		}
		if column == "" && !cmd.Flags().Changed("time-column") {
			for _, name := range []string{"window", "lag", "threshold", "plot"} {
				if cmd.Flags().Changed(name) {
					return bad("--%s needs --time-column", name)
				}
			}
			return scanGraph(j, args[0], apps.ScanOptions{Hops: scanHops[hops]}, top)
		}
		switch {
		case column == "":
			return bad("--time-column is empty, want a number or a name")
		case cmd.Flags().Changed("weight-column"):
			return bad("--time-column and --weight-column exclude each other")
		case j.Read.Bipartite:
			return bad("--time-column and --bipartite exclude each other: the windows are graphs of one set of vertices")
		case !cmd.Flags().Changed("window"):
			return bad("--window is missing")
		case !(window > 0) || math.IsInf(window, 1):
			return bad("--window is %v, want a positive length", window)
		case lag < 2:
			return bad("--lag is %d, want 2 or more", lag)
		case !(threshold > 0):
			return bad("--threshold is %v, want a positive number", threshold)
		case cmd.Flags().Changed("device") && j.Run.Device != "auto" && j.Run.Device != "cpu":
			return bad("--device is %q, and a series is computed on the host: want auto or cpu", j.Run.Device)
		}
		if !cmd.Flags().Changed("device") { // HIVEBLAS_DEVICE has no effect
			j.Run.Device = "cpu"
		}
		j.Read.Weight = column
		return scanSeries(j, args[0], picture, apps.ScanSeriesOptions{Window: window, Lag: lag, Hops: scanHops[hops], Threshold: threshold})
	}
	return cmd
}

// scanGraph is scan of one graph.
func scanGraph(j *job.Job, file string, o apps.ScanOptions, top int) error {
	if err := j.Begin(file); err != nil {
		return err
	}
	if err := j.LoadSquare(file, job.Structure); err != nil {
		return err
	}
	if o.Hops != apps.ScanOneHop { // these are not divided by ranges on GPUs
		j.Estimate = nil
	}
	var res *apps.ScanResult
	err := j.Compute(func(run apps.Run) (err error) {
		o.Run = run
		res, err = apps.ScanStatistics(j.Graph.Matrix, o)
		if err != nil {
			return err
		}
		return res.Statistic.Move(nil)
	})
	if err != nil {
		return err
	}
	if err := j.Writing(func() error { return j.WriteVectorAs(res.Statistic.Inside()) }); err != nil {
		return err
	}
	figures := []job.Field{
		{Key: "max", Label: "maximum", Value: res.Max}, {Key: "argmax", Label: "", Value: vertexList(j, res.ArgMax)},
		{Key: "", Label: "vertices with it", Value: len(res.ArgMax)}, {Key: "sum", Label: "sum", Value: res.Sum}, {Key: "edges", Label: "edges", Value: res.Edges},
	}
	if o.Hops == apps.ScanOneHop {
		figures = append(figures, job.Field{Key: "triangles", Label: "triangles", Value: res.Triangles})
	}
	return j.Report(figures, listed(j, "vertex", "statistic", largestCounts(res.Statistic, top), top))
}

// largestCounts lists the vertices with the largest statistics; ties are ordered by number.
func largestCounts(v *matrix.Vector[int64], top int) []apps.Nomination[float64] {
	list := make([]apps.Nomination[float64], 0, v.NVals())
	for i, x := range v.All() {
		list = append(list, apps.Nomination[float64]{Vertex: i, Distance: float64(x)})
	}
	slices.SortStableFunc(list, func(a, b apps.Nomination[float64]) int {
		switch {
		case a.Distance > b.Distance:
			return -1
		case a.Distance < b.Distance:
			return 1
		}
		return 0
	})
	return list[:min(top, len(list))]
}

// vertexList returns vertices for JSON.
func vertexList(j *job.Job, list []int) []json.RawMessage {
	names := make([]json.RawMessage, len(list))
	for k, v := range list {
		names[k] = json.RawMessage(job.VertexJSON(j.Graph.Name(v)))
	}
	return names
}

// scanSeries is scan of a list of edges with time stamps.
func scanSeries(j *job.Job, file, picture string, o apps.ScanSeriesOptions) error {
	if err := j.Begin(file); err != nil {
		return err
	}
	if j.Out.Path != "" && !slices.Contains(job.ListFiles, j.Out.Kind) {
		return cli.Usage(j.Cmd.CommandPath(), "-o of a series is .tsv or .csv")
	}
	if err := j.CheckPicture(picture, file); err != nil {
		return err
	}
	var edges *apps.TimedEdges
	err := j.Stage("read", func() (err error) {
		edges, err = openTimed(j, file)
		return err
	})
	if err != nil {
		return err
	}
	var res *apps.ScanSeriesResult
	err = j.Stage("compute", func() (err error) {
		o.Run = apps.Run{Context: j.Ctx, Threads: j.Run.Threads, Progress: j.Progress.Update, Trace: j.Traces.Add}
		if res, err = apps.ScanSeries(edges, o); err != nil {
			return job.ExplainGraph(j.Graph, err)
		}
		if n, first := len(res.Windows), 2*o.Lag; n <= first {
			j.Warn(graphio.Warning{File: j.Graph.File, Msg: fmt.Sprintf("the series has %d windows, and scores begin with window %d: "+
				"no anomaly can be found; a smaller --lag or --window gives scores", n, first)})
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := j.Writing(func() error { return writeSeries(j, res) }); err != nil {
		return err
	}
	err = j.Draw(picture, func(w io.Writer) error { return seriesPlot(res, o).WritePNG(w, 9, 4.5) })
	if err != nil {
		return err
	}
	anomalies := make([]job.Object, len(res.Anomalies))
	list := &job.Ranking{Title: "window, from: vertex", Unit: "relative count"}
	for k, a := range res.Anomalies {
		w := res.Windows[a.Window]
		vertices := make([]job.Object, len(a.Vertices))
		for i, v := range a.Vertices {
			name := j.Graph.Name(v.Vertex)
			vertices[i] = job.Object{{Key: "vertex", Label: "", Value: json.RawMessage(job.VertexJSON(name))}, {Key: "value", Label: "", Value: v.Locality}}
			list.Rows = append(list.Rows, job.Ranked{Vertex: fmt.Sprintf("%d, %s: %s", a.Window, job.Text(w.Start), name), Value: v.Locality})
		}
		anomalies[k] = job.Object{{Key: "window", Label: "", Value: a.Window}, {Key: "start", Label: "", Value: w.Start}, {Key: "end", Label: "", Value: w.Start + o.Window},
			{Key: "score", Label: "", Value: a.Score}, {Key: "max", Label: "", Value: w.Max}, {Key: "vertices", Label: "", Value: vertices}}
	}
	figures := []job.Field{{Key: "windows", Label: "windows", Value: len(res.Windows)}, {Key: "anomalies", Label: "", Value: anomalies},
		{Key: "", Label: "anomalies", Value: len(res.Anomalies)}}
	if picture != "" {
		figures = append(figures, job.Field{Key: "plot", Label: "picture", Value: picture})
	}
	return j.Report(figures, onlyText(j, list))
}

// openTimed reads a list of edges with time stamps in the column of weights.
func openTimed(j *job.Job, file string) (*apps.TimedEdges, error) {
	g := &job.Graph{File: job.NameOf(file)}
	in, err := j.OpenInput(file)
	if err != nil {
		return nil, job.Explain(g.File, err)
	}
	defer in.Close()
	if format := in.Format(&j.Read); format != graphio.FormatAuto && !format.IsList() {
		return nil, cli.Fail(g.File, "--time-column is for edge lists", "give a text with a source, a target and a time stamp on each line", nil)
	}
	j.Read.Undirected = false // directions are ignored
	t, n, labels, err := graphio.ReadTuples[float64](in.R, j.ReadOptions(in, g, job.Weighted)...)
	if err != nil {
		return nil, job.Explain(g.File, err)
	}
	g.Matrix, g.Rows, g.Cols, g.Edges = matrix.New[float64](n, n), labels, labels, int64(len(t.Value))
	if err := j.NameGraph(g, n, n); err != nil {
		return nil, err
	}
	j.Graph = g
	return &apps.TimedEdges{Vertices: n, Source: t.Source, Target: t.Target, Time: t.Value}, nil
}

// writeSeries writes a line for each window.
func writeSeries(j *job.Job, res *apps.ScanSeriesResult) error {
	return j.WriteLines(len(res.Windows), func(line func(fields ...string) error) error {
		for _, w := range res.Windows {
			vertex := "NaN"
			if w.Vertex >= 0 {
				vertex = j.Graph.Name(w.Vertex)
			}
			err := line(job.Text(w.Start), job.Text(w.Edges), job.Text(w.Max), job.Text(w.Locality), vertex, job.Text(w.Score))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// seriesPlot draws the scores of the windows, the largest relative counts behind them, and the
// anomalies.
func seriesPlot(res *apps.ScanSeriesResult, o apps.ScanSeriesOptions) *chart.Chart {
	p := &chart.Chart{Padding: 5,
		Title: fmt.Sprintf("scan statistics: %d windows of %s, lag %d, %s hops", len(res.Windows), job.Text(o.Window), o.Lag, o.Hops),
		X:     chart.Axis{Label: "start of the window"}, Y: chart.Axis{Label: "deviations from the recent past"}}
	var locality, score, found []chart.Point
	for _, w := range res.Windows {
		if !math.IsNaN(w.Locality) {
			locality = append(locality, chart.Point{X: w.Start, Y: w.Locality})
		}
		if !math.IsNaN(w.Score) {
			score = append(score, chart.Point{X: w.Start, Y: w.Score})
		}
	}
	for _, a := range res.Anomalies {
		found = append(found, chart.Point{X: res.Windows[a.Window].Start, Y: a.Score})
	}
	p.Line("largest relative count", locality, charts.Palest, 1)
	p.Line("score", score, charts.Darkest, 1)
	if len(score) > 0 {
		p.Line("threshold", []chart.Point{{X: score[0].X, Y: o.Threshold}, {X: score[len(score)-1].X, Y: o.Threshold}}, color.Black, 1, 4, 3)
	}
	p.Dots("anomalies", found, job.Alarm, 4)
	return p
}
