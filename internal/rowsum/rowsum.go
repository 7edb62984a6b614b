// Package rowsum has the loops over rows of float32 that GraphSAGE spends its time in on the host:
// weighted sums of rows, relu and scaling. On amd64 with AVX2 and FMA a sum keeps 64 columns in
// registers, so that an entry costs loads alone.
package rowsum

import "math"

// A Matrix is a matrix by rows of Step items.
type Matrix struct {
	Val  []float32
	Step int
}

// tile is the number of columns of a call of sumWide.
const tile = 64

// Sum sets y to Σ val[p]·row idx[p] of x, of the len(y) columns from begin on. A nil val is 1 over
// len(idx). The sum is in the order of idx; with FMA products are not rounded. An index outside of
// x panics.
func Sum(y []float32, idx []int32, val []float32, x Matrix, begin int) {
	sum(wide, y, idx, val, x, begin)
}

// sum is Sum, with the instructions of AVX2 if wide.
func sum(wide bool, y []float32, idx []int32, val []float32, x Matrix, begin int) {
	done := 0
	if wide && len(idx) > 0 && len(y) >= tile {
		check(idx, x, begin+len(y))
		done = len(y) &^ (tile - 1)
		for c := 0; c < done; c += tile {
			sumWide(y[c:c+tile], idx, val, x, begin+c)
		}
		if val == nil {
			scale(wide, y[:done], 1/float32(len(idx)))
		}
	}
	if done == len(y) {
		return
	}
	y = y[done:]
	clear(y)
	begin += done
	w := 1 / float32(max(len(idx), 1))
	for p, r := range idx {
		if val != nil {
			w = val[p]
		}
		row := x.Val[int(r)*x.Step+begin:][:len(y)]
		for j, v := range row {
			y[j] += w * v
		}
	}
}

// check panics if a row is outside of x.
func check(idx []int32, x Matrix, end int) {
	var most uint32 // of indices, negative ones the largest
	for _, r := range idx {
		most = max(most, uint32(r))
	}
	_ = x.Val[int(most)*x.Step+end-1]
}

// Relu sets the items of x below 0, and those that are not a number, to 0. It returns the sum of
// the squares of the others, in float64 if it is not a normal number of float32.
func Relu(x []float32) (squares float64) { return relu(wide, x) }

func relu(wide bool, x []float32) (squares float64) {
	done, sum := 0, float32(0)
	if wide {
		done = len(x) &^ 7
		sum = reluWide(x[:done])
	}
	for k, v := range x[done:] {
		if !(v > 0) {
			x[done+k] = 0
			continue
		}
		sum += v * v
	}
	if sum >= 0x1p-100 && sum <= math.MaxFloat32 {
		return float64(sum)
	}
	for _, v := range x {
		squares += float64(v) * float64(v)
	}
	return squares
}

// Scale multiplies x by a.
func Scale(x []float32, a float32) { scale(wide, x, a) }

func scale(wide bool, x []float32, a float32) {
	done := 0
	if wide {
		done = len(x) &^ 7
		scaleWide(x[:done], a)
	}
	for k := range x[done:] {
		x[done+k] *= a
	}
}
