package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/internal/blas"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/matrix"
)

func infoCommand(s *session) *cobra.Command {
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
	j := newJob(s, cmd).reads()
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return cli.Positional("GRAPH")(cmd, args)
		}
		if err := j.begin(args...); err != nil {
			return err
		}
		if len(args) == 0 {
			return machine(j)
		}
		if err := j.loadTyped(args[0]); err != nil {
			return err
		}
		return j.report("", describe(j, args[0]), nil)
	}
	return cmd
}

// describe returns the figures of a file.
func describe(j *job, file string) []field {
	g := j.graph
	m, n := g.values.Dims()
	s := summaryOf(g.values.Matrix)
	var size int64
	if st, err := os.Stat(file); err == nil {
		size = st.Size()
	} else if file == "-" {
		size = int64(len(j.kept))
	}
	out := []field{
		{"file", "", g.file}, {"kind", "kind", g.kind()}, {"elements", "elements", g.values.kind}, {"bytes", "bytes", size},
	}
	if g.info.Layout != "" {
		out = append(out, field{"listed", "entries in file", g.info.Entries})
	}
	density := 0.0
	if m > 0 && n > 0 {
		density = float64(g.values.NVals()) / float64(m) / float64(n)
	}
	out = append(out, field{"format", "kept as", matrix.AnyOfInside(g.values.Matrix).Format().String()}, field{"density", "", density}, field{"", "density", fmt.Sprintf("%.4g", density)})
	if s.low != nil {
		values := fmt.Sprintf("%s to %s", text(s.low), text(s.high))
		if s.whole {
			values += ", integers"
		}
		out = append(out, field{"", "values", values}, field{"min", "", s.low}, field{"max", "", s.high})
	}
	out = append(out, field{"zeros", "explicit zeros", s.zeros})
	if !g.bipartite {
		out = append(out, field{"diagonal", "on the diagonal", s.diagonal})
	}
	return out
}

// machine prints the version, the platform and the devices.
func machine(j *job) error {
	fields := []field{
		{"command", "", "info"},
		{"version", "version", cli.Version()},
		{"go", "go", runtime.Version()},
		{"platform", "platform", runtime.GOOS + "/" + runtime.GOARCH},
		{"threads", "threads", j.run.count()},
	}
	fields = append(fields, cudaFields()...)
	fields = append(fields, machineComm()...)
	fields = append(fields, field{"blas", "BLAS", blas.Name()})
	fields = append(fields,
		field{"", "reads", strings.Join(formatNames(), " ") + "; see hiveblas help formats"},
		field{"", "writes", strings.Join(graphFiles, " ")})
	if j.run.json {
		return j.printJSON(fields)
	}
	return printTable(j, fields)
}

// printTable prints the fields that have a label.
func printTable(j *job, fields []field) error {
	out := bufio.NewWriter(j.Stdout)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, f := range fields {
		if f.label != "" {
			fmt.Fprintf(w, "%s\t%s\n", f.label, text(f.value))
		}
	}
	w.Flush()
	return j.printed(out.Flush())
}
