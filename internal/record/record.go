// Package record records the operations of one pass of a loop of package ops and runs the loop by
// that list on a device, while the body of the loop is called and compared. A run by a list never
// gives another result than the operations one by one: see ops.Steps.While.
package record

import (
	"context"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"

	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/pass"
	"github.com/hiveblas/hiveblas/internal/rep"
)

// Settings are what package ops gives a loop.
type Settings struct {
	Context  context.Context // or nil
	Cond     rep.View
	True     bool  // the condition is the value of a scalar, else that there are entries
	Passes   int64 // the limit, if Bounded is set
	Bounded  bool
	Progress func(pass int64)  // or nil
	Explain  func(text string) // or nil
	// Refused says why the operations run one by one; "" if they may be recorded.
	Refused string

	Holds func() bool         // evaluates the condition on the host
	Body  func() (again bool) // calls the body
	OK    func() bool         // no operation has failed
	Fail  func(err error)     // records an error, or nil
}

// mode is what operations of the body do.
type mode uint8

const (
	oneByOne  mode = iota // they run
	recording             // they wait in the list
	comparing             // they must equal the list, which runs
)

// lines are the callers of an operation, from the inside.
type lines [12]uintptr

// Loop is a loop.
type Loop struct {
	Settings

	mode    mode
	backend device.Backend
	runner  pass.Runner
	busy    bool // operands are touched by the loop itself
	list    pass.List
	mats    []rep.Matrix   // the variables of the list
	before  []*rep.Watch   // of the variables
	room    *room          // while operations wait
	lines   []lines        // of the steps of the list
	waits   []func() error // the operations of the pass under way, to run one by one
	runs    pass.Run       // while comparing
	called  int64          // calls of the body since the list was recorded
	begun   int64          // passes before that
}

// room is memory that a loop leaves for others.
type room struct {
	step   pass.Step // under way
	vars   []pass.Var
	steps  []pass.Step
	lines  []lines
	mats   []rep.Matrix
	before []*rep.Watch
}

var rooms = sync.Pool{New: func() any { return new(room) }}

// New returns a loop.
func New(s Settings) *Loop { return &Loop{Settings: s} }

// enter takes a room.
func (l *Loop) enter() {
	r := rooms.Get().(*room)
	l.room, l.list.Vars, l.list.Steps, l.lines, l.mats, l.before = r, r.vars[:0], r.steps[:0], r.lines[:0], r.mats[:0], r.before[:0]
}

// leave gives the room back. Steps hold texts alone, and are large, so they stay.
func (l *Loop) leave() {
	r := l.room
	if r == nil {
		return
	}
	clear(l.mats)
	clear(l.before)
	r.vars, r.steps, r.lines, r.mats, r.before = l.list.Vars, l.list.Steps, l.lines, l.mats, l.before
	l.room, l.list.Vars, l.list.Steps, l.lines, l.mats, l.before = nil, nil, nil, nil, nil, nil
	rooms.Put(r)
}

// Step returns the step of the operation under way.
func (l *Loop) Step() *pass.Step {
	if l.room == nil {
		l.enter()
	}
	return &l.room.step
}

// Run runs the loop in the body of around, or nil.
func (l *Loop) Run(around *Loop) {
	if around != nil {
		around.Settle("there is a loop in its body")
	}
	if reason := l.place(); reason != "" && l.Explain != nil {
		l.Explain("one by one: " + reason)
	}
	for {
		if l.Context != nil && l.Context.Err() != nil {
			l.Fail(l.Context.Err())
		}
		if !l.OK() || l.Bounded && l.begun >= l.Passes || !l.Holds() {
			return
		}
		if l.runner == nil { // nothing waits
			l.next()
			if !l.Body() {
				return
			}
			continue
		}
		l.mode = recording
		if !l.call() {
			return
		}
		if l.mode == recording && !l.launch() {
			return
		}
	}
}

// place finds the device of the loop. Without one it returns why the operations run one by one.
func (l *Loop) place() (reason string) {
	if l.Refused != "" {
		return l.Refused
	}
	b := device.Of(l.Cond.Place())
	runner, ok := b.(pass.Runner)
	if !ok {
		return "the condition is not on a device"
	}
	l.backend, l.runner = b, runner
	return ""
}

// next counts a pass.
func (l *Loop) next() {
	l.begun++
	if l.Progress != nil {
		l.Progress(l.begun)
	}
}

// call calls the body for a pass. It returns false if the body has left the loop.
func (l *Loop) call() (again bool) {
	l.next()
	left := true
	defer func() { // the body panics, or calls runtime.Goexit
		if left {
			l.Settle("the body has left the loop")
		}
	}()
	again = l.Body()
	left = false
	if !again && l.Waits() {
		l.Settle("the body has left the loop")
	}
	return again
}

// Waits reports whether operations of the body go to the list.
func (l *Loop) Waits() bool { return l.mode != oneByOne }

// Backend returns the device of the loop.
func (l *Loop) Backend() device.Backend { return l.backend }

// Settle runs the waiting operations, and the rest of the loop one by one.
func (l *Loop) Settle(reason string) {
	if !l.Waits() {
		return
	}
	was := l.mode
	l.mode = oneByOne
	defer func() { l.runner = nil }()
	if l.Explain != nil && was == recording {
		l.Explain("one by one: " + reason)
	}
	if was == comparing {
		// The passes before this one ran by the list.
		_, _, err := l.end(true)
		if err == nil && l.called > 1 {
			err = l.named(l.again(l.called - 1))
		}
		if err != nil {
			l.unwatch()
			l.Fail(err)
			return
		}
	}
	waits := l.waits
	l.waits = nil
	l.unwatch()
	for _, run := range waits {
		l.Fail(run())
	}
}

// Variable returns the number of a matrix, which is no pattern, in the list, and false of one that
// the list does not have.
func (l *Loop) Variable(m rep.Matrix) (v int, ok bool) {
	for v, have := range l.mats {
		if have == m {
			return v, true
		}
	}
	return pass.None, false
}

// Add is Variable of a matrix that the list does not have yet. A list that runs gets none, and Add
// returns pass.None.
func (l *Loop) Add(m rep.Matrix, vector bool, t device.Type) int {
	if l.mode == comparing {
		return pass.None
	}
	rows, cols := m.Dims()
	l.mats = append(l.mats, m)
	l.before = append(l.before, nil)
	l.list.Vars = append(l.list.Vars, pass.Var{Rows: rows, Cols: cols, Vector: vector, Type: t, Scalar: vector && cols == 1})
	l.watch(len(l.mats) - 1)
	return len(l.mats) - 1
}

// Record takes an operation of the body into the list, or compares it with the operation at its
// place in the list. run runs it by itself.
func (l *Loop) Record(s *pass.Step, run func() error) error {
	if k := len(l.waits); l.mode == comparing {
		if k >= len(l.list.Steps) || !l.list.Steps[k].Same(s) || !l.list.Steps[k].SameValues(s) {
			var here lines
			runtime.Callers(3, here[:])
			l.Settle(s.Op + " at " + here.text() + " differs from the pass before")
			return run()
		}
		l.waits = append(l.waits, run)
		return nil
	}
	l.waits = append(l.waits, run)
	l.list.Steps = append(l.list.Steps, *s)
	l.lines = append(l.lines, lines{})
	runtime.Callers(3, l.lines[len(l.lines)-1][:])
	l.write(s.Dst)
	if s.Kind == pass.Swap {
		l.write(s.A.Var)
	}
	return nil
}

// write makes a variable one that the list writes.
func (l *Loop) write(v int) {
	if !l.list.Vars[v].Written {
		l.list.Vars[v].Written = true
		l.mats[v].Watch(l.before[v])
		l.watch(v)
	}
}

// watch makes the loop watch a variable.
func (l *Loop) watch(v int) {
	m, written := l.mats[v], l.list.Vars[v].Written
	before := m.Watch(nil)
	if before != nil { // of a loop around this one
		before.Touched(written)
	}
	l.before[v] = before
	m.Watch(&rep.Watch{Touched: func(write bool) {
		if !write && !written || l.busy || !l.Waits() {
			return
		}
		what := "read"
		if write {
			what = "written"
		}
		l.Settle("a matrix of the list is " + what + " by other means")
	}})
}

// unwatch ends that.
func (l *Loop) unwatch() {
	for v, m := range l.mats {
		m.Watch(l.before[v])
	}
	l.leave()
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
