package gpugroup

import (
	"fmt"
	"slices"
	"testing"

	"github.com/hiveblas/hiveblas/internal/longtest"
	"github.com/hiveblas/hiveblas/internal/splitmix"
	"github.com/hiveblas/hiveblas/internal/sure"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// share is the share of the positions that have entries.
type share struct {
	name     string
	one, all uint64 // one of all
}

var shares = []share{{"none", 0, 1}, {"few", 1, 40}, {"some", 1, 5}, {"most", 9, 10}, {"all", 1, 1}}

func (s share) has(x uint64) bool { return splitmix.At(x, 3)%s.all < s.one }

func vectorOf(n int, s share) *matrix.Vector[int32] {
	v := matrix.NewVector[int32](n)
	for i := range n {
		if s.has(uint64(i)) {
			_ = v.Set(i, int32(i*7%101-50))
		}
	}
	return v
}

// matrixOf has more entries in the first rows.
func matrixOf(t *testing.T, m, n int, s share) *matrix.Matrix[int32] {
	t.Helper()
	b := matrix.NewBuilder[int32](m, n)
	for i := range m {
		for j := range n {
			if s.has(uint64(i*n + j)) {
				b.Add(i, j, int32(i*31+j*7)%97-40)
			}
		}
	}
	a := sure.Get(b.Build(nil))
	return a
}

// wordsOf lists the entries of a matrix.
func wordsOf(a *matrix.Matrix[int32]) (list []string) {
	for c, x := range a.All() {
		list = append(list, fmt.Sprint(c.Row, c.Col, x))
	}
	return list
}

// vectors runs operations that gather v, and others that cut it in another way.
func vectors(t *testing.T, at matrix.Place, n int, s share, f matrix.Format) (words []string) {
	t.Helper()
	here, id := matrix.On(at), semiring.Identity[int32]()
	v, w, u := matrix.NewVector[int32](n, here), matrix.NewVector[int32](n, here), matrix.NewVector[int32](n, here)
	var st ops.Steps
	st.Do(ops.Apply(v, id, vectorOf(n, s))) // on the place alone
	if f != matrix.Automatic && (f != matrix.Full || v.NVals() == int64(n)) {
		st.Do(v.SetFormat(f))
	}
	words = append(words, fmt.Sprint(v.NVals()))
	if n > 0 { // lists of the host and of the place
		list, back := make([]int, n), matrix.NewVector[int32](n, here)
		for i := range list {
			list[i] = n - 1 - i
		}
		st.Do(ops.ExtractVector(w, v, ops.Of(list...)))
		words = append(words, entries(w)...)
		st.Do(ops.AssignVectorScalar(back, 0, ops.All()))
		st.Do(ops.ApplyIndex(back, semiring.RowIndex[int32](int32(0)), back))
		st.Do(ops.ApplyFirst(back, semiring.Minus[int32](), int32(n-1), back))
		st.Do(ops.ExtractVector(w, v, ops.ValuesOf(back)))
		words = append(words, entries(w)...)
		st.Do(ops.ApplySecond(back, semiring.Min[int32](), back, int32(n/2)))
		st.Do(ops.ScatterVector(u, semiring.Plus[int32](), v, ops.ValuesOf(back)))
		words = append(words, entries(u)...)
		st.Do(ops.ScatterVector(u, semiring.Max[int32](), v, ops.Of(list...)))
		words = append(words, entries(u)...)
		c := matrix.New[int32](n, 3, here)
		st.Do(ops.AssignVectorScalar(w, 2, ops.All()))
		st.Do(ops.Scatter(c, semiring.Plus[int32](), v, ops.ValuesOf(back), ops.ValuesOf(w)))
		words = append(words, wordsOf(c)...)
	}
	a := matrixOf(t, n, n, share{"", 1, 4})
	st.Do(a.Move(at))                                                                    // decides the cuts
	st.Do(ops.VxM(w, semiring.PlusPair[int32](), v.Pattern(), a.Pattern()))              // the structure of v
	st.Do(ops.MxV(u.Masked(v.Structure()), semiring.PlusTimes[int32](), a, v))           // v as blocks too
	st.Do(ops.EWiseAdd(u, semiring.Plus[int32](), u, v))                                 // in the cuts of a
	st.Do(ops.MxV(u.Accum(semiring.Plus[int32]()), semiring.MinPlus[int32](), a.T(), v)) // the transpose
	words = append(append(words, entries(w)...), entries(u)...)
	words = append(words, entries(v)...)
	st.Do(ops.Apply(v, semiring.Ainv[int32](), v))
	words = append(words, entries(v)...)
	if st.Err() != nil {
		t.Fatal(st.Err())
	}
	return words
}

// matrices runs operations that gather a matrix, its structure and its transpose.
func matrices(t *testing.T, at matrix.Place, m, n int, s share, f matrix.Format) (words []string) {
	t.Helper()
	here, id := matrix.On(at), semiring.Identity[int32]()
	a, b := matrix.New[int32](m, n, here), matrix.New[int32](n, m, here)
	c, d := matrix.New[int32](m, m, here), matrix.New[int32](n, n, here)
	var st ops.Steps
	st.Do(ops.Apply(a, id, matrixOf(t, m, n, s)))
	if f != matrix.Automatic && (f != matrix.Full || a.NVals() == int64(m*n)) {
		st.Do(a.SetFormat(f))
	}
	st.Do(ops.Transpose(b, a))
	st.Do(ops.MxM(c, semiring.PlusTimes[int32](), a, a.T()))
	st.Do(ops.MxM(d, semiring.PlusPair[int32](), b.Pattern(), a.Pattern()))
	words = append(words, fmt.Sprint(a.NVals(), b.NVals(), c.IsSymmetric(), d.IsSymmetric(), m == n && a.IsSymmetric()))
	// Lists of rows: in some order, with repeats; rows of all ranks, of one, and none.
	var some, every []int
	for i := range 2 * m {
		if every = append(every, (7*i+3)%m); i < m/2 {
			some = append(some, m-1-(5*i+2)%m)
		}
	}
	slices.Sort(some)
	some = slices.Compact(some)
	x, y, z := matrix.New[int32](2*m, n, here), matrix.New[int32](len(some), n, here), matrix.New[int32](0, n, here)
	w, k := matrix.New[int32](m, n, here), matrix.New[int32](2*m, 3*n, here)
	st.Do(ops.Extract(x, a, ops.Of(every...), ops.All()))
	st.Do(ops.Extract(y, a, ops.Of(some...), ops.All()))
	st.Do(ops.Extract(z, a, ops.Of(), ops.All()))
	st.Do(ops.Assign(w, y, ops.Of(some...), ops.All()))
	st.Do(ops.Kronecker(k, semiring.Times[int32](), matrixOf(t, 2, 3, s), a))
	st.Do(ops.Kronecker(k, semiring.Plus[int32](), a, matrixOf(t, 2, 3, s)))
	if row := matrix.NewVector[int32](n, here); m > 0 {
		st.Do(ops.ExtractRow(row, a, m-1, ops.All()))
		words = append(words, entries(row)...)
	}
	for _, x := range []*matrix.Matrix[int32]{a, b, c, d, x, y, z, w, k} {
		words = append(words, wordsOf(x)...)
	}
	if st.Err() != nil {
		t.Fatal(st.Err())
	}
	return words
}

// TestGathers: what ranks get of vectors and matrices in every form is what one place has, and
// costs the bytes of ranks on the host.
func TestGathers(t *testing.T) {
	m := newMachine(t, 2)
	formats := []matrix.Format{matrix.Automatic, matrix.CSR, matrix.Bitmap, matrix.Full, matrix.Hypersparse}
	k := 0
	compare := func(name string, run func(at matrix.Place) []string) {
		k++
		ranks := []int{1, 2, 3}
		if !longtest.Enabled() {
			ranks = []int{1 + k%3}
		}
		want := run(nil)
		for _, p := range ranks {
			at, like := m.group(t, p), likeDevices(t, p)
			got, onHost := run(at), run(like)
			if !slices.Equal(got, want) {
				t.Errorf("%s, %d GPUs: %d values, want %d: %v, want %v", name, p, len(got), len(want), got, want)
			}
			if !slices.Equal(onHost, want) {
				t.Errorf("%s, %d ranks on the host: other values", name, p)
			}
			if a, b := moved(at), moved(like); a != b {
				t.Errorf("%s, %d GPUs: %d bytes between ranks, ranks on the host move %d", name, p, a, b)
			}
		}
	}
	for _, n := range []int{0, 1, 2, 7, 9, 16, 61, 130} {
		for _, s := range shares {
			for i, f := range formats[:4] {
				if longtest.Enabled() && (i+n+longtest.Turn())%2 == 0 || (i+n+longtest.Turn())%9 == 0 {
					compare(fmt.Sprintf("vector of %d, %s, %v", n, s.name, f), func(at matrix.Place) []string { return vectors(t, at, n, s, f) })
				}
			}
		}
	}
	for _, dims := range [][2]int{{0, 3}, {1, 9}, {2, 2}, {13, 7}, {40, 21}, {90, 3}} {
		for _, s := range shares {
			for i, f := range formats {
				if longtest.Enabled() && (i+dims[0]+longtest.Turn())%2 == 0 || (i+dims[0]+longtest.Turn())%12 == 0 {
					compare(fmt.Sprintf("%d×%d, %s, %v", dims[0], dims[1], s.name, f), func(at matrix.Place) []string { return matrices(t, at, dims[0], dims[1], s, f) })
				}
			}
		}
	}
}

// TestListsStayOnDevices: Extract and Assign with lists of rows copy the lists to the devices, and
// comparing a matrix with its transpose copies nothing that grows with it.
func TestListsStayOnDevices(t *testing.T) {
	if testing.Short() {
		t.Skip("the emulator is slow")
	}
	m := newMachine(t, 2)
	g := m.group(t, 2)
	host := graph(t, 12, true)
	n, _ := host.Dims()
	a, c, d := placedAt(t, host, g), matrix.New[float64](n, n, matrix.On(g)), matrix.New[float64](n, n, matrix.On(g))
	order := make([]int, n)
	for i := range order {
		order[i] = (i*1027 + 5) % n
	}
	copied := m.copied()
	for _, step := range []struct {
		name  string
		items int // of lists, their orders and inverses, on both devices
		run   func() error
	}{
		{"Extract", 6 * n, func() error { return ops.Extract(c, a, ops.Of(order...), ops.All()) }},
		{"Extract of columns too", 12 * n, func() error { return ops.Extract(d, c, ops.All(), ops.Of(order...)) }},
		{"Assign to columns too", 12 * n, func() error { return ops.Assign(c, d, ops.All(), ops.Of(order...)) }},
		{"Assign", 6 * n, func() error { return ops.Assign(d, c, ops.Of(order...), ops.All()) }},
		{"IsSymmetric", 0, func() error {
			if !a.IsSymmetric() || c.IsSymmetric() {
				t.Error("the graph is symmetric, and its rows in another order are not")
			}
			return nil
		}},
	} {
		if err := step.run(); err != nil {
			t.Fatal(err)
		}
		if bytes, limit := copied(), uint64(4*step.items+8*perOperation); bytes > limit {
			t.Errorf("%s copies %d bytes between host and device, at most %d are expected", step.name, bytes, limit)
		}
	}
	if !d.Equal(a) {
		t.Error("the rows in their first order differ from the graph")
	}
}
