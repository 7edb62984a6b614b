package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/program"
	"github.com/hiveblas/hiveblas/program/examples"
	"github.com/hiveblas/hiveblas/semiring"
)

// programs are the names of the programs of package examples.
var programs = []string{"bfs", "sssp", "pagerank", "hcc", "matching", "labels"}

// runProgramFlags are the flags of run.
type runProgramFlags struct {
	source, plan string
	schedules    []string
	width        float64
	damping, tol float64
	most         int
	group        groupFlags
}

func runCommand(s *job.Session) *cobra.Command {
	var f runProgramFlags
	cmd := &cobra.Command{
		Use:   "run PROGRAM GRAPH",
		Short: "Run a graph program: functions of edges, messages and vertices",
		Long: `run executes a graph program in supersteps: active vertices send messages along
their edges, messages to a vertex are summed, and the vertex gets a new state.

PROGRAM is bfs, sssp, pagerank, hcc (components of an undirected graph by smallest
labels), matching (a maximal matching of an undirected graph) or labels
(communities by label propagation). Package program/examples has their few lines.

A program of your own is a Go function (package program), or a file NAME.prog of
expressions of CUDA C, with one phase an iteration or several, which runs on the
host, on ranks of the host or on a GPU; where its state has fields, -o writes a
column for each (.tsv, .csv). -o writes the state of each vertex: levels, distances,
ranks, the least vertex of a component, the partner, the label; what is not reached
and not matched is omitted.

On a group of ranks, of the host or GPUs, each rank has a block of the vertices, and
copies of those around it. --hops, --order and --partition say how large the copies
are and which vertices a block has; they pay on roads and meshes. GPUs run labels, and
sssp with --width but without --hops, whole on each.`,
		Example: `  hiveblas run bfs graph.mtx --source 0 -o levels.tsv
  hiveblas run mine.prog graph.mtx -o out.tsv
  hiveblas run mine.prog graph.mtx --device gpu --plan auto -o out.tsv
  hiveblas run matching pairs.tsv --undirected -o partners.tsv
  hiveblas run pagerank web.mtx.gz --plan pull --json
  hiveblas run sssp road.gr --source 7 --device ranks:4 --hops auto --order rcm
  hiveblas run bfs road.gr --source 7 --device gpus --hops 16`,
		Args: cli.Positional("PROGRAM", "GRAPH"),
	}
	j := job.New(s, cmd).Computes(noThreshold).Reads().Writes("the states", job.MatrixFiles...)
	fs := cmd.Flags()
	fs.StringVar(&f.source, "source", "", "source vertex `V` of bfs and sssp: a number from 0, or an id")
	fs.StringVar(&f.plan, "plan", "auto", "run supersteps by `PLAN`: auto, push or pull, on a GPU also one that hiveblas tune --list prints")
	scheduleFlag(fs, &f.schedules)
	fs.Float64Var(&f.width, "width", 0, "settle distances in buckets of width `W` (0: no buckets)")
	fs.Float64Var(&f.damping, "damping", .85, "probability `P` of following an edge in pagerank")
	fs.Float64Var(&f.tol, "tolerance", 1e-9, "stop pagerank when the changes of the ranks sum to at most `T`")
	fs.IntVar(&f.most, "max-supersteps", 0, "fail after `N` supersteps (0: no limit; labels: end after 100)")
	cli.Complete(cmd, "plan", "auto", "push", "pull")
	f.group.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := addSchedules(f.schedules); err != nil {
			return err
		}
		if err := f.check(cmd, args[0]); err != nil {
			return err
		}
		if strings.HasSuffix(args[0], ".prog") {
			return runFile(j, args[0], args[1], &f)
		}
		if f.sourced(args[0]) {
			if err := checkSource(j, f.source, args[1]); err != nil {
				return err
			}
		}
		if err := j.Begin(args[1]); err != nil {
			return err
		}
		j.Whole = f.group.reorders()
		if err := j.LoadSquare(args[1], job.ContentOf(args[0] == "sssp")); err != nil {
			return err
		}
		if args[0] == "hcc" || args[0] == "matching" || args[0] == "labels" {
			if err := wantUndirected(j); err != nil {
				return err
			}
		}
		return runProgram(j, args[0], &f)
	}
	return cmd
}

func (f *runProgramFlags) sourced(name string) bool { return name == "bfs" || name == "sssp" }

func (f *runProgramFlags) check(cmd *cobra.Command, name string) error {
	bad := func(format string, args ...any) error {
		return cli.Usage(cmd.CommandPath(), fmt.Sprintf(format, args...))
	}
	switch {
	case !slices.Contains(programs, name) && !strings.HasSuffix(name, ".prog"):
		return bad("%q is no program, want %s, or a file NAME.prog", name, strings.Join(programs, ", "))
	case !(f.width >= 0):
		return bad("--width is %v, want 0 or more", f.width)
	case !(f.damping > 0 && f.damping < 1):
		return bad("--damping is %v, want between 0 and 1", f.damping)
	case !(f.tol > 0):
		return bad("--tolerance is %v, want a positive number", f.tol)
	case f.most < 0:
		return bad("--max-supersteps is %d, want 0 or more", f.most)
	case cmd.Flags().Changed("source") && !f.sourced(name):
		return bad("--source belongs to bfs and sssp; seeds of a file stand in the file")
	}
	for _, own := range []struct{ flag, program string }{{"width", "sssp"}, {"damping", "pagerank"}, {"tolerance", "pagerank"}} {
		if cmd.Flags().Changed(own.flag) && name != own.program {
			return bad("--%s means nothing for %s; it belongs to %s", own.flag, name, own.program)
		}
	}
	return f.group.check(cmd)
}

// runFile runs a program file and writes the states.
func runFile(j *job.Job, name, graph string, f *runProgramFlags) error {
	file, err := readProgram(name)
	if err != nil {
		return err
	}
	if err := j.Begin(graph); err != nil {
		return err
	}
	if j.Group != nil && j.Group.PlaceOf(0) != nil {
		return cli.Fail(name, "a group of GPUs runs no program files",
			"use --device gpu, cpu or ranks:P, or write it in Go with program.Program (go doc github.com/hiveblas/hiveblas/program)", nil)

	}
	j.Whole = f.group.reorders()
	if err := j.LoadSquare(graph, job.ContentOf(file.Edge != "")); err != nil {
		return err
	}
	n, _ := j.Graph.Dims()
	for _, s := range file.Seeds {
		if s.ID >= n {
			return cli.Fail(name, fmt.Sprintf("the seed %d is no vertex of a graph with %d", s.ID, n), "name a vertex of the graph", nil)
		}
	}
	if strings.HasPrefix(file.Edge, "{") {
		return cli.Fail(name, "the edge has fields, and an edge of a file has one number",
			"name a number, or run it by program.RunFile in Go", nil)

	}
	return runColumns(j, file, f)
}

// runColumns runs a program and writes the states: numbers as a vector, structs with a column for
// each field.
func runColumns(j *job.Job, file *program.File, f *runProgramFlags) error {
	fields := strings.HasPrefix(file.State, "{")
	if fields && j.Out.Path != "" && !slices.Contains(job.ListFiles, j.Out.Kind) {
		return cli.Usage(j.Cmd.CommandPath(), "states with fields are written to .tsv or .csv, not "+j.Out.Kind)
	}
	o := program.Options{Plan: f.plan, MaxSupersteps: f.most, Progress: func(superstep int, active int64) {
		j.Progress.Update(fmt.Sprintf("superstep %d, %d active", superstep, active), 0, 0)
	}}
	if err := f.group.prepare(j, &o); err != nil {
		return err
	}
	var res *program.FileResult
	j.Traces.Begin(file.Name)
	err := j.Compute(func(run apps.Run) (err error) {
		o.Threads = run.Threads
		res, err = program.RunFileColumns(run.Context, j.Graph.Matrix, file, o)
		return err
	})
	if err != nil {
		return err
	}
	if o.Numbers != nil {
		for k, c := range res.Columns {
			res.Columns[k].Values = renumbered(c.Values, o.Numbers)
		}
	}
	ended := []job.Field{{Key: "supersteps", Label: "supersteps", Value: res.Supersteps}, {Key: "ended", Label: "ended", Value: string(res.Ended)}}
	if !fields {
		if err := j.Writing(func() error { return writeColumn(j, res.Columns[0].Values) }); err != nil {
			return err
		}
		return j.Report(ended, nil)
	}
	n, _ := j.Graph.Dims()
	err = j.Writing(func() error {
		return j.WriteLines(n, func(line func(fields ...string) error) error {
			fields := make([]string, 1+len(res.Columns))
			for v := range n {
				fields[0] = j.Graph.Name(v)
				for k, c := range res.Columns {
					fields[1+k] = valueText(c.Values, v)
				}
				if err := line(fields...); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err != nil {
		return err
	}
	names := make([]string, len(res.Columns))
	for k, c := range res.Columns {
		names[k] = c.Name
	}
	return j.Report(append([]job.Field{{Key: "columns", Label: "columns", Value: names}}, ended...), nil)
}

// writeColumn writes the numbers of the vertices, a slice of one of the element types of files.
func writeColumn(j *job.Job, list any) error {
	var element int
	var v sparse.Values
	switch x := list.(type) {
	case []bool:
		element, v = job.ElementBool, sparse.ValuesOf(x)
	case []int8:
		element, v = job.ElementInt8, sparse.ValuesOf(x)
	case []int16:
		element, v = job.ElementInt16, sparse.ValuesOf(x)
	case []int32:
		element, v = job.ElementInt32, sparse.ValuesOf(x)
	case []int64:
		element, v = job.ElementInt64, sparse.ValuesOf(x)
	case []uint8:
		element, v = job.ElementUint8, sparse.ValuesOf(x)
	case []uint16:
		element, v = job.ElementUint16, sparse.ValuesOf(x)
	case []uint32:
		element, v = job.ElementUint32, sparse.ValuesOf(x)
	case []uint64:
		element, v = job.ElementUint64, sparse.ValuesOf(x)
	case []float32:
		element, v = job.ElementFloat32, sparse.ValuesOf(x)
	case []float64:
		element, v = job.ElementFloat64, sparse.ValuesOf(x)
	}
	t, shape := job.FileTypes[element], sparse.Structure{NRows: 1, NCols: v.Len(), Format: sparse.Full, NVals: int64(v.Len())}
	m := matrix.NewInside(t, 1, v.Len())
	m.SetStore(&sparse.Store{Structure: shape, Val: v, Type: t})
	return j.WriteVectorAs(rep.View{Matrix: m, Vector: true})
}

// valueText writes an element of a column, bools as 0 and 1.
func valueText(values any, v int) string {
	x := reflect.ValueOf(values).Index(v)
	switch {
	case x.CanFloat():
		return strconv.FormatFloat(x.Float(), 'g', -1, x.Type().Bits())
	case x.Kind() == reflect.Bool && x.Bool():
		return "1"
	case x.Kind() == reflect.Bool:
		return "0"
	}
	return fmt.Sprint(x)
}

// renumbered returns a column in the order of the vertices, whose numbers are given by position.
func renumbered(values any, numbers []int32) any {
	x := reflect.ValueOf(values)
	out := reflect.MakeSlice(x.Type(), x.Len(), x.Len())
	for k, v := range numbers {
		out.Index(int(v)).Set(x.Index(k))
	}
	return out.Interface()
}

// readProgram reads a program file.
func readProgram(name string) (*program.File, error) {
	in, err := os.Open(name)
	if err != nil {
		return nil, job.Explain(name, err)
	}
	defer in.Close()
	file, err := program.ReadFile(in, name)
	var bad *program.FileError
	if err != nil && !errors.As(err, &bad) {
		err = job.Explain(name, err)
	}
	return file, err
}

// ran is what a program left: a vector to write, and figures.
type ran struct {
	write func() error
	figs  []job.Field
}

// runProgram runs a program of package examples and writes the states.
func runProgram(j *job.Job, name string, f *runProgramFlags) error {
	source := 0
	if f.sourced(name) {
		var err error
		if source, err = j.Graph.Vertex("--source", f.source); err != nil {
			return err
		}
	}
	var out ran
	plans := []string{}
	var grouped program.Options
	if err := f.group.prepare(j, &grouped); err != nil {
		return err
	}
	err := j.Compute(func(run apps.Run) (err error) {
		o := program.Options{Threads: run.Threads, Plan: f.plan, MaxSupersteps: f.most,
			Hops: grouped.Hops, Machine: grouped.Machine, Numbers: grouped.Numbers,
			Progress: func(superstep int, active int64) {
				j.Progress.Update(fmt.Sprintf("superstep %d, %d active", superstep, active), 0, 0)
			},
			Trace: func(s program.Step) {
				if s.Plan != "none" && !slices.Contains(plans, s.Plan) {
					plans = append(plans, s.Plan)
				}
			}}
		g := j.Graph.Matrix
		switch name {
		case "bfs":
			out, err = stateOf(j, run.Context, g.Pattern(), examples.BFS(source), o, "reached",
				func(level int32) (int32, bool) { return level, level != examples.Unreached })
		case "sssp":
			if err := nonNegative(j, run); err != nil {
				return err
			}
			far := false // sums of a weight and such a distance may exceed float64
			out, err = stateOf(j, run.Context, g, examples.SSSP(source, f.width), o, "reached",
				func(d float64) (float64, bool) {
					far = far || d >= maxFloat*0x1p-55 && d <= maxFloat
					return d, d <= maxFloat
				})
			if err == nil && far {
				err = cli.Fail("", "distances exceed what float64 holds, and vertices beyond look unreached",
					"scale the weights, or use hiveblas sssp, which gives them the distance +Inf", nil)

			}
		case "pagerank":
			out, err = stateOf(j, run.Context, g.Pattern(), examples.PageRank(f.damping, f.tol), o, "vertices",
				func(r examples.Rank) (float64, bool) { return r.Rank, true })
		case "hcc":
			out, err = verticesOf(j, run.Context, g.Pattern(), examples.HCC(), o, "vertices",
				func(label int32) (int32, bool) { return label, true })
		case "matching":
			out, err = verticesOf(j, run.Context, g.Pattern(), examples.Matching(), o, "matched",
				func(p examples.Partner) (int32, bool) { return p.To, p.Done })
		case "labels":
			most := f.most
			if o.MaxSupersteps = 0; most == 0 {
				most = 100
			}
			out, err = verticesOf(j, run.Context, g.Pattern(), examples.LabelPropagation(most), o, "vertices",
				func(l examples.Label) (int32, bool) { return l.Label, true })
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := j.Writing(out.write); err != nil {
		return err
	}
	j.Traces.Begin(name + ": " + strings.Join(plans, "+"))
	return j.Report(out.figs, nil)
}

// nonNegative returns an error if a weight is negative: distances would decrease forever.
func nonNegative(j *job.Job, run apps.Run) error {
	with := ops.WithOptions(ops.WithThreads(run.Threads), ops.WithContext(run.Context))
	least, err := ops.ReduceScalar(semiring.Min[float64](), j.Graph.Matrix, with)
	if err == nil && least < 0 {
		return cli.Fail("", fmt.Sprintf("a weight is %v, and distances want 0 or more", least),
			"correct the file, or count edges with hiveblas run bfs", nil)

	}
	return err
}

const maxFloat = 0x1p1023 * (1 + (1 - 0x1p-52))

// stateOf runs a program and keeps the numbers that get takes from states.
func stateOf[V, E, M comparable, T matrix.Element](
	j *job.Job, ctx context.Context, g matrix.Source[E], p program.Program[V, E, M], o program.Options,
	what string, get func(V) (T, bool),
) (ran, error) {
	v, figs, err := runState(ctx, g, p, o, what, get)
	return ran{func() error { return j.WriteVectorAs(v.Inside()) }, figs}, err
}

// verticesOf is stateOf of states that are vertices.
func verticesOf[V, E, M comparable](
	j *job.Job, ctx context.Context, g matrix.Source[E], p program.Program[V, E, M], o program.Options,
	what string, get func(V) (int32, bool),
) (ran, error) {
	v, figs, err := runState(ctx, g, p, o, what, get)
	return ran{func() error { return j.WriteVertices(v) }, figs}, err
}

func runState[V, E, M comparable, T matrix.Element](
	ctx context.Context, g matrix.Source[E], p program.Program[V, E, M], o program.Options,
	what string, get func(V) (T, bool),
) (*matrix.Vector[T], []job.Field, error) {
	res, err := program.Run(ctx, g, p, o)
	if err != nil {
		return nil, nil, err
	}
	if err := res.State.Move(nil); err != nil {
		return nil, nil, err
	}
	var at []int
	var values []T
	for v, state := range res.State.All() {
		if x, ok := get(state); ok {
			if o.Numbers != nil {
				v = int(o.Numbers[v])
			}
			at, values = append(at, v), append(values, x)
		}
	}
	out, err := matrix.VectorFromTuples[T](res.State.Size(), at, values, nil)
	return out, []job.Field{{Key: what, Label: what, Value: len(at)}, {Key: "supersteps", Label: "supersteps", Value: res.Supersteps},
		{Key: "ended", Label: "ended", Value: string(res.Ended)}}, err
}
