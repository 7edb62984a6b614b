package samples

import (
	"fmt"
	"math"
	"os"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/generate"
	"github.com/hiveblas/hiveblas/internal/emu"
	"github.com/hiveblas/hiveblas/internal/emulate"
	"github.com/hiveblas/hiveblas/internal/race"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// PeersOf returns a group of p devices of their own, which gather from memory to memory: GPUs of
// this machine with HIVEBLAS_TEST_GPU, else devices of an emulator.
func PeersOf(t testing.TB, p int) *comm.Group {
	t.Helper()
	g, _ := PeersOn(t, p)
	return g
}

// PeersOn is peersOf with the emulator, nil with HIVEBLAS_TEST_GPU.
func PeersOn(t testing.TB, p int) (*comm.Group, *emu.Emulator) {
	t.Helper()
	if race.Enabled {
		t.Skip("the emulator launches one kernel at a time")
	}
	var opts []cusparse.Option
	var e *emu.Emulator
	if os.Getenv("HIVEBLAS_TEST_GPU") == "" {
		var err error
		e, opts, err = emulate.Driver(emu.Devices(p))
		emulate.Needed(t, err)
	}
	var places []comm.Place
	var list []comm.Device
	for i := range p {
		d, err := cusparse.Open(i, opts...)
		if err != nil && os.Getenv("HIVEBLAS_TEST_GPU") != "" && i > 0 {
			t.Skip(p, "GPUs are needed:", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close() })
		c, err := d.Comm()
		if err != nil {
			t.Fatal(err)
		}
		places, list = append(places, d), append(list, c)
	}
	g := peersAt(t, places, list)
	return g, e
}

// Regrouped returns a new group of the devices of one that PeersOf returned, in which rank 1 has a
// fault.
func Regrouped(t testing.TB, g *comm.Group, f comm.Fault, opts ...comm.Option) *comm.Group {
	t.Helper()
	var places []comm.Place
	var list []comm.Device
	for k := range g.Ranks() {
		d := g.PlaceOf(k).(*cusparse.Device)
		places, list = append(places, d), append(list, Must[comm.Device](t)(d.Comm()))
	}
	ranks := Must[[]comm.Comm](t)(comm.Peers(list, opts...))
	ranks[1] = comm.WithFault(ranks[1], f)
	return Must[*comm.Group](t)(comm.NewGroup(ranks, comm.At(places...)))
}

// GraphsByRows are graphs for runs by rows: empty rows and ranks, hubs, dangling vertices, more
// ranks than vertices, directed and not.
func GraphsByRows(t *testing.T) map[string]*matrix.Matrix[bool] {
	t.Helper()
	list := map[string]*matrix.Matrix[bool]{}
	add := func(name string, g *generate.Graph, err error, opts ...generate.MatrixOption) {
		if err == nil {
			list[name], err = generate.Matrix[bool](g, opts...)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	g, err := generate.RMAT(8, 1500, generate.RMATOptions{Seed: 3})
	add("R-MAT", g, err, generate.Undirected(), generate.Simple())
	add("directed R-MAT", g, err)
	g, err = generate.Uniform(2, 3, 1)
	add("two vertices", g, err)
	g, err = generate.Uniform(90, 40, 1)
	add("mostly isolated", g, err, generate.Undirected())
	g, err = generate.Grid(9, 7)
	add("grid", g, err, generate.Undirected())
	list["hub"] = hub(t, 10000)
	return list
}

// hub is a vertex with so many edges, in both directions, and a path through its neighbours: a
// frontier of one vertex from which devices pull.
func hub(t *testing.T, n int) *matrix.Matrix[bool] {
	t.Helper()
	var from, to []int
	for v := 1; v <= n; v++ {
		from, to = append(from, 0, v), append(to, v, 0)
		if v%3 == 0 && v < n {
			from, to = append(from, v), append(to, v+1)
		}
	}
	g, err := matrix.FromTuples(n+1, n+1, from, to, slices.Repeat([]bool{true}, len(from)), nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// GroupsByRows are groups for runs by rows, by name.
func GroupsByRows(t *testing.T) map[string]*comm.Group {
	t.Helper()
	groups := map[string]*comm.Group{}
	for _, p := range []int{1, 2, 3, 7} {
		g, err := comm.LocalGroup(p)
		if err != nil {
			t.Fatal(err)
		}
		groups[g.String()] = g
	}
	if !race.Enabled {
		for _, p := range []int{1, 2, 3} {
			if os.Getenv("HIVEBLAS_TEST_GPU") == "" || p < 3 {
				g := PeersOf(t, p)
				groups[g.String()] = g
			}
		}
	}
	return groups
}

// MethodOn returns the method of runs by rows on a group: Auto takes it for devices.
func MethodOn(g *comm.Group) workflow.Method {
	if g.PlaceOf(0) == nil {
		return workflow.Fused
	}
	return workflow.Auto
}

// Weighed gives the edges of a graph lengths of 0 … 8.
func Weighed[T semiring.Number](t *testing.T, g *matrix.Matrix[bool]) *matrix.Matrix[T] {
	t.Helper()
	m, n := g.Dims()
	a := matrix.New[T](m, n)
	length := semiring.NewIndex("length", func(_ bool, i, j int) T { return T((3*i + 5*j) % 9) })
	if err := ops.ApplyIndex(a, length, g); err != nil {
		t.Fatal(err)
	}
	return a
}

func SameBlocks[T comparable](t *testing.T, what string, got, want *matrix.Vector[T], group *comm.Group) {
	t.Helper()
	if got.Place() != matrix.Place(group) {
		t.Errorf("%s is at %v", what, got.Place())
	}
	host := got.Clone()
	if err := host.Move(nil); err != nil {
		t.Fatal(err)
	}
	if !host.Equal(want) || got.NVals() != want.NVals() {
		t.Errorf("%s: %d entries, want %d: %v, want %v", what, got.NVals(), want.NVals(), host, want)
	}
}

// GroupOfGPUs returns a group of GPUs of this machine and the first of them: two if there are, else
// ranks of one device, which is emulated unless HIVEBLAS_TEST_GPU is set.
func GroupOfGPUs(t testing.TB) (*comm.Group, matrix.Place, bool) {
	if os.Getenv("HIVEBLAS_TEST_GPU") == "" {
		d := Emulated(t)
		ranks, err := comm.Local(2)
		if err != nil {
			t.Fatal(err)
		}
		g, err := comm.NewGroup(ranks, comm.At(d.Device, d.Device))
		if err != nil {
			t.Fatal(err)
		}
		return g, d.Device, false
	}
	var places []comm.Place
	var list []comm.Device
	for i := range 2 {
		d, err := cusparse.Open(i)
		if err != nil {
			t.Skip("two GPUs are needed:", err)
		}
		t.Cleanup(func() { d.Close() })
		c, err := d.Comm()
		if err != nil {
			t.Fatal(err)
		}
		places, list = append(places, d), append(list, c)
	}
	g := peersAt(t, places, list)
	return g, places[0].(matrix.Place), true
}

type GroupGraph = *matrix.Matrix[float32]

// Figures lists the numbers of a result: of a vector its values, NaN where it has no entry, of a
// matrix its size, and the row, the column and the value of each entry, of a struct the numbers of
// its exported fields. Times are left out.
func Figures(v any) (list []float64) {
	switch v := v.(type) {
	case nil, time.Duration:
		return nil
	case *matrix.Vector[float64]:
		return vectorFigures(v)
	case *matrix.Vector[float32]:
		return vectorFigures(v)
	case *matrix.Vector[int32]:
		return vectorFigures(v)
	case *matrix.Vector[int64]:
		return vectorFigures(v)
	case *matrix.Vector[bool]:
		if v == nil {
			return nil
		}
		list = slices.Repeat([]float64{math.NaN()}, v.Size())
		for i, x := range v.All() {
			list[i] = float64(workflow.Bit(x))
		}
		return list
	case *matrix.Matrix[float64]:
		return matrixFigures(v)
	case *matrix.Matrix[float32]:
		return matrixFigures(v)
	case *matrix.Matrix[int32]:
		return matrixFigures(v)
	case *matrix.Matrix[int64]:
		return matrixFigures(v)
	}
	r := reflect.Indirect(reflect.ValueOf(v))
	switch {
	case !r.IsValid(): // a nil pointer
	case r.Kind() == reflect.Bool:
		list = append(list, float64(workflow.Bit(r.Bool())))
	case r.CanInt():
		list = append(list, float64(r.Int()))
	case r.CanUint():
		list = append(list, float64(r.Uint()))
	case r.CanFloat():
		list = append(list, r.Float())
	case r.Kind() == reflect.Slice:
		for i := range r.Len() {
			list = append(list, Figures(r.Index(i).Interface())...)
		}
	case r.Kind() == reflect.Struct:
		for i := range r.NumField() {
			if r.Type().Field(i).IsExported() {
				list = append(list, Figures(r.Field(i).Interface())...)
			}
		}
	}
	return list
}

func vectorFigures[T semiring.Number](v *matrix.Vector[T]) []float64 {
	if v == nil {
		return nil
	}
	return Flat(nil, v)
}

func matrixFigures[T semiring.Number](a *matrix.Matrix[T]) []float64 {
	if a == nil {
		return nil
	}
	m, n := a.Dims()
	list := []float64{float64(m), float64(n)}
	for at, x := range a.All() {
		list = append(list, float64(at.Row), float64(at.Col), float64(x))
	}
	return list
}

// ResultWords lists the bits of the figures of a result.
func ResultWords(v any) (words []string) {
	for _, x := range Figures(v) {
		words = append(words, fmt.Sprintf("%x", math.Float64bits(x)))
	}
	return words
}

// PlacesOf lists the places of the vectors and matrices of a result.
func PlacesOf(v any) (list []matrix.Place) {
	if p, ok := v.(interface{ Place() matrix.Place }); ok {
		if r := reflect.ValueOf(v); r.Kind() != reflect.Pointer || !r.IsNil() {
			list = append(list, p.Place())
		}
		return list
	}
	r := reflect.Indirect(reflect.ValueOf(v))
	switch r.Kind() {
	case reflect.Slice:
		for i := range r.Len() {
			list = append(list, PlacesOf(r.Index(i).Interface())...)
		}
	case reflect.Struct:
		for i := range r.NumField() {
			if r.Type().Field(i).IsExported() {
				list = append(list, PlacesOf(r.Field(i).Interface())...)
			}
		}
	}
	return list
}

func RangeGraph(t testing.TB, scale int, at matrix.Place) GroupGraph {
	t.Helper()
	edges, err := generate.RMAT(scale, 6<<scale, generate.RMATOptions{Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	g, err := generate.Matrix[float32](edges, generate.Undirected(), generate.Simple())
	if err != nil {
		t.Fatal(err)
	}
	// Values with sums that depend on their order.
	if err := ops.ApplyIndex(g, semiring.NewIndex("uneven", func(_ float32, i, j int) float32 {
		return 1 / float32(1+(i+j)%11)
	}, ""), g); err != nil {
		t.Fatal(err)
	}
	if err := g.Move(at); err != nil {
		t.Fatal(err)
	}
	return g
}

// InBlocks makes a graph that no process has whole.
func InBlocks(t testing.TB, g GroupGraph, at *comm.Group) GroupGraph {
	t.Helper()
	m, n := g.Dims()
	b := matrix.New[float32](m, n, matrix.On(at))
	if err := ops.Apply(b, semiring.Identity[float32](), g); err != nil {
		t.Fatal(err)
	}
	return b
}

// Processes runs f on p groups of one rank each, which stand for p processes.
func Processes(t *testing.T, p int, f func(at *comm.Group) (any, error)) ([]any, []error) {
	t.Helper()
	ranks, err := comm.Local(p)
	if err != nil {
		t.Fatal(err)
	}
	results, errs := make([]any, p), make([]error, p)
	var wait sync.WaitGroup
	for r, c := range ranks {
		at, err := comm.NewGroup([]comm.Comm{c})
		if err != nil {
			t.Fatal(err)
		}
		wait.Go(func() { results[r], errs[r] = f(at) })
	}
	wait.Wait()
	return results, errs
}

// peersAt returns the group of devices that read each other's memory.
func peersAt(t testing.TB, places []comm.Place, list []comm.Device) *comm.Group {
	t.Helper()
	ranks, err := comm.Peers(list)
	if err != nil {
		t.Fatal(err)
	}
	g, err := comm.NewGroup(ranks, comm.At(places...))
	if err != nil {
		t.Fatal(err)
	}
	return g
}
