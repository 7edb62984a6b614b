package classify

import (
	"math"

	"github.com/hiveblas/hiveblas/semiring"
)

// An expSum is Σ exp x of some numbers, as exp(top)·sum with top the largest of them. Sums add up
// without overflow, in products too.
type expSum struct {
	top float32
	sum float64
}

var (
	minusInf = float32(math.Inf(-1))
	noTerms  = expSum{top: minusInf}
)

func (s expSum) log() float64 {
	if s.sum == 0 {
		return math.Inf(-1)
	}
	return float64(s.top) + math.Log(s.sum)
}

// plus adds two sums.
func (s expSum) plus(t expSum) expSum {
	if s.top < t.top {
		s, t = t, s
	}
	if t.top == minusInf {
		return s
	}
	return expSum{s.top, s.sum + t.sum*expBelow(float64(t.top)-float64(s.top))}
}

// terms adds exp of the numbers of x at places, at the cost of one exp each.
func (s expSum) terms(places []int32, x []float32) expSum {
	top := s.top
	for _, q := range places {
		top = max(top, x[q])
	}
	if top == minusInf {
		return s
	}
	sum, at := s.sum*expBelow(float64(s.top)-float64(top)), float64(top)
	for _, q := range places {
		sum += expBelow(float64(x[q]) - at)
	}
	return expSum{top, sum}
}

// expBelow is exp x for x ≤ 0, to within 3e-10, 0 below −708 and NaN of NaN: it subtracts n·log 2
// for the nearest n and sums the Taylor series up to r⁸/8!. Go inlines it.
func expBelow(x float64) float64 {
	if x < -708 {
		return 0
	}
	n := int64(x*math.Log2E - 0.5)
	r := x - float64(n)*math.Ln2
	p := 1 + r*(1+r*(1./2+r*(1./6+r*(1./24+r*(1./120+r*(1./720+r*(1./5040+r*(1./40320))))))))
	return p * math.Float64frombits(uint64(n+1023)<<52)
}

// addSums adds sums.
func addSums() semiring.Monoid[expSum] {
	return semiring.NewMonoid(semiring.NewBinary("add_exp_sums", expSum.plus,
		"x.top < y.top ? (x.sum == 0 ? y : C{y.top, y.sum + x.sum * exp((double)x.top - (double)y.top)}) : "+
			"y.sum == 0 ? x : C{x.top, x.sum + y.sum * exp((double)y.top - (double)x.top)}"), noTerms)
}

// sumTop is the largest exponent of a sum.
func sumTop() semiring.UnaryOp[expSum, float32] {
	return semiring.NewUnary("top", func(s expSum) float32 { return s.top }, "x.top")
}

// sumLog is the logarithm of a sum.
func sumLog() semiring.UnaryOp[expSum, float32] {
	return semiring.NewUnary("log_exp_sum", func(s expSum) float32 { return float32(s.log()) },
		"x.sum == 0 ? -INFINITY : (float)(x.top + log(x.sum))")
}

// logSumSecond sums exp y over the entries of a pattern.
func logSumSecond() semiring.Semiring[bool, float32, expSum] {
	return semiring.New(addSums(), semiring.NewBinary("exp_second", func(_ bool, y float32) expSum { return expSum{y, 1} }, "C{y, 1}")).
		WithKernels(semiring.Kernels[bool, float32, expSum]{
			Dot: func(s expSum, ci []int32, _ []bool, x []float32) expSum { return s.terms(ci, x) },
		})
}
