// Package halo cuts a graph among the ranks of a group: each rank holds its own vertices and copies
// of those within some in-hops, so that it exchanges states once in as many supersteps.
package halo

import (
	"context"
	"slices"
	"sort"
	"unsafe"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/model"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// MostHops is the number of hops up to which AutoHops looks.
const MostHops = 32

// choose is AutoHops of package program.
const choose = -1

// Part is the part of a graph that a rank of this process holds: its own vertices, and copies of
// those within some in-hops. Vertices are numbered from 0 in the order of their numbers in the
// whole graph, so that sums over in-edges keep their order.
type Part struct {
	From, To int // own vertices in the whole graph
	Hops     [][]int32
	Rows     []*sparse.Store // of hops but the last: their in-edges

	Ids        []int32       // of all vertices, in the whole graph
	Lo, Hi     int           // own vertices
	In         *sparse.Store // in-edges of all vertices before the last hop
	Deg        []int32       // out-degrees in the whole graph
	Send, Recv [][]int32     // for each rank: own vertices that it copies, and copies of its vertices
}

// Graph is a graph on a group.
type Graph struct {
	ctx  context.Context // of collectives
	g    *comm.Group
	a    rep.View
	Cuts []int
	own  []*sparse.Store // the in-edges of each rank of this process
	Part []*Part
	Hops int
}

// Cut finds the vertices around the blocks of a graph. A state has so many bytes. It is a
// collective.
func Cut(ctx context.Context, g *comm.Group, a rep.View, hops int, m *model.Machine, state int64) (*Graph, error) {
	c := &Graph{ctx: ctx, g: g, a: a}
	var err error
	if c.Cuts, err = a.Cuts(ctx, g); err != nil {
		return nil, err
	}
	in, err := a.T().Parts(rep.Query{Group: g, Context: ctx, Cuts: c.Cuts})
	if err != nil {
		return nil, err
	}
	for k, r := range g.Ranks() {
		st := WithOffsets(in[k].Rows())
		c.own = append(c.own, st)
		h := &Part{From: c.Cuts[r.Rank()], To: c.Cuts[r.Rank()+1]}
		h.Hops = [][]int32{h.Outside(st.Idx)}
		c.Part = append(c.Part, h)
	}
	edge, auto := a.Type().Size, hops == choose
	if auto {
		hops = MostHops
	}
	var shape *model.Halo
	if auto {
		if shape, err = c.shape(); err == nil && m == nil {
			m, err = measure(ctx, g)
		}
		if err != nil {
			return nil, err
		}
		if !promising(m, shape, edge, state) {
			hops = 1
		}
	}
	for c.Hops = 1; c.Hops < hops; c.Hops++ {
		grown, err := c.grow(shape)
		if err != nil {
			return nil, err
		}
		if auto {
			best, err := Cheapest(m, shape, grown, edge, state)
			if err != nil {
				return nil, err
			}
			if !grown || best < c.Hops { // the last two hops did not pay
				c.Hops = best
				break
			}
		} else if !grown { // every vertex that can reach a block has a copy there
			c.Hops = hops
			break
		}
	}
	return c, c.join()
}

// promising reports whether a second hop may pay, for edges and states of so many bytes.
func promising(m *model.Machine, shape *model.Halo, edge, state int64) bool {
	best, err := Cheapest(m, SecondHop(shape), true, edge, state)
	return err != nil || best > 1
}

// SecondHop is the shape with a second hop without vertices, if the copies of the first have
// in-edges as own vertices do: fetching them, to count them, costs as much as many supersteps where
// they are many.
func SecondHop(shape *model.Halo) *model.Halo {
	one := *shape
	one.R, one.E = nil, nil
	for i := range shape.R {
		degree := float64(shape.Edges[i]) / float64(max(shape.Vertices[i], 1))
		edges := int64(degree * float64(shape.R[i][0]))
		one.R, one.E = append(one.R, []int64{shape.R[i][0], 0}), append(one.E, []int64{edges, 0})
	}
	return &one
}

// Cheapest returns the number of hops with the least time by the model. If the copies do not grow,
// more hops than those known cost nothing.
func Cheapest(m *model.Machine, shape *model.Halo, grown bool, edge, state int64) (int, error) {
	if !grown {
		for r := range shape.R {
			for len(shape.R[r]) < MostHops {
				shape.R[r], shape.E[r] = append(shape.R[r], 0), append(shape.E[r], 0)
			}
		}
	}
	_, best, err := m.Cost(shape, model.HopOptions{EdgeBytes: float64(4 + edge + state), ValueBytes: float64(state + 1)})
	return best + 1, err
}

// Outside returns the columns of a list that are no own vertices and in no hop so far, ascending.
func (h *Part) Outside(idx []int32) (list []int32) {
	for _, u := range idx {
		if int(u) < h.From || int(u) >= h.To {
			list = append(list, u)
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	return slices.DeleteFunc(list, func(u int32) bool {
		for _, hop := range h.Hops {
			if _, ok := slices.BinarySearch(hop, u); ok {
				return true
			}
		}
		return false
	})
}

// grow fetches the in-edges of the last hop, and finds the next one. It reports whether that has a
// vertex on any rank.
func (c *Graph) grow(shape *model.Halo) (bool, error) {
	last := make([][]int32, len(c.Part))
	for k, h := range c.Part {
		last[k] = h.Hops[len(h.Hops)-1]
	}
	lists, err := c.lists(last)
	if err != nil {
		return false, err
	}
	rows, err := c.a.T().Parts(rep.Query{Group: c.g, Context: c.ctx, Cuts: c.Cuts,
		Rows: func(rank int) []int32 { return lists[rank] }})
	if err != nil {
		return false, err
	}
	counts := make([][]int64, len(c.Part))
	for k, h := range c.Part {
		st := WithOffsets(rows[k].Rows())
		h.Rows = append(h.Rows, st)
		h.Hops = append(h.Hops, h.Outside(st.Idx))
		counts[k] = []int64{int64(len(h.Hops[len(h.Hops)-1])), int64(len(st.Idx))}
	}
	all, err := gatherAll(c.ctx, c.g, counts)
	if err != nil {
		return false, err
	}
	grown := false
	for r, n := range all {
		grown = grown || n[0] > 0
		if shape != nil {
			shape.E[r][len(shape.E[r])-1] = n[1]
			shape.R[r], shape.E[r] = append(shape.R[r], n[0]), append(shape.E[r], 0)
		}
	}
	return grown, nil
}

// shape returns the counts of the first hop.
func (c *Graph) shape() (*model.Halo, error) {
	counts := make([][]int64, len(c.Part))
	for k, h := range c.Part {
		counts[k] = []int64{int64(h.To - h.From), int64(len(c.own[k].Idx)), int64(len(h.Hops[0]))}
	}
	all, err := gatherAll(c.ctx, c.g, counts)
	s := &model.Halo{Parts: c.g.Size()}
	for _, n := range all {
		s.Vertices, s.Edges = append(s.Vertices, n[0]), append(s.Edges, n[1])
		s.R, s.E = append(s.R, []int64{n[2]}), append(s.E, []int64{0})
	}
	return s, err
}

// lists gives every process the list of every rank.
func (c *Graph) lists(own [][]int32) ([][]int32, error) {
	lengths := make([][]int64, len(own))
	for k, list := range own {
		lengths[k] = []int64{int64(len(list))}
	}
	all, err := gatherAll(c.ctx, c.g, lengths)
	if err != nil {
		return nil, err
	}
	counts, n := make([]int, len(all)), 0
	for r := range all {
		counts[r] = int(all[r][0])
		n += counts[r]
	}
	var flat []int32
	err = c.g.Each(func(k int, r comm.Comm) error {
		dst := make([]int32, n)
		if err := r.AllGatherV(c.ctx, comm.Host(dst), counts, comm.Host(own[k])); err != nil {
			return err
		}
		if k == 0 {
			flat = dst
		}
		return nil
	})
	out := make([][]int32, len(all))
	for r, count := range counts {
		if err == nil {
			out[r], flat = flat[:count], flat[count:]
		}
	}
	return out, err
}

// gatherAll gives every process the values of every rank, equally many each.
func gatherAll[T comm.Element](ctx context.Context, g *comm.Group, own [][]T) ([][]T, error) {
	many := len(own[0])
	out := make([][]T, g.Size())
	err := g.Each(func(k int, r comm.Comm) error {
		all, err := GatherRank(ctx, r, own[k])
		if k == 0 && err == nil {
			for i := range out {
				out[i] = all[i*many : (i+1)*many]
			}
		}
		return err
	})
	return out, err
}

// GatherRank gives a rank the values of every rank, equally many each.
func GatherRank[T comm.Element](ctx context.Context, r comm.Comm, own []T) ([]T, error) {
	counts := make([]int, r.Size())
	for i := range counts {
		counts[i] = len(own)
	}
	all := make([]T, r.Size()*len(own))
	return all, r.AllGatherV(ctx, comm.Host(all), counts, comm.Host(own))
}

// join numbers the vertices of each rank, joins its in-edges, and finds what ranks exchange.
func (c *Graph) join() error {
	out, err := c.a.Parts(rep.Query{Group: c.g, Context: c.ctx, Cuts: c.Cuts})
	if err != nil {
		return err
	}
	return c.g.Each(func(k int, r comm.Comm) error {
		h := c.Part[k]
		h.join(c.own[k], c.Hops)
		if err := h.Meet(c.ctx, r, c.Cuts); err != nil {
			return err
		}
		st := out[k].Rows()
		h.Deg = make([]int32, len(h.Ids))
		for v := h.Lo; v < h.Hi; v++ {
			a, b := st.Span(int(h.Ids[v]) - h.From)
			h.Deg[v] = int32(b - a)
		}
		return Exchange(c.ctx, r, h.Send, h.Recv, sparse.ValuesOf(h.Deg), 4, nil, nil)
	})
}

// join numbers the vertices and joins their in-edges. With hops of the halo's own number or more,
// all in-edges are known.
func (h *Part) join(own *sparse.Store, hops int) {
	h.Hops = h.Hops[:min(hops, len(h.Hops))]
	type source struct {
		st  *sparse.Store
		row int
	}
	from := map[int32]source{} // of copies with known in-edges
	for k, hop := range h.Hops {
		for row, v := range hop {
			if k < len(h.Hops)-1 {
				from[v] = source{h.Rows[k], row}
			}
		}
	}
	h.NumberAll()

	edges := int64(len(own.Idx))
	for _, st := range h.Rows[:len(h.Hops)-1] {
		edges += int64(len(st.Idx))
	}
	n := len(h.Ids)
	in := &sparse.Store{Type: own.Type, Structure: sparse.Structure{Format: sparse.CSR, NRows: n, NCols: n}}
	in.Ptr = make([]int64, 1, n+1)
	in.Idx = make([]int32, 0, edges)
	for v, id := range h.Ids {
		s, ok := from[id]
		if v >= h.Lo && v < h.Hi {
			s, ok = source{own, v - h.Lo}, true
		}
		if ok {
			a, b := s.st.Ptr[s.row], s.st.Ptr[s.row+1]
			for _, u := range s.st.Idx[a:b] {
				in.Idx = append(in.Idx, h.Number(u))
			}
			if !s.st.Val.None() {
				in.Val = in.Type.Append(in.Val, s.st.Part(a, b))
			}
		}
		in.Ptr = append(in.Ptr, int64(len(in.Idx)))
	}
	in.NVals = int64(len(in.Idx))
	if in.Val.None() && !own.Val.None() {
		in.Val = in.Type.Make(0)
	}
	h.In, h.Rows = in, nil
}

// NumberAll numbers the vertices. It returns the copies, ascending.
func (h *Part) NumberAll() []int32 {
	copies := slices.Concat(h.Hops...)
	slices.Sort(copies)
	h.Lo = sort.Search(len(copies), func(i int) bool { return int(copies[i]) >= h.From })
	h.Hi = h.Lo + h.To - h.From
	h.Ids = make([]int32, 0, len(copies)+h.To-h.From)
	h.Ids = append(h.Ids, copies[:h.Lo]...)
	for v := h.From; v < h.To; v++ {
		h.Ids = append(h.Ids, int32(v))
	}
	h.Ids = append(h.Ids, copies[h.Lo:]...)
	return copies
}

// Number returns the number here of a vertex of the whole graph, which is here.
func (h *Part) Number(u int32) int32 {
	if int(u) >= h.From && int(u) < h.To {
		return u - int32(h.From) + int32(h.Lo)
	}
	at, _ := slices.BinarySearch(h.Ids, u)
	return int32(at)
}

// Meet tells the other ranks which of their vertices this one copies.
func (h *Part) Meet(ctx context.Context, r comm.Comm, cuts []int) error {
	p := r.Size()
	h.Send, h.Recv = make([][]int32, p), make([][]int32, p)
	ask, want := make([]int32, 0, len(h.Ids)), make([]int, p)
	for i := range p {
		if i == r.Rank() {
			continue
		}
		lo := sort.Search(len(h.Ids), func(k int) bool { return int(h.Ids[k]) >= cuts[i] })
		for v := lo; v < len(h.Ids) && int(h.Ids[v]) < cuts[i+1]; v++ {
			h.Recv[i] = append(h.Recv[i], int32(v))
			ask = append(ask, h.Ids[v])
		}
		want[i] = len(h.Recv[i])
	}
	list, asked, err := AskOwners(ctx, r, ask, want)
	if err != nil {
		return err
	}
	for i, n := range asked {
		for _, u := range list[:n] {
			h.Send[i] = append(h.Send[i], h.Number(u))
		}
		list = list[n:]
	}
	return nil
}

// AskOwners sends each rank the vertices of list that it owns, want[r] of them to rank r, and
// returns what the others ask of this rank, and how many each asks.
func AskOwners(ctx context.Context, r comm.Comm, list []int32, want []int) (own []int32, asked []int, err error) {
	p, wants := r.Size(), make([]int64, len(want))
	for i, n := range want {
		wants[i] = int64(n)
	}
	all, err := GatherRank(ctx, r, wants)
	if err != nil {
		return nil, nil, err
	}
	asked, n := make([]int, p), 0
	for i := range p {
		asked[i] = int(all[i*p+r.Rank()])
		n += asked[i]
	}
	own = make([]int32, n)
	return own, asked, r.AllToAllV(ctx, comm.Host(own), asked, comm.Host(list), want)
}

// Exchange refreshes the values of the copies: size bytes each, of a type without pointers. If
// active is given, it holds 1 for each own vertex that is active. Exchange sets active of the
// copies, and appends the numbers of the active copies to fresh.
func Exchange(ctx context.Context, r comm.Comm, send, recv [][]int32, value sparse.Values, size int, active []uint8, fresh *[]int32) error {
	each := size
	if active != nil {
		each++
	}
	raw := unsafe.Slice((*byte)(value.Pointer()), value.Len()*size)
	out, sent := pack(send, each)
	in, got := pack(recv, each)
	at := 0
	for _, list := range send {
		for _, v := range list {
			at += copy(out[at:at+size], raw[int(v)*size:])
		}
		if active != nil {
			for _, v := range list {
				out[at] = active[v]
				at++
			}
		}
	}
	if err := r.AllToAllV(ctx, comm.Host(in), got, comm.Host(out), sent); err != nil {
		return err
	}
	at = 0
	for _, list := range recv {
		for _, v := range list {
			at += copy(raw[int(v)*size:(int(v)+1)*size], in[at:])
		}
		if active != nil {
			for _, v := range list {
				if in[at] != 0 {
					*fresh = append(*fresh, v)
				}
				at++
			}
		}
	}
	return nil
}

// pack makes room for the vertices of every rank, and returns the bytes for each.
func pack(lists [][]int32, each int) (room []byte, counts []int) {
	counts = make([]int, len(lists))
	n := 0
	for i, list := range lists {
		counts[i] = len(list) * each
		n += counts[i]
	}
	return make([]byte, n), counts
}

// WithOffsets returns a store with offsets of every row.
func WithOffsets(s *sparse.Store) *sparse.Store {
	if s.Format == sparse.CSR {
		return s
	}
	return s.ToCSR()
}
