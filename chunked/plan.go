package chunked

import "runtime"

// pinnedBytes is the size of the pinned buffers for results.
const pinnedBytes = 64 << 20

// Large products get spreadBlocks blocks, or fewBlocks of at most fairBlock bytes, even where
// memory allows fewer, so that the stages overlap. Each block costs a few milliseconds (AᵀA of
// 138493×26744 with 20M entries on an H200: 62 ms in 7 blocks, 137 in 17). Blocks smaller than
// smallBlock bytes do not pay. The first block has 1/firstBlock of the size of the others, so that
// copying starts early. Each following block is twice as large as its predecessor, and is computed
// in less time than the predecessor takes to copy.
const (
	spreadBlocks = 8
	fewBlocks    = 4
	firstBlock   = 16
	fairBlock    = 1 << 30
	smallBlock   = 64 << 20
)

// budget holds the limits of a block.
type budget struct {
	entry int64 // bytes of an entry
	row   int64 // bytes of workspace per row
	most  int64 // largest size of a block with its workspace; 0: no limit
	least int   // smallest number of blocks
}

// cut divides rows into blocks by the entries of each row.
func (b budget) cut(sizes []int64) (bounds []int) {
	var total int64
	for _, n := range sizes {
		total += b.entry*n + 8
	}
	most := max(min(max(total/spreadBlocks, fairBlock), total/fewBlocks), smallBlock)
	if b.least > 0 {
		most = min(most, total/int64(b.least))
	}
	if b.most > 0 {
		most = min(most, b.most)
	}
	bounds = append(bounds, 0)
	var sum, need int64
	room := max(min(max(most/firstBlock, smallBlock), most), 1)
	for i, n := range sizes {
		row := b.entry*n + 8
		own := row
		if n > 0 {
			own += b.row
		}
		if sum > 0 && (sum+row > room || b.most > 0 && need+own > b.most) {
			bounds = append(bounds, i)
			sum, need, room = 0, 0, min(2*room, most)
		}
		sum += row
		need += own
	}
	return append(bounds, len(sizes))
}

// heap returns the bytes of live Go objects.
func heap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
