package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/charts"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/page"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

func lookCommand(s *job.Session) *cobra.Command {
	top := 0
	cmd := &cobra.Command{
		Use:   "look GRAPH -o X.html",
		Short: "A first look at a graph: one page to read, keep or print",
		Long: `look writes one self-contained page about a graph: sizes, degrees, the positions of
the entries, components, core numbers, communities and how they connect, and the
vertices of the highest PageRank with their names, with warnings and the command
that gives each figure. The page loads nothing from elsewhere.

A matrix that is not square, and a list read with --bipartite, has sizes, degrees and
positions only. Repeated entries are a warning, and the first counts, unless
--duplicates says otherwise.`,
		Example: `  hiveblas look graph.mtx.gz -o graph.html
  hiveblas look follows.txt --ids renumber -o follows.html`,
		Args: cli.Positional("GRAPH"),
	}
	j := job.New(s, cmd).Reads().Writes("the page", ".html")
	cmd.Flags().IntVar(&top, "top", 10, "list the `N` vertices of the highest PageRank")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if j.Out.Path == "" {
			return cli.Usage(cmd.CommandPath(), "-o is missing, want a .html file")
		}
		if err := checkTop(cmd, top); err != nil {
			return err
		}
		if err := j.Begin(args[0]); err != nil {
			return err
		}
		l := &look{Job: j, arg: args[0], top: top}
		if err := l.load(); err != nil {
			return err
		}
		err := j.Compute(func(run apps.Run) error {
			run.Method = apps.Auto
			return l.measure(run)
		})
		if err != nil {
			return err
		}
		err = j.Writing(func() error {
			return j.Stream(func(w io.Writer) error { return l.page().Write(w) })
		})
		if err != nil {
			return err
		}
		return j.Report(l.figures(), nil)
	}
	return cmd
}

// look is the contents of the page.
type look struct {
	*job.Job
	arg      string
	top      int
	warnings []string

	square, symmetric bool
	loops, isolated   int64
	out, in           job.Degrees
	spy               *charts.Bins
	parts             *apps.Components
	cores             *apps.Cores
	coreSizes         []int64 // vertices of each core number
	communities       *apps.CommunitiesResult
	unweighted        bool        // communities ignore values
	groups            []int64     // vertices of the largest communities
	links             [][]float64 // weight of the edges among them
	ranks             *job.Ranking
}

// largestGroups bounds the communities with drawn connections.
const largestGroups = 12

// load reads the graph, and again without repeated entries, or without values that are not finite,
// if there are any.
func (l *look) load() error {
	what := job.Weighted // then structure
	err := l.Job.Load(l.arg, what)
	for err != nil && l.arg != "-" {
		var value *graphio.ParseError
		switch {
		case errors.Is(err, matrix.ErrDuplicate) && !l.Cmd.Flags().Changed("duplicates") && l.Read.Duplicates != "first":
			l.warnings = append(l.warnings, "Entries are given more than once; the first of each counts here. Other commands want --duplicates.")
			l.Read.Duplicates = "first"
		case what == job.Weighted && errors.As(err, &value) && value.Kind == graphio.RemedyAllowNaN:
			where := ""
			if value.Line > 0 {
				where = fmt.Sprintf("In line %d ", value.Line)
			}
			l.warnings = append(l.warnings, fmt.Sprintf("%s%s: the page is about the structure alone. Other commands want --weight-column 0 or finite weights.", where, value.Msg))
			what = job.Structure
		default:
			return err
		}
		err = l.Job.Load(l.arg, what)
	}
	for _, w := range l.Warned {
		l.warnings = append(l.warnings, w.Msg+".")
	}
	return err
}

// measure computes the figures.
func (l *look) measure(run apps.Run) error {
	a := l.Graph.Matrix
	m, n := a.Dims()
	l.square = m == n && !l.Graph.Bipartite
	l.spy = charts.Binned(a, charts.LookBins, job.Structure)
	ptr, idx, val, err := a.CSR()
	if err != nil {
		return err
	}
	into := make([]int64, n+1)
	for i := range m {
		for _, j := range idx[ptr[i]:ptr[i+1]] {
			into[j+1]++
			if int(j) == i {
				l.loops++
			}
		}
	}
	degree := into
	if l.square {
		degree = make([]int64, n)
		for v := range n {
			degree[v] = ptr[v+1] - ptr[v] + into[v+1]
			if degree[v] == 0 {
				l.isolated++
			}
		}
	}
	if len(l.Warned) == 0 && l.square && n > 1 && degree[0] == 0 && degree[n-1] > 0 && l.Graph.Cols == nil {
		l.warnings = append(l.warnings, "Vertex 0 has no edge and the last one has: the ids may count from 1.")
	}
	for j := range n {
		into[j+1] += into[j]
	}
	l.out, l.in = job.DegreesOf(ptr, m, m), job.DegreesOf(into, n, n)
	if !l.square {
		l.warnings = append(l.warnings, "Rows and columns are different vertices: components, cores, communities and PageRank are left out.")
		return nil
	}
	l.symmetric = a.IsSymmetric()
	if l.isolated > 0 {
		l.warnings = append(l.warnings, fmt.Sprintf("%d vertices have no edge.", l.isolated))
	}
	if l.loops > 0 {
		l.warnings = append(l.warnings, fmt.Sprintf("%d entries are self-loops.", l.loops))
	}
	if n == 0 {
		return nil
	}
	if l.parts, err = apps.ConnectedComponents(a, apps.ComponentsOptions{Run: run}); err != nil {
		return err
	}
	if l.cores, err = apps.CoreNumbers(a, apps.CoreOptions{Run: run}); err != nil {
		return err
	}
	l.coreSizes = make([]int64, l.cores.Max+1)
	for _, k := range l.cores.Number.All() {
		l.coreSizes[k]++
	}
	if err := l.group(run, val); err != nil {
		return err
	}
	ranks, err := apps.PageRank(a, apps.PageRankOptions{Run: run})
	if err != nil {
		return err
	}
	vertices, values, err := ops.TopKVector(ranks.Rank, l.top, ops.WithContext(l.Ctx))
	l.ranks = &job.Ranking{Key: "top", Title: "vertex", Unit: "rank"}
	for k, v := range vertices {
		l.ranks.Rows = append(l.ranks.Rows, job.Ranked{Vertex: l.Graph.Name(v), Value: values[k]})
	}
	return err
}

// group finds the communities, of the graph without directions, and the edges among the largest.
func (l *look) group(run apps.Run, val []float64) error {
	a := l.Graph.Matrix
	n, _ := a.Dims()
	for _, x := range val {
		if !(x >= 0) || math.IsInf(x, 1) {
			l.unweighted = true
		}
	}
	if l.unweighted {
		l.warnings = append(l.warnings, "Values are negative, infinite or NaN: communities are those of the structure.")
	}
	var s ops.Steps
	with := ops.WithOptions(ops.WithContext(run.Context), ops.WithThreads(run.Threads))
	if l.unweighted {
		plain := matrix.New[float64](n, n)
		s.Do(ops.Apply(plain, semiring.OneOp[float64, float64](), a, with))
		a = plain
	}
	if !l.symmetric {
		both := matrix.New[float64](n, n)
		s.Do(ops.EWiseAdd(both, semiring.Plus[float64](), a, a.T(), with))
		a = both
	}
	if s.Err() != nil {
		return s.Err()
	}
	var err error
	if l.communities, err = apps.Communities(a, apps.CommunitiesOptions{Run: run}); err != nil {
		return err
	}
	member, err := l.communities.Membership.Dense(0)
	if err != nil {
		return err
	}
	count := min(l.communities.Count, largestGroups)
	l.groups, l.links = make([]int64, count), make([][]float64, count)
	for c := range l.links {
		l.links[c] = make([]float64, count)
	}
	for _, c := range member {
		if int(c) < count {
			l.groups[c]++
		}
	}
	for i, row := range a.Rows() {
		c := int(member[i])
		if c >= count {
			continue
		}
		for p, j := range row.Cols {
			if d := int(member[j]); d < count {
				l.links[c][d] += row.Vals[p]
			}
		}
	}
	return nil
}

// figures are the figures of the summary and of --json.
func (l *look) figures() []job.Field {
	f := []job.Field{{Key: "symmetric", Label: "symmetric", Value: l.symmetric}, {Key: "self_loops", Label: "self-loops", Value: l.loops}, {Key: "isolated", Label: "isolated vertices", Value: l.isolated}}
	if l.parts != nil {
		f = append(f, job.Field{Key: "components", Label: "components", Value: l.parts.Count}, job.Field{Key: "largest", Label: "largest component", Value: l.parts.Largest},
			job.Field{Key: "core", Label: "highest core number", Value: l.cores.Max}, job.Field{Key: "communities", Label: "communities", Value: l.communities.Count},
			job.Field{Key: "modularity", Label: "modularity", Value: l.communities.Modularity})
	}
	return append(f, job.Field{Key: "warnings", Label: "warnings", Value: len(l.warnings)})
}

// page returns the contents of the page.
func (l *look) page() *page.LookPage {
	m, n, entries := l.Graph.Size()
	size := page.LookSection{Title: "Size", Command: l.command("stats", ""), Figures: []page.LookFigure{
		{ID: "rows", Label: "Rows", Value: spacedThousands(int64(m))}, {ID: "columns", Label: "Columns", Value: spacedThousands(int64(n))}, {ID: "entries", Label: "Entries", Value: spacedThousands(entries)},
	}}
	if l.square {
		size.Figures = []page.LookFigure{
			{ID: "vertices", Label: "Vertices", Value: spacedThousands(int64(n))}, {ID: "entries", Label: "Entries", Value: spacedThousands(entries)},
			{ID: "symmetric", Label: "Symmetric", Value: map[bool]string{true: "yes", false: "no"}[l.symmetric]},
			{ID: "loops", Label: "Self-loops", Value: spacedThousands(l.loops)}, {ID: "isolated", Label: "Without an edge", Value: spacedThousands(l.isolated)},
		}
	}
	sections := []page.LookSection{size, {
		Title: "Degrees", Command: l.command("stats", ""), Picture: charts.DegreeChart(l.out, l.in, l.symmetric),
		Note: "Vertices by degree, both on logarithmic scales.",
		Figures: []page.LookFigure{{ID: "mean-degree", Label: "Mean", Value: fmt.Sprintf("%.4g", l.out.Mean)}, {ID: "max-out", Label: "Largest out-degree", Value: spacedThousands(l.out.Most)},
			{ID: "max-in", Label: "Largest in-degree", Value: spacedThousands(l.in.Most)}},
	}, {
		Title: "Entries", Command: l.command("spy", "-o spy.png"), Picture: charts.SpyChart(l.spy),
		Note: fmt.Sprintf("Row 0 at the top; a square is %d×%d positions, and darker for more entries.", l.spy.Height, l.spy.Side),
	}}
	if l.parts != nil {
		undirected := ""
		if !l.symmetric {
			undirected = "--undirected"
		}
		sections = append(sections, page.LookSection{
			Title: "Components", Command: l.command("cc", "--sizes"), Note: "Directions are ignored.",
			Figures: []page.LookFigure{{ID: "components", Label: "Components", Value: spacedThousands(int64(l.parts.Count))}, {ID: "largest", Label: "Vertices of the largest", Value: spacedThousands(l.parts.Largest)},
				{ID: "share", Label: "Share of the vertices", Value: fmt.Sprintf("%.1f %%", 100*float64(l.parts.Largest)/float64(n))}},
		}, page.LookSection{
			Title: "Cores", Command: l.command("kcore", ""), Picture: charts.CoreChart(l.coreSizes),
			Note:    "Vertices of the k-core, the largest subgraph in which all have k neighbours or more.",
			Figures: []page.LookFigure{{ID: "core", Label: "Highest core number", Value: spacedThousands(int64(l.cores.Max))}, {ID: "inner", Label: "Vertices with it", Value: spacedThousands(l.cores.Inner)}},
		}, page.LookSection{
			Title: "Communities", Command: l.command("louvain", undirected), Picture: charts.CommunityChart(l.groups, l.links),
			Note: fmt.Sprintf("The largest %d: an area for the vertices, a line for the weight of the edges between two.", len(l.groups)),
			Figures: []page.LookFigure{{ID: "communities", Label: "Communities", Value: spacedThousands(int64(l.communities.Count))},
				{ID: "largest-community", Label: "Vertices of the largest", Value: spacedThousands(l.communities.Largest)},
				{ID: "modularity", Label: "Modularity", Value: fmt.Sprintf("%.4f", l.communities.Modularity)}},
		})
		ranks := page.LookSection{Title: "PageRank", Command: l.command("pagerank", fmt.Sprintf("--top %d", l.top)), Note: "The vertices that a random walk visits most."}
		for k, r := range l.ranks.Rows {
			ranks.Rows = append(ranks.Rows, page.LookFigure{ID: fmt.Sprintf("rank-%d", k), Label: r.Vertex, Value: fmt.Sprintf("%.6f", r.Value)})
		}
		sections = append(sections, ranks)
	}
	return &page.LookPage{File: l.Graph.File, Command: l.command("look", "-o X.html"), Version: cli.Version(), Warnings: l.warnings, Sections: sections}
}

// command returns a command on the same input, with the flags that say how to read it.
func (l *look) command(name, more string) string {
	words := []string{"hiveblas", name, quoted(l.arg)}
	reading := &cobra.Command{}
	(&job.ReadFlags{}).Add(reading)
	l.Cmd.Flags().Visit(func(f *pflag.Flag) {
		if reading.Flags().Lookup(f.Name) == nil {
			return
		}
		value := f.Value.String()
		if list, ok := f.Value.(pflag.SliceValue); ok {
			value = strings.Join(list.GetSlice(), ",")
		}
		word := "--" + f.Name
		if f.Value.Type() != "bool" || value != "true" {
			word += "=" + value
		}
		words = append(words, quoted(word))
	})
	if more != "" && !slices.Contains(words, more) {
		words = append(words, more)
	}
	return strings.Join(words, " ")
}

// quoted returns a word of a command line, in quotation marks if a shell would change it.
func quoted(word string) string {
	plain := strings.IndexFunc(word, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune("_./=,:@%+-", c))
	}) < 0
	if plain && word != "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// spacedThousands formats an integer with thin spaces between thousands.
func spacedThousands(x int64) string {
	text := fmt.Sprint(x)
	var b strings.Builder
	for k, c := range text {
		if k > 0 && (len(text)-k)%3 == 0 && c != '-' && text[k-1] != '-' {
			b.WriteRune('\u202f')
		}
		b.WriteRune(c)
	}
	return b.String()
}
