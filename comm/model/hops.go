package model

import (
	"errors"
	"fmt"

	"github.com/hiveblas/hiveblas/comm"
)

// Halo is the surroundings of the parts of a graph, for the replication of Medusa (Zhong and He,
// "Medusa: simplified graph processing on GPUs", TPDS 2014, section 4.3): a part keeps copies of
// the vertices within h in-hops of its own, updates them itself, and exchanges values every h
// steps. It is the ghost zone of stencils. The paper leaves the cost formula to a supplement; Cost
// is ours.
type Halo struct {
	Parts    int
	Vertices []int64   // of each part
	Edges    []int64   // into the vertices of each part
	R        [][]int64 // R[i][k−1]: vertices at exactly k in-hops outside part i
	E        [][]int64 // E[i][k−1]: edges into these
}

// errGraph is the error of graphs that are no CSR.
var errGraph = errors.New("model: the graph is no CSR: ptr must begin with 0, not fall, and end with len(idx), and idx lie within the vertices")

// HaloOf counts the surroundings of parts to at most hops hops. Row v of the CSR (ptr, idx) lists
// the vertices that vertex v reads: its in-neighbours. Part i has the vertices cuts[i] …
// cuts[i+1]−1. Time and memory are O(parts·(n + edges reached)) and O(n).
func HaloOf(ptr []int64, idx []int32, cuts []int, hops int) (*Halo, error) {
	n := len(ptr) - 1
	if n < 0 || ptr[0] != 0 || ptr[n] != int64(len(idx)) {
		return nil, errGraph
	}
	for v := range n {
		if ptr[v] > ptr[v+1] {
			return nil, errGraph
		}
	}
	for _, u := range idx {
		if u < 0 || int(u) >= n {
			return nil, errGraph
		}
	}
	if len(cuts) < 2 || cuts[0] != 0 || cuts[len(cuts)-1] != n || hops < 1 {
		return nil, fmt.Errorf("model: cuts %v of %d vertices, %d hops: cuts begin with 0 and end with the number of vertices, and hops is 1 or more", cuts, n, hops)
	}
	h := &Halo{Parts: len(cuts) - 1}
	seen := make([]int32, n) // 1 + the last part that reached the vertex
	for i := range h.Parts {
		if cuts[i] > cuts[i+1] {
			return nil, fmt.Errorf("model: cuts %v fall", cuts)
		}
		h.Vertices = append(h.Vertices, int64(cuts[i+1]-cuts[i]))
		h.Edges = append(h.Edges, ptr[cuts[i+1]]-ptr[cuts[i]])
		var frontier []int32
		for v := cuts[i]; v < cuts[i+1]; v++ {
			seen[v] = int32(i + 1)
			frontier = append(frontier, int32(v))
		}
		r, e := make([]int64, hops), make([]int64, hops)
		for k := range hops {
			var next []int32
			for _, v := range frontier {
				for _, u := range idx[ptr[v]:ptr[v+1]] {
					if seen[u] != int32(i+1) {
						seen[u] = int32(i + 1)
						next = append(next, u)
						e[k] += ptr[u+1] - ptr[u]
					}
				}
			}
			r[k] = int64(len(next))
			frontier = next
		}
		h.R, h.E = append(h.R, r), append(h.E, e)
	}
	return h, nil
}

// HopCost is the cost of exchanging every Hops steps.
type HopCost struct {
	Hops    int
	Seconds float64 // of a step, the mean over the steps between two exchanges
	Bytes   int64   // of memory, of the part that needs most
	Fits    bool    // Bytes is within the limit
}

// HopOptions are the figures of Cost.
type HopOptions struct {
	EdgeBytes   float64 // that a kernel moves for an edge: c
	ValueBytes  float64 // of a value that is exchanged: s
	StoreEdge   float64 // bytes that an edge takes in memory
	StoreVertex float64 // bytes that a vertex takes in memory
	Memory      int64   // of a device; 0 for no limit
}

// Cost returns the time of a step with an exchange every h steps, h = 1 … the hops of the Halo, and
// the index of the best that fits, −1 if none does. With S, L of the machine and α, N of its
// exchange (AllToAllV, else AllGatherV):
//
//	T(h) = max over parts of (c/S)·(E + (1/h)·Σ_{k=1}^{h−1} (h−k)·E_k)
//	       + (1/h)·(α + s·Σ_{k=1}^{h} R_k/N) + L
//	M(h) = max over parts of b_e·(E + Σ_{k<h} E_k) + b_v·(V + Σ_{k≤h} R_k)
//
// h = 1 is the plain exchange. A further hop saves latency alone, never bandwidth: it pays where
// boundaries are small, as in roads and meshes.
func (m Machine) Cost(h *Halo, o HopOptions) (list []HopCost, best int, err error) {
	best = -1
	if h == nil || h.Parts == 0 || len(h.R) == 0 || !(m.Memory > 0) {
		return nil, best, errors.New("model: the halo is empty; make one with HaloOf")
	}
	line, ok := m.Line(comm.KindAllToAllV, h.Parts)
	if !ok {
		line, ok = m.Line(comm.KindAllGatherV, h.Parts)
	}
	if !ok {
		return nil, best, fmt.Errorf("model: no measurement of an exchange on %s; measure it with hiveblas-bench comm", m.Name)
	}
	for hops := 1; hops <= len(h.R[0]); hops++ {
		c := HopCost{Hops: hops}
		for i := range h.Parts {
			edges, outside, extra := float64(h.Edges[i]), 0.0, 0.0
			for k := 1; k <= hops; k++ {
				outside += float64(h.R[i][k-1])
				if k < hops {
					edges += float64(hops-k) / float64(hops) * float64(h.E[i][k-1])
					extra += float64(h.E[i][k-1])
				}
			}
			t := o.EdgeBytes/m.Memory*edges + line.Seconds(o.ValueBytes*outside)/float64(hops) + m.Launch
			c.Seconds = max(c.Seconds, t)
			bytes := o.StoreEdge*(float64(h.Edges[i])+extra) + o.StoreVertex*(float64(h.Vertices[i])+outside)
			c.Bytes = max(c.Bytes, int64(bytes))
		}
		c.Fits = o.Memory <= 0 || c.Bytes <= o.Memory
		list = append(list, c)
		if c.Fits && (best < 0 || c.Seconds < list[best].Seconds) {
			best = hops - 1
		}
	}
	return list, best, nil
}
