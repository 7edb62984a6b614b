package chart

import (
	"image"
	"image/color"
	"image/draw"
	"math"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// canvas is the picture of a chart, in pixels from the top left corner.
type canvas struct {
	img   *image.RGBA
	faces map[float64]font.Face // the font, by size in points
}

func newCanvas(width, height int) *canvas {
	img := image.NewRGBA(image.Rect(0, 0, max(width, 1), max(height, 1)))
	draw.Draw(img, img.Rect, image.White, image.Point{}, draw.Src)
	return &canvas{img, map[float64]font.Face{}}
}

// fill fills polygons; the points of all go round in one direction: where they overlap they are one
// area.
func (c *canvas) fill(shade color.Color, polygons ...[]Point) {
	low, high := Point{math.Inf(1), math.Inf(1)}, Point{math.Inf(-1), math.Inf(-1)}
	for _, polygon := range polygons {
		for _, p := range polygon {
			low = Point{min(low.X, p.X), min(low.Y, p.Y)}
			high = Point{max(high.X, p.X), max(high.Y, p.Y)}
		}
	}
	if !(low.X < float64(c.img.Rect.Max.X) && low.Y < float64(c.img.Rect.Max.Y) && high.X >= 0 && high.Y >= 0) {
		return
	}
	box := image.Rect(int(max(low.X, 0)), int(max(low.Y, 0)),
		int(min(high.X, float64(c.img.Rect.Max.X)))+1, int(min(high.Y, float64(c.img.Rect.Max.Y)))+1).Intersect(c.img.Rect)
	if box.Empty() {
		return
	}
	r := vector.NewRasterizer(box.Dx(), box.Dy())
	for _, polygon := range polygons {
		for k, p := range polygon {
			x, y := float32(p.X-float64(box.Min.X)), float32(p.Y-float64(box.Min.Y))
			if k == 0 {
				r.MoveTo(x, y)
			} else {
				r.LineTo(x, y)
			}
		}
		r.ClosePath()
	}
	r.Draw(c.img, box, image.NewUniform(shade), image.Point{})
}

// disc fills a circle.
func (c *canvas) disc(at Point, shade color.Color, radius float64) {
	c.fill(shade, circle(at, radius))
}

func circle(at Point, radius float64) []Point {
	const corners = 24
	list := make([]Point, corners)
	for k := range list {
		sin, cos := math.Sincos(2 * math.Pi * float64(k) / corners)
		list[k] = Point{at.X + radius*cos, at.Y + radius*sin}
	}
	return list
}

// stroke draws a line through points. dashes are the lengths of dashes and gaps, none for a
// continuous line.
func (c *canvas) stroke(list []Point, shade color.Color, width float64, dashes []float64) {
	var polygons [][]Point
	var lastX, lastY float64 // direction of the segment before
	part, left := 0, 0.0     // of the dashes
	if len(dashes) > 0 {
		left = dashes[0]
	}
	for k := 1; k < len(list); k++ {
		from, to := list[k-1], list[k]
		length := math.Hypot(to.X-from.X, to.Y-from.Y)
		if !(length > 0) || math.IsInf(length, 1) {
			continue
		}
		dx, dy := (to.X-from.X)/length, (to.Y-from.Y)/length
		nx, ny := -dy*width/2, dx*width/2
		along := func(at float64) Point { return Point{from.X + dx*at, from.Y + dy*at} }
		add := func(lo, hi float64) {
			p, q := along(lo), along(hi)
			polygons = append(polygons, []Point{{p.X - nx, p.Y - ny}, {q.X - nx, q.Y - ny}, {q.X + nx, q.Y + ny}, {p.X + nx, p.Y + ny}})
		}
		if len(dashes) == 0 {
			add(0, length)
			if bend := dx*lastX + dy*lastY; k > 1 && bend < 0.7 { // fills the corner
				polygons = append(polygons, circle(from, width/2))
			}
			lastX, lastY = dx, dy
			continue
		}
		for at := 0.0; at < length; {
			step := min(left, length-at)
			if part%2 == 0 {
				add(at, at+step)
			}
			at += step
			if left -= step; left <= 0 {
				part = (part + 1) % len(dashes)
				left = max(dashes[part], 1e-3)
			}
		}
	}
	c.fill(shade, polygons...)
}

// picture draws a picture between two corners: a pixel has the colour of the place at its middle.
func (c *canvas) picture(from image.Image, low, high Point) {
	box := image.Rect(int(math.Round(low.X)), int(math.Round(low.Y)), int(math.Round(high.X)), int(math.Round(high.Y)))
	b := from.Bounds()
	for y := box.Min.Y; y < box.Max.Y; y++ {
		v := b.Min.Y + int((float64(y-box.Min.Y)+0.5)/float64(box.Dy())*float64(b.Dy()))
		for x := box.Min.X; x < box.Max.X; x++ {
			u := b.Min.X + int((float64(x-box.Min.X)+0.5)/float64(box.Dx())*float64(b.Dx()))
			c.img.Set(x, y, from.At(u, v))
		}
	}
}

// Where a text is set.
type anchor float64

const (
	left   anchor = 0
	centre anchor = 0.5
	right  anchor = 1
)

// text writes a text with its anchor and middle at a place.
func (c *canvas) text(text string, size, x, y float64, at anchor) {
	face := c.face(size)
	d := font.Drawer{Dst: c.img, Src: image.Black, Face: face}
	m := face.Metrics()
	d.Dot = fixed.Point26_6{
		X: fixed.Int26_6(64 * (x - float64(at)*c.width(text, size))),
		Y: fixed.Int26_6(64*y) + (m.Ascent-m.Descent)/2,
	}
	d.DrawString(text)
}

// turned writes a text upwards, with its middle at a place.
func (c *canvas) turned(text string, size, x, y float64) {
	width, height := int(c.width(text, size))+2, int(c.height(size))+2
	flat := &canvas{image.NewRGBA(image.Rect(0, 0, width, height)), c.faces}
	flat.text(text, size, float64(width)/2, float64(height)/2, centre)
	up := image.NewRGBA(image.Rect(0, 0, height, width))
	for v := range height {
		for u := range width {
			up.SetRGBA(v, width-1-u, flat.img.RGBAAt(u, v))
		}
	}
	at := image.Pt(int(math.Round(x))-height/2, int(math.Round(y))-width/2)
	draw.Draw(c.img, up.Rect.Add(at), up, image.Point{}, draw.Over)
}

// width returns the width of a text in pixels, and height the height of a line.
func (c *canvas) width(text string, size float64) float64 {
	return float64(font.MeasureString(c.face(size), text)) / 64
}

func (c *canvas) height(size float64) float64 {
	m := c.face(size).Metrics()
	return float64(m.Ascent+m.Descent) / 64
}

// goFont is the font of all texts.
var goFont = sync.OnceValue(func() *opentype.Font {
	f, err := opentype.Parse(goregular.TTF)
	if err != nil {
		panic(err) // the tests draw texts
	}
	return f
})

func (c *canvas) face(size float64) font.Face {
	face := c.faces[size]
	if face == nil {
		var err error
		if face, err = opentype.NewFace(goFont(), &opentype.FaceOptions{Size: size, DPI: 72 * perPoint}); err != nil {
			panic(err)
		}
		c.faces[size] = face
	}
	return face
}
