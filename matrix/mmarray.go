package matrix

import (
	"bytes"
	"fmt"

	"github.com/hiveblas/hiveblas/internal/chunk"
)

// arrayBlock holds the values of a block of lines.
type arrayBlock[T any] struct {
	block chunk.Block
	vals  []T
	err   *ParseError
}

// array reads the values of a file in array form, by columns. A symmetric matrix
// lists the lower triangle with its diagonal, a skew-symmetric one without it.
// A line may have several values.
func (rd *mmReader[T]) array() (*Matrix[T], error) {
	var n int64
	var blocks [][]T
	err := chunk.Read(rd.o.ctx, rd.src, rd.o.threads, rd.parseArray, func(r arrayBlock[T]) error {
		if n += int64(len(r.vals)); n > rd.info.Entries {
			line := valueLine(r.block, int64(len(r.vals))-(n-rd.info.Entries))
			return rd.o.fail(line, fmt.Sprintf("more values than the %d of a %s %d×%d array", rd.info.Entries, rd.info.Symmetry, rd.info.Rows, rd.info.Cols), "correct the size line")
		}
		if r.err != nil {
			return r.err
		}
		blocks = append(blocks, r.vals)
		rd.o.report(rd.taken())
		return nil
	})
	if err != nil {
		return nil, rd.o.streamError(rd.src.At(), err)
	}
	if n < rd.info.Entries {
		return nil, rd.tooFew(n, "values")
	}
	m, c := rd.info.Rows, rd.info.Cols
	full := make([]T, m*c)
	if rd.info.skew() && rd.o.patternOnly {
		for i := range m {
			full[i*c+i] = rd.e.one
		}
	}
	i, j := 0, 0
	if rd.info.skew() {
		i = 1
	}
	for k, vals := range blocks {
		for p, v := range vals {
			full[i*c+j] = v
			if i != j && !rd.info.general() {
				if rd.info.skew() && !rd.o.patternOnly {
					var ok bool
					if v, ok = rd.e.negate(v); !ok {
						return nil, rd.valueFault(0, fmt.Sprintf("%v (row %d, column %d)", vals[p], i+1, j+1), faultSign)
					}
				}
				full[j*c+i] = v
			}
			if i++; i == m {
				j++
				switch {
				case rd.info.general():
					i = 0
				case rd.info.skew():
					i = j + 1
				default:
					i = j
				}
			}
		}
		blocks[k] = nil
	}
	return FromDense(m, c, full)
}

// parseArray reads the values of a block. It runs on several blocks at once.
func (rd *mmReader[T]) parseArray(b chunk.Block) (r arrayBlock[T]) {
	r.block = b
	d := b.Data
	vals := make([]T, 0, bytes.Count(d, []byte{'\n'}))
	for p := 0; p < len(d); {
		switch c := d[p]; {
		case isBlank(c) || c == '\n':
			p++
			continue
		case c == '%' && (p == 0 || onlyBlanksBefore(d, p)):
			p += bytes.IndexByte(d[p:], '\n') + 1
			continue
		}
		v, end, f := rd.scan(d, p)
		if f == faultNone && !isBlank(d[end]) && d[end] != '\n' {
			f = faultSyntax
		}
		if f != faultNone {
			line, _ := rd.line(b, p)
			r.err = rd.valueFault(line, quote(token(d[p:])), f)
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
		if !isBlank(d[p]) {
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
