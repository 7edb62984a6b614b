package paths

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
	"pgregory.net/rapid"
)

func checkVN[T semiring.Number](t rapid.TB, s samples.Sample) {
	weighted := s.Arcs()
	unit := make([][]samples.Arc, s.N)
	for v, out := range weighted {
		for _, e := range out {
			unit[v] = append(unit[v], samples.Arc{To: e.To, Weight: 1})
		}
	}
	seeds := []int{s.N / 2, s.N - 1, 0, 0}
	for k := 1; k <= len(seeds); k++ {
		for _, hops := range []bool{false, true} {
			want := nearest(weighted, seeds[:k])
			if hops {
				want = nearest(unit, seeds[:k])
			}
			samples.EveryForm(t, s, func(name string, g matrix.Source[T], run workflow.Run) {
				d, err := VertexNomination(g, seeds[:k], VertexNominationOptions[T]{Run: run, Unit: hops, Delta: T(k)})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if got := samples.Entries(d); d.Size() != s.N || !maps.Equal(got, want) {
					t.Fatalf("%s from %v, hops %v: distances %v, want %v", name, seeds[:k], hops, got, want)
				}
				checkRank(t, d, want)
			})
		}
	}
}

// checkRank asks for every reached vertex once, in order of distance and
// then of number.
func checkRank[T semiring.Number](t rapid.TB, d *matrix.Vector[T], want map[int]float64) {
	list := Rank(d)
	if len(list) != len(want) {
		t.Fatalf("%d nominations of %d vertices", len(list), len(want))
	}
	for i, x := range list {
		if float64(x.Distance) != want[x.Vertex] {
			t.Fatalf("vertex %d is nominated at %v, want %v", x.Vertex, x.Distance, want[x.Vertex])
		}
		if i == 0 {
			continue
		}
		if y := list[i-1]; y.Distance > x.Distance || y.Distance == x.Distance && y.Vertex >= x.Vertex {
			t.Fatalf("%v before %v", y, x)
		}
	}
}

func TestVertexNomination(t *testing.T) {
	samples.OnGraphs(t, func(t rapid.TB, s samples.Sample) {
		if s.N == 0 {
			return
		}
		checkVN[int32](t, s)
		checkVN[int64](t, s)
		checkVN[float32](t, s)
		checkVN[float64](t, s)
	})
}

func TestVertexNominationOfRealGraph(t *testing.T) {
	a := samples.Shared(t, "graphs/netscience.mtx.gz")
	seeds := []int{0, 100, 1000, 1588}
	want := nearest(samples.ArcsOf(a), seeds)
	for threads := 1; threads <= 3; threads++ {
		d, err := VertexNomination(a, seeds, VertexNominationOptions[float64]{Run: workflow.Run{Threads: threads}})
		if err != nil {
			t.Fatal(err)
		}
		for v, x := range d.All() {
			if w, ok := want[v]; !ok || math.Abs(x-w) > 1e-12 {
				t.Fatalf("%d threads, vertex %d: distance %v, want %v (%v)", threads, v, x, w, ok)
			}
		}
		if d.NVals() != int64(len(want)) {
			t.Errorf("reached %d, want %d", d.NVals(), len(want))
		}
	}
}

func TestVertexNominationErrors(t *testing.T) {
	g := samples.Build[float64](t, samples.Path(4), matrix.CSR)
	for _, unit := range []bool{false, true} {
		for _, c := range []struct {
			reason string
			seeds  []int
			want   string
			is     error
		}{
			{"no seeds", []int{}, "VertexNomination: the list of seeds is empty, want at least one vertex", nil},
			{"nil seeds", nil, "VertexNomination: the list of seeds is empty, want at least one vertex", nil},
			{"a seed below", []int{1, -1}, "VertexNomination: seed", matrix.ErrIndex},
			{"a seed above", []int{0, 4}, "VertexNomination: seed", matrix.ErrIndex},
		} {
			_, err := VertexNomination(g, c.seeds, VertexNominationOptions[float64]{Unit: unit})
			var p *workflow.ParameterError
			if err == nil || !strings.HasPrefix(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) || c.is == nil && !errors.As(err, &p) {
				t.Errorf("%s, unit %v: got %v, want %q", c.reason, unit, err, c.want)
			}
		}
	}
	if _, err := VertexNomination(g, []int{0}, VertexNominationOptions[float64]{Delta: -1}); err == nil {
		t.Error("a negative delta passes")
	}
	for _, bad := range []float64{-2, math.NaN()} {
		sure.Do(g.Set(2, 3, bad))
		_, err := VertexNomination(g, []int{0}, VertexNominationOptions[float64]{})
		var w *workflow.WeightError
		if !errors.As(err, &w) || w.Row != 2 || w.Col != 3 {
			t.Errorf("weight %v from 2 to 3: %v", bad, err)
		}
		d, err := VertexNomination(g, []int{0}, VertexNominationOptions[float64]{Unit: true})
		if want := map[int]float64{0: 0, 1: 1, 2: 2, 3: 3}; err != nil || !maps.Equal(samples.Entries(d), want) {
			t.Errorf("weight %v, which hops do not read: %v, %v", bad, d, err)
		}
	}
}

// TestHopsThatFit counts hops up to the largest value of a type, and one more.
func TestHopsThatFit(t *testing.T) {
	fits := samples.Build[int8](t, samples.Path(128), matrix.CSR)
	d, err := VertexNomination(fits, []int{0}, VertexNominationOptions[int8]{Unit: true})
	if err != nil {
		t.Fatalf("127 hops in int8: %v", err)
	}
	if x, ok := d.At(127); !ok || x != 127 {
		t.Errorf("the last vertex is at %v (%v), want 127", x, ok)
	}
	_, err = VertexNomination(samples.Build[int8](t, samples.Path(129), matrix.CSR), []int{0}, VertexNominationOptions[int8]{Unit: true})
	var size *matrix.SizeError
	if !errors.As(err, &size) || size.Got != 128 || size.Limit != 127 {
		t.Errorf("128 hops in int8: %v, want a *matrix.SizeError", err)
	}
}

func TestRankOfNothing(t *testing.T) {
	if got := Rank(matrix.NewVector[int](3)); got == nil || len(got) != 0 {
		t.Errorf("%v, want an empty list", got)
	}
	d := sure.Get(matrix.VectorOf([]int{3, 1, 3, 0, 1}))
	want := []Nomination[int]{{3, 0}, {1, 1}, {4, 1}, {0, 3}, {2, 3}}
	if got := Rank(d); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
