package apps

import (
	"os"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
)

// The package comment lists every function of List in the line of its family.
func TestListIsDocumented(t *testing.T) {
	text := sure.Get(os.ReadFile("doc.go"))
	lines, family := map[string]string{}, ""
	for line := range strings.Lines(string(text)) {
		words, listed := strings.CutPrefix(line, "//\t")
		if !listed {
			continue
		}
		if name, rest, _ := strings.Cut(words, " "); name != "" { // else the line goes on
			family, words = name, rest
		}
		lines[family] += words
	}
	for _, a := range List[float64]() {
		for _, f := range a.Functions {
			if !strings.Contains(lines[a.Family], strings.TrimPrefix(f, "New")) {
				t.Errorf("the family %s does not list %s of %s: %q", a.Family, f, a.Name, lines[a.Family])
			}
		}
	}
}
