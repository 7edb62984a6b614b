package paths

import (
	_ "embed"
	"math/bits"
	"runtime"
	"unsafe"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/device"
)

//go:embed kernels/rows.cu
var rowsText string

// Constants of kernels/rows.cu.
const (
	rowsChunk = 64   // entries of an item of the queue
	rowsFew   = 4    // in-neighbours that one lane tests
	rowsGroup = 8    // lanes that test the others of a vertex
	rowsLong  = 1024 // in-neighbours above which many groups do
	rowsAside = 1024 // vertices of each kind that a block collects
	rowsSpans = 16   // windows of targets, at most, a power of two
)

// rowsTuning are the settings of searches by rows on devices.
type rowsTuning struct {
	// A push of distances goes by windows of targets, of so many bytes of distances, if records
	// have so many edges each on average.
	windowBytes, windowEdges int64
	// turn is the bytes an entry that the edges by sources take while they are made: its key, also
	// sorted, its place (8 bytes beyond 2³² entries), its row, its column, and a value of a
	// pattern. A search of levels on a device with less memory goes by pulls alone, which read
	// in-neighbours of all unreached vertices in every step.
	turn int64
}

var rowsDefaults = rowsTuning{windowBytes: 16 << 20, windowEdges: 2 * rowsChunk, turn: 26}

// rowsPull is the part of the edges to own vertices from which on a device pulls. A pull reads a
// few in-neighbours of each unreached vertex; a push reads all edges of the frontier.
const rowsPull = 32

func init() {
	device.Describe("bfs", levelPrograms)
	device.Describe("sssp", ssspPrograms)
	device.Describe("vn", nominationPrograms)
}

// levelPrograms are the programs of BFS.
func levelPrograms(device.Type) []device.Program {
	return []device.Program{bfsProgram(), rowsProgram(workflow.Int32Type)}
}

// ssspPrograms are the programs of SSSP.
func ssspPrograms(t device.Type) []device.Program {
	if !ssspFits(t) {
		return nil
	}
	return []device.Program{ssspProgram(t), rowsProgram(t)}
}

// nominationPrograms are the programs of VertexNomination, which counts hops by breadth-first
// search.
func nominationPrograms(t device.Type) []device.Program {
	list := append(ssspPrograms(t), bfsProgram())
	if t.Name != workflow.Int32Type.Name {
		list = append(list, rowsProgram(workflow.Int32Type))
	}
	return list
}

func rowsProgram(t device.Type) device.Program {
	_, most := t.Limits()
	p := workflow.GraphProgram("rows", "searches by rows over "+t.Go, relaxText+rowsText,
		map[string]any{"HB_MAX": most, "HB_ROWS_CHUNK": rowsChunk, "HB_ROWS_FEW": rowsFew, "HB_ROWS_GROUP": rowsGroup,
			"HB_ROWS_LONG": rowsLong, "HB_ROWS_ASIDE": rowsAside, "HB_ROWS_WINDOWS": rowsSpans})
	p.Types = []device.Typedef{{Name: "HB_T", Type: t}}
	return p
}

// rowsCode is the program of searches by rows over a type.
func rowsCode(s *device.Session, t device.Type) device.Code {
	return s.Program("apps: searches by rows, "+t.Name, func() device.Program { return rowsProgram(t) })
}

// deviceSearch searches on a device.
type deviceSearch struct {
	q       *searchRun
	s       *device.Session
	tuning  rowsTuning
	typ     device.Type
	operand device.Operand // edges by their targets, the own vertices
	lo, own int

	in, out                                 device.View // edges by targets and by sources, unless pulls
	pulls                                   bool        // there is no room for the edges by sources
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
}

func (r *deviceSearch) start(sources []int32) (rankNumbers, error) {
	s, own := r.s, int64(r.own)
	r.operand.Pattern = r.q.levels
	r.in = s.Rows(r.operand)
	r.pulls = r.q.levels && !s.HasCols(r.operand) && s.Room() < r.tuning.turn*r.in.Entries+16*int64(r.q.n)
	if !r.pulls {
		r.out = s.Cols(r.operand)
	}
	r.code = rowsCode(s, r.typ)
	r.relax = s.Kernel(r.code, "hb_rows_relax")
	r.grid, r.block = workflow.ResidentGrid(s, r.relax)
	r.present = s.Alloc(max(own, 1))
	r.dist = s.NewBitmap(r.own, r.typ, r.present)
	r.count, r.flags, r.least = s.Zeros(64+16*rowsSpans), s.Alloc(max(8*r.ownWords(), 4)), s.Alloc(8)
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
		cuts := workflow.AsInt64s(r.q.w.Cuts)
		r.cuts = s.Upload(unsafe.Pointer(unsafe.SliceData(cuts)), 8*int64(len(cuts)))
		r.places = s.Upload(unsafe.Pointer(unsafe.SliceData(places)), 8*int64(len(places)))
		s.Sync()
		runtime.KeepAlive(cuts)
		runtime.KeepAlive(places)
	}
	r.mine = s.Alloc(r.recordBytes(max(r.mineRoom, 1)))
	r.result, r.resultAt = s.Results()
	r.each("hb_rows_start", own, int32(r.own), r.dist.Val, r.flags)
	s.Blocks(s.Kernel(r.code, "hb_rows_sources"), 1, workflow.GraphBlock, int32(len(sources)), s.Ints(sources), int32(r.lo), int32(r.own),
		r.dist.Val, r.flags, r.least, r.next, r.count)
	now, err := r.frontierNumbers(false)
	runtime.KeepAlive(sources)
	return now, err
}

// each launches a kernel over n items.
func (r *deviceSearch) each(kernel string, n int64, args ...any) {
	r.s.Each(r.s.Kernel(r.code, kernel), max(n, 1), args...)
}

func (r *deviceSearch) recordBytes(n int64) int64 {
	return n * r.q.of.record
}

// ownWords returns the words of a bitmap of the own vertices.
func (r *deviceSearch) ownWords() int64 { return (int64(r.own) + 31) / 32 }

func (r *deviceSearch) scalar(x *number) device.Scalar {
	return device.Scalar{Type: r.typ, P: unsafe.Pointer(x)}
}

// frontierNumbers writes the records of the next frontier, and waits for its numbers.
func (r *deviceSearch) frontierNumbers(split bool) (rankNumbers, error) {
	r.each("hb_rows_records", r.mineRoom, r.mineRoom, r.next, int32(r.lo), r.dist.Val, r.mine, r.count)
	r.s.Blocks(r.s.Kernel(r.code, "hb_rows_report"), 1, 32, split, r.least, r.count, r.resultAt)
	r.s.Sync()
	return rankNumbers{listed: r.result[0], least: number(r.result[1])}, r.s.Err()
}

func (r *deviceSearch) records(all, own int64) (whole, mine comm.Buffer) {
	if all > r.allRoom {
		r.s.Free(r.all)
		r.allRoom = min(2*all, int64(r.q.n))
		r.all = r.s.Alloc(r.recordBytes(r.allRoom))
	}
	if room := all + r.out.Entries/rowsChunk + 1; room > r.room && !r.pulls {
		r.s.Free(r.queue)
		r.room = r.allRoom + r.out.Entries/rowsChunk + 1
		r.queue = r.s.Alloc(8 * r.room)
	}
	return workflow.DeviceBytes(r.all, int(r.recordBytes(all))), workflow.DeviceBytes(r.mine, int(r.recordBytes(own)))
}

func (r *deviceSearch) bitmap() (whole, mine comm.Buffer) {
	return workflow.DeviceBytes(r.words, int(4*r.wordCount)), workflow.DeviceBytes(r.flags, int(4*r.ownWords()))
}

func (r *deviceSearch) Push(records int64, bound, depth number) (rankNumbers, error) {
	s := r.s
	s.Fill(r.flags, 0, 4*r.ownWords())
	if r.pulls {
		r.each("hb_rows_clear", int64(r.q.n)/32+1, int32(r.q.n), int64(-1), r.bits, r.count)
		r.each("hb_rows_mark", records, records, int64(-1), r.all, r.bits, r.count)
		r.pulled(-1, depth)
		return r.frontierNumbers(false)
	}
	shift := r.windows(records)
	if shift > 0 {
		r.each("hb_rows_windows", records, records, r.all, r.out.Ptr, int32(shift), r.count)
	}
	r.each("hb_rows_items", records, records, r.all, r.out.Ptr, int32(shift), r.queue, r.count)
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
	return r.frontierNumbers(false)
}

// windows returns the logarithm of the number of windows for a push of so many records.
func (r *deviceSearch) windows(records int64) int {
	if r.q.levels || records*r.tuning.windowEdges > r.out.Entries {
		return 0
	}
	return min(bits.Len64(uint64(int64(r.own)*int64(r.typ.Size)/r.tuning.windowBytes)), bits.Len(rowsSpans)-1)
}

// pulled launches a pull.
func (r *deviceSearch) pulled(most int64, depth number) {
	r.each("hb_rows_pull", int64(r.own), int32(r.own), most, r.in.Ptr, r.in.Idx, r.bits, r.scalar(&depth), r.dist.Val, r.flags,
		r.left, r.count)
	r.each("hb_rows_pull_left", rowsGroup*r.leftRoom, r.in.Ptr, r.in.Idx, r.bits, r.scalar(&depth), r.dist.Val, r.flags, r.left,
		r.count)
	r.each("hb_rows_list", r.ownWords(), int32(r.own), most, r.mineRoom, r.flags, r.next, r.count)
}

func (r *deviceSearch) pull(depth number) (rankNumbers, error) {
	r.s.Fill(r.flags, 0, 4*r.ownWords())
	r.each("hb_rows_join", int64(r.q.n)/32+1, int32(r.q.n), int32(r.q.w.Group.Size()), r.cuts, r.places, r.words, r.bits)
	r.pulled(-1, depth)
	return r.frontierNumbers(false)
}

func (r *deviceSearch) split(settled, bound number) (rankNumbers, error) {
	r.s.Fill(r.flags, 0, 4*r.ownWords())
	r.each("hb_rows_split", int64(r.own), r.pile, r.scalar(&settled), r.scalar(&bound), r.ownWords(), r.dist.Val, r.flags, r.next,
		r.kept, r.count)
	r.pile, r.kept = r.kept, r.pile
	return r.frontierNumbers(true)
}

func (r *deviceSearch) finish(c comm.Comm, parents bool) ([]workflow.Block, int64, error) {
	results := make([]workflow.Block, 2)
	s := r.s
	r.each("hb_rows_finish", int64(r.own), int32(r.own), r.dist.Val, r.present, r.count)
	s.Blocks(s.Kernel(r.code, "hb_rows_report"), 1, 32, false, r.least, r.count, r.resultAt)
	s.Sync()
	reached := r.result[2]
	if err := s.Err(); err != nil {
		return nil, 0, err
	}
	if parents {
		size := int(r.typ.Size)
		levels := s.Alloc(int64(size) * int64(r.q.n))
		if err := c.AllGatherV(r.q.w.Wait, workflow.DeviceBytes(levels, size*r.q.n), r.q.w.Bytes(size), workflow.DeviceBytes(r.dist.Val, size*r.own)); err != nil {
			return nil, 0, err
		}
		parent := s.NewBitmap(r.own, workflow.Int32Type, r.present)
		r.each("hb_rows_parents", int64(r.own), int32(r.own), int32(r.lo), r.in.Ptr, r.in.Idx, r.dist.Val, levels, parent.Val)
		results[1].Home = s.Result(parent, reached)
	}
	results[0].Home = s.Result(r.dist, reached)
	return results, reached, s.Err()
}
