package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/internal/cli"
)

func toposortCommand(s *job.Session) *cobra.Command {
	return standardCommand{
		use: "toposort GRAPH", short: "Topological order of a graph without cycles",
		long: `toposort orders the vertices so that every edge leads forwards, and computes the level
of each: the edges of the longest path to it. -o writes lines of a vertex and its
level, in the order. A graph with a cycle is an error that names one.`,
		example: `  hiveblas toposort depends.tsv --ids renumber -o order.tsv
  hiveblas toposort graph.mtx.gz --json`,
		threshold: noThreshold, writes: "the order", files: job.ListFiles,
		run: func(j *job.Job, run apps.Run) (*standardResult, error) {
			c, err := apps.TopologicalOrder(j.Graph.Matrix, apps.TopologicalOptions{Run: run})
			var cycle *apps.CycleError
			if errors.As(err, &cycle) {
				return nil, cyclic(j, cycle)
			}
			if err != nil {
				return nil, err
			}
			return &standardResult{
				figures: []job.Field{{Key: "levels", Label: "levels", Value: c.Depth}},
				write: func() error {
					level, err := c.Level.Dense(0)
					if err != nil {
						return err
					}
					return j.WriteLines(len(c.Order), func(line func(fields ...string) error) error {
						for _, v := range c.Order {
							if err := line(j.Graph.Name(v), strconv.Itoa(int(level[v]))); err != nil {
								return err
							}
						}
						return nil
					})
				},
			}, c.Level.Move(nil)
		},
	}.command(s)
}

// cyclic names the vertices of a cycle.
func cyclic(j *job.Job, e *apps.CycleError) error {
	const most = 20
	var names []string
	for _, v := range e.Cycle[:min(len(e.Cycle), most)] {
		names = append(names, j.Graph.Name(v))
	}
	if len(e.Cycle) > most {
		names = append(names, fmt.Sprintf("… (%d vertices)", len(e.Cycle)))
	} else {
		names = append(names, names[0])
	}
	return cli.Fail(j.Graph.File, "the graph has a cycle: "+strings.Join(names, " → "), "hiveblas scc finds all vertices on cycles", e)
}
