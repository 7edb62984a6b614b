package embed

import (
	"context"
	"math"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/search"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/philox"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/splitmix"
	"gonum.org/v1/gonum/blas/gonum"
)

// The parts of the vertices: P² blocks of pairs; P blocks are trained at a time.
const (
	partVertices = 256 // of a part, about
	mostParts    = 32
	poolChunks   = 64 // of a pool of walks, each of which lists its pairs
)

// The table of σ.
const (
	sigmaEnd   = 8
	sigmaSteps = 128 // for an argument of 1
)

// A pair is a vertex and a vertex of its context.
type pair struct{ own, context int32 }

// trainer is the state of Embed.
type trainer struct {
	o            *EmbedOptions
	n, dims      int
	own, context []float32 // vectors: dims numbers for each vertex
	parts        int
	part         []uint8 // of each vertex
	draws        []aliases
	sigma        []float32 // σ from −sigmaEnd to sigmaEnd

	walks  []int32 // of the pool, Length vertices for each
	sorted []pair  // of the pool, by block
	taken  int64   // walks before the pool
	total  int64
	pools  uint64
	pairs  int64

	loss, lossOf float64 // of the epoch
}

// newTrainer returns a trainer with random vectors for n vertices.
func newTrainer(g rep.View, n int, o *EmbedOptions) (*trainer, error) {
	if err := workflow.Fetch(g); err != nil {
		return nil, err
	}
	rows := g.Rows()
	if err := g.Err(); err != nil {
		return nil, err
	}
	t := &trainer{o: o, n: n, dims: o.Dimensions, parts: max(1, min(n/partVertices, mostParts)), part: make([]uint8, n)}
	t.own, t.context = make([]float32, n*t.dims), make([]float32, n*t.dims)
	seed := splitmix.Mix(o.Seed + 1)
	for k := range t.own {
		t.own[k] = (float32(splitmix.At(uint64(k), seed)>>40)/(1<<24) - .5) / float32(t.dims)
	}
	for k := range 2 * sigmaEnd * sigmaSteps {
		x := (float64(k)+.5)/sigmaSteps - sigmaEnd
		t.sigma = append(t.sigma, float32(1/(1+math.Exp(-x))))
	}
	edges := make([]int64, n) // to each vertex
	for _, v := range rows.Idx {
		edges[v]++
	}
	t.draws = make([]aliases, t.parts)
	for v := range n {
		p, _ := philox.Below(splitmix.At(uint64(v), o.Seed), uint64(t.parts))
		t.part[v] = uint8(p)
		t.draws[p].add(int32(v), math.Pow(1+float64(edges[v]), .75))
	}
	for p := range t.draws {
		t.draws[p].complete()
	}
	return t, nil
}

// add adds walks to the pool, and trains on it when it is full. Pools do not depend on the sizes of
// blocks, which differ between places.
func (t *trainer) add(ctx context.Context, b search.SearchBlock) error {
	most := max(1, t.o.cells/t.o.Length) * t.o.Length
	for list := b.Vertices; len(list) > 0; {
		some := min(len(list), most-len(t.walks))
		t.walks = append(t.walks, list[:some]...)
		list = list[some:]
		if len(t.walks) == most {
			if err := t.flush(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush trains on the pool and empties it.
func (t *trainer) flush(ctx context.Context) error {
	starts, err := t.sortPairs(ctx)
	if err != nil {
		return err
	}
	taken := int64(len(t.walks) / t.o.Length)
	for round := range t.parts {
		done := (float64(t.taken) + float64(taken)*float64(round)/float64(t.parts)) / float64(t.total)
		rate := float32(t.o.Rate * max(1-done, 1e-4))
		loss, of := make([]float64, t.parts), make([]float64, t.parts)
		err := parallel.Pieces(ctx, t.o.Threads, t.parts, func(_, p int) {
			q := (p + round) % t.parts
			block := p*t.parts + q
			d := descent{trainer: t, rate: rate, negatives: &t.draws[q], gradient: make([]float32, t.dims),
				seed: splitmix.At(t.pools<<20|uint64(block), splitmix.Mix(t.o.Seed+2))}
			d.train(t.sorted[starts[block]:starts[block+1]])
			loss[p], of[p] = d.loss, d.lossOf
		})
		if err != nil {
			return err
		}
		for p := range loss {
			t.loss, t.lossOf = t.loss+loss[p], t.lossOf+of[p]
		}
	}
	t.pairs += int64(len(t.sorted))
	t.taken += taken
	t.pools++
	t.walks = t.walks[:0]
	workflow.Report(t.o.Run, "embed", t.taken, t.total)
	return nil
}

// sortPairs lists the pairs of the pool by block, in a block in the order of walks. It returns
// where each block begins.
func (t *trainer) sortPairs(ctx context.Context) (starts []int64, err error) {
	count, blocks := len(t.walks)/t.o.Length, t.parts*t.parts
	places := make([][]int64, poolChunks) // of each chunk: pairs of each block, then their places
	each := func(use func(chunk int, p pair)) error {
		return parallel.Pieces(ctx, t.o.Threads, poolChunks, func(_, c int) {
			for w := c * count / poolChunks; w < (c+1)*count/poolChunks; w++ {
				t.pairsOf(w, func(p pair) { use(c, p) })
			}
		})
	}
	for c := range places {
		places[c] = make([]int64, blocks)
	}
	if err := each(func(c int, p pair) { places[c][t.block(p)]++ }); err != nil {
		return nil, err
	}
	starts = make([]int64, blocks+1)
	sum := int64(0)
	for b := range blocks {
		starts[b] = sum
		for c := range places {
			places[c][b], sum = sum, sum+places[c][b]
		}
	}
	starts[blocks] = sum
	if int64(cap(t.sorted)) < sum {
		t.sorted = make([]pair, sum+sum/8)
	}
	t.sorted = t.sorted[:sum]
	return starts, each(func(c int, p pair) {
		at := &places[c][t.block(p)]
		t.sorted[*at] = p
		*at++
	})
}

func (t *trainer) block(p pair) int { return int(t.part[p.own])*t.parts + int(t.part[p.context]) }

// pairsOf calls use with the pairs of walk w of the pool.
func (t *trainer) pairsOf(w int, use func(pair)) {
	length := t.o.Length
	walk := t.walks[w*length : (w+1)*length]
	seed := splitmix.At(uint64(t.taken)+uint64(w), splitmix.Mix(t.o.Seed+3))
	for k, v := range walk {
		if v < 0 {
			return
		}
		reach, _ := philox.Below(splitmix.At(uint64(k), seed), uint64(t.o.Window))
		for j := max(0, k-int(reach)-1); j < min(length, k+int(reach)+2) && walk[j] >= 0; j++ {
			if j != k && walk[j] != v {
				use(pair{walk[j], v})
			}
		}
	}
}

// descent trains on the pairs of a block.
type descent struct {
	*trainer
	rate         float32
	negatives    *aliases
	gradient     []float32 // of a vector of own
	seed         uint64
	loss, lossOf float64
}

// train takes a step for each pair.
func (d *descent) train(pairs []pair) {
	next := uint64(0) // random number
	for k, p := range pairs {
		x := d.own[int(p.own)*d.dims:][:d.dims]
		clear(d.gradient)
		sampled := k&15 == 0
		d.pull(x, p.context, 1, sampled)
		for range d.o.Negatives {
			v := d.negatives.draw(splitmix.At(next, d.seed))
			if next++; v != p.context {
				d.pull(x, v, 0, sampled)
			}
		}
		axpy(1, d.gradient, x)
	}
}

// pull moves the context vector of v towards x if label is 1, and away from it if label is 0. It
// adds to the gradient of x.
func (d *descent) pull(x []float32, v int32, label float32, sampled bool) {
	y := d.context[int(v)*d.dims:][:d.dims]
	dot := gonum.Implementation{}.Sdot(d.dims, x, 1, y, 1)
	chance := d.logistic(dot)
	if sampled {
		d.loss -= math.Log(math.Abs(float64(chance-1+label)) + 1e-9)
		d.lossOf += float64(label)
	}
	step := d.rate * (label - chance)
	axpy(step, y, d.gradient)
	axpy(step, x, y)
}

// logistic returns σ(x) by a table; math.Exp takes a fifth of the descent.
func (t *trainer) logistic(x float32) float32 {
	switch {
	case !(x > -sigmaEnd):
		return 0
	case x >= sigmaEnd:
		return 1
	}
	return t.sigma[int((x+sigmaEnd)*sigmaSteps)]
}

// axpy adds a·x to y.
func axpy(a float32, x, y []float32) { gonum.Implementation{}.Saxpy(len(x), a, x, 1, y, 1) }

// aliases draws vertices in proportion to their weights by an alias table (Walker 1977).
type aliases struct {
	vertex, alias []int32
	share         []float64 // weights, then chances of vertex in its slot
}

func (a *aliases) add(v int32, weight float64) {
	a.vertex, a.share = append(a.vertex, v), append(a.share, weight)
}

// complete makes the table.
func (a *aliases) complete() {
	sum, count := 0.0, float64(len(a.share))
	for _, w := range a.share {
		sum += w
	}
	a.alias = make([]int32, len(a.share))
	var light, heavy []int
	for k, w := range a.share {
		a.share[k] = w / sum * count
		a.alias[k] = a.vertex[k]
		if a.share[k] < 1 {
			light = append(light, k)
		} else {
			heavy = append(heavy, k)
		}
	}
	for len(light) > 0 && len(heavy) > 0 {
		l, h := light[len(light)-1], heavy[len(heavy)-1]
		light = light[:len(light)-1]
		a.alias[l] = a.vertex[h]
		a.share[h] -= 1 - a.share[l]
		if a.share[h] < 1 {
			light, heavy = append(light, h), heavy[:len(heavy)-1]
		}
	}
	for _, k := range append(light, heavy...) { // 1 but for rounding
		a.share[k] = 1
	}
}

// draw returns a vertex by a random number.
func (a *aliases) draw(x uint64) int32 {
	k, rest := philox.Below(x, uint64(len(a.vertex)))
	if float64(rest>>11)/(1<<53) < a.share[k] {
		return a.vertex[k]
	}
	return a.alias[k]
}
