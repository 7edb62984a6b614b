package chunked

import (
	"time"

	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

// An Option of MxM.
type Option func(*options)

type options struct {
	place        matrix.Place
	deviceMemory uint64
	hostMemory   uint64
	chunks       int
	threads      int
	mask         rep.View // without a matrix: none
	complement   bool
	offDiagonal  bool
	progress     func(Progress)
}

// On computes at p. Without it, or if p is nil, MxM computes on the host. On a *comm.Group of
// devices of this process, each device has the factors, computes some of the blocks and copies them
// to the host by itself; the blocks still arrive in order.
func On(p matrix.Place) Option { return func(o *options) { o.place = p } }

// DeviceMemory is the budget on each device, in bytes, for the factors, the blocks present at a
// time and the workspace. A block that would exceed it is split. The default is four fifths of the
// free memory.
func DeviceMemory(bytes uint64) Option { return func(o *options) { o.deviceMemory = bytes } }

// HostMemory is the budget on the host, in bytes, for the Go heap of the program, factors included.
// Blocks take a quarter each of what the heap leaves, and while MxM runs the budget is the soft
// limit of the heap (debug.SetMemoryLimit). It is no hard limit: a budget below what the program
// holds already gives blocks of one row, and the program uses more. 0, the default, means no limit.
func HostMemory(bytes uint64) Option { return func(o *options) { o.hostMemory = bytes } }

// Chunks requests at least n blocks, if there are as many rows.
func Chunks(n int) Option { return func(o *options) { o.chunks = n } }

// Threads is the largest number of goroutines that compute on the host; 0 means all processors.
func Threads(n int) Option { return func(o *options) { o.threads = n } }

// Masked restricts the product to the entries of mask or, with complement, to the other positions.
func Masked(mask *matrix.Matrix[bool], complement bool) Option {
	return func(o *options) {
		o.mask, o.complement = rep.View{}, complement
		if mask != nil {
			o.mask = mask.Inside()
		}
	}
}

// masked reports whether there is a mask.
func (o *options) masked() bool { return o.mask.Matrix != nil }

// allowed returns a rectangle of a mask at a place, and what frees it.
func (o *options) allowed(mask rep.View, lo, hi, clo, chi int, at matrix.Place, with ops.Option) (m matrix.Mask, drop func(), err error) {
	part := matrix.New[bool](hi-lo, chi-clo, matrix.On(at))
	if err := ops.Extract(part, matrix.ViewOf[bool](mask), ops.Span(lo, hi), ops.Span(clo, chi), with); err != nil {
		return nil, nil, err
	}
	if o.complement {
		return part.Structure().Not(), part.Clear, nil
	}
	return part.Structure(), part.Clear, nil
}

// offDiagonal returns the mask of the positions of a rectangle that are not on the diagonal.
func offDiagonal(lo, hi, clo, chi int) (matrix.Mask, error) {
	var rows, cols []int
	var vals []bool
	for i := max(lo, clo); i < min(hi, chi); i++ {
		rows, cols, vals = append(rows, i-lo), append(cols, i-clo), append(vals, true)
	}
	m, err := matrix.FromTuples(hi-lo, chi-clo, rows, cols, vals, nil)
	if err != nil {
		return nil, err
	}
	return m.Structure().Not(), nil
}

// OffDiagonal omits the entries (i, i).
func OffDiagonal() Option { return func(o *options) { o.offDiagonal = true } }

// WithProgress calls f after each block, from the goroutine of MxM.
func WithProgress(f func(Progress)) Option { return func(o *options) { o.progress = f } }

// Progress reports how far MxM has come.
type Progress struct {
	Blocks, AllBlocks int
	Rows, AllRows     int
	Entries           int64
}

// Report describes a run of MxM. After an error it covers the finished blocks.
type Report struct {
	Progress
	Resumed    int           // blocks that earlier runs finished
	Expected   int64         // entries of the product, or an upper bound; −1 if unknown
	Plan       time.Duration // counting entries and choosing blocks
	Computing  time.Duration // of several devices the mean
	Copying    time.Duration // of the copy engine, of several devices the mean
	Writing    time.Duration
	Wall       time.Duration // from the first block to the last
	PeakDevice uint64        // peak bytes in use, of several devices the largest; 0 on the host
	PeakHost   uint64        // peak bytes of the Go heap, sampled after each block
	Splits     int           // blocks split because memory ran out
}

// Overlap is the fraction of the time of the shorter stages that overlaps the longest stage: 1 if
// the run waited for the longest stage alone.
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
