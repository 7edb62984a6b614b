package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/cli"
)

var clusterMethods = []apps.ClusterMethod{apps.ClusterPush, apps.ClusterISTA, apps.ClusterFISTA}

func lgcCommand(s *session) *cobra.Command {
	var (
		list, method        string
		alpha, rho, epsilon float64
		most, top           int
		sweep               bool
	)
	cmd := &cobra.Command{
		Use:   "lgc GRAPH --seeds 5,7|FILE",
		Short: "Local graph clustering: the vertices around seeds",
		Long: `lgc finds the vertices around seeds by ℓ1-regularised PageRank: a random walk that
returns to the seeds with probability --alpha, with a penalty --rho that keeps the
result sparse. The degrees of the vertices found sum to at most 1/rho. --sweep
finds the prefix of the result, ordered by p/degree, with the least conductance.

The graph must be undirected (see --undirected). Weights and self-loops are
ignored. Seeds are given as for vn. The summary lists the cluster, or without
--sweep the vertices with the largest p/degree; -o writes p.`,
		Example: `  hiveblas lgc friends.txt --undirected --seeds 5 --sweep
  hiveblas lgc graph.mtx --seeds 5,7 --alpha 0.1 --rho 1e-5 -o p.tsv --json`,
		Args: cli.Positional("GRAPH"),
	}
	j := newJob(s, cmd).computes(thresholdLGC).reads().writes("p", matrixFiles...)
	cmd.Flags().StringVar(&list, "seeds", "", "seeds `V,V,…`, or a file of them")
	cmd.Flags().Float64Var(&alpha, "alpha", 0.15, "probability `P` of returning to the seeds, between 0 and 1")
	cmd.Flags().Float64Var(&rho, "rho", 1e-4, "weight `W` of the penalty, between 0 and 1")
	cmd.Flags().Float64Var(&epsilon, "epsilon", 1e-3, "relative violation `E` of the optimality conditions that is accepted")
	cmd.Flags().StringVar(&method, "method", "push", "algorithm `M`: push, ista or fista")
	cmd.Flags().IntVar(&most, "max-iterations", 10000, "fail after `N` iterations")
	cmd.Flags().BoolVar(&sweep, "sweep", false, "find the cut of least conductance")
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
		if err := j.checkSeeds(list, args[0]); err != nil {
			return err
		}
		if err := j.begin(args[0]); err != nil {
			return err
		}
		if err := j.loadSquare(args[0], structure); err != nil {
			return err
		}
		sources, err := j.seeds(list)
		if err != nil {
			return err
		}
		if err := wantUndirected(j); err != nil {
			return err
		}
		var res *apps.LocalClusterResult
		err = j.compute(func(run apps.Run) (err error) {
			o.Run = run
			res, err = apps.LocalCluster(j.graph.Matrix, sources, o)
			if err != nil {
				return err
			}
			return res.P.Move(nil)
		})
		if err != nil {
			return err
		}
		if !res.Converged {
			return cli.Fail(j.graph.file, fmt.Sprintf("the optimality conditions are still violated by %.3g after %d iterations, above --epsilon %g", res.KKT, res.Iterations, epsilon),
				"raise --max-iterations or --epsilon", nil)

		}
		if err := j.writing(func() error { return j.writeVectorAs(res.P.Inside()) }); err != nil {
			return err
		}
		figures := []field{
			{"seeds", "seeds", len(sources)}, {"support", "support", res.Support}, {"objective", "objective", res.Objective},
			{"kkt", "KKT residual", res.KKT}, {"iterations", "iterations", res.Iterations},
		}
		if sweep {
			figures = append(figures, cutFigures(res.Cut)...)
		}
		return j.report(j.method(method), figures, clustered(j, res, top))
	}
	return cmd
}

// wantUndirected returns an error that names an edge without its reverse.
func wantUndirected(j *job) error {
	if j.graph.IsSymmetric() {
		return nil
	}
	for c := range j.graph.All() {
		if _, ok := j.graph.At(c.Col, c.Row); !ok {
			return cli.Fail(j.graph.file, fmt.Sprintf("the graph is directed: there is an edge from %s to %s and none back", j.graph.name(c.Row), j.graph.name(c.Col)),
				flagRemedy(graphio.RemedySymmetrise), nil)

		}
	}
	return nil
}

// cutFigures are the figures of a sweep. Without a cut the cluster is empty.
func cutFigures(c *apps.Cut) []field {
	if c == nil {
		c = &apps.Cut{Conductance: 1}
	}
	return []field{
		{"conductance", "conductance", c.Conductance}, {"cluster_size", "cluster size", len(c.Vertices)},
		{"volume", "volume", c.Volume}, {"cut", "edges cut", c.Edges},
	}
}

// clustered lists the cluster, or the first vertices of a sweep, with p.
func clustered(j *job, res *apps.LocalClusterResult, top int) *ranking {
	if res.Cut == nil {
		return highest(j, res.P, top)
	}
	r := &ranking{key: "top", title: "cluster", unit: "p"}
	for _, v := range res.Cut.Vertices[:min(top, len(res.Cut.Vertices))] {
		p, _ := res.P.At(v)
		r.rows = append(r.rows, ranked{j.graph.name(v), p})
	}
	return r
}
