package main

import (
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/matrix"
)

// linkScores are the values of --score.
var linkScores = map[string]apps.LinkScore{"dot": apps.ScoreDot, "cosine": apps.ScoreCosine}

func embedCommand(s *job.Session) *cobra.Command {
	var o apps.EmbedOptions
	var l linkFlags
	cmd := &cobra.Command{
		Use:   "embed GRAPH",
		Short: "Embeddings of vertices by random walks (node2vec), and link prediction",
		Long: `embed computes a vector for each vertex such that vertices which random walks visit close
together have similar vectors: skip-gram with negative samples over walks. Walks follow
edges from row to column (see --undirected). --p and --q are those of node2vec: the
weight of a return to the vertex before is divided by P, and the weight of a vertex to
which the vertex before has no edge by Q. The same seed gives the same vectors, at any
number of threads.

--links SHARE holds out a share of the edges, trains on the others, and reports how well
the vectors predict them: the AUC, the probability that an edge scores higher than a pair
without an edge, and the MRR, the mean of 1/rank of the target of an edge among 100 vertices
without an edge from its source.

-o writes a header and a line “vertex,e0,e1,…” for each vertex, or an array in .npy.`,
		Example: `  hiveblas embed friends.tsv --undirected -o vectors.csv
  hiveblas embed graph.mtx --undirected --p .25 --q 4 --dimensions 64 -o vectors.npy
  hiveblas embed cites.mtx --undirected --links .1 --score cosine --json`,
		Args: cli.Positional("GRAPH"),
	}
	j := job.New(s, cmd).Computes(noThreshold).Reads().Writes("the vectors", embeddingFiles...)
	fs := cmd.Flags()
	counts := []struct {
		to          *int
		value       int
		name, usage string
	}{
		{&o.Dimensions, 128, "dimensions", "numbers `D` of a vector"}, {&o.Window, 10, "window", "pair vertices of a walk up to `W` steps apart"},
		{&o.Negatives, 5, "negatives", "draw `K` vertices for each pair"}, {&o.Epochs, 1, "epochs", "train for `N` rounds of walks"},
		{&o.PerStart, 10, "walks-per-vertex", "walks `N` from each vertex in a round"}, {&o.Length, 80, "length", "vertices `L` of a walk"},
	}
	for _, c := range counts {
		fs.IntVar(c.to, c.name, c.value, c.usage)
	}
	fs.Float64Var(&o.Rate, "rate", .025, "rate `R` of the descent at its begin")
	fs.Float64Var(&o.Return, "p", 1, "divide the weight of a return to the vertex before by `P`")
	fs.Float64Var(&o.InOut, "q", 1, "divide the weight of a vertex apart from the vertex before by `Q`")
	fs.BoolVar(&o.Weighted, "weighted", false, "step in proportion to the weights of edges")
	fs.Uint64Var(&o.Seed, "random-seed", 0, "seed `S` of the random numbers")
	l.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		bad := func(format string, args ...any) error {
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf(format, args...))
		}
		for _, c := range counts {
			if *c.to < 1 {
				return bad("--%s is %d, want 1 or more", c.name, *c.to)
			}
		}
		switch {
		case !(o.Rate > 0 && o.Rate <= math.MaxFloat32):
			return bad("--rate is %v, want a positive number", o.Rate)
		case !(o.Return > 0 && o.InOut > 0 && max(o.Return, o.InOut) <= math.MaxFloat32):
			return bad("--p is %v and --q %v, want positive numbers", o.Return, o.InOut)
		}
		if err := l.check(cmd); err != nil {
			return err
		}
		if err := j.Begin(args[0]); err != nil {
			return err
		}
		what := job.Structure
		if o.Weighted {
			what = job.Weighted
		}
		if err := j.LoadSquare(args[0], what); err != nil {
			return err
		}
		n, _ := j.Graph.Dims()
		if err := j.Enough(j.Graph.File, fmt.Sprintf("a vector of %d numbers for each of %d vertices", o.Dimensions, n), 8*int64(n)*int64(o.Dimensions)); err != nil {
			return err
		}
		var res *apps.Embedding
		var found *linkResult
		err := j.Compute(func(run apps.Run) (err error) {
			o.Run = run
			g := j.Graph.Matrix
			if g, found, err = l.hold(g, o.Seed, run); err != nil {
				return err
			}
			if res, err = apps.Embed(g, o); err != nil {
				return err
			}
			if err = found.measure(res.Vectors, run); err != nil {
				return err
			}
			return res.Vectors.Move(nil)
		})
		if err != nil {
			return err
		}
		if err := j.Writing(func() error { return writeEmbeddings(j, res.Vectors) }); err != nil {
			return err
		}
		return j.Report(append([]job.Field{{Key: "vertices", Label: "vertices", Value: n}, {Key: "dimensions", Label: "dimensions", Value: o.Dimensions},
			{Key: "pairs", Label: "pairs", Value: res.Pairs}, {Key: "loss", Label: "loss", Value: res.Loss}}, found.figures()...), nil)
	}
	return cmd
}

// linkFlags are the flags of link prediction.
type linkFlags struct {
	share float64
	score string
}

func (l *linkFlags) add(cmd *cobra.Command) {
	cmd.Flags().Float64Var(&l.share, "links", 0, "hold out `SHARE` of the edges and predict them")
	cmd.Flags().StringVar(&l.score, "score", "dot", "score links by `S`: dot or cosine")
	cli.Complete(cmd, "score", "dot", "cosine")
}

func (l *linkFlags) check(cmd *cobra.Command) error {
	_, known := linkScores[l.score]
	switch fs := cmd.Flags(); {
	case fs.Changed("links") && !(l.share > 0 && l.share < 1):
		return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--links is %v, want a share between 0 and 1", l.share))
	case fs.Changed("score") && l.share == 0:
		return cli.Usage(cmd.CommandPath(), "--score has no effect without --links")
	case !known:
		return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--score is %q, want dot or cosine", l.score))
	}
	return nil
}

// linkResult is the links that a command holds out, and how well they are predicted.
type linkResult struct {
	score apps.LinkScore
	held  *apps.LinkSet
	apps.LinkQuality
}

// hold returns the graph without the links that are held out. Without --links it returns the graph
// and nil.
func (l *linkFlags) hold(g *matrix.Matrix[float64], seed uint64, run apps.Run) (*matrix.Matrix[float64], *linkResult, error) {
	if l.share == 0 {
		return g, nil, nil
	}
	rest, held, err := apps.HoldOutLinks(g, apps.HoldOutOptions{Run: run, Share: l.share, Seed: seed})
	return rest, &linkResult{score: linkScores[l.score], held: held}, err
}

// measure scores the links by vectors.
func (r *linkResult) measure(vectors *matrix.Matrix[float32], run apps.Run) (err error) {
	if r != nil {
		r.LinkQuality, err = apps.MeasureLinks(vectors, r.held, apps.MeasureOptions{Run: run, Score: r.score})
	}
	return err
}

// figures returns what the report has of the links.
func (r *linkResult) figures() []job.Field {
	if r == nil {
		return nil
	}
	return []job.Field{{Key: "held_out", Label: "held-out edges", Value: len(r.held.Edges)},
		{Key: "auc", Label: "AUC", Value: r.AUC}, {Key: "mrr", Label: "MRR", Value: r.MRR}}
}
