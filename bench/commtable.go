package bench

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// WriteJSON writes the table.
func (t *CommTable) WriteJSON(w io.Writer) error { return writeJSON(w, orZero(t)) }

// WriteText writes the table: a line for each kind of access with a column for each memory, the
// latencies, the copies, the collectives.
func (t *CommTable) WriteText(w io.Writer) error {
	if w == nil {
		return errNoWriter
	}
	t = orZero(t)
	var b strings.Builder
	for _, fact := range t.Machine {
		fmt.Fprintln(&b, fact)
	}
	t.block(&b, "\nGB/s of payload", func(r CommRow) bool { return r.Pattern == "regular" || r.Pattern == "random" }, func(r CommRow) string {
		return fmt.Sprintf("%.4g", r.GBs) + barText(r)
	})
	t.block(&b, "\n10⁹ random accesses a second", func(r CommRow) bool { return r.Pattern == "random" && r.Op != "write" && r.Grain <= 32 }, func(r CommRow) string {
		return fmt.Sprintf("%.3g", r.Gops)
	})
	t.block(&b, "\nµs of a dependent access", func(r CommRow) bool { return r.Pattern == "chase" }, func(r CommRow) string {
		return fmt.Sprintf("%.3f", r.Micros)
	})
	t.block(&b, "\nCopies by engines: GB/s, µs", func(r CommRow) bool { return r.Pattern == "copy" }, func(r CommRow) string {
		return fmt.Sprintf("%.4g, %.3g", r.GBs, r.Micros) + barText(r)
	})
	if len(t.Fits) > 0 {
		fmt.Fprintln(&b, "\nCollectives: T = α + B/N, B bytes that a rank receives")
		tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintln(tw, "group\tranks\tcollective\tα µs\tN GB/s\tsmallest\tlargest")
		for _, f := range t.Fits {
			n := "–"
			if f.N > 0 {
				n = fmt.Sprintf("%.4g", f.N)
			}
			if len(f.Points) == 0 {
				continue
			}
			first, last := f.Points[0], f.Points[len(f.Points)-1]
			fmt.Fprintf(tw, "%s\t%d\t%s\t%.3g\t%s\t%.0f B %.3g µs\t%.4g MB %.4g µs, %.4g GB/s\n", f.Group, f.Ranks, f.Kind, f.Alpha, n,
				first.Bytes, first.Seconds*1e6, last.Bytes/1e6, last.Seconds*1e6, last.Bytes/last.Seconds/1e9)
		}
		tw.Flush()
	}
	if len(t.Rows) > 0 {
		fmt.Fprintln(&b)
		for _, note := range t.Notes {
			fmt.Fprintln(&b, note)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func barText(r CommRow) string {
	switch {
	case r.Bar == 0:
		return ""
	case r.GBs >= r.Bar:
		return fmt.Sprintf(" ≥ %.0f", r.Bar)
	}
	return fmt.Sprintf(" BELOW %.0f", r.Bar)
}

// block writes the rows that pass, with a column for each place.
func (t *CommTable) block(b *strings.Builder, title string, pass func(CommRow) bool, cell func(CommRow) string) {
	var places, lines []string
	cells := map[[2]string]string{}
	for _, r := range t.Rows {
		if !pass(r) {
			continue
		}
		line := fmt.Sprintf("%s %s\t%d B", r.Pattern, r.Op, r.Grain)
		if !slices.Contains(places, r.Place) {
			places = append(places, r.Place)
		}
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
		cells[[2]string{line, r.Place}] = cell(r)
	}
	if len(lines) == 0 {
		return
	}
	fmt.Fprintln(b, title)
	tw := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "access\tgrain\t"+strings.Join(places, "\t"))
	for _, line := range lines {
		fmt.Fprint(tw, line)
		for _, place := range places {
			fmt.Fprint(tw, "\t", cells[[2]string{line, place}])
		}
		fmt.Fprintln(tw)
	}
	tw.Flush()
}

// Plot draws the times of the collectives over their bytes, with the fitted lines.
func (t *CommTable) Plot() (*ReportPlot, error) {
	t = orZero(t)
	p := plot.New()
	p.Title.Text = "Collectives: measured, and α + B/N"
	p.X.Label.Text, p.Y.Label.Text = "bytes received by a rank", "µs"
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.LogTicks{Prec: -1}, plot.LogTicks{Prec: -1}
	drawn := 0
	for k, f := range t.Fits {
		var measured, line plotter.XYs
		for _, q := range f.Points {
			if q.Bytes > 0 && q.Seconds > 0 {
				measured = append(measured, plotter.XY{X: q.Bytes, Y: q.Seconds * 1e6})
				line = append(line, plotter.XY{X: q.Bytes, Y: f.Line().Seconds(q.Bytes) * 1e6})
			}
		}
		if len(measured) == 0 {
			continue
		}
		dots, err := plotter.NewScatter(measured)
		if err != nil {
			return nil, err
		}
		curve, err := plotter.NewLine(line)
		if err != nil {
			return nil, err
		}
		dots.Color, curve.Color = hue(k, len(t.Fits)), hue(k, len(t.Fits))
		dots.Shape, dots.Radius = draw.CircleGlyph{}, vg.Points(2)
		p.Add(dots, curve)
		p.Legend.Add(fmt.Sprintf("%s %s, %d ranks", f.Group, f.Kind, f.Ranks), dots, curve)
		drawn++
	}
	if drawn == 0 {
		return nil, fmt.Errorf("bench: no collective was measured, so there is nothing to plot")
	}
	p.Legend.Top, p.Legend.Left = true, true
	widen(&p.X)
	widen(&p.Y)
	return &ReportPlot{File: "comm.png", Title: p.Title.Text, p: p, height: 12 * vg.Centimeter}, nil
}
