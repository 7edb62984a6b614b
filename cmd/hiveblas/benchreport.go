package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/bench"
	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/atomicfile"
)

func benchReportCommand(s *session) *cobra.Command {
	var o bench.ReportOptions
	var run runFlags
	var dir, file string
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
  ` + strings.Join(bench.ReportCases(), "\n  "),
		Example: `  hiveblas bench report --quick --device cpu --dir /tmp/report
  hiveblas bench report --only projection,chunked --device gpu --rounds 7`,
		Args: positional(),
	}
	fs := cmd.Flags()
	fs.StringVar(&dir, "dir", filepath.Join("bench", "results"), "folder `DIR` for REPORT.md and the plots")
	fs.StringSliceVar(&o.Only, "only", nil, "only rows whose name contains one of `NAMES`")
	fs.IntVar(&o.Rounds, "rounds", 5, "measure `N` rounds, fewer in long rows")
	fs.IntVar(&o.MostScale, "most-scale", 20, "measure the growth of cost up to 2^`N` vertices, 14 to 24")
	fs.BoolVar(&o.Quick, "quick", false, "inputs 16 times smaller, to test that all rows run")
	fs.BoolVar(&o.NoPeers, "no-peers", false, "measure hiveblas alone")
	fs.IntVar(&run.threads, "threads", 0, "use `N` threads (0: one per core)")
	fs.StringVar(&run.device, "device", "auto", "compute on `D`: auto, cpu, gpu or gpu:N")
	fs.StringVar(&file, "json", "", "also write the figures to `FILE` as JSON")
	fs.BoolVar(&run.quiet, "quiet", false, "print no progress")
	complete(cmd, "device", "auto", "cpu", "gpu")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := run.check(cmd); err != nil {
			return err
		}
		gpu, err := parseDevice(cmd, run.device)
		switch {
		case err != nil:
			return err
		case o.Rounds < 1:
			return wantRounds(cmd, o.Rounds)
		case o.MostScale < 14 || o.MostScale > 24:
			return &usageError{cmd.CommandPath(), fmt.Sprintf("--most-scale is %d, want 14 to 24", o.MostScale)}
		}
		for _, name := range o.Only {
			if !slices.ContainsFunc(bench.ReportCases(), func(c string) bool { return strings.Contains(c, name) }) {
				return &usageError{cmd.CommandPath(), fmt.Sprintf("--only is %q, which is not part of the name of a row", name)}
			}
		}
		o.Threads, o.NoHost, o.Demand = run.threads, gpu >= 0, gpu >= 0
		if run.device != "cpu" {
			o.Open = func() (*cusparse.Device, driver.Driver, error) {
				dev, d, err := bench.OpenGPU(max(gpu, 0))
				if err != nil && o.Demand {
					err = &failure{"--device " + run.device, err.Error(), "--device cpu measures the host alone", err}
				}
				return dev, d, err
			}
		}
		if self, err := os.Executable(); err == nil {
			o.Self = []string{self}
		}
		o.Log = s.log(run.quiet)
		s.cleaning.Store(true) // an interrupted run writes its measurements
		defer s.cleaning.Store(false)
		report, err := bench.NewReport(s.ctx, o)
		if report == nil {
			return err
		}
		return errors.Join(err, writeReport(s, report, dir, file))
	}
	return cmd
}

// writeReport writes the pictures, REPORT.md and, if a file is named, the figures,
// also of an interrupted run.
func writeReport(s *session, r *bench.Report, dir, file string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return explain(dir, err)
	}
	write := func(path string, fn func(io.Writer) error) error {
		if err := atomicfile.WriteFile(context.WithoutCancel(s.ctx), path, fn); err != nil {
			return explain(path, err)
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
		_, err = fmt.Fprintf(s.stdout, "written %s, %d plots\n", text, len(plots))
	}
	return err
}
