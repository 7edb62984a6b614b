package apps

import (
	"bufio"
	"fmt"
	"math"
	"math/rand"
	"os"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

func readSym(t testing.TB, path string) *matrix.Matrix[float64] {
	f, err := os.Open(path)
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	var b *matrix.Builder[float64]
	for sc.Scan() {
		l := sc.Text()
		if strings.HasPrefix(l, "%") {
			continue
		}
		var i, j, z int
		if b == nil {
			fmt.Sscan(l, &i, &j, &z)
			b = matrix.NewBuilder[float64](i, j)
			continue
		}
		fmt.Sscan(l, &i, &j)
		b.Add(i-1, j-1, 1)
		if i != j {
			b.Add(j-1, i-1, 1)
		}
	}
	a, err := b.Build(nil)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestChesapeake(t *testing.T) {
	a := readSym(t, "../../shared/data/graphs/chesapeake.mtx")
	p, err := Projection[float64](a, ProjectionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	v := func(i, j int) float64 { x, _ := p.At(i, j); return x }
	t.Log(p.NVals(), v(0, 1), v(0, 2), v(0, 3), v(38, 35), v(38, 36), v(38, 37))
	n, err := TriangleCount[float64](a, TriangleOptions{})
	t.Log(n, err)
	c, err := ConnectedComponents[float64](a, ComponentsOptions{})
	t.Log(c.Count, c.Largest, err)
	k, err := KTruss[float64](a, 4, KTrussOptions{})
	t.Log(k.NVals(), err)
	pr, err := PageRank[float64](a, PageRankOptions{})
	t.Log(pr.Iterations, pr.Change, err)
}

func TestPathsRandom(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	for it := range 100 {
		n := 1 + r.Intn(60)
		b := matrix.NewBuilder[float64](n, n)
		m := r.Intn(4 * n)
		for range m {
			b.Add(r.Intn(n), r.Intn(n), float64(r.Intn(10)))
		}
		a, err := b.Build(semiring.Min[float64]())
		if err != nil {
			t.Fatal(err)
		}
		if it%2 == 0 {
			a.IsSymmetric()
		}
		src := r.Intn(n)
		ref := func(unit bool) []float64 {
			d := make([]float64, n)
			for i := range d {
				d[i] = math.Inf(1)
			}
			d[src] = 0
			for range n {
				for c, w := range a.All() {
					if unit {
						w = 1
					}
					d[c.Col] = min(d[c.Col], d[c.Row]+w)
				}
			}
			return d
		}
		got, err := SSSP[float64](a, []int{src}, SSSPOptions[float64]{})
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range ref(false) {
			x, ok := got.At(i)
			if ok != !math.IsInf(d, 1) || ok && x != d {
				t.Fatal(it, i, x, ok, d)
			}
		}
		bfs, err := BFS[float64](a, src, BFSOptions{Parents: true})
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range ref(true) {
			x, ok := bfs.Level.At(i)
			if ok != !math.IsInf(d, 1) || ok && float64(x) != d {
				t.Fatal(it, i, x, ok, d)
			}
		}
	}
}
