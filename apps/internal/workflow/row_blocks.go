package workflow

import (
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// RowOffsets returns the offsets of all rows, also of a hypersparse structure.
func RowOffsets(s *sparse.Structure) []int64 {
	if s.Format != sparse.Hypersparse {
		return s.Ptr
	}
	ptr := make([]int64, s.NRows+1)
	for k, r := range s.RowIDs {
		ptr[r+1] = s.Ptr[k+1] - s.Ptr[k]
	}
	for r := range s.NRows {
		ptr[r+1] += ptr[r]
	}
	return ptr
}

// RowGrain is the number of rows of a piece of a parallel loop.
const RowGrain = 1 << 12

// BlockWork is the number of rows and entries of a block of RowBlocks.
type BlockWork int64

// RowBlocks divides rows with these offsets into blocks of about equal work, which depend on the
// offsets alone: sums by blocks do not depend on the number of threads. Block b has the rows from
// bounds[b] to bounds[b+1]. Blocks of equal numbers of rows would not do: the first 4096 rows of
// R-MAT 18 have a seventh of the entries.
func RowBlocks(run Run, ptr []int64) (bounds []int) {
	rows, work := len(ptr)-1, int64(Tuning[BlockWork](run, 1<<15))
	return parallel.Cut(run.Threads, ptr, int((ptr[rows]-ptr[0]+int64(rows))/work)+1, 1)
}

// EachBlock runs fn on the blocks of rows by the threads of a run.
func EachBlock(run Run, bounds []int, fn func(worker, block, lo, hi int)) error {
	return parallel.Pieces(run.Context, run.Threads, len(bounds)-1, func(w, b int) { fn(w, b, bounds[b], bounds[b+1]) })
}
