package apps

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/emu"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/race"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
	"github.com/hiveblas/hiveblas/testdata"
)

// gpu is a device that runs on the CPU, for all tests of this package.
type gpu struct {
	*cusparse.Device
	e *emu.Emulator
}

var openEmulated = sync.OnceValues(func() (gpu, error) {
	e, err := emu.New(emu.Shuffled(uint64(longtest.Turn())))
	if err != nil {
		return gpu{}, err
	}
	d, err := cusparse.Open(0, cusparse.WithDriver(e), cusparse.WithKernelCache("off"),
		cusparse.WithCompiler("emulator", func() (driver.Compiler, error) { return emu.NewCompiler() }))
	return gpu{d, e}, err
})

func emulated(t testing.TB) gpu {
	t.Helper()
	if race.Enabled {
		t.Skip("the emulator launches one kernel at a time; the tests of cusparse are for the race detector")
	}
	d, err := openEmulated()
	if errors.Is(err, emu.ErrUnavailable) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// syncs returns how often f waits for the device.
func (g gpu) syncs(f func()) int {
	before := g.e.Calls()["Sync"]
	f()
	return g.e.Calls()["Sync"] - before
}

// random returns a sample of about m edges, a tenth of them at a hub.
func random(n, m int, seed int64, undirected bool) sample {
	rng := rand.New(rand.NewSource(seed))
	s := blank(n)
	for k := range m {
		e := edge{rng.Intn(n), rng.Intn(n), rng.Intn(64)}
		if k%10 == 0 {
			e.from = 1
		}
		s.edges = append(s.edges, e)
	}
	if undirected {
		s = s.both()
	}
	return s
}

// named is a sample with its name.
type named struct {
	reason string
	sample
}

// placeSamples are graphs to compare the device with the host on.
func placeSamples() []named {
	list := []named{
		{"a path of 150", path(150)},
		{"an undirected path of 90", path(90).both()},
		{"a random graph", random(300, 2500, 1, false)},
		{"a random undirected graph", random(400, 1500, 2, true)},
		{"hubs, loops and isolated vertices", random(200, 900, 3, true).beside(clique(9, true)).beside(blank(40))},
		{"a star of rows longer than a chunk", star(300).both()},
	}
	for _, c := range shapes {
		list = append(list, named{c.reason, c.s})
	}
	for k, text := range [][]byte{testdata.Karate, testdata.Chesapeake} {
		a, err := graphio.ReadMatrixMarket[float64](strings.NewReader(string(text)))
		if err != nil {
			panic(err)
		}
		s := blank(0)
		s.m, s.n = a.Dims()
		for c, x := range a.All() {
			s.edges = append(s.edges, edge{c.Row, c.Col, int(math.Abs(x)*8) % 97})
		}
		list = append(list, named{[]string{"karate", "chesapeake"}[k], s})
	}
	return list
}

// A guise is a form in which a graph reaches the device.
type guise struct {
	name       string
	format     matrix.Format
	looked     bool // its symmetry has been checked
	transposed bool // a view of the transpose
}

var guises = []guise{
	{"rows", matrix.CSR, false, false},
	{"rows, symmetry known", matrix.CSR, true, false},
	{"a transposed view", matrix.CSR, false, true},
	{"a bitmap", matrix.Bitmap, false, false},
	{"hypersparse", matrix.Hypersparse, false, false},
}

func move[T semiring.Number](t testing.TB, s sample, how guise, at matrix.Place) matrix.Source[T] {
	t.Helper()
	if how.transposed {
		s = s.transposed()
	}
	a := build[T](t, s, how.format)
	if how.looked {
		a.IsSymmetric()
	}
	if err := a.Move(at); err != nil {
		t.Fatal(err)
	}
	if how.transposed {
		return a.T()
	}
	return a
}

func sameVector[T comparable](t testing.TB, what string, at matrix.Place, got, want *matrix.Vector[T]) {
	t.Helper()
	if got.Place() != at {
		t.Errorf("%s lives at %v", what, got.Place())
	}
	if n := got.NVals(); n != want.NVals() {
		t.Errorf("%s: %d entries, want %d", what, n, want.NVals())
	}
	if !got.Equal(want) {
		t.Fatalf("%s: got %v, want %v", what, sure.Get(got.Dense(*new(T))), sure.Get(want.Dense(*new(T))))
	}
}

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

// realOrEmulated is the first GPU if the environment variable
// HIVEBLAS_TEST_GPU is set, and else the device that runs on the CPU.
func realOrEmulated(t testing.TB) gpu {
	if os.Getenv("HIVEBLAS_TEST_GPU") == "" {
		return emulated(t)
	}
	d, err := cusparse.Open(0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return gpu{Device: d}
}

// onDevice calls f with samples on the host, and on the device in several guises: in
// all guises for one of every many samples. The quick form takes a
// fifth of those on the emulator.
func onDevice[T semiring.Number](t *testing.T, every int, f func(t *testing.T, d gpu, what string, host, there matrix.Source[T])) {
	d := realOrEmulated(t)
	if !longtest.Enabled() && d.e != nil && every%len(guises) != 0 {
		every *= len(guises)
	}
	for k, s := range placeSamples() {
		t.Run(s.reason, func(t *testing.T) {
			host := build[T](t, s.sample, matrix.CSR)
			for g, how := range guises {
				if (k+g)%every == 0 {
					f(t, d, how.name, host, move[T](t, s.sample, how, d.Device))
				}
			}
		})
	}
}

func must[R any](t testing.TB) func(r R, err error) R {
	return func(r R, err error) R {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
}

func TestBFSOnDevice(t *testing.T) {
	onDevice(t, 1, func(t *testing.T, d gpu, what string, host, there matrix.Source[float32]) {
		n, _ := matrix.AsView[float32](host).Dims()
		for _, source := range []int{0, n / 2, n - 1} {
			if source < 0 || source >= n {
				continue
			}
			for _, parents := range []bool{false, true} {
				want := must[*BFSResult](t)(BFS(host, source, BFSOptions{Parents: parents}))
				got := must[*BFSResult](t)(BFS(there, source, BFSOptions{Parents: parents}))
				what := fmt.Sprintf("%s from %d", what, source)
				sameVector(t, what+": levels", d.Device, got.Level, want.Level)
				if got.Reached != want.Reached || got.MaxLevel != want.MaxLevel {
					t.Errorf("%s: reached %d up to level %d, want %d and %d", what, got.Reached, got.MaxLevel, want.Reached, want.MaxLevel)
				}
				if parents {
					sameVector(t, what+": parents", d.Device, got.Parent, want.Parent)
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
	d := realOrEmulated(t)
	thin := random(7000, 9000, 8, true)
	// Vertices 1 … 2999 follow the source and have an edge to vertex 3000 + i%40; so have the
	// four of most out-edges, which are far from the source.
	late := blank(3400)
	for i := 1; i < 3000; i++ {
		late.edges = append(late.edges, edge{0, i, 1})
		late.edges = append(late.edges, edge{i, 3000 + i%40, 1})
		late.edges = append(late.edges, edge{3000 + i%40, 3040 + i%300, 1})
	}
	for k := range 4 {
		for i := range 340 {
			late.edges = append(late.edges, edge{3396 + k, 3000 + i, 1})
		}
		late.edges = append(late.edges, edge{3339, 3396 + k, 1})
	}
	// One vertex in place of forty. The four are its first in-neighbours.
	long := blank(3400)
	for i := 5; i < 3000; i++ {
		long.edges = append(long.edges, edge{0, i, 1}, edge{i, 3000, 1}, edge{3000, 3001 + i%339, 1})
	}
	for k := 1; k < 5; k++ {
		for i := range 340 {
			long.edges = append(long.edges, edge{k, 3000 + i, 1})
		}
		long.edges = append(long.edges, edge{3339, k, 1})
	}
	for name, s := range map[string]sample{"thin": thin, "late": late, "long": long} {
		host, there := build[float32](t, s, matrix.CSR), build[float32](t, s, matrix.CSR)
		if name == "thin" {
			there.IsSymmetric()
		}
		if err := there.Move(d.Device); err != nil {
			t.Fatal(err)
		}
		method := ""
		run := Run{Trace: func(t ops.Trace) { method = string(t.Method) }}
		want := must[*BFSResult](t)(BFS(host, 0, BFSOptions{Parents: true}))
		for range pushes + 2 {
			got := must[*BFSResult](t)(BFS(there, 0, BFSOptions{Run: run, Parents: true}))
			sameVector(t, name+": levels", d.Device, got.Level, want.Level)
			sameVector(t, name+": parents", d.Device, got.Parent, want.Parent)
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
	d := realOrEmulated(t)
	s := path(2500)
	host, there := build[float64](t, s, matrix.CSR), build[float64](t, s, matrix.CSR)
	if err := there.Move(d.Device); err != nil {
		t.Fatal(err)
	}
	want := must[*BFSResult](t)(BFS(host, 0, BFSOptions{Parents: true}))
	got := must[*BFSResult](t)(BFS(there, 0, BFSOptions{Parents: true}))
	sameVector(t, "levels", d.Device, got.Level, want.Level)
	sameVector(t, "parents", d.Device, got.Parent, want.Parent)
	if got.MaxLevel != 2499 {
		t.Errorf("the greatest level is %d, want 2499", got.MaxLevel)
	}
}

// Searches over a directed matrix push at first, and pull once a transpose pays.
func TestBFSComesToPull(t *testing.T) {
	d := emulated(t)
	s := random(400, 9000, 5, false)
	host, there := build[float64](t, s, matrix.CSR), build[float64](t, s, matrix.CSR)
	if err := there.Move(d.Device); err != nil {
		t.Fatal(err)
	}
	want := must[*BFSResult](t)(BFS(host, 3, BFSOptions{Parents: true}))
	var methods []string
	run := Run{Trace: func(t ops.Trace) { methods = append(methods, string(t.Method)) }}
	for range 12 {
		got := must[*BFSResult](t)(BFS(there, 3, BFSOptions{Run: run, Parents: true}))
		sameVector(t, "levels", d.Device, got.Level, want.Level)
		sameVector(t, "parents", d.Device, got.Parent, want.Parent)
	}
	if methods[0] != "push" || methods[11] != "push+pull" {
		t.Errorf("methods %v, want push at first and push+pull in the end", methods)
	}
}

func TestTraversalsWaitOnce(t *testing.T) {
	d := emulated(t)
	a := build[int32](t, random(400, 9000, 6, true), matrix.CSR)
	a.IsSymmetric()
	if err := a.Move(d.Device); err != nil {
		t.Fatal(err)
	}
	once := func(what string, f func() error) {
		for _, want := range []int{-1, 1} { // the first call makes derived forms
			var err error
			if n := d.syncs(func() { err = f() }); err != nil || want > 0 && n != want {
				t.Errorf("%s waits %d times, want %d (error %v)", what, n, want, err)
			}
		}
	}
	once("BFS", func() error { _, err := BFS(a, 0, BFSOptions{Parents: true}); return err })
	once("SSSP", func() error {
		_, err := SSSP(a, []int{0}, SSSPOptions[int32]{Delta: 1 << 20, Trusted: true})
		return err
	})
	once("ConnectedComponents", func() error { _, err := ConnectedComponents(a, ComponentsOptions{}); return err })
	res := must[*PageRankResult](t)(PageRank(a, PageRankOptions{}))
	if n := d.syncs(func() { _, _ = PageRank(a, PageRankOptions{}) }); n > res.Iterations {
		t.Errorf("PageRank waits %d times in %d iterations", n, res.Iterations)
	}
}

func ssspOnDevice[T semiring.Number](t *testing.T, every int) {
	onDevice(t, every, func(t *testing.T, d gpu, what string, host, there matrix.Source[T]) {
		n, _ := matrix.AsView[T](host).Dims()
		for _, sources := range [][]int{{0}, {n - 1, 0, n / 2, 0}} {
			if n == 0 {
				continue
			}
			for _, delta := range []T{0, 9} {
				want, wantErr := SSSP(host, sources, SSSPOptions[T]{Delta: delta})
				got, err := SSSP(there, sources, SSSPOptions[T]{Delta: delta})
				if wantErr != nil { // small types cannot hold the distances
					if err == nil || err.Error() != wantErr.Error() {
						t.Fatalf("%s: error %v, want %v", what, err, wantErr)
					}
					continue
				}
				sameVector(t, fmt.Sprintf("%s from %v with delta %v", what, sources, delta), d.Device, must[*matrix.Vector[T]](t)(got, err), want)
			}
		}
	})
}

func TestSSSPOnDevice(t *testing.T) {
	t.Run("int32", func(t *testing.T) { ssspOnDevice[int32](t, 3) })
	t.Run("float64", func(t *testing.T) { ssspOnDevice[float64](t, 4) })
	t.Run("uint64", func(t *testing.T) { ssspOnDevice[uint64](t, 7) })
	t.Run("float32", func(t *testing.T) { ssspOnDevice[float32](t, 7) })
	t.Run("uint8", func(t *testing.T) { ssspOnDevice[uint8](t, 7) }) // by operations
}

func TestSSSPFloatsOnDevice(t *testing.T) {
	d := emulated(t)
	rng := rand.New(rand.NewSource(7))
	b := matrix.NewBuilder[float64](200, 200)
	for range 1500 {
		x := rng.Float64()
		if rng.Intn(20) == 0 {
			x = math.Inf(1)
		}
		b.Add(rng.Intn(200), rng.Intn(200), x)
	}
	host := must[*matrix.Matrix[float64]](t)(b.Build(semiring.Min[float64]()))
	want := must[*matrix.Vector[float64]](t)(SSSP(host, []int{0}, SSSPOptions[float64]{}))
	there := host.Clone()
	if err := there.Move(d.Device); err != nil {
		t.Fatal(err)
	}
	// Least over all paths, each added up from the source: the same to the bit.
	sameVector(t, "distances", d.Device, must[*matrix.Vector[float64]](t)(SSSP(there, []int{0}, SSSPOptions[float64]{})), want)
}

func TestVertexNominationOnDevice(t *testing.T) {
	onDevice(t, 2, func(t *testing.T, d gpu, what string, host, there matrix.Source[float64]) {
		n, _ := matrix.AsView[float64](host).Dims()
		if n == 0 {
			return
		}
		for _, seeds := range [][]int{{0}, {n / 2, n - 1, 0, n / 2}} {
			for _, unit := range []bool{false, true} {
				opts := VertexNominationOptions[float64]{Unit: unit}
				want := must[*matrix.Vector[float64]](t)(VertexNomination(host, seeds, opts))
				got := must[*matrix.Vector[float64]](t)(VertexNomination(there, seeds, opts))
				sameVector(t, fmt.Sprintf("%s from %v, unit %v", what, seeds, unit), d.Device, got, want)
			}
		}
	})
}

func TestHopsThatDoNotFitOnDevice(t *testing.T) {
	d := emulated(t)
	host, there := build[int8](t, path(150), matrix.CSR), build[int8](t, path(150), matrix.CSR)
	if err := there.Move(d.Device); err != nil {
		t.Fatal(err)
	}
	_, want := VertexNomination(host, []int{0}, VertexNominationOptions[int8]{Unit: true})
	_, err := VertexNomination(there, []int{0}, VertexNominationOptions[int8]{Unit: true})
	if want == nil || err == nil || err.Error() != want.Error() || !errors.Is(err, matrix.ErrSize) {
		t.Errorf("error %v, want %v", err, want)
	}
}

func TestComponentsOnDevice(t *testing.T) {
	onDevice(t, 1, func(t *testing.T, d gpu, what string, host, there matrix.Source[float32]) {
		want := must[*Components](t)(ConnectedComponents(host, ComponentsOptions{}))
		for _, what := range []string{what, what + ", again"} {
			got := must[*Components](t)(ConnectedComponents(there, ComponentsOptions{}))
			sameVector(t, what, d.Device, got.Label, want.Label)
			if got.Count != want.Count || got.Largest != want.Largest {
				t.Errorf("%s: %d components, the largest of %d, want %d and %d", what, got.Count, got.Largest, want.Count, want.Largest)
			}
			// A kept transpose changes the method.
			if n, _ := matrix.AsView[float32](host).Dims(); n > 0 {
				if _, err := PageRank(there, PageRankOptions{MaxIterations: 1}); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

func TestPageRankOnDevice(t *testing.T) {
	onDevice(t, 4, func(t *testing.T, d gpu, what string, host, there matrix.Source[float64]) {
		for _, opts := range []PageRankOptions{{Tolerance: 1e-7}, {Damping: 0.5, Tolerance: 1e-4}, {MaxIterations: 3}} {
			want := must[*PageRankResult](t)(PageRank(host, opts))
			got := must[*PageRankResult](t)(PageRank(there, opts))
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
	onDevice(t, 1, func(t *testing.T, d gpu, what string, host, there matrix.Source[float32]) {
		want := must[int64](t)(TriangleCount(host, TriangleOptions{}))
		if got := must[int64](t)(TriangleCount(there, TriangleOptions{})); got != want {
			t.Errorf("%s: %d triangles, want %d", what, got, want)
		}
	})
}

func TestKTrussOnDevice(t *testing.T) {
	onDevice(t, 2, func(t *testing.T, d gpu, what string, host, there matrix.Source[float32]) {
		for _, k := range []int{3, 4} {
			want := must[*matrix.Matrix[int64]](t)(KTruss(host, k, KTrussOptions{}))
			got := must[*matrix.Matrix[int64]](t)(KTruss(there, k, KTrussOptions{}))
			sameMatrix(t, fmt.Sprintf("%s: %d-truss", what, k), d.Device, got, want, exactly)
		}
	})
}

func TestProjectionOnDevice(t *testing.T) {
	d := emulated(t)
	wide := sample{2, 5, []edge{{0, 0, 1}, {0, 4, 2}, {1, 0, 3}, {1, 3, 0}}}
	for k, s := range append(placeSamples()[3:], named{"a wide matrix", wide}, named{"a tall one", wide.transposed()}) {
		t.Run(s.reason, func(t *testing.T) {
			host := build[float64](t, s.sample, matrix.CSR)
			for o, opts := range []ProjectionOptions{
				{}, {Onto: OntoRows, Diagonal: true}, {Weighting: WeightCount}, {Weighting: WeightRatio, Onto: OntoRows},
			} {
				if s.n > 100 && o != k%4 {
					continue
				}
				how := guises[(k+o)%len(guises)]
				want := must[*matrix.Matrix[float64]](t)(Projection(host, opts))
				got := must[*matrix.Matrix[float64]](t)(Projection(move[float64](t, s.sample, how, d.Device), opts))
				sameMatrix(t, fmt.Sprintf("%s: %+v", how.name, opts), d.Device, got, want, nearly)
			}
		})
	}
}

// Errors are those of the host.
func TestErrorsOnDevice(t *testing.T) {
	d := emulated(t)
	both := func(s sample) (host, there *matrix.Matrix[float64]) {
		host, there = build[float64](t, s, matrix.CSR), build[float64](t, s, matrix.CSR)
		if err := there.Move(d.Device); err != nil {
			t.Fatal(err)
		}
		return host, there
	}
	for _, c := range []struct {
		reason string
		s      sample
		app    func(g matrix.Source[float64]) error
	}{
		{"a negative weight", sample{3, 3, []edge{{1, 2, 4}, {2, 0, -1}, {2, 1, -2}}}, func(g matrix.Source[float64]) error {
			_, err := SSSP(g, []int{0}, SSSPOptions[float64]{})
			return err
		}},
		{"a negative weight, of vertex nomination", sample{2, 2, []edge{{1, 0, -4}}}, func(g matrix.Source[float64]) error {
			_, err := VertexNomination(matrix.AsView[float64](g).T(), []int{0}, VertexNominationOptions[float64]{})
			return err
		}},
		{"a source beyond", path(4), func(g matrix.Source[float64]) error { _, err := BFS(g, 4, BFSOptions{}); return err }},
		{"no sources", path(4), func(g matrix.Source[float64]) error { _, err := SSSP(g, nil, SSSPOptions[float64]{}); return err }},
		{"no vertex", blank(0), func(g matrix.Source[float64]) error { _, err := BFS(g, 0, BFSOptions{}); return err }},
		{"a wide matrix", sample{2, 3, nil}, func(g matrix.Source[float64]) error {
			_, err := ConnectedComponents(g, ComponentsOptions{})
			return err
		}},
		{"a damping of 2", path(4), func(g matrix.Source[float64]) error { _, err := PageRank(g, PageRankOptions{Damping: 2}); return err }},
		{"a 2-truss", path(4), func(g matrix.Source[float64]) error { _, err := KTruss(g, 2, KTrussOptions{}); return err }},
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
		host := build[float64](t, path(5), matrix.CSR)
		if err := host.Set(2, 3, math.NaN()); err != nil {
			t.Fatal(err)
		}
		there := host.Clone()
		if err := there.Move(d.Device); err != nil {
			t.Fatal(err)
		}
		var e *WeightError
		if _, err := SSSP(there, []int{0}, SSSPOptions[float64]{}); !errors.As(err, &e) || e.Row != 2 || e.Col != 3 || e.Got != "NaN" {
			t.Errorf("error %v, want one of the edge from 2 to 3", err)
		}
	})
	t.Run("distances that do not fit", func(t *testing.T) {
		host, there := build[int32](t, sample{3, 3, []edge{{0, 1, 1 << 30}}}, matrix.CSR), build[int32](t, sample{3, 3, []edge{{0, 1, 1 << 30}}}, matrix.CSR)
		if err := there.Move(d.Device); err != nil {
			t.Fatal(err)
		}
		_, want := SSSP(host, []int{0}, SSSPOptions[int32]{})
		_, got := SSSP(there, []int{0}, SSSPOptions[int32]{})
		if want == nil || got == nil || got.Error() != want.Error() {
			t.Errorf("error %v, want %v", got, want)
		}
	})
}

// A search whose context ends between its batches stops, and the device keeps
// working.
func TestCancelledOnDevice(t *testing.T) {
	d := emulated(t)
	g := build[float64](t, path(600), matrix.CSR)
	if err := g.Move(d.Device); err != nil {
		t.Fatal(err)
	}
	for name, app := range all {
		if isStandard(name) && !longtest.Enabled() {
			continue // each compiles its kernels
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := app(g, Run{Context: ctx}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s under a context that has ended: %v", name, err)
		}
	}
	o := SSSPOptions[float64]{Delta: 1}
	want := must[*matrix.Vector[float64]](t)(SSSP(build[float64](t, path(600), matrix.CSR), []int{0}, o))
	for n := range 4 {
		ctx := &endsAfter{Context: context.Background(), left: n + 1}
		c := o
		c.Run.Context = ctx
		if _, err := SSSP(g, []int{0}, c); !errors.Is(err, context.Canceled) {
			t.Errorf("a search of 600 steps that is cancelled at check %d: %v", n+1, err)
		}
		sameVector(t, "distances after a cancelled search", d.Device, must[*matrix.Vector[float64]](t)(SSSP(g, []int{0}, o)), want)
	}
}

// endsAfter is a context that ends after a number of checks.
type endsAfter struct {
	context.Context
	left int
}

func (c *endsAfter) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// A driver that fails anywhere leaves an error, a device that works, and no
// memory in use.
func TestFailuresOnDevice(t *testing.T) {
	d := emulated(t)
	s := random(60, 300, 8, false)
	host := build[float64](t, s, matrix.CSR)
	want := must[*BFSResult](t)(BFS(host, 0, BFSOptions{Parents: true}))
	broken := driver.Error{Call: "call", Code: 999, Name: "CUDA_ERROR_UNKNOWN", Text: "unknown error"}
	for _, call := range []string{"Launch", "Sync", "Occupancy", "ToDevice"} {
		for n := 1; n <= 3; n++ {
			there := build[float64](t, s, matrix.CSR)
			if err := there.Move(d.Device); err != nil {
				t.Fatal(err)
			}
			fault := d.e.FailAfter(call, n, broken)
			_, err := BFS(there, 0, BFSOptions{Parents: true})
			fired := fault.Fired()
			fault.Cancel()
			if fired && err == nil {
				t.Errorf("%s fails without an error", call)
			}
			sameVector(t, "parents after a failure", d.Device, must[*BFSResult](t)(BFS(there, 0, BFSOptions{Parents: true})).Parent, want.Parent)
		}
	}
	long := build[float64](t, path(200), matrix.CSR)
	if err := long.Move(d.Device); err != nil {
		t.Fatal(err)
	}
	o := SSSPOptions[float64]{Delta: 1}
	distances := must[*matrix.Vector[float64]](t)(SSSP(build[float64](t, path(200), matrix.CSR), []int{0}, o))
	for _, call := range []string{"BeginCapture", "LaunchGraph", "CloseGraph"} {
		fault := d.e.FailAfter(call, 1, broken)
		_, err := SSSP(long, []int{0}, o)
		if fired := fault.Fired(); !fired || err == nil {
			t.Errorf("%s fails (%v): error %v", call, fired, err)
		}
		fault.Cancel()
		sameVector(t, "distances after a failure of "+call, d.Device, must[*matrix.Vector[float64]](t)(SSSP(long, []int{0}, o)), distances)
	}
}
