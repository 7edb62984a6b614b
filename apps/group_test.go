package apps

import (
	"reflect"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/apps/centrality"
	"github.com/hiveblas/hiveblas/apps/communities"
	"github.com/hiveblas/hiveblas/apps/components"
	"github.com/hiveblas/hiveblas/apps/cores"
	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/apps/lgc"
	"github.com/hiveblas/hiveblas/apps/nominate"
	"github.com/hiveblas/hiveblas/apps/order"
	"github.com/hiveblas/hiveblas/apps/paths"
	"github.com/hiveblas/hiveblas/apps/project"
	"github.com/hiveblas/hiveblas/apps/scan"
	"github.com/hiveblas/hiveblas/apps/sets"
	"github.com/hiveblas/hiveblas/apps/triangles"
	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/generate"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// groupWorkflows are workflows on a graph that lives on a group. Their results equal those on the
// host, bit for bit; those that sum columns of floats equal their pipelines on one thread.
var groupWorkflows = []struct {
	name string
	run  func(g samples.GroupGraph) (any, error)
}{
	{"BFS", func(g samples.GroupGraph) (any, error) { return paths.BFS(g, 0, paths.BFSOptions{Parents: true}) }},
	{"PageRank", func(g samples.GroupGraph) (any, error) { return centrality.PageRank(g) }},
	{"WeightedPageRank", func(g samples.GroupGraph) (any, error) { return centrality.WeightedPageRank(g) }},
	{"ConnectedComponents", func(g samples.GroupGraph) (any, error) { return components.ConnectedComponents(g) }},
	{"SSSP", func(g samples.GroupGraph) (any, error) { return paths.SSSP(g, []int{0, 5}) }},
	{"NominateVertices", func(g samples.GroupGraph) (any, error) { return nominate.NominateVertices(g, []int{1, 2, 3}) }},
	{"ScanStatistics", func(g samples.GroupGraph) (any, error) { return scan.ScanStatistics(g) }},
	{"LocalCluster", func(g samples.GroupGraph) (any, error) { return lgc.LocalCluster(g, []int{3}) }},
	{"Projection", func(g samples.GroupGraph) (any, error) { return project.Projection[float32](g) }},
	{"TriangleCount", func(g samples.GroupGraph) (any, error) { return triangles.TriangleCount(g) }},
	{"KTruss", func(g samples.GroupGraph) (any, error) { return cores.KTruss(g, 4) }},
	{"CoreNumbers", func(g samples.GroupGraph) (any, error) { return cores.CoreNumbers(g) }},
	{"LabelPropagation", func(g samples.GroupGraph) (any, error) { return communities.LabelPropagation(g) }},
	{"StronglyConnectedComponents", func(g samples.GroupGraph) (any, error) { return components.StronglyConnectedComponents(g) }},
	{"Betweenness", func(g samples.GroupGraph) (any, error) {
		return centrality.Betweenness(g, centrality.BetweennessOptions{Run: workflow.Run{Threads: 1, Method: workflow.Pipeline}})
	}},
	{"Closeness", func(g samples.GroupGraph) (any, error) {
		return centrality.Closeness(g, centrality.ClosenessOptions{Run: workflow.Run{Threads: 1, Method: workflow.Pipeline}})
	}},
}

func TestWorkflowsOnGroups(t *testing.T) {
	t.Parallel()
	edges, err := generate.RMAT(8, 8<<8, generate.RMATOptions{Seed: 5})
	if err != nil {
		t.Fatal(err)
	}
	graph := func(at matrix.Place) samples.GroupGraph {
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
			want := samples.ResultWords(res)
			for _, p := range counts {
				at, err := comm.LocalGroup(p)
				if err != nil {
					t.Fatal(err)
				}
				res, err := w.run(graph(at))
				if err != nil {
					t.Fatalf("%d ranks: %v", p, err)
				}
				got := samples.ResultWords(res)
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
		graph func(at matrix.Place) samples.GroupGraph
		run   func(g samples.GroupGraph) (any, error)
	}
	var list []workflow
	undirected := func(at matrix.Place) samples.GroupGraph { return hiveGraph(t, 6, false, at) }
	for _, w := range groupWorkflows {
		list = append(list, workflow{w.name, undirected, w.run})
	}
	for _, w := range hiveWorkflows {
		if w.name == "communities" { // whole on every rank of the host
			continue
		}
		list = append(list, workflow{w.name, func(at matrix.Place) samples.GroupGraph { return hiveGraph(t, 6, w.directed, at) }, w.run})
	}
	list = append(list,
		workflow{"independent set", undirected, func(g samples.GroupGraph) (any, error) { return sets.MaximalIndependentSet(g) }},
		workflow{"colouring", undirected, func(g samples.GroupGraph) (any, error) { return sets.Colouring(g) }},
		workflow{"HITS", undirected, func(g samples.GroupGraph) (any, error) { return centrality.HITS(g) }},
		workflow{"Katz", undirected, func(g samples.GroupGraph) (any, error) { return centrality.KatzCentrality(g) }},
		workflow{"clustering", undirected, func(g samples.GroupGraph) (any, error) { return triangles.LocalClustering(g) }},
		workflow{"matching of bipartite graphs", undirected, func(g samples.GroupGraph) (any, error) { return project.BipartiteMatching(g) }},
		workflow{"topological order", undirected, func(g samples.GroupGraph) (any, error) {
			n, _ := g.Dims()
			upper := matrix.New[float32](n, n, matrix.On(g.Place()))
			if err := ops.Select(upper, semiring.Triu[float32](1), g); err != nil {
				return nil, err
			}
			return order.TopologicalOrder(upper)
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
			want := samples.ResultWords(res)
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
				got := samples.ResultWords(res)
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
