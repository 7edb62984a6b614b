package program

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/program/internal/text"
)

const sampleFile = `# shortest paths
state	float32
edge float32
message   float32 # of an edge
init INFINITY
seed 0 0.0f
seed 12 (float)1
gather src +
	weight
if weight < 10
sum min
apply active = sum < state;
  if (active) { state = sum; }
idempotent
supersteps 100
`

func TestReadFile(t *testing.T) {
	t.Parallel()
	got, err := ReadFile(strings.NewReader(sampleFile), "a.prog")
	want := &File{
		Name: "a.prog", State: "float32", Edge: "float32", Message: "float32", Init: "INFINITY",
		Seeds: []FileSeed{{ID: 0, State: "0.0f"}, {ID: 12, State: "(float)1"}}, Gather: "src + weight", If: "weight < 10", Sum: "min",
		Apply: "active = sum < state; if (active) { state = sum; }", Idempotent: true, Supersteps: 100,
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v, %v, want %+v", got, err, want)
	}
	for _, c := range []struct{ reason, old, new, want string }{
		{"a word that is no part", "sum min", "sums min", `a.prog:11: "sums" is no part`},
		{"an unknown type", "message   float32", "message real", `a.prog:4: message is "real", want a type`},
		{"an open bracket", "(float)1", "(float1", "a.prog:7: seed has a '(' that nothing closes"},
		{"a closed bracket", "if weight < 10", "if weight < 10)", "a.prog:10: if has a ')' that closes nothing"},
		{"a statement for an expression", "if weight < 10", "if weight < 10; x", `a.prog:10: if has a ";"`},
		{"a quote", "if weight < 10", `if weight < "`, "a.prog:10: if has a '\"'"},
		{"twice", "sum min", "init 0", "a.prog:11: init is given twice, first in line 5"},
		{"a seed below 0", "seed 12", "seed -1", `a.prog:7: the seed is vertex "-1"`},
		{"a seed without a state", "seed 12 (float)1", "seed 12", "a.prog:7: seed has no text"},
		{"supersteps", "supersteps 100", "supersteps 0", `a.prog:15: supersteps is "0"`},
		{"words after a flag", "idempotent", "idempotent yes", `a.prog:14: idempotent is followed by "yes"`},
		{"no sum", "sum min\n", "", "a.prog: there is no sum"},
		{"no state", "state	float32\n", "", "a.prog: there is no state"},
		{"no apply", "apply active = sum < state;\n  if (active) { state = sum; }\n", "", "a.prog: there is no apply"},
		{"two messages", "sum min", "sum min\nsend state", "a.prog: give one of send and gather"},
		{"an expression without identity", "sum min", "sum x < y ? x : y", "a.prog: identity belongs to a sum that is an expression"},
		{"an identity of min", "sum min", "sum min\nidentity 0", "a.prog: identity belongs to a sum that is an expression"},
		{"skip everywhere", "sum min", "sum min\nskip state > 0\neverywhere", "a.prog: skip and everywhere"},
		{"a zero byte", "sum min", "sum \x00", "a.prog:11: the line is not text"},
	} {
		_, err := ReadFile(strings.NewReader(strings.Replace(sampleFile, c.old, c.new, 1)), "a.prog")
		var e *FileError
		if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.reason, err, c.want)
		}
	}
	for reason, content := range map[string]string{
		"begins with a blank": " x\n", "more than": "apply " + strings.Repeat("x", text.MaxPart), "no state": "",
		"bytes": strings.Repeat("#"+strings.Repeat("x", 8000)+"\n", 200),
	} {
		if _, err := ReadFile(strings.NewReader(content), "a.prog"); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%q: %v", reason, err)
		}
	}
}

const structFile = `# PageRank that stops where a rank settles
state {
  float rank, last; # float is float32
  int32 degree ;
 }
message { double share; uint8 many; }
init {1.0 / n, 0, degree}
send {state.rank / degree, 1}
sum {x.share + y.share, (hb_u8)(x.many | y.many)}
identity {0, 0}
apply state.last = state.rank; state.rank = sum.share;
everywhere
supersteps 3
`

func TestStructFile(t *testing.T) {
	t.Parallel()
	got, err := ReadFile(strings.NewReader(structFile), "s.prog")
	want := &File{
		Name: "s.prog", State: "{ float32 rank; float32 last; int32 degree }", Message: "{ float64 share; uint8 many }",
		Init: "{1.0 / n, 0, degree}", Send: "{state.rank / degree, 1}",
		Sum: "{x.share + y.share, (hb_u8)(x.many | y.many)}", Identity: "{0, 0}",
		Apply: "state.last = state.rank; state.rank = sum.share;", Everywhere: true, Supersteps: 3,
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v, %v, want %+v", got, err, want)
	}
	wide := "{ "
	for k := range 9 {
		wide += "double a" + string(rune('a'+k)) + ";"
	}
	for _, c := range []struct{ reason, old, new, want string }{
		{"an unknown type of a field", "double share", "real share", `s.prog:6: message has a field of type "real", want one of bool`},
		{"a type alone", "double share", "double", "s.prog:6: message has a field of type double without a name"},
		{"a name missing after a comma", "uint8 many", "uint8 many,", "s.prog:6: message has a field of type uint8 without a name"},
		{"an empty field", "double share;", "double share;;", "s.prog:6: message has a field without a type and a name"},
		{"two fields of a name", "uint8 many", "uint8 share", `s.prog:6: message has two fields "share"`},
		{"a reserved word", "uint8 many", "uint8 double", `s.prog:6: message has a field "double", which is a reserved word`},
		{"a name of the kernels", "uint8 many", "uint8 HB_V", `s.prog:6: message has a field "HB_V", which is a reserved word`},
		{"an array", "uint8 many", "uint8 many[2]", `s.prog:6: message has a field "many[2]"; want a letter`},
		{"an initial value", "uint8 many", "uint8 many = 3", `s.prog:6: message has a field "many = 3"; want a letter`},
		{"a long name", "uint8 many", "uint8 " + strings.Repeat("m", 65), "s.prog:6: message has a field whose name is longer than 64 bytes"},
		{"no fields", "{ double share; uint8 many; }", "{ ; }", "s.prog:6: message has no fields"},
		{"an open brace", "uint8 many; }", "uint8 many;", "s.prog:6: message is \"{ double share; uint8 many;\", want fields in one pair"},
		{"a struct in a struct", "uint8 many", "{ int x } many", "s.prog:6: message is"},
		{"too large", "{ double share; uint8 many; }", wide + "}", "s.prog:6: message is too large: "},
		{"a field that the state lacks", "state.rank / degree", "state.rnk / degree", "s.prog:8: send has state.rnk, and the fields of the state are { float32 rank;"},
		{"a field that the message lacks", "x.share + y.share", "x.share + y . sharp", "s.prog:9: sum has y.sharp, and the fields of the message are { float64 share;"},
		{"a field that the sum lacks", "sum.share;", "sum.rank;", "s.prog:11: apply has sum.rank, and the fields of the message"},
		{"a field of a number", "message { double share; uint8 many; }", "message double", "s.prog:9: sum has x.share, and the message has no fields"},
		{"a sum by name", "sum {x.share + y.share, (hb_u8)(x.many | y.many)}\nidentity {0, 0}", "sum plus", "s.prog:9: sum is plus, and the message is a struct"},
	} {
		text := strings.Replace(structFile, c.old, c.new, 1)
		_, err := ReadFile(strings.NewReader(text), "s.prog")
		var e *FileError
		if text == structFile || !errors.As(err, &e) || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.reason, err, c.want)
		}
	}
}

func FuzzReadFile(f *testing.F) {
	f.Add(sampleFile)
	f.Add(structFile)
	f.Add("state {bool a,b;float\tc}\nedge { int w }\nmessage {int8 x}\ninit {}\ngather {weight.w}\nif src.a\nsum any\napply state.a = sum.x\nskip state.b\n")
	f.Add("state int8\nmessage int8\ninit id\nsend state\nsum x ^ y\nidentity 0\napply state = sum\nskip state\n")
	f.Fuzz(func(t *testing.T, content string) {
		got, err := ReadFile(strings.NewReader(content), "f")
		if err != nil {
			var e *FileError
			if !errors.As(err, &e) || e.Line > strings.Count(content, "\n")+1 {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		for _, of := range []string{got.State, got.Edge, got.Message} {
			if of == "" {
				continue
			}
			known, offsets, err := text.TypeOf(of)
			if fields := text.FieldsOf(of); err != nil || known.Size == 0 || len(offsets) != len(fields) || text.IsStruct(of) && text.TypeText(fields) != of {
				t.Fatalf("%q has the type %q: %+v, %v", content, of, known, err)
			}
		}
		again, err := ReadFile(strings.NewReader(got.String()), "f")
		if err != nil || !reflect.DeepEqual(again, got) {
			t.Fatalf("%q is read as %+v, and then as %+v, %v", content, got, again, err)
		}
	})
}
