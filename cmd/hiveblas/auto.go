package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/commtable"
	"github.com/hiveblas/hiveblas/comm/model"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/cusparse/jit"
)

// envMachine is the default of --machine.
const envMachine = "HIVEBLAS_MACHINE"

// The bytes that a kernel moves for a product and for an entry of a result, as those of scale
// predict.
const (
	bytesOfProduct = 24
	bytesOfEntry   = 24
)

// gpuKinds returns the names of the GPUs of this machine in order. Tests replace it.
var gpuKinds = func() ([]string, error) {
	d, err := openDriver()
	if err != nil {
		return nil, err
	}
	n, err := d.Devices()
	if err != nil {
		return nil, err
	}
	kinds := make([]string, n)
	for i := range kinds {
		p, err := d.Describe(i)
		if err != nil {
			return nil, err
		}
		kinds[i] = fmt.Sprintf("%s, %d multiprocessors", p.Name, p.Multiprocessors)
	}
	return kinds, nil
}

// groupGPUs makes one group of open GPUs. Tests replace it.
var groupGPUs = func(devices []*cusparse.Device, opts ...comm.Option) (*comm.Group, error) {
	var list []comm.Device
	var places []comm.Place
	for _, d := range devices {
		c, err := d.Comm()
		if err != nil {
			return nil, err
		}
		list, places = append(list, c), append(places, d)
	}
	ranks, err := comm.Peers(list, opts...)
	if err != nil {
		return nil, err
	}
	return comm.NewGroup(ranks, comm.At(places...))
}

// alike returns the numbers of the GPUs that are of the kind of the first: the model takes equal
// devices.
func alike(kinds []string) (list []int) {
	for i, k := range kinds {
		if k == kinds[0] {
			list = append(list, i)
		}
	}
	return list
}

// machineFigures returns the figures of --machine, those that hiveblas-bench comm measured on GPUs of a
// kind, or the published ones.
func machineFigures(file, kind string) (model.Machine, error) {
	published := model.H200()
	known := file != ""
	if !known {
		if dir := jit.Dir(""); dir != "" {
			file = filepath.Join(dir, commtable.KeptFile)
		}
	}
	if file == "" {
		return published, nil
	}
	in, err := os.Open(file)
	if err != nil {
		if !known && errors.Is(err, fs.ErrNotExist) {
			return published, nil
		}
		return published, explain(file, err)
	}
	defer in.Close()
	t, err := commtable.Read(in)
	if err != nil {
		if !known { // of another version, or cut: a new measurement replaces it
			return published, nil
		}
		return published, explain(file, err)
	}
	name, _, _ := strings.Cut(kind, ",")
	if !known && !strings.Contains(strings.Join(t.Machine, "\n"), name) {
		return published, nil
	}
	m := t.Figures("peers")
	m.Name = file
	if m.Memory == 0 {
		m.Memory = published.Memory
	}
	if m.Launch == 0 {
		m.Launch = published.Launch
	}
	if m.Operands == 0 {
		m.Operands = published.Operands
	}
	for kind, lines := range published.Lines {
		if len(m.Lines[kind]) == 0 {
			if m.Lines == nil {
				m.Lines = map[comm.Kind]map[int]model.Line{}
			}
			m.Lines[kind] = lines
		}
	}
	return m, nil
}

// chooseGPUs returns how many of some equal GPUs take the least time for work, and why. start is
// the time that it takes to open one.
func chooseGPUs(m model.Machine, w model.Work, available int, start time.Duration) (count int, why string, err error) {
	list, best, err := m.Devices(w, available, start.Seconds())
	if err != nil || available < 2 {
		return 1, "", err
	}
	took := func(p model.Prediction) string {
		return time.Duration(p.Total * float64(time.Second)).Round(time.Microsecond).String()
	}
	other := list[0]
	if best == 0 {
		other = list[available-1]
	}
	return best + 1, fmt.Sprintf("%d of %d GPUs: %s predicted, %s on %d, with opening the others; figures of %s",
		best+1, available, took(list[best]), took(other), other.Ranks, m.Name), nil
}

// widen makes a group of as many GPUs as the model predicts to be the quickest for work, in the
// units of placeGraphs, after the first was opened, which took start. It stays on one device
// without an estimate, and if --method names a form.
func (j *job) widen(work int64, start time.Duration) error {
	if j.estimate == nil || j.run.form() != apps.Auto {
		return nil
	}
	kinds, err := gpuKinds()
	if err != nil || len(kinds) < 2 {
		return nil // the one that is open is enough
	}
	m, err := machineFigures(j.run.machine, kinds[0])
	if err != nil {
		return err
	}
	equal := alike(kinds)
	count, why, err := chooseGPUs(m, j.estimate(work), len(equal), start)
	if err != nil || why == "" {
		return err
	}
	j.choice = why
	j.why += "; " + why
	if count == 1 {
		return nil
	}
	devices := []*cusparse.Device{j.device}
	for _, i := range equal[1:count] {
		d, err := openDevice(i)
		if err != nil {
			j.alone(devices, err)
			return nil
		}
		devices = append(devices, d)
	}
	g, err := groupGPUs(devices, j.commOptions()...)
	if err != nil {
		j.alone(devices, err)
		return nil
	}
	j.group, j.first, j.device = g, j.device, nil
	return nil
}

// alone closes the devices after the first, which cannot be used with it because of err.
func (j *job) alone(devices []*cusparse.Device, err error) {
	for _, d := range devices[1:] {
		_ = d.Close()
	}
	j.choice += "; one only: " + err.Error()
	j.why += "; one only: " + err.Error()
}

// independent is work of products that falls into independent parts, on the graph as a whole. sum
// is the entries of eight bytes that the devices add up.
func independent(products float64, parts, sum int64) model.Work {
	return model.Work{Bytes: bytesOfProduct * products, Steps: 4, Parts: parts, Sum: 8 * float64(sum)}
}

// byRows is work in steps over the graph, whose form on several devices divides rows and gathers so
// many bytes a vertex in each step, with so many launches, and a few numbers of each rank. passes
// is how often all entries are read.
func (j *job) byRows(passes float64, steps, launches int, gathered float64) model.Work {
	n, _, entries := j.graph.size()
	return model.Work{Bytes: passes*bytesOfProduct*float64(entries) + float64(steps)*bytesOfEntry*float64(n), Steps: steps,
		Operations: launches * steps, Gathers: 2 * steps, Gather: gathered / 2 * float64(n), Direct: true}
}

// The steps of workflows whose number depends on the graph: those of graphs of small diameter, for
// which more devices pay earlier than for others.
const (
	stepsOfBFS   = 12
	stepsOfPaths = 40
	stepsOfCC    = 8
)

// scales says what is known of the work of the command, by which --device auto chooses a number of
// GPUs, and adds --machine. The estimate takes the work in the units of placeGraphs.
func (j *job) scales(estimate func(work int64) model.Work) *job {
	j.estimate = estimate
	j.cmd.Flags().Lookup("device").Usage += "; auto takes as many GPUs as are predicted to be the quickest"
	j.cmd.Flags().StringVar(&j.run.machine, "machine", os.Getenv(envMachine),
		"choose the number of GPUs of --device auto by the figures of `FILE`, the JSON of hiveblas-bench comm")
	return j
}

// estimateBFS reads the entries once at most, and gathers a bit of each vertex.
func (j *job) estimateBFS(int64) model.Work { return j.byRows(1, stepsOfBFS, 10, 1./8) }

// estimatePaths relaxes an edge about twice, and gathers each vertex twice with its distance.
func (j *job) estimatePaths(int64) model.Work { return j.byRows(2, stepsOfPaths, 7, 16./stepsOfPaths) }

// estimateCC reads a part of the entries once, and the labels of all vertices on each device, which
// exchanges them: several devices take longer than one (R-MAT 26 on two H100s 22 ms, on one 11).
func (j *job) estimateCC(int64) model.Work {
	w := j.byRows(1, stepsOfCC, 2, 1)
	w.Parts = 1
	return w
}

// estimateIterations reads the entries in each iteration, of which the change falls by factor to
// tolerance.
func (j *job) estimateIterations(factor, tolerance float64, most int) model.Work {
	steps := 50.
	if factor > 0 && factor < 1 && tolerance > 0 && tolerance < 1 {
		steps = math.Log(tolerance) / math.Log(factor)
	}
	count := max(1, int(min(steps, float64(most))))
	return j.byRows(float64(count), count, 3, 8)
}

// estimateCommunities is that of a graph with clear communities, .45 ns an entry on an H200
// (planted, 358M entries); R-MAT graphs take five times as long, and gain more. Batches exchange
// wishes.
func (j *job) estimateCommunities(int64) model.Work {
	const passes, steps, exchanges = 80, 1000, 400
	n, _, entries := j.graph.size()
	return model.Work{Bytes: passes * bytesOfProduct * float64(entries), Steps: steps, Operations: steps, Gathers: exchanges,
		Gather: float64(n), Direct: true}
}

// estimateScan counts for each edge the entries of a mean row.
func (j *job) estimateScan(int64) model.Work {
	n, _, entries := j.graph.size()
	return independent(float64(entries)*float64(entries)/float64(max(n, 1)), int64(n), int64(n))
}
