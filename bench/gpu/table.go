package gpu

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/hiveblas/hiveblas/bench"
	"github.com/hiveblas/hiveblas/bench/internal/tables"
)

// Bar is the target of a case: the greatest ratio of our time to the peer's, or the longest time
// of ours in milliseconds. Zero means no target.
type Bar struct {
	Ratio, Ms float64
}

// Row is one case of a [Table]. Figures that do not exist are NaN.
type Row struct {
	Case string
	// Method is the method of the library, from the trace of the operation.
	Method string
	// Ours holds the quartiles of our time in milliseconds, of Rounds rounds.
	Ours   bench.Quartiles
	Rounds int
	// Peer is the best other contender, PeerMs its median; All holds the medians of all.
	Peer   string
	PeerMs float64
	All    map[string]float64
	// Ratio is our time divided by the peer's, the median over the rounds: below 1 we are faster.
	Ratio float64
	Bar   Bar
	// Bytes is the least number of bytes that the case reads and writes; 0 if unknown.
	Bytes float64
	// Wrong says how the result is wrong; "" means correct.
	Wrong string
	// Failed says why the case could not be measured.
	Failed string
	// Notes are further remarks, a sentence each.
	Notes []string
}

// newGPURow is a row without figures.
func newGPURow(name string, bar Bar) Row {
	none := math.NaN()
	return Row{Case: name, Bar: bar, Ours: bench.Quartiles{Lower: none, Median: none, Upper: none}, PeerMs: none, Ratio: none, All: map[string]float64{}}
}

// fill takes the figures of a comparison with ours as the first contender.
func (r *Row) fill(c *bench.Comparison) {
	r.Ours, r.Rounds = c.Time(0), len(c.Ms[0])
	for i := 1; i < len(c.Names); i++ {
		r.All[c.Names[i]] = c.Time(i).Median
	}
	if best := c.Best(); best >= 0 {
		r.Peer, r.PeerMs, r.Ratio = c.Names[best], c.Time(best).Median, c.Ratio(0, best).Median
	}
}

// Reached reports whether the bar was reached; false without a bar or without a peer to compare
// with.
func (r Row) Reached() bool {
	if r.Wrong != "" || r.Failed != "" || r.Bar == (Bar{}) {
		return false
	}
	return (r.Bar.Ratio == 0 || r.Ratio <= r.Bar.Ratio) && (r.Bar.Ms == 0 || r.Ours.Median <= r.Bar.Ms)
}

// verdict is the cell that says whether the bar was reached.
func (r Row) verdict() string {
	switch {
	case r.Failed != "":
		return "failed"
	case r.Wrong != "":
		return "WRONG"
	case r.Bar == (Bar{}), r.Bar.Ratio > 0 && math.IsNaN(r.Ratio):
		return tables.None
	case r.Reached():
		return "yes"
	}
	return "no"
}

func (b Bar) String() string {
	var parts []string
	if b.Ratio > 0 {
		parts = append(parts, fmt.Sprintf("%.2f", b.Ratio))
	}
	if b.Ms > 0 {
		parts = append(parts, tables.Figure(b.Ms)+" ms")
	}
	if parts == nil {
		return tables.None
	}
	return strings.Join(parts, ", ")
}

// gbs is the bandwidth of the bytes that the case must move, in GB/s (10⁹).
func (r Row) gbs() float64 {
	if r.Bytes <= 0 {
		return math.NaN()
	}
	return r.Bytes / r.Ours.Median / 1e6
}

// Table is the result of [Run].
type Table struct {
	Device   string
	Cuda     string // the version of CUDA that the driver supports
	Cusparse string // the version of cuSPARSE, or why there is none
	// Copy is the bandwidth of a copy within the device, read and written, in GB/s. Percentages
	// refer to it.
	Copy float64
	// Shrunk is the number of powers of two by which the inputs are smaller than the names of the
	// cases say. Bars do not apply to smaller inputs.
	Shrunk int
	Rows   []Row
}

func (t *Table) percent(r Row) float64 {
	if t.Copy <= 0 {
		return math.NaN()
	}
	return 100 * r.gbs() / t.Copy
}

// cells returns the table as text, the header first.
func (t *Table) cells() [][]string {
	out := [][]string{{"case", "method", "ours ms", "peer", "peer ms", "ratio", "bar", "reached", "MB", "% copy"}}
	for _, r := range t.Rows {
		method, peer, ratio, bytes := r.Method, r.Peer, tables.None, math.NaN()
		if method == "" {
			method = tables.None
		}
		if peer == "" {
			peer = tables.None
		}
		if !math.IsNaN(r.Ratio) {
			ratio = fmt.Sprintf("%.2f", r.Ratio)
		}
		if r.Bytes > 0 {
			bytes = r.Bytes / 1e6
		}
		out = append(out, []string{r.Case, method, tables.Figure(r.Ours.Median), peer, tables.Figure(r.PeerMs), ratio, r.Bar.String(), r.verdict(),
			tables.Figure(bytes), tables.Figure(t.percent(r))})
	}
	return out
}

// heading is the lines above the table.
func (t *Table) heading() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s, CUDA %s, cuSPARSE: %s; a copy on the device moves %s GB/s\n", t.Device, t.Cuda, t.Cusparse, tables.Figure(t.Copy))
	if t.Shrunk > 0 {
		fmt.Fprintf(&b, "Inputs have 1/%d of the size that their names say; nothing was promised of these.\n", 1<<t.Shrunk)
	}
	return b.String() + "\n"
}

// notes returns the lines below the table.
func (t *Table) notes() []string {
	var out []string
	for _, r := range t.Rows {
		for _, s := range append([]string{r.Failed, r.Wrong}, r.Notes...) {
			if s != "" {
				out = append(out, r.Case+": "+strings.Join(strings.Fields(s), " "))
			}
		}
	}
	return out
}

// WriteText writes the table with aligned columns, and the notes below it.
func (t *Table) WriteText(w io.Writer) error {
	t = tables.OrZero(t)
	var b strings.Builder
	b.WriteString(t.heading())
	_ = tables.WriteText(&b, t.cells()) // writes to a strings.Builder do not fail
	for k, s := range t.notes() {
		if k == 0 {
			b.WriteByte('\n')
		}
		b.WriteString(s + "\n")
	}
	return tables.WriteString(w, b.String())
}

// jsonGPURow is a row in JSON: figures that do not exist are null.
type jsonGPURow struct {
	Case     string              `json:"case"`
	Method   string              `json:"method,omitempty"`
	Ours     *float64            `json:"ours_ms"`
	Lower    *float64            `json:"ours_lower_ms"`
	Upper    *float64            `json:"ours_upper_ms"`
	Rounds   int                 `json:"rounds"`
	Peer     string              `json:"peer,omitempty"`
	Peers    map[string]*float64 `json:"peers_ms"`
	Ratio    *float64            `json:"ratio"`
	BarRatio *float64            `json:"bar_ratio"`
	BarMs    *float64            `json:"bar_ms"`
	Reached  *bool               `json:"reached"`
	Bytes    *float64            `json:"bytes"`
	GBs      *float64            `json:"gb_per_s"`
	Percent  *float64            `json:"percent_of_copy"`
	Wrong    string              `json:"wrong,omitempty"`
	Failed   string              `json:"failed,omitempty"`
	Notes    []string            `json:"notes,omitempty"`
}

// WriteJSON writes the table as one JSON object with full precision.
func (t *Table) WriteJSON(w io.Writer) error {
	t = tables.OrZero(t)
	positive := func(v float64) *float64 {
		if v <= 0 {
			return nil
		}
		return tables.Number(v)
	}
	out := struct {
		Device   string       `json:"device"`
		Cuda     string       `json:"cuda"`
		Cusparse string       `json:"cusparse"`
		Copy     *float64     `json:"copy_gb_per_s"`
		Shrunk   int          `json:"shrunk,omitempty"`
		Rows     []jsonGPURow `json:"rows"`
	}{t.Device, t.Cuda, t.Cusparse, positive(t.Copy), t.Shrunk, []jsonGPURow{}}
	for _, r := range t.Rows {
		row := jsonGPURow{Case: r.Case, Method: r.Method, Ours: tables.Number(r.Ours.Median), Lower: tables.Number(r.Ours.Lower), Upper: tables.Number(r.Ours.Upper),
			Rounds: r.Rounds, Peer: r.Peer, Peers: map[string]*float64{}, Ratio: tables.Number(r.Ratio), BarRatio: positive(r.Bar.Ratio), BarMs: positive(r.Bar.Ms),
			Bytes: positive(r.Bytes), GBs: tables.Number(r.gbs()), Percent: tables.Number(t.percent(r)), Wrong: r.Wrong, Failed: r.Failed, Notes: r.Notes}
		for name, ms := range r.All {
			row.Peers[name] = tables.Number(ms)
		}
		if v := r.verdict(); v != tables.None {
			reached := v == "yes"
			row.Reached = &reached
		}
		out.Rows = append(out.Rows, row)
	}
	return tables.WriteJSON(w, out)
}
