package chunked

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/access"
	"github.com/hiveblas/hiveblas/internal/atomicfile"
	"github.com/hiveblas/hiveblas/internal/fresh"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// Into stores the product in a, a matrix on the host. If the number of entries is known in advance,
// as it is without a mask, its arrays are allocated once.
func Into[C comparable](a *matrix.Matrix[C]) Sink[C] {
	if a == nil {
		return refuse[C]("Into", "the matrix is nil; make it with matrix.New")
	}
	return &intoSink[C]{a: a}
}

type intoSink[C comparable] struct {
	a    *matrix.Matrix[C]
	cols int
	ptr  []int64
	idx  []int32
	val  []C

	taken int64 // entries with assigned memory
}

func (s *intoSink[C]) needsCount() bool { return true }

func (s *intoSink[C]) Begin(p Plan) (int, error) {
	if m, n := s.a.Dims(); m != p.Rows || n != p.Cols {
		return 0, &matrix.DimensionError{Op: "chunked.Into", Arg: "the matrix", Got: shape(m, n), Want: shape(p.Rows, p.Cols), Remedy: "make it of the shape of the product"}
	}
	if s.a.Place() != nil {
		return 0, &matrix.InvalidError{Op: "chunked.Into", Reason: "the matrix lives on " + s.a.Place().String() + "; Into needs a matrix on the host"}
	}
	s.cols = p.Cols
	s.ptr = make([]int64, p.Rows+1)
	s.idx, s.val = fresh.Make[int32](p.Entries), fresh.Make[C](p.Entries)
	largePages(raw(s.idx))
	largePages(raw(s.val))
	return 0, nil
}

// room returns the memory of a block, directly behind the memory of its predecessors. Another
// goroutine calls it, ahead of Block.
func (s *intoSink[C]) room(entries int64) ([]int32, []C, bool) {
	at := s.taken
	s.taken += entries
	return s.idx[at : at+entries : at+entries], s.val[at : at+entries : at+entries], true
}

func (s *intoSink[C]) Block(b *Block[C]) error {
	at := s.ptr[b.Lo]
	for k, p := range b.Ptr[1:] {
		s.ptr[b.Lo+1+k] = at + p
	}
	return nil
}

func (s *intoSink[C]) End() error {
	n := s.ptr[len(s.ptr)-1]
	// Results of operations satisfy the invariants; no check is needed.
	access.SetStore(s.a, &sparse.Typed[C]{
		Structure: sparse.Structure{
			NRows: len(s.ptr) - 1, NCols: s.cols, Format: sparse.CSR, NVals: n,
			Ptr: s.ptr, Idx: s.idx[:n:n],
		},
		Val: s.val[:n:n],
	})
	return nil
}

func (s *intoSink[C]) Abort() { s.ptr, s.idx, s.val = nil, nil, nil }

// File writes the product to a file of the binary form, block by block, with one checksum each; see
// [graphio.BlockFile]. An interrupted run leaves PATH.part, and the next run of the same product
// resumes there. The product returns a *graphio.BusyError if another job writes the same file.
func File[C matrix.Element](path string) Sink[C] { return &fileSink[C]{path: path} }

// LabelledFile is [File] of a product with labels of rows and columns.
func LabelledFile[C matrix.Element](path string, rows, cols *graphio.Labels) Sink[C] {
	return &fileSink[C]{path: path, rows: rows, cols: cols}
}

type fileSink[C matrix.Element] struct {
	path       string
	rows, cols *graphio.Labels
	f          *graphio.BlockFile[C]
}

func (s *fileSink[C]) resumes() bool { return true }

func (s *fileSink[C]) bounds(job []byte, rows, cols int) []int {
	return graphio.BlocksOf[C](s.path, rows, cols, job)
}

func (s *fileSink[C]) Begin(p Plan) (done int, err error) {
	s.f, err = graphio.CreateBlocks[C](s.path, p.Rows, p.Cols, p.Bounds, p.Job)
	if err != nil {
		return 0, err
	}
	done, _ = s.f.Blocks()
	return done, s.f.SetLabels(s.rows, s.cols)
}

func (s *fileSink[C]) Block(b *Block[C]) error { return s.f.Append(b.Ptr, b.Idx, b.Val) }

func (s *fileSink[C]) End() error { return s.f.Finish() }

func (s *fileSink[C]) Abort() {
	if s.f != nil {
		_ = s.f.Close()
	}
}

// kept counts the blocks of PATH.part. It is 0 if that file was removed or finished.
func (s *fileSink[C]) kept() (blocks int, file string) {
	if s.f == nil {
		return 0, ""
	}
	if _, err := os.Stat(s.f.Part()); err != nil {
		return 0, ""
	}
	blocks, _ = s.f.Blocks()
	return blocks, s.f.Part()
}

// MatrixMarket writes the product to a Matrix Market file, compressed if the name ends in .gz. The
// file appears under its name when it is complete.
func MatrixMarket[C matrix.Element](ctx context.Context, path string, opts ...graphio.WriteOption) Sink[C] {
	return &textSink[C]{ctx: ctx, path: path, counts: true, open: func(w io.Writer, p Plan) (*graphio.RowWriter[C], error) {
		return graphio.NewMatrixMarketWriter[C](w, p.Rows, p.Cols, p.Entries, opts...)
	}}
}

// EdgeList is [MatrixMarket] for lines of row, column and value.
func EdgeList[C matrix.Element](ctx context.Context, path string, opts ...graphio.WriteOption) Sink[C] {
	return &textSink[C]{ctx: ctx, path: path, open: func(w io.Writer, p Plan) (*graphio.RowWriter[C], error) {
		return graphio.NewEdgeListWriter[C](w, p.Rows, p.Cols, opts...)
	}}
}

type textSink[C matrix.Element] struct {
	ctx    context.Context
	path   string
	counts bool
	open   func(io.Writer, Plan) (*graphio.RowWriter[C], error)

	file *atomicfile.File
	zip  *gzip.Writer
	buf  *bufio.Writer
	rows *graphio.RowWriter[C]
	cols int
}

func (s *textSink[C]) needsCount() bool { return s.counts }

func (s *textSink[C]) Begin(p Plan) (done int, err error) {
	if s.file, err = atomicfile.Create(s.path); err != nil {
		return 0, s.named(err)
	}
	var w io.Writer = s.file
	if strings.HasSuffix(strings.ToLower(s.path), ".gz") {
		s.zip = gzip.NewWriter(w)
		w = s.zip
	}
	s.buf, s.cols = bufio.NewWriterSize(w, 1<<18), p.Cols
	s.rows, err = s.open(atomicfile.Through(s.buf, s.file), p)
	return 0, s.named(err)
}

func (s *textSink[C]) Block(b *Block[C]) error {
	a, err := b.Matrix(s.cols)
	if err != nil {
		return err
	}
	return s.named(s.rows.Write(b.Lo, a))
}

func (s *textSink[C]) End() error {
	err := s.rows.Close()
	if err == nil {
		err = s.buf.Flush()
	}
	if err == nil && s.zip != nil {
		err = s.zip.Close()
	}
	if err == nil && s.ctx != nil {
		err = s.ctx.Err()
	}
	if err != nil {
		s.file.Abort()
		return s.named(err)
	}
	return s.named(s.file.Commit())
}

// named replaces the temporary file by the target in errors of the file system.
func (s *textSink[C]) named(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return &fs.PathError{Op: at.Op, Path: s.path, Err: at.Err}
	}
	return err
}

func (s *textSink[C]) Abort() {
	if s.file != nil {
		s.file.Abort()
	}
}

// Tee passes the blocks to f and then to sink, which receives them on the host.
func Tee[C comparable](sink Sink[C], f func(b *Block[C]) error) Sink[C] {
	switch {
	case sink == nil:
		return refuse[C]("Tee", "the sink is nil")
	case f == nil:
		return refuse[C]("Tee", "the function is nil")
	}
	return &teeSink[C]{sink, f}
}

type teeSink[C comparable] struct {
	Sink[C]
	f func(b *Block[C]) error
}

func (s *teeSink[C]) Block(b *Block[C]) error {
	if err := s.f(b); err != nil {
		return err
	}
	return s.Sink.Block(b)
}

func (s *teeSink[C]) needsCount() bool {
	c, ok := s.Sink.(counting)
	return ok && c.needsCount()
}

func (s *teeSink[C]) room(entries int64) (idx []int32, val []C, ok bool) {
	if r, ok := s.Sink.(roomy[C]); ok {
		return r.room(entries)
	}
	return nil, nil, false
}

func (s *teeSink[C]) resumes() bool {
	r, ok := s.Sink.(resuming)
	return ok && r.resumes()
}

func (s *teeSink[C]) kept() (blocks int, file string) { return s.Sink.(resuming).kept() }

func (s *teeSink[C]) bounds(job []byte, rows, cols int) []int {
	return s.Sink.(resuming).bounds(job, rows, cols)
}

// Each calls f with every block on the host, for example to keep the best entries of each row, or
// to filter. An error of f ends the product.
func Each[C comparable](f func(b *Block[C]) error) Sink[C] {
	if f == nil {
		return refuse[C]("Each", "the function is nil")
	}
	return eachSink[C](f)
}

type eachSink[C comparable] func(b *Block[C]) error

func (eachSink[C]) Begin(Plan) (int, error)   { return 0, nil }
func (s eachSink[C]) Block(b *Block[C]) error { return s(b) }
func (eachSink[C]) End() error                { return nil }
func (eachSink[C]) Abort()                    {}

// Where calls f with every block at the place of computation, as a matrix; row i is row lo+i of the
// product. Operations on it run there, and only what f reads is copied to the host. f must not
// retain the matrix.
func Where[C comparable](f func(lo int, rows *matrix.Matrix[C]) error) Sink[C] {
	if f == nil {
		return refuse[C]("Where", "the function is nil")
	}
	return &whereSink[C]{f}
}

type whereSink[C comparable] struct {
	f func(lo int, rows *matrix.Matrix[C]) error
}

func (*whereSink[C]) Begin(Plan) (int, error)                      { return 0, nil }
func (*whereSink[C]) Block(*Block[C]) error                        { return nil }
func (*whereSink[C]) End() error                                   { return nil }
func (*whereSink[C]) Abort()                                       {}
func (s *whereSink[C]) visit(lo int, rows *matrix.Matrix[C]) error { return s.f(lo, rows) }

// Count adds the number of entries to n. It copies nothing.
func Count[C comparable](n *int64) Sink[C] {
	if n == nil {
		return refuse[C]("Count", "the counter is nil")
	}
	return Where(func(_ int, rows *matrix.Matrix[C]) error {
		*n += rows.NVals()
		return rows.Err()
	})
}

// Sum adds all entries to sum, which starts as the identity of m or an earlier sum. It copies
// nothing.
func Sum[C comparable](m semiring.Monoid[C], sum *C) Sink[C] {
	switch {
	case sum == nil:
		return refuse[C]("Sum", "the sum is nil")
	case !m.Valid():
		return refuse[C]("Sum", "the monoid is the zero value; make it with a constructor of package semiring")
	}
	return Where(func(_ int, rows *matrix.Matrix[C]) error {
		x, err := ops.ReduceScalar(m, rows)
		if err == nil {
			*sum = m.Combine(*sum, x)
		}
		return err
	})
}

// Degrees counts the entries of each row of the product into d; len(d) is the number of rows. It
// copies no entries.
func Degrees[C comparable](d []int64) Sink[C] {
	return &degreesSink[C]{whereSink[C]{degrees[C](d)}, len(d)}
}

type degreesSink[C comparable] struct {
	whereSink[C]
	length int
}

func (s *degreesSink[C]) Begin(p Plan) (int, error) {
	if s.length != p.Rows {
		return 0, &matrix.DimensionError{Op: "chunked.Degrees", Arg: "the slice", Got: fmt.Sprintf("of length %d", s.length),
			Want: fmt.Sprintf("%d, the number of rows of the product", p.Rows), Remedy: "make it of that length"}
	}
	return 0, nil
}

func degrees[C comparable](d []int64) func(lo int, rows *matrix.Matrix[C]) error {
	return func(lo int, rows *matrix.Matrix[C]) error { return countRows(d, lo, rows.Pattern()) }
}

// countRows counts the entries of rows into d, from lo on.
func countRows(d []int64, lo int, rows matrix.PatternView) error {
	m, n := rows.Dims()
	ones, err := matrix.NewFullVector(n, true)
	if err != nil {
		return err
	}
	count := matrix.NewVector[int64](m, matrix.On(rows.Place()))
	if err := ops.MxV(count, semiring.PlusPair[int64](), rows, ones.Pattern()); err != nil {
		return err
	}
	clear(d[lo : lo+m])
	for i, x := range count.All() {
		d[lo+i] = x
	}
	return count.Err()
}

// refusedSink is the result of constructors with invalid arguments: Begin returns the error.
type refusedSink[C comparable] struct{ err error }

func refuse[C comparable](constructor, reason string) Sink[C] {
	return refusedSink[C]{&matrix.InvalidError{Op: "chunked." + constructor, Reason: reason}}
}

func (s refusedSink[C]) Begin(Plan) (int, error) { return 0, s.err }
func (s refusedSink[C]) Block(*Block[C]) error   { return s.err }
func (s refusedSink[C]) End() error              { return s.err }
func (refusedSink[C]) Abort()                    {}
