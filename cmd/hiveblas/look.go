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
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/cli"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

func lookCommand(s *session) *cobra.Command {
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
	j := newJob(s, cmd).reads().writes("the page", ".html")
	cmd.Flags().IntVar(&top, "top", 10, "list the `N` vertices of the highest PageRank")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if j.out.path == "" {
			return cli.Usage(cmd.CommandPath(), "-o is missing, want a .html file")
		}
		if err := checkTop(cmd, top); err != nil {
			return err
		}
		if err := j.begin(args[0]); err != nil {
			return err
		}
		l := &look{job: j, arg: args[0], top: top}
		if err := l.load(); err != nil {
			return err
		}
		err := j.compute(func(run apps.Run) error {
			run.Method = apps.Auto
			return l.measure(run)
		})
		if err != nil {
			return err
		}
		err = j.writing(func() error {
			return j.stream(func(w io.Writer) error { return l.page().write(w) })
		})
		if err != nil {
			return err
		}
		return j.report("", l.figures(), nil)
	}
	return cmd
}

// look is the contents of the page.
type look struct {
	*job
	arg      string
	top      int
	warnings []string

	square, symmetric bool
	loops, isolated   int64
	out, in           degrees
	spy               *bins
	parts             *apps.Components
	cores             *apps.Cores
	coreSizes         []int64 // vertices of each core number
	communities       *apps.CommunitiesResult
	unweighted        bool        // communities ignore values
	groups            []int64     // vertices of the largest communities
	links             [][]float64 // weight of the edges among them
	ranks             *ranking
}

// largestGroups bounds the communities whose connections are drawn.
const largestGroups = 12

// load reads the graph, and again without repeated entries, or without values that are not finite,
// if there are any.
func (l *look) load() error {
	what := weighted // then structure
	err := l.job.load(l.arg, what)
	for err != nil && l.arg != "-" {
		var value *graphio.ParseError
		switch {
		case errors.Is(err, matrix.ErrDuplicate) && !l.cmd.Flags().Changed("duplicates") && l.read.duplicates != "first":
			l.warnings = append(l.warnings, "Entries are given more than once; the first of each counts here. Other commands want --duplicates.")
			l.read.duplicates = "first"
		case what == weighted && errors.As(err, &value) && value.Kind == graphio.RemedyAllowNaN:
			where := ""
			if value.Line > 0 {
				where = fmt.Sprintf("In line %d ", value.Line)
			}
			l.warnings = append(l.warnings, fmt.Sprintf("%s%s: the page is about the structure alone. Other commands want --weight-column 0 or finite weights.", where, value.Msg))
			what = structure
		default:
			return err
		}
		err = l.job.load(l.arg, what)
	}
	for _, w := range l.warned {
		l.warnings = append(l.warnings, w.Msg+".")
	}
	return err
}

// measure computes the figures.
func (l *look) measure(run apps.Run) error {
	a := l.graph.Matrix
	m, n := a.Dims()
	l.square = m == n && !l.graph.bipartite
	l.spy = binned(a, lookBins, structure)
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
	if len(l.warned) == 0 && l.square && n > 1 && degree[0] == 0 && degree[n-1] > 0 && l.graph.cols == nil {
		l.warnings = append(l.warnings, "Vertex 0 has no edge and the last one has: the ids may count from 1.")
	}
	for j := range n {
		into[j+1] += into[j]
	}
	l.out, l.in = degreesOf(ptr, m, m), degreesOf(into, n, n)
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
	l.ranks = &ranking{key: "top", title: "vertex", unit: "rank"}
	for k, v := range vertices {
		l.ranks.rows = append(l.ranks.rows, ranked{l.graph.name(v), values[k]})
	}
	return err
}

// group finds the communities, of the graph without directions, and the edges among the largest.
func (l *look) group(run apps.Run, val []float64) error {
	a := l.graph.Matrix
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

// figures are those of the summary and of --json.
func (l *look) figures() []field {
	f := []field{{"symmetric", "symmetric", l.symmetric}, {"self_loops", "self-loops", l.loops}, {"isolated", "isolated vertices", l.isolated}}
	if l.parts != nil {
		f = append(f, field{"components", "components", l.parts.Count}, field{"largest", "largest component", l.parts.Largest},
			field{"core", "highest core number", l.cores.Max}, field{"communities", "communities", l.communities.Count},
			field{"modularity", "modularity", l.communities.Modularity})
	}
	return append(f, field{"warnings", "warnings", len(l.warnings)})
}

// page returns the contents of the page.
func (l *look) page() *lookPage {
	m, n, entries := l.graph.size()
	size := lookSection{Title: "Size", Command: l.command("stats", ""), Figures: []lookFigure{
		{"rows", "Rows", grouped(int64(m))}, {"columns", "Columns", grouped(int64(n))}, {"entries", "Entries", grouped(entries)},
	}}
	if l.square {
		size.Figures = []lookFigure{
			{"vertices", "Vertices", grouped(int64(n))}, {"entries", "Entries", grouped(entries)},
			{"symmetric", "Symmetric", map[bool]string{true: "yes", false: "no"}[l.symmetric]},
			{"loops", "Self-loops", grouped(l.loops)}, {"isolated", "Without an edge", grouped(l.isolated)},
		}
	}
	sections := []lookSection{size, {
		Title: "Degrees", Command: l.command("stats", ""), Picture: degreeChart(l.out, l.in, l.symmetric),
		Note: "Vertices by degree, both on logarithmic scales.",
		Figures: []lookFigure{{"mean-degree", "Mean", fmt.Sprintf("%.4g", l.out.mean)}, {"max-out", "Largest out-degree", grouped(l.out.most)},
			{"max-in", "Largest in-degree", grouped(l.in.most)}},
	}, {
		Title: "Entries", Command: l.command("spy", "-o spy.png"), Picture: spyChart(l.spy),
		Note: fmt.Sprintf("Row 0 at the top; a square is %d×%d positions, and darker for more entries.", l.spy.height, l.spy.side),
	}}
	if l.parts != nil {
		undirected := ""
		if !l.symmetric {
			undirected = "--undirected"
		}
		sections = append(sections, lookSection{
			Title: "Components", Command: l.command("cc", "--sizes"), Note: "Directions are ignored.",
			Figures: []lookFigure{{"components", "Components", grouped(int64(l.parts.Count))}, {"largest", "Vertices of the largest", grouped(l.parts.Largest)},
				{"share", "Share of the vertices", fmt.Sprintf("%.1f %%", 100*float64(l.parts.Largest)/float64(n))}},
		}, lookSection{
			Title: "Cores", Command: l.command("kcore", ""), Picture: coreChart(l.coreSizes),
			Note:    "Vertices of the k-core, the largest subgraph in which all have k neighbours or more.",
			Figures: []lookFigure{{"core", "Highest core number", grouped(int64(l.cores.Max))}, {"inner", "Vertices with it", grouped(l.cores.Inner)}},
		}, lookSection{
			Title: "Communities", Command: l.command("louvain", undirected), Picture: communityChart(l.groups, l.links),
			Note: fmt.Sprintf("The largest %d: an area for the vertices, a line for the weight of the edges between two.", len(l.groups)),
			Figures: []lookFigure{{"communities", "Communities", grouped(int64(l.communities.Count))},
				{"largest-community", "Vertices of the largest", grouped(l.communities.Largest)},
				{"modularity", "Modularity", fmt.Sprintf("%.4f", l.communities.Modularity)}},
		})
		ranks := lookSection{Title: "PageRank", Command: l.command("pagerank", fmt.Sprintf("--top %d", l.top)), Note: "The vertices that a random walk visits most."}
		for k, r := range l.ranks.rows {
			ranks.Rows = append(ranks.Rows, lookFigure{fmt.Sprintf("rank-%d", k), r.vertex, fmt.Sprintf("%.6f", r.value)})
		}
		sections = append(sections, ranks)
	}
	return &lookPage{l.graph.file, l.command("look", "-o X.html"), cli.Version(), l.warnings, sections}
}

// command returns a command on the same input, with the flags that say how to read it.
func (l *look) command(name, more string) string {
	words := []string{"hiveblas", name, quoted(l.arg)}
	reading := &cobra.Command{}
	(&readFlags{}).add(reading)
	l.cmd.Flags().Visit(func(f *pflag.Flag) {
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

// grouped formats an integer with thin spaces between thousands.
func grouped(x int64) string {
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
