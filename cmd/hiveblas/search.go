package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/comm/model"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/matrix"
)

// walksOfRange is the number of walks that a rank of a group gets at a time.
const walksOfRange = 1024

// searchRules are the values of --method of search.
var searchRules = map[string]apps.SearchRule{
	"uniform": apps.SearchUniform, "greedy": apps.SearchGreedy, "stochastic": apps.SearchStochastic,
}

func searchCommand(s *job.Session) *cobra.Command {
	var (
		o                                     apps.SearchOptions
		scores, method, starts, visits, curve string
		base, top                             int
		pipeline                              bool
	)
	cmd := &cobra.Command{
		Use:   "search GRAPH --scores FILE",
		Short: "Graph search: walks that look for vertices of high score",
		Long: `search walks over the graph from each start and reports the scores of the vertices that
it meets. A step goes to a neighbour, a target of an edge of the vertex (see
--undirected): any of them (uniform), the one of the highest score, of several the first
(greedy), or one drawn in proportion to the scores (stochastic). A walk that meets a
vertex without neighbours ends. With --p and --q, as in node2vec, the weight of the
vertex before is divided by P, and the weight of a vertex to which the vertex before has
no edge by Q. The same seed gives the same walks, at any number of
threads.

FILE has a score on each line, for all vertices in order, or lines “vertex score”; other
vertices have score 0. Uniform walks need no scores. Vertices count from --scores-base;
with --ids renumber they are ids. --starts is a file of vertices; walks begin at each of
them, else at every vertex.

-o writes a line for each walk, by start and then by number: .tsv, its vertices
separated by tabs; .bin, little-endian uint32, as many as the length for each walk, with
0xFFFFFFFF after its end. Walks are written while they are computed. --visits writes the
number of visits of each visited vertex; --curve the steps of all walks, the different
vertices found and the sum of their scores after each step.`,
		Example: `  hiveblas search graph.mtx --scores scores.txt --method stochastic --length 64 --top 20
  hiveblas search follows.tsv --scores s.tsv --method greedy --starts seeds.txt -o walks.tsv
  hiveblas search graph.mtx --undirected --p .25 --q 4 --length 80 -o walks.tsv
  hiveblas search graph.hgb --length 128 --walks-per-vertex 10 -o walks.bin --visits v.tsv`,
		Args: cli.Positional("GRAPH"),
	}
	j := job.New(s, cmd).Computes(thresholdSearch).Reads().Writes("the walks", ".tsv", ".bin")
	j.Scales(func(j *job.Job, steps int64) model.Work {
		n, _, _ := j.Graph.Size()
		return independent(float64(steps), max(steps/int64(o.Length)/walksOfRange, 1), int64(n))
	})
	flags := cmd.Flags()
	flags.StringVar(&scores, "scores", "", "`FILE` of the scores of vertices")
	flags.IntVar(&base, "scores-base", 0, "the vertices of the scores count from `B`: 0 or 1")
	flags.StringVar(&method, "method", "uniform", "rule `M` of a step: uniform, greedy or stochastic")
	flags.IntVar(&o.Length, "length", 32, "vertices `L` of a walk, its start included")
	flags.IntVar(&o.PerStart, "walks-per-vertex", 1, "walks `N` from each start")
	flags.StringVar(&starts, "starts", "", "`FILE` of the vertices at which walks begin (default: every vertex)")
	flags.Uint64Var(&o.Seed, "random-seed", 0, "seed `S` of the random numbers")
	flags.BoolVar(&o.Weighted, "weighted", false, "multiply the weight of a neighbour by that of the edge")
	flags.Float64Var(&o.Restart, "restart", 0, "probability `P` of a return to the start at a step")
	flags.BoolVar(&o.NonBacktracking, "non-backtracking", false, "never step back to the vertex before")
	flags.Float64Var(&o.Return, "p", 1, "divide the weight of a return to the vertex before by `P`")
	flags.Float64Var(&o.InOut, "q", 1, "divide the weight of a vertex apart from the vertex before by `Q`")
	flags.StringVar(&visits, "visits", "", "write the visits of vertices to `FILE`: .tsv or .csv")
	flags.StringVar(&curve, "curve", "", "write what is found after each step to `FILE`: .tsv or .csv")
	flags.IntVar(&top, "top", 10, "list the `K` vertices of the highest scores")
	flags.BoolVar(&pipeline, "pipeline", false, "walk by operations of linear algebra alone; the walks are the same")
	cli.Complete(cmd, "method", "uniform", "greedy", "stochastic")
	cli.Complete(cmd, "scores-base", "0", "1")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		bad := func(format string, args ...any) error {
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf(format, args...))
		}
		var known bool
		o.Rule, known = searchRules[method]
		switch {
		case !known:
			return bad("--method is %q, want uniform, greedy or stochastic", method)
		case scores == "" && o.Rule != apps.SearchUniform:
			return bad("--scores is missing, and %s walks need scores", method)
		case base != 0 && base != 1:
			return bad("--scores-base is %d, want 0 or 1", base)
		case o.Length < 1 || o.Length > 1<<31-1:
			return bad("--length is %d, want 1 to 2147483647", o.Length)
		case o.PerStart < 1 || o.PerStart > 1<<31-1:
			return bad("--walks-per-vertex is %d, want 1 to 2147483647", o.PerStart)
		case !(o.Restart >= 0 && o.Restart <= 1):
			return bad("--restart is %v, want a probability", o.Restart)
		case !(o.Return > 0 && o.InOut > 0 && max(o.Return, o.InOut) <= math.MaxFloat32):
			return bad("--p is %v and --q %v, want positive numbers", o.Return, o.InOut)
		case o.Rule == apps.SearchGreedy && (o.Return != 1 || o.InOut != 1):
			return bad("--p and --q are for uniform and stochastic walks")
		}
		if err := checkTop(cmd, top); err != nil {
			return err
		}
		inputs := []string{args[0]}
		for _, file := range []string{scores, starts} {
			if file != "" {
				inputs = append(inputs, file)
			}
		}
		if err := j.Begin(inputs...); err != nil {
			return err
		}
		for k, name := range []string{"visits", "curve"} {
			if err := checkList(j, name, []string{visits, curve}[k], append(inputs, j.Out.Path)...); err != nil {
				return err
			}
		}
		if visits != "" && filepath.Clean(visits) == filepath.Clean(curve) {
			return bad("--visits %s is also --curve; write to another file", visits)
		}
		what := job.Structure
		if o.Weighted {
			what = job.Weighted
		}
		if err := j.LoadSquare(args[0], what); err != nil {
			return err
		}
		var given *apps.Scores
		var begins []int
		err := j.Stage("read", func() (err error) {
			if scores != "" {
				var v *matrix.Vector[float64]
				if v, err = readScores(j, scores, base); err != nil {
					return err
				}
				given = apps.VertexScores(v)
			}
			if starts != "" {
				begins, err = j.VertexFile(starts, "starts")
			}
			return err
		})
		if err != nil {
			return err
		}
		o.Visits, o.Best = visits != "", top
		if pipeline {
			o.Run.Method = apps.Pipeline
		}
		steps := func() int64 {
			count, _ := j.Graph.Dims()
			if starts != "" {
				count = len(begins)
			}
			return int64(min(float64(count)*float64(o.PerStart)*float64(o.Length), 1<<62))
		}
		if err := j.PlaceGraphs(steps, "steps", j.Graph.Matrix); err != nil {
			return err
		}
		res, err := search(j, given, begins, o)
		var score *apps.ScoreError
		if errors.As(err, &score) {
			return cli.Fail(job.NameOf(scores), fmt.Sprintf("the score of vertex %s is %s, and %s walks want %s", j.Graph.Name(score.Vertex), score.Got, method, score.Want),
				"correct the file, or choose another --method", err)

		}
		if err != nil {
			return err
		}
		if err := writeVisits(j, visits, res); err != nil {
			return err
		}
		if err := writeCurve(j, curve, res); err != nil {
			return err
		}
		found := res.Curve[len(res.Curve)-1]
		figures := []job.Field{{Key: "walks", Label: "walks", Value: res.Walks}, {Key: "steps", Label: "steps", Value: res.Steps}, {Key: "ended", Label: "ended early", Value: res.Ended},
			{Key: "score_sum", Label: "sum of scores", Value: res.ScoreSum}, {Key: "distinct", Label: "different vertices", Value: res.Distinct},
			{Key: "distinct_score", Label: "sum of their scores", Value: found.Score}}
		if o.Restart > 0 {
			figures = append(figures, job.Field{Key: "restarts", Label: "restarts", Value: res.Restarts})
		}
		for _, side := range []struct{ key, path string }{{"visits", visits}, {"curve", curve}} {
			if side.path != "" {
				figures = append(figures, job.Field{Key: side.key, Label: side.key, Value: side.path})
			}
		}
		var list *job.Ranking
		if scores != "" {
			list = listed(j, "vertex", "score", res.Best, top)
		}
		return j.Report(figures, list)
	}
	return cmd
}

// search computes the walks and writes them meanwhile.
func search(j *job.Job, scores *apps.Scores, starts []int, o apps.SearchOptions) (res *apps.SearchResult, err error) {
	var failed error // of the output
	err = j.Compute(func(run apps.Run) (err error) {
		run.Method, o.Run = o.Run.Method, run
		if j.Out.Path == "" {
			res, err = apps.GraphSearch(j.Graph.Matrix, scores, starts, o)
			return err
		}
		j.Cleaning.Store(true)
		defer j.Cleaning.Store(false)
		var cause error // of the search
		err = j.Stream(func(w io.Writer) error {
			o.Each = walkWriter(j, w)
			res, cause = apps.GraphSearch(j.Graph.Matrix, scores, starts, o)
			return cause
		})
		var path *fs.PathError
		switch {
		case errors.As(err, &path): // -o names the file as the user gave it
			failed = cli.Fail(j.Out.Path, "cannot be written: "+path.Err.Error(), cli.PathRemedy(path), err)
			return nil
		case err != nil && cause == nil:
			failed = job.Explain(j.Out.Path, err)
			return nil
		}
		return err
	})
	if err == nil {
		err = failed
	}
	return res, err
}

// walkWriter returns the function that writes walks in the format of the output.
func walkWriter(j *job.Job, w io.Writer) func(apps.SearchBlock) error {
	switch {
	case j.Out.Kind == ".bin":
		return apps.BinaryWalks(w)
	case j.Graph.Cols == nil:
		return apps.TextWalks(w, nil)
	}
	return apps.TextWalks(w, func(v int) string { return string(job.AppendFirst(nil, j.Graph.Name(v))) })
}

// readScores reads the file of --scores.
func readScores(j *job.Job, file string, base int) (*matrix.Vector[float64], error) {
	o := apps.ScoreFileOptions{Run: apps.Run{Context: j.Ctx, Progress: j.Progress.Update}, TextOptions: j.Read.Text(), Name: job.NameOf(file), Base: base}
	if j.Graph.Cols != nil && !j.Graph.Counted {
		o.Index = j.Graph.Cols.Index
	}
	in, err := j.OpenInput(file)
	if err != nil {
		return nil, job.Explain(job.NameOf(file), err)
	}
	defer in.Close()
	n, _ := j.Graph.Dims()
	scores, err := apps.ReadScores(in.R, n, o)
	return scores, job.ExplainLines(job.NameOf(file), "--scores-base", err)
}

// writeVisits writes lines of vertex and visits to the file of --visits.
func writeVisits(j *job.Job, path string, res *apps.SearchResult) error {
	return writeList(j, path, func(line func(fields ...string) error) error {
		for v, x := range res.Visits.All() {
			if err := line(j.Graph.Name(v), strconv.FormatInt(x, 10)); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeCurve writes lines of steps, vertices and scores to the file of --curve.
func writeCurve(j *job.Job, path string, res *apps.SearchResult) error {
	return writeList(j, path, func(line func(fields ...string) error) error {
		for _, p := range res.Curve {
			if err := line(strconv.FormatInt(p.Steps, 10), strconv.FormatInt(p.Distinct, 10), job.Text(p.Score)); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkList verifies the file of a flag that names a list, before any work. "" is none. It must not
// overwrite another file of the command.
func checkList(j *job.Job, flag, path string, others ...string) error {
	bad := func(format string, args ...any) error {
		return cli.Usage(j.Cmd.CommandPath(), fmt.Sprintf(format, args...))
	}
	if path == "" {
		if j.Cmd.Flags().Changed(flag) {
			return bad("--%s is empty, want a file name", flag)
		}
		return nil
	}
	if !slices.Contains(job.ListFiles, strings.ToLower(filepath.Ext(path))) {
		return bad("--%s %s: want .tsv or .csv", flag, path)
	}
	if dir, err := os.Stat(filepath.Dir(path)); err != nil || !dir.IsDir() {
		return cli.Fail(path, "the directory "+filepath.Dir(path)+" does not exist", "create it first", nil)
	}
	st, err := os.Stat(path)
	if err == nil && st.IsDir() {
		return cli.Fail(path, "is a directory", "name a file", nil)
	}
	for _, other := range others {
		if other == "" || other == "-" {
			continue
		}
		at, e := os.Stat(other)
		if filepath.Clean(path) == filepath.Clean(other) || err == nil && e == nil && os.SameFile(at, st) {
			return bad("--%s %s is also another file of the command; write to another file", flag, path)
		}
	}
	if name := job.SameFile(j.Cmd, flag, st); name != "" {
		return bad("--%s %s is the file of --%s; write to another file", flag, path, name)
	}
	return nil
}

// writeList writes lines to a file beside the output, which appears complete or not at all.
func writeList(j *job.Job, path string, write func(line func(fields ...string) error) error) error {
	if path == "" || j.Group != nil && !j.Group.First() { // rank 0 writes
		return nil
	}
	side := &job.Job{Session: j.Session, Out: job.Output{Path: path, Kind: strings.ToLower(filepath.Ext(path))}}
	return j.Stage("write", func() error {
		j.Cleaning.Store(true)
		defer j.Cleaning.Store(false)
		err := side.WriteLines(0, write)
		var e *fs.PathError
		if errors.As(err, &e) {
			return cli.Fail(path, "cannot be written: "+e.Err.Error(), cli.PathRemedy(e), err)
		}
		return job.Explain(path, err)
	})
}
