package main

import (
	"io"
	"os"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// patience is the duration of a stage after which a bar appears.
const patience = time.Second

// progress shows a bar on a terminal while a stage lasts.
type progress struct {
	w       io.Writer
	enabled bool
	watch   func(what string, done, total int64) // receives all updates, in tests

	mu          sync.Mutex
	what        string
	done, total int64
	bar         *progressbar.ProgressBar
	barTotal    int64
	abandoned   bool
	stop        chan struct{} // closed at the end of the stage
	stopped     chan struct{} // closed when the bar is gone
}

// newProgress returns the progress of a command, enabled on a terminal. Tests replace it.
var newProgress = func(w io.Writer, wanted bool) *progress {
	f, ok := w.(*os.File)
	return &progress{w: w, enabled: wanted && ok && term.IsTerminal(int(f.Fd()))}
}

// begin starts a stage.
func (p *progress) begin(what string) {
	if !p.enabled {
		return
	}
	p.update(what, 0, 0)
	p.stop, p.stopped = make(chan struct{}), make(chan struct{})
	go p.show(p.stop, p.stopped)
}

// update is an apps.Stage: it sets the progress of the stage. total is 0 if
// unknown.
func (p *progress) update(what string, done, total int64) {
	if p == nil || !p.enabled {
		return
	}
	p.mu.Lock()
	p.what, p.done, p.total = what, done, total
	if p.watch != nil {
		p.watch(what, done, total)
	}
	p.mu.Unlock()
}

// end removes the bar.
func (p *progress) end() {
	if !p.enabled {
		return
	}
	close(p.stop)
	<-p.stopped
}

// abandon removes the bar and draws no other.
func (p *progress) abandon() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.abandoned = true
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}

func (p *progress) show(stop, stopped chan struct{}) {
	defer close(stopped)
	defer p.clear()
	next := time.NewTimer(patience)
	defer next.Stop()
	for {
		select {
		case <-stop:
			return
		case <-next.C:
			p.draw()
			next.Reset(100 * time.Millisecond)
		}
	}
}

// draw updates the bar, and replaces it to change between a spinner and a bar.
func (p *progress) draw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.abandoned {
		return
	}
	if p.bar == nil || p.barTotal != p.total {
		p.clear()
		most := p.total
		if most <= 0 {
			most = -1
		}
		p.barTotal = p.total
		p.bar = progressbar.NewOptions64(most,
			progressbar.OptionSetWriter(p.w), progressbar.OptionSetWidth(30), progressbar.OptionClearOnFinish(),
			progressbar.OptionSpinnerType(14), progressbar.OptionSetSpinnerChangeInterval(0), // draw is the only caller
			progressbar.OptionSetPredictTime(true), progressbar.OptionSetElapsedTime(true))
	}
	p.bar.Describe(p.what)
	if p.total > 0 {
		_ = p.bar.Set64(min(p.done, p.total-1)) // the bar ends the line at its last step
	} else {
		_ = p.bar.Add(1)
	}
}

func (p *progress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
		_ = p.bar.Exit()
		p.bar = nil
	}
}
