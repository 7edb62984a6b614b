package centrality

import (
	"math"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/dots"
	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// hostPageRank is PageRank on the host. An iteration reads the edges by their targets once, and
// each vertex takes its new rank as soon as its sum is there: the operations read and write each
// vector of an iteration once more for each operation. Options are complete.
func hostPageRank(a *matrix.View[bool], n int, o PageRankOptions) (*PageRankResult, error) {
	in, out := workflow.RowsOf(a.T()), workflow.RowsOf(a)
	if o.Single {
		return walkOnHost[float32](in, out, n, o)
	}
	return walkOnHost[float64](in, out, n, o)
}

// hostWalk is a walk in arithmetic F over the rows that one place has, all or the own ones of a
// rank. A vertex has a share, its rank over the number of its out-edges, which is its rank if it
// has none: ranks are not kept.
type hostWalk[F dots.Float] struct {
	run          workflow.Run
	n            int
	in, out      *workflow.Adjacency
	bounds       []int     // blocks of the rows
	lost, change []float64 // of the blocks
	all          []F       // shares of the columns
	share, next  []F       // of the rows
}

// newHostWalk returns a walk over the rows of a graph of n vertices, with memory for their shares.
// Sums over vertices go by blocks that the edges decide, so that ranks do not depend on threads.
func newHostWalk[F dots.Float](run workflow.Run, n int, in, out *workflow.Adjacency) *hostWalk[F] {
	w := &hostWalk[F]{run: run, n: n, in: in, out: out, bounds: workflow.RowBlocks(run, in.Ptr)}
	w.share, w.next = fresh.Make[F](int64(out.N)), fresh.Make[F](int64(out.N))
	w.lost, w.change = make([]float64, len(w.bounds)-1), make([]float64, len(w.bounds)-1)
	return w
}

// each runs do on the blocks.
func (w *hostWalk[F]) each(do func(block, lo, hi int)) error {
	return workflow.EachBlock(w.run, w.bounds, func(_, block, lo, hi int) { do(block, lo, hi) })
}

// begin gives all vertices equal ranks, and returns the ranks of those without out-edges.
func (w *hostWalk[F]) begin() (lost float64, err error) {
	err = w.each(func(b, lo, hi int) { w.lost[b] = w.startBlock(lo, hi) })
	return total(w.lost), err
}

// advance makes the next shares, and returns the ranks of the vertices without out-edges and
// Σ|change|. jump is what each vertex gets without edges.
func (w *hostWalk[F]) advance(damping, jump float64) (lost, change float64, err error) {
	err = w.each(func(b, lo, hi int) { w.lost[b], w.change[b] = w.stepBlock(lo, hi, damping, jump) })
	w.share, w.next = w.next, w.share
	return total(w.lost), total(w.change), err
}

// result returns the ranks.
func (w *hostWalk[F]) result() ([]float64, error) {
	rank := fresh.Make[float64](int64(w.out.N))
	return rank, w.each(func(_, lo, hi int) { w.ranks(rank, lo, hi) })
}

// walkRows is the number of rows that are summed before their ranks are made, so that the sums are
// in the first cache then.
const walkRows = 1 << 9

// walkOnHost iterates from equal ranks.
func walkOnHost[F dots.Float](in, out *workflow.Adjacency, n int, o PageRankOptions) (*PageRankResult, error) {
	w := newHostWalk[F](o.Run, n, in, out)
	lost, err := w.begin()
	res := &PageRankResult{}
	for err == nil && res.Iterations < o.MaxIterations && !res.Converged {
		w.all = w.share
		lost, res.Change, err = w.advance(o.Damping, (1-o.Damping+o.Damping*lost)/float64(n))
		res.Iterations++
		res.Converged = res.Change <= o.Tolerance
		workflow.Report(o.Run, "pagerank", int64(res.Iterations), int64(o.MaxIterations))
	}
	if err != nil {
		return nil, err
	}
	rank, err := w.result()
	if err != nil {
		return nil, err
	}
	res.Rank = access.VectorFromStore(&sparse.Typed[float64]{Val: rank,
		Structure: sparse.Structure{Format: sparse.Full, NRows: 1, NCols: n, NVals: int64(n)}})
	workflow.Traced(o.Run, "PageRank", "pull", n, int64(res.Iterations)*int64(len(in.Idx)))
	return res, nil
}

func total(list []float64) (sum float64) {
	for _, x := range list {
		sum += x
	}
	return sum
}

// startBlock gives equal ranks to some vertices, and returns the ranks of those without out-edges.
func (w *hostWalk[F]) startBlock(lo, hi int) (lost float64) {
	rank := 1 / float64(w.n)
	for v := lo; v < hi; v++ {
		degree := w.out.Degree(int32(v))
		w.share[v] = F(rank) / F(max(degree, 1))
		lost += rank * float64(1-min(degree, 1))
	}
	return lost
}

// stepBlock makes the next shares of some vertices, and returns the ranks of those without
// out-edges and Σ|change|.
func (w *hostWalk[F]) stepBlock(lo, hi int, damping, jump float64) (lost, change float64) {
	d, j := F(damping), F(jump)
	for ; lo < hi; lo += walkRows {
		to := min(lo+walkRows, hi)
		next, before, ptr := w.next[lo:to], w.share[lo:to], w.out.Ptr[lo:to+1]
		w.pull(next, w.in.Ptr[lo:to+1])
		for i, sum := range next {
			degree := ptr[i+1] - ptr[i]
			edges := F(max(degree, 1))
			rank := j + d*sum
			change += math.Abs(float64(rank - before[i]*edges))
			lost += float64(rank) * float64(1-min(degree, 1))
			next[i] = rank / edges
		}
	}
	return lost, change
}

// pull sums the shares along the rows of ptr.
func (w *hostWalk[F]) pull(sum []F, ptr []int64) {
	if dots.Available {
		dots.PlusSecond(sum, ptr, w.in.Idx, w.all)
		return
	}
	for i := range sum {
		s := F(0)
		for _, u := range w.in.Idx[ptr[i]:ptr[i+1]] {
			s += w.all[u]
		}
		sum[i] = s
	}
}

// ranks writes the ranks of some vertices.
func (w *hostWalk[F]) ranks(rank []float64, lo, hi int) {
	for v := lo; v < hi; v++ {
		rank[v] = float64(w.share[v]) * float64(max(w.out.Degree(int32(v)), 1))
	}
}
