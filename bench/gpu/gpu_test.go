package gpu

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hiveblas/hiveblas/bench"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/bench/internal/gpuside"
	"github.com/hiveblas/hiveblas/bench/internal/inputs"
	"github.com/hiveblas/hiveblas/bench/internal/tables"
	"github.com/hiveblas/hiveblas/bench/peers"
	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/emu"
	"github.com/hiveblas/hiveblas/internal/emulate"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
)

// TestMain also serves as the fresh process of the first-use case, on the emulator.
func TestMain(m *testing.M) {
	if os.Getenv("HIVEBLAS_TEST_FIRST_USE") == "" {
		os.Exit(m.Run())
	}
	_, with, err := emulate.Driver()
	if err == nil {
		var took time.Duration
		took, err = FirstUse(with...)
		fmt.Println(took.Seconds() * 1e3)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// emulated returns options for the emulator and the smallest inputs.
func emulated(t *testing.T) Options {
	return Options{Rounds: 1, NoPeers: true, shrink: 16, Log: func(s string) { t.Log(s) }, open: emulate.Open(t),
		compiler: func() (driver.Compiler, error) { return emu.NewCompiler() }}
}

func TestGPUEmulated(t *testing.T) {
	o := emulated(t)
	if !longtest.Enabled() {
		all := []string{"spmv fp32 plain rmat18", "bfs", "AᵀA plus_pair 1m", "1000 entries", "assignment", "own", "spsv", "solve"}
		for k, name := range all {
			if longtest.Takes(k, 3) {
				o.Only = append(o.Only, name)
			}
		}
	}
	self := sure.Get(os.Executable())
	t.Setenv("HIVEBLAS_TEST_FIRST_USE", "1")
	o.FirstUse = []string{self}
	table, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	want := 0 // cases of the names asked for with inputs that are no files
	for _, c := range gpuCases() {
		named := len(o.Only) == 0 || slices.ContainsFunc(o.Only, func(name string) bool { return strings.Contains(c.name, name) })
		if named && !strings.HasPrefix(c.input, inputs.DataInput) {
			want++
		}
	}
	if want == 0 || len(table.Rows) != want {
		t.Errorf("%d rows, want %d", len(table.Rows), want)
	}
	for _, r := range table.Rows {
		if strings.HasSuffix(r.Failed, tooNoisy) { // differences of two runs of the smallest inputs
			continue
		}
		if r.Failed != "" || r.Wrong != "" || math.IsNaN(r.Ours.Median) || r.Rounds != 1 {
			t.Errorf("%+v", r)
		}
	}
	if table.Copy <= 0 || table.Cuda != "13.0" || !strings.Contains(table.Device, "emulated") {
		t.Errorf("%+v", table)
	}
	var b bytes.Buffer
	if err := table.WriteText(&b); err != nil {
		t.Error(err)
	}
	t.Log("\n" + b.String())
}

func TestGPUAssignsAsSciPy(t *testing.T) {
	longtest.SkipInTurns(t, 1, 4)
	if _, err := scipyPython(); err != nil {
		t.Skip(err)
	}
	o := emulated(t)
	o.Only, o.NoPeers = []string{"assignment dense 4000"}, false
	table, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if r := table.Rows[0]; r.Failed != "" || r.Wrong != "" || r.Peer == "" || r.Method != "auction" {
		t.Errorf("%+v", r)
	}
}

func TestGPUWithoutOne(t *testing.T) {
	t.Setenv("HIVEBLAS_CUDA", filepath.Join(t.TempDir(), "libcuda.so.1"))
	_, err := Run(t.Context(), Options{})
	if !errors.Is(err, driver.ErrNoDriver) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
	if _, err := FirstUse(); !errors.Is(err, driver.ErrNoDriver) {
		t.Errorf("first use: %v", err)
	}
}

// TestGPUPeers calls all functions of cuSPARSE in a fake library that computes nothing.
func TestGPUPeers(t *testing.T) {
	o := emulated(t)
	lib := filepath.Join(t.TempDir(), "libcusparse.so.12")
	if out, err := exec.Command("gcc", "-shared", "-fPIC", "-w", "-o", lib, "testdata/cusparse.c").CombinedOutput(); err != nil {
		t.Skipf("no gcc: %v\n%s", err, out)
	}
	t.Setenv("HIVEBLAS_CUSPARSE", lib)
	o.NoPeers = false
	o.Only = []string{"spmv fp32 plain", "spmv fp64 plain rmat18", "spmm", "fp32 1m", "fp32 rmat16", "spsv"}
	table, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if table.Cusparse != "12.6.3" {
		t.Errorf("version %s", table.Cusparse)
	}
	for _, r := range table.Rows {
		want, notes := 3, 0
		switch {
		case strings.HasPrefix(r.Case, "spmm"):
			want = 5
		case strings.HasPrefix(r.Case, "spgemm"):
			want, notes = 2, 2
		case strings.HasPrefix(r.Case, "spsv"):
			want, notes = 1, 2
		}
		if len(r.All) != want || len(r.Notes) != notes || r.Failed+r.Wrong != "" || math.IsNaN(r.Ratio) || !strings.HasPrefix(r.Peer, "cusparse|") {
			t.Errorf("%+v", r)
		}
		if strings.HasPrefix(r.Case, "spgemm") && r.Notes[0] != "cusparse|alg1 is left out: cusparseSpGEMM_compute: CUSPARSE_STATUS_INSUFFICIENT_RESOURCES: insufficient resources" {
			t.Errorf("%q", r.Notes[0])
		}
	}
	o.Only = []string{"spmv fp32 plain rmat18"}
	t.Setenv("HIVEBLAS_CUSPARSE", filepath.Join(t.TempDir(), "none"))
	if table, err = Run(t.Context(), o); err != nil || !strings.Contains(table.Cusparse, "cuSPARSE was not found") || table.Rows[0].Failed != "" {
		t.Errorf("without it: %v, %+v", err, table)
	}
}

func TestGPUOnly(t *testing.T) {
	o := emulated(t)
	o.Only = []string{"on 1000 ", "fp32 rmat16"}
	table, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range table.Rows {
		names = append(names, r.Case)
	}
	if got := strings.Join(names, "; "); got != "op on 1000 entries; spgemm S·S fp32 rmat16" {
		t.Errorf("ran %s", got)
	}
	o.Only = []string{"nothing of the kind"}
	if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "nothing of the kind") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o.Only = nil
	if table, err := Run(ctx, o); !errors.Is(err, context.Canceled) || table == nil || len(table.Rows) != 0 {
		t.Errorf("got %v, %v", table, err)
	}
}

// steady is a contender that takes the given times in turn, then the last.
func steady(name string, ms ...float64) gpuside.Contender {
	k := 0
	return gpuside.Contender{Name: name, Timed: func() (time.Duration, error) {
		v := ms[min(k, len(ms)-1)]
		k++
		return time.Duration(v * float64(time.Millisecond)), nil
	}}
}

func broken(name string) gpuside.Contender {
	return gpuside.Contender{Name: name, Timed: func() (time.Duration, error) { return 0, errors.New("out of memory") }}
}

func TestGPUCase(t *testing.T) {
	wrong := func() (string, error) { return "7 entries, want 8", nil }
	closed := 0
	tests := []struct {
		reason  string
		plan    gpuPlan
		bar     Bar
		verdict string
		want    func(r Row) bool
	}{
		{"ratio reached", gpuPlan{ours: []gpuside.Contender{steady("a", 1)}, others: []gpuside.Contender{steady("x|1", 4), steady("x|2", 2)}}, Bar{Ratio: .5}, "yes",
			func(r Row) bool { return r.Ratio == .5 && r.Peer == "x|2" && r.PeerMs == 2 && r.All["x|1"] == 4 }},
		{"ratio missed", gpuPlan{ours: []gpuside.Contender{steady("a", 1)}, others: []gpuside.Contender{steady("x", 2)}}, Bar{Ratio: .4}, "no", nil},
		{"time reached", gpuPlan{ours: []gpuside.Contender{steady("a", 1)}}, Bar{Ms: 1}, "yes", func(r Row) bool { return len(r.Notes) == 0 }},
		{"time missed", gpuPlan{ours: []gpuside.Contender{steady("a", 1)}}, Bar{Ms: .9}, "no", nil},
		{"nothing promised", gpuPlan{ours: []gpuside.Contender{steady("a", 1)}}, Bar{}, tables.None, nil},
		{"no peer", gpuPlan{ours: []gpuside.Contender{steady("a", 1)}, others: []gpuside.Contender{broken("x")}}, Bar{Ratio: 1}, tables.None,
			func(r Row) bool { return len(r.Notes) == 2 && strings.Contains(r.Notes[0], "out of memory") }},
		{"the better of ours", gpuPlan{ours: []gpuside.Contender{steady("a", 3), broken("b"), steady("c", 1)}}, Bar{Ms: 2}, "yes",
			func(r Row) bool { return r.Ours.Median == 1 }},
		{"wrong", gpuPlan{ours: []gpuside.Contender{steady("a", 1)}, check: wrong}, Bar{Ms: 2}, "WRONG",
			func(r Row) bool { return strings.Contains(r.Wrong, "want 8") && !r.Reached() }},
		{"ours fails", gpuPlan{ours: []gpuside.Contender{broken("a")}, close: func() { closed++ }}, Bar{Ms: 2}, "failed",
			func(r Row) bool { return r.Failed == "out of memory" && !r.Reached() }},
		{"first runs do not count", gpuPlan{ours: []gpuside.Contender{steady("a", 90, 80, 1)}}, Bar{Ms: 1}, "yes",
			func(r Row) bool { return r.Rounds == 4 }},
	}
	b := &gpuBench{Options: Options{Rounds: 4}, side: &gpuside.Peers{NoLib: "left out"}}
	for _, test := range tests {
		r := b.measure(gpuCase{test.reason, test.bar, "", func(*gpuBench, *inputs.GPU) (*gpuPlan, error) { return &test.plan, nil }})
		if r.verdict() != test.verdict || test.want != nil && !test.want(r) {
			t.Errorf("%s: %s, %+v", test.reason, r.verdict(), r)
		}
	}
	if closed != 1 {
		t.Errorf("closed %d times", closed)
	}
	r := b.measure(gpuCase{"no plan", Bar{Ms: 1}, "", func(*gpuBench, *inputs.GPU) (*gpuPlan, error) { return nil, errors.New("no such thing") }})
	if r.verdict() != "failed" || r.Failed != "no such thing" {
		t.Errorf("%+v", r)
	}
	if r := b.measure(gpuCase{"no input", Bar{}, "nonsense", nil}); !strings.Contains(r.Failed, "nonsense") {
		t.Errorf("%+v", r)
	}
}

func TestPaceBudget(t *testing.T) {
	slow := bench.Contender{Name: "slow", Run: func() (peers.Result, error) { time.Sleep(2 * time.Millisecond); return peers.Result{Ms: 2}, nil }}
	for _, test := range []struct {
		p        bench.Pace
		from, to int
	}{
		{bench.Pace{Rounds: 9, Budget: time.Nanosecond}, 3, 3},
		{bench.Pace{Rounds: 2, Budget: time.Nanosecond}, 2, 2},
		{bench.Pace{Rounds: 5}, 5, 5},
		{bench.Pace{Rounds: 1000, Budget: 50 * time.Millisecond}, 3, 30},
	} {
		c, err := test.p.Interleave(slow)
		if err != nil || len(c.Ms[0]) < test.from || len(c.Ms[0]) > test.to {
			t.Errorf("%+v: %v, %v", test.p, c, err)
		}
	}
}

func TestRepetitions(t *testing.T) {
	for _, test := range []struct {
		g    gpuside.Contender
		one  time.Duration
		runs int
	}{
		{gpuside.Contender{}, 100 * time.Microsecond, 20},
		{gpuside.Contender{}, 0, 50},
		{gpuside.Contender{}, time.Second, 1},
		{gpuside.Contender{Once: true}, time.Microsecond, 1},
	} {
		runs, after := 0, 0
		test.g.Do = func() error { runs++; return nil }
		test.g.After = func() { after++ }
		test.g.Clock = func(fn func() error) (time.Duration, error) { return time.Duration(test.runs) * time.Millisecond, fn() }
		got, err := test.g.Contender(test.one).Run()
		if err != nil || runs != test.runs || after != 1 || got.Ms != 1 {
			t.Errorf("%v: %d runs, %v, %v", test.one, runs, got, err)
		}
	}
}

func testGPUTable() *Table {
	fast, slow := newGPURow("spmv fp32", Bar{Ratio: .75}), newGPURow("bfs", Bar{Ms: .2})
	fast.fill(&bench.Comparison{Names: []string{"hiveblas", "cusparse|alg1", "cusparse|alg2"}, Ms: [][]float64{{1, 2, 3}, {4, 4, 4}, {5, 6, 7}}})
	fast.Method, fast.Bytes = "pull", 8e6
	fast.Notes = []string{"relabelling took 3 ms,\nonce"}
	slow.fill(&bench.Comparison{Names: []string{"hiveblas"}, Ms: [][]float64{{.25}}})
	wrong, failed := newGPURow("sums", Bar{Ms: 1}), newGPURow("huge", Bar{Ratio: 1})
	wrong.fill(&bench.Comparison{Names: []string{"hiveblas"}, Ms: [][]float64{{.5}}})
	wrong.Wrong, failed.Failed = "row 3 is 1, want 2", "out of device memory"
	return &Table{Device: "gpu:0 (test)", Cuda: "13.0", Cusparse: "12.6.3", Copy: 40, Rows: []Row{fast, slow, wrong, failed}}
}

func TestGPUTableText(t *testing.T) {
	const want = `
gpu:0 (test), CUDA 13.0, cuSPARSE: 12.6.3; a copy on the device moves 40.0 GB/s

case       method  ours ms           peer  peer ms  ratio       bar  reached    MB  % copy
spmv fp32    pull     2.00  cusparse|alg1     4.00   0.50      0.75      yes  8.00    10.0
bfs             –    0.250              –        –      –  0.200 ms       no     –       –
sums            –    0.500              –        –      –   1.00 ms    WRONG     –       –
huge            –        –              –        –      –      1.00   failed     –       –

spmv fp32: relabelling took 3 ms, once
sums: row 3 is 1, want 2
huge: out of device memory
`
	var b bytes.Buffer
	if err := testGPUTable().WriteText(&b); err != nil || "\n"+b.String() != want {
		t.Errorf("%v, got\n%s", err, b.String())
	}
}

func TestGPUTableJSON(t *testing.T) {
	var b bytes.Buffer
	if err := testGPUTable().WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Device string           `json:"device"`
		Copy   float64          `json:"copy_gb_per_s"`
		Rows   []map[string]any `json:"rows"`
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got.Device != "gpu:0 (test)" || got.Copy != 40 || len(got.Rows) != 4 {
		t.Fatalf("got %s", b.String())
	}
	fast, slow, wrong, failed := got.Rows[0], got.Rows[1], got.Rows[2], got.Rows[3]
	for k, ok := range []bool{
		fast["ratio"] == .5 && fast["ours_ms"] == 2.0 && fast["ours_lower_ms"] == 1.5 && fast["rounds"] == 3.0 && fast["reached"] == true,
		fast["peer"] == "cusparse|alg1" && fast["peers_ms"].(map[string]any)["cusparse|alg2"] == 6.0,
		fast["bar_ratio"] == .75 && fast["bar_ms"] == nil && fast["gb_per_s"] == 4.0 && fast["percent_of_copy"] == 10.0 && fast["bytes"] == 8e6,
		slow["reached"] == false && slow["bar_ms"] == .2 && slow["ratio"] == nil && slow["bytes"] == nil,
		wrong["reached"] == false && wrong["wrong"] == "row 3 is 1, want 2",
		failed["reached"] == false && failed["ours_ms"] == nil && failed["failed"] == "out of device memory",
	} {
		if !ok {
			t.Errorf("%d: got %s", k, b.String())
		}
	}
	b.Reset()
	if err := (&Table{}).WriteJSON(&b); err != nil || !strings.Contains(b.String(), `"rows": []`) {
		t.Errorf("empty: %v %s", err, b.String())
	}
}

// TestGPUBars checks that names are distinct and every case has a bar.
func TestGPUBars(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range gpuCases() {
		if seen[c.name] || c.bar == (Bar{}) || c.plan == nil {
			t.Errorf("%q: bar %v", c.name, c.bar)
		}
		seen[c.name] = true
	}
}

func TestFirstUseCommand(t *testing.T) {
	for _, test := range []struct {
		command []string
		want    time.Duration
		err     string
	}{
		{[]string{"echo", "12.5"}, 12500 * time.Microsecond, ""},
		{[]string{"echo", "soon"}, 0, "soon"},
		{[]string{"sh", "-c", "echo no GPU >&2; exit 1"}, 0, "no GPU"},
	} {
		got, err := firstUse(t.Context(), test.command)
		if got != test.want || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%v: %v, %v", test.command, got, err)
		}
	}
}

func TestDegreeOrder(t *testing.T) {
	in, err := inputs.MakeGPU("symmetric9", 0)
	if err != nil {
		t.Fatal(err)
	}
	g := in.Graph
	p, err := permuted(in)
	if err != nil {
		t.Fatal(err)
	}
	if p.NNZ() != g.NNZ() {
		t.Errorf("%d entries, want %d", p.NNZ(), g.NNZ())
	}
	for v := 1; v < p.NRows; v++ {
		if len(p.Row(v)) > len(p.Row(v-1)) {
			t.Fatalf("row %d is longer than the one before", v)
		}
	}
	lower := gen.CSR(inputs.TuplesOf(g, inputs.ByDegree(g), true))
	if 2*lower.NNZ() != g.NNZ() {
		t.Errorf("half of %d entries is not %d", g.NNZ(), lower.NNZ())
	}
	for i := range lower.NRows {
		for _, j := range lower.Row(i) {
			if int(j) >= i {
				t.Fatalf("(%d, %d) is not below the diagonal", i, j)
			}
		}
	}
}
