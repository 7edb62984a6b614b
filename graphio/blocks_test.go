package graphio

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// speckled returns an m×n matrix with an entry at about every third position.
func speckled(m, n int, seed uint64) *matrix.Matrix[int32] {
	r := rand.New(rand.NewPCG(seed, 7))
	b := matrix.NewBuilder[int32](m, n)
	for i := range m {
		for j := range n {
			if r.IntN(3) == 0 {
				b.Add(i, j, int32(r.IntN(1000)))
			}
		}
	}
	a, err := b.Build(nil)
	if err != nil {
		panic(err)
	}
	return a
}

// appendRows appends rows lo to hi−1 of a to a file in blocks.
func appendRows(t *testing.T, f *BlockFile[int32], a *matrix.Matrix[int32], lo, hi int) {
	t.Helper()
	st := byRows(a)
	ptr := []int64{0}
	for i := lo; i < hi; i++ {
		ptr = append(ptr, st.Ptr[i+1]-st.Ptr[lo])
	}
	if err := f.Append(ptr, st.Idx[st.Ptr[lo]:st.Ptr[hi]], st.Val[st.Ptr[lo]:st.Ptr[hi]]); err != nil {
		t.Fatal(err)
	}
}

func writeBlocks(t *testing.T, path string, a *matrix.Matrix[int32], bounds []int) []byte {
	t.Helper()
	m, n := a.Dims()
	f, err := CreateBlocks[int32](path, m, n, bounds, []byte("a test"))
	if err != nil {
		t.Fatal(err)
	}
	for k := range len(bounds) - 1 {
		appendRows(t, f, a, bounds[k], bounds[k+1])
	}
	if err := f.Finish(); err != nil {
		t.Fatal(err)
	}
	data := sure.Get(os.ReadFile(path))
	return data
}

func TestBlockFile(t *testing.T) {
	dir := t.TempDir()
	a := speckled(20, 9, 1)
	for _, bounds := range [][]int{{0, 20}, {0, 1, 2, 20}, {0, 0, 7, 7, 20, 20}, {0, 5, 10, 15, 20}} {
		path := filepath.Join(dir, "a.hgb")
		writeBlocks(t, path, a, bounds)
		got, _, err := ReadFile[int32](path)
		if err != nil || !got.Equal(a) {
			t.Errorf("blocks %v: %v, %v", bounds, got, err)
		}
		if _, err := os.Stat(path + ".part"); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the unfinished file remains: %v", err)
		}
	}
	empty := matrix.New[int32](0, 4)
	writeBlocks(t, filepath.Join(dir, "none.hgb"), empty, []int{0})
	if got, _, err := ReadFile[int32](filepath.Join(dir, "none.hgb")); err != nil || !got.Equal(empty) {
		t.Errorf("no blocks: %v, %v", got, err)
	}
}

// TestBlockFileCorruption changes every byte and truncates at every length.
func TestBlockFileCorruption(t *testing.T) {
	data := writeBlocks(t, filepath.Join(t.TempDir(), "a.hgb"), speckled(9, 5, 2), []int{0, 4, 4, 9})
	for at := range data {
		bad := bytes.Clone(data)
		bad[at] ^= 0x10
		if _, err := ReadBinary[int32](bytes.NewReader(bad)); !errors.Is(err, ErrParse) {
			t.Fatalf("byte %d of %d changed: got %v", at, len(data), err)
		}
		if _, err := ReadBinary[int32](bytes.NewReader(data[:at])); !errors.Is(err, ErrParse) || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("cut at %d: got %v", at, err)
		}
	}
}

// TestBlockFileResumes truncates an unfinished file at every length. The complete
// blocks are kept, and the finished file is identical.
func TestBlockFileResumes(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.hgb")
	a, bounds := speckled(12, 6, 3), []int{0, 3, 6, 9, 12}
	want := writeBlocks(t, path, a, bounds)
	f, err := CreateBlocks[int32](path, 12, 6, bounds, []byte("a test"))
	if err != nil {
		t.Fatal(err)
	}
	for k := range 3 {
		appendRows(t, f, a, bounds[k], bounds[k+1])
	}
	if err := f.Finish(); !errors.Is(err, matrix.ErrInvalid) {
		t.Errorf("finished with a block missing: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	part := sure.Get(os.ReadFile(path + ".part"))
	if _, _, err := ReadFile[int32](path + ".part"); !errors.Is(err, ErrParse) {
		t.Errorf("a part was read: %v", err)
	}
	last := 0
	for cut := range len(part) + 1 {
		if !longtest.Enabled() && cut%5 != 0 && cut != len(part) {
			continue
		}
		sure.Do(os.WriteFile(path+".part", part[:cut], 0o666))
		f, err := CreateBlocks[int32](path, 12, 6, bounds, []byte("a test"))
		if err != nil {
			t.Fatal(err)
		}
		done, _ := f.Blocks()
		if done < last || done > 3 || cut == len(part) && done != 3 {
			t.Fatalf("cut at %d of %d: %d blocks, %d before", cut, len(part), done, last)
		}
		last = done
		for k := done; k < 4; k++ {
			appendRows(t, f, a, bounds[k], bounds[k+1])
		}
		if err := f.Finish(); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("cut at %d: the file differs, %v", cut, err)
		}
	}
	// Another job starts from the beginning.
	sure.Do(os.WriteFile(path+".part", part, 0o666))
	if BlocksOf[int32](path, 12, 6, []byte("a test")) == nil || BlocksOf[int32](path, 12, 6, []byte("another")) != nil || BlocksOf[int64](path, 12, 6, []byte("a test")) != nil {
		t.Error("BlocksOf mistakes one job for another")
	}
	f, err = CreateBlocks[int32](path, 12, 6, bounds, []byte("another"))
	if err != nil {
		t.Fatal(err)
	}
	if done, _ := f.Blocks(); done != 0 {
		t.Errorf("%d blocks of another job were kept", done)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestBlockFileErrors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.hgb")
	for _, bounds := range [][]int{nil, {0, 3}, {1, 4}, {0, 3, 2, 4}} {
		if _, err := CreateBlocks[int32](path, 4, 4, bounds, nil); !errors.Is(err, matrix.ErrInvalid) {
			t.Errorf("blocks %v: %v", bounds, err)
		}
	}
	if _, err := CreateBlocks[int32](t.TempDir(), 4, 4, []int{0, 4}, nil); err == nil {
		t.Error("a directory was taken for a file")
	}
	f, err := CreateBlocks[int32](path, 4, 4, []int{0, 4}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Append([]int64{0, 1}, []int32{0}, []int32{1}); !errors.Is(err, matrix.ErrInvalid) {
		t.Errorf("a block of too few rows: %v", err)
	}
}

// Append refuses rows that break the invariants, and the file stays usable.
func TestBlockFileRows(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.hgb")
	f, err := CreateBlocks[int32](path, 4, 4, []int{0, 2, 4}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		reason string
		ptr    []int64
		idx    []int32
		is     error
	}{
		{"columns that descend", []int64{0, 2, 2}, []int32{2, 1}, matrix.ErrInvalid},
		{"a column twice", []int64{0, 2, 2}, []int32{1, 1}, matrix.ErrInvalid},
		{"a column beyond the matrix", []int64{0, 1, 2}, []int32{0, 4}, matrix.ErrIndex},
		{"a negative column", []int64{0, 1, 2}, []int32{0, -1}, matrix.ErrIndex},
		{"offsets that descend", []int64{0, 3, 2}, []int32{0, 1}, matrix.ErrInvalid},
		{"offsets that go below 0", []int64{0, -1, 2}, []int32{0, 1}, matrix.ErrInvalid},
		{"no offsets", nil, nil, matrix.ErrInvalid},
	} {
		if err := f.Append(c.ptr, c.idx, make([]int32, len(c.idx))); !errors.Is(err, c.is) {
			t.Errorf("%s: %v", c.reason, err)
		}
	}
	if err := f.Append([]int64{0, 1, 2}, []int32{3, 0}, []int32{1, 2}); err != nil {
		t.Fatal(err)
	}
	if err := f.Append([]int64{0, 0, 1}, []int32{2}, []int32{3}); err != nil {
		t.Fatal(err)
	}
	if err := f.Finish(); err != nil {
		t.Fatal(err)
	}
	if a, _, err := ReadFile[int32](path); err != nil || entriesOf(a) != "(0,3)=1 (1,0)=2 (3,2)=3" {
		t.Errorf("%v, %v", a, err)
	}
	if err := f.Append(nil, nil, nil); !errors.Is(err, matrix.ErrInvalid) {
		t.Errorf("after Finish: %v", err)
	}
	if err := f.Finish(); !errors.Is(err, matrix.ErrInvalid) || f.Close() != nil {
		t.Errorf("Finish twice: %v", err)
	}
}

// Readers, writers and files that are nil or zero give errors and do not panic.
func TestNilReadersAndWriters(t *testing.T) {
	a, v := matrix.New[int](2, 2), matrix.NewVector[int](2)
	_, e1 := ReadMatrixMarket[int](nil)
	_, e2 := ReadMatrixMarketInfo(nil)
	_, _, e3 := ReadEdgeList[int](nil)
	_, _, _, e4 := ReadBipartite[int](nil)
	_, e5 := ReadVectorTSV[int](nil)
	_, e6 := ReadVectorMatrixMarket[int](nil)
	_, e7 := ReadBinary[int](nil)
	_, e8 := ReadVectorBinary[int](nil)
	_, _, e9 := Read[int](nil)
	_, e10 := NewMatrixMarketWriter[int](nil, 1, 1, 0)
	_, e11 := NewEdgeListWriter[int](nil, 1, 1)
	var file *BlockFile[int]
	var rows *RowWriter[int]
	var into *matrix.Matrix[int]
	var vector *matrix.Vector[int]
	for k, err := range []error{e1, e2, e3, e4, e5, e6, e7, e8, e9, e10, e11,
		WriteMatrixMarket(nil, a), WriteEdgeList(nil, a), WriteBinary(nil, a), Write(nil, a, InFormat(FormatTSV)),
		WriteVectorMatrixMarket(nil, v), WriteVectorTSV(nil, v), WriteVectorBinary(nil, v), WriteVector(nil, v, InFormat(FormatTSV)),
		Write(io.Discard, a), WriteVector(io.Discard, v), Write(io.Discard, a, InFormat(99)),
		file.Append(nil, nil, nil), file.Finish(), new(BlockFile[int]).Append(nil, nil, nil), new(BlockFile[int]).Finish(),
		rows.Write(0, a), rows.Close(), new(RowWriter[int]).Write(0, a), new(RowWriter[int]).Close(),
		into.UnmarshalBinary(nil), vector.UnmarshalBinary(nil)} {
		if !errors.Is(err, matrix.ErrInvalid) {
			t.Errorf("call %d: %v", k, err)
		}
	}
	_ = file.Close()
	_ = new(BlockFile[int]).Close()
	file.Blocks()
	file.Bounds()
	file.NVals()
	file.Part()
	new(BlockFile[int]).Blocks()
	var mapped *Mapped[int]
	_ = mapped.Close()
	_ = new(Mapped[int]).Close()
	var labels *Labels
	labels.Index("x")
	labels.ID(0)
	new(Labels).Index("x")
	_ = Info{}.String()
	for _, o := range []ReadOption{nil, WithContext(nil), Progress(nil), WithInfo(nil), Warn(nil), Duplicates[int](nil), FileName(""), Threads(-1)} {
		if _, _, err := ReadEdgeList[int](strings.NewReader("1 2\n"), o); err != nil {
			t.Error(err)
		}
	}
	for _, o := range []WriteOption{nil, WithContext(nil), Progress(nil), WithLabels(nil), Comment(""), Threads(-1)} {
		if err := WriteEdgeList(io.Discard, a, o); err != nil {
			t.Error(err)
		}
	}
}

func TestMapped(t *testing.T) {
	dir := t.TempDir()
	for k, a := range everyFormat(t) {
		path := filepath.Join(dir, "a.hgb")
		var b bytes.Buffer
		if err := WriteBinary(&b, a); err != nil {
			t.Fatal(err)
		}
		sure.Do(os.WriteFile(path, b.Bytes(), 0o666))
		m, err := OpenMapped[int32](path)
		if err != nil {
			t.Fatal(err)
		}
		if !m.Matrix.Equal(a) || m.Matrix.Format() != a.Format() {
			t.Errorf("format %d: %v, want %v", k, m.Matrix, a)
		}
		if rows, _ := a.Dims(); rows > 0 { // writes do not reach the file
			if err := m.Matrix.Set(0, 0, 77); err != nil {
				t.Error(err)
			}
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, b.Bytes()) {
			t.Errorf("the file changed: %v", err)
		}
		for cut := range b.Len() {
			sure.Do(os.WriteFile(path, b.Bytes()[:cut], 0o666))
			if _, err := OpenMapped[int32](path); !errors.Is(err, ErrParse) {
				t.Fatalf("cut at %d: %v", cut, err)
			}
		}
	}
	if _, err := OpenMapped[int32](filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	path := filepath.Join(dir, "blocks.hgb")
	writeBlocks(t, path, speckled(4, 4, 1), []int{0, 4})
	if _, err := OpenMapped[int32](path); err == nil || !strings.Contains(err.Error(), "in blocks") {
		t.Errorf("a file in blocks: %v", err)
	}
}

// MapStructure gives the entries of files of any type, and refuses files that are cut within what
// it reads.
func TestMapStructure(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.hgb")
	a := speckled(6, 5, 3)
	names := NewLabels([]string{"a", "b", "c", "d", "e", "f"})
	var b bytes.Buffer
	sure.Do(WriteBinary(&b, a, WithRowColumnLabels(names, nil)))
	sure.Do(os.WriteFile(path, b.Bytes(), 0o666))
	m, err := MapStructure(path)
	if err != nil {
		t.Fatal(err)
	}
	want := a.Pattern()
	if rows, cols := m.Pattern.Dims(); rows != 6 || cols != 5 || m.Pattern.NVals() != want.NVals() || m.Rows.Name(2) != "c" || m.Cols != nil {
		t.Errorf("%v, rows %v, columns %v", m.Pattern, m.Rows, m.Cols)
	}
	for c := range want.All() {
		if _, ok := m.Pattern.At(c.Row, c.Col); !ok {
			t.Errorf("no entry at %v", c)
		}
	}
	if err := m.Close(); err != nil || m.Pattern != nil {
		t.Errorf("closed: %v", err)
	}
	var none *MappedStructure
	if err := none.Close(); err != nil {
		t.Error(err)
	}
	for cut := range b.Len() {
		sure.Do(os.WriteFile(path, b.Bytes()[:cut], 0o666))
		if m, err := MapStructure(path); !errors.Is(err, ErrParse) {
			t.Fatalf("cut at %d: %v, %v", cut, m, err)
		}
	}
	writeBlocks(t, path, speckled(4, 4, 1), []int{0, 4})
	if _, err := MapStructure(path); err == nil || !strings.Contains(err.Error(), "in blocks") {
		t.Errorf("a file in blocks: %v", err)
	}
	full := sure.Get(matrix.NewFull(2, 2, 1.0))
	sure.Do(WriteFile(path, full))
	if _, err := MapStructure(path); !errors.Is(err, ErrParse) || !strings.Contains(err.Error(), "compressed sparse rows") {
		t.Errorf("a full matrix: %v", err)
	}
	if _, err := MapStructure(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}

func TestRowWriter(t *testing.T) {
	a := speckled(10, 7, 4)
	piece := func(lo, hi int) *matrix.Matrix[int32] {
		st := byRows(a)
		b := matrix.NewBuilder[int32](hi-lo, 7)
		for i := lo; i < hi; i++ {
			for p := st.Ptr[i]; p < st.Ptr[i+1]; p++ {
				b.Add(i-lo, int(st.Idx[p]), st.Val[p])
			}
		}
		m := sure.Get(b.Build(nil))
		return m
	}
	for name, c := range map[string]struct {
		whole func(io.Writer) error
		open  func(io.Writer) (*RowWriter[int32], error)
	}{
		"Matrix Market": {func(w io.Writer) error { return WriteMatrixMarket(w, a, Comment("two\nlines")) }, func(w io.Writer) (*RowWriter[int32], error) {
			return NewMatrixMarketWriter[int32](w, 10, 7, a.NVals(), Comment("two\nlines"))
		}},
		"pattern": {func(w io.Writer) error { return WriteMatrixMarket(w, a, AsPattern()) }, func(w io.Writer) (*RowWriter[int32], error) {
			return NewMatrixMarketWriter[int32](w, 10, 7, a.NVals(), AsPattern())
		}},
		"edges": {func(w io.Writer) error { return WriteEdgeList(w, a) }, func(w io.Writer) (*RowWriter[int32], error) { return NewEdgeListWriter[int32](w, 10, 7) }},
	} {
		var want, got bytes.Buffer
		if err := c.whole(&want); err != nil {
			t.Fatal(err)
		}
		w, err := c.open(&got)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range [][2]int{{0, 3}, {3, 3}, {3, 9}, {9, 10}} {
			if err := w.Write(r[0], piece(r[0], r[1])); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil || got.String() != want.String() {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got.String(), want.String())
		}
		if err := w.Write(2, piece(2, 3)); !errors.Is(err, matrix.ErrInvalid) {
			t.Errorf("%s: rows out of order: %v", name, err)
		}
	}
	w, err := NewMatrixMarketWriter[int32](io.Discard, 10, 7, 5)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(0, piece(0, 10)); !errors.Is(err, matrix.ErrInvalid) {
		t.Errorf("more entries than the header announces: %v", err)
	}
	if err := w.Close(); !errors.Is(err, matrix.ErrInvalid) {
		t.Errorf("fewer entries than the header announces: %v", err)
	}
	for _, c := range []struct {
		m, n  int
		nvals int64
	}{{-3, 1, 0}, {1, -1, 0}, {1, matrix.MaxDim + 1, 0}, {2, 2, -1}, {2, 2, 5}} {
		if _, err := NewMatrixMarketWriter[int32](io.Discard, c.m, c.n, c.nvals); !errors.Is(err, matrix.ErrSize) {
			t.Errorf("%v: %v", c, err)
		}
		if _, err := NewEdgeListWriter[int32](io.Discard, c.m, c.n); (c.nvals == 0) != errors.Is(err, matrix.ErrSize) {
			t.Errorf("%v: %v", c, err)
		}
	}
	if _, err := NewMatrixMarketWriter[int32](io.Discard, 1, 1, 0, AsArray()); !errors.Is(err, matrix.ErrInvalid) {
		t.Errorf("an array by rows: %v", err)
	}
}
