package graphio

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// namedGraph collects a graph whose file describes each vertex and each edge, in any order:
// GraphML, GEXF and GML.
type namedGraph struct {
	*graphEdges
	scan     scanner
	index    map[string]int32 // vertices by id
	ids      []string
	labels   []string // "" for none
	declared []bool
	firstUse []int64 // line of the first edge of a vertex that is not declared yet
	weighted bool
	real     bool
}

func newNamedGraph(op string, r io.Reader, o *readOptions) (*namedGraph, error) {
	g, err := newGraphEdges(op, r, o)
	if err != nil {
		return nil, err
	}
	return &namedGraph{graphEdges: g, scan: scannerFor(g.e, fieldAny, o), index: map[string]int32{}}, nil
}

// vertex returns the vertex with an id, a new one for a new id.
func (g *namedGraph) vertex(id string, line int64) (int32, error) {
	if v, ok := g.index[id]; ok {
		return v, nil
	}
	if len(g.ids) == matrix.MaxDim {
		return 0, g.o.fail(line, fmt.Sprintf("at most %d vertices are possible", matrix.MaxDim), "")
	}
	v := int32(len(g.ids))
	id = strings.Clone(id)
	g.index[id] = v
	g.ids, g.labels = append(g.ids, id), append(g.labels, "")
	g.declared, g.firstUse = append(g.declared, false), append(g.firstUse, line)
	return v, nil
}

// node declares a vertex.
func (g *namedGraph) node(id, label string, line int64) error {
	if id == "" {
		return g.o.fail(line, "the node has no id", "")
	}
	v, err := g.vertex(id, line)
	if err != nil {
		return err
	}
	if g.declared[v] {
		return g.o.fail(line, "a second node has the id "+quote(id), "")
	}
	g.declared[v], g.labels[v] = true, strings.Clone(label)
	return nil
}

// edge adds an edge with the text of its weight, "" for none.
func (g *namedGraph) edge(source, target, weight string, both bool, line int64) error {
	if source == "" || target == "" {
		return g.o.fail(line, "the edge has no source or no target", "")
	}
	s, err := g.vertex(source, line)
	if err != nil {
		return err
	}
	t, err := g.vertex(target, line)
	if err != nil {
		return err
	}
	v := g.e.one
	if weight = strings.TrimSpace(weight); weight != "" && !g.unweighted() {
		var stop int
		var f fault
		text := append([]byte(weight), '\n')
		if v, stop, f = g.scan(text, 0); stop != len(weight) && f == faultNone {
			f = faultSyntax
		}
		if f != faultNone {
			msg, kind := g.o.explain(f, quote(weight), g.e.name(), g.e.kind)
			return g.o.failKind(line, msg, kind)
		}
		g.weighted, g.real = true, g.real || !writtenAsInteger([]byte(weight))
	}
	g.add(s, t, v)
	if both && s != t {
		g.add(t, s, v)
	}
	return nil
}

// unweighted reports whether WeightColumn(0) leaves weights out.
func (g *namedGraph) unweighted() bool {
	return g.o.weight.given && g.o.weight.name == "" && g.o.weight.number == 0
}

// weightName reports whether an attribute of edges is the weight: that of WeightColumn, else weight
// or value, of which weight takes precedence by a higher rank.
func (o *readOptions) weightName(name string) (rank int) {
	switch {
	case o.weight.given && o.weight.name != "":
		if name == o.weight.name {
			return 3
		}
		return 0
	case strings.EqualFold(name, "weight"):
		return 2
	case strings.EqualFold(name, "value"):
		return 1
	}
	return 0
}

// end returns the matrix.
func (g *namedGraph) end(layout string, undirected bool) (*sparse.Store, sides, error) {
	for v, ok := range g.declared {
		if !ok {
			return nil, sides{}, g.o.fail(g.firstUse[v], "there is no node "+quote(g.ids[v]), "")
		}
	}
	names := g.names()
	n, symmetry := len(g.ids), "general"
	if undirected {
		symmetry = "symmetric"
	}
	g.index = nil
	g.describe(layout, fieldOf(g.weighted, g.real), symmetry, n, n)
	return g.finish(n, n, bothSides(names), undirected)
}

// names returns the labels of the vertices if all have different ones, else their ids, and warns of
// labels that are not names.
func (g *namedGraph) names() *Labels {
	broken := g.o.oneLine(g.labels)
	missing := 0
	for _, label := range g.labels {
		if label == "" {
			missing++
		}
	}
	switch {
	case missing == len(g.labels):
	case missing > 0:
		v := slices.Index(g.labels, "")
		g.o.warning(RemedyNames, fmt.Sprintf("%d of the %d nodes have no label, the first is %s; the names of vertices are the ids", missing, len(g.labels), quote(g.ids[v])))
	default:
		i, k, twice := twins(g.labels)
		if !twice {
			g.o.warnBroken(broken)
			names := labelsOf(g.labels)
			if names != nil {
				names.also = &Labels{names: g.ids}
			}
			return names
		}
		g.o.warning(RemedyNames, fmt.Sprintf("the nodes %s and %s have the same label %s; the names of vertices are the ids", quote(g.ids[i]), quote(g.ids[k]), quote(g.labels[i])))
	}
	if broken = g.o.oneLine(g.ids); broken > 0 {
		g.o.warnBroken(broken)
		if i, k, twice := twins(g.ids); twice {
			g.o.warning(RemedyNames, fmt.Sprintf("the ids of the nodes %d and %d, from 0, differ in blanks alone; vertices have numbers", i, k))
			return nil
		}
	}
	return labelsOf(g.ids)
}

// twins returns two places with the same name.
func twins(names []string) (i, k int, ok bool) {
	seen := make(map[string]int, len(names))
	for k, name := range names {
		if i, ok := seen[name]; ok {
			return i, k, true
		}
		seen[name] = k
	}
	return 0, 0, false
}

// oneLine replaces line breaks and tabs in names by blanks, a run of them by one, and returns the
// number of names that it changed.
func (o *readOptions) oneLine(names []string) (changed int) {
	for v, name := range names {
		if strings.ContainsAny(name, lineBreaks) {
			names[v] = strings.Join(strings.FieldsFunc(name, func(c rune) bool { return strings.ContainsRune(lineBreaks, c) }), " ")
			changed++
		}
	}
	return changed
}

// lineBreaks are the characters that a name has not.
const lineBreaks = "\n\r\t\v\f"

// warnBroken warns of names that oneLine changed.
func (o *readOptions) warnBroken(changed int) {
	switch {
	case changed == 1:
		o.warning(RemedyText, "1 name has a line break or a tab, which is read as a blank")
	case changed > 1:
		o.warning(RemedyText, fmt.Sprintf("%d names have line breaks or tabs, which are read as blanks", changed))
	}
}
