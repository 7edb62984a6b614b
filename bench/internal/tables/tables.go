package tables

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

func Ms(d time.Duration) float64 { return d.Seconds() * 1e3 }

// None replaces a missing figure.
const None = "–"

// Figure writes three significant digits, and all digits before the point.
func Figure(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return None
	case v == 0:
		return "0"
	}
	digits := 2 - int(math.Floor(math.Log10(math.Abs(v))))
	return fmt.Sprintf("%.*f", max(digits, 0), v)
}

// OrZero returns t, or a pointer to the zero value if t is nil.
func OrZero[T any](t *T) *T {
	if t == nil {
		return new(T)
	}
	return t
}

// ErrNoWriter is the error of a table or report that is written to nil.
var ErrNoWriter = errors.New("bench: w is nil; give an io.Writer")

// WriteString writes s to w.
func WriteString(w io.Writer, s string) error {
	if w == nil {
		return ErrNoWriter
	}
	_, err := io.WriteString(w, s)
	return err
}

// WriteJSON writes v to w with indents.
func WriteJSON(w io.Writer, v any) error {
	if w == nil {
		return ErrNoWriter
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func WriteText(w io.Writer, cells [][]string) error {
	width := widths(cells)
	var b strings.Builder
	for _, line := range cells {
		for c, cell := range line {
			gap := strings.Repeat(" ", width[c]-utf8.RuneCountInString(cell))
			switch {
			case c == 0:
				b.WriteString(cell + gap)
			default:
				b.WriteString("  " + gap + cell)
			}
		}
		b.WriteByte('\n')
	}
	return WriteString(w, b.String())
}

func WriteMarkdown(w io.Writer, cells [][]string) error {
	for _, line := range cells {
		for c := range line {
			line[c] = strings.ReplaceAll(line[c], "|", `\|`)
		}
	}
	width := widths(cells)
	var b strings.Builder
	for l, line := range cells {
		for c, cell := range line {
			gap := strings.Repeat(" ", width[c]-utf8.RuneCountInString(cell))
			if c == 0 {
				b.WriteString("| " + cell + gap + " |")
			} else {
				b.WriteString(" " + gap + cell + " |")
			}
		}
		b.WriteByte('\n')
		if l == 0 {
			for c := range line {
				if c == 0 {
					b.WriteString("|:" + strings.Repeat("-", width[c]+1) + "|")
				} else {
					b.WriteString(strings.Repeat("-", width[c]+1) + ":|")
				}
			}
			b.WriteByte('\n')
		}
	}
	return WriteString(w, b.String())
}

func widths(cells [][]string) []int {
	width := make([]int, len(cells[0]))
	for _, line := range cells {
		for c, cell := range line {
			width[c] = max(width[c], utf8.RuneCountInString(cell))
		}
	}
	return width
}

// Number is v for JSON: nil, which becomes null, for a missing figure.
func Number(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
