package matrixmarket

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/hiveblas/hiveblas/graphio/internal/build"
	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/graphio/internal/numtext"
	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/internal/sparse"
)

// arrayBlock holds the values of a block of lines, as words.
type arrayBlock struct {
	block chunk.Block
	vals  []uint64
	err   *core.ParseError
}

// array reads the values of a file in array form, by columns. A symmetric matrix
// lists the lower triangle with its diagonal, a skew-symmetric one without it, or
// with a diagonal of zeros, as SciPy before version 1.1 wrote it. A line may have
// several values. Zeros are no entries without [KeepZeros].
func (rd *mmReader) array() (*sparse.Store, error) {
	var n int64
	var blocks [][]uint64
	m, c := rd.info.Rows, rd.info.Cols
	most := rd.info.Entries
	if rd.info.Skew() {
		most += int64(m)
	}
	if rd.o.PatternOnly {
		if rd.scan = numtext.Positions(rd.e, 0); rd.o.KeepZeros {
			rd.scan = numtext.Positions(rd.e, rd.e.One)
		}
	}
	err := chunk.Read(rd.o.Ctx, rd.src, rd.o.Threads, rd.parseArray, func(r arrayBlock) error {
		if n += int64(len(r.vals)); n > most {
			line := valueLine(r.block, int64(len(r.vals))-(n-most))
			return rd.o.Fail(line, fmt.Sprintf("more values than the %d of a %s %d×%d array", rd.info.Entries, rd.info.Symmetry, m, c), "correct the size line")
		}
		if r.err != nil {
			return r.err
		}
		blocks = append(blocks, r.vals)
		rd.o.Report(rd.taken())
		return nil
	})
	if err != nil {
		return nil, rd.o.StreamError(rd.src.At(), err)
	}
	diagonal := rd.info.Skew() && n == most && m > 0 // which is listed
	if n < rd.info.Entries {
		return nil, rd.tooFew(n, "values")
	}
	if n > rd.info.Entries && !diagonal {
		return nil, rd.o.Fail(0, fmt.Sprintf("%d values, and a skew-symmetric %d×%d array has %d, or %d with a diagonal of zeros", n, m, c, rd.info.Entries, most), "correct the size line")
	}
	t := rd.e.T
	full := t.Zeroed(int64(m) * int64(c))
	keepOnes := rd.o.PatternOnly && rd.o.KeepZeros
	set := func(i, j int, v uint64) { rd.e.Store(full, int64(i)*int64(c)+int64(j), v) }
	if rd.info.Skew() && keepOnes {
		for i := range m {
			set(i, i, rd.e.One)
		}
	}
	i, j, first := 0, 0, 0 // first is the distance of the first row of a column from the diagonal
	if rd.info.Skew() && !diagonal {
		i, first = 1, 1
	}
	for k, vals := range blocks {
		for p, v := range vals {
			if diagonal && i == j && !rd.e.IsZero(v) && !keepOnes {
				return nil, rd.o.Fail(0, fmt.Sprintf("the value at row %d, column %d of a skew-symmetric array is %v", i+1, j+1, rd.e.Text(v)), "the diagonal is zero by definition: correct the value, or the banner")
			}
			set(i, j, v)
			if i != j && !rd.info.General() {
				if rd.info.Skew() && !rd.o.PatternOnly {
					var ok bool
					if v, ok = rd.e.Negate(v); !ok {
						return nil, rd.valueFault(0, fmt.Sprintf("%v (row %d, column %d)", rd.e.Text(vals[p]), i+1, j+1), numtext.FaultSign)
					}
				}
				set(j, i, v)
			}
			if i++; i == m {
				j++
				if i = 0; !rd.info.General() {
					i = j + first
				}
			}
		}
		blocks[k] = nil
	}
	return rd.dense(full)
}

// dense returns the matrix of the values at all positions, by rows.
func (rd *mmReader) dense(full sparse.Values) (*sparse.Store, error) {
	m, c, e := rd.info.Rows, rd.info.Cols, rd.e
	keep := make([]uint8, full.Len())
	if e.T.Nonzero(keep, full); rd.o.KeepZeros || !slices.Contains(keep, 0) {
		return &sparse.Store{Structure: sparse.Structure{NRows: m, NCols: c, Format: sparse.Full, NVals: int64(full.Len())}, Val: full, Type: e.T}, nil
	}
	g := &build.GraphEdges{O: rd.o, E: e}
	for p, k := range keep {
		if k != 0 {
			g.Add(int32(p/c), int32(p%c), e.At(full, int64(p)))
		}
	}
	return g.Built(m, c, nil)
}

// parseArray reads the values of a block. It runs on several blocks at once.
func (rd *mmReader) parseArray(b chunk.Block) (r arrayBlock) {
	r.block = b
	d := b.Data
	vals := make([]uint64, 0, bytes.Count(d, []byte{'\n'}))
	for p := 0; p < len(d); {
		switch c := d[p]; {
		case core.IsBlank(c) || c == '\n':
			p++
			continue
		case c == '%' && (p == 0 || onlyBlanksBefore(d, p)):
			p += bytes.IndexByte(d[p:], '\n') + 1
			continue
		}
		v, end, f := rd.scan(d, p)
		if f == numtext.FaultNone && !core.IsBlank(d[end]) && d[end] != '\n' {
			f = numtext.FaultSyntax
		}
		if f != numtext.FaultNone {
			line, _ := rd.line(b, p)
			r.err = rd.valueFault(line, core.Quote(token(d[p:])), f)
			break
		}
		vals = append(vals, v)
		p = end
	}
	r.vals = vals
	return r
}

// onlyBlanksBefore reports whether only blanks precede d[p] on its line.
func onlyBlanksBefore(d []byte, p int) bool {
	for p--; p >= 0 && d[p] != '\n'; p-- {
		if !core.IsBlank(d[p]) {
			return false
		}
	}
	return true
}

// valueLine returns the line of value k of a block, from 0.
func valueLine(b chunk.Block, k int64) int64 {
	line := b.Line
	for text := range bytes.Lines(b.Data) {
		f := bytes.Fields(text)
		if len(f) > 0 && f[0][0] != '%' {
			if k -= int64(len(f)); k < 0 {
				break
			}
		}
		line++
	}
	return line
}
