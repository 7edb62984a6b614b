package matrix

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"github.com/hiveblas/hiveblas/internal/chunk"
)

// ReadGraphML reads the graph of a GraphML file, gzip-compressed or not: its nodes in the order of
// their first mention, its edges and their weights. The weight is the data whose key has the
// attribute name “weight”, else “value”, or that of [WeightColumn], with the default of the key;
// edges without one have 1. The names of vertices are the data named “label” or “name” if all nodes
// have different ones, else their ids; they are nil if they are 0, 1, 2, …. Edges go in both
// directions if edgedefault, or the attribute directed of the edge, says so. Hyperedges and nested
// graphs are an error. All threads parse nodes and edges that are children of the graph; from a key
// among them on, or a graph without such, one thread reads. Errors are a *[ParseError] with the
// line. Source: Brandes et al., “GraphML progress report”, GD 2001, and the GraphML primer.
func ReadGraphML[T Element](r io.Reader, opts ...ReadOption) (*Labelled[T], error) {
	a, s, err := readPlaced(r, readOptionsOf(opts), readGraphML[T])
	if err != nil {
		return nil, err
	}
	return &Labelled[T]{a, s.rows, s.cols}, nil
}

// graphMLKey is a key of data.
type graphMLKey struct {
	label  bool // of nodes
	weight int  // the rank of a weight of edges
}

// graphMLReader reads the elements of a file.
type graphMLReader[T comparable] struct {
	*namedGraph[T]
	dec        *xml.Decoder
	skipped    int64 // lines before those that dec reads
	part       bool  // of a piece of the file
	keys       map[string]graphMLKey
	graph      bool // the graph has begun
	undirected bool

	fallback     string // the default weight
	fallbackRank int

	// The open element.
	inNode, inEdge  bool
	id, label       string
	source, target  string
	weight          string
	rank            int
	both            bool
	line            int64
	key             string // of data, or of a key with a default
	inData, inDeflt bool
	hasData         bool // an element data has begun
	text            strings.Builder
}

func readGraphML[T comparable](r io.Reader, o *readOptions) (*Matrix[T], sides, error) {
	g, err := newNamedGraph[T]("matrix.ReadGraphML", r, o)
	if err != nil {
		return nil, sides{}, err
	}
	plain, taken, err := chunk.Open(r)
	if err != nil {
		return nil, sides{}, o.streamError(1, err)
	}
	in := &xmlInput{bufio.NewReader(plain)}
	rd := &graphMLReader[T]{namedGraph: g, dec: xml.NewDecoder(in), keys: map[string]graphMLKey{}}
	inPieces := false
	err = rd.tokens(func() error {
		if rd.graph && !inPieces && !rd.inNode && !rd.inEdge && !rd.inData && !rd.inDeflt {
			inPieces = true
			return rd.pieces(in, taken)
		}
		return nil
	}, taken)
	if err != nil {
		return nil, sides{}, err
	}
	if !rd.graph {
		return nil, sides{}, o.fail(0, "the file has no element graph", "")
	}
	o.report(taken())
	return rd.end("GraphML", rd.undirected)
}

// xmlInput is the input of a decoder, which reads it byte by byte and no further than its tokens.
type xmlInput struct{ *bufio.Reader }

// tokens reads to the end of the text, and calls after after each token.
func (rd *graphMLReader[T]) tokens(after func() error, taken func() int64) error {
	for count := 0; ; count++ {
		if count&0xfff == 0 {
			if err := rd.o.stopped(); err != nil {
				return err
			}
			if !rd.part {
				rd.o.report(taken())
			}
		}
		token, err := rd.dec.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return rd.xmlError(err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			err = rd.begin(t)
		case xml.EndElement:
			err = rd.finished(t.Name.Local)
		case xml.CharData:
			if rd.inData || rd.inDeflt {
				rd.text.Write(t)
			}
		}
		if err == nil && after != nil {
			err = after()
		}
		if err != nil {
			return err
		}
	}
}

// pieces reads the nodes and edges of the graph, whose start tag is read, in pieces. Elements of a
// piece are balanced, so that the decoder reads on after the pieces as if they were not there.
func (rd *graphMLReader[T]) pieces(in *xmlInput, taken func() int64) error {
	begin := rd.at()
	rest, line, err := readNamedPieces(rd.namedGraph, in.Reader, begin, cutGraphML, taken,
		func(b chunk.Block, own *namedGraph[T]) (*graphMLReader[T], error) {
			p := &graphMLReader[T]{namedGraph: own, dec: xml.NewDecoder(bytes.NewReader(b.Data)), skipped: b.Line - 1, part: true,
				keys: rd.keys, graph: true, undirected: rd.undirected, fallback: rd.fallback, fallbackRank: rd.fallbackRank}
			return p, p.tokens(nil, nil)
		}, func(p *graphMLReader[T]) {
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

func (rd *graphMLReader[T]) at() int64 {
	line, _ := rd.dec.InputPos()
	return int64(line) + rd.skipped
}

// xmlError wraps an error of the text, and returns one of the stream.
func (rd *graphMLReader[T]) xmlError(err error) error {
	var syntax *xml.SyntaxError
	if errors.As(err, &syntax) {
		syntax.Line += int(rd.skipped)
		e := rd.o.fail(int64(syntax.Line), "the XML is not well formed: "+syntax.Msg, "")
		e.Err = err
		return e
	}
	if errors.Is(err, chunk.ErrGzip) {
		return rd.o.streamError(rd.at(), err)
	}
	if strings.HasPrefix(err.Error(), "xml: ") { // an encoding other than UTF-8
		e := rd.o.fail(rd.at(), err.Error(), "convert the file to UTF-8")
		e.Err = err
		return e
	}
	return err
}

func (rd *graphMLReader[T]) begin(t xml.StartElement) error {
	attr := func(name string) string {
		for _, a := range t.Attr {
			if a.Name.Local == name {
				return a.Value
			}
		}
		return ""
	}
	switch t.Name.Local {
	case "key":
		if rd.part { // which has the keys before the graph
			return errPiece
		}
		rd.key = attr("id")
		name, of := attr("attr.name"), attr("for")
		k := graphMLKey{}
		if of == "node" || of == "all" || of == "" {
			k.label = strings.EqualFold(name, "label") || strings.EqualFold(name, "name")
		}
		if of == "edge" || of == "all" || of == "" {
			k.weight = rd.o.weightName(name)
		}
		rd.keys[rd.key] = k
	case "default":
		if rd.part {
			return errPiece
		}
		rd.inDeflt = true
		rd.text.Reset()
	case "graph":
		if rd.graph {
			return rd.o.fail(rd.at(), "a second or a nested graph is not read", "write one graph a file")
		}
		rd.graph, rd.undirected = true, attr("edgedefault") == "undirected"
	case "node":
		if rd.inNode || rd.inEdge {
			return rd.o.fail(rd.at(), "a node within another element is not read", "")
		}
		rd.inNode, rd.id, rd.label, rd.line = true, attr("id"), "", rd.at()
	case "edge":
		if rd.inNode || rd.inEdge {
			return rd.o.fail(rd.at(), "an edge within another element is not read", "")
		}
		rd.inEdge, rd.source, rd.target, rd.weight, rd.rank, rd.line = true, attr("source"), attr("target"), "", 0, rd.at()
		rd.both = !rd.undirected && attr("directed") == "false"
		if rd.undirected && attr("directed") == "true" {
			return rd.o.fail(rd.line, "a directed edge of an undirected graph is not read", "set edgedefault to directed, and directed to false at the other edges")
		}
	case "hyperedge":
		return rd.o.fail(rd.at(), "hyperedges are not read", "")
	case "data":
		rd.key, rd.inData, rd.hasData = attr("key"), true, true
		rd.text.Reset()
	}
	return nil
}

func (rd *graphMLReader[T]) finished(name string) error {
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
			rd.label = strings.TrimSpace(rd.text.String())
		case rd.inEdge && k.weight > rd.rank:
			rd.weight, rd.rank = rd.text.String(), k.weight
		}
	case "node":
		rd.inNode = false
		return rd.node(rd.id, rd.label, rd.line)
	case "edge":
		rd.inEdge = false
		if rd.fallbackRank > rd.rank {
			rd.weight = rd.fallback
		}
		return rd.edge(rd.source, rd.target, rd.weight, rd.both, rd.line)
	}
	return nil
}
