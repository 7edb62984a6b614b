package cpu

import (
	"encoding/binary"
	"math/bits"

	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// workers returns the number of threads for some work, of which each shall have at least grain: a
// thread that has less takes longer to wake than to finish.
func workers(env Env, work, grain int64) int {
	return int(max(1, min(int64(parallel.Threads(env.Threads)), work/grain)))
}

// Push with many threads sorts its products into blocks of columns, so that no two threads add to
// the same sum and no accumulator has the size of the result. Few threads add at once, which reads
// and writes each product once less. Blocks of equally many columns: cuts by a sample of the
// products take .52–.68 ms for a frontier of 1 % of R-MAT 18 on 16 processors, these .34.
const (
	sortedPushThreads = 4       // above
	sortedPushMin     = 1 << 16 // products
	sortedPushMax     = 1 << 26 // products: their columns and values are stored
	pushBlocks        = 256     // at most: an open cache line each
	pushBlockWidth    = 1 << 13 // columns, at least
)

// pushed is the input of a push: row ks[p] of a, with value uv[p], begins at los[p] and is preceded
// by work[p] products. The sums of the parts between bounds are added in order.
type pushed[A, B, C any] struct {
	a         *sparse.Store[B]
	ks        []int32
	uv        []A
	los, work []int64
	bounds    []int
}

// sortedProducts are products sorted by block: those of block b are at from[b] … from[b+1]−1, in
// the order of a push by one thread. Columns count from the first of the block.
type sortedProducts[C any] struct {
	part int // of the push
	from []int32
	idx  []int32
	val  []C
	next []int32 // scratch
	row  []C     // scratch
}

// pushByBlocks is Push by sorting. Each sum has the order that pushParts prescribes, so the result
// equals that of Push bit for bit.
func pushByBlocks[A, B, C any](env Env, s *Semiring[A, B, C], u *pushed[A, B, C], mask *Mask, threads int) (*sparse.Store[C], error) {
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
	sorted := make([]*sortedProducts[C], len(pieces))
	pool := poolOf[sortedProducts[C]]() // new memory costs as much as the sort
	defer func() {
		for _, p := range sorted {
			if p != nil {
				pool.Put(p)
			}
		}
	}()
	err := parallel.Pieces(env.Ctx, threads, len(pieces), func(_, k int) {
		p, ok := pool.Get().(*sortedProducts[C])
		if !ok {
			p = &sortedProducts[C]{}
		}
		sorted[k] = p
		p.part = pieces[k].part
		sortProducts(p, s, u, pieces[k].from, pieces[k].to, shift, blocks)
	})
	if err != nil {
		return nil, err
	}
	var allow []uint8
	comp := false
	if mask != nil {
		allow, comp = mask.bytes(n), mask.Comp
	}
	found := make([]entryBuffer[C], blocks)
	err = parallel.Pieces(env.Ctx, threads, blocks, func(_, b int) {
		sums := getBlockSums(len(u.bounds)-1, 1<<shift, s.Identity)
		for _, p := range sorted {
			lo, hi := p.from[b], p.from[b+1]
			if lo < hi {
				sums.add(s.Collect, p.part, p.idx[lo:hi], p.val[lo:hi])
			}
		}
		first := b << shift
		if allow != nil {
			sums.forbid(allow[first:min(first+1<<shift, n)], comp)
		}
		found[b] = sums.drain(s.Add, int32(first))
		poolOf[blockSums[C]]().Put(sums)
	})
	if err != nil {
		return nil, err
	}
	return joinFound(env, n, found, threads)
}

// sortProducts computes the products of the rows from … to−1 of u and sorts them by block, stably.
func sortProducts[A, B, C any](out *sortedProducts[C], s *Semiring[A, B, C], u *pushed[A, B, C], from, to, shift, blocks int) {
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
	out.idx, out.val = sized(out.idx, int(total)), sized(out.val, int(total))
	out.row = sized(out.row, int(longest))
	within := int32(1)<<shift - 1
	var x A
	for p := from; p < to; p++ {
		lo, hi := u.los[p], u.los[p]+u.work[p+1]-u.work[p]
		if lo == hi {
			continue
		}
		if u.uv != nil {
			x = u.uv[p]
		}
		v := out.row[:hi-lo]
		s.Products(v, x, window(a.Val, lo, hi))
		for e, j := range a.Idx[lo:hi] {
			b := j >> shift
			q := next[b]
			next[b] = q + 1
			out.idx[q], out.val[q] = j&within, v[e]
		}
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
type blockSums[C any] struct {
	acc   [][]C
	parts []uint8 // by column: bit p is set if part p has a product
	id    C
}

// getBlockSums returns clean sums of so many parts (at most 8) and at least width columns.
func getBlockSums[C any](parts, width int, id C) *blockSums[C] {
	s, ok := poolOf[blockSums[C]]().Get().(*blockSums[C])
	if !ok || len(s.parts) < width || !same(s.id, id) {
		s = &blockSums[C]{parts: make([]uint8, width), id: id}
	}
	for len(s.acc) < parts {
		s.acc = append(s.acc, filled(len(s.parts), id))
	}
	return s
}

func (s *blockSums[C]) add(collect func(acc []C, ci []int32, v []C), part int, ci []int32, v []C) {
	collect(s.acc[part], ci, v)
	bit := uint8(1) << part
	for _, j := range ci {
		s.parts[j] |= bit
	}
}

// forbid removes the columns that a mask does not allow.
func (s *blockSums[C]) forbid(allow []uint8, comp bool) {
	for j, b := range allow {
		if s.parts[j] != 0 && (b != 0) == comp {
			for p := range s.acc {
				s.acc[p][j] = s.id
			}
			s.parts[j] = 0
		}
	}
}

// drain lists the sums, whose columns begin at first, and resets them.
func (s *blockSums[C]) drain(add func(x, y C) C, first int32) (out entryBuffer[C]) {
	count := 0
	for _, b := range s.parts {
		count += int(min(b, 1))
	}
	out.idx, out.val = make([]int32, 0, count), make([]C, 0, count)
	for j := 0; j+8 <= len(s.parts); j += 8 { // the width is a power of two
		if binary.LittleEndian.Uint64(s.parts[j:]) == 0 {
			continue
		}
		for c := j; c < j+8; c++ {
			has := s.parts[c]
			if has == 0 {
				continue
			}
			s.parts[c] = 0
			sum := s.acc[0][c]
			s.acc[0][c] = s.id
			for p := 1; has>>p != 0; p++ {
				if has>>p&1 != 0 {
					sum = add(sum, s.acc[p][c])
					s.acc[p][c] = s.id
				}
			}
			out.idx, out.val = append(out.idx, first+int32(c)), append(out.val, sum)
		}
	}
	return out
}

// joinFound makes a vector of n positions from the entries of consecutive blocks.
func joinFound[C any](env Env, n int, found []entryBuffer[C], threads int) (*sparse.Store[C], error) {
	ends := make([]int64, len(found)+1)
	for b, f := range found {
		ends[b+1] = ends[b] + int64(len(f.idx))
	}
	total := ends[len(found)]
	threads = min(threads, int(total>>14)+1)
	out := &sparse.Store[C]{Structure: sparse.Structure{NRows: 1, NCols: n, NVals: total}}
	if nearlyFull(total, int64(n)) {
		out.Format = sparse.Bitmap
		out.Present, out.Val = zeros[uint8](threads, n), zeros[C](threads, n)
		return out, parallel.Pieces(env.Ctx, threads, len(found), func(_, b int) {
			for p, i := range found[b].idx {
				out.Present[i], out.Val[i] = 1, found[b].val[p]
			}
		})
	}
	out.Ptr = []int64{0, total}
	out.Idx, out.Val = fresh.Make[int32](total), fresh.Make[C](total)
	return out, parallel.Pieces(env.Ctx, threads, len(found), func(_, b int) {
		copy(out.Idx[ends[b]:], found[b].idx)
		copy(out.Val[ends[b]:], found[b].val)
	})
}
