package cpu

import (
	"math/bits"

	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// valueChunk is the number of values per call of a value kernel.
const valueChunk = 1 << 14

// Like returns a store with the structure of s and uninitialized values of c; the caller writes all
// of them. Row offsets and indices are shared (they are immutable once built), presence bytes are
// copied.
func Like(threads int, c *sparse.Type, s *sparse.Store) *sparse.Store {
	out := &sparse.Store{Structure: s.Structure, Type: c}
	n := len(s.Idx)
	if !s.Sparse() {
		n, _ = s.Cells()
	}
	if s.Format == sparse.Bitmap { // values of absent entries are zero
		out.Present, out.Val = fresh.Make[uint8](int64(n)), zeroed(c, threads, n)
		_ = sparse.Copy(nil, threads, out.Present, s.Present)
		return out
	}
	out.Val = c.Make(int64(n))
	return out
}

// Apply computes f(s), values of c, entry by entry; user reports whether f calls a function of a
// user. room, if it has the size of a full result, may be used for the values of the result; it may
// alias the values of s.
func Apply(env Env, c *sparse.Type, s *sparse.Store, f func(c, a Values), user bool, room Values) (*sparse.Store, error) {
	f = guardMap(env, user, f, c, s.Type)
	if s.Format == sparse.Bitmap {
		if len(s.Present) <= smallWork {
			return applyBitmap(c, s, f), nil
		}
		return applyLarge(env, c, s, f, Values{})
	}
	n := len(s.Idx)
	if s.Format == sparse.Full {
		n, _ = s.Cells()
	}
	if s.Format != sparse.Full || room.Len() != n || n == 0 {
		room = Values{}
	}
	if n > smallWork {
		return applyLarge(env, c, s, f, room)
	}
	if room.None() {
		room = c.Make(int64(n))
	}
	v := s.Val
	if v.None() {
		v = filled(s.Type, n, s.Type.True)
	}
	f(room, s.Type.Slice(v, 0, int64(n)))
	return &sparse.Store{Structure: s.Structure, Val: room, Type: c}, nil
}

// applyLarge is Apply. room, unless it is none, is for the values of a full result.
func applyLarge(env Env, c *sparse.Type, s *sparse.Store, f func(c, a Values), room Values) (*sparse.Store, error) {
	if !room.None() {
		out := &sparse.Store{Structure: s.Structure, Val: room, Type: c}
		return out, mapAll(env.writing(room, room), f, out, s)
	}
	out := Like(env.Threads, c, s)
	if s.Format == sparse.Bitmap {
		in := entriesOf(s, denseChunk)
		return out, parallel.Range(env.Ctx, env.Threads, len(s.Present), denseChunk, func(_, lo, hi int) {
			m := getScratch()
			defer m.release()
			at := m.listPresent(s.Present[lo:hi])
			mapAt(c, out.Part(int64(lo), int64(hi)), at, s.Type, in.part(int64(lo), int64(hi)), f)
		})
	}
	in := entriesOf(s, valueChunk)
	return out, produce(env, c, out.Val, valueChunk, false, func(part Values, lo, hi int) {
		f(part, in.part(int64(lo), int64(hi)))
	})
}

// ApplyInto computes c ⊕= f(s), values of c, for a full c and a full s, in place. Neither operator
// is a user's function. The values f(s) stay in a cache.
func ApplyInto(env Env, c, s *sparse.Store, f func(c, a Values), accum *Binary) {
	t := c.Type
	in := entriesOf(s, ReduceChunk)
	_ = parallel.Range(nil, env.Threads, c.Val.Len(), valueChunk, func(_, lo, hi int) {
		inBlocks(t, lo, hi, func(room Values, from, to int64) {
			part := c.Part(from, to)
			f(room, in.part(from, to))
			accum.Zip(part, part, room)
		})
	})
}

// ApplyIndex computes f(value, row plus shift, column), values of c, entry by entry. If swap is
// set, s is a vector, and the function gets the position plus shift and the row. It is a user's
// function.
func ApplyIndex(env Env, c *sparse.Type, s *sparse.Store, f *Index, shift int, swap bool) (*sparse.Store, error) {
	x := indexer{f: f, out: Like(env.Threads, c, s), in: entries{t: s.Type, val: s.Val}, shift: shift, swap: swap}
	if f.UsesValue {
		x.in = entriesOf(s, guardBlock)
	}
	done := env.done(true)
	if s.Sparse() {
		return x.out, s.Spans(env.Ctx, env.Threads, func(base int, lo, hi int64) {
			i := base / max(s.NCols, 1)
			for ; lo < hi && !ended(done); lo += guardBlock {
				end := min(lo+guardBlock, hi)
				x.call(lo, end, i, s.Idx[lo:end], 0)
			}
		})
	}
	return x.out, parallel.Range(env.Ctx, env.Threads, x.out.Val.Len(), valueChunk, func(_, lo, hi int) {
		i, j := lo/s.NCols, lo%s.NCols
		for lo < hi && !ended(done) {
			n := min(guardBlock, hi-lo, s.NCols-j)
			x.present(lo, n, i, j, s.Present)
			lo += n
			if j += n; j == s.NCols {
				i, j = i+1, 0
			}
		}
	})
}

// An indexer applies an operator of value and position to the entries of a store.
type indexer struct {
	f     *Index
	out   *sparse.Store
	in    entries
	shift int
	swap  bool
}

// present calls the operator for the entries among n positions of row i of a dense store, from
// column j on. They begin at position lo.
func (x *indexer) present(lo, n, i, j int, present []uint8) {
	if present == nil {
		x.call(int64(lo), int64(lo+n), i, nil, j)
		return
	}
	for p := 0; p < n; p++ {
		run := p // where a run of entries ends
		for run < n && present[lo+run] != 0 {
			run++
		}
		if run > p {
			x.call(int64(lo+p), int64(lo+run), i, nil, j+p)
			p = run
		}
	}
}

// call calls the operator for the values lo … hi−1, of row i, at the columns ci or, if nil, from j0
// on.
func (x *indexer) call(lo, hi int64, i int, ci []int32, j0 int) {
	c, v := x.out.Part(lo, hi), x.in.part(lo, hi)
	if !x.swap {
		x.f.Map(c, v, i+x.shift, ci, j0, false)
		return
	}
	if ci != nil && x.shift != 0 {
		ci = shifted(ci, -x.shift)
	}
	x.f.Map(c, v, i, ci, j0+x.shift, true)
}

// ReduceRows sums each row that has entries. The result is 1×m: full if every row has entries, a
// list if s is hypersparse, and a bitmap otherwise.
func ReduceRows(env Env, s *sparse.Store, m *Monoid) (*sparse.Store, error) {
	m = guardMonoid(env, m, s.Type)
	if s.Format == sparse.Hypersparse {
		return reduceListed(env, s, m)
	}
	if !s.Sparse() && s.Format != sparse.Full {
		s = s.ToSparse()
	}
	n, t := s.NRows, s.Type
	out := &sparse.Store{Structure: sparse.Structure{NRows: 1, NCols: n, Format: sparse.Full, NVals: int64(n)}, Val: t.Make(int64(n)), Type: t}
	if s.Format == sparse.Full {
		c := s.NCols
		in := entriesOf(s, c)
		err := parallel.Range(env.Ctx, env.Threads, n, max(1, valueChunk/max(1, c)), func(_, lo, hi int) {
			t.Fill(out.Part(int64(lo), int64(hi)), m.Identity)
			for i := lo; i < hi; i++ {
				m.Fold(at(t, out.Val, int64(i)), in.part(int64(i)*int64(c), int64(i+1)*int64(c)))
			}
		})
		if c == 0 {
			out.Format, out.NVals, out.Present = sparse.Bitmap, 0, make([]uint8, n)
		}
		return out, err
	}
	present := fresh.Make[uint8](int64(n))
	foldRows := rowFolds(s, m)
	threads := workers(env, s.NVals+int64(n), 1<<14)
	bounds := parallel.Cut(threads, s.Ptr, threads*8, 2)
	counts := make([]int64, len(bounds)-1)
	err := parallel.Pieces(env.Ctx, threads, len(bounds)-1, func(_, b int) {
		lo, hi := bounds[b], bounds[b+1]
		sums := out.Part(int64(lo), int64(hi))
		foldRows(sums, s.Ptr[lo:hi+1])
		counts[b] = markRows(present[lo:hi], s.Ptr[lo:hi+1])
		if counts[b] < int64(hi-lo) {
			clearAbsent(t, sums, present[lo:hi])
		}
	})
	out.NVals = 0
	for _, c := range counts {
		out.NVals += c
	}
	if out.NVals < int64(n) {
		out.Format, out.Present = sparse.Bitmap, present
	}
	return out, err
}

// rowFolds returns the loop that sums the rows of a listed s between offsets. The rows of a pattern
// are the beginnings of one array, summed once if they are short. Sums of so few ones are exact.
func rowFolds(s *sparse.Store, m *Monoid) func(y Values, ptr []int64) {
	if !s.Val.None() {
		return func(y Values, ptr []int64) { m.FoldRows(y, m.Identity.Pointer(), ptr, s.Val) }
	}
	longest := int64(0)
	for k := range len(s.Ptr) - 1 {
		longest = max(longest, s.Ptr[k+1]-s.Ptr[k])
	}
	t := s.Type
	if !m.User && longest < min(s.NVals/4, 1<<24) {
		sums := filled(t, int(longest)+1, m.Identity)
		for k := range longest {
			t.Copy(t.Slice(sums, k+1, k+2), t.Slice(sums, k, k+1))
			m.Fold(at(t, sums, k+1), t.True)
		}
		return func(y Values, ptr []int64) {
			lengths := make([]int32, y.Len())
			for i := range lengths {
				lengths[i] = int32(ptr[i+1] - ptr[i])
			}
			t.Move(y, nil, sums, lengths)
		}
	}
	ones := filled(t, int(longest), t.True)
	return func(y Values, ptr []int64) {
		t.Fill(y, m.Identity)
		for i := range y.Len() {
			m.Fold(at(t, y, int64(i)), t.Slice(ones, 0, ptr[i+1]-ptr[i]))
		}
	}
}

// markRows sets present to 1 for the rows that have entries, to 0 for the others, and returns the
// number of rows with entries.
func markRows(present []uint8, ptr []int64) int64 {
	ptr = ptr[:len(present)+1]
	n := int64(0)
	for i := range present {
		b := b2u(ptr[i] < ptr[i+1])
		present[i] = b
		n += int64(b)
	}
	return n
}

// reduceListed is ReduceRows for a hypersparse matrix: O(entries), independent of the number of
// rows.
func reduceListed(env Env, s *sparse.Store, m *Monoid) (*sparse.Store, error) {
	t := s.Type
	foldRows := rowFolds(s, m)
	sums := t.Make(int64(len(s.RowIDs)))
	bounds := parallel.Cut(env.Threads, s.Ptr, parallel.Threads(env.Threads)*8, 2)
	err := parallel.Pieces(env.Ctx, env.Threads, len(bounds)-1, func(_, b int) {
		lo, hi := bounds[b], bounds[b+1]
		if lo < hi {
			foldRows(t.Slice(sums, int64(lo), int64(hi)), s.Ptr[lo:hi+1])
		}
	})
	if err != nil {
		return nil, err
	}
	idx, used := make([]int32, 0, len(s.RowIDs)), make([]int32, 0, len(s.RowIDs))
	for k, i := range s.RowIDs {
		if s.Ptr[k] < s.Ptr[k+1] {
			idx, used = append(idx, i), append(used, int32(k))
		}
	}
	val := sums
	if len(used) < len(s.RowIDs) {
		val = t.Make(int64(len(used)))
		t.Move(val, nil, sums, used)
	}
	return newRow(t, s.NRows, idx, val), nil
}

// ReduceCols sums each column that has entries; see ReduceRows. f is the operator of the monoid.
// Each thread has private sums over a fixed part of the entries; the parts are then added in order.
func ReduceCols(env Env, s *sparse.Store, m *Monoid, f *Binary) (*sparse.Store, error) {
	s = s.ToSparse()
	n, t := s.NCols, s.Type
	m, f = guardMonoid(env, m, t), guardBinary(env, f, t, t, t)
	// Where there are few entries, most of the n sums would be unused.
	if n > 1<<22 && (s.NVals < int64(n)/1024 || !fits(int64(n), 2*t.Size+1)) {
		return ReduceRows(env, s.Transpose(env.Threads).ToHyper(), m)
	}
	out := &sparse.Store{Structure: sparse.Structure{NRows: 1, NCols: n, Format: sparse.Full, NVals: int64(n)}, Type: t}
	parts := parallel.Threads(env.Threads)
	if s.NVals < 1<<14 {
		parts = 1
	}
	parts = max(1, min(parts, int(s.NVals/int64(max(n, 1)))))
	sums := make([]*columnSums, parts)
	const piece = 1 << 14
	in := entriesOf(s, min(piece, len(s.Idx)))
	parallel.Do(parts, func(p int) {
		c := getColumnSums(t, n, m.Identity)
		sums[p] = c
		from, to := len(s.Idx)*p/parts, len(s.Idx)*(p+1)/parts
		for lo := from; lo < to && !env.cancelled(); lo += piece {
			hi := min(lo+piece, to)
			collectMarked(m, c.acc, c.marks, s.Idx[lo:hi], in.part(int64(lo), int64(hi)))
		}
	})
	if env.cancelled() {
		return nil, env.Ctx.Err() // the sums are not clean: do not return them to the pool
	}
	out.Val = t.Make(int64(n))
	_ = parallel.Range(nil, parts, n, 1<<13, func(_, lo, hi int) {
		val, marks := out.Part(int64(lo), int64(hi)), sums[0].marks[lo>>6:(hi+63)>>6]
		for p, c := range sums {
			acc := t.Slice(c.acc, int64(lo), int64(hi))
			if p == 0 {
				t.Copy(val, acc)
			} else {
				f.Zip(val, val, acc)
				or(marks, c.marks[lo>>6:(hi+63)>>6])
				clear(c.marks[lo>>6 : (hi+63)>>6])
			}
			t.Fill(acc, c.id)
		}
	})
	if err := env.stopped(m.User); err != nil {
		return nil, err
	}
	marks := sums[0].marks[:(n+63)/64]
	settleMarked(out, marks, parts)
	clear(marks)
	for _, c := range sums {
		t.Keep(useColumnSums, c)
	}
	return out, nil
}

// collectMarked adds values to the sums of columns, from left to right, and marks these: in one
// loop, which for 2²³ values in random order on two threads takes .83 of the time of two.
func collectMarked(m *Monoid, acc Values, marks []uint64, ci []int32, v Values) {
	if m.CollectMarked != nil {
		m.CollectMarked(acc, marks, ci, v)
		return
	}
	m.Collect(acc, ci, v)
	for _, j := range ci {
		marks[j>>6] |= 1 << (j & 63)
	}
}

// settleMarked makes out, a full vector of sums with its values, a bitmap if marks lack a column.
func settleMarked(out *sparse.Store, marks []uint64, threads int) {
	n := out.NCols
	out.NVals = 0
	for _, word := range marks {
		out.NVals += int64(bits.OnesCount64(word))
	}
	if out.NVals == int64(n) {
		return
	}
	out.Format, out.Present = sparse.Bitmap, fresh.Make[uint8](int64(n))
	_ = parallel.Range(nil, threads, len(marks), 1<<8, func(_, from, to int) {
		for w := from; w < to; w++ {
			word, lo := marks[w], w<<6
			present := out.Present[lo:min(lo+64, n)]
			for k := range present {
				present[k] = uint8(word >> k & 1)
			}
		}
		lo, hi := from<<6, min(to<<6, n)
		clearAbsent(out.Type, out.Part(int64(lo), int64(hi)), out.Present[lo:hi])
	})
}

// columnSums are sums by column. While idle, every sum is the identity and no column is marked.
type columnSums struct {
	acc   Values
	marks []uint64
	id    Values
}

// getColumnSums returns clean sums of at least n columns.
func getColumnSums(t *sparse.Type, n int, id Values) *columnSums {
	if c, ok := t.Kept(useColumnSums).(*columnSums); ok && c.acc.Len() >= n && t.Same(c.id, id) {
		return c
	}
	return &columnSums{filled(t, n, id), make([]uint64, (n+63)/64), id}
}

// ReduceAll writes the sum of all entries to sum. It adds chunks of fixed size, so that the result
// is independent of the number of threads.
func ReduceAll(env Env, s *sparse.Store, m *Monoid, sum Value) error {
	m = guardMonoid(env, m, s.Type)
	if s.Format == sparse.Bitmap && (s.Val.None() || len(s.Present) > smallWork && (!m.Exact || m.User)) {
		s = s.ToSparse()
	}
	if n := s.NVals; s.Format != sparse.Bitmap && n > 0 && n <= smallWork && !s.Val.None() {
		return reduceSmall(env, s.Type, m, s.Part(0, n), sum)
	}
	return reduceLarge(env, s, m, sum)
}

// reduceSmall is ReduceAll for the values of one chunk.
func reduceSmall(env Env, t *sparse.Type, m *Monoid, v Values, sum Value) error {
	t.Copy(oneAt(sum), m.Identity)
	if !m.User { // the identity added to the sum of a chunk is that sum
		m.Fold(sum, v)
		return nil
	}
	part := filled(t, 1, m.Identity)
	m.Fold(part.Pointer(), v)
	m.Fold(sum, part)
	return env.stopped(true)
}

// ReduceChunk is the number of entries that ReduceAll sums at a time. The products of so many
// entries stay in a cache until they are summed.
const ReduceChunk = smallWork

// reduceGrain is the number of entries that a thread sums at a time, a multiple of ReduceChunk.
const reduceGrain = 16 * ReduceChunk

// reduceLarge sums chunks of entries, or of the positions of a bitmap.
func reduceLarge(env Env, s *sparse.Store, m *Monoid, sum Value) error {
	const chunk = ReduceChunk
	n, t := max(int(s.NVals), len(s.Present)), s.Type
	partial := filled(t, (n+chunk-1)/chunk, m.Identity)
	in := entriesOf(s, min(chunk, n))
	err := parallel.Range(env.Ctx, env.Threads, n, reduceGrain, func(_, lo, hi int) {
		if s.Format == sparse.Bitmap {
			w := getScratch()
			defer w.release()
			inBlocks(t, lo, hi, func(room Values, from, to int64) {
				list := sparse.AppendPresent(w.at[0][:0], s.Present[from:to])
				room = t.Slice(room, 0, int64(len(list)))
				t.Move(room, nil, s.Part(from, to), list)
				m.Fold(at(t, partial, from/chunk), room)
			})
			return
		}
		for ; lo < hi; lo += chunk {
			m.Fold(at(t, partial, int64(lo/chunk)), in.part(int64(lo), int64(min(lo+chunk, hi))))
		}
	})
	t.Copy(oneAt(sum), m.Identity)
	m.Fold(sum, partial)
	if err == nil {
		err = env.stopped(m.User)
	}
	return err
}

// inBlocks calls fn for blocks of ReduceChunk of lo … hi−1, with room for the values of a block.
func inBlocks(t *sparse.Type, lo, hi int, fn func(room Values, from, to int64)) {
	room, ok := t.Kept(useOther).(*Values)
	if !ok {
		v := t.Make(ReduceChunk)
		room = &v
	}
	for ; lo < hi; lo += ReduceChunk {
		to := min(lo+ReduceChunk, hi)
		fn(t.Slice(*room, 0, int64(to-lo)), int64(lo), int64(to))
	}
	t.Keep(useOther, room)
}

// InnerFull writes Σ f(a[p], b[p]), a value of c, to sum. It has the bits of the values f(a[p],
// b[p]) summed by ReduceAll.
func InnerFull(env Env, m *Monoid, f *Binary, c, a *sparse.Type, av Values, b *sparse.Type, bv Values, sum Value) error {
	const chunk = ReduceChunk
	m, f = guardMonoid(env, m, c), guardBinary(env, f, c, a, b)
	user, n := m.User || f.User, av.Len()
	c.Copy(oneAt(sum), m.Identity)
	if n <= smallWork {
		if env.cancelled() {
			return env.Ctx.Err()
		}
		room := c.Make(int64(n))
		f.Zip(room, av, bv)
		m.Fold(sum, room)
		return env.stopped(user)
	}
	partial := filled(c, (n+chunk-1)/chunk, m.Identity)
	err := parallel.Range(env.Ctx, env.Threads, n, reduceGrain, func(_, lo, hi int) {
		inBlocks(c, lo, hi, func(room Values, from, to int64) {
			f.Zip(room, a.Slice(av, from, to), b.Slice(bv, from, to))
			m.Fold(at(c, partial, from/chunk), room)
		})
	})
	m.Fold(sum, partial)
	if err == nil {
		err = env.stopped(user)
	}
	return err
}
