package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/matrix"
)

func bfsCommand(s *job.Session) *cobra.Command {
	var (
		source  string
		parents bool
	)
	cmd := &cobra.Command{
		Use:   "bfs GRAPH --source V",
		Short: "Breadth-first search: levels or parents from a source",
		Long: `bfs computes the number of edges from a source, or the nearest of several, to every
vertex. Paths follow edges from row to column, and weights are ignored. -o writes the
level of each vertex that a source reaches, or with --parents its predecessor; the
source is its own parent.`,
		Example: `  hiveblas bfs graph.mtx --source 0 -o levels.tsv
  hiveblas bfs soc.hgb --source alice,bob -o levels.tsv
  hiveblas bfs graph.tsv.gz --source 12 --undirected --parents -o tree.tsv`,
		Args: cli.Positional("GRAPH"),
	}
	j := job.New(s, cmd).Computes(thresholdBFS).Fuses().Reads().Writes("the levels", job.MatrixFiles...)
	j.Scales(estimateBFS)
	cmd.Flags().StringVar(&source, "source", "", "source vertex `V`: a number from 0, or a name; several separated by commas, or in a file")
	cmd.Flags().BoolVar(&parents, "parents", false, "write the parent of each vertex instead of its level")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkSource(j, source, args[0]); err != nil {
			return err
		}
		if err := j.Begin(args[0]); err != nil {
			return err
		}
		if err := j.LoadSquare(args[0], job.Structure); err != nil {
			return err
		}
		vs, err := j.Vertices("--source", source)
		if err != nil {
			return err
		}
		if len(vs) > 1 {
			if parents {
				return cli.Usage(cmd.CommandPath(), "--parents is for one source")
			}
			return levelsOf(j, vs)
		}
		var res *apps.BFSResult
		err = j.Compute(func(run apps.Run) (err error) {
			res, err = apps.BFS(j.Graph.Matrix, vs[0], apps.BFSOptions{Run: run, Parents: parents})
			if err != nil {
				return err
			}
			if parents {
				return job.ToHost(nil, res.Level, res.Parent)
			}
			return res.Level.Move(nil)
		})
		if err != nil {
			return err
		}
		err = j.Writing(func() error {
			if parents {
				return j.WriteVertices(res.Parent)
			}
			return j.WriteVectorAs(res.Level.Inside())
		})
		if err != nil {
			return err
		}
		return j.Report([]job.Field{
			{Key: "reached", Label: "reached", Value: res.Reached}, {Key: "max_level", Label: "max level", Value: res.MaxLevel},
		}, nil)
	}
	return cmd
}

// levelsOf is bfs from several sources: distances over edges of length 1.
func levelsOf(j *job.Job, sources []int) error {
	var dist *matrix.Vector[float64]
	err := j.Compute(func(run apps.Run) (err error) {
		dist, err = apps.VertexNomination(j.Graph.Matrix, sources, apps.VertexNominationOptions[float64]{Run: run, Unit: true})
		return job.ToHost(err, dist)
	})
	if err != nil {
		return err
	}
	if err := j.Writing(func() error { return j.WriteVector(dist) }); err != nil {
		return err
	}
	most := 0.
	for _, d := range dist.All() {
		most = max(most, d)
	}
	return j.Report([]job.Field{
		{Key: "reached", Label: "reached", Value: dist.NVals()}, {Key: "max_level", Label: "max level", Value: most}, {Key: "sources", Label: "sources", Value: len(sources)},
	}, nil)
}

// checkSource rejects, before the file is read, a --source that is a vertex of no graph.
func checkSource(j *job.Job, source, file string) error {
	if !j.Cmd.Flags().Changed("source") {
		return cli.Usage(j.Cmd.CommandPath(), "--source is missing")
	}
	names := job.SplitNames(source)
	bad := slices.IndexFunc(names, func(name string) bool { return !job.IsVertexNumber(name) })
	if _, err := os.Stat(source); bad >= 0 && (err != nil || job.IsNumber(source)) && j.Unnamed(file) {
		return cli.Usage(j.Cmd.CommandPath(), fmt.Sprintf("--source: %q is not a vertex, want a number from 0", names[bad]))
	}
	return nil
}
