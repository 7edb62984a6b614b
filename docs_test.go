package hiveblas_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
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
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
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
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
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

func TestReadmeIsShort(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n"); n >= 200 {
		t.Errorf("README.md has %d lines, want fewer than 200", n)
	}
}

// TestSamples: each Go sample of the pages stands, but for indentation, in a
// test file that the compiler sees and the tests run.
func TestSamples(t *testing.T) {
	var compiled strings.Builder
	for _, name := range []string{"idioms_test.go", "samples_test.go", "guides_test.go"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		compiled.WriteString(flush(strings.Split(string(text), "\n")))
	}
	n := 0
	for _, page := range pages(t) {
		for _, b := range blocksOf(t, page) {
			if b.language != "go" {
				continue
			}
			n++
			if !strings.Contains(compiled.String(), flush(b.text)) {
				t.Errorf("%s:%d: the sample is not in idioms_test.go, samples_test.go or guides_test.go", page, b.line)
			}
		}
	}
	if n < 10 {
		t.Errorf("%d samples", n)
	}
}

// flush joins lines without their indentation and empty lines.
func flush(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		if line = strings.TrimSpace(line); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}
