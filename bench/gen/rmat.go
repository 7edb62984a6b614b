package gen

import "fmt"

// RMATOptions refines [RMAT]. The zero value is the graph of the Graph500 parameters with seed 0
// and labels as drawn.
type RMATOptions struct {
	// A, B, C are the probabilities of the quadrants top-left, top-right and bottom-left;
	// bottom-right takes the rest. All zero means 0.57, 0.19, 0.19.
	A, B, C float64
	// Seed names the random stream.
	Seed uint64
	// Scramble relabels the vertices by [Permutation](n, Seed+1). Without it the low labels have
	// the high degrees.
	Scramble bool
}

// RMAT draws 2^scale·edgeFactor edges of a recursive-matrix graph with 2^scale vertices: each edge
// walks down scale levels of quadrants, chosen with the probabilities of opts. Duplicates and self
// loops are left in, as drawn. Scale is at most 30.
//
// Level l of edge e uses half a word (the low half for even l) of random number e·⌈scale/2⌉+⌊l/2⌋
// of the stream; the probabilities are rounded down to multiples of 2⁻³².
//
// Source: Chakrabarti, Zhan, Faloutsos, "R-MAT: a recursive model for graph mining", SDM 2004,
// doi:10.1137/1.9781611972740.43.
func RMAT(scale, edgeFactor int, opts RMATOptions) Tuples {
	if scale < 0 || scale > 30 || edgeFactor < 0 {
		panic(fmt.Sprintf("gen: RMAT(%d, %d): scale must be 0…30 and edgeFactor at least 0", scale, edgeFactor))
	}
	if opts.A == 0 && opts.B == 0 && opts.C == 0 {
		opts.A, opts.B, opts.C = 0.57, 0.19, 0.19
	}
	a := uint64(opts.A * (1 << 32))
	ab := a + uint64(opts.B*(1<<32))
	abc := ab + uint64(opts.C*(1<<32))

	n, m := 1<<scale, edgeFactor<<scale
	t := Tuples{Rows: make([]int32, m), Cols: make([]int32, m), NRows: n, NCols: n}
	words := uint64(scale+1) / 2
	byRange(m, func(lo, hi int) {
		for e := lo; e < hi; e++ {
			var row, col uint64
			var word uint64
			for l := range scale {
				if l&1 == 0 {
					word = Hash(uint64(e)*words+uint64(l)/2, opts.Seed)
				} else {
					word >>= 32
				}
				r := word & (1<<32 - 1)
				// Sign bits instead of branches: the quadrant is unpredictable.
				down := (ab - 1 - r) >> 63
				right := (a-1-r)>>63 ^ down ^ (abc-1-r)>>63
				row, col = row<<1|down, col<<1|right
			}
			t.Rows[e], t.Cols[e] = int32(row), int32(col)
		}
	})
	if opts.Scramble {
		p := Permutation(n, opts.Seed+1)
		byRange(m, func(lo, hi int) {
			for e := lo; e < hi; e++ {
				t.Rows[e], t.Cols[e] = p[t.Rows[e]], p[t.Cols[e]]
			}
		})
	}
	return t
}
