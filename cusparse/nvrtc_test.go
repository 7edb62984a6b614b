package cusparse

import (
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/conformance"
	"github.com/hiveblas/hiveblas/internal/emu"
	"github.com/hiveblas/hiveblas/internal/sure"
)

// recorder compiles for the emulator and keeps the sources it was given.
type recorder struct {
	driver.Compiler
	mu      sync.Mutex
	sources map[string]string // by source: the name
}

func (r *recorder) Compile(source, name, arch string) ([]byte, error) {
	r.mu.Lock()
	r.sources[source] = name
	r.mu.Unlock()
	return r.Compiler.Compile(source, name, arch)
}

// recording returns an emulated device that keeps the sources of its kernels.
func recorded(t *testing.T) (*Device, *recorder) {
	e, err := emu.New()
	if err != nil {
		t.Skip(err)
	}
	gxx, err := emu.NewCompiler()
	if err != nil {
		t.Skip(err)
	}
	r := &recorder{Compiler: gxx, sources: map[string]string{}}
	return sure.Get(Open(0, WithDriver(e), WithCompiler("recorder", func() (driver.Compiler, error) { return r, nil }), WithKernelCache("off"))), r
}

// TestKernelsOfTheKitCompile gives what the conformance kit composes to NVRTC, for the
// architectures at both ends. It needs HIVEBLAS_NVRTC, not a GPU, and as it
// takes minutes, HIVEBLAS_KIT.
func TestKernelsOfTheKitCompile(t *testing.T) {
	if os.Getenv("HIVEBLAS_NVRTC") == "" {
		t.Skip("HIVEBLAS_NVRTC names no compiler; scripts/nvrtc.sh fetches one")
	}
	if os.Getenv("HIVEBLAS_KIT") == "" {
		t.Skip("HIVEBLAS_KIT names no part of the kit, such as MxM/float32; internal/warm compiles what commands need")
	}
	d, r := recorded(t)
	nvrtc := sure.Get(driver.OpenCompiler())
	t.Run("record", func(t *testing.T) { conformance.Run(t, slowly{on{d}}) })
	if len(r.sources) < 20 {
		t.Fatalf("only %d kernels recorded", len(r.sources))
	}
	archs := []string{"sm_70", "sm_90"}
	bodies := map[string]int{}
	for _, source := range slices.Sorted(maps.Keys(r.sources)) {
		name := r.sources[source]
		body, _, _ := strings.Cut(name, " of ")
		if bodies[body]++; testing.Short() && bodies[body] > 12 {
			continue
		}
		for _, arch := range archs {
			if _, err := nvrtc.Compile(source, name, arch); err != nil {
				t.Errorf("%s for %s: %v", name, arch, err)
			}
		}
	}
	t.Log(bodies)
}
