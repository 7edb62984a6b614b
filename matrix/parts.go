package matrix

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"sync"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// This file reads a matrix on a group in parts: each rank parses a piece of the file, and sends
// the entries to the ranks that own their rows. No rank holds the file or the whole matrix. Where
// a rank finds a fault, every process reads the file again from its start, holds no entries, and
// so returns the error of the whole reading, with its line.

// parts is a file that the ranks of a group read in parts.
type parts struct {
	g    *comm.Group
	o    *readOptions
	file io.ReaderAt
	size int64

	mu    sync.Mutex
	bytes int64 // read by the ranks of this process
}

// States of a process in an agreement.
const (
	stateFailed = iota // the process has an error
	stateWhole         // it reads the file whole
	stateParts         // it can read any part of the file
)

// group returns the group of On, or nil.
func (o *readOptions) group() *comm.Group {
	g, _ := o.place.place.(*comm.Group)
	return g
}

// context returns the context of collectives. If all ranks are of this process, the caller looks at
// its context between them, so that its end leaves the group intact.
func (o *readOptions) context(g *comm.Group) context.Context {
	if len(g.Ranks()) == g.Size() {
		return nil
	}
	return o.ctx
}

// tell gives all ranks two numbers of each process. It is a collective.
func (o *readOptions) tell(g *comm.Group, state, size int64) (states, sizes []int64, err error) {
	if g.Size() == 0 {
		return nil, nil, &InvalidError{"matrix.On", "the group has no ranks; make one by comm.NewGroup"}
	}
	states, sizes = make([]int64, g.Size()), make([]int64, g.Size())
	err = g.Each(func(k int, c comm.Comm) error {
		all, err := gatherV(o.context(g), c, []int64{state, size}, slices.Repeat([]int{2}, c.Size()))
		for r := range states {
			if k == 0 && err == nil {
				states[r], sizes[r] = all[2*r], all[2*r+1]
			}
		}
		return err
	})
	return states, sizes, err
}

// agree returns the error of this process if all processes have one, which leaves the group intact.
// If some have one, the group ends, and the others return its *comm.RankError. It is a collective.
func (o *readOptions) agree(err error) error {
	g := o.group()
	if g == nil {
		return err
	}
	state := int64(stateWhole)
	if err != nil {
		state = stateFailed
	}
	states, _, failure := o.tell(g, state, 0)
	if failure == nil && slices.Contains(states, stateFailed) {
		failure = o.split(g, states, err)
	}
	if err != nil {
		return err
	}
	return failure
}

// split ends the group if some processes failed and others did not.
func (o *readOptions) split(g *comm.Group, states []int64, err error) error {
	if !slices.ContainsFunc(states, func(s int64) bool { return s != stateFailed }) {
		return err
	}
	if err != nil {
		g.Ranks()[0].Abort(err)
		return err
	}
	return g.Each(func(_ int, c comm.Comm) error { return c.Fence(o.context(g)) })
}

// inParts returns the file if all processes can read parts of it, and nil if each reads it whole.
// able says that the format and the options allow parts. It is a collective on a group.
func (o *readOptions) inParts(r io.Reader, able bool) (*parts, error) {
	g := o.group()
	if g == nil {
		return nil, nil
	}
	p := &parts{g: g, o: o}
	state := int64(stateWhole)
	if able && p.open(r) {
		state = stateParts
	}
	states, sizes, err := o.tell(g, state, p.size)
	switch {
	case err != nil:
		return nil, err
	case slices.Contains(states, stateFailed):
		return nil, o.split(g, states, nil)
	case slices.Contains(states, stateWhole):
		return nil, nil
	}
	for r, size := range sizes {
		if size != sizes[0] {
			return nil, o.fail(0, fmt.Sprintf("the file has %d bytes for rank 0 and %d for rank %d", sizes[0], size, r), "give all processes the same file")
		}
	}
	return p, nil
}

// open reports whether r is a plain file, at its start, that can be read from any place.
func (p *parts) open(r io.Reader) bool {
	f := p.o.random
	if f == nil {
		f, _ = r.(randomReader)
	}
	if f == nil {
		return false
	}
	if s, ok := f.(io.Seeker); ok && p.o.random == nil {
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
	p.file, p.size = f, st.Size()
	return true
}

// stream returns the file from its start.
func (p *parts) stream() io.Reader { return io.NewSectionReader(p.file, 0, p.size) }

// blame returns the error that again finds in the whole file after a rank found one in its part. It
// is a collective.
func (p *parts) blame(again func() error) error {
	err := again()
	if err == nil {
		err = p.o.fail(0, "the file changed while it was read", "read it again when it does not change")
	}
	return p.o.agree(err)
}

// threads returns the number of threads of a rank.
func (p *parts) threads() int {
	if t := p.o.threads; t > 0 {
		return max(1, t/len(p.g.Ranks()))
	}
	return p.g.Threads()
}

// report adds to the progress. Ranks of one process call it at the same time.
func (p *parts) report(bytes int64) {
	if p.o.progress == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bytes += bytes
	p.o.report(p.bytes * int64(p.g.Size()) / int64(len(p.g.Ranks())))
}

// facts gives all processes some numbers of each rank, and whether all ranks succeeded. It is a
// collective.
func (p *parts) facts(own [][]int64, errs []error) (all [][]int64, ok bool, err error) {
	width := 1
	for _, list := range own {
		width = 1 + len(list)
	}
	var flat []int64
	err = p.g.Each(func(k int, c comm.Comm) error {
		mine := []int64{0}
		if errs[k] != nil {
			mine[0] = 1
		}
		list, err := gatherV(p.o.context(p.g), c, append(mine, own[k]...), slices.Repeat([]int{width}, c.Size()))
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

// placed returns the matrix that a reader has read, at the place of On: those of a group agree
// about errors before they move it.
func placed[T comparable](o *readOptions, a *Matrix[T], labels sides, err error) (*Matrix[T], sides, error) {
	switch {
	case o.place.place == nil:
		return a, labels, err
	case err == nil && a.Place() == o.place.place: // read in parts
		return a, labels, nil
	}
	if err = o.agree(err); err == nil {
		err = a.moveAs(o.place)
	}
	if err != nil {
		return nil, sides{}, err
	}
	return a, labels, nil
}

// readPlaced reads a matrix whole, and returns it at the place of On.
func readPlaced[T comparable](r io.Reader, o *readOptions, read func(io.Reader, *readOptions) (*Matrix[T], sides, error)) (*Matrix[T], sides, error) {
	a, labels, err := read(r, o)
	return placed(o, a, labels, err)
}

// placedVector is placed for vectors.
func placedVector[T comparable](o *readOptions, v *Vector[T], err error) (*Vector[T], error) {
	if o.place.place == nil {
		return v, err
	}
	if err = o.agree(err); err == nil {
		err = v.moveAs(o.place)
	}
	if err != nil {
		return nil, err
	}
	return v, nil
}

// exchangeTuples bounds the tuples that the ranks exchange at a time.
const exchangeTuples = 1 << 20

// buildParts makes the m×n matrix of the tuples that the ranks of this process have read, list[k]
// those of the k-th, in the order of the file. A repeated position without dup is a
// *DuplicateError. With mirror the result is the union with the transpose. It empties list. It is
// a collective.
func buildParts[T comparable](p *parts, m, n int, list [][]sparse.Tuples[T], dup Combiner[T], mirror bool) (*Matrix[T], error) {
	f, err := combining(dup)
	if err != nil {
		return nil, err
	}
	cuts, err := tupleCuts(p, m, list, mirror)
	if err != nil {
		return nil, err
	}
	s := &spread{g: p.g, kind: sparse.TypeOf[T](), rows: m, cols: n, cuts: cuts, loose: true, part: make([]*core, len(list))}
	twice := make([][]int64, len(list)) // the first repeated position of each rank
	err = p.g.Each(func(k int, c comm.Comm) error {
		lo, hi := s.block(c)
		blocks, err := exchangeBlocks(p, c, list[k], cuts)
		list[k] = nil
		if err != nil {
			return err
		}
		var sorted func(done, total int64)
		if k == 0 && p.o.stages != nil {
			sorted = func(done, total int64) { p.o.stages("sort", done, total) }
		}
		st, err := sparse.Built(hi-lo, n, blocks, f, p.threads(), sorted)
		twice[k] = []int64{-1, -1}
		var d *sparse.DuplicateError
		if errors.As(err, &d) {
			twice[k] = []int64{int64(lo + d.Row), int64(d.Col)}
			st = sparse.EmptyOf[T](hi-lo, n)
		} else if err != nil {
			return err
		}
		s.part[k] = newCore(sparse.Untyped(st))
		return nil
	})
	if err != nil {
		return nil, err
	}
	all, _, err := p.facts(twice, make([]error, len(list)))
	if err != nil {
		return nil, err
	}
	for _, at := range all {
		if at[0] >= 0 {
			return nil, &DuplicateError{int(at[0]), int(at[1])}
		}
	}
	return finishParts[T](p, s, nil, mirror)
}

// tupleCuts cuts m rows by the number of tuples of ranges of rows. The cuts are near those of the
// matrix, so that no rank receives much more than its block.
func tupleCuts[T any](p *parts, m int, list [][]sparse.Tuples[T], mirror bool) ([]int, error) {
	buckets, err := countBuckets(p.o.context(p.g), p.g, m, func(k int, add func(i int32)) {
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
	return cutWork(m, p.g.Size(), parallel.RowWork*int64(m)+sumInts(buckets), func(w int64) int { return bucketAt(buckets, m, w) }), nil
}

// cutWork is comm.Group.CutBy for cuts that the group does not keep.
func cutWork(n, ranks int, work int64, rowAt func(w int64) int) []int {
	cuts, size := make([]int, ranks+1), int64(ranks)
	for r := 1; r < ranks; r++ {
		cuts[r] = max(cuts[r-1], min(n, rowAt(work/size*int64(r)+work%size*int64(r)/size)))
	}
	cuts[ranks] = n
	return cuts
}

// exchangeBlocks sends tuples to the owners of their rows and returns those received, in the order
// of the file, with rows counted from the first one of the rank. Tuples travel in rounds.
func exchangeBlocks[T any](p *parts, c comm.Comm, list []sparse.Tuples[T], cuts []int) ([]sparse.Tuples[T], error) {
	ctx, ranks := p.o.context(p.g), c.Size()
	per := max(1<<10, exchangeTuples/ranks)
	left := int64(0)
	for _, t := range list {
		left += int64(len(t.Row))
	}
	all, err := gatherOnes(ctx, c, left)
	if err != nil {
		return nil, err
	}
	ones := slices.Repeat([]int{1}, ranks)
	got := make([][]sparse.Tuples[T], ranks)
	for rounds := (slices.Max(all) + int64(per) - 1) / int64(per); rounds > 0; rounds-- {
		take := int(min(int64(per), left))
		left -= int64(take)
		own := sparse.Tuples[T]{Row: make([]int32, 0, take), Col: make([]int32, 0, take), Val: make([]T, 0, take)}
		for len(own.Row) < take {
			t, some := list[0], min(take-len(own.Row), len(list[0].Row))
			own.Row, own.Col, own.Val = append(own.Row, t.Row[:some]...), append(own.Col, t.Col[:some]...), append(own.Val, t.Val[:some]...)
			if list[0] = (sparse.Tuples[T]{}); some < len(t.Row) {
				list[0] = sparse.Tuples[T]{Row: t.Row[some:], Col: t.Col[some:], Val: t.Val[some:]}
			} else {
				list = list[1:]
			}
		}
		sorted, send := byOwner(own, cuts)
		counts := make([]int64, ranks)
		for r, n := range send {
			counts[r] = int64(n)
		}
		came, err := exchangeV(ctx, c, counts, ones, ones)
		if err != nil {
			return nil, err
		}
		recv := toInts(came)
		var in sparse.Tuples[T]
		if in.Row, err = exchangeV(ctx, c, sorted.Row, send, recv); err != nil {
			return nil, err
		}
		if in.Col, err = exchangeV(ctx, c, sorted.Col, send, recv); err != nil {
			return nil, err
		}
		if in.Val, err = exchangeV(ctx, c, sorted.Val, send, recv); err != nil {
			return nil, err
		}
		for q := range in.Row {
			in.Row[q] -= int32(cuts[c.Rank()])
		}
		at := 0
		for r, n := range recv {
			if n > 0 {
				got[r] = append(got[r], sparse.Tuples[T]{Row: in.Row[at : at+n], Col: in.Col[at : at+n], Val: in.Val[at : at+n]})
			}
			at += n
		}
	}
	return slices.Concat(got...), nil
}

// byOwner orders tuples by the rank that owns their rows, and keeps their order otherwise.
func byOwner[T any](t sparse.Tuples[T], cuts []int) (out sparse.Tuples[T], counts []int) {
	ranks := len(cuts) - 1
	owner, counts := make([]int32, len(t.Row)), make([]int, ranks)
	for q, i := range t.Row {
		r := sort.Search(ranks-1, func(r int) bool { return cuts[r+1] > int(i) })
		owner[q] = int32(r)
		counts[r]++
	}
	next := make([]int, ranks)
	for r := 1; r < ranks; r++ {
		next[r] = next[r-1] + counts[r-1]
	}
	out = sparse.Tuples[T]{Row: make([]int32, len(t.Row)), Col: make([]int32, len(t.Row)), Val: make([]T, len(t.Row))}
	for q, r := range owner {
		at := next[r]
		out.Row[at], out.Col[at], out.Val[at] = t.Row[q], t.Col[q], t.Val[q]
		next[r]++
	}
	return out, counts
}

// finishParts makes a matrix on the group of blocks that are still on the host: with mirror it
// forms the union with the transpose, which combine combines as symmetrise does; then it cuts the
// rows by work, exactly as a matrix that is moved to the group. It is a collective.
func finishParts[T comparable](p *parts, s *spread, combine Combiner[T], mirror bool) (*Matrix[T], error) {
	ctx := p.o.context(p.g)
	if mirror {
		e, _ := elementOf[T]()
		t, err := s.transposedBy(ctx, s.cuts)
		if err != nil {
			return nil, err
		}
		u := &spread{g: s.g, kind: s.kind, rows: s.rows, cols: s.cols, cuts: s.cuts, loose: true, part: make([]*core, len(s.part))}
		err = s.g.Each(func(k int, c comm.Comm) error {
			lo, _ := s.block(c)
			x, y := sparse.As[T](s.part[k].Rows()), sparse.As[T](t.part[k].Rows())
			u.part[k] = newCore(sparse.Untyped(unionOf(x, y, lo, e, combine, p.threads())))
			s.part[k], t.part[k] = nil, nil
			return nil
		})
		if err != nil {
			return nil, err
		}
		s = u
	}
	cuts, err := s.workCuts(ctx)
	if err != nil {
		return nil, err
	}
	if s, err = s.recut(ctx, cuts); err != nil {
		return nil, err
	}
	for k, m := range s.part { // lists, as parts of the list that a whole reading makes
		s.part[k] = newCore(m.Stored().ToSparse().Settle())
	}
	return matrixOfParts[T](p, s)
}

// matrixOfParts places the blocks of a spread that was read, and returns its matrix. It is a
// collective.
func matrixOfParts[T comparable](p *parts, s *spread) (*Matrix[T], error) {
	err := s.g.Each(func(k int, _ comm.Comm) error {
		if at := s.g.PlaceOf(k); at != nil {
			return moveTo(s.part[k], at, false, Blocks)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.loose = false
	if _, err := s.counted(p.o.context(p.g)); err != nil {
		return nil, err
	}
	c := new(core)
	c.t.Store(sparse.TypeOf[T]())
	c.place, c.blocks, c.blocksAt = p.g, s, p.g
	c.deviceOnly.Store(true)
	return ofCore[T](c), nil
}

// workCuts cuts the rows of a listed matrix by its entries and rows, as cutsOf does for one on the
// host. It is a collective.
func (s *spread) workCuts(ctx context.Context) ([]int, error) {
	counts, err := s.counted(ctx)
	if err != nil {
		return nil, err
	}
	total := sumInts(counts)
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

// countBuckets counts rows of a dimension of n in columnBuckets ranges, over all ranks. each adds
// the rows of the k-th rank of this process. It is a collective.
func countBuckets(ctx context.Context, g *comm.Group, n int, each func(k int, add func(i int32))) ([]int64, error) {
	width := bucketWidth(n)
	buckets := make([]int64, (n+width-1)/width)
	err := g.Each(func(k int, c comm.Comm) error {
		own := make([]int64, len(buckets))
		each(k, func(i int32) { own[int(i)/width]++ })
		if len(own) == 0 {
			return nil
		}
		if err := c.Reduce(ctx, comm.Host(own), comm.Host(own), comm.Sum, false); err != nil {
			return err
		}
		if k == 0 {
			copy(buckets, own)
		}
		return nil
	})
	return buckets, err
}

func bucketWidth(n int) int { return max(1, (n+columnBuckets-1)/columnBuckets) }

// bucketAt returns the row of a dimension of n before which about w of the work lies: entries by
// buckets, and rows.
func bucketAt(buckets []int64, n int, w int64) int {
	width := bucketWidth(n)
	for b, k := range buckets {
		step := k + parallel.RowWork*int64(min(width, n-b*width))
		if w < step || step == 0 {
			return min(n, b*width+int(w*int64(width)/max(step, 1)))
		}
		w -= step
	}
	return n
}

// distinct returns the number of different indices, below n, in the lists of all ranks. Index i is
// counted by rank i·p/n. It is a collective.
func (p *parts) distinct(n int, list func(k int) []int32) (int64, error) {
	cuts := make([]int, p.g.Size()+1)
	for r := range cuts {
		cuts[r] = int(int64(n) * int64(r) / int64(p.g.Size()))
	}
	total := int64(0)
	err := p.g.Each(func(k int, c comm.Comm) error {
		own := slices.Clone(list(k))
		slices.Sort(own)
		own = slices.Compact(own)
		send, counts := make([]int, c.Size()), make([]int64, c.Size())
		for r := range send {
			from, _ := slices.BinarySearch(own, int32(cuts[r]))
			to := sort.Search(len(own), func(q int) bool { return int(own[q]) >= cuts[r+1] })
			send[r], counts[r] = to-from, int64(to-from)
		}
		ones := slices.Repeat([]int{1}, c.Size())
		came, err := exchangeV(p.o.context(p.g), c, counts, ones, ones)
		if err != nil {
			return err
		}
		got, err := exchangeV(p.o.context(p.g), c, own, send, toInts(came))
		if err != nil {
			return err
		}
		slices.Sort(got)
		all, err := gatherOnes(p.o.context(p.g), c, int64(len(slices.Compact(got))))
		if k == 0 {
			total = sumInts(all)
		}
		return err
	})
	return total, err
}
