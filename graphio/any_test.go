package graphio

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// TestReadAny: the element type is the one of the file.
func TestReadAny(t *testing.T) {
	t.Parallel()
	long := ""
	for i := range 150 { // beyond the lines that a header is found in
		long += strings.Join([]string{string(rune('a'+i%26)) + strings.Repeat("x", i/26), "b", "5"}, "\t") + "\n"
	}
	for _, c := range []struct {
		reason, name, text string
		opts               []ReadOption
		want               reflect.Kind
		entries            int64
	}{
		{"a pattern", "a.mtx", banner + "coordinate pattern general\n2 2 1\n1 2\n", nil, reflect.Bool, 1},
		{"integers", "a.mtx", banner + "coordinate integer general\n2 2 1\n1 2 -7\n", nil, reflect.Int64, 1},
		{"an integer beyond int64", "a.mtx", banner + "coordinate integer general\n2 2 1\n1 2 18446744073709551615\n", nil, reflect.Uint64, 1},
		{"integers beyond both", "a.mtx", banner + "coordinate integer general\n2 2 2\n1 2 9223372036854775808\n1 1 -2\n", nil, reflect.Float64, 2},
		{"a real file of whole numbers", "a.mtx", banner + "coordinate real general\n2 2 1\n1 2 7\n", nil, reflect.Float64, 1},
		{"edges without values", "a.tsv", "0\t1\n1\t2\n", nil, reflect.Bool, 2},
		{"edges with integers", "a.tsv", "0\t1\t3\n1\t2\t4\n", nil, reflect.Int64, 2},
		{"a fraction", "a.tsv", "0\t1\t3\n1\t2\t4.5\n", nil, reflect.Float64, 2},
		{"a fraction after the first lines", "a.tsv", long + "y\tz\t.5\n", []ReadOption{RenumberIDs(), duplicatesForAll()}, reflect.Float64, -1},
		{"a whole number with a point after the first lines", "a.tsv", long + "y\tz\t5.0\n", []ReadOption{RenumberIDs(), duplicatesForAll()}, reflect.Float64, -1},
		{"values left out", "a.tsv", "0\t1\tx\n1\t2\t4.5\n", []ReadOption{PatternOnly(), Header(HeaderNo)}, reflect.Bool, 2},
		{"GML without weights", "a.gml", "graph [ directed 1 node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 ] ]", nil, reflect.Bool, 1},
		{"GML with integers", "a.gml", "graph [ directed 1 node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 weight 3 ] ]", nil, reflect.Int64, 1},
		{"GML with fractions", "a.gml", "graph [ directed 1 node [ id 0 ] node [ id 1 ] edge [ source 0 target 1 weight 3.5 ] ]", nil, reflect.Float64, 1},
	} {
		path := filepath.Join(t.TempDir(), c.name)
		sure.Do(os.WriteFile(path, []byte(c.text), 0o600))
		a, _, _, err := ReadAny(path, c.opts...)
		if err != nil || a.Kind() != c.want || c.entries >= 0 && a.NVals() != c.entries {
			t.Errorf("%s: got %v, %v, want %v with %d entries", c.reason, a, err, c.want, c.entries)
		}
	}
}

// duplicatesForAll combines repeated edges of each type that a text may have.
func duplicatesForAll() ReadOption {
	return readOption(func(o *core.ReadOptions) {
		Duplicates(matrix.CombineFunc[bool](func(x, _ bool) bool { return x })).read(o)
		Duplicates(matrix.CombineFunc[int64](func(x, _ int64) int64 { return x })).read(o)
		Duplicates(matrix.CombineFunc[float64](func(x, _ float64) float64 { return x })).read(o)
	})
}

// A binary file keeps its type, and labels come along.
func TestReadAnyBinary(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a.hgb", "a.npz"} {
		path := filepath.Join(dir, name)
		a := mustTuples(t, 2, 2, []int{0}, []int{1}, []int16{-3})
		if err := WriteFile(path, a, WithLabels(NewLabels([]string{"x", "y"}))); err != nil {
			t.Fatal(err)
		}
		got, rows, cols, err := ReadAny(path)
		if err != nil || got.Kind() != reflect.Int16 || rows.Name(1) != "y" || cols.Name(0) != "x" {
			t.Fatalf("%s: got %v with %v, %v", name, got, rows, err)
		}
		if b, ok := matrix.As[int16](got); !ok || !b.Equal(a) {
			t.Errorf("%s: as int16: %v, %v", name, b, ok)
		}
		if b, ok := matrix.As[int64](got); ok {
			t.Errorf("%s: int16 is int64: %v", name, b)
		}
	}
	if _, _, _, err := ReadAny(filepath.Join(dir, "none.hgb")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

// Errors of a file, and warnings once, also where it is read again.
func TestReadAnyErrors(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.tsv")
	write := func(text string) {
		sure.Do(os.WriteFile(path, []byte(text), 0o600))
	}
	write("1\t2\t9223372036854775808\n2\t1\t-1\n3\t2\t9223372036854775809\n")
	var e *ParseError
	if _, _, _, err := ReadAny(path); !errors.As(err, &e) || e.Kind != RemedyExact || e.Line != 3 {
		t.Errorf("an integer that no type holds: %v", err)
	}
	write("1\t2\t9223372036854775808\n2\t3\t1\n")
	warnings := 0
	a, _, _, err := ReadAny(path, Warn(func(Warning) { warnings++ }))
	if err != nil || a.Kind() != reflect.Uint64 || warnings != 1 {
		t.Errorf("read twice: %v, %v, %d warnings, want 1 that no edge has id 0", a, err, warnings)
	}
	write("1\t2\t3\n1\t2\t4\n")
	var kind *matrix.TypeError
	if _, _, _, err := ReadAny(path, Duplicates(matrix.CombineFunc[float32](func(x, _ float32) float32 { return x }))); !errors.As(err, &kind) || kind.Want != "int64" {
		t.Errorf("an operator of another type: %v", err)
	}
}

// The ranks of a group agree about the type.
func TestReadAnyOnGroup(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.tsv")
	sure.Do(os.WriteFile(path, []byte("0\t1\t3\n1\t2\t4.5\n2\t0\t1\n"), 0o600))
	g := sure.Get(comm.LocalGroup(2))
	a, _, _, err := ReadAny(path, On(g))
	if err != nil || a.Kind() != reflect.Float64 || a.Place() != matrix.Place(g) || a.NVals() != 3 {
		t.Errorf("got %v, %v", a, err)
	}
}

func TestConvert(t *testing.T) {
	t.Parallel()
	a := matrix.AnyOf(mustTuples(t, 2, 3, []int{0, 1, 1}, []int{2, 0, 1}, []float64{1, 2, 300}))
	b, err := Convert[int16](a)
	if err != nil || entriesOf(b) != "(0,2)=1 (1,0)=2 (1,1)=300" {
		t.Errorf("int16: %v, %v", b, err)
	}
	if same, err := Convert[float64](a); err != nil || matrix.AnyOf(same) != a {
		t.Errorf("float64: %v, %v, want the matrix itself", same, err)
	}
	_, err = Convert[int8](a)
	if !errors.Is(err, matrix.ErrInvalid) || !strings.Contains(err.Error(), "row 1, column 1: the value 300 does not fit int8") {
		t.Errorf("int8: %v", err)
	}
	if _, err := Convert[bool](matrix.Any{}); err == nil {
		t.Error("no matrix is converted")
	}
	if _, err := Convert[bool](matrix.AnyOf(matrix.New[string](1, 1))); !errors.Is(err, matrix.ErrType) {
		t.Errorf("strings: %v", err)
	}
}
