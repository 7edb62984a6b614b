package examples_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/program"
	"github.com/hiveblas/hiveblas/program/examples"
)

// TestLines counts the lines of user functions as the papers do: what stands between the braces of
// a program, one statement a line, with each statement of CUDA text and without the name.
func TestLines(t *testing.T) {
	t.Parallel()
	most := map[string]int{"BFS": 7, "SSSP": 11, "PageRank": 13, "HCC": 13, "Matching": 13}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "examples.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || most[f.Name.Name] == 0 {
			continue
		}
		seen++
		var lit *ast.CompositeLit
		cuda := 0 // statements of CUDA text beyond the one of a line
		ast.Inspect(f.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if lit == nil {
					lit = n
				}
			case *ast.BasicLit:
				if n.Kind == token.STRING {
					cuda += max(0, strings.Count(strings.TrimSuffix(n.Value, `;"`), ";"))
				}
			case *ast.BlockStmt:
				if len(n.List) > 1 && fset.Position(n.Lbrace).Line == fset.Position(n.Rbrace).Line {
					t.Errorf("%s has several statements on a line", f.Name.Name)
				}
			}
			return true
		})
		lines := fset.Position(lit.Rbrace).Line - fset.Position(lit.Lbrace).Line - 1 + cuda
		for _, e := range lit.Elts {
			if e.(*ast.KeyValueExpr).Key.(*ast.Ident).Name == "Name" {
				lines--
			}
		}
		t.Logf("%s: %d lines", f.Name.Name, lines)
		if lines > most[f.Name.Name] {
			t.Errorf("%s has %d lines, want at most %d", f.Name.Name, lines, most[f.Name.Name])
		}
	}
	if seen != len(most) {
		t.Errorf("%d of %d programs are in examples.go", seen, len(most))
	}
}

// graphs returns undirected and directed graphs with weights.
func graphs(t testing.TB, scale int) map[string]*matrix.Matrix[float64] {
	t.Helper()
	out := map[string]*matrix.Matrix[float64]{}
	for name, tuples := range map[string]gen.Tuples{
		"R-MAT":    gen.Symmetrise(gen.RMAT(scale, 8, gen.RMATOptions{})),
		"directed": gen.RMAT(scale-1, 5, gen.RMATOptions{}),
		"grid":     gen.Symmetrise(gen.Grid2D(11, 23)),
		"sparse":   gen.Symmetrise(gen.ErdosRenyi(1<<scale, 1<<scale/2, 3)),
		"star":     gen.Symmetrise(star(300)),
	} {
		g := gen.CSR(tuples)
		a, err := matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, gen.UniformFloats(g, 5, true))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = a
	}
	return out
}

func star(n int) gen.Tuples {
	t := gen.Tuples{Rows: make([]int32, n-1), Cols: make([]int32, n-1), NRows: n, NCols: n}
	for k := range t.Cols {
		t.Cols[k] = int32(k + 1)
	}
	return t
}

// eachPlan runs a program by each plan and some numbers of threads.
func eachPlan[V, E, M comparable](
	t *testing.T, g matrix.Source[E], p program.Program[V, E, M], check func(res *program.Result[V], state []V),
) {
	t.Helper()
	for _, plan := range []string{"auto", "push", "pull"} {
		for _, threads := range []int{1, 2, 3, 8} {
			res, err := program.Run(context.Background(), g, p, program.Options{Threads: threads, Plan: plan})
			if err != nil {
				t.Fatalf("%s, %d threads: %v", plan, threads, err)
			}
			check(res, sure.Get(res.State.Dense(*new(V))))
			if t.Failed() {
				t.Fatalf("by plan %s and %d threads", plan, threads)
			}
		}
	}
}

func TestExamples(t *testing.T) {
	t.Parallel()
	for name, g := range graphs(t, 9) {
		undirected := name != "directed"
		t.Run("bfs "+name, func(t *testing.T) {
			t.Parallel()
			want, err := apps.BFS(g, 3)
			if err != nil {
				t.Fatal(err)
			}
			eachPlan(t, g.Pattern(), examples.BFS(3), func(_ *program.Result[int32], state []int32) {
				for v, x := range sure.Get(want.Level.Dense(examples.Unreached)) {
					if state[v] != x {
						t.Errorf("vertex %d has level %d, want %d", v, state[v], x)
					}
				}
			})
		})
		t.Run("sssp "+name, func(t *testing.T) {
			t.Parallel()
			want, err := apps.SSSP(g, []int{2})
			if err != nil {
				t.Fatal(err)
			}
			for _, width := range []float64{0, .1, 5} {
				eachPlan(t, g, examples.SSSP(2, width), func(_ *program.Result[float64], state []float64) {
					for v, x := range sure.Get(want.Dense(math.Inf(1))) {
						if state[v] != x {
							t.Errorf("width %v: vertex %d has distance %v, want %v", width, v, state[v], x)
						}
					}
				})
			}
		})
		t.Run("pagerank "+name, func(t *testing.T) {
			t.Parallel()
			want, err := apps.PageRank(g, apps.PageRankOptions{MaxIterations: 10000})
			if err != nil {
				t.Fatal(err)
			}
			eachPlan(t, g.Pattern(), examples.PageRank(.85, 1e-9), func(res *program.Result[examples.Rank], state []examples.Rank) {
				if res.Supersteps != want.Iterations || res.Ended != program.Halted {
					t.Errorf("%d supersteps (%s), want %d", res.Supersteps, res.Ended, want.Iterations)
				}
				for v, x := range sure.Get(want.Rank.Dense(0)) {
					if math.Abs(state[v].Rank-x) > 1e-12 {
						t.Errorf("vertex %d has rank %v, want %v", v, state[v].Rank, x)
					}
				}
			})
		})
		if !undirected {
			continue
		}
		t.Run("hcc "+name, func(t *testing.T) {
			t.Parallel()
			want, err := apps.ConnectedComponents(g)
			if err != nil {
				t.Fatal(err)
			}
			eachPlan(t, g.Pattern(), examples.HCC(), func(_ *program.Result[int32], state []int32) {
				for v, x := range sure.Get(want.Label.Dense(-1)) {
					if state[v] != x {
						t.Errorf("vertex %d has label %d, want %d", v, state[v], x)
					}
				}
			})
		})
		t.Run("matching "+name, func(t *testing.T) {
			t.Parallel()
			eachPlan(t, g.Pattern(), examples.Matching(), func(res *program.Result[examples.Partner], state []examples.Partner) {
				for e := range g.All() {
					if !state[e.Row].Done && !state[e.Col].Done {
						t.Errorf("the edge between %d and %d could be added: not maximal", e.Row, e.Col)
					}
				}
				for v, p := range state {
					if !p.Done {
						continue
					}
					if _, edge := g.At(v, int(p.To)); !edge || !state[p.To].Done || state[p.To].To != int32(v) {
						t.Errorf("vertices %d and %d are not a matched edge", v, p.To)
					}
				}
				if res.Supersteps > 60 {
					t.Errorf("%d supersteps, want O(log n)", res.Supersteps)
				}
			})
		})
	}
}

// TestBipartiteMatching matches rows with columns.
func TestBipartiteMatching(t *testing.T) {
	t.Parallel()
	const rows, cols = 300, 200
	b := gen.Bipartite(rows, cols, 900, 4)
	for k := range b.Cols {
		b.Cols[k] += rows
	}
	b.NRows, b.NCols = rows+cols, rows+cols
	graph := gen.CSR(gen.Symmetrise(b))
	g, err := matrix.FromCSR(graph.NRows, graph.NCols, graph.Ptr, graph.Idx, make([]bool, graph.NNZ()))
	if err != nil {
		t.Fatal(err)
	}
	eachPlan(t, g.Pattern(), examples.Matching(), func(_ *program.Result[examples.Partner], state []examples.Partner) {
		matched := 0
		for v, p := range state {
			if p.Done && v < rows {
				matched++
				if p.To < rows || state[p.To].To != int32(v) {
					t.Errorf("row %d is matched with %d", v, p.To)
				}
			}
		}
		for e := range g.All() {
			if !state[e.Row].Done && !state[e.Col].Done {
				t.Errorf("the edge between %d and %d could be added", e.Row, e.Col)
			}
		}
		if matched == 0 {
			t.Error("no row is matched")
		}
	})
}

// TestLabelPropagation runs planted communities and compares with the groundTruth and among plans.
func TestLabelPropagation(t *testing.T) {
	t.Parallel()
	tuples, groundTruth := gen.Planted(512, 6000, .1, 1)
	graph := gen.CSR(gen.Symmetrise(tuples))
	g, err := matrix.FromCSR(graph.NRows, graph.NCols, graph.Ptr, graph.Idx, make([]bool, graph.NNZ()))
	if err != nil {
		t.Fatal(err)
	}
	var first []examples.Label
	for _, threads := range []int{1, 2, 3, 8} {
		res, err := program.Run(context.Background(), g.Pattern(), examples.LabelPropagation(100), program.Options{Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		state := sure.Get(res.State.Dense(examples.Label{}))
		if first == nil {
			first = state
		}
		same, together := 0, 0
		for v := range state {
			if state[v] != first[v] {
				t.Fatalf("%d threads: vertex %d has %v, with one thread %v", threads, v, state[v], first[v])
			}
			for u := range v {
				if groundTruth[u] == groundTruth[v] {
					together++
					if state[u].Label == state[v].Label {
						same++
					}
				}
			}
		}
		if res.Ended != program.Halted || same < together*9/10 {
			t.Errorf("%s: %d of %d pairs of a community share a label", res.Ended, same, together)
		}
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"bfs": program.Check(examples.BFS(0), 1), "sssp": program.Check(examples.SSSP[float32](2, 0), 2),
		"pagerank": program.Check(examples.PageRank(.85, 1e-9), 3), "hcc": program.Check(examples.HCC(), 4),
		"matching": program.Check(examples.Matching(), 5), "labels": program.Check(examples.LabelPropagation(9), 6),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// BenchmarkAgainstApps times programs and the workflows of apps in turn, on R-MAT of scale
// 16, and reports the ratio of their times.
func BenchmarkAgainstApps(b *testing.B) {
	g := graphs(b, 16)["R-MAT"]
	if !g.IsSymmetric() { // a push and a pull need no transpose then
		b.Fatal("the graph is not symmetric")
	}
	ctx := context.Background()
	width := 1.5 / 14 // as apps.SSSP chooses, about
	for _, c := range []struct {
		name         string
		program, app func() error
	}{
		{"pagerank", func() error { _, err := program.Run(ctx, g.Pattern(), examples.PageRank(.85, 1e-9)); return err },
			func() error { _, err := apps.PageRank(g); return err }},
		{"sssp", func() error { _, err := program.Run(ctx, g, examples.SSSP(1, width)); return err },
			func() error { _, err := apps.SSSP(g, []int{1}); return err }},
		{"hcc", func() error { _, err := program.Run(ctx, g.Pattern(), examples.HCC()); return err },
			func() error { _, err := apps.ConnectedComponents(g); return err }},
		{"bfs", func() error { _, err := program.Run(ctx, g.Pattern(), examples.BFS(1)); return err },
			func() error { _, err := apps.BFS(g, 1); return err }},
	} {
		b.Run(c.name, func(b *testing.B) {
			var times [2]time.Duration
			for b.Loop() {
				for k, f := range []func() error{c.program, c.app} {
					start := time.Now()
					if err := f(); err != nil {
						b.Fatal(err)
					}
					times[k] += time.Since(start)
				}
			}
			b.ReportMetric(float64(times[0])/float64(times[1]), "ratio")
			b.ReportMetric(float64(times[0].Microseconds())/float64(b.N), "µs/program")
		})
	}
}
