package examples_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/program"
	"github.com/hiveblas/hiveblas/program/examples"
)

// TestLines counts the lines of user functions as the papers do: what stands between the braces of
// a program, one statement a line, with each statement of CUDA text and without the name.
func TestLines(t *testing.T) {
	t.Parallel()
	most := map[string]int{"BFS": 7, "SSSP": 11, "PageRank": 13, "HCC": 13, "Matching": 13}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "examples.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || most[f.Name.Name] == 0 {
			continue
		}
		seen++
		var lit *ast.CompositeLit
		cuda := 0 // statements of CUDA text beyond the one of a line
		ast.Inspect(f.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				if lit == nil {
					lit = n
				}
			case *ast.BasicLit:
				if n.Kind == token.STRING {
					cuda += max(0, strings.Count(strings.TrimSuffix(n.Value, `;"`), ";"))
				}
			case *ast.BlockStmt:
				if len(n.List) > 1 && fset.Position(n.Lbrace).Line == fset.Position(n.Rbrace).Line {
					t.Errorf("%s has several statements on a line", f.Name.Name)
				}
			}
			return true
		})
		lines := fset.Position(lit.Rbrace).Line - fset.Position(lit.Lbrace).Line - 1 + cuda
		for _, e := range lit.Elts {
			if e.(*ast.KeyValueExpr).Key.(*ast.Ident).Name == "Name" {
				lines--
			}
		}
		t.Logf("%s: %d lines", f.Name.Name, lines)
		if lines > most[f.Name.Name] {
			t.Errorf("%s has %d lines, want at most %d", f.Name.Name, lines, most[f.Name.Name])
		}
	}
	if seen != len(most) {
		t.Errorf("%d of %d programs are in examples.go", seen, len(most))
	}
}

func graph(t testing.TB, scale int) *matrix.Matrix[float32] {
	t.Helper()
	g := gen.RMAT(scale, 8, 7)
	return g
}
