package project

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
	"github.com/hiveblas/hiveblas/testdata"
	"pgregory.net/rapid"
)

// project is the oracle: dense loops over all pairs of one side and all
// vertices of the other.
func project(s samples.Sample, o ProjectionOptions) map[matrix.Coord]float64 {
	if o.Onto == OntoRows {
		s = s.Transposed()
	}
	at, out := s.Weights(), map[matrix.Coord]float64{}
	for u := range s.N {
		for v := range s.N {
			if u == v && !o.Diagonal {
				continue
			}
			for k := range s.M {
				x, okX := at[matrix.Coord{Row: k, Col: u}]
				y, okY := at[matrix.Coord{Row: k, Col: v}]
				if !okX || !okY {
					continue
				}
				w := 0.0
				switch {
				case o.Weighting == WeightDot:
					w = float64(x * y)
				case o.Weighting == WeightCount:
					w = 1
				case x != 0:
					w = float64(x) / float64(x+y)
				}
				out[matrix.Coord{Row: u, Col: v}] += w
			}
		}
	}
	return out
}

func checkProjection[T semiring.Number](t rapid.TB, s samples.Sample) {
	_, isFloat := any(T(0)).(float64)
	_, isShort := any(T(0)).(float32)
	for _, o := range []ProjectionOptions{
		{}, {Diagonal: true}, {Onto: OntoRows}, {Onto: OntoRows, Diagonal: true},
		{Weighting: WeightCount}, {Weighting: WeightCount, Diagonal: true},
		{Weighting: WeightCount, Onto: OntoRows}, {Weighting: WeightCount, Onto: OntoRows, Diagonal: true},
		{Weighting: WeightRatio}, {Weighting: WeightRatio, Diagonal: true},
		{Weighting: WeightRatio, Onto: OntoRows}, {Weighting: WeightRatio, Onto: OntoRows, Diagonal: true},
	} {
		tolerance := 0.0
		if o.Weighting == WeightRatio {
			switch {
			case isFloat:
				tolerance = 1e-14
			case isShort:
				tolerance = 1e-6
			default:
				continue // refused; see TestProjectionErrors
			}
		}
		want := project(s, o)
		samples.EveryForm(t, s, func(name string, g matrix.Source[T], run workflow.Run) {
			o.Run = run
			p, err := Projection(g, o)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			side := s.N
			if o.Onto == OntoRows {
				side = s.M
			}
			if m, n := p.Dims(); m != side || n != side || p.NVals() != int64(len(want)) {
				t.Fatalf("%s: %v, want %d×%d and %d entries", name, p, side, side, len(want))
			}
			for c, x := range p.All() {
				if w, ok := want[c]; !ok || math.Abs(float64(x)-w) > tolerance*w {
					t.Fatalf("%s, onto %v, weighting %v: %v is %v, want %v (%v)", name, o.Onto, o.Weighting, c, x, w, ok)
				}
			}
		})
	}
}

func TestProjection(t *testing.T) {
	check := func(t rapid.TB, s samples.Sample) {
		checkProjection[int32](t, s)
		checkMoreProjections(t, s)
		checkProjection[float64](t, s)
	}
	for _, c := range samples.Shapes {
		t.Run(c.Reason, func(t *testing.T) { check(t, c.S) })
	}
	for _, d := range [][2]int{{0, 3}, {3, 0}, {1, 4}, {4, 1}} {
		t.Run(fmt.Sprintf("%d×%d", d[0], d[1]), func(t *testing.T) {
			s := samples.Sample{M: d[0], N: d[1]}
			check(t, s)
			for i := range s.M {
				for j := range s.N {
					s.Edges = append(s.Edges, samples.Edge{From: i, To: j, Weight: i + j})
				}
			}
			check(t, s)
		})
	}
	t.Run("random", rapid.MakeCheck(func(t *rapid.T) {
		check(t, samples.DrawSample(t, rapid.IntRange(0, 8).Draw(t, "m"), rapid.IntRange(0, 8).Draw(t, "n")))
	}))
}

// TestProjectionOfChesapeake compares with the output of Gunrock's projection
// of this graph (HIVE report, 2018, ch. 9): both weightings are the same,
// since every weight is 1.
func TestProjectionOfChesapeake(t *testing.T) {
	a := samples.Own(t, testdata.Chesapeake)
	want := map[[2]int]float64{{0, 1}: 9, {0, 2}: 1, {0, 3}: 2, {38, 35}: 28, {38, 36}: 2, {38, 37}: 18}
	for _, weighting := range []Weighting{WeightDot, WeightCount, WeightRatio} {
		for _, onto := range []Side{OntoColumns, OntoRows} { // the graph is undirected
			p, err := Projection(a, ProjectionOptions{Weighting: weighting, Onto: onto})
			if err != nil {
				t.Fatal(err)
			}
			if p.NVals() != 1372 {
				t.Errorf("weighting %v: %d entries, want 1372", weighting, p.NVals())
			}
			for c, w := range want {
				if weighting == WeightRatio {
					w /= 2 // every share is a half
				}
				if x, ok := p.At(c[0], c[1]); !ok || x != w {
					t.Errorf("weighting %v: %v is %v (%v), want %v", weighting, c, x, ok, w)
				}
			}
			if !p.IsSymmetric() {
				t.Errorf("weighting %v: not symmetric", weighting)
			}
		}
	}
}

// TestProjectionOfRealGraph compares some rows with an explicit count, and numbers of
// threads with each other.
func TestProjectionOfRealGraph(t *testing.T) {
	samples.Big(t)
	a := samples.Shared(t, "gnn/cora.features.mtx.gz") // papers by words
	wordsOf := samples.ArcsOf(a)
	for _, weighting := range []Weighting{WeightDot, WeightCount, WeightRatio} {
		var first *matrix.Matrix[float64]
		for threads := 1; threads <= 3; threads++ {
			p, err := Projection(a, ProjectionOptions{Run: workflow.Run{Threads: threads}, Weighting: weighting})
			if err != nil {
				t.Fatal(err)
			}
			if first == nil {
				first = p
			}
			if !p.Equal(first) {
				t.Errorf("weighting %v: %d threads give another result than 1", weighting, threads)
			}
		}
		for _, u := range []int{0, 700, 1432} {
			together := map[int]float64{}
			for _, words := range wordsOf {
				for _, x := range words {
					for _, y := range words {
						if x.To == u && y.To != u {
							together[y.To]++
						}
					}
				}
			}
			got := 0
			for v, x := range first.Row(u) {
				got++
				w := together[v]
				if weighting == WeightRatio {
					w /= 2
				}
				if x != w {
					t.Errorf("weighting %v: words %d and %d: %v, want %v", weighting, u, v, x, w)
				}
			}
			if got != len(together) {
				t.Errorf("word %d: %d others, want %d", u, got, len(together))
			}
		}
	}
}

// checkCounts gives limit rows, which T can count, and more, which it cannot.
func checkCounts[T semiring.Number](t *testing.T, limit int, more ...int) {
	column := func(m int) *matrix.Matrix[T] {
		a := sure.Get(matrix.NewFull(m, 2, T(1)))
		return a
	}
	if limit < 1<<16 {
		p, err := Projection(column(limit), ProjectionOptions{Weighting: WeightCount, Diagonal: true})
		if err != nil {
			t.Fatalf("%T: %d rows: %v", T(0), limit, err)
		}
		for c, x := range p.All() {
			if int(x) != limit {
				t.Errorf("%T: %v is %v, want %d", x, c, x, limit)
			}
		}
	}
	for _, m := range more {
		_, err := Projection(matrix.New[T](m, 2), ProjectionOptions{Weighting: WeightCount})
		var size *matrix.SizeError
		if !errors.As(err, &size) || size.Got != int64(m) || size.Limit != int64(limit) {
			t.Errorf("%T: %d rows: %v, want a *matrix.SizeError with limit %d", T(0), m, err, limit)
		}
		if p, err := Projection(matrix.New[T](m, 2), ProjectionOptions{}); err != nil || p.NVals() != 0 {
			t.Errorf("%T: %d rows without counting: %v, %v", T(0), m, p, err)
		}
	}
}

func TestCountsThatFit(t *testing.T) {
	checkCounts[int8](t, 127, 128, 255, 256, 1<<20)
	checkCounts[uint16](t, 65535, 65536, 1<<17+5)
	checkCounts[float32](t, 1<<24, 1<<24+1, 1<<24+2, 1<<25, 1<<25+4, 1<<30)
	checkCounts[int32](t, math.MaxInt32)
	checkMoreCounts(t)
	checkCounts[float64](t, 1<<53)
}

func TestProjectionErrors(t *testing.T) {
	ints := samples.Build[int32](t, samples.Clique(3, false), matrix.CSR)
	for _, c := range []struct {
		reason string
		o      ProjectionOptions
		want   string
	}{
		{"ratios of integers", ProjectionOptions{Weighting: WeightRatio}, "Projection: the element type is int32, want a float"},
		{"no such weighting", ProjectionOptions{Weighting: 3}, "Projection: the weighting is 3, want WeightDot"},
		{"a negative weighting", ProjectionOptions{Weighting: -1}, "Projection: the weighting is -1"},
		{"no such side", ProjectionOptions{Onto: 2}, "Projection: the side is 2, want OntoColumns or OntoRows"},
	} {
		_, err := Projection(ints, c.o)
		var p *workflow.ParameterError
		if !errors.As(err, &p) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.reason, err, c.want)
		}
	}
}

func TestRatioSemiring(t *testing.T) {
	if err := semiring.Check(RatioSemiring[float64](), semiring.CheckOptions[float64, float64, float64]{}); err != nil {
		t.Error(err)
	}
	if err := semiring.Check(RatioSemiring[float32](), semiring.CheckOptions[float32, float32, float32]{}); err != nil {
		t.Error(err)
	}
}
