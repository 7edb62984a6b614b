package graphio

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/matrix"
)

// Info describes a text file: the header of a Matrix Market file, or the contents
// of an edge list.
type Info struct {
	Rows, Cols int
	Entries    int64    // entries or values listed in the file, before symmetric expansion
	Layout     string   // "coordinate" or "array"; "edges" of an edge list
	Field      string   // "real", "integer" or "pattern"
	Symmetry   string   // "general", "symmetric" or "skew-symmetric"
	Banner     bool     // whether it begins with %%MatrixMarket
	Comments   []string // comment lines of the header, without %, at most 64 KiB
	Terminals  []int    // source and sink of a maximum flow in DIMACS form, from 0, or nil
}

const maxComments = 1 << 16

// String returns the size and kind on one line.
func (i Info) String() string {
	return fmt.Sprintf("%d×%d %s %s %s, %d entries listed", i.Rows, i.Cols, i.Layout, i.Field, i.Symmetry, i.Entries)
}

func (i *Info) coordinate() bool { return i.Layout == "coordinate" }
func (i *Info) skew() bool       { return i.Symmetry == "skew-symmetric" }
func (i *Info) general() bool    { return i.Symmetry == "general" }

func (i *Info) fieldKind() fieldKind {
	if i.Field == "integer" {
		return fieldInteger
	}
	return fieldReal
}

// ReadMatrixMarketInfo reads the header of a Matrix Market file, gzip-compressed
// or not, and no entries.
func ReadMatrixMarketInfo(r io.Reader, opts ...ReadOption) (Info, error) {
	o := readOptionsOf(opts)
	if r == nil {
		return Info{}, nilReader("graphio.ReadMatrixMarketInfo")
	}
	src, _, err := chunk.NewSource(r)
	if err != nil {
		return Info{}, o.streamError(1, err)
	}
	return readHead(src, &o.common)
}

// significant returns the next line that is not blank, comments included.
func significant(src *chunk.Source, o *common) (text []byte, line int64, err error) {
	for {
		if line&1023 == 1023 && o.stopped() != nil {
			return nil, line, o.stopped()
		}
		text, line, err = src.Line()
		if err != nil {
			return nil, line, err
		}
		if text = bytes.TrimSpace(text); len(text) > 0 {
			return text, line, nil
		}
	}
}

// readHead reads the banner, the comments and the size line.
func readHead(src *chunk.Source, o *common) (info Info, err error) {
	text, line, err := significant(src, o)
	if err == io.EOF {
		return info, o.fail(line, "the file is empty", "")
	} else if err != nil {
		return info, o.streamError(line, err)
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) // a byte order mark
	if len(text) == 0 || text[0] != '%' {
		return readBare(src, o, text, line)
	}
	info.Banner = true
	if err := info.banner(string(text), line, o); err != nil {
		return info, err
	}
	size := 0
	for {
		text, line, err = significant(src, o)
		if err == io.EOF {
			return info, o.fail(line, "the file ends before its size line", "")
		} else if err != nil {
			return info, o.streamError(line, err)
		}
		if text[0] != '%' {
			break
		}
		if size += len(text); size <= maxComments {
			info.Comments = append(info.Comments, strings.TrimSpace(string(text[1:])))
		}
	}
	return info, info.size(strings.Fields(string(text)), line, o)
}

// readBare reads the size line of a file without a banner.
func readBare(src *chunk.Source, o *common, text []byte, line int64) (Info, error) {
	info := Info{Layout: "coordinate", Field: "real", Symmetry: "general"}
	f := strings.Fields(string(text[:min(len(text), 256)]))
	sizes := len(f) == 3
	for _, w := range f {
		_, err := strconv.ParseInt(w, 10, 64)
		sizes = sizes && err == nil
	}
	if !sizes {
		return info, o.failKind(line, "neither a %%MatrixMarket banner nor a line “rows columns entries”",
			RemedyFormat)
	}
	if err := info.size(f, line, o); err != nil {
		return info, err
	}
	text, line, err := significant(src, o)
	for err == nil && text[0] == '%' {
		text, line, err = significant(src, o)
	}
	if err == io.EOF {
		return info, nil
	} else if err != nil {
		return info, o.streamError(line, err)
	}
	if len(bytes.Fields(text)) == 2 {
		info.Field = "pattern"
	}
	src.Unread(text)
	return info, nil
}

// banner parses "%%MatrixMarket matrix layout field symmetry".
func (i *Info) banner(text string, line int64, o *common) error {
	f := strings.Fields(strings.ToLower(text))
	const want = "want “%%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric|skew-symmetric”"
	if f[0] != "%%matrixmarket" || len(f) != 5 {
		return o.fail(line, "the first line is not a Matrix Market banner: "+quote(text), want)
	}
	if f[1] != "matrix" {
		return o.fail(line, "the banner announces "+quote(f[1])+", not a matrix", "write a vector as a matrix of one column")
	}
	switch i.Layout = f[2]; i.Layout {
	case "coordinate", "array":
	default:
		return o.fail(line, "unknown layout "+quote(f[2])+" in the banner", want)
	}
	switch i.Field = f[3]; i.Field {
	case "real", "integer", "pattern":
	case "double":
		i.Field = "real"
	case "unsigned-integer":
		i.Field = "integer"
	case "complex":
		return o.fail(line, "complex matrices are not supported", "split it into its real and imaginary parts")
	default:
		return o.fail(line, "unknown field "+quote(f[3])+" in the banner", want)
	}
	switch i.Symmetry = f[4]; i.Symmetry {
	case "general", "symmetric", "skew-symmetric":
	case "hermitian":
		return o.fail(line, "hermitian matrices are complex, which is not supported", "a real one is “symmetric”")
	default:
		return o.fail(line, "unknown symmetry "+quote(f[4])+" in the banner", want)
	}
	if i.Field == "pattern" && (i.Layout == "array" || i.skew()) {
		return o.fail(line, fmt.Sprintf("a %s pattern of layout %s has no meaning", i.Symmetry, i.Layout), "give values, or list the entries as a general or symmetric pattern")
	}
	return nil
}

// size parses "rows columns entries", or "rows columns" of an array.
func (i *Info) size(f []string, line int64, o *common) error {
	want, form := 3, "rows columns entries"
	if !i.coordinate() {
		want, form = 2, "rows columns"
	}
	if len(f) != want {
		return o.fail(line, fmt.Sprintf("the size line has %d numbers, want “%s”", len(f), form), "")
	}
	var n [3]int64
	for k, w := range f {
		v, err := strconv.ParseInt(w, 10, 64)
		if err != nil || v < 0 {
			return o.fail(line, "size line: want a count below 2⁶³, got "+quote(w), "")
		}
		if k < 2 && v > matrix.MaxDim {
			e := o.fail(line, fmt.Sprintf("size line: dimension %d is beyond %d", v, matrix.MaxDim), "")
			e.Err = &matrix.SizeError{Op: "ReadMatrixMarket", Arg: [2]string{"number of rows", "number of columns"}[k], Got: v, Limit: matrix.MaxDim}
			return e
		}
		n[k] = v
	}
	i.Rows, i.Cols, i.Entries = int(n[0]), int(n[1]), n[2]
	if !i.general() && i.Rows != i.Cols {
		return o.fail(line, fmt.Sprintf("a %s matrix is square, this one is %d×%d", i.Symmetry, i.Rows, i.Cols), "")
	}
	if !i.coordinate() {
		if err := checkCells("ReadMatrixMarket", i.Rows, i.Cols); err != nil {
			e := o.fail(line, err.Error(), "")
			e.Err = err
			return e
		}
		m, c := n[0], n[1]
		switch {
		case i.general():
			i.Entries = m * c
		case i.skew():
			i.Entries = m * (m - 1) / 2
		default:
			i.Entries = m * (m + 1) / 2
		}
	}
	return nil
}

// quote returns text in quotation marks, cut to 60 bytes for a message.
func quote[S string | []byte](text S) string {
	s := string(text)
	if len(s) > 60 {
		s = s[:60] + "…"
	}
	return strconv.Quote(s)
}
