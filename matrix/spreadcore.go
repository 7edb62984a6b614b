package matrix

import (
	"context"
	"fmt"
	"slices"
	"unsafe"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// scattered returns the contents if they are only on a group, and nil otherwise.
func (a *core[T]) scattered() *spread[T] {
	if a == nil || !a.deviceOnly.Load() {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.deviceOnly.Load() || a.home != nil {
		return nil
	}
	return a.blocks
}

// collect gathers the contents from a group to the host. The caller holds mu.
func (a *core[T]) collect() {
	s := a.blocks
	whole, err := s.gather(nil)
	var st *sparse.Store[T]
	if err == nil {
		st = whole[0].stored().Own()
		err = whole[0].failure()
	}
	if err != nil {
		a.err = fmt.Errorf("cannot gather the contents of a matrix from %s: %w", s.g, err)
		st = sparse.Empty[T](s.rows, s.cols)
	}
	if a.pinned {
		st = sparse.Convert(st, a.pin)
	}
	a.st = st
	a.deviceOnly.Store(false)
}

// moveToGroup moves the matrix to a group.
func (a *Matrix[T]) moveToGroup(g *comm.Group, vector bool, layout Layout) error {
	if g.Size() == 0 {
		return &InvalidError{"Matrix.Move", "the group has no ranks; make one by comm.NewGroup"}
	}
	if layout == Replicated {
		return a.replicate(g)
	}
	if a.place == Place(g) && !a.replicated {
		_, err := a.core().blocksOn(g, vector)
		return err
	}
	if err := a.Fetch(); err != nil {
		return err
	}
	if _, err := a.core().blocksOn(g, vector); err != nil {
		return err
	}
	a.settleOn(g, false)
	return nil
}

// replicate gathers the matrix, and keeps it whole in every process of a group.
func (a *Matrix[T]) replicate(g *comm.Group) error {
	if err := a.Fetch(); err != nil {
		return err
	}
	a.settleOn(g, true)
	return nil
}

// settleOn makes a group the place of a matrix whose contents are there, and gives its memory at the
// place before back.
func (a *Matrix[T]) settleOn(g *comm.Group, replicated bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.home != nil {
		a.home.Drop()
		a.home = nil
	}
	a.place, a.replicated = g, replicated
}

// blocksOn returns the contents on a group, and cuts those of the host if needed.
func (a *core[T]) blocksOn(g *comm.Group, vector bool) (*spread[T], error) {
	if a == nil {
		return nil, errNil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.blocksAt == g && a.blocks != nil && a.blocks.vector == vector {
		return a.blocks, nil
	}
	a.fetch() // of a vector as a matrix of one row too, which is cut in another way
	if a.err != nil {
		return nil, a.err
	}
	st := a.st
	if st == nil {
		st = sparse.Empty[T](0, 0)
	}
	s, err := spreadStore(g, st, vector, cutsOf(g, st, vector))
	if err != nil {
		return nil, err
	}
	s.counts = countOf(st, vector, s.cuts)
	s.hasCols = a.asCols.Load() != nil
	if a.knownSymmetric.Load() {
		s.across = s
	}
	if a.pinned {
		if err := s.pin(a.pin, true); err != nil {
			return nil, err
		}
	}
	a.blocks, a.blocksAt = s, g
	return s, nil
}

// countOf returns the number of entries of each block of a store.
func countOf[T any](st *sparse.Store[T], vector bool, cuts []int) []int64 {
	counts := make([]int64, len(cuts)-1)
	for r := range counts {
		lo, hi := cuts[r], cuts[r+1]
		switch {
		case st.Format == sparse.Full && vector:
			counts[r] = int64(hi - lo)
		case st.Format == sparse.Full:
			counts[r] = int64(hi-lo) * int64(st.NCols)
		case st.Format == sparse.Bitmap:
			width := st.NCols
			if vector {
				width = 1
			}
			for _, b := range st.Present[lo*width : hi*width] {
				counts[r] += int64(b)
			}
		case vector:
			from, _ := slices.BinarySearch(st.Idx, int32(lo))
			to, _ := slices.BinarySearch(st.Idx, int32(hi))
			counts[r] = int64(to - from)
		case st.Format == sparse.Hypersparse:
			from, _ := slices.BinarySearch(st.RowIDs, int32(lo))
			to, _ := slices.BinarySearch(st.RowIDs, int32(hi))
			counts[r] = st.Ptr[to] - st.Ptr[from]
		default:
			counts[r] = st.Ptr[hi] - st.Ptr[lo]
		}
	}
	return counts
}

// setBlocks replaces the contents by s on the group of the matrix.
func (a *core[T]) setBlocks(s *spread[T]) {
	a.dropRemote()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.st, a.blocks, a.blocksAt = nil, s, s.g
	a.forget()
	a.deviceOnly.Store(true)
}

// onHost reports whether the contents are in host memory.
func (a *core[T]) onHost() bool { return !a.deviceOnly.Load() }

// Everywhere reports whether every rank has the whole matrix: nothing is sent for it.
func (a *core[T]) Everywhere(g *comm.Group) bool {
	if a == nil || a.onHost() {
		return true
	}
	a.mu.Lock()
	s := a.blocks
	a.mu.Unlock()
	if s == nil || s.g != g {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.whole != nil
}

// Cuts returns how the matrix is cut on a group.
func (a *core[T]) Cuts(ctx context.Context, g *comm.Group, vector, transposed bool) ([]int, error) {
	s, err := a.blocksOn(g, vector)
	if err != nil {
		return nil, err
	}
	if transposed && !vector {
		if s, err = s.transposed(ctx); err != nil {
			return nil, err
		}
	}
	return s.cuts, nil
}

// Blocks returns what each rank of this process needs of the matrix.
func (a *core[T]) Blocks(q rep.Query) ([]rep.Matrix[T], error) {
	list, err := a.blockMatrices(q)
	out := make([]rep.Matrix[T], len(list))
	for k, m := range list {
		out[k] = m.core()
	}
	return out, err
}

// MaskBlocks is Blocks without the type of the values, and without the values of a whole pattern.
func (a *core[T]) MaskBlocks(q rep.Query) ([]rep.Mask, error) {
	if q.Whole && q.Pattern && a != nil && !a.onHost() {
		s, err := a.blocksOn(q.Group, q.Vector)
		if err != nil {
			return nil, err
		}
		list, err := s.gatherShape(q.Context)
		out := make([]rep.Mask, len(list))
		for k, m := range list {
			out[k] = m.core()
		}
		return out, err
	}
	list, err := a.blockMatrices(q)
	out := make([]rep.Mask, len(list))
	for k, m := range list {
		out[k] = m.core()
	}
	return out, err
}

func (a *core[T]) blockMatrices(q rep.Query) ([]*Matrix[T], error) {
	if a == nil {
		return nil, errNil
	}
	if a.err != nil {
		return nil, a.err
	}
	if q.Whole && a.onHost() && !q.Here { // every process has it
		out := make([]*Matrix[T], len(q.Group.Ranks()))
		for k := range out {
			out[k] = (*Matrix[T])(a)
		}
		return out, nil
	}
	s, err := a.blocksOn(q.Group, q.Vector)
	if err != nil {
		return nil, err
	}
	if q.Whole {
		if q.Need != nil && !q.Vector && !a.Everywhere(q.Group) {
			if some, ok, err := s.byNeed(q.Context, q.Need); ok || err != nil {
				return some, err
			}
		}
		if a.onHost() {
			return s.copies(a)
		}
		return s.gather(q.Context)
	}
	if q.Transposed {
		t, err := s.transposed(q.Context)
		if err != nil {
			return nil, err
		}
		if !q.Quiet {
			s.hasCols = true
		}
		s = t
	}
	if q.Rows != nil {
		return s.needed(q.Context, q.Rows)
	}
	if q.Cuts != nil && !slices.Equal(q.Cuts, s.cuts) {
		r, err := s.recut(q.Context, q.Cuts)
		if err != nil {
			return nil, err
		}
		a.mu.Lock()
		if q.Transposed { // keep the transpose with the blocks that operations ask for
			a.blocks.across, r.across = r, a.blocks
		} else if a.blocks == s {
			switch s.across {
			case nil:
			case s:
				r.across = r
			default:
				r.across, s.across.across = s.across, r
			}
			r.counts, r.lens, r.hasCols, r.whole, r.shape = nil, s.lens, s.hasCols, s.whole, s.shape
			a.blocks = r
		}
		a.mu.Unlock()
		s = r
	}
	return s.part, nil
}

// copies gives the contents of the host, which every process has, to the places of its ranks, and
// keeps them. Ranks of the host share one matrix.
func (s *spread[T]) copies(a *core[T]) ([]*Matrix[T], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.whole != nil {
		return s.whole, nil
	}
	shared := func() *Matrix[T] {
		m := &Matrix[T]{st: a.Stored()}
		m.knownSymmetric.Store(a.knownSymmetric.Load())
		m.asCols.Store(a.asCols.Load())
		return m
	}
	out, host := make([]*Matrix[T], len(s.part)), shared()
	err := s.g.Apart(func(k int, _ comm.Comm) error {
		p := s.g.PlaceOf(k)
		if p == nil {
			out[k] = host
			return nil
		}
		out[k] = shared()
		return out[k].Move(p)
	}, nil)
	if err == nil {
		s.whole = out
	}
	return out, err
}

// Lengths returns the entries of rows, or with transposed of columns, of the whole matrix.
func (a *core[T]) Lengths(ctx context.Context, g *comm.Group, transposed bool, rows []int32) ([]int64, error) {
	s, err := a.blocksOn(g, false)
	if err != nil {
		return nil, err
	}
	if transposed {
		if s, err = s.transposed(ctx); err != nil {
			return nil, err
		}
	}
	return s.lengths(ctx, rows)
}

// HasCols reports whether a matrix on one device would have its transpose by now, and HadCols
// records that.
func (a *core[T]) HasCols(g *comm.Group) bool {
	s, err := a.blocksOn(g, false)
	return err == nil && (s.hasCols || a.Symmetric())
}

// HadCols records that a matrix on one device would have its transpose from now on.
func (a *core[T]) HadCols(g *comm.Group) {
	if s, err := a.blocksOn(g, false); err == nil {
		s.hasCols = true
	}
}

// Counts returns the entries of each rank's block.
func (a *core[T]) Counts(ctx context.Context, g *comm.Group, vector bool) ([]int64, error) {
	s, err := a.blocksOn(g, vector)
	if err != nil {
		return nil, err
	}
	return s.counted(ctx)
}

// Target returns the blocks of a destination on its group, of the given cuts. With fresh they have
// no entries.
func (a *core[T]) Target(ctx context.Context, g *comm.Group, vector, fresh bool, cuts []int) (rep.GroupTarget[T], error) {
	if a == nil {
		return nil, errNil
	}
	m, n := a.Dims()
	if vector && m == 0 {
		m = 1
	}
	var s *spread[T]
	var err error
	if fresh {
		if s, err = emptySpread[T](g, m, n, vector, cuts); err == nil && a.pinned {
			err = s.pin(a.pin, true)
		}
		return &groupTarget[T]{a, s}, err
	}
	q := rep.Query{Group: g, Context: ctx, Vector: vector, Cuts: cuts}
	list, err := a.blockMatrices(q)
	if err != nil {
		return nil, err
	}
	s = &spread[T]{g: g, rows: m, cols: n, vector: vector, cuts: cuts, part: slices.Clone(list)}
	return &groupTarget[T]{a, s}, nil
}

// Pointer returns the address of the matrix. A vector begins with its matrix.
func (a *core[T]) Pointer() unsafe.Pointer { return unsafe.Pointer(a) }

// groupTarget is the blocks of a destination.
type groupTarget[T comparable] struct {
	a *core[T]
	s *spread[T]
}

// Part returns the block of the k-th rank of this process.
func (t *groupTarget[T]) Part(k int) rep.Matrix[T] { return t.s.part[k].core() }

// Keep makes the blocks the contents of the destination. If that is replicated, every rank receives
// the blocks of the others.
func (t *groupTarget[T]) Keep() error {
	t.s.counts, t.s.whole, t.s.shape, t.s.across, t.s.lens, t.s.hasCols, t.s.some = nil, nil, nil, nil, nil, false, nil
	t.a.setBlocks(t.s)
	if !t.a.replicated {
		return nil
	}
	t.a.mu.Lock()
	defer t.a.mu.Unlock()
	t.a.fetch()
	return t.a.err
}

// Lost records that an operation failed on some ranks after others had written their blocks.
func (t *groupTarget[T]) Lost(err error) {
	t.a.err = fmt.Errorf("an operation on %s failed on some ranks after others had written the matrix: %w", t.s.g, err)
}
