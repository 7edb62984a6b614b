package emu

import (
	"sync"

	"github.com/hiveblas/hiveblas/cusparse/driver"
)

// Fault is a pending failure.
type Fault struct {
	call  string
	left  int
	err   driver.Error
	fired bool
	e     *Emulator
}

// FailAfter makes the n-th following call of a method of driver.Context, such as "Alloc" or
// "Launch", fail once with err. n = 1 is the next call. The name "" counts all calls except Bind,
// Close and those that free. A failed call has no effect.
func (e *Emulator) FailAfter(call string, n int, err driver.Error) *Fault {
	f := &Fault{call: call, left: n, err: err, e: e}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.faults = append(e.faults, f)
	return f
}

// Fired reports whether the failure has happened.
func (f *Fault) Fired() bool {
	f.e.mu.Lock()
	defer f.e.mu.Unlock()
	return f.fired
}

// Cancel cancels the failure, unless it has happened.
func (f *Fault) Cancel() {
	f.e.mu.Lock()
	defer f.e.mu.Unlock()
	f.left = 0
}

// Calls returns the number of calls of each method of driver.Context.
func (e *Emulator) Calls() map[string]int {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := make(map[string]int, len(e.calls))
	for k, v := range e.calls {
		out[k] = v
	}
	return out
}

// Copied returns the bytes that ToDevice and ToHost have copied. Kernels that write to pinned
// memory do not count.
func (e *Emulator) Copied() (toDevice, toHost uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.copied[0], e.copied[1]
}

// Live returns the number of device allocations in use, and their bytes.
func (e *Emulator) Live() (n int, bytes uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range e.contexts {
		n += len(c.device.blocks)
		bytes += c.device.bytes
	}
	return n, bytes
}

// LiveHandles returns the number of open streams, events, modules, graphs and pinned host
// allocations.
func (e *Emulator) LiveHandles() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := 0
	for _, c := range e.contexts {
		n += len(c.streams) + len(c.events) + len(c.modules) + len(c.graphs) + len(c.host.blocks)
	}
	return n
}

// unblamed lists the calls that FailAfter("") does not count.
var unblamed = map[string]bool{
	"Bind": true, "Close": true, "Free": true, "FreeAsync": true, "FreeHost": true,
	"CloseStream": true, "CloseEvent": true, "CloseGraph": true, "Unload": true,
}

// counted counts a call and returns the error of its Fault. The lock is held.
func (e *Emulator) counted(call string) error {
	e.calls[call]++
	for _, f := range e.faults {
		if f.left == 0 || f.call != call && (f.call != "" || unblamed[call]) {
			continue
		}
		if f.left--; f.left == 0 {
			f.fired = true
			err := f.err
			return &err
		}
	}
	return nil
}

// launching serialises launches of the process: the runtime has one state.
var launching sync.Mutex
