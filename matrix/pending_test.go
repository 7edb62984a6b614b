package matrix_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

// modelled is a matrix and the map that it must equal.
type modelled[T comparable] struct {
	a    *matrix.Matrix[T]
	want map[matrix.Coord]T
}

func (m *modelled[T]) check(t *testing.T, note string) {
	t.Helper()
	if got := m.a.NVals(); got != int64(len(m.want)) {
		t.Fatalf("%s: NVals is %d, want %d", note, got, len(m.want))
	}
	last, n := matrix.Coord{-1, -1}, 0
	for at, v := range m.a.All() {
		if w, ok := m.want[at]; !ok || w != v {
			t.Fatalf("%s: %v is %v, want %v, %v", note, at, v, w, ok)
		}
		if at.Row < last.Row || at.Row == last.Row && at.Col <= last.Col {
			t.Fatalf("%s: %v follows %v", note, at, last)
		}
		last = at
		n++
	}
	if n != len(m.want) {
		t.Fatalf("%s: %d entries, want %d", note, n, len(m.want))
	}
	if err := m.a.Inside().Stored().Check(m.a.Inside().Stored().Val.Len(), false); err != nil {
		t.Fatalf("%s: %v", note, err)
	}
}

func changesEqualMap[T comparable](t *testing.T, m, n, entries, steps int, value func(r *rand.Rand) T) {
	r := rand.New(rand.NewPCG(uint64(m), uint64(entries)))
	rows, cols := min(m, 400), min(n, 4000)
	at := func() matrix.Coord { // rows and columns from the whole of each dimension
		return matrix.Coord{r.IntN(rows) * (m / rows), r.IntN(cols) * (n / cols)}
	}
	b := matrix.NewBuilder[T](m, n)
	x := &modelled[T]{want: map[matrix.Coord]T{}}
	for range entries {
		c, v := at(), value(r)
		if _, ok := x.want[c]; !ok {
			b.Add(c.Row, c.Col, v)
			x.want[c] = v
		}
	}
	var err error
	if x.a, err = b.Build(nil); err != nil {
		t.Fatal(err)
	}
	pended := false
	recent := []matrix.Coord{at()}
	for step := range steps {
		c := at()
		if r.IntN(3) == 0 { // the same position again, in another state
			c = recent[r.IntN(len(recent))]
		}
		recent = append(recent[max(0, len(recent)-50):], c)
		switch r.IntN(12) {
		case 0, 1, 2, 3, 4:
			v := value(r)
			sure.Do(x.a.Set(c.Row, c.Col, v))
			x.want[c] = v
		case 5, 6, 7, 8:
			if err := x.a.Delete(c.Row, c.Col); err != nil {
				t.Fatal(err)
			}
			delete(x.want, c)
		case 9:
			var cols []int
			for j, v := range x.a.Row(c.Row) {
				cols = append(cols, j)
				if w, ok := x.want[matrix.Coord{c.Row, j}]; !ok || w != v {
					t.Fatalf("step %d: row %d has %v in column %d, want %v, %v", step, c.Row, v, j, w, ok)
				}
			}
			want := 0
			for at := range x.want {
				if at.Row == c.Row {
					want++
				}
			}
			if len(cols) != want || !slices.IsSorted(cols) {
				t.Fatalf("step %d: row %d has columns %v, want %d", step, c.Row, cols, want)
			}
		case 10:
			v, ok := x.a.At(c.Row, c.Col)
			if w, has := x.want[c]; ok != has || v != w {
				t.Fatalf("step %d: At%v is %v, %v, want %v, %v", step, c, v, ok, w, has)
			}
			if got := x.a.NVals(); got != int64(len(x.want)) {
				t.Fatalf("step %d: NVals is %d, want %d", step, got, len(x.want))
			}
		case 11:
			if r.IntN(20) == 0 {
				x.check(t, fmt.Sprint("step ", step))
			}
		}
		pended = pended || changesWait(x.a)
	}
	x.check(t, "at the end")
	if !pended {
		t.Error("no change was pending: the test does not test what it should")
	}
}

// changesWait reports whether changes of a matrix wait to be merged, which no method tells.
func changesWait[T comparable](a *matrix.Matrix[T]) bool {
	return !reflect.ValueOf(a).Elem().FieldByName("c").FieldByName("pending").Field(0).IsNil()
}

// TestChangesEqualMap: Set and Delete in any order, with reads between them, equal a map.
func TestChangesEqualMap(t *testing.T) {
	float := func(r *rand.Rand) float64 { return float64(r.IntN(9)) }
	for _, x := range []struct{ m, n, entries, steps int }{
		{3000, 3000, 900, 6000}, {60, 1 << 30, 3000, 6000}, {matrix.MaxDim, matrix.MaxDim, 1000, 6000}, {matrix.MaxDim, 50, 300, 6000}, {1 << 20, 1 << 20, 0, 9000}, {1, 1 << 20, 2000, 6000}, {500, 70000, 0, 9000},
	} {
		t.Run(fmt.Sprintf("%d×%d", x.m, x.n), func(t *testing.T) { changesEqualMap(t, x.m, x.n, x.entries, x.steps, float) })
	}
	type named struct {
		name string
		at   *int
	}
	t.Run("pointers", func(t *testing.T) {
		changesEqualMap(t, 400, 4000, 800, 4000, func(r *rand.Rand) named { return named{fmt.Sprint(r.IntN(5)), new(int)} })
	})
}

// TestPinnedChanges: a pinned format survives the merge.
func TestPinnedChanges(t *testing.T) {
	for _, f := range []matrix.Format{matrix.CSR, matrix.Hypersparse} {
		a := matrix.New[int](1000, 1000)
		sure.Do(a.SetFormat(f))
		for k := range 2000 {
			sure.Do(a.Set(k*7%1000, k*13%1000, k))
		}
		if a.Format() != f {
			t.Errorf("the format is %v, want %v", a.Format(), f)
		}
	}
}

// TestReadersMergeOnce: goroutines that read a matrix with pending changes see all of them. The
// race detector watches the merge.
func TestReadersMergeOnce(t *testing.T) {
	for round := range 20 {
		a := matrix.New[int](2000, 2000)
		for k := range 900 {
			_ = a.Set(k, k*7%2000, k)
		}
		if !changesWait(a) {
			t.Fatal("no change is pending")
		}
		var all sync.WaitGroup
		for w := range 8 {
			all.Add(1)
			go func() {
				defer all.Done()
				switch (w + round) % 4 {
				case 0:
					n := 0
					for range a.All() {
						n++
					}
					if n != 900 {
						t.Errorf("All has %d entries", n)
					}
				case 1:
					if m, _ := a.Dims(); a.NVals() != 900 || m != 2000 {
						t.Errorf("NVals is %d", a.NVals())
					}
				case 2:
					if v, ok := a.At(600, 4200%2000); !ok || v != 600 {
						t.Errorf("At is %v, %v", v, ok)
					}
				case 3:
					for j, v := range a.Row(5) {
						if j != 35 || v != 5 {
							t.Errorf("row 5 has %d at %d", v, j)
						}
					}
				}
			}()
		}
		all.Wait()
	}
}

// TestSetCopiesLittle: changes of a large matrix do not copy it for each.
func TestSetCopiesLittle(t *testing.T) {
	n := 100_000
	a := matrix.New[float64](n, n)
	sure.Do(a.SetFormat(matrix.CSR))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for k := range 20_000 {
		sure.Do(a.Set(k*7919%n, k*104729%n, 1))
		if k%1000 == 0 {
			_ = a.Row(k)
		}
	}
	runtime.ReadMemStats(&after)
	// A copy of the row offsets for each entry is 16 GB.
	if got := after.TotalAlloc - before.TotalAlloc; got > 200<<20 {
		t.Errorf("20000 entries allocate %d MB", got>>20)
	}
	if a.NVals() != 20_000 || a.Format() != matrix.CSR {
		t.Errorf("%d entries, format %v", a.NVals(), a.Format())
	}
}
