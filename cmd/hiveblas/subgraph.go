package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// structures returns the row offsets and columns of the matrix, and of its transpose.
func (m *values) structures() (rows, cols *sparse.Structure) {
	return sparse.CSRShape(m.RowsShape()), sparse.CSRShape(m.ColsShape())
}

// extract returns the matrix of the given rows and columns.
func (m *values) extract(j *job, rows, cols []int) (*values, error) {
	indices := func(list []int) cpu.Indices {
		x := cpu.Indices{List: make([]int32, len(list)), N: len(list)}
		for k, i := range list {
			x.List[k] = int32(i)
		}
		return x
	}
	st, err := cpu.Extract(cpu.Env{Ctx: j.Ctx, Threads: j.run.threads}, m.Rows(), indices(rows), indices(cols))
	if err != nil {
		return nil, err
	}
	return valuesOf(st, m.kind), nil
}

// only returns the matrix with the entries whose places, in the order of rows, keep holds in
// ascending order.
func (m *values) only(keep []int64) (*values, error) {
	st := m.Rows()
	b := sparse.Block{Val: st.Type.Make(int64(len(keep)))}
	st.Type.MoveWide(b.Val, nil, st.Valued().Val, keep)
	for i, p := range places(st) {
		if next := len(b.Row); next == len(keep) {
			break
		} else if p == keep[next] {
			b.Row, b.Col = append(b.Row, int32(i)), append(b.Col, st.Idx[p])
		}
	}
	kept, err := sparse.Build(st.Type, st.NRows, st.NCols, []sparse.Block{b}, nil, 1, nil)
	if err != nil {
		return nil, err
	}
	return valuesOf(kept, m.kind), nil
}

// byWeight returns the places of the entries, in the order of rows, by ascending value, or
// descending; ties by place. It calls compared for each comparison.
func (m *values) byWeight(descending bool, compared func()) []int64 {
	switch x := numbersOf(m.Rows()); {
	case x.floats != nil:
		return sorted(x.floats, descending, compared)
	case x.uints != nil:
		return sorted(x.uints, descending, compared)
	default:
		return sorted(x.ints, descending, compared)
	}
}

func sorted[T fileNumber](vals []T, descending bool, compared func()) []int64 {
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
		case x < y:
			return -1
		case y < x:
			return 1
		}
		return cmp.Compare(a, b)
	})
	return order
}

// entries calls f with the row, the column and the text of the value of each entry.
func (m *values) entries(f func(row, col int, value string) error) error {
	st := m.Rows()
	x := numbersOf(st)
	for i, p := range places(st) {
		value := ""
		if m.kind != kindPattern {
			value = text(x.at(p))
		}
		if err := f(i, int(st.Idx[p]), value); err != nil {
			return err
		}
	}
	return nil
}

// take replaces the graph by the one of the given rows and columns, which keep their names: numbers
// become names, so that the vertices can be told.
func take(j *job, rows, cols []int) error {
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
func wantSquare(j *job) error {
	if m, n, _ := j.graph.size(); m != n || j.graph.bipartite {
		return cli.Fail(j.graph.file, fmt.Sprintf("the matrix is %d×%d, its rows and columns are different vertices, and %s wants a graph", m, n, j.cmd.Name()),
			"give an adjacency matrix, or make one with hiveblas project", nil)

	}
	return nil
}

// writeGraph writes the graph of the job.
func writeGraph(j *job) error {
	g := j.graph
	return j.writing(func() error { return g.values.write(j, g.rows, g.cols) })
}
