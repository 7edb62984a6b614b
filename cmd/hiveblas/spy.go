package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/charts"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/internal/chart"
	"github.com/hiveblas/hiveblas/internal/cli"
)

func spyCommand(s *job.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "spy GRAPH -o X.png",
		Short: "Draw the positions of the entries of a matrix",
		Long: `spy draws a matrix with a dot for each entry, row 0 at the top. A dot of a large
matrix covers several positions and is darker for more entries.`,
		Example: `  hiveblas spy graph.mtx.gz -o graph.png`,
		Args:    cli.Positional("GRAPH"),
	}
	j := job.New(s, cmd).Reads().Writes("the picture", job.Pictures...)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if j.Out.Path == "" {
			return cli.Usage(cmd.CommandPath(), "-o is missing, want a .png file")
		}
		if err := j.Begin(args[0]); err != nil {
			return err
		}
		if err := j.Load(args[0], job.Structure); err != nil {
			return err
		}
		var p *chart.Chart
		var width, height float64
		err := j.Compute(func(apps.Run) error {
			p, width, height = charts.SpyPlot(j.Graph.Matrix, charts.EntriesTitle(args[0], j.Graph.Matrix))
			return nil
		})
		if err != nil {
			return err
		}
		err = j.Writing(func() error {
			return j.Stream(func(w io.Writer) error { return p.WritePNG(w, width, height) })
		})
		if err != nil {
			return err
		}
		return j.Report(nil, nil)
	}
	return cmd
}
