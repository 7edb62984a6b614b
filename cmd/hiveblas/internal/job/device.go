package job

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/model"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/matrix"
)

// Devices is where a command computes.
type Devices struct {
	Threshold int64            // entries from which --device auto uses a GPU
	Device    *cusparse.Device // of the computation, nil for the host
	Group     *comm.Group      // of the computation, nil for one place
	Whole     bool             // every process reads the whole graph
	Why       string           // reason for the device
	First     *cusparse.Device // of a group that --device auto has chosen
	Choice    string           // reason for the number of GPUs, "" if there is no choice
	// Estimate returns the work of the command, for --device auto; nil stays on one device.
	Estimate func(j *Job, work int64) model.Work
	placed   bool      // the device is chosen
	graphs   []movable // that are on the device
}

// Computes adds --device, for commands that can run on a GPU. --device auto uses
// a GPU if there is one and the graph has at least so many entries, and several if the command
// scales and the model predicts that these are quicker.
func (j *Job) Computes(entries int64) *Job {
	j.Threshold = entries
	j.Cmd.Flags().StringVar(&j.Run.Device, "device", defaultDevice(), "compute on `D`: auto, cpu, gpu, gpu:N, or a group: gpus, gpu:N,M or ranks:P on the host")
	j.Cmd.Flags().Var(&j.Run.DeviceMemory, "device-memory", "use at most this much memory of a GPU, such as 8GiB; gpu reads a graph that takes more in host memory")
	j.Cmd.Flags().Var(&j.Run.commTimeout, "comm-timeout", "end a group whose ranks wait for each other longer than a time such as 90s or 5m (0: 10m)")
	j.Cmd.Flags().BoolVar(&j.Run.commCheck, "comm-check", false, "compare the calls of the ranks of a group before data move: ranks that differ are an error instead of a hang")
	cli.Complete(j.Cmd, "device", "auto", "cpu", "gpu")
	if j.Cmd.Name() != "ac" && j.Cmd.Name() != "demo" { // ac has a --memory of its own
		j.Bounded()
	}
	return j
}

// Fuses adds --method, for commands of apps with a fused form.
func (j *Job) Fuses() *Job {
	j.Cmd.Flags().StringVar(&j.Run.Method, "method", "auto",
		"form `M` on a GPU: fused kernels of the whole, a pipeline of operations, or auto, which is fused")
	cli.Complete(j.Cmd, "method", "auto", "pipeline", "fused")
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

// WithoutGPU is the remedy of a GPU that cannot be opened.
const WithoutGPU = "--device cpu computes without one"

// OpenDemanded opens the GPU of --device gpu, before any other work.
func (j *Job) OpenDemanded() error {
	if j.Run.Device == "" {
		return nil
	}
	n, err := parseDevice(j.Cmd, j.Run.Device)
	if err != nil {
		return err
	}
	if joined, err := j.joinGroup(); joined || err != nil {
		return err
	}
	if n < 0 {
		return nil
	}
	d, err := j.openDevice(n)
	if err != nil {
		return cli.Fail("--device "+j.Run.Device, err.Error(), WithoutGPU, err)
	}
	d.KeepRowsInHost(true)
	j.Device, j.Why = d, "asked for"
	return nil
}

// openDevice opens a GPU and limits the memory that the command uses there to --device-memory.
func (j *Job) openDevice(n int) (*cusparse.Device, error) {
	d, err := j.Machine.OpenDevice(n)
	d.Limit(uint64(j.Run.DeviceMemory))
	return d, err
}

// movable is a matrix or vector, which can be on the host or on a GPU.
type movable interface {
	Move(matrix.Place, ...matrix.Layout) error
}

// PlaceGraphs chooses the host or a GPU and moves the graphs there. --device auto
// compares work, in units, with the threshold.
func (j *Job) PlaceGraphs(work func() int64, units string, graphs ...movable) error {
	if j.placed || j.Run.Device == "" {
		return nil
	}
	j.placed, j.graphs = true, graphs
	if j.Group != nil {
		return j.Stage("copy", func() error { return j.move(j.Group) })
	}
	if j.Run.Device == "cpu" {
		j.Why = "asked for"
		return nil
	}
	if j.Device == nil {
		n := work()
		j.Why = fmt.Sprintf("%d %s", n, units)
		if n < j.Threshold {
			j.Why += ", too few to gain from a GPU"
			return nil
		}
		began := time.Now()
		d, err := j.openDevice(0)
		if err != nil {
			j.Why = err.Error()
			return nil
		}
		j.Device = d
		if err := j.widenToGroup(n, time.Since(began)); err != nil {
			return err
		}
	}
	err := j.Stage("copy", func() error {
		if j.Group != nil {
			return j.move(j.Group)
		}
		return j.move(j.Device)
	})
	if j.Run.Device == "auto" && errors.Is(err, cusparse.ErrMemory) {
		return j.fallBack(err)
	}
	return err
}

func (j *Job) move(to matrix.Place) error {
	for _, g := range j.graphs {
		if err := g.Move(to); err != nil {
			return ExplainGraph(j.Graph, err)
		}
	}
	return nil
}

// fallBack moves the graphs back to the host after err, if the command has enough memory there.
func (j *Job) fallBack(err error) error {
	j.Device, j.Group, j.First, j.Why, j.Choice = nil, nil, nil, err.Error(), ""
	j.Traces.clear()
	if j.Graph != nil {
		if err := j.Fits(); err != nil {
			return err
		}
	}
	return j.move(nil)
}

// placeName names the device of the computation.
func (d *Devices) placeName() string {
	if d.Group != nil {
		return d.Group.String()
	}
	if d.Device == nil {
		return "cpu"
	}
	if rows := d.Device.Memory().Host; rows != 0 {
		return fmt.Sprintf("%v, %.3g GB of rows in host memory", d.Device, float64(rows)/1e9)
	}
	return d.Device.String()
}

// ToHost moves results to the host, unless err is set.
func ToHost(err error, results ...movable) error {
	for _, r := range results {
		if err == nil {
			err = r.Move(nil)
		}
	}
	return err
}
