package graphio

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/internal/pieces"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// gexf returns a GEXF file of a graph with the given type of edges.
func gexf(version, edgeType, edges string) string {
	return fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?>
<!-- a comment with <node id="x"/> -->
<gexf xmlns="http://gexf.net/%[1]s" version="%[1]s" xmlns:viz="http://gexf.net/%[1]s/viz">
<meta><creator>x</creator></meta>
<graph %s mode="static">
<attributes class="node" mode="static"><attribute id="w" title="weight" type="double"><default>9</default></attribute></attributes>
<attributes class="edge"><attribute id="0" title="cost" type="double"><default>8</default></attribute><attribute id="1" title="value" type="double"/></attributes>
<nodes>
<node id="10" label="Ann &amp; Bo"><attvalues><attvalue for="w" value="5"/></attvalues><viz:color r="1"/></node>
<node id="20" label="Cid"><nodes><node id="21" label="Inner"/></nodes><edges/></node>
</nodes>
<edges>
%s</edges>
</graph>
</gexf>
`, version, edgeType, edges)
}

func TestReadGEXF(t *testing.T) {
	t.Parallel()
	const edges = `<edge id="0" source="10" target="20" weight="2.5"/>
<edge id="1" source="20" target="21"/>
`
	for _, c := range []struct {
		reason, text, want, symmetry string
		opts                         []ReadOption
	}{
		{"undirected is the default", gexf("1.2draft", "", edges), "Ann & Bo Cid 2.5\nCid Ann & Bo 2.5\nCid Inner 1\nInner Cid 1\n", "symmetric", nil},
		{"directed", gexf("1.3", `defaultedgetype="directed"`, edges), "Ann & Bo Cid 2.5\nCid Inner 1\n", "general", nil},
		{"types of edges, in the order of the file", gexf("1.1draft", `defaultedgetype="directed"`,
			`<edge source="10" target="20" type="undirected"/><edge source="20" target="21" weight="3"/><edge source="21" target="21" type="mutual" weight="4"/>`),
			"Ann & Bo Cid 1\nCid Ann & Bo 1\nCid Inner 3\nInner Inner 4\n", "general", nil},
		{"mutual edges alone", gexf("1.2", `defaultedgetype="mutual"`, `<edge source="10" target="20"/>`), "Ann & Bo Cid 1\nCid Ann & Bo 1\n", "symmetric", nil},
		{"both directions of an undirected edge: the smaller", gexf("1.2", "", `<edge source="10" target="20" weight="3"/><edge source="20" target="10" weight="2"/>`),
			"Ann & Bo Cid 2\nCid Ann & Bo 2\n", "symmetric", nil},
		{"an attribute named value, below the weight", gexf("1.2", `defaultedgetype="directed"`,
			`<edge source="10" target="20"><attvalues><attvalue for="1" value="6"/></attvalues></edge><edge source="20" target="21" weight="5"><attvalues><attvalue id="1" value="7"/></attvalues></edge>`),
			"Ann & Bo Cid 6\nCid Inner 5\n", "general", nil},
		{"a chosen attribute with a default", gexf("1.2", `defaultedgetype="directed"`, `<edge source="10" target="20" weight="1"><attvalues><attvalue for="0" value="6"/></attvalues></edge><edge source="20" target="21" weight="2"/>`),
			"Ann & Bo Cid 6\nCid Inner 8\n", "general", []ReadOption{WeightColumn("cost")}},
		{"no weights", gexf("1.2", `defaultedgetype="directed"`, edges), "Ann & Bo Cid 1\nCid Inner 1\n", "general", []ReadOption{WeightColumn(0)}},
	} {
		var info Info
		a, err := ReadLabelled[float64](strings.NewReader(c.text), append(c.opts, WithInfo(&info))...) // found from the content
		if err != nil {
			t.Errorf("%s: %v", c.reason, err)
			continue
		}
		valid(t, a.Matrix)
		if got := strings.ReplaceAll(listOf(t, a), `"`, ""); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", c.reason, got, c.want)
		}
		if info.Layout != "GEXF" || info.Symmetry != c.symmetry {
			t.Errorf("%s: %+v", c.reason, info)
		}
	}
}

func TestXMLErrors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason, text, want string
		line               int64
		format             FileFormat
	}{
		{"GEXF read as GraphML", gexf("1.3", "", ""), "begins like gexf", 0, FormatGraphML},
		{"XGMML", `<?xml version="1.0"?>` + "\n" + `<graph directed="0" xmlns="http://www.cs.rpi.edu/XGMML"><node id="1"/></graph>`, `"graph" of XGMML (Cytoscape)`, 2, FormatGraphML},
		{"XGMML without a format", `<graph xmlns="http://www.cs.rpi.edu/XGMML"></graph>`, `"graph" of XGMML (Cytoscape)`, 0, FormatAuto},
		{"another root", "\n<html></html>", `root element of the XML file is "html"`, 0, FormatAuto},
		{"no element", `<?xml version="1.0"?>`, "no element", 0, FormatGEXF},
		{"a dynamic graph", gexf("1.3", "", "")[:200] + `</meta><graph mode="dynamic"></graph></gexf>`, "not well formed", 0, FormatGEXF},
		{"mode dynamic", `<gexf>` + "\n" + `<graph mode="dynamic"></graph></gexf>`, "a dynamic graph is not read", 2, FormatGEXF},
		{"spells", "<gexf><graph><nodes><node id=\"1\">\n<spells><spell start=\"1\"/></spells></node></nodes></graph></gexf>", "a dynamic graph is not read", 2, FormatGEXF},
		{"a type", "<gexf><graph><nodes><node id=\"1\"/></nodes><edges>\n<edge source=\"1\" target=\"1\" type=\"x\"/></edges></graph></gexf>", `"x", want directed`, 2, FormatGEXF},
		{"a weight", "<gexf><graph><nodes><node id=\"1\"/></nodes><edges>\n<edge source=\"1\" target=\"1\" weight=\"2,5\"/></edges></graph></gexf>", "has a decimal comma", 2, FormatGEXF},
		{"no such node", "<gexf><graph><nodes><node id=\"1\"/></nodes><edges>\n<edge source=\"1\" target=\"7\"/></edges></graph></gexf>", `no node "7"`, 2, FormatGEXF},
		{"a second node", "<gexf><graph><nodes><node id=\"1\"/>\n<node id=\"1\"/></nodes></graph></gexf>", `a second node has the id "1"`, 2, FormatGEXF},
		{"no graph", `<gexf></gexf>`, "no element graph", 0, FormatGEXF},
		{"an unknown encoding", `<?xml version="1.0" encoding="X-KLINGON"?><graphml/>`, `the encoding is "X-KLINGON"`, 1, FormatGraphML},
		{"an encoding of several bytes", `<?xml version="1.0" encoding="GB18030"?><graphml/>`, "convert the file to UTF-8", 1, FormatGraphML},
		{"Latin-1 without its declaration", "<graphml>\n<graph><node id=\"Zo\xeb\"/></graph></graphml>", `encoding="ISO-8859-1"`, 2, FormatGraphML},
		{"a directed graph within an undirected one", "<graphml><graph edgedefault=\"undirected\"><node id=\"1\">\n<graph edgedefault=\"directed\"/></node></graph></graphml>", "a directed graph within", 2, FormatGraphML},
		{"two graphs", "<graphml><graph/>\n<graph/></graphml>", "a second graph", 2, FormatGraphML},
	} {
		_, err := ReadLabelled[float64](strings.NewReader(c.text), InFormat(c.format))
		var e *ParseError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) || c.line > 0 && e.Line != c.line {
			t.Errorf("%s: %v, want %q in line %d", c.reason, err, c.want, c.line)
		}
	}
}

// A text in any encoding gives the same labels.
func TestEncodings(t *testing.T) {
	t.Parallel()
	const name = "Zoë €"
	xmlText := func(encoding string) string {
		return `<?xml version="1.0" encoding="` + encoding + `"?><graphml><key id="l" for="node" attr.name="label"/><graph edgedefault="directed"><node id="a"><data key="l">` + name +
			`</data></node><node id="b"><data key="l">B</data></node><edge source="a" target="b"/></graph></graphml>`
	}
	gmlText := "graph [ directed 1 node [ id 0 label \"" + name + "\" ] node [ id 1 label \"B\" ] edge [ source 0 target 1 ] ]"
	listText := name + "\tB\n"
	bom := func(text string) string { return "\xef\xbb\xbf" + text }
	latin := func(text string) string {
		out, err := charmap.Windows1252.NewEncoder().String(text)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	utf16 := func(text string, endian unicode.Endianness, mark unicode.BOMPolicy) string {
		out, err := unicode.UTF16(endian, mark).NewEncoder().String(text)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for _, c := range []struct {
		reason, text string
		format       FileFormat
	}{
		{"GraphML in windows-1252", latin(xmlText("windows-1252")), FormatAuto},
		{"GraphML in UTF-16 with a mark", utf16(xmlText("UTF-16"), unicode.LittleEndian, unicode.UseBOM), FormatAuto},
		{"GraphML in UTF-16, the other order", utf16(xmlText("UTF-16"), unicode.BigEndian, unicode.UseBOM), FormatAuto},
		{"GraphML in UTF-16 without a mark", utf16(xmlText("UTF-16"), unicode.LittleEndian, unicode.IgnoreBOM), FormatAuto},
		{"GraphML in UTF-8 with a mark", bom(xmlText("utf-8")), FormatAuto},
		{"GML in ISO-8859-1", latin(gmlText), FormatGML},
		{"GML in UTF-16", utf16(gmlText, unicode.BigEndian, unicode.UseBOM), FormatGML},
		{"GML in UTF-8 with a mark", bom(gmlText), FormatGML},
		{"an edge list in UTF-16", utf16(listText, unicode.LittleEndian, unicode.UseBOM), FormatTSV},
		{"an edge list in UTF-8 with a mark", bom(listText), FormatTSV},
	} {
		for _, zipped := range []bool{false, true} {
			data := []byte(c.text)
			if zipped {
				data = gz(t, c.text)
			}
			a, err := ReadLabelled[float64](bytes.NewReader(data), InFormat(c.format), RenumberIDs())
			if err != nil {
				t.Errorf("%s: %v", c.reason, err)
				continue
			}
			if _, ok := a.Rows.Index(name); !ok || a.Matrix.NVals() != 1 {
				t.Errorf("%s: names %v, %d entries", c.reason, namesOf(a.Rows), a.Matrix.NVals())
			}
		}
	}
}

// yEd draws labels within data, and its groups are nodes with a graph.
func TestLabelsOfYEd(t *testing.T) {
	t.Parallel()
	const text = `<graphml xmlns:y="http://www.yworks.com/xml/graphml"><key for="node" id="d6" yfiles.type="nodegraphics"/>
<graph edgedefault="directed" id="G"><data key="d0"/>
<node id="n0"><data key="d6"><y:ShapeNode><y:NodeLabel visible="true">Depot<y:LabelModel><y:Text>x</y:Text></y:LabelModel></y:NodeLabel><y:NodeLabel>second</y:NodeLabel></y:ShapeNode></data></node>
<node id="n1"><data key="d6"><y:Realizers><y:GroupNode><y:NodeLabel>Group</y:NodeLabel></y:GroupNode></y:Realizers></data>
<graph edgedefault="undirected" id="n1:"><node id="n1::n0"><data key="d6"><y:NodeLabel>Inner</y:NodeLabel></data></node>
<node id="n1::n1"><data key="d6"><y:NodeLabel>Other</y:NodeLabel></data></node><edge source="n1::n0" target="n1::n1"/></graph></node>
<edge id="e0" source="n0" target="n1::n0"><data key="d10"><y:EdgeLabel>7.5</y:EdgeLabel></data></edge></graph></graphml>`
	for _, piece := range []int{0, pieces.Serially, 64} {
		a, err := ReadLabelled[float64](strings.NewReader(text), readOption(func(o *core.ReadOptions) { o.Piece = piece }))
		if err != nil {
			t.Fatal(err)
		}
		n, _ := a.Matrix.Dims()
		if got, want := listOf(t, a), "Depot Inner 1\nInner Other 1\nOther Inner 1\n"; got != want || n != 4 {
			t.Errorf("pieces of %d: %d vertices,\n%swant\n%s", piece, n, got, want)
		}
	}
}

// Labels are names with blanks for line breaks; a warning names labels that cannot be names.
func TestLabelsThatAreNoNames(t *testing.T) {
	t.Parallel()
	graphMLOf := func(labels ...string) string {
		text := `<graphml><key id="l" for="node" attr.name="label"/><graph edgedefault="directed">`
		for k, l := range labels {
			text += fmt.Sprintf(`<node id="n%d"><data key="l">%s</data></node>`, k, l)
		}
		return text + `<edge source="n0" target="n1"/></graph></graphml>`
	}
	gexfOf := func(labels ...string) string {
		text := `<gexf><graph><nodes>`
		for k, l := range labels {
			text += fmt.Sprintf(`<node id="n%d" label="%s"/>`, k, strings.NewReplacer("\n", "&#10;", "\t", "&#9;").Replace(l))
		}
		return text + `</nodes><edges><edge source="n0" target="n1"/></edges></graph></gexf>`
	}
	gmlOf := func(labels ...string) string {
		text := "graph [ "
		for k, l := range labels {
			text += fmt.Sprintf("node [ id %d label \"%s\" ] ", k, l)
		}
		return text + "edge [ source 0 target 1 ] ]"
	}
	for _, c := range []struct {
		labels  []string
		names   string
		ids     bool
		warning string
	}{
		{[]string{"first\nsecond", "tab\there", "x"}, "first second,tab here,x", false, "2 names have line breaks or tabs"},
		{[]string{"a", "b", "a"}, "", true, "have the same label \"a\""},
		{[]string{"a\nb", "a\tb"}, "", true, "have the same label \"a b\""},
		{[]string{"a", "", "c"}, "", true, "1 of the 3 nodes have no label"},
		{[]string{"a", "b"}, "a,b", false, ""},
	} {
		for format, text := range map[FileFormat]string{FormatGraphML: graphMLOf(c.labels...), FormatGEXF: gexfOf(c.labels...), FormatGML: gmlOf(c.labels...)} {
			var warnings []string
			a, err := ReadLabelled[float64](strings.NewReader(text), InFormat(format), Warn(func(w Warning) { warnings = append(warnings, w.Msg) }))
			if err != nil {
				t.Fatal(format, err)
			}
			var names []string
			for _, name := range a.Rows.All() {
				names = append(names, name)
			}
			if got := strings.Join(names, ","); !c.ids && got != c.names || c.ids && strings.ContainsAny(got, "abc") {
				t.Errorf("%v, %q: names %q", format, c.labels, got)
			}
			if k, ok := a.Rows.Index(map[bool]string{true: "1", false: "n1"}[format == FormatGML]); a.Rows != nil && (!ok || k != 1) {
				t.Errorf("%v, %q: the vertex of an id is %d, %v", format, c.labels, k, ok)
			}
			if got := strings.Join(warnings, "; "); c.warning == "" && got != "" || !strings.Contains(got, c.warning) {
				t.Errorf("%v, %q: warnings %q, want %q", format, c.labels, got, c.warning)
			}
		}
	}
}
