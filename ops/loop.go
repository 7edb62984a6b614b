package ops

import (
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"runtime"
	"strings"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/pass"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// A Condition of a loop is a vector or a matrix, which holds while there are entries, or a
// *matrix.Scalar[bool], which holds while the value is true.
type Condition interface {
	Inside() rep.View
	NVals() int64
	Err() error
}

// Passes bounds the number of passes of a loop. A loop that ends by it is no error.
func Passes(n int64) Option {
	return func(s *settings) { s.passes, s.bounded = n, true }
}

// Progress calls f with the number of each pass of a loop, from 1 on, on the goroutine of the loop,
// when the pass has begun.
func Progress(f func(pass int64)) Option { return func(s *settings) { s.progress = f } }

// Explain calls f when a loop begins to run on a device: with the list of the operations of a pass,
// or with the reason why they run one by one.
func Explain(f func(text string)) Option { return func(s *settings) { s.explain = f } }

// OneByOne runs the operations of a loop one by one, as without the option that the loop gives its
// body. The result is the same.
func OneByOne() Option { return func(s *settings) { s.oneByOne = true } }

// While is a loop whose condition is an operand. Its body gives the option that it gets to each
// operation:
//
//	for in := range s.While(frontier) {
//		s.Do(ops.AssignVectorFrom(level.Masked(frontier.Structure()), depth, ops.All(), in))
//		s.Do(ops.VxM(frontier.Masked(unvisited).Replace(), anyPair, frontier.Pattern(), a.Pattern(), in))
//		s.Do(ops.ApplySecond(depth, semiring.Plus[int32](), depth, 1, in))
//	}
//
// On a device the operations of the first pass wait in a list. The device then runs the loop to its
// end by that list, as one kernel, while the body is called once for each pass that has begun: its
// operations do nothing then but to check that they are those of the list. So the body runs as often
// as written, and its result is always that of its operations one by one:
//
//   - A pass that differs from the list, such as by a number that changes, a branch, or vectors that
//     exchange their names, ends the run before that pass, and the operations run one by one from
//     there on. A number that changes belongs into a *matrix.Scalar, and [Swap] exchanges vectors.
//   - A read or a write of an operand of the list by other means, such as NVals, Set or an operation
//     without the option, runs the waiting operations first, and the rest one by one.
//   - break, return and panics leave the loop after the operations before them.
//
// Lists may have the operations on vectors MxV, VxM, EWiseAdd, EWiseMult, EWiseUnion, Apply and its
// variants, Select, AssignVector and AssignVectorScalar to all positions, ExtractVector and
// ScatterVector by a full vector of indices, [ReduceInto], [CountInto] and [Swap], with sums whose
// order makes no difference. With others, on the host and on groups, the operations run one by one.
// [Explain] tells which. Options of the loop are options of its operations too.
//
// An operation that fails on the device ends the loop with its error; its operands are as they were
// before the loop then.
func (s *Steps) While(cond Condition, opts ...Option) iter.Seq[Option] {
	return func(yield func(Option) bool) {
		if !s.OK() {
			return
		}
		if cond == nil {
			s.Do(&matrix.InvalidError{Op: "Steps.While", Reason: "the condition is nil; give a vector or a *matrix.Scalar[bool]"})
			return
		}
		l := &loop{steps: s, cond: cond, in: cond.Inside(), yield: yield}
		for _, o := range opts {
			if o != nil {
				o(&l.settings)
			}
		}
		given := WithOptions(opts...)
		l.option = func(c *settings) {
			given(c)
			c.loop = l
		}
		l.run()
	}
}

// loopMode is what operations of the body do.
type loopMode uint8

const (
	oneByOne  loopMode = iota // they run
	recording                 // they wait in the list
	comparing                 // they must be those of the list, which runs
)

// waiting is an operation of the list that has not run.
type waiting struct {
	step pass.Step
	run  func() error
}

// loop is a loop of While.
type loop struct {
	settings
	steps  *Steps
	cond   Condition
	in     rep.View // the condition
	yield  func(Option) bool
	option Option

	mode    loopMode
	backend device.Backend
	runner  pass.Runner
	busy    bool // operands are touched by the loop itself
	list    pass.List
	mats    []rep.Matrix // the variables of the list
	before  []*rep.Watch // of the variables
	waits   []waiting    // of the pass under way
	runs    pass.Run     // while comparing
	called  int64        // calls of the body since the list was recorded
	begun   int64        // passes before that
}

// holds evaluates the condition on the host.
func (l *loop) holds() bool {
	if l.in.Type() != nil && l.isTrue() {
		if l.steps.NVals(l.cond) == 0 {
			return false
		}
		st := l.in.Stored()
		if !l.steps.Do(l.cond.Err()) {
			return false
		}
		at, ok := st.Has(0, 0)
		return ok && *(*bool)(st.Part(at, at+1).Pointer())
	}
	return l.steps.NVals(l.cond) > 0
}

// isTrue reports whether the condition is the value of a scalar.
func (l *loop) isTrue() bool {
	_, ok := l.cond.(*matrix.Scalar[bool])
	return ok
}

// run runs the loop.
func (l *loop) run() {
	if around := l.settings.loop; around != nil {
		around.settle("there is a loop in its body")
	}
	if reason := l.place(); reason != "" && l.explain != nil {
		l.explain("one by one: " + reason)
	}
	for {
		if l.ctx != nil && l.ctx.Err() != nil {
			l.steps.Do(l.ctx.Err())
		}
		if !l.steps.OK() || l.bounded && l.begun >= l.passes || !l.holds() {
			return
		}
		if l.runner != nil {
			l.mode = recording
		}
		if !l.call() {
			return
		}
		if l.mode == recording && !l.launch() {
			return
		}
	}
}

// place finds the device of the loop. Without one it returns why the operations run one by one.
func (l *loop) place() (reason string) {
	b := device.Of(l.in.Place())
	runner, ok := b.(pass.Runner)
	switch {
	case l.oneByOne:
		return "the option OneByOne"
	case !ok:
		return "the condition is not on a device"
	case l.trace != nil || l.traces != nil:
		return "its operations are traced"
	}
	l.backend, l.runner = b, runner
	return ""
}

// call calls the body for a pass. It returns false if the body has left the loop.
func (l *loop) call() (again bool) {
	l.begun++
	if l.progress != nil {
		l.progress(l.begun)
	}
	left := true
	defer func() { // the body panics, or calls runtime.Goexit
		if left {
			l.settle("the body has left the loop")
		}
	}()
	again = l.yield(l.option)
	left = false
	if !again && l.mode != oneByOne {
		l.settle("the body has left the loop")
	}
	return again
}

// settle runs the waiting operations, and the rest of the loop one by one.
func (l *loop) settle(reason string) {
	if l.mode == oneByOne {
		return
	}
	was := l.mode
	l.mode = oneByOne
	defer func() { l.runner = nil }()
	if l.explain != nil && was == recording {
		l.explain("one by one: " + reason)
	}
	if was == comparing {
		// The passes before this one are those of the list.
		_, _, err := l.end(true)
		if err == nil && l.called > 1 {
			err = l.named(l.again(l.called - 1))
		}
		if err != nil {
			l.unwatch()
			l.steps.Do(err)
			return
		}
	}
	waits := l.waits
	l.waits = nil
	l.unwatch()
	for _, w := range waits {
		l.steps.Do(w.run())
	}
}

// again runs n passes of the list, and keeps the results.
func (l *loop) again(n int64) error {
	r, err := l.begin(n)
	if err != nil {
		return err
	}
	l.runs = r
	_, contents, err := l.end(false)
	if err != nil {
		return err
	}
	return l.keep(contents)
}

// watch makes the loop watch a variable.
func (l *loop) watch(v int) {
	m, written := l.mats[v], l.list.Vars[v].Written
	before := m.Watch(nil)
	if before != nil { // of a loop around this one
		before.Touched(written)
	}
	l.before[v] = before
	m.Watch(&rep.Watch{Touched: func(write bool) {
		if !write && !written || l.busy || l.mode == oneByOne {
			return
		}
		what := "read"
		if write {
			what = "written"
		}
		l.settle("a matrix of the list is " + what + " by other means")
	}})
}

// unwatch ends that.
func (l *loop) unwatch() {
	for v, m := range l.mats {
		m.Watch(l.before[v])
	}
	l.list.Vars, l.list.Steps, l.mats, l.before = nil, nil, nil, nil
}

// launch runs the loop by the list of the pass that was recorded. It returns false if the loop has
// ended.
func (l *loop) launch() (more bool) {
	for i := range l.waits {
		l.list.Steps = append(l.list.Steps, l.waits[i].step)
	}
	l.list.Cond, l.list.True = pass.None, l.isTrue()
	for v, m := range l.mats {
		if m == l.in.Matrix.Matrix() {
			l.list.Cond = v
		}
	}
	if c := l.list.Cond; c == pass.None || !l.list.Vars[c].Written {
		l.settle("no operation of the pass writes the condition")
		return true
	}
	limit := l.runner.Most()
	if l.bounded {
		limit = min(limit, l.passes-(l.begun-1))
	}
	r, err := l.begin(limit)
	var no *pass.NotRecordable
	if errors.As(err, &no) {
		l.settle(no.Error())
		return true
	}
	if err != nil {
		l.abandon(err)
		return false
	}
	if l.explain != nil {
		l.explain(l.list.String())
	}
	l.runs, l.mode, l.called = r, comparing, 1
	for {
		begun, ended := r.Begun()
		for l.called < begun {
			l.called++
			l.waits = l.waits[:0]
			if !l.call() {
				return false
			}
			if l.mode == comparing && len(l.waits) < len(l.list.Steps) {
				l.settle("a pass has fewer operations than the list")
			}
			if l.mode != comparing {
				return true
			}
		}
		if ended {
			break
		}
		if l.ctx != nil && l.ctx.Err() != nil {
			r.Stop()
			l.abandon(l.ctx.Err())
			return false
		}
		runtime.Gosched()
	}
	n, contents, err := l.end(false)
	if err == nil && n == l.called {
		err = l.keep(contents)
	} else if err == nil {
		err = fmt.Errorf("ops: a loop ran %d passes and told of %d", n, l.called)
	}
	if err != nil {
		l.abandon(l.named(err))
		return false
	}
	l.mode, l.waits = oneByOne, nil
	l.unwatch()
	return n == limit
}

// begin starts the list.
func (l *loop) begin(limit int64) (pass.Run, error) {
	l.busy = true
	defer func() { l.busy = false }()
	contents := make([]pass.Content, len(l.mats))
	for v, m := range l.mats {
		x := &l.list.Vars[v]
		if x.Vector && x.Cols > 0 {
			j, val, ok := m.Few()
			if ok && x.Type.Size <= 8 {
				if x.Full = x.Cols == 1 && !val.None(); !val.None() {
					contents[v] = pass.Content{One: true, Index: j, Value: string(unsafe.Slice((*byte)(val.Pointer()), x.Type.Size))}
				}
				continue
			}
		}
		s, err := m.RemoteOn(l.backend)
		if err != nil {
			return nil, err
		}
		contents[v].Store = s
		x.Full = x.Vector && s.Format() == sparse.Full
	}
	return l.runner.Begin(device.Call{Context: l.ctx, Op: "Steps.While"}, &l.list, contents, limit)
}

// end waits for the end of the list that runs. With discard it is asked to stop.
func (l *loop) end(discard bool) (int64, []device.Store, error) {
	r := l.runs
	l.runs = nil
	if discard {
		r.Stop()
	}
	return r.End(discard)
}

// keep makes the results the contents of what the list writes.
func (l *loop) keep(contents []device.Store) error {
	l.busy = true
	defer func() { l.busy = false }()
	for v, s := range contents {
		if s == nil {
			continue
		}
		m := l.mats[v]
		m.SetRemote(s)
		if err := m.Repin(); err != nil {
			return err
		}
	}
	return nil
}

// abandon ends the loop with an error. Its operands are as they were before.
func (l *loop) abandon(err error) {
	if l.runs != nil {
		_, _, _ = l.end(true)
	}
	l.mode, l.waits = oneByOne, nil
	l.unwatch()
	l.steps.Do(err)
}

// named adds the operation and its line to the error of a step.
func (l *loop) named(err error) error {
	var at *pass.StepError
	if !errors.As(err, &at) || at.Step >= len(l.list.Steps) {
		return err
	}
	s := &l.list.Steps[at.Step]
	var outside *device.IndexError
	if errors.As(err, &outside) {
		err = &matrix.IndexError{Op: s.Op, Arg: fmt.Sprintf("idx[%d] =", outside.At), Index: outside.Index, Limit: outside.Limit}
	}
	return fmt.Errorf("%s, pass %d: %w", s.Line, l.begun-l.called+at.Pass, err)
}

// caller returns the line outside this package that called.
func caller() string {
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		f, more := frames.Next()
		if !strings.Contains(f.Function, "hiveblas/ops.") || !more {
			return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
		}
	}
}

// recorded reports whether the operation goes to the list of a loop. For an operation of the body that
// cannot, it runs the waiting operations first.
func (c *call) recorded() bool {
	l := c.loop
	if l == nil || l.mode == oneByOne {
		return false
	}
	switch {
	case c.t.at == nil || c.t.at != l.backend:
		l.settle(c.op + " runs at another place")
	case c.method != Auto:
		l.settle(c.op + " has a forced method")
	default:
		return true
	}
	return false
}

// variable returns the number of a matrix in the list, and pass.None if the list that runs has no
// such matrix.
func (l *loop) variable(h *remoteCall, m rep.Matrix, vector bool) int {
	m = m.Matrix()
	for v, have := range l.mats {
		if have == m {
			return v
		}
	}
	if l.mode == comparing {
		return pass.None
	}
	rows, cols := m.Dims()
	l.mats = append(l.mats, m)
	l.before = append(l.before, nil)
	l.list.Vars = append(l.list.Vars, pass.Var{Rows: rows, Cols: cols, Vector: vector, Type: h.typeOf(m.Type()), Scalar: vector && cols == 1})
	l.watch(len(l.mats) - 1)
	return len(l.mats) - 1
}

// use returns an operand of the list.
func (l *loop) use(h *remoteCall, v rep.View) pass.Use {
	return pass.Use{Var: l.variable(h, v.Matrix, v.Vector), Transposed: v.Transposed, Pattern: v.IsPattern(), Symmetric: v.Symmetric()}
}

// given returns an argument that is one value.
func given(s device.Scalar) pass.Bound {
	return pass.Bound{Var: pass.None, Type: s.Type, Bytes: string(unsafe.Slice((*byte)(s.P), s.Type.Size))}
}

// stepOf begins the step of an operation, whose parts fill the rest.
func (c *call) stepOf(kind pass.Kind) (*remoteCall, pass.Step) {
	l, t := c.loop, &c.t
	h := &remoteCall{c: c, at: t.at}
	s := pass.Step{Kind: kind, Op: c.op, Mask: pass.NoMask, Replace: t.replace,
		A: pass.NoUse, B: pass.NoUse, X: pass.NoBound, Y: pass.NoBound}
	s.Dst = l.variable(h, t.m, t.vector)
	if t.dest.mask != nil {
		s.Mask = pass.Mask{Var: l.variable(h, t.view.Matrix, t.vector), Structural: t.view.Structural || t.view.IsPattern(), Comp: t.view.Complement}
	}
	if t.accum.given {
		if f := h.accumulate(&t.accum); f != nil {
			s.Accum = *f
		}
	}
	return h, s
}

// record adds a step to the list, or compares it with the list. run runs the operation.
func (c *call) record(h *remoteCall, s *pass.Step, run func() error) error {
	if h.err != nil {
		return h.err
	}
	l := c.loop
	w := waiting{*s, func() error {
		c.loop = nil
		return run()
	}}
	k := len(l.waits)
	if l.mode == comparing {
		differs := k >= len(l.list.Steps)
		if !differs {
			of := &l.list.Steps[k]
			differs = !of.Same(s) || !of.SameValues(s)
		}
		if differs {
			l.settle(fmt.Sprintf("%s at %s is not that of the pass before", s.Op, caller()))
			return w.run()
		}
		l.waits = append(l.waits, w)
		return nil
	}
	w.step.Line = caller()
	l.waits = append(l.waits, w)
	l.write(s.Dst)
	if s.Kind == pass.Swap {
		l.write(s.A.Var)
	}
	return nil
}

// write makes a variable one that the list writes.
func (l *loop) write(v int) {
	if !l.list.Vars[v].Written {
		l.list.Vars[v].Written = true
		l.mats[v].Watch(l.before[v])
		l.watch(v)
	}
}
