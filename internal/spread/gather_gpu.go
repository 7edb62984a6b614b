package spread

import (
	"context"
	_ "embed"
	"reflect"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/spmd"
	"github.com/hiveblas/hiveblas/internal/collect"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// This file gathers matrices with blocks on devices, from device to device. The collectives and
// their bytes equal gatherStore's: predictions with ranks of the host rely on it. Only counts of a
// result come to the host.

//go:embed kernels/spread.cu
var spreadText string

// spreadKey tells the programs of kernels/spread.cu apart.
type spreadKey struct{ t device.Type }

func spreadProgram(t device.Type) device.Program {
	equal := 1
	if t.Kind == reflect.Struct { // which may define no equality
		equal = 0
	}
	return device.Program{File: "spread", Of: "blocks of " + t.Go, Parts: []string{"common"},
		Types: []device.Typedef{{Name: "HB_V", Type: t}}, Body: spreadText, Defines: map[string]any{"HB_EQUAL": equal}}
}

// Kernels returns the programs with which blocks of values of type t travel between devices.
func (onGroup) Kernels(t device.Type) []device.Program { return []device.Program{spreadProgram(t)} }

// Kernels returns the kernels of a matrix that is not nil.
func (noGroup) Kernels(t device.Type) []device.Program { return onGroup{}.Kernels(t) }

// onDevices reports whether the blocks are on devices and the group moves their memory.
func (s *Blocks) onDevices() bool { return s.g.MovesDeviceMemory() && s.atDevices() && !s.loose }

// atDevices reports whether all ranks of this process compute on devices.
func (s *Blocks) atDevices() bool {
	for k := range s.part {
		if device.Of(s.g.PlaceOf(k)) == nil {
			return false
		}
	}
	return true
}

// vastRows is the number of rows above which lists travel through the host: the steps on a device
// take memory for every row.
const vastRows = 1 << 27

// gathersOnDevices reports whether gatherOnDevices applies.
func (s *Blocks) gathersOnDevices() bool {
	return s.onDevices() && (s.vector || s.rows <= vastRows)
}

// rankGPU is a rank of a collective of matrices on devices.
type rankGPU struct {
	s    *Blocks
	ctx  context.Context
	c    comm.Comm
	at   device.Runner
	t    device.Type // of a value
	kept []device.Buffer
}

// eachGPU calls f for each rank of this process, with the operand that is its block.
func (s *Blocks) eachGPU(ctx context.Context, t device.Type, f func(k int, r *rankGPU, own device.Operand) error) error {
	return s.g.Each(func(k int, c comm.Comm) error {
		r := &rankGPU{s: s, ctx: ctx, c: c, at: device.Of(s.g.PlaceOf(k)), t: t}
		own, err := s.part[k].RemoteOn(r.at)
		if err != nil {
			return err
		}
		defer func() {
			for _, b := range r.kept {
				b.Release()
			}
		}()
		return f(k, r, device.Operand{Store: own, Vector: s.vector})
	})
}

// run calls use with the device, and waits for what it queued.
func (r *rankGPU) run(use func(d *device.Session, kernel func(name string) device.Kernel)) error {
	return r.at.Run(device.Call{Context: r.ctx, Op: "gather"}, func(d *device.Session) {
		code := d.Program(spreadKey{r.t}, func() device.Program { return spreadProgram(r.t) })
		use(d, func(name string) device.Kernel { return d.Kernel(code, name) })
		d.Sync()
	})
}

// keep keeps a buffer until the rank has finished.
func (r *rankGPU) keep(d *device.Session, b device.Buffer) device.Buffer {
	if d.Err() == nil && b.Mem != nil {
		r.kept = append(r.kept, d.Retain(b))
	}
	return b
}

// keepView keeps the parts of a view.
func (r *rankGPU) keepView(d *device.Session, v device.View) device.View {
	for _, b := range []device.Buffer{v.Ptr, v.Idx, v.Present, v.Val} {
		r.keep(d, b)
	}
	return v
}

// gather fills a buffer with the blocks of all ranks; counts are in items of size bytes.
func (r *rankGPU) gather(to, own device.Buffer, counts []int, size int) error {
	bytes, n := make([]int, len(counts)), 0
	for i, k := range counts {
		bytes[i] = k * size
		n += k * size
	}
	if n == 0 { // known to all ranks
		return nil
	}
	src := comm.OnDevice(own.Addr, comm.Uint8, bytes[r.c.Rank()])
	return r.c.AllGatherV(r.ctx, comm.OnDevice(to.Addr, comm.Uint8, n), bytes, src)
}

// before returns the sum of the counts of lower ranks.
func (r *rankGPU) before(counts []int) (n int64) {
	for _, k := range counts[:r.c.Rank()] {
		n += int64(k)
	}
	return n
}

// gatherOnDevices returns the whole matrix, or its structure with values true, for each rank of
// this process.
func (s *Blocks) gatherOnDevices(ctx context.Context, shape bool, counts []int64) ([]Matrix, error) {
	kind, size := s.kind, int64(0)
	if shape {
		kind = sparse.TypeOf[bool]()
	}
	t, err := device.TypeFor(sparse.GoType(kind))
	if err != nil {
		return nil, err
	}
	if !shape {
		size = int64(t.Size)
	}
	form := s.formOf(size, counts)
	out := make([]Matrix, len(s.part))
	err = s.eachGPU(ctx, t, func(k int, r *rankGPU, own device.Operand) (err error) {
		own.Pattern = shape
		var st device.Store
		switch {
		case form.dense:
			st, err = r.gatherDense(own, form)
		case s.vector:
			st, err = r.gatherList(own, collect.Ints(counts))
		default:
			st, err = r.gatherRows(own, collect.Ints(counts))
		}
		if err == nil {
			out[k] = s.make.NewAt(kind, s.g.PlaceOf(k), st)
		} else if st != nil {
			st.Drop()
		}
		return err
	})
	return out, err
}

// gatherDense gathers positions: presence bits unless the matrix is full, and values.
func (r *rankGPU) gatherDense(o device.Operand, form gatherForm) (st device.Store, err error) {
	s := r.s
	items, bits := form.items, form.bits
	cells := int64(s.rows) * int64(s.cols)
	var own, whole device.View
	var packed, present device.Buffer
	all := 0
	for _, n := range bits {
		all += n
	}
	err = r.run(func(d *device.Session, kernel func(string) device.Kernel) {
		own = r.keepView(d, d.Dense(o))
		if form.full {
			whole = d.NewFull(s.rows, s.cols, r.t)
		} else {
			present = r.keep(d, d.Alloc(cells))
			packed = r.keep(d, d.Alloc(int64(all)))
			whole = d.NewBitmapMatrix(s.rows, s.cols, r.t, present)
			n := int64(items[r.c.Rank()])
			d.Each(kernel("hb_pack_bits"), (n+7)/8, own.Present, n, packed.At(r.before(bits)))
		}
		if o.Pattern {
			d.Fill(whole.Val, 1, cells)
		}
		st = d.Result(whole, form.total)
	})
	if err == nil && !form.full {
		if err = r.gather(packed, packed.At(r.before(bits)), bits, 1); err == nil {
			err = r.run(func(d *device.Session, kernel func(string) device.Kernel) {
				at, from := int64(0), int64(0)
				for i, n := range items {
					d.Each(kernel("hb_unpack_bits"), int64(n), packed.At(from), int64(n), present.At(at))
					at, from = at+int64(n), from+int64(bits[i])
				}
			})
		}
	}
	if err == nil && !o.Pattern {
		err = r.gather(whole.Val, own.Val, items, r.t.Size)
	}
	return st, err
}

// gatherList gathers the positions and the values of the entries of a vector.
func (r *rankGPU) gatherList(o device.Operand, counts []int) (st device.Store, err error) {
	s := r.s
	total := r.total(counts)
	var own, whole device.View
	var at device.Buffer // the positions of the own block
	err = r.run(func(d *device.Session, kernel func(string) device.Kernel) {
		own = r.keepView(d, d.Rows(o))
		ptr, idx := d.Alloc(16), d.Alloc(max(4*total, 4))
		at = idx.At(4 * r.before(counts))
		d.Each(kernel("hb_one_row"), 2, total, ptr)
		d.Each(kernel("hb_shift"), own.Entries, own.Idx, own.Entries, int32(s.cuts[r.c.Rank()]), at)
		whole = d.NewCSR(1, s.cols, r.t, ptr, idx, total)
		if o.Pattern {
			d.Fill(whole.Val, 1, total)
		}
		st = d.Result(whole, total)
	})
	if err == nil {
		err = r.gather(whole.Idx, at, counts, 4)
	}
	if err == nil && !o.Pattern {
		err = r.gather(whole.Val, own.Val, counts, r.t.Size)
	}
	return st, err
}

func (r *rankGPU) total(counts []int) (n int64) {
	for _, k := range counts {
		n += int64(k)
	}
	return n
}

// gatherRows gathers a listed matrix as gatherRowLists does: lengths of rows, or pairs of the rows
// that have entries, then columns and values.
func (r *rankGPU) gatherRows(o device.Operand, counts []int) (st device.Store, err error) {
	s, rank, total := r.s, r.c.Rank(), r.total(counts)
	few := total < int64(s.rows)/2
	extent := make([]int, r.c.Size())
	for i := range extent {
		extent[i] = s.cuts[i+1] - s.cuts[i]
	}
	m := int64(extent[rank])
	var own, whole device.View
	var filled, lens, idx, pairs device.Buffer
	vecs := int64(0)
	err = r.run(func(d *device.Session, kernel func(string) device.Kernel) {
		own = r.keepView(d, d.Rows(o))
		lens, idx = r.keep(d, d.Zeros(max(4*int64(s.rows), 4))), r.keep(d, d.Alloc(max(4*total, 4)))
		if !few {
			d.Each(kernel("hb_lengths"), m, own.Ptr, m, lens.At(4*r.before(extent)))
			return
		}
		flags := d.Alloc(max(m, 1))
		d.Each(kernel("hb_filled"), m, own.Ptr, m, flags)
		filled = r.keep(d, d.Scan(flags, m, 1))
		vecs = d.Read(filled, m)
	})
	if err != nil {
		return nil, err
	}
	var twos []int
	if few {
		all, err := spmd.AllGather(r.ctx, r.c, []int64{vecs})
		if err != nil {
			return nil, err
		}
		for _, n := range all {
			twos = append(twos, 2*int(n))
		}
		err = r.run(func(d *device.Session, kernel func(string) device.Kernel) {
			pairs = r.keep(d, d.Alloc(max(4*r.total(twos), 4)))
			d.Each(kernel("hb_pairs"), m, own.Ptr, filled, m, int32(s.cuts[rank]), pairs.At(4*r.before(twos)))
		})
		if err == nil {
			err = r.gather(pairs, pairs.At(4*r.before(twos)), twos, 4)
		}
		if err != nil {
			return nil, err
		}
	} else if err = r.gather(lens, lens.At(4*r.before(extent)), extent, 4); err != nil {
		return nil, err
	}
	err = r.run(func(d *device.Session, kernel func(string) device.Kernel) {
		if few { // lengths of the rows, all of them once
			base, n := d.Alloc(max(2*r.total(twos), 4)), r.total(twos)/2
			d.Each(kernel("hb_append"), n, pairs, n, int32(0), lens, base)
		}
		whole = d.NewCSR(s.rows, s.cols, r.t, d.Scan(lens, int64(s.rows), 4), idx, total)
		if o.Pattern {
			d.Fill(whole.Val, 1, total)
		}
		st = d.Result(whole, total)
	})
	if err == nil {
		err = r.gather(idx, own.Idx, counts, 4)
	}
	if err == nil && !o.Pattern {
		err = r.gather(whole.Val, own.Val, counts, r.t.Size)
	}
	return st, err
}

// gatherForm is how a matrix is gathered: by positions if dense, else as a list.
type gatherForm struct {
	dense, full bool
	total       int64
	items, bits []int // of each rank: positions, and bytes of presence bits
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
	for r := range len(s.cuts) - 1 {
		n := 0
		if f.dense {
			n = (s.cuts[r+1] - s.cuts[r]) * width
		}
		f.items, f.bits = append(f.items, n), append(f.bits, (n+7)/8)
	}
	return f
}
