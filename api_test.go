package hiveblas_test

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// internalAPI are exported types with methods and fields that may name types of internal packages.
var internalAPI = map[string]string{
	"apps.App":              "its kernels are described for hiveblas jit warm and CI",
	"cusparse.Compositions": "it composes the kernels that apps describe",
	"matrix.ViewOf":         insideAPI, "matrix.VectorOfInside": insideAPI, "matrix.MaskOf": insideAPI, "matrix.OfInside": insideAPI, "matrix.AnyOfInside": insideAPI, "matrix.NewInside": insideAPI,
	"graphio.ReadInside": insideAPI, "graphio.WriteInside": insideAPI,
}

// internalMark stands before the packages of internal types in texts.
const internalMark = "internal:"

// insideAPI: packages of this module have the inside of a matrix by one documented way.
const insideAPI = "it is the way to or from Inside, for the packages of this module"

const module = "github.com/hiveblas/hiveblas"

// sources imports the packages of the module from their declarations, the packages of the standard
// library from their export data, and others as empty packages.
type sources struct {
	fset     *token.FileSet
	standard types.Importer
	checked  map[string]*types.Package
}

func (s *sources) Import(path string) (*types.Package, error) {
	if s.checked[path] != nil || path == "unsafe" {
		return s.checked[path], nil
	}
	first, _, _ := strings.Cut(path, "/")
	if !strings.Contains(first, ".") {
		return s.standard.Import(path)
	}
	var files []*ast.File
	if rest, ok := strings.CutPrefix(path, module+"/"); ok {
		dir, err := build.Default.ImportDir(filepath.FromSlash(rest), 0)
		if err != nil {
			return nil, err
		}
		for _, name := range dir.GoFiles {
			file, err := parser.ParseFile(s.fset, filepath.Join(dir.Dir, name), nil, 0)
			if err != nil {
				return nil, err
			}
			files = append(files, file)
		}
	}
	// Errors are names of other modules.
	config := types.Config{Importer: s, IgnoreFuncBodies: true, Error: func(error) {}}
	p, _ := config.Check(path, s.fset, files, nil)
	p.MarkComplete()
	s.checked[path] = p
	return p, nil
}

// faces are the packages that have aliases of types of their internal packages, such as the
// settings of all workflows and the errors of all readers.
var faces = []string{"apps", "graphio", "program"}

// named reports whether users can name a type of an internal package: its face has an alias of the
// same name.
func named(from *sources, p *types.Package, name string) bool {
	for _, face := range faces {
		if !strings.HasPrefix(p.Path(), module+"/"+face+"/internal/") {
			continue
		}
		public, err := from.Import(module + "/" + face)
		if err != nil {
			return false
		}
		alias, ok := public.Scope().Lookup(name).(*types.TypeName)
		return ok && alias.IsAlias() && types.Unalias(alias.Type()).(*types.Named).Obj().Pkg() == p
	}
	return false
}

// TestPublicAPI: no exported function, type, variable, field or method of a public package has a
// type of an internal package that users could not name.
func TestPublicAPI(t *testing.T) {
	list, err := exec.Command("go", "list", "-f", "{{.Name}} {{.ImportPath}}", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	from := &sources{token.NewFileSet(), importer.Default(), map[string]*types.Package{
		"unsafe": types.Unsafe,
	}}
	found := map[string]bool{}
	checked := 0
	for line := range strings.Lines(string(list)) {
		name, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "main" || path == module || internal(path) {
			continue
		}
		p, err := from.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		checked++
		for _, name := range p.Scope().Names() {
			o := p.Scope().Lookup(name)
			if !o.Exported() {
				continue
			}
			key := p.Name() + "." + name
			for _, used := range internalTypes(from, o) {
				found[key] = true
				if internalAPI[key] == "" {
					t.Errorf("%s: %s; put it behind package internal/access", key, used)
				}
			}
		}
	}
	for key := range internalAPI {
		if !found[key] {
			t.Errorf("internalAPI lists %s, which needs no exception", key)
		}
	}
	if checked < 10 {
		t.Errorf("only %d packages were checked", checked)
	}
}

func internal(path string) bool { return slices.Contains(strings.Split(path, "/"), "internal") }

// internalTypes returns the declaration of o and of its exported methods and fields, of those that
// name a type of an internal package of this module.
func internalTypes(from *sources, o types.Object) (list []string) {
	check := func(name string, t types.Type) {
		if strings.HasSuffix(name, "Inside") && name != o.Name() { // see insideAPI
			return
		}
		bad := false
		text := types.TypeString(t, func(p *types.Package) string {
			if strings.HasPrefix(p.Path(), module+"/") && internal(p.Path()) {
				return internalMark + p.Name()
			}
			return p.Name()
		})
		for _, part := range strings.Split(text, internalMark)[1:] {
			pkg, rest, _ := strings.Cut(part, ".")
			name := rest[:strings.IndexFunc(rest+" ", func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })]
			found := false
			for _, face := range faces {
				p := from.checked[module+"/"+face+"/internal/"+pkg]
				found = found || p != nil && named(from, p, name)
			}
			bad = bad || !found
		}
		text = strings.ReplaceAll(text, internalMark, "")
		if bad {
			list = append(list, fmt.Sprintf("%s is %s", name, text))
		}
	}
	if _, ok := o.(*types.TypeName); !ok {
		check(o.Name(), o.Type())
		return list
	}
	if alias, ok := o.Type().(*types.Alias); ok {
		check(o.Name(), alias.Rhs())
	}
	switch u := o.Type().Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			if f.Exported() || f.Embedded() {
				check(f.Name(), f.Type())
			}
		}
	case *types.Interface:
		for m := range u.Methods() {
			if m.Exported() {
				check(m.Name(), m.Type())
			}
		}
	default:
		check(o.Name(), u)
	}
	methods := types.NewMethodSet(types.NewPointer(o.Type()))
	for m := range methods.Methods() {
		if m.Obj().Exported() {
			check(m.Obj().Name(), m.Type())
		}
	}
	return list
}
