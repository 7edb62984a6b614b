package comm

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/dl"
)

// NCCL returns a group of GPUs of this process, one rank for each, whose data NCCL carries; use
// each rank in a goroutine of its own. Devices must differ. Buffers are on the rank's device; those
// of the host, which all ranks of a collective then use, go through the device in pieces of 1 MiB
// at most and are meant for scalars. Within a host, Peers has the lower latency.
//
// Reduce knows Sum, Prod, Min and Max of integers of 8, 32 and 64 bits, and SumAnyOrder of these
// and of floats; otherwise it returns ErrNoOp and AllReduce folds by the caller's Folder.
//
// Communicators do not block: every wait ends with the deadline or the group, and on failure
// ncclCommAbort runs on every rank. The error wraps ErrNoNCCL, and names the library and version
// found, if there is none of version 2.23 or newer.
func NCCL(ctx context.Context, devices []Device, opts ...Option) ([]Comm, error) {
	if len(devices) < 1 || len(devices) > maxLocal {
		return nil, &ArgumentError{"NCCL", "devices", fmt.Sprintf("has %d devices", len(devices)), "give one or more"}
	}
	numbers := map[int]bool{}
	for i, d := range devices {
		switch {
		case d == nil:
			return nil, &ArgumentError{"NCCL", "devices", fmt.Sprintf("has no device at %d", i), "open it with cusparse.Open"}
		case numbers[d.Number()]:
			return nil, &ArgumentError{"NCCL", "devices", fmt.Sprintf("has device %d twice", d.Number()), "give different devices, or use Peers"}
		}
		numbers[d.Number()] = true
	}
	l, err := openNCCL()
	if err != nil {
		return nil, err
	}
	id, err := l.uniqueID()
	if err != nil {
		return nil, err
	}
	opt := gather(opts)
	life := newLife()
	out, errs := make([]Comm, len(devices)), make([]error, len(devices))
	hub := newHub(len(devices), life)
	var wait sync.WaitGroup
	for r, d := range devices {
		wait.Go(func() {
			p, err := newNCCLPlane(ctx, l, d, id, r, len(devices), life, &opt)
			if err != nil {
				errs[r] = fmt.Errorf("NCCL: rank %d: %w", r, err)
				life.fail(&RankError{Rank: r, Cause: err})
				return
			}
			p.hub = hub
			out[r] = newGroup(p, r, len(devices), life, &opt)
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		for _, c := range out {
			if c != nil {
				_ = c.Close()
			}
		}
		return nil, err
	}
	return out, nil
}

// ncclScratch is the device memory by which buffers of the host travel.
const ncclScratch = 1 << 20

// ncclPlane is the plane of a rank of NCCL.
type ncclPlane struct {
	lib        *ncclLib
	device     Device
	rank, size int
	life       *life
	opt        *options
	control    *control // among processes, else nil
	hub        *hub     // within a process, else nil
	name       string   // the same on all members
	first      bool     // not of Split

	mu      sync.Mutex // of calls on comm
	comm    uintptr    // 0 when it was destroyed or aborted
	scratch uint64
	unhook  func() bool
}

// newNCCLPlane joins the world of id.
func newNCCLPlane(ctx context.Context, l *ncclLib, d Device, id []byte, rank, size int, life *life, opt *options) (*ncclPlane, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeoutCause(ctx, initTimeout, ErrTimeout)
	defer cancel()
	p := &ncclPlane{lib: l, device: d, rank: rank, size: size, life: life, opt: opt, name: "nccl", first: true}
	err := d.Do(func() (err error) {
		p.scratch, err = d.Alloc(2 * ncclScratch)
		return err
	})
	if err != nil {
		return nil, err
	}
	out := new(uintptr)
	cfg := newNCCLConfig()
	err = d.Do(func() error {
		code := dl.Call(l.initRankScalable, uintptr(unsafe.Pointer(out)), uintptr(size), uintptr(rank), 1,
			uintptr(unsafe.Pointer(&id[0])), uintptr(unsafe.Pointer(cfg)))
		return l.check("ncclCommInitRankScalable", code, 0)
	})
	p.comm = *out
	if err == nil {
		p.hook()
		err = p.ready(ctx, "ncclCommInitRankScalable")
	}
	runtime.KeepAlive(cfg)
	if err != nil {
		p.abort()
		p.free()
		return nil, err
	}
	return p, nil
}

// hook makes the failure of the group abort the communicator, whatever the rank does meanwhile:
// within a host abort must run on every rank.
func (p *ncclPlane) hook() { p.unhook = context.AfterFunc(p.life.ctx, p.abort) }

func (p *ncclPlane) free() {
	if p.scratch != 0 && p.first {
		_ = p.device.Do(func() error { return p.device.Free(p.scratch) })
		p.scratch = 0
	}
}

// ended returns why a wait must end, or nil.
func (p *ncclPlane) ended(ctx context.Context) error {
	if p.life.ctx.Err() != nil {
		return p.life.failure()
	}
	return ctx.Err()
}

// ready polls until the calls on the communicator are no longer in progress.
func (p *ncclPlane) ready(ctx context.Context, name string) error {
	state := new(int32)
	for began := time.Now(); ; {
		p.mu.Lock()
		if p.comm == 0 {
			p.mu.Unlock()
			return cmpErr(p.ended(ctx), ErrGroupClosed)
		}
		code := dl.Call(p.lib.getAsyncError, p.comm, uintptr(unsafe.Pointer(state)))
		err := p.lib.check("ncclCommGetAsyncError", code, p.comm)
		if err == nil {
			err = p.lib.check(name, *state, p.comm)
		}
		p.mu.Unlock()
		if err != nil || *state == ncclSuccess {
			return err
		}
		if err := p.ended(ctx); err != nil {
			return err
		}
		if wait := time.Since(began); wait < busyWait {
			runtime.Gosched()
		} else {
			time.Sleep(min(wait/16, time.Millisecond))
		}
	}
}

// lacks: NCCL has no bitwise operators and no 16-bit integers, does not say how it orders sums of
// floats, and not what min and max do with NaN.
func (p *ncclPlane) lacks(c *call) bool {
	t := c.dst.dtype
	return !c.op.exact(t) || c.op == And || c.op == Or || c.op == Xor || t == Int16 || t == Uint16
}

// ncclTypes are ncclDataType_t of the element types; lacks excludes those of 16 bits.
var ncclTypes = [dtypes]uintptr{
	Int8: 0, Uint8: 1, Int32: 2, Uint32: 3, Int64: 4, Uint64: 5, Float32: 7, Float64: 8,
}

// ncclOps are ncclRedOp_t.
var ncclOps = [ops]uintptr{Sum: 0, Prod: 1, Max: 2, Min: 3, SumAnyOrder: 0}

func (p *ncclPlane) run(ctx context.Context, c *call) error {
	if p.hub != nil {
		calls, err := p.hub.meet(ctx, p.rank, c) // verifies the call; ranks of a process start together
		if err != nil {
			return err
		}
		defer p.hub.leave()
		_ = calls
	}
	if p.control != nil {
		p.control.enter(c)
		defer p.control.leave()
		if p.opt.check {
			if err := p.control.check(ctx, c, p.name, p.rank, p.size); err != nil {
				return err
			}
		}
	}
	if c.kind == KindFence {
		one := OnDevice(p.scratch, Int32, 1)
		return p.onDevice(ctx, &call{kind: KindAllReduce, dst: one, src: one})
	}
	if c.dst.OnHost() && c.dst.n+c.src.n > 0 && (c.src.n == 0 || c.src.OnHost()) && (c.dst.n > 0 || c.src.OnHost()) {
		return p.staged(ctx, c)
	}
	return p.onDevice(ctx, c)
}

// staged does a collective of buffers of the host by way of the scratch memory.
func (p *ncclPlane) staged(ctx context.Context, c *call) error {
	if c.dst.Size() > ncclScratch || c.src.Size() > ncclScratch {
		return c.invalid("dst or src", fmt.Sprintf("is on the host and has more than %d bytes", ncclScratch), "copy it to the device")
	}
	on := *c
	on.dst = OnDevice(p.scratch, c.dst.dtype, c.dst.n)
	on.src = OnDevice(p.scratch+ncclScratch, c.src.dtype, c.src.n)
	err := p.device.Do(func() error {
		if c.kind == KindBroadcast && c.dst.n > 0 {
			return p.device.ToDevice(on.dst.device, c.dst.host, c.dst.Size())
		}
		if c.src.n > 0 {
			return p.device.ToDevice(on.src.device, c.src.host, c.src.Size())
		}
		return nil
	})
	if err == nil {
		err = p.onDevice(ctx, &on)
	}
	if err != nil || c.dst.n == 0 {
		return err
	}
	return p.device.Do(func() error {
		if err := p.device.ToHost(c.dst.host, on.dst.device, c.dst.Size()); err != nil {
			return err
		}
		return awaitDevice(ctx, p.device, nil)
	})
}

// onDevice queues a collective of buffers on the device and waits for it.
func (p *ncclPlane) onDevice(ctx context.Context, c *call) error {
	err := p.device.Do(func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.comm == 0 {
			return cmpErr(p.ended(ctx), ErrGroupClosed)
		}
		return p.queue(c)
	})
	if err == nil {
		err = p.ready(ctx, c.kind.String())
	}
	if err != nil {
		return err
	}
	// NCCL may have left another context current: Do binds the device's again.
	return p.device.Do(func() error {
		return awaitDevice(ctx, p.device, func() error { return p.watch(ctx) })
	})
}

// watch looks for an error of the communicator while the device works.
func (p *ncclPlane) watch(ctx context.Context) error {
	if err := p.ended(ctx); err != nil {
		return err
	}
	state := new(int32)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.comm == 0 {
		return ErrGroupClosed
	}
	code := dl.Call(p.lib.getAsyncError, p.comm, uintptr(unsafe.Pointer(state)))
	if err := p.lib.check("ncclCommGetAsyncError", code, p.comm); err != nil {
		return err
	}
	return p.lib.check("ncclCommGetAsyncError", *state, p.comm)
}

// queue enqueues a collective. Moves are of bytes.
func (p *ncclPlane) queue(c *call) error {
	l, s := p.lib, p.device.Stream()
	const bytes = 1 // ncclUint8
	switch c.kind {
	case KindAllGatherV:
		n := c.recv[0]
		if !slices.ContainsFunc(c.recv, func(k int) bool { return k != n }) {
			if n == 0 {
				return nil
			}
			return l.check("ncclAllGather", dl.Call(l.allGather, uintptr(c.src.device), uintptr(c.dst.device), uintptr(c.src.Size()), bytes, p.comm, s), p.comm)
		}
		at := offsets(c.recv)
		return p.group(p.size, func(r int) error {
			b := c.dst.Slice(at[r], at[r+1])
			if b.n == 0 {
				return nil
			}
			src := b
			if r == p.rank {
				src = c.src
			}
			return l.check("ncclBroadcast", dl.Call(l.broadcast, uintptr(src.device), uintptr(b.device), uintptr(b.Size()), bytes, uintptr(r), p.comm, s), p.comm)
		})
	case KindAllToAllV:
		from, to := offsets(c.send), offsets(c.recv)
		out, in := c.src.Slice(from[p.rank], from[p.rank+1]), c.dst.Slice(to[p.rank], to[p.rank+1])
		if out.n > 0 {
			if err := p.device.Copy(in.device, out.device, out.Size()); err != nil {
				return err
			}
		}
		return p.group(p.size, func(k int) error {
			next, last := (p.rank+k)%p.size, (p.rank-k+p.size)%p.size
			if b := c.src.Slice(from[next], from[next+1]); k > 0 && b.n > 0 {
				if err := l.check("ncclSend", dl.Call(l.send, uintptr(b.device), uintptr(b.Size()), bytes, uintptr(next), p.comm, s), p.comm); err != nil {
					return err
				}
			}
			if b := c.dst.Slice(to[last], to[last+1]); k > 0 && b.n > 0 {
				return l.check("ncclRecv", dl.Call(l.recv, uintptr(b.device), uintptr(b.Size()), bytes, uintptr(last), p.comm, s), p.comm)
			}
			return nil
		})
	case KindBroadcast:
		if c.dst.n == 0 {
			return nil
		}
		return l.check("ncclBroadcast", dl.Call(l.broadcast, uintptr(c.dst.device), uintptr(c.dst.device), uintptr(c.dst.Size()), bytes, uintptr(c.root), p.comm, s), p.comm)
	case KindAllReduce:
		if c.dst.n == 0 {
			return nil
		}
		return l.check("ncclAllReduce", dl.Call(l.allReduce, uintptr(c.src.device), uintptr(c.dst.device), uintptr(c.dst.n), ncclTypes[c.dst.dtype], ncclOps[c.op], p.comm, s), p.comm)
	case KindReduceScatter:
		if c.dst.n == 0 {
			return nil
		}
		return l.check("ncclReduceScatter", dl.Call(l.reduceScatter, uintptr(c.src.device), uintptr(c.dst.device), uintptr(c.dst.n), ncclTypes[c.dst.dtype], ncclOps[c.op], p.comm, s), p.comm)
	}
	return fmt.Errorf("nccl: there is no collective %v", c.kind)
}

// ncclGroupLimit is the number of calls in a group, half of what raft allows, as a step may make
// two.
const ncclGroupLimit = 1024

// group calls f for 0 … n−1 between ncclGroupStart and ncclGroupEnd, which belong to a thread.
func (p *ncclPlane) group(n int, f func(k int) error) error {
	l := p.lib
	for from := 0; from < n; from += ncclGroupLimit {
		if err := l.check("ncclGroupStart", dl.Call(l.groupStart), p.comm); err != nil {
			return err
		}
		var err error
		for k := from; k < min(n, from+ncclGroupLimit) && err == nil; k++ {
			err = f(k)
		}
		if e := l.check("ncclGroupEnd", dl.Call(l.groupEnd), p.comm); err == nil {
			err = e
		}
		if err != nil {
			return err
		}
		if from+ncclGroupLimit < n {
			// The next group may begin when this one is no longer in progress.
			state := new(int32)
			*state = ncclInProgress
			for *state == ncclInProgress && p.life.ctx.Err() == nil {
				if err := l.check("ncclCommGetAsyncError", dl.Call(l.getAsyncError, p.comm, uintptr(unsafe.Pointer(state))), p.comm); err != nil {
					return err
				}
				runtime.Gosched()
			}
		}
	}
	return nil
}

func (p *ncclPlane) split(ctx context.Context, c *call, members []int) (plane, error) {
	const noColor = -1 // NCCL_SPLIT_NOCOLOR
	color, key := noColor, 0
	if c.color >= 0 {
		color, key = slices.Min(members), slices.Index(members, p.rank)
	}
	var h *hub
	if p.hub != nil {
		var err error
		if h, err = p.hub.split(ctx, p.rank, c, len(members)); err != nil {
			return nil, err
		}
	}
	out := new(uintptr)
	err := p.device.Do(func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.comm == 0 {
			return cmpErr(p.ended(ctx), ErrGroupClosed)
		}
		return p.lib.check("ncclCommSplit", dl.Call(p.lib.commSplit, p.comm, uintptr(int32(color)), uintptr(key), uintptr(unsafe.Pointer(out)), 0), p.comm)
	})
	if err == nil {
		err = p.ready(ctx, "ncclCommSplit")
	}
	if err != nil || c.color < 0 {
		return nil, err
	}
	q := &ncclPlane{
		lib: p.lib, device: p.device, rank: key, size: len(members), life: p.life, opt: p.opt, control: p.control,
		hub: h, name: fmt.Sprintf("%s.%d,%d", p.name, c.number, color), comm: *out, scratch: p.scratch,
	}
	q.hook()
	if err := q.ready(ctx, "ncclCommSplit"); err != nil {
		return nil, err
	}
	return q, nil
}

// abort frees the communicator and ends its kernels. It may be called at any time and more than
// once.
func (p *ncclPlane) abort() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.comm == 0 {
		return
	}
	comm := p.comm
	p.comm = 0
	done := make(chan struct{})
	go func() {
		// On some machines the call hangs: its thread is then lost, and the process is to end.
		runtime.LockOSThread()
		dl.Call(p.lib.commAbort, comm)
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(abortTimeout):
	}
}

// abortTimeout is the longest wait for ncclCommAbort.
const abortTimeout = 10 * time.Second

func (p *ncclPlane) close() error {
	if p.unhook != nil {
		p.unhook()
	}
	if p.hub != nil {
		p.hub.close(p.rank)
	}
	var err error
	if p.life.ctx.Err() == nil {
		ctx, cancel := context.WithTimeoutCause(context.Background(), p.opt.timeout, ErrTimeout)
		defer cancel()
		err = p.device.Do(func() error {
			p.mu.Lock()
			defer p.mu.Unlock()
			return p.lib.check("ncclCommFinalize", dl.Call(p.lib.commFinalize, p.comm), p.comm)
		})
		if err == nil {
			err = p.ready(ctx, "ncclCommFinalize")
		}
		p.mu.Lock()
		comm := p.comm
		if err == nil && comm != 0 {
			p.comm = 0
			err = p.lib.check("ncclCommDestroy", dl.Call(p.lib.commDestroy, comm), comm)
		}
		p.mu.Unlock()
	}
	p.abort()
	p.free()
	if p.control != nil && p.first {
		p.control.close()
	}
	return err
}
