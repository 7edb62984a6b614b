package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
)

func TestFailures(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		sure.Do(os.WriteFile(path, []byte(text), 0o666))
		return path
	}
	const real, integer = "%%MatrixMarket matrix coordinate real general\n", "%%MatrixMarket matrix coordinate integer general\n"
	var (
		wide     = file("wide.mtx", visits)
		negative = file("negative.mtx", real+"3 3 2\n2 3 1\n1 2 -1\n")
		nan      = file("nan.mtx", real+"2 2 1\n1 2 NaN\n")
		empty    = file("empty.mtx", "")
		emptyTSV = file("empty.tsv", "")
		short    = file("short.mtx", real+"9 9 1152921504606846976\n1 2 1\n")
		tall     = file("tall.mtx", real+"3000000000 1 1\n1 1 1\n")
		complexM = file("complex.mtx", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 1 0\n")
		zero     = file("zero.mtx", real+"2 2 1\n0 1 1\n")
		big      = file("big.mtx", integer+"2 2 1\n1 2 9007199254740993\n")
		unknown  = file("graph.foo", "0 1\n")
		twice    = file("twice.tsv", "0 1\n0 1\n")
		names    = file("names.tsv", "ann bob\n")
		header   = file("header.csv", "Start,End,Strength\n1,2,3\n")
		noSeeds  = file("none.txt", "# nobody\n")
		badSeeds = file("bad.txt", "0\n1 x\n")
		far      = file("far.txt", "0\n\n34\n")
		cancel   = file("cancel.mtx", real+"1 2 2\n1 1 1\n1 2 -1\n")
		seeds    = file("seeds.tsv", "0\n33\n")
		half     = file("half.mtx.gz", "\x1f\x8b\x08\x00\x00")
	)
	hall := write(t, "hall.mtx", "%%MatrixMarket matrix coordinate integer general\n3 3 4\n1 2 1\n2 1 1\n2 2 1\n3 2 1\n")
	arrow := write(t, "arrow.mtx", real+"2 2 1\n1 2 1\n")
	seedTwice, beyond, lone := write(t, "seedtwice.tsv", "0 0\n0 1\n"), write(t, "beyond.tsv", "0 0\n1 34\n"), write(t, "lone.tsv", "7\n")
	timed, farNorth := write(t, "timed.tsv", "0 1 5\n0 1 9\n"), write(t, "north.txt", "0 1 1\n1 95 2\n")
	row3 := write(t, "row3.csv", "1,2,3\n")
	two, farOff := write(t, "twice.txt", "3 1 1\n4 1 1\n3 1 1\n"), write(t, "off.txt", "35 1 1\n")
	locked := filepath.Join(dir, "locked")
	sure.Do(os.Mkdir(locked, 0o555))
	out := filepath.Join(dir, "out.tsv")
	type failing struct {
		reason, args string
		code         int
		want         string // in the message
	}
	cases := []failing{
		{"no such file", "info nowhere.mtx", 1, "nowhere.mtx: no such file or directory; "},
		{"a directory", "tc " + dir, 1, dir + ": is a directory; "},
		{"an empty file", "cc " + empty, 1, "empty.mtx:1: the file is empty; "},
		{"an unknown extension", "cc " + unknown, 1, "graph.foo: neither the name nor"},
		{"an impossible count", "project " + short, 1, "short.mtx:4: "},
		{"impossible dimensions", "info " + tall, 1, "tall.mtx:2: "},
		{"complex numbers", "info " + complexM, 1, "complex.mtx:1: "},
		{"row 0", "info " + zero, 1, "zero.mtx:3: "},
		{"an integer that is not exact in float64", "project " + big, 1, "big.mtx:3: "},
		{"a damaged gzip", "info " + half, 1, "half.mtx.gz"},
		{"NaN", "project " + nan, 1, "nan.mtx:3: the value is"},
		{"a duplicate", "cc " + twice, 1, "--duplicates sum"},
		{"names for ids", "cc " + names, 1, "names.tsv:1: the source \"ann\" is not an integer; --ids renumber"},
		{"a line of column names", "cc " + header, 1, "header.csv:1: "},
		{"a negative weight", "vn --seeds 0 " + negative, 1, "negative.mtx: edge from 0 to 1 (vertices from 0): its weight is -1"},
		{"a negative weight, of louvain", "louvain --undirected " + negative, 1, "negative.mtx: edge from 0 to 1 (vertices from 0): its weight is -1, and communities want a finite weight"},
		{"communities of a directed graph", "louvain " + arrow, 1, "arrow.mtx: the graph is directed: there is an edge from 0 to 1 and none back; --undirected"},
		{"an unknown program", "run dfs " + karate, 2, "\"dfs\" is no program, want bfs, sssp, pagerank, hcc, matching, labels, or a file NAME.prog"},
		{"a program without a source", "run bfs " + karate, 2, "--source is missing"},
		{"a source of a program without", "run hcc --source 1 " + karate, 2, "--source belongs to bfs and sssp"},
		{"an unknown plan", "run hcc --plan sideways " + karate, 1, "plan \"sideways\": is not a plan of the host; use auto, push or pull"},
		{"too few supersteps", "run hcc --max-supersteps 1 " + karate, 1, "vertices are still active after 1 supersteps"},
		{"components of a directed graph by a program", "run hcc " + arrow, 1, "arrow.mtx: the graph is directed"},
		{"a negative weight, of a PageRank", "pagerank --weighted " + negative, 1, "its weight is -1, and weighted PageRank wants a finite number of 0 or more; correct the file, or leave --weighted out"},
		{"a negative weight, of a program", "run sssp --source 0 " + negative, 1, "negative.mtx: a weight is -1, and distances want 0 or more"},
		{"a file of a program with a mistake", "run " + write(t, "wrong.prog", "state int32\nmesage int32\n") + " " + karate, 1, "wrong.prog:2: \"mesage\" is no part of a program"},
		{"a name that a program file does not know", "run " + write(t, "mine.prog", "state int32\nmessage int32\ninit id\nsend state\nsum min\napply state = som;\n") + " " + karate, 1, "mine.prog: apply at \"som;\": the host knows no name som here; use active, degree"},
		{"a program file that does not end", "run " + write(t, "mine.prog", "state int32\nmessage int32\ninit id\nsend state\nsum min\napply for (;;) state++;\n") + " " + karate, 1, "mine.prog: apply: a loop has more than 16777216 iterations; correct its condition"},
		{"a resolution of 0", "louvain --resolution 0 " + karate, 2, "--resolution is 0, want a positive number"},
		{"a tolerance of 2", "louvain --tolerance 2 " + karate, 2, "--tolerance is 2, want between 0 and 1"},
		{"−1 passes", "louvain --passes -1 " + karate, 2, "--passes is -1, want 0 or more"},
		{"−1 levels", "louvain --max-levels -1 " + karate, 2, "--max-levels is -1, want 0 or more"},
		{"levels in a matrix", "louvain --levels -o x.mtx " + karate, 2, "--levels writes .tsv or .csv, not .mtx"},
		{"a negative weight, of sssp", "sssp --source 1 " + negative, 1, "negative.mtx: edge from 0 to 1"},
		{"a ratio with denominator 0", "project --weight ratio " + cancel, 1, "cancel.mtx: row 0, column 1 of the result"},
		{"fused kernels on the host", "tc --method fused --device cpu " + karate, 1, "--method fused: fused kernels run on a GPU"},
		{"an unknown form", "tc --method fast " + karate, 2, "--method is \"fast\", want auto, pipeline or fused"},
		{"ranks that do not converge", "pagerank --max-iterations 2 " + karate, 1, "karate.mtx: the ranks still change"},
		{"no assignment", "lsap " + hall, 1, "hall.mtx: no assignment exists: the 2 rows 0, 2 have only 1 column together; --default gives"},
		{"a row without a partner", "lsap " + write(t, "bare.mtx", real+"2 2 1\n2 1 1\n"), 1, "row 0 has no column; --default gives"},
		{"no assignment, by auction", "lsap --method auction " + hall, 1, "the 2 rows 0, 2 have only"},
		{"an empty graph", "bfs --source 0 " + emptyTSV, 1, "the graph is empty"},

		{"seeds beyond the graph", "vn --seeds 34 " + karate, 1, "karate.mtx: --seeds: there is no vertex 34; vertices go from 0 to 33"},
		{"seeds beyond the graph, in a file", "vn --seeds " + far + " " + karate, 1, "far.txt:3: there is no vertex 34"},
		{"seeds that are words, in a file", "vn --seeds " + badSeeds + " " + karate, 1, "bad.txt:2: \"x\" is not a vertex"},
		{"a file without seeds", "vn --seeds " + noSeeds + " " + karate, 1, "none.txt: the file has no seeds"},
		{"a directory for seeds", "vn --seeds " + dir + " " + karate, 1, "is a directory"},
		{"neither list nor file", "vn --seeds nobody " + karate, 1, "--seeds nobody: "},
		{"a word in a list", "vn --seeds 1,x " + karate, 2, "\"x\" is not a vertex"},
		{"a negative seed", "vn --seeds -1 " + karate, 2, "\"-1\" is not a vertex"},
		{"a gap in a list", "vn --seeds 1,,2 " + karate, 2, "\"\" is not a vertex"},
		{"no --seeds", "vn " + karate, 2, "--seeds is missing"},
		{"an unknown name", "bfs --ids renumber --source cid " + names, 1, "there is no vertex \"cid\""},
		{"a source beyond the graph", "bfs --source 34 " + karate, 1, "--source: there is no vertex 34"},
		{"a negative source", "sssp --source -1 " + karate, 2, "--source: \"-1\" is not a vertex"},
		{"no --source", "bfs " + karate, 2, "--source is missing"},

		{"the GPU", "tc --device gpu " + karate, 1, "--device gpu: libcuda.so.1 was not found: install the NVIDIA driver"},
		{"a numbered GPU", "tc --device gpu:1 " + karate, 1, "; --device cpu computes without one"},
		{"a GPU, before the graph is opened", "bfs --source 0 --device gpu nowhere.mtx", 1, "--device gpu: "},
		{"a GPU for a command without one", "stats --device gpu " + karate, 2, "unknown flag: --device"},
		{"a GPU without number", "tc --device gpu:x " + karate, 2, "--device is \"gpu:x\""},
		{"another device", "tc --device tpu " + karate, 2, "--device is \"tpu\""},
		{"a GPU with an empty number", "tc --device gpu: " + karate, 2, "--device is \"gpu:\""},
		{"no GPU to compile for", "jit warm", 1, "no GPU to compile for: libcuda.so.1 was not found"},
		{"no NVRTC", "jit warm --arch sm_90", 1, "compiling kernels: NVRTC was not found: install"},
		{"no architecture", "jit warm --arch hopper", 2, "--arch is \"hopper\", want one such as sm_90"},
		{"an old architecture", "jit warm --arch sm_35", 2, "--arch is \"sm_35\", want sm_50 or newer"},
		{"time out", "tc --timeout 1ns " + karate, 1, "--timeout: tc not finished after 1ns; raise the timeout"},
		{"a bad timeout", "tc --timeout soon " + karate, 2, "--timeout"},
		{"a negative timeout", "tc --timeout -1s " + karate, 2, "--timeout"},
		{"negative threads", "tc --threads -1 " + karate, 2, "--threads is -1"},
		{"too many threads", "tc --threads 1000000000 " + karate, 2, "--threads is 1000000000"},
		{"threads in words", "tc --threads two " + karate, 2, "--threads"},

		{"an unknown command", "tcc " + karate, 2, "unknown command \"tcc\", did you mean"},
		{"help on an unknown command", "help frobnicate", 2, "unknown command \"frobnicate\""},
		{"an unknown flag", "tc --frobnicate " + karate, 2, "unknown flag: --frobnicate"},
		{"no graph", "tc", 2, "GRAPH is missing"},
		{"two graphs", "tc a b", 2, "unexpected argument \"b\""},
		{"two weightings", "project --weight ratio --unweighted " + karate, 2, "exclude each other"},
		{"an unknown weighting", "project --weight sum " + karate, 2, "--weight is \"sum\""},
		{"an unknown side", "project --onto left " + karate, 2, "--onto is \"left\""},
		{"an unknown method", "lsap --method magic " + karate, 2, "--method is \"magic\""},
		{"a negative epsilon", "lsap --epsilon -1 " + karate, 2, "--epsilon is -1"},
		{"a default of NaN", "lsap --default NaN " + karate, 2, "--default is NaN"},
		{"a damping of 1", "pagerank --damping 1 " + karate, 2, "--damping is 1"},
		{"no tolerance", "pagerank --tolerance 0 " + karate, 2, "--tolerance is 0"},
		{"no -k", "ktruss " + karate, 2, "-k is missing"},
		{"a 2-truss", "ktruss -k 2 " + karate, 2, "-k is 2"},
		{"a delta of 0", "sssp --source 0 --delta 0 " + karate, 2, "--delta is 0"},
		{"bipartite matrices", "cc --bipartite " + karate, 1, "--bipartite is for edge lists"},
		{"symmetrising a wide matrix", "project --undirected " + wide, 1, "wide.mtx: cannot symmetrise"},

		{"a tolerance of levels", "run bfs --source 0 --tolerance 3 " + karate, 2, "--tolerance means nothing for bfs; it belongs to pagerank"},
		{"a damping of text", "run x.prog --damping .5 " + karate, 2, "--damping means nothing for x.prog; it belongs to pagerank"},
		{"a width of ranks", "run pagerank --width 3 " + karate, 2, "--width means nothing for pagerank; it belongs to sssp"},
		{"an unknown shell", "completion nosuch", 2, "unknown shell \"nosuch\", want bash, fish, powershell, zsh; see"},
		{"more than a shell", "completion bash extra", 2, "unexpected argument \"extra\"; see"},
		{"an unknown output", "project -o x.foo " + karate, 2, "-o x.foo: the extension tells no format"},
		{"a picture for results", "project -o x.png " + karate, 2, "want .tsv, .csv, .mtx, .hgb"},
		{"results for a picture", "spy -o x.tsv " + karate, 2, "want .png"},
		{"no picture", "spy " + karate, 2, "-o is missing"},
		{"an output that is the input", "convert " + wide + " " + filepath.Join(dir, ".", "wide.mtx"), 2, "is the input"},
		{"an output that is a list of seeds", "pagerank --seeds " + seeds + " " + karate + " -o " + seeds, 2, "is the file of --seeds; write to another file"},
		{"an output that is a list of sources", "bfs --source " + seeds + " " + karate + " -o " + filepath.Join(dir, ".", "seeds.tsv"), 2, "is the file of --source"},
		{"an output that is a list of vertices", "extract --vertices " + seeds + " " + karate + " -o " + seeds, 2, "is the file of --vertices"},
		{"an output that is a partition", "run bfs --source 0 --device ranks:2 --partition " + seeds + " " + karate + " -o " + seeds, 2, "is the file of --partition"},
		{"a cut that is a list of sources", "maxflow --source " + seeds + " --sink 3 " + karate + " --cut " + seeds, 2, "is the file of --source"},
		{"a directory for output", "cc " + karate + " -o " + dir, 1, "is a directory"},
		{"no directory for the output", "cc " + karate + " -o " + filepath.Join(dir, "no", "x.tsv"), 1, "does not exist; create it first"},
		{"two outputs on standard output", "cc --json -o - " + karate, 2, "would both print"},
		{"ranked into a matrix", "vn --ranked --seeds 0 " + karate + " -o " + filepath.Join(dir, "x.mtx"), 2, "--ranked writes .tsv"},
		{"symmetric, and not", "convert --symmetric " + negative + " " + filepath.Join(dir, "x.mtx"), 1, "not symmetric"},
		{"a full disk", "cc " + karate + " -o /dev/full", 1, "/dev/full: cannot be written: no space left on device"},
		{"three hops", "scan --hops 3 " + karate, 2, "--hops is 3, want 0, 1 or 2"},
		{"a window of a graph", "scan --window 3 " + karate, 2, "--window needs --time-column"},
		{"a plot of a graph", "scan --plot " + karate, 2, "--plot needs --time-column"},
		{"no window", "scan --time-column 3 " + timed, 2, "--window is missing"},
		{"a window of 0", "scan --time-column 3 --window 0 " + timed, 2, "--window is 0"},
		{"a lag of 1", "scan --time-column 3 --window 1 --lag 1 " + timed, 2, "--lag is 1"},
		{"a threshold of 0", "scan --time-column 3 --window 1 --threshold 0 " + timed, 2, "--threshold is 0"},
		{"times and weights", "scan --time-column 3 --weight-column 3 --window 1 " + timed, 2, "--time-column and --weight-column"},
		{"a series on a GPU", "scan --time-column 3 --window 1 --device gpu " + timed, 2, "a series is computed on the host"},
		{"a series of a matrix", "scan --time-column 3 --window 1 " + karate, 1, "karate.mtx: --time-column is for edge lists"},
		{"a series without that column", "scan --time-column 4 --window 1 " + timed, 1, "timed.tsv:1: "},
		{"a series into a matrix", "scan --time-column 3 --window 1 " + timed + " -o x.mtx", 2, "-o of a series is .tsv or .csv"},
		{"a picture of another kind", "scan --time-column 3 --window 1 --plot=x.pdf " + timed, 2, "pictures are .png"},
		{"a picture in no directory", "scan --time-column 3 --window 1 --plot=none/x.png " + timed, 1, "does not exist"},
		{"very many windows", "scan --time-column 3 --window 1e-12 " + timed, 1, "timed.tsv: the window is "},
		{"no locations", "geo " + karate, 2, "--locations is missing"},
		{"locations that are not there", "geo --locations none.txt " + karate, 1, "none.txt: no such file"},
		{"a latitude beyond the pole", "geo --locations " + farNorth + " " + karate, 1, "north.txt:2: the location of vertex 1 is latitude 95, want degrees from −90 to 90"},
		{"a place given twice", "geo --locations " + two + " " + karate, 1, "twice.txt:3: vertex 3 is given twice, first in line 1"},
		{"a place beyond the graph", "geo --locations-base 1 --locations " + farOff + " " + karate, 1, "off.txt:1: vertex 35 is not in the graph, which has 34 vertices; --locations-base 0 if the vertices of the file count from 0"},
		{"a place beyond the graph from 0", "geo --locations " + farOff + " " + karate, 1, "--locations-base 1 if the vertices of the file count from 1"},
		{"the header of other places", "geo --locations " + write(t, "header.txt", "35 2 2\n1 1 1\n") + " " + karate, 1, "header.txt:1: “35 2 2” is the header of 35 vertices, and the graph has 34; give the locations"},
		{"a score beyond the graph", "search --scores " + write(t, "beyondscore.txt", "34 1\n") + " " + karate, 1, "vertex 34 is not in the graph, which has 34 vertices; --scores-base 1 if the vertices of the file count from 1"},
		{"a class beyond the graph", "sage train --features " + row3 + " --classes " + write(t, "beyondclass.txt", "34 1\n") + " -o m.npz " + karate, 1, "--vertex-base 1 if the vertices of the file count from 1"},
		{"an unknown median", "geo --median mean --locations " + two + " " + karate, 2, "--median is \"mean\""},
		{"a base of 2", "geo --locations-base 2 --locations " + two + " " + karate, 2, "--locations-base is 2"},
		{"−1 passes", "geo --passes -1 --locations " + two + " " + karate, 2, "--passes is -1"},
		{"a negative tolerance", "geo --tolerance -1 --locations " + two + " " + karate, 2, "--tolerance is -1"},
		{"a negative limit", "geo --max-dispersion -1 --locations " + two + " " + karate, 2, "--max-dispersion is -1"},
		{"places into a matrix", "geo --locations " + two + " " + karate + " -o x.mtx", 2, "want .tsv"},
		{"a map into the output", "geo --locations " + two + " " + karate + " --plot " + karate + ".png/x.png", 1, "does not exist"},
		{"no features", "sage --weights m.npz " + karate, 2, "--features is missing"},
		{"no weights", "sage --features " + two + " " + karate, 2, "--weights is missing"},
		{"half of the weights", "sage --features " + two + " --wf1 " + two + " " + karate, 2, "are given together"},
		{"weights twice", "sage --features " + two + " --weights m.npz --wf1 " + two + " " + karate, 2, "exclude each other"},
		{"samples that are no numbers", "sage --features " + two + " --weights m.npz --samples 3,x " + karate, 2, "--samples is \"3,x\""},
		{"samples and all", "sage --features " + two + " --weights m.npz --samples 3 --all " + karate, 2, "--all and --samples"},
		{"an unknown sampling", "sage --features " + two + " --weights m.npz --sampling best " + karate, 2, "--sampling is \"best\""},
		{"features of other vertices", "sage --features " + row3 + " --wf1 " + row3 + " --wa1 " + row3 + " --wf2 " + row3 + " --wa2 " + row3 + " " + karate, 1, "1×3, want 34×3"},
		{"features of another format", "sage --features " + karate + ".xls --weights m.npz " + karate, 1, "no such file"},
		{"a model that is not there", "sage --features " + row3 + " --weights m.npz " + karate, 1, "m.npz: no such file"},
		{"training without classes", "sage train --features " + row3 + " -o m.npz " + karate, 2, "--classes is missing"},
		{"training for nothing", "sage train --features " + row3 + " --classes c " + karate, 2, "-o is missing"},
		{"a model into text", "sage train --features " + row3 + " --unsupervised -o m.txt " + karate, 2, "want .npz"},
		{"an unknown aggregator", "sage train --features " + row3 + " --unsupervised --aggregator sum -o m.npz " + karate, 2, "--aggregator is \"sum\""},
		{"all dropped out", "sage train --features " + row3 + " --unsupervised --dropout 1 -o m.npz " + karate, 2, "--dropout is 1"},
		{"no hidden columns", "sage train --features " + row3 + " --unsupervised --hidden 0 -o m.npz " + karate, 2, "--hidden is \"0\""},
		{"prediction without a model", "sage predict --features " + row3 + " " + karate, 2, "--weights is missing"},
		{"greedy walks without scores", "search --method greedy " + karate, 2, "--scores is missing, and greedy walks need scores"},
		{"an unknown rule", "search --method best " + karate, 2, "--method is \"best\""},
		{"walks of no vertex", "search --length 0 " + karate, 2, "--length is 0"},
		{"no walks", "search --walks-per-vertex 0 " + karate, 2, "--walks-per-vertex is 0"},
		{"no probability", "search --restart 2 " + karate, 2, "--restart is 2"},
		{"a third base of scores", "search --scores-base 2 " + karate, 2, "--scores-base is 2"},
		{"walks into a matrix", "search " + karate + " -o x.mtx", 2, "want .tsv"},
		{"visits into a matrix", "search --visits x.mtx " + karate, 2, "--visits x.mtx: want .tsv or .csv"},
		{"visits over the scores", "search --visits " + two + ".tsv --scores " + two + ".tsv " + karate, 2, "another file of the command"},
		{"too few scores", "search --scores " + farNorth + " " + karate, 1, "fields"},
		{"starts that are not there", "search --starts none.txt " + karate, 1, "none.txt: no such file"},
		{"no starts", "search --starts " + noSeeds + " " + karate, 1, "the file has no starts"},
		{"both from standard input", "geo --locations - -", 2, "can be only one of the inputs"},
		{"no sink", "maxflow --source 0 " + karate, 2, "--sink is missing"},
		{"a flow without limit", "maxflow --source 0 --sink 1 " + write(t, "inf.tsv", "0 1 inf\n"), 1, "has no limit"},
		{"a flow without limit, named", "maxflow --ids renumber --source ann --sink bob " + write(t, "infnamed.tsv", "ann bob inf\n"), 1, "infnamed.tsv: the flow from ann to bob has no limit"},
		{"communities of a directed graph, named", "louvain --ids renumber " + write(t, "one.tsv", "eve bob\n"), 1, "one.tsv: the graph is directed: there is an edge from eve to bob and none back"},
		{"clusters of a directed graph, named", "lgc --seeds eve --ids renumber " + write(t, "one.tsv", "eve bob\n"), 1, "from eve to bob and none back"},
		{"a start given twice, named", "sgm --ids renumber --seeds 0 --from " + write(t, "frombad.tsv", "ann bob\neve bob\n") + " " + write(t, "sgma.tsv", "ann bob\nbob eve\n") + " " + write(t, "sgmb.tsv", "ann bob\nbob eve\n"), 1, "From(eve) is bob, want a vertex that no other has"},
		{"a projection that overflows, named", "project --ids renumber --bipartite " + write(t, "loud.tsv", "u ann 1e200\nu bob 1e200\n"), 1, "row ann, column bob of the result: the value is +Inf"},
		{"an attenuation that diverges", "katz --attenuation 0.9 " + write(t, "p3.tsv", "0 1\n1 0\n1 2\n2 1\n"), 1, "p3.tsv: --attenuation 0.9 is too large; lower it: want below 0.707, about 1 over the largest eigenvalue"},
		{"distances of a program beyond floats", "run sssp --source 0 " + write(t, "over.tsv", "0 1 1.7e308\n1 2 1.7e308\n"), 1, "distances exceed what float64 holds"},
		{"a capacity NaN", "maxflow --source 0 --sink 1 " + write(t, "nan.tsv", "0 1 nan\n"), 1, "0 or more"},
		{"a sink that is the source", "maxflow --source 3 --sink 3 " + karate, 2, "--sink is the source"},
		{"a sink beyond the graph", "maxflow --source 3 --sink 34 " + karate, 1, "there is no vertex 34"},
		{"a cut of another kind", "maxflow --source 3 --sink 4 --cut x.mtx " + karate, 2, "want .tsv or .csv"},
		{"a cut in no directory", "maxflow --source 3 --sink 4 --cut none/x.tsv " + karate, 1, "does not exist"},
		{"no lambda", "lasso --values " + two + " " + karate, 2, "--lambda1 is missing"},
		{"a negative lambda", "lasso --lambda1 1,-1 --values " + two + " " + karate, 2, "\"-1\" is no number of 0 or more"},
		{"no values", "lasso --lambda1 1 " + karate, 2, "--values is missing"},
		{"values that are not numbers", "lasso --lambda1 1 --values " + two + " " + karate, 1, "twice.txt:1: "},
		{"a picture of a list", "lasso --lambda1 1 --values " + two + " " + karate + " -o x.png", 2, "the solution is a picture with --grid"},
		{"a picture with values", "lasso --lambda1 1 --grid --values " + two + " x.png", 2, "exclude each other"},
		{"a picture that is none", "lasso --lambda1 1 --grid " + karate, 1, "no picture that can be read"},
		{"no seeds", "sgm " + karate + " " + karate, 2, "--seeds is missing"},
		{"an unknown start", "sgm --seeds 1 --start here " + karate + " " + karate, 2, "--start is \"here\""},
		{"a negative eps", "sgm --seeds 1 --epsilon -1 " + karate + " " + karate, 2, "--epsilon is -1"},
		{"adopted padding without padding", "sgm --seeds 1 --adopted " + karate + " " + karate, 2, "--adopted needs --pad"},
		{"labels of one graph", "sgm --seeds 1 --labels a.txt " + karate + " " + karate, 2, "--labels has 1 files"},
		{"labels that are no whole numbers", "sgm --seeds 1 --labels " + write(t, "half.txt", strings.Repeat("0.5\n", 34)) + "," + write(t, "half2.txt", strings.Repeat("0.5\n", 34)) + " " + karate + " " + karate, 1, "the label of vertex 0 is 0.5"},
		{"a similarity that is no number", "sgm --seeds 1 --similarity " + write(t, "like.tsv", "0 0 much\n") + " " + karate + " " + karate, 1, "the similarity is \"much\""},
		{"a similarity without a number", "sgm --seeds 1 --similarity " + write(t, "like2.tsv", "0 0\n") + " " + karate + " " + karate, 1, "2 fields"},
		{"matching without a second graph", "nominate --seeds 1 --by sgm --pairs 1 " + karate, 2, "--by sgm needs --other"},
		{"matching without pairs", "nominate --seeds 1 --by sgm --other " + karate + " " + karate, 2, "--by sgm needs --pairs"},
		{"a context with matching", "nominate --seeds 1 --by sgm --context seeds --other " + karate + " --pairs 1 " + karate, 2, "--context has no effect with --by sgm"},
		{"pairs without matching", "nominate --seeds 1 --pairs 1 " + karate, 2, "--pairs has no effect without --by sgm"},
		{"an unknown way to rank", "nominate --seeds 1 --by magic " + karate, 2, "--by is \"magic\""},
		{"no restarts", "nominate --seeds 1 --by sgm --restarts 0 --other " + karate + " --pairs 1 " + karate, 2, "--restarts is 0"},
		{"no steps", "sgm --seeds 1 --max-iterations 0 " + karate + " " + karate, 2, "--max-iterations is 0"},
		{"a tolerance of 0", "sgm --seeds 1 --tolerance 0 " + karate + " " + karate, 2, "--tolerance is 0"},
		{"more seeds than vertices", "sgm --seeds 35 " + karate + " " + karate, 1, "give 0 to 34"},
		{"no file of pairs", "sgm --seeds none.tsv " + karate + " " + karate, 1, "none.tsv: cannot be read"},
		{"graphs of different sizes", "sgm --seeds 1 " + karate + " " + chesapeake, 1, "--pad adds"},
		{"a seed given twice", "sgm --seeds " + seedTwice + " " + karate + " " + karate, 1, "seedtwice.tsv:2: vertex 0 of the first graph is given twice, first in line 1; give each vertex once"},
		{"a seed with a name given twice", "sgm --ids renumber --seeds " + write(t, "namedtwice.tsv", "ann ann\n# again\nbob ann\n") + " " + names + " " + names, 1, "namedtwice.tsv:3: vertex ann of the second graph is given twice, first in line 1"},
		{"a negative score of a name", "search --method stochastic --ids renumber --scores " + write(t, "negscore.txt", "bob -1\n") + " " + names, 1, "negscore.txt: the score of vertex bob is -1, and stochastic walks want 0 or more"},
		{"a seed beyond the graph", "sgm --seeds " + beyond + " " + karate + " " + karate, 1, "beyond.tsv:2: there is no vertex 34"},
		{"half a pair", "sgm --seeds 1 --truth " + lone + " " + karate + " " + karate, 1, "lone.tsv:1: the line has 1 fields"},
		{"a matching into a matrix", "sgm --seeds 1 " + karate + " " + karate + " -o x.mtx", 2, "want .tsv"},
	}
	for _, command := range []string{"vn --seeds 0", "bfs --source 0", "sssp --source 0", "pagerank", "cc", "tc", "ktruss -k 3", "louvain"} {
		cases = append(cases, failing{"a wide matrix, of " + command, command + " " + wide, 1, "wide.mtx: the matrix is 2×3, its rows and columns are different vertices, and"})
	}
	if os.Getuid() != 0 {
		cases = append(cases,
			failing{"a locked directory", "cc " + karate + " -o " + filepath.Join(locked, "x.tsv"), 1, "x.tsv: cannot be written: permission denied; "})
	}
	before := files(t, dir)
	started := map[int]bool{}
	for _, c := range cases {
		t.Run(c.reason, func(t *testing.T) {
			args := strings.Fields(c.args)
			if strings.HasPrefix(c.want, "/dev/full") {
				if _, err := os.Stat("/dev/full"); err != nil {
					t.Skip(err)
				}
			}
			switch args[0] {
			case "project", "vn", "bfs", "sssp", "pagerank", "cc", "ktruss", "lsap", "sgm", "louvain":
				if !strings.Contains(c.args, " -o ") {
					args = append(args, "-o", out)
				}
			}
			if (strings.Contains(c.args, "gpu") || args[0] == "jit") && c.code == 1 {
				noCUDA(t)
			}
			run := hiveblas
			if !started[c.code] { // the first case of each exit code is a process in the quick form too
				run, started[c.code] = process, true
			}
			r := run(t, args...)
			if r.code != c.code {
				t.Errorf("exit code %d, want %d", r.code, c.code)
			}
			if r.stdout != "" {
				t.Errorf("stdout is %q", r.stdout)
			}
			if !strings.HasPrefix(r.stderr, "hiveblas: ") || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, c.want) {
				t.Errorf("stderr is %q, want one line with %q", r.stderr, c.want)
			}
			if c.code == 2 && !strings.Contains(r.stderr, "--help\"") {
				t.Errorf("stderr is %q, want a hint at --help", r.stderr)
			}
			if now := files(t, dir); len(now) != len(before) {
				t.Errorf("left behind: %v, was %v", now, before)
			}
		})
	}
}

// A failed command leaves an existing output file unchanged.
func TestFailureKeepsOldOutput(t *testing.T) {
	out := write(t, "out.tsv", "precious\n")
	if r := hiveblas(t, "vn", karate, "--seeds", "99", "-o", out); r.code != 1 {
		t.Fatal(r)
	}
	if got := contents(t, out); got != "precious\n" {
		t.Errorf("got %q", got)
	}
	succeed(t, "vn", karate, "--seeds", "0", "-o", out)
	if got := contents(t, out); !strings.HasPrefix(got, "0\t0\n") {
		t.Errorf("got %q", got)
	}
}

func TestClosedOutput(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip(err)
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	var stderr strings.Builder
	if code := run([]string{"tc", karate}, full, &stderr); code != 1 || !strings.Contains(stderr.String(), "standard output: ") {
		t.Errorf("exit %d, stderr %q", code, stderr.String())
	}
}
