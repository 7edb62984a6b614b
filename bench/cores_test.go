package bench

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"
)

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
