package solve

import (
	"math"

	"github.com/hiveblas/hiveblas/matrix"
)

// CG solves A·x = b for a symmetric positive definite A, n×n, by conjugate gradients (Hestenes and
// Stiefel, Journal of Research of the National Bureau of Standards 49, 1952):
//
//	α = rᵀz/pᵀAp,  x += αp,  r −= αAp,  z = M⁻¹r,  p = z + βp
//
// The preconditioner must be symmetric positive definite too. An iteration is one product with A. A
// direction p with pᵀAp ≤ 0 is an *IndefiniteError. CG returns a *matrix.DimensionError if shapes
// do not fit, and the errors of the package.
func CG[T Real](a matrix.Source[T], b *matrix.Vector[T], opts ...Options[T]) (*Result[T], error) {
	return solved[T](&cg, a, b, opts)
}

var cg = method{name: "CG", run: conjugateGradients, symmetric: true}

func conjugateGradients(s *system) {
	r := s.residual()
	square := s.dot(r, r)
	if s.begun(math.Sqrt(square)) {
		return
	}
	z, rho := r, square
	if s.preconditioned() {
		z = s.precondition(r)
		rho = s.dot(r, z)
	}
	p, q := s.copyOf(z), s.zeros(s.n)
	for s.OK() {
		if s.preconditioned() && !(rho > 0) {
			s.indefinite("the preconditioner")
			return
		}
		s.multiply(q, p)
		curvature := s.dot(p, q)
		if curvature <= 0 {
			s.indefinite("the matrix")
			return
		}
		s.add(s.x, rho/curvature, p)
		s.add(r, -rho/curvature, q)
		square = s.dot(r, r)
		if s.next(math.Sqrt(square)) {
			return
		}
		before := rho
		if rho = square; s.preconditioned() {
			z = s.precondition(r)
			rho = s.dot(r, z)
		}
		s.scale(p, rho/before)
		s.add(p, 1, z)
	}
}

// BiCGSTAB solves A·x = b for a square A by stabilised biconjugate gradients (van der Vorst, SIAM
// Journal on Scientific and Statistical Computing 13, 1992), with the preconditioner on the right:
//
//	v = A M⁻¹p,  α = ρ/r̂ᵀv,  s = r − αv,  t = A M⁻¹s,  ω = tᵀs/tᵀt,  x += M⁻¹(αp + ωs),  r = s − ωt
//
// An iteration is two products with A. The residual does not fall steadily: X has the smallest one
// that was met. A division by zero is a *BreakdownError: GMRES has none. Errors as [CG].
func BiCGSTAB[T Real](a matrix.Source[T], b *matrix.Vector[T], opts ...Options[T]) (*Result[T], error) {
	return solved[T](&bicgstab, a, b, opts)
}

var bicgstab = method{name: "BiCGSTAB", run: stabilisedGradients}

func stabilisedGradients(s *system) {
	r := s.residual()
	least := norm(s, r)
	if s.begun(least) {
		return
	}
	shadow, p, v, t := s.copyOf(r), s.zeros(s.n), s.zeros(s.n), s.zeros(s.n)
	x := s.copyOf(s.x) // s.x is the best
	rho, alpha, omega := 1.0, 1.0, 1.0
	for s.OK() {
		before := rho
		rho = s.dot(shadow, r)
		if rho == 0 {
			s.broken("the residual is orthogonal to the first one; use GMRES")
			return
		}
		s.add(p, -omega, v)
		s.scale(p, rho/before*alpha/omega)
		s.add(p, 1, r)
		y := s.precondition(p)
		s.multiply(v, y)
		along := s.dot(shadow, v)
		if along == 0 {
			s.broken("the product is orthogonal to the first residual; use GMRES")
			return
		}
		alpha = rho / along
		s.add(r, -alpha, v)
		s.add(x, alpha, y)
		z := s.precondition(r)
		s.multiply(t, z)
		square := s.dot(t, t)
		if omega = 0; square != 0 { // r may be 0 already
			omega = s.dot(t, r) / square
		}
		s.add(x, omega, z)
		s.add(r, -omega, t)
		residual := norm(s, r)
		if residual <= least {
			least = residual
			s.set(s.x, x)
		}
		if s.next(residual) {
			return
		}
		if omega == 0 {
			s.broken("the step of least residual is 0; use GMRES")
			return
		}
	}
}
