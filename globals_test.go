package hiveblas_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
)

// TestNoGlobalsForTests: tests assign no variable of a package. What a test changes is a field, an
// option or an argument.
func TestNoGlobalsForTests(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("git", "ls-files", "*.go").Output()
	if err != nil {
		t.Skip("no git: ", err)
	}
	fset, tests, variables := token.NewFileSet(), map[string]*ast.File{}, map[string]bool{}
	for _, file := range strings.Fields(string(out)) {
		tree := sure.Get(parser.ParseFile(fset, file, nil, 0))
		if strings.HasSuffix(file, "_test.go") {
			tests[file] = tree
			continue
		}
		for name, o := range tree.Scope.Objects {
			if o.Kind == ast.Var && name != "_" {
				variables[path.Dir(file)+"."+name] = true
			}
		}
	}
	if len(variables) < 300 {
		t.Fatalf("%d variables", len(variables))
	}
	for file, tree := range tests {
		folders := map[string]string{}
		for _, i := range tree.Imports {
			if folder, ok := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), "github.com/hiveblas/hiveblas/"); ok {
				folders[path.Base(folder)] = folder
			}
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			if !ok || a.Tok == token.DEFINE {
				return true
			}
			for _, x := range a.Lhs {
				name := ""
				for name == "" {
					switch e := x.(type) {
					case *ast.SelectorExpr:
						x = e.X
						if id, ok := x.(*ast.Ident); ok && id.Obj == nil && folders[id.Name] != "" {
							name = folders[id.Name] + "." + e.Sel.Name
						}
						continue
					case *ast.IndexExpr:
						x = e.X
						continue
					case *ast.Ident:
						if e.Obj == nil {
							name = path.Dir(file) + "." + e.Name
						}
					}
					break
				}
				if variables[name] {
					t.Errorf("%s: a test assigns the variable %s: make it a field, an option or an argument", fset.Position(a.Pos()), name)
				}
			}
			return true
		})
	}
}
