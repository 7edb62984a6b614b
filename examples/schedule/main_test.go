package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/emulate"
	"github.com/hiveblas/hiveblas/internal/sure"
)

// TestPage: docs/schedules.md shows the text.
func TestPage(t *testing.T) {
	if page := string(sure.Get(os.ReadFile("../../docs/schedules.md"))); !strings.Contains(page, "```cuda\n"+text+"```\n") {
		t.Error("docs/schedules.md has another text than strided.cu")
	}
}

// TestSchedule: the schedule computes what vm computes, on the emulator or with HIVEBLAS_TEST_GPU=1
// on a GPU.
func TestSchedule(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	err := run(&out, emulate.Shared(t), 7)
	want := "pull csr strided equals pull csr vm: true\npull ell strided equals pull ell vm: true\npull sell strided equals pull sell vm: true\n"
	if err != nil || out.String() != want {
		t.Errorf("%v, %q", err, &out)
	}
}
