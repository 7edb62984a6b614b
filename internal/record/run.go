package record

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/pass"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// recorder is what a loop shares with the loops in its body: the variables of their lists, and the
// list that runs.
type recorder struct {
	backend device.Backend
	runner  pass.Runner
	mode    mode
	busy    bool // operands are touched by the recorder itself

	vars   []pass.Var
	mats   []rep.Matrix // the variables
	before []*rep.Watch // of the variables
	step   pass.Step    // of the operation under way
	key    Key          // of the same
	own    body         // of the outermost loop
	active *Loop        // the innermost loop with its body under way

	owner   *Loop       // that waits, or runs by its list
	waits   []Operation // since the last decision
	list    pass.List   // of the owner
	lines   []*lines    // of its steps
	from    []int       // the variables of its variables
	runs    pass.Run    // while comparing
	decided int64       // conditions that the host knows of
	first   int64       // passes of the owner before the list
}

// recorders are without pointers to matrices. Steps hold texts alone, and are large, so they stay.
var recorders = sync.Pool{New: func() any { return new(recorder) }}

func newRecorder(b device.Backend, runner pass.Runner) *recorder {
	r := recorders.Get().(*recorder)
	r.backend, r.runner, r.mode = b, runner, atOnce
	return r
}

// close ends the watch and keeps the recorder for other loops.
func (r *recorder) close() {
	for v, m := range r.mats {
		m.Watch(r.before[v])
	}
	clear(r.mats)
	clear(r.before)
	clear(r.waits)
	clear(r.own.keys)
	clear(r.own.blocks)
	*r = recorder{vars: r.vars[:0], mats: r.mats[:0], before: r.before[:0], waits: r.waits[:0],
		own:   body{steps: r.own.steps[:0], keys: r.own.keys[:0], lines: r.own.lines[:0], blocks: r.own.blocks[:0]},
		list:  pass.List{Vars: r.list.Vars[:0], Steps: r.list.Steps[:0], Blocks: r.list.Blocks[:0]},
		lines: r.lines[:0], from: r.from[:0]}
	recorders.Put(r)
}

// Step begins the step of an operation, which the next one overwrites.
func (r *recorder) Step(kind pass.Kind, op string) *pass.Step {
	r.step = pass.Step{Kind: kind, Op: op, Mask: pass.NoMask, A: pass.NoUse, B: pass.NoUse, X: pass.NoBound, Y: pass.NoBound}
	return &r.step
}

// Variable returns the number of a matrix, which is no pattern, and false of one that the lists do
// not have.
func (r *recorder) Variable(m rep.Matrix) (v int, ok bool) {
	for v, have := range r.mats {
		if have == m {
			return v, true
		}
	}
	return pass.None, false
}

// Add is Variable of a matrix that the lists do not have yet. A list that runs gets none, and Add
// returns pass.None.
func (r *recorder) Add(m rep.Matrix, vector bool, t device.Type) int {
	if r.mode == comparing {
		return pass.None
	}
	rows, cols := m.Dims()
	v := len(r.mats)
	r.mats = append(r.mats, m)
	r.vars = append(r.vars, pass.Var{Rows: rows, Cols: cols, Vector: vector, Type: t, Scalar: vector && cols == 1})
	before := m.Watch(nil)
	r.before = append(r.before, before)
	if before != nil { // of a loop around this one
		before.Touched(false)
	}
	m.Watch(&rep.Watch{Touched: func(write bool) {
		if r.busy || r.mode != waiting && r.mode != comparing || !write && !r.vars[v].Written {
			return
		}
		what := "read"
		if write {
			what = "written"
		}
		r.owner.Settle("a matrix of the list is " + what + " by other means")
	}})
	return v
}

// write makes a variable one that the lists write.
func (r *recorder) write(v int) {
	if !r.vars[v].Written {
		r.vars[v].Written = true
		if before := r.before[v]; before != nil {
			before.Touched(true)
		}
	}
}

// settle makes the contents those that the operations so far give.
func (r *recorder) settle() {
	switch r.mode {
	case waiting:
		r.flush()
	case comparing:
		// The operations before the last decision ran by the list.
		_, err := r.end(true)
		if err == nil && r.decided > 1 {
			err = r.named(r.again(r.decided - 1))
		}
		if err != nil {
			r.fail(err)
			return
		}
		r.flush()
	}
}

// flush runs the waiting operations.
func (r *recorder) flush() {
	waits, owner := r.waits, r.owner
	r.mode, r.owner, r.waits = atOnce, nil, nil
	for _, o := range waits {
		owner.Fail(o.Run())
	}
	clear(waits)
	r.waits = waits[:0]
}

// fail ends a run by an error. The contents are as they were before it.
func (r *recorder) fail(err error) {
	if r.runs != nil {
		_, _ = r.end(true)
	}
	r.mode = failed
	r.owner.Fail(err)
}

// launch runs the loop by its list, after so many passes whose operations wait. It returns false if
// there is no such list.
func (l *Loop) launch(called int64) bool {
	r := l.recorder
	l.flatten()
	c := r.list.Cond
	if c == pass.None || !r.list.Vars[c].Written && !l.Bounded {
		l.Settle("no operation of the pass writes the condition")
		return false
	}
	r.owner, r.first, r.decided = l, l.begun-called, called
	run, err := r.begin(r.runner.Most())
	var no *pass.NotRecordable
	switch {
	case errors.As(err, &no):
		l.Settle(no.Error())
		return false
	case err != nil:
		r.fail(err)
		return true
	}
	if l.Explain != nil {
		l.explain(r.list.Text() + run.Plan())
	}
	r.runs, r.mode = run, comparing
	return true
}

// flatten makes the list of a loop of its body and the bodies in it.
func (l *Loop) flatten() {
	r := l.recorder
	r.from, r.lines = r.from[:0], r.lines[:0]
	r.list = pass.List{Vars: r.list.Vars[:0], Steps: r.list.Steps[:0], Blocks: r.list.Blocks[:0], Cond: pass.None, True: l.True}
	r.flat(l.body, pass.None)
	if v, ok := r.Variable(l.Cond.Matrix.Matrix()); ok {
		for k, of := range r.from {
			if of == v {
				r.list.Cond = k
			}
		}
	}
	for i := range r.list.Steps {
		s := &r.list.Steps[i]
		r.list.Vars[s.Dst].Written = true
		if s.Kind == pass.Swap {
			r.list.Vars[s.A.Var].Written = true
		}
	}
}

// flat appends a body to the list.
func (r *recorder) flat(b *body, inside int) {
	k := 0
	for i := 0; ; i++ {
		for ; k < len(b.blocks) && b.blocks[k].at == i; k++ {
			x, at := &b.blocks[k], len(r.list.Blocks)
			y := x.Block
			y.Cond, y.Inside, y.First, y.Open = r.use(y.Cond), inside, len(r.list.Steps), !x.body.known
			r.list.Blocks = append(r.list.Blocks, y)
			if x.body.known {
				r.flat(x.body, at)
			}
			r.list.Blocks[at].End = len(r.list.Steps)
		}
		if i == len(b.steps) {
			return
		}
		r.list.Steps = append(r.list.Steps, b.steps[i])
		s := &r.list.Steps[len(r.list.Steps)-1]
		for _, v := range []*int{&s.Dst, &s.Mask.Var, &s.A.Var, &s.B.Var, &s.X.Var, &s.Y.Var} {
			*v = r.use(*v)
		}
		r.lines = append(r.lines, &b.lines[i])
	}
}

// use returns the number of a variable in the list.
func (r *recorder) use(v int) int {
	if v == pass.None {
		return v
	}
	for k, of := range r.from {
		if of == v {
			return k
		}
	}
	r.from = append(r.from, v)
	x := r.vars[v]
	x.Written = false
	r.list.Vars = append(r.list.Vars, x)
	return len(r.from) - 1
}

// begin starts the list, for so many decisions at most.
func (r *recorder) begin(decisions int64) (pass.Run, error) {
	r.busy = true
	defer func() { r.busy = false }()
	contents := make([]pass.Content, len(r.from))
	for k, v := range r.from {
		x, m := &r.list.Vars[k], r.mats[v]
		if x.Vector && x.Cols > 0 {
			j, val, ok := m.Few()
			if ok && x.Type.Size <= 8 {
				if x.Full = x.Cols == 1 && !val.None(); !val.None() {
					contents[k] = pass.Content{One: true, Index: j, Value: string(unsafe.Slice((*byte)(val.Pointer()), x.Type.Size))}
				}
				continue
			}
		}
		s, err := m.RemoteOn(r.backend)
		if err != nil {
			return nil, err
		}
		contents[k].Store = s
		x.Full = x.Vector && s.Format() == sparse.Full
	}
	l := r.owner
	passes := int64(1<<63 - 1)
	if l.Bounded {
		passes = l.Passes - r.first
	}
	return r.runner.Begin(device.Call{Context: l.Context, Op: "Steps.While"}, &r.list, contents, passes, decisions)
}

// decision waits for the next decision of the list that runs. Of a run that has ended it is not
// known, and then the operations run at once.
func (r *recorder) decision() (holds, known bool) {
	for {
		holds, known, ended := r.runs.Decision(r.decided)
		switch c := r.owner.Context; {
		case known:
			r.decided++
			r.drop()
			return holds, true
		case ended:
			r.arrive()
			return false, false
		case c != nil && c.Err() != nil:
			r.runs.Stop()
			r.fail(c.Err())
			return false, false
		}
		runtime.Gosched()
	}
}

// arrive ends a run that the bodies have followed to its end.
func (r *recorder) arrive() {
	contents, err := r.end(false)
	if err == nil {
		err = r.keep(contents)
	}
	if err != nil {
		r.fail(r.named(err))
		return
	}
	r.drop()
	r.mode, r.owner = atOnce, nil
}

// drop ends the operations that the list has run.
func (r *recorder) drop() {
	for k, o := range r.waits {
		o.Drop()
		r.waits[k] = nil
	}
	r.waits = r.waits[:0]
}

// end waits for the end of the list that runs. With discard it is asked to stop.
func (r *recorder) end(discard bool) ([]device.Store, error) {
	run := r.runs
	r.runs = nil
	if discard {
		run.Stop()
	}
	return run.End(discard)
}

// keep makes the results the contents of what the list writes.
func (r *recorder) keep(contents []device.Store) error {
	r.busy = true
	defer func() { r.busy = false }()
	for k, s := range contents {
		if s == nil {
			continue
		}
		m := r.mats[r.from[k]]
		m.SetRemote(s)
		if err := m.Repin(); err != nil {
			return err
		}
	}
	return nil
}

// again runs the list up to the decision after so many, and keeps the results.
func (r *recorder) again(decisions int64) error {
	run, err := r.begin(decisions)
	if err != nil {
		return err
	}
	contents, err := run.End(false)
	if err != nil {
		return err
	}
	return r.keep(contents)
}

// named adds the operation and its line to the error of a step.
func (r *recorder) named(err error) error {
	var at *pass.StepError
	if !errors.As(err, &at) || at.Step >= len(r.list.Steps) {
		return err
	}
	s := &r.list.Steps[at.Step]
	var outside *device.IndexError
	if errors.As(err, &outside) {
		err = &matrix.IndexError{Op: s.Op, Arg: fmt.Sprintf("idx[%d] =", outside.At), Index: outside.Index, Limit: outside.Limit}
	}
	return fmt.Errorf("%s, pass %d: %w", r.lines[at.Step].text(), r.first+at.Pass, err)
}
