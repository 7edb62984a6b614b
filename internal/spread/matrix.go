package spread

import (
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Matrix is a matrix as this package sees it. Its contents are in host memory, on a device, or in
// Blocks.
type Matrix interface {
	rep.Matrix
	Maker
	// Lock serialises changes of where the contents are.
	Lock()
	Unlock()

	// Spread returns the blocks that are the contents or a copy of them, and nil for none.
	Spread() *Blocks
	SetSpread(*Blocks)
	// Elsewhere reports whether the contents are outside host memory only.
	Elsewhere() bool
	// OnDevice reports whether the place has a copy of its own.
	OnDevice() bool
	// LeaveHost drops the contents of host memory. The caller has the lock.
	LeaveHost()
	// Fetch copies the contents to host memory if they are elsewhere only. The caller has the lock.
	// Fetch returns the error of the matrix.
	Fetch()
	// HostStore returns the storage in host memory. The caller has the lock.
	HostStore() *sparse.Store
	// Share returns a matrix in host memory with the same storage.
	Share() Matrix
	// DropRemote frees the copies outside host memory.
	DropRemote()
	// Forget discards what was derived from the contents.
	Forget()

	// SetPlace sets the place, where the contents are not.
	SetPlace(rep.Place)
	// Replicated reports whether every process has the contents.
	Replicated() bool
	SetErr(error)
	SetSymmetric(bool)
	// Sendable returns an error if values cannot be sent.
	Sendable() error

	// Pin is the format of SetFormat, if the matrix is Pinned. SetPin lets results have it, and
	// Convert converts the contents too.
	Pin() sparse.Format
	SetPin(pinned bool, f sparse.Format)
	Convert(f sparse.Format) error
}

// Maker makes matrices.
type Maker interface {
	// New returns a matrix in host memory with a storage.
	New(st *sparse.Store) Matrix
	// NewAt returns a matrix with its contents at a place.
	NewAt(t *sparse.Type, p rep.Place, s device.Store) Matrix
}

// blocks is the layout Blocks of package matrix.
const blocks = 0
