package gpu

import (
	"fmt"
	"time"

	"github.com/hiveblas/hiveblas/bench/internal/gpuside"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/chunked"
	"github.com/hiveblas/hiveblas/matrix"
)

// gpuChunked is a product into host memory, beside a bare copy of its bytes or, within a
// budget, beside the same product without one.
func gpuChunked(budget uint64) func(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
	return func(b *gpuBench, in *inputs.GPU) (*gpuPlan, error) {
		// The budget counts everything on the device, so buffers of earlier products
		// are freed.
		if a, ok := in.Kept["matrix"].(*matrix.Matrix[float32]); ok {
			a.Clear()
			delete(in.Kept, "matrix")
		}
		s, err := gpuside.NewStreamed(in.Graph, b.dev)
		if err != nil {
			return nil, err
		}
		within := func(bytes uint64) func() error {
			return func() error {
				opts := []chunked.Option{chunked.On(b.dev)}
				if bytes > 0 {
					opts = append(opts, chunked.DeviceMemory(bytes))
				}
				return s.Run(b.ctx, opts...)
			}
		}
		plan := &gpuPlan{}
		var note string
		plan.ours = []gpuside.Contender{{Name: "hiveblas", Once: true, Clock: gpuside.Wall, Do: within(budget), After: s.Note(&note)}}
		plan.check = func() (string, error) {
			if most := s.Report.PeakDevice; budget > 0 && most > budget {
				return fmt.Sprintf("%d bytes were in use on the device", most), nil
			}
			return s.Wrong(), nil
		}
		plan.notes = func() []string { return []string{note} }
		plan.close = s.A.Clear
		if budget > 0 {
			plan.others = []gpuside.Contender{{Name: "without a budget", Once: true, Clock: gpuside.Wall, Do: within(0), After: s.Drop}}
			return plan, nil
		}
		pinned, err := gpuside.NewPinnedCopy(b.side, gpuside.PinnedPiece>>b.shrink)
		if err != nil {
			return nil, err
		}
		plan.close = func() {
			pinned.Close()
			s.A.Clear()
		}
		plan.others = []gpuside.Contender{{Name: "bare pinned copy", Timed: func() (time.Duration, error) { return pinned.Run(s.Bytes()) }}}
		return plan, nil
	}
}
