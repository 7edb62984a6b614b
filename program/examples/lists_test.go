package examples_test

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/program"
	"github.com/hiveblas/hiveblas/program/examples"
	"github.com/hiveblas/hiveblas/semiring"
)

// onLists runs a program with functions of whole lists on the host and on the emulated device, and
// compares states, supersteps and totals.
func onLists[V, E, M comparable](
	t *testing.T, host, there matrix.Source[E], p program.Program[V, E, M], same func(x, y V) bool,
) {
	t.Helper()
	onBoth(t, host, there, p, same, true)
}

// onFused is onLists of a program that a device runs without lists.
func onFused[V, E, M comparable](
	t *testing.T, host, there matrix.Source[E], p program.Program[V, E, M], same func(x, y V) bool,
) {
	t.Helper()
	onBoth(t, host, there, p, same, false)
}

func onBoth[V, E, M comparable](
	t *testing.T, host, there matrix.Source[E], p program.Program[V, E, M], same func(x, y V) bool, lists bool,
) {
	t.Helper()
	want, err := program.Run(context.Background(), host, p)
	if err != nil {
		t.Fatal(err)
	}
	if want.Supersteps < 2 {
		t.Fatalf("%d supersteps try too little", want.Supersteps)
	}
	plans := []string{"", "push", "pull"}
	if !longtest.Enabled() {
		plans = plans[:1]
	}
	for _, plan := range plans {
		var traced []int64
		got, err := program.Run(context.Background(), there, p, program.Options{Plan: plan, Trace: func(s program.Step) {
			if traced = append(traced, s.Active); (s.Plan == "lists") != lists {
				t.Errorf("a superstep by %q", s.Plan)
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		if got.Supersteps != want.Supersteps || got.Ended != want.Ended || got.Active != want.Active || len(traced) != got.Supersteps {
			t.Errorf("%d supersteps (%s, %d active), want %d (%s, %d)", got.Supersteps, got.Ended, got.Active, want.Supersteps,
				want.Ended, want.Active)
		}
		for k, x := range want.Total {
			if math.Abs(got.Total[k]-x) > 1e-9*math.Abs(x) {
				t.Errorf("total %d is %v, want %v", k, got.Total[k], x)
			}
		}
		state := sure.Get(got.State.Dense(*new(V)))
		for v, x := range want.State.All() {
			if !same(state[v], x) {
				t.Fatalf("vertex %d has %v, want %v", v, state[v], x)
			}
		}
	}
}

// second is the two least of some messages.
type second struct{ Least, Next int32 }

// visit is a message of two numbers.
type visit struct {
	From int32
	Far  float32
}

// TestListsOnDevice runs programs of Medusa's ELIST, EDGE, MESSAGE and MLIST.
func TestListsOnDevice(t *testing.T) {
	dev := emulated(t)
	tuples := gen.RMAT(6, 5, gen.RMATOptions{}) // directed, with vertices that no edge leaves
	if longtest.Enabled() {
		tuples = gen.RMAT(9, 6, gen.RMATOptions{})
	}
	g := gen.CSR(tuples)
	val := make([]float32, len(g.Idx))
	for k, x := range gen.UniformInts(g, 1, 9, 5, false) {
		val[k] = float32(x)
	}
	host, err := matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, val)
	if err != nil {
		t.Fatal(err)
	}
	there := host.Clone()
	if err := there.Move(dev); err != nil {
		t.Fatal(err)
	}
	source := slices.IndexFunc(g.Ptr[1:], func(p int64) bool { return p > 4 })
	infinite := float32(math.Inf(1))

	t.Run("breadth-first search by ELIST", func(t *testing.T) {
		p := program.EdgeMessageVertex[int32, bool, int32]{
			Init: program.Value(examples.Unreached), Seeds: program.At(source, int32(0)),
			EList: func(_ program.Vertex, level int32, el *program.EdgeList[int32, bool, int32]) {
				for k := range el.Len() {
					if el.Dst(k) == examples.Unreached {
						el.Send(k, level+1)
					}
				}
			},
			Combiner: semiring.Min[int32](),
			Vertex:   func(_ program.Vertex, _, sum int32) (int32, bool) { return sum, true },
			CUDA: program.EMVText{
				EList:  "for (int k = 0; k < edges.len(); k++) if (edges.dst(k) == -1) edges.send(k, state + 1)",
				Vertex: "state = sum",
			},
		}.Program()
		onLists(t, host.Pattern(), there.Pattern(), p, equal)
		want, err := program.Run(context.Background(), host.Pattern(), examples.BFS(source))
		if err != nil {
			t.Fatal(err)
		}
		got, err := program.Run(context.Background(), there.Pattern(), p)
		if err != nil || !got.State.Equal(want.State) {
			t.Errorf("levels %v, %v, want %v", got, err, want)
		}
	})
	t.Run("shortest paths by EDGE, MESSAGE and MLIST", func(t *testing.T) {
		onLists(t, host, there, program.EdgeMessageVertex[float32, float32, float32]{
			Init: program.Value(infinite), Seeds: program.At(source, float32(0)),
			Edge:    func(e *program.Edge[float32, float32, float32]) { e.Send(2 * (e.Src() + e.Weight())) },
			Message: func(m float32) float32 { return m / 2 },
			MList:   func(_ program.Vertex, _ float32, ml []float32) float32 { return slices.Min(ml) },
			Vertex:  func(_ program.Vertex, d, sum float32) (float32, bool) { return min(d, sum), sum < d },
			CUDA: program.EMVText{
				Edge: "if (edge.weight() < 0) return; edge.send(2 * (edge.src() + edge.weight()))", Message: "message / 2",
				MList:  "sum = INFINITY; for (int k = 0; k < messages.len(); k++) sum = fminf(sum, messages[k])",
				Vertex: "active = sum < state; if (active) state = sum",
			},
		}.Program(), equal)
	})
	t.Run("PageRank by ELIST", func(t *testing.T) {
		onFused(t, host.Pattern(), there.Pattern(), program.EdgeMessageVertex[float64, bool, float64]{
			Init: program.Init(func(program.Vertex) float64 { return 1 }, "1"),
			EList: func(_ program.Vertex, r float64, el *program.EdgeList[float64, bool, float64]) {
				el.SendAll(r / float64(el.Len()))
			},
			Combiner:     semiring.Plus[float64](),
			Vertex:       func(_ program.Vertex, _, sum float64) (float64, bool) { return .15 + .85*sum, true },
			All:          true,
			MaxIteration: 12,
			CUDA:         program.EMVText{EList: "edges.send_all(state / edges.len())", Vertex: "state = 0.15 + 0.85 * sum"},
		}.Program(), func(x, y float64) bool { return math.Abs(x-y) <= 1e-12*math.Abs(y) })
	})
	t.Run("breadth-first search by EDGE", func(t *testing.T) {
		onFused(t, host.Pattern(), there.Pattern(), program.EdgeMessageVertex[int32, bool, int32]{
			Init: program.Value(examples.Unreached), Seeds: program.At(source, int32(0)),
			Edge: func(e *program.Edge[int32, bool, int32]) {
				if e.Dst() == examples.Unreached {
					e.Send(e.Src() + 1)
				}
			},
			Combiner: semiring.Any[int32](),
			Vertex:   func(_ program.Vertex, _, sum int32) (int32, bool) { return sum, true },
			CUDA:     program.EMVText{Edge: "if (edge.dst() == -1) edge.send(edge.src() + 1)", Vertex: "state = sum"},
		}.Program(), equal)
	})
	t.Run("messages that need no list", func(t *testing.T) {
		type edge = program.Edge[int64, float32, int64]
		type edges = program.EdgeList[int64, float32, int64]
		type face = program.EdgeMessageVertex[int64, float32, int64]
		text := func(edge, message string) program.EMVText {
			return program.EMVText{Edge: edge, Message: message, Vertex: "state = (state + sum) % 10007; active = id % 5 != 4"}
		}
		send := func(e *edge) { e.Send(e.Src() + int64(e.Weight())) }
		for name, c := range map[string]struct {
			face  face
			fused bool
		}{
			"one":         {face{Edge: send, CUDA: text("edge.send(edge.src() + (M)edge.weight())", "")}, true},
			"a semicolon": {face{Edge: send, CUDA: text(" edge . send ( state + (hb_i64)edge.weight() ) ; ", "")}, true},
			"changed": {face{Edge: send, Message: func(m int64) int64 { return 3*m + 1 },
				CUDA: text("edge.send(edge.src() + (M)edge.weight())", "3 * message + 1")}, true},
			"some, by a return": {face{Edge: func(e *edge) {
				if e.Src()%3 != e.Dst()%3 {
					e.Send(e.Src() % 100)
				}
			}, CUDA: text("if (edge.src() % 3 == edge.dst() % 3) return; edge.send(edge.src() % 100)", "")}, true},
			"several": {face{Edge: func(e *edge) {
				for k := range int(e.Weight()) % 3 {
					e.Send(e.Src()%50 + int64(k))
				}
			}, Message: func(m int64) int64 { return 2 * m },
				CUDA: text("for (int k = 0; k < (int)edge.weight() % 3; k++) edge.send(edge.src() % 50 + k)", "2 * message")}, true},
			"the vertex": {face{Edge: func(e *edge) { e.Send(int64(e.Head().Degree)) }, CUDA: text("edge.send(degree)", "")}, false},
			"marks": {face{Edge: func(e *edge) { e.Send(e.Src() % 9); e.SetActive(e.Src()%4 != 0) },
				CUDA: text("edge.send(edge.src() % 9); edge.set_active(edge.src() % 4 != 0)", "")}, false},
			"all": {face{EList: func(v program.Vertex, x int64, el *edges) { el.SendAll(x + int64(el.Len()+v.Superstep)) },
				CUDA: program.EMVText{EList: "edges.send_all(state + (edges.len() + superstep));"}}, true},
			"all, changed": {face{EList: func(_ program.Vertex, x int64, el *edges) { el.SendAll(x) }, Message: func(m int64) int64 { return m / 3 },
				CUDA: program.EMVText{EList: "edges.send_all(state)", Message: "message / 3"}}, true},
			"all twice": {face{EList: func(_ program.Vertex, x int64, el *edges) { el.SendAll(x); el.SendAll(2) },
				CUDA: program.EMVText{EList: "edges.send_all(state); edges.send_all(2)"}}, false},
			"all, of an edge": {face{EList: func(_ program.Vertex, x int64, el *edges) { el.SendAll(x + int64(el.Weight(0))) },
				CUDA: program.EMVText{EList: "edges.send_all(state + (M)edges.weight(0))"}}, false},
		} {
			t.Run(name, func(t *testing.T) {
				for _, all := range []bool{false, true} {
					f := c.face
					f.Init = program.Init(func(v program.Vertex) int64 { return int64(v.ID) }, "id")
					f.Vertex = func(v program.Vertex, x, sum int64) (int64, bool) { return (x + sum) % 10007, v.ID%5 != 4 }
					f.Combiner, f.MaxIteration, f.All = semiring.Plus[int64](), 5, all
					f.CUDA.Vertex = text("", "").Vertex
					onBoth(t, host, there, f.Program(), equal, !c.fused)
				}
			})
		}
	})
	t.Run("several messages an edge, once", func(t *testing.T) {
		p := program.Program[int64, float32, int64]{
			Init: program.Init(func(program.Vertex) int64 { return 0 }, "0"),
			Edges: program.Edges(func(v program.Vertex, x int64, el *program.EdgeList[int64, float32, int64]) {
				for k := range el.Len() {
					for range int(el.Weight(k)) % 4 {
						el.Send(k, x+int64(el.To(k)))
					}
					if int(el.To(k))%3 == v.Superstep%3 && el.Active(k) {
						el.SetActive(k, false)
						el.Send(k, 1<<40) // nothing: the edge is not active any more
					}
				}
				if v.Superstep < 3 {
					el.SendTo((int(v.ID)+1)%v.N, 7)
					el.SendTo(0, int64(v.ID))
				}
				el.Send(-1, 1<<40) // nothing: there are no such edges
				el.Send(el.Len(), 1<<40)
			}, `for (int k = 0; k < edges.len(); k++) {
				for (int i = 0; i < (int)edges.weight(k) % 4; i++) edges.send(k, state + edges.to(k));
				if (edges.to(k) % 3 == superstep % 3 && edges.active(k)) {
					edges.set_active(k, false);
					edges.send(k, 1LL << 40);
				}
			}
			if (superstep < 3) {
				edges.send_to((id + 1) % n, 7);
				edges.send_to(0, id);
			}
			edges.send(-1, 1LL << 40);
			edges.send(edges.len(), 1LL << 40);`),
			Sum: semiring.Plus[int64](),
			Apply: program.Apply(func(v program.Vertex, x, sum int64) (int64, bool) { return (x + sum) % 1000003, v.ID%5 != 4 },
				"state = (state + sum) % 1000003; active = id % 5 != 4"),
			Totals: []program.TotalFunc[int64]{program.Total(func(_ program.Vertex, x int64) float64 { return float64(x) }, "state")},
		}
		onLists(t, host, there, p, equal)
	})
	t.Run("the order of lists", func(t *testing.T) {
		// A list of edges, and one of messages that depends on the order of sources and of sending.
		p := program.Program[int64, float32, visit]{
			Init: program.Init(func(v program.Vertex) int64 { return int64(v.ID) }, "id"),
			Edges: program.Edges(func(v program.Vertex, x int64, el *program.EdgeList[int64, float32, visit]) {
				for k := el.Len() - 1; k >= 0; k-- {
					el.Send(k, visit{v.ID, el.Weight(k)})
					el.Send(k, visit{int32(x % 97), float32(el.Dst(k) % 31)})
				}
			}, `for (int k = edges.len() - 1; k >= 0; k--) {
				edges.send(k, {id, edges.weight(k)});
				edges.send(k, {(hb_i32)(state % 97), (float)(edges.dst(k) % 31)});
			}`),
			Messages: program.Messages(func(v program.Vertex, x int64, list []visit) visit {
				sum := visit{int32(x % 5), 0}
				for k, m := range list {
					sum = visit{(sum.From*3 + m.From + int32(k)) % 1009, float32(int(sum.Far*2+m.Far) % 509)}
					list[k].From = -1 // the list is the function's own
				}
				return sum
			}, `sum = {(hb_i32)(state % 5), 0};
			for (int k = 0; k < messages.len(); k++) {
				sum = {(sum.From * 3 + messages[k].From + k) % 1009, (float)((int)(sum.Far * 2 + messages[k].Far) % 509)};
				messages[k].From = -1;
			}`),
			Apply: program.Apply(func(v program.Vertex, x int64, sum visit) (int64, bool) {
				return int64(sum.From) + int64(sum.Far), (int(v.ID)+v.Superstep)%4 != 0
			}, "state = (hb_i64)sum.From + (hb_i64)sum.Far; active = (id + superstep) % 4 != 0"),
			Supersteps: 5,
		}
		onLists(t, host, there, p, equal)
		p.Everywhere = true // lists may be empty
		onLists(t, host, there, p, equal)
		p.Everywhere = false
		p.Skip = program.Skip(func(x int64) bool { return x%11 == 3 }, "state % 11 == 3")
		onLists(t, host, there, p, equal)
		p.Edges = program.EdgesFunc[int64, float32, visit]{}
		p.Gather = program.GatherIf(func(src, dst int64, w float32) (visit, bool) {
			return visit{int32(src % 100), float32(dst%7) + w}, src%3 != 0
		}, "{(hb_i32)(src % 100), (float)(dst % 7) + weight}", "src % 3 != 0")
		// A struct as an expression needs its type.
		p.Gather.CUDA = "M" + p.Gather.CUDA
		onLists(t, host, there, p, equal)
		p.Init.Active, p.Seeds = false, program.At(source, int64(1))
		onLists(t, host, there, p, equal)
	})
	t.Run("the median of messages", func(t *testing.T) {
		onLists(t, host, there, program.Program[int32, float32, int32]{
			Init: program.Init(func(v program.Vertex) int32 { return v.ID * 37 % 101 }, "id * 37 % 101"),
			Send: program.Send(func(v program.Vertex, x int32) int32 { return x + v.Degree }, "state + degree"),
			Messages: program.Messages(func(_ program.Vertex, x int32, list []int32) int32 {
				slices.Sort(list)
				return list[len(list)/2]
			}, "messages.sort(); sum = messages[messages.len() / 2]"),
			Apply:      program.Apply(func(v program.Vertex, _, sum int32) (int32, bool) { return sum, v.ID%7 != 1 }, "state = sum; active = id % 7 != 1"),
			Supersteps: 4,
		}, equal)
	})
	t.Run("the second least", func(t *testing.T) {
		least := func(own second, list []second) second {
			for _, m := range list {
				for _, x := range []int32{m.Least, m.Next} {
					switch {
					case x < own.Least:
						own = second{x, own.Least}
					case x > own.Least && x < own.Next:
						own.Next = x
					}
				}
			}
			return own
		}
		onLists(t, host.Pattern(), there.Pattern(), program.Program[second, bool, second]{ // the two least vertices that reach one
			Init: program.Init(func(v program.Vertex) second { return second{v.ID, math.MaxInt32} }, "{id, 0x7fffffff}"),
			Send: program.Send(func(_ program.Vertex, s second) second { return s }, "state"),
			Messages: program.Messages(func(_ program.Vertex, s second, list []second) second { return least(s, list) },
				`sum = state;
				for (int k = 0; k < 2 * messages.len(); k++) {
					const hb_i32 x = k % 2 ? messages[k / 2].Next : messages[k / 2].Least;
					if (x < sum.Least) sum = {x, sum.Least};
					else if (x > sum.Least && x < sum.Next) sum.Next = x;
				}`),
			Apply: program.Apply(func(_ program.Vertex, s, sum second) (second, bool) { return sum, sum != s },
				"active = sum.Least != state.Least || sum.Next != state.Next; state = sum"),
		}, equal)
	})
	t.Run("labels", func(t *testing.T) {
		onLists(t, host.Pattern(), there.Pattern(), examples.LabelPropagation(9), equal)
	})
	t.Run("no edges, no vertices", func(t *testing.T) {
		for _, n := range []int{0, 3} {
			empty := matrix.New[float32](n, n)
			moved := empty.Clone()
			if err := moved.Move(dev); err != nil {
				t.Fatal(err)
			}
			p := program.Program[int32, float32, int32]{
				Init:  program.Init(func(v program.Vertex) int32 { return v.ID }, "id"),
				Edges: program.Edges(func(_ program.Vertex, x int32, el *program.EdgeList[int32, float32, int32]) { el.SendAll(x) }, "edges.send_all(state)"),
				Messages: program.Messages(func(_ program.Vertex, x int32, list []int32) int32 { return x + 1 + int32(len(list)) },
					"sum = state + 1 + messages.len() + messages[0] + messages[-1]"),
				Apply:      program.Apply(func(_ program.Vertex, _, sum int32) (int32, bool) { return sum, true }, "state = sum"),
				Everywhere: true, Supersteps: 2,
			}
			want, err := program.Run(context.Background(), empty, p)
			if err != nil {
				t.Fatal(err)
			}
			got, err := program.Run(context.Background(), moved, p)
			if err != nil {
				t.Fatal(err)
			}
			if !got.State.Equal(want.State) || n > 0 && (got.Supersteps != want.Supersteps || got.Ended != want.Ended) {
				t.Errorf("%d vertices: %v, want %v", n, got, want)
			}
		}
	})
	t.Run("errors", func(t *testing.T) {
		lost := program.Program[int32, bool, int32]{
			Init: program.Init(func(v program.Vertex) int32 { return v.ID }, "id"),
			Edges: program.Edges(func(v program.Vertex, x int32, el *program.EdgeList[int32, bool, int32]) {
				el.SendTo(int(v.ID), x)
				if v.Superstep == 1 && v.ID > 5 {
					el.SendTo(-int(v.ID)-3, x)
					el.SendTo(v.N, x)
				}
			}, "edges.send_to(id, state); if (superstep == 1 && id > 5) { edges.send_to(-id - 3, state); edges.send_to(n, state); }"),
			Sum:   semiring.Plus[int32](),
			Apply: program.Apply(func(_ program.Vertex, _, sum int32) (int32, bool) { return sum, true }, "state = sum"),
		}
		var want, got *program.MessageError
		_, err := program.Run(context.Background(), host.Pattern(), lost)
		if !errors.As(err, &want) {
			t.Fatal(err)
		}
		_, err = program.Run(context.Background(), there.Pattern(), lost)
		if !errors.As(err, &got) || !reflect.DeepEqual(got, want) {
			t.Errorf("%v, want %v", err, want)
		}
		for _, plan := range []string{"buffer rows", "pull csr vm store"} {
			var clash *program.PlanError
			if _, err := program.Run(context.Background(), there.Pattern(), lost, program.Options{Plan: plan}); !errors.As(err, &clash) || clash.Plan != plan {
				t.Errorf("%s: %v", plan, err)
			}
		}
		textless := lost
		textless.Edges.CUDA = ""
		paths := program.EdgeMessageVertex[float32, float32, float32]{
			Init: program.Value(infinite), Combiner: semiring.Min[float32](),
			Edge:    func(e *program.Edge[float32, float32, float32]) { e.Send(e.Src()) },
			Message: func(m float32) float32 { return m },
			Vertex:  func(_ program.Vertex, d, sum float32) (float32, bool) { return min(d, sum), sum < d },
			CUDA:    program.EMVText{Edge: "edge.send(edge.src())", Vertex: "state = sum"},
		}
		labels := examples.LabelPropagation(3)
		labels.Messages.CUDA = ""
		typo := lost
		typo.Edges.CUDA = "edges.send(0, wieght)"
		for _, c := range []struct {
			part string
			run  func() error
		}{
			{"Edges", func() error { _, err := program.Run(context.Background(), there.Pattern(), textless); return err }},
			{"Message", func() error { _, err := program.Run(context.Background(), there, paths.Program()); return err }},
			{"Messages", func() error { _, err := program.Run(context.Background(), there.Pattern(), labels); return err }},
		} {
			var part *program.ProgramError
			if err := c.run(); !errors.As(err, &part) || part.Part != c.part || !strings.Contains(part.Reason, "CUDA text") {
				t.Errorf("%s without text: %v", c.part, err)
			}
		}
		if _, err := program.Run(context.Background(), there.Pattern(), typo); err == nil || !strings.Contains(err.Error(), "wieght") {
			t.Errorf("text that does not compile: %v", err)
		}
	})
	t.Run("memory", func(t *testing.T) {
		most := [2]uint64{}
		for k, steps := range []int{3, 30} {
			p := program.Program[int32, bool, int32]{
				Init: program.Init(func(v program.Vertex) int32 { return v.ID }, "id"),
				Edges: program.Edges(func(_ program.Vertex, x int32, el *program.EdgeList[int32, bool, int32]) { el.SendAll(x) },
					"if (superstep < 0) edges.set_active(0, true); edges.send_all(state)"),
				Messages:   program.Messages(func(_ program.Vertex, x int32, _ []int32) int32 { return x }, "sum = messages[0]"),
				Apply:      program.Apply(func(_ program.Vertex, _, sum int32) (int32, bool) { return sum, true }, "state = sum"),
				Everywhere: true, Supersteps: steps,
			}
			if _, err := program.Run(context.Background(), there.Pattern(), p, program.Options{
				Trace: func(program.Step) { most[k] = max(most[k], dev.Memory().InUse) }}); err != nil {
				t.Fatal(err)
			}
		}
		if most[1] > most[0]+4096 {
			t.Errorf("30 supersteps used %d bytes, 3 used %d", most[1], most[0])
		}
	})
	t.Run("NVRTC", compileByNVRTC)
}

// TestSortOfMessages compares messages.sort of many lengths with slices.Sort.
func TestSortOfMessages(t *testing.T) {
	dev := emulated(t)
	const n = 70 // vertex v has v messages
	b := matrix.NewBuilder[int32](n, n)
	for v := range n {
		for u := range v {
			b.Add(u, v, int32((u*u*31+v*7)%23-11))
		}
	}
	host, err := b.Build(semiring.Plus[int32]())
	if err != nil {
		t.Fatal(err)
	}
	there := host.Clone()
	if err := there.Move(dev); err != nil {
		t.Fatal(err)
	}
	p := program.Program[uint64, int32, int32]{
		Init:   program.Init(func(program.Vertex) uint64 { return 0 }, "0"),
		Gather: program.Gather(func(_, _ uint64, w int32) int32 { return w }, "weight"),
		Messages: program.Messages(func(_ program.Vertex, _ uint64, list []int32) int32 {
			slices.Sort(list)
			hash := uint32(0)
			for _, m := range list {
				hash = hash*31 + uint32(m+100)
			}
			return int32(hash)
		}, "messages.sort(); hb_u32 hash = 0; for (int k = 0; k < messages.len(); k++) hash = hash * 31 + (hb_u32)(messages[k] + 100); sum = (hb_i32)hash"),
		Apply:      program.Apply(func(_ program.Vertex, x uint64, sum int32) (uint64, bool) { return x + uint64(uint32(sum)), true }, "state = state + (hb_u32)sum"),
		Supersteps: 2,
	}
	onLists(t, host, there, p, equal)
}
