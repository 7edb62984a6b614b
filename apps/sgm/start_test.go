package sgm

import (
	"errors"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/race"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/testdata"
)

// gnp is a random graph of n vertices with edges of probability p.
func gnp(t testing.TB, n int, p float64, seed uint64) *matrix.Matrix[float64] {
	t.Helper()
	g, _ := gen.Correlated(n, p, 1, seed)
	a := sure.Get(matrix.FromCSR(n, n, g.Ptr, g.Idx, slices.Repeat([]float64{1}, len(g.Idx))))
	return a
}

// searched is the result of the searches alone, without refinement and percolation.
func searched(t testing.TB, a, b *matrix.Matrix[float64], seeds int, o SGMOptions) *SGMResult {
	t.Helper()
	o.MaxIterations, o.Tolerance = 50, .5
	res := &SGMResult{}
	p := sure.Get(newPairing(a.View(), b.View(), FirstSeeds(seeds), o))
	if err := p.search(res, nil); err != nil {
		t.Fatal(err)
	}
	return res
}

// Where the sparse start ends with many disagreements, another start finds the permutation.
func TestSGMPortfolio(t *testing.T) {
	if race.Enabled {
		t.Skip("searches of many minutes; the other tests of SGM run the same loops")
	}
	for k, c := range []struct {
		reason string
		graph  func(t testing.TB) *matrix.Matrix[float64]
		seeds  int
		orders int64
	}{
		{"G(300, .05), 3 seeds", func(t testing.TB) *matrix.Matrix[float64] { return gnp(t, 300, .05, 3) }, 3, 2},
		{"weighted lesmis, 12 seeds", func(t testing.TB) *matrix.Matrix[float64] { return samples.Shared(t, "graphs/lesmis.mtx.gz") }, 12, 6},
		{"weighted lesmis, 6 seeds", func(t testing.TB) *matrix.Matrix[float64] { return samples.Shared(t, "graphs/lesmis.mtx.gz") }, 6, 4},
		{"football, 5 seeds", func(t testing.TB) *matrix.Matrix[float64] { return samples.Shared(t, "graphs/football.mtx.gz") }, 5, 4},
	} {
		if !longtest.Takes(k, 4) {
			continue
		}
		t.Run(c.reason, func(t *testing.T) {
			a := c.graph(t)
			for order := range c.orders {
				b, _ := shuffled(t, a, c.seeds, order)
				res := searched(t, a, b, c.seeds, SGMOptions{})
				if res.After != 0 || res.Before == 0 {
					t.Errorf("order %d: %v disagreements after %d searches, %v before", order, res.After, res.Searches, res.Before)
				}
			}
		})
	}
	t.Run("one search alone", func(t *testing.T) {
		a := gnp(t, 300, .05, 3)
		b, _ := shuffled(t, a, 3, 0)
		for _, opts := range []SGMOptions{{Start: SparseStart}, {Searches: -1}} {
			res := searched(t, a, b, 3, opts)
			if res.After == 0 || res.Searches != 1 {
				t.Errorf("%+v: %v disagreements after %d searches, want some after 1", opts, res.After, res.Searches)
			}
		}
	})
}

// Every plan starts at a doubly stochastic matrix; objective and gradient fit the definition.
func TestSGMPlans(t *testing.T) {
	a := samples.Own(t, testdata.Karate)
	b, _ := shuffled(t, a, 4, 1)
	labels := make([]int32, 34)
	for v := range labels {
		if v%3 == 0 {
			labels[v] = 1
		}
	}
	for _, opts := range []SGMOptions{{}, {HardSeeds: true}, {LabelsA: labels, LabelsB: labels}} {
		p, err := newPairing(a.View(), b.View(), FirstSeeds(4), opts)
		if err != nil {
			t.Fatal(err)
		}
		for _, pl := range []plan{
			{start: Barycentre, dense: true},
			{start: Barycentre, dense: true, bare: true},
			{start: Barycentre, dense: true, away: .5},
			{start: Barycentre, away: .25, seed: 7},
			{start: SparseStart, from: p.random(3)},
			{start: SparseStart, from: p.random(3), bare: true},
		} {
			f, err := newSearch(p, pl)
			if err != nil {
				t.Fatal(err)
			}
			here, scale := point(f), 1e5
			for i := range here {
				var row, col float64
				for j := range here {
					row, col = row+here[i][j], col+here[j][i]
				}
				if math.Abs(row-1) > 1e-12 || math.Abs(col-1) > 1e-12 {
					t.Fatalf("%+v: row and column %d sum to %v and %v", pl, i, row, col)
				}
			}
			o := oracleOf(f)
			if pl.bare {
				for i := range o.a {
					o.a[i][i]--
					o.b[i][i]--
				}
			}
			if got, want := f.objective(), o.at(here); !close9(got, want, scale) {
				t.Errorf("%+v: the objective is %v, want %v", pl, got, want)
			}
			gradient := o.gradient(here)
			from := 0
			for _, end := range f.ends {
				off := func(i, j int) float64 {
					g, _ := f.g.At(i, j)
					if f.spread != nil {
						for k, w := range f.spread.w {
							for c := range f.ends {
								x, _ := w.At(i, c)
								y, _ := f.spread.z[k].At(j, c)
								g += f.start * x * y
							}
						}
					}
					return gradient[f.rows[i]][f.cols[j]] - f.factor*g
				}
				for i := from; i < end; i++ {
					for j := from; j < end; j++ {
						if !close9(off(i, j)+off(from, from), off(i, from)+off(from, j), scale) {
							t.Fatalf("%+v: the gradient at %d, %d is wrong", pl, i, j)
						}
					}
				}
				from = end
			}
		}
	}
}

// A search from the true matching stays there, one from a part of it finds the rest, and a matching
// that cannot be is an error.
func TestSGMFrom(t *testing.T) {
	a := samples.Own(t, testdata.Karate)
	b, order := shuffled(t, a, 2, 1)
	groundTruth := matrix.NewVector[int32](34)
	half := matrix.NewVector[int32](34)
	for w, v := range order { // vertex w of b is vertex v of a
		sure.Do(groundTruth.Set(v, int32(w)))
		if v%2 == 0 {
			sure.Do(half.Set(v, int32(w)))
		}
	}
	for _, hard := range []bool{false, true} {
		for reason, from := range map[string]*matrix.Vector[int32]{"the truth": groundTruth, "half of it": half, "nothing": matrix.NewVector[int32](34)} {
			res, err := SGM(a, b, FirstSeeds(2), SGMOptions{From: from, HardSeeds: hard})
			if err != nil {
				t.Fatal(err)
			}
			if reason != "nothing" && res.After != 0 || reason == "the truth" && (len(res.Iterations) > 1 || res.Searches != 1) {
				t.Errorf("from %s: %v disagreements after %d steps and %d searches", reason, res.After, len(res.Iterations), res.Searches)
			}
		}
	}
	vector := func(v int, w int32) *matrix.Vector[int32] {
		x := groundTruth.Clone()
		sure.Do(x.Set(v, w))
		return x
	}
	parameter, index, dimension := new(*workflow.ParameterError), new(*matrix.IndexError), new(*matrix.DimensionError)
	labels := make([]int32, 34)
	labels[33] = 1
	other := make([]int32, 34)
	other[0] = 1
	for _, c := range []struct {
		reason string
		opts   SGMOptions
		as     any
	}{
		{"a start beside it", SGMOptions{From: groundTruth, Start: Barycentre}, parameter},
		{"too short", SGMOptions{From: matrix.NewVector[int32](33)}, dimension},
		{"a vertex beyond b", SGMOptions{From: vector(3, 34)}, index},
		{"a negative vertex", SGMOptions{From: vector(3, -1)}, index},
		{"a vertex twice", SGMOptions{From: vector(3, 0)}, parameter},
		{"against a fixed seed", SGMOptions{From: vector(0, 1), HardSeeds: true}, parameter},
		{"of another label", SGMOptions{From: groundTruth, LabelsA: labels, LabelsB: other}, parameter},
		{"NaN searches", SGMOptions{Searches: math.NaN()}, parameter},
		{"NaN repair", SGMOptions{Repair: math.NaN()}, parameter},
	} {
		seeds := FirstSeeds(2)
		if c.opts.LabelsA != nil {
			seeds = nil
		}
		if _, err := SGM(a, b, seeds, c.opts); !errors.As(err, c.as) || err.Error() == "" {
			t.Errorf("%s: %v (%T)", c.reason, err, err)
		}
	}
}

// A repair ends when its work exceeds its bound, and its result does not depend on threads.
func TestSGMRepairBound(t *testing.T) {
	a := gnp(t, 400, .008, 5) // with tails and small components, which confuse the search
	b, _ := shuffled(t, a, 40, 1)
	tries := func(repair float64, threads int) (int64, float64, string) {
		most := int64(-1)
		res, err := SGM(a, b, FirstSeeds(40), SGMOptions{Start: SparseStart, Repair: repair, Run: workflow.Run{Threads: threads, Progress: func(what string, done, _ int64) {
			if what == "repair" {
				most = max(most, done)
			}
		}}})
		if err != nil {
			t.Fatal(err)
		}
		return most, res.After, fmt.Sprint(sure.Get(res.Match.Dense(-1)))
	}
	none, worst, _ := tries(-1, 1)
	usual, after, match := tries(0, 1)
	_, again, same := tries(0, 2)
	long, best, _ := tries(math.Inf(1), 1)
	if none != -1 {
		t.Errorf("%d attempts without a repair", none+1)
	}
	if after > worst || best > after || usual > long {
		t.Errorf("disagreements %v without a repair, %v after %d attempts, %v after %d", worst, after, usual+1, best, long+1)
	}
	if again != after || same != match {
		t.Errorf("%v disagreements with 1 thread and %v with 2", after, again)
	}
	p, err := newPairing(a.View(), b.View(), FirstSeeds(40), SGMOptions{Start: SparseStart})
	if err != nil {
		t.Fatal(err)
	}
	f, err := newRelaxation(p)
	if err != nil {
		t.Fatal(err)
	}
	attempts := 0
	f.opts.Progress = func(string, int64, int64) { attempts++ }
	if _, _, err := f.repair(p.random(1), repairs, 1); err != nil || attempts > 1 {
		t.Errorf("%d attempts within a work of 1, %v", attempts, err)
	}
}

// All repairs together take no more than the steps of the searches, but for the attempts that
// exceed the bound: on a tree, where many vertices have equal surroundings, they would take many
// times that.
func TestSGMRepairsShareABound(t *testing.T) {
	longtest.SkipInTurns(t, 1, 4)
	if race.Enabled {
		t.Skip("searches of many minutes; the other tests of SGM run the same loops")
	}
	a := samples.Build[float64](t, tree(500), matrix.CSR)
	b, _ := shuffled(t, a, 30, 1)
	taken := func(repair float64) effort {
		o := SGMOptions{Repair: repair, MaxIterations: 50, Tolerance: .5}
		p, err := newPairing(a.View(), b.View(), FirstSeeds(30), o)
		if err != nil {
			t.Fatal(err)
		}
		p.small = 0
		res := &SGMResult{}
		if err := p.search(res, nil); err != nil {
			t.Fatal(err)
		}
		return res.effort
	}
	if usual := taken(0); usual.mending > usual.work*5/4 {
		t.Errorf("repairs take %d entries, the steps %d", usual.mending, usual.work)
	}
	if free := taken(math.Inf(1)); free.mending < 4*free.work {
		t.Errorf("without a bound repairs take %d entries, the steps %d: the bound has no effect", free.mending, free.work)
	}
}

// tree is a random tree.
func tree(n int) samples.Sample {
	rng, s := rand.New(rand.NewSource(7)), samples.Blank(n)
	for v := 1; v < n; v++ {
		s.Edges = append(s.Edges, samples.Edge{From: v, To: rng.Intn(v), Weight: 1})
	}
	return s.Both()
}
