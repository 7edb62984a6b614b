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

// Places is how values are put beside their positions.
type Places struct {
	Type *sparse.Type // of Placed
	// Put sets out[p] to v[p] at row i and column ci[p], or with swap at row ci[p] and column i.
	Put func(out, v Values, i int32, ci []int32, swap bool)
}

// Indexed is a semiring with a ⊗ that reads the positions of its operands as well as their values.
// Its drivers run on copies of the operands with Placed as values.
type Indexed struct {
	Semiring, Flipped *Semiring // over placed values
	First, Second     Places    // of the operands
}

// MxM is [MxM].
func (x *Indexed) MxM(env Env, c *sparse.Type, a, b *sparse.Store, mask *Mask, method Method) (*sparse.Store, Method, error) {
	return MxM(env, x.Semiring, c, x.First.of(env, a, false), x.Second.of(env, b, false), mask, method)
}

// Dot is [MaskedDot].
func (x *Indexed) Dot(env Env, c *sparse.Type, a, bt *sparse.Store, mask *sparse.Structure) (*sparse.Store, error) {
	return MaskedDot(env, x.Flipped, nil, c, x.First.of(env, a, false), x.Second.of(env, bt, true), mask)
}

// MxV is the product of a matrix and a column vector, by [Push] of the transpose at or, if at is
// nil, by [Pull].
func (x *Indexed) MxV(env Env, c *sparse.Type, a, at, u *sparse.Store, mask *Mask) (*sparse.Store, error) {
	if at == nil {
		return Pull(env, x.Semiring, c, x.First.of(env, a, false), noLeads, x.Second.of(env, u, true), mask)
	}
	return Push(env, x.Flipped, c, x.Second.of(env, u, true), x.First.of(env, at, true), mask)
}

// VxM is the product of a row vector and a matrix, by [Push] or, if b is nil, by [Pull] of the
// transpose bt.
func (x *Indexed) VxM(env Env, c *sparse.Type, u, b, bt *sparse.Store, mask *Mask) (*sparse.Store, error) {
	if b == nil {
		return Pull(env, x.Flipped, c, x.Second.of(env, bt, true), noLeads, x.First.of(env, u, false), mask)
	}
	return Push(env, x.Semiring, c, x.First.of(env, u, false), x.Second.of(env, b, false), mask)
}

func noLeads() []int32 { return nil }

// of returns the entries of s with their positions, or the entries of the transpose if swap is set.
// It takes O(entries) time.
func (x Places) of(env Env, s *sparse.Store, swap bool) *sparse.Store {
	s = s.ToSparse()
	out := &sparse.Store{Structure: s.Structure, Val: x.Type.Make(int64(len(s.Idx))), Type: x.Type}
	_ = parallel.Range(nil, env.Threads, s.Vecs(), 1<<10, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			from, to := s.Ptr[k], s.Ptr[k+1]
			x.Put(out.Part(from, to), s.Part(from, to), int32(s.RowID(k)), s.Idx[from:to], swap)
		}
	})
	return out
}
