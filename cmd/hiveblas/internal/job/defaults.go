package job

import (
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/internal/cli"
)

// The environment variables that replace the defaults of flags.
const (
	EnvThreads = "HIVEBLAS_THREADS"
	EnvDevice  = "HIVEBLAS_DEVICE"
)

// defaultThreads returns the default of --threads. checkEnvironment reports a wrong one.
func defaultThreads() int {
	if n, err := strconv.Atoi(os.Getenv(EnvThreads)); err == nil && n >= 0 && n <= cli.MaxThreads {
		return n
	}
	return 0
}

// defaultDevice returns the default of --device.
func defaultDevice() string {
	if d := os.Getenv(EnvDevice); d != "" {
		return d
	}
	return "auto"
}

// checkEnvironment verifies the defaults that the command uses.
func (f *runFlags) checkEnvironment(cmd *cobra.Command) error {
	if text := os.Getenv(EnvThreads); text != "" && !cmd.Flags().Changed("threads") {
		if n, err := strconv.Atoi(text); err != nil || n < 0 || n > cli.MaxThreads {
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf("%s is %q, want 1 to %d, or 0 for one per core", EnvThreads, text, cli.MaxThreads))
		}
	}
	if text := os.Getenv(EnvDevice); text != "" && f.Device == text && !cmd.Flags().Changed("device") {
		if _, err := parseDevice(cmd, text); err != nil {
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf("%s is %q, want %s", EnvDevice, text, deviceForms))
		}
	}
	return nil
}
