package record

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"github.com/hiveblas/hiveblas/internal/device"
	"github.com/hiveblas/hiveblas/internal/pass"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// launch runs the loop by the list of the pass that was recorded. It returns false if the loop has
// ended.
func (l *Loop) launch() (more bool) {
	l.list.Cond, l.list.True = pass.None, l.True
	for v, m := range l.mats {
		if m == l.Cond.Matrix.Matrix() {
			l.list.Cond = v
		}
	}
	if c := l.list.Cond; c == pass.None || !l.list.Vars[c].Written {
		l.Settle("no operation of the pass writes the condition")
		return true
	}
	limit := l.runner.Most()
	if l.Bounded {
		limit = min(limit, l.Passes-(l.begun-1))
	}
	r, err := l.begin(limit)
	var no *pass.NotRecordable
	if errors.As(err, &no) {
		l.Settle(no.Error())
		return true
	}
	if err != nil {
		l.abandon(err)
		return false
	}
	if l.Explain != nil {
		l.Explain(l.list.Text())
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
				l.Settle("a pass has fewer operations than the list")
			}
			if l.mode != comparing {
				return true
			}
		}
		if ended {
			break
		}
		if l.Context != nil && l.Context.Err() != nil {
			r.Stop()
			l.abandon(l.Context.Err())
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
func (l *Loop) begin(limit int64) (pass.Run, error) {
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
	return l.runner.Begin(device.Call{Context: l.Context, Op: "Steps.While"}, &l.list, contents, limit)
}

// end waits for the end of the list that runs. With discard it is asked to stop.
func (l *Loop) end(discard bool) (int64, []device.Store, error) {
	r := l.runs
	l.runs = nil
	if discard {
		r.Stop()
	}
	return r.End(discard)
}

// keep makes the results the contents of what the list writes.
func (l *Loop) keep(contents []device.Store) error {
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

// again runs n passes of the list, and keeps the results.
func (l *Loop) again(n int64) error {
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

// abandon ends the loop with an error. Its operands are as they were before.
func (l *Loop) abandon(err error) {
	if l.runs != nil {
		_, _, _ = l.end(true)
	}
	l.mode, l.waits = oneByOne, nil
	l.unwatch()
	l.Fail(err)
}

// named adds the operation and its line to the error of a step.
func (l *Loop) named(err error) error {
	var at *pass.StepError
	if !errors.As(err, &at) || at.Step >= len(l.list.Steps) {
		return err
	}
	s := &l.list.Steps[at.Step]
	var outside *device.IndexError
	if errors.As(err, &outside) {
		err = &matrix.IndexError{Op: s.Op, Arg: fmt.Sprintf("idx[%d] =", outside.At), Index: outside.Index, Limit: outside.Limit}
	}
	return fmt.Errorf("%s, pass %d: %w", l.lines[at.Step].text(), l.begun-l.called+at.Pass, err)
}
