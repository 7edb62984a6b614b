package program

import (
	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/semiring"
)

// Program is a graph program over vertex states V, edge values E and messages M.
//
// The functions run on several goroutines at once and must not write to shared memory. Exactly one
// of Send, Gather and Edges gives the messages, and one of Sum and Messages combines them.
type Program[V, E, M comparable] struct {
	Name string // for messages; "" means "program"

	Init  InitFunc[V] // state and activity of each vertex before the first superstep
	Seeds []Seed[V]   // vertices that begin active with a state of their own

	Send   SendFunc[V, M]      // the message that a vertex sends along each out-edge
	Gather GatherFunc[V, E, M] // the message of an edge from an active source
	Edges  EdgesFunc[V, E, M]  // messages of the whole edge list of an active vertex

	Sum      semiring.Monoid[M] // combines the messages to a vertex
	Messages MessagesFunc[V, M] // combines the whole list of messages to a vertex

	// Apply runs on each vertex that has a message, with Everywhere on each vertex. Vertices on
	// which it does not run keep their state and become inactive.
	Apply      ApplyFunc[V, M]
	Everywhere bool
	// Skip holds for vertices that take no messages: Apply does not run on them. It depends on the
	// state only.
	Skip SkipFunc[V]

	// Idempotent says that a message that was sent before changes no state if it is sent again, as
	// in searches for a least value. Pulls then collect the messages of all vertices without a test
	// whether they are active, and the number of supersteps may depend on the plan.
	Idempotent bool

	// Totals are sums over all vertices, computed before the first superstep and after each one.
	// Functions of a vertex read them as Vertex.Total.
	Totals []TotalFunc[V]
	// Halt ends the run after a superstep if it returns true. It may be nil. superstep counts from
	// 0; total has the values of Totals.
	Halt func(superstep int, total []float64) bool
	// Supersteps ends the run after so many supersteps; 0 means no limit.
	Supersteps int

	// Priority delays active vertices: while one has a priority below the bound, those at or above
	// it wait. Once none is left, the bound becomes the least priority that waits plus Width. It
	// changes the order of work and not the result of programs that converge to one, such as
	// shortest paths (delta-stepping). A device follows it where it runs supersteps by itself: with
	// the plans auto and push, a sum that does not depend on the order, no Totals and no Halt. It
	// widens buckets of little work, and on small graphs leaves supersteps of much work to
	// products.
	Priority PriorityFunc[V]
	Width    float64

	// Phases are the phases of an iteration, which run one after another in each superstep; nil
	// means one phase, whose functions stand above. With Phases, a program has no Send, Gather,
	// Edges, Sum, Messages, Apply, Everywhere, Skip, Idempotent and Priority of its own. Totals are
	// computed after each phase, Halt is called after each iteration, and Supersteps counts
	// iterations. A run ends when no vertex is active after the last phase.
	Phases []Phase[V, E, M]
}

// Vertex is what functions know of a vertex besides its state.
type Vertex struct {
	ID     int32
	Degree int32 // out-degree
	*Round
}

// Round is what functions know of the run.
type Round struct {
	Superstep int       // from 0; −1 in Init
	N         int       // number of vertices
	Total     []float64 // of Program.Totals; read only
}

// Seed is a vertex that begins active with a state of its own.
type Seed[V any] struct {
	ID    int
	State V
}

// At returns the seed of a single vertex.
func At[V any](id int, state V) []Seed[V] { return []Seed[V]{{id, state}} }

// The function types pair a Go function with the same function as CUDA C text, which a GPU needs;
// "" means that the function runs on the host only. The text sees the names that each type lists,
// and the functions of CUDA's math library. The fields of a struct have their Go names.
type (
	// InitFunc returns the state of a vertex and whether it begins active. Text: an expression of
	// the state in id, degree and n. All vertices of one InitFunc are active, or none is.
	InitFunc[V any] struct {
		Func   func(v Vertex) V
		CUDA   string
		Active bool
		same   bool // Func returns value for all vertices
		value  V
	}
	// SendFunc returns the message of a vertex. Text: an expression in state, id, degree, n,
	// superstep and total[k].
	SendFunc[V, M any] struct {
		Func func(v Vertex, state V) M
		CUDA string
	}
	// GatherFunc returns the message of an edge and whether there is one. Text: an expression in
	// src and dst, the states of its ends, and weight, its value. If is the condition under which
	// there is a message, the report of FuncIf; Func has none. A text without dst takes the kernels
	// of products, which suit more plans.
	GatherFunc[V, E, M any] struct {
		Func   func(src, dst V, weight E) M
		FuncIf func(src, dst V, weight E) (M, bool) // used if Func is nil
		CUDA   string
		If     string
		// GatherOf: ⊗, its kernels on the host, and the name of ⊕.
		mul     semiring.BinaryOp[E, V, M]
		product *cpu.Semiring
		flipped *cpu.Semiring
		add     string
	}
	// ApplyFunc returns the state of a vertex and whether it is active next. Text: statements in
	// the names of SendFunc, and sum; they assign to state, and to active, which is true before.
	ApplyFunc[V, M any] struct {
		Func func(v Vertex, state V, sum M) (V, bool)
		CUDA string
	}
	// SkipFunc reports whether a vertex takes no messages. Text: an expression in state.
	SkipFunc[V any] struct {
		Func func(state V) bool
		CUDA string
	}
	// TotalFunc returns the term of a vertex. Text: an expression in the names of SendFunc.
	TotalFunc[V any] struct {
		Func func(v Vertex, state V) float64
		CUDA string
	}
	// PriorityFunc returns the priority of a state. Text: an expression in state.
	PriorityFunc[V any] struct {
		Func func(state V) float64
		CUDA string
	}
	// EdgesFunc sends messages along the out-edges of an active vertex (Medusa's ELIST). Text:
	// statements in the names of SendFunc, and edges, which has the functions of [EdgeList] in
	// small letters: edges.len(), edges.to(k), edges.dst(k), edges.weight(k), edges.active(k),
	// edges.set_active(k, on), edges.send(k, m), edges.send_all(m) and edges.send_to(v, m). A
	// device runs the text twice in a superstep, first to count the messages, with the same effect
	// as once.
	EdgesFunc[V, E, M comparable] struct {
		Func    func(v Vertex, state V, edges *EdgeList[V, E, M])
		CUDA    string
		each    bool   // the text is the text of an edge: EDGE of EdgeMessageVertex
		changes bool   // MESSAGE of EdgeMessageVertex is given
		change  string // its text, an expression in message
	}
	// MessagesFunc combines the messages to a vertex, in ascending order of their sources (Medusa's
	// MLIST). The function may reorder the slice, which is valid during the call. Text: statements
	// in the names of SendFunc, and messages; they assign to sum. messages.len() is the number of
	// messages, messages[k] one of them, which may be assigned to, and messages.sort() sorts them
	// by <.
	MessagesFunc[V, M any] struct {
		Func func(v Vertex, state V, messages []M) M
		CUDA string
	}
)

// Init returns the InitFunc of f. All vertices begin active.
func Init[V any](f func(v Vertex) V, cuda string) InitFunc[V] {
	return InitFunc[V]{Func: f, CUDA: cuda, Active: true}
}

// Value returns the InitFunc of one state for all vertices. None begins active but the seeds.
func Value[V any](state V) InitFunc[V] { return InitFunc[V]{same: true, value: state} }

// Send returns the SendFunc of f.
func Send[V, M any](f func(v Vertex, state V) M, cuda string) SendFunc[V, M] {
	return SendFunc[V, M]{f, cuda}
}

// Gather returns the GatherFunc of f, which sends a message along every edge.
func Gather[V, E, M any](f func(src, dst V, weight E) M, cuda string) GatherFunc[V, E, M] {
	return GatherFunc[V, E, M]{Func: f, CUDA: cuda}
}

// GatherOf returns the GatherFunc of a semiring: the message of an edge is weight ⊗ src. The sum of
// the program must be its ⊕. The kernels of built-in semirings are faster than functions: they take
// a row a call, and suit more plans of a device. The text is the text of ⊗, in x and y. A
// positional semiring, with an index as ⊗, gives a GatherFunc without a function.
func GatherOf[V, E, M any](s semiring.Semiring[E, V, M]) GatherFunc[V, E, M] {
	if !s.Valid() || s.Position() != semiring.NotPositional {
		return GatherFunc[V, E, M]{}
	}
	mul := s.Mul()
	return GatherFunc[V, E, M]{
		Func: func(src, _ V, weight E) M { return mul.Apply(weight, src) }, CUDA: mul.CUDA(),
		mul: mul, product: s.Inside().Semiring, flipped: s.Inside().Flipped, add: s.Add().Name(),
	}
}

// GatherIf returns the GatherFunc of f, which reports whether there is a message. condition is that
// report as CUDA C text.
func GatherIf[V, E, M any](
	f func(src, dst V, weight E) (M, bool), cuda, condition string,
) GatherFunc[V, E, M] {
	return GatherFunc[V, E, M]{FuncIf: f, CUDA: cuda, If: condition}
}

// Apply returns the ApplyFunc of f.
func Apply[V, M any](f func(v Vertex, state V, sum M) (V, bool), cuda string) ApplyFunc[V, M] {
	return ApplyFunc[V, M]{f, cuda}
}

// Skip returns the SkipFunc of f.
func Skip[V any](f func(state V) bool, cuda string) SkipFunc[V] { return SkipFunc[V]{f, cuda} }

// Total returns the TotalFunc of f.
func Total[V any](f func(v Vertex, state V) float64, cuda string) TotalFunc[V] {
	return TotalFunc[V]{f, cuda}
}

// Priority returns the PriorityFunc of f.
func Priority[V any](f func(state V) float64, cuda string) PriorityFunc[V] {
	return PriorityFunc[V]{f, cuda}
}

// Edges returns the EdgesFunc of f.
func Edges[V, E, M comparable](
	f func(v Vertex, state V, edges *EdgeList[V, E, M]), cuda string,
) EdgesFunc[V, E, M] {
	return EdgesFunc[V, E, M]{Func: f, CUDA: cuda}
}

// Messages returns the MessagesFunc of f.
func Messages[V, M any](
	f func(v Vertex, state V, messages []M) M, cuda string,
) MessagesFunc[V, M] {
	return MessagesFunc[V, M]{f, cuda}
}

// valid reports whether a gather has a function.
func (g GatherFunc[V, E, M]) valid() bool { return g.Func != nil || g.FuncIf != nil }

// name returns the name of the program for messages.
func (p *Program[V, E, M]) name() string {
	if p.Name == "" {
		return "program"
	}
	return p.Name
}
