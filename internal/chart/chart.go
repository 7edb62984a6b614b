// Package chart draws lines, dots and pictures between two axes, as PNG. It has one font and no
// other formats, which is why the command line uses it: gonum's plot links a dozen fonts and
// writers of PDF, SVG and TeX, 6 MB in all.
//
// Lengths are in points of 1/72 inch; a point has two pixels.
package chart

import (
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"strconv"
)

// perPoint is the number of pixels of a point.
const perPoint = 2

// The layout, in points.
const (
	margin     = 8
	axisWidth  = 0.5
	gridWidth  = 0.25
	tickLength = 8
	gap        = 4  // between a text and what it belongs to
	sample     = 20 // width of the sample of an entry in the legend
	titleSize  = 12
	labelSize  = 12
	tickSize   = 10
)

// Point is a place in the units of the axes.
type Point struct{ X, Y float64 }

// Tick is a mark on an axis, with a text if it is a large one.
type Tick struct {
	Value float64
	Label string
}

// Axis is a horizontal or vertical axis. Unless Min < Max, its range is the range of the data.
type Axis struct {
	Label    string
	Min, Max float64
	Ticks    func(low, high float64) []Tick // nil: Ticks
}

// Chart is a chart in the making. The legend is on the left.
type Chart struct {
	Title   string
	X, Y    Axis
	Padding float64 // between the data and the axes, in points
	Grid    bool
	Bottom  bool // the legend is at the bottom, not at the top
	layers  []layer
}

// layer is a part of a chart; draw paints it with a scale. name is its entry in the legend, ""
// none.
type layer struct {
	name   string
	points []Point // that the axes must show
	draw   func(c *canvas, at func(Point) Point)
	sample func(c *canvas, left, right Point)
}

// Line adds a line through points; dashes are the lengths of dashes and gaps.
func (c *Chart) Line(name string, points []Point, shade color.Color, width float64, dashes ...float64) {
	if len(points) == 0 {
		return
	}
	stroke := func(c *canvas, list []Point) { c.stroke(list, shade, width*perPoint, scaled(dashes)) }
	c.layers = append(c.layers, layer{name, points, func(to *canvas, at func(Point) Point) {
		list := make([]Point, len(points))
		for k, p := range points {
			list[k] = at(p)
		}
		stroke(to, list)
	}, func(to *canvas, left, right Point) { stroke(to, []Point{left, right}) }})
}

// Dots adds a dot at each point.
func (c *Chart) Dots(name string, points []Point, shade color.Color, radius float64) {
	if len(points) == 0 {
		return
	}
	c.layers = append(c.layers, layer{name, points, func(to *canvas, at func(Point) Point) {
		for _, p := range points {
			to.disc(at(p), shade, radius*perPoint)
		}
	}, func(to *canvas, left, right Point) {
		to.disc(Point{(left.X + right.X) / 2, left.Y}, shade, radius*perPoint)
	}})
}

// Labels adds a text right of each point.
func (c *Chart) Labels(points []Point, texts []string) {
	c.layers = append(c.layers, layer{"", points, func(to *canvas, at func(Point) Point) {
		for k, p := range points {
			p = at(p)
			to.text(texts[k], tickSize, p.X+gap*perPoint, p.Y, left)
		}
	}, nil})
}

// Picture adds a picture between two corners.
func (c *Chart) Picture(picture image.Image, low, high Point) {
	c.layers = append(c.layers, layer{"", []Point{low, high}, func(to *canvas, at func(Point) Point) {
		p, q := at(Point{low.X, high.Y}), at(Point{high.X, low.Y})
		to.picture(picture, p, q)
	}, nil})
}

// WritePNG writes the chart with a size in inches.
func (c *Chart) WritePNG(w io.Writer, width, height float64) error {
	to := newCanvas(int(math.Round(width*72*perPoint)), int(math.Round(height*72*perPoint)))
	c.draw(to)
	return png.Encode(w, to.img)
}

func (c *Chart) draw(to *canvas) {
	x, y := c.X.ranged(c.layers, func(p Point) float64 { return p.X }), c.Y.ranged(c.layers, func(p Point) float64 { return p.Y })
	xTicks, yTicks := x.ticks(), y.ticks()

	// The area of the data, in pixels.
	const px = perPoint
	b := to.img.Bounds()
	top, bottom := float64(b.Min.Y+margin*px), float64(b.Max.Y-margin*px)
	start, end := float64(b.Min.X+margin*px), float64(b.Max.X-margin*px)
	widest := 0.0
	for _, t := range yTicks {
		widest = max(widest, to.width(t.Label, tickSize))
	}
	if len(xTicks) > 0 { // half of the last label
		end -= to.width(xTicks[len(xTicks)-1].Label, tickSize) / 2
	}
	if c.Title != "" {
		to.text(c.Title, titleSize, (start+end)/2, top+to.height(titleSize)/2, centre)
		top += to.height(titleSize) + 2*gap*px
	}
	xLabelAt := bottom - to.height(labelSize)/2
	if c.X.Label != "" {
		bottom -= to.height(labelSize) + gap*px
	}
	yLabelAt := start + to.height(labelSize)/2
	if c.Y.Label != "" {
		start += to.height(labelSize) + gap*px
	}
	xAxisAt := bottom - to.height(tickSize) - (gap+tickLength)*px
	yAxisAt := start + widest + (gap+tickLength)*px
	bottom, start = xAxisAt-c.Padding*px, yAxisAt+c.Padding*px
	scaleX, scaleY := (end-start)/(x.Max-x.Min), (bottom-top)/(y.Max-y.Min)
	at := func(p Point) Point {
		return Point{start + (p.X-x.Min)*scaleX, bottom - (p.Y-y.Min)*scaleY}
	}

	to.text(c.X.Label, labelSize, (start+end)/2, xLabelAt, centre)
	to.turned(c.Y.Label, labelSize, yLabelAt, (top+bottom)/2)
	line := func(x0, y0, x1, y1 float64) {
		to.stroke([]Point{{x0, y0}, {x1, y1}}, color.Black, axisWidth*px, nil)
	}
	grid := func(a, b Point) { to.stroke([]Point{a, b}, color.Gray{128}, gridWidth*px, nil) }
	line(start, xAxisAt, end, xAxisAt)
	line(yAxisAt, top, yAxisAt, bottom)
	free := math.Inf(-1) // labels that would overlap are left out
	for _, t := range xTicks {
		p := at(Point{t.Value, y.Min})
		length, half := tickLength/2.0, to.width(t.Label, tickSize)/2
		if t.Label != "" && p.X-half > free {
			length, free = tickLength, p.X+half+gap*px
			to.text(t.Label, tickSize, p.X, xAxisAt+(tickLength+gap/2)*px+to.height(tickSize)/2, centre)
			if c.Grid {
				grid(Point{p.X, top}, Point{p.X, bottom})
			}
		}
		line(p.X, xAxisAt, p.X, xAxisAt+length*px)
	}
	for _, t := range yTicks {
		p := at(Point{x.Min, t.Value})
		length := tickLength / 2.0
		if t.Label != "" {
			length = tickLength
			to.text(t.Label, tickSize, yAxisAt-(tickLength+gap)*px, p.Y, right)
			if c.Grid {
				grid(Point{start, p.Y}, Point{end, p.Y})
			}
		}
		line(yAxisAt-length*px, p.Y, yAxisAt, p.Y)
	}
	for _, l := range c.layers {
		l.draw(to, at)
	}
	c.legend(to, start, top, bottom)
}

func (c *Chart) legend(to *canvas, start, top, bottom float64) {
	high := to.height(labelSize)
	var named []layer
	for _, l := range c.layers {
		if l.name != "" {
			named = append(named, l)
		}
	}
	y := top + high/2
	if c.Bottom {
		y = bottom - high*(float64(len(named))-0.5)
	}
	for _, l := range named {
		end := start + sample*perPoint
		l.sample(to, Point{start, y}, Point{end, y})
		to.text(l.name, labelSize, end+gap*perPoint, y, left)
		y += high
	}
}

// ranged returns the axis with a range that is not empty.
func (a Axis) ranged(layers []layer, of func(Point) float64) Axis {
	if a.Min < a.Max {
		return a
	}
	a.Min, a.Max = math.Inf(1), math.Inf(-1)
	for _, l := range layers {
		for _, p := range l.points {
			if x := of(p); !math.IsInf(x, 0) && !math.IsNaN(x) {
				a.Min, a.Max = min(a.Min, x), max(a.Max, x)
			}
		}
	}
	switch {
	case a.Min > a.Max: // no data
		a.Min, a.Max = 0, 1
	case a.Min == a.Max:
		a.Min, a.Max = a.Min-1, a.Max+1
	}
	return a
}

func (a Axis) ticks() []Tick {
	if a.Ticks != nil {
		return a.Ticks(a.Min, a.Max)
	}
	return Ticks(a.Min, a.Max)
}

// Ticks returns marks at multiples of 1, 2 or 5 times a power of ten, three to six of them with
// labels, and marks between them.
func Ticks(low, high float64) (list []Tick) {
	step, parts := math.Pow(10, math.Floor(math.Log10((high-low)/5))), 5.0
	switch n := (high - low) / (5 * step); { // 1 to 10
	case n > 5:
		step *= 10
	case n > 2:
		step *= 5
	case n > 1:
		step, parts = 2*step, 2
	}
	for k := math.Ceil(low * parts / step); k*(step/parts) <= high && len(list) < 100; k++ {
		t := Tick{Value: k * (step / parts)}
		if math.Mod(k, parts) == 0 {
			t.Label = label(t.Value, step)
		}
		list = append(list, t)
	}
	return list
}

// label returns the text of a multiple of step, without the digits beyond the digits of step, which
// rounding leaves.
func label(x, step float64) string {
	x = math.Round(x/step) * step
	digits := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	if math.Abs(x) >= 1e15 || digits > 6 {
		return strconv.FormatFloat(x+0, 'g', 6, 64)
	}
	x, _ = strconv.ParseFloat(strconv.FormatFloat(x, 'f', digits, 64), 64)
	return strconv.FormatFloat(x+0, 'f', -1, 64) // −0 + 0 is 0
}

func scaled(lengths []float64) []float64 {
	out := make([]float64, len(lengths))
	for k, x := range lengths {
		out[k] = x * perPoint
	}
	return out
}
