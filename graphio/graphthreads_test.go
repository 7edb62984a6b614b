package graphio

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/graphio/internal/namedgraph"
	"github.com/hiveblas/hiveblas/matrix"
)

// specialNames returns labels with characters that a text of a graph escapes, or that look like it.
func specialNames(n int) *Labels {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("é%d <edge [ id & \"node [\" # '&amp;' ]", i)
	}
	return NewLabels(names)
}

// graphMLTexts returns GraphML files, by what they are; some have faults.
func graphMLTexts(t testing.TB) map[string]string {
	begin := `<?xml version="1.0"?><!-- <edge source="c"/> --><graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="l" for="node" attr.name="label"/><key id="w" for="edge" attr.name="weight"><default>7</default></key>
  <key id="v" for="edge" attr.name="value"/>
  <graph id="G" edgedefault="directed">
`
	end := "</graph>\n</graphml>\n"
	list, loops := "", ""
	for i := range 40 {
		list += fmt.Sprintf("<node id=\"v%d\"><data key=\"l\">name &lt;node %d</data></node>\n", i*7%40, i)
		loops += fmt.Sprintf("<edge source='v%d' target='v%d'><data key='w'>%d</data></edge>\n", i, i*3%40, i)
	}
	nodes := "<node id='a'/><node id='b'/><node id=\"c\"/>\n"
	texts := map[string]string{
		"the example":             graphML,
		"a graph":                 begin + list + loops + end,
		"edges first":             begin + loops + list + end,
		"undirected":              strings.Replace(begin+loops+list+end, `"directed"`, `"undirected"`, 1),
		"some undirected":         strings.ReplaceAll(begin+list+loops+end, "target='v1", "directed='false' target='v1"),
		"no nodes":                begin + end,
		"no end":                  begin + list,
		"no graph":                "<graphml>" + list + "</graphml>",
		"an empty graph element":  "<graphml><graph/>" + list + loops + "</graphml>",
		"spaces in end tags":      begin + list + loops + "</graph >\n</graphml >",
		"comments":                begin + nodes + "<!-- <edge source='a' target='b'/> -->\n<edge source='a' target='b'/><!--<node id='a'/>\n-->" + end,
		"a comment without end":   begin + nodes + "<!-- <edge source='a' target='b'/>" + end,
		"CDATA":                   begin + nodes + "<node id='d'><data key='l'><![CDATA[ <node id='a'/> <edge> ]]></data></node>\n<edge source='d' target='b'/>" + end,
		"CDATA without end":       begin + nodes + "<node id='d'><data key='l'><![CDATA[ <node id='a'/> <edge> ",
		"an instruction":          begin + nodes + "<?edit <edge source='a' target='a'/> ?><edge source='a' target='b'/>" + end,
		"a directive":             begin + nodes + "<!ELEMENT node <edge source='a' target='a'/> ><edge source='a' target='b'/>" + end,
		"edges within an element": begin + nodes + "<group>\n<edge source='a' target='b'/>\n<edge source='b' target='b'/></group><edge source='a' target='c'/>" + end,
		"an edge within a node":   begin + nodes + "<node id='d'>\n<edge source='a' target='b'/></node>" + end,
		"an edge without end":     begin + nodes + "<edge source='a' target='b'>\n<edge source='b' target='b'/>" + end,
		"a nested graph":          begin + nodes + "<node id='d'>\n<graph/></node>" + end,
		"a second graph":          begin + nodes + "</graph>\n<graph><node id='d'/>" + end,
		"a hyperedge":             begin + nodes + "<edge source='a' target='b'/>\n<hyperedge/>" + end,
		"a node twice":            begin + list + nodes + "<edge source='a' target='b'/>\n<node id='v7'/>" + list + end,
		"an unknown node":         begin + nodes + "<edge source='a' target='b'/>\n<edge source='b' target='x'/>\n<edge source='y' target='x'/>" + end,
		"a node without id":       begin + nodes + "<node/>\n<edge/>" + end,
		"an edge without source":  begin + nodes + "\n\n<edge target='a'/>\n<node/>" + end,
		"a bad weight":            begin + nodes + "<edge source='a' target='b'><data key='w'>x</data></edge><edge source='a' target='a'><data key='w'>y</data></edge>" + end,
		"a fraction":              begin + nodes + "<edge source='a' target='b'><data key='w'>1</data></edge><edge source='a' target='a'><data key='w'>1.5</data></edge>" + end,
		"two weights":             begin + nodes + "<edge source='a' target='b'><data key='v'>3</data></edge>\n<edge source='a' target='a'><data key='w'>1</data><data key='v'>3</data></edge>" + end,
		"a key among the nodes":   begin + nodes + "<edge source='a' target='b'/><key id='v' for='edge' attr.name='weight'/><edge source='b' target='b'><data key='v'>4</data></edge>" + end,
		"a default of the last":   begin + nodes + "<edge source='a' target='b'><data key='w'>1</data></edge><default>5</default><edge source='b' target='b'/>" + end,
		"an end too many":         begin + nodes + "</node>\n<edge source='a' target='b'/>" + end,
		"another end":             begin + nodes + "\n<edge source='a' target='b'></node>" + end,
		"a bad entity":            begin + nodes + "\n<node id='&foo;'/>\n<edge source='a' target='b'/>" + end,
		"an attribute with <":     begin + nodes + "\n<node id='<edge '/>\n<edge source='a' target='b'/>" + end,
		"no UTF-8":                begin + nodes + "\n<node id='\xff'/>\n<edge source='a' target='b'/>" + end,
		"prefixes":                begin + nodes + "<g:node id='d'/>\n<edge source='a' target='b'/><g:edge source='a' target='d'/>" + end,
		"a repeated edge":         begin + nodes + "<edge source='a' target='b'/>\n<edge source='a' target='b'/>" + end,
		"text":                    begin + nodes + "a <edge source='a' target='b'/>text ]]> more" + end,
		"data in the graph":       begin + "<data key='l'>x</data>" + nodes + "<data key='w'>9<node id='d'/></data><edge source='a' target='d'/>" + end,
		"a graph within data":     "<graphml><data key='w'><graph>" + nodes + "<edge source='a' target='b'/></graph></data></graphml>",
		"more after the end":      begin + nodes + end + "<node id='x'/>\n<edge source='x' target='a'/>",
		"a byte order mark":       "\ufeff" + begin + nodes + end,
	}
	var b bytes.Buffer
	if err := WriteGraphML(&b, speckled(40, 40, 5), WithLabels(specialNames(40))); err != nil {
		t.Fatal(err)
	}
	texts["as written"] = b.String()
	return texts
}

// gmlTexts returns GML files, by what they are; some have faults.
func gmlTexts(t testing.TB) map[string]string {
	begin := "Creator \"edge [\" # node [\nVersion 1\ngraph\n[ comment \"a\nnode [ id 3 ]\"\n directed 1\n"
	list, loops := "", ""
	for i := range 40 {
		list += fmt.Sprintf("node [ id %d label \"name &lt; node [ %d\"\n graphics [ x 1.0 node [ id 4 ] ] ]\n", i*7%40, i)
		loops += fmt.Sprintf("edge\n[ source %d target %d weight %d]\n", i, i*3%40, i)
	}
	nodes := "node [ id 1 ] node [ id 2 ]\nnode [ id 3 ]\n"
	texts := map[string]string{
		"the example":            gml,
		"a graph":                begin + list + loops + "]\n",
		"edges first":            begin + loops + list + "]\n",
		"undirected":             strings.Replace(begin+loops+list+"]", "directed 1", "directed 0", 1),
		"undirected at the end":  begin + loops + list + " directed 0 ]",
		"directed in the middle": strings.Replace(begin+loops, "directed 1", "", 1) + "directed 1\n" + list + "]",
		"close brackets":         strings.NewReplacer(" ]", "]", "] ", "]", "\n", " ").Replace(begin[strings.Index(begin, "graph"):] + list + loops + "]"),
		"no end":                 begin + list,
		"no graph":               "node [ id 1 ]\n" + list,
		"an empty graph":         "graph [ ]",
		"lists after the graph":  begin + nodes + "] node [ id 9 ]\nedge [ source 1 target 9 ]",
		"a second graph":         begin + nodes + "]\ngraph [ node [ id 9 ] ]",
		"comments":               begin + nodes + "# node [ id 1 ]\n edge [ source 1 target 2 ]#edge [ source 1\n# node [",
		"a comment at the end":   begin + nodes + "]\n# edge [",
		"a string without end":   begin + nodes + "edge [ source 1 target 2 ]\nlabel \"x edge [ source 1 target 3 ] node [ id 2 ] ]",
		"within a list":          begin + nodes + "group [ node [ id 1 ]\nedge [ source 7 target 7 ] ]\nedge [ source 1 target 2 ] ]",
		"an edge within a node":  begin + "node [ id 1 edge [ source 1 target 1 ] ]\n" + "node [ id 2 node [ id 3 ] ] ]",
		"an edge as a value":     begin + nodes + "label edge [ source 1 target 2 ] ]",
		"a node as a value":      begin + nodes + "label node edge [ source 1 target 2 ] ]",
		"other keys":             begin + nodes + "nodes [ id 1 ] anode [ id 2 ]\nxedge [ x 2 ] Node [ id 4 ]\nedge [ source 1 target 2 ] ]",
		"a word before":          begin + nodes + "id 5node [ id 4 ]\nedge [ source 1 target 2 ] ]",
		"a node twice":           begin + nodes + list + "]",
		"an unknown node":        begin + nodes + "edge [ source 1 target 2 ]\nedge [ source 2 target 8 ]\n edge [ source 9 target 8 ] ]",
		"a node without id":      begin + nodes + "node [ ]\nedge [ ] ]",
		"an edge without source": begin + nodes + "\n\nedge [ target 1 ]\nnode [ ] ]",
		"a bad weight":           begin + nodes + "edge [ source 1 target 2\nweight x ]\nedge [ source 1 target 3 weight y ] ]",
		"a fraction":             begin + nodes + "edge [ source 1 target 2 weight 2 ]\nedge [ source 1 target 3 value 2.5 ] ]",
		"nested too deeply":      begin + nodes + strings.Repeat("a [\n", 200),
		"a bracket too many":     begin + nodes + "] ]\nedge [ source 1 target 2 ]",
		"no value":               begin + nodes + "node [ id ]\nedge [ source 1 target 2 ] ]",
		"a repeated edge":        begin + nodes + "edge [ source 1 target 2 ]\nedge [ source 1 target 2 ] ]",
		"a long word":            begin + nodes + strings.Repeat("x", namedgraph.MaxGMLText+1) + " edge [ source 1 target 2 ] ]",
	}
	var b bytes.Buffer
	if err := WriteGML(&b, speckled(40, 40, 5), WithLabels(specialNames(40))); err != nil {
		t.Fatal(err)
	}
	texts["as written"] = b.String()
	return texts
}

// sameGraphs reads texts of nodes and edges in pieces of several sizes, so that cuts fall on every
// node and edge, and compares with one thread that reads the whole.
func sameGraphs(t *testing.T, format FileFormat, texts map[string]string, damaged ...string) {
	for what, text := range texts {
		data := []byte(text)
		sameReadings[float64](t, what, data, format, true, []int{1, 90}, []int{1, 3})
		sameReadings[int8](t, what, data, format, false, []int{600}, allThreads, Duplicates(matrix.CombineFunc[int8](func(x, _ int8) int8 { return x })))
		sameReadings[float64](t, what, data, format, false, []int{30}, []int{2}, WeightColumn("value"), Symmetrise())
		sameReadings[bool](t, what, data, format, false, []int{30}, []int{2}, WeightColumn(0))
		sameReadings[float64](t, what+", compressed", gz(t, text), format, false, []int{30}, []int{3})
	}
	for _, what := range damaged {
		text := texts[what]
		damages([]byte(text), 25, func(what string, data []byte) {
			sameReadings[float64](t, what, data, format, true, []int{1, 90}, []int{3})
		})
		damages(gz(t, text), 12, func(what string, data []byte) {
			sameReadings[float64](t, what+" of gzip", data, format, false, []int{60}, []int{3})
		})
	}
}

func TestGraphMLThreads(t *testing.T) {
	t.Parallel()
	sameGraphs(t, FormatGraphML, graphMLTexts(t), "the example", "edges first")
}

func TestGMLThreads(t *testing.T) {
	t.Parallel()
	sameGraphs(t, FormatGML, gmlTexts(t), "the example", "edges first")
}

// TestGraphPieces: the nodes and edges of a text are read in pieces, and not by one thread.
func TestGraphPieces(t *testing.T) {
	t.Parallel()
	for format, text := range map[FileFormat]string{
		FormatGraphML: graphMLTexts(t)["a graph"],
		FormatGML:     strings.NewReplacer("\nnode [ id 3 ]", "", "node [ id 4 ]", "").Replace(gmlTexts(t)["a graph"]), // no other cuts
	} {
		reports, atEnd := 0, 0
		progress := Progress(func(n int64) {
			reports++
			if n == int64(len(text)) {
				atEnd++
			}
		})
		if _, err := ReadLabelled[float64](stream{strings.NewReader(text)}, InFormat(format), inPieces(100), Threads(3), progress, FileName("f")); err != nil {
			t.Fatal(err)
		}
		if reports < len(text)/200 || atEnd == 0 {
			t.Errorf("%v: %d reports of %d bytes, %d at the end", format, reports, len(text), atEnd)
		}
		ctx, cancel := context.WithCancel(context.Background())
		_, err := ReadLabelled[float64](strings.NewReader(text), InFormat(format), inPieces(100), Threads(3), WithContext(ctx), Progress(func(int64) { cancel() }))
		if err != context.Canceled {
			t.Errorf("%v, cancelled: %v", format, err)
		}
	}
}
