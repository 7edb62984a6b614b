package namedgraph

import (
	"encoding/xml"
	"io"
	"strings"

	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// gexfReader reads the elements of a file.
type gexfReader struct {
	xmlReader
	graph    bool   // the graph has begun
	fallback string // the type of edges without one
	directed []bool // of each edge
	arcs     int    // edges that are directed

	// The attributes of edges with titles that are names of weights.
	ranks      map[string]int // by id
	ofEdges    bool           // the open element attributes declares attributes of edges
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

// ReadGEXF is graphio.ReadGEXF.
func ReadGEXF(r io.Reader, o *core.ReadOptions) (*sparse.Store, core.Sides, error) {
	g, err := newNamedGraph("graphio.ReadGEXF", r, o)
	if err != nil {
		return nil, core.Sides{}, err
	}
	x, _, taken, err := openXML(g, r, "gexf")
	if err != nil {
		return nil, core.Sides{}, err
	}
	rd := &gexfReader{xmlReader: x, ranks: map[string]int{}}
	if err := rd.tokens(rd, nil, taken); err != nil {
		return nil, core.Sides{}, err
	}
	if !rd.graph {
		return nil, core.Sides{}, o.Fail(0, "the file has no element graph", "")
	}
	o.Report(taken())
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
	rd.Flush()
	blocks := rd.Blocks
	rd.Blocks, rd.Count = nil, 0
	k := 0
	for _, t := range blocks {
		for q, i := range t.Row {
			v := rd.E.At(t.Val, int64(q))
			rd.Add(i, t.Col[q], v)
			if !rd.directed[k] && i != t.Col[q] {
				rd.Add(t.Col[q], i, v)
			}
			k++
		}
	}
}

func (rd *gexfReader) begin(t xml.StartElement) error {
	switch t.Name.Local {
	case "graph":
		if rd.graph {
			return rd.O.Fail(rd.at(), "a second graph is not read", "write one graph a file")
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
			rd.ranks[rd.attribute] = weightName(rd.O, attribute(t, "title"))
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
		rd.weigh(weightName(rd.O, "weight"), attribute(t, "weight"))
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
	return rd.O.Fail(rd.at(), "a dynamic graph is not read", "export a static graph, such as the one at a time that Gephi shows")
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
			return rd.O.Fail(rd.line, "the type of the edge is "+core.Quote(kind)+", want directed, undirected or mutual", "")
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
