package cpu

import (
	"errors"
	"math"
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
func ScatterRow(env Env, m *Monoid, u *sparse.Store, idx Indices, n int) (*sparse.Store, error) {
	m = guardMonoid(env, m, u.Type)
	t, at := u.Type, idx.places(&u.Structure)
	if n > 1<<16 && (len(at) < n/64 || !fits(int64(n), t.Size+1)) {
		return build(env, m, t, 1, n, make([]int32, len(at)), slices.Clone(at), u.Val)
	}
	out := &sparse.Store{Structure: sparse.Structure{NRows: 1, NCols: n, Format: sparse.Full}, Type: t}
	threads := workers(env, int64(len(at)), scatterGrain)
	if threads > 2 { // three passes pay from three threads on
		return scatterByRange(env, m, out, at, u.Val, threads)
	}
	out.Val = filled(t, n, m.Identity)
	marks := make([]uint64, (n+63)/64)
	if err := collectAt(env, m, out, marks, at, u.Val); err != nil {
		return nil, err
	}
	settleMarked(out, marks, threads)
	return out, nil
}

// collectAt adds values to the sums at places of out, from left to right, and marks these.
func collectAt(env Env, m *Monoid, out *sparse.Store, marks []uint64, at []int32, val Values) error {
	const piece = 1 << 14
	for lo := 0; lo < len(at); lo += piece {
		if env.cancelled() {
			return env.Ctx.Err()
		}
		hi := min(lo+piece, len(at))
		collectMarked(m, out.Val, marks, at[lo:hi], out.Type.Slice(val, int64(lo), int64(hi)))
	}
	return nil
}

// scatterGrain is the number of entries of a scatter that are worth a thread.
const scatterGrain = 1 << 16

// scatterByRange is ScatterRow for several threads: a stable counting sort by ranges of the result.
// One thread then sums up each range, in the order of the entries.
func scatterByRange(env Env, m *Monoid, out *sparse.Store, at []int32, val Values, threads int) (*sparse.Store, error) {
	n, t := out.NCols, out.Type
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
	places, sorted := fresh.Make[int32](int64(len(at))), t.Make(int64(len(at)))
	parallel.Do(threads, func(w int) {
		lo, hi := cut(w), cut(w+1)
		sortRanges(t, places, sorted, counts[w], shift, at[lo:hi], t.Slice(val, int64(lo), int64(hi)))
	})
	out.Val = t.Make(int64(n))
	Fill(t, out.Val, m.Identity, threads)
	marks := make([]uint64, (n+63)/64)
	errs := make([]error, ranges)
	err := parallel.Pieces(env.Ctx, threads, ranges, func(_, r int) {
		errs[r] = collectAt(env, m, out, marks, places[ptr[r]:ptr[r+1]], t.Slice(sorted, ptr[r], ptr[r+1]))
	})
	if err = errors.Join(append(errs, err)...); err != nil {
		return nil, err
	}
	settleMarked(out, marks, threads)
	return out, nil
}

// sortRanges writes positions and their values to places and sorted. next holds the place of the
// next one of each range of 2^shift positions.
func sortRanges(t *sparse.Type, places []int32, sorted Values, next []int64, shift int, at []int32, v Values) {
	switch t.Class {
	case sparse.Bytes1:
		sortValues(places, sparse.SliceOf[sparse.E1](sorted), next, shift, at, sparse.SliceOf[sparse.E1](v))
	case sparse.Bytes2:
		sortValues(places, sparse.SliceOf[sparse.E2](sorted), next, shift, at, sparse.SliceOf[sparse.E2](v))
	case sparse.Bytes4:
		sortValues(places, sparse.SliceOf[sparse.E4](sorted), next, shift, at, sparse.SliceOf[sparse.E4](v))
	case sparse.Bytes8:
		sortValues(places, sparse.SliceOf[sparse.E8](sorted), next, shift, at, sparse.SliceOf[sparse.E8](v))
	case sparse.Bytes16:
		sortValues(places, sparse.SliceOf[sparse.E16](sorted), next, shift, at, sparse.SliceOf[sparse.E16](v))
	default:
		to := make([]int64, 0, denseChunk)
		for lo := 0; lo < len(at); lo += denseChunk {
			hi := min(lo+denseChunk, len(at))
			to = to[:0]
			for _, i := range at[lo:hi] {
				q := next[i>>shift]
				next[i>>shift] = q + 1
				places[q] = i
				to = append(to, q)
			}
			t.MoveWide(sorted, to, t.Slice(v, int64(lo), int64(hi)), nil)
		}
	}
}

func sortValues[E sparse.Sized](places []int32, sorted []E, next []int64, shift int, at []int32, v []E) {
	v = v[:len(at)]
	for p, i := range at {
		q := next[i>>shift]
		next[i>>shift] = q + 1
		places[q], sorted[q] = i, v[p]
	}
}

// Scatter computes the m×n matrix of the sums of the entries u(k) with the same row rows[k] and
// column cols[k], from left to right. u is full or listed, with values.
func Scatter(env Env, m *Monoid, u *sparse.Store, rows, cols Indices, nrows, ncols int) (*sparse.Store, error) {
	m = guardMonoid(env, m, u.Type)
	i, j := rows.places(&u.Structure), cols.places(&u.Structure)
	return build(env, m, u.Type, nrows, ncols, i, j, u.Val)
}

// build makes a matrix of tuples, in blocks that threads share.
func build(env Env, m *Monoid, t *sparse.Type, nrows, ncols int, i, j []int32, val Values) (*sparse.Store, error) {
	// Sums start from the identity: the sum of NaN by min is the identity.
	sums := t.Make(int64(val.Len()))
	if err := parallel.Range(env.Ctx, env.Threads, val.Len(), 1<<15, func(_, from, to int) {
		for lo := from; lo < to; lo += denseChunk {
			hi := min(lo+denseChunk, to)
			sum := t.Slice(sums, int64(lo), int64(hi))
			t.Fill(sum, m.Identity)
			m.Collect(sum, consecutive[:hi-lo], t.Slice(val, int64(lo), int64(hi)))
		}
	}); err != nil {
		return nil, err
	}
	const block = 1 << 16
	var blocks []sparse.Block
	for lo := 0; lo < len(i); lo += block {
		hi := min(lo+block, len(i))
		blocks = append(blocks, sparse.Block{Row: i[lo:hi], Col: j[lo:hi], Val: t.Slice(sums, int64(lo), int64(hi))})
	}
	out, err := sparse.Build(t, nrows, ncols, blocks, combining(t, m), env.Threads, nil)
	if err == nil {
		err = env.stopped(m.User)
	}
	return out, err
}

// combining returns the loop of Build that adds values of t. The places that it adds to ascend: it
// gathers the values to add, and adds them to a window of v.
func combining(t *sparse.Type, m *Monoid) sparse.Combine {
	return func(v Values, to, from []int64) {
		n := min(denseChunk, len(to))
		room, at := t.Make(int64(n)), make([]int32, 0, n)
		for len(to) > 0 {
			first := to[0]
			at = at[:0]
			for _, q := range to[:min(n, len(to))] {
				if q-first > math.MaxInt32 {
					break
				}
				at = append(at, int32(q-first))
			}
			k := len(at)
			part := t.Slice(room, 0, int64(k))
			t.MoveWide(part, nil, v, from[:k])
			m.Collect(t.Slice(v, first, to[k-1]+1), at, part)
			to, from = to[k:], from[k:]
		}
	}
}
