package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/cli"
)

var clusterMethods = []apps.ClusterMethod{apps.ClusterPush, apps.ClusterISTA, apps.ClusterFISTA}

func lgcCommand(s *job.Session) *cobra.Command {
	var (
		list, method        string
		alpha, rho, epsilon float64
		most, top           int
		sweep, whole        bool
	)
	cmd := &cobra.Command{
		Use:   "lgc GRAPH --seeds 5,7|FILE",
		Short: "Local graph clustering: the vertices around seeds",
		Long: `lgc finds the vertices around seeds by ℓ1-regularised PageRank: a random walk that
returns to the seeds with probability --alpha, with a penalty --rho that keeps the
result sparse. The degrees of the vertices found sum to at most 1/rho. --sweep
finds the prefix of the result, ordered by p/degree, with the least conductance.

The graph must be undirected (see --undirected). Weights and self-loops are
ignored. Of a .hgb file that is not compressed only the rows around the seeds are
read; it must have no self-loops, and only those rows are checked. --whole reads and
checks the whole file. Seeds are given as for vn. The summary lists the cluster, or without
--sweep the vertices with the largest p/degree; -o writes p.`,
		Example: `  hiveblas lgc friends.txt --undirected --seeds 5 --sweep
  hiveblas lgc graph.mtx --seeds 5,7 --alpha 0.1 --rho 1e-5 -o p.tsv --json`,
		Args: cli.Positional("GRAPH"),
	}
	j := job.New(s, cmd).Computes(thresholdLGC).Reads().Writes("p", job.MatrixFiles...)
	cmd.Flags().StringVar(&list, "seeds", "", "seeds `V,V,…`, or a file of them")
	cmd.Flags().Float64Var(&alpha, "alpha", 0.15, "probability `P` of returning to the seeds, between 0 and 1")
	cmd.Flags().Float64Var(&rho, "rho", 1e-4, "weight `W` of the penalty, between 0 and 1")
	cmd.Flags().Float64Var(&epsilon, "epsilon", 1e-3, "relative violation `E` of the optimality conditions that is accepted")
	cmd.Flags().StringVar(&method, "method", "push", "algorithm `M`: push, ista or fista")
	cmd.Flags().IntVar(&most, "max-iterations", 10000, "fail after `N` iterations")
	cmd.Flags().BoolVar(&sweep, "sweep", false, "find the cut of least conductance")
	cmd.Flags().BoolVar(&whole, "whole", false, "read and check the whole of a .hgb file")
	cmd.Flags().IntVar(&top, "top", 10, "list `N` vertices")
	cli.Complete(cmd, "method", "push", "ista", "fista")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o := apps.LocalClusterOptions{Alpha: alpha, Rho: rho, Epsilon: epsilon, MaxIterations: most, Sweep: sweep}
		k := slices.IndexFunc(clusterMethods, func(m apps.ClusterMethod) bool { return m.String() == method })
		bad := func(format string, args ...any) error {
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf(format, args...))
		}
		switch {
		case k < 0:
			return bad("--method is %q, want push, ista or fista", method)
		case most < 1:
			return bad("--max-iterations is %d, want 1 or more", most)
		}
		o.Method = clusterMethods[k]
		for _, p := range []struct {
			flag  string
			value float64
		}{{"alpha", alpha}, {"rho", rho}, {"epsilon", epsilon}} {
			if !(p.value > 0 && p.value < 1) {
				return bad("--%s is %v, want between 0 and 1", p.flag, p.value)
			}
		}
		if err := checkTop(cmd, top); err != nil {
			return err
		}
		if err := j.CheckSeeds(list, args[0]); err != nil {
			return err
		}
		if err := j.Begin(args[0]); err != nil {
			return err
		}
		file, err := loadRows(j, args[0], whole)
		if err != nil {
			return err
		}
		defer file.Close() // of nil too
		sources, err := j.Seeds(list)
		if err != nil {
			return err
		}
		if file == nil {
			if err := wantUndirected(j); err != nil {
				return err
			}
		}
		var res *apps.LocalClusterResult
		err = j.Compute(func(run apps.Run) (err error) {
			o.Run = run
			if res, err = clusterOf(j, file, sources, o); err != nil {
				return err
			}
			return res.P.Move(nil)
		})
		if err != nil {
			return err
		}
		if !res.Converged {
			return cli.Fail(j.Graph.File, fmt.Sprintf("the optimality conditions are still violated by %.3g after %d iterations, above --epsilon %g", res.KKT, res.Iterations, epsilon),
				"raise --max-iterations or --epsilon", nil)

		}
		if err := j.Writing(func() error { return j.WriteVectorAs(res.P.Inside()) }); err != nil {
			return err
		}
		figures := []job.Field{
			{Key: "seeds", Label: "seeds", Value: len(sources)}, {Key: "support", Label: "support", Value: res.Support}, {Key: "objective", Label: "objective", Value: res.Objective},
			{Key: "kkt", Label: "KKT residual", Value: res.KKT}, {Key: "iterations", Label: "iterations", Value: res.Iterations},
		}
		if sweep {
			figures = append(figures, cutFigures(res.Cut)...)
		}
		return j.Report(figures, clustered(j, res, top))
	}
	return cmd
}

// loadRows maps a binary file, unless the whole of it is to be read; it returns nil for a graph
// that was read.
func loadRows(j *job.Job, file string, whole bool) (m *graphio.MappedStructure, err error) {
	if !whole {
		err = j.Stage("read", func() error {
			m, err = j.MapRows(file)
			return err
		})
	}
	if err == nil && m == nil {
		err = j.LoadSquare(file, job.Structure)
	}
	return m, err
}

// clusterOf finds the cluster in a mapped file or in the graph of the command.
func clusterOf(j *job.Job, file *graphio.MappedStructure, seeds []int, o apps.LocalClusterOptions) (*apps.LocalClusterResult, error) {
	if file == nil {
		return apps.LocalCluster(j.Graph.Matrix, seeds, o)
	}
	c, err := apps.NewLocalClusterer(file.Pattern, o.Run)
	if err != nil {
		return nil, err
	}
	return c.Cluster(seeds, o)
}

// wantUndirected returns an error that names an edge without its reverse.
func wantUndirected(j *job.Job) error {
	if j.Graph.IsSymmetric() {
		return nil
	}
	for c := range j.Graph.All() {
		if _, ok := j.Graph.At(c.Col, c.Row); !ok {
			return cli.Fail(j.Graph.File, fmt.Sprintf("the graph is directed: there is an edge from %s to %s and none back", j.Graph.Name(c.Row), j.Graph.Name(c.Col)),
				job.FlagRemedy(graphio.RemedySymmetrise), nil)

		}
	}
	return nil
}

// cutFigures are the figures of a sweep. Without a cut the cluster is empty.
func cutFigures(c *apps.Cut) []job.Field {
	if c == nil {
		c = &apps.Cut{Conductance: 1}
	}
	return []job.Field{
		{Key: "conductance", Label: "conductance", Value: c.Conductance}, {Key: "cluster_size", Label: "cluster size", Value: len(c.Vertices)},
		{Key: "volume", Label: "volume", Value: c.Volume}, {Key: "cut", Label: "edges cut", Value: c.Edges},
	}
}

// clustered lists the cluster, or the first vertices of a sweep, with p.
func clustered(j *job.Job, res *apps.LocalClusterResult, top int) *job.Ranking {
	if res.Cut == nil {
		return highest(j, res.P, top)
	}
	r := &job.Ranking{Key: "top", Title: "cluster", Unit: "p"}
	for _, v := range res.Cut.Vertices[:min(top, len(res.Cut.Vertices))] {
		p, _ := res.P.At(v)
		r.Rows = append(r.Rows, job.Ranked{Vertex: j.Graph.Name(v), Value: p})
	}
	return r
}
