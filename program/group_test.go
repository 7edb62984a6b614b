package program

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/model"
	"github.com/hiveblas/hiveblas/comm/spmd"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/program/internal/halo"
	"github.com/hiveblas/hiveblas/semiring"
)

// path returns the undirected path of n vertices with edges of weight 1.
func path(t *testing.T, n int) *matrix.Matrix[float64] {
	t.Helper()
	b := matrix.NewBuilder[float64](n, n)
	for v := range n - 1 {
		b.Add(v, v+1, 1)
		b.Add(v+1, v, 1)
	}
	a := sure.Get(b.Build(semiring.Max[float64]()))
	return a
}

// placed returns a copy of a graph on ranks of the host, and a function that counts the exchanges
// of rank 0 since the last call.
func placed(t *testing.T, a *matrix.Matrix[float64], ranks int) (*matrix.Matrix[float64], *comm.Group, func() uint64) {
	t.Helper()
	g := sure.Get(comm.LocalGroup(ranks))
	a = a.Clone()
	sure.Do(a.Move(g))
	var last uint64
	return a, g, func() uint64 {
		calls := uint64(g.Ranks()[0].Ledger().Of(comm.KindAllToAllV).Calls)
		calls, last = calls-last, calls
		return calls
	}
}

// cutGraph returns the parts of a graph on ranks of the host, and their edges.
func cutGraph(t *testing.T, g *comm.Group, a *matrix.Matrix[float64], hops int, m *model.Machine) ([]*halo.Part, []*halo.Host) {
	t.Helper()
	view := a.Inside()
	cuts := sure.Get(view.Cuts(nil, g))
	in, out := sure.Get(view.T().Parts(rep.Query{Group: g, Cuts: cuts})), sure.Get(view.Parts(rep.Query{Group: g, Cuts: cuts}))
	parts, edges := make([]*halo.Part, g.Size()), make([]*halo.Host, g.Size())
	s := spmd.Begin(nil, g, "cut")
	sure.Do(s.Each(func(k int, c comm.Comm) (err error) {
		edges[k] = halo.OnHost(cuts[k], in[k].Rows(), out[k].Rows())
		parts[k], err = halo.Make(s, c, cuts, edges[k], halo.Options{Hops: hops, Edge: 8, State: 8, Machine: m})
		return err
	}))
	return parts, edges
}

// With h hops, ranks exchange once in h supersteps.
func TestHops(t *testing.T) {
	t.Parallel()
	const n = 400
	a, g, exchanges := placed(t, path(t, n), 4)
	bfs := sssp(0)
	run := func(o Options) uint64 {
		t.Helper()
		cutGraph(t, g, a, o.Hops, o.Machine)
		before := exchanges() // of finding the copies
		res, err := Run(context.Background(), a, bfs, o)
		if err != nil {
			t.Fatal(err)
		}
		for v, d := range sure.Get(res.State.Dense(math.NaN())) {
			if d != float64(v) {
				t.Fatalf("%+v: vertex %d has distance %v", o, v, d)
			}
		}
		if res.Supersteps != n {
			t.Fatalf("%+v: %d supersteps, want %d", o, res.Supersteps, n)
		}
		return exchanges() - before
	}
	if _, err := Run(context.Background(), a, bfs); err != nil { // makes the transpose
		t.Fatal(err)
	}
	exchanges()
	for _, h := range []int{1, 2, 5, 16} {
		if got, want := run(Options{Hops: h}), uint64((n+h-1)/h-1); got != want {
			t.Errorf("%d hops: %d exchanges, want %d", h, got, want)
		}
	}
	// Latency is all that an exchange on a path costs: the model replicates as far as it looks.
	h200 := model.H200()
	if got := run(Options{Hops: AutoHops, Machine: &h200}); got > n/8 {
		t.Errorf("the model chose hops with %d exchanges in %d supersteps", got, n)
	}
	if parts, _ := cutGraph(t, g, a, AutoHops, &h200); parts[0].Hops < 8 {
		t.Errorf("%d hops on a path", parts[0].Hops)
	}
	// One more hop of a random graph is all of it.
	a, g, _ = placed(t, randomGraph(t, 3000, 60000, 5), 4)
	slow := h200
	slow.Memory = 1e8
	if parts, _ := cutGraph(t, g, a, AutoHops, &slow); parts[0].Hops != 1 {
		t.Errorf("%d hops on a random graph", parts[0].Hops)
	}
	if _, err := Run(context.Background(), a, bfs, Options{Hops: AutoHops}); err != nil { // measures
		t.Error(err)
	}
}

// The vertices of a rank are its own and those within the hops.
func TestCutGraph(t *testing.T) {
	t.Parallel()
	const n = 40
	a, g, _ := placed(t, path(t, n), 4)
	for _, hops := range []int{1, 2, 3, 50} {
		parts, edges := cutGraph(t, g, a, hops, nil)
		for r, h := range parts {
			lo, hi := max(0, h.From-hops), min(n, h.To+hops)
			var want []int32
			for v := lo; v < hi; v++ {
				want = append(want, int32(v))
			}
			if !slices.Equal(h.Ids, want) {
				t.Errorf("%d hops, rank %d: %v, want %v", hops, r, h.Ids, want)
			}
			for v, id := range h.Ids {
				near := int(id) >= h.From-hops+1 && int(id) < h.To+hops-1
				in := edges[r].Joined.Ptr[v+1] - edges[r].Joined.Ptr[v]
				deg := int64(2)
				if id == 0 || id == n-1 {
					deg = 1
				}
				if near && in != deg || !near && in != 0 || int64(edges[r].Deg[v]) != deg {
					t.Errorf("%d hops, rank %d, vertex %d: %d in-edges, degree %d", hops, r, id, in, edges[r].Deg[v])
				}
			}
		}
	}
}

func TestGroupOfProgramErrors(t *testing.T) {
	t.Parallel()
	a, g, _ := placed(t, path(t, 50), 3)
	if _, err := Run(context.Background(), a, sssp(0), Options{Hops: -2}); !isProgramError(err, "Hops") {
		t.Error("hops:", err)
	}
	res, err := Run(context.Background(), a, sssp(0), Options{MaxSupersteps: 7, Hops: 4})
	if !errors.Is(err, ErrLimit) || res == nil || res.Supersteps != 7 || res.Active != 1 {
		t.Error("limit:", res, err)
	}
	if _, err := Run(context.Background(), a, sssp(0), Options{Plan: "pull sell"}); err == nil {
		t.Error("a plan of a device ran on ranks of the host")
	}
	// The end of a context on one rank ends the run on all, and leaves the group usable.
	ctx, cancel := context.WithCancel(context.Background())
	o := Options{Progress: func(step int, _ int64) {
		if step == 5 {
			cancel()
		}
	}}
	if _, err := Run(ctx, a, sssp(0), o); !errors.Is(err, context.Canceled) {
		t.Error("cancelled:", err)
	}
	if _, err := Run(ctx, a, sssp(0)); !errors.Is(err, context.Canceled) {
		t.Error("cancelled before:", err)
	}
	if res, err := Run(context.Background(), a, sssp(0)); err != nil || res.State.Place() != matrix.Place(g) {
		t.Error("after a cancelled run:", err)
	}
	text := Program[string, float64, bool]{Init: Value(""),
		Send: Send(func(Vertex, string) bool { return true }, ""), Sum: semiring.Any[bool](),
		Apply: Apply(func(_ Vertex, s string, _ bool) (string, bool) { return s, false }, "")}
	if _, err := Run(context.Background(), a, text); !errors.Is(err, matrix.ErrInvalid) {
		t.Error("states with pointers:", err)
	}
}

// The end of the context of one process ends the run of all.
func TestCancelledProcess(t *testing.T) {
	t.Parallel()
	const ranks = 3
	list := sure.Get(comm.Local(ranks, comm.Timeout(20*time.Second)))
	errs := make([]error, ranks)
	var wait sync.WaitGroup
	for r := range list {
		wait.Go(func() {
			a := path(t, 50)
			sure.Do(a.Move(sure.Get(comm.NewGroup(list[r : r+1]))))
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			_, errs[r] = Run(ctx, a, sssp(0), Options{Progress: func(step int, _ int64) {
				if step == 5 && r == 1 {
					cancel()
				}
			}})
		})
	}
	wait.Wait()
	for r, err := range errs {
		var e *comm.RankError
		if r == 1 && !errors.Is(err, context.Canceled) || r != 1 && !errors.As(err, &e) {
			t.Errorf("rank %d: %v", r, err)
		}
	}
}

func isProgramError(err error, part string) bool {
	var p *ProgramError
	return errors.As(err, &p) && p.Part == part
}

// Numbers put the vertices in another order without a change of the states, on the host and on
// groups.
func TestNumbers(t *testing.T) {
	t.Parallel()
	const n = 300
	a := randomGraph(t, n, 2000, 3)
	r := rand.New(rand.NewPCG(4, 4))
	numbers := make([]int32, n)
	list := r.Perm(n)
	for k, v := range list {
		numbers[k] = int32(v)
	}
	b := matrix.New[float64](n, n)
	if err := ops.Extract(b, a, ops.Of(list...), ops.Of(list...)); err != nil {
		t.Fatal(err)
	}
	labels := Program[int32, float64, int32]{
		Init:  Init(func(v Vertex) int32 { return v.ID*1000 + v.Degree }, ""),
		Seeds: At(17, int32(-5)),
		Send:  Send(func(v Vertex, x int32) int32 { return min(x, 7*v.ID) }, ""),
		Sum:   semiring.Min[int32](),
		Apply: Apply(func(v Vertex, x, sum int32) (int32, bool) { return min(x, sum+v.ID%3), sum < x }, ""),
	}
	want, err := Run(context.Background(), a, labels)
	if err != nil {
		t.Fatal(err)
	}
	there, _, _ := placed(t, b, 3)
	for where, g := range map[string]*matrix.Matrix[float64]{"host": b, "group": there} {
		for _, hops := range []int{1, 2} {
			got, err := Run(context.Background(), g, labels, Options{Numbers: numbers, Hops: hops})
			if err != nil {
				t.Fatal(where, err)
			}
			x, y := sure.Get(got.State.Dense(0)), sure.Get(want.State.Dense(0))
			for k, v := range numbers {
				if x[k] != y[v] {
					t.Fatalf("%s, %d hops: vertex %d has %d, want %d", where, hops, v, x[k], y[v])
				}
			}
		}
	}
	for name, bad := range map[string][]int32{"few": numbers[1:], "twice": append([]int32{numbers[1]}, numbers[1:]...),
		"large": append([]int32{n}, numbers[1:]...), "negative": append([]int32{-1}, numbers[1:]...)} {
		if _, err := Run(context.Background(), b, labels, Options{Numbers: bad}); !isProgramError(err, "Numbers") {
			t.Error(name, err)
		}
	}
	lists := labels
	lists.Sum = semiring.Monoid[int32]{}
	lists.Messages = Messages(func(_ Vertex, _ int32, m []int32) int32 { return slices.Min(m) }, "")
	if _, err := Run(context.Background(), b, lists, Options{Numbers: numbers}); !isProgramError(err, "Numbers") {
		t.Error("messages:", err)
	}
}
