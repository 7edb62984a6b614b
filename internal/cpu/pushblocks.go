package cpu

import (
	"encoding/binary"
	"math/bits"

	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// workers returns the number of threads for some work. Each thread gets at least grain: with less
// it takes longer to wake than to finish.
func workers(env Env, work, grain int64) int {
	return int(max(1, min(int64(parallel.Threads(env.Threads)), work/grain)))
}

// Push with many threads sorts its products into blocks of columns, so that no two threads add to
// the same sum and no accumulator has the size of the result. Few threads add at once, which reads
// and writes each product once less. Blocks have equally many columns: finding cuts by a sample of
// the products takes longer than the uneven blocks cost.
const (
	sortedPushThreads = 4       // above
	sortedPushMin     = 1 << 16 // products
	sortedPushMax     = 1 << 26 // products: their columns and values are stored
	pushBlocks        = 256     // at most: an open cache line each
	pushBlockWidth    = 1 << 13 // columns, at least
)

// pushed is the input of a push: row u.Idx[p] of a, with value u.Val[p], begins at los[p] and is
// preceded by work[p] products. The sums of the parts between bounds are added in order.
type pushed struct {
	a, u      *sparse.Store
	los, work []int64
	bounds    []int
}

// sortedProducts are products sorted by block: the products of block b are at from[b] …
// from[b+1]−1, in the order of a push by one thread. Columns count from the first of the block.
type sortedProducts struct {
	part int // of the push
	from []int32
	idx  []int32
	val  Values
	next []int32 // scratch
	row  Values  // scratch
	at   []int32 // scratch
}

// pushByBlocks is Push by sorting. Each sum has the order that pushParts prescribes, so the result
// equals the result of Push bit for bit.
func pushByBlocks(env Env, s *Semiring, c *sparse.Type, u *pushed, mask *Mask, threads int) (*sparse.Store, error) {
	n := u.a.NCols
	shift := bits.Len(pushBlockWidth - 1)
	for (n-1)>>shift >= pushBlocks {
		shift++
	}
	blocks := (n-1)>>shift + 1

	type piece struct{ part, from, to int }
	var pieces []piece
	per := (3*threads)/(len(u.bounds)-1) + 1
	for part := range len(u.bounds) - 1 {
		lo, hi := u.bounds[part], u.bounds[part+1]
		cuts := parallel.Cut(threads, u.work[lo:hi+1], per, rowVisitCost)
		for k := range len(cuts) - 1 {
			pieces = append(pieces, piece{part, lo + cuts[k], lo + cuts[k+1]})
		}
	}
	sorted := make([]*sortedProducts, len(pieces)) // of a pool: new memory costs as much as the sort
	defer func() {
		for _, p := range sorted {
			if p != nil {
				c.Keep(useSorted, p)
			}
		}
	}()
	err := parallel.Pieces(env.Ctx, threads, len(pieces), func(_, k int) {
		p, ok := c.Kept(useSorted).(*sortedProducts)
		if !ok {
			p = &sortedProducts{}
		}
		sorted[k] = p
		p.part = pieces[k].part
		sortProducts(p, s, c, u, pieces[k].from, pieces[k].to, shift, blocks)
	})
	if err != nil {
		return nil, err
	}
	var allow []uint8
	comp := false
	if mask != nil {
		allow, comp = mask.bytes(n), mask.Comp
	}
	found := make([]entryBuffer, blocks)
	err = parallel.Pieces(env.Ctx, threads, blocks, func(_, b int) {
		sums := getBlockSums(c, len(u.bounds)-1, 1<<shift, s.Identity)
		for _, p := range sorted {
			lo, hi := p.from[b], p.from[b+1]
			if lo < hi {
				sums.add(s.Collect, p.part, p.idx[lo:hi], c.Slice(p.val, int64(lo), int64(hi)))
			}
		}
		first := b << shift
		if allow != nil {
			sums.forbid(allow[first:min(first+1<<shift, n)], comp)
		}
		found[b] = sums.drain(s, int32(first))
		c.Keep(useBlockSums, sums)
	})
	if err != nil {
		return nil, err
	}
	return joinFound(env, c, n, found, threads)
}

// sortProducts computes the products of the rows from … to−1 of u and sorts them by block, stably.
func sortProducts(out *sortedProducts, s *Semiring, c *sparse.Type, u *pushed, from, to, shift, blocks int) {
	a := u.a
	out.from, out.next = sized(out.from, blocks+1), sized(out.next, blocks+1)
	next := out.next
	clear(next)
	longest := int64(0)
	for p := from; p < to; p++ {
		if q := p + rowsAhead; q < to {
			prefetchRow(a, u.los[q])
		}
		lo, hi := u.los[p], u.los[p]+u.work[p+1]-u.work[p]
		longest = max(longest, hi-lo)
		for _, j := range a.Idx[lo:hi] {
			next[j>>shift]++
		}
	}
	total := int32(0)
	for b, n := range next {
		out.from[b], next[b] = total, total
		total += n
	}
	out.idx, out.val = sized(out.idx, int(total)), c.Grow(out.val, int(total))
	out.row = c.Grow(out.row, int(longest))
	for p := from; p < to; p++ {
		lo, hi := u.los[p], u.los[p]+u.work[p+1]-u.work[p]
		if lo == hi {
			continue
		}
		v, ci := c.Slice(out.row, 0, hi-lo), a.Idx[lo:hi]
		s.Products(v, u.u.Type.At(u.u.Val, int64(p)), a.Part(lo, hi))
		switch c.Class {
		case sparse.Bytes1:
			placeProducts[sparse.E1](out, ci, v, shift)
		case sparse.Bytes2:
			placeProducts[sparse.E2](out, ci, v, shift)
		case sparse.Bytes4:
			placeProducts[sparse.E4](out, ci, v, shift)
		case sparse.Bytes8:
			placeProducts[sparse.E8](out, ci, v, shift)
		case sparse.Bytes16:
			placeProducts[sparse.E16](out, ci, v, shift)
		default:
			out.at = sized(out.at, len(ci))
			for e, j := range ci {
				b := j >> shift
				q := next[b]
				next[b] = q + 1
				out.idx[q], out.at[e] = j&(1<<shift-1), q
			}
			c.Move(out.val, out.at, v, nil)
		}
	}
}

// placeProducts puts the products v of columns ci at the next places of their blocks.
func placeProducts[E sparse.Sized](out *sortedProducts, ci []int32, v Values, shift int) {
	next, idx, val := out.next, out.idx, sparse.SliceOf[E](out.val)
	row := sparse.SliceOf[E](v)[:len(ci)]
	within := int32(1)<<shift - 1
	for e, j := range ci {
		b := j >> shift
		q := next[b]
		next[b] = q + 1
		idx[q], val[q] = j&within, row[e]
	}
}

// sized returns v with n items, or a new array with some room to spare. The items are undefined.
func sized[T any](v []T, n int) []T {
	if cap(v) >= n {
		return v[:n]
	}
	return fresh.Make[T](int64(n + n/4))[:n]
}

// blockSums are the sums of a block of columns, separate for each part. While idle, acc holds the
// identity and parts is 0.
type blockSums struct {
	t     *sparse.Type
	acc   []Values
	parts []uint8 // by column: bit p is set if part p has a product
	id    Values
	cols  []int32 // scratch
	sums  Values  // scratch
}

// getBlockSums returns clean sums of so many parts (at most 8) and at least width columns.
func getBlockSums(t *sparse.Type, parts, width int, id Values) *blockSums {
	s, ok := t.Kept(useBlockSums).(*blockSums)
	if !ok || len(s.parts) < width || !t.Same(s.id, id) {
		s = &blockSums{t: t, parts: make([]uint8, width), id: id}
	}
	for len(s.acc) < parts {
		acc := t.Make(int64(len(s.parts)))
		t.Fill(acc, id)
		s.acc = append(s.acc, acc)
	}
	return s
}

func (s *blockSums) add(collect func(acc Values, ci []int32, v Values), part int, ci []int32, v Values) {
	collect(s.acc[part], ci, v)
	bit := uint8(1) << part
	for _, j := range ci {
		s.parts[j] |= bit
	}
}

// forbid removes the columns that a mask does not allow.
func (s *blockSums) forbid(allow []uint8, comp bool) {
	s.cols = s.cols[:0]
	for j, b := range allow {
		if s.parts[j] != 0 && (b != 0) == comp {
			s.cols = append(s.cols, int32(j))
			s.parts[j] = 0
		}
	}
	for _, acc := range s.acc {
		s.t.FillAt(acc, s.cols, s.id)
	}
}

// drain lists the sums, with columns from first on, and resets them.
func (s *blockSums) drain(r *Semiring, first int32) (out entryBuffer) {
	cols := s.cols[:0]
	all := uint8(0)
	for j := 0; j+8 <= len(s.parts); j += 8 { // the width is a power of two
		if binary.LittleEndian.Uint64(s.parts[j:]) == 0 {
			continue
		}
		for c := j; c < j+8; c++ {
			if has := s.parts[c]; has != 0 {
				cols = append(cols, int32(c))
				all |= has
			}
		}
	}
	out.t, out.idx, out.val = s.t, make([]int32, len(cols)), s.t.Make(int64(len(cols)))
	for p := 1; all>>p != 0; p++ { // in the order of the parts
		some := out.idx[:0]
		for _, c := range cols {
			if s.parts[c]>>p&1 != 0 {
				some = append(some, c)
			}
		}
		s.sums = s.t.Grow(s.sums, len(some))
		s.t.Move(s.sums, nil, s.acc[p], some)
		r.Collect(s.acc[0], some, s.sums)
		s.t.FillAt(s.acc[p], some, s.id)
	}
	s.t.Move(out.val, nil, s.acc[0], cols)
	s.t.FillAt(s.acc[0], cols, s.id)
	for p, c := range cols {
		s.parts[c] = 0
		out.idx[p] = first + c
	}
	s.cols = cols
	return out
}

// joinFound makes a vector of n positions from the entries of consecutive blocks.
func joinFound(env Env, c *sparse.Type, n int, found []entryBuffer, threads int) (*sparse.Store, error) {
	ends := make([]int64, len(found)+1)
	for b, f := range found {
		ends[b+1] = ends[b] + int64(len(f.idx))
	}
	total := ends[len(found)]
	threads = min(threads, int(total>>14)+1)
	out := &sparse.Store{Structure: sparse.Structure{NRows: 1, NCols: n, NVals: total}, Type: c}
	if nearlyFull(total, int64(n)) {
		out.Format = sparse.Bitmap
		out.Present, out.Val = zeros[uint8](threads, n), zeroed(c, threads, n)
		return out, parallel.Pieces(env.Ctx, threads, len(found), func(_, b int) {
			for _, i := range found[b].idx {
				out.Present[i] = 1
			}
			c.Move(out.Val, found[b].idx, found[b].val, nil)
		})
	}
	out.Ptr = []int64{0, total}
	out.Idx, out.Val = fresh.Make[int32](total), c.Make(total)
	return out, parallel.Pieces(env.Ctx, threads, len(found), func(_, b int) {
		copy(out.Idx[ends[b]:], found[b].idx)
		c.Copy(out.Part(ends[b], ends[b+1]), found[b].val)
	})
}
