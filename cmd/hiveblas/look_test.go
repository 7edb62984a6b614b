package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/apps"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/sure"
)

// lookAt runs look and returns the page and its elements with an id.
func lookAt(t *testing.T, args ...string) (page string, figure map[string]string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.html")
	var out, errs bytes.Buffer
	if code := run(append([]string{"look", "-o", file}, args...), &out, &errs); code != 0 || !strings.Contains(out.String(), "warnings") {
		t.Fatalf("look %v: exit %d\n%s%s", args, code, &out, &errs)
	}
	text := sure.Get(os.ReadFile(file))
	page, figure = string(text), map[string]string{}
	in := xml.NewDecoder(strings.NewReader(page)) // strict: every element is closed
	id, depth := "", 0
	for {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			return page, figure
		}
		if err != nil {
			t.Fatalf("the page is not well-formed: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			for _, a := range token.Attr {
				if a.Name.Local == "id" {
					if _, again := figure[a.Value]; again {
						t.Errorf("two elements have the id %q", a.Value)
					}
					id, depth = a.Value, 0
					figure[id] = ""
				}
				if slices.Contains([]string{"src", "href", "data", "action", "poster"}, a.Name.Local) || a.Name.Local != "xmlns" && strings.Contains(a.Value, "//") {
					t.Errorf("<%s %s=%q> may load something", token.Name.Local, a.Name.Local, a.Value)
				}
			}
			if slices.Contains([]string{"script", "link", "iframe", "object", "embed", "image", "img", "use"}, token.Name.Local) {
				t.Errorf("the page has a <%s>", token.Name.Local)
			}
			depth++
		case xml.EndElement:
			if depth--; depth == 0 {
				id = ""
			}
		case xml.CharData:
			if id != "" {
				figure[id] += string(token)
			}
		}
	}
}

// TestLook: the figures of the page equal the figures of the workflows, for graphs of all kinds.
func TestLook(t *testing.T) {
	t.Parallel()
	roads := write(t, "roads.mtx", roads)
	for _, file := range []string{karate, chesapeake, roads} {
		page, figure := lookAt(t, file)
		a, _, err := graphio.ReadFile[float64](file)
		if err != nil {
			t.Fatal(err)
		}
		parts, err := apps.ConnectedComponents(a)
		if err != nil {
			t.Fatal(err)
		}
		cores, err := apps.CoreNumbers(a)
		if err != nil {
			t.Fatal(err)
		}
		ranks, err := apps.PageRank(a)
		if err != nil {
			t.Fatal(err)
		}
		best, at := 0.0, 0
		for v, r := range ranks.Rank.All() {
			if r > best {
				best, at = r, v
			}
		}
		n, _ := a.Dims()
		want := map[string]string{
			"vertices": fmt.Sprint(n), "entries": fmt.Sprint(a.NVals()), "components": fmt.Sprint(parts.Count), "largest": fmt.Sprint(parts.Largest),
			"core": fmt.Sprint(cores.Max), "inner": fmt.Sprint(cores.Inner), "rank-0": fmt.Sprintf("%d%.6f", at, best),
		}
		if a.IsSymmetric() {
			groups, err := apps.Communities(a)
			if err != nil {
				t.Fatal(err)
			}
			want["communities"], want["modularity"] = fmt.Sprint(groups.Count), fmt.Sprintf("%.4f", groups.Modularity)
			want["symmetric"] = "yes"
		}
		for id, x := range want {
			if figure[id] != x {
				t.Errorf("%s: %s is %q, want %q", file, id, figure[id], x)
			}
		}
		if strings.Count(page, "<svg") != 4 || strings.Count(page, "<section>") != 7 {
			t.Errorf("%s: %d pictures in %d sections", file, strings.Count(page, "<svg"), strings.Count(page, "<section>"))
		}
		for _, command := range []string{"stats ", "spy ", "cc ", "kcore ", "louvain ", "pagerank "} {
			if !strings.Contains(page, "hiveblas "+command+quoted(file)) && !strings.Contains(page, "hiveblas "+command+strings.ReplaceAll(quoted(file), "'", "&#39;")) {
				t.Errorf("%s: the command %q is missing", file, command)
			}
		}
	}
}

// TestLookWarnings: what is odd about a graph stands at the top, names are escaped, and graphs that
// have no communities still have a page.
func TestLookWarnings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, flags, says string }{
		{"from1.tsv", "1\t2\n2\t3\n3\t1\n", "", "no edge has id 0"},
		{"isolated.mtx", "%%MatrixMarket matrix coordinate pattern general\n4 4 2\n1 2\n2 2\n", "", "2 vertices have no edge."},
		{"loops.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 2\n", "", "1 entries are self-loops."},
		{"again.tsv", "0\t1\n1\t0\n0\t1\n", "", "given more than once"},
		{"negative.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 -1\n2 1 3\n", "", "communities are those of the structure"},
		{"nan.tsv", "0\t1\tnan\n1\t2\t1\n", "", "In line 1 the value is &#34;nan&#34;: the page is about the structure alone."},
		{"nantwice.tsv", "0\t1\tnan\n1\t2\t1\n1\t2\t3\n", "", "given more than once"},
		{"films.mtx", "%%MatrixMarket matrix coordinate pattern general\n2 3 2\n1 2\n2 3\n", "", "different vertices"},
		{"names.tsv", "a<b\tc&d\nc&d\te\n", "--ids renumber", "<td>c&amp;d</td>"},
		{"empty.mtx", "%%MatrixMarket matrix coordinate pattern general\n0 0 0\n", "", "<svg"},
		{"single.mtx", "%%MatrixMarket matrix coordinate pattern general\n1 1 0\n", "", "1 vertices have no edge."},
	} {
		page, _ := lookAt(t, append(strings.Fields(c.flags), write(t, c.name, c.text))...)
		if !strings.Contains(page, c.says) {
			t.Errorf("%s: the page does not say %q", c.name, c.says)
		}
	}
}

// TestLookInChromium opens the page, if Chromium is there, on a desktop, a phone and paper: a
// screenshot has contents, and nothing reaches beyond its right edge.
func TestLookInChromium(t *testing.T) {
	t.Parallel()
	browser, err := exec.LookPath("chromium")
	if err != nil || !longtest.Enabled() {
		t.Skip("a long test, for a system with chromium")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "page.html")
	succeed(t, "look", karate, "-o", file)
	open := func(args ...string) {
		args = append([]string{"--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--user-data-dir=" + dir}, append(args, "file://"+file)...)
		if out, err := exec.Command(browser, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	for _, size := range [][2]int{{1280, 1000}, {500, 3000}} {
		shot := filepath.Join(dir, "shot.png")
		open("--screenshot="+shot, fmt.Sprintf("--window-size=%d,%d", size[0], size[1]))
		in := sure.Get(os.Open(shot))
		picture, err := png.Decode(in)
		in.Close()
		if err != nil {
			t.Fatal(err)
		}
		if picture.Bounds().Dx() != size[0] {
			t.Errorf("the screenshot is %v wide, want %d", picture.Bounds().Dx(), size[0])
		}
		dark := 0
		for y := range picture.Bounds().Dy() {
			for x := range size[0] {
				if r, g, b, _ := picture.At(x, y).RGBA(); r+g+b < 3*0x8000 {
					dark++
					if x >= size[0]-8 {
						t.Fatalf("at width %d, something reaches the right edge at (%d, %d)", size[0], x, y)
					}
				}
			}
		}
		if dark < 5000 {
			t.Errorf("at width %d, %d dark pixels", size[0], dark)
		}
	}
	paper := filepath.Join(dir, "page.pdf")
	open("--print-to-pdf="+paper, "--no-pdf-header-footer")
	text := sure.Get(os.ReadFile(paper))
	if pages := len(regexp.MustCompile(`/Type\s*/Page\b`).FindAll(text, -1)); pages < 1 || pages > 3 {
		t.Errorf("%d printed pages, want 1 to 3", pages)
	}
}
