// Package matrix implements sparse matrices and vectors over any comparable Go type, and the views
// that operations of package ops read and write.
//
// A [Matrix] stores rows of (column, value) entries in one of four formats ([CSR], [Hypersparse],
// [Bitmap], [Full]). The library selects the format, and [Matrix.Format] returns it. An entry that
// is not stored is absent, which differs from zero: the semiring of an operation defines the
// meaning of an absent entry.
//
// Masks, accumulators and transposes are views, not parameters:
//
//	A.T()                                    // Aᵀ, as an input
//	A.Pattern()                              // the structure of A, without values
//	C.Masked(M)                              // write C where M holds a non-zero value
//	C.Masked(M.Structure().Not()).Replace()  // write C where M has no entry, clear it elsewhere
//	C.Accum(semiring.Plus[float64]())        // C = C ⊕ result
//
// The largest dimension is 2³¹−1 and the largest number of entries 2⁶³−1. Any number of goroutines
// may read a Matrix concurrently; while a goroutine writes a Matrix, no other may use it. Invalid
// input gives typed errors (see [DimensionError], [IndexError], [DuplicateError], [InvalidError])
// and never panics.
//
// Package graphio reads and writes matrices as files:
//
//	a, labels, err := graphio.ReadFile[float64]("graph.csv", graphio.RenumberIDs())
//
// docs/getting-started.md and docs/formats.md introduce the package.
package matrix
