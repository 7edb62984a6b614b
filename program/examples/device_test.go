package examples_test

import (
	"context"
	"errors"
	"math"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/emu"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/program"
	"github.com/hiveblas/hiveblas/program/examples"
	"github.com/hiveblas/hiveblas/semiring"
)

// openEmulated opens the emulated device, or with HIVEBLAS_TEST_GPU the first GPU.
var openEmulated = sync.OnceValues(func() (*cusparse.Device, error) {
	if os.Getenv("HIVEBLAS_TEST_GPU") != "" {
		return cusparse.Open(0)
	}
	e, err := emu.New(emu.Shuffled(uint64(longtest.Turn())))
	if err != nil {
		return nil, err
	}
	c, err := emu.NewCompiler()
	if err != nil {
		return nil, err
	}
	recorded.Compiler = c
	return cusparse.Open(0, cusparse.WithDriver(e), cusparse.WithKernelCache("off"),
		cusparse.WithCompiler("emulator", func() (driver.Compiler, error) { return &recorded, nil }))
})

// recorder compiles for the emulator and keeps the sources.
type recorder struct {
	driver.Compiler
	mu      sync.Mutex
	sources map[string]string // by source: the name
}

var recorded = recorder{sources: map[string]string{}}

func (r *recorder) Compile(source, name, arch string) ([]byte, error) {
	r.mu.Lock()
	r.sources[source] = name
	r.mu.Unlock()
	return r.Compiler.Compile(source, name, arch)
}

// compileByNVRTC compiles the kernels of programs that were recorded. It needs HIVEBLAS_NVRTC, not
// a GPU.
func compileByNVRTC(t *testing.T) {
	if os.Getenv("HIVEBLAS_NVRTC") == "" {
		t.Skip("HIVEBLAS_NVRTC names no compiler; scripts/nvrtc.sh fetches one")
	}
	nvrtc, err := driver.OpenCompiler()
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for source, name := range recorded.sources {
		archs := []string{"sm_70", "sm_90"}
		switch ends := strings.Contains(source, "#define HB_ENDS 1"); {
		case strings.Contains(source, "wieght"): // meant to fail
			continue
		case ends && strings.Contains(name, "matching"):
			archs = archs[1:]
		case ends || !strings.Contains(source, "hb_program_apply") && !strings.Contains(source, "hb_program_post"):
			continue
		}
		tried++
		for _, arch := range archs {
			if _, err := nvrtc.Compile(source, name, arch); err != nil {
				t.Errorf("%s for %s: %v", name, arch, err)
			}
		}
	}
	if tried < 8 {
		t.Errorf("%d kernels were recorded", tried)
	}
}

func emulated(t testing.TB) *cusparse.Device {
	t.Helper()
	d, err := openEmulated()
	if errors.Is(err, emu.ErrUnavailable) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// plans are one of each direction, layout, schedule and frame that programs meet most.
var plans = []string{
	"auto", "push", "pull", "pull csr vm store", "push csr vm bitmap from=list", "pull sell vm store order=log",
	"push csr twc append from=list", "pull coo emv atomic", "push coo em bitmap from=bitmap", "pull csr strict segmented",
	"pull ell wm store", "push csr cm bitmap from=bitmap", "pull csr mpp segmented", "pull csr vw store lanes=4", "pull csr tiles segmented",
	"buffer rows", "buffer rows vm", "buffer columns",
}

// onDevice runs a program on the host and by plans on the emulated device, and compares. Plans that
// do not suit a program are errors that say so.
func onDevice[V, E, M comparable](
	t *testing.T, first int, host, there matrix.Source[E], p program.Program[V, E, M], same func(x, y V) bool,
) {
	t.Helper()
	want, err := program.Run(context.Background(), host, p)
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for k, plan := range plans {
		if !longtest.Enabled() && k > 0 && k != first && !(strings.HasPrefix(plan, "buffer") && k%3 == first%3) {
			continue
		}
		got, err := program.Run(context.Background(), there, p, program.Options{Plan: plan})
		var clash *program.PlanError
		if errors.As(err, &clash) && strings.Contains(clash.Reason, "clash") && len(plan) > 4 {
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", plan, err)
		}
		ran++
		if got.State.Place() != matrix.AsView[E](there).Place() {
			t.Errorf("%s: the states live at %v", plan, got.State.Place())
		}
		if (!p.Idempotent && p.Priority.Func == nil) && (got.Supersteps != want.Supersteps || got.Ended != want.Ended || got.Active != want.Active) {
			t.Errorf("%s: %d supersteps (%s, %d active), want %d (%s, %d)", plan, got.Supersteps, got.Ended, got.Active,
				want.Supersteps, want.Ended, want.Active)
		}
		state := sure.Get(got.State.Dense(*new(V)))
		for v, x := range want.State.All() {
			if !same(state[v], x) {
				t.Fatalf("%s: vertex %d has %v, want %v", plan, v, state[v], x)
			}
		}
	}
	if ran < 2 {
		t.Errorf("%d plans ran", ran)
	}
}

func equal[V comparable](x, y V) bool { return x == y }

// TestRoundsOnDevice runs programs in which the device runs supersteps by itself, some of them
// between products.
func TestRoundsOnDevice(t *testing.T) {
	dev := emulated(t)
	weighted := func(tuples gen.Tuples) (host, there *matrix.Matrix[float32]) {
		g := gen.CSR(tuples)
		narrow := make([]float32, len(g.Idx))
		for k, x := range gen.UniformFloats(g, 5, true) {
			narrow[k] = float32(x)
		}
		host, err := matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, narrow)
		if err != nil {
			t.Fatal(err)
		}
		there = host.Clone()
		if err := there.Move(dev); err != nil {
			t.Fatal(err)
		}
		return host, there
	}
	grid, gridThere := weighted(gen.Grid2D(25, 21))
	rmat, rmatThere := weighted(gen.Symmetrise(gen.RMAT(8, 6, gen.RMATOptions{})))
	t.Run("bfs", func(t *testing.T) {
		rounds(t, 1, grid.Pattern(), gridThere.Pattern(), examples.BFS(3))
		rounds(t, 1, rmat.Pattern(), rmatThere.Pattern(), examples.BFS(3))
	})
	t.Run("sssp", func(t *testing.T) {
		for _, width := range []float32{0, .02, .3, 1e9} {
			rounds(t, 1, grid, gridThere, examples.SSSP(3, width))
			rounds(t, 1, rmat, rmatThere, examples.SSSP(3, width))
		}
	})
	t.Run("priority and products", func(t *testing.T) {
		// Many edges are active after two supersteps: products take over, and the queue ends the
		// run.
		kinds := map[bool]int{}
		first, last := "", ""
		p := examples.SSSP(3, float32(.3))
		got, err := program.Run(context.Background(), rmatThere, p, program.Options{Trace: func(s program.Step) {
			if kinds[s.Plan == "push queue"]++; first == "" {
				first = s.Plan
			}
			last = s.Plan
		}})
		if err != nil {
			t.Fatal(err)
		}
		want, err := program.Run(context.Background(), rmat, p)
		if err != nil {
			t.Fatal(err)
		}
		if !got.State.Equal(want.State) {
			t.Errorf("%v, want %v", sure.Get(got.State.Dense(0)), sure.Get(want.State.Dense(0)))
		}
		if kinds[true] == 0 || kinds[false] == 0 || first != "push queue" || last != "push queue" {
			t.Errorf("%d supersteps of the queue and %d products, the first by %s, the last by %s", kinds[true], kinds[false], first, last)
		}
	})
	t.Run("hcc", func(t *testing.T) {
		rounds(t, 1, grid.Pattern(), gridThere.Pattern(), examples.HCC())
	})
	t.Run("matching", func(t *testing.T) {
		rounds(t, 0, grid.Pattern(), gridThere.Pattern(), examples.Matching())
		rounds(t, 0, rmat.Pattern(), rmatThere.Pattern(), examples.Matching())
	})
}

// rounds runs a program by auto and push, and wants at least some supersteps by the device alone.
func rounds[V, E, M comparable](t *testing.T, least int, host, there matrix.Source[E], p program.Program[V, E, M]) {
	t.Helper()
	want, err := program.Run(context.Background(), host, p)
	if err != nil {
		t.Fatal(err)
	}
	limits := []int{0}
	if !p.Idempotent {
		limits = append(limits, max(1, want.Supersteps/2))
	}
	for _, plan := range []string{"", "push"} {
		for _, limit := range limits {
			alone, next := 0, 0
			o := program.Options{Plan: plan, Trace: func(s program.Step) {
				if s.Superstep != next || s.Active <= 0 {
					t.Errorf("%s: superstep %d of %d active, want number %d", plan, s.Superstep, s.Active, next)
				}
				next++
				if s.Plan == "push queue" || plan == "" && s.Plan == "pull list" {
					alone++
				}
			}}
			q := p
			q.Supersteps = limit
			expect := want
			if limit > 0 {
				if expect, err = program.Run(context.Background(), host, q); err != nil {
					t.Fatal(err)
				}
			}
			got, err := program.Run(context.Background(), there, q, o)
			if err != nil {
				t.Fatal(err)
			}
			if !got.State.Equal(expect.State) {
				t.Fatalf("%s to %d: %v, want %v", plan, limit, sure.Get(got.State.Dense(*new(V))), sure.Get(expect.State.Dense(*new(V))))
			}
			if !p.Idempotent && (got.Supersteps != expect.Supersteps || got.Active != expect.Active || got.Ended != expect.Ended) {
				t.Errorf("%s to %d: %d supersteps, %d active, %s, want %d, %d, %s", plan, limit, got.Supersteps, got.Active, got.Ended,
					expect.Supersteps, expect.Active, expect.Ended)
			}
			if next != got.Supersteps || alone < least || plan == "push" && alone != next {
				t.Errorf("%s: %d supersteps traced of %d, %d by the device alone, want at least %d", plan, next, got.Supersteps, alone, least)
			}
		}
	}
}

// TestPullsOnDevice runs programs in which the device pulls by itself: hubs that no active vertex
// reaches, vertices that take several messages, edges that bring none, directed graphs, a push
// after a pull and a pull after that.
func TestPullsOnDevice(t *testing.T) {
	dev := emulated(t)
	type taken struct{ Took, When int32 }
	twice := func(source int) program.Program[taken, float32, int32] {
		return program.Program[taken, float32, int32]{ // a vertex takes messages in two supersteps
			Name:   "twice",
			Seeds:  program.At(source, taken{2, 1}),
			Init:   program.Value(taken{}),
			Gather: program.GatherIf(func(_, _ taken, w float32) (int32, bool) { return 1, w > .05 }, "1", "weight > .05f"),
			Sum:    semiring.Any[int32](),
			Apply: program.Apply(func(v program.Vertex, s taken, sum int32) (taken, bool) {
				return taken{s.Took + sum, s.When*100 + int32(v.Superstep)}, true
			}, "state = {state.Took + sum, state.When * 100 + superstep}"),
			Skip: program.Skip(func(s taken) bool { return s.Took >= 2 }, "state.Took >= 2"),
		}
	}
	// Two stars of 6000 and 3000 leaves with a path between their hubs, a third star apart, a dense
	// part behind a path.
	var hubs gen.Tuples
	hubs.NRows, hubs.NCols = 13000, 13000
	edge := func(i, j int) {
		hubs.Rows, hubs.Cols = append(hubs.Rows, int32(i), int32(j)), append(hubs.Cols, int32(j), int32(i))
	}
	for k := range 6000 {
		edge(3, 10+k)
	}
	for k := range 3000 {
		edge(5, 6010+k)
		edge(7, 9010+k)
	}
	for k := range 5 {
		edge(12010+k, 12011+k)
	}
	edge(10, 12010)
	edge(12015, 6010)
	for i := range 40 {
		for j := range i {
			edge(12100+i, 12100+j)
		}
	}
	edge(6011, 12100)
	// A hub of 3000 leaves; only the last neighbour is active when the hub looks.
	var late gen.Tuples
	late.NRows, late.NCols = 4500, 4500
	edge = func(i, j int) {
		late.Rows, late.Cols = append(late.Rows, int32(i), int32(j)), append(late.Cols, int32(j), int32(i))
	}
	for k := range 400 {
		edge(0, 4000+k)
		for d := 1; d < 8; d++ {
			edge(4000+k, 4000+(k+d*d)%400)
		}
	}
	for k := range 3000 {
		edge(450, 500+k)
	}
	edge(450, 4399)
	// Layers of 40 vertices with all edges to the next, a path of four, and such layers again.
	var layers gen.Tuples
	layers.NRows, layers.NCols = 500, 500
	to := func(i, j int) {
		layers.Rows, layers.Cols = append(layers.Rows, int32(i)), append(layers.Cols, int32(j))
	}
	for _, base := range []int{1, 205} {
		for i := range 40 {
			to(base-1, base+i)
			for l := range 4 {
				for j := range 40 {
					to(base+40*l+i, base+40*l+40+j)
				}
			}
			if base == 1 {
				to(161+i, 201)
			}
		}
	}
	for v := 201; v < 204; v++ {
		to(v, v+1)
	}
	for name, in := range map[string]struct {
		tuples  gen.Tuples
		sources []int
	}{
		"late hub": {late, []int{0}},
		"layers":   {layers, []int{0}},
		"rmat":     {gen.Symmetrise(gen.RMAT(10, 8, gen.RMATOptions{})), []int{3, 11}},
		"directed": {gen.RMAT(10, 8, gen.RMATOptions{}), []int{3, 11}},
		"hubs":     {hubs, []int{3, 11, 12012, 12105}},
	} {
		t.Run(name, func(t *testing.T) {
			g := gen.CSR(in.tuples)
			val := make([]float32, len(g.Idx))
			for k, x := range gen.UniformFloats(g, 5, name != "directed") {
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
			pulled := 0
			for _, source := range in.sources {
				pulled += pulls(t, host.Pattern(), there.Pattern(), examples.BFS(source))
				pulled += pulls(t, host, there, twice(source))
			}
			if pulled == 0 {
				t.Error("no superstep was a pull")
			}
		})
	}
}

// pulls runs a program on the host and on the device, and returns the number of supersteps that
// pulled there.
func pulls[V, E, M comparable](t *testing.T, host, there matrix.Source[E], p program.Program[V, E, M]) (n int) {
	t.Helper()
	want, err := program.Run(context.Background(), host, p)
	if err != nil {
		t.Fatal(err)
	}
	got, err := program.Run(context.Background(), there, p, program.Options{Trace: func(s program.Step) {
		if s.Plan == "pull list" {
			n++
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if !got.State.Equal(want.State) || got.Supersteps != want.Supersteps || got.Active != want.Active || got.Ended != want.Ended {
		t.Errorf("%s: %d supersteps, %d active, %s, equal states %v, want %d, %d, %s", p.Name, got.Supersteps, got.Active, got.Ended,
			got.State.Equal(want.State), want.Supersteps, want.Active, want.Ended)
	}
	return n
}

// TestMemoryOnDevice: supersteps give back what they allocate.
func TestMemoryOnDevice(t *testing.T) {
	dev := emulated(t)
	const n = 4000
	tuples := gen.Grid2D(1, n)
	g := gen.CSR(tuples)
	there, err := matrix.FromCSR(n, n, g.Ptr, g.Idx, make([]bool, len(g.Idx)))
	if err != nil {
		t.Fatal(err)
	}
	if err := there.Move(dev); err != nil {
		t.Fatal(err)
	}
	for _, plan := range []string{"pull csr vm store", "buffer rows", "push csr vm bitmap from=bitmap"} {
		peak := [2]uint64{}
		for k, steps := range []int{5, 60} {
			p := examples.BFS(0)
			p.Supersteps = steps
			most := uint64(0)
			o := program.Options{Plan: plan, Trace: func(program.Step) { most = max(most, dev.Memory().InUse) }}
			res, err := program.Run(context.Background(), there, p, o)
			if err != nil || res.Supersteps != steps {
				t.Fatalf("%s: %v, %v", plan, res, err)
			}
			peak[k] = most
		}
		if peak[1] > peak[0]+32*n {
			t.Errorf("%s: 60 supersteps used %d bytes, 5 used %d", plan, peak[1], peak[0])
		}
	}
	ranks := [2]uint64{}
	for k, steps := range []int{5, 40} {
		p := examples.PageRank(.85, -1)
		p.Supersteps = steps
		o := program.Options{Trace: func(program.Step) { ranks[k] = max(ranks[k], dev.Memory().InUse) }}
		if _, err := program.Run(context.Background(), there, p, o); err != nil {
			t.Fatal(err)
		}
	}
	if ranks[1] > ranks[0]+32*n {
		t.Errorf("PageRank: 40 supersteps used %d bytes, 5 used %d", ranks[1], ranks[0])
	}
}

func TestOnDevice(t *testing.T) {
	dev := emulated(t)
	tuples := gen.Symmetrise(gen.RMAT(6, 5, gen.RMATOptions{}))
	if longtest.Enabled() {
		tuples = gen.Symmetrise(gen.RMAT(9, 6, gen.RMATOptions{}))
	}
	g := gen.CSR(tuples)
	val := gen.UniformFloats(g, 5, true)
	narrow := make([]float32, len(val))
	for k, x := range val {
		narrow[k] = float32(x)
	}
	host, err := matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, narrow)
	if err != nil {
		t.Fatal(err)
	}
	there := host.Clone()
	if err := there.Move(dev); err != nil {
		t.Fatal(err)
	}
	t.Run("bfs", func(t *testing.T) {
		onDevice(t, 6, host.Pattern(), there.Pattern(), examples.BFS(3), equal)
	})
	t.Run("sssp", func(t *testing.T) {
		onDevice(t, 4, host, there, examples.SSSP[float32](3, 0), equal)
	})
	t.Run("pagerank", func(t *testing.T) {
		onDevice(t, 9, host.Pattern(), there.Pattern(), examples.PageRank(.85, 1e-6), func(x, y examples.Rank) bool {
			return math.Abs(x.Rank-y.Rank) < 1e-12
		})
	})
	t.Run("hcc", func(t *testing.T) {
		onDevice(t, 7, host.Pattern(), there.Pattern(), examples.HCC(), equal)
	})
	t.Run("matching", func(t *testing.T) {
		onDevice(t, 8, host.Pattern(), there.Pattern(), examples.Matching(), equal)
	})
	t.Run("a condition and both ends", func(t *testing.T) {
		p := program.Program[int64, float32, int64]{
			Init: program.Init(func(v program.Vertex) int64 { return int64(v.ID) * 3 }, "id * 3"),
			Gather: program.GatherIf(func(src, dst int64, w float32) (int64, bool) {
				return src - dst + int64(w*8), w > .25
			}, "src - dst + (M)(weight * 8)", "weight > .25f"),
			Sum: semiring.Plus[int64](),
			Apply: program.Apply(func(v program.Vertex, x, sum int64) (int64, bool) {
				return (x+sum)%1000 + int64(v.Superstep) + int64(v.Degree), v.ID%4 != 0
			}, "state = (state + sum) % 1000 + superstep + degree; active = id % 4 != 0"),
			Seeds:      program.At(7, int64(-100)),
			Supersteps: 5,
		}
		onDevice(t, 5, host, there, p, equal)
	})
	t.Run("a file", func(t *testing.T) {
		file, err := program.ReadFile(strings.NewReader("state float32\nedge float32\nmessage float64\ninit INFINITY\n"+
			"seed 3 0\ngather src + weight\nif weight >= 0\nsum x < y ? x : y\nidentity INFINITY\n"+
			"apply active = sum < state; if (active) state = sum\n"), "paths.prog")
		if err != nil {
			t.Fatal(err)
		}
		want, err := program.Run(context.Background(), host, examples.SSSP[float32](3, 0))
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range []*matrix.Matrix[float32]{host, there} {
			got, err := program.RunFile[float32](context.Background(), g, file)
			if err != nil {
				t.Fatal(err)
			}
			if !got.State.Equal(want.State) || got.Supersteps != want.Supersteps {
				t.Errorf("%v in %d supersteps, want %v in %d", sure.Get(got.State.Dense(-1)), got.Supersteps, sure.Get(want.State.Dense(-1)), want.Supersteps)
			}
		}
		var bad *program.FileError
		if _, err := program.RunFile[int32](context.Background(), there, file); !errors.As(err, &bad) {
			t.Errorf("states of another type: %v", err)
		}
		file.Seeds[0].ID = 1 << 20
		if _, err := program.RunFile[float32](context.Background(), there, file); !errors.As(err, &bad) {
			t.Errorf("a seed outside: %v", err)
		}
		file.Seeds, file.Gather = nil, "src + wieght"
		for _, g := range []*matrix.Matrix[float32]{host, there} {
			if _, err := program.RunFile[float32](context.Background(), g, file); err == nil || !strings.Contains(err.Error(), "wieght") {
				t.Errorf("text that does not compile: %v", err)
			}
		}
	})
	t.Run("a file with structs", func(t *testing.T) { structFiles(t, host, there) })
	t.Run("errors", func(t *testing.T) {
		var part *program.ProgramError
		p := examples.HCC()
		p.Apply.CUDA = ""
		if _, err := program.Run(context.Background(), there.Pattern(), p); !errors.As(err, &part) || part.Part != "Apply" {
			t.Errorf("a function without text: %v", err)
		}
		var plan *program.PlanError
		_, err = program.Run(context.Background(), there.Pattern(), examples.HCC(), program.Options{Plan: "pull csr vm sideways"})
		if !errors.As(err, &plan) {
			t.Errorf("an unknown plan: %v", err)
		}
		forever := examples.HCC()
		forever.Apply.CUDA = "active = true"
		res, err := program.Run(context.Background(), there.Pattern(), forever, program.Options{MaxSupersteps: 3})
		if !errors.Is(err, program.ErrLimit) || res == nil || res.Supersteps != 3 {
			t.Errorf("a program that never halts: %+v, %v", res, err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := program.Run(ctx, there.Pattern(), forever); !errors.Is(err, context.Canceled) {
			t.Errorf("a context that has ended: %v", err)
		}
	})
	t.Run("NVRTC", compileByNVRTC)
}
