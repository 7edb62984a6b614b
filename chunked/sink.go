package chunked

import (
	"github.com/hiveblas/hiveblas/matrix"
)

// Plan describes the product to a sink before the first block.
type Plan struct {
	Rows, Cols int
	Bounds     []int // block b is the rows from Bounds[b] to Bounds[b+1]
	Entries    int64 // of the product, or an upper bound; −1 if unknown
	Exact      bool  // Entries is exact
	Job        []byte
}

// Block is a range of rows of a product. The slices are valid until the method of the sink returns.
type Block[C comparable] struct {
	Index  int
	Lo, Hi int     // rows Lo to Hi−1
	Ptr    []int64 // Hi−Lo+1 offsets, from 0
	Idx    []int32
	Val    []C
}

// Matrix returns the block as a matrix of Hi−Lo rows, which shares its slices.
func (b *Block[C]) Matrix(cols int) (*matrix.Matrix[C], error) {
	if b == nil {
		return nil, &matrix.InvalidError{Op: "Block.Matrix", Reason: "the block is nil"}
	}
	return matrix.FromCSR(b.Hi-b.Lo, cols, b.Ptr, b.Idx, b.Val)
}

// Sink receives the blocks of a product in the order of their rows. One goroutine calls all
// methods.
type Sink[C comparable] interface {
	// Begin returns the number of blocks that the sink already has.
	Begin(p Plan) (done int, err error)
	Block(b *Block[C]) error
	// End is called after the last block.
	End() error
	// Abort is called instead of End after an error.
	Abort()
}

// Optional methods of sinks.
type (
	// counting sinks need the exact number of entries before the first block.
	counting interface{ needsCount() bool }
	// roomy sinks provide the memory for the entries of the next block. The copying goroutine asks
	// for it, in order.
	roomy[C comparable] interface {
		room(entries int64) (idx []int32, val []C, ok bool)
	}
	// visiting sinks read blocks where they are computed, without a copy.
	visiting[C comparable] interface {
		visit(lo int, rows *matrix.Matrix[C]) error
	}
	// resuming sinks continue a file that an earlier run of the same job began, with the block
	// boundaries of that run. kept returns how many finished blocks an aborted sink leaves for the
	// next run, and in which file.
	resuming interface {
		resumes() bool
		bounds(job []byte, rows, cols int) []int
		kept() (blocks int, file string)
	}
)
