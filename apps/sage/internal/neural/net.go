// Package neural is the layers of GraphSAGE on the host: sums over neighbours, products with
// weights, and their gradients.
package neural

import (
	"math"
	"slices"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/blas"
	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/philox"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// AtOnce reports whether a kernel computes layer k after its products, with so many items in 16
// bytes.
func (n *Net[F]) AtOnce(k, per int) bool {
	l := &n.Layers[k]
	own := l.Self.Value.Cols
	return own <= 32*per && n.averages() && (n.GCN() || own == l.Neighbour.Value.Cols)
}

// A layer of GraphSAGE maps the rows H of its sources, some vertices, to rows of its targets:
//
//	mean   norm(relu([H·Wf, P·(H·Wa)]))                P averages the chosen neighbours
//	pool   norm(relu([H·Wf, max(relu(H·Wp + b))·Wa]))  the maximum over the chosen neighbours
//	GCN    norm(relu(P·(H·Wf)))                        P averages a vertex and its neighbours
//	attention  norm(relu([H·Wf, A·(H·Wa)]))            A weighs neighbours; see attention.go
//	LSTM   norm(relu([H·Wf, L·Wa]))                    L reads the chosen neighbours; see lstm.go
//
// The mean is linear, so products come first and gathers move rows of the output's width. Backward
// passes are the transposed steps: the gradient of X is Pᵀ times the gradient of P·X.

// Panel is a full matrix by rows.
type Panel[F workflow.Real] = blas.Matrix[F]

func NewPanel[F workflow.Real](rows, cols int) Panel[F] {
	return Panel[F]{Rows: rows, Cols: cols, Val: make([]F, rows*cols)}
}

// Row returns row i of a.
func Row[F workflow.Real](a Panel[F], i int) []F { return a.Val[i*a.Cols : (i+1)*a.Cols] }

// AsMatrix returns a as a matrix, which shares its values.
func AsMatrix[F workflow.Real](a Panel[F]) *matrix.Matrix[F] {
	return access.FromStore(&sparse.Typed[F]{Structure: sparse.Structure{NRows: a.Rows, NCols: a.Cols,
		Format: sparse.Full, NVals: int64(a.Rows) * int64(a.Cols)}, Val: a.Val})
}

// AsPanel returns the values of a matrix by rows, 0 where there is no entry. It may share them.
func AsPanel[F workflow.Real](a *matrix.Matrix[F]) Panel[F] {
	st := access.Store(a)
	if st.Format != sparse.Full {
		st = sparse.ToFull(st, 0)
	}
	return Panel[F]{Rows: st.NRows, Cols: st.NCols, Val: st.Val}
}

// A Block connects the targets of a layer to its sources. Target t is source t.
type Block[F workflow.Real] struct {
	Targets, Sources int
	Ptr              []int64              // of idx
	Idx              []int32              // chosen neighbours, as sources
	Weight           []F                  // of them in the mean; nil for 1 over their number
	back             *sparse.Typed[F]     // the transposed matrix of the mean; nil until it is needed
	places           *sparse.Typed[int32] // of placed; nil until it is needed
	steps            *sequences[F]        // of an LSTM; nil until they are needed
}

// Weights returns the weights of all neighbours.
func (b *Block[F]) Weights() []F {
	if b.Weight != nil {
		return b.Weight
	}
	list := make([]F, len(b.Idx))
	for v := range b.Targets {
		lo, hi := b.Ptr[v], b.Ptr[v+1]
		for p := lo; p < hi; p++ {
			list[p] = 1 / F(hi-lo)
		}
	}
	return list
}

// transposed returns the transposed matrix of the mean, sources × targets.
func (b *Block[F]) transposed(run workflow.Run) *sparse.Typed[F] {
	if b.back == nil {
		b.back = transposedOf(&sparse.Typed[F]{Structure: sparse.Structure{NRows: b.Targets, NCols: b.Sources, Format: sparse.CSR,
			NVals: int64(len(b.Idx)), Ptr: b.Ptr, Idx: b.Idx}, Val: b.Weights()}, run)
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

// SumWork is the number of multiplications in sums of rows from which another thread pays; a row
// counts as rowSums added rows.
type SumWork int64

const rowSums = 4

// eachSum runs fn on ranges of rows for which so many rows of so many columns are added.
func eachSum(run workflow.Run, rows, added, cols int, fn func(lo, hi int)) error {
	threads := parallel.Share(run.Threads, (int64(added)+rowSums*int64(rows))*int64(cols), int64(workflow.Tuning[SumWork](run, 1<<19)))
	return parallel.Range(run.Context, threads, rows, rowsGrain, func(_, lo, hi int) { fn(lo, hi) })
}

// product sets c = a·x of a sparse matrix.
func product[F workflow.Real](c Panel[F], a *sparse.Typed[F], x Panel[F], run workflow.Run) error {
	return eachSum(run, a.NRows, len(a.Idx), c.Cols, func(lo, hi int) {
		for r := lo; r < hi; r++ {
			sumRows(Row(c, r), a.Idx[a.Ptr[r]:a.Ptr[r+1]], a.Val[a.Ptr[r]:a.Ptr[r+1]], x, 0)
		}
	})
}

// Param is a parameter with its gradient and the moments of Adam.
type Param[F workflow.Real] struct {
	Name        string
	Dims        int
	Value, Grad Panel[F]
	First, Next Panel[F] // moments
}

// Net holds the parameters of a model.
type Net[F workflow.Real] struct {
	Aggregator Aggregator
	Heads      int  // of attention
	Training   bool // a backward pass follows each pass
	Layers     []Layer[F]
	Out        *Param[F] // classifier; nil without
	Bias       *Param[F] // of the classifier
	All        []*Param[F]
	Kept       sageArena[F] // panels of a step
	Brief      [4][]F       // panels of a layer: weights, products, gradients of weights, values of columns
}

// Aggregator is a SAGEAggregator, by its number.
type Aggregator int

const (
	AggregateMean Aggregator = iota
	AggregatePool
	AggregateGCN
	AggregateAttention
	AggregateLSTM
)

// GCN reports whether the mean of a vertex and its neighbours is in place of both.
func (n *Net[F]) GCN() bool { return n.Aggregator == AggregateGCN }

// averages reports whether neighbours count by their mean.
func (n *Net[F]) averages() bool { return n.Aggregator == AggregateMean || n.GCN() }

// Reduces reports whether rows of Pool are reduced to one for each target before the product with
// the weights of neighbours: by their maximum or by an LSTM.
func (n *Net[F]) Reduces() bool { return n.Pools() || n.Recurs() }

// Pools reports whether neighbours count by their maximum.
func (n *Net[F]) Pools() bool { return n.Aggregator == AggregatePool }

// A Arena holds panels from one reset to the next, so that steps of the same shapes allocate
// nothing.
type sageArena[F workflow.Real] struct {
	list [][]F
	next int
}

func (a *sageArena[F]) Reset() { a.next = 0 }

// Panel returns a panel with uninitialised values.
func (a *sageArena[F]) Panel(rows, cols int) Panel[F] {
	if a.next == len(a.list) {
		a.list = append(a.list, nil)
	}
	p := Grown(&a.list[a.next], rows, cols)
	a.next++
	return p
}

// Grown returns a panel in memory that is kept, and grows if it is too small. Its values are not
// initialised.
func Grown[F workflow.Real](kept *[]F, rows, cols int) Panel[F] {
	if cap(*kept) < rows*cols {
		*kept = fresh.Make[F](int64(rows) * int64(cols))
	}
	return Panel[F]{Rows: rows, Cols: cols, Val: (*kept)[:rows*cols]}
}

// A Layer holds the weights of a layer, nil where the aggregator has none.
type Layer[F workflow.Real] struct {
	Self, Neighbour             *Param[F]
	Pool, PoolBias              *Param[F] // of pools; Wx and b of an LSTM
	Recur                       *Param[F] // Wh of an LSTM
	AttendSelf, AttendNeighbour *Param[F] // aₗ and aᵣ of attention
}

// Width returns the columns of the output of a layer.
func (l *Layer[F]) Width() int {
	w := l.Self.Value.Cols
	if l.Neighbour != nil {
		w += l.Neighbour.Value.Cols
	}
	return w
}

// Input returns the rows of the weights of a layer.
func (l *Layer[F]) Input() int { return l.Self.Value.Rows }

// joined returns the weights of a layer beside each other, of the vertex and of its neighbours.
func (n *Net[F]) joined(l *Layer[F]) Panel[F] {
	if n.GCN() {
		return l.Self.Value
	}
	a, b := l.Self.Value, l.Neighbour.Value
	w := Grown(&n.Brief[0], a.Rows, a.Cols+b.Cols)
	for r := range w.Rows {
		copy(Row(w, r), Row(a, r))
		copy(Row(w, r)[a.Cols:], Row(b, r))
	}
	return w
}

// A Input is the rows that enter a layer: features, sparse or full, or hidden values.
type Input[F workflow.Real] struct {
	Full   Panel[F]
	Sparse *sparse.Typed[F] // CSR, in place of full
	// The transposed sparse rows, and for each of their entries its place in sparse; nil until
	// known.
	columns *sparse.Typed[int32]
}

func (x *Input[F]) rows() int {
	if x.Sparse != nil {
		return x.Sparse.NRows
	}
	return x.Full.Rows
}

// times sets c = x·w.
func (x *Input[F]) times(c, w Panel[F], run workflow.Run) error {
	if x.Sparse != nil {
		return product(c, x.Sparse, w, run)
	}
	blas.Product(run.Threads, c, x.Full, false, w, false, 0)
	return nil
}

// Transpose finds the columns of sparse rows.
func (x *Input[F]) Transpose(run workflow.Run) {
	if x.Sparse == nil || x.columns != nil {
		return
	}
	places := make([]int32, len(x.Sparse.Idx))
	for p := range places {
		places[p] = int32(p)
	}
	x.columns = transposedOf(&sparse.Typed[int32]{Structure: x.Sparse.Structure, Val: places}, run)
}

// transposedTimes sets c = xᵀ·g.
func (n *Net[F]) transposedTimes(x *Input[F], c, g Panel[F], run workflow.Run) error {
	if x.Sparse == nil {
		blas.Product(run.Threads, c, x.Full, true, g, false, 0)
		return nil
	}
	if int64(len(x.Sparse.Idx)) > math.MaxInt32 {
		return product(c, transposedOf(x.Sparse, run), g, run)
	}
	x.Transpose(run)
	a := sparse.Typed[F]{Structure: x.columns.Structure, Val: Grown(&n.Brief[3], 1, len(x.columns.Val)).Val}
	for p, from := range x.columns.Val {
		a.Val[p] = x.Sparse.Val[from]
	}
	return product(c, &a, g, run)
}

// addTransposed adds xᵀ·g to gradients: the first columns of g to the first, and so on.
func (n *Net[F]) addTransposed(x *Input[F], g Panel[F], run workflow.Run, to ...Panel[F]) error {
	c := Grown(&n.Brief[2], to[0].Rows, g.Cols)
	if err := n.transposedTimes(x, c, g, run); err != nil {
		return err
	}
	for r := range c.Rows {
		from := Row(c, r)
		for _, part := range to {
			Axpy(1, from[:part.Cols], Row(part, r))
			from = from[part.Cols:]
		}
	}
	return nil
}

// Tape is what a layer keeps of its forward pass.
type Tape[F workflow.Real] struct {
	in     Input[F]
	Block  *Block[F]
	pooled Panel[F] // relu(H·Wp + b), of the sources; X of an LSTM
	most   Panel[F] // its maxima, of the targets, or the last states of an LSTM
	from   []int32  // the source of each maximum
	attended[F]
	folded[F]
	Out    Panel[F]
	length []F // of the rows before norm
}

// EachRow calls do for n rows, by several threads.
func EachRow(run workflow.Run, n int, do func(v int)) error {
	return parallel.Range(run.Context, run.Threads, n, 128, func(_, lo, hi int) {
		for v := lo; v < hi; v++ {
			do(v)
		}
	})
}

// Forward computes a layer. Its result holds until the panels of the step are reset.
func (n *Net[F]) Forward(k int, in Input[F], b *Block[F], run workflow.Run) (*Tape[F], error) {
	t := n.NewTape(k, in, b)
	x, near, err := n.Products(k, t, run)
	if err != nil {
		return nil, err
	}
	return t, n.Combine(k, t, x, near, run)
}

// NewTape returns the tape of a layer before its pass.
func (n *Net[F]) NewTape(k int, in Input[F], b *Block[F]) *Tape[F] {
	t := &Tape[F]{in: in, Block: b, Out: n.Kept.Panel(b.Targets, n.Layers[k].Width())}
	t.length = n.Kept.Panel(b.Targets, 1).Val
	return t
}

// A Near is what the neighbours of a target give to it: the columns of a panel from one on.
type Near[F workflow.Real] struct {
	Panel[F]
	From int
}

// Products returns the products of the input with the weights of a layer: the first columns of x
// are for the rows themselves, the others for the vertices that gather the rows as neighbours.
func (n *Net[F]) Products(k int, t *Tape[F], run workflow.Run) (x Panel[F], near Near[F], err error) {
	l := &n.Layers[k]
	own := l.Self.Value.Cols
	if n.Reduces() {
		x = Grown(&n.Brief[1], t.in.rows(), own)
		if err := t.in.times(x, l.Self.Value, run); err != nil {
			return x, near, err
		}
		t.pooled = NewPanel[F](t.in.rows(), l.Pool.Value.Cols)
		if err := t.in.times(t.pooled, l.Pool.Value, run); err != nil {
			return x, near, err
		}
		for s := range t.pooled.Rows {
			for j, y := range Row(t.pooled, s) {
				if y += l.PoolBias.Value.Val[j]; n.Pools() {
					y = max(0, y)
				}
				Row(t.pooled, s)[j] = y
			}
		}
		return x, Near[F]{Panel: t.pooled}, nil
	}
	w := n.joined(l)
	x = Grown(&n.Brief[1], t.in.rows(), w.Cols)
	if n.Attends() { // the backward pass needs them
		x = n.Kept.Panel(t.in.rows(), w.Cols)
	}
	if n.GCN() {
		own = 0
	}
	return x, Near[F]{x, own}, t.in.times(x, w, run)
}

// Combine computes the output of a layer from the products. Row v of x belongs to target v.
func (n *Net[F]) Combine(k int, t *Tape[F], x Panel[F], near Near[F], run workflow.Run) error {
	l, b := &n.Layers[k], t.Block
	if n.Reduces() {
		if n.Pools() {
			t.pool(near.Panel)
		} else if err := n.fold(k, t, near, run); err != nil {
			return err
		}
		own, most := l.Self.Value.Cols, NewPanel[F](b.Targets, l.Neighbour.Value.Cols)
		blas.Product(run.Threads, most, t.most, false, l.Neighbour.Value, false, 0)
		return EachRow(run, b.Targets, func(v int) {
			to := Row(t.Out, v)
			copy(to, Row(x, v))
			copy(to[own:], Row(most, v))
			t.length[v] = normalise(to)
		})
	}
	if n.Attends() {
		return n.attend(k, t, x, near, run)
	}
	own := l.Width() - (near.Cols - near.From)
	return eachSum(run, b.Targets, len(b.Idx), l.Width(), func(lo, hi int) {
		for v := lo; v < hi; v++ {
			to := Row(t.Out, v)
			copy(to, Row(x, v)[:own])
			var weight []F
			if b.Weight != nil {
				weight = b.Weight[b.Ptr[v]:b.Ptr[v+1]]
			}
			sumRows(to[own:], b.Idx[b.Ptr[v]:b.Ptr[v+1]], weight, near.Panel, near.From)
			t.length[v] = normalise(to)
		}
	})
}

// pool sets t.most to the maxima of the pooled rows of the sources.
func (t *Tape[F]) pool(pooled Panel[F]) {
	width := pooled.Cols
	t.most, t.from = NewPanel[F](t.Block.Targets, width), make([]int32, t.Block.Targets*width)
	for v := range t.Block.Targets {
		best, from := Row(t.most, v), t.from[v*width:(v+1)*width]
		for k, s := range t.Block.Idx[t.Block.Ptr[v]:t.Block.Ptr[v+1]] {
			for j, x := range Row(pooled, int(s)) {
				if k == 0 || x > best[j] {
					best[j], from[j] = x, s
				}
			}
		}
	}
}

// A Dropout sets each item of the input of a layer to 0 with a probability and scales the
// others. Whether it does depends on the vertex and the column alone, so that all that need an item
// see the same.
type Dropout struct {
	Share      float64
	Seed, Step uint64
	Layer      int
}

// DropOn drops items of rows of vertices with cols columns; ptr and idx are the entries of sparse
// rows, nil for full ones. Nil vertices are all of them. It returns the factors, nil without
// dropout.
func DropOn[F workflow.Real](d Dropout, x []F, vertices []int32, rows, cols int, ptr []int64, idx []int32, run workflow.Run) ([]F, error) {
	if d.Share <= 0 {
		return nil, nil
	}
	kept, factor := make([]F, len(x)), F(1/(1-d.Share))
	limit := uint32(d.Share * (1 << 32))
	return kept, parallel.Range(run.Context, run.Threads, rows, 128, func(_, lo, hi int) {
		dropRows(d, x, kept, factor, limit, vertices, lo, hi, cols, ptr, idx)
	})
}

// dropRows is DropOn for the rows lo to hi.
func dropRows[F workflow.Real](d Dropout, x, kept []F, factor F, limit uint32, vertices []int32, lo, hi, cols int, ptr []int64, idx []int32) {
	have := uint64(1 << 63)
	var words [4]uint32
	item := func(i int, v int32, c int) {
		at := uint64(v)*uint64(cols) + uint64(c)
		if at>>2 != have {
			have = at >> 2
			a, b := philox.Block(have, d.Step<<8|uint64(d.Layer), d.Seed)
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

// Only returns the rows of the listed vertices, all for nil.
func (x *Input[F]) Only(vertices []int32) (Input[F], error) {
	if vertices == nil {
		return *x, nil
	}
	if x.Sparse == nil {
		y := NewPanel[F](len(vertices), x.Full.Cols)
		for k, v := range vertices {
			copy(Row(y, k), Row(x.Full, int(v)))
		}
		return Input[F]{Full: y}, nil
	}
	st := x.Sparse
	y := &sparse.Typed[F]{Structure: sparse.Structure{NRows: len(vertices), NCols: st.NCols, Format: sparse.CSR, Ptr: make([]int64, 1, len(vertices)+1)}}
	for _, v := range vertices {
		lo, hi := st.Span(int(v))
		y.Idx, y.Val = append(y.Idx, st.Idx[lo:hi]...), append(y.Val, st.Val[lo:hi]...)
		y.Ptr = append(y.Ptr, int64(len(y.Idx)))
	}
	y.NVals = int64(len(y.Idx))
	return Input[F]{Sparse: y}, nil
}

// Param adds a parameter.
func (n *Net[F]) Param(name string, dims int, value Panel[F]) *Param[F] {
	p := &Param[F]{Name: name, Dims: dims, Value: value}
	n.All = append(n.All, p)
	return p
}

// Values returns copies of the parameters.
func (n *Net[F]) Values() map[string][]F {
	all := map[string][]F{}
	for _, p := range n.All {
		all[p.Name] = slices.Clone(p.Value.Val)
	}
	return all
}

// Twin returns a network with the same weights in the same memory, and gradients of its own.
func (n *Net[F]) Twin() *Net[F] {
	to := &Net[F]{Aggregator: n.Aggregator, Heads: n.Heads}
	own := map[*Param[F]]*Param[F]{}
	for _, p := range n.All {
		own[p] = &Param[F]{Name: p.Name, Dims: p.Dims, Value: p.Value}
		to.All = append(to.All, own[p])
	}
	for _, l := range n.Layers {
		to.Layers = append(to.Layers, Layer[F]{own[l.Self], own[l.Neighbour], own[l.Pool], own[l.PoolBias], own[l.Recur], own[l.AttendSelf], own[l.AttendNeighbour]})
	}
	to.Out, to.Bias = own[n.Out], own[n.Bias]
	return to
}

// Gradients puts the gradients of all weights, zeros, into one list, which it returns.
func (n *Net[F]) Gradients() []F {
	total := 0
	for _, p := range n.All {
		total += len(p.Value.Val)
	}
	list := make([]F, total)
	at := 0
	for _, p := range n.All {
		size := len(p.Value.Val)
		p.Grad = Panel[F]{Rows: p.Value.Rows, Cols: p.Value.Cols, Val: list[at : at+size]}
		at += size
	}
	return list
}

// Between returns rows lo … hi−1, which share their values with x.
func (x *Input[F]) Between(lo, hi int) Input[F] {
	if x.Sparse == nil {
		cols := x.Full.Cols
		return Input[F]{Full: Panel[F]{Rows: hi - lo, Cols: cols, Val: x.Full.Val[lo*cols : hi*cols]}}
	}
	st := x.Sparse
	ptr, from, to := PartOf(st.Ptr, lo, hi)
	return Input[F]{Sparse: &sparse.Typed[F]{Structure: sparse.Structure{NRows: hi - lo, NCols: st.NCols, Format: sparse.CSR,
		NVals: to - from, Ptr: ptr, Idx: st.Idx[from:to]}, Val: st.Val[from:to]}}
}

// PartOf returns the offsets of rows lo … hi−1, from 0 on, and the range of their entries.
func PartOf(ptr []int64, lo, hi int) (part []int64, from, to int64) {
	part = slices.Clone(ptr[lo : hi+1])
	from, to = ptr[lo], ptr[hi]
	for k := range part {
		part[k] -= from
	}
	return part, from, to
}
