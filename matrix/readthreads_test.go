package matrix

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// stream hides that a reader is a file.
type stream struct{ r io.Reader }

func (s stream) Read(p []byte) (int, error) { return s.r.Read(p) }

// inPieces sets the number of bytes that a thread reads at a time.
func inPieces(bytes int) ReadOption { return readOption(func(o *readOptions) { o.piece = bytes }) }

// allThreads are the numbers of threads that tests of readers compare.
var allThreads = []int{1, 2, 3, 8, 16}

// reading describes the result of a reader: the matrix, the labels and the info, or the error.
func reading[T Element](a *Labelled[T], info Info, err error) string {
	if err != nil {
		text := ""
		for e := err; e != nil; e = errors.Unwrap(e) {
			text += fmt.Sprintf("%T %+v: ", e, e)
			if p, ok := e.(*ParseError); ok {
				text += fmt.Sprintf("%q %d %q %q %v ", p.File, p.Line, p.Msg, p.Remedy, p.Kind)
			}
		}
		return text
	}
	m, n := a.Matrix.Dims()
	if int64(len(a.Matrix.stored().Ptr)) > 1<<20 {
		return fmt.Sprintf("%d×%d", m, n)
	}
	return fmt.Sprintf("%d×%d %v %v %s; %v %q %v %q %v", m, n, a.Matrix.Format(), a.Matrix.NVals(), entriesOf(a.Matrix),
		a.Rows == a.Cols, namesOf(a.Rows), a.Rows.Numeric(), namesOf(a.Cols), info)
}

// sameReadings compares the readings of data in order by one thread with those by several threads
// in pieces of several sizes, of a file and if streams of a stream.
func sameReadings[T Element](t *testing.T, what string, data []byte, format FileFormat, streams bool, pieces, threads []int, opts ...ReadOption) string {
	t.Helper()
	read := func(r io.Reader, more ...ReadOption) string {
		var info Info
		more = append(append(more, InFormat(format), FileName("f"), WithInfo(&info)), opts...)
		a, err := ReadLabelled[T](r, more...)
		return reading(a, info, err)
	}
	want := read(stream{bytes.NewReader(data)}, Threads(1), inPieces(serially))
	for _, piece := range pieces {
		for _, n := range threads {
			if got := read(bytes.NewReader(data), Threads(n), inPieces(piece)); got != want {
				t.Fatalf("%s, %d threads, pieces of %d bytes: got\n%s, want\n%s", what, n, piece, got, want)
			}
			if !streams {
				continue
			}
			if got := read(stream{bytes.NewReader(data)}, Threads(n), inPieces(piece)); got != want {
				t.Fatalf("%s, a stream, %d threads, pieces of %d bytes: got\n%s, want\n%s", what, n, piece, got, want)
			}
		}
	}
	return want
}

// damages calls f with data and with changes of it: cut at places, and with bytes changed.
func damages(data []byte, changes int, f func(what string, data []byte)) {
	f("intact", data)
	for at := 0; at < len(data); at += len(data)/changes + 1 {
		f(fmt.Sprintf("cut after %d of %d bytes", at, len(data)), data[:at])
		bad := bytes.Clone(data)
		bad[at] ^= 0x03
		f(fmt.Sprintf("byte %d of %d changed", at, len(data)), bad)
	}
}

// binaryFiles returns files in the binary form of int32, in every format and with labels.
func binaryFiles(t testing.TB) (files [][]byte) {
	for _, a := range append(everyFormat(t), New[int32](0, 0), New[int32](5, 0), speckled(60, 40, 1)) {
		m, n := a.Dims()
		labels := []sides{{}}
		if m < 1000 {
			for _, l := range someLabels(max(m, n)) {
				labels = append(labels, sides{l, l}, sides{l, nil})
			}
		}
		for _, l := range labels {
			var b bytes.Buffer
			if err := WriteBinary(&b, a, WithRowColumnLabels(l.rows, l.cols)); err != nil {
				t.Fatal(err)
			}
			files = append(files, b.Bytes())
		}
	}
	return files
}

func TestBinaryThreads(t *testing.T) {
	t.Parallel()
	for _, data := range binaryFiles(t) {
		sameReadings[int32](t, "intact", data, FormatBinary, false, []int{1, 8, 24, 1000}, allThreads)
		sameReadings[int32](t, "options", data, FormatBinary, false, []int{8}, []int{3}, PatternOnly(), Symmetrise())
		damages(data, 13, func(what string, data []byte) {
			sameReadings[int32](t, what, data, FormatBinary, false, []int{20}, []int{3})
			if len(data) >= binaryHead {
				sameReadings[int32](t, what+", head sealed", reseal(bytes.Clone(data)), FormatBinary, false, []int{8}, []int{3})
			}
		})
		sameReadings[int32](t, "gzip", gz(t, string(data)), FormatBinary, false, []int{8}, []int{3})
		sameReadings[int32](t, "followed by text", append(bytes.Clone(data), "and more"...), FormatBinary, false, []int{8}, []int{3})
		sameReadings[float64](t, "another type", data, FormatBinary, false, []int{8}, []int{3})
	}
	path := filepath.Join(t.TempDir(), "blocks.hgb")
	a := speckled(60, 40, 1)
	data := writeBlocks(t, path, a, []int{0, 20, 20, 60})
	damages(data, 40, func(what string, data []byte) {
		sameReadings[int32](t, "in blocks, "+what, data, FormatBinary, false, []int{8, 100}, []int{1, 3})
	})
}

// TestBinaryBools reads bytes that are no bool: the first in the file is named, also where a later
// piece has another.
func TestBinaryBools(t *testing.T) {
	t.Parallel()
	a, err := FromDense(1, 300, make([]bool, 300))
	if err != nil {
		t.Fatal(err)
	}
	data, err := a.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	sameReadings[bool](t, "intact", data, FormatBinary, false, []int{7, 64}, allThreads)
	vals := data[binaryHead+16:]
	vals[100], vals[200] = 2, 3
	if got := sameReadings[bool](t, "two bytes", data, FormatBinary, false, []int{7, 64}, allThreads); !bytes.Contains([]byte(got), []byte("byte 2 for a bool")) {
		t.Errorf("got %s", got)
	}
	binary.LittleEndian.PutUint32(data[len(data)-4:], crc32.Checksum(data[binaryHead:len(data)-4], castagnoli))
	sameReadings[bool](t, "with a checksum", data, FormatBinary, false, []int{7, 64}, allThreads)
}

// TestBinaryVectorThreads reads vectors, and files that begin within others and go on.
func TestBinaryVectorThreads(t *testing.T) {
	t.Parallel()
	vals := make([]float32, 1000)
	for i := range vals {
		vals[i] = float32(i) / 3
	}
	v, _ := VectorOf(vals)
	data, err := v.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "v.hgb")
	if err := os.WriteFile(path, slices.Concat([]byte("before"), data, data), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, threads := range allThreads {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.Seek(6, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		for k := range 2 { // a file that is read by position stands at the end of the matrix
			var read []int64
			w, err := ReadVectorBinary[float32](f, Threads(threads), inPieces(100), Progress(func(n int64) { read = append(read, n) }))
			if err != nil || !w.Equal(v) {
				t.Fatalf("%d threads, vector %d: %v, %v", threads, k, w, err)
			}
			if at, err := f.Seek(0, io.SeekCurrent); err != nil || at != int64(6+(k+1)*len(data)) {
				t.Errorf("%d threads: the file stands at %d, %v", threads, at, err)
			}
			if !slices.IsSorted(read) || len(read) < 3 || read[0] > int64(len(data)) {
				t.Errorf("%d threads: progress %v", threads, read)
			}
		}
	}
	w, err := ReadVectorFile[float32](path, InFormat(FormatBinary))
	if !errors.Is(err, ErrParse) {
		t.Errorf("a file that begins with text: %v, %v", w, err)
	}
}

// readAts records the sizes of reads, and fails after some bytes.
type readAts struct {
	io.ReaderAt
	limit int64
	sizes chan int
}

var errRead = errors.New("the disk fails")

func (r readAts) ReadAt(p []byte, at int64) (int, error) {
	if at > r.limit {
		return 0, errRead
	}
	r.sizes <- len(p)
	return r.ReaderAt.ReadAt(p, at)
}

// TestBinaryPieces: sections are read in pieces by position, and an error of the file is returned.
func TestBinaryPieces(t *testing.T) {
	t.Parallel()
	data, err := speckled(100, 100, 2).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	read := func(limit int64, threads int) (sizes []int, err error) {
		at := readAts{bytes.NewReader(data), limit, make(chan int, 10_000)}
		plain := readOption(func(o *readOptions) { o.plain = &plainFile{at: at, size: int64(len(data))} })
		_, err = ReadBinary[int32](stream{nil}, plain, inPieces(96), Threads(threads))
		close(at.sizes)
		for n := range at.sizes {
			sizes = append(sizes, n)
		}
		return sizes, err
	}
	for _, threads := range allThreads {
		sizes, err := read(1<<30, threads)
		pieces := 0
		for _, n := range sizes {
			if n == 96 {
				pieces++
			}
		}
		if err != nil || pieces < len(data)*8/10/96 {
			t.Errorf("%d threads: %d pieces of %d bytes, %v", threads, pieces, len(data), err)
		}
		if _, err := read(int64(len(data)/2), threads); !errors.Is(err, errRead) {
			t.Errorf("%d threads: %v, want the error of the file", threads, err)
		}
	}
}

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
		"a long word":            begin + nodes + strings.Repeat("x", maxGMLText+1) + " edge [ source 1 target 2 ] ]",
	}
	var b bytes.Buffer
	if err := WriteGML(&b, speckled(40, 40, 5), WithLabels(specialNames(40))); err != nil {
		t.Fatal(err)
	}
	texts["as written"] = b.String()
	return texts
}

// sameGraphs compares pieces of several sizes of texts of nodes and edges, whose cuts fall on every
// node and edge, with one thread that reads the whole.
func sameGraphs(t *testing.T, format FileFormat, texts map[string]string, damaged ...string) {
	for what, text := range texts {
		data := []byte(text)
		sameReadings[float64](t, what, data, format, true, []int{1, 90}, []int{1, 3})
		sameReadings[int8](t, what, data, format, false, []int{600}, allThreads, Duplicates(CombineFunc[int8](func(x, _ int8) int8 { return x })))
		sameReadings[float64](t, what, data, format, false, []int{30}, []int{2}, WeightColumn("value"), Symmetrise())
		sameReadings[bool](t, what, data, format, false, []int{30}, []int{2}, WeightColumn(0))
		sameReadings[float64](t, what+", compressed", gz(t, text), format, false, []int{30}, []int{3})
	}
	for _, what := range damaged {
		text := texts[what]
		damages([]byte(text), 40, func(what string, data []byte) {
			sameReadings[float64](t, what, data, format, true, []int{1, 90}, []int{3})
		})
		damages(gz(t, text), 20, func(what string, data []byte) {
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

// restored returns a .npz file with the same arrays, compressed or not.
func restored(t testing.TB, data []byte, method uint16) []byte {
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		out, err := w.CreateHeader(&zip.FileHeader{Name: f.Name, Method: method})
		if err == nil {
			_, err = io.Copy(out, r)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// arraysOfNPZ returns .npz files, of which some have faults, by what they are.
func arraysOfNPZ(t testing.TB) map[string][]byte {
	f4 := func(xs ...float32) string {
		var b []byte
		for _, x := range xs {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
		}
		return string(b)
	}
	files := map[string][]byte{
		"columns in any order": npzOf(t, npzFormat, npzShape, npzPtr, npzIdx, npzData),
		"no offsets":           npzOf(t, npzFormat, npzShape, npzIdx, npzData),
		"no values":            npzOf(t, npzFormat, npzShape, npzPtr, npzIdx),
		"two faults":           npzOf(t, npzFormat, npzShape, npzPtr, [4]string{"indices", "|i1", "(3,)", "\x02\x09\x01"}, [4]string{"data", "<c8", "(3,)", ""}),
		"two columns outside":  npzOf(t, npzFormat, npzShape, npzPtr, [4]string{"indices", "<i4", "(3,)", "\x09\x00\x00\x00\x08\x00\x00\x00\x01\x00\x00\x00"}, npzData),
		"a negative column":    npzOf(t, npzFormat, npzShape, npzPtr, [4]string{"indices", "<i4", "(3,)", "\x01\x00\x00\x00\xff\xff\xff\xff\x01\x00\x00\x00"}, npzData),
		"columns of floats":    npzOf(t, npzFormat, npzShape, npzPtr, [4]string{"indices", "<f4", "(3,)", f4(2, 1, 0)}, npzData),
		"offsets that descend": npzOf(t, npzFormat, npzShape, [4]string{"indptr", "|i1", "(3,)", "\x02\x00\x03"}, npzIdx, npzData),
		"offsets in two rows":  npzOf(t, npzFormat, npzShape, [4]string{"indptr", "|i1", "(3,1)", "\x02\x00\x03"}, npzIdx, npzData),
		"too few values":       npzOf(t, npzFormat, npzShape, npzPtr, npzIdx, [4]string{"data", "|i1", "(2,)", "\x01\x02"}),
		"a fraction":           npzOf(t, npzFormat, npzShape, npzPtr, npzIdx, [4]string{"data", "<f4", "(3,)", f4(1, 1.5, 2.5)}),
		"NaN and infinity":     npzOf(t, npzFormat, npzShape, npzPtr, npzIdx, [4]string{"data", "<f4", "(3,)", f4(1, float32(math.NaN()), float32(math.Inf(1)))}),
		"cut":                  npzOf(t, npzFormat, npzShape, npzPtr, npzIdx, [4]string{"data", "<f4", "(3,)", "\x00"}),
		"more than its items":  npzOf(t, npzFormat, npzShape, npzPtr, npzIdx, [4]string{"data", "<f4", "(3,)", f4(1, 2, 3, 4)}),
		"Booleans":             npzOf(t, npzFormat, npzShape, npzPtr, npzIdx, [4]string{"data", "|b1", "(3,)", "\x01\x00\x01"}),
		"all true":             npzOf(t, npzFormat, npzShape, npzPtr, npzIdx, [4]string{"data", "|b1", "(3,)", "\x01\x01\x01"}),
		"a Boolean of 2":       npzOf(t, npzFormat, npzShape, npzPtr, npzIdx, [4]string{"data", "|b1", "(3,)", "\x01\x02\x03"}),
		"unsigned":             npzOf(t, npzFormat, npzShape, npzPtr, npzIdx, [4]string{"data", "<u8", "(3,)", "\x01\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff"}),
		"big-endian":           npzOf(t, npzFormat, npzShape, npzPtr, npzIdx, [4]string{"data", ">i2", "(3,)", "\x00\x01\x00\x02\xff\xff"}),
		"no entries":           npzOf(t, npzFormat, npzShape, [4]string{"indptr", "|i1", "(3,)", "\x00\x00\x00"}, [4]string{"indices", "<i4", "(0,)", ""}, [4]string{"data", "<f8", "(0,)", ""}),
	}
	for layout := NPZRows; layout <= NPZCoordinates; layout++ {
		a := speckled(40, 40, 3)
		for name, l := range someLabels(40) {
			var b bytes.Buffer
			if err := WriteNPZ(&b, a, InLayout(layout), WithLabels(l)); err != nil {
				t.Fatal(err)
			}
			files[fmt.Sprintf("layout %d, labels %s", layout, name)] = b.Bytes()
		}
	}
	return files
}

// TestNPZThreads: arrays that are compressed, which a thread reads in order, and arrays that are
// not, which all threads read, have the same items and the same errors.
func TestNPZThreads(t *testing.T) {
	t.Parallel()
	for what, data := range arraysOfNPZ(t) {
		stored, deflated := restored(t, data, zip.Store), restored(t, data, zip.Deflate)
		same := func(want string, got string) {
			t.Helper()
			if got != want {
				t.Fatalf("%s: stored\n%s, compressed\n%s", what, got, want)
			}
		}
		for _, opts := range [][]ReadOption{nil, {AllowNaN()}, {PatternOnly()}, {Symmetrise(), Duplicates(CombineFunc[float32](func(x, _ float32) float32 { return x }))}} {
			same(sameReadings[float32](t, what, deflated, FormatNPZ, true, []int{3}, []int{1, 3}, opts...),
				sameReadings[float32](t, what, stored, FormatNPZ, true, []int{1, 9}, []int{1, 3}, opts...))
		}
		same(sameReadings[int8](t, what, deflated, FormatNPZ, false, []int{3}, allThreads),
			sameReadings[int8](t, what, stored, FormatNPZ, false, []int{1, 24}, allThreads))
		same(sameReadings[bool](t, what, deflated, FormatNPZ, false, []int{3}, []int{3}),
			sameReadings[bool](t, what, stored, FormatNPZ, false, []int{3}, []int{3}))
	}
}

// TestNPZDamage: a changed byte of an array is found by its checksum, compressed or not.
func TestNPZDamage(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := WriteNPZ(&b, speckled(40, 40, 3)); err != nil {
		t.Fatal(err)
	}
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		data := restored(t, b.Bytes(), method)
		damages(data, 40, func(what string, data []byte) {
			sameReadings[int32](t, what, data, FormatNPZ, true, []int{8, 64}, []int{1, 3})
		})
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range z.File {
			at, err := f.DataOffset()
			if err != nil {
				t.Fatal(err)
			}
			bad := bytes.Clone(data)
			bad[at+int64(f.CompressedSize64)-1] ^= 1
			_, err = ReadNPZ[int32](bytes.NewReader(bad), inPieces(50))
			if f.Name != "format.npy" && f.Name != "shape.npy" && !errors.Is(err, ErrParse) {
				t.Errorf("method %d, %s changed: got %v", method, f.Name, err)
			}
			if f.Name == "data.npy" && method == zip.Store && !errors.Is(err, zip.ErrChecksum) {
				t.Errorf("values changed: got %v, want an error of the checksum", err)
			}
		}
	}
}

func TestNPYThreads(t *testing.T) {
	t.Parallel()
	a := speckled(30, 50, 4)
	var b bytes.Buffer
	if err := WriteNPY(&b, a); err != nil {
		t.Fatal(err)
	}
	damages(b.Bytes(), 20, func(what string, data []byte) {
		sameReadings[int32](t, what, data, FormatNPY, false, []int{4, 100}, []int{1, 3})
	})
	sameReadings[int32](t, "pattern", b.Bytes(), FormatNPY, false, []int{100}, allThreads, PatternOnly())
	fortran := bytes.Replace(b.Bytes(), []byte("False"), []byte("True "), 1)
	sameReadings[float64](t, "columns first", fortran, FormatNPY, false, []int{100}, allThreads)
	sameReadings[int8](t, "another type", b.Bytes(), FormatNPY, false, []int{100}, allThreads)
	sameReadings[bool](t, "values that do not fit", b.Bytes(), FormatNPY, false, []int{100}, allThreads)
	path := filepath.Join(t.TempDir(), "two.npy")
	if err := os.WriteFile(path, slices.Concat(b.Bytes(), b.Bytes()), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for k := range 2 { // the reader reads no more than its array
		if got, err := ReadNPY[int32](f, inPieces(64)); err != nil || !got.Equal(a) {
			t.Errorf("array %d of a file: %v, %v", k, got, err)
		}
	}
}
