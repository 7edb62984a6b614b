// Package embed embeds vertices by walks: vertices that walks visit close together get similar
// vectors.
package embed

import (
	"context"
	"fmt"
	"math"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/search"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/philox"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/internal/splitmix"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// EmbedOptions are the settings of Embed.
type EmbedOptions struct {
	workflow.Run
	Dimensions int // of a vector; 0 means 128
	// Window is the largest distance in a walk of two vertices that make a pair; 0 means 10. The
	// distance for a vertex of a walk is drawn from 1 to Window.
	Window    int
	Negatives int     // vertices drawn for each pair; 0 means 5
	Epochs    int     // rounds, each with new walks; 0 means 1
	Rate      float64 // of the descent, at its begin; it falls to 1e-4 of it. 0 means 0.025
	Length    int     // vertices of a walk; 0 means 80
	PerStart  int     // walks from each vertex in a round; 0 means 10
	// Return and InOut are p and q of node2vec, 0 means 1; see SearchOptions. Weighted walks step
	// in proportion to the values of edges.
	Return, InOut float64
	Weighted      bool
	Seed          uint64

	cells int // of walks in a pool; 0 but in tests
}

// An Embedding is the result of Embed.
type Embedding struct {
	Vectors *matrix.Matrix[float32] // n×Dimensions, full, where the graph lives
	Pairs   int64                   // on which the vectors were trained
	Loss    float64                 // mean over a sixteenth of the pairs of the last epoch; NaN without pairs
}

// Embed returns a vector for each vertex of a graph such that vertices are similar if random walks
// visit them close together: skip-gram with negative sampling (Mikolov, Sutskever, Chen, Corrado,
// Dean: Distributed representations of words and phrases, NIPS 2013) over walks in place of
// sentences (Perozzi, Al-Rfou, Skiena: DeepWalk, KDD 2014; Grover, Leskovec: node2vec, KDD 2016).
// Walks follow edges from row to column. The vector of a vertex without edges stays near 0.
//
// A pair of vertices u and v of a walk adds −log σ(x(u)·y(v)) to the loss, and −log σ(−x(u)·y(w))
// for each negative w. x are the vectors of the result, and y others of the context. Negatives are
// drawn in proportion to (1 + edges to w)^¾.
//
// Walks run where the graph lives; the descent runs on the host. It is stochastic and sequential in
// each of P² blocks of pairs, by the parts of u and v, and takes P blocks without a common part at
// a time (Zhu, Xu, Qu, Tang: GraphVite, WWW 2019); negatives come from the part of v. P depends on
// the number of vertices alone, so that vectors do not depend on threads. On a group every process
// trains all vectors, by walks of all ranks.
//
// Embed returns a *ParameterError if the vectors diverge.
//
// O(walks × Length × Window × Negatives × Dimensions) time. Memory: 8·Dimensions bytes a vertex,
// and 16 bytes for each pair of a pool of walks, of at most 2¹⁹ vertices.
func Embed[T semiring.Element](g matrix.Source[T], opts ...EmbedOptions) (*Embedding, error) {
	return embed(workflow.Inside(g), func(starts []int, o search.SearchOptions) (*search.SearchResult, error) {
		return search.GraphSearch(g, nil, starts, o)
	}, opts)
}

// walker takes walks over a graph.
type walker func(starts []int, o search.SearchOptions) (*search.SearchResult, error)

func embed(g rep.View, walks walker, opts []EmbedOptions) (*Embedding, error) {
	const app = "Embed"
	o, err := workflow.OnlyPipeline(app, opts)
	if err != nil {
		return nil, err
	}
	n, err := workflow.Square(app, workflow.Pattern(g))
	if err != nil {
		return nil, err
	}
	if err := o.complete(app); err != nil {
		return nil, err
	}
	workflow.Announce(o.Run, app, "skip-gram")
	place := g.Place()
	t, err := newTrainer(g, n, &o)
	if err != nil {
		return nil, err
	}
	if err := t.trainOn(walks); err != nil {
		return nil, err
	}
	for _, x := range t.own {
		if !(math.Abs(float64(x)) <= math.MaxFloat32) {
			return nil, &workflow.ParameterError{App: app, Arg: "the rate", Got: fmt.Sprint(o.Rate), Want: "a lower one: the vectors diverge"}
		}
	}
	res := &Embedding{Pairs: t.pairs, Loss: math.NaN(), Vectors: access.FromStore(&sparse.Typed[float32]{Structure: sparse.Structure{
		NRows: n, NCols: o.Dimensions, Format: sparse.Full, NVals: int64(n) * int64(o.Dimensions)}, Val: t.own})}
	if t.lossOf > 0 {
		res.Loss = t.loss / t.lossOf
	}
	if o.Trace != nil {
		o.Trace(ops.Trace{Op: app, Method: "blocks", Work: t.pairs})
	}
	return res, res.Vectors.Move(place)
}

// complete sets the defaults and checks the settings; GraphSearch checks the settings of walks.
func (o *EmbedOptions) complete(app string) error {
	for _, f := range []struct {
		arg  string
		x    *int
		to   int
		most int
	}{{"the number of dimensions", &o.Dimensions, 128, 1 << 16}, {"the window", &o.Window, 10, 1 << 16},
		{"the number of negatives", &o.Negatives, 5, 1 << 16}, {"the number of epochs", &o.Epochs, 1, math.MaxInt32},
		{"the length of walks", &o.Length, 80, 1 << 24}, {"the number of walks from a vertex", &o.PerStart, 10, math.MaxInt32}} {
		if *f.x == 0 {
			*f.x = f.to
		}
		if *f.x < 1 || *f.x > f.most {
			return &workflow.ParameterError{App: app, Arg: f.arg, Got: fmt.Sprint(*f.x), Want: fmt.Sprintf("1 to %d, or 0 for %d", f.most, f.to)}
		}
	}
	if o.Rate == 0 {
		o.Rate = .025
	}
	if !(o.Rate > 0 && o.Rate <= math.MaxFloat32) {
		return &workflow.ParameterError{App: app, Arg: "the rate", Got: fmt.Sprint(o.Rate), Want: "a positive number, or 0 for 0.025"}
	}
	if o.cells == 0 {
		o.cells = 1 << 19
	}
	return nil
}

// trainOn trains on walks from all vertices, in a new order in each pass.
func (t *trainer) trainOn(walks walker) error {
	o := t.o
	ctx := o.Context
	if ctx == nil {
		ctx = context.Background()
	}
	t.total = int64(o.Epochs) * int64(o.PerStart) * int64(t.n)
	workflow.Report(o.Run, "embed", 0, t.total)
	for epoch := range o.Epochs {
		t.loss, t.lossOf = 0, 0
		for pass := range o.PerStart {
			seed := splitmix.At(uint64(epoch)<<32|uint64(pass), o.Seed)
			s := search.SearchOptions{Run: o.Run, Length: o.Length, Seed: seed, Weighted: o.Weighted, Return: o.Return, InOut: o.InOut}
			s.Progress = nil
			s.Each = func(b search.SearchBlock) error { return t.add(ctx, b) }
			if _, err := walks(shuffled(t.n, seed), s); err != nil {
				return err
			}
		}
		if err := t.flush(ctx); err != nil {
			return err
		}
	}
	return nil
}

// shuffled returns the numbers below n in random order.
func shuffled(n int, seed uint64) []int {
	list := make([]int, n)
	for k := range list {
		j, _ := philox.Below(splitmix.At(uint64(k), seed), uint64(k+1))
		list[k] = list[j]
		list[j] = k
	}
	return list
}
