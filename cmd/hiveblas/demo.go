package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
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
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
	"github.com/hiveblas/hiveblas/testdata"
)

func demoCommand(s *job.Session) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run a tour on two small graphs that come with hiveblas",
		Long: `demo projects the carbon exchange of an ecosystem, nominates vertices in the
projection, and runs PageRank and breadth-first search on a karate club. It writes
the results and two pictures to a folder.`,
		Example: `  hiveblas demo
  hiveblas demo --dir /tmp/tour`,
		Args: cli.Positional(),
	}
	j := job.New(s, cmd).Computes(noThreshold)
	cmd.Flags().StringVar(&dir, "dir", "hiveblas-demo", "write results and pictures to `DIR`, which is created if missing")
	cli.Complete(cmd, "dir")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if dir == "" {
			return cli.Usage(cmd.CommandPath(), "--dir is empty, want a folder")
		}
		if err := j.Begin(); err != nil {
			return err
		}
		var t tour
		if err := j.Stage("read", t.read); err != nil {
			return err
		}
		j.Graph = &job.Graph{File: "chesapeake.mtx", Matrix: t.chesapeake}
		if err := j.PlaceGraphs(t.chesapeake.NVals, "entries", t.chesapeake, t.karate); err != nil {
			return err
		}
		j.Traces.Begin("tour")
		if err := j.Compute(t.compute); err != nil {
			return err
		}
		err := j.Stage("write", func() error {
			s.Cleaning.Store(true)
			defer s.Cleaning.Store(false)
			return t.write(j, dir)
		})
		if err != nil {
			return err
		}
		if j.Run.Json {
			return j.Report(t.figures(dir), nil)
		}
		return t.print(j, dir)
	}
	return cmd
}

// tour holds the results of the demo.
type tour struct {
	chesapeake, karate *matrix.Matrix[float64]

	shared    *matrix.Matrix[float64] // projection: number of shared partners
	distance  *matrix.Vector[float64] // from compartment 0, with lengths 1/shared
	ranks     *apps.PageRankResult
	search    *apps.BFSResult
	triangles int64
}

func (t *tour) read() (err error) {
	if t.chesapeake, err = graphio.ReadMatrixMarket[float64](bytes.NewReader(testdata.Chesapeake)); err != nil {
		return err
	}
	if t.karate, err = graphio.ReadMatrixMarket[float64](bytes.NewReader(testdata.Karate)); err == nil {
		t.karate.IsSymmetric() // so that searches can also pull
	}
	return err
}

func (t *tour) compute(run apps.Run) (err error) {
	t.shared, err = apps.Projection(t.chesapeake, apps.ProjectionOptions{Run: run, Weighting: apps.WeightCount})
	if err != nil {
		return err
	}
	m, n := t.shared.Dims()
	length := matrix.New[float64](m, n, matrix.On(t.shared.Place()))
	if err = ops.Apply(length, semiring.Minv[float64](), t.shared); err != nil {
		return err
	}
	t.distance, err = apps.VertexNomination(length, []int{0}, apps.VertexNominationOptions[float64]{Run: run})
	if err != nil {
		return err
	}
	if t.ranks, err = apps.PageRank(t.karate, apps.PageRankOptions{Run: run}); err != nil {
		return err
	}
	if t.search, err = apps.BFS(t.karate, 0, apps.BFSOptions{Run: run}); err != nil {
		return err
	}
	if t.triangles, err = apps.TriangleCount(t.karate, apps.TriangleOptions{Run: run}); err != nil {
		return err
	}
	return job.ToHost(nil, t.chesapeake, t.karate, t.shared, t.distance, t.ranks.Rank, t.search.Level)
}

// The files of the tour.
const (
	projectionTSV = "chesapeake-projection.tsv"
	projectionPNG = "chesapeake-projection.png"
	ranksTSV      = "karate-pagerank.tsv"
	ranksPNG      = "karate-pagerank.png"
)

func (t *tour) write(j *job.Job, dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return job.Explain(dir, err)
	}
	put := func(name string, write func() error) error {
		j.Out = job.Output{Path: filepath.Join(dir, name), Kind: filepath.Ext(name)}
		defer func() { j.Out = job.Output{} }()
		return job.Explain(filepath.Join(dir, name), write())
	}
	picture := func(p *chart.Chart, w, h float64) func() error {
		return func() error { return j.Stream(func(out io.Writer) error { return p.WritePNG(out, w, h) }) }
	}
	spy, w, h := charts.SpyPlot(t.shared, charts.EntriesTitle("chesapeake, projected", t.shared))
	for _, step := range []struct {
		name  string
		write func() error
	}{
		{projectionTSV, func() error { return j.WriteMatrix(t.shared, nil) }},
		{projectionPNG, picture(spy, w, h)},
		{ranksTSV, func() error { return j.WriteVector(t.ranks.Rank) }},
		{ranksPNG, picture(t.scatter(), 6, 4.5)},
	} {
		if err := put(step.name, step.write); err != nil {
			return err
		}
	}
	return nil
}

// scatter plots rank over degree and labels the vertices of high degree.
func (t *tour) scatter() *chart.Chart {
	degree := map[int]int{}
	for v, row := range t.karate.Rows() {
		degree[v] = row.Len()
	}
	var points, named []chart.Point
	var names []string
	highest := 0.0
	for v, r := range t.ranks.Rank.All() {
		at := chart.Point{X: float64(degree[v]), Y: r}
		points, highest = append(points, at), max(highest, r)
		if degree[v] >= 9 {
			named, names = append(named, at), append(names, fmt.Sprintf("vertex %d", v))
		}
	}
	p := &chart.Chart{Title: "Karate club: PageRank over degree", Padding: 5, Grid: true,
		X: chart.Axis{Label: "friends", Max: 20}, Y: chart.Axis{Label: "PageRank", Max: highest}}
	p.Dots("", points, charts.Darkest, 3)
	p.Labels(named, names)
	return p
}

func (t *tour) figures(dir string) []job.Field {
	return []job.Field{
		{Key: "projection", Label: "", Value: job.Object{{Key: "nnz", Label: "", Value: t.shared.NVals()}}},
		{Key: "vn", Label: "", Value: job.Object(distanceFigures(t.distance))},
		{Key: "pagerank", Label: "", Value: job.Object{{Key: "iterations", Label: "", Value: t.ranks.Iterations}}},
		{Key: "bfs", Label: "", Value: job.Object{{Key: "reached", Label: "", Value: t.search.Reached}, {Key: "max_level", Label: "", Value: t.search.MaxLevel}}},
		{Key: "tc", Label: "", Value: job.Object{{Key: "triangles", Label: "", Value: t.triangles}}},
		{Key: "dir", Label: "", Value: dir},
	}
}

func (t *tour) print(j *job.Job, dir string) error {
	w := bufio.NewWriter(j.Stdout)
	line := func(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

	line("Chesapeake Bay: 39 compartments of an ecosystem, 170 exchanges of carbon")
	line("")
	line("  Projection AᵀA over plus_pair: compartments that share partners")
	line("    %d pairs share partners; the largest numbers:", t.shared.NVals()/2)
	for _, e := range heaviest(t.shared, 3) {
		line("    %3d – %-3d  %g partners", e.at.Row, e.at.Col, e.value)
	}
	line("")
	line("  Vertex nomination over min_plus, length 1/partners: nearest to compartment 0")
	for _, n := range apps.Rank(t.distance)[1:4] {
		line("    %3d        distance %.4f", n.Vertex, n.Distance)
	}
	line("")
	line("Karate club: 34 members, 78 friendships, %d triangles", t.triangles)
	line("")
	line("  PageRank over plus_second, %d iterations: the highest ranks", t.ranks.Iterations)
	for _, n := range highest(j, t.ranks.Rank, 4).Rows {
		line("    %3s        rank %.4f", n.Vertex, n.Value)
	}
	line("")
	levels := make([]int, t.search.MaxLevel+1)
	for _, l := range t.search.Level.All() {
		levels[l]++
	}
	line("  Breadth-first search over any_pair from member 0: members by distance")
	for l, c := range levels {
		line("    %d steps    %2d %s", l, c, strings.Repeat("▇", c))
	}
	line("")
	line("In %s%c: %s", dir, filepath.Separator, strings.Join([]string{projectionTSV, projectionPNG, ranksTSV, ranksPNG}, ", "))
	line("read, computed and written in %.0f, %.0f and %.0f ms", 1e3*j.Took("read"), 1e3*j.Took("compute"), 1e3*j.Took("write"))
	if !j.Run.Quiet {
		line("")
		file := quoted(filepath.Join(dir, projectionTSV))
		line("Next: the same with a file of your own (Matrix Market or an edge list, .gz or not)")
		line("  hiveblas stats %s", file)
		line("  hiveblas vn %s --seeds 0,33 -o distances.tsv", file)
		line("  hiveblas --help")
	}
	return j.Printed(w.Flush())
}

type edge struct {
	at    matrix.Coord
	value float64
}

// heaviest returns the k largest entries above the diagonal of a; ties keep their
// order.
func heaviest(a *matrix.Matrix[float64], k int) []edge {
	var list []edge
	for c, x := range a.All() {
		if c.Row < c.Col {
			list = append(list, edge{c, x})
		}
	}
	slices.SortStableFunc(list, func(x, y edge) int { return int(y.value - x.value) })
	return list[:min(k, len(list))]
}
