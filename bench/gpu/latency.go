package gpu

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/bench/internal/gpuside"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// smallGraph has 1000 entries in 250 rows.
func smallGraph() *gen.Graph {
	t := gen.Tuples{NRows: 250, NCols: 250}
	for p := range 1000 {
		t.Rows, t.Cols = append(t.Rows, int32(p/4)), append(t.Cols, int32((p/4+1+p%4*61)%250))
	}
	return gen.CSR(t)
}

// gpuSmall is one product with a matrix of 1000 entries, from the call until
// the result has been read on the host.
func gpuSmall(b *gpuBench, _ *inputs.GPU) (*gpuPlan, error) {
	g := smallGraph()
	a, err := onDevice(b, g, inputs.Values(g, inputs.Unit[float32]))
	if err != nil {
		return nil, err
	}
	x, err := vectorOn(b, inputs.Values(&gen.Graph{NRows: 1, Ptr: []int64{0, int64(g.NCols)}}, inputs.Unit[float32]))
	if err != nil {
		return nil, err
	}
	p := &product[float32, float32, float32]{s: semiring.PlusTimes[float32](), a: a, x: x, w: matrix.NewVector[float32](g.NRows, matrix.On(b.dev))}
	ours := p.contender(b, "hiveblas", ops.Auto)
	multiply := ours.Do
	ours.Clock = gpuside.Wall
	ours.Do = func() error {
		if err := multiply(); err != nil {
			return err
		}
		_, err := p.w.Value(0)
		return err
	}
	return &gpuPlan{ours: []gpuside.Contender{ours}, check: p.check}, nil
}

// FirstUse opens the first Run, multiplies a small matrix by a vector on it
// and returns the time from Open to the result on the host. Call it in a fresh
// process.
func FirstUse(opts ...cusparse.Option) (time.Duration, error) {
	g := smallGraph()
	a, err := matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, inputs.Values(g, inputs.Unit[float32]))
	if err != nil {
		return 0, err
	}
	x, err := matrix.NewFullVector(g.NCols, float32(1))
	if err != nil {
		return 0, err
	}
	var dev *cusparse.Device
	took, err := gpuside.Wall(func() error {
		var err error
		if dev, err = cusparse.Open(0, opts...); err != nil {
			return err
		}
		w := matrix.NewVector[float32](g.NRows, matrix.On(dev))
		if err := ops.MxV(w, semiring.PlusTimes[float32](), a, x); err != nil {
			return err
		}
		_, err = w.Value(0)
		return err
	})
	if err != nil {
		return 0, err
	}
	return took, dev.Close()
}

// gpuFirstUse runs FirstUse in separate processes. The first fills the kernel cache on
// disk for the others.
func gpuFirstUse(b *gpuBench, _ *inputs.GPU) (*gpuPlan, error) {
	if len(b.FirstUse) == 0 {
		return nil, fmt.Errorf("no command is given that starts a fresh process")
	}
	return &gpuPlan{ours: []gpuside.Contender{{Name: "hiveblas", Timed: func() (time.Duration, error) { return firstUse(b.ctx, b.FirstUse) }}}}, nil
}

func firstUse(ctx context.Context, command []string) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return 0, fmt.Errorf("%s: %w: %s", strings.Join(command, " "), err, strings.TrimSpace(errs.String()))
	}
	ms, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	if err != nil {
		return 0, fmt.Errorf("%s printed %q, want milliseconds", strings.Join(command, " "), out)
	}
	return time.Duration(ms * float64(time.Millisecond)), nil
}
