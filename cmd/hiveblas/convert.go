package main

import (
	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

func convertCommand(s *session) *cobra.Command {
	var symmetric bool
	cmd := &cobra.Command{
		Use:   "convert IN OUT",
		Short: "Rewrite a file in another format",
		Long: `convert reads a matrix and writes it in the format that the extension of OUT
tells: .tsv (vertices from 0), .mtx (Matrix Market, from 1) or .hgb (the binary
form, quickest to read), each also with .gz. Integers stay integers and patterns
patterns. Entries are written one by one, whatever the symmetry of the input,
unless --symmetric writes one triangle.`,
		Example: `  hiveblas convert graph.mtx.gz graph.hgb
  hiveblas convert soc-network.txt.gz graph.mtx --ids renumber --undirected --symmetric
  hiveblas convert ratings.csv ratings.mtx.gz --bipartite --skip-lines 1 --weight-column 3`,
		Args: positional("IN", "OUT"),
	}
	j := newJob(s, cmd).reads()
	j.out.kinds = matrixFiles
	cmd.Flags().BoolVar(&symmetric, "symmetric", false, "write only the lower triangle of a symmetric matrix (.mtx)")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
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
		if err := j.load(args[0], weighted); err != nil {
			return err
		}
		var more []matrix.WriteOption
		if symmetric {
			more = append(more, matrix.AsSymmetric())
		}
		if err := j.writing(func() error { return j.rewrite(j.graph.elements(), more) }); err != nil {
			return err
		}
		return j.report("", []field{{"elements", "elements", j.graph.elements()}}, nil)
	}
	return cmd
}

// rewrite writes the graph with the given kind of elements.
func (j *job) rewrite(elements string, more []matrix.WriteOption) error {
	g := j.graph
	m, n := g.Dims()
	with := ops.WithOptions(ops.WithContext(j.ctx), ops.WithThreads(j.run.threads))
	switch {
	case elements == "real":
		return writeMatrixAs(j, g.Matrix, g.rows, g.cols, more...)
	case elements == "pattern" && j.out.kind != ".tsv": // a .tsv has a value on each line
		c := matrix.New[bool](m, n)
		if err := ops.Apply(c, semiring.OneOp[float64, bool](), g.Matrix, with); err != nil {
			return err
		}
		return writeMatrixAs(j, c, g.rows, g.cols, more...)
	}
	c := matrix.New[int64](m, n)
	if err := ops.Apply(c, semiring.Convert[float64, int64](), g.Matrix, with); err != nil {
		return err
	}
	return writeMatrixAs(j, c, g.rows, g.cols, more...)
}

// elements tells what the file of the graph holds: real, integer or pattern.
// Of an edge list the values decide.
func (g *graph) elements() string {
	if g.info.Layout != "" {
		return g.info.Field
	}
	if head := binaryHead(g.file); head != nil {
		switch kind := head[binaryElement]; {
		case kind == 1:
			return "pattern"
		case kind < 10:
			return "integer"
		}
		return "real"
	}
	kind := "pattern"
	for _, x := range g.All() {
		if !isInteger(x) {
			return "real"
		}
		if x != 1 {
			kind = "integer"
		}
	}
	return kind
}
