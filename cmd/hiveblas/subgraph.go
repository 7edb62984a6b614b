package main

import (
	"slices"

	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/graphio"
)

// takeSubgraph replaces the graph by the one of the given rows and columns, which keep their names:
// numbers become names, so that the vertices can be told.
func takeSubgraph(j *job.Job, rows, cols []int) error {
	g := j.Graph
	v, err := g.Values.Extract(j, rows, cols)
	if err != nil {
		return err
	}
	same := g.Rows == g.Cols && slices.Equal(rows, cols)
	name := func(l *graphio.Labels, list []int) (*graphio.Labels, error) {
		if l != nil || j.Read.Numbers {
			return l.Extract(list)
		}
		ids := make([]int64, len(list))
		for k, i := range list {
			ids[k] = int64(i)
		}
		return graphio.NewIDs(ids), nil
	}
	part := *g
	part.Values = v
	if part.Rows, err = name(g.Rows, rows); err != nil {
		return err
	}
	if part.Cols = part.Rows; !same {
		part.Cols, err = name(g.Cols, cols)
	}
	j.Graph = &part
	return err
}

// writeGraph writes the graph of the job.
func writeGraph(j *job.Job) error {
	g := j.Graph
	return j.Writing(func() error { return g.Values.Write(j, g.Rows, g.Cols) })
}
