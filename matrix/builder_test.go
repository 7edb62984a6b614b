package matrix_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/matrix"
)

// TestFromTuplesLong: long lists of tuples, which are copied and sorted in parallel, give the
// matrix that a Builder gives, at any number of threads; sorted or not; the first bad index is
// reported.
func TestFromTuplesLong(t *testing.T) {
	t.Parallel()
	const m, n, count = 3000, 2000, 200_000
	rng := rand.New(rand.NewPCG(1, 2))
	rows, cols, vals := make([]int, count), make([]int, count), make([]float64, count)
	for p := range rows {
		rows[p], cols[p], vals[p] = rng.IntN(m-7)+3, rng.IntN(n), float64(rng.IntN(1000))
	}
	order := make([]int, count)
	for p := range order {
		order[p] = p
	}
	for _, sorted := range []bool{false, true} {
		if sorted {
			slices.SortStableFunc(order, func(a, b int) int { return (rows[a]*n + cols[a]) - (rows[b]*n + cols[b]) })
			r, c, v := slices.Clone(rows), slices.Clone(cols), slices.Clone(vals)
			for p, q := range order {
				rows[p], cols[p], vals[p] = r[q], c[q], v[q]
			}
		}
		want := map[[2]int]float64{}
		for p := range rows {
			want[[2]int{rows[p], cols[p]}] = want[[2]int{rows[p], cols[p]}]*.5 + vals[p] // order matters
		}
		half := matrix.CombineFunc[float64](func(x, y float64) float64 { return x*.5 + y })
		check := func(name string, a *matrix.Matrix[float64], err error) {
			t.Helper()
			if err != nil {
				t.Fatal(name, err)
			}
			if int(a.NVals()) != len(want) {
				t.Fatalf("%s: %d entries, want %d", name, a.NVals(), len(want))
			}
			lastI, lastJ := -1, -1
			for at, x := range a.All() {
				i, j := at.Row, at.Col
				if x != want[[2]int{i, j}] {
					t.Fatalf("%s: (%d, %d) = %v, want %v", name, i, j, x, want[[2]int{i, j}])
				}
				if i < lastI || i == lastI && j <= lastJ {
					t.Fatalf("%s: (%d, %d) after (%d, %d)", name, i, j, lastI, lastJ)
				}
				lastI, lastJ = i, j
			}
		}
		a, err := matrix.FromTuples(m, n, rows, cols, vals, half)
		check("FromTuples", a, err)
		for _, threads := range []int{1, 2, 3, 8, 16} {
			b := matrix.NewBuilder[float64](m, n).SetThreads(threads)
			for lo := 0; lo < count; lo += 1 << 14 {
				hi := min(lo+1<<14, count)
				r, c := make([]int32, hi-lo), make([]int32, hi-lo)
				for p := range r {
					r[p], c[p] = int32(rows[lo+p]), int32(cols[lo+p])
				}
				b.AddBlock(r, c, slices.Clone(vals[lo:hi]))
			}
			b.AddBlock(nil, nil, nil)
			a, err := b.Build(half)
			check(fmt.Sprint(threads, " threads"), a, err)
		}
	}
	var bad *matrix.IndexError
	rows[150_000], cols[100_000] = m, -1
	if _, err := matrix.FromTuples(m, n, rows, cols, vals, nil); !errors.As(err, &bad) || bad.Index != -1 {
		t.Errorf("FromTuples: %v, want the column -1", err)
	}
	b := matrix.NewBuilder[float64](m, n)
	b.AddBlock([]int32{0, 1}, []int32{0, n}, []float64{1, 2})
	b.Add(m, 0, 1)
	if _, err := b.Build(nil); !errors.As(err, &bad) || bad.Index != n {
		t.Errorf("AddBlock: %v, want the column %d", err, n)
	}
}

// TestVectorFromTuplesLong is TestFromTuplesLong for vectors.
func TestVectorFromTuplesLong(t *testing.T) {
	t.Parallel()
	const n, count = 50_000, 200_000
	rng := rand.New(rand.NewPCG(3, 4))
	idx, vals := make([]int, count), make([]float64, count)
	for p := range idx {
		idx[p], vals[p] = rng.IntN(n), float64(rng.IntN(1000))
	}
	half := matrix.CombineFunc[float64](func(x, y float64) float64 { return x*.5 + y })
	for _, sorted := range []bool{false, true} {
		if sorted {
			slices.Sort(idx)
		}
		want := map[int]float64{}
		for p, i := range idx {
			want[i] = want[i]*.5 + vals[p] // order matters
		}
		v, err := matrix.VectorFromTuples(n, idx, vals, half)
		if err != nil || int(v.NVals()) != len(want) {
			t.Fatalf("sorted %v: %d entries, %v; want %d", sorted, v.NVals(), err, len(want))
		}
		last := -1
		for i, x := range v.All() {
			if x != want[i] || i <= last {
				t.Fatalf("sorted %v: %v at %d after %d, want %v", sorted, x, i, last, want[i])
			}
			last = i
		}
	}
	if _, err := matrix.VectorFromTuples(n, idx, vals, nil); !errors.Is(err, matrix.ErrDuplicate) {
		t.Errorf("repeated indices: %v", err)
	}
	idx[150_000], idx[199_999] = n+5, -1
	var at *matrix.IndexError
	if _, err := matrix.VectorFromTuples(n, idx, vals, half); !errors.As(err, &at) || at.Index != n+5 || at.Op != "matrix.VectorFromTuples" || at.Arg != "index" {
		t.Errorf("indices outside: %v", err)
	}
}

// twice is a CombineFunc with an operator of its own.
type twice struct{ matrix.CombineFunc[int] }

func (t twice) Combine(x, y int) int { return 2 * t.CombineFunc(x, y) }

// TestCombiners: an operator that embeds a CombineFunc is called by its own method, and a nil
// CombineFunc is an error.
func TestCombiners(t *testing.T) {
	plus := matrix.CombineFunc[int](func(x, y int) int { return x + y })
	at := []int{0, 0}
	for _, test := range []struct {
		reason string
		op     matrix.Combiner[int]
		want   int
		fails  bool
	}{
		{"a function", plus, 7, false},
		{"its own method", twice{plus}, 14, false},
		{"a nil function", matrix.CombineFunc[int](nil), 0, true},
	} {
		a, err := matrix.FromTuples(1, 1, at, at, []int{3, 4}, test.op)
		if x, _ := a.At(0, 0); x != test.want || (err != nil) != test.fails {
			t.Errorf("%s: %d, %v, want %d", test.reason, x, err, test.want)
		}
	}
}
