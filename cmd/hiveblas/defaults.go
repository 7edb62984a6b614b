package main

import (
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/internal/cli"
)

// The environment variables that replace the defaults of flags.
const (
	envThreads = "HIVEBLAS_THREADS"
	envDevice  = "HIVEBLAS_DEVICE"
)

// defaultThreads returns the default of --threads. checkEnvironment reports a wrong one.
func defaultThreads() int {
	if n, err := strconv.Atoi(os.Getenv(envThreads)); err == nil && n >= 0 && n <= cli.MaxThreads {
		return n
	}
	return 0
}

// defaultDevice returns the default of --device.
func defaultDevice() string {
	if d := os.Getenv(envDevice); d != "" {
		return d
	}
	return "auto"
}

// checkEnvironment verifies the defaults that the command uses.
func (f *runFlags) checkEnvironment(cmd *cobra.Command) error {
	if text := os.Getenv(envThreads); text != "" && !cmd.Flags().Changed("threads") {
		if n, err := strconv.Atoi(text); err != nil || n < 0 || n > cli.MaxThreads {
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf("%s is %q, want 1 to %d, or 0 for one per core", envThreads, text, cli.MaxThreads))
		}
	}
	if text := os.Getenv(envDevice); text != "" && f.device == text && !cmd.Flags().Changed("device") {
		if _, err := parseDevice(cmd, text); err != nil {
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf("%s is %q, want %s", envDevice, text, deviceForms))
		}
	}
	return nil
}
