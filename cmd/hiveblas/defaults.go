package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The environment variables that replace the defaults of flags.
const (
	envThreads = "HIVEBLAS_THREADS"
	envDevice  = "HIVEBLAS_DEVICE"
)

// defaultThreads returns the default of --threads. checkEnvironment reports a wrong one.
func defaultThreads() int {
	if n, err := strconv.Atoi(os.Getenv(envThreads)); err == nil && n >= 0 && n <= maxThreads {
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
		if n, err := strconv.Atoi(text); err != nil || n < 0 || n > maxThreads {
			return &usageError{cmd.CommandPath(), fmt.Sprintf("%s is %q, want 1 to %d, or 0 for one per core", envThreads, text, maxThreads)}
		}
	}
	if text := os.Getenv(envDevice); text != "" && f.device == text && !cmd.Flags().Changed("device") {
		if _, err := parseDevice(cmd, text); err != nil {
			return &usageError{cmd.CommandPath(), fmt.Sprintf("%s is %q, want %s", envDevice, text, deviceForms)}
		}
	}
	return nil
}

// flagError explains an error of the flags, with the flag that was perhaps meant.
func flagError(cmd *cobra.Command, err error) error {
	msg := err.Error()
	if name, ok := strings.CutPrefix(msg, "unknown flag: --"); ok {
		best, least := "", 3
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			d := distance(name, f.Name)
			if strings.HasPrefix(f.Name, name) {
				d = 1
			}
			if d < least && !f.Hidden {
				best, least = f.Name, d
			}
		})
		switch others := commandsWith(cmd, name); {
		case name == "undirected" && cmd.Flags().Lookup("duplicates") != nil:
			msg += ": " + cmd.Name() + " takes every edge in both directions"
		case len(others) > 0 && least > 1:
			msg += ", which is one of " + others
		case best != "":
			msg += ", did you mean --" + best + "?"
		}
	}
	return &usageError{cmd.CommandPath(), msg}
}

// commandsWith lists the other commands that have a flag, at most a few by name; "" if none has it.
func commandsWith(cmd *cobra.Command, name string) string {
	const few = 4
	var list []string
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		f := c.Flags().Lookup(name)
		if f != nil && !f.Hidden && !c.Hidden {
			list = append(list, strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" "))
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(cmd.Root())
	switch {
	case len(list) == 0:
		return ""
	case len(list) > few:
		return strings.Join(list[:few], ", ") + fmt.Sprintf(" and %d other commands", len(list)-few)
	case len(list) == 1:
		return list[0]
	}
	return strings.Join(list[:len(list)-1], ", ") + " and " + list[len(list)-1]
}

// distance returns the number of letters to insert, delete or replace to make b of a (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for k := range row {
		row[k] = k
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for k := range len(b) {
			cost := before
			if a[i] != b[k] {
				cost++
			}
			before = row[k+1]
			row[k+1] = min(cost, row[k]+1, before+1)
		}
	}
	return row[len(b)]
}
