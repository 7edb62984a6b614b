package project

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// random returns an m×n matrix whose entries have the given probability, with rows and columns
// without entries.
func random[T semiring.Number](m, n int, density float64) *matrix.Matrix[T] {
	r := rand.New(rand.NewPCG(uint64(m), uint64(n)))
	b := matrix.NewBuilder[T](m, n)
	for i := range m {
		for j := range n {
			if r.Float64() < density && i%7 != 3 && j%11 != 5 {
				b.Add(i, j, T(r.Float64()*90+1))
			}
		}
	}
	return sure.Get(b.Build(nil))
}

// checkTriangle compares triangles and their mirrors with whole products, bit by bit.
func checkTriangle[T semiring.Number](t *testing.T) {
	t.Helper()
	for _, d := range [][2]int{{1, 1}, {3, 1}, {1, 70}, {40, 65}, {130, 64}, {50, 300}} {
		a := random[T](d[0], d[1], .3)
		for _, o := range []ProjectionOptions{{}, {Diagonal: true}, {Onto: OntoRows}, {Onto: OntoRows, Diagonal: true},
			{Weighting: WeightCount}, {Weighting: WeightCount, Diagonal: true, Onto: OntoRows}} {
			if o.Weighting == WeightCount && workflow.LargestCount[T]() < 400 {
				continue
			}
			right := matrix.AsView[T](a)
			if o.Onto == OntoRows {
				right = a.T()
			}
			o.Method = workflow.Pipeline
			want := sure.Get(Projection(a, o))
			o.Method = workflow.Auto
			for o.Threads = 1; o.Threads <= 3; o.Threads++ {
				got, err := projectTriangle(right, 0, o)
				if err != nil || got == nil {
					t.Fatalf("%d×%d, %+v: %v, %v", d[0], d[1], o, got, err)
				}
				if !got.Equal(want) {
					t.Errorf("%d×%d of %T, onto %v, weighting %v, diagonal %v, %d threads: %v, want %v", d[0], d[1], *new(T), o.Onto, o.Weighting, o.Diagonal, o.Threads, got, want)
				}
			}
		}
	}
}

func TestTriangle(t *testing.T) {
	t.Parallel()
	checkTriangle[float64](t)
	checkTriangle[int32](t)
	checkTriangle[int8](t)
}

// Projection takes the triangle where each pair of vertices has many products, and only there.
func TestTriangleIsChosen(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		a      *matrix.Matrix[float64]
		o      ProjectionOptions
		chosen bool
	}{
		{"many products a pair", random[float64](400, 60, .5), ProjectionOptions{}, true},
		{"few vertices", random[float64](20, 20, .5), ProjectionOptions{}, false},
		{"few products a pair", random[float64](400, 1500, .02), ProjectionOptions{}, false},
		{"ratios are not symmetric", random[float64](400, 60, .5), ProjectionOptions{Weighting: WeightRatio}, false},
		{"by operations", random[float64](400, 60, .5), ProjectionOptions{Run: workflow.Run{Method: workflow.Pipeline}}, false},
	} {
		chosen := false
		c.o.Trace = func(tr ops.Trace) { chosen = chosen || tr.Method == "triangle" }
		if _, err := Projection(c.a, c.o); err != nil || chosen != c.chosen {
			t.Errorf("%s: %v, triangle %v", c.reason, err, chosen)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Projection(random[float64](400, 60, .5), ProjectionOptions{Run: workflow.Run{Context: ended}}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	nan := random[float64](400, 60, .5)
	sure.Do(nan.Set(0, 0, math.NaN()))
	sure.Do(nan.Set(0, 1, 2))
	p, err := Projection(nan, ProjectionOptions{})
	if x, _ := p.At(0, 1); err != nil || !math.IsNaN(x) {
		t.Errorf("NaN becomes %v, %v", x, err)
	}
}
