package collectives

import (
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/hiveblas/hiveblas/bench/charts"
	"github.com/hiveblas/hiveblas/bench/internal/tables"
	"github.com/hiveblas/hiveblas/comm/commtable"
)

// Plot draws the times of the collectives of a table over their bytes, with the fitted lines.
func Plot(t *commtable.Table) (*charts.Plot, error) {
	t = tables.OrZero(t)
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
		dots.Color, curve.Color = charts.Hue(k, len(t.Fits)), charts.Hue(k, len(t.Fits))
		dots.Shape, dots.Radius = draw.CircleGlyph{}, vg.Points(2)
		p.Add(dots, curve)
		p.Legend.Add(fmt.Sprintf("%s %s, %d ranks", f.Group, f.Kind, f.Ranks), dots, curve)
		drawn++
	}
	if drawn == 0 {
		return nil, fmt.Errorf("bench: no collective was measured, so there is nothing to plot")
	}
	p.Legend.Top, p.Legend.Left = true, true
	charts.Widen(&p.X)
	charts.Widen(&p.Y)
	return &charts.Plot{File: "comm.png", Title: p.Title.Text, P: p, Height: 12 * vg.Centimeter}, nil
}
