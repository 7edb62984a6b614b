package chunked

import (
	"github.com/hiveblas/hiveblas/matrix"
)

// Plan is what a sink is told before the first block.
type Plan struct {
	Rows, Cols int
	Bounds     []int // block b is the rows from Bounds[b] to Bounds[b+1]
	Entries    int64 // of the product, or a bound for them; −1 if they were not counted
	Exact      bool  // Entries are exact
	Job        []byte
}

// Block is some rows of a product, by rows. The slices belong to the sink only
// until its method returns.
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

// Sink takes the blocks of a product in the order of their rows. All methods
// are called by one goroutine.
type Sink[C comparable] interface {
	// Begin is told what will come, and returns how many blocks it has already.
	Begin(p Plan) (done int, err error)
	Block(b *Block[C]) error
	// End is called after the last block.
	End() error
	// Abort is called in place of End if anything fails.
	Abort()
}

// What sinks may have besides.
type (
	// counting sinks need to know the exact number of entries first.
	counting interface{ needsCount() bool }
	// roomy sinks tell where the entries of the next block are to go. They are
	// asked in order, by the goroutine that copies.
	roomy[C comparable] interface {
		room(entries int64) (idx []int32, val []C, ok bool)
	}
	// visiting sinks look at blocks where they were computed; none is copied.
	visiting[C comparable] interface {
		visit(lo int, rows *matrix.Matrix[C]) error
	}
	// resuming sinks continue a file that an earlier run of the same job began,
	// with the block boundaries of that run. kept returns how many finished
	// blocks an aborted sink leaves for the next run, and in which file.
	resuming interface {
		resumes() bool
		bounds(job []byte, rows, cols int) []int
		kept() (blocks int, file string)
	}
)
