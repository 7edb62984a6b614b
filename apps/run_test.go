package apps

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/samples"
	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/testdata"
)

// all is every case of the kit, without its result.
func all() map[string]func(g matrix.Source[float64], run workflow.Run) error {
	calls := map[string]func(g matrix.Source[float64], run workflow.Run) error{}
	for _, c := range cases[float64]() {
		calls[c.name] = func(g matrix.Source[float64], run workflow.Run) error { return samples.ErrorOf(c.run(g, run)) }
	}
	return calls
}

func TestNoGraph(t *testing.T) {
	for _, c := range []struct {
		reason string
		g      matrix.Source[float64]
		want   error
	}{
		{"nil", nil, matrix.ErrInvalid},
		{"a nil matrix", (*matrix.Matrix[float64])(nil), matrix.ErrInvalid},
		{"the transpose of a nil matrix", (*matrix.Matrix[float64])(nil).T(), matrix.ErrInvalid},
		{"a view of nothing", (*matrix.View[float64])(nil), matrix.ErrInvalid},
		{"a matrix of −1 rows", matrix.New[float64](-1, 3), matrix.ErrSize},
		{"its transpose", matrix.New[float64](-1, 3).T(), matrix.ErrSize},
	} {
		for name, run := range all() {
			t.Run(name+" of "+c.reason, func(t *testing.T) {
				if err := run(c.g, workflow.Run{}); !errors.Is(err, c.want) {
					t.Errorf("got %v, want %v", err, c.want)
				}
			})
		}
	}
}

func TestNotSquare(t *testing.T) {
	for _, c := range cases[float64]() {
		if slices.Contains([]string{"project", "similar", "matching", "ac"}, c.app) {
			continue // take bipartite graphs, and graphs of another type
		}
		for shape, g := range map[string]matrix.Source[float64]{
			"2×3": matrix.New[float64](2, 3), "3×2": matrix.New[float64](2, 3).T(), "0×1": matrix.New[float64](0, 1)} {
			_, err := c.run(g, workflow.Run{})
			var dim *matrix.DimensionError
			if !errors.As(err, &dim) || dim.Got != shape || dim.Want != "square" || dim.Remedy == "" || !errors.Is(err, matrix.ErrDimension) {
				t.Errorf("%s of a %s matrix: %v", c.name, shape, err)
			} else if f := strings.TrimSuffix(strings.TrimSuffix(c.function(), "Path"), "Batch"); dim.Op != f && c.app != "vn" && c.app != "lgc" {
				t.Errorf("%s: the error names %s", c.name, dim.Op)
			}
		}
	}
}

// TestCancelled ends the context before the start, and at the first progress
// report.
func TestCancelled(t *testing.T) {
	g := samples.Own(t, testdata.Karate)
	for name, run := range all() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := run(g, workflow.Run{Context: ctx}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s with a cancelled context: %v", name, err)
		}
		ctx, cancel = context.WithCancel(context.Background())
		stop := func(string, int64, int64) { cancel() }
		if err := run(g, workflow.Run{Context: ctx, Progress: stop, Threads: 2}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s cancelled at its first report: %v", name, err)
		}
		cancel()
	}
}

func TestProgressAndTrace(t *testing.T) {
	g := samples.Own(t, testdata.Karate)
	for name, run := range all() {
		reports, traces := 0, 0
		err := run(g, workflow.Run{
			Progress: func(what string, done, total int64) {
				reports++
				if what == "" || done < 0 || total > 0 && done > total {
					t.Errorf("%s: reported %q %d of %d", name, what, done, total)
				}
			},
			Trace: func(tr ops.Trace) {
				traces++
				if tr.Op == "" {
					t.Errorf("%s: a trace without an operation: %+v", name, tr)
				}
			}})
		if err != nil || reports == 0 || traces == 0 && name != "FusedLassoBatch" {
			t.Errorf("%s: %d reports, %d traces, error %v", name, reports, traces, err)
		}
	}
}

// TestTogether runs everything at once on one graph, for the race detector.
func TestTogether(t *testing.T) {
	g := samples.Own(t, testdata.Karate)
	var wg sync.WaitGroup
	for name, run := range all() {
		for threads := 1; threads <= 2; threads++ {
			wg.Go(func() {
				if err := run(g, workflow.Run{Threads: threads}); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
	}
	wg.Wait()
}
