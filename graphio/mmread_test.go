package graphio

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/klauspost/compress/gzip"
)

// entriesOf lists the entries of a as "(row,col)=value", by rows.
func entriesOf[T comparable](a *matrix.Matrix[T]) string {
	var b strings.Builder
	for c, v := range a.All() {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "(%d,%d)=%v", c.Row, c.Col, v)
	}
	return b.String()
}

func valid[T comparable](t *testing.T, a *matrix.Matrix[T]) {
	t.Helper()
	if err := stored(a).Check(len(stored(a).Val), false); err != nil {
		t.Fatalf("invariant broken: %v", err)
	}
}

type readCase struct {
	name, reason string
	text         string
	opts         []ReadOption
	m, n         int
	want         string
}

const banner = "%%MatrixMarket matrix "

func checkRead[T matrix.Element](t *testing.T, cases []readCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			a, err := ReadMatrixMarket[T](strings.NewReader(c.text), c.opts...)
			if err != nil {
				t.Fatalf("%v (%s)", err, c.reason)
			}
			valid(t, a)
			if m, n := a.Dims(); m != c.m || n != c.n || entriesOf(a) != c.want {
				t.Errorf("got %d×%d %s, want %d×%d %s (%s)", m, n, entriesOf(a), c.m, c.n, c.want, c.reason)
			}
		})
	}
}

func TestReadMatrixMarketFloat(t *testing.T) {
	sum := matrix.CombineFunc[float64](func(x, y float64) float64 { return x + y })
	checkRead[float64](t, []readCase{
		{"general", "the plain case", banner + "coordinate real general\n3 4 2\n1 4 1.5\n3 1 -2e3\n", nil, 3, 4, "(0,3)=1.5 (2,0)=-2000"},
		{"double", "a synonym of real", banner + "coordinate double general\n1 1 1\n1 1 7\n", nil, 1, 1, "(0,0)=7"},
		{"case", "the banner is read in any case", "%%matrixmarket MATRIX Coordinate REAL General\n1 1 1\n1 1 7\n", nil, 1, 1, "(0,0)=7"},
		{"tabs", "any blanks separate", banner + "coordinate\treal  general\n 1\t1 \t1 \n\t1 1\t7 \n", nil, 1, 1, "(0,0)=7"},
		{"crlf", "files of Windows", banner + "coordinate real general\r\n% c\r\n2 2 1\r\n2 1 7\r\n", nil, 2, 2, "(1,0)=7"},
		{"no final newline", "the last line may lack its end", banner + "coordinate real general\n2 2 1\n2 1 7", nil, 2, 2, "(1,0)=7"},
		{"blank lines", "blank lines and comments anywhere", "\n \n" + banner + "coordinate real general\n\n%x\n\n2 2 2\n\n1 1 1\n   \n% mid\n  % indented\n2 2 2\n\n", nil, 2, 2, "(0,0)=1 (1,1)=2"},
		{"byte order mark", "some editors write one", "\ufeff" + banner + "coordinate real general\n1 1 1\n1 1 7\n", nil, 1, 1, "(0,0)=7"},
		{"empty", "no entries", banner + "coordinate real general\n3 4 0\n", nil, 3, 4, ""},
		{"zero dimensions", "0×0 is a matrix", banner + "coordinate real general\n0 0 0\n", nil, 0, 0, ""},
		{"explicit zero", "a listed zero is an entry", banner + "coordinate real general\n1 2 1\n1 2 0\n", nil, 1, 2, "(0,1)=0"},
		{"unsorted", "any order of lines", banner + "coordinate real general\n2 2 3\n2 2 3\n1 2 2\n1 1 1\n", nil, 2, 2, "(0,0)=1 (0,1)=2 (1,1)=3"},
		{"pattern", "an entry of a pattern is 1", banner + "coordinate pattern general\n2 2 1\n1 2\n", nil, 2, 2, "(0,1)=1"},
		{"integer", "exact up to 2⁵³", banner + "coordinate integer general\n1 2 2\n1 1 -9007199254740992\n1 2 +3\n", nil, 1, 2, "(0,0)=-9.007199254740992e+15 (0,1)=3"},
		{"wide integer", "beyond 2⁵³, and exact nevertheless", banner + "coordinate integer general\n1 1 1\n1 1 18014398509481984\n", nil, 1, 1, "(0,0)=1.8014398509481984e+16"},
		{"fortran exponent", "D as Fortran writes it", banner + "coordinate real general\n1 2 2\n1 1 1.5D+02\n1 2 0.12345678901234567890d1\n", nil, 1, 2, "(0,0)=150 (0,1)=1.2345678901234567"},
		{"negative zero", "its sign is kept", banner + "coordinate real general\n1 1 1\n1 1 -0\n", nil, 1, 1, "(0,0)=-0"},
		{"forms", "forms of numbers", banner + "coordinate real general\n1 4 4\n1 1 .5\n1 2 5.\n1 3 +1E-2\n1 4 4.9e-324\n", nil, 1, 4, "(0,0)=0.5 (0,1)=5 (0,2)=0.01 (0,3)=5e-324"},
		{"symmetric", "the lower triangle is mirrored, the diagonal kept once", banner + "coordinate real symmetric\n3 3 3\n1 1 1\n2 1 2\n3 2 3\n", nil, 3, 3, "(0,0)=1 (0,1)=2 (1,0)=2 (1,2)=3 (2,1)=3"},
		{"symmetric upper", "an entry above the diagonal is accepted", banner + "coordinate real symmetric\n2 2 1\n1 2 5\n", nil, 2, 2, "(0,1)=5 (1,0)=5"},
		{"symmetric both", "both triangles, combined as asked", banner + "coordinate real symmetric\n2 2 2\n1 2 5\n2 1 6\n", []ReadOption{Duplicates(sum)}, 2, 2, "(0,1)=11 (1,0)=11"},
		{"skew", "the mirror image has the opposite value", banner + "coordinate real skew-symmetric\n2 2 1\n2 1 5\n", nil, 2, 2, "(0,1)=-5 (1,0)=5"},
		{"duplicates", "summed as asked", banner + "coordinate real general\n2 2 3\n1 1 1\n2 2 9\n1 1 2\n", []ReadOption{Duplicates(sum)}, 2, 2, "(0,0)=3 (1,1)=9"},
		{"array", "by columns", banner + "array real general\n2 3\n1\n2\n3\n4\n5\n6\n", nil, 2, 3, "(0,0)=1 (0,1)=3 (0,2)=5 (1,0)=2 (1,1)=4 (1,2)=6"},
		{"array lines", "several values on a line, comments between", banner + "array real general\n2 2\n1 2 3\n% c\n\n4", nil, 2, 2, "(0,0)=1 (0,1)=3 (1,0)=2 (1,1)=4"},
		{"array symmetric", "the lower triangle by columns", banner + "array real symmetric\n3 3\n1\n2\n3\n4\n5\n6\n", nil, 3, 3, "(0,0)=1 (0,1)=2 (0,2)=3 (1,0)=2 (1,1)=4 (1,2)=5 (2,0)=3 (2,1)=5 (2,2)=6"},
		{"array skew", "strictly lower, zero diagonal", banner + "array real skew-symmetric\n3 3\n2\n3\n5\n", nil, 3, 3, "(0,1)=-2 (0,2)=-3 (1,0)=2 (1,2)=-5 (2,0)=3 (2,1)=5"},
		{"array empty", "no rows", banner + "array real general\n0 3\n", nil, 0, 3, ""},
		{"array skew 1×1", "nothing listed", banner + "array real skew-symmetric\n1 1\n", nil, 1, 1, ""},
		{"array skew with zeros", "kept", banner + "array real skew-symmetric\n2 2\n3\n", []ReadOption{KeepZeros()}, 2, 2, "(0,0)=0 (0,1)=-3 (1,0)=3 (1,1)=0"},
		{"array skew with a diagonal", "as SciPy before 1.1 wrote it", banner + "array real skew-symmetric\n3 3\n0\n2\n3\n0\n5\n0\n", nil, 3, 3, "(0,1)=-2 (0,2)=-3 (1,0)=2 (1,2)=-5 (2,0)=3 (2,1)=5"},
		{"array zeros", "no entries", banner + "array real general\n2 2\n0\n-0\n3\n0.0\n", nil, 2, 2, "(0,1)=3"},
		{"array zeros kept", "entries", banner + "array real general\n2 1\n0\n3\n", []ReadOption{KeepZeros()}, 2, 1, "(0,0)=0 (1,0)=3"},
		{"array pattern only", "the structure is that of the values", banner + "array real symmetric\n2 2\n0\n2.5\n0x0p+0\n", []ReadOption{PatternOnly()}, 2, 2, "(0,1)=1 (1,0)=1"},
		{"array pattern only, zeros kept", "all positions", banner + "array real general\n2 1\n0\n2.5\n", []ReadOption{PatternOnly(), KeepZeros()}, 2, 1, "(0,0)=1 (1,0)=1"},
		{"hexadecimal", "as C writes it", banner + "coordinate real general\n1 3 3\n1 1 0x1.8p+1\n1 2 -0x1p-1\n1 3 0XA\n", nil, 1, 3, "(0,0)=3 (0,1)=-0.5 (0,2)=10"},
		{"no banner", "rows columns entries, three fields: real", "2 2 2\n1 2 6.000\n\n2 1 0.000\n\n", nil, 2, 2, "(0,1)=6 (1,0)=0"},
		{"no banner pattern", "two fields: a pattern", "2 2 1\n1 2\n", nil, 2, 2, "(0,1)=1"},
		{"no banner comment", "comments before the first entry", "2 2 1\n% hello\n1 2\n", nil, 2, 2, "(0,1)=1"},
		{"no banner empty", "a size line alone", "2 2 0\n", nil, 2, 2, ""},
		{"nan", "as asked", banner + "coordinate real general\n1 4 4\n1 1 nan\n1 2 -Inf\n1 3 +infinity\n1 4 NaN\n", []ReadOption{AllowNaN()}, 1, 4, "(0,0)=NaN (0,1)=-Inf (0,2)=+Inf (0,3)=NaN"},
		{"pattern only", "values ignored, and not looked at", banner + "coordinate real general\n1 2 2\n1 1 nan\n1 2 7e999\n", []ReadOption{PatternOnly()}, 1, 2, "(0,0)=1 (0,1)=1"},
		{"symmetrise", "the given value for both directions, the smaller of two", banner + "coordinate real general\n3 3 4\n1 1 1\n1 2 5\n2 1 4\n1 3 9\n", []ReadOption{Symmetrise()}, 3, 3, "(0,0)=1 (0,1)=4 (0,2)=9 (1,0)=4 (2,0)=9"},
		{"symmetrise symmetric", "nothing to do", banner + "coordinate real symmetric\n2 2 1\n2 1 5\n", []ReadOption{Symmetrise()}, 2, 2, "(0,1)=5 (1,0)=5"},
		{"leading zeros", "indices may have them", banner + "coordinate real general\n1 1 1\n001 0000000001 1\n", nil, 1, 1, "(0,0)=1"},
	})
}

func TestReadMatrixMarketOtherTypes(t *testing.T) {
	checkRead[int8](t, []readCase{
		{"range", "both ends of int8", banner + "coordinate integer general\n1 2 2\n1 1 127\n1 2 -128\n", nil, 1, 2, "(0,0)=127 (0,1)=-128"},
		{"integral", "a real file with integers in it", banner + "coordinate real general\n1 4 4\n1 1 1e2\n1 2 6.000\n1 3 -2.50e1\n1 4 0.1200000000000000000000e2\n", nil, 1, 4, "(0,0)=100 (0,1)=6 (0,2)=-25 (0,3)=12"},
		{"skew", "negated", banner + "coordinate integer skew-symmetric\n2 2 1\n2 1 127\n", nil, 2, 2, "(0,1)=-127 (1,0)=127"},
		{"pattern", "1", banner + "coordinate pattern symmetric\n2 2 2\n1 1\n2 1\n", nil, 2, 2, "(0,0)=1 (0,1)=1 (1,0)=1"},
	})
	checkRead[int64](t, []readCase{
		{"exact", "not read through float64", banner + "coordinate real general\n1 2 2\n1 1 9007199254740993.0\n1 2 -9223372036854775808\n", nil, 1, 2, "(0,0)=9007199254740993 (0,1)=-9223372036854775808"},
	})
	checkRead[uint64](t, []readCase{
		{"largest", "2⁶⁴−1", banner + "coordinate integer general\n1 2 2\n1 1 18446744073709551615\n1 2 -0\n", nil, 1, 2, "(0,0)=18446744073709551615 (0,1)=0"},
		{"largest real", "2⁶⁴−1 in a real file", banner + "coordinate real general\n1 1 1\n1 1 18446744073709551615.000\n", nil, 1, 1, "(0,0)=18446744073709551615"},
	})
	checkRead[bool](t, []readCase{
		{"pattern", "true", banner + "coordinate pattern general\n1 1 1\n1 1\n", nil, 1, 1, "(0,0)=true"},
		{"values", "0 and 1", banner + "coordinate real general\n1 2 2\n1 1 0\n1 2 1.0\n", nil, 1, 2, "(0,0)=false (0,1)=true"},
		{"pattern only", "any value", banner + "coordinate real general\n1 1 1\n1 1 2.5\n", []ReadOption{PatternOnly()}, 1, 1, "(0,0)=true"},
		{"array", "dense", banner + "array integer general\n1 2\n0\n1\n", nil, 1, 2, "(0,1)=true"},
		{"array pattern only", "any value", banner + "array real general\n1 2\n0\n2.5\n", []ReadOption{PatternOnly()}, 1, 2, "(0,1)=true"},
	})
	checkRead[float32](t, []readCase{
		{"rounding", "rounded once, from the text", banner + "coordinate real general\n1 3 3\n1 1 0.1\n1 2 16777217\n1 3 1.00000017881393432617187499\n", nil, 1, 3, "(0,0)=0.1 (0,1)=1.6777216e+07 (0,2)=1.0000001"},
	})
	type weight float32
	checkRead[weight](t, []readCase{
		{"named type", "any type whose underlying type is a number", banner + "coordinate real general\n1 1 1\n1 1 2.5\n", nil, 1, 1, "(0,0)=2.5"},
	})
}

type errorCase struct {
	name, reason string
	text         string
	opts         []ReadOption
	line         int64
	msg          string
	is           error // in addition to ErrParse
}

func checkReadErrors[T matrix.Element](t *testing.T, cases []errorCase) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadMatrixMarket[T](strings.NewReader(c.text), append(c.opts, FileName("f.mtx"))...)
			var p *ParseError
			if !errors.As(err, &p) || !errors.Is(err, ErrParse) {
				t.Fatalf("got %v, want a *ParseError (%s)", err, c.reason)
			}
			if p.File != "f.mtx" || p.Line != c.line || !strings.Contains(err.Error(), c.msg) {
				t.Errorf("got %v at line %d, want line %d with %q (%s)", err, p.Line, c.line, c.msg, c.reason)
			}
			if c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("%v is not %v (%s)", err, c.is, c.reason)
			}
		})
	}
}

func TestReadMatrixMarketErrors(t *testing.T) {
	const real = banner + "coordinate real general\n"
	checkReadErrors[float64](t, []errorCase{
		{"nothing", "an empty file", "", nil, 1, "empty", nil},
		{"blank", "only blank lines", "\n\n", nil, 3, "empty", nil},
		{"text", "no banner and no counts", "hello world\n", nil, 1, "banner", nil},
		{"mangled banner", "it may have said symmetric", "%MatrixMarket matrix coordinate real symmetric\n1 1 0\n", nil, 1, "not a Matrix Market banner", nil},
		{"short banner", "four words", "%%MatrixMarket matrix coordinate real\n", nil, 1, "not a Matrix Market banner", nil},
		{"vector", "another object", "%%MatrixMarket vector coordinate real general\n", nil, 1, "not a matrix", nil},
		{"layout", "unknown layout", banner + "dense real general\n", nil, 1, "layout", nil},
		{"field", "unknown field", banner + "coordinate quaternion general\n", nil, 1, "field", nil},
		{"symmetry", "unknown symmetry", banner + "coordinate real diagonal\n", nil, 1, "symmetry", nil},
		{"complex", "refused", banner + "array complex general\n", nil, 1, "complex", nil},
		{"hermitian", "refused", banner + "coordinate real hermitian\n", nil, 1, "hermitian", nil},
		{"array pattern", "has no meaning", banner + "array pattern general\n", nil, 1, "a general pattern of layout array has no meaning", nil},
		{"skew pattern", "has no meaning", banner + "coordinate pattern skew-symmetric\n", nil, 1, "has no meaning", nil},
		{"no size", "the file ends in its header", real + "% c\n", nil, 3, "size line", nil},
		{"size words", "two counts for coordinates", real + "3 3\n", nil, 2, "2 numbers", nil},
		{"size text", "no count", real + "3 x 1\n", nil, 2, `"x"`, nil},
		{"size negative", "no count", real + "3 3 -1\n", nil, 2, `"-1"`, nil},
		{"size overflow", "beyond 2⁶³", real + "3 3 9223372036854775808\n", nil, 2, "2⁶³", nil},
		{"dimension", "beyond MaxDim", real + "2147483648 3 1\n", nil, 2, "2147483648", matrix.ErrSize},
		{"not square", "symmetric is square", banner + "coordinate real symmetric\n2 3 1\n", nil, 2, "square", nil},
		{"huge count", "2⁶⁰ entries announced, none present, nothing allocated", real + "3 3 1152921504606846976\n", nil, 3, "after 0 of 1152921504606846976", nil},
		{"huge array", "more positions than any memory holds, rejected at the header", banner + "array real general\n2147483647 2147483647\n", nil, 2, "positions", matrix.ErrSize},
		{"large array", "2³⁸ values announced, one present", banner + "array real general\n524288 524288\n1\n", nil, 4, "after 1 of 274877906944", nil},
		{"too few", "one entry missing", real + "3 3 2\n1 1 1\n", nil, 4, "after 1 of 2", nil},
		{"too many", "one entry too many", real + "3 3 1\n1 1 1\n% c\n\n2 2 2\n", nil, 6, "more entries than the 1", nil},
		{"too many with none", "an entry where the header announces none", real + "3 3 0\n1 1 1\n", nil, 3, "more entries than the 0", nil},
		{"row 0", "counting starts at 1", real + "3 3 1\n0 1 1\n", nil, 3, "Matrix Market counts from 1", matrix.ErrIndex},
		{"column past the end", "one too far", real + "3 3 1\n1 4 1\n", nil, 3, "column 4 is out of range, want 1…3", matrix.ErrIndex},
		{"row overflow", "beyond 64 bits", real + "3 3 1\n99999999999999999999999 1 1\n", nil, 3, "out of range", matrix.ErrIndex},
		{"no rows", "an entry in a 0×3 matrix", real + "0 3 1\n1 1 1\n", nil, 3, "has none", matrix.ErrIndex},
		{"negative row", "a sign is no digit", real + "3 3 1\n-1 1 1\n", nil, 3, `"-1"`, nil},
		{"real row", "an index is an integer", real + "3 3 1\n1.0 1 1\n", nil, 3, `"1.0"`, nil},
		{"text row", "text for an index", real + "3 3 1\nabc 1 1\n", nil, 3, `"abc"`, nil},
		{"missing column", "one field", real + "3 3 1\n1\n", nil, 3, "has no column", nil},
		{"missing value", "two fields", real + "3 3 1\n1 1\n", nil, 3, "has no value", nil},
		{"extra", "four fields", real + "3 3 1\n1 1 1 7\n", nil, 3, `"7" after the value`, nil},
		{"value in pattern", "three fields", banner + "coordinate pattern general\n3 3 1\n1 1 7\n", nil, 3, "after the column", nil},
		{"text value", "no number", real + "3 3 1\n1 1 abc\n", nil, 3, `"abc"`, nil},
		{"half a number", "text after digits", real + "3 3 1\n1 1 1.5x\n", nil, 3, `"1.5x"`, nil},
		{"binary", "Go's syntax is not that of the format", real + "3 3 1\n1 1 0b10\n", nil, 3, `"0b10"`, nil},
		{"no exponent", "e without digits", real + "3 3 1\n1 1 1e\n", nil, 3, `"1e"`, nil},
		{"glued value", "a sign is no blank", real + "3 3 1\n1 1-3\n", nil, 3, "has no value", nil},
		{"vertical tab", "no blank of the format", real + "3 3 1\n1 1 \v\n", nil, 3, "has no value", nil},
		{"nan", "refused by default", real + "3 3 1\n1 1 NaN\n", nil, 3, "AllowNaN", nil},
		{"inf", "refused by default", real + "3 3 1\n1 1 -inf\n", nil, 3, "AllowNaN", nil},
		{"overflow", "beyond float64", real + "3 3 1\n1 1 1e999\n", nil, 3, "does not fit float64", nil},
		{"inexact", "an integer that float64 rounds", banner + "coordinate integer general\n1 1 1\n1 1 9007199254740993\n", nil, 3, "not exact", nil},
		{"real in integer", "the banner is wrong", banner + "coordinate integer general\n1 1 1\n1 1 1.5\n", nil, 3, "should say real", nil},
		{"duplicate", "named by coordinates", real + "3 3 3\n1 1 1\n2 3 1\n2 3 4\n", nil, 0, "row 2, column 3", matrix.ErrDuplicate},
		{"mirrored duplicate", "both triangles of a symmetric file", banner + "coordinate real symmetric\n3 3 2\n1 2 1\n2 1 1\n", nil, 0, "given twice", matrix.ErrDuplicate},
		{"skew diagonal", "zero by definition", banner + "coordinate real skew-symmetric\n3 3 1\n2 2 1\n", nil, 3, "diagonal", nil},
		{"symmetrise skew", "has no meaning", banner + "coordinate real skew-symmetric\n2 2 1\n2 1 1\n", []ReadOption{Symmetrise()}, 0, "symmetrise", nil},
		{"symmetrise rectangle", "not square", real + "2 3 0\n", []ReadOption{Symmetrise()}, 0, "symmetrise", nil},
		{"array few", "a value missing", banner + "array real general\n2 2\n1\n2\n3\n", nil, 6, "after 3 of 4", nil},
		{"array many", "a value too many", banner + "array real general\n2 1\n1\n2\n\n3\n", nil, 6, "more values than the 2", nil},
		{"array text", "no number", banner + "array real general\n2 1\n1\nx\n", nil, 4, `"x"`, nil},
		{"array symmetric many", "the whole square given", banner + "array real symmetric\n2 2\n1\n2\n3\n4\n", nil, 6, "more values than the 3", nil},
	})
	checkReadErrors[int8](t, []errorCase{
		{"range", "128", banner + "coordinate integer general\n1 1 1\n1 1 128\n", nil, 3, "does not fit int8", nil},
		{"fraction", "2.5", real + "1 1 1\n1 1 2.5\n", nil, 3, "not an integer", nil},
		{"fraction below digits", "digits that a float64 drops", real + "1 1 1\n1 1 1.00000000000000000000000000001\n", nil, 3, "not an integer", nil},
		{"nan", "no integer, whatever the options", real + "1 1 1\n1 1 nan\n", []ReadOption{AllowNaN()}, 3, "nan", nil},
		{"huge exponent", "no endless loop", real + "1 1 1\n1 1 1e999999999999\n", nil, 3, "does not fit", nil},
		{"tiny exponent", "no endless loop", real + "1 1 1\n1 1 1e-999999999999\n", nil, 3, "not an integer", nil},
		{"skew minimum", "−(−128) does not fit", banner + "coordinate integer skew-symmetric\n2 2 1\n2 1 -128\n", nil, 3, "opposite", nil},
	})
	checkReadErrors[uint64](t, []errorCase{
		{"negative", "no sign", banner + "coordinate integer general\n1 1 1\n1 1 -1\n", nil, 3, "does not fit uint64", nil},
		{"overflow", "2⁶⁴", banner + "coordinate integer general\n1 1 1\n1 1 18446744073709551616\n", nil, 3, "does not fit uint64", nil},
		{"overflow real", "2⁶⁴ in a real file", real + "1 1 1\n1 1 18446744073709551616.0\n", nil, 3, "does not fit uint64", nil},
		{"skew", "the opposite needs a sign", banner + "coordinate integer skew-symmetric\n2 2 1\n2 1 3\n", nil, 3, "opposite", nil},
		{"array skew with values on the diagonal", "zero by definition", banner + "array real skew-symmetric\n2 2\n0\n0\n1\n", nil, 0, "row 2, column 2 of a skew-symmetric array is 1", nil},
		{"array skew with some of the diagonal", "a count of its own", banner + "array real skew-symmetric\n3 3\n0\n2\n3\n5\n", nil, 0, "4 values, and a skew-symmetric 3×3 array has 3, or 6", nil},
		{"a bad hexadecimal", "digits of neither kind", banner + "coordinate real general\n1 1 1\n1 1 0x1.gp+1\n", nil, 3, "0x1.gp+1", nil},
		{"a hexadecimal out of range", "no float64", banner + "coordinate real general\n1 1 1\n1 1 0x1p+2000\n", nil, 3, "does not fit", nil},
		{"array skew", "the opposite needs a sign", banner + "array integer skew-symmetric\n2 2\n3\n", nil, 0, "opposite", nil},
	})
	checkReadErrors[bool](t, []errorCase{
		{"two", "neither 0 nor 1", banner + "coordinate integer general\n1 1 1\n1 1 2\n", nil, 3, "PatternOnly", nil},
		{"half", "neither 0 nor 1", real + "1 1 1\n1 1 0.5\n", nil, 3, "PatternOnly", nil},
	})
}

// TestReadLineNumbers checks the line of errors in large files, where several goroutines parse
// blocks.
func TestReadLineNumbers(t *testing.T) {
	const n = 400_000 // several blocks
	for _, bad := range []int64{3, 131_072, 250_000, n + 2} {
		var b bytes.Buffer
		fmt.Fprintf(&b, "%scoordinate real general\n%d %d %d\n", banner, n, n, n)
		for i := range int64(n) {
			if i+3 == bad {
				fmt.Fprintf(&b, "%d %d x\n", i+1, i+1)
			} else {
				fmt.Fprintf(&b, "%d %d 0.5\n", i+1, i+1)
			}
		}
		_, err := ReadMatrixMarket[float64](&b, Threads(4))
		var p *ParseError
		if !errors.As(err, &p) || p.Line != bad {
			t.Errorf("got %v, want line %d", err, bad)
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%scoordinate real general\n%d %d %d\n", banner, n, n, n-10)
	for i := range n {
		fmt.Fprintf(&b, "%d %d 0.5\n", i+1, i+1)
	}
	_, err := ReadMatrixMarket[float64](&b, Threads(4))
	var p *ParseError
	if !errors.As(err, &p) || p.Line != n-10+3 {
		t.Errorf("too many entries: got %v, want line %d", err, n-10+3)
	}
}

func gz(t testing.TB, parts ...string) []byte {
	var b bytes.Buffer
	for _, p := range parts {
		z := gzip.NewWriter(&b)
		if _, err := io.WriteString(z, p); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

func TestReadGzip(t *testing.T) {
	data := gz(t, banner+"coordinate real general\n2 2 2\n1 1 ", "5\n2 2 6\n")
	a, err := ReadMatrixMarket[float64](bytes.NewReader(data))
	if err != nil || entriesOf(a) != "(0,0)=5 (1,1)=6" {
		t.Fatalf("two members: %v %v", a, err)
	}
	long := gz(t, string(rmatText(12, "real")))
	for _, cut := range []int{2, 5, 15, len(long) / 2, len(long) - 1} {
		_, err := ReadMatrixMarket[float64](bytes.NewReader(long[:cut]))
		if !errors.Is(err, ErrParse) || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("cut at %d: got %v, want a truncated gzip stream", cut, err)
		}
	}
	for _, at := range []int{len(long) / 2, len(long) - 5} {
		bad := bytes.Clone(long)
		bad[at] ^= 0x55
		if _, err := ReadMatrixMarket[float64](bytes.NewReader(bad)); !errors.Is(err, ErrParse) {
			t.Errorf("byte %d changed: got %v, want a *ParseError", at, err)
		}
	}
}

// failing returns an error after some bytes.
type failing struct {
	r   io.Reader
	err error
}

func (f failing) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if err == io.EOF {
		err = f.err
	}
	return n, err
}

func TestReadStreamError(t *testing.T) {
	broken := errors.New("the disk is on fire")
	for _, text := range []string{"", banner, banner + "coordinate real general\n2 2 1\n", banner + "coordinate real general\n2 2 1\n1 1 1\n"} {
		_, err := ReadMatrixMarket[float64](failing{strings.NewReader(text), broken})
		if !errors.Is(err, broken) {
			t.Errorf("after %q: got %v, want the error of the reader", text, err)
		}
	}
}

func TestReadContextAndProgress(t *testing.T) {
	text := rmatText(15, "pattern")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := ReadMatrixMarket[bool](bytes.NewReader(text), WithContext(ctx)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before: got %v", err)
	}
	ctx, cancel = context.WithCancel(context.Background())
	var last int64
	_, err := ReadMatrixMarket[bool](bytes.NewReader(text), WithContext(ctx), Progress(func(n int64) {
		last = n
		if n > int64(len(text))/2 {
			cancel()
		}
	}), PatternOnly(), Duplicates(matrix.CombineFunc[bool](func(x, _ bool) bool { return x })))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled half way: got %v", err)
	}
	_, err = ReadMatrixMarket[bool](bytes.NewReader(text), Progress(func(n int64) { last = n }),
		Duplicates(matrix.CombineFunc[bool](func(x, _ bool) bool { return x })))
	if err != nil || last != int64(len(text)) {
		t.Errorf("progress ended at %d of %d, error %v", last, len(text), err)
	}
}

func TestReadWrongDuplicates(t *testing.T) {
	op := matrix.CombineFunc[int](func(x, y int) int { return x + y })
	_, err := ReadMatrixMarket[float64](strings.NewReader(banner+"coordinate real general\n1 1 0\n"), Duplicates(op))
	var e *matrix.TypeError
	if !errors.As(err, &e) || !errors.Is(err, matrix.ErrType) {
		t.Errorf("got %v, want a *TypeError", err)
	}
}

func TestReadMatrixMarketInfo(t *testing.T) {
	info, err := ReadMatrixMarketInfo(strings.NewReader(banner + "array real symmetric\n% one\n\n%%two\n4 4\n"))
	if err != nil {
		t.Fatal(err)
	}
	got := info.String()
	if info.Entries != 10 || !info.Banner || strings.Join(info.Comments, "|") != "one|%two" || got != "4×4 array real symmetric, 10 entries listed" {
		t.Errorf("got %s %q", got, info.Comments)
	}
	var with Info
	if _, err := ReadMatrixMarket[float64](strings.NewReader("2 3 0\n"), WithInfo(&with)); err != nil || with.Banner || with.Rows != 2 || with.Cols != 3 {
		t.Errorf("got %+v, %v", with, err)
	}
}

// Readers report how many entries are sorted, writers how many are written.
func TestStages(t *testing.T) {
	t.Parallel()
	var stages map[string][2]int64 // the last report of each
	watch := Stages(func(stage string, done, total int64) {
		if last := stages[stage]; done < last[0] || done > total || total == 0 {
			t.Errorf("%s: %d of %d after %v", stage, done, total, last)
		}
		stages[stage] = [2]int64{done, total}
	})
	text := rmatText(12, "pattern")
	first := matrix.CombineFunc[bool](func(x, _ bool) bool { return x })
	stages = map[string][2]int64{}
	a, err := ReadMatrixMarket[bool](bytes.NewReader(text), watch, Duplicates(first))
	if err != nil {
		t.Fatal(err)
	}
	if s := stages["sort"]; s[0] != s[1] || s[1] < a.NVals() || len(stages) != 1 {
		t.Errorf("reading: %v", stages)
	}
	for format, want := range map[FileFormat]int64{
		FormatTSV: a.NVals(), FormatMatrixMarket: a.NVals(), FormatDIMACS: a.NVals(), FormatBinary: 0, FormatNPZ: 0, FormatNPY: 1 << 24,
	} {
		stages = map[string][2]int64{}
		if err := Write(io.Discard, a, InFormat(format), watch); err != nil {
			t.Fatalf("%v: %v", format, err)
		}
		s := stages["write"]
		if want == 0 { // bytes of headers and checksums are not counted
			want = s[1]
		}
		if len(stages) != 1 || s[1] != want || s[0] < s[1]/2 {
			t.Errorf("writing %v: %v, want %d", format, stages, want)
		}
	}
}
