package plaingraph

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/hiveblas/hiveblas/graphio/internal/build"
	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/sparse"
	"github.com/hiveblas/hiveblas/matrix"
)

// DescribeGraph500 describes a file of tuples, which has no header.
func DescribeGraph500(i *core.FileInfo, _ io.Reader, _ *core.ReadOptions) error {
	i.Field, i.Symmetry = "pattern", "general"
	return nil
}

// ReadGraph500 is graphio.ReadGraph500.
func ReadGraph500(r io.Reader, o *core.ReadOptions) (*sparse.Store, core.Sides, error) {
	g, err := build.NewGraphEdges("graphio.ReadGraph500", r, o)
	if err != nil {
		return nil, core.Sides{}, err
	}
	plain, taken, err := chunk.Open(r)
	if err != nil {
		return nil, core.Sides{}, o.StreamError(0, err)
	}
	width := 16
	if o.Packed {
		width = 12
	}
	const per = 1 << 15
	buf := make([]byte, per*width)
	most := int64(-1)
	for end := false; !end; {
		if err := o.Stopped(); err != nil {
			return nil, core.Sides{}, err
		}
		n, err := io.ReadFull(plain, buf)
		switch {
		case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, chunk.ErrGzip):
			end = true
		case err != nil:
			return nil, core.Sides{}, o.StreamError(0, err)
		}
		if n%width != 0 {
			return nil, core.Sides{}, o.Fail(0, fmt.Sprintf("edge %d: the file ends after %d of its %d bytes", g.Count+int64(n/width), n%width, width), "the file is cut short, or of the other Graph500 format")
		}
		t := sparse.Block{Row: make([]int32, n/width), Col: make([]int32, n/width), Val: g.E.Ones(n / width)}
		for k := range t.Row {
			s, d := graph500Edge(buf[k*width:], o.Packed)
			if uint64(s) >= matrix.MaxDim || uint64(d) >= matrix.MaxDim {
				e := o.Fail(0, fmt.Sprintf("edge %d from %d to %d is out of range, want vertices from 0 to %d", g.Count+int64(k), s, d, matrix.MaxDim-1), "the file is perhaps of the other Graph500 format")
				e.Err = &matrix.IndexError{Op: "ReadGraph500", Arg: "vertex", Index: max(s, d), Limit: matrix.MaxDim}
				return nil, core.Sides{}, e
			}
			most = max(most, s, d)
			t.Row[k], t.Col[k] = int32(s), int32(d)
		}
		g.AddBlock(t)
		o.Report(taken())
	}
	n := int(most + 1)
	g.Describe("Graph500", "pattern", "general", n, n)
	return g.Finish(n, n, core.Sides{}, false)
}

func graph500Edge(b []byte, packed bool) (s, d int64) {
	le := binary.LittleEndian
	if !packed {
		return int64(le.Uint64(b)), int64(le.Uint64(b[8:]))
	}
	high := le.Uint32(b[8:])
	return int64(le.Uint32(b)) | int64(high&0xffff)<<32, int64(le.Uint32(b[4:])) | int64(high>>16)<<32
}
