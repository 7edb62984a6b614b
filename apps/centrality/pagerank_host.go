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

// hostWalk is a walk in arithmetic F. A vertex has a share, its rank over the number of its
// out-edges, which is its rank if it has none: ranks are not kept.
type hostWalk[F dots.Float] struct {
	in, out     *workflow.Adjacency
	share, next []F
}

// walkRows is the number of rows that are summed before their ranks are made, so that the sums are
// in the first cache then.
const walkRows = 1 << 9

// walkOnHost iterates from equal ranks. Sums over vertices go by blocks that the edges decide, so
// that ranks do not depend on threads.
func walkOnHost[F dots.Float](in, out *workflow.Adjacency, n int, o PageRankOptions) (*PageRankResult, error) {
	w := &hostWalk[F]{in: in, out: out, share: fresh.Make[F](int64(n)), next: fresh.Make[F](int64(n))}
	bounds := workflow.RowBlocks(o.Run, in.Ptr)
	lost, change := make([]float64, len(bounds)-1), make([]float64, len(bounds)-1)
	each := func(do func(block, lo, hi int)) error {
		return workflow.EachBlock(o.Run, bounds, func(_, block, lo, hi int) { do(block, lo, hi) })
	}
	if err := each(func(b, lo, hi int) { lost[b] = w.start(lo, hi) }); err != nil {
		return nil, err
	}
	res := &PageRankResult{}
	for res.Iterations < o.MaxIterations && !res.Converged {
		jump := (1 - o.Damping + o.Damping*total(lost)) / float64(n)
		err := each(func(b, lo, hi int) { lost[b], change[b] = w.step(lo, hi, o.Damping, jump) })
		if err != nil {
			return nil, err
		}
		w.share, w.next = w.next, w.share
		res.Iterations++
		res.Change = total(change)
		res.Converged = res.Change <= o.Tolerance
		workflow.Report(o.Run, "pagerank", int64(res.Iterations), int64(o.MaxIterations))
	}
	rank := fresh.Make[float64](int64(n))
	if err := each(func(_, lo, hi int) { w.ranks(rank, lo, hi) }); err != nil {
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

// start gives equal ranks to some vertices, and returns the ranks of those without out-edges.
func (w *hostWalk[F]) start(lo, hi int) (lost float64) {
	rank := 1 / float64(w.out.N)
	for v := lo; v < hi; v++ {
		degree := w.out.Degree(int32(v))
		w.share[v] = F(rank) / F(max(degree, 1))
		lost += rank * float64(1-min(degree, 1))
	}
	return lost
}

// step makes the next shares of some vertices, and returns the ranks of those without out-edges and
// Σ|change|.
func (w *hostWalk[F]) step(lo, hi int, damping, jump float64) (lost, change float64) {
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
		dots.PlusSecond(sum, ptr, w.in.Idx, w.share)
		return
	}
	for i := range sum {
		s := F(0)
		for _, u := range w.in.Idx[ptr[i]:ptr[i+1]] {
			s += w.share[u]
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
