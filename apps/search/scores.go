package search

import (
	"fmt"
	"math"
	"slices"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/matrix"
)

// Scores are the scores of vertices for GraphSearch: a vector, or a function that is called for
// vertices when walks first need them.
type Scores struct {
	vector *matrix.Vector[float64]
	of     func(vertices []int, scores []float64) error
	batch  int
}

// VertexScores are the scores of a vector. A vertex without an entry has score 0.
func VertexScores(v *matrix.Vector[float64]) *Scores { return &Scores{vector: v} }

// ScoreFunc are scores by a function, such as a classifier of texts, which sets scores[k] to the
// score of vertices[k]. GraphSearch calls it for at most batch vertices at a time, 1024 if batch is
// 0, each vertex once, in an order that does not depend on threads, and one call at a time. Uniform
// walks score the vertices that they visit, others also the neighbours of these. An error of f ends
// the search.
func ScoreFunc(batch int, f func(vertices []int, scores []float64) error) *Scores {
	if batch == 0 {
		batch = 1024
	}
	return &Scores{of: f, batch: batch}
}

// A ScoreError names a vertex with a score that GraphSearch cannot use.
type ScoreError struct {
	App    string
	Vertex int
	Got    string
	Want   string
}

func (e *ScoreError) Error() string {
	return fmt.Sprintf("%s: the score of vertex %d is %s, want %s", e.App, e.Vertex, e.Got, e.Want)
}

// scoreBook holds the scores that are known.
type scoreBook struct {
	of       []float64 // nil: all are 0
	known    []bool    // nil: all are known
	source   *Scores
	positive bool // negative scores are an error
	calls    int64
	count    int64 // scored vertices
	wanted   []int // that are not known yet
	buffer   []float64
}

// newScoreBook reads the scores of n vertices.
func newScoreBook(s *Scores, n int, positive bool, run workflow.Run) (*scoreBook, error) {
	b := &scoreBook{source: s, positive: positive}
	switch {
	case s == nil:
		return b, nil
	case s.vector == nil && s.of == nil:
		return nil, &workflow.ParameterError{App: "GraphSearch", Arg: "the scores", Got: "neither a vector nor a function", Want: "VertexScores or ScoreFunc of one"}
	case s.of != nil && s.batch < 0:
		return nil, &workflow.ParameterError{App: "GraphSearch", Arg: "the batch of the score function", Got: fmt.Sprint(s.batch), Want: "1 or more, or 0 for 1024"}
	case s.of != nil:
		b.of, b.known = make([]float64, n), make([]bool, n)
		return b, nil
	}
	if err := s.vector.Err(); err != nil {
		return nil, err
	}
	if s.vector.Size() != n {
		return nil, &matrix.DimensionError{Op: "GraphSearch", Arg: "the scores", Got: fmt.Sprintf("of %d vertices", s.vector.Size()),
			Want: fmt.Sprintf("of %d vertices, as the graph", n), Remedy: "make them for the vertices of the graph"}
	}
	if err := s.vector.Fetch(); err != nil {
		return nil, err
	}
	return b, b.read(s.vector, n, run)
}

// read copies the scores of a vector of the host.
func (b *scoreBook) read(v *matrix.Vector[float64], n int, run workflow.Run) error {
	rows := access.Rows(matrix.AsView(v))
	if b.of = make([]float64, n); len(rows.Idx) == 0 {
		return nil
	}
	bad := make([]error, parallel.Threads(run.Threads))
	first := make([]int, len(bad)) // the entry of each error
	err := parallel.Range(run.Context, len(bad), len(rows.Idx), 1<<14, func(w, lo, hi int) {
		for p, i := range rows.Idx[lo:hi] {
			x := rows.Val[lo+p]
			if err := b.check(int(i), x); err != nil {
				if bad[w] == nil || lo+p < first[w] {
					bad[w], first[w] = err, lo+p
				}
				return
			}
			b.of[i] = x
		}
	})
	if err != nil {
		return err
	}
	least := -1
	for w, err := range bad {
		if err != nil && (least < 0 || first[w] < first[least]) {
			least = w
		}
	}
	if least >= 0 {
		return bad[least]
	}
	return nil
}

// check returns the error of a score.
func (b *scoreBook) check(v int, x float64) error {
	if math.IsNaN(x) || math.IsInf(x, 0) || b.positive && x < 0 {
		want := "a finite number"
		if b.positive {
			want = "0 or more, and finite"
		}
		return &ScoreError{"GraphSearch", v, fmt.Sprint(x), want}
	}
	return nil
}

// lazy reports whether scores come from a function.
func (b *scoreBook) lazy() bool { return b.known != nil }

// want asks for the score of a vertex at the next fetch. It is for lazy books.
func (b *scoreBook) want(v int32) {
	if !b.known[v] {
		b.known[v] = true
		b.wanted = append(b.wanted, int(v))
	}
}

// fetch calls the function for the wanted vertices, in ascending order.
func (b *scoreBook) fetch() error {
	slices.Sort(b.wanted)
	for batch := range slices.Chunk(b.wanted, max(b.source.batch, 1)) {
		b.buffer = slices.Grow(b.buffer[:0], len(batch))[:len(batch)]
		clear(b.buffer)
		if err := b.source.of(slices.Clone(batch), b.buffer); err != nil {
			return err
		}
		b.calls++
		b.count += int64(len(batch))
		for k, v := range batch {
			if err := b.check(v, b.buffer[k]); err != nil {
				return err
			}
			b.of[v] = b.buffer[k]
		}
	}
	b.wanted = b.wanted[:0]
	return nil
}
