// Package parquet reads lists of edges in Parquet files: a column of sources, one of targets and
// perhaps one of weights, row groups in parallel. It is a module of its own, so that programs that
// do not read Parquet do not depend on github.com/parquet-go/parquet-go.
//
//	f, err := os.Open("trips.parquet")
//	st, err := f.Stat()
//	g, err := parquet.Read[float64](f, st.Size(), parquet.Options{Weight: "minutes"},
//		graphio.RenumberIDs())
//
// A row becomes a line of an edge list, which [graphio.ReadLabelled] reads: its options number ids,
// combine repeated edges and symmetrise, and line N of an error is row N of the file, from 1.
package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strconv"
	"strings"

	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/matrix"
	pq "github.com/parquet-go/parquet-go"
)

// Options choose the columns of a file. An empty name is found from the names that
// [graphio.ReadEdgeList] knows, such as source, src and from; without one the first two columns are
// the source and the target. NoWeight leaves the weights out.
type Options struct {
	Source, Target, Weight string
	NoWeight               bool
	Threads                int // that decode row groups; 0: all
}

// ErrColumn is wrapped by errors about the columns of a file.
var ErrColumn = errors.New("no such column in the Parquet file")

// Columns are the columns of a list of edges.
type Columns struct {
	Source, Target, Weight string // Weight is "" for none
	Real                   bool   // weights are floating-point numbers

	at [3]int
}

// known are the names of columns by role, in lower case.
var known = [3][]string{
	{"source", "src", "from", "source_id", "src_id", "from_id", "from_node"},
	{"target", "dst", "dest", "destination", "to", "target_id", "dst_id", "to_id", "to_node"},
	{"weight", "value", "count", "amount", "rating", "score", "distance", "cost", "capacity", "length"},
}

// ColumnsOf finds the columns of a file.
func ColumnsOf(f *pq.File, o Options) (c Columns, err error) {
	if f == nil {
		return c, fmt.Errorf("parquet: the file is nil: %w", matrix.ErrInvalid)
	}
	type leaf struct {
		name string
		at   int
		kind pq.Kind
	}
	var leaves []leaf
	for _, path := range f.Schema().Columns() {
		if l, ok := f.Schema().Lookup(path...); ok && len(path) == 1 && l.MaxRepetitionLevel == 0 {
			leaves = append(leaves, leaf{path[0], l.ColumnIndex, l.Node.Type().Kind()})
		}
	}
	find := func(name string, fold bool) int {
		for k, l := range leaves {
			if l.name == name || fold && strings.EqualFold(l.name, name) {
				return k
			}
		}
		return -1
	}
	var names []string
	for _, l := range leaves {
		names = append(names, l.name)
	}
	chosen := [3]int{-1, -1, -1}
	for role, name := range []string{o.Source, o.Target, o.Weight} {
		if name != "" {
			if chosen[role] = find(name, false); chosen[role] < 0 {
				return c, fmt.Errorf("parquet: %w: %q; it has %s", ErrColumn, name, strings.Join(names, ", "))
			}
			continue
		}
		for _, name := range known[role] {
			if chosen[role] < 0 {
				chosen[role] = find(name, true)
			}
		}
	}
	if chosen[0] < 0 && chosen[1] < 0 && len(leaves) >= 2 {
		chosen[0], chosen[1] = 0, 1
		if chosen[2] < 2 {
			chosen[2] = -1
		}
	}
	if o.NoWeight {
		chosen[2] = -1
	}
	switch {
	case chosen[0] < 0 || chosen[1] < 0:
		return c, fmt.Errorf("parquet: %w for the source or the target; name two of %s", ErrColumn, strings.Join(names, ", "))
	case chosen[0] == chosen[1] || chosen[2] >= 0 && (chosen[2] == chosen[0] || chosen[2] == chosen[1]):
		return c, fmt.Errorf("parquet: %w: one column has two roles", ErrColumn)
	}
	c.Source, c.Target = leaves[chosen[0]].name, leaves[chosen[1]].name
	c.at = [3]int{leaves[chosen[0]].at, leaves[chosen[1]].at, -1}
	if chosen[2] >= 0 {
		l := leaves[chosen[2]]
		c.Weight, c.at[2] = l.name, l.at
		c.Real = l.kind == pq.Float || l.kind == pq.Double
	}
	return c, nil
}

// Open opens a Parquet file of the given size.
func Open(r io.ReaderAt, size int64) (*pq.File, error) {
	if r == nil {
		return nil, fmt.Errorf("parquet: the reader is nil: %w", matrix.ErrInvalid)
	}
	// The library allocates as many bytes as the end of the file announces for its footer.
	var end [8]byte
	if size < 12 {
		return nil, fmt.Errorf("parquet: a file of %d bytes is no Parquet file", size)
	}
	if _, err := r.ReadAt(end[:], size-8); err != nil {
		return nil, fmt.Errorf("parquet: the file cannot be read: %w", err)
	}
	if n := int64(binary.LittleEndian.Uint32(end[:4])); string(end[4:]) != "PAR1" || n > size-12 {
		return nil, errors.New("parquet: the file does not end as a Parquet file does; it is damaged or cut short")
	}
	var f *pq.File
	err := guarded(func() (err error) {
		f, err = pq.OpenFile(r, size)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("parquet: the file cannot be opened: %w", err)
	}
	return f, nil
}

// guarded runs f and returns a panic of the decoder, which damaged files cause, as an error.
func guarded(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("parquet: the file is damaged: %v", p)
		}
	}()
	return f()
}

// Read reads a graph. T holds the weights by the rules of [graphio.ReadEdgeList]. A null is an
// error that names its row. Read takes the time and memory of ReadEdgeList, and each thread decodes
// a row group at a time. Few bytes of a Parquet file can stand for many rows: memory grows with the
// rows.
func Read[T matrix.Element](r io.ReaderAt, size int64, o Options, opts ...graphio.ReadOption) (*graphio.Labelled[T], error) {
	f, err := Open(r, size)
	if err != nil {
		return nil, err
	}
	var columns Columns
	err = guarded(func() (err error) {
		columns, err = ColumnsOf(f, o)
		return err
	})
	if err != nil {
		return nil, err
	}
	pr, pw := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := WriteText(pw, f, columns, o.Threads)
		pw.CloseWithError(err)
		done <- err
	}()
	all := append(opts[:len(opts):len(opts)], graphio.InFormat(graphio.FormatTSV), graphio.Header(graphio.HeaderNo))
	g, err := graphio.ReadLabelled[T](pr, all...)
	pr.CloseWithError(io.ErrClosedPipe) // ends WriteText after an error of the reader
	if e := <-done; e != nil && !errors.Is(e, io.ErrClosedPipe) {
		return nil, e
	}
	return g, err
}

// WriteText writes the rows of a file as lines of source, target and weight, separated by tabs, in
// the order of the file. Up to threads row groups (0: one a processor) are decoded at once.
func WriteText(w io.Writer, f *pq.File, c Columns, threads int) error {
	if f == nil || w == nil {
		return fmt.Errorf("parquet: the file or the writer is nil: %w", matrix.ErrInvalid)
	}
	if c.Source == "" || c.Target == "" {
		return fmt.Errorf("parquet: %w; find the columns with ColumnsOf", ErrColumn)
	}
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	type part struct {
		text []byte
		err  error
	}
	var groups []pq.RowGroup
	if err := guarded(func() error { groups = f.RowGroups(); return nil }); err != nil {
		return err
	}
	parts := make([]chan part, len(groups))
	for k := range parts {
		parts[k] = make(chan part, 1)
	}
	first := make([]int64, len(groups))
	for k := 1; k < len(groups); k++ {
		first[k] = first[k-1] + groups[k-1].NumRows()
	}
	start := func(k int) {
		if k < len(groups) {
			go func() {
				var p part
				p.err = guarded(func() (err error) {
					p.text, err = groupText(groups[k], c, first[k])
					return err
				})
				parts[k] <- p
			}()
		}
	}
	for k := range min(threads, len(groups)) {
		start(k)
	}
	for k := range groups {
		p := <-parts[k]
		if p.err != nil {
			return p.err
		}
		start(k + threads)
		if _, err := w.Write(p.text); err != nil {
			return err
		}
	}
	return nil
}

// reader reads the values of a column of a row group.
type reader struct {
	name   string
	pages  pq.Pages
	page   pq.ValueReader
	values []pq.Value
	next   int
}

func (r *reader) value() (v pq.Value, err error) {
	for r.next == len(r.values) {
		if r.page == nil {
			page, err := r.pages.ReadPage()
			if err != nil {
				return v, fmt.Errorf("parquet: column %s: %w", r.name, err)
			}
			r.page = page.Values()
		}
		n, err := r.page.ReadValues(r.values[:cap(r.values)])
		r.values, r.next = r.values[:n], 0
		switch {
		case err == io.EOF:
			r.page = nil
		case err != nil:
			return v, fmt.Errorf("parquet: column %s: %w", r.name, err)
		}
	}
	r.next++
	return r.values[r.next-1], nil
}

// groupText returns the lines of a row group; its first row has the given number.
func groupText(g pq.RowGroup, c Columns, first int64) ([]byte, error) {
	var readers []*reader
	names := []string{c.Source, c.Target, c.Weight}
	for k, at := range c.at {
		if k == 2 && c.Weight == "" {
			break
		}
		chunks := g.ColumnChunks()
		if at < 0 || at >= len(chunks) {
			return nil, fmt.Errorf("parquet: %w: %q", ErrColumn, names[k])
		}
		r := &reader{name: names[k], pages: chunks[at].Pages(), values: make([]pq.Value, 0, 1<<10)}
		defer r.pages.Close()
		readers = append(readers, r)
	}
	var text []byte
	for row := range g.NumRows() {
		for k, r := range readers {
			v, err := r.value()
			if err == nil && v.IsNull() {
				err = errors.New("the value is null")
			}
			if err == nil {
				if k > 0 {
					text = append(text, '\t')
				}
				text, err = appendValue(text, v, k < 2)
			}
			if err != nil {
				return nil, fmt.Errorf("parquet: row %d, column %s: %w", first+row+1, r.name, err)
			}
		}
		text = append(text, '\n')
	}
	return text, nil
}

// appendValue appends an id or a weight.
func appendValue(text []byte, v pq.Value, id bool) ([]byte, error) {
	switch v.Kind() {
	case pq.Boolean:
		if v.Boolean() {
			return append(text, '1'), nil
		}
		return append(text, '0'), nil
	case pq.Int32:
		return strconv.AppendInt(text, int64(v.Int32()), 10), nil
	case pq.Int64:
		return strconv.AppendInt(text, v.Int64(), 10), nil
	case pq.Float:
		return appendFloat(text, float64(v.Float()), 32, id)
	case pq.Double:
		return appendFloat(text, v.Double(), 64, id)
	case pq.ByteArray, pq.FixedLenByteArray:
		name := v.ByteArray()
		switch {
		case len(name) == 0:
			return text, errors.New("the name is empty")
		case bytes.IndexByte(name, '\n') >= 0:
			return text, errors.New("the name has a line break")
		}
		return append(append(append(text, '"'), bytes.ReplaceAll(name, []byte{'"'}, []byte(`""`))...), '"'), nil
	}
	return text, fmt.Errorf("values of type %v are not read", v.Kind())
}

func appendFloat(text []byte, x float64, bits int, id bool) ([]byte, error) {
	if id {
		return text, errors.New("the vertex is a floating-point number, want an integer or text")
	}
	start := len(text)
	text = strconv.AppendFloat(text, x, 'g', -1, bits)
	if !bytes.ContainsAny(text[start:], ".eNI") { // stays a real number
		text = append(text, ".0"...)
	}
	return text, nil
}
