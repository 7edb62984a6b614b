package apps

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand"
	"testing"

	"github.com/hiveblas/hiveblas/apps/centrality"
	"github.com/hiveblas/hiveblas/apps/components"
	"github.com/hiveblas/hiveblas/apps/cores"
	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/paths"
	"github.com/hiveblas/hiveblas/apps/project"
	"github.com/hiveblas/hiveblas/apps/triangles"
	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

func sameMatrix[T comparable](t testing.TB, what string, at matrix.Place, got, want *matrix.Matrix[T], same func(x, y T) bool) {
	t.Helper()
	if got.Place() != at {
		t.Errorf("%s lives at %v", what, got.Place())
	}
	if !got.EqualFunc(want, same) {
		t.Fatalf("%s: got\n%s\nwant\n%s", what, got.Text(), want.Text())
	}
}

func exactly[T comparable](x, y T) bool { return x == y }

func nearly(x, y float64) bool { return math.Abs(x-y) <= 1e-6*max(1, math.Abs(y)) }

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

func TestBFSOnDevice(t *testing.T) {
	onDevice(t, 1, func(t *testing.T, d samples.Gpu, what string, host, there matrix.Source[float32]) {
		n, _ := matrix.AsView[float32](host).Dims()
		for _, source := range []int{0, n / 2, n - 1} {
			if source < 0 || source >= n {
				continue
			}
			for _, parents := range []bool{false, true} {
				want := samples.Must[*paths.BFSResult](t)(paths.BFS(host, source, paths.BFSOptions{Parents: parents}))
				got := samples.Must[*paths.BFSResult](t)(paths.BFS(there, source, paths.BFSOptions{Parents: parents}))
				what := fmt.Sprintf("%s from %d", what, source)
				samples.SameVector(t, what+": levels", d.Device, got.Level, want.Level)
				if got.Reached != want.Reached || got.MaxLevel != want.MaxLevel {
					t.Errorf("%s: reached %d up to level %d, want %d and %d", what, got.Reached, got.MaxLevel, want.Reached, want.MaxLevel)
				}
				if parents {
					samples.SameVector(t, what+": parents", d.Device, got.Parent, want.Parent)
				} else if got.Parent != nil {
					t.Errorf("%s: parents without a request", what)
				}
			}
		}
	})
}

// Graphs for the parts of a pull: lists that one block does not finish alone, vertices whose first
// four in-neighbours are late, and rows that a block tests together.
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
		if err := there.Move(d.Device); err != nil {
			t.Fatal(err)
		}
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
	s := samples.Path(2500)
	host, there := samples.Build[float64](t, s, matrix.CSR), samples.Build[float64](t, s, matrix.CSR)
	if err := there.Move(d.Device); err != nil {
		t.Fatal(err)
	}
	want := samples.Must[*paths.BFSResult](t)(paths.BFS(host, 0, paths.BFSOptions{Parents: true}))
	got := samples.Must[*paths.BFSResult](t)(paths.BFS(there, 0, paths.BFSOptions{Parents: true}))
	samples.SameVector(t, "levels", d.Device, got.Level, want.Level)
	samples.SameVector(t, "parents", d.Device, got.Parent, want.Parent)
	if got.MaxLevel != 2499 {
		t.Errorf("the greatest level is %d, want 2499", got.MaxLevel)
	}
}

// Searches over a directed matrix push at first, and pull once a transpose pays.
func TestBFSComesToPull(t *testing.T) {
	d := samples.Emulated(t)
	s := samples.Random(400, 9000, 5, false)
	host, there := samples.Build[float64](t, s, matrix.CSR), samples.Build[float64](t, s, matrix.CSR)
	if err := there.Move(d.Device); err != nil {
		t.Fatal(err)
	}
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
	if err := a.Move(d.Device); err != nil {
		t.Fatal(err)
	}
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
	t.Run("int32", func(t *testing.T) { ssspOnDevice[int32](t, 3) })
	t.Run("float64", func(t *testing.T) { ssspOnDevice[float64](t, 4) })
	ssspOfMoreTypes(t)
	t.Run("float32", func(t *testing.T) { ssspOnDevice[float32](t, 7) })
	t.Run("uint8", func(t *testing.T) { ssspOnDevice[uint8](t, 7) }) // by operations
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
	if err := there.Move(d.Device); err != nil {
		t.Fatal(err)
	}
	// Least over all paths, each added up from the source: the same to the bit.
	samples.SameVector(t, "distances", d.Device, samples.Must[*matrix.Vector[float64]](t)(paths.SSSP(there, []int{0}, paths.SSSPOptions[float64]{})), want)
}

func TestVertexNominationOnDevice(t *testing.T) {
	onDevice(t, 2, func(t *testing.T, d samples.Gpu, what string, host, there matrix.Source[float64]) {
		n, _ := matrix.AsView[float64](host).Dims()
		if n == 0 {
			return
		}
		for _, seeds := range [][]int{{0}, {n / 2, n - 1, 0, n / 2}} {
			for _, unit := range []bool{false, true} {
				opts := paths.VertexNominationOptions[float64]{Unit: unit}
				want := samples.Must[*matrix.Vector[float64]](t)(paths.VertexNomination(host, seeds, opts))
				got := samples.Must[*matrix.Vector[float64]](t)(paths.VertexNomination(there, seeds, opts))
				samples.SameVector(t, fmt.Sprintf("%s from %v, unit %v", what, seeds, unit), d.Device, got, want)
			}
		}
	})
}

func TestHopsThatDoNotFitOnDevice(t *testing.T) {
	d := samples.Emulated(t)
	host, there := samples.Build[int8](t, samples.Path(150), matrix.CSR), samples.Build[int8](t, samples.Path(150), matrix.CSR)
	if err := there.Move(d.Device); err != nil {
		t.Fatal(err)
	}
	_, want := paths.VertexNomination(host, []int{0}, paths.VertexNominationOptions[int8]{Unit: true})
	_, err := paths.VertexNomination(there, []int{0}, paths.VertexNominationOptions[int8]{Unit: true})
	if want == nil || err == nil || err.Error() != want.Error() || !errors.Is(err, matrix.ErrSize) {
		t.Errorf("error %v, want %v", err, want)
	}
}

func TestComponentsOnDevice(t *testing.T) {
	onDevice(t, 1, func(t *testing.T, d samples.Gpu, what string, host, there matrix.Source[float32]) {
		want := samples.Must[*components.Components](t)(components.ConnectedComponents(host, components.ComponentsOptions{}))
		for _, what := range []string{what, what + ", again"} {
			got := samples.Must[*components.Components](t)(components.ConnectedComponents(there, components.ComponentsOptions{}))
			samples.SameVector(t, what, d.Device, got.Label, want.Label)
			if got.Count != want.Count || got.Largest != want.Largest {
				t.Errorf("%s: %d components, the largest of %d, want %d and %d", what, got.Count, got.Largest, want.Count, want.Largest)
			}
			// A kept transpose changes the method.
			if n, _ := matrix.AsView[float32](host).Dims(); n > 0 {
				if _, err := centrality.PageRank(there, centrality.PageRankOptions{MaxIterations: 1}); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

func TestPageRankOnDevice(t *testing.T) {
	onDevice(t, 4, func(t *testing.T, d samples.Gpu, what string, host, there matrix.Source[float64]) {
		for _, opts := range []centrality.PageRankOptions{{Tolerance: 1e-7}, {Damping: 0.5, Tolerance: 1e-4}, {MaxIterations: 3}} {
			want := samples.Must[*centrality.PageRankResult](t)(centrality.PageRank(host, opts))
			got := samples.Must[*centrality.PageRankResult](t)(centrality.PageRank(there, opts))
			if n, _ := matrix.AsView[float64](host).Dims(); n > 0 && got.Rank.Place() != matrix.Place(d.Device) {
				t.Errorf("%s: ranks live at %v", what, got.Rank.Place())
			}
			if !got.Rank.EqualFunc(want.Rank, func(x, y float64) bool { return math.Abs(x-y) <= 1e-12 }) {
				t.Fatalf("%s: got %v, want %v", what, sure.Get(got.Rank.Dense(0)), sure.Get(want.Rank.Dense(0)))
			}
			if got.Iterations != want.Iterations || got.Converged != want.Converged || math.Abs(got.Change-want.Change) > 1e-12 {
				t.Errorf("%s: %d iterations, change %g, converged %v; want %d, %g, %v", what,
					got.Iterations, got.Change, got.Converged, want.Iterations, want.Change, want.Converged)
			}
		}
	})
}

func TestTrianglesOnDevice(t *testing.T) {
	onDevice(t, 1, func(t *testing.T, d samples.Gpu, what string, host, there matrix.Source[float32]) {
		want := samples.Must[int64](t)(triangles.TriangleCount(host, triangles.TriangleOptions{}))
		if got := samples.Must[int64](t)(triangles.TriangleCount(there, triangles.TriangleOptions{})); got != want {
			t.Errorf("%s: %d triangles, want %d", what, got, want)
		}
	})
}

func TestKTrussOnDevice(t *testing.T) {
	onDevice(t, 2, func(t *testing.T, d samples.Gpu, what string, host, there matrix.Source[float32]) {
		for _, k := range []int{3, 4} {
			want := samples.Must[*matrix.Matrix[int64]](t)(cores.KTruss(host, k, cores.KTrussOptions{}))
			got := samples.Must[*matrix.Matrix[int64]](t)(cores.KTruss(there, k, cores.KTrussOptions{}))
			sameMatrix(t, fmt.Sprintf("%s: %d-truss", what, k), d.Device, got, want, exactly)
		}
	})
}

func TestProjectionOnDevice(t *testing.T) {
	d := samples.Emulated(t)
	wide := samples.Sample{M: 2, N: 5, Edges: []samples.Edge{{From: 0, To: 0, Weight: 1}, {From: 0, To: 4, Weight: 2}, {From: 1, To: 0, Weight: 3}, {From: 1, To: 3, Weight: 0}}}
	for k, s := range append(samples.PlaceSamples()[3:], samples.Named{Reason: "a wide matrix", Sample: wide}, samples.Named{Reason: "a tall one", Sample: wide.Transposed()}) {
		t.Run(s.Reason, func(t *testing.T) {
			host := samples.Build[float64](t, s.Sample, matrix.CSR)
			for o, opts := range []project.ProjectionOptions{
				{}, {Onto: project.OntoRows, Diagonal: true}, {Weighting: project.WeightCount}, {Weighting: project.WeightRatio, Onto: project.OntoRows},
			} {
				if s.N > 100 && o != k%4 {
					continue
				}
				how := samples.Guises[(k+o)%len(samples.Guises)]
				want := samples.Must[*matrix.Matrix[float64]](t)(project.Projection(host, opts))
				got := samples.Must[*matrix.Matrix[float64]](t)(project.Projection(samples.Move[float64](t, s.Sample, how, d.Device), opts))
				sameMatrix(t, fmt.Sprintf("%s: %+v", how.Name, opts), d.Device, got, want, nearly)
			}
		})
	}
}

// Errors are those of the host.
func TestErrorsOnDevice(t *testing.T) {
	d := samples.Emulated(t)
	both := func(s samples.Sample) (host, there *matrix.Matrix[float64]) {
		host, there = samples.Build[float64](t, s, matrix.CSR), samples.Build[float64](t, s, matrix.CSR)
		if err := there.Move(d.Device); err != nil {
			t.Fatal(err)
		}
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
		if err := host.Set(2, 3, math.NaN()); err != nil {
			t.Fatal(err)
		}
		there := host.Clone()
		if err := there.Move(d.Device); err != nil {
			t.Fatal(err)
		}
		var e *workflow.WeightError
		if _, err := paths.SSSP(there, []int{0}, paths.SSSPOptions[float64]{}); !errors.As(err, &e) || e.Row != 2 || e.Col != 3 || e.Got != "NaN" {
			t.Errorf("error %v, want one of the edge from 2 to 3", err)
		}
	})
	t.Run("distances that do not fit", func(t *testing.T) {
		host, there := samples.Build[int32](t, samples.Sample{M: 3, N: 3, Edges: []samples.Edge{{From: 0, To: 1, Weight: 1 << 30}}}, matrix.CSR), samples.Build[int32](t, samples.Sample{M: 3, N: 3, Edges: []samples.Edge{{From: 0, To: 1, Weight: 1 << 30}}}, matrix.CSR)
		if err := there.Move(d.Device); err != nil {
			t.Fatal(err)
		}
		_, want := paths.SSSP(host, []int{0}, paths.SSSPOptions[int32]{})
		_, got := paths.SSSP(there, []int{0}, paths.SSSPOptions[int32]{})
		if want == nil || got == nil || got.Error() != want.Error() {
			t.Errorf("error %v, want %v", got, want)
		}
	})
}

// A search whose context ends between its batches stops, and the device keeps
// working.
func TestCancelledOnDevice(t *testing.T) {
	d := samples.Emulated(t)
	g := samples.Build[float64](t, samples.Path(600), matrix.CSR)
	if err := g.Move(d.Device); err != nil {
		t.Fatal(err)
	}
	for name, app := range all {
		if isStandard(name) && !longtest.Enabled() {
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
			if err := there.Move(d.Device); err != nil {
				t.Fatal(err)
			}
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
	if err := long.Move(d.Device); err != nil {
		t.Fatal(err)
	}
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
