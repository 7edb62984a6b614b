package charts

import (
	"errors"
	"image/color"
	"io"

	"github.com/hiveblas/hiveblas/bench/internal/tables"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Plot is a plot of a report.
type Plot struct {
	File, Title string
	P           *plot.Plot
	Height      vg.Length
}

// WritePNG draws the picture.
func (p *Plot) WritePNG(w io.Writer) error {
	switch {
	case w == nil:
		return tables.ErrNoWriter
	case p == nil || p.P == nil:
		return errors.New("bench: the plot is empty; use one that Report.Plots returned")
	}
	c := vgimg.NewWith(vgimg.UseWH(16*vg.Centimeter, p.Height), vgimg.UseDPI(110))
	p.P.Draw(draw.Crop(draw.New(c), 8, -16, 8, -8))
	_, err := vgimg.PngCanvas{Canvas: c}.WriteTo(w)
	return err
}

// Hue is color k of n.
func Hue(k, n int) color.Color {
	return palette.Rainbow(max(n, 2), palette.Blue, palette.Red, .9, .8, 1).Colors()[k]
}

// Widen adds a margin to a logarithmic axis.
func Widen(a *plot.Axis) {
	if a != nil {
		a.Min, a.Max = a.Min/1.5, a.Max*1.5
	}
}
