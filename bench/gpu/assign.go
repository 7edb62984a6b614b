package gpu

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"github.com/hiveblas/hiveblas/auction"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/bench/internal/gpuside"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// uniformCosts returns an n×n matrix of uniform integers below 1000.
func uniformCosts(n int, seed uint64) (*matrix.Matrix[int32], error) {
	val := make([]int32, n*n)
	for k := range val {
		val[k] = int32(gen.Hash(uint64(k), seed) % 1000)
	}
	return matrix.FromDense(n, n, val)
}

// commonNeighbours returns the number of common neighbours of each two vertices of an
// R-MAT graph: costs with many ties.
func commonNeighbours(scale, edgeFactor int) (*matrix.Matrix[int32], error) {
	g := gen.CSR(gen.Symmetrise(gen.RMAT(scale, edgeFactor, gen.RMATOptions{})))
	a, err := matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, make([]int32, g.NNZ()))
	if err != nil {
		return nil, err
	}
	c := matrix.New[int32](g.NRows, g.NCols)
	return c, ops.MxM(c, semiring.PlusPair[int32](), a.Pattern(), a.Pattern())
}

// gpuAssign is an assignment problem with costs on the device, by the library's auction, checked by
// augmenting paths on the host.
type gpuAssign struct {
	costs    func(shrink int) (*matrix.Matrix[int32], error)
	implicit bool // counts over a default of 0, to be maximised
	epsilon  float64
	scipy    bool
}

func denseAssign(n int) gpuAssign {
	return gpuAssign{scipy: true, costs: func(shrink int) (*matrix.Matrix[int32], error) { return uniformCosts(max(n>>shrink, 24), 1) }}
}

func countsAssign(epsilon float64) gpuAssign {
	return gpuAssign{implicit: true, epsilon: epsilon, costs: func(shrink int) (*matrix.Matrix[int32], error) {
		return commonNeighbours(max(14-shrink, 5), 4)
	}}
}

func (c gpuAssign) plan(b *gpuBench, _ *inputs.GPU) (*gpuPlan, error) {
	host, err := c.costs(b.shrink)
	if err != nil {
		return nil, err
	}
	o := auction.Options{Context: b.ctx, Maximize: c.implicit, Epsilon: c.epsilon}
	problem := func(a *matrix.Matrix[int32]) *auction.Problem {
		if c.implicit {
			return auction.Implicit[int32](a, 0)
		}
		return auction.Dense[int32](a)
	}
	n, _ := host.Dims()
	start := time.Now()
	want, err := auction.JonkerVolgenant(problem(host), o)
	if err != nil {
		return nil, err
	}
	paths := time.Since(start)
	there := access.FromStore(access.Store(host))
	start = time.Now()
	if err := there.Move(b.dev); err != nil {
		return nil, err
	}
	moved := time.Since(start)
	var res *auction.Result
	plan := &gpuPlan{bytes: func() float64 { return float64(host.NVals()) * 8 }}
	plan.ours = []gpuside.Contender{{Name: "hiveblas", Once: true, Clock: gpuside.Wall, Method: func() string { return res.Method }, Do: func() (err error) {
		res, err = auction.Solve(problem(there), o)
		return err
	}}}
	plan.check = func() (string, error) {
		missed := res.Sum - want.Sum
		if o.Maximize {
			missed = -missed
		}
		if missed < 0 || float64(missed) > res.Gap {
			return fmt.Sprintf("the value is %d, with a gap of %v; the best is %d", res.Sum, res.Gap, want.Sum), nil
		}
		return "", nil
	}
	plan.notes = func() []string {
		return []string{fmt.Sprintf("order %d, %d entries: value %d (best %d, gap %v), %d phases, %d rounds, %d bids; %.0f ms by paths on the host; copying the costs took %.0f ms",
			n, host.NVals(), res.Sum, want.Sum, res.Gap, res.Phases, res.Rounds, res.Bids, paths.Seconds()*1e3, moved.Seconds()*1e3)}
	}
	if !c.scipy || b.NoPeers {
		return plan, nil
	}
	peer, err := startScipyAssign(host, want.Sum)
	if err != nil {
		b.log("SciPy is left out: %v", err)
		return plan, nil
	}
	plan.others = []gpuside.Contender{{Name: "scipy|linear_sum_assignment", Once: true, Timed: peer.run}}
	plan.close = peer.close
	return plan, nil
}

// scipyAssign is SciPy's linear_sum_assignment in a process of its own.
type scipyAssign struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	want int64
	runs int
	last time.Duration
}

const scipyAssignScript = `
import sys, time
import numpy as np
from scipy.optimize import linear_sum_assignment
n = int(sys.argv[1])
c = np.frombuffer(sys.stdin.buffer.read(4 * n * n), dtype="<i4").reshape(n, n)
print("ready", flush=True)
for line in sys.stdin:
    start = time.perf_counter()
    row, col = linear_sum_assignment(c)
    print(time.perf_counter() - start, int(c[row, col].sum()), flush=True)
`

// scipyPython finds a Python with SciPy; distributions package it for their own Python.
func scipyPython() (path string, err error) {
	for _, path = range []string{"python3", "/usr/bin/python3"} {
		if err = exec.Command(path, "-c", "import scipy.optimize").Run(); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("python3 with SciPy: %w", err)
}

// startScipyAssign passes a full matrix to SciPy. want is the optimal value.
func startScipyAssign(a *matrix.Matrix[int32], want int64) (*scipyAssign, error) {
	python, err := scipyPython()
	if err != nil {
		return nil, err
	}
	n, _ := a.Dims()
	p := &scipyAssign{cmd: exec.Command(python, "-c", scipyAssignScript, fmt.Sprint(n)), want: want}
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	w := bufio.NewWriterSize(p.in, 1<<20)
	err = errors.Join(binary.Write(w, binary.LittleEndian, access.Store(a).Val), w.Flush())
	if err == nil {
		_, err = p.out.ReadString('\n')
	}
	if err != nil {
		p.close()
		return nil, fmt.Errorf("python3 with SciPy: %w", err)
	}
	return p, nil
}

// Run lets SciPy solve the problem once. Since that can take long, the third and later
// runs return the time of the second.
func (p *scipyAssign) run() (time.Duration, error) {
	if p.runs++; p.runs > 2 && p.last > time.Second {
		return p.last, nil
	}
	var seconds float64
	var value int64
	if _, err := fmt.Fprintln(p.in, "run"); err != nil {
		return 0, err
	}
	if _, err := fmt.Fscanln(p.out, &seconds, &value); err != nil {
		return 0, err
	}
	if value != p.want {
		return 0, fmt.Errorf("SciPy's value is %d, ours %d", value, p.want)
	}
	p.last = time.Duration(seconds * float64(time.Second))
	return p.last, nil
}

func (p *scipyAssign) close() {
	_ = p.in.Close()
	_ = p.cmd.Wait()
}
