package namedgraph

import (
	"bufio"
	"bytes"
	"fmt"
	"html"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"golang.org/x/text/encoding/charmap"
)

// MaxGMLText and maxGMLDepth bound a token and the nesting of lists.
const (
	MaxGMLText  = 1 << 20
	maxGMLDepth = 100
)

// gmlReader reads the tokens of a file.
type gmlReader struct {
	*namedGraph
	r    *bufio.Reader
	line int64
	text []byte
	n    int  // tokens
	part bool // of a piece of the file

	latin int // texts that are no UTF-8

	directed bool
	given    bool // directed is given
}

// The kinds of tokens.
const (
	gmlEnd = iota
	gmlWord
	gmlString
	gmlOpen
	gmlClose
)

// ReadGML is graphio.ReadGML.
func ReadGML(r io.Reader, o *core.ReadOptions) (*sparse.Store, core.Sides, error) {
	g, err := newNamedGraph("graphio.ReadGML", r, o)
	if err != nil {
		return nil, core.Sides{}, err
	}
	plain, taken, err := chunk.OpenText(r)
	if err != nil {
		return nil, core.Sides{}, o.StreamError(1, err)
	}
	rd := &gmlReader{namedGraph: g, r: bufio.NewReaderSize(plain, 1<<16), line: 1}
	if head, _ := rd.r.Peek(3); string(head) == "\xef\xbb\xbf" {
		_, _ = rd.r.Discard(3) // a byte order mark
	}
	found := false
	for {
		kind, err := rd.next()
		if err != nil {
			return nil, core.Sides{}, err
		}
		if kind == gmlEnd {
			break
		}
		if kind != gmlWord {
			return nil, core.Sides{}, rd.bad("want a key")
		}
		key := string(rd.text)
		if kind, err = rd.next(); err != nil {
			return nil, core.Sides{}, err
		}
		switch {
		case kind == gmlEnd || kind == gmlClose:
			return nil, core.Sides{}, rd.bad("the key " + core.Quote(key) + " has no value")
		case kind != gmlOpen:
		case !strings.EqualFold(key, "graph"):
			err = rd.list(1, nil, nil)
		case found:
			return nil, core.Sides{}, rd.bad("a second graph is not read")
		default:
			found = true
			if err = rd.pieces(taken); err == nil {
				err = rd.graph(taken)
			}
		}
		if err != nil {
			return nil, core.Sides{}, err
		}
	}
	if !found {
		return nil, core.Sides{}, o.Fail(0, "the file has no “graph [ … ]”", "")
	}
	o.Report(taken())
	if rd.latin > 0 {
		o.Warning(core.RemedyText, fmt.Sprintf("labels and other texts that are no UTF-8 are read as windows-1252 (ISO 8859-1): %d", rd.latin))
	}
	return rd.end("GML", !rd.directed)
}

// pieces reads the list of a graph in pieces, after its bracket.
func (rd *gmlReader) pieces(taken func() int64) error {
	rest, line, err := readNamedPieces(rd.namedGraph, rd.r, rd.line, cutGML, taken,
		func(b chunk.Block, own *namedGraph) (*gmlReader, error) {
			p := &gmlReader{namedGraph: own, r: bufio.NewReaderSize(bytes.NewReader(b.Data), 1<<14), line: b.Line, part: true}
			return p, p.graph(nil)
		}, func(p *gmlReader) {
			rd.latin += p.latin
			if p.given {
				rd.directed, rd.given = p.directed, true
			}
		})
	rd.r, rd.line = bufio.NewReaderSize(rest, 1<<16), line
	return err
}

// cutGML returns the begin of the last node or edge of a text, after the end of another token.
func cutGML(text []byte) int {
	for at := len(text); at > 0; {
		if at = bytes.LastIndexByte(text[:at], '['); at < 0 {
			break
		}
		key := bytes.TrimRight(text[:at], " \t\r\n")
		begin := len(key) - len("node")
		if begin > 0 && (bytes.HasSuffix(key, []byte("node")) || bytes.HasSuffix(key, []byte("edge"))) &&
			bytes.IndexByte([]byte(" \t\r\n]"), key[begin-1]) >= 0 {
			return begin
		}
	}
	return 0
}

// graph reads the list of a graph, or a piece of it.
func (rd *gmlReader) graph(taken func() int64) error {
	return rd.list(1, func(key, value string) error {
		if key == "directed" {
			rd.directed, rd.given = value != "0", true
		}
		return nil
	}, func(key string) error {
		if !rd.part {
			rd.O.Report(taken())
		}
		line := rd.line
		switch key {
		case "node":
			var id, label, name string
			err := rd.list(2, func(key, value string) error {
				switch key {
				case "id":
					id = value
				case "label":
					label = value
				case "name":
					name = value
				}
				return nil
			}, nil)
			if err != nil {
				return err
			}
			if label == "" {
				label = name
			}
			return rd.node(id, label, line)
		case "edge":
			var source, target, weight string
			rank := 0
			err := rd.list(2, func(key, value string) error {
				switch w := weightName(rd.O, key); {
				case key == "source":
					source = value
				case key == "target":
					target = value
				case w > rank:
					weight, rank = value, w
				}
				return nil
			}, nil)
			if err != nil {
				return err
			}
			return rd.edge(source, target, weight, false, line)
		}
		return rd.list(2, nil, nil)
	})
}

// list reads the pairs of a list after its bracket, to the bracket that closes it, or the pairs of
// a piece to its end. scalar gets values that are no lists, and sub reads lists; a nil function
// skips.
func (rd *gmlReader) list(depth int, scalar func(key, value string) error, sub func(key string) error) error {
	if depth > maxGMLDepth {
		return rd.bad("the lists are nested too deeply")
	}
	for {
		kind, err := rd.next()
		switch {
		case err != nil:
			return err
		case kind == gmlClose && rd.part && depth == 1:
			return errPiece
		case kind == gmlClose || kind == gmlEnd && rd.part && depth == 1:
			return nil
		case kind == gmlEnd:
			return rd.bad("the file ends within a list")
		case kind != gmlWord:
			return rd.bad("want a key or ]")
		}
		key := string(rd.text)
		switch kind, err = rd.next(); {
		case err != nil:
			return err
		case kind == gmlOpen && sub != nil:
			err = sub(key)
		case kind == gmlOpen:
			err = rd.list(depth+1, nil, nil)
		case kind == gmlEnd || kind == gmlClose:
			err = rd.bad("the key " + core.Quote(key) + " has no value")
		case scalar != nil:
			err = scalar(key, string(rd.text))
		}
		if err != nil {
			return err
		}
	}
}

func (rd *gmlReader) bad(msg string) error { return rd.O.Fail(rd.line, msg, "") }

// next reads a token into rd.text.
func (rd *gmlReader) next() (kind int, err error) {
	if rd.n++; rd.n&0xfff == 0 {
		if err := rd.O.Stopped(); err != nil {
			return 0, err
		}
	}
	rd.text = rd.text[:0]
	c := byte(' ')
	for c == ' ' || c == '\t' || c == '\r' || c == '\n' {
		if c, err = rd.r.ReadByte(); err == io.EOF {
			return gmlEnd, nil
		} else if err != nil {
			return 0, rd.O.StreamError(rd.line, err)
		}
		switch c {
		case '\n':
			rd.line++
		case '#':
			for c != '\n' {
				if c, err = rd.r.ReadByte(); err == io.EOF && rd.part {
					return 0, errPiece // within a comment
				} else if err == io.EOF {
					return gmlEnd, nil
				} else if err != nil {
					return 0, rd.O.StreamError(rd.line, err)
				}
			}
			rd.line++
		}
	}
	switch c {
	case '[':
		return gmlOpen, nil
	case ']':
		return gmlClose, nil
	case '"':
		return gmlString, rd.quoted()
	}
	for {
		rd.text = append(rd.text, c)
		if len(rd.text) > MaxGMLText {
			return 0, rd.bad("a word is longer than 1 MiB")
		}
		if c, err = rd.r.ReadByte(); err == io.EOF {
			return gmlWord, nil
		} else if err != nil {
			return 0, rd.O.StreamError(rd.line, err)
		}
		if c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '[' || c == ']' {
			return gmlWord, rd.r.UnreadByte()
		}
	}
}

// quoted reads a string after its first quotation mark.
func (rd *gmlReader) quoted() error {
	for {
		c, err := rd.r.ReadByte()
		switch {
		case err == io.EOF:
			return rd.bad("the file ends within a string")
		case err != nil:
			return rd.O.StreamError(rd.line, err)
		case c == '"':
			if !utf8.Valid(rd.text) {
				rd.latin++
				text, _ := charmap.Windows1252.NewDecoder().Bytes(rd.text) // every byte has a character
				rd.text = append(rd.text[:0], text...)
			}
			if text := string(rd.text); strings.Contains(text, "&") {
				rd.text = append(rd.text[:0], html.UnescapeString(text)...)
			}
			return nil
		case c == '\n':
			rd.line++
		}
		if rd.text = append(rd.text, c); len(rd.text) > MaxGMLText {
			return rd.bad("a string is longer than 1 MiB")
		}
	}
}
