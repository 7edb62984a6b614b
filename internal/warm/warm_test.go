package warm_test

import (
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/emu"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/race"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/internal/warm"
)

// lists holds the lists that tests asked for, by their arguments: one takes seconds.
var lists sync.Map

func compositions(t testing.TB, major, minor int, all bool) []cusparse.Composition {
	t.Helper()
	asked := [3]any{major, minor, all}
	if list, ok := lists.Load(asked); ok {
		return list.([]cusparse.Composition)
	}
	list, err := warm.Compositions(warm.Properties(major, minor), all)
	if err != nil {
		t.Fatal(err)
	}
	lists.Store(asked, list)
	return list
}

// heads returns the number of kernels of each file.
func heads(list []cusparse.Composition) map[string]int {
	n := map[string]int{}
	for _, c := range list {
		head, _, _ := strings.Cut(c.Name, " of ")
		n[head]++
	}
	return n
}

func TestCompositions(t *testing.T) {
	if race.Enabled {
		t.Skip("one goroutine")
	}
	few := compositions(t, 9, 0, false)
	t.Log(heads(few))
	for _, want := range []string{"bfs", "sssp", "cc", "pagerank", "hubs", "match", "auction", "scan", "spread", "sort", "reduce", "shape", "spmv"} {
		if heads(few)[want] == 0 {
			t.Errorf("no kernel of %s.cu is listed", want)
		}
	}
	if longtest.Enabled() {
		all := compositions(t, 9, 0, true)
		t.Log(heads(all))
		if n := heads(all)["sssp"]; n != 4 {
			t.Errorf("shortest paths are composed for %d types, want 4", n)
		}
		if len(all) < 2*len(few) {
			t.Errorf("%d kernels in all, %d without", len(all), len(few))
		}
	}
	again, err := warm.Compositions(warm.Properties(9, 0), false)
	if err != nil || !slices.Equal(few, again) {
		t.Error("the list is another the next time")
	}
}

// A sample of the list compiles for the emulator.
func TestCompositionsCompile(t *testing.T) {
	if race.Enabled {
		t.Skip("one goroutine")
	}
	c, err := emu.NewCompiler()
	if errors.Is(err, emu.ErrUnavailable) {
		t.Skip(err)
	}
	done := map[string]bool{}
	for _, x := range compositions(t, 9, 0, false) {
		head, _, _ := strings.Cut(x.Name, " of ")
		if done[head] || len(done) == 12 {
			continue
		}
		done[head] = true
		if _, err := c.Compile(x.Source, x.Name, ""); err != nil {
			t.Errorf("%s: %v", x.Name, err)
		}
	}
}

// The list compiles for old and new architectures. The test needs HIVEBLAS_NVRTC,
// no GPU.
func TestCompositionsCompileByNVRTC(t *testing.T) {
	if os.Getenv("HIVEBLAS_NVRTC") == "" {
		t.Skip("HIVEBLAS_NVRTC names no compiler; scripts/nvrtc.sh fetches one")
	}
	c := sure.Get(driver.OpenCompiler())
	// The short form takes the oldest or the newest by turns, and every other kernel, which change
	// every two turns.
	now := []string{"sm_70", "sm_90"}[longtest.Turn()%2]
	for arch, cc := range map[string][2]int{"sm_70": {7, 0}, "sm_80": {8, 0}, "sm_90": {9, 0}} {
		if testing.Short() && arch != now {
			continue
		}
		for k, x := range compositions(t, cc[0], cc[1], !testing.Short()) {
			if testing.Short() && (k+longtest.Turn()/2)%2 != 0 {
				continue
			}
			if _, err := c.Compile(x.Source, x.Name, arch); err != nil {
				t.Errorf("%s for %s: %v", x.Name, arch, err)
			}
		}
	}
}

// recordingCompiler compiles for the emulator and keeps the sources.
type recordingCompiler struct {
	driver.Compiler
	mu      sync.Mutex
	sources map[string]string
}

func (c *recordingCompiler) Compile(source, name, arch string) ([]byte, error) {
	c.mu.Lock()
	c.sources[source] = name
	c.mu.Unlock()
	return c.Compiler.Compile(source, name, arch)
}

// The list has every kernel that the apps compile when they run on a device.
func TestCompositionsAreWhatRuns(t *testing.T) {
	if race.Enabled {
		t.Skip("one goroutine")
	}
	e, err := emu.New()
	if err != nil {
		t.Skip(err)
	}
	gxx, err := emu.NewCompiler()
	if err != nil {
		t.Skip(err)
	}
	c := &recordingCompiler{Compiler: gxx, sources: map[string]string{}}
	d, err := cusparse.Open(0, cusparse.WithDriver(e), cusparse.WithKernelCache("off"),
		cusparse.WithCompiler("recording", func() (driver.Compiler, error) { return c, nil }))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	karate(t, d)
	listed := map[string]bool{}
	for _, x := range compositions(t, 9, 0, false) {
		listed[x.Source] = true
	}
	var missing []string
	for _, source := range slices.Sorted(maps.Keys(c.sources)) {
		if !listed[source] {
			missing = append(missing, c.sources[source])
		}
	}
	slices.Sort(missing)
	if len(c.sources) < 15 || len(missing) > 0 {
		t.Errorf("of %d kernels that ran %d are not listed: %q", len(c.sources), len(missing), missing)
	}
}
