package programs

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/hiveblas/hiveblas/internal/emulate"
	"github.com/hiveblas/hiveblas/internal/longtest"
)

func TestProgramsEmulated(t *testing.T) {
	longtest.SkipInTurns(t, 1, 2)
	o := Options{Sets: []string{"edge-vertex", "medusa"}, Only: []string{"cit-like", "kkt-like"}, Programs: []string{"pagerank 50", "hcc", "matching"},
		Budget: 3 * time.Second, Shrink: 14, open: emulate.Open(t)}
	table, err := Run(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, r := range table.Rows {
		if r.Failed != "" || len(r.Runs) == 0 || r.Runs[0].Plan != "auto" {
			t.Errorf("%s on %s: %+v", r.Program, r.Graph, r)
		}
		for _, x := range r.Runs {
			if x.Err != "" || !(x.Ms > 0) || x.Supersteps < 1 || r.Program == "pagerank 50" && x.Supersteps != 50 {
				t.Errorf("%s on %s: %+v", r.Program, r.Graph, x)
			}
		}
		found[r.Set+" "+r.Graph+" "+r.Program]++
	}
	for _, want := range []string{"edge-vertex cit-like pagerank 50", "edge-vertex cit-like hcc", "medusa kkt-like matching"} {
		if found[want] != 1 {
			t.Errorf("%d rows of %s", found[want], want)
		}
	}
	var text, json bytes.Buffer
	if err := table.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	if err := table.WriteJSON(&json); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"12 / 665", "kkt-like", "cit-like"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, text.String())
		}
	}
	if err := table.WriteText(nil); err == nil {
		t.Error("no writer: no error")
	}
}
