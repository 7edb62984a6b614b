package order_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/order"
	"github.com/hiveblas/hiveblas/generate"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// renumbered returns the graph of undirected edges between random numbers of n vertices, each edge
// given in one direction.
func renumbered(t *testing.T, n int, edges [][2]int, seed uint64) *matrix.Matrix[bool] {
	t.Helper()
	number := rand.New(rand.NewPCG(seed, 9)).Perm(n)
	a := matrix.New[bool](n, n)
	for _, e := range edges {
		sure.Do(a.Set(number[e[0]], number[e[1]], true))
	}
	return a
}

// band returns the greatest distance of two neighbours in an order, and checks that it is one.
func band(t *testing.T, a *matrix.Matrix[bool], order []int32) int {
	t.Helper()
	n, _ := a.Dims()
	at := make([]int, n)
	if len(order) != n {
		t.Fatalf("%d positions for %d vertices", len(order), n)
	}
	for k, v := range order {
		at[v] += k + 1
	}
	if sorted := slices.Sorted(slices.Values(at)); n > 0 && (sorted[0] != 1 || sorted[n-1] != n || len(slices.Compact(sorted)) != n) {
		t.Fatalf("no permutation: %v", order)
	}
	wide := 0
	for e := range a.All() {
		wide = max(wide, at[e.Row]-at[e.Col], at[e.Col]-at[e.Row])
	}
	return wide
}

func TestReverseCuthillMcKee(t *testing.T) {
	t.Parallel()
	const width, height = 7, 40
	var grid, line, ring, star [][2]int
	for y := range height {
		for x := range width {
			v := y*width + x
			if x > 0 {
				grid = append(grid, [2]int{v, v - 1})
			}
			if y > 0 {
				grid = append(grid, [2]int{v - width, v})
			}
		}
	}
	for v := range 99 {
		line = append(line, [2]int{v, v + 1})
		ring = append(ring, [2]int{(v + 1) % 99, v})
		star = append(star, [2]int{v + 1, 0})
	}
	for _, c := range []struct {
		name  string
		n     int
		edges [][2]int
		most  int
	}{
		// A grid of w × h, w ≤ h, has no order with a band under w (Chvátalová, 1975); the levels
		// of a search from a corner have w vertices at most.
		{"no vertices", 0, nil, 0}, {"no edges", 5, nil, 0}, {"a loop", 3, [][2]int{{1, 1}}, 0},
		{"line", 100, line, 1}, {"ring", 99, ring, 2}, {"star", 100, star, 98}, {"grid", width * height, grid, width + 1},
		{"two lines and vertices alone", 300, append(slices.Clone(line), func() (far [][2]int) {
			for _, e := range line {
				far = append(far, [2]int{e[0] + 150, e[1] + 150})
			}
			return far
		}()...), 1},
	} {
		for seed := range uint64(5) {
			a := renumbered(t, c.n, c.edges, seed)
			order, err := order.ReverseCuthillMcKee(a)
			if err != nil {
				t.Fatal(c.name, err)
			}
			if got := band(t, a, order); got > c.most {
				t.Errorf("%s, seed %d: the band is %d wide, want at most %d", c.name, seed, got, c.most)
			}
		}
	}
	if _, err := order.ReverseCuthillMcKee(matrix.New[bool](3, 4)); !errors.Is(err, matrix.ErrDimension) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := order.ReverseCuthillMcKee(renumbered(t, 99, ring, 1), order.OrderOptions{workflow.Run{Context: ctx}}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := order.ReverseCuthillMcKee(renumbered(t, 99, ring, 1), order.OrderOptions{workflow.Run{Method: workflow.Fused}}); err == nil {
		t.Error("there is no fused form")
	}
}

// naiveOrder is ReverseCuthillMcKee, one vertex after another.
func naiveOrder(a *matrix.Matrix[bool]) []int32 {
	n, _ := a.Dims()
	near := make([][]int32, n)
	for e := range a.All() {
		if e.Row != e.Col {
			near[e.Row], near[e.Col] = append(near[e.Row], int32(e.Col)), append(near[e.Col], int32(e.Row))
		}
	}
	for v := range near {
		slices.Sort(near[v])
		near[v] = slices.Compact(near[v])
	}
	var order []int32
	seen := make([]int, n) // level + 1
	search := func(u int32) (depth int) {
		at := len(order)
		order, seen[u] = append(order, u), 1
		for ; at < len(order); at++ {
			v := order[at]
			next := slices.Clone(near[v])
			slices.SortStableFunc(next, func(x, y int32) int { return len(near[x]) - len(near[y]) })
			for _, x := range next {
				if seen[x] == 0 {
					order, seen[x] = append(order, x), seen[v]+1
				}
			}
		}
		return seen[order[len(order)-1]]
	}
	for u := range n {
		if seen[u] > 0 {
			continue
		}
		start, root := len(order), int32(u)
		for depth := 0; ; {
			deeper := search(root)
			if deeper <= depth {
				break
			}
			depth, root = deeper, order[len(order)-1]
			for k := len(order) - 1; k >= start && seen[order[k]] == depth; k-- {
				if v := order[k]; len(near[v]) <= len(near[root]) {
					root = v
				}
			}
			for _, v := range order[start:] {
				seen[v] = 0
			}
			order = order[:start]
		}
	}
	slices.Reverse(order)
	return order
}

// The order equals the order of one thread, for levels of every size.
func TestReverseCuthillMcKeeThreads(t *testing.T) {
	t.Parallel()
	for _, undirected := range []bool{false, true} {
		r := sure.Get(generate.RMAT(13, 1<<17, generate.RMATOptions{Seed: 3}))
		opts := []generate.MatrixOption{generate.Simple()}
		if undirected {
			opts = append(opts, generate.Undirected())
		}
		a := sure.Get(generate.Matrix[bool](r, opts...))
		want := naiveOrder(a)
		for _, threads := range []int{1, 2, 3, 8, 16} {
			got, err := order.ReverseCuthillMcKee(a, order.OrderOptions{workflow.Run{Threads: threads}})
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("undirected %v, %d threads: another order than one vertex after another gives, %v", undirected, threads, err)
			}
		}
	}
}
