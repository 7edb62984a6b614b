package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/comm"
	"github.com/hiveblas/hiveblas/comm/commtable"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
)

// scale predict and scale run take the table of hiveblas-bench comm.
func TestScale(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "comm.json")
	out := sure.Get(os.Create(file))
	table := &commtable.Table{}
	for _, kind := range comm.Kinds() {
		table.Fits = append(table.Fits, commtable.Collective{Group: "local", Kind: kind.String(), Ranks: 4, Alpha: 2, N: 5})
	}
	sure.Do(table.WriteJSON(out), out.Close())
	graph := filepath.Join(dir, "ring.tsv")
	var ring strings.Builder
	for v := range 400 {
		ring.WriteString(strings.Join([]string{text2(v), text2((v + 1) % 400)}, "\t") + "\n")
	}
	sure.Do(os.WriteFile(graph, []byte(ring.String()), 0o644))
	for _, app := range []string{"spmv", "pagerank", "bfs", "cc"} {
		got := runInProcess(t, "scale", "predict", app, graph, "--counts", "1,2,4", "--hops", "8")
		if !strings.Contains(got, "best: 1, since on 2 the collectives") || !strings.Contains(got, "best: 8 hops") {
			t.Errorf("%s of a ring stays on one device, and copies pay:\n%s", app, got)
		}
	}
	r := object1(t, runInProcess(t, "scale", "run", "bfs", graph, "--counts", "1,3", "--rounds", "2", "--machine", file, "--bandwidth", "10", "--json"))
	runs, _ := r["runs"].([]any)
	if len(runs) != 2 {
		t.Fatal(r)
	}
	if three := runs[1].(map[string]any); three["predicted_bytes"] != three["measured_bytes"] || three["measured_bytes"].(float64) <= 0 || three["measured_seconds"].(float64) <= 0 {
		t.Error(three)
	}
	for k, app := range []string{"search", "scan", "lgc", "project", "closeness", "betweenness", "lasso",
		"vn", "nominate", "geo", "louvain", "ac", "sgm", "sage", "train"} {
		if !longtest.Takes(k, 3) {
			continue
		}
		r := object1(t, runInProcess(t, "scale", "run", app, graph, "--undirected", "--counts", "1,3", "--rounds", "1", "--machine", file, "--bandwidth", "10", "--json"))
		runs, _ := r["runs"].([]any)
		if len(runs) != 2 {
			t.Fatal(r)
		}
		if three := runs[1].(map[string]any); three["predicted_bytes"] != three["measured_bytes"] || app != "louvain" && three["measured_bytes"].(float64) <= 0 {
			t.Error(app, three)
		}
	}
	o := object1(t, runInProcess(t, "scale", "predict", "bfs", graph, "--counts", "1,4", "--machine", file, "--bandwidth", "0.01", "--json"))
	list, _ := o["predictions"].([]any)
	if len(list) != 2 {
		t.Fatal(o)
	}
	if four := list[1].(map[string]any); four["ranks"] != 4.0 || four["seconds"].(float64) <= 0 || four["bytes"].(float64) <= 0 {
		t.Error(four)
	}
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"predict", "tc", graph}, "want one of"},
		{[]string{"run", "train", graph, "--gpus"}, "--gpus"},
		{[]string{"run", "louvain", graph, "--gpus"}, "--gpus"},
		{[]string{"predict", "bfs", graph, "--counts", "0"}, "--counts"},
		{[]string{"predict", "scan", graph, "--measure", "tpu"}, "want gpu or cpu"},
		{[]string{"predict", "bfs", graph, "--measure", "gpu"}, "cannot take turns"},
		{[]string{"predict", "train", graph, "--measure", "gpu"}, "cannot take turns"},
		{[]string{"predict", "bfs", graph, "--source", "400"}, "source 400"},
		{[]string{"predict", "bfs", graph, "--machine", file}, "--bandwidth"},
		{[]string{"predict", "bfs", graph, "--machine", graph}, "ring.tsv"},
		{[]string{"predict", "bfs", graph, "--machine", "nowhere.json"}, "nowhere.json"},
		{[]string{"bench", "--only", "local"}, "hiveblas scale bench is a command of its own: hiveblas-bench comm --only local; go install"},
		{[]string{"rank", "--gpu"}, "hiveblas-bench rank --gpu"},
	} {
		var out, bad strings.Builder
		if code := run(append([]string{"scale"}, tc.args...), &out, &bad); code == 0 || !strings.Contains(bad.String(), tc.want) {
			t.Errorf("%v: exit %d, %s, want %q", tc.args, code, bad.String(), tc.want)
		}
	}
}

func text2(v int) string {
	b, _ := json.Marshal(v)
	return string(b)
}
