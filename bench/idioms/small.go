package idioms

import (
	"fmt"

	"github.com/hiveblas/hiveblas/bench/gen"
	"github.com/hiveblas/hiveblas/matrix"
	"github.com/hiveblas/hiveblas/ops"
	"github.com/hiveblas/hiveblas/semiring"
)

// Statements that should cost as much as their entries, each beside its plain loop.

// some returns k positions of n in ascending order, spread evenly and different for each seed.
func some(n, k int, seed uint64) []int {
	list := make([]int, k)
	for i := range list {
		lo, hi := i*n/k, (i+1)*n/k
		list[i] = lo + int(gen.Hash(uint64(i), seed)%uint64(hi-lo))
	}
	return list
}

// numbered returns the vector of n positions with entries at list, which count from 1.
func numbered(n int, list []int) (*matrix.Vector[float64], error) {
	val := make([]float64, len(list))
	for k := range val {
		val[k] = float64(k + 1)
	}
	if len(list) == n {
		return matrix.VectorOf(val)
	}
	return matrix.VectorFromTuples(n, list, val, nil)
}

// deleteIdiom deletes the k entries of w at which s, of m entries, has one.
func deleteIdiom(n, k, m int) (*idiomRun, error) {
	at, gone := some(n, k, 1), some(k, m, 2) // of w, and which of them
	marks := matrix.NewVectorBuilder[bool](n)
	for _, i := range gone {
		marks.Add(at[i], true)
	}
	s, err := marks.Build(nil)
	if err != nil {
		return nil, err
	}
	var w *matrix.Vector[float64]
	reset := func() (err error) {
		w, err = numbered(n, at)
		return err
	}
	ours := func() error {
		return ops.Apply(w.Masked(s.Structure().Not()).Replace(), semiring.Identity[float64](), w)
	}
	idx, val := make([]int, 0, k), make([]float64, 0, k)
	loop := func() {
		idx, val = idx[:0], val[:0]
		for i, p := range at {
			idx, val = append(idx, p), append(val, float64(i+1))
		}
		to, next := 0, 0
		for i, p := range idx {
			if next < m && p == at[gone[next]] {
				next++
				continue
			}
			idx[to], val[to] = p, val[i]
			to++
		}
		idx, val = idx[:to], val[:to]
	}
	return &idiomRun{reset: reset, ours: ours, loop: loop, agree: func() error { return agreeAt("w", w, idx, val) }}, nil
}

// agreeAt compares a vector with a list of entries.
func agreeAt(name string, w *matrix.Vector[float64], idx []int, val []float64) error {
	next := 0
	return agree(name, w, 1e-12, func(i int) (float64, bool) {
		if next < len(idx) && idx[next] == i {
			next++
			return val[next-1], true
		}
		return 0, false
	})
}

// fullPlusIdiom adds a sparse vector of k entries to a full one of n.
func fullPlusIdiom(n, k int) (*idiomRun, error) {
	at := some(n, k, 1)
	u, err := numbered(n, at)
	if err != nil {
		return nil, err
	}
	var w *matrix.Vector[float64]
	reset := func() (err error) {
		w, err = matrix.NewFullVector(n, 1.0)
		return err
	}
	want := make([]float64, n)
	for i := range want {
		want[i] = 1
	}
	added := 0
	return &idiomRun{reset: reset,
		ours: func() error { return ops.EWiseAdd(w, semiring.Plus[float64](), w, u) },
		loop: func() {
			added++
			for i, p := range at {
				want[p] += float64(i + 1)
			}
		},
		agree: func() error {
			next := 0
			return agree("w", w, 1e-12, func(i int) (float64, bool) {
				if next < k && at[next] == i {
					next++
					return 1 + (want[i]-1)/float64(added), true
				}
				return 1, true
			})
		}}, nil
}

// maskedAssignIdiom assigns a scalar where a mask of k entries is true, to a vector that keeps its
// other entries: all of n, or every second one.
func maskedAssignIdiom(n, k int, full bool) (*idiomRun, error) {
	at := some(n, k, 1)
	mask, err := numbered(n, at)
	if err != nil {
		return nil, err
	}
	own := some(n, n/2, 3)
	if full {
		own = some(n, n, 3)
	}
	w, err := numbered(n, own)
	if err != nil {
		return nil, err
	}
	want, has := make([]float64, n), make([]bool, n)
	for i, p := range own {
		want[p], has[p] = float64(i+1), true
	}
	return &idiomRun{
		ours: func() error { return ops.AssignVectorScalar(w.Masked(mask.Structure()), 7, ops.All()) },
		loop: func() {
			for _, p := range at {
				want[p], has[p] = 7, true
			}
		},
		agree: func() error { return agree("w", w, 0, func(i int) (float64, bool) { return want[i], has[i] }) },
	}, nil
}

// smallIdioms are the operations on vectors of 10, 100 and 1000 entries, full or among four times
// as many positions. The result is the same vector in each call, so that it can reuse its storage.
func smallIdioms() []idiom {
	var list []idiom
	for _, spread := range []int{1, 4} {
		for _, k := range []int{10, 100, 1000} {
			for _, name := range []string{"apply", "ewiseadd", "ewisemult", "select", "assign", "reduce"} {
				form := "full"
				if spread > 1 {
					form = "sparse"
				}
				list = append(list, idiom{name: fmt.Sprintf("small %s, %s, %d entries", name, form, k), most: perEntry(k), allocs: smallAllocs,
					make: func(*idiomInput) (*idiomRun, error) { return smallIdiom(name, spread*k, k) }})
			}
		}
	}
	return list
}

// sumLoop calls take for the positions of at or other and the sum of their numbers from 1.
func sumLoop(at, other []int, take func(p int, x float64)) {
	j := 0
	for i, p := range at {
		for ; j < len(other) && other[j] < p; j++ {
			take(other[j], float64(j+1))
		}
		x := float64(i + 1)
		if j < len(other) && other[j] == p {
			x += float64(j + 1)
			j++
		}
		take(p, x)
	}
	for ; j < len(other); j++ {
		take(other[j], float64(j+1))
	}
}

// smallIdiom is one operation on vectors of k entries among n positions.
func smallIdiom(name string, n, k int) (*idiomRun, error) {
	at, other := some(n, k, 1), some(n, k, 2)
	u, err := numbered(n, at)
	if err != nil {
		return nil, err
	}
	v, err := numbered(n, other)
	if err != nil {
		return nil, err
	}
	w := matrix.NewVector[float64](n)
	idx, val := make([]int, 0, 2*k), make([]float64, 0, 2*k)
	take := func(p int, x float64) { idx, val = append(idx, p), append(val, x) }
	half := float64(k) / 2
	var ours func() error
	var body func()
	switch name {
	case "apply":
		ours = func() error { return ops.Apply(w, semiring.Ainv[float64](), u) }
		body = func() {
			for i, p := range at {
				take(p, -float64(i+1))
			}
		}
	case "ewiseadd":
		ours = func() error { return ops.EWiseAdd(w, semiring.Plus[float64](), u, v) }
		body = func() { sumLoop(at, other, take) }
	case "ewisemult":
		ours = func() error { return ops.EWiseMult(w, semiring.Times[float64](), u, v) }
		body = func() {
			j := 0
			for i, p := range at {
				for j < k && other[j] < p {
					j++
				}
				if j < k && other[j] == p {
					take(p, float64(i+1)*float64(j+1))
				}
			}
		}
	case "select":
		ours = func() error { return ops.Select(w, semiring.ValueGT(half), u) }
		body = func() {
			for i, p := range at {
				if float64(i+1) > half {
					take(p, float64(i+1))
				}
			}
		}
	case "assign":
		ours = func() error { return ops.AssignVector(w, u, ops.All()) }
		body = func() {
			for i, p := range at {
				take(p, float64(i+1))
			}
		}
	case "reduce":
		return reduceIdiom(u, k), nil
	}
	loop := func() {
		idx, val = idx[:0], val[:0]
		body()
	}
	return &idiomRun{ours: ours, loop: loop, agree: func() error { return agreeAt("w", w, idx, val) }}, nil
}

// reduceIdiom sums the entries 1 … k.
func reduceIdiom(u *matrix.Vector[float64], k int) *idiomRun {
	var got, want float64
	list := make([]float64, k)
	for i := range list {
		list[i] = float64(i + 1)
	}
	return &idiomRun{
		ours: func() (err error) {
			got, err = ops.ReduceScalar(semiring.Plus[float64](), u)
			return err
		},
		loop: func() {
			want = 0
			for _, x := range list {
				want += x
			}
		},
		agree: func() error {
			if got != want {
				return fmt.Errorf("the sum is %v, the loop finds %v", got, want)
			}
			return nil
		}}
}
