package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/bench/gpu"
	"github.com/hiveblas/hiveblas/bench/report"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/atomicfile"
	"github.com/hiveblas/hiveblas/internal/cli"
)

func reportCommand(s *cli.Session) *cobra.Command {
	var o report.Options
	var dir, device, file string
	var quiet bool
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Measure the tables of the HIVE report and write REPORT.md with plots",
		Long: `report measures the workflows of Gunrock's HIVE report (2018) on generated data of
the same shape, compared with its printed figures, SciPy, SuiteSparse, NetworkX and
cuSPARSE; products larger than memory; and the growth of cost with size. It writes
REPORT.md and pictures to a folder and marks missing figures. An interrupted run
writes its measurements.

--device auto measures the host and the first GPU, if there is one; cpu measures
the host alone, gpu or gpu:N that GPU alone.

The rows for --only:
  ` + strings.Join(report.Cases(), "\n  "),
		Example: `  hiveblas-bench report --quick --device cpu --dir /tmp/report
  hiveblas-bench report --only projection,chunked --device gpu --rounds 7`,
		Args: cli.Positional(),
	}
	fs := cmd.Flags()
	fs.StringVar(&dir, "dir", filepath.Join("bench", "results"), "folder `DIR` for REPORT.md and the plots")
	fs.StringSliceVar(&o.Only, "only", nil, "only rows whose name contains one of `NAMES`")
	fs.IntVar(&o.Rounds, "rounds", 5, "measure `N` rounds, fewer in long rows")
	fs.IntVar(&o.MostScale, "most-scale", 20, "measure the growth of cost up to 2^`N` vertices, 14 to 24")
	fs.BoolVar(&o.Quick, "quick", false, "inputs 16 times smaller, to test that all rows run")
	fs.BoolVar(&o.NoPeers, "no-peers", false, "measure hiveblas alone")
	fs.IntVar(&o.Threads, "threads", 0, "use `N` threads (0: one per core)")
	fs.StringVar(&device, "device", "auto", "compute on `D`: auto, cpu, gpu or gpu:N")
	fs.StringVar(&file, "json", "", "also write the figures to `FILE` as JSON")
	fs.BoolVar(&quiet, "quiet", false, "print no progress")
	cli.Complete(cmd, "device", "auto", "cpu", "gpu")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := cli.CheckThreads(cmd, o.Threads); err != nil {
			return err
		}
		number, err := cli.ParseDevice(cmd, device, "auto, cpu, gpu or gpu:N")
		switch {
		case err != nil:
			return err
		case o.Rounds < 1:
			return cli.WantRounds(cmd, o.Rounds)
		case o.MostScale < 14 || o.MostScale > 24:
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--most-scale is %d, want 14 to 24", o.MostScale))
		}
		for _, name := range o.Only {
			if !slices.ContainsFunc(report.Cases(), func(c string) bool { return strings.Contains(c, name) }) {
				return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--only is %q, which is not part of the name of a row", name))
			}
		}
		o.NoHost, o.Demand = number >= 0, number >= 0
		if device != "cpu" {
			o.Open = func() (*cusparse.Device, driver.Driver, error) {
				dev, d, err := gpu.Open(max(number, 0))
				if err != nil && o.Demand {
					err = cli.Fail("--device "+device, err.Error(), "--device cpu measures the host alone", err)
				}
				return dev, d, err
			}
		}
		if self, err := os.Executable(); err == nil {
			o.Self = []string{self}
		}
		o.Log = logTo(s, quiet)
		s.Cleaning.Store(true) // an interrupted run writes its measurements
		defer s.Cleaning.Store(false)
		r, err := report.New(s.Ctx, o)
		if r == nil {
			return err
		}
		return errors.Join(err, writeReport(s, r, dir, file))
	}
	return cmd
}

// projectCommand runs in a new process of report.
func projectCommand(s *cli.Session) *cobra.Command {
	var o report.ProjectOptions
	var host cli.ByteSize
	cmd := &cobra.Command{
		Use:    "project IN OUT",
		Short:  "Connect the columns of a graph that share rows, from file to file",
		Hidden: true,
		Args:   cli.Positional("IN", "OUT"),
	}
	cmd.Flags().IntVar(&o.Threads, "threads", 0, "use `N` threads (0: one per core)")
	cmd.Flags().Var(&host, "host-memory", "compute block by block within this much host memory")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := cli.CheckThreads(cmd, o.Threads); err != nil {
			return err
		}
		o.In, o.Out, o.HostMemory = args[0], args[1], uint64(host)
		s.Cleaning.Store(true) // the output is a temporary file
		defer s.Cleaning.Store(false)
		p, err := report.Project(s.Ctx, o)
		if err != nil {
			return err
		}
		return json.NewEncoder(s.Stdout).Encode(p)
	}
	return cmd
}

// writeReport writes the pictures, REPORT.md and, if a file is named, the figures,
// also of an interrupted run.
func writeReport(s *cli.Session, r *report.Report, dir, file string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return cli.ExplainPath(dir, err)
	}
	write := func(path string, fn func(io.Writer) error) error {
		if err := atomicfile.WriteFile(context.WithoutCancel(s.Ctx), path, fn); err != nil {
			return cli.ExplainPath(path, err)
		}
		return nil
	}
	plots, err := r.Plots()
	for _, p := range plots {
		err = errors.Join(err, write(filepath.Join(dir, p.File), p.WritePNG))
	}
	text := filepath.Join(dir, "REPORT.md")
	err = errors.Join(err, write(text, func(w io.Writer) error { return r.WriteMarkdown(w, plots) }))
	if file != "" {
		err = errors.Join(err, write(file, r.WriteJSON))
	}
	if err == nil {
		_, err = fmt.Fprintf(s.Stdout, "written %s, %d plots\n", text, len(plots))
	}
	return err
}
