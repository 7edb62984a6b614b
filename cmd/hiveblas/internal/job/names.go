package job

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/cli"
)

// NameGraph gives a graph of m rows and n columns the names of --names, or takes its names away
// with --vertex-numbers.
func (j *Job) NameGraph(g *Graph, m, n int) (err error) {
	if j.Read.Numbers {
		g.Rows, g.Cols = nil, nil
		return nil
	}
	switch len(j.Read.names) {
	case 1:
		if m != n || g.Bipartite {
			return cli.Fail("--names", fmt.Sprintf("the matrix is %d×%d, and its rows and columns have names of their own", m, n),
				"give --names twice, for the rows and for the columns", nil)

		}
		g.Rows, err = j.readNames(j.Read.names[0], g.Rows, n)
		g.Cols = g.Rows
	case 2:
		if g.Rows, err = j.readNames(j.Read.names[0], g.Rows, m); err == nil {
			g.Cols, err = j.readNames(j.Read.names[1], g.Cols, n)
		}
		g.Bipartite = g.Bipartite || !g.Rows.Equal(g.Cols)
	}
	if len(j.Read.names) > 0 {
		g.Counted = false
	}
	return err
}

// readNames reads names of n vertices: one a line, or lines of a vertex, by its number or its name
// so far, and its name, separated by a tab, or by a comma in a .csv.
func (j *Job) readNames(file string, old *graphio.Labels, n int) (*graphio.Labels, error) {
	in, err := j.OpenInput(file)
	if err != nil {
		return nil, Explain(NameOf(file), err)
	}
	defer in.Close()
	delim := "\t"
	if strings.HasSuffix(strings.TrimSuffix(strings.ToLower(filepath.Base(file)), ".gz"), ".csv") {
		delim = ","
	}
	first, _, _ := bytes.Cut(in.head, []byte("\n"))
	if len(splitAt(string(first), delim)) < 2 {
		l, err := graphio.ReadLabels(in.R, graphio.FileName(in.name), graphio.WithContext(j.Ctx))
		if err == nil && l.Len() != n {
			err = cli.Fail(in.name, fmt.Sprintf("the file has %d names, and the graph has %d vertices", l.Len(), n),
				"give a name for each vertex, one a line, or lines of a vertex, a tab and its name", nil)

		}
		return l, Explain(in.name, err)
	}
	return j.readNamePairs(in, delim, old, n)
}

func (j *Job) readNamePairs(in *input, delim string, old *graphio.Labels, n int) (*graphio.Labels, error) {
	names, found := make([]string, n), 0
	err := EachLine(in.R, in.name, func(text string, line int) error {
		if strings.TrimSpace(text) == "" {
			return nil
		}
		fields := splitAt(text, delim)
		place := fmt.Sprintf("%s:%d", in.name, line)
		if len(fields) < 2 || fields[1] == "" {
			return cli.Fail(place, "the line has no name", "write a vertex, the delimiter and its name", nil)
		}
		v, ok := vertexOf(old, fields[0], n)
		switch {
		case !ok: // a header, or a vertex that the graph lacks
			return nil
		case names[v] != "":
			return cli.Fail(place, fmt.Sprintf("vertex %s gets a second name", old.Name(v)), "name each vertex once", nil)
		}
		names[v] = fields[1]
		found++
		return nil
	})
	if err != nil {
		return nil, err
	}
	if found == 0 && n > 0 {
		return nil, cli.Fail(in.name, "no line names a vertex of the graph", "begin each line with a vertex, as it stands in the graph", nil)
	}
	for v := range names {
		if names[v] == "" {
			names[v] = old.Name(v)
		}
	}
	return graphio.NewLabels(names), nil
}

// vertexOf returns the vertex with a name, or with a number if vertices have none.
func vertexOf(l *graphio.Labels, text string, n int) (int, bool) {
	if l != nil {
		return l.Index(text)
	}
	if !IsVertexNumber(text) || len(text) > 10 {
		return 0, false
	}
	v := 0
	for _, c := range []byte(text) {
		v = 10*v + int(c-'0')
	}
	return v, v < n
}

// Unnamed reports whether the vertices of a file have numbers as names for certain, before the file
// is read: it is a list without --ids renumber, or says so in its first bytes.
func (j *Job) Unnamed(file string) bool {
	if j.Read.ids == "renumber" || len(j.Read.names) > 0 && !j.Read.Numbers || file == "-" {
		return false
	}
	in, err := j.OpenInput(file)
	if err != nil {
		return false // the reader returns the error
	}
	defer in.Close()
	return j.Read.Numbers || !in.mayHaveNames(&j.Read)
}

// namesHead are the bytes of a binary file that describe its labels.
var namesHead = [2]int{13, 14}

// mayHaveNames reports whether a file may have names of vertices, by its first bytes.
func (in *input) mayHaveNames(flags *ReadFlags) bool {
	switch {
	case in.element() != elementNone:
		return slices.ContainsFunc(namesHead[:], func(at int) bool { return len(in.head) <= at || in.head[at] != 0 })
	}
	switch in.Format(flags) {
	case graphio.FormatNPZ, graphio.FormatGraphML, graphio.FormatGML, graphio.FormatGEXF, graphio.FormatAuto:
		return true
	case graphio.FormatMatrixMarket:
		return bytes.Contains(in.head, []byte("% names of "))
	}
	return false
}

// nearName returns the name of one of n vertices that was perhaps meant by text: one that differs
// in upper and lower case, else by a letter or two, else one that has text as a part. It looks at
// the first million names, and returns "" if none is near.
func nearName(l *graphio.Labels, n int, text string) string {
	const most = 1_000_000
	if len(text) < 2 || len(text) > 100 {
		return ""
	}
	lower := strings.ToLower(text)
	best, least := "", 3
	for v := range min(n, most) {
		name := l.Name(v)
		low, d := strings.ToLower(name), 3
		switch {
		case low == lower:
			return name
		case len(low) <= len(lower)+1 && len(lower) <= len(low)+1 && cli.Distance(low, lower) <= 1+len(lower)/6:
			d = 1
		case len(lower) > 2 && strings.Contains(low, lower):
			d = 2
		}
		if d < least {
			best, least = name, d
		}
	}
	return best
}
