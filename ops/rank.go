package ops

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// The operations of this file order entries by value. A NaN is below every other value, as in
// [cmp.Compare]; among equal values the smaller index is first. All but ArgMax and ArgMin run on
// the host, where their destinations must be; operands on a device are copied.

// onHost returns an error for a destination on a device.
func (c *call) onHost() error {
	if c.t.at == nil {
		return nil
	}
	return fmt.Errorf("%s: %w: it runs on the host; take a destination there, operands on %s are copied", c.op, ErrPlace, c.t.at.Place())
}

// rankGrain is the number of rows of a piece of passes over rows alone.
const rankGrain = 1 << 14

// offsetsOfSome returns the offsets of rows that keep at most k of the entries of the rows of s.
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
	return begin("TopK", "", opts).topK(destOf(dst), viewOf(a), k, func(best []int, v sparse.Values) []int {
		return topOf(best, sparse.SliceOf[T](v), k)
	})
}

// topK is TopK; top returns the places of the k largest of some values, in any order, in the memory
// of best.
func (c *call) topK(d dest, v rep.View, k int, top func(best []int, v sparse.Values) []int) error {
	if k < 0 {
		return &matrix.InvalidError{Op: c.op, Reason: fmt.Sprintf("k is %d; give 0 or more", k)}
	}
	if err := c.operand("a", v); err != nil {
		return err
	}
	m, n := v.Dims()
	t, err := c.prepare(d, m, n)
	if err == nil {
		err = c.onHost()
	}
	if err != nil {
		return err
	}
	if t.group != nil {
		return c.on(t.group).groupOne(v, func(b block, d dest, a rep.View) error { return b.call(c).topK(d, a, k, top) })
	}
	s := v.Rows().Valued()
	out := &sparse.Store{Structure: sparse.Structure{NRows: m, NCols: n, Format: s.Format, RowIDs: s.RowIDs, Ptr: offsetsOfSome(&s.Structure, k, c.threads)}, Type: t.c}
	out.NVals = out.Ptr[s.Vecs()]
	out.Idx, out.Val = fresh.Make[int32](out.NVals), t.c.Make(out.NVals)
	err = s.RowBlocks(c.ctx, c.threads, func(_, lo, hi int) {
		var best []int
		var at []int32
		for r := lo; r < hi; r++ {
			from, to := s.Ptr[r], s.Ptr[r+1]
			best = top(best, s.Part(from, to))
			slices.Sort(best)
			at = at[:0]
			for e, p := range best {
				out.Idx[out.Ptr[r]+int64(e)] = s.Idx[from+int64(p)]
				at = append(at, int32(p))
			}
			t.c.Move(out.Part(out.Ptr[r], out.Ptr[r+1]), nil, s.Part(from, to), at)
		}
	})
	if err != nil {
		return err
	}
	c.traced("top", s.NVals)
	return c.write(out.Settle(), false)
}

// TopKVector returns the indices and values of the k largest entries of u, the largest first. Equal
// values are in the order of their indices, and NaN come last. It takes O(entries · log k) time.
func TopKVector[T cmp.Ordered](u matrix.VectorSource[T], k int, opts ...Option) (idx []int, val []T, err error) {
	c := begin("TopKVector", "", opts)
	in := viewOf(u)
	if err := c.topVector(in, k); err != nil {
		return nil, nil, err
	}
	s := sparse.As[T](in.Rows())
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

// topVector checks the arguments of TopKVector and copies u to the host.
func (c *call) topVector(u rep.View, k int) error {
	if k < 0 {
		return &matrix.InvalidError{Op: c.op, Reason: fmt.Sprintf("k is %d; give 0 or more", k)}
	}
	if u.Matrix == nil {
		return &matrix.InvalidError{Op: c.op, Reason: "u is nil; make it with matrix.NewVector"}
	}
	return u.Fetched()
}

// rank orders the places p and q by descending value, then ascending place.
func rank[T cmp.Ordered](v []T, p, q int) int {
	if by := cmp.Compare(v[q], v[p]); by != 0 {
		return by
	}
	return cmp.Compare(p, q)
}

// topOf returns the places of the k largest values, in any order, in best's memory: a heap with the
// last of them by rank at its root.
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
		case k > 0 && !(v[p] <= v[best[0]]) && rank(v, p, best[0]) < 0: // most are below all of best
			best[0] = p
			sink(v, best, 0)
		}
	}
	return best
}

// topOfPieces is topOf by all threads: the k largest are among the k largest of pieces.
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
	return begin("ArgMax", "", opts).argBest(destOf(dst), viewOf(a), 1, func(v sparse.Values) int { return bestOf(sparse.SliceOf[T](v), 1) })
}

// ArgMin is [ArgMax] of the smallest entry: a NaN is below every number.
func ArgMin[T cmp.Ordered](dst matrix.VectorTarget[int32], a matrix.Source[T], opts ...Option) error {
	return begin("ArgMin", "", opts).argBest(destOf(dst), viewOf(a), -1, func(v sparse.Values) int { return bestOf(sparse.SliceOf[T](v), -1) })
}

// bestOf returns the first place of the largest of the values, or of the smallest if sign is −1.
func bestOf[T cmp.Ordered](v []T, sign int) (best int) {
	for p := range v {
		if cmp.Compare(v[p], v[best]) == sign {
			best = p
		}
	}
	return best
}

// argBest is ArgMax, or ArgMin with sign −1; best returns the place of the best of some values.
func (c *call) argBest(d dest, v rep.View, sign int, best func(v sparse.Values) int) error {
	if err := c.operand("a", v); err != nil {
		return err
	}
	m, n := v.Dims()
	t, err := c.prepare(d, 1, m)
	if err != nil {
		return err
	}
	if t.at != nil {
		h := c.newRemote(1, m)
		if x, typ := h.operand(v), h.typeOf(v.Type()); h.err == nil {
			return h.store(device.ArgBest(h.at, h.call(), h.dest, typ, x, m, n, sign < 0))
		}
		return h.err
	}
	if t.group != nil {
		return c.on(t.group).groupArg(v, sign, best)
	}
	s := v.Rows().Valued()
	cols := make([]int32, s.Vecs())
	err = s.RowBlocks(c.ctx, c.threads, func(_, lo, hi int) {
		for r := lo; r < hi; r++ {
			from, to := s.Ptr[r], s.Ptr[r+1]
			if cols[r] = -1; from < to {
				cols[r] = s.Idx[from+int64(best(s.Part(from, to)))]
			}
		}
	})
	if err != nil {
		return err
	}
	out := sparse.Of(sparse.Structure{NRows: 1, NCols: m}, []int32{})
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
	out.NVals, out.Ptr = int64(len(rows)), []int64{0, int64(len(rows))}
	c.traced("arg", s.NVals)
	return c.write(sparse.Untyped(out), false)
}

// groupArg is argBest on a group.
func (c grouped) groupArg(v rep.View, sign int, best func(v sparse.Values) int) error {
	if err := c.placed(c.t.group, v); err != nil {
		return err
	}
	list, err := c.rowBlocks(v, false)
	return c.runParts(false, list, err, func(b block, d dest, x rep.View) error { return b.call(c.call).argBest(d, x, sign, best) })
}

// Sort orders the entries of each row of a by value: entry e of row i of values is the e-th by
// less, and columns holds its column in a, at the same place, as GxB_Matrix_sort does. Entries that
// less does not order stay in the order of their columns. Either destination may be nil. It takes
// O(entries · log(longest row)) time and returns the same errors as [MxM]; an error may leave
// values written.
func Sort[T comparable](values matrix.Target[T], columns matrix.Target[int32], a matrix.Source[T], less func(x, y T) bool, opts ...Option) error {
	c := begin("Sort", "", opts)
	if less == nil {
		return &OperatorError{c.op, "less is nil; give a function that orders the values"}
	}
	less = cpu.Guarded(c.env(), less)
	order := func(places []int64, values sparse.Values) {
		v := sparse.SliceOf[T](values)
		slices.SortStableFunc(places, func(p, q int64) int {
			switch {
			case less(v[p], v[q]):
				return -1
			case less(v[q], v[p]):
				return 1
			}
			return 0
		})
	}
	return c.sort(destOf(values), destOf(columns), viewOf(a), order)
}

// sort is Sort; order sorts places of values.
func (c *call) sort(values, columns dest, v rep.View, order func(places []int64, v sparse.Values)) error {
	if err := c.operand("a", v); err != nil {
		return err
	}
	_, first := values.place().(*comm.Group)
	if _, second := columns.place().(*comm.Group); first || second {
		return c.groupSort(values, columns, v, order)
	}
	if err := v.Fetched(); err != nil {
		return err
	}
	m, n := v.Dims()
	s := v.Rows().Valued()
	val := s.Holding(s.Type.Make(s.NVals))
	val.Idx = fresh.Make[int32](s.NVals)
	from := sparse.Of(val.Structure, fresh.Make[int32](s.NVals))
	err := s.RowBlocks(c.ctx, c.threads, func(_, lo, hi int) {
		var places []int64
		for r := lo; r < hi; r++ {
			first, end := s.Ptr[r], s.Ptr[r+1]
			places = places[:0]
			for p := range end - first {
				places = append(places, p)
			}
			row := s.Part(first, end)
			order(places, row)
			for e, p := range places {
				q := first + int64(e)
				val.Idx[q], from.Val[q] = int32(e), s.Idx[first+p]
			}
			s.Type.MoveWide(val.Part(first, end), nil, row, places)
		}
	})
	if err != nil {
		return err
	}
	for _, out := range []struct {
		d  dest
		st *sparse.Store
	}{{values, val}, {columns, sparse.Untyped(from)}} {
		if out.d.m == nil {
			continue
		}
		in := c.step("Sort")
		_, err := in.prepare(out.d, m, n)
		if err == nil {
			err = in.onHost()
		}
		if err != nil {
			return err
		}
		in.traced("sort", s.NVals)
		if err := in.write(out.st, false); err != nil {
			return err
		}
	}
	return nil
}

// groupSort is sort for each of its destinations. One of them may be on the host.
func (c *call) groupSort(values, columns dest, v rep.View, order func(places []int64, v sparse.Values)) error {
	m, n := v.Dims()
	for k, d := range []dest{values, columns} {
		if d.m == nil {
			continue
		}
		in := c.step("Sort")
		t, err := in.prepare(d, m, n)
		if err != nil {
			return err
		}
		one := func(c *call, d dest, a rep.View) error {
			if k == 0 {
				return c.sort(d, dest{}, a, order)
			}
			return c.sort(dest{}, d, a, order)
		}
		if t.group == nil {
			err = one(c.step("Sort"), d, v)
		} else {
			err = in.on(t.group).groupOne(v, func(b block, d dest, a rep.View) error { return one(b.call(in), d, a) })
		}
		if err != nil {
			return err
		}
	}
	return nil
}
