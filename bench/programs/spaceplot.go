package programs

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette/moreland"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"

	"github.com/hiveblas/hiveblas/bench/charts"
	"github.com/hiveblas/hiveblas/bench/internal/tables"
	"github.com/hiveblas/hiveblas/cusparse/space"
)

// heat is a table of times relative to the best, NaN where there is none.
type heat struct {
	rows, columns []string
	values        [][]float64
}

// heatMost is the ratio from which colours do not change.
const heatMost = 16

// Dims, X, Y and Z make a heat a plotter.GridXYZ of logarithms. Row 0 is at the top.
func (h *heat) Dims() (columns, rows int) { return len(h.columns), len(h.rows) }

func (h *heat) X(c int) float64 { return float64(c) }

func (h *heat) Y(r int) float64 { return float64(r) }

func (h *heat) Z(c, r int) float64 {
	return math.Log2(min(h.values[len(h.rows)-1-r][c], heatMost))
}

// placeOf is the schedule and the layout of a plan; a plan that is not of the space has no layout.
func placeOf(plan string) (schedule, layout string) {
	if p, err := space.Parse(plan); err == nil && strings.Contains(plan, " ") {
		return p.Schedule.String(), p.Layout.String()
	}
	schedule, _, _ = strings.Cut(plan, " ")
	return schedule, ""
}

// heatOf is the table of the cells: row and column name the place of a plan in it, "" for none. A
// value is the geometric mean, over the cells of the row, of the best time of the place over the
// best of the cell.
func (t *SpaceProgramsTable) heatOf(row, column func(c *SpaceCell, plan string) string) *heat {
	h := &heat{}
	ratios := map[[2]string][]float64{}
	for k := range t.Cells {
		c := &t.Cells[k]
		best, ok := c.best()
		if !ok {
			continue
		}
		least := map[[2]string]float64{}
		for _, x := range c.times() {
			at := [2]string{row(c, x.Plan), column(c, x.Plan)}
			if at[0] == "" || at[1] == "" {
				continue
			}
			if old, seen := least[at]; !seen || x.Ms < old {
				least[at] = x.Ms
			}
			if !slices.Contains(h.rows, at[0]) {
				h.rows = append(h.rows, at[0])
			}
			if !slices.Contains(h.columns, at[1]) {
				h.columns = append(h.columns, at[1])
			}
		}
		for at, ms := range least {
			ratios[at] = append(ratios[at], ms/best.Ms)
		}
	}
	h.values = make([][]float64, len(h.rows))
	for r, name := range h.rows {
		h.values[r] = make([]float64, len(h.columns))
		for k, of := range h.columns {
			h.values[r][k] = math.NaN()
			if list := ratios[[2]string{name, of}]; len(list) > 0 {
				h.values[r][k] = geometric(list)
			}
		}
	}
	return h
}

// Plots returns the two pictures of Jeong et al. (GRAssembler, 2022): the times of each schedule on
// each graph, and of each schedule with each layout, relative to the best plan. None without cells.
func (t *SpaceProgramsTable) Plots() ([]charts.Plot, error) {
	t = tables.OrZero(t)
	schedule := func(_ *SpaceCell, plan string) string { s, _ := placeOf(plan); return s }
	layout := func(_ *SpaceCell, plan string) string { _, l := placeOf(plan); return l }
	graph := func(c *SpaceCell, _ string) string { return c.Graph }
	var plots []charts.Plot
	for _, x := range []struct {
		file, title string
		h           *heat
	}{
		{"space-graphs.png", "Time of a schedule on a graph / best plan", t.heatOf(graph, schedule)},
		{"space-layouts.png", "Time of a schedule on a layout / best plan", t.heatOf(layout, func(c *SpaceCell, plan string) string {
			s, l := placeOf(plan)
			if l == "" {
				return ""
			}
			return s
		})},
	} {
		if len(x.h.rows) == 0 {
			continue
		}
		p, err := x.h.plot(x.title)
		if err != nil {
			return nil, err
		}
		plots = append(plots, charts.Plot{File: x.file, Title: x.title, P: p, Height: vg.Length(3+.75*float64(len(x.h.rows))) * vg.Centimeter})
	}
	return plots, nil
}

// plot draws the table with its numbers; the best are light, places without a time grey.
func (h *heat) plot(title string) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = title
	colors := moreland.ExtendedBlackBody()
	colors.SetMin(0)
	colors.SetMax(1)
	shades := make(shades, 64)
	for k := range shades { // from light to dark, without the darkest
		c, err := colors.At(1 - .8*float64(k)/float64(len(shades)-1))
		if err != nil {
			return nil, err
		}
		shades[k] = c
	}
	m := plotter.NewHeatMap(h, shades)
	m.Min, m.Max = 0, math.Log2(heatMost)
	m.NaN = color.Gray{0xd8}
	p.Add(m)
	var at plotter.XYLabels
	for r, row := range h.values {
		for c, x := range row {
			if !math.IsNaN(x) {
				at.XYs = append(at.XYs, plotter.XY{X: float64(c), Y: float64(len(h.rows) - 1 - r)})
				at.Labels = append(at.Labels, fmt.Sprintf("%.3g", math.Round(x*100)/100))
			}
		}
	}
	labels, err := plotter.NewLabels(at)
	if err != nil {
		return nil, err
	}
	for k := range labels.TextStyle {
		labels.TextStyle[k].XAlign, labels.TextStyle[k].YAlign = text.XCenter, text.YCenter
		labels.TextStyle[k].Font.Size = 8
		if of := at.XYs[k]; h.Z(int(of.X), int(of.Y)) > m.Max/2 { // a dark shade
			labels.TextStyle[k].Color = color.White
		}
	}
	p.Add(labels)
	p.NominalX(h.columns...)
	names := slices.Clone(h.rows)
	slices.Reverse(names)
	p.NominalY(names...)
	p.X.Tick.Label.Rotation, p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = math.Pi/4, text.XRight, text.YCenter
	return p, nil
}

// shades are the colours of a heat.
type shades []color.Color

func (s shades) Colors() []color.Color { return s }
