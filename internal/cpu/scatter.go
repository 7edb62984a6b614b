package cpu

import (
	"errors"
	"math/bits"
	"slices"

	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// places returns the index of each entry of u, a vector that is full or listed, in a list.
func (x Indices) places(u *sparse.Structure) []int32 {
	switch {
	case u.Sparse() && x.List == nil:
		return shifted(u.Idx, -x.Lo)
	case u.Sparse():
		at := make([]int32, len(u.Idx))
		for p, k := range u.Idx {
			at[p] = x.List[k]
		}
		return at
	case x.List != nil:
		return x.List
	}
	at := make([]int32, u.NCols)
	for k := range at {
		at[k] = int32(x.Lo + k)
	}
	return at
}

// ScatterRow computes the 1×n vector of the sums of the entries u(k) with idx[k] = i, from left to
// right. u is full or listed, with values. It takes O(entries + n) time; if n is much larger than
// the number of entries, it sorts them.
func ScatterRow[T any](env Env, m *Monoid[T], u *sparse.Store[T], idx Indices, n int) (*sparse.Store[T], error) {
	m = guardMonoid(env, m)
	at := idx.places(&u.Structure)
	if n > 1<<16 && (len(at) < n/64 || !fits(int64(n), sizeOf[T]()+1)) {
		return build(env, m, 1, n, make([]int32, len(at)), slices.Clone(at), u.Val)
	}
	out := &sparse.Store[T]{Structure: sparse.Structure{NRows: 1, NCols: n, Format: sparse.Full}}
	threads := workers(env, int64(len(at)), scatterGrain)
	if threads > 2 { // three passes pay from three threads on
		return scatterByRange(env, m, out, at, u.Val, threads)
	}
	out.Val = filled(n, m.Identity)
	marks := make([]uint64, (n+63)/64)
	if err := collectAt(env, m, out.Val, marks, at, u.Val); err != nil {
		return nil, err
	}
	settleMarked(out, marks, threads)
	return out, nil
}

// collectAt adds values to the sums at places, from left to right, and marks these.
func collectAt[T any](env Env, m *Monoid[T], sums []T, marks []uint64, at []int32, val []T) error {
	const piece = 1 << 14
	for lo := 0; lo < len(at); lo += piece {
		if env.cancelled() {
			return env.Ctx.Err()
		}
		ci := at[lo:min(lo+piece, len(at))]
		collectMarked(m, sums, marks, ci, val[lo:lo+len(ci)])
	}
	return nil
}

// scatterGrain is the number of entries of a scatter that are worth a thread.
const scatterGrain = 1 << 16

// scatterByRange is ScatterRow for several threads: a stable counting sort by ranges of the result,
// each of which one thread then sums up, in the order of the entries.
func scatterByRange[T any](env Env, m *Monoid[T], out *sparse.Store[T], at []int32, val []T, threads int) (*sparse.Store[T], error) {
	n := out.NCols
	shift := max(9, bits.Len(uint(n/(8*threads)))) // ranges of whole cache lines of marks
	ranges := (n-1)>>shift + 1
	cut := func(w int) int { return len(at) * w / threads }
	counts, ptr := make([][]int64, threads), make([]int64, ranges+1)
	parallel.Do(threads, func(w int) {
		c := make([]int64, ranges)
		for _, i := range at[cut(w):cut(w+1)] {
			c[i>>shift]++
		}
		counts[w] = c
	})
	parallel.Offsets(threads, counts, ptr)
	places, sorted := fresh.Make[int32](int64(len(at))), fresh.Make[T](int64(len(at)))
	parallel.Do(threads, func(w int) {
		next, v := counts[w], val[cut(w):cut(w+1)]
		for p, i := range at[cut(w):cut(w+1)] {
			q := next[i>>shift]
			next[i>>shift] = q + 1
			places[q], sorted[q] = i, v[p]
		}
	})
	out.Val = fresh.Make[T](int64(n))
	Fill(out.Val, m.Identity, threads)
	marks := make([]uint64, (n+63)/64)
	errs := make([]error, ranges)
	err := parallel.Pieces(env.Ctx, threads, ranges, func(_, r int) {
		errs[r] = collectAt(env, m, out.Val, marks, places[ptr[r]:ptr[r+1]], sorted[ptr[r]:ptr[r+1]])
	})
	if err = errors.Join(append(errs, err)...); err != nil {
		return nil, err
	}
	settleMarked(out, marks, threads)
	return out, nil
}

// Scatter computes the m×n matrix of the sums of the entries u(k) with the same row rows[k] and
// column cols[k], from left to right. u is full or listed, with values.
func Scatter[T any](env Env, m *Monoid[T], u *sparse.Store[T], rows, cols Indices, nrows, ncols int) (*sparse.Store[T], error) {
	m = guardMonoid(env, m)
	i, j := rows.places(&u.Structure), cols.places(&u.Structure)
	return build(env, m, nrows, ncols, i, j, u.Val)
}

// build makes a matrix of tuples, in blocks that threads share.
func build[T any](env Env, m *Monoid[T], nrows, ncols int, i, j []int32, val []T) (*sparse.Store[T], error) {
	const block = 1 << 16
	var blocks []sparse.Tuples[T]
	for lo := 0; lo < len(i); lo += block {
		hi := min(lo+block, len(i))
		blocks = append(blocks, sparse.Tuples[T]{Row: i[lo:hi], Col: j[lo:hi], Val: val[lo:hi]})
	}
	if env.cancelled() {
		return nil, env.Ctx.Err()
	}
	out, err := sparse.Build(nrows, ncols, blocks, m.Fn, env.Threads, nil)
	if err != nil {
		return nil, err
	}
	// Sums start from the identity: that of NaN by min is it.
	return out, parallel.Range(env.Ctx, env.Threads, len(out.Val), 1<<15, func(_, lo, hi int) {
		for p, x := range out.Val[lo:hi] {
			out.Val[lo+p] = m.Fn(m.Identity, x)
		}
	})
}
