package spread

import (
	"context"
	"fmt"
	"slices"
	"sort"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Group returns a place as a group, and nil if it is none.
func Group(p rep.Place) *comm.Group {
	g, _ := p.(*comm.Group)
	return g
}

// On returns the contents on a group, and cuts the contents of the host if needed.
func On(a Matrix, g *comm.Group, vector bool) (*Blocks, error) {
	b := a
	b.Lock()
	defer b.Unlock()
	if s := b.Spread(); s != nil && s.g == g && s.vector == vector {
		return s, nil
	}
	a.Fetch() // of a vector as a matrix of one row too, which is cut in another way
	if b.Err() != nil {
		return nil, b.Err()
	}
	if err := a.Sendable(); err != nil {
		return nil, err
	}
	st := a.HostStore()
	s, err := cut(g, a, a.Type(), st, vector, cutsOf(g, &st.Structure, vector))
	if err != nil {
		return nil, err
	}
	s.counts = countOf(&st.Structure, vector, s.cuts)
	s.hasCols = a.KeepsCols()
	if b.Symmetric() {
		s.across = s
	}
	if b.Pinned() {
		if err := s.Pin(b.Pin(), true); err != nil {
			return nil, err
		}
	}
	b.SetSpread(s)
	return s, nil
}

// countOf returns the number of entries of each block of a store.
func countOf(st *sparse.Structure, vector bool, cuts []int) []int64 {
	counts := make([]int64, len(cuts)-1)
	for r := range counts {
		from, to := entriesBefore(st, vector, cuts[r]), entriesBefore(st, vector, cuts[r+1])
		if counts[r] = to - from; st.Format == sparse.Bitmap {
			counts[r] = 0
			for _, b := range st.Present[from:to] {
				counts[r] += int64(b)
			}
		}
	}
	return counts
}

// entriesBefore returns the number of entries before row i, or before position i of a vector; of a
// bitmap the number of cells.
func entriesBefore(st *sparse.Structure, vector bool, i int) int64 {
	list := st.RowIDs
	switch {
	case st.Format == sparse.Full || st.Format == sparse.Bitmap:
		if vector {
			return int64(i)
		}
		return int64(i) * int64(st.NCols)
	case vector:
		list = st.Idx
	case st.Format != sparse.Hypersparse:
		return st.Ptr[i]
	}
	at := int64(sort.Search(len(list), func(k int) bool { return int(list[k]) >= i }))
	if vector {
		return at
	}
	return st.Ptr[at]
}

// oneDevice reports whether the group has one rank, on a device. Its block is the whole matrix.
func (s *Blocks) oneDevice() bool { return rep.OneDevice(s.g) }

// onHost reports whether the contents are in host memory.
func onHost(b Matrix) bool { return !b.Elsewhere() }

// Of returns a matrix as one on a group.
func Of(a Matrix) rep.Grouped { return onGroup{a} }

// None returns a nil matrix as one on a group; err is the error of its methods.
func None(err error) rep.Grouped { return noGroup{err} }

// onGroup is a matrix as one on a group.
type onGroup struct{ a Matrix }

// Everywhere reports whether every rank has the whole matrix: nothing is sent for it.
func (m onGroup) Everywhere(g *comm.Group) bool {
	b := m.a
	if onHost(b) {
		return true
	}
	b.Lock()
	s := b.Spread()
	b.Unlock()
	if s == nil || s.g != g {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.whole != nil
}

// Cuts returns how the matrix is cut on a group.
func (m onGroup) Cuts(ctx context.Context, g *comm.Group, vector, transposed bool) ([]int, error) {
	s, err := On(m.a, g, vector)
	if err != nil {
		return nil, err
	}
	if transposed && !vector {
		if s.oneDevice() {
			return []int{0, s.cols}, nil
		}
		if s, err = s.transposed(ctx); err != nil {
			return nil, err
		}
	}
	return s.cuts, nil
}

// MaskBlocks returns what each rank of this process needs of the matrix, without the values of a
// whole pattern.
func (m onGroup) MaskBlocks(q rep.Query) ([]rep.Matrix, error) {
	var list []Matrix
	var err error
	if q.Whole && q.Pattern && !onHost(m.a) {
		var s *Blocks
		if s, err = On(m.a, q.Group, q.Vector); err != nil {
			return nil, err
		}
		if list, err = s.gatherShape(q.Context); err == nil {
			markCopies(list, m.a)
		}
	} else {
		list, err = blockMatrices(m.a, q)
	}
	if err != nil {
		return nil, err
	}
	return matrices(list), nil
}

// Parts returns what each rank of this process needs of a matrix.
func Parts(a Matrix, q rep.Query) ([]rep.Matrix, error) {
	list, err := blockMatrices(a, q)
	return matrices(list), err
}

// matrices returns a list as one of rep.Matrix.
func matrices(list []Matrix) []rep.Matrix {
	if list == nil {
		return nil
	}
	out := make([]rep.Matrix, len(list))
	for k, m := range list {
		out[k] = m
	}
	return out
}

// blockMatrices returns what each rank of this process needs of a matrix that is not nil.
func blockMatrices(a Matrix, q rep.Query) ([]Matrix, error) {
	b := a
	if b.Err() != nil {
		return nil, b.Err()
	}
	if q.Whole && onHost(b) && !q.Here { // every process has it
		out := make([]Matrix, len(q.Group.Ranks()))
		for k := range out {
			out[k] = a
		}
		return out, nil
	}
	s, err := On(a, q.Group, q.Vector)
	if err != nil {
		return nil, err
	}
	if s.oneDevice() { // the device keeps the transpose with the block
		s.part[0].SetSymmetric(b.Symmetric())
		if q.Rows == nil {
			return s.part, nil
		}
	}
	if q.Whole {
		if q.Need != nil && !q.Vector && !(onGroup{a}).Everywhere(q.Group) {
			if some, ok, err := s.byNeed(q.Context, q.Need); ok || err != nil {
				return some, err
			}
		}
		var list []Matrix
		if onHost(b) {
			list, err = s.copies(a)
		} else {
			list, err = s.Gather(q.Context)
		}
		if err != nil {
			return nil, err
		}
		markCopies(list, b)
		return list, nil
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
		b.Lock()
		if q.Transposed { // keep the transpose with the blocks that operations ask for
			b.Spread().across, r.across = r, b.Spread()
		} else if b.Spread() == s {
			switch s.across {
			case nil:
			case s:
				r.across = r
			default:
				r.across, s.across.across = s.across, r
			}
			r.counts, r.lens, r.hasCols, r.whole, r.shape = nil, s.lens, s.hasCols, s.whole, s.shape
			b.SetSpread(r)
		}
		b.Unlock()
		s = r
	}
	return s.part, nil
}

// markCopies records that copies of a matrix equal their transposes if the matrix does.
func markCopies(list []Matrix, b Matrix) {
	for _, c := range list {
		if own := c; own != b {
			own.SetSymmetric(b.Symmetric())
		}
	}
}

// copies gives the contents of the host, which every process has, to the places of its ranks, and
// keeps them. Ranks of the host share one matrix.
func (s *Blocks) copies(a Matrix) ([]Matrix, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.whole != nil {
		return s.whole, nil
	}
	out, host := make([]Matrix, len(s.part)), a.Share()
	err := s.g.Apart(func(k int, _ comm.Comm) error {
		p := s.g.PlaceOf(k)
		if p == nil {
			out[k] = host
			return nil
		}
		out[k] = a.Share()
		return out[k].Move(p, false, blocks)
	}, nil)
	if err == nil {
		s.whole = out
	}
	return out, err
}

// Lengths returns the entries of rows, or with transposed of columns, of the whole matrix.
func (m onGroup) Lengths(ctx context.Context, g *comm.Group, transposed bool, rows []int32) ([]int64, error) {
	s, err := On(m.a, g, false)
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
func (m onGroup) HasCols(g *comm.Group) bool {
	s, err := On(m.a, g, false)
	return err == nil && (s.hasCols || m.a.Symmetric())
}

// HadCols records that a matrix on one device would have its transpose from now on.
func (m onGroup) HadCols(g *comm.Group) {
	if s, err := On(m.a, g, false); err == nil {
		s.hasCols = true
	}
}

// Counts returns the entries of each rank's block.
func (m onGroup) Counts(ctx context.Context, g *comm.Group, vector bool) ([]int64, error) {
	s, err := On(m.a, g, vector)
	if err != nil {
		return nil, err
	}
	return s.counted(ctx)
}

// Target returns the blocks of a destination on its group, of the given cuts. With fresh they have
// no entries.
func (m onGroup) Target(ctx context.Context, g *comm.Group, vector, fresh bool, cuts []int) (rep.GroupTarget, error) {
	rows, cols := m.a.Dims()
	if vector && rows == 0 {
		rows = 1
	}
	if fresh {
		s, err := empty(g, m.a, rows, cols, vector, cuts)
		if b := m.a; err == nil && b.Pinned() {
			s.willPin(b.Pin())
		}
		return &groupTarget{m.a, s}, err
	}
	q := rep.Query{Group: g, Context: ctx, Vector: vector, Cuts: cuts}
	list, err := blockMatrices(m.a, q)
	if err != nil {
		return nil, err
	}
	s := &Blocks{g: g, make: m.a, kind: m.a.Type(), rows: rows, cols: cols, vector: vector, cuts: cuts, part: slices.Clone(list)}
	return &groupTarget{m.a, s}, nil
}

// noGroup is a nil matrix as one on a group.
type noGroup struct{ err error }

func (m noGroup) MaskBlocks(rep.Query) ([]rep.Matrix, error) { return nil, m.err }
func (m noGroup) Cuts(context.Context, *comm.Group, bool, bool) ([]int, error) {
	return nil, m.err
}
func (m noGroup) Counts(context.Context, *comm.Group, bool) ([]int64, error) { return nil, m.err }
func (m noGroup) Lengths(context.Context, *comm.Group, bool, []int32) ([]int64, error) {
	return nil, m.err
}
func (noGroup) Everywhere(*comm.Group) bool { return true }
func (noGroup) HasCols(*comm.Group) bool    { return false }
func (noGroup) HadCols(*comm.Group)         {}
func (m noGroup) Target(context.Context, *comm.Group, bool, bool, []int) (rep.GroupTarget, error) {
	return nil, m.err
}

// groupTarget is the blocks of a destination.
type groupTarget struct {
	a Matrix
	s *Blocks
}

// Part returns the block of the k-th rank of this process.
func (t *groupTarget) Part(k int) rep.Matrix { return t.s.part[k] }

// Keep makes the blocks the contents of the destination. If that is replicated, every rank receives
// the blocks of the others.
func (t *groupTarget) Keep() error {
	t.s.counts, t.s.whole, t.s.shape, t.s.across, t.s.lens, t.s.hasCols, t.s.some = nil, nil, nil, nil, nil, false, nil
	b := t.a
	b.Lock()
	old := b.Spread()
	b.SetSpread(nil)
	b.Unlock()
	b.DropRemote()
	old.Drop(t.s.part)
	b.Lock()
	defer b.Unlock()
	b.SetSpread(t.s)
	t.a.Forget()
	b.LeaveHost()
	if !b.Replicated() {
		return nil
	}
	t.a.Fetch()
	return b.Err()
}

// Lost records that an operation failed on some ranks after others had written their blocks.
func (t *groupTarget) Lost(err error) {
	t.a.SetErr(fmt.Errorf("an operation on %s failed on some ranks after others had written the matrix: %w", t.s.g, err))
}
