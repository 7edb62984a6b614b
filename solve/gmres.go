package solve

import (
	"math"

	"github.com/hiveblas/hiveblas/matrix"
)

// GMRES solves A·x = b for a square A by generalised minimal residuals (Saad and Schultz, SIAM
// Journal on Scientific and Statistical Computing 7, 1986), restarted after Options.Restart
// products, with the preconditioner on the right:
//
//	A M⁻¹ V = V' H,   y = argmin ‖‖r‖e₁ − Hy‖,   x += M⁻¹ V y
//
// An iteration is one product with A and up to Restart dot products and sums of vectors; the solver
// keeps Restart + 1 vectors. The residual never grows; a restarted method may stagnate. Errors as
// [CG].
func GMRES[T Real](a matrix.Source[T], b *matrix.Vector[T], opts ...Options[T]) (*Result[T], error) {
	return solved[T](&gmres, a, b, opts)
}

var gmres = method{name: "GMRES", run: generalisedResiduals}

func generalisedResiduals(s *system) {
	width := max(1, min(s.Restart, s.n))
	basis := make([]vec, 0, width+1)
	for first := true; s.OK(); first = false {
		r := s.residual()
		beta := norm(s, r)
		if first && s.begun(beta) || !first && s.ended(beta) {
			return
		}
		s.scale(r, 1/beta)
		basis = append(basis[:0], r)
		h := make([][]float64, 0, width) // columns of the triangle of H
		g := []float64{beta}
		var rotations [][2]float64
		done, singular := false, false
		for j := 0; j < width && !done && !singular; j++ {
			w := s.zeros(s.n)
			s.multiply(w, s.precondition(basis[j]))
			length := norm(s, w)
			column := make([]float64, j+1)
			for i, v := range basis {
				column[i] = s.dot(w, v)
				s.add(w, -column[i], v)
			}
			below := norm(s, w)
			if below <= 2*s.eps*length { // the Krylov space is complete
				below, singular = 0, true
			} else {
				s.scale(w, 1/below)
				basis = append(basis, w)
			}
			for i, c := range rotations {
				column[i], column[i+1] = c[0]*column[i]+c[1]*column[i+1], c[0]*column[i+1]-c[1]*column[i]
			}
			d := math.Hypot(column[j], below)
			if d <= s.eps*length { // A·M⁻¹·v adds nothing
				break
			}
			c, sn := column[j]/d, below/d
			column[j] = d
			rotations = append(rotations, [2]float64{c, sn})
			g = append(g, -sn*g[j])
			g[j] *= c
			h = append(h, column)
			done = s.next(math.Abs(g[j+1]))
		}
		if len(h) == 0 {
			s.broken("the product with the residual is 0; the matrix is singular")
			return
		}
		s.combine(basis, h, g)
		if s.failed != nil || s.stopped == Limit {
			return
		}
		s.stopped = Unfinished
		if singular && !done {
			if !s.ended(norm(s, s.residual())) {
				s.broken("the Krylov space is complete, and the residual is not small; the matrix is singular")
			}
			return
		}
	}
}

// combine adds M⁻¹·V·y to x, for the y with R·y = g of a triangle R.
func (s *system) combine(basis []vec, r [][]float64, g []float64) {
	y := make([]float64, len(r))
	for i := len(y) - 1; i >= 0; i-- {
		y[i] = g[i]
		for j := i + 1; j < len(y); j++ {
			y[i] -= r[j][i] * y[j]
		}
		y[i] /= r[i][i]
	}
	sum := s.zeros(s.n)
	for i, f := range y {
		s.add(sum, f, basis[i])
	}
	s.add(s.x, 1, s.precondition(sum))
}
