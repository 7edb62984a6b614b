package spread

import (
	"context"
	"slices"
	"sort"

	"github.com/hiveblas/hiveblas/comm/spmd"
	"github.com/hiveblas/hiveblas/internal/collect"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// someRows is the matrix that a rank has of the rows that it asked for.
type someRows struct {
	list []int32 // the rows, ascending
	m    Matrix
}

// byNeed returns for each rank of this process the whole matrix without the entries of rows that
// need does not list for it. ok is false, on all ranks, if that is not fewer bytes than the
// gathering of all rows. The rows are kept for a call with the same lists. It is a collective.
//
// The ranks tell each other how many rows they lack. If rows of average length would pay, they ask
// the owners, who tell the number of bytes of the answers; if that pays still, they answer.
func (s *Blocks) byNeed(ctx context.Context, need func(k int) []int32) (out []Matrix, ok bool, err error) {
	counts, err := s.counted(ctx)
	if err != nil {
		return nil, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	found := make([]*someRows, len(s.part))
	err = s.each(ctx, s.kind, false, func(k int, r *rank) error {
		list := need(k)
		if err := r.own.Err(); err != nil {
			return err
		}
		var kept *someRows
		if s.some != nil && slices.Equal(s.some[k].list, list) {
			kept = s.some[k]
		}
		some, err := r.ask(list, kept, counts)
		if some != nil {
			found[k] = some
		}
		return err
	})
	if err != nil || found[0] == nil {
		return nil, false, err
	}
	s.some = found
	for _, f := range found {
		out = append(out, f.m)
	}
	return out, true, nil
}

// ask returns the listed rows. It returns the kept rows if all ranks have kept theirs, and nil if
// asking does not pay.
func (r *rank) ask(list []int32, kept *someRows, counts []int64) (*someRows, error) {
	s, ctx, c, own := r.s, r.ctx, r.c, r.own.Rows()
	entry, ranks := 4+own.Type.Size, c.Size()
	at := make([]int, ranks+1) // the rows of each rank in the list
	for r := range at {
		at[r] = sort.Search(len(list), func(q int) bool { return int(list[q]) >= s.cuts[r] })
	}
	lacks := int64(len(list) - at[c.Rank()+1] + at[c.Rank()])
	fact := []int64{lacks, 0}
	if kept != nil {
		fact[1] = 1
	}
	all, err := spmd.AllGather(ctx, c, fact)
	if err != nil {
		return nil, err
	}
	rows, same := int64(0), int64(0)
	for r := range ranks {
		rows, same = rows+all[2*r], same+all[2*r+1]
	}
	if same == int64(ranks) {
		return kept, nil
	}
	limit, total := s.gatherBytes(counts), collect.Sum(counts)
	if rows*12+int64(float64(rows)*float64(total)/float64(max(s.rows, 1)))*entry >= limit {
		return nil, nil
	}
	send := make([]int, ranks)
	for r := range ranks {
		send[r] = at[r+1] - at[r]
	}
	asked, came, err := spmd.AllToAllLists(ctx, c, list, send)
	if err != nil {
		return nil, err
	}
	answer, bytes := newRowList(own.Type), int64(0)
	lo, _ := s.block(c)
	for r, n := range came {
		answer.next()
		for _, i := range asked[:n] {
			a, b := own.Span(int(i) - lo)
			answer.add(own, i, a, b, 0)
		}
		if asked = asked[n:]; r != c.Rank() {
			bytes += 8*int64(answer.rows[r]) + int64(answer.entries[r])*entry
		}
	}
	sent, err := spmd.AllGather(ctx, c, []int64{bytes})
	if err != nil || 4*rows+collect.Sum(sent) >= limit {
		return nil, err
	}
	m, err := r.exchange(answer.out(own.Type), 0, s.rows, s.cols, false)
	return &someRows{list, m}, err
}

// gatherBytes returns about how many bytes all ranks receive in the gathering of the matrix.
func (s *Blocks) gatherBytes(counts []int64) int64 {
	size, total := s.kind.Size, collect.Sum(counts)
	bytes := total*(4+size) + min(4*int64(s.rows), 8*total)
	if cells, ok := sparse.Cells(s.rows, s.cols); ok && cells < 1<<40 {
		bytes = min(bytes, int64(cells)*size+int64(cells)/8)
	}
	return bytes * int64(s.g.Size()-1)
}
