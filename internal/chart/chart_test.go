package chart

import (
	"bytes"
	"fmt"
	"image/color"
	"image/png"
	"math"
	"testing"
)

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		reason    string
		low, high float64
		want      string
	}{
		{"whole numbers", 0, 20, "0 5 10 15 20"},
		{"fractions", 0, 0.1, "0 0.02 0.04 0.06 0.08 0.1"},
		{"zero among negative numbers", -1, 13, "0 5 10"},
		{"times", 1280719999, 1285360000, "1281000000 1282000000 1283000000 1284000000 1285000000"},
		{"small numbers", 0, 3e-9, "0 1e-09 2e-09 3e-09"},
	} {
		got := ""
		for _, tick := range Ticks(c.low, c.high) {
			if tick.Value < c.low || tick.Value > c.high {
				t.Errorf("%s: a mark at %v", c.reason, tick.Value)
			}
			if tick.Label != "" {
				got += " " + tick.Label
			}
		}
		if got != " "+c.want {
			t.Errorf("%s: labels%s, want %s", c.reason, got, c.want)
		}
	}
}

// The places of dots and the corners of lines have their colours.
func TestPlaces(t *testing.T) {
	red, blue := color.RGBA{255, 0, 0, 255}, color.RGBA{0, 0, 255, 255}
	c := &Chart{X: Axis{Max: 10}, Y: Axis{Max: 10, Ticks: func(_, _ float64) []Tick { return nil }}}
	c.Line("a line", []Point{{0, 0}, {10, 0}, {10, 10}}, blue, 2)
	c.Dots("dots", []Point{{5, 5}}, red, 3)
	to := newCanvas(400, 300)
	c.draw(to)
	left, right, top, bottom := 400, 0, 300, 0
	for y := range 300 {
		for x := range 400 {
			if to.img.RGBAAt(x, y) == blue {
				left, right, top, bottom = min(left, x), max(right, x), min(top, y), max(bottom, y)
			}
		}
	}
	if right-left < 300 || bottom-top < 200 {
		t.Fatalf("the line is in %d…%d, %d…%d", left, right, top, bottom)
	}
	if got := to.img.RGBAAt((left+right)/2, (top+bottom)/2); got != red {
		t.Errorf("the middle is %v", got)
	}
}

func TestWithoutData(t *testing.T) {
	for k, c := range []*Chart{
		{}, {Title: "nothing", X: Axis{Label: "x"}, Y: Axis{Label: "y"}, Grid: true, Bottom: true},
		one(Point{3, 3}), one(Point{math.NaN(), math.Inf(1)}),
	} {
		var b bytes.Buffer
		if err := c.WritePNG(&b, 3, 2); err != nil {
			t.Fatal(k, err)
		}
		img, err := png.Decode(&b)
		if err != nil || img.Bounds().Dx() != 432 || img.Bounds().Dy() != 288 {
			t.Errorf("%d: %v, %v", k, img.Bounds(), err)
		}
	}
}

func one(p Point) *Chart {
	c := &Chart{}
	c.Dots("dots", []Point{p}, color.Black, 1)
	c.Line("line", []Point{p, p}, color.Black, 1, 2, 2)
	c.Labels([]Point{p}, []string{fmt.Sprint(p)})
	return c
}
