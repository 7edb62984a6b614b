package matrix_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// city is an element type with a String method.
type city struct {
	Name string
	Size int
}

func (c city) String() string { return c.Name + "!" }

type plain struct{ X, Y int }

func TestPrint(t *testing.T) {
	var b strings.Builder
	show := func(title string, x fmt.Stringer) {
		fmt.Fprintf(&b, "== %s\n%v\n%#v\n\n", title, x, x)
	}
	show("csr", mustTuples(t, 3, 4, []int{0, 2, 2}, []int{3, 0, 2}, []float64{1.5, -20, 3}))
	show("one entry", mustTuples(t, 1, 1, []int{0}, []int{0}, []int{7}))
	show("empty", matrix.New[bool](3, 4))
	show("zero value", &matrix.Matrix[int]{})
	show("hypersparse", mustTuples(t, matrix.MaxDim, matrix.MaxDim, []int{3, 1000000}, []int{5, matrix.MaxDim - 1}, []int8{1, -1}))
	full, _ := matrix.FromDense(3, 3, []float32{1, 2.5, -3, 100, 0, 6, 7, 8, 9})
	show("full", full)
	bitmap := mustTuples(t, 3, 3, []int{0, 2, 2}, []int{2, 0, 1}, []int{1, 20, 300})
	sure.Do(bitmap.SetFormat(matrix.Bitmap))
	show("bitmap", bitmap)
	wide := matrix.NewBuilder[int](30, 30)
	for i := range 30 {
		for j := range i {
			wide.Add(i, j, i*j)
		}
	}
	w, _ := wide.Build(nil)
	show("more than fits", w)
	large, _ := matrix.NewFull(11, 20, true)
	show("more than fits, full", large)
	show("type with String", mustTuples(t, 2, 2, []int{0, 1}, []int{1, 0}, []city{{"Oslo", 1}, {"Rome", 2}}))
	show("struct", mustTuples(t, 2, 2, []int{0}, []int{1}, []plain{{1, 2}}))
	show("long text", mustTuples(t, 1, 1, []int{0}, []int{0}, []string{strings.Repeat("long\n", 20)}))
	show("error", matrix.New[int](-1, 2))
	v, _ := matrix.VectorFromTuples(9, []int{2, 7}, []float64{1, 2}, nil)
	show("vector", v)
	fv, _ := matrix.VectorOf([]int{1, 2, 3, 4, 5, 6, 7, 8, 9})
	show("full vector", fv)
	show("zero vector", &matrix.Vector[int]{})
	show("vector with an error", matrix.NewVector[int](-1))
	a := mustTuples(t, 3, 4, []int{0, 2}, []int{3, 0}, []float64{1.5, -20})
	fmt.Fprintf(&b, "== views\n%v\n%v\n%v\n%v\n", a.T(), a.Pattern(), a.Pattern().T(), a.View())

	golden := filepath.Join("testdata", "print.golden")
	if *update {
		sure.Do(os.WriteFile(golden, []byte(b.String()), 0o644))
	}
	want := sure.Get(os.ReadFile(golden))
	if b.String() != string(want) {
		t.Errorf("output differs from %s (run with -update to accept):\n%s", golden, b.String())
	}
}
