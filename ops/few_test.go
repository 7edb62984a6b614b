package ops_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/race"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// fewCount is the number of entries of the operands, which are spread over all positions.
const fewCount = 10

// fewAt returns the position of entry k of n.
func fewAt(k, n int) int { return n/fewCount*k + 7 }

// fewList returns a vector of n positions with few entries; odd ones are 0 if zeros is set.
func fewList(t *testing.T, n, shift int, zeros bool) *matrix.Vector[int32] {
	var idx []int
	var val []int32
	for k := range fewCount {
		idx, val = append(idx, fewAt(k, n)+shift), append(val, int32(k+1))
		if zeros && k%2 == 1 {
			val[k] = 0
		}
	}
	v := sure.Get(matrix.VectorFromTuples(n, idx, val, nil))
	return v
}

// fewIn returns few entries in a format, to which the vector is pinned if it is dense.
func fewIn(t *testing.T, n int, zeros bool, f matrix.Format) *matrix.Vector[int32] {
	if f == matrix.Full {
		v := sure.Get(matrix.NewFullVector(n, int32(1)))
		return v
	}
	v := fewList(t, n, 1, zeros)
	if f == matrix.Bitmap {
		sure.Do(v.SetFormat(f))
	}
	return v
}

// cost is what an operation takes: the bytes that it allocates, and the bytes of the pages that it
// touches.
type cost struct{ allocated, touched int64 }

// costOf returns the least cost of two runs. It looks at the touched pages only if pages is set.
func costOf(t *testing.T, run func() error, pages bool) (least cost) {
	least = cost{1 << 62, 1 << 62}
	do := func() {
		if err := run(); err != nil {
			t.Fatal(err)
		}
	}
	do() // fills the pools, makes transposes
	for range 2 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		do()
		runtime.ReadMemStats(&after)
		least.allocated = min(least.allocated, int64(after.TotalAlloc-before.TotalAlloc))
		if pages {
			least.touched = min(least.touched, touched(do))
		}
	}
	return least
}

// fewOp is an operation on operands of few entries.
type fewOp struct {
	name string
	run  func(w matrix.VectorTarget[int32]) error
}

// fewOps returns operations on vectors of n positions. Operands are lists, a path and a matrix of
// few rows.
func fewOps(t *testing.T, n int) []fewOp {
	u, v := fewList(t, n, 0, false), fewList(t, n, 1, false)
	ptr, idx, val := make([]int64, n+1), make([]int32, n), make([]int32, n)
	for i := range n {
		ptr[i+1], idx[i], val[i] = int64(i+1), int32((i+1)%n), 1
	}
	path := sure.Get(matrix.FromCSR(n, n, ptr, idx, val))
	var rows, cols []int
	var ones []int32
	for k := range fewCount {
		rows, cols, ones = append(rows, fewAt(k, n)), append(cols, fewAt(k, n)+1), append(ones, 1)
	}
	hyper := sure.Get(matrix.FromTuples(n, n, rows, cols, ones, nil))
	sure.Do(hyper.SetFormat(matrix.Hypersparse))
	plus, times := semiring.Plus[int32](), semiring.Times[int32]()
	list := ops.Of(cols...)
	part := sure.Get(matrix.NewFullVector(fewCount, int32(3)))
	return []fewOp{
		{"VxM", func(w matrix.VectorTarget[int32]) error { return ops.VxM(w, semiring.PlusTimes[int32](), u, path) }},
		{"VxM/any", func(w matrix.VectorTarget[int32]) error {
			return ops.VxM(w, semiring.AnyPair[int32](), u.Pattern(), path.Pattern())
		}},
		{"VxM/hypersparse", func(w matrix.VectorTarget[int32]) error { return ops.VxM(w, semiring.PlusTimes[int32](), u, hyper) }},
		{"MxV", func(w matrix.VectorTarget[int32]) error { return ops.MxV(w, semiring.MinPlus[int32](), path, u) }},
		{"Apply", func(w matrix.VectorTarget[int32]) error { return ops.Apply[int32](w, semiring.Identity[int32](), u) }},
		{"ApplySecond", func(w matrix.VectorTarget[int32]) error { return ops.ApplySecond[int32, int32, int32](w, times, u, 3) }},
		{"ApplyIndex", func(w matrix.VectorTarget[int32]) error {
			return ops.ApplyIndex[int32](w, semiring.ColIndex[int32, int32](0), u)
		}},
		{"Select", func(w matrix.VectorTarget[int32]) error { return ops.Select[int32](w, semiring.ValueGT[int32](3), u) }},
		{"EWiseAdd", func(w matrix.VectorTarget[int32]) error { return ops.EWiseAdd[int32](w, plus, u, v) }},
		{"EWiseMult", func(w matrix.VectorTarget[int32]) error { return ops.EWiseMult[int32, int32, int32](w, times, u, v) }},
		{"EWiseUnion", func(w matrix.VectorTarget[int32]) error {
			return ops.EWiseUnion[int32, int32, int32](w, times, u, 2, v, 3)
		}},
		{"AssignVector/all", func(w matrix.VectorTarget[int32]) error { return ops.AssignVector(w, u, ops.All()) }},
		{"AssignVector/list", func(w matrix.VectorTarget[int32]) error { return ops.AssignVector(w, part, list) }},
		{"AssignVectorScalar/all", func(w matrix.VectorTarget[int32]) error { return ops.AssignVectorScalar(w, 3, ops.All()) }},
		{"AssignVectorScalar/list", func(w matrix.VectorTarget[int32]) error { return ops.AssignVectorScalar(w, 3, list) }},
		{"ExtractVector/all", func(w matrix.VectorTarget[int32]) error { return ops.ExtractVector(w, u, ops.All()) }},
		{"Scatter", func(w matrix.VectorTarget[int32]) error { return ops.ScatterVector(w, plus, part, list) }},
		{"Reduce", func(w matrix.VectorTarget[int32]) error { return ops.Reduce(w, semiring.Plus[int32](), hyper) }},
	}
}

// fewMask is a mask of few entries, or none.
type fewMask struct {
	name   string
	mask   matrix.Mask
	comp   bool
	values bool
	dense  bool
}

// fewMasks returns no mask and masks of few entries in each format. A full one has all entries.
func fewMasks(t *testing.T, n int) []fewMask {
	masks := []fewMask{{name: "no mask"}}
	for _, f := range []matrix.Format{matrix.CSR, matrix.Bitmap, matrix.Full} {
		m := fewIn(t, n, true, f)
		for _, comp := range []bool{false, true} {
			for _, values := range []bool{false, true} {
				k := fewMask{name: fmt.Sprint("mask ", f), comp: comp, values: values, dense: f != matrix.CSR}
				v := m.Structure()
				if values {
					v, k.name = m.MaskView(), k.name+" by value"
				}
				if comp {
					v, k.name = v.Not(), "complemented "+k.name
				}
				k.mask = v
				masks = append(masks, k)
			}
		}
	}
	return masks
}

// linear returns why an operation on few entries takes time in proportion to the positions, or "".
func linear(op string, f matrix.Format, m fewMask, accum, replace bool) string {
	scalar := op == "AssignVectorScalar/all"
	list := strings.HasPrefix(op, "Assign") && strings.HasSuffix(op, "/list")
	switch {
	case m.values && m.dense:
		return "the values of the mask other than zero are sought among all"
	case scalar && (m.mask == nil || m.comp || m.dense):
		return "the result has an entry at each position, or the mask is searched for its entries"
	case f == matrix.CSR:
		return ""
	case m.mask == nil && !accum && !list:
		return "the result takes the place of each entry of the destination"
	case replace:
		return "the entries outside the mask are deleted"
	case m.comp && !accum && !list:
		return "the entries outside the complement are deleted"
	case m.dense && !accum:
		return "the mask is searched for the entries to delete"
	case f == matrix.Full && !accum && m.mask != nil:
		return "the destination becomes a bitmap"
	}
	return ""
}

// fewSlack is what the costs of one operation may differ by, because the runtime allocates and
// touches memory of its own: less than a byte for each of 3·10⁶ positions or a bit for each of 10⁷.
var fewSlack = cost{allocated: 4 << 10, touched: 768 << 10}

// fewChild is set in the process that TestFewEntriesCostTheSame starts for itself.
const fewChild = "HIVEBLAS_FEW_CHILD"

// TestFewEntriesCostTheSame: an operation on 10 entries allocates and touches equally many bytes
// for 10⁵ positions and for more, in every combination of format, mask, accumulator and replace,
// other than the combinations of linear. The quick form looks at the touched pages of one
// combination in eight.
func TestFewEntriesCostTheSame(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates and touches memory of its own")
	}
	if os.Getenv(fewChild) == "" { // memory that other tests have had may be in huge pages
		name := sure.Get(os.Executable())
		cmd := exec.CommandContext(t.Context(), name, "-test.run=^TestFewEntriesCostTheSame$", "-test.v")
		cmd.Env = append(os.Environ(), fewChild+"=1")
		out, err := cmd.CombinedOutput()
		if err != nil || !bytes.Contains(out, []byte("--- PASS: TestFewEntriesCostTheSame")) && !bytes.Contains(out, []byte("--- SKIP")) {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	smallPages(t)
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	sizes, every := []int{100_000, 3_000_000}, 2
	if longtest.Enabled() {
		sizes, every = []int{100_000, 1_000_000, 10_000_000}, 1
	}
	first := map[string]cost{}
	for _, n := range sizes {
		seen, ran := 0, 0
		fewRuns(t, n, func(name string, run func() error) {
			if seen++; !longtest.Takes(seen, 4) {
				return
			}
			ran++
			got := costOf(t, run, ran%every == longtest.Turn()%every)
			want, ok := first[name]
			if !ok {
				first[name] = got
				return
			}
			// Sweeping and other work of the runtime only adds to a cost: the least of several
			// counts.
			for try := 0; try < 4 && (got.allocated > want.allocated+fewSlack.allocated || got.touched > want.touched+fewSlack.touched); try++ {
				again := costOf(t, run, ran%every == longtest.Turn()%every)
				got = cost{min(got.allocated, again.allocated), min(got.touched, again.touched)}
			}
			if got.allocated > want.allocated+fewSlack.allocated {
				t.Errorf("%s: %d bytes allocated for %d positions, %d for %d", name, got.allocated, n, want.allocated, sizes[0])
			}
			if got.touched > want.touched+fewSlack.touched {
				t.Errorf("%s: %d bytes touched for %d positions, %d for %d", name, got.touched, n, want.touched, sizes[0])
			}
		})
		if ran != len(first) || seen < 500 {
			t.Errorf("%d of %d combinations for %d positions, %d for %d", ran, seen, n, len(first), sizes[0])
		}
		runtime.GC()
	}
}

// fewRuns calls do for each combination of an operation on few entries with a format and the parts
// of a destination.
func fewRuns(t *testing.T, n int, do func(name string, run func() error)) {
	list, masks := fewOps(t, n), fewMasks(t, n)
	for _, f := range []matrix.Format{matrix.CSR, matrix.Bitmap, matrix.Full} {
		w := fewIn(t, n, false, f)
		for _, op := range list {
			for _, m := range masks {
				for how := range 4 {
					accum, replace := how&1 != 0, how&2 != 0
					if replace && m.mask == nil || linear(op.name, f, m, accum, replace) != "" {
						continue
					}
					if f == matrix.CSR { // others keep their format
						w = fewIn(t, n, false, f)
					}
					dst, name := w.Masked(m.mask), fmt.Sprintf("%s, %s into %v", op.name, m.name, f)
					if accum {
						dst, name = dst.Accum(semiring.Plus[int32]()), name+", accumulating"
					}
					if replace {
						dst, name = dst.Replace(), name+", replacing"
					}
					do(name, func() error { return op.run(dst) })
					if w.Format() != f {
						t.Errorf("%s: the destination becomes %v", name, w.Format())
					}
				}
			}
		}
	}
}

// TestGrowingVector: a list to which an operation adds one entry at a time becomes a bitmap once
// the additions have copied as many entries as it has positions, and stays one until it is empty.
func TestGrowingVector(t *testing.T) {
	const n = 100_000
	var s ops.Steps
	w := matrix.NewVector[int32](n)
	one := matrix.NewVector[int32](n)
	added := 0
	for ; w.Format() == matrix.CSR && added < n/32; added++ {
		one.Clear()
		s.Do(one.Set(7*added, int32(added)))
		s.Do(ops.AssignVectorScalar(w.Masked(one.Structure()), int32(added), ops.All()))
	}
	if !s.OK() {
		t.Fatal(s.Err())
	}
	if w.Format() != matrix.Bitmap || added < 400 || added > 500 {
		t.Errorf("%d additions make a %v, want a bitmap after about the root of %d", added, w.Format(), 2*n)
	}
	if w.NVals() != int64(added) {
		t.Errorf("%d entries, want %d", w.NVals(), added)
	}
	for i, x := range w.All() {
		if i != 7*int(x) {
			t.Errorf("entry %d is %d", i, x)
		}
	}
	s.Do(ops.Apply(w.Masked(one.Structure().Not()).Replace(), semiring.Identity[int32](), w))
	if w.Format() != matrix.Bitmap || w.NVals() != int64(added-1) {
		t.Errorf("one deletion leaves %d entries in a %v, want %d in a bitmap", w.NVals(), w.Format(), added-1)
	}
	s.Do(ops.Apply(w, semiring.Identity[int32](), one))
	if w.Format() != matrix.CSR || w.NVals() != 1 {
		t.Errorf("another result has %d entries in a %v, want a list of 1", w.NVals(), w.Format())
	}
	if !s.OK() {
		t.Fatal(s.Err())
	}
}

// TestPushOfParts: a push with few products beside the positions, but enough for two accumulators,
// has the sums of a map of the products under each mask.
func TestPushOfParts(t *testing.T) {
	const n, entries = 1 << 22, 12000
	var s ops.Steps
	next := uint32(1)
	random := func() int { next = next*1664525 + 1013904223; return int(next>>8) % n }
	var rows, cols []int
	var val []float64
	want := map[int]float64{}
	var at []int
	for len(at) < entries {
		at = append(at, random())
		for range 3 {
			j := random() &^ 1023 // many of a column
			rows, cols, val = append(rows, at[len(at)-1]), append(cols, j), append(val, float64(len(cols)%9))
		}
	}
	plus := semiring.Plus[float64]()
	a, err := matrix.FromTuples(n, n, rows, cols, val, plus)
	s.Do(err)
	s.Do(a.SetFormat(matrix.Hypersparse))
	ones := make([]float64, entries)
	for k := range ones {
		ones[k] = 1
	}
	u, err := matrix.VectorFromTuples(n, at, ones, semiring.Min[float64]())
	s.Do(err)
	for p, j := range cols {
		want[j] += val[p]
	}
	allowed := matrix.NewVector[bool](n)
	half := []int{}
	for j := 0; j < n; j += 2048 {
		half = append(half, j)
	}
	s.Do(ops.AssignVectorScalar(allowed, true, ops.Of(half...)))
	if !s.OK() {
		t.Fatal(s.Err())
	}
	for _, f := range []matrix.Format{matrix.CSR, matrix.Bitmap} {
		s.Do(allowed.SetFormat(f))
		for _, c := range []struct {
			name string
			mask matrix.Mask
			has  func(j int) bool
		}{
			{"no mask", nil, func(int) bool { return true }},
			{"mask", allowed.Structure(), func(j int) bool { return j%2048 == 0 }},
			{"complemented mask", allowed.Structure().Not(), func(j int) bool { return j%2048 != 0 }},
		} {
			for _, threads := range []int{1, 2, 2} { // a second time with the same accumulators
				w := matrix.NewVector[float64](n)
				var ran ops.Trace
				s.Do(ops.VxM(w.Masked(c.mask), semiring.PlusTimes[float64](), u, a, ops.WithThreads(threads), ops.WithTrace(&ran)))
				if !s.OK() {
					t.Fatal(s.Err())
				}
				if ran.Method != ops.Push || ran.Work < 1<<15 || ran.Work >= n>>6 {
					t.Fatalf("%s: %s of %d products does not test what it should", c.name, ran.Method, ran.Work)
				}
				left := 0
				for j := range want {
					if c.has(j) {
						left++
					}
				}
				if w.NVals() != int64(left) {
					t.Errorf("%v %s: %d entries, want %d", f, c.name, w.NVals(), left)
				}
				last := -1
				for j, x := range w.All() {
					if j <= last || !c.has(j) || x != want[j] {
						t.Fatalf("%v %s: entry %d after %d is %v, want %v", f, c.name, j, last, x, want[j])
					}
					last = j
				}
			}
		}
	}
}
