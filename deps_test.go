package hiveblas_test

import (
	"os/exec"
	"strings"
	"testing"
)

// What a package does not link, because it costs its users time to compile or to link.
func TestDependencies(t *testing.T) {
	t.Parallel()
	const module = "github.com/hiveblas/hiveblas/"
	for _, c := range []struct {
		reason, pkg string
		without     []string
	}{
		{"matrices open no sockets and no C libraries, and write JSON by themselves", "matrix",
			[]string{"net", "encoding/json", "github.com/ebitengine/purego", module + "internal/dl", module + "comm/procs", module + "comm/nccl"}},
		{"the command line has no benchmarks", "cmd/hiveblas", []string{module + "bench", "gonum.org/v1/gonum/stat", "github.com/james-bowman/sparse"}},
		{"a dozen fonts and writers of PDF", "cmd/hiveblas", []string{"gonum.org/v1/plot"}},
		{"the command line speaks no HTTP", "cmd/hiveblas", []string{"net/http"}},
		{"templates call methods by name, so that the linker keeps all exported ones", "cmd/hiveblas", []string{"html/template"}},
	} {
		out, err := exec.Command("go", "list", "-deps", "./"+c.pkg).Output()
		if err != nil {
			t.Fatal(err)
		}
		list := strings.Fields(string(out))
		if len(list) < 50 || list[len(list)-1] != module+c.pkg {
			t.Fatalf("go list -deps ./%s printed %q", c.pkg, out)
		}
		for _, dep := range list {
			for _, p := range c.without {
				if dep == p || strings.HasPrefix(dep, p+"/") {
					t.Errorf("%s: %s is below %s", c.reason, dep, c.pkg)
				}
			}
		}
	}
}
