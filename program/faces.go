package program

import "github.com/hiveblas/hiveblas/semiring"

// GatherSumApply is the face of GRAssembler (Jeong et al., Decoupling Schedule, Topology Layout,
// and Algorithm, 2022): gather of an edge, sum, apply of a vertex. A vertex is active next if Apply
// says so. Its three functions are functions of a [Program]:
//
//	for each edge (src, dst) with src active:  if sum(dst, gather(src, dst, edge)) activate(dst)
//	for each such dst:                         apply(dst)
//
// Shortest paths:
//
//	program.GatherSumApply[float32, float32, float32]{
//		Init:   program.Value(float32(math.Inf(1))),
//		Seeds:  program.At(source, float32(0)),
//		Gather: func(src, _, weight float32) float32 { return src + weight },
//		Sum:    semiring.Min[float32](),
//		Apply:  func(_ program.Vertex, d, sum float32) (float32, bool) { return min(d, sum), sum < d },
//		CUDA: program.GSAText{Gather: "src + weight",
//			Apply: "active = sum < state; if (active) state = sum;"},
//	}.Program()
type GatherSumApply[V, E, M comparable] struct {
	Name       string
	Init       InitFunc[V]
	Seeds      []Seed[V]
	Gather     func(src, dst V, weight E) M
	Sum        semiring.Monoid[M]
	Apply      func(v Vertex, state V, sum M) (V, bool)
	All        bool // Apply runs on every vertex
	Supersteps int
	CUDA       GSAText
}

// GSAText is the CUDA text of a [GatherSumApply]; see [GatherFunc] and [ApplyFunc].
type GSAText struct{ Gather, Apply string }

// Program returns the program.
func (f GatherSumApply[V, E, M]) Program() Program[V, E, M] {
	return Program[V, E, M]{
		Name: f.Name, Init: f.Init, Seeds: f.Seeds, Sum: f.Sum,
		Gather: Gather(f.Gather, f.CUDA.Gather), Apply: Apply(f.Apply, f.CUDA.Apply),
		Everywhere: f.All, Supersteps: f.Supersteps,
	}
}

// EdgeMessageVertex is the face of Medusa (Zhong and He, Medusa: Simplified Graph Processing on
// GPUs, IEEE TPDS 25(6), 2014, tables 1 and 2): the functions ELIST or EDGE send messages, MESSAGE
// changes each of them, the Combiner or MLIST combines those to a vertex, and VERTEX updates it. A
// vertex is active next if VERTEX returns true (SetActive); All runs VERTEX on every vertex, as
// Medusa's programs without a queue do. Edges are set active or not by EdgeList.SetActive.
//
// PageRank, figure 2 of the paper:
//
//	type Edges = program.EdgeList[float32, bool, float32]
//	program.EdgeMessageVertex[float32, bool, float32]{
//		Init:     program.Init(func(program.Vertex) float32 { return 1 }, "1"),
//		EList: func(v program.Vertex, rank float32, el *Edges) {
//			el.SendAll(rank / float32(el.Len()))
//		},
//		Combiner: semiring.Plus[float32](),
//		Vertex: func(_ program.Vertex, _, sum float32) (float32, bool) {
//			return 0.15 + sum*0.85, true
//		},
//		All:          true,
//		MaxIteration: 30,
//		CUDA: program.EMVText{EList: "edges.send_all(state / edges.len())",
//			Vertex: "state = 0.15f + sum * 0.85f"},
//	}.Program()
type EdgeMessageVertex[V, E, M comparable] struct {
	Name  string
	Init  InitFunc[V]
	Seeds []Seed[V]

	// EList takes the edge list of an active vertex, Edge each active edge of it. One is given.
	EList func(v Vertex, state V, edges *EdgeList[V, E, M])
	Edge  func(e *Edge[V, E, M])

	Message  func(m M) M                               // MESSAGE: changes each message; may be nil
	Combiner semiring.Monoid[M]                        // combines the messages to a vertex, or
	MList    func(v Vertex, state V, messages []M) M   // takes their list
	Vertex   func(v Vertex, state V, sum M) (V, bool)  // VERTEX
	All      bool                                      // VERTEX runs on every vertex
	Halt     func(superstep int, total []float64) bool // ends the run; may be nil
	Totals   []TotalFunc[V]                            // that Halt and VERTEX read

	MaxIteration int // 0: no limit
	CUDA         EMVText
}

// EMVText is the CUDA text of an [EdgeMessageVertex]: EList as of [EdgesFunc], MList as of
// [MessagesFunc], Vertex as of [ApplyFunc]. Edge has statements in the names of [SendFunc], and
// edge, with the functions of [Edge]: edge.src(), edge.dst(), edge.weight(), edge.send(m) and
// edge.set_active(on); id and degree are the number and the degree of the source. Message is an
// expression in message. A device needs no list of messages for an Edge that has no other name than
// the first four functions of edge, nor for an EList that is only edges.send_all(m).
type EMVText struct{ EList, Edge, Message, MList, Vertex string }

// Edge is an edge with an active source, for the EDGE function of [EdgeMessageVertex].
type Edge[V, E, M comparable] struct {
	list   *EdgeList[V, E, M]
	vertex Vertex
	state  V
	k      int
}

// Head returns the vertex that the edge leaves.
func (e *Edge[V, E, M]) Head() (v Vertex) {
	if e == nil {
		return v
	}
	return e.vertex
}

// Src returns the state of the vertex that the edge leaves.
func (e *Edge[V, E, M]) Src() (state V) {
	if e == nil {
		return state
	}
	return e.state
}

// Dst returns the state of the vertex that the edge enters.
func (e *Edge[V, E, M]) Dst() (state V) {
	if e == nil {
		return state
	}
	return e.list.Dst(e.k)
}

// Weight returns the value of the edge.
func (e *Edge[V, E, M]) Weight() (weight E) {
	if e == nil {
		return weight
	}
	return e.list.Weight(e.k)
}

// Send sends a message along the edge, which takes any number of them.
func (e *Edge[V, E, M]) Send(m M) {
	if e != nil {
		e.list.Send(e.k, m)
	}
}

// SetActive sets whether the edge is active from the next superstep on.
func (e *Edge[V, E, M]) SetActive(active bool) {
	if e != nil {
		e.list.SetActive(e.k, active)
	}
}

// Program returns the program.
func (f EdgeMessageVertex[V, E, M]) Program() Program[V, E, M] {
	p := Program[V, E, M]{
		Name: f.Name, Init: f.Init, Seeds: f.Seeds, Sum: f.Combiner, Apply: Apply(f.Vertex, f.CUDA.Vertex),
		Everywhere: f.All, Halt: f.Halt, Totals: f.Totals, Supersteps: f.MaxIteration,
	}
	each, text := f.EList, f.CUDA.EList
	if each == nil && f.Edge != nil {
		text = f.CUDA.Edge
		each = func(v Vertex, state V, edges *EdgeList[V, E, M]) {
			e := &Edge[V, E, M]{list: edges, vertex: v, state: state}
			for e.k = range edges.Len() {
				if edges.Active(e.k) {
					f.Edge(e)
				}
			}
		}
	}
	if change := f.Message; change != nil && each != nil {
		inner := each
		each = func(v Vertex, state V, edges *EdgeList[V, E, M]) {
			first := edges.sent()
			inner(v, state, edges)
			edges.change(first, change)
		}
	}
	if f.EList == nil || f.Edge == nil { // both: the program has none, which Run reports
		p.Edges = Edges(each, text)
		p.Edges.each = f.Edge != nil
		p.Edges.changes, p.Edges.change = f.Message != nil, f.CUDA.Message
	}
	p.Messages = Messages(f.MList, f.CUDA.MList)
	return p
}

// EdgeVertex is the face of Zhong et al., Optimizing Graph Processing on GPUs (IEEE TPDS 28(4),
// 2017, table 1): EdgeCompute sends the message of an edge, the Combiner combines those to a
// vertex, and VertexCompute updates it and votes. The run ends when all have voted to halt, or
// after MaxSupersteps (startGPU(maxSupersteps)).
//
// Shortest paths, algorithm 1 of the paper:
//
//	program.EdgeVertex[float32, float32, float32]{
//		InitData:    program.Value(float32(math.Inf(1))),
//		Seeds:       program.At(source, float32(0)),
//		EdgeCompute: func(src, _, weight float32) (float32, bool) { return src + weight, true },
//		Combiner:    semiring.Min[float32](),
//		VertexCompute: func(_ program.Vertex, d, sum float32) (float32, program.Vote) {
//			if sum < d {
//				return sum, program.VoteToActive
//			}
//			return d, program.VoteToHalt
//		},
//	}.Program()
type EdgeVertex[V, E, M comparable] struct {
	Name          string
	InitData      InitFunc[V]
	Seeds         []Seed[V]
	EdgeCompute   func(src, dst V, weight E) (M, bool) // the message, and whether there is one
	Combiner      semiring.Monoid[M]
	VertexCompute func(v Vertex, state V, sum M) (V, Vote)
	All           bool // VertexCompute runs on every vertex
	MaxSupersteps int  // 0: no limit
	CUDA          EVText
}

// EVText is the CUDA text of an [EdgeVertex]: the message of an edge, the condition under which
// there is one ("" means always), and statements as of [ApplyFunc].
type EVText struct{ EdgeCompute, Condition, VertexCompute string }

// Vote is the vote of a vertex. A vertex that votes to be active makes the run continue, so that
// the paper's stillContinueNextSuperstep(true) needs no call.
type Vote bool

// The votes.
const (
	VoteToHalt   Vote = false
	VoteToActive Vote = true
)

// Program returns the program.
func (f EdgeVertex[V, E, M]) Program() Program[V, E, M] {
	condition := f.CUDA.Condition
	if condition == "" {
		condition = trueText
	}
	p := Program[V, E, M]{
		Name: f.Name, Init: f.InitData, Seeds: f.Seeds, Sum: f.Combiner, Everywhere: f.All,
		Gather:     GatherIf(f.EdgeCompute, f.CUDA.EdgeCompute, condition),
		Supersteps: f.MaxSupersteps,
	}
	if compute := f.VertexCompute; compute != nil {
		p.Apply = Apply(func(v Vertex, state V, sum M) (V, bool) {
			state, vote := compute(v, state, sum)
			return state, bool(vote)
		}, f.CUDA.VertexCompute)
	}
	return p
}
