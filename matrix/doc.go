// Package matrix holds sparse matrices and vectors over any comparable Go
// type, and the views that operations of package ops read and write through.
//
// A [Matrix] is rows of (column, value) entries in one of four formats
// ([CSR], [Hypersparse], [Bitmap], [Full]); the library picks one and
// [Matrix.Format] tells which. An entry that is not stored is absent, which
// is not the same as zero: what absence means is decided by the semiring an
// operation uses.
//
// Masks, accumulators and transposes are views, not parameters:
//
//	A.T()                                    // Aᵀ, as an input
//	A.Pattern()                              // the structure of A, values unread
//	C.Masked(M)                              // write C where M holds a non-zero value
//	C.Masked(M.Structure().Not()).Replace()  // write C where M has no entry, clear it elsewhere
//	C.Accum(semiring.Plus[float64]())        // C = C ⊕ result
//
// Dimensions go up to 2³¹−1 and entries up to 2⁶³−1. Any number of goroutines
// may read a Matrix at once; one that is written belongs to one goroutine.
// Bad input gives typed errors (see [DimensionError], [IndexError],
// [DuplicateError], [ParseError]); nothing here panics on it.
package matrix
