package program

import (
	_ "embed"
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/spmd"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/program/internal/halo"
)

// This file makes the part of a graph that a rank has on its device: see halo. The edges of the own
// vertices stay on the device. What goes through the host are the copies: their numbers, the
// in-edges of those that have some, and out-degrees. The part is kept with the in-edges of the
// rank.

//go:embed kernels/part.cu
var partText string

// devicePart is the part of a graph of one rank.
type devicePart struct {
	h  *halo.Part   // nil until the part is made
	in device.Store // edges by target

	ids, deg device.Buffer    // int32[vertices]: numbers and out-degrees in the whole graph
	lists    [2]device.Buffer // int32[]: Send and Recv of h, all ranks in a row
	begins   [2][]int64       // where the list of each rank begins
}

// Drop frees the memory. The caller holds the lock of the device, for which Drop of the edges would
// wait: the collector frees them.
func (p *devicePart) Drop() {
	for _, b := range []device.Buffer{p.ids, p.deg, p.lists[0], p.lists[1]} {
		b.Release()
	}
	*p = devicePart{}
}

// partKey tells programs of part.cu apart.
type partKey struct{ edge string }

func partProgram(edge device.Type) device.Program {
	return device.Program{File: "program/part", Of: "parts of graphs with edges of " + edge.Go, Body: partText,
		Types: []device.Typedef{{Name: "HB_E", Type: edge}}}
}

// deviceEdges are the edges of the own vertices of a rank on its device; see halo.Edges.
type deviceEdges struct {
	s     *device.Session
	first int32 // own vertex
	edge  device.Type
	code  device.Code
	in    device.View // the rows of the own vertices, by target
	out   device.View // the same, by source
	part  *devicePart // gets the part
}

// kernel returns a kernel of part.cu.
func (m *deviceEdges) kernel(name string) device.Kernel {
	if m.code == nil {
		m.code = m.s.Program(partKey{m.edge.Name}, func() device.Program { return partProgram(m.edge) })
	}
	return m.s.Kernel(m.code, "hb_part_"+name)
}

func (m *deviceEdges) In() (entries int64, size int) {
	if m.in.Val.Addr == 0 {
		return m.in.Entries, 0
	}
	return m.in.Entries, m.edge.Size
}

func (m *deviceEdges) Outside(from, to int) ([]int32, error) {
	s, n := m.s, m.in.Cols
	words := make([]uint32, (n+31)/32)
	if len(words) == 0 {
		return nil, s.Err()
	}
	marks := s.Zeros(4 * int64(len(words)))
	s.Each(m.kernel("outside"), m.in.Entries, m.in.Entries, m.in.Idx, int32(from), int32(to), marks)
	s.Download(unsafe.Pointer(&words[0]), marks, 4*int64(len(words)))
	s.Free(marks)
	return halo.Marked(words), s.Err()
}

func (m *deviceEdges) Rows(list []int32) (rows halo.Rows, err error) {
	s, n := m.s, int64(len(list))
	rows.Ptr = make([]int64, n+1)
	if n == 0 {
		return rows, s.Err()
	}
	which := s.Ints(list)
	for k, c := range m.lengths(m.in, list) {
		rows.Ptr[k+1] = rows.Ptr[k] + int64(c)
	}
	total := rows.Ptr[n]
	at, idx, val := s.Upload(unsafe.Pointer(&rows.Ptr[0]), 8*n), s.Alloc(4*max(total, 1)), device.Buffer{}
	if m.in.Val.Addr != 0 {
		val = s.Alloc(int64(m.edge.Size) * max(total, 1))
	}
	s.Each(m.kernel("rows"), 32*n, n, which, m.first, m.in.Ptr, m.in.Idx, m.in.Val, at, idx, val)
	if total > 0 {
		rows.Idx = make([]int32, total)
		s.Download(unsafe.Pointer(&rows.Idx[0]), idx, 4*total)
		if val.Addr != 0 {
			rows.Val = make([]byte, total*int64(m.edge.Size))
			s.Download(unsafe.Pointer(&rows.Val[0]), val, int64(len(rows.Val)))
		}
	}
	s.Sync()
	runtime.KeepAlive(list)
	return rows, s.Err()
}

// lengths returns the entries of rows of own vertices.
func (m *deviceEdges) lengths(rows device.View, list []int32) []int32 {
	s, n := m.s, int64(len(list))
	count := make([]int32, n)
	if n > 0 {
		to := s.Alloc(4 * n)
		s.Each(m.kernel("degrees"), n, n, s.Ints(list), m.first, rows.Ptr, to)
		s.Download(unsafe.Pointer(&count[0]), to, 4*n)
	}
	return count
}

func (m *deviceEdges) Degrees(list []int32) ([]int32, error) {
	return m.lengths(m.out, list), m.s.Err()
}

func (m *deviceEdges) Join(h *halo.Part, before, after halo.Rows, degrees []int32) error {
	s, part, size := m.s, m.part, int64(m.edge.Size)
	n, own, rows := len(h.Ids), m.in.Entries, int64(h.Hi-h.Lo)
	base := int64(len(before.Idx))
	entries := base + own + int64(len(after.Idx))
	copies := slices.Concat(h.Ids[:h.Lo], h.Ids[h.Hi:])

	ptr, idx := s.Alloc(8*int64(n+1)), s.Alloc(4*max(entries, 1))
	upload(s, ptr, before.Ptr[:h.Lo])
	s.Each(m.kernel("begins"), rows+1, rows, m.in.Ptr, base, ptr.At(8*int64(h.Lo)))
	upload(s, ptr.At(8*int64(h.Hi+1)), after.Ptr[1:])
	upload(s, idx, before.Idx)
	s.Each(m.kernel("number"), own, own, m.in.Idx, int32(h.From), int32(h.To), int32(h.Lo), int32(len(copies)), s.Ints(copies), idx.At(4*base))
	upload(s, idx.At(4*(base+own)), after.Idx)
	in := s.NewCSR(n, n, m.edge, ptr, idx, entries)
	if m.in.Val.Addr != 0 {
		upload(s, in.Val, before.Val)
		s.Copy(in.Val.At(base*size), m.in.Val, own*size)
		upload(s, in.Val.At((base+own)*size), after.Val)
	}
	deg := s.Alloc(4 * max(int64(n), 1))
	upload(s, deg, degrees[:h.Lo])
	s.Each(m.kernel("degrees"), rows, rows, device.Buffer{}, int32(0), m.out.Ptr, deg.At(4*int64(h.Lo)))
	upload(s, deg.At(4*int64(h.Hi)), degrees[h.Lo:])

	part.deg, part.ids = s.Retain(deg), s.Retain(s.Ints(h.Ids))
	for k, lists := range [][][]int32{h.Send, h.Recv} {
		flat, begins := slices.Concat(lists...), make([]int64, 1, len(lists)+1)
		for r, list := range lists {
			begins = append(begins, begins[r]+int64(len(list)))
		}
		part.begins[k], part.lists[k] = begins, s.Retain(s.Ints(flat))
		s.Sync()
		runtime.KeepAlive(flat)
	}
	part.in = s.Result(in, entries)
	s.Sync()
	runtime.KeepAlive([]any{before, after, copies, degrees})
	return s.Err()
}

func (m *deviceEdges) Buffers(bytes int) (in, out comm.Buffer, err error) {
	to, from := m.s.Alloc(int64(bytes)), m.s.Alloc(int64(bytes))
	m.s.Sync()
	return comm.OnDevice(to.Addr, comm.Uint8, bytes), comm.OnDevice(from.Addr, comm.Uint8, bytes), m.s.Err()
}

// upload copies a list to the device, which must stay unchanged until the device has it.
func upload[T any](s *device.Session, to device.Buffer, list []T) {
	if len(list) > 0 {
		n := int64(len(list)) * int64(unsafe.Sizeof(list[0]))
		s.Copy(to, s.Upload(unsafe.Pointer(&list[0]), n), n)
	}
}

// The figures of a device for AutoHops: bytes a second that a superstep moves, and its own time.
// They are estimates for an H100, not measurements; Options.Machine gives others.
const (
	deviceMemory = 1.5e12
	deviceLaunch = 8e-6
)

// partOn returns the part of a rank on its device, made before or now. All ranks make theirs if one
// has to.
func (r *rank) partOn(s *device.Session, d *deviceProgram, in, out device.Operand) (*devicePart, error) {
	edges := &deviceEdges{s: s, first: int32(r.cuts[r.c.Rank()]), edge: d.edge, in: s.Rows(in), out: s.Rows(out)}
	key := fmt.Sprintf("program: part of %d hops, values %t", r.o.Hops, edges.in.Val.Addr != 0)
	if r.o.Hops == AutoHops {
		key += fmt.Sprintf(", of %d bytes", d.state.Size)
		if r.o.Machine != nil {
			key += fmt.Sprintf(", by %v", *r.o.Machine)
		}
	}
	part, _ := s.Kept(in, key, func() device.Dropper { return &devicePart{} }).(*devicePart)
	if part == nil {
		part = &devicePart{} // the session has failed
	}
	all, err := spmd.Agree(r.s, r.c, []bool{part.h != nil}, s.Err())
	if err != nil || !slices.Contains(all, false) {
		return part, err
	}
	part.Drop() // of a rank that still has its part, or of an attempt that failed
	edges.part = part
	part.h, err = halo.Make(r.s, r.c, r.cuts, edges, r.partOptions(int64(d.edge.Size), int64(d.state.Size), deviceMemory, deviceLaunch))
	return part, err
}
