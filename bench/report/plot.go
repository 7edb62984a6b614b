package report

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/hiveblas/hiveblas/bench/charts"
	"github.com/hiveblas/hiveblas/bench/internal/tables"
)

// Plots returns the pictures for which the report has figures: time against size, growth of the
// time per edge, bandwidth and speed-ups.
func (r *Report) Plots() ([]charts.Plot, error) {
	r = tables.OrZero(r)
	var plots []charts.Plot
	var errs error
	add := func(p *charts.Plot, err error) {
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

// curvePlot draws a line for each workflow and place; nil without points.
func curvePlot(curves map[string][]GrowthPoint, file, title, xLabel, yLabel string, x func(GrowthPoint) float64, y func(p GrowthPoint, ms float64) float64) (*charts.Plot, error) {
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
		line.Color, marks.Color, marks.Shape = charts.Hue(k, len(names)), charts.Hue(k, len(names)), draw.CircleGlyph{}
		p.Add(line, marks)
		p.Legend.Add(name, line, marks)
	}
	charts.Widen(&p.X)
	charts.Widen(&p.Y)
	return &charts.Plot{File: file, Title: title, P: p, Height: 11 * vg.Centimeter}, nil
}

// bar is a row of a bar chart, at a height of its own.
type bar struct {
	label string
	value float64
}

// roofline draws the bandwidth of the rows, in hundredths of what a copy moves.
func (r *Report) roofline() (*charts.Plot, error) {
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
func (r *Report) speedups() (*charts.Plot, error) {
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
func barPlot(bars []bar, file, title, label string, reference float64) (*charts.Plot, error) {
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
		ticks[k] = plot.Tick{Value: y, Label: fmt.Sprintf("%s: %s", b.label, tables.Figure(b.value))}
		line, err := plotter.NewLine(plotter.XYs{{X: reference, Y: y}, {X: b.value, Y: y}})
		if err != nil {
			return nil, err
		}
		line.Width, line.Color = vg.Points(7), charts.Hue(0, 2)
		if b.value < reference {
			line.Color = charts.Hue(1, 2)
		}
		p.Add(line)
	}
	p.Y.Tick.Marker = plot.ConstantTicks(ticks)
	p.Y.Min, p.Y.Max = -.7, float64(len(bars))-.3
	charts.Widen(&p.X)
	return &charts.Plot{File: file, Title: title, P: p, Height: 3*vg.Centimeter + vg.Length(len(bars))*vg.Points(13)}, nil
}
