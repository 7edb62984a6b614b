package chord

import (
	"math"
	"math/rand"
	"testing"
)

// draw returns points anywhere, near a place, at it and at its antipode.
func draw(rng *rand.Rand, n int, at [3]float64) (p Points, zeros int) {
	for k := range n {
		v := [3]float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
		switch k % 5 {
		case 1:
			v = [3]float64{at[0] + 1e-6*v[0], at[1] + 1e-6*v[1], at[2] + 1e-6*v[2]}
		case 2:
			if rng.Intn(2) == 0 {
				v = at
				zeros++
			}
		case 3:
			v = [3]float64{-at[0], -at[1], -at[2]}
		}
		r := math.Sqrt(v[0]*v[0] + v[1]*v[1] + v[2]*v[2])
		if v == at {
			r = 1
		}
		p.X, p.Y, p.Z = append(p.X, v[0]/r), append(p.Y, v[1]/r), append(p.Z, v[2]/r)
		p.A, p.B = append(p.A, rng.NormFloat64()), append(p.B, rng.Float64()*360)
	}
	return p, zeros
}

// Sums against angles by the cross product, for lengths around multiples of four.
func TestSums(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for n := range 40 {
		at := [3]float64{.6, 0, .8}
		p, zeros := draw(rng, n, at)
		var sum, a, b, size float64
		for k := range n {
			x, y, z := p.X[k], p.Y[k], p.Z[k]
			if [3]float64{x, y, z} == at {
				continue
			}
			dx, dy, dz := x-at[0], y-at[1], z-at[2]
			cx, cy, cz := x+at[0], y+at[1], z+at[2]
			w := 1 / (2 * math.Atan2(math.Sqrt(dx*dx+dy*dy+dz*dz), math.Sqrt(cx*cx+cy*cy+cz*cz)))
			sum, a, b, size = sum+w, a+w*p.A[k], b+w*p.B[k], size+w*math.Abs(p.A[k])
		}
		for name, f := range map[string]func(x, y, z float64) (float64, float64, float64, int){
			"Sums": p.Sums, "plain": func(x, y, z float64) (float64, float64, float64, int) { return p.plain(0, x, y, z) }} {
			s, c, d, e := f(at[0], at[1], at[2])
			if e != zeros || math.Abs(s-sum) > 1e-8*sum || math.Abs(c-a) > 1e-8*size || math.Abs(d-b) > 1e-8*b {
				t.Errorf("%s of %d points: %v, %v, %v, %d, want %v, %v, %v, %d", name, n, s, c, d, e, sum, a, b, zeros)
			}
		}
		s, c, d, _ := p.Sums(at[0], at[1], at[2])
		s1, c1, d1, _ := p.plain(0, at[0], at[1], at[2])
		if math.Abs(s-s1) > 1e-13*s || math.Abs(c-c1) > 1e-13*size || math.Abs(d-d1) > 1e-13*d {
			t.Errorf("%d points: %v, %v, %v, without AVX2 %v, %v, %v", n, s, c, d, s1, c1, d1)
		}
	}
}

func BenchmarkSums(b *testing.B) {
	p, _ := draw(rand.New(rand.NewSource(1)), 40, [3]float64{.6, 0, .8})
	b.Run("wide", func(b *testing.B) {
		for b.Loop() {
			p.Sums(.6, .01, .7999)
		}
	})
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			p.plain(0, .6, .01, .7999)
		}
	})
}
