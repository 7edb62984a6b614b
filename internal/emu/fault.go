package emu

import (
	"sync"

	"github.com/hiveblas/hiveblas/cusparse/driver"
)

// Fault is a failure to come.
type Fault struct {
	call  string
	left  int
	err   driver.Error
	fired bool
	e     *Emulator
}

// FailAfter makes the n-th following call of a method of driver.Context, such
// as "Alloc" or "Launch", fail once with err; n = 1 is the next one, and ""
// counts all calls but Bind, Close and the ones that free. A failed call does
// nothing.
func (e *Emulator) FailAfter(call string, n int, err driver.Error) *Fault {
	f := &Fault{call: call, left: n, err: err, e: e}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.faults = append(e.faults, f)
	return f
}

// Fired reports whether the failure has come.
func (f *Fault) Fired() bool {
	f.e.mu.Lock()
	defer f.e.mu.Unlock()
	return f.fired
}

// Cancel takes the failure back, if it has not come.
func (f *Fault) Cancel() {
	f.e.mu.Lock()
	defer f.e.mu.Unlock()
	f.left = 0
}

// Calls returns how often each method of driver.Context was called.
func (e *Emulator) Calls() map[string]int {
	e.mu.Lock()
	defer e.mu.Unlock()
	out := make(map[string]int, len(e.calls))
	for k, v := range e.calls {
		out[k] = v
	}
	return out
}

// Live returns the number of allocations of device memory that have not been
// freed, and their bytes.
func (e *Emulator) Live() (n int, bytes uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range e.contexts {
		n += len(c.device.blocks)
		bytes += c.device.bytes
	}
	return n, bytes
}

// LiveHandles returns how many streams, events, modules, graphs and pinned
// blocks of host memory are still open.
func (e *Emulator) LiveHandles() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := 0
	for _, c := range e.contexts {
		n += len(c.streams) + len(c.events) + len(c.modules) + len(c.graphs) + len(c.host.blocks)
	}
	return n
}

// unblamed are the calls that FailAfter("") passes over.
var unblamed = map[string]bool{
	"Bind": true, "Close": true, "Free": true, "FreeAsync": true, "FreeHost": true,
	"CloseStream": true, "CloseEvent": true, "CloseGraph": true, "Unload": true,
}

// counted counts a call, and returns the error that a Fault has for it. The
// lock is held.
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
