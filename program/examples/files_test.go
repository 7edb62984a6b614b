package examples_test

import (
	"context"
	"math"
	"strings"
	"syscall"
	"testing"

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
		name      string
		file, go_ func() error
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
				for k, f := range []func() error{c.file, c.go_} {
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
