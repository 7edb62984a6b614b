package ops

import (
	"fmt"
	"strings"
	"sync"

	"github.com/hiveblas/hiveblas/internal/cpu"
	"github.com/hiveblas/hiveblas/internal/hostmem"
	"github.com/hiveblas/hiveblas/internal/parallel"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/matrix"
)

// call is the state of a running operation. It has no element types: the exported functions are
// shells with types that the compiler checks, and what they call is compiled once.
type call struct {
	settings
	op, name string
	ran      *Trace       // nil unless tracing
	remote   []rep.View   // operands that live on a device
	t        target       // see prepare
	ring     ring         // of a product
	word     uint64       // room for a result of up to 8 bytes
	alone    func() error // runs an operation of the list of a loop by itself
}

// calls holds calls that have ended. They would be half of the memory that an operation on few
// entries allocates.
var calls = sync.Pool{New: func() any { return new(call) }}

// begin returns the call of an operation.
func begin(op, name string, opts []Option) *call {
	return calls.Get().(*call).start(op, name, opts)
}

// beginProduct is begin of an operation over a semiring.
func beginProduct(op string, s *cpu.Ring, opts []Option) *call {
	c := begin(op, "", opts)
	if c.ring.Ring = s; s != nil {
		c.name = s.Name
	}
	return c
}

// done returns the error of a call, which has ended, and keeps the call unless a device, a group or
// the list of a loop may still refer to it.
func (c *call) done(err error) error {
	if c.loop == nil && c.t.at == nil && c.t.group == nil {
		*c = call{}
		calls.Put(c)
	}
	return err
}

func (c *call) start(op, name string, opts []Option) *call {
	c.op, c.name, c.local = op, name, &wholeRun
	for _, o := range opts {
		if o != nil {
			o(&c.settings)
		}
	}
	return c
}

func (c *call) env() cpu.Env {
	return cpu.Env{Ctx: c.ctx, Threads: parallel.Threads(c.threads), Parts: c.local.parts}
}

func (c *call) dim(arg, got, want, remedy string) error {
	return &matrix.DimensionError{Op: c.op, Arg: arg, Got: got, Want: want, Remedy: remedy}
}

// tracing reports whether a trace is requested.
func (c *call) tracing() bool { return c.trace != nil || c.traces != nil }

// traced records the method and its work.
func (c *call) traced(m Method, work int64) {
	if c.tracing() {
		c.ran = &Trace{Op: c.op, Name: c.name, Method: m, Place: "cpu", Work: work}
	}
}

// emit delivers the trace after the destination is written and has nvals entries.
func (c *call) emit(nvals int64) {
	if !c.tracing() {
		return
	}
	if c.ran == nil {
		c.ran = &Trace{}
	}
	c.ran.NVals = nvals
	if c.trace != nil {
		*c.trace = *c.ran
	}
	if c.traces != nil {
		c.traces(*c.ran)
	}
}

// room returns a *matrix.SizeError if there is no memory for n items of size bytes each.
func (c *call) room(what string, n, size int64) error {
	if bytes, have, ok := hostmem.Fits(n, size); !ok {
		return &matrix.SizeError{Op: c.op, Arg: "number of bytes of " + what, Got: bytes, Limit: have}
	}
	return nil
}

// sized returns err, or the *matrix.SizeError of a *cpu.RoomError.
func (c *call) sized(err error) error {
	if r, ok := err.(*cpu.RoomError); ok {
		return &matrix.SizeError{Op: c.op, Arg: "number of bytes of " + r.What, Got: r.Bytes, Limit: r.Have}
	}
	return err
}

// isNil is the error of a nil argument.
func (c *call) isNil(arg string) error {
	return &matrix.InvalidError{Op: c.op, Reason: arg + " is nil or an empty view; make matrices with matrix.New, a Builder or a From function"}
}

// naming returns the error of an argument. That of a nil matrix names the operation and the
// argument.
func (c *call) naming(arg string, err error) error {
	if err == (*matrix.View[bool])(nil).Err() {
		return c.isNil(arg)
	}
	return err
}

// methodless returns an error if an option does not apply: a forced method of an operation that has
// only one, or MaskOfRegion.
func (c *call) methodless() error {
	if c.region && !strings.HasPrefix(c.op, "Assign") {
		return &matrix.InvalidError{Op: c.op, Reason: "the option MaskOfRegion is for assignments; leave it out"}
	}
	if c.method != Auto && c.op != "MxM" && c.op != "MxV" && c.op != "VxM" {
		return &MethodError{c.op, c.method, "only MxM, MxV and VxM have methods to choose from"}
	}
	return nil
}

// checkThreads verifies WithThreads.
func (c *call) checkThreads() error {
	if c.threads < 0 {
		return &matrix.InvalidError{Op: c.op, Reason: fmt.Sprintf("WithThreads is %d, want 1 or more, or 0 for GOMAXPROCS", c.threads)}
	}
	return nil
}

// operand checks the operand of a name.
func (c *call) operand(name string, v rep.View) error {
	if err := c.checkThreads(); err != nil {
		return err
	}
	if v.Matrix == nil {
		return c.isNil(name)
	}
	if err := v.Err(); err != nil {
		return c.naming(name, err)
	}
	if v.Place() != nil {
		c.remote = append(c.remote, v)
	}
	return nil
}

// fetch copies the operands on a device to the host, where the operation runs.
func (c *call) fetch() error {
	for _, v := range c.remote {
		if err := v.Fetched(); err != nil {
			return err
		}
	}
	return nil
}
