package peers

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/hiveblas/hiveblas/bench/gen"
)

// The raw formats are little-endian, without padding.
//
//	graph:  "HBCSR01\n", int64 nrows, ncols, nvals, kind; int64 ptr[nrows+1]; int32 idx[nvals];
//	        float64 values[nvals] when kind is 1, nothing when it is 0 (the values are then all one)
//	tuples: "HBTUP01\n", int64 nrows, ncols, count; int32 rows[count]; int32 cols[count];
//	        float64 values[count]
const (
	magicGraph  = "HBCSR01\n"
	magicTuples = "HBTUP01\n"
)

// WriteGraph writes a graph and its values to a raw file, replacing one that exists. A nil val
// means a pattern; a val of the wrong length is an error.
func WriteGraph(path string, g *gen.Graph, val []float64) error {
	var kind int64
	if val != nil {
		kind = 1
		if int64(len(val)) != g.NNZ() {
			return fmt.Errorf("peers: WriteGraph: %d values for %d entries", len(val), g.NNZ())
		}
	}
	head := []int64{int64(g.NRows), int64(g.NCols), g.NNZ(), kind}
	return writeFile(path, magicGraph, head, g.Ptr, g.Idx, val)
}

// WriteTuples writes tuples and their values to a raw file, replacing one that exists. A nil val
// means ones.
func WriteTuples(path string, t gen.Tuples, val []float64) error {
	if val == nil {
		val = make([]float64, t.Len())
		for k := range val {
			val[k] = 1
		}
	}
	if len(val) != t.Len() || len(t.Cols) != t.Len() {
		return fmt.Errorf("peers: WriteTuples: %d rows, %d columns, %d values", t.Len(), len(t.Cols), len(val))
	}
	head := []int64{int64(t.NRows), int64(t.NCols), int64(t.Len())}
	return writeFile(path, magicTuples, head, t.Rows, t.Cols, val)
}

// writeFile writes the parts one after the other: []int64, []int32 or []float64.
func writeFile(path, magic string, parts ...any) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<20)
	w.WriteString(magic)
	var word [8]byte
	for _, part := range parts {
		switch part := part.(type) {
		case []int64:
			for _, v := range part {
				binary.LittleEndian.PutUint64(word[:], uint64(v))
				w.Write(word[:])
			}
		case []int32:
			for _, v := range part {
				binary.LittleEndian.PutUint32(word[:4], uint32(v))
				w.Write(word[:4])
			}
		case []float64:
			for _, v := range part {
				binary.LittleEndian.PutUint64(word[:], math.Float64bits(v))
				w.Write(word[:])
			}
		}
	}
	return w.Flush() // bufio keeps the first error
}

// ReadGraph reads a raw graph file. The values are nil when the file has none.
func ReadGraph(path string) (*gen.Graph, []float64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	g, val, err := readGraph(bufio.NewReaderSize(f, 1<<20), info.Size())
	if err != nil {
		return nil, nil, fmt.Errorf("peers: %s: %w", path, err)
	}
	return g, val, nil
}

// readGraph reads a graph of size bytes; the size is known beforehand so that a broken header
// cannot ask for memory.
func readGraph(r io.Reader, size int64) (*gen.Graph, []float64, error) {
	var magic [8]byte
	var head [4]int64
	if _, err := io.ReadFull(r, magic[:]); err != nil {
		return nil, nil, fmt.Errorf("reading the header: %w", err)
	}
	if string(magic[:]) != magicGraph {
		return nil, nil, fmt.Errorf("is not a raw graph: it begins with %q", magic)
	}
	if err := binary.Read(r, binary.LittleEndian, &head); err != nil {
		return nil, nil, fmt.Errorf("reading the header: %w", err)
	}
	nrows, ncols, nvals, kind := head[0], head[1], head[2], head[3]
	const most = math.MaxInt32
	if nrows < 0 || nrows > most || ncols < 0 || ncols > most || nvals < 0 || nvals > size || kind < 0 || kind > 1 ||
		8+32+8*(nrows+1)+(4+8*kind)*nvals != size {
		return nil, nil, fmt.Errorf("header %v does not fit a file of %d bytes", head, size)
	}
	g := &gen.Graph{NRows: int(nrows), NCols: int(ncols), Ptr: make([]int64, nrows+1), Idx: make([]int32, nvals)}
	var val []float64
	if kind == 1 {
		val = make([]float64, nvals)
	}
	for _, part := range []any{g.Ptr, g.Idx, val} {
		if err := binary.Read(r, binary.LittleEndian, part); err != nil {
			return nil, nil, err
		}
	}
	return g, val, checkGraph(g)
}

// checkGraph checks a graph against the rules of [gen.Graph].
func checkGraph(g *gen.Graph) error {
	if g.Ptr[0] != 0 || g.NNZ() != int64(len(g.Idx)) {
		return fmt.Errorf("row offsets run from %d to %d, not from 0 to %d", g.Ptr[0], g.NNZ(), len(g.Idx))
	}
	for i := range g.NRows {
		if g.Ptr[i] > g.Ptr[i+1] || g.Ptr[i+1] > g.NNZ() {
			return fmt.Errorf("row offset %d is out of order", i+1)
		}
		for k, j := range g.Row(i) {
			if j < 0 || int(j) >= g.NCols || k > 0 && g.Row(i)[k-1] >= j {
				return fmt.Errorf("row %d: column %d is out of range or out of order", i, j)
			}
		}
	}
	return nil
}
