package comm

import (
	"context"
)

// Comm is one rank's handle of a group. Its methods may be called by any goroutine; collectives run
// one at a time. All buffers of a collective have one element type. Counts are in elements, one for
// each rank. Errors are as the package comment says, but for [ErrNoOp], which leaves the group
// intact.
//
// A collective takes its deadline from ctx or from [Timeout], whichever is earlier. A nil ctx is
// context.Background().
type Comm interface {
	// Rank returns the rank of the caller, in 0 … Size()−1.
	Rank() int
	// Size returns the number of ranks, 1 or more.
	Size() int

	// AllGatherV gives every rank the blocks of all ranks, in the order of ranks. src is the
	// caller's block, counts[Rank()] elements; dst has the sum of counts. counts is the same on all
	// ranks; blocks may be empty. src may be the caller's own block of dst, and must not overlap
	// dst otherwise. Receives Σ counts − counts[Rank()] elements.
	AllGatherV(ctx context.Context, dst Buffer, counts []int, src Buffer) error

	// AllToAllV sends block j of src, send[j] elements, to rank j, and receives from rank i block i
	// of dst, recv[i] elements. Blocks lie one after the other in the order of ranks. recv[i] on
	// rank j equals send[j] on rank i. dst and src do not overlap.
	// Receives Σ recv − recv[Rank()] elements.
	AllToAllV(ctx context.Context, dst Buffer, recv []int, src Buffer, send []int) error

	// Reduce combines the sources of all ranks element by element. Without scatter every rank
	// receives the whole result, and dst and src have the same length on all ranks. With scatter
	// rank r receives block r: src has Size() times the elements of dst, and dst has the same
	// length on all ranks. dst may be src, with scatter the caller's block of src, and must not
	// overlap src otherwise.
	//
	// The error is ErrNoOp, on all ranks and before anything is sent, if the implementation lacks
	// op for the type, or if op has no meaning for it, such as Or of floats. See AllReduce.
	// Receives 2·n·(p−1)/p elements of n, with scatter (p−1)·n of the n elements of dst; see
	// [Ledger] for n that p does not divide.
	Reduce(ctx context.Context, dst, src Buffer, op Op, scatter bool) error

	// Broadcast gives every rank the contents that buf has on rank root. The length is the same on
	// all ranks. Receives buf.Len() elements, on root none.
	Broadcast(ctx context.Context, buf Buffer, root int) error

	// Fence returns when all ranks have called it.
	Fence(ctx context.Context) error

	// Split makes one group of the ranks that give the same color, ordered by key and, for equal
	// keys, by rank. All ranks call it. A rank with a negative color belongs to no new group: its
	// result is nil, with a nil error. The new group shares options, ledger, failure and life with
	// this one; close it before this one.
	Split(ctx context.Context, color, key int) (Comm, error)

	// Ledger returns what the collectives of this rank have moved, collectives of split groups
	// included.
	Ledger() *Ledger

	// Done returns a channel that is closed when the group fails, so that a rank that is busy with
	// something else can stop. Err then returns the reason.
	Done() <-chan struct{}
	// Err returns the *RankError that ended the group, ErrGroupClosed after Close, or nil.
	Err() error

	// Abort ends the group on all ranks: collectives under way and later ones return a *RankError
	// with the caller's rank and cause. It does not wait. Only the first failure counts.
	Abort(cause error)

	// Close releases what the rank holds. It is called once by every rank, after its last
	// collective. A rank that waits in a collective for a rank that has closed the group fails.
	// A second Close does nothing.
	Close() error
}

// Kind is the kind of a collective.
type Kind uint8

// The collectives.
const (
	KindFence Kind = iota
	KindAllGatherV
	KindAllToAllV
	KindAllReduce
	KindReduceScatter
	KindBroadcast
	KindSplit
	kinds // their number
)

var kindNames = [kinds]string{
	"Fence", "AllGatherV", "AllToAllV", "AllReduce", "ReduceScatter", "Broadcast", "Split",
}

// Kinds returns all kinds of collectives.
func Kinds() []Kind {
	out := make([]Kind, kinds)
	for i := range out {
		out[i] = Kind(i)
	}
	return out
}

// String names the kind, such as "AllGatherV".
func (k Kind) String() string {
	if k >= kinds {
		return "unknown collective"
	}
	return kindNames[k]
}
