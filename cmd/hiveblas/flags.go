package main

import (
	"fmt"
	"runtime"
	"strconv"
	"time"

	"github.com/spf13/cobra"
)

// maxThreads bounds --threads: more goroutines than that serve nobody.
const maxThreads = 1024

// runFlags are the flags of every command that computes.
type runFlags struct {
	device  string // "" for commands that know only the host
	threads int
	timeout timeout
	quiet   bool
	json    bool
}

func (f *runFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.IntVar(&f.threads, "threads", 0, "`number` of threads (0: one per core)")
	fs.Var(&f.timeout, "timeout", "give up after this long, as 90s or 5m (0: never)")
	fs.BoolVar(&f.quiet, "quiet", false, "no progress bar; with -o no summary either")
	fs.BoolVar(&f.json, "json", false, "print one JSON object in place of the summary")
}

// check verifies the flags.
func (f *runFlags) check(cmd *cobra.Command) error {
	if f.threads < 0 || f.threads > maxThreads {
		return &usageError{cmd.CommandPath(), fmt.Sprintf("--threads is %d, want 1 to %d, or 0 for one per core", f.threads, maxThreads)}
	}
	return nil
}

func (f *runFlags) count() int {
	if f.threads > 0 {
		return f.threads
	}
	return runtime.GOMAXPROCS(0)
}

// readFlags say how a graph is read.
type readFlags struct {
	undirected   bool
	ids          string
	bipartite    bool
	weightColumn int
	skipLines    int
	duplicates   string
}

func (f *readFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.BoolVar(&f.undirected, "undirected", false, "symmetrise on reading: every edge in both directions, the smaller weight where they differ")
	fs.StringVar(&f.ids, "ids", "keep", "`what` ids of an edge list are: keep them as vertices from 0, or renumber those that occur")
	fs.BoolVar(&f.bipartite, "bipartite", false, "sources and targets of an edge list are different things: rows and columns")
	fs.IntVar(&f.weightColumn, "weight-column", -1, "`column` of the weight in an edge list, from 1 (0: none; default: the third, if it is the last)")
	fs.IntVar(&f.skipLines, "skip-lines", 0, "`lines` to skip at the head of an edge list")
	fs.StringVar(&f.duplicates, "duplicates", "error", "`what` to make of an entry given twice: error, sum, min, max, first or last")
	fs.Lookup("weight-column").DefValue = "0"
	complete(cmd, "ids", "keep", "renumber")
	complete(cmd, "duplicates", "error", "sum", "min", "max", "first", "last")
}

func (f *readFlags) check(cmd *cobra.Command) error {
	bad := func(format string, args ...any) error {
		return &usageError{cmd.CommandPath(), fmt.Sprintf(format, args...)}
	}
	switch {
	case f.ids != "keep" && f.ids != "renumber":
		return bad("--ids is %q, want keep or renumber", f.ids)
	case cmd.Flags().Changed("weight-column") && (f.weightColumn < 0 || f.weightColumn == 1 || f.weightColumn == 2):
		return bad("--weight-column is %d, want 3 or more, or 0 for none", f.weightColumn)
	case f.skipLines < 0:
		return bad("--skip-lines is %d, want 0 or more", f.skipLines)
	case f.bipartite && f.undirected:
		return bad("--bipartite and --undirected exclude each other")
	}
	switch f.duplicates {
	case "error", "sum", "min", "max", "first", "last":
		return nil
	}
	return bad("--duplicates is %q, want error, sum, min, max, first or last", f.duplicates)
}

// timeout is a duration; a plain number counts seconds.
type timeout time.Duration

func (t *timeout) Set(s string) error {
	d, err := time.ParseDuration(s)
	if err != nil {
		seconds, err := strconv.ParseFloat(s, 64)
		if err != nil || !(seconds >= 0 && seconds < 1e9) {
			return fmt.Errorf("want a duration such as 90s or 5m")
		}
		d = time.Duration(seconds * float64(time.Second))
	}
	if d < 0 {
		return fmt.Errorf("want a duration that is not negative")
	}
	*t = timeout(d)
	return nil
}

func (t *timeout) String() string {
	if *t == 0 {
		return "0"
	}
	return time.Duration(*t).String()
}

func (t *timeout) Type() string { return "duration" }

// complete makes the shell offer the values of a flag.
func complete(cmd *cobra.Command, flag string, values ...string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic("hiveblas: " + err.Error()) // the flag was not added before
	}
}
