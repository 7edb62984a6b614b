package sage

import (
	"math"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/blas"
	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/philox"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// A layer of GraphSAGE maps the rows H of its sources, some vertices, to rows of its targets:
//
//	mean   norm(relu([H·Wf, P·(H·Wa)]))                P averages the chosen neighbours
//	pool   norm(relu([H·Wf, max(relu(H·Wp + b))·Wa]))  the maximum over the chosen neighbours
//	GCN    norm(relu(P·(H·Wf)))                        P averages a vertex and its neighbours
//
// The mean is linear, so that products come first and rows of the output's width are gathered.
// Backward passes are the transposed steps: the gradient of P·X is Pᵀ times that of the result.

// panel is a full matrix by rows.
type panel[F workflow.Real] = blas.Matrix[F]

func newPanel[F workflow.Real](rows, cols int) panel[F] {
	return panel[F]{Rows: rows, Cols: cols, Val: make([]F, rows*cols)}
}

// row returns row i of a.
func row[F workflow.Real](a panel[F], i int) []F { return a.Val[i*a.Cols : (i+1)*a.Cols] }

// asMatrix returns a as a matrix, which shares its values.
func asMatrix[F workflow.Real](a panel[F]) *matrix.Matrix[F] {
	return access.FromStore(&sparse.Typed[F]{Structure: sparse.Structure{NRows: a.Rows, NCols: a.Cols,
		Format: sparse.Full, NVals: int64(a.Rows) * int64(a.Cols)}, Val: a.Val})
}

// asPanel returns the values of a matrix by rows, 0 where there is no entry. It may share them.
func asPanel[F workflow.Real](a *matrix.Matrix[F]) panel[F] {
	st := access.Store(a)
	if st.Format != sparse.Full {
		st = sparse.ToFull(st, 0)
	}
	return panel[F]{Rows: st.NRows, Cols: st.NCols, Val: st.Val}
}

// A sageBlock connects the targets of a layer to its sources. Target t is source t.
type sageBlock[F workflow.Real] struct {
	targets, sources int
	ptr              []int64          // of idx
	idx              []int32          // chosen neighbours, as sources
	weight           []F              // of them in the mean; nil for 1 over their number
	back             *sparse.Typed[F] // the transposed matrix of the mean; nil until it is needed
}

// weights returns the weights of all neighbours.
func (b *sageBlock[F]) weights() []F {
	if b.weight != nil {
		return b.weight
	}
	list := make([]F, len(b.idx))
	for v := range b.targets {
		lo, hi := b.ptr[v], b.ptr[v+1]
		for p := lo; p < hi; p++ {
			list[p] = 1 / F(hi-lo)
		}
	}
	return list
}

// transposed returns the transposed matrix of the mean, sources × targets.
func (b *sageBlock[F]) transposed(run workflow.Run) *sparse.Typed[F] {
	if b.back == nil {
		b.back = transposedOf(&sparse.Typed[F]{Structure: sparse.Structure{NRows: b.targets, NCols: b.sources, Format: sparse.CSR,
			NVals: int64(len(b.idx)), Ptr: b.ptr, Idx: b.idx}, Val: b.weights()}, run)
	}
	return b.back
}

// transposedOf returns a transposed matrix as CSR.
func transposedOf[T comparable](a *sparse.Typed[T], run workflow.Run) *sparse.Typed[T] {
	t := sparse.Transpose(a, run.Threads)
	if t.Format != sparse.CSR {
		t.Ptr, t.Format, t.RowIDs = workflow.RowOffsets(&t.Structure), sparse.CSR, nil
	}
	return t
}

// rowsGrain is the rows that a thread takes at a time.
const rowsGrain = 64

// sumWork is the number of multiplications of sums of rows from which another thread pays, and a
// row counts for rowSums rows that are added: 20 to 50 µs on two cores. Tests lower it. The
// network of citations2708 took 2.1 ms on one thread of a Xeon, 1.4 on 16, 7.2 on 64, when each 64
// rows had a thread.
var sumWork int64 = 1 << 19

const rowSums = 4

// eachSum runs fn on ranges of rows for which so many rows of so many columns are added.
func eachSum(run workflow.Run, rows, added, cols int, fn func(lo, hi int)) error {
	threads := parallel.Share(run.Threads, (int64(added)+rowSums*int64(rows))*int64(cols), sumWork)
	return parallel.Range(run.Context, threads, rows, rowsGrain, func(_, lo, hi int) { fn(lo, hi) })
}

// product sets c = a·x of a sparse matrix.
func product[F workflow.Real](c panel[F], a *sparse.Typed[F], x panel[F], run workflow.Run) error {
	return eachSum(run, a.NRows, len(a.Idx), c.Cols, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			sumRows(row(c, r), a.Idx[a.Ptr[r]:a.Ptr[r+1]], a.Val[a.Ptr[r]:a.Ptr[r+1]], x, 0)
		}
	})
}

// sageParam is a parameter with its gradient and the moments of Adam.
type sageParam[F workflow.Real] struct {
	name        string
	dims        int
	value, grad panel[F]
	first, next panel[F] // moments
}

// sageNet holds the parameters of a model.
type sageNet[F workflow.Real] struct {
	aggregator SAGEAggregator
	layers     []sageLayer[F]
	out        *sageParam[F] // classifier; nil without
	bias       *sageParam[F] // of the classifier
	all        []*sageParam[F]
	kept       sageArena[F] // panels of a step
	brief      [4][]F       // panels of a layer: weights, products, gradients of weights, values of columns
}

// A sageArena holds panels from one reset to the next, so that steps of the same shapes allocate
// nothing.
type sageArena[F workflow.Real] struct {
	list [][]F
	next int
}

func (a *sageArena[F]) reset() { a.next = 0 }

// panel returns a panel whose values are not initialised.
func (a *sageArena[F]) panel(rows, cols int) panel[F] {
	if a.next == len(a.list) {
		a.list = append(a.list, nil)
	}
	p := grown(&a.list[a.next], rows, cols)
	a.next++
	return p
}

// grown returns a panel in memory that is kept, and grows if it is too small. Its values are not
// initialised.
func grown[F workflow.Real](kept *[]F, rows, cols int) panel[F] {
	if cap(*kept) < rows*cols {
		*kept = fresh.Make[F](int64(rows) * int64(cols))
	}
	return panel[F]{Rows: rows, Cols: cols, Val: (*kept)[:rows*cols]}
}

type sageLayer[F workflow.Real] struct {
	self, neighbour, pool, poolBias *sageParam[F] // nil where the aggregator has none
}

// width returns the columns of the output of a layer.
func (l *sageLayer[F]) width() int {
	w := l.self.value.Cols
	if l.neighbour != nil {
		w += l.neighbour.value.Cols
	}
	return w
}

// input returns the rows of the weights of a layer.
func (l *sageLayer[F]) input() int { return l.self.value.Rows }

// joined returns the weights of a layer beside each other, of the vertex and of its neighbours.
func (n *sageNet[F]) joined(l *sageLayer[F]) panel[F] {
	if n.aggregator == AggregateGCN {
		return l.self.value
	}
	a, b := l.self.value, l.neighbour.value
	w := grown(&n.brief[0], a.Rows, a.Cols+b.Cols)
	for r := range w.Rows {
		copy(row(w, r), row(a, r))
		copy(row(w, r)[a.Cols:], row(b, r))
	}
	return w
}

// A sageInput is the rows that enter a layer: features, sparse or full, or hidden values.
type sageInput[F workflow.Real] struct {
	full   panel[F]
	sparse *sparse.Typed[F] // CSR, in place of full
	// The transposed sparse rows, and for each of their entries its place in sparse; nil until
	// known.
	columns *sparse.Typed[int32]
}

func (x *sageInput[F]) rows() int {
	if x.sparse != nil {
		return x.sparse.NRows
	}
	return x.full.Rows
}

// times sets c = x·w.
func (x *sageInput[F]) times(c, w panel[F], run workflow.Run) error {
	if x.sparse != nil {
		return product(c, x.sparse, w, run)
	}
	blas.Product(run.Threads, c, x.full, false, w, false, 0)
	return nil
}

// transpose finds the columns of sparse rows.
func (x *sageInput[F]) transpose(run workflow.Run) {
	if x.sparse == nil || x.columns != nil {
		return
	}
	places := make([]int32, len(x.sparse.Idx))
	for p := range places {
		places[p] = int32(p)
	}
	x.columns = transposedOf(&sparse.Typed[int32]{Structure: x.sparse.Structure, Val: places}, run)
}

// transposedTimes sets c = xᵀ·g.
func (n *sageNet[F]) transposedTimes(x *sageInput[F], c, g panel[F], run workflow.Run) error {
	if x.sparse == nil {
		blas.Product(run.Threads, c, x.full, true, g, false, 0)
		return nil
	}
	if int64(len(x.sparse.Idx)) > math.MaxInt32 {
		return product(c, transposedOf(x.sparse, run), g, run)
	}
	x.transpose(run)
	a := sparse.Typed[F]{Structure: x.columns.Structure, Val: grown(&n.brief[3], 1, len(x.columns.Val)).Val}
	for p, from := range x.columns.Val {
		a.Val[p] = x.sparse.Val[from]
	}
	return product(c, &a, g, run)
}

// addTransposed adds xᵀ·g to gradients: the first columns of g to the first, and so on.
func (n *sageNet[F]) addTransposed(x *sageInput[F], g panel[F], run workflow.Run, to ...panel[F]) error {
	c := grown(&n.brief[2], to[0].Rows, g.Cols)
	if err := n.transposedTimes(x, c, g, run); err != nil {
		return err
	}
	for r := range c.Rows {
		from := row(c, r)
		for _, part := range to {
			axpy(1, from[:part.Cols], row(part, r))
			from = from[part.Cols:]
		}
	}
	return nil
}

// sageTape is what a layer keeps of its forward pass.
type sageTape[F workflow.Real] struct {
	in     sageInput[F]
	block  *sageBlock[F]
	pooled panel[F] // relu(H·Wp + b), of the sources
	most   panel[F] // its maxima, of the targets
	from   []int32  // the source of each maximum
	out    panel[F]
	length []F // of the rows before norm
}

// eachRow calls do for n rows, by several threads.
func eachRow(run workflow.Run, n int, do func(v int)) error {
	return parallel.Range(run.Context, run.Threads, n, 128, func(_, lo, hi int) {
		for v := lo; v < hi; v++ {
			do(v)
		}
	})
}

// forward computes a layer. Its result holds until the panels of the step are reset.
func (n *sageNet[F]) forward(k int, in sageInput[F], b *sageBlock[F], run workflow.Run) (*sageTape[F], error) {
	t := n.newTape(k, in, b)
	x, near, err := n.products(k, t, run)
	if err != nil {
		return nil, err
	}
	return t, n.combine(k, t, x, near, run)
}

// newTape returns the tape of a layer before its pass.
func (n *sageNet[F]) newTape(k int, in sageInput[F], b *sageBlock[F]) *sageTape[F] {
	t := &sageTape[F]{in: in, block: b, out: n.kept.panel(b.targets, n.layers[k].width())}
	t.length = n.kept.panel(b.targets, 1).Val
	return t
}

// A sageNear is what the neighbours of a target give to it: the columns of a panel from one on.
type sageNear[F workflow.Real] struct {
	panel[F]
	from int
}

// products returns the products of the input with the weights of a layer: for the rows themselves,
// in the first columns of x, and for those whose neighbours they are.
func (n *sageNet[F]) products(k int, t *sageTape[F], run workflow.Run) (x panel[F], near sageNear[F], err error) {
	l := &n.layers[k]
	own := l.self.value.Cols
	if n.aggregator == AggregatePool {
		x = grown(&n.brief[1], t.in.rows(), own)
		if err := t.in.times(x, l.self.value, run); err != nil {
			return x, near, err
		}
		t.pooled = newPanel[F](t.in.rows(), l.pool.value.Cols)
		if err := t.in.times(t.pooled, l.pool.value, run); err != nil {
			return x, near, err
		}
		for s := range t.pooled.Rows {
			for j, y := range row(t.pooled, s) {
				row(t.pooled, s)[j] = max(0, y+l.poolBias.value.Val[j])
			}
		}
		return x, sageNear[F]{panel: t.pooled}, nil
	}
	w := n.joined(l)
	x = grown(&n.brief[1], t.in.rows(), w.Cols)
	if n.aggregator == AggregateGCN {
		own = 0
	}
	return x, sageNear[F]{x, own}, t.in.times(x, w, run)
}

// combine computes the output of a layer from the products. Row v of x is that of target v.
func (n *sageNet[F]) combine(k int, t *sageTape[F], x panel[F], near sageNear[F], run workflow.Run) error {
	l, b := &n.layers[k], t.block
	if n.aggregator == AggregatePool {
		own, most := l.self.value.Cols, t.pool(l, near.panel, run)
		return eachRow(run, b.targets, func(v int) {
			to := row(t.out, v)
			copy(to, row(x, v))
			copy(to[own:], row(most, v))
			t.length[v] = normalise(to)
		})
	}
	own := l.width() - (near.Cols - near.from)
	return eachSum(run, b.targets, len(b.idx), l.width(), func(lo, hi int) {
		for v := lo; v < hi; v++ {
			to := row(t.out, v)
			copy(to, row(x, v)[:own])
			var weight []F
			if b.weight != nil {
				weight = b.weight[b.ptr[v]:b.ptr[v+1]]
			}
			sumRows(to[own:], b.idx[b.ptr[v]:b.ptr[v+1]], weight, near.panel, near.from)
			t.length[v] = normalise(to)
		}
	})
}

// pool computes the aggregate of AggregatePool from the pooled rows of the sources.
func (t *sageTape[F]) pool(l *sageLayer[F], pooled panel[F], run workflow.Run) panel[F] {
	width := pooled.Cols
	t.most, t.from = newPanel[F](t.block.targets, width), make([]int32, t.block.targets*width)
	for v := range t.block.targets {
		best, from := row(t.most, v), t.from[v*width:(v+1)*width]
		for k, s := range t.block.idx[t.block.ptr[v]:t.block.ptr[v+1]] {
			for j, x := range row(pooled, int(s)) {
				if k == 0 || x > best[j] {
					best[j], from[j] = x, s
				}
			}
		}
	}
	c := newPanel[F](t.block.targets, l.neighbour.value.Cols)
	blas.Product(run.Threads, c, t.most, false, l.neighbour.value, false, 0)
	return c
}

// A sageDropout sets each item of the input of a layer to 0 with a probability and scales the
// others. Whether it does depends on the vertex and the column alone, so that all that need an item
// see the same.
type sageDropout struct {
	share      float64
	seed, step uint64
	layer      int
}

// dropOn drops items of rows of vertices with cols columns; ptr and idx are the entries of sparse
// rows, nil for full ones. Nil vertices are all of them. It returns the factors, nil without
// dropout.
func dropOn[F workflow.Real](d sageDropout, x []F, vertices []int32, rows, cols int, ptr []int64, idx []int32, run workflow.Run) ([]F, error) {
	if d.share <= 0 {
		return nil, nil
	}
	kept, factor := make([]F, len(x)), F(1/(1-d.share))
	limit := uint32(d.share * (1 << 32))
	return kept, parallel.Range(run.Context, run.Threads, rows, 128, func(_, lo, hi int) {
		dropRows(d, x, kept, factor, limit, vertices, lo, hi, cols, ptr, idx)
	})
}

// dropRows is dropOn for the rows lo to hi.
func dropRows[F workflow.Real](d sageDropout, x, kept []F, factor F, limit uint32, vertices []int32, lo, hi, cols int, ptr []int64, idx []int32) {
	have := uint64(1 << 63)
	var words [4]uint32
	item := func(i int, v int32, c int) {
		at := uint64(v)*uint64(cols) + uint64(c)
		if at>>2 != have {
			have = at >> 2
			a, b := philox.Block(have, d.step<<8|uint64(d.layer), d.seed)
			words = [4]uint32{uint32(a), uint32(a >> 32), uint32(b), uint32(b >> 32)}
		}
		if words[at&3] >= limit {
			kept[i] = factor
		}
		x[i] *= kept[i]
	}
	for r := lo; r < hi; r++ {
		v := int32(r)
		if vertices != nil {
			v = vertices[r]
		}
		if idx == nil {
			for c := range cols {
				item(r*cols+c, v, c)
			}
			continue
		}
		for p := ptr[r]; p < ptr[r+1]; p++ {
			item(int(p), v, int(idx[p]))
		}
	}
}
