package graphio

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/internal/atomicfile"
	"github.com/hiveblas/hiveblas/internal/pieces"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// someLabels returns labels of every kind of a file, of n rows.
func someLabels(n int) map[string]*Labels {
	ids, names := make([]int64, n), make([]string, n)
	for i := range n {
		ids[i], names[i] = int64(i*i-7), "v"+strings.Repeat("x", i%3)+string(rune('a'+i))
	}
	backwards, twice := slices.Clone(ids), slices.Clone(names)
	slices.Reverse(backwards)
	if n > 2 {
		twice[2] = twice[0]
	}
	sorted := slices.Clone(names)
	slices.Sort(sorted)
	return map[string]*Labels{"none": nil, "counted": (*Labels)(core.CountedFrom(-2, n)), "ids": NewIDs(ids), "unsorted ids": NewIDs(backwards),
		"names": NewLabels(sorted), "unsorted names": NewLabels(names), "repeated": NewLabels(twice)}
}

func TestLookUp(t *testing.T) {
	t.Parallel()
	for kind, l := range someLabels(9) {
		if l == nil {
			continue
		}
		for i := range 9 {
			first := 0
			for l.Name(first) != l.Name(i) {
				first++
			}
			if k, ok := l.Index(l.Name(i)); !ok || k != first {
				t.Errorf("%s: %q is label %d, want %d", kind, l.Name(i), k, first)
			}
		}
		for _, none := range []string{"", "zzz", "5000", "007", "-9223372036854775808", "9223372036854775807"} {
			if k, ok := l.Index(none); ok {
				t.Errorf("%s: %q is label %d", kind, none, k)
			}
		}
		if l.Ambiguous(l.Name(0)) != (kind == "repeated") || l.Ambiguous(l.Name(1)) || l.Ambiguous("zzz") {
			t.Errorf("%s: ambiguous: %v, %v", kind, l.Ambiguous(l.Name(0)), l.Ambiguous(l.Name(1)))
		}
		part, err := l.Extract([]int{8, 0, 0})
		if err != nil || part.Len() != 3 || part.Name(0) != l.Name(8) || part.Name(2) != l.Name(0) {
			t.Errorf("%s: extracted %v, %v", kind, part, err)
		}
		if _, err := l.Extract([]int{9}); !errors.Is(err, matrix.ErrIndex) {
			t.Errorf("%s: an index outside: %v", kind, err)
		}
		n := 0
		for i, name := range l.All() {
			if i != n || name != l.Name(i) {
				t.Errorf("%s: label %d is %q", kind, i, name)
			}
			n++
		}
	}
}

func TestBinaryLabels(t *testing.T) {
	t.Parallel()
	for _, a := range everyFormat(t) {
		m, n := a.Dims()
		if m > 1000 {
			continue
		}
		for rowKind, rows := range someLabels(m) {
			for colKind, cols := range someLabels(n) {
				var b bytes.Buffer
				if err := WriteBinary(&b, a, WithRowColumnLabels(rows, cols)); err != nil {
					t.Fatal(err)
				}
				got, err := ReadLabelled[int32](bytes.NewReader(b.Bytes()))
				if err != nil {
					t.Fatalf("%s, %s: %v", rowKind, colKind, err)
				}
				if !got.Matrix.Equal(a) || !got.Rows.Equal(rows) || !got.Cols.Equal(cols) {
					t.Errorf("%v: labels %s and %s came back as %v and %v", a.Format(), rowKind, colKind, got.Rows, got.Cols)
				}
				if colKind != rowKind || rows == nil {
					continue
				}
				for i := range m {
					want, _ := rows.Index(rows.Name(i))
					if k, ok := got.Rows.Index(rows.Name(i)); !ok || k != want {
						t.Errorf("%s: %q is label %d of the file, want %d", rowKind, rows.Name(i), k, want)
					}
				}
			}
		}
	}
	// Labels that rows and columns share stay shared, and those beyond the matrix are left out.
	a := mustTuples(t, 2, 2, []int{0}, []int{1}, []int8{3})
	for _, l := range someLabels(5) {
		var b bytes.Buffer
		if err := WriteBinary(&b, a, WithLabels(l)); err != nil {
			t.Fatal(err)
		}
		_, got, err := Read[int8](&b)
		if err != nil || (l != nil && (got.Len() != 2 || got.Name(1) != l.Name(1))) {
			t.Errorf("shared labels came back as %v, %v", got, err)
		}
	}
	if err := WriteBinary(&bytes.Buffer{}, a, WithLabels(NewIDs([]int64{1}))); !errors.Is(err, matrix.ErrInvalid) {
		t.Errorf("too few labels: %v", err)
	}
}

func TestLabelledFiles(t *testing.T) {
	t.Parallel()
	a := mustTuples(t, 3, 3, []int{0, 1, 2}, []int{1, 2, 0}, []int64{1, 2, 3})
	odd := NewLabels([]string{" a\"b", "\"", "tab\tbar|, #"})
	other := NewIDs([]int64{3, 1, 2})
	for _, name := range []string{"g.hgb", "g.hgb.gz", "g.mtx", "g.MTX.gz"} {
		for _, g := range []Labelled[int64]{{a, odd, odd}, {a, odd, other}, {a, nil, odd}, {a, other, nil}, {a, nil, nil}} {
			path := filepath.Join(t.TempDir(), name)
			if err := g.WriteFile(path); err != nil {
				t.Fatal(err)
			}
			got, err := ReadLabelledFile[int64](path)
			if err != nil || !got.Matrix.Equal(a) || !got.Rows.Equal(g.Rows) || !got.Cols.Equal(g.Cols) {
				t.Fatalf("%s: got %+v, %v, want %+v", name, got, err, g)
			}
			if (got.Rows == got.Cols) != (g.Rows == g.Cols) {
				t.Errorf("%s: shared labels: %v", name, got.Rows == got.Cols)
			}
		}
	}
	// A vector has the names of its positions.
	v, _ := matrix.VectorFromTuples(3, []int{0, 2}, []int64{4, 5}, nil)
	dir := t.TempDir()
	for _, name := range []string{"v.hgb", "v.mtx"} {
		path := filepath.Join(dir, name)
		if err := WriteVectorFile(path, v, WithLabels(odd)); err != nil {
			t.Fatal(err)
		}
		w, err := ReadVectorFile[int64](path)
		if err != nil || !v.Equal(w) {
			t.Errorf("%s: came back as %v, %v", name, w, err)
		}
	}
	if l, err := ReadLabelsFile(filepath.Join(dir, "v.mtx.rows")); err != nil || !l.Equal(odd) {
		t.Errorf("names beside a vector: %v, %v", l, err)
	}
}

// A failure after the last entry leaves the names of the old file.
func TestSidecarOfFailure(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "g.mtx")
	g := &Labelled[int8]{Matrix: mustTuples(t, 2, 2, []int{0}, []int{1}, []int8{3}), Rows: NewLabels([]string{"a", "b"})}
	g.Cols = g.Rows
	if err := g.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	other := &Labelled[int8]{Matrix: g.Matrix, Rows: NewLabels([]string{"c", "d"})}
	other.Cols = other.Rows
	ctx, cancel := context.WithCancel(context.Background())
	err := atomicfile.WriteFile(ctx, path, func(w io.Writer) error {
		defer cancel()
		return other.Write(atomicfile.Through(bufio.NewWriter(w), w), NamesBeside(path), InFormat(FormatMatrixMarket))
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	back, err := ReadLabelledFile[int8](path)
	if err != nil || !back.Rows.Equal(g.Rows) {
		t.Errorf("after a failure: names %v, %v", back, err)
	}
}

func TestSidecarOfAnotherFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "g.mtx")
	a := mustTuples(t, 2, 2, []int{0}, []int{1}, []int8{3})
	write := func(names ...string) {
		t.Helper()
		g := &Labelled[int8]{a, NewLabels(names), nil}
		g.Cols = g.Rows
		if err := g.WriteFile(path); err != nil {
			t.Fatal(err)
		}
	}
	var warned []Warning
	read := func() (*Labels, error) {
		warned = nil
		g, err := ReadLabelledFile[int8](path, Warn(func(w Warning) { warned = append(warned, w) }))
		if err != nil {
			return nil, err
		}
		return g.Rows, nil
	}
	write("a", "b")
	text, _ := os.ReadFile(path)
	if _, l, err := Read[int8](bytes.NewReader(text), Warn(func(w Warning) { warned = append(warned, w) })); err != nil || l != nil || len(warned) != 1 || warned[0].Kind != RemedyNamesBeside {
		t.Errorf("a stream: labels %v, %v, %v", l, warned, err)
	}
	// Another program writes the file: its vertices have no names, although the names of before are
	// there.
	sure.Do(os.WriteFile(path, []byte(banner+"coordinate integer general\n2 2 1\n1 2 3\n"), 0o600))
	if l, err := read(); err != nil || l != nil || warned != nil {
		t.Errorf("a file without names: %v, %v, %v", l, err, warned)
	}
	write("a", "b")
	sure.Do(os.WriteFile(path+".names", []byte("a\nc\n"), 0o600))
	var e *ParseError
	if _, err := read(); !errors.As(err, &e) || e.Kind != RemedyNames || !strings.Contains(err.Error(), path+".names") {
		t.Errorf("changed names: %v", err)
	}
	sure.Do(os.Remove(path + ".names"))
	if l, err := read(); err != nil || l != nil || len(warned) != 1 || warned[0].Kind != RemedyNames {
		t.Errorf("missing names: %v, %v, %v", l, err, warned)
	}
}

func TestReadLabels(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason, text string
		want         []string // nil: an error
		line         int64
	}{
		{"names", "ann\n bob \r\n\"c \"\"d\"\"\"", []string{"ann", "bob", "c \"d\""}, 0},
		{"a byte order mark", "\xef\xbb\xbfann\nbob\n", []string{"ann", "bob"}, 0},
		{"integers", "7\n-1\n", []string{"7", "-1"}, 0},
		{"integers, then text", "7\n-1\nx\n", []string{"7", "-1", "x"}, 0},
		{"an empty line", "a\n\nb\n", nil, 2},
		{"an empty name", "\"\"\n", nil, 1},
		{"odd quotation marks", "a\n\"b\"c\"\n", nil, 2},
		{"nothing", "", []string{}, 0},
	} {
		l, err := ReadLabels(strings.NewReader(c.text), FileName("n.txt"))
		if c.want == nil {
			var e *ParseError
			if !errors.As(err, &e) || e.Line != c.line || e.File != "n.txt" {
				t.Errorf("%s: got %v, want an error in line %d", c.reason, err, c.line)
			}
			continue
		}
		if err != nil || l.Len() != len(c.want) {
			t.Fatalf("%s: %d names, %v", c.reason, l.Len(), err)
		}
		for i, want := range c.want {
			if l.Name(i) != want {
				t.Errorf("%s: name %d is %q, want %q", c.reason, i, l.Name(i), want)
			}
		}
	}
}

func TestBinaryVersion2(t *testing.T) {
	t.Parallel()
	dir := filepath.Join("testdata", "version2")
	a, l, err := ReadFile[int64](filepath.Join(dir, "matrix.hgb"))
	if want := mustTuples(t, 5, 5, []int{0, 1, 4}, []int{1, 2, 0}, []int64{5, -3, 7}); err != nil || l != nil || !a.Equal(want) {
		t.Errorf("matrix: got %v, %v", a, err)
	}
	v, err := ReadVectorFile[int32](filepath.Join(dir, "vector.hgb"))
	if want, _ := matrix.VectorFromTuples(5, []int{0, 1, 2, 4}, []int32{1, 2, 3, 0}, nil); err != nil || !v.Equal(want) {
		t.Errorf("vector: got %v, %v", v, err)
	}
	b, l, err := ReadFile[float64](filepath.Join(dir, "blocks.hgb"))
	if want := mustTuples(t, 4, 4, []int{0, 1, 1, 2, 2, 3}, []int{0, 1, 2, 1, 2, 3}, []float64{4, 1, 5, 5, 25, 81}); err != nil || l != nil || !b.Equal(want) {
		t.Errorf("blocks: got %v, %v", b, err)
	}
	mapped, err := OpenMapped[int64](filepath.Join(dir, "matrix.hgb"))
	if err != nil || !mapped.Matrix.Equal(a) || mapped.Rows != nil {
		t.Errorf("mapped: %v, %v", mapped, err)
	}
	if err := mapped.Close(); err != nil {
		t.Error(err)
	}
}

func TestMappedAndBlockedLabels(t *testing.T) {
	t.Parallel()
	a := speckled(9, 9, 3)
	for kind, l := range someLabels(9) {
		dir := t.TempDir()
		path := filepath.Join(dir, "a.hgb")
		if err := WriteFile(path, a, WithLabels(l)); err != nil {
			t.Fatal(err)
		}
		m, err := OpenMapped[int32](path)
		if err != nil || !m.Rows.Equal(l) || m.Cols != m.Rows {
			t.Fatalf("%s, mapped: %+v, %v", kind, m, err)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		blocks := filepath.Join(dir, "b.hgb")
		f, err := CreateBlocks[int32](blocks, 9, 9, []int{0, 4, 9}, nil)
		if err != nil {
			t.Fatal(err)
		}
		st := byRows(a)
		for _, b := range [][2]int{{0, 4}, {4, 9}} {
			lo, hi := st.Ptr[b[0]], st.Ptr[b[1]]
			ptr := slices.Clone(st.Ptr[b[0] : b[1]+1])
			for k := range ptr {
				ptr[k] -= lo
			}
			if err := f.Append(ptr, st.Idx[lo:hi], st.Val[lo:hi]); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.SetLabels(l, NewIDs([]int64{1})); !errors.Is(err, matrix.ErrInvalid) {
			t.Errorf("too few labels: %v", err)
		}
		if err := f.SetLabels(l, l); err != nil {
			t.Fatal(err)
		}
		if err := f.Finish(); err != nil {
			t.Fatal(err)
		}
		got, err := ReadLabelledFile[int32](blocks)
		if err != nil || !got.Matrix.Equal(a) || !got.Rows.Equal(l) || got.Cols != got.Rows {
			t.Errorf("%s, in blocks: %+v, %v", kind, got, err)
		}
	}
}

// TestDamagedLabels cuts and changes a file at every byte, and repairs the checksums of sections
// that contradict the order of labels.
func TestDamagedLabels(t *testing.T) {
	t.Parallel()
	a := mustTuples(t, 3, 3, []int{0}, []int{1}, []int8{3})
	for kind, l := range someLabels(3) {
		var b bytes.Buffer
		if err := WriteBinary(&b, a, WithLabels(l)); err != nil {
			t.Fatal(err)
		}
		data := b.Bytes()
		for at := range data {
			bad := slices.Clone(data)
			bad[at] ^= 0x10
			if g, err := ReadLabelled[int8](bytes.NewReader(bad)); err == nil {
				t.Errorf("%s: byte %d changed, and read as %+v", kind, at, g)
			}
			if _, err := ReadLabelled[int8](bytes.NewReader(data[:at])); err == nil {
				t.Errorf("%s: a file of %d of %d bytes is read", kind, at, len(data))
			}
		}
	}
	var b bytes.Buffer
	if err := WriteBinary(&b, a, WithLabels(NewIDs([]int64{5, 7, 9}))); err != nil {
		t.Fatal(err)
	}
	data := b.Bytes()
	at := bytes.LastIndex(data, []byte{5, 0, 0, 0, 0, 0, 0, 0, 7})
	data[at] = 8 // 8, 7, 9
	end := len(data) - 4
	binary.LittleEndian.PutUint32(data[end:], crc32.Checksum(data[at-16:end], pieces.Castagnoli))
	if _, err := ReadLabelled[int8](bytes.NewReader(data)); !errors.Is(err, ErrParse) || !strings.Contains(err.Error(), "ascend") {
		t.Errorf("ids out of order: %v", err)
	}
}

func FuzzReadLabels(f *testing.F) {
	for _, s := range []string{"a\nb\n", "1\n2\nx", "\"a\"\"\"\r\n", "\n", "\xef\xbb\xbfa", "\"", "007\n7\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := ReadLabels(bytes.NewReader(data))
		if err != nil {
			fuzzError(t, err)
			return
		}
		var b bytes.Buffer
		if err := WriteLabels(&b, l); err != nil {
			t.Fatal(err)
		}
		if m, err := ReadLabels(&b); err != nil || !l.Equal(m) {
			t.Fatalf("%q came back as %v, %v", data, m, err)
		}
	})
}
