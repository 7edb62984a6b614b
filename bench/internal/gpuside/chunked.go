package gpuside

import (
	"context"
	"fmt"
	"hash/crc32"
	"math"
	"runtime"
	"time"
	"unsafe"

	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/bench/internal/tables"
	"github.com/hiveblas/hiveblas/chunked"
	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/hostmem"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

const OneGiB = 1 << 30

// streamed is AᵀA in fp32, computed on a device and brought into host memory
// block by block, where A lives on the device.
type streamed struct {
	g      *gen.Graph
	val    []float32
	A, c   *matrix.Matrix[float32]
	Report *chunked.Report
}

// NewStreamed makes A of ones at a place. It refuses a result that does not fit the
// memory of the host.
func NewStreamed(g *gen.Graph, at matrix.Place) (*streamed, error) {
	s := &streamed{g: g, val: inputs.Values(g, func(uint64) float32 { return 1 })}
	var err error
	if s.A, err = matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, s.val); err != nil {
		return nil, err
	}
	about, _, err := chunked.Estimate(s.A.T(), s.A)
	if err != nil {
		return nil, err
	}
	const spare = 2 << 30
	if need, have := about*8+spare, hostmem.Available(); have > 0 && need > have {
		return nil, fmt.Errorf("the result of about %d entries needs %s GiB of host memory, and %s are available", about, gib(need), gib(have))
	}
	return s, s.A.Move(at)
}

func gib(bytes int64) string { return tables.Figure(float64(bytes) / OneGiB) }

func (s *streamed) Run(ctx context.Context, opts ...chunked.Option) (err error) {
	s.c = matrix.New[float32](s.g.NCols, s.g.NCols)
	s.Report, err = chunked.MxM(ctx, chunked.Into(s.c), semiring.PlusTimes[float32](), s.A.T(), s.A, opts...)
	return err
}

// Drop releases the result.
func (s *streamed) Drop() {
	s.c = nil
	runtime.GC()
}

// Note releases the result and keeps a note on the run.
func (s *streamed) Note(last *string) func() {
	return func() {
		*last = s.stages()
		s.Drop()
	}
}

// Bytes is the size of the result.
func (s *streamed) Bytes() uint64 { return uint64(8*(s.g.NCols+1)) + 8*uint64(s.Report.Entries) }

// Wrong compares the row sums with Aᵀ·(A·1).
func (s *streamed) Wrong() string {
	ones := make([]float64, s.g.NCols)
	for j := range ones {
		ones[j] = 1
	}
	want := TimesTransposed(s.g, s.val, Times(s.g, s.val, ones))
	for i, r := range s.c.Rows() {
		var got float64
		for _, x := range r.Vals {
			got += float64(x)
		}
		if want[i] -= got; math.Abs(want[i]) > 1e-6*got {
			return fmt.Sprintf("row %d adds up to %v, which misses %v", i, got, want[i])
		}
		want[i] = 0
	}
	for i, x := range want {
		if x != 0 {
			return fmt.Sprintf("row %d is missing", i)
		}
	}
	return ""
}

// Sum is a checksum of the result.
func (s *streamed) Sum() uint32 {
	st := access.Store(s.c)
	table := crc32.MakeTable(crc32.Castagnoli)
	sum := crc32.Checksum(bytesOf(st.Ptr), table)
	sum = crc32.Update(sum, table, bytesOf(st.Idx))
	return crc32.Update(sum, table, bytesOf(st.Val))
}

func bytesOf[E any](items []E) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(items))), len(items)*inputs.WidthOf[E]())
}

// stages describes the stages of the last run.
func (s *streamed) stages() string {
	r := s.Report
	return fmt.Sprintf("%d entries, %d blocks, plan %.0f ms, computing %.0f, copying %.0f, writing %.0f, wall %.0f, overlap %.2f, peak on the device %d MB",
		r.Entries, r.Blocks, tables.Ms(r.Plan), tables.Ms(r.Computing), tables.Ms(r.Copying), tables.Ms(r.Writing), tables.Ms(r.Wall), r.Overlap(), r.PeakDevice>>20)
}

// PinnedPiece is the size of the pinned buffer that a bare copy reuses.
const PinnedPiece = 1 << 30

// pinnedCopy only copies to pinned memory of the host.
type pinnedCopy struct {
	side  *Peers
	m     *sideMemory
	from  driver.Ptr
	to    unsafe.Pointer
	piece uint64
}

func NewPinnedCopy(s *Peers, bytes uint64) (*pinnedCopy, error) {
	p := &pinnedCopy{side: s, m: s.memory(), piece: max(min(bytes, PinnedPiece), 1)}
	p.from = p.m.alloc(p.piece)
	err := p.m.err
	if err == nil {
		err = s.do(func() (err error) { p.to, err = s.ctx.AllocHost(p.piece); return err })
	}
	if err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Run copies so many bytes.
func (p *pinnedCopy) Run(bytes uint64) (time.Duration, error) {
	return p.side.time(func() error {
		for left := bytes; left > 0; {
			n := min(left, p.piece)
			if err := p.side.ctx.ToHost(p.to, p.from, n, p.side.stream); err != nil {
				return err
			}
			left -= n
		}
		return nil
	})
}

func (p *pinnedCopy) Close() {
	p.m.free()
	if p.to != nil {
		_ = p.side.do(func() error { return p.side.ctx.FreeHost(p.to) })
	}
}

// Times returns A·x in float64; without values each entry is 1.
func Times[T int32 | float32 | float64](g *gen.Graph, val []T, x []float64) []float64 {
	y := make([]float64, g.NRows)
	for i := range y {
		for p := g.Ptr[i]; p < g.Ptr[i+1]; p++ {
			v := 1.0
			if val != nil {
				v = float64(val[p])
			}
			y[i] += v * x[g.Idx[p]]
		}
	}
	return y
}

// TimesTransposed returns Aᵀ·x.
func TimesTransposed[T int32 | float32 | float64](g *gen.Graph, val []T, x []float64) []float64 {
	y := make([]float64, g.NCols)
	for i := range g.NRows {
		for p := g.Ptr[i]; p < g.Ptr[i+1]; p++ {
			v := 1.0
			if val != nil {
				v = float64(val[p])
			}
			y[g.Idx[p]] += v * x[i]
		}
	}
	return y
}
