package collectives

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hiveblas/hiveblas/bench"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/commtable"
	"github.com/hiveblas/hiveblas/comm/model"
	"github.com/hiveblas/hiveblas/cusparse/driver"
)

//go:embed kernels/comm.cu
var commKernels string

// Options are the options of Comm.
type Options struct {
	// Driver and Compiler serve the GPUs; nil opens CUDA and NVRTC. Without a gpu.Run the table has
	// the rows of the host alone.
	Driver   driver.Driver
	Compiler driver.Compiler
	// Table is the size of the table on a device in bytes, rounded down to a power of two (0: 8
	// GiB, or a quarter of the memory if that is less); Host is the size of the table on the host
	// (0: 1 GiB).
	Table, Host uint64
	// Target is the time of one measurement of a row; 0 means 10 ms. Rounds is the number of
	// measurements; the median counts, and 0 means 5.
	Target time.Duration
	Rounds int
	// Largest is the size in bytes of the largest collective on GPUs (0: 1 GiB); on the host at
	// most 16 MiB count.
	Largest int
	// Only keeps the parts with one of these in their names: memory, latency, copies, local, mpi,
	// peers, nccl.
	Only []string
	// MPI is a command that measures under MPI, such as mpirun … hiveblas-bench rank, and prints
	// the JSON of a list of commtable.Collective; nil omits these rows.
	MPI []string
	// Log is called with the progress; nil for none.
	Log func(string)
}

// Parts returns the parts of the communication benchmark, for Options.Only.
func Parts() []string {
	return []string{"memory", "latency", "copies", "local", "mpi", "peers", "nccl"}
}

// commNotes tell what differs from the table of the HIVE report.
var commNotes = []string{
	"After chapter 13 of the HIVE report (2018), whose program (Gunrock 1.x, test_bandwidth_latency.cuh) had these faults, mended here:",
	"random: a thread of the report's program repeated one address 100 times, served by a cache; here every access has its own hash, in a table beyond the caches",
	"latency: the report divided the time of independent accesses of one thread, launch included; here each address depends on the value before",
	"all: the report dealt addresses round robin by word, which undoes coalescing, and took local memory for peers it did not reach; here stripes of 64 KiB, random accesses by a random owner, and an unreachable peer is an error",
	"host: the report read managed memory that the driver had copied to the device; here pinned memory read over the bus",
	"update: read and write without an atomic, as in the report; atomics have rows of their own. GB are 10⁹ bytes of payload; an update counts once",
}

// Run measures the memories that kernels of a gpu.Run reach, copies, and the collectives of every
// group that this machine can make. An interrupted run returns the rows so far with the error.
func Run(ctx context.Context, o Options) (*commtable.Table, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	if o.Target <= 0 {
		o.Target = 10 * time.Millisecond
	}
	if o.Rounds <= 0 {
		o.Rounds = 5
	}
	if o.Largest <= 0 {
		o.Largest = 1 << 30
	}
	t := &commtable.Table{Notes: commNotes}
	b := &commBench{ctx: ctx, o: o, t: t}
	defer b.close()
	if err := b.open(); err != nil {
		t.Machine = append(t.Machine, "no GPU: "+err.Error())
	}
	for _, part := range []struct {
		name string
		run  func() error
	}{
		{"memory", b.memory}, {"latency", b.latency}, {"copies", b.copies},
		{"local", b.local}, {"mpi", b.mpi}, {"peers", b.peers}, {"nccl", b.nccl},
	} {
		if !b.wants(part.name) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return t, err
		}
		b.log(part.name)
		if err := part.run(); err != nil {
			if ctx.Err() != nil {
				return t, err
			}
			t.Machine = append(t.Machine, part.name+": "+err.Error())
		}
	}
	return t, nil
}

// commBench is a run of the benchmark.
type commBench struct {
	ctx  context.Context
	o    Options
	t    *commtable.Table
	gpus []*commGPU
	mu   sync.Mutex // of o.Compiler
}

func (b *commBench) wants(part string) bool {
	return len(b.o.Only) == 0 || slices.ContainsFunc(b.o.Only, func(s string) bool { return strings.Contains(part, s) })
}

func (b *commBench) log(msg string) {
	if b.o.Log != nil {
		b.o.Log(msg)
	}
}

// median returns the median of Rounds measurements, after one that does not count.
func (b *commBench) median(measure func() (float64, error)) (float64, error) {
	var list []float64
	for round := range b.o.Rounds + 1 {
		if err := b.ctx.Err(); err != nil {
			return 0, err
		}
		x, err := measure()
		if err != nil {
			return 0, err
		}
		if round > 0 {
			list = append(list, x)
		}
	}
	return bench.QuartilesOf(list).Median, nil
}

// local measures groups of goroutines.
func (b *commBench) local() error {
	for _, p := range []int{2, 4} {
		group, err := comm.Local(p)
		if err != nil {
			return err
		}
		fits, err := b.group("local", group, make([]comm.Device, p))
		if err != nil {
			return err
		}
		b.t.Fits = append(b.t.Fits, fits...)
	}
	return nil
}

// group measures the collectives of a group of this process; nil devices are the host.
func (b *commBench) group(name string, group []comm.Comm, devices []comm.Device) ([]commtable.Collective, error) {
	fits, errs := make([][]commtable.Collective, len(group)), make([]error, len(group))
	done := make(chan int)
	for r, c := range group {
		go func() {
			largest := b.o.Largest
			if devices[r] == nil {
				largest = min(largest, 16<<20)
			}
			fits[r], errs[r] = commFits(b.ctx, name, c, devices[r], largest, b.o.Rounds)
			if errs[r] != nil {
				c.Abort(errs[r])
			}
			done <- r
		}()
	}
	for range group {
		<-done
	}
	for _, c := range group {
		errs = append(errs, c.Close())
	}
	return fits[0], errors.Join(errs...)
}

// Rank measures the collectives of a group on one rank; all ranks call it. The figures are the
// figures of rank 0, for sizes up to largest bytes in all (0: 16 MiB). Buffers are on the device,
// of the host if it is nil.
func Rank(ctx context.Context, name string, c comm.Comm, d comm.Device, largest, rounds int) ([]commtable.Collective, error) {
	if c == nil {
		return nil, errors.New("bench: the group is nil; make one with procs.Join")
	}
	if largest <= 0 {
		largest = 16 << 20
	}
	if ctx == nil {
		ctx = context.Background()
	}
	return commFits(ctx, name, c, d, largest, max(rounds, 1))
}

// commFits measures every kind of collective over sizes from 8 bytes a rank to largest in all.
func commFits(ctx context.Context, name string, c comm.Comm, d comm.Device, largest, rounds int) ([]commtable.Collective, error) {
	p := c.Size()
	var buffers [2]comm.Buffer
	words := largest/8 + p
	for i := range buffers {
		if d == nil {
			buffers[i] = comm.Host(make([]int64, words))
			continue
		}
		err := d.Do(func() error {
			at, err := d.Alloc(int64(words) * 8)
			buffers[i] = comm.OnDevice(at, comm.Int64, words)
			return err
		})
		if err != nil {
			return nil, err
		}
		defer func() { _ = d.Do(func() error { return d.Free(buffers[i].Device()) }) }()
	}
	var out []commtable.Collective
	for _, kind := range []comm.Kind{comm.KindFence, comm.KindAllGatherV, comm.KindAllReduce, comm.KindReduceScatter, comm.KindBroadcast, comm.KindAllToAllV} {
		fit := commtable.Collective{Group: name, Kind: kind.String(), Ranks: p}
		for n := p; n*8 <= largest; n = n * 8 / p * p {
			seconds, err := commTime(ctx, c, kind, buffers[0], buffers[1], n, rounds)
			if errors.Is(err, comm.ErrNoOp) {
				break
			}
			if err != nil {
				return nil, fmt.Errorf("%v of %d bytes: %w", kind, n*8, err)
			}
			e := c.Ledger().Of(kind)
			bytes := float64(e.In) / float64(max(e.Calls, 1))
			if kind == comm.KindBroadcast {
				bytes = float64(n * 8) // rank 0 receives nothing
			}
			fit.Points = append(fit.Points, model.Point{Bytes: bytes, Seconds: seconds})
			if kind == comm.KindFence {
				break
			}
		}
		if len(fit.Points) > 0 {
			l := model.Fit(fit.Points)
			fit.Alpha = l.Alpha * 1e6
			if !math.IsInf(l.N, 1) {
				fit.N = l.N / 1e9
			}
			out = append(out, fit)
		}
	}
	return out, nil
}

// commTime returns the time of a collective of n words in all, from a barrier on, the median over
// rounds of the mean of back-to-back calls. It leaves the ledger with these calls alone.
func commTime(ctx context.Context, c comm.Comm, kind comm.Kind, dst, src comm.Buffer, n, rounds int) (float64, error) {
	p := c.Size()
	each := n / p
	counts := slices.Repeat([]int{each}, p)
	once := func() error {
		switch kind {
		case comm.KindAllGatherV:
			return c.AllGatherV(ctx, dst.Slice(0, each*p), counts, src.Slice(0, each))
		case comm.KindAllReduce:
			return c.Reduce(ctx, dst.Slice(0, n), src.Slice(0, n), comm.Sum, false)
		case comm.KindReduceScatter:
			return c.Reduce(ctx, dst.Slice(0, each), src.Slice(0, each*p), comm.Sum, true)
		case comm.KindBroadcast:
			return c.Broadcast(ctx, dst.Slice(0, n), 0)
		case comm.KindAllToAllV:
			return c.AllToAllV(ctx, dst.Slice(0, each*p), counts, src.Slice(0, each*p), counts)
		}
		return c.Fence(ctx)
	}
	calls := max(2, min(50, 4<<20/(n*8)))
	var list []float64
	for round := range rounds + 1 {
		c.Ledger().Reset()
		if err := c.Fence(ctx); err != nil {
			return 0, err
		}
		c.Ledger().Reset()
		began := time.Now()
		for range calls {
			if err := once(); err != nil {
				return 0, err
			}
		}
		if round > 0 {
			list = append(list, time.Since(began).Seconds()/float64(calls))
		}
	}
	return bench.QuartilesOf(list).Median, nil
}
