package apps

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/apps/centrality"
	"github.com/hiveblas/hiveblas/apps/communities"
	"github.com/hiveblas/hiveblas/apps/components"
	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/nominate"
	"github.com/hiveblas/hiveblas/apps/order"
	"github.com/hiveblas/hiveblas/apps/paths"
	"github.com/hiveblas/hiveblas/apps/sets"
	"github.com/hiveblas/hiveblas/apps/triangles"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// coresNaively deletes vertices with fewer than k neighbours for each k from nothing.
func coresNaively(out [][]samples.Arc) []float64 {
	around := samples.Neighbours(out)
	core := make([]int, len(out))
	for k := 1; k <= len(out); k++ {
		in := make([]bool, len(out))
		for v := range in {
			in[v] = true
		}
		for again := true; again; {
			again = false
			for v := range in {
				d := 0
				for _, w := range around[v] {
					if in[w] {
						d++
					}
				}
				if in[v] && d < k {
					in[v], again = false, true
				}
			}
		}
		for v := range in {
			if in[v] {
				core[v] = k
			}
		}
	}
	most, inner := 0, 0
	for _, k := range core {
		most = max(most, k)
	}
	for _, k := range core {
		if k == most {
			inner++
		}
	}
	return append(samples.Floats(core...), float64(most), float64(inner))
}

// pathCounts returns the distances from all vertices to all, −1 without a path, and the number of
// shortest paths.
func pathCounts(out [][]samples.Arc) (d [][]int, paths [][]float64) {
	n := len(out)
	for s := range n {
		level := samples.Levels(out, s)
		ds, ps := make([]int, n), make([]float64, n)
		for v := range ds {
			ds[v] = -1
		}
		for v, l := range level {
			ds[v] = int(l)
		}
		ps[s] = 1
		for l := 0; l < n; l++ {
			for v := range n {
				for _, e := range out[v] {
					if ds[v] == l && ds[e.To] == l+1 {
						ps[e.To] += ps[v]
					}
				}
			}
		}
		d, paths = append(d, ds), append(paths, ps)
	}
	return d, paths
}

func betweennessNaively(out [][]samples.Arc) []float64 {
	d, paths := pathCounts(out)
	list := make([]float64, len(out))
	for v := range out {
		for s := range out {
			for t := range out {
				if s != v && t != v && s != t && d[s][v] >= 0 && d[v][t] >= 0 && d[s][v]+d[v][t] == d[s][t] {
					list[v] += paths[s][v] * paths[v][t] / paths[s][t]
				}
			}
		}
	}
	return list
}

func closenessNaively(out [][]samples.Arc) []float64 {
	n := len(out)
	d, _ := pathCounts(out)
	list := make([]float64, 4*n)
	for v := range out {
		r, sum, harmonic := 0.0, 0.0, 0.0
		for t := range out {
			if d[v][t] > 0 {
				r, sum, harmonic = r+1, sum+float64(d[v][t]), harmonic+1/float64(d[v][t])
			}
		}
		if r > 0 {
			list[v] = r / float64(n-1) * r / sum
		}
		list[n+v], list[2*n+v], list[3*n+v] = harmonic, r, sum
	}
	return list
}

func clusteringNaively(out [][]samples.Arc) []float64 {
	around := samples.Neighbours(out)
	n := len(out)
	list := make([]float64, 2*n)
	sum, closed, pairs := 0.0, 0.0, 0.0
	for v := range out {
		t := 0.0
		for i, u := range around[v] {
			for _, w := range around[v][:i] {
				if slices.Contains(around[u], w) {
					t++
				}
			}
		}
		d := float64(len(around[v]))
		if d > 1 {
			list[v] = t / (d * (d - 1) / 2)
			pairs += d * (d - 1) / 2
		}
		list[n+v] = t
		sum, closed = sum+list[v], closed+t
	}
	if n > 0 {
		sum /= float64(n)
	}
	if pairs > 0 {
		closed /= pairs
	}
	return append(list, sum, closed)
}

func propagateNaively(out [][]samples.Arc) []float64 {
	n := len(out)
	back := make([][]int, n)
	symmetric := true
	for v, arcs := range out {
		for _, e := range arcs {
			back[e.To] = append(back[e.To], v)
			symmetric = symmetric && slices.ContainsFunc(out[e.To], func(f samples.Arc) bool { return f.To == v })
		}
	}
	label := make([]int, n)
	for v := range label {
		label[v] = v
	}
	iterations, stable := 0, 0.0
	for iterations < 10 && stable == 0 {
		next := slices.Clone(label)
		for v := range n {
			count := make([]int, n)
			for _, e := range out[v] {
				count[label[e.To]]++
			}
			for _, u := range back[v] {
				if !symmetric {
					count[label[u]]++
				}
			}
			if len(count) > 0 && slices.Max(count) > 0 {
				next[v] = slices.Index(count, slices.Max(count))
			}
		}
		if slices.Equal(next, label) {
			stable = 1
		}
		label = next
		iterations++
	}
	return append(samples.Partitioned(label), float64(iterations), stable)
}

// checkIndependent checks that no two vertices of a set are neighbours, and that all others have a
// neighbour in it.
func checkIndependent(t rapid.TB, out [][]samples.Arc, got []float64) {
	for v, around := range samples.Neighbours(out) {
		inside := 0.0
		for _, w := range around {
			if got[w] == 1 {
				inside++
			}
		}
		if (got[v] == 1) != (inside == 0) {
			t.Fatalf("vertex %d: in the set %v, with %v neighbours in it: %v", v, got[v], inside, got)
		}
	}
}

// checkColours checks that neighbours differ, that each vertex has neighbours of all lesser
// colours, and the bound of the order.
func checkColours(order sets.ColourOrder) func(t rapid.TB, out [][]samples.Arc, got []float64) {
	return func(t rapid.TB, out [][]samples.Arc, got []float64) {
		n, most := len(out), -1.0
		for v, around := range samples.Neighbours(out) {
			met := map[float64]bool{}
			for _, w := range around {
				met[got[w]] = true
			}
			for c := 0.0; c <= got[v]; c++ {
				if met[c] != (c < got[v]) {
					t.Fatalf("vertex %d of colour %v: a neighbour of colour %v: %v", v, got[v], c, met[c])
				}
			}
			most = max(most, got[v])
		}
		if got[n] != most+1 {
			t.Fatalf("%v colours, want %v", got[n], most+1)
		}
		if core := coresNaively(out); order == sets.SmallestLast && most > core[n] {
			t.Fatalf("%v colours for a graph of degeneracy %v", most+1, core[n])
		}
	}
}

// someRestart is a restart of a graph of n vertices; most vertices have none.
func someRestart(n int) *matrix.Vector[float64] {
	r := matrix.NewVector[float64](n)
	for v := 0; v < n; v += 3 {
		_ = r.Set(v, float64(1+v%4))
	}
	return r
}

// walkNaively solves r = d·Mᵀr + (1−d)·restart by elimination, M the probabilities of a step.
func walkNaively(out [][]samples.Arc, weighted bool, d float64, restart []float64) []float64 {
	n := len(out)
	sum := 0.0
	for _, x := range restart {
		sum += x
	}
	a, b := mat.NewDense(max(n, 1), max(n, 1), nil), mat.NewVecDense(max(n, 1), nil)
	for v := range n {
		a.Set(v, v, 1)
		b.SetVec(v, (1-d)*restart[v]/sum)
	}
	for u, arcs := range out {
		total := 0.0
		for _, e := range arcs {
			if total++; weighted {
				total += e.Weight - 1
			}
		}
		for v := range n {
			if total == 0 {
				a.Set(v, u, a.At(v, u)-d*restart[v]/sum)
			}
		}
		for _, e := range arcs {
			w := 1.0
			if weighted {
				w = e.Weight
			}
			if total > 0 {
				a.Set(e.To, u, a.At(e.To, u)-d*w/total)
			}
		}
	}
	return solved(a, b, n)
}

func solved(a *mat.Dense, b *mat.VecDense, n int) []float64 {
	if n == 0 {
		return []float64{}
	}
	var x mat.VecDense
	if err := x.SolveVec(a, b); err != nil {
		panic(err)
	}
	return x.RawVector().Data
}

// katzNaively solves (I − αAᵀ)x = 1.
func katzNaively(out [][]samples.Arc) []float64 {
	n := len(out)
	in := make([]float64, n)
	for _, arcs := range out {
		for _, e := range arcs {
			in[e.To]++
		}
	}
	a, b := mat.NewDense(max(n, 1), max(n, 1), nil), mat.NewVecDense(max(n, 1), nil)
	for v := range n {
		a.Set(v, v, 1)
		b.SetVec(v, 1)
	}
	for u, arcs := range out {
		for _, e := range arcs {
			a.Set(e.To, u, a.At(e.To, u)-.85/slices.Max(in))
		}
	}
	x := solved(a, b, n)
	length := 0.0
	for _, y := range x {
		length = math.Hypot(length, y)
	}
	for v := range x {
		x[v] /= length
	}
	return x
}

// checkHITS checks the equations of hubs and authorities.
func checkHITS(t rapid.TB, out [][]samples.Arc, got []float64) {
	n := len(out)
	if got[2*n] > 1e-10 {
		return // has not converged
	}
	hubs, authorities := got[:n], got[n:2*n]
	h, a := make([]float64, n), make([]float64, n)
	for u, arcs := range out {
		for _, e := range arcs {
			h[u] += authorities[e.To]
			a[e.To] += hubs[u]
		}
	}
	for _, list := range [][]float64{h, a} {
		sum := 0.0
		for _, x := range list {
			sum += x
		}
		for v := range list {
			if sum > 0 {
				list[v] /= sum
			}
		}
	}
	samples.SameFigures(t, "hubs", hubs, h, 1e-7)
	samples.SameFigures(t, "authorities", authorities, a, 1e-7)
}

// checkEigenvector checks the equation of eigenvectors, and the eigenvalue of symmetric graphs.
func checkEigenvector(t rapid.TB, out [][]samples.Arc, got []float64) {
	n := len(out)
	if n == 0 || got[n] > 1e-10 {
		return // has not converged
	}
	x, y := got[:n], make([]float64, n)
	dense := mat.NewDense(n, n, nil)
	for u, arcs := range out {
		for _, e := range arcs {
			y[e.To] += x[u]
			dense.Set(u, e.To, 1)
		}
	}
	square, value := 0.0, 0.0
	for v := range x {
		square, value = square+x[v]*x[v], value+x[v]*y[v]
	}
	if math.Abs(square-1) > 1e-9 {
		t.Fatalf("the norm is %v", math.Sqrt(square))
	}
	for v := range x {
		if x[v] < 0 || math.Abs(value*x[v]-y[v]) > 1e-6 {
			t.Fatalf("vertex %d: %v times %v is not %v", v, value, x[v], y[v])
		}
	}
	if mat.Equal(dense, dense.T()) {
		var e mat.EigenSym
		symmetric := mat.NewSymDense(n, dense.RawMatrix().Data)
		if !e.Factorize(symmetric, false) || math.Abs(slices.Max(e.Values(nil))-value) > 1e-6 {
			t.Fatalf("the eigenvalue is %v, want the largest of %v", value, e.Values(nil))
		}
	}
}

// similarNaively compares sets, and sorts.
func similarNaively(out [][]samples.Arc, measure triangles.SimilarityMeasure, top int, unlinked bool) []float64 {
	n := len(out)
	linked := make([][]bool, n)
	for v := range linked {
		linked[v] = make([]bool, n)
		for _, e := range out[v] {
			linked[v][e.To] = true
		}
	}
	list := []float64{float64(n), float64(n)}
	for u := range n {
		scores := make([]float64, n)
		var order []int
		for v := range n {
			both, either := 0.0, 0.0
			for w := range n {
				if linked[u][w] && linked[v][w] {
					both++
				}
				if linked[u][w] || linked[v][w] {
					either++
				}
			}
			if u == v || both == 0 || unlinked && (linked[u][v] || linked[v][u]) {
				continue
			}
			x, y := float64(len(out[u])), float64(len(out[v]))
			scores[v] = map[triangles.SimilarityMeasure]float64{triangles.Jaccard: both / either, triangles.Overlap: both / min(x, y), triangles.Cosine: both / math.Sqrt(x*y)}[measure]
			order = append(order, v)
		}
		slices.SortStableFunc(order, func(v, w int) int { return cmp.Compare(scores[w], scores[v]) })
		order = order[:min(top, len(order))]
		slices.Sort(order)
		for _, v := range order {
			list = append(list, float64(u), float64(v), scores[v])
		}
	}
	return list
}

// checkForest compares with the weight of Prim's algorithm, and checks the edges.
func checkForest(sign float64) func(t rapid.TB, out [][]samples.Arc, got []float64) {
	return func(t rapid.TB, out [][]samples.Arc, got []float64) {
		n := len(out)
		weight := map[[2]int]float64{}
		for u, arcs := range out {
			for _, e := range arcs {
				for _, c := range [][2]int{{u, e.To}, {e.To, u}} {
					if w, ok := weight[c]; (!ok || sign*e.Weight < w) && u != e.To {
						weight[c] = sign * e.Weight
					}
				}
			}
		}
		total, edges, in := 0.0, 0, make([]bool, n)
		for start := range n {
			for in[start] = true; ; edges++ { // Prim; a start inside a tree adds nothing
				best, to := math.Inf(1), -1
				for c, w := range weight {
					if in[c[0]] && !in[c[1]] && w < best {
						best, to = w, c[1]
					}
				}
				if to < 0 {
					break
				}
				in[to], total = true, total+best
			}
		}
		samples.SameFigures(t, "weight, edges, trees", got[:3], []float64{sign * total, float64(edges), float64(n - edges)}, 0)
		forest, found := make([][]samples.Arc, n), map[[2]int]float64{}
		for e := range slices.Chunk(got[5:], 3) {
			found[[2]int{int(e[0]), int(e[1])}] = e[2]
		}
		for at, w := range found {
			u, v := at[0], at[1]
			if x, ok := weight[at]; !ok || sign*w != x || found[[2]int{v, u}] != w {
				t.Fatalf("the edge %d – %d has weight %v, want %v in both directions", u, v, w, sign*x)
			}
			forest[u] = append(forest[u], samples.Arc{To: v, Weight: w})
		}
		if parts := samples.Partitioned(labelsOf(samples.Union(forest))); parts[n] != got[2] {
			t.Fatalf("the forest has %v parts, want %v", parts[n], got[2])
		}
	}
}

func labelsOf(m map[int]float64) []int {
	list := make([]int, len(m))
	for v, l := range m {
		list[v] = int(l)
	}
	return list
}

// checkDiameter compares with all distances.
func checkDiameter(t rapid.TB, out [][]samples.Arc, got []float64) {
	both := make([][]samples.Arc, len(out))
	for v, around := range samples.Neighbours(out) {
		for _, w := range around {
			both[v] = append(both[v], samples.Arc{To: w, Weight: 1})
		}
	}
	d, _ := pathCounts(both)
	most := 0
	for _, row := range d {
		most = max(most, slices.Max(row))
	}
	if got[0] != float64(most) || got[1] != float64(most) {
		t.Fatalf("the diameter is %d, got %v", most, got)
	}
	if len(out) > 0 && d[int(got[2])][int(got[3])] != most || len(out) == 0 && got[2] != -1 {
		t.Fatalf("the diameter is %d, got %v", most, got)
	}
}

// checkOrder checks the levels and the order, or the cycle.
func checkOrder(t rapid.TB, out [][]samples.Arc, got []float64) {
	n := len(out)
	r := samples.Reaches(out)
	cyclic := false
	for u, arcs := range out {
		for _, e := range arcs {
			cyclic = cyclic || r[e.To][u]
		}
	}
	if cyclic != (got[0] < 0) {
		t.Fatalf("a graph with a cycle %v has depth %v", cyclic, got[0])
	}
	linked := func(u, v float64) bool {
		return slices.ContainsFunc(out[int(u)], func(e samples.Arc) bool { return float64(e.To) == v })
	}
	if cyclic {
		cycle, seen := got[1:], map[float64]bool{}
		for k, v := range cycle {
			if !linked(v, cycle[(k+1)%len(cycle)]) || seen[v] {
				t.Fatalf("%v is no cycle", cycle)
			}
			seen[v] = true
		}
		return
	}
	level, place := got[1:1+n], make([]int, n)
	for k, v := range got[1+n:] {
		place[int(v)] = k
	}
	for u := range out {
		longest := 0.0 // edges of the longest path to u
		for v := range out {
			if linked(float64(v), float64(u)) {
				longest = max(longest, level[v]+1)
				if place[v] >= place[u] {
					t.Fatalf("the edge from %d to %d leads backwards in %v", v, u, got[1+n:])
				}
			}
		}
		if level[u] != longest || longest >= got[0] {
			t.Fatalf("vertex %d has level %v of %v, want %v", u, level[u], got[0], longest)
		}
	}
}

// someSeeds and someContent are the seeds and the content of a graph of n vertices.
func someSeeds(n int) []int { return []int{n / 2, n / 3, n / 2} }

func someContent(n int) []float64 {
	list := make([]float64, n)
	for v := range list {
		list[v] = float64(v * 7 % 5)
	}
	return list
}

func nominateNaively(out [][]samples.Arc, context nominate.ContextScore) []float64 {
	n := len(out)
	if n == 0 {
		return []float64{}
	}
	seeds := someSeeds(n)[:2]
	if seeds[0] == seeds[1] {
		seeds = seeds[:1]
	}
	x, restart := make([]float64, n), make([]float64, n)
	linked := func(u, v int) bool { return slices.ContainsFunc(out[u], func(e samples.Arc) bool { return e.To == v }) }
	d, _ := pathCounts(out)
	for _, s := range seeds {
		restart[s] = 1
		for v := range n {
			switch context {
			case nominate.ContextDistance:
				if d[s][v] > 0 {
					x[v] = max(x[v], 1/float64(d[s][v]))
				}
			case nominate.ContextSeeds:
				if linked(s, v) {
					x[v]++
				}
			case nominate.ContextCommonNeighbours:
				for w := range n {
					if linked(s, w) && linked(v, w) {
						x[v]++
					}
				}
			}
		}
	}
	if context == nominate.ContextPageRank {
		x = walkNaively(out, false, .85, restart)
	}
	content := someContent(n)
	list := slices.Repeat([]float64{math.NaN()}, 3*n)
	scale := func(x []float64, v int) float64 {
		var others []float64
		for w := range n {
			if !slices.Contains(seeds, w) {
				others = append(others, x[w])
			}
		}
		if low, high := slices.Min(others), slices.Max(others); high-low > 1e-9*high {
			return (x[v] - low) / (high - low)
		}
		return 0
	}
	for v := range n {
		if !slices.Contains(seeds, v) {
			list[n+v], list[2*n+v] = scale(x, v), scale(content, v)
			list[v] = .7*list[n+v] + .3*list[2*n+v]
		}
	}
	return list
}

// Settings outside their range are errors that name the argument and what is wanted.
func TestStandardErrors(t *testing.T) {
	t.Parallel()
	g := samples.Build[float64](t, samples.Clique(4, false), matrix.CSR)
	negative := samples.Build[float64](t, samples.Sample{M: 2, N: 2, Edges: []samples.Edge{{From: 0, To: 1, Weight: 3}, {From: 1, To: 0, Weight: -2}}}, matrix.CSR)
	short, minus, none := matrix.NewVector[float64](3), matrix.NewVector[float64](4), matrix.NewVector[float64](4)
	sure.Do(minus.Set(2, -1))
	unknown := sure.Get(matrix.FromTuples(2, 2, []int{1}, []int{0}, []float64{math.NaN()}, nil))
	loop := sure.Get(matrix.FromTuples(3, 3, []int{0, 1}, []int{1, 1}, []float64{1, 1}, nil))
	many := samples.Build[float64](t, samples.Path(40).Both(), matrix.CSR)
	for _, c := range []struct {
		reason, want string
		err          error
	}{
		{"a negative batch", "Betweenness: the batch is -1", samples.ErrorOf(centrality.Betweenness(g, centrality.BetweennessOptions{Batch: -1}))},
		{"a source that is no vertex", "source", samples.ErrorOf(centrality.Betweenness(g, centrality.BetweennessOptions{Sources: []int{4}}))},
		{"samples and a list", "Betweenness: the number of samples is 1", samples.ErrorOf(centrality.Betweenness(g, centrality.BetweennessOptions{Sources: []int{0}, Samples: 1}))},
		{"negative samples", "Closeness: the number of samples is -1", samples.ErrorOf(centrality.Closeness(g, centrality.ClosenessOptions{Samples: -1}))},
		{"a batch", "Closeness: the batch is -3", samples.ErrorOf(centrality.Closeness(g, centrality.ClosenessOptions{Batch: -3}))},
		{"negative iterations", "LabelPropagation: the number of iterations is -1", samples.ErrorOf(communities.LabelPropagation(g, communities.LabelPropagationOptions{MaxIterations: -1}))},
		{"an order", "Colouring: the order is 3", samples.ErrorOf(sets.Colouring(g, sets.ColouringOptions{Order: 3}))},
		{"no tolerance", "HITS: the tolerance is -1", samples.ErrorOf(centrality.HITS(g, centrality.CentralityOptions{Tolerance: -1}))},
		{"iterations", "EigenvectorCentrality: the number of iterations is -1", samples.ErrorOf(centrality.EigenvectorCentrality(g, centrality.CentralityOptions{MaxIterations: -1}))},
		{"an attenuation of another workflow", "HITS: the attenuation is 0.1", samples.ErrorOf(centrality.HITS(g, centrality.CentralityOptions{Attenuation: .1}))},
		{"an attenuation that diverges", "KatzCentrality: the attenuation is 9, want below", samples.ErrorOf(centrality.KatzCentrality(g, centrality.CentralityOptions{Attenuation: 9}))},
		{"a measure", "Similarity: the measure is -1", samples.ErrorOf(triangles.Similarity(g, triangles.SimilarityOptions{Measure: -1}))},
		{"a negative top", "Similarity: the number of similar rows is -2", samples.ErrorOf(triangles.Similarity(g, triangles.SimilarityOptions{Top: -2}))},
		{"links of a rectangle", "Similarity: the graph is 2×3", samples.ErrorOf(triangles.Similarity(matrix.New[float64](2, 3), triangles.SimilarityOptions{Unlinked: true}))},
		{"NaN", "MinimumSpanningForest: the edge from 1 to 0 has weight NaN", samples.ErrorOf(components.MinimumSpanningForest(unknown))},
		{"a negative weight", "WeightedPageRank: the edge from 1 to 0 has weight -2", samples.ErrorOf(centrality.WeightedPageRank(negative))},
		{"a restart of another size", "PageRank: the restart is 3 elements", samples.ErrorOf(centrality.PageRank(g, centrality.PageRankOptions{Restart: short}))},
		{"a negative restart", "PageRank: the restart of vertex 2 is -1", samples.ErrorOf(centrality.PageRank(g, centrality.PageRankOptions{Restart: minus}))},
		{"an empty restart", "PageRank: the sum of the restart is 0", samples.ErrorOf(centrality.PageRank(g, centrality.PageRankOptions{Restart: none}))},
		{"searches", "Diameter: the number of searches is -1", samples.ErrorOf(paths.Diameter(g, paths.DiameterOptions{Searches: -1}))},
		{"a loop", "TopologicalOrder: the graph has a cycle, 1 → 1", samples.ErrorOf(order.TopologicalOrder(loop))},
		{"a long cycle", "… (40 vertices)", &order.CycleError{App: "TopologicalOrder", Cycle: make([]int, 40)}},
		{"no seed", "NominateVertices: the list of seeds is empty", samples.ErrorOf(nominate.NominateVertices(g, nil))},
		{"a seed that is no vertex", "seed", samples.ErrorOf(nominate.NominateVertices(g, []int{4}))},
		{"a weight", "NominateVertices: the weight is 2", samples.ErrorOf(nominate.NominateVertices(g, []int{0}, nominate.NominateOptions{Weight: 2}))},
		{"a weight without content", "NominateVertices: the weight is 0.5, want 0 without content", samples.ErrorOf(nominate.NominateVertices(g, []int{0}, nominate.NominateOptions{Weight: .5}))},
		{"content of another size", "NominateVertices: the content is 3 elements", samples.ErrorOf(nominate.NominateVertices(g, []int{0}, nominate.NominateOptions{Content: short}))},
		{"a context", "NominateVertices: the context is ContextScore(9)", samples.ErrorOf(nominate.NominateVertices(g, []int{0}, nominate.NominateOptions{Context: 9}))},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%s: the error is %v, want %q", c.reason, c.err, c.want)
		}
	}
	d, err := paths.Diameter(many, paths.DiameterOptions{Searches: 1})
	if err != nil || d.Lower > 39 || d.Upper < 39 || d.Searches != 1 {
		t.Errorf("bounds by one search: %+v, %v", d, err)
	}
}

// Samples are an estimate: with all vertices the exact result, and near it with most.
func TestStandardSamples(t *testing.T) {
	t.Parallel()
	g := samples.Build[float64](t, samples.Random(300, 2000, 9, true), matrix.CSR)
	exact, err := centrality.Betweenness(g, centrality.BetweennessOptions{})
	if err != nil {
		t.Fatal(err)
	}
	near, err := centrality.Closeness(g)
	if err != nil {
		t.Fatal(err)
	}
	for _, samples := range []int{200, 300, 1000} {
		some, err := centrality.Betweenness(g, centrality.BetweennessOptions{Samples: samples, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		few, err := centrality.Closeness(g, centrality.ClosenessOptions{Samples: samples, Seed: 3})
		if err != nil {
			t.Fatal(err)
		}
		if want := min(samples, 300); some.Sources != want || few.Targets != want {
			t.Errorf("%d samples: %d sources, %d targets", samples, some.Sources, few.Targets)
		}
		off, total, apart := 0.0, 0.0, 0.0
		for v, x := range exact.Centrality.All() {
			y, _ := some.Centrality.At(v)
			off, total = off+math.Abs(x-y), total+x
			c, _ := near.Closeness.At(v)
			e, _ := few.Closeness.At(v)
			apart = max(apart, math.Abs(c-e))
		}
		if limit := map[int]float64{200: .2}[samples]; off > (limit+1e-9)*total || apart > limit/4+1e-9 {
			t.Errorf("%d samples: betweenness is off by %v, closeness by %v", samples, off/total, apart)
		}
	}
}
