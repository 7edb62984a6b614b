package cli

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// MaxThreads bounds --threads.
const MaxThreads = 1024

// CheckThreads verifies --threads, and prints a warning if it is more than the processors.
func CheckThreads(cmd *cobra.Command, threads int) error {
	if threads < 0 || threads > MaxThreads {
		return Usage(cmd.CommandPath(), fmt.Sprintf("--threads is %d, want 1 to %d, or 0 for one per core", threads, MaxThreads))
	}
	if procs := runtime.GOMAXPROCS(0); threads > procs {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: warning: --threads %d is more than the %d processors of this process; the threads take turns\n", cmd.Root().Name(), threads, procs)
	}
	return nil
}

// WantRounds verifies --rounds.
func WantRounds(cmd *cobra.Command, rounds int) error {
	if rounds < 1 {
		return Usage(cmd.CommandPath(), fmt.Sprintf("--rounds is %d, want 1 or more", rounds))
	}
	return nil
}

// ParseDevice returns the number of the GPU in --device, −1 for auto and cpu. forms are the values
// that the error of another one lists.
func ParseDevice(cmd *cobra.Command, device, forms string) (int, error) {
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
	return 0, Usage(cmd.CommandPath(), fmt.Sprintf("--device is %q, want %s", device, forms))
}

// completes is the prefix of the annotations that Complete writes and offerCompletions reads.
const completes = "complete "

// Complete names the values of a flag for shell completion.
func Complete(cmd *cobra.Command, flag string, values ...string) {
	if cmd.Flags().Lookup(flag) == nil {
		panic("hiveblas: " + cmd.Name() + " has no flag " + flag)
	}
	if cmd.Annotations == nil {
		cmd.Annotations = map[string]string{}
	}
	cmd.Annotations[completes+flag] = strings.Join(values, "\n")
}

// offerCompletions registers the values that Complete names, of a command and those below it. cobra
// keeps what it registers, and the whole tree of commands with it, until the process ends: only the
// request of a shell registers.
func offerCompletions(cmd *cobra.Command) {
	for key, values := range cmd.Annotations {
		if flag, ok := strings.CutPrefix(key, completes); ok {
			_ = cmd.RegisterFlagCompletionFunc(flag,
				cobra.FixedCompletions(strings.Split(values, "\n"), cobra.ShellCompDirectiveNoFileComp))
		}
	}
	for _, c := range cmd.Commands() {
		offerCompletions(c)
	}
}

// flagError explains an error of the flags, with the flag that was perhaps meant.
func flagError(cmd *cobra.Command, err error) error {
	msg := err.Error()
	if name, ok := strings.CutPrefix(msg, "unknown flag: --"); ok {
		best, least := "", 3
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			d := Distance(name, f.Name)
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
	return Usage(cmd.CommandPath(), msg)
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

// Distance returns the number of letters to insert, delete or replace to make b of a (Levenshtein).
func Distance(a, b string) int {
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
