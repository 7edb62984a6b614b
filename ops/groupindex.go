package ops

import (
	"context"
	"slices"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// The operations of lists of indices on groups. All ranks know the lists, so each finds the rows
// that others need of it.

// listOf makes indices of a list of 32-bit ones, which must not change.
func listOf(x []int32) Indices {
	if x == nil {
		x = []int32{}
	}
	return Indices{short: x}
}

// indicesFrom returns checked indices as the indices of an option.
func indicesFrom(x cpu.Indices) Indices {
	if x.List == nil {
		return All()
	}
	return listOf(x.List)
}

// within returns the places of a list with items lo … hi−1, and these items from lo on.
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
func (c *call) neededRows(g *comm.Group, v rep.View, rows func(rank int) []int32) ([]rep.View, error) {
	if v.Vector { // as a matrix of one row or one column
		list, err := c.wholes(g, v)
		if err != nil {
			return nil, err
		}
		for k, r := range g.Ranks() {
			set := setOf(rows(r.Rank()))
			_, n := v.Dims()
			some := newMatrix(v.Type(), len(set), n, placeOn(g, k))
			if err := begin("Extract", "", nil).extract(dest{m: some}, list[k], listOf(set), All()); err != nil {
				return nil, err
			}
			list[k] = rep.View{Matrix: some}
		}
		return list, nil
	}
	return v.Parts(rep.Query{Group: g, Context: c.onGroup(g), Rows: func(rank int) []int32 { return setOf(rows(rank)) }})
}

// groupExtract computes C⟨M⟩ ⊕= A(rows, cols).
func (c *call) groupExtract(v rep.View, rows, cols cpu.Indices) error {
	g := c.t.group
	if err := c.placed(g, v); err != nil {
		return err
	}
	all := indicesFrom(cols)
	if rows.List == nil {
		list, err := c.rowBlocks(v, false)
		if err != nil {
			return err
		}
		return c.runGroup(false, func(b block, d dest) error { return b.call(c).extract(d, list[b.k], All(), all) })
	}
	cuts := c.groupCuts()
	mine := func(rank int) []int32 { return rows.List[cuts[rank]:cuts[rank+1]] }
	list, err := c.neededRows(g, v, mine)
	if err != nil {
		return err
	}
	return c.runGroup(false, func(b block, d dest) error {
		_, at := sorted(mine(b.rank), true)
		return b.call(c).extract(d, list[b.k], listOf(at), all)
	})
}

// listsOnDevices reports whether the operation reads lists of indices on a group of devices there.
func (c *call) listsOnDevices() bool {
	return c.op == "ExtractVector" || c.op == "Scatter" || c.op == "ScatterVector"
}

// listsOf returns a list of indices for each rank of this process: a vector on devices is gathered.
func (c *call) listsOf(g *comm.Group, x indices) ([]Indices, error) {
	lists := make([]Indices, len(g.Ranks()))
	if x.values == nil {
		for k := range lists {
			lists[k] = indicesFrom(x.Indices)
		}
		return lists, nil
	}
	whole, err := c.wholes(g, *x.values)
	for k, v := range whole {
		lists[k] = Indices{values: v, vector: true}
	}
	return lists, err
}

// groupExtractVector computes w⟨m⟩ ⊕= u(idx).
func (c *call) groupExtractVector(v rep.View, idx indices) error {
	g := c.t.group
	if idx.values != nil {
		lists, err := c.listsOf(g, idx)
		if err != nil {
			return err
		}
		list, err := c.wholes(g, v)
		if err != nil {
			return err
		}
		return c.runGroup(false, func(b block, d dest) error {
			in := b.call(c)
			in.local = &localRun{shift: b.lo, extent: b.hi - b.lo, items: true}
			return in.extractVector(d, list[b.k], lists[b.k])
		})
	}
	if idx.List == nil {
		return c.groupOne(v, func(b block, d dest, u rep.View) error { return b.call(c).extractVector(d, u, All()) })
	}
	list, err := c.wholes(g, v)
	if err != nil {
		return err
	}
	return c.runGroup(false, func(b block, d dest) error {
		return b.call(c).extractVector(d, list[b.k], listOf(idx.List[b.lo:b.hi]))
	})
}

// groupExtractRow computes w⟨m⟩ ⊕= A(i, cols).
func (c *call) groupExtractRow(v rep.View, i int, cols cpu.Indices) error {
	if err := c.placed(c.t.group, v); err != nil {
		return err
	}
	list, err := c.neededRows(c.t.group, v, func(int) []int32 { return []int32{int32(i)} })
	if err != nil {
		return err
	}
	return c.runGroup(false, func(b block, d dest) error {
		if cols.List != nil {
			return b.call(c).extractRow(d, list[b.k], 0, listOf(cols.List[b.lo:b.hi]))
		}
		if err := fetched(list[b.k]); err != nil {
			return err
		}
		mine := list[b.k].Rows().Valued().Rows(true, b.lo, b.hi)
		return b.call(c).copied(d, rep.View{Matrix: newOf(mine), Vector: true})
	})
}

// groupAssign computes C(rows, cols)⟨M⟩ ⊕= A.
func (c *call) groupAssign(v rep.View, rows, cols cpu.Indices) error {
	g := c.t.group
	if err := c.placed(g, v); err != nil {
		return err
	}
	all := indicesFrom(cols)
	if rows.List == nil {
		list, err := c.rowBlocks(v, false)
		if err != nil {
			return err
		}
		return c.runGroup(true, func(b block, d dest) error { return b.call(c).assign(d, list[b.k], All(), all) })
	}
	cuts := c.groupCuts()
	list, err := c.neededRows(g, v, func(rank int) []int32 {
		at, _ := within(rows, cuts[rank], cuts[rank+1])
		return at
	})
	if err != nil {
		return err
	}
	return c.runGroup(true, func(b block, d dest) error {
		_, items := within(rows, b.lo, b.hi)
		return b.call(c).assign(d, list[b.k], listOf(items), all)
	})
}

// groupAssignVector computes w(idx)⟨m⟩ ⊕= u.
func (c *call) groupAssignVector(v rep.View, idx cpu.Indices) error {
	g := c.t.group
	if idx.List == nil {
		list, err := c.aligned(v)
		if err != nil {
			return err
		}
		return c.runGroup(true, func(b block, d dest) error { return b.call(c).assignVector("idx", d, list[b.k], All()) })
	}
	list, err := c.wholes(g, v)
	if err != nil {
		return err
	}
	return c.runGroup(true, func(b block, d dest) error {
		at, items := within(idx, b.lo, b.hi)
		some := newMatrix(v.Type(), 1, len(at), placeOn(g, b.k))
		if err := begin("ExtractVector", "", nil).extractVector(dest{m: some, vector: true}, list[b.k], listOf(at)); err != nil {
			return err
		}
		return b.call(c).assignVector("idx", d, rep.View{Matrix: some, Vector: true}, listOf(items))
	})
}

// groupAssignScalar computes C(rows, cols)⟨M⟩ ⊕= x, a single value.
func (c *call) groupAssignScalar(x sparse.Values, rows, cols cpu.Indices) error {
	vector, list := c.t.vector, rows
	if vector {
		list = cols
	}
	return c.runGroup(true, func(b block, d dest) error {
		mine := All()
		if list.List != nil {
			_, items := within(list, b.lo, b.hi)
			mine = listOf(items)
		}
		if vector {
			return b.call(c).assignVectorScalar(d, x, mine)
		}
		return b.call(c).assignScalar(d, x, mine, indicesFrom(cols))
	})
}

// scatterOnDevices computes C⟨M⟩ ⊕= T on a group of devices. Each gets the whole of u and of the
// lists, and keeps what falls into its block.
func (c *call) scatterOnDevices(dup monoid, v rep.View, rows *indices, cols indices) error {
	g := c.t.group
	j, err := c.listsOf(g, cols)
	if err != nil {
		return err
	}
	i := j
	if rows != nil {
		if i, err = c.listsOf(g, *rows); err != nil {
			return err
		}
	}
	list, err := c.wholes(g, v)
	if err != nil {
		return err
	}
	cuts := c.groupCuts()
	return c.runGroup(false, func(b block, d dest) error {
		in := b.call(c)
		in.local = &localRun{shift: b.lo, whole: cuts[g.Size()]}
		if rows == nil {
			return in.scatter(d, dup, list[b.k], nil, j[b.k])
		}
		return in.scatter(d, dup, list[b.k], &i[b.k], j[b.k])
	})
}

// groupScatter computes C⟨M⟩ ⊕= T; see Scatter. Without rows the destination is a vector.
func (c *call) groupScatter(dup monoid, v rep.View, rows *indices, cols cpu.Indices) error {
	list, err := c.wholes(c.t.group, v)
	if err != nil {
		return err
	}
	return c.runGroup(false, func(b block, d dest) error {
		by := cols
		if rows != nil {
			by = rows.Indices
		}
		if err := fetched(list[b.k]); err != nil {
			return err
		}
		// The entries of u in the rows of the rank.
		at, items, from := []int32{}, []int32{}, []int32{}
		st := list[b.k].Rows().Valued()
		for e, k := range st.Idx {
			row := k
			if by.List != nil {
				row = by.List[k]
			}
			if int(row) >= b.lo && int(row) < b.hi {
				at, items, from = append(at, k), append(items, row-int32(b.lo)), append(from, int32(e))
			}
		}
		n := int64(len(at))
		u := &sparse.Store{Structure: sparse.Structure{NRows: 1, NCols: len(at), NVals: n, Format: sparse.Full}, Val: st.Type.Make(n), Type: st.Type}
		st.Type.Move(u.Val, nil, st.Val, from)
		some := rep.View{Matrix: newOf(u), Vector: true}
		if rows == nil {
			return b.call(c).scatter(d, dup, some, nil, listOf(items))
		}
		its := make([]int32, len(at))
		for q, p := range at {
			if its[q] = p; cols.List != nil {
				its[q] = cols.List[p]
			}
		}
		mine := listOf(items)
		return b.call(c).scatter(d, dup, some, &mine, listOf(its))
	})
}

// groupKronecker computes C⟨M⟩ ⊕= A ⊗ B from whole operands: rows lo … hi−1 come from a few rows of
// A.
func (c *call) groupKronecker(f operator, a, b rep.View) error {
	g := c.t.group
	x, err := c.wholes(g, a)
	if err != nil {
		return err
	}
	y, err := c.wholes(g, b)
	if err != nil {
		return err
	}
	_, an := a.Dims()
	bm, bn := b.Dims()
	inner := []Option{WithContext(c.ctx)}
	return c.runGroup(false, func(r block, d dest) error {
		from, to, first := 0, 0, 0
		if r.hi > r.lo {
			from, to = r.lo/bm, (r.hi-1)/bm+1
			first = r.lo - from*bm
		}
		product := newMatrix(c.t.c, (to-from)*bm, an*bn, placeOn(g, r.k))
		if at := placeOn(g, r.k); at != nil {
			some := newMatrix(a.Type(), to-from, an, at)
			if err := begin("Extract", "", inner).extract(dest{m: some}, x[r.k], Span(from, to), All()); err != nil {
				return err
			}
			if err := begin("Kronecker", f.name, inner).kronecker(dest{m: product}, f, rep.View{Matrix: some}, y[r.k]); err != nil {
				return err
			}
			return begin("Extract", "", []Option{r.opts}).extract(d, rep.View{Matrix: product}, Span(first, first+r.hi-r.lo), All())
		}
		if err := fetched(x[r.k]); err != nil {
			return err
		}
		some := newOf(x[r.k].Rows().Valued().Rows(false, from, to))
		if err := begin("Kronecker", f.name, inner).kronecker(dest{m: product}, f, rep.View{Matrix: some}, y[r.k]); err != nil {
			return err
		}
		mine := product.Rows().Rows(false, first, first+r.hi-r.lo)
		return r.call(c).copied(d, rep.View{Matrix: newOf(mine)})
	})
}

// groupReduce sums rows. The sums of columns of floats have the order of one thread on one device.
func (c *call) groupReduce(m monoid, v rep.View) error {
	g := c.t.group
	if err := c.placed(g, v); err != nil {
		return err
	}
	byColumns := v.Transposed && !v.Vector && !m.k.Exact && !v.GroupHasRows(g)
	n, _ := v.Dims()
	if n > 1<<22 && v.NVals() < int64(n)/1024 {
		byColumns = false
	}
	list, err := c.rowBlocks(v, byColumns)
	if err != nil {
		return err
	}
	return c.runGroup(false, func(b block, d dest) error {
		in := b.call(c)
		if byColumns && placeOn(g, b.k) == nil {
			across := rep.View{Matrix: newOf(list[b.k].Cols()), Transposed: true}
			if list[b.k].IsPattern() {
				across = patternOf(across)
			}
			in.threads = 1
			return in.reduce(d, m, across)
		}
		return in.reduce(d, m, list[b.k])
	})
}

// groupReduceScalar writes the sum of all entries to sum. Where the order of a sum matters, it adds
// blocks of a fixed number of entries of the whole matrix, as on one device.
func (c *call) groupReduceScalar(g *comm.Group, m monoid, v rep.View, sum cpu.Value) error {
	if v.Transposed {
		v = v.T() // the sum is the sum of the stored matrix
	}
	ctx, t := c.onGroup(g), v.Type()
	cuts, err := v.Cuts(ctx, g)
	if err != nil {
		return err
	}
	counts, err := v.Counts(ctx, g)
	if err != nil {
		return err
	}
	list, err := v.Parts(rep.Query{Group: g, Context: ctx, Cuts: cuts})
	if err != nil {
		return err
	}
	if err := c.ended(); err != nil {
		return err
	}
	sums := t.Filled(int64(len(list)), m.k.Identity)
	total := int64(0)
	for _, n := range counts {
		total += n
	}
	err = g.Each(func(i int, r comm.Comm) error {
		out := t.At(sums, int64(i))
		if m.k.Exact || placeOn(g, i) != nil || g.OnDevices() {
			own := t.Zeroed(1)
			in := begin(c.op, c.name, []Option{WithThreads(g.Threads())})
			if err := in.reduceScalar(m, list[i], t, own.Pointer()); err != nil {
				return err
			}
			all, err := gatherItems(ctx, r, t, own, slices.Repeat([]int64{1}, r.Size()))
			if err == nil {
				m.k.Fold(out, all)
			}
			return err
		}
		if err := fetched(list[i]); err != nil {
			return err
		}
		val := valuesInOrder(list[i])
		if total <= cpu.ReduceChunk {
			all, err := gatherItems(ctx, r, t, val, counts)
			if err != nil {
				return err
			}
			part := t.Filled(1, m.k.Identity)
			m.k.Fold(part.Pointer(), all)
			m.k.Collect(t.One(sums, int64(i)), []int32{0}, part)
			return nil
		}
		part, own, err := chunkSums(ctx, r, m.k, t, val, counts)
		if err != nil {
			return err
		}
		all, err := gatherItems(ctx, r, t, part, own)
		if err == nil {
			m.k.Fold(out, all)
		}
		return err
	})
	if err != nil {
		return err
	}
	c.ran = &Trace{Op: c.op, Name: c.name, Method: "reduce", Place: g.String(), Work: total}
	c.emit(0)
	t.CopyTo(sum, sums.Pointer())
	return nil
}

// valuesInOrder returns the values of the entries of a block, row by row.
func valuesInOrder(v rep.View) sparse.Values {
	if st := v.Stored(); st.Format == sparse.Full && !st.Val.None() {
		return st.Val
	}
	return v.Rows().Valued().Val
}

// gatherItems gives all ranks the values of each; counts are the counts of the ranks.
func gatherItems(ctx context.Context, r comm.Comm, t *sparse.Type, own sparse.Values, counts []int64) (sparse.Values, error) {
	bytes, n := make([]int, len(counts)), int64(0)
	for i, k := range counts {
		bytes[i] = int(k * t.Size)
		n += k
	}
	all := t.Zeroed(n)
	if n == 0 {
		return all, nil
	}
	if r.Size() == 1 {
		t.Copy(all, own)
		return all, nil
	}
	return all, r.AllGatherV(ctx, bufferOf(t, all), bytes, bufferOf(t, own))
}

// bufferOf returns the memory of values without pointers.
func bufferOf(t *sparse.Type, v sparse.Values) comm.Buffer {
	return comm.HostAt(v.Pointer(), comm.Uint8, v.Len()*int(t.Size))
}

// chunkSums returns the sums of the chunks of cpu.ReduceChunk entries of the whole matrix that
// begin in the block of rank r, and the number of chunks of each rank. The entries of a chunk that
// begins before the block are sent to the rank where it does.
func chunkSums(ctx context.Context, r comm.Comm, k *cpu.Monoid, t *sparse.Type, val sparse.Values, counts []int64) (part sparse.Values, chunks []int64, err error) {
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
	send, recv, n := make([]int, p), make([]int, p), int64(0)
	send[to[r.Rank()]] = int(head[r.Rank()] * t.Size)
	for i := range p {
		if to[i] == r.Rank() {
			recv[i] = int(head[i] * t.Size)
			n += head[i]
		}
	}
	own := head[r.Rank()]
	got := t.Zeroed(n)
	if err := r.AllToAllV(ctx, bufferOf(t, got), recv, bufferOf(t, t.Slice(val, 0, own)), send); err != nil {
		return part, nil, err
	}
	val = t.Append(t.Clone(t.Slice(val, own, int64(val.Len()))), got)
	pieces := (int64(val.Len()) + chunk - 1) / chunk
	part = t.Filled(pieces, k.Identity)
	for q := range pieces {
		k.Fold(t.At(part, q), t.Slice(val, q*chunk, min((q+1)*chunk, int64(val.Len()))))
	}
	return part, chunks, nil
}
