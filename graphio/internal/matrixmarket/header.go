package matrixmarket

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/graphio/internal/numtext"
	"github.com/hiveblas/hiveblas/internal/chunk"
	"github.com/hiveblas/hiveblas/matrix"
)

// Describe reads the header of a Matrix Market file.
func Describe(i *core.FileInfo, src *chunk.Source, o *core.ReadOptions) error {
	head, err := readHead(src, &o.Common)
	if err == nil {
		i.Rows, i.Cols, i.Entries, i.Field, i.Symmetry = head.Rows, head.Cols, head.Entries, head.Field, head.Symmetry
	}
	return err
}

func fieldKindOf(i *core.Info) numtext.FieldKind {
	if i.Field == "integer" {
		return numtext.FieldInteger
	}
	return numtext.FieldReal
}

// ReadInfo reads the header of a file and no entries.
func ReadInfo(r io.Reader, o *core.ReadOptions) (core.Info, error) {
	if r == nil {
		return core.Info{}, core.NilReader("graphio.ReadMatrixMarketInfo")
	}
	src, _, err := chunk.NewSource(r)
	if err != nil {
		return core.Info{}, o.StreamError(1, err)
	}
	return readHead(src, &o.Common)
}

// readHead reads the banner, the comments and the size line.
func readHead(src *chunk.Source, o *core.Common) (info core.Info, err error) {
	text, line, err := core.Significant(src, o)
	if err == io.EOF {
		return info, o.Fail(line, "the file is empty", "")
	} else if err != nil {
		return info, o.StreamError(line, err)
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) // a byte order mark
	if len(text) == 0 || text[0] != '%' {
		return readBare(src, o, text, line)
	}
	info.Banner = true
	if err := readBanner(&info, string(text), line, o); err != nil {
		return info, err
	}
	size := 0
	for {
		text, line, err = core.Significant(src, o)
		if err == io.EOF {
			return info, o.Fail(line, "the file ends before its size line", "")
		} else if err != nil {
			return info, o.StreamError(line, err)
		}
		if text[0] != '%' {
			break
		}
		if size += len(text); size <= core.MaxComments {
			info.Comments = append(info.Comments, strings.TrimSpace(string(text[1:])))
		}
	}
	return info, readSize(&info, strings.Fields(string(text)), line, o)
}

// readBare reads the size line of a file without a banner.
func readBare(src *chunk.Source, o *core.Common, text []byte, line int64) (core.Info, error) {
	info := core.Info{Layout: "coordinate", Field: "real", Symmetry: "general"}
	f := strings.Fields(string(text[:min(len(text), 256)]))
	sizes := len(f) == 3
	for _, w := range f {
		_, err := strconv.ParseInt(w, 10, 64)
		sizes = sizes && err == nil
	}
	if !sizes {
		return info, o.FailKind(line, "neither a %%MatrixMarket banner nor a line “rows columns entries”",
			core.RemedyFormat)
	}
	if err := readSize(&info, f, line, o); err != nil {
		return info, err
	}
	text, line, err := core.Significant(src, o)
	for err == nil && text[0] == '%' {
		text, line, err = core.Significant(src, o)
	}
	if err == io.EOF {
		return info, nil
	} else if err != nil {
		return info, o.StreamError(line, err)
	}
	if len(bytes.Fields(text)) == 2 {
		info.Field = "pattern"
	}
	src.Unread(text)
	return info, nil
}

// readBanner parses "%%MatrixMarket matrix layout field symmetry".
func readBanner(i *core.Info, text string, line int64, o *core.Common) error {
	f := strings.Fields(strings.ToLower(text))
	const want = "want “%%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric|skew-symmetric”"
	if f[0] != "%%matrixmarket" || len(f) != 5 {
		return o.Fail(line, "the first line is not a Matrix Market banner: "+core.Quote(text), want)
	}
	if f[1] != "matrix" {
		return o.Fail(line, "the banner announces "+core.Quote(f[1])+", not a matrix", "write a vector as a matrix of one column")
	}
	switch i.Layout = f[2]; i.Layout {
	case "coordinate", "array":
	default:
		return o.Fail(line, "unknown layout "+core.Quote(f[2])+" in the banner", want)
	}
	switch i.Field = f[3]; i.Field {
	case "real", "integer", "pattern":
	case "double":
		i.Field = "real"
	case "unsigned-integer":
		i.Field = "integer"
	case "complex":
		return o.Fail(line, "complex matrices are not supported", "split it into its real and imaginary parts")
	default:
		return o.Fail(line, "unknown field "+core.Quote(f[3])+" in the banner", want)
	}
	switch i.Symmetry = f[4]; i.Symmetry {
	case "general", "symmetric", "skew-symmetric":
	case "hermitian":
		return o.Fail(line, "hermitian matrices are complex, which is not supported", "a real one is “symmetric”")
	default:
		return o.Fail(line, "unknown symmetry "+core.Quote(f[4])+" in the banner", want)
	}
	if i.Field == "pattern" && (i.Layout == "array" || i.Skew()) {
		return o.Fail(line, fmt.Sprintf("a %s pattern of layout %s has no meaning", i.Symmetry, i.Layout), "give values, or list the entries as a general or symmetric pattern")
	}
	return nil
}

// readSize parses "rows columns entries", or "rows columns" of an array.
func readSize(i *core.Info, f []string, line int64, o *core.Common) error {
	want, form := 3, "rows columns entries"
	if !i.Coordinate() {
		want, form = 2, "rows columns"
	}
	if len(f) != want {
		return o.Fail(line, fmt.Sprintf("the size line has %d numbers, want “%s”", len(f), form), "")
	}
	var n [3]int64
	for k, w := range f {
		v, err := strconv.ParseInt(w, 10, 64)
		if err != nil || v < 0 {
			return o.Fail(line, "size line: want a count below 2⁶³, got "+core.Quote(w), "")
		}
		if k < 2 && v > matrix.MaxDim {
			e := o.Fail(line, fmt.Sprintf("size line: dimension %d is beyond %d", v, matrix.MaxDim), "")
			e.Err = &matrix.SizeError{Op: "ReadMatrixMarket", Arg: [2]string{"number of rows", "number of columns"}[k], Got: v, Limit: matrix.MaxDim}
			return e
		}
		n[k] = v
	}
	i.Rows, i.Cols, i.Entries = int(n[0]), int(n[1]), n[2]
	if !i.General() && i.Rows != i.Cols {
		return o.Fail(line, fmt.Sprintf("a %s matrix is square, this one is %d×%d", i.Symmetry, i.Rows, i.Cols), "")
	}
	if !i.Coordinate() {
		if err := core.CheckCells("ReadMatrixMarket", i.Rows, i.Cols); err != nil {
			e := o.Fail(line, err.Error(), "")
			e.Err = err
			return e
		}
		m, c := n[0], n[1]
		switch {
		case i.General():
			i.Entries = m * c
		case i.Skew():
			i.Entries = m * (m - 1) / 2
		default:
			i.Entries = m * (m + 1) / 2
		}
	}
	return nil
}
