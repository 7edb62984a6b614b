//go:build linux

package chunked

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/matrix"
)

// TestMain is also the program that TestKill kills: a product with a pause at each block.
func TestMain(m *testing.M) {
	if path := os.Getenv("CHUNKED_TEST_PRODUCT"); path != "" {
		a := scattered(200, 90, 3000, 11)
		_, err := MxM(background, Tee(File[int64](path), func(*Block[int64]) error {
			time.Sleep(2 * time.Millisecond)
			return nil
		}), plusTimes, a, a.T(), Chunks(40), Threads(1))
		if err != nil {
			os.Stderr.WriteString(err.Error() + "\n")
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func productProcess(path string) *exec.Cmd {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "CHUNKED_TEST_PRODUCT="+path)
	return c
}

// TestKill kills a product at random points, twenty times over, and resumes it: every file ends up
// the same.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole.hgb")
	start := time.Now()
	if out, err := productProcess(whole).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	takes := time.Since(start)
	want, err := os.ReadFile(whole)
	check(t, err)
	r := rand.New(rand.NewPCG(12, 13))
	killed, rounds := 0, 5
	if longtest.Enabled() {
		rounds = 20
	}
	for round := range rounds {
		path := filepath.Join(dir, "c.hgb")
		for tries := 0; ; tries++ {
			c := productProcess(path)
			check(t, c.Start())
			if tries < 3 { // the last one runs to its end
				time.Sleep(time.Duration(r.Int64N(int64(takes))))
				_ = c.Process.Kill()
			}
			err := c.Wait()
			if _, gone := os.Stat(path); gone == nil {
				break
			}
			if err == nil {
				t.Fatalf("round %d: the product succeeded and left no file", round)
			}
			killed++
		}
		got, err := os.ReadFile(path)
		check(t, err)
		if !bytes.Equal(got, want) {
			t.Fatalf("round %d: the file differs", round)
		}
		check(t, os.Remove(path))
	}
	if killed == 0 {
		t.Error("no product was killed before its end")
	}
	t.Logf("killed %d times", killed)
}

// TestFullDisk writes to a file system of 64 kB.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skip("cannot mount a file system: ", err)
	}
	defer func() { check(t, syscall.Unmount(dir, 0)) }()
	a := scattered(300, 90, 6000, 14)
	for name, sink := range map[string]Sink[int64]{
		"c.hgb": File[int64](filepath.Join(dir, "c.hgb")),
		"c.mtx": MatrixMarket[int64](background, filepath.Join(dir, "c.mtx")),
		"c.tsv": EdgeList[int64](background, filepath.Join(dir, "c.tsv")),
	} {
		_, err := MxM(background, sink, plusTimes, a, a.T(), Chunks(9))
		var e *Error
		var path *fs.PathError
		if !errors.As(err, &e) || !errors.Is(err, syscall.ENOSPC) || !errors.As(err, &path) {
			t.Fatalf("%s: %v", name, err)
		}
		if !strings.HasPrefix(path.Path, filepath.Join(dir, name)) {
			t.Errorf("%s: the error names %s", name, path.Path)
		}
		if _, err := os.Stat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is there: %v", name, err)
		}
		left, err := filepath.Glob(filepath.Join(dir, "*"))
		check(t, err)
		for _, f := range left {
			if filepath.Ext(f) != ".part" {
				t.Errorf("%s left %s behind", name, f)
			}
			check(t, os.Remove(f))
		}
		if hidden, _ := filepath.Glob(filepath.Join(dir, ".*.tmp")); len(hidden) != 0 {
			t.Errorf("%s left %v behind", name, hidden)
		}
	}
}

// TestMappedFactors multiplies mapped matrices.
func TestMappedFactors(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.hgb")
	a := scattered(100, 60, 900, 15)
	f, err := os.Create(path)
	check(t, err)
	check(t, graphio.WriteBinary(f, a))
	check(t, f.Close())
	mapped, err := graphio.OpenMapped[int64](path)
	check(t, err)
	defer func() { check(t, mapped.Close()) }()
	want, got := product(t, a.T(), a), matrix.New[int64](60, 60)
	_, err = MxM(background, Into(got), plusTimes, mapped.Matrix.T(), mapped.Matrix, Chunks(5))
	check(t, err)
	if !got.Equal(want) {
		t.Error("the product of a mapped matrix differs")
	}
}

// TestBudget checks that the heap stays within a budget smaller than the product.
func TestBudget(t *testing.T) {
	const budgetBytes = 32 << 20
	a := scattered(3000, 2500, 120000, 16)
	path := filepath.Join(t.TempDir(), "c.hgb")
	rep, err := MxM(background, File[int64](path), plusTimes, a, a.T(), HostMemory(budgetBytes))
	check(t, err)
	if rep.Blocks < 2 || rep.PeakHost > budgetBytes {
		t.Errorf("%d blocks of %d entries, %d bytes in use", rep.Blocks, rep.Entries, rep.PeakHost)
	}
	got, _, err := graphio.ReadFile[int64](path)
	check(t, err)
	if !got.Equal(product(t, a, a.T())) {
		t.Error("the product differs")
	}
}
