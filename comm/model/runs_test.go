package model_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/model"
)

// TestVirtual: the result does not depend on the number of ranks, is that of a plain loop, and the
// volumes are those of formulas.
func TestVirtual(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6))
	lists := make([][]int32, 150)
	for v := range len(lists) - 1 {
		for range random.IntN(4) { // symmetric, with vertices on their own
			u := random.IntN(len(lists) - 1)
			lists[v], lists[u] = append(lists[v], int32(u)), append(lists[u], int32(v))
		}
	}
	ptr, idx := csr(lists)
	g := model.Graph{Ptr: ptr, Idx: idx}
	n := len(lists)
	weigh := func(f func(v int) float64) (sum float64) {
		for v := range n {
			sum += f(v) * float64(v%97+1)
		}
		return sum
	}
	want := map[string]float64{}
	want["spmv"] = weigh(func(v int) float64 {
		s := 0.0
		for _, u := range lists[v] {
			s += 1 / float64(u+1)
		}
		return s
	})
	level := map[int32]int{7: 0}
	queue := []int32{7}
	for len(queue) > 0 {
		v := queue[0]
		queue = queue[1:]
		for _, u := range lists[v] {
			if _, ok := level[u]; !ok {
				level[u] = level[v] + 1
				queue = append(queue, u)
			}
		}
	}
	want["bfs"] = weigh(func(v int) float64 {
		if l, ok := level[int32(v)]; ok {
			return float64(l)
		}
		return -1
	})
	least := make([]int, n)
	for v := range least {
		least[v] = v
	}
	var mark func(v, l int)
	mark = func(v, l int) {
		least[v] = l
		for _, u := range lists[v] {
			if least[u] > l {
				mark(int(u), l)
			}
		}
	}
	for v := range n {
		if least[v] == v {
			mark(v, v)
		}
	}
	want["cc"] = weigh(func(v int) float64 { return float64(least[v]) })
	rank := make([]float64, n)
	for v := range rank {
		rank[v] = 1 / float64(n)
	}
	for range 200 {
		next := make([]float64, n)
		dangling := 0.0
		for v := range n {
			if len(lists[v]) == 0 {
				dangling += rank[v]
			}
			for _, u := range lists[v] {
				next[v] += 0.85 * rank[u] / float64(len(lists[u]))
			}
		}
		for v := range n {
			next[v] += (0.15 + 0.85*dangling) / float64(n)
		}
		rank = next
	}
	want["pagerank"] = weigh(func(v int) float64 { return rank[v] })
	for _, app := range model.Apps() {
		first := math.NaN()
		for _, p := range []int{1, 2, 3, 4, 7, 200} {
			v, digest, err := model.Virtual(context.Background(), app, g, p, 7)
			if err != nil {
				t.Fatal(app, p, err)
			}
			if p == 1 {
				first = digest
			}
			if math.Float64bits(digest) != math.Float64bits(first) {
				t.Errorf("%s on %d ranks: %v, on one %v", app, p, digest, first)
			}
			if math.Abs(digest-want[app]) > 1e-4*math.Abs(want[app]) {
				t.Errorf("%s: %v, want %v", app, digest, want[app])
			}
			if v.Ranks != p || v.Bytes <= 0 || v.Steps < 1 || v.Imbalance < 1 {
				t.Errorf("%s on %d ranks: %+v", app, p, v)
			}
			cuts := g.Cuts(p, 1)
			fewest := n
			for i := range p {
				fewest = min(fewest, cuts[i+1]-cuts[i])
			}
			gather := int64(4 * (n - fewest))
			for i, c := range v.Calls {
				if app != "bfs" && c.Kind == comm.KindAllGatherV && c.In != gather {
					t.Errorf("%s on %d ranks: collective %d receives %d bytes, want %d", app, p, i, c.In, gather)
				}
				if app == "bfs" && c.In > int64(max(8*(p-1), n/8+p)) {
					t.Errorf("bfs on %d ranks: collective %d receives %d bytes", p, i, c.In)
				}
			}
			if app == "spmv" && (len(v.Calls) != 1 || v.In() != gather) {
				t.Errorf("spmv: %v", v.Calls)
			}
		}
	}
}

func TestVirtualErrors(t *testing.T) {
	t.Parallel()
	g := model.Graph{Ptr: []int64{0, 1}, Idx: []int32{0}}
	for _, tc := range []struct {
		reason, app string
		g           model.Graph
		p, source   int
		want        string
	}{
		{"app", "sgm", g, 1, 0, "no ledger"}, {"ranks", "bfs", g, 0, 0, "0 ranks"}, {"source", "bfs", g, 1, 1, "source 1"},
		{"graph", "bfs", model.Graph{}, 1, 0, "no CSR"}, {"index", "bfs", model.Graph{Ptr: g.Ptr, Idx: []int32{4}}, 1, 0, "no CSR"},
	} {
		if _, _, err := model.Virtual(context.Background(), tc.app, tc.g, tc.p, tc.source); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v", tc.reason, err)
		}
	}
	if cuts := (model.Graph{}).Cuts(3, 1); len(cuts) != 4 || cuts[3] != 0 {
		t.Error(cuts)
	}
}
