package collectives

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/bits"
	"os/exec"
	"runtime"
	"strings"
	"unsafe"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/commtable"
	"github.com/hiveblas/hiveblas/comm/nccl"
	"github.com/hiveblas/hiveblas/comm/procs"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/cusparse/jit"
)

// commGrains are the bytes of random accesses.
var commGrains = []int{4, 8, 16, 32, 128, 256}

// commOps are the operations of accesses; a kernel knows them by their index.
var commOps = []string{"read", "write", "update", "add", "min", "cas"}

// commGPU is a device of the benchmark.
type commGPU struct {
	index   int
	props   driver.Properties
	ctx     driver.Context
	stream  driver.Stream
	events  [2]driver.Event
	table   driver.Ptr
	sink    driver.Ptr
	modules map[int]driver.Module // by grain
}

// Do calls f on a thread with the context.
func (g *commGPU) do(f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := g.ctx.Bind(); err != nil {
		return err
	}
	return f()
}

// open opens the devices and their tables.
func (b *commBench) open() (err error) {
	if b.o.Driver == nil {
		if b.o.Driver, err = driver.Open(); err != nil {
			return err
		}
	}
	n, err := b.o.Driver.Devices()
	if err != nil || n == 0 {
		return errors.Join(driver.ErrNoDevice, err)
	}
	version, err := b.o.Driver.Version()
	if err != nil {
		return err
	}
	b.t.Machine = append(b.t.Machine, fmt.Sprintf("CUDA %d.%d by %s", version/1000, version%1000/10, b.o.Driver.Name()))
	for i := range n {
		g := &commGPU{index: i, modules: map[int]driver.Module{}}
		if g.props, err = b.o.Driver.Describe(i); err != nil {
			return err
		}
		if g.ctx, err = b.o.Driver.Open(i); err != nil {
			return err
		}
		b.gpus = append(b.gpus, g)
		err = g.do(func() error {
			if g.stream, err = g.ctx.NewStream(); err != nil {
				return err
			}
			for k := range g.events {
				if g.events[k], err = g.ctx.NewEvent(); err != nil {
					return err
				}
			}
			g.sink, err = g.ctx.Alloc(256)
			return err
		})
		if err != nil {
			return err
		}
		b.t.Machine = append(b.t.Machine, fmt.Sprintf("gpu:%d %s, memory clock %d MHz", i, g.props.Name, g.props.MemoryClockKHz/1000))
	}
	b.reach()
	return nil
}

// reach lets every device read every other one, and tells which cannot.
func (b *commBench) reach() {
	for _, g := range b.gpus {
		for _, h := range b.gpus {
			if g == h {
				continue
			}
			err := g.do(func() error {
				p, ok := g.ctx.(driver.Peers)
				if !ok {
					return driver.ErrNotSupported
				}
				if can, err := p.CanAccess(h.index); err != nil || !can {
					return errors.Join(errors.New("no peer access"), err)
				}
				return p.EnableAccess(h.ctx)
			})
			if err != nil {
				b.t.Machine = append(b.t.Machine, fmt.Sprintf("gpu:%d does not reach gpu:%d: %v", g.index, h.index, err))
			}
		}
	}
}

func (b *commBench) close() {
	for _, g := range b.gpus {
		_ = g.do(func() error {
			for _, m := range g.modules {
				_ = g.ctx.Unload(m)
			}
			for _, p := range []driver.Ptr{g.table, g.sink} {
				if p != 0 {
					_ = g.ctx.Free(p)
				}
			}
			return nil
		})
		_ = g.ctx.Close()
	}
	b.gpus = nil
}

// tables allocates the table of each device, of the size that fits the smallest.
func (b *commBench) tables() (uint64, error) {
	size := b.o.Table
	if size == 0 {
		size = 8 << 30
		for _, g := range b.gpus {
			size = min(size, g.props.Memory/4)
		}
	}
	if size < 1<<16 {
		return 0, fmt.Errorf("bench: a table of %d bytes is too small, give 65536 or more", size)
	}
	size = 1 << (63 - bits.LeadingZeros64(size))
	for _, g := range b.gpus {
		if g.table != 0 {
			continue
		}
		err := g.do(func() (err error) {
			if g.table, err = g.ctx.Alloc(size); err != nil {
				return err
			}
			return g.ctx.Fill(g.table, 0, size, g.stream)
		})
		if err != nil {
			return 0, err
		}
	}
	return size, nil
}

// function returns a kernel, compiled for a grain.
func (b *commBench) function(g *commGPU, grain int, name string) (driver.Function, error) {
	m, ok := g.modules[grain]
	if !ok {
		c, err := b.compiler()
		if err != nil {
			return 0, err
		}
		image, err := c.Compile(commSource(grain), "comm.cu", fmt.Sprintf("sm_%d%d", g.props.Major, g.props.Minor))
		if err != nil {
			return 0, err
		}
		if m, err = g.ctx.Load(image); err != nil {
			return 0, err
		}
		g.modules[grain] = m
	}
	return g.ctx.Function(m, name)
}

func (b *commBench) compiler() (c driver.Compiler, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.o.Compiler == nil {
		b.o.Compiler, err = driver.OpenCompiler()
	}
	return b.o.Compiler, err
}

// commSource returns the kernels for a grain.
func commSource(grain int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "#define GRAIN %d\n", grain)
	for k, op := range commOps {
		fmt.Fprintf(&b, "#define %s %d\n", strings.ToUpper(op), k)
	}
	b.WriteString(commKernels)
	for k, op := range commOps {
		if op == "cas" && grain < 8 {
			continue // of 8 bytes
		}
		fmt.Fprintf(&b, `
extern "C" __global__ void hb_random_%[1]s(hb_tables t, u32 pieces, u32 log, u64 count, u64 turn, u32 *sink)
{
    hb_random<%[2]d>(t, pieces, log, count, turn, sink);
}

extern "C" __global__ void hb_regular_%[1]s(hb_tables t, u32 pieces, u64 bytes, u32 *sink)
{
    hb_regular<%[2]d>(t, pieces, bytes, sink);
}
`, op, k)
	}
	return b.String()
}

// pieces are the parts of a table, each a power of two in bytes.
type pieces struct {
	at   [16]uint64
	n    uint32
	size uint64 // of a part
}

// launch returns the seconds of a kernel, by events.
func (b *commBench) launch(g *commGPU, f driver.Function, threads int, args ...unsafe.Pointer) (seconds float64, err error) {
	grid, block := [3]uint32{uint32(g.props.Multiprocessors * 8), 1, 1}, [3]uint32{256, 1, 1}
	if g.props.OneByOne {
		grid, block = [3]uint32{2, 1, 1}, [3]uint32{64, 1, 1}
	}
	if threads == 1 {
		grid, block = [3]uint32{1, 1, 1}, [3]uint32{1, 1, 1}
	}
	err = g.do(func() error {
		if err := g.ctx.Record(g.events[0], g.stream); err != nil {
			return err
		}
		if err := g.ctx.Launch(f, grid, block, 0, g.stream, args); err != nil {
			return err
		}
		if err := g.ctx.Record(g.events[1], g.stream); err != nil {
			return err
		}
		if err := g.ctx.Sync(g.stream); err != nil {
			return err
		}
		ms, err := g.ctx.Elapsed(g.events[0], g.events[1])
		seconds = float64(ms) / 1e3
		return err
	})
	return seconds, err
}

// places returns what device 0 reaches: its own memory, each peer, all devices at once, the host.
func (b *commBench) places(size uint64, host func(f func(p pieces) error) error, visit func(place string, p pieces) error) error {
	if err := visit("self", pieces{[16]uint64{uint64(b.gpus[0].table)}, 1, size}); err != nil {
		return err
	}
	all := pieces{size: size}
	for i, g := range b.gpus {
		if i < 16 {
			all.at[i] = uint64(g.table)
		}
		if i == 0 || i > 1 && g.index > 1 && len(b.gpus) > 4 && i != len(b.gpus)-1 {
			continue
		}
		if err := visit(fmt.Sprintf("peer 0→%d", i), pieces{[16]uint64{uint64(g.table)}, 1, size}); err != nil {
			return err
		}
	}
	if len(b.gpus) > 1 {
		all.n = 1 << (31 - bits.LeadingZeros32(uint32(min(len(b.gpus), 16))))
		if err := visit("all", all); err != nil {
			return err
		}
	}
	return host(func(p pieces) error { return visit("host", p) })
}

// onHost calls f with a table in pinned memory of the host.
func (b *commBench) onHost(f func(p pieces) error) error {
	g := b.gpus[0]
	size := b.o.Host
	if size == 0 {
		size = 1 << 30
	}
	size = 1 << (63 - bits.LeadingZeros64(max(size, 1<<16)))
	var at unsafe.Pointer
	err := g.do(func() (err error) { at, err = g.ctx.AllocHost(size); return err })
	if err != nil {
		return err
	}
	defer func() { _ = g.do(func() error { return g.ctx.FreeHost(at) }) }()
	clear(unsafe.Slice((*byte)(at), size))
	return f(pieces{[16]uint64{uint64(uintptr(at))}, 1, size})
}

// commDevices makes the devices of groups.
func (b *commBench) commDevices(n int) (out []comm.Device, err error) {
	for _, g := range b.gpus[:n] {
		kernels := jit.Open("", fmt.Sprintf("sm_%d%d", g.props.Major, g.props.Minor), driver.CompilerIdentity(), b.compiler)
		if g.props.OneByOne {
			kernels = nil
		}
		d, err := cusparse.CommDevice(g.ctx, g.index, g.stream, kernels)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

// free gives the tables back, for the buffers of collectives.
func (b *commBench) free() error {
	for _, g := range b.gpus {
		if g.table == 0 {
			continue
		}
		if err := g.do(func() error { return g.ctx.Free(g.table) }); err != nil {
			return err
		}
		g.table = 0
	}
	return nil
}

// groupsOf measures groups of 2, 4, … devices.
func (b *commBench) groupsOf(name string, open func(devices []comm.Device) ([]comm.Comm, error)) error {
	if len(b.gpus) < 2 {
		return fmt.Errorf("needs two GPUs, this machine has %d", len(b.gpus))
	}
	if err := b.free(); err != nil {
		return err
	}
	for p := 2; p <= len(b.gpus); p *= 2 {
		devices, err := b.commDevices(p)
		if err != nil {
			return err
		}
		group, err := open(devices)
		if err != nil {
			return err
		}
		fits, err := b.group(name, group, devices)
		b.t.Fits = append(b.t.Fits, fits...)
		if err != nil {
			return err
		}
	}
	return nil
}

func (b *commBench) peers() error {
	return b.groupsOf("peers", func(devices []comm.Device) ([]comm.Comm, error) { return comm.Peers(devices) })
}

func (b *commBench) nccl() error {
	path, version, err := nccl.Version()
	if err != nil {
		return err
	}
	b.t.Machine = append(b.t.Machine, "NCCL "+version+", "+path)
	return b.groupsOf("nccl", func(devices []comm.Device) ([]comm.Comm, error) { return nccl.Ranks(b.ctx, devices) })
}

// mpi runs the ranks of MPI in other processes.
func (b *commBench) mpi() error {
	if len(b.o.MPI) == 0 {
		return errors.New("needs mpirun (apt-get install openmpi-bin)")
	}
	ctx, cancel := context.WithCancel(b.ctx)
	defer cancel()
	cmd := exec.CommandContext(ctx, b.o.MPI[0], b.o.MPI[1:]...)
	var problems strings.Builder
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(problems.String()))
	}
	var fits []commtable.Collective
	if err := json.Unmarshal(out, &fits); err != nil {
		return fmt.Errorf("the output of %s: %w", b.o.MPI[0], err)
	}
	b.t.Fits = append(b.t.Fits, fits...)
	if _, version, err := procs.MPIVersion(); err == nil {
		b.t.Machine = append(b.t.Machine, version)
	}
	return nil
}
