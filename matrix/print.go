package matrix

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hiveblas/hiveblas/internal/sparse"
)

// The limits of Text.
const (
	printRows    = 10
	printEntries = 8
	printWidth   = 32 // runes per value
)

// String returns the shape, format, type and number of entries on one line, such as “3×4 csr matrix
// of float64, 3 entries”. %v and %s print it. See [Matrix.Text] for the entries.
func (a *Matrix[T]) String() string { return coreOf(a).text(false) }

// text describes a matrix or a vector on one line.
func (a *core) text(vector bool) string {
	st := a.Stored()
	if vector {
		st = a.stored1()
	}
	switch {
	case a.err != nil && vector:
		return "invalid vector: " + a.err.Error()
	case a.err != nil:
		return "invalid matrix: " + a.err.Error()
	case !vector:
		return fmt.Sprintf("%d×%d %v matrix of %s, %s", st.NRows, st.NCols, st.Format, st.Type, entriesWord(st.NVals))
	}
	format := "sparse"
	if !st.Sparse() {
		format = st.Format.String()
	}
	return fmt.Sprintf("%s vector of %d %s, %s", format, st.NCols, st.Type, entriesWord(st.NVals))
}

// longText is text with the first entries.
func (a *core) longText(vector bool) string {
	line := a.text(vector)
	if a.err != nil {
		return line
	}
	if vector {
		return line + preview(a.stored1(), true)
	}
	return line + preview(a.Stored(), false)
}

// Text returns the line of String, followed by at most 8 entries of each of the first 10 rows. It
// prints column:value for the sparse formats. For bitmap and full it prints the values in their
// columns, with a dot for an absent entry. %#v prints it.
func (a *Matrix[T]) Text() string { return coreOf(a).longText(false) }

// GoString returns Text, for %#v.
func (a *Matrix[T]) GoString() string { return a.Text() }

// String returns the format, size, type and number of entries on one line, such as “sparse vector
// of 4 float64, 2 entries”. %v and %s print it.
func (v *Vector[T]) String() string { return readCore(v).text(true) }

// Text returns the line of String, followed by the first entries; see [Matrix.Text].
func (v *Vector[T]) Text() string { return readCore(v).longText(true) }

// GoString returns Text, for %#v.
func (v *Vector[T]) GoString() string { return v.Text() }

// String describes the view on one line, such as “4×3 transposed view of
// float64, 3 entries”.
func (v *View[T]) String() string { return viewText(v.Inside()) }

func entriesWord(n int64) string {
	if n == 1 {
		return "1 entry"
	}
	return strconv.FormatInt(n, 10) + " entries"
}

// printed is one line of Text: a row and its cells.
type printed struct {
	row   string
	cells []string
	more  bool
}

// preview formats the first rows of st, each line after a newline.
func preview(st *sparse.Store, vector bool) string {
	var lines []printed
	hidden := 0
	if st.Sparse() {
		for k := range st.Vecs() {
			lo, hi := st.Ptr[k], st.Ptr[k+1]
			if lo == hi {
				continue
			}
			if len(lines) == printRows {
				hidden++ // counting the other rows costs little compared with building the matrix
				continue
			}
			l := printed{row: strconv.Itoa(st.RowID(k)), more: hi-lo > printEntries}
			for p := lo; p < min(hi, lo+printEntries); p++ {
				l.cells = append(l.cells, fmt.Sprintf("%d:%s", st.Idx[p], valueText(st, p)))
			}
			lines = append(lines, l)
		}
	} else {
		for i := range min(st.NRows, printRows) {
			l := printed{row: strconv.Itoa(i), more: st.NCols > printEntries}
			for j := range min(st.NCols, printEntries) {
				at := int64(i)*int64(st.NCols) + int64(j)
				cell := "."
				if st.Format == sparse.Full || st.Present[at] != 0 {
					cell = valueText(st, at)
				}
				l.cells = append(l.cells, cell)
			}
			lines = append(lines, l)
		}
		hidden = max(0, st.NRows-printRows)
	}
	return layout(lines, hidden, vector, st.Sparse())
}

// layout aligns the cells of lines, to the left for column:value and to the right for plain values.
func layout(lines []printed, hidden int, vector, left bool) string {
	var rowWidth int
	var widths [printEntries]int
	for _, l := range lines {
		rowWidth = max(rowWidth, utf8.RuneCountInString(l.row))
		for k, c := range l.cells {
			widths[k] = max(widths[k], utf8.RuneCountInString(c))
		}
	}
	var b strings.Builder
	for _, l := range lines {
		if len(l.cells) == 0 {
			continue
		}
		line := "\n "
		if !vector {
			line += fmt.Sprintf(" %*s │", rowWidth, l.row)
		}
		for k, c := range l.cells {
			pad := strings.Repeat(" ", widths[k]-utf8.RuneCountInString(c))
			if left {
				line += " " + c + pad
			} else {
				line += " " + pad + c
			}
		}
		if l.more {
			line += " …"
		}
		b.WriteString(strings.TrimRight(line, " "))
	}
	switch {
	case hidden == 1:
		b.WriteString("\n  … 1 more row")
	case hidden > 1:
		fmt.Fprintf(&b, "\n  … %d more rows", hidden)
	}
	return b.String()
}

// valueText formats the value at a place with %v, on one line and truncated to printWidth.
func valueText(st *sparse.Store, at int64) string {
	s := strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' || r == '\t' {
			return ' '
		}
		return r
	}, fmt.Sprint(reflect.NewAt(sparse.GoType(st.Type), st.ValueAt(at).Pointer()).Elem().Interface()))
	if utf8.RuneCountInString(s) > printWidth {
		s = string([]rune(s)[:printWidth-1]) + "…"
	}
	return s
}
