package triangles

import (
	"fmt"
	"math"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// SimilarityMeasure compares the sets of columns of two rows.
type SimilarityMeasure int

const (
	// Jaccard is |x ∩ y| / |x ∪ y|: the default.
	Jaccard SimilarityMeasure = iota
	// Overlap is |x ∩ y| / min(|x|, |y|).
	Overlap
	// Cosine is |x ∩ y| / √(|x|·|y|).
	Cosine
	// CommonNeighbours is |x ∩ y|.
	CommonNeighbours
)

// String returns the name of the measure on the command line.
func (m SimilarityMeasure) String() string {
	if names := []string{"jaccard", "overlap", "cosine", "common"}; m >= 0 && int(m) < len(names) {
		return names[m]
	}
	return fmt.Sprintf("SimilarityMeasure(%d)", int(m))
}

// score returns the measure of sets of x and y elements with some common elements.
func (m SimilarityMeasure) score(common, x, y float64) float64 {
	switch m {
	case Overlap:
		return common / min(x, y)
	case Cosine:
		return common / math.Sqrt(x*y)
	case CommonNeighbours:
		return common
	}
	return common / (x + y - common)
}

// SimilarityOptions are the settings of Similarity.
type SimilarityOptions struct {
	workflow.Run
	Measure  SimilarityMeasure
	Top      int  // most similar rows to keep of each row; 0 means 10
	Unlinked bool // leave out pairs with an entry: those left are predicted links; a is square
}

// Similarity returns for each row of an m×n matrix the Top other rows that are most similar by the
// columns that they share: an m×m matrix with their scores, ties by number. Values are ignored. In
// an adjacency matrix the columns of a row are the neighbours along its edges (Liben-Nowell,
// Kleinberg, Journal of the American Society for Information Science and Technology 58, 2007).
//
//	C = A +.pair Aᵀ;   S(u, v) = measure(C(u, v), |u|, |v|);   the Top of each row of S
//
// by blocks of rows, and the host chooses their Top. On the host, with Method Auto, a thread counts
// the common columns of a row in an array and keeps its Top: O(Σ of the squares of the entries of
// columns), 12 bytes for each row and thread, and 12·Top bytes for each row.
func Similarity[T comparable](a matrix.Source[T], opts ...SimilarityOptions) (*matrix.Matrix[float64], error) {
	return similarity(workflow.Pattern(a), opts)
}

func similarity(a *matrix.View[bool], opts []SimilarityOptions) (*matrix.Matrix[float64], error) {
	const app = "Similarity"
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
	if o.Measure < Jaccard || o.Measure > CommonNeighbours {
		return nil, &workflow.ParameterError{App: app, Arg: "the measure", Got: fmt.Sprint(int(o.Measure)), Want: "Jaccard, Overlap, Cosine or CommonNeighbours"}
	}
	if o.Top < 0 {
		return nil, &workflow.ParameterError{App: app, Arg: "the number of similar rows", Got: fmt.Sprint(o.Top), Want: "0 or more"}
	}
	if o.Top == 0 {
		o.Top = 10
	}
	if o.Unlinked {
		if _, err := workflow.Square(app, a); err != nil {
			return nil, err
		}
	}
	m, _ := a.Dims()
	workflow.Announce(o.Run, app, o.Measure.String())
	workflow.Report(o.Run, "similarity", 0, int64(m))
	if err := workflow.Expired(o.Run); err != nil {
		return nil, err
	}
	b := newBest(m, min(o.Top, max(m-1, 0)))
	compute := similarPipeline
	if form.Host {
		compute = similarOnHost
	}
	if err := compute(a, b, o); err != nil {
		return nil, err
	}
	s, err := b.matrix()
	if err != nil {
		return nil, err
	}
	return s, s.Move(a.Place())
}

// best keeps the highest scores of each row, descending, ties by ascending column.
type best struct {
	m, top int
	count  []int32
	col    []int32
	score  []float64
}

func newBest(m, top int) *best {
	return &best{m, top, make([]int32, m), make([]int32, m*top), make([]float64, m*top)}
}

// add offers an entry of row u.
func (b *best) add(u int, v int32, score float64) {
	k := int(b.count[u])
	col, val := b.col[u*b.top:(u+1)*b.top], b.score[u*b.top:(u+1)*b.top]
	after := func(at int) bool { return val[at] < score || val[at] == score && col[at] > v }
	switch {
	case k < b.top:
		b.count[u]++
	case k == 0 || !after(k-1):
		return
	default:
		k--
	}
	for k > 0 && after(k-1) {
		col[k], val[k] = col[k-1], val[k-1]
		k--
	}
	col[k], val[k] = v, score
}

// matrix returns the entries.
func (b *best) matrix() (*matrix.Matrix[float64], error) {
	builder := matrix.NewBuilder[float64](b.m, b.m)
	for u := range b.m {
		for k := u * b.top; k < u*b.top+int(b.count[u]); k++ {
			builder.Add(u, int(b.col[k]), b.score[k])
		}
	}
	return builder.Build(nil)
}

// similarOnHost counts the common columns of a row with all others in an array.
func similarOnHost(a *matrix.View[bool], b *best, o SimilarityOptions) error {
	rows, cols := workflow.RowsOf(a), workflow.RowsOf(a.T())
	type counter struct{ count, met []int32 }
	crew := make([]counter, parallel.Threads(o.Threads))
	err := workflow.EachPiece(o.Run, "similarity", b.m, 256, func(k, lo, hi int) {
		c := &crew[k]
		if c.count == nil {
			c.count = make([]int32, b.m)
		}
		for u := lo; u < hi; u++ {
			met := c.met[:0]
			for _, x := range rows.Of(int32(u)) {
				for _, v := range cols.Of(x) {
					if c.count[v]++; c.count[v] == 1 {
						met = append(met, v)
					}
				}
			}
			c.met = met
			degree := float64(rows.Degree(int32(u)))
			if o.Unlinked {
				for _, v := range rows.Of(int32(u)) {
					c.count[v] = 0
				}
				for _, v := range cols.Of(int32(u)) {
					c.count[v] = 0
				}
			}
			c.count[u] = 0
			for _, v := range met {
				if x := c.count[v]; x > 0 {
					b.add(u, v, o.Measure.score(float64(x), degree, float64(rows.Degree(v))))
				}
				c.count[v] = 0
			}
		}
	})
	workflow.Traced(o.Run, "Similarity", "counts", b.m, int64(len(rows.Idx)))
	return err
}

// similarBlock bounds the positions of a block of the product.
const similarBlock = 1 << 24

// similarPipeline counts common columns by products of blocks of rows, where a lives.
func similarPipeline(a *matrix.View[bool], b *best, o SimilarityOptions) error {
	with, here := workflow.With(o.Run), matrix.On(a.Place())
	_, n := a.Dims()
	var s ops.Steps
	size, err := workflow.FullVector(a.Place(), b.m, int64(0), with)
	if err != nil {
		return err
	}
	s.Do(ops.Reduce(size.Accum(semiring.Plus[int64]()), semiring.Plus[int64](), a.Pattern(), with))
	linked := matrix.New[bool](b.m, b.m, here)
	if o.Unlinked {
		s.Do(ops.EWiseAdd[bool](linked, semiring.Lor(), a, a.T(), with))
	}
	if !s.OK() {
		return s.Err()
	}
	degree, err := size.Dense(0)
	if err != nil {
		return err
	}
	step := max(1, similarBlock/max(b.m, 1))
	for lo := 0; lo < b.m; lo += step {
		workflow.Report(o.Run, "similarity", int64(lo), int64(b.m))
		hi := min(lo+step, b.m)
		part, common := matrix.New[bool](hi-lo, n, here), matrix.New[int64](hi-lo, b.m, here)
		s.Do(ops.Extract(part, a, ops.Span(lo, hi), ops.All(), with))
		dst := common.Replace()
		if o.Unlinked {
			mask := matrix.New[bool](hi-lo, b.m, here)
			s.Do(ops.Extract(mask, linked.View(), ops.Span(lo, hi), ops.All(), with))
			dst = common.Masked(mask.Structure().Not()).Replace()
		}
		s.Do(ops.MxM(dst, semiring.PlusPair[int64](), part.Pattern(), a.T(), with))
		if !s.OK() {
			return s.Err()
		}
		if err := common.Fetch(); err != nil {
			return err
		}
		for at, x := range common.All() {
			if u := at.Row + lo; u != at.Col {
				b.add(u, int32(at.Col), o.Measure.score(float64(x), float64(degree[u]), float64(degree[at.Col])))
			}
		}
	}
	return s.Err()
}
