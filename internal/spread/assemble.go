package spread

import (
	"context"
	"sort"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/collect"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Assemble makes stores that the ranks of this process have read, which have the rows between cuts,
// the contents of a new matrix on g. It is a collective.
func (m onGroup) Assemble(ctx context.Context, g *comm.Group, cuts []int, stores []*sparse.Store, how rep.Assembly) error {
	a := m.a
	rows, cols := a.Dims()
	s := &Blocks{g: g, make: a, kind: a.Type(), rows: rows, cols: cols, cuts: cuts, loose: true, part: make([]Matrix, len(stores))}
	for k, st := range stores {
		s.part[k] = s.make.New(st)
	}
	if how.Union != nil {
		u, err := s.united(ctx, how.Union)
		if err != nil {
			return err
		}
		s = u
	}
	if how.Recut {
		cuts, err := s.workCuts(ctx)
		if err != nil {
			return err
		}
		if s, err = s.recut(ctx, cuts); err != nil {
			return err
		}
		for k, part := range s.part { // lists, as parts of the list that a whole reading makes
			s.part[k] = s.make.New(part.Stored().ToSparse().Settle())
		}
	}
	err := g.Each(func(k int, _ comm.Comm) error {
		if at := g.PlaceOf(k); at != nil {
			return s.part[k].Move(at, false, blocks)
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.loose = false
	if _, err := s.counted(ctx); err != nil {
		return err
	}
	a.Lock()
	defer a.Unlock()
	a.SetPlace(g)
	a.SetSpread(s)
	a.LeaveHost()
	return nil
}

func (m noGroup) Assemble(context.Context, *comm.Group, []int, []*sparse.Store, rep.Assembly) error {
	return m.err
}

// united returns the union of a square matrix and its transpose. It empties s.
func (s *Blocks) united(ctx context.Context, union func(first int, rows, across *sparse.Store) *sparse.Store) (*Blocks, error) {
	t, err := s.transposedBy(ctx, s.cuts)
	if err != nil {
		return nil, err
	}
	u := &Blocks{g: s.g, make: s.make, kind: s.kind, rows: s.rows, cols: s.cols, cuts: s.cuts, loose: true, part: make([]Matrix, len(s.part))}
	err = s.g.Each(func(k int, c comm.Comm) error {
		lo, _ := s.block(c)
		u.part[k] = s.make.New(union(lo, s.part[k].Rows(), t.part[k].Rows()))
		s.part[k], t.part[k] = nil, nil
		return nil
	})
	return u, err
}

// workCuts cuts the rows of a listed matrix by its entries and rows, as cutsOf does for one on the
// host. It is a collective.
func (s *Blocks) workCuts(ctx context.Context) ([]int, error) {
	counts, err := s.counted(ctx)
	if err != nil {
		return nil, err
	}
	total := collect.Sum(counts)
	if total == 0 {
		return s.g.Cuts(s.rows), nil
	}
	work := make([]int64, len(s.cuts)) // before the first row of each rank
	for r, n := range counts {
		work[r+1] = work[r] + n + parallel.RowWork*int64(s.cuts[r+1]-s.cuts[r])
	}
	cuts := s.g.CutBy(s.rows, total+parallel.RowWork*int64(s.rows), func(w int64) int {
		if w <= 0 || err != nil {
			return 0
		}
		owner := sort.Search(len(counts), func(r int) bool { return work[r+1] >= w })
		if owner == len(counts) {
			return s.rows
		}
		at := make([]int64, len(s.part))
		err = s.g.Each(func(k int, c comm.Comm) error {
			if c.Rank() == owner {
				st := s.part[k].RowsShape()
				before := func(i int) int64 { return work[owner] + parallel.RowWork*int64(i) + entriesBefore(st, false, i) }
				at[k] = int64(s.cuts[owner] + sort.Search(st.NRows, func(i int) bool { return before(i) >= w }))
			}
			return c.Broadcast(ctx, comm.Host(at[k:k+1]), owner)
		})
		return int(at[0])
	})
	return cuts, err
}

// SetBlocks makes stores at the places of the ranks of this process the contents of a matrix, or of
// the matrix of a vector, that was made on g. They are its rows, or positions, between cuts, which
// all processes know.
func (m onGroup) SetBlocks(g *comm.Group, vector bool, cuts []int, homes []device.Store) {
	b := m.a
	rows, cols := m.a.Dims()
	s := &Blocks{g: g, make: m.a, kind: m.a.Type(), rows: rows, cols: cols, vector: vector, cuts: cuts}
	for k := range g.Ranks() {
		s.part = append(s.part, s.make.NewAt(m.a.Type(), g.PlaceOf(k), homes[k]))
	}
	m.a.Forget()
	b.Lock()
	defer b.Unlock()
	b.SetSpread(s)
	b.LeaveHost()
}

// MarkSymmetric records that the matrix equals its transpose.
func (m onGroup) MarkSymmetric() {
	b := m.a
	b.SetSymmetric(true)
	if s := b.Spread(); b.Elsewhere() && s != nil && !b.OnDevice() {
		s.across, s.hasCols = s, true
	}
}

func (noGroup) SetBlocks(*comm.Group, bool, []int, []device.Store) {}
func (noGroup) MarkSymmetric()                                     {}
