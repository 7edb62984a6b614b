package job

import (
	"fmt"
	"io"

	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/progress"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/cusparse/driver"
)

// A Machine is what a command uses of the machine: its GPUs, their libraries and the terminal.
type Machine struct {
	OpenDriver   func() (driver.Driver, error)
	OpenCompiler func() (driver.Compiler, error)
	OpenDevice   func(i int) (*cusparse.Device, error) // a GPU
	GpuKinds     func() ([]string, error)              // the names of the GPUs in order
	// GroupGPUs makes one group of open GPUs.
	GroupGPUs func(devices []*cusparse.Device, opts ...comm.Option) (*comm.Group, error)
	Display   func(w io.Writer, wanted bool) *progress.Display
	Joined    func(rank int) // is called when this process has joined a group of processes
}

// ThisMachine returns the machine that the process runs on.
func ThisMachine() *Machine {
	m := &Machine{OpenDriver: driver.Open, OpenCompiler: driver.OpenCompiler, GroupGPUs: groupGPUs, Display: progress.New,
		OpenDevice: func(i int) (*cusparse.Device, error) { return cusparse.Open(i) }, Joined: func(int) {}}
	m.GpuKinds = m.kinds
	return m
}

func (m *Machine) kinds() ([]string, error) {
	d, err := m.OpenDriver()
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

func groupGPUs(devices []*cusparse.Device, opts ...comm.Option) (*comm.Group, error) {
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
