package bench

import (
	"errors"
	"fmt"
	"image/color"
	"io"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// ReportPlot is a plot of a report.
type ReportPlot struct {
	File, Title string
	p           *plot.Plot
	height      vg.Length
}

// WritePNG draws the picture.
func (p *ReportPlot) WritePNG(w io.Writer) error {
	switch {
	case w == nil:
		return errNoWriter
	case p == nil || p.p == nil:
		return errors.New("bench: the plot is empty; use one that Report.Plots returned")
	}
	c := vgimg.NewWith(vgimg.UseWH(16*vg.Centimeter, p.height), vgimg.UseDPI(110))
	p.p.Draw(draw.Crop(draw.New(c), 8, -16, 8, -8))
	_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(w)
	return err
}

// Plots returns the pictures for which the report has figures: time against size, growth of the
// time per edge, bandwidth and speed-ups.
func (r *Report) Plots() ([]ReportPlot, error) {
	r = orZero(r)
	var plots []ReportPlot
	var errs error
	add := func(p *ReportPlot, err error) {
		if p != nil && err == nil {
			plots = append(plots, *p)
		}
		if errs == nil {
			errs = err
		}
	}
	curves := r.curves()
	time := func(p GrowthPoint, ms float64) float64 { return ms }
	perEdge := func(p GrowthPoint, ms float64) float64 { return 1e6 * ms / float64(p.Input.Entries) }
	add(curvePlot(curves, "time.png", "Time against size", "edges", "ms", func(p GrowthPoint) float64 { return float64(p.Input.Entries) }, time))
	add(curvePlot(curves, "growth.png", "Cost growth: time per edge", "vertices", "ns per edge", func(p GrowthPoint) float64 { return float64(p.Input.Rows) }, perEdge))
	add(r.roofline())
	add(r.speedups())
	return plots, errs
}

// hue is color k of n.
func hue(k, n int) color.Color {
	return palette.Rainbow(max(n, 2), palette.Blue, palette.Red, .9, .8, 1).Colors()[k]
}

// curvePlot draws a line for each workflow and place; nil without points.
func curvePlot(curves map[string][]GrowthPoint, file, title, xLabel, yLabel string, x func(GrowthPoint) float64, y func(p GrowthPoint, ms float64) float64) (*ReportPlot, error) {
	if len(curves) == 0 {
		return nil, nil
	}
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, xLabel, yLabel
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.LogTicks{Prec: -1}, plot.LogTicks{Prec: -1}
	p.Legend.Top, p.Legend.Left = true, true
	p.Add(plotter.NewGrid())
	names := slices.Sorted(maps.Keys(curves))
	for k, name := range names {
		var points plotter.XYs
		for _, g := range curves[name] {
			column := HostColumn
			if name[len(name)-len(DeviceColumn):] == DeviceColumn {
				column = DeviceColumn
			}
			if at := (plotter.XY{X: x(g), Y: y(g, g.Times[column].Median)}); at.X > 0 && at.Y > 0 {
				points = append(points, at)
			}
		}
		line, marks, err := plotter.NewLinePoints(points)
		if err != nil {
			return nil, err
		}
		line.Color, marks.Color, marks.Shape = hue(k, len(names)), hue(k, len(names)), draw.CircleGlyph{}
		p.Add(line, marks)
		p.Legend.Add(name, line, marks)
	}
	widen(&p.X)
	widen(&p.Y)
	return &ReportPlot{file, title, p, 11 * vg.Centimeter}, nil
}

// widen adds a margin to a logarithmic axis.
func widen(a *plot.Axis) { a.Min, a.Max = a.Min/1.5, a.Max*1.5 }

// bar is a row of a bar chart, at a height of its own.
type bar struct {
	label string
	value float64
}

// roofline draws the bandwidth of the rows, in hundredths of what a copy moves.
func (r *Report) roofline() (*ReportPlot, error) {
	var bars []bar
	for _, row := range r.Rows {
		for _, c := range []string{HostColumn, DeviceColumn} {
			if v, ok := row.Percent[c]; ok {
				bars = append(bars, bar{row.Name + ", " + c, v})
			}
		}
	}
	return barPlot(bars, "roofline.png", "Bandwidth of the bytes that must move", "% of the copy bandwidth (device) or triad (host)", 100)
}

// speedups draws the times of the others divided by the better of ours.
func (r *Report) speedups() (*ReportPlot, error) {
	var bars []bar
	for _, row := range r.Rows {
		for _, p := range r.Peers {
			if t, ok := row.Times[p.Column]; ok {
				bars = append(bars, bar{row.Name + ", " + p.Column, t.Median / row.Best()})
			}
		}
	}
	return barPlot(bars, "speedup.png", "Time of libraries, in times of ours", "their time / ours", 1)
}

// barPlot draws a line for each bar from the reference on a logarithmic axis;
// nil without bars.
func barPlot(bars []bar, file, title, label string, reference float64) (*ReportPlot, error) {
	bars = slices.DeleteFunc(bars, func(b bar) bool { return !(b.value > 0) || math.IsInf(b.value, 0) })
	if len(bars) == 0 {
		return nil, nil
	}
	p := plot.New()
	p.Title.Text, p.X.Label.Text = title, label
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	ticks := make([]plot.Tick, len(bars))
	for k, b := range bars {
		y := float64(len(bars) - 1 - k)
		ticks[k] = plot.Tick{Value: y, Label: fmt.Sprintf("%s: %s", b.label, figure(b.value))}
		line, err := plotter.NewLine(plotter.XYs{{X: reference, Y: y}, {X: b.value, Y: y}})
		if err != nil {
			return nil, err
		}
		line.Width, line.Color = vg.Points(7), hue(0, 2)
		if b.value < reference {
			line.Color = hue(1, 2)
		}
		p.Add(line)
	}
	p.Y.Tick.Marker = plot.ConstantTicks(ticks)
	p.Y.Min, p.Y.Max = -.7, float64(len(bars))-.3
	widen(&p.X)
	return &ReportPlot{file, title, p, 3*vg.Centimeter + vg.Length(len(bars))*vg.Points(13)}, nil
}
