package zerovalues

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/format"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// module is the import path that the packages below are relative to.
const module = "github.com/hiveblas/hiveblas/"

// packages are the public packages.
var packages = []string{
	"apps", "auction", "bench", "bench/charts", "bench/collectives", "bench/cpu", "bench/gen", "bench/gpu", "bench/idioms", "bench/programs", "bench/report", "chunked", "comm", "comm/commtable", "comm/model", "comm/nccl", "comm/procs", "comm/spmd", "cusparse", "cusparse/driver", "cusparse/jit", "generate", "graphio",
	"matrix", "matrix/gonumgraph", "matrix/gonummat", "matrix/jbsparse", "ops", "program", "program/examples", "semiring", "solve",
}

// item is an exported function or type of a package.
type item struct {
	pkg, name string
	isType    bool
	args      []string // type arguments to instantiate it with; none if it is not generic
}

func (x item) base() string { return x.pkg[strings.LastIndex(x.pkg, "/")+1:] }

// key is the name in the table, such as "ops.MxM".
func (x item) key() string { return x.base() + "." + x.name }

// quickGeneric are the packages with generic functions and types that the quick form calls. To
// compile all packages takes half a minute.
var quickGeneric = []string{"comm", "graphio", "matrix", "semiring"}

// row is an instance of an item.
type row struct {
	item
	text string // the instance, as Go
}

// Tables reads the sources and returns the files of the tables by name. The second one needs the
// build tag long. root is the path of the root of the module.
func Tables(root string) (map[string][]byte, error) {
	list, err := exported(root)
	if err != nil {
		return nil, err
	}
	var quick, long []row
	for _, x := range list {
		if x.args == nil {
			quick = append(quick, row{x, x.key()})
			continue
		}
		r := row{x, x.key() + "[" + strings.Join(x.args, ", ") + "]"}
		if slices.Contains(quickGeneric, x.pkg) {
			quick = append(quick, r)
		} else {
			long = append(long, r)
		}
	}
	files := map[string][]byte{}
	for name, rows := range map[string][]row{"table_test.go": quick, "table_long_test.go": long} {
		if files[name], err = table(rows, name == "table_long_test.go"); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// exported reads the sources and returns the exported functions, and the exported types that are
// neither interfaces nor aliases, but for the aliases of types of internal packages.
func exported(root string) (list []item, err error) {
	for _, pkg := range packages {
		dir := filepath.Join(root, filepath.FromSlash(pkg))
		files, err := build.Default.ImportDir(dir, 0)
		if err != nil {
			return nil, err
		}
		for _, name := range files.GoFiles {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, 0)
			if err != nil {
				return nil, err
			}
			for _, d := range file.Decls {
				list = append(list, itemsOf(pkg, d, file.Imports)...)
			}
		}
	}
	slices.SortFunc(list, func(x, y item) int {
		return strings.Compare(fmt.Sprint(x.pkg, x.isType, x.name), fmt.Sprint(y.pkg, y.isType, y.name))
	})
	return list, nil
}

func itemsOf(pkg string, d ast.Decl, imports []*ast.ImportSpec) (list []item) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil && d.Name.IsExported() {
			list = append(list, item{pkg, d.Name.Name, false, instances(d.Type.TypeParams)})
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			t, ok := s.(*ast.TypeSpec)
			if !ok || !t.Name.IsExported() || t.Assign.IsValid() && !ofInternal(t.Type, imports) {
				continue
			}
			if _, isInterface := t.Type.(*ast.InterfaceType); !isInterface {
				list = append(list, item{pkg, t.Name.Name, true, instances(t.TypeParams)})
			}
		}
	}
	return list
}

// ofInternal reports whether t is a type of an internal package.
func ofInternal(t ast.Expr, imports []*ast.ImportSpec) bool {
	s, ok := t.(*ast.SelectorExpr)
	return ok && slices.ContainsFunc(imports, func(i *ast.ImportSpec) bool {
		path := strings.Trim(i.Path.Value, `"`)
		return strings.Contains(path, "/internal/") && strings.HasSuffix(path, "/"+fmt.Sprint(s.X))
	})
}

// instances returns float64 for every type parameter, or int32 and int where only integers and
// indices are allowed. What a function does with a zero value does not depend on its type
// arguments, and a second list would double the time to compile.
func instances(params *ast.FieldList) (list []string) {
	if params == nil {
		return nil
	}
	for _, f := range params.List {
		constraint := ""
		switch c := f.Type.(type) {
		case *ast.Ident:
			constraint = c.Name
		case *ast.SelectorExpr:
			constraint = c.Sel.Name
		}
		arg := "float64"
		switch c := f.Type.(type) {
		case *ast.BinaryExpr: // such as int | string: the first type
			if id, ok := c.X.(*ast.Ident); ok {
				arg = id.Name
			}
		case *ast.IndexExpr: // Labelled[L]
			arg = "*graphio.Labelled[float64]"
		default:
			switch constraint {
			case "Integer":
				arg = "int32"
			case "Index":
				arg = "int"
			}
		}
		for range f.Names {
			list = append(list, arg)
		}
	}
	return list
}

// table returns the source of a table. The table of the build tag long appends to the other.
func table(rows []row, long bool) ([]byte, error) {
	var b strings.Builder
	b.WriteString("// Code generated by go run ./internal/gen; DO NOT EDIT.\n\n")
	if long {
		b.WriteString("//go:build long\n\n")
	}
	b.WriteString("package zerovalues\n\nimport (\n\t\"reflect\"\n\n")
	for _, pkg := range packages {
		if slices.ContainsFunc(rows, func(r row) bool { return r.pkg == pkg || strings.Contains(r.text, "*"+path.Base(pkg)+".") }) {
			fmt.Fprintf(&b, "\t%q\n", module+pkg)
		}
	}
	b.WriteString(")\n")
	for _, isType := range []bool{false, true} {
		variable, of := "functions", "listedFunction"
		if isType {
			variable, of = "types", "listedType"
		}
		if long {
			fmt.Fprintf(&b, "\nfunc init() {\n\t%[1]s = append(%[1]s, []%[2]s{\n", variable, of)
		} else {
			fmt.Fprintf(&b, "\nvar %s = []%s{\n", variable, of)
		}
		for _, r := range rows {
			if r.isType != isType {
				continue
			}
			text := r.text
			if isType {
				text = "reflect.TypeFor[" + text + "]()"
			}
			fmt.Fprintf(&b, "\t{%q, %s},\n", r.key(), text)
		}
		b.WriteString("}")
		if long {
			b.WriteString("...)\n}")
		}
		b.WriteString("\n")
	}
	return format.Source([]byte(b.String()))
}
