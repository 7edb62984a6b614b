package model_test

import (
	"math"
	"testing"

	"github.com/hiveblas/hiveblas/comm/model"
)

func TestFit(t *testing.T) {
	t.Parallel()
	var exact []model.Point
	for b := 8.0; b < 1e9; b *= 4 {
		exact = append(exact, model.Point{Bytes: b, Seconds: 15e-6 + b/360e9})
	}
	l := model.Fit(exact)
	if math.Abs(l.Alpha/15e-6-1) > 1e-9 || math.Abs(l.N/360e9-1) > 1e-9 {
		t.Errorf("%+v", l)
	}
	if s := l.Seconds(360e9); math.Abs(s-1.000015) > 1e-9 {
		t.Errorf("%v s", s)
	}
	for _, tc := range []struct {
		reason string
		points []model.Point
		want   model.Line
	}{
		{"none", nil, model.Line{}},
		{"one", []model.Point{{0, 2}}, model.Line{2, math.Inf(1)}},
		{"without times", []model.Point{{5, 0}, {5, math.NaN()}}, model.Line{}},
		{"falling", []model.Point{{0, 2}, {10, 2}, {1000, 1}}, model.Line{4.0 / 3, math.Inf(1)}},
		{"below 0", []model.Point{{1, 0.5}, {2, 2}}, model.Line{0, 5.0 / 3}},
	} {
		got := model.Fit(tc.points)
		if !near(got.Alpha, tc.want.Alpha) || !near(got.N, tc.want.N) {
			t.Errorf("%s: %+v, want %+v", tc.reason, got, tc.want)
		}
	}
}

func near(a, b float64) bool { return a == b || math.Abs(a-b) <= 1e-9*math.Abs(b) }
