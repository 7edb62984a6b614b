package job

import (
	"cmp"
	"slices"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Used tells which rows and columns have entries.
func (m *Values) Used() (rows, cols []bool) {
	height, width := m.Dims()
	rows, cols = make([]bool, height), make([]bool, width)
	st := m.RowsShape()
	for k := range st.Vecs() {
		rows[st.RowID(k)] = st.Ptr[k] < st.Ptr[k+1]
	}
	for _, j := range st.Idx {
		cols[j] = true
	}
	return rows, cols
}

// Structures returns the row offsets and columns of the matrix, and of its transpose.
func (m *Values) Structures() (rows, cols *sparse.Structure) {
	return sparse.CSRShape(m.RowsShape()), sparse.CSRShape(m.ColsShape())
}

// Extract returns the matrix of the given rows and columns.
func (m *Values) Extract(j *Job, rows, cols []int) (*Values, error) {
	indices := func(list []int) cpu.Indices {
		x := cpu.Indices{List: make([]int32, len(list)), N: len(list)}
		for k, i := range list {
			x.List[k] = int32(i)
		}
		return x
	}
	st, err := cpu.Extract(cpu.Env{Ctx: j.Ctx, Threads: j.Run.Threads}, m.Rows(), indices(rows), indices(cols))
	if err != nil {
		return nil, err
	}
	return valuesOf(st, m.Kind), nil
}

// Only returns the matrix with the entries at the places in keep: places in the order of rows,
// ascending.
func (m *Values) Only(keep []int64) (*Values, error) {
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
	return valuesOf(kept, m.Kind), nil
}

// ByWeight returns the places of the entries, in the order of rows, by ascending value, or
// descending; ties by place. It calls compared for each comparison.
func (m *Values) ByWeight(descending bool, compared func()) []int64 {
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

// Entries calls f with the row, the column and the text of the value of each entry.
func (m *Values) Entries(f func(row, col int, value string) error) error {
	st := m.Rows()
	x := numbersOf(st)
	for i, p := range places(st) {
		value := ""
		if m.Kind != kindPattern {
			value = Text(x.at(p))
		}
		if err := f(i, int(st.Idx[p]), value); err != nil {
			return err
		}
	}
	return nil
}
