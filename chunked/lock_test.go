package chunked

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/matrix"
)

// TestTwoJobs starts a second job for the same file, of another product or of the same one, after
// every block of the first. The second job gets an error that names the owner, and the first writes
// the same file as a job that runs alone.
func TestTwoJobs(t *testing.T) {
	a, b := scattered(120, 70, 1500, 6), scattered(120, 70, 1500, 7)
	dir := t.TempDir()
	alone, path := filepath.Join(dir, "alone.hgb"), filepath.Join(dir, "c.hgb")
	_, err := MxM(background, File[int64](alone), plusTimes, a, a.T(), Chunks(12))
	check(t, err)
	for reason, other := range map[string]*matrix.Matrix[int64]{"another product": b, "the same product": a} {
		tried := 0
		_, err := MxM(background, File[int64](path), plusTimes, a, a.T(), Chunks(12), WithProgress(func(Progress) {
			tried++
			_, err := MxM(background, File[int64](path), plusTimes, other, other.T(), Chunks(5))
			var busy *graphio.BusyError
			var e *Error
			if !errors.As(err, &busy) || !errors.Is(err, graphio.ErrBusy) || busy.PID != os.Getpid() || busy.Path != path || busy.Since.IsZero() {
				t.Errorf("%s: error %v, want one that names the owner", reason, err)
			}
			if !errors.As(err, &e) || e.Kept != 0 {
				t.Errorf("%s: %+v", reason, e)
			}
		}))
		check(t, err)
		if tried < 5 {
			t.Errorf("%s: %d attempts", reason, tried)
		}
		want, err := os.ReadFile(alone)
		check(t, err)
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: the file of the first job differs (%v)", reason, err)
		}
		left, err := filepath.Glob(filepath.Join(dir, "*"))
		check(t, err)
		if len(left) != 2 {
			t.Errorf("%s: %v", reason, left)
		}
	}
}

// TestKept: an error reports kept blocks only where the next run resumes them.
func TestKept(t *testing.T) {
	a := scattered(120, 70, 1500, 6)
	for _, c := range []struct {
		reason string
		sink   func(path string) Sink[int64]
		after  int  // blocks
		remove bool // the unfinished file
		kept   bool
	}{
		{"a file in blocks", File[int64], 3, false, true},
		{"a file in blocks behind a function", func(path string) Sink[int64] {
			return Tee(File[int64](path), func(*Block[int64]) error { return nil })
		}, 3, false, true},
		{"a removed file", File[int64], 3, true, false},
		{"text begins anew", func(path string) Sink[int64] { return EdgeList[int64](background, path) }, 3, false, false},
		{"nothing was finished", File[int64], 0, false, false},
	} {
		path := filepath.Join(t.TempDir(), "c.hgb")
		ctx, cancel := context.WithCancel(background)
		if c.after == 0 {
			cancel()
		}
		_, err := MxM(ctx, c.sink(path), plusTimes, a, a.T(), Chunks(12), WithProgress(func(p Progress) {
			if p.Blocks != c.after {
				return
			}
			cancel()
			if c.remove {
				check(t, os.Remove(path+".part"))
			}
		}))
		cancel()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", c.reason, err)
			continue
		}
		var e *Error
		if said := strings.Contains(err.Error(), "keeps"); said != c.kept || errors.As(err, &e) && (e.Kept > 0) != c.kept {
			t.Errorf("%s: %v", c.reason, err)
		}
		if c.kept && (e.File != path+".part" || e.Kept < c.after) {
			t.Errorf("%s: %d blocks in %q", c.reason, e.Kept, e.File)
		}
	}
}

func TestDegreesOfAnotherLength(t *testing.T) {
	a := scattered(20, 10, 60, 3)
	for _, n := range []int{0, 19, 21} {
		_, err := MxM(background, Degrees[int64](make([]int64, n)), plusTimes, a, a.T())
		var e *matrix.DimensionError
		if !errors.As(err, &e) || !strings.Contains(e.Error(), "20") {
			t.Errorf("a slice of %d for 20 rows: %v", n, err)
		}
	}
}

// TestNilArguments: nil contexts are context.Background, other nils are errors.
func TestNilArguments(t *testing.T) {
	a := scattered(20, 10, 60, 3)
	var n int64
	//lint:ignore SA1012 a nil context is what is tested
	if _, err := MxM(nil, Count[int64](&n), plusTimes, a, a.T()); err != nil || n == 0 {
		t.Errorf("a nil context: %d entries, %v", n, err)
	}
	path := filepath.Join(t.TempDir(), "c.tsv")
	//lint:ignore SA1012 a nil context is what is tested
	if _, err := MxM(background, EdgeList[int64](nil, path), plusTimes, a, a.T()); err != nil {
		t.Errorf("text under a nil context: %v", err)
	}
	if _, err := MxM[int64, int64, int64](background, nil, plusTimes, a, a.T()); !errors.Is(err, matrix.ErrInvalid) {
		t.Errorf("a nil sink: %v", err)
	}
	if _, err := MxM(background, Count[int64](&n), plusTimes, nil, a); !errors.Is(err, matrix.ErrInvalid) {
		t.Errorf("a nil factor: %v", err)
	}
	if _, err := MxM(background, Sum(plusTimes.Add(), (*int64)(nil)), plusTimes, a, a.T()); !errors.Is(err, matrix.ErrInvalid) {
		t.Errorf("a nil sum: %v", err)
	}
	for reason, sink := range map[string]Sink[int64]{
		"Count of nil": Count[int64](nil), "Each of nil": Each[int64](nil), "Where of nil": Where[int64](nil), "Into of nil": Into[int64](nil),
		"Tee of nil": Tee[int64](nil, nil), "Tee without a function": Tee(Count[int64](&n), nil),
	} {
		if _, err := MxM(background, sink, plusTimes, a, a.T()); !errors.Is(err, matrix.ErrInvalid) {
			t.Errorf("%s: %v", reason, err)
		}
	}
}
