// Package ops implements the operations of GraphBLAS on the matrices of package
// matrix with the operators of package semiring.
//
// The parameters of every operation are the destination, the operator, the operands and options, in
// this order:
//
//	err := ops.MxM(C, semiring.PlusTimes[float64](), A, B)
//	err := ops.MxM(C.Masked(M.Structure()).Accum(semiring.Plus[float64]()), s, A.T(), B)
//
// The destination defines where and how the operation writes (mask, accumulator, replace). An
// operand defines how the operation reads it (transposed, pattern). See package matrix. In every
// operation the destination may also be an operand or the mask, because the result is computed
// before it is written. An operation that fails leaves the destination unchanged, also if its
// operator or accumulator panics on the host.
//
// The library selects the method from operation counts. [Using] forces a method, and [WithTrace]
// reports the method that ran. [WithThreads] bounds the number of threads. [WithContext] lets a
// context stop a call. An operation runs on the host, on the device or on the group of ranks where
// its destination lives. On the host it takes memory for entries, and for positions where the
// result or a forced method has one each: a *matrix.SizeError says that there is not so much.
//
// docs/idioms.md writes the common algorithms of the GraphBLAS user guide with these operations.
package ops
