package idioms

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/hiveblas/hiveblas/bench/internal/tables"
	"github.com/hiveblas/hiveblas/internal/longtest"
)

// Both forms of every idiom agree, and the table has a row for each.
func TestIdioms(t *testing.T) {
	longtest.SkipInTurns(t, 2, 3)
	var only []string
	for _, name := range Cases() {
		if !testing.Short() || !strings.HasPrefix(name, "bfs levels") { // the paths are slow
			only = append(only, name)
		}
	}
	table, err := Run(context.Background(), Options{Only: only, Budget: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := len(table.Rows), len(only); got != want {
		t.Errorf("%d rows, want %d", got, want)
	}
	for _, r := range table.Rows {
		if r.Failed != "" || !(r.Ours > 0) || !(r.Loop > 0) {
			t.Errorf("%s: %+v", r.Case, r)
		}
	}
	var text, js bytes.Buffer
	if err := table.WriteText(&text); err != nil || !strings.Contains(text.String(), "k-core") {
		t.Errorf("the table is %q, %v", text.String(), err)
	}
	var back Table
	if err := table.WriteJSON(&js); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(js.Bytes(), &back); err != nil || len(back.Rows) != len(table.Rows) {
		t.Errorf("the JSON does not read back: %v", err)
	}
}

// An idiom fails in its row if its forms disagree, and bars are judged one by one.
func TestIdiomVerdict(t *testing.T) {
	for _, c := range []struct {
		reason string
		row    Row
		text   string
	}{
		{"no bar", Row{Ours: 9, Ratio: 9}, tables.None},
		{"within all", Row{Ours: 1, Ratio: 2, Allocs: 3, TimeBar: 1, RatioBar: 2, AllocsBar: 3}, "yes"},
		{"too slow", Row{Ours: 1.1, TimeBar: 1}, "no"},
		{"ratio too large", Row{Ratio: 2.1, RatioBar: 2}, "no"},
		{"too many allocations", Row{Allocs: 7, AllocsBar: 6}, "no"},
		{"failed", Row{Failed: "wrong", RatioBar: 1}, "no"},
	} {
		if got := c.row.verdict(); got != c.text {
			t.Errorf("%s: the verdict is %q, want %q", c.reason, got, c.text)
		}
	}
	wrong := idiom{name: "wrong", make: func(*idiomInput) (*idiomRun, error) {
		run := reduceIdiomForTest(t)
		run.loop = func() {}
		return run, nil
	}}
	if row := wrong.measure(nil, time.Nanosecond); !strings.Contains(row.Failed, "the loop finds") {
		t.Errorf("forms that disagree: %+v", row)
	}
}

func reduceIdiomForTest(t *testing.T) *idiomRun {
	t.Helper()
	u, err := numbered(10, some(10, 10, 1))
	if err != nil {
		t.Fatal(err)
	}
	return reduceIdiom(u, 10)
}

// Names that match no case are an error.
func TestIdiomsNone(t *testing.T) {
	if _, err := Run(context.Background(), Options{Only: []string{"no such idiom"}}); err == nil {
		t.Error("no error")
	}
	var none context.Context
	if table, err := Run(none, Options{Only: []string{"small assign, full, 10 entries"}, Budget: time.Nanosecond}); err != nil || len(table.Rows) != 1 {
		t.Errorf("with a nil context: %v, %v", table, err)
	}
	if _, err := Run(context.Background(), Options{Data: t.TempDir()}); err == nil {
		t.Error("a folder without email-Enron.mtx.gz is accepted")
	}
}
