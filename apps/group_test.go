package apps

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/generate"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

type groupGraph = *matrix.Matrix[float32]

// groupWorkflows are workflows on a graph that lives on a group. Their results equal those on the
// host, bit for bit; those that sum columns of floats equal their pipelines on one thread.
var groupWorkflows = []struct {
	name string
	run  func(g groupGraph) (any, error)
}{
	{"BFS", func(g groupGraph) (any, error) { return BFS(g, 0, BFSOptions{Parents: true}) }},
	{"PageRank", func(g groupGraph) (any, error) { return PageRank(g) }},
	{"WeightedPageRank", func(g groupGraph) (any, error) { return WeightedPageRank(g) }},
	{"ConnectedComponents", func(g groupGraph) (any, error) { return ConnectedComponents(g) }},
	{"SSSP", func(g groupGraph) (any, error) { return SSSP(g, []int{0, 5}) }},
	{"NominateVertices", func(g groupGraph) (any, error) { return NominateVertices(g, []int{1, 2, 3}) }},
	{"ScanStatistics", func(g groupGraph) (any, error) { return ScanStatistics(g) }},
	{"LocalCluster", func(g groupGraph) (any, error) { return LocalCluster(g, []int{3}) }},
	{"Projection", func(g groupGraph) (any, error) { return Projection[float32](g) }},
	{"TriangleCount", func(g groupGraph) (any, error) { return TriangleCount(g) }},
	{"KTruss", func(g groupGraph) (any, error) { return KTruss(g, 4) }},
	{"CoreNumbers", func(g groupGraph) (any, error) { return CoreNumbers(g) }},
	{"LabelPropagation", func(g groupGraph) (any, error) { return LabelPropagation(g) }},
	{"StronglyConnectedComponents", func(g groupGraph) (any, error) { return StronglyConnectedComponents(g) }},
	{"Betweenness", func(g groupGraph) (any, error) {
		return Betweenness(g, BetweennessOptions{Run: Run{Threads: 1, Method: Pipeline}})
	}},
	{"Closeness", func(g groupGraph) (any, error) {
		return Closeness(g, ClosenessOptions{Run: Run{Threads: 1, Method: Pipeline}})
	}},
}

// resultWords lists the bits of a result.
func resultWords(v any) []string {
	var out []string
	switch v := v.(type) {
	case *matrix.Vector[float64]:
		if v != nil {
			for i, x := range v.All() {
				out = append(out, fmt.Sprint(i, " ", math.Float64bits(x)))
			}
		}
		return out
	case *matrix.Vector[float32]:
		if v != nil {
			for i, x := range v.All() {
				out = append(out, fmt.Sprint(i, " ", math.Float32bits(x)))
			}
		}
		return out
	case *matrix.Vector[int32]:
		if v != nil {
			for i, x := range v.All() {
				out = append(out, fmt.Sprint(i, " ", x))
			}
		}
		return out
	case *matrix.Vector[int64]:
		if v != nil {
			for i, x := range v.All() {
				out = append(out, fmt.Sprint(i, " ", x))
			}
		}
		return out
	case *matrix.Matrix[float32]:
		for at, x := range v.All() {
			out = append(out, fmt.Sprint(at, " ", math.Float32bits(x)))
		}
		return out
	case *matrix.Matrix[int32]:
		if v != nil {
			m, n := v.Dims()
			out = append(out, fmt.Sprint(m, n))
			for at, x := range v.All() {
				out = append(out, fmt.Sprint(at, " ", x))
			}
		}
		return out
	case *matrix.Matrix[float64]:
		if v != nil {
			for at, x := range v.All() {
				out = append(out, fmt.Sprint(at, " ", math.Float64bits(x)))
			}
		}
		return out
	case *matrix.Matrix[int64]:
		for at, x := range v.All() {
			out = append(out, fmt.Sprint(at, " ", x))
		}
		return out
	case time.Duration:
		return nil
	}
	r := reflect.ValueOf(v)
	if r.Kind() == reflect.Pointer && !r.IsNil() && r.Elem().Kind() == reflect.Struct {
		r = r.Elem()
	}
	if r.Kind() != reflect.Struct {
		return []string{fmt.Sprint(v)}
	}
	for i := range r.NumField() {
		if r.Type().Field(i).IsExported() {
			out = append(out, resultWords(r.Field(i).Interface())...)
		}
	}
	return out
}

func TestWorkflowsOnGroups(t *testing.T) {
	t.Parallel()
	edges, err := generate.RMAT(8, 8<<8, generate.RMATOptions{Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	graph := func(at matrix.Place) groupGraph {
		g, err := generate.Matrix[float32](edges, generate.Undirected(), generate.Simple())
		if err == nil {
			err = g.Move(at)
		}
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	counts := []int{3}
	if longtest.Enabled() {
		counts = []int{1, 3, 4}
	}
	for _, w := range groupWorkflows {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			res, err := w.run(graph(nil))
			if err != nil {
				t.Fatal(err)
			}
			want := resultWords(res)
			for _, p := range counts {
				at, err := comm.LocalGroup(p)
				if err != nil {
					t.Fatal(err)
				}
				res, err := w.run(graph(at))
				if err != nil {
					t.Fatalf("%d ranks: %v", p, err)
				}
				got := resultWords(res)
				if len(got) != len(want) {
					t.Fatalf("%d ranks: %d values, want %d", p, len(got), len(want))
				}
				for i := range got {
					if got[i] != want[i] {
						t.Fatalf("%d ranks: value %d is %s, want %s", p, i, got[i], want[i])
					}
				}
				if in := at.Ranks()[0].Ledger().Total().In; p > 1 && in == 0 {
					t.Errorf("%d ranks exchanged nothing", p)
				}
			}
		})
	}
}

// failedResult reports whether a vector or matrix of a result has an error.
func failedResult(v any) bool {
	if e, ok := v.(interface{ Err() error }); ok {
		if r := reflect.ValueOf(v); r.Kind() == reflect.Pointer && r.IsNil() {
			return false
		}
		return e.Err() != nil
	}
	r := reflect.Indirect(reflect.ValueOf(v))
	if r.Kind() != reflect.Struct {
		return false
	}
	for i := range r.NumField() {
		if r.Type().Field(i).IsExported() && failedResult(r.Field(i).Interface()) {
			return true
		}
	}
	return false
}

// A collective that fails is an error of the workflow, or of the vectors of its result, and never a
// result of fewer rounds.
func TestWorkflowsWhereCollectivesFail(t *testing.T) {
	t.Parallel()
	type workflow struct {
		name  string
		graph func(at matrix.Place) groupGraph
		run   func(g groupGraph) (any, error)
	}
	var list []workflow
	undirected := func(at matrix.Place) groupGraph { return hiveGraph(t, 6, false, at) }
	for _, w := range groupWorkflows {
		list = append(list, workflow{w.name, undirected, w.run})
	}
	for _, w := range hiveWorkflows {
		if w.name == "communities" { // whole on every rank of the host
			continue
		}
		list = append(list, workflow{w.name, func(at matrix.Place) groupGraph { return hiveGraph(t, 6, w.directed, at) }, w.run})
	}
	list = append(list,
		workflow{"independent set", undirected, func(g groupGraph) (any, error) { return MaximalIndependentSet(g) }},
		workflow{"colouring", undirected, func(g groupGraph) (any, error) { return Colouring(g) }},
		workflow{"HITS", undirected, func(g groupGraph) (any, error) { return HITS(g) }},
		workflow{"Katz", undirected, func(g groupGraph) (any, error) { return KatzCentrality(g) }},
		workflow{"clustering", undirected, func(g groupGraph) (any, error) { return LocalClustering(g) }},
		workflow{"matching of bipartite graphs", undirected, func(g groupGraph) (any, error) { return BipartiteMatching(g) }},
		workflow{"topological order", undirected, func(g groupGraph) (any, error) {
			n, _ := g.Dims()
			upper := matrix.New[float32](n, n, matrix.On(g.Place()))
			if err := ops.Select(upper, semiring.Triu[float32](1), g); err != nil {
				return nil, err
			}
			return TopologicalOrder(upper)
		}})
	for _, w := range list {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			whole, err := comm.LocalGroup(2)
			if err != nil {
				t.Fatal(err)
			}
			res, err := w.run(w.graph(whole))
			if err != nil {
				t.Fatal(err)
			}
			want := resultWords(res)
			failed := 0
			for call := 1; ; call += 1 + call/20 { // until the fault is after the last collective
				ranks, err := comm.Local(2)
				if err != nil {
					t.Fatal(err)
				}
				ranks[1] = comm.WithFault(ranks[1], comm.Fault{Call: uint64(call)})
				at, err := comm.NewGroup(ranks)
				if err != nil {
					t.Fatal(err)
				}
				res, err := w.run(w.graph(at))
				if err != nil {
					failed++
					continue
				}
				got := resultWords(res)
				if failedResult(res) {
					failed++
					continue
				}
				if !slices.Equal(got, want) {
					t.Fatalf("collective %d fails, and the result is another one without an error", call)
				}
				if at.Ranks()[1].Err() == nil {
					break
				}
			}
			if failed == 0 {
				t.Error("no collective failed")
			}
		})
	}
}
