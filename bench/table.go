package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Row is one case of a [Table]. Figures that do not exist are NaN, or absent from Peers.
type Row struct {
	Case string
	// Ours is our median time in milliseconds, Peers those of the peers by name.
	Ours  float64
	Peers map[string]float64
	// Died names the peers whose process ended during the case.
	Died []string
	// Ratio is our time divided by the best peer's, the median over the rounds: below 1 we are
	// faster. Best is its name.
	Ratio float64
	Best  string
	// Bar is the target: the greatest ratio; 0 means none.
	Bar float64
	// GBs is the bandwidth of the bytes that the case must move at least, in GB/s (10⁹).
	GBs float64
}

// Reached reports whether the ratio is within the bar.
func (r Row) Reached() bool { return r.Ratio <= r.Bar }

// NewRow makes a row of a comparison whose first contender is ours. Bar is the target ratio, or 0;
// bytes is the least number of bytes that the case reads and writes, or 0.
func NewRow(name string, c *Comparison, bar, bytes float64) Row {
	if c == nil {
		c = &Comparison{}
	}
	row := Row{Case: name, Ours: c.Time(0).Median, Peers: map[string]float64{}, Ratio: math.NaN(), Bar: bar, GBs: math.NaN()}
	for i := 1; i < len(c.Names); i++ {
		if c.dead(i) {
			row.Died = append(row.Died, c.Names[i])
			continue
		}
		row.Peers[c.Names[i]] = c.Time(i).Median
	}
	if best := c.Best(); best >= 0 {
		row.Ratio, row.Best = c.Ratio(0, best).Median, c.Names[best]
	}
	if bytes > 0 {
		row.GBs = bytes / row.Ours / 1e6
	}
	return row
}

// Table formats rows. Triad, in GB/s, is the reference of the percentages; 0 omits them.
type Table struct {
	Peers []string // the columns of peer times, in this order
	Triad float64
	Rows  []Row
}

// none replaces a missing figure.
const none = "–"

// cells returns the table as text, the header first.
func (t *Table) cells() [][]string {
	header := []string{"case", "ours ms"}
	for _, p := range t.Peers {
		header = append(header, p+" ms")
	}
	out := [][]string{append(header, "ratio", "bar", "reached", "GB/s", "% triad")}
	for _, r := range t.Rows {
		line := []string{r.Case, figure(r.Ours)}
		for _, p := range t.Peers {
			ms, ok := r.Peers[p]
			if !ok {
				ms = math.NaN()
			}
			cell := figure(ms)
			if !ok && slices.Contains(r.Died, p) {
				cell = "died"
			}
			line = append(line, cell)
		}
		ratio, bar, reached := none, none, none
		if !math.IsNaN(r.Ratio) {
			ratio = fmt.Sprintf("%.2f", r.Ratio)
		}
		if r.Bar > 0 {
			bar, reached = fmt.Sprintf("%.2f", r.Bar), "no"
			if r.Reached() {
				reached = "yes"
			}
		}
		out = append(out, append(line, ratio, bar, reached, figure(r.GBs), figure(t.percent(r))))
	}
	return out
}

// percent is the row's bandwidth in hundredths of the triad's.
func (t *Table) percent(r Row) float64 {
	if t.Triad <= 0 {
		return math.NaN()
	}
	return 100 * r.GBs / t.Triad
}

// figure writes three significant digits, and all digits before the point.
func figure(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return none
	case v == 0:
		return "0"
	}
	digits := 2 - int(math.Floor(math.Log10(math.Abs(v))))
	return fmt.Sprintf("%.*f", max(digits, 0), v)
}

// WriteText writes the table with aligned columns: names to the left, figures to the right.
func (t *Table) WriteText(w io.Writer) error { return writeText(w, orZero(t).cells()) }

// orZero returns t, or a pointer to the zero value if t is nil.
func orZero[T any](t *T) *T {
	if t == nil {
		return new(T)
	}
	return t
}

// errNoWriter is the error of a table or report that is written to nil.
var errNoWriter = errors.New("bench: w is nil; give an io.Writer")

// writeString writes s to w.
func writeString(w io.Writer, s string) error {
	if w == nil {
		return errNoWriter
	}
	_, err := io.WriteString(w, s)
	return err
}

// writeJSON writes v to w with indents.
func writeJSON(w io.Writer, v any) error {
	if w == nil {
		return errNoWriter
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func writeText(w io.Writer, cells [][]string) error {
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
	return writeString(w, b.String())
}

// WriteMarkdown writes the table in Markdown, its source aligned too.
func (t *Table) WriteMarkdown(w io.Writer) error { return writeMarkdown(w, orZero(t).cells()) }

func writeMarkdown(w io.Writer, cells [][]string) error {
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
	return writeString(w, b.String())
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

// jsonRow is a row in JSON: figures that do not exist are null.
type jsonRow struct {
	Case    string              `json:"case"`
	Ours    *float64            `json:"ours_ms"`
	Peers   map[string]*float64 `json:"peers_ms"`
	Best    string              `json:"best_peer,omitempty"`
	Ratio   *float64            `json:"ratio"`
	Bar     *float64            `json:"bar"`
	Reached *bool               `json:"reached"`
	GBs     *float64            `json:"gb_per_s"`
	Percent *float64            `json:"percent_of_triad"`
	Died    []string            `json:"died,omitempty"`
}

// number is v for JSON: nil, which becomes null, for a missing figure.
func number(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// WriteJSON writes the table as one JSON object with full precision.
func (t *Table) WriteJSON(w io.Writer) error {
	t = orZero(t)
	out := struct {
		Triad *float64  `json:"triad_gb_per_s"`
		Rows  []jsonRow `json:"rows"`
	}{Rows: []jsonRow{}}
	if t.Triad > 0 {
		out.Triad = number(t.Triad)
	}
	for _, r := range t.Rows {
		row := jsonRow{Case: r.Case, Ours: number(r.Ours), Peers: map[string]*float64{}, Best: r.Best,
			Ratio: number(r.Ratio), GBs: number(r.GBs), Percent: number(t.percent(r)), Died: r.Died}
		for _, p := range t.Peers {
			row.Peers[p] = nil
			if ms, ok := r.Peers[p]; ok {
				row.Peers[p] = number(ms)
			}
		}
		if r.Bar > 0 {
			reached := r.Reached()
			row.Bar, row.Reached = number(r.Bar), &reached
		}
		out.Rows = append(out.Rows, row)
	}
	return writeJSON(w, out)
}
