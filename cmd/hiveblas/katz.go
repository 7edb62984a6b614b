package main

import (
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/internal/cli"
)

func katzCommand(s *job.Session) *cobra.Command {
	var f iterationFlags
	alpha := 0.0
	return standardCommand{
		use: "katz GRAPH", short: "Katz centrality: walks that end in a vertex",
		long: `katz computes the number of walks that end in every vertex, a walk of k edges counted
αᵏ times, of Euclidean norm 1. α is --attenuation, below 1 over the largest eigenvalue
of the graph. Weights are ignored.`,
		example: `  hiveblas katz follows.txt -o centrality.tsv
  hiveblas katz graph.mtx.gz --attenuation 0.01 --top 20 --json`,
		threshold: thresholdPageRank, writes: "the centralities", files: job.MatrixFiles, top: "most central vertices",
		flags: func(fs *pflag.FlagSet) {
			f.add(fs)
			fs.Float64Var(&alpha, "attenuation", 0, "weight `A` of a further edge (0: 0.85 over the largest in-degree)")
		},
		check: func(j *job.Job, graph string, bad func(string, ...any) error) error {
			if !(alpha >= 0 && alpha <= 1e300) {
				return bad("--attenuation is %v, want a positive number, or 0", alpha)
			}
			return f.check(j, graph, bad)
		},
		run: func(j *job.Job, run apps.Run) (*standardResult, error) {
			c, err := apps.KatzCentrality(j.Graph.Matrix, apps.CentralityOptions{Run: run, Tolerance: f.tolerance, MaxIterations: f.most, Attenuation: alpha})
			var param *apps.ParameterError
			if errors.As(err, &param) && param.Arg == "the attenuation" {
				return nil, cli.Fail(j.Graph.File, "--attenuation "+param.Got+" is too large", "lower it: want "+param.Want, err)
			}
			if err != nil {
				return nil, err
			}
			return &standardResult{failed: f.unconverged(j, c.Converged, c.Change, c.Iterations),
				figures: []job.Field{{Key: "iterations", Label: "iterations", Value: c.Iterations}}, ranks: c.Centrality,
				write: func() error { return j.WriteVectorAs(c.Centrality.Inside()) },
			}, c.Centrality.Move(nil)
		},
	}.command(s)
}
