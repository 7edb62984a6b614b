package gen

import (
	"github.com/hiveblas/hiveblas/internal/splitmix"
)

// ErdosRenyi draws m edges of a directed graph on n vertices, both ends uniform and independent;
// duplicates and self loops are left in.
func ErdosRenyi(n, m int, seed uint64) Tuples {
	t := Tuples{Rows: make([]int32, m), Cols: make([]int32, m), NRows: n, NCols: n}
	byRange(m, func(lo, hi int) {
		for e := lo; e < hi; e++ {
			t.Rows[e] = int32(below(Hash(2*uint64(e), seed), uint64(n)))
			t.Cols[e] = int32(below(Hash(2*uint64(e)+1, seed), uint64(n)))
		}
	})
	return t
}

// Grid2D is the undirected grid of height×width vertices, each joined to its four neighbours: every
// edge once in each direction. Vertex (y, x) has number y·width+x. Its long diameter and low degree
// stand in for road networks.
func Grid2D(height, width int) Tuples {
	n := height * width
	t := Tuples{NRows: n, NCols: n}
	join := func(i, j int) {
		t.Rows = append(t.Rows, int32(i), int32(j))
		t.Cols = append(t.Cols, int32(j), int32(i))
	}
	for y := range height {
		for x := range width {
			if x+1 < width {
				join(y*width+x, y*width+x+1)
			}
			if y+1 < height {
				join(y*width+x, (y+1)*width+x)
			}
		}
	}
	return t
}

// SmallWorld is the ring of n vertices, each joined to the k vertices that follow it, where each
// edge's far end is moved to a uniform vertex with probability p; every edge once in each
// direction, so a duplicate or a self loop can come from a moved edge. There are no edges unless
// 0 ≤ k < n and 0 ≤ p ≤ 1.
//
// Source: Watts, Strogatz, "Collective dynamics of small-world networks", Nature 393 (1998),
// doi:10.1038/30918.
func SmallWorld(n, k int, p float64, seed uint64) Tuples {
	if k < 0 || k >= n || !(p >= 0 && p <= 1) {
		return Tuples{NRows: max(n, 0), NCols: max(n, 0)}
	}
	limit := uint64(p * (1 << 32))
	t := Tuples{NRows: n, NCols: n}
	for i := range n {
		for d := 1; d <= k; d++ {
			j := (i + d) % n
			word := Hash(uint64(i*k+d-1), seed)
			if word>>32 < limit {
				j = int(below(splitmix.Mix(word), uint64(n)))
			}
			t.Rows = append(t.Rows, int32(i), int32(j))
			t.Cols = append(t.Cols, int32(j), int32(i))
		}
	}
	return t
}
