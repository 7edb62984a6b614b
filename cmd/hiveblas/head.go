package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/internal/cli"
)

func headCommand(s *session) *cobra.Command {
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
	j := newJob(s, cmd).reads().writes("the edges", listFiles...)
	cmd.Flags().IntVarP(&count, "count", "n", 10, "print `N` edges")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if count < 0 {
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf("--count is %d, want 0 or more", count))
		}
		if j.out.path == "" && !cmd.Flags().Changed("output") && !j.run.json {
			j.out.path = "-"
		}
		if err := j.begin(args[0]); err != nil {
			return err
		}
		if err := j.loadTyped(args[0]); err != nil {
			return err
		}
		kept, err := j.graph.values.only(firstOf(j.graph.values.NVals(), int64(count)))
		if err != nil {
			return err
		}
		if err := j.writing(func() error { return writeEntries(j, kept, nil) }); err != nil {
			return err
		}
		edges, err := edgeObjects(j, kept)
		if err != nil {
			return err
		}
		return j.report("", []field{{"shown", "shown", kept.NVals()}, {"edges", "", edges}}, nil)
	}
	return cmd
}

// edgeObjects returns the edges for JSON; one without a weight has no such field.
func edgeObjects(j *job, v *values) ([]object, error) {
	edges := make([]object, 0, v.NVals())
	err := v.entries(func(row, col int, value string) error {
		o := object{{"source", "", json.RawMessage(vertexJSON(j.graph.rows.Name(row)))}, {"target", "", json.RawMessage(vertexJSON(j.graph.cols.Name(col)))}}
		if json.Valid([]byte(value)) {
			o = append(o, field{"weight", "", json.RawMessage(value)})
		} else if value != "" { // NaN or an infinity
			o = append(o, field{"weight", "", nil})
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
// nil for that of rows.
func writeEntries(j *job, v *values, order []int64) error {
	var lines [][]string
	fields := func(row, col int, value string) []string {
		f := []string{j.graph.rows.Name(row), j.graph.cols.Name(col)}
		if value != "" {
			f = append(f, value)
		}
		return f
	}
	return j.writeLines(int(v.NVals()), func(line func(fields ...string) error) error {
		if order == nil {
			return v.entries(func(row, col int, value string) error { return line(fields(row, col, value)...) })
		}
		err := v.entries(func(row, col int, value string) error {
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

func sortCommand(s *session) *cobra.Command {
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
	j := newJob(s, cmd).reads().writes("the result", graphFiles...)
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
		case j.out.path == "":
			return bad("-o is missing")
		}
		if err := j.begin(args[0]); err != nil {
			return err
		}
		if by == "weight" && !slices.Contains(listFiles, j.out.kind) {
			return bad("--by weight writes .tsv or .csv; other formats are ordered by vertex")
		}
		if err := j.loadTyped(args[0]); err != nil {
			return err
		}
		if by == "weight" {
			var order []int64
			err := j.stage("sort", func() error {
				order = j.graph.values.byWeight(reverse, comparisons(j, j.graph.values.NVals()))
				return nil
			})
			if err != nil {
				return err
			}
			if err := j.writing(func() error { return writeEntries(j, j.graph.values, order) }); err != nil {
				return err
			}
			return j.report("", nil, nil)
		}
		if err := wantSquare(j); err != nil {
			return err
		}
		err := j.stage("sort", func() error {
			vs := vertexOrder(j, by, reverse)
			return take(j, vs, vs)
		})
		if err != nil {
			return err
		}
		if err := writeGraph(j); err != nil {
			return err
		}
		return j.report("", nil, nil)
	}
	return cmd
}

// comparisons returns a function that counts the comparisons of a sort of n items, and shows what
// share of the n·log₂ n that it takes is done.
func comparisons(j *job, n int64) func() {
	total, done := n*int64(bits.Len64(uint64(n))), int64(0)
	return func() {
		if done++; done&0xffff == 0 {
			j.progress.update("sort", min(done, total), total)
		}
	}
}

// vertexOrder returns the vertices by descending degree or by name.
func vertexOrder(j *job, by string, reverse bool) []int {
	n, _, _ := j.graph.size()
	vs := make([]int, n)
	for v := range vs {
		vs[v] = v
	}
	rows, cols := j.graph.values.structures()
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
func compareNames(j *job, a, b int) int {
	l := j.graph.cols
	if x, ok := l.ID(a); ok {
		y, _ := l.ID(b)
		return cmp.Compare(x, y)
	}
	if l == nil {
		return cmp.Compare(a, b)
	}
	return strings.Compare(l.Name(a), l.Name(b))
}
