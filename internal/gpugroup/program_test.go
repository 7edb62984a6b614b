package gpugroup

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/comm/model"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/splitmix"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/program"
	"github.com/hiveblas/hiveblas/program/examples"
	"github.com/hiveblas/hiveblas/semiring"
)

// roads returns a grid of width w with a few diagonals and small integer weights.
func roads(t *testing.T, w, h int) *matrix.Matrix[float64] {
	t.Helper()
	b := matrix.NewBuilder[float64](w*h, w*h)
	link := func(u, v int) {
		x := float64(splitmix.At(uint64(u)*31+uint64(v), 9)%7 + 1)
		b.Add(u, v, x)
		b.Add(v, u, x)
	}
	for y := range h {
		for x := range w {
			v := y*w + x
			if x+1 < w {
				link(v, v+1)
			}
			if y+1 < h {
				link(v, v+w)
			}
			if x+1 < w && y+1 < h && splitmix.At(uint64(v), 4)%5 == 0 {
				link(v, v+w+1)
			}
		}
	}
	a := sure.Get(b.Build(semiring.Min[float64]()))
	return a
}

// star returns a hub and n−1 leaves with edges both ways.
func star(t *testing.T, n, hub int) *matrix.Matrix[float64] {
	t.Helper()
	b := matrix.NewBuilder[float64](n, n)
	for v := range n {
		if v != hub {
			b.Add(v, hub, 2)
			b.Add(hub, v, 3)
		}
	}
	a := sure.Get(b.Build(semiring.Min[float64]()))
	return a
}

// labels is a program with functions that read the number, the degree and the superstep.
func labels() program.Program[int32, float64, int32] {
	return program.Program[int32, float64, int32]{
		Name:  "labels",
		Init:  program.Init(func(v program.Vertex) int32 { return v.ID*1000 + v.Degree + int32(v.N) }, "id * 1000 + degree + n"),
		Seeds: program.At(17, int32(-5)),
		Send:  program.Send(func(v program.Vertex, x int32) int32 { return min(x, 7*v.ID) }, "state < 7 * id ? state : 7 * id"),
		Sum:   semiring.Min[int32](),
		Apply: program.Apply(func(v program.Vertex, x, sum int32) (int32, bool) { return min(x, sum+v.ID%3+v.Degree%2), sum < x },
			"active = sum < state; const hb_i32 with = sum + id % 3 + degree % 2; if (with < state) state = with;"),
	}
}

// TestPrograms: graph programs on a group of GPUs have the results of one GPU, for every number of
// GPUs and of hops, and a group that has made its parts copies nothing that grows with the graph.
func TestPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("the emulator is slow")
	}
	m := newMachine(t, 3)
	length, turn := 20, longtest.Turn()%4
	if longtest.Enabled() && turn == 2 {
		length = 60
	}
	for k, c := range []struct {
		name string
		host *matrix.Matrix[float64]
	}{
		{"R-MAT", graph(t, 10, false)},
		{"undirected R-MAT", graph(t, 9, true)},
		{"roads", roads(t, length, 9)},
		{"star", star(t, 300, 150)},
		{"two vertices", star(t, 2, 0)},
		{"no edges", matrix.New[float64](40, 40)},
	} {
		name, host := c.name, c.host
		// One or two graphs a turn in full, all take 70 s, and in the quick form one of the first
		// three, which take seconds.
		full := longtest.Enabled() && k%4 == turn
		if k < 3 && !longtest.Enabled() && k != turn%3 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			one := placedAt(t, host, m.devices[0])
			n, _ := host.Dims()
			groups := map[int]*matrix.Matrix[float64]{2: placedAt(t, host, m.group(t, 2)), 3: placedAt(t, host, m.group(t, 3))}
			for at, plan := range []string{"", "push", "pull", "pull csr twc"} {
				if plan == "pull csr twc" && !full || !longtest.Takes(k+at, 3) {
					continue
				}
				run := func(p, hops int) bool {
					return (plan == "" || hops == 2) && (full || hops != 0 && (name != "R-MAT" || hops <= 2) && (hops >= 5 || p != 3))
				}
				onGroups(t, m, name+", bfs", matrix.AsView[bool](one.Pattern()), groups, patternOf, examples.BFS(n/2), plan, run)
				onGroups(t, m, name+", sssp", one.View(), groups, (*matrix.Matrix[float64]).View, examples.SSSP[float64](0, 0), plan, run)
				onGroups(t, m, name+", components", matrix.AsView[bool](one.Pattern()), groups, patternOf, examples.HCC(), plan, run)
				if n > 17 {
					onGroups(t, m, name+", labels", one.View(), groups, (*matrix.Matrix[float64]).View, labels(), plan, run)
				}
				if plan != "push" && (name == "undirected R-MAT" || name == "roads") {
					onGroups(t, m, name+", matching", matrix.AsView[bool](one.Pattern()), groups, patternOf, examples.Matching(), plan, run)
				}
			}
			for p, g := range groups {
				near(t, fmt.Sprintf("%s, %d GPUs", name, p), matrix.AsView[bool](one.Pattern()), matrix.AsView[bool](g.Pattern()))
			}
		})
	}
}

// onGroups compares a program on groups of 2 and 3 GPUs and every number of hops that run names
// with one GPU.
func onGroups[V, E, M comparable](
	t *testing.T, m machine, name string, one *matrix.View[E], groups map[int]*matrix.Matrix[float64], view func(*matrix.Matrix[float64]) *matrix.View[E],
	prog program.Program[V, E, M], plan string, run func(p, hops int) bool,
) {
	t.Helper()
	want := onOne(t, one, prog, plan)
	for _, p := range []int{2, 3} {
		for _, hops := range []int{1, 2, 5, 0, program.AutoHops} {
			if run(p, hops) {
				sameAs(t, m, fmt.Sprintf("%s, %d GPUs, %d hops %s", name, p, hops, plan), want, view(groups[p]), prog, program.Options{Hops: hops, Plan: plan})
			}
		}
	}
}

func same[V, E, M comparable](
	t *testing.T, m machine, name string, one, group *matrix.View[E], p program.Program[V, E, M], o program.Options,
) {
	t.Helper()
	sameAs(t, m, name, onOne(t, one, p, o.Plan), group, p, o)
}

// onOne runs a program on one GPU.
func onOne[V, E, M comparable](t *testing.T, one *matrix.View[E], p program.Program[V, E, M], plan string) *program.Result[V] {
	t.Helper()
	want, err := program.Run(t.Context(), one, p, program.Options{Plan: plan})
	if err != nil {
		t.Fatal(err)
	}
	return want
}

func sameAs[V, E, M comparable](
	t *testing.T, m machine, name string, want *program.Result[V], group *matrix.View[E], p program.Program[V, E, M], o program.Options,
) {
	t.Helper()
	for k := range 2 {
		copied := m.copied()
		steps, last := 0, int64(0)
		o.Trace = func(s program.Step) { steps, last = steps+1, s.Active }
		got, err := program.Run(t.Context(), group, p, o)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if n := copied(); k > 0 && n > 65536 {
			t.Errorf("%s: %d bytes between host and device", name, n)
		}
		if got.State.Place() != group.Place() || got.Supersteps != want.Supersteps || got.Ended != want.Ended || got.Active != want.Active {
			t.Errorf("%s: %d supersteps, %v, %d active, want %d, %v, %d", name, got.Supersteps, got.Ended, got.Active, want.Supersteps, want.Ended, want.Active)
		}
		if steps != want.Supersteps || steps > 0 && last == 0 {
			t.Errorf("%s: %d supersteps are traced, the last of %d vertices; want %d", name, steps, last, want.Supersteps)
		}
		if fmt.Sprint(got.State.NVals()) != fmt.Sprint(want.State.NVals()) || !slices.Equal(entries(got.State), entries(want.State)) {
			x, y := entries(got.State), entries(want.State)
			for i := range min(len(x), len(y)) {
				if x[i] != y[i] {
					t.Errorf("%s: state %s, want %s", name, x[i], y[i])
					break
				}
			}
			t.Errorf("%s: %d states, want %d", name, len(x), len(y))
		}
	}
}

// near compares PageRank: sums of floats may be in another order.
func near(t *testing.T, name string, one, group *matrix.View[bool]) {
	t.Helper()
	want, err := program.Run(t.Context(), one, examples.PageRank(.85, 1e-9))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got, err := program.Run(t.Context(), group, examples.PageRank(.85, 1e-9), program.Options{Hops: 3})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got.Supersteps != want.Supersteps || got.Ended != want.Ended || len(got.Total) != 2 || math.Abs(got.Total[0]-want.Total[0]) > 1e-9 {
			t.Errorf("%s: %d supersteps, %v, totals %v, want %d, %v, %v", name, got.Supersteps, got.Ended, got.Total, want.Supersteps, want.Ended, want.Total)
		}
		for i, r := range want.State.All() {
			if x, ok := got.State.At(i); !ok || math.Abs(x.Rank-r.Rank) > 1e-12 {
				t.Fatalf("%s: vertex %d has %v, want %v", name, i, x, r)
			}
		}
	}
}

// Programs by parts end, fail and count supersteps as others, put vertices in another order, and
// run whole where parts are not possible.
func TestProgramsByParts(t *testing.T) {
	if testing.Short() {
		t.Skip("the emulator is slow")
	}
	m := newMachine(t, 2)
	host := roads(t, 40, 8)
	n, _ := host.Dims()
	one, g := placedAt(t, host, m.devices[0]), placedAt(t, host, m.group(t, 2))
	bfs := examples.BFS(3)
	for k, hops := range []int{1, 4} {
		if !longtest.Takes(k, 2) {
			continue
		}
		steps := 0
		res, err := program.Run(t.Context(), g.Pattern(), bfs, program.Options{MaxSupersteps: 6, Hops: hops, Progress: func(int, int64) { steps++ }})
		want, wantErr := program.Run(t.Context(), one.Pattern(), bfs, program.Options{MaxSupersteps: 6})
		if !errors.Is(err, program.ErrLimit) || !errors.Is(wantErr, program.ErrLimit) || steps != 6 || res.Active != want.Active ||
			!slices.Equal(entries(res.State), entries(want.State)) {
			t.Errorf("%d hops: %d supersteps are reported, %d are active, and the error is %v", hops, steps, res.Active, err)
		}
		few := bfs
		few.Supersteps = 5
		same(t, m, fmt.Sprint("five supersteps, hops ", hops), matrix.AsView[bool](one.Pattern()), matrix.AsView[bool](g.Pattern()), few, program.Options{Hops: hops})

		ctx, cancel := context.WithCancel(t.Context())
		_, err = program.Run(ctx, g.Pattern(), bfs, program.Options{Hops: hops, Progress: func(step int, _ int64) {
			if step == 8 {
				cancel()
			}
		}})
		if !errors.Is(err, context.Canceled) {
			t.Error("cancelled:", err)
		}
		same(t, m, "after a cancelled run", matrix.AsView[bool](one.Pattern()), matrix.AsView[bool](g.Pattern()), bfs, program.Options{Hops: hops})
	}
	// A graph that is changed or moved drops its parts.
	other := placedAt(t, host, m.group(t, 2))
	same(t, m, "before a move", matrix.AsView[bool](one.Pattern()), matrix.AsView[bool](other.Pattern()), bfs, program.Options{Hops: 2})
	sure.Do(other.Move(nil))
	other.Clear()
	// The model replicates a grid if an exchange is slow.
	h200 := model.H200()
	same(t, m, "by the model", matrix.AsView[bool](one.Pattern()), matrix.AsView[bool](g.Pattern()), bfs, program.Options{Hops: program.AutoHops, Machine: &h200})

	// With Priority, and GPUs that are several ranks, each runs the whole program.
	same(t, m, "priority", one.View(), g.View(), examples.SSSP[float64](0, 4), program.Options{})
	same(t, m, "two ranks a GPU", matrix.AsView[bool](one.Pattern()), matrix.AsView[bool](placedAt(t, host, m.group(t, 3)).Pattern()), bfs, program.Options{})

	numbers, order := make([]int32, n), make([]int, n)
	for k := range n {
		v := (k*7 + 3) % n
		numbers[k], order[k] = int32(v), v
	}
	for v := range n / 3 { // some swaps of neighbours
		numbers[3*v], numbers[3*v+1] = numbers[3*v+1], numbers[3*v]
		order[3*v], order[3*v+1] = order[3*v+1], order[3*v]
	}
	other = placedAt(t, permuted(t, host, order), m.group(t, 2))
	want, err := program.Run(t.Context(), one.View(), labels())
	if err != nil {
		t.Fatal(err)
	}
	for k, hops := range []int{1, 3} {
		if !longtest.Takes(k, 2) {
			continue
		}
		got, err := program.Run(t.Context(), other.View(), labels(), program.Options{Numbers: numbers, Hops: hops})
		if err != nil {
			t.Fatal(err)
		}
		x, y := sure.Get(got.State.Dense(0)), sure.Get(want.State.Dense(0))
		for k, v := range numbers {
			if x[k] != y[v] {
				t.Fatalf("%d hops: vertex %d has %d, want %d", hops, v, x[k], y[v])
			}
		}
	}
	if _, err := program.Run(t.Context(), other.View(), labels(), program.Options{Numbers: numbers, Plan: "pull nowhere"}); err == nil {
		t.Error("a plan that does not exist ran")
	}
	broken := labels()
	broken.Apply.CUDA = "state = nothing;"
	if _, err := program.Run(t.Context(), g.View(), broken); err == nil || !strings.Contains(err.Error(), "nothing") {
		t.Error("text that does not compile:", err)
	}
	same(t, m, "after text that does not compile", matrix.AsView[bool](one.Pattern()), matrix.AsView[bool](g.Pattern()), bfs, program.Options{})
}

// permuted returns the graph with vertex order[k] of a as vertex k.
func permuted(t *testing.T, a *matrix.Matrix[float64], order []int) *matrix.Matrix[float64] {
	t.Helper()
	n := len(order)
	at := make([]int, n)
	for k, v := range order {
		at[v] = k
	}
	b := matrix.NewBuilder[float64](n, n)
	for c, x := range a.All() {
		b.Add(at[c.Row], at[c.Col], x)
	}
	out := sure.Get(b.Build(semiring.Min[float64]()))
	return out
}

// patternOf returns the pattern of a matrix as a view.
func patternOf(a *matrix.Matrix[float64]) *matrix.View[bool] { return matrix.AsView[bool](a.Pattern()) }

// TestProgramFile: a group of GPUs runs no program files.
func TestProgramFile(t *testing.T) {
	m := newMachine(t, 2)
	file := sure.Get(program.ReadFile(strings.NewReader("state int32\nmessage int32\ninit id\nsend state\nsum min\napply state = sum\n"), "least.prog"))
	var plan *program.PlanError
	_, err := program.RunFileColumns(context.Background(), placedAt(t, star(t, 20, 3), m.group(t, 2)), file)
	if !errors.As(err, &plan) || !strings.Contains(err.Error(), "move the graph to one device or to the host") {
		t.Error(err)
	}
}
