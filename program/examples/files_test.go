package examples_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/program"
	"github.com/hiveblas/hiveblas/program/examples"
	"github.com/hiveblas/hiveblas/semiring"
)

// The programs of docs/programs.md and of this package as files, for graphs of weights.
var files = map[string]string{
	"sssp": `state float32
edge float32
message float32
init INFINITY
seed 1 0.0f
gather src + weight
sum min
apply active = sum < state; if (active) state = sum;
idempotent
`,
	"bfs": `state int32
message int32
init -1
seed 1 0
send superstep + 1
sum any
apply state = sum;
skip state >= 0
`,
	"hcc": `state int32
message int32
init id
send state
sum min
apply active = sum < state; if (active) state = sum;
idempotent
`,
	"pagerank": `state { double rank, last }
message double
init {1.0 / n, 0}
send state.rank / degree
sum plus
apply state.last = state.rank; state.rank = 0.15 / n + 0.85 * sum;
everywhere
supersteps 20
`,
}

// kindFiles are programs with states, edges and messages of other types, on the graph of weights
// and on its pattern.
var kindFiles = map[string]string{
	"sum of bytes":      "state uint8\nmessage uint8\ninit id\nsend state * 3\nsum plus\napply state = state ^ sum; active = sum & 1\nsupersteps 4\n",
	"products":          "state int16\nedge int8\nmessage int16\ninit degree | 1\ngather src + weight\nsum times\napply state += sum;\nsupersteps 3\n",
	"maxima":            "state uint64\nedge uint32\nmessage uint64\ninit (hb_u64)id << 33\ngather max(src, dst) ^ (weight << 3)\nif src > dst || weight != 1\nsum max\napply active = sum > state && superstep < 5; if (active) state = sum\n",
	"bools":             "state bool\nedge int16\nmessage bool\ninit id % 7 == 3\ngather src && weight\nsum plus\napply active = !state && sum; state |= sum\n",
	"xor of pairs":      "state { int64 a; uint8 b }\nedge double\nmessage { int64 a; uint8 b }\ninit {id * 1000003ll, id}\nseed 5 {-1, 255}\ngather {src.a ^ dst.a, src.b + dst.b + (int)(weight * 4)}\nsum {x.a ^ y.a, x.b ^ y.b}\nidentity {}\napply M old = {state.a, state.b}; state.a = sum.a + degree; state.b = old.b + sum.b; active = superstep < 3\n",
	"a loop":            "state int32\nmessage int32\ninit id\nsend state\nsum min\napply int steps = 0; for (int k = sum; k > 1 && steps < 50; steps++) { if (k & 1) k = 3 * k + 1; else k >>= 1; } active = steps > state && superstep < 9; if (active) state = steps\n",
	"floats of doubles": "state double\nedge float\nmessage float\ninit 1.0 / (id + 1)\ngather fminf(src * weight, dst)\nsum max\napply state = (state + sqrt(fabs(sum))) / 2\nsupersteps 6\n",
	"everywhere":        "state { int32 round; int32 got }\nmessage int32\ninit {}\nsend id + superstep\nsum plus\napply state.round = superstep + 1; state.got = sum; active = true\neverywhere\nsupersteps 3\n",
}

// TestFiles runs program files on the host, on a device and on a group, by several plans. Sums of
// floats round in the order of the plan.
func TestFiles(t *testing.T) {
	t.Parallel()
	d := emulated(t)
	all := maps.Clone(files)
	maps.Copy(all, kindFiles)
	all["nearest"] = nearestFile
	if !longtest.Enabled() { // a third of the programs, which the emulator compiles one by one
		for k, title := range slices.Sorted(maps.Keys(all)) {
			if (k+longtest.Turn())%3 != 0 {
				delete(all, title)
			}
		}
	}
	group := sure.Get(comm.LocalGroup(3))
	for name, g := range graphs(t, 8) {
		there, parts := g.Clone(), g.Clone()
		sure.Do(there.Move(d))
		sure.Do(parts.Move(group))
		for title, text := range all {
			file, ctx := readFile(text), context.Background()
			want, err := program.RunFileColumns(ctx, there, file)
			if err != nil {
				t.Fatalf("%s on %s, on a device: %v", title, name, err)
			}
			for _, o := range []program.Options{{}, {Plan: "push", Threads: 1}, {Plan: "pull", Threads: 3}, {Plan: "push", Threads: 3}} {
				got, err := program.RunFileColumns(ctx, g, file, o)
				sameColumns(t, fmt.Sprintf("%s on %s, %+v", title, name, o), got, err, want, file.Idempotent)
			}
			for _, hops := range []int{1, 3} {
				got, err := program.RunFileColumns(ctx, parts, file, program.Options{Hops: hops})
				sameColumns(t, fmt.Sprintf("%s on %s, 3 ranks, %d hops", title, name, hops), got, err, want, file.Idempotent)
			}
		}
		want := sure.Get(program.RunFileColumns(context.Background(), there.Pattern(), readFile(kindFiles["products"])))
		got, err := program.RunFileColumns(context.Background(), g.Pattern(), readFile(kindFiles["products"]))
		sameColumns(t, "products on the pattern of "+name, got, err, want, false)
	}
}

// sameColumns compares two runs of a program, floats to rounding.
func sameColumns(t *testing.T, what string, got *program.FileResult, err error, want *program.FileResult, steps bool) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	if got.Supersteps != want.Supersteps && !steps || got.Ended != want.Ended || got.Active != want.Active {
		t.Errorf("%s: %d supersteps, %d active, %s, want %d, %d, %s", what, got.Supersteps, got.Active, got.Ended, want.Supersteps, want.Active, want.Ended)
	}
	for k, c := range got.Columns {
		if x, y := c.Values, want.Columns[k].Values; c.Name != want.Columns[k].Name || !nearly(x, y) {
			t.Errorf("%s: column %q has %.300v, want %.300v", what, c.Name, fmt.Sprint(x), fmt.Sprint(y))
		}
	}
}

// nearly reports whether two columns are equal, doubles to rounding.
func nearly(x, y any) bool {
	a, double := x.([]float64)
	if !double {
		return reflect.DeepEqual(x, y)
	}
	return slices.EqualFunc(a, y.([]float64), func(x, y float64) bool { return x == y || math.Abs(x-y) <= 1e-12*math.Abs(y) })
}

// TestFileResult: RunFile leaves states where the graph is, with the values of the Go program.
func TestFileResult(t *testing.T) {
	t.Parallel()
	g := graphs(t, 8)["R-MAT"]
	want := sure.Get(program.Run(context.Background(), g, examples.SSSP(1, 0.)))
	file := readFile(strings.ReplaceAll(files["sssp"], "float32", "float64"))
	parts := g.Clone()
	sure.Do(parts.Move(sure.Get(comm.LocalGroup(2))))
	for _, on := range []*matrix.Matrix[float64]{g, parts} {
		got := sure.Get(program.RunFile[float64](context.Background(), on, file))
		if got.State.Place() != on.Place() {
			t.Errorf("states are at %v, and the graph at %v", got.State.Place(), on.Place())
		}
		sure.Do(got.State.Move(nil))
		if !got.State.Equal(want.State) {
			t.Errorf("at %v: other distances", on.Place())
		}
	}
	limited, err := program.RunFile[float64](context.Background(), g, file, program.Options{MaxSupersteps: 1})
	if !errors.Is(err, program.ErrLimit) || limited == nil || limited.Supersteps != 1 {
		t.Errorf("a limit gives %+v, %v", limited, err)
	}
	for what, text := range map[string]string{"divided by zero": "state = 1 / (id - id);", "iterations": "while (state >= 0) state = 1;", "knows no name": "state = som;"} {
		file.Apply = text
		for _, on := range []*matrix.Matrix[float64]{g, parts} {
			var bad *program.FileError
			if _, err := program.RunFile[float64](context.Background(), on, file); !errors.As(err, &bad) || !strings.Contains(err.Error(), what) {
				t.Errorf("%s at %v: %v, want %q", text, on.Place(), err, what)
			}
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	file.Apply = "for (int k = 0; k < 10000000; k++) state = 0; active = true"
	time.AfterFunc(50*time.Millisecond, stop)
	if _, err := program.RunFile[float64](ctx, g, file); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	words := matrix.New[string](g.Dims())
	var bad *program.FileError
	file.Gather, file.Apply = "src + weight", "state = sum"
	if _, err := program.RunFile[float64](context.Background(), words, file); !errors.As(err, &bad) || !strings.Contains(err.Error(), "values of type string") {
		t.Errorf("a graph of strings: %v", err)
	}
}

// readFile reads a program file.
func readFile(text string) *program.File {
	return sure.Get(program.ReadFile(strings.NewReader(text), "test.prog"))
}

// processorTime returns the processor time of the process in seconds.
func processorTime() float64 {
	var r syscall.Rusage
	sure.Do(syscall.Getrusage(syscall.RUSAGE_SELF, &r))
	return float64(r.Utime.Nano()+r.Stime.Nano()) / 1e9
}

// BenchmarkFiles times program files and the same programs as Go functions in turn, by processor
// time of one thread, on the R-MAT graph of scale 16.
func BenchmarkFiles(b *testing.B) {
	g := graphs(b, 16)["R-MAT"]
	ctx, o := context.Background(), program.Options{Threads: 1}
	single := sure.Get(singles(g))
	sssp := program.Program[float32, float32, float32]{
		Init: program.Value(float32(math.Inf(1))), Seeds: program.At(1, float32(0)),
		Gather:     program.Gather(func(src, _, weight float32) float32 { return src + weight }, ""),
		Sum:        semiring.Min[float32](),
		Apply:      program.Apply(func(_ program.Vertex, d, sum float32) (float32, bool) { return min(d, sum), sum < d }, ""),
		Idempotent: true,
	}
	type rank struct{ rank, last float64 }
	pagerank := program.Program[rank, bool, float64]{
		Init: program.Init(func(v program.Vertex) rank { return rank{1 / float64(v.N), 0} }, ""),
		Send: program.Send(func(v program.Vertex, r rank) float64 { return r.rank / float64(v.Degree) }, ""),
		Sum:  semiring.Plus[float64](),
		Apply: program.Apply(func(v program.Vertex, r rank, sum float64) (rank, bool) {
			return rank{.15/float64(v.N) + .85*sum, r.rank}, true
		}, ""),
		Everywhere: true, Supersteps: 20,
	}
	for _, c := range []struct {
		name       string
		file, inGo func() error
	}{
		{"sssp", func() error { _, err := program.RunFile[float32](ctx, single, readFile(files["sssp"]), o); return err },
			func() error { _, err := program.Run(ctx, single, sssp, o); return err }},
		{"sssp kernels", func() error { _, err := program.RunFile[float32](ctx, g, readFile(files["sssp"]), o); return err },
			func() error { _, err := program.Run(ctx, g, examples.SSSP(1, 0.), o); return err }},
		{"bfs", func() error { _, err := program.RunFile[int32](ctx, g, readFile(files["bfs"]), o); return err },
			func() error { _, err := program.Run(ctx, g.Pattern(), examples.BFS(1), o); return err }},
		{"hcc", func() error { _, err := program.RunFile[int32](ctx, g, readFile(files["hcc"]), o); return err },
			func() error { _, err := program.Run(ctx, g.Pattern(), examples.HCC(), o); return err }},
		{"pagerank", func() error { _, err := program.RunFile[rank](ctx, g, readFile(files["pagerank"]), o); return err },
			func() error { _, err := program.Run(ctx, g.Pattern(), pagerank, o); return err }},
	} {
		b.Run(c.name, func(b *testing.B) {
			times := [2][]float64{}
			for b.Loop() {
				for k, f := range []func() error{c.file, c.inGo} {
					start := processorTime()
					if err := f(); err != nil {
						b.Fatal(err)
					}
					times[k] = append(times[k], processorTime()-start)
				}
			}
			least := func(x []float64) float64 {
				m := x[0]
				for _, t := range x {
					m = min(m, t)
				}
				return m
			}
			b.ReportMetric(least(times[0])/least(times[1]), "ratio")
			b.ReportMetric(least(times[0])*1e6, "µs/file")
			b.ReportMetric(least(times[1])*1e6, "µs/go")
		})
	}
}

// singles returns a graph with weights in single precision.
func singles(g *matrix.Matrix[float64]) (*matrix.Matrix[float32], error) {
	single := matrix.New[float32](g.Dims())
	return single, ops.Apply(single, semiring.NewUnary("single", func(x float64) float32 { return float32(x) }), g)
}
