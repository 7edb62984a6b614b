// Package job is the run of a command of hiveblas: its flags, its input, where it computes, its
// output and its report. A command makes a Job by New, adds what it needs (Reads, Writes,
// Computes), begins, loads the graph, computes, writes and reports.
//
//	flags       flags.go, defaults.go
//	input       input.go, graph.go, elements.go, names.go, vertices.go, formats.go; generated.go for
//	            graphs that are generated in place of files
//	devices     device.go, gpus.go (how many), group.go (processes), cuda.go
//	memory      memory.go
//	output      output.go, pictures.go
//	progress    stages.go
//	report      report.go, methods.go (what ran)
//	errors      errors.go
package job

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/internal/cli"
)

// Job is a running command: its flags, its input and the data of its report.
type Job struct {
	*Session
	Cmd  *cobra.Command
	Run  runFlags
	Read ReadFlags
	Out  Output
	Inputs
	Devices
	Limits
	Stages
	Traces methods
}

// New adds the flags of all commands.
func New(s *Session, cmd *cobra.Command) *Job {
	j := &Job{Session: s, Cmd: cmd}
	j.Run.add(cmd)
	return j
}

// Reads adds the flags of commands that read a graph.
func (j *Job) Reads() *Job {
	j.Read.Add(j.Cmd)
	j.Read.complete(j.Cmd)
	return j
}

// ReadsBothWays is reads for commands that take every edge in both directions: they have no
// --undirected.
func (j *Job) ReadsBothWays() *Job {
	all := &cobra.Command{}
	j.Read.Add(all)
	all.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "undirected" {
			j.Cmd.Flags().AddFlag(f)
		}
	})
	j.Read.complete(j.Cmd)
	return j
}

// Writes adds -o for the given kinds of files.
func (j *Job) Writes(what string, kinds ...string) *Job {
	j.Out.Kinds = kinds
	j.Cmd.Flags().StringVarP(&j.Out.Path, "output", "o", "", fmt.Sprintf("write %s to `FILE`: %s; - is standard output", what, strings.Join(kinds, ", ")))
	j.AddOutputFormat()
	return j
}

// AddOutputFormat adds --output-format to a command that writes several kinds of
// files.
func (j *Job) AddOutputFormat() {
	if len(j.Out.Kinds) == 1 {
		return
	}
	names := make([]string, len(j.Out.Kinds))
	for k, kind := range j.Out.Kinds {
		names[k] = strings.TrimPrefix(kind, ".")
	}
	j.Cmd.Flags().StringVar(&j.Out.format, "output-format", "", "output format `F`, whatever the name of the file: "+strings.Join(names, ", "))
	cli.Complete(j.Cmd, "output-format", names...)
}

// Begin checks the flags and starts the clock. The output must not overwrite an
// input.
func (j *Job) Begin(inputs ...string) error {
	j.Began = time.Now()
	if err := j.Run.check(j.Cmd); err != nil {
		return err
	}
	if j.Read.ids != "" {
		if err := j.Read.check(j.Cmd); err != nil {
			return err
		}
	}
	j.inputs = len(inputs)
	inputs = append(inputs, j.Read.names...)
	if slices.Contains(inputs, "") {
		return cli.Usage(j.Cmd.CommandPath(), "the name of an input file is empty, want a file, or - for standard input")
	}
	if first := slices.Index(inputs, "-"); first >= 0 && slices.Contains(inputs[first+1:], "-") {
		return cli.Usage(j.Cmd.CommandPath(), "standard input (-) can be only one of the inputs")
	}
	if err := j.Out.check(j.Cmd, j.Run.Json, inputs); err != nil {
		return err
	}
	if j.Run.machine != "" { // also where no device needs it
		if _, err := MachineFigures(j.Run.machine, ""); err != nil {
			return err
		}
	}
	if j.Run.Threads > 0 {
		runtime.GOMAXPROCS(min(j.Run.Threads, runtime.GOMAXPROCS(0)))
	}
	if d := time.Duration(j.Run.timeout); d > 0 {
		time.AfterFunc(d, j.expire)
	}
	if err := j.OpenDemanded(); err != nil {
		return err
	}
	j.Progress = j.Machine.Display(j.Stderr, !j.Run.Quiet)
	j.Bar.Store(j.Progress)
	return j.expired()
}

// expire stops the job after --timeout.
func (j *Job) expire() {
	j.Cancel(cli.Fail("--timeout", fmt.Sprintf("%s not finished after %v", j.Cmd.Name(), time.Duration(j.Run.timeout)), "raise the timeout", nil))
}

// expired returns the error of the context. It checks the clock, because a timer can
// be late by more than the duration of a short stage.
func (j *Job) expired() error {
	if d := time.Duration(j.Run.timeout); d > 0 && time.Since(j.Began) >= d {
		j.expire()
	}
	return j.Ctx.Err()
}

// Compute runs a workflow on the graph, on the device that --device chooses.
func (j *Job) Compute(work func(apps.Run) error) error {
	if !j.placed { // the graph of MapRows has no matrix
		if err := j.PlaceGraphs(j.Graph.NVals, "entries", j.Graph.Matrix); err != nil {
			return err
		}
	}
	run := apps.Run{Context: j.Ctx, Threads: j.Run.Threads, Progress: j.Progress.Update, Trace: j.Traces.Add, Method: j.Run.form()}
	if run.Method == apps.Fused && j.Device == nil {
		return cli.Fail("--method fused", "fused kernels run on a GPU, and this run is on the host ("+j.Why+")", "add --device gpu, or use --method auto", nil)
	}
	return j.Stage("compute", func() error {
		j.Traces.start()
		err := work(run)
		if j.Run.Device == "auto" && errors.Is(err, cusparse.ErrMemory) {
			if err := j.fallBack(err); err != nil {
				return err
			}
			err = work(run)
		}
		return ExplainGraph(j.Graph, err)
	})
}
