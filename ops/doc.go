// Package ops holds the operations of GraphBLAS on the matrices of package
// matrix with the operators of package semiring.
//
// Every operation has the same shape: the destination first, then the
// operator, then the operands, then options:
//
//	err := ops.MxM(C, semiring.PlusTimes[float64](), A, B)
//	err := ops.MxM(C.Masked(M.Structure()).Accum(semiring.Plus[float64]()), s, A.T(), B)
//
// The destination says where and how to write (mask, accumulator, replace),
// the operands how they are read (transposed, pattern); see package matrix.
// A destination may also be an operand or the mask, in every operation: the
// result is computed before anything is written. On an error the destination
// is as it was.
//
// The library picks the method by counting; [Using] forces one and
// [WithTrace] tells which ran. [WithThreads] bounds the threads and
// [WithContext] makes a call stop between blocks of rows. An operation runs
// where its destination lives.
package ops
