package solve

import (
	"math"

	"github.com/hiveblas/hiveblas/matrix"
)

// MINRES solves A·x = b for a symmetric A, n×n, which may be indefinite, by minimal residuals
// (Paige and Saunders, SIAM Journal on Numerical Analysis 12, 1975): Lanczos vectors v make A
// tridiagonal, and plane rotations reduce that to the triangle of x's directions w.
//
//	βv' = Av − αv − β₋v₋,   w = (v − δw₋ − εw₋₋)/γ,   x += φw
//
// The preconditioner must be symmetric positive definite. An iteration is one product with A. If A
// is singular and b outside its range, MINRES stops with LeastSquares at an x of least residual:
// when ‖Ar‖ is 1.5e-10·‖A‖·‖r‖, in float32 3.5e-6. The Tolerance has no part in that, so that an A
// of large condition number does not pass for a singular one. Errors as [CG], but that A may be
// indefinite.
func MINRES[T Real](a matrix.Source[T], b *matrix.Vector[T], opts ...Options[T]) (*Result[T], error) {
	return solved[T](&minres, a, b, opts)
}

var minres = method{name: "MINRES", run: minimalResiduals, symmetric: true}

func minimalResiduals(s *system) {
	old := s.residual()
	y := s.precondition(old)
	beta := s.dot(old, y)
	if beta < 0 {
		s.indefinite("the preconditioner")
		return
	}
	beta = math.Sqrt(beta)
	if s.preconditioned() {
		// The norm in M⁻¹ is compared with the norm of b in M⁻¹.
		s.want = max(s.Tolerance*math.Sqrt(s.dot(s.b, s.precondition(s.b))), s.Absolute)
	}
	if s.begun(beta) {
		return
	}
	r, w, w2, v := s.copyOf(old), s.zeros(s.n), s.zeros(s.n), s.zeros(s.n)
	phi, cosine, sine := beta, -1.0, 0.0
	before, dbar, epsilon := 0.0, 0.0, 0.0
	square := 0.0 // of the Frobenius norm of the tridiagonal matrix
	q := s.zeros(s.n)
	for s.OK() {
		s.set(v, y)
		s.scale(v, 1/beta)
		s.multiply(q, v)
		if s.iterations > 0 {
			s.add(q, -beta/before, old)
		}
		alpha := s.dot(v, q)
		s.add(q, -alpha/beta, r)
		old, r, q = r, q, old
		y = s.precondition(r)
		before = beta
		if beta = s.dot(r, y); beta < 0 {
			s.indefinite("the preconditioner")
			return
		}
		beta = math.Sqrt(beta)
		square += alpha*alpha + before*before + beta*beta

		older := epsilon
		delta := cosine*dbar + sine*alpha
		gbar := sine*dbar - cosine*alpha
		epsilon = sine * beta
		dbar = -cosine * beta
		gradient := phi * math.Hypot(gbar, dbar) // ‖A·r‖
		previous := phi
		gamma := max(math.Hypot(gbar, beta), s.eps*math.Sqrt(square)) // 0 if A is singular
		cosine, sine = gbar/gamma, beta/gamma
		step := cosine * phi
		phi *= sine

		// w, w2 = (v − older·w2 − delta·w)/gamma, w
		s.scale(w2, -older/gamma)
		s.add(w2, -delta/gamma, w)
		s.add(w2, 1/gamma, v)
		w, w2 = w2, w
		if gradient <= .01*math.Sqrt(s.eps*square)*previous && previous > s.want {
			s.next(previous)
			if s.failed == nil && s.OK() {
				s.stopped = LeastSquares
			}
			return
		}
		s.add(s.x, step, w)
		if s.next(phi) {
			return
		}
		if beta == 0 {
			s.broken("the Krylov space is complete, and the residual is not small")
			return
		}
	}
}
