package matrix_test

import (
	"errors"
	"runtime"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/internal/splitmix"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// One long block, in ascending order or not, with duplicates or without, makes the same matrix and
// the same vector on any number of threads as the tuples one by one. Duplicates lie where the block
// is divided.
func TestBuildByThreads(t *testing.T) {
	const n, count = 1 << 10, 2<<15 + 5
	minus := matrix.CombineFunc[float64](func(x, y float64) float64 { return x - 2*y })
	for _, c := range []struct {
		reason          string
		sorted, repeats bool
	}{{"ascending", true, false}, {"ascending, duplicates", true, true}, {"any order", false, false}, {"any order, duplicates", false, true}} {
		at := make([]int, count) // positions by rows
		for k := range at {
			at[k] = 5 * k
			if c.repeats && k%(1<<15) == 0 && k > 0 {
				at[k] = at[k-1]
			}
		}
		if !c.sorted {
			slices.SortFunc(at, func(x, y int) int {
				return int(splitmix.Mix(uint64(x))>>40) - int(splitmix.Mix(uint64(y))>>40)
			})
		}
		for _, dup := range []matrix.Combiner[float64]{nil, minus} {
			whole, line := matrix.NewBuilder[float64](n, n), matrix.NewVectorBuilder[float64](n*n)
			for k, p := range at {
				whole.Add(p/n, p%n, float64(k))
				line.Add(p, float64(k))
			}
			want, wantErr := whole.SetThreads(1).Build(dup)
			wantLine, wantLineErr := line.Build(dup)
			fails := c.repeats && dup == nil
			var d *matrix.DuplicateError
			if errors.As(wantErr, &d) != fails || errors.As(wantLineErr, &d) != fails {
				t.Fatalf("%s: errors %v, %v", c.reason, wantErr, wantLineErr)
			}
			for _, threads := range []int{1, 2, 3, 8, 16} {
				rows, cols, vals := make([]int32, count), make([]int32, count), make([]float64, count)
				for k, p := range at {
					rows[k], cols[k], vals[k] = int32(p/n), int32(p%n), float64(k)
				}
				b := matrix.NewBuilder[float64](n, n).SetThreads(threads)
				b.AddBlock(rows, cols, vals)
				if b.Len() != count {
					t.Errorf("%s: %d tuples, want %d", c.reason, b.Len(), count)
				}
				got, err := b.Build(dup)
				if errors.As(err, &d) != fails || !fails && (err != nil || !got.Equal(want)) {
					t.Errorf("%s, %d threads: another result, error %v", c.reason, threads, err)
				}
			}
			vals := make([]float64, count)
			for k := range vals {
				vals[k] = float64(k)
			}
			v, err := matrix.VectorFromTuples(n*n, at, vals, dup)
			if errors.As(err, &d) != fails || !fails && (err != nil || !v.Equal(wantLine)) {
				t.Errorf("%s: another vector, error %v", c.reason, err)
			}
		}
	}
}

// Changes of format divide rows with and without entries among any number of threads.
func TestFormatsByThreads(t *testing.T) {
	const n = 3<<15 + 7
	b := matrix.NewBuilder[float64](n, n)
	for i := 0; i < n; i += 1 + int(splitmix.Mix(uint64(i))%5) {
		b.Add(i, (i+n/2)%n, float64(i))
		b.Add(i, i, 1)
	}
	want := sure.Get(b.Build(nil))
	for _, threads := range []int{1, 2, 3, 8, 16} {
		old := runtime.GOMAXPROCS(threads)
		got := want.Clone()
		for _, f := range []matrix.Format{matrix.CSR, matrix.Hypersparse, matrix.CSR} {
			if err := got.SetFormat(f); err != nil || got.Format() != f || !got.Equal(want) {
				t.Errorf("%d threads: %v is another matrix, error %v", threads, f, err)
			}
		}
		runtime.GOMAXPROCS(old)
	}
}
