package samples

import (
	"bytes"
	"context"
	"math"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/hiveblas/hiveblas/apps/internal/workflow"
	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/graphio"
	"github.com/hiveblas/hiveblas/matrix"
)

// SameByThreads runs a workflow on several numbers of threads, requires equal results, bit for bit,
// and returns the result of one thread.
func SameByThreads[R any](t *testing.T, name string, run func(run workflow.Run) (R, error)) R {
	t.Helper()
	var first R
	for k, threads := range []int{1, 2, 3, 8, 16} {
		res, err := run(workflow.Run{Threads: threads})
		if err != nil {
			t.Fatalf("%s, %d threads: %v", name, threads, err)
		}
		if k == 0 {
			first = res
		} else if !reflect.DeepEqual(first, res) {
			t.Errorf("%s: %d threads differ from one", name, threads)
		}
	}
	return first
}

// Skewed returns an undirected R-MAT graph of 2^scale vertices with weights from 0 to 1.
func Skewed(t *testing.T, scale int) *matrix.Matrix[float64] {
	t.Helper()
	g := gen.CSR(gen.Symmetrise(gen.RMAT(scale, 8, gen.RMATOptions{})))
	return Must[*matrix.Matrix[float64]](t)(matrix.FromCSR(g.NRows, g.NCols, g.Ptr, g.Idx, gen.UniformFloats(g, 1, true)))
}

// Listed returns a vector as numbers.
func Listed[T int32 | float64](v *matrix.Vector[T]) []float64 {
	if v == nil {
		return nil
	}
	list := make([]float64, v.Size())
	for i := range list {
		list[i] = math.NaN()
	}
	for i, x := range v.All() {
		list[i] = float64(x)
	}
	return list
}

// Random returns a sample of about m edges, a tenth of them at a hub.
func Random(n, m int, seed int64, undirected bool) Sample {
	rng := rand.New(rand.NewSource(seed))
	s := Blank(n)
	for k := range m {
		e := Edge{rng.Intn(n), rng.Intn(n), rng.Intn(64)}
		if k%10 == 0 {
			e.From = 1
		}
		s.Edges = append(s.Edges, e)
	}
	if undirected {
		s = s.Both()
	}
	return s
}

func Must[R any](t testing.TB) func(r R, err error) R {
	return func(r R, err error) R {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
}

// EndsAfter is a context that ends after a number of checks.
type EndsAfter struct {
	context.Context
	Left int
}

func (c *EndsAfter) Err() error {
	if c.Left--; c.Left < 0 {
		return context.Canceled
	}
	return nil
}

func Own(t testing.TB, file []byte) *matrix.Matrix[float64] {
	t.Helper()
	a, err := graphio.ReadMatrixMarket[float64](bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

var published = map[string]*matrix.Matrix[float64]{}

// Shared reads a graph of the data beside the checkout, or skips the test.
func Shared(t testing.TB, name string) *matrix.Matrix[float64] {
	t.Helper()
	if a, ok := published[name]; ok {
		return a
	}
	dir := Folder()
	if dir == "" {
		t.Skip("no ../shared/data beside the checkout: real graphs are not read")
	}
	a, err := graphio.ReadMatrixMarketFile[float64](filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	published[name] = a
	return a
}

// Folder returns the folder of the data beside the checkout, as seen from the tests of package
// apps, of its families and of packages in these; "" if there is none.
func Folder() string {
	up := ".."
	for range 3 {
		up = filepath.Join(up, "..")
		dir := filepath.Join(up, "shared", "data")
		if _, err := os.Stat(dir); err == nil {
			return dir
		}
	}
	return ""
}

// Big skips tests on large graphs where time is short.
func Big(t testing.TB) {
	if testing.Short() {
		t.Skip("large graphs are left out with -short")
	}
}

// ErrorOf drops a result.
func ErrorOf[R any](_ R, err error) error { return err }
