package main

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/cusparse"
	"github.com/hiveblas/hiveblas/cusparse/driver"
	"github.com/hiveblas/hiveblas/internal/emu"
	"github.com/hiveblas/hiveblas/matrix"
)

// TestGPU: the program finds the same on the host, on a GPU with HIVEBLAS_TEST_GPU=1, and on a
// device without memory, where it falls back.
func TestGPU(t *testing.T) {
	t.Parallel()
	var want bytes.Buffer
	if err := run(&want, nil, 8); err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(want.String(), "\n")
	if !strings.Contains(first, "vertices reached, highest ranks [") || !strings.Contains(want.String(), "on the host") {
		t.Errorf("on the host:\n%s", &want)
	}
	e, err := emu.New(emu.Memory(1024))
	if err == nil {
		dev, err := cusparse.Open(0, cusparse.WithDriver(e), cusparse.WithKernelCache("off"),
			cusparse.WithCompiler("emulator", func() (driver.Compiler, error) { return emu.NewCompiler() }))
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := run(&got, dev, 8); err != nil || !strings.HasPrefix(got.String(), "on the host, because cannot copy ") || !strings.Contains(got.String(), "out of device memory") || !strings.Contains(got.String(), first) {
			t.Errorf("%v\n%swant\n%s", err, &got, &want)
		}
	} else if !errors.Is(err, emu.ErrUnavailable) {
		t.Fatal(err)
	}
	if os.Getenv("HIVEBLAS_TEST_GPU") == "" {
		return
	}
	dev, err := cusparse.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := run(&got, matrix.Place(dev), 8); err != nil || !strings.Contains(got.String(), first) {
		t.Errorf("on a GPU: %v\n%swant\n%s", err, &got, &want)
	}
}
