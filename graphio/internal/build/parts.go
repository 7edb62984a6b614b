package build

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"sync"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/spmd"
	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/collect"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// This file reads a matrix on a group in parts: each rank parses a piece of the file, and sends
// the entries to the ranks that own their rows. No rank holds the file or the whole matrix. Where
// a rank finds a fault, every process reads the file again from its start, holds no entries, and
// so returns the error of the whole reading, with its line.

// Parts is a file that the ranks of a group read in parts.
type Parts struct {
	G    *comm.Group
	O    *core.ReadOptions
	File io.ReaderAt
	Size int64

	mu    sync.Mutex
	bytes int64 // read by the ranks of this process
}

// GroupOf returns the group of On, or nil.
func GroupOf(o *core.ReadOptions) *comm.Group {
	g, _ := o.Place.(*comm.Group)
	return g
}

// contextOf returns the context of collectives. If all ranks are of this process, the caller looks
// at its context between them, so that its end leaves the group intact.
func contextOf(o *core.ReadOptions, g *comm.Group) context.Context {
	return spmd.Waiting(o.Ctx, g)
}

// tell gives all ranks the sizes that the processes see of the file, −1 of one that reads it whole.
// If a process has an error, all get one. It is a collective.
func tell(o *core.ReadOptions, g *comm.Group, size int64, failed error) (sizes []int64, err error) {
	if g.Size() == 0 {
		return nil, &matrix.InvalidError{Op: "graphio.On", Reason: "the group has no ranks; make one by comm.NewGroup"}
	}
	s := spmd.Begin(o.Ctx, g, "graphio")
	err = s.Each(func(k int, c comm.Comm) error {
		all, err := spmd.Agree(s, c, []int64{size}, failed)
		if k == 0 {
			sizes = all
		}
		return err
	})
	return sizes, err
}

// Agree returns the error of this process, or the *comm.RankError of another one that has failed.
// The group stays intact. It is a collective.
func Agree(o *core.ReadOptions, err error) error {
	g := GroupOf(o)
	if g == nil {
		return err
	}
	_, others := tell(o, g, 0, err)
	return cmp.Or(err, others)
}

// InParts returns the file if all processes can read parts of it, and nil if each reads it whole.
// able says that the format and the options allow parts. It is a collective on a group.
func InParts(o *core.ReadOptions, r io.Reader, able bool) (*Parts, error) {
	g := GroupOf(o)
	if g == nil {
		return nil, nil
	}
	p := &Parts{G: g, O: o}
	if !able || !p.open(r) {
		p.Size = -1
	}
	sizes, err := tell(o, g, p.Size, nil)
	if err != nil || slices.Contains(sizes, -1) {
		return nil, err
	}
	for r, size := range sizes {
		if size != sizes[0] {
			return nil, o.Fail(0, fmt.Sprintf("the file has %d bytes for rank 0 and %d for rank %d", sizes[0], size, r), "give all processes the same file")
		}
	}
	return p, nil
}

// open reports whether r is a plain file, at its start, that can be read from any place.
func (p *Parts) open(r io.Reader) bool {
	f := p.O.Random
	if f == nil {
		f, _ = r.(core.RandomReader)
	}
	if f == nil {
		return false
	}
	if s, ok := f.(io.Seeker); ok && p.O.Random == nil {
		if at, err := s.Seek(0, io.SeekCurrent); err != nil || at != 0 {
			return false
		}
	}
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() {
		return false
	}
	var head [2]byte
	if n, _ := f.ReadAt(head[:], 0); n == 2 && (chunk.IsGzip(head[:]) || chunk.IsUTF16(head[:])) { // gzip, UTF-16
		return false
	}
	p.File, p.Size = f, st.Size()
	return true
}

// Stream returns the file from its start.
func (p *Parts) Stream() io.Reader { return io.NewSectionReader(p.File, 0, p.Size) }

// Blame returns the error that reread finds in the whole file after a rank found one in its part.
// It is a collective.
func (p *Parts) Blame(reread func() error) error {
	err := reread()
	if err == nil {
		err = p.O.Fail(0, "the file changed while it was read", "read it again when it does not change")
	}
	return Agree(p.O, err)
}

// Threads returns the number of threads of a rank.
func (p *Parts) Threads() int {
	if t := p.O.Threads; t > 0 {
		return max(1, t/len(p.G.Ranks()))
	}
	return p.G.Threads()
}

// Report adds to the progress. Ranks of one process call it at the same time.
func (p *Parts) Report(bytes int64) {
	if p.O.Progress == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bytes += bytes
	p.O.Report(p.bytes * int64(p.G.Size()) / int64(len(p.G.Ranks())))
}

// Facts gives all processes some numbers of each rank, and whether all ranks succeeded. It is a
// collective.
func (p *Parts) Facts(own [][]int64, errs []error) (all [][]int64, ok bool, err error) {
	width := 1
	for _, list := range own {
		width = 1 + len(list)
	}
	var flat []int64
	err = p.G.Each(func(k int, c comm.Comm) error {
		mine := []int64{0}
		if errs[k] != nil {
			mine[0] = 1
		}
		list, err := spmd.AllGather(contextOf(p.O, p.G), c, append(mine, own[k]...))
		if k == 0 {
			flat = list
		}
		return err
	})
	ok = err == nil
	for r := 0; err == nil && r < len(flat); r += width {
		ok = ok && flat[r] == 0
		all = append(all, flat[r+1:r+width])
	}
	return all, ok, err
}

// Placed returns the matrix of a store that each process has read, at the place of On: the
// processes of a group agree about errors before they move it.
func Placed(o *core.ReadOptions, st *sparse.Store, labels core.Sides, err error) (rep.Matrix, core.Sides, error) {
	var a rep.Matrix
	if err == nil {
		a = core.Inside(st)
	}
	if err = MoveTo(o, a, false, err); err != nil {
		return nil, core.Sides{}, err
	}
	return a, labels, nil
}

// MoveTo moves a matrix, or the matrix of a vector, to the place of On. err is the error of reading
// it.
func MoveTo(o *core.ReadOptions, a rep.Matrix, vector bool, err error) error {
	if o.Place == nil {
		return err
	}
	if err = Agree(o, err); err == nil {
		err = a.Move(o.Place, vector, uint8(o.Layout))
	}
	return err
}

// ReadPlaced reads a matrix whole, and returns it at the place of On.
func ReadPlaced(r io.Reader, o *core.ReadOptions, read func(io.Reader, *core.ReadOptions) (*sparse.Store, core.Sides, error)) (rep.Matrix, core.Sides, error) {
	st, labels, err := read(r, o)
	return Placed(o, st, labels, err)
}

// exchangeTuples bounds the tuples that the ranks exchange at a time.
const exchangeTuples = 1 << 20

// Build makes the m×n matrix of the tuples that the ranks of this process have read: the k-th rank
// list[k], in the order of the file. It returns a *matrix.DuplicateError if a position is repeated
// and dup is nil. With mirror the result is the union with the transpose. It empties list. It is a
// collective.
func (p *Parts) Build(m, n int, list [][]sparse.Block, dup sparse.Combine, mirror bool) (rep.Matrix, error) {
	cuts, err := p.tupleCuts(m, list, mirror)
	if err != nil {
		return nil, err
	}
	t := p.O.E.T
	stores := make([]*sparse.Store, len(list))
	twice := make([][]int64, len(list)) // the first repeated position of each rank
	err = p.G.Each(func(k int, c comm.Comm) error {
		lo, hi := cuts[c.Rank()], cuts[c.Rank()+1]
		blocks, err := p.exchangeBlocks(c, list[k], cuts)
		list[k] = nil
		if err != nil {
			return err
		}
		var sorted func(done, total int64)
		if k == 0 {
			sorted = p.O.Sorted()
		}
		st, err := sparse.Build(t, hi-lo, n, blocks, dup, p.Threads(), sorted)
		twice[k] = []int64{-1, -1}
		var d *sparse.DuplicateError
		if errors.As(err, &d) {
			twice[k] = []int64{int64(lo + d.Row), int64(d.Col)}
			st = sparse.Empty(t, hi-lo, n)
		} else if err != nil {
			return err
		}
		stores[k] = st
		return nil
	})
	if err != nil {
		return nil, err
	}
	all, _, err := p.Facts(twice, make([]error, len(list)))
	if err != nil {
		return nil, err
	}
	for _, at := range all {
		if at[0] >= 0 {
			return nil, &matrix.DuplicateError{Row: int(at[0]), Col: int(at[1])}
		}
	}
	return p.Assemble(m, n, cuts, stores, p.Assembly(nil, mirror))
}

// Assembly cuts the rows of a matrix anew; with mirror it forms the union with the transpose first,
// which combine combines as symmetrise does.
func (p *Parts) Assembly(combine sparse.Combine, mirror bool) rep.Assembly {
	how := rep.Assembly{Recut: true}
	if mirror {
		how.Union = func(first int, rows, across *sparse.Store) *sparse.Store {
			return unionOf(rows, across, first, p.O.E, combine, p.Threads())
		}
	}
	return how
}

// Assemble returns the m×n matrix of blocks. It is a collective.
func (p *Parts) Assemble(m, n int, cuts []int, stores []*sparse.Store, how rep.Assembly) (rep.Matrix, error) {
	a := matrix.NewInside(p.O.E.T, m, n)
	if err := a.OnGroup().Assemble(contextOf(p.O, p.G), p.G, cuts, stores, how); err != nil {
		return nil, err
	}
	return a, nil
}

// tupleCuts cuts m rows by the number of tuples of ranges of rows. The cuts are near the cuts of
// the matrix, so that no rank receives much more than its block.
func (p *Parts) tupleCuts(m int, list [][]sparse.Block, mirror bool) ([]int, error) {
	buckets, err := collect.Buckets(contextOf(p.O, p.G), p.G, m, func(k int, add func(i int32)) {
		for _, t := range list[k] {
			for q, i := range t.Row {
				add(i)
				if mirror && i != t.Col[q] {
					add(t.Col[q])
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return CutWork(m, p.G.Size(), parallel.RowWork*int64(m)+collect.Sum(buckets), func(w int64) int { return collect.BucketAt(buckets, m, w) }), nil
}

// CutWork is comm.Group.CutBy for cuts that the group does not keep.
func CutWork(n, ranks int, work int64, rowAt func(w int64) int) []int {
	cuts, size := make([]int, ranks+1), int64(ranks)
	for r := 1; r < ranks; r++ {
		cuts[r] = max(cuts[r-1], min(n, rowAt(work/size*int64(r)+work%size*int64(r)/size)))
	}
	cuts[ranks] = n
	return cuts
}

// exchangeBlocks sends tuples to the owners of their rows and returns the received ones, in the
// order of the file, with rows counted from the first one of the rank. Tuples travel in rounds.
func (p *Parts) exchangeBlocks(c comm.Comm, list []sparse.Block, cuts []int) ([]sparse.Block, error) {
	ctx, ranks, t := contextOf(p.O, p.G), c.Size(), p.O.E.T
	per := max(1<<10, exchangeTuples/ranks)
	left := int64(0)
	for _, b := range list {
		left += int64(len(b.Row))
	}
	all, err := spmd.AllGather(ctx, c, []int64{left})
	if err != nil {
		return nil, err
	}
	got := make([][]sparse.Block, ranks)
	for rounds := (slices.Max(all) + int64(per) - 1) / int64(per); rounds > 0; rounds-- {
		take := int(min(int64(per), left))
		left -= int64(take)
		own := sparse.Block{Row: make([]int32, 0, take), Col: make([]int32, 0, take), Val: t.Make(int64(take))}
		for len(own.Row) < take {
			b, have := list[0], len(own.Row)
			some := min(take-have, len(b.Row))
			t.Copy(t.Slice(own.Val, int64(have), int64(have+some)), t.Slice(b.Val, 0, int64(some)))
			own.Row, own.Col = append(own.Row, b.Row[:some]...), append(own.Col, b.Col[:some]...)
			if list[0] = (sparse.Block{}); some < len(b.Row) {
				list[0] = sparse.Block{Row: b.Row[some:], Col: b.Col[some:], Val: t.Slice(b.Val, int64(some), int64(len(b.Row)))}
			} else {
				list = list[1:]
			}
		}
		sorted, send := byOwner(t, own, cuts)
		var in sparse.Block
		var recv []int
		if in.Row, recv, err = spmd.AllToAllLists(ctx, c, sorted.Row, send); err != nil {
			return nil, err
		}
		if in.Col, err = spmd.AllToAll(ctx, c, sorted.Col, send, recv); err != nil {
			return nil, err
		}
		if in.Val, err = collect.ExchangeValues(ctx, c, t, sorted.Val, send, recv); err != nil {
			return nil, err
		}
		for q := range in.Row {
			in.Row[q] -= int32(cuts[c.Rank()])
		}
		at := 0
		for r, n := range recv {
			if n > 0 {
				got[r] = append(got[r], sparse.Block{Row: in.Row[at : at+n], Col: in.Col[at : at+n], Val: t.Slice(in.Val, int64(at), int64(at+n))})
			}
			at += n
		}
	}
	return slices.Concat(got...), nil
}

// byOwner orders tuples by the rank that owns their rows, and keeps their order otherwise.
func byOwner(t *sparse.Type, b sparse.Block, cuts []int) (out sparse.Block, counts []int) {
	ranks := len(cuts) - 1
	owner, counts := make([]int32, len(b.Row)), make([]int, ranks)
	for q, i := range b.Row {
		r := sort.Search(ranks-1, func(r int) bool { return cuts[r+1] > int(i) })
		owner[q] = int32(r)
		counts[r]++
	}
	next := make([]int, ranks)
	for r := 1; r < ranks; r++ {
		next[r] = next[r-1] + counts[r-1]
	}
	out = sparse.Block{Row: make([]int32, len(b.Row)), Col: make([]int32, len(b.Row)), Val: t.Make(int64(len(b.Row)))}
	to := owner // of each tuple
	for q, r := range owner {
		at := next[r]
		out.Row[at], out.Col[at] = b.Row[q], b.Col[q]
		next[r]++
		to[q] = int32(at)
	}
	t.Move(out.Val, to, b.Val, nil)
	return out, counts
}

// distinct returns the number of different indices, below n, in the lists of all ranks. Index i is
// counted by rank i·p/n. It is a collective.
func (p *Parts) distinct(n int, list func(k int) []int32) (int64, error) {
	cuts := make([]int, p.G.Size()+1)
	for r := range cuts {
		cuts[r] = int(int64(n) * int64(r) / int64(p.G.Size()))
	}
	total := int64(0)
	err := p.G.Each(func(k int, c comm.Comm) error {
		own := slices.Clone(list(k))
		slices.Sort(own)
		own = slices.Compact(own)
		send := make([]int, c.Size())
		for r := range send {
			from, _ := slices.BinarySearch(own, int32(cuts[r]))
			to := sort.Search(len(own), func(q int) bool { return int(own[q]) >= cuts[r+1] })
			send[r] = to - from
		}
		got, _, err := spmd.AllToAllLists(contextOf(p.O, p.G), c, own, send)
		if err != nil {
			return err
		}
		slices.Sort(got)
		all, err := spmd.AllGather(contextOf(p.O, p.G), c, []int64{int64(len(slices.Compact(got)))})
		if k == 0 {
			total = collect.Sum(all)
		}
		return err
	})
	return total, err
}
