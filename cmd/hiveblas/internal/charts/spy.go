// Package charts draws matrices and their distributions, for the commands spy and look.
package charts

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"path/filepath"

	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/internal/chart"
	"github.com/hiveblas/hiveblas/matrix"
)

// maxBins bounds the squares along a side of a spy plot, so that they stay visible.
const maxBins = 512

// Bins is a grid; each square sums the entries of a matrix in it.
type Bins struct {
	rows, cols   int // of the grid
	Height, Side int // matrix rows and columns of a square
	sum          []float64
	least, most  float64 // of the squares that are not empty
}

// Binned counts the entries of a in at most most×most squares, or sums their values.
func Binned(a *matrix.Matrix[float64], most int, what job.Content) *Bins {
	m, n := a.Dims()
	b := &Bins{Height: max(1, (m+most-1)/most), Side: max(1, (n+most-1)/most)}
	b.rows, b.cols = (m+b.Height-1)/b.Height, (n+b.Side-1)/b.Side
	b.sum = make([]float64, b.rows*b.cols)
	for i, row := range a.Rows() {
		line := b.sum[i/b.Height*b.cols:]
		for p, j := range row.Cols {
			x := 1.0
			if what == job.Weighted {
				x = row.Vals[p]
			}
			line[int(j)/b.Side] += x
		}
	}
	b.least = math.Inf(1)
	for _, x := range b.sum {
		if x > 0 {
			b.least, b.most = min(b.least, x), max(b.most, x)
		}
	}
	return b
}

// The colours of a square with the fewest entries and with the most.
var (
	Palest  = color.RGBA{0x9e, 0xc5, 0xe8, 0xff}
	Darkest = color.RGBA{0x08, 0x1d, 0x58, 0xff}
)

// picture draws the grid. The squares of a small grid have several pixels.
func (b *Bins) picture() image.Image {
	zoom := max(1, (maxBins+max(b.rows, b.cols)-1)/max(1, b.rows, b.cols))
	img := image.NewRGBA(image.Rect(0, 0, max(1, b.cols)*zoom, max(1, b.rows)*zoom))
	for y := range img.Rect.Dy() {
		for x := range img.Rect.Dx() {
			shade := color.RGBA{0xff, 0xff, 0xff, 0xff}
			if b.cols > 0 && b.rows > 0 {
				if x := b.sum[y/zoom*b.cols+x/zoom]; x > 0 {
					shade = b.shade(x)
				}
			}
			img.SetRGBA(x, y, shade)
		}
	}
	return img
}

// shade follows the logarithm of x.
func (b *Bins) shade(x float64) color.RGBA {
	if b.most <= b.least {
		return Darkest
	}
	return between(Palest, Darkest, math.Log(x/b.least)/math.Log(b.most/b.least))
}

func between(a, b color.RGBA, t float64) color.RGBA {
	mix := func(x, y uint8) uint8 { return uint8(math.Round(float64(x) + t*(float64(y)-float64(x)))) }
	return color.RGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 0xff}
}

// SpyPlot draws the positions of the entries of a, row 0 at the top. A square with a
// larger sum of values, which are not negative, is darker. The size is in inches.
func SpyPlot(a *matrix.Matrix[float64], title string) (p *chart.Chart, width, height float64) {
	m, n := a.Dims()
	b := Binned(a, maxBins, job.Weighted)
	p = &chart.Chart{Title: title,
		X: chart.Axis{Label: "column", Max: max(1, float64(n)), Ticks: wholeTicks},
		Y: chart.Axis{Label: "row", Min: -max(1, float64(m)), Ticks: wholeTicks}}
	if b.Height > 1 || b.Side > 1 {
		p.X.Label = fmt.Sprintf("column (a dot is %d×%d positions, at most %.0f entries)", b.Height, b.Side, b.most)
	}
	right, bottom := float64(b.cols*b.Side), float64(b.rows*b.Height)
	p.Picture(b.picture(), chart.Point{X: 0, Y: -bottom}, chart.Point{X: right, Y: 0})
	p.Line("", []chart.Point{{X: 0, Y: p.Y.Min}, {X: p.X.Max, Y: p.Y.Min}, {X: p.X.Max, Y: 0}, {X: 0, Y: 0}, {X: 0, Y: p.Y.Min}}, color.Black, 0.5)

	width, height = 6.5, 6.5
	if m > 0 && n > 0 { // keep the aspect ratio, within bounds
		ratio := math.Min(3, math.Max(1./3, float64(m)/float64(n)))
		if ratio < 1 {
			height = math.Max(2.2, 6.5*ratio)
		} else {
			width = math.Max(2.6, 6.5/ratio)
		}
	}
	return p, width, height
}

// wholeTicks labels whole numbers, without the sign that makes rows go down.
func wholeTicks(low, high float64) []chart.Tick {
	ticks := chart.Ticks(low, high)
	kept := ticks[:0]
	for _, t := range ticks {
		if t.Value != math.Trunc(t.Value) {
			continue
		}
		if t.Label != "" {
			t.Label = fmt.Sprintf("%.0f", math.Abs(t.Value))
		}
		kept = append(kept, t)
	}
	return kept
}

// EntriesTitle is the title of a spy plot.
func EntriesTitle(file string, a *matrix.Matrix[float64]) string {
	m, n := a.Dims()
	return fmt.Sprintf("%s: %d×%d, %d entries", filepath.Base(file), m, n, a.NVals())
}
