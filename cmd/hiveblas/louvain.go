package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/internal/cli"
)

func louvainCommand(s *job.Session) *cobra.Command {
	var (
		o             apps.CommunitiesOptions
		levels        bool
		deterministic bool
	)
	cmd := &cobra.Command{
		Use:   "louvain GRAPH",
		Short: "Communities: a partition of large modularity",
		Long: `louvain partitions the vertices into communities with many edges inside, by the
method of Louvain: vertices move to neighbouring communities while the modularity
grows, then communities become vertices. --leiden also keeps every community
connected, and finds better ones.

The graph must be undirected (see --undirected), its weights at least 0. A
self-loop of weight w adds 2w to the degree of its vertex. -o writes the community
of each vertex; they count from 0 by descending size. With --levels there is a
column for each level, from the finest communities to the last. The result depends
on --random-seed, and not on the number of threads or the device.
--deterministic=false is faster, on the host several times; results then differ
between runs. --fast also ends levels early, at a small loss of modularity. Several
GPUs divide large graphs, and give the result of one, bit for bit.`,
		Example: `  hiveblas louvain friends.txt --undirected -o communities.tsv
  hiveblas louvain graph.mtx.gz --leiden --resolution 2 --json`,
		Args: cli.Positional("GRAPH"),
	}
	j := job.New(s, cmd).Computes(thresholdLouvain).Fuses().Reads().Writes("the communities", job.MatrixFiles...)
	j.Scales(estimateCommunities)
	fs := cmd.Flags()
	fs.BoolVar(&o.Leiden, "leiden", false, "refine the communities of each level (Leiden)")
	fs.Float64Var(&o.Resolution, "resolution", 1, "resolution `R`: larger for more and smaller communities")
	fs.IntVar(&o.Passes, "passes", 0, "make `N` hierarchies, each from the communities of the last (0: 1, with --leiden 2)")
	fs.IntVar(&o.MaxLevels, "max-levels", 0, "stop a pass after `N` levels (0: no bound)")
	fs.IntVar(&o.Sweeps, "max-sweeps", 0, "make at most `N` sweeps over the vertices of a level (0: 40)")
	fs.Float64Var(&o.Tolerance, "tolerance", 1e-5, "a level ends when a sweep gains less than `T` of modularity")
	fs.BoolVar(&levels, "levels", false, "write the community of each level, in a column each")
	fs.BoolVar(&deterministic, "deterministic", true, "the same result in every run; false is faster")
	fs.BoolVar(&o.Fast, "fast", false, "end levels early: tolerances of .01 and less for each level; implies --deterministic=false")
	fs.Uint64Var(&o.RandomSeed, "random-seed", 0, "seed `N` of the order in which vertices move")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		bad := func(format string, args ...any) error {
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf(format, args...))
		}
		switch {
		case !(o.Resolution > 0 && o.Resolution <= math.MaxFloat64):
			return bad("--resolution is %v, want a positive number", o.Resolution)
		case !(o.Tolerance > 0 && o.Tolerance < 1):
			return bad("--tolerance is %v, want between 0 and 1", o.Tolerance)
		case o.Passes < 0:
			return bad("--passes is %d, want 0 or more", o.Passes)
		case o.Sweeps < 0:
			return bad("--max-sweeps is %d, want 0 or more", o.Sweeps)
		case o.MaxLevels < 0:
			return bad("--max-levels is %d, want 0 or more", o.MaxLevels)
		case levels && j.Out.Path == "":
			return bad("--levels needs -o")
		}
		if err := j.Begin(args[0]); err != nil {
			return err
		}
		if levels && !slices.Contains(job.ListFiles, j.Out.Kind) {
			return bad("--levels writes .tsv or .csv, not %s", j.Out.Kind)
		}
		if err := j.LoadSquare(args[0], job.Weighted); err != nil {
			return err
		}
		if err := wantUndirected(j); err != nil {
			return err
		}
		if o.Nondeterministic = !deterministic || o.Fast; o.Nondeterministic || o.Leiden {
			j.Estimate = nil // on one GPU
		}
		var res *apps.CommunitiesResult
		err := j.Compute(func(run apps.Run) (err error) {
			o.Run = run
			if res, err = apps.Communities(j.Graph.Matrix, o); err != nil {
				return err
			}
			for _, v := range res.Levels {
				if err := v.Move(nil); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		err = j.Writing(func() error {
			if levels {
				return writeLevels(j, res)
			}
			return j.WriteVectorAs(res.Membership.Inside())
		})
		if err != nil {
			return err
		}
		return j.Report([]job.Field{
			{Key: "modularity", Label: "modularity", Value: res.Modularity}, {Key: "communities", Label: "communities", Value: res.Count},
			{Key: "levels", Label: "levels", Value: len(res.Levels)}, {Key: "passes", Label: "passes", Value: res.Passes},
			{Key: "largest", Label: "largest", Value: res.Largest}, {Key: "capped", Label: "ended by the number of sweeps", Value: res.Capped},
		}, nil)
	}
	return cmd
}

// writeLevels writes a line for each vertex with its community of each level.
func writeLevels(j *job.Job, res *apps.CommunitiesResult) error {
	columns := make([][]int32, len(res.Levels))
	for k, v := range res.Levels {
		var err error
		if columns[k], err = v.Dense(0); err != nil {
			return err
		}
	}
	return j.WriteLines(len(columns[0]), func(line func(fields ...string) error) error {
		fields := make([]string, 1+len(columns))
		for v := range columns[0] {
			fields[0] = j.Graph.Name(v)
			for k, c := range columns {
				fields[1+k] = strconv.Itoa(int(c[v]))
			}
			if err := line(fields...); err != nil {
				return err
			}
		}
		return nil
	})
}
