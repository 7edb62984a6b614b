package auction

import (
	"context"
	"slices"
)

// feasible checks whether every row can have a column of its own, by a maximum matching
// (Hopcroft and Karp, SIAM J. Computing 2, 1973). If not, the witness of the error is
// the set of rows that alternating paths reach from an unmatched row: all their columns
// have partners among them. O(entries·√rows).
func (k *task) feasible(ptr []int64, idx []int32, n int) error {
	g := &matching{ptr: ptr, idx: idx, row: make([]int32, n), col: make([]int32, len(ptr)-1), level: make([]int32, len(ptr)-1), next: make([]int64, len(ptr)-1)}
	for j := range g.row {
		g.row[j] = none
	}
	for i := range g.col {
		g.col[i] = none
	}
	if err := g.maximise(k.o.Context); err != nil {
		return err
	}
	if slices.Contains(g.col, none) {
		return k.renameWitness(g.witness())
	}
	return nil
}

// matching is a matching of rows and columns.
type matching struct {
	ptr      []int64
	idx      []int32
	row, col []int32 // partners, −1 for none
	level    []int32 // of rows: edges from the nearest free one, −1 if unreached
	next     []int64 // of rows: the first entry not tried yet
	queue    []int32
}

// maximise makes the matching a maximum one.
func (g *matching) maximise(ctx context.Context) error {
	for g.layers() {
		if err := ctx.Err(); err != nil {
			return err
		}
		copy(g.next, g.ptr)
		for i, j := range g.col {
			if j == none {
				g.augment(int32(i))
			}
		}
	}
	return nil
}

// layers searches breadth-first from the free rows, and reports whether a
// free column can be reached.
func (g *matching) layers() bool {
	g.queue = g.queue[:0]
	for i, j := range g.col {
		g.level[i] = none
		if j == none {
			g.level[i] = 0
			g.queue = append(g.queue, int32(i))
		}
	}
	found := false
	for k := 0; k < len(g.queue); k++ {
		i := g.queue[k]
		for _, j := range g.idx[g.ptr[i]:g.ptr[i+1]] {
			r := g.row[j]
			switch {
			case r == none:
				found = true
			case g.level[r] == none:
				g.level[r] = g.level[i] + 1
				g.queue = append(g.queue, r)
			}
		}
	}
	return found
}

// augment finds a path from row i through layers one after the other to a free
// column, and exchanges the pairs along it. It has an explicit stack, since a path can
// have as many edges as there are rows.
func (g *matching) augment(from int32) {
	stack := append(g.queue[:0], from)
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		if g.next[i] == g.ptr[i+1] {
			stack = stack[:len(stack)-1]
			if len(stack) > 0 {
				g.next[stack[len(stack)-1]]++
			}
			continue
		}
		j := g.idx[g.next[i]]
		r := g.row[j]
		switch {
		case r == none:
			for k := len(stack) - 1; k >= 0; k-- {
				i := stack[k]
				j := g.idx[g.next[i]]
				g.next[i]++ // not tried again in this layering
				g.row[j], g.col[i] = i, j
			}
			g.queue = stack[:0]
			return
		case g.level[r] == g.level[i]+1:
			stack = append(stack, r)
		default:
			g.next[i]++
		}
	}
	g.queue = stack
}

// witness returns the rows that the last search, which failed, reached from one free row.
func (g *matching) witness() *InfeasibleError {
	for i := range g.level {
		g.level[i] = none
	}
	first := int32(slices.Index(g.col, none))
	g.level[first] = 0
	rows := []int32{first}
	for k := 0; k < len(rows); k++ {
		for _, j := range g.idx[g.ptr[rows[k]]:g.ptr[rows[k]+1]] {
			if r := g.row[j]; g.level[r] == none {
				g.level[r] = 0
				rows = append(rows, r)
			}
		}
	}
	have := len(rows) - 1
	slices.Sort(rows)
	return &InfeasibleError{Rows: rows, Have: have}
}
