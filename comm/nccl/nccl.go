// Package nccl makes groups of GPUs that exchange data by NCCL, which it opens at run time.
//
// [Ranks] makes a group of the GPUs of this process, [New] a rank of several processes, for
// comm/procs.
package nccl

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"
	"unsafe"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/internal/ranks"
	"github.com/hiveblas/hiveblas/internal/dl"
)

// initTimeout is the longest time to form a group.
const initTimeout = 2 * time.Minute

// Ranks returns a group of GPUs of this process, one rank for each, with data carried by NCCL; use
// each rank in a goroutine of its own. Devices must differ. Buffers are on the rank's device; host
// buffers, which all ranks of a collective then use, go through the device in pieces of 1 MiB at
// most and are meant for scalars. Within a host, comm.Peers has the lower latency.
//
// Reduce knows Sum, Prod, Min and Max of integers of 8, 32 and 64 bits, and SumAnyOrder of these
// and of floats; otherwise it returns ErrNoOp and AllReduce folds by the caller's Folder.
//
// Communicators do not block: every wait ends with the deadline or the group, and on failure
// ncclCommAbort runs on every rank. The error wraps ErrMissing, and names the library and version
// found, if there is none of version 2.23 or newer.
func Ranks(ctx context.Context, devices []comm.Device, opts ...comm.Option) ([]comm.Comm, error) {
	bad := func(reason, remedy string) error {
		return &comm.ArgumentError{Op: "nccl.Ranks", Arg: "devices", Reason: reason, Remedy: remedy}
	}
	if len(devices) == 0 {
		return nil, bad("is empty", "give one or more")
	}
	numbers := map[int]bool{}
	for i, d := range devices {
		switch {
		case d == nil:
			return nil, bad(fmt.Sprintf("has no device at %d", i), "open it with cusparse.Open")
		case numbers[d.Number()]:
			return nil, bad(fmt.Sprintf("has device %d twice", d.Number()), "give different devices, or use comm.Peers")
		}
		numbers[d.Number()] = true
	}
	id, err := NewID()
	if err != nil {
		return nil, err
	}
	life := comm.NewLife(opts...)
	made, errs := make([]comm.Transport, len(devices)), make([]error, len(devices))
	var wait sync.WaitGroup
	for r, d := range devices {
		wait.Go(func() {
			t, err := New(ctx, d, id, r, len(devices), life)
			if err != nil {
				errs[r] = fmt.Errorf("nccl.Ranks: rank %d: %w", r, err)
				life.Fail(&comm.RankError{Rank: r, Cause: err})
				return
			}
			made[r] = t
		})
	}
	wait.Wait()
	if err := errors.Join(errs...); err != nil {
		for _, t := range made {
			if t != nil {
				_ = t.Close()
			}
		}
		return nil, err
	}
	return comm.InProcess(made, life)
}

// scratchBytes is the device memory by which buffers of the host travel.
const scratchBytes = 1 << 20

// transport is the transport of a rank.
type transport struct {
	lib        *library
	device     comm.Device
	rank, size int
	life       *comm.Life
	first      bool // not of Split

	mu      sync.Mutex // of calls on comm
	comm    uintptr    // 0 when it was destroyed or aborted
	scratch uint64
	unhook  func() bool
}

// New joins the world of an id as a rank of size ranks, one for each GPU. All ranks call it.
func New(ctx context.Context, d comm.Device, id []byte, rank, size int, life *comm.Life) (comm.Transport, error) {
	bad := func(arg, reason, remedy string) error {
		return &comm.ArgumentError{Op: "nccl.New", Arg: arg, Reason: reason, Remedy: remedy}
	}
	switch {
	case d == nil:
		return nil, bad("d", "is nil", "open a device with cusparse.Open")
	case len(id) != idBytes:
		return nil, bad("id", fmt.Sprintf("has %d bytes", len(id)), "make it by nccl.NewID on rank 0")
	case rank < 0 || rank >= size:
		return nil, bad("rank", fmt.Sprintf("is %d of %d", rank, size), "give a rank of 0 … size−1")
	}
	if e := life.Failure(); e != nil {
		return nil, e
	}
	l, err := open()
	if err != nil {
		return nil, err
	}
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeoutCause(ctx, initTimeout, comm.ErrTimeout)
	defer cancel()
	p := &transport{lib: l, device: d, rank: rank, size: size, life: life, first: true}
	err = d.Do(func() (err error) {
		p.scratch, err = d.Alloc(2 * scratchBytes)
		return err
	})
	if err != nil {
		return nil, err
	}
	out := new(uintptr)
	cfg := newConfig()
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
		p.Abort()
		p.free()
		return nil, err
	}
	return p, nil
}

// hook makes the failure of the group abort the communicator, whatever the rank does meanwhile:
// within a host abort must run on every rank.
func (p *transport) hook() { p.unhook = context.AfterFunc(p.life.Context(), p.Abort) }

func (p *transport) free() {
	if p.scratch != 0 && p.first {
		_ = p.device.Do(func() error { return p.device.Free(p.scratch) })
		p.scratch = 0
	}
}

// ended returns why a wait must end, or nil.
func (p *transport) ended(ctx context.Context) error {
	if p.life.Context().Err() != nil {
		return p.life.Failure()
	}
	return ctx.Err()
}

// over returns why the communicator is gone.
func (p *transport) over(ctx context.Context) error {
	if err := p.ended(ctx); err != nil {
		return err
	}
	return comm.ErrGroupClosed
}

// ready polls until the calls on the communicator are no longer in progress.
func (p *transport) ready(ctx context.Context, name string) error {
	state := new(int32)
	for began := time.Now(); ; {
		p.mu.Lock()
		if p.comm == 0 {
			p.mu.Unlock()
			return p.over(ctx)
		}
		code := dl.Call(p.lib.getAsyncError, p.comm, uintptr(unsafe.Pointer(state)))
		err := p.lib.check("ncclCommGetAsyncError", code, p.comm)
		if err == nil {
			err = p.lib.check(name, *state, p.comm)
		}
		p.mu.Unlock()
		if err != nil || *state == success {
			return err
		}
		if err := p.ended(ctx); err != nil {
			return err
		}
		if wait := time.Since(began); wait < 10*time.Millisecond {
			runtime.Gosched()
		} else {
			time.Sleep(min(wait/16, time.Millisecond))
		}
	}
}

// Lacks: NCCL has no bitwise operators and no 16-bit integers, does not say how it orders sums of
// floats, and not what min and max do with NaN.
func (p *transport) Lacks(c *comm.Collective) bool {
	t := c.Dst.Type()
	return !c.Op.Exact(t) || c.Op == comm.And || c.Op == comm.Or || c.Op == comm.Xor || t == comm.Int16 || t == comm.Uint16
}

// types are ncclDataType_t of the element types; Lacks excludes types of 16 bits.
var types = [...]uintptr{
	comm.Int8: 0, comm.Uint8: 1, comm.Int32: 2, comm.Uint32: 3, comm.Int64: 4, comm.Uint64: 5, comm.Float32: 7, comm.Float64: 8,
}

// ops are ncclRedOp_t.
var ops = [...]uintptr{comm.Sum: 0, comm.Prod: 1, comm.Max: 2, comm.Min: 3, comm.SumAnyOrder: 0}

// MovesDeviceMemory is true: buffers are on the device.
func (p *transport) MovesDeviceMemory() bool { return true }

func (p *transport) Run(ctx context.Context, c *comm.Collective) error {
	if c.Kind == comm.KindFence {
		one := comm.OnDevice(p.scratch, comm.Int32, 1)
		return p.onDevice(ctx, &comm.Collective{Kind: comm.KindAllReduce, Dst: one, Src: one})
	}
	if c.Dst.OnHost() && c.Dst.Len()+c.Src.Len() > 0 && (c.Src.Len() == 0 || c.Src.OnHost()) && (c.Dst.Len() > 0 || c.Src.OnHost()) {
		return p.staged(ctx, c)
	}
	return p.onDevice(ctx, c)
}

// staged does a collective of buffers of the host by way of the scratch memory.
func (p *transport) staged(ctx context.Context, c *comm.Collective) error {
	if c.Dst.Size() > scratchBytes || c.Src.Size() > scratchBytes {
		return c.Invalid("dst or src", fmt.Sprintf("is on the host and has more than %d bytes", scratchBytes), "copy it to the device")
	}
	on := *c
	on.Dst = comm.OnDevice(p.scratch, c.Dst.Type(), c.Dst.Len())
	on.Src = comm.OnDevice(p.scratch+scratchBytes, c.Src.Type(), c.Src.Len())
	err := p.device.Do(func() error {
		if c.Kind == comm.KindBroadcast && c.Dst.Len() > 0 {
			return p.device.ToDevice(on.Dst.Device(), c.Dst.Pointer(), c.Dst.Size())
		}
		if c.Src.Len() > 0 {
			return p.device.ToDevice(on.Src.Device(), c.Src.Pointer(), c.Src.Size())
		}
		return nil
	})
	if err == nil {
		err = p.onDevice(ctx, &on)
	}
	if err != nil || c.Dst.Len() == 0 {
		return err
	}
	return p.device.Do(func() error {
		if err := p.device.ToHost(c.Dst.Pointer(), on.Dst.Device(), c.Dst.Size()); err != nil {
			return err
		}
		return comm.AwaitDevice(ctx, p.device, nil)
	})
}

// onDevice queues a collective of buffers on the device and waits for it.
func (p *transport) onDevice(ctx context.Context, c *comm.Collective) error {
	err := p.device.Do(func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.comm == 0 {
			return p.over(ctx)
		}
		return p.queue(c)
	})
	if err == nil {
		err = p.ready(ctx, c.Kind.String())
	}
	if err != nil {
		return err
	}
	// NCCL may have left another context current: Do binds the device's again.
	return p.device.Do(func() error {
		return comm.AwaitDevice(ctx, p.device, func() error { return p.watch(ctx) })
	})
}

// watch looks for an error of the communicator while the device works.
func (p *transport) watch(ctx context.Context) error {
	if err := p.ended(ctx); err != nil {
		return err
	}
	state := new(int32)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.comm == 0 {
		return comm.ErrGroupClosed
	}
	code := dl.Call(p.lib.getAsyncError, p.comm, uintptr(unsafe.Pointer(state)))
	if err := p.lib.check("ncclCommGetAsyncError", code, p.comm); err != nil {
		return err
	}
	return p.lib.check("ncclCommGetAsyncError", *state, p.comm)
}

// queue enqueues a collective. Moves are of bytes.
func (p *transport) queue(c *comm.Collective) error {
	l, s := p.lib, p.device.Stream()
	const bytes = 1 // ncclUint8
	switch c.Kind {
	case comm.KindAllGatherV:
		n := c.Recv[0]
		if !slices.ContainsFunc(c.Recv, func(k int) bool { return k != n }) {
			if n == 0 {
				return nil
			}
			return l.check("ncclAllGather", dl.Call(l.allGather, uintptr(c.Src.Device()), uintptr(c.Dst.Device()), uintptr(c.Src.Size()), bytes, p.comm, s), p.comm)
		}
		at := ranks.Offsets(c.Recv)
		return p.group(p.size, func(r int) error {
			b := c.Dst.Slice(at[r], at[r+1])
			if b.Len() == 0 {
				return nil
			}
			src := b
			if r == p.rank {
				src = c.Src
			}
			return l.check("ncclBroadcast", dl.Call(l.broadcast, uintptr(src.Device()), uintptr(b.Device()), uintptr(b.Size()), bytes, uintptr(r), p.comm, s), p.comm)
		})
	case comm.KindAllToAllV:
		from, to := ranks.Offsets(c.Send), ranks.Offsets(c.Recv)
		out, in := c.Src.Slice(from[p.rank], from[p.rank+1]), c.Dst.Slice(to[p.rank], to[p.rank+1])
		if out.Len() > 0 {
			if err := p.device.Copy(in.Device(), out.Device(), out.Size()); err != nil {
				return err
			}
		}
		return p.group(p.size, func(k int) error {
			next, last := (p.rank+k)%p.size, (p.rank-k+p.size)%p.size
			if b := c.Src.Slice(from[next], from[next+1]); k > 0 && b.Len() > 0 {
				if err := l.check("ncclSend", dl.Call(l.send, uintptr(b.Device()), uintptr(b.Size()), bytes, uintptr(next), p.comm, s), p.comm); err != nil {
					return err
				}
			}
			if b := c.Dst.Slice(to[last], to[last+1]); k > 0 && b.Len() > 0 {
				return l.check("ncclRecv", dl.Call(l.recv, uintptr(b.Device()), uintptr(b.Size()), bytes, uintptr(last), p.comm, s), p.comm)
			}
			return nil
		})
	case comm.KindBroadcast:
		if c.Dst.Len() == 0 {
			return nil
		}
		return l.check("ncclBroadcast", dl.Call(l.broadcast, uintptr(c.Dst.Device()), uintptr(c.Dst.Device()), uintptr(c.Dst.Size()), bytes, uintptr(c.Root), p.comm, s), p.comm)
	case comm.KindAllReduce:
		if c.Dst.Len() == 0 {
			return nil
		}
		return l.check("ncclAllReduce", dl.Call(l.allReduce, uintptr(c.Src.Device()), uintptr(c.Dst.Device()), uintptr(c.Dst.Len()), types[c.Dst.Type()], ops[c.Op], p.comm, s), p.comm)
	case comm.KindReduceScatter:
		if c.Dst.Len() == 0 {
			return nil
		}
		return l.check("ncclReduceScatter", dl.Call(l.reduceScatter, uintptr(c.Src.Device()), uintptr(c.Dst.Device()), uintptr(c.Dst.Len()), types[c.Dst.Type()], ops[c.Op], p.comm, s), p.comm)
	}
	return fmt.Errorf("nccl: there is no collective %v", c.Kind)
}

// groupLimit is the number of calls in a group, half of what raft allows, as a step may make
// two.
const groupLimit = 1024

// group calls f for 0 … n−1 between ncclGroupStart and ncclGroupEnd, which belong to a thread.
func (p *transport) group(n int, f func(k int) error) error {
	l := p.lib
	for from := 0; from < n; from += groupLimit {
		if err := l.check("ncclGroupStart", dl.Call(l.groupStart), p.comm); err != nil {
			return err
		}
		var err error
		for k := from; k < min(n, from+groupLimit) && err == nil; k++ {
			err = f(k)
		}
		if e := l.check("ncclGroupEnd", dl.Call(l.groupEnd), p.comm); err == nil {
			err = e
		}
		if err != nil {
			return err
		}
		if from+groupLimit < n {
			// The next group may begin when this one is no longer in progress.
			state := new(int32)
			*state = inProgress
			for *state == inProgress && p.life.Context().Err() == nil {
				if err := l.check("ncclCommGetAsyncError", dl.Call(l.getAsyncError, p.comm, uintptr(unsafe.Pointer(state))), p.comm); err != nil {
					return err
				}
				runtime.Gosched()
			}
		}
	}
	return nil
}

func (p *transport) Split(ctx context.Context, c *comm.Collective, members []int) (comm.Transport, error) {
	const noColor = -1 // NCCL_SPLIT_NOCOLOR
	color, key := noColor, 0
	if c.Color >= 0 {
		color, key = slices.Min(members), slices.Index(members, p.rank)
	}
	out := new(uintptr)
	err := p.device.Do(func() error {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.comm == 0 {
			return p.over(ctx)
		}
		return p.lib.check("ncclCommSplit", dl.Call(p.lib.commSplit, p.comm, uintptr(int32(color)), uintptr(key), uintptr(unsafe.Pointer(out)), 0), p.comm)
	})
	if err == nil {
		err = p.ready(ctx, "ncclCommSplit")
	}
	if err != nil || c.Color < 0 {
		return nil, err
	}
	q := &transport{lib: p.lib, device: p.device, rank: key, size: len(members), life: p.life, comm: *out, scratch: p.scratch}
	q.hook()
	if err := q.ready(ctx, "ncclCommSplit"); err != nil {
		return nil, err
	}
	return q, nil
}

// Abort frees the communicator and ends its kernels. It may be called at any time and more than
// once.
func (p *transport) Abort() {
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

func (p *transport) Close() error {
	if p.unhook != nil {
		p.unhook()
	}
	var err error
	if p.life.Context().Err() == nil {
		ctx, cancel := context.WithTimeoutCause(context.Background(), p.life.Timeout(), comm.ErrTimeout)
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
	p.Abort()
	p.free()
	return err
}
