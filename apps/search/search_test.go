package search

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/lines"
	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
	"github.com/hiveblas/hiveblas/testdata"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"
)

// walked runs a search and returns its walks too.
func walked(t testing.TB, g matrix.Source[float64], scores *Scores, starts []int, o SearchOptions) ([][]int32, *SearchResult) {
	t.Helper()
	var walks [][]int32
	o.Each = func(b SearchBlock) error {
		if b.First != int64(len(walks)) || len(b.Vertices) != b.Walks()*b.Length {
			t.Errorf("a block of %d cells from walk %d, after %d walks", len(b.Vertices), b.First, len(walks))
		}
		for k := range b.Walks() {
			walks = append(walks, slices.Clone(b.Walk(k)))
		}
		return nil
	}
	res, err := GraphSearch(g, scores, starts, o)
	if err != nil {
		t.Fatal(err)
	}
	return walks, res
}

func vectorScores(t testing.TB, list []float64) *Scores {
	t.Helper()
	v := sure.Get(matrix.VectorOf(list))
	return VertexScores(v)
}

// checkSearch recomputes the figures of a result from its walks, by maps.
func checkSearch(t rapid.TB, walks [][]int32, res *SearchResult, score []float64, o SearchOptions) {
	t.Helper()
	visits, first := map[int32]int64{}, map[int32]int{}
	var steps, ended int64
	var sum float64
	for _, w := range walks {
		steps += int64(len(w) - 1)
		if len(w) < o.Length {
			ended++
		}
		for k, v := range w {
			visits[v]++
			sum += score[v]
			if at, ok := first[v]; !ok || k < at {
				first[v] = k
			}
		}
	}
	if res.Walks != int64(len(walks)) || res.Steps != steps || res.Ended != ended || res.Distinct != int64(len(visits)) {
		t.Errorf("got %d walks, %d steps, %d ended, %d distinct; want %d, %d, %d, %d",
			res.Walks, res.Steps, res.Ended, res.Distinct, len(walks), steps, ended, len(visits))
	}
	if math.Abs(res.ScoreSum-sum) > 1e-9*max(1, math.Abs(sum)) {
		t.Errorf("the scores add up to %v, want %v", res.ScoreSum, sum)
	}
	if o.Visits {
		if int(res.Visits.NVals()) != len(visits) {
			t.Errorf("%d vertices have visits, want %d", res.Visits.NVals(), len(visits))
		}
		for v, x := range res.Visits.All() {
			if x != visits[int32(v)] {
				t.Errorf("vertex %d has %d visits, want %d", v, x, visits[int32(v)])
			}
		}
	}
	for k, p := range res.Curve {
		var want SearchPoint
		for _, w := range walks {
			want.Steps += int64(max(0, min(len(w)-1, p.Step)))
		}
		for v, at := range first {
			if at <= p.Step {
				want.Distinct++
				want.Score += score[v]
			}
		}
		if p.Steps != want.Steps || p.Distinct != want.Distinct || math.Abs(p.Score-want.Score) > 1e-9*max(1, want.Score) {
			t.Errorf("point %d of the curve is %+v, want %+v", k, p, want)
		}
	}
	if want := min(o.Best, len(visits)); len(res.Best) != want {
		t.Errorf("%d best vertices, want %d", len(res.Best), want)
	}
	for k, b := range res.Best {
		better := 0
		for v := range visits {
			if score[v] > b.Distance || score[v] == b.Distance && int(v) < b.Vertex {
				better++
			}
		}
		if better != k || score[b.Vertex] != b.Distance {
			t.Errorf("vertex %d of score %v is best number %d, and %d are better", b.Vertex, b.Distance, k, better)
		}
	}
}

// Every step is an edge, a walk ends only where it must, greedy walks equal a plain loop's, and the
// figures fit the walks.
func TestGraphSearch(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(t, "n")
		s := samples.DrawSample(t, n, n)
		g := samples.Build[float64](t, s, rapid.SampledFrom([]matrix.Format{matrix.CSR, matrix.Hypersparse, matrix.Bitmap}).Draw(t, "format"))
		arcs := s.Arcs()
		score := samples.Scored(n)
		for _, a := range arcs {
			slices.SortFunc(a, func(x, y samples.Arc) int { return x.To - y.To })
		}
		o := SearchOptions{
			Rule:            rapid.SampledFrom([]SearchRule{SearchUniform, SearchGreedy, SearchStochastic}).Draw(t, "rule"),
			Length:          rapid.IntRange(1, 9).Draw(t, "length"),
			PerStart:        rapid.IntRange(1, 3).Draw(t, "walks"),
			Weighted:        rapid.Bool().Draw(t, "weighted"),
			NonBacktracking: rapid.Bool().Draw(t, "other"),
			Visits:          true, Best: rapid.IntRange(0, 4).Draw(t, "best"), Seed: rapid.Uint64().Draw(t, "seed"),
		}
		if rapid.Bool().Draw(t, "restart") {
			o.Restart = .3
		}
		var starts []int
		begins := n
		if n > 0 && rapid.Bool().Draw(t, "some") {
			starts = rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 4).Draw(t, "starts")
			begins = len(starts)
		}
		vector := sure.Get(matrix.VectorOf(score))
		var walks [][]int32
		each := o
		each.Each = func(b SearchBlock) error {
			for k := range b.Walks() {
				walks = append(walks, slices.Clone(b.Walk(k)))
			}
			return nil
		}
		res, err := GraphSearch(g, VertexScores(vector), starts, each)
		if err != nil {
			t.Fatal(err)
		}
		if len(walks) != begins*o.PerStart {
			t.Fatalf("%d walks, want %d", len(walks), begins*o.PerStart)
		}
		var restarts int64
		for k, w := range walks {
			start := int32(k / o.PerStart)
			if starts != nil {
				start = int32(starts[k/o.PerStart])
			}
			if w[0] != start {
				t.Fatalf("walk %d begins at %d, want %d", k, w[0], start)
			}
			before := int32(-1)
			for i := 1; i <= len(w); i++ {
				open := []samples.Arc{}
				for _, a := range arcs[w[i-1]] {
					if !o.NonBacktracking || int32(a.To) != before {
						open = append(open, a)
					}
				}
				if i == len(w) {
					if i < o.Length && len(open) > 0 {
						t.Fatalf("walk %v ends although %d has neighbours %v", w, w[i-1], open)
					}
					break
				}
				before = w[i-1]
				at := slices.IndexFunc(open, func(a samples.Arc) bool { return int32(a.To) == w[i] })
				if at < 0 && o.Restart > 0 && w[i] == start {
					restarts++
					before = -1
					continue
				}
				if at < 0 {
					t.Fatalf("walk %v: no edge from %d to %d", w, w[i-1], w[i])
				}
				weight := func(a samples.Arc) float64 {
					x := score[a.To]
					if o.Rule == SearchUniform {
						x = 1
					}
					if o.Weighted {
						x *= a.Weight
					}
					return x
				}
				sum := 0.0
				for _, a := range open {
					sum += weight(a)
				}
				if o.Rule != SearchGreedy && sum > 0 && weight(open[at]) == 0 && (o.Restart == 0 || w[i] != start) {
					t.Fatalf("walk %v takes an edge of weight 0", w)
				}
				if o.Rule == SearchGreedy && o.Restart == 0 {
					next := open[0] // the loop of the report
					for _, a := range open {
						if weight(a) > weight(next) {
							next = a
						}
					}
					if int32(next.To) != w[i] {
						t.Fatalf("walk %v goes from %d to %d, greedily to %d", w, w[i-1], w[i], next.To)
					}
				}
				if o.Restart > 0 && w[i] == start {
					return // a restart looks like an edge: what follows is not known
				}
			}
		}
		if o.Restart == 0 && res.Restarts != 0 || res.Restarts < restarts {
			t.Errorf("%d restarts, at least %d seen", res.Restarts, restarts)
		}
		checkSearch(t, walks, res, score, o)

		// The same walks without Each, by scores on demand, and in prepared rows.
		bare, err := GraphSearch(g, VertexScores(vector), starts, o)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(bare.Curve, res.Curve) || bare.ScoreSum != res.ScoreSum {
			t.Errorf("without Each: %+v, want %+v", bare, res)
		}
	})
}

// The walks are the same at any number of threads, by a vector and by a function of scores, and a
// longer walk begins like a shorter one.
func TestGraphSearchIsReproducible(t *testing.T) {
	t.Parallel()
	g := samples.Own(t, testdata.Karate)
	score := samples.Scored(34)
	for k, rule := range []SearchRule{SearchUniform, SearchGreedy, SearchStochastic} {
		if !longtest.Takes(k, 3) {
			continue
		}
		for _, o := range []SearchOptions{{}, {Weighted: true, NonBacktracking: true}, {Restart: .2}, {Return: .3, InOut: 5, Restart: .1}, {Weighted: true, NonBacktracking: true, InOut: .2}} {
			if o.InOut != 0 && rule == SearchGreedy {
				continue
			}
			o.Rule, o.Length, o.PerStart, o.Seed = rule, 20, 100, 7
			o.Threads = 1
			want, first := walked(t, g, vectorScores(t, score), nil, o)
			for threads := range 4 {
				o.Threads = threads
				got, res := walked(t, g, vectorScores(t, score), nil, o)
				if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(res, first) {
					t.Fatalf("%v, %d threads: other walks than with one thread", rule, threads)
				}
			}
			byOps := o
			byOps.Method, byOps.round = workflow.Pipeline, 777
			got, res := walked(t, g, vectorScores(t, score), nil, byOps)
			if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(res, first) {
				t.Fatalf("%v, %+v: other walks by operations", rule, o)
			}
			asked := map[int]int{}
			got, res = walked(t, g, ScoreFunc(5, func(vertices []int, scores []float64) error {
				if len(vertices) > 5 || !slices.IsSorted(vertices) {
					t.Errorf("a batch of %v", vertices)
				}
				for k, v := range vertices {
					asked[v]++
					scores[k] = score[v]
				}
				return nil
			}), nil, o)
			if !reflect.DeepEqual(got, want) || res.ScoreSum != first.ScoreSum || res.Scored != 34 || res.Calls < 7 || len(asked) != 34 {
				t.Errorf("%v, a function of scores: other walks, or %d calls for %d vertices", rule, res.Calls, res.Scored)
			}
			for v, times := range asked {
				if times != 1 {
					t.Errorf("vertex %d is scored %d times", v, times)
				}
			}
			o.Length = 7
			short, _ := walked(t, g, vectorScores(t, score), nil, o)
			few, _ := walked(t, g, vectorScores(t, score), []int{0}, o) // rows on demand
			for k, w := range short {
				if !slices.Equal(w, want[k][:min(7, len(want[k]))]) {
					t.Fatalf("%v: walk %d of length 7 is %v, and of length 20 %v", rule, k, w, want[k])
				}
				if k < len(few) && !slices.Equal(w, few[k]) {
					t.Fatalf("%v: walk %d is %v among others and %v alone", rule, k, w, few[k])
				}
			}
		}
	}
}

// The transitions of walks on karate have the probabilities of their rule (χ², seeds fixed).
func TestGraphSearchDistribution(t *testing.T) {
	t.Parallel()
	g := samples.Own(t, testdata.Karate)
	rng := rand.New(rand.NewPCG(3, 4))
	arcs := samples.ArcsOf(g)
	b := matrix.NewBuilder[float64](34, 34)
	for v := range arcs {
		for k := range arcs[v] {
			arcs[v][k].Weight = 1 + rng.Float64()*rng.Float64()*20
			b.Add(v, arcs[v][k].To, arcs[v][k].Weight)
		}
	}
	g = sure.Get(b.Build(nil))
	score := make([]float64, 34)
	for v := range score {
		score[v] = math.Exp(2 * rng.NormFloat64())
		if v%9 == 4 {
			score[v] = 0
		}
	}
	square := semiring.NewBinary("square", func(x, y float64) float64 { return x*x + y }, "x * x + y")
	for _, c := range []struct {
		reason string
		o      SearchOptions
		weight func(score, edge float64) float64
	}{
		{"uniform", SearchOptions{}, func(_, _ float64) float64 { return 1 }},
		{"by edges", SearchOptions{Weighted: true}, func(_, edge float64) float64 { return edge }},
		{"stochastic", SearchOptions{Rule: SearchStochastic}, func(score, _ float64) float64 { return score }},
		{"stochastic by edges", SearchOptions{Rule: SearchStochastic, Weighted: true}, func(score, edge float64) float64 { return score * edge }},
		{"a user's weight", SearchOptions{Rule: SearchStochastic, Weight: square}, square.Apply},
		{"uniform without backtracking", SearchOptions{NonBacktracking: true}, func(_, _ float64) float64 { return 1 }},
		{"stochastic without backtracking", SearchOptions{Rule: SearchStochastic, NonBacktracking: true}, func(score, _ float64) float64 { return score }},
		{"of second order", SearchOptions{Return: .25, InOut: 4}, func(_, _ float64) float64 { return 1 }},
		{"of second order by p", SearchOptions{Return: .1}, func(_, _ float64) float64 { return 1 }},
		{"of second order by edges", SearchOptions{Weighted: true, Return: 4, InOut: .5}, func(_, edge float64) float64 { return edge }},
		{"of second order without backtracking", SearchOptions{Rule: SearchStochastic, NonBacktracking: true, InOut: 3}, func(score, _ float64) float64 { return score }},
		{"restarts", SearchOptions{Rule: SearchStochastic, Restart: .25}, func(score, _ float64) float64 { return score }},
	} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			o := c.o
			o.Length, o.PerStart, o.Seed = 12, 400, 20261122
			walks, res := walked(t, g, vectorScores(t, score), nil, o)
			type at struct{ v, before int32 }
			count, total := map[at]map[int32]float64{}, map[at]float64{}
			for _, w := range walks {
				before := int32(-1)
				for k := range len(w) - 1 {
					if o.Restart > 0 && w[k+1] == w[0] {
						break // a restart looks like an edge
					}
					key := at{w[k], -1}
					if o.NonBacktracking || o.Return != 0 || o.InOut != 0 {
						key.before = before
					}
					if count[key] == nil {
						count[key] = map[int32]float64{}
					}
					count[key][w[k+1]]++
					total[key]++
					before = w[k]
				}
			}
			chi, freedom := 0.0, 0.0
			for key, times := range total {
				sum := 0.0
				weight := func(a samples.Arc) float64 {
					x, to := c.weight(score[a.To], a.Weight), int32(a.To)
					switch {
					case key.before < 0:
					case to == key.before && o.NonBacktracking:
						x = 0
					case to == key.before && o.Return != 0:
						x /= o.Return
					case to != key.before && o.InOut != 0 && !slices.ContainsFunc(arcs[key.before], func(b samples.Arc) bool { return b.To == a.To }):
						x /= o.InOut
					}
					return x
				}
				for _, a := range arcs[key.v] {
					sum += weight(a)
				}
				if o.Restart > 0 { // the start is left out above, and differs from walk to walk
					continue
				}
				classes, rest, seen := 0.0, 0.0, 0.0
				for _, a := range arcs[key.v] {
					want := times * weight(a) / sum
					if sum == 0 { // uniform among what is open
						t.Fatalf("vertex %d has no weight", key.v)
					}
					if want == 0 && count[key][int32(a.To)] > 0 {
						t.Errorf("%v goes to %d, of weight 0", key, a.To)
					}
					if want < 5 { // classes that are too small make up one
						rest, seen = rest+want, seen+count[key][int32(a.To)]
						continue
					}
					classes++
					d := count[key][int32(a.To)] - want
					chi += d * d / want
				}
				if rest >= 5 {
					classes++
					chi += (seen - rest) * (seen - rest) / rest
				}
				freedom += max(0, classes-1)
			}
			if o.Restart > 0 {
				share := float64(res.Restarts) / float64(res.Steps)
				if limit := 5 * math.Sqrt(.25*.75/float64(res.Steps)); math.Abs(share-.25) > limit {
					t.Errorf("%v of the steps restart, want .25 ± %v", share, limit)
				}
				return
			}
			p := distuv.ChiSquared{K: freedom}.Survival(chi)
			if freedom < 50 || p < 1e-3 || p > 1-1e-3 {
				t.Errorf("χ² is %v with %v degrees of freedom: p = %v", chi, freedom, p)
			}
		})
	}
}

// aliasTable gives each neighbour the probability of its weight, but for the rounding of
// thresholds.
func TestAliasTable(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		weights := rapid.SliceOfN(rapid.OneOf(rapid.Float64Range(0, 1), rapid.Float64Range(0, 1e-12), rapid.Just(0.0), rapid.Just(1.0), rapid.Just(1e300)), 1, 40).Draw(t, "weights")
		row := make([]int32, len(weights))
		sum := 0.0
		for k, w := range weights {
			row[k] = int32(3 * k)
			sum += w / 40
		}
		slots := make([]searchSlot, len(weights))
		aliasTable(slots, row, integerMasses(weights, nil))
		got := make([]float64, len(weights))
		for _, s := range slots {
			share := float64(s.threshold) / (1 << 32)
			got[s.own/3] += share
			got[s.alias/3] += 1 - share
		}
		for k, w := range weights {
			want := 1.0
			if sum > 0 {
				want = w / 40 / sum * float64(len(weights))
			}
			if math.Abs(got[k]-want) > float64(len(weights))*1e-9 || want == 0 && got[k] != 0 {
				t.Fatalf("neighbour %d of weight %v has %v slots, want %v", k, w, got[k], want)
			}
		}
	})
}

func TestGraphSearchLong(t *testing.T) {
	t.Parallel()
	ring := samples.Blank(50)
	for v := range 50 {
		ring.Edges = append(ring.Edges, samples.Edge{From: v, To: (v + 1) % 50, Weight: 1})
	}
	g := samples.Build[float64](t, ring, matrix.CSR)
	o := SearchOptions{Length: 5000, Visits: true, Best: 2}
	walks, res := walked(t, g, vectorScores(t, samples.Scored(50)), []int{3, 4}, o)
	if len(res.Curve) != curvePoints || res.Curve[curvePoints-1].Step != 4999 || res.Curve[curvePoints-1].Steps != 2*4999 {
		t.Errorf("%d points, the last %+v", len(res.Curve), res.Curve[len(res.Curve)-1])
	}
	checkSearch(t, walks, res, samples.Scored(50), o)
	o.Length = pieceCells * 2 // a piece is one walk
	walks, res = walked(t, g, nil, []int{3, 4, 5}, o)
	if len(walks) != 3 || res.Steps != 3*int64(o.Length-1) || walks[2][o.Length-1] != int32((5+o.Length-1)%50) {
		t.Errorf("%d walks of %d steps", len(walks), res.Steps)
	}
}

func TestGraphSearchErrors(t *testing.T) {
	t.Parallel()
	g := samples.Own(t, testdata.Karate)
	n, some := 34, vectorScores(t, samples.Scored(34))
	negative := samples.Scored(n)
	negative[5] = -1
	nan := samples.Scored(n)
	nan[6] = math.NaN()
	signed := samples.Own(t, testdata.Karate)
	sure.Do(signed.Set(0, 1, -2))
	failing := errors.New("no model")
	odd := semiring.NewBinary[float64, float64, float64]("odd", nil, "x")
	for _, c := range []struct {
		reason string
		g      matrix.Source[float64]
		scores *Scores
		starts []int
		o      SearchOptions
		want   any
		text   string
	}{
		{"no scores", g, nil, nil, SearchOptions{Rule: SearchGreedy}, new(*workflow.ParameterError), "the scores is nil"},
		{"empty scores", g, &Scores{}, nil, SearchOptions{}, new(*workflow.ParameterError), "neither"},
		{"scores of other vertices", g, vectorScores(t, samples.Scored(33)), nil, SearchOptions{}, new(*matrix.DimensionError), "of 33 vertices"},
		{"a negative score", g, vectorScores(t, negative), nil, SearchOptions{Rule: SearchStochastic}, new(*ScoreError), "vertex 5 is -1"},
		{"NaN", g, vectorScores(t, nan), nil, SearchOptions{}, new(*ScoreError), "vertex 6 is NaN"},
		{"a negative edge", signed, some, nil, SearchOptions{Weighted: true}, new(*workflow.WeightError), "from 0 to 1 has weight -2"},
		{"a start beyond", g, some, []int{34}, SearchOptions{}, new(*matrix.IndexError), "34"},
		{"a rule", g, some, nil, SearchOptions{Rule: 7}, new(*workflow.ParameterError), "SearchRule(7)"},
		{"a length", g, some, nil, SearchOptions{Length: -1}, new(*workflow.ParameterError), "length"},
		{"walks", g, some, nil, SearchOptions{PerStart: -1}, new(*workflow.ParameterError), "number of walks"},
		{"a restart", g, some, nil, SearchOptions{Restart: 1.5}, new(*workflow.ParameterError), "restart is 1.5"},
		{"best", g, some, nil, SearchOptions{Best: -1}, new(*workflow.ParameterError), "best"},
		{"a weight without Go", g, some, nil, SearchOptions{Rule: SearchGreedy, Weight: odd}, new(*workflow.ParameterError), "odd"},
		{"a weight of uniform walks", g, some, nil, SearchOptions{Weight: semiring.Times[float64]()}, new(*workflow.ParameterError), "uniform"},
		{"two weights", g, some, nil, SearchOptions{Rule: SearchGreedy, Weighted: true, Weight: semiring.Times[float64]()}, new(*workflow.ParameterError), "Weighted"},
		{"a rectangle", matrix.New[float64](3, 4), some, nil, SearchOptions{}, new(*matrix.DimensionError), "3×4"},
		{"a function that fails", g, ScoreFunc(0, func([]int, []float64) error { return failing }), nil, SearchOptions{}, &failing, "no model"},
		{"a function of NaN", g, ScoreFunc(0, func(_ []int, s []float64) error { s[3] = math.NaN(); return nil }), nil, SearchOptions{}, new(*ScoreError), "vertex 3"},
		{"a batch", g, ScoreFunc(-1, func([]int, []float64) error { return nil }), nil, SearchOptions{}, new(*workflow.ParameterError), "batch"},
		{"a nil function", g, ScoreFunc(0, nil), nil, SearchOptions{}, new(*workflow.ParameterError), "neither"},
	} {
		_, err := GraphSearch(c.g, c.scores, c.starts, c.o)
		if err == nil || !errors.As(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", c.reason, err)
		}
	}
	calls := 0
	_, err := GraphSearch(g, nil, nil, SearchOptions{PerStart: 10000, Each: func(SearchBlock) error { calls++; return failing }})
	if !errors.Is(err, failing) || calls != 1 {
		t.Errorf("an error of Each: %v after %d calls", err, calls)
	}
	var dead SearchBlock
	if dead.Walks() != 0 || dead.Walk(0) != nil {
		t.Error("an empty block has walks")
	}
}

func TestWalkWriters(t *testing.T) {
	t.Parallel()
	block := SearchBlock{First: 2, Length: 3, Vertices: []int32{4, 5, -1, 7, 8, 9, 1, -1, -1}}
	var text, named, binary4 bytes.Buffer
	sure.Do(TextWalks(&text, nil)(block), BinaryWalks(&binary4)(block),
		TextWalks(&named, func(v int) string { return fmt.Sprint("v", v) })(block))
	if text.String() != "4\t5\n7\t8\t9\n1\n" || named.String() != "v4\tv5\nv7\tv8\tv9\nv1\n" {
		t.Errorf("text %q, names %q", text.String(), named.String())
	}
	got := make([]uint32, 9)
	if _, err := binary.Decode(binary4.Bytes(), binary.LittleEndian, got); err != nil || binary4.Len() != 36 ||
		!slices.Equal(got, []uint32{4, 5, 0xFFFFFFFF, 7, 8, 9, 1, 0xFFFFFFFF, 0xFFFFFFFF}) {
		t.Errorf("binary %x, %v", binary4.Bytes(), err)
	}
	var e *workflow.ParameterError
	for _, write := range []func(SearchBlock) error{TextWalks(nil, nil), BinaryWalks(nil)} {
		if err := write(block); !errors.As(err, &e) {
			t.Errorf("a nil writer: %v", err)
		}
	}
}

func TestReadScores(t *testing.T) {
	t.Parallel()
	names := map[string]int{"ann": 0, "bob": 2}
	for _, c := range []struct {
		reason, text string
		o            lines.ScoreFileOptions
		want         map[int]float64
		err          string
	}{
		{"a number a line", "# c\n1\n-2.5\n\n3e2\n", lines.ScoreFileOptions{}, map[int]float64{0: 1, 1: -2.5, 2: 300}, ""},
		{"pairs", "2\t1\r\n0\t4\n", lines.ScoreFileOptions{}, map[int]float64{0: 4, 2: 1}, ""},
		{"commas from 1", "3,1\n1,4\n", lines.ScoreFileOptions{Base: 1}, map[int]float64{0: 4, 2: 1}, ""},
		{"names", "bob 1\nann 2", lines.ScoreFileOptions{Index: func(id string) (int, bool) { v, ok := names[id]; return v, ok }}, map[int]float64{0: 2, 2: 1}, ""},
		{"nothing", "", lines.ScoreFileOptions{}, map[int]float64{}, ""},
		{"too few", "1\n2\n", lines.ScoreFileOptions{}, nil, "2 scores, and the graph 3 vertices"},
		{"too many", "1\n2\n3\n4\n", lines.ScoreFileOptions{}, nil, "scores.txt:4: there are more scores than the 3 vertices"},
		{"another number of fields", "1 2\n3\n", lines.ScoreFileOptions{}, nil, "scores.txt:2: the line has 1 fields, want 2"},
		{"three fields", "1 2 3\n", lines.ScoreFileOptions{}, nil, "scores.txt:1: the line has 3 fields, want 2"},
		{"a word", "1\nx\n3\n", lines.ScoreFileOptions{}, nil, `scores.txt:2: the score "x" is not a finite number`},
		{"an infinity", "0 inf\n", lines.ScoreFileOptions{}, nil, `scores.txt:1: the score "inf" is not a finite number`},
		{"a header", "vertex,score\n2,1\n0,4\n", lines.ScoreFileOptions{}, map[int]float64{0: 4, 2: 1}, ""},
		{"a header of numbers", "score\n1\n-2.5\n3e2\n", lines.ScoreFileOptions{}, map[int]float64{0: 1, 1: -2.5, 2: 300}, ""},
		{"a word for the score of a vertex", "1,high\n2,1\n", lines.ScoreFileOptions{}, nil, `scores.txt:1: the score "high"`},
		{"a decimal comma", "1;0,5\n", lines.ScoreFileOptions{}, nil, `"0,5" has a decimal comma; the option Decimal`},
		{"decimal commas", "1;0,5\n2;7\n", lines.ScoreFileOptions{TextOptions: lines.TextOptions{Decimal: ','}}, map[int]float64{1: .5, 2: 7}, ""},
		{"a vertex beyond", "3 1\n", lines.ScoreFileOptions{}, nil, "scores.txt:1: vertex 3 is not in the graph"},
		{"a vertex twice", "1 1\n1 1\n", lines.ScoreFileOptions{}, nil, "scores.txt:2: vertex 1 is given twice, first in line 1"},
	} {
		c.o.Name = "scores.txt"
		v, err := lines.ReadScores(strings.NewReader(c.text), 3, c.o)
		var e *graphio.ParseError
		switch {
		case c.err != "":
			if !errors.As(err, &e) || !strings.Contains(err.Error(), c.err) || e.Remedy == "" {
				t.Errorf("%s: %v", c.reason, err)
			}
			continue
		case err != nil:
			t.Errorf("%s: %v", c.reason, err)
			continue
		}
		got := map[int]float64{}
		for i, x := range v.All() {
			got[i] = x
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.reason, got, c.want)
		}
	}
	var e *workflow.ParameterError
	if _, err := lines.ReadScores(nil, 3); !errors.As(err, &e) {
		t.Errorf("a nil reader: %v", err)
	}
	if _, err := lines.ReadScores(strings.NewReader(""), 3, lines.ScoreFileOptions{Base: 2}); !errors.As(err, &e) {
		t.Errorf("base 2: %v", err)
	}
}

func FuzzReadScores(f *testing.F) {
	f.Add("1\n2\n", 2)
	f.Add("1\t2\n0\t-3e9\r\n# x\n", 3)
	f.Fuzz(func(t *testing.T, text string, n int) {
		n = n & 15
		v, err := lines.ReadScores(strings.NewReader(text), n)
		if err != nil {
			return
		}
		for i, x := range v.All() {
			if i < 0 || i >= n || math.IsNaN(x) || math.IsInf(x, 0) {
				t.Errorf("%q: score %v of vertex %d", text, x, i)
			}
		}
	})
}
