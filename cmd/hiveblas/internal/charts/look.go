package charts

import (
	"fmt"
	"math"
	"strings"

	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
)

// This file draws the pictures of the page of look as SVG elements. Sizes are in units of the view
// box; the page scales them. All text is of this file or a number.

// LookBins bounds the squares along a side of the positions of the entries.
const LookBins = 80

// svg is a picture in the making.
type svg struct{ strings.Builder }

func newSVG(width, height float64, label string) *svg {
	s := &svg{}
	fmt.Fprintf(s, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" role="img" aria-label="%s">`, width, height, label)
	return s
}

func (s *svg) done() string {
	s.WriteString("</svg>")
	return s.String()
}

func (s *svg) text(x, y float64, anchor, text string) {
	fmt.Fprintf(s, `<text x="%.4g" y="%.4g" text-anchor="%s">%s</text>`, x, y, anchor, text)
}

// short formats a number for an axis: 950, 12k, 3.4M.
func short(x float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if x >= unit.size {
			return fmt.Sprintf("%.3g%s", x/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("%.4g", x)
}

// The frame of a chart with axes.
const (
	chartWidth, chartHeight = 480, 240
	chartLeft, chartBottom  = 46, 30
	chartTop, chartRight    = 12, 10
)

// powers draws lines at powers of ten up to most, on a logarithmic scale from ½, and returns the
// height of a number.
func (s *svg) powers(most float64) func(x float64) float64 {
	top := math.Log(max(most, 2) / 0.5)
	height := func(x float64) float64 {
		if x <= 0.5 {
			return 0
		}
		return math.Log(x/0.5) / top * (chartHeight - chartBottom - chartTop)
	}
	for p := 1.0; p <= most; p *= 10 {
		y := chartHeight - chartBottom - height(p)
		fmt.Fprintf(s, `<line x1="%d" y1="%.4g" x2="%d" y2="%.4g" class="rule"/>`, chartLeft, y, chartWidth-chartRight, y)
		s.text(chartLeft-6, y+4, "end", short(p))
	}
	return height
}

// DegreeChart draws the vertices by out-degree and, unless it is the same, by in-degree.
func DegreeChart(out, in job.Degrees, symmetric bool) string {
	series := []job.Degrees{out, in}
	if symmetric {
		series = series[:1]
	}
	most, count := int64(1), 1
	for _, d := range series {
		count = max(count, len(d.Bins))
		for _, x := range d.Bins {
			most = max(most, x)
		}
	}
	s := newSVG(chartWidth, chartHeight, "Number of vertices by degree")
	height := s.powers(float64(most))
	step := float64(chartWidth-chartLeft-chartRight) / float64(count)
	width := step * 0.8 / float64(len(series))
	for k, d := range series {
		for b, x := range d.Bins {
			if h := height(float64(x)); h > 0 {
				fmt.Fprintf(s, `<rect x="%.5g" y="%.5g" width="%.4g" height="%.5g" class="bar%d"><title>%d</title></rect>`,
					chartLeft+step*(float64(b)+0.1)+width*float64(k), chartHeight-chartBottom-h, width, h, k, x)
			}
		}
	}
	for b := range count {
		if lo, _ := job.Span(b); count <= 12 || b%2 == 0 {
			s.text(chartLeft+step*(float64(b)+0.5), chartHeight-chartBottom+16, "middle", short(float64(lo)))
		}
	}
	if len(series) > 1 {
		s.WriteString(`<rect x="330" y="4" width="10" height="10" class="bar0"/><rect x="400" y="4" width="10" height="10" class="bar1"/>`)
		s.text(344, 13, "start", "out")
		s.text(414, 13, "start", "in")
	}
	return s.done()
}

// spyShades is the number of shades of the positions of the entries.
const spyShades = 6

// SpyChart draws squares of entries, one path for each shade and runs of equal squares as one.
func SpyChart(b *Bins) string {
	rows, cols := max(b.rows, 1), max(b.cols, 1)
	side := max(rows, cols)
	s := newSVG(float64(cols), float64(rows), "Positions of the entries")
	fmt.Fprintf(s, `<rect x="0" y="0" width="%d" height="%d" class="field"/>`, cols, rows)
	shade := func(x float64) int {
		switch {
		case x <= 0:
			return -1
		case b.most <= b.least:
			return spyShades - 1
		}
		return min(spyShades-1, int(spyShades*math.Log(x/b.least)/math.Log(b.most/b.least)))
	}
	var paths [spyShades]strings.Builder
	for y := range b.rows {
		line := b.sum[y*b.cols : (y+1)*b.cols]
		for x := 0; x < len(line); {
			k, from := shade(line[x]), x
			for x < len(line) && shade(line[x]) == k {
				x++
			}
			if k >= 0 {
				fmt.Fprintf(&paths[k], "M%d %dh%dv1h-%dz", from, y, x-from, x-from)
			}
		}
	}
	for k := range paths {
		if paths[k].Len() > 0 {
			fmt.Fprintf(s, `<path d="%s" class="shade%d"/>`, paths[k].String(), k)
		}
	}
	fmt.Fprintf(s, `<rect x="0" y="0" width="%d" height="%d" class="frame" stroke-width="%.3g"/>`, cols, rows, float64(side)/200)
	return s.done()
}

// CoreChart draws the number of vertices of each k-core. sizes counts the vertices by core number.
func CoreChart(sizes []int64) string {
	inside := make([]float64, len(sizes)+1)
	for k := len(sizes) - 1; k >= 0; k-- {
		inside[k] = inside[k+1] + float64(sizes[k])
	}
	s := newSVG(chartWidth, chartHeight, "Vertices of the k-core by k")
	height := s.powers(inside[0])
	step := float64(chartWidth-chartLeft-chartRight) / float64(len(sizes))
	x, y := float64(chartLeft), chartHeight-chartBottom-height(inside[0])
	fmt.Fprintf(s, `<path d="M%.5g %d V%.5g`, x, chartHeight-chartBottom, y)
	for k := range sizes {
		fmt.Fprintf(s, `H%.5g`, x+step*float64(k+1))
		fmt.Fprintf(s, `V%.5g`, chartHeight-chartBottom-height(inside[k+1]))
	}
	s.WriteString(`Z" class="area"/>`)
	every := max(1, (len(sizes)+9)/10)
	for k := 0; k < len(sizes); k += every {
		s.text(x+step*(float64(k)+0.5), chartHeight-chartBottom+16, "middle", fmt.Sprint(k))
	}
	return s.done()
}

// CommunityChart draws communities around a circle, with the edges among them.
func CommunityChart(groups []int64, links [][]float64) string {
	const size, ring, largest = 480.0, 170.0, 46.0
	s := newSVG(size, size, "The largest communities and the edges between them")
	at := func(c int) (x, y float64) {
		if len(groups) == 1 {
			return size / 2, size / 2
		}
		angle := 2*math.Pi*float64(c)/float64(len(groups)) - math.Pi/2
		return size/2 + ring*math.Cos(angle), size/2 + ring*math.Sin(angle)
	}
	most := 0.0
	for c := range groups {
		for d := range c {
			most = max(most, links[c][d]+links[d][c])
		}
	}
	for c := range groups {
		for d := range c {
			w := links[c][d] + links[d][c]
			if w <= 0 {
				continue
			}
			x, y := at(c)
			u, v := at(d)
			fmt.Fprintf(s, `<line x1="%.4g" y1="%.4g" x2="%.4g" y2="%.4g" class="link" stroke-width="%.3g"><title>%s</title></line>`,
				x, y, u, v, max(0.3, 14*w/most), short(w/2))
		}
	}
	for c, vertices := range groups {
		x, y := at(c)
		r := max(4, largest*math.Sqrt(float64(vertices)/float64(groups[0])))
		fmt.Fprintf(s, `<circle cx="%.4g" cy="%.4g" r="%.4g" class="group"/>`, x, y, r)
		if r < 16 { // beside a small circle, away from the middle
			x, y = size/2+(x-size/2)*(1+(r+14)/ring), size/2+(y-size/2)*(1+(r+14)/ring)
		}
		s.text(x, y+4, "middle", short(float64(vertices)))
	}
	return s.done()
}
