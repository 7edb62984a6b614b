package ops

import (
	"slices"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/collect"
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

// neededRows returns for each rank of this process the rows that rows lists for it, in the order of
// collect.Sorted. It is a collective.
func (c *call) neededRows(g *comm.Group, v rep.View, rows func(rank int) []int32) ([]rep.View, error) {
	if v.Vector { // as a matrix of one row or one column
		list, err := c.wholes(g, v)
		if err != nil {
			return nil, err
		}
		for k, r := range g.Ranks() {
			set := collect.Set(rows(r.Rank()))
			_, n := v.Dims()
			some := newMatrix(v.Type(), len(set), n, placeOn(g, k))
			if err := begin("Extract", "", nil).extract(dest{m: some}, list[k], listOf(set), All()); err != nil {
				return nil, err
			}
			list[k] = rep.View{Matrix: some}
		}
		return list, nil
	}
	return v.Parts(rep.Query{Group: g, Context: c.onGroup(g), Rows: func(rank int) []int32 { return collect.Set(rows(rank)) }})
}

// groupExtract computes C⟨M⟩ ⊕= A(rows, cols).
func (c grouped) groupExtract(v rep.View, rows, cols cpu.Indices) error {
	g := c.t.group
	if err := c.placed(g, v); err != nil {
		return err
	}
	all := indicesFrom(cols)
	if rows.List == nil {
		list, err := c.rowBlocks(v, false)
		return c.runParts(false, list, err, func(b block, d dest, x rep.View) error { return b.call(c.call).extract(d, x, All(), all) })
	}
	cuts := c.groupCuts()
	mine := func(rank int) []int32 { return rows.List[cuts[rank]:cuts[rank+1]] }
	list, err := c.neededRows(g, v, mine)
	return c.runParts(false, list, err, func(b block, d dest, x rep.View) error {
		_, at := collect.Sorted(mine(b.rank), true)
		return b.call(c.call).extract(d, x, listOf(at), all)
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
func (c grouped) groupExtractVector(v rep.View, idx indices) error {
	g := c.t.group
	if idx.values != nil {
		lists, err := c.listsOf(g, idx)
		if err != nil {
			return err
		}
		list, err := c.wholes(g, v)
		return c.runParts(false, list, err, func(b block, d dest, x rep.View) error {
			in := b.call(c.call)
			in.local = &localRun{shift: b.lo, extent: b.hi - b.lo, items: true}
			return in.extractVector(d, x, lists[b.k])
		})
	}
	if idx.List == nil {
		return c.groupOne(v, func(b block, d dest, u rep.View) error { return b.call(c.call).extractVector(d, u, All()) })
	}
	list, err := c.wholes(g, v)
	return c.runParts(false, list, err, func(b block, d dest, x rep.View) error {
		return b.call(c.call).extractVector(d, x, listOf(idx.List[b.lo:b.hi]))
	})
}

// groupExtractRow computes w⟨m⟩ ⊕= A(i, cols).
func (c grouped) groupExtractRow(v rep.View, i int, cols cpu.Indices) error {
	if err := c.placed(c.t.group, v); err != nil {
		return err
	}
	list, err := c.neededRows(c.t.group, v, func(int) []int32 { return []int32{int32(i)} })
	return c.runParts(false, list, err, func(b block, d dest, x rep.View) error {
		if cols.List != nil {
			return b.call(c.call).extractRow(d, x, 0, listOf(cols.List[b.lo:b.hi]))
		}
		if err := x.Fetched(); err != nil {
			return err
		}
		mine := x.Rows().Valued().Rows(true, b.lo, b.hi)
		return b.call(c.call).copied(d, rep.View{Matrix: newOf(mine), Vector: true})
	})
}

// groupAssign computes C(rows, cols)⟨M⟩ ⊕= A.
func (c grouped) groupAssign(v rep.View, rows, cols cpu.Indices) error {
	g := c.t.group
	if err := c.placed(g, v); err != nil {
		return err
	}
	all := indicesFrom(cols)
	if rows.List == nil {
		list, err := c.rowBlocks(v, false)
		return c.runParts(true, list, err, func(b block, d dest, x rep.View) error { return b.call(c.call).assign(d, x, All(), all) })
	}
	cuts := c.groupCuts()
	list, err := c.neededRows(g, v, func(rank int) []int32 {
		at, _ := collect.Within(rows.List, cuts[rank], cuts[rank+1])
		return at
	})
	return c.runParts(true, list, err, func(b block, d dest, x rep.View) error {
		_, items := collect.Within(rows.List, b.lo, b.hi)
		return b.call(c.call).assign(d, x, listOf(items), all)
	})
}

// groupAssignVector computes w(idx)⟨m⟩ ⊕= u.
func (c grouped) groupAssignVector(v rep.View, idx cpu.Indices) error {
	g := c.t.group
	if idx.List == nil {
		list, err := c.aligned(v)
		return c.runParts(true, list, err, func(b block, d dest, x rep.View) error { return b.call(c.call).assignVector("idx", d, x, All()) })
	}
	list, err := c.wholes(g, v)
	return c.runParts(true, list, err, func(b block, d dest, x rep.View) error {
		at, items := collect.Within(idx.List, b.lo, b.hi)
		some := newMatrix(v.Type(), 1, len(at), placeOn(g, b.k))
		if err := begin("ExtractVector", "", nil).extractVector(dest{m: some, vector: true}, x, listOf(at)); err != nil {
			return err
		}
		return b.call(c.call).assignVector("idx", d, rep.View{Matrix: some, Vector: true}, listOf(items))
	})
}

// groupAssignScalar computes C(rows, cols)⟨M⟩ ⊕= x, a single value.
func (c grouped) groupAssignScalar(x sparse.Values, rows, cols cpu.Indices) error {
	vector, list := c.t.vector, rows
	if vector {
		list = cols
	}
	return c.runGroup(true, func(b block, d dest) error {
		mine := All()
		if list.List != nil {
			_, items := collect.Within(list.List, b.lo, b.hi)
			mine = listOf(items)
		}
		if vector {
			return b.call(c.call).assignVectorScalar(d, x, mine)
		}
		return b.call(c.call).assignScalar(d, x, mine, indicesFrom(cols))
	})
}

// scatterOnDevices computes C⟨M⟩ ⊕= T on a group of devices. Each gets the whole of u and of the
// lists, and keeps what falls into its block.
func (c grouped) scatterOnDevices(dup monoid, v rep.View, rows *indices, cols indices) error {
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
		in := b.call(c.call)
		in.local = &localRun{shift: b.lo, whole: cuts[g.Size()]}
		if rows == nil {
			return in.scatter(d, dup, list[b.k], nil, j[b.k])
		}
		return in.scatter(d, dup, list[b.k], &i[b.k], j[b.k])
	})
}

// groupScatter computes C⟨M⟩ ⊕= T; see Scatter. Without rows the destination is a vector.
func (c grouped) groupScatter(dup monoid, v rep.View, rows *indices, cols cpu.Indices) error {
	list, err := c.wholes(c.t.group, v)
	return c.runParts(false, list, err, func(b block, d dest, x rep.View) error {
		by := cols
		if rows != nil {
			by = rows.Indices
		}
		if err := x.Fetched(); err != nil {
			return err
		}
		// The entries of u in the rows of the rank.
		at, items, from := []int32{}, []int32{}, []int32{}
		st := x.Rows().Valued()
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
			return b.call(c.call).scatter(d, dup, some, nil, listOf(items))
		}
		its := make([]int32, len(at))
		for q, p := range at {
			if its[q] = p; cols.List != nil {
				its[q] = cols.List[p]
			}
		}
		mine := listOf(items)
		return b.call(c.call).scatter(d, dup, some, &mine, listOf(its))
	})
}

// groupKronecker computes C⟨M⟩ ⊕= A ⊗ B from whole operands: rows lo … hi−1 come from a few rows of
// A.
func (c grouped) groupKronecker(f operator, a, b rep.View) error {
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
		if err := x[r.k].Fetched(); err != nil {
			return err
		}
		some := newOf(x[r.k].Rows().Valued().Rows(false, from, to))
		if err := begin("Kronecker", f.name, inner).kronecker(dest{m: product}, f, rep.View{Matrix: some}, y[r.k]); err != nil {
			return err
		}
		mine := product.Rows().Rows(false, first, first+r.hi-r.lo)
		return r.call(c.call).copied(d, rep.View{Matrix: newOf(mine)})
	})
}

// groupReduce sums rows. The sums of columns of floats have the order of one thread on one device.
func (c grouped) groupReduce(m monoid, v rep.View) error {
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
	return c.runParts(false, list, err, func(b block, d dest, x rep.View) error {
		in := b.call(c.call)
		if byColumns && placeOn(g, b.k) == nil {
			across := rep.View{Matrix: newOf(x.Cols()), Transposed: true}
			if x.IsPattern() {
				across = patternOf(across)
			}
			in.threads = 1
			return in.reduce(d, m, across)
		}
		return in.reduce(d, m, x)
	})
}

// groupReduceScalar writes the sum of all entries to sum. Where the order of a sum matters, it adds
// blocks of a fixed number of entries of the whole matrix, as on one device.
func (c grouped) groupReduceScalar(g *comm.Group, m monoid, v rep.View, sum cpu.Value) error {
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
	total, entries := int64(0), make([]int, len(counts))
	for k, n := range counts {
		total += n
		entries[k] = int(n)
	}
	err = g.Each(func(i int, r comm.Comm) error {
		out := t.At(sums, int64(i))
		if m.k.Exact || placeOn(g, i) != nil || g.OnDevices() {
			own := t.Zeroed(1)
			in := begin(c.op, c.name, []Option{WithThreads(g.Threads())})
			if err := in.reduceScalar(m, list[i], t, own.Pointer()); err != nil {
				return err
			}
			all, err := collect.GatherValues(ctx, r, t, own, slices.Repeat([]int{1}, r.Size()))
			if err == nil {
				m.k.Fold(out, all)
			}
			return err
		}
		if err := list[i].Fetched(); err != nil {
			return err
		}
		val := list[i].ValuesInOrder()
		if total <= cpu.ReduceChunk {
			all, err := collect.GatherValues(ctx, r, t, val, entries)
			if err != nil {
				return err
			}
			part := t.Filled(1, m.k.Identity)
			m.k.Fold(part.Pointer(), all)
			m.k.Collect(t.One(sums, int64(i)), []int32{0}, part)
			return nil
		}
		part, own, err := collect.ChunkSums(ctx, r, m.k, t, val, entries)
		if err != nil {
			return err
		}
		all, err := collect.GatherValues(ctx, r, t, part, own)
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
