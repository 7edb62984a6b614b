package program

import (
	"context"
	_ "embed"
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"sort"
	"time"
	"unsafe"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/model"
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
	ready bool
	hops  int
	h     *halo.Part   // the vertices, and what ranks exchange; without edges
	in    device.Store // edges by target

	ids, deg   device.Buffer // int32[vertices]: numbers and out-degrees in the whole graph
	send, recv device.Buffer // int32[]: the lists of h, all ranks in a row
	begins     [2][]int64    // where the list of each rank begins, of send and of recv
}

// Drop frees the memory. The caller holds the lock of the device, for which Drop of the edges would
// wait: the collector frees them.
func (p *devicePart) Drop() {
	for _, b := range []device.Buffer{p.ids, p.deg, p.send, p.recv} {
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

// partMaker makes the part of a rank. All its methods but those that say so are collectives.
type partMaker struct {
	s    *device.Session
	c    comm.Comm
	wait context.Context // of collectives
	cuts []int
	edge device.Type
	code device.Code
	in   device.View // the rows of the own vertices, by target
	out  device.View // the same, by source
	h    *halo.Part
	rows []hopRows // in-edges of the copies of each hop but the last
}

// hopRows are rows on the host.
type hopRows struct {
	ptr []int64
	idx []int32
	val []byte
}

// kernel returns a kernel of part.cu. It is no collective.
func (m *partMaker) kernel(name string) device.Kernel {
	if m.code == nil {
		m.code = m.s.Program(partKey{m.edge.Name}, func() device.Program { return partProgram(m.edge) })
	}
	return m.s.Kernel(m.code, "hb_part_"+name)
}

// makePart fills part with copies of the vertices within some in-hops; choose decides how many if
// hops is AutoHops.
func (m *partMaker) makePart(part *devicePart, hops int, choose func(shape *model.Halo, grown bool) (int, error)) error {
	h := &halo.Part{From: m.cuts[m.c.Rank()], To: m.cuts[m.c.Rank()+1]}
	m.h = h
	first, err := m.outside()
	if err != nil {
		return err
	}
	h.Hops = [][]int32{first}
	part.hops = hops
	if hops == AutoHops {
		if part.hops, err = m.chooseHops(choose); err != nil {
			return err
		}
	} else if err := m.growTo(hops); err != nil {
		return err
	}
	h.Hops = h.Hops[:min(part.hops, len(h.Hops))]
	return m.join(part)
}

// outside returns the sources of edges to own vertices that are not own, ascending. It is no
// collective.
func (m *partMaker) outside() (list []int32, err error) {
	s, n := m.s, m.cuts[len(m.cuts)-1]
	words := make([]uint32, (n+31)/32)
	if len(words) == 0 {
		return nil, s.Err()
	}
	marks := s.Zeros(4 * int64(len(words)))
	s.Each(m.kernel("outside"), m.in.Entries, m.in.Entries, m.in.Idx, int32(m.h.From), int32(m.h.To), marks)
	s.Download(unsafe.Pointer(&words[0]), marks, 4*int64(len(words)))
	s.Free(marks)
	if err := s.Err(); err != nil {
		return nil, err
	}
	for k, word := range words {
		for ; word != 0; word &= word - 1 {
			list = append(list, int32(32*k+bits.TrailingZeros32(word)))
		}
	}
	return list, nil
}

// growTo finds the copies of hops 2 … hops. It ends early if no rank has another one.
func (m *partMaker) growTo(hops int) error {
	for k := 1; k < hops; k++ {
		grown, _, err := m.grow()
		if err != nil || !grown {
			return err
		}
	}
	return nil
}

// chooseHops finds the number of hops with the least predicted time.
func (m *partMaker) chooseHops(choose func(shape *model.Halo, grown bool) (int, error)) (int, error) {
	h := m.h
	all, err := halo.GatherRank(m.wait, m.c, []int64{int64(h.To - h.From), m.in.Entries, int64(len(h.Hops[0]))})
	if err != nil {
		return 0, err
	}
	shape := &model.Halo{Parts: m.c.Size()}
	for r := 0; r < len(all); r += 3 {
		shape.Vertices, shape.Edges = append(shape.Vertices, all[r]), append(shape.Edges, all[r+1])
		shape.R, shape.E = append(shape.R, []int64{all[r+2]}), append(shape.E, []int64{0})
	}
	if best, err := choose(halo.SecondHop(shape), true); err != nil || best == 1 {
		return 1, err
	}
	for hops := 2; hops <= halo.MostHops; hops++ {
		grown, counts, err := m.grow()
		if err != nil {
			return 0, err
		}
		for r, n := range counts {
			shape.E[r][len(shape.E[r])-1] = n[1]
			shape.R[r], shape.E[r] = append(shape.R[r], n[0]), append(shape.E[r], 0)
		}
		best, err := choose(shape, grown)
		if err != nil || !grown || best < hops {
			return best, err
		}
	}
	return halo.MostHops, nil
}

// grow fetches the in-edges of the last hop, and finds the next one. It reports whether that has a
// vertex on any rank, and of each rank the vertices and those edges.
func (m *partMaker) grow() (grown bool, counts [][2]int64, err error) {
	h := m.h
	rows, err := m.fetch(h.Hops[len(h.Hops)-1])
	if err != nil {
		return false, nil, err
	}
	m.rows = append(m.rows, rows)
	h.Hops = append(h.Hops, h.Outside(rows.idx))
	all, err := halo.GatherRank(m.wait, m.c, []int64{int64(len(h.Hops[len(h.Hops)-1])), int64(len(rows.idx))})
	for r := 0; r < len(all); r += 2 {
		grown = grown || all[r] > 0
		counts = append(counts, [2]int64{all[r], all[r+1]})
	}
	return grown, counts, err
}

// fetch returns in-edges of other ranks' vertices, in ascending order.
func (m *partMaker) fetch(list []int32) (rows hopRows, err error) {
	c, p := m.c, m.c.Size()
	want := make([]int, p)
	for r := range want {
		lo := sort.Search(len(list), func(k int) bool { return int(list[k]) >= m.cuts[r] })
		hi := sort.Search(len(list), func(k int) bool { return int(list[k]) >= m.cuts[r+1] })
		want[r] = hi - lo
	}
	own, asked, err := halo.AskOwners(m.wait, c, list, want)
	if err != nil {
		return rows, err
	}
	answer, err := m.taken(own)
	if err != nil {
		return rows, err
	}
	lengths, sent := make([]int32, len(own)), make([]int, p)
	for r, k := 0, 0; r < p; r++ {
		for range asked[r] {
			lengths[k] = int32(answer.ptr[k+1] - answer.ptr[k])
			sent[r] += int(lengths[k])
			k++
		}
	}
	came, got := make([]int32, len(list)), make([]int, p)
	if err := c.AllToAllV(m.wait, comm.Host(came), want, comm.Host(lengths), asked); err != nil {
		return rows, err
	}
	rows.ptr = make([]int64, 1, len(list)+1)
	for r, k := 0, 0; r < p; r++ {
		for range want[r] {
			rows.ptr = append(rows.ptr, rows.ptr[k]+int64(came[k]))
			got[r] += int(came[k])
			k++
		}
	}
	total := int(rows.ptr[len(list)])
	rows.idx = make([]int32, total)
	if err := c.AllToAllV(m.wait, comm.Host(rows.idx), got, comm.Host(answer.idx), sent); err != nil || m.in.Val.Addr == 0 {
		return rows, err
	}
	rows.val = make([]byte, total*m.edge.Size)
	return rows, c.AllToAllV(m.wait, comm.Host(rows.val), times(got, m.edge.Size), comm.Host(answer.val), times(sent, m.edge.Size))
}

func times(counts []int, size int) []int {
	out := make([]int, len(counts))
	for k, n := range counts {
		out[k] = n * size
	}
	return out
}

// taken copies rows of own vertices to the host. It is no collective.
func (m *partMaker) taken(list []int32) (rows hopRows, err error) {
	s, n := m.s, int64(len(list))
	rows.ptr = make([]int64, n+1)
	if n == 0 {
		return rows, s.Err()
	}
	which, lengths := s.Ints(list), s.Alloc(4*n)
	s.Each(m.kernel("degrees"), n, n, which, int32(m.h.From), m.in.Ptr, lengths)
	count := make([]int32, n)
	s.Download(unsafe.Pointer(&count[0]), lengths, 4*n)
	for k, c := range count {
		rows.ptr[k+1] = rows.ptr[k] + int64(c)
	}
	total := rows.ptr[n]
	at, idx, val := s.Upload(unsafe.Pointer(&rows.ptr[0]), 8*n), s.Alloc(4*max(total, 1)), device.Buffer{}
	if m.in.Val.Addr != 0 {
		val = s.Alloc(int64(m.edge.Size) * max(total, 1))
	}
	s.Each(m.kernel("rows"), 32*n, n, which, int32(m.h.From), m.in.Ptr, m.in.Idx, m.in.Val, at, idx, val)
	if total > 0 {
		rows.idx = make([]int32, total)
		s.Download(unsafe.Pointer(&rows.idx[0]), idx, 4*total)
		if val.Addr != 0 {
			rows.val = make([]byte, total*int64(m.edge.Size))
			s.Download(unsafe.Pointer(&rows.val[0]), val, int64(len(rows.val)))
		}
	}
	s.Sync()
	runtime.KeepAlive(list)
	return rows, s.Err()
}

// join numbers the vertices, writes the in-edges, and finds what ranks exchange.
func (m *partMaker) join(part *devicePart) error {
	h, s := m.h, m.s
	copies := h.NumberAll()
	if err := h.Meet(m.wait, m.c, m.cuts); err != nil {
		return err
	}
	from := map[int32][2]int{} // hop and row of copies with known in-edges
	for k, hop := range h.Hops[:len(h.Hops)-1] {
		for row, v := range hop {
			from[v] = [2]int{k, row}
		}
	}
	size := int64(m.edge.Size)
	some := func(list []int32, base int64) (rows hopRows) { // of copies; entries begin at base
		rows.ptr = append(rows.ptr, base)
		for _, v := range list {
			if at, ok := from[v]; ok {
				src := &m.rows[at[0]]
				a, b := src.ptr[at[1]], src.ptr[at[1]+1]
				for _, u := range src.idx[a:b] {
					rows.idx = append(rows.idx, h.Number(u))
				}
				if src.val != nil {
					rows.val = append(rows.val, src.val[a*size:b*size]...)
				}
			}
			rows.ptr = append(rows.ptr, base+int64(len(rows.idx)))
		}
		return rows
	}
	n, own := len(h.Ids), m.in.Entries
	before := some(copies[:h.Lo], 0)
	base := int64(len(before.idx))
	after := some(copies[h.Lo:], base+own)
	entries := base + own + int64(len(after.idx))

	ptr, idx := s.Alloc(8*int64(n+1)), s.Alloc(4*max(entries, 1))
	upload(s, ptr, before.ptr[:h.Lo])
	s.Each(m.kernel("begins"), int64(h.Hi-h.Lo)+1, int64(h.Hi-h.Lo), m.in.Ptr, base, ptr.At(8*int64(h.Lo)))
	upload(s, ptr.At(8*int64(h.Hi+1)), after.ptr[1:])
	upload(s, idx, before.idx)
	s.Each(m.kernel("number"), own, own, m.in.Idx, int32(h.From), int32(h.To), int32(h.Lo), int32(len(copies)), s.Ints(copies), idx.At(4*base))
	upload(s, idx.At(4*(base+own)), after.idx)
	in := s.NewCSR(n, n, m.edge, ptr, idx, entries)
	if m.in.Val.Addr != 0 {
		upload(s, in.Val, before.val)
		s.Copy(in.Val.At(base*size), m.in.Val, own*size)
		upload(s, in.Val.At((base+own)*size), after.val)
	}
	degrees, err := m.degrees()
	if err != nil {
		return err
	}
	deg := s.Alloc(4 * max(int64(n), 1))
	upload(s, deg, degrees[:h.Lo])
	s.Each(m.kernel("degrees"), int64(h.Hi-h.Lo), int64(h.Hi-h.Lo), device.Buffer{}, int32(0), m.out.Ptr, deg.At(4*int64(h.Lo)))
	upload(s, deg.At(4*int64(h.Hi)), degrees[h.Lo:])

	part.h = h
	part.deg, part.ids = s.Retain(deg), s.Retain(s.Ints(h.Ids))
	for k, lists := range [][][]int32{h.Send, h.Recv} {
		flat, begins := slices.Concat(lists...), make([]int64, 1, len(lists)+1)
		for r, list := range lists {
			begins = append(begins, begins[r]+int64(len(list)))
		}
		part.begins[k] = begins
		b := s.Retain(s.Ints(flat))
		if k == 0 {
			part.send = b
		} else {
			part.recv = b
		}
		s.Sync()
		runtime.KeepAlive(flat)
	}
	part.in = s.Result(in, entries)
	s.Sync()
	for _, rows := range []hopRows{before, after} {
		runtime.KeepAlive(rows.ptr)
		runtime.KeepAlive(rows.idx)
		runtime.KeepAlive(rows.val)
	}
	runtime.KeepAlive(copies)
	runtime.KeepAlive(degrees)
	h.Hops, h.Rows = nil, nil
	part.ready = s.Err() == nil
	return s.Err()
}

// upload copies a list to the device, which must stay unchanged until the device has it.
func upload[T any](s *device.Session, to device.Buffer, list []T) {
	if len(list) > 0 {
		n := int64(len(list)) * int64(unsafe.Sizeof(list[0]))
		s.Copy(to, s.Upload(unsafe.Pointer(&list[0]), n), n)
	}
}

// degrees returns the out-degrees of the copies, ascending.
func (m *partMaker) degrees() ([]int32, error) {
	h, s, p := m.h, m.s, m.c.Size()
	asked := slices.Concat(h.Send...)
	own, n := make([]int32, len(asked)), int64(len(asked))
	if n > 0 {
		to := s.Alloc(4 * n)
		s.Each(m.kernel("degrees"), n, n, s.Ints(asked), int32(h.Lo), m.out.Ptr, to)
		s.Download(unsafe.Pointer(&own[0]), to, 4*n)
		runtime.KeepAlive(asked)
	}
	if err := s.Err(); err != nil {
		return nil, err
	}
	sent, got, total := make([]int, p), make([]int, p), 0
	for r := range p {
		sent[r], got[r] = len(h.Send[r]), len(h.Recv[r])
		total += got[r]
	}
	out := make([]int32, total)
	return out, m.c.AllToAllV(m.wait, comm.Host(out), got, comm.Host(own), sent)
}

// The figures of a device for AutoHops: bytes a second that a superstep moves, and its own time.
// They are estimates for an H100, not measurements; Options.Machine gives others.
const (
	deviceMemory = 1.5e12
	deviceLaunch = 8e-6
)

// measured times what a superstep exchanges between devices, for a few bytes and for a mebibyte.
func (m *partMaker) measured(name string) (*model.Machine, error) {
	const rounds, most = 15, 1 << 20
	p := m.c.Size()
	in, out := m.s.Alloc(most), m.s.Alloc(most)
	m.s.Sync()
	var own []float64
	for _, bytes := range []int{16 * p, most} {
		counts := slices.Repeat([]int{bytes / p}, p)
		var took []float64
		for range rounds {
			began := time.Now()
			if _, err := halo.GatherRank(m.wait, m.c, []int64{0, 0, 0}); err != nil {
				return nil, err
			}
			err := m.c.AllToAllV(m.wait, comm.OnDevice(in.Addr, comm.Uint8, bytes/p*p), counts, comm.OnDevice(out.Addr, comm.Uint8, bytes/p*p), counts)
			if err != nil {
				return nil, err
			}
			took = append(took, time.Since(began).Seconds())
		}
		slices.Sort(took)
		own = append(own, took[rounds/2])
	}
	all, err := halo.GatherRank(m.wait, m.c, own)
	if err != nil {
		return nil, err
	}
	m.s.Free(in)
	m.s.Free(out)
	slow := [2]float64{}
	for k, t := range all {
		slow[k%2] = max(slow[k%2], t)
	}
	return halo.MachineOf(name, p, slow, most, deviceMemory, deviceLaunch), m.s.Err()
}

// partOf returns the part of a rank, made before or now. All ranks make theirs if one has to.
func partOf(m *partMaker, in device.Operand, o Options, name string, state int) (*devicePart, error) {
	key := fmt.Sprintf("program: part of %d hops, values %t", o.Hops, m.in.Val.Addr != 0)
	if o.Hops == AutoHops {
		key += fmt.Sprintf(", of %d bytes", state)
		if o.Machine != nil {
			key += fmt.Sprintf(", by %v", *o.Machine)
		}
	}
	part, _ := m.s.Kept(in, key, func() device.Dropper { return &devicePart{} }).(*devicePart)
	if err := m.s.Err(); err != nil {
		return nil, err
	}
	all, err := halo.GatherRank(m.wait, m.c, []int64{int64(bit(part.ready))})
	if err != nil {
		return nil, err
	}
	if !slices.Contains(all, 0) {
		return part, nil
	}
	part.Drop() // of a rank that still has its part, or of an attempt that failed
	machine := o.Machine
	if o.Hops == AutoHops && machine == nil {
		if machine, err = m.measured(name); err != nil {
			return nil, err
		}
	}
	return part, m.makePart(part, o.Hops, func(shape *model.Halo, grown bool) (int, error) {
		return halo.Cheapest(machine, shape, grown, int64(m.edge.Size), int64(state))
	})
}
