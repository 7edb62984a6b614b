// Readmeplot draws docs/performance.png, the picture of the README: the times of other libraries
// over the times of hiveblas, from a table of "hiveblas-bench cpu --json".
//
//	go run ./internal/readmeplot -o docs/performance.png bench/results/2026-11-22-cpu-2core.json
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"image/color"
	"math"
	"os"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// row is what the picture needs of a row of the table.
type row struct {
	Case  string
	Ours  float64             `json:"ours_ms"`
	Peers map[string]*float64 `json:"peers_ms"`
}

// peers are the libraries in the picture, by the beginning of their names.
var peers = []struct {
	name  string
	shape draw.GlyphDrawer
	color color.Color
}{
	{"SuiteSparse:GraphBLAS", draw.CircleGlyph{}, color.RGBA{0x1f, 0x4e, 0xb4, 0xff}},
	{"SciPy", draw.BoxGlyph{}, color.RGBA{0xd9, 0x5f, 0x02, 0xff}},
	{"james-bowman", draw.PyramidGlyph{}, color.RGBA{0x1b, 0x7a, 0x3d, 0xff}},
}

func main() {
	out := flag.String("o", "docs/performance.png", "write the picture to `FILE`")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: readmeplot [-o FILE] TABLE.json")
		os.Exit(2)
	}
	if err := run(flag.Arg(0), *out); err != nil {
		fmt.Fprintln(os.Stderr, "readmeplot:", err)
		os.Exit(1)
	}
}

func run(table, out string) error {
	text, err := os.ReadFile(table)
	if err != nil {
		return err
	}
	var t struct{ Rows []row }
	if err := json.Unmarshal(text, &t); err != nil {
		return fmt.Errorf("%s: %w", table, err)
	}
	p, n, err := picture(t.Rows)
	if err != nil {
		return fmt.Errorf("%s: %w", table, err)
	}
	c := vgimg.NewWith(vgimg.UseWH(18*vg.Centimeter, vg.Length(2.6+0.42*float64(n))*vg.Centimeter), vgimg.UseDPI(120))
	p.Draw(draw.Crop(draw.New(c), 8, -16, 8, -8))
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	if _, err := (vgimg.PngCanvas{Canvas: c}).WriteTo(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

// picture plots a mark for each peer that ran a case, and returns the number of
// cases.
func picture(rows []row) (*plot.Plot, int, error) {
	p := plot.New()
	p.Title.Text = "Time of other libraries, in times of hiveblas (2 cores; right of 1: hiveblas is faster)"
	p.X.Label.Text = "their time / ours"
	p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	var names []string
	points := make([]plotter.XYs, len(peers))
	least, most := 1.0, 1.0
	for _, r := range rows {
		drawn := false
		y := -float64(len(names))
		for name, ms := range r.Peers {
			for k, peer := range peers {
				if ms != nil && r.Ours > 0 && strings.HasPrefix(name, peer.name) {
					x := *ms / r.Ours
					points[k] = append(points[k], plotter.XY{X: x, Y: y})
					least, most, drawn = math.Min(least, x), math.Max(most, x), true
				}
			}
		}
		if drawn {
			names = append(names, r.Case)
		}
	}
	if len(names) == 0 {
		return nil, 0, errors.New("no row compares hiveblas with another library")
	}
	p.X.Min, p.X.Max = least*0.9, most*1.2
	p.Y.Min, p.Y.Max = -3-float64(len(names)), 0.5 // with room for the legend
	ticks := make([]plot.Tick, len(names))
	for k, name := range names {
		ticks[k] = plot.Tick{Value: -float64(k), Label: name}
	}
	p.Y.Tick.Marker = plot.ConstantTicks(ticks)
	one, err := plotter.NewLine(plotter.XYs{{X: 1, Y: p.Y.Min}, {X: 1, Y: p.Y.Max}})
	if err != nil {
		return nil, 0, err
	}
	p.Add(plotter.NewGrid(), one)
	p.Legend.Top = false
	for k, peer := range peers {
		if len(points[k]) == 0 {
			continue
		}
		s, err := plotter.NewScatter(points[k])
		if err != nil {
			return nil, 0, err
		}
		s.GlyphStyle = draw.GlyphStyle{Color: peer.color, Radius: vg.Points(3.2), Shape: peer.shape}
		p.Add(s)
		p.Legend.Add(peer.name, s)
	}
	return p, len(names), nil
}
