package matching

import (
	"cmp"
	"slices"

	"github.com/hiveblas/hiveblas/internal/splitmix"
)

const (
	// enoughMarks is the number of marks from which a pair of vertices is matched: r of Yartseva
	// and Grossglauser.
	enoughMarks = 2
	// spreadPart bounds the marks that one pair may spread: one in spreadPart of what is left.
	spreadPart = 16
	// resumeChoices bounds the vertices of a colour that resume compares.
	resumeChoices = 32
)

// Grow matches vertices by percolation from seeds (ExpandWhenStuck: Kazemi, Hassani, Grossglauser,
// "Growing a graph matching from a handful of seeds", PVLDB 8(10), 2015, after Yartseva,
// Grossglauser, "On the performance of percolation graph matching", COSN 2013). A matched pair
// marks all pairs of its neighbours once, along edges of one direction. The pair with the most
// marks, two or more, and the least difference of degrees is matched next. Where no pair has two,
// all marked pairs of unmatched vertices mark the pairs of their neighbours too.
//
// As a matrix, the marks that pairs P spread are A·P·Bᵀ. Grow counts marks in a table, because each
// pair depends on the marks of the pair before. classA and classB are the classes of vertices, −1
// for vertices that may not be matched; only vertices of one class are.
//
// It returns pairs with the seeds first. It takes the time of the marks, the sum over the matched
// pairs of the products of their degrees, and no more than limit of them.
func (p *Pair) Grow(seeds [][2]int32, classA, classB []int32, rounds []Colours, limit int64) (pairs [][2]int32, work int64) {
	g := &growth{Pair: p, classA: classA, classB: classB, rounds: rounds, left: limit, matchA: make([]bool, p.N), matchB: make([]bool, p.N)}
	g.marks.resize(1 << 10)
	for _, s := range seeds {
		g.match(s[0], s[1])
	}
	for _, s := range seeds {
		g.spread(s[0], s[1])
	}
	g.percolate()
	for k := len(rounds) - 1; k >= 0; k-- {
		g.resume(rounds[k])
	}
	return g.pairs, limit - g.left
}

// percolate matches the pairs with enough marks until nothing spreads.
func (g *growth) percolate() {
	for {
		for {
			i, j, ok := g.next()
			if !ok {
				break
			}
			g.take(i, j)
		}
		if g.left <= 0 || !g.expand() {
			return
		}
	}
}

// take matches a pair, which then spreads its marks.
func (g *growth) take(i, j int32) {
	g.match(i, j)
	if g.ended() {
		g.left = 0
	}
	if g.left > 0 && g.marks.use(i, j) {
		g.spread(i, j)
	}
}

// resume matches one pair of each colour, rare colours first, and lets it percolate, as long as
// vertices of the colour are left in both graphs. Among them it takes those with most marks.
func (g *growth) resume(c Colours) {
	type group struct{ a, b []int32 }
	groups := map[int32]*group{}
	var list []*group
	for v, x := range c.A {
		if !g.matchA[v] && g.classA[v] >= 0 {
			if groups[x] == nil {
				groups[x] = &group{}
				list = append(list, groups[x])
			}
			groups[x].a = append(groups[x].a, int32(v))
		}
	}
	for w, x := range c.B {
		if !g.matchB[w] && g.classB[w] >= 0 && groups[x] != nil {
			groups[x].b = append(groups[x].b, int32(w))
		}
	}
	slices.SortStableFunc(list, func(x, y *group) int { return cmp.Compare(len(x.a)+len(x.b), len(y.a)+len(y.b)) })
	for _, x := range list {
		if len(x.a) != len(x.b) {
			continue
		}
		for _, i := range x.a {
			if g.left <= 0 {
				return
			}
			best, most := int32(-1), int32(-1)
			for _, j := range x.b[:min(len(x.b), resumeChoices)] {
				if n := g.marks.at(keyOf(i, j)).count; !g.matchB[j] && n > most {
					best, most = j, n
				}
			}
			if g.matchA[i] || best < 0 {
				continue
			}
			g.take(i, best)
			g.percolate()
		}
	}
}

// Colours are colours of the vertices of A and of B after a round of refinement.
type Colours struct{ A, B []int32 }

// growth is the state of Grow.
type growth struct {
	*Pair
	classA, classB []int32
	rounds         []Colours
	matchA, matchB []bool
	pairs          [][2]int32
	marks          table
	heaps          [][]candidate // by marks
	left           int64
}

// A candidate is a pair of vertices that may be matched, by the difference of its degrees.
type candidate struct{ gap, i, j int32 }

func (c candidate) less(d candidate) bool {
	return cmp.Or(cmp.Compare(c.gap, d.gap), cmp.Compare(c.i, d.i), cmp.Compare(c.j, d.j)) < 0
}

func (g *growth) match(i, j int32) {
	g.matchA[i], g.matchB[j] = true, true
	g.pairs = append(g.pairs, [2]int32{i, j})
}

// spread marks the pairs of neighbours of a pair, unless there are too many.
func (g *growth) spread(i, j int32) {
	for side := range g.A {
		g.left -= 4
		if int64(g.A[side].degree(i))*int64(g.B[side].degree(j)) > g.left/spreadPart {
			continue
		}
		us, _ := g.A[side].row(i)
		ws, _ := g.B[side].row(j)
		for _, u := range us {
			if g.matchA[u] || g.classA[u] < 0 {
				continue
			}
			g.left -= int64(len(ws))
			for _, w := range ws {
				if g.matchB[w] || g.classA[u] != g.classB[w] {
					continue
				}
				if n := g.marks.add(u, w); n >= enoughMarks {
					g.push(n, u, w)
				}
			}
		}
	}
}

// push makes a pair a candidate of n marks. Its entries of fewer marks stay behind.
func (g *growth) push(n, i, j int32) {
	for int(n) >= len(g.heaps) {
		g.heaps = append(g.heaps, nil)
	}
	h := append(g.heaps[n], candidate{g.gap(i, j), i, j})
	for k := len(h) - 1; k > 0 && h[k].less(h[(k-1)/2]); k = (k - 1) / 2 {
		h[k], h[(k-1)/2] = h[(k-1)/2], h[k]
	}
	g.heaps[n] = h
}

// gap is how much two vertices differ: in the rounds that tell them apart, then in degree.
func (g *growth) gap(i, j int32) int32 {
	apart := int32(len(g.rounds))
	for k := 0; k < len(g.rounds) && g.rounds[k].A[i] == g.rounds[k].B[j]; k++ {
		apart--
	}
	var a, b int
	for side := range g.A {
		a += g.A[side].degree(i)
		b += g.B[side].degree(j)
	}
	return apart<<24 + int32(min(max(a-b, b-a), 1<<24-1))
}

// next takes the candidate of the most marks.
func (g *growth) next() (i, j int32, ok bool) {
	for n := len(g.heaps) - 1; n >= enoughMarks; n-- {
		for len(g.heaps[n]) > 0 {
			h := g.heaps[n]
			c, last := h[0], len(h)-1
			h[0], h = h[last], h[:last]
			for k := 0; ; {
				child := 2*k + 1
				if child >= last {
					break
				}
				if child+1 < last && h[child+1].less(h[child]) {
					child++
				}
				if !h[child].less(h[k]) {
					break
				}
				h[k], h[child] = h[child], h[k]
				k = child
			}
			g.heaps[n] = h
			if !g.matchA[c.i] && !g.matchB[c.j] {
				return c.i, c.j, true
			}
		}
		g.heaps = g.heaps[:n]
	}
	return 0, 0, false
}

// expand lets the marked pairs of unmatched vertices mark the pairs of their neighbours, pairs of
// low degree first. It reports whether there was one that had not.
func (g *growth) expand() bool {
	var list []candidate
	for k := range g.marks.slots {
		m := &g.marks.slots[k]
		i, j := int32(m.key>>32), int32(uint32(m.key))
		if m.count > 0 && !m.used && !g.matchA[i] && !g.matchB[j] {
			m.used = true
			weight := min(int64(g.A[0].degree(i))*int64(g.B[0].degree(j)), 1<<31-1)
			list = append(list, candidate{int32(weight), i, j})
		}
	}
	slices.SortFunc(list, func(x, y candidate) int {
		return cmp.Or(cmp.Compare(x.gap, y.gap), cmp.Compare(x.i, y.i), cmp.Compare(x.j, y.j))
	})
	for _, c := range list {
		g.spread(c.i, c.j)
	}
	return len(list) > 0
}

// A table counts the marks of pairs: open addresses, with linear probing.
type table struct {
	slots []mark
	taken int
}

// A mark is an entry of a table, free if count is 0.
type mark struct {
	key   uint64
	count int32
	used  bool // the pair has spread its marks
}

// at returns the slot of a pair, free or taken.
func (t *table) at(key uint64) *mark {
	mask := uint64(len(t.slots) - 1)
	k := splitmix.Mix(key) & mask
	for t.slots[k].count > 0 && t.slots[k].key != key {
		k = (k + 1) & mask
	}
	return &t.slots[k]
}

func keyOf(i, j int32) uint64 { return uint64(i)<<32 | uint64(j) }

// add marks a pair and returns its marks.
func (t *table) add(i, j int32) int32 {
	m := t.at(keyOf(i, j))
	if m.count == 0 {
		if t.taken++; 2*t.taken > len(t.slots) {
			t.resize(2 * len(t.slots))
			m = t.at(keyOf(i, j))
		}
		m.key = keyOf(i, j)
	}
	m.count++
	return m.count
}

// use reports whether a marked pair has not spread its marks yet, and notes that it has.
func (t *table) use(i, j int32) bool {
	m := t.at(keyOf(i, j))
	before := m.used
	m.used = true
	return !before
}

func (t *table) resize(size int) {
	old := t.slots
	t.slots = make([]mark, size)
	for _, m := range old {
		if m.count > 0 {
			*t.at(m.key) = m
		}
	}
}
