package workload

import (
	"math"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/internal/splitmix"
	"github.com/hiveblas/hiveblas/matrix"
)

// hash is number x of the random stream called seed, as gen.Hash of bench/gen.
func hash(x int, seed uint64) uint64 { return splitmix.At(uint64(x), splitmix.Mix(seed)) }

// Floats returns a matrix of numbers of [−scale, scale) by hash.
func Floats(rows, cols int, seed uint64, scale float64) (*matrix.Matrix[float32], error) {
	x := make([]float32, rows*cols)
	for i := range x {
		x[i] = float32(int64(hash(i, seed)>>40)-1<<23) / (1 << 23) * float32(scale)
	}
	return matrix.FromDense(rows, cols, x)
}

// Network is a network of two layers of GraphSAGE: features, columns of a layer for the vertex and
// for its neighbours. The peers of the benchmarks draw the same graph, features and weights.
type Network struct{ Features, Hidden, Out int }

// Model draws the weights.
func (s Network) Model() (*apps.SAGEModel, error) {
	m := &apps.SAGEModel{}
	d := s.Features
	for k, h := range []int{s.Hidden, s.Out} {
		scale := 1 / math.Sqrt(float64(d))
		wf, err := Floats(d, h, uint64(40+2*k), scale)
		if err != nil {
			return nil, err
		}
		wa, err := Floats(d, h, uint64(41+2*k), scale)
		if err != nil {
			return nil, err
		}
		m.Layers = append(m.Layers, apps.SAGELayer{Self: wf, Neighbour: wa})
		d = 2 * h
	}
	return m, nil
}

// Locations are places of a tenth of n vertices, drawn by hashes, between 60°S and 60°N; the
// peers of the benchmarks draw the same.
func Locations(n int) (*apps.Locations, error) {
	var vertices []int
	var lat, lon []float64
	share := func(v int, seed uint64) float64 { return float64(hash(v, seed)>>11) / (1 << 53) }
	for v := range n {
		if hash(v, 21)%10 == 0 {
			vertices = append(vertices, v)
			lat, lon = append(lat, 120*share(v, 22)-60), append(lon, 360*share(v, 23)-180)
		}
	}
	return apps.NewLocations(n, vertices, lat, lon)
}

// GeoOptions are the options of geolocation: medians in degrees to 1e-3, or 100 iterations.
func GeoOptions(run apps.Run) apps.GeolocateOptions {
	return apps.GeolocateOptions{Run: run, Median: apps.MedianDegrees, Tolerance: 1e-3, MaxIterations: 100}
}
