package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

func extractCommand(s *job.Session) *cobra.Command {
	var (
		component, ego, list string
		largest              bool
		hops                 int
	)
	cmd := &cobra.Command{
		Use:   "extract GRAPH -o FILE",
		Short: "Cut a part out of a graph: a component, the surroundings of a vertex, or a list",
		Long: `extract writes the edges among some vertices: those of the weak component of a vertex
(--component) or of the largest one (--largest), those within --hops edges of a vertex
(--ego), or those of a list (--vertices). The vertices keep their names, and numbers
become names; with --vertex-numbers they count from 0 again.`,
		Example: `  hiveblas extract graph.mtx --largest -o core.hgb
  hiveblas extract soc.hgb --ego alice --hops 2 -o around.tsv
  hiveblas extract graph.tsv --vertices mine.txt -o mine.tsv`,
		Args: cli.Positional("GRAPH"),
	}
	j := job.New(s, cmd).Reads().Bounded().Writes("the part", job.GraphFiles...)
	fs := cmd.Flags()
	fs.StringVar(&component, "component", "", "the weak component of vertex `V`")
	fs.BoolVar(&largest, "largest", false, "the largest weak component")
	fs.StringVar(&ego, "ego", "", "the vertices that `V` reaches within --hops edges")
	fs.IntVar(&hops, "hops", 1, "follow at most `K` edges from --ego")
	fs.StringVar(&list, "vertices", "", "the vertices of `LIST`, separated by commas, or of a file")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		bad := func(format string, args ...any) error {
			return cli.Usage(cmd.CommandPath(), fmt.Sprintf(format, args...))
		}
		given := 0
		for _, name := range []string{"component", "largest", "ego", "vertices"} {
			if cmd.Flags().Changed(name) {
				given++
			}
		}
		switch {
		case given != 1:
			return bad("give one of --component, --largest, --ego and --vertices")
		case cmd.Flags().Changed("hops") && ego == "":
			return bad("--hops needs --ego")
		case hops < 0:
			return bad("--hops is %d, want 0 or more", hops)
		case j.Out.Path == "":
			return bad("-o is missing")
		}
		if err := j.Begin(args[0]); err != nil {
			return err
		}
		if err := j.LoadTyped(args[0]); err != nil {
			return err
		}
		if err := job.WantSquare(j); err != nil {
			return err
		}
		if err := j.Fits(); err != nil {
			return err
		}
		of, _, before := j.Graph.Size()
		var vs []int
		err := j.Stage("compute", func() (err error) {
			rows, cols := j.Graph.Values.Structures()
			switch {
			case largest:
				vs = largestComponent(rows, cols)
			case component != "":
				v, err := j.Graph.Vertex("--component", component)
				if err != nil {
					return err
				}
				vs = withinHops(v, -1, rows, cols)
			case ego != "":
				v, err := j.Graph.Vertex("--ego", ego)
				if err != nil {
					return err
				}
				vs = withinHops(v, hops, rows)
			default:
				if vs, err = j.Vertices("--vertices", list); err != nil {
					return err
				}
			}
			return takeSubgraph(j, vs, vs)
		})
		if err != nil {
			return err
		}
		if err := writeGraph(j); err != nil {
			return err
		}
		return j.Report([]job.Field{{Key: "of_vertices", Label: "of vertices", Value: of}, {Key: "of_entries", Label: "of entries", Value: before}}, nil)
	}
	return cmd
}

// withinHops returns, in ascending order, the vertices that v reaches by at most hops edges of the
// given structures; −1 is any number.
func withinHops(v, hops int, edges ...*sparse.Structure) []int {
	seen := make([]bool, edges[0].NRows)
	seen[v] = true
	reached := []int{v}
	for lo := 0; lo < len(reached) && hops != 0; hops-- {
		hi := len(reached)
		for _, u := range reached[lo:hi] {
			for _, s := range edges {
				for _, w := range s.Idx[s.Ptr[u]:s.Ptr[u+1]] {
					if !seen[w] {
						seen[w] = true
						reached = append(reached, int(w))
					}
				}
			}
		}
		lo = hi
	}
	slices.Sort(reached)
	return reached
}

// largestComponent returns the vertices of the largest weak component, of several the one with the
// smallest vertex.
func largestComponent(rows, cols *sparse.Structure) (best []int) {
	seen := make([]bool, rows.NRows)
	for v := range rows.NRows {
		if seen[v] {
			continue
		}
		seen[v] = true
		reached := []int{v}
		for k := 0; k < len(reached); k++ {
			for _, s := range []*sparse.Structure{rows, cols} {
				for _, w := range s.Idx[s.Ptr[reached[k]]:s.Ptr[reached[k]+1]] {
					if !seen[w] {
						seen[w] = true
						reached = append(reached, int(w))
					}
				}
			}
		}
		if len(reached) > len(best) {
			best = reached
		}
	}
	slices.Sort(best)
	return best
}
