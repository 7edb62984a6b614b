package hiveblas_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
)

// pages are the Markdown files that the tests read.
func pages(t *testing.T) []string {
	t.Helper()
	docs, err := filepath.Glob("docs/*.md")
	if err != nil || len(docs) < 4 {
		t.Fatalf("docs/*.md: %v (%v)", docs, err)
	}
	return append(docs, "README.md", "CONTRIBUTING.md", "CHANGELOG.md")
}

// block is a fenced block of a page.
type block struct {
	page     string
	line     int // of its first fence
	language string
	text     []string
}

// blocks returns the fenced blocks of a page, and an error if a fence is not
// closed, or closed by a line that opens one.
func blocks(page string, text string) (list []block, err error) {
	var open *block
	for k, line := range strings.Split(text, "\n") {
		fence, isFence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case !isFence && open == nil && strings.HasPrefix(line, "$ "):
			return nil, fmt.Errorf("%s:%d: a command stands outside a fence", page, k+1)
		case !isFence && open != nil:
			open.text = append(open.text, line)
		case !isFence:
		case open == nil:
			open = &block{page: page, line: k + 1, language: fence}
		case fence != "":
			return nil, fmt.Errorf("%s:%d: a fence opens inside the one of line %d", page, k+1, open.line)
		default:
			list = append(list, *open)
			open = nil
		}
	}
	if open != nil {
		return nil, fmt.Errorf("%s:%d: the fence is not closed", page, open.line)
	}
	return list, nil
}

func blocksOf(t *testing.T, page string) []block {
	t.Helper()
	text := sure.Get(os.ReadFile(page))
	list, err := blocks(page, string(text))
	if err != nil {
		t.Error(err)
	}
	return list
}

func TestFences(t *testing.T) {
	for _, page := range pages(t) {
		blocksOf(t, page)
	}
	for text, ok := range map[string]bool{
		"a\n```\nb\n```\n": true, "```go\nb\n": false, "```\n$ x\n```\n$ hiveblas lsap\n": false, "```\nx\n```go\ny\n```": false,
	} {
		if _, err := blocks("page", text); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestLinks: relative links lead to files.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:\s]+)\)`)
	for _, page := range pages(t) {
		text := sure.Get(os.ReadFile(page))
		prose := string(text)
		for _, b := range blocksOf(t, page) {
			prose = strings.Replace(prose, strings.Join(b.text, "\n"), "", 1)
		}
		for _, m := range link.FindAllStringSubmatch(prose, -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
}

// TestIndexes: the README of a folder names each of its files, and no other.
func TestIndexes(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"docs", "scripts", "testdata", "bench/results"} {
		text := sure.Get(os.ReadFile(filepath.Join(dir, "README.md")))
		named := map[string]bool{"README.md": true}
		for _, row := range regexp.MustCompile(`(?m)^\|([^|]*)\|`).FindAllStringSubmatch(string(text), -1) {
			for _, q := range regexp.MustCompile("`([^`]*)`").FindAllStringSubmatch(row[1], -1) {
				for _, pattern := range braces(q[1]) {
					files, err := filepath.Glob(filepath.Join(dir, pattern))
					if err != nil || len(files) == 0 {
						t.Errorf("%s/README.md names %s, which is not there (%v)", dir, pattern, err)
					}
					for _, f := range files {
						named[filepath.Base(f)] = true
					}
				}
			}
		}
		list := sure.Get(os.ReadDir(dir))
		for _, e := range list {
			if !named[e.Name()] {
				t.Errorf("%s/README.md does not say what %s is", dir, e.Name())
			}
		}
	}
}

// braces returns the names that a{b,c}d stands for.
func braces(name string) []string {
	before, rest, ok := strings.Cut(name, "{")
	inside, after, closed := strings.Cut(rest, "}")
	if !ok || !closed {
		return []string{name}
	}
	var list []string
	for _, part := range strings.Split(inside, ",") {
		list = append(list, braces(before+part+after)...)
	}
	return list
}

// TestCitedResults: the tables of measurements that pages and comments cite are there.
func TestCitedResults(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("git", "ls-files", "*.md", "*.go", "*.cu", "*.py", "*.sh", "Makefile").Output()
	if err != nil {
		t.Skip("no git: ", err)
	}
	cited := 0
	for _, file := range strings.Fields(string(out)) {
		text := sure.Get(os.ReadFile(file))
		for _, name := range regexp.MustCompile(`\b20\d\d-\d\d-\d\d-[\w-]+\.(txt|json|png)`).FindAllString(string(text), -1) {
			cited++
			if _, err := os.Stat(filepath.Join("bench/results", name)); err != nil {
				t.Errorf("%s cites %s, which is not in bench/results", file, name)
			}
		}
	}
	if cited < 20 {
		t.Errorf("%d citations", cited)
	}
}

func TestReadmeIsShort(t *testing.T) {
	text := sure.Get(os.ReadFile("README.md"))
	if n := strings.Count(string(text), "\n"); n >= 200 {
		t.Errorf("README.md has %d lines, want fewer than 200", n)
	}
}

var update = flag.Bool("update", false, "write the Go samples of the pages anew")

// TestSamples: the Go samples of the pages are declarations of the test files named here, which the
// tests run. -update writes the pages by them.
func TestSamples(t *testing.T) {
	declared := map[string]string{}
	for _, name := range []string{"idioms_test.go", "samples_test.go", "guides_test.go"} {
		text := sure.Get(os.ReadFile(name))
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, text, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			name, doc := nameAndDoc(d)
			from := d.Pos()
			if doc != nil {
				from = doc.Pos()
			}
			declared[name] = string(text[fset.Position(from).Offset:fset.Position(d.End()).Offset])
		}
	}
	n := 0
	for _, page := range pages(t) {
		text := sure.Get(os.ReadFile(page))
		out := string(text)
		for _, b := range blocksOf(t, page) {
			if b.language != "go" {
				continue
			}
			n++
			is := strings.Join(b.text, "\n")
			var want []string
			for _, m := range regexp.MustCompile(`(?m)^(?:func|type) (\w+)`).FindAllStringSubmatch(is, -1) {
				want = append(want, declared[m[1]])
			}
			if s := strings.Join(want, "\n\n"); s == "" || s != is && !*update {
				t.Errorf("%s:%d: the sample is not as in idioms_test.go, samples_test.go or guides_test.go: correct it there, and run with -args -update", page, b.line)
			} else {
				out = strings.Replace(out, is, s, 1)
			}
		}
		if *update && out != string(text) && os.WriteFile(page, []byte(out), 0o644) != nil {
			t.Errorf("%s is not written", page)
		}
	}
	if n < 10 {
		t.Errorf("%d samples", n)
	}
}

// nameAndDoc returns the name of a function or of a type, and its comment.
func nameAndDoc(d ast.Decl) (string, *ast.CommentGroup) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return d.Name.Name, d.Doc
	case *ast.GenDecl:
		if s, ok := d.Specs[0].(*ast.TypeSpec); ok {
			return s.Name.Name, d.Doc
		}
	}
	return "", nil
}
