package hiveblas_test

import (
	"bytes"
	"os"
	"os/exec"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
)

// What a package does not link, because it costs its users time to compile or to link.
func TestDependencies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason, pkg string
		without     []string
	}{
		{"matrices open no sockets and no C libraries, and write JSON by themselves", "matrix",
			[]string{"net", "encoding/json", "github.com/ebitengine/purego", module + "/internal/dl", module + "/comm/procs", module + "/comm/nccl"}},
		{"workflows open no C libraries: the C compiler would link programs", "apps", []string{"net", "runtime/cgo", "github.com/ebitengine/purego"}},
		{"the binary form of a matrix is not compressed", "matrix",
			[]string{"compress/flate", "github.com/klauspost", "golang.org/x/text"}},
		{"operations read no files", "ops", []string{module + "/graphio", "golang.org/x/text", "compress/flate", "encoding/xml", "archive/zip", "regexp"}},
		{"the command line has no benchmarks, and no decompositions", "cmd/hiveblas", []string{module + "/bench", "gonum.org/v1/gonum/stat", "gonum.org/v1/gonum/mat", "github.com/james-bowman/sparse"}},
		{"a dozen fonts and writers of PDF", "cmd/hiveblas", []string{"gonum.org/v1/plot"}},
		{"the command line speaks no HTTP", "cmd/hiveblas", []string{"net/http"}},
		{"templates call methods by name, so that the linker keeps all exported ones", "cmd/hiveblas", []string{"html/template"}},
	} {
		out, err := exec.Command("go", "list", "-deps", "./"+c.pkg).Output()
		if err != nil {
			t.Fatal(err)
		}
		list := strings.Fields(string(out))
		if len(list) < 50 || list[len(list)-1] != module+"/"+c.pkg {
			t.Fatalf("go list -deps ./%s printed %q", c.pkg, out)
		}
		for _, dep := range list {
			for _, p := range c.without {
				if dep == p || strings.HasPrefix(dep, p+"/") {
					t.Errorf("%s: %s is below %s", c.reason, dep, c.pkg)
				}
			}
		}
	}
}

// TestOrderOfImports reads the list of CONTRIBUTING: a package imports none of a line above its
// own, and has a line. The tests and their tools, which are listed after it, are imported by each
// other alone.
func TestOrderOfImports(t *testing.T) {
	t.Parallel()
	page := sure.Get(os.ReadFile("CONTRIBUTING.md"))
	_, page, _ = bytes.Cut(page, []byte("Imports point down this list"))
	order, rest, _ := bytes.Cut(page, []byte("Beside it stand the tests"))
	tools, _, ok := bytes.Cut(rest, []byte("Two halves"))
	if !ok {
		t.Fatal("CONTRIBUTING.md lacks the list of packages")
	}
	line := regexp.MustCompile(`(?m)^    ([a-z]\S*)`)
	place := map[string]int{} // of a line; the tools stand above all others
	for _, part := range [][]byte{tools, order} {
		for _, m := range line.FindAllSubmatch(part, -1) {
			if _, twice := place[string(m[1])]; twice {
				t.Errorf("CONTRIBUTING.md lists %s twice", m[1])
			}
			place[string(m[1])] = len(place)
		}
	}
	nTools := len(line.FindAllSubmatch(tools, -1))
	if nTools < 5 || len(place) < 40 {
		t.Fatalf("CONTRIBUTING.md lists %d packages and %d tools", len(place), nTools)
	}
	used := map[string]bool{}
	lineOf := func(pkg string) string {
		if _, ok := place[pkg]; ok {
			return pkg
		}
		for dir := path.Dir(pkg); dir != "."; dir = path.Dir(dir) {
			for _, l := range []string{dir + "/…", dir} {
				if _, ok := place[l]; ok {
					return l
				}
			}
		}
		t.Errorf("CONTRIBUTING.md has no line for %s", pkg)
		return pkg
	}
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(string(out)) {
		imports := strings.Fields(l)
		pkg, ok := strings.CutPrefix(imports[0], module+"/")
		if !ok {
			continue // the root, which only tests import from
		}
		from := lineOf(pkg)
		used[from] = true
		for _, i := range imports[1:] {
			dep, ok := strings.CutPrefix(i, module+"/")
			if !ok {
				continue
			}
			to := lineOf(dep)
			used[to] = true
			switch {
			case place[from] >= nTools && place[to] < nTools:
				t.Errorf("%s imports %s, which is of the tests", pkg, dep)
			case place[from] >= nTools && place[to] < place[from]:
				t.Errorf("%s imports %s, whose line is above its own", pkg, dep)
			}
		}
	}
	for l := range place {
		if !used[l] {
			t.Errorf("CONTRIBUTING.md lists %s, which has no package", l)
		}
	}
}
