// Package namedgraph reads and writes the formats in which vertices have names: GraphML, GEXF and
// GML.
package namedgraph

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hiveblas/hiveblas/graphio/internal/build"
	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/graphio/internal/numtext"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// namedGraph collects a graph from a file that describes each vertex and each edge, in any order:
// GraphML, GEXF and GML.
type namedGraph struct {
	*build.GraphEdges
	scan     numtext.Scanner
	index    map[string]int32 // vertices by id
	ids      []string
	labels   []string // "" for none
	declared []bool
	firstUse []int64 // line of the first edge of a vertex that is not declared yet
	weighted bool
	real     bool
}

func newNamedGraph(op string, r io.Reader, o *core.ReadOptions) (*namedGraph, error) {
	g, err := build.NewGraphEdges(op, r, o)
	if err != nil {
		return nil, err
	}
	return &namedGraph{GraphEdges: g, scan: numtext.ScannerFor(g.E, numtext.FieldAny, o), index: map[string]int32{}}, nil
}

// vertex returns the vertex with an id, a new one for a new id.
func (g *namedGraph) vertex(id string, line int64) (int32, error) {
	if v, ok := g.index[id]; ok {
		return v, nil
	}
	if len(g.ids) == matrix.MaxDim {
		return 0, g.O.Fail(line, fmt.Sprintf("at most %d vertices are possible", matrix.MaxDim), "")
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
		return g.O.Fail(line, "the node has no id", "")
	}
	v, err := g.vertex(id, line)
	if err != nil {
		return err
	}
	if g.declared[v] {
		return g.O.Fail(line, "a second node has the id "+core.Quote(id), "")
	}
	g.declared[v], g.labels[v] = true, strings.Clone(label)
	return nil
}

// edge adds an edge with the text of its weight, "" for none.
func (g *namedGraph) edge(source, target, weight string, both bool, line int64) error {
	if source == "" || target == "" {
		return g.O.Fail(line, "the edge has no source or no target", "")
	}
	s, err := g.vertex(source, line)
	if err != nil {
		return err
	}
	t, err := g.vertex(target, line)
	if err != nil {
		return err
	}
	v := g.E.One
	if weight = strings.TrimSpace(weight); weight != "" && !g.unweighted() {
		var stop int
		var f numtext.Fault
		text := append([]byte(weight), '\n')
		if v, stop, f = g.scan(text, 0); stop != len(weight) && f == numtext.FaultNone {
			f = numtext.FaultSyntax
		}
		if f != numtext.FaultNone {
			msg, kind := numtext.Explain(g.O, f, core.Quote(weight), g.E.Name(), g.E.Kind)
			return g.O.FailKind(line, msg, kind)
		}
		g.weighted, g.real = true, g.real || !numtext.WrittenAsInteger([]byte(weight))
	}
	g.Add(s, t, v)
	if both && s != t {
		g.Add(t, s, v)
	}
	return nil
}

// unweighted reports whether WeightColumn(0) leaves weights out.
func (g *namedGraph) unweighted() bool {
	return g.O.Weight.Given && g.O.Weight.Name == "" && g.O.Weight.Number == 0
}

// weightName reports whether an attribute of edges is the weight: the one that WeightColumn names,
// else weight or value. A higher rank takes precedence: weight before value.
func weightName(o *core.ReadOptions, name string) (rank int) {
	switch {
	case o.Weight.Given && o.Weight.Name != "":
		if name == o.Weight.Name {
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
func (g *namedGraph) end(layout string, undirected bool) (*sparse.Store, core.Sides, error) {
	for v, ok := range g.declared {
		if !ok {
			return nil, core.Sides{}, g.O.Fail(g.firstUse[v], "there is no node "+core.Quote(g.ids[v]), "")
		}
	}
	names := g.names()
	n, symmetry := len(g.ids), "general"
	if undirected {
		symmetry = "symmetric"
	}
	g.index = nil
	g.Describe(layout, build.FieldOf(g.weighted, g.real), symmetry, n, n)
	return g.Finish(n, n, core.BothSides(names), undirected)
}

// names returns the labels of the vertices if all have different ones, else their ids, and warns of
// labels that are not names.
func (g *namedGraph) names() *core.Labels {
	broken := g.O.OneLine(g.labels)
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
		g.O.Warning(core.RemedyNames, fmt.Sprintf("%d of the %d nodes have no label, the first is %s; the names of vertices are the ids", missing, len(g.labels), core.Quote(g.ids[v])))
	default:
		i, k, twice := twins(g.labels)
		if !twice {
			g.O.WarnBroken(broken)
			names := core.LabelsOf(g.labels)
			if names != nil {
				names.AlsoNamed(g.ids)
			}
			return names
		}
		g.O.Warning(core.RemedyNames, fmt.Sprintf("the nodes %s and %s have the same label %s; the names of vertices are the ids", core.Quote(g.ids[i]), core.Quote(g.ids[k]), core.Quote(g.labels[i])))
	}
	if broken = g.O.OneLine(g.ids); broken > 0 {
		g.O.WarnBroken(broken)
		if i, k, twice := twins(g.ids); twice {
			g.O.Warning(core.RemedyNames, fmt.Sprintf("the ids of the nodes %d and %d, from 0, differ in blanks alone; vertices have numbers", i, k))
			return nil
		}
	}
	return core.LabelsOf(g.ids)
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
