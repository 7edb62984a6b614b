// Package semiring holds the operators, monoids and semirings that the
// operations of package ops compute with.
//
// A semiring is one value with two bodies: Go kernels and CUDA expressions.
// Built-in ones are constructors over the element type, named as in the field:
//
//	semiring.PlusTimes[float64]()   // arithmetic
//	semiring.MinPlus[int32]()       // shortest paths
//	semiring.PlusPair[int64]()      // counting common neighbours, on patterns
//	semiring.AnySecondi[int32](0)   // parents in a breadth-first search
//
// [New] makes one of any monoid and operator, over any types. Its operators
// are called as closures; [Semiring.WithKernels] takes inlined loops for full
// speed, and the CUDA texts take it to the GPU.
//
// What a sum of nothing is: a position without any product has no entry, so
// the identity shows only where a reduction to a scalar or a fold needs a
// start. Every sum starts from the identity. How each monoid treats NaN is
// said at its constructor: plus and times propagate it, min and max ignore it
// on either side.
package semiring
