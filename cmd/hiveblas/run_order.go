package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/comm/commtable"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/program"
)

// groupFlags are the flags of run for a group of ranks.
type groupFlags struct {
	hops, machine, order, partition string
}

func (f *groupFlags) add(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVar(&f.hops, "hops", "1", "on a group, exchange every `N` supersteps, with copies of vertices to N in-hops; auto chooses by a model")
	fs.StringVar(&f.machine, "machine", "", "the JSON `FILE` of hiveblas-bench comm, for --hops auto; without it the exchange is measured")
	fs.StringVar(&f.order, "order", "natural", "on a group, `ORDER` of the vertices over the ranks: natural, or rcm (reverse Cuthill-McKee)")
	fs.StringVar(&f.partition, "partition", "", "on a group, a `FILE` of METIS that gives the rank of each vertex, one a line")
	cli.Complete(cmd, "order", "natural", "rcm")
}

// check returns the error of flags that do not fit together.
func (f *groupFlags) check(cmd *cobra.Command) error {
	bad := func(format string, args ...any) error {
		return cli.Usage(cmd.CommandPath(), fmt.Sprintf(format, args...))
	}
	n, err := strconv.Atoi(f.hops)
	switch {
	case f.hops != "auto" && (err != nil || n < 1 || n > 1000):
		return bad("--hops is %q, want 1 … 1000 or auto", f.hops)
	case f.machine != "" && f.hops != "auto":
		return bad("--machine belongs to --hops auto")
	case f.order != "natural" && f.order != "rcm":
		return bad("--order is %q, want natural or rcm", f.order)
	case f.partition != "" && cmd.Flags().Changed("order"):
		return bad("--order and --partition are both given, want one")
	}
	return nil
}

// reorders reports whether the vertices are put in another order, for which every process needs the
// whole graph.
func (f *groupFlags) reorders() bool { return f.order != "natural" || f.partition != "" }

// given returns the first flag that is given, "" if none is.
func (f *groupFlags) given(cmd *cobra.Command) string {
	for _, name := range []string{"hops", "order", "partition"} {
		if cmd.Flags().Changed(name) {
			return "--" + name
		}
	}
	return ""
}

// prepare puts the vertices in their order and sets the options of the run.
func (f *groupFlags) prepare(j *job.Job, o *program.Options) error {
	if j.Group == nil {
		if name := f.given(j.Cmd); name != "" {
			return cli.Fail(name, "belongs to a group of ranks, and this run has none",
				"add --device ranks:N, or start the command by mpirun", nil)

		}
		return nil
	}
	if f.hops == "auto" {
		o.Hops = program.AutoHops
		if f.machine != "" {
			in, err := os.Open(f.machine)
			if err != nil {
				return job.Explain(f.machine, err)
			}
			defer in.Close()
			t, err := commtable.Read(in)
			if err != nil {
				return job.Explain(f.machine, err)
			}
			m := t.Figures()
			o.Machine = &m
		}
	} else if j.Cmd.Flags().Changed("hops") {
		o.Hops, _ = strconv.Atoi(f.hops)
	}
	if !f.reorders() {
		return nil
	}
	return j.Stage("order", func() error {
		var order []int32
		var err error
		if f.partition != "" {
			order, err = partition(j, f.partition)
		} else {
			order, err = apps.ReverseCuthillMcKee(j.Graph.Matrix, apps.OrderOptions{Run: apps.Run{Context: j.Ctx, Progress: j.Progress.Update}})
		}
		if err != nil {
			return err
		}
		list := make([]int, len(order))
		for k, v := range order {
			list[k] = int(v)
		}
		g := matrix.New[float64](len(list), len(list))
		if err := ops.Extract(g, j.Graph.Matrix, ops.Of(list...), ops.Of(list...), ops.WithContext(j.Ctx)); err != nil {
			return err
		}
		j.Graph.Matrix, o.Numbers = g, order
		return nil
	})
}

// partition reads the rank of each vertex, and cuts the group so. It returns the vertices rank by
// rank, in ascending order within a rank.
func partition(j *job.Job, name string) ([]int32, error) {
	in, err := os.Open(name)
	if err != nil {
		return nil, job.Explain(name, err)
	}
	defer in.Close()
	n, _ := j.Graph.Dims()
	parts := make([][]int32, j.Group.Size())
	bad := func(line int, reason string) error {
		return cli.Fail(fmt.Sprintf("%s:%d", name, line), reason,
			fmt.Sprintf("gpmetis GRAPH %d writes such a file for %d ranks: a number from 0 for each of the %d vertices, one a line", len(parts), len(parts), n), nil)

	}
	sc := bufio.NewScanner(in)
	line := 0
	for sc.Scan() {
		if line++; line > n {
			return nil, bad(line, fmt.Sprintf("a line for vertex %d, and the graph has %d vertices", line-1, n))
		}
		text := strings.TrimSpace(sc.Text())
		p, err := strconv.Atoi(text)
		if err != nil {
			return nil, bad(line, fmt.Sprintf("%q is no part", text))
		}
		if p < 0 || p >= len(parts) {
			return nil, bad(line, fmt.Sprintf("part %d, and the group has %d ranks", p, len(parts)))
		}
		parts[p] = append(parts[p], int32(line-1))
	}
	if err := sc.Err(); errors.Is(err, bufio.ErrTooLong) {
		return nil, bad(line+1, "the line is too long for a number")
	} else if err != nil {
		return nil, job.Explain(name, err)
	}
	if line < n {
		return nil, bad(line, fmt.Sprintf("the file ends after %d vertices of %d", line, n))
	}
	order, cuts := make([]int32, 0, n), []int{0}
	for _, part := range parts {
		order = append(order, part...)
		cuts = append(cuts, len(order))
	}
	return order, j.Group.CutAt(cuts)
}
