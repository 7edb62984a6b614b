package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/internal/cli"
)

func headCommand(s *job.Session) *cobra.Command {
	var count int
	cmd := &cobra.Command{
		Use:   "head GRAPH",
		Short: "Print the first edges of a graph of any format",
		Long: `head prints the first edges of a graph, in the order of its vertices, with their names
and weights; --json has them as edges. It reads the whole file.`,
		Example: `  hiveblas head graph.hgb
  hiveblas head soc.graphml --count 3`,
		Args: cli.Positional("GRAPH"),
	}
	j := job.New(s, cmd).Reads().Writes("the edges", job.ListFiles...)
	cmd.Flags().IntVarP(&count, "count", "n", 10, "print `N` edges")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if count < 0 {
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--count is %d, want 0 or more", count))
		}
		if j.Out.Path == "" && !cmd.Flags().Changed("output") && !j.Run.Json {
			j.Out.Path = "-"
		}
		if err := j.Begin(args[0]); err != nil {
			return err
		}
		if err := j.LoadTyped(args[0]); err != nil {
			return err
		}
		kept, err := j.Graph.Values.Only(firstOf(j.Graph.Values.NVals(), int64(count)))
		if err != nil {
			return err
		}
		if err := j.Writing(func() error { return writeEntries(j, kept, nil) }); err != nil {
			return err
		}
		edges, err := edgeObjects(j, kept)
		if err != nil {
			return err
		}
		return j.Report([]job.Field{{Key: "shown", Label: "shown", Value: kept.NVals()}, {Key: "edges", Label: "", Value: edges}}, nil)
	}
	return cmd
}

// edgeObjects returns the edges for JSON; one without a weight has no such field.
func edgeObjects(j *job.Job, v *job.Values) ([]job.Object, error) {
	edges := make([]job.Object, 0, v.NVals())
	err := v.Entries(func(row, col int, value string) error {
		o := job.Object{{Key: "source", Label: "", Value: json.RawMessage(job.VertexJSON(j.Graph.Rows.Name(row)))}, {Key: "target", Label: "", Value: json.RawMessage(job.VertexJSON(j.Graph.Cols.Name(col)))}}
		if json.Valid([]byte(value)) {
			o = append(o, job.Field{Key: "weight", Label: "", Value: json.RawMessage(value)})
		} else if value != "" { // NaN or an infinity
			o = append(o, job.Field{Key: "weight", Label: "", Value: nil})
		}
		edges = append(edges, o)
		return nil
	})
	return edges, err
}

// firstOf returns the places 0 … count−1 of n.
func firstOf(n, count int64) []int64 {
	places := make([]int64, min(n, count))
	for k := range places {
		places[k] = int64(k)
	}
	return places
}

// writeEntries writes lines of row, column and value, in the given order of the places of entries,
// nil for the order of rows.
func writeEntries(j *job.Job, v *job.Values, order []int64) error {
	var lines [][]string
	fields := func(row, col int, value string) []string {
		f := []string{j.Graph.Rows.Name(row), j.Graph.Cols.Name(col)}
		if value != "" {
			f = append(f, value)
		}
		return f
	}
	return j.WriteLines(int(v.NVals()), func(line func(fields ...string) error) error {
		if order == nil {
			return v.Entries(func(row, col int, value string) error { return line(fields(row, col, value)...) })
		}
		err := v.Entries(func(row, col int, value string) error {
			lines = append(lines, fields(row, col, value))
			return nil
		})
		for _, p := range order {
			if err == nil {
				err = line(lines[p]...)
			}
		}
		return err
	})
}

func sortCommand(s *job.Session) *cobra.Command {
	var (
		by      string
		reverse bool
	)
	cmd := &cobra.Command{
		Use:   "sort GRAPH -o FILE",
		Short: "Order the edges by weight, or renumber the vertices by degree or name",
		Long: `sort writes the edges in the order of their weights (--by weight, .tsv or .csv), or the
graph with its vertices renumbered by their number of edges, the largest first (--by
degree), or by their names (--by name). Vertices keep their names, and numbers become
names. Ties have the order of the input.`,
		Example: `  hiveblas sort trips.tsv --by weight --reverse -o longest.tsv
  hiveblas sort soc.hgb --by degree -o by-degree.hgb`,
		Args: cli.Positional("GRAPH"),
	}
	j := job.New(s, cmd).Reads().Writes("the result", job.GraphFiles...)
	cmd.Flags().StringVar(&by, "by", "weight", "order by `KEY`: weight, degree or name")
	cmd.Flags().BoolVar(&reverse, "reverse", false, "the other way round")
	cli.Complete(cmd, "by", "weight", "degree", "name")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		bad := func(format string, args ...any) error {
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf(format, args...))
		}
		switch {
		case by != "weight" && by != "degree" && by != "name":
			return bad("--by is %q, want weight, degree or name", by)
		case j.Out.Path == "":
			return bad("-o is missing")
		}
		if err := j.Begin(args[0]); err != nil {
			return err
		}
		if by == "weight" && !slices.Contains(job.ListFiles, j.Out.Kind) {
			return bad("--by weight writes .tsv or .csv; other formats are ordered by vertex")
		}
		if err := j.LoadTyped(args[0]); err != nil {
			return err
		}
		if by == "weight" {
			var order []int64
			err := j.Stage("sort", func() error {
				order = j.Graph.Values.ByWeight(reverse, comparisons(j, j.Graph.Values.NVals()))
				return nil
			})
			if err != nil {
				return err
			}
			if err := j.Writing(func() error { return writeEntries(j, j.Graph.Values, order) }); err != nil {
				return err
			}
			return j.Report(nil, nil)
		}
		if err := job.WantSquare(j); err != nil {
			return err
		}
		err := j.Stage("sort", func() error {
			vs := vertexOrder(j, by, reverse)
			return takeSubgraph(j, vs, vs)
		})
		if err != nil {
			return err
		}
		if err := writeGraph(j); err != nil {
			return err
		}
		return j.Report(nil, nil)
	}
	return cmd
}

// comparisons returns a function that counts the comparisons of a sort of n items, and shows what
// share of the n·log₂ n that it takes is done.
func comparisons(j *job.Job, n int64) func() {
	total, done := n*int64(bits.Len64(uint64(n))), int64(0)
	return func() {
		if done++; done&0xffff == 0 {
			j.Progress.Update("sort", min(done, total), total)
		}
	}
}

// vertexOrder returns the vertices by descending degree or by name.
func vertexOrder(j *job.Job, by string, reverse bool) []int {
	n, _, _ := j.Graph.Size()
	vs := make([]int, n)
	for v := range vs {
		vs[v] = v
	}
	rows, cols := j.Graph.Values.Structures()
	degree := func(v int) int64 { return rows.Ptr[v+1] - rows.Ptr[v] + cols.Ptr[v+1] - cols.Ptr[v] }
	sign := 1
	if reverse {
		sign = -1
	}
	compared := comparisons(j, int64(n))
	slices.SortStableFunc(vs, func(a, b int) int {
		compared()
		if by == "degree" {
			return sign * cmp.Compare(degree(b), degree(a))
		}
		return sign * compareNames(j, a, b)
	})
	return vs
}

// compareNames compares names: integers by value, others by bytes.
func compareNames(j *job.Job, a, b int) int {
	l := j.Graph.Cols
	if x, ok := l.ID(a); ok {
		y, _ := l.ID(b)
		return cmp.Compare(x, y)
	}
	if l == nil {
		return cmp.Compare(a, b)
	}
	return strings.Compare(l.Name(a), l.Name(b))
}
