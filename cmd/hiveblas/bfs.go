package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/matrix"
)

func bfsCommand(s *session) *cobra.Command {
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
	j := newJob(s, cmd).computes(thresholdBFS).fuses().reads().writes("the levels", matrixFiles...)
	j.scales(estimateBFS)
	cmd.Flags().StringVar(&source, "source", "", "source vertex `V`: a number from 0, or a name; several separated by commas, or in a file")
	cmd.Flags().BoolVar(&parents, "parents", false, "write the parent of each vertex instead of its level")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := checkSource(j, source, args[0]); err != nil {
			return err
		}
		if err := j.begin(args[0]); err != nil {
			return err
		}
		if err := j.loadSquare(args[0], structure); err != nil {
			return err
		}
		vs, err := j.vertices("--source", source)
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
		err = j.compute(func(run apps.Run) (err error) {
			res, err = apps.BFS(j.graph.Matrix, vs[0], apps.BFSOptions{Run: run, Parents: parents})
			if err != nil {
				return err
			}
			if parents {
				return toHost(nil, res.Level, res.Parent)
			}
			return res.Level.Move(nil)
		})
		if err != nil {
			return err
		}
		err = j.writing(func() error {
			if parents {
				return j.writeVertices(res.Parent)
			}
			return j.writeVectorAs(res.Level.Inside())
		})
		if err != nil {
			return err
		}
		return j.report(j.pipelineMethod("direction-optimising"), []field{
			{"reached", "reached", res.Reached}, {"max_level", "max level", res.MaxLevel},
		}, nil)
	}
	return cmd
}

// levelsOf is bfs from several sources: distances over edges of length 1.
func levelsOf(j *job, sources []int) error {
	var dist *matrix.Vector[float64]
	err := j.compute(func(run apps.Run) (err error) {
		dist, err = apps.VertexNomination(j.graph.Matrix, sources, apps.VertexNominationOptions[float64]{Run: run, Unit: true})
		return toHost(err, dist)
	})
	if err != nil {
		return err
	}
	if err := j.writing(func() error { return j.writeVector(dist) }); err != nil {
		return err
	}
	most := 0.
	for _, d := range dist.All() {
		most = max(most, d)
	}
	return j.report(j.method(""), []field{
		{"reached", "reached", dist.NVals()}, {"max_level", "max level", most}, {"sources", "sources", len(sources)},
	}, nil)
}

// checkSource rejects, before the file is read, a --source that is a vertex of no graph.
func checkSource(j *job, source, file string) error {
	if !j.cmd.Flags().Changed("source") {
		return cli.Usage(j.cmd.CommandPath(), "--source is missing")
	}
	names := splitNames(source)
	bad := slices.IndexFunc(names, func(name string) bool { return !isVertexNumber(name) })
	if _, err := os.Stat(source); bad >= 0 && (err != nil || isNumber(source)) && j.unnamed(file) {
		return cli.Usage(j.cmd.CommandPath(), fmt.Sprintf("--source: %q is not a vertex, want a number from 0", names[bad]))
	}
	return nil
}
