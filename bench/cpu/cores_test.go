package cpu

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hiveblas/hiveblas/internal/longtest"
)

// TestCoresOnly runs the cases that only Cores has on small inputs.
func TestCoresOnly(t *testing.T) {
	longtest.SkipInTurns(t, 1, 3)
	groups := []string{operationGroup, conversionGroup, fileGroup, workflowGroup, streamGroup}
	o := CoresOptions{Threads: []int{1, 3}, Rounds: 1, Budget: time.Second, Only: groups, Large: true, shrink: 10}
	cases := map[string]bool{}
	for _, c := range CoresCases(true) {
		if cases[c] {
			t.Errorf("two cases are called %q", c)
		}
		cases[c] = true
	}
	start := time.Now()
	o.Log = func(line string) { t.Logf("%.2f s: %s", time.Since(start).Seconds(), line) }
	table, err := Cores(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if want := len(coresOnly()) + len(streamCases()); len(table.Rows) != want {
		t.Errorf("%d rows, want %d", len(table.Rows), want)
	}
	for _, r := range table.Rows {
		if r.Left != "" || len(r.Ms) != 2 || !(r.Ms[0] > 0) || !(r.Ms[1] > 0) {
			t.Errorf("%+v", r)
		}
		if strings.HasPrefix(r.Case, streamGroup) && len(r.Share) != 2 {
			t.Errorf("%s has no share of the triad", r.Case)
		}
	}
}

// TestCoresLeftOut has a case that needs more memory than there is.
func TestCoresLeftOut(t *testing.T) {
	b := &cpuBench{inputs: map[string]*input{}}
	row, err := b.byThreads(cpuCase{name: "huge", input: "rmat6", memory: 1 << 60}, CoresOptions{Threads: []int{1, 2}}, []float64{1, 1})
	if err != nil || !strings.Contains(row.Left, "of memory") {
		t.Fatalf("%+v, %v", row, err)
	}
	var text bytes.Buffer
	table := &CoresTable{Threads: []int{1, 2}, Triad: []float64{1, 1}, Rows: []CoresRow{row, {Case: "a", Ms: []float64{1, 1}}}}
	if err := table.WriteText(&text); err != nil || !strings.Contains(text.String(), row.Left) {
		t.Errorf("%v:\n%s", err, text.String())
	}
	if _, err := table.Plot(); err != nil {
		t.Error(err)
	}
}

func TestCores(t *testing.T) {
	o := CoresOptions{Threads: []int{1, 3}, Rounds: 1, Budget: time.Second, Only: []string{"classify"}}
	cases := 0
	for _, c := range CoresCases(true) {
		if strings.Contains(c, "classify") {
			cases++
		}
	}
	table, err := Cores(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if cases == 0 || len(table.Rows) != cases || len(table.Triad) != 2 || table.Triad[0] <= 0 {
		t.Fatalf("%d rows, want %d: %+v", len(table.Rows), cases, table)
	}
	for _, r := range table.Rows {
		if len(r.Ms) != 2 || !(r.Ms[0] > 0) || !(r.Ms[1] > 0) {
			t.Errorf("%+v", r)
		}
	}
	var text, json, picture bytes.Buffer
	if err := table.WriteText(&text); err != nil || !strings.Contains(text.String(), "speed-up") {
		t.Errorf("%v:\n%s", err, text.String())
	}
	if err := table.WriteJSON(&json); err != nil || !strings.Contains(json.String(), "triad_gb_per_s") {
		t.Errorf("%v: %s", err, json.String())
	}
	p, err := table.Plot()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.WritePNG(&picture); err != nil || !bytes.HasPrefix(picture.Bytes(), []byte("\x89PNG")) {
		t.Errorf("the plot: %v", err)
	}
	if _, err := Cores(context.Background(), CoresOptions{Threads: []int{0}}); err == nil {
		t.Error("0 threads: no error")
	}
	// More threads that take longer are marked.
	marked := &CoresTable{Threads: []int{1, 2}, Triad: []float64{1, 1}, Rows: []CoresRow{{Case: "a", Ms: []float64{1, 1.2}}, {Case: "b", Ms: []float64{1, 1.05}}}}
	text.Reset()
	if err := marked.WriteText(&text); err != nil || strings.Count(text.String(), "!") != 1 {
		t.Errorf("%v:\n%s", err, text.String())
	}
}
