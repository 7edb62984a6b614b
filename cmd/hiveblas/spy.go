package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/internal/chart"
	"github.com/hiveblas/hiveblas/internal/cli"
)

func spyCommand(s *session) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "spy GRAPH -o X.png",
		Short: "Draw the positions of the entries of a matrix",
		Long: `spy draws a matrix with a dot for each entry, row 0 at the top. A dot of a large
matrix covers several positions and is darker for more entries.`,
		Example: `  hiveblas spy graph.mtx.gz -o graph.png`,
		Args:    cli.Positional("GRAPH"),
	}
	j := newJob(s, cmd).reads().writes("the picture", pictures...)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if j.out.path == "" {
			return cli.Usage(cmd.CommandPath(), "-o is missing, want a .png file")
		}
		if err := j.begin(args[0]); err != nil {
			return err
		}
		if err := j.load(args[0], structure); err != nil {
			return err
		}
		var p *chart.Chart
		var width, height float64
		err := j.compute(func(apps.Run) error {
			p, width, height = spyPlot(j.graph.Matrix, entriesTitle(args[0], j.graph.Matrix))
			return nil
		})
		if err != nil {
			return err
		}
		err = j.writing(func() error {
			return j.stream(func(w io.Writer) error { return p.WritePNG(w, width, height) })
		})
		if err != nil {
			return err
		}
		return j.report("", nil, nil)
	}
	return cmd
}
