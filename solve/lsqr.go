package solve

import (
	"math"

	"github.com/hiveblas/hiveblas/matrix"
)

// LSQR finds the x that minimises ‖b − A·x‖² + Damping²·‖x‖² for an m×n matrix A of any shape and
// rank (Paige and Saunders, ACM Transactions on Mathematical Software 8, 1982): the vectors of
// Golub's and Kahan's bidiagonalisation,
//
//	βu = Av − αu,   αv = Aᵀu − βv,
//
// and plane rotations. Of several x it finds the one of least norm if it starts from 0. An
// iteration is a product with A and one with Aᵀ, whose form is kept with the matrix. LSQR stops
// with Converged if A·x = b has a solution, and else with LeastSquares once ‖Aᵀr‖ ≤
// Tolerance·‖A‖·‖r‖; with Damping, r and A are the residual and the matrix of the damped system.
// Errors as [CG]; there is no preconditioner.
func LSQR[T Real](a matrix.Source[T], b *matrix.Vector[T], opts ...Options[T]) (*Result[T], error) {
	return solved[T](&lsqr, a, b, opts)
}

var lsqr = method{name: "LSQR", run: leastSquares, any: true}

func leastSquares(s *system) {
	u := s.residual()
	beta := norm(s, u)
	if s.begun(beta) {
		return
	}
	s.scale(u, 1/beta)
	v, av, atu := s.zeros(s.n), s.zeros(s.m), s.zeros(s.n)
	s.multiplyT(v, u)
	alpha := norm(s, v)
	if alpha == 0 { // b is orthogonal to all columns
		s.stopped = LeastSquares
		return
	}
	s.scale(v, 1/alpha)
	w := s.copyOf(v)
	rhobar, phibar := alpha, beta
	square, damped := alpha*alpha, 0.0 // ‖A‖² by the bidiagonal matrix; the damped part of ‖r‖²
	for s.OK() {
		s.multiply(av, v)
		s.scale(u, -alpha)
		s.add(u, 1, av)
		if beta = norm(s, u); beta > 0 {
			s.scale(u, 1/beta)
			s.multiplyT(atu, u)
			s.scale(v, -beta)
			s.add(v, 1, atu)
			square += beta*beta + s.Damping*s.Damping
			if alpha = norm(s, v); alpha > 0 {
				s.scale(v, 1/alpha)
			}
			square += alpha * alpha
		} else {
			alpha = 0
		}
		// A rotation removes the damping, another one the lower diagonal.
		rhobar1 := math.Hypot(rhobar, s.Damping)
		psi := s.Damping / rhobar1 * phibar
		phibar *= rhobar / rhobar1
		rho := math.Hypot(rhobar1, beta)
		c, sn := rhobar1/rho, beta/rho
		theta := sn * alpha
		rhobar = -c * alpha
		phi := c * phibar
		phibar *= sn
		tau := sn * phi
		damped += psi * psi
		s.add(s.x, phi/rho, w)
		s.scale(w, -theta/rho)
		s.add(w, 1, v)
		residual := math.Sqrt(phibar*phibar + damped)
		if s.next(residual) {
			return
		}
		if alpha*math.Abs(tau) <= s.Tolerance*math.Sqrt(square)*residual {
			s.stopped = LeastSquares
			return
		}
	}
}
