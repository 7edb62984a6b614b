package edgelist

import (
	"bytes"
	"io"
	"strings"

	"github.com/hiveblas/hiveblas/graphio/internal/core"
	"github.com/hiveblas/hiveblas/graphio/internal/textout"
	"github.com/hiveblas/hiveblas/internal/rep"
)

// Write writes a matrix as a list; see graphio.WriteEdgeList.
func Write(w io.Writer, a rep.Matrix, o *core.WriteOptions) error {
	st, err := core.RowsOf(a)
	if err != nil {
		return err
	}
	if err := checkList(o, "graphio.WriteEdgeList", w, st.NRows, st.NCols); err != nil {
		return err
	}
	out := &core.ReportingWriter{W: w, O: &o.Common}
	if err := writeHash(out, o.Comment); err != nil {
		return err
	}
	e := core.ElementOf(st.Type)
	return textout.WriteRows(out, st, o, edges(e, o, !o.Pattern && !(e.IsBool() && e.AllOnes(st.Val))))
}

// checkList verifies the options of a list of an m×n matrix, or of a vector of
// size m.
func checkList(o *core.WriteOptions, op string, w io.Writer, m, n int) error {
	if w == nil {
		return core.NilWriter(op)
	}
	if o.Delimiter != 0 {
		if msg := checkDelimiter(o.Delimiter); msg != "" {
			return &core.OptionError{Op: op, Option: "Delimiter", Reason: msg}
		}
	}
	if err := o.Labels.Check(op, m); err != nil {
		return err
	}
	return o.Cols.Check(op, n)
}

// delimOf is the byte between fields.
func delimOf(o *core.WriteOptions) byte {
	switch {
	case o.Delimiter != 0:
		return byte(o.Delimiter)
	case o.Separator != 0:
		return o.Separator
	}
	return '\t'
}

// listValues returns the function that appends the text of a value of a list.
func listValues(e core.Element, o *core.WriteOptions) func(buf []byte, v uint64) []byte {
	text := e.Appender()
	if !o.Real || !e.IsFloat() {
		return text
	}
	return func(buf []byte, v uint64) []byte {
		start := len(buf)
		buf = text(buf, v)
		if bytes.ContainsAny(buf[start:], ".en") { // n: inf and nan
			return buf
		}
		return append(buf, ".0"...)
	}
}

func writeHash(w io.Writer, comment string) error {
	if comment == "" {
		return nil
	}
	var b strings.Builder
	textout.WriteComment(&b, "#", comment)
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteVector writes lines of index and value; see graphio.WriteVectorTSV.
func WriteVector(w io.Writer, v rep.Matrix, o *core.WriteOptions) error {
	st, err := core.RowsOf(v)
	if err != nil {
		return err
	}
	if err := checkList(o, "graphio.WriteVectorTSV", w, st.NCols, 0); err != nil {
		return err
	}
	e := core.ElementOf(st.Type)
	out := &core.ReportingWriter{W: w, O: &o.Common}
	if err := writeHash(out, o.Comment); err != nil {
		return err
	}
	text, delim := listValues(e, o), delimOf(o)
	name := o.Labels.Appender(delim, true)
	pieces := int((st.NVals + textout.PieceEntries - 1) / textout.PieceEntries)
	return o.WritePieces(out, pieces, st.NVals, func(piece int, buf []byte) []byte {
		lo := piece * textout.PieceEntries
		hi := min(lo+textout.PieceEntries, len(st.Idx))
		for p := lo; p < hi; p++ {
			buf = append(name(buf, int(st.Idx[p])), delim)
			buf = append(text(buf, e.At(st.Val, int64(p))), '\n')
		}
		return buf
	})
}

// edges formats an entry for an edge list.
func edges(e core.Element, o *core.WriteOptions, values bool) func(buf []byte, i int, j int32, v uint64) []byte {
	text, delim := listValues(e, o), delimOf(o)
	row, col := o.Labels.Appender(delim, true), o.Cols.Appender(delim, false)
	return func(buf []byte, i int, j int32, v uint64) []byte {
		buf = append(row(buf, i), delim)
		buf = col(buf, int(j))
		if values {
			buf = text(append(buf, delim), v)
		}
		return append(buf, '\n')
	}
}
