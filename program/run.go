package program

import (
	"context"
	"fmt"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/model"
	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/program/internal/halo"
)

// Options say how a program runs. The zero value uses all threads, chooses plans and has no limit.
type Options struct {
	Threads int // 0: GOMAXPROCS; does not change results. A group has its own; see comm.RankThreads
	// Plan is "" or "auto" for the automatic choice, "push" or "pull" for a direction; for a graph
	// on a device also the text of a plan, as of space.Plan, or one of BufferPlans.
	Plan string
	// Hops is the number of supersteps between two exchanges on a group of ranks: each rank keeps
	// copies of the vertices within so many in-hops of its own, and updates them itself (Zhong and
	// He, TPDS 2014, section 4.3). 0 and 1 exchange after every superstep, AutoHops chooses by
	// Machine. Programs with Totals, Halt, Everywhere or a sum that depends on the order exchange
	// after every superstep whatever Hops is. It does not change results.
	Hops int
	// Numbers are the numbers of the vertices for functions and Seeds, for a graph with vertices in
	// another order, such as the order of apps.ReverseCuthillMcKee: row and state k belong to
	// vertex Numbers[k]. nil is 0, 1, …. It does not change the states of a program but for sums
	// that depend on the order. Programs with Edges or Messages, and single devices, refuse it.
	Numbers []int32
	// Machine has the figures by which AutoHops chooses; nil measures the exchange on the group.
	Machine *model.Machine
	// MaxSupersteps is the number of supersteps after which a run fails with a *LimitError; 0
	// means no limit. Program.Supersteps is the limit that ends a run without an error.
	MaxSupersteps int
	Progress      func(superstep int, active int64) // called before each superstep; may be nil
	Trace         func(Step)                        // called after each superstep; may be nil
}

// AutoHops lets the model choose Options.Hops; see model.Machine.Cost.
const AutoHops = -1

// Step describes a superstep that ran.
type Step struct {
	Superstep int
	Plan      string // such as "push" or "pull"; "none" if the first rank of a group had no work
	Active    int64  // vertices that sent
	Edges     int64  // their out-edges; 0 on devices
}

// Ended says why a run ended.
type Ended string

// The reasons.
const (
	Quiet  Ended = "no active vertex"
	Halted Ended = "halt"
	Full   Ended = "limit of supersteps"
)

// Result is the result of a run.
type Result[V comparable] struct {
	State      *matrix.Vector[V] // of every vertex
	Supersteps int
	Total      []float64 // of Program.Totals
	Active     int64     // vertices that are still active
	Ended      Ended
}

// An outcome is a Result without the type of the states.
type outcome struct {
	state      rep.View
	supersteps int
	total      []float64
	active     int64
	ended      Ended
}

// limited returns the outcome of a program with a limit of supersteps of its own, and a *LimitError
// if the limit of Options has ended the run.
func (r *outcome) limited(name string, supersteps int) (*outcome, error) {
	if r.ended == Full && supersteps != r.supersteps {
		return r, &LimitError{name, r.supersteps, r.active}
	}
	return r, nil
}

// limitOf returns the lesser of two limits of supersteps. A limit of 0 is no limit.
func limitOf(x, y int) int {
	if x == 0 || y == 0 {
		return max(x, y)
	}
	return min(x, y)
}

// resultOf returns an outcome as a Result, nil for nil, and the error.
func resultOf[V comparable](out *outcome, err error) (*Result[V], error) {
	if out == nil {
		return nil, err
	}
	return &Result[V]{State: matrix.VectorOfInside[V](out.state), Supersteps: out.supersteps, Total: out.total,
		Active: out.active, Ended: out.ended}, err
}

// Run runs a program on a square matrix g; entry (i, j) is the edge from i to j. ctx may be nil;
// when it ends, Run returns its error. O(edges of active vertices) a superstep; a pull takes
// O(edges) and needs the transpose, which g keeps. The states live where g does. On a device the
// program needs CUDA text, sums in floating point round as the plan says, the sum any returns any
// message, and Priority holds with auto and push only, and not with Edges or Messages.
//
// On a group each rank runs the program on its vertices and copies of their in-neighbours. Results
// on ranks of the host equal the results of one place, bit for bit; a sum that depends on the order
// is pulled unless Plan says push. Priority is ignored, and a program with Edges is refused. All
// processes of the group call Run with the same arguments, and Halt answers alike on each.
//
// On a group of devices, sums in floating point and Totals may differ in the last bits from the
// results of one device. A program with Edges or Messages, a program with Priority and Hops 0, and
// plans of BufferPlans run whole on each device, which gathers the graph and keeps its block of the
// states; so do groups that do not move memory between devices, or that name one twice.
//
// Errors: *matrix.DimensionError, *ProgramError, *PlanError, *MessageError, and *LimitError
// together with the result so far.
func Run[V, E, M comparable](
	ctx context.Context, g matrix.Source[E], p Program[V, E, M], opts ...Options,
) (*Result[V], error) {
	o, n, err := prepare(p.name(), g, opts)
	if err != nil {
		return nil, err
	}
	a := matrix.AsView[E](g)
	in := p.outline()
	if err := in.check(n); err != nil {
		return nil, err
	}
	if at := a.Place(); at != nil && !isGroup(at) {
		d, err := in.onDevice(a.Inside(), o)
		if err != nil {
			return nil, err
		}
		return resultOf[V](runText(ctx, device.Of(at), a.Inside(), d, o, statesOf[V]))
	}
	return resultOf[V](runHere(ctx, a.Inside(), &p, in, o, func(v []V) (rep.View, error) {
		states, err := matrix.VectorOf(v)
		return states.Inside(), err
	}))
}

func isGroup(at matrix.Place) bool {
	_, is := at.(*comm.Group)
	return is
}

// runHere runs a program on a graph on the host or on a group. result makes the states of a run on
// the host a vector.
func runHere[V, E, M comparable](
	ctx context.Context, a rep.View, p *Program[V, E, M], in *outline, o Options, result func([]V) (rep.View, error),
) (*outcome, error) {
	if o.Numbers != nil {
		_, n := a.Dims()
		at, err := in.numbers(o.Numbers, n)
		if err != nil {
			return nil, err
		}
		numbered(p, at)
		in.seeds, in.seedsAt = p.seeds()
	}
	if g, is := a.Place().(*comm.Group); is {
		return runOnGroup(ctx, g, a, in, o, func(h *halo.Part, edges *halo.Host, o Options, plan direction) hostEngine {
			return engineOfPart(h, edges, p, o, plan)
		})
	}
	e, err := newEngine(ctx, a, p, o)
	if err != nil {
		return nil, err
	}
	return runOnHost(in, o, e, func() (rep.View, error) { return result(e.state) })
}

// An operand is a matrix.Source without its element type.
type operand interface{ Inside() rep.View }

// prepare checks a graph and options. It returns the number of vertices.
func prepare(name string, g operand, opts []Options) (o Options, n int, err error) {
	switch len(opts) {
	case 0:
	case 1:
		o = opts[0]
	default:
		return o, 0, &ProgramError{name, "options", fmt.Sprintf("%d values are given", len(opts)), "give one or none"}
	}
	if o.Hops < AutoHops {
		return o, 0, &ProgramError{name, "Hops", fmt.Sprintf("is %d", o.Hops), "use 1 or more, 0 for 1, or AutoHops"}
	}
	if o.MaxSupersteps < 0 {
		return o, 0, &ProgramError{name, "MaxSupersteps", fmt.Sprintf("is %d", o.MaxSupersteps), "use 0 for no limit"}
	}
	if g == nil {
		return o, 0, (*matrix.View[bool])(nil).Err()
	}
	if err := g.Inside().Err(); err != nil {
		return o, 0, err
	}
	m, n := g.Inside().Dims()
	if m != n {
		return o, 0, &matrix.DimensionError{Op: name, Arg: "the graph", Got: fmt.Sprintf("%d×%d", m, n),
			Want: "square", Remedy: "give an adjacency matrix; of a bipartite graph, one of rows and columns"}
	}
	return o, n, nil
}

// direction of a superstep.
type direction uint8

const (
	auto direction = iota
	push
	pull
)

func (d direction) String() string { return [...]string{"auto", "push", "pull"}[d] }

// hostPlan reads Options.Plan for a graph on the host.
func hostPlan(program, plan string) (direction, error) {
	switch plan {
	case "", "auto":
		return auto, nil
	case "push":
		return push, nil
	case "pull":
		return pull, nil
	}
	return auto, &PlanError{program, plan, "is not a plan of the host", "use auto, push or pull, or move the graph to a device"}
}

// frame is what an engine has without its element types.
type frame struct {
	ctx     context.Context
	o       Options
	threads int
	n       int
	edges   *sparse.Structure // by source

	// A rank of a group has vertices 0 … n−1 of its own numbering.
	ids    []int32 // their numbers for functions; nil for the whole graph
	deg    []int32 // their out-degrees there
	sparse bool    // some vertex of the whole graph is not active

	round   Round
	front   frontier
	delayed delayed
}

// degree returns the out-degree of a vertex.
func (e *frame) degree(v int) int32 { return int32(e.edges.Ptr[v+1] - e.edges.Ptr[v]) }

// engine runs a program on the host.
type engine[V, E, M comparable] struct {
	frame
	p       *Program[V, E, M]
	plan    direction
	g       rep.View         // the graph
	out, in *sparse.Typed[E] // edges by source; by destination, nil until the first pull
	sum     *cpu.MonoidOf[M] // nil with Messages
	any     bool

	state  []V
	mail   []M     // Send: the message of each active vertex
	closed []uint8 // Skip: 1 where it holds
	// sums and hit hold the sum of messages, and whether there are any. Between supersteps they
	// are the identity and 0.
	sums []M
	hit  []uint8
	next []uint8 // marks of the next frontier; 0 between supersteps

	bands   []int32 // push: boundaries of the destinations of each worker
	cuts    []int   // pull: boundaries of pieces of rows
	wanted  int     // supersteps that would have pulled
	lists   *listEngine[V, E, M]
	workers []*worker[V, E, M]
}

func newEngine[V, E, M comparable](
	ctx context.Context, a rep.View, p *Program[V, E, M], o Options,
) (*engine[V, E, M], error) {
	plan, err := hostPlan(p.name(), o.Plan)
	if err != nil {
		return nil, err
	}
	e := engineOf(ctx, p.typed(halo.WithOffsets(a.Rows())), p, o)
	e.plan, e.g = plan, a
	if o.Numbers != nil {
		e.ids, e.deg = o.Numbers, make([]int32, e.n)
		for v := range e.deg {
			e.deg[v] = e.degree(v)
		}
	}
	return e, nil
}

// numbered moves the seeds to their positions.
func numbered[V, E, M comparable](p *Program[V, E, M], at []int32) {
	seeds := make([]Seed[V], len(p.Seeds))
	for k, s := range p.Seeds {
		seeds[k] = Seed[V]{int(at[s.ID]), s.State}
	}
	p.Seeds = seeds
}

// engineOf returns the engine of a graph; its rows are the out-edges.
func engineOf[V, E, M comparable](
	ctx context.Context, out *sparse.Typed[E], p *Program[V, E, M], o Options,
) *engine[V, E, M] {
	e := &engine[V, E, M]{p: p, out: out,
		frame: frame{ctx: ctx, o: o, threads: parallel.Threads(o.Threads), n: out.NRows, edges: &out.Structure}}
	e.any = p.Sum.IsAny()
	e.workers = make([]*worker[V, E, M], e.threads)
	for w := range e.workers {
		k := &worker[V, E, M]{engine: e, p: p, vertex: Vertex{Round: &e.round}}
		if p.fork != nil {
			k.p = p.fork()
		}
		if p.Sum.Valid() {
			k.sum = cpu.TypedMonoid[M](k.p.Sum.Inside().Monoid)
		}
		e.workers[w], e.sum = k, k.sum
	}
	e.round = Round{Superstep: -1, N: e.n, Total: make([]float64, len(p.Totals))}
	e.state, e.next = make([]V, e.n), make([]uint8, e.n)
	if p.Send.Func != nil {
		e.mail = make([]M, e.n)
	}
	if p.Skip.Func != nil {
		e.closed = make([]uint8, e.n)
	}
	if p.Edges.Func != nil || p.Messages.Func != nil {
		e.lists = newLists(e)
	}
	return e
}

// vertices calls fn for ranges of all vertices.
func (e *engine[V, E, M]) vertices(fn func(k *worker[V, E, M], lo, hi int)) error {
	return parallel.Range(e.ctx, e.threads, e.n, block, func(w, lo, hi int) { fn(e.workers[w], lo, hi) })
}

// block is the number of vertices of a task. Totals are sums of sums of blocks.
const block = 4096

// start sets the states and the first frontier, which Seeds name by the engine's numbers.
func (e *engine[V, E, M]) start() error {
	p := e.p
	err := e.vertices(func(k *worker[V, E, M], lo, hi int) {
		for v := lo; v < hi; v++ {
			if p.Init.same {
				e.state[v] = p.Init.value
			} else {
				e.state[v] = k.p.Init.Func(k.at(v))
			}
		}
	})
	if err != nil {
		return err
	}
	if p.Init.Active {
		e.front = frontier{all: true, count: int64(e.n), edges: e.out.NVals}
	}
	for _, s := range p.Seeds {
		if !p.Init.seeds {
			e.state[s.ID] = s.State
		}
		if !p.Init.Active && e.next[s.ID] == 0 {
			e.next[s.ID] = 1
			e.front.list = append(e.front.list, int32(s.ID))
			e.front.count++
			e.front.edges += int64(e.degree(s.ID))
		}
	}
	for _, v := range e.front.list {
		e.next[v] = 0
	}
	e.front.sort()
	if p.Skip.Func != nil {
		err = e.vertices(func(k *worker[V, E, M], lo, hi int) {
			for v := lo; v < hi; v++ {
				e.closed[v] = bit(k.p.Skip.Func(e.state[v]))
			}
		})
	}
	return err
}

func bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// terms writes the terms of Program.Totals of pieces, or their sum of a whole block, to the places
// of the pieces. The engine's numbers of vertices are shift larger.
func (e *engine[V, E, M]) terms(to []float64, list []piece, shift int) error {
	return parallel.Range(e.ctx, e.threads, len(list), 1, func(w, lo, hi int) {
		k := e.workers[w]
		for _, p := range list[lo:hi] {
			for t, f := range e.p.Totals {
				sum, at := 0.0, to[p.at+t*p.width:][:p.width]
				for v := p.lo; v < p.hi; v++ {
					x := f.Func(k.at(v+shift), e.state[v+shift])
					if sum += x; !p.whole {
						at[v-p.lo] = x
					}
				}
				if p.whole {
					at[0] = sum
				}
			}
		}
	})
}
