package gpuside

import (
	"github.com/hiveblas/hiveblas/bench"
)

// NoQuartiles are the quartiles of nothing.
var NoQuartiles = bench.QuartilesOf(nil)
