package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/matrix"
)

// openDevice opens a GPU. Tests replace it.
var openDevice = func(i int) (*cusparse.Device, error) { return cusparse.Open(i) }

// computes adds --device, for commands that can run on a GPU. --device auto uses
// a GPU if there is one and the graph has at least so many entries, and several if the command
// scales and the model predicts that these are quicker.
func (j *job) computes(entries int64) *job {
	j.threshold = entries
	j.cmd.Flags().StringVar(&j.run.device, "device", defaultDevice(), "compute on `D`: auto, cpu, gpu, gpu:N, or a group: gpus, gpu:N,M or ranks:P on the host")
	j.cmd.Flags().Var(&j.run.commTimeout, "comm-timeout", "end a group whose ranks wait for each other longer than a time such as 90s or 5m (0: 10m)")
	j.cmd.Flags().BoolVar(&j.run.commCheck, "comm-check", false, "compare the calls of the ranks of a group before data move: ranks that differ are an error instead of a hang")
	cli.Complete(j.cmd, "device", "auto", "cpu", "gpu")
	if j.cmd.Name() != "ac" && j.cmd.Name() != "demo" { // ac has a --memory of its own
		j.bounded()
	}
	return j
}

// fuses adds --method, for commands whose app has a fused form.
func (j *job) fuses() *job {
	j.cmd.Flags().StringVar(&j.run.method, "method", "auto",
		"form `M` on a GPU: fused kernels of the whole, a pipeline of operations, or auto, which is fused")
	cli.Complete(j.cmd, "method", "auto", "pipeline", "fused")
	return j
}

// deviceForms are the values of --device.
const deviceForms = "auto, cpu, gpu, gpu:N, gpus, gpu:N,M or ranks:P"

// parseDevice returns the number of the GPU in --device, −1 for auto, cpu and groups.
func parseDevice(cmd *cobra.Command, device string) (int, error) {
	if isGroup(device) {
		return -1, nil
	}
	return cli.ParseDevice(cmd, device, deviceForms)
}

// withoutGPU is the remedy of a GPU that cannot be opened.
const withoutGPU = "--device cpu computes without one"

// openDemanded opens the GPU of --device gpu, before any other work.
func (j *job) openDemanded() error {
	if j.run.device == "" {
		return nil
	}
	n, err := parseDevice(j.cmd, j.run.device)
	if err != nil {
		return err
	}
	if joined, err := j.joinGroup(); joined || err != nil {
		return err
	}
	if n < 0 {
		return nil
	}
	d, err := openDevice(n)
	if err != nil {
		return cli.Fail("--device "+j.run.device, err.Error(), withoutGPU, err)
	}
	j.device, j.why = d, "asked for"
	return nil
}

// mover is a matrix or vector, which can be on the host or on a GPU.
type mover interface {
	Move(matrix.Place, ...matrix.Layout) error
}

// placeGraphs chooses the host or a GPU and moves the graphs there. --device auto
// compares work, in units, with the threshold.
func (j *job) placeGraphs(work func() int64, units string, graphs ...mover) error {
	if j.placed || j.run.device == "" {
		return nil
	}
	j.placed, j.graphs = true, graphs
	if j.group != nil {
		return j.stage("copy", func() error { return j.move(j.group) })
	}
	if j.run.device == "cpu" {
		j.why = "asked for"
		return nil
	}
	if j.device == nil {
		n := work()
		j.why = fmt.Sprintf("%d %s", n, units)
		if n < j.threshold {
			j.why += ", too few to gain from a GPU"
			return nil
		}
		began := time.Now()
		d, err := openDevice(0)
		if err != nil {
			j.why = err.Error()
			return nil
		}
		j.device = d
		if err := j.widen(n, time.Since(began)); err != nil {
			return err
		}
	}
	err := j.stage("copy", func() error {
		if j.group != nil {
			return j.move(j.group)
		}
		return j.move(j.device)
	})
	if j.run.device == "auto" && errors.Is(err, cusparse.ErrMemory) {
		return j.fallBack(err)
	}
	return err
}

func (j *job) move(to matrix.Place) error {
	for _, g := range j.graphs {
		if err := g.Move(to); err != nil {
			return explainGraph(j.graph, err)
		}
	}
	return nil
}

// fallBack moves the graphs back to the host after err, if the command has enough memory there.
func (j *job) fallBack(err error) error {
	j.device, j.group, j.first, j.why, j.choice = nil, nil, nil, err.Error(), ""
	j.traces.clear()
	if j.graph != nil {
		if err := j.fits(); err != nil {
			return err
		}
	}
	return j.move(nil)
}

// where names the device of the computation.
func (j *job) where() string {
	if j.group != nil {
		return j.group.String()
	}
	if j.device == nil {
		return "cpu"
	}
	return j.device.String()
}

// toHost moves results to the host, unless err is set.
func toHost(err error, results ...mover) error {
	for _, r := range results {
		if err == nil {
			err = r.Move(nil)
		}
	}
	return err
}
