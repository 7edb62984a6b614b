package spread

import (
	"context"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/spmd"
	"github.com/hiveblas/hiveblas/internal/collect"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Gather returns the whole matrix for each rank of this process. The first call is a collective.
// The only rank of a group has the whole.
func (s *Blocks) Gather(ctx context.Context) ([]Matrix, error) {
	if s.g.Size() == 1 {
		return s.part, nil
	}
	counts, err := s.counted(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.whole != nil {
		return s.whole, nil
	}
	if s.gathersOnDevices() {
		whole, err := s.gatherOnDevices(ctx, false, counts)
		if err == nil {
			s.whole = whole
		}
		return whole, err
	}
	out := make([]Matrix, len(s.part))
	err = s.g.Each(func(k int, c comm.Comm) error {
		st, err := gatherStore(ctx, c, s, s.part[k].Stored(), counts)
		if err == nil {
			err = s.part[k].Err()
		}
		if err != nil {
			return err
		}
		out[k] = s.make.New(st)
		if p := s.g.PlaceOf(k); p != nil {
			return out[k].Move(p, false, blocks)
		}
		return nil
	})
	if err == nil {
		s.whole = out
	}
	return out, err
}

// Whole returns the storage of the whole matrix, which the caller owns. It is Gather for the host.
func (s *Blocks) Whole() (*sparse.Store, error) {
	whole, err := s.Gather(nil)
	if err != nil {
		return nil, err
	}
	return whole[0].Stored().Own(), whole[0].Err()
}

// gatherShape returns the structure of the whole matrix for each rank; all values are true. The
// only rank of a group gets the whole, with its values.
func (s *Blocks) gatherShape(ctx context.Context) ([]Matrix, error) {
	if s.g.Size() == 1 {
		return s.part, nil
	}
	counts, err := s.counted(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shape != nil {
		return s.shape, nil
	}
	if s.gathersOnDevices() {
		shape, err := s.gatherOnDevices(ctx, true, counts)
		if err == nil {
			s.shape = shape
		}
		return shape, err
	}
	out := make([]Matrix, len(s.part))
	err = s.g.Each(func(k int, c comm.Comm) error {
		st := s.part[k].Shape().Pattern()
		if err := s.part[k].Err(); err != nil {
			return err
		}
		st, err := gatherStore(ctx, c, s, st, counts)
		if err != nil {
			return err
		}
		n := len(st.Idx)
		if !st.Sparse() {
			n, _ = st.Cells()
		}
		st.Val = st.Type.Filled(int64(n), st.Type.True)
		out[k] = s.make.New(st)
		if p := s.g.PlaceOf(k); p != nil {
			return out[k].Move(p, false, blocks)
		}
		return nil
	})
	if err == nil {
		s.shape = out
	}
	return out, err
}

// gatherStore gathers a store from its blocks, as a list or by positions, whichever is less. Ranks
// decide alike, since all know the number of entries of each. Of a pattern the result is one.
func gatherStore(ctx context.Context, c comm.Comm, s *Blocks, own *sparse.Store, counts []int64) (*sparse.Store, error) {
	values, size := !own.Val.None(), int64(0)
	if values {
		size = own.Type.Size
	}
	form := s.formOf(size, counts)
	total, items, bits := form.total, form.items, form.bits
	st := &sparse.Store{Structure: sparse.Structure{NRows: s.rows, NCols: s.cols, NVals: total}, Type: own.Type}
	var err error
	switch {
	case form.dense:
		st.Format = sparse.Full
		block := denseBlock(own)
		if !form.full {
			cells, _ := st.Cells()
			st.Format, st.Present = sparse.Bitmap, make([]uint8, cells)
			packed, err := spmd.AllGatherV(ctx, c, packBits(block.Present, items[c.Rank()]), bits)
			if err != nil {
				return nil, err
			}
			at, from := 0, 0
			for r, n := range items {
				for i := range n {
					st.Present[at+i] = packed[from+i/8] >> (i % 8) & 1
				}
				at, from = at+n, from+bits[r]
			}
		}
		if values {
			st.Val, err = collect.GatherValues(ctx, c, block.Type, block.Val, items)
		}
		return st, err
	case s.vector:
		list := own.ToSparse()
		idx := make([]int32, len(list.Idx))
		for p, j := range list.Idx {
			idx[p] = j + int32(s.cuts[c.Rank()])
		}
		if st.Idx, err = spmd.AllGatherV(ctx, c, idx, collect.Ints(counts)); err == nil && values {
			st.Val, err = collect.GatherValues(ctx, c, list.Type, list.Val, collect.Ints(counts))
		}
		st.Ptr = []int64{0, total}
		return st, err
	}
	return gatherRowLists(ctx, c, s, own.ToSparse(), st, counts)
}

// gatherRowLists gathers a listed matrix: the rows that have entries and their lengths, or the
// lengths of all rows, then columns and values.
func gatherRowLists(ctx context.Context, c comm.Comm, s *Blocks, list, st *sparse.Store, counts []int64) (*sparse.Store, error) {
	lo := int32(s.cuts[c.Rank()])
	if st.NVals < int64(st.NRows)/2 {
		list = list.ToHyper()
		vecs, err := spmd.AllGather(ctx, c, []int64{int64(list.Vecs())})
		if err != nil {
			return nil, err
		}
		rows := make([]int32, 0, 2*list.Vecs())
		for k, i := range list.RowIDs {
			rows = append(rows, i+lo, int32(list.Ptr[k+1]-list.Ptr[k]))
		}
		pairs := make([]int, len(vecs))
		for r, n := range vecs {
			pairs[r] = 2 * int(n)
		}
		if rows, err = spmd.AllGatherV(ctx, c, rows, pairs); err != nil {
			return nil, err
		}
		st.Format, st.RowIDs, st.Ptr = sparse.Hypersparse, make([]int32, 0, len(rows)/2), make([]int64, 1, len(rows)/2+1)
		for p := 0; p < len(rows); p += 2 {
			st.RowIDs = append(st.RowIDs, rows[p])
			st.Ptr = append(st.Ptr, st.Ptr[len(st.Ptr)-1]+int64(rows[p+1]))
		}
	} else {
		list = list.ToCSR()
		lens := make([]int32, list.NRows)
		for i := range lens {
			lens[i] = int32(list.Ptr[i+1] - list.Ptr[i])
		}
		extent := make([]int, c.Size())
		for r := range extent {
			extent[r] = s.cuts[r+1] - s.cuts[r]
		}
		lens, err := spmd.AllGatherV(ctx, c, lens, extent)
		if err != nil {
			return nil, err
		}
		st.Ptr = make([]int64, len(lens)+1)
		for i, n := range lens {
			st.Ptr[i+1] = st.Ptr[i] + int64(n)
		}
	}
	var err error
	if st.Idx, err = spmd.AllGatherV(ctx, c, list.Idx, collect.Ints(counts)); err == nil && !list.Val.None() {
		st.Val, err = collect.GatherValues(ctx, c, list.Type, list.Val, collect.Ints(counts))
	}
	if err != nil {
		return nil, err
	}
	return st.Settle(), nil
}

// denseBlock returns a store by positions, with presence bytes.
func denseBlock(st *sparse.Store) *sparse.Store {
	if !st.Sparse() {
		return st
	}
	return st.ToBitmap()
}

// packBits returns n presence bytes as bits; nil bytes are all 1.
func packBits(present []uint8, n int) []uint8 {
	out := make([]uint8, (n+7)/8)
	for i := range n {
		if present == nil || present[i] != 0 {
			out[i/8] |= 1 << (i % 8)
		}
	}
	return out
}
