package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
)

// piped runs the program with text on standard input.
func piped(t *testing.T, text string, args ...string) result {
	t.Helper()
	if longtest.Enabled() {
		return processWith(t, strings.NewReader(text), args...)
	}
	path := filepath.Join(t.TempDir(), "stdin")
	sure.Do(os.WriteFile(path, []byte(text), 0o666))
	in := sure.Get(os.Open(path))
	defer in.Close()
	before := os.Stdin
	os.Stdin = in
	defer func() { os.Stdin = before }()
	return inside(args...)
}

func TestDelimitedText(t *testing.T) {
	for _, c := range []struct{ reason, name, text, args, want string }{
		{"a blank is part of an id", "a.csv", "Los Angeles,7\n", "--ids renumber", "Los Angeles\t7\n"},
		{"a date is an id", "a.csv", "2021-01-01 10:00,5\n", "--ids renumber", "2021-01-01 10:00\t5\n"},
		{"names between tabs", "a.tsv", "New York\tBoston\t3\n", "--ids renumber", "New York\tBoston\t3\n"},
		{"quotes", "a.csv", "\"Doe, K\",\"b\",\"2\"\n", "--ids renumber", "\"Doe, K\"\tb\t2\n"},
		{"a header", "a.csv", "src,dst,weight\n0,1,2\n", "", "0\t1\t2\n"},
		{"columns by name", "a.csv", "Who,n,Whom\n0,5,1\n", "--source-column Who --target-column Whom --weight-column n", "0\t1\t5\n"},
		{"columns by number", "a.csv", "5,0,1\n", "--source-column 2 --target-column 3 --weight-column 1", "0\t1\t5\n"},
		{"a delimiter", "a.el", "0:1:5\n", "--delimiter :", "0\t1\t5\n"},
		{"a named delimiter", "a.el", "0|1|5\n", "--delimiter bar", "0\t1\t5\n"},
		{"a header as asked", "a.el", "A B C\n0 1 5\n", "--header yes", "0\t1\t5\n"},
		{"a file without an ending", "edges", "0 1 5\n", "--format edges", "0\t1\t5\n"},
		{"ids from 1 come back as they are", "a.el", "1 2 5\n", "--base 1", "1\t2\t5\n"},
		{"the base of the ids", "a.el", "1 2 5\n", "--base auto", "1\t2\t5\n"},
		{"a rule for both directions", "a.el", "0 1 1\n0 1 2\n1 0 4\n", "--undirected --duplicates sum", "0\t1\t7\n1\t0\t7\n"},
		{"the smaller without one", "a.el", "0 1 1\n1 0 4\n", "--undirected", "0\t1\t1\n1\t0\t1\n"},
		{"csv out", "a.csv", "\"Doe, K\",b,2\n", "--ids renumber --output-format csv", "\"Doe, K\",b,2\n"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			path := write(t, c.name, c.text)
			args := append([]string{"convert", path, "-"}, strings.Fields(c.args)...)
			if got := succeed(t, args...); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			args[1] = "-"
			if !strings.Contains(c.args, "--format") {
				args = append(args, "--format", "edges")
			}
			if r := piped(t, c.text, args...); r.code != 0 || r.stdout != c.want {
				t.Errorf("standard input: %+v, want %q", r, c.want)
			}
		})
	}
}

func TestStandardInput(t *testing.T) {
	mtx := contents(t, karate)
	hgb := filepath.Join(t.TempDir(), "k.hgb")
	succeed(t, "convert", karate, hgb)
	for name, text := range map[string]string{"mtx": mtx, "hgb": contents(t, hgb)} {
		for _, args := range []string{"info -", "stats -", "project - -o -", "vn - --seeds 0 -o -", "lgc - --seeds 0", "louvain - -o -", "bfs - --source 0 -o -", "sssp - --source 0",
			"pagerank - -o -", "cc - -o -", "tc -", "ktruss - -k 3 -o -", "lsap - --default 0 -o -", "sgm - " + karate + " --seeds 10 -o -", "convert - - --output-format mtx",
			"spy - -o -", "project - --out-of-core -o -", "project - --out-of-core -o - --output-format csv"} {
			if r := piped(t, text, strings.Fields(args)...); r.code != 0 || r.stderr != "" || r.stdout == "" {
				t.Errorf("%s of %s: exit %d, %q", args, name, r.code, r.stderr)
			}
		}
	}
	if r := piped(t, mtx, "convert", "-", "-", "--output-format", "mtx"); !strings.HasPrefix(r.stdout, "%%MatrixMarket matrix coordinate pattern general\n34 34 156\n") {
		t.Errorf("%+v", r)
	}
	if r := piped(t, "0 1\n", "cc", "-"); r.code != 1 || !strings.Contains(r.stderr, "standard input: neither the name nor the first bytes tell the format of this file; --format") {
		t.Errorf("%+v", r)
	}
	if r := piped(t, mtx, "sgm", "-", "-", "--seeds", "1"); r.code != 2 || !strings.Contains(r.stderr, "only one of the inputs") {
		t.Errorf("%+v", r)
	}
	if r := piped(t, "0 1\nx 2\n", "cc", "-", "--format", "edges"); r.code != 1 || !strings.Contains(r.stderr, "standard input:2: ") {
		t.Errorf("%+v", r)
	}
}

// Every conversion keeps integers and the type of a file.
func TestConvertKeepsTypes(t *testing.T) {
	dir := t.TempDir()
	const head = "%%MatrixMarket matrix coordinate "
	for _, c := range []struct{ reason, name, text, want string }{
		{"a pattern", "a.tsv", "0\t1\n1\t0\n", head + "pattern general\n2 2 2\n1 2\n2 1\n"},
		{"weights of 1", "a.tsv", "0\t1\t1\n1\t0\t1\n", head + "integer general\n2 2 2\n1 2 1\n2 1 1\n"},
		{"64 bits", "a.tsv", "0\t1\t9007199254740993\n1\t0\t-9223372036854775808\n", head + "integer general\n2 2 2\n1 2 9007199254740993\n2 1 -9223372036854775808\n"},
		{"64 bits without sign", "a.tsv", "0\t1\t18446744073709551615\n1\t0\t1\n", head + "integer general\n2 2 2\n1 2 18446744073709551615\n2 1 1\n"},
		{"integers of Matrix Market", "a.mtx", head + "integer general\n2 2 1\n1 2 9007199254740993\n", head + "integer general\n2 2 1\n1 2 9007199254740993\n"},
		{"real whole numbers", "a.tsv", "0\t1\t2.0\n1\t0\t3.0\n", head + "real general\n2 2 2\n1 2 2\n2 1 3\n"},
		{"real whole numbers of Matrix Market", "a.mtx", head + "real general\n2 2 1\n1 2 4\n", head + "real general\n2 2 1\n1 2 4\n"},
		{"reals", "a.csv", "0,1,2\n1,0,0.5\n", head + "real general\n2 2 2\n1 2 2\n2 1 0.5\n"},
	} {
		in := write(t, c.name, c.text)
		for _, via := range []string{".mtx", ".hgb", ".hgb.gz", ".tsv", ".csv", ".tsv.gz"} {
			mid := filepath.Join(dir, "mid"+via)
			succeed(t, "convert", in, mid)
			if got := succeed(t, "convert", mid, "-", "--output-format", "mtx"); got != c.want {
				t.Errorf("%s via %s: got %q, want %q", c.reason, via, got, c.want)
			}
		}
	}
	sum := write(t, "s.tsv", "0 1 9223372036854775807\n0 1 1\n")
	if r := hiveblas(t, "convert", sum, "-", "--duplicates", "sum"); r.code != 1 || !strings.Contains(r.stderr, "not exact in 64 bits") {
		t.Errorf("%+v", r)
	}
	if got := succeed(t, "convert", write(t, "p.tsv", "0 1\n0 1\n"), "-", "--duplicates", "sum"); got != "0\t1\t2\n" {
		t.Errorf("repeats of a pattern are counted: %q", got)
	}
	if got := succeed(t, "info", write(t, "b.tsv", "0 1 9007199254740993\n"), "--json"); !strings.Contains(got, `"min":9007199254740993`) {
		t.Error(got)
	}
}

// A command that computes rejects integers that are not exact in float64, in every
// format. A command that reads the structure accepts them.
func TestExactOrRefused(t *testing.T) {
	list := write(t, "a.tsv", "0 1 9007199254740993\n1 0 2\n")
	files := []string{list}
	for _, ext := range []string{".csv", ".mtx", ".hgb", ".mtx.gz"} {
		path := filepath.Join(t.TempDir(), "a"+ext)
		succeed(t, "convert", list, path)
		files = append(files, path)
	}
	for _, file := range files {
		for _, command := range []string{"project", "vn --seeds 0", "sssp --source 0", "lsap"} {
			r := hiveblas(t, append(strings.Fields(command), file)...)
			if r.code != 1 || !strings.Contains(r.stderr, "9007199254740993") || !strings.Contains(r.stderr, "not exact in float64; this command computes in float64") {
				t.Errorf("%s %s: %+v", command, file, r)
			}
		}
		for _, command := range []string{"cc", "tc", "stats", "info", "bfs --source 0", "vn --seeds 0 --unit", "project --unweighted"} {
			succeed(t, append(strings.Fields(command), file)...)
		}
	}
}

func TestSeedsByName(t *testing.T) {
	t.Chdir(t.TempDir())
	const list = "alice,bob\nbob,\"Doe, K\"\n\"Doe, K\",New York\n"
	for name, text := range map[string]string{"n.csv": list, "seeds.txt": "# who\nalice\nNew York\n", "alice": "bob\n", "numbers": "0\n2 # two\n", "7": "1\n"} {
		sure.Do(os.WriteFile(name, []byte(text), 0o666))
	}
	sure.Do(os.WriteFile("n.el", []byte("0 1\n1 2\n"), 0o666))
	for _, c := range []struct {
		reason, graph, seeds string
		n                    float64
		flags                string
	}{
		{"one name; a file of that name does not matter", "n.csv", "alice", 1, "--ids renumber"},
		{"two names", "n.csv", "alice,bob", 2, "--ids renumber"},
		{"a name with a blank", "n.csv", "New York", 1, "--ids renumber"},
		{"a name with a comma", "n.csv", "Doe, K", 1, "--ids renumber"},
		{"a quoted name in a list", "n.csv", `"Doe, K",bob`, 2, "--ids renumber"},
		{"a file of names", "n.csv", "seeds.txt", 2, "--ids renumber"},
		{"numbers", "n.el", "0,2", 2, ""},
		{"a file of numbers", "n.el", "numbers", 2, ""},
		{"a file whose name is a number that is not a vertex", "n.el", "7", 1, ""},
	} {
		for _, command := range []string{"vn", "lgc"} {
			args := append([]string{command, c.graph, "--undirected", "--seeds", c.seeds}, strings.Fields(c.flags)...)
			if got := report(t, args...); got["seeds"] != c.n {
				t.Errorf("%s %s: %v seeds, want %v", command, c.reason, got["seeds"], c.n)
			}
		}
	}
	for args, want := range map[string]string{
		"vn n.csv --ids renumber --seeds zoe":       `there is no vertex "zoe"; give a name that occurs in the file, or the path of a file`,
		"vn n.csv --ids renumber --seeds alice,zoe": `there is no vertex "zoe"`,
		"vn n.el --seeds 9":                         "there is no vertex 9; vertices go from 0 to 2",
		"vn n.el --seeds zoe":                       "--ids renumber reads vertices with names",
	} {
		if r := hiveblas(t, strings.Fields(args)...); r.code != 1 || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: %+v", args, r)
		}
	}
}

func TestWarnings(t *testing.T) {
	for _, c := range []struct{ text, args, want string }{
		{"1 2\n2 3\n", "cc", "no edge has id 0, and vertex 0 is isolated; --base 1 if the ids count from 1, or --ids renumber\n"},
		{"0 300000\n", "cc", "only 2 of the 300001 ids from 0 to 300000 occur, and the others are isolated vertices; --ids renumber numbers the ids that occur, whatever text they are\n"},
		{"1 2\n2 3\n", "convert OUT", "no edge has id 0, and vertex 0 is isolated; --base 1 if the ids count from 1, or --ids renumber\n"},
		{"1 2 0.5\n", "info", "no edge has id 0, and vertex 0 is isolated; --base 1 if the ids count from 1, or --ids renumber\n"},
		{"1 2\n2 3\n", "cc --base 1", ""}, {"1 2\n2 3\n", "cc --base auto", ""}, {"1 2\n", "cc --ids renumber", ""}, {"0 1\n", "cc", ""},
	} {
		path := write(t, "g.el", c.text)
		args := strings.Fields(strings.Replace(c.args, "OUT", "-", 1))
		args = append(args[:1:1], append([]string{path}, args[1:]...)...)
		if args[0] != "convert" {
			args = append(args, "--json")
		}
		r := hiveblas(t, args...)
		want := c.want
		if want != "" {
			want = "hiveblas: warning: " + path + ": " + want
		}
		if r.code != 0 || r.stderr != want {
			t.Errorf("%s of %q: exit %d, stderr %q, want %q", c.args, c.text, r.code, r.stderr, want)
		}
		var o map[string]any
		if args[0] != "convert" && json.Unmarshal([]byte(r.stdout), &o) != nil {
			t.Errorf("%s: stdout is %q", c.args, r.stdout)
		}
		if args[0] == "cc" && strings.Contains(c.args, "--") && o["components"] != 1.0 {
			t.Errorf("%s: %v components", c.args, o["components"])
		}
	}
}

func TestStatsOfTwoSides(t *testing.T) {
	list := write(t, "b.csv", "0,0\n1,1\n0,1\n")
	got := report(t, "stats", list, "--bipartite")
	if v, ok := got["self_loops"]; !ok || v != nil || got["symmetric"] != nil {
		t.Errorf("--bipartite: %v loops, symmetric %v", v, got["symmetric"])
	}
	if got := report(t, "stats", list); got["self_loops"] != 2.0 || got["symmetric"] != false {
		t.Errorf("one kind of vertex: %v loops, symmetric %v", got["self_loops"], got["symmetric"])
	}
	if text := succeed(t, "stats", list, "--bipartite"); strings.Contains(text, "self-loops") || strings.Contains(text, "symmetric") {
		t.Error(text)
	}
}

// goIdentifier matches names of the Go library, which messages must not contain.
var goIdentifier = regexp.MustCompile(`\b(matrix|apps|ops|semiring|chunked|auction|cusparse)\.[A-Za-z]|\b(KeepIDs|RenumberIDs|SkipLines|StringIDs|WeightColumn|SourceColumn|AllowNaN|PatternOnly|Symmetrise|AsSymmetric|AsPattern|Duplicates|InFormat|Delimiter|HeaderYes)\b|wider type`)

// Every remedy fits the input and the given flags.
func TestHints(t *testing.T) {
	const real, integer = "%%MatrixMarket matrix coordinate real general\n", "%%MatrixMarket matrix coordinate integer general\n"
	for _, c := range []struct{ reason, name, text, args, want, not string }{
		{"an unknown header", "a.csv", "Who,Whom\n0,1\n", "cc", "--header yes takes the first line", "renumber"},
		{"an unknown header, renumbered", "a.csv", "Who,Whom\n0,1\n", "cc --ids renumber", "--header yes takes the first line for column names, --header no for an edge", ""},
		{"an unknown header with a weight", "a.csv", "Who,Whom,Much\n0,1,2\n", "sssp --source 0", "--header yes", "skip-lines"},
		{"names", "a.csv", "ann,bob\nbob,cid\n", "cc", "--ids renumber", "header"},
		{"a padded id", "a.el", "007 8\n7 8\n", "cc", "--ids renumber", "header"},
		{"a bad weight after skipped lines", "a.csv", "x\n0,1,abc\n0,2,3\n", "sssp --source 0 --skip-lines 1", "--weight-column", "skip-lines"},
		{"a quoted weight after skipped lines is a weight", "a.csv", "x\n0,1,\"2\"\n", "sssp --source 0 --skip-lines 1", "", ""},
		{"a weight beyond float64", "a.el", "0 1 1e400\n", "sssp --source 0", "weights are at most 1.8e308", "type"},
		{"the same in Matrix Market", "a.mtx", real + "2 2 1\n1 2 1e400\n", "sssp --source 0", "weights are at most 1.8e308", "type"},
		{"an integer beyond 2^53", "a.el", "0 1 9007199254740993\n", "sssp --source 0", "scale the weights", "int64"},
		{"an integer beyond 64 bits", "a.mtx", integer + "2 2 1\n1 2 99999999999999999999\n", "convert OUT", "a.mtx:3: ", "int64 or"},
		{"a fraction among integers", "a.mtx", integer + "2 2 1\n1 2 0.5\n", "convert OUT", "the banner should say real", ""},
		{"NaN", "a.el", "0 1 nan\n", "sssp --source 0", "weights are finite numbers", ""},
		{"NaN, converted", "a.el", "0 1 nan\n", "convert OUT", "weights are finite numbers", ""},
		{"an edge twice", "a.el", "0 1\n0 1\n", "cc", "--duplicates sum, min, max, first or last", ""},
		{"a repeat in one direction", "a.el", "0 1\n1 0\n0 1\n", "cc --undirected", "--duplicates sum", ""},
		{"an entry twice", "a.mtx", real + "2 2 2\n1 2 1\n1 2 1\n", "cc", "--duplicates sum", ""},
		{"four columns", "a.csv", "0,1,2,3\n", "cc", "--weight-column chooses", ""},
		{"an unknown column", "a.csv", "src,dst,w8\n0,1,2\n", "cc --weight-column weight", "--source-column, --target-column and --weight-column", ""},
		{"one field", "a.el", "0:1\n", "cc", "correct the file", ""},
		{"one field of two", "a.csv", "0,1\n0 1\n", "cc", "--delimiter", ""},
		{"tabs for alignment", "a.tsv", "0\t\t1\n", "cc", "--delimiter", ""},
		{"quotes in a field", "a.csv", "a\"b,c\n", "cc --ids renumber", "quotation marks", ""},
		{"id 0 of base 1", "a.el", "0 1\n", "cc --base 1", "--base 0", ""},
		{"an id beyond 2^31", "a.el", "0 2147483648\n", "cc", "--ids renumber", ""},
		{"no format", "edges", "0 1\n", "cc", "--format names the format", ""},
		{"another format", "a.tsv", real + "1 1 0\n", "cc --format edges", "--format names", ""},
		{"a wide matrix, undirected", "a.mtx", real + "2 3 1\n1 2 1\n", "cc --undirected", "leave --undirected out", ""},
		{"a directed graph", "a.el", "0 1\n", "lgc --seeds 0", "the graph is directed: there is an edge from 0 to 1 and none back; --undirected reads", ""},
		{"symmetric, and not", "a.el", "0 1\n", "convert OUT --symmetric", "leave --symmetric out", ""},
		{"symmetric, and wide", "a.mtx", real + "2 3 1\n1 2 1\n", "convert OUT --symmetric", "leave --symmetric out", ""},
		{"no banner", "a.mtx", "0 1\n1 2\n", "cc", "--format names", ""},
		{"--bipartite of a matrix", "a.mtx", real + "2 3 1\n1 2 1\n", "project --bipartite", "leave it out", ""},
		{"a negative weight", "a.el", "0 1 -1\n", "sssp --source 0", "hiveblas vn --unit", ""},
		{"a missing edge in lsap", "a.el", "0 1\n", "lsap", "--default", ""},
		{"costs beyond any sum", "a.el", "0 0 1e308\n0 1 1e308\n1 0 1e308\n1 1 -1e308\n", "lsap --method auction", "", ""},
	} {
		path := write(t, c.name, c.text)
		args := strings.Fields(strings.Replace(c.args, "OUT", filepath.Join(t.TempDir(), "out.mtx"), 1))
		args = append(args[:1:1], append([]string{path}, args[1:]...)...)
		r := hiveblas(t, args...)
		if c.want == "" {
			if id := goIdentifier.FindString(strings.ReplaceAll(r.stderr, path, "")); id != "" {
				t.Errorf("%s: names %s: %s", c.reason, id, r.stderr)
			}
			continue
		}
		_, message, _ := strings.Cut(r.stderr, path)
		if r.code != 1 || !strings.Contains(r.stderr, c.want) || c.not != "" && strings.Contains(message, c.not) {
			t.Errorf("%s: exit %d, %q, want %q and not %q", c.reason, r.code, r.stderr, c.want, c.not)
		}
		if id := goIdentifier.FindString(message); id != "" {
			t.Errorf("%s: the message names %s: %s", c.reason, id, r.stderr)
		}
	}
	for kind := graphio.RemedyText + 1; !strings.HasPrefix(kind.String(), "RemedyKind("); kind++ {
		text := job.FlagRemedy(kind)
		if text == "" || goIdentifier.MatchString(text) {
			t.Errorf("the remedy %q is said as %q", kind, text)
		}
	}
}

func TestReadFlags(t *testing.T) {
	list := write(t, "a.csv", "0,1\n")
	for args, want := range map[string]string{
		"--format xls": "--format is", "--delimiter ab": "--delimiter is", "--delimiter 0": "--delimiter is", "--header maybe": "--header is", "--base 2": "--base is",
		"--ids renumber --base 1": "exclude each other", "--source-column 0": "--source-column is 0", "--weight-column -1": "--weight-column is -1",
		"--source-column 2 --target-column 2": "--target-column is also --source-column", "--header no --source-column a": "--header no excludes",
		"--skip-lines -1": "--skip-lines is", "--bipartite --undirected": "exclude each other", "--duplicates mean": "--duplicates is",
		"--output-format tsv": "--output-format needs -o", "-o x.foo --output-format png": `--output-format is "png"`,
	} {
		r := hiveblas(t, append([]string{"cc", list}, strings.Fields(args)...)...)
		if r.code != 2 || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: %+v", args, r)
		}
	}
	for _, old := range []string{"pagerank --tol 1", "sgm b --eps 1", "sgm b --tol 1", "sgm b --seed 1", "lsap --seed 1", "lgc --seed 1"} {
		f := strings.Fields(old)
		if r := hiveblas(t, append([]string{f[0], list}, f[1:]...)...); r.code != 2 || !strings.Contains(r.stderr, "unknown flag") {
			t.Errorf("%s: %+v", old, r)
		}
	}
	out := filepath.Join(t.TempDir(), "x.anything")
	succeed(t, "cc", list, "-o", out, "--output-format", "mtx")
	if got := contents(t, out); !strings.HasPrefix(got, "%%MatrixMarket") {
		t.Error(got)
	}
}

// TestWeightsThatAreText reads a list with text in the third column by the commands that use no
// weights, and not by the commands that do.
func TestWeightsThatAreText(t *testing.T) {
	path := write(t, "ties.tsv", "0\t1\tfriend\n1\t0\tfriend\n1\t2\tfoe\n2\t1\tfoe\n")
	for _, args := range []string{"cc", "scc", "tc", "kcore", "ktruss -k 3", "clustering", "cdlp", "mis", "colour", "pagerank",
		"bfs --source 0", "betweenness", "closeness", "hits", "eigenvector", "katz", "similar", "diameter", "matching",
		"lgc --seeds 0", "scan --hops 0", "project --unweighted", "spy -o " + filepath.Join(t.TempDir(), "x.png")} {
		command := strings.Fields(args)
		if r := hiveblas(t, append([]string{command[0], path}, command[1:]...)...); r.code != 0 {
			t.Errorf("%s: %+v", args, r)
		}
	}
	for _, args := range []string{"sssp --source 0", "louvain", "msf", "maxflow --source 0 --sink 1", "lsap", "project", "pagerank --weighted"} {
		command := strings.Fields(args)
		r := hiveblas(t, append([]string{command[0], path}, command[1:]...)...)
		if r.code != 1 || !strings.Contains(r.stderr, "want a number, got \"friend\"; --weight-column") {
			t.Errorf("%s: %+v", args, r)
		}
	}
}

// TestEmptyList reads an empty list as a graph without vertices, and says so.
func TestEmptyList(t *testing.T) {
	for _, text := range []string{"", "\n", "# nothing\n", "source\ttarget\n"} {
		path := write(t, "none.tsv", text)
		for _, command := range []string{"cc", "pagerank", "stats"} {
			got := succeed(t, command, path)
			if line, _, _ := strings.Cut(got, "\n"); !strings.HasSuffix(line, "none.tsv, 0×0, 0 entries: the file has no edges") {
				t.Errorf("%s of %q: %q", command, text, line)
			}
		}
		if r := hiveblas(t, "bfs", path, "--source", "0"); r.code != 1 || !strings.Contains(r.stderr, "the graph is empty") {
			t.Errorf("bfs of %q: %+v", text, r)
		}
		if got := succeed(t, "convert", path, "-"); got != "" {
			t.Errorf("convert of %q: %q", text, got)
		}
	}
}
