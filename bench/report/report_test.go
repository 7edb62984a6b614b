package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/bench/gpu"
	"github.com/hiveblas/hiveblas/bench/internal/tables"
	"github.com/hiveblas/hiveblas/internal/emulate"
	"github.com/hiveblas/hiveblas/internal/longtest"
)

// tiny are options for the smallest inputs, on the host.
func tiny(t *testing.T) Options {
	t.Setenv("HIVEBLAS_PEERS", t.TempDir()) // hides SuiteSparse on every machine
	return Options{Rounds: 1, Threads: 2, MostScale: 24, shrink: 16, Log: func(s string) { t.Log(s) }}
}

func markdown(t *testing.T, r *Report) string {
	plots, err := r.Plots()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := r.WriteMarkdown(&b, plots); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestReport(t *testing.T) {
	longtest.SkipInTurns(t, 1, 3)
	r, err := New(t.Context(), tiny(t))
	if err != nil {
		t.Fatal(err)
	}
	text := markdown(t, r)
	for _, c := range reportCases() {
		if !strings.Contains(text, "| "+c.name+" ") || !strings.Contains(text, "`hiveblas-bench report --only \""+c.name+"\" --device cpu --rounds 1`") {
			t.Errorf("%s has no row, or no command", c.name)
		}
		if c.original != "" && !strings.Contains(text, c.original) {
			t.Errorf("%s: the original's figure %q is missing", c.name, c.original)
		}
	}
	for _, row := range r.Rows {
		if row.Failed != "" || row.Wrong != nil || row.Rounds != 1 || !(row.Times[HostColumn].Median > 0) || row.Result == "" || row.Input.Generator == "" || row.Input.Entries == 0 {
			t.Errorf("%+v", row)
		}
	}
	for _, title := range tableTitles {
		if !strings.Contains(text, "## "+title+"\n") {
			t.Errorf("there is no table %q", title)
		}
	}
	for _, want := range []string{"| SuiteSparse | missing: ", "run \"make bench-peers\"", "| device      |", "there is no program to run", "there is no GPU", "1/65536", "![Cost growth"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the report", want)
		}
	}
	for _, line := range strings.Split(text, "\n") { // the rows name a missing library
		if strings.HasPrefix(line, "| projection 1m") && strings.Contains(line, " ms") && !strings.Contains(line, "missing") {
			t.Errorf("SuiteSparse is not missing: %s", line)
		}
	}
	for _, c := range growthCases() {
		if !slices.ContainsFunc(r.Growth, func(p GrowthPoint) bool { return p.Workflow == c.name && p.Failed == "" }) {
			t.Errorf("%s has no point", c.name)
		}
	}
	plots, _ := r.Plots()
	if len(plots) < 3 {
		t.Errorf("%d plots", len(plots))
	}
	for _, p := range plots {
		var b bytes.Buffer
		if err := p.WritePNG(&b); err != nil {
			t.Fatal(err)
		}
		if m, err := png.Decode(&b); err != nil || m.Bounds().Dx() < 300 || m.Bounds().Dy() < 100 {
			t.Errorf("%s is no picture: %v", p.File, err)
		}
		if !strings.Contains(text, "("+p.File+")") {
			t.Errorf("%s is not shown", p.File)
		}
	}
	var b bytes.Buffer
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Peers map[string]struct{ Missing string }
		Rows  []struct {
			Times map[string]struct{ Ms *float64 }
		}
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil || len(got.Rows) != len(r.Rows) || got.Rows[0].Times[HostColumn].Ms == nil || got.Peers["SuiteSparse"].Missing == "" {
		t.Errorf("%v, %+v", err, got)
	}
}

func TestReportOnly(t *testing.T) {
	o := tiny(t)
	o.NoPeers, o.Only = true, []string{"lgc seed", "growth vn"}
	o.MostScale = 26 // three points
	r, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 2 || len(r.Chunks) != 0 || len(r.Growth) != 3 {
		t.Errorf("%d rows, %d products, %d points", len(r.Rows), len(r.Chunks), len(r.Growth))
	}
	if text := markdown(t, r); strings.Contains(text, "projection") || !strings.Contains(text, "not asked for") {
		t.Errorf("got\n%s", text)
	}
	o.Only = []string{"no such row"}
	if _, err := New(t.Context(), o); err == nil || !strings.Contains(err.Error(), "no such row") {
		t.Errorf("got %v", err)
	}
}

func TestReportInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	o := tiny(t)
	o.NoPeers, o.Only = true, []string{"lgc", "growth"}
	o.Log = func(s string) {
		if strings.Contains(s, "lgc near all kron21 push") {
			cancel()
		}
	}
	r, err := New(ctx, o)
	if !errors.Is(err, context.Canceled) || r == nil || len(r.Rows) != 2 || len(r.Growth) != 0 {
		t.Fatalf("%v, %+v", err, r)
	}
	if text := markdown(t, r); !strings.Contains(text, "**Interrupted") || !strings.Contains(text, "| lgc seed rmat20 ") {
		t.Errorf("got\n%s", text)
	}
}

func TestReportOnDevice(t *testing.T) {
	o := tiny(t)
	o.NoPeers, o.Open, o.Only = true, emulate.Open(t), []string{"projection 100k", "lgc seed rmat16", "ac 1000", "vn 100 seeds rmat16", "chunked"}
	r, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range r.Rows {
		if row.Failed != "" || row.Wrong != nil || !(row.Times[DeviceColumn].Median > 0) || !(row.Times[HostColumn].Median > 0) || !strings.Contains(row.Command, "--device auto") {
			t.Errorf("%+v", row)
		}
	}
	on := 0
	for _, c := range r.Chunks {
		if strings.HasPrefix(c.What, "device") {
			on++
			if c.Failed != "" || c.Wrong != "" || c.Entries == 0 || !(c.Ratio > 0) || c.PeakDevice == 0 {
				t.Errorf("%+v", c)
			}
		}
	}
	if on != 4 {
		t.Errorf("%d products on the device, want 4", on)
	}
	if text := markdown(t, r); !strings.Contains(text, "emulated") || !strings.Contains(text, "a bare copy of as many bytes") {
		t.Errorf("got\n%s", text)
	}
}

func TestReportWithoutGPU(t *testing.T) {
	t.Setenv("HIVEBLAS_CUDA", t.TempDir())
	o := tiny(t)
	o.NoPeers, o.Only = true, []string{"lgc seed rmat16"}
	o.Open = gpu.OpenFirst
	r, err := New(t.Context(), o)
	if err != nil || !strings.HasPrefix(r.Device, "missing: ") || r.OnDevice {
		t.Errorf("%v, %+v", err, r)
	}
	o.Demand = true
	if _, err := New(t.Context(), o); err == nil {
		t.Error("a GPU that is not there was demanded")
	}
}

func TestReportTellsWhatIsWrong(t *testing.T) {
	row := Row{Name: "case", Failed: "disk\nfull", Wrong: []string{"A finds 1 where B finds 2"}, Absent: map[string]string{"SciPy": "left out: it takes\nminutes", "NetworkX": noWorkflow}}
	want := []string{"case failed: disk full", "case: **results differ**: A finds 1 where B finds 2", "case: SciPy left out: it takes minutes"}
	if got := row.footnotes(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := row.cell("SciPy"); got != "failed" {
		t.Errorf("the cell is %q", got)
	}
	row.Failed = ""
	if row.cell("SciPy") != "left out" || row.cell("NetworkX") != tables.None {
		t.Errorf("the cells are %q and %q", row.cell("SciPy"), row.cell("NetworkX"))
	}
}
