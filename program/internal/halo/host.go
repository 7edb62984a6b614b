package halo

import (
	"math/bits"
	"slices"
	"unsafe"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// The figures of a rank of the host for Options. They are assumed and not measured.
const (
	HostMemory = 4e9
	HostLaunch = 2e-6
)

// Host is Edges on the host.
type Host struct {
	first   int           // own vertex
	in, out *sparse.Store // by target, and by source

	Joined *sparse.Store // in-edges of all vertices of the part before the last hop
	Deg    []int32       // out-degrees in the whole graph
}

// OnHost returns the edges of the own vertices as Edges: in by target, and out by source. The first
// own vertex is from.
func OnHost(from int, in, out *sparse.Store) *Host {
	return &Host{first: from, in: WithOffsets(in), out: out}
}

// In implements Edges.
func (e *Host) In() (entries int64, size int) {
	if e.in.Val.None() {
		return int64(len(e.in.Idx)), 0
	}
	return int64(len(e.in.Idx)), int(e.in.Type.Size)
}

// Outside implements Edges.
func (e *Host) Outside(from, to int) ([]int32, error) {
	marks := make([]uint32, (e.in.NCols+31)/32)
	for _, u := range e.in.Idx {
		if int(u) < from || int(u) >= to {
			marks[u>>5] |= 1 << (u & 31)
		}
	}
	return Marked(marks), nil
}

// Marked returns the positions of the bits that are set, ascending.
func Marked(words []uint32) (list []int32) {
	for k, word := range words {
		for ; word != 0; word &= word - 1 {
			list = append(list, int32(32*k+bits.TrailingZeros32(word)))
		}
	}
	return list
}

// Rows implements Edges.
func (e *Host) Rows(list []int32) (rows Rows, err error) {
	rows.Ptr = make([]int64, 1, len(list)+1)
	for _, v := range list {
		a, b := e.in.Ptr[int(v)-e.first], e.in.Ptr[int(v)-e.first+1]
		rows.Idx = append(rows.Idx, e.in.Idx[a:b]...)
		rows.Val = append(rows.Val, bytesOf(e.in, a, b)...)
		rows.Ptr = append(rows.Ptr, int64(len(rows.Idx)))
	}
	return rows, nil
}

// bytesOf returns the values of entries a … b−1 as they lie in memory, none of a pattern.
func bytesOf(st *sparse.Store, a, b int64) []byte {
	if st.Val.None() {
		return nil
	}
	size := st.Type.Size
	return unsafe.Slice((*byte)(st.Val.Pointer()), int64(st.Val.Len())*size)[a*size : b*size]
}

// Degrees implements Edges.
func (e *Host) Degrees(list []int32) ([]int32, error) {
	deg := make([]int32, len(list))
	for k, v := range list {
		a, b := e.out.Span(int(v) - e.first)
		deg[k] = int32(b - a)
	}
	return deg, nil
}

// Join implements Edges.
func (e *Host) Join(p *Part, before, after Rows, degrees []int32) error {
	n, own := len(p.Ids), int64(len(e.in.Idx))
	base := int64(len(before.Idx))
	in := &sparse.Store{Type: e.in.Type, Structure: sparse.Structure{Format: sparse.CSR, NRows: n, NCols: n}}
	in.Ptr = append(make([]int64, 0, n+1), before.Ptr[:p.Lo]...)
	for _, at := range e.in.Ptr {
		in.Ptr = append(in.Ptr, base+at)
	}
	in.Ptr = append(in.Ptr, after.Ptr[1:]...)
	in.NVals = in.Ptr[n]
	in.Idx = append(make([]int32, 0, in.NVals), before.Idx...)
	for _, u := range e.in.Idx {
		in.Idx = append(in.Idx, p.Number(u))
	}
	in.Idx = append(in.Idx, after.Idx...)
	if !e.in.Val.None() {
		in.Val = in.Type.Make(in.NVals)
		to := bytesOf(in, 0, in.NVals)
		to = to[copy(to, before.Val):]
		copy(to[copy(to, bytesOf(e.in, 0, own)):], after.Val)
	}
	own32, err := e.Degrees(p.Ids[p.Lo:p.Hi])
	e.Joined, e.Deg = in, slices.Concat(degrees[:p.Lo], own32, degrees[p.Lo:])
	return err
}

// Buffers implements Edges.
func (e *Host) Buffers(bytes int) (in, out comm.Buffer, err error) {
	return comm.Host(make([]byte, bytes)), comm.Host(make([]byte, bytes)), nil
}

// WithOffsets returns a store with offsets of every row.
func WithOffsets(s *sparse.Store) *sparse.Store {
	if s.Format == sparse.CSR {
		return s
	}
	return s.ToCSR()
}
