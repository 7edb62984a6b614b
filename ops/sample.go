package ops

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/philox"
	"github.com/hiveblas/hiveblas/internal/rep"
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
	return begin("Sample", "", opts).sample(destOf(dst), viewOf(a), k, seed, nil)
}

// SampleWeighted is [Sample] with draws in proportion to the values: of the entries of a row that
// are left, one of value w is drawn with probability w over their sum (Efraimidis and Spirakis,
// 2006). Sample returns a *matrix.InvalidError unless values are positive and finite. It takes
// O(entries · log row length) time.
func SampleWeighted[T semiring.Number](dst matrix.Target[T], a matrix.Source[T], k int, seed uint64, opts ...Option) error {
	return begin("SampleWeighted", "", opts).sample(destOf(dst), viewOf(a), k, seed, func(to []float64, v sparse.Values) {
		for p, x := range sparse.SliceOf[T](v) {
			to[p] = float64(x)
		}
	})
}

// sample is Sample; weights, if not nil, gives the weights of values.
func (c *call) sample(d dest, v rep.View, k int, seed uint64, weights func(to []float64, v sparse.Values)) error {
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
	if err == nil {
		err = c.noGroup(t.group, "it")
	}
	if err != nil {
		return err
	}
	s := v.Rows().Valued()
	if weights != nil {
		if err := c.checkWeights(s, weights); err != nil {
			return err
		}
	}
	if k == 0 {
		c.traced("sample", 0)
		return c.write(sparse.Empty(t.c, m, n), false)
	}
	out := &sparse.Store{Structure: sparse.Structure{NRows: m, NCols: n, Format: s.Format, RowIDs: s.RowIDs, Ptr: offsetsOfSome(&s.Structure, k, c.threads)}, Type: t.c}
	out.NVals = out.Ptr[s.Vecs()]
	out.Idx, out.Val = fresh.Make[int32](out.NVals), t.c.Make(out.NVals)
	err = s.RowBlocks(c.ctx, c.threads, func(_, lo, hi int) {
		var at []int32
		var w []float64
		var keys []philox.Key
		for r := lo; r < hi; r++ {
			from, to := s.Ptr[r], s.Ptr[r+1]
			q, end := out.Ptr[r], out.Ptr[r+1]
			if to-from <= int64(k) {
				copy(out.Idx[q:], s.Idx[from:to])
				t.c.Copy(out.Part(q, end), s.Part(from, to))
				continue
			}
			number := func(k int) uint64 { return philox.Number(int32(s.RowID(r)), 0, 0, k, seed) }
			if weights == nil {
				at = philox.Choose(at[:0], int(to-from), k, number)
			} else {
				w = slices.Grow(w[:0], int(to-from))[:to-from]
				weights(w, s.Part(from, to))
				at, keys = philox.ChooseByWeight(at[:0], keys, w, k, number)
			}
			slices.Sort(at)
			for e, p := range at {
				out.Idx[q+int64(e)] = s.Idx[from+int64(p)]
			}
			t.c.Move(out.Part(q, end), nil, s.Part(from, to), at)
		}
	})
	if err != nil {
		return err
	}
	c.traced("sample", s.NVals)
	return c.write(out.Settle(), false)
}

// checkWeights returns the error of the first value that is no weight.
func (c *call) checkWeights(s *sparse.Store, weights func(to []float64, v sparse.Values)) error {
	var first atomic.Int64 // the first entry that is no weight
	first.Store(s.NVals)
	if err := parallel.Range(c.env().Ctx, c.env().Threads, s.Val.Len(), 1<<14, func(_, lo, hi int) {
		w := make([]float64, hi-lo)
		weights(w, s.Part(int64(lo), int64(hi)))
		for p, w := range w {
			if !(w > 0) || math.IsInf(w, 1) {
				parallel.Lower(&first, int64(lo+p))
				return
			}
		}
	}); err != nil {
		return err
	}
	p := first.Load()
	if p == s.NVals {
		return nil
	}
	r, _ := slices.BinarySearch(s.Ptr, p+1)
	x := reflect.NewAt(sparse.GoType(s.Type), s.Type.At(s.Val, p)).Elem()
	return &matrix.InvalidError{Op: c.op, Reason: fmt.Sprintf("the value %v at (%d, %d) is no weight; give positive, finite ones", x, s.RowID(r-1), s.Idx[p])}
}
