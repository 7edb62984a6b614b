package main

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
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/model"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/cli"
)

// job is a running command: its flags, its input and the data of its report.
type job struct {
	*session
	cmd  *cobra.Command
	run  runFlags
	read readFlags
	out  output

	threshold int64            // entries from which --device auto uses a GPU
	device    *cusparse.Device // of the computation, nil for the host
	group     *comm.Group      // of the computation, nil for one place
	whole     bool             // every process reads the whole graph
	why       string           // reason for the device
	first     *cusparse.Device // of a group that --device auto has chosen
	choice    string           // reason for the number of GPUs, "" if there is no choice
	// estimate returns the work of the command, for --device auto; nil stays on one device.
	estimate func(j *job, work int64) model.Work
	placed   bool    // the device is chosen
	graphs   []mover // that are on the device

	inputs   int               // files of the command line
	kept     []byte            // standard input, if it is read twice
	warnings []graphio.Warning // of the stage
	warned   []graphio.Warning // of the stages before

	memory  cli.ByteSize // of --memory; 0 for what there is
	limited bool         // the command has --memory

	infinite bool // weights may be infinite
	graph    *graph
	progress *display
	began    time.Time
	stages   []stage

	traces methods
}

type stage struct {
	name string
	took time.Duration
}

// newJob adds the flags of all commands.
func newJob(s *session, cmd *cobra.Command) *job {
	j := &job{session: s, cmd: cmd}
	j.run.add(cmd)
	return j
}

// reads adds the flags of commands that read a graph.
func (j *job) reads() *job {
	j.read.add(j.cmd)
	j.read.complete(j.cmd)
	return j
}

// readsBothWays is reads for commands that take every edge in both directions: they have no
// --undirected.
func (j *job) readsBothWays() *job {
	all := &cobra.Command{}
	j.read.add(all)
	all.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "undirected" {
			j.cmd.Flags().AddFlag(f)
		}
	})
	j.read.complete(j.cmd)
	return j
}

// writes adds -o for the given kinds of files.
func (j *job) writes(what string, kinds ...string) *job {
	j.out.kinds = kinds
	j.cmd.Flags().StringVarP(&j.out.path, "output", "o", "", fmt.Sprintf("write %s to `FILE`: %s; - is standard output", what, strings.Join(kinds, ", ")))
	j.addOutputFormat()
	return j
}

// addOutputFormat adds --output-format to a command that writes several kinds of
// files.
func (j *job) addOutputFormat() {
	if len(j.out.kinds) == 1 {
		return
	}
	names := make([]string, len(j.out.kinds))
	for k, kind := range j.out.kinds {
		names[k] = strings.TrimPrefix(kind, ".")
	}
	j.cmd.Flags().StringVar(&j.out.format, "output-format", "", "output format `F`, whatever the name of the file: "+strings.Join(names, ", "))
	cli.Complete(j.cmd, "output-format", names...)
}

// begin checks the flags and starts the clock. The output must not overwrite an
// input.
func (j *job) begin(inputs ...string) error {
	j.began = time.Now()
	if err := j.run.check(j.cmd); err != nil {
		return err
	}
	if j.read.ids != "" {
		if err := j.read.check(j.cmd); err != nil {
			return err
		}
	}
	j.inputs = len(inputs)
	inputs = append(inputs, j.read.names...)
	if slices.Contains(inputs, "") {
		return cli.Usage(j.cmd.CommandPath(), "the name of an input file is empty, want a file, or - for standard input")
	}
	if first := slices.Index(inputs, "-"); first >= 0 && slices.Contains(inputs[first+1:], "-") {
		return cli.Usage(j.cmd.CommandPath(), "standard input (-) can be only one of the inputs")
	}
	if err := j.out.check(j.cmd, j.run.json, inputs); err != nil {
		return err
	}
	if j.run.machine != "" { // also where no device needs it
		if _, err := machineFigures(j.run.machine, ""); err != nil {
			return err
		}
	}
	if j.run.threads > 0 {
		runtime.GOMAXPROCS(min(j.run.threads, runtime.GOMAXPROCS(0)))
	}
	if d := time.Duration(j.run.timeout); d > 0 {
		time.AfterFunc(d, j.expire)
	}
	if err := j.openDemanded(); err != nil {
		return err
	}
	j.progress = newDisplay(j.Stderr, !j.run.quiet)
	j.bar.Store(j.progress)
	return j.expired()
}

// expire stops the job after --timeout.
func (j *job) expire() {
	j.Cancel(cli.Fail("--timeout", fmt.Sprintf("%s not finished after %v", j.cmd.Name(), time.Duration(j.run.timeout)), "raise the timeout", nil))
}

// expired returns the error of the context. It checks the clock, because a timer can
// be late by more than the duration of a short stage.
func (j *job) expired() error {
	if d := time.Duration(j.run.timeout); d > 0 && time.Since(j.began) >= d {
		j.expire()
	}
	return j.Ctx.Err()
}

// stage runs and times one stage of the work.
func (j *job) stage(name string, work func() error) error {
	j.progress.begin(name)
	start := time.Now()
	err := work()
	j.stages = append(j.stages, stage{name, time.Since(start)})
	j.progress.end()
	j.printWarnings()
	if err == nil && name != "write" { // after the file is written, the job is done
		err = j.expired()
	}
	return err
}

// warn keeps a warning of a reader until the end of the stage, once if the file is
// read twice.
func (j *job) warn(w graphio.Warning) {
	if !slices.Contains(j.warnings, w) {
		j.warnings = append(j.warnings, w)
	}
}

func (j *job) printWarnings() {
	for _, w := range j.warnings {
		if j.group != nil && !j.group.First() { // rank 0 prints
			break
		}
		w.Remedy = flagRemedy(w.Kind)
		fmt.Fprintf(j.Stderr, "hiveblas: warning: %v\n", w)
	}
	j.warned = append(j.warned, j.warnings...)
	j.warnings = nil
}

// compute runs a workflow on the graph, on the device that --device chooses.
func (j *job) compute(work func(apps.Run) error) error {
	if err := j.placeGraphs(j.graph.NVals, "entries", j.graph.Matrix); err != nil {
		return err
	}
	run := apps.Run{Context: j.Ctx, Threads: j.run.threads, Progress: j.progress.update, Trace: j.traces.add, Method: j.run.form()}
	if run.Method == apps.Fused && j.device == nil {
		return cli.Fail("--method fused", "fused kernels run on a GPU, and this run is on the host ("+j.why+")", "add --device gpu, or use --method auto", nil)
	}
	return j.stage("compute", func() error {
		j.traces.begin()
		err := work(run)
		if j.run.device == "auto" && errors.Is(err, cusparse.ErrMemory) {
			if err := j.fallBack(err); err != nil {
				return err
			}
			err = work(run)
		}
		return explainGraph(j.graph, err)
	})
}

// took returns the seconds of a stage, 0 if it did not run.
func (j *job) took(name string) float64 {
	var d time.Duration
	for _, s := range j.stages {
		if s.name == name {
			d += s.took
		}
	}
	return d.Seconds()
}

// method returns the name of the algorithm, if any, and the methods that ran.
func (j *job) method(algorithm string) string {
	ran := j.traces.names()
	switch {
	case algorithm == "":
		return ran
	case ran == "":
		return algorithm
	}
	return algorithm + ": " + ran
}

// pipelineMethod is method for an algorithm of the pipeline; a kernel that ran has its own name.
func (j *job) pipelineMethod(algorithm string) string {
	if !j.traces.products() {
		algorithm = ""
	}
	return j.method(algorithm)
}
