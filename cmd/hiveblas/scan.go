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
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/chart"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/matrix"
)

// scanHops are the values of --hops.
var scanHops = []apps.ScanHops{apps.ScanDegree, apps.ScanOneHop, apps.ScanTwoHops}

// defaultScanPlot is the file of --plot without a name.
const defaultScanPlot = "scan.png"

func scanCommand(s *session) *cobra.Command {
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
	j := newJob(s, cmd).computes(thresholdTC).fuses().reads().writes("the statistics", matrixFiles...)
	j.scales(estimateScan)
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
		case j.read.bipartite:
			return bad("--time-column and --bipartite exclude each other: the windows are graphs of one set of vertices")
		case !cmd.Flags().Changed("window"):
			return bad("--window is missing")
		case !(window > 0) || math.IsInf(window, 1):
			return bad("--window is %v, want a positive length", window)
		case lag < 2:
			return bad("--lag is %d, want 2 or more", lag)
		case !(threshold > 0):
			return bad("--threshold is %v, want a positive number", threshold)
		case cmd.Flags().Changed("device") && j.run.device != "auto" && j.run.device != "cpu":
			return bad("--device is %q, and a series is computed on the host: want auto or cpu", j.run.device)
		}
		if !cmd.Flags().Changed("device") { // HIVEBLAS_DEVICE has no effect
			j.run.device = "cpu"
		}
		j.read.weight = column
		return scanSeries(j, args[0], picture, apps.ScanSeriesOptions{Window: window, Lag: lag, Hops: scanHops[hops], Threshold: threshold})
	}
	return cmd
}

// scanGraph is scan of one graph.
func scanGraph(j *job, file string, o apps.ScanOptions, top int) error {
	if err := j.begin(file); err != nil {
		return err
	}
	if err := j.loadSquare(file, structure); err != nil {
		return err
	}
	if o.Hops != apps.ScanOneHop { // these are not divided by ranges on GPUs
		j.estimate = nil
	}
	var res *apps.ScanResult
	err := j.compute(func(run apps.Run) (err error) {
		o.Run = run
		res, err = apps.ScanStatistics(j.graph.Matrix, o)
		if err != nil {
			return err
		}
		return res.Statistic.Move(nil)
	})
	if err != nil {
		return err
	}
	if err := j.writing(func() error { return j.writeVectorAs(res.Statistic.Inside()) }); err != nil {
		return err
	}
	figures := []field{
		{"max", "maximum", res.Max}, {"argmax", "", vertexList(j, res.ArgMax)},
		{"", "vertices with it", len(res.ArgMax)}, {"sum", "sum", res.Sum}, {"edges", "edges", res.Edges},
	}
	if o.Hops == apps.ScanOneHop {
		figures = append(figures, field{"triangles", "triangles", res.Triangles})
	}
	return j.report(j.method(""), figures, listed(j, "vertex", "statistic", largestCounts(res.Statistic, top), top))
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
func vertexList(j *job, list []int) []json.RawMessage {
	names := make([]json.RawMessage, len(list))
	for k, v := range list {
		names[k] = json.RawMessage(vertexJSON(j.graph.name(v)))
	}
	return names
}

// scanSeries is scan of a list of edges with time stamps.
func scanSeries(j *job, file, picture string, o apps.ScanSeriesOptions) error {
	if err := j.begin(file); err != nil {
		return err
	}
	if j.out.path != "" && !slices.Contains(listFiles, j.out.kind) {
		return cli.Usage(j.cmd.CommandPath(), "-o of a series is .tsv or .csv")
	}
	if err := j.checkPicture(picture, file); err != nil {
		return err
	}
	var edges *apps.TimedEdges
	err := j.stage("read", func() (err error) {
		edges, err = openTimed(j, file)
		return err
	})
	if err != nil {
		return err
	}
	var res *apps.ScanSeriesResult
	err = j.stage("compute", func() (err error) {
		o.Run = apps.Run{Context: j.Ctx, Threads: j.run.threads, Progress: j.progress.update, Trace: j.traces.add}
		if res, err = apps.ScanSeries(edges, o); err != nil {
			return explainGraph(j.graph, err)
		}
		if n, first := len(res.Windows), 2*o.Lag; n <= first {
			j.warn(graphio.Warning{File: j.graph.file, Msg: fmt.Sprintf("the series has %d windows, and scores begin with window %d: "+
				"no anomaly can be found; a smaller --lag or --window gives scores", n, first)})
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := j.writing(func() error { return writeSeries(j, res) }); err != nil {
		return err
	}
	err = j.draw(picture, func(w io.Writer) error { return seriesPlot(res, o).WritePNG(w, 9, 4.5) })
	if err != nil {
		return err
	}
	anomalies := make([]object, len(res.Anomalies))
	list := &ranking{title: "window, from: vertex", unit: "relative count"}
	for k, a := range res.Anomalies {
		w := res.Windows[a.Window]
		vertices := make([]object, len(a.Vertices))
		for i, v := range a.Vertices {
			name := j.graph.name(v.Vertex)
			vertices[i] = object{{"vertex", "", json.RawMessage(vertexJSON(name))}, {"value", "", v.Locality}}
			list.rows = append(list.rows, ranked{fmt.Sprintf("%d, %s: %s", a.Window, text(w.Start), name), v.Locality})
		}
		anomalies[k] = object{{"window", "", a.Window}, {"start", "", w.Start}, {"end", "", w.Start + o.Window},
			{"score", "", a.Score}, {"max", "", w.Max}, {"vertices", "", vertices}}
	}
	figures := []field{{"windows", "windows", len(res.Windows)}, {"anomalies", "", anomalies},
		{"", "anomalies", len(res.Anomalies)}}
	if picture != "" {
		figures = append(figures, field{"plot", "picture", picture})
	}
	return j.report(j.method("scan statistics of windows"), figures, onlyText(j, list))
}

// openTimed reads a list of edges with time stamps in the column of weights.
func openTimed(j *job, file string) (*apps.TimedEdges, error) {
	g := &graph{file: nameOf(file)}
	in, err := j.openInput(file)
	if err != nil {
		return nil, explain(g.file, err)
	}
	defer in.close()
	if format := in.format(&j.read); format != graphio.FormatAuto && !format.IsList() {
		return nil, cli.Fail(g.file, "--time-column is for edge lists", "give a text with a source, a target and a time stamp on each line", nil)
	}
	j.read.undirected = false // directions are ignored
	t, n, labels, err := graphio.ReadTuples[float64](in.r, j.readOptions(in, g, weighted)...)
	if err != nil {
		return nil, explain(g.file, err)
	}
	g.Matrix, g.rows, g.cols, g.edges = matrix.New[float64](n, n), labels, labels, int64(len(t.Value))
	if err := j.nameGraph(g, n, n); err != nil {
		return nil, err
	}
	j.graph = g
	return &apps.TimedEdges{Vertices: n, Source: t.Source, Target: t.Target, Time: t.Value}, nil
}

// writeSeries writes a line for each window.
func writeSeries(j *job, res *apps.ScanSeriesResult) error {
	return j.writeLines(len(res.Windows), func(line func(fields ...string) error) error {
		for _, w := range res.Windows {
			vertex := "NaN"
			if w.Vertex >= 0 {
				vertex = j.graph.name(w.Vertex)
			}
			err := line(text(w.Start), text(w.Edges), text(w.Max), text(w.Locality), vertex, text(w.Score))
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
		Title: fmt.Sprintf("scan statistics: %d windows of %s, lag %d, %s hops", len(res.Windows), text(o.Window), o.Lag, o.Hops),
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
	p.Line("largest relative count", locality, palest, 1)
	p.Line("score", score, darkest, 1)
	if len(score) > 0 {
		p.Line("threshold", []chart.Point{{X: score[0].X, Y: o.Threshold}, {X: score[len(score)-1].X, Y: o.Threshold}}, color.Black, 1, 4, 3)
	}
	p.Dots("anomalies", found, alarm, 4)
	return p
}
