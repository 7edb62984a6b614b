package ops

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// The operations of this file order entries by value. A NaN is below every other value, as in
// [cmp.Compare]; among equal values the smaller index is first. They run on the host, where their
// destinations must be; operands on a device are copied.

// onHost returns an error for a destination on a device.
func onHost[C comparable](c *call, t *target[C]) error {
	if t.at == nil {
		return nil
	}
	return fmt.Errorf("%s: %w: it runs on the host; take a destination there, operands on %s are copied", c.op, ErrPlace, t.at.Place())
}

// rankGrain is the number of rows of a piece of passes over rows alone.
const rankGrain = 1 << 14

// offsetsOfSome returns the offsets of rows that keep at most k of the entries of those of s.
func offsetsOfSome(s *sparse.Structure, k, threads int) []int64 {
	ptr := make([]int64, s.Vecs()+1)
	_ = parallel.Range(nil, threads, s.Vecs(), rankGrain, func(_, lo, hi int) {
		for r := lo; r < hi; r++ {
			ptr[r+1] = min(int64(k), s.Ptr[r+1]-s.Ptr[r])
		}
	})
	parallel.Sum(threads, ptr)
	return ptr
}

// TopK computes C⟨M⟩ ⊕= the k largest entries of each row of a, at their places. A NaN is below
// every number, and of equal values those in the smaller columns are taken. With A.T() as
// operand and the transposed destination it takes them of each column. It takes O(entries · log k)
// time and returns the same errors as [MxM].
func TopK[T cmp.Ordered](dst matrix.Target[T], a matrix.Source[T], k int, opts ...Option) error {
	c := begin[T]("TopK", "", opts)
	if k < 0 {
		return &matrix.InvalidError{Op: c.op, Reason: fmt.Sprintf("k is %d; give 0 or more", k)}
	}
	v, err := operand[T](c, "a", a)
	if err != nil {
		return err
	}
	m, n := v.Dims()
	t, err := prepare(c, specOf(dst), m, n)
	if err == nil {
		err = onHost(c, t)
	}
	if err != nil {
		return err
	}
	if t.group != nil {
		return groupOne(c, t, v, func(b block, dst groupDest[T], a matrix.View[T]) error { return TopK(dst.matrix(), a, k, b.opts) })
	}
	s := access.Rows(v)
	out := &sparse.Store[T]{Structure: sparse.Structure{NRows: m, NCols: n, Format: s.Format, RowIDs: s.RowIDs, Ptr: offsetsOfSome(&s.Structure, k, c.threads)}}
	out.NVals = out.Ptr[s.Vecs()]
	out.Idx, out.Val = fresh.Make[int32](out.NVals), fresh.Make[T](out.NVals)
	err = s.RowBlocks(c.ctx, c.threads, func(_, lo, hi int) {
		var best []int
		for r := lo; r < hi; r++ {
			from, to := s.Ptr[r], s.Ptr[r+1]
			best = topOf(best, s.Val[from:to], k)
			slices.Sort(best)
			q := out.Ptr[r]
			for e, p := range best {
				out.Idx[q+int64(e)], out.Val[q+int64(e)] = s.Idx[from+int64(p)], s.Val[from+int64(p)]
			}
		}
	})
	if err != nil {
		return err
	}
	c.traced("top", s.NVals)
	return write(c, t, sparse.Settle(out), false)
}

// TopKVector returns the indices and values of the k largest entries of u, the largest first. Equal
// values are in the order of their indices, and NaN come last. It takes O(entries · log k) time.
func TopKVector[T cmp.Ordered](u matrix.VectorSource[T], k int, opts ...Option) (idx []int, val []T, err error) {
	c := begin[T]("TopKVector", "", opts)
	if k < 0 {
		return nil, nil, &matrix.InvalidError{Op: c.op, Reason: fmt.Sprintf("k is %d; give 0 or more", k)}
	}
	v, err := vectorOperand[T](c, u, "u")
	if err != nil {
		return nil, nil, err
	}
	if err := v.Fetch(); err != nil {
		return nil, nil, err
	}
	s := access.Rows(v)
	best, err := topOfPieces(c.env(), s.Val, k)
	if err != nil {
		return nil, nil, err
	}
	slices.SortFunc(best, func(p, q int) int { return rank(s.Val, p, q) })
	for _, p := range best {
		idx, val = append(idx, int(s.Idx[p])), append(val, s.Val[p])
	}
	return idx, val, nil
}

// rank orders the places p and q by descending value, then ascending place.
func rank[T cmp.Ordered](v []T, p, q int) int {
	if by := cmp.Compare(v[q], v[p]); by != 0 {
		return by
	}
	return cmp.Compare(p, q)
}

// topOf returns the places of the k largest values, in any order, in best's memory: a heap whose
// root is the last of them by rank.
func topOf[T cmp.Ordered](best []int, v []T, k int) []int {
	best = best[:0]
	for p := range v {
		switch {
		case len(best) < k:
			best = append(best, p)
			if len(best) == k {
				for i := k/2 - 1; i >= 0; i-- {
					sink(v, best, i)
				}
			}
		case k > 0 && rank(v, p, best[0]) < 0:
			best[0] = p
			sink(v, best, 0)
		}
	}
	return best
}

// topOfPieces is topOf by all threads: the k largest are among those of pieces.
func topOfPieces[T cmp.Ordered](env cpu.Env, v []T, k int) ([]int, error) {
	const grain = 1 << 15
	pieces := min(4*parallel.Threads(env.Threads), len(v)/max(grain, 4*k))
	if pieces <= 1 {
		return topOf(nil, v, k), nil
	}
	tops := make([][]int, pieces)
	if err := parallel.Pieces(env.Ctx, env.Threads, pieces, func(_, p int) {
		from := len(v) * p / pieces
		tops[p] = topOf(nil, v[from:len(v)*(p+1)/pieces], k)
		for e := range tops[p] {
			tops[p][e] += from
		}
		slices.Sort(tops[p]) // ties go to the smaller index
	}); err != nil {
		return nil, err
	}
	all := slices.Concat(tops...)
	val := make([]T, len(all))
	for e, p := range all {
		val[e] = v[p]
	}
	best := topOf(nil, val, k)
	for e, p := range best {
		best[e] = all[p]
	}
	return best, nil
}

// sink restores the heap below place i.
func sink[T cmp.Ordered](v []T, heap []int, i int) {
	for {
		last := 2*i + 1
		if last >= len(heap) {
			return
		}
		if r := last + 1; r < len(heap) && rank(v, heap[r], heap[last]) > 0 {
			last = r
		}
		if rank(v, heap[last], heap[i]) <= 0 {
			return
		}
		heap[i], heap[last] = heap[last], heap[i]
		i = last
	}
}

// ArgMax computes w⟨m⟩ ⊕= the column of the largest entry of each row of a, the smallest column of
// equal ones. A NaN is below every number: a row of NaN alone gives its first column. A row without
// entries gives no entry. It takes O(entries) time and returns the same errors as [MxV].
func ArgMax[T cmp.Ordered](dst matrix.VectorTarget[int32], a matrix.Source[T], opts ...Option) error {
	return argBest(begin[int32]("ArgMax", "", opts), dst, a, func(x, y T) bool { return cmp.Compare(x, y) > 0 })
}

// ArgMin is [ArgMax] of the smallest number: it takes a NaN only where a row has no number.
func ArgMin[T cmp.Ordered](dst matrix.VectorTarget[int32], a matrix.Source[T], opts ...Option) error {
	return argBest(begin[int32]("ArgMin", "", opts), dst, a, func(x, y T) bool { return cmp.Compare(x, y) < 0 })
}

func argBest[T cmp.Ordered](c *call, dst matrix.VectorTarget[int32], a matrix.Source[T], better func(x, y T) bool) error {
	v, err := operand[T](c, "a", a)
	if err != nil {
		return err
	}
	m, _ := v.Dims()
	t, err := prepare(c, specOf(dst), 1, m)
	if err == nil {
		err = onHost(c, t)
	}
	if err != nil {
		return err
	}
	if t.group != nil {
		return groupArg(c, t, v, better)
	}
	s := access.Rows(v)
	cols := make([]int32, s.Vecs())
	err = s.RowBlocks(c.ctx, c.threads, func(_, lo, hi int) {
		for r := lo; r < hi; r++ {
			from, to := s.Ptr[r], s.Ptr[r+1]
			if cols[r] = -1; from == to {
				continue
			}
			best := from
			for p := from + 1; p < to; p++ {
				if better(s.Val[p], s.Val[best]) {
					best = p
				}
			}
			cols[r] = s.Idx[best]
		}
	})
	if err != nil {
		return err
	}
	out := &sparse.Store[int32]{Structure: sparse.Structure{NRows: 1, NCols: m}}
	rows := parallel.Gather(c.threads, len(cols), rankGrain, func(lo, hi int, found []int32) []int32 {
		for r := lo; r < hi; r++ {
			if cols[r] >= 0 {
				found = append(found, int32(r))
			}
		}
		return found
	})
	out.Idx, out.Val = fresh.Make[int32](int64(len(rows))), fresh.Make[int32](int64(len(rows)))
	_ = parallel.Range(nil, c.threads, len(rows), rankGrain, func(_, lo, hi int) {
		for p, r := range rows[lo:hi] {
			out.Idx[lo+p], out.Val[lo+p] = int32(s.RowID(int(r))), cols[r]
		}
	})
	out.NVals = int64(len(out.Idx))
	out.Ptr = []int64{0, out.NVals}
	c.traced("arg", s.NVals)
	return write(c, t, out, false)
}

// Sort orders the entries of each row of a by value: entry e of row i of values is the e-th by
// less, and columns holds its column in a, at the same place, as GxB_Matrix_sort does. Entries of
// which neither is less stay in the order of their columns. Either destination may be nil. It takes
// O(entries · log(longest row)) time and returns the same errors as [MxM]; an error may leave
// values written.
func Sort[T comparable](values matrix.Target[T], columns matrix.Target[int32], a matrix.Source[T], less func(x, y T) bool, opts ...Option) error {
	c := begin[T]("Sort", "", opts)
	if less == nil {
		return &OperatorError{c.op, "less is nil; give a function that orders the values"}
	}
	v, err := operand[T](c, "a", a)
	if err != nil {
		return err
	}
	if onGroups(values, columns) {
		return groupSort(c, values, columns, v, less, opts)
	}
	if err := v.Fetch(); err != nil {
		return err
	}
	m, n := v.Dims()
	s := valued(access.Rows(v))
	val := &sparse.Store[T]{Structure: s.Structure, Val: fresh.Make[T](s.NVals)}
	val.Idx = fresh.Make[int32](s.NVals)
	from := &sparse.Store[int32]{Structure: val.Structure, Val: fresh.Make[int32](s.NVals)}
	less = cpu.Guarded(c.env(), less)
	err = s.RowBlocks(c.ctx, c.threads, func(_, lo, hi int) {
		var order []int64
		for r := lo; r < hi; r++ {
			order = order[:0]
			for p := s.Ptr[r]; p < s.Ptr[r+1]; p++ {
				order = append(order, p)
			}
			slices.SortStableFunc(order, func(p, q int64) int {
				switch {
				case less(s.Val[p], s.Val[q]):
					return -1
				case less(s.Val[q], s.Val[p]):
					return 1
				}
				return 0
			})
			for e, p := range order {
				q := s.Ptr[r] + int64(e)
				val.Idx[q], val.Val[q], from.Val[q] = int32(e), s.Val[p], s.Idx[p]
			}
		}
	})
	if err != nil {
		return err
	}
	if values != nil {
		t, err := prepare(c, specOf(values), m, n)
		if err == nil {
			err = onHost(c, t)
		}
		if err != nil {
			return err
		}
		c.traced("sort", s.NVals)
		if err := write(c, t, val, false); err != nil {
			return err
		}
	}
	if columns == nil {
		return nil
	}
	ci := begin[int32]("Sort", "", opts)
	t, err := prepare(ci, specOf(columns), m, n)
	if err == nil {
		err = onHost(ci, t)
	}
	if err != nil {
		return err
	}
	ci.traced("sort", s.NVals)
	return write(ci, t, from, false)
}
