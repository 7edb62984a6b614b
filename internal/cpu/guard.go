package cpu

import "github.com/hiveblas/hiveblas/internal/sparse"

// This file stops kernels that call a function of a user, which may take any time. The drivers test
// the context between pieces of work, which are short for built-in operators. A guarded kernel
// tests it every guardBlock calls of the function, and once the context is done it returns at once,
// with values that mean nothing: the operation then returns the error of the context.

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

// A guarded kernel gets values of types that it knows when it is called: it divides slices by lists
// of positions, or by the sizes of the types in sizes.

// guardMap guards a loop c[p] = f(a[p]) from values of a to values of c.
func guardMap(env Env, user bool, f func(c, a Values), c, a *sparse.Type) func(c, a Values) {
	done := env.done(user)
	if done == nil {
		return f
	}
	return func(cv, av Values) {
		blocks(done, cv.Len(), func(lo, hi int) {
			f(c.Slice(cv, int64(lo), int64(hi)), a.Slice(av, int64(lo), int64(hi)))
		})
	}
}

// guardBinary guards an operator a × b → c.
func guardBinary(env Env, f *Binary, c, a, b *sparse.Type) *Binary {
	done := env.done(f != nil && f.User)
	if done == nil {
		return f
	}
	g := *f
	g.Zip = func(cv, av, bv Values) {
		blocks(done, cv.Len(), func(from, to int) {
			lo, hi := int64(from), int64(to)
			f.Zip(c.Slice(cv, lo, hi), a.Slice(av, lo, hi), b.Slice(bv, lo, hi))
		})
	}
	g.ZipAt = func(cv Values, pc []int32, av Values, pa []int32, bv Values, pb []int32) {
		blocks(done, len(pc), func(lo, hi int) {
			f.ZipAt(cv, pc[lo:hi], av, window(pa, int64(lo), int64(hi)), bv, window(pb, int64(lo), int64(hi)))
		})
	}
	g.BindX = func(cv Values, x Value, bv Values) {
		blocks(done, bv.Len(), func(lo, hi int) {
			f.BindX(c.Slice(cv, int64(lo), int64(hi)), x, b.Slice(bv, int64(lo), int64(hi)))
		})
	}
	g.BindY = func(cv, av Values, y Value) {
		blocks(done, av.Len(), func(lo, hi int) {
			f.BindY(c.Slice(cv, int64(lo), int64(hi)), a.Slice(av, int64(lo), int64(hi)), y)
		})
	}
	return &g
}

func guardMonoid(env Env, m *Monoid, t *sparse.Type) *Monoid {
	done := env.done(m.User)
	if done == nil {
		return m
	}
	g := *m
	g.Fold = func(s Value, xs Values) {
		blocks(done, xs.Len(), func(lo, hi int) { m.Fold(s, t.Slice(xs, int64(lo), int64(hi))) })
	}
	g.FoldRows = func(y Values, id Value, ptr []int64, v Values) {
		t.Fill(y, m.Identity)
		for i := range y.Len() {
			g.Fold(t.At(y, int64(i)), t.Slice(v, ptr[i], ptr[i+1]))
		}
	}
	g.Collect = func(acc Values, ci []int32, v Values) {
		blocks(done, len(ci), func(lo, hi int) { m.Collect(acc, ci[lo:hi], t.Slice(v, int64(lo), int64(hi))) })
	}
	g.CollectMarked = nil
	return &g
}

// guardSemiring guards the kernels of a semiring. They get the values of a row, or of a part of it,
// by its entries; see [Semiring].
func guardSemiring(env Env, s *Semiring, c, a, b *sparse.Type) *Semiring {
	done := env.done(s.User)
	if done == nil {
		return s
	}
	g, k := *s, s.Kernels
	g.Collect = func(acc Values, ci []int32, v Values) {
		blocks(done, len(ci), func(lo, hi int) { s.Collect(acc, ci[lo:hi], c.Slice(v, int64(lo), int64(hi))) })
	}
	g.DotRows = nil
	g.Dot = func(y Value, ci []int32, av, x Values) {
		blocks(done, len(ci), func(lo, hi int) { k.Dot(y, ci[lo:hi], a.Slice(av, int64(lo), int64(hi)), x) })
	}
	g.DotPresent = func(y Value, ci []int32, av, x Values, present []uint8) (hit bool) {
		blocks(done, len(ci), func(lo, hi int) {
			some := k.DotPresent(y, ci[lo:hi], a.Slice(av, int64(lo), int64(hi)), x, present)
			hit = hit || some
		})
		return hit
	}
	g.Axpy = func(y Values, x Value, bv Values) {
		blocks(done, y.Len(), func(lo, hi int) {
			k.Axpy(c.Slice(y, int64(lo), int64(hi)), x, b.Slice(bv, int64(lo), int64(hi)))
		})
	}
	g.Scatter = func(acc Values, marks []uint64, x Value, ci []int32, bv Values) {
		blocks(done, len(ci), func(lo, hi int) {
			k.Scatter(acc, marks, x, ci[lo:hi], b.Slice(bv, int64(lo), int64(hi)))
		})
	}
	g.ScatterMasked = func(acc Values, state []uint8, x Value, ci []int32, bv Values) {
		blocks(done, len(ci), func(lo, hi int) {
			k.ScatterMasked(acc, state, x, ci[lo:hi], b.Slice(bv, int64(lo), int64(hi)))
		})
	}
	g.ScatterAll = func(acc Values, x Value, ci []int32, bv Values) {
		blocks(done, len(ci), func(lo, hi int) {
			k.ScatterAll(acc, x, ci[lo:hi], b.Slice(bv, int64(lo), int64(hi)))
		})
	}
	g.Products = func(out Values, x Value, bv Values) {
		blocks(done, out.Len(), func(lo, hi int) {
			k.Products(c.Slice(out, int64(lo), int64(hi)), x, b.Slice(bv, int64(lo), int64(hi)))
		})
	}
	return &g
}

func guardUnion(env Env, ops UnionOps, c, a, b *sparse.Type) UnionOps {
	user := ops.Both.User
	ops.Both = guardBinary(env, ops.Both, c, a, b)
	if !ops.Copies {
		ops.Left, ops.Right = guardMap(env, user, ops.Left, c, a), guardMap(env, user, ops.Right, c, b)
	}
	return ops
}

// inPlaceMax is the number of values up to which a built-in operator writes to the destination
// although the context can end: these take about 15 ms.
const inPlaceMax = 1 << 24

// InPlace reports whether an operator may write n results to the values of the destination: it
// neither panics nor takes so long that the context must stop it. Both would leave the destination
// partially written.
func (e Env) InPlace(user bool, n int) bool {
	return !user && (n <= inPlaceMax || e.Ctx == nil || e.Ctx.Done() == nil)
}

// writing returns the environment of an operation with its result in out. It has no context if out
// is room, the values of the destination, so that these are never partially written.
func (e Env) writing(out, room Values) Env {
	if !room.None() && out.Same(room) {
		e.Ctx = nil
	}
	return e
}

// accumulated returns the values of c ⊕ t at the entries of t, for a dense c and a listed t.
func accumulated(env Env, c, t *sparse.Store, f *Binary) (Values, error) {
	g := guardBinary(env, f, c.Type, c.Type, c.Type)
	out := c.Type.Zeroed(int64(len(t.Idx)))
	err := t.Spans(env.Ctx, env.Threads, func(base int, from, to int64) {
		row := c.Part(int64(base), int64(base+c.NCols))
		var at, ci, alone []int32
		for lo := from; lo < to; lo += denseChunk {
			hi := min(lo+denseChunk, to)
			v, sum := t.Part(lo, hi), c.Type.Slice(out, lo, hi)
			if c.Present == nil {
				g.ZipAt(sum, consecutive[:hi-lo], row, t.Idx[lo:hi], v, consecutive[:hi-lo])
				continue
			}
			at, ci, alone = at[:0], ci[:0], alone[:0]
			for p, j := range t.Idx[lo:hi] {
				if c.Present[base+int(j)] == 0 {
					alone = append(alone, int32(p))
					continue
				}
				at, ci = append(at, int32(p)), append(ci, j)
			}
			c.Type.Move(sum, alone, v, alone)
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
