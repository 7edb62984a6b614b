// Package progress shows a bar on a terminal while a stage of a command lasts.
package progress

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

// patience is the duration of a stage after which a bar appears.
const patience = time.Second

// Display shows a bar on a terminal while a stage lasts.
type Display struct {
	w       io.Writer
	enabled bool
	watch   func(what string, done, total int64) // receives all updates

	mu          sync.Mutex
	what        string
	done, total int64
	bar         *bar
	abandoned   bool
	stop        chan struct{} // closed at the end of the stage
	stopped     chan struct{} // closed when the bar is gone
}

// New returns the display of a command, enabled on a terminal. Tests replace it.
func New(w io.Writer, wanted bool) *Display {
	f, ok := w.(*os.File)
	return &Display{w: w, enabled: wanted && ok && term.IsTerminal(int(f.Fd()))}
}

// Recording returns a display on w, also of a file, that gives all updates to watch.
func Recording(w io.Writer, watch func(what string, done, total int64)) *Display {
	return &Display{w: w, enabled: true, watch: watch}
}

// Begin starts a stage.
func (p *Display) Begin(what string) {
	if !p.enabled {
		return
	}
	p.Update(what, 0, 0)
	p.stop, p.stopped = make(chan struct{}), make(chan struct{})
	go p.show(p.stop, p.stopped)
}

// Update is an apps.Stage: it sets the progress of the stage. total is 0 if
// unknown.
func (p *Display) Update(what string, done, total int64) {
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

// End removes the bar.
func (p *Display) End() {
	if !p.enabled {
		return
	}
	close(p.stop)
	<-p.stopped
}

// Abandon removes the bar and draws no other.
func (p *Display) Abandon() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.abandoned = true
	p.clear()
}

func (p *Display) show(stop, stopped chan struct{}) {
	defer close(stopped)
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.clear()
	}()
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
func (p *Display) draw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.abandoned {
		return
	}
	if p.bar == nil || p.bar.total != p.total {
		p.clear()
		p.bar = &bar{w: p.w, total: p.total, from: p.done, began: time.Now()}
	}
	p.bar.draw(p.what, p.done)
}

// clear removes the bar. The caller holds the lock.
func (p *Display) clear() {
	if p.bar != nil {
		p.bar.clear()
		p.bar = nil
	}
}

// bar is a line on a terminal that changes in place: a bar, or a spinner if total is 0.
type bar struct {
	w           io.Writer
	total, from int64 // from is the progress at the start of the bar
	began       time.Time
	turns       int // of the spinner
	width       int // of the widest line that was drawn
}

// barWidth is the width of the bar without the text beside it.
const barWidth = 30

// spinner are the states of a stage of unknown length.
const spinner = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"

// draw replaces the line.
func (b *bar) draw(what string, done int64) {
	elapsed := time.Since(b.began)
	if b.total <= 0 {
		states := []rune(spinner)
		b.print(fmt.Sprintf("%c %s  [%v] ", states[b.turns%len(states)], what, elapsed.Truncate(time.Second)))
		b.turns++
		return
	}
	share := float64(min(done, b.total)) / float64(b.total)
	line := func(width int) string {
		full := int(share * float64(width))
		left := "?"
		if done > b.from {
			rest := time.Duration(float64(elapsed) / float64(done-b.from) * float64(max(b.total-done, 0)))
			left = rest.Truncate(time.Second).String()
		}
		return fmt.Sprintf("%s%4d%% |%s%s|  [%v:%s]", what, int(100*share), strings.Repeat("█", full), strings.Repeat(" ", width-full),
			elapsed.Truncate(time.Second), left)
	}
	text := line(barWidth)
	if f, ok := b.w.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 && cells(text) > columns {
			text = line(max(0, barWidth-(cells(text)-columns)))
		}
	}
	b.print(text)
}

func (b *bar) print(text string) {
	b.clear()
	b.width = max(b.width, cells(text))
	_, _ = io.WriteString(b.w, "\r"+text)
}

// clear overwrites the line with blanks.
func (b *bar) clear() {
	if b.width > 0 {
		_, _ = io.WriteString(b.w, "\r"+strings.Repeat(" ", b.width)+"\r")
	}
}

// cells returns the width of a text on a terminal, with two columns for the characters from U+2E80
// on, the characters of East Asia.
func cells(text string) int {
	n := utf8.RuneCountInString(text)
	for _, c := range text {
		if c >= 0x2e80 {
			n++
		}
	}
	return n
}
