package lines

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/graphio"
)

func TestReadValues(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason, text string
		n            int
		want         []float64
		line         int64 // of the error
	}{
		{"numbers", "1\n-2.5\n3e4\n", 3, []float64{1, -2.5, 3e4}, 0},
		{"comments, blanks and no last newline", "\ufeff# y\n 1 \r\n\n% x\n2", 2, []float64{1, 2}, 0},
		{"nothing for no vertices", "", 0, nil, 0},
		{"any number", "1\n2\n", -1, []float64{1, 2}, 0},
		{"a word", "1\ntwo\n", 2, nil, 2},
		{"three numbers", "1 2 3\n", 2, nil, 1},
		{"NaN", "1\nNaN\n", 2, nil, 2},
		{"an infinity", "inf\n", 1, nil, 1},
		{"a large number", "1e999\n", 1, nil, 1},
		{"too many", "1\n2\n3\n", 2, nil, 3},
		{"vertices", "1\t5\n# c\n0\t-2\n", 2, []float64{-2, 5}, 0},
		{"any number of vertices", "2,7\n0 5\n1\t6\n", -1, []float64{5, 6, 7}, 0},
		{"no vertices", "", -1, nil, 0},
		{"a header", "value\n1\n-2.5\n", 2, []float64{1, -2.5}, 0},
		{"a header of pairs", "vertex,value\n1,5\n0,-2\n", 2, []float64{-2, 5}, 0},
		{"hexadecimal", "0x1.8p+1\n", 1, []float64{3}, 0},
		{"a decimal comma", "1\n\n2,5\n", 2, nil, 3},
		{"a header after values", "1\nvalue\n", 1, nil, 2},
		{"a vertex twice", "1 5\n0 1\n1 5\n", 2, nil, 3},
		{"a vertex beyond the graph", "0 5\n2 5\n", 2, nil, 2},
		{"a word for a vertex", "ann 5\n", 1, nil, 1},
		{"a number after vertices", "0 5\n5\n", 2, nil, 2},
		{"a vertex after numbers", "5\n1 5\n", 2, nil, 2},
		{"a word for a value", "0 five\n", 1, nil, 1},
	} {
		v, err := ReadValues(strings.NewReader(c.text), c.n, ValueOptions{Name: "y.txt"})
		var e *graphio.ParseError
		switch {
		case c.line > 0:
			if !errors.As(err, &e) || e.Line != c.line || e.File != "y.txt" || e.Remedy == "" {
				t.Errorf("%s: error %v, want one in line %d", c.reason, err, c.line)
			}
		case err != nil:
			t.Errorf("%s: %v", c.reason, err)
		default:
			got := samples.Listed(v)
			for k, x := range c.want {
				if got[k] != x {
					t.Errorf("%s: %v, want %v", c.reason, got, c.want)
				}
			}
		}
	}
	var e *graphio.ParseError
	if _, err := ReadValues(strings.NewReader("1\n"), 2); !errors.As(err, &e) {
		t.Errorf("too few: error %v", err)
	}
	comma := ValueOptions{TextOptions: TextOptions{Decimal: ',', Comment: "!"}}
	for _, text := range []string{"! c\n1,5\n-2e1\n", "id;x\n1;-20\n0;1,5\n", "0 1,5\n1 -2,0e1\n"} {
		if v, err := ReadValues(strings.NewReader(text), 2, comma); err != nil || !slices.Equal(samples.Listed(v), []float64{1.5, -20}) {
			t.Errorf("decimal commas, %q: %v, %v", text, v, err)
		}
	}
	if _, err := ReadValues(strings.NewReader("1.5\n"), 1, comma); !errors.As(err, &e) {
		t.Errorf("a point where commas are announced: %v", err)
	}
	var param *workflow.ParameterError
	if _, err := ReadValues(strings.NewReader("1\n"), 1, ValueOptions{TextOptions: TextOptions{Decimal: ';'}}); !errors.As(err, &param) {
		t.Errorf("another decimal sign: %v", err)
	}
	tagged := ValueOptions{TextOptions: TextOptions{Comment: "none"}, Labels: graphio.NewLabels([]string{"#a", "%b"})}
	if v, err := ReadValues(strings.NewReader("#a 1\n%b 2\n"), 2, tagged); err != nil || !slices.Equal(samples.Listed(v), []float64{1, 2}) {
		t.Errorf("names that begin as comments: %v, %v", v, err)
	}
	named := ValueOptions{Labels: graphio.NewLabels([]string{"ann", "bob", `c "d", e`})}
	v, err := ReadValues(strings.NewReader("\"c \"\"d\"\", e\"\t3\nann\t1\nbob\t2\n"), 3, named)
	if err != nil || !slices.Equal(samples.Listed(v), []float64{1, 2, 3}) {
		t.Errorf("named vertices: %v, %v", v, err)
	}
	for _, n := range []int{3, -1} {
		if _, err := ReadValues(strings.NewReader("ann 1\n\"c \"\"d\"\", e\"\t3\n"), n, named); !errors.As(err, &e) || !strings.Contains(err.Error(), "vertex bob has no value") {
			t.Errorf("a vertex without a value, n %d: %v", n, err)
		}
	}
}

// FuzzReadValues: every input gives a finite number for each vertex, or an error with a reason.
func FuzzReadValues(f *testing.F) {
	f.Add("1\n2\n", 2)
	f.Add("# y\n-1e300\n", 1)
	f.Add("\x1f\x8b", 1)
	f.Fuzz(func(t *testing.T, text string, n int) {
		v, err := ReadValues(strings.NewReader(text), n%1000)
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without a text")
			}
			return
		}
		if n%1000 >= 0 && v.Size() != n%1000 || v.NVals() != int64(v.Size()) {
			t.Errorf("%d of %d values", v.NVals(), n)
		}
		for _, x := range v.All() {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				t.Errorf("a value is %v", x)
			}
		}
	})
}
