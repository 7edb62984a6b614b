package graphio

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// renumber are the options of lists with any text as ids.
var renumber = []ReadOption{RenumberIDs()}

func namesOf(l *Labels) string {
	var s []string
	for i := range l.Len() {
		s = append(s, l.Name(i))
	}
	return strings.Join(s, " ")
}

func TestReadEdgeList(t *testing.T) {
	first := matrix.CombineFunc[float64](func(x, _ float64) float64 { return x })
	for _, c := range []struct {
		name, reason, text string
		opts               []ReadOption
		m, n               int
		want, labels       string
	}{
		{"snap", "comments and tabs", "# Directed\n# Nodes: 3 Edges: 2\n30\t10\n10\t20\n", renumber, 3, 3, "(0,1)=1 (2,0)=1", "10 20 30"},
		{"weights", "a third column", "1 2 0.5\n2 1 -1e2\n", renumber, 2, 2, "(0,1)=0.5 (1,0)=-100", "1 2"},
		{"csv", "commas with blanks around", "1, 2 ,3\n2,3,4\n", renumber, 3, 3, "(0,1)=3 (1,2)=4", "1 2 3"},
		{"semicolons", "as spreadsheets write in Europe", "1;2\n", renumber, 2, 2, "(0,1)=1", "1 2"},
		{"crlf", "files of Windows, no final newline", "% c\r\n1 2\r\n\r\n2 1", renumber, 2, 2, "(0,1)=1 (1,0)=1", "1 2"},
		{"wide ids", "64 bits, negative too", "-9223372036854775808 9223372036854775807\n0 5\n", renumber, 4, 4, "(0,3)=1 (1,2)=1", "-9223372036854775808 0 5 9223372036854775807"},
		{"text ids", "ascending by bytes", "bob alice\nalice carl\n", renumber, 3, 3, "(0,2)=1 (1,0)=1", "alice bob carl"},
		{"mixed ids", "text if one is", "2 10\n10 x\n", renumber, 3, 3, "(0,2)=1 (1,0)=1", "10 2 x"},
		{"zero-padded", "007 is text, so that it differs from 7", "007 7\n7 8\n10 007\n", renumber, 4, 4, "(0,2)=1 (1,0)=1 (2,3)=1", "007 10 7 8"},
		{"too wide", "an integer beyond 64 bits is text", "99999999999999999999 1\n1 99999999999999999999\n", renumber, 2, 2, "(0,1)=1 (1,0)=1", "1 99999999999999999999"},
		{"string ids", "as asked", "10 9\n", []ReadOption{StringIDs()}, 2, 2, "(0,1)=1", "10 9"},
		{"keep ids", "0-based indices", "0 3\n2 1\n", nil, 4, 4, "(0,3)=1 (2,1)=1", ""},
		{"dims", "as given", "0 3 7\n", []ReadOption{Dims(2, 9)}, 2, 9, "(0,3)=7", ""},
		{"header", "skipped as asked", "source,target,weight\n1,2,3\n", []ReadOption{RenumberIDs(), SkipLines(1)}, 2, 2, "(0,1)=3", "1 2"},
		{"only text line", "no other line to compare with", "a b\n", renumber, 2, 2, "(0,1)=1", "a b"},
		{"weight column", "the others ignored", "1 2 881 5\n2 1 882 6\n", []ReadOption{RenumberIDs(), WeightColumn(4)}, 2, 2, "(0,1)=5 (1,0)=6", "1 2"},
		{"no weight", "all the others ignored", "1 2 881 5\n2 1 882 6\n", []ReadOption{RenumberIDs(), WeightColumn(0)}, 2, 2, "(0,1)=1 (1,0)=1", "1 2"},
		{"duplicates", "the first kept", "1 2 3\n1 2 4\n", []ReadOption{RenumberIDs(), Duplicates(first)}, 2, 2, "(0,1)=3", "1 2"},
		{"symmetrise", "both directions", "1 2 3\n2 1 4\n2 3 5\n3 3 6\n", []ReadOption{RenumberIDs(), Symmetrise()}, 3, 3, "(0,1)=3 (1,0)=3 (1,2)=5 (2,1)=5 (2,2)=6", "1 2 3"},
		{"empty", "no edges, no vertices", "# nothing\n", renumber, 0, 0, "", ""},
		{"trailing comma", "an empty last field is none", "1,2,\n2,1,\n", renumber, 2, 2, "(0,1)=1 (1,0)=1", "1 2"},
		{"byte order mark", "some editors write one", "\ufeff5 6\n", renumber, 2, 2, "(0,1)=1", "5 6"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, l, err := ReadEdgeList[float64](strings.NewReader(c.text), c.opts...)
			if err != nil {
				t.Fatalf("%v (%s)", err, c.reason)
			}
			valid(t, a)
			if m, n := a.Dims(); m != c.m || n != c.n || entriesOf(a) != c.want || namesOf(l) != c.labels {
				t.Errorf("got %d×%d %s, labels %q, want %d×%d %s, %q (%s)", m, n, entriesOf(a), namesOf(l), c.m, c.n, c.want, c.labels, c.reason)
			}
		})
	}
}

func TestReadEdgeListErrors(t *testing.T) {
	for _, c := range []struct {
		name, reason, text string
		opts               []ReadOption
		line               int64
		msg                string
		is                 error
	}{
		{"one field", "no target", "# c\n5\n", renumber, 2, "one field", nil},
		{"one field later", "no target", "1 2\n5\n", renumber, 2, "one field", nil},
		{"four fields", "ambiguous", "1 2 3 4\n", renumber, 1, "WeightColumn", nil},
		{"fewer fields", "a value is missing", "1 2 3\n2 3\n", renumber, 2, "2 fields, want 3", nil},
		{"more fields", "a value too many", "1 2\n2 3 4\n", renumber, 2, "3 fields, want 2", nil},
		{"empty field", "nothing between commas", "1,,3\n", renumber, 1, "empty source or target", nil},
		{"bad value", "no number", "1 2 3\n2 3 x\n", renumber, 2, `"x"`, nil},
		{"header with weight", "column names that are not known", "A B strength\n1 2 3\n", renumber, 1, "Header(HeaderYes)", nil},
		{"header", "column names that are not known", "Start,End\n1,2\n2,3\n", renumber, 1, "Header(HeaderNo)", nil},
		{"nan", "refused by default", "1 2 nan\n", renumber, 1, "AllowNaN", nil},
		{"duplicate", "named by ids", "7 8\n8 7\n7 8\n", renumber, 0, "from 7 to 8", matrix.ErrDuplicate},
		{"text index", "no integer", "0 a\n", nil, 1, `"a"`, nil},
		{"negative index", "no index", "0 -1\n", nil, 1, "out of range", matrix.ErrIndex},
		{"large index", "beyond MaxDim", "2147483647 0\n", nil, 1, "out of range", matrix.ErrIndex},
		{"outside", "beyond the given rows", "0 1\n\n2 0\n", []ReadOption{Dims(2, 2)}, 3, "source 2 is out of range", matrix.ErrIndex},
		{"rectangle", "not square", "0 1\n", []ReadOption{Dims(2, 3), Symmetrise()}, 0, "symmetrise", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := ReadEdgeList[float64](strings.NewReader(c.text), append(c.opts, FileName("e.tsv"))...)
			var p *ParseError
			if !errors.As(err, &p) || p.Line != c.line || p.File != "e.tsv" || !strings.Contains(err.Error(), c.msg) || (c.is != nil && !errors.Is(err, c.is)) {
				t.Errorf("got %v, want line %d with %q (%s)", err, c.line, c.msg, c.reason)
			}
		})
	}
	for _, opts := range [][]ReadOption{{WeightColumn(-1)}, {SourceColumn(0)}, {TargetColumn(-5)}, {SourceColumn(2), TargetColumn(2)}, {SourceColumn("a"), Header(HeaderNo)}, {Header(7)}, {SkipLines(-1)}, {Base(2)}, {Base(1), RenumberIDs()}, {Delimiter('x')}, {Delimiter('\n')}, {Delimiter('"')}, {Dims(3, 3), RenumberIDs()}} {
		if _, _, err := ReadEdgeList[int](strings.NewReader("1 2\n"), opts...); !errors.Is(err, matrix.ErrInvalid) {
			t.Errorf("impossible options: got %v", err)
		}
	}
	if _, _, err := ReadEdgeList[int](strings.NewReader("1 2\n"), Dims(-1, 2)); !errors.Is(err, matrix.ErrSize) {
		t.Errorf("impossible dimensions: got %v", err)
	}
}

func TestReadBipartite(t *testing.T) {
	for _, text := range []string{"7 1 3\n9 1 4\n7 2 5\n", "u7 1 3\nu9 1 4\nu7 2 5\n"} {
		a, rows, cols, err := ReadBipartite[int](strings.NewReader(text), RenumberIDs())
		if err != nil || entriesOf(a) != "(0,0)=3 (0,1)=5 (1,0)=4" || strings.ReplaceAll(namesOf(rows), "u", "") != "7 9" || namesOf(cols) != "1 2" {
			t.Errorf("got %v %s, rows %q, columns %q, %v", a, entriesOf(a), namesOf(rows), namesOf(cols), err)
		}
	}
}

// TestReadEdgeListLarge reads lists of several blocks, where only the last may have an id that is
// text, and compares with the expected numbering.
func TestReadEdgeListLarge(t *testing.T) {
	const n = 200_000
	for _, tail := range []string{"", "x 1\nx 2\n"} {
		var b bytes.Buffer
		for i := range n {
			fmt.Fprintf(&b, "%d %d\n", i*1_000_003, (i+1)%n*1_000_003)
		}
		b.WriteString(tail)
		a, l, err := ReadEdgeList[bool](&b, Threads(3), RenumberIDs())
		if err != nil {
			t.Fatal(err)
		}
		valid(t, a)
		extra := 0
		if tail != "" {
			extra = 2
		}
		if a.NVals() != int64(n+extra) || l.Numeric() != (tail == "") {
			t.Fatalf("%v, numeric %v", a, l.Numeric())
		}
		for i := range n {
			s, ok := l.Index(strconv.Itoa(i * 1_000_003))
			d, ok2 := l.Index(strconv.Itoa((i + 1) % n * 1_000_003))
			if v, ok3 := a.At(s, d); !ok || !ok2 || !ok3 || !v {
				t.Fatalf("edge %d is missing", i)
			}
		}
	}
}

func TestLabels(t *testing.T) {
	var none *Labels
	if none.Len() != 0 || none.Name(3) != "3" || none.Numeric() {
		t.Error("nil labels do not name indices by themselves")
	}
	l := NewIDs([]int64{5, -1})
	if id, ok := l.ID(1); !ok || id != -1 || l.Name(0) != "5" {
		t.Error("wrong ids")
	}
	if i, ok := l.Index("-1"); !ok || i != 1 {
		t.Error("wrong index")
	}
	if _, ok := l.Index("7"); ok {
		t.Error("an index for an unknown id")
	}
	if _, ok := NewLabels([]string{"a"}).ID(0); ok {
		t.Error("an integer id for text")
	}
}

func TestWriteEdgeList(t *testing.T) {
	a := mustTuples(t, 2, 3, []int{1, 0}, []int{2, 1}, []float64{0.5, 3})
	yes := mustTuples(t, 1, 1, []int{0}, []int{0}, []bool{true})
	for _, c := range []struct {
		name string
		err  func(*bytes.Buffer) error
		want string
	}{
		{"plain", func(b *bytes.Buffer) error { return WriteEdgeList(b, a) }, "0\t1\t3\n1\t2\t0.5\n"},
		{"comment", func(b *bytes.Buffer) error { return WriteEdgeList(b, a, Comment("c")) }, "# c\n0\t1\t3\n1\t2\t0.5\n"},
		{"pattern", func(b *bytes.Buffer) error { return WriteEdgeList(b, a, AsPattern()) }, "0\t1\n1\t2\n"},
		{"bool", func(b *bytes.Buffer) error { return WriteEdgeList(b, yes) }, "0\t0\n"},
		{"labels", func(b *bytes.Buffer) error {
			return WriteEdgeList(b, a, WithLabels(NewLabels([]string{"a", "b", "c"})))
		}, "a\tb\t3\nb\tc\t0.5\n"},
		{"two labels", func(b *bytes.Buffer) error {
			return WriteEdgeList(b, a, WithRowColumnLabels(NewIDs([]int64{10, 20}), nil))
		}, "10\t1\t3\n20\t2\t0.5\n"},
	} {
		var b bytes.Buffer
		if err := c.err(&b); err != nil || b.String() != c.want {
			t.Errorf("%s: got %v %q, want %q", c.name, err, b.String(), c.want)
		}
	}
	for _, l := range []*Labels{NewLabels([]string{"a"}), NewLabels([]string{"a", "b\nc", "d"}), NewLabels([]string{"", "b", "c"})} {
		var b bytes.Buffer
		if err := WriteEdgeList(&b, a, WithLabels(l)); !errors.Is(err, matrix.ErrInvalid) || b.Len() > 0 {
			t.Errorf("labels %q: got %v", namesOf(l), err)
		}
	}
}

func TestVectorTSV(t *testing.T) {
	v, _ := matrix.VectorFromTuples(5, []int{1, 4}, []float64{0.1, math.Inf(1)}, nil)
	var b bytes.Buffer
	if err := WriteVectorTSV(&b, v); err != nil || b.String() != "1\t0.1\n4\tinf\n" {
		t.Fatalf("got %v %q", err, b.String())
	}
	w, err := ReadVectorTSV[float64](&b, AllowNaN(), Dims(5, 1))
	if err != nil || !v.Equal(w) {
		t.Errorf("came back as %v, %v", w, err)
	}
	for _, c := range []struct {
		text string
		opts []ReadOption
		want string
		size int
	}{
		{"# c\n3,7\n\n0,5\r\n", nil, "[5 0 0 7]", 4},
		{"1.5\n2.5\n", nil, "[1.5 2.5]", 2},
		{"name value\n0 1\n", []ReadOption{SkipLines(1)}, "[1]", 1},
		{"name;value\n\"1\";\"2\"\n", []ReadOption{Header(HeaderYes)}, "[0 2]", 2},
		{"", nil, "[]", 0},
		{"0 1\n0 2\n", []ReadOption{Duplicates(matrix.CombineFunc[float64](func(x, y float64) float64 { return x + y }))}, "[3]", 1},
	} {
		v, err := ReadVectorTSV[float64](strings.NewReader(c.text), c.opts...)
		if err != nil || v.Size() != c.size || fmt.Sprint(sure.Get(v.Dense(0))) != c.want {
			t.Errorf("%q: got %v, %v", c.text, v, err)
		}
	}
	for _, c := range []struct {
		text string
		opts []ReadOption
		line int64
		msg  string
	}{
		{"0 1 2\n", nil, 1, "3 fields"}, {"0 1\n2\n", nil, 2, "1 fields"}, {"a 1\n", nil, 1, `"a"`}, {"0 x\n", nil, 1, `"x"`},
		{"0 1\n-1 2\n", nil, 2, "out of range"}, {"1\n2\n3\n", []ReadOption{Dims(2, 0)}, 3, "out of range"},
		{"0 1\n0 1\n", nil, 0, "given twice"}, {"0 nan\n", nil, 1, "AllowNaN"},
	} {
		_, err := ReadVectorTSV[float64](strings.NewReader(c.text), c.opts...)
		var p *ParseError
		if !errors.As(err, &p) || p.Line != c.line || !strings.Contains(err.Error(), c.msg) {
			t.Errorf("%q: got %v, want line %d with %q", c.text, err, c.line, c.msg)
		}
	}
}

// ReadTuples keeps the edges in the order of the lines, with repeated ones.
func TestReadTuples(t *testing.T) {
	got, n, labels, err := ReadTuples[float64](strings.NewReader("from,to,kind,time\n7,3,a,2.5\n3,7,b,1\n7,3,c,2.5\n7,7,d,-4\n"),
		Delimiter(','), WeightColumn("time"), RenumberIDs())
	if err != nil {
		t.Fatal(err)
	}
	if n != 2 || namesOf(labels) != namesOf(NewIDs([]int64{3, 7})) || !slices.Equal(got.Source, []int32{1, 0, 1, 1}) || !slices.Equal(got.Target, []int32{0, 1, 0, 1}) ||
		!slices.Equal(got.Value, []float64{2.5, 1, 2.5, -4}) {
		t.Errorf("%+v, %d vertices, %v", got, n, labels)
	}
	if got, n, _, err := ReadTuples[int](strings.NewReader("0 4\n0 4\n")); err != nil || n != 5 || !slices.Equal(got.Value, []int{1, 1}) {
		t.Errorf("without values: %+v, %d, %v", got, n, err)
	}
	if got, n, _, err := ReadTuples[int](strings.NewReader("# none\n")); err != nil || n != 0 || len(got.Value) != 0 {
		t.Errorf("no edges: %+v, %d, %v", got, n, err)
	}
	// Longer than a block, in the order of the lines with several threads.
	var text strings.Builder
	for k := range 300000 {
		fmt.Fprintf(&text, "%d %d %d\n", k%7, k%11, k)
	}
	long, n, _, err := ReadTuples[int32](strings.NewReader(text.String()), Threads(3))
	if err != nil || n != 11 || len(long.Value) != 300000 {
		t.Fatalf("%d edges of %d vertices, %v", len(long.Value), n, err)
	}
	for k, x := range long.Value {
		if int(x) != k || int(long.Source[k]) != k%7 || int(long.Target[k]) != k%11 {
			t.Fatalf("edge %d is %d %d %d", k, long.Source[k], long.Target[k], x)
		}
	}
	for reason, opt := range map[string]ReadOption{"duplicates": Duplicates(matrix.CombineFunc[int](func(x, y int) int { return x })), "symmetrise": Symmetrise()} {
		var e *OptionError
		if _, _, _, err := ReadTuples[int](strings.NewReader("0 1 1\n"), opt); !errors.As(err, &e) {
			t.Errorf("%s: %v", reason, err)
		}
	}
	var e *ParseError
	if _, _, _, err := ReadTuples[int](strings.NewReader("0 1 1\n0 x 1\n")); !errors.As(err, &e) || e.Line != 2 {
		t.Errorf("a word: %v", err)
	}
	if _, _, _, err := ReadTuples[int](nil); err == nil {
		t.Error("a nil reader has no error")
	}
}
