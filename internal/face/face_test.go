package face

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
)

// Package apps has what its families export.
func TestFilesAreNew(t *testing.T) {
	files := sure.Get(Files("../.."))
	if len(files) < 2 {
		t.Fatalf("%d files", len(files))
	}
	for name, want := range files {
		have, err := os.ReadFile(filepath.Join("../..", filepath.FromSlash(name)))
		if err != nil || !bytes.Equal(have, want) {
			t.Errorf("%s is not what the families export (%v); run go run ./internal/gen", name, err)
		}
	}
}
