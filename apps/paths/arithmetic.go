package paths

import (
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// number is a value of the element type of a search in its first bytes. The other bytes have no
// meaning, so numbers are compared by arithmetic.less alone.
type number uint64

func numberOf[T semiring.Number](x T) (w number) {
	*(*T)(unsafe.Pointer(&w)) = x
	return w
}

func valueOf[T semiring.Number](w number) T { return *(*T)(unsafe.Pointer(&w)) }

// arithmetic is an element type for searches without type parameters, which compute with single
// numbers once a step.
type arithmetic struct {
	of        *sparse.Type
	most, one number
	less      func(x, y number) bool
	plus      func(x, y number) number // most where the sum is larger
	record    int64                    // bytes of a frontierRecord
	vector    func(n int, at matrix.Place) rep.View
	host      func(q *searchRun, in rep.View, lo, own int) rankSearch
	weights   func(st *sparse.Store) edgeWeights
}

func arithmeticOf[T semiring.Number]() *arithmetic {
	return &arithmetic{of: sparse.TypeOf[T](), most: numberOf(semiring.MaxValue[T]()), one: numberOf(T(1)),
		less: less[T], plus: sum[T], record: int64(unsafe.Sizeof(frontierRecord[T]{})),
		vector: emptyVector[T], host: newHostSearch[T], weights: weightsAmong[T]}
}

// onDevice returns the element type on a device.
func (a *arithmetic) onDevice() (device.Type, error) { return device.TypeFor(sparse.GoType(a.of)) }

func less[T semiring.Number](x, y number) bool { return valueOf[T](x) < valueOf[T](y) }

func sum[T semiring.Number](x, y number) number {
	most := semiring.MaxValue[T]()
	if a, b := valueOf[T](x), valueOf[T](y); a <= most-b {
		return numberOf(a + b)
	}
	return numberOf(most)
}

func emptyVector[T semiring.Number](n int, at matrix.Place) rep.View {
	return matrix.NewVector[T](n, matrix.On(at)).Inside()
}

// weightsAmong is weightsAt on the host.
func weightsAmong[T semiring.Number](st *sparse.Store) (w edgeWeights) {
	if st.Val.None() && st.NVals > 0 { // a pattern
		return edgeWeights{longest: numberOf(T(1))}
	}
	limit, all, longest := semiring.MaxValue[T](), T(1)/2 == 0, T(0)
	for _, x := range sparse.As[T](st).Val {
		switch {
		case !(x >= 0):
			w.bad = 1
		case all || x < limit:
			longest = max(longest, x)
		}
	}
	w.longest = numberOf(longest)
	return w
}
