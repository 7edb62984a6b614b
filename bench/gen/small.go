package gen

import "github.com/hiveblas/hiveblas/generate"

// ErdosRenyi is [generate.Uniform]: m edges of a directed graph on n vertices, both ends uniform
// and independent; duplicates and self loops are left in.
func ErdosRenyi(n, m int, seed uint64) Tuples {
	return drawn(must(generate.Uniform(n, int64(m), seed)))
}

// Grid2D is the undirected grid [generate.Grid]: every edge once in each direction. Its long
// diameter and low degree stand in for road networks.
func Grid2D(height, width int) Tuples { return bothWays(must(generate.Grid(height, width))) }

// SmallWorld is [generate.WattsStrogatz] with every edge once in each direction, so a duplicate or
// a self loop can come from a moved edge. There are no edges unless 0 ≤ k < n and 0 ≤ p ≤ 1.
func SmallWorld(n, k int, p float64, seed uint64) Tuples {
	if k < 0 || k >= n || !(p >= 0 && p <= 1) {
		return Tuples{NRows: max(n, 0), NCols: max(n, 0)}
	}
	return bothWays(must(generate.WattsStrogatz(n, k, p, seed)))
}

// Road is an undirected graph like a road network: a random spanning tree of a grid, and a share of
// the other edges of the grid. Most vertices have two or three neighbours.
func Road(height, width int, share float64, seed uint64) Tuples {
	grid := Grid2D(height, width)
	parent := make([]int32, grid.NRows)
	for v := range parent {
		parent[v] = int32(v)
	}
	root := func(v int32) int32 {
		for parent[v] != v {
			parent[v] = parent[parent[v]]
			v = parent[v]
		}
		return v
	}
	t := Tuples{NRows: grid.NRows, NCols: grid.NCols}
	for _, k := range Permutation(len(grid.Rows), seed) {
		i, j := grid.Rows[k], grid.Cols[k]
		if i > j {
			continue
		}
		u, v := root(i), root(j)
		parent[u] = v
		if u != v || float64(Hash(uint64(k), seed)>>11)/(1<<53) < share {
			t.Rows, t.Cols = append(t.Rows, i, j), append(t.Cols, j, i)
		}
	}
	return t
}

// Grid3D is the 7-point grid of side³ vertices, without a diagonal.
func Grid3D(side int) *Graph {
	n := side * side * side
	g := &Graph{NRows: n, NCols: n, Ptr: make([]int64, 1, n+1), Idx: make([]int32, 0, 6*n)}
	for i := range n {
		x, y, z := i%side, i/side%side, i/side/side
		for _, c := range []struct {
			inside bool
			j      int
		}{{z > 0, i - side*side}, {y > 0, i - side}, {x > 0, i - 1}, {x < side-1, i + 1}, {y < side-1, i + side}, {z < side-1, i + side*side}} {
			if c.inside {
				g.Idx = append(g.Idx, int32(c.j))
			}
		}
		g.Ptr = append(g.Ptr, int64(len(g.Idx)))
	}
	return g
}

// Diagonals27 is the matrix of side³ rows with ones on the 27 diagonals of the neighbours in a cube
// of that side, also where a row's neighbours wrap around.
func Diagonals27(side int) *Graph {
	n := side * side * side
	g := &Graph{NRows: n, NCols: n, Ptr: make([]int64, 1, n+1), Idx: make([]int32, 0, 27*n)}
	for i := range n {
		for k := range 27 {
			j := i + (k/9-1)*side*side + (k/3%3-1)*side + k%3 - 1
			if j >= 0 && j < n {
				g.Idx = append(g.Idx, int32(j))
			}
		}
		g.Ptr = append(g.Ptr, int64(len(g.Idx)))
	}
	return g
}
