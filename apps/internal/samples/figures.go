package samples

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
	"pgregory.net/rapid"
)

func GridOf(w, h int) Sample {
	s := Blank(w * h)
	for y := range h {
		for x := range w {
			if v := y*w + x; x+1 < w {
				s.Edges = append(s.Edges, Edge{v, v + 1, 1})
			}
			if v := y*w + x; y+1 < h {
				s.Edges = append(s.Edges, Edge{v, v + w, 1})
			}
		}
	}
	return s.Both()
}

// Levels is the oracle: a search with a queue.
func Levels(out [][]Arc, source int) map[int]float64 {
	level := map[int]float64{source: 0}
	for q := []int{source}; len(q) > 0; q = q[1:] {
		for _, e := range out[q[0]] {
			if _, seen := level[e.To]; !seen {
				level[e.To] = level[q[0]] + 1
				q = append(q, e.To)
			}
		}
	}
	return level
}

// Union is the oracle: sets of vertices, merged edge by edge; it returns the
// least vertex of each one's set.
func Union(out [][]Arc) map[int]float64 {
	up := make([]int, len(out))
	for v := range up {
		up[v] = v
	}
	find := func(v int) int {
		for up[v] != v {
			up[v] = up[up[v]]
			v = up[v]
		}
		return v
	}
	for u, arcs := range out {
		for _, e := range arcs {
			a, b := find(u), find(e.To)
			up[max(a, b)] = min(a, b)
		}
	}
	least := map[int]float64{}
	for v := range up {
		least[v] = float64(find(v))
	}
	return least
}

func VectorOf[T comparable](t testing.TB, list []T) *matrix.Vector[T] {
	t.Helper()
	return Must[*matrix.Vector[T]](t)(matrix.VectorOf(list))
}

// StrongGraphs are graphs of thousands of vertices; some graph takes each step.
func StrongGraphs() map[string]Sample {
	r := rand.New(rand.NewPCG(5, 11))
	renamed := func(s Sample) Sample {
		p := r.Perm(s.N)
		for k, e := range s.Edges {
			s.Edges[k].From, s.Edges[k].To = p[e.From], p[e.To]
		}
		return s
	}
	draw := func(n, count int) Sample {
		s := Blank(n)
		for range count {
			s.Edges = append(s.Edges, Edge{r.IntN(n), r.IntN(n), 1})
		}
		return s
	}
	cycle := func(n int) Sample {
		s := Path(n)
		s.Edges = append(s.Edges, Edge{n - 1, 0, 1})
		return s
	}
	chain := func(parts, size int) Sample { // cycles; an edge leads from each to the next
		s := Blank(0)
		for k := range parts {
			s = s.Beside(cycle(size))
			if k > 0 {
				s.Edges = append(s.Edges, Edge{k*size - 1, k * size, 1})
			}
		}
		return s
	}
	dense := Blank(0)
	for range 60 {
		dense = dense.Beside(draw(50, 300))
	}
	for range 200 {
		u, v := r.IntN(dense.N), r.IntN(dense.N)
		dense.Edges = append(dense.Edges, Edge{min(u, v), max(u, v), 1})
	}
	rmat := Blank(1 << 12)
	for range 1 << 15 {
		from, to := 0, 0
		for range 12 {
			x := r.Float64()
			from, to = 2*from, 2*to
			if x >= .76 {
				from++
			}
			if x >= .57 && x < .76 || x >= .95 {
				to++
			}
		}
		rmat.Edges = append(rmat.Edges, Edge{from, to, 1})
	}
	loops := draw(2000, 1500)
	for v := range loops.N {
		if v%3 > 0 {
			loops.Edges = append(loops.Edges, Edge{v, v, 1})
		}
	}
	return map[string]Sample{
		"empty":                          Blank(0),
		"no edges":                       Blank(3000),
		"random, many components":        draw(3000, 3300),
		"random, a giant component":      draw(3000, 20000),
		"R-MAT":                          rmat,
		"a long cycle":                   cycle(5000),
		"a long cycle in random order":   renamed(cycle(5000)),
		"a long path":                    Path(5000),
		"a long path in random order":    renamed(Path(5000)),
		"a chain of components":          chain(500, 5),
		"a chain in random order":        renamed(chain(500, 5)),
		"self-loops":                     loops,
		"one component":                  cycle(3000).Beside(Blank(0)).Both(),
		"many components with edges":     dense,
		"many components, random order":  renamed(dense),
		"a hub beside a giant component": draw(2000, 9000).Beside(Star(3000)),
	}
}

// SameSums reports whether two vectors agree but for the order of sums.
func SameSums(a, b *matrix.Vector[float64], tolerance float64) bool {
	x, y := sure.Get(a.Dense(0)), sure.Get(b.Dense(0))
	return len(x) == len(y) && !slices.ContainsFunc(x, math.IsNaN) && a.NVals() == b.NVals() && func() bool {
		for i := range x {
			if math.Abs(x[i]-y[i]) > tolerance*max(1, math.Abs(y[i])) {
				return false
			}
		}
		return true
	}()
}

// Flat appends a vector as numbers.
func Flat[T semiring.Number](list []float64, v *matrix.Vector[T]) []float64 {
	at := len(list)
	for range v.Size() {
		list = append(list, math.NaN())
	}
	for i, x := range v.All() {
		list[at+i] = float64(x)
	}
	return list
}

// Reaches is the reflexive transitive closure (Warshall).
func Reaches(out [][]Arc) [][]bool {
	r := make([][]bool, len(out))
	for v := range r {
		r[v] = make([]bool, len(out))
		r[v][v] = true
		for _, e := range out[v] {
			r[v][e.To] = true
		}
	}
	for k := range r {
		for u := range r {
			for v := range r {
				r[u][v] = r[u][v] || r[u][k] && r[k][v]
			}
		}
	}
	return r
}

// Partitioned is a partition as figures: labels, number of parts, size of the largest.
func Partitioned(label []int) []float64 {
	size, largest := map[int]int{}, 0
	for _, l := range label {
		size[l]++
		largest = max(largest, size[l])
	}
	return append(Floats(label...), float64(len(size)), float64(largest))
}

func ComponentFigures(label *matrix.Vector[int32], count int, largest int64) []float64 {
	return append(Flat(nil, label), float64(count), float64(largest))
}

func StrongNaively(out [][]Arc) []float64 {
	r := Reaches(out)
	label := make([]int, len(out))
	for v := range label {
		label[v] = slices.IndexFunc(r[v], func(bool) bool { return true })
		for u := range r {
			if r[u][v] && r[v][u] {
				label[v] = u
				break
			}
		}
	}
	return Partitioned(label)
}

// MatchNaively is the size of a matching that single augmenting paths enlarge.
func MatchNaively(out [][]Arc) []float64 {
	row := map[int]int{}
	size := 0.0
	for r := range out {
		seen := map[int]bool{}
		var try func(r int) bool
		try = func(r int) bool {
			for _, e := range out[r] {
				if seen[e.To] {
					continue
				}
				seen[e.To] = true
				if s, ok := row[e.To]; !ok || try(s) {
					row[e.To] = r
					return true
				}
			}
			return false
		}
		if try(r) {
			size++
		}
	}
	return []float64{size}
}

// SameFigures compares lists of numbers; sums may have another order.
func SameFigures(t rapid.TB, what string, got, want []float64, loose float64) {
	t.Helper()
	if loose == 0 {
		loose = 1e-9
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d figures, want %d", what, len(got), len(want))
	}
	for i := range got {
		if !(math.Abs(got[i]-want[i]) <= loose*max(1, math.Abs(want[i])) || math.IsNaN(got[i]) && math.IsNaN(want[i])) {
			t.Fatalf("%s: figure %d is %v, want %v: got %v, want %v", what, i, got[i], want[i], got, want)
		}
	}
}

// Joined tells for each pair u ≠ v whether an edge joins them, in either
// direction.
func (s Sample) Joined() [][]bool {
	j := make([][]bool, s.N)
	for v := range j {
		j[v] = make([]bool, s.N)
	}
	for _, e := range s.Edges {
		if e.From != e.To {
			j[e.From][e.To], j[e.To][e.From] = true, true
		}
	}
	return j
}

// AllTriples is the oracle of small graphs: it tests every u < v < w.
func AllTriples(joined [][]bool) int64 {
	count := int64(0)
	for u := range joined {
		for v := range u {
			for w := range v {
				if joined[u][v] && joined[v][w] && joined[w][u] {
					count++
				}
			}
		}
	}
	return count
}

// Neighbours returns for each vertex the ascending list of those that an edge
// joins it with.
func Neighbours(out [][]Arc) [][]int {
	with := make([][]int, len(out))
	for u, arcs := range out {
		for _, e := range arcs {
			if e.To != u {
				with[u], with[e.To] = append(with[u], e.To), append(with[e.To], u)
			}
		}
	}
	for v := range with {
		slices.Sort(with[v])
		with[v] = slices.Compact(with[v])
	}
	return with
}
