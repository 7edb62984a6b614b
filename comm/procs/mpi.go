package procs

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

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/internal/ranks"
	"github.com/hiveblas/hiveblas/internal/dl"
)

// initTimeout is the longest time to form a group of processes.
const initTimeout = 2 * time.Minute

// mpiRunning is the state of MPI in this process, which starts and ends once.
var mpiRunning struct {
	sync.Mutex
	started, ended bool
	groups         int
	// abandoned holds the memory of collectives that did not end: the library may still use it.
	abandoned []pinned
}

// ErrMPIEnded is the error of JoinMPI after the last group of this process was closed: MPI cannot
// start again.
var ErrMPIEnded = errors.New("MPI has ended in this process: close the last group at the end of the program")

// JoinMPI returns the group of all processes that mpirun, or another launcher of Open MPI, started.
// All of them call it, in the same order. Buffers are host memory. Besides MPI, which carries the
// data, every process keeps a TCP connection to rank 0 that carries failures: the others see the
// end of a process at once. The last Close of a process ends MPI.
//
// Reductions of floats other than SumAnyOrder return comm.ErrNoOp, since MPI does not fix their
// order, and so do sums of 8- and 16-bit integers, which saturate in some versions: use AllReduce.
// The error wraps ErrNoMPI if there is no library, and names the one that was found if it is not
// supported: Open MPI 4.1 is tested; MPICH and the ABI of MPI 5 are not supported.
func JoinMPI(ctx context.Context, opts ...comm.Option) (comm.Comm, error) {
	return joinMPI(ctx, math.MaxInt32, opts)
}

// joinMPI is JoinMPI with calls of at most so many items.
func joinMPI(ctx context.Context, most int, opts []comm.Option) (comm.Comm, error) {
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
	ctx, cancel := context.WithTimeoutCause(ctx, initTimeout, comm.ErrTimeout)
	defer cancel()
	p, err := l.join(ctx, comm.NewLife(opts...))
	if err != nil {
		return nil, err
	}
	p.most = most
	// From here on every rank notices the end of another.
	if err := p.move(ctx, &comm.Collective{Kind: comm.KindFence}); err != nil {
		return nil, fmt.Errorf("rank %d of %d: %w", p.rank, p.size, err)
	}
	return comm.NewComm(p, p.rank, p.size, p.life, p.control.host)
}

// join starts MPI, which waits for the other processes, and makes the control channel.
func (l *mpiLib) join(ctx context.Context, life *comm.Life) (*mpiTransport, error) {
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
		return nil, fmt.Errorf("MPI_Init: %w", comm.CauseOf(ctx))
	}
	p := &mpiTransport{lib: l, comm: w.comm, rank: w.rank, size: w.size, life: life, name: "mpi", first: true, most: math.MaxInt32}
	var err error
	if p.control, err = p.meet(ctx); err != nil {
		return nil, fmt.Errorf("rank %d of %d: %w", w.rank, w.size, err)
	}
	return p, nil
}

// meetByMPI makes the control channel of a group with data that do not go by MPI. MPI ends with it.
func meetByMPI(ctx context.Context, life *comm.Life) (*control, error) {
	l, err := openMPI()
	if err != nil {
		return nil, err
	}
	p, err := l.join(ctx, life)
	if err != nil {
		return nil, err
	}
	p.control.after = func() {
		if life.Failure() == nil {
			_ = p.Close()
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
func (p *mpiTransport) meet(ctx context.Context) (*control, error) {
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
	if err := p.move(ctx, &comm.Collective{Kind: comm.KindBroadcast, Dst: comm.Host(length)}); err != nil {
		return nil, err
	}
	if p.rank != 0 {
		text = make([]byte, length[0])
	}
	if err := p.move(ctx, &comm.Collective{Kind: comm.KindBroadcast, Dst: comm.Host(text)}); err != nil {
		return nil, err
	}
	var v invitation
	if err := json.Unmarshal(text, &v); err != nil {
		return nil, err
	}
	if p.rank == 0 {
		return accept(ctx, listener, p.size, v.Token, p.life)
	}
	return connect(ctx, func() ([]string, string) { return v.addresses(), v.Token }, p.rank, p.size, p.life)
}

// mpiTransport is the transport of processes of MPI.
type mpiTransport struct {
	lib        *mpiLib
	comm       uintptr
	rank, size int // in comm
	life       *comm.Life
	control    *control
	name       string // the same on all members
	first      bool   // of JoinMPI, not of Split
	most       int    // the largest count of a call of MPI, an int32
}

// MovesDeviceMemory is false: buffers are memory of the host.
func (p *mpiTransport) MovesDeviceMemory() bool { return false }

// Lacks: the order of sums of floats is not fixed, and sums of small integers saturate in Open MPI
// 4.1 where its component op/avx does them.
func (p *mpiTransport) Lacks(c *comm.Collective) bool {
	t := c.Dst.Type()
	return !c.Op.Exact(t) || t.Size() < 4 && (c.Op == comm.Sum || c.Op == comm.SumAnyOrder)
}

func (p *mpiTransport) Run(ctx context.Context, c *comm.Collective) error {
	for _, b := range []comm.Buffer{c.Dst, c.Src} {
		if !b.OnHost() {
			return c.Invalid("the buffer", "is on a device, and the group is one of host memory", "copy it")
		}
	}
	p.control.enter(c)
	defer p.control.leave()
	if p.life.Checks() {
		if err := p.control.check(ctx, c, p.name, p.rank, p.size); err != nil {
			return err
		}
	}
	return p.move(ctx, c)
}

// move does a collective without the control channel.
func (p *mpiTransport) move(ctx context.Context, c *comm.Collective) error {
	l, t := p.lib, p.lib.types[c.Dst.Type()]
	at := func(b comm.Buffer) uintptr { return uintptr(b.Pointer()) }
	switch c.Kind {
	case comm.KindFence:
		return p.await(ctx, c, "MPI_Ibarrier", func(r *uintptr) int32 {
			return dl.Call(l.ibarrier, p.comm, uintptr(unsafe.Pointer(r)))
		})
	case comm.KindBroadcast:
		return p.pieces(c.Dst, func(b comm.Buffer) error {
			return p.await(ctx, c, "MPI_Ibcast", func(r *uintptr) int32 {
				return dl.Call(l.ibcast, at(b), uintptr(b.Len()), t, uintptr(c.Root), p.comm, uintptr(unsafe.Pointer(r)))
			})
		})
	case comm.KindAllGatherV:
		return p.allGatherV(ctx, c)
	case comm.KindAllToAllV:
		return p.allToAllV(ctx, c)
	case comm.KindAllReduce:
		src := at(c.Src)
		inPlace := c.Dst.Same(c.Src)
		for from := 0; from < c.Dst.Len(); from += p.most {
			b := c.Dst.Slice(from, min(c.Dst.Len(), from+p.most))
			src = at(c.Src.Slice(from, from+b.Len()))
			if inPlace {
				src = 1 // MPI_IN_PLACE of Open MPI
			}
			err := p.await(ctx, c, "MPI_Iallreduce", func(r *uintptr) int32 {
				return dl.Call(l.iallreduce, src, at(b), uintptr(b.Len()), t, l.ops[c.Op], p.comm, uintptr(unsafe.Pointer(r)))
			})
			if err != nil {
				return err
			}
		}
		return nil
	case comm.KindReduceScatter:
		return p.reduceScatter(ctx, c)
	}
	return fmt.Errorf("mpi: there is no collective %v", c.Kind)
}

// pieces calls f for parts of b that an int32 counts.
func (p *mpiTransport) pieces(b comm.Buffer, f func(comm.Buffer) error) error {
	for from := 0; from < b.Len(); from += p.most {
		if err := f(b.Slice(from, min(b.Len(), from+p.most))); err != nil {
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

func (p *mpiTransport) allGatherV(ctx context.Context, c *comm.Collective) error {
	l, t := p.lib, p.lib.types[c.Dst.Type()]
	own := int(ranks.Sum(c.Recv[:p.rank]))
	block := c.Dst.Slice(own, own+c.Recv[p.rank])
	if c.Dst.Len() > p.most {
		// Offsets overflow: one broadcast for each block.
		if !block.Same(c.Src) {
			copy(block.Bytes(), c.Src.Bytes())
		}
		at := ranks.Offsets(c.Recv)
		for r := range c.Recv {
			sub := &comm.Collective{Kind: comm.KindBroadcast, Number: c.Number, Dst: c.Dst.Slice(at[r], at[r+1]), Root: r}
			if err := p.move(ctx, sub); err != nil {
				return err
			}
		}
		return nil
	}
	n, at := int32s(c.Recv)
	src := uintptr(c.Src.Pointer())
	if block.Same(c.Src) {
		src = 1 // MPI_IN_PLACE
	}
	return p.await(ctx, c, "MPI_Iallgatherv", func(r *uintptr) int32 {
		return dl.Call(l.iallgatherv, src, uintptr(c.Src.Len()), t, uintptr(c.Dst.Pointer()), uintptr(unsafe.Pointer(&n[0])),
			uintptr(unsafe.Pointer(&at[0])), t, p.comm, uintptr(unsafe.Pointer(r)))
	}, n, at)
}

// elsewhere is an address that no buffer has.
var elsewhere uint64

func (p *mpiTransport) allToAllV(ctx context.Context, c *comm.Collective) error {
	l, t := p.lib, p.lib.types[c.Dst.Type()]
	// All ranks take the same way, which the largest sum decides: a reduction of 8 bytes.
	longest := []int64{int64(max(c.Dst.Len(), c.Src.Len()))}
	probe := &comm.Collective{Kind: comm.KindAllReduce, Number: c.Number, Dst: comm.Host(longest), Src: comm.Host(longest), Op: comm.Max}
	if err := p.move(ctx, probe); err != nil {
		return err
	}
	if longest[0] <= int64(p.most) {
		sn, sat := int32s(c.Send)
		rn, rat := int32s(c.Recv)
		src := uintptr(c.Src.Pointer())
		if src == uintptr(c.Dst.Pointer()) {
			// Both are empty. Open MPI takes equal addresses for MPI_IN_PLACE, which the ranks with
			// items do not ask for: the next collective would wait for ever.
			src = uintptr(unsafe.Pointer(&elsewhere))
		}
		return p.await(ctx, c, "MPI_Ialltoallv", func(r *uintptr) int32 {
			return dl.Call(l.ialltoallv, src, uintptr(unsafe.Pointer(&sn[0])), uintptr(unsafe.Pointer(&sat[0])), t,
				uintptr(c.Dst.Pointer()), uintptr(unsafe.Pointer(&rn[0])), uintptr(unsafe.Pointer(&rat[0])), t, p.comm, uintptr(unsafe.Pointer(r)))
		}, sn, sat, rn, rat)
	}
	// One message for each pair and piece, shift by shift.
	from, to := ranks.Offsets(c.Send), ranks.Offsets(c.Recv)
	copy(c.Dst.Slice(to[p.rank], to[p.rank+1]).Bytes(), c.Src.Slice(from[p.rank], from[p.rank+1]).Bytes())
	for shift := 1; shift < p.size; shift++ {
		next, last := (p.rank+shift)%p.size, (p.rank-shift+p.size)%p.size
		out, in := c.Src.Slice(from[next], from[next+1]), c.Dst.Slice(to[last], to[last+1])
		for k := 0; k < max(out.Len(), in.Len()); k += p.most {
			const tag = 7
			err := p.awaitAll(ctx, pinned{c, nil}, []string{"MPI_Isend", "MPI_Irecv"}, []func(r *uintptr) int32{
				func(r *uintptr) int32 {
					b := out.Slice(k, min(out.Len(), k+p.most))
					if b.Len() == 0 {
						return 0
					}
					return dl.Call(l.isend, uintptr(b.Pointer()), uintptr(b.Len()), t, uintptr(next), tag, p.comm, uintptr(unsafe.Pointer(r)))
				},
				func(r *uintptr) int32 {
					b := in.Slice(k, min(in.Len(), k+p.most))
					if b.Len() == 0 {
						return 0
					}
					return dl.Call(l.irecv, uintptr(b.Pointer()), uintptr(b.Len()), t, uintptr(last), tag, p.comm, uintptr(unsafe.Pointer(r)))
				},
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *mpiTransport) reduceScatter(ctx context.Context, c *comm.Collective) error {
	l, t := p.lib, p.lib.types[c.Dst.Type()]
	if c.Src.Len() <= p.most && !c.Dst.Overlaps(c.Src) {
		return p.await(ctx, c, "MPI_Ireduce_scatter_block", func(r *uintptr) int32 {
			return dl.Call(l.ireduceScatter, uintptr(c.Src.Pointer()), uintptr(c.Dst.Pointer()), uintptr(c.Dst.Len()), t, l.ops[c.Op], p.comm, uintptr(unsafe.Pointer(r)))
		})
	}
	// In place, MPI would put block r first; and counts may overflow. Reduce pieces of the blocks
	// by way of a copy.
	step := max(1, min(c.Dst.Len(), p.most/p.size, 1<<20))
	words := make([]uint64, (step*(p.size+1)*c.Dst.Type().Size()+7)/8)
	scratch := comm.HostAt(unsafe.Pointer(&words[0]), c.Dst.Type(), step*(p.size+1))
	for from := 0; from < c.Dst.Len(); from += step {
		n := min(step, c.Dst.Len()-from)
		in, out := scratch.Slice(0, n*p.size), scratch.Slice(n*p.size, n*(p.size+1))
		for r := range p.size {
			copy(in.Slice(r*n, (r+1)*n).Bytes(), c.Src.Slice(r*c.Dst.Len()+from, r*c.Dst.Len()+from+n).Bytes())
		}
		sub := &comm.Collective{Kind: comm.KindReduceScatter, Number: c.Number, Dst: out, Src: in, Op: c.Op}
		if err := p.reduceScatter(ctx, sub); err != nil {
			return err
		}
		copy(c.Dst.Slice(from, from+n).Bytes(), out.Bytes())
	}
	return nil
}

// await starts an operation and waits for it. keep is memory that it uses besides the memory of c.
func (p *mpiTransport) await(ctx context.Context, c *comm.Collective, name string, start func(r *uintptr) int32, keep ...[]int32) error {
	return p.awaitAll(ctx, pinned{c, keep}, []string{name}, []func(r *uintptr) int32{start})
}

// awaitAll starts operations and polls until all are done, the group fails or ctx is done. A
// request of 0 needs no wait.
func (p *mpiTransport) awaitAll(ctx context.Context, used pinned, names []string, start []func(r *uintptr) int32) error {
	requests := make([]uintptr, len(start))
	l := p.lib
	for i, f := range start {
		l.mu.Lock()
		err := l.check(names[i], f(&requests[i]))
		l.mu.Unlock()
		if err != nil {
			p.abandon(used)
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
				p.abandon(used)
				return fmt.Errorf("%s: %w", names[i], err)
			}
			if *flag != 0 {
				break
			}
			if err := p.backOff(ctx, spins); err != nil {
				p.abandon(used)
				return err
			}
		}
	}
	return nil
}

// backOff makes a pause that grows, and returns an error if the wait is to end.
func (p *mpiTransport) backOff(ctx context.Context, spins int) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-p.life.Context().Done():
		return p.life.Failure()
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

// pinned is the memory that an operation uses: the buffers of a collective, and lists of counts.
type pinned struct {
	c    *comm.Collective
	keep [][]int32
}

// abandon keeps the memory of an operation that did not end.
func (p *mpiTransport) abandon(used pinned) {
	mpiRunning.Lock()
	mpiRunning.abandoned = append(mpiRunning.abandoned, used)
	mpiRunning.Unlock()
}

func (p *mpiTransport) Split(ctx context.Context, c *comm.Collective, members []int) (comm.Transport, error) {
	const undefined = -32766 // MPI_UNDEFINED of Open MPI
	color, key := undefined, 0
	if c.Color >= 0 {
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
		if err != nil || c.Color < 0 {
			return nil, err
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-p.life.Context().Done():
		return nil, p.life.Failure()
	}
	name := fmt.Sprintf("%s.%d,%d", p.name, c.Number, color)
	return &mpiTransport{
		lib: p.lib, comm: *out, rank: key, size: len(members), life: p.life, control: p.control, name: name, most: p.most,
	}, nil
}

// Abort leaves MPI as it is: the process is to end.
func (p *mpiTransport) Abort() {}

// Close waits for the other ranks, since MPI ends with all.
func (p *mpiTransport) Close() error {
	failed := p.life.Failure() != nil
	var err error
	if !failed && p.first {
		ctx, cancel := context.WithTimeoutCause(context.Background(), p.life.Timeout(), comm.ErrTimeout)
		err = p.move(ctx, &comm.Collective{Kind: comm.KindFence})
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
