package peers

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
)

// startFor starts a peer or skips the test.
func startFor(t *testing.T, kind Kind) Peer {
	p, err := Start(context.Background(), kind)
	if errors.Is(err, ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// loadAll writes all inputs as raw files and loads them; the peer may refuse tuples when it has no
// case build.
func loadAll(t *testing.T, p Peer, in map[string]input) {
	dir := t.TempDir()
	for name, input := range in {
		path := filepath.Join(dir, name)
		var err error
		if input.g != nil {
			err = WriteGraph(path, input.g, input.val)
		} else {
			err = WriteTuples(path, input.tuples, tupleValues(input.tuples.Len()))
		}
		if err != nil {
			t.Fatal(err)
		}
		if input.g == nil && !p.Has("build") {
			continue
		}
		if err := p.Load(name, path); err != nil {
			t.Fatal(err)
		}
	}
}

// TestAgainstNaive runs every case of every peer that is here, and compares what it reports with
// plain loops.
func TestAgainstNaive(t *testing.T) {
	in := inputs()
	wanted := map[int]figures{} // each figure once, for all peers
	list := expectations()
	for k, kind := range Kinds {
		if !longtest.Takes(k, 3) {
			continue
		}
		t.Run(string(kind), func(t *testing.T) {
			p := startFor(t, kind)
			loadAll(t, p, in)
			runs := 0
			for k, e := range list {
				if !p.Has(e.name) {
					continue
				}
				if _, done := wanted[k]; !done {
					wanted[k] = e.want(in)
				}
				for range 2 { // the second run meets everything that the first has cached
					got, err := p.Run(e.name, e.on, e.args...)
					if err != nil {
						t.Errorf("%s %s %v: %v", e.name, e.on, e.args, err)
						break
					}
					compare(t, kind, e, got, wanted[k])
					runs++
				}
			}
			t.Logf("%s with %d threads: %d runs", p.Name(), p.Threads(), runs)
		})
	}
}

func compare(t *testing.T, kind Kind, e expectation, got Result, want figures) {
	t.Helper()
	tolerance := 1e-11
	if e.name == "spmv_f32" || slices.Contains(e.args, "f32") {
		tolerance = tolerance32
	}
	if !(math.Abs(got.Check-want.check) <= tolerance*max(1, math.Abs(want.check))) {
		t.Errorf("%s %s %v: check figure %v, want %v", e.name, e.on, e.args, got.Check, want.check)
	}
	// The vectors of the others are full.
	vector := slices.Contains([]string{"spmv_f64", "spmv_f32", "reduce_rows", "reduce_cols"}, e.name)
	if nvals, ok := got.Extra["nvals"]; want.nvals >= 0 && !(vector && kind != SuiteSparse) && (!ok || nvals != want.nvals) {
		t.Errorf("%s %s %v: %v entries, want %v", e.name, e.on, e.args, got.Extra["nvals"], want.nvals)
	}
	if !(got.Ms >= 0) {
		t.Errorf("%s %s %v: %v ms", e.name, e.on, e.args, got.Ms)
	}
}

// TestNetworkX checks the sets and colourings of NetworkX, which are not the same in each version.
func TestNetworkX(t *testing.T) {
	longtest.SkipInTurns(t, 1, 3)
	p := startFor(t, NetworkX)
	in := inputs()
	loadAll(t, p, in)
	for _, on := range []string{"grid", "social", "core", "empty"} {
		for _, name := range []string{"colour", "independent_set"} {
			if got, err := p.Run(name, on); err != nil || got.Check != float64(in[on].g.NRows) {
				t.Errorf("%s %s: %v, %v, want %d", name, on, got.Check, err, in[on].g.NRows)
			}
		}
	}
}

// TestEveryCaseIsExpected fails when a peer has a case that TestAgainstNaive does not know.
func TestEveryCaseIsExpected(t *testing.T) {
	known := map[string]bool{"mmread": true, "mmwrite": true} // TestMatrixMarket
	// Every run of hiveblas-bench cpu compares these with apps.Classify and apps.Geolocate.
	known["classify"], known["geolocate"] = true, true
	for _, name := range []string{"scc", "spanning", "matching", "similar"} { // and with the standard set
		known[name] = true
	}
	known["nominate"], known["match"] = true, true // and hiveblas-bench report these with VertexNomination and SGM
	for _, e := range expectations() {
		known[e.name] = true
	}
	for _, kind := range Kinds {
		t.Run(string(kind), func(t *testing.T) {
			var names []string
			switch p := startFor(t, kind).(type) {
			case *coprocess:
				for name := range p.cases {
					names = append(names, name)
				}
			case *bowman:
				for name := range bowmanCases {
					names = append(names, name)
				}
			}
			for _, name := range names {
				if !known[name] {
					t.Errorf("case %s is compared with nothing", name)
				}
			}
			if len(names) == 0 {
				t.Error("no cases")
			}
		})
	}
}

func TestExtraFigures(t *testing.T) {
	p := startFor(t, SuiteSparse)
	in := inputs()
	loadAll(t, p, in)
	got, err := p.Run("cc", "social")
	if err != nil {
		t.Fatal(err)
	}
	roots := 0
	for i, l := range in["social"].dense().labels() {
		if int(l) == i {
			roots++
		}
	}
	if got.Extra["components"] != float64(roots) {
		t.Errorf("%v components, want %d", got.Extra["components"], roots)
	}
	got, err = p.Run("pagerank", "directed")
	if err != nil {
		t.Fatal(err)
	}
	if _, n := in["directed"].dense().pageRank(.85, 1e-4, 100); got.Extra["iterations"] != float64(n) {
		t.Errorf("%v iterations, want %d", got.Extra["iterations"], n)
	}
	for name, sorted := range map[string]float64{"tricount": 1, "tricount_lut": 0, "tricount_ll_sorted": 1} {
		got, err = p.Run(name, "core")
		if err != nil {
			t.Fatal(err)
		}
		if prep := got.Extra["prep"]; prep <= 0 || prep > got.Ms || got.Extra["sorted"] != sorted {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got, err = p.Run("tricount", "social"); err != nil || got.Extra["sorted"] != 0 {
		t.Errorf("tricount of a graph that is not skewed: %v, %v", got, err)
	}
	if err := SetThreads(p, 1); err != nil || p.Threads() != 1 {
		t.Errorf("one thread: %d, %v", p.Threads(), err)
	}
	if err := SetThreads(p, 0); err == nil {
		t.Error("no threads is accepted")
	}
}

func TestMatrixMarket(t *testing.T) {
	longtest.SkipInTurns(t, 1, 3)
	p := startFor(t, SciPy)
	in := inputs()
	loadAll(t, p, in)
	want := in["directed"].dense().figures()
	path := filepath.Join(t.TempDir(), "with space.mtx")
	for _, run := range [][2]string{{"mmwrite", "directed"}, {"mmread", "-"}} {
		got, err := p.Run(run[0], run[1], path)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got.Check-want.check) > 1e-9 || got.Extra["nvals"] != want.nvals {
			t.Errorf("%s: %v, want %v", run[0], got, want)
		}
	}
}

func TestErrors(t *testing.T) {
	for k, kind := range Kinds {
		if !longtest.Takes(k, 3) {
			continue
		}
		t.Run(string(kind), func(t *testing.T) {
			p := startFor(t, kind)
			in := inputs()
			loadAll(t, p, in)
			junk := filepath.Join(t.TempDir(), "junk")
			sure.Do(os.WriteFile(junk, []byte("HBCSR01\nshort"), 0o600))
			tests := []struct {
				reason string
				do     func() error
			}{
				{"no such case", func() error { _, err := p.Run("nonsense", "grid"); return err }},
				{"no such graph", func() error { _, err := p.Run("spmv_f64", "nonsense"); return err }},
				{"no such file", func() error { return p.Load("x", filepath.Join(t.TempDir(), "none")) }},
				{"a broken file", func() error { return p.Load("x", junk) }},
				{"free of a missing input", func() error { return p.Free("nonsense") }},
				{"no second graph", func() error { _, err := p.Run("ewiseadd", "directed", "nonsense"); return err }},
				{"shapes differ", func() error { _, err := p.Run("ewiseadd", "directed", "grid"); return err }},
			}
			if kind == SuiteSparse {
				bad := func(words ...string) func() error {
					return func() error { _, err := p.Run(words[0], words[1], words[2:]...); return err }
				}
				tests = append(tests, []struct {
					reason string
					do     func() error
				}{
					{"triangles of a directed graph", bad("tricount", "directed")},
					{"components of a directed graph", bad("cc", "directed")},
					{"a product of a rectangle with itself", bad("spgemm_ss_f64", "bipartite")},
					{"a source that is no vertex", bad("bfs", "grid", "100000")},
					{"a negative source", bad("sssp", "grid", "-1")},
					{"a delta of zero", bad("sssp", "grid", "0", "0")},
					{"a type there is not", bad("pagerank", "grid", "0.85", "0", "3", "f16")},
					{"a graph where tuples are due", bad("build", "grid")},
					{"tuples where a graph is due", bad("apply", "tuples")},
					{"a line break", bad("apply", "grid\nquit")},
				}...)
			}
			for _, test := range tests {
				if test.do() == nil {
					t.Errorf("%s: no error", test.reason)
				}
			}
			if _, err := p.Run("spmv_f64", "grid"); err != nil {
				t.Errorf("after all the errors: %v", err)
			}
			if err := p.Free("grid"); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestMissing(t *testing.T) {
	t.Setenv(EnvPeers, t.TempDir())
	_, err := Start(context.Background(), SuiteSparse)
	var missing *MissingError
	if !errors.Is(err, ErrMissing) || !errors.As(err, &missing) || missing.Remedy == "" {
		t.Errorf("got %v", err)
	}
	if _, err := Start(context.Background(), "nonsense"); err == nil || errors.Is(err, ErrMissing) {
		t.Errorf("a peer there is not: %v", err)
	}
}

func TestRawRoundTrip(t *testing.T) {
	for name, in := range inputs() {
		if in.g == nil {
			continue
		}
		path := filepath.Join(t.TempDir(), name)
		if err := WriteGraph(path, in.g, in.val); err != nil {
			t.Fatal(err)
		}
		g, val, err := ReadGraph(path)
		if err != nil {
			t.Fatal(err)
		}
		if g.Fingerprint() != in.g.Fingerprint() || !slices.Equal(val, in.val) {
			t.Errorf("%s does not come back", name)
		}
		whole := sure.Get(os.ReadFile(path))
		for _, cut := range []int{0, 7, 20, len(whole) - 1} {
			sure.Do(os.WriteFile(path, whole[:cut], 0o600))
			if _, _, err := ReadGraph(path); err == nil {
				t.Errorf("%s cut to %d bytes is read", name, cut)
			}
		}
	}
	if err := WriteGraph(filepath.Join(t.TempDir(), "x"), inputs()["grid"].g, []float64{1}); err == nil {
		t.Error("too few values are written")
	}
}

func FuzzReadGraph(f *testing.F) {
	path := filepath.Join(f.TempDir(), "g")
	g := gen.CSR(gen.Grid2D(2, 2))
	if err := WriteGraph(path, g, nil); err != nil {
		f.Fatal(err)
	}
	whole := sure.Get(os.ReadFile(path))
	f.Add(whole)
	f.Fuzz(func(t *testing.T, b []byte) {
		sure.Do(os.WriteFile(path, b, 0o600))
		if g, _, err := ReadGraph(path); err == nil && g.NNZ() != int64(len(g.Idx)) {
			t.Error("a graph that does not hold together was read")
		}
	})
}

// TestShared holds the shared inputs against their definitions in words.
func TestShared(t *testing.T) {
	index, value := Frontier(100000, 10)
	if len(index) < 9500 || len(index) > 10500 || len(value) != len(index) {
		t.Errorf("a frontier of ten in a hundred has %d of 100000", len(index))
	}
	if m := HalfMask(100000); len(m) < 49000 || len(m) > 51000 {
		t.Errorf("half the vertices are %d of 100000", len(m))
	}
	for _, x := range Dense(1000) {
		if x < 1 || x >= 2 || float64(float32(x)) != x {
			t.Fatalf("element %v", x)
		}
	}
	g := gen.CSR(gen.Bipartite(60, 90, 700, 1))
	val := gen.UniformFloats(g, 1, false)
	if got, want := MatrixCheck(g.Ptr, g.Idx, val), denseOf(g, val).figures().check; math.Abs(got-want) > 1e-9 {
		t.Errorf("matrix figure %v, want %v", got, want)
	}
	if got, want := MatrixCheck(g.Ptr, g.Idx, nil), denseOf(g, nil).figures().check; got != want {
		t.Errorf("pattern figure %v, want %v", got, want)
	}
	if got := VectorCheck([]int32{3, 9}, []float64{2, 5}); got != 2*4+5*3 {
		t.Errorf("vector figure %v", got)
	}
}
