// Package host runs the supersteps of graph programs on the host. It moves states and messages and
// never computes with them: an engine has no element types and is compiled once. The functions of a
// program come as [Functions], which loop over lists of vertices and over the edges of a vertex, so
// that the engine calls them once a list and not once an edge.
package host

import (
	"context"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/program/internal/halo"
)

// Round is what functions know of a run.
type Round struct {
	Superstep int
	N         int
	Total     []float64
}

// Program is what an engine knows of a program.
type Program struct {
	Name           string
	State, Message *sparse.Type

	Value      sparse.Values // one first state of all vertices; none: Init makes states
	Active     bool          // all vertices begin active; else the seeds do
	Seeds      []int         // vertices with a first state of their own
	SeedStates []unsafe.Pointer
	InitSeeds  bool // Init makes the states of seeds too

	Sends, Edges, Messages, Skips, Everywhere, Idempotent bool

	Sum              *cpu.Sum      // nil of the zero value
	Product, Flipped *cpu.Semiring // the messages of edges and their sums; nil of functions
	Totals           int
	Priority         bool
	Width            float64

	// Convert converts the values of edges for the functions; nil leaves them.
	Convert func(*sparse.Store) *sparse.Store
}

// Any reports whether one message determines a sum.
func (p *Program) Any() bool { return p.Sum != nil && p.Sum.Any }

func (p *Program) edges(s *sparse.Store) *sparse.Store {
	if p.Convert != nil {
		return p.Convert(s)
	}
	return s
}

// Functions are the functions of a program for one thread. Each reads the states, messages and
// values of edges as values of the program's types.
type Functions interface {
	// Fork returns the functions for another thread.
	Fork() Functions
	// Sum returns the monoid of the messages, nil of a program without one.
	Sum() *cpu.Monoid
	// Init sets the first states of vertices, and Skip whether they take no messages (Closed).
	Init(k *Worker, list []int32)
	Skip(k *Worker, list []int32)
	// Send sets the messages of vertices (Mail).
	Send(k *Worker, list []int32)
	// In puts the messages of the edges from the vertices of from to v into Buf, and returns their
	// number. Vertices that marks does not have send none; nil marks have all. With first, it stops
	// at the first message.
	In(k *Worker, v int32, from []int32, weights sparse.Values, marks []uint8, first bool) int
	// Out puts the messages of the edges from u to the vertices of to that are not closed into Buf.
	// It returns their destinations: to, or a part of it in To.
	Out(k *Worker, u int32, to []int32, weights sparse.Values) []int32
	// Apply applies the sum of each vertex v, at sums[v−base]. It returns the vertices that are
	// active next in next, which has room.
	Apply(k *Worker, list []int32, sums sparse.Values, base int32, next []int32) []int32
	// Terms sets the terms of total t of vertices lo, lo+1, …
	Terms(k *Worker, t, lo int, to []float64)
	// Priorities sets the priorities of vertices.
	Priorities(k *Worker, list []int32, to []float64)
	// Edges runs the function of whole edge lists on vertices, which fills the box.
	Edges(k *Worker, list []int32, box *Outbox)
	// Messages writes what a list of messages to v comes to.
	Messages(k *Worker, v int32, mail sparse.Values, to unsafe.Pointer)
	// Failed returns the first error of the functions.
	Failed() error
}

// Engine runs a program on the host.
type Engine struct {
	P       *Program
	Ctx     context.Context
	Threads int
	N       int
	Plan    Direction
	Out, In *sparse.Store // edges by source; by destination, nil until the first pull
	Graph   rep.View      // gives In

	// A rank of a group has vertices 0 … N−1 of its own numbering.
	Ids    []int32 // their numbers for functions; nil for the whole graph
	Deg    []int32 // their out-degrees there
	Sparse bool    // some vertex of the whole graph is not active

	Round  Round
	State  sparse.Values
	Mail   sparse.Values // with Sends: the message of each active vertex
	Closed []uint8       // with Skips: 1 for a vertex that takes no messages
	Idle   []uint8       // with Edges: 1 for each edge that is not active

	any     bool
	front   frontier
	delayed delayed
	// sums and hit hold the sum of messages, and whether there are any. Between supersteps they
	// are the identity and 0.
	sums sparse.Values
	hit  []uint8
	next []uint8 // marks of the next frontier; 0 between supersteps

	bands   []int32 // push: boundaries of the destinations of each worker
	cuts    []int   // pull: boundaries of pieces of rows
	wanted  int     // supersteps that would have pulled
	boxes   []Outbox
	ptr     []int64 // lists: messages to each vertex
	workers []*Worker
}

// Worker is what one thread keeps.
type Worker struct {
	*Engine
	Buf sparse.Values // messages of a batch
	To  []int32       // their destinations, where some are left out

	fn   Functions
	sum  *cpu.Monoid
	from []int32       // places in a batch
	some []int32       // vertices of a batch
	ptr  []int64       // offsets of the rows of a batch
	ys   sparse.Values // their sums
	term []float64

	// The next frontier.
	count, edges int64
}

// Batch is the number of messages that are summed by one call of a kernel.
const Batch = 2048

// block is the number of vertices of a task.
const block = 4096

// New returns an engine for a graph.
func New(ctx context.Context, a rep.View, p *Program, fn Functions, threads int, plan Direction) *Engine {
	e := Of(ctx, p.edges(halo.WithOffsets(a.Rows())), p, fn, threads)
	e.Plan, e.Graph = plan, a
	return e
}

// OfPart returns an engine for edges by destination.
func OfPart(in *sparse.Store, p *Program, fn Functions, threads int, plan Direction) *Engine {
	e := Of(nil, p.edges(in.Transpose(threads)), p, fn, threads)
	e.Plan, e.In = plan, p.edges(in)
	return e
}

// Of returns an engine for edges by source.
func Of(ctx context.Context, out *sparse.Store, p *Program, fn Functions, threads int) *Engine {
	e := &Engine{P: p, Out: out, Ctx: ctx, Threads: parallel.Threads(threads), N: out.NRows, any: p.Any()}
	e.workers = make([]*Worker, e.Threads)
	for w := range e.workers {
		if w > 0 {
			fn = fn.Fork()
		}
		e.workers[w] = &Worker{Engine: e, fn: fn, sum: fn.Sum()}
	}
	e.Round = Round{Superstep: -1, N: e.N, Total: make([]float64, p.Totals)}
	e.State, e.next = p.State.Zeroed(int64(e.N)), make([]uint8, e.N)
	if p.Sends {
		e.Mail = p.Message.Zeroed(int64(e.N))
	}
	if p.Skips {
		e.Closed = make([]uint8, e.N)
	}
	if p.Edges {
		e.Idle = make([]uint8, len(out.Idx))
	}
	if e.lists() {
		e.ptr = make([]int64, e.N+1)
	}
	return e
}

// lists reports whether supersteps have functions of whole lists.
func (e *Engine) lists() bool { return e.P.Edges || e.P.Messages }

// Degree returns the out-degree of a vertex of the engine.
func (e *Engine) Degree(v int32) int32 { return int32(e.Out.Ptr[v+1] - e.Out.Ptr[v]) }

// Number returns the number and the out-degree of a vertex for functions.
func (e *Engine) Number(v int32) (id, degree int32) {
	if e.Ids != nil {
		return e.Ids[v], e.Deg[v]
	}
	return v, e.Degree(v)
}

// Failed returns the first error of the functions.
func (e *Engine) Failed() error { return e.workers[0].fn.Failed() }

func (k *Worker) room() {
	if k.To == nil {
		t := k.P.Message
		k.Buf, k.ys = t.Zeroed(Batch+8), t.Zeroed(Batch)
		k.To, k.from, k.some = make([]int32, Batch+8), make([]int32, Batch+8), make([]int32, Batch)
		k.ptr = make([]int64, Batch+1)
	}
}

// vertices calls fn for lists of all vertices.
func (e *Engine) vertices(fn func(k *Worker, list []int32)) error {
	return e.ranges(func(k *Worker, lo, hi int) { k.listed(lo, hi, func(list []int32) { fn(k, list) }) })
}

// ranges calls fn for ranges of all vertices.
func (e *Engine) ranges(fn func(k *Worker, lo, hi int)) error {
	return parallel.Range(e.Ctx, e.Threads, e.N, block, func(w, lo, hi int) {
		e.workers[w].room()
		fn(e.workers[w], lo, hi)
	})
}

// listed calls fn for lists of vertices lo … hi−1.
func (k *Worker) listed(lo, hi int, fn func(list []int32)) {
	for lo < hi {
		list := k.some[:min(Batch, hi-lo)]
		for j := range list {
			list[j] = int32(lo + j)
		}
		fn(list)
		lo += len(list)
	}
}

// Start sets the states and the first frontier, which the seeds name by the engine's numbers.
func (e *Engine) Start() error {
	p, t := e.P, e.P.State
	var err error
	if !p.Value.None() {
		err = e.ranges(func(_ *Worker, lo, hi int) { t.Fill(t.Slice(e.State, int64(lo), int64(hi)), p.Value) })
	} else {
		err = e.vertices(func(k *Worker, list []int32) { k.fn.Init(k, list) })
	}
	if err != nil {
		return err
	}
	if p.Active {
		e.ActivateAll()
	}
	for k, v := range p.Seeds {
		if !p.InitSeeds {
			t.CopyTo(t.At(e.State, int64(v)), p.SeedStates[k])
		}
		if !p.Active && e.next[v] == 0 {
			e.next[v] = 1
			e.front.list = append(e.front.list, int32(v))
			e.front.count++
			e.front.edges += int64(e.Degree(int32(v)))
		}
	}
	for _, v := range e.front.list {
		e.next[v] = 0
	}
	e.front.sort()
	return e.CloseAll()
}

// CloseAll sets whether vertices take no messages, from their states.
func (e *Engine) CloseAll() error {
	if !e.P.Skips {
		return nil
	}
	return e.vertices(func(k *Worker, list []int32) { k.fn.Skip(k, list) })
}

// Close is CloseAll of a list of vertices.
func (e *Engine) Close(list []int32) {
	if e.P.Skips {
		e.workers[0].fn.Skip(e.workers[0], list)
	}
}

// Superstep runs a superstep and returns the name of its plan.
func (e *Engine) Superstep() (plan string, err error) {
	for _, k := range e.workers {
		k.count, k.edges = 0, 0
		k.room()
	}
	if e.lists() {
		return "lists", e.byLists()
	}
	d := e.direction()
	if e.hit == nil && !(d == Pull && e.P.Sends) {
		e.sums, e.hit = e.P.Message.Filled(int64(e.N), e.workers[0].sum.Identity), make([]uint8, e.N)
	}
	if err := e.sends(); err != nil {
		return "", err
	}
	if d == Pull {
		return d.String(), e.pull()
	}
	return d.String(), e.push()
}

// sends computes the messages of Send.
func (e *Engine) sends() error {
	switch {
	case !e.P.Sends:
		return nil
	case e.front.list != nil && !e.front.all:
		return parallel.Range(e.Ctx, e.Threads, len(e.front.list), block, func(w, lo, hi int) {
			k := e.workers[w]
			k.fn.Send(k, e.front.list[lo:hi])
		})
	}
	marks := e.front.marked(e.N)
	if marks == nil {
		return e.vertices(func(k *Worker, list []int32) { k.fn.Send(k, list) })
	}
	return e.ranges(func(k *Worker, lo, hi int) {
		for ; lo < hi; lo += Batch {
			k.fn.Send(k, appendMarked(k.some[:0], marks, lo, min(lo+Batch, hi)))
		}
	})
}

// apply applies the sums of vertices, at sums[v−base], and marks those that are active next.
func (k *Worker) apply(list []int32, sums sparse.Values, base int32) {
	for _, v := range k.applied(list, sums, base) {
		k.Engine.next[v] = 1
	}
}

// applied is apply without the marks: it returns the vertices that are active next.
func (k *Worker) applied(list []int32, sums sparse.Values, base int32) []int32 {
	next := k.fn.Apply(k, list, sums, base, k.from)
	k.count += int64(len(next))
	for _, v := range next {
		k.edges += int64(k.Degree(v))
	}
	return next
}

// applySums applies the sums of vertices that have messages, with Everywhere of all, among lo …
// hi−1, and empties the sums.
func (k *Worker) applySums(lo, hi int) {
	for ; lo < hi; lo += Batch {
		end := min(lo+Batch, hi)
		list := k.some[:0]
		if k.P.Everywhere {
			for v := lo; v < end; v++ {
				list = append(list, int32(v))
			}
		} else {
			list = appendMarked(list, k.hit, lo, end)
		}
		k.apply(list, k.sums, 0)
		k.empty(list)
	}
}

// empty empties the sums of vertices.
func (k *Worker) empty(list []int32) {
	k.P.Message.FillAt(k.sums, list, k.sum.Identity)
	for _, v := range list {
		k.hit[v] = 0
	}
}

// advance makes the marks in next the frontier.
func (e *Engine) advance() {
	f := frontier{}
	for _, k := range e.workers {
		f.count += k.count
		f.edges += k.edges
	}
	if e.P.Priority {
		f.list = appendMarked(make([]int32, 0, f.count), e.next, 0, e.N)
		clear(e.next)
		e.front = f
		e.delay()
		return
	}
	switch old := e.front.marks; {
	case f.count == int64(e.N):
		f.all = true
		clear(e.next)
	default:
		f.marks = e.next
		if old == nil {
			old = make([]uint8, e.N)
		}
		clear(old)
		e.next = old
	}
	e.front = f
}

// Terms sets the terms of total t of vertices lo … hi−1 of the engine, or with whole the sum of
// these terms, which is to[0].
func (e *Engine) Terms(w, t, lo, hi int, whole bool, to []float64) {
	k := e.workers[w]
	if !whole {
		k.fn.Terms(k, t, lo, to)
		return
	}
	if k.term == nil {
		k.term = make([]float64, block)
	}
	sum := 0.0
	for ; lo < hi; lo += block {
		terms := k.term[:min(block, hi-lo)]
		k.fn.Terms(k, t, lo, terms)
		for _, x := range terms {
			sum += x
		}
	}
	to[0] = sum
}

func bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}
