package hiveblas_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
)

// The limits of code without tests, in lines.
const (
	mostOfPackage  = 6000
	mostOfFile     = 600
	mostOfFunction = 80
)

// larger are the packages and files above the limits, with the lines that they may have.
var larger = map[string]int{
	"cusparse":     9800, // the backend: kernels are composed and launched in one place
	"internal/cpu": 8300, // the drivers of all operations
	"cmd/hiveblas": 9850, // a file a command

}

// longer are the functions above the limit, by their files: tables, commands (texts, flags and the
// steps of a run), kernels launched one after another, and readers of one format.
var longer = map[string]string{
	// tables
	"apps/list.go":                        "List",
	"bench/cpu/coresapps.go":              "workflowCases",
	"bench/cpu/coresconv.go":              "conversionCases",
	"bench/cpu/coresops.go":               "operationCases",
	"bench/cpu/coresstream.go":            "streamCases",
	"bench/cpu/table.go":                  "cpuCases",
	"bench/gpu/cases.go":                  "gpuCases",
	"bench/cpu/standard.go":               "standardCases",
	"cusparse/space/legal.go":             "Legal",
	"internal/conformance/errors.go":      "errorCases",
	"internal/conformance/structural.go":  "structural",
	"internal/dots/gen/main.go":           "write",
	"cmd/hiveblas/internal/job/errors.go": "ExplainGraph",
	"bench/cpu/input.go":                  "makeInput",

	// commands
	"cmd/hiveblas-bench/bench.go":  "spaceCommand",
	"cmd/hiveblas/ac.go":           "acCommand",
	"cmd/hiveblas/embed.go":        "embedCommand",
	"cmd/hiveblas/extract.go":      "extractCommand",
	"cmd/hiveblas/geo.go":          "geoCommand",
	"cmd/hiveblas/lasso.go":        "lassoCommand",
	"cmd/hiveblas/lgc.go":          "lgcCommand",
	"cmd/hiveblas/louvain.go":      "louvainCommand",
	"cmd/hiveblas/lsap.go":         "lsapCommand",
	"cmd/hiveblas/nominate.go":     "nominateCommand",
	"cmd/hiveblas/pagerank.go":     "pagerankCommand",
	"cmd/hiveblas/project.go":      "projectCommand",
	"cmd/hiveblas/sage.go":         "sageCommand",
	"cmd/hiveblas/sage_predict.go": "sagePredictCommand",
	"cmd/hiveblas/sage_train.go":   "sageTrainCommand",
	"cmd/hiveblas/sample.go":       "sampleCommand",
	"cmd/hiveblas/scan.go":         "scanCommand",
	"cmd/hiveblas/search.go":       "searchCommand",
	"cmd/hiveblas/sgm.go":          "sgmCommand",
	"cmd/hiveblas/tune.go":         "tuneCommand",
	"cmd/hiveblas/vn.go":           "vnCommand",

	// kernels that are launched one after another
	"apps/geo/gpu.go":                         "fusedGeolocate",
	"apps/sage/layer_gpu.go":                  "productsThenGathers",
	"apps/sage/own_gpu.go":                    "ownTrees",
	"apps/sage/train/gpu.go":                  "prepare",
	"apps/search/gpu.go":                      "fusedWalks",
	"cusparse/tune.go":                        "run",
	"cusparse/internal/loopkernel/point.go":   "point",
	"cusparse/internal/loopkernel/product.go": "product",
	"cusparse/internal/loopkernel/kernel.go":  "contents",
	"cusparse/internal/loopkernel/stage.go":   "flush",
	"ops/scatter.go":                          "scatter",
	"program/gpu.go":                          "superstep",
	"program/rounds.go":                       "byDevice",

	// readers and writers of one format
	"graphio/internal/edgelist/read.go":      "parse",
	"graphio/internal/edgelist/vector.go":    "ReadVector",
	"graphio/internal/matrixmarket/write.go": "Write",
	"internal/chunk/run.go":                  "read",
}

// TestLimits holds packages, files and functions to the limits, and the lists of exceptions to what
// is above them.
func TestLimits(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("git", "ls-files", "*.go").Output()
	if err != nil {
		t.Skip("no git: ", err)
	}
	lines := map[string]int{} // of packages and files
	above := map[string][]string{}
	for _, file := range strings.Fields(string(out)) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text := sure.Get(os.ReadFile(file))
		n := strings.Count(string(text), "\n")
		lines[file] = n
		lines[path.Dir(file)] += n
		fset := token.NewFileSet()
		tree, err := parser.ParseFile(fset, file, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range tree.Decls {
			f, ok := d.(*ast.FuncDecl)
			if ok && fset.Position(f.End()).Line-fset.Position(f.Pos()).Line+1 > mostOfFunction {
				above[file] = append(above[file], f.Name.Name)
			}
		}
	}
	if len(lines) < 500 {
		t.Fatalf("%d files and packages", len(lines))
	}
	for name, n := range lines {
		most := mostOfPackage
		if strings.HasSuffix(name, ".go") {
			most = mostOfFile
		}
		allowed, listed := larger[name]
		switch {
		case n > most && !listed:
			t.Errorf("%s has %d lines, want at most %d: split it by what it does", name, n, most)
		case listed && n > allowed:
			t.Errorf("%s has %d lines, and the list of exceptions allows %d", name, n, allowed)
		case listed && n <= most:
			t.Errorf("%s has %d lines and is an exception no more", name, n)
		}
	}
	for name := range larger {
		if lines[name] == 0 {
			t.Errorf("%s is an exception, and is not there", name)
		}
	}
	for file, names := range above {
		if got := strings.Join(names, " "); longer[file] != got {
			t.Errorf("%s: functions of more than %d lines: %q, and the list of exceptions has %q", file, mostOfFunction, got, longer[file])
		}
	}
	for file := range longer {
		if above[file] == nil {
			t.Errorf("%s has no function of more than %d lines and is an exception no more", file, mostOfFunction)
		}
	}
}
