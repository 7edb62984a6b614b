package samples

import (
	"math"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/emu"
	"github.com/hiveblas/hiveblas/internal/emulate"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/race"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
	"github.com/hiveblas/hiveblas/testdata"
)

// Copies returns the bytes that f copies to the device and to the host.
func (g Gpu) Copies(f func()) (toDevice, toHost uint64) {
	d0, h0 := g.E.Copied()
	f()
	d1, h1 := g.E.Copied()
	return d1 - d0, h1 - h0
}

// Gpu is a device that runs on the CPU, for all tests of this package.
type Gpu struct {
	*cusparse.Device
	E *emu.Emulator
}

var openEmulated = sync.OnceValues(func() (Gpu, error) {
	e, with, err := emulate.Driver(emu.Shuffled(uint64(longtest.Turn())))
	if err != nil {
		return Gpu{}, err
	}
	d, err := cusparse.Open(0, with...)
	return Gpu{d, e}, err
})

func Emulated(t testing.TB) Gpu {
	t.Helper()
	if race.Enabled {
		t.Skip("the emulator launches one kernel at a time; the tests of cusparse are for the race detector")
	}
	d, err := openEmulated()
	emulate.Needed(t, err)
	return d
}

// Syncs returns how often f waits for the device.
func (g Gpu) Syncs(f func()) int {
	before := g.E.Calls()["Sync"]
	f()
	return g.E.Calls()["Sync"] - before
}

// Named is a sample with its name.
type Named struct {
	Reason string
	Sample
}

// PlaceSamples are graphs to compare the device with the host on.
func PlaceSamples() []Named {
	list := []Named{
		{"a path of 150", Path(150)},
		{"an undirected path of 90", Path(90).Both()},
		{"a random graph", Random(300, 2500, 1, false)},
		{"a random undirected graph", Random(400, 1500, 2, true)},
		{"hubs, loops and isolated vertices", Random(200, 900, 3, true).Beside(Clique(9, true)).Beside(Blank(40))},
		{"a star of rows longer than a chunk", Star(300).Both()},
	}
	for _, c := range Shapes {
		list = append(list, Named{c.Reason, c.S})
	}
	for k, text := range [][]byte{testdata.Karate, testdata.Chesapeake} {
		a, err := graphio.ReadMatrixMarket[float64](strings.NewReader(string(text)))
		if err != nil {
			panic(err)
		}
		s := Blank(0)
		s.M, s.N = a.Dims()
		for c, x := range a.All() {
			s.Edges = append(s.Edges, Edge{c.Row, c.Col, int(math.Abs(x)*8) % 97})
		}
		list = append(list, Named{[]string{"karate", "chesapeake"}[k], s})
	}
	return list
}

// A guise is a form in which a graph reaches the device.
type guise struct {
	Name       string
	format     matrix.Format
	looked     bool // its symmetry has been checked
	transposed bool // a view of the transpose
}

var Guises = []guise{
	{"rows", matrix.CSR, false, false},
	{"rows, symmetry known", matrix.CSR, true, false},
	{"a transposed view", matrix.CSR, false, true},
	{"a bitmap", matrix.Bitmap, false, false},
	{"hypersparse", matrix.Hypersparse, false, false},
}

func Move[T semiring.Number](t testing.TB, s Sample, how guise, at matrix.Place) matrix.Source[T] {
	t.Helper()
	if how.transposed {
		s = s.Transposed()
	}
	a := Build[T](t, s, how.format)
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

func SameVector[T comparable](t testing.TB, what string, at matrix.Place, got, want *matrix.Vector[T]) {
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

// RealOrEmulated is the first GPU if the environment variable
// HIVEBLAS_TEST_GPU is set, and else the device that runs on the CPU.
func RealOrEmulated(t testing.TB) Gpu {
	if os.Getenv("HIVEBLAS_TEST_GPU") == "" {
		return Emulated(t)
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
	return Gpu{Device: d}
}
