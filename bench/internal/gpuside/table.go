package gpuside

import (
	"github.com/hiveblas/hiveblas/bench"
)

// NoQuartiles are those of nothing.
var NoQuartiles = bench.QuartilesOf(nil)
