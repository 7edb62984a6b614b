package main

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
)

func bfsCommand(s *session) *cobra.Command {
	var (
		source  string
		parents bool
	)
	cmd := &cobra.Command{
		Use:   "bfs GRAPH --source V",
		Short: "Breadth-first search: levels or parents from a source",
		Long: `bfs finds how many edges lie between a source and every vertex, edges being
followed from row to column; weights mean nothing. -o writes the level of each
vertex that is reached, or with --parents the vertex before it, the source
being its own.`,
		Example: `  hiveblas bfs graph.mtx --source 0 -o levels.tsv
  hiveblas bfs graph.tsv.gz --source 12 --undirected --parents -o tree.tsv`,
		Args: positional("GRAPH"),
	}
	j := newJob(s, cmd).computes(worthBFS).reads().writes("the levels", matrixFiles...)
	cmd.Flags().StringVar(&source, "source", "", "the `vertex` to begin at, from 0")
	cmd.Flags().BoolVar(&parents, "parents", false, "write the parent of each vertex rather than its level")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := j.checkSource(source); err != nil {
			return err
		}
		if err := j.begin(args[0]); err != nil {
			return err
		}
		if err := j.loadSquare(args[0], structure); err != nil {
			return err
		}
		v, err := j.graph.vertex("--source", source)
		if err != nil {
			return err
		}
		var res *apps.BFSResult
		err = j.compute(func(run apps.Run) (err error) {
			res, err = apps.BFS(j.graph.Matrix, v, apps.BFSOptions{Run: run, Parents: parents})
			if err != nil {
				return err
			}
			if parents {
				return home(nil, res.Level, res.Parent)
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
			return writeVectorAs(j, res.Level)
		})
		if err != nil {
			return err
		}
		return j.report(j.method("direction-optimising"), []field{
			{"reached", "reached", res.Reached}, {"max_level", "max level", res.MaxLevel},
		}, nil)
	}
	return cmd
}

// checkSource refuses a --source that no graph can have.
func (j *job) checkSource(source string) error {
	if !j.cmd.Flags().Changed("source") {
		return &usageError{j.cmd.CommandPath(), "--source is missing"}
	}
	if v, err := strconv.Atoi(source); j.read.ids != "renumber" && (err != nil || v < 0) {
		return &usageError{j.cmd.CommandPath(), fmt.Sprintf("--source: %q is no vertex, want a number from 0", source)}
	}
	return nil
}
