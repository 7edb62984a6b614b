package gen

import "math"

// The sizes of planted communities.
const (
	plantedLeast = 20
	plantedMost  = 500
)

// Planted draws m edges of an undirected graph with planted communities on n vertices, each edge in
// one direction, duplicates left in, and returns the community of each vertex. The logarithms of
// the sizes of communities are uniform between log 20 and log 500; the last has what remains. The
// first end of an edge is uniform. The second is a uniform vertex of any community with probability
// mixing, and else of the same community. The numbers of the vertices are permuted.
//
// The planted l-partition model (Condon, Karp: Algorithms for graph partitioning on the planted
// partition model, Random Structures and Algorithms 18, 2001) with unequal sizes.
func Planted(n, m int, mixing float64, seed uint64) (t Tuples, truth []int32) {
	t = Tuples{NRows: n, NCols: n}
	if n <= 0 {
		return t, nil
	}
	t.Rows, t.Cols = make([]int32, m), make([]int32, m)
	first := []int32{0} // of each community, before the permutation
	for k := uint64(0); int(first[len(first)-1]) < n; k++ {
		u := float64(Hash(k, seed)>>11) / (1 << 53)
		size := math.Round(plantedLeast * math.Pow(plantedMost/plantedLeast, u))
		next := int(first[len(first)-1]) + int(size)
		if n-next < plantedLeast {
			next = n
		}
		first = append(first, int32(next))
	}
	community := make([]int32, n)
	for c := range len(first) - 1 {
		for v := first[c]; v < first[c+1]; v++ {
			community[v] = int32(c)
		}
	}
	number := Permutation(n, seed+1)
	byRange(m, func(lo, hi int) {
		for e := lo; e < hi; e++ {
			u := int32(below(Hash(3*uint64(e), seed+2), uint64(n)))
			from, to := int32(0), int32(n)
			if float64(Hash(3*uint64(e)+1, seed+2)>>11)/(1<<53) >= mixing {
				from, to = first[community[u]], first[community[u]+1]
			}
			v := from + int32(below(Hash(3*uint64(e)+2, seed+2), uint64(to-from)))
			t.Rows[e], t.Cols[e] = number[u], number[v]
		}
	})
	truth = make([]int32, n)
	for v, c := range community {
		truth[number[v]] = c
	}
	return t, truth
}
