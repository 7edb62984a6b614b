package spread

import (
	"context"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/spmd"
	"github.com/hiveblas/hiveblas/internal/collect"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// A rank is a rank of this process in a collective of blocks. The steps and their bytes are the
// same on the host and on devices; predictions with ranks of the host rely on it.
type rank struct {
	s     *Blocks
	ctx   context.Context
	c     comm.Comm
	place rep.Place // nil for the host
	own   Matrix    // the block
	kind  *sparse.Type
	shape bool // only the structure counts; values of results are true
	memory
}

// memory is the memory of a rank, of the host or of a device, with the work on blocks there.
type memory interface {
	// size is the bytes of a value that is gathered, 0 of a pattern.
	size() int64
	// room returns memory for heads of so many bytes, and for the columns and values of so many
	// entries; of heads alone for −1. whole and stack read what was received there.
	room(head, entries int) (streams, error)
	// pack lays out the block in a form, and returns the number of pairs, if the form has pairs.
	pack(f *gatherForm) (own streams, pairs int, err error)
	// whole begins the whole matrix from the heads of all ranks, and returns the memory of its
	// columns and values. gathered returns the matrix when these are there.
	whole(f *gatherForm) (streams, error)
	gathered() (Matrix, error)
	// rowsFor cuts the rows of the block, or of its transpose, for the ranks by cuts of the whole.
	// The rows of a vector are its positions.
	rowsFor(across bool, cuts []int) (rowsOut, error)
	// listedRows takes the rows that lists has for each rank, numbered by their places in its list.
	listedRows(lists [][]int32) (rowsOut, error)
	// stack makes an m×n block with first row lo of received rows with so many entries; rows has
	// how many each rank sent. Pieces of one row follow each other in the order of ranks. A
	// conformed block of all positions is full.
	stack(rows []int, entries, lo, m, n int, conform bool) (Matrix, error)
	// differs reports whether the block and another one of the same rows differ.
	differs(other Matrix) (bool, error)
}

// streams are a block, or rows, as they travel: presence bits, lengths of rows, or pairs of the
// number and the length of a row; columns, or positions of a vector; and values.
type streams struct{ head, idx, val comm.Buffer }

// rowsOut is what a rank sends: rows with their entries, as pairs, for rank 0, 1, ….
type rowsOut struct {
	streams
	rows, entries []int // for each rank
}

// each calls f for each rank of this process at the same time, with the memory of its device or of
// the host. kind is the type of the values that travel.
func (s *Blocks) each(ctx context.Context, kind *sparse.Type, devices bool, f func(k int, r *rank) error) (err error) {
	var t device.Type
	if devices {
		if t, err = device.TypeFor(sparse.GoType(kind)); err != nil {
			return err
		}
	}
	return s.g.Each(func(k int, c comm.Comm) error {
		r := &rank{s: s, ctx: ctx, c: c, place: s.g.PlaceOf(k), own: s.part[k], kind: kind}
		if !devices {
			r.memory = &hostMemory{rank: r}
			return f(k, r)
		}
		m := &deviceMemory{rank: r, at: device.Of(r.place), t: t}
		own, err := r.own.RemoteOn(m.at)
		if err != nil {
			return err
		}
		defer m.release()
		m.operand = device.Operand{Store: own, Vector: s.vector}
		r.memory = m
		return f(k, r)
	})
}

// gather returns the whole matrix. counts are the entries of all ranks.
func (r *rank) gather(counts []int64) (Matrix, error) {
	f := r.s.formOf(r.size(), counts)
	own, pairs, err := r.pack(&f)
	if err == nil && f.few {
		f.head, err = spmd.AllGather(r.ctx, r.c, []int{8 * pairs})
	}
	var all streams
	if head := collect.Sum(f.head); err == nil && head > 0 { // known to all ranks
		var in streams
		if in, err = r.room(head, -1); err == nil {
			err = r.c.AllGatherV(r.ctx, in.head, f.head, own.head)
		}
	}
	if err == nil {
		all, err = r.whole(&f)
	}
	if err == nil && collect.Sum(f.idx) > 0 {
		err = r.c.AllGatherV(r.ctx, all.idx, f.idx, own.idx)
	}
	if err == nil && collect.Sum(f.val) > 0 {
		err = r.c.AllGatherV(r.ctx, all.val, f.val, own.val)
	}
	if err != nil {
		return nil, err
	}
	return r.gathered()
}

// exchange sends rows to every rank, and stacks the rows received; see memory.stack.
func (r *rank) exchange(out rowsOut, lo, m, n int, conform bool) (Matrix, error) {
	p := r.c.Size()
	twos, numbers := make([]int, p), make([]int, 0, 2*p)
	for q := range p {
		twos[q] = 2
		numbers = append(numbers, out.rows[q], out.entries[q])
	}
	got, err := spmd.AllToAll(r.ctx, r.c, numbers, twos, twos)
	if err != nil {
		return nil, err
	}
	rows, entries := make([]int, p), make([]int, p)
	for q := range p {
		rows[q], entries[q] = got[2*q], got[2*q+1]
	}
	in, err := r.room(8*collect.Sum(rows), collect.Sum(entries))
	if err != nil {
		return nil, err
	}
	size := int(r.kind.Size)
	for _, x := range []struct {
		to, own    comm.Buffer
		recv, send []int
		size       int
	}{{in.head, out.head, rows, out.rows, 8}, {in.idx, out.idx, entries, out.entries, 4}, {in.val, out.val, entries, out.entries, size}} {
		recv, _ := spmd.Bytes(x.recv, x.size)
		send, _ := spmd.Bytes(x.send, x.size)
		if err := r.c.AllToAllV(r.ctx, x.to, recv, x.own, send); err != nil {
			return nil, err
		}
	}
	return r.stack(rows, collect.Sum(entries), lo, m, n, conform)
}

// gatherForm is how a matrix is gathered: by positions if dense, else as a list, of few rows as
// pairs of these.
type gatherForm struct {
	dense, full, few bool
	total            int64 // entries
	items            []int // positions of each rank, if dense

	head, idx, val []int // bytes of each rank; head is exchanged for few rows
}

// formOf chooses the form of fewer bytes for values of size bytes, 0 of a pattern. Ranks decide
// alike, since all know the number of entries of each.
func (s *Blocks) formOf(size int64, counts []int64) gatherForm {
	width := s.cols
	if s.vector {
		width = 1
	}
	f := gatherForm{total: collect.Sum(counts)}
	cells, ok := sparse.Cells(s.extent(), width)
	f.full = ok && cells > 0 && f.total == int64(cells)
	f.dense = f.full || ok && cells < 1<<40 && int64(cells)*size+int64(cells)/8 < f.total*(4+size)
	f.few = !f.dense && !s.vector && f.total < int64(s.rows)/2
	for r, n := range counts {
		rows := s.cuts[r+1] - s.cuts[r]
		head, idx, items := 0, 4*int(n), int(n)
		switch {
		case f.dense:
			idx, items = 0, rows*width
			if !f.full {
				head = (items + 7) / 8
			}
		case !s.vector && !f.few:
			head = 4 * rows
		}
		f.items, f.head, f.idx, f.val = append(f.items, items), append(f.head, head), append(f.idx, idx), append(f.val, int(size)*items)
	}
	return f
}
