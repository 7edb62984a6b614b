package model_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/model"
	"github.com/hiveblas/hiveblas/internal/sure"
)

// TestPredict compares with scale-model.py of the study: SpMV of R-MAT 26 on 8 devices, efficiency
// 0.67 at 360 GB/s.
func TestPredict(t *testing.T) {
	t.Parallel()
	const v, e, c = 67e6, 2.15e9, 24
	m := model.Machine{Memory: 4.2e12, Launch: 5e-6, Lines: map[comm.Kind]map[int]model.Line{
		comm.KindAllGatherV: {8: {Alpha: 15e-6, N: 360e9}},
	}}
	gather := []comm.Call{{Kind: comm.KindAllGatherV, Ranks: 8, In: int64(4 * v * 7 / 8)}}
	volumes := []model.Volume{{Ranks: 1, Bytes: e * c, Steps: 1}, {Ranks: 8, Bytes: e * c, Imbalance: 1.05, Steps: 1, Calls: gather}}
	list, best, err := m.Choose(volumes)
	if err != nil || best != 1 {
		t.Fatal(best, err)
	}
	if eff := list[1].Efficiency; math.Abs(eff-0.67) > 0.005 {
		t.Errorf("efficiency %.4f, want 0.67", eff)
	}
	if math.Abs(list[0].Efficiency-1) > 1e-12 || list[1].Bytes != gather[0].In {
		t.Errorf("%+v", list)
	}
	// A small graph stays on one device.
	for i := range volumes {
		volumes[i].Bytes /= 1e4
	}
	if _, best, err := m.Choose(volumes); err != nil || best != 0 {
		t.Error("a small graph:", best, err)
	}
	volumes[1].Calls = []comm.Call{{Kind: comm.KindBroadcast}}
	if _, _, err := m.Choose(volumes); err == nil || !strings.Contains(err.Error(), "Broadcast") {
		t.Error("without a measurement:", err)
	}
	if _, err := m.Predict(model.Volume{}); err == nil {
		t.Error("no ranks are accepted")
	}
	if _, best, err := m.Choose(nil); best != -1 || err != nil {
		t.Error(best, err)
	}
}

// From the time of one device and measured waits, the kernels take their part, and α is not added.
func TestPredictFromOne(t *testing.T) {
	t.Parallel()
	m := model.Machine{Memory: 1e12, Launch: 1, Lines: map[comm.Kind]map[int]model.Line{comm.KindAllGatherV: {2: {Alpha: 7, N: 1e9}}},
		Waits: map[string]map[int]model.Wait{"rows": {1: {Fixed: .01, Step: .002}, 2: {Fixed: .02, Step: .005}}}}
	v := model.Volume{Ranks: 2, Bytes: 1e15, Imbalance: 1.5, Steps: 20, Division: "rows", One: 1.05, OneSteps: 20, Extra: 3e10,
		Calls: []comm.Call{{Kind: comm.KindAllGatherV, In: 4e8}}}
	p, err := m.Predict(v)
	if err != nil {
		t.Fatal(err)
	}
	near := func(name string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	near("compute", p.Compute, 1.5*(1.05-.01-20*.002)/2+.03)
	near("launches", p.Launches, .02+20*.005)
	near("collective", p.Collective, .4)
	one := v
	one.Ranks, one.Imbalance, one.Calls = 1, 1, nil
	if p, err = m.Predict(one); err != nil {
		t.Fatal(err)
	}
	near("one", p.Total, 1.05)
	v.Division = "ranges" // without measured waits
	if p, err = m.Predict(v); err != nil {
		t.Fatal(err)
	}
	near("compute by bytes", p.Compute, 1.5*1e15/2e12+.03)
	near("launches of steps", p.Launches, 20)
}

func TestPredictFromTurns(t *testing.T) {
	t.Parallel()
	m := model.Machine{Memory: 1e12, Launch: 1, Lines: map[comm.Kind]map[int]model.Line{comm.KindAllGatherV: {2: {Alpha: 1, N: 1e6}}}}
	v := model.Volume{Ranks: 2, Bytes: 1e15, Imbalance: 2, Steps: 9, Turns: .25, Calls: []comm.Call{{Kind: comm.KindAllGatherV, Ranks: 2, In: 5e5}}}
	got, err := m.Predict(v)
	if err != nil || got.Compute != .25 || got.Launches != 0 || got.Collective != .5 || got.Total != .75 {
		t.Errorf("%+v, %v: want the measured time and that of the bytes", got, err)
	}
	v.OnHost = true
	if got, err = m.Predict(v); err != nil || got.Total != .25 || got.Bytes != 5e5 {
		t.Errorf("%+v, %v: want the measured time", got, err)
	}
	v.OnHost, v.Calls[0].Kind = false, comm.KindAllReduce
	if _, err = m.Predict(v); err == nil || !strings.Contains(err.Error(), "hiveblas-bench comm") {
		t.Errorf("%v: want an error that names hiveblas-bench comm", err)
	}
}

func TestLineOfMachine(t *testing.T) {
	t.Parallel()
	m := model.Machine{Lines: map[comm.Kind]map[int]model.Line{comm.KindFence: {2: {Alpha: 2}, 4: {Alpha: 4}}}}
	for p, want := range map[int]float64{1: 2, 2: 2, 3: 4, 4: 4, 64: 4} {
		if l, ok := m.Line(comm.KindFence, p); !ok || l.Alpha != want {
			t.Errorf("%d ranks: %v %v, want %v", p, l, ok, want)
		}
	}
	if _, ok := m.Line(comm.KindBroadcast, 2); ok {
		t.Error("a line of nothing")
	}
	h := model.H200()
	for _, k := range []comm.Kind{comm.KindAllGatherV, comm.KindAllToAllV, comm.KindAllReduce, comm.KindReduceScatter, comm.KindBroadcast, comm.KindFence} {
		if l, ok := h.Line(k, 4); !ok || l.Alpha <= 0 || l.N <= 0 {
			t.Errorf("%v: %v", k, l)
		}
	}
}

// TestMerge: ledgers of virtual ranks give the volume of the busiest rank in each collective.
func TestMerge(t *testing.T) {
	t.Parallel()
	group := sure.Get(comm.Local(3, comm.KeepCalls()))
	var wait sync.WaitGroup
	errs := make([]error, 3)
	for r, c := range group {
		wait.Go(func() {
			counts := []int{0, 10, 2}
			errs[r] = c.AllGatherV(context.Background(), comm.Host(make([]float64, 12)), counts, comm.Host(make([]float64, counts[r])))
			if errs[r] == nil {
				errs[r] = c.Broadcast(context.Background(), comm.Host(make([]int32, 4)), 2)
			}
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	got, err := model.Merge(group[0].Ledger().Calls(), group[1].Ledger().Calls(), group[2].Ledger().Calls())
	want := []comm.Call{{Kind: comm.KindAllGatherV, Ranks: 3, In: 96, Out: 160}, {Kind: comm.KindBroadcast, Ranks: 3, In: 16, Out: 32}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v %v, want %v", got, err, want)
	}
	if _, err := model.Merge(want, want[:1]); err == nil {
		t.Error("lengths")
	}
	if _, err := model.Merge(want, []comm.Call{want[1], want[0]}); err == nil {
		t.Error("kinds")
	}
	if got, err := model.Merge(); got != nil || err != nil {
		t.Error(got, err)
	}
}

// csr makes a CSR of in-neighbours.
func csr(lists [][]int32) (ptr []int64, idx []int32) {
	ptr = []int64{0}
	for _, l := range lists {
		idx = append(idx, l...)
		ptr = append(ptr, int64(len(idx)))
	}
	return ptr, idx
}

// grid returns the neighbours in a grid of rows×columns.
func grid(rows, columns int) [][]int32 {
	lists := make([][]int32, rows*columns)
	for i := range rows {
		for j := range columns {
			for _, d := range [][2]int{{-1, 0}, {1, 0}, {0, -1}, {0, 1}} {
				if a, b := i+d[0], j+d[1]; a >= 0 && a < rows && b >= 0 && b < columns {
					lists[i*columns+j] = append(lists[i*columns+j], int32(a*columns+b))
				}
			}
		}
	}
	return lists
}

// TestHaloOf compares with distances by Floyd and Warshall.
func TestHaloOf(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for trial := range 30 {
		n := 1 + random.IntN(14)
		lists := make([][]int32, n)
		for v := range lists {
			for u := range n {
				if random.IntN(4) == 0 {
					lists[v] = append(lists[v], int32(u))
				}
			}
		}
		ptr, idx := csr(lists)
		cuts := []int{0, random.IntN(n + 1), n}
		if trial%3 == 0 {
			cuts = []int{0, 0, n / 2, n}
		}
		const hops = 4
		h, err := model.HaloOf(ptr, idx, cuts, hops)
		if err != nil {
			t.Fatal(err)
		}
		distance := make([][]int, n) // distance[v][u]: in-hops from v to u
		for v := range distance {
			distance[v] = slices.Repeat([]int{1000}, n)
			distance[v][v] = 0
			for _, u := range lists[v] {
				distance[v][u] = min(distance[v][u], 1)
			}
		}
		for k := range n {
			for v := range n {
				for u := range n {
					distance[v][u] = min(distance[v][u], distance[v][k]+distance[k][u])
				}
			}
		}
		for i := range len(cuts) - 1 {
			r, e, edges := make([]int64, hops), make([]int64, hops), int64(0)
			for u := range n {
				near := 1000
				for v := cuts[i]; v < cuts[i+1]; v++ {
					near = min(near, distance[v][u])
				}
				if near >= 1 && near <= hops {
					r[near-1]++
					e[near-1] += int64(len(lists[u]))
				}
				if near == 0 {
					edges += int64(len(lists[u]))
				}
			}
			if !slices.Equal(h.R[i], r) || !slices.Equal(h.E[i], e) || h.Edges[i] != edges || h.Vertices[i] != int64(cuts[i+1]-cuts[i]) {
				t.Fatalf("trial %d, part %d: %+v, want R %v, E %v, %d edges", trial, i, h, r, e, edges)
			}
		}
	}
}

func TestHaloOfErrors(t *testing.T) {
	t.Parallel()
	for reason, f := range map[string]func() (*model.Halo, error){
		"nothing":      func() (*model.Halo, error) { return model.HaloOf(nil, nil, nil, 1) },
		"ptr":          func() (*model.Halo, error) { return model.HaloOf([]int64{0, 2}, []int32{0}, []int{0, 1}, 1) },
		"falling ptr":  func() (*model.Halo, error) { return model.HaloOf([]int64{0, 2, 1}, []int32{0}, []int{0, 2}, 1) },
		"idx":          func() (*model.Halo, error) { return model.HaloOf([]int64{0, 1}, []int32{1}, []int{0, 1}, 1) },
		"cuts":         func() (*model.Halo, error) { return model.HaloOf([]int64{0, 1}, []int32{0}, []int{0, 2}, 1) },
		"falling cuts": func() (*model.Halo, error) { return model.HaloOf([]int64{0, 1}, []int32{0}, []int{0, 1, 0, 1}, 1) },
		"hops":         func() (*model.Halo, error) { return model.HaloOf([]int64{0, 1}, []int32{0}, []int{0, 1}, 0) },
	} {
		if _, err := f(); err == nil {
			t.Errorf("%s: accepted", reason)
		}
	}
	if _, _, err := model.H200().Cost(nil, model.HopOptions{}); err == nil {
		t.Error("a nil halo was accepted")
	}
}

// TestCost compares with the cases of the study, with boundaries of R vertices of degree d at every
// distance, and with graphs: hops pay on a long grid and never on a random graph.
func TestCost(t *testing.T) {
	t.Parallel()
	m := model.Machine{Memory: 4.2e12, Launch: 5e-6, Lines: map[comm.Kind]map[int]model.Line{
		comm.KindAllToAllV: {2: {Alpha: 15e-6, N: 360e9}},
	}}
	o := model.HopOptions{EdgeBytes: 24, ValueBytes: 4, StoreEdge: 8, StoreVertex: 8}
	for _, tc := range []struct {
		r, d, hops int64
		want       int
	}{{3000, 3, 60, 24}, {50000, 6, 60, 4}, {200000, 6, 60, 2}, {2000000, 16, 60, 1}} {
		h := &model.Halo{Parts: 1, Vertices: []int64{1 << 20}, Edges: []int64{1 << 22}, R: [][]int64{nil}, E: [][]int64{nil}}
		for range tc.hops {
			h.R[0], h.E[0] = append(h.R[0], tc.r), append(h.E[0], tc.r*tc.d)
		}
		list, best, err := m.Cost(h, o)
		if err != nil || abs(list[best].Hops-tc.want) > tc.want/8 {
			t.Errorf("R = %d, d = %d: %d hops, %v, want about %d", tc.r, tc.d, list[best].Hops, err, tc.want)
		}
		// By the formula, written out for one part.
		for _, c := range list {
			hh := float64(c.Hops)
			edges := float64(1<<22) + float64(tc.r*tc.d)*(hh-1)/2 // Σ (h−k)/h
			want := 24/4.2e12*edges + (15e-6+4*float64(tc.r)*hh/360e9)/hh + 5e-6
			if math.Abs(c.Seconds/want-1) > 1e-12 || !c.Fits {
				t.Errorf("R = %d, %d hops: %v s, want %v", tc.r, c.Hops, c.Seconds, want)
			}
		}
	}
	for _, tc := range []struct {
		reason string
		lists  [][]int32
		memory int64
		pays   bool
	}{
		{"a long grid", grid(400, 8), 0, true},
		{"a long grid that no device holds with more hops", grid(400, 8), 60900, false},
		{"a random graph", randomGraph(3200, 16), 0, false},
	} {
		ptr, idx := csr(tc.lists)
		h, err := model.HaloOf(ptr, idx, []int{0, len(tc.lists) / 2, len(tc.lists)}, 20)
		if err != nil {
			t.Fatal(err)
		}
		o := o
		o.Memory = tc.memory
		slow := m
		if !tc.pays && tc.memory == 0 {
			slow.Memory = 4.2e9 // the copies of one more hop are the whole graph
		}
		list, best, err := slow.Cost(h, o)
		if err != nil || best < 0 {
			t.Fatal(tc.reason, best, err)
		}
		if pays := list[best].Hops > 1; pays != tc.pays {
			t.Errorf("%s: %d hops; %s", tc.reason, list[best].Hops, fmt.Sprint(list[:3]))
		}
	}
	if _, best, err := m.Cost(&model.Halo{Parts: 1, Vertices: []int64{5}, Edges: []int64{5}, R: [][]int64{{1}}, E: [][]int64{{1}}}, model.HopOptions{StoreEdge: 8, Memory: 1}); best != -1 || err != nil {
		t.Error("nothing fits:", best, err)
	}
}

func abs(x int) int { return max(x, -x) }

func randomGraph(n, degree int) [][]int32 {
	random := rand.New(rand.NewPCG(3, 4))
	lists := make([][]int32, n)
	for v := range lists {
		for range degree {
			lists[v] = append(lists[v], int32(random.IntN(n)))
		}
	}
	return lists
}
