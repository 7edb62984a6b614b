// Package semiring holds the operators, monoids and semirings of package ops.
//
// A semiring is one value with two forms: Go kernels and CUDA expressions. Built-in semirings are
// constructors over the element type, with the names of the field:
//
//	semiring.PlusTimes[float64]()   // arithmetic
//	semiring.MinPlus[int32]()       // shortest paths
//	semiring.PlusPair[int64]()      // counting common neighbours, on patterns
//	semiring.AnySecondi[int32](0)   // parents in a breadth-first search
//
// [New] makes a semiring of any monoid and operator, over any types. Its loops call the operators
// as closures; [Semiring.WithKernels] replaces them by inlined loops for full speed, and the CUDA
// expressions run it on a GPU.
//
// A [Monoid] is also an [Operator]: Plus, Times, Min and the other monoids serve as binary
// operators in element-wise operations, as accumulators and as ⊗.
//
// Every sum starts from the identity. A position without a product has no entry, so the identity
// appears only in the results of reductions to a scalar. Each monoid documents its treatment of
// NaN: plus and times propagate it, min and max ignore it on either side, [MinNaN] and [MaxNaN]
// propagate it.
//
// Operations call operators from several goroutines at once. A function given to [NewBinary],
// [NewUnary], [NewIndex] or [NewSelect] must therefore be safe for concurrent use.
//
// Go compiles a generic function in each package that names it. The loops of the built-in semirings
// and monoids of numbers and bool are compiled here, once for each kind of number, and constructors
// look them up: a program that names one compiles a few short functions, whatever the element type.
// Constructors over any type, such as [First], [Any] and [Identity], and [New], [NewBinary],
// [NewMonoid] and [Semiring.WithKernels] compile their loops in the package that calls them, once
// for each combination of types.
//
// docs/operators.md explains how to write an operator with its kernels for both sides.
package semiring
