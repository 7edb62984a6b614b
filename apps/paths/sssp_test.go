package paths

import (
	"container/heap"
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
	"pgregory.net/rapid"
)

// queue is a heap of vertices by distance.
type queue []samples.Arc

func (q queue) Len() int { return len(q) }

func (q queue) Less(i, j int) bool { return q[i].Weight < q[j].Weight }

func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

func (q *queue) Push(x any) { *q = append(*q, x.(samples.Arc)) }

func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// dijkstra is the oracle: the distances from source of the vertices that it reaches.
func dijkstra(out [][]samples.Arc, source int) map[int]float64 {
	dist := map[int]float64{}
	q := &queue{{To: source, Weight: 0}}
	for q.Len() > 0 {
		v := heap.Pop(q).(samples.Arc)
		if _, done := dist[v.To]; done {
			continue
		}
		dist[v.To] = v.Weight
		for _, e := range out[v.To] {
			heap.Push(q, samples.Arc{To: e.To, Weight: v.Weight + e.Weight})
		}
	}
	return dist
}

// nearest is the least of the distances from several sources, one after the
// other.
func nearest(out [][]samples.Arc, sources []int) map[int]float64 {
	dist := map[int]float64{}
	for _, s := range sources {
		for v, d := range dijkstra(out, s) {
			if old, ok := dist[v]; !ok || d < old {
				dist[v] = d
			}
		}
	}
	return dist
}

func checkSSSP[T semiring.Number](t rapid.TB, s samples.Sample) {
	out := s.Arcs()
	for _, sources := range [][]int{{0}, {s.N - 1}, {s.N / 2, 0, 0}} {
		want := nearest(out, sources)
		deltas, next := []T{0, 1, 3, 100}, 0
		samples.EveryForm(t, s, func(name string, g matrix.Source[T], run workflow.Run) {
			next++
			o := SSSPOptions[T]{Run: run, Delta: deltas[next%len(deltas)], Trusted: next%3 == 0}
			d, err := SSSP(g, sources, o)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got := samples.Entries(d); d.Size() != s.N || !maps.Equal(got, want) {
				t.Fatalf("%s from %v, delta %v: distances %v, want %v", name, sources, o.Delta, got, want)
			}
		})
	}
}

func TestSSSP(t *testing.T) {
	samples.OnGraphs(t, func(t rapid.TB, s samples.Sample) {
		if s.N == 0 {
			if _, err := SSSP(samples.Build[int](t, s, matrix.CSR), []int{0}, SSSPOptions[int]{}); !errors.Is(err, matrix.ErrIndex) {
				t.Errorf("a graph without vertices: %v, want %v", err, matrix.ErrIndex)
			}
			return
		}
		checkSSSP[int32](t, s)
		checkMoreSSSP(t, s)
		checkSSSP[float64](t, s)
	})
}

func TestSSSPOfLDBC(t *testing.T) {
	a := samples.Shared(t, "lagraph/ldbc-directed-example.mtx")
	d, err := SSSP(a, []int{0}, SSSPOptions[float64]{})
	if err != nil {
		t.Fatal(err)
	}
	// By hand: 1→3 0.5, 1→5 0.3, 5→4 0.53, 5→8 0.1, 3→10 0.52. The rest have no way in from 1.
	want := map[int]float64{0: 0, 2: 0.5, 3: 0.83, 4: 0.3, 7: 0.4, 9: 1.02}
	got := samples.Entries(d)
	for v, x := range want {
		if math.Abs(got[v]-x) > 1e-12 {
			t.Errorf("vertex %d: distance %v, want %v", v+1, got[v], x)
		}
	}
	if len(got) != len(want) {
		t.Errorf("reached %v, want %v", got, want)
	}
}

// TestSSSPOfRealGraphs compares with Dijkstra, and the threads with each
// other. Sums along different shortest paths may differ in the last place.
func TestSSSPOfRealGraphs(t *testing.T) {
	for _, name := range []string{"lagraph/ldbc-undirected-example", "lagraph/test_BF", "graphs/lesmis.mtx.gz", "graphs/celegansneural.mtx.gz",
		"graphs/cities.mtx.gz", "graphs/ak2010.mtx.gz"} {
		t.Run(name, func(t *testing.T) {
			if strings.HasPrefix(name, "graphs/") {
				samples.Big(t)
			} else {
				name += ".mtx"
			}
			a := samples.Shared(t, name)
			want := dijkstra(samples.ArcsOf(a), 3)
			var first *matrix.Vector[float64]
			for threads := 1; threads <= 3; threads++ {
				d, err := SSSP(a, []int{3}, SSSPOptions[float64]{Run: workflow.Run{Threads: threads}})
				if err != nil {
					t.Fatal(err)
				}
				if first == nil {
					first = d
				}
				if !d.Equal(first) {
					t.Errorf("%d threads give other distances than 1", threads)
				}
			}
			if first.NVals() != int64(len(want)) {
				t.Errorf("reached %d, want %d", first.NVals(), len(want))
			}
			for v, x := range first.All() {
				if w, ok := want[v]; !ok || math.Abs(x-w) > 1e-12*w {
					t.Fatalf("vertex %d: distance %v, want %v (%v)", v, x, w, ok)
				}
			}
		})
	}
}

// TestSSSPBuckets has buckets of many vertices, which threads share, of few and of all, and
// distances beyond the buckets with lists.
func TestSSSPBuckets(t *testing.T) {
	s := samples.Random(3000, 20000, 1, true)
	want := dijkstra(s.Arcs(), 5)
	g := samples.Build[float64](t, s, matrix.CSR)
	for _, delta := range []float64{0, 1e-3, .02, 2, 1e9, math.Inf(1)} {
		for threads := 1; threads <= 4; threads++ {
			d, err := SSSP(g, []int{5}, SSSPOptions[float64]{Run: workflow.Run{Threads: threads}, Delta: delta})
			if err != nil || !maps.Equal(samples.Entries(d), want) {
				t.Errorf("delta %v, %d threads: %v, %v", delta, threads, d, err)
			}
		}
	}
}

func TestSSSPErrors(t *testing.T) {
	g := samples.Build[float64](t, samples.Path(4), matrix.CSR)
	for _, c := range []struct {
		reason  string
		sources []int
		delta   float64
		want    string // part of the message
		is      error
	}{
		{"no source", nil, 0, "SSSP: the list of sources is empty, want at least one vertex", nil},
		{"source below", []int{0, -1}, 0, "source", matrix.ErrIndex},
		{"source above", []int{4}, 0, "source", matrix.ErrIndex},
		{"negative delta", []int{0}, -1, "SSSP: delta is -1", nil},
		{"NaN delta", []int{0}, math.NaN(), "SSSP: delta is NaN", nil},
	} {
		_, err := SSSP(g, c.sources, SSSPOptions[float64]{Delta: c.delta})
		var p *workflow.ParameterError
		if err == nil || !strings.Contains(err.Error(), c.want) || c.is != nil && !errors.Is(err, c.is) || c.is == nil && !errors.As(err, &p) {
			t.Errorf("%s: got %v, want %q", c.reason, err, c.want)
		}
	}
}

// TestSSSPWeights gives weights that are no lengths, in every format and in transposed views. The
// error names the edge as the view has it.
func TestSSSPWeights(t *testing.T) {
	for _, bad := range []float64{-1, -1e-300, math.NaN(), math.Inf(-1)} {
		samples.EveryForm(t, samples.Path(5).Beside(samples.Clique(3, true)), func(name string, g matrix.Source[float64], run workflow.Run) {
			a := access.FromStore(access.Stored(matrix.AsView[float64](g))).Clone()
			row, col := 5, 7
			if matrix.AsView[float64](g).Inside().Transposed {
				row, col = col, row
			}
			sure.Do(a.Set(row, col, bad))
			v := a.View()
			if matrix.AsView[float64](g).Inside().Transposed {
				v = v.T()
			}
			_, err := SSSP(v, []int{0}, SSSPOptions[float64]{Run: run, Delta: 1})
			var w *workflow.WeightError
			if !errors.As(err, &w) || w.Row != 5 || w.Col != 7 || w.Got != fmt.Sprint(bad) {
				t.Errorf("%s, weight %v from 5 to 7: got %v", name, bad, err)
			}
		})
	}
	g := samples.Build[float64](t, samples.Path(3), matrix.Bitmap)
	sure.Do(g.Set(0, 1, math.Copysign(0, -1)))
	sure.Do(g.Set(0, 2, -3))
	if err := g.Delete(0, 2); err != nil {
		t.Fatal(err)
	}
	d, err := SSSP(g, []int{0}, SSSPOptions[float64]{})
	if want := map[int]float64{0: 0, 1: 0, 2: 2}; err != nil || !maps.Equal(samples.Entries(d), want) {
		t.Errorf("with −0, and a negative weight deleted: %v, %v, want %v", d, err, want)
	}
}

// TestSSSPInfinity takes an infinite weight for an edge that leads nowhere.
func TestSSSPInfinity(t *testing.T) {
	g := samples.Build[float64](t, samples.Sample{M: 4, N: 4, Edges: []samples.Edge{{From: 0, To: 1, Weight: 1}, {From: 1, To: 2, Weight: 1}, {From: 2, To: 1, Weight: 1}, {From: 3, To: 0, Weight: 1}}}, matrix.CSR)
	sure.Do(g.Set(1, 2, math.Inf(1)))
	d, err := SSSP(g, []int{0}, SSSPOptions[float64]{})
	if want := map[int]float64{0: 0, 1: 1}; err != nil || !maps.Equal(samples.Entries(d), want) {
		t.Errorf("%v, %v, want %v", d.Text(), err, want)
	}
}

// checkNearLimit asks for the right distances or an error, on two vertices
// with edges of weight w both ways: 0 → 1 → 0 is as long as 2w.
func checkNearLimit[T semiring.Integer](t *testing.T, weights ...T) {
	for _, w := range weights {
		g := sure.Get(matrix.FromTuples(2, 2, []int{0, 1}, []int{1, 0}, []T{w, w}, nil))
		d, err := SSSP(g, []int{0}, SSSPOptions[T]{})
		var p *workflow.ParameterError
		switch fits := w < semiring.MaxValue[T]()/2; {
		case errors.As(err, &p):
			if fits {
				t.Errorf("%T: weight %v refused: %v", w, w, err)
			}
		case err != nil:
			t.Error(err)
		default:
			if x, ok := d.At(1); !ok || x != w {
				t.Errorf("%T: distance %v (%v), want %v", w, x, ok, w)
			}
			if x, ok := d.At(0); !ok || x != 0 {
				t.Errorf("%T: weight %v brings the source to distance %v (%v)", w, w, x, ok)
			}
		}
	}
}

func TestSSSPOverflow(t *testing.T) {
	checkNearLimit[int8](t, 1, 62, 63, 64, 100, 126, 127)
	checkNearLimit[uint8](t, 1, 126, 127, 128, 200, 254, 255)
	checkNearLimit[int32](t, 1<<29, 1<<30-2, 1<<30-1, 1<<30, 1500000000, math.MaxInt32)
	checkNearLimit[int64](t, 1<<61, 1<<62, 1<<62+1<<61, math.MaxInt64)
	checkNearLimit[uint64](t, 1<<62, 1<<63, math.MaxUint64)
	long, err := SSSP(samples.Build[int8](t, samples.Path(50), matrix.CSR), []int{0}, SSSPOptions[int8]{})
	var p *workflow.ParameterError
	if !errors.As(err, &p) || !strings.Contains(p.Want, "wider type") {
		t.Errorf("50 vertices of edges up to 3 in int8: %v, %v, want a *ParameterError", long, err)
	}
	loop := sure.Get(matrix.FromTuples(1, 1, []int{0}, []int{0}, []int64{math.MaxInt64}, nil))
	if d, err := SSSP(loop, []int{0}, SSSPOptions[int64]{}); err != nil || !maps.Equal(samples.Entries(d), map[int]float64{0: 0}) {
		t.Errorf("a loop of the largest weight: %v, %v", d, err)
	}
}

// Distances beyond the largest float are +Inf, in every form; what no finite weights reach has no
// entry.
func TestSSSPBeyondFloats(t *testing.T) {
	if longtest.Takes(0, 2) {
		overflows[float64](t, math.MaxFloat64, 1.7e308)
	}
	if longtest.Takes(1, 2) {
		overflows[float32](t, math.MaxFloat32, 3e38)
	}
}

func overflows[T semiring.Float](t *testing.T, most, large T) {
	inf := T(math.Inf(1))
	g := sure.Get(matrix.FromTuples(10, 10,
		[]int{0, 1, 2, 0, 5, 0, 7, 2, 3}, []int{1, 2, 3, 5, 6, 7, 8, 9, 1}, []T{large, large, 1, inf, 1, most, 1, inf, 0}, nil))
	want := map[int]float64{0: 0, 1: float64(large), 2: math.Inf(1), 3: math.Inf(1), 7: float64(most), 8: float64(most)}
	check := func(form string, at matrix.Place, run workflow.Run) {
		t.Helper()
		there := g.Clone()
		sure.Do(there.Move(at))
		d, err := SSSP(there, []int{0}, SSSPOptions[T]{Run: run})
		if err == nil {
			err = d.Move(nil)
		}
		if err != nil {
			t.Fatalf("%s: %v", form, err)
		}
		if got := samples.Entries(d); !maps.Equal(got, want) {
			t.Errorf("%s: distances %v, want %v", form, got, want)
		}
	}
	d := samples.RealOrEmulated(t)
	group := sure.Get(comm.LocalGroup(3))
	check("host", nil, workflow.Run{})
	check("device, fused", d.Device, workflow.Run{Method: workflow.Fused})
	check("device, pipeline", d.Device, workflow.Run{Method: workflow.Pipeline})
	check("group", group, workflow.Run{})
	check("group, pipeline", group, workflow.Run{Method: workflow.Pipeline})
}

// depth is a narrow type of a user, with a text of its own.
type depth int16

func (d depth) String() string { return fmt.Sprint(int16(d), " m") }

// Weights of 8 and 16 bits give the distances of wide ones, at every place.
func TestSSSPNarrow(t *testing.T) {
	for k, of := range []func(){func() { narrow[depth](t, "-1 m") }, func() { narrow[int8](t, "-1") }, func() { narrow[uint16](t, "") }} {
		if longtest.Takes(k, 3) {
			of()
		}
	}
}

func narrow[T semiring.Integer](t *testing.T, negative string) {
	t.Helper()
	g := sure.Get(matrix.FromTuples(5, 5, []int{0, 0, 1, 2, 3}, []int{1, 2, 2, 3, 0}, []T{4, 9, 3, 0, 5}, nil))
	want := map[int]float64{0: 0, 1: 4, 2: 7, 3: 7}
	d := samples.RealOrEmulated(t)
	for where, at := range map[string]matrix.Place{"host": nil, "device": d.Device, "group": sure.Get(comm.LocalGroup(2))} {
		there := g.Clone()
		sure.Do(there.Move(at))
		for _, method := range []workflow.Method{workflow.Auto, workflow.Pipeline} {
			dist, err := SSSP(there, []int{0}, SSSPOptions[T]{Run: workflow.Run{Method: method}, Delta: 2})
			if err != nil {
				t.Fatalf("%T, %s: %v", T(0), where, err)
			}
			if dist.Place() != at {
				t.Errorf("%T, %s: the distances are at %v", T(0), where, dist.Place())
			}
			sure.Do(dist.Move(nil))
			if got := samples.Entries(dist); !maps.Equal(got, want) {
				t.Errorf("%T, %s, %s: distances %v, want %v", T(0), where, method, got, want)
			}
		}
		_, err := SSSP(there, []int{0}, SSSPOptions[T]{Run: workflow.Run{Method: workflow.Fused}})
		if _, refused := errors.AsType[*workflow.ParameterError](err); where == "device" && (!refused || !strings.Contains(err.Error(), "32 or 64 bits")) {
			t.Errorf("%T: the fused form on a device: %v", T(0), err)
		}
	}
	if negative == "" {
		return
	}
	one := T(1)
	sure.Do(g.Set(3, 0, -one))
	_, err := SSSP(g, []int{0})
	if w, ok := errors.AsType[*workflow.WeightError](err); !ok || w.Got != negative || w.Row != 3 || w.Col != 0 {
		t.Errorf("%T: a negative weight: %v", T(0), err)
	}
}
