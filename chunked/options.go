package chunked

import (
	"time"

	"github.com/hiveblas/hiveblas/matrix"
)

// An Option of MxM.
type Option func(*options)

type options struct {
	place        matrix.Place
	deviceMemory uint64
	hostMemory   uint64
	chunks       int
	threads      int
	mask         *matrix.Matrix[bool]
	complement   bool
	offDiagonal  bool
	progress     func(Progress)
}

// On computes at p; without it, and if p is nil, on the host.
func On(p matrix.Place) Option { return func(o *options) { o.place = p } }

// DeviceMemory is the budget on the device, in bytes, for the factors, the
// results that are there at a time and what computing them takes. It is not
// exceeded: a block that would is cut. The default is four fifths of what is
// free.
func DeviceMemory(bytes uint64) Option { return func(o *options) { o.deviceMemory = bytes } }

// HostMemory is the budget on the host, in bytes, for all that the program
// holds. While MxM runs it is the limit of the Go heap too (debug.SetMemoryLimit).
// 0, the default, is none.
func HostMemory(bytes uint64) Option { return func(o *options) { o.hostMemory = bytes } }

// Chunks asks for at least n blocks, where there are as many rows.
func Chunks(n int) Option { return func(o *options) { o.chunks = n } }

// Threads bounds the goroutines that compute on the host; 0 is all processors.
func Threads(n int) Option { return func(o *options) { o.threads = n } }

// Masked computes the product only where mask has an entry or, with
// complement, where it has none.
func Masked(mask *matrix.Matrix[bool], complement bool) Option {
	return func(o *options) { o.mask, o.complement = mask, complement }
}

// OffDiagonal leaves the entries (i, i) out.
func OffDiagonal() Option { return func(o *options) { o.offDiagonal = true } }

// WithProgress calls f after each block, from the goroutine of MxM.
func WithProgress(f func(Progress)) Option { return func(o *options) { o.progress = f } }

// Progress is how far MxM is.
type Progress struct {
	Blocks, AllBlocks int
	Rows, AllRows     int
	Entries           int64
}

// Report is what MxM did. After an error it says what was finished.
type Report struct {
	Progress
	Resumed    int           // blocks that a run before had finished
	Expected   int64         // entries of the product, or a bound for them; −1 if they were not counted
	Plan       time.Duration // for counting the entries and cutting the blocks
	Computing  time.Duration
	Copying    time.Duration // that the copy engine was busy
	Writing    time.Duration
	Wall       time.Duration // from the first block to the last
	PeakDevice uint64        // bytes in use at most, 0 on the host
	PeakHost   uint64        // bytes of the Go heap at most, as seen after each block
	Splits     int           // blocks that had to be cut further when memory ran out
}

// Overlap is the part of the time of the shorter stages that went by beside
// the longest: 1 if nothing but that was waited for.
func (r *Report) Overlap() float64 {
	if r == nil {
		return 1
	}
	sum := r.Computing + r.Copying + r.Writing
	longest := max(r.Computing, r.Copying, r.Writing)
	if sum <= longest {
		return 1
	}
	return min(1, max(0, float64(sum-r.Wall)/float64(sum-longest)))
}
