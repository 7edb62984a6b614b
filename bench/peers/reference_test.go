package peers

import (
	"math"
	"slices"

	"github.com/hiveblas/hiveblas/bench/gen"
)

// dense is a matrix in its plainest form: has marks the entries, val holds their values.
type dense struct {
	nrows, ncols int
	has          [][]bool
	val          [][]float64
}

func newDense(nrows, ncols int) *dense {
	d := &dense{nrows: nrows, ncols: ncols, has: make([][]bool, nrows), val: make([][]float64, nrows)}
	for i := range nrows {
		d.has[i], d.val[i] = make([]bool, ncols), make([]float64, ncols)
	}
	return d
}

func denseOf(g *gen.Graph, val []float64) *dense {
	d := newDense(g.NRows, g.NCols)
	for i := range g.NRows {
		for p := g.Ptr[i]; p < g.Ptr[i+1]; p++ {
			v := 1.0
			if val != nil {
				v = val[p]
			}
			d.set(i, int(g.Idx[p]), v)
		}
	}
	return d
}

func (d *dense) set(i, j int, v float64) { d.has[i][j], d.val[i][j] = true, v }

// each calls f for every entry.
func (d *dense) each(f func(i, j int, v float64)) {
	for i := range d.nrows {
		for j := range d.ncols {
			if d.has[i][j] {
				f(i, j, d.val[i][j])
			}
		}
	}
}

// where returns the entries that keep accepts, their values changed by to (nil: unchanged).
func (d *dense) where(keep func(i, j int, v float64) bool, to func(v float64) float64) figures {
	c := newDense(d.nrows, d.ncols)
	d.each(func(i, j int, v float64) {
		if keep == nil || keep(i, j, v) {
			if to != nil {
				v = to(v)
			}
			c.set(i, j, v)
		}
	})
	return c.figures()
}

// figures is the expected report of a run. A negative nvals is not compared.
type figures struct{ check, nvals float64 }

func (d *dense) figures() figures {
	var f figures
	d.each(func(i, j int, v float64) {
		f.check += v * float64(1+i%7) * float64(1+j%5)
		f.nvals++
	})
	return f
}

// vectorFigures takes NaN for no entry.
func vectorFigures(v []float64) figures {
	var f figures
	for i, x := range v {
		if !math.IsNaN(x) {
			f.check += x * float64(1+i%7)
			f.nvals++
		}
	}
	return f
}

// product is C = A·B over plus_times.
func product(a, b *dense) *dense {
	c := newDense(a.nrows, b.ncols)
	a.each(func(i, k int, v float64) {
		for j := range b.ncols {
			if b.has[k][j] {
				c.set(i, j, c.val[i][j]+v*b.val[k][j])
			}
		}
	})
	return c
}

func (d *dense) transpose() *dense {
	c := newDense(d.ncols, d.nrows)
	d.each(func(i, j int, v float64) { c.set(j, i, v) })
	return c
}

func (d *dense) pattern() *dense {
	c := newDense(d.nrows, d.ncols)
	d.each(func(i, j int, _ float64) { c.set(i, j, 1) })
	return c
}

// gather is w(i) = ⊕ over the entries of row i of term(j, v).
func (d *dense) gather(add func(a, b float64) float64, term func(j int, v float64) float64) []float64 {
	w := slices.Repeat([]float64{math.NaN()}, d.nrows)
	d.each(func(i, j int, v float64) {
		if t := term(j, v); math.IsNaN(w[i]) {
			w[i] = t
		} else {
			w[i] = add(w[i], t)
		}
	})
	return w
}

func plus(a, b float64) float64 { return a + b }

// push is w = f·A over min_plus for the shared frontier, outside the shared mask when masked.
func (d *dense) push(percent int, masked bool) figures {
	index, value := Frontier(d.nrows, percent)
	mask := map[int32]bool{}
	if masked {
		for _, i := range HalfMask(d.ncols) {
			mask[i] = true
		}
	}
	w := slices.Repeat([]float64{math.NaN()}, d.ncols)
	for k, i := range index {
		for j := range d.ncols {
			if d.has[i][j] && !mask[int32(j)] {
				if t := value[k] + d.val[i][j]; math.IsNaN(w[j]) || t < w[j] {
					w[j] = t
				}
			}
		}
	}
	return vectorFigures(w)
}

// triangles counts i < j < k that are all joined.
func (d *dense) triangles() float64 {
	var count float64
	for i := range d.nrows {
		for j := i + 1; j < d.nrows; j++ {
			if !d.has[i][j] {
				continue
			}
			for k := j + 1; k < d.nrows; k++ {
				if d.has[i][k] && d.has[j][k] {
					count++
				}
			}
		}
	}
	return count
}

// distances relaxes all edges until nothing changes (Bellman, Ford); NaN where there is no path.
func (d *dense) distances(source int, weight func(v float64) float64) []float64 {
	w := slices.Repeat([]float64{math.NaN()}, d.nrows)
	w[source] = 0
	for changed := true; changed; {
		changed = false
		d.each(func(i, j int, v float64) {
			if t := w[i] + weight(v); t < w[j] || !math.IsNaN(t) && math.IsNaN(w[j]) {
				w[j], changed = t, true
			}
		})
	}
	return w
}

// labels gives every vertex the least vertex number of its component.
func (d *dense) labels() []float64 {
	w := make([]float64, d.nrows)
	for i := range w {
		w[i] = float64(i)
	}
	for changed := true; changed; {
		changed = false
		d.each(func(i, j int, _ float64) {
			if w[j] < w[i] {
				w[i], changed = w[j], true
			}
		})
	}
	return w
}

// pageRank follows the definition: rank(j) = (1-d)/n + d·(held by sinks)/n + d·Σ rank(i)/degree(i).
func (d *dense) pageRank(damping, tolerance float64, most int) (rank []float64, iterations int) {
	n := float64(d.nrows)
	degree := make([]float64, d.nrows)
	d.each(func(i, _ int, _ float64) { degree[i]++ })
	rank = slices.Repeat([]float64{1 / n}, d.nrows)
	for change := math.Inf(1); iterations < most && change > tolerance; iterations++ {
		next := make([]float64, d.nrows)
		var held float64
		for i, r := range rank {
			if degree[i] == 0 {
				held += r
			}
		}
		d.each(func(i, j int, _ float64) { next[j] += damping * rank[i] / degree[i] })
		change = 0
		for j := range next {
			next[j] += (1-damping)/n + damping*held/n
			change += math.Abs(next[j] - rank[j])
		}
		rank = next
	}
	return rank, iterations
}

// propagate gives every vertex the label that most of its neighbours have, the least of several,
// at most so many times.
func (d *dense) propagate(most int) []float64 {
	label := make([]float64, d.nrows)
	for i := range label {
		label[i] = float64(i)
	}
	for range most {
		count := make([]map[float64]int, d.nrows)
		for i := range count {
			count[i] = map[float64]int{}
		}
		d.each(func(i, j int, _ float64) { count[i][label[j]]++ })
		next := slices.Clone(label)
		for i, c := range count {
			best := 0
			for l, n := range c {
				if n > best || n == best && l < next[i] {
					best, next[i] = n, l
				}
			}
		}
		label = next
	}
	return label
}

// katz is x = 1 + α·Aᵀx of Euclidean norm 1, α being 0.85 over the greatest in-degree.
func (d *dense) katz(tolerance float64) []float64 {
	in, most := make([]float64, d.ncols), 1.0
	d.each(func(_, j int, _ float64) {
		in[j]++
		most = max(most, in[j])
	})
	x := slices.Repeat([]float64{1}, d.nrows)
	for change := math.Inf(1); change > tolerance; {
		next := slices.Repeat([]float64{1}, d.nrows)
		d.each(func(i, j int, _ float64) { next[j] += .85 / most * x[i] })
		change = 0
		for i := range x {
			change += math.Abs(next[i] - x[i])
		}
		x = next
	}
	length := 0.0
	for _, v := range x {
		length += v * v
	}
	for i := range x {
		x[i] /= math.Sqrt(length)
	}
	return x
}

// assignment is the least sum of an entry in each row and column of a square
// matrix, no entry being 0: one row after the other is let in, along a path of
// least reduced costs.
func (d *dense) assignment() (total float64) {
	n := d.nrows
	u, v, row := make([]float64, n), make([]float64, n+1), make([]int, n+1)
	for j := range row {
		row[j] = -1
	}
	for i := range n {
		row[n] = i // the path begins at a column beyond
		dist, from, done := make([]float64, n), make([]int, n), make([]bool, n+1)
		for j := range dist {
			dist[j] = math.Inf(1)
		}
		at := n
		for row[at] >= 0 {
			done[at] = true
			next := -1
			for j := range n {
				if done[j] {
					continue
				}
				if c := d.val[row[at]][j] - u[row[at]] - v[j]; c < dist[j] {
					dist[j], from[j] = c, at
				}
				if next < 0 || dist[j] < dist[next] {
					next = j
				}
			}
			least := dist[next]
			for j := range done {
				switch {
				case done[j]:
					u[row[j]] += least
					v[j] -= least
				case j < n:
					dist[j] -= least
				}
			}
			at = next
		}
		for at != n {
			row[at] = row[from[at]]
			at = from[at]
		}
	}
	for j, i := range row[:n] {
		total += d.val[i][j]
	}
	return total
}
