package program

import (
	"context"
	"fmt"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/model"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/program/internal/host"
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
	Phase     int    // of Program.Phases
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
	return resultOf[V](runHere(ctx, a.Inside(), in, o))
}

func isGroup(at matrix.Place) bool {
	_, is := at.(*comm.Group)
	return is
}

// runHere runs a program on a graph on the host or on a group.
func runHere(ctx context.Context, a rep.View, in *outline, o Options) (*outcome, error) {
	if o.Numbers != nil {
		_, n := a.Dims()
		at, err := in.numbers(o.Numbers, n)
		if err != nil {
			return nil, err
		}
		for _, p := range in.steps() {
			seeds := make([]int, len(p.Seeds))
			for k, v := range p.Seeds {
				seeds[k] = int(at[v])
			}
			p.Seeds = seeds
		}
	}
	if g, is := a.Place().(*comm.Group); is {
		return runOnGroup(ctx, g, a, in, o)
	}
	plan, err := hostPlan(in.Name, o.Plan)
	if err != nil {
		return nil, err
	}
	var engines []*host.Engine
	for _, p := range in.steps() {
		along := a
		if p.reverse {
			along = a.T()
		}
		e := host.New(ctx, along, &p.Program, p.fn, o.Threads, plan)
		if o.Numbers != nil {
			e.Deg = make([]int32, e.N)
			for v := range e.Deg {
				e.Deg[v] = e.Degree(int32(v))
			}
			e.Ids = o.Numbers
		}
		engines = append(engines, e)
	}
	return runOnHost(in, o, engines)
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

// hostPlan reads Options.Plan for a graph on the host.
func hostPlan(program, plan string) (host.Direction, error) {
	switch plan {
	case "", "auto":
		return host.Auto, nil
	case "push":
		return host.Push, nil
	case "pull":
		return host.Pull, nil
	}
	return host.Auto, &PlanError{program, plan, "is not a plan of the host", "use auto, push or pull, or move the graph to a device"}
}
