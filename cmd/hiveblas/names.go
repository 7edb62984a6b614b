package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/cli"
)

// nameGraph gives a graph of m rows and n columns the names of --names, or takes its names away
// with --vertex-numbers.
func (j *job) nameGraph(g *graph, m, n int) (err error) {
	if j.read.numbers {
		g.rows, g.cols = nil, nil
		return nil
	}
	switch len(j.read.names) {
	case 1:
		if m != n || g.bipartite {
			return cli.Fail("--names", fmt.Sprintf("the matrix is %d×%d, and its rows and columns have names of their own", m, n),
				"give --names twice, for the rows and for the columns", nil)

		}
		g.rows, err = j.readNames(j.read.names[0], g.rows, n)
		g.cols = g.rows
	case 2:
		if g.rows, err = j.readNames(j.read.names[0], g.rows, m); err == nil {
			g.cols, err = j.readNames(j.read.names[1], g.cols, n)
		}
		g.bipartite = g.bipartite || !g.rows.Equal(g.cols)
	}
	if len(j.read.names) > 0 {
		g.counted = false
	}
	return err
}

// readNames reads names of n vertices: one a line, or lines of a vertex, by its number or its name
// so far, and its name, separated by a tab, or by a comma in a .csv.
func (j *job) readNames(file string, old *graphio.Labels, n int) (*graphio.Labels, error) {
	in, err := j.openInput(file)
	if err != nil {
		return nil, explain(nameOf(file), err)
	}
	defer in.close()
	delim := "\t"
	if strings.HasSuffix(strings.TrimSuffix(strings.ToLower(filepath.Base(file)), ".gz"), ".csv") {
		delim = ","
	}
	first, _, _ := bytes.Cut(in.head, []byte("\n"))
	if len(splitAt(string(first), delim)) < 2 {
		l, err := graphio.ReadLabels(in.r, graphio.FileName(in.name), graphio.WithContext(j.Ctx))
		if err == nil && l.Len() != n {
			err = cli.Fail(in.name, fmt.Sprintf("the file has %d names, and the graph has %d vertices", l.Len(), n),
				"give a name for each vertex, one a line, or lines of a vertex, a tab and its name", nil)

		}
		return l, explain(in.name, err)
	}
	return j.readNamePairs(in, delim, old, n)
}

func (j *job) readNamePairs(in *input, delim string, old *graphio.Labels, n int) (*graphio.Labels, error) {
	names, found := make([]string, n), 0
	err := eachLine(in.r, in.name, func(text string, line int) error {
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
	if !isVertexNumber(text) || len(text) > 10 {
		return 0, false
	}
	v := 0
	for _, c := range []byte(text) {
		v = 10*v + int(c-'0')
	}
	return v, v < n
}

// unnamed reports whether the vertices of a file have numbers as names for certain, before the file
// is read: it is a list without --ids renumber, or says so in its first bytes.
func (j *job) unnamed(file string) bool {
	if j.read.ids == "renumber" || len(j.read.names) > 0 && !j.read.numbers || file == "-" {
		return false
	}
	in, err := j.openInput(file)
	if err != nil {
		return false // the reader returns the error
	}
	defer in.close()
	return j.read.numbers || !in.mayHaveNames(&j.read)
}

// namesHead are the bytes of a binary file that describe its labels.
var namesHead = [2]int{13, 14}

// mayHaveNames reports whether a file may have names of vertices, by its first bytes.
func (in *input) mayHaveNames(flags *readFlags) bool {
	switch {
	case in.element() != elementNone:
		return slices.ContainsFunc(namesHead[:], func(at int) bool { return len(in.head) <= at || in.head[at] != 0 })
	}
	switch in.format(flags) {
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
