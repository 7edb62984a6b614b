package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/cli"
)

var npzLayouts = map[string]graphio.NPZLayout{"csr": graphio.NPZRows, "csc": graphio.NPZColumns, "coo": graphio.NPZCoordinates}

func convertCommand(s *job.Session) *cobra.Command {
	var symmetric bool
	var layout string
	cmd := &cobra.Command{
		Use:   "convert IN OUT",
		Short: "Rewrite a file in another format",
		Long: `convert reads a matrix and writes it in the format of --output-format or of the
extension of OUT: .tsv or .csv (vertices from 0, or their names), .mtx (Matrix
Market, from 1) or .hgb (the binary form, quickest to read), each also with .gz,
.npz (a sparse matrix of SciPy), .npy (a dense array of NumPy), .graph (METIS), .gr or
.col (DIMACS), .graphml or .gml. - is standard input or output. hiveblas help formats
lists what is read and written.

The elements stay as they are: patterns, integers of 64 bits, which are exact, or
real numbers. Entries are written one by one, whatever the symmetry of the input,
unless --symmetric writes one triangle.`,
		Example: `  hiveblas convert graph.mtx.gz graph.hgb
  hiveblas convert soc-network.txt.gz graph.mtx --ids renumber --undirected --symmetric
  hiveblas convert ratings.csv ratings.mtx.gz --bipartite --weight-column rating
  zcat trips.csv.gz | hiveblas convert - - --format csv --output-format mtx`,
		Args: cli.Positional("IN", "OUT"),
	}
	j := job.New(s, cmd).Reads().Bounded()
	j.Out.Kinds = job.GraphFiles
	j.AddOutputFormat()
	cmd.Flags().BoolVar(&symmetric, "symmetric", false, "write only the lower triangle of a symmetric matrix (.mtx)")
	cmd.Flags().StringVar(&layout, "layout", "csr", "layout `L` of .npz: csr, csc or coo")
	cli.Complete(cmd, "layout", "csr", "csc", "coo")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		inLayout, ok := npzLayouts[layout]
		if !ok {
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--layout is %q, want csr, csc or coo", layout))
		}
		j.Out.Path = args[1]
		if args[1] == "" {
			return cli.Usage(cmd.CommandPath(), "OUT is empty, want a file name")
		}
		if err := j.Begin(args[0]); err != nil {
			return err
		}
		if symmetric && j.Out.Kind != ".mtx" {
			return cli.Usage(cmd.CommandPath(), "--symmetric is for .mtx")
		}
		if err := j.LoadTyped(args[0]); err != nil {
			return err
		}
		if cmd.Flags().Changed("layout") && j.Out.Kind != ".npz" {
			return cli.Usage(cmd.CommandPath(), "--layout is for .npz")
		}
		if j.Out.Kind != ".hgb" { // with rows for the rows that have entries
			if err := j.Fits(); err != nil {
				return err
			}
		}
		more := []graphio.WriteOption{graphio.InLayout(inLayout)}
		if symmetric {
			more = append(more, graphio.AsSymmetric())
		}
		g := j.Graph
		if err := j.Writing(func() error {
			warnLost(j, g)
			return g.Values.Write(j, g.Rows, g.Cols, more...)
		}); err != nil {
			return err
		}
		return j.Report([]job.Field{{Key: "elements", Label: "elements", Value: g.Values.Kind}}, nil)
	}
	return cmd
}

// warnLost warns of what the output cannot tell: entries of value 0 in a dense .npy, vertices
// without edges in a list. A list without names implies the vertices before its last one.
func warnLost(j *job.Job, g *job.Graph) {
	file := j.Out.Path
	if j.Out.Stdout {
		file = "standard output"
	}
	warn := func(format string, args ...any) {
		j.Warn(graphio.Warning{File: file, Msg: fmt.Sprintf(format, args...)})
	}
	switch {
	case j.Out.Kind == ".npy":
		if zeros := job.SummaryOf(g.Values.Matrix).Zeros; zeros > 0 {
			warn("a .npy does not tell entries of value 0 from none; lost: %d", zeros)
		}
	case slices.Contains(job.ListFiles, j.Out.Kind):
		rows, cols := g.Values.Used()
		lost := 0
		if len(rows) == len(cols) {
			for v, used := range rows {
				cols[v] = cols[v] || used
			}
			lost = countUnused(cols, g.Cols != nil)
		} else {
			lost = countUnused(rows, g.Rows != nil) + countUnused(cols, g.Cols != nil)
		}
		if lost > 0 {
			warn("a list has no place for vertices without edges; left out: %d", lost)
		}
	}
}

// countUnused counts the vertices that are not used, without names only the ones after the last
// that is.
func countUnused(used []bool, named bool) (n int) {
	for v := len(used) - 1; v >= 0; v-- {
		switch {
		case !used[v]:
			n++
		case !named:
			return n
		}
	}
	return n
}
