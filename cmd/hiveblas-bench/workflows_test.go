package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/cpu"
	"github.com/hiveblas/hiveblas/bench/gpu"
)

// workflowRows are the beginnings of the names of rows, by the name of their workflow in apps.List.
// Not here are features, ktruss, nominate and vn, which stand on workflows and operations with
// rows, embed, which bench/results has beside gensim, and project and sgm, which the report
// measures.
var workflowRows = map[string][]string{
	"ac":          {"classify"},
	"betweenness": {"betweenness"},
	"bfs":         {"bfs", "loop bfs"},
	"cc":          {"components", "loop components"},
	"cdlp":        {"label propagation"},
	"closeness":   {"closeness", "distances to"},
	"clustering":  {"local clustering"},
	"colour":      {"colouring"},
	"diameter":    {"diameter"},
	"eigenvector": {"eigenvector"},
	"geo":         {"geolocation"},
	"hits":        {"HITS"},
	"katz":        {"Katz"},
	"kcore":       {"core numbers", "loop cores"},
	"lasso":       {"fused lasso"},
	"lgc":         {"local cluster "},
	"louvain":     {"louvain", "leiden"},
	"lsap":        {"assignment"},
	"matching":    {"bipartite matching"},
	"maxflow":     {"maximum flow"},
	"mis":         {"independent set", "loop independent set"},
	"msf":         {"spanning forest"},
	"pagerank":    {"pagerank", "personalised pagerank"},
	"sage":        {"graphsage"},
	"scan":        {"scan statistics", "pipeline scan statistics"},
	"scc":         {"strong components", "loop scc"},
	"search":      {"walks", "uniform walks"},
	"similar":     {"similarity"},
	"sssp":        {"sssp", "loop sssp", "loop delta"},
	"tc":          {"triangles", "pipeline triangles"},
	"toposort":    {"topological order"},
}

// workflowOf returns the name of the workflow of a row, empty for a row of an operation.
func workflowOf(row string) string {
	for app, prefixes := range workflowRows {
		for _, p := range prefixes {
			if strings.HasPrefix(row, p) {
				return app
			}
		}
	}
	return ""
}

// operationRows begin the names of rows that measure operations, the runtime, programs and files,
// and no workflow.
var operationRows = []string{"op on", "first use", "spgemm", "chunked", "spmv", "spmm", "spsv", "solve", "vxm", "program", "faces", "own", "build",
	"transpose", "extract", "ewise", "select", "apply", "reduce", "user semiring", "read"}

// Every row of the tables of processors and GPUs is of a workflow of apps.List or of an operation,
// and every workflow in workflowRows has a row.
func TestRowsOfWorkflows(t *testing.T) {
	measured := map[string]bool{}
	for _, name := range slices.Concat(cpu.Cases(true), gpu.Cases()) {
		app, operation := workflowOf(name), false
		for _, prefix := range operationRows {
			operation = operation || strings.HasPrefix(name, prefix)
		}
		if (app != "") == operation {
			t.Errorf("the row %q is of the workflow %q, and of an operation: %v", name, app, operation)
		}
		measured[app] = true
	}
	listed := map[string]bool{}
	for _, a := range apps.List[float64]() {
		listed[a.Name] = true
		if prefixes, ok := workflowRows[a.Name]; ok != measured[a.Name] {
			t.Errorf("%s is in workflowRows: %v, with the rows %q, and has a row: %v", a.Name, ok, prefixes, measured[a.Name])
		}
	}
	for app := range workflowRows {
		if !listed[app] {
			t.Errorf("workflowRows has %s, and apps.List does not", app)
		}
	}
}
