// Package spread distributes the contents of matrices over the ranks of a group: each rank has a
// block of rows, or of the positions of a vector. It cuts, gathers, transposes and exchanges
// blocks, in host memory or between devices, and keeps what it has derived from them. It sees a
// matrix by the interface Matrix, and values by their sparse.Type.
package spread

import (
	"context"
	"slices"
	"sort"
	"sync"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/spmd"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Blocks is the contents of a matrix on a group: blocks of rows, or of positions of a vector, one
// for each rank. Rows of a block count from its first row, columns from the first column of the
// whole matrix. Blocks do not change but for what is derived from them.
type Blocks struct {
	g          *comm.Group
	make       Maker        // of the blocks, and of matrices of them
	kind       *sparse.Type // of the values
	rows, cols int          // of the whole matrix, 1×n for a vector
	vector     bool
	cuts       []int    // rank r has rows or positions cuts[r] … cuts[r+1]−1
	part       []Matrix // blocks of the ranks of this process
	loose      bool     // the blocks stay on the host, while a file is read

	mu      sync.Mutex
	counts  []int64     // entries of all ranks, nil if not exchanged yet
	whole   []Matrix    // the whole matrix, for each rank of this process, or nil
	shape   []Matrix    // its structure alone
	across  *Blocks     // the transpose, by its rows
	some    []*someRows // rows that each rank of this process has received, or nil
	lens    []int64     // entries of each row of the whole matrix
	hasCols bool        // a matrix on one device would have its transpose by now
}

// extent returns the number of rows, or of positions of a vector.
func (s *Blocks) extent() int {
	if s.vector {
		return s.cols
	}
	return s.rows
}

// block returns the first row of the k-th rank of this process and the one after its last.
func (s *Blocks) block(c comm.Comm) (lo, hi int) { return s.cuts[c.Rank()], s.cuts[c.Rank()+1] }

// SetType makes t the type of the values; see rep.Matrix.
func (s *Blocks) SetType(t *sparse.Type) {
	s.kind = t
	for _, part := range s.part {
		part.SetType(t)
	}
}

// Place returns the group.
func (s *Blocks) Place() rep.Place { return s.g }

// Dims returns the number of rows and columns of the whole matrix.
func (s *Blocks) Dims() (rows, cols int) { return s.rows, s.cols }

// NVals returns the number of entries of all ranks.
func (s *Blocks) NVals(ctx context.Context) (n int64, err error) {
	counts, err := s.counted(ctx)
	for _, k := range counts {
		n += k
	}
	return n, err
}

// counted returns the number of entries of each rank. The first call is a collective.
func (s *Blocks) counted(ctx context.Context) ([]int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counts != nil {
		return s.counts, nil
	}
	if s.g.Size() == 1 {
		s.counts = []int64{s.part[0].NVals()}
		return s.counts, s.part[0].Err()
	}
	var all []int64
	err := s.g.Each(func(k int, c comm.Comm) error {
		list, err := spmd.AllGather(ctx, c, []int64{s.part[k].NVals()})
		if k == 0 {
			all = list
		}
		return err
	})
	if err == nil {
		s.counts = all
	}
	return all, err
}

// cut cuts a store of the host. The blocks do not share values with it.
func cut(g *comm.Group, make1 Maker, kind *sparse.Type, st *sparse.Store, vector bool, cuts []int) (*Blocks, error) {
	s := &Blocks{g: g, make: make1, kind: kind, rows: st.NRows, cols: st.NCols, vector: vector, cuts: cuts}
	for k, c := range g.Ranks() {
		lo, hi := s.block(c)
		shape, from, to := sparse.PartShape(&st.Structure, vector, lo, hi)
		m := s.make.New(&sparse.Store{Structure: *shape, Val: kind.Clone(st.Part(from, to)), Type: kind})
		if p := g.PlaceOf(k); p != nil {
			if err := m.Move(p, false, blocks); err != nil {
				return nil, err
			}
			m.LeaveHost()
		}
		s.part = append(s.part, m)
	}
	return s, nil
}

// empty returns blocks without entries for a matrix. Nothing is copied to devices: operations write
// its blocks there.
func empty(g *comm.Group, of Matrix, rows, cols int, vector bool, cuts []int) (*Blocks, error) {
	kind := of.Type()
	if err := of.Sendable(); err != nil {
		return nil, err
	}
	s := &Blocks{g: g, make: of, kind: kind, rows: rows, cols: cols, vector: vector, cuts: cuts}
	for k, c := range g.Ranks() {
		m, n := rows, cols
		if lo, hi := s.block(c); vector {
			n = hi - lo
		} else {
			m = hi - lo
		}
		part := s.make.New(sparse.Empty(kind, m, n))
		if p := g.PlaceOf(k); p != nil {
			part.SetPlace(p)
		}
		s.part = append(s.part, part)
	}
	return s, nil
}

// willPin lets blocks that operations are about to write take a format.
func (s *Blocks) willPin(f sparse.Format) {
	if s.vector && f == sparse.Hypersparse {
		f = sparse.CSR
	}
	for _, m := range s.part {
		m.SetPin(true, f)
	}
}

// Release is Drop of all blocks.
func (s *Blocks) Release() { s.Drop(nil) }

// Drop gives up the memory of blocks on devices, and of what was derived from them, but for the
// blocks that are kept.
func (s *Blocks) Drop(kept []Matrix) {
	if s == nil || len(s.part) == 0 || s.g.PlaceOf(0) == nil {
		return
	}
	s.mu.Lock()
	lists := [][]Matrix{s.part, s.whole, s.shape}
	for _, f := range s.some {
		lists = append(lists, []Matrix{f.m})
	}
	if s.across != nil && s.across != s {
		lists = append(lists, s.across.part, s.across.whole, s.across.shape)
	}
	s.mu.Unlock()
	for _, list := range lists {
		for _, m := range list {
			if m != nil && !slices.Contains(kept, m) {
				m.DropRemote()
			}
		}
	}
}

// cutsOf returns the cuts of a dimension; a matrix of the host may decide about them.
func cutsOf(g *comm.Group, st *sparse.Structure, vector bool) []int {
	if vector {
		return g.Cuts(st.NCols)
	}
	n := st.NRows
	if st.NVals == 0 {
		return g.Cuts(n)
	}
	work := func(i int) int64 { return entriesBefore(st, false, i) + parallel.RowWork*int64(i) }
	return g.CutBy(n, work(n), func(w int64) int {
		return sort.Search(n, func(i int) bool { return work(i) >= w })
	})
}

// Format returns the format by the number of entries, which all processes know.
func (s *Blocks) Format() sparse.Format {
	n, err := s.NVals(nil)
	cells, ok := sparse.Cells(s.rows, s.cols)
	share := int64(4)
	if s.rows == 1 {
		share = 16
	}
	switch {
	case err != nil || !ok:
	case cells > 0 && n == int64(cells):
		return sparse.Full
	case n > 0 && n >= int64(cells)/share:
		return sparse.Bitmap
	}
	return sparse.EmptyShape(s.rows, s.cols).Format
}

// Pin converts the blocks to a format, and lets results keep it.
func (s *Blocks) Pin(f sparse.Format, pinned bool) error {
	return s.g.Apart(func(k int, _ comm.Comm) error {
		m := s.part[k]
		if !pinned {
			m.SetPin(false, f)
			return nil
		}
		lf := f
		if s.vector && lf == sparse.Hypersparse {
			lf = sparse.CSR
		}
		if cells, _ := sparse.Cells(m.Dims()); lf == sparse.Full && m.NVals() != int64(cells) {
			lf = sparse.Bitmap
		}
		if err := m.Convert(lf); err != nil {
			return err
		}
		m.SetPin(true, f)
		return nil
	}, nil)
}
