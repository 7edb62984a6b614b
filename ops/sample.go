package ops

import (
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/philox"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

// Sample computes C⟨M⟩ ⊕= k entries of each row of a, or all of a row that has at most k, at their
// places: of the neighbours of each vertex, each set of k is equally likely (Floyd's method). With
// A.T() it samples the neighbours that lead to a vertex.
//
// The choice depends on seed and the number of the row alone: random numbers are Philox4x32-10 of
// both (Salmon et al., SC 2011), so that a result is the same at any number of threads, and a row
// that is sampled alone gives the same entries. apps.GraphSAGE draws its neighbours by the same
// code. Sample runs on the host and takes O(rows + entries of the result · k) time. It returns the
// same errors as [MxM], and a *matrix.InvalidError for a negative k.
func Sample[T comparable](dst matrix.Target[T], a matrix.Source[T], k int, seed uint64, opts ...Option) error {
	c := begin[T]("Sample", "", opts)
	return sample(c, dst, a, k, seed, nil)
}

// SampleWeighted is [Sample] with draws in proportion to the values: of the entries of a row that
// are left, one of value w is drawn with probability w over their sum (Efraimidis and Spirakis,
// 2006). Values must be positive and finite; another is a *matrix.InvalidError. It takes O(entries
// · log row length) time.
func SampleWeighted[T semiring.Number](dst matrix.Target[T], a matrix.Source[T], k int, seed uint64, opts ...Option) error {
	c := begin[T]("SampleWeighted", "", opts)
	return sample(c, dst, a, k, seed, func(x T) float64 { return float64(x) })
}

func sample[T comparable](c *call, dst matrix.Target[T], a matrix.Source[T], k int, seed uint64, weight func(T) float64) error {
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
	if err == nil {
		err = c.noGroup(t.group, "it")
	}
	if err != nil {
		return err
	}
	s := valued(access.Rows(v))
	if weight != nil {
		var first atomic.Int64 // the first entry that is no weight
		first.Store(s.NVals)
		if err := parallel.Range(c.env().Ctx, c.env().Threads, len(s.Val), 1<<14, func(_, lo, hi int) {
			for p := lo; p < hi; p++ {
				if w := weight(s.Val[p]); !(w > 0) || math.IsInf(w, 1) {
					parallel.Lower(&first, int64(p))
					return
				}
			}
		}); err != nil {
			return err
		}
		if p := first.Load(); p < s.NVals {
			r, _ := slices.BinarySearch(s.Ptr, p+1)
			return &matrix.InvalidError{Op: c.op, Reason: fmt.Sprintf("the value %v at (%d, %d) is no weight; give positive, finite ones", s.Val[p], s.RowID(r-1), s.Idx[p])}
		}
	}
	if k == 0 {
		c.traced("sample", 0)
		return write(c, t, sparse.Empty[T](m, n), false)
	}
	out := &sparse.Store[T]{Structure: sparse.Structure{NRows: m, NCols: n, Format: s.Format, RowIDs: s.RowIDs, Ptr: offsetsOfSome(&s.Structure, k, c.threads)}}
	out.NVals = out.Ptr[s.Vecs()]
	out.Idx, out.Val = fresh.Make[int32](out.NVals), fresh.Make[T](out.NVals)
	err = s.RowBlocks(c.ctx, c.threads, func(_, lo, hi int) {
		var at []int32
		var weights []float64
		var keys []philox.Key
		for r := lo; r < hi; r++ {
			from, to := s.Ptr[r], s.Ptr[r+1]
			q := out.Ptr[r]
			if to-from <= int64(k) {
				copy(out.Idx[q:], s.Idx[from:to])
				copy(out.Val[q:], s.Val[from:to])
				continue
			}
			number := func(k int) uint64 { return philox.Number(int32(s.RowID(r)), 0, 0, k, seed) }
			if weight == nil {
				at = philox.Choose(at[:0], int(to-from), k, number)
			} else {
				weights = weights[:0]
				for _, x := range s.Val[from:to] {
					weights = append(weights, weight(x))
				}
				at, keys = philox.ChooseByWeight(at[:0], keys, weights, k, number)
			}
			slices.Sort(at)
			for e, p := range at {
				out.Idx[q+int64(e)], out.Val[q+int64(e)] = s.Idx[from+int64(p)], s.Val[from+int64(p)]
			}
		}
	})
	if err != nil {
		return err
	}
	c.traced("sample", s.NVals)
	return write(c, t, sparse.Settle(out), false)
}
