package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/bench/internal/tables"
	"github.com/hiveblas/hiveblas/bench/peers"
	"github.com/hiveblas/hiveblas/internal/sure"
)

func TestQuartiles(t *testing.T) {
	tests := []struct {
		reason string
		in     []float64
		want   Quartiles
	}{
		{"one", []float64{7}, Quartiles{7, 7, 7}},
		{"two", []float64{2, 1}, Quartiles{1.25, 1.5, 1.75}},
		{"three", []float64{3, 1, 2}, Quartiles{1.5, 2, 2.5}},
		{"four", []float64{4, 3, 2, 1}, Quartiles{1.75, 2.5, 3.25}},
		{"five, an outlier", []float64{1000, 1, 3, 2, 4}, Quartiles{2, 3, 4}},
	}
	for _, test := range tests {
		kept := slices.Clone(test.in)
		if got := QuartilesOf(test.in); got != test.want {
			t.Errorf("%s: %v, want %v", test.reason, got, test.want)
		}
		if !slices.Equal(kept, test.in) {
			t.Errorf("%s: the sample was changed", test.reason)
		}
	}
	for n := 1; n < 50; n++ { // i of 0…n-1 is its own quantile i/(n-1)
		s := make([]float64, n)
		for i := range s {
			s[i] = float64(i)
		}
		if got, want := quantile(s, .5), float64(n-1)/2; math.Abs(got-want) > 1e-12 {
			t.Errorf("median of %d is %v, want %v", n, got, want)
		}
		if quantile(s, 0) != 0 || quantile(s, 1) != float64(n-1) {
			t.Errorf("extremes of %d: %v, %v", n, quantile(s, 0), quantile(s, 1))
		}
	}
	if got := QuartilesOf(nil); !math.IsNaN(got.Median) {
		t.Errorf("median of nothing is %v", got.Median)
	}
}

// fake is a contender that takes the given times in turn, beginning with the uncounted run, and
// records its calls.
func fake(name string, calls *[]string, check float64, ms ...float64) Contender {
	k := 0
	return Contender{Name: name, Run: func() (peers.Result, error) {
		*calls = append(*calls, name)
		k++
		return peers.Result{Ms: ms[k-1], Check: check}, nil
	}}
}

func TestInterleave(t *testing.T) {
	var calls []string
	c, err := Interleave(4,
		fake("ours", &calls, 5, 99, 1, 2, 3, 4),
		fake("slow", &calls, 5, 99, 10, 10, 60, 40),
		fake("fast", &calls, 5.1, 99, 2, 2, 3, 12))
	if err != nil {
		t.Fatal(err)
	}
	order := "ours slow fast ours slow fast slow fast ours fast ours slow ours slow fast"
	if got := strings.Join(calls, " "); got != order {
		t.Errorf("order\n%s, want\n%s", got, order)
	}
	if got := c.Time(0); got != (Quartiles{1.75, 2.5, 3.25}) {
		t.Errorf("our times: %v", got)
	}
	// The ratios of the rounds are 10, 5, 20, 10: their median is not the ratio of the medians,
	// 25/2.5.
	if got := c.Ratio(1, 0).Median; got != 10 {
		t.Errorf("slow takes %v of our time, want 10", got)
	}
	if got := c.Ratio(2, 0).Median; got != 1.5 { // 2, 1, 1, 3
		t.Errorf("fast takes %v of our time, want 1.5", got)
	}
	if c.Best() != 2 {
		t.Errorf("best is %d, want 2", c.Best())
	}
	if c.Aside[2] = true; c.Best() != 1 {
		t.Errorf("best is %d where the fastest is another form of ours, want 1", c.Best())
	}
	if err := c.Agree(.1); err != nil {
		t.Error(err)
	}
	if err := c.Agree(1e-9); err == nil || !strings.Contains(err.Error(), "fast") || strings.Contains(err.Error(), "slow") {
		t.Errorf("disagreement: %v", err)
	}
	c.Results[1].Check = math.NaN()
	if c.Agree(1) == nil {
		t.Error("NaN agrees")
	}
}

func TestInterleaveErrors(t *testing.T) {
	var calls []string
	broken := errors.New("broken")
	_, err := Interleave(2, fake("a", &calls, 0, 1, 1, 1), Contender{Name: "b", Run: func() (peers.Result, error) { return peers.Result{}, broken }})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "b") {
		t.Errorf("got %v", err)
	}
	if _, err := Interleave(0, fake("a", &calls, 0)); err == nil {
		t.Error("no rounds are accepted")
	}
	if _, err := Interleave(1); err == nil {
		t.Error("no contenders are accepted")
	}
	c, err := Interleave(1, fake("a", &calls, 0, 1, 1))
	if err != nil || c.Best() != -1 || !math.IsNaN(NewRow("x", c, 0, 0).Ratio) {
		t.Errorf("a contender alone: %v, %v", c, err)
	}
}

// A peer that fails gets no further rounds, and its cell reports the failure.
func TestPeerDied(t *testing.T) {
	var calls []string
	runs := 0
	lut := Contender{Name: "suitesparse|lut", Run: func() (peers.Result, error) {
		if runs++; runs > 2 {
			return peers.Result{}, &peers.DiedError{Kind: peers.SuiteSparse, Command: "run tricount_lut", Err: errors.New("EOF")}
		}
		return peers.Result{Ms: 1, Check: 9}, nil
	}}
	c, err := Interleave(3, fake("ours", &calls, 9, 1, 1, 1, 1), lut, fake("scipy", &calls, 9, 5, 5, 5, 5))
	if err != nil || runs != 3 {
		t.Fatalf("%d runs of the peer that dies, %v", runs, err)
	}
	if c.Best() != 2 || c.Agree(0) != nil {
		t.Errorf("best is %d, want 2; agreement: %v", c.Best(), c.Agree(0))
	}
	row := NewRow("triangles", c, .5, 0)
	FoldVariants(&row)
	table := &Table{Peers: []string{"suitesparse", "scipy"}, Rows: []Row{row}}
	var text, js bytes.Buffer
	sure.Do(table.WriteText(&text), table.WriteJSON(&js))
	if fields := strings.Fields(strings.Split(text.String(), "\n")[1]); fields[2] != "died" || fields[3] != "5.00" {
		t.Errorf("the row is %q", fields)
	}
	if !strings.Contains(js.String(), `"died": [`) {
		t.Errorf("the JSON does not name the peer that died: %s", js.String())
	}
	row = NewRow("triangles", c, .5, 0)
	row.Peers["suitesparse|dot"] = 2
	FoldVariants(&row)
	if len(row.Died) != 0 || row.Peers["suitesparse"] != 2 {
		t.Errorf("with a variant that lives: %+v", row)
	}
	_, err = Interleave(1, Contender{Name: "ours", Run: func() (peers.Result, error) { return peers.Result{}, &peers.DiedError{} }}, lut)
	if !errors.Is(err, peers.ErrDied) {
		t.Errorf("ours dies: %v", err)
	}
}

func testTable(t *testing.T) *Table {
	var calls []string
	c, err := Interleave(1, fake("ours", &calls, 0, 9, 2), fake("suitesparse", &calls, 0, 9, 3), fake("scipy", &calls, 0, 9, 1234.5))
	if err != nil {
		t.Fatal(err)
	}
	return &Table{Peers: []string{"suitesparse", "scipy"}, Triad: 40, Rows: []Row{
		NewRow("spmv|f64", c, 0.75, 20e6),
		NewRow("late", c, 0.5, 0),
		{Case: "alone", Ours: .01234, Ratio: math.NaN(), GBs: math.NaN()},
	}}
}

func TestTableText(t *testing.T) {
	const want = `
case      ours ms  suitesparse ms  scipy ms  ratio   bar  reached  GB/s  % triad
spmv|f64     2.00            3.00      1234   0.67  0.75      yes  10.0     25.0
late         2.00            3.00      1234   0.67  0.50       no     –        –
alone      0.0123               –         –      –     –        –     –        –
`
	var b bytes.Buffer
	if err := testTable(t).WriteText(&b); err != nil || "\n"+b.String() != want {
		t.Errorf("%v, got\n%s", err, b.String())
	}
}

func TestTableMarkdown(t *testing.T) {
	const want = `
| case      | ours ms | suitesparse ms | scipy ms | ratio |  bar | reached | GB/s | % triad |
|:----------|--------:|---------------:|---------:|------:|-----:|--------:|-----:|--------:|
| spmv\|f64 |    2.00 |           3.00 |     1234 |  0.67 | 0.75 |     yes | 10.0 |    25.0 |
| late      |    2.00 |           3.00 |     1234 |  0.67 | 0.50 |      no |    – |       – |
| alone     |  0.0123 |              – |        – |     – |    – |       – |    – |       – |
`
	var b bytes.Buffer
	if err := testTable(t).WriteMarkdown(&b); err != nil || "\n"+b.String() != want {
		t.Errorf("%v, got\n%s", err, b.String())
	}
}

func TestTableJSON(t *testing.T) {
	var b bytes.Buffer
	if err := testTable(t).WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Triad float64          `json:"triad_gb_per_s"`
		Rows  []map[string]any `json:"rows"`
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	first, last := got.Rows[0], got.Rows[2]
	if got.Triad != 40 || len(got.Rows) != 3 || first["reached"] != true || got.Rows[1]["reached"] != false ||
		first["ratio"] != 2.0/3 || first["percent_of_triad"] != 25.0 || first["best_peer"] != "suitesparse" ||
		first["peers_ms"].(map[string]any)["scipy"] != 1234.5 {
		t.Errorf("got %s", b.String())
	}
	for _, key := range []string{"ratio", "bar", "reached", "gb_per_s", "percent_of_triad"} {
		if v, ok := last[key]; v != nil || !ok {
			t.Errorf("%s of a row alone is %v", key, v)
		}
	}
	b.Reset()
	if err := (&Table{}).WriteJSON(&b); err != nil || !strings.Contains(b.String(), `"rows": []`) {
		t.Errorf("empty: %v %s", err, b.String())
	}
}

func TestFigure(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 1: "1.00", 12.345: "12.3", 999: "999", 123456: "123456", .00012345: "0.000123", -2.5: "-2.50", math.Inf(1): tables.None,
	} {
		if got := tables.Figure(v); got != want {
			t.Errorf("figure(%v) = %s, want %s", v, got, want)
		}
	}
}

// The chains of two calls differ, and the rate is a rate that a processor can have.
func TestRegisters(t *testing.T) {
	if a, b := registersKernel(100, 1), registersKernel(101, 1); a == b {
		t.Errorf("100 and 101 steps give %d", a)
	}
	if got := Registers(2); got < .01 || got > 1e4 {
		t.Errorf("%v steps a nanosecond", got)
	}
}

func TestTriad(t *testing.T) {
	for _, threads := range []int{0, 1, 2, 7} {
		if got := TriadOf(threads, 100003, 3); got < .1 || got > 1e5 {
			t.Errorf("%d threads: %v GB/s", threads, got)
		}
	}
	a, b, c := make([]float64, 5), []float64{1, 2, 3, 4, 5}, []float64{1, 1, 1, 1, 2}
	triadKernel(a, b, c)
	if !slices.Equal(a, []float64{4, 5, 6, 7, 11}) {
		t.Errorf("a = %v", a)
	}
}

func TestLastLevelCache(t *testing.T) {
	dir := t.TempDir()
	if got := lastLevelCache(dir); got != 32<<20 {
		t.Errorf("nothing listed: %d", got)
	}
	for k, size := range []string{"48K", "1M", "32768K\n", "nonsense"} {
		index := filepath.Join(dir, fmt.Sprintf("index%d", k))
		sure.Do(os.Mkdir(index, 0o700))
		sure.Do(os.WriteFile(filepath.Join(index, "size"), []byte(size), 0o600))
	}
	if got := lastLevelCache(dir); got != 32<<20 {
		t.Errorf("got %d, want 32 MiB", got)
	}
	for s, want := range map[string]int{"12": 12, "2G": 2 << 30, "": 0, "-1K": 0} {
		if got := parseSize(s); got != want {
			t.Errorf("parseSize(%q) = %d", s, got)
		}
	}
}

func BenchmarkTriad(b *testing.B) {
	for b.Loop() {
		b.ReportMetric(Triad(2), "GB/s")
	}
}
