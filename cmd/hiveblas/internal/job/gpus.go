package job

import (
	"errors"
	"fmt"
	"io/fs"
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

// likeFirst returns the numbers of the GPUs that are of the kind of the first: the model takes
// equal devices.
func likeFirst(kinds []string) (list []int) {
	for i, k := range kinds {
		if k == kinds[0] {
			list = append(list, i)
		}
	}
	return list
}

// MachineFigures returns the figures of --machine, those that hiveblas-bench comm measured on GPUs
// of a kind, or the published ones.
func MachineFigures(file, kind string) (model.Machine, error) {
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
		return published, Explain(file, err)
	}
	defer in.Close()
	t, err := commtable.Read(in)
	if err != nil {
		if !known { // of another version, or cut: a new measurement replaces it
			return published, nil
		}
		return published, Explain(file, err)
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

// ChooseGPUs returns how many of some equal GPUs take the least time for work, and why. start is
// the time that it takes to open one.
func ChooseGPUs(m model.Machine, w model.Work, available int, start time.Duration) (count int, why string, err error) {
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

// widenToGroup makes a group of as many GPUs as the model predicts to be the quickest for work, in
// the units of PlaceGraphs, after the first was opened, which took start. It stays on one device
// without an estimate, and if --method names a form.
func (j *Job) widenToGroup(work int64, start time.Duration) error {
	if j.Estimate == nil || j.Run.form() != apps.Auto {
		return nil
	}
	kinds, err := j.Machine.GpuKinds()
	if err != nil || len(kinds) < 2 {
		return nil // the one that is open is enough
	}
	m, err := MachineFigures(j.Run.machine, kinds[0])
	if err != nil {
		return err
	}
	equal := likeFirst(kinds)
	count, why, err := ChooseGPUs(m, j.Estimate(j, work), len(equal), start)
	if err != nil || why == "" {
		return err
	}
	j.Choice = why
	j.Why += "; " + why
	if count == 1 {
		return nil
	}
	devices := []*cusparse.Device{j.Device}
	for _, i := range equal[1:count] {
		d, err := j.openDevice(i)
		if err != nil {
			j.keepFirst(devices, err)
			return nil
		}
		devices = append(devices, d)
	}
	g, err := j.Machine.GroupGPUs(devices, j.commOptions()...)
	if err != nil {
		j.keepFirst(devices, err)
		return nil
	}
	j.Group, j.First, j.Device = g, j.Device, nil
	return nil
}

// keepFirst closes the devices after the first, which cannot be used with it because of err.
func (d *Devices) keepFirst(devices []*cusparse.Device, err error) {
	for _, d := range devices[1:] {
		_ = d.Close()
	}
	d.Choice += "; one only: " + err.Error()
	d.Why += "; one only: " + err.Error()
}

// Scales says what is known of the work of the command, by which --device auto chooses a number of
// GPUs, and adds --machine. The estimate takes the work in the units of PlaceGraphs.
func (j *Job) Scales(estimate func(j *Job, work int64) model.Work) *Job {
	j.Estimate = estimate
	j.Cmd.Flags().Lookup("device").Usage += "; auto takes as many GPUs as are predicted to be the quickest"
	j.Cmd.Flags().StringVar(&j.Run.machine, "machine", os.Getenv(envMachine),
		"choose the number of GPUs of --device auto by the figures of `FILE`, the JSON of hiveblas-bench comm")
	return j
}
