package graphio

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// ReadGraph500 reads the binary edge list of the Graph500 generator, gzip-compressed or not: pairs
// of vertices from 0 as little-endian 64-bit integers, or, with [InFormat] of FormatGraph500Packed,
// in 12 bytes: the low 32 bits of both vertices, then 16 high bits of each. The list has each
// undirected edge once, in any direction, with repeated edges and loops: see [Symmetrise] and
// [Duplicates]. Errors are a *[ParseError] that numbers the edge. Source: Graph500 reference code
// 3.0, generator/graph_generator.h.
func ReadGraph500[T matrix.Element](r io.Reader, opts ...ReadOption) (*matrix.Matrix[T], error) {
	a, _, err := readPlaced(r, optionsFor[T](opts), readGraph500)
	return matrix.OfInside[T](a), err
}

func readGraph500(r io.Reader, o *readOptions) (*sparse.Store, sides, error) {
	g, err := newGraphEdges("graphio.ReadGraph500", r, o)
	if err != nil {
		return nil, sides{}, err
	}
	plain, taken, err := chunk.Open(r)
	if err != nil {
		return nil, sides{}, o.streamError(0, err)
	}
	width := 16
	packed := o.format == FormatGraph500Packed
	if packed {
		width = 12
	}
	const per = 1 << 15
	buf := make([]byte, per*width)
	most := int64(-1)
	for end := false; !end; {
		if err := o.stopped(); err != nil {
			return nil, sides{}, err
		}
		n, err := io.ReadFull(plain, buf)
		switch {
		case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, chunk.ErrGzip):
			end = true
		case err != nil:
			return nil, sides{}, o.streamError(0, err)
		}
		if n%width != 0 {
			return nil, sides{}, o.fail(0, fmt.Sprintf("edge %d: the file ends after %d of its %d bytes", g.count+int64(n/width), n%width, width), "the file is cut short, or of the other Graph500 format")
		}
		t := sparse.Block{Row: make([]int32, n/width), Col: make([]int32, n/width), Val: g.e.ones(n / width)}
		for k := range t.Row {
			s, d := graph500Edge(buf[k*width:], packed)
			if uint64(s) >= matrix.MaxDim || uint64(d) >= matrix.MaxDim {
				e := o.fail(0, fmt.Sprintf("edge %d from %d to %d is out of range, want vertices from 0 to %d", g.count+int64(k), s, d, matrix.MaxDim-1), "the file is perhaps of the other Graph500 format")
				e.Err = &matrix.IndexError{Op: "ReadGraph500", Arg: "vertex", Index: max(s, d), Limit: matrix.MaxDim}
				return nil, sides{}, e
			}
			most = max(most, s, d)
			t.Row[k], t.Col[k] = int32(s), int32(d)
		}
		g.addBlock(t)
		o.report(taken())
	}
	n := int(most + 1)
	g.describe("Graph500", "pattern", "general", n, n)
	return g.finish(n, n, sides{}, false)
}

func graph500Edge(b []byte, packed bool) (s, d int64) {
	le := binary.LittleEndian
	if !packed {
		return int64(le.Uint64(b)), int64(le.Uint64(b[8:]))
	}
	high := le.Uint32(b[8:])
	return int64(le.Uint32(b)) | int64(high&0xffff)<<32, int64(le.Uint32(b[4:])) | int64(high>>16)<<32
}
