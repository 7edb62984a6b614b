package chunked

import (
	"runtime"
	"unsafe"
)

// pinnedBytes is the pinned memory that results come back through.
const pinnedBytes = 64 << 20

// spreadBlocks, or fewBlocks of at most fairBlock bytes, is how many blocks a large product is cut into where memory
// would allow fewer, so that the stages run beside each other. Each takes a few
// milliseconds more (AᵀA of 138493×26744 with 20M entries on an H200: 62 ms of computing in 7
// blocks, 137–141 in 17).
// Blocks of less than smallBlock bytes are not worth it. The first has 1/firstBlock
// of the others, so that copying begins soon, and each after it is twice as large,
// which takes less time to compute than the one before to copy.
const (
	spreadBlocks = 8
	fewBlocks    = 4
	firstBlock   = 16
	fairBlock    = 1 << 30
	smallBlock   = 64 << 20
)

// budget is what a block may take.
type budget struct {
	entry int64 // bytes of an entry
	row   int64 // bytes that computing a row takes beside its entries
	most  int64 // bytes of a block at most, with that, 0 if there is no bound
	least int   // blocks
}

// cut divides rows into blocks by the entries that each will have.
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

// heap returns the bytes that live Go objects take.
func heap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func widthOf[T any]() int64 { return int64(unsafe.Sizeof(*new(T))) }
