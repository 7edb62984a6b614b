package project

import (
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// MatchingOptions are the settings of BipartiteMatching.
type MatchingOptions struct {
	workflow.Run
	Maximal bool // no edge can be added; the fewest steps, and at least half as large as the maximum
}

// Matching is a set of entries, at most one in each row and column.
type Matching struct {
	Column *matrix.Vector[int32] // of each matched row
	Row    *matrix.Vector[int32] // of each matched column
	Size   int64
}

// BipartiteMatching returns a matching of the most entries of an m×n matrix: a bipartite graph
// between its rows and its columns. Values are ignored. Weights are for package auction.
//
// A maximal matching is made by proposals of the rows left, R, which the least row of a column
// wins:
//
//	p = A min.secondi C over the columns C left, at R;   winners: c(p) min= row;   until p is empty
//
// where Maximal stops, and which the pipeline computes where a lives. On the host the rows come in
// ascending order of their entries and take the column left with the fewest. Augmenting paths make
// it maximum, on the host wherever a lives and by one thread: from one row at a time while that
// reads few entries, where a row without a path takes what it reaches out of all later searches
// (Duff, ACM Transactions on Mathematical Software 7, 1981), then all shortest ones at a time
// (Hopcroft, Karp, SIAM Journal on Computing 2, 1973). O(entries · √vertices).
func BipartiteMatching[T comparable](a matrix.Source[T], opts ...MatchingOptions) (*Matching, error) {
	return bipartiteMatching(workflow.Pattern(a), opts)
}

func bipartiteMatching(a *matrix.View[bool], opts []MatchingOptions) (*Matching, error) {
	const app = "BipartiteMatching"
	o, err := workflow.Only(app, opts)
	if err != nil {
		return nil, err
	}
	if err := workflow.Usable(app, "the graph", a); err != nil {
		return nil, err
	}
	form, err := workflow.Choose(o.Run, app, a.Place())
	if err != nil {
		return nil, err
	}
	m, n := a.Dims()
	workflow.Report(o.Run, "matching", 0, int64(m))
	if err := workflow.Expired(o.Run); err != nil {
		return nil, err
	}
	var column []int32 // of each row, −1 without one
	if form.Host {
		column = greedyMatching(workflow.RowsOf(a), n)
	} else {
		found, err := proposals(a, m, n, o.Run)
		if err != nil || o.Maximal {
			return found, err
		}
		if column, err = found.Column.Dense(-1); err != nil {
			return nil, err
		}
		if err := a.Fetch(); err != nil {
			return nil, err
		}
	}
	h := newHopcroftKarp(workflow.RowsOf(a), n, column)
	if !o.Maximal {
		// By phases alone R-MAT 18 takes seven times as long on two cores.
		if err := h.trees(treeWork*int64(len(h.g.Idx)), o.Run); err != nil {
			return nil, err
		}
	}
	for !o.Maximal && h.phase() {
		workflow.Report(o.Run, "matching", int64(h.size), int64(m))
		if err := workflow.Expired(o.Run); err != nil {
			return nil, err
		}
	}
	workflow.Traced(o.Run, app, "augmenting paths", h.size, int64(len(h.g.Idx)))
	res := &Matching{Size: int64(h.size)}
	if res.Column, err = workflow.Present(h.column); err != nil {
		return nil, err
	}
	if res.Row, err = workflow.Present(h.row); err != nil {
		return nil, err
	}
	if err := res.Column.Move(a.Place()); err != nil {
		return nil, err
	}
	return res, res.Row.Move(a.Place())
}

// proposals makes a maximal matching by operations, where a lives.
func proposals(a *matrix.View[bool], m, n int, run workflow.Run) (*Matching, error) {
	with, here := workflow.With(run), matrix.On(a.Place())
	res := &Matching{Column: matrix.NewVector[int32](m, here), Row: matrix.NewVector[int32](n, here)}
	cols, err := workflow.FullVector(a.Place(), n, true, with) // without a row
	if err != nil {
		return nil, err
	}
	index, err := workflow.FullVector[int32](a.Place(), m, 0, with)
	if err != nil {
		return nil, err
	}
	var s ops.Steps
	s.Do(ops.ApplyIndex(index, semiring.RowIndex[int32](int32(0)), index, with))
	offer, won := matrix.NewVector[int32](m, here), matrix.NewVector[int32](n, here)
	row, col := matrix.NewVector[int32](m, here), matrix.NewVector[int32](n, here)
	for s.OK() {
		// offer(r) is the least column left of row r, won(c) the least row that offers to c
		s.Do(ops.MxV(offer.Masked(res.Column.Structure().Not()).Replace(), semiring.MinSecondi[int32](0), a, cols.Pattern(), with))
		if s.NVals(offer) == 0 {
			break
		}
		s.Do(ops.Apply(row.Masked(offer.Structure()).Replace(), semiring.Identity[int32](), index, with))
		s.Do(scatterAt(won, row, offer, n, with))
		s.Do(ops.AssignVector(res.Row.Masked(won.Structure()), won, ops.All(), with))
		s.Do(ops.ApplyIndex(col, semiring.RowIndex[int32](int32(0)), won, with))
		s.Do(scatterAt(row, col, won, m, with))
		s.Do(ops.AssignVector(res.Column.Masked(row.Structure()), row, ops.All(), with))
		s.Do(ops.Apply(cols.Masked(won.Structure().Not()).Replace(), semiring.Identity[bool](), cols, with))
		workflow.Report(run, "matching", res.Column.NVals(), int64(m))
	}
	res.Size = s.NVals(res.Column)
	return res, s.Err()
}

// scatterAt sets dst(at(k)) to the least x(k) over the entries of x and at, which have the same
// places.
func scatterAt(dst, x, at *matrix.Vector[int32], n int, with ops.Option) error {
	place := x.Place()
	to, err := workflow.FullVector[int32](place, x.Size(), 0, with)
	if err != nil {
		return err
	}
	var s ops.Steps
	s.Do(ops.AssignVector(to.Masked(at.Structure()), at, ops.All(), with))
	s.Do(ops.ScatterVector(dst, semiring.Min[int32](), x, ops.ValuesOf(to), with))
	return s.Err()
}

// greedyMatching matches the rows in ascending order of their entries, each with the column left
// that has the fewest entries.
func greedyMatching(g *workflow.Adjacency, n int) []int32 {
	column, taken, entries := make([]int32, g.N), make([]bool, n), make([]int32, n)
	most := int64(0)
	for _, c := range g.Idx {
		entries[c]++
	}
	for r := range g.N {
		column[r] = -1
		most = max(most, g.Degree(int32(r)))
	}
	first := make([]int32, most+2) // a counting sort of the rows
	for r := range g.N {
		first[g.Degree(int32(r))+1]++
	}
	for d := range most + 1 {
		first[d+1] += first[d]
	}
	order := make([]int32, g.N)
	for r := range g.N {
		d := g.Degree(int32(r))
		order[first[d]] = int32(r)
		first[d]++
	}
	for _, r := range order {
		pick := int32(-1)
		for _, c := range g.Of(r) {
			if !taken[c] && (pick < 0 || entries[c] < entries[pick]) {
				pick = c
			}
		}
		if pick >= 0 {
			column[r], taken[pick] = pick, true
		}
	}
	return column
}

// treeWork is how often the searches from one row may read all entries before the phases of
// Hopcroft and Karp, bounded in number, take over.
const treeWork = 4

// hopcroftKarp enlarges a matching.
type hopcroftKarp struct {
	g           *workflow.Adjacency
	column, row []int32 // of each row and column, −1 without one
	size        int
	level       []int32 // of rows on the shortest alternating paths, 0 for rows left, −1 elsewhere
	next        []int64 // the entry of a row at which the search goes on
	queue, path []int32
	dead        []bool // rows that reach no column left
}

func newHopcroftKarp(g *workflow.Adjacency, n int, column []int32) *hopcroftKarp {
	h := &hopcroftKarp{g: g, column: column, row: make([]int32, n), level: make([]int32, g.N), next: make([]int64, g.N), dead: make([]bool, g.N)}
	for c := range h.row {
		h.row[c] = -1
	}
	for r, c := range column {
		if c >= 0 {
			h.row[c] = int32(r)
			h.size++
		}
	}
	return h
}

// phase augments by a maximal set of disjoint shortest paths. It reports false if there is none.
func (h *hopcroftKarp) phase() bool {
	h.queue = h.queue[:0]
	for r, c := range h.column {
		h.level[r], h.next[r] = -1, h.g.Ptr[r]
		if c < 0 && !h.dead[r] && h.g.Ptr[r] < h.g.Ptr[r+1] {
			h.level[r] = 0
			h.queue = append(h.queue, int32(r))
		}
	}
	free := len(h.queue)
	last := int32(-1) // level of the rows with a column left
	for k := 0; k < len(h.queue); k++ {
		r := h.queue[k]
		if last >= 0 && h.level[r] > last {
			break
		}
		for _, c := range h.g.Of(r) {
			switch s := h.row[c]; {
			case s < 0:
				last = h.level[r]
			case h.level[s] < 0 && last < 0 && !h.dead[s]:
				h.level[s] = h.level[r] + 1
				h.queue = append(h.queue, s)
			}
		}
	}
	if last < 0 {
		return false
	}
	for _, r := range h.queue[:free] {
		if h.augment(r, last) {
			h.size++
		}
	}
	return true
}

// trees augments from one row at a time, by the shortest path from it. The rows of a search that
// fails reach no column left, now and after any augmentation: later searches and phases skip them,
// so all searches that fail read each entry once. It stops when the successful ones have read more
// than limit entries. It returns the error of the context.
func (h *hopcroftKarp) trees(limit int64, run workflow.Run) error {
	from := make([]int32, h.g.N) // the row before, on the path from the start
	seen := make([]int32, h.g.N) // number of the search that met a row
	for start, c := range h.column {
		if c >= 0 || h.g.Ptr[start] == h.g.Ptr[start+1] {
			continue
		}
		if limit < 0 {
			break
		}
		if start%1024 == 0 {
			if err := workflow.Expired(run); err != nil {
				return err
			}
		}
		number := int32(start) + 1
		h.queue = append(h.queue[:0], int32(start))
		from[start] = -1
		work, found := int64(0), false
	search:
		for k := 0; k < len(h.queue); k++ {
			r := h.queue[k]
			for at, c := range h.g.Of(r) {
				s := h.row[c]
				if s < 0 {
					work += int64(at)
					h.flip(from, r, c)
					found = true
					break search
				}
				if seen[s] != number && !h.dead[s] {
					seen[s], from[s] = number, r
					h.queue = append(h.queue, s)
				}
			}
			work += h.g.Degree(r)
		}
		if found {
			h.size++
			limit -= work
			continue
		}
		for _, r := range h.queue {
			h.dead[r] = true
		}
	}
	return workflow.Expired(run)
}

// flip augments by the path that ends with row r and column c left.
func (h *hopcroftKarp) flip(from []int32, r, c int32) {
	for r >= 0 {
		before := h.column[r]
		h.column[r], h.row[c] = c, r
		r, c = from[r], before
	}
}

// augment searches depth-first for a path from row r by levels, and flips it.
func (h *hopcroftKarp) augment(start, last int32) bool {
	h.path = append(h.path[:0], start)
search:
	for len(h.path) > 0 {
		r := h.path[len(h.path)-1]
		for h.next[r] < h.g.Ptr[r+1] {
			c := h.g.Idx[h.next[r]]
			s := h.row[c]
			if s < 0 {
				if h.level[r] != last {
					h.next[r]++
					continue
				}
				for _, r := range h.path { // each row takes the column at which it stands
					c := h.g.Idx[h.next[r]]
					h.column[r], h.row[c] = c, r
					h.level[r] = -1
				}
				return true
			}
			if h.level[s] == h.level[r]+1 {
				h.path = append(h.path, s)
				continue search
			}
			h.next[r]++
		}
		h.level[r] = -1
		h.path = h.path[:len(h.path)-1]
	}
	return false
}
