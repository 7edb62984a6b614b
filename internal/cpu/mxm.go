package cpu

import (
	"reflect"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/internal/stream"
)

// Method is an algorithm for the product of two sparse matrices.
type Method uint8

// The methods. All give the same result up to the order of summation, which is fixed for each
// method.
const (
	Auto   Method = iota // chosen by the number of products of each row
	SPA                  // dense accumulator and bitmap, row by row
	Sorted               // list the products of a row, sort, add
	Hash                 // hash table per row
)

// MaxAccumulator is the largest number of columns for which a thread gets a dense accumulator.
const MaxAccumulator = 1 << 26

// MxM computes a·b over s, with a and b listed (CSR or hypersparse), in two passes: the first
// counts the entries of each row, so that the second writes to an exact allocation. A mask that is
// not complemented needs no count: its rows bound the rows of the result. ran is the method that
// adds most of the products.
func MxM(env Env, s *Semiring, c *sparse.Type, a, b *sparse.Store, mask *Mask, method Method) (_ *sparse.Store, ran Method, _ error) {
	s = guardSemiring(env, s, c, a.Type, b.Type)
	g := &gustavson{s: s, c: c, a: a, b: b, mask: mask.list(), method: method}
	if g.renames() {
		return g.renamed(env)
	}
	vecs, threads := a.Vecs(), parallel.Threads(env.Threads)
	bounds, threads, err := g.measure(env, threads)
	if err != nil {
		return nil, Auto, err
	}
	out := &sparse.Store{Structure: sparse.Structure{NRows: a.NRows, NCols: b.NCols, Format: a.Format, RowIDs: a.RowIDs}, Type: c}
	out.Ptr = make([]int64, vecs+1)
	g.out = out
	workers := make([]*worker, min(threads, len(bounds)-1)+1)
	bounded := g.mask != nil && !g.mask.Comp
	if bounded {
		_ = parallel.Range(nil, threads, vecs, 1<<14, func(_, from, to int) {
			for k := from; k < to; k++ {
				lo, hi := g.mask.S.Span(a.RowID(k))
				out.Ptr[k+1] = min(hi-lo, g.work[k+1]-g.work[k])
			}
		})
	} else {
		// Dense rows are likely.
		if g.mask == nil && !s.ScatterOnly && g.work[vecs] >= 64*int64(vecs) {
			g.found = make([]rowMarks, vecs)
		}
		if err := g.counts(env, threads, bounds, workers, out.Ptr[1:]); err != nil {
			return nil, Auto, err
		}
	}
	parallel.Sum(threads, out.Ptr)
	if err := roomFor("the entries of the product", out.Ptr[vecs], 4+c.Size); err != nil {
		return nil, Auto, err
	}
	out.Idx = fresh.Make[int32](out.Ptr[vecs])
	out.Val = c.Make(out.Ptr[vecs])
	g.past = large(c, int(out.Ptr[vecs]))
	lens := make([]int64, vecs)
	err = parallel.Pieces(env.Ctx, threads, len(bounds)-1, func(w, p int) {
		g.worker(workers, w)
		for k := bounds[p]; k < bounds[p+1]; k++ {
			lens[k] = g.row(workers[w], k)
		}
		if g.past {
			stream.Fence()
		}
	})
	if err != nil {
		return nil, Auto, err
	}
	releaseWorkers(c, workers)
	if bounded {
		compact(threads, out, lens)
	}
	out.NVals = int64(len(out.Idx))
	if out.Format == sparse.Hypersparse {
		dropEmptyRows(out)
	}
	return out.Settle(), g.dominant(), nil
}

// MxMSizes returns the number of entries of each stored row of a·b, which is the first pass of MxM.
func MxMSizes(env Env, a, b *sparse.Structure) ([]int64, error) {
	bytes := sparse.OfKind(reflect.Uint8)
	g := &gustavson{s: &Semiring{Identity: bytes.Zero}, c: bytes, a: a.Pattern(), b: b.Pattern()}
	threads := parallel.Threads(env.Threads)
	bounds, threads, err := g.measure(env, threads)
	if err != nil {
		return nil, err
	}
	g.out = &sparse.Store{Structure: sparse.Structure{NRows: a.NRows, NCols: b.NCols}, Type: bytes}
	workers := make([]*worker, min(threads, len(bounds)-1)+1)
	sizes := make([]int64, a.Vecs())
	if err = g.counts(env, threads, bounds, workers, sizes); err == nil {
		releaseWorkers(bytes, workers)
	}
	return sizes, err
}

// ProductLengths returns the number of products of each stored row of a·b, and their sum.
func ProductLengths(env Env, a, b *sparse.Structure) (lengths []int64, total int64, err error) {
	lengths = make([]int64, a.Vecs())
	var sum atomic.Int64
	err = a.RowBlocks(env.Ctx, parallel.Threads(env.Threads), func(_, lo, hi int) {
		block := int64(0)
		for k := lo; k < hi; k++ {
			n := int64(0)
			for _, c := range a.Idx[a.Ptr[k]:a.Ptr[k+1]] {
				from, to := b.Span(int(c))
				n += to - from
			}
			lengths[k] = n
			block += n
		}
		sum.Add(block)
	})
	return lengths, sum.Load(), err
}

// productGrain is the number of products, and of rows, from which a further thread takes part:
// waking a thread for a product of 10×10 costs more than the product (2026-11-27-cpu-2core-mend).
const productGrain = 1 << 12

// measure counts the products of each row and cuts the rows into pieces of about equal numbers of
// products. It returns how many of the threads they are worth.
func (g *gustavson) measure(env Env, threads int) (bounds []int, share int, err error) {
	a, b := g.a, g.b
	vecs := a.Vecs()
	g.work = make([]int64, vecs+1)
	err = a.RowBlocks(env.Ctx, threads, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			var f int64
			for _, c := range a.Idx[a.Ptr[k]:a.Ptr[k+1]] {
				blo, bhi := b.Span(int(c))
				f += bhi - blo
			}
			g.work[k+1] = f
		}
	})
	if err != nil {
		return nil, 0, err
	}
	parallel.Sum(threads, g.work)
	work := g.work[vecs] + int64(vecs)
	share = parallel.Share(threads, work, productGrain)
	return parallel.Cut(threads, g.work, int(min(int64(share*32), work/128+1)), 8), share, nil
}

// counts sets sizes to the number of entries of each row of the result.
func (g *gustavson) counts(env Env, threads int, bounds []int, workers []*worker, sizes []int64) error {
	if g.b.Format == sparse.CSR && g.work[len(g.work)-1] >= bitsReuse*g.b.NVals {
		g.bits = bitsOf(threads, &g.b.Structure)
	}
	return parallel.Pieces(env.Ctx, threads, len(bounds)-1, func(w, p int) {
		g.worker(workers, w)
		for k := bounds[p]; k < bounds[p+1]; k++ {
			sizes[k] = g.count(workers[w], k)
		}
	})
}

// dominant returns the method that adds most of the products.
func (g *gustavson) dominant() Method {
	if g.method != Auto {
		return g.method
	}
	var by [Hash + 1]int64
	for k := range len(g.work) - 1 {
		f := g.work[k+1] - g.work[k]
		by[g.pick(f)] += f
	}
	best := SPA
	for m, f := range by {
		if f > by[best] {
			best = Method(m)
		}
	}
	return best
}

// compact closes the gaps after rows that are shorter than their allocation: within the arrays on
// one thread, by a copy on more.
func compact(threads int, s *sparse.Store, lens []int64) {
	ptr := make([]int64, len(lens)+1)
	copy(ptr[1:], lens)
	parallel.Sum(threads, ptr)
	total := ptr[len(lens)]
	s.NVals = total
	if total == int64(len(s.Idx)) {
		return
	}
	t, idx, val := s.Type, s.Idx, s.Val
	threads = parallel.Share(threads, total, 1<<15)
	if threads > 1 {
		idx, val = fresh.Make[int32](total), t.Make(total)
	}
	_ = s.RowBlocks(nil, threads, func(_, lo, hi int) {
		for k := lo; k < hi; k++ {
			from, q, n := s.Ptr[k], ptr[k], lens[k]
			copy(idx[q:q+n], s.Idx[from:from+n])
			t.Copy(t.Slice(val, q, q+n), s.Part(from, from+n))
		}
	})
	if threads == 1 && !t.Plain {
		t.Clear(t.Slice(val, total, int64(val.Len())))
	}
	s.Ptr, s.Idx, s.Val = ptr, idx[:total], t.Slice(val, 0, total)
}

// dropEmptyRows restores the invariant that every hypersparse row has entries. It replaces RowIDs
// instead of writing to it, because RowIDs may be shared.
func dropEmptyRows(s *sparse.Store) {
	ids := make([]int32, 0, len(s.RowIDs))
	ptr := make([]int64, 1, len(s.Ptr))
	for k, r := range s.RowIDs {
		if s.Ptr[k] < s.Ptr[k+1] {
			ids = append(ids, r)
			ptr = append(ptr, s.Ptr[k+1])
		}
	}
	s.RowIDs, s.Ptr = ids, ptr
}
