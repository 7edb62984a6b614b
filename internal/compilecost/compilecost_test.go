package compilecost

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
	_ "github.com/hiveblas/hiveblas/ops" // its modules are in the module cache
)

// limits are the most functions that a program may compile in its own package: those measured
// (docs/compile.md), and a little more. A program above its limit names code that became generic
// and need not be: `go tool nm -size -sort size` of its archive shows which.
var limits = map[string]struct {
	functions int
	prints    string
}{
	"tuples":     {173, "3 0\n"},
	"mxm":        {337, "3 0\n"},
	"bfs":        {640, "3 0\n"},
	"struct":     {393, "3 0\n"},
	"supersteps": {528, "3 0\n"},
	"apart":      {10, "3 0\n"}, // its matrices are in a package of their own
	"sgm":        {297, "sparse vector of 3 int32, 3 entries 0\n"},

	"workflows": {418, "3 true 1 6 2 0\n"},
}

// unlinked are beginnings of names that a program does not link, though it imports their packages.
// The linker reaches what groups do only from comm.NewGroup, and an operator of a family only from
// its workflows, if the operator is no variable of a package.
var unlinked = map[string][]string{
	"mxm": {module + "/internal/spread.(*Blocks)", module + "/internal/collect.", module + "/ops.(*call).runGroup"},
	"sgm": {module + "/semiring.NewIndex[", module + "/semiring.NewBinary[go.shape.struct", module + "/semiring.newMonoid[", "github.com/ebitengine/purego"},
}

const module = "github.com/hiveblas/hiveblas"

// TestFunctions: users' programs compile few functions in their own package.
func TestFunctions(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the packages below ops")
	}
	goTool, err := exec.LookPath("go")
	if errors.Is(err, exec.ErrNotFound) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for program, limit := range limits {
		t.Run(program, func(t *testing.T) {
			p := &project{t: t, goTool: goTool, dir: t.TempDir()}
			if err := os.CopyFS(p.dir, os.DirFS(filepath.Join("testdata", program))); err != nil {
				t.Fatal(err)
			}
			p.copyFile(filepath.Join(root, "go.mod")) // its requirements are the program's
			p.copyFile(filepath.Join(root, "go.sum"))
			p.run("mod", "edit", "-module", program, "-require", module+"@v0.0.0", "-replace", module+"="+root)
			p.run("build", "-mod=mod", "-o", filepath.Join(p.dir, "program"), ".")
			out, err := exec.Command(filepath.Join(p.dir, "program")).CombinedOutput()
			if err != nil || string(out) != limit.prints {
				t.Errorf("the program printed %q (%v), want %q", out, err, limit.prints)
			}
			archive := strings.TrimSpace(p.run("list", "-mod=mod", "-export", "-f", "{{.Export}}", "."))
			symbols := p.run("tool", "nm", filepath.Join(p.dir, "program"))
			for _, name := range unlinked[program] {
				if strings.Contains(symbols, " "+name) {
					t.Errorf("the program links %s", name)
				}
			}
			n := strings.Count(p.run("tool", "nm", archive), " T ")
			if n < 2 { // main.main and init at least
				t.Fatalf("go tool nm %s counts %d functions", archive, n)
			}
			if n > limit.functions {
				t.Errorf("the program compiles %d functions, want at most %d", n, limit.functions)
			}
			t.Logf("%d functions, at most %d", n, limit.functions)
		})
	}
}

// project is a module in a folder of its own.
type project struct {
	t      *testing.T
	goTool string
	dir    string
}

func (p *project) copyFile(path string) {
	p.t.Helper()
	text := sure.Get(os.ReadFile(path))
	sure.Do(os.WriteFile(filepath.Join(p.dir, filepath.Base(path)), text, 0o666))
}

// run returns the output of the go command in the folder. Flags of GOFLAGS stay, so that packages
// that the tests compiled are not compiled again. The network stays unused.
func (p *project) run(args ...string) string {
	p.t.Helper()
	cmd := exec.Command(p.goTool, args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "PWD="+p.dir, "GOPROXY=off", "GOWORK=off", "GOTOOLCHAIN=local")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		p.t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return string(out)
}
