package matrix

import (
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/internal/device"
)

// SetBlocks makes stores at the places of the ranks of this process the contents of a matrix, or of
// the matrix of a vector, that was made on g. They are its rows, or positions, between cuts, which
// all processes know.
func (m onGroup) SetBlocks(g *comm.Group, vector bool, cuts []int, homes []device.Store) {
	b := m.a
	rows, cols := m.a.Dims()
	s := &spread{g: g, kind: m.a.Type(), rows: rows, cols: cols, vector: vector, cuts: cuts}
	for k := range g.Ranks() {
		s.part = append(s.part, atPlace(m.a.Type(), g.PlaceOf(k), homes[k]))
	}
	m.a.forget()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.blocks, b.blocksAt = s, g
	b.deviceOnly.Store(true)
	m.a.put(nil)
}

// MarkSymmetric records that the matrix equals its transpose.
func (m onGroup) MarkSymmetric() {
	b := m.a
	b.knownSymmetric.Store(true)
	if b.deviceOnly.Load() && b.blocks != nil && b.home == nil {
		b.blocks.across, b.blocks.hasCols = b.blocks, true
	}
}

func (noGroup) SetBlocks(*comm.Group, bool, []int, []device.Store) {}
func (noGroup) MarkSymmetric()                                     {}
