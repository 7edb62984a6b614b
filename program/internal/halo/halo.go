// Package halo cuts a graph among the ranks of a group: each rank holds its own vertices and copies
// of those within some in-hops, so that it exchanges states once in as many supersteps. A rank has
// its edges on the host or on a device, which implement Edges; all else is the same.
package halo

import (
	"slices"
	"sort"
	"unsafe"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/model"
	"github.com/hiveblas/hiveblas/comm/spmd"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Part is the vertices of a rank: its own, and copies of those within some in-hops. Vertices are
// numbered from 0 in the order of their numbers in the whole graph, so that sums over in-edges keep
// their order.
type Part struct {
	From, To   int       // own vertices in the whole graph
	Hops       int       // the supersteps that the copies last for
	Ids        []int32   // of all vertices, in the whole graph
	Lo, Hi     int       // own vertices
	Send, Recv [][]int32 // for each rank: own vertices that it copies, and copies of its vertices
}

// Rows are in-edges of some vertices, on the host. Sources are numbers in the whole graph.
type Rows struct {
	Ptr []int64
	Idx []int32
	Val []byte // of edges that have values
}

// Edges are the edges of the own vertices of a rank. The methods make no collectives.
type Edges interface {
	// In returns the number of in-edges, and the bytes of the value of an edge, 0 for a pattern.
	In() (entries int64, size int)
	// Outside returns the sources of in-edges that are not own vertices, ascending.
	Outside(from, to int) ([]int32, error)
	// Rows returns the in-edges of own vertices, by their numbers in the whole graph.
	Rows(list []int32) (Rows, error)
	// Degrees returns the out-degrees of own vertices, by their numbers in the whole graph.
	Degrees(list []int32) ([]int32, error)
	// Join makes the part with the in-edges of all vertices. The in-edges of the copies before the
	// own vertices, and of those after them, have the numbers of the part as sources; their offsets
	// count all in-edges of the part. degrees has the out-degrees of the copies.
	Join(p *Part, before, after Rows, degrees []int32) error
	// Buffers returns memory of so many bytes to receive and to send, where states are.
	Buffers(bytes int) (in, out comm.Buffer, err error)
}

// Options say which copies a rank holds.
type Options struct {
	Hops  int   // of copies; Choose by the model
	Edge  int64 // bytes of the value of an edge
	State int64 // bytes of a state
	// Machine has the figures of the model. Without it the exchange is measured, and Memory and
	// Launch are the bytes a second that a superstep moves, and its own time in seconds.
	Machine        *model.Machine
	Memory, Launch float64
}

// maker makes the part of a rank.
type maker struct {
	s     *spmd.Session
	c     comm.Comm
	cuts  []int
	edges Edges
	o     Options
	p     *Part
	hops  [][]int32   // the copies of each
	rows  []Rows      // the in-edges of the copies of each hop but the last
	shape *model.Halo // of the hops so far
	size  int         // bytes of the value of an edge, 0 for a pattern
	lost  error       // of local work; the ranks hear of it in the next agreement
}

// Make finds the vertices around the own vertices of a rank and joins the edges of both. Rank r
// owns vertices cuts[r] … cuts[r+1]−1. Make is a collective of all ranks, within Each of the
// session. After an error of the edges on one rank the group stays usable.
func Make(s *spmd.Session, c comm.Comm, cuts []int, edges Edges, o Options) (*Part, error) {
	m := &maker{s: s, c: c, cuts: cuts, edges: edges, o: o, p: &Part{From: cuts[c.Rank()], To: cuts[c.Rank()+1]}}
	first, err := edges.Outside(m.p.From, m.p.To)
	m.fail(err)
	m.hops = [][]int32{first}
	if m.p.Hops, err = m.surround(); err != nil {
		return nil, err
	}
	if err := m.join(); err != nil {
		return nil, err
	}
	return m.p, nil
}

// fail keeps the first error of local work.
func (m *maker) fail(err error) {
	if m.lost == nil {
		m.lost = err
	}
}

// surround finds the copies, and returns the number of hops.
func (m *maker) surround() (hops int, err error) {
	if m.o.Hops == 1 {
		return 1, nil
	}
	if err := m.count(); err != nil {
		return 0, err
	}
	auto, machine := m.o.Hops == Choose, m.o.Machine
	if hops = m.o.Hops; auto {
		hops = MostHops
		if machine == nil {
			if machine, err = m.measure(); err != nil {
				return 0, err
			}
		}
		if m.cheapest(machine, secondHop(m.shape), true) == 1 {
			return 1, nil
		}
	}
	for known := 2; known <= hops; known++ {
		grown, err := m.grow()
		if err != nil {
			return 0, err
		}
		if auto {
			if best := m.cheapest(machine, m.shape, grown); !grown || best < known {
				return best, nil
			}
		} else if !grown { // every vertex that can reach an own one has a copy here
			break
		}
	}
	return hops, nil
}

// count finds the shape of the first hop.
func (m *maker) count() error {
	entries, size := m.edges.In()
	all, err := spmd.Agree(m.s, m.c, []int64{int64(m.p.To - m.p.From), entries, int64(len(m.hops[0])), int64(size)}, m.lost)
	if err != nil {
		return err
	}
	m.shape = &model.Halo{Parts: m.c.Size()}
	for ; len(all) > 0; all = all[4:] {
		m.shape.Vertices, m.shape.Edges = append(m.shape.Vertices, all[0]), append(m.shape.Edges, all[1])
		m.shape.R, m.shape.E = append(m.shape.R, []int64{all[2]}), append(m.shape.E, []int64{0})
		m.size = max(m.size, int(all[3]))
	}
	return nil
}

// grow fetches the in-edges of the last hop, and finds the next one. It reports whether that has a
// vertex on any rank.
func (m *maker) grow() (grown bool, err error) {
	rows, err := m.fetch(m.hops[len(m.hops)-1])
	if err != nil {
		return false, err
	}
	next := outside(rows.Idx, m.p.From, m.p.To, m.hops)
	m.rows, m.hops = append(m.rows, rows), append(m.hops, next)
	all, err := spmd.Agree(m.s, m.c, []int64{int64(len(next)), int64(len(rows.Idx))}, m.lost)
	for r := range len(all) / 2 {
		n, s := all[2*r:], m.shape
		grown = grown || n[0] > 0
		s.E[r][len(s.E[r])-1] = n[1]
		s.R[r], s.E[r] = append(s.R[r], n[0]), append(s.E[r], 0)
	}
	return grown, err
}

// outside returns the vertices of a list that are not among from … to−1 and in no hop, ascending.
func outside(list []int32, from, to int, hops [][]int32) (out []int32) {
	for _, u := range list {
		if int(u) < from || int(u) >= to {
			out = append(out, u)
		}
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(u int32) bool {
		return slices.ContainsFunc(hops, func(hop []int32) bool {
			_, ok := slices.BinarySearch(hop, u)
			return ok
		})
	})
}

// ask sends each rank the vertices of an ascending list that it owns, want[r] of them to rank r. It
// returns what the others ask of this rank, and how many each asks.
func (m *maker) ask(list []int32) (own []int32, asked, want []int, err error) {
	want = make([]int, m.c.Size())
	for r := range want {
		want[r] = position(list, m.cuts[r+1]) - position(list, m.cuts[r])
	}
	own, asked, err = spmd.AllToAllLists(m.s.Wait, m.c, list, want)
	return own, asked, want, err
}

// fetch returns in-edges of other ranks' vertices, in ascending order.
func (m *maker) fetch(list []int32) (rows Rows, err error) {
	own, asked, want, err := m.ask(list)
	if err != nil {
		return rows, err
	}
	answer, err := m.edges.Rows(own)
	if m.fail(err); err != nil { // without edges; grow agrees on the error
		answer = Rows{Ptr: make([]int64, len(own)+1)}
	}
	lengths := make([]int32, len(own))
	for k := range lengths {
		lengths[k] = int32(answer.Ptr[k+1] - answer.Ptr[k])
	}
	wait, c := m.s.Wait, m.c
	came, err := spmd.AllToAll(wait, c, lengths, asked, want)
	if err != nil {
		return rows, err
	}
	rows.Ptr = make([]int64, 1, len(list)+1)
	for k, n := range came {
		rows.Ptr = append(rows.Ptr, rows.Ptr[k]+int64(n))
	}
	sent, got := spans(answer.Ptr, asked, 1), spans(rows.Ptr, want, 1)
	if rows.Idx, err = spmd.AllToAll(wait, c, answer.Idx, sent, got); err != nil || m.size == 0 {
		return rows, err
	}
	rows.Val, err = spmd.AllToAll(wait, c, answer.Val, spans(answer.Ptr, asked, m.size), spans(rows.Ptr, want, m.size))
	return rows, err
}

// spans returns the entries of the next rows[r] rows for each rank, times a size.
func spans(ptr []int64, rows []int, size int) []int {
	out := make([]int, len(rows))
	for r, n := range rows {
		out[r] = size * int(ptr[n]-ptr[0])
		ptr = ptr[n:]
	}
	return out
}

// position returns how many vertices of an ascending list are less than v.
func position(list []int32, v int) int {
	return sort.Search(len(list), func(k int) bool { return int(list[k]) >= v })
}

// join numbers the vertices, finds what ranks exchange, and joins the edges.
func (m *maker) join() error {
	p := m.p
	m.hops = m.hops[:min(p.Hops, len(m.hops))]
	copies := slices.Concat(m.hops...)
	slices.Sort(copies)
	p.Lo = position(copies, p.From)
	p.Hi = p.Lo + p.To - p.From
	p.Ids = slices.Concat(copies[:p.Lo], UpTo(p.From, p.To), copies[p.Lo:])
	asked, sent, got, err := m.ask(copies)
	if err != nil {
		return err
	}
	own, err := m.edges.Degrees(asked)
	if m.fail(err); err != nil {
		own = asked // of no use; the ranks agree on the error below
	}
	degrees, err := spmd.AllToAll(m.s.Wait, m.c, own, sent, got)
	if err != nil {
		return err
	}
	for r, n := range sent {
		first := position(p.Ids, m.cuts[r])
		p.Recv = append(p.Recv, UpTo(first, first+got[r]))
		p.Send = append(p.Send, UpTo(0, n))
		for k, u := range asked[:n] {
			p.Send[r][k] = p.Number(u)
		}
		asked = asked[n:]
	}
	from := map[int32][2]int{} // hop and row of copies with known in-edges
	for k, hop := range m.hops[:len(m.hops)-1] {
		for row, v := range hop {
			from[v] = [2]int{k, row}
		}
	}
	entries, _ := m.edges.In()
	before := m.known(from, copies[:p.Lo], 0)
	after := m.known(from, copies[p.Lo:], before.Ptr[p.Lo]+entries)
	if m.lost == nil {
		m.lost = m.edges.Join(p, before, after, degrees)
	}
	_, err = spmd.Agree(m.s, m.c, []int64{}, m.lost)
	return err
}

// known returns the known in-edges of copies, with the numbers of the part; offsets begin at base.
func (m *maker) known(from map[int32][2]int, list []int32, base int64) (rows Rows) {
	rows.Ptr = append(make([]int64, 0, len(list)+1), base)
	for _, v := range list {
		if at, ok := from[v]; ok {
			src := &m.rows[at[0]]
			a, b := src.Ptr[at[1]], src.Ptr[at[1]+1]
			for _, u := range src.Idx[a:b] {
				rows.Idx = append(rows.Idx, m.p.Number(u))
			}
			rows.Val = append(rows.Val, src.Val[a*int64(m.size):b*int64(m.size)]...)
		}
		rows.Ptr = append(rows.Ptr, base+int64(len(rows.Idx)))
	}
	return rows
}

// UpTo returns from … to−1.
func UpTo(from, to int) []int32 {
	list := make([]int32, to-from)
	for k := range list {
		list[k] = int32(from + k)
	}
	return list
}

// Number returns the number here of a vertex of the whole graph, which is here.
func (p *Part) Number(u int32) int32 {
	if int(u) >= p.From && int(u) < p.To {
		return u - int32(p.From) + int32(p.Lo)
	}
	at, _ := slices.BinarySearch(p.Ids, u)
	return int32(at)
}

// Find returns the number here of a vertex of the whole graph, and whether it is here.
func (p *Part) Find(u int32) (int32, bool) {
	v := p.Number(u)
	return v, int(v) < len(p.Ids) && p.Ids[v] == u
}

// Exchange refreshes the states of the copies on the host, of so many bytes each. active holds 1
// for each own vertex that is active. Exchange returns the copies that are active.
func (p *Part) Exchange(s *spmd.Session, c comm.Comm, states sparse.Values, size int, active []uint8) (fresh []int32, err error) {
	raw := unsafe.Slice((*byte)(states.Pointer()), states.Len()*size)
	sent, got := make([]int, c.Size()), make([]int, c.Size())
	var out []byte
	for r, list := range p.Send {
		sent[r], got[r] = len(list)*(size+1), len(p.Recv[r])*(size+1)
		out = slices.Grow(out, sent[r])
		for _, v := range list {
			out = append(out, raw[int(v)*size:(int(v)+1)*size]...)
		}
		for _, v := range list {
			out = append(out, active[v])
		}
	}
	in, err := spmd.AllToAll(s.Wait, c, out, sent, got)
	if err != nil {
		return nil, err
	}
	for _, list := range p.Recv {
		for _, v := range list {
			in = in[copy(raw[int(v)*size:(int(v)+1)*size], in):]
		}
		for k, v := range list {
			if in[k] != 0 {
				fresh = append(fresh, v)
			}
		}
		in = in[len(list):]
	}
	return fresh, nil
}
