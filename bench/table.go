package bench

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/hiveblas/hiveblas/bench/internal/tables"
)

// FoldVariants leaves the best variant of each peer in its column. A peer died if no variant lives.
func FoldVariants(r *Row) {
	if r == nil {
		return
	}
	for k, name := range r.Died {
		r.Died[k], _, _ = strings.Cut(name, "|")
	}
	slices.Sort(r.Died)
	r.Died = slices.Compact(r.Died)
	for name, ms := range r.Peers {
		if base, _, ok := strings.Cut(name, "|"); ok {
			if best, have := r.Peers[base]; !have || ms < best {
				r.Peers[base] = ms
			}
			delete(r.Peers, name)
		}
	}
	r.Died = slices.DeleteFunc(r.Died, func(name string) bool {
		_, lives := r.Peers[name]
		return lives
	})
}

// Row is one case of a [Table]. Figures that do not exist are NaN, or absent from Peers.
type Row struct {
	Case string
	// Ours is our median time in milliseconds, Peers the median times of the peers by name.
	Ours  float64
	Peers map[string]float64
	// Died names the peers that ended during the case.
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

// NewRow makes a row of a comparison with ours as the first contender. Bar is the target ratio, or
// 0; bytes is the least number of bytes that the case reads and writes, or 0.
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

// cells returns the table as text, the header first.
func (t *Table) cells() [][]string {
	header := []string{"case", "ours ms"}
	for _, p := range t.Peers {
		header = append(header, p+" ms")
	}
	out := [][]string{append(header, "ratio", "bar", "reached", "GB/s", "% triad")}
	for _, r := range t.Rows {
		line := []string{r.Case, tables.Figure(r.Ours)}
		for _, p := range t.Peers {
			ms, ok := r.Peers[p]
			if !ok {
				ms = math.NaN()
			}
			cell := tables.Figure(ms)
			if !ok && slices.Contains(r.Died, p) {
				cell = "died"
			}
			line = append(line, cell)
		}
		ratio, bar, reached := tables.None, tables.None, tables.None
		if !math.IsNaN(r.Ratio) {
			ratio = fmt.Sprintf("%.2f", r.Ratio)
		}
		if r.Bar > 0 {
			bar, reached = fmt.Sprintf("%.2f", r.Bar), "no"
			if r.Reached() {
				reached = "yes"
			}
		}
		out = append(out, append(line, ratio, bar, reached, tables.Figure(r.GBs), tables.Figure(t.percent(r))))
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

// WriteText writes the table with aligned columns: names to the left, figures to the right.
func (t *Table) WriteText(w io.Writer) error { return tables.WriteText(w, tables.OrZero(t).cells()) }

// WriteMarkdown writes the table in Markdown, its source aligned too.
func (t *Table) WriteMarkdown(w io.Writer) error {
	return tables.WriteMarkdown(w, tables.OrZero(t).cells())
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

// WriteJSON writes the table as one JSON object with full precision.
func (t *Table) WriteJSON(w io.Writer) error {
	t = tables.OrZero(t)
	out := struct {
		Triad *float64  `json:"triad_gb_per_s"`
		Rows  []jsonRow `json:"rows"`
	}{Rows: []jsonRow{}}
	if t.Triad > 0 {
		out.Triad = tables.Number(t.Triad)
	}
	for _, r := range t.Rows {
		row := jsonRow{Case: r.Case, Ours: tables.Number(r.Ours), Peers: map[string]*float64{}, Best: r.Best,
			Ratio: tables.Number(r.Ratio), GBs: tables.Number(r.GBs), Percent: tables.Number(t.percent(r)), Died: r.Died}
		for _, p := range t.Peers {
			row.Peers[p] = nil
			if ms, ok := r.Peers[p]; ok {
				row.Peers[p] = tables.Number(ms)
			}
		}
		if r.Bar > 0 {
			reached := r.Reached()
			row.Bar, row.Reached = tables.Number(r.Bar), &reached
		}
		out.Rows = append(out.Rows, row)
	}
	return tables.WriteJSON(w, out)
}
