// Package record records the operations of the passes of a loop of package ops and runs the loop by
// that list on a device, while the body of the loop is called and compared. Loops and branches in
// the body are blocks of the list. A run by a list never gives another result than the operations
// one by one: see ops.Steps.While.
package record

import (
	"context"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/pass"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// Settings are what package ops gives a loop or a branch.
type Settings struct {
	Context  context.Context // or nil
	Cond     rep.View
	True     bool  // the condition is the value of a scalar, else that there are entries
	Branch   bool  // the body runs at most once
	Passes   int64 // the limit, if Bounded is set; 1 for a branch
	Bounded  bool
	Progress func(pass int64)  // or nil
	Explain  func(text string) // or nil
	// Refused says why the operations run one by one; "" if they may be recorded.
	Refused string

	Body func() (again bool) // calls the body
	OK   func() bool         // no operation has failed
	Fail func(err error)     // records an error, or nil
}

// mode is what operations of a body do.
type mode uint8

const (
	atOnce    mode = iota // they run, and extend the list of their body or equal it
	waiting               // they wait in the list
	comparing             // they must equal the list, which runs
	failed                // they do nothing: the run by the list has failed
)

// lines are the callers of an operation, from the inside.
type lines [12]uintptr

// body is the list of the body of a loop or a branch.
type body struct {
	steps  []pass.Step
	keys   []Key   // of the steps
	lines  []lines // of the steps that may fail
	blocks []block
	known  bool // it has the operations of a whole pass
}

// block is a loop or a branch in a body, before step at.
type block struct {
	at int
	pass.Block
	body *body
}

// Loop is a loop, or a branch.
type Loop struct {
	Settings

	*recorder       // shared with the loops in the body; nil if the operations run one by one
	around    *Loop // whose body has this loop, or nil
	body      *body
	at, in    int    // the next step and the next block of the body
	begun     int64  // passes
	broken    string // why the operations run one by one from here on
	told      string // the last text for Explain
}

// New returns a loop.
func New(s Settings) *Loop { return &Loop{Settings: s} }

// Run runs the loop in the body of around, or nil.
func (l *Loop) Run(around *Loop) {
	l.enter(around)
	defer l.leave()
	for {
		if l.Context != nil && l.Context.Err() != nil {
			l.Fail(l.Context.Err())
		}
		if !l.OK() {
			if l.recorder != nil && l.mode == comparing {
				l.Settle("an operation has failed")
			}
			return
		}
		if l.Bounded && l.begun >= l.Passes {
			return
		}
		switch holds, known := l.decide(); {
		case !known:
			continue
		case !holds || !l.pass():
			return
		}
	}
}

// enter joins the loop around, or begins a list of its own.
func (l *Loop) enter(around *Loop) {
	if around != nil && around.Records() && around.has(l) {
		return
	}
	reason, b := l.Refused, device.Of(l.Cond.Place())
	runner, ok := b.(pass.Runner)
	switch {
	case reason != "":
	case !ok:
		reason = "the condition is not on a device"
	case l.Branch:
		reason = "a branch outside of a loop"
	}
	if l.broken = reason; reason == "" {
		l.recorder = newRecorder(b, runner)
		l.body = &l.recorder.own
		return
	}
	l.explain("one by one: " + reason)
}

// has makes l a block at the present place of the body, or finds it to be that block.
func (o *Loop) has(l *Loop) bool {
	r := o.recorder
	switch {
	case o != r.active:
		o.Settle("a loop has the option of another loop than the one around it")
	case l.Refused != "":
		o.Settle("a loop in its body: " + l.Refused)
	case device.Of(l.Cond.Place()) != r.backend:
		o.Settle("the condition of a loop in its body is at another place")
	}
	if !o.Records() {
		return false
	}
	if r.mode == waiting {
		r.flush()
	}
	m := l.Cond.Matrix.Matrix()
	v, ok := o.Variable(m)
	if !ok {
		t, err := device.TypeFor(sparse.GoType(m.Type()))
		if err != nil {
			o.Settle(err.Error())
			return false
		}
		v = o.Add(m, l.Cond.Vector, t)
	}
	b := pass.Block{Cond: v, True: l.True, Branch: l.Branch, Bounded: l.Bounded, Passes: l.Passes}
	switch blocks := o.body.blocks; {
	case o.in < len(blocks) && blocks[o.in].at == o.at && blocks[o.in].Block == b:
	case o.in < len(blocks) || o.body.known:
		o.Settle("a loop in its body differs from the pass before")
		return false
	default:
		o.body.blocks = append(blocks, block{o.at, b, new(body)})
	}
	l.recorder, l.around, l.body = r, o, o.body.blocks[o.in].body
	return true
}

// leave ends the run by the list, if it is of this loop.
func (l *Loop) leave() {
	r := l.recorder
	switch {
	case r == nil:
		return
	case r.mode == comparing && r.owner == l:
		r.arrive()
	}
	if l.recorder = nil; l.around != nil {
		l.around.in++
		return
	}
	r.close()
}

// decide returns whether the condition holds. A run by a list knows it, or has ended.
func (l *Loop) decide() (holds, known bool) {
	r := l.recorder
	if r != nil && r.mode == comparing {
		return r.decision()
	}
	if !l.holds() {
		return false, true
	}
	if l.Records() && !l.Branch && l.body.known && l.launch(0) {
		return false, false // the device decides
	}
	return true, true
}

// holds evaluates the condition on the host.
func (l *Loop) holds() bool {
	n := l.Cond.NVals()
	if err := l.Cond.Err(); err != nil {
		l.Fail(err)
		return false
	}
	if n == 0 || !l.True {
		return n > 0
	}
	st := l.Cond.Stored()
	if err := l.Cond.Err(); err != nil {
		l.Fail(err)
		return false
	}
	at, ok := st.Has(0, 0)
	return ok && *(*bool)(st.Part(at, at+1).Pointer())
}

// pass calls the body. It returns false if the body has left the loop.
func (l *Loop) pass() (again bool) {
	r := l.recorder
	l.at, l.in = 0, 0
	if l.Records() && !l.Branch && !l.body.known && r.mode == atOnce {
		r.mode, r.owner = waiting, l
	}
	if !l.call() {
		return false
	}
	if !l.Records() {
		return true
	}
	if l.at < len(l.body.steps) || l.in < len(l.body.blocks) {
		l.Settle("a pass has fewer operations than the list")
		return true
	}
	l.body.known = true
	if r.mode == waiting && r.owner == l {
		l.launch(1)
	}
	return true
}

// call calls the body for a pass. It returns false if the body has left the loop.
func (l *Loop) call() (again bool) {
	l.begun++
	if r := l.recorder; r != nil {
		before := r.active
		r.active = l
		defer func() { // also if the body panics, or calls runtime.Goexit
			if !again {
				l.Settle("the body has left the loop")
			}
			r.active = before
		}()
	}
	if l.Progress != nil {
		l.Progress(l.begun)
	}
	return l.Body()
}

// Records reports whether operations of the body go to the list.
func (l *Loop) Records() bool { return l.recorder != nil && l.broken == "" }

// Takes reports whether an operation at a place goes to the list. For one of the body that cannot,
// it settles the loop.
func (l *Loop) Takes(op string, at device.Backend, forced bool) bool {
	switch {
	case !l.Records():
		return false
	case at == nil || at != l.backend:
		l.Settle(op + " runs at another place")
	case forced:
		l.Settle(op + " has a forced method")
	default:
		return true
	}
	return false
}

// Settle makes the contents those that the operations so far give. The rest of this loop, of those
// around it, and of those under way in its body runs one by one.
func (l *Loop) Settle(reason string) {
	r := l.recorder
	if r == nil {
		return
	}
	tell := r.mode != comparing
	for _, m := range []*Loop{r.active, l} {
		for ; m != nil; m = m.around {
			if m.broken != "" {
				continue
			}
			if m.broken = reason; tell && m.told == "" {
				m.explain("one by one: " + reason)
			}
		}
	}
	r.settle()
}

// explain passes a text on to the caller.
func (l *Loop) explain(text string) {
	if l.Explain != nil && text != l.told {
		l.Explain(text)
	}
	l.told = text
}

// An Operation is one of a body. Run runs it by itself, and Drop ends one that the list has run.
type Operation interface {
	Run() error
	Drop()
}

// Record takes an operation of the body into the list, or compares it with the operation at its
// place in the list.
func (l *Loop) Record(s *pass.Step, o Operation) error {
	r, b := l.recorder, l.body
	switch {
	case r.mode == failed:
		return nil
	case l != r.active:
		l.Settle(s.Op + " has the option of another loop than the one around it")
		return o.Run()
	case l.at < len(b.steps) && (l.in == len(b.blocks) || b.blocks[l.in].at > l.at):
		if !b.steps[l.at].Same(s) || !b.steps[l.at].SameValues(s) {
			return l.differs(s, o)
		}
		b.keys[l.at] = r.key
	case b.known || l.in < len(b.blocks):
		return l.differs(s, o)
	default:
		b.steps, b.keys = append(b.steps, *s), append(b.keys, r.key)
		b.lines = append(b.lines, lines{})
		if s.Kind == pass.Gather || s.Kind == pass.Scatter { // which may fail on the device
			runtime.Callers(3, b.lines[len(b.lines)-1][:])
		}
		r.write(s.Dst)
		if s.Kind == pass.Swap {
			r.write(s.A.Var)
		}
	}
	l.at++
	if r.mode == atOnce {
		return o.Run()
	}
	r.waits = append(r.waits, o)
	return nil
}

// differs runs an operation that is not the one of the list.
func (l *Loop) differs(s *pass.Step, o Operation) error {
	var here lines
	runtime.Callers(4, here[:])
	l.Settle(s.Op + " at " + here.text() + " differs from the pass before")
	if l.mode == failed {
		return nil
	}
	return o.Run()
}

// text returns the line outside this package and package ops that called, such as "bfs.go:31".
func (l *lines) text() string {
	n := 0
	for n < len(l) && l[n] != 0 {
		n++
	}
	frames := runtime.CallersFrames(l[:n])
	for {
		f, more := frames.Next()
		inside := strings.Contains(f.Function, "hiveblas/ops.") || strings.Contains(f.Function, "internal/record.")
		if !inside || !more {
			return filepath.Base(f.File) + ":" + strconv.Itoa(f.Line)
		}
	}
}
