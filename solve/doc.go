// Package solve solves linear systems and eigenproblems with sparse matrices, by iterations of the
// operations of package ops:
//
//		res, err := solve.CG(a, b, solve.Options[float64]{Tolerance: 1e-10})
//		pairs, err := solve.Eigen(a, 6, solve.EigenOptions[float64]{Which: solve.Smallest})
//
//	  - [CG] for symmetric positive definite matrices, [MINRES] for symmetric ones, also indefinite or
//	    singular;
//	  - [GMRES] and [BiCGSTAB] for square matrices;
//	  - [LSQR] for least squares with matrices of any shape;
//	  - [Eigen] for the k extreme eigenpairs of a symmetric matrix;
//	  - [Triangle] for triangular matrices, by substitution.
//
// A solver runs where its matrix lives: on the host, on a device or on a group of ranks; vectors
// are copied there, and results live there. [Jacobi] is a preconditioner for all places,
// [IncompleteCholesky] and [IncompleteLU] are for the host and one device. An iteration takes
// O(entries) time, and a solver keeps a few vectors besides the matrix.
//
// A solver that does not reach the tolerance returns the result so far and a *[NotConvergedError].
// Sums of floating-point numbers depend on the order, so that results of different places differ in
// the last bits; on one place they do not depend on the number of threads.
package solve
