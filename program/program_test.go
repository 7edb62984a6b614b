package program

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/model"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/program/internal/host"
	"github.com/hiveblas/hiveblas/semiring"
)

// randomGraph returns a graph with small integer weights and heavy vertices.
func randomGraph(t testing.TB, n, edges int, seed uint64) *matrix.Matrix[float64] {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 1))
	b := matrix.NewBuilder[float64](n, n)
	for range edges {
		i, j := r.IntN(n), r.IntN(n)
		if r.IntN(3) == 0 {
			j = r.IntN(1 + n/10)
		}
		if r.IntN(5) == 0 {
			i = r.IntN(1 + n/20)
		}
		b.Add(i, j, float64(1+r.IntN(9)))
	}
	a := sure.Get(b.Build(semiring.Max[float64]()))
	return a
}

// naive runs a program with Send or Gather as its definition reads: superstep by superstep, edge by
// edge, each message in a list.
func naive[V, E, M comparable](g *matrix.Matrix[E], p Program[V, E, M], most int) (state []V, supersteps int) {
	n, _ := g.Dims()
	degree := make([]int32, n)
	for i := range g.All() {
		degree[i.Row]++
	}
	round := Round{Superstep: -1, N: n}
	at := func(v int) Vertex { return Vertex{int32(v), degree[v], &round} }
	total := func() {
		round.Total = make([]float64, len(p.Totals))
		for k, f := range p.Totals {
			for v := range n {
				round.Total[k] += f.Func(at(v), state[v])
			}
		}
	}
	state = make([]V, n)
	active := make([]bool, n)
	for v := range n {
		if p.Init.same {
			state[v] = p.Init.value
		} else {
			state[v], active[v] = p.Init.Func(at(v)), p.Init.Active
		}
	}
	for _, s := range p.Seeds {
		state[s.ID], active[s.ID] = s.State, true
	}
	total()
	for ; supersteps < most && slices.Contains(active, true); supersteps++ {
		round.Superstep = supersteps
		mail := make([][]M, n)
		for i, w := range g.All() {
			u, v := i.Row, i.Col
			switch {
			case !active[u] || p.Skip.Func != nil && p.Skip.Func(state[v]):
			case p.Send.Func != nil:
				mail[v] = append(mail[v], p.Send.Func(at(u), state[u]))
			case p.Gather.Func != nil:
				mail[v] = append(mail[v], p.Gather.Func(state[u], state[v], w))
			default:
				if m, ok := p.Gather.FuncIf(state[u], state[v], w); ok {
					mail[v] = append(mail[v], m)
				}
			}
		}
		next := slices.Clone(state)
		for v := range n {
			active[v] = false
			if len(mail[v]) == 0 && !p.Everywhere {
				continue
			}
			var sum M
			switch {
			case p.Messages.Func != nil:
				sum = p.Messages.Func(at(v), state[v], mail[v])
			case p.Sum.IsAny():
				if len(mail[v]) > 0 {
					sum = mail[v][0]
				}
			default:
				sum = p.Sum.Identity()
				for _, m := range mail[v] {
					sum = p.Sum.Combine(sum, m)
				}
			}
			next[v], active[v] = p.Apply.Func(at(v), state[v], sum)
		}
		state = next
		total()
		if p.Halt != nil && p.Halt(supersteps, round.Total) {
			return state, supersteps + 1
		}
	}
	return state, supersteps
}

var threadCounts = []int{1, 2, 3, 8}

// compare runs a program by every plan and number of threads and compares with naive.
func compare[V, E, M comparable](t *testing.T, g *matrix.Matrix[E], p Program[V, E, M], same func(x, y V) bool) {
	t.Helper()
	most := p.Supersteps
	if most == 0 {
		most = 1 << 30
	}
	want, steps := naive(g, p, most)
	byPlan := map[string]*Result[V]{}
	for _, plan := range []string{"auto", "push", "pull"} {
		var first []V
		for _, threads := range threadCounts {
			res, err := Run(context.Background(), g, p, Options{Threads: threads, Plan: plan})
			if err != nil {
				t.Fatalf("%s, %d threads: %v", plan, threads, err)
			}
			got := sure.Get(res.State.Dense(*new(V)))
			if p.Priority.Func == nil && !p.Idempotent && res.Supersteps != steps {
				t.Fatalf("%s, %d threads: %d supersteps, want %d", plan, threads, res.Supersteps, steps)
			}
			for v := range want {
				if !same(got[v], want[v]) {
					t.Fatalf("%s, %d threads: vertex %d has %v, want %v", plan, threads, v, got[v], want[v])
				}
			}
			if first == nil {
				first, byPlan[plan] = got, res
			} else if !reflect.DeepEqual(first, got) {
				t.Fatalf("%s: %d threads and %d give different bits", plan, threads, threadCounts[0])
			}
		}
	}
	if p.Sum.Valid() && !p.Sum.Inside().Exact && !p.Sum.IsAny() {
		byPlan["auto"] = byPlan["pull"]
	}
	onGroups(t, g, p, byPlan)
}

// onGroups runs a program on groups of ranks and compares the bits with the bits of one place.
func onGroups[V, E, M comparable](t *testing.T, g *matrix.Matrix[E], p Program[V, E, M], byPlan map[string]*Result[V]) {
	t.Helper()
	h200 := model.H200()
	counts := []int{1, 2, 3, 4, 7}
	if !longtest.Enabled() {
		counts = []int{3, 7}
	}
	for _, ranks := range counts {
		at := sure.Get(comm.LocalGroup(ranks))
		there := g.Clone()
		sure.Do(there.Move(at))
		for plan, want := range byPlan {
			for _, hops := range []int{0, 3, AutoHops} {
				where := fmt.Sprintf("%s, %d ranks, %d hops", plan, ranks, hops)
				got, err := Run(context.Background(), there, p, Options{Plan: plan, Hops: hops, Machine: &h200})
				var refused *ProgramError
				if p.Edges.Func != nil && errors.As(err, &refused) && refused.Part == "Edges" {
					continue
				}
				if err != nil {
					t.Fatalf("%s: %v", where, err)
				}
				if p.Priority.Func == nil && !p.Idempotent && (got.Supersteps != want.Supersteps ||
					got.Active != want.Active || got.Ended != want.Ended) {
					t.Fatalf("%s: %d supersteps, %d active, %s; want %d, %d, %s", where, got.Supersteps, got.Active, got.Ended,
						want.Supersteps, want.Active, want.Ended)
				}
				if !slices.Equal(got.Total, want.Total) {
					t.Fatalf("%s: totals %v, want %v", where, got.Total, want.Total)
				}
				if x, y := sure.Get(got.State.Dense(*new(V))), sure.Get(want.State.Dense(*new(V))); !reflect.DeepEqual(x, y) {
					for v := range y {
						if x[v] != y[v] {
							t.Fatalf("%s: vertex %d has %v, want %v", where, v, x[v], y[v])
						}
					}
				}
			}
		}
	}
}

func equal[V comparable](x, y V) bool { return x == y }

func close9(x, y float64) bool { return x == y || math.Abs(x-y) <= 1e-9*math.Abs(y) }

func sssp(width float64) Program[float64, float64, float64] {
	p := Program[float64, float64, float64]{
		Init:   Value(math.Inf(1)),
		Seeds:  At(0, 0.0),
		Gather: Gather(func(src, _, w float64) float64 { return src + w }, "src + weight"),
		Sum:    semiring.Min[float64](),
		Apply:  Apply(func(_ Vertex, d, sum float64) (float64, bool) { return min(d, sum), sum < d }, ""),
	}
	if width > 0 {
		p.Priority, p.Width = Priority(func(d float64) float64 { return d }, "state"), width
	}
	return p
}

func TestPlansAgree(t *testing.T) {
	t.Parallel()
	for _, size := range []struct{ n, edges int }{{1, 0}, {1, 3}, {7, 20}, {60, 150}, {300, 14000}} {
		g := randomGraph(t, size.n, size.edges, uint64(size.n))
		name := fmt.Sprintf("%d vertices ", size.n)
		t.Run(name+"gather and min", func(t *testing.T) { t.Parallel(); compare(t, g, sssp(0), equal) })
		t.Run(name+"priority", func(t *testing.T) { t.Parallel(); compare(t, g, sssp(2.5), equal) })
		t.Run(name+"semirings", func(t *testing.T) {
			t.Parallel()
			p := sssp(0)
			p.Gather, p.Idempotent = GatherOf(semiring.MinPlus[float64]()), true
			compare(t, g, p, equal)
			p.Priority, p.Width = Priority(func(d float64) float64 { return d }, "state"), 3
			compare(t, g, p, equal)
			own := semiring.New(semiring.Plus[float64](), semiring.NewBinary("scaled", func(w, x float64) float64 { return w * x / 64 }))
			compare(t, g, Program[float64, float64, float64]{
				Init:       Init(func(v Vertex) float64 { return float64(v.ID % 9) }, ""),
				Gather:     GatherOf(own),
				Sum:        semiring.Plus[float64](),
				Apply:      Apply(func(v Vertex, x, sum float64) (float64, bool) { return sum, v.Superstep < 2 || v.ID%3 > 0 }, ""),
				Supersteps: 5,
			}, close9)
		})
		t.Run(name+"float sums of some vertices", func(t *testing.T) {
			t.Parallel()
			compare(t, g, Program[float64, float64, float64]{
				Init:   Init(func(v Vertex) float64 { return 1 / float64(v.ID+3) }, ""),
				Gather: Gather(func(src, dst, w float64) float64 { return src*w/100 + dst/1000 }, ""),
				Sum:    semiring.Plus[float64](),
				Apply: Apply(func(v Vertex, x, sum float64) (float64, bool) {
					return (x + sum) / 2, (int(v.ID)+v.Superstep)%3 > 0
				}, ""),
				Supersteps: 6,
			}, close9)
		})
		t.Run(name+"sent everywhere, totals", func(t *testing.T) {
			t.Parallel()
			compare(t, g, Program[float64, float64, float64]{
				Init:       Init(func(v Vertex) float64 { return float64(v.ID%5) / float64(v.N) }, ""),
				Send:       Send(func(v Vertex, x float64) float64 { return x / float64(v.Degree) }, ""),
				Sum:        semiring.Plus[float64](),
				Apply:      Apply(func(v Vertex, x, sum float64) (float64, bool) { return (sum + v.Total[0]) / 3, v.ID%2 == 0 }, ""),
				Everywhere: true,
				Totals:     []TotalFunc[float64]{Total(func(_ Vertex, x float64) float64 { return x / 7 }, "")},
				Halt:       func(step int, total []float64) bool { return step == 4 || total[0] < 0 },
			}, close9)
		})
		t.Run(name+"any, skip", func(t *testing.T) {
			t.Parallel()
			compare(t, g, Program[int32, float64, int32]{ // parents: the least source of each level
				Init:   Value(int32(-1)),
				Seeds:  At(0, int32(0)),
				Send:   Send(func(v Vertex, _ int32) int32 { return v.ID }, ""),
				Sum:    semiring.Any[int32](),
				Apply:  Apply(func(_ Vertex, _, sum int32) (int32, bool) { return sum, true }, ""),
				Skip:   Skip(func(x int32) bool { return x >= 0 }, ""),
				Totals: []TotalFunc[int32]{Total(func(_ Vertex, x int32) float64 { return float64(x) }, "")},
			}, equal)
		})
		t.Run(name+"any, skip, no totals", func(t *testing.T) {
			t.Parallel()
			compare(t, g, Program[int32, float64, int32]{
				Init:  Value(int32(-1)),
				Seeds: At(0, int32(0)),
				Send:  Send(func(v Vertex, _ int32) int32 { return v.ID + v.Degree }, ""),
				Sum:   semiring.Any[int32](),
				Apply: Apply(func(_ Vertex, _, sum int32) (int32, bool) { return sum, true }, ""),
				Skip:  Skip(func(x int32) bool { return x >= 0 }, ""),
			}, equal)
		})
		type pair struct {
			A int32
			B float32
		}
		smallest := semiring.NewMonoid(semiring.NewBinary("smallest", func(x, y pair) pair {
			if y.A < x.A || y.A == x.A && y.B < x.B {
				return y
			}
			return x
		}, ""), pair{math.MaxInt32, 0})
		t.Run(name+"structs, some edges", func(t *testing.T) {
			t.Parallel()
			compare(t, g, Program[pair, float64, pair]{
				Init: Init(func(v Vertex) pair { return pair{v.ID * 7 % 31, float32(v.ID)} }, ""),
				Gather: GatherIf(func(src, dst pair, w float64) (pair, bool) {
					return pair{src.A + dst.A%3, src.B + float32(w)}, w > 4
				}, "", ""),
				Sum:        smallest,
				Apply:      Apply(func(_ Vertex, x, sum pair) (pair, bool) { return sum, sum != x }, ""),
				Skip:       Skip(func(x pair) bool { return x.A == 11 }, ""),
				Supersteps: 8,
			}, equal)
		})
		t.Run(name+"message lists", func(t *testing.T) {
			t.Parallel()
			compare(t, g, Program[float64, float64, float64]{
				Init:   Init(func(v Vertex) float64 { return float64(v.ID) }, ""),
				Gather: GatherIf(func(src, _, w float64) (float64, bool) { return src + w, w != 3 }, "", ""),
				Messages: Messages(func(_ Vertex, x float64, list []float64) float64 {
					sum := 0.0
					for k, m := range list { // depends on the order
						sum = sum/2 + m*float64(k+1) + x
					}
					return math.Mod(sum, 1000)
				}, ""),
				Apply:      Apply(func(v Vertex, _, sum float64) (float64, bool) { return sum, sum < 700 }, ""),
				Supersteps: 4,
			}, equal)
		})
	}
}

func TestPattern(t *testing.T) {
	t.Parallel()
	g := randomGraph(t, 80, 400, 3)
	count := Program[int32, bool, int32]{
		Init:   Value(int32(0)),
		Gather: Gather(func(_, _ int32, w bool) int32 { return int32(bit(w)) }, ""),
		Sum:    semiring.Plus[int32](),
		Apply:  Apply(func(_ Vertex, _, sum int32) (int32, bool) { return sum, false }, ""),
	}
	count.Init.Active = true
	want := make([]int32, 80)
	for i := range g.All() {
		want[i.Col]++
	}
	var never context.Context
	for _, plan := range []string{"push", "pull"} {
		res, err := Run(never, g.Pattern(), count, Options{Plan: plan})
		if err != nil {
			t.Fatal(err)
		}
		if got := sure.Get(res.State.Dense(0)); !slices.Equal(got, want) {
			t.Errorf("%s: in-degrees %v, want %v", plan, got, want)
		}
	}
}

func TestLongRow(t *testing.T) {
	t.Parallel()
	const n = 3*host.Batch + 17 // vertex 0 has more in-edges and out-edges than a host.Batch
	b := matrix.NewBuilder[float64](n, n)
	for v := 1; v < n; v++ {
		b.Add(v, 0, float64(v%13))
		b.Add(0, v, float64(v%11))
	}
	g := sure.Get(b.Build(semiring.Max[float64]()))
	sum := Program[float64, float64, float64]{
		Init:       Init(func(v Vertex) float64 { return float64(v.ID % 7) }, ""),
		Gather:     Gather(func(src, _, w float64) float64 { return src + w }, ""),
		Sum:        semiring.Plus[float64](),
		Apply:      Apply(func(_ Vertex, _, sum float64) (float64, bool) { return math.Mod(sum, 64), true }, ""),
		Supersteps: 3,
	}
	compare(t, g, sum, equal)
	sum.Gather = GatherFunc[float64, float64, float64]{}
	sum.Send = Send(func(_ Vertex, x float64) float64 { return x }, "")
	compare(t, g, sum, equal)
}

func TestEdgeLists(t *testing.T) {
	t.Parallel()
	g := randomGraph(t, 50, 260, 9)
	// An edge sends its weight twice and is not active any more; the end of the run is quiet.
	p := Program[float64, float64, float64]{
		Init: Init(func(Vertex) float64 { return 0 }, ""),
		Edges: Edges(func(v Vertex, _ float64, edges *EdgeList[float64, float64, float64]) {
			for k := range edges.Len() {
				if edges.To(k) < 0 || edges.Dst(k) < 0 || !edges.Active(k) && v.Superstep == 0 {
					t.Error("an edge of a new run is not active")
				}
				edges.Send(k, edges.Weight(k))
				edges.Send(k, edges.Weight(k))
				edges.SetActive(k, false)
			}
			if v.Superstep < 3 {
				edges.SendTo(int(v.ID), 1)
			}
		}, ""),
		Sum:   semiring.Plus[float64](),
		Apply: Apply(func(_ Vertex, x, sum float64) (float64, bool) { return x + sum, true }, ""),
	}
	want := make([]float64, 50)
	for v := range want {
		want[v] = 3
	}
	for i, w := range g.All() {
		want[i.Col] += 2 * w
	}
	for _, threads := range threadCounts {
		res, err := Run(context.Background(), g, p, Options{Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		if got := sure.Get(res.State.Dense(0)); !slices.Equal(got, want) || res.Supersteps != 4 || res.Ended != Quiet {
			t.Errorf("%d threads: %v after %d supersteps, want %v after 4", threads, got, res.Supersteps, want)
		}
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	g := randomGraph(t, 20, 60, 4)
	ok := sssp(0)
	forever := ok
	forever.Everywhere = true
	forever.Init = Init(func(Vertex) float64 { return 0 }, "")
	forever.Apply = Apply(func(_ Vertex, d, _ float64) (float64, bool) { return d + 1, true }, "")
	with := func(change func(p *Program[float64, float64, float64])) Program[float64, float64, float64] {
		p := ok
		change(&p)
		return p
	}
	type prog = *Program[float64, float64, float64]
	for _, c := range []struct {
		reason string
		p      Program[float64, float64, float64]
		o      Options
		want   error
		text   string
	}{
		{"nothing is given", Program[float64, float64, float64]{}, Options{}, new(ProgramError), "Init"},
		{"two ways to send", with(func(p prog) { p.Send = Send(func(Vertex, float64) float64 { return 0 }, "") }), Options{}, new(ProgramError), "2 of them"},
		{"no sum", with(func(p prog) { p.Sum = semiring.Monoid[float64]{} }), Options{}, new(ProgramError), "Sum"},
		{"no apply", with(func(p prog) { p.Apply = ApplyFunc[float64, float64]{} }), Options{}, new(ProgramError), "Apply"},
		{"a seed outside", with(func(p prog) { p.Seeds = At(20, 0.0) }), Options{}, new(ProgramError), "vertex 20"},
		{"a seed below", with(func(p prog) { p.Seeds = At(-1, 0.0) }), Options{}, new(ProgramError), "vertex -1"},
		{"a limit below 0", with(func(p prog) { p.Supersteps = -1 }), Options{}, new(ProgramError), "Supersteps"},
		{"an option below 0", ok, Options{MaxSupersteps: -2}, new(ProgramError), "MaxSupersteps"},
		{"another sum than the semiring's", with(func(p prog) { p.Gather = GatherOf(semiring.MaxPlus[float64]()) }), Options{}, new(ProgramError), "\"min\""},
		{"lists that repeat", with(func(p prog) {
			p.Idempotent, p.Sum = true, semiring.Monoid[float64]{}
			p.Messages = Messages(func(_ Vertex, x float64, _ []float64) float64 { return x }, "")
		}), Options{}, new(ProgramError), "Idempotent"},
		{"no width", with(func(p prog) { p.Priority = Priority(func(x float64) float64 { return x }, "") }), Options{}, new(ProgramError), "Width"},
		{"a total without a function", with(func(p prog) { p.Totals = make([]TotalFunc[float64], 1) }), Options{}, new(ProgramError), "Totals[0]"},
		{"an unknown plan", ok, Options{Plan: "pull csr twc store"}, new(PlanError), "auto, push or pull"},
		{"a program that never halts", forever, Options{MaxSupersteps: 5}, new(LimitError), "20 vertices are still active after 5"},
		{"a message to no vertex", with(func(p prog) {
			p.Gather = GatherFunc[float64, float64, float64]{}
			p.Edges = Edges(func(_ Vertex, _ float64, l *EdgeList[float64, float64, float64]) { l.SendTo(20, 1) }, "")
		}), Options{}, new(MessageError), "vertex 0 sends a message to vertex 20"},
	} {
		_, err := Run(context.Background(), g, c.p, c.o)
		if err == nil || reflect.TypeOf(err) != reflect.TypeOf(c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %T %v, want %T with %q", c.reason, err, err, c.want, c.text)
		}
	}
	res, err := Run(context.Background(), g, forever, Options{MaxSupersteps: 5})
	if !errors.Is(err, ErrLimit) || res == nil || res.Supersteps != 5 || res.Active != 20 {
		t.Errorf("the limit gives %+v, %v", res, err)
	}
	if GatherOf(semiring.MinFirsti[float64](0)).valid() {
		t.Error("a positional semiring gives a gather")
	}
	wide := matrix.New[float64](3, 4)
	var shape *matrix.DimensionError
	if _, err := Run(context.Background(), wide, ok); !errors.As(err, &shape) {
		t.Errorf("a 3×4 graph: %v", err)
	}
	if _, err := Run[float64, float64, float64](context.Background(), nil, ok); err == nil {
		t.Error("a nil graph is no error")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	for _, plan := range []string{"push", "pull"} {
		if _, err := Run(ctx, g, forever, Options{Plan: plan}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: a deadline gives %v", plan, err)
		}
	}
}

// TestPointers runs programs whose states and messages hold pointers, while the garbage collector
// runs.
func TestPointers(t *testing.T) {
	t.Parallel()
	type path struct{ text string }
	g := randomGraph(t, 90, 400, 21)
	least := semiring.NewMonoid(semiring.NewBinary("least", func(x, y path) path {
		if x.text == "" || y.text != "" && y.text < x.text {
			return y
		}
		return x
	}), path{})
	p := Program[path, float64, path]{
		Init:  Init(func(v Vertex) path { return path{strings.Repeat("x", int(v.ID)%5) + fmt.Sprint(v.ID)} }, ""),
		Sum:   least,
		Apply: Apply(func(_ Vertex, s, sum path) (path, bool) { return path{s.text[:1] + sum.text}, len(sum.text) < 9 }, ""),
	}
	sends, gathers, lists := p, p, p
	sends.Send = Send(func(v Vertex, s path) path { return path{s.text + fmt.Sprint(v.Degree%3)} }, "")
	gathers.Gather = GatherIf(func(src, dst path, w float64) (path, bool) {
		return path{src.text + fmt.Sprint(len(dst.text)%2)}, w > 3
	}, "", "")
	lists.Send, lists.Sum = sends.Send, semiring.Monoid[path]{}
	lists.Messages = Messages(func(_ Vertex, _ path, m []path) path {
		slices.SortFunc(m, func(x, y path) int { return strings.Compare(x.text, y.text) })
		return m[len(m)/2]
	}, "")
	done := make(chan bool)
	go func() {
		for {
			select {
			case <-done:
				return
			default:
				runtime.GC()
			}
		}
	}()
	defer close(done)
	for name, p := range map[string]Program[path, float64, path]{"send": sends, "gather": gathers, "lists": lists} {
		p.Supersteps = 8
		want, steps := naive(g, p, p.Supersteps)
		for _, plan := range []string{"auto", "push", "pull"} {
			for _, threads := range threadCounts {
				res, err := Run(context.Background(), g, p, Options{Plan: plan, Threads: threads})
				if err != nil {
					t.Fatal(err)
				}
				if got := sure.Get(res.State.Dense(path{})); !slices.Equal(got, want) || res.Supersteps != steps {
					t.Errorf("%s, %s, %d threads: %v after %d supersteps, want %v after %d", name, plan, threads, got, res.Supersteps, want, steps)
				}
			}
		}
	}
}
