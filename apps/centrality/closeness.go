package centrality

import (
	"fmt"
	"math/bits"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// ClosenessOptions are the settings of Closeness.
type ClosenessOptions struct {
	workflow.Run
	Targets []int  // the vertices to which distances count; nil means all, or Samples of them
	Samples int    // number of targets drawn at random; 0 means all
	Seed    uint64 // of the draw
	Batch   int    // targets at a time in the pipeline; 0 means 64
}

// ClosenessResult is the result of Closeness, of every vertex.
type ClosenessResult struct {
	Closeness *matrix.Vector[float64]
	Harmonic  *matrix.Vector[float64]
	Reached   *matrix.Vector[int64] // targets that the vertex reaches, without itself
	Distances *matrix.Vector[int64] // sum of the distances to them
	Targets   int                   // number of targets that were used
}

// Closeness returns two centralities of every vertex of g by its distances d to the r vertices that
// it reaches, along edges from row to column. Values are ignored; for distances from the others to
// the vertex give g.T().
//
//	closeness = r/(n−1) · r/Σ d   (0 if r is 0; Wasserman, Faust, 1994, for graphs in parts)
//	harmonic  = Σ 1/d             (Marchiori, Latora, Physica A 285, 2000)
//
// With Targets or Samples, r, Σ d and Σ 1/d over k targets are multiplied by n/k in the formulas:
// an estimate (Eppstein, Wang, Journal of Graph Algorithms and Applications 8, 2004).
//
// Searches run backwards from a batch of targets at a time, a row of F for each:
//
//	F⟨¬S⟩ = F any.pair Aᵀ;   S ∪= F;   r += Σ rows of F,  Σd += level · Σ rows of F
//
// On the host with Method Auto a batch has 256 targets, a bit of each vertex for each (Then et al.:
// The more the merrier, PVLDB 8, 2014). A level with many edges is pulled along the rows of g, one
// with few is pushed. Each thread takes batches, or all threads share the levels of each batch if
// there are two threads or more for a batch. Where few targets reach a vertex at the same distance,
// as on paths, targets are searched from one by one. 96 bytes for each vertex and thread, or for
// each vertex where they share. The order of the harmonic sums depends on the threads, and with it
// the last digits. The kernels of a device search from 64 targets at once; the order of their sums
// does not depend on the device. The ranks of a group take ranges of the targets.
func Closeness[T comparable](g matrix.Source[T], opts ...ClosenessOptions) (*ClosenessResult, error) {
	return closenessOf(g, opts)
}

// closenessOf is Closeness of a graph with values of any type.
func closenessOf(g workflow.Operand, opts []ClosenessOptions) (*ClosenessResult, error) {
	const app = "Closeness"
	o, err := workflow.Only(app, opts)
	if err != nil {
		return nil, err
	}
	a, n, form, err := workflow.Begun(app, "closeness", g, o.Run)
	if err != nil {
		return nil, err
	}
	if o.Batch < 0 {
		return nil, &workflow.ParameterError{App: app, Arg: "the batch", Got: fmt.Sprint(o.Batch), Want: "0 or more"}
	}
	targets, err := sourcesOf(app, o.Targets, o.Samples, o.Seed, n)
	if err != nil {
		return nil, err
	}
	workflow.Announce(o.Run, app, "searches from batches of vertices")
	compute := closenessAt
	if form.Host {
		compute = closenessOnHost
	}
	res, err := closenessByRanges(a, n, targets, o)
	if res == nil && err == nil {
		res, err = compute(a, n, targets, o)
	}
	if err != nil {
		return nil, err
	}
	res.Targets = len(targets)
	var s ops.Steps
	with, here := workflow.With(o.Run), matrix.On(a.Place())
	scale := float64(n) / float64(max(len(targets), 1))
	// closeness = r·(r/Σd) · scale/(n−1); no entry where r is 0, then 0
	r, d, reached := matrix.NewVector[float64](n, here), matrix.NewVector[float64](n, here), matrix.NewVector[int64](n, here)
	s.Do(ops.Select(reached, semiring.ValueGT[int64](0), res.Reached, with))
	s.Do(ops.Apply(r, semiring.Convert[int64, float64](), reached, with))
	s.Do(ops.Apply(d, semiring.Convert[int64, float64](), res.Distances, with))
	s.Do(ops.EWiseMult(d, semiring.Div[float64](), r, d, with))
	s.Do(ops.EWiseMult(d, semiring.Times[float64](), d, r, with))
	if res.Closeness, err = workflow.FullVector(a.Place(), n, 0.0, with); err != nil {
		return nil, err
	}
	plus, times := semiring.Plus[float64](), semiring.Times[float64]()
	s.Do(ops.ApplySecond(res.Closeness.Accum(plus), times, d, scale/float64(max(n-1, 1)), with))
	s.Do(ops.ApplySecond(res.Harmonic, times, res.Harmonic, scale, with))
	if !s.OK() {
		return nil, s.Err()
	}
	return res, nil
}

// closenessAt sums distances where a lives: by the kernels of a device, else by operations.
func closenessAt(a *matrix.View[bool], n int, targets []int32, o ClosenessOptions) (*ClosenessResult, error) {
	if at := device.Of(a.Place()); at != nil && o.Method != workflow.Pipeline {
		return fusedDistances(at, a, n, targets, o)
	}
	batch := o.Batch
	if batch == 0 {
		batch = 64
	}
	with, here := workflow.With(o.Run), matrix.On(a.Place())
	var s ops.Steps
	res := &ClosenessResult{}
	var err error
	res.Reached, err = workflow.FullVector[int64](a.Place(), n, 0, with)
	s.Do(err)
	res.Distances, err = workflow.FullVector[int64](a.Place(), n, 0, with)
	s.Do(err)
	res.Harmonic, err = workflow.FullVector(a.Place(), n, 0.0, with)
	s.Do(err)
	count, share := matrix.NewVector[int64](n, here), matrix.NewVector[float64](n, here)
	plus, times := semiring.Plus[int64](), semiring.Times[int64]()
	for lo := 0; lo < len(targets) && s.OK(); lo += batch {
		workflow.Report(o.Run, "closeness", int64(lo), int64(len(targets)))
		part := targets[lo:min(lo+batch, len(targets))]
		k := len(part)
		start := matrix.NewBuilder[bool](k, n)
		for row, v := range part {
			start.Add(row, int(v), true)
		}
		seen, err := start.Build(nil)
		if err != nil {
			return nil, err
		}
		s.Do(seen.Move(a.Place()))
		frontier := matrix.New[bool](k, n, here)
		s.Do(ops.Apply(frontier, semiring.Identity[bool](), seen, with))
		one, err := workflow.FullVector(a.Place(), k, true, with)
		s.Do(err)
		for level := int64(1); s.OK(); level++ {
			s.Do(ops.MxM(frontier.Masked(seen.Structure().Not()).Replace(), semiring.AnyPair[bool](), frontier.Pattern(), a.T(), with))
			if s.NVals(frontier) == 0 {
				break
			}
			s.Do(ops.EWiseAdd(seen, semiring.Lor(), seen, frontier, with))
			s.Do(ops.VxM(count, semiring.PlusPair[int64](), one.Pattern(), frontier.Pattern(), with))
			s.Do(ops.EWiseAdd(res.Reached, plus, res.Reached, count, with))
			s.Do(ops.ApplySecond(res.Distances.Accum(plus), times, count, level, with))
			s.Do(ops.Apply(share, semiring.Convert[int64, float64](), count, with))
			s.Do(ops.ApplySecond(res.Harmonic.Accum(semiring.Plus[float64]()), semiring.Div[float64](), share, float64(level), with))
		}
	}
	return res, s.Err()
}

// targetWords is the number of words of targets of a batch: a bit for each target.
const targetWords = 4

// targetBatch is the number of targets of a batch.
const targetBatch = 64 * targetWords

type targetSet = [targetWords]uint64

// closenessWorker searches backwards from batches of targets.
type closenessWorker struct {
	out, in            *workflow.Adjacency
	seen, front, next  []targetSet // targets that a vertex reaches; those at this distance; at the next
	active, grown      []int32     // vertices with a bit in front, in next
	reached, distances []int64
	harmonic           []float64
	alone              loneSearch
}

// closenessOnHost sums distances by searches for many targets at once.
func closenessOnHost(a *matrix.View[bool], n int, targets []int32, o ClosenessOptions) (*ClosenessResult, error) {
	out, in := bothWays(a)
	sums, err := sumDistances(out, in, targets, o)
	if err != nil {
		return nil, err
	}
	batches := (len(targets) + targetBatch - 1) / targetBatch
	workflow.Traced(o.Run, "Closeness", "bits", n, int64(batches)*int64(len(out.Idx)))
	return sums.result()
}

// bothWays returns the rows of a matrix and the rows of its transpose, on the host.
func bothWays(a *matrix.View[bool]) (out, in *workflow.Adjacency) {
	out = workflow.RowsOf(a)
	if access.Symmetric(a) || workflow.Symmetric(a) {
		return out, out
	}
	return out, workflow.RowsOf(a.T())
}

// distanceSums are what distances of every vertex to targets add up to.
type distanceSums struct {
	reached, distances []int64
	harmonic           []float64
}

// result returns the sums as vectors.
func (d *distanceSums) result() (res *ClosenessResult, err error) {
	res = &ClosenessResult{}
	if res.Reached, err = matrix.VectorOf(d.reached); err != nil {
		return nil, err
	}
	if res.Distances, err = matrix.VectorOf(d.distances); err != nil {
		return nil, err
	}
	res.Harmonic, err = matrix.VectorOf(d.harmonic)
	return res, err
}

// sumDistances searches from batches of targets.
func sumDistances(out, in *workflow.Adjacency, targets []int32, o ClosenessOptions) (*distanceSums, error) {
	n, batch := out.N, targetBatch
	batches := (len(targets) + batch - 1) / batch
	if 2*batches <= parallel.Threads(o.Threads) {
		return sumTogether(out, in, targets, o)
	}
	crew := make([]*closenessWorker, max(1, min(parallel.Threads(o.Threads), batches)))
	err := workflow.EachPiece(o.Run, "closeness", batches, 1, func(k, lo, _ int) {
		if crew[k] == nil {
			crew[k] = newClosenessWorker(out, in)
		}
		crew[k].batch(targets[lo*batch : min((lo+1)*batch, len(targets))])
	})
	if err != nil {
		return nil, err
	}
	sums := &distanceSums{make([]int64, n), make([]int64, n), make([]float64, n)}
	return sums, parallel.Range(o.Context, o.Threads, n, 1<<12, func(_, lo, hi int) {
		for _, w := range crew {
			if w == nil {
				continue
			}
			for v := lo; v < hi; v++ {
				sums.reached[v] += w.reached[v]
				sums.distances[v] += w.distances[v]
				sums.harmonic[v] += w.harmonic[v]
			}
		}
	})
}

func newClosenessWorker(out, in *workflow.Adjacency) *closenessWorker {
	n := out.N
	return &closenessWorker{out: out, in: in,
		seen: make([]targetSet, n), front: make([]targetSet, n), next: make([]targetSet, n),
		reached: make([]int64, n), distances: make([]int64, n), harmonic: make([]float64, n)}
}

// search adds the distances from all vertices to a batch of targets. A level is pulled where more
// than an eighth of the edges lead into its vertices.
func (c *closenessWorker) search(targets []int32) {
	clear(c.seen)
	clear(c.front)
	full := c.begin(targets)
	for level := int64(1); len(c.active) > 0; level++ {
		edges := int64(0)
		for _, v := range c.active {
			edges += c.in.Degree(v)
		}
		c.grown = c.grown[:0]
		if edges > int64(len(c.in.Idx))/8 {
			c.pull(&full)
		} else {
			c.Push()
		}
		for _, v := range c.active {
			c.front[v] = targetSet{}
		}
		share := 1 / float64(level)
		for _, v := range c.grown {
			c.alone.pairs += int64(c.arrive(v, level, share))
		}
		c.alone.arrivals += int64(len(c.grown))
		c.active, c.grown = c.grown, c.active
	}
}

// begin starts at a batch of targets, and returns the set of all of them.
func (c *closenessWorker) begin(targets []int32) (full targetSet) {
	c.active = c.active[:0]
	for k, v := range targets {
		full[k/64] |= 1 << (k % 64)
		c.seen[v][k/64] |= 1 << (k % 64)
		c.front[v] = c.seen[v]
		c.active = append(c.active, v)
	}
	return full
}

// arrive adds the distances from v to the targets that it reaches at a level, and returns their
// number; share is 1/level.
func (c *closenessWorker) arrive(v int32, level int64, share float64) (count int) {
	x, s := c.next[v], &c.seen[v]
	for k := range x {
		s[k] |= x[k]
		count += bits.OnesCount64(x[k])
	}
	c.front[v], c.next[v] = x, targetSet{}
	c.reached[v] += int64(count)
	c.distances[v] += level * int64(count)
	c.harmonic[v] += share * float64(count)
	return count
}

// Push gives the targets of the frontier to the vertices with an edge into it.
func (c *closenessWorker) Push() {
	for _, v := range c.active {
		x := c.front[v]
		for _, u := range c.in.Of(v) {
			s := &c.seen[u]
			fresh := targetSet{x[0] &^ s[0], x[1] &^ s[1], x[2] &^ s[2], x[3] &^ s[3]}
			if fresh[0]|fresh[1]|fresh[2]|fresh[3] == 0 {
				continue
			}
			y := &c.next[u]
			if y[0]|y[1]|y[2]|y[3] == 0 {
				c.grown = append(c.grown, u)
			}
			y[0], y[1], y[2], y[3] = y[0]|fresh[0], y[1]|fresh[1], y[2]|fresh[2], y[3]|fresh[3]
		}
	}
}

// pull collects the targets of the frontier at the vertices that do not reach all targets yet.
func (c *closenessWorker) pull(full *targetSet) {
	c.grown = c.pullRows(0, int32(len(c.seen)), full, c.grown)
}

// pullRows is pull for the vertices lo … hi−1. It appends those that have new targets to grown.
func (c *closenessWorker) pullRows(lo, hi int32, full *targetSet, grown []int32) []int32 {
	out, seen, front, next := c.out, c.seen, c.front, c.next
	for v := lo; v < hi; v++ {
		s := seen[v]
		if s == *full {
			continue
		}
		var x targetSet
		for _, w := range out.Of(v) {
			y := &front[w]
			x[0], x[1], x[2], x[3] = x[0]|y[0], x[1]|y[1], x[2]|y[2], x[3]|y[3]
		}
		x[0], x[1], x[2], x[3] = x[0]&^s[0], x[1]&^s[1], x[2]&^s[2], x[3]&^s[3]
		if x[0]|x[1]|x[2]|x[3] != 0 {
			next[v] = x
			grown = append(grown, v)
		}
	}
	return grown
}
