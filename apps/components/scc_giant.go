package components

import (
	"math"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/hiveblas/hiveblas/apps/internal/frontier"
)

// bitset is a set of vertices, to which several threads can add.
type bitset []uint64

func newBitset(n int) bitset { return make(bitset, (n+63)/64) }

func (b bitset) has(v int32) bool { return atomic.LoadUint64(&b[uint32(v)/64])>>(uint32(v)%64)&1 != 0 }

// add adds v, and reports whether it was new.
func (b bitset) add(v int32) bool {
	bit := uint64(1) << (uint32(v) % 64)
	return atomic.OrUint64(&b[uint32(v)/64], bit)&bit == 0
}

// giantComponent finds the component of a pivot: what it reaches, and what of this reaches it. It
// reports whether the searches were wide.
func (m *multistep) giantComponent() (wide bool, err error) {
	if m.pivot < 0 {
		return true, nil
	}
	reached, expanded := slices.Clone(m.closed), slices.Clone(m.closed)
	reached.add(m.pivot)
	wide, err = m.Wave([]int32{m.pivot}, m.searchLimit(), math.MaxInt64, frontier.WaveStep{Along: m.out,
		Visit: func(v int32, row, found []int32) []int32 {
			if !expanded.has(v) {
				expanded.add(v)
			}
			for _, u := range row {
				if !reached.has(u) && reached.add(u) {
					found = append(found, u)
				}
			}
			return found
		},
		Pull: func(work int64) (bool, error) {
			switch {
			case work <= int64(len(m.out.Idx))/8:
				return false, nil
			case m.in != nil:
				return true, m.pull(reached)
			}
			return true, m.pushInOrder(reached, expanded)
		}})
	if err != nil || !wide {
		return false, err
	}
	giant := newBitset(m.out.N)
	giant.add(m.pivot)
	if err := m.reaching(giant, reached); err != nil {
		return false, err
	}
	for at, word := range giant {
		if word != 0 {
			m.least = int32(64*at + bits.TrailingZeros64(word))
			break
		}
	}
	var size atomic.Int64
	err = m.Each(len(giant), func(lo, hi int, found []int32) []int32 {
		count := 0
		for at := lo; at < hi; at++ {
			count += bits.OnesCount64(giant[at])
			m.closed[at] |= giant[at]
			for word := giant[at]; word != 0; word &= word - 1 {
				m.label[64*at+bits.TrailingZeros64(word)] = m.least
			}
		}
		size.Add(int64(count))
		return found
	})
	m.giant = size.Load()
	return true, err
}

// reaching adds to giant what reaches it of the reached vertices that are not closed: sweeps over
// these look for an edge to giant, and a search along the transpose finds the rest if the sweeps
// are long.
func (m *multistep) reaching(giant, reached bitset) error {
	if err := m.list(reached, m.closed); err != nil {
		return err
	}
	var work atomic.Int64
	left := m.Gather()
	m.Gathered = nil
	for work.Load() < m.sweeps*int64(len(m.out.Idx)) {
		before := len(left)
		err := m.Some(before, func(lo, hi int, found []int32) []int32 {
			looked := 0
			for _, v := range left[lo:hi] {
				row := m.out.Of(v)
				at := 0
				for at < len(row) && !giant.has(row[at]) {
					at++
				}
				if at < len(row) {
					giant.add(v)
				} else if !giant.has(v) {
					found = append(found, v)
				}
				looked += at
			}
			work.Add(int64(looked))
			return found
		})
		if err != nil {
			return err
		}
		next := m.Gather()
		left, m.Gathered = next, left[:0]
		if len(left) == before {
			return nil
		}
	}
	m.needTranspose()
	if err := m.list(giant, newBitset(m.out.N)); err != nil {
		return err
	}
	_, err := m.Wave(m.Gather(), math.MaxInt64, math.MaxInt64, frontier.WaveStep{Along: m.in, Visit: func(_ int32, row, found []int32) []int32 {
		for _, u := range row {
			if reached.has(u) && !m.closed.has(u) && giant.add(u) {
				found = append(found, u)
			}
		}
		return found
	}})
	return err
}

// list finds the vertices of a set that are not in another.
func (m *multistep) list(set, without bitset) error {
	return m.Each(len(set), func(lo, hi int, found []int32) []int32 {
		for at := lo; at < hi; at++ {
			for word := set[at] &^ without[at]; word != 0; word &= word - 1 {
				found = append(found, int32(64*at+bits.TrailingZeros64(word)))
			}
		}
		return found
	})
}

// pushInOrder adds the ends of the edges from vertices of a set that are not expanded, and finds
// those that no sweep has expanded yet. Rows in order cost less than rows of a queue.
func (m *multistep) pushInOrder(set, expanded bitset) error {
	err := m.Some(len(set), func(lo, hi int, found []int32) []int32 {
		for at := lo; at < hi; at++ {
			for word := atomic.LoadUint64(&set[at]) &^ expanded[at]; word != 0; word = atomic.LoadUint64(&set[at]) &^ expanded[at] {
				expanded[at] |= word
				for ; word != 0; word &= word - 1 {
					for _, u := range m.out.Of(int32(64*at + bits.TrailingZeros64(word))) {
						if !set.has(u) {
							set.add(u)
						}
					}
				}
			}
		}
		return found
	})
	if err != nil {
		return err
	}
	return m.list(set, expanded)
}

// pull finds the vertices outside a set with an edge from it, and adds them.
func (m *multistep) pull(set bitset) error {
	return m.Some(m.out.N, func(lo, hi int, found []int32) []int32 {
		for v := int32(lo); v < int32(hi); v++ {
			if set.has(v) {
				continue
			}
			for _, u := range m.in.Of(v) {
				if set.has(u) {
					set.add(v)
					found = append(found, v)
					break
				}
			}
		}
		return found
	})
}

// listOpen lists the open vertices.
func (m *multistep) listOpen() error {
	err := m.Each(len(m.closed), func(lo, hi int, found []int32) []int32 {
		for at := lo; at < hi; at++ {
			for word := ^m.closed[at]; word != 0; word &= word - 1 {
				if v := 64*at + bits.TrailingZeros64(word); v < m.out.N {
					found = append(found, int32(v))
				}
			}
		}
		return found
	})
	m.nowOpen(0)
	return err
}

// trim labels vertices from which all edges lead to vertices with labels: each is a component. It
// ends when a sweep finds few.
func (m *multistep) trim() error {
	for {
		before := len(m.left)
		var rows atomic.Int64
		err := m.Some(before, func(lo, hi int, found []int32) []int32 {
			sum := int64(0)
			for _, v := range m.left[lo:hi] {
				row := m.out.Of(v)
				at := 0
				for at < len(row) && (row[at] == v || m.closed.has(row[at])) {
					at++
				}
				if at < len(row) {
					found = append(found, v)
					sum += int64(len(row))
					continue
				}
				m.label[v] = v
				m.closed.add(v)
			}
			rows.Add(sum)
			return found
		})
		if err != nil {
			return err
		}
		m.nowOpen(rows.Load())
		if before-len(m.left) <= before/8 {
			return nil
		}
	}
}
