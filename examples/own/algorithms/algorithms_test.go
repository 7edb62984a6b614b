package algorithms

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/generate"
	"github.com/hiveblas/hiveblas/internal/emulate"
	"github.com/hiveblas/hiveblas/internal/splitmix"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// everywhere runs f on graphs with hubs and with long paths, at each place: the host, a group of
// two ranks, a device, whose loops are recorded unless why says that they are not.
func everywhere(t *testing.T, why string, f func(t *testing.T, edges *generate.Graph, at matrix.Place, explain ops.Option)) {
	for name, edges := range map[string]*generate.Graph{
		"rmat": sure.Get(generate.RMAT(7, 8<<7, generate.RMATOptions{Seed: 3})),
		"grid": sure.Get(generate.Grid(11, 9)),
	} {
		told := ""
		explain := ops.Explain(func(text string) { told = text })
		t.Run(name+"/host", func(t *testing.T) { f(t, edges, nil, explain) })
		t.Run(name+"/group", func(t *testing.T) { f(t, edges, sure.Get(comm.LocalGroup(2)), explain) })
		t.Run(name+"/devices", func(t *testing.T) {
			list, _ := emulate.Devices(t, 2)
			f(t, edges, emulate.Group(list...), explain)
		})
		t.Run(name+"/device", func(t *testing.T) {
			if f(t, edges, emulate.Shared(t), explain); why == "" && !strings.HasPrefix(told, "while ") || !strings.Contains(told, why) {
				t.Errorf("the loop: %s, want %q", told, why)
			}
		})
	}
}

// weighted is the undirected graph with weights from 1 to most, equal in both directions.
func weighted(edges *generate.Graph, most uint64, at matrix.Place) (a *matrix.Matrix[int32], list []edge) {
	g := sure.Get(generate.Matrix[bool](edges, generate.Undirected(), generate.Simple()))
	n, _ := g.Dims()
	b := matrix.NewBuilder[int32](n, n)
	for e := range g.All() {
		w := int32(1 + splitmix.At(uint64(min(e.Row, e.Col)*n+max(e.Row, e.Col)), 5)%most)
		b.Add(e.Row, e.Col, w)
		list = append(list, edge{e.Row, e.Col, w})
	}
	a = sure.Get(b.Build(nil))
	sure.Do(a.Move(at))
	return a, list
}

// edge is an entry of a matrix.
type edge struct {
	from, to int
	weight   int32
}

func TestReach(t *testing.T) {
	everywhere(t, "", func(t *testing.T, edges *generate.Graph, at matrix.Place, explain ops.Option) {
		a, list := weighted(edges, 9, at)
		n, _ := a.Dims()
		for _, c := range []struct {
			hops   int64
			budget int32
		}{{0, 10}, {1, 10}, {3, 12}, {1000, 20}, {4, 1000}} {
			const none = math.MaxInt32
			want := slices.Repeat([]int32{none}, n)
			want[1] = 0
			for range min(c.hops, int64(n)) {
				last := slices.Clone(want)
				for _, e := range list {
					if last[e.from] != none && last[e.from]+e.weight <= c.budget {
						want[e.to] = min(want[e.to], last[e.from]+e.weight)
					}
				}
			}
			got, err := Reach(a, 1, c.hops, c.budget, explain)
			if err != nil {
				t.Fatal(err)
			}
			if got := sure.Get(got.Dense(none)); !slices.Equal(got, want) {
				t.Errorf("%d hops, %d: got %v\nwant %v", c.hops, c.budget, got, want)
			}
		}
	})
}

func TestSpread(t *testing.T) {
	everywhere(t, "", func(t *testing.T, edges *generate.Graph, at matrix.Place, explain ops.Option) {
		a, list := weighted(edges, 255, at)
		n, _ := a.Dims()
		seeds := matrix.NewVector[int64](n, matrix.On(at))
		const least = 40
		want := make([]int64, n)
		for k, v := range []int{1, n / 2, n - 1} {
			want[v] = Labelled(int32(1000*(k+1)), int32(k+7))
			sure.Do(seeds.Set(v, want[v]))
		}
		for changed := true; changed; {
			changed = false
			for _, e := range list {
				strength := int64(Strength(want[e.from])) * int64(e.weight) / 256
				if x := Labelled(int32(strength), Label(want[e.from])); strength >= least && x > want[e.to] {
					want[e.to], changed = x, true
				}
			}
		}
		got, err := Spread(a, seeds, least, explain)
		if err != nil {
			t.Fatal(err)
		}
		if got := sure.Get(got.Dense(0)); !slices.Equal(got, want) {
			t.Errorf("got %v\nwant %v", got, want)
		}
	})
}

func TestJacobi(t *testing.T) {
	everywhere(t, "one by one: ", func(t *testing.T, edges *generate.Graph, at matrix.Place, explain ops.Option) {
		w, list := weighted(edges, 9, nil)
		n, _ := w.Dims()
		build, diagonal := matrix.NewBuilder[float32](n, n), slices.Repeat([]float32{1}, n)
		for _, e := range list {
			build.Add(e.from, e.to, -float32(e.weight))
			diagonal[e.from] += 2 * float32(e.weight)
		}
		right, want := make([]float32, n), make([]float64, n)
		for v, d := range diagonal {
			build.Add(v, v, d)
			right[v] = float32(v % 7)
		}
		a, b := sure.Get(build.Build(nil)), sure.Get(matrix.VectorOf(right))
		sure.Do(a.Move(at), b.Move(at))
		for range 60 { // Gauss–Seidel would do; half of the error goes each time
			next := make([]float64, n)
			for v := range next {
				next[v] = float64(right[v])
			}
			for _, e := range list {
				next[e.from] += float64(e.weight) * want[e.to]
			}
			for v := range next {
				next[v] /= float64(diagonal[v])
			}
			want = next
		}
		got, err := Jacobi(a, b, 1e-5, 100, explain)
		if err != nil {
			t.Fatal(err)
		}
		for v, x := range sure.Get(got.Dense(-1)) {
			if math.Abs(float64(x)-want[v]) > 4e-5 {
				t.Errorf("x(%d) = %v, want %v", v, x, want[v])
			}
		}
		if early := sure.Get(Jacobi(a, b, 1e-5, 1)); sure.Get(early.Value(3)) != right[3]/diagonal[3] {
			t.Errorf("after a sweep x(3) = %v, want %v", sure.Get(early.Value(3)), right[3]/diagonal[3])
		}
	})
}

func TestKMeans(t *testing.T) {
	everywhere(t, "one by one: ", func(t *testing.T, edges *generate.Graph, at matrix.Place, explain ops.Option) {
		w, list := weighted(edges, 9, nil)
		n, _ := w.Dims()
		build := matrix.NewBuilder[float32](n, n)
		rows := make([][]float64, n)
		for v := range rows {
			rows[v] = make([]float64, n)
		}
		for _, e := range list {
			build.Add(e.from, e.to, float32(e.weight))
			rows[e.from][e.to] = float64(e.weight)
		}
		a := sure.Get(build.Build(nil))
		sure.Do(a.Move(at))
		first := []int{2, n / 3, n / 2, n - 4}
		for _, rounds := range []int64{1, 3, 100} {
			cluster, centres, err := KMeans(a, first, rounds, explain)
			if err != nil {
				t.Fatal(err)
			}
			want, means := kmeansByHand(rows, first, rounds)
			if got := sure.Get(cluster.Dense(-1)); !slices.Equal(got, want) {
				t.Errorf("%d rounds: got %v\nwant %v", rounds, got, want)
			}
			for e, x := range centres.All() {
				if want := means[e.Col][e.Row]; math.Abs(float64(x)-want) > 1e-5 {
					t.Fatalf("%d rounds: centre %d at %d is %v, want %v", rounds, e.Col, e.Row, x, want)
				}
			}
			if centres.NVals() != int64(n*len(first)) {
				t.Errorf("the centres have %d entries", centres.NVals())
			}
		}
	})
}

// kmeansByHand is the algorithm by plain loops over full rows.
func kmeansByHand(rows [][]float64, first []int, rounds int64) (cluster []int32, centres [][]float64) {
	for _, v := range first {
		centres = append(centres, slices.Clone(rows[v]))
	}
	cluster = slices.Repeat([]int32{-1}, len(rows))
	for range rounds {
		sums, count, changed := make([][]float64, len(first)), make([]float64, len(first)), false
		for c := range sums {
			sums[c] = make([]float64, len(rows))
		}
		for v, row := range rows {
			best, nearest := math.Inf(1), int32(0)
			for c, centre := range centres {
				distance := 0.0
				for j, x := range row {
					distance += (x - centre[j]) * (x - centre[j])
				}
				if distance < best {
					best, nearest = distance, int32(c)
				}
			}
			changed = changed || cluster[v] != nearest
			cluster[v] = nearest
			count[nearest]++
			for j, x := range row {
				sums[nearest][j] += x
			}
		}
		for c := range sums {
			for j := range sums[c] {
				sums[c][j] /= max(count[c], 1)
			}
		}
		if centres = sums; !changed {
			return cluster, centres
		}
	}
	return cluster, centres
}
