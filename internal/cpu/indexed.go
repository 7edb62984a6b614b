package cpu

import (
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Placed is the value of an entry and its position.
type Placed[T any] struct {
	X    T
	I, J int32
}

// Indexed is a semiring whose ⊗ reads the positions of its operands as well as their values. Its
// drivers run on copies of the operands whose values are Placed. They are closures, so that only
// programs that make such a semiring instantiate them.
type Indexed[A, B, C any] struct {
	// MxM is [MxM].
	MxM func(env Env, a *sparse.Store[A], b *sparse.Store[B], mask *Mask, method Method) (*sparse.Store[C], Method, error)
	// Dot is [MaskedDot].
	Dot func(env Env, a *sparse.Store[A], bt *sparse.Store[B], mask *sparse.Structure) (*sparse.Store[C], error)
	// MxV is the product of a matrix and a column vector, by [Push] of the transpose at or, if at
	// is nil, by [Pull].
	MxV func(env Env, a, at *sparse.Store[A], u *sparse.Store[B], mask *Mask) (*sparse.Store[C], error)
	// VxM is the product of a row vector and a matrix, by [Push] or, if b is nil, by [Pull] of the
	// transpose bt.
	VxM func(env Env, u *sparse.Store[A], b, bt *sparse.Store[B], mask *Mask) (*sparse.Store[C], error)
}

// NewIndexed returns the drivers of a semiring over placed values, and of the same with exchanged
// operands.
func NewIndexed[A, B, C any](s *Semiring[Placed[A], Placed[B], C], flip *Semiring[Placed[B], Placed[A], C]) *Indexed[A, B, C] {
	noLeads := func() []int32 { return nil }
	return &Indexed[A, B, C]{
		MxM: func(env Env, a *sparse.Store[A], b *sparse.Store[B], mask *Mask, method Method) (*sparse.Store[C], Method, error) {
			return MxM(env, s, withPlaces(env, a, false), withPlaces(env, b, false), mask, method)
		},
		Dot: func(env Env, a *sparse.Store[A], bt *sparse.Store[B], mask *sparse.Structure) (*sparse.Store[C], error) {
			return MaskedDot(env, flip, withPlaces(env, a, false), withPlaces(env, bt, true), mask)
		},
		MxV: func(env Env, a, at *sparse.Store[A], u *sparse.Store[B], mask *Mask) (*sparse.Store[C], error) {
			if at == nil {
				return Pull(env, s, withPlaces(env, a, false), noLeads, withPlaces(env, u, true), mask)
			}
			return Push(env, flip, withPlaces(env, u, true), withPlaces(env, at, true), mask)
		},
		VxM: func(env Env, u *sparse.Store[A], b, bt *sparse.Store[B], mask *Mask) (*sparse.Store[C], error) {
			if b == nil {
				return Pull(env, flip, withPlaces(env, bt, true), noLeads, withPlaces(env, u, false), mask)
			}
			return Push(env, s, withPlaces(env, u, false), withPlaces(env, b, false), mask)
		},
	}
}

// withPlaces returns the entries of s with their positions, those of the transpose if swap is set.
// It takes O(entries) time.
func withPlaces[T any](env Env, s *sparse.Store[T], swap bool) *sparse.Store[Placed[T]] {
	s = sparse.ToSparse(s)
	out := &sparse.Store[Placed[T]]{Structure: s.Structure, Val: make([]Placed[T], len(s.Idx))}
	_ = parallel.Range(nil, env.Threads, s.Vecs(), 1<<10, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			i := int32(s.RowID(k))
			for p := s.Ptr[k]; p < s.Ptr[k+1]; p++ {
				x := Placed[T]{s.Val[p], i, s.Idx[p]}
				if swap {
					x.I, x.J = x.J, x.I
				}
				out.Val[p] = x
			}
		}
	})
	return out
}
