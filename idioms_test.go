package hiveblas_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
	"github.com/hiveblas/hiveblas/testdata"
)

// The functions below are the source of the samples of docs/idioms.md: see TestSamples.

func levels(a *matrix.Matrix[float64], source int) (*matrix.Vector[int32], error) {
	n, _ := a.Dims()
	level, frontier := matrix.NewVector[int32](n), matrix.NewVector[bool](n)
	var s ops.Steps
	s.Do(frontier.Set(source, true))
	for depth := int32(0); s.NVals(frontier) > 0; depth++ {
		s.Do(ops.AssignVectorScalar(level.Masked(frontier.Structure()), depth, ops.All()))
		s.Do(ops.VxM(frontier.Masked(level.Structure().Not()).Replace(),
			semiring.AnyPair[bool](), frontier.Pattern(), a.Pattern()))
	}
	return level, s.Err()
}

func parents(a *matrix.Matrix[float64], source int) (*matrix.Vector[int32], error) {
	n, _ := a.Dims()
	parent, found := matrix.NewVector[int32](n), matrix.NewVector[int32](n)
	var s ops.Steps
	s.Do(parent.Set(source, int32(source)))
	s.Do(found.Set(source, int32(source)))
	for s.NVals(found) > 0 {
		s.Do(ops.VxM(found.Masked(parent.Structure().Not()).Replace(),
			semiring.MinSecondi[int32](0), found.Pattern(), a.Pattern()))
		s.Do(ops.AssignVector(parent.Masked(found.Structure()), found, ops.All()))
	}
	return parent, s.Err()
}

func distances(a *matrix.Matrix[float64], source int) (*matrix.Vector[float64], error) {
	n, _ := a.Dims()
	dist, next := matrix.NewVector[float64](n), matrix.NewVector[float64](n)
	var s ops.Steps
	s.Do(dist.Set(source, 0))
	for round := 0; s.OK() && round < n; round++ {
		s.Do(ops.Apply(next, semiring.Identity[float64](), dist))
		s.Do(ops.VxM(next.Accum(semiring.Min[float64]()), semiring.MinPlus[float64](), dist, a))
		if next.Equal(dist) {
			break
		}
		dist, next = next, dist
	}
	return dist, s.Err()
}

func pageRank(a *matrix.Matrix[float64], damping float64, iterations int) (*matrix.Vector[float64], error) {
	n, _ := a.Dims()
	degree, share := matrix.NewVector[float64](n), matrix.NewVector[float64](n)
	rank, err := matrix.NewFullVector(n, 1/float64(n))
	var s ops.Steps
	s.Do(err)
	ones, err := matrix.NewFullVector(n, true)
	s.Do(err)
	s.Do(ops.MxV(degree, semiring.PlusPair[float64](), a.Pattern(), ones.Pattern()))
	for k := 0; s.OK() && k < iterations; k++ {
		s.Do(ops.EWiseMult(share, semiring.Div[float64](), rank, degree))
		s.Do(ops.ApplySecond(share, semiring.Times[float64](), share, damping))
		s.Do(ops.AssignVectorScalar(rank, (1-damping)/float64(n), ops.All()))
		s.Do(ops.VxM(rank.Accum(semiring.Plus[float64]()), semiring.PlusFirst[float64](), share, a.Pattern(),
			ops.Repeats(iterations)))
	}
	return rank, s.Err()
}

func coreNumbers(a *matrix.Matrix[float64]) (*matrix.Vector[int32], error) {
	n, _ := a.Dims()
	core, degree := matrix.NewVector[int32](n), matrix.NewVector[int32](n)
	low, lost := matrix.NewVector[int32](n), matrix.NewVector[int32](n)
	var s ops.Steps
	ones, err := matrix.NewFullVector(n, true)
	s.Do(err)
	s.Do(ops.MxV(degree, semiring.PlusPair[int32](), a.Pattern(), ones.Pattern()))
	for k := int32(1); s.NVals(degree) > 0; {
		s.Do(ops.Select(low, semiring.ValueLE(k), degree))
		if low.NVals() == 0 {
			k++
			continue
		}
		s.Do(ops.AssignVectorScalar(core.Masked(low.Structure()), k, ops.All()))
		s.Do(ops.Apply(degree.Masked(low.Structure().Not()).Replace(), semiring.Identity[int32](), degree))
		s.Do(ops.VxM(lost.Masked(degree.Structure()).Replace(), semiring.PlusPair[int32](), low.Pattern(), a.Pattern()))
		s.Do(ops.EWiseMult(degree.Masked(lost.Structure()), semiring.Minus[int32](), degree, lost))
	}
	return core, s.Err()
}

func independentSet(a *matrix.Matrix[float64], score func(v, round int) int64) (*matrix.Vector[bool], error) {
	n, _ := a.Dims()
	set, winners, removed := matrix.NewVector[bool](n), matrix.NewVector[bool](n), matrix.NewVector[bool](n)
	scores, above := matrix.NewVector[int64](n), matrix.NewVector[int64](n)
	var s ops.Steps
	candidates, err := matrix.NewFullVector(n, true)
	s.Do(err)
	keep := func(v *matrix.Vector[bool], out *matrix.Vector[bool]) { // v loses the entries of out
		s.Do(ops.Apply(v.Masked(out.Structure().Not()).Replace(), semiring.Identity[bool](), v))
	}
	for round := 0; s.NVals(candidates) > 0; round++ {
		draw := semiring.NewIndex("score", func(_ bool, v, _ int) int64 { return score(v, round) })
		s.Do(ops.ApplyIndex(scores, draw, candidates))
		s.Do(ops.VxM(above.Masked(candidates.Structure()).Replace(), semiring.MaxFirst[int64](), scores, a.Pattern()))
		s.Do(ops.EWiseUnion(winners, semiring.Gt[int64](), scores, -1, above, -1))
		s.Do(ops.Select(winners, semiring.ValueEQ(true), winners))
		s.Do(ops.AssignVectorScalar(set.Masked(winners.Structure()), true, ops.All()))
		keep(candidates, winners)
		s.Do(ops.VxM(removed.Masked(candidates.Structure()).Replace(),
			semiring.AnyPair[bool](), winners.Pattern(), a.Pattern()))
		keep(candidates, removed)
	}
	return set, s.Err()
}

func betweenness(a *matrix.Matrix[float64], source int) (*matrix.Vector[float64], error) {
	n, _ := a.Dims()
	paths, frontier := matrix.NewVector[float64](n), matrix.NewVector[float64](n)
	var waves []*matrix.Vector[float64] // the shortest paths to the vertices of each level
	var s ops.Steps
	s.Do(frontier.Set(source, 1))
	for s.NVals(frontier) > 0 {
		waves = append(waves, frontier.Clone())
		s.Do(ops.AssignVector(paths.Masked(frontier.Structure()), frontier, ops.All()))
		s.Do(ops.VxM(frontier.Masked(paths.Structure().Not()).Replace(),
			semiring.PlusFirst[float64](), frontier, a.Pattern()))
	}
	delta, share := matrix.NewVector[float64](n), matrix.NewVector[float64](n)
	for k := len(waves) - 1; s.OK() && k > 0; k-- {
		// share = (1 + δ) / paths on level k, δ += paths · A share on level k−1
		s.Do(ops.Apply(share, semiring.OneOp[float64, float64](), waves[k]))
		s.Do(ops.Apply(share.Masked(waves[k].Structure()).Accum(semiring.Plus[float64]()), semiring.Identity[float64](), delta))
		s.Do(ops.EWiseMult(share, semiring.Div[float64](), share, waves[k]))
		s.Do(ops.MxV(share.Masked(waves[k-1].Structure()).Replace(), semiring.PlusSecond[float64](), a.Pattern(), share))
		s.Do(ops.EWiseMult(delta.Accum(semiring.Plus[float64]()), semiring.Times[float64](), share, waves[k-1]))
	}
	return delta, s.Err()
}

func deleteWhere(w *matrix.Vector[float64], mask *matrix.Vector[bool]) error {
	return ops.Apply(w.Masked(mask.Structure().Not()).Replace(), semiring.Identity[float64](), w)
}

func hook(parent, least *matrix.Vector[int32], idx ops.Indices) error {
	low := semiring.Min[int32]()
	return ops.ScatterVector(parent.Accum(low), low, least, idx)
}

func addInto(full, sparse *matrix.Vector[float64]) error {
	return ops.EWiseAdd(full, semiring.Plus[float64](), full, sparse)
}

func karate(t *testing.T) *matrix.Matrix[float64] {
	t.Helper()
	a := sure.Get(graphio.ReadMatrixMarket[float64](strings.NewReader(string(testdata.Karate))))
	return a
}

// neighbours returns the lists of an adjacency matrix, for plain loops.
func neighbours(a *matrix.Matrix[float64]) [][]int {
	n, _ := a.Dims()
	near := make([][]int, n)
	for c := range a.All() {
		near[c.Row] = append(near[c.Row], c.Col)
	}
	return near
}

func TestIdiomSearches(t *testing.T) {
	a := karate(t)
	n, _ := a.Dims()
	for source := range n {
		level, err := levels(a, source)
		if err != nil {
			t.Fatal(err)
		}
		parent, err := parents(a, source)
		if err != nil {
			t.Fatal(err)
		}
		dist, err := distances(a, source)
		if err != nil {
			t.Fatal(err)
		}
		want, err := apps.BFS(a, source, apps.BFSOptions{Parents: true})
		if err != nil {
			t.Fatal(err)
		}
		if !level.Equal(want.Level) || !parent.Equal(want.Parent) {
			t.Errorf("from %d: levels %v, parents %v", source, level, parent)
		}
		far, err := apps.SSSP(a, []int{source}, apps.SSSPOptions[float64]{})
		if err != nil || !dist.Equal(far) {
			t.Errorf("from %d: distances %v, want %v (%v)", source, dist, far, err)
		}
	}
}

func TestIdiomRanks(t *testing.T) {
	a := karate(t)
	rank, err := pageRank(a, 0.85, 200)
	if err != nil {
		t.Fatal(err)
	}
	want, err := apps.PageRank(a, apps.PageRankOptions{Tolerance: 1e-13, MaxIterations: 1000})
	if err != nil || !rank.EqualFunc(want.Rank, func(x, y float64) bool { return math.Abs(x-y) < 1e-9 }) {
		t.Errorf("ranks %v, want %v (%v)", rank, want, err)
	}
	core, err := coreNumbers(a)
	if err != nil {
		t.Fatal(err)
	}
	near := neighbours(a)
	most := int32(0)
	for v, k := range core.All() { // v has k neighbours of core number k or more
		most = max(most, k)
		inside := 0
		for _, u := range near[v] {
			if x, _ := core.At(u); x >= k {
				inside++
			}
		}
		if inside < int(k) {
			t.Errorf("vertex %d: core number %d with %d neighbours in the core", v, k, inside)
		}
	}
	if most != 4 || core.NVals() != 34 { // Zachary's club: degeneracy 4
		t.Errorf("core numbers %v", core)
	}
	score := func(v, round int) int64 { return int64((v*7919 + round*104729 + v*v*31) % 10007) }
	set, err := independentSet(a, score)
	if err != nil {
		t.Fatal(err)
	}
	for v := range near {
		_, member := set.At(v)
		beside := slices.ContainsFunc(near[v], func(u int) bool { _, ok := set.At(u); return ok })
		if member == beside {
			t.Errorf("vertex %d: member %v, a neighbour is %v", v, member, beside)
		}
	}
}

func degrees(a *matrix.Matrix[float64]) (out, in *matrix.Vector[int64], err error) {
	m, n := a.Dims()
	out, in = matrix.NewVector[int64](m), matrix.NewVector[int64](n)
	var s ops.Steps
	s.Do(ops.Reduce(out, semiring.Plus[int64](), a.Pattern()))
	s.Do(ops.Reduce(in, semiring.Plus[int64](), a.Pattern().T()))
	return out, in, s.Err()
}

func scaled(a *matrix.Matrix[float64], rows, cols *matrix.Vector[float64]) (*matrix.Matrix[float64], error) {
	left, err := matrix.Diag(rows, 0)
	if err != nil {
		return nil, err
	}
	right, err := matrix.Diag(cols, 0)
	if err != nil {
		return nil, err
	}
	c := matrix.New[float64](a.Dims())
	var s ops.Steps
	s.Do(ops.MxM(c, semiring.PlusTimes[float64](), left, a))
	s.Do(ops.MxM(c, semiring.PlusTimes[float64](), c, right))
	return c, s.Err()
}

func normalised(a *matrix.Matrix[float64]) (*matrix.Matrix[float64], error) {
	m, _ := a.Dims()
	sum := matrix.NewVector[float64](m)
	var s ops.Steps
	s.Do(ops.Reduce(sum, semiring.Plus[float64](), a))
	s.Do(ops.Select(sum, semiring.ValueNE(0.0), sum))
	s.Do(ops.Apply(sum, semiring.Minv[float64](), sum))
	if !s.OK() {
		return nil, s.Err()
	}
	inverse, err := matrix.Diag(sum, 0)
	if err != nil {
		return nil, err
	}
	c := matrix.New[float64](a.Dims())
	return c, ops.MxM(c, semiring.PlusTimes[float64](), inverse, a)
}

func largestIn(a *matrix.Matrix[float64], j int) (row int, x float64) {
	row = -1
	for i, y := range a.T().Row(j) {
		if row < 0 || y > x {
			row, x = i, y
		}
	}
	return row, x
}

func change(a, added *matrix.Matrix[float64], removed *matrix.Matrix[bool]) error {
	var s ops.Steps
	s.Do(ops.Apply(a.Masked(removed.Structure().Not()).Replace(), semiring.Identity[float64](), a))
	s.Do(ops.EWiseAdd(a, semiring.Second[float64, float64](), a, added))
	return s.Err()
}

func within(a *matrix.Matrix[float64], limit float64) (*matrix.Matrix[float64], error) {
	c := matrix.New[float64](a.Dims())
	var s ops.Steps
	s.Do(ops.MxM(c, semiring.MinPlus[float64](), a, a))
	s.Do(ops.Select(c, semiring.ValueLE(limit), c))
	return c, s.Err()
}

// TestIdiomTables compares the idioms of tables with plain loops.
func TestIdiomTables(t *testing.T) {
	a := sure.Get(matrix.FromTuples(3, 3, []int{0, 0, 1, 2}, []int{0, 2, 2, 1}, []float64{1, 3, 5, 0}, nil))
	out, in, err := degrees(a)
	if err != nil || out.Text() != "full vector of 3 int64, 3 entries\n  2 1 1" || in.Text() != "full vector of 3 int64, 3 entries\n  1 1 2" {
		t.Errorf("degrees %v and %v, %v", out.Text(), in.Text(), err)
	}
	show := func(a *matrix.Matrix[float64]) (list string) {
		for c, x := range a.All() {
			list += fmt.Sprint(c.Row, c.Col, "=", x, " ")
		}
		return list
	}
	rows, _ := matrix.VectorOf([]float64{2, 3, 4})
	cols, _ := matrix.VectorOf([]float64{1, 10, 100})
	if c, err := scaled(a, rows, cols); err != nil || show(c) != "0 0=2 0 2=600 1 2=1500 2 1=0 " {
		t.Errorf("scaled: %v, %v", show(c), err)
	}
	if c, err := normalised(a); err != nil || show(c) != "0 0=0.25 0 2=0.75 1 2=1 " {
		t.Errorf("normalised: %v, %v", show(c), err)
	}
	if i, x := largestIn(a, 2); i != 1 || x != 5 {
		t.Errorf("the largest entry of column 2 is %v in row %d", x, i)
	}
	if c, err := within(a, 4); err != nil || show(c) != "0 0=2 0 1=3 0 2=4 " {
		t.Errorf("within: %v, %v", show(c), err)
	}
	added, _ := matrix.FromTuples(3, 3, []int{1, 0}, []int{1, 2}, []float64{9, 8}, nil)
	removed, _ := matrix.FromTuples(3, 3, []int{2, 0}, []int{1, 1}, []bool{true, true}, nil)
	if err := change(a, added, removed); err != nil || show(a) != "0 0=1 0 2=8 1 1=9 1 2=5 " {
		t.Errorf("changed: %v, %v", show(a), err)
	}
}

// TestIdiomBetweenness compares with Brandes's algorithm in plain loops.
func TestIdiomBetweenness(t *testing.T) {
	a := karate(t)
	near := neighbours(a)
	for source := range near {
		got, err := betweenness(a, source)
		if err != nil {
			t.Fatal(err)
		}
		n := len(near)
		depth, paths, delta := make([]int, n), make([]float64, n), make([]float64, n)
		for v := range depth {
			depth[v] = -1
		}
		depth[source], paths[source] = 0, 1
		order := []int{source}
		for k := 0; k < len(order); k++ {
			v := order[k]
			for _, u := range near[v] {
				if depth[u] < 0 {
					depth[u] = depth[v] + 1
					order = append(order, u)
				}
				if depth[u] == depth[v]+1 {
					paths[u] += paths[v]
				}
			}
		}
		for _, u := range slices.Backward(order) {
			for _, v := range near[u] {
				if depth[v] == depth[u]-1 {
					delta[v] += paths[v] / paths[u] * (1 + delta[u])
				}
			}
		}
		for v, want := range delta {
			if x, _ := got.At(v); math.Abs(x-want) > 1e-9 {
				t.Errorf("from %d: vertex %d has %v, want %v", source, v, x, want)
			}
		}
	}
}

func TestIdiomVectors(t *testing.T) {
	w := sure.Get(matrix.NewFullVector(6, 2.0))
	mask, sparse := matrix.NewVector[bool](6), matrix.NewVector[float64](6)
	for _, i := range []int{1, 4} {
		sure.Do(mask.Set(i, true))
		sure.Do(sparse.Set(i, 0.5))
	}
	if err := addInto(w, sparse); err != nil || !slices.Equal(sure.Get(w.Dense(0)), []float64{2, 2.5, 2, 2, 2.5, 2}) {
		t.Errorf("full += sparse: %v (%v)", w, err)
	}
	if err := deleteWhere(w, mask); err != nil || !slices.Equal(sure.Get(w.Dense(-1)), []float64{2, -1, 2, 2, -1, 2}) {
		t.Errorf("deleted: %v (%v)", w, err)
	}
}

func TestHook(t *testing.T) {
	t.Parallel()
	parent := sure.Get(matrix.VectorOf([]int32{7, 8, 9}))
	least := sure.Get(matrix.VectorOf([]int32{3, 2, 20, 10}))
	if err := hook(parent, least, ops.Of(1, 1, 1, 0)); err != nil {
		t.Fatal(err)
	}
	if got := sure.Get(parent.Dense(-1)); !slices.Equal(got, []int32{7, 2, 9}) {
		t.Errorf("parents %v", got)
	}
}
