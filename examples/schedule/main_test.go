package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/emulate"
	"github.com/hiveblas/hiveblas/internal/sure"
)

// TestPage: docs/schedules.md shows the texts.
func TestPage(t *testing.T) {
	page := string(sure.Get(os.ReadFile("../../docs/schedules.md")))
	for file, text := range map[string]string{"strided.cu": text, "sliced.cu": layoutText} {
		if !strings.Contains(page, "```cuda\n"+text+"```\n") {
			t.Errorf("docs/schedules.md has another text than %s", file)
		}
	}
}

// TestSchedule: the schedule computes what vm computes, in the layout too, on the emulator or with
// HIVEBLAS_TEST_GPU=1 on a GPU.
func TestSchedule(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	err := run(&out, emulate.Shared(t), 7)
	want := "pull csr strided equals pull csr vm: true\npull ell strided equals pull ell vm: true\npull sell strided equals pull sell vm: true\n" +
		"pull sliced strided equals pull sliced vm: true\n"
	if err != nil || out.String() != want {
		t.Errorf("%v, %q", err, &out)
	}
}
