package cusparse

import (
	"runtime"
	"time"
	"unsafe"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/pass"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// This file runs recorded loops: a loop is one kernel, which passtext.go writes and kernels/pass.cu
// explains.

var _ pass.Runner = backend{}

// passCache is a program and the loop that it is of.
type passCache struct {
	list *pass.List
	have []passHave // of the matrices of products
	prog *passProgram
	err  error // why the list cannot be recorded
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

// The constants of kernels/pass.cu: HB_PASS_HUB, HB_PASS_CHUNK, HB_PASS_PART.
const (
	passHub   = 128
	passChunk = 128
	passShare = 1024
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

// haveOf looks at the matrix of a product.
func (f *frame) haveOf(o device.Operand, any bool) (h passHave) {
	s := f.here(o)
	if s == nil {
		return h
	}
	// A loop pays for the transpose: a push needs it, and where one entry is enough a pull is
	// faster for large frontiers.
	return passHave{rows: hasRows(o) || any}
}

// passOf returns the program of a list, composed at its first use.
func (f *frame) passOf(l *pass.List, contents []pass.Content) (*passProgram, error) {
	operand := func(u pass.Use) device.Operand {
		return device.Operand{Store: contents[u.Var].Store, Transposed: u.Transposed, Pattern: u.Pattern, Symmetric: u.Symmetric}
	}
	var have []passHave
	var used []pass.Use
	for i := range l.Steps {
		if s := &l.Steps[i]; s.Kind == pass.Product {
			have, used = append(have, f.haveOf(operand(s.A), s.Ring.Add.Any)), append(used, s.A)
		}
	}
	if f.err != nil {
		return nil, f.err
	}
next:
	for _, c := range f.d.passes {
		if !c.list.Same(l) {
			continue
		}
		for i := range have {
			if have[i] != c.have[i] {
				continue next
			}
		}
		return c.prog, c.err
	}
	own := *l
	own.Vars = append([]pass.Var(nil), l.Vars...)
	own.Steps = append([]pass.Step(nil), l.Steps...)
	own.Blocks = append([]pass.Block(nil), l.Blocks...)
	prog, err := composePass(&own, func(u pass.Use) passHave {
		for i := range used {
			if used[i] == u {
				return have[i]
			}
		}
		return passHave{}
	})
	if len(f.d.passes) >= passesKept {
		f.d.passes = f.d.passes[1:]
	}
	f.d.passes = append(f.d.passes, &passCache{list: &own, have: have, prog: prog, err: err})
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
	r := &passRun{d: d.Device, c: c, prog: prog, room: room, buffers: make([]passBuffer, prog.totals), bytes: make([]*mem, len(l.Vars)), scalars: map[int]passBuffer{}}
	words := make([]uint64, prog.words)
	words[wordLimit], words[wordHost] = uint64(passes), uint64(uintptr(room.host))
	words[wordLog], words[wordDecisions] = uint64(uintptr(room.host)+passRoomBytes), uint64(decisions)
	for i, word := range prog.limits {
		words[word] = uint64(l.Blocks[i].Passes)
	}
	work := int64(1)
	for i := range prog.vars {
		if v := &prog.vars[i]; v.kind == passMatrix && v.operand.Var != pass.None {
			u := v.operand
			work = max(work, f.passMatrix(words[v.word:], v, device.Operand{Store: contents[u.Var].Store, Transposed: u.Transposed, Pattern: u.Pattern, Symmetric: u.Symmetric}))
		}
	}
	r.aside(f, words)
	for i := range prog.vars {
		v := &prog.vars[i]
		if v.kind != passMatrix {
			w := words[v.word:]
			var from *store
			if i < len(contents) && contents[i].Store != nil {
				from = f.here(device.Operand{Store: contents[i].Store})
			}
			f.passVector(w, v, from, r, i, l)
			if i < len(contents) && contents[i].One {
				w[wordFormat], w[wordIdx], w[wordEntries] = 4, uint64(contents[i].Index), 1
				copy(unsafe.Slice((*byte)(unsafe.Pointer(&w[wordValFrom])), 8), contents[i].Value)
				if v.kind == passRead {
					f.passOne(w, v, contents[i])
				}
			}
			work = max(work, int64(v.n))
		}
	}
	for _, v := range prog.values {
		b := l.Steps[v.step].X
		if v.second {
			b = l.Steps[v.step].Y
		}
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&words[v.word])), len(b.Bytes)), b.Bytes)
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
	const most = 8 * (8 + 3*(3*passWordsMost+1)) // hb_control
	control := f.zeros(most)
	if f.err != nil {
		return nil
	}
	host, err := f.d.ctx.AllocHost(passRoomBytes + passLog)
	f.fail(err)
	return &passRoom{control: control.share(), host: host, logged: passLog}
}

// passMatrix gives the words of a matrix, and returns its entries.
func (f *frame) passMatrix(w []uint64, v *passVar, o device.Operand) int64 {
	if v.rows {
		s := f.csrOf(f.rows(o))
		if f.err != nil {
			return 0
		}
		w[wordRowPtr], w[wordRowIdx], w[wordRowVal] = uint64(s.ptr.ptr()), uint64(s.idx.ptr()), uint64(s.val.ptr())
		most := int64(passLongAny)
		if v.sums {
			most = passLong
		}
		l := f.longRows(s, most)
		if f.err != nil {
			return 0
		}
		w[wordPull], w[wordNParts] = uint64(l.list.ptr()), uint64(l.count)
		lanes := uint64(1) // at most an eighth of the entries of a row
		for lanes < 4 && 8*int64(lanes)*int64(s.m) < s.known() {
			lanes *= 2
		}
		w[wordLong], w[wordLanes] = uint64(most), lanes
	}
	s := f.csrOf(f.cols(o))
	if f.err != nil {
		return 0
	}
	w[wordColPtr], w[wordColIdx], w[wordColVal] = uint64(s.ptr.ptr()), uint64(s.idx.ptr()), uint64(s.val.ptr())
	nnz := s.known()
	w[wordNNZ] = uint64(nnz)
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

// passOne puts the one entry of a vector that is only read into its values and bytes.
func (f *frame) passOne(w []uint64, v *passVar, x pass.Content) {
	val := f.zeros(int64(v.n) * int64(v.typ.Size))
	if f.err != nil {
		return
	}
	one := []byte(x.Value)
	f.fail(f.d.ctx.ToDevice(val.addr+driver.Ptr(int(x.Index)*v.typ.Size), unsafe.Pointer(&one[0]), uint64(len(one)), f.d.stream))
	w[wordValFrom] = uint64(val.addr)
	if has := w[wordHasFrom]; has != 0 && f.err == nil {
		f.fail(f.d.ctx.Fill(driver.Ptr(has)+driver.Ptr(x.Index), 1, 1, f.d.stream))
	}
	f.sync() // one is ours
}

// passVector gives the words of a vector and its memory.
func (f *frame) passVector(w []uint64, v *passVar, from *store, r *passRun, i int, l *pass.List) {
	if f.err != nil {
		return
	}
	if (v.kind == passRead || v.kind == passUniform) && from != nil {
		from = f.dense(from)
		if f.err != nil {
			return
		}
		w[wordEntries] = uint64(f.nvals(from))
	}
	switch {
	case from == nil || from.known() == 0:
		if v.kind == passRead && !v.full {
			w[wordHasFrom] = uint64(f.zeros(max(int64(v.n), 1)).ptr())
		}
	case from.isListed():
		w[wordFormat], w[wordIdx], w[wordEntries] = 1, uint64(from.idx.ptr()), uint64(from.known())
	case from.format == sparse.Bitmap:
		w[wordFormat], w[wordHasFrom] = 2, uint64(from.present.ptr())
	default:
		w[wordFormat] = 3
		if v.kind == passRead && !v.full {
			has := f.alloc(max(int64(v.n), 1))
			f.fill(has, 1, int64(v.n))
			w[wordHasFrom] = uint64(has.ptr())
		}
	}
	if from != nil {
		w[wordValFrom] = uint64(from.val.ptr())
		if v.kind == passUniform && from.val == nil {
			w[wordValFrom] = uint64(f.valued(from).val.ptr())
		}
	}
	take := func(n int64) *mem {
		m := f.alloc(max(n, 8))
		f.free(m.share()) // the loop keeps it
		return m
	}
	switch v.kind {
	case passUniform:
		if l.Vars[i].Written {
			m := take(16)
			if m == nil {
				return
			}
			b := passBuffer{val: m, has: m.part(8)}
			w[wordVal], w[wordHas] = uint64(b.val.ptr()), uint64(b.has.ptr())
			r.scalars[i] = b
		}
	case passWritten, passTemp:
		n := int64(v.n)
		vals := (n*int64(v.typ.Size) + 15) &^ 15
		m := take(vals)
		if m == nil {
			return
		}
		r.buffers[v.at] = passBuffer{val: m}
		w[wordVal] = uint64(m.ptr())
		if v.kind == passWritten && !v.full {
			if m = take(n + 8); m == nil {
				return
			}
			r.bytes[i] = m
			w[wordHas] = uint64(m.ptr())
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
	for i := range r.prog.vars {
		v := &r.prog.vars[i]
		if v.kind != passWritten && v.kind != passTemp {
			continue
		}
		bits := 4 * ((int64(v.n) + 31) / 32)
		if !v.full {
			add(v.word+wordBits, bits)
		}
		if v.listed {
			add(v.word+wordList, 4*int64(v.n))
			if v.marked {
				add(v.word+wordMarks, bits)
			}
			if v.deg != "" {
				nnz := int64(words[r.prog.vars[v.pushes].word+wordNNZ])
				add(v.word+wordParts, 8*(nnz/passChunk+min(nnz/passHub, int64(v.n))+1))
			}
		}
	}
	for _, p := range r.prog.parts {
		blocks := int64(passBlocks * max(f.d.props.Multiprocessors, 1))
		add(p.word, 2*blocks*int64(p.size))
		add(p.word+1, 2*blocks)
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

// numbers are what the kernel tells the host.
func (r *passRun) numbers() []int64 {
	return unsafe.Slice((*int64)(r.room.host), passRoomBytes/8)
}

// Stop asks the loop to end before its next decision.
func (r *passRun) Stop() {
	if r.ended() || r.stop {
		return
	}
	r.stop = true
	f := r.d.begin(r.c)
	defer f.end()
	f.c.Context = nil // it may be over, and the kernel must know
	if f.err != nil && f.d.closed {
		return
	}
	f.err = nil
	if r.d.passStream == 0 {
		s, err := r.d.ctx.NewStream()
		if err != nil {
			return
		}
		r.d.passStream = s
	}
	one := uint32(1)
	_ = r.d.ctx.ToDevice(r.room.control.addr+stopOffset, unsafe.Pointer(&one), 4, r.d.passStream)
	_ = r.d.ctx.Sync(r.d.passStream)
}

// wait waits for the end of the kernel.
func (r *passRun) wait() {
	begin := time.Now()
	asked := begin
	for spins := 0; ; spins++ {
		if r.ended() {
			return
		}
		if spins < 1000 {
			if spins%64 == 63 {
				runtime.Gosched()
			}
			continue
		}
		now := time.Now()
		if now.Sub(begin) > 2*time.Millisecond {
			time.Sleep(50 * time.Microsecond)
		} else {
			runtime.Gosched()
		}
		if now.Sub(asked) > 100*time.Millisecond {
			asked = now
			r.ask()
		}
	}
}

// ask looks whether the kernel has failed.
func (r *passRun) ask() {
	f := r.d.begin(device.Call{Op: r.c.Op})
	defer f.end()
	if f.err != nil {
		r.err = f.err
		return
	}
	p, ok := r.d.ctx.(driver.Peers)
	if !ok {
		return
	}
	done, err := p.Done(r.d.stream)
	f.fail(err)
	if f.err != nil {
		r.err = f.err
		return
	}
	if done && !r.ended() {
		f.fail(&driver.Error{Call: "cuStreamQuery", Code: 999, Name: "CUDA_ERROR_UNKNOWN", Text: "the kernel of a loop ended early"})
		r.err = f.err
	}
}

// End waits for the end of the loop.
func (r *passRun) End(discard bool) (contents []device.Store, err error) {
	r.wait()
	if r.err != nil {
		r.release()
		return nil, r.err
	}
	n := r.numbers()
	r.room.logged = n[hostDecisions]
	f := r.d.begin(device.Call{Op: r.c.Op})
	defer f.end()
	defer r.release()
	if r.stop && f.err == nil { // it may have come after the end, and the next loop must not see it
		f.fail(f.d.ctx.Fill(r.room.control.addr+stopOffset, 0, 4, f.d.stream))
	}
	if f.err != nil {
		return nil, f.err
	}
	defer func() { r.d.passRooms = append(r.d.passRooms, r.room) }()
	if discard {
		return nil, nil
	}
	if e := n[hostError : hostError+4]; e[0] != 0 {
		s := &r.prog.list.Steps[e[0]-1]
		return nil, &pass.StepError{Step: int(e[0] - 1), Pass: n[hostPasses], Err: &device.IndexError{Arg: "idx of " + s.Op, At: e[1], Index: e[2], Limit: e[3]}}
	}
	contents = make([]device.Store, len(r.prog.list.Vars))
	for i := range contents {
		v := &r.prog.vars[i]
		if !r.prog.list.Vars[i].Written {
			continue
		}
		count := n[hostVars+2*i+1]
		b, format := passBuffer{}, sparse.Bitmap
		if v.kind == passUniform {
			b = r.scalars[i]
			if count == 1 {
				format = sparse.Full
			}
		} else {
			b = r.buffers[n[hostVars+2*i]]
			b.has = r.bytes[i]
			if v.full {
				format = sparse.Full
			}
		}
		s := f.newStore(1, v.n, format, v.typ, count)
		s.val = b.val.share()
		if format == sparse.Bitmap {
			s.present = b.has.share()
		}
		contents[i] = f.result(s)
	}
	return contents, f.err
}

// release gives the memory of the loop back.
func (r *passRun) release() {
	for _, b := range r.buffers {
		b.release()
	}
	for _, b := range r.scalars {
		b.release()
	}
	for _, m := range r.bytes {
		m.release()
	}
	r.buffers, r.bytes, r.scalars = nil, nil, nil
}
