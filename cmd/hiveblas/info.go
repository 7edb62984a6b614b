package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/internal/blas"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/matrix"
)

func infoCommand(s *job.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "info [GRAPH]",
		Short: "Describe a file, or without one the program and its devices",
		Long: `info reads a whole file and prints its format, the size and the number of entries
of the matrix, and the range of the values. Without a file it prints the version
of hiveblas and the devices it can use: the CUDA driver, the GPUs, the kernel
compiler (NVRTC), cuSPARSE, the launcher that started it, MPI, NCCL and which GPUs
reach each other, or the reason why one is missing.`,
		Example: `  hiveblas info
  hiveblas info graph.mtx.gz
  hiveblas info graph.tsv --json`,
		Args: cobra.ArbitraryArgs,
	}
	j := job.New(s, cmd).Reads()
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return cli.Positional("GRAPH")(cmd, args)
		}
		if err := j.Begin(args...); err != nil {
			return err
		}
		if len(args) == 0 {
			return machine(j)
		}
		if err := j.LoadTyped(args[0]); err != nil {
			return err
		}
		return j.Report(describe(j, args[0]), nil)
	}
	return cmd
}

// describe returns the figures of a file.
func describe(j *job.Job, file string) []job.Field {
	g := j.Graph
	m, n := g.Values.Dims()
	s := job.SummaryOf(g.Values.Matrix)
	var size int64
	if st, err := os.Stat(file); err == nil {
		size = st.Size()
	} else if file == "-" {
		size = int64(len(j.Kept))
	}
	out := []job.Field{
		{Key: "file", Label: "", Value: g.File}, {Key: "kind", Label: "kind", Value: g.Kind()}, {Key: "elements", Label: "elements", Value: g.Values.Kind}, {Key: "bytes", Label: "bytes", Value: size},
	}
	if g.Info.Layout != "" {
		out = append(out, job.Field{Key: "listed", Label: "entries in file", Value: g.Info.Entries})
	}
	density := 0.0
	if m > 0 && n > 0 {
		density = float64(g.Values.NVals()) / float64(m) / float64(n)
	}
	out = append(out, job.Field{Key: "format", Label: "kept as", Value: matrix.AnyOfInside(g.Values.Matrix).Format().String()}, job.Field{Key: "density", Label: "", Value: density}, job.Field{Key: "", Label: "density", Value: fmt.Sprintf("%.4g", density)})
	if s.Low != nil {
		values := fmt.Sprintf("%s to %s", job.Text(s.Low), job.Text(s.High))
		if s.Whole {
			values += ", integers"
		}
		out = append(out, job.Field{Key: "", Label: "values", Value: values}, job.Field{Key: "min", Label: "", Value: s.Low}, job.Field{Key: "max", Label: "", Value: s.High})
	}
	out = append(out, job.Field{Key: "zeros", Label: "explicit zeros", Value: s.Zeros})
	if !g.Bipartite {
		out = append(out, job.Field{Key: "diagonal", Label: "on the diagonal", Value: s.Diagonal})
	}
	return out
}

// machine prints the version, the platform and the devices.
func machine(j *job.Job) error {
	fields := []job.Field{
		{Key: "command", Label: "", Value: "info"},
		{Key: "version", Label: "version", Value: cli.Version()},
		{Key: "go", Label: "go", Value: runtime.Version()},
		{Key: "platform", Label: "platform", Value: runtime.GOOS + "/" + runtime.GOARCH},
		{Key: "threads", Label: "threads", Value: j.Run.Count()},
	}
	fields = append(fields, j.Machine.CudaFields()...)
	fields = append(fields, machineComm(j.Machine)...)
	fields = append(fields, job.Field{Key: "blas", Label: "BLAS", Value: blas.Name()})
	fields = append(fields,
		job.Field{Key: "", Label: "reads", Value: strings.Join(job.FormatNames(), " ") + "; see hiveblas help formats"},
		job.Field{Key: "", Label: "writes", Value: strings.Join(job.GraphFiles, " ")})
	if j.Run.Json {
		return j.PrintJSON(fields)
	}
	return printTable(j, fields)
}

// printTable prints the fields that have a label.
func printTable(j *job.Job, fields []job.Field) error {
	out := bufio.NewWriter(j.Stdout)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, f := range fields {
		if f.Label != "" {
			fmt.Fprintf(w, "%s\t%s\n", f.Label, job.Text(f.Value))
		}
	}
	w.Flush()
	return j.Printed(out.Flush())
}
