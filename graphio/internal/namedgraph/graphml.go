package namedgraph

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"io"
	"strings"

	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// graphMLKey is a key of data.
type graphMLKey struct {
	label  bool // of nodes
	weight int  // the rank of a weight of edges
}

// graphMLNode is an open node.
type graphMLNode struct {
	id, label string
	drawn     string // the label that yEd draws
	line      int64
}

// graphMLReader reads the elements of a file.
type graphMLReader struct {
	xmlReader
	keys       map[string]graphMLKey
	graph      bool // the graph has begun
	undirected bool

	fallback     string // the default weight
	fallbackRank int

	// The open elements.
	nodes           []graphMLNode // a node and those around it
	nested          []bool        // graphs within nodes: whether they are undirected
	inNode, inEdge  bool
	source, target  string
	weight          string
	rank            int
	both            bool
	line            int64  // of the edge
	key             string // of data, or of a key with a default
	inData, inDeflt bool
	hasData         bool // an element data has begun
	text            strings.Builder
	drawing         int // elements open from a label of yEd on
	drawn           strings.Builder
}

// maxGraphMLDepth bounds the nesting of graphs.
const maxGraphMLDepth = 1000

// ReadGraphML is graphio.ReadGraphML.
func ReadGraphML(r io.Reader, o *core.ReadOptions) (*sparse.Store, core.Sides, error) {
	g, err := newNamedGraph("graphio.ReadGraphML", r, o)
	if err != nil {
		return nil, core.Sides{}, err
	}
	x, in, taken, err := openXML(g, r, "graphml")
	if err != nil {
		return nil, core.Sides{}, err
	}
	rd := &graphMLReader{xmlReader: x, keys: map[string]graphMLKey{}}
	inPieces := false
	err = rd.tokens(rd, func() error {
		if rd.graph && !inPieces && !rd.inNode && !rd.inEdge && !rd.inData && !rd.inDeflt {
			inPieces = true
			return rd.pieces(in, taken)
		}
		return nil
	}, taken)
	if err != nil {
		return nil, core.Sides{}, err
	}
	if !rd.graph {
		return nil, core.Sides{}, o.Fail(0, "the file has no element graph", "")
	}
	o.Report(taken())
	return rd.end("GraphML", rd.undirected)
}

func (rd *graphMLReader) chars(text []byte) {
	if rd.inData || rd.inDeflt {
		rd.text.Write(text)
	}
	if rd.drawing == 1 {
		rd.drawn.Write(text)
	}
}

// pieces reads the nodes and edges of the graph in pieces, after its start tag. Elements of a piece
// are balanced, so that the decoder reads on after the pieces as if they were not there.
func (rd *graphMLReader) pieces(in *xmlInput, taken func() int64) error {
	begin := rd.at()
	rest, line, err := readNamedPieces(rd.namedGraph, in.Reader, begin, cutGraphML, taken,
		func(b chunk.Block, own *namedGraph) (*graphMLReader, error) {
			p := &graphMLReader{xmlReader: xmlReader{namedGraph: own, dec: newXMLDecoder(bytes.NewReader(b.Data)), skipped: b.Line - 1, part: true},
				keys: rd.keys, graph: true, undirected: rd.undirected, fallback: rd.fallback, fallbackRank: rd.fallbackRank}
			return p, p.tokens(p, nil, nil)
		}, func(p *graphMLReader) {
			if p.hasData {
				rd.key = p.key
			}
		})
	in.Reader = bufio.NewReader(rest)
	rd.skipped = line - begin
	return err
}

// cutGraphML returns the begin of the last node or edge of a text, or of the end of a graph after
// them.
func cutGraphML(text []byte) int {
	for at := len(text); at > 0; {
		if at = bytes.LastIndexByte(text[:at], '<'); at <= 0 {
			break
		}
		for _, tag := range []string{"<node", "<edge", "</graph>"} {
			if bytes.HasPrefix(text[at:], []byte(tag)) {
				return at
			}
		}
	}
	return 0
}

func (rd *graphMLReader) begin(t xml.StartElement) error {
	if rd.drawing > 0 {
		rd.drawing++
		return nil
	}
	switch t.Name.Local {
	case "key":
		if rd.part { // which has the keys before the graph
			return errPiece
		}
		rd.beginKey(t)
	case "default":
		if rd.part {
			return errPiece
		}
		rd.inDeflt = true
		rd.text.Reset()
	case "graph":
		return rd.beginGraph(attribute(t, "edgedefault") == "undirected")
	case "node":
		if rd.inNode || rd.inEdge {
			return rd.O.Fail(rd.at(), "a node within another element is not read", "put it into a graph within the element")
		}
		rd.inNode = true
		rd.nodes = append(rd.nodes, graphMLNode{id: attribute(t, "id"), line: rd.at()})
	case "edge":
		return rd.beginEdge(t)
	case "hyperedge":
		return rd.O.Fail(rd.at(), "hyperedges are not read", "")
	case "data":
		rd.key, rd.inData, rd.hasData = attribute(t, "key"), true, true
		rd.text.Reset()
	case "NodeLabel": // of yEd, within data
		if rd.inNode && rd.inData {
			rd.drawing = 1
			rd.drawn.Reset()
		}
	}
	return nil
}

func (rd *graphMLReader) beginKey(t xml.StartElement) {
	rd.key = attribute(t, "id")
	name, of := attribute(t, "attr.name"), attribute(t, "for")
	k := graphMLKey{}
	if of == "node" || of == "all" || of == "" {
		k.label = strings.EqualFold(name, "label") || strings.EqualFold(name, "name")
	}
	if of == "edge" || of == "all" || of == "" {
		k.weight = weightName(rd.O, name)
	}
	rd.keys[rd.key] = k
}

// beginGraph begins the graph, or one within a node.
func (rd *graphMLReader) beginGraph(undirected bool) error {
	switch {
	case !rd.graph:
		rd.graph, rd.undirected = true, undirected
		return nil
	case rd.part: // one thread reads nested graphs
		return errPiece
	case !rd.inNode:
		return rd.O.Fail(rd.at(), "a second graph is not read", "write one graph a file")
	case rd.undirected && !undirected:
		return rd.O.Fail(rd.at(), "a directed graph within an undirected one is not read", "set edgedefault of all graphs to directed, and directed to false at the edges that are not")
	case len(rd.nested) == maxGraphMLDepth:
		return rd.O.Fail(rd.at(), "the graphs are nested too deeply", "")
	}
	rd.nested = append(rd.nested, undirected)
	rd.inNode = false
	return nil
}

func (rd *graphMLReader) beginEdge(t xml.StartElement) error {
	if rd.inNode || rd.inEdge {
		return rd.O.Fail(rd.at(), "an edge within another element is not read", "")
	}
	rd.inEdge, rd.source, rd.target, rd.weight, rd.rank, rd.line = true, attribute(t, "source"), attribute(t, "target"), "", 0, rd.at()
	undirected := rd.undirected
	if k := len(rd.nested); k > 0 {
		undirected = rd.nested[k-1]
	}
	directed := attribute(t, "directed")
	rd.both = !rd.undirected && (directed == "false" || undirected && directed != "true")
	if rd.undirected && directed == "true" {
		return rd.O.Fail(rd.line, "a directed edge of an undirected graph is not read", "set edgedefault to directed, and directed to false at the other edges")
	}
	return nil
}

func (rd *graphMLReader) finished(name string) error {
	if rd.drawing > 0 {
		if rd.drawing--; rd.drawing > 0 {
			return nil
		}
		if n := &rd.nodes[len(rd.nodes)-1]; n.drawn == "" {
			n.drawn = strings.TrimSpace(rd.drawn.String())
		}
		return nil
	}
	switch name {
	case "default":
		rd.inDeflt = false
		if k := rd.keys[rd.key]; k.weight > rd.fallbackRank {
			rd.fallback, rd.fallbackRank = rd.text.String(), k.weight
		}
	case "data":
		rd.inData = false
		switch k := rd.keys[rd.key]; {
		case rd.inNode && k.label:
			rd.nodes[len(rd.nodes)-1].label = strings.TrimSpace(rd.text.String())
		case rd.inEdge && k.weight > rd.rank:
			rd.weight, rd.rank = rd.text.String(), k.weight
		}
	case "graph":
		if k := len(rd.nested); k > 0 {
			rd.nested, rd.inNode = rd.nested[:k-1], true
		}
	case "node":
		k := len(rd.nodes) - 1
		n := rd.nodes[k]
		rd.nodes, rd.inNode = rd.nodes[:k], false
		if n.label == "" {
			n.label = n.drawn
		}
		return rd.node(n.id, n.label, n.line)
	case "edge":
		rd.inEdge = false
		if rd.fallbackRank > rd.rank {
			rd.weight = rd.fallback
		}
		return rd.edge(rd.source, rd.target, rd.weight, rd.both, rd.line)
	}
	return nil
}
