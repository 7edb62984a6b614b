//go:build long

package conformance

import (
	"math"

	"github.com/hiveblas/hiveblas/semiring"
)

// The types of the build tag long. Their cases compile as long as the cases of all other types.

func registerMore() {
	registerInteger[int8]("int8")
	registerInteger[uint8]("uint8")
	registerInteger[int64]("int64")
	registerInteger[uint64]("uint64")
	inf, nan := math.Inf(1), math.NaN()
	registerNumber("float32", float32(nan), float32(inf), float32(-inf), float32(math.Copysign(0, -1)))
}

func moreProducts() (g []generator) {
	g = append(g, patternProducts[int32]("int32")...)
	g = append(g, ownProducts[int8]("int8")...)
	g = append(g, patternProducts[int8]("int8")...)
	g = append(g, ownProducts[uint8]("uint8")...)
	g = append(g, patternProducts[uint8]("uint8")...)
	g = append(g, ownProducts[int64]("int64")...)
	g = append(g, patternProducts[int64]("int64")...)
	g = append(g, ownProducts[uint64]("uint64")...)
	g = append(g, patternProducts[uint64]("uint64")...)
	g = append(g, ownProducts[float32]("float32")...)
	g = append(g, patternProducts[float32]("float32")...)
	if allPositional() {
		g = append(g, positionalProducts("int64", []int64{0, 1}, []int64{5, 1 << 40})...)
		g = append(g, positionalProducts("float64", []float64{0, 1}, []float64{0.5})...)
	}
	return g
}

func moreElementwise() (g []generator) {
	g = append(g, closed[int8]("int8")...)
	g = append(g, closed[uint8]("uint8")...)
	g = append(g, closed[int64]("int64")...)
	g = append(g, closed[uint64]("uint64")...)
	g = append(g, closed[float32]("float32")...)
	g = append(g, comparisons[int32]("int32")...)
	return append(g, elementwise("mixed", semiring.Pair[float64, bool, int64]())...)
}
