package program

import (
	"errors"
	"reflect"
	"strings"
	"testing"
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
		Seeds: []FileSeed{{0, "0.0f"}, {12, "(float)1"}}, Gather: "src + weight", If: "weight < 10", Sum: "min",
		Apply: "active = sum < state; if (active) { state = sum; }", Idempotent: true, Supersteps: 100,
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v, %v, want %+v", got, err, want)
	}
	for _, c := range []struct{ reason, old, new, want string }{
		{"a word that is no part", "sum min", "sums min", `a.prog:11: "sums" is no part`},
		{"an unknown type", "message   float32", "message float", `a.prog:4: message is "float", want a type`},
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
	for reason, text := range map[string]string{
		"begins with a blank": " x\n", "more than": "apply " + strings.Repeat("x", maxPart), "no state": "",
		"bytes": strings.Repeat("#"+strings.Repeat("x", 8000)+"\n", 200),
	} {
		if _, err := ReadFile(strings.NewReader(text), "a.prog"); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%q: %v", reason, err)
		}
	}
}

func FuzzReadFile(f *testing.F) {
	f.Add(sampleFile)
	f.Add("state int8\nmessage int8\ninit id\nsend state\nsum x ^ y\nidentity 0\napply state = sum\nskip state\n")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ReadFile(strings.NewReader(text), "f")
		if err != nil {
			var e *FileError
			if !errors.As(err, &e) || e.Line > strings.Count(text, "\n")+1 {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		again, err := ReadFile(strings.NewReader(got.String()), "f")
		if err != nil || !reflect.DeepEqual(again, got) {
			t.Fatalf("%q is read as %+v, and then as %+v, %v", text, got, again, err)
		}
	})
}
