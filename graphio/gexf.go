package graphio

import (
	"encoding/xml"
	"io"
	"strings"

	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// ReadGEXF reads the graph of a GEXF file of Gephi or NetworkX (.gexf), versions 1.1 to 1.3,
// gzip-compressed or not: its nodes in the order of their first mention, also nodes within nodes,
// its edges and their weights. The weight is the attribute weight of an edge, or the edge attribute
// whose title [WeightColumn] gives; edges without one have 1. Names of vertices and encodings are
// those of [ReadGraphML]. An edge is directed, undirected or mutual, which is both directions, by
// its type, else by defaultedgetype, else undirected; the matrix is symmetric if no edge is
// directed. Other attributes are skipped. A dynamic graph is an error. Errors are a *[ParseError]
// with the line. Source: GEXF 1.3 primer, gexf.net.
func ReadGEXF[T matrix.Element](r io.Reader, opts ...ReadOption) (*Labelled[T], error) {
	a, s, err := readPlaced(r, optionsFor[T](opts), readGEXF)
	return labelled[T](a, s, err)
}

// gexfReader reads the elements of a file.
type gexfReader struct {
	xmlReader
	graph    bool   // the graph has begun
	fallback string // the type of edges without one
	directed []bool // of each edge
	arcs     int    // edges that are directed

	// The attributes of edges whose titles are names of weights.
	ranks      map[string]int // by id
	ofEdges    bool           // the open element attributes declares those of edges
	attribute  string         // the open declaration
	inDefault  bool
	text       strings.Builder
	deflt      string // the default weight
	defltRank  int
	inEdge     bool
	source     string
	target     string
	kind       string
	weight     string
	weightRank int
	line       int64
}

func readGEXF(r io.Reader, o *readOptions) (*sparse.Store, sides, error) {
	g, err := newNamedGraph("graphio.ReadGEXF", r, o)
	if err != nil {
		return nil, sides{}, err
	}
	x, _, taken, err := openXML(g, r, "gexf")
	if err != nil {
		return nil, sides{}, err
	}
	rd := &gexfReader{xmlReader: x, ranks: map[string]int{}}
	if err := rd.tokens(rd, nil, taken); err != nil {
		return nil, sides{}, err
	}
	if !rd.graph {
		return nil, sides{}, o.fail(0, "the file has no element graph", "")
	}
	o.report(taken())
	undirected := rd.arcs == 0
	if !undirected {
		rd.mirror()
	}
	return rd.end("GEXF", undirected)
}

// mirror adds the other direction of each edge that is not directed, after the edge.
func (rd *gexfReader) mirror() {
	if rd.arcs == len(rd.directed) {
		return
	}
	rd.flush()
	blocks := rd.blocks
	rd.blocks, rd.count = nil, 0
	k := 0
	for _, t := range blocks {
		for q, i := range t.Row {
			v := rd.e.at(t.Val, int64(q))
			rd.add(i, t.Col[q], v)
			if !rd.directed[k] && i != t.Col[q] {
				rd.add(t.Col[q], i, v)
			}
			k++
		}
	}
}

func (rd *gexfReader) begin(t xml.StartElement) error {
	switch t.Name.Local {
	case "graph":
		if rd.graph {
			return rd.o.fail(rd.at(), "a second graph is not read", "write one graph a file")
		}
		rd.graph, rd.fallback = true, attribute(t, "defaultedgetype")
		if mode := attribute(t, "mode"); mode == "dynamic" {
			return rd.dynamic()
		}
	case "spells", "spell", "slices":
		return rd.dynamic()
	case "attributes":
		rd.ofEdges = attribute(t, "class") == "edge"
	case "attribute":
		if rd.attribute = ""; rd.ofEdges {
			rd.attribute = attribute(t, "id")
			rd.ranks[rd.attribute] = rd.o.weightName(attribute(t, "title"))
		}
	case "default":
		rd.inDefault = true
		rd.text.Reset()
	case "node":
		return rd.node(attribute(t, "id"), strings.TrimSpace(attribute(t, "label")), rd.at())
	case "edge":
		rd.inEdge, rd.line = true, rd.at()
		rd.source, rd.target, rd.kind = attribute(t, "source"), attribute(t, "target"), attribute(t, "type")
		rd.weight, rd.weightRank = "", 0
		rd.weigh(rd.o.weightName("weight"), attribute(t, "weight"))
	case "attvalue":
		if rd.inEdge {
			id := attribute(t, "for")
			if id == "" {
				id = attribute(t, "id") // version 1.1
			}
			rd.weigh(rd.ranks[id], attribute(t, "value"))
		}
	}
	return nil
}

// weigh takes a text of a rank for the weight of the open edge, unless it has one of a higher rank.
func (rd *gexfReader) weigh(rank int, text string) {
	if rank > rd.weightRank && text != "" {
		rd.weight, rd.weightRank = text, rank
	}
}

func (rd *gexfReader) dynamic() error {
	return rd.o.fail(rd.at(), "a dynamic graph is not read", "export a static graph, such as the one at a time that Gephi shows")
}

func (rd *gexfReader) finished(name string) error {
	switch name {
	case "attributes":
		rd.ofEdges = false
	case "default":
		rd.inDefault = false
		if rank := rd.ranks[rd.attribute]; rd.ofEdges && rank > rd.defltRank {
			rd.deflt, rd.defltRank = rd.text.String(), rank
		}
	case "edge":
		rd.inEdge = false
		kind := rd.kind
		if kind == "" {
			kind = rd.fallback
		}
		switch strings.ToLower(kind) {
		case "directed":
			rd.arcs++
			rd.directed = append(rd.directed, true)
		case "undirected", "mutual", "":
			rd.directed = append(rd.directed, false)
		default:
			return rd.o.fail(rd.line, "the type of the edge is "+quote(kind)+", want directed, undirected or mutual", "")
		}
		if rd.defltRank > rd.weightRank {
			rd.weight = rd.deflt
		}
		return rd.edge(rd.source, rd.target, rd.weight, false, rd.line)
	}
	return nil
}

func (rd *gexfReader) chars(text []byte) {
	if rd.inDefault {
		rd.text.Write(text)
	}
}
