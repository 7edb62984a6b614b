package namedgraph

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/internal/chunk"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// xmlReader reads the elements of a graph in XML: GraphML and GEXF.
type xmlReader struct {
	*namedGraph
	dec     *xml.Decoder
	skipped int64 // lines before those that dec reads
	part    bool  // of a piece of the file
}

// xmlElements receives the elements of a file in order.
type xmlElements interface {
	begin(t xml.StartElement) error
	finished(name string) error
	chars(text []byte) // between tags
}

// xmlInput is the input of a decoder, which reads it byte by byte and no further than its tokens.
type xmlInput struct{ *bufio.Reader }

// xmlHead is the number of bytes in which an XML declaration must end.
const xmlHead = 1 << 10

// openXML returns the text of an XML file in UTF-8, decompressed, and reads to its root element,
// which must have the given name.
func openXML(g *namedGraph, r io.Reader, root string) (rd xmlReader, in *xmlInput, taken func() int64, err error) {
	plain, taken, err := chunk.OpenText(r)
	if err != nil {
		return rd, nil, nil, g.O.StreamError(1, err)
	}
	b := bufio.NewReaderSize(plain, 1<<14)
	head, err := b.Peek(xmlHead)
	if err != nil && err != io.EOF {
		return rd, nil, nil, g.O.StreamError(1, err)
	}
	code, name := xmlEncoding(head)
	switch {
	case name != "":
		return rd, nil, nil, g.O.Fail(1, "the encoding is "+core.Quote(name)+", which is not known", "convert the file to UTF-8")
	case code != nil:
		b = bufio.NewReaderSize(code.NewDecoder().Reader(b), 1<<14)
	}
	in = &xmlInput{b}
	rd = xmlReader{namedGraph: g, dec: newXMLDecoder(in)}
	return rd, in, taken, rd.root(root)
}

// newXMLDecoder returns a decoder of a text that is UTF-8 whatever its declaration says.
func newXMLDecoder(r io.Reader) *xml.Decoder {
	d := xml.NewDecoder(r)
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	return d
}

// xmlEncoding returns the encoding of an XML file by its first bytes, nil for UTF-8, or the name of
// one that is not known: Unicode and the sets of one byte are. The tables of Chinese, Japanese and
// Korean sets would be .65 MB of each program that reads graphs. A byte order mark is read before.
func xmlEncoding(head []byte) (code encoding.Encoding, unknown string) {
	switch {
	case bytes.HasPrefix(head, []byte("<\x00?\x00")):
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), ""
	case bytes.HasPrefix(head, []byte("\x00<\x00?")):
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), ""
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		return nil, ""
	}
	declaration, _, ok := bytes.Cut(head, []byte("?>"))
	if !ok || !bytes.HasPrefix(declaration, []byte("<?xml")) {
		return nil, ""
	}
	_, value, ok := strings.Cut(string(declaration), "encoding")
	if value = strings.TrimLeft(strings.TrimLeft(value, " \t\r\n"), "= \t\r\n"); !ok || value == "" {
		return nil, ""
	}
	name, _, ok := strings.Cut(value[1:], value[:1])
	upper := strings.ToUpper(name)
	if !ok || upper == "UTF-8" || upper == "UTF8" || upper == "US-ASCII" || strings.HasPrefix(upper, "UTF-16") { // read by its mark
		return nil, ""
	}
	want := nameKey(name)
	for _, c := range charmap.All {
		if named, ok := c.(interface{ String() string }); ok && nameKey(named.String()) == want {
			return c, ""
		}
	}
	return nil, name
}

// nameAliases are parts of names of encodings that nameKey replaces.
var nameAliases = strings.NewReplacer("ibmcodepage", "ibm", "windowscodepage", "ibm", "ibm00", "ibm",
	"cp125", "windows125", "cp", "ibm", "xmaccyrillic", "macintoshcyrillic")

// nameKey returns the form of the name of an encoding in which the names of IANA and the names of
// package charmap agree.
func nameKey(name string) string {
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune(" -_", r) {
			return -1
		}
		return r
	}, strings.ToLower(name))
	if name == "latin1" {
		return "iso88591"
	}
	return nameAliases.Replace(name)
}

// root reads to the root element.
func (rd *xmlReader) root(want string) error {
	for {
		token, err := rd.dec.Token()
		if err == io.EOF {
			return rd.O.Fail(0, "the file has no element", "")
		}
		if err != nil {
			return rd.xmlError(err)
		}
		if t, ok := token.(xml.StartElement); ok {
			if t.Name.Local != want {
				return rd.O.FailKind(rd.at(), "the root element of the file is "+RootOf(t.Name.Local, t.Name.Space)+", want "+core.Quote(want), core.RemedyFormat)
			}
			return nil
		}
	}
}

// RootOf describes the root element of an XML file that is not read.
func RootOf(name, space string) string {
	if name == "graph" && strings.Contains(space, "XGMML") {
		return core.Quote(name) + " of XGMML (Cytoscape), which is not read"
	}
	return core.Quote(name)
}

// tokens reads to the end of the text, and calls after after each token.
func (rd *xmlReader) tokens(to xmlElements, after func() error, taken func() int64) error {
	for count := 0; ; count++ {
		if count&0xfff == 0 {
			if err := rd.O.Stopped(); err != nil {
				return err
			}
			if !rd.part {
				rd.O.Report(taken())
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
			err = to.begin(t)
		case xml.EndElement:
			err = to.finished(t.Name.Local)
		case xml.CharData:
			to.chars(t)
		}
		if err == nil && after != nil {
			err = after()
		}
		if err != nil {
			return err
		}
	}
}

func (rd *xmlReader) at() int64 {
	line, _ := rd.dec.InputPos()
	return int64(line) + rd.skipped
}

// xmlError wraps an error of the text, and returns one of the stream.
func (rd *xmlReader) xmlError(err error) error {
	var syntax *xml.SyntaxError
	if errors.As(err, &syntax) {
		syntax.Line += int(rd.skipped)
		e := rd.O.Fail(int64(syntax.Line), "the XML is not well formed: "+syntax.Msg, "")
		if syntax.Msg == "invalid UTF-8" {
			e.Remedy = `the first line says the encoding, such as <?xml version="1.0" encoding="ISO-8859-1"?>`
		}
		e.Err = err
		return e
	}
	if errors.Is(err, chunk.ErrGzip) {
		return rd.O.StreamError(rd.at(), err)
	}
	if msg, ok := strings.CutPrefix(err.Error(), "xml: "); ok { // as of another version than 1.0
		e := rd.O.Fail(rd.at(), "the XML cannot be read: "+msg, "")
		e.Err = err
		return e
	}
	return err
}

// attribute returns the value of an attribute, "" without it.
func attribute(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// RootElement returns the name and the namespace of the root element of an XML file, "" if its
// first bytes do not tell them.
func RootElement(head []byte) (name, space string) {
	if code, _ := xmlEncoding(head); code != nil {
		head, _ = code.NewDecoder().Bytes(head)
	}
	d := newXMLDecoder(bytes.NewReader(head))
	for {
		token, err := d.Token()
		if err != nil {
			return "", ""
		}
		switch t := token.(type) {
		case xml.StartElement:
			return t.Name.Local, t.Name.Space
		case xml.CharData:
			if len(bytes.TrimSpace(t)) > 0 {
				return "", ""
			}
		}
	}
}
