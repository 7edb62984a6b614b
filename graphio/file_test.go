package graphio

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	a := mustTuples(t, 3, 3, []int{0, 1, 2}, []int{1, 2, 0}, []float64{1.5, 2, -3})
	for _, name := range []string{"a.mtx", "a.mtx.gz", "a.hgb", "a.HGB.GZ", "a.tsv", "a.txt.gz", "a.el", "a.csv", "a.npz", "a.npy"} {
		path := filepath.Join(dir, name)
		if err := WriteFile(path, a); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		b, l, err := ReadFile[float64](path)
		if err != nil || !a.Equal(b) {
			t.Errorf("%s: got %v, %v", name, b, err)
		}
		if l != nil {
			t.Errorf("%s: labels of ids that are indices", name)
		}
		b, l, err = ReadFile[float64](path, RenumberIDs())
		if format, _ := FormatOfName(name); err != nil || !a.Equal(b) || format.IsList() != (l.Len() == 3) {
			t.Errorf("%s, renumbered: %v, %d labels, %v", name, b, l.Len(), err)
		}
		data, _ := os.ReadFile(path)
		if gz := data[0] == 0x1f && data[1] == 0x8b; gz != strings.HasSuffix(strings.ToLower(name), ".gz") {
			t.Errorf("%s: compressed is %v", name, gz)
		}
	}
	// The content takes precedence over the name.
	data, _ := os.ReadFile(filepath.Join(dir, "a.mtx.gz"))
	odd := filepath.Join(dir, "a.unknown")
	sure.Do(os.WriteFile(odd, data, 0o600))
	if b, _, err := ReadFile[float64](odd); err != nil || !a.Equal(b) {
		t.Errorf("content: got %v, %v", b, err)
	}
	sure.Do(os.WriteFile(odd, []byte("1 2 3\n"), 0o600))
	if _, _, err := ReadFile[float64](odd); !errors.Is(err, ErrParse) || !strings.Contains(err.Error(), odd) {
		t.Errorf("neither name nor content: got %v", err)
	}
	if err := WriteFile(odd, a); !errors.Is(err, matrix.ErrInvalid) {
		t.Errorf("an unknown extension: got %v", err)
	}
	if _, _, err := ReadFile[float64](filepath.Join(dir, "none.mtx")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: got %v", err)
	}
	if _, err := ReadMatrixMarketFile[float64](filepath.Join(dir, "none.mtx")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: got %v", err)
	}
	bad := filepath.Join(dir, "bad.mtx")
	sure.Do(os.WriteFile(bad, []byte(banner+"coordinate real general\n1 1 1\n2 1 1\n"), 0o600))
	_, err := ReadMatrixMarketFile[float64](bad)
	if err == nil || !strings.HasPrefix(err.Error(), bad+":3: row 2 is out of range, want 1…1") {
		t.Errorf("got %v, want the file and the line in front", err)
	}
}

func TestVectorFiles(t *testing.T) {
	dir := t.TempDir()
	v, _ := matrix.VectorFromTuples(4, []int{0, 3}, []int{5, 7}, nil)
	for _, name := range []string{"v.mtx", "v.hgb.gz", "v.tsv"} {
		path := filepath.Join(dir, name)
		if err := WriteVectorFile(path, v); err != nil {
			t.Fatal(err)
		}
		w, err := ReadVectorFile[int](path)
		if err != nil || !v.Equal(w) {
			t.Errorf("%s: got %v, %v", name, w, err)
		}
	}
}

// TestWriteFileAtomic interrupts writing and checks the folder.
func TestWriteFileAtomic(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.mtx")
	sure.Do(os.WriteFile(path, []byte("before"), 0o640))
	a := mustTuples(t, 2, 2, []int{0}, []int{1}, []float64{1})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := WriteFile(path, a, WithContext(ctx)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: got %v", err)
	}
	if err := WriteFile(path, a, AsArray()); !errors.Is(err, matrix.ErrInvalid) {
		t.Errorf("impossible: got %v", err)
	}
	list, _ := os.ReadDir(dir)
	data, _ := os.ReadFile(path)
	if string(data) != "before" || len(list) != 1 {
		t.Errorf("%q and %d files are left", data, len(list))
	}
	if err := WriteFile(path, a); err != nil {
		t.Fatal(err)
	}
	info, _ := os.Stat(path)
	if info.Mode().Perm() != 0o640 {
		t.Errorf("permissions %v, want those of the file before", info.Mode())
	}
}
