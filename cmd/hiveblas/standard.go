package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// A standardCommand describes a command of the standard set: it reads a graph, runs a workflow,
// writes its result and reports figures.
type standardCommand struct {
	use, short, long, example string
	inputs                    []string // names of the arguments, files to read; nil for GRAPH alone
	threshold                 int64    // of --device auto
	writes                    string
	files                     []string    // kinds of output files; nil without -o
	reads                     job.Content // values are read
	rectangular               bool
	bothWays                  bool   // every edge counts in both directions
	fused                     bool   // there is a fused form
	top                       string // what --top lists; "" without
	flags                     func(fs *pflag.FlagSet)
	// check returns what is wrong with the flags, before the graph is read; bad makes a usage
	// error. It may be nil.
	check func(j *job.Job, graph string, bad func(format string, args ...any) error) error
	// prepare reads further inputs after the graph, args; it may be nil.
	prepare func(j *job.Job, args []string) error
	run     func(j *job.Job, run apps.Run) (*standardResult, error)
}

// standardResult is the result of a workflow, on the host.
type standardResult struct {
	figures []job.Field
	more    func() ([]job.Field, error) // figures whose time is no part of the workflow's, or nil
	write   func() error
	ranks   *matrix.Vector[float64] // --top lists the highest
	list    *job.Ranking            // in place of ranks
	failed  error                   // instead of a result
	bounds  bool                    // the figures hold too where the context has ended
}

// complete adds the figures that are left.
func (r *standardResult) complete() error {
	if r.more == nil {
		return nil
	}
	more, err := r.more()
	r.figures = append(r.figures, more...)
	return err
}

// arguments returns the names of the arguments.
func (c *standardCommand) arguments() []string {
	if c.inputs != nil {
		return c.inputs
	}
	return []string{"GRAPH"}
}

// command makes the command.
func (c standardCommand) command(s *job.Session) *cobra.Command {
	cmd := &cobra.Command{Use: c.use, Short: c.short, Long: c.long, Example: c.example, Args: cli.Positional(c.arguments()...)}
	j := job.New(s, cmd).Computes(c.threshold)
	if c.fused {
		j.Fuses()
	}
	if c.bothWays {
		j.ReadsBothWays()
	} else {
		j.Reads()
	}
	if c.files != nil {
		j.Writes(c.writes, c.files...)
	}
	top := 0
	if c.top != "" {
		cmd.Flags().IntVar(&top, "top", 10, "list the `N` "+c.top)
	}
	if c.flags != nil {
		c.flags(cmd.Flags())
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		bad := func(format string, args ...any) error {
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf(format, args...))
		}
		if err := checkTop(cmd, top); err != nil {
			return err
		}
		if c.check != nil {
			if err := c.check(j, args[0], bad); err != nil {
				return err
			}
		}
		if err := j.Begin(args...); err != nil {
			return err
		}
		load := j.LoadSquare
		if c.rectangular {
			load = j.Load
		}
		if err := load(args[0], c.reads); err != nil {
			return err
		}
		if c.prepare != nil {
			if err := c.prepare(j, args[1:]); err != nil {
				return err
			}
		}
		var res *standardResult
		err := j.Compute(func(run apps.Run) (err error) {
			res, err = c.run(j, run)
			return err
		})
		if err != nil && j.Ctx.Err() != nil && res != nil && res.bounds {
			return errors.Join(err, j.Report(res.figures, nil))
		}
		if err != nil {
			return err
		}
		if res.failed != nil {
			return res.failed
		}
		if err := res.complete(); err != nil {
			return err
		}
		if c.files != nil {
			if err := j.Writing(res.write); err != nil {
				return err
			}
		}
		list := res.list
		if res.ranks != nil {
			list = highest(j, res.ranks, top)
			list.Unit = c.use[:indexBlank(c.use)]
		}
		return j.Report(res.figures, list)
	}
	return cmd
}

func indexBlank(s string) int {
	for k, c := range s {
		if c == ' ' {
			return k
		}
	}
	return len(s)
}

// asFloats returns a vector as float64.
func asFloats(v *matrix.Vector[int32]) (*matrix.Vector[float64], error) {
	x := matrix.NewVector[float64](v.Size())
	return x, ops.Apply(x, semiring.Convert[int32, float64](), v)
}

// iterationFlags are the flags of iterative workflows.
type iterationFlags struct {
	tolerance float64
	most      int
}

func (f *iterationFlags) add(fs *pflag.FlagSet) {
	fs.Float64Var(&f.tolerance, "tolerance", 1e-9, "stop when the changes sum to at most `T`")
	fs.IntVar(&f.most, "max-iterations", 1000, "fail after `N` iterations")
}

func (f *iterationFlags) check(_ *job.Job, _ string, bad func(format string, args ...any) error) error {
	if !(f.tolerance > 0) {
		return bad("--tolerance is %v, want a positive number", f.tolerance)
	}
	if f.most < 1 {
		return bad("--max-iterations is %d, want 1 or more", f.most)
	}
	return nil
}

// unconverged is the failure of an iteration that has not come to its end.
func (f *iterationFlags) unconverged(j *job.Job, converged bool, change float64, iterations int) error {
	if converged {
		return nil
	}
	return cli.Fail(j.Graph.File, fmt.Sprintf("the values still change by %.3g after %d iterations, above --tolerance %g", change, iterations, f.tolerance),
		"raise --max-iterations or --tolerance", nil)

}

// sampleFlags are the flags of estimates by a sample of the vertices.
type sampleFlags struct {
	samples int
	seed    uint64
}

func (f *sampleFlags) add(fs *pflag.FlagSet) {
	fs.IntVar(&f.samples, "samples", 0, "estimate from `N` random vertices (0: all, exact)")
	fs.Uint64Var(&f.seed, "random-seed", 0, "seed `S` of the draw")
}

func (f *sampleFlags) check(j *job.Job, _ string, bad func(format string, args ...any) error) error {
	if f.samples < 0 {
		return bad("--samples is %d, want 0 or more", f.samples)
	}
	if f.samples == 0 && j.Cmd.Flags().Changed("random-seed") {
		return bad("--random-seed has no effect without --samples")
	}
	return nil
}
