package hiveblas_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestComments: every public package has a comment of a few lines, and every exported function,
// method, type, constant and variable has one that go doc shows, functions one that begins with
// their name. Methods that implement error and fmt.Stringer need none.
func TestComments(t *testing.T) {
	t.Parallel()
	folders := map[string][]*ast.File{}
	fset := token.NewFileSet()
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir():
			if path != "." && strings.HasPrefix(name, ".") || slices.Contains([]string{"internal", "testdata", "build", "dist", "cmd"}, name) || path == "examples" {
				return fs.SkipDir
			}
		case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			f, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
			if err != nil {
				return err
			}
			if f.Name.Name != "main" {
				folders[filepath.Dir(path)] = append(folders[filepath.Dir(path)], f)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for folder, files := range folders {
		p, err := doc.NewFromFiles(fset, files, module+"/"+filepath.ToSlash(folder))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(p.Doc, "Package "+p.Name+" ") || strings.Count(p.Doc, "\n") < 2 {
			t.Errorf("%s: the package comment is %q, want one of a few lines that begins with Package %s", folder, p.Doc, p.Name)
		}
		lacks := func(at token.Pos, what string) { t.Errorf("%s: %s has no comment", fset.Position(at), what) }
		function := func(f *doc.Func) {
			checked++
			switch {
			case f.Doc == "" && !slices.Contains([]string{"Error", "Unwrap", "Is", "String"}, f.Name):
				lacks(f.Decl.Pos(), f.Name)
			case f.Doc != "" && !strings.HasPrefix(f.Doc, f.Name):
				t.Errorf("%s: the comment of %s begins with other words: %s", fset.Position(f.Decl.Pos()), f.Name, f.Doc)
			}
		}
		values := func(list []*doc.Value) {
			for _, v := range list {
				for _, s := range v.Decl.Specs {
					s := s.(*ast.ValueSpec)
					checked++
					if v.Doc == "" && s.Doc == nil && s.Comment == nil && ast.IsExported(s.Names[0].Name) {
						lacks(s.Pos(), s.Names[0].Name)
					}
				}
			}
		}
		values(append(slices.Clone(p.Consts), p.Vars...))
		for _, f := range p.Funcs {
			function(f)
		}
		for _, typ := range p.Types {
			checked++
			if typ.Doc == "" {
				lacks(typ.Decl.Pos(), typ.Name)
			}
			values(append(slices.Clone(typ.Consts), typ.Vars...))
			for _, f := range append(slices.Clone(typ.Funcs), typ.Methods...) {
				function(f)
			}
		}
	}
	if len(folders) < 15 || checked < 500 {
		t.Errorf("%d declarations in %d packages were checked", checked, len(folders))
	}
}
