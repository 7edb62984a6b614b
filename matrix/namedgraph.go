package matrix

import (
	"fmt"
	"io"
	"strings"
)

// namedGraph collects a graph whose file describes each vertex and each edge, in any order: GraphML
// and GML.
type namedGraph[T comparable] struct {
	*graphEdges[T]
	scan     scanner[T]
	index    map[string]int32 // vertices by id
	ids      []string
	labels   []string // "" for none
	declared []bool
	firstUse []int64 // line of the first edge of a vertex that is not declared yet
	weighted bool
	real     bool
}

func newNamedGraph[T comparable](op string, r io.Reader, o *readOptions) (*namedGraph[T], error) {
	g, err := newGraphEdges[T](op, r, o)
	if err != nil {
		return nil, err
	}
	return &namedGraph[T]{graphEdges: g, scan: scannerFor(g.e, fieldAny, o), index: map[string]int32{}}, nil
}

// vertex returns the vertex with an id, a new one for a new id.
func (g *namedGraph[T]) vertex(id string, line int64) (int32, error) {
	if v, ok := g.index[id]; ok {
		return v, nil
	}
	if len(g.ids) == MaxDim {
		return 0, g.o.fail(line, fmt.Sprintf("at most %d vertices are possible", MaxDim), "")
	}
	v := int32(len(g.ids))
	id = strings.Clone(id)
	g.index[id] = v
	g.ids, g.labels = append(g.ids, id), append(g.labels, "")
	g.declared, g.firstUse = append(g.declared, false), append(g.firstUse, line)
	return v, nil
}

// node declares a vertex.
func (g *namedGraph[T]) node(id, label string, line int64) error {
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
func (g *namedGraph[T]) edge(source, target, weight string, both bool, line int64) error {
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
			msg, kind := f.explain(quote(weight), g.e.name(), g.e.kind)
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
func (g *namedGraph[T]) unweighted() bool {
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

// end returns the matrix. The names are the labels if all vertices have different ones, else the
// ids.
func (g *namedGraph[T]) end(layout string, undirected bool) (*Matrix[T], sides, error) {
	for v, ok := range g.declared {
		if !ok {
			return nil, sides{}, g.o.fail(g.firstUse[v], "there is no node "+quote(g.ids[v]), "")
		}
	}
	names, seen := g.labels, make(map[string]struct{}, len(g.labels))
	for _, name := range g.labels {
		if _, twice := seen[name]; twice || name == "" || strings.ContainsAny(name, "\n") {
			names = g.ids
			break
		}
		seen[name] = struct{}{}
	}
	n, symmetry := len(g.ids), "general"
	if undirected {
		symmetry = "symmetric"
	}
	g.index = nil
	g.describe(layout, fieldOf(g.weighted, g.real), symmetry, n, n)
	return g.finish(n, n, bothSides(labelsOf(names)), undirected)
}
