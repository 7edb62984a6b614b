package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/matrix"
)

func vnCommand(s *session) *cobra.Command {
	var (
		list       string
		unit, rank bool
		top        int
		delta      float64
	)
	cmd := &cobra.Command{
		Use:   "vn GRAPH --seeds 0,3,5|FILE",
		Short: "Vertex nomination: the vertices nearest to a set of seeds",
		Long: `vn finds the distance of every vertex to the nearest seed, edges being followed
from row to column and weights added up (--unit counts edges instead). Vertices
that no seed reaches are left out.

Seeds are vertices from 0 with commas between, or a file with one or more on
each line, in which # and % begin comments. The summary lists the vertices
nearest to the seeds; -o writes all, by vertex, or by distance with --ranked.`,
		Example: `  hiveblas vn graph.mtx --seeds 0,3,5 -o distances.tsv
  hiveblas vn follows.txt.gz --seeds suspects.txt --unit --undirected --top 20
  hiveblas vn graph.mtx --seeds 7 --ranked -o ranking.tsv --json`,
		Args: positional("GRAPH"),
	}
	j := newJob(s, cmd).computes(worthPaths).reads().writes("the distances", matrixFiles...)
	cmd.Flags().StringVar(&list, "seeds", "", "the seeds: vertices with commas between, or a `FILE` of them")
	cmd.Flags().BoolVar(&unit, "unit", false, "count edges, whatever the weights")
	cmd.Flags().BoolVar(&rank, "ranked", false, "write by distance, nearest first, rather than by vertex (.tsv)")
	cmd.Flags().IntVar(&top, "top", 10, "`number` of nearest vertices to list")
	cmd.Flags().Float64Var(&delta, "delta", 0, "`width` of the distance buckets (default: from the weights)")

	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !cmd.Flags().Changed("seeds") {
			return &usageError{cmd.CommandPath(), "--seeds is missing"}
		}
		if err := checkTop(cmd, top); err != nil {
			return err
		}
		if err := checkDelta(cmd, delta); err != nil {
			return err
		}
		seeds, err := parseSeeds(cmd, list, j.read.ids == "renumber")
		if err != nil {
			return err
		}
		if err := j.begin(args[0]); err != nil {
			return err
		}
		if rank && j.out.path != "" && j.out.kind != ".tsv" {
			return &usageError{cmd.CommandPath(), "--ranked writes .tsv: other files are by vertex"}
		}
		if err := j.loadSquare(args[0], unit); err != nil {
			return err
		}
		sources, err := seeds.resolve(j.graph)
		if err != nil {
			return err
		}
		var dist *matrix.Vector[float64]
		err = j.compute(func(run apps.Run) (err error) {
			dist, err = apps.VertexNomination(j.graph.Matrix, sources, apps.VertexNominationOptions[float64]{Run: run, Unit: unit, Delta: delta})
			return home(err, dist)
		})
		if err != nil {
			return err
		}
		err = j.writing(func() error {
			if rank {
				return j.writeRanking(apps.Rank(dist))
			}
			return j.writeVector(dist)
		})
		if err != nil {
			return err
		}
		method := j.method(j.either("delta-stepping", ""))
		if unit {
			method = j.method("breadth-first search")
		}
		figures := append([]field{{"seeds", "seeds", len(sources)}}, distanceFigures(dist)...)
		return j.report(method, figures, j.nominated(dist, sources, top))
	}
	return cmd
}

func checkTop(cmd *cobra.Command, top int) error {
	if top < 0 {
		return &usageError{cmd.CommandPath(), fmt.Sprintf("--top is %d, want 0 or more", top)}
	}
	return nil
}

func checkDelta(cmd *cobra.Command, delta float64) error {
	if cmd.Flags().Changed("delta") && !(delta > 0) {
		return &usageError{cmd.CommandPath(), fmt.Sprintf("--delta is %v, want a positive width", delta)}
	}
	return nil
}

// nominated lists the vertices nearest to the seeds, which are left out.
func (j *job) nominated(dist *matrix.Vector[float64], seeds []int, top int) *ranking {
	if !j.listing() {
		return nil
	}
	list := slices.DeleteFunc(apps.Rank(dist), func(n apps.Nomination[float64]) bool {
		_, seed := slices.BinarySearch(seeds, n.Vertex)
		return seed
	})
	return j.list("nominated", "distance", list, top)
}

// list makes the first of a list of vertices a ranking for the report.
func (j *job) list(title, unit string, list []apps.Nomination[float64], top int) *ranking {
	r := &ranking{key: "top", title: title, unit: unit}
	for _, n := range list[:min(top, len(list))] {
		r.rows = append(r.rows, ranked{j.graph.name(n.Vertex), n.Distance})
	}
	return r
}

// distanceFigures are those of vn and sssp.
func distanceFigures(dist *matrix.Vector[float64]) []field {
	var farthest float64
	var sum total
	for _, d := range dist.All() {
		farthest = max(farthest, d)
		sum.add(d)
	}
	return []field{
		{"reached", "reached", dist.NVals()},
		{"max_distance", "max distance", farthest},
		{"sum_distance", "sum of distances", sum.value()},
	}
}

// writeRanking writes “vertex<TAB>distance”, nearest first.
func (j *job) writeRanking(list []apps.Nomination[float64]) error {
	return j.stream(func(w io.Writer) error {
		for _, n := range list {
			if _, err := fmt.Fprintf(w, "%s\t%s\n", j.graph.name(n.Vertex), text(n.Distance)); err != nil {
				return err
			}
		}
		return nil
	})
}

// seedList is the seeds as they were given, with where each stands.
type seedList struct {
	names, places []string
}

// parseSeeds reads the list of --seeds.
func parseSeeds(cmd *cobra.Command, list string, anyName bool) (*seedList, error) {
	return parseList(cmd, "--seeds", list, anyName)
}

// parseList reads a list with commas, or the file of that name. Names that are
// no numbers from 0 are refused, unless the graph may have others.
func parseList(cmd *cobra.Command, flag, list string, anyName bool) (*seedList, error) {
	s := &seedList{}
	if strings.TrimSpace(list) == "" {
		return nil, &usageError{cmd.CommandPath(), flag + " is empty, want at least one vertex"}
	}
	if strings.Contains(list, ",") || isNumber(list) {
		for name := range strings.SplitSeq(list, ",") {
			name = strings.TrimSpace(name)
			if v, err := strconv.Atoi(name); !anyName && (err != nil || v < 0) {
				return nil, &usageError{cmd.CommandPath(), fmt.Sprintf("%s: %q is no vertex, want numbers from 0 with commas between, or a file", flag, name)}
			}
			s.names, s.places = append(s.names, name), append(s.places, flag)
		}
		return s, nil
	}
	f, err := os.Open(list)
	if err != nil {
		var e error = &failure{flag + " " + list, "this is neither a list of vertices nor a file that can be read (" + reason(err) + ")",
			"give numbers from 0 with commas between, or the path of a file", err}
		return nil, e
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	for line := 1; sc.Scan(); line++ {
		text, _, _ := strings.Cut(sc.Text(), "#")
		text, _, _ = strings.Cut(text, "%")
		place := fmt.Sprintf("%s:%d", list, line)
		for _, name := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' || r == '\r' || r == '\ufeff' }) {
			if v, err := strconv.Atoi(name); !anyName && (err != nil || v < 0) {
				return nil, &failure{place, fmt.Sprintf("%q is no vertex", name), "give numbers from 0", nil}
			}
			s.names, s.places = append(s.names, name), append(s.places, place)
		}
	}
	if err := sc.Err(); err != nil {
		return nil, &failure{list, reason(err), "give a text file of vertices", err}
	}
	if len(s.names) == 0 {
		return nil, &failure{list, "the file holds no seeds", "write a vertex on each line", nil}
	}
	return s, nil
}

func isNumber(s string) bool {
	_, err := strconv.Atoi(strings.TrimSpace(s))
	return err == nil || errors.Is(err, strconv.ErrRange)
}

// reason is what an error of the system says, without the path.
func reason(err error) string {
	if e := errors.Unwrap(err); e != nil {
		return e.Error()
	}
	return err.Error()
}

// resolve returns the vertices, each once and in ascending order.
func (s *seedList) resolve(g *graph) ([]int, error) {
	vs := make([]int, len(s.names))
	for k, name := range s.names {
		v, err := g.vertex(s.places[k], name)
		if err != nil {
			return nil, err
		}
		vs[k] = v
	}
	slices.Sort(vs)
	return slices.Compact(vs), nil
}
