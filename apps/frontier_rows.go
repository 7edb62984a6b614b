package apps

import (
	_ "embed"
	"runtime"
	"slices"
	"unsafe"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// Searches of a graph on a group by rows. A rank has the distances of its own vertices and the edges
// to them. A step gathers the frontier, and each rank relaxes the edges from it. The frontier is
// gathered as records of vertex and distance, or, if it is large and all its distances are equal, as
// a bitmap, from which the unreached vertices pull. Vertices with a distance above the bound wait in
// a pile, and the bound rises when no rank has a frontier (near and far, see kernels/sssp.cu).

//go:embed kernels/rows.cu
var rowsText string

// Constants of kernels/rows.cu.
const (
	rowsChunk = 64   // entries of an item of the queue
	rowsFew   = 4    // in-neighbours that one lane tests
	rowsGroup = 8    // lanes that test the others of a vertex
	rowsLong  = 1024 // in-neighbours above which many groups do
	rowsAside = 1024 // vertices of each kind that a block collects
)

// rowsBits is the part of the vertices above which a frontier of levels is gathered as a bitmap: a
// record has 8 bytes, 64 times as much as a bit.
const rowsBits = 64

// rowsPull is the part of the edges to own vertices from which on a device pulls. A pull reads a few
// in-neighbours of each unreached vertex; a push reads all edges of the frontier.
const rowsPull = 32

func rowsProgram(t device.Type) device.Program {
	_, most := t.Limits()
	p := graphProgram("rows", "searches by rows over "+t.Go, lowerText+rowsText,
		map[string]any{"HB_MAX": most, "HB_ROWS_CHUNK": rowsChunk, "HB_ROWS_FEW": rowsFew, "HB_ROWS_GROUP": rowsGroup,
			"HB_ROWS_LONG": rowsLong, "HB_ROWS_ASIDE": rowsAside})
	p.Types = []device.Typedef{{Name: "HB_T", Type: t}}
	return p
}

// A frontierRecord is a vertex of the frontier with its distance, hb_record in kernels/rows.cu.
type frontierRecord[T semiring.Number] struct {
	d T
	v uint32
}

// rankNumbers are what a rank tells the others after a step.
type rankNumbers[T semiring.Number] struct {
	listed int64 // vertices of its frontier
	least  T     // the least distance above the bound in its pile, if the frontier is empty
	ended  bool  // its context has ended
}

// rankSearch is the search of one rank.
type rankSearch[T semiring.Number] interface {
	// start makes the own ones of the sources, which differ, the frontier. It and the steps return
	// the numbers of the next frontier.
	start(sources []int32) (rankNumbers[T], error)
	// records returns memory for the records of all ranks and those of the own frontier. bitmap
	// returns that for bits, those of each rank in words of their own.
	records(all, own int64) (whole, mine comm.Buffer)
	bitmap() (whole, mine comm.Buffer)
	// push relaxes the edges of so many records, and lists vertices up to bound. pull gives level
	// depth to the unreached neighbours of the vertices in the bitmap.
	push(records int64, bound, depth T) (rankNumbers[T], error)
	pull(depth T) (rankNumbers[T], error)
	// split makes the vertices of the pile with a distance in (settled, bound] the frontier.
	split(settled, bound T) (rankNumbers[T], error)
	// finish makes the results of the own vertices, and returns how many are reached. Parents need
	// the levels of all.
	finish(c comm.Comm, parents bool) (reached int64, err error)
}

// searchRun is a search on a group: for distances in buckets of width delta, or for levels.
type searchRun[T semiring.Number] struct {
	w       *rowGroup
	n       int
	sources []int32 // ascending, without repeats
	levels  bool
	delta   T
	parents bool        // with levels
	report  func(int64) // called with the size of each frontier

	reached int64
	deepest T // the largest level
}

// rank searches on one rank. The first rank of the process writes the results of the run.
func (q *searchRun[T]) rank(k int, c comm.Comm, r rankSearch[T]) error {
	most := semiring.MaxValue[T]()
	bound, depth := q.delta, T(0)
	if q.levels {
		bound = most
	}
	now, err := r.start(q.sources)
	if err != nil {
		return err
	}
	for {
		now.ended = q.w.ended() != nil
		all, err := tell(q.w, c, now)
		if err != nil {
			return err
		}
		sum, counts := rankNumbers[T]{least: most}, make([]int, len(all))
		for p, x := range all {
			sum.listed, sum.least = sum.listed+x.listed, min(sum.least, x.least)
			sum.ended = sum.ended || x.ended
			counts[p] = int(x.listed) * int(unsafe.Sizeof(frontierRecord[T]{}))
		}
		if sum.ended {
			if k == 0 {
				q.w.stopped = true
			}
			return nil
		}
		if sum.listed == 0 && sum.least == most {
			break
		}
		if sum.listed == 0 {
			settled := bound
			if bound = most; sum.least <= most-q.delta {
				bound = sum.least + q.delta
			}
			if now, err = r.split(settled, bound); err != nil {
				return err
			}
			continue
		}
		if k == 0 {
			q.deepest = depth
			if q.report != nil {
				q.report(sum.listed)
			}
		}
		depth++
		if q.levels && sum.listed > int64(q.n/rowsBits) {
			whole, mine := r.bitmap()
			if err := c.AllGatherV(q.w.wait, whole, bitmapBytes(q.w), mine); err != nil {
				return err
			}
			now, err = r.pull(depth)
		} else {
			whole, mine := r.records(sum.listed, now.listed)
			if err := c.AllGatherV(q.w.wait, whole, counts, mine); err != nil {
				return err
			}
			now, err = r.push(sum.listed, bound, depth)
		}
		if err != nil {
			return err
		}
	}
	own, err := r.finish(c, q.parents)
	if err != nil {
		return err
	}
	all, err := tell(q.w, c, own)
	for _, x := range all {
		if k == 0 {
			q.reached += x
		}
	}
	return err
}

// bitmapBytes returns the bytes of the bitmap of each rank's vertices, in words of 32 bits.
func bitmapBytes(w *rowGroup) []int {
	list := make([]int, w.g.Size())
	for r := range list {
		list[r] = 4 * ((w.cuts[r+1] - w.cuts[r] + 31) / 32)
	}
	return list
}

// searchByRows runs a search over the edges of a, and returns the distances of the vertices reached,
// and with parents the vertex before each.
func searchByRows[T semiring.Number, A comparable](
	q *searchRun[T], a matrix.View[A],
) (dist *matrix.Vector[T], parent *matrix.Vector[int32], err error) {
	w := q.w
	if err := cutByRows(w, a.T()); err != nil {
		return nil, nil, err
	}
	in, err := blocksByRows(w, a.T())
	if err != nil {
		return nil, nil, err
	}
	typ, err := device.TypeOf[T]()
	if err != nil {
		return nil, nil, err
	}
	slices.Sort(q.sources)
	q.sources = slices.Compact(q.sources)
	homes, before := make([]device.Store, len(in)), make([]device.Store, len(in))
	values, parents := make([]*sparse.Store[T], len(in)), make([]*sparse.Store[int32], len(in))
	err = w.g.Each(func(k int, c comm.Comm) error {
		lo, hi := w.own(c)
		if !w.devices {
			r := &hostSearch[T, A]{q: q, in: in[k], lo: lo, own: hi - lo}
			err := q.rank(k, c, r)
			values[k], parents[k] = r.values, r.parents
			return err
		}
		at := w.g.PlaceOf(k).(device.Runner)
		operand, err := access.Operand(in[k], at)
		if err != nil {
			return err
		}
		return w.on(k, func(s *device.Session) error {
			r := &deviceSearch[T]{q: q, s: s, typ: typ, operand: operand, lo: lo, own: hi - lo}
			err := q.rank(k, c, r)
			homes[k], before[k] = r.home, r.before
			return err
		})
	})
	if err = w.failed(err); err != nil {
		return nil, nil, err
	}
	if w.devices {
		dist = matrix.NewVector[T](q.n, matrix.On(w.g))
		access.SetVectorBlocks(dist, w.g, w.cuts, homes)
		if q.parents {
			parent = matrix.NewVector[int32](q.n, matrix.On(w.g))
			access.SetVectorBlocks(parent, w.g, w.cuts, before)
		}
	} else {
		d := &division{g: w.g, wait: w.wait}
		if dist, err = storesOn(d, q.n, w.cuts, values); err == nil && q.parents {
			parent, err = storesOn(d, q.n, w.cuts, parents)
		}
	}
	w.traced(a.NVals(), q.reached)
	return dist, parent, err
}

// rowsBFS is BFS on a group by rows. A step gathers 8 bytes of each vertex of the frontier, or one bit
// of each vertex; parents take 4 bytes of each vertex once more.
func rowsBFS(w *rowGroup, a matrix.View[bool], n, source int, o BFSOptions) (*BFSResult, error) {
	reached := int64(0)
	q := &searchRun[int32]{w: w, n: n, sources: []int32{int32(source)}, levels: true, parents: o.Parents,
		report: func(found int64) {
			o.report("breadth-first search", reached, int64(n))
			reached += found
		}}
	level, parent, err := searchByRows(q, a)
	if err != nil {
		return nil, err
	}
	return &BFSResult{Level: level, Parent: parent, Reached: q.reached, MaxLevel: q.deepest}, nil
}

// rowsHops counts edges from the nearest of the seeds on a group by rows.
func rowsHops[T semiring.Number](w *rowGroup, a matrix.View[bool], n int, seeds []int, run Run) (*matrix.Vector[T], error) {
	run.report("vertex nomination", 0, int64(n))
	q := &searchRun[int32]{w: w, n: n, sources: numbers(seeds), levels: true}
	level, _, err := searchByRows(q, a)
	if err != nil {
		return nil, err
	}
	if most := largestCount[T](); int64(q.deepest) > most {
		return nil, tooManyHops(most)
	}
	dist := matrix.NewVector[T](n, matrix.On(w.g))
	return dist, ops.Apply(dist, semiring.Convert[int32, T](), level, run.with())
}

// rowsSSSP is SSSP on a group by rows. A step gathers the distance and the number of each vertex of
// the frontier.
func rowsSSSP[T semiring.Number](
	w *rowGroup, a matrix.View[T], n int, sources []int, delta T, run Run,
) (*matrix.Vector[T], error) {
	run.report("shortest paths", 0, int64(n))
	dist, _, err := searchByRows(&searchRun[T]{w: w, n: n, sources: numbers(sources), delta: delta}, a)
	return dist, err
}

// deviceSearch searches on a device.
type deviceSearch[T semiring.Number] struct {
	q       *searchRun[T]
	s       *device.Session
	typ     device.Type
	operand device.Operand // edges by their targets, the own vertices
	lo, own int

	in, out                                 device.View // edges by targets and by sources
	code                                    device.Code
	relax                                   device.Kernel
	grid, block                             [3]uint32
	dist                                    device.View
	count, flags, next, pile, kept, present device.Buffer
	least, mine, all, queue                 device.Buffer
	bits, words, cuts, places, left         device.Buffer
	room, mineRoom, allRoom                 int64 // of queue, mine and all, in items
	wordCount, leftRoom                     int64
	result                                  []int64
	resultAt                                device.Buffer

	home, before device.Store // the results
}

func (r *deviceSearch[T]) start(sources []int32) (rankNumbers[T], error) {
	s, own := r.s, int64(r.own)
	r.operand.Pattern = r.q.levels
	r.in, r.out = s.Rows(r.operand), s.Cols(r.operand)
	r.code = s.Program("apps: searches by rows, "+r.typ.Name, func() device.Program { return rowsProgram(r.typ) })
	r.relax = s.Kernel(r.code, "hb_rows_relax")
	r.grid, r.block = residentGrid(s, r.relax)
	r.present = s.Alloc(max(own, 1))
	r.dist = s.NewBitmap(r.own, r.typ, r.present)
	r.count, r.flags, r.least = s.Zeros(64), s.Alloc(max(12*r.ownWords(), 4)), s.Alloc(8)
	r.next, r.pile, r.kept = s.Alloc(4*max(own, 1)), s.Alloc(4*max(own, 1)), s.Alloc(4*max(own, 1))
	r.mineRoom = own
	if r.q.levels {
		r.mineRoom = min(own, int64(r.q.n/rowsBits))
		r.bits = s.Alloc(4 * ((int64(r.q.n) + 31) / 32))
		r.leftRoom = r.in.Entries/rowsChunk + r.in.Entries/rowsLong + 1
		r.left = s.Alloc(8 * r.leftRoom)
		places := []int64{0}
		for _, b := range bitmapBytes(r.q.w) {
			places = append(places, places[len(places)-1]+int64(b/4))
		}
		r.wordCount = places[len(places)-1]
		r.words = s.Alloc(4 * max(r.wordCount, 1))
		cuts := asInt64s(r.q.w.cuts)
		r.cuts = s.Upload(unsafe.Pointer(unsafe.SliceData(cuts)), 8*int64(len(cuts)))
		r.places = s.Upload(unsafe.Pointer(unsafe.SliceData(places)), 8*int64(len(places)))
		s.Sync()
		runtime.KeepAlive(cuts)
		runtime.KeepAlive(places)
	}
	r.mine = s.Alloc(r.recordBytes(max(r.mineRoom, 1)))
	r.result, r.resultAt = s.Results()
	r.each("hb_rows_start", own, int32(r.own), r.dist.Val, r.flags)
	s.Blocks(s.Kernel(r.code, "hb_rows_sources"), 1, graphBlock, int32(len(sources)), s.Ints(sources), int32(r.lo), int32(r.own),
		r.dist.Val, r.flags, r.least, r.next, r.count)
	now, err := r.told(false)
	runtime.KeepAlive(sources)
	return now, err
}

// each launches a kernel over n items.
func (r *deviceSearch[T]) each(kernel string, n int64, args ...any) {
	r.s.Each(r.s.Kernel(r.code, kernel), max(n, 1), args...)
}

func (r *deviceSearch[T]) recordBytes(n int64) int64 {
	return n * int64(unsafe.Sizeof(frontierRecord[T]{}))
}

// ownWords returns the words of a bitmap of the own vertices.
func (r *deviceSearch[T]) ownWords() int64 { return (int64(r.own) + 31) / 32 }

func (r *deviceSearch[T]) scalar(x *T) device.Scalar {
	return device.Scalar{Type: r.typ, P: unsafe.Pointer(x)}
}

// told writes the records of the next frontier, and waits for its numbers.
func (r *deviceSearch[T]) told(split bool) (rankNumbers[T], error) {
	r.each("hb_rows_records", r.mineRoom, r.mineRoom, r.next, int32(r.lo), r.dist.Val, r.mine, r.count)
	r.s.Blocks(r.s.Kernel(r.code, "hb_rows_report"), 1, 32, split, r.least, r.count, r.resultAt)
	r.s.Sync()
	return rankNumbers[T]{listed: r.result[0], least: *(*T)(unsafe.Pointer(&r.result[1]))}, r.s.Err()
}

func (r *deviceSearch[T]) records(all, own int64) (whole, mine comm.Buffer) {
	if all > r.allRoom {
		r.s.Free(r.all)
		r.allRoom = min(2*all, int64(r.q.n))
		r.all = r.s.Alloc(r.recordBytes(r.allRoom))
	}
	if room := all + r.out.Entries/rowsChunk + 1; room > r.room {
		r.s.Free(r.queue)
		r.room = r.allRoom + r.out.Entries/rowsChunk + 1
		r.queue = r.s.Alloc(8 * r.room)
	}
	return deviceBytes(r.all, int(r.recordBytes(all))), deviceBytes(r.mine, int(r.recordBytes(own)))
}

func (r *deviceSearch[T]) bitmap() (whole, mine comm.Buffer) {
	return deviceBytes(r.words, int(4*r.wordCount)), deviceBytes(r.flags, int(4*r.ownWords()))
}

func (r *deviceSearch[T]) push(records int64, bound, depth T) (rankNumbers[T], error) {
	s := r.s
	s.Fill(r.flags, 0, 4*r.ownWords())
	r.each("hb_rows_items", records, records, r.all, r.out.Ptr, r.queue, r.count)
	most := int64(1) << 62
	if r.q.levels {
		most = max(r.out.Entries/rowsPull, 1<<12)
		r.each("hb_rows_clear", int64(r.q.n)/32+1, int32(r.q.n), most, r.bits, r.count)
		r.each("hb_rows_mark", records, records, most, r.all, r.bits, r.count)
		r.pulled(most, depth)
	}
	s.Launch(r.relax, r.grid, r.block, 0, most, r.all, r.out.Ptr, r.out.Idx, r.out.Val, r.scalar(&bound), r.ownWords(),
		r.dist.Val, r.flags, r.queue, r.next, r.pile, r.count)
	if !r.q.levels {
		r.each("hb_rows_least", int64(r.own), r.pile, r.count, r.dist.Val, r.scalar(&bound), r.least)
	}
	return r.told(false)
}

// pulled launches a pull.
func (r *deviceSearch[T]) pulled(most int64, depth T) {
	r.each("hb_rows_pull", int64(r.own), int32(r.own), most, r.in.Ptr, r.in.Idx, r.bits, r.scalar(&depth), r.dist.Val, r.flags,
		r.left, r.count)
	r.each("hb_rows_pull_left", rowsGroup*r.leftRoom, r.in.Ptr, r.in.Idx, r.bits, r.scalar(&depth), r.dist.Val, r.flags, r.left,
		r.count)
	r.each("hb_rows_list", r.ownWords(), int32(r.own), most, r.mineRoom, r.flags, r.next, r.count)
}

func (r *deviceSearch[T]) pull(depth T) (rankNumbers[T], error) {
	r.s.Fill(r.flags, 0, 4*r.ownWords())
	r.each("hb_rows_join", int64(r.q.n)/32+1, int32(r.q.n), int32(r.q.w.g.Size()), r.cuts, r.places, r.words, r.bits)
	r.pulled(-1, depth)
	return r.told(false)
}

func (r *deviceSearch[T]) split(settled, bound T) (rankNumbers[T], error) {
	r.s.Fill(r.flags, 0, 4*r.ownWords())
	r.each("hb_rows_split", int64(r.own), r.pile, r.scalar(&settled), r.scalar(&bound), r.ownWords(), r.dist.Val, r.flags, r.next,
		r.kept, r.count)
	r.pile, r.kept = r.kept, r.pile
	return r.told(true)
}

func (r *deviceSearch[T]) finish(c comm.Comm, parents bool) (int64, error) {
	s := r.s
	r.each("hb_rows_finish", int64(r.own), int32(r.own), r.dist.Val, r.present, r.count)
	s.Blocks(s.Kernel(r.code, "hb_rows_report"), 1, 32, false, r.least, r.count, r.resultAt)
	s.Sync()
	reached := r.result[2]
	if err := s.Err(); err != nil {
		return 0, err
	}
	if parents {
		size := int(r.typ.Size)
		levels := s.Alloc(int64(size) * int64(r.q.n))
		if err := c.AllGatherV(r.q.w.wait, deviceBytes(levels, size*r.q.n), r.q.w.bytes(size), deviceBytes(r.dist.Val, size*r.own)); err != nil {
			return 0, err
		}
		parent := s.NewBitmap(r.own, int32Type, r.present)
		r.each("hb_rows_parents", int64(r.own), int32(r.own), int32(r.lo), r.in.Ptr, r.in.Idx, r.dist.Val, levels, parent.Val)
		r.before = s.Result(parent, reached)
	}
	r.home = s.Result(r.dist, reached)
	return reached, s.Err()
}

// hostSearch searches on the host, one rank's part.
type hostSearch[T semiring.Number, A comparable] struct {
	q       *searchRun[T]
	in      matrix.View[A] // edges by their targets, the own vertices
	lo, own int

	out             *sparse.Store[A] // edges by their sources
	dist            []T
	next, pile      []int32 // own vertices, each at most once
	listed, piled   []bool
	all, mine       []frontierRecord[T]
	words, ownWords []uint32

	values  *sparse.Store[T] // the results
	parents *sparse.Store[int32]
}

func (r *hostSearch[T, A]) start(sources []int32) (rankNumbers[T], error) {
	r.out = access.Cols(r.in)
	r.dist = slices.Repeat([]T{semiring.MaxValue[T]()}, r.own)
	r.listed, r.piled = make([]bool, r.own), make([]bool, r.own)
	for _, v := range sources {
		if v := int(v) - r.lo; v >= 0 && v < r.own {
			r.dist[v], r.listed[v] = 0, true
			r.next = append(r.next, int32(v))
		}
	}
	return r.told(0), nil
}

// told returns the numbers of the next frontier, after steps up to bound.
func (r *hostSearch[T, A]) told(bound T) rankNumbers[T] {
	now := rankNumbers[T]{listed: int64(len(r.next)), least: semiring.MaxValue[T]()}
	for _, v := range r.pile {
		if d := r.dist[v]; now.listed == 0 && d > bound {
			now.least = min(now.least, d)
		}
	}
	return now
}

func (r *hostSearch[T, A]) records(all, own int64) (whole, mine comm.Buffer) {
	r.all, r.mine = make([]frontierRecord[T], all), make([]frontierRecord[T], 0, own)
	for _, v := range r.next {
		r.mine = append(r.mine, frontierRecord[T]{r.dist[v], uint32(r.lo + int(v))})
	}
	return memoryOf(r.all), memoryOf(r.mine)
}

func (r *hostSearch[T, A]) bitmap() (whole, mine comm.Buffer) {
	total := 0
	for _, b := range bitmapBytes(r.q.w) {
		total += b / 4
	}
	r.words, r.ownWords = make([]uint32, total), make([]uint32, (r.own+31)/32)
	for _, v := range r.next {
		r.ownWords[v/32] |= 1 << (v % 32)
	}
	return memoryOf(r.words), memoryOf(r.ownWords)
}

func (r *hostSearch[T, A]) push(_ int64, bound, _ T) (rankNumbers[T], error) {
	r.next = r.next[:0]
	clear(r.listed)
	for _, x := range r.all {
		from, to := r.out.Span(int(x.v))
		for p := from; p < to; p++ {
			u, d := r.out.Idx[p], x.d
			if r.q.levels {
				d++
			} else {
				d += any(r.out.Val[p]).(T)
			}
			if !(d < r.dist[u]) {
				continue
			}
			r.dist[u] = d
			if list, is := &r.next, r.listed; d <= bound {
				r.list(list, is, u)
			} else {
				r.list(&r.pile, r.piled, u)
			}
		}
	}
	return r.told(bound), nil
}

// list adds an own vertex to a list once.
func (r *hostSearch[T, A]) list(list *[]int32, is []bool, v int32) {
	if !is[v] {
		is[v] = true
		*list = append(*list, v)
	}
}

func (r *hostSearch[T, A]) pull(depth T) (rankNumbers[T], error) {
	r.all = r.all[:0]
	word := 0
	for p := range r.q.w.g.Size() {
		lo, hi := r.q.w.cuts[p], r.q.w.cuts[p+1]
		for v := lo; v < hi; v++ {
			if r.words[word+(v-lo)/32]>>((v-lo)%32)&1 != 0 {
				r.all = append(r.all, frontierRecord[T]{depth - 1, uint32(v)})
			}
		}
		word += (hi - lo + 31) / 32
	}
	return r.push(0, semiring.MaxValue[T](), depth)
}

func (r *hostSearch[T, A]) split(settled, bound T) (rankNumbers[T], error) {
	r.next = r.next[:0]
	clear(r.listed)
	kept := r.pile[:0]
	for _, v := range r.pile {
		if r.dist[v] > bound {
			kept = append(kept, v)
			continue
		}
		if r.piled[v] = false; r.dist[v] > settled {
			r.list(&r.next, r.listed, v)
		}
	}
	r.pile = kept
	return r.told(bound), nil
}

func (r *hostSearch[T, A]) finish(c comm.Comm, parents bool) (int64, error) {
	shape := sparse.Structure{Format: sparse.Bitmap, NRows: 1, NCols: r.own, Present: make([]uint8, r.own)}
	for v, d := range r.dist {
		if d < semiring.MaxValue[T]() {
			shape.Present[v] = 1
			shape.NVals++
		}
	}
	if parents {
		levels := make([]T, r.q.n)
		if err := c.AllGatherV(r.q.w.wait, memoryOf(levels), r.q.w.bytes(int(unsafe.Sizeof(T(0)))), memoryOf(r.dist)); err != nil {
			return 0, err
		}
		r.parents = &sparse.Store[int32]{Structure: shape, Val: make([]int32, r.own)}
		r.parents.Present = slices.Clone(shape.Present)
		in := access.Rows(r.in)
		for v, d := range r.dist {
			if shape.Present[v] == 0 {
				continue
			}
			r.parents.Val[v] = int32(r.lo + v)
			from, to := in.Span(v)
			for p := from; p < to && d > 0; p++ {
				if u := in.Idx[p]; levels[u] == d-1 {
					r.parents.Val[v] = u
					break
				}
			}
		}
	}
	for v := range r.dist { // the value of a position without an entry is 0
		if shape.Present[v] == 0 {
			r.dist[v] = 0
		}
	}
	r.values = &sparse.Store[T]{Structure: shape, Val: r.dist}
	return shape.NVals, nil
}
