package inputs

import (
	"github.com/hiveblas/hiveblas/bench/gen"
)

// LassoSignal makes the input of a name, 2^shrink times smaller, and whether there is one.
func LassoSignal(name string, shrink int) (gen.Signal, bool) {
	switch name {
	case "planar213k":
		return gen.PlanarSignal(213_444>>shrink, 1), true
	case "planar16k":
		return gen.PlanarSignal(max(16_384>>shrink, 16), 1), true
	case "planar256":
		return gen.PlanarSignal(256, 1), true
	case "planar1m":
		return gen.PlanarSignal(1_000_000>>shrink, 1), true
	case "taxi", "taxi24", "taxi2": // layers in time
		layers := map[string]int{"taxi": 48, "taxi24": 24, "taxi2": 2}[name]
		return gen.TaxiSignal(max(layers>>shrink, 2), 1), true
	case "grid512", "grid1024":
		side := map[string]int{"grid512": 512, "grid1024": 1024}[name]
		return gen.GridSignal(side>>((shrink+1)/2), 1), true
	case "rmatsignal16":
		return gen.RMATSignal(max(16-shrink, 5), 1), true
	}
	return gen.Signal{}, false
}
