package ops_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// tracedName is a value with pointers that the collector must see: the list holds the length of the
// name.
type tracedName struct {
	Name string
	List *[]int
}

func traceName(name string) tracedName { return tracedName{name, &[]int{len(name)}} }

// whole reports whether the memory of a value is what it was.
func (v tracedName) whole() bool {
	return v.Name != "" && strings.Count(v.Name, v.Name[:1]) == len(v.Name) && len(*v.List) == 1 && (*v.List)[0] == len(v.Name)
}

// TestCollectorSeesValues: values with pointers outlive collections in operands, results, masks and
// scratch memory, with a collection at every chance and with the check of the collector's marks.
func TestCollectorSeesValues(t *testing.T) {
	if os.Getenv("GODEBUG") == "" {
		name, err := os.Executable()
		must(t, err)
		child := exec.Command(name, "-test.run=^TestCollectorSeesValues$")
		child.Env = append(os.Environ(), "GODEBUG=gccheckmark=1")
		if out, err := child.CombinedOutput(); err != nil {
			t.Errorf("with gccheckmark=1: %v\n%s", err, out)
		}
	}
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	const n = 60
	var rows, cols []int
	var vals []tracedName
	for k := range 4 * n {
		rows, cols = append(rows, k*7%n), append(cols, k*11%n)
		vals = append(vals, traceName(strings.Repeat(string(rune('a'+k%26)), 1+k%5)))
	}
	shorter := func(x, y tracedName) tracedName {
		if y.Name < x.Name {
			x = y
		}
		return traceName(strings.Clone(x.Name))
	}
	least := semiring.NewBinary("least", shorter)
	sum := semiring.NewMonoid(least, traceName(strings.Repeat("{", 9)))
	s := semiring.New(sum, least)
	a, err := matrix.FromTuples(n, n, rows, cols, vals, matrix.CombineFunc[tracedName](shorter))
	must(t, err)
	c, w := matrix.New[tracedName](n, n), matrix.NewVector[tracedName](n)
	u := matrix.NewVector[tracedName](n)
	for i := 0; i < n; i += 2 {
		must(t, u.Set(i, traceName("k")))
	}
	copies := semiring.NewUnary("copy", func(x tracedName) tracedName { return traceName(x.Name) })
	some := ops.Of(5, 3, 40, 8)
	part := matrix.New[tracedName](4, 4)
	forms := []matrix.Format{matrix.CSR, matrix.Hypersparse, matrix.Bitmap}
	listed := a.Clone()
	for _, f := range forms {
		must(t, a.SetFormat(f))
		for name, run := range map[string]func() error{
			"MxM":         func() error { return ops.MxM(c, s, a, a) },
			"MxM hash":    func() error { return ops.MxM(c, s, a, a.T(), ops.Using(ops.Hash)) },
			"MxM dot":     func() error { return ops.MxM(c.Masked(listed.Structure()), s, a, a, ops.Using(ops.Dot)) },
			"pull":        func() error { return ops.MxV(w, s, a, u, ops.Using(ops.Pull)) },
			"push":        func() error { return ops.VxM(w, s, u, a, ops.Using(ops.Push)) },
			"EWiseAdd":    func() error { return ops.EWiseAdd(c, least, a, a.T()) },
			"EWiseMult":   func() error { return ops.EWiseMult(c, least, a, a.T()) },
			"Apply accum": func() error { return ops.Apply(c.Masked(a.Structure().Not()).Accum(least), copies, a.T()) },
			"Transpose":   func() error { return ops.Transpose(c, a) },
			"Reduce":      func() error { return ops.Reduce(w, sum, a) },
			"Extract, Assign": func() error {
				if err := ops.Extract(part, a, some, some); err != nil {
					return err
				}
				return ops.Assign(c.Accum(least), part, some, some)
			},
			"AssignScalar": func() error { return ops.AssignScalar(c, traceName("zz"), some, some) },
			"Set":          func() error { return c.Set(7, 9, traceName("yyy")) },
		} {
			must(t, run())
			runtime.GC()
			what := fmt.Sprintf("%s of %v", name, f)
			for at, v := range c.All() {
				if !v.whole() {
					t.Fatalf("%s: the value at %v is %q", what, at, v.Name)
				}
			}
			for i, v := range w.All() {
				if !v.whole() {
					t.Fatalf("%s: the value at %d is %q", what, i, v.Name)
				}
			}
		}
	}
}
