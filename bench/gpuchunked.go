package bench

import (
	"context"
	"fmt"
	"hash/crc32"
	"math"
	"runtime"
	"time"
	"unsafe"

	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/chunked"
	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/hostmem"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/semiring"
)

const oneGiB = 1 << 30

// streamed is AᵀA in fp32, computed on a device and brought into host memory
// block by block, where A lives on the device.
type streamed struct {
	g      *gen.Graph
	val    []float32
	a, c   *matrix.Matrix[float32]
	report *chunked.Report
}

// newStreamed makes A of ones at a place. It refuses a result that does not fit the
// memory of the host.
func newStreamed(g *gen.Graph, at matrix.Place) (*streamed, error) {
	s := &streamed{g: g, val: values(g, func(uint64) float32 { return 1 })}
	var err error
	if s.a, err = matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, s.val); err != nil {
		return nil, err
	}
	about, _, err := chunked.Estimate(s.a.T(), s.a)
	if err != nil {
		return nil, err
	}
	const spare = 2 << 30
	if need, have := about*8+spare, hostmem.Available(); have > 0 && need > have {
		return nil, fmt.Errorf("the result of about %d entries needs %s GiB of host memory, and %s are available", about, gib(need), gib(have))
	}
	return s, s.a.Move(at)
}

func gib(bytes int64) string { return figure(float64(bytes) / oneGiB) }

func (s *streamed) run(ctx context.Context, opts ...chunked.Option) (err error) {
	s.c = matrix.New[float32](s.g.NCols, s.g.NCols)
	s.report, err = chunked.MxM(ctx, chunked.Into(s.c), semiring.PlusTimes[float32](), s.a.T(), s.a, opts...)
	return err
}

// drop releases the result.
func (s *streamed) drop() {
	s.c = nil
	runtime.GC()
}

// note releases the result and keeps a note on the run.
func (s *streamed) note(last *string) func() {
	return func() {
		*last = s.stages()
		s.drop()
	}
}

// bytes is the size of the result.
func (s *streamed) bytes() uint64 { return uint64(8*(s.g.NCols+1)) + 8*uint64(s.report.Entries) }

// wrong compares the row sums with Aᵀ·(A·1).
func (s *streamed) wrong() string {
	ones := make([]float64, s.g.NCols)
	for j := range ones {
		ones[j] = 1
	}
	want := timesTransposed(s.g, s.val, times(s.g, s.val, ones))
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

// sum is a checksum of the result.
func (s *streamed) sum() uint32 {
	st := access.Store(s.c)
	table := crc32.MakeTable(crc32.Castagnoli)
	sum := crc32.Checksum(bytesOf(st.Ptr), table)
	sum = crc32.Update(sum, table, bytesOf(st.Idx))
	return crc32.Update(sum, table, bytesOf(st.Val))
}

func bytesOf[E any](items []E) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(items))), len(items)*widthOf[E]())
}

// stages describes the stages of the last run.
func (s *streamed) stages() string {
	r := s.report
	return fmt.Sprintf("%d entries, %d blocks, plan %.0f ms, computing %.0f, copying %.0f, writing %.0f, wall %.0f, overlap %.2f, peak on the device %d MB",
		r.Entries, r.Blocks, ms(r.Plan), ms(r.Computing), ms(r.Copying), ms(r.Writing), ms(r.Wall), r.Overlap(), r.PeakDevice>>20)
}

func ms(d time.Duration) float64 { return d.Seconds() * 1e3 }

// pinnedPiece is the size of the pinned buffer that a bare copy reuses.
const pinnedPiece = 1 << 30

// pinnedCopy only copies to pinned memory of the host.
type pinnedCopy struct {
	side  *gpuSide
	m     *sideMemory
	from  driver.Ptr
	to    unsafe.Pointer
	piece uint64
}

func newPinnedCopy(s *gpuSide, bytes uint64) (*pinnedCopy, error) {
	p := &pinnedCopy{side: s, m: s.memory(), piece: max(min(bytes, pinnedPiece), 1)}
	p.from = p.m.alloc(p.piece)
	err := p.m.err
	if err == nil {
		err = s.do(func() (err error) { p.to, err = s.ctx.AllocHost(p.piece); return err })
	}
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// run copies so many bytes.
func (p *pinnedCopy) run(bytes uint64) (time.Duration, error) {
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

func (p *pinnedCopy) close() {
	p.m.free()
	if p.to != nil {
		_ = p.side.do(func() error { return p.side.ctx.FreeHost(p.to) })
	}
}

// gpuChunked is a product into host memory, beside a bare copy of its bytes or, within a
// budget, beside the same product without one.
func gpuChunked(budget uint64) func(b *gpuBench, in *gpuInput) (*gpuPlan, error) {
	return func(b *gpuBench, in *gpuInput) (*gpuPlan, error) {
		// The budget counts everything on the device, so buffers of earlier products
		// are freed.
		if a, ok := in.kept["matrix"].(*matrix.Matrix[float32]); ok {
			a.Clear()
			delete(in.kept, "matrix")
		}
		s, err := newStreamed(in.graph, b.dev)
		if err != nil {
			return nil, err
		}
		within := func(bytes uint64) func() error {
			return func() error {
				opts := []chunked.Option{chunked.On(b.dev)}
				if bytes > 0 {
					opts = append(opts, chunked.DeviceMemory(bytes))
				}
				return s.run(b.ctx, opts...)
			}
		}
		plan := &gpuPlan{}
		var note string
		plan.ours = []gpuContender{{name: "hiveblas", once: true, clock: wall, do: within(budget), after: s.note(&note)}}
		plan.check = func() (string, error) {
			if most := s.report.PeakDevice; budget > 0 && most > budget {
				return fmt.Sprintf("%d bytes were in use on the device", most), nil
			}
			return s.wrong(), nil
		}
		plan.notes = func() []string { return []string{note} }
		plan.close = s.a.Clear
		if budget > 0 {
			plan.others = []gpuContender{{name: "without a budget", once: true, clock: wall, do: within(0), after: s.drop}}
			return plan, nil
		}
		pinned, err := newPinnedCopy(b.side, pinnedPiece>>b.shrink)
		if err != nil {
			return nil, err
		}
		plan.close = func() {
			pinned.close()
			s.a.Clear()
		}
		plan.others = []gpuContender{{name: "bare pinned copy", timed: func() (time.Duration, error) { return pinned.run(s.bytes()) }}}
		return plan, nil
	}
}
