package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

var npzLayouts = map[string]matrix.NPZLayout{"csr": matrix.NPZRows, "csc": matrix.NPZColumns, "coo": matrix.NPZCoordinates}

func convertCommand(s *session) *cobra.Command {
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
		Args: positional("IN", "OUT"),
	}
	j := newJob(s, cmd).reads()
	j.out.kinds = graphFiles
	j.addOutputFormat()
	cmd.Flags().BoolVar(&symmetric, "symmetric", false, "write only the lower triangle of a symmetric matrix (.mtx)")
	cmd.Flags().StringVar(&layout, "layout", "csr", "layout `L` of .npz: csr, csc or coo")
	complete(cmd, "layout", "csr", "csc", "coo")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		inLayout, ok := npzLayouts[layout]
		if !ok {
			return &usageError{cmd.CommandPath(), fmt.Sprintf("--layout is %q, want csr, csc or coo", layout)}
		}
		j.out.path = args[1]
		if args[1] == "" {
			return &usageError{cmd.CommandPath(), "OUT is empty, want a file name"}
		}
		if err := j.begin(args[0]); err != nil {
			return err
		}
		if symmetric && j.out.kind != ".mtx" {
			return &usageError{cmd.CommandPath(), "--symmetric is for .mtx"}
		}
		if err := j.loadTyped(args[0]); err != nil {
			return err
		}
		if cmd.Flags().Changed("layout") && j.out.kind != ".npz" {
			return &usageError{cmd.CommandPath(), "--layout is for .npz"}
		}
		more := []matrix.WriteOption{matrix.InLayout(inLayout)}
		if symmetric {
			more = append(more, matrix.AsSymmetric())
		}
		g := j.graph
		if err := j.writing(func() error {
			j.warnLost(g)
			return g.values.write(j, g.rows, g.cols, more...)
		}); err != nil {
			return err
		}
		return j.report("", []field{{"elements", "elements", g.values.kind()}}, nil)
	}
	return cmd
}

// warnLost warns of what the output cannot tell: entries of value 0 in a dense .npy, vertices without
// edges in a list. A list without names still tells of those before its last vertex.
func (j *job) warnLost(g *graph) {
	file := j.out.path
	if j.out.stdout {
		file = "standard output"
	}
	warn := func(format string, args ...any) {
		j.warn(matrix.Warning{File: file, Msg: fmt.Sprintf(format, args...)})
	}
	switch {
	case j.out.kind == ".npy":
		if zeros := g.values.summary().zeros; zeros > 0 {
			warn("a .npy does not tell entries of value 0 from none; lost: %d", zeros)
		}
	case slices.Contains(listFiles, j.out.kind):
		rows, cols := g.values.structures()
		lost := 0
		if rows.NRows == cols.NRows {
			lost = lone(g.cols != nil, rows, cols)
		} else {
			lost = lone(g.rows != nil, rows) + lone(g.cols != nil, cols)
		}
		if lost > 0 {
			warn("a list has no place for vertices without edges; left out: %d", lost)
		}
	}
}

// lone counts the rows that have entries in none of the structures, of those without names only the ones
// after the last that has any.
func lone(named bool, of ...*sparse.Structure) (n int) {
	sinceLast := 0
	for i := range of[0].NRows {
		if slices.ContainsFunc(of, func(s *sparse.Structure) bool { return s.Ptr[i] < s.Ptr[i+1] }) {
			sinceLast = 0
			continue
		}
		n++
		sinceLast++
	}
	if !named {
		return sinceLast
	}
	return n
}
