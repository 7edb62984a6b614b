package apps

import (
	"math"

	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/blas"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/philox"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
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
type panel[F real] = blas.Matrix[F]

func newPanel[F real](rows, cols int) panel[F] {
	return panel[F]{Rows: rows, Cols: cols, Val: make([]F, rows*cols)}
}

// row returns row i of a.
func row[F real](a panel[F], i int) []F { return a.Val[i*a.Cols : (i+1)*a.Cols] }

// asMatrix returns a as a matrix, which shares its values.
func asMatrix[F real](a panel[F]) *matrix.Matrix[F] {
	return access.FromStore(&sparse.Store[F]{Structure: sparse.Structure{NRows: a.Rows, NCols: a.Cols,
		Format: sparse.Full, NVals: int64(a.Rows) * int64(a.Cols)}, Val: a.Val})
}

// asPanel returns the values of a matrix by rows, 0 where there is no entry. It may share them.
func asPanel[F real](a *matrix.Matrix[F]) panel[F] {
	st := access.Store(a)
	if st.Format != sparse.Full {
		st = sparse.ToFull(st, 0)
	}
	return panel[F]{Rows: st.NRows, Cols: st.NCols, Val: st.Val}
}

// multiply returns a·x of a sparse matrix.
func multiply[F real](a matrix.Source[F], x panel[F], run Run) (panel[F], error) {
	m, _ := a.View().Dims()
	c := matrix.New[F](m, x.Cols)
	if err := ops.MxM(c, semiring.PlusTimes[F](), a, asMatrix(x), run.with()); err != nil {
		return panel[F]{}, err
	}
	return asPanel(c), nil
}

// A sageBlock connects the targets of a layer to its sources.
type sageBlock[F real] struct {
	targets int
	self    []int32           // source of each target; nil if target t is source t
	mean    *matrix.Matrix[F] // targets × sources, P of mean and GCN
	ptr     []int64           // of idx, for pool
	idx     []int32           // chosen neighbours, as sources
}

// sageParam is a parameter with its gradient and the moments of Adam.
type sageParam[F real] struct {
	name        string
	dims        int
	value, grad panel[F]
	first, next panel[F] // moments
}

// sageNet holds the parameters of a model.
type sageNet[F real] struct {
	aggregator SAGEAggregator
	layers     []sageLayer[F]
	out        *sageParam[F] // classifier; nil without
	bias       *sageParam[F] // of the classifier
	all        []*sageParam[F]
}

type sageLayer[F real] struct {
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

// A sageInput is the rows that enter a layer: features, sparse or full, or hidden values.
type sageInput[F real] struct {
	full   panel[F]
	sparse *matrix.Matrix[F] // in place of full
}

func (x *sageInput[F]) rows() int {
	if x.sparse != nil {
		m, _ := x.sparse.Dims()
		return m
	}
	return x.full.Rows
}

// times returns x·w.
func (x *sageInput[F]) times(w panel[F], run Run) (panel[F], error) {
	if x.sparse != nil {
		return multiply(x.sparse, w, run)
	}
	c := newPanel[F](x.full.Rows, w.Cols)
	blas.Product(run.Threads, c, x.full, false, w, false, 0)
	return c, nil
}

// addTransposed adds xᵀ·g to a gradient.
func (x *sageInput[F]) addTransposed(to, g panel[F], run Run) error {
	if x.sparse == nil {
		blas.Product(run.Threads, to, x.full, true, g, false, 1)
		return nil
	}
	d, err := multiply(x.sparse.T(), g, run)
	for i, v := range d.Val {
		to.Val[i] += v
	}
	return err
}

// sageTape is what a layer keeps of its forward pass.
type sageTape[F real] struct {
	in     sageInput[F]
	block  *sageBlock[F]
	pooled panel[F] // relu(H·Wp + b), of the sources
	most   panel[F] // its maxima, of the targets
	from   []int32  // the source of each maximum
	out    panel[F]
	length []F // of the rows before norm
}

// eachRow calls do for n rows, by several threads.
func eachRow(run Run, n int, do func(v int)) error {
	return parallel.Range(run.Context, run.Threads, n, 128, func(_, lo, hi int) {
		for v := lo; v < hi; v++ {
			do(v)
		}
	})
}

// forward computes a layer.
func (n *sageNet[F]) forward(k int, in sageInput[F], b *sageBlock[F], run Run) (*sageTape[F], error) {
	l := &n.layers[k]
	t := &sageTape[F]{in: in, block: b, out: newPanel[F](b.targets, l.width())}
	own := l.self.value.Cols
	x, err := in.times(l.self.value, run)
	if err != nil {
		return nil, err
	}
	var near panel[F]
	if n.aggregator == AggregateGCN {
		if near, err = multiply(b.mean, x, run); err != nil {
			return nil, err
		}
		own = 0
	} else {
		if n.aggregator == AggregatePool {
			near, err = t.pool(l, run)
		} else if near, err = in.times(l.neighbour.value, run); err == nil {
			near, err = multiply(b.mean, near, run)
		}
		if err != nil {
			return nil, err
		}
	}
	t.length = make([]F, b.targets)
	return t, eachRow(run, b.targets, func(v int) {
		to := row(t.out, v)
		if own > 0 {
			copy(to, row(x, b.source(v)))
		}
		copy(to[own:], row(near, v))
		t.length[v] = normalise(to)
	})
}

// source returns the source of a target.
func (b *sageBlock[F]) source(target int) int {
	if b.self == nil {
		return target
	}
	return int(b.self[target])
}

// normalise sets a row to norm(relu(row)) and returns its length before norm. A row of zeros stays.
func normalise[F real](x []F) F {
	sum := 0.0
	for j, v := range x {
		if v > 0 {
			sum += float64(v) * float64(v)
		} else {
			x[j] = 0
		}
	}
	if sum == 0 {
		return 0
	}
	length := F(math.Sqrt(sum))
	for j := range x {
		x[j] /= length
	}
	return length
}

// pool computes the aggregate of AggregatePool.
func (t *sageTape[F]) pool(l *sageLayer[F], run Run) (panel[F], error) {
	var err error
	if t.pooled, err = t.in.times(l.pool.value, run); err != nil {
		return panel[F]{}, err
	}
	width := t.pooled.Cols
	for s := range t.pooled.Rows {
		for j, x := range row(t.pooled, s) {
			row(t.pooled, s)[j] = max(0, x+l.poolBias.value.Val[j])
		}
	}
	t.most, t.from = newPanel[F](t.block.targets, width), make([]int32, t.block.targets*width)
	for v := range t.block.targets {
		best, from := row(t.most, v), t.from[v*width:(v+1)*width]
		for k, s := range t.block.idx[t.block.ptr[v]:t.block.ptr[v+1]] {
			for j, x := range row(t.pooled, int(s)) {
				if k == 0 || x > best[j] {
					best[j], from[j] = x, s
				}
			}
		}
	}
	c := newPanel[F](t.block.targets, l.neighbour.value.Cols)
	blas.Product(run.Threads, c, t.most, false, l.neighbour.value, false, 0)
	return c, nil
}

// backward adds the gradients of a layer's parameters, given that of its output, and returns that
// of its input unless the input is sparse or first.
func (n *sageNet[F]) backward(k int, t *sageTape[F], g panel[F], run Run) (panel[F], error) {
	l := &n.layers[k]
	if err := eachRow(run, t.block.targets, func(v int) { unnormalise(row(g, v), row(t.out, v), t.length[v]) }); err != nil {
		return panel[F]{}, err
	}
	own, sources := l.self.value.Cols, t.in.rows()
	var to panel[F]
	if k > 0 {
		to = newPanel[F](sources, l.input())
	}
	// through takes the gradient of in·w.
	through := func(w *sageParam[F], g panel[F]) error {
		if err := t.in.addTransposed(w.grad, g, run); err != nil {
			return err
		}
		if k > 0 {
			blas.Product(run.Threads, to, g, false, w.value, true, 1)
		}
		return nil
	}
	if n.aggregator == AggregateGCN {
		x, err := multiply(t.block.mean.T(), g, run)
		if err != nil {
			return to, err
		}
		return to, through(l.self, x)
	}
	mine, near := newPanel[F](sources, own), newPanel[F](t.block.targets, g.Cols-own)
	part := func(v int) {
		to := row(mine, t.block.source(v))
		for j, x := range row(g, v)[:own] {
			to[j] += x
		}
		copy(row(near, v), row(g, v)[own:])
	}
	if t.block.self == nil {
		if err := eachRow(run, t.block.targets, part); err != nil {
			return to, err
		}
	} else { // targets may share a source
		for v := range t.block.targets {
			part(v)
		}
	}
	if err := through(l.self, mine); err != nil {
		return to, err
	}
	if n.aggregator == AggregatePool {
		blas.Product(run.Threads, l.neighbour.grad, t.most, true, near, false, 1)
		most := newPanel[F](t.most.Rows, t.most.Cols)
		blas.Product(run.Threads, most, near, false, l.neighbour.value, true, 0)
		spread := newPanel[F](sources, t.most.Cols)
		for i, x := range most.Val {
			if t.most.Val[i] > 0 { // else relu has no slope
				at := int(t.from[i])*spread.Cols + i%spread.Cols
				spread.Val[at] += x
				l.poolBias.grad.Val[i%spread.Cols] += x
			}
		}
		return to, through(l.pool, spread)
	}
	x, err := multiply(t.block.mean.T(), near, run)
	if err != nil {
		return to, err
	}
	return to, through(l.neighbour, x)
}

// unnormalise replaces the gradient of y = norm(relu(x)) by that of x. length is that of relu(x).
func unnormalise[F real](g, y []F, length F) {
	var along F
	for j, v := range y {
		along += v * g[j]
	}
	for j, v := range y {
		if v > 0 {
			g[j] = (g[j] - v*along) / length
		} else {
			g[j] = 0
		}
	}
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
// rows, nil for full ones. It returns the factors, nil without dropout.
func dropOn[F real](d sageDropout, x []F, vertices []int32, cols int, ptr []int64, idx []int32, run Run) ([]F, error) {
	if d.share <= 0 {
		return nil, nil
	}
	kept, factor := make([]F, len(x)), F(1/(1-d.share))
	limit := uint32(d.share * (1 << 32))
	return kept, parallel.Range(run.Context, run.Threads, len(vertices), 128, func(_, lo, hi int) {
		dropRows(d, x, kept, factor, limit, vertices, lo, hi, cols, ptr, idx)
	})
}

// dropRows is dropOn for the rows lo to hi.
func dropRows[F real](d sageDropout, x, kept []F, factor F, limit uint32, vertices []int32, lo, hi, cols int, ptr []int64, idx []int32) {
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
	for r, v := range vertices[lo:hi] {
		r += lo
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

// classify returns the logits of embeddings.
func (n *sageNet[F]) classify(z panel[F], run Run) panel[F] {
	c := newPanel[F](z.Rows, n.out.value.Cols)
	blas.Product(run.Threads, c, z, false, n.out.value, false, 0)
	for v := range c.Rows {
		for j := range c.Cols {
			row(c, v)[j] += n.bias.value.Val[j]
		}
	}
	return c
}

// crossEntropy returns the mean loss of logits for classes, and the number of rows whose largest
// logit is that of the class. It replaces the logits by their gradient.
func crossEntropy[F real](logits panel[F], class []int32) (loss float64, right int) {
	for v, c := range class {
		x := row(logits, v)
		most := 0
		for j := range x {
			if x[j] > x[most] {
				most = j
			}
		}
		if most == int(c) {
			right++
		}
		top, sum := float64(x[most]), 0.0
		for _, y := range x {
			sum += math.Exp(float64(y) - top)
		}
		loss += math.Log(sum) + top - float64(x[c])
		for j, y := range x {
			p := math.Exp(float64(y)-top) / sum
			if j == int(c) {
				p--
			}
			x[j] = F(p / float64(len(class)))
		}
	}
	return loss / float64(max(len(class), 1)), right
}

// unclassify adds the gradients of the classifier, given that of the logits, and returns that of
// the embeddings.
func (n *sageNet[F]) unclassify(z, g panel[F], run Run) panel[F] {
	blas.Product(run.Threads, n.out.grad, z, true, g, false, 1)
	for v := range g.Rows {
		for j, x := range row(g, v) {
			n.bias.grad.Val[j] += x
		}
	}
	to := newPanel[F](z.Rows, z.Cols)
	blas.Product(run.Threads, to, g, false, n.out.value, true, 0)
	return to
}

// adam moves the parameters by their gradients, with decay of weights, and clears the gradients
// (Kingma and Ba, Adam: a method for stochastic optimization, ICLR 2015, algorithm 1). Step counts
// from 1.
func (n *sageNet[F]) adam(rate, decay float64, step int64, run Run) error {
	const b1, b2, epsilon = .9, .999, 1e-8
	c1, c2 := 1-math.Pow(b1, float64(step)), 1-math.Pow(b2, float64(step))
	for _, p := range n.all {
		err := parallel.Range(run.Context, run.Threads, len(p.grad.Val), 1<<12, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				d := float64(p.grad.Val[i]) + decay*float64(p.value.Val[i])
				m := b1*float64(p.first.Val[i]) + (1-b1)*d
				v := b2*float64(p.next.Val[i]) + (1-b2)*d*d
				p.first.Val[i], p.next.Val[i] = F(m), F(v)
				p.value.Val[i] = F(float64(p.value.Val[i]) - rate*(float64(F(m))/c1)/(math.Sqrt(float64(F(v))/c2)+epsilon))
				p.grad.Val[i] = 0
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}
