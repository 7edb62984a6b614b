package semiring_test

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/longtest"
)

// TestOperatorsInline verifies what the speed of semirings depends on: the compiler inlines add,
// mul and settled into the kernels for every tag, and the exported Fn kernels, with their function
// literals, into a user's function. It reads the output of go build -gcflags=-m=2 on
// testdata/inline.
func TestOperatorsInline(t *testing.T) {
	longtest.SkipInTurns(t, 1, 3)
	if testing.Short() {
		t.Skip("compiles a package")
	}
	out, err := exec.Command("go", "build", "-gcflags=-m=2", ".", "./testdata/inline").CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	said := string(out)

	refused := regexp.MustCompile(`(?m)^.*cannot inline (semiring\.)?((add|mul|settled|better|chooses|start|readsX|readsY|kindOf)\[|[A-Za-z]+Fn\[go\.shape).*$`)
	for _, line := range refused.FindAllString(said, -1) {
		t.Error(line)
	}
	stencils := map[string]bool{}
	for _, m := range regexp.MustCompile(`can inline (?:semiring\.)?(add|mul|settled|better)(\[.*?\]) with cost`).FindAllStringSubmatch(said, -1) {
		stencils[m[1]+m[2]] = true
	}
	if len(stencils) < 40 {
		t.Errorf("the compiler reports %d stencils of add, mul and settled, want at least 40; its output may have changed", len(stencils))
	}
	for _, op := range []string{"add", "mul", "settled", "better"} {
		if !regexp.MustCompile(`bind\.go:\d+:\d+: inlining call to (semiring\.)?` + op + `\[`).MatchString(said) {
			t.Errorf("%s is not inlined into the kernels of bind.go", op)
		}
	}

	// A user's function: the compiler inlines the kernel and the literals.
	inlined := map[string]string{} // by line of user.go
	for _, m := range regexp.MustCompile(`user\.go:(\d+):\d+: inlining call to (\S+)`).FindAllStringSubmatch(said, -1) {
		inlined[m[1]] += " " + m[2]
	}
	for _, kernel := range []struct {
		name     string
		literals int
	}{
		{"Dot", 2}, {"DotPresent", 2}, {"Axpy", 2}, {"Scatter", 2}, {"ScatterMasked", 2}, {"ScatterAll", 2},
		{"Products", 1}, {"Zip", 1}, {"ZipAt", 1}, {"Map", 1}, {"Fold", 1}, {"Collect", 1},
	} {
		found := false
		for _, calls := range inlined {
			if !strings.Contains(calls, "semiring."+kernel.name+"Fn[") {
				continue
			}
			found = true
			if n := strings.Count(calls, " "+kernel.name+".func"); n < kernel.literals {
				t.Errorf("%sFn is inlined, but %d of its %d function literals are", kernel.name, n, kernel.literals)
			}
		}
		if !found {
			t.Errorf("%sFn is not inlined into its caller", kernel.name)
		}
	}
}
