package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/cmd/hiveblas/internal/job"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
)

func TestOutputs(t *testing.T) {
	roads, visits := write(t, "roads.mtx", roads), write(t, "visits.mtx", visits)
	names := write(t, "names.tsv", "ann bob\nbob cid\ndan eve\n")
	theSeeds, visited := write(t, "seeds.tsv", "# ours theirs\n0 0\n1, 2 % the second\n"), write(t, "visited.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n")
	series, places, home := write(t, "series.tsv", "0 1 0\n1 0 1.5\n0 1 4\n1 2 5\n2 0 5.9\n0 2 8\n"), write(t, "places.txt", "0 10 20\n4\n"), write(t, "home.tsv", "ann\t1\t2.5\n")
	pipes := write(t, "pipes.tsv", "0 1 3\n0 2 2\n1 2 5\n1 3 2\n2 3 1.5\n")
	pair, level, heavy := write(t, "pair.tsv", "0 1\n1 0\n"), write(t, "y.txt", "0\n10\n5\n"), write(t, "nu.txt", "3\n1\n1\n")
	mirror := write(t, "mirror.mtx", "%%MatrixMarket matrix coordinate real symmetric\n3 3 1\n2 1 1\n")
	cliques := write(t, "cliques.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n7 7 10\n2 1\n3 1\n3 2\n4 3\n5 4\n6 4\n7 4\n6 5\n7 5\n7 6\n")
	features, ones, two := write(t, "x.csv", "a\n1\n2\n3\n4\n5\n6\n"), write(t, "w1.csv", "1\n"), write(t, "w2.csv", "1\n1\n")
	none, none2 := write(t, "n1.csv", "0\n"), write(t, "n2.csv", "0\n0\n") // exact in every BLAS
	marks, begins := write(t, "marks.txt", "1\t3\n4\t5\n3\t2\n0\t1\n"), write(t, "begins.txt", "4 1 % and again\n1\n")
	pairs := write(t, "pairs.tsv", "ann cat 3\nann dog 4\nbob dog 2\nbob cat 0\n")
	started := 0
	for _, c := range []struct {
		reason, args, ext, want string
	}{
		{"columns that share rows", "project " + visits, ".tsv", "0\t1\t2\n1\t0\t2\n1\t2\t12\n2\t1\t12\n"},
		{"rows that share columns", "project --onto rows " + visits, ".tsv", "0\t1\t6\n1\t0\t6\n"},
		{"counts", "project --unweighted " + visits, ".tsv", "0\t1\t1\n1\t0\t1\n1\t2\t1\n2\t1\t1\n"},
		{"the diagonal", "project --onto rows --diagonal " + visits, ".tsv", "0\t0\t5\n0\t1\t6\n1\t0\t6\n1\t1\t25\n"},
		{"ratios are not symmetric", "project --weight ratio " + visits, ".tsv",
			"0\t1\t0.3333333333333333\n1\t0\t0.6666666666666666\n1\t2\t0.42857142857142855\n2\t1\t0.5714285714285714\n"},
		{"Matrix Market counts from 1 and keeps integers", "project " + visits, ".mtx",
			"%%MatrixMarket matrix coordinate integer general\n3 3 4\n1 2 2\n2 1 2\n2 3 12\n3 2 12\n"},

		{"edges go from row to column; vertex 5 is unreachable", "vn --seeds 0 " + roads, ".tsv", "0\t0\n1\t0.5\n2\t2\n3\t2\n4\t10.5\n"},
		{"the nearest of several seeds", "vn --seeds 4,3 " + roads, ".tsv", "0\t2\n1\t2.5\n2\t4\n3\t0\n4\t0\n"},
		{"a repeated seed", "vn --seeds 0,0 " + roads, ".tsv", "0\t0\n1\t0.5\n2\t2\n3\t2\n4\t10.5\n"},
		{"unit weights", "vn --seeds 0 --unit " + roads, ".tsv", "0\t0\n1\t1\n2\t1\n3\t2\n4\t2\n"},
		{"undirected", "vn --seeds 4 --unit --undirected " + roads, ".tsv", "0\t2\n1\t1\n2\t2\n3\t3\n4\t0\n5\t3\n"},
		{"by distance", "vn --seeds 3 --ranked " + roads, ".tsv", "3\t0\n0\t2\n1\t2.5\n2\t4\n4\t12.5\n"},
		{"a vector in Matrix Market is a column", "vn --seeds 0 " + roads, ".mtx",
			"%%MatrixMarket matrix coordinate real general\n6 1 5\n1 1 0\n2 1 0.5\n3 1 2\n4 1 2\n5 1 10.5\n"},

		{"levels", "bfs --source 0 " + roads, ".tsv", "0\t0\n1\t1\n2\t1\n3\t2\n4\t2\n"},
		{"parents; the source is its own", "bfs --source 0 --parents " + roads, ".tsv", "0\t0\n1\t0\n2\t0\n3\t2\n4\t1\n"},
		{"vertices as values also count from 1", "bfs --source 0 --parents " + roads, ".mtx",
			"%%MatrixMarket matrix coordinate integer general\n6 1 5\n1 1 1\n2 1 1\n3 1 1\n4 1 3\n5 1 2\n"},
		{"distances over weights", "sssp --source 1 " + roads, ".tsv", "0\t3.5\n1\t0\n2\t1.5\n3\t1.5\n4\t10\n"},
		{"wide buckets", "sssp --delta 100 --source 1 " + roads, ".tsv", "0\t3.5\n1\t0\n2\t1.5\n3\t1.5\n4\t10\n"},
		{"weak components", "cc " + roads, ".tsv", "0\t0\n1\t0\n2\t0\n3\t0\n4\t0\n5\t0\n"},
		{"two cliques, numbered by size", "louvain " + cliques, ".tsv", "0\t1\n1\t1\n2\t1\n3\t0\n4\t0\n5\t0\n6\t0\n"},
		{"a column a level", "louvain --leiden --levels --max-levels 1 " + cliques, ".tsv", "0\t1\n1\t1\n2\t1\n3\t0\n4\t0\n5\t0\n6\t0\n"},
		{"communities by name", "louvain --undirected --ids renumber " + names, ".tsv", "ann\t0\nbob\t0\ncid\t0\ndan\t1\neve\t1\n"},
		{"communities in Matrix Market", "louvain " + cliques, ".mtx",
			"%%MatrixMarket matrix coordinate integer general\n7 1 7\n1 1 1\n2 1 1\n3 1 1\n4 1 0\n5 1 0\n6 1 0\n7 1 0\n"},
		{"a triangle is a 3-truss", "ktruss -k 3 " + roads, ".tsv",
			"0\t1\t1\n0\t2\t2\n0\t3\t1\n1\t0\t1\n1\t2\t1\n2\t0\t2\n2\t1\t1\n2\t3\t1\n3\t0\t1\n3\t2\t1\n"},

		{"degree and triangles", "scan " + roads, ".tsv", "0\t6\n1\t4\n2\t5\n3\t3\n4\t1\n5\t1\n"},
		{"degrees", "scan --hops 0 " + roads, ".tsv", "0\t4\n1\t3\n2\t3\n3\t2\n4\t1\n5\t1\n"},
		{"two hops", "scan --hops 2 " + roads, ".tsv", "0\t7\n1\t7\n2\t7\n3\t6\n4\t4\n5\t6\n"},
		{"statistics in Matrix Market", "scan --hops 0 " + roads, ".mtx",
			"%%MatrixMarket matrix coordinate integer general\n6 1 6\n1 1 4\n2 1 3\n3 1 3\n4 1 2\n5 1 1\n6 1 1\n"},
		{"windows", "scan --time-column 3 --window 2 --lag 2 " + series, ".tsv",
			"0\t1\t1\tNaN\tNaN\tNaN\n2\t0\t0\tNaN\tNaN\tNaN\n4\t3\t3\t3\t2\tNaN\n6\t0\t0\t-0.7071067811865476\t0\tNaN\n" +
				"8\t1\t1\t-0.23570226039551587\t0\t-0.5272720189266689\n"},
		{"places: known, of one neighbour, a midpoint", "geo --locations " + places + " " + roads, ".tsv",
			"0\t10\t20\t0\n1\t10\t20\t3\n2\t10\t20\t2\n3\t10\t20\t1\n5\t10\t20\t1\n"},
		{"one pass", "geo --passes 1 --median degrees --locations " + places + " " + roads, ".tsv",
			"0\t10\t20\t0\n3\t10\t20\t1\n5\t10\t20\t1\n"},
		{"places by name", "geo --ids renumber --undirected --locations " + home + " " + names, ".tsv",
			"ann\t1\t2.5\t0\nbob\t1\t2.5\t1\ncid\t1\t2.5\t2\n"},

		{"a program: levels", "run bfs --source 0 " + roads, ".tsv", "0\t0\n1\t1\n2\t1\n3\t2\n4\t2\n"},
		{"a program: distances", "run sssp --source 1 --plan push " + roads, ".tsv", "0\t3.5\n1\t0\n2\t1.5\n3\t1.5\n4\t10\n"},
		{"a program: distances in buckets", "run sssp --source 1 --width 2 --plan pull " + roads, ".tsv", "0\t3.5\n1\t0\n2\t1.5\n3\t1.5\n4\t10\n"},
		{"a program: components by name", "run hcc --undirected --ids renumber " + names, ".tsv", "ann\tann\nbob\tann\ncid\tann\ndan\tdan\neve\tdan\n"},
		{"a program: partners by name", "run matching --undirected --ids renumber " + names, ".tsv", "ann\tbob\nbob\tann\ndan\teve\neve\tdan\n"},
		{"a program: labels", "run labels " + cliques, ".mtx",
			"%%MatrixMarket matrix coordinate integer general\n7 1 7\n1 1 2\n2 1 2\n3 1 2\n4 1 4\n5 1 4\n6 1 4\n7 1 4\n"},
		{"greedy walks, from every vertex", "search --method greedy --length 4 --scores " + marks + " " + roads, ".tsv",
			"0\t1\t4\n1\t4\n2\t3\t0\t1\n3\t0\t1\t4\n4\n5\t0\t1\t4\n"},
		{"walks from some, ended", "search --method greedy --length 3 --starts " + begins + " --scores " + marks + " " + roads, ".bin",
			"\x01\x00\x00\x00\x04\x00\x00\x00\xff\xff\xff\xff\x04\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff"},
		{"walks by name", "search --ids renumber --length 3 " + names, ".tsv", "ann\tbob\tcid\nbob\tcid\ncid\ndan\teve\neve\n"},

		{"embeddings by weights of four files", "sage --features " + features + " --wf1 " + ones + " --wa1 " + none + " --wf2 " + two + " --wa2 " + none2 + " " + roads, ".csv",
			"vertex,e0,e1\n0,1,0\n1,1,0\n2,1,0\n3,1,0\n4,1,0\n5,1,0\n"},
		{"the flow of each edge", "maxflow --source 0 --sink 3 " + pipes, ".tsv", "0\t1\t2\n0\t2\t1.5\n1\t3\t2\n2\t3\t1.5\n"},
		{"a flow between names", "maxflow --ids renumber --source ann --sink cid " + names, ".tsv", "ann\tbob\t1\nbob\tcid\t1\n"},
		{"a pair of terms", "lasso --lambda1 1 --values " + level + " " + pair, ".tsv", "0\t2\n1\t8\n2\t5\n"},
		{"one term of an undirected pair", "lasso --lambda1 0,1,inf --undirected --values " + level + " " + pair, ".tsv", "0\t0\t1\t5\n1\t10\t9\t5\n2\t5\t5\t5\n"},
		{"a symmetric file, weighted vertices", "lasso --lambda1 inf --lambda2 .5 --vertex-weights " + heavy + " --values " + level + " " + mirror, ".tsv", "0\t2\n1\t2\n2\t4.5\n"},
		{"values alone", "lasso --lambda1 1 --exact --values " + level + " " + pair, ".txt", "2\n8\n5\n"},

		{"minimum assignment", "lsap " + visits, ".tsv", "0\t0\n1\t1\n"},
		{"maximum assignment", "lsap --maximize " + visits, ".tsv", "0\t1\n1\t2\n"},
		{"missing entries at a cost", "lsap --default 0.5 --method auction " + visits, ".tsv", "0\t2\n1\t0\n"},
		{"named rows and columns", "lsap --ids renumber --bipartite --maximize " + pairs, ".tsv", "ann\tcat\nbob\tdog\n"},

		{"a graph is matched with itself, 5 having no edges", "sgm --seeds 2 " + roads + " " + roads, ".tsv", "0\t0\n1\t1\n2\t2\n3\t3\n4\t4\n5\t5\n"},
		{"hard seeds of a file, and padding", "sgm --hard --pad --seeds " + theSeeds + " " + visited + " " + roads, ".tsv", "0\t0\n1\t2\n"},

		{"strong components", "scc " + roads, ".tsv", "0\t0\n1\t0\n2\t0\n3\t0\n4\t4\n5\t5\n"},
		{"core numbers of cliques", "kcore " + cliques, ".tsv", "0\t2\n1\t2\n2\t2\n3\t3\n4\t3\n5\t3\n6\t3\n"},
		{"a pair counts once", "betweenness " + cliques, ".tsv", "0\t0\n1\t0\n2\t8\n3\t9\n4\t0\n5\t0\n6\t0\n"},
		{"clustering coefficients", "clustering " + cliques, ".tsv", "0\t1\n1\t1\n2\t0.3333333333333333\n3\t0.5\n4\t1\n5\t1\n6\t1\n"},
		{"a colour for each vertex", "colour " + cliques, ".tsv", "0\t2\n1\t0\n2\t1\n3\t0\n4\t3\n5\t1\n6\t2\n"},
		{"the lightest tree", "msf --undirected " + pipes, ".tsv", "0\t2\t2\n1\t3\t2\n2\t0\t2\n2\t3\t1.5\n3\t1\t2\n3\t2\t1.5\n"},
		{"a matching of names", "matching --ids renumber --bipartite " + pairs, ".tsv", "ann\tcat\nbob\tdog\n"},
		{"similar rows of a rectangle", "similar " + visits, ".tsv", "0\t1\t0.3333333333333333\n1\t0\t0.3333333333333333\n"},
		{"an order by names", "toposort --ids renumber " + names, ".tsv", "ann\t0\ndan\t0\nbob\t1\neve\t1\ncid\t2\n"},
		{"nominations by names", "nominate --ids renumber --seeds ann " + names, ".tsv", "bob\t1\ncid\t0.5\ndan\t0\neve\t0\n"},
		{"jumps to a seed", "pagerank --seeds 3 --damping 0.5 --weighted --tolerance 1e-15 " + pipes, ".tsv", "0\t0\n1\t0\n2\t0\n3\t1\n"},
		{"names in, names out", "cc --ids renumber " + names, ".tsv", "ann\tann\nbob\tann\ncid\tann\ndan\tdan\neve\tdan\n"},
		{"a named source", "bfs --ids renumber --source bob " + names, ".tsv", "bob\t0\ncid\t1\n"},
		{"separate rows and columns of an edge list", "project --ids renumber --bipartite --onto rows --diagonal " + names, ".tsv",
			"ann\tann\t1\nbob\tbob\t1\ndan\tdan\t1\n"},
	} {
		t.Run(strings.Fields(c.args)[0]+"/"+c.reason, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out"+c.ext)
			summary := succeed(t, append(strings.Fields(c.args), "-o", out)...)
			if got := contents(t, out); got != c.want {
				t.Errorf("%s: got\n%s\nwant\n%s", c.args, got, c.want)
			}
			if !strings.Contains(summary, out) {
				t.Errorf("the summary does not name the output: %s", summary)
			}
			if n := len(files(t, filepath.Dir(out))); n != 1 {
				t.Errorf("%d files beside the output", n-1)
			}
			// Standard output gets the same bytes and nothing else.
			if c.ext == ".tsv" {
				if got := succeed(t, append(strings.Fields(c.args), "-o", "-")...); got != c.want {
					t.Errorf("-o -: got %q", got)
				}
				// The standard output of a process. The quick form starts one for every fifth,
				// others every turn.
				if started++; longtest.Enabled() || (started+longtest.Turn())%5 == 0 {
					if r := process(t, append(strings.Fields(c.args), "-o", "/dev/stdout")...); r.code != 0 || r.stdout != c.want {
						t.Errorf("-o /dev/stdout: %+v", r)
					}
				}
			}
			zipped := filepath.Join(t.TempDir(), "out"+c.ext+".gz")
			succeed(t, append(strings.Fields(c.args), "-o", zipped)...)
			if got := unzip(t, zipped); got != c.want {
				t.Errorf("%s: got %q", zipped, got)
			}
		})
	}
}

func unzip(t *testing.T, path string) string {
	t.Helper()
	z, err := gzip.NewReader(strings.NewReader(contents(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestJSON(t *testing.T) {
	roads, visits := write(t, "roads.mtx", roads), write(t, "visits.mtx", visits)
	for _, c := range []struct {
		args string
		want string // figures, as JSON
	}{
		{"info " + roads, `{"command":"info","input":{"rows":6,"cols":6,"nnz":7},"min":0,"max":10,"zeros":1}`},
		{"stats " + roads, `{"command":"stats","symmetric":false,"self_loops":0,"rows":6,"cols":6,"nnz":7}`},
		{"project " + visits, `{"command":"project","input":{"rows":2,"cols":3,"nnz":4},"method":"sorted","nnz":4,"sum":28,"max":12}`},
		{"project --unweighted " + chesapeake, `{"input":{"rows":39,"cols":39,"nnz":340},"nnz":1372,"max":28}`},
		{"vn --seeds 0 " + roads, `{"command":"vn","reached":5,"max_distance":10.5,"sum_distance":15}`},
		{"sssp --source 1 " + roads, `{"command":"sssp","method":"delta-stepping: buckets","reached":5,"max_distance":10,"sum_distance":16.5}`},
		{"bfs --source 0 " + roads, `{"command":"bfs","reached":5,"max_level":2}`},
		{"pagerank " + karate, `{"command":"pagerank","input":{"rows":34,"cols":34,"nnz":156},"method":"power iteration: pull","iterations":52}`},
		{"cc " + roads, `{"command":"cc","components":1,"largest":6}`},
		{"tc " + karate, `{"command":"tc","method":"L·Lᵀ by degree: dot","triangles":45}`},
		{"scan " + karate, `{"command":"scan","max":34,"argmax":[0],"sum":291,"edges":78,"triangles":45,"method":"corners"}`},
		{"scan --hops 2 " + karate, `{"max":76,"argmax":[31],"edges":78}`},
		{"scan --time-column 3 --window 2 --lag 2 " + write(t, "series.tsv", "0 1 0\n1 0 1.5\n0 1 4\n1 2 5\n2 0 5.9\n0 2 8\n"), `{"command":"scan","input":{"rows":3,"cols":3,"nnz":6},"windows":5,"anomalies":[]}`},
		{"geo " + karate + " --locations " + write(t, "places.txt", "34 2 2\n0 10 20\n33 50 8\n4\n"), `{"command":"geo","known":2,"located":34,"unlocated":0,"passes":2,"unfinished":0}`},
		{"search " + karate + " --method greedy --length 3 --scores " + write(t, "marks.txt", strings.Repeat("1\n", 33)+"2.5\n"), `{"command":"search","walks":34,"steps":68,"ended":0,"score_sum":132,"distinct":34,"distinct_score":35.5,"method":"greedy"}`},
		{"maxflow --source 0 --sink 3 " + write(t, "pipes.tsv", "0 1 3\n0 2 2\n1 2 5\n1 3 2\n2 3 1.5\n"),
			`{"command":"maxflow","value":3.5,"method":"trees","source_side":3,"sink_side":1}`},
		{"lasso --lambda1 5 --exact --values " + write(t, "y.txt", "0\n10\n-3\n0\n") + " " + write(t, "e.tsv", "0 1\n"),
			`{"command":"lasso","objective":25,"regions":3,"zeros":1,"proven":true}`},
		{"sgm --seeds 34 " + karate + " " + karate + " --truth " + write(t, "truth.tsv", "0 0\n1 1\n2 3\n4 4\n"),
			`{"command":"sgm","orig_dist":0,"final_dist":0,"iterations":0,"converged":true,"matched_seeds":34,"accuracy":0.75}`},
		{"louvain --leiden --passes 4 " + karate, `{"command":"louvain","communities":4,"largest":12}`},
		{"scc " + roads, `{"command":"scc","components":3,"largest":4}`},
		{"kcore " + karate, `{"command":"kcore","max":4,"innermost":10}`},
		{"closeness " + karate, `{"command":"closeness","targets":34}`},
		{"mis " + karate, `{"command":"mis","method":"independent set: greedy","size":8}`},
		{"mis --priority degree " + karate, `{"command":"mis","method":"independent set by degree: greedy","size":20}`},
		{"colour --order smallest-last " + karate, `{"command":"colour","method":"smallest-last: buckets+greedy","colours":5}`},
		{"hits " + karate, `{"command":"hits"}`},
		{"eigenvector " + karate, `{"command":"eigenvector"}`},
		{"katz " + karate, `{"command":"katz"}`},
		{"cdlp --iterations 2 " + karate, `{"command":"cdlp","iterations":2,"stable":false,"communities":6,"modularity":0.0994411571334648}`},
		{"diameter " + karate, `{"command":"diameter","lower":5,"upper":5}`},
		{"diameter --searches 1 " + karate, `{"command":"diameter","searches":1}`},
		{"sssp --source 0 " + write(t, "over.tsv", "0\t1\t1.7e308\n1\t2\t1.7e308\n3\t0\t1\n"), `{"command":"sssp","reached":3,"max_distance":null}`},
		{"ktruss -k 4 " + karate, `{"command":"ktruss","vertices":12,"edges":25}`},
		{"lsap " + visits, `{"command":"lsap","input":{"rows":2,"cols":3,"nnz":4},"method":"jonker-volgenant","value":4,"gap":0,"assigned":2}`},
		{"lsap --maximize --epsilon 1 --default 0 --method auction " + visits, `{"command":"lsap","method":"auction","assigned":2}`},
		{"convert " + roads + " " + filepath.Join(t.TempDir(), "x.tsv"), `{"command":"convert","elements":"real"}`},
		{"spy " + roads + " -o " + filepath.Join(t.TempDir(), "x.png"), `{"command":"spy"}`},
	} {
		t.Run(c.args, func(t *testing.T) {
			got := report(t, append(strings.Fields(c.args), "--threads", "1")...)
			var want map[string]any
			if err := json.Unmarshal([]byte(c.want), &want); err != nil {
				t.Fatal(err)
			}
			want["device"], want["threads"] = "cpu", 1.0
			for key, w := range want {
				a, _ := json.Marshal(got[key])
				b, _ := json.Marshal(w)
				if !bytes.Equal(a, b) {
					t.Errorf("%s is %s, want %s", key, a, b)
				}
			}
			for _, key := range []string{"command", "input", "method", "device", "threads", "seconds"} {
				if _, ok := got[key]; !ok {
					t.Errorf("no %s", key)
				}
			}
			seconds, _ := got["seconds"].(map[string]any)
			for _, stage := range []string{"read", "compute", "write", "total"} {
				if s, ok := seconds[stage].(float64); !ok || s < 0 || s > 60 {
					t.Errorf("seconds.%s is %v", stage, seconds[stage])
				}
			}
		})
	}
}

func TestPageRankSums(t *testing.T) {
	out := filepath.Join(t.TempDir(), "r.tsv")
	got := report(t, "pagerank", karate, "-o", out, "--tolerance", "1e-12", "--damping", "0.9")
	if s := got["sum"].(float64); math.Abs(s-1) > 1e-12 {
		t.Errorf("the ranks sum to %v", s)
	}
	if n := strings.Count(contents(t, out), "\n"); n != 34 {
		t.Errorf("%d ranks", n)
	}
}

func TestInfoOfMachine(t *testing.T) {
	if got := succeed(t, "info"); !strings.Contains(got, "devices   cpu") {
		t.Error(got)
	}
	noCUDA(t)
	got := succeed(t, "info")
	for _, want := range []string{"libcuda.so.1 was not found: install the NVIDIA driver", "NVRTC was not found: ", "cuSPARSE was not found: "} {
		if strings.Count(got, want) != 1 {
			t.Errorf("%q is not said once in\n%s", want, got)
		}
	}
	for _, key := range []string{"cuda_error", "nvrtc_error", "cusparse_error"} {
		if s, ok := report(t, "info")[key].(string); !ok || s == "" {
			t.Errorf("no %s in JSON", key)
		}
	}
	if got := report(t, "info"); got["command"] != "info" || got["version"] == nil {
		t.Error(got)
	}
}

func TestConvertRoundTrips(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ reason, text, header string }{
		{"real", roads, "%%MatrixMarket matrix coordinate real general\n"},
		{"integer", visits, "%%MatrixMarket matrix coordinate integer general\n"},
		{"pattern", "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 3\n3 2\n", "%%MatrixMarket matrix coordinate pattern general\n"},
		{"whole numbers in a real file", "%%MatrixMarket matrix coordinate real general\n2 2 1\n2 2 1000000\n", "%%MatrixMarket matrix coordinate real general\n"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			in := write(t, "in.mtx", c.text)
			for _, via := range []string{".mtx", ".mtx.gz", ".hgb", ".hgb.gz"} {
				mid, out := filepath.Join(dir, "mid"+via), filepath.Join(dir, "out.mtx")
				succeed(t, "convert", in, mid)
				succeed(t, "convert", mid, out)
				got := contents(t, out)
				if !strings.HasPrefix(got, c.header) {
					t.Errorf("via %s: header %q", via, strings.SplitN(got, "\n", 2)[0])
				}
				again := filepath.Join(dir, "again.mtx")
				succeed(t, "convert", in, again)
				if got != contents(t, again) {
					t.Errorf("via %s: got %s", via, got)
				}
			}
		})
	}
	t.Run("an edge list and back", func(t *testing.T) {
		list, out := filepath.Join(dir, "k.tsv.gz"), filepath.Join(dir, "k.mtx")
		succeed(t, "convert", karate, list)
		succeed(t, "convert", list, out, "--symmetric")
		if got, want := report(t, "info", out), report(t, "info", karate); got["listed"] != want["listed"] || got["kind"] != want["kind"] {
			t.Errorf("got %v, want %v", got, want)
		}
	})
	t.Run("counts are not in scientific notation", func(t *testing.T) {
		in := write(t, "in.mtx", "%%MatrixMarket matrix coordinate real general\n1 2 2\n1 1 1e6\n1 2 2e21\n")
		if got := succeed(t, "convert", in, "-"); got != "0\t0\t1e+06\n0\t1\t2e+21\n" {
			t.Errorf("real: %q", got)
		}
		in = write(t, "in.mtx", "%%MatrixMarket matrix coordinate integer general\n1 2 2\n1 1 1000000\n1 2 1\n")
		if got := succeed(t, "project", in, "-o", "-"); got != "0\t1\t1000000\n1\t0\t1000000\n" {
			t.Errorf("integer: %q", got)
		}
	})
}

func TestUndirected(t *testing.T) {
	roads := write(t, "roads.mtx", roads)
	binary := filepath.Join(t.TempDir(), "roads.hgb")
	succeed(t, "convert", roads, binary)
	for _, in := range []string{roads, binary} {
		if got := report(t, "info", in, "--undirected")["input"].(map[string]any)["nnz"]; got != 14.0 {
			t.Errorf("%s: %v entries", in, got)
		}
		if got := report(t, "stats", in, "--undirected")["symmetric"]; got != true {
			t.Errorf("%s is not symmetric", in)
		}
		if got := report(t, "sssp", in, "--source", "5", "--undirected"); got["reached"] != 6.0 || got["max_distance"] != 11.5 {
			t.Errorf("%s: %v", in, got)
		}
	}
}

func TestSeedsFile(t *testing.T) {
	seeds := write(t, "seeds.txt", "# the heads of the two factions\n0 % the instructor\n\n 33 , 0\r\n")
	got := report(t, "vn", karate, "--seeds", seeds, "--top", "2")
	if got["seeds"] != 2.0 || got["reached"] != 34.0 || got["max_distance"] != 2.0 {
		t.Error(got)
	}
	if top := got["top"].([]any); len(top) != 2 || top[0].(map[string]any)["vertex"] != 1.0 {
		t.Error(got["top"])
	}
}

func TestSpy(t *testing.T) {
	for _, c := range []struct{ reason, text string }{
		{"square", roads}, {"wide", visits},
		{"no entries", "%%MatrixMarket matrix coordinate real general\n3 4 0\n"},
		{"no rows", "%%MatrixMarket matrix coordinate real general\n0 0 0\n"},
		{"very tall", "%%MatrixMarket matrix coordinate real general\n2000000000 1 2\n1 1 1\n2000000000 1 1\n"},
	} {
		t.Run(c.reason, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "x.png")
			succeed(t, "spy", write(t, "g.mtx", c.text), "-o", out)
			f := sure.Get(os.Open(out))
			defer f.Close()
			img, err := png.Decode(f)
			if err != nil {
				t.Fatal(err)
			}
			if b := img.Bounds(); b.Dx() < 300 || b.Dy() < 300 {
				t.Errorf("the picture is %v", b)
			}
		})
	}
}

func TestQuiet(t *testing.T) {
	if got := succeed(t, "cc", karate, "--quiet", "-o", filepath.Join(t.TempDir(), "c.tsv")); got != "" {
		t.Errorf("with -o: %q", got)
	}
	if got := succeed(t, "cc", karate, "--quiet"); !strings.Contains(got, "components") {
		t.Errorf("without -o: %q", got)
	}
}

func TestHelp(t *testing.T) {
	root := rootCommand(&job.Session{Machine: testMachine})
	for _, c := range root.Commands() {
		if c.Hidden || c.Name() == "jit" || c.Name() == "help" || c.Name() == "completion" {
			continue
		}
		if c.Example == "" || c.Long == "" || !strings.Contains(succeed(t, c.Name(), "--help"), "Examples:") {
			t.Errorf("%s has no examples or no description", c.Name())
		}
	}
	if got := succeed(t, "completion"); !strings.Contains(got, "bash") {
		t.Errorf("completion: %s", got)
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if len(succeed(t, "completion", shell)) < 1000 {
			t.Errorf("no completion for %s", shell)
		}
	}
	if got := succeed(t, "--version"); !strings.HasPrefix(got, "hiveblas ") || strings.Count(got, "\n") != 1 || !strings.Contains(got, runtime.Version()) {
		t.Error(got)
	}
}

func TestDemo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tour")
	got := succeed(t, "demo", "--dir", dir)
	for _, want := range []string{"686 pairs", "35 – 38   28 partners", "45 triangles", dir} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in %s", want, got)
		}
	}
	if list := files(t, dir); len(list) != 4 {
		t.Error(list)
	}
	_, next, _ := strings.Cut(got, "\nNext: ") // runs, wherever the program is
	for _, line := range strings.Split(next, "\n") {
		if command, ok := strings.CutPrefix(line, "  hiveblas "); ok {
			succeed(t, strings.Fields(strings.Replace(command, "distances.tsv", filepath.Join(t.TempDir(), "distances.tsv"), 1))...)
		}
	}
	if strings.Count(next, "\n  hiveblas ") < 3 || strings.Contains(next, "go run") {
		t.Errorf("the next commands: %q", next)
	}
	succeed(t, "demo", "--dir", dir) // overwrites the first
	if got := report(t, "demo", "--dir", dir); got["command"] != "demo" {
		t.Error(got)
	}
}
