package cpu

import "github.com/hiveblas/hiveblas/internal/sparse"

// Mask selects the positions of a result that may be written: the positions of S, or with Comp all
// others. A nil *Mask allows every position.
type Mask struct {
	S    *sparse.Structure
	Comp bool
}

// All reports whether the mask allows every position.
func (m *Mask) All() bool {
	if m.Comp {
		return m.S.NVals == 0
	}
	return m.S.NVals == int64(m.S.NRows)*int64(m.S.NCols)
}

// list returns the mask with its positions listed (CSR or hypersparse).
func (m *Mask) list() *Mask {
	if m == nil || m.S.Sparse() {
		return m
	}
	return &Mask{S: &m.S.Pattern().ToSparse().Structure, Comp: m.Comp}
}

// bytes returns, for the mask of a vector of n positions, an array that is non-zero where S has an
// entry. It is read-only: it may alias the mask's presence bytes.
func (m *Mask) bytes(n int) []uint8 {
	switch m.S.Format {
	case sparse.Bitmap:
		return m.S.Present
	case sparse.Full:
		b := make([]uint8, n)
		for i := range b {
			b[i] = 1
		}
		return b
	}
	b := make([]uint8, n)
	for _, j := range m.S.Idx {
		b[j] = 1
	}
	return b
}

// Places returns the places in idx of the positions that the mask of a vector allows.
func (m *Mask) Places(idx []int32) []int32 {
	places := make([]int32, 0, len(idx))
	var list []int32
	if m.S.Sparse() {
		list = m.row(0)
	}
	for p, i := range idx {
		var has bool
		switch m.S.Format {
		case sparse.Full:
			has = true
		case sparse.Bitmap:
			has = m.S.Present[i] != 0
		default:
			at := search(list, int(i))
			has = at < len(list) && list[at] == i
		}
		if has != m.Comp {
			places = append(places, int32(p))
		}
	}
	return places
}

// row returns the listed columns of row i.
func (m *Mask) row(i int) []int32 {
	lo, hi := m.S.Span(i)
	return m.S.Idx[lo:hi]
}
