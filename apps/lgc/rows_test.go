package lgc

import (
	"errors"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/generate"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// A Clusterer that reads rows of a mapped file finds the clusters of one that has the whole graph.
func TestRowsOfAFile(t *testing.T) {
	t.Parallel()
	g := sure.Get(generate.Matrix[bool](sure.Get(generate.RMAT(9, 4000, generate.RMATOptions{Seed: 3})), generate.Undirected(), generate.Simple()))
	path := filepath.Join(t.TempDir(), "g.hgb")
	sure.Do(graphio.WriteFile(path, g))
	file, err := graphio.MapStructure(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	whole := sure.Get(NewClusterer(g))
	whole.fullFrom = 2 // sparse vectors to the end
	part, err := NewLocalClusterer(file.Pattern)
	if err != nil {
		t.Fatal(err)
	}
	if part.rows == nil {
		t.Fatal("the whole file was read")
	}
	for _, m := range []ClusterMethod{ClusterPush, ClusterISTA, ClusterFISTA} {
		for _, seeds := range [][]int{{3}, {7, 2, 33, 7}} {
			for _, rho := range []float64{1e-3, 1e-4} {
				o := LocalClusterOptions{Method: m, Rho: rho, Sweep: true}
				want, err := whole.Cluster(seeds, o)
				if err != nil {
					t.Fatal(err)
				}
				got, err := part.Cluster(seeds, o)
				if err != nil {
					t.Errorf("%v %v: %v", m, seeds, err)
					continue
				}
				same := got.P.EqualFunc(want.P, func(x, y float64) bool { return math.Abs(x-y) <= 1e-12*y })
				if got.Support == 0 || want.Cut == nil || got.Cut == nil {
					t.Fatalf("%v %v, ρ %v: no cluster", m, seeds, rho)
				}
				if !same || got.Iterations != want.Iterations || math.Abs(got.Objective-want.Objective) > 1e-12 ||
					!slices.Equal(got.Cut.Vertices, want.Cut.Vertices) || got.Cut.Edges != want.Cut.Edges || got.Cut.Conductance != want.Cut.Conductance {
					t.Errorf("%v %v: %+v %+v, want %+v %+v", m, seeds, got, got.Cut, want, want.Cut)
				}
			}
		}
	}
	if _, err := part.Batch([]int{1}, 0); !errors.As(err, new(*workflow.ParameterError)) {
		t.Errorf("a batch: %v", err)
	}
	if _, err := part.Cluster([]int{-1}); !errors.Is(err, matrix.ErrIndex) {
		t.Errorf("a seed outside the graph: %v", err)
	}
}

// Rows that a query reads are checked; others are not.
func TestRowsDamaged(t *testing.T) {
	t.Parallel()
	far := []int32{5, 4} // edges 4–5, which the seed does not reach
	for _, c := range []struct {
		reason string
		ptr    []int64
		idx    []int32
		fails  bool
	}{
		{"sound", []int64{0, 1, 3, 4, 4, 5, 6}, append([]int32{1, 0, 2, 1}, far...), false},
		{"damaged elsewhere", []int64{0, 1, 3, 4, 4, 5, 6}, []int32{1, 0, 2, 1, 99, -7}, false},
		{"a self-loop", []int64{0, 2, 4, 5, 5, 6, 7}, append([]int32{0, 1, 0, 2, 1}, far...), true},
		{"columns descend", []int64{0, 1, 3, 4, 4, 5, 6}, append([]int32{1, 2, 0, 1}, far...), true},
		{"a column beyond the graph", []int64{0, 1, 3, 4, 4, 5, 6}, append([]int32{1, 0, 70, 1}, far...), true},
		{"an edge without its reverse", []int64{0, 1, 2, 3, 3, 4, 5}, append([]int32{1, 2, 1}, far...), true},
		{"offsets descend", []int64{0, 1, 0, 4, 4, 5, 6}, append([]int32{1, 0, 2, 1}, far...), true},
		{"offsets beyond the file", []int64{0, 1, 1 << 40, 4, 4, 5, 6}, append([]int32{1, 0, 2, 1}, far...), true},
		{"a seed without edges", []int64{0, 0, 2, 3, 3, 4, 5}, append([]int32{0, 2, 1}, far...), true},
	} {
		s := &sparse.Typed[bool]{Structure: sparse.Structure{NRows: 6, NCols: 6, NVals: int64(len(c.idx)), Format: sparse.CSR, Ptr: c.ptr, Idx: c.idx}, Val: make([]bool, len(c.idx))}
		l, err := NewLocalClusterer(access.FromStore(s).Pattern())
		if err != nil {
			t.Fatal(err)
		}
		_, err = l.Cluster([]int{0}, LocalClusterOptions{Rho: 1e-3})
		if c.fails != (err != nil) || err != nil && !errors.As(err, new(*workflow.ParameterError)) {
			t.Errorf("%s: %v", c.reason, err)
		}
	}
}
