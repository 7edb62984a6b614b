package graphio

import (
	"bytes"
	"io"
	"strings"

	"github.com/hiveblas/hiveblas/internal/rep"
	"github.com/hiveblas/hiveblas/matrix"
)

// WriteEdgeList writes the entries of a by rows, “row<TAB>column<TAB>value” a
// line, with 0-based indices or the names of [WithLabels], which are quoted by
// the rules of encoding/csv where they need it. [Delimiter] writes another
// character for the tab, and so does [InFormat] of FormatCSV. Values are written
// as by [WriteMatrixMarket] (see also [AsReal]); with [AsPattern], and for a bool
// matrix whose entries are all true, they are left out. [ReadEdgeList] with
// [Dims], or with labels [RenumberIDs], reads the same matrix back.
func WriteEdgeList[T matrix.Element](w io.Writer, a *matrix.Matrix[T], opts ...WriteOption) error {
	return writeEdgeList(w, a.Inside().Matrix, writeOptionsOf(opts))
}

func writeEdgeList(w io.Writer, a rep.Matrix, o *writeOptions) error {
	st, err := rowsOf(a)
	if err != nil {
		return err
	}
	if err := o.checkList("graphio.WriteEdgeList", w, st.NRows, st.NCols); err != nil {
		return err
	}
	out := &reportingWriter{w: w, o: &o.common}
	if err := writeHash(out, o.comment); err != nil {
		return err
	}
	e := elementOf(st.Type)
	return writeRows(out, st, o, edges(e, o, !o.pattern && !(e.isBool() && e.allOnes(st.Val))))
}

// checkList verifies the options of a list of an m×n matrix, or of a vector of
// size m.
func (o *writeOptions) checkList(op string, w io.Writer, m, n int) error {
	if w == nil {
		return nilWriter(op)
	}
	if o.delimiter != 0 {
		if msg := checkDelimiter(o.delimiter); msg != "" {
			return &OptionError{Op: op, Option: "Delimiter", Reason: msg}
		}
	}
	if err := o.labels.check(op, m); err != nil {
		return err
	}
	return o.cols.check(op, n)
}

// delim is the byte between fields.
func (o *writeOptions) delim() byte {
	switch {
	case o.delimiter != 0:
		return byte(o.delimiter)
	case o.format == FormatCSV:
		return ','
	}
	return '\t'
}

// listValues returns the function that appends the text of a value of a list.
func listValues(e element, o *writeOptions) func(buf []byte, v uint64) []byte {
	text := e.appender()
	if !o.real || !e.isFloat() {
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
	writeComment(&b, "#", comment)
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteVectorTSV writes the entries of v, “index<TAB>value” a line, with
// 0-based indices or the names of [WithLabels]; see [WriteEdgeList].
func WriteVectorTSV[T matrix.Element](w io.Writer, v *matrix.Vector[T], opts ...WriteOption) error {
	return writeVectorTSV(w, v.Inside().Matrix, writeOptionsOf(opts))
}

func writeVectorTSV(w io.Writer, v rep.Matrix, o *writeOptions) error {
	st, err := rowsOf(v)
	if err != nil {
		return err
	}
	if err := o.checkList("graphio.WriteVectorTSV", w, st.NCols, 0); err != nil {
		return err
	}
	e := elementOf(st.Type)
	out := &reportingWriter{w: w, o: &o.common}
	if err := writeHash(out, o.comment); err != nil {
		return err
	}
	text, delim := listValues(e, o), o.delim()
	name := o.labels.appender(delim, true)
	pieces := int((st.NVals + pieceEntries - 1) / pieceEntries)
	return o.writePieces(out, pieces, st.NVals, func(piece int, buf []byte) []byte {
		lo := piece * pieceEntries
		hi := min(lo+pieceEntries, len(st.Idx))
		for p := lo; p < hi; p++ {
			buf = append(name(buf, int(st.Idx[p])), delim)
			buf = append(text(buf, e.at(st.Val, int64(p))), '\n')
		}
		return buf
	})
}
