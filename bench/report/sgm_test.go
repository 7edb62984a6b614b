package report

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/longtest"
)

// A small case ends with no more disagreements than the true matching, and the table shows it.
func TestSGM(t *testing.T) {
	longtest.SkipInTurns(t, 1, 3)
	table, err := SGM(context.Background(), SGMOptions{Only: []string{"gnp 1024", "email-Enron 1024", "grid 1024"}, Eps: []float64{0, .25}, Data: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if len(table.Rows) != 6 {
		t.Fatalf("%d rows, want 6", len(table.Rows))
	}
	for _, r := range table.Rows {
		if missing := strings.HasPrefix(r.Case, "email"); missing != (r.Failed != "") {
			t.Errorf("%s failed with %q", r.Case, r.Failed)
		} else if !missing && (r.After != r.Truth || r.Accuracy != 1 || r.Before <= r.After || r.Total <= 0 || r.Peak < 8*r.Gradient) {
			t.Errorf("%+v", r)
		}
	}
	var text, object bytes.Buffer
	if err := table.WriteText(&text); err != nil || strings.Count(text.String(), "\n") != 7 {
		t.Errorf("%v: %s", err, text.String())
	}
	var back SGMTable
	if err := table.WriteJSON(&object); err != nil || json.Unmarshal(object.Bytes(), &back) != nil || len(back.Rows) != 6 || back.Rows[3] != table.Rows[3] {
		t.Errorf("%v: %s", err, object.String())
	}
	if _, err := SGM(context.Background(), SGMOptions{Only: []string{"no such case"}}); err == nil {
		t.Error("no case is no error")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := SGM(ctx, SGMOptions{Only: []string{"gnp 1024"}}); err == nil {
		t.Error("a context that has ended is no error")
	}
}

func TestSGMNone(t *testing.T) {
	var none context.Context
	if _, err := SGM(none, SGMOptions{Only: []string{"no such case"}}); err == nil {
		t.Error("SGM of no case has no error")
	}
}
