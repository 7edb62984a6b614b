package cli

import (
	"os"
	"os/exec"

	"github.com/hiveblas/hiveblas/comm/procs"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/cusparse/driver"
)

// LaunchedDevice opens the GPU of a driver that belongs to this process by its launcher.
func LaunchedDevice(d driver.Driver) (*cusparse.Device, error) {
	l, err := procs.Detect(nil)
	if err != nil {
		return nil, err
	}
	n, err := d.Devices()
	if err != nil {
		return nil, err
	}
	i, err := l.DeviceOf(n)
	if err != nil {
		return nil, err
	}
	return cusparse.Open(i)
}

// MPICommand returns the command line of this program with arguments as four ranks of Open MPI, nil
// without mpirun.
func MPICommand(args ...string) []string {
	run, err := exec.LookPath("mpirun")
	self, err2 := os.Executable()
	if err != nil || err2 != nil {
		return nil
	}
	list := []string{run, "--oversubscribe", "-np", "4", self}
	if os.Geteuid() == 0 {
		list = []string{run, "--oversubscribe", "--allow-run-as-root", "-np", "4", self}
	}
	return append(list, args...)
}
