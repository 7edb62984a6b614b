package graphio

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/internal/hgb"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/pieces"
	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/internal/splitmix"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// memoryFile is a file in memory that counts the bytes that are read.
type memoryFile struct {
	*bytes.Reader
	mu   sync.Mutex
	read int64
}

func newMemoryFile(text []byte) *memoryFile { return &memoryFile{Reader: bytes.NewReader(text)} }

func (f *memoryFile) count(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.read += int64(n)
}

func (f *memoryFile) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	f.count(n)
	return n, err
}

func (f *memoryFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := f.Reader.ReadAt(p, off)
	f.count(n)
	return n, err
}

// WriteTo hides the WriteTo of bytes.Reader, which would not be counted.
func (f *memoryFile) WriteTo(io.Writer) (int64, error) { return 0, errors.ErrUnsupported }

func (f *memoryFile) Stat() (fs.FileInfo, error) { return memoryInfo{f.Reader.Size()}, nil }

type memoryInfo struct{ size int64 }

func (i memoryInfo) Name() string       { return "file" }
func (i memoryInfo) Size() int64        { return i.size }
func (i memoryInfo) Mode() fs.FileMode  { return 0o600 }
func (i memoryInfo) ModTime() time.Time { return time.Time{} }
func (i memoryInfo) IsDir() bool        { return false }
func (i memoryInfo) Sys() any           { return nil }

// readOnce is what a process knows after reading a file.
type readOnce[T matrix.Element] struct {
	a        *matrix.Matrix[T]
	rows     *Labels
	cols     *Labels
	info     Info
	warnings []string
	err      error
}

// readProcesses reads a file as p processes of one rank each, or as one process of p ranks.
func readProcesses[T matrix.Element](t *testing.T, files []*memoryFile, p int, opts ...ReadOption) (out []readOnce[T], groups []*comm.Group) {
	t.Helper()
	ranks := sure.Get(comm.Local(p))
	for k := range files {
		mine := ranks[k : k+1]
		if len(files) == 1 {
			mine = ranks
		}
		g := sure.Get(comm.NewGroup(mine))
		groups = append(groups, g)
	}
	out = make([]readOnce[T], len(files))
	var wait sync.WaitGroup
	for k, f := range files {
		wait.Go(func() { out[k] = readPlain[T](f, append(slices.Clone(opts), On(groups[k]))...) })
	}
	wait.Wait()
	return out, groups
}

func readPlain[T matrix.Element](r io.Reader, opts ...ReadOption) (out readOnce[T]) {
	opts = append(opts, WithInfo(&out.info), Warn(func(w Warning) { out.warnings = append(out.warnings, w.String()) }), FileName("file"))
	l, err := ReadLabelled[T](r, opts...)
	if out.err = err; err == nil {
		out.a, out.rows, out.cols = l.Matrix, l.Rows, l.Cols
	}
	return out
}

// partsCase is a file and how it is read.
type partsCase struct {
	name string
	text string
	opts []ReadOption
}

func randomLines(n, entries int, seed uint64, line func(b *strings.Builder, i, j int, v int)) string {
	var b strings.Builder
	for k := range entries {
		x := splitmix.At(uint64(k), seed)
		i, j := int(x%uint64(n)), int(x>>32%uint64(n))
		line(&b, i*i/n, j, int(x>>20%100)-20) // more entries in the first rows
	}
	return b.String()
}

func partsCases() []partsCase {
	sum := Duplicates[float64](matrix.CombineFunc[float64](func(x, y float64) float64 { return x/3 + y }))
	mtx := func(banner string, n, m, entries int, seed uint64, line func(b *strings.Builder, i, j, v int)) string {
		return fmt.Sprintf("%%%%MatrixMarket matrix coordinate %s\n%% a comment\n%d %d %d\n", banner, n, m, entries) + randomLines(min(n, m), entries, seed, line)
	}
	real := func(b *strings.Builder, i, j, v int) { fmt.Fprintf(b, "%d %d %d.25\n", i+1, j+1, v) }
	lower := func(b *strings.Builder, i, j, v int) { fmt.Fprintf(b, "%d %d %d\n", max(i, j)+1, min(i, j)+1, v) }
	skew := func(b *strings.Builder, i, j, v int) { fmt.Fprintf(b, "%d %d %d\n\n", max(i, j)+2, min(i, j)+1, v) }
	edge := func(b *strings.Builder, i, j, v int) { fmt.Fprintf(b, "%d\t%d\n", i, j) }
	once := func(sep string, base, n int) string {
		var b strings.Builder
		for i := range n {
			for d := range 1 + 12/(i+1) {
				fmt.Fprintf(&b, "%d%s%d%s%d.5\n", i+base, sep, (i*7+d)%n+base, sep, i+d)
			}
		}
		return b.String()
	}
	mixed := "# comment\r\n\r\nsource,target,weight\r\n" + strings.ReplaceAll(once(",", 0, 40), "\n", "\r\n# between\r\n")
	return []partsCase{
		{"general", mtx("real general", 90, 70, 900, 1, real), []ReadOption{sum}},
		{"general, wide", mtx("real general", 5, 1000, 20, 2, real), []ReadOption{sum}},
		{"general, hypersparse", "%%MatrixMarket matrix coordinate real general\n100000000 100000000 3\n7 8 1\n99999999 1 2\n500000 500001 3", nil},
		{"duplicates", mtx("real general", 90, 70, 900, 1, real), nil},
		{"symmetric", mtx("integer symmetric", 60, 60, 300, 3, lower), []ReadOption{sum}},
		{"skew", mtx("integer skew-symmetric", 61, 61, 100, 4, skew), []ReadOption{sum}},
		{"pattern only", mtx("real general", 30, 30, 300, 5, real), []ReadOption{sum, PatternOnly()}},
		{"undirected", mtx("real general", 50, 50, 60, 6, real), []ReadOption{Symmetrise(), sum}},
		{"undirected, smaller", "%%MatrixMarket matrix coordinate real general\n4 4 5\n1 2 5\n2 1 3\n4 4 1\n3 1 2\n1 4 7\n", []ReadOption{Symmetrise()}},
		{"array", "%%MatrixMarket matrix array real general\n3 4\n" + strings.Repeat("1.5\n2 3\n", 4), nil},
		{"without a banner", "3 3 2\n1 2 5\n3 3 1\n", nil},
		{"no entries", "%%MatrixMarket matrix coordinate real general\n6 6 0\n", nil},
		{"no rows", "%%MatrixMarket matrix coordinate real general\n0 6 0\n", nil},
		{"a row", "%%MatrixMarket matrix coordinate real general\n1 6 2\n1 1 1\n1 6 2", nil},
		{"a bad value", mtx("real general", 50, 50, 400, 7, real) + "\n1 1 x\n" + randomLines(50, 200, 8, real), []ReadOption{sum}},
		{"two bad values", "%%MatrixMarket matrix coordinate real general\n3 3 9\n" + strings.Repeat("%\n", 40) + "1 9 1\n" + strings.Repeat("1 1 1\n", 10) + "1 y 1\n", []ReadOption{sum}},
		{"too many", strings.Replace(mtx("real general", 50, 50, 400, 7, real), " 400\n", " 390\n", 1), []ReadOption{sum}},
		{"too few", strings.Replace(mtx("real general", 50, 50, 400, 7, real), " 400\n", " 401\n", 1), []ReadOption{sum}},
		{"a bad header", "%%MatrixMarket matrix coordinate real general\n3 3\n1 1 1\n", nil},
		{"a skew diagonal", "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 1\n2 2 1\n", nil},
		{"edges", once("\t", 0, 80), nil},
		{"edges from 1", once(" ", 1, 80), []ReadOption{Base(BaseAuto)}},
		{"edges, comments", mixed, []ReadOption{InFormat(FormatCSV)}},
		{"edges, mark", "\xef\xbb\xbf" + once(" ", 0, 20), nil},
		{"edges, mark and header", "\xef\xbb\xbfsource,target,weight\n" + once(",", 0, 20), nil},
		{"edges, quotes", "\"from\",\"to\"\n" + strings.Repeat("\"3\",4\n", 20), []ReadOption{sum}},
		{"edges, skip", "rubbish\nmore\n" + once(";", 0, 30), []ReadOption{SkipLines(2), Delimiter(';')}},
		{"edges, no newline at the end", strings.TrimSuffix(once(" ", 0, 30), "\n"), nil},
		{"edges, duplicates", randomLines(30, 300, 9, edge), nil},
		{"edges, undirected", randomLines(30, 300, 9, edge), []ReadOption{sum, Symmetrise()}},
		{"edges, dims", randomLines(30, 300, 9, edge), []ReadOption{sum, Dims(40, 50)}},
		{"edges, dims that are too small", randomLines(30, 300, 9, edge), []ReadOption{sum, Dims(20, 50)}},
		{"edges, dims not square", randomLines(30, 300, 9, edge), []ReadOption{sum, Dims(40, 50), Symmetrise()}},
		{"edges, sparse ids", "100000 7\n5000000 8\n1 4999999\n", nil},
		{"edges, bipartite", once(" ", 0, 30) + "700000 3 1\n", []ReadOption{Bipartite()}},
		{"edges, bipartite from 1", "1 9\n2 800\n3 9\n", []ReadOption{Bipartite()}},
		{"edges, none", "# nothing\n", nil},
		{"edges, empty", "", nil},
		{"edges, words", once(" ", 0, 30) + "a b 1\n" + once(" ", 0, 30), nil},
		{"edges, names", "a b\nc d\na d\n", []ReadOption{RenumberIDs()}},
		{"edges, fields", once(" ", 0, 30) + "1 2\n" + once(" ", 0, 30), nil},
		{"edges, real", strings.Repeat("1 2 3\n", 20) + "3 4 5.5\n", []ReadOption{sum}},
	}
}

// Ranks that read parts of a file get what one process reads, with the same errors, information and
// warnings, and cut it alike.
func TestReadInParts(t *testing.T) {
	for k, c := range partsCases() {
		if longtest.Takes(k, 4) {
			t.Run(c.name, func(t *testing.T) { comparePartsOf(t, c.text, c.opts) })
		}
	}
}

// binaryCases are files in the binary form, whole and damaged.
func binaryCases(t *testing.T) (list []partsCase) {
	sum := Duplicates[float64](matrix.CombineFunc[float64](func(x, y float64) float64 { return x/3 + y }))
	add := func(name string, a *matrix.Matrix[float64], opts ...ReadOption) string {
		var b bytes.Buffer
		if err := WriteBinary(&b, a, WithLabels((*Labels)(core.CountedFrom(5, max(byRows(a).NRows, 1))))); err != nil {
			t.Fatal(name, err)
		}
		list = append(list, partsCase{name, b.String(), opts})
		return b.String()
	}
	graph := func(n, entries int) *matrix.Matrix[float64] {
		b := matrix.NewBuilder[float64](n, n)
		for k := range entries {
			x := splitmix.At(uint64(k), 3)
			b.Add(int(x%uint64(n))*int(x%uint64(n))/n, int(x>>32%uint64(n)), float64(k%50)-7)
		}
		a := sure.Get(b.Build(matrix.CombineFunc[float64](func(x, _ float64) float64 { return x })))
		return a
	}
	in := func(a *matrix.Matrix[float64], f matrix.Format) *matrix.Matrix[float64] {
		sure.Do(a.SetFormat(f))
		return a
	}
	csr := add("csr", in(graph(120, 900), matrix.CSR))
	add("csr, undirected", in(graph(120, 900), matrix.CSR), Symmetrise())
	add("csr, undirected, combined", in(graph(120, 900), matrix.CSR), Symmetrise(), sum)
	add("csr, pattern only", in(graph(120, 900), matrix.CSR), PatternOnly())
	hyper := add("hypersparse", in(graph(5000, 40), matrix.Hypersparse))
	bitmap := add("bitmap", in(graph(20, 150), matrix.Bitmap))
	add("bitmap, undirected", in(graph(20, 150), matrix.Bitmap), Symmetrise())
	full := sure.Get(matrix.FromDense(7, 7, slices.Repeat([]float64{1.5, 2, -3, 4, 5, 6, 7}, 7)))
	dense := add("full", full)
	add("no entries", matrix.New[float64](9, 9))
	add("no rows", matrix.New[float64](0, 0))
	for k, text := range []string{csr, hyper, bitmap, dense} {
		for q := range 24 { // damage and truncation at many places
			at := len(text) * (2*q + 1) / 48
			bad := []byte(text)
			bad[at] ^= 1 << (q % 8)
			list = append(list, partsCase{fmt.Sprintf("damage %d at %d", k, at), string(bad), nil},
				partsCase{fmt.Sprintf("end %d at %d", k, at), text[:at], []ReadOption{InFormat(FormatBinary)}})
		}
	}
	return list
}

// Ranks that read parts of a binary file get what one process reads, and find the same faults.
func TestReadBinaryInParts(t *testing.T) {
	for _, c := range binaryCases(t) {
		t.Run(c.name, func(t *testing.T) { comparePartsOf(t, c.text, append(c.opts, InFormat(FormatBinary))) })
	}
}

// A file with right checksums and a wrong matrix is refused as in a whole reading.
func TestReadBinaryInPartsInvariants(t *testing.T) {
	for name, st := range map[string]*sparse.Typed[float64]{
		"columns": {Structure: sparse.Structure{NRows: 3, NCols: 3, NVals: 3, Ptr: []int64{0, 1, 2, 3}, Idx: []int32{0, 7, 1}}, Val: []float64{1, 2, 3}},
		"offsets": {Structure: sparse.Structure{NRows: 3, NCols: 3, NVals: 3, Ptr: []int64{0, 2, 1, 3}, Idx: []int32{0, 1, 1}}, Val: []float64{1, 2, 3}},
		"rows": {Structure: sparse.Structure{NRows: 5000, NCols: 3, Format: sparse.Hypersparse, NVals: 2, RowIDs: []int32{70, 40}, Ptr: []int64{0, 1, 2}, Idx: []int32{0, 1}},
			Val: []float64{1, 2}},
	} {
		var b bytes.Buffer
		if err := hgb.Write(&b, sparse.Untyped(st), false, elementFor[float64]().Item(), hgb.Sides{}); err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) { comparePartsOf(t, b.String(), []ReadOption{InFormat(FormatBinary)}) })
	}
}

// The checksum of joined texts follows from theirs.
func TestJoinSums(t *testing.T) {
	text := []byte(strings.Repeat("the quick brown fox ", 60))
	for _, at := range []int{0, 1, 2, 63, 64, 500, len(text)} {
		a, b := crc32.Checksum(text[:at], pieces.Castagnoli), crc32.Checksum(text[at:], pieces.Castagnoli)
		if got, want := pieces.CRC32C.Join(a, b, int64(len(text)-at)), crc32.Checksum(text, pieces.Castagnoli); got != want {
			t.Errorf("at %d: %08x, want %08x", at, got, want)
		}
	}
}

// No process reads more than its part of a file, the first lines and a few numbers.
func TestReadInPartsBytes(t *testing.T) {
	const n, ranks = 4000, 4
	b := matrix.NewBuilder[float64](n, n)
	for i := range n {
		for d := range 20 {
			b.Add(i, (i*31+d*d*17+d)%n, float64(d)+.5)
		}
	}
	a := sure.Get(b.Build(matrix.CombineFunc[float64](func(x, _ float64) float64 { return x })))
	for _, f := range []FileFormat{FormatBinary, FormatMatrixMarket, FormatTSV} {
		var text bytes.Buffer
		if err := Write(&text, a, InFormat(f)); err != nil {
			t.Fatal(err)
		}
		files := make([]*memoryFile, ranks)
		for k := range files {
			files[k] = newMemoryFile(text.Bytes())
		}
		out, groups := readProcesses[float64](t, files, ranks, InFormat(f))
		const more = 200 << 10 // the first lines: buffers of 64 KiB and a sample
		for k, file := range files {
			if out[k].err != nil {
				t.Fatalf("%s: %v", f, out[k].err)
			}
			if limit := int64(text.Len())/ranks*6/5 + more; file.read > limit || limit > int64(text.Len())*2/3 {
				t.Errorf("%s: process %d reads %d of %d bytes, want %d at most", f, k, file.read, text.Len(), limit)
			}
			blocks, _ := blocksOn(t, out[k].a, groups[k])
			held, all := blocks[0].NVals(), a.NVals()
			if held > all*3/10 || held < all/5 || out[k].a.Inside().OnGroup().Everywhere(groups[k]) {
				t.Errorf("%s: process %d holds %d of %d entries", f, k, held, all)
			}
		}
	}
}

// Processes that cannot all open the file return errors that say so, on every rank.
func TestReadInPartsDisagree(t *testing.T) {
	text := []byte("%%MatrixMarket matrix coordinate real general\n3 3 1\n1 1 1\n")
	run := func(read func(k int, g *comm.Group) error) (errs [2]error) {
		ranks := sure.Get(comm.Local(2))
		var wait sync.WaitGroup
		for k := range ranks {
			g := sure.Get(comm.NewGroup(ranks[k : k+1]))
			wait.Go(func() { errs[k] = read(k, g) })
		}
		wait.Wait()
		return errs
	}
	path := filepath.Join(t.TempDir(), "a.mtx")
	sure.Do(os.WriteFile(path, text, 0o600))
	errs := run(func(k int, g *comm.Group) error {
		_, _, err := ReadFile[float64](path+strings.Repeat("x", k), On(g))
		return err
	})
	var rank *comm.RankError
	if !errors.As(errs[0], &rank) || rank.Rank != 1 || !strings.Contains(rank.Cause.Error(), errs[1].Error()) || !errors.Is(errs[1], fs.ErrNotExist) {
		t.Errorf("a file that rank 1 lacks: %v, %v", errs[0], errs[1])
	}
	errs = run(func(k int, g *comm.Group) error {
		_, err := ReadMatrixMarket[float64](newMemoryFile(text[:len(text)-k]), On(g))
		return err
	})
	for k, err := range errs {
		var bad *ParseError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), "bytes for rank 0") {
			t.Errorf("files of other sizes: process %d returns %v", k, err)
		}
	}
	errs = run(func(k int, g *comm.Group) error { // a stream: every process reads it whole
		var r io.Reader = newMemoryFile(text)
		if k == 1 {
			r = strings.NewReader(string(text))
		}
		a, err := ReadMatrixMarket[float64](r, On(g))
		if err == nil && a.NVals() != 1 {
			err = fmt.Errorf("%d entries", a.NVals())
		}
		return err
	})
	if errs[0] != nil || errs[1] != nil {
		t.Errorf("a stream: %v, %v", errs[0], errs[1])
	}
}

func comparePartsOf(t *testing.T, text string, opts []ReadOption) {
	t.Helper()
	if FileFormat(readOptionsOf(opts).Format) == FormatAuto {
		format := FormatEdges
		if strings.HasPrefix(text, "%%") || strings.HasPrefix(text, "3 3 2") {
			format = FormatMatrixMarket
		}
		opts = append(slices.Clone(opts), InFormat(format))
	}
	want := readPlain[float64](strings.NewReader(text), opts...)
	for _, p := range []int{1, 2, 3, 4, 7} {
		for _, processes := range []int{1, p} {
			files := make([]*memoryFile, processes)
			for k := range files {
				files[k] = newMemoryFile([]byte(text))
			}
			out, groups := readProcesses[float64](t, files, p, opts...)
			where := fmt.Sprintf("%d ranks in %d processes", p, processes)
			if want.err == nil {
				for k, got := range out {
					if got.err != nil {
						t.Fatalf("%s: %v", where, got.err)
					}
					if got.a.Place() != matrix.Place(groups[k]) {
						t.Fatalf("%s: the matrix is at %v", where, got.a.Place())
					}
				}
				sameCuts(t, where, want.a, out, groups, p)
			}
			var wait sync.WaitGroup // Equal gathers: all processes take part
			for k, got := range out {
				wait.Go(func() { sameReading(t, fmt.Sprintf("%s, process %d", where, k), want, got) })
			}
			wait.Wait()
		}
	}
}

func sameReading(t *testing.T, where string, want, got readOnce[float64]) {
	if (want.err == nil) != (got.err == nil) || want.err != nil && (want.err.Error() != got.err.Error() || !reflect.DeepEqual(want.err, got.err)) {
		t.Errorf("%s: the error is\n%v, want\n%v", where, got.err, want.err)
		return
	}
	if want.err != nil {
		return
	}
	if got.a.IsSymmetric() != want.a.IsSymmetric() {
		t.Errorf("%s: the matrix is symmetric, or not, as the whole one is not", where)
	}
	if got.a.NVals() != want.a.NVals() || !sameMatrix(want.a, got.a) {
		t.Errorf("%s: the matrix differs", where)
	}
	if !reflect.DeepEqual(want.rows, got.rows) || !reflect.DeepEqual(want.cols, got.cols) {
		t.Errorf("%s: the labels differ", where)
	}
	if !reflect.DeepEqual(want.info, got.info) || !reflect.DeepEqual(want.warnings, got.warnings) {
		t.Errorf("%s: information and warnings are\n%v %q, want\n%v %q", where, got.info, got.warnings, want.info, want.warnings)
	}
}

// sameCuts compares the blocks with the blocks of the whole matrix, moved to a new group.
func sameCuts(t *testing.T, where string, whole *matrix.Matrix[float64], out []readOnce[float64], groups []*comm.Group, p int) {
	t.Helper()
	g := sure.Get(comm.LocalGroup(p))
	moved := whole.Clone()
	sure.Do(moved.Move(g))
	want, wantCuts := blocksOn(t, moved, g)
	for k, got := range out {
		blocks, cuts := blocksOn(t, got.a, groups[k])
		if !slices.Equal(cuts, wantCuts) {
			t.Fatalf("%s: the rows are cut at %v, want %v", where, cuts, wantCuts)
		}
		for q, c := range groups[k].Ranks() {
			mine, other := sparse.As[float64](blocks[q].Stored()), sparse.As[float64](want[c.Rank()].Stored())
			if mine.Format != other.Format || mine.NVals != other.NVals || !slices.Equal(mine.Idx, other.Idx) || !slices.Equal(mine.Ptr, other.Ptr) || !slices.Equal(mine.Val, other.Val) {
				t.Fatalf("%s: the block of rank %d is a %v of %d entries, want a %v of %d", where, c.Rank(), mine.Format, mine.NVals, other.Format, other.NVals)
			}
		}
	}
}

// blocksOn returns the blocks of the ranks of this process, and how the rows are cut.
func blocksOn(t *testing.T, a *matrix.Matrix[float64], g *comm.Group) (blocks []rep.Matrix, cuts []int) {
	t.Helper()
	blocks, err := a.Inside().Blocks(rep.Query{Group: g})
	if err == nil {
		cuts, err = a.Inside().OnGroup().Cuts(t.Context(), g, false, false)
	}
	if err != nil {
		t.Fatal(err)
	}
	return blocks, cuts
}

func sameMatrix(a, b *matrix.Matrix[float64]) bool {
	am, an := a.Dims()
	bm, bn := b.Dims()
	s, t := byRows(a), byRows(b)
	return am == bm && an == bn && s.SameAs(&t.Structure) && slices.Equal(s.Val, t.Val) && b.Err() == nil
}
