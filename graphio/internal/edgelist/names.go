package edgelist

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"strconv"
	"sync"

	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/internal/parallel"
)

// A dictionary numbers names in the order of their first appearance. Slots of its hash table have
// the upper half of a hash, and the number of its name + 1 below; a search that ends at a slot of
// another hash reads no name.
type dictionary struct {
	slots  []uint64 // a power of 2 of them, half of them 0 or more
	hashes []uint64 // of each name
	text   []byte   // all names
	ends   []int64  // of each name in text
}

// nameSeed is the seed of the hashes of all dictionaries, which are compared with each other.
var nameSeed = maphash.MakeSeed()

// leastSlots is the number of slots of an empty dictionary.
const leastSlots = 1 << 10

func newDictionary() *dictionary { return &dictionary{slots: make([]uint64, leastSlots)} }

// len returns the number of names.
func (d *dictionary) len() int { return len(d.ends) }

// name returns the text of a number. It is part of the memory of all names.
func (d *dictionary) name(k int64) []byte {
	lo := int64(0)
	if k > 0 {
		lo = d.ends[k-1]
	}
	return d.text[lo:d.ends[k]]
}

// add returns the number of a name.
func (d *dictionary) add(name []byte) int64 { return d.addHashed(maphash.Bytes(nameSeed, name), name) }

func (d *dictionary) addHashed(hash uint64, name []byte) int64 {
	mask := uint64(len(d.slots) - 1)
	for at := hash & mask; ; at = (at + 1) & mask {
		slot := d.slots[at]
		if slot == 0 {
			k := int64(len(d.ends))
			d.text = append(d.text, name...)
			d.ends, d.hashes = append(d.ends, int64(len(d.text))), append(d.hashes, hash)
			d.slots[at] = hash>>32<<32 | uint64(k+1)
			if 2*len(d.ends) > len(d.slots) {
				d.grow()
			}
			return k
		}
		if slot>>32 == hash>>32 {
			if k := int64(uint32(slot)) - 1; bytes.Equal(d.name(k), name) {
				return k
			}
		}
	}
}

// grow makes room for four times as many names.
func (d *dictionary) grow() {
	d.slots = make([]uint64, 4*len(d.slots))
	mask := uint64(len(d.slots) - 1)
	for k, hash := range d.hashes {
		at := hash & mask
		for d.slots[at] != 0 {
			at = (at + 1) & mask
		}
		d.slots[at] = hash>>32<<32 | uint64(k+1)
	}
}

// dictionaries are the dictionaries of the threads that read. A block takes one and gives it back,
// so that few names are in several.
type dictionaries struct {
	mu         sync.Mutex
	free, made []*dictionary
}

func (p *dictionaries) take() *dictionary {
	p.mu.Lock()
	defer p.mu.Unlock()
	if k := len(p.free) - 1; k >= 0 {
		d := p.free[k]
		p.free = p.free[:k]
		return d
	}
	d := newDictionary()
	p.made = append(p.made, d)
	return d
}

func (p *dictionaries) put(d *dictionary) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, d)
}

// textual replaces the integer ids of a block by numbers of their names.
func (b *edgeBlock) textual(d *dictionary) {
	var buf []byte
	for _, ids := range [][]int64{b.src, b.dst} {
		for p, id := range ids {
			buf = strconv.AppendInt(buf[:0], id, 10)
			ids[p] = d.add(buf)
		}
	}
	b.dict = d
}

// numberText numbers names in ascending order. It returns the labels, and functions that return the
// index of a row or column by a number of a block.
func (rd *edgeReader) numberText(bipartite bool) (rows, cols *core.Labels, row, col func(block int, id int64) int32) {
	for k := range rd.blocks {
		if b := &rd.blocks[k]; b.dict == nil {
			d := rd.dicts.take()
			b.textual(d)
			rd.dicts.put(d)
		}
	}
	list := rd.dicts.made
	label := func(sides func(b *edgeBlock) [][]int64) (*core.Labels, func(int, int64) int32) {
		tables := map[*dictionary][]int32{} // of each name the number among all names + 1, 0 without use
		for _, d := range list {
			tables[d] = make([]int32, d.len())
		}
		for k := range rd.blocks {
			b := &rd.blocks[k]
			used := tables[b.dict]
			for _, ids := range sides(b) {
				for _, x := range ids {
					used[x] = 1
				}
			}
		}
		all := newDictionary()
		for _, d := range list {
			table := tables[d]
			for x := range table {
				if table[x] != 0 {
					table[x] = int32(all.addHashed(d.hashes[x], d.name(int64(x)))) + 1
				}
			}
		}
		names, ranks := all.sorted(rd.o.Threads)
		ofBlock := make([][]int32, len(rd.blocks))
		for _, table := range tables {
			for x, k := range table {
				if k != 0 {
					table[x] = ranks[k-1]
				}
			}
		}
		for k := range rd.blocks {
			ofBlock[k] = tables[rd.blocks[k].dict]
		}
		return core.OfNames(names), func(block int, id int64) int32 { return ofBlock[block][id] }
	}
	if !bipartite {
		rows, row = label(func(b *edgeBlock) [][]int64 { return [][]int64{b.src, b.dst} })
		return rows, rows, row, row
	}
	rows, row = label(func(b *edgeBlock) [][]int64 { return [][]int64{b.src} })
	cols, col = label(func(b *edgeBlock) [][]int64 { return [][]int64{b.dst} })
	return rows, cols, row, col
}

// sorted returns the names in ascending order, and the place of each in it.
func (d *dictionary) sorted(threads int) (names []string, ranks []int32) {
	type key struct {
		first uint64 // eight bytes, 0 behind the end of a short name
		k     int32
	}
	keys := make([]key, d.len())
	for k := range keys {
		var first [8]byte
		copy(first[:], d.name(int64(k)))
		keys[k] = key{binary.BigEndian.Uint64(first[:]), int32(k)}
	}
	parallel.SortStable(threads, keys, func(a, b key) int {
		if a.first != b.first {
			return cmp.Compare(a.first, b.first)
		}
		return bytes.Compare(d.name(int64(a.k)), d.name(int64(b.k)))
	})
	all := string(d.text)
	names, ranks = make([]string, len(keys)), make([]int32, len(keys))
	for r, x := range keys {
		lo := int64(0)
		if x.k > 0 {
			lo = d.ends[x.k-1]
		}
		names[r], ranks[x.k] = all[lo:d.ends[x.k]], int32(r)
	}
	return names, ranks
}
