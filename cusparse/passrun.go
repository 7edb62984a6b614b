package cusparse

import (
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/cusparse/internal/loopkernel"
	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/pass"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// This file follows the kernel of a recorded loop: its decisions, its end and its results.

// numbers are what the kernel tells the host.
func (r *passRun) numbers() []int64 {
	return unsafe.Slice((*int64)(r.room.host), passRoomBytes/8)
}

// Stop asks the loop to end before its next decision.
func (r *passRun) Stop() {
	if r.ended() || r.stop {
		return
	}
	r.stop = true
	f := r.d.begin(r.c)
	defer f.end()
	f.c.Context = nil // it may be over, and the kernel must know
	if f.err != nil && f.d.closed {
		return
	}
	f.err = nil
	if r.d.passStream == 0 {
		s, err := r.d.ctx.NewStream()
		if err != nil {
			return
		}
		r.d.passStream = s
	}
	one := uint32(1)
	_ = r.d.ctx.ToDevice(r.room.control.addr+stopOffset, unsafe.Pointer(&one), 4, r.d.passStream)
	_ = r.d.ctx.Sync(r.d.passStream)
}

// wait waits for the end of the kernel.
func (r *passRun) wait() {
	begin := time.Now()
	asked := begin
	for spins := 0; ; spins++ {
		if r.ended() {
			return
		}
		if spins < 1000 {
			if spins%64 == 63 {
				runtime.Gosched()
			}
			continue
		}
		now := time.Now()
		if now.Sub(begin) > 2*time.Millisecond {
			time.Sleep(50 * time.Microsecond)
		} else {
			runtime.Gosched()
		}
		if now.Sub(asked) > 100*time.Millisecond {
			asked = now
			r.ask()
		}
	}
}

// ask looks whether the kernel has failed.
func (r *passRun) ask() {
	f := r.d.begin(device.Call{Op: r.c.Op})
	defer f.end()
	if f.err != nil {
		r.err = f.err
		return
	}
	p, ok := r.d.ctx.(driver.Peers)
	if !ok {
		return
	}
	done, err := p.Done(r.d.stream)
	f.fail(err)
	if f.err != nil {
		r.err = f.err
		return
	}
	if done && !r.ended() {
		f.fail(&driver.Error{Call: "cuStreamQuery", Code: 999, Name: "CUDA_ERROR_UNKNOWN", Text: "the kernel of a loop ended early"})
		r.err = f.err
	}
}

// End waits for the end of the loop.
func (r *passRun) End(discard bool) (contents []device.Store, err error) {
	r.wait()
	if r.err != nil {
		r.release()
		return nil, r.err
	}
	n := r.numbers()
	r.room.logged = n[loopkernel.HostDecisions]
	f := r.d.begin(device.Call{Op: r.c.Op})
	defer f.end()
	defer r.release()
	if r.stop && f.err == nil { // it may have come after the end, and the next loop must not see it
		f.fail(f.d.ctx.Fill(r.room.control.addr+stopOffset, 0, 4, f.d.stream))
	}
	if f.err != nil {
		return nil, f.err
	}
	defer func() { r.d.passRooms = append(r.d.passRooms, r.room) }()
	if discard {
		return nil, nil
	}
	if e := n[loopkernel.HostError : loopkernel.HostError+4]; e[0] != 0 {
		s := &r.prog.List.Steps[e[0]-1]
		return nil, &pass.StepError{Step: int(e[0] - 1), Pass: n[loopkernel.HostPasses], Err: &device.IndexError{Arg: "idx of " + s.Op, At: e[1], Index: e[2], Limit: e[3]}}
	}
	contents = make([]device.Store, len(r.prog.List.Vars))
	for i := range contents {
		v := &r.prog.Vars[i]
		if !r.prog.List.Vars[i].Written {
			continue
		}
		count := n[loopkernel.HostVars+2*i+1]
		b, format := passBuffer{}, sparse.Bitmap
		if v.Kind == loopkernel.Uniform {
			b = r.scalars[i]
			if count == 1 {
				format = sparse.Full
			}
		} else {
			b = r.buffers[n[loopkernel.HostVars+2*i]]
			b.has = r.bytes[i]
			if v.Full {
				format = sparse.Full
			}
		}
		s := f.newStore(1, v.N, format, v.Type, count)
		s.val = b.val.share()
		if format == sparse.Bitmap {
			s.present = b.has.share()
		}
		contents[i] = f.result(s)
	}
	return contents, f.err
}

// release gives the memory of the loop back.
func (r *passRun) release() {
	for _, b := range r.buffers {
		b.release()
	}
	for _, b := range r.scalars {
		b.release()
	}
	for _, m := range r.bytes {
		m.release()
	}
	r.buffers, r.bytes, r.scalars = nil, nil, nil
}

// passLog is the number of decisions that a run may take, a byte each behind the numbers. A run
// that comes to the end of the log ends, and the loop begins a new one.
const passLog = 1 << 16

// log is the place of a decision in the log: 0 if it is not taken, 1 if it is false, 2 if true.
func (r *passRun) log(k int64) unsafe.Pointer {
	return unsafe.Add(r.room.host, passRoomBytes+k)
}

// Decision returns whether condition number k held, and whether the loop has ended.
func (r *passRun) Decision(k int64) (holds, known, ended bool) {
	if r.err != nil {
		return false, false, true
	}
	ended = r.ended() // before the log, which may be complete afterwards
	if k >= passLog {
		return false, false, ended
	}
	four := atomic.LoadUint32((*uint32)(r.log(k &^ 3)))
	is := byte(four >> (k & 3 * 8))
	return is == 2, is != 0, ended
}

// ended reports whether the loop has ended.
func (r *passRun) ended() bool {
	return r.err != nil || atomic.LoadInt64(&r.numbers()[loopkernel.HostEnded]) != 0
}

// Plan prints the list by stages.
func (r *passRun) Plan() string { return r.prog.Plan }
