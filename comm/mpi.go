package comm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/dl"
)

// initTimeout is the longest time to form a group of processes.
const initTimeout = 2 * time.Minute

// mpiMax is the largest count of a call, an int32. Tests lower it.
var mpiMax = math.MaxInt32

// mpiRunning is the state of MPI in this process, which starts and ends once.
var mpiRunning struct {
	sync.Mutex
	started, ended bool
	groups         int
	// abandoned holds the memory of collectives that did not end: the library may still use it.
	abandoned []*call
}

// ErrMPIEnded is the error of JoinMPI after the last group of this process was closed: MPI cannot
// start again.
var ErrMPIEnded = errors.New("MPI has ended in this process: close the last group at the end of the program")

// JoinMPI returns the group of all processes that mpirun, or another launcher of Open MPI, started.
// All of them call it, in the same order. Buffers are host memory. Besides MPI, which carries the
// data, every process keeps a TCP connection to rank 0 that carries failures: the others see the
// end of a process at once. The last Close of a process ends MPI.
//
// Reductions of floats other than SumAnyOrder return ErrNoOp, since MPI does not fix their order,
// and so do sums of 8- and 16-bit integers, which saturate in some versions: use AllReduce. The
// error wraps ErrNoMPI if there is no library, and names the one that was found if it is not
// supported: Open MPI 4.1 is tested; MPICH and the ABI of MPI 5 are not supported.
func JoinMPI(ctx context.Context, opts ...Option) (Comm, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	l, err := openMPI()
	if err != nil {
		return nil, err
	}
	if os.Getenv("OMPI_COMM_WORLD_SIZE") == "" {
		return nil, fmt.Errorf("%w: this process was not started by mpirun: run mpirun -np N %s", ErrNoMPI, os.Args[0])
	}
	opt := gather(opts)
	ctx, cancel := context.WithTimeoutCause(ctx, initTimeout, ErrTimeout)
	defer cancel()
	p, err := l.join(ctx, newLife(), &opt)
	if err != nil {
		return nil, err
	}
	// From here on every rank notices the end of another.
	if err := p.move(ctx, &call{kind: KindFence}); err != nil {
		return nil, fmt.Errorf("rank %d of %d: %w", p.rank, p.size, err)
	}
	g := newGroup(p, p.rank, p.size, p.life, &opt)
	g.host = p.control.host
	return g, nil
}

// join starts MPI, which waits for the other processes, and makes the control channel.
func (l *mpiLib) join(ctx context.Context, life *life, opt *options) (*mpiPlane, error) {
	type world struct {
		comm       uintptr
		rank, size int
		err        error
	}
	started := make(chan world, 1)
	go func() {
		var w world
		w.comm, w.rank, w.size, w.err = l.start()
		started <- w
	}()
	var w world
	select {
	case w = <-started:
		if w.err != nil {
			return nil, w.err
		}
	case <-ctx.Done():
		return nil, fmt.Errorf("MPI_Init: %w", causeOf(ctx))
	}
	p := &mpiPlane{lib: l, comm: w.comm, rank: w.rank, size: w.size, life: life, opt: opt, name: "mpi", first: true}
	var err error
	if p.control, err = p.meet(ctx); err != nil {
		return nil, fmt.Errorf("rank %d of %d: %w", w.rank, w.size, err)
	}
	return p, nil
}

// meetByMPI makes the control channel of a group whose data do not go by MPI. MPI ends with it.
func meetByMPI(ctx context.Context, life *life, opt *options) (*control, error) {
	l, err := openMPI()
	if err != nil {
		return nil, err
	}
	p, err := l.join(ctx, life, opt)
	if err != nil {
		return nil, err
	}
	p.control.after = func() {
		if life.failure() == nil {
			_ = p.close()
		}
	}
	return p.control, nil
}

// start starts MPI, and returns a communicator of all processes of its own.
func (l *mpiLib) start() (comm uintptr, rank, size int, err error) {
	mpiRunning.Lock()
	defer mpiRunning.Unlock()
	if mpiRunning.ended {
		return 0, 0, 0, ErrMPIEnded
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if !mpiRunning.started {
		const multiple = 3 // MPI_THREAD_MULTIPLE
		provided := new(int32)
		if err := l.check("MPI_Init_thread", dl.Call(l.initThread, 0, 0, multiple, uintptr(unsafe.Pointer(provided)))); err != nil {
			return 0, 0, 0, err
		}
		mpiRunning.started = true
		const serialized = 2
		if *provided < serialized {
			return 0, 0, 0, fmt.Errorf("%w: %s (%s) allows calls of one thread alone, level %d", ErrNoMPI, l.path, l.version, *provided)
		}
		if err := l.check("MPI_Comm_set_errhandler", dl.Call(l.setErrhandler, l.world, l.errorsReturn)); err != nil {
			return 0, 0, 0, err
		}
	}
	out, n := new(uintptr), new([2]int32)
	err = l.check("MPI_Comm_dup", dl.Call(l.commDup, l.world, uintptr(unsafe.Pointer(out))))
	if err == nil {
		err = l.check("MPI_Comm_rank", dl.Call(l.commRank, *out, uintptr(unsafe.Pointer(&n[0]))))
	}
	if err == nil {
		err = l.check("MPI_Comm_size", dl.Call(l.commSize, *out, uintptr(unsafe.Pointer(&n[1]))))
	}
	if err == nil {
		mpiRunning.groups++
	}
	return *out, int(n[0]), int(n[1]), err
}

// meet makes the control channel. The address of rank 0 goes by MPI.
func (p *mpiPlane) meet(ctx context.Context) (*control, error) {
	var listener net.Listener
	var text []byte
	if p.rank == 0 {
		var v *invitation
		var err error
		if listener, v, err = invite(); err != nil {
			return nil, err
		}
		if text, err = json.Marshal(v); err != nil {
			return nil, err
		}
	}
	length := []int64{int64(len(text))}
	if err := p.move(ctx, &call{kind: KindBroadcast, dst: Host(length)}); err != nil {
		return nil, err
	}
	if p.rank != 0 {
		text = make([]byte, length[0])
	}
	if err := p.move(ctx, &call{kind: KindBroadcast, dst: Host(text)}); err != nil {
		return nil, err
	}
	var v invitation
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, err
	}
	if p.rank == 0 {
		return accept(ctx, listener, p.size, v.Token, p.life, p.opt)
	}
	return connect(ctx, func() ([]string, string) { return v.addresses(), v.Token }, p.rank, p.size, p.life, p.opt)
}

// mpiPlane is the plane of processes of MPI.
type mpiPlane struct {
	lib        *mpiLib
	comm       uintptr
	rank, size int // in comm
	life       *life
	opt        *options
	control    *control
	name       string // the same on all members
	first      bool   // of JoinMPI, not of Split
}

// lacks: the order of sums of floats is not fixed, and sums of small integers saturate in Open MPI
// 4.1 where its component op/avx does them.
func (p *mpiPlane) lacks(c *call) bool {
	t := c.dst.dtype
	return !c.op.exact(t) || t.Size() < 4 && (c.op == Sum || c.op == SumAnyOrder)
}

func (p *mpiPlane) run(ctx context.Context, c *call) error {
	for _, b := range []Buffer{c.dst, c.src} {
		if !b.OnHost() {
			return c.invalid("the buffer", "is on a device, and the group is one of host memory", "copy it")
		}
	}
	p.control.enter(c)
	defer p.control.leave()
	if p.opt.check {
		if err := p.control.check(ctx, c, p.name, p.rank, p.size); err != nil {
			return err
		}
	}
	return p.move(ctx, c)
}

// move does a collective without the control channel.
func (p *mpiPlane) move(ctx context.Context, c *call) error {
	l, t := p.lib, p.lib.types[c.dst.dtype]
	at := func(b Buffer) uintptr { return uintptr(b.host) }
	switch c.kind {
	case KindFence:
		return p.await(ctx, c, "MPI_Ibarrier", func(r *uintptr) int32 {
			return dl.Call(l.ibarrier, p.comm, uintptr(unsafe.Pointer(r)))
		})
	case KindBroadcast:
		return p.pieces(c.dst, func(b Buffer) error {
			return p.await(ctx, c, "MPI_Ibcast", func(r *uintptr) int32 {
				return dl.Call(l.ibcast, at(b), uintptr(b.n), t, uintptr(c.root), p.comm, uintptr(unsafe.Pointer(r)))
			})
		})
	case KindAllGatherV:
		return p.allGatherV(ctx, c)
	case KindAllToAllV:
		return p.allToAllV(ctx, c)
	case KindAllReduce:
		src := at(c.src)
		inPlace := c.dst.same(c.src)
		for from := 0; from < c.dst.n; from += mpiMax {
			b := c.dst.Slice(from, min(c.dst.n, from+mpiMax))
			src = at(c.src.Slice(from, from+b.n))
			if inPlace {
				src = 1 // MPI_IN_PLACE of Open MPI
			}
			err := p.await(ctx, c, "MPI_Iallreduce", func(r *uintptr) int32 {
				return dl.Call(l.iallreduce, src, at(b), uintptr(b.n), t, l.ops[c.op], p.comm, uintptr(unsafe.Pointer(r)))
			})
			if err != nil {
				return err
			}
		}
		return nil
	case KindReduceScatter:
		return p.reduceScatter(ctx, c)
	}
	return fmt.Errorf("mpi: there is no collective %v", c.kind)
}

// pieces calls f for parts of b that an int32 counts.
func (p *mpiPlane) pieces(b Buffer, f func(Buffer) error) error {
	for from := 0; from < b.n; from += mpiMax {
		if err := f(b.Slice(from, min(b.n, from+mpiMax))); err != nil {
			return err
		}
	}
	return nil
}

// int32s returns counts and their offsets as C wants them.
func int32s(counts []int) (n, at []int32) {
	n, at = make([]int32, len(counts)+1), make([]int32, len(counts)+1) // not empty
	for i, k := range counts {
		n[i], at[i+1] = int32(k), at[i]+int32(k)
	}
	return n, at
}

func (p *mpiPlane) allGatherV(ctx context.Context, c *call) error {
	l, t := p.lib, p.lib.types[c.dst.dtype]
	own := int(sum(c.recv[:p.rank]))
	block := c.dst.Slice(own, own+c.recv[p.rank])
	if c.dst.n > mpiMax {
		// Offsets overflow: one broadcast for each block.
		if !block.same(c.src) {
			copy(block.Bytes(), c.src.Bytes())
		}
		at := offsets(c.recv)
		for r := range c.recv {
			sub := &call{kind: KindBroadcast, number: c.number, dst: c.dst.Slice(at[r], at[r+1]), root: r}
			if err := p.move(ctx, sub); err != nil {
				return err
			}
		}
		return nil
	}
	n, at := int32s(c.recv)
	src := uintptr(c.src.host)
	if block.same(c.src) {
		src = 1 // MPI_IN_PLACE
	}
	return p.await(ctx, c, "MPI_Iallgatherv", func(r *uintptr) int32 {
		return dl.Call(l.iallgatherv, src, uintptr(c.src.n), t, uintptr(c.dst.host), uintptr(unsafe.Pointer(&n[0])),
			uintptr(unsafe.Pointer(&at[0])), t, p.comm, uintptr(unsafe.Pointer(r)))
	}, n, at)
}

func (p *mpiPlane) allToAllV(ctx context.Context, c *call) error {
	l, t := p.lib, p.lib.types[c.dst.dtype]
	// All ranks take the same way, which the largest sum decides: a reduction of 8 bytes.
	longest := []int64{int64(max(c.dst.n, c.src.n))}
	probe := &call{kind: KindAllReduce, number: c.number, dst: Host(longest), src: Host(longest), op: Max}
	if err := p.move(ctx, probe); err != nil {
		return err
	}
	if longest[0] <= int64(mpiMax) {
		sn, sat := int32s(c.send)
		rn, rat := int32s(c.recv)
		return p.await(ctx, c, "MPI_Ialltoallv", func(r *uintptr) int32 {
			return dl.Call(l.ialltoallv, uintptr(c.src.host), uintptr(unsafe.Pointer(&sn[0])), uintptr(unsafe.Pointer(&sat[0])), t,
				uintptr(c.dst.host), uintptr(unsafe.Pointer(&rn[0])), uintptr(unsafe.Pointer(&rat[0])), t, p.comm, uintptr(unsafe.Pointer(r)))
		}, sn, sat, rn, rat)
	}
	// One message for each pair and piece, shift by shift.
	from, to := offsets(c.send), offsets(c.recv)
	copy(c.dst.Slice(to[p.rank], to[p.rank+1]).Bytes(), c.src.Slice(from[p.rank], from[p.rank+1]).Bytes())
	for shift := 1; shift < p.size; shift++ {
		next, last := (p.rank+shift)%p.size, (p.rank-shift+p.size)%p.size
		out, in := c.src.Slice(from[next], from[next+1]), c.dst.Slice(to[last], to[last+1])
		for k := 0; k < max(out.n, in.n); k += mpiMax {
			const tag = 7
			err := p.awaitAll(ctx, c, []string{"MPI_Isend", "MPI_Irecv"}, []func(r *uintptr) int32{
				func(r *uintptr) int32 {
					b := out.Slice(k, min(out.n, k+mpiMax))
					if b.n == 0 {
						return 0
					}
					return dl.Call(l.isend, uintptr(b.host), uintptr(b.n), t, uintptr(next), tag, p.comm, uintptr(unsafe.Pointer(r)))
				},
				func(r *uintptr) int32 {
					b := in.Slice(k, min(in.n, k+mpiMax))
					if b.n == 0 {
						return 0
					}
					return dl.Call(l.irecv, uintptr(b.host), uintptr(b.n), t, uintptr(last), tag, p.comm, uintptr(unsafe.Pointer(r)))
				},
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *mpiPlane) reduceScatter(ctx context.Context, c *call) error {
	l, t := p.lib, p.lib.types[c.dst.dtype]
	if c.src.n <= mpiMax && !c.dst.overlaps(c.src) {
		return p.await(ctx, c, "MPI_Ireduce_scatter_block", func(r *uintptr) int32 {
			return dl.Call(l.ireduceScatter, uintptr(c.src.host), uintptr(c.dst.host), uintptr(c.dst.n), t, l.ops[c.op], p.comm, uintptr(unsafe.Pointer(r)))
		})
	}
	// In place, MPI would put block r first; and counts may overflow. Reduce pieces of the blocks
	// by way of a copy.
	step := max(1, min(c.dst.n, mpiMax/p.size, 1<<20))
	words := make([]uint64, (step*(p.size+1)*c.dst.dtype.Size()+7)/8)
	scratch := HostAt(unsafe.Pointer(&words[0]), c.dst.dtype, step*(p.size+1))
	for from := 0; from < c.dst.n; from += step {
		n := min(step, c.dst.n-from)
		in, out := scratch.Slice(0, n*p.size), scratch.Slice(n*p.size, n*(p.size+1))
		for r := range p.size {
			copy(in.Slice(r*n, (r+1)*n).Bytes(), c.src.Slice(r*c.dst.n+from, r*c.dst.n+from+n).Bytes())
		}
		sub := &call{kind: KindReduceScatter, number: c.number, dst: out, src: in, op: c.op}
		if err := p.reduceScatter(ctx, sub); err != nil {
			return err
		}
		copy(c.dst.Slice(from, from+n).Bytes(), out.Bytes())
	}
	return nil
}

// await starts an operation and waits for it. keep is memory that it uses besides that of c.
func (p *mpiPlane) await(ctx context.Context, c *call, name string, start func(r *uintptr) int32, keep ...[]int32) error {
	c.keep = keep
	return p.awaitAll(ctx, c, []string{name}, []func(r *uintptr) int32{start})
}

// awaitAll starts operations and polls until all are done, the group fails or ctx is done. A
// request of 0 needs no wait.
func (p *mpiPlane) awaitAll(ctx context.Context, c *call, names []string, start []func(r *uintptr) int32) error {
	requests := make([]uintptr, len(start))
	l := p.lib
	for i, f := range start {
		l.mu.Lock()
		err := l.check(names[i], f(&requests[i]))
		l.mu.Unlock()
		if err != nil {
			p.abandon(c)
			return err
		}
	}
	flag := new(int32)
	for i := range requests {
		for spins := 0; requests[i] != 0; spins++ {
			l.mu.Lock()
			err := l.check("MPI_Test", dl.Call(l.test, uintptr(unsafe.Pointer(&requests[i])), uintptr(unsafe.Pointer(flag)), 0))
			l.mu.Unlock()
			if err != nil {
				p.abandon(c)
				return fmt.Errorf("%s: %w", names[i], err)
			}
			if *flag != 0 {
				break
			}
			if err := p.waited(ctx, spins); err != nil {
				p.abandon(c)
				return err
			}
		}
	}
	return nil
}

// waited makes a pause that grows, and returns an error if the wait is to end.
func (p *mpiPlane) waited(ctx context.Context, spins int) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-p.life.ctx.Done():
		return p.life.failure()
	default:
	}
	const busy = 200
	if spins < busy {
		runtime.Gosched()
	} else {
		time.Sleep(min(time.Duration(spins-busy)*time.Microsecond, time.Millisecond))
	}
	return nil
}

// abandon keeps the memory of an operation that did not end.
func (p *mpiPlane) abandon(c *call) {
	mpiRunning.Lock()
	mpiRunning.abandoned = append(mpiRunning.abandoned, c)
	mpiRunning.Unlock()
}

func (p *mpiPlane) split(ctx context.Context, c *call, members []int) (plane, error) {
	const undefined = -32766 // MPI_UNDEFINED of Open MPI
	color, key := undefined, 0
	if c.color >= 0 {
		// The lowest rank is a color that fits an int32; the order of members is the key.
		color, key = slices.Min(members), slices.Index(members, p.rank)
	}
	out := new(uintptr)
	done := make(chan error, 1)
	go func() { // it has no form that does not block
		p.lib.mu.Lock()
		defer p.lib.mu.Unlock()
		done <- p.lib.check("MPI_Comm_split", dl.Call(p.lib.commSplit, p.comm, uintptr(int32(color)), uintptr(key), uintptr(unsafe.Pointer(out))))
	}()
	select {
	case err := <-done:
		if err != nil || c.color < 0 {
			return nil, err
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-p.life.ctx.Done():
		return nil, p.life.failure()
	}
	name := fmt.Sprintf("%s.%d,%d", p.name, c.number, color)
	return &mpiPlane{
		lib: p.lib, comm: *out, rank: key, size: len(members), life: p.life, opt: p.opt, control: p.control, name: name,
	}, nil
}

// abort leaves MPI as it is: the process is to end.
func (p *mpiPlane) abort() {}

// close waits for the other ranks, since MPI ends with all.
func (p *mpiPlane) close() error {
	failed := p.life.failure() != nil
	var err error
	if !failed && p.first {
		ctx, cancel := context.WithTimeoutCause(context.Background(), p.opt.timeout, ErrTimeout)
		err = p.move(ctx, &call{kind: KindFence})
		cancel()
	}
	if p.first {
		p.control.after = nil
		p.control.close()
	}
	if failed || err != nil {
		return err // the communicator may be in use
	}
	comm := new(uintptr)
	*comm = p.comm
	p.lib.mu.Lock()
	err = p.lib.check("MPI_Comm_free", dl.Call(p.lib.commFree, uintptr(unsafe.Pointer(comm))))
	p.lib.mu.Unlock()
	if err != nil || !p.first {
		return err
	}
	mpiRunning.Lock()
	defer mpiRunning.Unlock()
	if mpiRunning.groups--; mpiRunning.groups > 0 || mpiRunning.ended {
		return nil
	}
	mpiRunning.ended = true
	p.lib.mu.Lock()
	defer p.lib.mu.Unlock()
	return p.lib.check("MPI_Finalize", dl.Call(p.lib.finalize))
}
