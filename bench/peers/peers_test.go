package peers

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/bench/gen"
)

// core is a graph of 200 vertices all joined and 1000 of low degree: skewed enough for triangle counting to sort it.
func core() gen.Tuples {
	t := gen.SmallWorld(1200, 1, 0, 1)
	for i := range int32(200) {
		for j := range i {
			t.Rows, t.Cols = append(t.Rows, i), append(t.Cols, j)
		}
	}
	return gen.Symmetrise(t)
}

// input is a graph that the peers are tested on.
type input struct {
	g      *gen.Graph
	val    []float64
	tuples gen.Tuples // for the case build only
}

func (in input) dense() *dense { return denseOf(in.g, in.val) }

// hiddenEdge is a graph of two dense parts whose only joining edge is in none of the first four entries of any row, and
// where the smaller part has the lower vertex number: a connected-components algorithm that samples rows finds the
// larger part first and must still hang it under the smaller one.
func hiddenEdge() gen.Tuples {
	t := gen.Tuples{NRows: 1500, NCols: 1500}
	join := func(i, j int) {
		t.Rows, t.Cols = append(t.Rows, int32(i)), append(t.Cols, int32(j))
	}
	small := []int{0, 100, 101, 102, 103, 104, 105}
	for _, i := range small {
		for _, j := range small {
			join(i, j)
		}
	}
	for i := 1; i < 1500; i++ {
		if i < 100 || i > 105 {
			for j := 1; j <= 6; j++ {
				join(i, j)
			}
		}
	}
	join(105, 50)
	return gen.Symmetrise(t)
}

func inputs() map[string]input {
	weigh := func(t gen.Tuples, symmetric bool) input {
		g := gen.CSR(t)
		return input{g: g, val: gen.UniformFloats(g, 11, symmetric)}
	}
	count := func(t gen.Tuples) input {
		g := gen.CSR(t)
		val := make([]float64, g.NNZ())
		for k, v := range gen.UniformInts(g, 1, 9, 11, true) {
			val[k] = float64(v)
		}
		return input{g: g, val: val}
	}
	social := gen.Symmetrise(gen.RMAT(11, 12, gen.RMATOptions{Scramble: true}))
	return map[string]input{
		"directed":  weigh(gen.RMAT(7, 4, gen.RMATOptions{Seed: 1}), false),
		"second":    weigh(gen.RMAT(7, 4, gen.RMATOptions{Seed: 2}), false),
		"bipartite": weigh(gen.Bipartite(60, 90, 700, 1), false),
		"pattern":   {g: gen.CSR(gen.RMAT(7, 4, gen.RMATOptions{Seed: 3}))},
		"empty":     {g: gen.CSR(gen.Tuples{NRows: 7, NCols: 7}), val: []float64{}},
		"grid":      count(gen.Grid2D(12, 15)),
		"social":    count(social),
		"hidden":    {g: gen.CSR(hiddenEdge())},
		"core":      count(core()),
		"world":     count(gen.SmallWorld(300, 4, .1, 1)),
		"tuples":    {tuples: gen.ErdosRenyi(40, 3000, 1)},
	}
}

// tupleValues are the values of the tuples file.
func tupleValues(n int) []float64 {
	v := make([]float64, n)
	for k := range v {
		v[k] = float64(k%13) + .5
	}
	return v
}

// expectation is one run and what it must report.
type expectation struct {
	name, on string
	args     []string
	want     func(in map[string]input) figures
}

const tolerance32 = 1e-5

// expectations covers every case of every peer; TestEveryCaseIsExpected sees to that.
func expectations() []expectation {
	var list []expectation
	add := func(name, on string, want func(d *dense) figures, args ...string) {
		list = append(list, expectation{name, on, args, func(in map[string]input) figures { return want(in[on].dense()) }})
	}
	spmv := func(d *dense) figures {
		x := Dense(d.ncols)
		return vectorFigures(d.gather(plus, func(j int, v float64) float64 { return v * x[j] }))
	}
	for _, on := range []string{"directed", "bipartite", "pattern", "empty", "grid"} {
		add("spmv_f64", on, spmv)
		add("spmv_f32", on, spmv)
		add("spmv_accum_f64", on, func(d *dense) figures { return figures{spmv(d).check, float64(d.nrows)} })
		add("spmv_minplus_f64", on, func(d *dense) figures {
			x := Dense(d.ncols)
			return vectorFigures(d.gather(math.Min, func(j int, v float64) float64 { return v + x[j] }))
		})
		for _, percent := range []int{1, 10} {
			add(fmt.Sprintf("vxm_push_%d", percent), on, func(d *dense) figures { return d.push(percent, false) })
			add(fmt.Sprintf("vxm_push_%d_masked", percent), on, func(d *dense) figures { return d.push(percent, true) })
		}
		ata := func(d *dense) figures { return product(d.pattern().transpose(), d.pattern()).figures() }
		add("ata_plus_pair", on, ata)
		add("ata_plus_pair", on, ata, "f64")
		add("transpose", on, func(d *dense) figures { return d.transpose().figures() })
		add("select_tril", on, func(d *dense) figures {
			return d.where(func(i, j int, _ float64) bool { return j < i }, nil)
		})
		above := func(least float64) func(d *dense) figures {
			return func(d *dense) figures {
				return d.where(func(_, _ int, v float64) bool { return v > least }, nil)
			}
		}
		add("select_value", on, above(.5))
		add("select_value", on, above(.9), "0.9")
		add("apply", on, func(d *dense) figures { return d.where(nil, func(v float64) float64 { return -v }) })
		add("apply_bind2", on, func(d *dense) figures { return d.where(nil, func(v float64) float64 { return 2.5 * v }) })
		add("apply_bind2", on, func(d *dense) figures { return d.where(nil, func(v float64) float64 { return 3 * v }) }, "3")
		sums := func(d *dense) figures {
			return vectorFigures(d.gather(plus, func(_ int, v float64) float64 { return v }))
		}
		add("reduce_rows", on, sums)
		add("reduce_cols", on, func(d *dense) figures { return sums(d.transpose()) })
		add("reduce_scalar", on, func(d *dense) figures {
			f := figures{nvals: -1}
			d.each(func(_, _ int, v float64) { f.check += v })
			return f
		})
	}
	for _, on := range []string{"directed", "pattern", "empty", "grid"} {
		add("spgemm_ss_f64", on, func(d *dense) figures { return product(d, d).figures() })
		add("extract_pp", on, func(d *dense) figures {
			p, c := Permutation(d.nrows), newDense(d.nrows, d.ncols)
			for i := range d.nrows {
				for j := range d.ncols {
					if d.has[p[i]][p[j]] {
						c.set(i, j, d.val[p[i]][p[j]])
					}
				}
			}
			return c.figures()
		})
	}
	list = append(list, pairExpectations()...)
	list = append(list, algorithmExpectations()...)
	return list
}

// pairExpectations are those of cases that are not about one graph.
func pairExpectations() []expectation {
	join := func(both bool, op func(a, b float64) float64) func(map[string]input) figures {
		return func(in map[string]input) figures {
			a, b := in["directed"].dense(), in["second"].dense()
			c := newDense(a.nrows, a.ncols)
			for i := range a.nrows {
				for j := range a.ncols {
					if a.has[i][j] && b.has[i][j] || !both && (a.has[i][j] || b.has[i][j]) {
						c.set(i, j, op(a.val[i][j], b.val[i][j]))
					}
				}
			}
			return c.figures()
		}
	}
	return []expectation{
		{"ewiseadd", "directed", []string{"second"}, join(false, plus)},
		{"ewisemult", "directed", []string{"second"}, join(true, func(a, b float64) float64 { return a * b })},
		{"build", "tuples", nil, func(in map[string]input) figures {
			t := in["tuples"].tuples
			c := newDense(t.NRows, t.NCols)
			for k, v := range tupleValues(t.Len()) {
				i, j := int(t.Rows[k]), int(t.Cols[k])
				c.set(i, j, c.val[i][j]+v)
			}
			return c.figures()
		}},
	}
}

func algorithmExpectations() []expectation {
	var list []expectation
	add := func(name, on string, want func(d *dense) figures, args ...string) {
		list = append(list, expectation{name, on, args, func(in map[string]input) figures { return want(in[on].dense()) }})
	}
	one := func(float64) float64 { return 1 }
	same := func(v float64) float64 { return v }
	for _, on := range []string{"grid", "social", "hidden", "core", "world", "empty"} {
		for _, name := range []string{"tricount", "tricount_ll", "tricount_lut", "tricount_ll_sorted", "tricount_lut_sorted"} {
			add(name, on, func(d *dense) figures { return figures{d.triangles(), -1} })
		}
		add("cc", on, func(d *dense) figures { return vectorFigures(d.labels()) })
	}
	for _, on := range []string{"grid", "social", "directed", "world", "empty"} {
		for _, source := range []int{0, 5} {
			levels := func(d *dense) figures { return vectorFigures(d.distances(source, one)) }
			add("bfs", on, levels, fmt.Sprint(source))
			add("bfs_level", on, levels, fmt.Sprint(source))
			for _, delta := range []string{"0.3", "2", "100"} {
				add("sssp", on, func(d *dense) figures { return vectorFigures(d.distances(source, same)) },
					fmt.Sprint(source), delta)
			}
			add("sssp", on, func(d *dense) figures { return vectorFigures(d.distances(source, math.Trunc)) },
				fmt.Sprint(source), "3", "i32")
		}
		rank := func(tolerance float64, most int) func(d *dense) figures {
			return func(d *dense) figures {
				r, _ := d.pageRank(.85, tolerance, most)
				return vectorFigures(r)
			}
		}
		add("pagerank", on, rank(1e-4, 100))
		add("pagerank", on, rank(0, 20), "0.85", "0", "20")
		add("pagerank", on, rank(0, 20), "0.85", "0", "20", "f32")
	}
	return list
}

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

// loadAll writes all inputs as raw files and loads them; the peer may refuse tuples when it has no case build.
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

// TestAgainstNaive runs every case of every peer that is here, and compares what it reports with plain loops.
func TestAgainstNaive(t *testing.T) {
	in := inputs()
	wanted := map[int]figures{} // each figure once, for all peers
	list := expectations()
	for _, kind := range Kinds {
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

// TestEveryCaseIsExpected fails when a peer has a case that TestAgainstNaive does not know.
func TestEveryCaseIsExpected(t *testing.T) {
	known := map[string]bool{"mmread": true, "mmwrite": true} // TestMatrixMarket
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
	for _, kind := range Kinds {
		t.Run(string(kind), func(t *testing.T) {
			p := startFor(t, kind)
			in := inputs()
			loadAll(t, p, in)
			junk := filepath.Join(t.TempDir(), "junk")
			if err := os.WriteFile(junk, []byte("HBCSR01\nshort"), 0o600); err != nil {
				t.Fatal(err)
			}
			tests := []struct {
				reason string
				do     func() error
			}{
				{"no such case", func() error { _, err := p.Run("nonsense", "grid"); return err }},
				{"no such graph", func() error { _, err := p.Run("spmv_f64", "nonsense"); return err }},
				{"no such file", func() error { return p.Load("x", filepath.Join(t.TempDir(), "none")) }},
				{"a broken file", func() error { return p.Load("x", junk) }},
				{"free of what is not there", func() error { return p.Free("nonsense") }},
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
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, cut := range []int{0, 7, 20, len(whole) - 1} {
			if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
				t.Fatal(err)
			}
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
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
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
