package cusparse

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/cusparse/internal/loopkernel"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/pass"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// This file runs recorded loops: a loop is one kernel, which package loopkernel writes and
// kernels/pass.cu explains.

var _ pass.Runner = backend{}

// passCache is a program and the loop that it is of.
type passCache struct {
	list *pass.List
	rows []bool // of the matrices of products: the kernel may read the rows
	prog *passProgram
	err  error // why the list cannot be recorded
}

// passProgram is the kernel of a list, as text and for launches.
type passProgram struct {
	*loopkernel.Program
	p *program
}

// The launch shape of the kernel: threads of a block and blocks of a multiprocessor.
const (
	passBlock  = 512
	passBlocks = 1
)

// composePass writes the kernel of a list; see loopkernel.Compose.
func composePass(l *pass.List, rows func(u pass.Use) bool) (*passProgram, error) {
	k, err := loopkernel.Compose(l, rows)
	if err != nil {
		return nil, err
	}
	p := compose("pass", fmt.Sprintf("a loop of %d steps", len(l.Steps)))
	p.parts, p.own = []string{"pass"}, k.Text
	p.define("HB_PASS_BLOCK", passBlock).define("HB_PASS_TOTALS", loopkernel.Numbers*max(k.Totals, 1)).define("HB_PASS_WORDS", k.Words)
	for i := range k.Vars {
		p.needs(k.Vars[i].Type)
	}
	p.define("HB_PASS_BLOCKS", passBlocks)
	return &passProgram{k, p}, nil
}

// passesKept is the number of programs that a device keeps.
const passesKept = 128

// passRoom is what a loop under way has for itself.
type passRoom struct {
	control *mem
	host    unsafe.Pointer // pinned
	logged  int64          // decisions in the log, which the next run clears
}

// stopOffset is the place of stop in hb_control of kernels/pass.cu.
const stopOffset = 12

// passLong and passLongAny are the entries from which warps share a row of a pull: few where all
// terms are read, since other lanes wait for the longest row of a warp; many where one term is
// enough.
const (
	passLong    = 64
	passLongAny = 2048
)

// passRoomBytes is the size of the pinned memory of a room.
const passRoomBytes = 4096

// longRows lists the parts of the long rows of a matrix, which warps take.
type longRows struct {
	list  *mem
	count int64
}

func (l *longRows) drop() { l.list.release() }

// The constants of kernels/pass.cu: HB_PASS_HUB, HB_PASS_CHUNK, HB_PASS_PART, HB_PASS_TILE.
const (
	passHub   = 128
	passChunk = 128
	passShare = 1024
	passTile  = 8
)

// passBuffer is the memory of a vector of a loop.
type passBuffer struct{ val, has *mem }

func (b passBuffer) release() {
	b.val.release()
	b.has.release()
}

// passRun is a loop that runs.
type passRun struct {
	d       *Device
	c       device.Call
	prog    *passProgram
	room    *passRoom
	buffers []passBuffer // values, by their numbers among the vectors with totals; no bytes
	bytes   []*mem       // of the variables that are written
	scalars map[int]passBuffer
	stop    bool
	err     error
}

// readsRows reports whether the kernel may read the rows of the matrix of a product.
func (f *frame) readsRows(o device.Operand, any bool) bool {
	// A loop pays for the transpose: a push needs it, and where one entry is enough a pull is
	// faster for large frontiers.
	return f.here(o) != nil && (hasRows(o) || any)
}

// passOf returns the program of a list, composed at its first use.
func (f *frame) passOf(l *pass.List, contents []pass.Content) (*passProgram, error) {
	operand := func(u pass.Use) device.Operand {
		return device.Operand{Store: contents[u.Var].Store, Transposed: u.Transposed, Pattern: u.Pattern, Symmetric: u.Symmetric}
	}
	var rows []bool
	var used []pass.Use
	for i := range l.Steps {
		if s := &l.Steps[i]; s.Kind == pass.Product {
			rows, used = append(rows, f.readsRows(operand(s.A), s.Ring.Add.Any)), append(used, s.A)
		}
	}
	if f.err != nil {
		return nil, f.err
	}
	for _, c := range f.d.passes {
		if c.list.Same(l) && slices.Equal(c.rows, rows) {
			return c.prog, c.err
		}
	}
	own := *l
	own.Vars = append([]pass.Var(nil), l.Vars...)
	own.Steps = append([]pass.Step(nil), l.Steps...)
	own.Blocks = append([]pass.Block(nil), l.Blocks...)
	prog, err := composePass(&own, func(u pass.Use) bool {
		i := slices.Index(used, u)
		return i >= 0 && rows[i]
	})
	if len(f.d.passes) >= passesKept {
		f.d.passes = f.d.passes[1:]
	}
	f.d.passes = append(f.d.passes, &passCache{list: &own, rows: rows, prog: prog, err: err})
	return prog, err
}

// Most bounds the decisions of a run. Where nobody can stop it they are few: a list may be wrong,
// and then the loop need not end.
func (d backend) Most() int64 {
	if d.props.OneByOne {
		return 64
	}
	return passLog
}

// Begin starts a loop.
func (d backend) Begin(c device.Call, l *pass.List, contents []pass.Content, passes, decisions int64) (pass.Run, error) {
	f := d.begin(c)
	defer f.end()
	if f.err != nil {
		return nil, f.err
	}
	prog, err := f.passOf(l, contents)
	if err != nil {
		return nil, err
	}
	room := f.passRoom()
	if f.err != nil {
		return nil, f.err
	}
	r := &passRun{d: d.Device, c: c, prog: prog, room: room, buffers: make([]passBuffer, prog.Totals), bytes: make([]*mem, len(l.Vars)), scalars: map[int]passBuffer{}}
	words := make([]uint64, prog.Words)
	words[loopkernel.WordLimit], words[loopkernel.WordHost] = uint64(passes), uint64(uintptr(room.host))
	words[loopkernel.WordLog], words[loopkernel.WordDecisions] = uint64(uintptr(room.host)+passRoomBytes), uint64(decisions)
	for i, n := range prog.Sizes {
		words[prog.WordSizes+i] = uint64(n)
	}
	for i, word := range prog.Limits {
		words[word] = uint64(l.Blocks[i].Passes)
	}
	work := int64(1)
	for i := range prog.Vars {
		if v := &prog.Vars[i]; v.Kind == loopkernel.Matrix && v.Operand.Var != pass.None {
			u := v.Operand
			work = max(work, f.passMatrix(words[v.Word:], v, device.Operand{Store: contents[u.Var].Store, Transposed: u.Transposed, Pattern: u.Pattern, Symmetric: u.Symmetric}))
		}
	}
	r.aside(f, words)
	for i := range prog.Vars {
		v := &prog.Vars[i]
		if v.Kind != loopkernel.Matrix {
			w := words[v.Word:]
			var from *store
			if i < len(contents) && contents[i].Store != nil {
				from = f.here(device.Operand{Store: contents[i].Store})
			}
			f.passVector(w, v, from, r, i, l)
			if i < len(contents) && contents[i].One {
				w[loopkernel.WordFormat], w[loopkernel.WordIdx], w[loopkernel.WordEntries] = 4, uint64(contents[i].Index), 1
				copy(unsafe.Slice((*byte)(unsafe.Pointer(&w[loopkernel.WordValFrom])), 8), contents[i].Value)
				if v.Kind == loopkernel.Read {
					f.passOne(w, v, contents[i])
				}
			}
			work = max(work, int64(v.N))
		}
	}
	for _, v := range prog.Values {
		b := l.Steps[v.Step].X
		if v.Second {
			b = l.Steps[v.Step].Y
		}
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&words[v.Word])), len(b.Bytes)), b.Bytes)
	}
	k := f.kernel(prog.p, "hb_pass")
	if f.err != nil {
		r.release()
		f.d.passRooms = append(f.d.passRooms, room)
		return nil, f.err
	}
	clear(r.numbers())
	clear(unsafe.Slice((*byte)(r.log(0)), room.logged))
	room.logged = passLog
	control := room.control.addr
	args := []unsafe.Pointer{unsafe.Pointer(&words[0]), unsafe.Pointer(&control)}
	f.queue(k, [3]uint32{f.passGrid(k, work), 1, 1}, [3]uint32{passBlock, 1, 1}, 0, args)
	if f.err != nil {
		r.release()
		return nil, f.err
	}
	return r, nil
}

// passGrid is the number of blocks of a loop over so many positions or entries.
func (f *frame) passGrid(k *kernel, work int64) uint32 {
	if f.d.props.OneByOne {
		return 1
	}
	if k.blocks == 0 {
		each, err := f.d.ctx.Occupancy(k.fn, passBlock, 0)
		f.fail(err)
		k.blocks = uint32(max(min(each, passBlocks), 1) * max(f.d.props.Multiprocessors, 1))
	}
	return uint32(min(max((work+passBlock-1)/passBlock, 1), int64(k.blocks)))
}

// passRoom returns a room that no loop uses.
func (f *frame) passRoom() *passRoom {
	if n := len(f.d.passRooms); n > 0 {
		r := f.d.passRooms[n-1]
		f.d.passRooms = f.d.passRooms[:n-1]
		return r
	}
	const most = 8 * (8 + 3*(3*loopkernel.WordsMost+1)) // hb_control
	control := f.zeros(most)
	if f.err != nil {
		return nil
	}
	host, err := f.d.ctx.AllocHost(passRoomBytes + passLog)
	f.fail(err)
	return &passRoom{control: control.share(), host: host, logged: passLog}
}

// passMatrix gives the words of a matrix, and returns its entries.
func (f *frame) passMatrix(w []uint64, v *loopkernel.Var, o device.Operand) int64 {
	if v.Rows {
		s := f.csrOf(f.rows(o))
		if f.err != nil {
			return 0
		}
		w[loopkernel.WordRowPtr], w[loopkernel.WordRowIdx], w[loopkernel.WordRowVal] = uint64(s.ptr.ptr()), uint64(s.idx.ptr()), uint64(s.val.ptr())
		most := int64(passLongAny)
		if v.Sums {
			most = passLong
		}
		l := f.longRows(s, most)
		if f.err != nil {
			return 0
		}
		w[loopkernel.WordPull], w[loopkernel.WordNParts] = uint64(l.list.ptr()), uint64(l.count)
		lanes := uint64(1) // at most an eighth of the entries of a row
		for lanes < 4 && 8*int64(lanes)*int64(s.m) < s.known() {
			lanes *= 2
		}
		w[loopkernel.WordLong], w[loopkernel.WordLanes] = uint64(most), lanes
		if v.Tiles && l.count > 0 && 8*int64(s.m) < s.known() {
			tiles := f.rowTiles(s)
			if f.err != nil {
				return 0
			}
			w[loopkernel.WordHeads], w[loopkernel.WordTiles], w[loopkernel.WordTileRows] = uint64(tiles.heads.ptr()), uint64(tiles.at.ptr()), uint64(tiles.rows.ptr())
		}
	}
	s := f.csrOf(f.cols(o))
	if f.err != nil {
		return 0
	}
	w[loopkernel.WordColPtr], w[loopkernel.WordColIdx], w[loopkernel.WordColVal] = uint64(s.ptr.ptr()), uint64(s.idx.ptr()), uint64(s.val.ptr())
	nnz := s.known()
	w[loopkernel.WordNNZ] = uint64(nnz)
	return nnz / 8
}

// longRows finds the parts of long rows, once a matrix.
func (f *frame) longRows(s *store, most int64) *longRows {
	key := "parts of long rows"
	if most == passLongAny {
		key = "parts of very long rows"
	}
	if l, ok := formOf[*longRows](f, s, key); ok || f.err != nil {
		return l
	}
	l := &longRows{}
	if nnz := s.known(); nnz > most {
		count, list := f.zeros(8), f.alloc(8*(nnz/passShare+min(nnz/most, int64(s.m))+1))
		f.each(f.shape(1, "hb_long_rows"), int64(s.m), s.ptr, int64(s.m), most, int64(passShare), count, list)
		l.count = f.read(count, 0)
		if l.count > 0 {
			l.list = list.share()
		}
	}
	if f.err != nil {
		return nil
	}
	f.keepForm(s, key, l)
	return l
}

// rowTiles is where the rows of a matrix begin among its entries, by tiles of passTile words.
type rowTiles struct{ heads, at, rows *mem }

func (t *rowTiles) drop() {
	t.heads.release()
	t.at.release()
	t.rows.release()
}

// rowTiles finds the tiles of a matrix, once.
func (f *frame) rowTiles(s *store) *rowTiles {
	const key = "tiles of rows"
	if t, ok := formOf[*rowTiles](f, s, key); ok || f.err != nil {
		return t
	}
	m, tiles := int64(s.m), (s.known()+32*passTile-1)/(32*passTile)
	heads := f.zeros(4 * passTile * tiles)
	f.each(f.shape(1, "hb_row_heads"), m, s.ptr, m, heads)
	counts := f.alloc(4 * tiles)
	f.each(f.shape(1, "hb_head_counts"), tiles, heads, tiles, int32(passTile), counts)
	at := f.scan(counts, tiles, 4)
	rows := f.alloc(4 * (f.read(at, tiles) + 32)) // a warp reads numbers of so many rows
	f.each(f.shape(1, "hb_head_rows"), m, s.ptr, m, heads, int32(passTile), at, rows)
	if f.err != nil {
		return nil
	}
	t := &rowTiles{heads.share(), at.share(), rows.share()}
	f.keepForm(s, key, t)
	return t
}

// passOne puts the one entry of a vector that is only read into its values and bytes.
func (f *frame) passOne(w []uint64, v *loopkernel.Var, x pass.Content) {
	val := f.zeros(int64(v.N) * int64(v.Type.Size))
	if f.err != nil {
		return
	}
	one := []byte(x.Value)
	f.fail(f.d.ctx.ToDevice(val.addr+driver.Ptr(int(x.Index)*v.Type.Size), unsafe.Pointer(&one[0]), uint64(len(one)), f.d.stream))
	w[loopkernel.WordValFrom] = uint64(val.addr)
	if has := w[loopkernel.WordHasFrom]; has != 0 && f.err == nil {
		f.fail(f.d.ctx.Fill(driver.Ptr(has)+driver.Ptr(x.Index), 1, 1, f.d.stream))
	}
	f.sync() // one is ours
}

// passVector gives the words of a vector and its memory.
func (f *frame) passVector(w []uint64, v *loopkernel.Var, from *store, r *passRun, i int, l *pass.List) {
	if f.err != nil {
		return
	}
	if (v.Kind == loopkernel.Read || v.Kind == loopkernel.Uniform) && from != nil {
		from = f.dense(from)
		if f.err != nil {
			return
		}
		w[loopkernel.WordEntries] = uint64(f.nvals(from))
	}
	switch {
	case from == nil || from.known() == 0:
		if v.Kind == loopkernel.Read && !v.Full {
			w[loopkernel.WordHasFrom] = uint64(f.zeros(max(int64(v.N), 1)).ptr())
		}
	case from.isListed():
		w[loopkernel.WordFormat], w[loopkernel.WordIdx], w[loopkernel.WordEntries] = 1, uint64(from.idx.ptr()), uint64(from.known())
	case from.format == sparse.Bitmap:
		w[loopkernel.WordFormat], w[loopkernel.WordHasFrom] = 2, uint64(from.present.ptr())
	default:
		w[loopkernel.WordFormat] = 3
		if v.Kind == loopkernel.Read && !v.Full {
			has := f.alloc(max(int64(v.N), 1))
			f.fill(has, 1, int64(v.N))
			w[loopkernel.WordHasFrom] = uint64(has.ptr())
		}
	}
	if from != nil {
		w[loopkernel.WordValFrom] = uint64(from.val.ptr())
		if v.Kind == loopkernel.Uniform && from.val == nil {
			w[loopkernel.WordValFrom] = uint64(f.valued(from).val.ptr())
		}
	}
	take := func(n int64) *mem {
		m := f.alloc(max(n, 8))
		f.free(m.share()) // the loop keeps it
		return m
	}
	switch v.Kind {
	case loopkernel.Uniform:
		if l.Vars[i].Written {
			m := take(16)
			if m == nil {
				return
			}
			b := passBuffer{val: m, has: m.part(8)}
			w[loopkernel.WordVal], w[loopkernel.WordHas] = uint64(b.val.ptr()), uint64(b.has.ptr())
			r.scalars[i] = b
		}
	case loopkernel.Written, loopkernel.Result:
		n := int64(v.N)
		vals := (n*int64(v.Type.Size) + 15) &^ 15
		m := take(vals)
		if m == nil {
			return
		}
		r.buffers[v.At] = passBuffer{val: m}
		w[loopkernel.WordVal] = uint64(m.ptr())
		if v.Kind == loopkernel.Written && !v.Full {
			if m = take(n + 8); m == nil {
				return
			}
			r.bytes[i] = m
			w[loopkernel.WordHas] = uint64(m.ptr())
		}
	}
}

// aside gives the words of what the kernel needs beside the contents: bits, lists, parts of long
// rows, and sums of blocks.
func (r *passRun) aside(f *frame, words []uint64) {
	type need struct {
		word  int
		bytes int64
	}
	var needs []need
	add := func(word int, bytes int64) { needs = append(needs, need{word, (bytes + 15) &^ 15}) }
	for i := range r.prog.Vars {
		v := &r.prog.Vars[i]
		if v.Kind != loopkernel.Written && v.Kind != loopkernel.Result {
			continue
		}
		bits := 4 * ((int64(v.N) + 31) / 32)
		if !v.Full {
			add(v.Word+loopkernel.WordBits, bits)
		}
		if v.Listed {
			add(v.Word+loopkernel.WordList, 4*int64(v.N))
			if v.Marked {
				add(v.Word+loopkernel.WordMarks, bits)
			}
			if v.Degrees != "" {
				nnz := int64(words[r.prog.Vars[v.Pushes].Word+loopkernel.WordNNZ])
				add(v.Word+loopkernel.WordParts, 8*(nnz/passChunk+min(nnz/passHub, int64(v.N))+1))
			}
		}
	}
	for _, p := range r.prog.Parts {
		blocks := int64(passBlocks * max(f.d.props.Multiprocessors, 1))
		add(p.Word, 2*blocks*int64(p.Size))
		add(p.Word+1, 2*blocks)
	}
	var all int64
	for _, n := range needs {
		all += n.bytes
	}
	at := f.alloc(all).ptr()
	for _, n := range needs {
		words[n.word] = uint64(at)
		at += driver.Ptr(n.bytes)
	}
}
