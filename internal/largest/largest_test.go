package largest

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/race"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
)

const (
	n       = matrix.MaxDim
	limitKB = 3 << 20 // of the address space; n bytes are 2 GiB
	child   = "HIVEBLAS_LARGEST"
)

type (
	mat = *matrix.Matrix[int64]
	vec = *matrix.Vector[int64]
)

// called is a call of an exported function at the largest dimensions.
type called struct {
	name string // such as ops.MxM, or Matrix.Set
	// need is set if the result has n places, for which there is no memory.
	need bool
	call func() error
}

// TestLargest runs the calls in a process of its own. If it ends by lack of memory, the call that
// it last named fails.
func TestLargest(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("ulimit -v limits memory on Linux")
	}
	if race.Enabled {
		t.Skip("the race detector needs more address space than the limit")
	}
	t.Parallel()
	cmd := exec.Command("sh", "-c", fmt.Sprintf(`ulimit -v %d; exec "$0" -test.run='^TestCalls$' -test.count=1`, limitKB), os.Args[0])
	cmd.Env = append(os.Environ(), child+"=1", "GOMAXPROCS=2")
	out, err := cmd.CombinedOutput()
	text := string(out)
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "BAD ") {
			t.Error(strings.TrimSpace(line))
		}
	}
	if err != nil || !strings.Contains(text, "all calls returned") {
		last, _, _ := strings.Cut(text[strings.LastIndex(text, "call ")+1:], "\n")
		t.Fatalf("the process ended in %q: %v\n%s", last, err, text[max(0, len(text)-1500):])
	}
}

// TestCalls is the process of TestLargest.
func TestCalls(t *testing.T) {
	if os.Getenv(child) == "" {
		t.Skip("run by TestLargest")
	}
	for _, c := range append(matrixCalls(), opsCalls()...) {
		fmt.Println("call", c.name)
		err := c.call()
		switch {
		case c.need && !errors.Is(err, matrix.ErrSize):
			fmt.Printf("BAD %s: %v, want a *matrix.SizeError\n", c.name, err)
		case !c.need && err != nil:
			fmt.Printf("BAD %s: %v\n", c.name, err)
		}
	}
	fmt.Println("all calls returned")
}

// elsewhere are exported functions that no call of this test names, and why.
var elsewhere = map[string]string{
	"matrix.FromDense": "takes its values", "matrix.VectorOf": "takes its values", "matrix.FromCSR": "takes its offsets",
	"matrix.FromCSC": "takes its offsets", "matrix.On": "an option", "ops.Using": "an option", "ops.WithThreads": "an option",
	"ops.WithContext": "an option", "ops.Repeats": "an option", "ops.WithTrace": "an option", "ops.WithTraces": "an option", "ops.WithOptions": "an option",
	"ops.Passes": "an option", "ops.Progress": "an option", "ops.Explain": "an option", "ops.OneByOne": "an option",
	"Builder.BuildOn": "of devices", "Builder.SetThreads": "a setting", "Builder.Len": "a number", "Steps.Do": "takes an error",
	"matrix.ViewOf": "of this module", "matrix.VectorOfInside": "of this module", "matrix.MaskOf": "of this module", "matrix.OfInside": "of this module",
	"matrix.NewInside": "of this module", "Matrix.Inside": "of this module", "Vector.Inside": "of this module", "View.Inside": "of this module",
	"MaskView.Inside": "of this module", "PatternView.Inside": "of this module", "VectorPattern.Inside": "of this module",
	"Steps.OK": "takes an error", "Steps.Err": "takes an error", "Trace.String": "a line",
}

// TestEveryFunctionIsCalled: each exported function of package ops, and of the covered files of
// package matrix, has a call or a reason.
func TestEveryFunctionIsCalled(t *testing.T) {
	names := map[string]bool{}
	for _, c := range append(matrixCalls(), opsCalls()...) {
		name, _, _ := strings.Cut(c.name, " ")
		names[name] = true
	}
	known := 0
	for _, pkg := range []string{"matrix", "ops"} {
		files, err := filepath.Glob(filepath.Join("..", "..", pkg, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") || pkg == "matrix" && !covered[filepath.Base(path)] {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range file.Decls {
				name := nameOf(pkg, d)
				if name == "" {
					continue
				}
				if known++; !names[name] && elsewhere[name] == "" {
					t.Errorf("%s has no call at the largest dimensions", name)
				}
			}
		}
	}
	if known < 100 {
		t.Errorf("%d functions found", known)
	}
}

// covered are the files of package matrix with functions that take memory by the dimensions.
var covered = map[string]bool{
	"matrix.go": true, "vector.go": true, "view.go": true, "reshape.go": true, "export.go": true,
	"builder.go": true, "print.go": true, "dest.go": true, "patternview.go": true,
}

// nameOf returns the name of an exported function, or of a method of the types of matrices, and ""
// of others.
func nameOf(pkg string, d ast.Decl) string {
	f, ok := d.(*ast.FuncDecl)
	if !ok || !f.Name.IsExported() {
		return ""
	}
	if f.Recv == nil {
		return pkg + "." + f.Name.Name
	}
	x := f.Recv.List[0].Type
	if p, ok := x.(*ast.StarExpr); ok {
		x = p.X
	}
	if g, ok := x.(*ast.IndexExpr); ok {
		x = g.X
	}
	id, ok := x.(*ast.Ident)
	if !ok {
		return ""
	}
	switch id.Name {
	case "Matrix", "Vector", "View", "Builder", "VectorBuilder", "MaskView", "Steps":
		return id.Name + "." + f.Name.Name
	}
	return ""
}

// two returns a matrix with entries at its first and its last position.
func two(rows, cols int) mat {
	a := matrix.New[int64](rows, cols)
	if err := errors.Join(a.Set(0, 0, 3), a.Set(rows-1, cols-1, 5)); err != nil {
		panic(err)
	}
	return a
}

func twoOf(size int) vec {
	v := matrix.NewVector[int64](size)
	if err := errors.Join(v.Set(0, 3), v.Set(size-1, 5)); err != nil {
		panic(err)
	}
	return v
}

// has returns an error unless a result has so many entries.
func has(x interface{ NVals() int64 }, want int64, err error) error {
	if got := x.NVals(); err == nil && got != want {
		return fmt.Errorf("%d entries, want %d", got, want)
	}
	return err
}

func count[K, V any](seq func(func(K, V) bool)) (k int64) {
	seq(func(K, V) bool { k++; return true })
	return k
}

func same(ok bool) error {
	if !ok {
		return errors.New("not as expected")
	}
	return nil
}

var whole, all = ops.Span(0, n), ops.All()
