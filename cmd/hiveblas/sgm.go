package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/internal/delimited"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

func sgmCommand(s *job.Session) *cobra.Command {
	var (
		o                   apps.SGMOptions
		seeds, start, truth string
		from, similar       string
		labels              []string
		other               *job.Graph
		starts              = map[string]apps.SGMStart{"auto": apps.AutoStart, "sparse": apps.SparseStart, "barycentre": apps.Barycentre, "random": apps.RandomStart}
	)
	cmd := &cobra.Command{
		Use:   "sgm A B --seeds N|PAIRS",
		Short: "Seeded graph matching: match the vertices of two graphs",
		Long: `sgm matches the vertices of two graphs one to one with few disagreements of edges,
starting from seeds, pairs of vertices that correspond. It refines colours from the
seeds, which solves copies without noise. If that leaves disagreements, it takes
Frank-Wolfe steps over the relaxed problem, each an assignment problem and a sparse
product, and repairs the remaining vertices. Edges have weights and directions.
A search that ends with disagreements is followed by others: from pairs that
percolation from the seeds finds, and from other starts within --searches.

Seeds are the first N vertices of both graphs, or a file with a vertex of A and
one of B on each line, where # and % begin comments. The search may change the
match of a seed unless --hard is given. Graphs of different sizes need --pad, which
adds isolated vertices to the smaller graph; with --adopted edges between vertices of
which one is matched with padding do not count. --similarity adds how alike vertices
are: lines of a vertex of A, one of B and a number, or a Matrix Market file with a row
for each vertex of A. A similarity of 2 weighs as much as an undirected edge of
weight 1. --labels names a file for each graph with a whole number for each vertex;
only vertices of one label are matched. The output has a line for each vertex
of A with its vertex of B, without added vertices. --truth names a file of such
lines to compare with.`,
		Example: `  hiveblas sgm before.mtx after.mtx --seeds 100 -o match.tsv
  hiveblas sgm left.mtx.gz right.mtx.gz --seeds pairs.tsv --hard --pad --json
  hiveblas sgm a.mtx b.mtx --seeds 20 --similarity names.tsv --labels kinds-a.txt,kinds-b.txt
  hiveblas sgm a.mtx b.mtx --seeds 50 --start barycentre --truth truth.tsv`,
		Args: cli.Positional("A", "B"),
	}
	j := job.New(s, cmd).Computes(thresholdSGM).Reads().Writes("the matching", job.ListFiles...)
	fs := cmd.Flags()
	fs.StringVar(&seeds, "seeds", "", "the first `N` vertices of both graphs are seeds, or a file of pairs")
	fs.BoolVar(&o.HardSeeds, "hard", false, "keep the matches of seeds")
	fs.Float64Var(&o.Epsilon, "epsilon", 0, "each vertex is within `E` common neighbours of its best in a step (0: automatic)")
	fs.BoolVar(&o.Exact, "exact", false, "solve the assignment of each step exactly, ignoring --epsilon")
	fs.StringVar(&start, "start", "auto", "start `S` of the search: sparse (the seeds alone), barycentre, random (half-way to a random matching), or auto (refinement, sparse, then others)")
	fs.StringVar(&from, "from", "", "`FILE` of pairs to start from, such as the output of an earlier run")
	fs.Float64Var(&o.Searches, "searches", 0, "`multiple` of the first search's work that others may take (0: 2, negative: no other search)")
	fs.Float64Var(&o.Repair, "repair", 0, "`multiple` of the work of the searches that repairs may take (0: 1, negative: no repair, inf: no bound)")
	fs.BoolVar(&o.Pad, "pad", false, "add isolated vertices to the smaller graph")
	fs.BoolVar(&o.Adopted, "adopted", false, "with --pad, ignore edges of vertices that are matched with padding")
	fs.StringVar(&similar, "similarity", "", "`FILE` of similarities of vertices of A and of B")
	fs.StringSliceVar(&labels, "labels", nil, "`FILES` with the labels of A and of B, separated by a comma: only vertices of one label are matched")
	fs.IntVar(&o.MaxIterations, "max-iterations", 50, "stop after `N` steps")
	fs.Float64Var(&o.Tolerance, "tolerance", .5, "stop when a step corrects fewer than `T` edges")
	fs.Uint64Var(&o.Seed, "random-seed", 0, "seed `N` of the choice between equal vertices, and of random starts")
	fs.StringVar(&truth, "truth", "", "compare with the pairs in `FILE`")
	cli.Complete(cmd, "start", "auto", "sparse", "barycentre", "random")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		var known bool
		o.Start, known = starts[start]
		switch {
		case seeds == "":
			return cli.Usage(cmd.CommandPath(), "--seeds is missing")
		case !known:
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--start is %q, want auto, sparse, barycentre or random", start))
		case from != "" && o.Start != apps.AutoStart:
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--from and --start %s are given, want one of them", start))
		case o.Adopted && !o.Pad:
			return cli.Usage(cmd.CommandPath(), "--adopted needs --pad")
		case len(labels) != 0 && len(labels) != 2:
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--labels has %d files, want one for each graph", len(labels)))
		case o.Searches != o.Searches:
			return cli.Usage(cmd.CommandPath(), "--searches is NaN, want a number")
		case o.Repair != o.Repair:
			return cli.Usage(cmd.CommandPath(), "--repair is NaN, want a number")
		case !(o.Epsilon >= 0):
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--epsilon is %v, want 0 or more", o.Epsilon))
		case !(o.Tolerance > 0):
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--tolerance is %v, want a positive number", o.Tolerance))
		case o.MaxIterations < 1:
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--max-iterations is %d, want 1 or more", o.MaxIterations))
		}
		inputs := args[:2:2]
		for _, f := range append([]string{seeds, truth, from, similar}, labels...) {
			if f != "" && !job.IsNumber(f) {
				inputs = append(inputs, f)
			}
		}
		if err := j.Begin(inputs...); err != nil {
			return err
		}
		if err := j.LoadSquare(args[0], job.Weighted); err != nil {
			return err
		}
		first := j.Graph
		if err := j.LoadSquare(args[1], job.Weighted); err != nil {
			return err
		}
		j.Graph, other = first, j.Graph
		j.Graph.Other = other
		pairs, err := seedPairs(j, seeds, other)
		if err != nil {
			return err
		}
		var facts []apps.SeedPair
		if truth != "" {
			if facts, err = readPairs(j, truth, other); err != nil {
				return err
			}
		}
		if from != "" {
			if o.From, err = startOf(j, from, other); err != nil {
				return err
			}
		}
		if err := furtherInputs(j, other, &o, similar, labels); err != nil {
			return err
		}
		if m, n := order(j.Graph), order(other); m != n && !o.Pad {
			return cli.Fail(other.File, fmt.Sprintf("the graph has %d vertices and %s has %d", n, j.Graph.File, m), "--pad adds isolated vertices to the smaller", nil)
		}
		err = j.PlaceGraphs(func() int64 { return j.Graph.NVals() + other.NVals() }, "entries", j.Graph.Matrix, other.Matrix)
		if err != nil {
			return err
		}
		var res *apps.SGMResult
		err = j.Compute(func(run apps.Run) (err error) {
			o.Run = run
			res, err = apps.SGM(j.Graph.Matrix, other.Matrix, pairs, o)
			return err
		})
		if err != nil {
			return err
		}
		if err := j.Writing(func() error { return writeMatch(j, res.Match, other) }); err != nil {
			return err
		}
		return j.Report(sgmFigures(res, len(pairs), facts), nil)
	}
	return cmd
}

func order(g *job.Graph) int { n, _ := g.Dims(); return n }

// sgmFigures are the figures of the report.
func sgmFigures(res *apps.SGMResult, seeds int, truth []apps.SeedPair) []job.Field {
	seconds := func(d time.Duration) float64 { return d.Seconds() }
	figures := []job.Field{
		{Key: "orig_dist", Label: "disagreements before", Value: res.Before},
		{Key: "final_dist", Label: "disagreements after", Value: res.After},
		{Key: "similarity", Label: "similarity", Value: res.Similarity},
		{Key: "searches", Label: "searches", Value: res.Searches},
		{Key: "iterations", Label: "iterations", Value: len(res.Iterations)},
		{Key: "converged", Label: "", Value: res.Converged},
		{Key: "seeds", Label: "seeds", Value: seeds},
		{Key: "matched_seeds", Label: "matched seeds", Value: res.MatchedSeeds},
		{Key: "matched", Label: "", Value: res.Match.NVals()},
		{Key: "peak_bytes", Label: "peak bytes, estimated", Value: res.PeakBytes},
		{Key: "stages", Label: "", Value: job.Object{{Key: "setup", Label: "", Value: seconds(res.Setup)}, {Key: "product", Label: "", Value: seconds(res.Product)}, {Key: "assign", Label: "", Value: seconds(res.Assign)},
			{Key: "search", Label: "", Value: seconds(res.Search)}, {Key: "project", Label: "", Value: seconds(res.Project)}}},
	}
	if truth != nil {
		right := 0
		for _, p := range truth {
			if w, ok := res.Match.At(p.A); ok && int(w) == p.B {
				right++
			}
		}
		figures = append(figures, job.Field{Key: "accuracy", Label: "accuracy", Value: float64(right) / float64(max(1, len(truth)))})
	}
	steps := make([]job.Object, len(res.Iterations))
	for k, it := range res.Iterations {
		steps[k] = job.Object{{Key: "search", Label: "", Value: it.SearchNumber}, {Key: "objective", Label: "", Value: it.Objective}, {Key: "step", Label: "", Value: it.Step}, {Key: "slope", Label: "", Value: it.Slope}, {Key: "lsap_gap", Label: "", Value: it.LSAPGap}, {Key: "rounds", Label: "", Value: it.Rounds}, {Key: "entries", Label: "", Value: it.Entries},
			{Key: "product", Label: "", Value: seconds(it.Product)}, {Key: "assign", Label: "", Value: seconds(it.Assign)}, {Key: "search", Label: "", Value: seconds(it.Search)}}
	}
	return append(figures, job.Field{Key: "steps", Label: "", Value: steps})
}

// seedPairs returns the seeds of --seeds, a number or a file.
func seedPairs(j *job.Job, text string, other *job.Graph) ([]apps.SeedPair, error) {
	if !job.IsNumber(text) {
		lineA, lineB := map[int]int{}, map[int]int{}
		return eachPair(j, text, other, func(p apps.SeedPair, line int) error {
			for _, side := range []struct {
				g     *job.Graph
				which string
				v     int
				lines map[int]int
			}{{j.Graph, "first", p.A, lineA}, {other, "second", p.B, lineB}} {
				if before := side.lines[side.v]; before > 0 {
					return cli.Fail(fmt.Sprintf("%s:%d", text, line),
						fmt.Sprintf("vertex %s of the %s graph is given twice, first in line %d", side.g.Name(side.v), side.which, before),
						"give each vertex once", nil)

				}
				side.lines[side.v] = line
			}
			return nil
		})
	}
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if most := min(order(j.Graph), order(other)); err != nil || n < 0 || n > most {
		return nil, cli.Fail("--seeds "+text, "the number of seeds is out of range", fmt.Sprintf("give 0 to %d", most), nil)
	}
	return apps.FirstSeeds(n), nil
}

// startOf reads the matching that --from gives.
func startOf(j *job.Job, file string, other *job.Graph) (*matrix.Vector[int32], error) {
	pairs, err := readPairs(j, file, other)
	if err != nil {
		return nil, err
	}
	match := matrix.NewVector[int32](order(j.Graph))
	for _, p := range pairs {
		if w, ok := match.At(p.A); ok && int(w) != p.B {
			return nil, cli.Fail(file, fmt.Sprintf("vertex %s is given twice", j.Graph.Name(p.A)), "give each vertex of the first graph once", nil)
		}
		if err := match.Set(p.A, int32(p.B)); err != nil {
			return nil, err
		}
	}
	return match, nil
}

// furtherInputs reads the similarities and the labels.
func furtherInputs(j *job.Job, other *job.Graph, o *apps.SGMOptions, similar string, labels []string) (err error) {
	if similar != "" {
		if o.Similarity, err = similarities(j, similar, other); err != nil {
			return err
		}
	}
	if len(labels) == 0 {
		return nil
	}
	if o.LabelsA, err = readKinds(j, labels[0]); err != nil {
		return err
	}
	first := j.Graph
	j.Graph = other
	defer func() { j.Graph = first }()
	o.LabelsB, err = readKinds(j, labels[1])
	return err
}

// readKinds reads a whole number for each vertex of the graph.
func readKinds(j *job.Job, file string) ([]int32, error) {
	v, err := readValues(j, file, order(j.Graph))
	if err != nil {
		return nil, err
	}
	kinds := make([]int32, order(j.Graph))
	for k, x := range v.All() {
		if kinds[k] = int32(x); float64(kinds[k]) != x {
			return nil, cli.Fail(job.NameOf(file), fmt.Sprintf("the label of vertex %s is %v", j.Graph.Name(k), x), "give whole numbers", nil)
		}
	}
	return kinds, nil
}

// similarities reads a matrix with a row for each vertex of the graph and a column for each vertex
// of another: a Matrix Market file, or lines of two vertices and a number.
func similarities(j *job.Job, file string, other *job.Graph) (*matrix.Matrix[float64], error) {
	m, n := order(j.Graph), order(other)
	if strings.HasSuffix(strings.TrimSuffix(strings.ToLower(file), ".gz"), ".mtx") {
		s, err := graphio.ReadMatrixMarketFile[float64](file)
		if err != nil {
			return nil, job.Explain(file, err)
		}
		if rows, cols := s.Dims(); rows != m || cols != n {
			return nil, cli.Fail(file, fmt.Sprintf("the matrix is %d×%d, and the graphs have %d and %d vertices", rows, cols, m, n), "give a row for each vertex of the first graph, and a column for each of the second", nil)
		}
		return s, nil
	}
	b := matrix.NewBuilder[float64](m, n)
	_, err := eachLine(j, file, other, 3, func(p apps.SeedPair, more []string, line int) error {
		x, err := strconv.ParseFloat(more[0], 64)
		if err != nil || x-x != 0 {
			return cli.Fail(fmt.Sprintf("%s:%d", file, line), fmt.Sprintf("the similarity is %q", more[0]), "write a vertex of the first graph, one of the second and a number", nil)
		}
		b.Add(p.A, p.B, x)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return b.Build(semiring.Plus[float64]())
}

// readPairs reads lines of a vertex of the graph and one of another.
func readPairs(j *job.Job, file string, other *job.Graph) ([]apps.SeedPair, error) {
	return eachPair(j, file, other, func(apps.SeedPair, int) error { return nil })
}

// eachPair is readPairs, and calls check with each pair and its line.
func eachPair(j *job.Job, file string, other *job.Graph, check func(p apps.SeedPair, line int) error) ([]apps.SeedPair, error) {
	return eachLine(j, file, other, 2, func(p apps.SeedPair, _ []string, line int) error { return check(p, line) })
}

// eachLine reads lines of a vertex of the graph, one of another and more fields, some in all, and
// calls take with the pair, the further fields and the line.
func eachLine(j *job.Job, file string, other *job.Graph, some int, take func(p apps.SeedPair, more []string, line int) error) ([]apps.SeedPair, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, cli.Fail(file, "cannot be read: "+job.Reason(err), "give a number of vertices, or a file of pairs", err)
	}
	defer f.Close()
	var pairs []apps.SeedPair
	first := true
	err = job.EachLine(f, file, func(text string, line int) error {
		place := fmt.Sprintf("%s:%d", file, line)
		names := job.SplitLine(job.WithoutComment(text, j.Read.Lines()))
		if len(names) == 0 {
			return nil
		}
		header := first && !slices.ContainsFunc(names, func(name string) bool { return !delimited.IsName(name) || !delimited.IsWord(name) })
		first = false
		if len(names) != some {
			want := "write a vertex of the first graph and one of the second"
			if some == 3 {
				want = "write a vertex of the first graph, one of the second and a number"
			}
			return cli.Fail(place, fmt.Sprintf("the line has %d fields", len(names)), want, nil)
		}
		var p apps.SeedPair
		var errs [2]error
		p.A, errs[0] = j.Graph.Vertex(place, names[0])
		p.B, errs[1] = other.Vertex(place, names[1])
		if header && errs[0] != nil && errs[1] != nil { // names of columns
			return nil
		}
		if err := cmp.Or(errs[0], errs[1]); err != nil {
			return err
		}
		if err := take(p, names[2:], line); err != nil {
			return err
		}
		pairs = append(pairs, p)
		return nil
	})
	return pairs, err
}

// writeMatch writes lines of a vertex of A and its vertex of B.
func writeMatch(j *job.Job, match *matrix.Vector[int32], other *job.Graph) error {
	return j.WriteLines(int(match.NVals()), func(line func(fields ...string) error) error {
		for v, u := range match.All() {
			if err := line(j.Graph.Name(v), other.Name(int(u))); err != nil {
				return err
			}
		}
		return nil
	})
}
