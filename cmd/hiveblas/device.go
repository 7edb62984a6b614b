package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// openDevice is how a GPU is opened; tests have another.
var openDevice = func(i int) (*cusparse.Device, error) { return cusparse.Open(i) }

// computes adds --device, for commands that can run on a GPU. --device auto
// takes one if there is one and the graph has at least so many entries.
func (j *job) computes(entries int64) *job {
	j.worth = entries
	j.cmd.Flags().StringVar(&j.run.device, "device", "auto", "`where` to compute: auto, cpu, gpu or gpu:N")
	complete(j.cmd, "device", "auto", "cpu", "gpu")
	return j
}

// The numbers of entries from which --device auto takes a GPU. Below them the
// time of the host is less than what opening a GPU and copying the graph take,
// together about half a second: from times per entry on two cores of 2 ns for
// bfs, 20 for cc, 35 for pagerank and shortest paths, 100 for tc, 300 for
// ktruss, and of 1.5 ns per product for project.
const (
	worthBFS      = 256 << 20
	worthCC       = 24 << 20
	worthPaths    = 16 << 20
	worthPageRank = 16 << 20
	worthTC       = 4 << 20
	worthKTruss   = 2 << 20
	worthProject  = 256 << 20 // products rather than entries
	worthSGM      = 128 << 10
	worthLGC      = 64 << 20  // the result may be of any size: an estimate
	worthAC       = 4 << 20   // messages in all rounds: about 25 ns each
	never         = 1<<63 - 1 // only if it is asked for
)

// parseDevice returns the number of the GPU that --device asks for, −1 if it
// names none.
func parseDevice(cmd *cobra.Command, device string) (int, error) {
	kind, number, numbered := strings.Cut(device, ":")
	switch {
	case device == "auto" || device == "cpu":
		return -1, nil
	case device == "gpu":
		return 0, nil
	case kind == "gpu" && numbered:
		if n, err := strconv.Atoi(number); err == nil && n >= 0 {
			return n, nil
		}
	}
	return 0, &usageError{cmd.CommandPath(), fmt.Sprintf("--device is %q, want auto, cpu, gpu or gpu:N", device)}
}

// demand opens the GPU that --device asks for, before any other work.
func (j *job) demand() error {
	if j.run.device == "" {
		return nil
	}
	n, err := parseDevice(j.cmd, j.run.device)
	if err != nil || n < 0 {
		return err
	}
	d, err := openDevice(n)
	if err != nil {
		return &failure{"--device " + j.run.device, err.Error(), "--device cpu computes without one", err}
	}
	j.device, j.why = d, "asked for"
	return nil
}

// mover is what can live in several places.
type mover interface{ Move(matrix.Place) error }

// settle decides where the graphs are computed on, and takes them there. work
// is what --device auto compares with the numbers above, in units.
func (j *job) settle(work func() int64, units string, graphs ...mover) error {
	if j.settled || j.run.device == "" {
		return nil
	}
	j.settled, j.graphs = true, graphs
	if j.run.device == "cpu" {
		j.why = "asked for"
		return nil
	}
	if j.device == nil {
		n := work()
		j.why = fmt.Sprintf("%d %s", n, units)
		if n < j.worth {
			j.why += ", too few for a GPU to pay"
			return nil
		}
		d, err := openDevice(0)
		if err != nil {
			j.why = err.Error()
			return nil
		}
		j.device = d
	}
	err := j.stage("copy", func() error { return j.move(j.device) })
	if j.run.device == "auto" && errors.Is(err, cusparse.ErrMemory) {
		return j.retreat(err)
	}
	return err
}

func (j *job) move(to matrix.Place) error {
	for _, g := range j.graphs {
		if err := g.Move(to); err != nil {
			return explain(j.graph.file, err)
		}
	}
	return nil
}

// retreat brings the graphs back to the host, where all else failed.
func (j *job) retreat(err error) error {
	j.device, j.why = nil, err.Error()
	return j.move(nil)
}

// where names what was computed on.
func (j *job) where() string {
	if j.device == nil {
		return "cpu"
	}
	return j.device.String()
}

// either returns the name of the host's algorithm or that of the GPU's.
func (j *job) either(host, gpu string) string {
	if j.device == nil {
		return host
	}
	return gpu
}

// home brings results to the host, unless there was an error.
func home(err error, results ...mover) error {
	for _, r := range results {
		if err == nil {
			err = r.Move(nil)
		}
	}
	return err
}

// products counts the multiplications of a projection: the squared lengths of
// the rows of A, or of its columns.
func products(a *matrix.Matrix[float64], ontoRows bool) (sum int64) {
	m, n := a.Dims()
	length := make([]int64, max(m, n))
	for c := range a.All() {
		if ontoRows {
			c.Row = c.Col
		}
		length[c.Row]++
	}
	for _, l := range length {
		sum += l * l
	}
	return sum
}
