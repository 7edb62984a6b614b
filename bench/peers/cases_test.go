package peers

import (
	"fmt"
	"math"

	"github.com/hiveblas/hiveblas/bench/gen"
)

// core is a graph of 200 vertices all joined and 1000 of low degree: skewed enough for triangle
// counting to sort it.
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

// hiddenEdge is a graph of two dense parts. The only edge that joins them is in none of the first
// four entries of any row, and the smaller part has the lower vertex number: a connected-components
// algorithm that samples rows finds the larger part first and must still hang it under the smaller
// one.
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

// expectation is one run and its expected report.
type expectation struct {
	name, on string
	args     []string
	want     func(in map[string]input) figures
}

const tolerance32 = 1e-5

// expectations covers every case of every peer, as TestEveryCaseIsExpected checks.
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
	for _, on := range []string{"directed", "grid"} {
		add("assignment", on, func(d *dense) figures { return figures{d.assignment(), -1} })
	}
	list = append(list, pairExpectations()...)
	list = append(list, algorithmExpectations()...)
	return list
}

// pairExpectations are the expectations of cases of two graphs or none.
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
		for _, most := range []int{1, 2, 10} {
			add("cdlp", on, func(d *dense) figures { return vectorFigures(d.propagate(most)) }, fmt.Sprint(most))
		}
		for _, name := range []string{"independent_set", "colour"} { // the figure of every right result
			add(name, on, func(d *dense) figures { return figures{float64(d.nrows), -1} })
		}
	}
	for _, on := range []string{"grid", "social", "directed", "empty"} {
		add("katz", on, func(d *dense) figures { return vectorFigures(d.katz(1e-13)) }, "1e-13")
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
