package gen

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"
)

// graphs under test, one of each kind, with the fingerprint that every platform must reproduce.
var cases = []struct {
	name   string
	make   func() Tuples
	golden uint64
}{
	{"rmat", func() Tuples { return RMAT(10, 8, RMATOptions{}) }, 0xb90822073e1f060d},
	{"rmat-seed", func() Tuples { return RMAT(9, 8, RMATOptions{Seed: 5, A: .25, B: .25, C: .25}) }, 0xfd0ee8e1b35bc625},
	{"rmat-scrambled", func() Tuples { return RMAT(10, 8, RMATOptions{Scramble: true}) }, 0x16967682540338ac},
	{"bipartite", func() Tuples { return Bipartite(300, 200, 6000, 1) }, 0x3197e18c974bd860},
	{"bipartite-full", func() Tuples { return Bipartite(20, 30, 600, 1) }, 0x99545b6cfa160983},
	{"erdos-renyi", func() Tuples { return ErdosRenyi(500, 3000, 1) }, 0x59aecd4eaa8a99a8},
	{"grid", func() Tuples { return Grid2D(13, 17) }, 0x8e310c3fd7c7d2e6},
	{"small-world", func() Tuples { return SmallWorld(400, 3, 0.1, 1) }, 0xc3b523a1aa8d384b},
}

func TestGolden(t *testing.T) {
	for _, c := range cases {
		if got := CSR(c.make()).Fingerprint(); got != c.golden {
			t.Errorf("%s: fingerprint %#x, want %#x", c.name, got, c.golden)
		}
	}
}

func TestSameOnAnyNumberOfWorkers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, c := range cases {
		for _, workers := range []int{1, 3, 8} {
			runtime.GOMAXPROCS(workers)
			if got := CSR(c.make()).Fingerprint(); got != c.golden {
				t.Errorf("%s with %d workers: fingerprint %#x, want %#x", c.name, workers, got, c.golden)
			}
		}
	}
}

// TestCSR compares CSR with a set of positions.
func TestCSR(t *testing.T) {
	for _, c := range cases {
		for _, keep := range []bool{false, true} {
			tuples := c.make()
			var opts []CSROption
			if keep {
				opts = append(opts, KeepLoops)
			}
			g := CSR(tuples, opts...)
			want := map[[2]int32]bool{}
			for k := range tuples.Len() {
				i, j := tuples.Rows[k], tuples.Cols[k]
				if keep || i != j || tuples.NRows != tuples.NCols {
					want[[2]int32{i, j}] = true
				}
			}
			if g.NNZ() != int64(len(want)) || len(g.Idx) != len(want) {
				t.Fatalf("%s: %d entries, want %d", c.name, g.NNZ(), len(want))
			}
			for i := range g.NRows {
				for k, j := range g.Row(i) {
					if !want[[2]int32{int32(i), j}] {
						t.Fatalf("%s: entry (%d,%d) was never drawn", c.name, i, j)
					}
					if k > 0 && g.Row(i)[k-1] >= j {
						t.Fatalf("%s: row %d is not ascending at %d", c.name, i, k)
					}
				}
			}
		}
	}
}

func TestCSRShapes(t *testing.T) {
	tests := []struct {
		reason string
		in     Tuples
		nnz    int64
	}{
		{"no rows", Tuples{}, 0},
		{"no entries", Tuples{NRows: 3, NCols: 4}, 0},
		{"one vertex, one loop", Tuples{Rows: []int32{0}, Cols: []int32{0}, NRows: 1, NCols: 1}, 0},
		{"diagonal of a rectangle is no loop", Tuples{Rows: []int32{0}, Cols: []int32{0}, NRows: 1, NCols: 2}, 1},
		{"last row, last column", Tuples{Rows: []int32{2, 2}, Cols: []int32{3, 3}, NRows: 3, NCols: 4}, 1},
	}
	for _, test := range tests {
		g := CSR(test.in)
		if g.NNZ() != test.nnz || len(g.Ptr) != test.in.NRows+1 {
			t.Errorf("%s: %d entries, %d offsets", test.reason, g.NNZ(), len(g.Ptr))
		}
	}
}

func TestSymmetrise(t *testing.T) {
	for _, c := range cases {
		in := c.make()
		if in.NRows != in.NCols {
			continue
		}
		g := CSR(Symmetrise(in))
		for i := range g.NRows {
			for _, j := range g.Row(i) {
				if _, ok := slices.BinarySearch(g.Row(int(j)), int32(i)); !ok {
					t.Fatalf("%s: (%d,%d) without its reverse", c.name, i, j)
				}
			}
		}
	}
}

// TestRMATQuadrants compares the share of edges in each quadrant of the first level with its
// probability.
func TestRMATQuadrants(t *testing.T) {
	e := RMAT(12, 16, RMATOptions{})
	if e.Len() != 16<<12 {
		t.Fatalf("%d edges, want %d", e.Len(), 16<<12)
	}
	var count [4]float64
	for k := range e.Len() {
		count[e.Rows[k]>>11<<1|e.Cols[k]>>11]++
	}
	for q, want := range []float64{.57, .19, .19, .05} {
		got := count[q] / float64(e.Len())
		if sigma := math.Sqrt(want * (1 - want) / float64(e.Len())); math.Abs(got-want) > 4*sigma {
			t.Errorf("quadrant %d has %.4f of the edges, want %.4f", q, got, want)
		}
	}
	// The deepest level must be as skewed as the first; an off-by-one in the halves of a word would
	// show here.
	count = [4]float64{}
	for k := range e.Len() {
		count[e.Rows[k]&1<<1|e.Cols[k]&1]++
	}
	if got := count[0] / float64(e.Len()); math.Abs(got-.57) > .01 {
		t.Errorf("deepest level: top-left has %.4f of the edges, want 0.57", got)
	}
}

func TestBipartite(t *testing.T) {
	for _, shape := range [][3]int{{6743, 13950, 100000}, {300, 200, 6000}, {20, 30, 600}, {5, 1, 3}, {0, 7, 0}, {9, 9, 0}} {
		rows, cols, nnz := shape[0], shape[1], shape[2]
		b := Bipartite(rows, cols, nnz, 3)
		g := CSR(b, KeepLoops)
		if b.Len() != nnz || g.NNZ() != int64(nnz) {
			t.Errorf("%v: %d tuples, %d distinct", shape, b.Len(), g.NNZ())
		}
	}
	g := CSR(Bipartite(6743, 13950, 100000, 3))
	byRow, byCol := make([]int, g.NRows), make([]int, g.NCols)
	for i := range g.NRows {
		byRow[i] = len(g.Row(i))
		for _, j := range g.Row(i) {
			byCol[j]++
		}
	}
	for side, degree := range map[string][]int{"rows": byRow, "columns": byCol} {
		slices.Sort(degree)
		slices.Reverse(degree)
		var head, sum int
		for k, d := range degree {
			sum += d
			if k < len(degree)/100 {
				head += d
			}
		}
		if sum != 100000 {
			t.Errorf("degrees of the %s sum to %d", side, sum)
		}
		// 1/√(k+s) with s = n/150 puts a twentieth of the mass in the first hundredth, 1/(k+s) with
		// s = n/512 a quarter.
		low, high := .04, .08
		if side == "columns" {
			low, high = .15, .35
		}
		if share := float64(head) / float64(sum); share < low || share > high {
			t.Errorf("the heaviest hundredth of the %s has %.2f of the entries", side, share)
		}
	}
}

func TestGrid(t *testing.T) {
	g := CSR(Grid2D(3, 4))
	if g.NRows != 12 || g.NNZ() != 2*(3*3+2*4) {
		t.Fatalf("%d vertices, %d entries", g.NRows, g.NNZ())
	}
	if got := g.Row(5); !slices.Equal(got, []int32{1, 4, 6, 9}) {
		t.Errorf("neighbours of vertex 5: %v", got)
	}
}

func TestGrid3D(t *testing.T) {
	g := Grid3D(3)
	edges := 0
	for i := range g.NRows {
		for k, j := range g.Row(i) {
			d := 0
			for _, by := range []int{1, 3, 9} {
				a, b := i/by%3, int(j)/by%3
				d += max(a-b, b-a)
			}
			if edges++; d != 1 || k > 0 && g.Row(i)[k-1] >= j {
				t.Errorf("row %d has the neighbour %d", i, j)
			}
		}
	}
	if edges != 108 { // 3 directions of 18 edges, both ways
		t.Errorf("%d entries", edges)
	}
}

func TestDiagonals27(t *testing.T) {
	g := Diagonals27(4)
	offsets := map[int]int{}
	for i := range g.NRows {
		row := g.Row(i)
		if !slices.IsSorted(row) {
			t.Fatalf("row %d is %v", i, row)
		}
		for _, j := range row {
			offsets[int(j)-i]++
		}
	}
	if g.NRows != 64 || len(offsets) != 27 || offsets[0] != 64 || offsets[-21] != 64-21 {
		t.Errorf("%d rows, diagonals %v", g.NRows, offsets)
	}
}

func TestSmallWorld(t *testing.T) {
	ring := CSR(SmallWorld(50, 2, 0, 1))
	for i := range 50 {
		if len(ring.Row(i)) != 4 {
			t.Fatalf("vertex %d of a ring has %d neighbours, want 4", i, len(ring.Row(i)))
		}
	}
	moved := 0
	world := SmallWorld(10000, 2, .25, 1)
	for k := 0; k < world.Len(); k += 2 {
		if d := (int(world.Cols[k]) - int(world.Rows[k]) + 10000) % 10000; d < 1 || d > 2 {
			moved++
		}
	}
	if moved < 4700 || moved > 5300 {
		t.Errorf("%d of 20000 edges were moved, want about 5000", moved)
	}
}

func TestWeights(t *testing.T) {
	g := CSR(Symmetrise(RMAT(10, 8, RMATOptions{})))
	for _, symmetric := range []bool{true, false} {
		f, n := UniformFloats(g, 3, symmetric), UniformInts(g, -2, 5, 3, symmetric)
		var sum float64
		var count [8]int
		same := 0
		for i := range g.NRows {
			for p := g.Ptr[i]; p < g.Ptr[i+1]; p++ {
				if f[p] <= 0 || f[p] > 1 || n[p] < -2 || n[p] > 5 {
					t.Fatalf("weights %g and %d are out of range", f[p], n[p])
				}
				sum += f[p]
				count[n[p]+2]++
				j := g.Idx[p]
				k, _ := slices.BinarySearch(g.Row(int(j)), int32(i))
				if q := g.Ptr[j] + int64(k); f[p] == f[q] && n[p] == n[q] {
					same++
				}
			}
		}
		if symmetric != (same == int(g.NNZ())) {
			t.Errorf("symmetric=%v: %d of %d weights equal their reverse", symmetric, same, g.NNZ())
		}
		if mean := sum / float64(g.NNZ()); math.Abs(mean-.5) > .02 {
			t.Errorf("mean weight %g", mean)
		}
		for v, c := range count {
			if math.Abs(float64(c)/float64(g.NNZ())-.125) > .02 {
				t.Errorf("weight %d came %d times in %d", v-2, c, g.NNZ())
			}
		}
	}
	if a, b := UniformFloats(g, 3, true), UniformFloats(g, 4, true); slices.Equal(a, b) {
		t.Error("the seed does not matter")
	}
}

func TestPermutation(t *testing.T) {
	for _, n := range []int{0, 1, 2, 1000} {
		p := Permutation(n, 9)
		q := slices.Clone(p)
		slices.Sort(q)
		for i, v := range q {
			if int(v) != i {
				t.Fatalf("n=%d: not a permutation", n)
			}
		}
	}
	if got := fmt.Sprint(Permutation(8, 9)); got != "[4 5 0 1 6 2 3 7]" {
		t.Errorf("Permutation(8, 9) = %s", got)
	}
}

func TestHash(t *testing.T) {
	if Hash(0, 1) == Hash(1, 0) {
		t.Error("index and seed are interchangeable")
	}
}

func BenchmarkRMAT20(b *testing.B) {
	for b.Loop() {
		RMAT(20, 16, RMATOptions{})
	}
}

func BenchmarkCSR18(b *testing.B) {
	t := Symmetrise(RMAT(18, 16, RMATOptions{}))
	for b.Loop() {
		CSR(t)
	}
}

func BenchmarkBipartite1M(b *testing.B) {
	for b.Loop() {
		Bipartite(6743, 13950, 1000000, 1)
	}
}

func TestPlanted(t *testing.T) {
	const n, m = 3000, 30000
	tuples, truth := Planted(n, m, .25, 1)
	inside, size := 0, map[int32]int{}
	for e, u := range tuples.Rows {
		if truth[u] == truth[tuples.Cols[e]] {
			inside++
		}
	}
	for _, c := range truth {
		size[c]++
	}
	if share := float64(inside) / m; share < .73 || share > .82 { // .75, and what stays inside by chance
		t.Errorf("%.3f of the edges are inside communities", share)
	}
	for c, k := range size {
		if k < plantedLeast || k > plantedMost+plantedLeast {
			t.Errorf("community %d has %d vertices", c, k)
		}
	}
	if empty, none := Planted(0, 5, .5, 1); empty.Len() != 0 || none != nil {
		t.Error("a graph without vertices has edges")
	}
}
