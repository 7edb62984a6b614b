package ops

import (
	"context"
	"slices"
	"unsafe"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// The operations of lists of indices on groups. All ranks know the lists, so each finds the rows
// that others need of it.

func sizeOf[T any]() int { return int(unsafe.Sizeof(*new(T))) }

// listOf makes indices of a list of 32-bit ones, which must not change.
func listOf(x []int32) Indices {
	if x == nil {
		x = []int32{}
	}
	return Indices{short: x}
}

// indicesFrom returns checked indices as those of an option.
func indicesFrom(x cpu.Indices) Indices {
	if x.List == nil {
		return All()
	}
	return listOf(x.List)
}

// within returns the places of a list whose items are lo … hi−1, and these items from lo on.
func within(x cpu.Indices, lo, hi int) (at, items []int32) {
	at, items = []int32{}, []int32{}
	for p, i := range x.List {
		if int(i) >= lo && int(i) < hi {
			at, items = append(at, int32(p)), append(items, i-int32(lo))
		}
	}
	return at, items
}

// setOf returns a list in ascending order without repeats.
func setOf(list []int32) []int32 {
	set, _ := sorted(list, false)
	return set
}

// sorted returns a list in ascending order without repeats, and if places is set the place of each
// item in it. A list of many of the rows is sorted by marks of the rows.
func sorted(list []int32, places bool) (set, at []int32) {
	if len(list) == 0 {
		return []int32{}, []int32{}
	}
	if top := int(slices.Max(list)) + 1; top <= 32*len(list) {
		place := make([]int32, top)
		for _, i := range list {
			place[i] = 1
		}
		for i, marked := range place {
			if marked != 0 {
				place[i] = int32(len(set))
				set = append(set, int32(i))
			}
		}
		if places {
			at = make([]int32, len(list))
			for p, i := range list {
				at[p] = place[i]
			}
		}
		return set, at
	}
	set = slices.Clone(list)
	slices.Sort(set)
	set = slices.Compact(set)
	if places {
		at = make([]int32, len(list))
		for p, i := range list {
			q, _ := slices.BinarySearch(set, i)
			at[p] = int32(q)
		}
	}
	return set, at
}

// neededRows returns for each rank of this process the rows that rows lists for it, in the order of
// sorted. It is a collective.
func neededRows[T comparable](c *call, g *comm.Group, v matrix.View[T], rows func(rank int) []int32) ([]matrix.View[T], error) {
	if v.IsVector() { // as a matrix of one row or one column
		list, err := wholes(c, g, v)
		if err != nil {
			return nil, err
		}
		for k, r := range g.Ranks() {
			set := setOf(rows(r.Rank()))
			_, n := v.Dims()
			some := matrix.New[T](len(set), n, matrix.On(placeOn(g, k)))
			if err := Extract(some, list[k], listOf(set), All()); err != nil {
				return nil, err
			}
			list[k] = some.View()
		}
		return list, nil
	}
	return access.Blocks(v, rep.Query{Group: g, Context: c.onGroup(g), Rows: func(rank int) []int32 { return setOf(rows(rank)) }})
}

// groupExtract computes C⟨M⟩ ⊕= A(rows, cols).
func groupExtract[T comparable](c *call, t *target[T], v matrix.View[T], rows, cols cpu.Indices) error {
	g := t.group
	if err := placed(c, g, v); err != nil {
		return err
	}
	all := indicesFrom(cols)
	if rows.List == nil {
		list, err := rowBlocks(c, t, v, false)
		if err != nil {
			return err
		}
		return runGroup(c, t, false, func(b block, dst groupDest[T]) error {
			return Extract(dst.matrix(), list[b.k], All(), all, b.opts)
		})
	}
	cuts := groupCuts(t)
	mine := func(rank int) []int32 { return rows.List[cuts[rank]:cuts[rank+1]] }
	list, err := neededRows(c, g, v, mine)
	if err != nil {
		return err
	}
	return runGroup(c, t, false, func(b block, dst groupDest[T]) error {
		_, at := sorted(mine(b.rank), true)
		return Extract(dst.matrix(), list[b.k], listOf(at), all, b.opts)
	})
}

// listsOnDevices reports whether the operation reads lists of indices on a group of devices there.
func (c *call) listsOnDevices() bool {
	return c.op == "ExtractVector" || c.op == "Scatter" || c.op == "ScatterVector"
}

// listsOf returns a list of indices for each rank of this process: a vector on devices is gathered.
func listsOf(c *call, g *comm.Group, x indices) ([]Indices, error) {
	lists := make([]Indices, len(g.Ranks()))
	if x.values == nil {
		for k := range lists {
			lists[k] = indicesFrom(x.Indices)
		}
		return lists, nil
	}
	whole, err := wholes(c, g, *x.values)
	for k, v := range whole {
		lists[k] = ValuesOf(access.AsVector(v))
	}
	return lists, err
}

// groupExtractVector computes w⟨m⟩ ⊕= u(idx).
func groupExtractVector[T comparable](c *call, t *target[T], v matrix.View[T], idx indices) error {
	if idx.values != nil {
		lists, err := listsOf(c, t.group, idx)
		if err != nil {
			return err
		}
		list, err := wholes(c, t.group, v)
		if err != nil {
			return err
		}
		return runGroup(c, t, false, func(b block, dst groupDest[T]) error {
			return ExtractVector(dst.vector(), access.AsVector(list[b.k]), lists[b.k], b.opts,
				withLocal(localRun{shift: b.lo, extent: b.hi - b.lo, items: true}))
		})
	}
	if idx.List == nil {
		return groupOne(c, t, v, func(b block, dst groupDest[T], u matrix.View[T]) error {
			return ExtractVector(dst.vector(), access.AsVector(u), All(), b.opts)
		})
	}
	list, err := wholes(c, t.group, v)
	if err != nil {
		return err
	}
	return runGroup(c, t, false, func(b block, dst groupDest[T]) error {
		return ExtractVector(dst.vector(), access.AsVector(list[b.k]), listOf(idx.List[b.lo:b.hi]), b.opts)
	})
}

// groupExtractRow computes w⟨m⟩ ⊕= A(i, cols).
func groupExtractRow[T comparable](c *call, t *target[T], v matrix.View[T], i int, cols cpu.Indices) error {
	if err := placed(c, t.group, v); err != nil {
		return err
	}
	list, err := neededRows(c, t.group, v, func(int) []int32 { return []int32{int32(i)} })
	if err != nil {
		return err
	}
	return runGroup(c, t, false, func(b block, dst groupDest[T]) error {
		if cols.List != nil {
			return ExtractRow(dst.vector(), list[b.k], 0, listOf(cols.List[b.lo:b.hi]), b.opts)
		}
		if err := list[b.k].Fetch(); err != nil {
			return err
		}
		mine := sparse.Part(valued(access.Rows(list[b.k])), true, b.lo, b.hi)
		return Apply[T, T](dst.vector(), semiring.Identity[T](), access.VectorFromStore(mine), b.opts)
	})
}

// groupAssign computes C(rows, cols)⟨M⟩ ⊕= A.
func groupAssign[T comparable](c *call, t *target[T], v matrix.View[T], rows, cols cpu.Indices) error {
	g := t.group
	if err := placed(c, g, v); err != nil {
		return err
	}
	all := indicesFrom(cols)
	if rows.List == nil {
		list, err := rowBlocks(c, t, v, false)
		if err != nil {
			return err
		}
		return runGroup(c, t, true, func(b block, dst groupDest[T]) error {
			return Assign(dst.matrix(), list[b.k], All(), all, b.opts)
		})
	}
	cuts := groupCuts(t)
	list, err := neededRows(c, g, v, func(rank int) []int32 {
		at, _ := within(rows, cuts[rank], cuts[rank+1])
		return at
	})
	if err != nil {
		return err
	}
	return runGroup(c, t, true, func(b block, dst groupDest[T]) error {
		_, items := within(rows, b.lo, b.hi)
		return Assign(dst.matrix(), list[b.k], listOf(items), all, b.opts)
	})
}

// groupAssignVector computes w(idx)⟨m⟩ ⊕= u.
func groupAssignVector[T comparable](c *call, t *target[T], v matrix.View[T], idx cpu.Indices) error {
	if idx.List == nil {
		list, err := aligned(c, t, v)
		if err != nil {
			return err
		}
		return runGroup(c, t, true, func(b block, dst groupDest[T]) error {
			return AssignVector(dst.vector(), access.AsVector(list[b.k]), All(), b.opts)
		})
	}
	list, err := wholes(c, t.group, v)
	if err != nil {
		return err
	}
	return runGroup(c, t, true, func(b block, dst groupDest[T]) error {
		at, items := within(idx, b.lo, b.hi)
		some := matrix.NewVector[T](len(at), matrix.On(placeOn(t.group, b.k)))
		if err := ExtractVector(some, access.AsVector(list[b.k]), listOf(at)); err != nil {
			return err
		}
		return AssignVector(dst.vector(), some, listOf(items), b.opts)
	})
}

// groupAssignScalar computes C(rows, cols)⟨M⟩ ⊕= x.
func groupAssignScalar[T comparable](c *call, t *target[T], x T, rows, cols cpu.Indices) error {
	list := rows
	if t.spec.Vector {
		list = cols
	}
	return runGroup(c, t, true, func(b block, dst groupDest[T]) error {
		mine := All()
		if list.List != nil {
			_, items := within(list, b.lo, b.hi)
			mine = listOf(items)
		}
		if t.spec.Vector {
			return AssignVectorScalar(dst.vector(), x, mine, b.opts)
		}
		return AssignScalar(dst.matrix(), x, mine, indicesFrom(cols), b.opts)
	})
}

// scatterOnDevices computes C⟨M⟩ ⊕= T on a group of devices. Each gets the whole of u and of the
// lists, and keeps what falls into its block.
func scatterOnDevices[T comparable](c *call, t *target[T], dup semiring.Monoid[T], v matrix.View[T], rows *indices, cols indices) error {
	g := t.group
	j, err := listsOf(c, g, cols)
	if err != nil {
		return err
	}
	i := j
	if rows != nil {
		if i, err = listsOf(c, g, *rows); err != nil {
			return err
		}
	}
	list, err := wholes(c, g, v)
	if err != nil {
		return err
	}
	cuts := groupCuts(t)
	return runGroup(c, t, false, func(b block, dst groupDest[T]) error {
		local := withLocal(localRun{shift: b.lo, whole: cuts[g.Size()]})
		u := access.AsVector(list[b.k])
		if rows == nil {
			return ScatterVector(dst.vector(), dup, u, j[b.k], b.opts, local)
		}
		return Scatter(dst.matrix(), dup, u, i[b.k], j[b.k], b.opts, local)
	})
}

// groupScatter computes C⟨M⟩ ⊕= T; see Scatter. Without rows the destination is a vector.
func groupScatter[T comparable](c *call, t *target[T], dup semiring.Monoid[T], v matrix.View[T], rows *cpu.Indices, cols cpu.Indices) error {
	list, err := wholes(c, t.group, v)
	if err != nil {
		return err
	}
	return runGroup(c, t, false, func(b block, dst groupDest[T]) error {
		by := cols
		if rows != nil {
			by = *rows
		}
		if err := list[b.k].Fetch(); err != nil {
			return err
		}
		at, items := []int32{}, []int32{} // the entries of u whose rows the rank has
		u := &sparse.Store[T]{Structure: sparse.Structure{NRows: 1, Format: sparse.Full}, Val: []T{}}
		st := valued(access.Rows(list[b.k]))
		for e, k := range st.Idx {
			row := k
			if by.List != nil {
				row = by.List[k]
			}
			if int(row) >= b.lo && int(row) < b.hi {
				at, items, u.Val = append(at, k), append(items, row-int32(b.lo)), append(u.Val, st.Val[e])
			}
		}
		u.NCols, u.NVals = len(at), int64(len(at))
		some := access.VectorFromStore(u)
		if rows == nil {
			return ScatterVector(dst.vector(), dup, some, listOf(items), b.opts)
		}
		its := make([]int32, len(at))
		for q, p := range at {
			if its[q] = p; cols.List != nil {
				its[q] = cols.List[p]
			}
		}
		return Scatter(dst.matrix(), dup, some, listOf(items), listOf(its), b.opts)
	})
}

// groupKronecker computes C⟨M⟩ ⊕= A ⊗ B from whole operands: rows lo … hi−1 come from a few rows of
// A.
func groupKronecker[A, B, C comparable](c *call, t *target[C], op semiring.Operator[A, B, C], a matrix.View[A], b matrix.View[B]) error {
	g := t.group
	x, err := wholes(c, g, a)
	if err != nil {
		return err
	}
	y, err := wholes(c, g, b)
	if err != nil {
		return err
	}
	_, an := a.Dims()
	bm, bn := b.Dims()
	return runGroup(c, t, false, func(r block, dst groupDest[C]) error {
		from, to, first := 0, 0, 0
		if r.hi > r.lo {
			from, to = r.lo/bm, (r.hi-1)/bm+1
			first = r.lo - from*bm
		}
		product := matrix.New[C]((to-from)*bm, an*bn, matrix.On(placeOn(g, r.k)))
		if at := placeOn(g, r.k); at != nil {
			some := matrix.New[A](to-from, an, matrix.On(at))
			if err := Extract(some, x[r.k], Span(from, to), All(), WithContext(c.ctx)); err != nil {
				return err
			}
			if err := Kronecker(product, op, some, y[r.k], WithContext(c.ctx)); err != nil {
				return err
			}
			return Extract(dst.matrix(), product, Span(first, first+r.hi-r.lo), All(), r.opts)
		}
		if err := x[r.k].Fetch(); err != nil {
			return err
		}
		some := access.FromStore(sparse.Part(valued(access.Rows(x[r.k])), false, from, to))
		if err := Kronecker(product, op, some, y[r.k], WithContext(c.ctx)); err != nil {
			return err
		}
		if err := product.Fetch(); err != nil {
			return err
		}
		mine := access.FromStore(sparse.Part(access.Rows(product.View()), false, first, first+r.hi-r.lo))
		return Apply[C, C](dst.matrix(), semiring.Identity[C](), mine, r.opts)
	})
}

// groupReduce sums rows. The sums of columns of floats have the order of one thread on one device.
func groupReduce[T, S comparable](c *call, t *target[T], m semiring.Monoid[T], v matrix.View[S]) error {
	g := t.group
	if err := placed(c, g, v); err != nil {
		return err
	}
	byColumns := v.Transposed() && !v.IsVector() && !access.Monoid(m).Exact && !access.GroupHasRows(v, g)
	n, _ := v.Dims()
	if n > 1<<22 && v.NVals() < int64(n)/1024 {
		byColumns = false
	}
	list, err := rowBlocks(c, t, v, byColumns)
	if err != nil {
		return err
	}
	return runGroup(c, t, false, func(b block, dst groupDest[T]) error {
		if byColumns && placeOn(g, b.k) == nil {
			across := access.FromStore(access.Cols(list[b.k]))
			if access.IsPattern(list[b.k]) {
				return Reduce(dst.vector(), m, across.Pattern().T(), b.opts, WithThreads(1))
			}
			return Reduce(dst.vector(), m, across.T(), b.opts, WithThreads(1))
		}
		return Reduce(dst.vector(), m, list[b.k], b.opts)
	})
}

// groupReduceScalar sums all entries. Sums whose order matters are of blocks of a fixed number of
// entries of the whole matrix, as on one device.
func groupReduceScalar[T comparable](c *call, g *comm.Group, m semiring.Monoid[T], v matrix.View[T]) (sum T, err error) {
	if v.Transposed() {
		v = v.T() // the sum is that of the stored matrix
	}
	ctx, k := c.onGroup(g), access.Monoid(m)
	cuts, err := access.GroupCuts(ctx, v, g)
	if err != nil {
		return sum, err
	}
	counts, err := access.GroupCounts(ctx, v, g)
	if err != nil {
		return sum, err
	}
	list, err := access.Blocks(v, rep.Query{Group: g, Context: ctx, Cuts: cuts})
	if err != nil {
		return sum, err
	}
	if err := c.ended(); err != nil {
		return sum, err
	}
	sums := make([]T, len(list))
	total := int64(0)
	for _, n := range counts {
		total += n
	}
	err = g.Each(func(i int, r comm.Comm) error {
		if k.Exact || placeOn(g, i) != nil || g.OnDevices() {
			own, err := ReduceScalar(m, operandOf(list[i]), WithThreads(g.Threads()))
			if err != nil {
				return err
			}
			all, err := gatherItems(ctx, r, []T{own}, slices.Repeat([]int64{1}, r.Size()))
			if err == nil {
				sums[i] = k.Fold(k.Identity, all)
			}
			return err
		}
		if err := list[i].Fetch(); err != nil {
			return err
		}
		val := valuesInOrder(list[i])
		if total <= cpu.ReduceChunk {
			all, err := gatherItems(ctx, r, val, counts)
			if err != nil {
				return err
			}
			sums[i] = k.Fn(k.Identity, k.Fold(k.Identity, all))
			return nil
		}
		part, own, err := chunkSums(ctx, r, k, val, counts)
		if err != nil {
			return err
		}
		all, err := gatherItems(ctx, r, part, own)
		if err == nil {
			sums[i] = k.Fold(k.Identity, all)
		}
		return err
	})
	if err != nil {
		return sum, err
	}
	c.ran = &Trace{Op: c.op, Name: c.name, Method: "reduce", Place: g.String(), Work: total}
	c.emit(0)
	return sums[0], nil
}

// valuesInOrder returns the values of the entries of a block, row by row.
func valuesInOrder[T comparable](v matrix.View[T]) []T {
	if st := access.Stored(v); st.Format == sparse.Full && st.Val != nil {
		return st.Val
	}
	return valued(access.Rows(v)).Val
}

// gatherItems gives all ranks the items of each; counts are those of the ranks.
func gatherItems[T any](ctx context.Context, r comm.Comm, own []T, counts []int64) ([]T, error) {
	bytes, n := make([]int, len(counts)), int64(0)
	for i, k := range counts {
		bytes[i] = int(k) * sizeOf[T]()
		n += k
	}
	all := make([]T, n)
	if n == 0 {
		return all, nil
	}
	if r.Size() == 1 {
		copy(all, own)
		return all, nil
	}
	return all, r.AllGatherV(ctx, bytesOf(all), bytes, bytesOf(own))
}

func bytesOf[T any](s []T) comm.Buffer {
	return comm.HostAt(unsafe.Pointer(unsafe.SliceData(s)), comm.Uint8, len(s)*sizeOf[T]())
}

// chunkSums returns the sums of the chunks of cpu.ReduceChunk entries of the whole matrix that
// begin in the block of rank r, and the number of those of each rank. The entries of a chunk that
// begins before the block are sent to the rank where it does.
func chunkSums[T any](ctx context.Context, r comm.Comm, k *cpu.Monoid[T], val []T, counts []int64) (part []T, chunks []int64, err error) {
	const chunk = cpu.ReduceChunk
	p := r.Size()
	at := make([]int64, p+1)
	for i, n := range counts {
		at[i+1] = at[i] + n
	}
	head, to := make([]int64, p), make([]int, p)
	chunks = make([]int64, p)
	for i := range p {
		chunks[i] = (at[i+1]+chunk-1)/chunk - (at[i]+chunk-1)/chunk
		if over := at[i] % chunk; over != 0 {
			head[i] = min(counts[i], chunk-over)
		}
		begin := at[i] / chunk * chunk
		for to[i] = 0; to[i] < p-1 && at[to[i]+1] <= begin; to[i]++ {
		}
	}
	send, recv, n := make([]int, p), make([]int, p), 0
	send[to[r.Rank()]] = int(head[r.Rank()]) * sizeOf[T]()
	for i := range p {
		if to[i] == r.Rank() {
			recv[i] = int(head[i]) * sizeOf[T]()
			n += int(head[i])
		}
	}
	own := head[r.Rank()]
	got := make([]T, n)
	if err := r.AllToAllV(ctx, bytesOf(got), recv, bytesOf(val[:own]), send); err != nil {
		return nil, nil, err
	}
	val = append(slices.Clip(val[own:]), got...)
	for from := 0; from < len(val); from += chunk {
		part = append(part, k.Fold(k.Identity, val[from:min(from+chunk, len(val))]))
	}
	return part, chunks, nil
}
