package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// structures returns the row offsets and columns of the matrix, and of its transpose.
func (m typed[T]) structures() (rows, cols *sparse.Structure) {
	v := m.View()
	return &sparse.ToCSR(access.Rows(v)).Structure, &sparse.ToCSR(access.Cols(v)).Structure
}

// extract returns the matrix of the given rows and columns.
func (m typed[T]) extract(j *job, rows, cols []int) (values, error) {
	b := matrix.New[T](len(rows), len(cols))
	err := ops.Extract(b, m.Matrix, ops.Of(rows...), ops.Of(cols...), ops.WithContext(j.Ctx), ops.WithThreads(j.run.threads))
	return typed[T]{b, m.of}, err
}

// only returns the matrix with the entries whose places, in the order of rows, keep holds in
// ascending order.
func (m typed[T]) only(keep []int64) (values, error) {
	rows, cols := m.Dims()
	b := matrix.NewBuilder[T](rows, cols)
	next, at := 0, int64(0)
	for c, x := range m.All() {
		if next == len(keep) {
			break
		}
		if at == keep[next] {
			b.Add(c.Row, c.Col, x)
			next++
		}
		at++
	}
	a, err := b.Build(nil)
	return typed[T]{a, m.of}, err
}

// byWeight returns the places of the entries, in the order of rows, by ascending value, or
// descending; ties by place.
func (m typed[T]) byWeight(descending bool, compared func()) []int64 {
	var vals []T
	for _, x := range m.All() {
		vals = append(vals, x)
	}
	order := make([]int64, len(vals))
	for k := range order {
		order[k] = int64(k)
	}
	slices.SortStableFunc(order, func(a, b int64) int {
		compared()
		x, y := vals[a], vals[b]
		if descending {
			x, y = y, x
		}
		switch {
		case less(x, y):
			return -1
		case less(y, x):
			return 1
		}
		return cmp.Compare(a, b)
	})
	return order
}

// entries calls f with the row, the column and the text of the value of each entry.
func (m typed[T]) entries(f func(row, col int, value string) error) error {
	for c, x := range m.All() {
		value := ""
		if m.of != kindPattern {
			value = text(number(x))
		}
		if err := f(c.Row, c.Col, value); err != nil {
			return err
		}
	}
	return nil
}

// take replaces the graph by the one of the given rows and columns, which keep their names: numbers
// become names, so that the vertices can be told.
func (j *job) take(rows, cols []int) error {
	g := j.graph
	v, err := g.values.extract(j, rows, cols)
	if err != nil {
		return err
	}
	same := g.rows == g.cols && slices.Equal(rows, cols)
	name := func(l *graphio.Labels, list []int) (*graphio.Labels, error) {
		if l != nil || j.read.numbers {
			return l.Extract(list)
		}
		ids := make([]int64, len(list))
		for k, i := range list {
			ids[k] = int64(i)
		}
		return graphio.NewIDs(ids), nil
	}
	part := *g
	part.values = v
	if part.rows, err = name(g.rows, rows); err != nil {
		return err
	}
	if part.cols = part.rows; !same {
		part.cols, err = name(g.cols, cols)
	}
	j.graph = &part
	return err
}

// wantSquare returns an error for a matrix whose rows and columns are different vertices.
func (j *job) wantSquare() error {
	if m, n, _ := j.graph.size(); m != n || j.graph.bipartite {
		return cli.Fail(j.graph.file, fmt.Sprintf("the matrix is %d×%d, its rows and columns are different vertices, and %s wants a graph", m, n, j.cmd.Name()),
			"give an adjacency matrix, or make one with hiveblas project", nil)

	}
	return nil
}

// writeGraph writes the graph of the job.
func (j *job) writeGraph() error {
	g := j.graph
	return j.writing(func() error { return g.values.write(j, g.rows, g.cols) })
}
