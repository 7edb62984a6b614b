package cpu

import (
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// This file stops kernels that call a function of a user, which may take any time. The drivers test
// the context between pieces of work, which are short for built-in operators. A guarded kernel tests
// it every guardBlock calls of the function, and once the context is done it returns at once, with
// values that mean nothing: the operation then returns the error of the context.

// guardBlock is the number of calls of a user's function between tests of the context.
const guardBlock = 128

// done returns the channel of the context of an operation with a user's function. It is nil for
// others, and if the context never ends.
func (e Env) done(user bool) <-chan struct{} {
	if !user || e.Ctx == nil {
		return nil
	}
	return e.Ctx.Done()
}

// ended reports whether done is closed.
func ended(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// stopped returns the error of the context if it ended a guarded kernel.
func (e Env) stopped(user bool) error {
	if ended(e.done(user)) {
		return e.Ctx.Err()
	}
	return nil
}

// blocks calls fn for the blocks of n values until done is closed.
func blocks(done <-chan struct{}, n int, fn func(lo, hi int)) {
	for lo := 0; lo < n && !ended(done); lo += guardBlock {
		fn(lo, min(lo+guardBlock, n))
	}
}

// part returns v[lo:hi], or nil if v is nil.
func part[T any](v []T, lo, hi int) []T {
	if v == nil {
		return nil
	}
	return v[lo:hi]
}

// guardMap guards a loop c[p] = f(a[p]).
func guardMap[A, C any](env Env, user bool, f func(c []C, a []A)) func(c []C, a []A) {
	done := env.done(user)
	if done == nil {
		return f
	}
	return func(c []C, a []A) {
		blocks(done, len(c), func(lo, hi int) { f(c[lo:hi], part(a, lo, hi)) })
	}
}

// guardFunc guards single calls.
func guardFunc[A, B, C any](done <-chan struct{}, f func(x A, y B) C) func(x A, y B) C {
	return func(x A, y B) (z C) {
		if ended(done) {
			return z
		}
		return f(x, y)
	}
}

func guardBinary[A, B, C any](env Env, f *Binary[A, B, C]) *Binary[A, B, C] {
	done := env.done(f != nil && f.User)
	if done == nil {
		return f
	}
	g := *f
	g.Fn = guardFunc(done, f.Fn)
	g.Zip = func(c []C, a []A, b []B) {
		blocks(done, len(c), func(lo, hi int) { f.Zip(c[lo:hi], part(a, lo, hi), part(b, lo, hi)) })
	}
	g.ZipAt = func(c []C, pc []int32, a []A, pa []int32, b []B, pb []int32) {
		blocks(done, len(pc), func(lo, hi int) {
			f.ZipAt(c, pc[lo:hi], a, part(pa, lo, hi), b, part(pb, lo, hi))
		})
	}
	g.BindX = func(c []C, x A, b []B) {
		blocks(done, len(b), func(lo, hi int) { f.BindX(c[lo:hi], x, b[lo:hi]) })
	}
	g.BindY = func(c []C, a []A, y B) {
		blocks(done, len(a), func(lo, hi int) { f.BindY(c[lo:hi], a[lo:hi], y) })
	}
	return &g
}

func guardMonoid[T any](env Env, m *Monoid[T]) *Monoid[T] {
	done := env.done(m.User)
	if done == nil {
		return m
	}
	g := *m
	g.Fn = guardFunc(done, m.Fn)
	g.Fold = func(s T, xs []T) T {
		blocks(done, len(xs), func(lo, hi int) { s = m.Fold(s, xs[lo:hi]) })
		return s
	}
	g.FoldRows = func(y []T, id T, ptr []int64, v []T) {
		for i := range y {
			y[i] = g.Fold(id, v[ptr[i]:ptr[i+1]])
		}
	}
	g.Collect = func(acc []T, ci []int32, v []T) {
		blocks(done, len(ci), func(lo, hi int) { m.Collect(acc, ci[lo:hi], v[lo:hi]) })
	}
	g.CollectMarked = nil
	return &g
}

func guardSemiring[A, B, C any](env Env, s *Semiring[A, B, C]) *Semiring[A, B, C] {
	done := env.done(s.User)
	if done == nil {
		return s
	}
	g, k := *s, s.Kernels
	g.Add, g.Mul = guardFunc(done, s.Add), guardFunc(done, s.Mul)
	g.Collect = func(acc []C, ci []int32, v []C) {
		blocks(done, len(ci), func(lo, hi int) { s.Collect(acc, ci[lo:hi], v[lo:hi]) })
	}
	g.DotRows = nil
	g.Dot = func(sum C, ci []int32, av []A, x []B) C {
		blocks(done, len(ci), func(lo, hi int) { sum = k.Dot(sum, ci[lo:hi], part(av, lo, hi), x) })
		return sum
	}
	g.DotPresent = func(sum C, ci []int32, av []A, x []B, present []uint8) (C, bool) {
		hit := false
		blocks(done, len(ci), func(lo, hi int) {
			var some bool
			sum, some = k.DotPresent(sum, ci[lo:hi], part(av, lo, hi), x, present)
			hit = hit || some
		})
		return sum, hit
	}
	g.Axpy = func(y []C, a A, b []B) {
		blocks(done, len(y), func(lo, hi int) { k.Axpy(y[lo:hi], a, part(b, lo, hi)) })
	}
	g.Scatter = func(acc []C, marks []uint64, a A, ci []int32, bv []B) {
		blocks(done, len(ci), func(lo, hi int) { k.Scatter(acc, marks, a, ci[lo:hi], part(bv, lo, hi)) })
	}
	g.ScatterMasked = func(acc []C, state []uint8, a A, ci []int32, bv []B) {
		blocks(done, len(ci), func(lo, hi int) { k.ScatterMasked(acc, state, a, ci[lo:hi], part(bv, lo, hi)) })
	}
	g.ScatterAll = func(acc []C, a A, ci []int32, bv []B) {
		blocks(done, len(ci), func(lo, hi int) { k.ScatterAll(acc, a, ci[lo:hi], part(bv, lo, hi)) })
	}
	g.Products = func(out []C, a A, bv []B) {
		blocks(done, len(out), func(lo, hi int) { k.Products(out[lo:hi], a, part(bv, lo, hi)) })
	}
	return &g
}

func guardUnion[A, B, C any](env Env, ops UnionOps[A, B, C]) UnionOps[A, B, C] {
	user := ops.Both.User
	ops.Both = guardBinary(env, ops.Both)
	if !ops.Copies {
		ops.Left, ops.Right = guardMap(env, user, ops.Left), guardMap(env, user, ops.Right)
	}
	return ops
}

// inPlaceMax is the number of values up to which a built-in accumulator writes to the destination
// although the context can end: these take about 15 ms.
const inPlaceMax = 1 << 24

// inPlace reports whether an accumulator may write n results to the values of the destination: it
// neither panics nor takes so long that the context must stop it, either of which would leave the
// destination half written.
func (e Env) inPlace(user bool, n int) bool {
	return !user && (n <= inPlaceMax || e.Ctx == nil || e.Ctx.Done() == nil)
}

// accumulated returns the values of c ⊕ t at the entries of t, for a dense c and a listed t.
func accumulated[C any](env Env, c, t *sparse.Store[C], f *Binary[C, C, C]) ([]C, error) {
	g := guardBinary(env, f)
	out := make([]C, len(t.Idx))
	err := t.Spans(env.Ctx, env.Threads, func(base int, from, to int64) {
		row := c.Val[base:]
		var at, ci []int32
		for lo := from; lo < to; lo += denseChunk {
			hi := min(lo+denseChunk, to)
			v, sum := t.Val[lo:hi], out[lo:hi]
			if c.Present == nil {
				g.ZipAt(sum, consecutive[:hi-lo], row, t.Idx[lo:hi], v, consecutive[:hi-lo])
				continue
			}
			at, ci = at[:0], ci[:0]
			for p, j := range t.Idx[lo:hi] {
				if c.Present[base+int(j)] == 0 {
					sum[p] = v[p]
					continue
				}
				at, ci = append(at, int32(p)), append(ci, j)
			}
			g.ZipAt(sum, at, row, ci, v, at)
		}
	})
	if err == nil {
		err = env.stopped(f.User)
	}
	return out, err
}

// Guarded returns less, which is false once the context is done.
func Guarded[T any](env Env, less func(x, y T) bool) func(x, y T) bool {
	done := env.done(true)
	if done == nil {
		return less
	}
	return func(x, y T) bool { return !ended(done) && less(x, y) }
}

// guardedRange is parallel.Range for loops that call a user's function for each item.
func guardedRange(env Env, n, grain int, fn func(lo, hi int)) error {
	done := env.done(true)
	return parallel.Range(env.Ctx, env.Threads, n, grain, func(_, lo, hi int) {
		for ; lo < hi && !ended(done); lo += guardBlock {
			fn(lo, min(lo+guardBlock, hi))
		}
	})
}
