package apps

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/apps/centrality"
	"github.com/hiveblas/hiveblas/apps/classify"
	"github.com/hiveblas/hiveblas/apps/components"
	"github.com/hiveblas/hiveblas/apps/cores"
	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/lgc"
	"github.com/hiveblas/hiveblas/apps/paths"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// staysOnDevice reports whether a pipeline brings single numbers to the host alone, and is not one
// of the many with kernels of their own.
func staysOnDevice(name string) bool {
	f, _, _ := strings.Cut(name, " ")
	return slices.Contains([]string{"Projection", "VertexNomination", "BFS", "SSSP", "PageRank", "ConnectedComponents", "TriangleCount", "KTruss", "LocalCluster"}, f) && name != "PageRank with restart"
}

// A pipeline on a device makes its vectors there, and copies no vector of all vertices in either
// direction: over all its iterations fewer bytes than a vector has.
func TestPipelinesStayOnDevice(t *testing.T) {
	d := samples.Emulated(t)
	const n = 6000 // more bytes than the pinned memory, which is not counted
	s := samples.Blank(n)
	for v := range n {
		for _, w := range []int{(v + 1) % n, 3 * v % n} {
			s.Edges = append(s.Edges, samples.Edge{From: v, To: w, Weight: 1 + v%3}, samples.Edge{From: w, To: v, Weight: 1 + v%3})
		}
	}
	g := samples.Build[float64](t, s, matrix.CSR)
	sure.Do(g.Move(d.Device))
	for name, app := range all() {
		switch {
		case !longtest.Takes(len(name), 8):
			continue
		case !staysOnDevice(name): // many bring ranks or orders to the host, and each compiles its kernels
			continue
		case (strings.HasPrefix(name, "Projection") || strings.Contains(name, "from") || strings.Contains(name, "small")) && !longtest.Enabled():
			continue
		case name == "PageRank":
			app = func(g matrix.Source[float64], run workflow.Run) error {
				_, err := centrality.PageRank(g, centrality.PageRankOptions{Run: run, MaxIterations: 10})
				return err
			}
		case name != "LocalCluster" && strings.HasPrefix(name, "LocalCluster"):
			continue
		case name == "LocalCluster": // without the sweep over the cluster, on the host
			app = func(g matrix.Source[float64], run workflow.Run) error {
				_, err := lgc.LocalCluster(g, []int{0}, lgc.LocalClusterOptions{Run: run})
				return err
			}
		}
		run := workflow.Run{Method: workflow.Pipeline}
		if err := app(g, run); err != nil { // makes derived forms of the graph
			t.Fatalf("%s: %v", name, err)
		}
		up, down := d.Copies(func() {
			if err := app(g, run); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		})
		if up > n/2 || down > n/2 {
			t.Errorf("%s copies %d bytes to the device and %d to the host; a vector of bytes has %d", name, up, down, n)
		}
	}
}

func TestPipelineOfClassifyStaysOnDevice(t *testing.T) {
	d := samples.Emulated(t)
	const n = 6000
	rng := rand.New(rand.NewSource(4))
	x := samples.Must[*classify.Attributed](t)(classify.NewAttributed(samples.DrawFeatured(rng, n, 2*n, 3, 2, 1).Parts(t, 3, 2)))
	y := samples.Must[*classify.Attributed](t)(classify.NewAttributed(samples.DrawFeatured(rng, 3, 4, 3, 2, 1).Parts(t, 3, 2)))
	for _, g := range []*classify.Attributed{x, y} {
		sure.Do(g.Move(d.Device))
	}
	for k, corrected := range []bool{false, true} {
		if !longtest.Takes(k, 2) {
			continue
		}
		o := classify.ClassifyOptions{Run: workflow.Run{Method: workflow.Pipeline}, Iterations: 3, CorrectedGather: corrected, Memory: 1}
		for _, first := range []bool{true, false} { // the first call makes derived forms
			up, down := d.Copies(func() { samples.Must[*matrix.Matrix[float32]](t)(classify.Classify(x, y, o)) })
			if !first && (up > n/2 || down > n/2) {
				t.Errorf("Classify copies %d bytes to the device and %d to the host; a vector of bytes has %d", up, down, n)
			}
		}
	}
}

// A method that a workflow does not have is an error with a remedy.
func TestMethodErrors(t *testing.T) {
	g := samples.Build[float64](t, samples.Path(4).Both(), matrix.CSR)
	for name, app := range all() {
		for _, m := range []workflow.Method{workflow.Fused, "fast"} {
			var e *workflow.ParameterError
			if err := app(g, workflow.Run{Method: m}); !errors.As(err, &e) || e.Arg != "the method" {
				t.Errorf("%s of a graph on the host, method %q: error %v", name, m, err)
			}
		}
		if err := app(g, workflow.Run{Method: workflow.Pipeline}); err != nil {
			t.Errorf("%s, method pipeline: %v", name, err)
		}
	}
	d := samples.Emulated(t)
	bytes := samples.Build[uint8](t, samples.Path(4), matrix.CSR)
	sure.Do(bytes.Move(d.Device))
	var e *workflow.ParameterError
	fused := workflow.Run{Method: workflow.Fused}
	if _, err := paths.SSSP(bytes, []int{0}, paths.SSSPOptions[uint8]{Run: fused}); !errors.As(err, &e) {
		t.Errorf("fused SSSP of uint8: error %v", err)
	}
	sure.Do(g.Move(d.Device))
	if _, err := cores.KTruss(g, 3, cores.KTrussOptions{Run: fused}); !errors.As(err, &e) {
		t.Errorf("fused KTruss: error %v", err)
	}
}

// onDevice calls f with samples on the host, and on the device in several guises: in
// all guises for one of every many samples. The quick form takes a
// fifth of those on the emulator.
func onDevice[T semiring.Number](t *testing.T, every int, f func(t *testing.T, d samples.Gpu, what string, host, there matrix.Source[T])) {
	d := samples.RealOrEmulated(t)
	if !longtest.Enabled() && d.E != nil && every%len(samples.Guises) != 0 {
		every *= len(samples.Guises)
	}
	for k, s := range samples.PlaceSamples() {
		t.Run(s.Reason, func(t *testing.T) {
			host := samples.Build[T](t, s.Sample, matrix.CSR)
			for g, how := range samples.Guises {
				if (k+g)%every == 0 {
					f(t, d, how.Name, host, samples.Move[T](t, s.Sample, how, d.Device))
				}
			}
		})
	}
}

// Graphs for the parts of a pull: lists that one block does not finish alone, vertices with late
// first four in-neighbours, and rows that a block tests together.
func TestPullsOnDevice(t *testing.T) {
	d := samples.RealOrEmulated(t)
	thin := samples.Random(7000, 9000, 8, true)
	// Vertices 1 … 2999 follow the source and have an edge to vertex 3000 + i%40; so have the
	// four of most out-edges, which are far from the source.
	late := samples.Blank(3400)
	for i := 1; i < 3000; i++ {
		late.Edges = append(late.Edges, samples.Edge{From: 0, To: i, Weight: 1})
		late.Edges = append(late.Edges, samples.Edge{From: i, To: 3000 + i%40, Weight: 1})
		late.Edges = append(late.Edges, samples.Edge{From: 3000 + i%40, To: 3040 + i%300, Weight: 1})
	}
	for k := range 4 {
		for i := range 340 {
			late.Edges = append(late.Edges, samples.Edge{From: 3396 + k, To: 3000 + i, Weight: 1})
		}
		late.Edges = append(late.Edges, samples.Edge{From: 3339, To: 3396 + k, Weight: 1})
	}
	// One vertex in place of forty. The four are its first in-neighbours.
	long := samples.Blank(3400)
	for i := 5; i < 3000; i++ {
		long.Edges = append(long.Edges, samples.Edge{From: 0, To: i, Weight: 1}, samples.Edge{From: i, To: 3000, Weight: 1}, samples.Edge{From: 3000, To: 3001 + i%339, Weight: 1})
	}
	for k := 1; k < 5; k++ {
		for i := range 340 {
			long.Edges = append(long.Edges, samples.Edge{From: k, To: 3000 + i, Weight: 1})
		}
		long.Edges = append(long.Edges, samples.Edge{From: 3339, To: k, Weight: 1})
	}
	for name, s := range map[string]samples.Sample{"thin": thin, "late": late, "long": long} {
		host, there := samples.Build[float32](t, s, matrix.CSR), samples.Build[float32](t, s, matrix.CSR)
		if name == "thin" {
			there.IsSymmetric()
		}
		sure.Do(there.Move(d.Device))
		method := ""
		run := workflow.Run{Trace: func(t ops.Trace) { method = string(t.Method) }}
		want := samples.Must[*paths.BFSResult](t)(paths.BFS(host, 0, paths.BFSOptions{Parents: true}))
		for range workflow.Pushes + 2 {
			got := samples.Must[*paths.BFSResult](t)(paths.BFS(there, 0, paths.BFSOptions{Run: run, Parents: true}))
			samples.SameVector(t, name+": levels", d.Device, got.Level, want.Level)
			samples.SameVector(t, name+": parents", d.Device, got.Parent, want.Parent)
			if got.Reached != want.Reached || got.MaxLevel != want.MaxLevel {
				t.Errorf("%s: reached %d up to level %d, want %d and %d", name, got.Reached, got.MaxLevel, want.Reached, want.MaxLevel)
			}
		}
		if method != "push+pull" {
			t.Errorf("%s: %s, want push+pull", name, method)
		}
	}
}

// A launch ends after a number of levels, and the next one goes on.
func TestLongPathOnDevice(t *testing.T) {
	d := samples.RealOrEmulated(t)
	const n = 1100
	s := samples.Path(n)
	host, there := samples.Build[float64](t, s, matrix.CSR), samples.Build[float64](t, s, matrix.CSR)
	sure.Do(there.Move(d.Device))
	want := samples.Must[*paths.BFSResult](t)(paths.BFS(host, 0, paths.BFSOptions{Parents: true}))
	got := samples.Must[*paths.BFSResult](t)(paths.BFS(there, 0, paths.BFSOptions{Parents: true}))
	samples.SameVector(t, "levels", d.Device, got.Level, want.Level)
	samples.SameVector(t, "parents", d.Device, got.Parent, want.Parent)
	if got.MaxLevel != n-1 {
		t.Errorf("the greatest level is %d, want %d", got.MaxLevel, n-1)
	}
}

// Searches over a directed matrix push at first, and pull once a transpose pays.
func TestBFSComesToPull(t *testing.T) {
	d := samples.Emulated(t)
	s := samples.Random(400, 9000, 5, false)
	host, there := samples.Build[float64](t, s, matrix.CSR), samples.Build[float64](t, s, matrix.CSR)
	sure.Do(there.Move(d.Device))
	want := samples.Must[*paths.BFSResult](t)(paths.BFS(host, 3, paths.BFSOptions{Parents: true}))
	var methods []string
	run := workflow.Run{Trace: func(t ops.Trace) { methods = append(methods, string(t.Method)) }}
	for range 12 {
		got := samples.Must[*paths.BFSResult](t)(paths.BFS(there, 3, paths.BFSOptions{Run: run, Parents: true}))
		samples.SameVector(t, "levels", d.Device, got.Level, want.Level)
		samples.SameVector(t, "parents", d.Device, got.Parent, want.Parent)
	}
	if methods[0] != "push" || methods[11] != "push+pull" {
		t.Errorf("methods %v, want push at first and push+pull in the end", methods)
	}
}

func TestTraversalsWaitOnce(t *testing.T) {
	d := samples.Emulated(t)
	a := samples.Build[int32](t, samples.Random(400, 9000, 6, true), matrix.CSR)
	a.IsSymmetric()
	sure.Do(a.Move(d.Device))
	once := func(what string, f func() error) {
		for _, want := range []int{-1, 1} { // the first call makes derived forms
			var err error
			if n := d.Syncs(func() { err = f() }); err != nil || want > 0 && n != want {
				t.Errorf("%s waits %d times, want %d (error %v)", what, n, want, err)
			}
		}
	}
	once("BFS", func() error { _, err := paths.BFS(a, 0, paths.BFSOptions{Parents: true}); return err })
	once("SSSP", func() error {
		_, err := paths.SSSP(a, []int{0}, paths.SSSPOptions[int32]{Delta: 1 << 20, Trusted: true})
		return err
	})
	once("ConnectedComponents", func() error { _, err := components.ConnectedComponents(a, components.ComponentsOptions{}); return err })
	res := samples.Must[*centrality.PageRankResult](t)(centrality.PageRank(a, centrality.PageRankOptions{}))
	if n := d.Syncs(func() { _, _ = centrality.PageRank(a, centrality.PageRankOptions{}) }); n > res.Iterations {
		t.Errorf("PageRank waits %d times in %d iterations", n, res.Iterations)
	}
}

func ssspOnDevice[T semiring.Number](t *testing.T, every int) {
	onDevice(t, every, func(t *testing.T, d samples.Gpu, what string, host, there matrix.Source[T]) {
		n, _ := matrix.AsView[T](host).Dims()
		for _, sources := range [][]int{{0}, {n - 1, 0, n / 2, 0}} {
			if n == 0 {
				continue
			}
			for _, delta := range []T{0, 9} {
				want, wantErr := paths.SSSP(host, sources, paths.SSSPOptions[T]{Delta: delta})
				got, err := paths.SSSP(there, sources, paths.SSSPOptions[T]{Delta: delta})
				if wantErr != nil { // small types cannot hold the distances
					if err == nil || err.Error() != wantErr.Error() {
						t.Fatalf("%s: error %v, want %v", what, err, wantErr)
					}
					continue
				}
				samples.SameVector(t, fmt.Sprintf("%s from %v with delta %v", what, sources, delta), d.Device, samples.Must[*matrix.Vector[T]](t)(got, err), want)
			}
		}
	})
}

func TestSSSPOnDevice(t *testing.T) {
	for k, of := range []func(){
		func() { t.Run("int32", func(t *testing.T) { ssspOnDevice[int32](t, 3) }) },
		func() { t.Run("float64", func(t *testing.T) { ssspOnDevice[float64](t, 4) }) },
		func() { ssspOfMoreTypes(t) },
		func() { t.Run("float32", func(t *testing.T) { ssspOnDevice[float32](t, 7) }) },
		func() { t.Run("uint8", func(t *testing.T) { ssspOnDevice[uint8](t, 7) }) }, // by operations
	} {
		if longtest.Takes(k, 2) {
			of()
		}
	}
}

func TestSSSPFloatsOnDevice(t *testing.T) {
	d := samples.Emulated(t)
	rng := rand.New(rand.NewSource(7))
	b := matrix.NewBuilder[float64](200, 200)
	for range 1500 {
		x := rng.Float64()
		if rng.Intn(20) == 0 {
			x = math.Inf(1)
		}
		b.Add(rng.Intn(200), rng.Intn(200), x)
	}
	host := samples.Must[*matrix.Matrix[float64]](t)(b.Build(semiring.Min[float64]()))
	want := samples.Must[*matrix.Vector[float64]](t)(paths.SSSP(host, []int{0}, paths.SSSPOptions[float64]{}))
	there := host.Clone()
	sure.Do(there.Move(d.Device))
	// Least over all paths, each added up from the source: the same to the bit.
	samples.SameVector(t, "distances", d.Device, samples.Must[*matrix.Vector[float64]](t)(paths.SSSP(there, []int{0}, paths.SSSPOptions[float64]{})), want)
}

func TestHopsThatDoNotFitOnDevice(t *testing.T) {
	d := samples.Emulated(t)
	host, there := samples.Build[int8](t, samples.Path(150), matrix.CSR), samples.Build[int8](t, samples.Path(150), matrix.CSR)
	sure.Do(there.Move(d.Device))
	_, want := paths.VertexNomination(host, []int{0}, paths.VertexNominationOptions[int8]{Unit: true})
	_, err := paths.VertexNomination(there, []int{0}, paths.VertexNominationOptions[int8]{Unit: true})
	if want == nil || err == nil || err.Error() != want.Error() || !errors.Is(err, matrix.ErrSize) {
		t.Errorf("error %v, want %v", err, want)
	}
}

// Errors equal the errors of the host.
func TestErrorsOnDevice(t *testing.T) {
	d := samples.Emulated(t)
	both := func(s samples.Sample) (host, there *matrix.Matrix[float64]) {
		host, there = samples.Build[float64](t, s, matrix.CSR), samples.Build[float64](t, s, matrix.CSR)
		sure.Do(there.Move(d.Device))
		return host, there
	}
	for _, c := range []struct {
		reason string
		s      samples.Sample
		app    func(g matrix.Source[float64]) error
	}{
		{"a negative weight", samples.Sample{M: 3, N: 3, Edges: []samples.Edge{{From: 1, To: 2, Weight: 4}, {From: 2, To: 0, Weight: -1}, {From: 2, To: 1, Weight: -2}}}, func(g matrix.Source[float64]) error {
			_, err := paths.SSSP(g, []int{0}, paths.SSSPOptions[float64]{})
			return err
		}},
		{"a negative weight, of vertex nomination", samples.Sample{M: 2, N: 2, Edges: []samples.Edge{{From: 1, To: 0, Weight: -4}}}, func(g matrix.Source[float64]) error {
			_, err := paths.VertexNomination(matrix.AsView[float64](g).T(), []int{0}, paths.VertexNominationOptions[float64]{})
			return err
		}},
		{"a source beyond", samples.Path(4), func(g matrix.Source[float64]) error { _, err := paths.BFS(g, 4, paths.BFSOptions{}); return err }},
		{"no sources", samples.Path(4), func(g matrix.Source[float64]) error {
			_, err := paths.SSSP(g, nil, paths.SSSPOptions[float64]{})
			return err
		}},
		{"no vertex", samples.Blank(0), func(g matrix.Source[float64]) error { _, err := paths.BFS(g, 0, paths.BFSOptions{}); return err }},
		{"a wide matrix", samples.Sample{M: 2, N: 3, Edges: nil}, func(g matrix.Source[float64]) error {
			_, err := components.ConnectedComponents(g, components.ComponentsOptions{})
			return err
		}},
		{"a damping of 2", samples.Path(4), func(g matrix.Source[float64]) error {
			_, err := centrality.PageRank(g, centrality.PageRankOptions{Damping: 2})
			return err
		}},
		{"a 2-truss", samples.Path(4), func(g matrix.Source[float64]) error { _, err := cores.KTruss(g, 2, cores.KTrussOptions{}); return err }},
	} {
		t.Run(c.reason, func(t *testing.T) {
			host, there := both(c.s)
			want, got := c.app(host), c.app(there)
			if want == nil || got == nil || got.Error() != want.Error() || fmt.Sprintf("%T", got) != fmt.Sprintf("%T", want) {
				t.Errorf("error %v (%T), want %v (%T)", got, got, want, want)
			}
		})
	}
	t.Run("NaN", func(t *testing.T) {
		host := samples.Build[float64](t, samples.Path(5), matrix.CSR)
		sure.Do(host.Set(2, 3, math.NaN()))
		there := host.Clone()
		sure.Do(there.Move(d.Device))
		var e *workflow.WeightError
		if _, err := paths.SSSP(there, []int{0}, paths.SSSPOptions[float64]{}); !errors.As(err, &e) || e.Row != 2 || e.Col != 3 || e.Got != "NaN" {
			t.Errorf("error %v, want one of the edge from 2 to 3", err)
		}
	})
	t.Run("distances that do not fit", func(t *testing.T) {
		host, there := samples.Build[int32](t, samples.Sample{M: 3, N: 3, Edges: []samples.Edge{{From: 0, To: 1, Weight: 1 << 30}}}, matrix.CSR), samples.Build[int32](t, samples.Sample{M: 3, N: 3, Edges: []samples.Edge{{From: 0, To: 1, Weight: 1 << 30}}}, matrix.CSR)
		sure.Do(there.Move(d.Device))
		_, want := paths.SSSP(host, []int{0}, paths.SSSPOptions[int32]{})
		_, got := paths.SSSP(there, []int{0}, paths.SSSPOptions[int32]{})
		if want == nil || got == nil || got.Error() != want.Error() {
			t.Errorf("error %v, want %v", got, want)
		}
	})
}

// A search stops if its context ends between its batches, and the device keeps working.
func TestCancelledOnDevice(t *testing.T) {
	d := samples.Emulated(t)
	g := samples.Build[float64](t, samples.Path(600), matrix.CSR)
	sure.Do(g.Move(d.Device))
	for name, app := range all() {
		if !staysOnDevice(name) && !longtest.Enabled() {
			continue // each compiles its kernels
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := app(g, workflow.Run{Context: ctx}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s under a context that has ended: %v", name, err)
		}
	}
	o := paths.SSSPOptions[float64]{Delta: 1}
	want := samples.Must[*matrix.Vector[float64]](t)(paths.SSSP(samples.Build[float64](t, samples.Path(600), matrix.CSR), []int{0}, o))
	for n := range 4 {
		ctx := &samples.EndsAfter{Context: context.Background(), Left: n + 1}
		c := o
		c.Run.Context = ctx
		if _, err := paths.SSSP(g, []int{0}, c); !errors.Is(err, context.Canceled) {
			t.Errorf("a search of 600 steps that is cancelled at check %d: %v", n+1, err)
		}
		samples.SameVector(t, "distances after a cancelled search", d.Device, samples.Must[*matrix.Vector[float64]](t)(paths.SSSP(g, []int{0}, o)), want)
	}
}

// A driver that fails anywhere leaves an error, a device that works, and no
// memory in use.
func TestFailuresOnDevice(t *testing.T) {
	d := samples.Emulated(t)
	s := samples.Random(60, 300, 8, false)
	host := samples.Build[float64](t, s, matrix.CSR)
	want := samples.Must[*paths.BFSResult](t)(paths.BFS(host, 0, paths.BFSOptions{Parents: true}))
	broken := driver.Error{Call: "call", Code: 999, Name: "CUDA_ERROR_UNKNOWN", Text: "unknown error"}
	for _, call := range []string{"Launch", "Sync", "Occupancy", "ToDevice"} {
		for n := 1; n <= 3; n++ {
			there := samples.Build[float64](t, s, matrix.CSR)
			sure.Do(there.Move(d.Device))
			fault := d.E.FailAfter(call, n, broken)
			_, err := paths.BFS(there, 0, paths.BFSOptions{Parents: true})
			fired := fault.Fired()
			fault.Cancel()
			if fired && err == nil {
				t.Errorf("%s fails without an error", call)
			}
			samples.SameVector(t, "parents after a failure", d.Device, samples.Must[*paths.BFSResult](t)(paths.BFS(there, 0, paths.BFSOptions{Parents: true})).Parent, want.Parent)
		}
	}
	long := samples.Build[float64](t, samples.Path(200), matrix.CSR)
	sure.Do(long.Move(d.Device))
	o := paths.SSSPOptions[float64]{Delta: 1}
	distances := samples.Must[*matrix.Vector[float64]](t)(paths.SSSP(samples.Build[float64](t, samples.Path(200), matrix.CSR), []int{0}, o))
	for _, call := range []string{"BeginCapture", "LaunchGraph", "CloseGraph"} {
		fault := d.E.FailAfter(call, 1, broken)
		_, err := paths.SSSP(long, []int{0}, o)
		if fired := fault.Fired(); !fired || err == nil {
			t.Errorf("%s fails (%v): error %v", call, fired, err)
		}
		fault.Cancel()
		samples.SameVector(t, "distances after a failure of "+call, d.Device, samples.Must[*matrix.Vector[float64]](t)(paths.SSSP(long, []int{0}, o)), distances)
	}
}

// Rows that stay in the memory of the host give what rows in device memory give, by kernels for
// whole workflows and by operations, and the memory comes back.
func TestRowsInHostMemory(t *testing.T) {
	d := samples.RealOrEmulated(t)
	const n, entries = 700, 40000
	s := samples.Random(n, entries, 5, true)
	host, there := samples.Build[float64](t, s, matrix.CSR), samples.Build[float64](t, s, matrix.CSR)
	for _, g := range []*matrix.Matrix[float64]{host, there} {
		if !g.IsSymmetric() {
			t.Fatal("the graph is not symmetric")
		}
	}
	before := d.Memory()
	d.Limit(before.InUse + 12*entries)
	defer d.Limit(0)
	var full *cusparse.MemoryError
	if err := there.Move(d.Device); !errors.As(err, &full) {
		t.Fatalf("a matrix of more than the free memory moves: %v, want a *MemoryError", err)
	}
	d.KeepRowsInHost(true)
	sure.Do(there.Move(d.Device))
	d.KeepRowsInHost(false)
	if got, want := d.Memory().Host, uint64(12*there.NVals()); got < want || got > want+1024 {
		t.Errorf("%d bytes of rows in host memory, want %d", got, want)
	}
	for k, m := range []workflow.Method{workflow.Fused, workflow.Pipeline} {
		if !longtest.Takes(k, 2) {
			continue
		}
		run := workflow.Run{Method: m}
		want := samples.Must[*paths.BFSResult](t)(paths.BFS(host, 3, paths.BFSOptions{Parents: true}))
		got := samples.Must[*paths.BFSResult](t)(paths.BFS(there, 3, paths.BFSOptions{Run: run, Parents: true}))
		samples.SameVector(t, "levels", d.Device, got.Level, want.Level)
		samples.SameVector(t, "parents", d.Device, got.Parent, want.Parent)
		far := samples.Must[*matrix.Vector[float64]](t)(paths.SSSP(host, []int{3}))
		found := samples.Must[*matrix.Vector[float64]](t)(paths.SSSP(there, []int{3}, paths.SSSPOptions[float64]{Run: run}))
		samples.SameVector(t, "distances", d.Device, found, far)
		parts := samples.Must[*components.Components](t)(components.ConnectedComponents(host, components.ComponentsOptions{}))
		joined := samples.Must[*components.Components](t)(components.ConnectedComponents(there, components.ComponentsOptions{Run: run}))
		samples.SameVector(t, "components", d.Device, joined.Label, parts.Label)
		sums := samples.Must[*centrality.PageRankResult](t)(centrality.PageRank(host, centrality.PageRankOptions{}))
		ranks := samples.Must[*centrality.PageRankResult](t)(centrality.PageRank(there, centrality.PageRankOptions{Run: run}))
		sure.Do(ranks.Rank.Move(nil))
		for i := range n {
			if x, y := sure.Get(ranks.Rank.Value(i)), sure.Get(sums.Rank.Value(i)); math.Abs(x-y) > 1e-12 {
				t.Fatalf("the rank of %d is %v, want %v", i, x, y)
			}
		}
	}
	freed := 0
	if d.E != nil {
		freed = d.E.Calls()["FreeHost"]
	}
	sure.Do(there.Move(nil))
	sure.Do(d.Sync())
	if d.E != nil && d.E.Calls()["FreeHost"] != freed+2 {
		t.Errorf("%d blocks of host memory are freed, want the columns and the values", d.E.Calls()["FreeHost"]-freed)
	}
	for i := range n {
		if got, want := maps.Collect(there.Row(i)), maps.Collect(host.Row(i)); !maps.Equal(got, want) {
			t.Errorf("row %d came back as %v, want %v", i, got, want)
		}
	}
	if got := d.Memory().Host; got != 0 {
		t.Errorf("%d bytes of rows in host memory, want none", got)
	}
}
