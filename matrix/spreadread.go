package matrix

import (
	"context"
	"sort"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/collect"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Assemble makes stores that the ranks of this process have read, which have the rows between cuts,
// the contents of a new matrix on g. It is a collective.
func (m onGroup) Assemble(ctx context.Context, g *comm.Group, cuts []int, stores []*sparse.Store, how rep.Assembly) error {
	a := m.a
	rows, cols := a.Dims()
	s := &spread{g: g, kind: a.Type(), rows: rows, cols: cols, cuts: cuts, loose: true, part: make([]*core, len(stores))}
	for k, st := range stores {
		s.part[k] = newCore(st)
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
			s.part[k] = newCore(part.Stored().ToSparse().Settle())
		}
	}
	err := g.Each(func(k int, _ comm.Comm) error {
		if at := g.PlaceOf(k); at != nil {
			return moveTo(s.part[k], at, false, Blocks)
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
	a.mu.Lock()
	defer a.mu.Unlock()
	a.put(nil)
	a.place, a.blocks, a.blocksAt = g, s, g
	a.deviceOnly.Store(true)
	return nil
}

func (noGroup) Assemble(context.Context, *comm.Group, []int, []*sparse.Store, rep.Assembly) error {
	return errNil
}

// united returns the union of a square matrix and its transpose. It empties s.
func (s *spread) united(ctx context.Context, union func(first int, rows, across *sparse.Store) *sparse.Store) (*spread, error) {
	t, err := s.transposedBy(ctx, s.cuts)
	if err != nil {
		return nil, err
	}
	u := &spread{g: s.g, kind: s.kind, rows: s.rows, cols: s.cols, cuts: s.cuts, loose: true, part: make([]*core, len(s.part))}
	err = s.g.Each(func(k int, c comm.Comm) error {
		lo, _ := s.block(c)
		u.part[k] = newCore(union(lo, s.part[k].Rows(), t.part[k].Rows()))
		s.part[k], t.part[k] = nil, nil
		return nil
	})
	return u, err
}

// workCuts cuts the rows of a listed matrix by its entries and rows, as cutsOf does for one on the
// host. It is a collective.
func (s *spread) workCuts(ctx context.Context) ([]int, error) {
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
				before := func(i int) int64 { return work[owner] + parallel.RowWork*int64(i) + entriesBefore(st, i) }
				at[k] = int64(s.cuts[owner] + sort.Search(st.NRows, func(i int) bool { return before(i) >= w }))
			}
			return c.Broadcast(ctx, comm.Host(at[k:k+1]), owner)
		})
		return int(at[0])
	})
	return cuts, err
}

// entriesBefore returns the number of entries before row i of a listed structure.
func entriesBefore(st *sparse.Structure, i int) int64 {
	if st.Format == sparse.Hypersparse {
		i = sort.Search(len(st.RowIDs), func(k int) bool { return int(st.RowIDs[k]) >= i })
	}
	return st.Ptr[i]
}
