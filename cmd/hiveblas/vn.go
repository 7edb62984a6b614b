package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/matrix"
)

func vnCommand(s *job.Session) *cobra.Command {
	var (
		list       string
		unit, rank bool
		top        int
		delta      float64
	)
	cmd := &cobra.Command{
		Use:   "vn GRAPH --seeds 0,3,5|FILE",
		Short: "Vertex nomination: the vertices nearest to a set of seeds",
		Long: `vn computes the distance from the nearest seed to every vertex. Paths follow edges
from row to column, and their weights are summed (--unit counts edges instead).
Vertices that no seed reaches are omitted.

Seeds are vertices separated by commas: numbers from 0, or ids of the edge list
with --ids renumber and --base 1. If one of them is not a vertex of the graph,
--seeds is the name of a file with one or more vertices per line, where # and %
begin comments. The summary lists the vertices nearest to the seeds; -o writes
all, ordered by vertex, or by distance with --ranked.`,
		Example: `  hiveblas vn graph.mtx --seeds 0,3,5 -o distances.tsv
  hiveblas vn follows.txt.gz --seeds suspects.txt --unit --undirected --top 20
  hiveblas vn friends.csv --ids renumber --seeds alice,bob
  hiveblas vn graph.mtx --seeds 7 --ranked -o ranking.tsv --json`,
		Args: cli.Positional("GRAPH"),
	}
	j := job.New(s, cmd).Computes(thresholdPaths).Fuses().Reads().Writes("the distances", job.MatrixFiles...)
	j.Scales(estimatePaths)
	cmd.Flags().StringVar(&list, "seeds", "", "seeds `V,V,…`, or a file of them")
	cmd.Flags().BoolVar(&unit, "unit", false, "count edges instead of summing weights")
	cmd.Flags().BoolVar(&rank, "ranked", false, "write by distance, nearest first (.tsv, .csv)")
	cmd.Flags().IntVar(&top, "top", 10, "list the `N` nearest vertices")
	cmd.Flags().Float64Var(&delta, "delta", 0, "width `W` of the distance buckets (default: from the weights)")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !cmd.Flags().Changed("seeds") {
			return cli.Usage(cmd.CommandPath(), "--seeds is missing")
		}
		if err := checkTop(cmd, top); err != nil {
			return err
		}
		if err := checkDelta(cmd, delta); err != nil {
			return err
		}
		if err := j.CheckSeeds(list, args[0]); err != nil {
			return err
		}
		if err := j.Begin(args[0]); err != nil {
			return err
		}
		if rank && j.Out.Path != "" && !slices.Contains(job.ListFiles, j.Out.Kind) {
			return cli.Usage(cmd.CommandPath(), "--ranked writes .tsv or .csv; other formats are ordered by vertex")
		}
		if err := j.LoadSquare(args[0], job.ContentOf(!unit)); err != nil {
			return err
		}
		sources, err := j.Seeds(list)
		if err != nil {
			return err
		}
		var dist *matrix.Vector[float64]
		err = j.Compute(func(run apps.Run) (err error) {
			dist, err = apps.VertexNomination(j.Graph.Matrix, sources, apps.VertexNominationOptions[float64]{Run: run, Unit: unit, Delta: delta})
			return job.ToHost(err, dist)
		})
		if err != nil {
			return err
		}
		err = j.Writing(func() error {
			if rank {
				return writeRanking(j, apps.Rank(dist))
			}
			return j.WriteVector(dist)
		})
		if err != nil {
			return err
		}
		figures := append([]job.Field{{Key: "seeds", Label: "seeds", Value: len(sources)}}, distanceFigures(dist)...)
		return j.Report(figures, nominated(j, dist, sources, top))
	}
	return cmd
}

func checkTop(cmd *cobra.Command, top int) error {
	if top < 0 {
		return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--top is %d, want 0 or more", top))
	}
	return nil
}

func checkDelta(cmd *cobra.Command, delta float64) error {
	if cmd.Flags().Changed("delta") && !(delta > 0) {
		return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--delta is %v, want a positive width", delta))
	}
	return nil
}

// nominated lists the vertices nearest to the seeds, without the seeds.
func nominated(j *job.Job, dist *matrix.Vector[float64], seeds []int, top int) *job.Ranking {
	list := slices.DeleteFunc(apps.Rank(dist), func(n apps.Nomination[float64]) bool {
		_, seed := slices.BinarySearch(seeds, n.Vertex)
		return seed
	})
	return listed(j, "nominated", "distance", list, top)
}

// listed returns the first vertices of a list as a ranking for the report.
func listed(j *job.Job, title, unit string, list []apps.Nomination[float64], top int) *job.Ranking {
	r := &job.Ranking{Key: "top", Title: title, Unit: unit}
	for _, n := range list[:min(top, len(list))] {
		r.Rows = append(r.Rows, job.Ranked{Vertex: j.Graph.Name(n.Vertex), Value: n.Distance})
	}
	return r
}

// distanceFigures are the figures of vn and sssp.
func distanceFigures(dist *matrix.Vector[float64]) []job.Field {
	var farthest float64
	var sum job.Total
	for _, d := range dist.All() {
		farthest = max(farthest, d)
		sum.Add(d)
	}
	return []job.Field{
		{Key: "reached", Label: "reached", Value: dist.NVals()},
		{Key: "max_distance", Label: "max distance", Value: farthest},
		{Key: "sum_distance", Label: "sum of distances", Value: sum.Value()},
	}
}

// writeRanking writes lines of vertex and distance, nearest first.
func writeRanking(j *job.Job, list []apps.Nomination[float64]) error {
	return j.WriteLines(len(list), func(line func(fields ...string) error) error {
		for _, n := range list {
			if err := line(j.Graph.Name(n.Vertex), job.Text(n.Distance)); err != nil {
				return err
			}
		}
		return nil
	})
}
