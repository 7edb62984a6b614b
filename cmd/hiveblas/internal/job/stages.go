package job

import (
	"fmt"
	"slices"
	"time"

	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/progress"
	"github.com/hiveblas/hiveblas/graphio"
)

// Stages are the stages of a command, with their times and the warnings of readers.
type Stages struct {
	Progress *progress.Display
	Began    time.Time
	stages   []stage
	warnings []graphio.Warning // of the stage
	Warned   []graphio.Warning // of the stages before
}

type stage struct {
	name string
	took time.Duration
}

// Stage runs and times one stage of the work.
func (j *Job) Stage(name string, work func() error) error {
	j.Progress.Begin(name)
	start := time.Now()
	err := work()
	j.stages = append(j.stages, stage{name, time.Since(start)})
	j.Progress.End()
	j.printWarnings()
	if err == nil && name != "write" { // after the file is written, the job is done
		err = j.expired()
	}
	return err
}

// Warn keeps a warning of a reader until the end of the stage, once if the file is
// read twice.
func (l *Stages) Warn(w graphio.Warning) {
	if !slices.Contains(l.warnings, w) {
		l.warnings = append(l.warnings, w)
	}
}

func (j *Job) printWarnings() {
	for _, w := range j.warnings {
		if j.Group != nil && !j.Group.First() { // rank 0 prints
			break
		}
		w.Remedy = FlagRemedy(w.Kind)
		fmt.Fprintf(j.Stderr, "hiveblas: warning: %v\n", w)
	}
	j.Warned = append(j.Warned, j.warnings...)
	j.warnings = nil
}

// Took returns the seconds of a stage, 0 if it did not run.
func (l *Stages) Took(name string) float64 {
	var d time.Duration
	for _, s := range l.stages {
		if s.name == name {
			d += s.took
		}
	}
	return d.Seconds()
}
