package graphio

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// edgesOf lists the edges of a by label.
func edgesOf[T comparable](a *matrix.Matrix[T], rows, cols *Labels) string {
	var s []string
	for c, v := range a.All() {
		s = append(s, fmt.Sprintf("%s→%s=%v", rows.Name(c.Row), cols.Name(c.Col), v))
	}
	return strings.Join(s, " ")
}

func TestReadDelimited(t *testing.T) {
	for _, c := range []struct {
		reason, text string
		opts         []ReadOption
		want         string
	}{
		{"a blank is part of a field with commas", "Los Angeles,7\nSan Diego,8\n", renumber, "Los Angeles→7=1 San Diego→8=1"},
		{"a date with a time", "2021-01-01 10:00,5\n", renumber, "2021-01-01 10:00→5=1"},
		{"a blank is part of a field with tabs", "New York\tBoston\t3\n", renumber, "New York→Boston=3"},
		{"quotes are no part of an id", "\"a\",\"b\",\"2\"\n", renumber, "a→b=2"},
		{"a delimiter in quotes", "\"Smith, J\",x,2\ny,\"Doe, \"\"K\"\"\",3\n", renumber, "Smith, J→x=2 y→Doe, \"K\"=3"},
		{"quotes between blanks", "\"New York\" Boston 3\n", renumber, "New York→Boston=3"},
		{"bars", "a b|c|2\n", renumber, "a b→c=2"},
		{"decimal commas leave semicolons the delimiter", "a;b;1,5\n", []ReadOption{RenumberIDs(), WeightColumn(0)}, "a→b=1"},
		{"a tab wins over commas in names", "Doe, K\tPoe, L\n", renumber, "Doe, K→Poe, L=1"},
		{"a delimiter that some lines have in fields only", "a,b\nc;d,e\n", renumber, "a→b=1 c;d→e=1"},
		{"a given delimiter", "a,b c,d 2\n", []ReadOption{RenumberIDs(), Delimiter(' ')}, "a,b→c,d=2"},
		{"another delimiter", "a:b c:2\n", []ReadOption{RenumberIDs(), Delimiter(':')}, "a→b c=2"},
		{"csv as format", "a\tb,c\n", []ReadOption{RenumberIDs(), InFormat(FormatCSV)}, "a\tb→c=1"},
		{"tsv as format", "a,b\tc,d\n", []ReadOption{RenumberIDs(), InFormat(FormatTSV)}, "a,b→c,d=1"},
		{"CRLF, blanks around fields", " a , b , 2 \r\n", renumber, "a→b=2"},
		{"tabs after blanks", "1 \t 2\n", nil, "1→2=1"},
		{"a comment sign in quotes", "# c\n\"#1\",b\n", renumber, "#1→b=1"},
		{"all values quoted", "\"1\",\"2\",\"0.5\"\n", nil, "1→2=0.5"},

		{"a known header", "src,dst,weight\n1,2,3\n", nil, "1→2=3"},
		{"in any case of letters, quoted", "\"Source\"\t\"Target\"\n1\t2\n", nil, "1→2=1"},
		{"a header gives the columns", "to,from\n1,2\n", nil, "2→1=1"},
		{"as Gephi writes it", "Source,Target,Type,Id,Label,Weight\n1,2,Undirected,0,,2.5\n", nil, "1→2=2.5"},
		{"a timestamp is no weight", "src,dst,timestamp\n1,2,1600000000\n", nil, "1→2=1"},
		{"a header as asked", "A,B,Strength\n1,2,3\n", []ReadOption{Header(HeaderYes)}, "1→2=3"},
		{"no header as asked", "from,to\nto,by\n", []ReadOption{RenumberIDs(), Header(HeaderNo)}, "from→to=1 to→by=1"},
		{"words that are known, but no source and target", "weight,value\nvalue,id\n", renumber, "value→id=1 weight→value=1"},
		{"after comments", "# c\n\nsrc dst\n1 2\n", nil, "1→2=1"},
		{"only a header", "src,dst\n", nil, ""},
		{"columns by number", "9,1,x,2\n8,3,y,4\n", []ReadOption{SourceColumn(2), TargetColumn(4), WeightColumn(1)}, "1→2=9 3→4=8"},
		{"columns by number have no weight by themselves", "9,1,2\n", []ReadOption{SourceColumn(2), TargetColumn(3)}, "1→2=1"},
		{"columns by name", "ID,Who,Whom,How Much\n7,1,2,3\n", []ReadOption{SourceColumn("Who"), TargetColumn("whom"), WeightColumn("How Much")}, "1→2=3"},
		{"a weight by name", "a,b,c,d\n1,2,3,4\n", []ReadOption{WeightColumn("d")}, "1→2=4"},
		{"one name that is not known makes no header of words", "person,likes,item\nann,hates,tea\n", []ReadOption{RenumberIDs(), TargetColumn(3)}, "ann→tea=1 person→item=1"},
		{"plain names of a source and a target make one", "src,dst,a\nb,c,d\n", []ReadOption{RenumberIDs(), WeightColumn(0)}, "b→c=1"},
		{"and so does a number below a word", "person,item,stars\nann,tea,4\n", renumber, "ann→tea=4"},
		{"all columns of Gephi, the last empty", "Source,Target,Type,Id,Label,timeset,Weight,Note\n1,2,Undirected,0,,,2.5,\n2,3,Undirected,0,,,3,x\n", nil, "1→2=2.5 2→3=3"},
		{"the index of pandas", ",source,target,weight\n0,1,2,2.5\n", nil, "1→2=2.5"},
		{"the index of pandas, written again", "Unnamed: 0,source,target\n0,1,2\n", nil, "1→2=1"},
		{"numbers with blanks in quotes", "\"1 2\"\ta\n3\tb\n", renumber, "1 2→a=1 3→b=1"},
		{"numbers with blanks, as asked", "1 2\ta\n3\tb\n", []ReadOption{RenumberIDs(), Delimiter('\t')}, "1 2→a=1 3→b=1"},
		{"decimal commas", "a;b;0,5\nb;c;-1,25e1\n", []ReadOption{RenumberIDs(), Decimal(',')}, "a→b=0.5 b→c=-12.5"},
		{"decimal commas between tabs", "1\t2\t3\n2\t3\t\"4,5\"\n", []ReadOption{Decimal(',')}, "1→2=3 2→3=4.5"},
		{"hexadecimal numbers", "1 2 0x1.8p+1\n1 3 -0X10\n", nil, "1→2=3 1→3=-16"},
		{"no comments", "#a\tb\nb\t%c\n#d\t#a\n", []ReadOption{RenumberIDs(), CommentChars("")}, "#a→b=1 #d→#a=1 b→%c=1"},
		{"other comments", "!x y\n#a b\n! c\n", []ReadOption{RenumberIDs(), CommentChars("!")}, "#a→b=1"},
		{"comments of a list with text, as asked", "# c\na b\n# d e\n", []ReadOption{RenumberIDs(), CommentChars("#%")}, "a→b=1"},
		{"comments among numbers", "1 2\n# d e\n%\n2 3\n", renumber, "1→2=1 2→3=1"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			for _, form := range []string{"plain", "gzip", "byte by byte"} {
				var in = strings.NewReader(c.text)
				opts := c.opts
				var a *matrix.Matrix[float64]
				var l *Labels
				var err error
				switch form {
				case "plain":
					a, l, err = ReadEdgeList[float64](in, opts...)
				case "gzip":
					a, l, err = ReadEdgeList[float64](bytes.NewReader(gz(t, c.text)), opts...)
				default:
					a, l, err = ReadEdgeList[float64](iotestOneByte{in}, opts...)
				}
				if err != nil {
					t.Fatalf("%s: %v", form, err)
				}
				if got := edgesOf(a, l, l); got != c.want {
					t.Errorf("%s: got %s, want %s", form, got, c.want)
				}
			}
		})
	}
}

func TestReadDelimitedErrors(t *testing.T) {
	for _, c := range []struct {
		reason, text string
		opts         []ReadOption
		line         int64
		msg          string
		kind         RemedyKind
	}{
		{"a quotation mark in a field", "a\"b,c\n", renumber, 1, "inside the unquoted field", RemedyQuotes},
		{"text after a quoted field", "\"a\"b,c\n", renumber, 1, "text follows", RemedyQuotes},
		{"a field over two lines", "x,y\n\"a\nb\",c\n", renumber, 2, "not closed", RemedyQuotes},
		{"an unknown header before integers", "A,B\n1,2\n", nil, 1, `"A" is not an integer`, RemedyHeader},
		{"an unknown header with a weight", "A,B,C\n1,2,3\n", renumber, 1, `got "C"`, RemedyHeader},
		{"an unknown header before words and a weight", "friend1,friend2,km\nann,bob,3\n", renumber, 1, `got "km"`, RemedyHeader},
		{"words in many columns", "ann,bob,likes,much\nbob,cid,hates,much\n", renumber, 1, "4 fields", RemedyHeader},
		{"a name that begins as a comment", "# c\na\tb\nb\tc\n#tag\tc\n", renumber, 4, "begins as a comment does", RemedyComment},
		{"text that follows a comment", "1,2\n%2,3\nx,3\n", renumber, 2, "begins as a comment does", RemedyComment},
		{"a decimal comma", "a;b;0,5\n", renumber, 1, `the number "0,5" has a decimal comma`, RemedyDecimal},
		{"commas between thousands", "u,v,w\na,b,\"1,234.5\"\n", []ReadOption{RenumberIDs(), Header(HeaderYes)}, 2, "commas between thousands", RemedyText},
		{"a comma of either kind", "a;b;2,000\n", renumber, 1, "either before decimals or between thousands", RemedyDecimal},
		{"thousands of a decimal comma", "a;b;1.234,5\n", []ReadOption{RenumberIDs(), Decimal(',')}, 1, "points between thousands", RemedyText},
		{"a point where commas are announced", "a;b;1.5\n", []ReadOption{RenumberIDs(), Decimal(',')}, 1, "a decimal point, and decimal commas are announced", RemedyText},
		{"blanks and tabs", "0 \t 1  2.5\n1\t\t2 3.5\n", nil, 1, `the target "1  2.5" has numbers with blanks between`, RemedyBlanks},
		{"blanks and tabs, renumbered", "0 \t 1  2.5\n1\t2 3.5\n", renumber, 1, `the target "1  2.5" has numbers with blanks between`, RemedyBlanks},
		{"blanks in a value", "0\t1\t2 5\n", nil, 1, `the value "2 5" has numbers with blanks between`, RemedyBlanks},
		{"words without a number", "ann,bob,likes\nbob,cid,hates\n", renumber, 1, `got "likes"`, RemedyFirstValue},
		{"words throughout", "ann,bob\nbob,cid\n", nil, 1, `"ann" is not an integer`, RemedyRenumber},
		{"a word later", "1,2\nx,2\n", nil, 2, `"x" is not an integer`, RemedyRenumber},
		{"a padded id is no header", "007 8\n7 8\n", nil, 1, `"007" is not an integer`, RemedyRenumber},
		{"a bad value in the first line", "1,2,x\n1,3,4\n", nil, 1, `got "x"`, RemedyWeightColumn},
		{"a bad value after SkipLines", "h\n1,2,x\n1,3,4\n", []ReadOption{SkipLines(1)}, 2, `got "x"`, RemedyWeightColumn},
		{"an empty value", "1,2,3\n1,3,,\n", []ReadOption{WeightColumn(3)}, 2, "the value is empty", RemedyText},
		{"an unknown column", "a,b\n1,2\n", []ReadOption{WeightColumn("c")}, 1, `no column of the header is named "c": "a, b"`, RemedyColumns},
		{"a column beyond the line", "1,2\n", []ReadOption{WeightColumn(3)}, 1, "the line has 2 fields, and column 3 is chosen", RemedyColumns},
		{"a weight where the target is", "1,2\n", []ReadOption{WeightColumn(2)}, 1, "columns 1, 2 and 2", RemedyColumns},
		{"many fields", "1,2,3,4\n", nil, 1, "4 fields", RemedyWeightColumn},
		{"tabs for alignment", "1\t\t2\n", nil, 1, "between two tabs", RemedyBlanks},
		{"an empty source", "\tBoston\t3\n", renumber, 1, "between two tabs", RemedyBlanks},
		{"beyond float64", "1 2 1e400\n", nil, 1, "1e400", RemedyFinite},
		{"an integer that float64 does not hold", "1 2 9007199254740993\n", nil, 1, "is not exact in float64", RemedyExact},
		{"id 0 of base 1", "1 2\n0 1\n", []ReadOption{Base(1)}, 2, "source 0 is out of range, want 1…", RemedyBaseZero},
		{"an edge twice", "1 2\n1 2\n", nil, 0, "from 1 to 2 is given twice", RemedyDuplicates},
		{"a repeat in one direction", "0 1 1\n1 0 2\n0 1 3\n", []ReadOption{Symmetrise()}, 0, "from 0 to 1 is given twice", RemedyDuplicates},
		{"a banner", "%%MatrixMarket matrix coordinate real general\n1 1 0\n", []ReadOption{InFormat(FormatEdges)}, 0, "begins like mtx", RemedyFormat},
	} {
		t.Run(c.reason, func(t *testing.T) {
			var err error
			if c.kind == RemedyFormat {
				_, _, err = Read[float64](strings.NewReader(c.text), c.opts...)
			} else {
				_, _, err = ReadEdgeList[float64](strings.NewReader(c.text), c.opts...)
			}
			var p *ParseError
			if !errors.As(err, &p) || p.Line != c.line || !strings.Contains(p.Msg, c.msg) || p.Kind != c.kind {
				t.Errorf("got %v, want line %d, %q, kind %d", err, c.line, c.msg, c.kind)
			}
		})
	}
}

// Every list that encoding/csv writes is read as encoding/csv reads it.
func TestReadAsCSV(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	word := func() string {
		const letters = `ab ,;|"'#%x1`
		b := make([]byte, 1+rng.IntN(6))
		for k := range b {
			b[k] = letters[rng.IntN(len(letters))]
		}
		return strings.TrimSpace(string(b)) + "z"
	}
	for range 300 {
		var text bytes.Buffer
		w := csv.NewWriter(&text)
		w.Comma = []rune{',', ';', '|', '\t'}[rng.IntN(4)]
		var want []string
		for range 1 + rng.IntN(5) {
			s, d := word(), word()
			if s[0] == '#' || s[0] == '%' { // a comment, which encoding/csv does not quote
				continue
			}
			_ = w.Write([]string{s, d})
			want = append(want, s+"→"+d)
		}
		w.Flush()
		first := Duplicates(matrix.CombineFunc[int](func(x, _ int) int { return x }))
		a, l, err := ReadEdgeList[int](&text, Delimiter(w.Comma), StringIDs(), Header(HeaderNo), first)
		if err != nil {
			t.Fatalf("%v in %q", err, text.String())
		}
		for _, edge := range want {
			s, d, _ := strings.Cut(edge, "→")
			i, ok := l.Index(s)
			j, ok2 := l.Index(d)
			if _, there := a.At(i, j); !ok || !ok2 || !there {
				t.Fatalf("no edge %s in %s", edge, edgesOf(a, l, l))
			}
		}
	}
}

// Names of every kind are written so that they are read back.
func TestWriteDelimited(t *testing.T) {
	names := NewLabels([]string{"Doe, K", "#tag", `say "hi"`, " lead", "a;b|c", "plain", "tab\tbed", "007"})
	a := mustTuples(t, 8, 8, []int{0, 1, 2, 3, 4, 5, 6}, []int{1, 2, 3, 4, 5, 6, 7}, []int64{1, 2, 3, 4, 5, 6, 9007199254740993})
	for _, o := range [][]WriteOption{nil, {InFormat(FormatCSV)}, {Delimiter(';')}, {Delimiter('|')}, {Delimiter(' ')}} {
		var b bytes.Buffer
		if err := WriteEdgeList(&b, a, append(o, WithLabels(names))...); err != nil {
			t.Fatal(err)
		}
		text := b.String()
		c, l, err := ReadEdgeList[int64](&b, RenumberIDs())
		if err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		want := strings.Fields(edgesOf(a, names, names))
		got := strings.Fields(edgesOf(c, l, l))
		if len(got) != len(want) || c.NVals() != a.NVals() || !strings.Contains(edgesOf(c, l, l), "tab\tbed→007=9007199254740993") {
			t.Errorf("%s\ngot  %s\nwant %s", text, got, want)
		}
	}
	if err := WriteEdgeList(&bytes.Buffer{}, a, Delimiter('0')); !errors.Is(err, matrix.ErrInvalid) {
		t.Errorf("a digit as delimiter: %v", err)
	}
	one := mustTuples(t, 1, 1, []int{0}, []int{0}, []float64{2})
	var b bytes.Buffer
	if err := WriteEdgeList(&b, one, AsReal()); err != nil || b.String() != "0\t0\t2.0\n" {
		t.Errorf("AsReal: %q, %v", b.String(), err)
	}
}

func TestEdgeListInfo(t *testing.T) {
	for text, want := range map[string]string{
		"0 1\n": "pattern", "0 1 1\n1 0 -2\n": "integer", "0 1 1\n1 0 2.0\n": "real", "0 1 1e3\n": "real", "": "pattern",
		"0,1,\"7\"\n": "integer",
	} {
		var info Info
		if _, _, err := ReadEdgeList[float64](strings.NewReader(text), WithInfo(&info)); err != nil || info.Field != want || info.Layout != "edges" {
			t.Errorf("%q: %+v, %v", text, info, err)
		}
	}
}

// Integers are carried exactly or refused, alike in every format.
func TestExactIntegers(t *testing.T) {
	const big = "9007199254740993"
	var binary bytes.Buffer
	if err := WriteBinary(&binary, mustTuples(t, 2, 2, []int{0}, []int{1}, []int64{9007199254740993})); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		banner + "coordinate integer general\n2 2 1\n1 2 " + big + "\n",
		"0 1 " + big + "\n", "0,1," + big + "\n", "0,1,\"" + big + "\"\n", binary.String(),
	} {
		opts := []ReadOption{FileName("x.txt")}
		a, _, err := Read[int64](strings.NewReader(text), opts...)
		if v, ok := a.At(0, 1); err != nil || !ok || v != 9007199254740993 {
			t.Errorf("%.20q: %v, %v", text, v, err)
		}
		if _, _, err := Read[float64](strings.NewReader(text), opts...); err == nil {
			t.Errorf("%.20q: read into float64", text)
		}
	}
	for text, want := range map[string]bool{
		"9007199254740992": true, "9007199254740994": true, "-9007199254740993": false, "100000000000000000000": true,
		"100000000000000000001": false, "18446744073709551616": true, "9007199254740993.0": true, "9007199254740993e0": true,
	} {
		_, _, err := ReadEdgeList[float64](strings.NewReader("0 1 " + text + "\n"))
		if (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, _, err := ReadEdgeList[float32](strings.NewReader("0 1 16777217\n")); !errors.Is(err, ErrParse) {
		t.Errorf("float32: %v", err)
	}
	if a, _, err := ReadEdgeList[uint64](strings.NewReader("0 1 18446744073709551615\n")); err != nil || entriesOf(a) != "(0,1)=18446744073709551615" {
		t.Errorf("uint64: %v", err)
	}
}

// A rule combines all entries of a pair; without one, opposite directions take
// the smaller.
func TestSymmetriseRules(t *testing.T) {
	sum := matrix.CombineFunc[int](func(x, y int) int { return x + y })
	first, last := matrix.CombineFunc[int](func(x, _ int) int { return x }), matrix.CombineFunc[int](func(_, y int) int { return y })
	text := "0 1 1\n0 1 2\n1 0 4\n1 1 5\n1 1 6\n0 2 8\n"
	mtx := banner + "coordinate integer general\n3 3 6\n1 2 1\n1 2 2\n2 1 4\n2 2 5\n2 2 6\n1 3 8\n"
	for _, c := range []struct {
		rule matrix.Combiner[int]
		want string
	}{
		{sum, "(0,1)=7 (0,2)=8 (1,0)=7 (1,1)=11 (2,0)=8"},
		{first, "(0,1)=1 (0,2)=8 (1,0)=1 (1,1)=5 (2,0)=8"},
		{last, "(0,1)=4 (0,2)=8 (1,0)=4 (1,1)=6 (2,0)=8"},
	} {
		for _, in := range []string{text, mtx} {
			a, _, err := Read[int](strings.NewReader(in), Symmetrise(), Duplicates(c.rule), FileName("x.el"))
			if err != nil || entriesOf(a) != c.want {
				t.Errorf("got %v %v, want %s", err, entriesOf(a), c.want)
			}
		}
	}
	a := mustTuples(t, 3, 3, []int{0, 1, 1, 0}, []int{1, 0, 1, 2}, []int{1, 4, 5, 8})
	for _, format := range []matrix.Format{matrix.CSR, matrix.Hypersparse} {
		sure.Do(a.SetFormat(format))
		var b bytes.Buffer
		if err := WriteBinary(&b, a); err != nil {
			t.Fatal(err)
		}
		for rule, want := range map[*matrix.CombineFunc[int]]string{
			nil: "(0,1)=1 (0,2)=8 (1,0)=1 (1,1)=5 (2,0)=8", &sum: "(0,1)=5 (0,2)=8 (1,0)=5 (1,1)=5 (2,0)=8", &last: "(0,1)=4 (0,2)=8 (1,0)=4 (1,1)=5 (2,0)=8",
		} {
			opts := []ReadOption{Symmetrise()}
			if rule != nil {
				opts = append(opts, Duplicates[int](*rule))
			}
			got, _, err := Read[int](bytes.NewReader(b.Bytes()), opts...)
			if err != nil || entriesOf(got) != want {
				t.Errorf("binary %v: got %v %v, want %s", format, err, entriesOf(got), want)
			}
		}
	}
	array, err := ReadMatrixMarket[int](strings.NewReader(banner+"array integer general\n2 2\n1\n2\n3\n4\n"), Symmetrise(), Duplicates(sum))
	if err != nil || entriesOf(array) != "(0,0)=1 (0,1)=5 (1,0)=5 (1,1)=4" {
		t.Errorf("array: %v, %v", entriesOf(array), err)
	}
}

// TestPatternOnlyText reads lists with a third column of text as structure.
func TestPatternOnlyText(t *testing.T) {
	for _, c := range []struct {
		reason, text string
		opts         []ReadOption
		want         string // entries, or a part of the error
		fails        bool
	}{
		{"words", "0\t1\tfriend\n1\t2\tfoe\n", nil, "0→1=1 1→2=1", false},
		{"words in a column that the header calls weight", "source,target,weight\n0,1,high\n1,2,\n", nil, "0→1=1 1→2=1", false},
		{"a chosen column", "0,1,7,red\n1,2,8,blue\n", []ReadOption{WeightColumn(4)}, "0→1=1 1→2=1", false},
		{"quoted text with the delimiter", "0,1,\"a, b\"\n", nil, "0→1=1", false},
		{"numbers", "0 1 2.5\n1 2 nan\n", nil, "0→1=1 1→2=1", false},
		{"an unknown header before a number", "from_whom,whom,km\nann,bob,3\n", []ReadOption{RenumberIDs()}, `got "km"`, true},
		{"a column that is not there", "0 1\n", []ReadOption{WeightColumn(3)}, "column 3 is chosen", true},
		{"a line without the value", "0 1 x\n1 2\n", nil, "0→1=1 1→2=1", false},
		{"a line with one id", "0 1 x\n1\n", nil, "the line has 1 fields, want 3", true},
		{"a line with more fields", "0 1 x\n1 2 3 4\n", nil, "the line has 4 fields, want 3", true},
	} {
		a, l, err := ReadEdgeList[int](strings.NewReader(c.text), append(c.opts, PatternOnly())...)
		switch {
		case c.fails:
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: error %v, want %q", c.reason, err, c.want)
			}
		case err != nil || edgesOf(a, l, l) != c.want:
			t.Errorf("%s: %v, want %s", c.reason, err, c.want)
		}
	}
	if _, _, err := ReadEdgeList[int](strings.NewReader("0\t1\tfriend\n")); err == nil {
		t.Error("weights that are words are read")
	}
}

func TestBaseAndWarnings(t *testing.T) {
	for _, c := range []struct {
		reason, text string
		opts         []ReadOption
		n            int
		want         string
		kinds        []RemedyKind
	}{
		{"ids from 0", "0 1\n1 2\n", nil, 3, "0→1=1 1→2=1", nil},
		{"ids from 1, taken from 0", "1 2\n2 3\n", nil, 4, "1→2=1 2→3=1", []RemedyKind{RemedyBase}},
		{"ids from 1", "1 2\n2 3\n", []ReadOption{Base(1)}, 3, "1→2=1 2→3=1", nil},
		{"found from 1", "1 2\n2 3\n", []ReadOption{Base(BaseAuto)}, 3, "1→2=1 2→3=1", nil},
		{"found from 0", "0 2\n2 3\n", []ReadOption{Base(BaseAuto)}, 4, "0→2=1 2→3=1", nil},
		{"few of the ids", "0 100000\n", nil, 100001, "0→100000=1", []RemedyKind{RemedyRenumber}},
		{"few of the ids, from 1", "5 2147483646\n", nil, 2147483647, "5→2147483646=1", []RemedyKind{RemedyRenumber, RemedyBase}},
		{"renumbered", "5 2147483646\n", renumber, 2, "5→2147483646=1", nil},
		{"given dimensions", "5 500\n", []ReadOption{Dims(1000, 1000)}, 1000, "5→500=1", nil},
		{"no edges", "# none\n", nil, 0, "", nil},
	} {
		var kinds []RemedyKind
		a, l, err := ReadEdgeList[int](strings.NewReader(c.text), append(c.opts, Warn(func(w Warning) { kinds = append(kinds, w.Kind) }))...)
		if err != nil {
			t.Errorf("%s: %v", c.reason, err)
			continue
		}
		if m, n := a.Dims(); m != c.n || n != c.n || edgesOf(a, l, l) != c.want || fmt.Sprint(kinds) != fmt.Sprint(c.kinds) {
			t.Errorf("%s: %d×%d %s, warnings %v", c.reason, m, n, edgesOf(a, l, l), kinds)
		}
	}
	_, l, _ := ReadEdgeList[int](strings.NewReader("1 2\n2 3\n"), Base(1))
	if i, ok := l.Index("3"); !ok || i != 2 || l.Len() != 3 || !l.Numeric() {
		t.Error("wrong labels of base 1")
	}
	for _, name := range []string{"0", "4", "x", "-1", "01"} {
		if _, ok := l.Index(name); ok {
			t.Errorf("label %q was found", name)
		}
	}
	var kinds []RemedyKind
	warn := Warn(func(w Warning) { kinds = append(kinds, w.Kind) })
	a, rows, cols, err := ReadBipartite[int](strings.NewReader("1 70000\n2 3\n"), Base(1), warn)
	if m, n := a.Dims(); err != nil || m != 2 || n != 70000 || edgesOf(a, rows, cols) != "1→70000=1 2→3=1" || fmt.Sprint(kinds) != fmt.Sprint([]RemedyKind{RemedyRenumber}) {
		t.Errorf("bipartite: %d×%d, %v, %v", m, n, kinds, err)
	}
	if w := (Warning{File: "f", Msg: "m", Remedy: "r"}).String(); w != "f: m; r" {
		t.Error(w)
	}
}

// A first line of words that occur nowhere else may be a header.
func TestWarnHeader(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason, text string
		opts         []ReadOption
		bipartite    bool
		want         int
	}{
		{"names that are not known", "knows,known\nann,bob\nbob,cid\n", nil, false, 1},
		{"two lines", "knows,known\nann,bob\n", nil, false, 1},
		{"rows and columns", "buyer,thing\nann,thing\nbuyer2,book\n", nil, true, 0},
		{"rows and columns with other names", "buyer,thing\nann,book\nbuyer2,book\n", nil, true, 1},
		{"a name occurs again", "ann,bob\nbob,cid\n", nil, false, 0},
		{"the target occurs again as a source", "knows,known\nknown,bob\n", nil, false, 0},
		{"one line", "knows,known\n", nil, false, 0},
		{"pairs", "ann,bob\ncid,dan\neve,fay\n", nil, false, 0},
		{"pairs of rows and columns", "ann,book\nbob,pen\ncid,cup\n", nil, true, 0},
		{"numbers", "1,2\nann,bob\n", nil, false, 0},
		{"a number among words", "knows,known,1\nann,bob,2\n", nil, false, 0},
		{"an edge", "knows,known\nann,bob\n", []ReadOption{Header(HeaderNo)}, false, 0},
		{"a header", "knows,known\nann,bob\nann,cid\n", []ReadOption{Header(HeaderYes)}, false, 0},
		{"known names", "person,friend\nann,bob\n", nil, false, 0},
	} {
		var kinds []RemedyKind
		opts := append(c.opts, RenumberIDs(), Warn(func(w Warning) { kinds = append(kinds, w.Kind) }))
		var err error
		if c.bipartite {
			_, _, _, err = ReadBipartite[int](strings.NewReader(c.text), opts...)
		} else {
			var a *matrix.Matrix[int]
			if a, _, err = ReadEdgeList[int](strings.NewReader(c.text), opts...); err == nil && c.reason == "known names" && a.NVals() != 1 {
				t.Errorf("%s: %d edges", c.reason, a.NVals())
			}
		}
		if err != nil || len(kinds) != c.want || c.want > 0 && kinds[0] != RemedyEitherHeader {
			t.Errorf("%s: warnings %v, %v", c.reason, kinds, err)
		}
	}
}
