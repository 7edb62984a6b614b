// Package face writes the files by which package apps forwards to the families of workflows, and
// the catalogue in the comment of apps, from the sources of the families and the table in
// apps/list.go.
package face

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/doc"
	"go/format"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const module = "github.com/hiveblas/hiveblas/"

// width is the longest line of a comment.
const width = 100

// Files reads the sources under root, the root of the module, and returns the files of apps that
// forward, and apps/doc.go with its catalogue, by their paths from root.
func Files(root string) (map[string][]byte, error) {
	families, err := families(root)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, f := range families {
		if files["apps/"+f.name+".go"], err = f.file(); err != nil {
			return nil, fmt.Errorf("apps/%s.go: %w", f.name, err)
		}
	}
	files["apps/doc.go"], err = catalogue(root, families)
	return files, err
}

// A family is a folder of apps, with the packages in it.
type family struct {
	name, about string
	imports     map[string]string // paths by names
	decls       []string          // of the face
	used        map[string]bool   // names of imports
}

// families reads the families in the order of their names.
func families(root string) (list []*family, err error) {
	dirs, err := os.ReadDir(filepath.Join(root, "apps"))
	if err != nil {
		return nil, err
	}
	for _, d := range dirs {
		if !d.IsDir() || d.Name() == "internal" {
			continue
		}
		f := &family{name: d.Name(), imports: map[string]string{}, used: map[string]bool{}}
		err := filepath.WalkDir(filepath.Join(root, "apps", d.Name()), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			if d.Name() == "internal" {
				return fs.SkipDir
			}
			return f.read(root, path)
		})
		if err != nil {
			return nil, err
		}
		list = append(list, f)
	}
	return list, nil
}

// read adds the exported names of the package in dir.
func (f *family) read(root, dir string) error {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return err
	}
	rel, err := filepath.Rel(root, dir)
	if err != nil {
		return err
	}
	pkg := filepath.Base(dir)
	f.imports[pkg] = module + filepath.ToSlash(rel)
	set := token.NewFileSet()
	for _, path := range paths { // in the order of their names
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if file.Doc != nil && pkg == f.name {
			f.about = file.Doc.Text()
		}
		for _, s := range file.Imports {
			p := strings.Trim(s.Path.Value, `"`)
			f.imports[p[strings.LastIndex(p, "/")+1:]] = p
		}
		for _, d := range file.Decls {
			f.add(pkg, d)
		}
	}
	return nil
}

// add adds what a declaration exports.
func (f *family) add(pkg string, d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil && d.Name.IsExported() {
			f.function(pkg, d)
		}
	case *ast.GenDecl:
		kind := "" // the type of constants goes on from line to line
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() {
					f.alias(pkg, s, docOf(s.Doc, d.Doc))
				}
			case *ast.ValueSpec:
				if s.Type != nil || s.Values != nil {
					kind = ""
				}
				if s.Type != nil {
					kind = f.text(s.Type)
				}
				for _, n := range s.Names {
					if n.IsExported() {
						f.value(pkg, d.Tok.String(), n.Name, kind, docOf(s.Doc, s.Comment))
					}
				}
			}
		}
	}
}

func (f *family) function(pkg string, d *ast.FuncDecl) {
	var args []string
	for _, p := range d.Type.Params.List {
		for _, n := range p.Names {
			arg := n.Name
			if _, more := p.Type.(*ast.Ellipsis); more {
				arg += "..."
			}
			args = append(args, arg)
		}
	}
	f.here(d.Type)
	f.used[pkg] = true
	types := ""
	if d.Type.TypeParams != nil && len(args) == 0 { // cannot be inferred
		for _, p := range d.Type.TypeParams.List {
			for _, n := range p.Names {
				types += ", " + n.Name
			}
		}
		types = "[" + types[2:] + "]"
	}
	call := fmt.Sprintf("%s.%s%s(%s)", pkg, d.Name.Name, types, strings.Join(args, ", "))
	if d.Type.Results != nil {
		call = "return " + call
	}
	signature := strings.Replace(f.text(d.Type), "func", "func "+d.Name.Name, 1)
	f.decls = append(f.decls, comment(doc1(d.Doc.Text(), pkg, d.Name.Name))+signature+" {\n\t"+call+"\n}\n")
}

func (f *family) alias(pkg string, s *ast.TypeSpec, text string) {
	f.used[pkg] = true
	params, args := "", ""
	if s.TypeParams != nil {
		f.here(s.TypeParams)
		var names []string
		for _, p := range s.TypeParams.List {
			for _, n := range p.Names {
				names = append(names, n.Name)
				params += ", " + n.Name + " " + f.text(p.Type)
			}
		}
		params, args = "["+params[2:]+"]", "["+strings.Join(names, ", ")+"]"
	}
	f.decls = append(f.decls, fmt.Sprintf("%stype %s%s = %s.%s%s\n", comment(doc1(text, pkg, s.Name.Name)), s.Name.Name, params, pkg, s.Name.Name, args))
}

func (f *family) value(pkg, token, name, kind, text string) {
	f.used[pkg] = true
	if text = strings.TrimSpace(text); text == "" {
		text = fmt.Sprintf("%s is a value of %s. See [%s.%s].", name, kind, pkg, name)
	} else if !strings.HasPrefix(text, name) {
		text = name + " is " + text
	}
	if !strings.HasSuffix(text, ".") {
		text += "."
	}
	f.decls = append(f.decls, fmt.Sprintf("%s%s %s = %s.%s\n", comment(text), token, name, pkg, name))
}

// here drops the names of internal packages of apps, which apps itself has aliases for, and notes
// the other ones.
func (f *family) here(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		fields := []*ast.Expr{}
		switch n := n.(type) {
		case *ast.Field:
			fields = append(fields, &n.Type)
		case *ast.StarExpr:
			fields = append(fields, &n.X)
		case *ast.Ellipsis:
			fields = append(fields, &n.Elt)
		case *ast.ArrayType:
			fields = append(fields, &n.Elt)
		case *ast.MapType:
			fields = append(fields, &n.Key, &n.Value)
		case *ast.IndexExpr:
			fields = append(fields, &n.X, &n.Index)
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok {
				f.used[x.Name] = true
			}
		}
		for _, e := range fields {
			if s, ok := (*e).(*ast.SelectorExpr); ok {
				if x, ok := s.X.(*ast.Ident); ok && strings.HasPrefix(f.imports[x.Name], module+"apps/") {
					*e = s.Sel
				}
			}
		}
		return true
	})
}

// text is a node as Go.
func (f *family) text(n ast.Node) string {
	var b bytes.Buffer
	_ = printer.Fprint(&b, token.NewFileSet(), n)
	return b.String()
}

// file is the file that forwards to the family.
func (f *family) file() ([]byte, error) {
	var b strings.Builder
	b.WriteString("// Code generated by go run ./internal/gen; DO NOT EDIT.\n\npackage apps\n\nimport (\n")
	var std, own []string
	for name := range f.used {
		if p := f.imports[name]; strings.HasPrefix(p, module) {
			own = append(own, p)
		} else {
			std = append(std, p)
		}
	}
	slices.Sort(std)
	slices.Sort(own)
	for _, p := range std {
		fmt.Fprintf(&b, "\t%q\n", p)
	}
	if len(std) > 0 {
		b.WriteString("\n")
	}
	for _, p := range own {
		fmt.Fprintf(&b, "\t%q\n", p)
	}
	b.WriteString(")\n")
	for _, d := range f.decls {
		b.WriteString("\n" + d)
	}
	return format.Source([]byte(b.String()))
}

func docOf(groups ...*ast.CommentGroup) string {
	for _, g := range groups {
		if g != nil {
			return g.Text()
		}
	}
	return ""
}

// doc1 is the first sentence of a comment, and where the rest is.
func doc1(text, pkg, name string) string {
	first := strings.TrimRight(new(doc.Package).Synopsis(text), ".:,") // a formula follows a colon
	return fmt.Sprintf("%s. See [%s.%s].", first, pkg, name)
}

// comment is a text in lines of a comment.
func comment(text string) string { return wrap(text, width) }

func wrap(text string, width int) string {
	var b strings.Builder
	line := "//"
	for _, word := range strings.Fields(text) {
		if len([]rune(line))+1+len([]rune(word)) > width {
			b.WriteString(line + "\n")
			line = "//"
		}
		line += " " + word
	}
	return b.String() + line + "\n"
}

// entry matches an entry of apps/list.go.
var entry = regexp.MustCompile(`\{Name: "\w+", Family: "(\w+)",(?: Functions: names\(([^)]*)\))?`)

// catalogueBegins is the line of apps/doc.go before the catalogue.
const catalogueBegins = "// The families and their workflows:\n//\n"

// catalogue is apps/doc.go with a line for each family: its workflows, and what they are for.
func catalogue(root string, families []*family) ([]byte, error) {
	list, err := os.ReadFile(filepath.Join(root, "apps", "list.go"))
	if err != nil {
		return nil, err
	}
	old, err := os.ReadFile(filepath.Join(root, "apps", "doc.go"))
	if err != nil {
		return nil, err
	}
	functions := map[string][]string{}
	if n := strings.Count(string(list), "{Name: "); n != len(entry.FindAllString(string(list), -1)) {
		return nil, fmt.Errorf("apps/list.go has %d entries that do not begin with Name, Family and Functions", n-len(entry.FindAllString(string(list), -1)))
	}
	for _, m := range entry.FindAllStringSubmatch(string(list), -1) {
		for f := range strings.SplitSeq(m[2], ",") {
			functions[m[1]] = append(functions[m[1]], strings.Trim(f, ` "`))
		}
	}
	head, tail, ok := strings.Cut(string(old), catalogueBegins)
	if !ok {
		return nil, fmt.Errorf("apps/doc.go has no line %q", strings.TrimSpace(catalogueBegins))
	}
	for strings.HasPrefix(tail, "//\t") {
		_, tail, _ = strings.Cut(tail, "\n")
	}
	var b strings.Builder
	b.WriteString(head + catalogueBegins)
	for _, f := range families {
		about, _, _ := strings.Cut(strings.TrimPrefix(new(doc.Package).Synopsis(f.about), "Package "+f.name+" "), ":")
		text := wrap(strings.Join(functions[f.name], ", ")+": "+strings.TrimSuffix(about, "."), width-2*len("centrality  "))
		for k, line := range strings.Split(strings.TrimSpace(text), "\n") {
			name := f.name
			if k > 0 {
				name = ""
			}
			fmt.Fprintf(&b, "//\t%-12s%s\n", name, strings.TrimPrefix(line, "//"))
		}
	}
	return []byte(b.String() + tail), nil
}
