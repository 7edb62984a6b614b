package neural

import (
	"math"
	"unsafe"

	"gonum.org/v1/gonum/blas/gonum"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/internal/rowsum"
)

// Rows of float32 take vector instructions and loops without branches: the signs of hidden values
// are as good as random, and a branch on each costs more than the arithmetic.

// as returns a list as one of another type of the same size.
func as[G, F workflow.Real](x []F) []G {
	return unsafe.Slice((*G)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// isFloat32 reports whether F has 4 bytes.
func isFloat32[F workflow.Real]() bool { return unsafe.Sizeof(F(0)) == 4 }

// Axpy adds a·x to y, which is as long. a = 0 adds nothing.
func Axpy[F workflow.Real](a F, x, y []F) {
	if isFloat32[F]() {
		gonum.Implementation{}.Saxpy(len(x), float32(a), as[float32](x), 1, as[float32](y), 1)
		return
	}
	gonum.Implementation{}.Daxpy(len(x), float64(a), as[float64](x), 1, as[float64](y), 1)
}

// sumRows sets a row to Σ val[p]·x[idx[p]], of the columns from begin on. A nil val is 1 over their
// number.
func sumRows[F workflow.Real](to []F, idx []int32, val []F, x Panel[F], begin int) {
	if isFloat32[F]() {
		rowsum.Sum(as[float32](to), idx, as[float32](val), rowsum.Matrix{Val: as[float32](x.Val), Step: x.Cols}, begin)
		return
	}
	clear(to)
	w := 1 / F(max(len(idx), 1))
	for p, s := range idx {
		if val != nil {
			w = val[p]
		}
		Axpy(w, x.Val[int(s)*x.Cols+begin:][:len(to)], to)
	}
}

// dot returns x·y, summed up in float64.
func dot[F workflow.Real](x, y []F) float64 {
	if isFloat32[F]() {
		return gonum.Implementation{}.Dsdot(len(x), as[float32](x), 1, as[float32](y), 1)
	}
	return gonum.Implementation{}.Ddot(len(x), as[float64](x), 1, as[float64](y), 1)
}

// normalise sets a row to norm(relu(row)) and returns its length before norm. A row of zeros stays,
// and relu of NaN is 0.
func normalise[F workflow.Real](x []F) F {
	squares := 0.0
	if isFloat32[F]() {
		squares = rowsum.Relu(as[float32](x))
	} else {
		for j, v := range x {
			if !(v > 0) {
				x[j] = 0
			}
		}
		squares = dot(x, x)
	}
	length := F(math.Sqrt(squares))
	if length == 0 {
		return 0
	}
	if isFloat32[F]() && length >= 0x1p-126 { // its inverse is finite
		rowsum.Scale(as[float32](x), float32(1/length))
		return length
	}
	for j := range x {
		x[j] /= length
	}
	return length
}

// unnormalise replaces the gradient of y = norm(relu(x)) by the gradient of x. length is the norm
// of relu(x).
func unnormalise[F workflow.Real](g, y []F, length F) {
	along, inverse := F(dot(y, g)), 1/length
	if isFloat32[F]() { // y is at least 0: its bits, as a number, are above 0 where it is
		for j, v := range as[float32](y) {
			d := math.Float32bits(float32((g[j] - F(v)*along) * inverse))
			g[j] = F(math.Float32frombits(d & uint32(-int32(math.Float32bits(v))>>31)))
		}
		return
	}
	for j, v := range y {
		if v > 0 {
			g[j] = (g[j] - v*along) * inverse
		} else {
			g[j] = 0
		}
	}
}
