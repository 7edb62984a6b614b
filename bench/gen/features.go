package gen

// Features draws f features of n items: row i of the f×n result, row-major, is feature i of all
// items. The first reals rows are uniform in [0, 10), the others are counts of 1…70, as in the HIVE
// application classification data (georgiyData: 10 and 3 of a vertex, 10 and 7 of an edge).
func Features(n, reals, counts int, seed uint64) []float32 {
	x := make([]float32, n*(reals+counts))
	byRange(len(x), func(lo, hi int) {
		for p := lo; p < hi; p++ {
			if word := Hash(uint64(p), seed); p < n*reals {
				x[p] = float32(word>>40) * (10.0 / (1 << 24))
			} else {
				x[p] = float32(1 + below(word, 70))
			}
		}
	})
	return x
}

// Edges draws m edges between n vertices, each end alike; duplicates and loops are left in.
func Edges(n, m int, seed uint64) Tuples {
	t := Tuples{Rows: make([]int32, m), Cols: make([]int32, m), NRows: n, NCols: n}
	byRange(m, func(lo, hi int) {
		for e := lo; e < hi; e++ {
			t.Rows[e] = int32(below(Hash(uint64(2*e), seed), uint64(n)))
			t.Cols[e] = int32(below(Hash(uint64(2*e+1), seed), uint64(n)))
		}
	})
	return t
}
